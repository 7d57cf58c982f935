package document

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Operation is an accepted asynchronous write.
type Operation struct {
	ID     string          `json:"id" doc:"id of the operation"`
	Status string          `json:"status" enum:"queued,running,succeeded,failed" doc:"how far it is"`
	Done   int             `json:"done" minimum:"0" doc:"documents stored"`
	Total  int             `json:"total" minimum:"0" doc:"documents of the call"`
	Error  json.RawMessage `json:"error,omitempty" doc:"code and message of a failed write"`
	Result json.RawMessage `json:"result,omitempty" doc:"what the synchronous write would have answered"`
}

// Failure is why an asynchronous write failed.
type Failure struct {
	Code    string `json:"code" doc:"as of an error"`
	Message string `json:"message"`
}

// Alternatives implements op.Alternator.
func (o *Operation) Alternatives() map[string][]any {
	return map[string][]any{"error": {Failure{}}, "result": {Written{}}}
}

// The states of an operation.
const (
	queued    = "queued"
	running   = "running"
	succeeded = "succeeded"
	failed    = "failed"
)

// OperationRef addresses an operation.
type OperationRef struct {
	Namespace string `path:"namespace" json:"-" fault:"invalid_namespace" schema:"NamespaceName" doc:"name of the namespace"`
	Operation string `path:"operation" json:"-" doc:"id of the operation"`
}

// Validate checks the namespace.
func (in *OperationRef) Validate() error { return validNamespace(in.Namespace) }

// NamespaceName is for keys limited to one namespace.
func (in *OperationRef) NamespaceName() string { return in.Namespace }

func show(o port.Operation) Operation {
	return Operation{ID: o.ID, Status: o.Status, Done: o.Done, Total: o.Total, Error: o.Error, Result: o.Result}
}

// Operation reads the state of an asynchronous write; it stays readable for a
// day after it ended.
func (s *Service) Operation(ctx context.Context, in OperationRef) (Operation, error) {
	who, _ := ident.From(ctx)
	var out Operation
	absent := func() error {
		return fault.New(fault.NotFound, "there is no operation %q in namespace %q", in.Operation, in.Namespace)
	}
	if strings.IndexByte(in.Operation, 0) >= 0 {
		return out, absent()
	}
	err := s.Store.View(ctx, func(r port.Reader) error {
		o, err := r.Operation(ctx, who.Org, in.Namespace, in.Operation)
		if fault.CodeOf(err) == fault.NotFound {
			return absent()
		}
		out = show(o)
		return err
	})
	return out, err
}

// accept stores the write as an operation, so that an accepted one survives a
// crash, and answers 202.
func (s *Service) accept(ctx context.Context, in WriteDocuments) (WriteResult, error) {
	who, _ := ident.From(ctx)
	// What can be refused now is refused now.
	err := s.Store.View(ctx, func(r port.Reader) error {
		ns, _, err := s.writable(ctx, r, port.Documents(who.Org, in.Namespace), in.ExpectSparse)
		if err == nil {
			err = s.Encoders.For(ns).Ready(ns.Sparse)
		}
		return err
	})
	if err != nil {
		return WriteResult{}, err
	}
	in.Prefer = ""
	request, err := json.Marshal(in)
	if err != nil {
		return WriteResult{}, fmt.Errorf("encode operation: %w", err)
	}
	principal, err := json.Marshal(who)
	if err != nil {
		return WriteResult{}, fmt.Errorf("encode operation: %w", err)
	}
	o := port.Operation{ID: "op_" + uuid.Must(uuid.NewV7()).String(), Org: who.Org, Namespace: in.Namespace, Status: queued,
		Total: len(in.Documents), Request: request, Principal: principal, CreatedAt: s.Now()}
	if err := s.async.reserve(); err != nil {
		return WriteResult{}, err
	}
	var claim port.Claim
	mine := false
	err = s.Store.Update(ctx, func(w port.Writer) (err error) {
		if err := w.PutOperation(ctx, o); err != nil {
			return err
		}
		claim, mine, err = w.TakeClaim(ctx, s.Replica.Self(), port.OperationClaim(o))
		if fault.CodeOf(err) == fault.Conflict {
			return nil // this replica's lease has lapsed: whoever finds the operation runs it
		}
		return err
	})
	if err != nil || !mine {
		s.async.release()
	}
	if err != nil {
		return WriteResult{}, err
	}
	if mine {
		s.async.queue <- work{o, claim}
	}
	shown := show(o)
	return WriteResult{Operation: &shown, location: "/namespaces/" + in.Namespace + "/operations/" + o.ID}, nil
}

