package opensearch_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/index/opensearch"
	"github.com/mnemehq/mneme/adapters/index/opensearch/opensearchtest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

func part(g int64) port.Partition { return port.Documents("org_test", "n").At(g) }

// batch has one chunk for each text, of documents a, b, c...
func batch(after uint64, texts ...string) port.Batch {
	b := port.Batch{After: after, Upto: after + 1}
	for i, text := range texts {
		b.Changes = append(b.Changes, port.IndexChange{Document: string(rune('a' + i)),
			Entries: []port.Entry{{Text: text, Vector: []float32{1, 0}, SparseTerms: []uint32{7}, SparseWeights: []float32{1}}}})
	}
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// find is what keyword search gives, documents in their order.
func find(t testing.TB, x *opensearch.Index, p port.Partition, text string) string {
	t.Helper()
	hits, err := x.Search(t.Context(), p, port.IndexQuery{Retriever: port.Keyword, Text: text, Limit: 10})
	must(t, err)
	var b strings.Builder
	for _, h := range hits {
		b.WriteString(h.Document)
	}
	return b.String()
}

// api sends a request to the server itself.
func api(t testing.TB, method, path, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, node.URL(t)+path, strings.NewReader(body))
	must(t, err)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must(t, err)
	if res.StatusCode >= 300 {
		t.Fatalf("%s %s: %s: %s", method, path, res.Status, text)
	}
	return string(text)
}

// between is the address of a proxy to the server whose answers change may replace: it
// returns a status and a body, or 0 to let the answer pass.
func between(t testing.TB, change func(r *http.Request, answer string) (status int, body string)) string {
	t.Helper()
	target, err := url.Parse(node.URL(t))
	must(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Del("Accept-Encoding") // what is changed is to be text
	}}
	proxy.ModifyResponse = func(r *http.Response) error {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		if status, body := change(r.Request, string(text)); status != 0 {
			r.StatusCode, text = status, []byte(body)
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		r.Header.Del("Content-Length")
		return nil
	}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s.URL
}

// Each fault when opening is a sentence that says what to change.
func TestOpeningNamesTheRemedy(t *testing.T) {
	type change = func(r *http.Request, answer string) (int, string)
	root := func(body string) change {
		return func(r *http.Request, _ string) (int, string) {
			if r.URL.Path == "/" {
				return http.StatusOK, body
			}
			return 0, ""
		}
	}
	replaced := func(from, to string) change {
		return func(r *http.Request, answer string) (int, string) {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "-chunks") {
				return http.StatusOK, strings.ReplaceAll(answer, from, to)
			}
			return 0, ""
		}
	}
	always := func(status int, body string) change {
		return func(*http.Request, string) (int, string) { return status, body }
	}
	for name, c := range map[string]struct {
		change change
		want   string
	}{
		"an old version": {root(`{"version":{"number":"2.11.0","distribution":"opensearch"}}`), "upgrade it to 2.19"},
		"a version that is none": {
			root(`{"version":{"number":"three","distribution":"opensearch"}}`), "upgrade it to 2.19"},
		"Elasticsearch":     {root(`{"version":{"number":"9.1.0"}}`), "is not OpenSearch"},
		"wrong credentials": {always(http.StatusUnauthorized, "Unauthorized"), "refuses username and password"},
		"no permission": {
			always(http.StatusForbidden, `{"error":{"type":"security_exception","reason":"no"}}`), "permissions"},
		"segment copies": {
			replaced(`"index.replication.type":"DOCUMENT"`, `"index.replication.type":"SEGMENT"`), "delete the index"},
		"no replication": {replaced(`"index.replication.type":"DOCUMENT",`, ``), "delete the index"},
		"no k-NN":        {replaced(`"index.knn":"true",`, ``), "index.knn"},
		"translog": {
			replaced(`"index.translog.durability":"request"`, `"index.translog.durability":"async"`), "set it to request"},
		"another field type": {replaced(`"s":{"type":"rank_features"}`, `"s":{"type":"text"}`), "delete the index"},
		"another engine":     {replaced(`"engine":"lucene"`, `"engine":"faiss"`), "delete the index"},
		"a loose mapping":    {replaced(`"dynamic":"strict"`, `"dynamic":"true"`), "delete the index"},
		"the k-NN plugin is missing": {func(r *http.Request, _ string) (int, string) {
			if r.Method == http.MethodPut {
				return http.StatusBadRequest,
					`{"error":{"type":"illegal_argument_exception","reason":"unknown setting [index.knn] please check"}}`
			}
			if strings.HasSuffix(r.URL.Path, "-chunks") {
				return http.StatusNotFound, `{"error":{"type":"index_not_found_exception","reason":"no such index"}}`
			}
			return 0, ""
		}, "install opensearch-knn"},
	} {
		t.Run(name, func(t *testing.T) {
			s := settings(t)
			must(t, open(t, s).Apply(t.Context(), part(1), batch(0, "heron")))
			s.Hosts = []string{between(t, c.change)}
			x, err := opensearch.Open(t.Context(), s, opensearch.Options{})
			if err == nil {
				_ = x.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want a word of %q", err, c.want)
			}
			if fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("callers see %s", fault.CodeOf(err))
			}
		})
	}
}

