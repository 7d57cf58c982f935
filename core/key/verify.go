package key

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// acceptedKinds are the key kinds that an API family takes, and what it is called.
func acceptedKinds(f op.Family) (kinds []ident.Kind, api string) {
	switch f {
	case op.Memory:
		return []ident.Kind{ident.Integration, ident.Personal}, "the memory API"
	case op.Administration:
		return []ident.Kind{ident.Admin}, "the admin API"
	}
	return []ident.Kind{ident.Service}, "the namespace API"
}

// FamilyOf is the family of the tools that a key gives a client of MCP, by its prefix: an
// integration's or a person's memories, or namespaces.
func FamilyOf(bearer string) op.Family {
	switch prefixOf(bearer) {
	case ident.Integration.Prefix(), ident.Personal.Prefix():
		return op.Memory
	}
	return op.Namespace
}

// refused is the one answer to every key that does not work, so that it reveals nothing
// about which keys exist.
func refused() error {
	return fault.New(fault.Unauthorized, "the API key is not valid: it is unknown, revoked or expired")
}

// wrongFamily answers a key of a kind that the family does not take.
func wrongFamily(what, api string, kinds []ident.Kind) error {
	prefixes := make([]string, len(kinds))
	for i, k := range kinds {
		prefixes[i] = k.Prefix()
		if k == ident.Personal { // team and organization keys begin so, too
			prefixes[i] = "personal ones with " + k.Prefix()
		}
	}
	return fault.New(fault.Unauthorized, "%s is not valid on %s, which takes keys that begin with %s", what, api,
		strings.Join(prefixes, ", or "))
}

// Verify resolves a bearer key to its principal. Faults: Unauthorized, with one
// message for a key that is unknown, revoked or expired and another for one of
// another family, which its prefix alone gives away; Forbidden when its
// organization is suspended.
func (s *Service) Verify(ctx context.Context, bearer string, family op.Family) (ident.Principal, error) {
	kinds, api := acceptedKinds(family)
	prefix := prefixOf(bearer)
	if prefix != "" && !slices.ContainsFunc(kinds, func(k ident.Kind) bool { return k.Prefix() == prefix }) {
		return ident.Principal{}, wrongFamily("a key that begins with "+prefix, api, kinds)
	}
	if prefix == "" || len(bearer) != len(prefix)+secretLength {
		return ident.Principal{}, refused()
	}
	hash := sha256.Sum256([]byte(bearer))
	v, err := s.cache.get(hash, s.now, func() (verified, error) { return s.load(ctx, hash) })
	if err != nil {
		return ident.Principal{}, err
	}
	if v.principal.Kind.Prefix() != prefix {
		return ident.Principal{}, refused()
	}
	return s.admit(v, family)
}

// Resolve is Verify for the holder of a token that stands for an organization's key,
// by the key's id instead of its secret. Faults as Verify.
func (s *Service) Resolve(ctx context.Context, org ident.Org, id string, family op.Family) (ident.Principal, error) {
	hash, ok := s.cache.hashOf(org, id)
	if !ok {
		err := s.store.View(ctx, func(r reader) error {
			k, err := r.Key(ctx, org, id)
			hash = k.Hash
			return err
		})
		if fault.CodeOf(err) == fault.NotFound {
			return ident.Principal{}, refused()
		}
		if err != nil {
			return ident.Principal{}, fmt.Errorf("resolve key: %w", err)
		}
		s.cache.remember(org, id, hash)
	}
	v, err := s.cache.get(hash, s.now, func() (verified, error) { return s.load(ctx, hash) })
	if err != nil {
		return ident.Principal{}, err
	}
	return s.admit(v, family)
}

// admit refuses a key that has ended, or that the family does not take.
func (s *Service) admit(v verified, family op.Family) (ident.Principal, error) {
	p, now := v.principal, s.now()
	if v.revoked || !p.ExpiresAt.IsZero() && !now.Before(p.ExpiresAt) {
		return ident.Principal{}, refused()
	}
	if kinds, api := acceptedKinds(family); !slices.Contains(kinds, p.Kind) {
		return ident.Principal{}, wrongFamily("a key of kind "+string(p.Kind), api, kinds)
	}
	if v.inactive != nil && !p.AllOrganizations() {
		return ident.Principal{}, v.inactive
	}
	s.used.touch(p.KeyID, now)
	return p, nil
}

// prefixOf is the prefix of a kind of key that a secret begins with; "" when it
// has none.
func prefixOf(bearer string) string {
	for _, k := range []ident.Kind{ident.Service, ident.Integration, ident.Personal, ident.Admin} {
		if strings.HasPrefix(bearer, k.Prefix()) {
			return k.Prefix()
		}
	}
	return ""
}

