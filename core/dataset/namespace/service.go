package namespace

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// Limits.
const (
	// MaxBody is the most that Settings.MaxImport may allow, and DefaultMaxImport what
	// it is where nothing is said.
	MaxBody          = 64 << 30
	DefaultMaxImport = 2 << 30
	// MaxLine bounds a line of one: a document with all its vectors, in memory.
	MaxLine = 32 << 20

	maxText = 256 << 10 // as of a write (docs/contract.md#limit-sizes)
	exports = 2         // snapshots read at once
	imports = 2         // stored at once
)

// Timeout is how long an import may take as a whole.
const Timeout = 24 * time.Hour

// Settings configure a Service.
type Settings struct {
	Store    port.Store
	Changes  *ingest.Log // of documents
	Encoders *ingest.Encoders
	// WithConfiguredModels records the configured models on a new namespace.
	WithConfiguredModels func(port.PartitionRow) port.PartitionRow
	Program              string           // version, for the header of an export
	MaxImport            int64            // bytes of an import after decompression; 0: DefaultMaxImport
	Spool                Spool            // where data sets are kept for a time
	Now                  func() time.Time // nil: time.Now
	Log                  *slog.Logger
}

// Service exports and imports namespaces.
type Service struct {
	store                port.Snapshots[dataset.Reader]
	changes              *ingest.Log
	encoders             *ingest.Encoders
	withConfiguredModels func(port.PartitionRow) port.PartitionRow
	program              string
	maxImport            int64
	spools               *spools
	now                  func() time.Time
	log                  *slog.Logger

	exports, imports     chan struct{}
	exporting, importing *turns
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
		store:                dataset.Snapshots(s.Store),
		changes:              s.Changes,
		encoders:             s.Encoders,
		withConfiguredModels: s.WithConfiguredModels,
		program:              s.Program,
		maxImport:            cmp.Or(s.MaxImport, DefaultMaxImport),
		spools:               &spools{Spool: s.Spool, held: map[ident.Org]int64{}},
		now:                  s.Now,
		log:                  s.Log,

		exports:   make(chan struct{}, exports),
		imports:   make(chan struct{}, imports),
		exporting: &turns{taken: map[ident.Org]chan struct{}{}},
		importing: &turns{taken: map[ident.Org]chan struct{}{}},
	}
}

// turns lets each organization do one thing at a time.
type turns struct {
	mu    sync.Mutex
	taken map[ident.Org]chan struct{} // closed when it has ended
}

// take waits for the organization's turn; end ends it.
func (t *turns) take(ctx context.Context, org ident.Org) (end func(), err error) {
	mine := make(chan struct{})
	for {
		t.mu.Lock()
		other, busy := t.taken[org]
		if !busy {
			t.taken[org] = mine
		}
		t.mu.Unlock()
		if !busy {
			return func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				delete(t.taken, org)
				close(mine)
			}, nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// take takes one of the places, once there is one.
func take(ctx context.Context, places chan struct{}) (leave func(), err error) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// maxWait is how long an import waits for another one of its organization to end.
const maxWait = 5 * time.Second

func busy() error {
	return fault.New(fault.Unavailable, "another import of the organization is under way; nothing was imported").
		After(30 * time.Second).By(fault.ImportLimit)
}