// A start does without a cluster, which is found later; until then all fails as unavailable.
func TestStartsWithoutTheCluster(t *testing.T) {
	s := settings(t)
	up := false
	address := between(t, func(*http.Request, string) (int, string) {
		if up {
			return 0, ""
		}
		return http.StatusServiceUnavailable, `{"error":{"type":"master_not_discovered_exception","reason":null}}`
	})
	s.Hosts = []string{address}
	x := open(t, s)
	if err := x.Ping(t.Context()); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("ping: %v", err)
	}
	if err := x.Apply(t.Context(), part(1), batch(0, "heron")); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("apply: %v", err)
	}
	q := port.IndexQuery{Retriever: port.Keyword, Text: "x", Limit: 1}
	if _, err := x.Search(t.Context(), part(1), q); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("search: %v", err)
	}
	must(t, x.Retain(nil))
	up = true
	must(t, x.Apply(t.Context(), part(1), batch(0, "heron")))
	if got := find(t, x, part(1), "heron"); got != "a" {
		t.Errorf("found %q", got)
	}
}

// An answer that lacks a shard, or ran out of time, is refused, whatever its status.
func TestPartialAnswersAreRefused(t *testing.T) {
	s := settings(t)
	must(t, open(t, s).Apply(t.Context(), part(1), batch(0, "heron")))
	for from, to := range map[string]string{`"timed_out":false`: `"timed_out":true`, `"failed":0`: `"failed":1`,
		`"successful":1`: `"successful":0`} {
		c := s
		c.Hosts = []string{between(t, func(r *http.Request, answer string) (int, string) {
			if strings.HasSuffix(r.URL.Path, "/_search") {
				return http.StatusOK, strings.Replace(answer, from, to, 1)
			}
			return 0, ""
		})}
		x := open(t, c)
		for _, q := range []port.IndexQuery{
			{Retriever: port.Keyword, Text: "heron", Limit: 10},
			{Retriever: port.Vector, Vector: []float32{1, 0}, Limit: 10},
			{Retriever: port.SparseTerms, SparseTerms: []uint32{7}, SparseWeights: []float32{1}, Limit: 10},
		} {
			if h, err := x.Search(t.Context(), part(1), q); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("%s, %s: %v, %v", q.Retriever, to, h, err)
			}
		}
	}
}

// A block for writes leaves what is there, and what was written while it held is not lost to
// the next attempt.
func TestReadOnlyBlock(t *testing.T) {
	s := settings(t)
	x := open(t, s)
	must(t, x.Apply(t.Context(), part(1), batch(0, "heron")))
	name := "/" + s.IndexPrefix + "-chunks-1/_settings"
	api(t, http.MethodPut, name, `{"index.blocks.read_only_allow_delete":true}`)
	err := x.Apply(t.Context(), part(1), batch(1, "egret"))
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "free space") {
		t.Errorf("blocked: %v", err)
	}
	if got := find(t, x, part(1), "heron"); got != "a" {
		t.Errorf("found %q", got)
	}
	api(t, http.MethodPut, name, `{"index.blocks.read_only_allow_delete":null}`)
	must(t, x.Apply(t.Context(), part(1), batch(1, "egret")))
	if got := find(t, x, part(1), "heron egret"); got != "a" {
		t.Errorf("found %q", got)
	}
}

