package reindex_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/reindex"
)

// rebuilder is a service that is told what to answer.
type rebuilder struct {
	documents int
	needed    bool
	refused   error
	reindex   func(ctx context.Context, run reindex.Run) (reindex.Result, error)
	discarded []port.Partition
}

func (r *rebuilder) CheckReindex(context.Context, port.Partition, reindex.Request) (int, bool, error) {
	return r.documents, r.needed, r.refused
}

func (r *rebuilder) Reindex(ctx context.Context, _ port.Partition, run reindex.Run) (reindex.Result, error) {
	return r.reindex(ctx, run)
}

func (r *rebuilder) Discard(_ context.Context, p port.Partition) (bool, error) {
	r.discarded = append(r.discarded, p)
	return true, nil
}

type bed struct {
	*coretest.Fixture
	*testing.T
	*reindex.Service
	namespaces, endUsers *rebuilder
	docs, ann            port.Partition
}

func open(t *testing.T) *bed { return openWith(t, reindex.Settings{}) }

// openWith is open with Shared, Prefetch and Log of its settings.
func openWith(t *testing.T, s reindex.Settings) *bed {
	b := &bed{Fixture: coretest.New(t, coretest.Options{}), T: t, namespaces: &rebuilder{}, endUsers: &rebuilder{}}
	s.Store, s.Jobs, s.Encoders, s.Projector = b.Store, b.Jobs, b.Encoders, b.Projector
	s.Namespaces, s.EndUsers = b.namespaces, b.endUsers
	if s.Log == nil {
		s.Log = b.Log
	}
	b.Service = reindex.New(s)
	org := ident.From(b.Caller(key.Issue{})).Org
	b.docs, b.ann = port.Documents(org, "docs"), port.Memories(org, "int_1", "docs")
	return b
}

// becomes waits until a reindexing has a status.
func (b *bed) becomes(p port.Partition, status string) reindex.State {
	b.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		s, known, err := b.State(b.Context(), p)
		if err != nil || !known || time.Since(began) > time.Minute {
			b.Fatalf("waiting until %s is %s: %+v, %v, %v", p, status, s, known, err)
		}
		if s.Status == status {
			return s
		}
	}
}

// A reindexing goes through its states one after the other, with what it counts, and
// another one of the same partition is joined while it is under way.
func TestStates(t *testing.T) {
	b := open(t)
	if s, known, err := b.State(t.Context(), b.docs); known || err != nil {
		t.Errorf("before any: %+v, %v, %v", s, known, err)
	}
	counts, goOn := make(chan [2]int), make(chan reindex.Result)
	asked := reindex.Request{Force: true, Hold: true, Queries: []string{"why"}, MinOverlap: .5}
	b.namespaces.documents, b.namespaces.needed = 7, true
	b.namespaces.reindex = func(ctx context.Context, run reindex.Run) (reindex.Result, error) {
		if d := cmp.Diff(asked, run.Request); d != "" || run.Resumed {
			t.Errorf("resumed %v, asked for %s", run.Resumed, d)
		}
		c := <-counts
		run.Progress(c[0], c[1])
		return <-goOn, nil
	}
	b.endUsers.documents, b.endUsers.needed = 2, true
	b.endUsers.reindex = func(_ context.Context, run reindex.Run) (reindex.Result, error) {
		return reindex.Result{}, fault.New(fault.Upstream, "the model answers nonsense")
	}
	s, err := b.Start(t.Context(), b.docs.At(9), asked)
	if err != nil || s.Status != reindex.Waiting || s.Total != 7 {
		t.Fatalf("begun: %+v, %v", s, err)
	}
	b.becomes(b.docs, reindex.Running)
	if s, err := b.Start(t.Context(), b.ann, reindex.Request{}); err != nil || s.Status != reindex.Waiting {
		t.Fatalf("one at a time: %+v, %v", s, err)
	}
	counts <- [2]int{3, 8}
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if s := b.becomes(b.docs, reindex.Running); s.Done == 3 && s.Total == 8 {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatal("progress is not shown")
		}
	}
	b.namespaces.needed = false // of what another call asks for
	if s, err := b.Start(t.Context(), b.docs, reindex.Request{}); err != nil || s.Status != reindex.Running || s.Done != 3 {
		t.Errorf("joined %+v, %v", s, err)
	}
	if _, err := b.Discard(t.Context(), b.docs); fault.CodeOf(err) != fault.Conflict || len(b.namespaces.discarded) != 0 {
		t.Errorf("discarded while it is under way: %v, %v", err, b.namespaces.discarded)
	}
	half := .5
	result := reindex.Result{Documents: 8, Chunks: 20, Held: true,
		Comparison: &reindex.Comparison{Queries: 1, Overlap: .4, FoundBefore: &half}}
	goOn <- result
	if s := b.becomes(b.docs, reindex.Held); cmp.Diff(result, s.Result) != "" || s.Done != 8 || s.Error != nil {
		t.Errorf("ended as %+v", s)
	}
	failed := b.becomes(b.ann, reindex.Failed)
	if d := cmp.Diff(&port.JobError{Code: string(fault.Upstream), Message: "the model answers nonsense"}, failed.Error); d != "" {
		t.Error(d)
	}
	if ok, err := b.Discard(t.Context(), b.docs); !ok || err != nil || len(b.namespaces.discarded) != 1 {
		t.Errorf("discarded: %v, %v, %v", ok, err, b.namespaces.discarded)
	}
	if s, err := b.Start(t.Context(), b.docs, reindex.Request{}); err != nil || s.Status != reindex.Unchanged || s.Total != 0 {
		t.Errorf("nothing to do: %+v, %v", s, err)
	}
	b.namespaces.refused = fault.New(fault.NamespaceNotFound, "no documents")
	if _, err := b.Start(t.Context(), b.docs, asked); fault.CodeOf(err) != fault.NamespaceNotFound {
		t.Errorf("refused with %v", err)
	}
}

