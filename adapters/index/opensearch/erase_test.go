package opensearch_test

import (
	"testing"
	"time"
)

// What a partition held leaves the index with Drop, and the nodes' disks where expunge asks for
// that.
func TestDropExpunges(t *testing.T) {
	s := settings(t)
	x := open(t, s)
	must(t, x.Apply(t.Context(), part(1), batch(0, "zebraquux heron", "heron")))
	must(t, x.Apply(t.Context(), part(2), batch(0, "egret")))
	if len(node.Traces(t, s.IndexPrefix, "zebraquux")) == 0 {
		t.Error("no file holds the word, so its absence would prove nothing")
	}
	began := time.Now()
	must(t, x.Drop(t.Context(), part(1)))
	t.Logf("dropped in %v", time.Since(began))
	if got := find(t, x, part(2), "egret"); got != "a" {
		t.Errorf("the other partition: found %q", got)
	}
	if got := find(t, x, part(1), "heron"); got != "" {
		t.Errorf("found %q after Drop", got)
	}
	for len(node.Traces(t, s.IndexPrefix, "zebraquux")) > 0 {
		if time.Since(began) > 2*time.Minute {
			t.Fatalf("after %v in %v", time.Since(began), node.Traces(t, s.IndexPrefix, "zebraquux"))
		}
		time.Sleep(2 * time.Second)
	}
	t.Logf("off the disk after %v", time.Since(began).Round(time.Second))
}
