package meilisearch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/meilisearch/meilisearch-go"

	"github.com/mnemehq/mneme/adapters/index/meilisearch"
	"github.com/mnemehq/mneme/adapters/index/meilisearch/meilisearchtest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

func server(t testing.TB) *meilisearchtest.Server {
	t.Helper()
	return meilisearchtest.Start(t, meilisearchtest.Options{MasterKey: masterKey})
}

// quick is a configuration that notices changes at once and waits for little.
func quick(s *meilisearchtest.Server) meilisearch.Config {
	c := settings(s)
	c.Timeout, c.TaskTimeout, c.VerifyEvery = 2*time.Second, 2*time.Second, 10*time.Millisecond
	return c
}

func part(generation int64) port.Partition {
	return port.Documents(ident.Org("org_test"), "docs").At(generation)
}

// texts makes the change of a document with one chunk for each text.
func texts(id string, texts ...string) port.IndexChange {
	c := port.IndexChange{Document: id}
	for i, s := range texts {
		c.Entries = append(c.Entries, port.Entry{Chunk: i, Text: s})
	}
	return c
}

func apply(x port.Index, p port.Partition, after uint64, c ...port.IndexChange) error {
	return x.Apply(context.Background(), p, port.Batch{After: after, Upto: after + 1, Changes: c})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func find(t testing.TB, x port.Index, p port.Partition, text string) string {
	t.Helper()
	hits, err := x.Search(t.Context(), p, port.IndexQuery{Retriever: port.Keyword, Text: text, Limit: 100})
	if err != nil {
		t.Fatalf("search %q: %v", text, err)
	}
	var out []string
	for _, h := range hits {
		out = append(out, fmt.Sprint(h.Document, "/", h.Chunk))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func applied(t testing.TB, x port.Index, p port.Partition) uint64 {
	t.Helper()
	n, err := x.Applied(t.Context(), p)
	must(t, err)
	return n
}

// fails checks that an error is unavailable to callers and tells the operator why.
func fails(t testing.TB, what string, err error, words ...string) {
	t.Helper()
	if code := fault.CodeOf(err); code != fault.Unavailable && code != fault.Timeout {
		t.Errorf("%s: %v (%s), want unavailable", what, err, code)
		return
	}
	text := err.Error()
	if told := fault.From(err).Message; strings.Contains(told, "127.0.0.1") || strings.Contains(told, "status") {
		t.Errorf("%s: callers are told %q", what, told)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s: %q does not name %q", what, text, w)
		}
	}
	if strings.Contains(text, masterKey) {
		t.Errorf("%s: the error tells the key", what)
	}
}

func TestVersionTooOld(t *testing.T) {
	for version, ok := range map[string]bool{"1.14.0": false, "0.30.0": false, "1.15.0": true, "1.50.0": true,
		"2.0.0": true, "unknown": false} {
		s := meilisearchtest.Start(t, meilisearchtest.Options{Version: version})
		x, err := meilisearch.Open(t.Context(), settings(s), meilisearch.Options{})
		if ok {
			must(t, err)
			must(t, x.Close())
		} else {
			fails(t, "version "+version, err, "version", version, "1.15")
		}
	}
}

// An index opens without its server, whatever becomes of writes in the meantime, and serves
// once that is there; what else is wrong with the server still ends the start.
func TestDownAtStart(t *testing.T) {
	for policy, lags := range map[meilisearch.Outage]bool{meilisearch.Refuse: false, meilisearch.CatchUp: true} {
		t.Run(string(policy), func(t *testing.T) {
			s := server(t)
			s.Down()
			c := quick(s)
			c.OnOutage = policy
			x := open(t, c)
			if x.MayLag() != lags {
				t.Errorf("MayLag is %t", !lags)
			}
			must(t, x.Retain([]int64{1}))
			fails(t, "write", apply(x, part(1), 0, texts("a", "lighthouse")))
			_, err := x.Search(t.Context(), part(1), port.IndexQuery{Retriever: port.Keyword, Text: "lighthouse", Limit: 1})
			fails(t, "search", err)
			s.Up(t)
			must(t, apply(x, part(1), 0, texts("a", "lighthouse")))
			if got := find(t, x, part(1), "lighthouse"); got != "a/0" {
				t.Errorf("found %q", got)
			}
		})
	}
}

// Processes that start together on an empty server, or on an index that somebody
// has set up in part, all start.
func TestStartTogether(t *testing.T) {
	for _, strange := range []bool{false, true} {
		for range 5 {
			s := server(t)
			s.Delay(func(kind string) time.Duration { return rand.N(10 * time.Millisecond) })
			c := quick(s)
			c.Timeout, c.TaskTimeout = 10*time.Second, 20*time.Second
			if strange {
				m := client.New(s.URL, client.WithAPIKey(s.Key))
				task, err := m.CreateIndex(&client.IndexConfig{Uid: c.IndexPrefix + "_chunks", PrimaryKey: "id"})
				must(t, err)
				task, err = m.Index(task.IndexUID).UpdateSettings(&client.Settings{StopWords: []string{"the"}})
				must(t, err)
				_, err = m.WaitForTask(task.TaskUID, time.Millisecond)
				must(t, err)
			}
			var all sync.WaitGroup
			opened := make([]*meilisearch.Index, 6)
			for i := range opened {
				all.Go(func() {
					time.Sleep(rand.N(100 * time.Millisecond))
					x, err := meilisearch.Open(context.Background(), c, meilisearch.Options{})
					if err != nil {
						t.Errorf("process %d does not start: %v", i, err)
						return
					}
					opened[i] = x
				})
			}
			all.Wait()
			if t.Failed() {
				return
			}
			must(t, apply(opened[0], part(1), 0, texts("a", "the heron")))
			for _, x := range opened {
				if got := find(t, x, part(1), "the heron"); got != "a/0" {
					t.Errorf("found %q", got)
				}
				must(t, x.Close())
			}
		}
	}
}

func TestKeys(t *testing.T) {
	s := server(t)
	scoped := []string{"search", "documents.add", "documents.get", "documents.delete", "indexes.create", "settings.get",
		"settings.update", "tasks.get", "version"}
	s.AddKey("scoped", scoped...)
	c := quick(s)
	c.APIKey = "scoped"
	x := open(t, c)
	must(t, apply(x, part(1), 0, texts("a", "lighthouse")))
	must(t, apply(x, part(1), 1, texts("a", "ruin")))
	must(t, x.Drop(t.Context(), part(1)))
	must(t, x.Retain(nil))
	must(t, x.Ping(t.Context()))

	// Every action of the documented list is needed.
	for i, a := range scoped {
		name := fmt.Sprint("without", i)
		s.AddKey(name, slices.Delete(slices.Clone(scoped), i, i+1)...)
		c := fresh(c)
		c.APIKey = registry.Secret(name)
		x, err := meilisearch.Open(t.Context(), c, meilisearch.Options{})
		if err == nil {
			err = errors.Join(apply(x, part(1), 0, texts("a", "lighthouse")), x.Drop(t.Context(), part(1)))
			_, serr := x.Search(t.Context(), part(1), port.IndexQuery{Retriever: port.Keyword, Text: "lighthouse", Limit: 1})
			err = errors.Join(err, serr)
			must(t, x.Close())
		}
		if err == nil {
			t.Errorf("action %s is documented as needed and is not", a)
		}
	}

	s.RevokeKey("scoped")
	fails(t, "write with a revoked key", apply(x, part(2), 0, texts("a", "lighthouse")), "refuses the API key",
		"invalid_api_key", "403")
	_, err := x.Search(t.Context(), part(1), port.IndexQuery{Retriever: port.Keyword, Text: "lighthouse", Limit: 1})
	fails(t, "search with a revoked key", err, "refuses the API key")
	c.APIKey = ""
	_, err = meilisearch.Open(t.Context(), c, meilisearch.Options{})
	fails(t, "start without a key", err, "missing_authorization_header", "401")
}

func TestForeignIndexIsRefused(t *testing.T) {
	s := server(t)
	c := settings(s)
	other := client.New(s.URL, client.WithAPIKey(s.Key))
	task, err := other.Index(c.IndexPrefix+"_chunks").AddDocuments([]map[string]any{{"id": 1, "title": "not ours"}}, nil)
	must(t, err)
	_, err = other.WaitForTask(task.TaskUID, time.Millisecond)
	must(t, err)
	_, err = meilisearch.Open(t.Context(), c, meilisearch.Options{})
	fails(t, "an index of somebody else", err, "not made by mneme", "index_prefix")
	if n := s.Documents(c.IndexPrefix + "_chunks"); n != 1 {
		t.Errorf("%d documents are left of 1", n)
	}
}

func TestSettingsChangedUnderUs(t *testing.T) {
	for _, way := range []meilisearch.Changed{meilisearch.Report, meilisearch.Repair} {
		s := server(t)
		c := quick(s)
		c.ChangedSettings = way
		x := open(t, c)
		must(t, apply(x, part(1), 0, texts("a", "lighthouse keeper")))
		other := client.New(s.URL, client.WithAPIKey(s.Key)).Index(c.IndexPrefix + "_chunks")
		task, err := other.UpdateSettings(&client.Settings{StopWords: []string{"keeper"},
			SearchableAttributes: []string{"d"}, FilterableAttributes: []string{"p"}})
		must(t, err)
		_, err = other.WaitForTask(task.TaskUID, time.Millisecond)
		must(t, err)
		time.Sleep(2 * c.VerifyEvery)
		if way == meilisearch.Repair {
			if got := find(t, x, part(1), "keeper"); got != "a/0" {
				t.Errorf("found %q after the settings were set again", got)
			}
			continue
		}
		_, err = x.Search(t.Context(), part(1), port.IndexQuery{Retriever: port.Keyword, Text: "keeper", Limit: 1})
		fails(t, "search", err, "stopWords", "keeper", "searchableAttributes", "changed_settings: repair")
		fails(t, "write", apply(x, part(1), 1, texts("b", "lighthouse")), "stopWords")
		fails(t, "ping", x.Ping(t.Context()), "stopWords")
		_, err = meilisearch.Open(t.Context(), c, meilisearch.Options{})
		fails(t, "start", err, "filterableAttributes")
		c.ChangedSettings = meilisearch.Repair
		y := open(t, c)
		if got := find(t, y, part(1), "keeper"); got != "a/0" {
			t.Errorf("found %q after another start repaired the settings", got)
		}
		if got := find(t, x, part(1), "keeper"); got != "a/0" {
			t.Errorf("found %q by the process that refused", got)
		}
	}
}

func TestIndexDeletedUnderUs(t *testing.T) {
	s := server(t)
	c := settings(s) // the change is noticed by what fails, not by the clock
	x := open(t, c)
	must(t, apply(x, part(1), 0, texts("a", "lighthouse")))
	other := client.New(s.URL, client.WithAPIKey(s.Key))
	remove := func() {
		t.Helper()
		task, err := other.DeleteIndex(c.IndexPrefix + "_chunks")
		must(t, err)
		_, err = other.WaitForTask(task.TaskUID, time.Millisecond)
		must(t, err)
	}
	remove()
	if _, err := x.Search(t.Context(), part(1),
		port.IndexQuery{Retriever: port.Keyword, Text: "lighthouse", Limit: 1}); !errors.Is(err, port.ErrGap) {
		t.Errorf("search: %v, want ErrGap", err)
	}
	if err := apply(x, part(1), 1, texts("b", "lighthouse")); !errors.Is(err, port.ErrGap) {
		t.Errorf("write: %v, want ErrGap", err)
	}
	if n := applied(t, x, part(1)); n != 0 {
		t.Errorf("applied is %d of an index that is gone", n)
	}
	must(t, x.Apply(t.Context(), part(1),
		port.Batch{Upto: 2, Changes: []port.IndexChange{texts("a", "lighthouse"), texts("b", "lighthouse")}}))
	if got := find(t, x, part(1), "lighthouse"); got != "a/0 b/0" {
		t.Errorf("found %q after the rebuild", got)
	}
	remove()
	must(t, x.Drop(t.Context(), part(1)))
	must(t, x.Retain([]int64{1}))
	// The settings are ours again, not those of an index that a write made.
	set, err := other.Index(c.IndexPrefix + "_chunks").GetSettings()
	if err == nil && !slices.Equal(set.SearchableAttributes, []string{"w"}) {
		t.Errorf("settings %+v", set)
	}
}

// A write that was under way when the index was deleted makes it again without
// its settings; it is emptied and rebuilt, not taken for somebody else's.
func TestIndexDeletedUnderAWrite(t *testing.T) {
	s := server(t)
	c := quick(s)
	c.Timeout, c.TaskTimeout = 10*time.Second, 20*time.Second
	x, err := meilisearch.Open(t.Context(), c, meilisearch.Options{})
	must(t, err)
	must(t, apply(x, part(1), 0, texts("a", "heron")))
	m := client.New(s.URL, client.WithAPIKey(s.Key))
	uid := c.IndexPrefix + "_chunks"
	_, err = m.DeleteIndex(uid)
	must(t, err)
	key := "id"
	late := []map[string]any{{"id": "h1", "p": "g1", "h": "h2", "d": "b", "c": 0, "w": "egret", "f": []string{}, "v": 2},
		{"id": "g1", "p": "g1", "n": "2"}}
	task, err := m.Index(uid).AddDocuments(late, &client.DocumentOptions{PrimaryKey: &key})
	must(t, err)
	_, err = m.WaitForTask(task.TaskUID, time.Millisecond)
	must(t, err)
	time.Sleep(2 * c.VerifyEvery)
	if n := applied(t, x, part(1)); n != 0 {
		t.Fatalf("applied %d of an index that was lost", n)
	}
	must(t, apply(x, part(1), 0, texts("a", "heron")))
	if got := find(t, x, part(1), "heron egret"); got != "a/0" {
		t.Errorf("found %q", got)
	}
}

// A write that read how far its partition is, and comes after the index was deleted
// and made again, does not hide that all before it is missing.
func TestIndexMadeAgainUnderAWrite(t *testing.T) {
	for name, config := range map[string]func(testing.TB) meilisearch.Config{
		"in process": func(t testing.TB) meilisearch.Config { return settings(server(t)) },
		"real":       real,
	} {
		t.Run(name, func(t *testing.T) {
			c := fresh(config(t))
			origin, err := url.Parse(c.URL)
			must(t, err)
			proxy := httputil.NewSingleHostReverseProxy(origin)
			uid := c.IndexPrefix + "_chunks"
			arrived, pass := make(chan struct{}), make(chan struct{})
			var hold atomic.Bool
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if hold.Load() && r.Method == http.MethodPost && r.URL.Path == "/indexes/"+uid+"/documents" {
					hold.Store(false)
					close(arrived)
					<-pass
				}
				// Read whole before: once its answer begins, this server closes the body.
				body, err := io.ReadAll(r.Body)
				if err != nil {
					panic(http.ErrAbortHandler) // the caller is gone
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				proxy.ServeHTTP(w, r)
			}))
			defer front.Close()
			slow := c
			slow.URL = front.URL
			x, y := open(t, slow), open(t, c)
			must(t, apply(x, part(1), 0, texts("a", "heron")))
			hold.Store(true)
			done := make(chan error, 1)
			go func() { done <- apply(x, part(1), 1, texts("b", "egret"), texts("c", "stork")) }()
			<-arrived
			m := client.New(c.URL, client.WithAPIKey(c.APIKey.Reveal()))
			task, err := m.DeleteIndex(uid)
			must(t, err)
			_, err = m.WaitForTask(task.TaskUID, time.Millisecond)
			must(t, err)
			if n := applied(t, y, part(1)); n != 0 {
				t.Fatalf("applied is %d of an index that was recreated", n)
			}
			close(pass)
			must(t, <-done)
			for who, z := range map[string]port.Index{"the late writer": x, "another": y} {
				if n := applied(t, z, part(1)); n != 0 {
					t.Errorf("to %s applied is %d, though the first write is missing", who, n)
				}
				if err := apply(z, part(1), 2, texts("d", "ibis")); !errors.Is(err, port.ErrGap) {
					t.Errorf("a write of %s after it: %v, want ErrGap", who, err)
				}
			}
			must(t, y.Apply(t.Context(), part(1),
				port.Batch{Upto: 3, Changes: []port.IndexChange{texts("a", "heron"), texts("b", "egret"), texts("c")}}))
			if got := find(t, x, part(1), "heron egret stork"); got != "a/0 b/0" || applied(t, x, part(1)) != 3 {
				t.Errorf("found %q at %d", got, applied(t, x, part(1)))
			}
		})
	}
}

