package transfer

import (
	"log/slog"
	"time"

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

	maxText = 256 << 10 // as of a write (interface document, section 8)
	exports = 2         // snapshots read at once
	imports = 2         // at once
)

// Timeout is how long an import may take as a whole.
const Timeout = 24 * time.Hour

// Settings are what a Service is made of.
type Settings struct {
	Store     port.Store
	Projector *ingest.Projector
	Encoders  *ingest.Encoders
	// Stamp records the configured models on a new namespace.
	Stamp   func(port.Namespace) port.Namespace
	Program string           // version, for the header of an export
	Now     func() time.Time // nil: time.Now
	Log     *slog.Logger
}

// Service takes namespaces out and brings them in.
type Service struct {
	Settings
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
	return &Service{Settings: s, exports: make(chan struct{}, exports), imports: make(chan struct{}, imports)}
}

// patience is how long an import waits for others to end.
const patience = 5 * time.Second

func busy() error {
	return fault.New(fault.Unavailable, "the server is busy with other imports; nothing was imported").After(30 * time.Second)
}
