package embedded

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/analysis"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// pair is a question with the sentence that answers it.
type pair struct{ language, question, answer string }

func pairs(t testing.TB) (out []pair) {
	t.Helper()
	for _, l := range port.Languages() {
		data, err := os.ReadFile("../analysis/testdata/questions/" + l + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(data)) {
			question, answer, ok := strings.Cut(strings.TrimSpace(line), " | ")
			if !ok {
				t.Fatalf("%s: %q", l, line)
			}
			out = append(out, pair{l, question, answer})
			n++
		}
		if n < 20 {
			t.Fatalf("%s has %d questions", l, n)
		}
	}
	return out
}

// TestQuestionsFindTheirAnswers asks the questions of each language by keyword search alone: by stems
// of English only, with the language told, and with it said. All answers lie in one partition where
// it is told, those of a language in its own where it is said.
func TestQuestionsFindTheirAnswers(t *testing.T) {
	t.Parallel()
	all := pairs(t)
	type count map[string]int
	measure := func(languages []string, said bool) (first, found count) {
		x := openTest(t, t.TempDir(), func(c *Config) { c.Keyword.Languages = languages })
		first, found = count{}, count{}
		at := func(language string) port.Partition {
			g := int64(1)
			for i, l := range port.Languages() {
				if said && l == language {
					g = int64(2 + i)
				}
			}
			return port.Documents(ident.Org("o"), fmt.Sprint("n", g)).At(g)
		}
		say := func(language string) string {
			if said {
				return language
			}
			return ""
		}
		seq := map[port.Partition]uint64{}
		for i, c := range all {
			p := at(c.language)
			b := port.Batch{After: seq[p], Upto: seq[p] + 1, Language: say(c.language), Changes: []port.IndexChange{
				{Document: fmt.Sprint(i), Entries: []port.Entry{{Text: c.answer}}}}}
			seq[p]++
			if err := x.Apply(t.Context(), p, b); err != nil {
				t.Fatal(err)
			}
		}
		for i, c := range all {
			hits, err := x.Search(t.Context(), at(c.language),
				port.IndexQuery{Retriever: port.Keyword, Text: c.question, Language: say(c.language), Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			for n, h := range hits {
				if h.Document == fmt.Sprint(i) {
					found[c.language]++
					if n == 0 {
						first[c.language]++
					}
				}
			}
		}
		return first, found
	}
	english, _ := measure(nil, false)
	told, toldFound := measure(analysis.Languages(), false)
	said, saidFound := measure(analysis.Languages(), true)
	t.Logf("questions whose answer comes first (is among ten): by English stems, language told, language said")
	least := map[string][2]int{"en": {19, 20}, "de": {16, 19}, "fr": {19, 19}, "es": {19, 20}, "it": {19, 20}, "pt": {19, 20},
		"nl": {17, 18}, "sv": {19, 20}, "tr": {19, 19}, "ru": {20, 20}, "ar": {18, 18}, "hi": {20, 20}}
	for _, l := range port.Languages() {
		t.Logf("%s %d, %d (%d), %d (%d)", l, english[l], told[l], toldFound[l], said[l], saidFound[l])
		if told[l] < least[l][0] || said[l] < least[l][1] {
			t.Errorf("%s: %d and %d come first, want %v", l, told[l], said[l], least[l])
		}
	}
}
