package postgres_test

import (
	"log/slog"
	"math"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/adapters/index/indextest/collection"
)

// Keyword search ranks as the embedded index does: the words, the weights and
// the statistics are the same.
func TestKeywordQuality(t *testing.T) {
	x := open(t, server.Database(t), nil)
	e, err := embedded.Open(embedded.Default(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	for i, set := range []string{"cranfield", "cacm", "hotpotqa-mini", "scifact", "docs-faq"} {
		t.Run(set, func(t *testing.T) {
			c, p := collection.Load(t, set), at(int64(i+1))
			c.Index(t, x, p)
			c.Index(t, e, p)
			got, _ := c.Score(collection.Keyword(t, x, p, 10))
			want, _ := c.Score(collection.Keyword(t, e, p, 10))
			t.Logf("nDCG@10 %.4f, embedded %.4f", got, want)
			if math.Abs(got-want) > .002 {
				t.Errorf("nDCG@10 %.4f, embedded %.4f", got, want)
			}
		})
	}
}
