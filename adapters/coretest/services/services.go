// Package services builds the services of documents, queries and memories over a
// coretest.Fixture, as an engine does, for tests of what stands beside or above them.
package services

import (
	"context"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/retrieve"
)

// Documents is the service of documents.
func Documents(f *coretest.Fixture) *document.Service {
	return document.New(document.Settings{
		Store:                f.Store,
		Changes:              f.Changes,
		Encoders:             f.Encoders,
		Searcher:             f.Searcher,
		Projector:            f.Projector,
		Pages:                f.Pages,
		WithConfiguredModels: f.Models.WithConfiguredModels,
		Replica:              f.Replica,
		Jobs:                 f.Jobs,
		Now:                  f.Now,
		Log:                  f.Log,
	})
}

// Queries is the service of queries; change, if any, has the last word on its settings.
func Queries(f *coretest.Fixture, change func(*query.Settings)) *query.Service {
	s := query.Settings{
		Store:     f.Store,
		Searcher:  f.Searcher,
		Reranking: retrieve.DefaultReranking(),
		Encoders:  f.Encoders,
		Log:       f.Log,
	}
	if change != nil {
		change(&s)
	}
	return query.New(s)
}

// Memories is the service of memories; change, if any, has the last word on its
// settings. Its background work does not run.
func Memories(f *coretest.Fixture, change func(*memory.Settings)) *memory.Service {
	whole := chunk.Default()
	whole.Whole = true
	s := memory.Settings{
		Store:                f.Store,
		Changes:              f.Changes,
		Encoders:             f.Encoders.With(whole),
		Projector:            f.Projector,
		Searcher:             f.Searcher,
		Reranking:            memory.DefaultReranking(),
		Pages:                f.Pages,
		WithConfiguredModels: f.Models.WithConfiguredModels,
		Replica:              f.Replica,
		Jobs:                 f.Jobs,
		Now:                  f.Now,
		Log:                  f.Log,
	}
	if change != nil {
		change(&s)
	}
	return memory.New(s)
}

// Running is Memories with its background work until stop, which the end of the test
// calls, too.
func Running(t testing.TB, s *memory.Service) (stop func()) {
	t.Helper()
	run, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(run) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("memories: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}
