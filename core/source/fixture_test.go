package source_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/text"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/source"
)

// shelf is an upstream whose contents the test decides, with its connector.
type shelf struct {
	mu       sync.Mutex
	items    map[string]string // text by key
	failing  map[string]error  // of a fetch
	problem  *port.SourceProblem
	err      error                       // of a listing
	open     bool                        // a listing ends without Complete
	partial  bool                        // a listing is no snapshot
	before   func(context.Context) error // of the end of a listing
	at       func(ctx context.Context, key string) error
	fetched  []string
	states   []string // that listings began from
	kind     string
	changes  []string // keys by change, of an incremental kind
	everyOne bool     // a checkpoint after each item
	mark     string   // of versions
	inline   bool     // items bring their contents along
	secrets  map[string]string
	with     []string                                     // tokens that items were fetched with
	conn     func(context.Context, port.Connection) error // what else a listing does with its connection
	revokes  bool                                         // it gives grants back
	revoked  []port.Connection                            // with which
	revoke   error                                        // of giving one back
}

func (s *shelf) set(fn func(*shelf)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn(s)
}

func (s *shelf) put(key, body string) {
	s.set(func(s *shelf) { s.items[key] = body; s.changes = append(s.changes, key) })
}

func (s *shelf) drop(keys ...string) {
	s.set(func(s *shelf) {
		for _, k := range keys {
			delete(s.items, k)
			s.changes = append(s.changes, k)
		}
	})
}

// took answers what was fetched since the last time.
func (s *shelf) took() (keys []string) {
	s.set(func(s *shelf) { keys, s.fetched = s.fetched, nil })
	slices.Sort(keys)
	return keys
}

func (s *shelf) Kind() port.SourceKind {
	return port.SourceKind{Name: s.kind, Title: "Shelf", Summary: "Of a test.", Incremental: s.kind == "ledger",
		Revokes: s.revokes,
		Config: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","minLength":1},"depth":` +
			`{"type":"integer"}},` +
			`"required":["path"],"additionalProperties":false}`),
		Secrets: json.RawMessage(`{"type":"object","properties":{"token":{"type":"string","minLength":3}},` +
			`"additionalProperties":false}`)}
}

func (s *shelf) Check(_ context.Context, c port.Connection) ([]port.SourceFieldProblem, error) {
	if string(c.Config) == `{"path":"bad"}` {
		return []port.SourceFieldProblem{{Field: "config.path", Message: "is not there"}}, nil
	}
	return nil, s.err
}

func (s *shelf) List(ctx context.Context, c port.Connection, state []byte, l port.SourceListing) error {
	s.mu.Lock()
	keys, items := slices.Sorted(maps.Keys(s.items)), maps.Clone(s.items)
	changes, err, problem := slices.Clone(s.changes), s.err, s.problem
	s.states, s.secrets = append(s.states, string(state)), c.Secrets
	at, before, conn, mark := s.at, s.before, s.conn, s.mark
	s.mu.Unlock()
	if conn != nil {
		if err := conn(ctx, c); err != nil {
			return err
		}
	}
	from, err2 := strconv.Atoi(string(state))
	incremental := s.kind == "ledger" && err2 == nil
	if incremental {
		keys = changes[from:]
	} else if state != nil {
		after, found := slices.BinarySearch(keys, string(state)) // it may have gone since
		if found {
			after++
		}
		keys = keys[after:]
	}
	for n, k := range keys {
		body, there := items[k]
		if at != nil {
			if err := at(ctx, k); err != nil {
				return err
			}
		}
		var err error
		if !there {
			err = l.Gone(ctx, k)
		} else {
			item := port.SourceItem{Key: k, Version: fmt.Sprintf("%s%x", mark, sha256.Sum256([]byte(body))),
				Name: "Name of " + k, Size: int64(len(body))}
			if s.inline {
				item.Content = &port.SourceContent{File: port.File{Name: "x.txt", Content: []byte(body)}}
			}
			err = l.Item(ctx, item)
		}
		if err == nil && s.everyOne {
			upTo := k
			if incremental {
				upTo = strconv.Itoa(from + n + 1)
			}
			err = l.Checkpoint(ctx, []byte(upTo))
		}
		if err != nil {
			return err
		}
	}
	if problem != nil {
		if err := l.Problem(ctx, *problem); err != nil {
			return err
		}
	}
	if before != nil {
		if err := before(ctx); err != nil {
			return err
		}
	}
	if err != nil || s.open {
		return err
	}
	if s.kind == "ledger" {
		if err := l.Checkpoint(ctx, []byte(strconv.Itoa(len(changes)))); err != nil {
			return err
		}
	}
	return l.Complete(ctx, !s.partial && !incremental)
}

