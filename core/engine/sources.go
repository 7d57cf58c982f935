package engine

import (
	"time"

	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/source"
)

// Sources are what a server with sources has.
type Sources struct {
	Connectors []port.Connector
	Workers    int           // runs at once; 0: 2
	MaxItem    int64         // bytes of an item; 0: the service's own bound
	Stall      time.Duration // without progress, after which a run is ended; 0: the service's own
}

// newSources makes the service of sources, with workers of their own: a run may go on for
// hours, which no other work is to wait for.
func (e *Engine) newSources(c *Config, pages *page.Signer) (*source.Service, error) {
	if c.Sources == nil {
		return source.Off(), nil
	}
	workers := c.Sources.Workers
	if workers <= 0 {
		workers = 2
	}
	e.runs = job.New(job.Settings{Store: c.Store, Replica: e.replica, Workers: workers, Record: e.audit.JobEnded,
		Now: c.Now, Log: c.Log})
	return source.New(source.Settings{
		Store:      c.Store,
		Documents:  e.documents,
		Connectors: c.Sources.Connectors,
		Extractor:  c.Extractor,
		Sealer:     e.sealer,
		Jobs:       e.runs,
		Pages:      pages,
		MaxItem:    c.Sources.MaxItem,
		Stall:      c.Sources.Stall,
		Now:        c.Now,
		Log:        c.Log,
	})
}
