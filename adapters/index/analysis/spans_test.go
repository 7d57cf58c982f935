package analysis_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/mnemehq/mneme/adapters/index/analysis"
	"github.com/mnemehq/mneme/core/port"
)

func TestSpans(t *testing.T) {
	a, err := analysis.New(analysis.Porter2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ query, text string }{ // the text marks what is wanted
		{"running", "A dog «runs» and «RUN»!"},
		{"the running dog", "The «dog» and the other «dogs» «run»."}, // stop words count for nothing beside others
		{"the", "«The» one."},
		{"Zürich", "In «ZURICH», «Zu\u0308rich» and «Zürich»."},
		{"err_conn_reset", "Twice «ERR_CONN_RESET», once «err» and «conn»-«reset»."},
		{"version v1.2.3", "«Versions» «v1.2.3» and «2»"},
		{"case", "In camel«Case» words."},
		{"camelCase", "«camelCase» and a «case»."},
		{"C++", "«C++» or «C»."},
		{"dog", "A «dog»'s life."},
		{"1000", "It costs «1,000»."},
		{"京", "東«京»都"},
		{"東京", "これは«東京»です"},
		{"東京都", "«東京都»と«東京»と«京都»"},
		{"🎉", "Hooray «🎉»!"},
		{"🎉", "«🎉»«🎉»"},
		{"#123", "Issue «#123», not «123» or #124."},
		{"nothing", "of this"},
		{"", "no query"},
		{"no text", ""},
	} {
		text := strings.NewReplacer("«", "", "»", "").Replace(c.text)
		terms := a.Query(plain(c.query), true)
		var got strings.Builder
		at := 0
		for _, s := range a.Spans(terms, plain(text)) {
			got.WriteString(text[at:s.Start] + "«" + text[s.Start:s.End] + "»")
			at = s.End
		}
		got.WriteString(text[at:])
		if got.String() != c.text {
			t.Errorf("%q marks %s, want %s", c.query, got.String(), c.text)
		}
	}
	long := strings.Repeat("word ", 2*port.MaxSpans)
	got := a.Spans(a.Query(plain("words"), false), plain(long))
	if len(got) != port.MaxSpans || got[port.MaxSpans-1].End != 5*port.MaxSpans-1 {
		t.Errorf("%d spans of a long text, want the first %d", len(got), port.MaxSpans)
	}
}

// Whatever the texts are, spans are whole characters, rising and apart, and there
// are some exactly where a term of the query is one of the text.
func TestSpansHoldTheirPromises(t *testing.T) {
	a, err := analysis.New(analysis.Plural)
	if err != nil {
		t.Fatal(err)
	}
	words := rapid.SampledFrom([]string{"dog", "dogs", "camelCase", "Case", "a.b", "v1.2", "#12", "12", "東京都", "京", "é",
		"e\u0301", "1,000", "🎉", "it's",
		" ", "-", "\n", "\xff", "'", "ﬁ"})
	rapid.Check(t, func(t *rapid.T) {
		query := strings.Join(rapid.SliceOfN(words, 0, 5).Draw(t, "query"), "")
		text := strings.Join(rapid.SliceOfN(words, 0, 30).Draw(t, "text"), "")
		terms := a.Query(plain(query), false)
		spans := a.Spans(terms, plain(text))
		end := 0
		for i, s := range spans {
			if s.Start < end || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("span %d of %q is %v after %d", i, text, s, end)
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[s.Start:s.End]) {
				t.Fatalf("span %d of %q is %q", i, text, text[s.Start:s.End])
			}
			end = s.End
		}
		matches := false
		a.Scanner(func(tok analysis.Token) {
			matches = matches || slices.ContainsFunc(terms, func(q analysis.QueryTerm) bool { return q.Term == string(tok.Term) })
		}).Scan(plain(text))
		if matches != (len(spans) > 0) {
			t.Fatalf("%q in %q: %v, matches: %v", query, text, spans, matches)
		}
	})
}