func TestSlowTasks(t *testing.T) {
	s := server(t)
	x := open(t, quick(s))
	must(t, apply(x, part(1), 0, texts("a", "lighthouse")))
	s.Hold()
	before := len(s.Tasks())
	for range 3 {
		err := apply(x, part(1), 1, texts("b", "lighthouse"))
		fails(t, "a write whose task does not run", err)
		if fault.CodeOf(err) != fault.Timeout {
			t.Errorf("%v, want a timeout", err)
		}
	}
	if n := len(s.Tasks()) - before; n != 1 {
		t.Errorf("the same write is queued %d times", n)
	}
	if n := applied(t, x, part(1)); n != 1 {
		t.Errorf("applied is %d before the task ran", n)
	}
	if got := find(t, x, part(1), "lighthouse"); got != "a/0" {
		t.Errorf("found %q before the task ran", got)
	}
	s.Release()
	must(t, apply(x, part(1), 1, texts("b", "lighthouse")))
	if got := find(t, x, part(1), "lighthouse"); got != "a/0 b/0" || applied(t, x, part(1)) != 2 {
		t.Errorf("found %q at %d", got, applied(t, x, part(1)))
	}
	// The caller's own time ends the wait, too.
	x = open(t, settings(s))
	s.Hold()
	defer s.Release()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	started := time.Now()
	err := x.Apply(ctx, part(1), port.Batch{After: 2, Upto: 3, Changes: []port.IndexChange{texts("c", "lighthouse")}})
	if fails(t, "a write with little time", err); time.Since(started) > time.Minute {
		t.Error("the wait went on after the caller's time")
	}
}

