package indextest

import (
	"testing"

	"github.com/mnemehq/mneme/core/port"
)

// inflected are of each language a text, and a word that stands in it in another form: one that its
// own stemmer alone brings together with it.
var inflected = []struct{ language, text, word string }{
	{"en", "pruning roses", "pruned"},
	{"de", "Häuser Museen", "Haus"},
	{"fr", "maisons cheminées", "cheminée"},
	{"es", "ciudades canciones", "canción"},
	{"it", "ragazzi biblioteche", "ragazza"},
	{"pt", "canções cidades", "canção"},
	{"nl", "boeken bruggen", "boek"},
	{"sv", "böckerna flickorna", "flicka"},
	{"tr", "kitapları evlerde", "kitap"},
	{"ru", "книги городами", "книгами"},
	{"ar", "المكتبات الكتاب", "كتاب"},
	{"hi", "किताबों लड़कियाँ", "लड़की"},
}

// languages: a batch and a query say the language that their texts are in, texts of a word or two
// too, which nobody could tell it of; what is marked is what is found.
func (s *suite) languages(t *testing.T) {
	x := s.open(t)
	h, highlights := x.(port.Highlighter)
	for _, c := range inflected {
		e := newSource(32).entries(1)
		e[0].Text = c.text
		found := func(batch, query string) bool {
			p := s.partition()
			changes := []port.IndexChange{{Document: "a", Entries: e}}
			must(t, x.Apply(t.Context(), p, port.Batch{Upto: 1, Language: batch, Changes: changes}))
			hits := ask(t, x, p, port.IndexQuery{Retriever: port.Keyword, Text: c.word, Language: query, Limit: 10})
			if highlights {
				spans := h.Spans(port.Wording{Text: c.word, Language: query}, port.Wording{Text: c.text, Language: batch})
				checkSpans(t, c.text, spans)
				if (len(spans) > 0) != (len(hits) > 0) {
					t.Errorf("%q of %q in %q of %q: %d found, %d marked", c.word, query, c.text, batch, len(hits), len(spans))
				}
			}
			return len(hits) > 0
		}
		if !found(c.language, c.language) {
			t.Errorf("%s: %q does not find %q", c.language, c.word, c.text)
		}
		// A language that an index does not know is not said: English is what is left.
		if got := found("xx", "xx"); got != found("", "") {
			t.Errorf("%q in %q, of no language: found is %v", c.word, c.text, got)
		}
	}
}
