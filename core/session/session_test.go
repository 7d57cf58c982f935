package session_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/sqlite/sqlitetest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/session"
)

// world is the service over a real store and real keys, with a clock that tests move.
type world struct {
	*testing.T
	ctx   context.Context
	now   atomic.Int64
	store *failing
	keys  *key.Service
	log   bytes.Buffer
	*session.Service
	logger *slog.Logger
}

// failing is a store that fails on demand, and counts its transactions.
type failing struct {
	port.Store
	views, updates error
	refuses        func() error // nil: nothing is refused
	written        atomic.Int64
}

func (f *failing) View(ctx context.Context, fn func(port.Reader) error) error {
	if f.views != nil {
		return f.views
	}
	return f.Store.View(ctx, fn)
}

func (f *failing) Update(ctx context.Context, fn func(port.Writer) error) error {
	if f.refuses != nil {
		return f.refuses()
	}
	if f.updates != nil {
		return f.updates
	}
	f.written.Add(1)
	return f.Store.Update(ctx, fn)
}

func begin(t *testing.T, s session.Settings) *world {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlitetest.Dir(t), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	w := &world{T: t, ctx: t.Context(), store: &failing{Store: store}}
	w.now.Store(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).UnixNano())
	w.keys = key.New(key.Settings{Store: store, Now: w.clock})
	if _, err := w.keys.EnsureDefault(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.logger = slog.New(slog.NewTextHandler(&w.log, nil))
	w.with(s)
	return w
}

func (w *world) clock() time.Time     { return time.Unix(0, w.now.Load()) }
func (w *world) pass(d time.Duration) { w.now.Add(int64(d)) }
func (w *world) fine(err error)       { w.Helper(); w.want(err, "") }
func (w *world) org(name string) ident.Org {
	w.Helper()
	o, err := w.keys.CreateOrganization(w.ctx, name)
	w.fine(err)
	return o.ID
}

func (w *world) want(err error, code fault.Code) {
	w.Helper()
	if got := fault.CodeOf(err); err != nil && got != code || err == nil && code != "" {
		w.Fatalf("answered %v, want %q", err, code)
	}
}

func (w *world) issue(in key.Issue) key.Issued {
	w.Helper()
	in.Kind = cmp.Or(in.Kind, ident.Admin)
	k, err := w.keys.Issue(w.ctx, in)
	w.fine(err)
	return k
}

func (w *world) signIn(secret string) session.Begun {
	w.Helper()
	b, err := w.Begin(w.ctx, secret, "Browser/1")
	w.fine(err)
	return b
}

func (w *world) verify(token string, family op.Family) (ident.Principal, error) {
	return w.VerifySession(w.ctx, op.Credential{Session: token}, family)
}

// A session is its key: what the key is and may do, in its organization, until one of them ends.
func TestASessionStandsForItsKey(t *testing.T) {
	w := begin(t, session.Settings{})
	k := w.issue(key.Issue{ReadOnly: true})
	b := w.signIn(k.Secret)
	if !b.ExpiresAt.Equal(w.clock().Add(12*time.Hour)) || b.Caller.KeyID != k.ID || len(b.Token) < 50 {
		t.Errorf("begun: %+v", b)
	}
	for _, family := range []op.Family{op.Namespace, op.Administration} {
		p, err := w.verify(b.Token, family)
		w.fine(err)
		if p.KeyID != k.ID || p.Org != k.Org || p.OrgName != ident.DefaultOrg || !p.ReadOnly || p.Kind != ident.Admin {
			t.Errorf("family %v: %+v", family, p)
		}
	}
	if other := w.signIn(k.Secret); other.Token == b.Token {
		t.Error("two sessions have one token")
	}
	w.fine(w.End(w.ctx, b.Token))
	w.fine(w.End(w.ctx, b.Token))
	_, err := w.verify(b.Token, op.Administration)
	w.want(err, fault.Unauthorized)

	b = w.signIn(k.Secret)
	w.fine(w.keys.Revoke(w.ctx, key.Ref{ID: k.ID}))
	_, err = w.verify(b.Token, op.Administration)
	w.want(err, fault.Unauthorized)
	if !strings.Contains(err.Error(), "revoked") {
		t.Errorf("it does not say why: %v", err)
	}
}

