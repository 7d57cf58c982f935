package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
)

// memoryRoute is one call of the memory API with a valid request.
type memoryRoute struct {
	name, method, path string
	body               with
	success            int
}

func memoryRoutes() []memoryRoute {
	const record = "/api/v1/memories/r1?endUserId=ann&source=crm"
	return []memoryRoute{
		{"search", "POST", "/api/v1/search", with{"endUserId": "ann", "query": "tea"}, 200},
		{"recall", "POST", "/api/v1/recall", with{"endUserId": "ann", "query": "tea"}, 200},
		{"save", "POST", "/api/v1/memories", with{"endUserId": "ann", "content": "Tea at four."}, 200},
		{"batch", "POST", "/api/v1/memories/batch",
			with{"endUserId": "ann", "memories": []object{{"content": "Tea at five."}}}, 200},
		{"delete", "POST", "/api/v1/memories/delete", with{"endUserId": "ann", "ids": []string{"mem_none"}}, 200},
		{"upsert", "PUT", "/api/v1/memories/r1",
			with{"endUserId": "ann", "source": "crm", "version": 1, "content": "Tea.", "occurredAt": "2026-01-02T03:04:05Z"},
			200},
		{"remember", "POST", "/api/v1/conversations",
			with{"endUserId": "ann", "messages": []object{{"role": "user", "content": "Tea at six."}}}, 200},
		{"context", "POST", "/api/v1/context", with{"endUserId": "ann", "query": "tea"}, 200},
		{"list", "GET", "/api/v1/memories?endUserId=ann", nil, 200},
		{"get", "GET", record, nil, 200},
		{"tombstone", "DELETE", record + "&version=2", nil, 200},
		{"grant", "POST", "/api/v1/grants", with{"endUserId": "ann", "source": "crm"}, 200},
		{"grants", "GET", "/api/v1/grants?endUserId=ann", nil, 200},
		{"erase", "DELETE", "/api/v1/users/ann", nil, 200},
		{"status", "GET", "/api/v1/status", nil, 200},
	}
}

func (s *server) callMemory(r memoryRoute, headers ...string) *reply {
	s.t.Helper()
	var body any
	if r.body != nil {
		body = object(r.body)
	}
	return s.do(r.method, r.path, body, headers...)
}

func TestMemoryRoutesWork(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{}).integration("app", nil)
		for _, r := range memoryRoutes() {
			if got := s.callMemory(r); got.status != r.success {
				t.Errorf("%s: %d %s", r.name, got.status, clip(got.body))
			}
		}
	})
}

