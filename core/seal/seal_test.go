package seal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/storage/postgres"
	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/sqlite/sqlitetest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/core/seal"
)

// server is started by the first test that asks for it.
var server = sync.OnceValue(postgrestest.Start)

var started bool

func TestMain(m *testing.M) {
	code := m.Run()
	if started {
		server().Stop()
	}
	os.Exit(code)
}

// place is an open store with its default organization; open opens it as one more
// process would.
type place struct {
	store port.DocumentStore
	org   ident.Org
	open  func() port.DocumentStore
}

func (p place) sealer(keys ...seal.Key) *seal.Sealer { return sealer(p.store, keys...) }

func sealer(s port.Store, keys ...seal.Key) *seal.Sealer {
	return seal.New(seal.Settings{Store: s, Keys: keys, Now: func() time.Time { return time.Unix(1_800_000_000, 0) }})
}

// eachStore runs a test over a fresh store of each kind.
func eachStore(t *testing.T, test func(*testing.T, place)) {
	t.Run("sqlite", func(t *testing.T) { test(t, onSQLite(t)) })
	t.Run("postgres", func(t *testing.T) {
		if testing.Short() {
			t.Skip("starts a server")
		}
		started = true
		c := postgres.Default()
		c.DSN = registry.Secret(server().Database(t))
		test(t, placed(t, func() port.DocumentStore { return opened(t)(postgres.Open(t.Context(), c, postgres.Options{})) }))
	})
}

func onSQLite(t testing.TB) place {
	dir, served := sqlitetest.Dir(t), false
	return placed(t, func() port.DocumentStore {
		shared := served
		served = true
		return opened(t)(sqlite.Open(t.Context(), dir, sqlite.Options{Shared: shared}))
	})
}

