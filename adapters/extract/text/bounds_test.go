package text_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/text"
	"github.com/mnemehq/mneme/core/port"
)

const (
	csvType  = "text/csv"
	jsonType = "application/json"
	xmlType  = "text/xml"
)

// looks is a context that counts how often it is asked whether it has ended, and has
// ended from the one numbered last on; 0: it never does.
type looks struct {
	context.Context
	n, last int
}

func (l *looks) Err() error {
	if l.n++; l.last > 0 && l.n >= l.last {
		return context.Canceled
	}
	return nil
}

// Reading ends with its context, at which it looks now and then.
func TestReadingEndsWithItsContext(t *testing.T) {
	e := text.New(extract.DefaultLimits())
	for media, content := range map[string]string{
		csvType:  "a,b\n" + strings.Repeat("1,2\n", 1000),
		jsonType: "[" + strings.Repeat("1,", 1000) + "1]",
		xmlType:  "<a>" + strings.Repeat("<b/>", 500) + "x</a>",
	} {
		f := port.File{MediaType: media, Content: []byte(content)}
		all := &looks{Context: t.Context()}
		if _, err := e.Extract(all, f); err != nil {
			t.Fatal(err)
		}
		if all.n < 4 || all.n > 10 {
			t.Errorf("%s: of 1000 pieces the context is looked at before %d", media, all.n)
		}
		for last := range all.n {
			if _, err := e.Extract(&looks{Context: t.Context(), last: last + 1}, f); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: a context that ends at look %d: %v", media, last+1, err)
			}
		}
	}
}

// What is just within the limits is read, and one byte or one level more is not.
func TestLimitsAreExact(t *testing.T) {
	for _, c := range []struct {
		media, content string
		text, depth    int // the least limits
	}{
		{csvType, "a\n12345\n", len("- a: 12345\n"), 0},
		{jsonType, `{"a": "12345"}`, len("a: 12345\n"), 1},
		{jsonType, `[[[1]]]`, len("[1][1][1]: 1\n"), 3},
		{xmlType, "<a>12345</a>", len("a: 12345\n"), 1},
		{xmlType, "<a>1</a>12345", len("a: 1\n12345"), 1},
		{xmlType, "<a><b><c>1</c></b></a>", len("c: 1\n\n"), 3},
	} {
		for _, less := range []struct{ text, depth int }{{0, 0}, {1, 0}, {0, 1}} {
			l := extract.DefaultLimits()
			l.Text, l.Depth = c.text-less.text, c.depth-less.depth
			_, err := text.New(l).Extract(t.Context(), port.File{MediaType: c.media, Content: []byte(c.content)})
			var why *port.FileError
			within := less.text == 0 && (less.depth == 0 || c.depth == 0)
			if errors.As(err, &why); within != (err == nil) || !within && (why == nil || why.Code != port.FileTooLarge) {
				t.Errorf("%s with %d bytes and %d levels: %v", c.content, l.Text, l.Depth, err)
			}
		}
	}
}

// Records stand apart, lists of values do not, and of a long path its end is shown.
func TestRecordsStandApart(t *testing.T) {
	long := strings.Repeat("b", 200)
	for _, c := range []struct{ media, content, want string }{
		{jsonType, `[{"a": {"b": {"c": 1}}, "d": 2}, {"a": 3}]`, "[1].a.b.c: 1\n[1].d: 2\n\n[2].a: 3"},
		{jsonType, `{"n": [1, 2], "m": [[3]], "o": {"p": 4}, "q": 5}`, "n[1]: 1\nn[2]: 2\nm[1][1]: 3\no.p: 4\n\nq: 5"},
		{jsonType, `{"a` + long + `": 1}`, long + ": 1"},
		{xmlType, "<l><r><a>1</a><b>2</b></r><r><a>3</a></r></l>", "a: 1\nb: 2\n\na: 3"},
	} {
		f := port.File{MediaType: c.media, Content: []byte(c.content)}
		x, err := text.New(extract.DefaultLimits()).Extract(t.Context(), f)
		if err != nil || x.Sections[0].Text != c.want {
			t.Errorf("%.60s: %v, %v; want %q", c.content, x.Sections, err, c.want)
		}
	}
}

// A byte order mark says more than a charset, and text that is UTF-8 needs none.
func TestDecode(t *testing.T) {
	for _, c := range []struct{ content, charset, want string }{
		{"\xef\xbb\xbfGr\u00fc\u00dfe", "windows-1252", "Gr\u00fc\u00dfe"},
		{"Gr\u00fc\u00dfe", "windows-1252", "Gr\u00fc\u00dfe"},
		{"\xff\xfea\x00\xe9\x00", "", "a\u00e9"},
		{"\xfe\xff\x00a\x00\xe9", "utf-8", "a\u00e9"},
		{"\xff\xfea\x00\xe9", "", "a"}, // half of a character
		{"\x00a\x00b", "utf-16be", "ab"},
		{"a\x00b\x00", "utf-16le", "ab"},
	} {
		if got, err := text.Decode([]byte(c.content), c.charset); err != nil || got != c.want {
			t.Errorf("%q in %s: %q, %v; want %q", c.content, c.charset, got, err, c.want)
		}
	}
}

// A refusal says where the text is none, or which charset is to blame.
func TestRefusalsSayWhy(t *testing.T) {
	for _, c := range []struct{ content, charset, want string }{
		{"ok\nno\xff", text.UTF8, "byte 3 of line 2"},
		{"\xff", text.UTF8, "byte 1 of line 1"},
		{"\uFFFD\n\n\uFFFD\xff\n", text.UTF8, "byte 4 of line 3"},
		{"a\n\n\x00", text.UTF8, "NUL character on line 3"},
		{"no\xff", "klingon", `the charset "klingon", which is not known`},
		{"no\xff", "iso-2022-kr", `the charset "iso-2022-kr", which is not known`},
	} {
		_, err := text.Decode([]byte(c.content), c.charset)
		if !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%q in %s: %v, want %s", c.content, c.charset, err, c.want)
		}
	}
}
