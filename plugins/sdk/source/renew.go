package source

import (
	"context"
	"errors"
	"sync"
	"time"

	sourcev1 "github.com/mnemehq/mneme/plugins/proto/source"
)

// renewLimit is how long the host may take to keep secrets.
const renewLimit = 30 * time.Second

// renewals are secrets on their way to the host. They wait for its stream, and for its
// answer.
type renewals struct {
	out chan *sourcev1.Renewed

	mu      sync.Mutex
	number  uint64
	waiting map[uint64]chan *sourcev1.Kept
}

func newRenewals() *renewals {
	return &renewals{out: make(chan *sourcev1.Renewed), waiting: map[uint64]chan *sourcev1.Kept{}}
}

// renew hands secrets to the host and waits until it has kept them. The end of the call
// that they are of does not end that: the upstream takes the old ones no longer.
func (r *renewals) renew(ctx context.Context, call string, secrets map[string]string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewLimit)
	defer cancel()
	answer := make(chan *sourcev1.Kept, 1)
	r.mu.Lock()
	r.number++
	n := r.number
	r.waiting[n] = answer
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.waiting, n)
	}()
	select {
	case r.out <- &sourcev1.Renewed{Number: n, Call: call, Secrets: secrets}:
	case <-ctx.Done():
		return errors.New("the host does not take renewed secrets")
	}
	select {
	case kept := <-answer:
		if kept.GetError() != "" {
			return errors.New(kept.GetError())
		}
		return nil
	case <-ctx.Done():
		return errors.New("the host did not say that renewed secrets are kept")
	}
}

// Renew implements the protocol.
func (s *server) Renew(stream sourcev1.Connector_RenewServer) error {
	r := s.renewals
	ended := make(chan struct{})
	go func() {
		for {
			kept, err := stream.Recv()
			if err != nil {
				close(ended)
				return
			}
			r.mu.Lock()
			answer := r.waiting[kept.GetNumber()]
			delete(r.waiting, kept.GetNumber())
			r.mu.Unlock()
			if answer != nil {
				answer <- kept
			}
		}
	}()
	for {
		select {
		case one := <-r.out:
			if err := stream.Send(one); err != nil {
				return err
			}
		case <-ended:
			return nil
		case <-stream.Context().Done():
			return nil
		}
	}
}
