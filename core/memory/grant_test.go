package memory_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/seal"
)

// upstreams note what is given back to them, and answer as a test wants.
type upstreams struct {
	mu     sync.Mutex
	given  []string // source and secrets, in the order of the calls
	check  func(source string, secrets map[string]string) error
	revoke func(ctx context.Context, source string) error
}

func (u *upstreams) CheckGrant(source string, secrets map[string]string) error {
	if u.check == nil {
		return nil
	}
	return u.check(source, secrets)
}

func (u *upstreams) RevokeGrant(ctx context.Context, source string, secrets map[string]string) error {
	u.mu.Lock()
	u.given = append(u.given, fmt.Sprint(source, secrets))
	revoke := u.revoke
	u.mu.Unlock()
	if revoke == nil {
		return nil
	}
	return revoke(ctx, source)
}

// taken is what was given back since the last call, sorted.
func (u *upstreams) taken() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := u.given
	u.given = nil
	slices.Sort(all)
	return all
}

// answer changes how they answer.
func (u *upstreams) answer(revoke func(ctx context.Context, source string) error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.revoke = revoke
}

// granting is a service that keeps secrets and gives grants back to u.
func granting(t testing.TB, u *upstreams, timeout time.Duration) *plane {
	t.Helper()
	k := seal.NewKey()
	return open(t, coretest.Options{}, func(s *memory.Settings) {
		s.Sealer = seal.New(seal.Settings{Store: s.Store, Keys: []seal.Key{k}})
		s.Upstreams, s.UpstreamTimeout = u, timeout
	})
}

func (a app) askGrant(user, source string, secrets map[string]string) *coretest.Reply {
	a.t.Helper()
	body := coretest.Object{"endUserId": user, "source": source}
	if secrets != nil {
		body["secrets"] = secrets
	}
	return coretest.Ask(a.ctx, a.t, a.memories.CreateGrant, body)
}

// grant makes a grant and returns its id.
func (a app) grant(user, source string, secrets map[string]string) string {
	a.t.Helper()
	return a.askGrant(user, source, secrets).OK().JSON["grant"].(coretest.Object)["id"].(string)
}

func (a app) revoke(id string) *coretest.Reply {
	a.t.Helper()
	return coretest.Ask(a.ctx, a.t, a.memories.RevokeGrant, coretest.Object{}, func(in *memory.RevokeGrant) { in.ID = id })
}

func (a app) grants(user string) []coretest.Object {
	a.t.Helper()
	return coretest.Ask(a.ctx, a.t, a.memories.ListGrants, coretest.Object{}, func(in *memory.ListGrants) {
		in.EndUserID = user
	}).OK().List("grants")
}

func (a app) eraseUser(user string) *coretest.Reply {
	a.t.Helper()
	return coretest.Ask(a.ctx, a.t, a.memories.EraseUser, coretest.Object{}, func(in *memory.EraseUser) { in.EndUserID = user })
}

// put writes a version by a grant, end tombstones one.
func (a app) put(grant, user, source, id string, version int) *coretest.Reply {
	a.t.Helper()
	return coretest.Ask(a.ctx, a.t, a.memories.Upsert, coretest.Object{"endUserId": user, "source": source, "version": version,
		"content": "Version " + fmt.Sprint(version) + " of " + id, "occurredAt": "2026-01-02T03:04:05Z"},
		func(in *memory.Upsert) { in.ExternalID, in.Grant = id, &grant })
}

func (a app) end(grant, user, source, id string, version int64) *coretest.Reply {
	a.t.Helper()
	return coretest.Ask(a.ctx, a.t, a.memories.Tombstone, coretest.Object{}, func(in *memory.Tombstone) {
		in.EndUserID, in.Source, in.ExternalID, in.Version, in.Grant = user, source, id, &version, &grant
	})
}

