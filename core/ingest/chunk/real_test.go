package chunk_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"github.com/mnemehq/mneme/core/ingest/chunk"
)

// TestRealText holds the properties on documents of the evaluation sets and logs
// what chunks come out.
func TestRealText(t *testing.T) {
	root := os.Getenv("MNEME_TEST_DATA")
	if root == "" {
		root = "../../../../shared/data"
	}
	files, _ := filepath.Glob(filepath.Join(root, "eval", "*", "corpus.jsonl.gz"))
	if len(files) == 0 {
		t.Skipf("no evaluation sets under %s: set MNEME_TEST_DATA", root)
	}
	for _, name := range files {
		t.Run(filepath.Base(filepath.Dir(name)), func(t *testing.T) {
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			z, err := gzip.NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			var sizes []int
			docs := 0
			for in := bufio.NewReader(z); docs < 600; {
				line, err := in.ReadBytes('\n')
				if err != nil {
					break
				}
				var d struct{ Title, Text string }
				if err := json.Unmarshal(line, &d); err != nil {
					t.Fatal(err)
				}
				text := d.Text
				if d.Title != "" {
					text = "# " + d.Title + "\n\n" + text
				}
				check(t, chunk.Document{Text: text}, chunk.Default())
				docs++
				cs := split(t, text, chunk.Default())
				full := make([]string, len(cs))
				for i, c := range cs {
					full[i] = chunk.Text(text, c)
				}
				n, _ := chunk.Approximate(t.Context(), full)
				sizes = append(sizes, n...)
			}
			if docs == 0 {
				t.Fatal("no documents read")
			}
			sort.Ints(sizes)
			at := func(p int) int { return sizes[(len(sizes)-1)*p/100] }
			t.Logf("%d documents, %d chunks; pieces p5 %d, p25 %d, p50 %d, p75 %d, p95 %d", docs, len(sizes), at(5),
				at(25), at(50), at(75), at(95))
		})
	}
}
