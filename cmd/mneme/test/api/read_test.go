package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestReadDocument(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		text := "# Käse und Brot\n\nDas Brot ist 🍞 warm. 麺麭は温かい。\r\n\r\n```\ncode { x := \"<&>\" " +
			"}\n```\n\nLast\u2028paragraph, e\u0301 and é.\n"
		s.write("docs", doc("a", text, `{"s":"<b>&\u2028","n":0.10,"big":9007199254740993,"t":true,"l":["x","",""]}`),
			doc("b", "plain", ""))
		r := s.get("/namespaces/docs/documents/a").ok()
		fields(t, "a document", r.json, "id", "text", "metadata", "chunks", "content_hash", "source_id", "created_at",
			"updated_at")
		if r.json["text"] != text || r.json["id"] != "a" || r.json["source_id"] != nil ||
			r.json["created_at"] != r.json["updated_at"] {
			t.Errorf("read: %s", r.body)
		}
		var exact struct {
			Metadata map[string]json.RawMessage `json:"metadata"`
		}
		if err := json.Unmarshal(r.body, &exact); err != nil {
			t.Fatal(err)
		}
		for k, want := range map[string]string{"n": "0.10", "big": "9007199254740993", "t": "true", "l": `["x","",""]`} {
			if got := string(exact.Metadata[k]); got != want {
				t.Errorf("metadata %s is %s, want %s", k, got, want)
			}
		}
		if got := r.json["metadata"].(object)["s"]; got != "<b>&\u2028" {
			t.Errorf("metadata s is %q", got)
		}
		plain := s.get("/namespaces/docs/documents/b").ok()
		sum := sha256.Sum256([]byte("plain"))
		if got, want := plain.json["content_hash"], "sha256:"+hex.EncodeToString(sum[:]); got != want {
			t.Errorf("content hash %v, want %s", got, want)
		}
		if m, ok := plain.json["metadata"].(object); !ok || len(m) != 0 {
			t.Errorf("no metadata reads as %v", plain.json["metadata"])
		}

		// include=chunks: exact byte slices of the text, in order.
		r = s.get("/namespaces/docs/documents/a?include=chunks").ok()
		chunks := r.list("chunk_list")
		if float64(len(chunks)) != r.number("chunks") || len(chunks) < 3 {
			t.Errorf("%d chunks listed of %v", len(chunks), r.json["chunks"])
		}
		last := -1
		for i, c := range chunks {
			fields(t, "a chunk", c, "index", "start", "end", "text")
			lo, hi := int(c["start"].(float64)), int(c["end"].(float64))
			if c["index"] != float64(i) || lo < 0 || hi > len(text) || lo >= hi || lo < last ||
				text[lo:hi] != c["text"] || !utf8.ValidString(text[lo:hi]) {
				t.Errorf("chunk %d: %v", i, c)
			}
			last = lo
		}
		if _, there := s.get("/namespaces/docs/documents/a?include=").json["chunk_list"]; there {
			t.Error("chunk_list without include")
		}
		s.get("/namespaces/docs/documents/a?include=vectors").fails(400, "invalid_request", "include", "vectors")

		// ETag.
		etag := r.header.Get("ETag")
		if etag != `"`+fmt.Sprint(r.json["content_hash"])+`"` {
			t.Errorf("ETag %s of %v", etag, r.json["content_hash"])
		}
		for _, c := range []struct {
			tag    string
			status int
		}{{etag, 304}, {"W/" + etag, 304}, {`"x", ` + etag, 304}, {"*", 304}, {`"sha256:0"`, 200}, {"", 200}} {
			got := s.get("/namespaces/docs/documents/a", "If-None-Match", c.tag)
			if got.status != c.status || c.status == 304 && len(got.body) != 0 || got.header.Get("ETag") != etag ||
				got.header.Get("X-Request-Id") == "" {
				t.Errorf("If-None-Match %s: %d with %d bytes, ETag %s", c.tag, got.status, len(got.body), got.header.Get("ETag"))
			}
		}
		s.write("docs", doc("a", text, `{"s":"other"}`))
		if got := s.get("/namespaces/docs/documents/a", "If-None-Match", etag); got.status != 200 {
			t.Errorf("new metadata under an old ETag: %d", got.status)
		}
		s.get("/namespaces/docs/documents/absent", "If-None-Match", "*").fails(404, "document_not_found", "absent")

		// HEAD has the header of GET and no body.
		get, head := s.get("/namespaces/docs/documents/b"), s.do("HEAD", "/namespaces/docs/documents/b", nil)
		if head.status != 200 || len(head.body) != 0 || head.header.Get("ETag") != get.header.Get("ETag") ||
			head.header.Get("Content-Length") != fmt.Sprint(len(get.body)) {
			t.Errorf("HEAD: %d, %d bytes, %v", head.status, len(head.body), head.header)
		}
		if head := s.do("HEAD", "/namespaces/docs/documents/none", nil); head.status != 404 || len(head.body) != 0 {
			t.Errorf("HEAD of an absent document: %d", head.status)
		}
		if r := s.do("HEAD", "/health", nil, "Authorization", ""); r.status != 200 {
			t.Errorf("HEAD /health: %d", r.status)
		}

		s.get("/namespaces/none/documents/a").fails(404, "namespace_not_found", "none")
		s.get("/namespaces/Docs/documents/a").fails(400, "invalid_namespace", "namespace")
		s.get("/namespaces/docs/documents/a%20b").fails(400, "invalid_id", "id")
		s.get("/namespaces/docs/documents/"+strings.Repeat("x", 257)).fails(400, "invalid_id", "id")
	})
}

