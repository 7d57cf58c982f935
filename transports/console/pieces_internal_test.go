package console

import (
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/query"
)

// A text is shown whole, whatever the spans of its marks say.
func TestCutKeepsTheText(t *testing.T) {
	const text = "the lease ends"
	for _, c := range []struct {
		spans  []query.Span
		marked []string
	}{
		{nil, nil},
		{[]query.Span{{Start: 4, End: 9}}, []string{"lease"}},
		{[]query.Span{{Start: 0, End: 3}, {Start: 10, End: 14}}, []string{"the", "ends"}},
		{[]query.Span{{Start: 4, End: 9}, {Start: 6, End: 8}}, []string{"lease"}},          // within another
		{[]query.Span{{Start: 10, End: 14}, {Start: 0, End: 3}}, []string{"ends"}},         // out of order
		{[]query.Span{{Start: 10, End: 15}, {Start: -1, End: 3}, {Start: 5, End: 5}}, nil}, // not in the text
		{[]query.Span{{Start: 0, End: 14}}, []string{text}},
	} {
		var whole strings.Builder
		var marked []string
		for _, p := range cut(text, c.spans) {
			whole.WriteString(p.Text)
			if p.Marked {
				marked = append(marked, p.Text)
			}
		}
		if whole.String() != text || !slices.Equal(marked, c.marked) {
			t.Errorf("%v: %q, marked %q", c.spans, whole.String(), marked)
		}
	}
}

func TestNumbersForPeople(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1\u202f000", 1234567: "1\u202f234\u202f567",
		-1000: "-1\u202f000", -12: "-12"} {
		if got := number(n); got != want {
			t.Errorf("%d is written %q", n, got)
		}
	}
	for n, want := range map[int64]string{0: "0\u00a0B", 1023: "1023\u00a0B", 1024: "1.0\u00a0KB", 1536: "1.5\u00a0KB",
		102400:  "100\u00a0KB",
		1 << 20: "1.0\u00a0MB", 5 << 40: "5.0\u00a0TB", 1 << 50: "1024\u00a0TB"} {
		if got := byteCount(n); got != want {
			t.Errorf("%d bytes are written %q, want %q", n, got, want)
		}
	}
	if short("naïve", 3) != "naï…" || short("naïve", 5) != "naïve" {
		t.Error("texts are cut between characters only")
	}
	if webLink("javascript:alert(1)") != "" || webLink("https://a.example") == "" || webLink("http://a.example") == "" {
		t.Error("links lead to the web alone")
	}
}

func TestJSONAsPython(t *testing.T) {
	const body = `{"b":[1,2.50,null,true,false],"a":{"x":"it's \"so\"\n"},"empty":{},"none":[]}`
	want := "{\n        \"a\": {\n            \"x\": \"it's \\\"so\\\"\\n\",\n        },\n" +
		"        \"b\": [1, 2.50, None, True, False],\n" +
		"        \"empty\": {},\n        \"none\": [],\n    }"
	if got := pythonLiteral([]byte(body)); got != want {
		t.Errorf("got %s", got)
	}
	if shellQuote("it's") != `'it'\''s'` {
		t.Errorf("quoted %s", shellQuote("it's"))
	}
}
