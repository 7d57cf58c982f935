package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datasetfile"
	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/dataset/installation"
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

// end reads a data set to its end and answers the end line of its namespace.
func end(t testing.TB, set []byte) (e dataset.End) {
	t.Helper()
	s := dataset.NewScan(bytes.NewReader(set))
	for {
		l, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && l.Kind == dataset.KindEnd {
			err = l.Decode(&e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Whole(); err != nil {
		t.Fatal(err)
	}
	return e
}

// relined changes lines of a data set and gives them hashes that fit: sums are
// over the lines between partition and end. A nil line is left out.
func relined(t testing.TB, set []byte, change func(kind string, data []byte) [][2]string) []byte {
	t.Helper()
	var out bytes.Buffer
	var chain [32]byte
	sum := sha256.New()
	lines := 0
	for raw := range bytes.Lines(set) {
		var l struct {
			Type string          `json:"type"`
			Data json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		for _, made := range change(l.Type, l.Data) {
			kind, data := made[0], made[1]
			if kind == dataset.KindEnd {
				var e dataset.End
				if err := json.Unmarshal([]byte(data), &e); err != nil {
					t.Fatal(err)
				}
				e.Hash = dataset.Digest(sum.Sum(nil))
				b, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				data = string(b)
			}
			if kind == dataset.KindTrailer {
				var tr dataset.Trailer
				if err := json.Unmarshal([]byte(data), &tr); err != nil {
					t.Fatal(err)
				}
				tr.Lines = int64(lines)
				b, err := json.Marshal(tr)
				if err != nil {
					t.Fatal(err)
				}
				data = string(b)
			}
			hash := sha256.Sum256([]byte(kind + "\n" + data))
			chain = sha256.Sum256(append(chain[:], hash[:]...))
			b64 := base64.RawURLEncoding.EncodeToString
			out.WriteString(`{"type":"` + kind + `","data":` + data + `,"hash":"` + b64(hash[:]) + `","chain":"` +
				b64(chain[:]) + "\"}\n")
			if sum.Write(hash[:]); kind == dataset.KindPartition {
				sum.Reset()
			}
			lines++
		}
	}
	return out.Bytes()
}

// swapped replaces a text in the lines of a kind.
func swapped(kind, from, to string) func(string, []byte) [][2]string {
	return func(k string, data []byte) [][2]string {
		if k == kind {
			data = bytes.Replace(data, []byte(from), []byte(to), 1)
		}
		return [][2]string{{k, string(data)}}
	}
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

// A namespace goes from one server to another as it is: counts, hashes, texts,
// metadata, times and answers are the same, and nothing is embedded.
func TestNamespaceMoves(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		for _, sparse := range []bool{false, true} {
			from := start(t, b, options{sparse: &coretest.SparseEncoder{}})
			from.post("/namespaces", object{"name": "docs", "sparse": sparse}).ok()
			docs := corpus(130)
			from.writeAll("docs", docs)
			from.write("docs", doc("d003", "It was rewritten later.", `{"quote":"<&> \u2028 \"","n":1.50}`))
			from.post("/namespaces/docs/documents/delete", object{"ids": []string{"d007"}}).ok()
			set := from.exported("docs", "")
			e := end(t, set)
			if e.Counts.Documents != 129 || e.Counts.Namespaces != 1 || e.Counts.Chunks < 129 {
				t.Errorf("the end line counts %+v", e.Counts)
			}

			to := start(t, b, options{sparse: &coretest.SparseEncoder{}})
			r := to.brought("docs", "", set).counts(129, 0, 0, 0, 0)
			if want, _ := e.Hash.MarshalText(); r.json["hash"] != string(want) ||
				r.number("chunks") != float64(e.Counts.Chunks) || r.json["sparse"] != sparse || r.json["namespace"] != "docs" {
				t.Errorf("%s; the end line has %s and %+v", r.body, want, e.Counts)
			}
			if made := to.embedder.TakePassages(); len(made) > 0 {
				t.Errorf("%d passages were embedded", len(made))
			}
			if again := end(t, to.exported("docs", "")); again.Hash != e.Hash || again.Counts != e.Counts {
				t.Errorf("exported again: %+v, was %+v", again, e)
			}
			if was, is := stored(from, "docs"), stored(to, "docs"); strings.Join(was, "\n") != strings.Join(is, "\n") {
				t.Errorf("documents differ")
			}
			for _, q := range []object{{"query": "rewritten later"}, {"query": docs[11]["text"], "top_k": 20},
				{"query": docs[12]["text"], "filter": object{"parity": "1"}}} {
				if was, is := from.query("docs", q).found(),
					to.query("docs", q).found(); !b.ranks && strings.Join(was, " ") != strings.Join(is, " ") || len(is) == 0 {
					t.Errorf("%v finds %v, found %v", q["query"], is, was)
				}
			}

			// Again, under another name, compressed, from a file of mneme export.
			to.brought("docs", "", set).counts(0, 0, 129, 0, 0)
			if again := end(t, to.exported("docs", "")); again.Hash != e.Hash || again.Seq == 0 {
				t.Errorf("an import of the same changed something: %+v", again)
			}
			to.brought("other-name", "", gzipped(t, set), "Content-Encoding", "gzip").counts(129, 0, 0, 0, 0)
			if again := end(t, to.exported("other-name", "")); again.Hash != e.Hash {
				t.Errorf("under another name: %+v, was %+v", again, e)
			}
			var file bytes.Buffer
			x := installation.Exporter{Store: from.store.DocumentStore,
				Contents: dataset.Contents{Namespaces: []string{"docs"}, Vectors: true}}
			if _, err := x.Stream(t.Context(), &file); err != nil {
				t.Fatal(err)
			}
			to.brought("from-a-file", "", file.Bytes()).counts(129, 0, 0, 0, 0)
			// What a server exported is imported offline.
			offline, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			journal, err := datasetfile.OpenJournal(t.TempDir(), "set")
			if err != nil {
				t.Fatal(err)
			}
			m := &installation.Importer{Store: offline, Conflict: dataset.Fail, Journal: journal}
			if _, err := m.Check(t.Context(), bytes.NewReader(set)); err != nil {
				t.Error(err)
			}
			if result, err := m.Run(t.Context(), bytes.NewReader(set)); err != nil || result.Imported != 1 ||
				result.Documents != 129 {
				t.Errorf("offline: %+v, %v", result, err)
			}
			if err := errors.Join(offline.Close(), journal.Close()); err != nil {
				t.Error(err)
			}
			from.close()
			to.close()
		}
	})
}

// What comes without vectors, or with those of other models, gets its own.
func TestNamespaceMovesToOtherModels(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		from := start(t, b, options{})
		docs := corpus(60)
		from.writeAll("docs", docs)
		set, bare := from.exported("docs", ""), from.exported("docs", "?vectors=false")
		if e := end(t, bare); len(bare)*3 > len(set)*2 || e.Counts.Documents != 60 || e.Counts.Chunks != 0 {
			t.Errorf("%d bytes without vectors, %d with; %+v", len(bare), len(set), e.Counts)
		}
		want := strings.Join(stored(from, "docs"), "\n")
		for name, to := range map[string]struct {
			options
			set []byte
		}{"without vectors": {options{}, bare}, "other models": {options{embedder: newWider()}, set},
			"a sparse namespace": {options{sparse: &coretest.SparseEncoder{}}, set}} {
			s := start(t, b, to.options)
			if name == "a sparse namespace" {
				s.post("/namespaces", object{"name": "docs", "sparse": true}).ok()
			}
			r := s.brought("docs", "", to.set).counts(60, 0, 0, 0, 60)
			if r.number("chunks") == 0 || r.json["sparse"] != (name == "a sparse namespace") {
				t.Errorf("%s: %s", name, r.body)
			}
			if strings.Join(stored(s, "docs"), "\n") != want {
				t.Errorf("%s: documents differ", name)
			}
			if hits := s.query("docs", object{"query": docs[40]["text"]}).found(); len(hits) == 0 || hits[0] != "d040" {
				t.Errorf("%s: %v", name, hits)
			}
			s.brought("docs", "", to.set).counts(0, 0, 60, 0, 0)
			s.close()
		}
		// A model that is needed and off is named before anything is read.
		off := start(t, b, options{noEmbed: true})
		off.brought("docs", "", bare).fails(503, "unavailable", "embedding model")
		if off.ids("docs") != nil {
			t.Error("something was imported")
		}
	})
}

// A document that is there with other contents is met as the policy says.
func TestImportPolicies(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		from, to := start(t, b, options{}), start(t, b, options{})
		from.write("docs", doc("a", "Alpha as exported.", ""), doc("b", "Beta.", `{"k":"v"}`), doc("c", "Gamma.", ""))
		set := from.exported("docs", "")
		to.write("docs", doc("a", "Alpha as it is here.", ""), doc("b", "Beta.", `{"k":"v"}`), doc("z", "Only here.", ""))
		before := to.exported("docs", "?vectors=false")
		to.brought("docs", "", set).fails(409, "conflict", `"a"`, "on_conflict", "nothing was imported")
		to.brought("docs", "?on_conflict=fail", set).fails(409, "conflict")
		if after := to.exported("docs", "?vectors=false"); end(t, after).Hash != end(t, before).Hash {
			t.Error("a refused import changed something")
		}
		to.brought("docs", "?on_conflict=skip", set).counts(1, 0, 1, 1, 0)
		if got := to.get("/namespaces/docs/documents/a").ok().json["text"]; got != "Alpha as it is here." {
			t.Errorf("skip replaced: %v", got)
		}
		to.brought("docs", "?on_conflict=replace", set).counts(0, 1, 2, 0, 0)
		if got := to.get("/namespaces/docs/documents/a").ok().json["text"]; got != "Alpha as exported." {
			t.Errorf("replace kept: %v", got)
		}
		if ids := to.ids("docs"); strings.Join(ids, " ") != "a b c z" {
			t.Errorf("ids %v", ids)
		}
		if hits := to.query("docs", object{"query": "alpha as exported"}).found(); len(hits) == 0 || hits[0] != "a" {
			t.Errorf("after the replacement %v", hits)
		}
		// Other metadata are other contents.
		to.write("docs", doc("b", "Beta.", `{"k":"w"}`))
		to.brought("docs", "", set).fails(409, "conflict", `"b"`)
		to.brought("docs", "?on_conflict=replace", set).counts(0, 1, 2, 0, 0)
	})
}

