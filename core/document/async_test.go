package document_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/port"
)

// running waits until an operation is at work.
func (l *library) running(ns, operation string) {
	l.t.Helper()
	l.until(ns, operation, func(status any) bool { return status == "running" })
}

func TestAsynchronousWrite(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	release := make(chan struct{})
	s.Embedder.Before.Set(func(ctx context.Context, _ port.TextKind, _ []string) error {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return ctx.Err()
	})
	body := coretest.Object{"documents": []coretest.Object{doc("a", "first", `{"n":1}`), doc("b", "second", "")}}
	r := coretest.Ask(s.ctx, t, s.documents.Write, body, func(in *document.WriteDocuments) {
		in.Namespace, in.Prefer = "docs", "wait=5, Respond-Async"
	}).OK()
	coretest.Fields(t, "an accepted operation", r.JSON, "id", "status", "done", "total")
	id := r.JSON["id"].(string)
	if r.Status != 202 || r.Header["Location"] != "/namespaces/docs/operations/"+id ||
		r.Header["Preference-Applied"] != "respond-async" {
		t.Errorf("accepted with %d %v as %s", r.Status, r.Header, r.Body)
	}
	if r.Number("total") != 2 || r.Number("done") != 0 || r.JSON["status"] != "queued" {
		t.Errorf("accepted: %s", r.Body)
	}
	s.running("docs", id)
	if s.ids("docs") != nil {
		t.Error("a running operation shows documents")
	}
	close(release)
	ended := s.ended("docs", id)
	coretest.Fields(t, "a finished operation", ended, "id", "status", "done", "total", "result")
	result := ended["result"].(coretest.Object)
	coretest.Fields(t, "its result", result, "namespace", "sparse", "written", "unchanged", "chunks", "documents")
	if ended["status"] != "succeeded" || ended["done"] != 2.0 || result["written"] != 2.0 {
		t.Errorf("finished: %v", ended)
	}
	if got := found(s.query("docs", coretest.Object{"query": "second"})); len(got) == 0 || got[0] != "b" {
		t.Errorf("after it succeeded: %v", got)
	}

	// One that fails says why, and the queue goes on.
	for name, hook := range map[string]func(context.Context, port.TextKind, []string) error{
		"an error": func(context.Context, port.TextKind, []string) error { return errors.New("out of order") },
		"a panic":  func(context.Context, port.TextKind, []string) error { panic("boom") },
	} {
		s.Embedder.Before.Set(hook)
		e := s.ended("docs", s.writeLater("docs", doc("c", "third", "")))
		coretest.Fields(t, "a failed operation", e, "id", "status", "done", "total", "error")
		if why := e["error"].(coretest.Object); e["status"] != "failed" || why["code"] != "internal_error" || e["done"] != 0.0 ||
			strings.Contains(fmt.Sprint(why), "boom") || strings.Contains(fmt.Sprint(why), "out of order") {
			t.Errorf("failed by %s: %v", name, e)
		}
	}
	s.Embedder.Before.Clear()
	if got := s.ids("docs"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("failed operations left %v", got)
	}
	if e := s.ended("docs", s.writeLater("docs", doc("c", "third", ""))); e["status"] != "succeeded" {
		t.Errorf("after those that failed: %v", e)
	}

	s.operation("docs", "op_unknown").Fails("not_found", "op_unknown")
	s.operation("docs", "\x00").Fails("not_found")
	s.operation("other", id).Fails("not_found", id, "other")
	s.operation("No", id).Fails("invalid_namespace")
}

// TestAWriteIsDoneByRepeatingIt: what a write had made when its time was over is not made
// again, so that one which takes longer than any of its callers waits is done at last; and
// nothing of it is seen before (docs/contract.md#doc-write).
func TestAWriteIsDoneByRepeatingIt(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	var docs []coretest.Object
	for i := range 40 {
		docs = append(docs, doc(fmt.Sprintf("d%02d", i), fmt.Sprintf("Document %d says one thing.", i), ""))
	}
	made := []int{}
	for range 10 {
		calls := 0
		s.Embedder.Before.Set(func(context.Context, port.TextKind, []string) error {
			if calls++; calls == 2 { // the caller has gone
				return context.DeadlineExceeded
			}
			return nil
		})
		s.Embedder.TakePassages()
		r := s.post("docs", coretest.Object{"documents": docs})
		made = append(made, len(s.Embedder.TakePassages()))
		if r.Err == nil {
			break
		}
		r.Fails("timeout")
		if s.ids("docs") != nil {
			t.Error("a write that failed shows documents")
		}
	}
	if !slices.Equal(made, []int{16, 16, 8}) {
		t.Errorf("the attempts embedded %v", made)
	}
	if got := len(s.ids("docs")); got != 40 {
		t.Errorf("%d documents are stored", got)
	}
}

