package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// shelf makes a data folder with two namespaces, and says how commands reach it.
func shelf(t *testing.T, how string) (args func(...string) []string) {
	t.Helper()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	var rows strings.Builder
	for i := range 5 {
		fmt.Fprintf(&rows, `{"id":"row-%d","text":"Row %d hangs on the wall.","metadata":{"even":%v}}`+"\n", i, i, i%2 == 0)
	}
	write(t, filepath.Join(dir, "in", "rows.jsonl"), rows.String())
	write(t, filepath.Join(dir, "in", "dusk.md"), "The harbour closes at dusk.\n")
	for _, ns := range []string{"notes", "other"} {
		succeed(t, "import", filepath.Join(dir, "in"), "--namespace", ns, "--data", data)
	}
	reach := []string{"--data", data}
	switch how {
	case "beside a server":
		start(t, "--data", data)
	case "by URL":
		key := newKey(t, data)
		reach = []string{"--url", start(t, "--data", data).URL, "--key", key}
	}
	return func(args ...string) []string { return append(args, reach...) }
}

// decodedInto reads the JSON that a command prints.
func decodedInto(t *testing.T, out string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), into); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
}

// Saved queries are run by a command whose exit code says whether each finds what it should.
func TestChecks(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	in := filepath.Join(t.TempDir(), "dusk.md")
	write(t, in, "The harbour closes at dusk.\n")
	succeed(t, "import", in, "--namespace", "notes", "--data", data)
	key := newKey(t, data)
	url := start(t, "--data", data).URL
	save := func(name, expect string) {
		t.Helper()
		body := strings.NewReader(`{"query": "harbour", "mode": "keyword", "expect": ["` + expect + `"]}`)
		r, err := http.NewRequestWithContext(t.Context(), "PUT", url+"/namespaces/notes/queries/"+name, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		if a.StatusCode != http.StatusOK {
			t.Fatalf("save answered %s", a.Status)
		}
	}
	var found struct{ Documents []struct{ ID string } }
	decodedInto(t, succeed(t, "documents", "list", "notes", "--json", "--data", data).Stdout, &found)
	save("closes", found.Documents[0].ID)
	r := succeed(t, "checks", "run", "notes", "--data", data)
	if !strings.HasPrefix(r.Stdout, "NAME ") || !strings.Contains(r.Stdout, "closes  passes") {
		t.Errorf("run: %+v", r)
	}
	save("lost", "dawn")
	if r = answering(t, "", []string{"checks", "run", "notes", "--data", data}, nil); r.Code != 1 ||
		!strings.Contains(r.Stderr, "1 of 2 saved queries do not pass") || !strings.Contains(r.Stdout, "lost    fails    dawn") {
		t.Errorf("run with one that fails: %+v", r)
	}
	r = answering(t, "", []string{"checks", "run", "notes", "--json", "--data", data}, nil)
	var report struct{ Passed, Failed int }
	if decodedInto(t, r.Stdout, &report); r.Code != 1 || report.Passed != 1 || report.Failed != 1 {
		t.Errorf("as JSON: %+v", r)
	}
	if r = succeed(t, "checks", "list", "notes", "--data", data); !strings.Contains(r.Stdout, "lost    harbour  dawn") {
		t.Errorf("list: %+v", r)
	}
	if r = succeed(t, "checks", "list", "notes", "--json", "--data", data); !strings.Contains(r.Stdout, `"closes"`) {
		t.Errorf("list as JSON: %+v", r)
	}
	if r = answering(t, "", []string{"checks", "run", "none", "--data", data}, nil); r.Code != 1 ||
		!strings.Contains(r.Stderr, "none") {
		t.Errorf("of no namespace: %+v", r)
	}
}

// What a namespace holds is seen and removed, beside a running server and without one.
func TestNamespacesAndDocuments(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"alone", "beside a server", "by URL"} {
		t.Run(how, func(t *testing.T) {
			with := shelf(t, how)
			var spaces struct {
				Namespaces []struct {
					Name      string
					Documents int
				}
				More bool
			}
			names := func(args ...string) string {
				t.Helper()
				spaces.Namespaces = nil
				decodedInto(t, succeed(t, with(append([]string{"namespaces", "list", "--json"}, args...)...)...).Stdout, &spaces)
				var all []string
				for _, n := range spaces.Namespaces {
					all = append(all, fmt.Sprint(n.Name, " ", n.Documents))
				}
				return strings.Join(all, ", ")
			}
			if got := names(); got != "notes 6, other 6" || spaces.More {
				t.Errorf("namespaces: %s, more %v", got, spaces.More)
			}
			if got := names("--prefix", "no"); got != "notes 6" {
				t.Errorf("by prefix: %s", got)
			}
			if got := names("--limit", "1"); got != "notes 6" || !spaces.More {
				t.Errorf("one: %s, more %v", got, spaces.More)
			}
			r := succeed(t, with("namespaces", "list", "--limit", "1")...)
			if !strings.HasPrefix(r.Stdout, "NAME ") || !strings.Contains(r.Stdout, "notes  6") ||
				!strings.Contains(r.Stderr, "there are more") {
				t.Errorf("as a table: %+v", r)
			}
			shown := succeed(t, with("namespaces", "show", "other")...).Stdout
			for _, line := range []string{"documents        6\n", "embedding model  e5-small-v2\n", "sparse model     none\n"} {
				if !strings.Contains(shown, line) {
					t.Errorf("show lacks %q:\n%s", line, shown)
				}
			}
			var one struct{ Name string }
			decodedInto(t, succeed(t, with("namespaces", "show", "other", "--json")...).Stdout, &one)
			if one.Name != "other" {
				t.Errorf("show gives %+v", one)
			}

			var docs struct {
				Documents []struct {
					ID string
				}
				More bool
			}
			ids := func(args ...string) string {
				t.Helper()
				docs.Documents = nil
				decodedInto(t, succeed(t, with(append([]string{"documents", "list", "--json"}, args...)...)...).Stdout, &docs)
				var all []string
				for _, d := range docs.Documents {
					all = append(all, d.ID)
				}
				return strings.Join(all, " ")
			}
			if got := ids("notes"); got != "dusk.md row-0 row-1 row-2 row-3 row-4" {
				t.Errorf("documents: %s", got)
			}
			if got := ids("notes", "--prefix", "row-", "--limit", "2"); got != "row-0 row-1" || !docs.More {
				t.Errorf("two by prefix: %s, more %v", got, docs.More)
			}
			if r := succeed(t, with("documents", "list", "notes", "--newest")...); !strings.HasPrefix(r.Stdout, "ID ") ||
				!strings.Contains(r.Stdout, "\nrow-4 ") || r.Stderr != "" {
				t.Errorf("as a table: %+v", r)
			}
			if r := succeed(t, with("documents", "get", "notes", "dusk.md")...); r.Stdout != "The harbour closes at dusk.\n" {
				t.Errorf("get prints %q", r.Stdout)
			}
			var whole struct {
				Text      string
				Metadata  map[string]any
				ChunkList []struct{ Text string } `json:"chunk_list"`
			}
			decodedInto(t, succeed(t, with("documents", "get", "notes", "row-2", "--json")...).Stdout, &whole)
			if whole.Text != "Row 2 hangs on the wall." || whole.Metadata["even"] != true || whole.ChunkList != nil {
				t.Errorf("get --json: %+v", whole)
			}
			decodedInto(t, succeed(t, with("documents", "get", "notes", "row-2", "--json", "--chunks")...).Stdout, &whole)
			if len(whole.ChunkList) != 1 || whole.ChunkList[0].Text != whole.Text {
				t.Errorf("get --chunks: %+v", whole)
			}

			// Nothing goes without an answer.
			for what, args := range map[string][]string{
				"delete 1 document of the namespace notes for good?": {"documents", "delete", "notes", "row-0"},
				`delete all documents that match {"even":true} of the namespace notes for good?`: {"documents", "delete", "notes",
					"--filter", `{"even":true}`},
				"delete the namespace notes with 6 documents for good?": {"namespaces", "delete", "notes"},
			} {
				r := answering(t, "n\n", with(args...), nil)
				if r.Code != 1 || !strings.Contains(r.Stderr, what) || !strings.Contains(r.Stderr, "nothing was changed") {
					t.Errorf("mneme %s: %+v", strings.Join(args, " "), r)
				}
			}
			if got := names(); got != "notes 6, other 6" {
				t.Errorf("after no answers: %s", got)
			}
			r = answering(t, "y\n", with("documents", "delete", "notes", "row-0", "absent"), nil)
			if r.Code != 0 || !strings.HasSuffix(r.Stderr, "deleted 1 document\n") {
				t.Errorf("delete by id: %+v", r)
			}
			if r := succeed(t, with("documents", "delete", "notes", "--filter", `{"even":true}`, "--yes")...); !strings.Contains(
				r.Stderr, "deleted 2 documents") || strings.Contains(r.Stderr, "[y/N]") {
				t.Errorf("delete by filter: %+v", r)
			}
			r = answering(t, "row-1\r\n\nrow-3\n", with("documents", "delete", "notes", "-", "--yes"), nil)
			if r.Code != 0 || !strings.HasSuffix(r.Stderr, "deleted 2 documents\n") {
				t.Errorf("delete from standard input: %+v", r)
			}
			if got := ids("notes"); got != "dusk.md" {
				t.Errorf("left: %s", got)
			}
			if r := succeed(t, with("namespaces", "delete", "notes", "--yes")...); r.Stderr != "deleted notes with 1 document\n" {
				t.Errorf("delete a namespace: %+v", r)
			}
			if got := names(); got != "other 6" {
				t.Errorf("at the end: %s", got)
			}
			for _, args := range [][]string{
				{"namespaces", "show", "notes"}, {"namespaces", "delete", "notes"}, {"documents", "list", "notes"},
				{"documents", "get", "notes", "row-0"},
			} {
				if r := mneme(t, with(args...)...); r.Code != 1 || !strings.Contains(r.Stderr, "namespace_not_found") {
					t.Errorf("mneme %s: %+v", strings.Join(args, " "), r)
				}
			}
		})
	}
}

