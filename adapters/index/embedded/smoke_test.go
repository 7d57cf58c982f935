package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/mnemehq/mneme/core/port"
)

func TestSmoke(t *testing.T) {
	x, err := Open(Default(), t.TempDir(), slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	p := port.Documents("org_1", "a").At(1)
	ctx := context.Background()
	texts := []string{"The quick brown foxes jumped", "error ERR_CONN_RESET in v1.2.3", "mail foo.bar@example.com about C++", "東京都に住む猫"}
	for i, s := range texts {
		v := make([]float32, 8)
		v[i] = 1
		if err := x.Apply(ctx, p, port.Batch{After: uint64(i), Upto: uint64(i + 1), Changes: []port.IndexChange{{Document: fmt.Sprint("d", i), Entries: []port.Entry{{Text: s, Vector: v, SparseTerms: []uint32{uint32(i), 9}, SparseWeights: []float32{1, .5}}}}}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range []string{"fox jumps", "conn_reset", "err_conn_reset", "v1.2.3", "foo.bar@example.com", "c++", "猫", "東京"} {
		h, err := x.Search(ctx, p, port.IndexQuery{Retriever: port.Keyword, Text: q, Limit: 3, Explain: true})
		t.Log(q, h, err)
		if len(h) == 0 {
			t.Error(q)
		}
	}
	v := make([]float32, 8)
	v[2], v[1] = .8, .6
	h, err := x.Search(ctx, p, port.IndexQuery{Retriever: port.Vector, Vector: v, Limit: 2})
	t.Log(h, err)
	h, err = x.Search(ctx, p, port.IndexQuery{Retriever: port.SparseTerms, SparseTerms: []uint32{2, 9}, SparseWeights: []float32{1, .5}, Limit: 2})
	t.Log(h, err)
}
