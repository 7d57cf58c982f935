package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/url"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/replica"
)

const (
	// atOnce are the deliveries that are sent at the same time: to one endpoint, and in all.
	// Organizations share the places by fair.NewHalves (docs/decisions.md#d-72).
	atOnce, atOnceInAll = 8, 32
	// An endpoint that has taken nothing for doubtAfter gets one at a time, and all of these have
	// doubtfulAtOnce places: those that never answer keep nobody else's deliveries waiting.
	doubtAfter     = time.Minute
	doubtfulAtOnce = 16
	// workersAtOnce are the webhooks that are worked on at the same time. Most of them wait for a
	// place then, and hold no deliveries in memory.
	workersAtOnce = 512
	// longestTurn bounds a wait for a place, after which it is read again what is due.
	longestTurn = time.Minute
	// sendTimeout bounds an attempt, from the name to the end of the answer.
	sendTimeout = 15 * time.Second
	// lookEvery is how often it is looked for what other processes have left to send, lookSeldom
	// where there are no webhooks.
	lookEvery, lookSeldom = time.Second, 5 * time.Second
	// retryWork is when a webhook is turned to again whose work has failed, retrySecret one whose
	// secrets cannot be read.
	retryWork, retrySecret = 5 * time.Second, time.Minute
)

// Outcome is what came of an attempt.
type Outcome string

// The outcomes.
const (
	Succeeded Outcome = "succeeded"
	Retried   Outcome = "retried" // it failed, and will be repeated
	Failed    Outcome = "failed"  // it failed, and was the last
)

// DelivererSettings configure a Deliverer. Store and Replica are required.
type DelivererSettings struct {
	Store   port.Store
	Replica *replica.Member
	Sender  port.Sender      // nil: nothing is sent
	Sealer  port.Sealer      // nil: no secret can be read, and nothing is sent
	Random  func() float64   // from 0 to below 1; nil: math/rand
	Tracer  trace.Tracer     // nil: none
	Now     func() time.Time // nil: time.Now
	Log     *slog.Logger     // nil: nothing is logged
}

// Deliverer sends what is due while Run does.
type Deliverer struct {
	store   port.Narrowed[reader, writer]
	replica *replica.Member
	sender  port.Sender
	sealer  port.Sealer
	random  func() float64
	tracer  trace.Tracer
	now     func() time.Time
	log     *slog.Logger
	wake    chan struct{}
	places  *fair.Gate // a slot for each delivery that is being sent
	doubts  *fair.Gate // a slot for each of them to a doubtful endpoint

	mu      sync.Mutex
	working map[string]chan struct{} // webhooks, by id, with what tells of something new that is due
	paused  map[string]time.Time     // until when
	counts  map[Outcome]int64
}

type reader interface {
	port.WebhookReader
	port.OrganizationReader
	port.EventReader
	port.ReplicaReader
}

type writer interface {
	reader
	port.WebhookWriter
	port.ReplicaWriter
}

func narrow(s port.Store) port.Narrowed[reader, writer] {
	return port.Narrow(s, func(r port.Reader) reader { return r }, func(w port.Writer) writer { return w })
}

// NewDeliverer makes a Deliverer.
func NewDeliverer(s DelivererSettings) *Deliverer {
	if s.Random == nil {
		s.Random = rand.Float64
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return &Deliverer{
		store:   narrow(s.Store),
		replica: s.Replica,
		sender:  s.Sender,
		sealer:  s.Sealer,
		random:  s.Random,
		tracer:  s.Tracer,
		now:     s.Now,
		log:     s.Log,
		wake:    make(chan struct{}, 1),
		places:  fair.NewHalves(atOnceInAll, workersAtOnce, longestTurn),
		doubts:  fair.NewHalves(doubtfulAtOnce, workersAtOnce, longestTurn),
		working: map[string]chan struct{}{},
		paused:  map[string]time.Time{},
		counts:  map[Outcome]int64{},
	}
}

// Wake says that something may be due.
func (d *Deliverer) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Attempts counts what came of attempts of this process.
func (d *Deliverer) Attempts() map[Outcome]int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.counts)
}

// Run sends until ctx ends. What is being sent then is sent again by the next one.
func (d *Deliverer) Run(ctx context.Context) {
	if d.sender == nil {
		return
	}
	var workers sync.WaitGroup
	defer workers.Wait()
	for {
		due, wait, err := d.look(ctx)
		if err != nil {
			if ctx.Err() == nil {
				d.log.WarnContext(ctx, "deliveries not looked for", "error", err)
			}
			wait = lookSeldom
		}
		for _, o := range due {
			workers.Go(func() {
				pause := d.work(ctx, o.row, o.more)
				d.mu.Lock()
				if delete(d.working, o.row.ID); pause > 0 {
					d.paused[o.row.ID] = time.Now().Add(pause)
				}
				d.mu.Unlock()
				d.Wake()
			})
		}
		var timer <-chan time.Time
		if wait > 0 {
			timer = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-timer:
		case <-d.wake:
		}
	}
}

