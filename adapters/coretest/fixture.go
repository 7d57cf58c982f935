package coretest

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/sqlite/sqlitetest"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/replica"
	"github.com/mnemehq/mneme/core/retrieve"
)

// Options change a Fixture before it opens. The zero value is a fresh folder with
// an embedding model and no other.
type Options struct {
	Dir        string        // "": a fresh one; that of a closed Fixture finds what it stored
	Embedder   port.Embedder // nil: NewEmbedder
	NoEmbedder bool
	Embedders  []port.Embedder    // beside Embedder, which a namespace may name
	Sparse     port.SparseEncoder // nil: off
	Previous   ingest.Previous    // models before those
	// SparseQueries says how sparse queries are encoded; "": by the encoder.
	SparseQueries retrieve.SparseQueries
	Listeners     []ingest.Listener // of Fixture.Changes
	FlushChunks   int               // of the index; 0: few, so that segments and merges take part
	// Over puts a store before the SQLite store; nil: none.
	Over func(port.DocumentStore) port.DocumentStore
	Now  func() time.Time // nil: time.Now
	Log  *slog.Logger     // nil: none
}

// Fixture is what services are made of, over a SQLite store and an embedded index
// that are closed at the end of the test.
type Fixture struct {
	Dir       string
	Store     *Store // the SQLite store, which a test can make fail
	Index     *Index // the embedded index, which a test can make fail
	Indexes   map[port.Retriever]port.Index
	Encoders  *ingest.Encoders
	Projector *ingest.Projector // runs
	Changes   *ingest.Log
	Searcher  *retrieve.Searcher
	Pages     *page.Signer
	Models    namespace.Models // Models.WithConfiguredModels records them on a new namespace
	Replica   *replica.Member  // runs
	Jobs      *job.Runner      // runs
	Keys      *key.Service
	Embedder  *Embedder // nil when Options name another or none
	Now       func() time.Time
	Log       *slog.Logger
	// Close ends the background work and closes store and index; once. The end of
	// the test does it, too.
	Close func()

	t testing.TB
}

// Open opens the store and the index of a folder, without anything above them.
// The caller closes both.
func Open(t testing.TB, dir string) (port.DocumentStore, port.Index) {
	t.Helper()
	return open(t, dir, 0)
}

func open(t testing.TB, dir string, flush int) (port.DocumentStore, port.Index) {
	t.Helper()
	sqlitetest.Migrate(t, dir)
	store, err := sqlite.Open(context.Background(), dir, sqlite.Options{})
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	config := embedded.Default()
	config.FlushChunks = cmp.Or(flush, 64)
	index, err := embedded.Open(config, filepath.Join(dir, "index"), slog.New(slog.DiscardHandler))
	if err != nil {
		_ = store.Close()
		t.Fatalf("open the index: %v", err)
	}
	return store, index
}

