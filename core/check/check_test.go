package check_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/check"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/query"
)

// desk is the service of saved queries over a real store and index, seen by one caller.
type desk struct {
	*coretest.Fixture
	t          *testing.T
	ctx        context.Context
	checks     *check.Service
	documents  *document.Service
	namespaces *namespace.Service
}

func open(t *testing.T) *desk {
	t.Helper()
	f := coretest.New(t, coretest.Options{})
	return &desk{f, t, f.Caller(key.Issue{}), check.New(check.Settings{Store: f.Store, Queries: services.Queries(f, nil),
		Now: f.Now}), services.Documents(f), namespace.New(f.Store, f.Pages, f.Models, f.Projector.Drop)}
}

func (d *desk) as(ctx context.Context) *desk {
	other := *d
	other.ctx = ctx
	return &other
}

func (d *desk) write(ns string, texts ...string) {
	d.t.Helper()
	var docs []coretest.Object
	for i := 0; i < len(texts); i += 2 {
		docs = append(docs, coretest.Object{"id": texts[i], "text": texts[i+1]})
	}
	coretest.Ask(d.ctx, d.t, d.documents.Write, coretest.Object{"documents": docs},
		func(in *document.WriteDocuments) { in.Namespace = ns }).OK()
}

func (d *desk) remove(ns string, ids ...string) {
	d.t.Helper()
	coretest.Ask(d.ctx, d.t, d.documents.Delete, coretest.Object{"ids": ids},
		func(in *document.DeleteDocuments) { in.Namespace = ns }).OK()
}

func (d *desk) save(ns, name string, body coretest.Object) *coretest.Reply {
	d.t.Helper()
	return coretest.Ask(d.ctx, d.t, d.checks.Save, body, func(in *check.Save) { in.Namespace, in.Name = ns, name })
}

func (d *desk) list(ns string) *coretest.Reply {
	d.t.Helper()
	return coretest.Ask(d.ctx, d.t, d.checks.List, coretest.Object{}, func(in *check.Ref) { in.Namespace = ns })
}

func (d *desk) names(ns string) []string {
	d.t.Helper()
	return coretest.Column(d.list(ns).OK().List("queries"), "name")
}

func (d *desk) delete(ns, name string) any {
	d.t.Helper()
	return coretest.Ask(d.ctx, d.t, d.checks.Delete, coretest.Object{},
		func(in *check.QueryRef) { in.Namespace, in.Name = ns, name }).OK().JSON["deleted"]
}

func (d *desk) run(ns string) check.Report {
	d.t.Helper()
	r, err := coretest.Call(d.ctx, d.checks.Run, check.Ref{Namespace: ns})
	if err != nil {
		d.t.Fatalf("run: %v", err)
	}
	return r
}

// TestSavedQueries: a query is saved with what it finds, replaced, listed and deleted; nothing of
// it is seen from another namespace or organization.
func TestSavedQueries(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.save("home", "end", coretest.Object{"query": "lease", "expect": []string{}}).Fails("namespace_not_found", "home")
	d.list("home").Fails("namespace_not_found", "home")
	d.write("home", "lease", "the lease ends in May", "router", "the router is in the hall")
	d.write("away", "lease", "another lease")
	made := d.save("home", "end", coretest.Object{"query": "lease ends", "expect": []string{"lease"}, "within": 1,
		"mode": "keyword", "filter": coretest.Object{"kind": "x"}}).OK()
	coretest.Fields(t, "a saved query", made.JSON, "name", "query", "expect", "within", "mode", "filter", "found", "created_at",
		"updated_at")
	again := d.save("home", "end", coretest.Object{"query": "the router", "expect": []string{}, "within": 2,
		"mode": "keyword"}).OK()
	if again.JSON["created_at"] != made.JSON["created_at"] {
		t.Errorf("it was made at %v, and saved again it says %v", made.JSON["created_at"], again.JSON["created_at"])
	}
	d.save("home", "alone", coretest.Object{"query": "lease", "expect": []string{"lease"}}).OK()
	all := d.list("home").OK().List("queries")
	if len(all) != 2 || all[0]["name"] != "alone" || all[1]["query"] != "the router" || all[1]["filter"] != nil {
		t.Errorf("listed %v", all)
	}
	other := d.as(d.Caller(key.Issue{Org: "other"}))
	other.list("home").Fails("namespace_not_found", "home")
	if got := d.names("away"); len(got) != 0 {
		t.Errorf("another namespace has %v", got)
	}
	got := []any{other.delete("home", "end"), d.delete("away", "end"), d.delete("home", "end"), d.delete("home", "end")}
	if !slices.Equal(got, []any{false, false, true, false}) {
		t.Errorf("deleted by another, elsewhere, where it is, again: %v", got)
	}
	if got := d.names("home"); !slices.Equal(got, []string{"alone"}) {
		t.Errorf("left are %v", got)
	}
	coretest.Ask(d.ctx, t, d.namespaces.Delete, coretest.Object{}, func(in *namespace.Ref) { in.Namespace = "home" }).OK()
	d.write("home", "lease", "a new life")
	if got := d.names("home"); len(got) != 0 {
		t.Errorf("another life of the namespace has %v", got)
	}
}

