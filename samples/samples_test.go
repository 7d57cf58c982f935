package samples_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/samples"
)

// The quickstart shows off both halves of hybrid search: every document has a
// title and prose to ask questions about, and the identifiers it asks for exist once. All are
// embedded before the first answer, which a slow machine takes its time for.
func TestSamples(t *testing.T) {
	names, err := fs.Glob(samples.FS(), "*.md")
	if err != nil || len(names) < 12 {
		t.Fatalf("%d documents, %v", len(names), err)
	}
	in := map[string]int{"E-42": 0, "ERR_CONN_RESET": 0, "PAY-1042": 0, "CR-TEMP-HIGH": 0, "HP-KE-26-004": 0}
	for _, name := range names {
		data, err := fs.ReadFile(samples.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if words := len(strings.Fields(text)); !strings.HasPrefix(text, "# ") || words < 250 || words > 400 {
			t.Errorf("%s: %d words, begins %.20q", name, words, text)
		}
		for id := range in {
			if strings.Contains(text, id) {
				in[id]++
			}
		}
	}
	for id, n := range in {
		if n != 1 {
			t.Errorf("%s is in %d documents", id, n)
		}
	}
}
