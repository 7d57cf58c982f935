package http

import (
	"context"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/transports/codec"
)

// account is whose share a body is taken from: an organization and one of its keys,
// or an address.
type account struct{ owner, member string }

func accountOf(p ident.Principal) account { return account{string(p.Org), p.KeyID} }

// pool bounds bytes that are held at once. Nobody can take all of it: an owner holds
// at most as much as it leaves to the others, and one of its members at most half as
// much as that. So one alone gets half, of two greedy ones each a third, and a
// newcomer always finds room (dynamic thresholds, Choudhury and Hahne 1998).
type pool struct {
	limit int64

	mu   sync.Mutex
	used int64
	held map[account]int64 // by members, and by owners under the member ""
}

func newPool(limit int64) *pool { return &pool{limit: limit, held: map[account]int64{}} }

// take makes a hold n bytes more, or fewer where n is negative.
func (p *pool) take(a account, n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	owner := account{owner: a.owner}
	if left := p.limit - p.used - n; n > 0 && (p.held[owner]+n > left || a != owner && p.held[a]+n > left/2) {
		return false
	}
	p.used += n
	p.add(owner, n)
	if a != owner {
		p.add(a, n)
	}
	return true
}

func (p *pool) add(a account, n int64) {
	if p.held[a] += n; p.held[a] == 0 {
		delete(p.held, a)
	}
}

func (p *pool) inUse() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// bodies is the memory for the bodies of requests. Small ones have a part of their
// own, so that queries go on beside large writes, and so have those of callers of
// whom nothing is known but an address.
type bodies struct{ large, small, strangers *pool }

func newBodies(limit int64) *bodies {
	if limit <= 0 {
		limit = 256 << 20
	}
	return &bodies{large: newPool(limit / 16 * 13), small: newPool(limit / 8), strangers: newPool(limit / 16)}
}

func (b *bodies) used() int64 { return b.large.inUse() + b.small.inUse() + b.strangers.inUse() }

const (
	// smallHeld is how large a body may become in the part for small ones.
	smallHeld = 64 << 10
	// strangersAtOnce is how many bodies of strangers are read at once at most,
	// however small; half as many of one address.
	strangersAtOnce = 256
)

// holding is what an exchange holds.
type holding struct {
	from *pool
	by   account
	n    int64
}

// hold makes the exchange hold n bytes in place of what it holds.
func (x *exchange) hold(n int64) bool {
	b := x.h.bodies
	if x.caller == (account{}) {
		return x.holdOf(b.strangers, account{owner: x.remote()}, max(n, b.strangers.limit/strangersAtOnce))
	}
	return n <= smallHeld && x.holdOf(b.small, x.caller, n) || x.holdOf(b.large, x.caller, n)
}

func (x *exchange) holdOf(p *pool, a account, n int64) bool {
	if x.holds.from == p && x.holds.by == a {
		if !p.take(a, n-x.holds.n) {
			return false
		}
	} else {
		if !p.take(a, n) {
			return false
		}
		x.release()
	}
	x.holds = holding{p, a, n}
	return true
}

// release gives back what the exchange holds; it may be called again.
func (x *exchange) release() {
	if x.holds.from != nil {
		x.holds.from.take(x.holds.by, -x.holds.n)
	}
	x.holds = holding{}
}

// remote is the address that a call of a stranger is counted for.
func (x *exchange) remote() string {
	return codec.Address(x.r.RemoteAddr, x.r.Header.Values(x.h.address))
}

// Identify tells the transport whose request it is that a mounted handler serves,
// with the context of that request. Until then it is a stranger's, whose body must
// be small and come soon.
func Identify(ctx context.Context, p ident.Principal) {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		x.caller = accountOf(p)
	}
}

// busy is the refusal of a body that there is no memory for.
func (x *exchange) busy() error {
	if x.h.refused != nil {
		x.h.refused(fault.BodyLimit)
	}
	return fault.New(fault.Unavailable, "the server is busy; retry shortly").After(time.Second)
}
