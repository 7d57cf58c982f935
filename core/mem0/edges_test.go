package mem0_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/mem0"
	"github.com/mnemehq/mneme/core/memory"
)

// nested is a filter of so many levels.
func nested(levels int) string {
	return strings.Repeat(`{"AND":[`, levels-1) + `{"user_id":"ann"}` + strings.Repeat(`]}`, levels-1)
}

// These are as long, as deep and as many as they may be, and what is one more is refused.
func TestWhatFiltersMayHold(t *testing.T) {
	runs := func(n int) string {
		return `{"AND": [` + strings.Repeat(`{"run_id": "a"},`, n-1) + `{"run_id": "a"}]}`
	}
	id := func(field string, n int) string { return fmt.Sprintf(`{%q: %q}`, field, strings.Repeat("a", n)) }
	keys := func(n int) string { return `{"run_id": "a", ` + manyKeys(n)[1:] }
	for _, c := range []struct{ most, more, says string }{
		{nested(16), nested(17), "nested deeper than 16"},
		{runs(255), runs(256), "more than 256"},
		{keys(254), keys(255), "filters.run_id: is one of more than 256"},
		{id("run_id", 112), id("run_id", 113), "run_id: must be 1-112"},
		{id("agent_id", 112), id("agent_id", 113), "agent_id: must be 1-112"},
		{id("app_id", 112), id("app_id", 113), "app_id: must be 1-112"},
		{id("user_id", 128), id("user_id", 129), "user_id: must be 1-128"},
		{`{"created_at": {"gt": "0001-01-01"}}`, `{"created_at": {"gt": "0000-12-31"}}`, "must be a date"},
		{`{"created_at": {"gt": "0001-01-01T00:00:00Z"}}`, `{"created_at": {"gt": "0001-01-01T00:00:00+01:00"}}`,
			"must be a date"},
		{`{"created_at": {"lt": "9999-12-31T23:59:59Z"}}`, `{"created_at": {"lt": "9999-12-31T23:59:59-01:00"}}`,
			"must be a date"},
	} {
		read := func(filters string) error {
			var in mem0.SearchRequest
			return json.Unmarshal([]byte(`{"query": "a", "filters": `+filters+`}`), &in)
		}
		if err := read(c.most); err != nil {
			t.Errorf("%.60s: %v", c.most, err)
		}
		err := read(c.more)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.60s: %v, want %s", c.more, err, c.says)
		}
	}
}

// Times of creation have milliseconds. Bounds between two of them, and several bounds, mean what they say.
func TestBoundsOfTime(t *testing.T) {
	s := open(t)
	for i, text := range []string{"zero", "one", "two"} {
		s.add(object{"user_id": "ann", "timestamp": fmt.Sprintf("2023-11-14T22:13:20.%03dZ", i)}, text).OK()
	}
	at := func(fraction string) string { return "2023-11-14T22:13:20" + fraction + "Z" }
	created := func(bounds ...any) object {
		o := object{}
		for i := 0; i < len(bounds); i += 2 {
			o[bounds[i].(string)] = at(bounds[i+1].(string))
		}
		return object{"created_at": o}
	}
	for _, c := range []struct {
		want  string
		parts []any
	}{
		{"one, two", []any{created("gte", ".001")}},
		{"two", []any{created("gt", ".001")}},
		{"one, two", []any{created("gte", ".0005")}},
		{"one, two", []any{created("gt", ".0005")}},
		{"one, zero", []any{created("lte", ".001")}},
		{"zero", []any{created("lt", ".001")}},
		{"zero", []any{created("lte", ".0005")}},
		{"zero", []any{created("lt", ".0005")}},
		{"one", []any{created("gte", ".001", "lte", ".001")}},
		{"", []any{created("gt", ".000", "lt", ".001")}},
		{"two", []any{created("gte", ".000"), created("gt", ".001")}},
		{"two", []any{created("gt", ".001"), created("gte", ".000")}},
		{"zero", []any{created("lte", ".002"), created("lt", ".001")}},
		{"zero", []any{created("lt", ".001"), created("lte", ".002")}},
	} {
		filters := object{"AND": append([]any{object{"user_id": "ann"}}, c.parts...)}
		if got := texts(s.list(object{"filters": filters})); got != c.want {
			t.Errorf("%v lists %q, want %q", c.parts, got, c.want)
		}
	}
	s.list(object{"filters": object{"user_id": "ann", "created_at": object{"gt": at(".001"), "lt": at(".001")}}}).
		Fails(fault.InvalidFilter, "ends before it begins")
	dated := func(start, end string) *coretest.Reply {
		return s.list(object{"filters": object{"user_id": "ann"}, "start_date": start, "end_date": end})
	}
	if got := texts(dated(at(".001"), at(".001"))); got != "one" {
		t.Errorf("between dates %q", got)
	}
	dated("soon", at(".001")).Fails(fault.InvalidRequest, "start_date: must be a date")
	dated(at(".001"), "late").Fails(fault.InvalidRequest, "end_date: must be a date")
}