// A data set that is not whole, or not as it was written, changes nothing.
func TestImportOfDamage(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.writeAll("docs", corpus(60))
		set := s.exported("docs", "")
		lines := bytes.SplitAfter(set, []byte("\n"))
		lines = lines[:len(lines)-1]
		join := func(parts ...[][]byte) []byte {
			var out []byte
			for _, p := range parts {
				out = append(out, bytes.Join(p, nil)...)
			}
			return out
		}
		n := len(lines)
		for name, c := range map[string]struct {
			set   []byte
			code  string
			words []string
		}{
			"cut in a line":       {set[:len(set)*2/3], "invalid_request", []string{"line", "does not end"}},
			"cut before trailer":  {join(lines[:n-1]), "invalid_request", []string{"cut off", fmt.Sprint("after line ", n-1)}},
			"cut before end":      {join(lines[:n-2]), "invalid_request", []string{"cut off"}},
			"header alone":        {join(lines[:1]), "invalid_request", []string{"cut off"}},
			"without its last LF": {set[:len(set)-1], "invalid_request", []string{"does not end"}},
			"altered": {bytes.Replace(set, []byte(`"text":"`), []byte(`"text":"x`), 1), "invalid_request",
				[]string{"line 5", "hash"}},
			"a line left out": {join(lines[:10], lines[11:]), "invalid_request", []string{"line 11", "running hash"}},
			"a line twice":    {join(lines[:11], lines[10:]), "invalid_request", []string{"line 12", "running hash"}},
			"lines exchanged": {join(lines[:10], lines[11:12], lines[10:11], lines[12:]), "invalid_request",
				[]string{"line 11", "running hash"}},
			"more after the end": {join(lines, lines[n-1:]), "invalid_request", []string{fmt.Sprint("line ", n+1)}},
			"something else":     {[]byte(`{"documents":[]}` + "\n"), "invalid_request", []string{"line 1"}},
			"nothing but a line": {[]byte("\n"), "invalid_request", []string{"line 1"}},
			"wrong text hash": {relined(t, set, swapped("document", `"text":"`, `"text":"x`)), "invalid_request",
				[]string{"line 5", "hash"}},
			"unknown field": {relined(t, set, swapped("document", `{"id":`, `{"more":1,"id":`)),
				"invalid_request", []string{"line 5", "more"}},
			"an id that is none": {relined(t, set, swapped("document", `"id":"d0`, `"id":"/0`)), "invalid_id",
				[]string{"nothing"}},
			"ids out of order": {relined(t, set, swapped("document", `"id":"d001"`, `"id":"e001"`)),
				"invalid_request", []string{"e001", "order"}},
			"a nested metadata": {relined(t, set, swapped("document", `"metadata":{`, `"metadata":{"a":{},`)),
				"invalid_metadata", nil},
			"other metadata": {relined(t, set, swapped("document", `"metadata":{`, `"metadata":{"a":"b",`)),
				"invalid_request", []string{"metadata", "hash"}},
			"other dimensions": {relined(t, set, swapped("namespace", `"dimensions":64`, `"dimensions":65`)),
				"invalid_request", []string{"dimensions"}},
			"a memory": {relined(t, set, swapped("document", `"origin":`, `"container":"work","origin":`)),
				"invalid_request", []string{"memory"}},
			"an error line": {relined(t, set, broken), "invalid_request", []string{"failed here", "the disk is gone"}},
			"a key": {relined(t, set, after("organization", "key", `{"id":"key_1"}`)), "invalid_request",
				[]string{"line 3", "key", "mneme import"}},
			"a second namespace": {relined(t, set, twice()), "invalid_request", []string{"namespace two", "mneme import"}},
			"an end user": {relined(t, set,
				swapped("partition", `"space":"documents"`, `"space":"memories","integration":"int_1"`)),
				"invalid_request", []string{"end user"}},
			"a later version": {relined(t, set, swapped("header", `"version":1`, `"version":2`)),
				"invalid_request", []string{"version 2"}},
			"gzipped and cut": {nil, "invalid_request", []string{"does not end"}},
			"a line over the size": {append(bytes.Repeat([]byte("x"), 32<<20+1), '\n'), "payload_too_large",
				[]string{"line 1", "nothing was imported"}},
		} {
			body, headers := c.set, []string{}
			if body == nil {
				z := gzipped(t, set)
				body, headers = z[:len(z)/2], []string{"Content-Encoding", "gzip"}
			}
			r := s.brought("copy", "", body, headers...)
			r.fails(map[string]int{"payload_too_large": 413}[c.code]+map[bool]int{true: 400}[c.code != "payload_too_large"],
				c.code, c.words...)
			if t.Failed() {
				t.Fatalf("that was %s", name)
			}
			if s.ids("copy") != nil {
				t.Fatalf("%s: something was imported", name)
			}
		}
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
			t.Error("half an import was imported")
		}
		s.brought("copy", "", set).counts(60, 0, 0, 0, 0)
	})
}