// New opens a Fixture and runs what works in its background until the end of the
// test.
func New(t testing.TB, o Options) *Fixture {
	t.Helper()
	f := &Fixture{Dir: o.Dir, Now: o.Now, Log: o.Log, t: t}
	if f.Dir == "" {
		f.Dir = t.TempDir()
	}
	if f.Now == nil {
		f.Now = time.Now
	}
	f.Log = cmp.Or(f.Log, slog.New(slog.DiscardHandler))
	encoder := &ingest.Encoder{Sparse: o.Sparse, Options: chunk.Default()}
	f.Models = namespace.Models{Chunker: chunk.Version, Now: f.Now}
	if !o.NoEmbedder {
		if o.Embedder == nil {
			o.Embedder = NewEmbedder()
		}
		f.Embedder, _ = o.Embedder.(*Embedder)
		encoder.Embedder, f.Models.Embedding = o.Embedder, new(o.Embedder.Info())
	}
	f.Models.Choices.Embedders = o.Embedders
	if encoder.Embedder != nil {
		f.Models.Choices.Embedders = append([]port.Embedder{encoder.Embedder}, o.Embedders...)
	}
	if o.Sparse != nil {
		f.Models.Sparse = new(o.Sparse.Info())
	}
	store, index := open(t, f.Dir, o.FlushChunks)
	over := store
	if o.Over != nil {
		over = o.Over(store)
	}
	f.Store, f.Index = &Store{DocumentStore: over}, &Index{Index: index, IndexHooks: &IndexHooks{}}
	f.Indexes = map[port.Retriever]port.Index{port.Vector: f.Index, port.Keyword: f.Index, port.SparseTerms: f.Index}
	f.Encoders = ingest.NewEncoders(encoder, o.Previous).Offering(f.Models.Choices)
	f.Projector = ingest.NewProjector(f.Store, []port.Index{f.Index}, "coretest", f.Log)
	f.Changes = ingest.NewLog(f.Store, f.Projector, o.Listeners...)
	f.Searcher = retrieve.NewSearcher(retrieve.Searcher{
		Indexes:       f.Indexes,
		Projector:     f.Projector,
		SparseQueries: o.SparseQueries,
		Fusion:        retrieve.DefaultFusion(),
		Log:           f.Log,
	}, 1024)
	f.Pages = page.NewSigner([]byte("the key of cursors in tests"))
	f.Keys = key.New(key.Settings{Store: f.Store, Now: f.Now, Log: f.Log})
	member, err := replica.Join(context.Background(), replica.Settings{Store: f.Store, ID: "coretest", Log: f.Log})
	if err != nil {
		t.Fatalf("join the replicas: %v", err)
	}
	f.Replica = member
	f.Jobs = job.New(job.Settings{Store: f.Store, Replica: member, Now: f.Now, Log: f.Log})

	background, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { f.Projector.Run(background) })
	running.Go(func() { f.Replica.Run(background) })
	running.Go(func() { f.Jobs.Run(background) })
	f.Close = sync.OnceFunc(func() {
		stop()
		running.Wait()
		if err := f.Replica.Leave(context.Background()); err != nil {
			t.Errorf("leave the replicas: %v", err)
		}
		if err := index.Close(); err != nil {
			t.Errorf("close the index: %v", err)
		}
		if err := store.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	t.Cleanup(f.Close)
	return f
}

// Defer has services that are made from now on take the index for one of another server. What
// writes don't wait for is brought to it by queries alone.
func (f *Fixture) Defer() {
	ix := Remote{f.Index}
	f.Indexes = map[port.Retriever]port.Index{port.Vector: ix, port.Keyword: ix, port.SparseTerms: ix}
	f.Projector = ingest.NewProjector(f.Store, []port.Index{ix}, "coretest", f.Log)
	f.Changes = ingest.NewLog(f.Store, f.Projector)
	f.Searcher.Indexes, f.Searcher.Projector = f.Indexes, f.Projector
}

// Caller makes a key as its zero fields' defaults say, in organization "default"
// where none is named, and returns the context of a call that presents it.
func (f *Fixture) Caller(in key.Issue) context.Context {
	f.t.Helper()
	ctx := context.Background()
	if in.Name == "" {
		in.Name = "test"
	}
	in.Kind = cmp.Or(in.Kind, ident.Service)
	if in.Org != "" {
		if _, err := f.Keys.Organization(ctx, in.Org); err != nil {
			if _, err := f.Keys.CreateOrganization(ctx, in.Org); err != nil {
				f.t.Fatalf("create organization %s: %v", in.Org, err)
			}
		}
	}
	issued, err := f.Keys.Issue(ctx, in)
	if err != nil {
		f.t.Fatalf("issue a key: %v", err)
	}
	family := op.Namespace
	switch in.Kind {
	case ident.Admin:
		family = op.Administration
	case ident.Integration, ident.Personal:
		family = op.Memory
	}
	who, err := f.Keys.Verify(ctx, issued.Secret, family)
	if err != nil {
		f.t.Fatalf("verify the key: %v", err)
	}
	return ident.WithRequestID(ident.WithPrincipal(ctx, who), "req_test")
}

// Integration is Caller with a key of an integration that has every scope and no
// quotas, made when it is first named.
func (f *Fixture) Integration(name string) context.Context {
	f.t.Helper()
	return f.Caller(key.Issue{
		Name:        name,
		Kind:        ident.Integration,
		Integration: name,
		Scopes:      []ident.Scope{ident.MemoriesRead, ident.MemoriesWrite, ident.RecallRead, ident.UsersErase},
		Quotas:      &ident.Quotas{},
	})
}

// Call calls a service as the transports do: what the request checks of itself is
// checked first.
func Call[In, Out any](ctx context.Context, fn func(context.Context, In) (Out, error), in In) (Out, error) {
	if err := op.Check(&in); err != nil {
		var none Out
		return none, err
	}
	return fn(ctx, in)
}
