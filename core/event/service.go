package event

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
)

// Settings configure a Service.
type Settings struct {
	Publisher *Publisher
	Pages     *page.Signer
	// Schema is the JSON Schema of a type, as answers have it. nil: kinds have none.
	Schema func(reflect.Type) (json.RawMessage, error)
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // nil: nothing is logged
}

// Service lets callers read events.
type Service struct {
	publisher *Publisher
	pages     *page.Signer
	schema    func(reflect.Type) (json.RawMessage, error)
	now       func() time.Time
	log       *slog.Logger
	ending    chan struct{}
	end       sync.Once

	mu    sync.Mutex
	noted map[ident.Org]time.Time
	held  map[ident.Org]int // calls that wait
}

// New makes the service.
func New(s Settings) *Service {
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{
		publisher: s.Publisher,
		pages:     s.Pages,
		schema:    s.Schema,
		now:       s.Now,
		log:       s.Log,
		ending:    make(chan struct{}),
		noted:     map[ident.Org]time.Time{},
		held:      map[ident.Org]int{},
	}
}

// End has calls that wait answer at once, from now on.
func (s *Service) End() { s.end.Do(func() { close(s.ending) }) }

// ListKinds are the parameters of GET /event_kinds.
type ListKinds struct{}

// KindInfo is a kind as it is shown.
type KindInfo struct {
	Name    string          `json:"name" doc:"the type of its events"`
	Summary string          `json:"summary"`
	Keys    string          `json:"keys" enum:"service,admin" doc:"the keys that see its events: service, which includes admin keys, or admin alone"`
	Schema  json.RawMessage `json:"schema" doc:"JSON Schema of an event's data"`
	Example json.RawMessage `json:"example" doc:"an event"`
}

// Alternatives implements op.Alternator.
func (KindInfo) Alternatives() map[string][]any {
	// Some generators of clients drop what only the webhooks of the document refer to; each
	// event stands in an answer, too.
	var events []any
	known := map[reflect.Type]bool{}
	for _, k := range Kinds() {
		e := k.Example.event(Head{})
		if t := reflect.TypeOf(e); !known[t] {
			known[t] = true
			events = append(events, e)
		}
	}
	return map[string][]any{"schema": {map[string]any{}}, "example": events}
}

// KindList answers GET /event_kinds.
type KindList struct {
	Kinds []KindInfo `json:"kinds"`
}

// Kinds lists the kinds of events.
func (s *Service) Kinds(context.Context, ListKinds) (KindList, error) {
	out := KindList{}
	for _, k := range Kinds() {
		one := KindInfo{Name: k.Name, Summary: k.Summary, Keys: "service", Schema: json.RawMessage(`{}`)}
		if k.Admin {
			one.Keys = "admin"
		}
		var err error
		if one.Example, err = encode(k.Name, exampleTime, k.Example); err != nil {
			return out, err
		}
		if s.schema != nil {
			if one.Schema, err = s.schema(reflect.TypeOf(k.Example)); err != nil {
				return out, fmt.Errorf("describe the events %s: %w", k.Name, err)
			}
		}
		out.Kinds = append(out.Kinds, one)
	}
	return out, nil
}

// latest is the cursor of who wants what happens from now on.
const latest = "latest"

// newest is the cursor of who wants the events that happened last.
const newest = "newest"

// ListEvents are the parameters of GET /events.
type ListEvents struct {
	After string   `query:"after" json:"-" doc:"next_cursor of the answer before; none: from the oldest that is kept, latest: from now on, newest: from as many before the end as limit says"`
	Kinds []string `query:"kinds" json:"-" maxItems:"100" enum:"namespace.created,namespace.deleted,namespace.reindexed,documents.written,documents.deleted,source.run.completed,source.run.failed,source.deletions_withheld,source.credentials_failed,source.state_changed,memory.created,memory.updated,memory.tombstoned,memory.restored,memory.deleted,user.erased,quota.exceeded,key.created,key.revoked,model.state_changed,webhook.disabled" doc:"only events of these kinds; those of memories, end users, quotas and keys are for admin keys"`
	Limit *int     `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"100" doc:"how many at most"`
	Wait  int      `query:"wait" json:"-" minimum:"0" maximum:"30" default:"0" doc:"seconds to wait for an event where there is none"`
}

// Waits implements op.Waiter.
func (in *ListEvents) Waits() bool { return in.Wait > 0 }

