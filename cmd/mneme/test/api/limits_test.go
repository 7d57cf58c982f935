package api_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// guarded runs calls that must be refused and checks that nothing of the
// server's documents changed, by listing them with their hashes.
type guarded struct {
	*server
	before string
}

func guard(s *server) guarded {
	s.t.Helper()
	s.write("docs", doc("kept", "here before", `{"a":1}`))
	return guarded{s, state(s)}
}

// state is everything that is stored, as the lists show it.
func state(s *server) string {
	s.t.Helper()
	var out strings.Builder
	for _, ns := range s.get("/namespaces?limit=1000").ok().list("namespaces") {
		fmt.Fprintln(&out, ns["name"], ns["documents"], ns["chunks"], ns["bytes"], ns["updated_at"])
		for _, d := range s.get("/namespaces/" + fmt.Sprint(ns["name"]) + "/documents?limit=1000").ok().list("documents") {
			fmt.Fprintln(&out, " ", d["id"], d["content_hash"], d["updated_at"])
		}
	}
	return out.String()
}

// refuses sends a body and expects an error that names the words, with nothing
// written.
func (g guarded) refuses(name, method, path string, body any, status int, code string, words ...string) {
	g.t.Helper()
	g.do(method, path, body).fails(status, code, words...)
	if after := state(g.server); after != g.before {
		g.t.Errorf("%s: %s %s wrote something:\n%s\nbefore:\n%s", name, method, path, after, g.before)
	}
}

