package importer

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var then = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// tree makes a file system of names and contents.
func tree(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text), ModTime: then}
	}
	return m
}

func scan(t testing.TB, fsys fstest.MapFS) []File {
	t.Helper()
	l, err := Scanner{}.ScanFS(t.Context(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	return l.Files
}

// read gives a file's records, its problems and its last mark.
func read(t testing.TB, f File, from Mark) (recs []Record, bad []string, m Mark) {
	t.Helper()
	err := f.Read(t.Context(), from, func(it Item) error {
		if it.Record != nil {
			recs = append(recs, *it.Record)
		}
		if it.Problem != nil {
			bad = append(bad, it.Problem.Error())
		}
		m = it.Mark
		return nil
	})
	var p *Problem
	if errors.As(err, &p) {
		bad = append(bad, p.Error())
	} else if err != nil {
		t.Fatal(err)
	}
	return recs, bad, m
}

func one(t testing.TB, name, content string) ([]Record, []string) {
	t.Helper()
	recs, bad, _ := read(t, scan(t, tree(map[string]string{name: content}))[0], Mark{})
	return recs, bad
}

func TestReadDocuments(t *testing.T) {
	for _, tt := range []struct{ name, content, id, text, title, bad string }{
		{"a.txt", "plain\n", "a.txt", "plain\n", "", ""},
		{"docs/Guide.MD", "\n# The guide #\n\nText", "docs:Guide.MD", "\n# The guide #\n\nText", "The guide", ""},
		{"a.markdown", "Title\n=====\nx", "a.markdown", "Title\n=====\nx", "Title", ""},
		{"bom.txt", "\xef\xbb\xbfx", "bom.txt", "x", "", ""},
		{"utf16.txt", "\xff\xfeh\x00\xe9\x00", "utf16.txt", "hé", "", ""},
		{"utf16be.txt", "\xfe\xff\x00h\x00i", "utf16be.txt", "hi", "", ""},
		{"p.html", "<title>Tea</title><p>x", "p.html", "# Tea\n\nx", "Tea", ""},
		{"latin.htm", "<meta charset=iso-8859-1><p>caf\xe9", "latin.htm", "café", "", ""},
		{"bad.txt", "ok\nno\xff", "", "", "", "bad.txt: is not valid UTF-8: byte 3 of line 2"},
		{"nul.md", "a\n\x00", "", "", "", "nul.md: holds a NUL character on line 2"},
		{"empty.md", " \n", "", "", "", "empty.md: holds no text"},
		{"empty.html", "<script>x</script>", "", "", "", "empty.html: holds no text"},
	} {
		recs, bad := one(t, tt.name, tt.content)
		if tt.bad != "" {
			if len(recs) != 0 || len(bad) != 1 || bad[0] != tt.bad {
				t.Errorf("%s: got %v and problems %q, want %q", tt.name, recs, bad, tt.bad)
			}
			continue
		}
		if len(recs) != 1 || len(bad) != 0 {
			t.Errorf("%s: %d records, problems %q", tt.name, len(recs), bad)
			continue
		}
		meta := map[string]any{"path": tt.name, "modified_at": "2026-03-01T12:00:00Z"}
		if tt.title != "" {
			meta["title"] = tt.title
		}
		want := Record{ID: tt.id, Text: tt.text, Metadata: meta, At: Position{File: tt.name}}
		if d := cmp.Diff(want, recs[0]); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

func TestReadJSONLines(t *testing.T) {
	lines := strings.Join([]string{
		`{"id":"a","text":"one","metadata":{"lang":"en","tags":["x","y"],"n":3}}`,
		``,
		`{"_id":"b","title":"Two  words","text":"body","meta":{"year":1986}}`,
		`{"_id":"c","title":"Same","text":"Same start","metadata":{}}`,
		`{"id":7,"text":"number id"}`,
		`{"id":"bad/id","text":"x"}`,
		`{"text":"no id"}`,
		`{"id":"d"}`,
		`{"id":"e","text":" "}`,
		`{"id":"f","text":"a\u0000b"}`,
		`{"id":"g","text":"half \ud83d"}`,
		`{"id":"h","text":"whole \ud83d\ude00 and \\ud83d"}`,
		`{"id":"i","text":"x","metadata":{"deep":{"no":1}}}`,
		`{"id":"j","text":"x"} {}`,
		`{"id":"k","text":`,
		"{\"id\":\"l\",\"text\":\"\xff\"}",
		`{"id":["m"],"text":"x"}`,
		`{"id":"n","text":"` + strings.Repeat("x", MaxText) + `"}`,
		`{"id":"o","text":"` + strings.Repeat("x", MaxText+1) + `"}`,
		`{"id":"p","text":"` + strings.Repeat("x", maxLine) + `"}`,
		`{"id":"q","text":"last, without a line end"}`,
	}, "\n")
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	if _, err := z.Write([]byte(lines)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"x.jsonl": lines, "x.NDJSON": lines, "x.jsonl.gz": gz.String()} {
		recs, bad := one(t, name, content)
		var got []string
		for _, r := range recs {
			m, err := json.Marshal(r.Metadata)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d %s %.30q %s", r.At.Line, r.ID, r.Text, m))
		}
		want := []string{
			`1 a "one" {"lang":"en","n":3,"tags":["x","y"]}`,
			`3 b "# Two words\n\nbody" {"year":1986}`,
			`4 c "Same start" {}`,
			`5 7 "number id" {}`,
			`6 bad:id::7d0d22a9c4cf79bb "x" {"original_id":"bad/id"}`,
			`7 ` + name + `:b5a5cd8eb55a45a6 "no id" {}`,
			`12 h "whole 😀 and \\ud83d" {}`,
			`18 n "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" {}`,
			`21 q "last, without a line end" {}`,
		}
		for i := range got { // the hashes are whatever SHA-256 says; their form is tested below
			got[i] = regexp.MustCompile(`[0-9a-f]{16} `).ReplaceAllString(got[i], "HASH ")
		}
		for i := range want {
			want[i] = regexp.MustCompile(`[0-9a-f]{16} `).ReplaceAllString(want[i], "HASH ")
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		wantBad := []string{
			":8: document d: text: is missing",
			":9: document e: text: is empty",
			":10: document f: text: holds a NUL character on line 1",
			":11: holds half of a surrogate pair",
			":13: document i: metadata: deep: values are strings, numbers, booleans or arrays of strings",
			":14: bad JSON: more than one value",
			":15: bad JSON: unexpected EOF",
			":16: is not valid UTF-8",
			":17: id: must be a string",
			":19: document o: text: is 262145 bytes, title included; at most 262144 are allowed",
			":20: is longer than 8 MiB",
		}
		for i := range wantBad {
			wantBad[i] = name + wantBad[i]
		}
		if d := cmp.Diff(wantBad, bad); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestReadJSON(t *testing.T) {
	for _, tt := range []struct {
		content string
		ids     string
		bad     []string
	}{
		{`[{"id":"a","text":"x"},{"id":"b","text":"y"}]`, "a b", nil},
		{`{"id":"a","text":"x"}`, "a", nil},
		{"{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"b\",\"text\":\"y\"}", "a b", nil},
		{`[]`, "", nil},
		{`[{"id":"a","text":"x"},{"id":"b"}]`, "a", []string{"f.json[2]: document b: text: is missing"}},
		{`[{"id":"a","text":"x"},`, "a", []string{"f.json: bad JSON at byte 23: EOF"}},
		{`[3]`, "", []string{"f.json[1]: bad JSON: json: cannot unmarshal number into Go value of type struct"}},
	} {
		recs, bad := one(t, "f.json", tt.content)
		var ids []string
		for _, r := range recs {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != tt.ids {
			t.Errorf("%s: records %q, want %q", tt.content, got, tt.ids)
		}
		if len(bad) != len(tt.bad) {
			t.Errorf("%s: problems %q, want %q", tt.content, bad, tt.bad)
			continue
		}
		for i := range bad {
			if !strings.HasPrefix(bad[i], tt.bad[i]) {
				t.Errorf("%s: problem %q, want %q", tt.content, bad[i], tt.bad[i])
			}
		}
	}
}

func TestLostFiles(t *testing.T) {
	if recs, bad := one(t, "x.jsonl.gz", "no gzip"); len(recs) != 0 || len(bad) != 1 {
		t.Errorf("got %v, %q", recs, bad)
	}
	f := scan(t, tree(map[string]string{"a.md": "x"}))[0]
	f.Path = "gone.md"
	if _, bad, m := read(t, f, Mark{}); len(bad) != 1 || m.Done {
		t.Errorf("got %q, %v", bad, m)
	}
}

func TestResumeAtAMark(t *testing.T) {
	text := "{\"id\":\"a\",\"text\":\"1\"}\n{\"id\":\"b\",\"text\":\"2\"}\n"
	f := scan(t, tree(map[string]string{"x.jsonl": text}))[0]
	var first Mark
	stop := errors.New("stop")
	if err := f.Read(t.Context(), Mark{}, func(it Item) error { first = it.Mark; return stop }); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	ids := func(content string, from Mark) string {
		recs, bad, _ := read(t, scan(t, tree(map[string]string{"x.jsonl": content}))[0], from)
		if len(bad) > 0 {
			t.Errorf("problems %q", bad)
		}
		var out []string
		for _, r := range recs {
			out = append(out, fmt.Sprintf("%s:%d", r.ID, r.At.Line))
		}
		return strings.Join(out, " ")
	}
	_, _, last := read(t, f, Mark{})
	_, _, cut := read(t, scan(t, tree(map[string]string{"x.jsonl": text[:len(text)-1]}))[0], Mark{})
	for _, tt := range []struct {
		name, content string
		from          Mark
		want          string
	}{
		{"in the middle", text, first, "b:2"},
		{"at the end", text, last, ""},
		{"grown", text + `{"id":"c","text":"3"}`, last, "c:3"},
		{"changed before the mark", strings.Replace(text, "1", "9", 1), first, "a:1 b:2"},
		{"changed after the mark", strings.Replace(text, "2", "9", 1), first, "b:2"},
		{"shorter than the mark", text[:10] + "\n", last, ""},
		{"last line grew", strings.TrimSpace(text) + " \n", cut, "a:1 b:2"},
		{"last line ended", text + `{"id":"c","text":"3"}`, cut, "c:4"},
	} {
		if tt.name == "shorter than the mark" {
			if _, bad, _ := read(t, scan(t, tree(map[string]string{"x.jsonl": tt.content}))[0], tt.from); len(bad) != 1 ||
				!strings.Contains(bad[0], "x.jsonl:1:") {
				t.Errorf("%s: not read from the start: %q", tt.name, bad)
			}
			continue
		}
		if got := ids(tt.content, tt.from); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Big book\n\n")
	for i := 0; b.Len() < 3*MaxText; i++ {
		fmt.Fprintf(&b, "Paragraph %d says this.\n\n", i)
	}
	recs, bad := one(t, "big.md", b.String())
	if len(recs) != 4 || len(bad) != 0 {
		t.Fatalf("%d records, %q", len(recs), bad)
	}
	var joined strings.Builder
	for i, r := range recs {
		if r.ID != fmt.Sprintf("big.md:part-%04d", i+1) || r.Metadata["part"] != i+1 || r.Metadata["parts"] != 4 ||
			r.Metadata["title"] != "Big book" {
			t.Errorf("part %d: %s %v", i+1, r.ID, r.Metadata)
		}
		if len(r.Text) > MaxText || !strings.HasPrefix(r.Text, "# Big book\n\n") {
			t.Errorf("part %d: %d bytes, %.20q", i+1, len(r.Text), r.Text)
		}
		joined.WriteString(strings.TrimPrefix(r.Text, "# Big book\n\n") + "\n\n")
	}
	if strings.Join(strings.Fields(joined.String()),
		" ") != strings.Join(strings.Fields(strings.TrimPrefix(b.String(), "# Big book\n\n")), " ") {
		t.Error("text was lost between parts")
	}
}

var pattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,255}$`)

func TestScan(t *testing.T) {
	fsys := tree(map[string]string{"b.md": "x", "a/c.txt": "x", ".git/x.md": "x", ".hidden.md": "x", "image.png": "x",
		"data.jsonl.gz": "x", "old.gz": "x"})
	l, err := Scanner{Prefix: "docs"}.ScanFS(t.Context(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range l.Files {
		names = append(names, f.Name)
	}
	if d := cmp.Diff([]string{"docs/a/c.txt", "docs/b.md", "docs/data.jsonl.gz"}, names); d != "" || l.LeftFiles() != 3 {
		t.Errorf("left out %+v; %s", l.Left, d)
	}
	if _, err := (Scanner{}).Scan(t.Context(), []string{t.TempDir() + "/absent"}); err == nil ||
		!strings.Contains(err.Error(), "absent") {
		t.Errorf("an absent path: %v", err)
	}
	dir := folder(t, map[string]string{"image.png": "x"})
	if _, err := (Scanner{}).Scan(t.Context(), []string{dir + "/image.png"}); err == nil || !strings.Contains(err.Error(),
		".jsonl") {
		t.Errorf("a file of another kind: %v", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Scanner{}).ScanFS(canceled, fsys); err == nil {
		t.Error("a cancelled scan went on")
	}
}

func FuzzRecord(f *testing.F) {
	for _, s := range []string{`{"id":"a","text":"x"}`, `{"_id":1,"title":"t","text":"x","meta":{"a":[]}}`,
		`{"text":"\ud800"}`, "{\"text\":\"\xff\"}", `{"id":"::","text":"x","metadata":{"k":1e9}}`, `[1]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := &reader{ctx: t.Context(), file: File{Name: "x.jsonl"}}
		rec, bad := r.record(raw, Position{File: "x.jsonl", Line: 1})
		if (rec == nil) == (bad == nil) {
			t.Fatal("neither a record nor a problem")
		}
		if rec != nil && (!pattern.MatchString(rec.ID) || !utf8.ValidString(rec.Text) ||
			strings.ContainsRune(rec.Text, 0) || len(rec.Text) > MaxText || strings.TrimSpace(rec.Text) == "") {
			t.Fatalf("%+v", rec)
		}
	})
}

// A file without a time, as those within a program are, says nothing of when it changed.
func TestFileWithoutTime(t *testing.T) {
	recs, bad, _ := read(t, scan(t, fstest.MapFS{"a.md": {Data: []byte("Text.")}})[0], Mark{})
	if len(recs) != 1 || len(bad) != 0 || cmp.Diff(map[string]any{"path": "a.md"}, recs[0].Metadata) != "" {
		t.Errorf("read %+v, %v", recs, bad)
	}
}