// TestRefused: what the query would refuse is not saved, nor more than a namespace keeps.
func TestRefused(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.write("home", "lease", "the lease ends in May")
	for what, c := range map[string]struct {
		body coretest.Object
		says string
	}{
		"no question":             {coretest.Object{"query": " ", "expect": []string{}}, "query"},
		"no expectation":          {coretest.Object{"query": "x"}, "expect"},
		"twice":                   {coretest.Object{"query": "x", "expect": []string{"a", "a"}}, "named twice"},
		"a score without a scale": {coretest.Object{"query": "x", "expect": []string{}, "min_score": 0.5}, "min_score"},
		"no sparse index":         {coretest.Object{"query": "x", "expect": []string{}, "mode": "sparse"}, "sparse"},
		"no reranker":             {coretest.Object{"query": "x", "expect": []string{}, "rerank": true, "within": 101}, "within"},
		"a depth of none": {coretest.Object{"query": "x", "expect": []string{}, "rerank": coretest.Object{"depth": 0}},
			"rerank.depth"},
		"no such list": {coretest.Object{"query": "x", "expect": []string{}, "weights": coretest.Object{"title": 1}},
			"weights"},
		"too heavy": {coretest.Object{"query": "x", "expect": []string{}, "weights": coretest.Object{"vector": 11}},
			"weights"},
		"two ways to choose": {coretest.Object{"query": "x", "expect": []string{}, "mode": "vector",
			"retrievers": []string{"vector"}}, "together"},
	} {
		t.Run(what, func(t *testing.T) { d.save("home", "a", c.body).Fails("invalid_request", c.says) })
	}
	d.save("home", "a", coretest.Object{"query": "x", "expect": []string{}, "filter": coretest.Object{"$no": 1}}).
		Fails("invalid_filter", "$no")
	d.save("home", "a b", coretest.Object{"query": "x", "expect": []string{}}).Fails("invalid_request", "query")
	if got := d.names("home"); len(got) != 0 {
		t.Fatalf("saved: %v", got)
	}
	for i := range check.Most {
		d.save("home", "q"+strconv.Itoa(i), coretest.Object{"query": "x", "expect": []string{}, "mode": "keyword"}).OK()
	}
	d.save("home", "more", coretest.Object{"query": "x", "expect": []string{}}).Fails("conflict", "100 saved queries")
	d.save("home", "q7", coretest.Object{"query": "y", "expect": []string{}}).OK()
}

