package connector

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/host/supervise"
	sourcev1 "github.com/mnemehq/mneme/plugins/proto/source"
)

const (
	// afterCall is how long the secrets of a call may still be renewed after it: its end
	// may have met the program while it was renewing them.
	afterCall = 2 * time.Minute
	// keepLimit is how long keeping secrets may take.
	keepLimit = 25 * time.Second
	// renewalsPerCall and renewalsAtOnce bound what a program makes the store write.
	renewalsPerCall = 100
	renewalsAtOnce  = 8

	maxSecretBytes = 64 << 10 // of a renewal
	reopenAfter    = 200 * time.Millisecond
)

func sorted(m map[string]json.RawMessage) []string { return slices.Sorted(maps.Keys(m)) }

// calls are those whose secrets may be renewed, by the name that the program knows.
type calls struct {
	mu  sync.Mutex
	all map[string]*call
}

type call struct {
	ctx     context.Context //nolint:containedctx // whose renewals it is, without its end
	of      *Connector
	renew   func(context.Context, map[string]string) error
	renewed int
}

func newCalls() *calls { return &calls{all: map[string]*call{}} }

// begin names a call; done is its end.
func (c *calls) begin(ctx context.Context, of *Connector, conn port.Connection) (id string, done func()) {
	if conn.Renew == nil {
		return "", func() {}
	}
	id = rand.Text()
	c.mu.Lock()
	c.all[id] = &call{ctx: context.WithoutCancel(ctx), of: of, renew: conn.Renew}
	c.mu.Unlock()
	return id, func() {
		time.AfterFunc(afterCall, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.all, id)
		})
	}
}

// find is the call whose secrets are to be renewed.
func (c *calls) find(id string) (*call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one, ok := c.all[id]
	if !ok {
		return nil, errors.New("there is no such call")
	}
	if one.renewed++; one.renewed > renewalsPerCall {
		return nil, errors.New("the secrets of this call were renewed too often")
	}
	return one, nil
}

// keep keeps renewed secrets.
func (p *Program) keep(r *sourcev1.Renewed) error {
	one, err := p.calls.find(r.GetCall())
	if err != nil {
		return err
	}
	size := 0
	for name, value := range r.GetSecrets() {
		if size += len(value); !slices.Contains(one.of.secretNames, name) || value == "" || size > maxSecretBytes {
			return errors.New("a secret that the kind does not have, that is empty or too long")
		}
	}
	if len(r.GetSecrets()) == 0 {
		return errors.New("no secret is named")
	}
	p.secrets.hold(r.GetSecrets())()
	ctx, cancel := context.WithTimeout(one.ctx, keepLimit)
	defer cancel()
	if err := one.renew(ctx, r.GetSecrets()); err != nil {
		p.log.Error("renewed secrets not kept", "kind", one.of.kind.Name, "error", p.secrets.redact(err.Error()))
		return errors.New("they could not be stored")
	}
	return nil
}

// renewing takes the renewals of one run of the program.
type renewing struct{ end context.CancelFunc }

// renewals begins to take the renewals of a run.
func (p *Program) renewals(r *supervise.Run) *renewing {
	ctx, cancel := context.WithCancel(context.Background())
	go p.take(ctx, sourcev1.NewConnectorClient(r.Conn()))
	return &renewing{cancel}
}

// take takes renewals until ctx ends. A stream that breaks is opened again.
func (p *Program) take(ctx context.Context, rpc sourcev1.ConnectorClient) {
	for ctx.Err() == nil {
		err := p.stream(ctx, rpc)
		if status.Code(err) == codes.Unimplemented {
			p.log.Error("connector protocol violation", "op", "renew", "error", "it does not implement what it claims")
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(reopenAfter):
		}
	}
}

// stream takes renewals until their stream ends, some at once.
func (p *Program) stream(ctx context.Context, rpc sourcev1.ConnectorClient) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := rpc.Renew(ctx)
	if err != nil {
		return err
	}
	var sending sync.Mutex
	var under sync.WaitGroup
	defer under.Wait() // what has come is kept, though nobody can be told
	places := make(chan struct{}, renewalsAtOnce)
	for {
		r, err := stream.Recv()
		if err != nil {
			return err
		}
		places <- struct{}{}
		under.Go(func() {
			defer func() { <-places }()
			kept := &sourcev1.Kept{Number: r.GetNumber()}
			if err := p.keep(r); err != nil {
				kept.Error = err.Error()
			}
			sending.Lock()
			defer sending.Unlock()
			_ = stream.Send(kept) // a program that is gone needs no answer
		})
	}
}

// Checking implements supervise.Attachment.
func (*renewing) Checking() func() { return func() {} }

// Ended implements supervise.Attachment.
func (*renewing) Ended() {}

// Close implements supervise.Attachment.
func (r *renewing) Close() { r.end() }

var _ supervise.Attachment = (*renewing)(nil)
