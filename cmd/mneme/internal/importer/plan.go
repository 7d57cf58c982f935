package importer

import (
	"context"
	"errors"
)

// Plan is what a run would do with a file.
type Plan struct {
	File      string
	Reason    string // new, changed, or why it is skipped or not imported
	Skipped   bool
	Documents int
	Problems  []string
}

// Plan reads the files and says what Run would do with each; nothing is written.
func (im *Importer) Plan(ctx context.Context, files []File, emit func(Plan)) error {
	r := &run{Importer: im.defaults(), ctx: ctx}
	for _, f := range files {
		from, known := r.State.Mark(f.Name)
		plan := Plan{File: f.Name, Reason: "is new"}
		owner := r.Others.owner(f)
		switch {
		case owner != "" && !known:
			plan.Problems = []string{claimed(f, owner).Error()}
		case known && r.skip(f, &from):
			plan.Skipped, plan.Reason = true, "is unchanged since an earlier import"
			if from.Failed > 0 {
				plan.Problems = r.State.Problems(f.Name)
			}
		case known:
			plan.Reason = "has changed"
			if from.Sum == "" {
				plan.Reason = "was not imported whole"
			}
		}
		if plan.Skipped || plan.Problems != nil {
			emit(plan)
			continue
		}
		err := f.Read(ctx, Mark{}, func(it Item) error {
			if it.Record != nil {
				plan.Documents++
			}
			if it.Problem != nil {
				plan.Problems = append(plan.Problems, it.Problem.Error())
			}
			return nil
		})
		var bad *Problem
		if errors.As(err, &bad) {
			plan.Problems = append(plan.Problems, bad.Error())
		} else if err != nil {
			return err
		}
		emit(plan)
	}
	return nil
}