// TestRun: a run says which find what they should, and what came and left since they were saved.
func TestRun(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.write("home", "lease", "the lease ends in May", "router", "the router is in the hall")
	if r := d.run("home"); r.Passed != 0 || r.Failed != 0 || r.Outcomes == nil {
		t.Errorf("without queries: %+v", r)
	}
	d.save("home", "lease", coretest.Object{"query": "lease ends", "expect": []string{"lease"}, "within": 1,
		"mode": "keyword"}).OK()
	d.save("home", "router", coretest.Object{"query": "router", "expect": []string{}, "mode": "keyword"}).OK()
	d.save("home", "absent", coretest.Object{"query": "router", "expect": []string{"router", "cellar"}, "mode": "keyword"}).OK()
	first := d.run("home")
	want := []check.Outcome{
		{Name: "absent", Query: "router", Missing: []string{"cellar"}, Found: []string{"router"}},
		{Name: "lease", Query: "lease ends", Passed: true, Found: []string{"lease"}},
		{Name: "router", Query: "router", Passed: true, Found: []string{"router"}},
	}
	same(t, first, 2, 1, want)

	d.write("home", "cellar", "router router router router")
	d.remove("home", "lease")
	want = []check.Outcome{
		{Name: "absent", Query: "router", Passed: true, Found: []string{"cellar", "router"}, Came: []string{"cellar"},
			Changed: true},
		{Name: "lease", Query: "lease ends", Missing: []string{"lease"}, Left: []string{"lease"}, Changed: true},
		{Name: "router", Query: "router", Passed: true, Found: []string{"cellar", "router"}, Came: []string{"cellar"},
			Changed: true},
	}
	same(t, d.run("home"), 2, 1, want)
	same(t, d.run("home"), 2, 1, want) // it keeps nothing

	d.save("home", "router", coretest.Object{"query": "router", "expect": []string{}, "mode": "keyword"}).OK()
	want[2].Came, want[2].Changed = nil, false
	same(t, d.run("home"), 2, 1, want)
}

func same(t *testing.T, got check.Report, passed, failed int, want []check.Outcome) {
	t.Helper()
	if got.Passed != passed || got.Failed != failed || len(got.Outcomes) != len(want) {
		t.Fatalf("%d pass, %d fail of %d: %+v", got.Passed, got.Failed, len(got.Outcomes), got.Outcomes)
	}
	for i, o := range got.Outcomes {
		w := want[i]
		if o.Name != w.Name || o.Query != w.Query || o.Passed != w.Passed || o.Changed != w.Changed || o.Error != nil ||
			!slices.Equal(o.Missing, w.Missing) || !slices.Equal(o.Found, w.Found) || !slices.Equal(o.Came, w.Came) ||
			!slices.Equal(o.Left, w.Left) || len(o.Degraded) != 0 {
			t.Errorf("got  %+v\nwant %+v", o, w)
		}
	}
}

// broken fails every query with a fault, while there is one, as a server without its models does.
type broken struct {
	check.Queries
	code fault.Code
}

func (b *broken) Query(ctx context.Context, q query.Request) (query.Result, error) {
	if b.code != "" {
		return query.Result{}, fault.New(b.code, "not today")
	}
	return b.Queries.Query(ctx, q)
}

// TestRunFails: what is wrong with one query is its outcome; what is wrong with the server fails
// the run.
func TestRunFails(t *testing.T) {
	t.Parallel()
	d := open(t)
	queries := &broken{Queries: services.Queries(d.Fixture, nil)}
	d.checks = check.New(check.Settings{Store: d.Store, Queries: queries})
	d.write("home", "lease", "the lease ends in May")
	d.save("home", "lease", coretest.Object{"query": "lease", "expect": []string{}}).OK()
	for code, whole := range map[fault.Code]bool{fault.InvalidRequest: false, fault.InvalidFilter: false, fault.Unavailable: true,
		fault.Internal: true} {
		queries.code = code
		r, err := coretest.Call(d.ctx, d.checks.Run, check.Ref{Namespace: "home"})
		if whole {
			if fault.CodeOf(err) != code {
				t.Errorf("%s: the run answers %v", code, err)
			}
			continue
		}
		if err != nil || r.Failed != 1 || r.Outcomes[0].Passed || r.Outcomes[0].Error == nil ||
			*r.Outcomes[0].Error != "not today" {
			t.Errorf("%s: %+v, %v", code, r, err)
		}
	}
}

// asked notes what is asked.
type asked struct {
	check.Queries
	last query.Request
}

func (a *asked) Query(ctx context.Context, q query.Request) (query.Result, error) {
	a.last = q
	return a.Queries.Query(ctx, q)
}

