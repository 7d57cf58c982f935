package source

import (
	"context"
	"errors"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// sweepPage is how many items a sweep reads at once.
const sweepPage = 1000

// sweep removes the items that are gone, with their documents: those that the listing has
// named so and, where it was a snapshot, those that it has not named. It answers how many
// documents the guard has kept instead.
func (w *worker) sweep(ctx context.Context, snapshot bool) (withheld int64, err error) {
	gone := w.gone
	if snapshot {
		gone = roaring.New() // what was named so, and then listed, is there
	}
	documents := int64(0)
	if err := w.eachItem(ctx, port.SourceItemList{}, func(rows []port.SourceItemRow) error {
		for _, row := range rows {
			n := uint32(row.Number)
			if snapshot && !w.seen.Contains(n) {
				gone.Add(n)
			}
			if gone.Contains(n) {
				documents += int64(row.Documents)
			}
		}
		return nil
	}); err != nil || gone.IsEmpty() {
		return 0, err
	}
	total, err := w.total(ctx)
	if err != nil {
		return 0, err
	}
	a := absence{documents: total, gone: documents, listed: w.seen.GetCardinality(), snapshot: snapshot, allowed: w.params.Max}
	if a.withheld() {
		return documents, w.recordWithheld(ctx, gone)
	}
	return 0, w.eachItem(ctx, port.SourceItemList{}, func(rows []port.SourceItemRow) error {
		away := rows[:0]
		for _, row := range rows {
			if gone.Contains(uint32(row.Number)) {
				away = append(away, row)
			}
		}
		for len(away) > 0 {
			some := away[:min(len(away), pageItems)]
			away = away[len(some):]
			if err := w.remove(ctx, some, snapshot); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachItem reads the items of the source that l selects page by page.
func (w *worker) eachItem(ctx context.Context, l port.SourceItemList, fn func([]port.SourceItemRow) error) error {
	for l.Limit = sweepPage; ; {
		var rows []port.SourceItemRow
		err := w.store.View(ctx, func(r reader) (err error) {
			rows, err = r.ListSourceItems(ctx, w.source.Org, w.source.ID, l)
			return err
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		w.touch()
		l.From = rows[len(rows)-1].Number + 1 // before fn, which may reorder them
		if err := fn(rows); err != nil {
			return err
		}
	}
}

// total is how many documents the source has.
func (w *worker) total(ctx context.Context) (n int64, err error) {
	err = w.store.View(ctx, func(r reader) error {
		row, err := r.Source(ctx, w.source.Org, w.source.ID)
		n = row.Documents
		return err
	})
	return n, err
}

// recordWithheld names the items whose documents are kept although they are gone.
func (w *worker) recordWithheld(ctx context.Context, gone *roaring.Bitmap) error {
	return w.eachItem(ctx, port.SourceItemList{}, func(rows []port.SourceItemRow) error {
		var items []port.SourceRunItem
		for _, row := range rows {
			if gone.Contains(uint32(row.Number)) && row.Documents > 0 {
				items = append(items, port.SourceRunItem{Place: row.Number, Key: row.Key, Status: "withheld",
					Document: documentID(w.source.ID, row.KeyHash, 1)})
			}
		}
		if len(items) == 0 {
			return nil
		}
		var o outcome
		err := w.store.Update(ctx, func(tx writer) error {
			o = w.note()
			o.items = append(o.items, items...)
			return w.commit(ctx, tx, &o, nil)
		})
		if err == nil {
			w.adopt(&o)
		}
		return err
	})
}

// remove deletes items with their documents. Those that are unmarked alone are let be where
// they have been marked in the meantime.
func (w *worker) remove(ctx context.Context, rows []port.SourceItemRow, unmarked bool) error {
	err := w.tryRemove(ctx, rows, unmarked)
	for tries := 1; errors.Is(err, errMoved) && tries < maxMoved; tries++ {
		if rows, err = w.stillThere(ctx, rows, unmarked); err != nil || len(rows) == 0 {
			return err
		}
		err = w.tryRemove(ctx, rows, unmarked)
	}
	return err
}

// stillThere reads those of the rows again that are to be removed.
func (w *worker) stillThere(ctx context.Context, rows []port.SourceItemRow,
	unmarked bool) (left []port.SourceItemRow, err error) {
	err = w.store.View(ctx, func(r reader) error {
		left = nil
		hashes := make([][32]byte, len(rows))
		for i := range rows {
			hashes[i] = rows[i].KeyHash
		}
		found, err := r.SourceItems(ctx, w.source.Org, w.source.ID, hashes)
		if err != nil {
			return err
		}
		marked := roaring.New()
		if unmarked {
			run, err := r.SourceRun(ctx, w.source.Org, w.source.ID, w.run.ID)
			if err != nil {
				return err
			}
			if marked, err = marks(run); err != nil {
				return err
			}
		}
		for _, row := range rows {
			is, kept := found[row.KeyHash]
			if kept && (!unmarked || is.Number == row.Number && !marked.Contains(uint32(is.Number))) {
				left = append(left, is)
			}
		}
		return nil
	})
	return left, err
}

func (w *worker) tryRemove(ctx context.Context, rows []port.SourceItemRow, unmarked bool) error {
	var o outcome
	err := w.withdraw(ctx, w.source, rows, func(tx wide, _ port.SourceRow) error {
		o = w.note()
		for _, row := range rows {
			o.counts.Deleted += int64(row.Documents)
			o.items = append(o.items, port.SourceRunItem{Place: row.Number, Key: row.Key, Status: "deleted"})
		}
		return w.commit(ctx, tx, &o, func(_ *port.SourceRow, run *port.SourceRun) error {
			if !unmarked || w.source.Kind != pushKind {
				return nil
			}
			marked, err := marks(*run)
			for _, row := range rows {
				if err == nil && marked.Contains(uint32(row.Number)) {
					err = errMoved // a call has brought it since it was looked for
				}
			}
			return err
		})
	})
	if err == nil {
		w.adopt(&o)
	}
	return err
}

// withdraw deletes items of a source with their documents in one transaction, in which
// within comes last, with the source as it is then.
func (s *Service) withdraw(ctx context.Context, source port.SourceRow, rows []port.SourceItemRow,
	within func(wide, port.SourceRow) error) error {
	var ids []string
	numbers := make([]int64, len(rows))
	documents := 0
	for i, row := range rows {
		numbers[i] = row.Number
		documents += row.Documents
		for n := range row.Documents {
			ids = append(ids, documentID(source.ID, row.KeyHash, n+1))
		}
	}
	_, err := s.documents.Withdraw(acting(ctx, source.Org), source.Namespace, source.ID, ids,
		func(tx ingest.Writer, _ port.Partition, _ document.Written) error {
			is, err := tx.Source(ctx, source.Org, source.ID)
			if err != nil {
				return err
			}
			if err := s.unmoved(ctx, tx, source, rows); err != nil {
				return err
			}
			is.Items -= int64(len(rows))
			is.Documents -= int64(documents)
			if err := tx.PutSource(ctx, is); err != nil {
				return err
			}
			if err := tx.DeleteSourceItems(ctx, source.Org, source.ID, numbers); err != nil {
				return err
			}
			return within(tx, is)
		})
	if late := (ingest.NotSearchable{}); errors.As(err, &late) {
		s.log.WarnContext(ctx, "deletions of source not searchable yet", "source", source.ID, "error", err)
		err = nil
	}
	return err
}