func (s *Service) load(ctx context.Context, hash [32]byte) (verified, error) {
	var (
		k port.Key
		o port.Organization
		i port.Integration
	)
	err := s.store.View(ctx, func(r reader) (err error) {
		if k, err = r.KeyByHash(ctx, hash); err != nil {
			return err
		}
		if o, err = r.Organization(ctx, k.Org); err != nil || k.Integration == "" {
			return err
		}
		i, err = r.Integration(ctx, k.Org, k.Integration)
		return err
	})
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return verified{}, refused()
	case err != nil:
		return verified{}, fmt.Errorf("verify key: %w", err)
	case subtle.ConstantTimeCompare(k.Hash[:], hash[:]) != 1:
		return verified{}, refused()
	}
	return verified{
		principal: ident.Principal{
			KeyID:            k.ID,
			Org:              k.Org,
			OrgName:          o.Name,
			Kind:             k.Kind,
			ReadOnly:         k.ReadOnly,
			Namespace:        k.Namespace,
			Source:           k.Source,
			DefaultNamespace: k.DefaultNamespace,
			Scopes:           withImplied(k.Kind, k.Scopes),
			Integration:      k.Integration,
			Quotas:           i.Quotas,
			GrantsRequired:   i.GrantsRequired,
			EndUser:          k.EndUser,
			Limits:           k.Limits,
			ExpiresAt:        k.ExpiresAt,
		},
		revoked: !k.RevokedAt.IsZero(), inactive: active(o),
	}, nil
}

// withImplied adds the scope that every other scope of an integration implies.
func withImplied(k ident.Kind, scopes []ident.Scope) []ident.Scope {
	if k != ident.Integration && k != ident.Personal || len(scopes) == 0 || slices.Contains(scopes, ident.StatusRead) {
		return scopes
	}
	return append(slices.Clone(scopes), ident.StatusRead)
}

type verified struct {
	principal ident.Principal
	revoked   bool
	inactive  error // of the organization
}

// maxCached bounds the cache; above it, stale entries are dropped or, if there are none,
// all of them.
const maxCached = 10_000

// cache keeps keys that exist. Unknown ones are not kept, so that guesses cost
// no memory.
type cache struct {
	ttl     time.Duration
	mu      sync.Mutex
	entries map[[32]byte]*entry
	hashes  map[orgKey][32]byte // of keys that were resolved; a key's never changes
}

// orgKey is a key of an organization.
type orgKey struct {
	org ident.Org
	id  string
}

func (c *cache) hashOf(org ident.Org, id string) ([32]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hash, ok := c.hashes[orgKey{org, id}]
	return hash, ok
}

func (c *cache) remember(org ident.Org, id string, hash [32]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.hashes) >= maxCached {
		clear(c.hashes)
	}
	c.hashes[orgKey{org, id}] = hash
}

// entry is one key; its lock makes callers wait for one read of the store
// instead of all reading.
type entry struct {
	mu    sync.Mutex
	value verified
	at    time.Time // before the store was read; zero: nothing read
}

func (c *cache) get(hash [32]byte, now func() time.Time, load func() (verified, error)) (verified, error) {
	c.mu.Lock()
	e, ok := c.entries[hash]
	if !ok {
		if len(c.entries) >= maxCached {
			c.sweep(now())
		}
		e = &entry{}
		c.entries[hash] = e
	}
	c.mu.Unlock()

	e.mu.Lock()
	defer e.mu.Unlock()
	at := now()
	if age := at.Sub(e.at); !e.at.IsZero() && 0 <= age && age < c.ttl {
		return e.value, nil
	}
	v, err := load()
	if err != nil {
		c.mu.Lock()
		if c.entries[hash] == e {
			delete(c.entries, hash)
		}
		c.mu.Unlock()
		e.at = time.Time{}
		return verified{}, err
	}
	e.value, e.at = v, at
	return v, nil
}

func (c *cache) sweep(now time.Time) {
	for h, e := range c.entries {
		if !e.mu.TryLock() {
			continue // being read now
		}
		if now.Sub(e.at) >= c.ttl {
			delete(c.entries, h)
		}
		e.mu.Unlock()
	}
	if len(c.entries) >= maxCached {
		clear(c.entries)
	}
}

// forget drops everything, after a change made here. An entry being read stays
// reachable only to those that wait for it, whose answer is from before.
func (c *cache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
}

// lastUses collects last uses between two writes to the store. fresh has a value after the first of them.
type lastUses struct {
	mu    sync.Mutex
	at    map[string]time.Time
	fresh chan struct{}
}

func (u *lastUses) touch(id string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.at) == 0 {
		select {
		case u.fresh <- struct{}{}:
		default:
		}
	}
	if at.After(u.at[id]) {
		u.at[id] = at
	}
}

func (u *lastUses) drain() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.at
	u.at = make(map[string]time.Time, len(taken))
	return taken
}

// Flush writes the last uses since the last flush to the store.
func (s *Service) Flush(ctx context.Context) error {
	taken := s.used.drain()
	if len(taken) == 0 {
		return nil
	}
	err := s.store.Update(ctx, func(w writer) error { return w.TouchKeys(ctx, taken) })
	if err != nil {
		for id, at := range taken { // another try with the next flush
			s.used.touch(id, at)
		}
		return fmt.Errorf("write last uses of keys: %w", err)
	}
	return nil
}

// Run flushes last uses FlushEvery after the first until ctx is done, and once more then. It does not
// wake where no key is used.
func (s *Service) Run(ctx context.Context) error {
	var due <-chan time.Time
	for {
		select {
		case <-s.used.fresh:
			due = time.After(s.flush)
		case <-due:
			if err := s.Flush(ctx); err != nil {
				s.log.WarnContext(ctx, "key use flush failed", "error", err)
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			return s.Flush(last)
		}
	}
}
