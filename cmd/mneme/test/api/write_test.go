package api_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/port"
)

// paragraphs makes a text of n paragraphs, each a chunk of its own.
func paragraphs(n int, mark string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Paragraph %d about %s says one thing.\n\n", i, mark)
	}
	return b.String()
}

// TestFailedWrite: a model that fails, hangs or panics, and a caller that goes
// away, leave nothing behind and break nothing.
func TestFailedWrite(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.write("docs", doc("kept", "here before", ""))
		call := func(headers ...string) *reply {
			return s.post("/namespaces/docs/documents",
				object{"documents": []object{doc("kept", "changed", ""), doc("new", "text", "")}}, headers...)
		}
		unchanged := func() {
			t.Helper()
			if got := s.ids("docs"); !slices.Equal(got, []string{"kept"}) {
				t.Errorf("a failed write left %v", got)
			}
			if r := s.get("/namespaces/docs/documents/kept").ok(); r.json["text"] != "here before" {
				t.Errorf("a failed write changed the text to %v", r.json["text"])
			}
		}
		s.embedder.Before.Set(func(context.Context, port.TextKind, []string) error { return errors.New("out of order") })
		if r := call().fails(500, "internal_error"); strings.Contains(string(r.body), "out of order") {
			t.Errorf("the cause reached the caller: %s", r.body)
		}
		unchanged()
		s.embedder.Before.Set(func(context.Context, port.TextKind, []string) error { panic("boom") })
		if r := call().fails(500, "internal_error"); strings.Contains(string(r.body), "boom") {
			t.Errorf("the panic reached the caller: %s", r.body)
		}
		unchanged()
		s.embedder.Before.Set(coretest.UntilDone)
		begun := time.Now()
		call("X-Timeout-Ms", "150").fails(504, "timeout", "150ms")
		if took := time.Since(begun); took > time.Minute {
			t.Errorf("a limit of 150 ms was answered after %s", took)
		}
		unchanged()

		// The caller goes away while the model works: the work is cancelled.
		started, cancelled := make(chan struct{}), make(chan struct{})
		var once sync.Once
		s.embedder.Before.Set(func(ctx context.Context, _ port.TextKind, _ []string) error {
			once.Do(func() { close(started) })
			<-ctx.Done()
			close(cancelled)
			return ctx.Err()
		})
		ctx, cancel := context.WithCancel(context.Background())
		gone := make(chan error, 1)
		go func() {
			_, err := s.send(ctx, "POST", "/namespaces/docs/documents", object{"documents": []object{doc("new", "text", "")}})
			gone <- err
		}()
		await(t, "the model is at work", started)
		cancel()
		if err := await(t, "the client has left", gone); err == nil {
			t.Error("the cancelled call was answered")
		}
		select {
		case <-cancelled:
		case <-time.After(2 * time.Minute):
			t.Fatal("the model was not told that the caller is gone")
		}
		s.embedder.Before.Clear()
		unchanged()
		call().ok()

		for _, h := range []string{"0", "-1", "x", "1.5", "9999999999999999999999"} {
			call("X-Timeout-Ms", h).fails(400, "invalid_request", "X-Timeout-Ms")
		}
		call("X-Timeout-Ms", "86400000000").ok() // only lowers the limit
	})
}

// TestOperationSurvivesRestart: an accepted write is done, exactly once, by the
// next process if this one ends first.
func TestOperationSurvivesRestart(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		key := s.key
		s.embedder.Before.Set(coretest.UntilDone)
		var at []string
		for i := range 3 {
			id := fmt.Sprintf("d%d", i)
			r := s.post("/namespaces/docs/documents",
				object{"documents": []object{doc(id, "text of "+id, ""), doc("last", id, "")}}, "Prefer", "respond-async").is(202)
			if got := r.header.Get("Preference-Applied"); got != "respond-async" {
				t.Errorf("accepted with Preference-Applied %q", got)
			}
			at = append(at, r.header.Get("Location"))
		}
		harness.Eventually(t, "running", func() bool { return s.get(at[0]).ok().json["status"] == "running" })
		s = s.restart(func(o *options) { o.embedder = coretest.NewEmbedder() })
		s = s.as(key)
		for _, at := range at {
			harness.Eventually(t, at+" resumed", func() bool { return s.get(at).ok().json["status"] == "succeeded" })
		}
		if got := s.ids("docs"); !slices.Equal(got, []string{"d0", "d1", "d2", "last"}) {
			t.Errorf("resumed operations wrote %v", got)
		}
		if r := s.get("/namespaces/docs/documents/last").ok(); r.json["text"] != "d2" {
			t.Errorf("operations ran out of order: %v", r.json["text"])
		}
		// Finished ones are not run again.
		s.do("DELETE", "/namespaces/docs", nil).ok()
		s = s.restart(nil)
		s = s.as(key)
		if r := s.get(at[0]).ok(); r.json["status"] != "succeeded" {
			t.Errorf("after another restart: %s", r.body)
		}
		if s.ids("docs") != nil {
			t.Error("a finished operation ran again")
		}
	})
}