// A cluster that makes no new index is named with what to do, a start does without it, and the index is
// made as soon as it may be.
func TestCreateIndexBlock(t *testing.T) {
	s := settings(t)
	block := func(on string) {
		api(t, http.MethodPut, "/_cluster/settings", `{"persistent": {"cluster.blocks.create_index": `+on+`}}`)
	}
	block("true")
	defer block("null")
	x := open(t, s)
	says(t, "blocked", x.Apply(t.Context(), part(1), batch(0, "heron")), fault.Unavailable, "cluster.blocks.create_index")
	block("null")
	must(t, x.Apply(t.Context(), part(1), batch(0, "heron")))
	if got := find(t, x, part(1), "heron"); got != "a" {
		t.Errorf("found %q", got)
	}
}

// says fails unless an error is of a code and its sentence for the log holds some words.
func says(t testing.TB, what string, err error, code fault.Code, words string) {
	t.Helper()
	if err == nil || fault.CodeOf(err) != code || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: %v, want %s and %q", what, err, code, words)
	}
}

// An index whose primary shard has no node, or that is closed, is named with what to do. Nothing is
// answered until then, and all is there once it is put right.
func TestRedAndClosedIndex(t *testing.T) {
	s := settings(t)
	s.Shards = 1
	x := open(t, s)
	must(t, x.Apply(t.Context(), part(1), batch(0, "heron")))
	name := "/" + s.IndexPrefix + "-chunks-1"
	// Nothing but how many primary shards a node takes up at once keeps one from a node that has its files.
	recoveries := func(n string) {
		api(t, http.MethodPut, "/_cluster/settings",
			`{"transient": {"cluster.routing.allocation.node_initial_primaries_recoveries": `+n+`}}`)
	}
	recoveries("0")
	defer recoveries("null")
	api(t, http.MethodPost, name+"/_close?wait_for_active_shards=0", "")
	says(t, "closed", x.Apply(t.Context(), part(1), batch(1, "egret")), fault.Unavailable, "_open")
	api(t, http.MethodPost, name+"/_open?wait_for_active_shards=0", "")
	says(t, "ping", x.Ping(t.Context()), fault.Unavailable, "the index is red")
	q := port.IndexQuery{Retriever: port.Keyword, Text: "heron", Limit: 1}
	if h, err := x.Search(t.Context(), part(1), q); err == nil {
		t.Errorf("search: %v", h)
	}
	s.Timeout, s.WriteTimeout = time.Second, time.Second // OpenSearch would wait for the shard
	if err := open(t, s).Apply(t.Context(), part(1), batch(1, "egret")); err == nil {
		t.Error("a write to a shard without a node is taken")
	}
	open(t, s) // a start does without it
	recoveries("null")
	api(t, http.MethodGet, "/_cluster/health"+name+"?wait_for_status=green&timeout=60s", "")
	if got := find(t, x, part(1), "heron"); got != "a" {
		t.Errorf("found %q", got)
	}
	must(t, x.Apply(t.Context(), part(1), batch(1, "egret")))
	must(t, x.Ping(t.Context()))
}

// A node that does not answer, and one whose certificate is not trusted, are named with what to do,
// and a start does without them.
func TestUnreachableNodes(t *testing.T) {
	s := opensearch.Default()
	hung := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hung:
		case <-r.Context().Done():
		}
	}))
	defer silent.Close()
	defer close(hung)
	sealed := httptest.NewTLSServer(http.NotFoundHandler())
	defer sealed.Close()
	sealed.Config.ErrorLog = log.New(io.Discard, "", 0)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, c := range map[string]struct {
		address string
		timeout time.Duration
		code    fault.Code
		words   string
	}{
		"silent": {silent.URL, 100 * time.Millisecond, fault.Timeout, "raise timeout"},
		"sealed": {sealed.URL, time.Minute, fault.Unavailable, "set ca_file"},
		"gone":   {gone.URL, time.Minute, fault.Unavailable, "no node of hosts"},
	} {
		s.Hosts, s.Timeout = []string{c.address}, c.timeout
		x := open(t, s)
		says(t, name, x.Ping(t.Context()), c.code, c.words)
		says(t, name+", write", x.Apply(t.Context(), part(1), batch(0, "heron")), c.code, c.words)
		_, err := x.Search(t.Context(), part(1), port.IndexQuery{Retriever: port.Keyword, Text: "heron", Limit: 1})
		says(t, name+", search", err, c.code, c.words)
	}
}