func TestFailedTask(t *testing.T) {
	s := server(t)
	x := open(t, settings(s))
	must(t, apply(x, part(1), 0, texts("a", "lighthouse")))
	s.Fail(func(kind string) (string, string) {
		if kind == "documentAdditionOrUpdate" {
			return "no_space_left_on_device", "There is no more space left on the device."
		}
		return "", ""
	})
	fails(t, "a write that fails in its task", apply(x, part(1), 1, texts("a", "ruin")), "no_space_left_on_device")
	if got := find(t, x, part(1), "lighthouse"); got != "a/0" || applied(t, x, part(1)) != 1 {
		t.Errorf("found %q at %d", got, applied(t, x, part(1)))
	}
	s.Fail(nil)
	must(t, apply(x, part(1), 1, texts("a", "ruin")))
	if got := find(t, x, part(1), "lighthouse"); got != "" {
		t.Errorf("found %q after it was replaced", got)
	}
}

func TestBusyServer(t *testing.T) {
	s := server(t)
	x := open(t, settings(s))
	for _, status := range []int{429, 502, 503, 504} {
		var n atomic.Int32
		s.Fault(func(*http.Request) int {
			if n.Add(1) == 1 {
				return status
			}
			return 0
		})
		seq := applied(t, x, part(1))
		n.Store(0)
		if err := apply(x, part(1), seq, texts("a", "lighthouse")); err != nil {
			t.Errorf("one answer %d in a write: %v", status, err)
		}
		n.Store(0)
		if got := find(t, x, part(1), "lighthouse"); got != "a/0" {
			t.Errorf("one answer %d in a search: found %q", status, got)
		}
	}
	for _, status := range []int{429, 500, 503} {
		s.Fault(func(*http.Request) int { return status })
		fails(t, "write", apply(x, part(2), 0, texts("a", "lighthouse")), fmt.Sprint(status))
		_, err := x.Search(t.Context(), part(1), port.IndexQuery{Retriever: port.Keyword, Text: "lighthouse", Limit: 1})
		fails(t, "search", err, fmt.Sprint(status))
	}
}

