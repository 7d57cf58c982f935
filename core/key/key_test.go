package key_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/sqlite/sqlitetest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// clock is a time that tests move.
type clock struct{ at atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.at.Store(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time                  { return time.Unix(0, c.at.Load()).UTC() }
func (c *clock) add(d time.Duration)             { c.at.Add(int64(d)) }
func (c *clock) after(d time.Duration) time.Time { return c.now().Add(d) }

// counting is a store that counts its snapshots.
type counting struct {
	port.Store
	views atomic.Int64
	fail  atomic.Bool
}

func (c *counting) View(ctx context.Context, fn func(port.Reader) error) error {
	c.views.Add(1)
	if c.fail.Load() {
		return fault.New(fault.Unavailable, "the disk is gone")
	}
	return c.Store.View(ctx, fn)
}

func (c *counting) Update(ctx context.Context, fn func(port.Writer) error) error {
	if c.fail.Load() {
		return fault.New(fault.Unavailable, "the disk is gone")
	}
	return c.Store.Update(ctx, fn)
}

func open(t testing.TB) (*counting, string) {
	t.Helper()
	dir := sqlitetest.Dir(t)
	s, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &counting{Store: s}, dir
}

func issue(t testing.TB, s *key.Service, in key.Issue) key.Issued {
	t.Helper()
	k, err := s.Issue(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func verify(t testing.TB, s *key.Service, secret string) fault.Code {
	t.Helper()
	_, err := s.Verify(t.Context(), secret, op.Namespace)
	return fault.CodeOf(err)
}

func TestIssueAndVerify(t *testing.T) {
	store, dir := open(t)
	c := newClock()
	s := key.New(key.Settings{Store: store, Now: c.now})
	in := key.Issue{Name: "laptop", ReadOnly: true, Namespace: "docs", DefaultNamespace: "docs",
		Limits: map[string]ident.Rate{"read": {PerMinute: 60, Burst: 5}}, ExpiresAt: c.after(time.Hour)}
	k := issue(t, s, in)
	if !regexp.MustCompile(`^sk-service-[0-9A-Za-z]{43}$`).MatchString(k.Secret) ||
		k.Last4 != k.Secret[len(k.Secret)-4:] || !strings.HasPrefix(k.ID, "key_") {
		t.Errorf("issued %+v", k)
	}
	p, err := s.Verify(t.Context(), k.Secret, op.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	want := ident.Principal{
		KeyID:            k.ID,
		Org:              k.Org,
		OrgName:          ident.DefaultOrg,
		Kind:             ident.Service,
		ReadOnly:         true,
		Namespace:        "docs",
		DefaultNamespace: "docs",
		Limits:           in.Limits,
		ExpiresAt:        in.ExpiresAt,
	}
	if d := cmp.Diff(want, p, cmp.Transformer("scopes", func(s []ident.Scope) string { return fmt.Sprint(s) })); d != "" {
		t.Error(d)
	}
	list, err := s.List(t.Context(), ident.DefaultOrg)
	if err != nil || len(list) != 1 || list[0].ID != k.ID || list[0].Name != "laptop" || list[0].State(c.now()) != "live" {
		t.Errorf("%+v, %v", list, err)
	}
	// The secret is nowhere on disk, as text or as part of anything.
	hash := sha256.Sum256([]byte(k.Secret))
	found := false
	_ = filepath.Walk(dir, func(p string, i os.FileInfo, err error) error {
		if err != nil || i.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return nil
		}
		if strings.Contains(string(b), k.Secret[11:40]) {
			t.Errorf("%s holds the secret", filepath.Base(p))
		}
		found = found || strings.Contains(string(b), string(hash[:])) || strings.Contains(string(b), hex.EncodeToString(hash[:]))
		return nil
	})
	if !found {
		t.Error("the hash was not found either, so the search above proves nothing")
	}
}

// Every key that does not work is answered alike.
// TestMaker: a key says which key asked for it, or what made it otherwise; so does the
// one that takes over from it.
func TestMaker(t *testing.T) {
	store, _ := open(t)
	s := key.New(key.Settings{Store: store, Maker: key.MadeByCommandLine})
	by := func(what string, k key.Info, want string) {
		t.Helper()
		kept, err := s.Find(t.Context(), key.Ref{ID: k.ID})
		if err != nil || k.CreatedBy != want || kept.CreatedBy != want {
			t.Errorf("%s: made by %q, stored %q, %v; want %q", what, k.CreatedBy, kept.CreatedBy, err, want)
		}
	}
	first := issue(t, s, key.Issue{})
	by("without a caller", first.Info, key.MadeByCommandLine)
	by("by the program", issue(t, s, key.Issue{Maker: key.MadeByBootstrap}).Info, key.MadeByBootstrap)
	by("by who knows nothing", issue(t, key.New(key.Settings{Store: store}), key.Issue{}).Info, "")
	asked := ident.WithPrincipal(t.Context(), ident.Principal{KeyID: "key_admin"})
	second, err := s.Issue(asked, key.Issue{Maker: key.MadeByBootstrap})
	if err != nil {
		t.Fatal(err)
	}
	by("by a key", second.Info, "key_admin")
	for _, x := range []struct {
		ctx  context.Context
		want string
	}{{t.Context(), key.MadeByCommandLine}, {asked, "key_admin"}} {
		third, err := s.Rotate(x.ctx, key.Ref{ID: first.ID}, key.Rotation{Overlap: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		by("rotated", third.Info, x.want)
	}
	if _, err := s.Change(asked, key.Ref{ID: first.ID}, key.Change{Name: new("other")}); err != nil {
		t.Fatal(err)
	}
	changed, err := s.Find(t.Context(), key.Ref{ID: first.ID})
	if err != nil {
		t.Fatal(err)
	}
	by("changed", changed, key.MadeByCommandLine)
}

func TestVerifyRefuses(t *testing.T) {
	store, _ := open(t)
	c := newClock()
	s := key.New(key.Settings{Store: store, Now: c.now})
	live := issue(t, s, key.Issue{})
	revoked := issue(t, s, key.Issue{})
	if err := s.Revoke(t.Context(), key.Ref{ID: revoked.ID}); err != nil {
		t.Fatal(err)
	}
	expiring := issue(t, s, key.Issue{ExpiresAt: c.after(time.Minute)})
	if verify(t, s, expiring.Secret) != "" {
		t.Error("a key that has not expired was refused")
	}
	memory := issue(t, s, key.Issue{Kind: ident.Integration})
	flipped := []byte(live.Secret)
	flipped[20] ^= 1
	c.add(time.Minute)
	team := issue(t, s, key.Issue{Kind: ident.Team})
	messages := map[string]bool{}
	for _, x := range []struct {
		name, secret string
		family       op.Family
	}{
		{"empty", "", op.Namespace},
		{"prefix only", "sk-service-", op.Namespace},
		{"unknown", "sk-service-" + strings.Repeat("A", 43), op.Namespace},
		{"one character changed", string(flipped), op.Namespace},
		{"cut", live.Secret[:len(live.Secret)-1], op.Namespace},
		{"longer", live.Secret + "A", op.Namespace},
		{"other case of the prefix", "SK-SERVICE-" + live.Secret[11:], op.Namespace},
		{"huge", strings.Repeat("sk-service-", 100_000), op.Namespace},
		{"binary", "sk-service-\x00\xff", op.Namespace},
		{"revoked", revoked.Secret, op.Namespace},
		{"expired at this moment", expiring.Secret, op.Namespace},
	} {
		_, err := s.Verify(t.Context(), x.secret, x.family)
		if fault.CodeOf(err) != fault.Unauthorized {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		messages[fault.From(err).Message] = true
	}
	if len(messages) != 1 {
		t.Errorf("the messages tell keys apart: %v", messages)
	}
	// A key of another family is told so; what its prefix does not show counts
	// for nothing in that.
	for _, x := range []struct {
		name, secret string
		family       op.Family
		says         string
	}{
		{"service key on the memory API", live.Secret, op.Memory, "cint_"},
		{"revoked one on the memory API", revoked.Secret, op.Memory, "cint_"},
		{"unknown one on the memory API", "sk-service-" + strings.Repeat("A", 43), op.Memory, "cint_"},
		{"service key on the admin API", live.Secret, op.Administration, "adm-"},
		{"integration key on the namespace API", memory.Secret, op.Namespace, "sk-service-"},
		{"integration key on the admin API", memory.Secret, op.Administration, "adm-"},
		{"team key on the memory API", team.Secret, op.Memory, "kind team"},
		{"team key, by what it takes", team.Secret, op.Memory, "cint_, or personal ones with cmem_"},
		{"team key on the namespace API", team.Secret, op.Namespace, "sk-service-"},
	} {
		_, err := s.Verify(t.Context(), x.secret, x.family)
		message := fault.From(err).Message
		if fault.CodeOf(err) != fault.Unauthorized || !strings.Contains(message, "not valid on") ||
			!strings.Contains(message, x.says) {
			t.Errorf("%s: %v", x.name, err)
		}
	}
	if _, err := s.Verify(t.Context(), memory.Secret, op.Memory); err != nil {
		t.Error(err)
	}
}

func TestRevocationElsewhereHoldsWithinASecond(t *testing.T) {
	store, _ := open(t)
	c := newClock()
	here, there := key.New(key.Settings{Store: store, Now: c.now, CacheFor: time.Hour}),
		key.New(key.Settings{Store: store, Now: c.now})
	k := issue(t, there, key.Issue{})
	if code := verify(t, here, k.Secret); code != "" {
		t.Fatal(code)
	}
	if err := there.Revoke(t.Context(), key.Ref{Org: ident.DefaultOrg, ID: k.ID}); err != nil {
		t.Fatal(err)
	}
	if code := verify(t, there, k.Secret); code != fault.Unauthorized {
		t.Errorf("the revoking process answers %q", code)
	}
	c.add(500 * time.Millisecond)
	if code := verify(t, here, k.Secret); code != fault.Unauthorized {
		t.Errorf("another process answers %q after 500 ms", code)
	}
	c.add(-time.Hour) // a clock that goes back must not bring it back
	if code := verify(t, here, k.Secret); code != fault.Unauthorized {
		t.Errorf("%q after the clock went back", code)
	}
}

func TestSuspension(t *testing.T) {
	store, _ := open(t)
	s := key.New(key.Settings{Store: store})
	if _, err := s.CreateOrganization(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	k, other := issue(t, s, key.Issue{Org: "acme"}), issue(t, s, key.Issue{})
	for range 2 { // suspending again is the same
		if err := s.Suspend(t.Context(), "acme"); err != nil {
			t.Fatal(err)
		}
		if code := verify(t, s, k.Secret); code != fault.Forbidden {
			t.Errorf("a suspended organization's key: %q", code)
		}
	}
	if code := verify(t, s, other.Secret); code != "" {
		t.Errorf("another organization's key: %q", code)
	}
	if _, err := s.Issue(t.Context(), key.Issue{Org: "acme"}); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("a key for a suspended organization: %v", err)
	}
	if err := s.Resume(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	if code := verify(t, s, k.Secret); code != "" {
		t.Errorf("after resuming: %q", code)
	}
	for _, name := range []string{"nobody", ""} {
		if err := s.Suspend(t.Context(), name); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("suspending %q: %v", name, err)
		}
	}
}

func TestOrganizations(t *testing.T) {
	store, _ := open(t)
	s := key.New(key.Settings{Store: store})
	first, err := s.EnsureDefault(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.EnsureDefault(t.Context())
	if err != nil || again.ID != first.ID {
		t.Errorf("%+v, then %+v, %v", first, again, err)
	}
	if k := issue(t, s, key.Issue{}); k.Org != first.ID {
		t.Errorf("the key is of %s", k.Org)
	}
	if _, err := s.CreateOrganization(t.Context(), "Acme.Inc-2_x"); err != nil {
		t.Error(err)
	}
	if _, err := s.CreateOrganization(t.Context(), "Acme.Inc-2_x"); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a name twice: %v", err)
	}
	for _, name := range []string{"", "-a", ".a", "a b", "a/b", "ä", strings.Repeat("a", 65), "a\x00"} {
		if _, err := s.CreateOrganization(t.Context(), name); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%q: %v", name, err)
		}
	}
	all, err := s.Organizations(t.Context())
	if err != nil || len(all) != 2 || all[0].Name != "Acme.Inc-2_x" || all[1].Name != ident.DefaultOrg {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestIssueRefuses(t *testing.T) {
	store, _ := open(t)
	c := newClock()
	s := key.New(key.Settings{Store: store, Now: c.now})
	for _, x := range []struct {
		name string
		in   key.Issue
		code fault.Code
	}{
		{"kind", key.Issue{Kind: "root"}, fault.InvalidRequest},
		{"namespace", key.Issue{Namespace: "Bad"}, fault.InvalidNamespace},
		{"default namespace", key.Issue{DefaultNamespace: "a/b"}, fault.InvalidNamespace},
		{"default outside the limit", key.Issue{Namespace: "a", DefaultNamespace: "b"}, fault.InvalidRequest},
		{"past", key.Issue{ExpiresAt: c.now()}, fault.InvalidRequest},
		{"long name", key.Issue{Name: strings.Repeat("ä", 129)}, fault.InvalidRequest},
		{"name with a line break", key.Issue{Name: "a\nb"}, fault.InvalidRequest},
		{"negative limit", key.Issue{Limits: map[string]ident.Rate{"read": {PerMinute: -1}}}, fault.InvalidRequest},
		{"organization", key.Issue{Org: "nobody"}, fault.NotFound},
	} {
		if _, err := s.Issue(t.Context(), x.in); fault.CodeOf(err) != x.code {
			t.Errorf("%s: %v, want %s", x.name, err, x.code)
		}
	}
	if list, err := s.List(t.Context(), ""); err != nil || len(list) != 0 {
		t.Errorf("refused keys were stored: %v %v", list, err)
	}
	issue(t, s, key.Issue{Name: strings.Repeat("ä", 128)})
}

func TestRevoke(t *testing.T) {
	store, _ := open(t)
	c := newClock()
	s := key.New(key.Settings{Store: store, Now: c.now})
	if _, err := s.CreateOrganization(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	k := issue(t, s, key.Issue{Org: "acme"})
	issue(t, s, key.Issue{})
	for _, ref := range []key.Ref{{ID: "key_none"}, {Org: "default", ID: k.ID}, {Org: "nobody", ID: k.ID}} {
		if err := s.Revoke(t.Context(), ref); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%+v: %v", ref, err)
		}
	}
	if code := verify(t, s, k.Secret); code != "" {
		t.Fatal(code)
	}
	at := c.now()
	if err := s.Revoke(t.Context(), key.Ref{ID: k.ID}); err != nil {
		t.Fatal(err)
	}
	c.add(time.Hour)
	if err := s.Revoke(t.Context(), key.Ref{ID: k.ID}); err != nil {
		t.Fatal(err)
	}
	list, err := s.List(t.Context(), "acme")
	if err != nil || len(list) != 1 || !list[0].RevokedAt.Equal(at) || list[0].State(c.now()) != "revoked" {
		t.Errorf("%+v, %v", list, err)
	}
	if all, err := s.List(t.Context(), ""); err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestLastUse(t *testing.T) {
	store, _ := open(t)
	c := newClock()
	s := key.New(key.Settings{Store: store, Now: c.now, FlushEvery: time.Hour})
	k, unused := issue(t, s, key.Issue{}), issue(t, s, key.Issue{})
	c.add(time.Minute)
	verify(t, s, k.Secret)
	used := func() map[string]time.Time {
		list, err := s.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]time.Time{}
		for _, i := range list {
			out[i.ID] = i.LastUsedAt
		}
		return out
	}
	store.fail.Store(true)
	if err := s.Flush(t.Context()); err == nil {
		t.Error("a failed flush was not told")
	}
	store.fail.Store(false)
	if got := used()[k.ID]; !got.IsZero() {
		t.Errorf("written before a flush: %v", got)
	}
	// The end of Run writes what a failed flush kept.
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := used(); !got[k.ID].Equal(c.now()) || !got[unused.ID].IsZero() {
		t.Errorf("last uses %v, want %v", got, c.now())
	}
}

// Callers share one read of the store, and guesses leave nothing behind.
func TestVerifyIsCached(t *testing.T) {
	store, _ := open(t)
	c := newClock()
	s := key.New(key.Settings{Store: store, Now: c.now})
	k := issue(t, s, key.Issue{})
	store.views.Store(0)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			for range 20 {
				if code := verify(t, s, k.Secret); code != "" {
					t.Error(code)
				}
			}
		})
	}
	wg.Wait()
	if n := store.views.Load(); n != 1 {
		t.Errorf("%d reads for one key", n)
	}
	c.add(499 * time.Millisecond)
	verify(t, s, k.Secret)
	if n := store.views.Load(); n != 1 {
		t.Errorf("%d reads within the time of the cache", n)
	}
	c.add(time.Millisecond)
	verify(t, s, k.Secret)
	if n := store.views.Load(); n != 2 {
		t.Errorf("%d reads after it", n)
	}
	// A store that fails is no reason to trust an old answer, nor to call a key wrong.
	c.add(time.Second)
	store.fail.Store(true)
	if code := verify(t, s, k.Secret); code != fault.Unavailable {
		t.Errorf("%q while the store fails", code)
	}
	store.fail.Store(false)
	if code := verify(t, s, k.Secret); code != "" {
		t.Errorf("%q when it works again", code)
	}
}

func BenchmarkVerify(b *testing.B) {
	store, _ := open(b)
	s := key.New(key.Settings{Store: store})
	k := issue(b, s, key.Issue{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Verify(b.Context(), k.Secret, op.Namespace); err != nil {
			b.Fatal(err)
		}
	}
}