// A grant lets its source write its end user, until it is revoked.
func TestAGrantLetsItsSourceWriteItsEndUser(t *testing.T) {
	p := granting(t, &upstreams{}, 0)
	s, other := p.integration("app", 0), p.integration("other", 0)
	made := s.askGrant("ann", "crm", nil).OK()
	coretest.Fields(t, "the answer", made.JSON, "success", "grant")
	g := made.JSON["grant"].(coretest.Object)
	coretest.Fields(t, "a grant", g, "id", "endUserId", "source", "secretsSet", "createdAt", "revokedAt", "upstream")
	id := g["id"].(string)
	if made.JSON["success"] != true || !strings.HasPrefix(id, "grt_") || g["endUserId"] != "ann" || g["source"] != "crm" ||
		g["revokedAt"] != nil || g["upstream"] != nil || len(g["secretsSet"].([]any)) != 0 {
		t.Errorf("made: %s", made.Body)
	}
	if users := p.roster(); len(users) != 1 || users[0].ID != "ann" || users[0].Memories != 0 {
		t.Errorf("the end user of a grant is known: %+v", users)
	}
	bobs, theirs, files := s.grant("bob", "crm", nil), other.grant("ann", "crm", nil), s.grant("ann", "files", nil)
	s.put(id, "ann", "crm", "a", 1).OK()
	s.end(id, "ann", "crm", "a", 2).OK()
	for _, c := range []struct{ what, grant, reason string }{
		{"of nobody", "grt_none", "grant_unknown"},
		{"another integration's", theirs, "grant_unknown"},
		{"another end user's", bobs, "grant_mismatch"},
		{"another source's", files, "grant_mismatch"},
	} {
		t.Log(c.what)
		s.put(c.grant, "ann", "crm", "b", 1).Fails(fault.Forbidden).Details("reason", c.reason)
		s.end(c.grant, "ann", "crm", "b", 1).Fails(fault.Forbidden).Details("reason", c.reason)
	}
	s.record("ann", "crm", "b").Fails(fault.MemoryNotFound)
	var ids []string
	for _, g := range s.grants("ann") {
		ids = append(ids, g["id"].(string))
	}
	if !slices.Equal(ids, []string{files, id}) {
		t.Errorf("ann's grants are %v, want %s before %s", ids, files, id)
	}
	if got := s.grants("nobody"); len(got) != 0 {
		t.Errorf("grants of nobody: %v", got)
	}

	first := s.revoke(id).OK()
	revoked, _ := first.JSON["grant"].(coretest.Object)["revokedAt"].(string)
	if revoked == "" || first.JSON["grant"].(coretest.Object)["upstream"] != nil {
		t.Errorf("revoked: %s", first.Body)
	}
	if again := s.revoke(id).OK(); again.JSON["grant"].(coretest.Object)["revokedAt"] != revoked {
		t.Errorf("revoked again: %s, first %s", again.Body, first.Body)
	}
	s.put(id, "ann", "crm", "a", 3).Fails(fault.Forbidden).Details("reason", "grant_revoked")
	s.end(id, "ann", "crm", "a", 2).Fails(fault.Forbidden).Details("reason", "grant_revoked") // a replay, too
	if got := s.grants("ann"); len(got) != 2 || got[1]["revokedAt"] != revoked || got[0]["revokedAt"] != nil {
		t.Errorf("after the revocation: %v", got)
	}
	for _, unknown := range []string{"grt_none", theirs} {
		s.revoke(unknown).Fails(fault.NotFound)
	}
	other.put(theirs, "ann", "crm", "a", 1).OK()
	s.upsert("ann", "crm", "a", 3, "Without a grant, which nothing requires.").OK()
}

// An integration may require grants of its sources. Saves need none.
func TestAnIntegrationMayRequireGrants(t *testing.T) {
	p := granting(t, &upstreams{}, 0)
	p.integration("app", 0)
	if _, err := p.Keys.ChangeIntegration(t.Context(), "", "app", key.IntegrationChange{GrantsRequired: new(true)}); err != nil {
		t.Fatal(err)
	}
	s := p.integration("app", 0) // a key that reads the integration as it is now
	s.upsert("ann", "crm", "a", 1, "x").Fails(fault.Forbidden, "X-Mneme-Grant").Details("reason", "grant_required")
	s.tombstone("ann", "crm", "a", 1, "").Fails(fault.Forbidden).Details("reason", "grant_required")
	if users := p.roster(); len(users) != 0 {
		t.Errorf("a refused write has made %v", users)
	}
	s.save("ann", "Saves are the application's own.")
	id := s.grant("ann", "crm", nil)
	s.put(id, "ann", "crm", "a", 1).OK()
	s.record("ann", "crm", "a").OK()
}