// A command that cannot be meant is refused before anything is opened.
func TestNamespacesAndDocumentsMisused(t *testing.T) {
	for says, args := range map[string][]string{
		`"No!" is no namespace`:            {"namespaces", "show", "No!"},
		"--limit must not":                 {"namespaces", "list", "--limit", "-1"},
		"must not be negative":             {"documents", "list", "notes", "--limit", "-1"},
		`"A" is no namespace`:              {"documents", "list", "A"},
		`"B" is no namespace`:              {"documents", "get", "B", "x"},
		`"C" is no namespace`:              {"documents", "delete", "C", "x"},
		"--chunks goes with --json":        {"documents", "get", "notes", "x", "--chunks"},
		"give either ids or --filter":      {"documents", "delete", "notes"},
		"either ids or --filter":           {"documents", "delete", "notes", "x", "--filter", "{}"},
		"not valid JSON":                   {"documents", "delete", "notes", "--filter", "{"},
		"is no document's id":              {"documents", "delete", "notes", "a\nb"},
		"there is nobody to ask":           {"documents", "delete", "notes", "-"},
		"namespaces has no command":        {"namespaces", "drop"},
		"documents needs a command":        {"documents"},
		"nothing is changed":               {"keys", "update", "key_1"},
		"give either --rate or":            {"keys", "update", "key_1", "--no-rates", "--rate", "read=1/min"},
		"want CLASS=RATE":                  {"keys", "create", "--rate", "60/min"},
		"each class once":                  {"keys", "create", "--rate", "read=60/min", "--rate", "read=6/min"},
		"--rate write: \"60/day\": want 0": {"keys", "update", "key_1", "--rate", "write=60/day"},
	} {
		if r := mneme(t, append(args, "--data", filepath.Join(t.TempDir(), "data"))...); r.Code != 2 ||
			!strings.Contains(r.Stderr, says) {
			t.Errorf("mneme %s: %+v", strings.Join(args, " "), r)
		}
	}
}

