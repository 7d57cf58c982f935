package oauth

import (
	"context"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// trustedFor is how long the request that presented a token goes without reading it
// again. A revocation by another process in that time is missed; one by this process
// is noticed at once.
const trustedFor = 100 * time.Millisecond

type tokenReadingKey struct{}

// tokenReading is the state of a request's token when it was last read.
type tokenReading struct {
	mu      sync.Mutex
	by      *Service
	token   [32]byte
	grant   port.OAuthGrant
	access  port.OAuthAccess
	at      time.Time // before it was read
	changes uint64    // those of the service before it was read
}

// Once makes the context of a request whose token is verified more than once: where the
// request comes in, and by the operation that it calls. After the first time, the store
// is asked only if the answer may have changed.
func Once(ctx context.Context) context.Context {
	return context.WithValue(ctx, tokenReadingKey{}, &tokenReading{})
}

// readToken finds a token with its grant; fault NotFound for an unknown one.
func (s *Service) readToken(ctx context.Context, token [32]byte) (g port.OAuthGrant, a port.OAuthAccess, err error) {
	load := func() error {
		return s.store.View(ctx, func(r reader) (err error) {
			g, a, err = r.OAuthGrantByAccess(ctx, token)
			return err
		})
	}
	last, ok := ctx.Value(tokenReadingKey{}).(*tokenReading)
	if !ok {
		err = load()
		return g, a, err
	}
	last.mu.Lock()
	defer last.mu.Unlock()
	at, changes := s.now(), s.changes.Load()
	age := at.Sub(last.at)
	if last.by == s && last.token == token && last.changes == changes && 0 <= age && age < trustedFor {
		return last.grant, last.access, nil
	}
	if err = load(); err == nil {
		last.by, last.token, last.grant, last.access, last.at, last.changes = s, token, g, a, at, changes
	}
	return g, a, err
}

// update changes the store and invalidates every earlier reading of a token.
func (s *Service) update(ctx context.Context, fn func(writer) error) error {
	defer s.changes.Add(1) // after a failure too: the change may have been written
	return s.store.Update(ctx, fn)
}
