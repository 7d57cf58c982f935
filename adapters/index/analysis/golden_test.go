package analysis_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/analysis"
	"github.com/mnemehq/mneme/core/port"
)

var update = flag.Bool("update", false, "write testdata/terms again")

// TestGoldenTerms holds the terms of each language's analysis, with the language said: a line of text
// in testdata/terms, then its terms, those of a second form in brackets. cjk.txt says none.
func TestGoldenTerms(t *testing.T) {
	a := tongues(t)
	files, err := filepath.Glob("testdata/terms/*.txt")
	if err != nil || len(files) != len(port.Languages())+1 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		language := strings.TrimSuffix(filepath.Base(file), ".txt")
		if language == "cjk" {
			language = ""
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, "\t") {
				continue
			}
			var terms []string
			a.Scanner(func(tok analysis.Token) {
				if w := string(tok.Term); tok.Extra {
					terms = append(terms, "["+w+"]")
				} else {
					terms = append(terms, w)
				}
			}).Scan(port.Wording{Text: line, Language: language})
			got.WriteString(line + "\t" + strings.Join(terms, " ") + "\n")
		}
		if *update {
			if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if got.String() != string(data) {
			t.Errorf("%s: the terms are\n%s", file, got.String())
		}
	}
}

// TestLanguagesOfThePort: what the interface offers is what the analyzer knows.
func TestLanguagesOfThePort(t *testing.T) {
	if got := strings.Join(append([]string{"en"}, analysis.Languages()...), " "); got != strings.Join(port.Languages(), " ") {
		t.Errorf("the analyzer knows %s", got)
	}
}