// Nodes without the k-NN plugin are refused by name.
func TestNodesWithoutThePlugin(t *testing.T) {
	opensearchtest.Part(t)
	bare := opensearchtest.New("without=knn.plugin.KNN")
	t.Cleanup(bare.Stop)
	s := opensearch.Default()
	s.Hosts = []string{bare.URL(t)}
	x, err := opensearch.Open(t.Context(), s, opensearch.Options{})
	if err == nil {
		_ = x.Close()
	}
	says(t, "open", err, fault.Unavailable, "install opensearch-knn")
}

// A bulk request that is broken off leaves an attempt whose chunks are in no answer, even
// when they come late, and the next batch need not wait for it.
func TestAttemptsThatWereGivenUp(t *testing.T) {
	s := settings(t)
	must(t, open(t, s).Apply(t.Context(), part(1), batch(0, "heron")))
	late := ""
	c := s
	c.Hosts = []string{between(t, func(r *http.Request, answer string) (int, string) {
		if strings.HasSuffix(r.URL.Path, "/_bulk") {
			late = r.URL.RequestURI()
			return http.StatusForbidden, `{"error":{"type":"security_exception","reason":"lost after it was done"}}`
		}
		return 0, ""
	})}
	broken := open(t, c)
	if err := broken.Apply(t.Context(), part(1), batch(1, "egret", "egret egret")); err == nil {
		t.Fatal("a bulk request without an answer is taken")
	}
	x := open(t, s)
	api(t, http.MethodPost, "/"+s.IndexPrefix+"-chunks/_refresh", "")
	if got := find(t, x, part(1), "egret heron"); got != "a" || late == "" {
		t.Errorf("found %q after an attempt that failed", got)
	}
	if at, err := x.Applied(t.Context(), part(1)); at != 1 || err != nil {
		t.Errorf("applied %d, %v", at, err)
	}
	must(t, x.Apply(t.Context(), part(1), batch(1, "stork")))
	for text, want := range map[string]string{"egret": "", "heron": "", "stork": "a"} {
		if got := find(t, x, part(1), text); got != want {
			t.Errorf("%s: found %q, want %q", text, got, want)
		}
	}
	// A chunk of the attempt comes after all, as from a process that was taken for dead.
	api(t, http.MethodPut, "/"+s.IndexPrefix+"-chunks/_doc/g1-2-9?routing=g1&refresh=true",
		`{"p":"g1","h":"x","d":"late","c":0,"a":2,"l":1,"k":{"stork":1}}`)
	if got := find(t, x, part(1), "stork"); got != "a" {
		t.Errorf("found %q after a late write", got)
	}
	must(t, x.Drop(t.Context(), part(1)))
	must(t, x.Apply(t.Context(), part(1), batch(0, "stork")))
	api(t, http.MethodPut, "/"+s.IndexPrefix+"-chunks/_doc/g1-3-9?routing=g1&refresh=true",
		`{"p":"g1","h":"x","d":"late","c":0,"a":3,"l":1,"k":{"stork":1}}`)
	if got := find(t, x, part(1), "stork"); got != "a" {
		t.Errorf("found %q after a late write of an earlier life", got)
	}
}

// Writers of several processes take turns: each batch is applied once and none is lost.
func TestWritersOfSeveralProcesses(t *testing.T) {
	s := settings(t)
	one, two := open(t, s), open(t, s)
	const last = 6
	ended := make(chan error, 2)
	for _, x := range []*opensearch.Index{one, two} {
		go func() {
			for at := uint64(0); at < last; {
				if err := x.Apply(context.Background(), part(1), batch(at, strings.Repeat("heron ", int(at)+1))); err != nil {
					ended <- err
					return
				}
				var err error
				if at, err = x.Applied(context.Background(), part(1)); err != nil {
					ended <- err
					return
				}
			}
			ended <- nil
		}()
	}
	must(t, errors.Join(<-ended, <-ended))
	for _, x := range []*opensearch.Index{one, two} {
		if got := find(t, x, part(1), "heron"); got != "a" {
			t.Errorf("found %q", got)
		}
	}
}