// What a connector needs to give a grant back is encrypted, used for that alone, and
// forgotten once it has served.
func TestSecretsOfAGrantGiveItBack(t *testing.T) {
	u := &upstreams{}
	p := granting(t, u, 0)
	s := p.integration("app", 0)
	secrets := map[string]string{"token": "zqxsecrettoken", "client": "c1"}
	want := []string{fmt.Sprint("mail", secrets)}
	made := s.askGrant("ann", "mail", secrets).OK()
	g := made.JSON["grant"].(coretest.Object)
	if fmt.Sprint(g["secretsSet"]) != "[client token]" || strings.Contains(string(made.Body), "zqx") {
		t.Errorf("made: %s", made.Body)
	}
	id := g["id"].(string)
	if found := holding(t, p.Dir, "zqxsecrettoken"); len(found) > 0 {
		t.Errorf("%v hold the secret", found)
	}
	outcome := func(r *coretest.Reply) any { return r.OK().JSON["grant"].(coretest.Object)["upstream"] }

	u.answer(func(context.Context, string) error { return errors.New("out of order") })
	if got := outcome(s.revoke(id)); got != "unanswered" {
		t.Errorf("an upstream that fails: %v", got)
	}
	s.put(id, "ann", "mail", "a", 1).Fails(fault.Forbidden) // all the same
	u.answer(func(context.Context, string) error { panic("a connector's mistake") })
	if got := outcome(s.revoke(id)); got != "unanswered" {
		t.Errorf("a connector that panics: %v", got)
	}
	if got := s.grants("ann"); got[0]["upstream"] != "unanswered" {
		t.Errorf("listed: %v", got)
	}
	if got := u.taken(); !slices.Equal(got, append(want, want...)) {
		t.Errorf("tried with %v", got)
	}
	u.answer(nil)
	for range 2 { // the second time it has been given back
		if got := outcome(s.revoke(id)); got != "revoked" {
			t.Errorf("given back: %v", got)
		}
	}
	if got := u.taken(); !slices.Equal(got, want) {
		t.Errorf("given back with %v", got)
	}
	if stored := p.storedGrants("app", "ann"); len(stored) != 1 || stored[0].Sealed != nil || stored[0].Upstream != "revoked" {
		t.Errorf("kept: %+v", stored)
	}
	if got := s.grant("ann", "plain", nil); outcome(s.revoke(got)) != nil || len(u.taken()) != 0 {
		t.Error("a grant without secrets was given back")
	}
}

// holding lists the files of a folder that hold a text.
func holding(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), text) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// endUserOf is an end user of an integration of the default organization.
func (p *plane) endUserOf(integration, user string) port.Partition {
	p.t.Helper()
	i, err := p.Keys.Integration(context.Background(), "", integration)
	if err != nil {
		p.t.Fatal(err)
	}
	return port.Memories(i.Org, i.ID, user)
}

