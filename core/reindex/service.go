package reindex

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/port"
)

// The kinds of the jobs.
const (
	NamespaceKind = "namespace.reindex"
	EndUserKind   = "end_user.reindex"
)

// State is how far the latest reindexing of a partition is.
type State struct {
	Status string
	Done   int // documents encoded
	Total  int
	Result Result         // of one that has ended well
	Error  *port.JobError // of one that failed
}

// The statuses of a reindexing.
const (
	Waiting   = "waiting"
	Running   = "running"
	Succeeded = "succeeded"
	Held      = "held"
	Failed    = "failed"
	Unchanged = "unchanged"
)

// Settings configure a Service.
type Settings struct {
	Store      port.Store
	Jobs       *job.Runner
	Namespaces GenerationRebuilder // of documents
	EndUsers   Rebuilder           // of memories
	Encoders   *ingest.Encoders
	Projector  *ingest.Projector
	Shared     bool // other replicas serve over the store
	// Prefetch is how often it is asked for generations that other replicas build;
	// 0: 5 s.
	Prefetch time.Duration
	Log      *slog.Logger
}

// Service has partitions reindexed, one after the other in a process: each keeps the
// models busy. Safe for concurrent use.
type Service struct {
	store      port.Narrowed[reader, job.Writer]
	jobs       *job.Runner
	namespaces GenerationRebuilder
	endUsers   Rebuilder
	encoders   *ingest.Encoders
	projector  *ingest.Projector
	shared     bool
	every      time.Duration // Settings.Prefetch
	log        *slog.Logger
}

// reader is what the service reads of the store.
type reader interface {
	job.Reader
	port.PartitionReader
}

// New makes the service, and registers its jobs.
func New(s Settings) *Service {
	svc := &Service{
		store:      port.Narrow(s.Store, func(r port.Reader) reader { return r }, func(w port.Writer) job.Writer { return w }),
		jobs:       s.Jobs,
		namespaces: s.Namespaces,
		endUsers:   s.EndUsers,
		encoders:   s.Encoders,
		projector:  s.Projector,
		shared:     s.Shared,
		every:      cmp.Or(s.Prefetch, 5*time.Second),
		log:        s.Log,
	}
	for _, name := range []string{NamespaceKind, EndUserKind} {
		s.Jobs.Register(job.Kind{Name: name, Lane: "reindex", Single: true, Keep: time.Hour, Run: svc.run})
	}
	return svc
}

// kind and rebuilder are of the partitions of p's kind.
func kind(p port.Partition) string {
	if p.Space() == port.SpaceMemories {
		return EndUserKind
	}
	return NamespaceKind
}

func (s *Service) rebuilder(p port.Partition) Rebuilder {
	if p.Space() == port.SpaceMemories {
		return s.endUsers
	}
	return s.namespaces
}

// Current reports whether a partition's vectors are of the configured models.
func (s *Service) Current(n port.PartitionRow) bool { return !s.encoders.Stale(n) }

// Start begins a reindexing in the background or joins the one under way; its state
// says when there is nothing to do. Fault NamespaceNotFound, or NotFound of an end
// user, when there are no documents, Conflict when there is nothing to go back to.
func (s *Service) Start(ctx context.Context, p port.Partition, in Request) (State, error) {
	p = p.At(0)
	total, needed, err := s.rebuilder(p).CheckReindex(ctx, p, in)
	if err != nil {
		return State{}, err
	}
	if !needed {
		last, known, err := s.jobs.Latest(ctx, kind(p), p)
		if err != nil || known && !last.Status.Ended() {
			return state(last), err
		}
		return State{Status: Unchanged}, nil
	}
	j, _, err := s.jobs.Start(ctx, kind(p), job.Order{Partition: p, Total: total, Request: in})
	return state(j), err
}

// State is the progress of the last reindexing, whichever server runs it; false when
// none is known.
func (s *Service) State(ctx context.Context, p port.Partition) (State, bool, error) {
	j, known, err := s.jobs.Latest(ctx, kind(p), p)
	return state(j), known, err
}

// Discard removes what is kept of a namespace since the last swap, or held; false:
// nothing is. Fault Conflict while the namespace is being reindexed.
func (s *Service) Discard(ctx context.Context, p port.Partition) (bool, error) {
	j, known, err := s.jobs.Latest(ctx, NamespaceKind, p)
	if err == nil && known && !j.Status.Ended() {
		err = fault.New(fault.Conflict, "namespace %q is being reindexed; what it makes can be discarded once that has ended",
			p.Name())
	}
	if err != nil {
		return false, err
	}
	return s.namespaces.Discard(ctx, p)
}

// state is a job as a reindexing.
func state(j port.Job) State {
	out := State{Done: j.Done, Total: j.Total, Error: j.Error}
	if json.Unmarshal(j.Result, &out.Result) != nil {
		out.Result = Result{} // none, or of another version
	}
	switch {
	case j.Status == port.JobQueued:
		out.Status = Waiting
	case j.Status == port.JobRunning:
		out.Status = Running
	case j.Status != port.JobSucceeded:
		out.Status = Failed
	case out.Result.Unchanged:
		out.Status = Unchanged
	case out.Result.Held:
		out.Status = Held
	default:
		out.Status = Succeeded
	}
	return out
}

// run is the work of a job.
func (s *Service) run(ctx context.Context, j *job.Job) error {
	var in Request
	if err := j.Request(&in); err != nil {
		return err
	}
	finished := false
	r, err := s.rebuilder(j.Partition).Reindex(ctx, j.Partition, Run{
		Request:  in,
		Resumed:  j.Resumed,
		Progress: func(done, total int) { j.Progress(ctx, done, total, nil) },
		Finish: func(ctx context.Context, w job.Writer, r Result) error {
			finished = true
			return j.Finish(ctx, w, r)
		},
	})
	if err != nil {
		return err
	}
	if !finished {
		if err := s.store.Update(ctx, func(w job.Writer) error { return j.Finish(ctx, w, r) }); err != nil {
			return fmt.Errorf("end the reindexing: %w", err)
		}
	}
	switch {
	case r.Unchanged:
	case r.Held:
		s.log.InfoContext(ctx, "reindexing held", "partition", j.Partition.String(), "documents", r.Documents, "chunks", r.Chunks)
	default:
		s.log.InfoContext(ctx, "reindexing finished", "partition", j.Partition.String(), "documents", r.Documents,
			"chunks", r.Chunks)
	}
	return nil
}

// Run has this replica's indexes hold the generations of namespaces that other
// replicas build, so that they need not begin with it when these are served. It
// returns when ctx is done, and at once where there are no other replicas.
func (s *Service) Run(ctx context.Context) error {
	if !s.shared {
		return nil
	}
	t := time.NewTicker(s.every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		if err := s.prefetch(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "shadow prefetch failed", "error", err)
		}
	}
}

func (s *Service) prefetch(ctx context.Context) error {
	var shadows []port.PartitionEntry
	err := s.store.View(ctx, func(r reader) (err error) {
		shadows, err = r.Shadows(ctx, "")
		return err
	})
	if err != nil {
		return err
	}
	for _, h := range shadows {
		if h.Row.State != port.Building {
			continue
		}
		if err := s.projector.Ensure(ctx, h.Partition, h.Row.Seq); err != nil && !fault.IsPartitionNotFound(err) {
			return err
		}
	}
	return nil
}
