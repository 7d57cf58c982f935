package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
)

const ndjson = "application/x-ndjson"

// exported is a namespace of the default organization as a data set.
func (s *server) exported(ns, query string) []byte {
	s.t.Helper()
	r := s.administrator("default").get(reindexPath + ns + "/export" + query).ok()
	if got := r.header.Get("Content-Type"); got != ndjson {
		s.t.Errorf("an export has the type %q", got)
	}
	return r.body
}

// brought imports a data set into a namespace of the default organization.
func (s *server) brought(ns, query string, set any, headers ...string) *reply {
	s.t.Helper()
	return s.administrator("default").post(reindexPath+ns+"/import"+query, set,
		append([]string{"Content-Type", ndjson}, headers...)...)
}

// counts checks an import's answer: created, replaced, unchanged, skipped, embedded.
func (r *reply) counts(created, replaced, unchanged, skipped, embedded int) *reply {
	r.t.Helper()
	r.ok()
	fields(r.t, "an import", r.json, "namespace", "sparse", "data_set", "hash", "documents", "created", "replaced",
		"unchanged", "skipped", "chunks", "embedded")
	got := [...]float64{r.number("created"), r.number("replaced"), r.number("unchanged"), r.number("skipped"),
		r.number("embedded"), r.number("documents")}
	want := [...]float64{float64(created), float64(replaced), float64(unchanged), float64(skipped), float64(embedded),
		float64(created + replaced + unchanged + skipped)}
	if got != want {
		r.t.Errorf("created, replaced, unchanged, skipped, embedded, documents: %v, want %v", got, want)
	}
	return r
}

func gzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A namespace goes from one server to another as it is, and over HTTP compressed as well.
func TestNamespaceMoves(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		from := start(t, b, options{sparse: &coretest.SparseEncoder{}})
		from.post("/namespaces", object{"name": "docs", "sparse": true}).ok()
		docs := corpus(130)
		from.writeAll("docs", docs)
		from.write("docs", doc("d003", "It was rewritten later.", `{"quote":"<&> \u2028 \"","n":1.50}`))
		set, bare := from.exported("docs", ""), from.exported("docs", "?vectors=false")
		e := coretest.End(t, set)
		if e.Counts.Documents != 130 || e.Counts.Chunks < 130 || coretest.End(t, bare).Counts.Chunks != 0 {
			t.Errorf("the end lines count %+v, and without vectors %+v", e.Counts, coretest.End(t, bare).Counts)
		}

		to := start(t, b, options{sparse: &coretest.SparseEncoder{}})
		r := to.brought("docs", "", set).counts(130, 0, 0, 0, 0)
		if want, _ := e.Hash.MarshalText(); r.json["hash"] != string(want) ||
			r.number("chunks") != float64(e.Counts.Chunks) || r.json["sparse"] != true || r.json["namespace"] != "docs" {
			t.Errorf("%s; the end line has %s and %+v", r.body, want, e.Counts)
		}
		if again := coretest.End(t, to.exported("docs", "")); again.Hash != e.Hash || again.Counts != e.Counts {
			t.Errorf("exported again: %+v, was %+v", again, e)
		}
		if was, is := stored(from, "docs"), stored(to, "docs"); strings.Join(was, "\n") != strings.Join(is, "\n") {
			t.Errorf("documents differ")
		}
		q := object{"query": docs[11]["text"], "top_k": 20}
		if was, is := from.query("docs", q).found(),
			to.query("docs", q).found(); !b.ranks && strings.Join(was, " ") != strings.Join(is, " ") || len(is) == 0 {
			t.Errorf("finds %v, found %v", is, was)
		}
		to.brought("other-name", "", gzipped(t, set), "Content-Encoding", "gzip").counts(130, 0, 0, 0, 0)
		if again := coretest.End(t, to.exported("other-name", "")); again.Hash != e.Hash {
			t.Errorf("under another name: %+v, was %+v", again, e)
		}
		to.brought("bare", "", bare).counts(130, 0, 0, 0, 130)

		// What is there with other contents is met as the query string says.
		to.write("docs", doc("d003", "It was rewritten here.", ""))
		to.brought("docs", "", set).fails(409, "conflict", `"d003"`, "on_conflict", "nothing was imported")
		to.brought("docs", "?on_conflict=fail", set).fails(409, "conflict")
		to.brought("docs", "?on_conflict=skip", set).counts(0, 0, 129, 1, 0)
		to.brought("docs", "?on_conflict=replace", set).counts(0, 1, 129, 0, 0)
		if got := to.get("/namespaces/docs/documents/d003").ok().json["text"]; got != "It was rewritten later." {
			t.Errorf("replace kept %v", got)
		}
	})
}

