package modelkit

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/core/port"
)

// Golden is a file of expected answers, from the implementation that the model is
// to equal. Any part may be absent; a part of a task that the model does not claim
// is passed over.
type Golden struct {
	Embedding []GoldenVector `json:"embedding,omitempty"`
	Sparse    []GoldenTerms  `json:"sparse,omitempty"`
	Rerank    []GoldenScore  `json:"rerank,omitempty"`
	Tolerance float64        `json:"tolerance,omitempty"` // of scores, from 0 to 1; 0: 0.03
}

// GoldenVector is the vector of a text, of any length: what is compared is its direction.
type GoldenVector struct {
	Text   string    `json:"text"`
	Query  bool      `json:"query,omitempty"` // else a passage
	Vector []float32 `json:"vector"`
}

// GoldenTerms is the learned-sparse vector of a text.
type GoldenTerms struct {
	Text  string             `json:"text"`
	Query bool               `json:"query,omitempty"`
	Terms map[uint32]float32 `json:"terms"` // weight by number of the term
}

// GoldenScore is the probability that a text answers a query.
type GoldenScore struct {
	Query string  `json:"query"`
	Text  string  `json:"text"`
	Score float64 `json:"score"`
}

const (
	maxGolden        = 256 << 20 // bytes of a file, unpacked
	defaultMinCosine = 0.99
	defaultTolerance = 0.03
)

// ReadGolden reads every *.json and *.json.gz file of the root of f, by name.
func ReadGolden(f fs.FS) ([]Golden, error) {
	entries, err := fs.ReadDir(f, ".")
	if err != nil {
		return nil, fmt.Errorf("read golden answers: %w", err)
	}
	var all []Golden
	for _, e := range entries {
		if e.IsDir() || path.Ext(strings.TrimSuffix(e.Name(), ".gz")) != ".json" {
			continue
		}
		b, err := fs.ReadFile(f, e.Name())
		if err != nil {
			return nil, fmt.Errorf("read golden answers: %w", err)
		}
		g, err := ParseGolden(b)
		if err != nil {
			return nil, fmt.Errorf("read golden answers: %s: %w", e.Name(), err)
		}
		all = append(all, g)
	}
	if len(all) == 0 {
		return nil, errors.New("read golden answers: there is no *.json or *.json.gz file")
	}
	return all, nil
}

// ParseGolden reads one file, plain or gzipped.
func ParseGolden(b []byte) (Golden, error) {
	var g Golden
	if bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return g, err
		}
		if b, err = io.ReadAll(io.LimitReader(z, maxGolden+1)); err != nil {
			return g, err
		}
	}
	if len(b) > maxGolden {
		return g, fmt.Errorf("more than %d bytes", maxGolden)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&g); err != nil {
		return g, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return g, errors.New("something follows the object")
	}
	if len(g.Embedding)+len(g.Sparse)+len(g.Rerank) == 0 {
		return g, errors.New("no answers: want embedding, sparse or rerank")
	}
	if !(g.Tolerance >= 0 && g.Tolerance <= 1) {
		return g, fmt.Errorf("tolerance %g is not between 0 and 1", g.Tolerance)
	}
	return g, nil
}

// golden holds the model to the vendor's answers.
func (k *check) golden() {
	if k.c.Golden == nil {
		return
	}
	k.step("golden answers")
	all, err := ReadGolden(k.c.Golden)
	if err != nil {
		k.expect("golden.read", "the golden answers can be read", false, "%v", err)
		return
	}
	compared := 0
	for _, g := range all {
		if m, ok := k.model.(port.Embedder); ok && slices.Contains(k.info.Tasks, port.TaskEmbed) {
			k.goldenVectors(m, g.Embedding)
			compared += len(g.Embedding)
		}
		if m, ok := k.model.(port.SparseEncoder); ok && slices.Contains(k.info.Tasks, port.TaskSparse) {
			k.goldenTerms(m, g.Sparse)
			compared += len(g.Sparse)
		}
		if m, ok := k.model.(port.Reranker); ok && slices.Contains(k.info.Tasks, port.TaskRerank) {
			k.goldenScores(m, g.Rerank, cmp.Or(g.Tolerance, defaultTolerance))
			compared += len(g.Rerank)
		}
	}
	k.expect("golden.read", "the golden answers are of a task that the model does", compared > 0, "none for %v", k.info.Tasks)
}

func (k *check) minCosine() float64 { return cmp.Or(k.c.MinCosine, defaultMinCosine) }

func kind(query bool) port.TextKind {
	if query {
		return port.Query
	}
	return port.Passage
}

func (k *check) goldenVectors(m port.Embedder, all []GoldenVector) {
	id, expect := "golden.embedding", fmt.Sprintf("cosine to the golden vectors of at least %g", k.minCosine())
	for _, query := range []bool{false, true} {
		for batch := range slices.Chunk(slices.DeleteFunc(slices.Clone(all),
			func(g GoldenVector) bool { return g.Query != query }), 32) {
			texts := make([]string, len(batch))
			for i, g := range batch {
				texts[i] = g.Text
			}
			d, err := m.Embed(k.ctx, kind(query), texts)
			if err == nil {
				err = wholeDense(d, len(texts))
			}
			if err != nil {
				k.expect(id, expect, false, "%v", err)
				return
			}
			for i, g := range batch {
				c := cosine(d.Row(i), g.Vector)
				k.expect(id, expect, c >= k.minCosine(), "%.5f for %.60q (dimensions %d, golden %d)", c, g.Text, d.Dim,
					len(g.Vector))
			}
		}
	}
}

func (k *check) goldenTerms(m port.SparseEncoder, all []GoldenTerms) {
	id, expect := "golden.sparse", fmt.Sprintf("cosine to the golden terms of at least %g", k.minCosine())
	for _, g := range all {
		s, err := m.Encode(k.ctx, kind(g.Query), []string{g.Text})
		if err == nil {
			err = wholeSparse(s, 1)
		}
		if err != nil {
			k.expect(id, expect, false, "%v", err)
			return
		}
		var dot, ours, theirs float64
		for i, term := range s.Terms {
			dot += float64(s.Weights[i]) * float64(g.Terms[term])
			ours += float64(s.Weights[i]) * float64(s.Weights[i])
		}
		for _, w := range g.Terms {
			theirs += float64(w) * float64(w)
		}
		c := dot / math.Sqrt(ours*theirs)
		k.expect(id, expect, c >= k.minCosine(), "%.5f for %.60q", c, g.Text)
	}
}

func (k *check) goldenScores(m port.Reranker, all []GoldenScore, tolerance float64) {
	id, expect := "golden.rerank", fmt.Sprintf("scores within %g of the golden ones", tolerance)
	for _, g := range all {
		p, _, err := m.Score(k.ctx, g.Query, []string{g.Text})
		if err == nil {
			err = wholeScores(p, 1)
		}
		if err != nil {
			k.expect(id, expect, false, "%v", err)
			return
		}
		k.expect(id, expect, math.Abs(float64(p[0])-g.Score) <= tolerance, "%.4f, golden is %.4f, for %.60q and %.60q",
			p[0], g.Score, g.Query, g.Text)
	}
}