func TestSessionsEnd(t *testing.T) {
	w := begin(t, session.Settings{Lifetime: 3 * time.Hour, Idle: 30 * time.Minute})
	k := w.issue(key.Issue{})
	for _, c := range []struct {
		name    string
		between time.Duration
		good    int // how many uses, that far apart, find it
	}{
		{"just in time", 30*time.Minute - time.Microsecond, 6},
		{"unused for too long", 30 * time.Minute, 0},
		{"old", 20 * time.Minute, 8},
	} {
		b, n := w.signIn(k.Secret), 0
		for ; n < 20; n++ {
			w.pass(c.between)
			if _, err := w.verify(b.Token, op.Administration); err != nil {
				w.want(err, fault.Unauthorized)
				break
			}
		}
		if n != c.good {
			t.Errorf("%s: found %d times, want %d", c.name, n, c.good)
		}
	}
	short := w.issue(key.Issue{ExpiresAt: w.clock().Add(time.Hour)})
	if b := w.signIn(short.Secret); !b.ExpiresAt.Equal(short.ExpiresAt) {
		t.Errorf("it ends %v, its key %v", b.ExpiresAt, short.ExpiresAt)
	}
}

// Every secret that does not work is answered alike.
func TestWhatDoesNotSignIn(t *testing.T) {
	w := begin(t, session.Settings{})
	revoked := w.issue(key.Issue{})
	w.fine(w.keys.Revoke(w.ctx, key.Ref{ID: revoked.ID}))
	w.org("closed")
	suspended := w.issue(key.Issue{Org: "closed"})
	w.fine(w.keys.Suspend(w.ctx, "closed"))
	gone := w.issue(key.Issue{ExpiresAt: w.clock().Add(time.Minute)})
	live := w.issue(key.Issue{})
	w.pass(time.Hour)
	said := map[string]bool{}
	for _, secret := range []string{"", "x", "adm-" + strings.Repeat("a", 43), revoked.Secret, suspended.Secret, gone.Secret,
		w.issue(key.Issue{Kind: ident.Service}).Secret, "mnsl_", "mnsl_" + strings.Repeat("A", 52), live.Secret + "x",
		w.signIn(live.Secret).Token} {
		_, err := w.Begin(w.ctx, secret, "")
		w.want(err, fault.Unauthorized)
		said[err.Error()] = true
	}
	if len(said) != 1 {
		t.Errorf("the answers tell secrets apart: %v", said)
	}
	for _, token := range []string{"", "x", "mnss_", live.Secret} {
		_, err := w.verify(token, op.Administration)
		w.want(err, fault.Unauthorized)
	}
}

func TestALinkSignsInOnceAndSoon(t *testing.T) {
	w := begin(t, session.Settings{})
	k := w.issue(key.Issue{})
	link := func() string {
		token, err := w.Link(w.ctx, k.Org, k.ID)
		w.fine(err)
		return token
	}
	token := link()
	if b := w.signIn(token); b.Caller.KeyID != k.ID {
		t.Errorf("signed in with key %s", b.Caller.KeyID)
	}
	_, err := w.Begin(w.ctx, token, "")
	w.want(err, fault.Unauthorized)

	token = link()
	w.pass(session.LinkFor - time.Microsecond)
	w.signIn(token)
	token = link()
	w.pass(session.LinkFor)
	_, err = w.Begin(w.ctx, token, "")
	w.want(err, fault.Unauthorized)

	token = link()
	w.fine(w.keys.Revoke(w.ctx, key.Ref{ID: k.ID}))
	_, err = w.Begin(w.ctx, token, "")
	w.want(err, fault.Unauthorized)
	_, err = w.Link(w.ctx, k.Org, "key_absent")
	w.want(err, fault.NotFound)
	if _, err := w.verify(token, op.Administration); err == nil {
		t.Error("a link's code is a session")
	}
}

