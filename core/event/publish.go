package event

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/replica"
)

// publishClaim is held by the replica that numbers events.
const publishClaim = "events/publish"

const (
	// lookEvery is how often a publisher looks for what other processes have stored, and again after
	// a failure; lookAlone where no other process serves the store, and commands may store something;
	// lookTold where they tell.
	lookEvery, lookAlone, lookTold = time.Second, 5 * time.Second, time.Minute
	// gather is how long events come together after the first one, and DefaultPace between rounds:
	// each is a transaction, which writers have to wait for.
	gather, DefaultPace = 20 * time.Millisecond, 250 * time.Millisecond
	// round is how many events a transaction numbers or forgets.
	round = 1000
	// trimEvery is how often old events are looked for.
	trimEvery = 10 * time.Minute
)

// PublisherSettings configure a Publisher. Recorder and Replica are required.
type PublisherSettings struct {
	Recorder  *Recorder
	Replica   *replica.Member
	Retention time.Duration    // 0: DefaultRetention
	Pace      time.Duration    // between two rounds at least; 0: DefaultPace
	Told      bool             // the Recorder is woken when another process has stored something
	Delivered func()           // called when there are new deliveries; nil: nobody sends them
	Now       func() time.Time // nil: time.Now
	Log       *slog.Logger     // nil: nothing is logged
}

// DefaultRetention is how long events are kept.
const DefaultRetention = 30 * 24 * time.Hour

// Publisher numbers events once they are committed. Of all publishers over one store the one
// with the claim works, and confirms it in each transaction. A number is never given to what is
// not committed, and numbers of an organization become visible in their order, so a reader who has
// seen n never misses something below it.
type Publisher struct {
	recorder  *Recorder
	store     port.Narrowed[reader, writer]
	replica   *replica.Member
	retention time.Duration
	pace      time.Duration
	alone     time.Duration // between two looks where no other process serves the store
	delivered func()
	now       func() time.Time
	log       *slog.Logger
	claim     *port.Claim // nil: another has it, or nobody
	asked     time.Time   // when it was last asked for
	trimmed   time.Time   // when old events were last looked for

	mu      sync.Mutex
	waiting map[ident.Org]chan struct{}
}

type reader interface {
	port.EventReader
	port.WebhookReader
	port.OrganizationReader
	port.ReplicaReader
}

type writer interface {
	reader
	port.EventWriter
	port.WebhookWriter
	port.ReplicaWriter
}

func narrow(s port.Store) port.Narrowed[reader, writer] {
	return port.Narrow(s, func(r port.Reader) reader { return r }, func(w port.Writer) writer { return w })
}