const (
	maxQueued       = 64
	operationsKept  = 24 * time.Hour
	operationBudget = time.Hour // a stuck model must not hold the queue for ever
	orphansEvery    = 3 * time.Second
	storeTries      = 12 // of an operation, while the store is away
	orphansAtOnce   = 4  // taken over by one replica, so that others take some too
)

// runner runs accepted writes one after the other: they share the embedder
// with synchronous writes and must not starve them. Each is claimed by the
// replica that accepted it; those of one that died are taken over by others.
type runner struct {
	svc   *Service
	queue chan work
	mu    sync.Mutex
	held  int
	stop  context.CancelFunc
	done  chan struct{}
}

// work is an operation that this replica has claimed.
type work struct {
	port.Operation
	claim port.Claim
}

func newRunner(s *Service) *runner {
	return &runner{svc: s, queue: make(chan work, maxQueued)}
}

// reserve takes a place in the queue before the operation is stored.
func (r *runner) reserve() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held >= maxQueued {
		return fault.New(fault.Unavailable, "%d asynchronous writes are waiting already", r.held).After(5 * time.Second)
	}
	r.held++
	return nil
}

func (r *runner) release() {
	r.mu.Lock()
	r.held--
	r.mu.Unlock()
}

// Start serves operations until Stop, those too that no living replica has.
func (s *Service) Start(ctx context.Context) {
	r := s.async
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.stop, r.done = cancel, make(chan struct{})
	go func() {
		defer close(r.done)
		every := orphansEvery
		if s.Replica.Alone() {
			every = time.Hour // only what it has left itself, at the start
		}
		sweep, orphans := time.NewTicker(time.Hour), time.NewTicker(every)
		defer sweep.Stop()
		defer orphans.Stop()
		r.adopt(run)
		for {
			select {
			case <-run.Done():
				return
			case o := <-r.queue:
				r.run(run, o)
				r.release()
			case <-orphans.C:
				r.adopt(run)
			case <-sweep.C:
				err := s.Store.Update(run, func(w port.Writer) error {
					return w.DeleteOperations(run, s.Now().Add(-operationsKept))
				})
				if err != nil {
					s.Log.WarnContext(run, "old operations were not removed", "error", err)
				}
			}
		}
	}()
}

// adopt runs the operations that no living replica has claimed.
func (r *runner) adopt(ctx context.Context) {
	s := r.svc
	for ctx.Err() == nil {
		var left []port.Operation
		err := s.Store.View(ctx, func(rd port.Reader) (err error) {
			left, err = rd.UnfinishedOperations(ctx, orphansAtOnce)
			return err
		})
		if err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "unfinished operations were not read", "error", err)
		}
		if len(left) == 0 {
			return
		}
		for _, o := range left {
			claim, ok, err := s.Replica.Claim(ctx, port.OperationClaim(o), func(w port.Writer) (bool, error) {
				now, err := w.Operation(ctx, o.Org, o.Namespace, o.ID)
				if fault.CodeOf(err) == fault.NotFound {
					return false, nil
				}
				return now.Status == queued || now.Status == running, err
			})
			if err != nil && ctx.Err() == nil {
				s.Log.WarnContext(ctx, "an operation was not taken over", "operation", o.ID, "error", err)
				return
			}
			if ok {
				s.Log.InfoContext(ctx, "taking an operation over", "operation", o.ID)
				r.run(ctx, work{o, claim})
			}
		}
	}
}