func TestMemoryBadInput(t *testing.T) {
	type bad struct {
		field  string // in the body
		value  any    // nil: left out
		status int
		code   string
		at     string // details.field
	}
	long := func(n int) string { return strings.Repeat("x", n) }
	keys := object{}
	for i := range 33 {
		keys[fmt.Sprintf("k%d", i)] = i
	}
	endUser := []bad{
		{"endUserId", nil, 400, "invalid_end_user_id", "endUserId"}, {"endUserId", "", 400, "invalid_end_user_id", "endUserId"},
		{"endUserId", "a:b", 400, "invalid_end_user_id", "endUserId"},
		{"endUserId", "a b", 400, "invalid_end_user_id", "endUserId"},
		{"endUserId", "é", 400, "invalid_end_user_id", "endUserId"},
		{"endUserId", long(129), 400, "invalid_end_user_id", "endUserId"},
		{"endUserId", 7, 400, "invalid_end_user_id", "endUserId"},
		{"endUserId", []string{"ann"}, 400, "invalid_end_user_id", "endUserId"},
		{"endUserId", raw("null"), 400, "invalid_end_user_id", "endUserId"},
		{"enduserid", "ann", 400, "invalid_request", "enduserid"},
	}
	tag := func(field string) []bad {
		return []bad{
			{field, "", 400, "invalid_container_tag", field}, {field, raw("null"), 400, "invalid_container_tag", field},
			{field, "a b", 400, "invalid_container_tag", field}, {field, "a/b", 400, "invalid_container_tag", field},
			{field, "@", 400, "invalid_container_tag", field},
			{field, long(129), 400, "invalid_container_tag", field}, {field, 5, 400, "invalid_container_tag", field},
			{field, []string{"a"}, 400, "invalid_container_tag", field},
			{field, object{"$in": []string{"a"}}, 400, "invalid_container_tag", field},
			{field, "a\x00", 400, "invalid_container_tag", field}, {field, "*", 400, "invalid_container_tag", field},
		}
	}
	millis := func(field string) []bad {
		return []bad{
			{field, "2026-01-01", 400, "invalid_request", field}, {field, 1.5, 400, "invalid_request", field},
			{field, raw("1e-3"), 400, "invalid_request", field},
			{field, raw("9223372036854775808"), 400, "invalid_request", field},
			{field, raw("null"), 400, "invalid_request", field},
			{field, true, 400, "invalid_request", field}, {field, "0", 400, "invalid_request", field},
			{field, raw(strings.Repeat("9", 400)), 400, "invalid_request", field},
		}
	}
	content := []bad{
		{"content", nil, 400, "invalid_request", "content"}, {"content", "", 400, "invalid_request", "content"},
		{"content", " \n\t\u00a0", 400, "invalid_request", "content"},
		{"content", raw("null"), 400, "invalid_request", "content"}, {"content", 3, 400, "invalid_request", "content"},
		{"content", object{}, 400, "invalid_request", "content"},
		{"content", "a\x00b", 400, "invalid_request", "content"},
		{"content", long(64<<10 + 1), 413, "payload_too_large", "content"},
		{"content", strings.Repeat("é", 32<<10) + "x", 413, "payload_too_large", "content"},
	}
	metadata := []bad{
		{"metadata", raw("null"), 400, "invalid_request", "metadata"},
		{"metadata", []int{1}, 400, "invalid_request", "metadata"}, {"metadata", "x", 400, "invalid_request", "metadata"},
		{"metadata", object{"a": nil}, 400, "invalid_request", "metadata"},
		{"metadata", object{"a": object{}}, 400, "invalid_request", "metadata"},
		{"metadata", object{"a": []int{1}}, 400, "invalid_request", "metadata"},
		{"metadata", object{"$a": 1}, 400, "invalid_request", "metadata"},
		{"metadata", object{"$container": "x"}, 400, "invalid_request", "metadata"},
		{"metadata", object{"": 1}, 400, "invalid_request", "metadata"}, {"metadata", keys, 400, "invalid_request", "metadata"},
		{"metadata", object{"a": long(41 << 10)}, 400, "invalid_request", "metadata"},
		{"metadata", raw(`{"a":1e999}`), 400, "invalid_request", "metadata"},
		{"metadata", object{"a": "\x00"}, 400, "invalid_request", "metadata"},
	}
	occurred := []bad{
		{"occurredAt", "yesterday", 400, "invalid_request", "occurredAt"},
		{"occurredAt", "2026-01-02", 400, "invalid_request", "occurredAt"},
		{"occurredAt", "2026-13-02T03:04:05Z", 400, "invalid_request", "occurredAt"},
		{"occurredAt", "2026-01-02T03:04:05", 400, "invalid_request", "occurredAt"},
		{"occurredAt", 1767225600000, 400, "invalid_request", "occurredAt"},
		{"occurredAt", "", 400, "invalid_request", "occurredAt"},
		{"occurredAt", "0000-01-01T00:00:00Z", 400, "invalid_request", "occurredAt"},
	}
	all := func(lists ...[]bad) (out []bad) {
		for _, l := range lists {
			out = append(out, l...)
		}
		return out
	}
	version := []bad{
		{"version", nil, 400, "invalid_version", "version"}, {"version", 0, 400, "invalid_version", "version"},
		{"version", -1, 400, "invalid_version", "version"},
		{"version", raw("9007199254740992"), 400, "invalid_version", "version"},
		{"version", raw("99999999999999999999"), 400, "invalid_version", "version"},
		{"version", "1", 400, "invalid_version", "version"}, {"version", 1.5, 400, "invalid_version", "version"},
		{"version", raw("1.25"), 400, "invalid_version", "version"},
		{"version", raw("null"), 400, "invalid_version", "version"}, {"version", true, 400, "invalid_version", "version"},
	}
	source := []bad{
		{"source", nil, 400, "invalid_source", "source"}, {"source", "", 400, "invalid_source", "source"},
		{"source", ".x", 400, "invalid_source", "source"},
		{"source", "a b", 400, "invalid_source", "source"}, {"source", long(129), 400, "invalid_source", "source"},
		{"source", 1, 400, "invalid_source", "source"},
	}
	tables := map[string][]bad{
		"search": all(endUser, tag("containerTag"), tag("container_tag"), millis("createdAfter"),
			millis("createdBefore"), millis("created_after"), millis("created_before"), []bad{
				{"query", nil, 400, "invalid_request", "query"}, {"query", "", 400, "invalid_request", "query"},
				{"query", 5, 400, "invalid_request", "query"},
				{"query", raw("null"), 400, "invalid_request", "query"},
				{"query", long(8193), 400, "invalid_request", "query"}, {"query", "a\x00", 400, "invalid_request", "query"},
				{"query", raw(`"\ud800"`), 400, "invalid_json", "body"},
				{"limit", 0, 400, "invalid_request", "limit"}, {"limit", 101, 400, "invalid_request", "limit"},
				{"limit", -1, 400, "invalid_request", "limit"},
				{"limit", "5", 400, "invalid_request", "limit"}, {"limit", 1.5, 400, "invalid_request", "limit"},
				{"limit", raw("1e400"), 400, "invalid_request", "limit"},
				{"limit", raw("99999999999999999999999"), 400, "invalid_request", "limit"},
				{"containertag", "a", 400, "invalid_request", "containertag"},
				{"containerTags", []string{"a"}, 400, "invalid_request", "containerTags"},
				{"container", "a", 400, "invalid_request", "container"},
				{"filter", object{"a": 1}, 400, "invalid_request", "filter"},
			}),
		"recall": all(endUser, tag("containerTag"), tag("container_tag"), millis("createdAfter"), millis("createdBefore"), []bad{
			{"query", nil, 400, "invalid_request", "query"}, {"query", "", 400, "invalid_request", "query"},
			{"query", long(8193), 400, "invalid_request", "query"},
			{"limit", 0, 400, "invalid_request", "limit"}, {"limit", 21, 400, "invalid_request", "limit"},
			{"limit", "5", 400, "invalid_request", "limit"},
			{"maxAnswerTokens", 63, 400, "invalid_request", "maxAnswerTokens"},
			{"maxAnswerTokens", 1025, 400, "invalid_request", "maxAnswerTokens"},
			{"maxAnswerTokens", "400", 400, "invalid_request", "maxAnswerTokens"},
			{"model", "x", 400, "invalid_request", "model"},
		}),
		"save": all(endUser, content, tag("containerTag"), metadata, occurred,
			[]bad{{"container_tag", "a", 400, "invalid_request", "container_tag"}, {"id", "x", 400, "invalid_request", "id"}}),
		"upsert": all(endUser, source, version, content, tag("containerTag"), metadata, occurred,
			[]bad{{"occurredAt", nil, 400, "invalid_request", "occurredAt"},
				{"occurredAt", raw("null"), 400, "invalid_request", "occurredAt"},
				{"externalId", "r1", 400, "invalid_request", "externalId"},
				{"status", "active", 400, "invalid_request", "status"}}),
		"batch": all(endUser, []bad{
			{"memories", nil, 400, "invalid_request", "memories"},
			{"memories", []object{}, 400, "invalid_request", "memories"},
			{"memories", raw("null"), 400, "invalid_request", "memories"},
			{"memories", object{}, 400, "invalid_request", "memories"},
			{"memories", items(101, "x"), 400, "invalid_request", "memories"},
			{"memories", items(2000, "x"), 400, "invalid_request", "memories"},
			{"memories", []any{"x"}, 400, "invalid_request", "memories[0]"},
			{"memories", []any{object{"content": 1}}, 400, "invalid_request", "memories[0].content"},
			{"memories", []object{{"content": "ok"}, {"content": "x", "containerTag": nil}}, 400,
				"invalid_container_tag", "memories[1].containerTag"},
			{"memories", []object{{"content": "x", "text": "y"}}, 400, "invalid_request", "memories[0].text"},
			{"memories", items(20, long(60<<10)), 413, "payload_too_large", "memories"},
			{"items", []object{}, 400, "invalid_request", "items"},
		}),
		"remember": all(endUser, tag("containerTag"), []bad{
			{"messages", nil, 400, "invalid_request", "messages"},
			{"messages", []object{}, 400, "invalid_request", "messages"},
			{"messages", "x", 400, "invalid_request", "messages"},
			{"messages", slices.Repeat([]object{{"role": "user", "content": "x"}}, 101), 400, "invalid_request", "messages"},
			{"messages", []any{"x"}, 400, "invalid_request", "messages[0]"},
			{"messages", []object{{"content": "x"}}, 400, "invalid_request", "messages[0].role"},
			{"messages", []object{{"role": "user"}}, 400, "invalid_request", "messages[0].content"},
			{"messages", []object{{"role": "user", "content": nil}}, 400, "invalid_request", "messages[0].content"},
			{"messages", []object{{"role": "user", "content": []object{{"type": "text"}}}}, 400, "invalid_request",
				"messages[0].content"},
			{"messages", []object{{"role": "user", "content": long(64<<10 + 1)}}, 413, "payload_too_large",
				"messages[0].content"},
			{"messages", []object{{"role": "user", "content": "x", "id": ""}}, 400, "invalid_request", "messages[0].id"},
			{"messages", []object{{"role": "user", "content": "x", "id": long(256)}}, 400, "invalid_request", "messages[0].id"},
			{"messages", []object{{"role": "user", "content": "x", "name": ""}}, 400, "invalid_request", "messages[0].name"},
			{"messages", []object{{"role": "user", "content": "x", "metadata": object{"role": "y"}}}, 400, "invalid_request",
				"messages[0].metadata"},
			{"messages", []object{{"role": "user", "content": "x", "metadata": object{"a": object{}}}}, 400, "invalid_request",
				"messages[0].metadata"},
			{"messages", []object{{"role": "user", "content": "x", "occurredAt": "now"}}, 400, "invalid_request",
				"messages[0].occurredAt"},
			{"messages", []object{{"role": "user", "content": "x", "tool_calls": []object{}}}, 400, "invalid_request",
				"messages[0].tool_calls"},
			{"messages", slices.Repeat([]object{{"role": "user", "content": long(60 << 10)}}, 20), 413, "payload_too_large",
				"messages"},
		}),
		"context": all(endUser, tag("containerTag"), tag("container_tag"), millis("createdAfter"), millis("createdBefore"), []bad{
			{"query", nil, 400, "invalid_request", "query"}, {"query", " ", 400, "invalid_request", "query"},
			{"query", long(8193), 400, "invalid_request", "query"},
			{"limit", 0, 400, "invalid_request", "limit"}, {"limit", 101, 400, "invalid_request", "limit"},
			{"maxTokens", 15, 400, "invalid_request", "maxTokens"}, {"maxTokens", 32769, 400, "invalid_request", "maxTokens"},
			{"maxTokens", "400", 400, "invalid_request", "maxTokens"}, {"message", "x", 400, "invalid_request", "message"},
		}),
		"delete": all(endUser, []bad{
			{"ids", nil, 400, "invalid_request", "ids"}, {"ids", []string{}, 400, "invalid_request", "ids"},
			{"ids", "mem_1", 400, "invalid_request", "ids"},
			{"ids", make([]string, 101), 400, "invalid_request", "ids"},
			{"ids", []any{1}, 400, "invalid_request", "ids[0]"},
			{"ids", []string{"mem_1", "a b"}, 400, "invalid_request", "ids[1]"},
			{"filter", object{}, 400, "invalid_request", "filter"},
		}),
		"grant": all(endUser, source, []bad{
			{"secrets", "x", 400, "invalid_request", "secrets"}, {"secrets", []string{"x"}, 400, "invalid_request", "secrets"},
			{"secrets", object{"token": long(64<<10 + 1)}, 400, "invalid_request", "secrets"},
			{"id", "grt_1", 400, "invalid_request", "id"}, {"kind", "crm", 400, "invalid_request", "kind"},
		}),
	}
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{engine: func(c *engine.Config) {
			c.Rates = map[op.Class]ident.Rate{op.Recall: {}}
		}}).integration("app", nil)
		kept := s.save("ann", "Coffee at ten.")
		for _, r := range memoryRoutes() {
			if r.body == nil {
				continue
			}
			if tables[r.name] == nil {
				t.Errorf("%s has no table of bad input", r.name)
			}
			for _, c := range tables[r.name] {
				body := r.body.set(c.field, c.value)
				if v, ok := c.value.(raw); ok {
					body[c.field] = json.RawMessage(v)
				}
				got := s.do(r.method, r.path, body)
				got.refuses(c.status, c.code, "field", c.at)
				if t.Failed() {
					t.Fatalf("%s with %s %.80v", r.name, c.field, c.value)
				}
			}
			// Bodies that are no request at all.
			for _, c := range []struct {
				body    any
				headers []string
				status  int
				code    string
			}{
				{raw(""), nil, 400, "invalid_json"}, {raw("{"), nil, 400, "invalid_json"},
				{raw(`{"endUserId":"ann"`), nil, 400, "invalid_json"}, {raw("null"), nil, 400, "invalid_request"},
				{raw("[]"), nil, 400, "invalid_request"}, {raw(`"x"`), nil, 400, "invalid_request"},
				{raw("{}{}"), nil, 400, "invalid_json"}, {raw(`{"endUserId":"ann","endUserId":"bob"}`), nil, 400, "invalid_json"},
				{raw("{\"endUserId\":\"\xff\"}"), nil, 400, "invalid_json"},
				{raw(`{"endUserId":"ann","x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}"), nil, 400,
					"invalid_json"},
				{object(r.body), []string{"Content-Type", "text/plain"}, 400, "invalid_request"},
				{object(r.body), []string{"Content-Type", "application/x-www-form-urlencoded"}, 400, "invalid_request"},
				{object(r.body), []string{"Content-Encoding", "br"}, 400, "invalid_request"},
				{raw(`{"x":"` + strings.Repeat("y", 33<<20) + `"}`), nil, 413, "payload_too_large"},
				{object(r.body), []string{"X-Timeout-Ms", "soon"}, 400, "invalid_request"},
			} {
				s.do(r.method, r.path, c.body, c.headers...).refuses(c.status, c.code)
				if t.Failed() {
					t.Fatalf("%s with %.80v", r.name, c.body)
				}
			}
		}
		for _, c := range []struct{ method, path, code, at string }{
			{"GET", "/api/v1/memories", "invalid_end_user_id", "endUserId"},
			{"GET", "/api/v1/memories?endUserId=a:b", "invalid_end_user_id", "endUserId"},
			{"GET", "/api/v1/memories?endUserId=ann&endUserId=bob", "invalid_end_user_id", "endUserId"},
			{"GET", "/api/v1/memories?endUserId=%ff", "invalid_end_user_id", "endUserId"},
			{"GET", "/api/v1/memories?endUserId=ann&containerTag=", "invalid_container_tag", "containerTag"},
			{"GET", "/api/v1/memories?endUserId=ann&containerTag=a%20b", "invalid_container_tag", "containerTag"},
			{"GET", "/api/v1/memories?endUserId=ann&limit=0", "invalid_request", "limit"},
			{"GET", "/api/v1/memories?endUserId=ann&limit=101", "invalid_request", "limit"},
			{"GET", "/api/v1/memories?endUserId=ann&limit=x", "invalid_request", "limit"},
			{"GET", "/api/v1/memories?endUserId=ann&cursor=x", "invalid_request", "cursor"},
			{"GET", "/api/v1/memories/r1?source=crm", "invalid_end_user_id", "endUserId"},
			{"GET", "/api/v1/memories/r1?endUserId=ann", "invalid_source", "source"},
			{"GET", "/api/v1/memories/.r1?endUserId=ann&source=crm", "invalid_external_id", "externalId"},
			{"GET", "/api/v1/memories/a%2Fb?endUserId=ann&source=crm", "invalid_external_id", "externalId"},
			{"GET", "/api/v1/memories/" + long(257) + "?endUserId=ann&source=crm", "invalid_external_id", "externalId"},
			{"GET", "/api/v1/memories/r1?endUserId=ann&source=-", "invalid_source", "source"},
			{"GET", "/api/v1/memories/%00?endUserId=ann&source=crm", "invalid_external_id", "externalId"},
			{"DELETE", "/api/v1/memories/r1?endUserId=ann&source=crm", "invalid_version", "version"},
			{"DELETE", "/api/v1/memories/r1?endUserId=ann&source=crm&version=0", "invalid_version", "version"},
			{"DELETE", "/api/v1/memories/r1?endUserId=ann&source=crm&version=1.5", "invalid_version", "version"},
			{"DELETE", "/api/v1/memories/r1?endUserId=ann&source=crm&version=9007199254740992", "invalid_version", "version"},
			{"DELETE", "/api/v1/memories/r1?endUserId=ann&source=crm&version=99999999999999999999", "invalid_version", "version"},
			{"DELETE", "/api/v1/memories/r1?endUserId=ann&source=crm&version=1&occurredAt=now", "invalid_request", "occurredAt"},
			{"DELETE", "/api/v1/memories/r1?source=crm&version=1", "invalid_end_user_id", "endUserId"},
			{"DELETE", "/api/v1/users/a:b", "invalid_end_user_id", "endUserId"},
			{"DELETE", "/api/v1/users/" + long(129), "invalid_end_user_id", "endUserId"},
			{"DELETE", "/api/v1/users/%20", "invalid_end_user_id", "endUserId"},
		} {
			s.do(c.method, c.path, nil).refuses(400, c.code, "field", c.at)
		}
		s.do("PUT", "/api/v1/memories/-", object{}).refuses(400, "invalid_end_user_id")
		s.do("PUT", "/api/v1/memories/-", memoryRoutes()[5].body).refuses(400, "invalid_external_id", "field", "externalId")
		for _, bounds := range [][2]int{{5, 5}, {6, 5}} {
			s.post("/api/v1/search", object{"endUserId": "ann", "query": "x", "createdAfter": bounds[0],
				"createdBefore": bounds[1]}).refuses(400, "invalid_request", "field", "createdAfter")
			s.post("/api/v1/search", object{"endUserId": "ann", "query": "x", "created_after": bounds[0],
				"createdBefore": bounds[1]}).refuses(400, "invalid_request", "field", "createdAfter")
		}
		for _, c := range []object{{"containerTag": "a", "container_tag": "b"}, {"createdAfter": 1, "created_after": 2},
			{"createdBefore": 1, "created_before": 2}} {
			c["endUserId"], c["query"] = "ann", "x"
			s.post("/api/v1/search", c).is(400)
		}
		if got := s.memories("ann"); len(got) != 1 || got[0]["id"] != kept {
			t.Errorf("refused calls left %v", got)
		}
		for _, user := range []string{"bob", "a", "x"} {
			if got := s.memories(user); len(got) != 0 {
				t.Errorf("refused calls left %v", got)
			}
		}
		// Unknown routes and methods have the family's body.
		for _, path := range []string{"/api/v1", "/api/v1/", "/api/v1/nothing", "/api/v1/users", "/api/v1/users/ann/x",
			"/api/v1/search/"} {
			s.get(path).refuses(404, "not_found")
		}
		for path, allow := range map[string]string{"/api/v1/search": "POST", "/api/v1/memories/batch": "",
			"/api/v1/status": "GET, HEAD", "/api/v1/users/ann": "DELETE"} {
			got := s.do("PATCH", path, nil).refuses(405, "method_not_allowed")
			if h := got.header.Get("Allow"); h == "" || allow != "" && h != allow {
				t.Errorf("%s: Allow %q", path, h)
			}
		}
	})
}

// items are n items of a batch with contents of a size that differ.
func items(n int, content string) []object {
	out := make([]object, n)
	for i := range out {
		out[i] = object{"content": fmt.Sprintf("%d %s", i, content)}
	}
	return out
}
