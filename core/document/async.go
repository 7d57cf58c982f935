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
	ID     string          `json:"id"`
	Status string          `json:"status" doc:"queued, running, succeeded or failed"`
	Done   int             `json:"done" doc:"documents stored"`
	Total  int             `json:"total"`
	Error  json.RawMessage `json:"error,omitempty" doc:"code and message of a failed write"`
	Result json.RawMessage `json:"result,omitempty" doc:"what the synchronous write would have answered"`
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
	Namespace string `path:"namespace" json:"-" fault:"invalid_namespace"`
	Operation string `path:"operation" json:"-"`
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
		if err == nil && (s.Encoder.Embedder == nil || ns.Sparse && s.Encoder.Sparse == nil) {
			_, err = s.Encoder.Encode(ctx, nil, ns.Sparse, nil)
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
	if err := s.Store.Update(ctx, func(w port.Writer) error { return w.PutOperation(ctx, o) }); err != nil {
		s.async.release()
		return WriteResult{}, err
	}
	s.async.queue <- o
	shown := show(o)
	return WriteResult{Operation: &shown, location: "/namespaces/" + in.Namespace + "/operations/" + o.ID}, nil
}

const (
	maxQueued       = 64
	operationsKept  = 24 * time.Hour
	operationBudget = time.Hour // a stuck model must not hold the queue for ever
)

// runner runs accepted writes one after the other: they share the embedder
// with synchronous writes and must not starve them.
type runner struct {
	svc   *Service
	queue chan port.Operation
	mu    sync.Mutex
	held  int
	stop  context.CancelFunc
	done  chan struct{}
}

func newRunner(s *Service) *runner {
	return &runner{svc: s, queue: make(chan port.Operation, maxQueued)}
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

// Start resumes unfinished operations and serves new ones until Stop.
func (s *Service) Start(ctx context.Context) error {
	r := s.async
	var left []port.Operation
	err := s.Store.View(ctx, func(rd port.Reader) (err error) {
		left, err = rd.UnfinishedOperations(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("read unfinished operations: %w", err)
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.stop, r.done = cancel, make(chan struct{})
	go func() {
		defer close(r.done)
		sweep := time.NewTicker(time.Hour)
		defer sweep.Stop()
		for _, o := range left {
			r.run(run, o)
		}
		for {
			select {
			case <-run.Done():
				return
			case o := <-r.queue:
				r.run(run, o)
				r.release()
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
	return nil
}

// Stop ends the runner; an interrupted operation is resumed at the next Start.
func (s *Service) Stop() {
	if s.async.stop != nil {
		s.async.stop()
		<-s.async.done
	}
}

func (r *runner) run(ctx context.Context, o port.Operation) {
	if ctx.Err() != nil {
		return
	}
	err := r.attempt(ctx, &o)
	if err == nil || ctx.Err() != nil {
		return // done, or shutting down: it runs again at the next start
	}
	f := fault.From(err)
	r.svc.Log.WarnContext(ctx, "asynchronous write failed", "operation", o.ID, "code", f.Code, "error", err)
	o.Status = failed
	o.Error, _ = json.Marshal(map[string]string{"code": string(f.Code), "message": f.Message})
	o.Request, o.Principal, o.FinishedAt = nil, nil, r.svc.Now()
	r.put(ctx, o)
}

// attempt does the write. Its success is stored in the write's own transaction,
// so that a write that was done is not done again after a crash. A panic, of a
// model for one, fails the operation alone.
func (r *runner) attempt(ctx context.Context, o *port.Operation) (err error) {
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
	o.Status = running
	r.put(ctx, *o)
	in.Namespace = o.Namespace
	if err := in.Validate(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ident.WithPrincipal(ctx, who), operationBudget)
	defer cancel()
	_, err = s.write(ctx, in, func(w port.Writer, out Written) error {
		end := *o
		end.Status, end.Done, end.Request, end.Principal, end.FinishedAt = succeeded, o.Total, nil, nil, s.Now()
		var err error
		if end.Result, err = json.Marshal(out); err != nil {
			return fmt.Errorf("encode result: %w", err)
		}
		return w.PutOperation(ctx, end)
	})
	var late notSearchable
	if errors.As(err, &late) {
		s.Log.WarnContext(ctx, "asynchronous write is not yet searchable", "operation", o.ID, "error", err)
		return nil // it is stored, and queries bring the index along
	}
	return err
}

func (r *runner) put(ctx context.Context, o port.Operation) {
	if err := r.svc.Store.Update(ctx, func(w port.Writer) error { return w.PutOperation(ctx, o) }); err != nil {
		r.svc.Log.ErrorContext(ctx, "operation state was not stored", "operation", o.ID, "status", o.Status, "error", err)
	}
}
