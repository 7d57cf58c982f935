package analysis

import (
	"cmp"
	"slices"

	"github.com/mnemehq/mneme/core/port"
)

// Spans are the words of a text that stand for one of the terms: byte offsets in
// rising order, whole characters each. Words that overlap, such as an identifier
// and its parts or the bigrams of a run, are one span. Of more than
// port.MaxSpans the first are given.
func (a *Analyzer) Spans(terms []QueryTerm, text port.Wording) []port.Span {
	wanted := make(map[string]bool, len(terms))
	for _, t := range terms {
		wanted[t.Term] = true
	}
	var found []port.Span
	a.Scanner(func(t Token) {
		if wanted[string(t.Term)] {
			found = append(found, port.Span{Start: t.Start, End: t.End})
		}
	}).Scan(text)
	slices.SortFunc(found, func(x, y port.Span) int { return cmp.Compare(x.Start, y.Start) })
	out := found[:0]
	for _, s := range found {
		if n := len(out); n > 0 && s.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out[:min(len(out), port.MaxSpans)]
}