// TestLimits: each limit of the interface at its last good value and one past it.
func TestLimits(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		const write = "/namespaces/docs/documents"

		t.Run("taken", func(t *testing.T) {
			s := s.as(s.issueFor("taken"))
			s.t = t
			for name, text := range map[string]string{"ascii": strings.Repeat("word ", 256<<10/5+1)[:256<<10],
				"two bytes":   strings.Repeat("é", 128<<10),
				"three bytes": "x" + strings.Repeat("麺", 87381), "four bytes": strings.Repeat("😀", 64<<10),
				"escaped": strings.Repeat("\n", 256<<10)} {
				if len(text) != 256<<10 {
					t.Fatalf("%s: %d bytes", name, len(text))
				}
				s.write("docs", doc("big", text, ""))
				if r := s.get(write + "/big").ok(); r.json["text"] != text {
					t.Errorf("%s: 256 KB came back as %d bytes", name, len(r.json["text"].(string)))
				}
			}
			if r := s.get("/namespaces/docs").ok(); r.number("bytes") != 256<<10 {
				t.Errorf("bytes: %s", r.body)
			}
			hundred := make([]object, 100)
			for i := range hundred {
				hundred[i] = doc(fmt.Sprintf("n%d", i), "x", "")
			}
			if r := s.write("docs", hundred...); r.number("written") != 100 {
				t.Errorf("100 documents: %s", clip(r.body))
			}
			for _, id := range []string{"a", "Z", "0", "a.b_c:d-E", strings.Repeat("i", 256), "0:0", "9.-_:"} {
				s.write("docs", doc(id, "x", ""))
				if r := s.get(write + "/" + id).ok(); r.json["id"] != id {
					t.Errorf("id %s: %s", id, r.body)
				}
			}
			keys := func(n int) string {
				m := object{}
				for i := range n {
					m[fmt.Sprintf("k%d", i)] = i
				}
				b, _ := json.Marshal(m)
				return string(b)
			}
			items := func(n int) string { return `{"a":["` + strings.Repeat(`x","`, n-1) + `x"]}` }
			for _, m := range []string{keys(32), `{"` + strings.Repeat("é", 128) + `":1}`,
				`{"a":"` + strings.Repeat("x", 40<<10-8) + `"}`, items(1000), `{"a":[]}`,
				`{"a":-0.0,"b":1e308,"c":1E-300,"d":123456789012345678901234567890}`, `{"a":"","b":"$x","c.d":true,"é ü":"z"}`} {
				s.write("docs", doc("meta", "x", m))
				s.get(write + "/meta").ok()
			}
			for _, ns := range []string{"a", "0", "a_-", strings.Repeat("n", 64)} {
				s.post("/namespaces", object{"name": ns}).ok()
				s.write(ns, doc("a", "x", ""))
				s.query(ns, object{"query": "x"})
			}
			for _, q := range []string{"x", strings.Repeat("é", 8192), strings.Repeat("word ", 1638)} {
				s.query("docs", object{"query": q})
			}
			for _, k := range []int{1, 100} {
				s.query("docs", object{"query": "x", "top_k": k, "max_chunks_per_document": k, "neighbors": min(k, 2)})
			}
			s.query("docs", object{"query": "x", "weights": object{"vector": 10, "keyword": 0.0001}})
			nested := strings.Repeat(`{"$and":[`, 15) + `{"a":1}` + strings.Repeat(`]}`, 15)
			s.post("/namespaces/docs/query", raw(`{"query":"x","filter":`+nested+`}`)).ok()
			s.post("/namespaces/docs/query", raw(`{"query":"x","filter":`+conditions(256)+`}`)).ok()
			s.post("/namespaces/docs/query", raw(`{"query":"x","filter":{"a":{"$in":[`+strings.Repeat("1,", 999)+`1]}}}`)).ok()
		})

		t.Run("refused", func(t *testing.T) {
			s := s.as(s.issueFor("refused"))
			s.t = t
			g := guard(s)
			for name, text := range map[string]string{"ascii": strings.Repeat("x", 256<<10+1),
				"two bytes": strings.Repeat("é", 128<<10) + "x",
				"multibyte": strings.Repeat("麺", 87382), "four bytes": strings.Repeat("😀", 64<<10) + "."} {
				g.refuses("a text of "+name, "POST", write,
					object{"documents": []object{doc("ok", "x", ""), doc("big", text, "")}}, 413, "payload_too_large",
					"documents[1]", "id big", "text")
			}
			many := make([]object, 101)
			for i := range many {
				many[i] = doc(fmt.Sprintf("n%d", i), "x", "")
			}
			g.refuses("101 documents", "POST", write, object{"documents": many}, 400, "invalid_request", "documents", "101")
			for _, id := range illegalIDs() {
				g.refuses("id "+id, "POST", write, object{"documents": []object{doc("ok", "x", ""), doc(id, "x", "")}},
					400, "invalid_id", "documents[1].id")
				g.refuses("id "+id, "POST", write+"/delete", object{"ids": []string{"kept", id}}, 400, "invalid_id", "ids[1]")
			}
			m33 := object{}
			for i := range 33 {
				m33[fmt.Sprint("k", i)] = i
			}
			b33, _ := json.Marshal(m33)
			for name, c := range map[string]struct{ metadata, word string }{
				"33 keys": {string(b33), "33"}, "an empty key": {`{"":1}`, "key"},
				"a long key":   {`{"` + strings.Repeat("k", 129) + `":1}`, "128"},
				"a key with $": {`{"$a":1}`, "$a"}, "null": {`{"a":null}`, "a"}, "an object": {`{"a":{"b":1}}`, "a"},
				"an array of numbers": {`{"a":["x",1]}`, "a"},
				"nested arrays":       {`{"a":[["x"]]}`, "a"}, "no object": {`["a"]`, "object"},
				"a string": {`"a"`, "object"}, "null itself": {`null`, "metadata"},
				"too many items": {`{"a":["` + strings.Repeat(`x","`, 1000) + `x"]}`, "1001"},
				"over 40 KB":     {`{"a":"` + strings.Repeat("x", 40<<10-7) + `"}`, "40961"},
				"a huge number":  {`{"a":1e400}`, "a"}, "NUL in a value": {`{"a":"x\u0000"}`, "NUL"},
				"NUL in a key": {`{"a\u0000":1}`, "NUL"}, "NUL in an array": {`{"a":["x\u0000"]}`, "NUL"},
			} {
				g.refuses(name, "POST", write,
					raw(`{"documents":[{"id":"ok","text":"x"},{"id":"bad","text":"x","metadata":`+c.metadata+`}]}`),
					400, "invalid_metadata", "documents[1]", "id bad", "metadata", c.word)
			}
			for _, ns := range illegalNamespaces() {
				// Percent-encoded, so that each is one segment of the path.
				if ns := url.PathEscape(ns); ns != "" {
					g.refuses("namespace "+ns, "POST", "/namespaces/"+ns+"/documents",
						object{"documents": []object{doc("a", "x", "")}}, 400, "invalid_namespace", "namespace")
					g.refuses("namespace "+ns, "POST", "/namespaces/"+ns+"/query", object{"query": "x"}, 400,
						"invalid_namespace", "namespace")
					g.refuses("namespace "+ns, "DELETE", "/namespaces/"+ns, nil, 400, "invalid_namespace", "namespace")
					g.refuses("namespace "+ns, "GET", "/namespaces/"+ns, nil, 400, "invalid_namespace", "namespace")
				}
				g.refuses("namespace "+ns, "POST", "/namespaces", object{"name": ns}, 400, "invalid_namespace", "name")
			}
			for _, path := range []string{"", "/documents", "/documents/a", "/operations/o"} {
				g.refuses("a namespace of no UTF-8", "GET", "/namespaces/%ff"+path, nil, 400, "invalid_namespace",
					"namespace", "UTF-8")
			}
			for _, path := range []string{"/documents/delete", "/documents", "/query"} {
				g.refuses("a namespace of no UTF-8", "POST", "/namespaces/%ff"+path, object{}, 400, "invalid_namespace",
					"namespace", "UTF-8")
			}
			g.refuses("an id of no UTF-8", "GET", write+"/%ff", nil, 400, "invalid_id", "id", "UTF-8")
			for body, field := range map[string]string{`{"name":3}`: "name", `{"name":"x","sparse":"yes"}`: "sparse",
				`{"name":"x","sparse":1}`: "sparse", `{"name":"x","Sparse":true}`: "Sparse",
				`{"name":"x","dimensions":3}`: "dimensions", `{"name":null}`: "name"} {
				g.refuses(body, "POST", "/namespaces", raw(body), 400, "invalid_request", field)
			}
			g.refuses("no name", "POST", "/namespaces", object{}, 400, "invalid_namespace", "name")
			for _, c := range []struct {
				field string
				value any
				words []string
			}{
				{"query", "", []string{"1-8192"}}, {"query", strings.Repeat("é", 8193), []string{"8193"}},
				{"query", nil, nil}, {"query", 3, nil}, {"query", "x\x00y", []string{"NUL"}},
				{"top_k", 0, []string{"1-100"}}, {"top_k", 101, []string{"1-100"}}, {"top_k", -1, nil},
				{"top_k", 1.5, nil}, {"top_k", "10", nil}, {"top_k", true, nil},
				{"max_chunks_per_document", 0, []string{"1-100"}}, {"max_chunks_per_document", 101, []string{"1-100"}},
				{"neighbors", -1, []string{"0-2"}}, {"neighbors", 3, []string{"0-2"}},
				{"include_text", "yes", nil}, {"include_metadata", 1, nil}, {"explain", "true", nil}, {"strict", 0, nil},
				{"limit", 3, nil}, {"Query", "x", []string{"query"}}, {"filters", object{}, []string{"filter"}},
				{"namespace", "docs", nil},
			} {
				q := object{"query": "x", c.field: c.value}
				g.refuses(c.field, "POST", "/namespaces/docs/query", q, 400, "invalid_request", append(c.words, c.field)...)
			}
			for _, q := range []string{`{"query":"x","top_k":1e3}`, `{"query":"x","top_k":99999999999999999999999}`,
				`{"query":"x","top_k":1e400}`} {
				r := g.post("/namespaces/docs/query", raw(q))
				r.fails(400, "invalid_request", "top_k")
			}
			deep := strings.Repeat(`{"$and":[`, 16) + `{"a":1}` + strings.Repeat(`]}`, 16)
			for name, c := range map[string]struct{ filter, word string }{
				"empty": {`{}`, "filter"}, "null": {`null`, "filter"}, "an array": {`[]`, "filter"},
				"a string": {`"x"`, "filter"}, "$ne": {`{"a":{"$ne":1}}`, "$ne"},
				"$nin": {`{"a":{"$nin":[1]}}`, "$nin"}, "$gt": {`{"a":{"$gt":1}}`, "$gt"},
				"$not": {`{"$not":{"a":1}}`, "$not"}, "an empty $and": {`{"$and":[]}`, "filter.$and"},
				"an empty branch": {`{"$or":[{"a":1},{}]}`, "filter.$or[1]"},
				"deep inside":     {`{"$and":[{"a":1},{"$or":[{"b":{"$lt":1}}]}]}`, "filter.$and[1].$or[0].b.$lt"},
				"null value":      {`{"a":null}`, "filter.a"}, "array value": {`{"a":["x"]}`, "filter.a"},
				"an empty $in": {`{"a":{"$in":[]}}`, "filter.a.$in"},
				"no operator":  {`{"a":{}}`, "filter.a"}, "a nested object": {`{"a":{"b":1}}`, "filter.a.b"},
				"17 levels": {deep, "16"}, "257 conditions": {conditions(257), "256"},
				"1001 values":   {`{"a":{"$in":[` + strings.Repeat("1,", 1000) + `1]}}`, "1001"},
				"a huge number": {`{"a":1e999}`, "filter.a"}, "an empty key": {`{"":1}`, "filter"},
				"$and no array": {`{"$and":{"a":1}}`, "filter.$and"},
			} {
				g.refuses(name, "POST", "/namespaces/docs/query", raw(`{"query":"x","filter":`+c.filter+`}`), 400,
					"invalid_filter", c.word)
				g.refuses(name, "POST", write+"/delete", raw(`{"filter":`+c.filter+`}`), 400, "invalid_filter", c.word)
			}
		})
	})
}

