package models

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/mnemehq/mneme/plugins/modelkit"
)

// reference reads a file of wasm/models/golden, which its make.py and heads.py wrote.
func reference(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "wasm", "models", "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func asFiles(t *testing.T, g modelkit.Golden) fs.FS {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := json.NewEncoder(z).Encode(g); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{"golden.json.gz": {Data: b.Bytes()}}
}

// half widens an IEEE 754 binary16 that is finite.
func half(h uint16) float32 {
	exp, frac := int(h>>10)&31, float64(h&1023)
	v := math.Ldexp(1024+frac, exp-25)
	if exp == 0 {
		v = math.Ldexp(frac, -24)
	}
	if h>>15 == 1 {
		v = -v
	}
	return float32(v)
}

// goldenVectors are a reference's vectors of the first texts.
func goldenVectors(name string, dim int) func(t *testing.T) fs.FS {
	return func(t *testing.T) fs.FS {
		var texts []struct{ Kind, Text string }
		if err := json.Unmarshal(reference(t, "texts.json.gz"), &texts); err != nil {
			t.Fatal(err)
		}
		raw := reference(t, name+".f16.gz")
		var g modelkit.Golden
		for i := range len(raw) / 2 / dim {
			v := make([]float32, dim)
			for c := range v {
				v[c] = half(binary.LittleEndian.Uint16(raw[2*(i*dim+c):]))
			}
			g.Embedding = append(g.Embedding,
				modelkit.GoldenVector{Text: texts[i].Text, Query: texts[i].Kind == "query", Vector: v})
		}
		return asFiles(t, g)
	}
}

// heads is what heads.py wrote.
func heads(t *testing.T) (h struct {
	Texts []struct {
		Kind, Text string
		Terms      []uint32
		Weights    []float32
	}
	Pairs []struct {
		Query, Text string
		Late        float64
	}
}) {
	t.Helper()
	if err := json.Unmarshal(reference(t, "heads.json.gz"), &h); err != nil {
		t.Fatal(err)
	}
	return h
}

func goldenTerms(t *testing.T) fs.FS {
	var g modelkit.Golden
	for _, text := range heads(t).Texts {
		terms := map[uint32]float32{}
		for i, term := range text.Terms {
			terms[term] = text.Weights[i]
		}
		g.Sparse = append(g.Sparse, modelkit.GoldenTerms{Text: text.Text, Query: text.Kind == "query", Terms: terms})
	}
	return asFiles(t, g)
}

func goldenScores(t *testing.T) fs.FS {
	g := modelkit.Golden{Tolerance: 0.02}
	for _, p := range heads(t).Pairs {
		g.Rerank = append(g.Rerank, modelkit.GoldenScore{Query: p.Query, Text: p.Text, Score: p.Late})
	}
	return asFiles(t, g)
}