func (p *plane) storedGrants(integration, user string) (all []port.Grant) {
	p.t.Helper()
	of := p.endUserOf(integration, user)
	err := p.Store.View(context.Background(), func(r port.Reader) (err error) {
		all, err = r.Grants(context.Background(), of)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

// A grant that can't be kept as it was asked for is refused, and nobody is made.
func TestAGrantIsRefusedWhole(t *testing.T) {
	u := &upstreams{check: func(source string, secrets map[string]string) error {
		if source != "mail" {
			return fault.Field(fault.InvalidRequest, "secrets", "would be of no use")
		}
		return nil
	}}
	p := granting(t, u, 0)
	s := p.integration("app", 0)
	token := map[string]string{"token": "t"}
	s.askGrant("ann", "files", token).Fails(fault.InvalidRequest, "of no use")
	s.askGrant("ann", "mail", map[string]string{"token": strings.Repeat("x", 64<<10)}).Fails(fault.InvalidRequest, "65536")
	s.askGrant("ann:", "mail", nil).Fails(fault.InvalidEndUserID)
	s.askGrant("ann", "no source", nil).Fails(fault.InvalidSource)
	if users := p.roster(); len(users) != 0 {
		t.Errorf("a refused grant has made %v", users)
	}
	s.grant("ann", "mail", map[string]string{"token": strings.Repeat("x", 64<<10-len("token"))})

	without := open(t, coretest.Options{}, nil).integration("app", 0)
	if err := without.askGrant("ann", "mail", token).Fails(fault.Unavailable).Err; !fault.IsOff(err) {
		t.Errorf("without a key to encrypt with: %v", err)
	}
	without.grant("ann", "mail", map[string]string{"token": ""}) // which is none
}

// An end user has so many live grants at most, and the oldest of the revoked ones are
// forgotten beyond a number.
func TestGrantsOfAnEndUserAreBounded(t *testing.T) {
	p := granting(t, &upstreams{}, 0)
	s := p.integration("app", 0)
	s.save("ann", "Known.")
	ann, ctx := p.endUserOf("app", "ann"), context.Background()
	err := p.Store.Update(ctx, func(w port.Writer) error {
		for i := range 127 {
			g := port.Grant{ID: fmt.Sprintf("grt_%03d", i), Source: "crm", CreatedAt: time.UnixMilli(int64(1000 + i))}
			if i%2 == 0 { // 64 of them
				g.RevokedAt = time.UnixMilli(5000)
			}
			if err := w.PutGrant(ctx, ann, g); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	has := func(id string) bool {
		return slices.ContainsFunc(p.storedGrants("app", "ann"), func(g port.Grant) bool { return g.ID == id })
	}
	last := s.grant("ann", "crm", nil)
	if n := len(p.storedGrants("app", "ann")); n != 128 || !has("grt_000") {
		t.Errorf("%d are kept, the oldest: %t", n, has("grt_000"))
	}
	s.askGrant("ann", "crm", nil).Fails(fault.Conflict, "64")
	s.revoke(last).OK()
	next := s.grant("ann", "crm", nil)
	if n := len(p.storedGrants("app", "ann")); n != 128 || has("grt_000") || !has("grt_001") || !has("grt_002") || !has(last) ||
		!has(next) {
		t.Errorf("%d are kept: %v", n, s.grants("ann"))
	}
}

// A key of one end user reaches no grant of another.
func TestAPersonalKeyReachesItsOwnGrants(t *testing.T) {
	p := granting(t, &upstreams{}, 0)
	s := p.integration("app", 0)
	mine, theirs := s.grant("ann", "crm", nil), s.grant("bob", "crm", nil)
	ann := app{p, p.Caller(key.Issue{Kind: ident.Personal, Integration: "app", EndUser: "ann"})}
	ann.revoke(theirs).Fails(fault.NotFound)
	s.put(theirs, "bob", "crm", "a", 1).OK()
	ann.revoke(mine).OK()
}

// An erasure revokes grants with its mark: from then on their sources are told so, and
// nothing of them comes back. The upstreams are asked beside each other, and one that
// does not answer is counted.
func TestAnErasureRevokesGrants(t *testing.T) {
	u := &upstreams{}
	p := granting(t, u, 0)
	s := p.integration("app", 0)
	token := map[string]string{"token": "t"}
	good, lost, plain := s.grant("ann", "good", token), s.grant("ann", "hangs", token), s.grant("ann", "plain", nil)
	old, undone := s.grant("ann", "old", token), s.grant("ann", "undone", token)
	bobs := s.grant("bob", "good", token)
	s.revoke(old).OK()
	u.answer(func(context.Context, string) error { return errors.New("not now") })
	s.revoke(undone).OK()
	s.put(good, "ann", "good", "a", 1).OK()
	u.taken()

	entered, release := make(chan struct{}), make(chan struct{})
	u.answer(func(ctx context.Context, source string) error {
		switch source {
		case "good":
			close(entered)
			<-release
		case "hangs":
			if at, bounded := ctx.Deadline(); !bounded || time.Until(at) > 10*time.Second {
				t.Errorf("it may take until %v", at)
			}
			return context.DeadlineExceeded
		}
		return nil
	})
	erased := make(chan *coretest.Reply)
	go func() { erased <- s.eraseUser("ann") }()
	<-entered
	for _, id := range []string{good, lost, plain, old, undone} {
		for source, g := range map[string]string{"good": good, "hangs": lost, "plain": plain, "old": old, "undone": undone} {
			if g == id {
				s.put(id, "ann", source, "a", 9).Fails(fault.Forbidden).Details("reason", "grant_revoked")
			}
		}
	}
	s.upsert("ann", "crm", "b", 1, "Not by a grant.").Fails(fault.Unavailable)
	s.askGrant("ann", "crm", nil).Fails(fault.Unavailable).Retry()
	close(release)
	r := (<-erased).OK()
	r.Answers(`{"success": true, "deletedMemories": 1, "deletedVectors": 1, "revokedGrants": 5, "unansweredUpstreams": 1}`)
	want := []string{fmt.Sprint("good", token), fmt.Sprint("hangs", token), fmt.Sprint("undone", token)}
	if got := u.taken(); !slices.Equal(got, want) {
		t.Errorf("given back: %v, want %v", got, want)
	}
	ann := p.endUserOf("app", "ann")
	for _, id := range []string{good, lost, plain, old, undone} {
		var got port.Grant
		if err := p.Store.View(t.Context(), func(r port.Reader) (err error) {
			got, err = r.Grant(t.Context(), ann.Org(), ann.Integration(), id)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		rest := got
		rest.ID, rest.Org, rest.Integration, rest.RevokedAt = "", "", "", time.Time{}
		if got.RevokedAt.IsZero() || fmt.Sprint(rest) != fmt.Sprint(port.Grant{}) {
			t.Errorf("what stays of a grant: %+v", got)
		}
		s.put(id, "ann", "good", "a", 10).Fails(fault.Forbidden)
		s.revoke(id).Fails(fault.NotFound)
	}
	if got := s.grants("ann"); len(got) != 0 {
		t.Errorf("grants are left: %v", got)
	}
	if users := p.roster(); len(users) != 1 || users[0].ID != "bob" {
		t.Errorf("a refused write has made %v", users)
	}
	s.put(bobs, "bob", "good", "a", 1).OK()
	s.eraseUser("ann").Answers(
		`{"success": true, "deletedMemories": 0, "deletedVectors": 0, "revokedGrants": 0, "unansweredUpstreams": 0}`)
}

// journal is a log that a test reads.
type journal struct {
	mu  sync.Mutex
	out strings.Builder
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.out.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.out.String()
}

// An upstream is waited for so long and no longer. The log names the grant that may be
// good there still, and no secret.
func TestAnUpstreamMayTakeSoLong(t *testing.T) {
	u, said, k := &upstreams{}, &journal{}, seal.NewKey()
	timeout := time.Minute
	settings := func(s *memory.Settings) {
		s.Sealer = seal.New(seal.Settings{Store: s.Store, Keys: []seal.Key{k}})
		s.Upstreams, s.UpstreamTimeout, s.Log = u, timeout, slog.New(slog.NewTextHandler(said, nil))
	}
	p := open(t, coretest.Options{}, settings)
	s := p.integration("app", 0)
	token := map[string]string{"token": "zqxtoken"}
	s.revoke(s.grant("ann", "mail", token)).OK()
	if got := said.String(); strings.Contains(got, "upstream") {
		t.Errorf("one that answers: %s", got)
	}
	s.eraseUser("ann").OK()
	u.answer(func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() })
	timeout = time.Millisecond
	s = s.as(p.restart())
	id := s.grant("ann", "mail", token)
	if got := s.revoke(id).OK().JSON["grant"].(coretest.Object)["upstream"]; got != "unanswered" {
		t.Errorf("one that hangs: %v", got)
	}
	if got := said.String(); strings.Count(got, "grant not revoked upstream") != 1 || !strings.Contains(got, "grant="+id) ||
		!strings.Contains(got, "source=mail") || strings.Contains(got, "zqx") {
		t.Errorf("logged: %s", got)
	}
	s.eraseUser("ann").Answers(
		`{"success": true, "deletedMemories": 0, "deletedVectors": 0, "revokedGrants": 1, "unansweredUpstreams": 1}`)
}

// Eight upstreams are asked at a time.
func TestAnErasureAsksEightUpstreamsAtOnce(t *testing.T) {
	u := &upstreams{}
	p := granting(t, u, time.Minute)
	s := p.integration("app", 0)
	for i := range 16 {
		s.grant("ann", fmt.Sprintf("s%02d", i), map[string]string{"token": "t"})
	}
	var mu sync.Mutex
	inside, most, came := 0, 0, 0
	full := make(chan struct{})
	u.answer(func(ctx context.Context, _ string) error {
		mu.Lock()
		inside, came = inside+1, came+1
		most = max(most, inside)
		wave := full
		if came%8 == 0 { // the others wait for this one
			close(full)
			full = make(chan struct{})
		}
		mu.Unlock()
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			inside--
		}()
		select {
		case <-wave:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	s.eraseUser("ann").Answers(
		`{"success": true, "deletedMemories": 0, "deletedVectors": 0, "revokedGrants": 16, "unansweredUpstreams": 0}`)
	if got := len(u.taken()); got != 16 || most != 8 {
		t.Errorf("%d asked, %d at once", got, most)
	}
}

// A stop in the middle is no upstream's silence: the next start asks again.
func TestAnInterruptedErasureAsksUpstreamsAgain(t *testing.T) {
	u := &upstreams{}
	p := granting(t, u, time.Hour)
	s := p.integration("app", 0)
	token := map[string]string{"token": "t"}
	id := s.grant("ann", "mail", token)
	entered := make(chan struct{})
	u.answer(func(ctx context.Context, _ string) error {
		close(entered)
		<-ctx.Done()
		return ctx.Err()
	})
	ctx, leave := context.WithCancel(s.ctx)
	left := make(chan struct{})
	go func() {
		defer close(left)
		_ = coretest.Ask(ctx, t, s.memories.EraseUser, coretest.Object{}, func(in *memory.EraseUser) { in.EndUserID = "ann" })
	}()
	<-entered
	leave()
	<-left
	var again sync.Once
	asked := make(chan struct{})
	p.close()
	u.answer(func(context.Context, string) error { again.Do(func() { close(asked) }); return nil })
	next := p.restart()
	s = s.as(next)
	<-asked
	s.eraseUser("ann").OK()
	if got := u.taken(); len(got) < 2 || len(slices.Compact(got)) != 1 || got[0] != fmt.Sprint("mail", token) {
		t.Errorf("asked with %v", got)
	}
	if got := next.storedGrants("app", "ann"); len(got) != 0 {
		t.Errorf("left: %+v", got)
	}
	s.put(id, "ann", "mail", "a", 1).Fails(fault.Forbidden).Details("reason", "grant_revoked")
	if users := next.roster(); len(users) != 0 {
		t.Errorf("left: %v", users)
	}
}

// Nothing that a source brings by a grant outlives the erasure, however the two meet.
func TestNothingComesBackThroughAGrant(t *testing.T) {
	p := granting(t, &upstreams{}, 0)
	s := p.integration("app", 0)
	outcomes := map[fault.Code]int{}
	for round := range 8 {
		id := s.grant("ann", "crm", nil)
		s.put(id, "ann", "crm", "first", 1).OK()
		var mu sync.Mutex
		var writers sync.WaitGroup
		ready, stop := make(chan struct{}, 3), make(chan struct{})
		for w := range 3 {
			writers.Go(func() {
				ready <- struct{}{}
				for n := 1; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					r := s.put(id, "ann", "crm", fmt.Sprintf("r%d-w%d-%d", round, w, n), 1)
					mu.Lock()
					outcomes[fault.CodeOf(r.Err)]++
					mu.Unlock()
				}
			})
		}
		for range 3 {
			<-ready
		}
		r := s.eraseUser("ann").OK()
		// What comes after the answer is refused as well.
		s.put(id, "ann", "crm", "late", 1).Fails(fault.Forbidden)
		close(stop)
		writers.Wait()
		if r.Number("revokedGrants") != 1 {
			t.Fatalf("round %d: %s", round, r.Body)
		}
		if users := p.roster(); len(users) != 0 {
			t.Fatalf("round %d: %+v came back", round, users)
		}
	}
	t.Logf("outcomes: %v", outcomes)
	for _, code := range slices.Collect(maps.Keys(outcomes)) {
		if code != "" && code != fault.Forbidden {
			t.Errorf("a source was answered %s %d times", code, outcomes[code])
		}
	}
}
