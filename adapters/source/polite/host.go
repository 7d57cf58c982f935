package polite

import (
	"context"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// maxHosts are remembered at once; those that nobody waits for make room.
const maxHosts = 1000

// Hosts are those that were asked lately. Clients that share them make one request at a
// time to a host between them, and keep its pauses together.
type Hosts struct {
	mu  sync.Mutex
	all map[string]*host
}

// NewHosts makes a set that knows of none.
func NewHosts() *Hosts { return &Hosts{all: map[string]*host{}} }

// host is one that requests take turns at. The one that holds its turn has its fields.
type host struct {
	turn   chan struct{}
	last   time.Time // when the last request ended
	closed time.Time // until when it wants to be left alone
	users  int       // who hold the turn or wait for it; guarded by Hosts.mu
}

// enter waits for the turn at a host, and until a pause is over since the last request.
func (c *Client) enter(ctx context.Context, name string, pause time.Duration) (*host, error) {
	h := c.hosts.take(name, c.now())
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		c.hosts.drop(h)
		return nil, ctx.Err()
	}
	now := c.now()
	err := ctx.Err()
	if closed := h.closed.Sub(now); err == nil && closed > maxWait {
		failed := port.SourceErrorf(port.SourceRateLimited, nil, "its server asks to come back later")
		failed.RetryAfter = closed
		err = failed
	}
	until := h.closed
	if next := h.last.Add(pause); !h.last.IsZero() && next.After(until) {
		until = next
	}
	if wait := until.Sub(now); err == nil && wait > 0 {
		err = c.sleep(ctx, wait)
	}
	if err != nil {
		<-h.turn
		c.hosts.drop(h)
		return nil, err
	}
	return h, nil
}

// leave gives the turn to the next.
func (c *Client) leave(h *host) {
	h.last = c.now()
	<-h.turn
	c.hosts.drop(h)
}

func (s *Hosts) take(name string, now time.Time) *host {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.all[name]
	if h == nil {
		if len(s.all) >= maxHosts {
			for other, o := range s.all {
				// Nobody holds the turn of one without users, so its fields lie still.
				if o.users == 0 && now.Sub(o.last) > maxPause && !o.closed.After(now) {
					delete(s.all, other)
				}
			}
		}
		h = &host{turn: make(chan struct{}, 1)}
		s.all[name] = h
	}
	h.users++
	return h
}

func (s *Hosts) drop(h *host) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.users--
}
