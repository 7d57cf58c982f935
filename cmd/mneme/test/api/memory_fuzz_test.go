package api_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
)

// FuzzMemoryRequests sends arbitrary bodies, query strings and ids to every
// route of the memory API: the answer is never a failure of the server, always
// of the right shape, and nothing reaches an end user that was not named.
func FuzzMemoryRequests(f *testing.F) {
	s := start(f, backends()[0], options{sparse: &coretest.SparseEncoder{}, reranker: coretest.Reranker{}}).integration("app",
		nil)
	s.save("kept", "Kept apart.", "containerTag", "box")
	bodies := []string{
		`{"endUserId":"ann","query":"x","limit":3,"containerTag":"a","createdAfter":1,"created_before":9}`,
		`{"endUserId":"ann","query":"x","containerTag":null}`,
		`{"endUserId":"ann","content":"x","metadata":{"k":["a"],"n":1e2},"occurredAt":"2026-01-02T03:04:05.123456789+01:00"}`,
		`{"endUserId":"ann","memories":[{"content":"x"},{"content":"y","containerTag":"a b"},{}]}`,
		`{"endUserId":"ann","ids":["mem_x"]}`,
		`{"endUserId":"ann","source":"crm","version":9007199254740991,"content":"Ann: x","occurredAt":"2026-01-02T03:04:05Z"}`,
		`{`, `[]`, "\x00", `{"endUserId":{}}`,
	}
	for i, b := range bodies {
		for r := range memoryRoutes() {
			f.Add(uint8(r), b, "endUserId=ann&source=crm&version=1&limit=5&containerTag=a&cursor=AAAA",
				[]string{"r1", "%00", "..", "a/b"}[i%4])
		}
	}
	ctx := context.Background()
	f.Fuzz(func(t *testing.T, which uint8, body, query, id string) {
		if strings.Contains(body+query+id, "kept") {
			return // what the test looks at
		}
		r := memoryRoutes()[int(which)%len(memoryRoutes())]
		path, _, _ := strings.Cut(r.path, "?")
		path = strings.Replace(strings.Replace(path, "/r1", "/"+url.PathEscape(id), 1), "/ann", "/"+url.PathEscape(id), 1)
		if query != "" {
			path += "?" + query
		}
		var sent any
		if r.body != nil {
			sent = raw(body)
		}
		got, err := s.send(ctx, r.method, path, sent, "Idempotency-Key", "")
		if err != nil {
			if strings.Contains(err.Error(), "invalid") || strings.Contains(err.Error(), "parse") {
				return // not a URL that a client can send
			}
			t.Fatal(err)
		}
		got.t = t
		switch {
		case got.status >= 500 || got.status == 401 || got.status == 403:
			t.Fatalf("%s with %q: %d %s", got.call, body, got.status, got.body)
		case got.json == nil:
			t.Fatalf("%s with %q: %d without JSON: %q", got.call, body, got.status, got.body)
		case got.status == 400 && strings.Contains(string(got.body), "not valid HTTP"):
			return // whose path nobody has read
		case got.status >= 400:
			got.refuses(got.status, got.json["code"].(string))
		case strings.Contains(string(got.body), "Kept apart"):
			t.Fatalf("%s with %q reads another end user: %s", got.call, body, got.body)
		}
		here := s.as(s.key)
		here.t = t
		if left := here.memories("kept"); len(left) != 1 {
			t.Fatalf("%s with %q left %d memories of another end user", got.call, body, len(left))
		}
	})
}
