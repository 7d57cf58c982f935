package job_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/port"
)

// tenants makes organizations a, b and c beside the bed's own.
func (b *bed) tenants() {
	b.Helper()
	if err := b.store.Update(b.Context(), func(w port.Writer) error {
		for _, id := range []ident.Org{"a", "b", "c"} {
			if err := w.PutOrganization(b.Context(), port.Organization{ID: id, Name: string(id)}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
}

// of is a job of an organization.
func of(org string) job.Order { return job.Order{Partition: port.Documents(ident.Org(org), "x")} }

// yard runs jobs that say that they begin, and end when their organization is told to.
type yard struct {
	*testing.T
	begun chan string
	goOn  map[string]chan struct{}
}

func newYard(t *testing.T) *yard {
	return &yard{t, make(chan string, 100),
		map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{}), "c": make(chan struct{})}}
}

func (y *yard) run(ctx context.Context, j *job.Job) error {
	y.begun <- string(j.Org)
	select {
	case <-y.goOn[string(j.Org)]:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ends ends one job of each organization in turn, and wants another one to begin after
// each.
func (y *yard) ends(orgs, then string) {
	y.Helper()
	for i, org := range orgs {
		select {
		case y.goOn[string(org)] <- struct{}{}:
		case <-time.After(time.Minute):
			y.Fatalf("%d: no job of %c runs", i, org)
		}
		if i == len(then) {
			return
		}
		if got := receive(y.T, "a job that begins", y.begun); got != then[i:i+1] {
			y.Fatalf("%d: after a job of %c one of %s begins, want %c", i, org, got, then[i])
		}
	}
}

// A lane goes round the organizations whose jobs wait in it, however much one asked for.
func TestALaneGoesRoundTheOrganizations(t *testing.T) {
	b, y := newBed(t), newYard(t)
	b.tenants()
	s := b.serve("x", job.Kind{Name: "write", Lane: "write", Keep: time.Hour, Run: y.run})
	for _, org := range strings.Split("aaaabbc", "") {
		s.start("write", of(org))
	}
	if got := receive(t, "the first", y.begun); got != "a" {
		t.Fatal(got)
	}
	y.ends("abcabaa", "bcabaa")

	// A lane that was empty begins again.
	s.start("write", of("c"))
	if got := receive(t, "the first", y.begun); got != "c" {
		t.Fatal(got)
	}
	s.start("write", of("b"))
	s.start("write", of("a"))
	y.ends("cba", "ba")
}

// A lane that one organization has filled has a quarter of its places for each of the
// others, which are given back as their jobs end.
func TestALaneHasPlacesForEachOrganization(t *testing.T) {
	b, y := newBed(t), newYard(t)
	b.tenants()
	s := b.serve("x", job.Kind{Name: "write", Lane: "write", Queue: 8, Keep: time.Hour, Run: y.run})
	full := func(org string) {
		t.Helper()
		_, _, err := s.Start(t.Context(), "write", of(org))
		wantFault(t, "one more of "+org, err, fault.Unavailable)
	}
	for _, org := range strings.Split("aaaaaaaabbcc", "") {
		s.start("write", of(org))
	}
	full("a")
	full("b")
	full("c")
	receive(t, "the first", y.begun)
	y.ends("abcabc", "bcabca")
	s.start("write", of("c"))
	s.start("write", of("b"))
	s.start("write", of("b"))
	full("b") // 6 of a, 2 of b, 1 of c
	full("a")
}

// Jobs that wait in the store for a worker are taken from the organization that has the
// fewest workers, however many others wait.
func TestWorkersGoRoundTheOrganizations(t *testing.T) {
	b, y := newBed(t), newYard(t)
	b.tenants()
	s := b.serve("x", job.Kind{Name: "erase", Keep: time.Hour, Run: y.run})
	for _, org := range strings.Split("aaaaaaaaaaaaaaaaaaaaaabbc", "") { // more than are read at once
		s.start("erase", of(org))
	}
	for range 2 {
		if got := receive(t, "the first", y.begun); got != "a" {
			t.Fatal(got)
		}
	}
	// What runs before each end: aa, ba, ab, ba, ca.
	y.ends("aabbc", "babca")
}