func TestMoments(t *testing.T) {
	for text, want := range map[string]string{
		"1700000000":                    "2023-11-14T22:13:20Z",
		"1700000000.25":                 "2023-11-14T22:13:20.25Z",
		"-1.5":                          "1969-12-31T23:59:58.5Z",
		"62135596800":                   "3939-01-01T00:00:00Z",
		"-62135596800":                  "0001-01-01T00:00:00Z",
		`"2024-05-01t10:00:00z"`:        "2024-05-01T10:00:00Z",
		`"2024-05-01T12:00:00.5+02:00"`: "2024-05-01T10:00:00.5Z",
		"62135596801":                   "",
		"-62135596801":                  "",
		`"soon"`:                        "",
		`"1700000000"`:                  "",
		`true`:                          "",
		`{}`:                            "",
	} {
		var m mem0.Moment
		err := json.Unmarshal([]byte(text), &m)
		got, _ := m.MarshalJSON()
		if (err == nil) != (want != "") || err == nil && string(got) != `"`+want+`"` {
			t.Errorf("%s is %s, %v; want %q", text, got, err, want)
		}
	}
}

func TestContents(t *testing.T) {
	for text, want := range map[string]string{
		`"a"`:                             "a",
		`[{"type": "text", "text": "a"}]`: "a",
		`[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]`: "a\nb",
		`[]`: "", `[{"type": "text"}]`: "", `[{"type": "image_url", "text": "a"}]`: "",
		`{"type": "text", "text": "a"}`: "", `7`: "",
	} {
		var c mem0.Content
		if err := json.Unmarshal([]byte(text), &c); (err == nil) != (want != "") || string(c) != want {
			t.Errorf("%s is %q, %v", text, c, err)
		}
	}
}

// The last page says that it is, also where it is full; and so does a page behind all.
func TestPagesEnd(t *testing.T) {
	s := filled(t)
	page := func(n, size int) *coretest.Reply {
		return s.list(object{"filters": object{"user_id": "ann"}},
			func(in *mem0.ListRequest) { in.Page, in.PageSize = &n, &size }).OK()
	}
	for _, c := range []struct {
		page, size, results int
		next, previous      any
	}{
		{1, 3, 3, nil, nil}, {1, 4, 3, nil, nil}, {3, 1, 1, nil, "/v3/memories/?page=2&page_size=1"},
		{2, 1, 1, "/v3/memories/?page=3&page_size=1", "/v3/memories/?page=1&page_size=1"},
		{4, 1, 0, nil, "/v3/memories/?page=3&page_size=1"},
	} {
		r := page(c.page, c.size)
		if len(r.List("results")) != c.results || r.JSON["next"] != c.next ||
			r.JSON["previous"] != c.previous || r.JSON["count"] != 3.0 {
			t.Errorf("page %d of %d: %s", c.page, c.size, r.Body)
		}
	}
	r := s.list(object{"filters": object{"user_id": "ann"}}).OK()
	if len(r.List("results")) != 3 || r.JSON["next"] != nil || r.JSON["previous"] != nil {
		t.Errorf("without a page: %s", r.Body)
	}
}

// A score that is as high as it has to be is high enough.
func TestTheThreshold(t *testing.T) {
	s := filled(t)
	search := func(more object) []coretest.Object {
		body := object{"query": "pear tart", "filters": object{"user_id": "ann"}}
		for k, v := range more {
			body[k] = v
		}
		return s.search(body).OK().List("results")
	}
	all := search(nil)
	if len(all) != 3 || all[0]["memory"] != "pear tart" {
		t.Fatalf("found %v", all)
	}
	best, next := all[0]["score"].(float64), all[1]["score"].(float64)
	if best <= next {
		t.Fatalf("scores are %v and %v", best, next)
	}
	if got := search(object{"threshold": best}); len(got) != 1 || got[0]["memory"] != "pear tart" {
		t.Errorf("at the best score %v", got)
	}
	if got := search(object{"threshold": 1}); len(got) > 0 && got[0]["score"] != 1.0 {
		t.Errorf("at 1 %v", got)
	}
	if got := search(object{"top_k": 1}); len(got) != 1 {
		t.Errorf("one is %v", got)
	}
	for field, value := range map[string]any{"reference_date": 1700000000, "fields": []string{"memory"},
		"metadata": object{"a": 1}, "query": " \n", "categories": []string{"a"}} {
		body := object{"query": "a", "filters": object{"user_id": "ann"}}
		body[field] = value
		s.search(body).Fails(fault.InvalidRequest, field+": ")
	}
	s.search(object{"query": "a", "filters": object{"user_id": "ann"}, "fields": []string{}, "categories": []string{}}).OK()
}