// issueFor makes an organization of its own, so that the parts of a test that
// share a server do not see each other.
func (s *server) issueFor(name string) string {
	s.t.Helper()
	return s.organization(name).key
}

func conditions(n int) string {
	return `{"$or":[` + strings.TrimSuffix(strings.Repeat(`{"a":1},`, n), ",") + `]}`
}

// illegalIDs has an id for every ASCII character that is not allowed, at the
// start and further on, and some beyond ASCII.
func illegalIDs() []string {
	out := []string{"", strings.Repeat("i", 257), "é", "aé", "a\u200b", "😀", "ａ"}
	for c := rune(0); c < 128; c++ {
		allowed := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !allowed {
			out = append(out, string(c)+"a")
		}
		if !allowed && !strings.ContainsRune("._:-", c) {
			out = append(out, "a"+string(c))
		}
	}
	return out
}

func illegalNamespaces() []string {
	out := []string{"", strings.Repeat("n", 65), "é", "aB", "Ab", "a\n"}
	for c := rune(0); c < 128; c++ {
		allowed := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !allowed {
			out = append(out, string(c)+"a")
		}
		if !allowed && c != '_' && c != '-' {
			out = append(out, "a"+string(c))
		}
	}
	return out
}

// TestHostileBodies: what is no good JSON, or no JSON for this route, is refused
// by name and writes nothing.
func TestHostileBodies(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		g := guard(start(t, b, options{}))
		const write = "/namespaces/docs/documents"
		in := func(text string) string { return `{"documents":[{"id":"n","text":` + text + `}]}` }
		for _, c := range []struct {
			name, body, code string
			words            []string
		}{
			{"nothing", "", "invalid_json", []string{"body"}}, {"space", " \n", "invalid_json", []string{"body"}},
			{"a truncated body", `{"documents":[{"id":"n","te`, "invalid_json", []string{"byte"}},
			{"trailing data", in(`"x"`) + `{}`, "invalid_json", []string{"byte"}},
			{"a comment", `{/*x*/"documents":[]}`, "invalid_json", nil},
			{"single quotes", `{'documents':[]}`, "invalid_json", nil},
			{"a trailing comma", `{"documents":[{"id":"n","text":"x"},]}`, "invalid_json", nil},
			{"NaN", `{"documents":NaN}`, "invalid_json", nil}, {"a byte order mark", "\ufeff" + in(`"x"`), "invalid_json", nil},
			{"invalid UTF-8 in a text", in("\"a\xffb\""), "invalid_json", []string{"UTF-8"}},
			{"a cut character", in("\"a\xe2\x82\""), "invalid_json", []string{"UTF-8"}},
			{"an overlong form", in("\"\xc0\xaf\""), "invalid_json", []string{"UTF-8"}},
			{"an encoded surrogate", in("\"\xed\xa0\x80\""), "invalid_json", []string{"UTF-8"}},
			{"invalid UTF-8 in a name", "{\"docu\xffments\":[]}", "invalid_json", []string{"UTF-8"}},
			{"a high surrogate alone", in(`"\ud800"`), "invalid_json", []string{"surrogate"}},
			{"a low surrogate alone", in(`"\udc00x"`), "invalid_json", []string{"surrogate"}},
			{"surrogates the wrong way round", in(`"\udc00\ud800"`), "invalid_json", []string{"surrogate"}},
			{"a raw control character", in("\"a\x01b\""), "invalid_json", nil},
			{"a raw newline", in("\"a\nb\""), "invalid_json", nil}, {"an unknown escape", in(`"\x41"`), "invalid_json", nil},
			{"a leading zero", `{"documents":[],"n":01}`, "invalid_json", nil},
			{"a bare plus", `{"documents":+1}`, "invalid_json", nil},
			{"the same name twice", `{"documents":[],"documents":[{"id":"n","text":"x"}]}`, "invalid_json",
				[]string{"documents", "twice"}},
			{"the same name twice, escaped", `{"documents":[{"id":"n","\u0069d":"m","text":"x"}]}`, "invalid_json",
				[]string{"id", "twice"}},
			{"the same metadata key twice", `{"documents":[{"id":"n","text":"x","metadata":{"a":1,"a":2}}]}`,
				"invalid_json", []string{"a", "twice"}},
			{"deep arrays", strings.Repeat("[", 100_000), "invalid_json", []string{"deep"}},
			{"deep objects", strings.Repeat(`{"a":`, 100_000), "invalid_json", []string{"deep"}},
			{"deep metadata", `{"documents":[{"id":"n","text":"x","metadata":{"a":` + strings.Repeat("[", 70) +
				strings.Repeat("]", 70) + `}}]}`, "invalid_json", []string{"deep"}},
			{"an array", `[]`, "invalid_request", []string{"object", "array"}},
			{"null", `null`, "invalid_request", []string{"object"}},
			{"a string", `"documents"`, "invalid_request", []string{"object"}},
			{"NUL in a text", in(`"a\u0000b"`), "invalid_request", []string{"documents[0]", "text", "NUL"}},
			{"NUL in an id", `{"documents":[{"id":"a\u0000","text":"x"}]}`, "invalid_id", []string{"documents[0].id"}},
			{"a raw NUL", in("\"a\x00b\""), "invalid_json", nil},
			{"an unknown field", `{"documents":[{"id":"n","text":"x"}],"upsert":true}`, "invalid_request", []string{"upsert"}},
			{"a misspelt field", `{"document":[{"id":"n","text":"x"}]}`, "invalid_request", []string{"document", "documents"}},
			{"a field in another case", `{"Documents":[{"id":"n","text":"x"}]}`, "invalid_request", []string{"Documents"}},
			{"an unknown nested field", `{"documents":[{"id":"n","text":"x"},{"id":"m","text":"x","origin":{"kind":"api"}}]}`,
				"invalid_request", []string{"documents[1]", "origin"}},
			{"the path's field", `{"documents":[{"id":"n","text":"x"}],"namespace":"other"}`, "invalid_request",
				[]string{"namespace"}},
			{"documents no array", `{"documents":{"id":"n","text":"x"}}`, "invalid_request", []string{"documents", "array"}},
			{"a document no object", `{"documents":["n"]}`, "invalid_request", []string{"documents[0]", "object"}},
			{"a null document", `{"documents":[null]}`, "invalid_request", []string{"documents[0]"}},
			{"an id no string", `{"documents":[{"id":3,"text":"x"}]}`, "invalid_request", []string{"documents[0].id"}},
			{"a null id", `{"documents":[{"id":null,"text":"x"}]}`, "invalid_request", []string{"documents[0].id"}},
			{"a text no string", `{"documents":[{"id":"n","text":["x"]}]}`, "invalid_request", []string{"documents[0].text"}},
			{"expect_sparse no boolean", `{"documents":[{"id":"n","text":"x"}],"expect_sparse":"no"}`,
				"invalid_request", []string{"expect_sparse"}},
			{"documents null", `{"documents":null}`, "invalid_request", []string{"documents"}},
			{"no documents", `{}`, "invalid_request", []string{"documents"}},
			{"a huge number", `{"documents":[{"id":"n","text":"x"}],"expect_sparse":` + strings.Repeat("9", 100_000) + `}`,
				"invalid_request", []string{"expect_sparse"}},
		} {
			g.refuses(c.name, "POST", write, raw(c.body), 400, c.code, c.words...)
		}

		// Strange but right: escapes, surrogate pairs, noncharacters.
		odd := "\U0001F600 \ufffe \uffff \u2028 \x7f \u0085"
		g.post(write, raw(in(`"\ud83d\ude00 \ufffe \uffff \u2028 \u007f \u0085"`))).ok()
		if r := g.get(write + "/n").ok(); r.json["text"] != odd {
			t.Errorf("escapes came back as %q", r.json["text"])
		}
		g.post(write+"/delete", object{"ids": []string{"n"}}).ok()
		g.before = state(g.server)

		// Content type and encoding.
		good := raw(in(`"x"`))
		for _, ct := range []string{"text/plain", "application/x-www-form-urlencoded",
			"multipart/form-data; boundary=x", "application/jsonx", "application/json; charset=latin1",
			"application/json; charset"} {
			g.post(write, good, "Content-Type", ct).fails(400, "invalid_request", "Content-Type")
		}
		for _, ce := range []string{"br", "deflate", "gzip, gzip", "zstd"} {
			g.post(write, good, "Content-Encoding", ce).fails(400, "invalid_request", "Content-Encoding")
		}
		if after := state(g.server); after != g.before {
			t.Errorf("refused bodies left %s", after)
		}
		for _, ct := range []string{"", "application/json", "application/json; charset=utf-8",
			"Application/JSON; Charset=\"UTF-8\""} {
			g.post(write, good, "Content-Type", ct).ok()
		}
	})
}