func opened(t testing.TB) func(port.DocumentStore, error) port.DocumentStore {
	return func(s port.DocumentStore, err error) port.DocumentStore {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
}

func placed(t testing.TB, open func() port.DocumentStore) place {
	t.Helper()
	p := place{store: open(), open: open}
	view(t, p.store, func(r port.Reader) error {
		o, err := r.OrganizationByName(t.Context(), ident.DefaultOrg)
		p.org = o.ID
		return err
	})
	return p
}

func view(t testing.TB, s port.Store, fn func(port.Reader) error) {
	t.Helper()
	if err := s.View(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func update(t testing.TB, s port.Store, fn func(port.Writer) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func makeOrg(t testing.TB, s port.Store, ids ...ident.Org) {
	t.Helper()
	update(t, s, func(w port.Writer) error {
		for _, id := range ids {
			if err := w.PutOrganization(t.Context(), port.Organization{ID: id, Name: string(id)}); err != nil {
				return err
			}
		}
		return nil
	})
}

func token(org ident.Org) port.SealPlace {
	return port.SealPlace{Org: org, Table: "source_secrets", Row: "src_1", Name: "token"}
}

func sealed(t testing.TB, s *seal.Sealer, at port.SealPlace, secret string) []byte {
	t.Helper()
	out, err := s.Seal(t.Context(), at, []byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func opens(t testing.TB, s *seal.Sealer, at port.SealPlace, value []byte, want string) {
	t.Helper()
	if got, err := s.Open(t.Context(), at, value); err != nil || string(got) != want {
		t.Errorf("opened as %q, %v; want %q", got, err, want)
	}
}

// isLost wants an error of what can't be opened any more, by whose message nobody learns
// anything.
func isLost(t testing.TB, what string, got []byte, err error) {
	t.Helper()
	if got != nil || !errors.Is(err, port.ErrUnsealable) || fault.CodeOf(err) != fault.Internal ||
		!strings.Contains(fault.From(err).Message, "has to be given again") {
		t.Errorf("%s: %q, %v", what, got, err)
	}
}

// A secret comes back as it was given, and what the store keeps shows nothing of it, not
// even that two are the same.
func TestASecretComesBack(t *testing.T) {
	p := onSQLite(t)
	s := p.sealer(seal.NewKey())
	for _, secret := range []string{"hunter2", "", strings.Repeat("long ", 10_000), "\x00\xff"} {
		a, b := sealed(t, s, token(p.org), secret), sealed(t, s, token(p.org), secret)
		opens(t, s, token(p.org), a, secret)
		opens(t, s, token(p.org), b, secret)
		if bytes.Equal(a, b) || secret != "" && bytes.Contains(a, []byte(secret)) {
			t.Errorf("%.10q sealed shows: %.100x", secret, a)
		}
	}
}

// A value opens where it was sealed and nowhere else, wherever its parts begin and end.
func TestAMovedValueDoesNotOpen(t *testing.T) {
	p := onSQLite(t)
	store := p.store
	makeOrg(t, store, "org_other")
	s := sealer(store, seal.NewKey())
	at := token(p.org)
	value := sealed(t, s, at, "hunter2")
	got, err := s.Open(t.Context(), token("org_other"), value)
	isLost(t, "an organization without secrets", got, err)
	sealed(t, s, token("org_other"), "theirs")
	for what, to := range map[string]port.SealPlace{
		"another organization":   {Org: "org_other", Table: at.Table, Row: at.Row, Name: at.Name},
		"another table":          {Org: at.Org, Table: "grants", Row: at.Row, Name: at.Name},
		"another row":            {Org: at.Org, Table: at.Table, Row: "src_2", Name: at.Name},
		"another name":           {Org: at.Org, Table: at.Table, Row: at.Row, Name: "password"},
		"a cut at another place": {Org: at.Org, Table: at.Table, Row: at.Row + "t", Name: "oken"},
		"nowhere":                {Org: at.Org},
	} {
		got, err := s.Open(t.Context(), to, value)
		isLost(t, what, got, err)
	}
	opens(t, s, at, value, "hunter2")
}

// No byte of a sealed value can be changed, left out or added.
func TestAnAlteredValueDoesNotOpen(t *testing.T) {
	p := onSQLite(t)
	s, at := p.sealer(seal.NewKey()), token(p.org)
	value := sealed(t, s, at, "hunter2")
	for i := range value {
		altered := slices.Clone(value)
		altered[i] ^= 1
		got, err := s.Open(t.Context(), at, altered)
		isLost(t, fmt.Sprintf("byte %d changed", i), got, err)
		got, err = s.Open(t.Context(), at, value[:i])
		isLost(t, fmt.Sprintf("cut to %d bytes", i), got, err)
	}
	got, err := s.Open(t.Context(), at, append(value, 0))
	isLost(t, "a byte more", got, err)
	got, err = s.Open(t.Context(), at, nil)
	isLost(t, "nothing", got, err)
}

// Anyone who writes to the store cannot pass one thing off as another: a wrapped key under
// another id or in another organization does not unwrap.
func TestAMovedDataKeyDoesNotUnwrap(t *testing.T) {
	p := onSQLite(t)
	store := p.store
	makeOrg(t, store, "org_other", "org_renamed", "org_damaged", "org_odd")
	key := seal.NewKey()
	s := sealer(store, key)
	sealed(t, s, token(p.org), "hunter2")
	var mine port.DataKey
	view(t, store, func(r port.Reader) (err error) { mine, err = r.DataKey(t.Context(), p.org); return err })
	if mine.WrappedBy != key.ID() || mine.ID == "" || mine.CreatedAt.IsZero() {
		t.Errorf("made %+v", mine)
	}
	other, renamed, damaged, odd := mine, mine, mine, mine
	other.Org = "org_other"
	renamed.Org, renamed.ID = "org_renamed", strings.Repeat("ab", 16)
	damaged.Org, damaged.Wrapped = "org_damaged", mine.Wrapped[:len(mine.Wrapped)-1]
	odd.Org, odd.ID = "org_odd", "odd"
	update(t, store, func(w port.Writer) error {
		return errors.Join(w.PutDataKey(t.Context(), other), w.PutDataKey(t.Context(), renamed),
			w.PutDataKey(t.Context(), damaged), w.PutDataKey(t.Context(), odd))
	})
	for _, org := range []ident.Org{"org_other", "org_renamed", "org_damaged", "org_odd"} {
		got, err := s.Seal(t.Context(), token(org), []byte("x"))
		isLost(t, "sealing in "+string(org), got, err)
		got, err = s.Open(t.Context(), token(org), sealed(t, s, token(p.org), "x"))
		isLost(t, "opening in "+string(org), got, err)
	}
}

// A server without a key says so, and so does one with another key than the store's
// secrets need; neither makes a data key beside the one that is there.
func TestWithoutTheRightKey(t *testing.T) {
	eachStore(t, func(t *testing.T, p place) {
		none, right, wrong := p.sealer(), p.sealer(seal.NewKey()), p.sealer(seal.NewKey())
		ctx, at := t.Context(), token(p.org)
		_, err := none.Seal(ctx, at, []byte("x"))
		if !fault.IsOff(err) || fault.From(err).Code != fault.Unavailable || fault.From(err).RetryAfter != 0 ||
			!strings.Contains(fault.From(err).Message, "seal.key_file or MNEME_SEAL_KEY") {
			t.Errorf("sealing without a key: %v", err)
		}
		for name, s := range map[string]*seal.Sealer{"none": none, "right": right, "wrong": wrong} {
			if err := s.Check(ctx); err != nil {
				t.Errorf("%s, while there are no secrets: %v", name, err)
			}
		}
		value := sealed(t, right, at, "hunter2")
		if _, err = none.Open(ctx, at, value); !fault.IsOff(err) {
			t.Errorf("opening without a key: %v", err)
		}
		for what, fn := range map[string]func() ([]byte, error){
			"seals": func() ([]byte, error) { return wrong.Seal(ctx, at, []byte("x")) },
			"opens": func() ([]byte, error) { return wrong.Open(ctx, at, value) },
		} {
			got, err := fn()
			if got != nil || fault.CodeOf(err) != fault.Unavailable || fault.IsOff(err) || errors.Is(err, port.ErrUnsealable) {
				t.Errorf("the wrong key %s: %q, %v", what, got, err)
			}
		}
		if err := right.Check(ctx); err != nil {
			t.Errorf("the right key: %v", err)
		}
		for name, s := range map[string]*seal.Sealer{"no sealing key is configured": none, "the configured one is": wrong} {
			err := s.Check(ctx)
			if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", name, err)
			}
		}
		opens(t, right, at, value, "hunter2")
	})
}

// Replicas that seal the first secrets of an organization at once make one data key.
func TestTwoProcessesMakeOneDataKey(t *testing.T) {
	eachStore(t, func(t *testing.T, p place) {
		key := seal.NewKey()
		sealers := []*seal.Sealer{p.sealer(key), sealer(p.open(), key), sealer(p.open(), key)}
		values := make([][]byte, len(sealers))
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i, s := range sealers {
			wg.Go(func() {
				<-start
				var err error
				if values[i], err = s.Seal(t.Context(), token(p.org), []byte("hunter2")); err != nil {
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
		for _, value := range values {
			for _, s := range sealers {
				opens(t, s, token(p.org), value, "hunter2")
			}
		}
	})
}

// One that finds no data key, and another's when it writes its own, takes the other's.
func TestTheFirstDataKeyStays(t *testing.T) {
	p := onSQLite(t)
	store := &coretest.Store{DocumentStore: p.store}
	key := seal.NewKey()
	other, s := p.sealer(key), sealer(store, key)
	var first []byte
	store.OnBackgroundUpdate.Set(func() error {
		store.OnBackgroundUpdate.Clear()
		first = sealed(t, other, token(p.org), "first")
		return nil
	})
	second := sealed(t, s, token(p.org), "second")
	opens(t, s, token(p.org), first, "first")
	opens(t, other, token(p.org), second, "second")
}

// After a rotation the new key alone opens everything, and secrets that were sealed before
// are not written again.
func TestRotation(t *testing.T) {
	eachStore(t, func(t *testing.T, p place) {
		ctx := t.Context()
		store := p.store
		orgs := []ident.Org{p.org}
		for i := range 205 { // more than two batches
			orgs = append(orgs, ident.Org(fmt.Sprintf("org_%03d", i)))
		}
		makeOrg(t, store, orgs[1:]...)
		before, after := seal.NewKey(), seal.NewKey()
		was := sealer(store, before)
		values := map[ident.Org][]byte{}
		for _, org := range orgs {
			values[org] = sealed(t, was, token(org), "secret of "+string(org))
		}
		both, is := p.sealer(after, before), p.sealer(after)
		if n, err := is.Rotate(ctx); n != 0 || err == nil || !strings.Contains(err.Error(), before.ID()) {
			t.Fatalf("rotating without the key of before: %d, %v", n, err)
		}
		if _, err := p.sealer().Rotate(ctx); !fault.IsOff(err) {
			t.Errorf("rotating without a key: %v", err)
		}
		opens(t, both, token(p.org), values[p.org], "secret of "+string(p.org))
		uses := func(s *seal.Sealer, want ...seal.KeyUse) {
			t.Helper()
			if got, err := s.Uses(ctx); err != nil || !slices.Equal(got, want) {
				t.Errorf("uses %+v, %v; want %+v", got, err, want)
			}
		}
		uses(both, seal.KeyUse{ID: after.ID(), Present: true}, seal.KeyUse{ID: before.ID(), Present: true, DataKeys: 206})
		uses(is, seal.KeyUse{ID: after.ID(), Present: true}, seal.KeyUse{ID: before.ID(), DataKeys: 206})
		if n, err := both.Rotate(ctx); n != 206 || err != nil {
			t.Fatalf("rotated %d, %v", n, err)
		}
		if n, err := both.Rotate(ctx); n != 0 || err != nil {
			t.Errorf("rotated again: %d, %v", n, err)
		}
		uses(both, seal.KeyUse{ID: after.ID(), Present: true, DataKeys: 206}, seal.KeyUse{ID: before.ID(), Present: true})
		for _, org := range []ident.Org{orgs[0], orgs[1], orgs[205]} {
			opens(t, is, token(org), values[org], "secret of "+string(org))
			opens(t, both, token(org), values[org], "secret of "+string(org))
			if _, err := was.Open(ctx, token(org), values[org]); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("the old key opens %s: %v", org, err)
			}
		}
		if err := errors.Join(is.Check(ctx), both.Check(ctx)); err != nil {
			t.Error(err)
		}
		if err := was.Check(ctx); err == nil {
			t.Error("the old key passes")
		}
	})
}

// A rotation passes over an organization that goes in the meantime, counts what it did once
// where a transaction is done again, and stops where it can't go on.
func TestRotationUnderChange(t *testing.T) {
	p := onSQLite(t)
	store := &coretest.Store{DocumentStore: p.store}
	makeOrg(t, store, "org_1", "org_2")
	before, after := seal.NewKey(), seal.NewKey()
	was := sealer(store, before)
	for _, org := range []ident.Org{p.org, "org_1", "org_2"} {
		sealed(t, was, token(org), "x")
	}
	both := sealer(store, after, before)
	broken := errors.New("the disk is full")
	store.OnBackgroundUpdate.Set(func() error { return broken })
	if n, err := both.Rotate(t.Context()); n != 0 || !errors.Is(err, broken) {
		t.Errorf("over a broken store: %d, %v", n, err)
	}
	store.OnBackgroundUpdate.Set(func() error {
		store.OnBackgroundUpdate.Clear()
		update(t, store, func(w port.Writer) error {
			if err := w.BeginDeletion(t.Context(), "org_1", time.Now()); err != nil {
				return err
			}
			_, _, err := w.EraseOrganization(t.Context(), "org_1", 10)
			return err
		})
		return nil
	})
	if n, err := both.Rotate(t.Context()); n != 2 || err != nil {
		t.Errorf("rotated %d, %v", n, err)
	}
	again := sealer(twice{store}, before, after)
	if n, err := again.Rotate(t.Context()); n != 2 || err != nil {
		t.Errorf("back, in a transaction that was done twice: %d, %v", n, err)
	}
	store.OnView.Set(func() error { return broken })
	for what, err := range map[string]error{
		"check":  both.Check(t.Context()),
		"rotate": second(both.Rotate(t.Context())),
		"forget": second(both.Forget(t.Context())),
		"seal":   second(both.Seal(t.Context(), token(p.org), nil)),
	} {
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// twice runs each transaction's function a second time, as after a conflict: the first
// is rolled back.
type twice struct{ port.DocumentStore }

func (s twice) Update(ctx context.Context, fn func(port.Writer) error) error {
	conflict := errors.New("conflict")
	err := s.DocumentStore.Update(ctx, func(w port.Writer) error {
		if err := fn(w); err != nil {
			return err
		}
		return conflict
	})
	if !errors.Is(err, conflict) {
		return err
	}
	return s.DocumentStore.Update(ctx, fn)
}

// What nobody can open any more is given up by hand: its data keys go, those that
// are damaged too, and new secrets are sealed with new ones.
func TestForgetting(t *testing.T) {
	p := onSQLite(t)
	ctx := t.Context()
	store := p.store
	makeOrg(t, store, "org_kept", "org_damaged")
	lost, key := seal.NewKey(), seal.NewKey()
	value := sealed(t, sealer(store, lost), token(p.org), "lost")
	s := p.sealer(key)
	kept, damaged := sealed(t, s, token("org_kept"), "kept"), sealed(t, s, token("org_damaged"), "damaged")
	update(t, store, func(w port.Writer) error {
		k, err := w.DataKey(ctx, "org_damaged")
		k.Wrapped = []byte("nonsense")
		return errors.Join(err, w.RewrapDataKey(ctx, k))
	})
	if n, err := p.sealer().Forget(ctx); n != 0 || !fault.IsOff(err) {
		t.Errorf("forgetting without a key: %d, %v", n, err)
	}
	if n, err := p.sealer(seal.NewKey(), lost).Rotate(ctx); n != 0 || err == nil {
		t.Errorf("rotated %d without a key, %v", n, err)
	}
	n, err := p.sealer(lost, key).Rotate(ctx)
	if got := strings.Contains(fmt.Sprint(errors.Unwrap(err)), "org_damaged"); n != 0 || !got ||
		!errors.Is(err, port.ErrUnsealable) {
		t.Errorf("rotated %d with a damaged one, %v", n, err)
	}
	if n, err := s.Forget(ctx); n != 2 || err != nil {
		t.Errorf("forgot %d, %v", n, err)
	}
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
	opens(t, s, token("org_kept"), kept, "kept")
	got, err := s.Open(ctx, token(p.org), value)
	isLost(t, "forgotten", got, err)
	opens(t, s, token(p.org), sealed(t, s, token(p.org), "new"), "new")
	got, err = s.Open(ctx, token(p.org), value)
	isLost(t, "of the data key before", got, err)
	sealed(t, s, token("org_damaged"), "new")
	got, err = s.Open(ctx, token("org_damaged"), damaged)
	isLost(t, "of a damaged data key", got, err)
}

// What an organization's data key sealed can't be read any more once the organization is
// gone, though somebody kept a copy.
func TestADeletedOrganizationsSecretsAreLost(t *testing.T) {
	p := onSQLite(t)
	store := p.store
	makeOrg(t, store, "org_going")
	s := p.sealer(seal.NewKey())
	copied := sealed(t, s, token("org_going"), "hunter2")
	update(t, store, func(w port.Writer) error { return w.BeginDeletion(t.Context(), "org_going", time.Now()) })
	opens(t, s, token("org_going"), copied, "hunter2")
	update(t, store, func(w port.Writer) error {
		_, _, err := w.EraseOrganization(t.Context(), "org_going", 10)
		return err
	})
	got, err := s.Open(t.Context(), token("org_going"), copied)
	isLost(t, "a copy", got, err)
	if _, err := s.Seal(t.Context(), token("org_going"), nil); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("sealing in it: %v", err)
	}
}

// No bytes but those that were sealed open.
func FuzzOpen(f *testing.F) {
	p := onSQLite(f)
	s, at := p.sealer(seal.NewKey()), token(p.org)
	value, err := s.Seal(f.Context(), at, []byte("hunter2"))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{nil, {1}, value, value[:17], value[:45], append(slices.Clone(value), 0), make([]byte, 60)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := s.Open(t.Context(), at, b)
		if bytes.Equal(b, value) {
			if err != nil || string(got) != "hunter2" {
				t.Errorf("opened as %q, %v", got, err)
			}
			return
		}
		isLost(t, "other bytes", got, err)
	})
}
