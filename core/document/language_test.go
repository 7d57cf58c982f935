package document_test

import (
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/reindex"
)

// TestLanguageOfAReindexing: a namespace is searched by the stems that it was indexed with until the
// swap, by those of its new language after it, and by the old ones again once it has gone back.
func TestLanguageOfAReindexing(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	s.create(coretest.Object{"name": "docs", "language": "de"}).OK()
	s.write("docs", doc("a", "mit den Kindern", ""), doc("b", "estaba corriendo", ""))
	p := port.Documents(ident.From(s.ctx).Org, "docs")
	finds := func(when, german, spanish string) {
		t.Helper()
		for word, want := range map[string]string{"Kind": german, "corrían": spanish} {
			got := ""
			for _, id := range s.keyword("docs", word) {
				got += id
			}
			if got != want {
				t.Errorf("%s: %s finds %q, want %q", when, word, got, want)
			}
		}
	}
	finds("in German", "a", "")
	s.write("docs", doc("a", "mit den Kindern", `{"read":true}`)) // metadata alone
	finds("written again", "a", "")
	// The query's own language comes first.
	english := coretest.Object{"query": "Kinder", "mode": "keyword", "language": "en"}
	if hits := s.query("docs", english).List("results"); len(hits) != 0 {
		t.Errorf("a query in English finds %v", hits)
	}

	if r := s.reindex(p, reindex.Request{Language: "de"}); !r.Unchanged {
		t.Errorf("to the language that it has: %+v", r)
	}
	if r := s.reindex(p, reindex.Request{Language: "es", Hold: true}); !r.Held {
		t.Errorf("held: %+v", r)
	}
	finds("held", "a", "")
	s.write("docs", doc("c", "mit den Kindern", ""))
	finds("written since", "ac", "")
	if r := s.reindex(p, reindex.Request{Language: "es"}); r.Unchanged || r.Held || r.Documents != 3 {
		t.Errorf("swapped: %+v", r)
	}
	finds("in Spanish", "", "b")
	s.write("docs", doc("d", "estaba corriendo", ""))
	finds("written after", "", "bd")
	if r := s.reindex(p, reindex.Request{Force: true}); r.Unchanged {
		t.Errorf("again: %+v", r)
	}
	finds("reindexed without a word of it", "", "bd")
	if r := s.reindex(p, reindex.Request{Language: "auto", Hold: true}); !r.Held {
		t.Errorf("held of none: %+v", r)
	}
	if r := s.reindex(p, reindex.Request{}); r.Unchanged { // goes on with what is held
		t.Errorf("to none: %+v", r)
	}
	finds("each its own", "ac", "bd")
	s.reindex(p, reindex.Request{Back: true})
	finds("gone back", "", "bd")
}