// A key's own limits are set when it is made and changed later, and a running server goes by them.
func TestLimitsOfAKey(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	key := newKey(t, data, "--name", "app", "--rate", "read=60/min burst 5", "--rate", "write=6/min")
	type listed struct {
		ID, Name string
		ReadOnly bool `json:"read_only"`
		Limits   map[string]struct {
			PerMinute int `json:"per_minute"`
			Burst     int
		}
	}
	one := func(out string) listed {
		t.Helper()
		var all struct{ Keys []listed }
		decodedInto(t, out, &all)
		if len(all.Keys) != 1 {
			t.Fatalf("%d keys: %s", len(all.Keys), out)
		}
		return all.Keys[0]
	}
	k := one(succeed(t, "keys", "list", "--data", data, "--json").Stdout)
	if k.Limits["read"].PerMinute != 60 || k.Limits["read"].Burst != 5 || k.Limits["write"].PerMinute != 6 || len(k.Limits) != 2 {
		t.Errorf("made with %+v", k.Limits)
	}
	if r := succeed(t, "keys", "list", "--data", data); !strings.Contains(r.Stdout, "read=60/min burst 5, write=6/min") {
		t.Errorf("the list:\n%s", r.Stdout)
	}
	update := func(args ...string) listed {
		t.Helper()
		return one(succeed(t, append([]string{"keys", "update", k.ID, "--data", data, "--json"}, args...)...).Stdout)
	}
	if got := update("--name", "tool"); got.Name != "tool" || len(got.Limits) != 2 {
		t.Errorf("renamed: %+v", got)
	}
	s := start(t, "--data", data)
	if got := update("--rate", "read=1/min burst 1", "--read-only"); len(got.Limits) != 1 || got.Limits["read"].PerMinute != 1 ||
		!got.ReadOnly || got.Name != "tool" {
		t.Errorf("limited: %+v", got)
	}
	if status, body := call(t, "GET", s.URL+"/namespaces", key, ""); status != 200 {
		t.Fatalf("the first call: %d %s", status, body)
	}
	if status, body := call(t, "GET", s.URL+"/namespaces", key, ""); status != 429 {
		t.Errorf("the second call in a minute: %d %s", status, body)
	}
	if got := update("--no-rates", "--read-only=false"); len(got.Limits) != 0 || got.ReadOnly {
		t.Errorf("without limits: %+v", got)
	}
	if r := mneme(t, "keys", "update", k.ID, "--data", data, "--rate", "recall=1/min"); r.Code != 1 ||
		!strings.Contains(r.Stderr, "recall") {
		t.Errorf("a class that the key has no use for: %+v", r)
	}
	if r := mneme(t, "keys", "update", "key_absent", "--data", data, "--name", "x"); r.Code != 1 ||
		!strings.Contains(r.Stderr, "not_found") {
		t.Errorf("an absent key: %+v", r)
	}
}
