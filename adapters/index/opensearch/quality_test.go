package opensearch_test

import (
	"log/slog"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/adapters/index/indextest/collection"
	"github.com/mnemehq/mneme/adapters/index/opensearch/opensearchtest"
)

// Keyword search ranks nearly as the embedded index does: the words and the statistics are the
// same, weights have nine bits, and long chunks are marked down by a power of their length.
func TestKeywordQuality(t *testing.T) {
	opensearchtest.Part(t)
	x := open(t, settings(t))
	e, err := embedded.Open(embedded.Default(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	for i, set := range []string{"cranfield", "squad-dev-a", "locomo-a"} {
		t.Run(set, func(t *testing.T) {
			c, p := collection.Load(t, set).Some(60), part(int64(i+1))
			c.Index(t, x, p)
			c.Index(t, e, p)
			got, _ := c.Score(collection.Keyword(t, x, p, 10))
			want, _ := c.Score(collection.Keyword(t, e, p, 10))
			t.Logf("nDCG@10 %.4f, embedded %.4f, %d queries over %d documents", got, want, len(c.Queries), len(c.Corpus))
			if got < want-.02 {
				t.Errorf("nDCG@10 %.4f, embedded %.4f", got, want)
			}
		})
	}
}
