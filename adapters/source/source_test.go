package source_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/mnemehq/mneme/adapters/source"
	"github.com/mnemehq/mneme/core/port"
)

// TestKeysAreOfOnePath: every path has a key of its own that leads back to it, and a
// name that can be shown.
func TestKeysAreOfOnePath(t *testing.T) {
	long := strings.Repeat("d/", 1022)
	x := func(n int) string { return strings.Repeat("x", n) }
	for path, want := range map[string]string{
		"a/b.txt":         "a/b.txt",
		"a b%2F.txt":      "a b%2F.txt",
		"日本語":             "日本語",
		"/rooted":         "/%2Frooted",
		"//twice":         "/%2F%2Ftwice",
		"line\nfeed":      "/line%0Afeed",
		"latin \xe9":      "/latin%20%E9",
		"/" + x(2044):     "/%2F" + x(2044),
		"/" + x(2045):     "",
		long + "1234":     long + "1234",
		long + "12345":    "", // not known beforehand
		long + "\xff":     "",
		long + "1234\x01": "",
		"":                "",
	} {
		key := source.Key(path)
		if want != "" && key != want {
			t.Errorf("%.50q has the key %.50q", path, key)
		}
		back, err := source.Path(key)
		if want == "" {
			wantCode(t, err, port.SourceTooLarge)
		} else if err != nil || back != path {
			t.Errorf("%.50q leads to %.50q, %v", key, back, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "a"), rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "b")
		ka, kb := source.Key(string(a)), source.Key(string(b))
		if (ka == kb) != (string(a) == string(b)) {
			t.Fatalf("%q and %q have the keys %q and %q", a, b, ka, kb)
		}
		if back, err := source.Path(ka); err != nil || back != string(a) || !utf8.ValidString(ka) {
			t.Fatalf("%q has the key %q, which leads to %q, %v", a, ka, back, err)
		}
	})
	for _, key := range []string{"/a", "/%zz", "/%2f", "nul\x00", "", "\xff"} {
		_, err := source.Path(key)
		wantCode(t, err, port.SourceNotFound)
	}
}

func wantCode(t *testing.T, err error, want port.SourceCode) {
	t.Helper()
	var why *port.SourceError
	if !errors.As(err, &why) || why.Code != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestNamesCanBeShown(t *testing.T) {
	for path, want := range map[string]string{
		"a/b.txt":                   "a/b.txt",
		"a\x00b\nc\xff":             "a\ufffdb\ufffdc\ufffd",
		strings.Repeat("x", 1024):   strings.Repeat("x", 1024),
		strings.Repeat("x", 1025):   "…" + strings.Repeat("x", 1021),
		strings.Repeat("é", 600):    "…" + strings.Repeat("é", 510),
		strings.Repeat("\x01", 400): "…" + strings.Repeat("\ufffd", 340),
	} {
		if got := source.Name(path); got != want {
			t.Errorf("%.30q is shown as %.30q of %d bytes, want %d", path, got, len(got), len(want))
		}
	}
}

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		include, exclude []string
		hidden           bool
		yes, no          []string // files
	}{
		{yes: []string{"a", "a/b.txt", "a.b/c"}, no: []string{".a", "a/.b", ".git", "a/.git"}},
		{hidden: true, yes: []string{".a", "a/.b", ".github", ".DS_Stores", "a_.b"}, no: []string{".git", "a/.git", ".DS_Store",
			"a/.DS_Store", "._a.md", "a/._b"}},
		{include: []string{"*.md"}, yes: []string{"a.md", "a/b/c.md"}, no: []string{"a.txt", "a.md/b"}},
		{include: []string{"/*.md"}, yes: []string{"a.md"}, no: []string{"a/b.md"}},
		{include: []string{"docs/**"}, yes: []string{"docs/a", "docs/a/b"}, no: []string{"a/docs/b", "docsa"}},
		{include: []string{"*.{md,txt}", "[ab]?"}, yes: []string{"x.md", "x/x.txt", "a1", "x/b2"}, no: []string{"c1", "x.pdf"}},
		{exclude: []string{"*.log", "build/", "a/tmp"}, yes: []string{"a.txt", "tmp", "b/a/tmp"}, no: []string{"a.log",
			"b/c.log", "a/tmp"}},
		{include: []string{"*.md"}, exclude: []string{"README.md"}, yes: []string{"a/b.md"}, no: []string{"README.md",
			"a/README.md"}},
	} {
		f, problems := source.NewFilter(source.FilterConfig{Include: c.include, Exclude: c.exclude, Hidden: c.hidden})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		for _, path := range c.yes {
			if !f.File(path) {
				t.Errorf("%+v leaves %s out", c, path)
			}
		}
		for _, path := range c.no {
			if f.File(path) {
				t.Errorf("%+v takes %s", c, path)
			}
		}
	}
	f, _ := source.NewFilter(source.FilterConfig{Include: []string{"*.md"}, Exclude: []string{"node_modules", "a/b/**"}})
	for path, want := range map[string]bool{"a": true, "a/b": false, "a/c": true, "node_modules": false,
		"x/node_modules": false, ".x": false} {
		if f.Folder(path) != want {
			t.Errorf("folder %s: %v", path, !want)
		}
	}
	for path, want := range map[string]bool{"a/c/d.md": true, "a/c/d.txt": false, "a/b/c/d.md": false,
		"x/node_modules/y/z.md": false,
		".x/y.md":               false, "d.md": true, "x/.git/y.md": false} {
		if f.Tree(path) != want {
			t.Errorf("%s in its tree: %v", path, !want)
		}
	}
}