// Stop ends the runner; an interrupted operation is resumed at the next Start.
func (s *Service) Stop() {
	if s.async.stop != nil {
		s.async.stop()
		<-s.async.done
	}
}

func (r *runner) run(ctx context.Context, o work) {
	if ctx.Err() != nil {
		return
	}
	err := r.attempt(ctx, o)
	for try := 1; fault.CodeOf(err) == fault.Unavailable && try < storeTries; try++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(try) * 250 * time.Millisecond):
		}
		err = r.attempt(ctx, o)
	}
	if err == nil || ctx.Err() != nil || errors.Is(err, errTaken) {
		return // done, shutting down or another's: it runs again if it has to
	}
	f := fault.From(err)
	r.svc.Log.WarnContext(ctx, "asynchronous write failed", "operation", o.ID, "code", f.Code, "error", err)
	end := o.Operation
	end.Status = failed
	end.Error, _ = json.Marshal(Failure{string(f.Code), f.Message})
	end.Request, end.Principal, end.FinishedAt = nil, nil, r.svc.Now()
	r.end(ctx, end, o.claim)
}

// errTaken says that another replica has taken an operation over.
var errTaken = errors.New("document: the operation is another replica's")

// confirm answers errTaken when a claim is lost.
func confirm(ctx context.Context, w port.Writer, c port.Claim) error {
	err := w.ConfirmClaim(ctx, c)
	if fault.CodeOf(err) == fault.Conflict {
		return errTaken
	}
	return err
}

// attempt does the write. Its success is stored in the write's own transaction,
// with the claim confirmed, so that a write that was done is not done again after
// a crash, or beside whoever has taken it over. A panic, of a model for one,
// fails the operation alone.
func (r *runner) attempt(ctx context.Context, o work) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	s := r.svc
	var in WriteDocuments
	var who ident.Principal
	if err := json.Unmarshal(o.Request, &in); err != nil {
		return fmt.Errorf("decode operation: %w", err)
	}
	if err := json.Unmarshal(o.Principal, &who); err != nil {
		return fmt.Errorf("decode operation: %w", err)
	}
	now := o.Operation
	now.Status = running
	err = s.Store.Update(ctx, func(w port.Writer) error {
		if err := confirm(ctx, w, o.claim); err != nil {
			return err
		}
		return w.PutOperation(ctx, now)
	})
	if err != nil {
		return err
	}
	in.Namespace = o.Namespace
	if err := in.Validate(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ident.WithPrincipal(ctx, who), operationBudget)
	defer cancel()
	_, err = s.write(ctx, in, func(w port.Writer, out Written) error {
		if err := confirm(ctx, w, o.claim); err != nil {
			return err
		}
		end := o.Operation
		end.Status, end.Done, end.Request, end.Principal, end.FinishedAt = succeeded, o.Total, nil, nil, s.Now()
		var err error
		if end.Result, err = json.Marshal(out); err != nil {
			return fmt.Errorf("encode result: %w", err)
		}
		if err := w.PutOperation(ctx, end); err != nil {
			return err
		}
		return w.EndClaim(ctx, o.claim)
	})
	var late notSearchable
	if errors.As(err, &late) {
		s.Log.WarnContext(ctx, "asynchronous write is not yet searchable", "operation", o.ID, "error", err)
		return nil // it is stored, and queries bring the index along
	}
	return err
}

// end stores how an operation ended.
func (r *runner) end(ctx context.Context, o port.Operation, c port.Claim) {
	err := r.svc.Store.Update(ctx, func(w port.Writer) error {
		if err := confirm(ctx, w, c); err != nil {
			return err
		}
		if err := w.PutOperation(ctx, o); err != nil {
			return err
		}
		return w.EndClaim(ctx, c)
	})
	if err != nil && !errors.Is(err, errTaken) {
		r.svc.Log.ErrorContext(ctx, "operation state was not stored", "operation", o.ID, "status", o.Status, "error", err)
	}
}
