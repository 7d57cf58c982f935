package indextest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/port"
)

// spans checks a port.Highlighter against the index's own search: what it finds
// has spans, what it does not find has none.
func (s *suite) spans(t *testing.T) {
	x, p := s.open(t), s.partition()
	h, ok := x.(port.Highlighter)
	if !ok {
		t.Skip("the index is no port.Highlighter")
	}
	texts := []string{
		"The runners are running home.", "He runs.", "A camelCase name and HTTPServer",
		"ERR_CONN_RESET at 10.0.0.1:8080", "Zürich im Frühling",
		"東京都に行きました", "京 alone", "It costs 1,000 euros", "C++ and C#", "Hooray 🎉", "the of and", "...", word(7) + " " + word(8),
	}
	queries := []string{
		"running", "the run", "case", "camelcase server", "err_conn_reset", "10.0.0.1", "ZURICH", "東京", "京", "1000",
		"C++", "🎉", "the",
		"nothing here", word(8), strings.Join(texts, " "),
	}
	src := newSource(31)
	var changes []port.IndexChange
	for i, text := range texts {
		e := src.entries(1)
		e[0].Text = text
		changes = append(changes, port.IndexChange{Document: fmt.Sprint(i), Entries: e})
	}
	must(t, x.Apply(t.Context(), p, port.Batch{Upto: 1, Changes: changes}))
	for _, q := range queries {
		hits := ask(t, x, p, port.IndexQuery{Retriever: port.Keyword, Text: q, Limit: len(texts)})
		for i, text := range texts {
			spans := h.Spans(said(q), said(text))
			checkSpans(t, text, spans)
			found := slices.ContainsFunc(hits, func(h port.Hit) bool { return h.Document == fmt.Sprint(i) })
			if found != (len(spans) > 0) {
				t.Errorf("%.40q in %q: found is %v, spans are %v", q, text, found, spans)
			}
		}
	}
	if got := marked(texts[12], h.Spans(said(title(word(8))), said(texts[12]))); !slices.Equal(got, []string{word(8)}) {
		t.Errorf("marked %q, want %q alone", got, word(8))
	}
	long := strings.Repeat(word(9)+" ", 2*port.MaxSpans)
	spans := h.Spans(said(word(9)), said(long))
	checkSpans(t, long, spans)
	if len(spans) != port.MaxSpans || spans[0].Start != 0 {
		t.Errorf("%d spans of a long text, want the first %d", len(spans), port.MaxSpans)
	}
}

// checkSpans checks what holds for the spans of any text.
func checkSpans(t *testing.T, text string, spans []port.Span) {
	t.Helper()
	end := 0
	for _, s := range spans {
		if s.Start < end || s.End <= s.Start || s.End > len(text) || !utf8.ValidString(text[s.Start:s.End]) {
			t.Errorf("spans %v of %.60q are not rising parts of whole characters", spans, text)
			return
		}
		end = s.End
	}
}

// marked are the words that spans mark.
func marked(text string, spans []port.Span) []string {
	var out []string
	for _, s := range spans {
		out = append(out, text[s.Start:s.End])
	}
	return out
}

// said is a text whose language nobody has said.
func said(text string) port.Wording { return port.Wording{Text: text} }