// What a rebuilder finishes in its own transaction has ended with it, and what that
// transaction does not keep has not.
func TestFinish(t *testing.T) {
	b := open(t)
	for _, c := range []struct {
		name   string
		finish bool
		result reindex.Result
		fails  error
		want   string
	}{
		{"in its transaction", true, reindex.Result{Documents: 3, Chunks: 4}, nil, reindex.Succeeded},
		{"without one", false, reindex.Result{Unchanged: true}, nil, reindex.Unchanged},
		{"rolled back", true, reindex.Result{Documents: 3}, errors.New("the disk is full"), reindex.Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.namespaces.needed = true
			b.namespaces.reindex = func(ctx context.Context, run reindex.Run) (reindex.Result, error) {
				if !c.finish {
					return c.result, nil
				}
				return c.result, b.Store.Update(ctx, func(w port.Writer) error {
					return errors.Join(run.Finish(ctx, w, c.result), c.fails)
				})
			}
			p := port.Documents(b.docs.Org(), c.name)
			if _, err := b.Start(t.Context(), p, reindex.Request{}); err != nil {
				t.Fatal(err)
			}
			s := b.becomes(p, c.want)
			if c.fails == nil {
				if d := cmp.Diff(c.result, s.Result); d != "" {
					t.Error(d)
				}
			} else if s.Error == nil || s.Error.Code != string(fault.Internal) {
				t.Errorf("failed with %+v", s.Error)
			}
		})
	}
	b.namespaces.reindex = func(context.Context, reindex.Run) (reindex.Result, error) {
		b.Store.OnJobUpdate.Set(func() error {
			b.Store.OnJobUpdate.Clear()
			return errors.New("the disk is full")
		})
		return reindex.Result{Documents: 3}, nil
	}
	p := port.Documents(b.docs.Org(), "not stored")
	if _, err := b.Start(t.Context(), p, reindex.Request{}); err != nil {
		t.Fatal(err)
	}
	if s := b.becomes(p, reindex.Failed); s.Error == nil || s.Error.Code != string(fault.Internal) {
		t.Errorf("an end that the store does not take: %+v", s)
	}
	jobs := map[port.Partition]string{b.docs: reindex.NamespaceKind, b.ann: reindex.EndUserKind}
	b.endUsers.needed, b.endUsers.reindex = true, b.namespaces.reindex
	for p, kind := range jobs {
		if _, err := b.Start(t.Context(), p, reindex.Request{}); err != nil {
			t.Fatal(err)
		}
		if _, known, err := b.Jobs.Latest(t.Context(), kind, p); !known || err != nil {
			t.Errorf("of %s there is no job of kind %s: %v", p, kind, err)
		}
	}
}