// order is a webhook to work on.
type order struct {
	row  port.WebhookRow
	more <-chan struct{} // something new may be due of it
}

// look finds the webhooks to work on, which count as worked on from now on, and how long to
// wait for the next look; 0: until something wakes it.
func (d *Deliverer) look(ctx context.Context) (due []order, wait time.Duration, err error) {
	now := d.now()
	var all []port.WebhookRow
	var next time.Time
	some := false
	err = d.store.View(ctx, func(r reader) (err error) {
		all, next, err = r.DueWebhooks(ctx, d.replica.Self(), now, workersAtOnce+d.busy())
		if err == nil && !d.replica.Alone() {
			some, err = r.HasWebhooks(ctx)
		}
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	sooner := func(t time.Duration) {
		if wait == 0 || t < wait {
			wait = max(t, time.Millisecond)
		}
	}
	switch {
	case d.replica.Alone():
	case some:
		sooner(lookEvery)
	default:
		sooner(lookSeldom)
	}
	if !next.IsZero() {
		sooner(next.Sub(now))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.paused, func(_ string, until time.Time) bool { return !time.Now().Before(until) })
	for _, row := range all {
		if until, ok := d.paused[row.ID]; ok {
			sooner(time.Until(until))
			continue
		}
		if more, ok := d.working[row.ID]; ok {
			select {
			case more <- struct{}{}:
			default: // it will read what is due anyway
			}
			continue
		}
		if len(d.working) >= workersAtOnce {
			continue // one that ends wakes this loop
		}
		more := make(chan struct{}, 1)
		d.working[row.ID] = more
		due = append(due, order{row, more})
	}
	return due, wait, nil
}

// busy counts the webhooks that a look passes over.
func (d *Deliverer) busy() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.working) + len(d.paused)
}

// claimOf names the claim of the replica that sends to a webhook.
func claimOf(id string) string { return "webhook/" + id }

// round is what a worker knows of its webhook.
type round struct {
	row     port.WebhookRow
	secrets []port.WebhookSecret
	due     []port.Delivery
	atOnce  int // of them
}

// sent is a delivery with what came of it.
type sent struct {
	delivery port.Delivery
	attempt  port.DeliveryAttempt
	answer   port.WebhookAnswer
}

// work claims a webhook and sends what is due of it, until nothing is. It answers how long to
// leave the webhook alone then.
func (d *Deliverer) work(ctx context.Context, row port.WebhookRow, more <-chan struct{}) (pause time.Duration) {
	claim, ok, err := d.replica.Claim(ctx, claimOf(row.ID), func(replica.Reader) (bool, error) { return true, nil })
	if err != nil || !ok {
		return retryUnless(err == nil)
	}
	defer d.replica.End(context.WithoutCancel(ctx), claim)
	ctx, cancel := context.WithCancel(ctx)
	results := make(chan sent, atOnce)
	busy := map[string]bool{} // entities
	defer func() {
		cancel()
		for range busy {
			<-results // a process that works on after it gave its claim up would send beside another
		}
	}()
	known := map[string]string{} // secrets by id, as long as this works
	share := ident.WithPrincipal(ctx, ident.Principal{Org: row.Org})
	var spare *slot
	defer func() { spare.leave() }()
	for {
		at, err := d.read(ctx, row)
		if err != nil {
			if ctx.Err() == nil {
				d.log.WarnContext(ctx, "webhook not read", "org", row.Org, "webhook", row.ID, "error", err)
			}
			return retryWork
		}
		var signing []string
		if len(at.due) > 0 {
			if signing, err = d.reveal(ctx, at, known); err != nil {
				d.log.WarnContext(ctx, "webhook secret unavailable", "org", row.Org, "webhook", row.ID, "error", err)
				return retrySecret
			}
		}
		full, doubtful := false, at.atOnce == 1
		if spare != nil && spare.doubtful != doubtful {
			spare.leave()
			spare = nil
		}
		for _, one := range at.due {
			if len(busy) >= at.atOnce || busy[one.Entity] {
				continue
			}
			p := spare
			if spare = nil; p == nil {
				if p = d.try(share, doubtful); p == nil {
					full = true
					break
				}
			}
			busy[one.Entity] = true
			go func() {
				defer p.leave()
				results <- d.send(ctx, at.row, one, signing)
			}()
		}
		if full && len(busy) == 0 {
			spare = d.enter(share, doubtful)
			if ctx.Err() != nil {
				return 0
			}
			continue // what was read may have changed by now
		}
		if len(busy) == 0 || ctx.Err() != nil {
			return 0
		}
		var done []sent
		select {
		case s := <-results:
			done = append(done, s)
		case <-more: // a slow answer holds back its entity alone
			continue
		}
		for len(results) > 0 {
			done = append(done, <-results)
		}
		for _, s := range done {
			delete(busy, s.delivery.Entity)
		}
		if ctx.Err() != nil {
			return 0 // what was broken off is nobody's failure
		}
		if err := d.record(ctx, claim, done); err != nil {
			if ctx.Err() == nil {
				d.log.WarnContext(ctx, "deliveries not recorded", "org", row.Org, "webhook", row.ID, "error", err)
			}
			return retryWork
		}
	}
}