// A write that takes longer than other processes wait for one is not taken for dead while it shows that
// it goes on, whatever its requests take.
func TestLongWritesShowThatTheyGoOn(t *testing.T) {
	opensearchtest.Part(t)
	s := settings(t)
	other := open(t, s)
	held, written := make(chan struct{}), make(chan error, 1)
	signs, enough := atomic.Int32{}, make(chan struct{})
	s.Hosts = []string{between(t, func(r *http.Request, _ string) (int, string) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/_bulk"):
			close(held)
			select {
			case <-enough:
			case err := <-written: // by the other, instead of waiting
				written <- err
			}
		case r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/_doc/"):
			if signs.Add(1) == 1+7 { // after the first, one a second; the other waits five
				close(enough)
			}
		}
		return 0, ""
	})}
	slow := open(t, s)
	ended := make(chan error, 1)
	go func() { ended <- slow.Apply(context.Background(), part(1), batch(0, "heron")) }()
	<-held
	go func() { written <- other.Apply(context.Background(), part(1), batch(0, "egret")) }()
	must(t, <-ended)
	must(t, <-written)
	for text, want := range map[string]string{"heron": "a", "egret": ""} {
		if got := find(t, other, part(1), text); got != want {
			t.Errorf("%s: found %q, want %q", text, got, want)
		}
	}
}

// An index that somebody deletes is made again with its mapping, and says that it lacks all.
func TestDeletedIndex(t *testing.T) {
	s := settings(t)
	x := open(t, s)
	must(t, x.Apply(t.Context(), part(1), batch(0, "heron")))
	if at, err := x.Applied(t.Context(), part(1)); at != 1 || err != nil {
		t.Fatalf("applied %d, %v", at, err)
	}
	api(t, http.MethodDelete, "/"+s.IndexPrefix+"-chunks-1", "")
	_, err := x.Search(t.Context(), part(1), port.IndexQuery{Retriever: port.Keyword, Text: "heron", Limit: 1})
	if !errors.Is(err, port.ErrGap) {
		t.Errorf("search: %v, want ErrGap", err)
	}
	if at, err := x.Applied(t.Context(), part(1)); at != 0 || err != nil {
		t.Errorf("applied %d, %v", at, err)
	}
	if err := x.Apply(t.Context(), part(1), batch(1, "egret")); !errors.Is(err, port.ErrGap) {
		t.Errorf("apply: %v, want ErrGap", err)
	}
	must(t, x.Apply(t.Context(), part(1), batch(0, "heron")))
	if got := find(t, x, part(1), "heron"); got != "a" {
		t.Errorf("found %q", got)
	}
}

// Partitions that are not live go, with what was left of them.
func TestRetain(t *testing.T) {
	s := settings(t)
	x := open(t, s)
	for g := range int64(3) {
		must(t, x.Apply(t.Context(), part(g+1), batch(0, "heron")))
	}
	api(t, http.MethodPut, "/"+s.IndexPrefix+"-chunks/_doc/g1-9-9?routing=g1",
		`{"p":"g1","h":"x","d":"late","c":0,"a":9,"l":1,"k":{"heron":1}}`)
	must(t, x.Retain([]int64{2}))
	if got := find(t, x, part(3), "heron"); got != "a" {
		t.Errorf("a partition that may be new: found %q", got)
	}
	must(t, x.Retain([]int64{2}))
	api(t, http.MethodPost, "/"+s.IndexPrefix+"-chunks/_refresh", "")
	if got := api(t, http.MethodGet, "/"+s.IndexPrefix+"-chunks/_count", ""); !strings.Contains(got, `"count":2,`) {
		t.Errorf("left: %s", got)
	}
	if got := find(t, x, part(2), "heron"); got != "a" {
		t.Errorf("the live one: found %q", got)
	}
}
