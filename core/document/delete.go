package document

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// DeleteDocuments is the body of POST /namespaces/{namespace}/documents/delete.
type DeleteDocuments struct {
	Namespace string          `path:"namespace" json:"-" fault:"invalid_namespace" schema:"NamespaceName" doc:"name of the namespace"`
	IDs       *[]string       `json:"ids,omitempty" schema:"DocumentID" minItems:"1" maxItems:"1000" doc:"documents to delete; those that do not exist are skipped"`
	Filter    json.RawMessage `json:"filter,omitempty" schema:"Filter" doc:"deletes every document that it matches"`

	filter *filter.Filter
}

// JSONSchema implements op.Schemer.
func (in *DeleteDocuments) JSONSchema() string {
	return `{"if": {"required": ["ids"], "properties": {"ids": {"not": {"const": null}}}},
		"then": {"properties": {"filter": false}}, "else": {"required": ["filter"], "properties": {"filter": true}}}`
}

// Validate checks that there is exactly one way to choose documents.
func (in *DeleteDocuments) Validate() error {
	if (in.IDs != nil) == (len(in.Filter) > 0) {
		return fault.New(fault.InvalidRequest, "give either ids or filter")
	}
	if in.IDs != nil {
		return nil
	}
	if string(bytes.TrimSpace(in.Filter)) == "{}" {
		return fault.Field(fault.InvalidFilter, "filter", "has no condition; to delete every document, delete the namespace")
	}
	f, err := filter.Parse(in.Filter)
	in.filter = f
	return err
}

// NamespaceName is for keys limited to one namespace.
func (in *DeleteDocuments) NamespaceName() string { return in.Namespace }

// DeletedSome answers a deletion.
type DeletedSome struct {
	Deleted int  `json:"deleted" minimum:"0" doc:"documents removed by this call"`
	More    bool `json:"more" doc:"true: matches remain, repeat the call"`
}

// Delete removes documents by ids or by filter. Absent ids and an absent
// namespace are no error, so every call is safe to repeat.
func (s *Service) Delete(ctx context.Context, in DeleteDocuments) (DeletedSome, error) {
	who := ident.From(ctx)
	p := port.Documents(who.Org, in.Namespace)
	if in.filter != nil {
		return s.deleteMatching(ctx, p, in.filter)
	}
	n, _, err := s.remove(ctx, p, *in.IDs, nil)
	return DeletedSome{Deleted: n}, err
}

// remove deletes ids from the store and the indexes. With seen, only documents
// whose change number is still the one seen are deleted; kept counts the rest
// that still exist.
func (s *Service) remove(ctx context.Context, p port.Partition, ids []string,
	seen map[string]uint64) (deleted, kept int, err error) {
	err = s.changes.Write(ctx, ingest.CauseDelete, func(w *ingest.Tx) error {
		deleted, kept = 0, 0
		ns, err := w.Partition(ctx, p)
		if fault.IsPartitionNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if ns.State != port.Active {
			return ingest.ErrMoved // it has been reindexed since, so its change numbers are others
		}
		pinned := p.At(ns.Generation)
		heads, err := w.Documents(ctx, pinned, ids, 0)
		if err != nil {
			return err
		}
		var removed []string
		for _, h := range heads {
			if seen != nil && seen[h.ID] != h.Seq {
				kept++
				continue
			}
			removed = append(removed, h.ID)
		}
		deleted, err = w.Delete(ctx, pinned, s.now(), removed)
		return err
	})
	if err != nil && !errors.As(err, new(ingest.NotSearchable)) {
		deleted = 0
	}
	return deleted, kept, err
}

const (
	scanPage     = 1000
	removeBatch  = 1000
	maxConflicts = 5
)

// deleteMatching deletes whole documents that match, up to MaxDeleteRows
// chunks. Matching reads snapshots page by page and deletion is conditional on
// the change number seen, so a document rewritten in between is matched again.
func (s *Service) deleteMatching(ctx context.Context, p port.Partition, f *filter.Filter) (DeletedSome, error) {
	var out DeletedSome
	budget := MaxDeleteRows
	for round := 0; ; round++ {
		// Pin one generation, since change numbers of another are not comparable.
		err := s.store.View(ctx, func(r reader) error {
			ns, err := r.Partition(ctx, p.At(0))
			p = p.At(ns.Generation)
			return err
		})
		if fault.IsPartitionNotFound(err) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		matched, more, err := s.match(ctx, p, f, budget)
		if err != nil {
			return DeletedSome{}, err
		}
		rewritten := 0
		for len(matched) > 0 {
			n := min(removeBatch, len(matched))
			ids, seen := make([]string, n), make(map[string]uint64, n)
			chunks := map[string]int{}
			for i, h := range matched[:n] {
				ids[i], seen[h.ID], chunks[h.ID] = h.ID, h.Seq, h.ChunkCount
			}
			deleted, kept, err := s.remove(ctx, p, ids, seen)
			if errors.Is(err, ingest.ErrMoved) {
				rewritten++ // the whole remainder counts as rewritten
				break
			}
			if err != nil {
				return DeletedSome{}, err
			}
			out.Deleted += deleted
			rewritten += kept
			matched = matched[n:]
			for _, c := range chunks {
				budget -= c
			}
		}
		switch {
		case rewritten == 0 || budget <= 0:
			out.More = more
			if rewritten > 0 {
				out.More = true
			}
			return out, nil
		case round+1 == maxConflicts:
			return DeletedSome{}, fault.New(fault.Conflict,
				"documents that match were rewritten %d times during the call; %d were deleted, repeating the call is safe",
				maxConflicts, out.Deleted).After(time.Second)
		}
	}
}

// match collects matching documents of up to budget chunks; more says that
// others match as well. A single document larger than the budget is taken when
// it comes first, so that every call makes progress.
func (s *Service) match(ctx context.Context, p port.Partition, f *filter.Filter,
	budget int) (matched []port.DocumentHead, more bool, err error) {
	after := ""
	for {
		var list []port.DocumentHead
		err := s.store.View(ctx, func(r reader) (err error) {
			list, err = r.ListDocuments(ctx, p, port.DocumentList{
				Order:   port.ByID,
				AfterID: after,
				Limit:   scanPage,
				Parts:   port.PartMetadata,
			})
			return err
		})
		if fault.IsPartitionNotFound(err) {
			return matched, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		for _, h := range list {
			m, err := filter.ParseMetadata("metadata", h.Metadata)
			if err != nil {
				return nil, false, fmt.Errorf("stored metadata of %s: %w", h.ID, err)
			}
			if !f.Match(m) {
				continue
			}
			if len(matched) > 0 && budget < h.ChunkCount {
				return matched, true, nil
			}
			budget -= h.ChunkCount
			h.Metadata = nil
			matched = append(matched, h)
		}
		if len(list) < scanPage {
			return matched, false, nil
		}
		after = list[len(list)-1].ID
	}
}
