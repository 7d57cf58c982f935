package endurance_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// failure is a way in which the product can break its word.
type failure string

const (
	lost    failure = "lost"    // acknowledged, and not there or of an older state
	doubled failure = "doubled" // there twice
	stale   failure = "stale"   // deleted, replaced, revoked or erased, and still there
	leaked  failure = "leaked"  // shown to another organization
	wrong   failure = "wrong"   // an answer that no call should get, or an error in the log
)

// failures is the order in which they are told.
var failures = []failure{lost, doubled, stale, leaked, wrong}

// toldEach is how many failures of a kind are told one by one.
const toldEach = 20

// score counts what was called, how long it took and what failed.
type score struct {
	t testing.TB

	mu      sync.Mutex
	count   map[failure]int
	calls   map[string]int
	refused int // calls that were to come again
	all     int
	recent  []time.Duration // since lap was called
}

func newScore(t testing.TB) *score {
	return &score{t: t, count: map[failure]int{}, calls: map[string]int{}}
}

func (s *score) report(f failure, format string, args ...any) {
	s.mu.Lock()
	s.count[f]++
	n := s.count[f]
	s.mu.Unlock()
	s.t.Fail()
	if n <= toldEach {
		s.t.Logf("%s: %s", strings.ToUpper(string(f)), fmt.Sprintf(format, args...))
	}
}

func (s *score) answered(what string, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all++
	s.calls[what]++
	s.recent = append(s.recent, took)
}

func (s *score) busy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused++
}

// lap says how many calls were answered since the last one, and how long they took.
func (s *score) lap() string {
	s.mu.Lock()
	took := s.recent
	s.recent = nil
	s.mu.Unlock()
	if len(took) == 0 {
		return "no calls"
	}
	slices.Sort(took)
	at := func(percent int) time.Duration { return took[(len(took)-1)*percent/100].Round(time.Millisecond / 10) }
	return fmt.Sprintf("%d calls, p50 %s, p99 %s, longest %s", len(took), at(50), at(99), at(100))
}

// String is all that was counted.
func (s *score) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, f := range failures {
		fmt.Fprintf(&b, "%s %d, ", f, s.count[f])
	}
	fmt.Fprintf(&b, "of %d answered calls, and %d that were to come again:", s.all, s.refused)
	for _, what := range slices.Sorted(maps.Keys(s.calls)) {
		fmt.Fprintf(&b, " %s %d,", what, s.calls[what])
	}
	return strings.TrimSuffix(b.String(), ",")
}
