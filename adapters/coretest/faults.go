package coretest

import (
	"context"
	"sync/atomic"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Hook is a function that a test puts in the way of a part, and takes away again,
// while others use the part. Its error is the part's.
type Hook[F any] struct{ fn atomic.Pointer[F] }

// Set puts fn in the way.
func (h *Hook[F]) Set(fn F) { h.fn.Store(&fn) }

// Clear takes the function away.
func (h *Hook[F]) Clear() { h.fn.Store(nil) }

// Take takes the function away and gives it; false: there was none.
func (h *Hook[F]) Take() (fn F, ok bool) {
	if p := h.fn.Swap(nil); p != nil {
		return *p, true
	}
	return fn, false
}

func (h *Hook[F]) get() (fn F, ok bool) {
	if p := h.fn.Load(); p != nil {
		return *p, true
	}
	return fn, false
}

func run(h *Hook[func() error]) error {
	if fn, ok := h.get(); ok {
		return fn()
	}
	return nil
}

// Store is a store that a test can hold up or break. Each hook runs before the
// method that it is named for.
type Store struct {
	port.DocumentStore
	OnPing             Hook[func() error]
	OnUpdate           Hook[func() error] // of a call, which has a request id; UpdateDocuments too
	OnJobUpdate        Hook[func() error] // of a background job
	OnBackgroundUpdate Hook[func() error] // of all others
	OnView             Hook[func() error] // of anything
	OnCallView         Hook[func() error] // of a call, after OnView
	OnScrub            Hook[func() error]
}

// FailUpdates has every Update of a call fail from the one after n.
func (s *Store) FailUpdates(n int, err error) { s.OnUpdate.Set(failAfter(n, err)) }

// FailJobUpdates has every Update of a background job fail from the one after n.
func (s *Store) FailJobUpdates(n int, err error) { s.OnJobUpdate.Set(failAfter(n, err)) }

func failAfter(n int, err error) func() error {
	var calls atomic.Int64
	return func() error {
		if calls.Add(1) > int64(n) {
			return err
		}
		return nil
	}
}

// Ping implements port.Store.
func (s *Store) Ping(ctx context.Context) error {
	if err := run(&s.OnPing); err != nil {
		return err
	}
	return s.DocumentStore.Ping(ctx)
}

// Update implements port.Store.
func (s *Store) Update(ctx context.Context, fn func(port.Writer) error) error {
	return s.UpdateDocuments(ctx, func(w port.DocumentWriter) error { return fn(w) })
}

// UpdateDocuments implements port.DocumentStore.
func (s *Store) UpdateDocuments(ctx context.Context, fn func(port.DocumentWriter) error) error {
	hook := &s.OnBackgroundUpdate
	switch {
	case ident.Job(ctx) != "":
		hook = &s.OnJobUpdate
	case ident.RequestID(ctx) != "":
		hook = &s.OnUpdate
	}
	if err := run(hook); err != nil {
		return err
	}
	return s.DocumentStore.UpdateDocuments(ctx, fn)
}

// View implements port.Store.
func (s *Store) View(ctx context.Context, fn func(port.Reader) error) error {
	if err := run(&s.OnView); err != nil {
		return err
	}
	if ident.RequestID(ctx) != "" {
		if err := run(&s.OnCallView); err != nil {
			return err
		}
	}
	return s.DocumentStore.View(ctx, fn)
}

// Scrub is the optional ability of the store behind.
func (s *Store) Scrub(ctx context.Context) error {
	if err := run(&s.OnScrub); err != nil {
		return err
	}
	if s, ok := s.DocumentStore.(port.Scrubber); ok {
		return s.Scrub(ctx)
	}
	return nil
}

// Exclusive is the optional ability of the store behind.
func (s *Store) Exclusive() bool {
	x, ok := s.DocumentStore.(port.Exclusive)
	return ok && x.Exclusive()
}

// Index is an index that a test can hold up or break.
type Index struct {
	port.Index
	*IndexHooks
}

// IndexHooks run before the methods that they are named for. Several indexes may
// share them.
type IndexHooks struct {
	OnSearch Hook[func(ctx context.Context, p port.Partition, q port.IndexQuery) error]
	OnApply  Hook[func() error]
	OnDrop   Hook[func() error]
}

// Remote is an Index to which a batch costs much.
type Remote struct{ *Index }

// BatchDocuments is that of the index behind, if it has one.
func (r Remote) BatchDocuments() int {
	if b, ok := r.Index.Index.(port.Bulky); ok {
		return b.BatchDocuments()
	}
	return 1000
}

// Search implements port.Index.
func (x *Index) Search(ctx context.Context, p port.Partition, q port.IndexQuery) ([]port.Hit, error) {
	if search, ok := x.OnSearch.get(); ok {
		if err := search(ctx, p, q); err != nil {
			return nil, err
		}
	}
	return x.Index.Search(ctx, p, q)
}

// Apply implements port.Index.
func (x *Index) Apply(ctx context.Context, p port.Partition, b port.Batch) error {
	if err := run(&x.OnApply); err != nil {
		return err
	}
	return x.Index.Apply(ctx, p, b)
}

// Drop implements port.Index.
func (x *Index) Drop(ctx context.Context, p port.Partition) error {
	if err := run(&x.OnDrop); err != nil {
		return err
	}
	return x.Index.Drop(ctx, p)
}

// RanksOnly lets an index that only ranks say so.
func (x *Index) RanksOnly(r port.Retriever) bool {
	ranker, ok := x.Index.(port.Ranker)
	return ok && ranker.RanksOnly(r)
}

// MayLag lets an index that may lag say so.
func (x *Index) MayLag() bool {
	l, ok := x.Index.(port.Lagging)
	return ok && l.MayLag()
}

// Spans lets an index that highlights do so.
func (x *Index) Spans(query, text port.Wording) []port.Span {
	if h, ok := x.Index.(port.Highlighter); ok {
		return h.Spans(query, text)
	}
	return nil
}

// Retain is the optional ability of the index behind.
func (x *Index) Retain(live []int64) error {
	if r, ok := x.Index.(interface{ Retain([]int64) error }); ok {
		return r.Retain(live)
	}
	return nil
}

var (
	_ port.DocumentStore = (*Store)(nil)
	_ port.Scrubber      = (*Store)(nil)
	_ port.Exclusive     = (*Store)(nil)
	_ port.Index         = (*Index)(nil)
	_ port.Bulky         = Remote{}
)
