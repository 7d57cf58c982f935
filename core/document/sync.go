package document

import (
	"context"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// Within is what a source does in the transaction of its documents, so that what it says
// of its items and what is stored of them agree. It may run several times; its error rolls
// everything back. on is the namespace as it is after the change, pinned.
type Within func(w ingest.Writer, on port.Partition, out Written) error

// Sync is a write by in.Source, which takes what it keeps, what nobody does, and what was
// left of a source that is gone. progress is called while a model works.
func (s *Service) Sync(ctx context.Context, in WriteDocuments, within Within, progress func()) (Written, error) {
	for i := range in.Documents {
		d := &in.Documents[i]
		var err error
		if d.metadata, err = filter.ParseMetadata("metadata", d.Metadata); err != nil {
			return Written{}, err
		}
	}
	return s.write(ctx, in, task{within: within, progress: func(ingest.Progress) { progress() }})
}

// Withdraw deletes those of ids that a source keeps in a namespace, and runs within in the
// same transaction, even where there is none of them or no namespace; on is unpinned
// then. It answers how many were deleted.
func (s *Service) Withdraw(ctx context.Context, namespace, source string, ids []string, within Within) (int, error) {
	p := port.Documents(ident.From(ctx).Org, namespace)
	return ingest.Retry(ctx, func() (deleted int, err error) {
		err = s.changes.Write(ctx, ingest.CauseSync, func(w *ingest.Tx) error {
			deleted = 0
			on := p
			ns, err := w.Partition(ctx, p)
			switch {
			case fault.IsPartitionNotFound(err):
			case err != nil:
				return err
			case ns.PausedUntil.After(s.now()):
				return ingest.ErrPaused
			default:
				on = p.At(ns.Generation)
				if deleted, err = deleteKept(ctx, w, on, s.now().UTC(), source, ids); err != nil {
					return err
				}
			}
			return within(w, on, Written{Namespace: namespace})
		})
		return deleted, err
	})
}