// A session acts in the organizations that its key administers, and where the memory API is
// called for one of their integrations.
func TestWhereASessionActs(t *testing.T) {
	w := begin(t, session.Settings{})
	acme, other := w.org("acme"), w.org("other")
	longest := "az09" + strings.Repeat("x", 60)
	long := w.org(longest)
	_, err := w.keys.CreateIntegration(w.ctx, "acme", "chat", key.IntegrationChange{})
	w.fine(err)
	chat, err := w.keys.Integration(w.ctx, "acme", "chat")
	w.fine(err)
	own := w.signIn(w.issue(key.Issue{Org: "acme"}).Secret).Token
	all := w.signIn(w.issue(key.Issue{AllOrganizations: true}).Secret).Token
	for _, c := range []struct {
		token, org, integration string
		family                  op.Family
		code                    fault.Code
		acts                    ident.Org
	}{
		{own, "", "", op.Namespace, "", acme},
		{own, "acme", "", op.Namespace, "", acme},
		{own, string(acme), "", op.Namespace, "", acme},
		{own, "other", "", op.Namespace, fault.NotFound, ""},
		{own, string(other), "", op.Namespace, fault.NotFound, ""},
		{own, "absent", "", op.Namespace, fault.NotFound, ""},
		{own, "a\x00b", "", op.Namespace, fault.NotFound, ""},
		{own, strings.Repeat("a", 65), "", op.Namespace, fault.NotFound, ""},
		{all, longest, "", op.Namespace, "", long},
		{own, "other", "", op.Administration, "", acme}, // that operation looks itself
		{all, "other", "", op.Namespace, "", other},
		{all, string(other), "", op.Namespace, "", other},
		{all, "other", "chat", op.Memory, fault.NotFound, ""},
		{own, "acme", "chat", op.Memory, "", acme},
		{own, "", chat.ID, op.Memory, "", acme},
		{own, "acme", "", op.Memory, fault.NotFound, ""},
		{own, "acme", "a b", op.Memory, fault.NotFound, ""},
	} {
		p, err := w.VerifySession(w.ctx, op.Credential{Session: c.token, Org: c.org, Integration: c.integration}, c.family)
		if fault.CodeOf(err) != c.code && !(err == nil && c.code == "") {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if err != nil {
			continue
		}
		inChat := p.Integration == chat.ID && slices.Contains(p.Scopes, ident.MemoriesRead) && p.Quotas == chat.Quotas
		if p.Org != c.acts || inChat != (c.family == op.Memory) {
			t.Errorf("%+v: acts as %+v", c, p)
		}
	}
	w.fine(w.keys.Suspend(w.ctx, "other"))
	_, err = w.VerifySession(w.ctx, op.Credential{Session: all, Org: "other"}, op.Namespace)
	w.want(err, fault.Forbidden)
	_, err = w.VerifySession(w.ctx, op.Credential{Session: all, Org: "other"}, op.Administration)
	w.fine(err) // so that it can be resumed
}

// The last use is written down once a minute, and a store that cannot write ends nothing.
func TestUsesAreRecordedNowAndThen(t *testing.T) {
	w := begin(t, session.Settings{})
	b := w.signIn(w.issue(key.Issue{}).Secret)
	for _, c := range []struct {
		pass   time.Duration
		writes int
	}{{time.Second, 0}, {58 * time.Second, 0}, {time.Second, 1}, {time.Second, 0}, {time.Minute, 1}} {
		w.pass(c.pass)
		w.store.written.Store(0)
		_, err := w.verify(b.Token, op.Administration)
		w.fine(err)
		if got := int(w.store.written.Load()); got != c.writes {
			t.Errorf("after %v more it wrote %d times, want %d", c.pass, got, c.writes)
		}
	}
	if w.log.Len() > 0 {
		t.Errorf("log of what worked: %s", &w.log)
	}
	w.pass(time.Minute)
	w.store.updates = fault.New(fault.Unavailable, "the disk is full")
	_, err := w.verify(b.Token, op.Administration)
	w.fine(err)
	if !strings.Contains(w.log.String(), "session use not recorded") {
		t.Errorf("log: %s", &w.log)
	}
}

// A store that fails is an error of its own, and never a wrong key.
func TestAFailingStoreIsNotAWrongKey(t *testing.T) {
	w := begin(t, session.Settings{})
	k := w.issue(key.Issue{})
	b, broken := w.signIn(k.Secret), fault.New(fault.Unavailable, "the disk is gone")
	link, err := w.Link(w.ctx, k.Org, k.ID)
	w.fine(err)
	w.store.updates = broken
	for name, call := range map[string]func() error{
		"key":   func() error { _, err := w.Begin(w.ctx, k.Secret, ""); return err },
		"link":  func() error { _, err := w.Begin(w.ctx, link, ""); return err },
		"make":  func() error { _, err := w.Link(w.ctx, k.Org, k.ID); return err },
		"end":   func() error { return w.End(w.ctx, b.Token) },
		"purge": func() error { return w.Purge(w.ctx) },
	} {
		if err := call(); !errors.Is(err, error(broken)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.store.views = broken
	_, err = w.verify(b.Token, op.Administration)
	w.want(err, fault.Unavailable)
}

func TestPurgeRemovesWhatHasEnded(t *testing.T) {
	w := begin(t, session.Settings{Lifetime: 2 * time.Hour, Idle: time.Hour})
	k := w.issue(key.Issue{})
	idle := w.signIn(k.Secret)
	w.pass(50 * time.Minute)
	used := w.signIn(k.Secret)
	w.pass(10 * time.Minute)
	w.fine(w.Purge(w.ctx))
	w.pass(-time.Hour) // a clock that goes back would find what is there still
	_, err := w.verify(idle.Token, op.Administration)
	w.want(err, fault.Unauthorized)
	_, err = w.verify(used.Token, op.Administration)
	w.fine(err)
}

// Run purges until it is told to end.
func TestRun(t *testing.T) {
	w := begin(t, session.Settings{PurgeEvery: time.Millisecond})
	b := w.signIn(w.issue(key.Issue{}).Secret)
	w.pass(13 * time.Hour)
	ctx, stop := context.WithCancel(w.ctx)
	done := make(chan struct{})
	go func() { defer close(done); w.Service.Run(ctx) }()
	for before := w.store.written.Load(); w.store.written.Load() < before+2; runtime.Gosched() {
		if w.ctx.Err() != nil {
			t.Fatal("nothing was purged")
		}
	}
	stop()
	<-done
	if w.log.Len() > 0 {
		t.Errorf("log of what worked: %s", &w.log)
	}
	w.pass(-13 * time.Hour)
	_, err := w.verify(b.Token, op.Administration)
	w.want(err, fault.Unauthorized)
}

// A purge that fails is logged, and the next one tried.
func TestAPurgeThatFails(t *testing.T) {
	w := begin(t, session.Settings{PurgeEvery: time.Millisecond})
	tried := make(chan struct{}, 2)
	w.store.refuses = func() error {
		select {
		case tried <- struct{}{}:
		default:
		}
		return fault.New(fault.Unavailable, "the disk is full")
	}
	ctx, stop := context.WithCancel(w.ctx)
	done := make(chan struct{})
	go func() { defer close(done); w.Service.Run(ctx) }()
	<-tried
	<-tried // the first has been logged by now
	stop()
	<-done
	if !strings.Contains(w.log.String(), "session cleanup failed") {
		t.Errorf("log: %s", &w.log)
	}
}

// What a browser says of itself is kept to 256 bytes, and never cut within a character.
func TestWhatBrowsersSayOfThemselves(t *testing.T) {
	w := begin(t, session.Settings{})
	k := w.issue(key.Issue{})
	for said, kept := range map[string]string{
		strings.Repeat("x", 256):                strings.Repeat("x", 256),
		strings.Repeat("x", 257):                strings.Repeat("x", 256),
		strings.Repeat("x", 255) + "éé":         strings.Repeat("x", 255),
		strings.Repeat("x", 254) + "\U0001F41D": strings.Repeat("x", 254),
		"a\x00b\xffc":                           "abc",
	} {
		b, err := w.Begin(w.ctx, k.Secret, said)
		w.fine(err)
		w.fine(w.store.View(w.ctx, func(r port.Reader) error {
			s, err := r.SessionByHash(w.ctx, ident.TokenHash(b.Token))
			if s.UserAgent != kept {
				t.Errorf("of %q it keeps %q", said, s.UserAgent)
			}
			return err
		}))
	}
}

// Without members there is no way in but a key.
func TestWithoutMembers(t *testing.T) {
	w := begin(t, session.Settings{})
	if ways := w.Ways(); ways != (session.Ways{}) {
		t.Errorf("ways: %+v", ways)
	}
	_, err := w.BeginMember(w.ctx, ident.DefaultOrg, "ann@example.com", "a long enough password", "")
	w.want(err, fault.Unauthorized)
	_, err = w.Accept(w.ctx, "mnsi_x", "a long enough password", "")
	w.want(err, fault.Unauthorized)
	w.want(w.ChangePassword(w.ctx, w.signIn(w.issue(key.Issue{}).Secret).Token, "a", "b"), fault.Forbidden)
}