// The connection breaks at each request of a write in turn, after the server has
// taken it; the replay ends in the same state.
func TestDiesInMidWrite(t *testing.T) {
	for at := int32(1); ; at++ {
		s := server(t)
		x := open(t, settings(s))
		must(t, apply(x, part(1), 0, texts("a", "lighthouse", "lighthouse too", "and a third lighthouse"),
			texts("b", "lighthouse")))
		var n atomic.Int32
		s.Fault(func(*http.Request) int {
			if n.Add(1) == at {
				return -1
			}
			return 0
		})
		write := func() error { return apply(x, part(1), 1, texts("a", "lighthouse again"), texts("b")) }
		err := write()
		s.Fault(nil)
		if err != nil {
			fails(t, "a broken write", err)
			must(t, write())
		}
		if got := find(t, x, part(1), "lighthouse"); got != "a/0" || applied(t, x, part(1)) != 2 {
			t.Fatalf("broken at request %d: found %q at %d", at, got, applied(t, x, part(1)))
		}
		if n.Load() < at {
			if at < 5 {
				t.Fatalf("a write has %d requests only", n.Load())
			}
			return
		}
	}
}

func TestPayloadIsSplit(t *testing.T) {
	s := meilisearchtest.Start(t, meilisearchtest.Options{PayloadLimit: 2 << 20})
	c := settings(s)
	c.MaxPayloadMB, c.Timeout, c.TaskTimeout = 1, time.Minute, time.Minute
	x := open(t, c)
	b := port.Batch{Upto: 1}
	long := strings.Repeat("lighthouse keeper ", 4000)
	for i := range 40 {
		b.Changes = append(b.Changes, texts(fmt.Sprintf("d%02d", i), long))
	}
	before := len(s.Tasks())
	must(t, x.Apply(t.Context(), part(1), b))
	if n := len(s.Tasks()) - before; n < 3 {
		t.Errorf("%d tasks of nearly 3 MiB in parts of 1", n)
	}
	if n := len(strings.Fields(find(t, x, part(1), "lighthouse"))); n != 40 {
		t.Errorf("%d of 40 documents found", n)
	}
	c.MaxPayloadMB = 64
	y := open(t, c)
	fails(t, "a payload beyond the server's limit", y.Apply(t.Context(), part(2), b), "max_payload_mb")
}

