package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// BuildIndexes brings every index up to date with the store, as the first searches of
// each partition would: after another index was configured it has everything
// before a server is to search it. Progress is told the documents of the partitions
// that are done and of all. It changes nothing in the store, and building again is
// quick where nothing was written since.
func (e *Engine) BuildIndexes(ctx context.Context, progress func(done, total int)) (partitions, documents int, err error) {
	var all []port.PartitionEntry
	err = e.store.View(ctx, func(r reader) error {
		all = nil
		survey, ok := r.(port.PartitionLister)
		if !ok {
			return errors.New("the store cannot list its partitions")
		}
		orgs, err := r.Organizations(ctx)
		if err != nil {
			return err
		}
		for _, o := range orgs {
			var after port.Partition
			for {
				page, err := survey.Partitions(ctx, o.ID, after, surveyPage)
				if err != nil {
					return err
				}
				all = append(all, page...)
				if len(page) < surveyPage {
					break
				}
				after = page[len(page)-1].Partition
			}
		}
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("list what is to be indexed: %w", err)
	}
	total := 0
	for _, h := range all {
		total += int(h.Row.Documents)
	}
	for _, h := range all {
		progress(documents, total)
		if h.Row.Documents == 0 || !h.Row.Erasing.IsZero() {
			continue
		}
		err := e.projector.Ensure(ctx, h.Partition, h.Row.Seq)
		if fault.IsPartitionNotFound(err) {
			continue // deleted in the meantime
		}
		if err != nil {
			return partitions, documents, fmt.Errorf("index %s: %w", h.Partition, err)
		}
		partitions++
		documents += int(h.Row.Documents)
	}
	progress(total, total)
	return partitions, documents, nil
}

// surveyPage is how many partitions are listed at once.
const surveyPage = 500
