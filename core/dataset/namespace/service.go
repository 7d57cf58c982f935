package namespace

import (
	"log/slog"
	"time"

	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// Limits.
const (
	// MaxBody bounds an import: bytes after decompression, which are kept in a file.
	MaxBody = 64 << 30
	// MaxLine bounds a line of one: a document with all its vectors, in memory.
	MaxLine = 32 << 20

	maxText = 256 << 10 // as of a write (docs/contract.md#limit-sizes)
	exports = 2         // snapshots read at once
	imports = 2         // at once
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
	now                  func() time.Time
	log                  *slog.Logger

	exports, imports chan struct{}
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
		now:                  s.Now,
		log:                  s.Log,

		exports: make(chan struct{}, exports),
		imports: make(chan struct{}, imports),
	}
}

// maxWait is how long an import waits for others to end.
const maxWait = 5 * time.Second

func busy() error {
	return fault.New(fault.Unavailable, "the server is busy with other imports; nothing was imported").After(30 * time.Second)
}
