package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
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

// TestWriteRefusals: one bad document refuses the call, and nothing is written.
func TestWriteRefusals(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.write("docs", doc("kept", "here before", ""))
		good := doc("good", "fine", "")
		for _, c := range []struct {
			name   string
			docs   []object
			status int
			code   string
			words  []string
		}{
			{"the same id twice", []object{good, doc("x", "1", ""), doc("good", "2", "")}, 400, "invalid_id",
				[]string{"documents[2].id", "good", "documents[0]"}},
			{"a bad id", []object{good, doc("no spaces", "1", "")}, 400, "invalid_id", []string{"documents[1].id"}},
			{"no id", []object{good, {"text": "x"}}, 400, "invalid_id", []string{"documents[1].id"}},
			{"no text", []object{good, {"id": "x"}}, 400, "invalid_request", []string{"documents[1]", "text", "x"}},
			{"null text", []object{good, {"id": "x", "text": nil}}, 400, "invalid_request", []string{"documents[1]", "text"}},
			{"bad metadata", []object{good, doc("x", "1", `{"a":null}`)}, 400, "invalid_metadata",
				[]string{"documents[1]", "id x", "metadata", "a"}},
			{"a text too large", []object{good, doc("x", strings.Repeat("x", 256<<10+1), "")}, 413, "payload_too_large",
				[]string{"documents[1]", "id x", "text", "262145"}},
			{"no documents", []object{}, 400, "invalid_request", []string{"documents", "1-100"}},
		} {
			t.Run(c.name, func(t *testing.T) {
				for _, ns := range []string{"docs", "fresh"} {
					for _, prefer := range []string{"", "respond-async"} {
						s.post("/namespaces/"+ns+"/documents", object{"documents": c.docs}, "Prefer", prefer).fails(c.status,
							c.code, c.words...)
					}
				}
			})
		}
		if got := s.ids("docs"); !slices.Equal(got, []string{"kept"}) {
			t.Errorf("refused writes left %v", got)
		}
		if s.ids("fresh") != nil {
			t.Error("a refused write created its namespace")
		}
	})
}

// TestFailedWrite: a model that fails, hangs or panics, and a caller that goes
// away, leave nothing behind and break nothing.
func TestFailedWrite(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
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
		if took := time.Since(begun); took > 10*time.Second {
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
		case <-time.After(30 * time.Second):
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

func TestAsynchronousWrite(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		release := make(chan struct{})
		s.embedder.Before.Set(func(ctx context.Context, _ port.TextKind, _ []string) error {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return ctx.Err()
		})
		r := s.post("/namespaces/docs/documents",
			object{"documents": []object{doc("a", "first", `{"n":1}`), doc("b", "second", "")}},
			"Prefer", "wait=5, Respond-Async").is(202)
		at := r.header.Get("Location")
		if id := fmt.Sprint(r.json["id"]); at != "/namespaces/docs/operations/"+id ||
			r.header.Get("Preference-Applied") != "respond-async" {
			t.Errorf("accepted at %q as %s", at, r.body)
		}
		fields(t, "an accepted operation", r.json, "id", "status", "done", "total")
		if r.number("total") != 2 || r.number("done") != 0 || r.json["status"] != "queued" {
			t.Errorf("accepted: %s", r.body)
		}
		eventually(t, "running", 30*time.Second, func() bool { return s.get(at).ok().json["status"] == "running" })
		if s.ids("docs") != nil {
			t.Error("a running operation shows documents")
		}
		close(release)
		eventually(t, "succeeded", 30*time.Second, func() bool { return s.get(at).ok().json["status"] == "succeeded" })
		r = s.get(at).ok()
		fields(t, "a finished operation", r.json, "id", "status", "done", "total", "result")
		result := r.json["result"].(object)
		fields(t, "its result", result, "namespace", "sparse", "written", "unchanged", "chunks", "documents")
		if r.number("done") != 2 || result["written"] != 2.0 {
			t.Errorf("finished: %s", r.body)
		}
		if got := s.query("docs", object{"query": "second"}).found(); len(got) == 0 || got[0] != "b" {
			t.Errorf("after it succeeded: %v", got)
		}

		// One that fails says why, and the queue goes on.
		for name, hook := range map[string]func(context.Context, port.TextKind, []string) error{
			"an error": func(context.Context, port.TextKind, []string) error { return errors.New("out of order") },
			"a panic":  func(context.Context, port.TextKind, []string) error { panic("boom") },
		} {
			s.embedder.Before.Set(hook)
			r := s.post("/namespaces/docs/documents", object{"documents": []object{doc("c", "third", "")}}, "Prefer",
				"respond-async").is(202)
			at := r.header.Get("Location")
			eventually(t, "failed by "+name, 30*time.Second, func() bool { return s.get(at).ok().json["status"] == "failed" })
			got := s.get(at).ok()
			fields(t, "a failed operation", got.json, "id", "status", "done", "total", "error")
			if e := got.json["error"].(object); e["code"] != "internal_error" ||
				strings.Contains(fmt.Sprint(e), "boom") || got.number("done") != 0 {
				t.Errorf("failed by %s: %s", name, got.body)
			}
		}
		s.embedder.Before.Clear()
		if got := s.ids("docs"); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("failed operations left %v", got)
		}

		// A conflict found only when it runs is a failed operation, too.
		s.get("/namespaces/docs/operations/op_unknown").fails(404, "not_found", "op_unknown")
		s.get(strings.Replace(at, "/docs/", "/other/", 1)).fails(404, "not_found")
		s.get("/namespaces/No/operations/x").fails(400, "invalid_namespace")
	})
}

// TestOperationSurvivesRestart: an accepted write is done, exactly once, by the
// next process if this one ends first.
func TestOperationSurvivesRestart(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		key := s.key
		s.embedder.Before.Set(coretest.UntilDone)
		var at []string
		for i := range 3 {
			id := fmt.Sprintf("d%d", i)
			r := s.post("/namespaces/docs/documents",
				object{"documents": []object{doc(id, "text of "+id, ""), doc("last", id, "")}}, "Prefer", "respond-async").is(202)
			at = append(at, r.header.Get("Location"))
		}
		eventually(t, "running", 30*time.Second, func() bool { return s.get(at[0]).ok().json["status"] == "running" })
		s = s.restart(func(o *options) { o.embedder = coretest.NewEmbedder() })
		s = s.as(key)
		for _, at := range at {
			eventually(t, at+" resumed", 10*time.Second, func() bool { return s.get(at).ok().json["status"] == "succeeded" })
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

func (h heldReader) UnclaimedJobs(ctx context.Context, kinds []string, limit int) ([]port.Job, error) {
	all, err := h.Reader.UnclaimedJobs(ctx, kinds, limit)
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
	eventually(t, "running", 30*time.Second, func() bool { return dead.get(at).ok().json["status"] == "running" })
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
	eventually(t, "done by the quick replica", 30*time.Second,
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

// TestAsynchronousQueueIsBounded: waiting writes are refused, not piled up.
func TestAsynchronousQueueIsBounded(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.embedder.Before.Set(coretest.UntilDone)
		refused := false
		for i := 0; i < 200 && !refused; i++ {
			r := s.post("/namespaces/docs/documents", object{"documents": []object{doc("a", fmt.Sprint(i), "")}},
				"Prefer", "respond-async")
			if r.status == http.StatusAccepted {
				continue
			}
			r.fails(503, "unavailable").retry()
			refused = true
		}
		if !refused {
			t.Error("200 waiting writes were all accepted")
		}
	})
}
