package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestReadDocument: a document's bytes, its ETag and HEAD, as HTTP has them.
func TestReadDocument(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		text := "# Käse und Brot\n\nDas Brot ist 🍞 warm. 麺麭は温かい。\r\n\r\n```\ncode { x := \"<&>\" " +
			"}\n```\n\nLast\u2028paragraph, e\u0301 and é.\n"
		s.write("docs", doc("a", text, `{"s":"<b>&\u2028","n":0.10,"big":9007199254740993,"t":true,"l":["x","",""]}`),
			doc("b", "plain", ""))
		r := s.get("/namespaces/docs/documents/a").ok()
		var exact struct {
			Text     string
			Metadata map[string]json.RawMessage
		}
		if err := json.Unmarshal(r.body, &exact); err != nil {
			t.Fatal(err)
		}
		if exact.Text != text {
			t.Errorf("read %q", exact.Text)
		}
		for k, want := range map[string]string{"n": "0.10", "big": "9007199254740993", "t": "true", "l": `["x","",""]`} {
			if got := string(exact.Metadata[k]); got != want {
				t.Errorf("metadata %s is %s, want %s", k, got, want)
			}
		}
		if got := r.json["metadata"].(object)["s"]; got != "<b>&\u2028" {
			t.Errorf("metadata s is %q", got)
		}
		n := len(s.get("/namespaces/docs/documents/a?include=chunks").ok().list("chunk_list"))
		if float64(n) != r.number("chunks") {
			t.Errorf("%d chunks listed of %v", n, r.json["chunks"])
		}
		if _, there := s.get("/namespaces/docs/documents/a?include=").json["chunk_list"]; there {
			t.Error("chunk_list without include")
		}

		// ETag.
		etag := r.header.Get("ETag")
		if etag != `"`+fmt.Sprint(r.json["content_hash"])+`"` {
			t.Errorf("ETag %s of %v", etag, r.json["content_hash"])
		}
		for _, c := range []struct {
			tag    string
			status int
		}{{etag, 304}, {"*", 304}, {`"sha256:0"`, 200}, {"", 200}} {
			got := s.get("/namespaces/docs/documents/a", "If-None-Match", c.tag)
			if got.status != c.status || c.status == 304 && len(got.body) != 0 || got.header.Get("ETag") != etag ||
				got.header.Get("X-Request-Id") == "" {
				t.Errorf("If-None-Match %s: %d with %d bytes, ETag %s", c.tag, got.status, len(got.body), got.header.Get("ETag"))
			}
		}

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

		s.get("/namespaces/docs/documents/a%20b").fails(400, "invalid_id", "id")
		s.get("/namespaces/docs/documents/"+strings.Repeat("x", 257)).fails(400, "invalid_id", "id")
	})
}

// TestListParameters: what the query string of a list may say, and that its cursors
// outlive the process.
func TestListParameters(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.write("docs", doc("a_1", "x", ""), doc("a_2", "x", ""), doc("b", "x", ""))
		r := s.get("/namespaces/docs/documents?prefix=a_&limit=1").ok()
		if got := column(r.list("documents"), "id"); !slices.Equal(got, []string{"a_1"}) {
			t.Errorf("the first page holds %v", got)
		}
		cursor := fmt.Sprint(r.json["next_cursor"])
		s.get("/namespaces/docs/documents?prefix=a_&cursor=%00").fails(400, "invalid_cursor", "cursor")
		s = s.restart(nil)
		r = s.get("/namespaces/docs/documents?prefix=a_&cursor=" + cursor).ok()
		if got := column(r.list("documents"), "id"); !slices.Equal(got, []string{"a_2"}) {
			t.Errorf("after a restart the next page holds %v", got)
		}
		for _, q := range []string{"limit=0", "limit=1001", "limit=-5", "limit=ten", "limit=" + strings.Repeat("9", 30)} {
			s.get("/namespaces/docs/documents?"+q).fails(400, "invalid_request", "limit")
		}
		s.get("/namespaces/docs/documents?order=size").fails(400, "invalid_request", "order")
		s.get("/namespaces/docs/documents?limit=1000&unknown=1").ok()
		s.get("/namespaces/docs/documents?prefix=%ff").fails(400, "invalid_request", "prefix")
		s.get("/namespaces/docs/documents?prefix=%00").fails(400, "invalid_request", "prefix")
		s.get("/namespaces/docs/documents?source_id=%00").fails(400, "invalid_request", "source_id")
		s.get("/namespaces/docs/operations/%00").fails(404, "not_found")
	})
}