func (s *shelf) Fetch(_ context.Context, c port.Connection, i port.SourceItem) (port.SourceContent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fetched, s.with = append(s.fetched, i.Key), append(s.with, c.Secrets["token"])
	if err := s.failing[i.Key]; err != nil {
		return port.SourceContent{}, err
	}
	return port.SourceContent{File: port.File{Name: "x.txt", Content: []byte(s.items[i.Key])},
		Metadata: map[string]any{"team": "shop"}}, nil
}

func (s *shelf) Revoke(_ context.Context, c port.Connection) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = append(s.revoked, c)
	return s.revoke
}

// clock is a clock that a test moves.
type clock struct {
	mu sync.Mutex
	d  time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.d)
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.d += d
}

// fixture is the service with a shelf, over a real store and index.
type fixture struct {
	testing.TB
	*coretest.Fixture
	ctx       context.Context
	svc       *source.Service
	documents *document.Service
	shelf     *shelf
	clock     *clock
	settings  source.Settings
	runs      *job.Runner
	stop      func() // of the runs
}

func newFixture(t testing.TB, change func(*source.Settings, *shelf)) *fixture {
	t.Helper()
	return openFixture(t, coretest.Options{}, change)
}

func openFixture(t testing.TB, o coretest.Options, change func(*source.Settings, *shelf)) *fixture {
	t.Helper()
	f := &fixture{TB: t, clock: &clock{}, shelf: &shelf{items: map[string]string{}, failing: map[string]error{}, kind: "shelf"}}
	o.Now = f.clock.now
	f.Fixture = coretest.New(t, o)
	f.documents = services.Documents(f.Fixture)
	f.ctx = f.Caller(key.Issue{})
	limits := extract.DefaultLimits()
	f.settings = source.Settings{
		Store: f.Store, Documents: f.documents, Extractor: extract.New(extract.Settings{Limits: limits}, text.New(limits)),
		Connectors: []port.Connector{f.shelf}, Pages: f.Pages, Beat: 20 * time.Millisecond, Tick: 10 * time.Millisecond,
		Now: f.clock.now, Log: f.Fixture.Log,
	}
	if change != nil {
		change(&f.settings, f.shelf)
	}
	f.begin()
	t.Cleanup(func() { f.stop() })
	return f
}

// begin makes the service, as a process that starts does.
func (f *fixture) begin() {
	f.Helper()
	f.runs = job.New(job.Settings{Store: f.Store, Replica: f.Replica, Workers: 2, Poll: 50 * time.Millisecond,
		Now: f.Now, Log: f.Fixture.Log})
	s := f.settings
	s.Jobs = f.runs
	var err error
	if f.svc, err = source.New(s); err != nil {
		f.Fatal(err)
	}
	background, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	svc, runs := f.svc, f.runs
	running.Go(func() { runs.Run(background) })
	running.Go(func() { svc.Run(background) })
	f.stop = sync.OnceFunc(func() { cancel(); running.Wait() })
}

func (f *fixture) fill(n int) {
	for i := range n {
		f.shelf.put("k"+strconv.Itoa(1000+i), "The hedge number "+strconv.Itoa(i)+" is cut in February.")
	}
}

func (f *fixture) create(in source.CreateSource) source.Source {
	f.Helper()
	if in.Name == "" {
		in.Name = "Docs"
	}
	if in.Kind == "" {
		in.Kind, in.Config = f.shelf.kind, json.RawMessage(`{"path":"a"}`)
	}
	if in.Namespace == "" {
		in.Namespace = "docs"
	}
	s, err := coretest.Call(f.ctx, f.svc.Create, in)
	if err != nil {
		f.Fatal(err)
	}
	return s
}