// A body that is not whole, or that its client leaves, changes nothing.
func TestImportOfDamage(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.writeAll("docs", corpus(60))
		set := s.exported("docs", "")
		z := gzipped(t, set)
		s.brought("copy", "", set[:len(set)*2/3]).fails(400, "invalid_request", "line", "does not end")
		s.brought("copy", "", bytes.Replace(set, []byte(`"text":"`), []byte(`"text":"x`), 1)).fails(400, "invalid_request",
			"line 5", "hash")
		s.brought("copy", "", z[:len(z)/2], "Content-Encoding", "gzip").fails(400, "invalid_request", "does not end")
		s.brought("copy", "", append(bytes.Repeat([]byte("x"), 32<<20+1), '\n')).fails(413, "payload_too_large", "line 1",
			"nothing was imported")
		// A client that goes away in the middle.
		ctx, cancel := context.WithCancel(context.Background())
		read, write := io.Pipe()
		go func() {
			_, _ = write.Write(set[:len(set)/2])
			cancel()
			_ = write.CloseWithError(context.Canceled) // the client may wait for its body's end
		}()
		req, err := http.NewRequestWithContext(ctx, "POST", s.url+reindexPath+"copy/import", read)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", ndjson)
		req.Header.Set("Authorization", "Bearer "+s.administrator("default").key)
		if res, err := s.client.Do(req); err == nil {
			_ = res.Body.Close()
			t.Errorf("half an import answers %d", res.StatusCode)
		}
		if s.ids("copy") != nil {
			t.Error("something was imported")
		}
		s.brought("copy", "", set).counts(60, 0, 0, 0, 0)
	})
}

// Only who administers the organization reaches its namespaces.
func TestTransferAccess(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.write("docs", doc("a", "Alpha.", ""))
		set := s.exported("docs", "")
		acme := s.organization("acme")
		other := s.administrator("acme")
		const out, in = reindexPath + "docs/export", reindexPath + "docs/import"
		other.get(out).fails(404, "not_found", "organization")
		other.post(in, set, "Content-Type", ndjson).fails(404, "not_found", "organization")
		for name, key := range map[string]string{"service": s.key, "another's service": acme.key, "none": "",
			"made up":     "adm-" + strings.Repeat("x", 43),
			"integration": s.issue(key.Issue{Kind: ident.Integration, Integration: "chat", Scopes: ident.Scopes()})} {
			s.as(key).get(out).fails(401, "unauthorized")
			if r := s.as(key).post(in, set, "Content-Type", ndjson).fails(401, "unauthorized"); t.Failed() {
				t.Fatalf("with %s key: %d", name, r.status)
			}
		}
		reader := s.as(s.issue(key.Issue{Kind: ident.Admin, ReadOnly: true}))
		reader.get(out).ok()
		reader.post(in, set, "Content-Type", ndjson).fails(403, "forbidden")
		// The same name in another organization is another namespace.
		op := s.operator()
		op.get("/admin/v1/organizations/acme/namespaces/docs/export").fails(404, "namespace_not_found", "docs")
		op.post("/admin/v1/organizations/acme/namespaces/docs/import", set, "Content-Type", ndjson).counts(1, 0, 0, 0, 0)
		if got := acme.get("/namespaces/docs/documents/a").ok().json["text"]; got != "Alpha." {
			t.Errorf("%v", got)
		}
		acme.write("docs", doc("b", "Acme's own.", ""))
		if e := coretest.End(t, s.exported("docs", "")); e.Counts.Documents != 1 {
			t.Errorf("an export has %+v", e.Counts)
		}

		own := s.administrator("default")
		own.get(reindexPath+"none/export").fails(404, "namespace_not_found")
		own.get(reindexPath+"No/export").fails(400, "invalid_namespace")
		own.get(out+"?vectors=maybe").fails(400, "invalid_request", "vectors")
		own.post(reindexPath+"No/import", set, "Content-Type", ndjson).fails(400, "invalid_namespace")
		own.post(in+"?on_conflict=merge", set, "Content-Type", ndjson).fails(400, "invalid_request", "on_conflict")
		own.post(in, set).fails(400, "invalid_request", "Content-Type", ndjson)
		own.post(in, nil).fails(400, "invalid_request", ndjson)
		own.post(in, set, "Content-Type", ndjson, "Content-Encoding", "br").fails(400, "invalid_request", "Content-Encoding")
		own.get(in).fails(405, "method_not_allowed")
	})
}

// An export that fails says so in its last line, and does not look whole.
func TestNamespaceExportThatFails(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		var disk *breaking
		s := start(t, b, options{engine: func(c *engine.Config) {
			disk = &breaking{DocumentStore: c.Store}
			disk.left.Store(1 << 30)
			c.Store = disk
		}})
		s.writeAll("docs", corpus(200))
		key := s.administrator("default").key
		disk.left.Store(2)
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.url+reindexPath+"docs/export", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := s.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		disk.left.Store(1 << 30)
		if err == nil {
			t.Error("the answer looks whole")
		}
		last := bytes.TrimSuffix(body, []byte("\n"))
		last = last[bytes.LastIndexByte(last, '\n')+1:]
		if !bytes.HasPrefix(last, []byte(`{"type":"error","data":{"code":"internal_error",`)) ||
			bytes.Contains(body, []byte("disk is gone")) {
			t.Errorf("the last line is %s", clip(last))
		}
		s.brought("copy", "", body).fails(400, "invalid_request", "the export failed here")
		if s.ids("copy") != nil {
			t.Error("something was imported")
		}
		s.brought("copy", "", s.exported("docs", "")).counts(200, 0, 0, 0, 0)
	})
}