// ListEventsOf are the parameters of the list of an organization's events.
type ListEventsOf struct {
	Org string `path:"org" json:"-" doc:"id or name of the organization"`
	ListEvents
}

// Event is an event as it is shown.
type Event struct {
	ID        string          `json:"id" doc:"the same in each answer and each delivery"`
	Type      string          `json:"type" doc:"its kind"`
	Timestamp time.Time       `json:"timestamp" doc:"when it happened"`
	Data      json.RawMessage `json:"data" doc:"what it tells of; GET /event_kinds has the schema of each kind"`
}

// Alternatives implements op.Alternator.
func (Event) Alternatives() map[string][]any { return map[string][]any{"data": {map[string]any{}}} }

// Page answers GET /events.
type Page struct {
	Events     []Event `json:"events" doc:"in their order; of one entity that of the commits"`
	NextCursor string  `json:"next_cursor" doc:"for after, also when there are no events"`
	Missed     bool    `json:"missed" doc:"true: events behind the cursor are forgotten by their age, so the reader has to look at the state itself"`
}

// position is what a cursor holds.
type position struct {
	Seq uint64 `json:"s"`
}

// mostWaiting is how many calls of an organization may wait at once.
const mostWaiting = 64

// List reads the events of the caller's organization.
func (s *Service) List(ctx context.Context, in ListEvents) (Page, error) {
	who := ident.From(ctx)
	return s.list(ctx, who.Org, who.Namespace, false, in)
}

// ListOf reads the events of an organization that the caller administers.
func (s *Service) ListOf(ctx context.Context, in ListEventsOf) (Page, error) {
	org, err := s.administered(ctx, in.Org)
	if err != nil {
		return Page{}, err
	}
	return s.list(ctx, org, "", true, in.ListEvents)
}

func (s *Service) list(ctx context.Context, org ident.Org, namespace string, admin bool, in ListEvents) (Page, error) {
	visible := Names(admin)
	for _, k := range in.Kinds {
		if !slices.Contains(visible, k) {
			return Page{}, fault.New(fault.Forbidden, "events of kind %s are for admin keys", k)
		}
	}
	kinds := in.Kinds
	if len(kinds) == 0 && !admin {
		kinds = visible
	}
	sorted := slices.Sorted(slices.Values(in.Kinds))
	bind := []string{"events", string(org), namespace, fmt.Sprint(admin), strings.Join(sorted, ",")}
	var at position
	if in.After != latest && in.After != newest {
		if err := s.pages.Open(in.After, &at, bind...); err != nil {
			return Page{}, err
		}
	}
	s.note(ctx, org)
	list := port.EventList{After: at.Seq, Kinds: kinds, Namespace: namespace, Limit: page.Limit(in.Limit)}
	out, last, err := s.await(ctx, org, list, in.After, time.Duration(in.Wait)*time.Second)
	out.NextCursor = s.pages.Seal(position{last}, bind...)
	return out, err
}

// await reads events, and waits for some where there are none.
func (s *Service) await(ctx context.Context, org ident.Org, l port.EventList, cursor string,
	wait time.Duration) (out Page, last uint64, err error) {
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline)-time.Second) // what is left is for the answer
	}
	if wait > 0 {
		leave, err := s.enter(org)
		if err != nil {
			return out, 0, err
		}
		defer leave()
	}
	over := time.NewTimer(max(0, wait))
	defer over.Stop()
	for {
		fresh := s.publisher.next(org) // before it is looked, so that none is missed in between
		var found []port.Event
		var stream port.EventStream
		err := s.publisher.store.View(ctx, func(r reader) (err error) {
			if stream, err = r.EventStream(ctx, org); err != nil {
				return err
			}
			switch cursor {
			case latest:
				l.After, cursor = stream.Last, ""
			case newest:
				l.After, cursor = stream.Last-min(stream.Last, uint64(l.Limit)), ""
			}
			found, last, err = r.Events(ctx, org, l)
			return err
		})
		if err != nil {
			return out, 0, err
		}
		out.Missed = out.Missed || cursor != "" && l.After < stream.Trimmed
		out.Events = show(found)
		if out.Missed && len(found) == 0 {
			last = max(last, stream.Trimmed) // what was missed is told once
		}
		if len(found) > 0 || out.Missed || wait <= 0 {
			return out, last, nil
		}
		if l.After = last; last < stream.Last { // it has passed over many
			select {
			case <-over.C:
				return out, last, nil
			default:
				continue
			}
		}
		look := time.NewTimer(lookEvery) // for what other processes number
		select {
		case <-fresh:
		case <-look.C:
		case <-over.C:
			wait = 0
		case <-s.ending:
			wait = 0
		case <-ctx.Done():
			look.Stop()
			return out, last, ctx.Err()
		}
		look.Stop()
	}
}

