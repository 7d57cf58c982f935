package document_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/query"
)

// library is a document service as the engine makes it, with the services that
// make namespaces and find documents, seen by one caller.
type library struct {
	*coretest.Fixture
	t          testing.TB
	ctx        context.Context
	documents  *document.Service
	namespaces *namespace.Service
	queries    *query.Service
	close      func()
}

// open opens the services until the end of the test or a restart.
func open(t testing.TB, o coretest.Options) *library {
	t.Helper()
	f := coretest.New(t, o)
	l := &library{Fixture: f, t: t, ctx: f.Caller(key.Issue{})}
	l.documents = services.Documents(f)
	l.namespaces = namespace.New(f.Store, f.Pages, f.Models, f.Projector.Drop)
	l.queries = services.Queries(f, nil)
	l.close = f.Close
	return l
}

// restart ends the services and opens others over the same folder.
func (l *library) restart(o coretest.Options) *library {
	l.t.Helper()
	l.close()
	o.Dir = l.Dir
	return open(l.t, o)
}

// doc makes a document to write; metadata comes as JSON, "" for none.
func doc(id, text, metadata string) coretest.Object {
	d := coretest.Object{"id": id, "text": text}
	if metadata != "" {
		d["metadata"] = json.RawMessage(metadata)
	}
	return d
}

// paragraphs makes a text of n paragraphs, each a chunk of its own.
func paragraphs(n int, mark string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Paragraph %d about %s says one thing.\n\n", i, mark)
	}
	return b.String()
}

// post writes documents, write has to succeed.
func (l *library) post(ns string, body coretest.Object) *coretest.Reply {
	l.t.Helper()
	return coretest.Ask(l.ctx, l.t, l.documents.Write, body, func(in *document.WriteDocuments) { in.Namespace = ns })
}

func (l *library) write(ns string, docs ...coretest.Object) *coretest.Reply {
	l.t.Helper()
	return l.post(ns, coretest.Object{"documents": docs}).OK()
}

// writeLater writes documents in the background and returns the operation's id.
func (l *library) writeLater(ns string, docs ...coretest.Object) string {
	l.t.Helper()
	r := coretest.Ask(l.ctx, l.t, l.documents.Write, coretest.Object{"documents": docs}, func(in *document.WriteDocuments) {
		in.Namespace, in.Prefer = ns, "respond-async"
	}).OK()
	return r.JSON["id"].(string)
}

// operation reads how far a write in the background is.
func (l *library) operation(ns, operation string) *coretest.Reply {
	l.t.Helper()
	return coretest.Ask(l.ctx, l.t, l.documents.Operation, coretest.Object{}, func(in *document.OperationRef) {
		in.Namespace, in.Operation = ns, operation
	})
}

// until waits until an operation is as wanted and returns it.
func (l *library) until(ns, operation string, ok func(status any) bool) coretest.Object {
	l.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		r := l.operation(ns, operation).OK()
		if ok(r.JSON["status"]) {
			return r.JSON
		}
		if time.Now().After(end) {
			l.t.Fatalf("the operation is %s", r.Body)
		}
	}
}

// ended waits until an operation has ended and returns it.
func (l *library) ended(ns, operation string) coretest.Object {
	l.t.Helper()
	return l.until(ns, operation, func(status any) bool { return status == "succeeded" || status == "failed" })
}

func (l *library) remove(ns string, body coretest.Object) *coretest.Reply {
	l.t.Helper()
	return coretest.Ask(l.ctx, l.t, l.documents.Delete, body, func(in *document.DeleteDocuments) { in.Namespace = ns })
}

// get reads a document, chunks with its chunks.
func (l *library) get(ns, id string) *coretest.Reply {
	l.t.Helper()
	return coretest.Ask(l.ctx, l.t, l.documents.Get, coretest.Object{},
		func(in *document.GetDocument) { in.Namespace, in.ID = ns, id })
}

func (l *library) chunks(ns, id string) *coretest.Reply {
	l.t.Helper()
	return coretest.Ask(l.ctx, l.t, l.documents.Get, coretest.Object{}, func(in *document.GetDocument) {
		in.Namespace, in.ID, in.Include = ns, id, []string{"chunks"}
	})
}

// ids lists the documents of a namespace; nil when it is absent.
func (l *library) ids(ns string) []string {
	l.t.Helper()
	r := coretest.Ask(l.ctx, l.t, l.documents.List, coretest.Object{}, func(in *document.ListDocuments) {
		in.Namespace, in.Limit, in.Order = ns, new(1000), "id"
	})
	if r.Err != nil {
		r.Fails("namespace_not_found")
		return nil
	}
	return coretest.Column(r.List("documents"), "id")
}

func (l *library) create(body coretest.Object) *coretest.Reply {
	l.t.Helper()
	return coretest.Ask(l.ctx, l.t, l.namespaces.Create, body)
}

func (l *library) namespace(ns string) *coretest.Reply {
	l.t.Helper()
	return coretest.Ask(l.ctx, l.t, l.namespaces.Get, coretest.Object{}, func(in *namespace.Ref) { in.Namespace = ns })
}

func (l *library) drop(ns string) *coretest.Reply {
	l.t.Helper()
	return coretest.Ask(l.ctx, l.t, l.namespaces.Delete, coretest.Object{}, func(in *namespace.Ref) { in.Namespace = ns })
}

// ask queries a namespace, query has to succeed.
func (l *library) ask(ns string, body coretest.Object) *coretest.Reply {
	l.t.Helper()
	return coretest.Ask(l.ctx, l.t, l.queries.Query, body, func(in *query.Request) { in.Namespace = ns })
}

func (l *library) query(ns string, body coretest.Object) *coretest.Reply {
	l.t.Helper()
	return l.ask(ns, body).OK()
}

// found are the document ids of a query's hits, in order.
func found(r *coretest.Reply) []string { return coretest.Column(r.List("results"), "document_id") }

// instant reads a time of an answer.
func instant(t *testing.T, text any) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(text))
	if err != nil {
		t.Fatal(err)
	}
	return at
}