// broken puts an error line in the place of the end.
func broken(kind string, data []byte) [][2]string {
	switch kind {
	case "end":
		return [][2]string{{"error", `{"code":"internal_error","message":"the disk is gone"}`}}
	case "trailer":
		return nil
	}
	return [][2]string{{kind, string(data)}}
}

func after(kind, more, line string) func(string, []byte) [][2]string {
	return func(k string, data []byte) [][2]string {
		if k == kind {
			return [][2]string{{k, string(data)}, {more, line}}
		}
		return [][2]string{{k, string(data)}}
	}
}

// twice adds a second namespace.
func twice() func(string, []byte) [][2]string {
	var org struct{ ID string }
	return func(kind string, data []byte) [][2]string {
		switch kind {
		case "organization":
			_ = json.Unmarshal(data, &org) // of an export
		case "end":
			return [][2]string{{kind, string(data)},
				{"partition", `{"organization":"` + org.ID + `","space":"documents","name":"two"}`}}
		}
		return [][2]string{{kind, string(data)}}
	}
}

// Only who administers the organization reaches its namespaces.
func TestTransferAccess(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
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
		if e := end(t, s.exported("docs", "")); e.Counts.Documents != 1 {
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

// An export beside writes is of one moment, whichever that is.
func TestExportBesideWrites(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		const pairs = 100
		pair := func(i, version int) []object {
			text := fmt.Sprintf("Pair %d in version %d.", i, version)
			return []object{doc(fmt.Sprintf("a%03d", i), text, ""), doc(fmt.Sprintf("z%03d", i), text, "")}
		}
		var all []object
		for i := range pairs {
			all = append(all, pair(i, 0)...)
		}
		s.writeAll("docs", all)
		stop, done := make(chan struct{}), make(chan struct{})
		var writes atomic.Int64
		go func() {
			defer close(done)
			for version := 1; ; version++ {
				for i := range pairs {
					select {
					case <-stop:
						return
					default:
					}
					r, err := s.send(context.Background(), "POST", "/namespaces/docs/documents",
						object{"documents": pair(i, version)})
					if err != nil || r.status != 200 {
						t.Errorf("write: %v", err)
						return
					}
					writes.Add(1)
				}
			}
		}()
		to := start(t, b, options{})
		var last []byte
		for range 5 {
			before := writes.Load()
			eventually(t, "writes go on", 30*time.Second, func() bool { return writes.Load() > before })
			set := s.exported("docs", "")
			texts := map[string]string{}
			scan := dataset.NewScan(bytes.NewReader(set))
			for {
				l, err := scan.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if l.Kind == dataset.KindDocument {
					var d dataset.Document
					if err := l.Decode(&d); err != nil {
						t.Fatal(err)
					}
					texts[d.ID] = d.Text
				}
			}
			if len(texts) != 2*pairs || scan.Whole() != nil {
				t.Fatalf("%d documents, %v", len(texts), scan.Whole())
			}
			for id, text := range texts {
				if text != texts["z"+id[1:]] {
					t.Errorf("%s and its twin are of different moments", id)
				}
			}
			last = set
		}
		close(stop)
		await(t, "the writer ends", done)
		to.brought("docs", "", last).counts(2*pairs, 0, 0, 0, 0)
		if is, was := end(t, to.exported("docs", "")), end(t, last); is.Hash != was.Hash {
			t.Errorf("imported: %+v, was %+v", is, was)
		}
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

// An import that the store or an index stops says how far it came, and goes on when
// it is given again.
func TestImportThatStops(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		from := start(t, b, options{})
		from.writeAll("docs", corpus(330))
		set := from.exported("docs", "")
		s := start(t, b, options{})
		var left atomic.Int64
		fail := func() error {
			if left.Add(-1) < 0 {
				return errors.New("secret detail of the disk")
			}
			return nil
		}
		left.Store(0)
		s.store.OnUpdate.Set(fail)
		r := s.brought("docs", "", set).fails(500, "internal_error", "nothing was imported")
		if bytes.Contains(r.body, []byte("secret")) {
			t.Errorf("%s", r.body)
		}
		left.Store(2)
		s.brought("docs", "", set).fails(500, "internal_error", "200 of 330 documents are stored", "the same import goes on")
		s.store.OnUpdate.Clear()
		if n := len(s.ids("docs")); n != 200 {
			t.Errorf("%d documents are stored", n)
		}
		s.brought("docs", "", set).counts(130, 0, 200, 0, 0)
		if is, was := end(t, s.exported("docs", "")), end(t, set); is.Hash != was.Hash {
			t.Errorf("in the end %+v, was %+v", is, was)
		}
	})
}

// An import into a namespace that is being reindexed loses nothing, whichever of its
// batches come before the swap.
func TestImportBesideReindexing(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
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
		eventually(t, "the snapshot is read before the answer is", time.Minute, func() bool { return views.open.Load() == 0 })
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