// What calls cost, and whom they are of.
func TestUnitsAndEndUsers(t *testing.T) {
	updates, deletions := &mem0.BatchUpdateRequest{}, &mem0.BatchDeleteRequest{}
	for _, id := range []string{"mem_1:ann", "mem_2:ann"} {
		updates.Memories = append(updates.Memories, mem0.Change{MemoryID: id})
		deletions.Memories = append(deletions.Memories, mem0.Deletion{MemoryID: id})
	}
	if updates.EndUser() != "ann" || deletions.EndUser() != "ann" || updates.Units() != 2 || deletions.Units() != 2 {
		t.Errorf("%q, %q, %d, %d", updates.EndUser(), deletions.EndUser(), updates.Units(), deletions.Units())
	}
	updates.Memories = append(updates.Memories, mem0.Change{MemoryID: "mem_3:ben"}, mem0.Change{MemoryID: "none"})
	deletions.Memories = append(deletions.Memories, mem0.Deletion{MemoryID: "mem_3:ben"}, mem0.Deletion{MemoryID: "none"})
	if updates.EndUser() != "" || deletions.EndUser() != "" || !slices.Equal(updates.EndUsers(), []string{"ann", "ben"}) ||
		!slices.Equal(deletions.EndUsers(), []string{"ann", "ben"}) {
		t.Errorf("%q, %q, %v, %v", updates.EndUser(), deletions.EndUser(), updates.EndUsers(), deletions.EndUsers())
	}
	if n := (&mem0.AddRequest{Messages: make([]mem0.Message, 3)}).Units(); n != 3 {
		t.Errorf("three messages cost %d", n)
	}
	if got := (&mem0.Ref{MemoryID: "mem_1:ann"}).EndUser(); got != "ann" {
		t.Errorf("a memory is of %q", got)
	}
	if got := (&mem0.Ref{MemoryID: "none"}).EndUser(); got != "" {
		t.Errorf("none is of %q", got)
	}
	for kind, want := range map[string]string{"user": "x", "agent": "mem0-agent.x", "app": "mem0-app.x", "run": "mem0-run.x"} {
		if got := (&mem0.EntityRef{Type: kind, ID: "x"}).EndUser(); got != want {
			t.Errorf("%s x is %q", kind, got)
		}
	}
}

// Texts of a batch are bounded altogether.
func TestABatchOfLongTexts(t *testing.T) {
	batch := func(bytes int) error {
		in := &mem0.BatchUpdateRequest{Memories: []mem0.Change{{MemoryID: "mem_1:ann"}}}
		for ; bytes > 0; bytes -= 1 << 16 {
			in.Memories = append(in.Memories, mem0.Change{Text: new(strings.Repeat("a", min(bytes, 1<<16)))})
		}
		return in.Validate()
	}
	if err := batch(memory.MaxBatchBytes); err != nil {
		t.Error(err)
	}
	if err := batch(memory.MaxBatchBytes + 1); fault.CodeOf(err) != fault.PayloadTooLarge ||
		!strings.Contains(err.Error(), fmt.Sprint(memory.MaxBatchBytes+1)) {
		t.Error(err)
	}
}

// What agents, apps and runs keep without a user is theirs alone.
func TestMemoriesWithoutAUser(t *testing.T) {
	s := open(t)
	for _, kind := range []string{"agent", "app", "run"} {
		s.add(object{kind + "_id": "x"}, "of the "+kind).OK()
	}
	s.add(object{"agent_id": "x", "app_id": "y", "run_id": "z"}, "of all").OK()
	for _, c := range []struct {
		filters object
		want    string
	}{
		{object{"agent_id": "x"}, "of all, of the agent"},
		{object{"app_id": "x"}, "of the app"},
		{object{"run_id": "x"}, "of the run"},
		{object{"agent_id": "x", "app_id": "y"}, "of all"},
		{object{"agent_id": "x", "run_id": "z"}, "of all"},
		{object{"app_id": "y"}, ""},
	} {
		if got := texts(s.list(object{"filters": c.filters})); got != c.want {
			t.Errorf("%v lists %q, want %q", c.filters, got, c.want)
		}
	}
	m := s.list(object{"filters": object{"agent_id": "x", "app_id": "y"}}).OK().List("results")[0]
	if m["user_id"] != nil || m["agent_id"] != "x" || m["app_id"] != "y" || m["run_id"] != "z" {
		t.Errorf("%v", m)
	}
	for kind, id := range map[string]string{"agent": "x", "app": "x", "run": "x"} {
		coretest.Ask(s.ctx, t, s.service.EraseEntity, nil, func(in *mem0.EntityRef) { in.Type, in.ID = kind, id }).OK()
	}
	if r := coretest.Ask(s.ctx, t, s.service.Entities, nil).OK(); r.JSON["count"] != 0.0 {
		t.Errorf("left are %s", r.Body)
	}
	coretest.Ask(s.ctx, t, s.service.EraseEntity, nil, func(in *mem0.EntityRef) {
		in.Type, in.ID = "run", strings.Repeat("a", 113)
	}).Fails(fault.NotFound, "no memories are kept for run")
}
