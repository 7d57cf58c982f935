package audit

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
)

// Recording is a store whose first transaction that changes a row, under an entry that the
// context carries, stores the entry's record, too. An entry's record is committed once at most.
func Recording(s port.DocumentStore) port.DocumentStore { return &recording{s} }

type recording struct{ port.DocumentStore }

// Update implements port.Store.
func (s *recording) Update(ctx context.Context, fn func(port.Writer) error) error {
	return record(ctx, s.DocumentStore.Update, fn)
}

// UpdateDocuments implements port.DocumentStore.
func (s *recording) UpdateDocuments(ctx context.Context, fn func(port.DocumentWriter) error) error {
	return record(ctx, s.DocumentStore.UpdateDocuments, fn)
}

func record[W port.AuditWriter](ctx context.Context, update func(context.Context, func(W) error) error,
	fn func(W) error) (err error) {
	e := port.AuditOf(ctx)
	if e == nil || !e.Take() {
		return update(ctx, fn)
	}
	appended, committed := false, false
	defer func() { e.Settle(appended && committed) }() // whether or not fn panics
	err = update(ctx, func(w W) error {
		appended = false
		if err := fn(w); err != nil || !w.Changed() {
			return err
		}
		if err := w.AppendAudit(ctx, stamped(e.Record())); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return unrecorded(err)
		}
		appended = true
		return nil
	})
	committed = err == nil
	return err
}

// Scrub is the optional ability of the store behind.
func (s *recording) Scrub(ctx context.Context) error {
	if x, ok := s.DocumentStore.(port.Scrubber); ok {
		return x.Scrub(ctx)
	}
	return nil
}

// Exclusive is the optional ability of the store behind.
func (s *recording) Exclusive() bool {
	x, ok := s.DocumentStore.(port.Exclusive)
	return ok && x.Exclusive()
}

var (
	_ port.DocumentStore = (*recording)(nil)
	_ port.Scrubber      = (*recording)(nil)
	_ port.Exclusive     = (*recording)(nil)
)