// An import into a namespace that is being reindexed loses nothing, whichever of its
// batches come before the swap.
func TestImportBesideReindexing(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		from, s := start(t, b, options{}), start(t, b, options{})
		docs := corpus(260)
		from.writeAll("docs", docs)
		set := from.exported("docs", "")
		s.writeAll("docs", docs[:60])
		s.write("docs", doc("x", "Only here.", ""))
		op := s.administrator("default")
		if r := op.post(reindexPath+"docs/reindex", object{"force": true}); r.status != 202 && r.status != 200 {
			t.Fatalf("%d %s", r.status, r.body)
		}
		s.brought("docs", "", set).counts(200, 0, 60, 0, 0)
		if last := op.reindexed("docs"); last["status"] != "succeeded" {
			t.Errorf("the reindexing: %v", last)
		}
		if n := len(s.ids("docs")); n != 261 {
			t.Errorf("%d documents", n)
		}
		for _, i := range []int{5, 120, 259} {
			if hits := s.query("docs", object{"query": docs[i]["text"], "top_k": 3}).found(); len(hits) == 0 ||
				hits[0] != docs[i]["id"] {
				t.Errorf("%v is not found: %v", docs[i]["id"], hits)
			}
		}
		if r := s.brought("docs", "", set).counts(0, 0, 260, 0, 0); r.number("chunks") != 0 {
			t.Errorf("%s", r.body)
		}
	})
}

// viewed counts the snapshots that are being read.
type viewed struct {
	port.DocumentStore
	open atomic.Int64
}

func (v *viewed) View(ctx context.Context, fn func(port.Reader) error) error {
	v.open.Add(1)
	defer v.open.Add(-1)
	return v.DocumentStore.View(ctx, fn)
}

// Neither way holds more in memory than a few documents, and who reads slowly holds
// no snapshot. It runs alone, since others' memory would be counted too.
func TestTransferHoldsLittle(t *testing.T) {
	sequential(t)
	var views *viewed
	from := start(t, backends()[0], options{engine: func(c *engine.Config) {
		views = &viewed{DocumentStore: c.Store}
		c.Store = views
	}})
	to := start(t, backends()[0], options{})
	const documents, size = 400, 60_000 // 24 MB
	word := strings.Repeat("x", 999) + " "
	for i := 0; i < documents; i += 20 {
		docs := make([]object, 20)
		for j := range docs {
			docs[j] = doc(fmt.Sprintf("d%06d", i+j), fmt.Sprintf("%06d ", i+j)+strings.Repeat(word, size/1000), "")
		}
		from.write("docs", docs...)
	}
	held := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var before int64
	var peak atomic.Int64
	watch := func(done int64) { peak.Store(max(peak.Load(), held()-before)); _ = done }
	// What work in the background takes, such as an index that merges, comes and goes;
	// what a transfer holds it holds every time.
	little := func(what string, once func()) {
		t.Helper()
		for try := range 3 {
			before = held()
			peak.Store(0)
			once()
			t.Logf("%s: at most %d more held", what, peak.Load())
			if peak.Load() <= documents*size*2/3 {
				return
			}
			if try == 2 {
				t.Errorf("%s of %d bytes held %d more", what, documents*size, peak.Load())
			}
		}
	}
	call := func(s *server, method, path string, body io.Reader) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, s.url+reindexPath+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+s.administrator("default").key)
		if body != nil {
			req.Header.Set("Content-Type", ndjson)
		}
		res, err := s.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "set.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rewind := func() {
		t.Helper()
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
	}
	little("export", func() {
		rewind()
		if err := file.Truncate(0); err != nil {
			t.Fatal(err)
		}
		res := call(from, "GET", "docs/export", nil)
		harness.Eventually(t, "the snapshot is read before the answer is", func() bool { return views.open.Load() == 0 })
		n, err := io.Copy(file, &metered{r: res.Body, every: 2 << 20, tell: watch})
		_ = res.Body.Close()
		if err != nil || n < documents*size {
			t.Errorf("exported %d bytes, %v", n, err)
		}
	})
	outcome := `"created":400`
	little("import", func() {
		rewind()
		res := call(to, "POST", "docs/import", &metered{r: file, every: 2 << 20, tell: watch})
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != 200 || !bytes.Contains(body, []byte(outcome)) {
			t.Errorf("imported: %d %s, %v", res.StatusCode, body, err)
		}
		outcome = `"unchanged":400`
	})
}

// metered tells how much was read, every so many bytes.
type metered struct {
	r           io.Reader
	every, read int64
	tell        func(int64)
}

func (m *metered) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	if before := m.read / m.every; (m.read+int64(n))/m.every > before {
		m.tell(m.read)
	}
	m.read += int64(n)
	return n, err
}

var _ port.DocumentStore = (*breaking)(nil)