func retryUnless(well bool) time.Duration {
	if well {
		return 0
	}
	return retryWork
}

// slot is a place among what is sent; doubtful, also among what is sent to doubtful endpoints.
type slot struct {
	doubtful bool
	gave     []func()
}

// leave gives it back; nil is none.
func (p *slot) leave() {
	if p == nil {
		return
	}
	for _, give := range p.gave {
		give()
	}
}

func (d *Deliverer) gates(doubtful bool) []*fair.Gate {
	if doubtful {
		return []*fair.Gate{d.doubts, d.places}
	}
	return []*fair.Gate{d.places}
}

// try takes a place for the organization of ctx if it may have one now; nil: it may not.
func (d *Deliverer) try(ctx context.Context, doubtful bool) *slot {
	p := &slot{doubtful: doubtful}
	for _, g := range d.gates(doubtful) {
		leave, ok := g.Try(ctx)
		if !ok {
			p.leave()
			return nil
		}
		p.gave = append(p.gave, leave)
	}
	return p
}

// enter waits for a place for the organization of ctx, until ctx ends; nil: it got none.
func (d *Deliverer) enter(ctx context.Context, doubtful bool) *slot {
	p := &slot{doubtful: doubtful}
	for _, g := range d.gates(doubtful) {
		leave, err := g.Enter(ctx)
		if err != nil {
			p.leave()
			return nil
		}
		p.gave = append(p.gave, leave)
	}
	return p
}

// read finds what is due of a webhook by now.
func (d *Deliverer) read(ctx context.Context, row port.WebhookRow) (at round, err error) {
	now := d.now()
	err = d.store.View(ctx, func(r reader) (err error) {
		at = round{}
		if at.row, err = r.Webhook(ctx, row.Org, row.ID); fault.CodeOf(err) == fault.NotFound {
			return nil // deleted
		}
		if err != nil || !at.row.Enabled {
			return err
		}
		secrets, err := r.WebhookSecrets(ctx, row.Org, row.ID)
		if err != nil {
			return err
		}
		at.secrets, at.atOnce = live(secrets, now), atOnce
		if since := at.row.Health.Since; !since.IsZero() && now.Sub(since) > doubtAfter {
			at.atOnce = 1
		}
		// Those that are being sent are due still.
		at.due, err = r.DueDeliveries(ctx, row.Org, row.ID, now, 2*atOnce)
		return err
	})
	return at, err
}

// live are the secrets that sign at a time.
func live(all []port.WebhookSecret, now time.Time) (out []port.WebhookSecret) {
	for _, s := range all {
		if s.ExpiresAt.IsZero() || now.Before(s.ExpiresAt) {
			out = append(out, s)
		}
	}
	return out
}

// reveal decrypts the secrets that sign.
func (d *Deliverer) reveal(ctx context.Context, at round, known map[string]string) ([]string, error) {
	if len(at.secrets) == 0 {
		return nil, errors.New("there is none")
	}
	out := make([]string, len(at.secrets))
	for i, s := range at.secrets {
		if _, ok := known[s.ID]; !ok {
			secret, err := open(ctx, d.sealer, at.row, s)
			if err != nil {
				return nil, err
			}
			known[s.ID] = secret
		}
		out[i] = known[s.ID]
	}
	return out, nil
}

func open(ctx context.Context, sealer port.Sealer, row port.WebhookRow, s port.WebhookSecret) (string, error) {
	if sealer == nil {
		return "", fault.Off("this server cannot read secrets: it has no key to decrypt them with")
	}
	secret, err := sealer.Open(ctx, sealPlace(row, s.ID), s.Sealed)
	return string(secret), err
}

func sealPlace(row port.WebhookRow, secret string) port.SealPlace {
	return port.SealPlace{Org: row.Org, Table: "webhook_secrets", Row: row.ID, Name: secret}
}