// NewPublisher makes a Publisher, which works while Run does.
func NewPublisher(s PublisherSettings) *Publisher {
	if s.Retention <= 0 {
		s.Retention = DefaultRetention
	}
	if s.Pace <= 0 {
		s.Pace = DefaultPace
	}
	alone := lookAlone
	if s.Told {
		alone = lookTold
	}
	if s.Delivered == nil {
		s.Delivered = func() {}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return &Publisher{
		recorder:  s.Recorder,
		store:     narrow(s.Recorder),
		replica:   s.Replica,
		retention: s.Retention,
		pace:      s.Pace,
		alone:     alone,
		delivered: s.Delivered,
		now:       s.Now,
		log:       s.Log,
		waiting:   map[ident.Org]chan struct{}{},
	}
}

// Run publishes until ctx ends.
func (p *Publisher) Run(ctx context.Context) {
	for {
		began, next := time.Now(), lookEvery
		if err := p.work(ctx); err != nil && ctx.Err() == nil {
			p.log.WarnContext(ctx, "events not published", "error", err)
		} else if p.replica.Alone() {
			next = p.alone
		}
		look := time.NewTimer(next)
		select {
		case <-ctx.Done():
			if p.claim != nil {
				p.replica.End(context.WithoutCancel(ctx), *p.claim)
			}
			return
		case <-look.C:
		case <-p.recorder.wake:
			look.Stop()
			select {
			case <-ctx.Done():
			case <-time.After(max(min(gather, p.pace), p.pace-time.Since(began))):
			}
		}
	}
}

// work numbers what is committed by now, and forgets what is too old.
func (p *Publisher) work(ctx context.Context) error {
	for {
		var fresh []port.Event
		err := p.store.View(ctx, func(r reader) (err error) {
			fresh, err = r.UnnumberedEvents(ctx, round)
			return err
		})
		if err != nil {
			return err
		}
		if ok, err := p.hold(ctx, len(fresh) > 0); err != nil || !ok {
			return err
		}
		if len(fresh) > 0 {
			made := 0
			err := p.confirmed(ctx, func(w writer) error {
				numbered, err := w.NumberEvents(ctx, fresh)
				if err == nil {
					made, err = p.deliver(ctx, w, numbered)
				}
				return err
			})
			if err != nil {
				return err
			}
			p.tell(fresh)
			if made > 0 {
				p.delivered()
			}
		}
		if len(fresh) < round {
			return p.trim(ctx)
		}
	}
}

// deliver makes the deliveries of events to the webhooks that want them.
func (p *Publisher) deliver(ctx context.Context, w writer, numbered []port.Event) (made int, err error) {
	now := p.now().UTC().Truncate(time.Microsecond)
	webhooks := map[ident.Org][]port.WebhookRow{}
	var all []port.Delivery
	for _, e := range numbered {
		of, known := webhooks[e.Org]
		if !known {
			if of, err = w.Webhooks(ctx, e.Org); err != nil {
				return 0, err
			}
			webhooks[e.Org] = of
		}
		for _, row := range of {
			if row.Enabled && Wanted(row, e) {
				all = append(all, NewDelivery(row, e, now))
			}
		}
	}
	return len(all), w.AppendDeliveries(ctx, all)
}

// WebhookEntity is the entity of events about a webhook.
func WebhookEntity(id string) string { return "webhook/" + id }

// WantedKinds are the kinds of events that a webhook wants.
func WantedKinds(row port.WebhookRow) []string {
	if len(row.Kinds) > 0 {
		return row.Kinds
	}
	return Names(row.Admin)
}

// Wanted reports whether a webhook wants an event. None is told of its own end.
func Wanted(row port.WebhookRow, e port.Event) bool {
	return e.Entity != WebhookEntity(row.ID) && slices.Contains(WantedKinds(row), e.Kind)
}

// NewDelivery is the delivery of a numbered event to a webhook.
func NewDelivery(row port.WebhookRow, e port.Event, at time.Time) port.Delivery {
	return port.Delivery{ID: "dlv_" + uuid.Must(uuid.NewV7()).String(), Org: e.Org, Webhook: row.ID, Event: e.ID, Seq: e.Seq,
		Kind: e.Kind, Entity: e.Entity, Status: port.DeliveryPending, CreatedAt: at}
}

// hold reports whether this replica has the claim, and gets it if nobody has. One that has
// nothing to number seldom asks.
func (p *Publisher) hold(ctx context.Context, wanted bool) (bool, error) {
	if p.claim != nil {
		return true, nil
	}
	if !wanted && p.now().Sub(p.asked) < trimEvery {
		return false, nil
	}
	p.asked = p.now()
	c, ok, err := p.replica.Claim(ctx, publishClaim, func(replica.Reader) (bool, error) { return true, nil })
	if ok && err == nil {
		p.claim = &c
	}
	return p.claim != nil, err
}

// confirmed runs a transaction of the holder of the claim.
func (p *Publisher) confirmed(ctx context.Context, fn func(writer) error) error {
	err := p.store.Update(ctx, func(w writer) error {
		if err := w.ConfirmClaim(ctx, *p.claim); err != nil {
			return err
		}
		return fn(w)
	})
	if fault.CodeOf(err) == fault.Conflict {
		p.claim = nil
	}
	return err
}

// trim forgets events that are too old, now and then.
func (p *Publisher) trim(ctx context.Context) error {
	if p.now().Sub(p.trimmed) < trimEvery {
		return nil
	}
	for more := true; more && ctx.Err() == nil; {
		err := p.confirmed(ctx, func(w writer) (err error) {
			more, err = w.TrimEvents(ctx, p.now().Add(-p.retention), round)
			return err
		})
		if err != nil {
			return err
		}
	}
	p.trimmed = p.now()
	return nil
}

// tell wakes the readers of organizations that have new events.
func (p *Publisher) tell(fresh []port.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range fresh {
		if ch, ok := p.waiting[e.Org]; ok {
			close(ch)
			delete(p.waiting, e.Org)
		}
	}
}

// next is closed when an organization has new events that this process has numbered.
func (p *Publisher) next(org ident.Org) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	ch, ok := p.waiting[org]
	if !ok {
		ch = make(chan struct{})
		p.waiting[org] = ch
	}
	return ch
}
