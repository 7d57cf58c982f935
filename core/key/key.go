package key

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Settings are what a Service needs. Store is required.
type Settings struct {
	Store port.Store
	Now   func() time.Time // nil: time.Now
	Log   *slog.Logger     // nil: nothing is logged
	// CacheFor is how long a verified key is trusted without asking the store,
	// at most 500 ms: another process's revocation holds after that long.
	CacheFor time.Duration
	// FlushEvery is how often Run writes last uses to the store. 0: 30 s.
	FlushEvery time.Duration
}

// maxCacheFor leaves half of the second, within which a revocation must hold,
// to the caller's own work.
const maxCacheFor = 500 * time.Millisecond

// Service manages and verifies keys. Safe for concurrent use.
type Service struct {
	store port.Store
	now   func() time.Time
	log   *slog.Logger
	flush time.Duration
	cache cache
	used  uses
}

// New makes the service.
func New(s Settings) *Service {
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.CacheFor <= 0 || s.CacheFor > maxCacheFor {
		s.CacheFor = maxCacheFor
	}
	if s.FlushEvery <= 0 {
		s.FlushEvery = 30 * time.Second
	}
	return &Service{store: s.Store, now: s.Now, log: s.Log, flush: s.FlushEvery,
		cache: cache{keep: s.CacheFor, entries: map[[32]byte]*entry{}}, used: uses{at: map[string]time.Time{}}}
}

// Issue asks for a new key.
type Issue struct {
	Org              string // the organization's name; "": default
	Name             string // for people; at most 128 characters
	Kind             ident.Kind
	ReadOnly         bool
	Namespace        string // not empty: the key reaches only this namespace
	DefaultNamespace string
	Scopes           []ident.Scope
	Limits           map[string]ident.Rate
	ExpiresAt        time.Time // zero: never
}

// Issued is a new key with its secret, which is not kept.
type Issued struct {
	Info
	Secret string
}

// Info describes a key.
type Info struct {
	ID               string
	Org              ident.Org
	Name             string
	Kind             ident.Kind
	Last4            string
	ReadOnly         bool
	Namespace        string
	DefaultNamespace string
	Scopes           []ident.Scope
	Limits           map[string]ident.Rate
	CreatedAt        time.Time
	ExpiresAt        time.Time // zero: never
	RevokedAt        time.Time // zero: live
	LastUsedAt       time.Time // zero: not yet; written about every FlushEvery
}

// State is live, expired or revoked at a time.
func (i Info) State(now time.Time) string {
	switch {
	case !i.RevokedAt.IsZero():
		return "revoked"
	case !i.ExpiresAt.IsZero() && !now.Before(i.ExpiresAt):
		return "expired"
	}
	return "live"
}

func info(k port.Key) Info {
	return Info{ID: k.ID, Org: k.Org, Name: k.Name, Kind: k.Kind, Last4: k.Last4, ReadOnly: k.ReadOnly, Namespace: k.Namespace,
		DefaultNamespace: k.DefaultNamespace, Scopes: k.Scopes, Limits: k.Limits, CreatedAt: k.CreatedAt,
		ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt, LastUsedAt: k.LastUsedAt}
}

func (s *Service) check(in *Issue) error {
	if in.Kind == "" {
		in.Kind = ident.Service
	}
	switch {
	case in.Kind.Prefix() == "":
		return fault.Field(fault.InvalidRequest, "kind", "%q is not a kind of key", in.Kind)
	case !printable(in.Name, 128):
		return fault.Field(fault.InvalidRequest, "name", "must be at most 128 printable characters")
	case in.Namespace != "" && !ident.ValidNamespace(in.Namespace):
		return fault.Field(fault.InvalidNamespace, "namespace", "%s", ident.NamespaceRule)
	case in.DefaultNamespace != "" && !ident.ValidNamespace(in.DefaultNamespace):
		return fault.Field(fault.InvalidNamespace, "default_namespace", "%s", ident.NamespaceRule)
	case in.Namespace != "" && in.DefaultNamespace != "" && in.Namespace != in.DefaultNamespace:
		return fault.Field(fault.InvalidRequest, "default_namespace", "must be the namespace that the key is limited to, %q", in.Namespace)
	case !in.ExpiresAt.IsZero() && !in.ExpiresAt.After(s.now()):
		return fault.Field(fault.InvalidRequest, "expires_at", "is not in the future")
	}
	for class, r := range in.Limits {
		if r.PerMinute < 0 || r.Burst < 0 {
			return fault.Field(fault.InvalidRequest, "limits."+class, "must not be negative")
		}
	}
	return nil
}