// TestSettings: whatever changes an answer is kept with a query, shown, and asked again.
func TestSettings(t *testing.T) {
	t.Parallel()
	d := open(t)
	queries := &asked{Queries: services.Queries(d.Fixture, nil)}
	d.checks = check.New(check.Settings{Store: d.Store, Queries: queries})
	d.write("home", "lease", "the lease ends in May", "router", "the router is in the hall")
	for what, settings := range map[string]coretest.Object{
		"some lists":     {"retrievers": []string{"keyword", "vector"}, "weights": coretest.Object{"vector": .25, "keyword": 2}},
		"one list":       {"mode": "vector", "min_score": .125},
		"a filter":       {"filter": coretest.Object{"lang": "en"}, "within": 3},
		"nothing more":   {},
		"lists, weighed": {"weights": coretest.Object{"keyword": 0}},
	} {
		t.Run(what, func(t *testing.T) {
			body := coretest.Object{"query": "lease", "expect": []string{}}
			maps.Copy(body, settings)
			kept := d.save("home", "one", body).OK().JSON
			listed := d.list("home").OK().List("queries")[0]
			for name, want := range settings {
				if !equal(t, kept[name], want) || !equal(t, listed[name], want) {
					t.Errorf("%s is kept as %v and listed as %v, want %v", name, kept[name], listed[name], want)
				}
			}
			first := queries.last
			queries.last = query.Request{}
			d.run("home")
			for name, want := range settings {
				got := coretest.Object{"retrievers": queries.last.Retrievers, "weights": queries.last.Weights,
					"mode": queries.last.Mode, "min_score": queries.last.MinScore, "filter": queries.last.Filter,
					"within": queries.last.TopK}[name]
				if !equal(t, got, want) {
					t.Errorf("%s is asked as %v, want %v", name, got, want)
				}
			}
			if !equal(t, first, queries.last) {
				t.Errorf("when saved it was asked as %+v, by a run as %+v", first, queries.last)
			}
		})
	}
	for given, want := range map[string]string{"false": "null", "null": "null", "true": "true", `{"depth": null}`: "{}",
		`{"depth": 7}`: `{"depth":7}`} {
		kept := d.save("home", "one", coretest.Object{"query": "lease", "expect": []string{},
			"rerank": json.RawMessage(given)}).OK()
		if got, err := json.Marshal(kept.JSON["rerank"]); string(got) != want || err != nil {
			t.Errorf("rerank %s is kept as %s, want %s", given, got, want)
		}
	}
	how := json.RawMessage(`{"model":"small","depth":7}`)
	q := check.Question{Query: "lease", Expect: []string{}, Rerank: how}
	if err := q.Validate(); err != nil {
		t.Errorf("a reranker and its depth: %v", err)
	}
	d.save("home", "one", coretest.Object{"query": "lease", "expect": []string{}, "rerank": how})
	if string(queries.last.Rerank) != string(how) {
		t.Errorf("asked to rerank by %s, want %s", queries.last.Rerank, how)
	}
}

// equal compares values by their JSON.
func equal(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return string(x) == string(y)
}

// TestOperations: what the table of operations says of each, which rights and rates go by.
func TestOperations(t *testing.T) {
	var got []string
	for _, o := range check.Operations() {
		s := o.Spec
		got = append(got, s.Name+" "+s.Method+" "+s.Path+" "+s.Timeout.String())
		if s.Mutates != (s.Class == op.Write) {
			t.Errorf("%s: %v, mutates %v", s.Name, s.Class, s.Mutates)
		}
	}
	const ns = "/namespaces/{namespace}/queries"
	want := []string{"queries.list GET " + ns + " 5s", "queries.save PUT " + ns + "/{query} 30s",
		"queries.delete DELETE " + ns + "/{query} 10s", "queries.run POST /namespaces/{namespace}/check 2m0s"}
	if !slices.Equal(got, want) {
		t.Errorf("declared %q\nwant %q", got, want)
	}
	for rerank, want := range map[string]int{"true": 1, `{"depth": 5}`: 1, "false": 0, "": 0} {
		if c := (&check.Question{Query: "x", Rerank: json.RawMessage(rerank)}).Classes(); len(c) != want {
			t.Errorf("rerank %q is charged %v", rerank, c)
		}
	}
}
