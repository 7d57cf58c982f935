package member_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/sqlite/sqlitetest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/member"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/session"
)

const password = "a long enough password"

// world is the service over a real store and real organizations, with sessions beside it and a clock
// that tests move.
type world struct {
	*testing.T
	store    port.Store
	now      atomic.Int64
	keys     *key.Service
	sessions *session.Service
	refused  []port.AuditRecord
	*member.Service
}

func begin(t *testing.T) *world {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlitetest.Dir(t), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	w := &world{T: t, store: store}
	w.now.Store(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).UnixNano())
	clock := func() time.Time { return time.Unix(0, w.now.Load()) }
	w.keys = key.New(key.Settings{Store: store, Now: clock})
	for _, name := range []string{"acme", "globex"} {
		if _, err := w.keys.CreateOrganization(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	w.Service = member.New(member.Settings{Store: store, Organizations: w.keys, Pages: page.NewSigner([]byte("secret")),
		Now: clock})
	w.sessions = session.New(session.Settings{Store: store, Keys: w.keys, Members: w.Service, Now: clock,
		Refused: func(_ context.Context, r port.AuditRecord) error { w.refused = append(w.refused, r); return nil }})
	return w
}

func (w *world) fine(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) want(what string, err error, code fault.Code) {
	w.Helper()
	if err == nil || fault.CodeOf(err) != code {
		w.Errorf("%s answered %v, want %s", what, err, code)
	}
}

// as is the context of a caller in an organization; without a role it is an admin key.
func (w *world) as(org string, role ident.Role) context.Context {
	o, err := w.keys.Organization(w.Context(), org)
	w.fine(err)
	return ident.WithPrincipal(w.Context(), ident.Principal{KeyID: "key_admin", Kind: ident.Admin, Org: o.ID, OrgName: o.Name,
		Role: role, ReadOnly: role == ident.Viewer})
}

func ref(org string, m member.Member) member.Ref {
	return member.Ref{OrganizationRef: member.OrganizationRef{Org: org}, Member: m.ID}
}

func (w *world) invite(org, email string, role ident.Role) member.Invited {
	w.Helper()
	in := member.Invite{Email: email, Role: string(role)}
	in.Org = org
	out, err := w.Invite(w.as(org, ""), in)
	w.fine(err)
	return out
}

// joined is a member who has taken the invitation, with a session.
func (w *world) joined(org, email string, role ident.Role) (member.Invited, session.Begun) {
	w.Helper()
	i := w.invite(org, email, role)
	b, err := w.sessions.Accept(w.Context(), i.Code, password, "Browser/1")
	w.fine(err)
	return i, b
}

func (w *world) who(b session.Begun) (ident.Principal, error) {
	return w.sessions.VerifySession(w.Context(), op.Credential{Session: b.Token}, op.Administration)
}

// Somebody is invited, chooses a password, and is in: once, for a time, with the role at each step.
func TestAnInvitation(t *testing.T) {
	w := begin(t)
	i := w.invite("acme", "Ann@Example.com", ident.Viewer)
	if i.Email != "ann@example.com" || i.State != "invited" || i.HasPassword || i.Path != member.InvitationPath+i.Code ||
		i.Headers()["Cache-Control"] != "no-store" || *i.InvitedBy != "key_admin" {
		t.Errorf("invited: %+v", i)
	}
	_, err := w.sessions.BeginMember(w.Context(), "acme", i.Email, password, "")
	w.want("signing in before joining", err, fault.Unauthorized)
	for _, short := range []string{"", "elevenchars", strings.Repeat("x", 1025), "twelve chars\xff"} {
		_, err = w.sessions.Accept(w.Context(), i.Code, short, "")
		w.want("a password of no use", err, fault.InvalidRequest)
	}
	b, err := w.sessions.Accept(w.Context(), i.Code, password, "")
	w.fine(err)
	p, err := w.who(b)
	w.fine(err)
	if p.Role != ident.Viewer || !p.ReadOnly || p.KeyID != i.ID || p.Email != i.Email || p.OrgName != "acme" ||
		p.Kind != ident.Admin {
		t.Errorf("the session is of %+v", p)
	}
	_, err = w.sessions.Accept(w.Context(), i.Code, password, "")
	w.want("the code again", err, fault.Unauthorized)
	for _, code := range []string{"", "mnsi_", "mnsi_nobody", b.Token} {
		_, err = w.sessions.Accept(w.Context(), code, password, "")
		w.want("another code", err, fault.Unauthorized)
	}

	again, err := w.InviteAgain(w.as("acme", ident.Owner), ref("acme", i.Member))
	w.fine(err)
	w.now.Add(int64(member.InvitationFor))
	_, err = w.sessions.Accept(w.Context(), again.Code, password, "")
	w.want("an expired one", err, fault.Unauthorized)
	again, err = w.InviteAgain(w.as("acme", ident.Owner), ref("acme", i.Member))
	w.fine(err)
	fresh, err := w.sessions.BeginMember(w.Context(), "acme", i.Email, password, "")
	w.fine(err)
	w.now.Add(int64(member.InvitationFor - time.Microsecond))
	other := "another long password"
	_, err = w.sessions.Accept(w.Context(), again.Code, other, "")
	w.fine(err)
	_, err = w.who(fresh)
	w.want("a session of before", err, fault.Unauthorized)
	_, err = w.sessions.BeginMember(w.Context(), "acme", i.Email, password, "")
	w.want("the old password", err, fault.Unauthorized)
	_, err = w.sessions.BeginMember(w.Context(), "acme", i.Email, other, "")
	w.fine(err)
}

// Whatever is wrong with a sign-in, the answer is the same, and the log keeps nothing of what was
// typed.
func TestWrongPasswords(t *testing.T) {
	w := begin(t)
	i, _ := w.joined("acme", "ann@example.com", ident.Owner)
	w.refused = nil
	var answers []string
	for _, c := range []struct{ org, email, password string }{
		{"acme", i.Email, password + "x"}, {"acme", i.Email, ""}, {"acme", i.Email, strings.Repeat("x", 2000)},
		{"globex", i.Email, password}, {"none", i.Email, password}, {"", i.Email, password}, {"a\x00b", i.Email, password},
		{"acme", "bob@example.com", password}, {"acme", "a\x00@b", password}, {"acme", "\xff@b", password},
		{"acme", "", password},
	} {
		_, err := w.sessions.BeginMember(w.Context(), c.org, c.email, c.password, "")
		w.want(c.org+" "+c.email, err, fault.Unauthorized)
		answers = append(answers, fault.From(err).Message)
	}
	for _, a := range answers {
		if a != answers[0] {
			t.Errorf("it answers %q and %q", answers[0], a)
		}
	}
	if len(w.refused) != len(answers) {
		t.Errorf("%d refusals are recorded of %d", len(w.refused), len(answers))
	}
	for _, r := range w.refused {
		if r.Actor != port.ActorAnonymous || r.Action != "console.sign_in" || r.Status != 401 || r.Target != "" {
			t.Errorf("recorded: %+v", r)
		}
	}
	w.fine(w.keys.Suspend(w.Context(), "acme"))
	_, err := w.sessions.BeginMember(w.Context(), "acme", i.Email, password, "")
	w.want("in a suspended organization", err, fault.Unauthorized)
}

// A role holds from the next call on; who is removed is out at once; the last owner stays.
func TestRolesAndRemoval(t *testing.T) {
	w := begin(t)
	ann, in := w.joined("acme", "ann@example.com", ident.Owner)
	w.invite("acme", "waiting@example.com", ident.Owner)
	role := func(who context.Context, m member.Member, r ident.Role) error {
		to := string(r)
		_, err := w.Change(who, member.Change{Ref: ref("acme", m), Role: &to})
		return err
	}
	remove := func(who context.Context, m member.Member) (bool, error) {
		out, err := w.Remove(who, ref("acme", m))
		return out.Removed, err
	}
	w.want("the last owner's role", role(w.as("acme", ""), ann.Member, ident.Administrator), fault.Conflict)
	_, err := remove(w.as("acme", ident.Owner), ann.Member)
	w.want("removing the last owner", err, fault.Conflict)
	w.fine(role(w.as("acme", ""), ann.Member, ident.Owner)) // changes nothing

	bob, _ := w.joined("acme", "bob@example.com", ident.Owner)
	for _, r := range []ident.Role{ident.Administrator, ident.Viewer} {
		who := w.as("acme", r)
		w.want("a role by "+string(r), role(who, bob.Member, ident.Viewer), fault.Forbidden)
		_, err = remove(who, bob.Member)
		w.want("removal by "+string(r), err, fault.Forbidden)
		_, err = w.InviteAgain(who, ref("acme", bob.Member))
		w.want("an invitation by "+string(r), err, fault.Forbidden)
		list, err := w.List(who, member.List{OrganizationRef: member.OrganizationRef{Org: "acme"}})
		if err != nil || len(list.Members) != 3 || list.NextCursor != nil {
			t.Errorf("listed by %s: %+v, %v", r, list, err)
		}
	}
	w.fine(role(w.as("acme", ident.Owner), ann.Member, ident.Viewer))
	if p, err := w.who(in); err != nil || p.Role != ident.Viewer || !p.ReadOnly {
		t.Errorf("the session is now of %+v, %v", p, err)
	}
	removed, err := remove(w.as("acme", ident.Owner), ann.Member)
	again, twice := remove(w.as("acme", ident.Owner), ann.Member)
	if !removed || again || err != nil || twice != nil {
		t.Errorf("removed: %v, %v, again %v, %v", removed, err, again, twice)
	}
	_, err = w.who(in)
	w.want("a session of one who is gone", err, fault.Unauthorized)
	_, err = w.Get(w.as("acme", ""), ref("acme", ann.Member))
	w.want("one who is gone", err, fault.NotFound)
	_, err = w.Get(w.as("acme", ""), member.Ref{OrganizationRef: member.OrganizationRef{Org: "acme"}, Member: "a\x00"})
	w.want("an id of none", err, fault.NotFound)
}

// Of two owners who remove each other at once one stays.
func TestTwoOwnersRemoveEachOther(t *testing.T) {
	w := begin(t)
	ann, _ := w.joined("acme", "ann@example.com", ident.Owner)
	bob, _ := w.joined("acme", "bob@example.com", ident.Owner)
	var all sync.WaitGroup
	for _, m := range []member.Invited{ann, bob} {
		all.Go(func() { _, _ = w.Remove(w.as("acme", ident.Owner), ref("acme", m.Member)) })
	}
	all.Wait()
	list, err := w.List(w.as("acme", ""), member.List{OrganizationRef: member.OrganizationRef{Org: "acme"}})
	if err != nil || len(list.Members) != 1 {
		t.Errorf("left: %+v, %v", list, err)
	}
}

// Another organization's members are out of sight, and an address may be a member of several.
func TestOrganizationsAreApart(t *testing.T) {
	w := begin(t)
	ann := w.invite("acme", "ann@example.com", ident.Viewer)
	theirs := w.invite("globex", "ann@example.com", ident.Owner)
	in := member.Invite{Email: "ANN@example.com", Role: "viewer"}
	in.Org = "acme"
	_, err := w.Invite(w.as("acme", ident.Owner), in)
	w.want("inviting twice", err, fault.Conflict)
	_, err = w.Invite(w.as("globex", ident.Owner), in)
	w.want("inviting into another organization", err, fault.NotFound)
	_, err = w.Get(w.as("acme", ident.Owner), ref("acme", theirs.Member))
	w.want("another's member", err, fault.NotFound)
	_, err = w.Get(w.as("acme", ident.Owner), ref("globex", theirs.Member))
	w.want("another organization", err, fault.NotFound)
	if out, err := w.Remove(w.as("globex", ident.Owner), ref("globex", ann.Member)); err != nil || out.Removed {
		t.Errorf("removed another's: %+v, %v", out, err)
	}
	w.invite("acme", "bob@example.com", ident.Viewer)
	one := 1
	list := member.List{OrganizationRef: member.OrganizationRef{Org: "acme"}, Limit: &one}
	first, err := w.List(w.as("acme", ident.Viewer), list)
	w.fine(err)
	list.Cursor = *first.NextCursor
	second, err := w.List(w.as("acme", ident.Viewer), list)
	w.fine(err)
	if first.Members[0].ID != ann.ID || len(second.Members) != 1 || second.Members[0].Email != "bob@example.com" ||
		second.NextCursor != nil {
		t.Errorf("pages: %+v, %+v", first, second)
	}
}

// Who changes the password stays, and is out everywhere else.
func TestChangeOfPassword(t *testing.T) {
	w := begin(t)
	i, here := w.joined("acme", "ann@example.com", ident.Viewer)
	there, err := w.sessions.BeginMember(w.Context(), "acme", i.Email, password, "")
	w.fine(err)
	change := func(token, old, to string) error { return w.sessions.ChangePassword(w.Context(), token, old, to) }
	w.want("the wrong one before", change(here.Token, "x", "another long password"), fault.Forbidden)
	w.want("one that is none", change(here.Token, password, "short"), fault.InvalidRequest)
	w.want("by nobody", change("mnss_none", password, "another long password"), fault.Unauthorized)
	if _, err := w.who(there); err != nil {
		t.Errorf("the other session: %v", err)
	}
	w.fine(change(here.Token, password, "another long password"))
	_, err = w.who(there)
	w.want("the other session", err, fault.Unauthorized)
	_, err = w.who(here)
	w.fine(err)
	_, err = w.sessions.BeginMember(w.Context(), "acme", i.Email, "another long password", "")
	w.fine(err)
	k, err := w.keys.Issue(w.Context(), key.Issue{Kind: ident.Admin, Org: "acme"})
	w.fine(err)
	b, err := w.sessions.Begin(w.Context(), k.Secret, "")
	w.fine(err)
	w.want("of a key", change(b.Token, "", "another long password"), fault.Forbidden)
}

// A password is of 12 characters to 1024 bytes, both included.
func TestLengthsOfPasswords(t *testing.T) {
	w := begin(t)
	for email, word := range map[string]string{"short@example.com": strings.Repeat("é", member.MinPassword),
		"long@example.com": strings.Repeat("x", member.MaxPassword)} {
		i := w.invite("acme", email, ident.Viewer)
		_, err := w.sessions.Accept(w.Context(), i.Code, word, "")
		w.fine(err)
		_, err = w.sessions.BeginMember(w.Context(), "acme", email, word, "")
		w.fine(err)
	}
}

// stored is the hash of the tests' password, at the least cost but for its passes.
func stored(passes uint32, size uint32) string {
	salt, b64 := []byte("sixteen bytes..."), base64.RawStdEncoding
	sum := argon2.IDKey([]byte(password), salt, passes, 8, 1, size)
	return fmt.Sprintf("$argon2id$v=%d$m=8,t=%d,p=1$%s$%s", argon2.Version, passes, b64.EncodeToString(salt),
		b64.EncodeToString(sum))
}

// keep stores an active member as an earlier version or another program may have.
func (w *world) keep(org, id, email, hash string) {
	w.Helper()
	o, err := w.keys.Organization(w.Context(), org)
	w.fine(err)
	w.fine(w.store.Update(w.Context(), func(to port.Writer) error {
		return to.PutMember(w.Context(), port.Member{Org: o.ID, ID: id, Email: email, Role: ident.Viewer, Password: hash,
			CreatedAt: time.Unix(1, 0), JoinedAt: time.Unix(1, 0)})
	}))
}

// A stored hash is of any cost within the bounds, and one beyond them is nobody's password.
func TestStoredHashes(t *testing.T) {
	w := begin(t)
	for n, c := range []struct {
		hash string
		good bool
	}{{stored(100, 32), true}, {stored(101, 32), false}, {stored(1, 16), true}, {stored(1, 15), false}, {stored(1, 64), true},
		{stored(1, 65), false}} {
		email := fmt.Sprintf("m%d@example.com", n)
		w.keep("acme", fmt.Sprintf("mbr_%d", n), email, c.hash)
		if _, err := w.SignIn(w.Context(), "acme", email, password); (err == nil) != c.good {
			t.Errorf("%s lets in: %v", c.hash, err)
		}
	}
}

// elsewhere knows one organization, or fails.
type elsewhere struct {
	found port.Organization
	err   error
}

func (e elsewhere) Organization(context.Context, string) (port.Organization, error) {
	return e.found, e.err
}

// An organization that is found but another's looks like one that is not there; a store that fails
// is no such answer.
func TestOrganizationsOfOthers(t *testing.T) {
	w := begin(t)
	down := fault.New(fault.Unavailable, "the store is down")
	for code, o := range map[fault.Code]elsewhere{fault.NotFound: {found: port.Organization{ID: "org_other"}},
		fault.Unavailable: {err: down}} {
		s := member.New(member.Settings{Store: w.store, Organizations: o, Pages: page.NewSigner([]byte("secret"))})
		_, err := s.List(w.as("acme", ident.Owner), member.List{OrganizationRef: member.OrganizationRef{Org: "other"}})
		w.want("listing another's members", err, code)
	}
}

// Pages of two hold two, and the rest comes after.
func TestPagesOfTwo(t *testing.T) {
	w := begin(t)
	for _, who := range []string{"ann", "bob", "cid"} {
		w.invite("acme", who+"@example.com", ident.Viewer)
	}
	two := 2
	list, err := w.List(w.as("acme", ""), member.List{OrganizationRef: member.OrganizationRef{Org: "acme"}, Limit: &two})
	if err != nil || len(list.Members) != 2 || list.NextCursor == nil {
		t.Errorf("the first page: %+v, %v", list, err)
	}
}

// What reads changes nothing, and all the rest does; each operation has its time.
func TestOperations(t *testing.T) {
	for _, o := range member.Operations() {
		if o.Spec.Mutates != (o.Spec.Method != http.MethodGet) || o.Spec.Timeout < time.Second {
			t.Errorf("%s: mutates %v, within %v", o.Spec.Name, o.Spec.Mutates, o.Spec.Timeout)
		}
	}
}

// Who is disabled is out at once, and may come back; the last owner who can sign in stays one.
func TestDisabling(t *testing.T) {
	w := begin(t)
	ann, _ := w.joined("acme", "ann@example.com", ident.Owner)
	bob, in := w.joined("acme", "bob@example.com", ident.Owner)
	disable := func(m member.Member, to bool) (member.Member, error) {
		return w.Change(w.as("acme", ident.Owner), member.Change{Ref: ref("acme", m), Disabled: &to})
	}
	for range 2 {
		m, err := disable(bob.Member, true)
		w.fine(err)
		if m.State != "disabled" || m.DisabledAt == nil {
			t.Errorf("disabled: %+v", m)
		}
	}
	_, err := w.who(in)
	w.want("a session of before", err, fault.Unauthorized)
	_, err = w.sessions.BeginMember(w.Context(), "acme", bob.Email, password, "")
	w.want("the password", err, fault.Unauthorized)
	again, err := w.InviteAgain(w.as("acme", ident.Owner), ref("acme", bob.Member))
	w.fine(err)
	_, err = w.sessions.Accept(w.Context(), again.Code, password, "")
	w.want("an invitation", err, fault.Unauthorized)
	o, err := w.keys.Organization(w.Context(), "acme")
	w.fine(err)
	_, err = w.Resolve(w.Context(), o.ID, bob.ID)
	w.want("resolving", err, fault.Unauthorized)

	_, err = disable(ann.Member, true)
	w.want("the last owner who can sign in", err, fault.Conflict)
	viewer := string(ident.Viewer)
	_, err = w.Change(w.as("acme", ident.Owner), member.Change{Ref: ref("acme", ann.Member), Role: &viewer})
	w.want("their role", err, fault.Conflict)
	w.want("nothing to change", op.Check(&member.Change{Ref: ref("acme", ann.Member)}), fault.InvalidRequest)
	_, err = w.Change(w.as("acme", ident.Administrator), member.Change{Ref: ref("acme", bob.Member), Role: &viewer})
	w.want("an admin", err, fault.Forbidden)
	m, err := disable(bob.Member, false)
	w.fine(err)
	if m.State != "active" || m.DisabledAt != nil {
		t.Errorf("enabled: %+v", m)
	}
	_, err = w.sessions.BeginMember(w.Context(), "acme", bob.Email, password, "")
	w.fine(err)
	_, err = disable(ann.Member, true)
	w.fine(err)
}

// signsIn is who an account signs in as; bound says whether the member was bound to it by that.
func (w *world) signsIn(org string, id port.Identity) (p ident.Principal, bound bool, err error) {
	p, err = w.SignInWith(w.Context(), org, id, func(ident.Principal) { bound = true })
	return p, bound, err
}

// An account signs in as who was invited by its address, and as the same member from then on.
func TestAnAccountIsBoundToAMember(t *testing.T) {
	w := begin(t)
	ann := w.invite("acme", "ann@example.com", ident.Administrator)
	account := port.Identity{Issuer: "https://login.example.com", Subject: "1", Email: "Ann@Example.com", EmailVerified: true}
	unverified, other, stranger := account, account, account
	unverified.EmailVerified, other.Subject, stranger.Email = false, "2", "eve@example.com"
	for name, id := range map[string]port.Identity{"not verified": unverified, "not invited": stranger,
		"no address": {Issuer: account.Issuer, Subject: "1", EmailVerified: true},
		"no text":    {Issuer: account.Issuer, Subject: "1", Email: "a\x00@b", EmailVerified: true}} {
		_, bound, err := w.signsIn("", id)
		w.want(name, err, fault.Unauthorized)
		if bound {
			t.Errorf("%s: a member was bound", name)
		}
	}
	_, _, err := w.signsIn("globex", account)
	w.want("another organization", err, fault.Unauthorized)
	p, bound, err := w.signsIn("acme", account)
	w.fine(err)
	if !bound || p.KeyID != ann.ID || p.Role != ident.Administrator || p.OrgName != "acme" || p.Email != "ann@example.com" {
		t.Errorf("signed in, bound %v: %+v", bound, p)
	}
	_, err = w.sessions.Accept(w.Context(), ann.Code, password, "")
	w.want("the invitation that waited", err, fault.Unauthorized)
	shown, err := w.Get(w.as("acme", ident.Owner), ref("acme", ann.Member))
	w.fine(err)
	if shown.State != "active" || !shown.HasAccount || shown.HasPassword {
		t.Errorf("shown: %+v", shown)
	}
	account.Email, account.EmailVerified = "ann@elsewhere.example", false // the account is the same
	p, bound, err = w.signsIn("", account)
	w.fine(err)
	if bound || p.KeyID != ann.ID {
		t.Errorf("again, bound %v: %+v", bound, p)
	}
	_, _, err = w.signsIn("", other)
	w.want("another account with the address", err, fault.Unauthorized)
	other.Issuer = "https://new.example.com"
	p, bound, err = w.signsIn("", other)
	w.fine(err)
	if !bound || p.KeyID != ann.ID {
		t.Errorf("at the next provider, bound %v: %+v", bound, p)
	}
	yes := true
	_, err = w.Change(w.as("acme", ident.Owner), member.Change{Ref: ref("acme", ann.Member), Disabled: &yes})
	w.fine(err)
	_, _, err = w.signsIn("", other)
	w.want("disabled", err, fault.Unauthorized)
}

// An account that an owner or the member unbinds ends the sessions, and gives way to another one with the address.
func TestAnAccountIsUnbound(t *testing.T) {
	w := begin(t)
	first := port.Identity{Issuer: "https://login.example.com", Subject: "1", Email: "ann@example.com", EmailVerified: true}
	second := first
	second.Subject = "2"
	ann := w.invite("acme", "ann@example.com", ident.Viewer)
	p, _, err := w.signsIn("", first)
	w.fine(err)
	again, err := w.InviteAgain(w.as("acme", ident.Owner), ref("acme", ann.Member))
	w.fine(err)
	b, err := w.sessions.Accept(w.Context(), again.Code, password, "")
	w.fine(err)
	other, err := w.sessions.BeginMember(w.Context(), "acme", ann.Email, password, "")
	w.fine(err)
	yes, no := true, false
	unbind := member.Change{Ref: ref("acme", ann.Member), Account: &no}
	_, err = w.Change(w.as("acme", ident.Administrator), unbind)
	w.want("an admin", err, fault.Forbidden)
	w.fine(op.Check(&unbind))
	w.want("an account from here", op.Check(&member.Change{Ref: unbind.Ref, Account: &yes}), fault.InvalidRequest)

	w.want("a key", w.Unbind(w.Context(), ident.Principal{KeyID: "key_x"}, [32]byte{}), fault.Forbidden)
	w.fine(w.sessions.Unbind(w.Context(), b.Token))
	_, err = w.who(b)
	w.fine(err)
	_, err = w.who(other)
	w.want("another session of the member", err, fault.Unauthorized)
	shown, err := w.Get(w.as("acme", ident.Owner), ref("acme", ann.Member))
	w.fine(err)
	if shown.HasAccount || !shown.HasPassword || shown.State != "active" {
		t.Errorf("unbound: %+v", shown)
	}
	w.fine(w.Unbind(w.Context(), p, [32]byte{})) // there is none now
	_, err = w.who(b)
	w.fine(err)

	_, bound, err := w.signsIn("", second)
	w.fine(err)
	_, _, refused := w.signsIn("", first)
	w.want("the account of before", refused, fault.Unauthorized)
	shown, err = w.Change(w.as("acme", ident.Owner), unbind)
	w.fine(err)
	if !bound || shown.HasAccount {
		t.Errorf("bound %v, then unbound: %+v", bound, shown)
	}
	_, err = w.who(b)
	w.want("a session of before", err, fault.Unauthorized)
	_, bound, err = w.signsIn("", first)
	w.fine(err)
	if !bound {
		t.Error("the first account is not bound again")
	}
}

// An account of several organizations is asked for one; a suspended one is none of them.
func TestAnAccountOfSeveralOrganizations(t *testing.T) {
	w := begin(t)
	account := port.Identity{Issuer: "https://login.example.com", Subject: "1", Email: "ann@example.com", EmailVerified: true}
	here, there := w.invite("acme", account.Email, ident.Viewer), w.invite("globex", account.Email, ident.Owner)
	_, bound, err := w.signsIn("", account)
	var several member.Several
	if !errors.As(err, &several) || bound || len(several.Organizations) != 2 ||
		!slices.Contains(several.Organizations, "acme") || !slices.Contains(several.Organizations, "globex") {
		t.Fatalf("without a name: %v", err)
	}
	for org, id := range map[string]string{"acme": here.ID, there.Organization: there.ID} {
		p, _, err := w.signsIn(org, account)
		w.fine(err)
		if p.KeyID != id {
			t.Errorf("in %s: %+v", org, p)
		}
	}
	w.fine(w.keys.Suspend(w.Context(), "acme"))
	p, _, err := w.signsIn("", account)
	w.fine(err)
	if p.KeyID != there.ID {
		t.Errorf("with one suspended: %+v", p)
	}
	_, _, err = w.signsIn("acme", account)
	w.want("in the suspended one", err, fault.Unauthorized)
}

// The account that a member is bound to says more than the address of another member.
func TestAnAccountWhoseAddressIsAnothers(t *testing.T) {
	w := begin(t)
	account := port.Identity{Issuer: "https://login.example.com", Subject: "1", Email: "zoe@example.com", EmailVerified: true}
	zoe := w.invite("acme", account.Email, ident.Viewer)
	_, _, err := w.signsIn("", account)
	w.fine(err)
	w.invite("acme", "ann@example.com", ident.Owner)
	account.Email = "ann@example.com"
	p, bound, err := w.signsIn("", account)
	w.fine(err)
	if bound || p.KeyID != zoe.ID {
		t.Errorf("bound %v: %+v", bound, p)
	}
}

// Texts that can be no address are nobody's, whatever is stored.
func TestWhatIsAnAddress(t *testing.T) {
	w := begin(t)
	hash := stored(1, 16)
	for n, c := range []struct {
		email string
		good  bool
	}{
		{strings.Repeat("x", 1020) + "@a.b", true}, {strings.Repeat("x", 1021) + "@a.b", false}, {"!~@example.com", true},
		{"a b@example.com", false}, {"a\x7f@example.com", false}, {"ann", false},
	} {
		w.keep("acme", fmt.Sprintf("mbr_%d", n), c.email, hash)
		if _, err := w.SignIn(w.Context(), "acme", c.email, password); (err == nil) != c.good {
			t.Errorf("%.40q lets in: %v", c.email, err)
		}
	}
}

// Ids are of 64 characters at most, of a-z, 0-9, _ and -.
func TestWhatIsAnID(t *testing.T) {
	w := begin(t)
	for n, id := range []string{"az09_-", strings.Repeat("x", 64)} {
		w.keep("acme", id, fmt.Sprintf("m%d@example.com", n), "")
		if m, err := w.Get(w.as("acme", ""), ref("acme", member.Member{ID: id})); err != nil || m.ID != id {
			t.Errorf("%s: %+v, %v", id, m, err)
		}
	}
	for n, id := range []string{strings.Repeat("x", 65), "A", "`", "{", "/", ":"} {
		w.keep("acme", id, fmt.Sprintf("n%d@example.com", n), "")
		_, err := w.Get(w.as("acme", ""), ref("acme", member.Member{ID: id}))
		w.want("an id of none: "+id, err, fault.NotFound)
	}
}