func TestListDocuments(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		var all []string
		for i := range 25 {
			id := fmt.Sprintf("%s-%02d", []string{"Ab", "ab", "a_", "a.", "zz"}[i%5], i)
			all = append(all, id)
			s.write("docs", doc(id, "text "+id, fmt.Sprintf(`{"i":%d}`, i)))
		}
		newest := slices.Clone(all)
		slices.Reverse(newest)
		slices.Sort(all) // bytewise
		r := s.get("/namespaces/docs/documents").ok()
		fields(t, "a page", r.json, "documents", "next_cursor")
		fields(t, "a listed document", r.list("documents")[0], "id", "metadata", "chunks", "content_hash", "source_id",
			"created_at", "updated_at")
		if got := column(r.list("documents"), "id"); !slices.Equal(got, all) || r.json["next_cursor"] != nil {
			t.Errorf("by id: %v", got)
		}
		walk := func(query string, between func(page int)) []string {
			t.Helper()
			var got []string
			cursor := ""
			for page := 0; ; page++ {
				r := s.get("/namespaces/docs/documents?" + query + "&cursor=" + cursor).ok()
				got = append(got, column(r.list("documents"), "id")...)
				next, more := r.json["next_cursor"].(string)
				if !more {
					return got
				}
				if between != nil {
					between(page)
				}
				cursor = next
			}
		}
		for limit := range 27 {
			if limit == 0 {
				continue
			}
			if got := walk(fmt.Sprintf("limit=%d", limit), nil); !slices.Equal(got, all) {
				t.Errorf("pages of %d: %v", limit, got)
			}
		}
		if got := walk("limit=4&order=id", nil); !slices.Equal(got, all) {
			t.Errorf("order=id: %v", got)
		}
		if got := walk("limit=4&order=updated_at", nil); len(got) != len(all) ||
			!slices.Equal(slices.Sorted(slices.Values(got)), all) {
			t.Errorf("newest first skips or repeats: %v", got)
		}
		// Writes in separate milliseconds are newest first.
		time.Sleep(2 * time.Millisecond)
		s.write("docs", doc(all[3], "rewritten", ""))
		time.Sleep(2 * time.Millisecond)
		s.write("docs", doc(all[9], "rewritten", ""))
		if got := walk("limit=1&order=updated_at", nil); got[0] != all[9] || got[1] != all[3] || len(got) != len(all) {
			t.Errorf("newest first: %v", got)
		}
		for prefix, want := range map[string]int{"ab": 5, "Ab": 5, "a_": 5, "a.": 5, "a": 15, "zz-24": 1, "zz-245": 0,
			"%": 0, "_": 0, "a%": 0, "*": 0} {
			got := walk("limit=2&prefix="+url.QueryEscape(prefix), nil)
			if len(got) != want || slices.ContainsFunc(got, func(id string) bool { return !strings.HasPrefix(id, prefix) }) {
				t.Errorf("prefix %q gives %v, want %d", prefix, got, want)
			}
			if again := walk("limit=2&order=updated_at&prefix="+url.QueryEscape(prefix), nil); len(again) != want {
				t.Errorf("prefix %q newest first gives %v, want %d", prefix, again, want)
			}
		}
		if got := walk("source_id=src_none", nil); len(got) != 0 {
			t.Errorf("documents of an unknown source: %v", got)
		}

		// Survivors are neither repeated nor skipped while others come and go.
		got := walk("limit=3", func(page int) {
			s.write("docs", doc(fmt.Sprintf("0new-%d", page), "before every cursor", ""),
				doc(fmt.Sprintf("zzz-%d", page), "after every cursor", ""))
			if page == 1 {
				// the cursor's own among them
				s.post("/namespaces/docs/documents/delete", object{"ids": []string{all[5], all[6], all[24]}}).ok()
			}
		})
		for i, id := range all {
			gone := i == 6 || i == 24 // deleted before their page
			if n := len(slices.DeleteFunc(slices.Clone(got), func(g string) bool { return g != id })); n != 1 &&
				!(gone && n == 0) {
				t.Errorf("%s was listed %d times in %v", id, n, got)
			}
		}
		if !slices.IsSorted(got) {
			t.Errorf("pages out of order: %v", got)
		}

		// A cursor is bound to its route and parameters, and signed.
		cursor := fmt.Sprint(s.get("/namespaces/docs/documents?limit=2&prefix=a").ok().json["next_cursor"])
		s.write("more", doc("a1", "x", ""), doc("a2", "x", ""), doc("a3", "x", ""))
		flipped := []byte(cursor)
		flipped[len(flipped)/2] ^= 1
		for _, q := range []string{"limit=2&cursor=" + cursor, "prefix=ab&cursor=" + cursor,
			"prefix=a&order=updated_at&cursor=" + cursor,
			"prefix=a&source_id=s&cursor=" + cursor, "prefix=a&cursor=" + cursor[:len(cursor)-2],
			"prefix=a&cursor=" + cursor + "AA", "prefix=a&cursor=" + string(flipped),
			"prefix=a&cursor=x", "prefix=a&cursor=%00", "prefix=a&cursor=" + strings.Repeat("A", 4000)} {
			s.get("/namespaces/docs/documents?"+q).fails(400, "invalid_cursor", "cursor")
		}
		s.get("/namespaces/more/documents?prefix=a&cursor="+cursor).fails(400, "invalid_cursor", "cursor")
		s.get("/namespaces?prefix=a&cursor="+cursor).fails(400, "invalid_cursor", "cursor")
		s.get("/namespaces/docs/documents?prefix=a&limit=50&cursor=" + cursor).ok()
		s = s.restart(nil)
		s.get("/namespaces/docs/documents?prefix=a&cursor=" + cursor).ok() // survives a restart

		for _, q := range []string{"limit=0", "limit=1001", "limit=-5", "limit=ten", "limit=" + strings.Repeat("9", 30)} {
			s.get("/namespaces/docs/documents?"+q).fails(400, "invalid_request", "limit")
		}
		s.get("/namespaces/docs/documents?order=size").fails(400, "invalid_request", "order")
		s.get("/namespaces/docs/documents?limit=1000&unknown=1").ok()
		s.get("/namespaces/docs/documents?prefix=%ff").fails(400, "invalid_request", "prefix")
		s.get("/namespaces/docs/documents?prefix=%00").fails(400, "invalid_request", "prefix")
		s.get("/namespaces/docs/documents?source_id=%00").fails(400, "invalid_request", "source_id")
		s.get("/namespaces?prefix=%00").fails(400, "invalid_request", "prefix")
		s.get("/namespaces/docs/operations/%00").fails(404, "not_found")
	})
}