// idle waits until a source runs no more, and answers it.
func (f *fixture) idle(id string) source.Source {
	f.Helper()
	for {
		s, err := f.svc.Get(f.ctx, source.Ref{ID: id})
		if err != nil {
			f.Fatal(err)
		}
		if s.State != "syncing" {
			return s
		}
		f.wait()
	}
}

func (f *fixture) wait() {
	f.Helper()
	select {
	case <-f.Context().Done():
		f.Fatal("the test ended")
	case <-time.After(5 * time.Millisecond):
	}
}

// sync runs a source to its end.
func (f *fixture) sync(id string) source.Run {
	f.Helper()
	if _, err := coretest.Call(f.ctx, f.svc.Sync, source.SyncSource{Ref: source.Ref{ID: id}}); err != nil {
		f.Fatal(err)
	}
	return *f.idle(id).LastRun
}

// has answers the source's documents in the namespace, texts by path.
func (f *fixture) has(namespace string) map[string]string {
	f.Helper()
	limit := 1000
	list, err := coretest.Call(f.ctx, f.documents.List, document.ListDocuments{Namespace: namespace, Limit: &limit})
	if fault.CodeOf(err) == fault.NamespaceNotFound {
		return map[string]string{}
	}
	if err != nil {
		f.Fatal(err)
	}
	out := map[string]string{}
	for _, d := range list.Documents {
		whole, err := coretest.Call(f.ctx, f.documents.Get, document.GetDocument{Namespace: namespace, ID: d.ID})
		if err != nil {
			f.Fatal(err)
		}
		var m struct{ Path string }
		if err := json.Unmarshal(d.Metadata, &m); err != nil {
			f.Fatal(err)
		}
		out[m.Path] = whole.Text
	}
	return out
}

// inStep checks that the namespace holds what the shelf has and nothing else.
func (f *fixture) inStep(namespace string) {
	f.Helper()
	f.shelf.mu.Lock()
	want := maps.Clone(f.shelf.items)
	f.shelf.mu.Unlock()
	if got := f.has(namespace); !maps.Equal(got, want) {
		f.Errorf("the namespace holds %d documents, the source %d: %v, want %v", len(got), len(want), got, want)
	}
}

func (f *fixture) get(id string) source.Source {
	f.Helper()
	s, err := f.svc.Get(f.ctx, source.Ref{ID: id})
	if err != nil {
		f.Fatal(err)
	}
	return s
}

func (f *fixture) document(id string) document.Document {
	f.Helper()
	d, err := coretest.Call(f.ctx, f.documents.Get, document.GetDocument{Namespace: "docs", ID: id})
	if err != nil {
		f.Fatal(err)
	}
	return d
}

func (f *fixture) deleteNamespace(name string) {
	f.Helper()
	svc := namespace.New(f.Store, f.Pages, f.Models, f.Projector.Drop)
	if _, err := svc.Delete(f.ctx, namespace.Ref{Namespace: name}); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) counts(what string, r source.Run, status string, want port.SourceCounts) {
	f.Helper()
	if r.Status != status || r.Counts != want {
		f.Errorf("%s: %s %+v (%+v), want %s %+v", what, r.Status, r.Counts, r.Error, status, want)
	}
}

func (f *fixture) want(what string, err error, code fault.Code) {
	f.Helper()
	if fault.CodeOf(err) != code {
		f.Errorf("%s: %v, want %s", what, err, code)
	}
}

// keeper seals by wrapping in brackets, for tests of what is done with secrets.
type keeper struct{ off bool }

func (k *keeper) Seal(_ context.Context, at port.SealPlace, secret []byte) ([]byte, error) {
	if k.off {
		return nil, fault.Off("no key")
	}
	return []byte(at.Row + "/" + at.Name + "[" + string(secret) + "]"), nil
}

func (k *keeper) Open(_ context.Context, at port.SealPlace, sealed []byte) ([]byte, error) {
	head := at.Row + "/" + at.Name + "["
	if len(sealed) < len(head)+1 || string(sealed[:len(head)]) != head {
		return nil, errors.Join(port.ErrUnsealable, errors.New("moved"))
	}
	return sealed[len(head) : len(sealed)-1], nil
}