// Two processes write the same partition at once, each some of the changes and in
// its own order of arrival; what counts is that both end in the last state.
func TestTwoProcesses(t *testing.T) {
	s := server(t)
	c := settings(s)
	a, b := open(t, c), open(t, c)
	const last = 30
	state := func(seq uint64) []port.IndexChange { // of document d at seq: seq%4 chunks
		var chunks []string
		for range int(seq % 4) {
			chunks = append(chunks, fmt.Sprint("lighthouse v", seq))
		}
		return []port.IndexChange{texts("d", chunks...), texts(fmt.Sprint("e", seq), "beacon")}
	}
	batch := func(after, upto uint64) port.Batch {
		out := port.Batch{After: after, Upto: upto, Changes: state(upto)}
		for seq := after + 1; seq < upto; seq++ {
			out.Changes = append(out.Changes, state(seq)[1])
		}
		return out
	}
	var wg sync.WaitGroup
	for i, x := range []*meilisearch.Index{a, b} {
		wg.Go(func() {
			for {
				at, err := x.Applied(t.Context(), part(1))
				if err != nil {
					t.Error(err)
					return
				}
				if at >= last {
					return
				}
				upto := min(last, at+1+uint64(i)*2)
				if err := x.Apply(t.Context(), part(1), batch(at, upto)); err != nil && !errors.Is(err, port.ErrGap) {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	// One may have fallen back behind the other at the end; a replay heals that.
	for _, x := range []*meilisearch.Index{a, b} {
		if at := applied(t, x, part(1)); at < last {
			must(t, x.Apply(t.Context(), part(1), batch(at, last)))
		}
	}
	if got := find(t, a, part(1), "lighthouse"); got != "d/0 d/1" {
		t.Errorf("found %q of a document that ends with two chunks", got)
	}
	if n := len(strings.Fields(find(t, b, part(1), "beacon"))); n != last {
		t.Errorf("%d of %d documents found", n, last)
	}
}

func TestRetain(t *testing.T) {
	s := server(t)
	c := settings(s)
	x := open(t, c)
	for g := int64(1); g <= 5; g++ {
		must(t, apply(x, part(g), 0, texts("a", "lighthouse")))
	}
	must(t, x.Retain([]int64{2, 4, 9}))
	for g := int64(1); g <= 5; g++ {
		want, at := "", uint64(0)
		if g%2 == 0 {
			want, at = "a/0", 1
		}
		if got := find(t, x, part(g), "lighthouse"); got != want || applied(t, x, part(g)) != at {
			t.Errorf("partition %d: found %q at %d", g, got, applied(t, x, part(g)))
		}
	}
}

// A partition that came to be after the list was read stays; one that the next
// list does not have either is over. What a health check asks for is not the store's.
func TestRetainKeepsWhatIsNewerThanTheList(t *testing.T) {
	x := open(t, settings(server(t)))
	for _, g := range []int64{-1, 6, 7, 8} {
		must(t, apply(x, part(g), 0, texts("a", "lighthouse")))
	}
	for i, c := range []struct{ live, want []int64 }{
		{[]int64{6}, []int64{-1, 6, 7, 8}}, // read before 7 and 8 came
		{[]int64{6, 7}, []int64{-1, 6, 7}},
		{nil, []int64{-1, 6, 7}}, // nothing is below the highest of none
		{nil, []int64{-1}},
	} {
		must(t, x.Retain(c.live))
		var got []int64
		for _, g := range []int64{-1, 6, 7, 8} {
			if applied(t, x, part(g)) > 0 {
				got = append(got, g)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Fatalf("list %d, %v: %v are left, want %v", i, c.live, got, c.want)
		}
	}
}

// Nothing is left of what went.
func TestNothingIsLeft(t *testing.T) {
	s := server(t)
	c := settings(s)
	x := open(t, c)
	empty := s.Documents(c.IndexPrefix + "_chunks")
	must(t, apply(x, part(1), 0, texts("a", "one", "two", "three")))
	must(t, apply(x, part(1), 1, texts("a", "one")))
	must(t, apply(x, part(1), 2, texts("a")))
	end := time.Now().Add(2 * time.Minute)
	for s.Documents(c.IndexPrefix+"_chunks") > empty+1 && time.Now().Before(end) {
		time.Sleep(time.Millisecond)
	}
	if n := s.Documents(c.IndexPrefix + "_chunks"); n != empty+1 {
		t.Errorf("%d documents beside the partition's own", n-empty-1)
	}
	must(t, x.Drop(t.Context(), part(1)))
	if n := s.Documents(c.IndexPrefix + "_chunks"); n != empty {
		t.Errorf("%d documents are left of a dropped partition", n-empty)
	}
}

// A changed analysis throws the index away at the start, and only there.
func TestChangedAnalysisRebuilds(t *testing.T) {
	s := server(t)
	c := quick(s)
	x := open(t, c)
	must(t, apply(x, part(1), 0, texts("a", "lighthouses")))
	other := c
	other.Stemmer = "none"
	y := open(t, other)
	if n := applied(t, y, part(1)); n != 0 {
		t.Errorf("applied is %d with another analysis", n)
	}
	must(t, apply(y, part(1), 0, texts("a", "lighthouses")))
	if got := find(t, y, part(1), "lighthouse"); got != "" {
		t.Errorf("found %q without a stemmer", got)
	}
	time.Sleep(2 * c.VerifyEvery)
	_, err := x.Applied(t.Context(), part(1))
	fails(t, "the process with the analysis before", err, "recreated")
}

func TestIdentifiersDoNotMatchByTypo(t *testing.T) {
	for name, c := range map[string]meilisearch.Config{"in process": settings(server(t))} {
		x := open(t, c)
		must(t, apply(x, part(2), 0, texts("a", "light house at 123 456"), texts("b", "lighthouse")))
		if got := find(t, x, part(2), "lighthouse"); got != "b/0" {
			t.Errorf("%s: a word is found cut in two: %q", name, got)
		}
		if got := find(t, x, part(2), "123456 keeper"); got != "" {
			t.Errorf("%s: a number is found cut in two: %q", name, got)
		}
		must(t, apply(x, part(1), 0, texts("a", "Order AB-123456 was shipped."),
			texts("b", "Order AB-123457 was lost."),
			texts("c", "Größe und Straße, naïve café: 東京タワー, C++ and foo_bar.baz@x.org")))
		for query, want := range map[string]string{
			"AB-123456": "a/0 b/0", // the part AB is in both
			"123456":    "a/0", "123457": "b/0", "123458": "", "12345": "",
			"shlpped": "", "ship": "a/0", "Grosse": "c/0", "grosse strasse": "c/0", "straße": "c/0", "cafe": "c/0",
			"東京": "c/0", "C++": "c/0", "foo_bar.baz@x.org": "c/0",
		} {
			if got := find(t, x, part(1), query); got != want {
				t.Errorf("%s: %q finds %q, want %q", name, query, got, want)
			}
		}
	}
}
