package document

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Operation is an accepted asynchronous write.
type Operation struct {
	ID     string `json:"id" doc:"id of the operation"`
	Status string `json:"status" enum:"queued,running,succeeded,failed" doc:"how far it is"`
	Done   int    `json:"done" minimum:"0" doc:"documents that are ready to be stored; all are stored together, at the end"`
	Total  int    `json:"total" minimum:"0" doc:"documents of the call"`
	// They move within a long document. Pointers, since 0 of 40 is shown and nothing after the end.
	ChunksDone  *int            `json:"chunks_done,omitempty" minimum:"0" doc:"while it is worked on: chunks that have their vectors"`
	ChunksTotal *int            `json:"chunks_total,omitempty" minimum:"0" doc:"while it is worked on: chunks that need vectors; those of stored text have theirs"`
	Error       json.RawMessage `json:"error,omitempty" doc:"code and message of a failed write"`
	Result      json.RawMessage `json:"result,omitempty" doc:"what the synchronous write would have answered"`
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

// failed is also the status shown for a cancelled write, since clients that wait for the
// end of an operation know no other one.
const failed = string(port.JobFailed)

// OperationRef addresses an operation.
type OperationRef struct {
	Namespace string `path:"namespace" json:"-" fault:"invalid_namespace" schema:"NamespaceName" doc:"name of the namespace"`
	Operation string `path:"operation" json:"-" doc:"id of the operation"`
}

// NamespaceName is for keys limited to one namespace.
func (in *OperationRef) NamespaceName() string { return in.Namespace }

func showOperation(j port.Job) (Operation, error) {
	o := Operation{ID: j.ID, Status: string(j.Status), Done: j.Done, Total: j.Total, Result: j.Result}
	if j.Status == port.JobCancelled {
		o.Status = failed
	}
	if len(j.State) > 0 && !j.Status.Ended() {
		var made encoding
		if err := json.Unmarshal(j.State, &made); err != nil {
			return o, fmt.Errorf("decode the state of operation %s: %w", j.ID, err)
		}
		o.ChunksDone, o.ChunksTotal = &made.Done, &made.Total
	}
	if j.Error == nil {
		return o, nil
	}
	var err error
	if o.Error, err = json.Marshal(Failure(*j.Error)); err != nil {
		return o, fmt.Errorf("encode operation: %w", err)
	}
	return o, nil
}

// Operation reads the state of an asynchronous write; it stays readable for a
// day after it ended.
func (s *Service) Operation(ctx context.Context, in OperationRef) (Operation, error) {
	who := ident.From(ctx)
	absent := func() error {
		return fault.New(fault.NotFound, "there is no operation %q in namespace %q", in.Operation, in.Namespace)
	}
	if strings.IndexByte(in.Operation, 0) >= 0 {
		return Operation{}, absent()
	}
	var j port.Job
	err := s.store.View(ctx, func(r reader) (err error) {
		j, err = r.Job(ctx, who.Org, in.Operation)
		return err
	})
	if fault.CodeOf(err) == fault.NotFound ||
		err == nil && (j.Kind != port.JobWriteDocuments || j.Partition != port.Documents(who.Org, in.Namespace)) {
		return Operation{}, absent()
	}
	if err != nil {
		return Operation{}, err
	}
	return showOperation(j)
}

// operationPrefix begins the ids of operations, before "_".
const operationPrefix = "op"

// maxQueued bounds the asynchronous writes that wait in this process; each organization
// may have a quarter of it, whatever others have.
const maxQueued = 64

// writeKind is how asynchronous writes run: one after the other, since they share
// the embedder with synchronous writes and must not starve them.
func (s *Service) writeKind() job.Kind {
	return job.Kind{
		Name:       port.JobWriteDocuments,
		Prefix:     operationPrefix,
		Lane:       port.JobWriteDocuments,
		Queue:      maxQueued,
		Keep:       24 * time.Hour,
		Tries:      8,
		Backoff:    250 * time.Millisecond,
		MaxBackoff: 5 * time.Second,
		Timeout:    time.Hour, // a stuck model must not hold the lane for ever
		Run:        s.runWrite,
	}
}

// accepted is a write as its job keeps it.
type accepted struct {
	WriteDocuments
	Obsolete []string `json:"obsolete,omitempty"`
}

// encoding is the state of its job: the chunks that have their vectors.
type encoding struct {
	Done  int `json:"chunks_done"`
	Total int `json:"chunks_total"`
}

// accept stores the write as a job, so that an accepted one survives a crash, and
// answers 202.
func (s *Service) accept(ctx context.Context, in WriteDocuments, note Note) (WriteResult, error) {
	p := port.Documents(ident.From(ctx).Org, in.Namespace)
	// Refuse at once what can be refused now.
	err := s.store.View(ctx, func(r reader) error {
		ns, _, err := s.readForWrite(ctx, r, p, in.ExpectSparse)
		if err == nil {
			err = s.encoders.For(ns).Ready(ns.Sparse)
		}
		return err
	})
	if err != nil {
		return WriteResult{}, err
	}
	order := job.Order{Partition: p, Total: len(in.Documents), Request: accepted{in, in.Obsolete}}
	if note != nil {
		order.ID = operationPrefix + "_" + uuid.Must(uuid.NewV7()).String()
		order.In = func(ctx context.Context, store func(job.Writer, port.Partition) error) error {
			return s.store.Update(ctx, func(w writer) error {
				if err := store(w, p); err != nil {
					return err
				}
				return note(w, order.ID)
			})
		}
	}
	j, _, err := s.jobs.Start(ctx, port.JobWriteDocuments, order)
	if err != nil {
		return WriteResult{}, err
	}
	o, err := showOperation(j)
	return WriteResult{Operation: &o, location: "/namespaces/" + in.Namespace + "/operations/" + o.ID}, err
}

// runWrite does an accepted write. Its success is stored in the write's own
// transaction, so that a write which was done is not done again after a crash, or
// beside a replica that has taken it over.
func (s *Service) runWrite(ctx context.Context, j *job.Job) error {
	var stored accepted
	if err := j.Request(&stored); err != nil {
		return err
	}
	in := stored.WriteDocuments
	in.Obsolete = stored.Obsolete
	in.Namespace = j.Partition.Name()
	if err := op.Check(&in); err != nil {
		return err
	}
	_, err := s.write(ctx, in, task{
		progress: func(p ingest.Progress) {
			j.Progress(ctx, p.Texts, len(in.Documents), encoding{p.Chunks, p.All})
		},
		hook: func(w *ingest.Tx, out Written) error { return j.Finish(ctx, w, out) },
	})
	if errors.As(err, new(ingest.NotSearchable)) {
		s.log.WarnContext(ctx, "asynchronous write not searchable yet", "job", j.ID, "error", err)
		return nil // it is stored, and the next query makes the index catch up
	}
	return err
}