// held is a store whose lists of unclaimed jobs go on only when the test
// says so.
type held struct {
	port.DocumentStore
	listed chan int      // gets the length of each list
	goes   chan struct{} // closed: lists go on
}

func (h held) View(ctx context.Context, fn func(port.Reader) error) error {
	return h.DocumentStore.View(ctx, func(r port.Reader) error { return fn(heldReader{r, h}) })
}

type heldReader struct {
	port.Reader
	held
}

func (h heldReader) UnclaimedJobs(ctx context.Context, self port.Replica, held, kinds []string, limit int) ([]port.Job, error) {
	all, err := h.Reader.UnclaimedJobs(ctx, self, held, kinds, limit)
	h.listed <- len(all)
	<-h.goes
	return all, err
}

// TestOperationIsTakenOverOnce: a replica that has seen an operation of a dead one
// does not do it again after another replica has done it.
func TestOperationIsTakenOverOnce(t *testing.T) {
	t.Parallel()
	b := replicated
	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	for _, dir := range dirs {
		if err := os.WriteFile(filepath.Join(dir, "dsn"), []byte(dsn(t, dirs[0])), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dead := start(t, b, options{dir: dirs[0]})
	dead.embedder.Before.Set(coretest.UntilDone)
	at := dead.post("/namespaces/docs/documents", object{"documents": []object{doc("a", "the old text", "")}}, "Prefer",
		"respond-async").is(202).header.Get("Location")
	harness.Eventually(t, "running", func() bool { return dead.get(at).ok().json["status"] == "running" })
	dead.close()

	h := held{listed: make(chan int, 1000), goes: make(chan struct{})}
	goOn := sync.OnceFunc(func() { close(h.goes) })
	defer goOn() // before the servers' cleanups, which wait for the list
	start(t, b, options{dir: dirs[1], engine: func(c *engine.Config) {
		h.DocumentStore = c.Store
		c.Store = h
	}})
	if n := await(t, "the slow replica sees what is unfinished", h.listed); n != 1 {
		t.Fatalf("%d operations are unfinished", n)
	}
	quick := start(t, b, options{dir: dirs[2]})
	harness.Eventually(t, "done by the quick replica",
		func() bool { return quick.get(at).ok().json["status"] == "succeeded" })
	quick.write("docs", doc("a", "the new text", ""))
	goOn()
	if n := await(t, "the slow replica looks again", h.listed); n != 0 {
		t.Errorf("%d operations are unfinished", n)
	}
	if r := quick.get("/namespaces/docs/documents/a").ok(); r.json["text"] != "the new text" {
		t.Errorf("the operation was done again: %s", r.body)
	}
}

// TestSearchableSoon: over every backend what is written without waiting for the index is found by the
// next query of each retriever, what it replaced is not, and the answer says which write did not wait.
func TestSearchableSoon(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		waited := true
		for i := range 6 {
			word := fmt.Sprintf("heron%d", i)
			r := s.post("/namespaces/docs/documents", object{"documents": []object{doc("a", "A "+word+" stands.", ""),
				doc(fmt.Sprint("b", i), "Nothing.", "")}}, "Prefer", "searchable=soon").is(200)
			searchable, said := r.json["searchable"].(bool)
			if got := r.header.Get("Preference-Applied"); !said || searchable != (got == "") {
				t.Errorf("with Preference-Applied %q: %s", got, r.body)
			}
			waited = waited && searchable
			if i%2 == 1 { // two are brought to the index together
				r := s.query("docs", object{"query": word, "retrievers": []string{"keyword"}, "strict": true})
				if got := r.found(); !slices.Equal(got, []string{"a"}) {
					t.Errorf("the next query finds %v", got)
				}
				before := s.query("docs", object{"query": fmt.Sprintf("heron%d", i-1), "retrievers": []string{"keyword"},
					"strict": true})
				if got := before.found(); len(got) != 0 {
					t.Errorf("a text that was replaced is found: %v", got)
				}
				v := s.query("docs", object{"query": "A " + word + " stands.", "retrievers": []string{"vector"}, "top_k": 1,
					"strict": true})
				if got := v.found(); !slices.Equal(got, []string{"a"}) {
					t.Errorf("by vectors the next query finds %v", got)
				}
			}
		}
		// An index of another server costs enough not to be waited for.
		if remote := b.file == "distributed.yaml" || b.file == "scaled-out.yaml"; waited == remote {
			t.Errorf("over %s all writes waited: %v", b.name, waited)
		}
		if r := s.write("docs", doc("a", "It left.", "")); r.json["searchable"] != true {
			t.Errorf("a write that waits: %s", r.body)
		}
	})
}