// TestAnAsynchronousWriteProgresses: one that goes on says how far it is before it ends.
func TestAnAsynchronousWriteProgresses(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	s.write("docs", doc("d00", "Document 0 says one thing.", ""))
	release, calls := make(chan struct{}), 0
	s.Embedder.Before.Set(func(context.Context, port.TextKind, []string) error {
		switch calls++; calls {
		case 1: // so long that the progress before it was stored and the next is
			time.Sleep(600 * time.Millisecond)
		case 2:
			<-release
		}
		return nil
	})
	var docs []coretest.Object
	for i := range 40 {
		docs = append(docs, doc(fmt.Sprintf("d%02d", i), fmt.Sprintf("Document %d says one thing.", i), ""))
	}
	id := s.writeLater("docs", docs...)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		r := s.operation("docs", id).OK()
		if r.Number("done") == 17 { // the one that was there, and a piece
			break
		}
		if n := r.Number("done"); n != 0 && n != 1 || time.Now().After(end) {
			t.Fatalf("at work: %s", r.Body)
		}
	}
	close(release)
	if e := s.ended("docs", id); e["status"] != "succeeded" || e["done"] != 40.0 {
		t.Errorf("ended as %v", e)
	}
}

// TestAnAsynchronousWriteProgressesInADocument: a document of many chunks says how far it is
// before it ends, and only until then. What is stored of it already is not counted.
func TestAnAsynchronousWriteProgressesInADocument(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	s.write("docs", doc("long", paragraphs(5, "ants"), ""))
	release, calls := make(chan struct{}), 0
	s.Embedder.Before.Set(func(context.Context, port.TextKind, []string) error {
		switch calls++; calls {
		case 1: // so long that the progress before it was stored and the next is
			time.Sleep(600 * time.Millisecond)
		case 2:
			<-release
		}
		return nil
	})
	id := s.writeLater("docs", doc("long", paragraphs(5, "ants")+paragraphs(40, "bees"), ""))
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		r := s.operation("docs", id).OK()
		if r.JSON["chunks_done"] == 16.0 { // a piece
			coretest.Fields(t, "an operation at work", r.JSON, "id", "status", "done", "total", "chunks_done", "chunks_total")
			if r.Number("chunks_total") != 40 || r.Number("done") != 0 {
				t.Errorf("at work: %s", r.Body)
			}
			break
		}
		if n := r.JSON["chunks_done"]; n != nil && n != 0.0 || time.Now().After(end) {
			t.Fatalf("at work: %s", r.Body)
		}
	}
	close(release)
	coretest.Fields(t, "a finished operation", s.ended("docs", id), "id", "status", "done", "total", "result")
}

// TestPrefer: only what asks for an answer before the write is done gets one.
func TestPrefer(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	for prefer, later := range map[string]bool{
		"": false, "respond-async": true, "RESPOND-ASYNC": true, " respond-async ": true, "respond-async; wait=10": true,
		"return=minimal, respond-async": true, "respond-asynchronous": false, "wait=5": false, "x=respond-async": false,
		"return=minimal,": false,
	} {
		r := coretest.Ask(s.ctx, t, s.documents.Write, coretest.Object{"documents": []coretest.Object{doc("a", "x", "")}},
			func(in *document.WriteDocuments) { in.Namespace, in.Prefer = "docs", prefer }).OK()
		if later {
			if r.Status != 202 || r.JSON["status"] != "queued" {
				t.Errorf("Prefer: %s: %d %s", prefer, r.Status, r.Body)
				continue
			}
			s.ended("docs", r.JSON["id"].(string))
		} else if r.Status != 200 || len(r.Header) != 0 || r.JSON["documents"] == nil {
			t.Errorf("Prefer: %s: %d %v %s", prefer, r.Status, r.Header, r.Body)
		}
	}
}

// TestAcceptedWriteMeetsAnotherNamespace: what only shows when an accepted write runs
// fails the operation, with the reason.
func TestAcceptedWriteMeetsAnotherNamespace(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{Sparse: &coretest.SparseEncoder{}})
	s.write("docs", doc("a", "x", ""))
	release := make(chan struct{})
	s.Embedder.Before.Set(func(_ context.Context, _ port.TextKind, texts []string) error {
		if slices.Contains(texts, "holds the lane") {
			<-release
		}
		return nil
	})
	free := sync.OnceFunc(func() { close(release) })
	defer free()
	first := s.writeLater("lane", doc("a", "holds the lane", ""))
	s.running("lane", first)
	r := s.async("docs", coretest.Object{"documents": []coretest.Object{doc("b", "y", "")}, "expect_sparse": false}).OK()
	id := r.JSON["id"].(string)
	s.drop("docs").OK()
	s.create(coretest.Object{"name": "docs", "sparse": true}).OK()
	free()
	e := s.ended("docs", id)
	if why, _ := e["error"].(coretest.Object); e["status"] != "failed" || why["code"] != "conflict" ||
		!strings.Contains(fmt.Sprint(why["message"]), "expect_sparse") {
		t.Errorf("ended as %v", e)
	}
	if s.ids("docs") != nil {
		t.Error("a failed operation wrote something")
	}
}

// TestAsynchronousQueueIsBounded: waiting writes are refused, not piled up.
func TestAsynchronousQueueIsBounded(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	s.Embedder.Before.Set(coretest.UntilDone)
	accepted := 0
	for range 200 {
		r := s.async("docs", coretest.Object{"documents": []coretest.Object{doc("a", fmt.Sprint(accepted), "")}})
		if r.Err == nil {
			accepted++
			continue
		}
		r.Fails("unavailable").Retry()
		break
	}
	if accepted < 64 || accepted > 66 { // 64 wait, and one is at work or about to be
		t.Errorf("%d waiting writes were accepted", accepted)
	}
}