func printable(s string, most int) bool {
	if !utf8.ValidString(s) || utf8.RuneCountInString(s) > most {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7F })
}

// Issue makes a key and returns its secret. The default organization comes into
// being with its first key. Faults: InvalidRequest, InvalidNamespace, NotFound
// for an unknown organization, Forbidden for a suspended one.
func (s *Service) Issue(ctx context.Context, in Issue) (Issued, error) {
	if err := s.check(&in); err != nil {
		return Issued{}, err
	}
	secret := in.Kind.Prefix() + random(secretLength)
	k := port.Key{ID: "key_" + random(idLength), Name: in.Name, Kind: in.Kind, Hash: sha256.Sum256([]byte(secret)), Last4: secret[len(secret)-4:],
		ReadOnly: in.ReadOnly, Namespace: in.Namespace, DefaultNamespace: in.DefaultNamespace, Scopes: in.Scopes, Limits: in.Limits,
		CreatedAt: s.now().UTC(), ExpiresAt: in.ExpiresAt.UTC()}
	if in.ExpiresAt.IsZero() {
		k.ExpiresAt = time.Time{}
	}
	err := s.store.Update(ctx, func(w port.Writer) error {
		o, err := s.organization(ctx, w, in.Org)
		if err != nil {
			return err
		}
		if o.Suspended {
			return suspended(o.Name)
		}
		k.Org = o.ID
		return w.PutKey(ctx, k)
	})
	if err != nil {
		return Issued{}, err
	}
	return Issued{Info: info(k), Secret: secret}, nil
}

// Ref names a key. Org may be left out where the id alone must do.
type Ref struct {
	Org string // the organization's name; "": whichever has the key
	ID  string
}

// Revoke ends a key. This process refuses it at once, another one within
// CacheFor. Revoking again changes nothing. Fault NotFound for an unknown key.
func (s *Service) Revoke(ctx context.Context, ref Ref) error {
	err := s.store.Update(ctx, func(w port.Writer) error {
		orgs, err := s.owners(ctx, w, ref.Org)
		if err != nil {
			return err
		}
		for _, o := range orgs {
			err := w.RevokeKey(ctx, o.ID, ref.ID, s.now().UTC())
			if fault.CodeOf(err) != fault.NotFound {
				return err // nil too
			}
		}
		return fault.New(fault.NotFound, "there is no key %s", ref.ID)
	})
	s.cache.forget()
	return err
}

// List lists an organization's keys by creation time, revoked ones included; org
// is its name, "" is every organization's.
func (s *Service) List(ctx context.Context, org string) ([]Info, error) {
	var out []Info
	err := s.store.View(ctx, func(r port.Reader) error {
		out = nil
		orgs, err := s.owners(ctx, r, org)
		if err != nil {
			return err
		}
		for _, o := range orgs {
			keys, err := r.Keys(ctx, o.ID)
			if err != nil {
				return err
			}
			for _, k := range keys {
				out = append(out, info(k))
			}
		}
		return nil
	})
	return out, err
}

func (s *Service) owners(ctx context.Context, r port.Reader, name string) ([]port.Organization, error) {
	if name == "" {
		return r.Organizations(ctx)
	}
	o, err := r.OrganizationByName(ctx, name)
	if err != nil {
		return nil, err
	}
	return []port.Organization{o}, nil
}

const (
	alphabet     = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	secretLength = 43 // base62: 256 bits
	idLength     = 16 // base62: 95 bits
)

// random is n characters of the alphabet, each equally likely.
func random(n int) string {
	out := make([]byte, 0, n)
	var buf [64]byte
	for {
		_, _ = rand.Read(buf[:]) // never fails
		for _, b := range buf {
			// 248 is the largest multiple of 62 in a byte; the rest would favour
			// the first characters.
			if b >= 248 {
				continue
			}
			if out = append(out, alphabet[b%62]); len(out) == n {
				return string(out)
			}
		}
	}
}
