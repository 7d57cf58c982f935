package embedded_test

import (
	"log/slog"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/adapters/index/indextest/collection"
	"github.com/mnemehq/mneme/core/port"
)

// keywordNDCG indexes a set with one chunk a document and gives nDCG@10 of
// keyword search.
func keywordNDCG(t *testing.T, cfg embedded.Config, set string) float64 {
	t.Helper()
	c := collection.Load(t, set)
	x, err := embedded.Open(cfg, t.TempDir(), slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	p := port.Documents("org", set).At(1)
	c.Index(t, x, p)
	got, _ := c.Score(collection.Keyword(t, x, p, 10))
	return got
}

// The floors are what a well-known BM25 with English stemmer and stop words
// gives on the sets, as their description states it.
func TestKeywordQuality(t *testing.T) {
	for set, floor := range map[string]float64{"squad-dev-a": .886, "cranfield": .480, "cacm": .489, "hotpotqa-mini": .789,
		"scifact": .676, "docs-faq": .437, "locomo-a": .465} {
		t.Run(set, func(t *testing.T) {
			got := keywordNDCG(t, embedded.Default(), set)
			t.Logf("nDCG@10 %.4f", got)
			if got < floor {
				t.Errorf("nDCG@10 %.4f, want at least %.3f", got, floor)
			}
		})
	}
}