func TestWrongPatterns(t *testing.T) {
	for _, p := range []string{"", "[", "a[b", "{a", `a\`, strings.Repeat("x", 1001), "{a,a}{a,a}{a,a}{a,a}",
		strings.Repeat("a,", 31)} {
		_, problems := source.NewFilter(source.FilterConfig{Include: []string{"*.md", p}})
		if len(problems) != 1 || problems[0].Field != "config.include[1]" || problems[0].Message == "" {
			t.Errorf("%.20q: %v", p, problems)
		}
	}
	for _, p := range []string{"{a,a}{a,a}{a,a}", strings.Repeat("a,", 30), strings.Repeat("x", 1000)} {
		if _, problems := source.NewFilter(source.FilterConfig{Include: []string{p}}); len(problems) > 0 {
			t.Errorf("%.20q: %v", p, problems)
		}
	}
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	if _, problems := source.NewFilter(source.FilterConfig{Exclude: many}); len(problems) != 1 ||
		problems[0].Field != "config.exclude" {
		t.Error(problems)
	}
	if _, problems := source.NewFilter(source.FilterConfig{Exclude: many[:100]}); len(problems) > 0 {
		t.Error(problems)
	}
}

func TestCursor(t *testing.T) {
	here := []byte(`{"path":"/a"}`)
	c := source.ParseCursor(nil, here)
	c.Tree, c.After = "abc", []byte("x/\xff.txt")
	if again := source.ParseCursor(c.State(), here); again.Tree != "abc" || string(again.After) != "x/\xff.txt" {
		t.Errorf("%+v", again)
	}
	for _, state := range [][]byte{nil, []byte("null"), []byte("{}"), []byte("x"), []byte(`{"after":"eA=="}`),
		[]byte(`{"config":1}`)} {
		if c := source.ParseCursor(state, here); c.Tree != "" || c.After != nil {
			t.Errorf("%s: %+v", state, c)
		}
	}
	if c := source.ParseCursor(c.State(), []byte(`{"path":"/b"}`)); c.Tree != "" || c.After != nil {
		t.Errorf("of another configuration: %+v", c)
	}
}

func TestDecode(t *testing.T) {
	var into struct {
		Path string `json:"path"`
	}
	if err := source.Decode([]byte(` {"path": "/a"} `), &into); err != nil || into.Path != "/a" {
		t.Errorf("%q, %v", into.Path, err)
	}
	for _, c := range []string{"", "{", `{"path": 1}`, `{"paht": "/a"}`, `{"path": "/a"} {}`} {
		wantCode(t, source.Decode([]byte(c), &into), port.SourceConfig)
	}
}

// TestRead: whatever size is announced, no more is read than may be.
func TestRead(t *testing.T) {
	for _, size := range []int64{-1, 0, 5, 10} {
		if b, err := source.Read(t.Context(), strings.NewReader("0123456789"), size, 10); err != nil ||
			string(b) != "0123456789" {
			t.Errorf("%d: %q, %v", size, b, err)
		}
		_, err := source.Read(t.Context(), strings.NewReader("0123456789a"), size, 10)
		wantCode(t, err, port.SourceTooLarge)
	}
	_, err := source.Read(t.Context(), iotest.ErrReader(io.ErrUnexpectedEOF), 11, 10)
	wantCode(t, err, port.SourceTooLarge)
	if b, err := source.Read(t.Context(), strings.NewReader(""), -1, 10); err != nil || len(b) > 0 {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := source.Read(t.Context(), iotest.ErrReader(io.ErrUnexpectedEOF), -1, 10); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := source.Read(ctx, strings.NewReader("x"), -1, 10); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
