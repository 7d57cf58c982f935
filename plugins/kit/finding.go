package kit

import (
	"fmt"
	"testing"
	"time"
)

// Outcome of a check.
type Outcome string

// The outcomes.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped" // what is checked is not there to be seen
)

// Finding is the outcome of one check.
type Finding struct {
	ID      string        `json:"id"` // "embedding.shapes.unit-length"
	Expect  string        `json:"expect"`
	Outcome Outcome       `json:"outcome"`
	Saw     string        `json:"saw"` // what was seen instead, or why it was skipped; empty where the expectation held
	Took    time.Duration `json:"took_ns"`
}

// OK reports whether nothing spoke against the expectation.
func (f Finding) OK() bool { return f.Outcome != Failed }

// Count counts the findings of an outcome.
func Count(all []Finding, o Outcome) int {
	n := 0
	for _, f := range all {
		if f.Outcome == o {
			n++
		}
	}
	return n
}

// Findings collects the findings of a check. Of several of one id the first that failed is kept.
type Findings struct {
	all  []Finding
	at   map[string]int // index by id
	last time.Time      // when the last one was made
}

// NewFindings collects from now on.
func NewFindings() *Findings {
	return &Findings{all: []Finding{}, at: map[string]int{}, last: time.Now()}
}

// All are the findings in the order of their first records.
func (l *Findings) All() []Finding { return l.all }

// Expect records whether an expectation held; saw is formatted only where not.
func (l *Findings) Expect(id, expect string, ok bool, saw string, args ...any) {
	f := Finding{ID: id, Expect: expect, Outcome: Passed}
	if !ok {
		f.Outcome, f.Saw = Failed, fmt.Sprintf(saw, args...)
	}
	l.record(f)
}

// Skip records that there was nothing to look at.
func (l *Findings) Skip(id, expect, why string) {
	l.record(Finding{ID: id, Expect: expect, Outcome: Skipped, Saw: why})
}

func (l *Findings) record(f Finding) {
	now := time.Now()
	f.Took, l.last = now.Sub(l.last), now
	i, ok := l.at[f.ID]
	if !ok {
		l.at[f.ID] = len(l.all)
		l.all = append(l.all, f)
		return
	}
	f.Took += l.all[i].Took
	if l.all[i].Outcome == Failed {
		l.all[i].Took = f.Took
	} else {
		l.all[i] = f
	}
}

// Subtests makes findings subtests of a Go test.
func Subtests(t *testing.T, all []Finding) {
	t.Helper()
	for _, f := range all {
		t.Run(f.ID, func(t *testing.T) {
			switch f.Outcome {
			case Failed:
				t.Errorf("%s; saw %s", f.Expect, f.Saw)
			case Skipped:
				t.Log("not checked: " + f.Saw)
			}
		})
	}
}