// send makes one attempt.
func (d *Deliverer) send(ctx context.Context, row port.WebhookRow, one port.Delivery, secrets []string) sent {
	message := port.WebhookMessage{URL: row.URL, ID: one.Event, Body: one.Body, Secrets: secrets}
	out := sent{delivery: one}
	if d.tracer != nil {
		var s trace.Span
		ctx, s = d.tracer.Start(ctx, "webhook.deliver", trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindProducer),
			trace.WithAttributes(attribute.String("mneme.webhook", row.ID), attribute.String("mneme.event", one.Event),
				attribute.String("mneme.kind", one.Kind), attribute.Int("mneme.attempt", one.Tries+1)))
		defer func() {
			s.SetAttributes(attribute.Int("http.response.status_code", out.attempt.Status))
			if out.attempt.Error != "" {
				s.SetStatus(codes.Error, "failed")
			}
			s.End()
		}()
	}
	out.attempt, out.answer = attempt(ctx, d.sender, message, d.now)
	return out
}

// attempt sends a message once.
func attempt(ctx context.Context, sender port.Sender, m port.WebhookMessage, now func() time.Time) (port.DeliveryAttempt,
	port.WebhookAnswer) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	m.At = now()
	began := time.Now()
	answer, err := sender.Send(ctx, m)
	out := port.DeliveryAttempt{At: m.At.UTC().Truncate(time.Microsecond), Status: answer.Status,
		Millis: time.Since(began).Milliseconds(), Answer: answer.Text}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		out.Error = fmt.Sprintf("its server does not answer within %d seconds", int(sendTimeout.Seconds()))
	case err != nil:
		out.Error = err.Error()
	}
	return out, answer
}

// gone is the status of an endpoint that wants nothing any more.
const gone = 410

// Why the server has disabled a webhook.
const (
	ReasonGone    = "gone"
	ReasonFailing = "failing"
)

// record stores what came of deliveries of a webhook.
func (d *Deliverer) record(ctx context.Context, claim port.Claim, done []sent) error {
	var outcomes map[Outcome]int64
	var disabled *port.WebhookRow
	webhook, org := done[0].delivery.Webhook, done[0].delivery.Org
	err := d.store.Update(ctx, func(w writer) error {
		outcomes, disabled = map[Outcome]int64{}, nil
		if err := w.ConfirmClaim(ctx, claim); err != nil {
			return err
		}
		row, err := w.Webhook(ctx, org, webhook)
		if fault.CodeOf(err) == fault.NotFound {
			return nil // deleted, with its deliveries
		}
		if err != nil {
			return err
		}
		health, reason := row.Health, ""
		now := d.now().UTC().Truncate(time.Microsecond)
		settled := make([]port.Delivery, len(done))
		for i, s := range done {
			settled[i] = d.settle(s, now)
			health = after(health, s.delivery.Event, now, settled[i].Status == port.DeliverySucceeded)
			if s.attempt.Status == gone {
				reason = ReasonGone
			}
			switch settled[i].Status {
			case port.DeliverySucceeded:
				outcomes[Succeeded]++
			case port.DeliveryFailed:
				outcomes[Failed]++
			default:
				outcomes[Retried]++
			}
		}
		if err := w.SettleDeliveries(ctx, org, webhook, settled); err != nil {
			return err
		}
		if !row.Enabled {
			return nil // by a caller, who has it start afresh
		}
		if health != row.Health {
			if err := w.NoteWebhookHealth(ctx, org, webhook, health); err != nil {
				return err
			}
		}
		if reason == "" && lost(health, now) {
			reason = ReasonFailing
		}
		if reason == "" {
			return nil
		}
		row.Enabled, row.Reason, row.UpdatedAt = false, reason, now
		disabled = &row
		if err := w.PutWebhook(ctx, row); err != nil {
			return err
		}
		return w.DropDeliveries(ctx, org, webhook, now)
	})
	if err != nil {
		return err
	}
	d.mu.Lock()
	for o, n := range outcomes {
		d.counts[o] += n
	}
	d.mu.Unlock()
	if disabled != nil {
		d.log.WarnContext(ctx, "webhook disabled", "org", org, "webhook", webhook, "reason", disabled.Reason,
			"host", hostOf(disabled.URL))
	}
	return nil
}

// hostOf is the part of a URL that a log may name: the rest can hold a secret.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}

// settle is a delivery after an attempt.
func (d *Deliverer) settle(s sent, now time.Time) port.Delivery {
	out := s.delivery
	out.Tries++
	out.Attempts = append(append([]port.DeliveryAttempt{}, out.Attempts...), s.attempt)
	if over := len(out.Attempts) - keptAttempts; over > 0 {
		out.Attempts = out.Attempts[over:]
	}
	out.NextAt, out.UpdatedAt = time.Time{}, now
	if s.attempt.Error == "" {
		out.Status = port.DeliverySucceeded
		return out
	}
	wait, more := pause(out.Tries, s.answer.RetryAfter, d.random())
	if !more || s.attempt.Status == gone {
		out.Status = port.DeliveryFailed
		return out
	}
	out.NextAt = now.Add(wait)
	return out
}