// enter counts a call that waits.
func (s *Service) enter(org ident.Org) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[org] >= mostWaiting {
		return nil, fault.New(fault.RateLimited, "%d calls wait for events already", mostWaiting).After(time.Second)
	}
	s.held[org]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.held[org]--; s.held[org] == 0 {
			delete(s.held, org)
		}
	}, nil
}

func show(found []port.Event) []Event {
	out := make([]Event, len(found))
	for i, e := range found {
		out[i].ID = e.ID
		var b struct {
			Type      string          `json:"type"`
			Timestamp time.Time       `json:"timestamp"`
			Data      json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(e.Body, &b); err != nil { // the body is ours
			b.Type, b.Timestamp, b.Data = e.Kind, e.CreatedAt, json.RawMessage(`{}`)
		}
		out[i].Type, out[i].Timestamp, out[i].Data = b.Type, b.Timestamp, b.Data
	}
	return out
}

// noteEvery is how often it is recorded that an organization's events are read.
const noteEvery = time.Hour

// note records that the events of an organization are read, from which on they are recorded.
// Reading does not fail with it.
func (s *Service) note(ctx context.Context, org ident.Org) {
	now := s.now()
	s.mu.Lock()
	recently := now.Sub(s.noted[org]) < noteEvery
	if !recently {
		s.noted[org] = now
	}
	s.mu.Unlock()
	if recently {
		return
	}
	err := s.publisher.store.Update(ctx, func(w writer) error {
		return s.publisher.recorder.noteRead(ctx, w, org, now)
	})
	if err != nil {
		s.mu.Lock()
		delete(s.noted, org)
		s.mu.Unlock()
		s.log.WarnContext(ctx, "reader of events not noted", "error", err)
	}
}

// GetEvent are the parameters of GET /events/{id}.
type GetEvent struct {
	ID string `path:"id" json:"-" doc:"id of the event"`
}

// GetEventOf are the parameters of an organization's event.
type GetEventOf struct {
	Org string `path:"org" json:"-" doc:"id or name of the organization"`
	GetEvent
}

// Told is an event with its deliveries.
type Told struct {
	Event
	Deliveries []Delivery `json:"deliveries" doc:"to webhooks, the newest first, 100 at most; none for keys limited to a namespace"`
}

// Delivery is where the delivery of an event stands.
type Delivery struct {
	ID            string     `json:"id"`
	WebhookID     string     `json:"webhook_id"`
	Status        string     `json:"status" enum:"pending,succeeded,failed,dropped"`
	Attempts      int        `json:"attempts" minimum:"0" doc:"how often it was tried"`
	NextAttemptAt *time.Time `json:"next_attempt_at" doc:"null: it has ended, or waits for an earlier one of the same entity"`
	CreatedAt     time.Time  `json:"created_at"`
}

// mostDeliveries is how many deliveries of an event are shown.
const mostDeliveries = 100

// Get reads one event of the caller's organization.
func (s *Service) Get(ctx context.Context, in GetEvent) (Told, error) {
	who := ident.From(ctx)
	return s.get(ctx, who.Org, who.Namespace, false, in.ID)
}

// GetOf reads one event of an organization that the caller administers.
func (s *Service) GetOf(ctx context.Context, in GetEventOf) (Told, error) {
	org, err := s.administered(ctx, in.Org)
	if err != nil {
		return Told{}, err
	}
	return s.get(ctx, org, "", true, in.ID)
}

func (s *Service) get(ctx context.Context, org ident.Org, namespace string, admin bool, id string) (Told, error) {
	var e port.Event
	hidden := map[string]bool{} // webhooks that the key does not see
	var sent []port.Delivery
	err := s.publisher.store.View(ctx, func(r reader) (err error) {
		if e, err = r.Event(ctx, org, id); err != nil || namespace != "" {
			return err
		}
		all, err := r.Webhooks(ctx, org)
		for _, w := range all {
			hidden[w.ID] = w.Admin && !admin
		}
		if err == nil {
			sent, err = r.DeliveriesOf(ctx, org, id, mostDeliveries)
		}
		return err
	})
	if err != nil {
		return Told{}, err
	}
	if !slices.Contains(Names(admin), e.Kind) || namespace != "" && e.Namespace != namespace {
		return Told{}, fault.New(fault.NotFound, "there is no event %q", fault.Clip(id))
	}
	out := Told{Event: show([]port.Event{e})[0], Deliveries: []Delivery{}}
	for _, d := range sent {
		if hidden[d.Webhook] {
			continue
		}
		one := Delivery{ID: d.ID, WebhookID: d.Webhook, Status: string(d.Status), Attempts: d.Tries, CreatedAt: d.CreatedAt}
		if !d.NextAt.IsZero() {
			one.NextAttemptAt = new(d.NextAt.UTC())
		}
		out.Deliveries = append(out.Deliveries, one)
	}
	return out, nil
}

func (s *Service) administered(ctx context.Context, name string) (org ident.Org, err error) {
	err = s.publisher.store.View(ctx, func(r reader) (err error) {
		org, err = Administered(ctx, r, name)
		return err
	})
	return org, err
}

// Administered is the organization of a path, by id or name, if the caller administers it.
func Administered(ctx context.Context, r port.OrganizationReader, name string) (ident.Org, error) {
	o, err := r.Organization(ctx, ident.Org(name))
	if fault.CodeOf(err) == fault.NotFound {
		o, err = r.OrganizationByName(ctx, name)
	}
	if err == nil && ident.From(ctx).Administers(o.ID) {
		return o.ID, nil
	}
	if err == nil || fault.CodeOf(err) == fault.NotFound {
		return "", fault.New(fault.NotFound, "there is no organization %q", fault.Clip(name))
	}
	return "", err
}

// Operations declares the operations of the service (docs/contract.md#event-routes).
func Operations() []op.Op[*Service] {
	const of = "/admin/v1/organizations/{org}/events"
	list := op.Spec{
		Name:         "events.list",
		Group:        op.Events,
		Method:       "GET",
		Path:         "/events",
		Class:        op.Read,
		Timeout:      40 * time.Second,
		TimeoutClass: op.OwnTimeout,
		Summary:      "Read what has happened",
		Description: "Events come in an order that a reader can rely on: anyone who goes on from `next_cursor` never misses " +
			"one that is kept. With `wait` the answer waits until there is an event. A cursor holds for the kinds that it was " +
			"made with. Keys limited to a namespace see what concerns it.",
		Faults: []fault.Code{fault.InvalidRequest, fault.InvalidCursor},
	}
	get := op.Spec{
		Name:    "events.get",
		Group:   op.Events,
		Method:  "GET",
		Path:    "/events/{id}",
		Class:   op.Read,
		Timeout: 5 * time.Second,
		Summary: "Read an event with its deliveries",
		Faults:  []fault.Code{fault.InvalidRequest, fault.NotFound},
	}
	listOf, getOf := list, get
	listOf.Name, listOf.Group, listOf.Path, listOf.Family, listOf.Class = "admin.events.list", op.AdminEvents, of,
		op.Administration, op.Admin
	listOf.Summary = "Read what has happened in an organization"
	listOf.Description = "As GET /events, with the events of memories, end users and keys."
	listOf.Faults = []fault.Code{fault.InvalidRequest, fault.InvalidCursor, fault.NotFound}
	getOf.Name, getOf.Group, getOf.Path, getOf.Family, getOf.Class = "admin.events.get", op.AdminEvents, of+"/{id}",
		op.Administration, op.Admin
	getOf.Summary = "Read an event of an organization"
	return op.WithLinks(op.WithExamples([]op.Op[*Service]{
		op.Define(op.Spec{
			Name:    "event_kinds.list",
			Group:   op.Events,
			Method:  "GET",
			Path:    "/event_kinds",
			Class:   op.Read,
			Timeout: 5 * time.Second,
			Summary: "List the kinds of events",
			Faults:  []fault.Code{fault.InvalidRequest},
		}, (*Service).Kinds),
		op.Define(list, (*Service).List),
		op.Define(get, (*Service).Get),
		op.Define(listOf, (*Service).ListOf),
		op.Define(getOf, (*Service).GetOf),
	}, examples()), links())
}