func zipped(t testing.TB, parts ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	for _, p := range parts {
		if _, err := z.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestCompressionAndSizes(t *testing.T) {
	sequential(t)
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		g := guard(s)
		const write = "/namespaces/docs/documents"
		good := zipped(t, []byte(`{"documents":[{"id":"z","text":"zipped"}]}`))
		mega := bytes.Repeat([]byte(" "), 1<<20)
		var bomb [][]byte
		for range 64 { // 64 MiB of white space
			bomb = append(bomb, mega)
		}
		refuse := func(name string, body []byte, status int, code string, words ...string) {
			t.Helper()
			g.post(write, body, "Content-Encoding", "gzip").fails(status, code, words...)
			if after := state(s); after != g.before {
				t.Errorf("%s wrote something: %s", name, after)
			}
		}
		refuse("a bomb", zipped(t, bomb...), 413, "payload_too_large", "32 times")
		noise := make([]byte, 1<<20) // gzip takes an eighth to a half off, and finds none of it again so far back
		for i := range noise {
			noise[i] = 'A' + byte(rand.Uint32()&31)
		}
		refuse("a body of over 32 MiB", zipped(t, slices.Repeat([][]byte{noise}, 33)...), 413, "payload_too_large", "33554432")
		refuse("no gzip", []byte(`{"documents":[]}`), 400, "invalid_request", "gzip")
		refuse("cut gzip", good[:len(good)-9], 400, "invalid_request", "gzip")
		refuse("a wrong checksum", append(slices.Clone(good[:len(good)-8]), 1, 2, 3, 4, 5, 6, 7, 8), 400,
			"invalid_request", "gzip")
		refuse("damaged gzip", append(slices.Clone(good[:12]), bytes.Repeat([]byte{0xff}, 40)...), 400, "invalid_request", "gzip")
		if r := s.post(write, good, "Content-Encoding", "gzip").ok(); r.number("written") != 1 {
			t.Errorf("gzip: %s", r.body)
		}
		g.before = state(s)

		// Bodies over the operation's limit, announced and not.
		over := append(bytes.Repeat([]byte(" "), 32<<20), '{', '}')
		g.refuses("a body over 32 MiB", "POST", write, over, 413, "payload_too_large", "33554432")
		g.refuses("a query over 1 MiB", "POST", "/namespaces/docs/query", append(slices.Clone(mega), '{', '}'), 413,
			"payload_too_large")
		g.refuses("a namespace over 64 KiB", "POST", "/namespaces", append(slices.Clone(mega), '{', '}'), 413,
			"payload_too_large")

		// 100 documents of 256 KB are one good body.
		documents := make([]object, 100)
		for i := range documents {
			documents[i] = doc(fmt.Sprintf("full%d", i), strings.Repeat(" ", 256<<10-1)+"x", "")
		}
		s.write("full", documents...)
		s.do("DELETE", "/namespaces/full", nil).ok()

		// Answers are compressed for those who ask.
		s.write("docs", doc("long", strings.Repeat("long text ", 1000), ""))
		s.client.CloseIdleConnections()
		for accept, want := range map[string]string{"gzip": "gzip", "gzip;q=0": "", "identity": "", "br, *": "gzip"} {
			r := s.get(write+"/long", "Accept-Encoding", accept)
			if got := r.header.Get("Content-Encoding"); got != want ||
				!strings.Contains(r.header.Get("Vary"), "Accept-Encoding") {
				t.Errorf("Accept-Encoding %s: %q, Vary %q", accept, got, r.header.Get("Vary"))
			}
			if want == "gzip" {
				z, err := gzip.NewReader(bytes.NewReader(r.body))
				if err != nil {
					t.Fatal(err)
				}
				if r.body, err = io.ReadAll(z); err != nil {
					t.Fatal(err)
				}
			}
			var d object
			if err := json.Unmarshal(r.body, &d); err != nil || d["id"] != "long" {
				t.Errorf("Accept-Encoding %s: %v", accept, err)
			}
		}
	})
}

// TestTruncatedBody: a connection that ends in the middle of a body, or a body
// shorter than announced, writes nothing.
func TestTruncatedBody(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		g := guard(s)
		body := `{"documents":[{"id":"cut","text":"x"}]}`
		for _, head := range []string{fmt.Sprintf("Content-Length: %d", len(body)+10), "Transfer-Encoding: chunked"} {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			sent := body
			if strings.HasPrefix(head, "Transfer") {
				sent = fmt.Sprintf("%x\r\n%s\r\n", len(body), body) // the last chunk never comes
			}
			_, _ = fmt.Fprintf(conn, "POST /namespaces/docs/documents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+
				"%s\r\nContent-Type: application/json\r\n%s\r\n\r\n%s", s.key, head, sent)
			_ = conn.(*net.TCPConn).CloseWrite()
			_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
			answer, _ := io.ReadAll(conn)
			_ = conn.Close()
			if strings.HasPrefix(string(answer), "HTTP/1.1 2") {
				t.Errorf("%s: %s", head, answer)
			}
			if after := state(s); after != g.before {
				t.Errorf("%s: a cut body wrote %s", head, after)
			}
		}
	})
}
