package key_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/adapters/storage/postgres"
	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
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

// first makes a first key and checks what came of it.
func first(t *testing.T, s *key.Service, secret string, want key.First) {
	t.Helper()
	if came, err := s.MakeFirst(t.Context(), secret); err != nil || came != want {
		t.Errorf("%q, %v, want %q", came, err, want)
	}
}

func has(t *testing.T, s *key.Service, want bool) {
	t.Helper()
	if got, err := s.HasKeys(t.Context()); err != nil || got != want {
		t.Errorf("has keys: %t, %v", got, err)
	}
}

func TestTheFirstKey(t *testing.T) {
	store, _ := open(t)
	s := key.New(key.Settings{Store: store})
	has(t, s, false)
	// What commands on this machine use is no key of anybody's.
	for range 20 {
		issue(t, s, key.Issue{Kind: ident.Service, Maker: key.MadeByBootstrap})
	}
	has(t, s, false)
	secret := key.NewFirst()
	first(t, s, secret, key.FirstMade)
	has(t, s, true)
	p, err := s.Verify(t.Context(), secret, op.Administration)
	if err != nil || !p.AllOrganizations() || p.OrgName != ident.DefaultOrg || p.ReadOnly {
		t.Errorf("%+v, %v", p, err)
	}
	found, err := s.Find(t.Context(), key.Ref{ID: key.FirstID})
	if err != nil || found.CreatedBy != key.MadeByConfiguration || found.Last4 != secret[len(secret)-4:] ||
		found.Name != "first" || found.CreatedAt.IsZero() {
		t.Errorf("%+v, %v", found, err)
	}

	first(t, key.New(key.Settings{Store: store}), secret, key.FirstThere)
	first(t, s, key.NewFirst(), key.FirstUnused)
	if err := s.Revoke(t.Context(), key.Ref{ID: key.FirstID}); err != nil {
		t.Fatal(err)
	}
	// It does not come back to life.
	first(t, s, secret, key.FirstThere)
	if _, err := s.Verify(t.Context(), secret, op.Administration); fault.CodeOf(err) != fault.Unauthorized {
		t.Errorf("revoked and asked for again: %v", err)
	}
	first(t, s, key.NewFirst(), key.FirstUnused)
	if all, err := s.List(t.Context(), ""); err != nil || len(all) != 21 {
		t.Errorf("%d keys, %v", len(all), err)
	}

	store.fail.Store(true)
	if _, err := s.MakeFirst(t.Context(), secret); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("without a store: %v", err)
	}
	if _, err := s.HasKeys(t.Context()); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("without a store: %v", err)
	}
}

// A key of another organization is one, too, also behind those of the program.
func TestTheFirstKeyIsOfTheWholeStore(t *testing.T) {
	store, _ := open(t)
	s := key.New(key.Settings{Store: store})
	if _, err := s.CreateOrganization(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	for range 16 {
		issue(t, s, key.Issue{Org: "acme", Maker: key.MadeByBootstrap})
	}
	has(t, s, false)
	issue(t, s, key.Issue{Org: "acme"})
	has(t, s, true)
	first(t, s, key.NewFirst(), key.FirstUnused)
}

func TestFirstKeysThatAreRefused(t *testing.T) {
	store, _ := open(t)
	s := key.New(key.Settings{Store: store})
	of := func(body string) string { return "adm-" + body }
	for name, secret := range map[string]string{
		"nothing":                  "",
		"another kind":             "sk-service-" + key.NewFirst()[4:],
		"no prefix":                key.NewFirst()[4:],
		"one less":                 key.NewFirst()[:46],
		"one more":                 key.NewFirst() + "a",
		"another letter":           key.NewFirst()[:46] + "-",
		"a letter beyond ASCII":    key.NewFirst()[:45] + "é",
		"one letter":               of(strings.Repeat("a", 43)),
		"nine letters":             of(strings.Repeat("q7Zm3Kx9T", 5)[:43]),
		"the alphabet":             of("abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"),
		"the alphabet backwards":   of("zyxwvutsrqponmlkjihgfedcba9876543210ZYXWVUT"),
		"pairs":                    of("aabbccddeeffgghhiijjkkllmmnnooppqqrrssttuuv"),
		"digits one after another": of("0123456789012345678901234567890123456789012"),
	} {
		_, err := s.MakeFirst(t.Context(), secret)
		if fault.CodeOf(err) != fault.InvalidRequest || secret != "" && strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	has(t, s, false)
	for _, secret := range []string{
		of("4f1c9e07b3d8a25610fe93c7d48b2a6e5f0917c3bd8"), // openssl rand -hex
		of("qwertyuiopQWERTYUIOP1357924680asdfghjklASDF"),
	} {
		if err := key.CheckFirst(secret); err != nil {
			t.Errorf("%s: %v", secret, err)
		}
	}
	// Right at the bounds: 10 different characters do, and 20 of them in order.
	if err := key.CheckFirst(of(strings.Repeat("q7Zm3Kx9TB", 5)[:43])); err != nil {
		t.Error(err)
	}
	for steps, ok := range map[int]bool{20: true, 21: false} {
		body := strings.Repeat("a", steps+1) + "zKqT7mXe3GvR9cWj5hYb1NfL8uPd2S6oBtMxQr4iEw"
		if err := key.CheckFirst(of(body[:43])); (err == nil) != ok {
			t.Errorf("%d steps: %v", steps, err)
		}
	}
	for range 1000 {
		if err := key.CheckFirst(key.NewFirst()); err != nil {
			t.Fatal(err)
		}
	}
}

// together is a store that is written to once all have looked at theirs.
type together struct {
	port.Store
	looked *sync.WaitGroup
	once   sync.Once
}

func (s *together) Update(ctx context.Context, fn func(port.Writer) error) error {
	s.once.Do(func() {
		s.looked.Done()
		s.looked.Wait()
	})
	return s.Store.Update(ctx, fn)
}

// Servers that start at once over one store make one key, whether theirs are alike or not.
func TestSeveralServersMakeOneFirstKey(t *testing.T) {
	started = true
	for _, alike := range []bool{true, false} {
		t.Run(fmt.Sprintf("alike %t", alike), func(t *testing.T) {
			c := postgres.Default()
			c.DSN = registry.Secret(server().Database(t))
			const servers = 4
			var looked sync.WaitGroup
			looked.Add(servers)
			var services [servers]*key.Service
			for i := range services {
				store, err := postgres.Open(t.Context(), c, postgres.Options{})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = store.Close() })
				services[i] = key.New(key.Settings{Store: &together{Store: store, looked: &looked}})
			}
			same := key.NewFirst()
			var came [servers]key.First
			var all sync.WaitGroup
			for i, s := range services {
				all.Go(func() {
					secret := same
					if !alike {
						secret = key.NewFirst()
					}
					var err error
					if came[i], err = s.MakeFirst(context.WithoutCancel(t.Context()), secret); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			counts := map[key.First]int{}
			for _, c := range came {
				counts[c]++
			}
			want := map[bool]key.First{true: key.FirstThere, false: key.FirstUnused}[alike]
			if counts[key.FirstMade] != 1 || counts[want] != servers-1 {
				t.Errorf("%v", counts)
			}
			if keys, err := services[0].List(t.Context(), ""); err != nil || len(keys) != 1 {
				t.Errorf("%+v, %v", keys, err)
			}
		})
	}
}
