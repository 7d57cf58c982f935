package check

import (
	"context"
	"slices"

	"github.com/mnemehq/mneme/core/fault"
)

// Outcome is a saved query with what it finds now.
type Outcome struct {
	Name     string   `json:"name"`
	Query    string   `json:"query"`
	Passed   bool     `json:"passed" doc:"every document that it should find is among the first"`
	Missing  []string `json:"missing" doc:"ids of expected documents that are not among the first"`
	Found    []string `json:"found" doc:"ids of the first documents, best first"`
	Came     []string `json:"came" doc:"ids among the first now that were not when it was saved"`
	Left     []string `json:"left" doc:"ids among the first when it was saved that are not now"`
	Changed  bool     `json:"changed" doc:"the first documents are others than when it was saved, or in another order"`
	Degraded []string `json:"degraded" doc:"parts left out of the answer"`
	Error    *string  `json:"error" doc:"why it could not be asked, which does not pass; null: it was asked"`
}

// Report answers POST /namespaces/{namespace}/check.
type Report struct {
	Passed   int       `json:"passed" minimum:"0" doc:"how many pass"`
	Failed   int       `json:"failed" minimum:"0" doc:"how many do not"`
	Outcomes []Outcome `json:"outcomes" doc:"of every saved query, by name"`
}

// Run asks every saved query of a namespace and compares. It changes nothing.
func (s *Service) Run(ctx context.Context, in Ref) (Report, error) {
	all, err := s.all(ctx, in.Namespace)
	if err != nil {
		return Report{}, err
	}
	out := Report{Outcomes: []Outcome{}}
	for _, q := range all {
		o, err := s.run(ctx, in.Namespace, q)
		if err != nil {
			return Report{}, err
		}
		if o.Passed {
			out.Passed++
		} else {
			out.Failed++
		}
		out.Outcomes = append(out.Outcomes, o)
	}
	return out, nil
}

// run asks one. What is wrong with the query itself is its outcome: the models or the indexes may
// be others than when it was saved. Everything else fails the run.
func (s *Service) run(ctx context.Context, namespace string, q Saved) (Outcome, error) {
	o := Outcome{Name: q.Name, Query: q.Query, Missing: []string{}, Found: []string{}, Came: []string{}, Left: []string{},
		Degraded: []string{}}
	found, degraded, err := s.ask(ctx, namespace, q.Question)
	if f := fault.From(err); err != nil {
		if f.Code != fault.InvalidRequest && f.Code != fault.InvalidFilter {
			return Outcome{}, err
		}
		o.Error = &f.Message
		return o, nil
	}
	o.Found, o.Degraded = found, degraded
	o.Missing, o.Came, o.Left = without(q.Expect, found), without(found, q.Found), without(q.Found, found)
	o.Passed, o.Changed = len(o.Missing) == 0, !slices.Equal(found, q.Found)
	return o, nil
}

// without are those of all that are not among some.
func without(all, some []string) []string {
	out := []string{}
	for _, id := range all {
		if !slices.Contains(some, id) {
			out = append(out, id)
		}
	}
	return out
}
