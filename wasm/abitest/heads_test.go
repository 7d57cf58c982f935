package abitest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/host"
	"github.com/mnemehq/mneme/wasm/models"
	"github.com/mnemehq/mneme/wasm/models/pack"
)

// goldenHeads is what wasm/models/golden/heads.py wrote.
type goldenHeads struct {
	Texts []struct {
		goldenText
		Terms   []uint32
		Weights []float32
	}
	Heads map[pack.Head]struct {
		Weight      []float32
		Bias, Scale float32
	}
	Pairs []goldenPair
}

type goldenPair struct {
	Query, Text                    string
	Pooler, Plain, Joint, Late     float64 // probabilities
	Pooler8, Plain8, Joint8, Late8 float64 // with the weights rounded as a pack has them
}

func readHeads(t *testing.T) goldenHeads {
	t.Helper()
	var g goldenHeads
	if err := json.Unmarshal(golden(t, "heads.json.gz"), &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Texts) != 50 || len(g.Pairs) != 66 || len(g.Heads) != 3 {
		t.Fatalf("%d golden texts, %d pairs and %d heads", len(g.Texts), len(g.Pairs), len(g.Heads))
	}
	return g
}

// onBoth runs a test with the host's kernels and with the module's own loops.
func onBoth(t *testing.T, test func(t *testing.T, o host.Options)) {
	for name, own := range map[string]bool{"kernels": false, "own loops": true} {
		t.Run(name, func(t *testing.T) { test(t, host.Options{OwnLoops: own}) })
	}
}

// TestGoldenSparse holds the built-in sparse encoder to the reference: the largest
// terms are the same, and so are their weights.
func TestGoldenSparse(t *testing.T) {
	sandboxed(t)
	g := readHeads(t)
	onBoth(t, func(t *testing.T, o host.Options) {
		m := open(t, source(t, models.DefaultSparse), o)
		overlaps, worst, errs, farthest, n := 0.0, 1.0, 0.0, 0.0, 0
		for _, kind := range []port.TextKind{port.Passage, port.Query} {
			var batch []string
			var rows []int
			for i, text := range g.Texts {
				if (text.Kind == "query") == (kind == port.Query) {
					batch, rows = append(batch, text.Text), append(rows, i)
				}
			}
			got, err := m.Encode(t.Context(), kind, batch)
			if err != nil {
				t.Fatal(err)
			}
			for i, row := range rows {
				terms, weights := got.Terms[got.Rows[i]:got.Rows[i+1]], got.Weights[got.Rows[i]:got.Rows[i+1]]
				want := g.Texts[row]
				if !slices.IsSorted(terms) || kind == port.Passage && len(terms) > 128 {
					t.Errorf("text %d: terms %d", row, terms)
				}
				weight := map[uint32]float64{}
				for j, term := range terms {
					weight[term] = float64(weights[j])
				}
				reference := map[uint32]float64{}
				for j, term := range want.Terms {
					reference[term] = float64(want.Weights[j])
				}
				both, top := 0, largest(reference, 20)
				for _, term := range largest(weight, 20) {
					if slices.Contains(top, term) {
						both++
					}
				}
				for _, term := range top {
					off := math.Abs(weight[term] - reference[term])
					errs, farthest, n = errs+off, max(farthest, off), n+1
				}
				overlap := float64(both) / float64(max(1, len(top)))
				if overlap < 0.85 {
					t.Errorf("text %d (%s, %.40q): %.2f of the largest terms are the reference's", row, want.Kind,
						want.Text, overlap)
				}
				overlaps, worst = overlaps+overlap, min(worst, overlap)
				if c := cosineOf(weight, reference); c < 0.99 { // terms at the cut change places
					t.Errorf("text %d (%s, %.40q): cosine %.4f to the reference", row, want.Kind, want.Text, c)
				}
			}
		}
		mean, off := overlaps/float64(len(g.Texts)), errs/float64(n)
		t.Logf("top 20 terms shared: mean %.4f, worst %.2f; their weights off by %.4f, at most %.4f", mean, worst, off, farthest)
		if mean < 0.97 || off > 0.03 || farthest > 0.15 {
			t.Error("farther from the reference than rounding explains")
		}
	})
}

// largest gives the n terms of the largest weights.
func largest(weights map[uint32]float64, n int) []uint32 {
	terms := slices.SortedFunc(maps.Keys(weights), func(a, b uint32) int {
		switch {
		case weights[a] > weights[b]:
			return -1
		case weights[a] < weights[b]:
			return 1
		}
		return int(a) - int(b)
	})
	return terms[:min(n, len(terms))]
}

func cosineOf(a, b map[uint32]float64) float64 {
	dot, aa, bb := 0.0, 0.0, 0.0
	for term, x := range a {
		dot, aa = dot+x*b[term], aa+x*x
	}
	for _, y := range b {
		bb += y * y
	}
	return dot / math.Sqrt(aa*bb)
}

// scores gives the probabilities of every pair; a query's texts are scored together.
func scores(t *testing.T, m *host.Model, pairs []goldenPair) []float64 {
	t.Helper()
	var out []float64
	for from := 0; from < len(pairs); from = len(out) {
		var texts []string
		for _, p := range pairs[from:] {
			if p.Query != pairs[from].Query {
				break
			}
			texts = append(texts, p.Text)
		}
		got, _, err := m.Score(t.Context(), pairs[from].Query, texts)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range got {
			out = append(out, float64(p))
		}
	}
	return out
}

// near compares probabilities with the reference's: none is farther off than limit, nor their
// mean than a third of it.
func near(t *testing.T, what string, pairs []goldenPair, got []float64, want func(goldenPair) float64, limit float64) {
	t.Helper()
	worst, sum := 0.0, 0.0
	for i, p := range pairs {
		off := math.Abs(got[i] - want(p))
		if !(off <= limit) {
			t.Errorf("%s: pair %d (%.30q, %.30q): %.4f, the reference says %.4f", what, i, p.Query, p.Text, got[i], want(p))
		}
		worst, sum = max(worst, off), sum+off
	}
	mean := sum / float64(len(pairs))
	t.Logf("%s: off by %.5f, at most %.5f", what, mean, worst)
	if !(mean <= limit/3) {
		t.Errorf("%s: off by %.5f in the mean, want %.5f", what, mean, limit/3)
	}
}

// TestGoldenLate holds the built-in reranker to the reference. Beside fp32 most of
// the difference is the rounding of the embedder's weights.
func TestGoldenLate(t *testing.T) {
	sandboxed(t)
	g := readHeads(t)
	onBoth(t, func(t *testing.T, o host.Options) {
		m := open(t, source(t, models.DefaultRerank), o)
		got, rounded, exact := scores(t, m, g.Pairs), 0.005, 0.015
		if o.OwnLoops {
			rounded, exact = 0.001, 0.01
		}
		near(t, "int8", g.Pairs, got, func(p goldenPair) float64 { return p.Late8 }, rounded)
		near(t, "fp32", g.Pairs, got, func(p goldenPair) float64 { return p.Late }, exact)
	})
}

// TestGoldenCrossEncoders packs a real encoder under each form of head and holds
// the scores to the reference. The checkpoint comes from wasm/models/fetch.sh.
//
// The heads are random and scaled up until their scores spread over 0-1, most for
// the pooler, whose inputs hardly differ: rounding shows more than under a head that
// was trained. With the same int8 weights the module's own loops are the reference
// to three digits, and the kernels' shorter activations cost what the limits say. The
// farthest pair is another with each instruction set, and half as far again with some as
// with others; means are alike.
func TestGoldenCrossEncoders(t *testing.T) {
	sandboxed(t)
	g := readHeads(t)
	for head, c := range map[pack.Head]struct {
		exact, rounded func(goldenPair) float64
		kernels        float64 // the limit with the host's kernels
	}{
		pack.Pooler: {func(p goldenPair) float64 { return p.Pooler }, func(p goldenPair) float64 { return p.Pooler8 }, 0.03},
		pack.Plain:  {func(p goldenPair) float64 { return p.Plain }, func(p goldenPair) float64 { return p.Plain8 }, 0.015},
		pack.Joint:  {func(p goldenPair) float64 { return p.Joint }, func(p goldenPair) float64 { return p.Joint8 }, 0.01},
	} {
		t.Run(string(head), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "cross.safetensors")
			packed, err := pack.Pack(t.Context(), headed(t, g, head), out, pack.Options{MaxTokens: 256})
			if err != nil {
				t.Fatal(err)
			}
			if packed.Does() != pack.Rerank || packed.Head != head {
				t.Fatalf("packed for %s with head %s", packed.Does(), packed.Head)
			}
			onBoth(t, func(t *testing.T, o host.Options) {
				rounded, exact := c.kernels, 0.04
				if o.OwnLoops {
					rounded, exact = 0.002, 0.03
				}
				got := scores(t, open(t, source(t, out), o), g.Pairs)
				near(t, "int8", g.Pairs, got, c.rounded, rounded)
				near(t, "fp32", g.Pairs, got, c.exact, exact)
			})
		})
	}
}

// headed makes a checkpoint of all-MiniLM-L6-v2 with a golden head.
func headed(t *testing.T, g goldenHeads, head pack.Head) string {
	t.Helper()
	cache := os.Getenv("CACHE")
	if cache == "" {
		cache = filepath.Join("..", "..", ".cache")
	}
	from, to := filepath.Join(cache, "models", "all-MiniLM-L6-v2"), t.TempDir()
	b, err := os.ReadFile(filepath.Join(from, "model.safetensors"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("SKIPPED: %s is not there; run wasm/models/fetch.sh to fetch the checkpoint", from)
	}
	if err != nil {
		t.Fatal(err)
	}
	// A safetensors file is a length, a JSON header and the data: drop and add tensors.
	n := binary.LittleEndian.Uint64(b)
	var header map[string]map[string]any
	if err := json.Unmarshal(b[8:8+n], &header); err != nil {
		t.Fatal(err)
	}
	data := slices.Clone(b[8+n:])
	delete(header, "__metadata__")
	add := func(name string, values []float32, shape ...int) {
		at := len(data)
		for _, v := range values {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		header[name] = map[string]any{"dtype": "F32", "shape": shape, "data_offsets": []int{at, len(data)}}
	}
	h := g.Heads[head]
	if head == pack.Joint {
		add("head.weight", h.Weight, len(h.Weight))
		add("head.bias", []float32{h.Bias}, 1)
		add("head.scale", []float32{h.Scale}, 1)
	} else {
		add("classifier.weight", h.Weight, 1, len(h.Weight))
		add("classifier.bias", []float32{h.Bias}, 1)
	}
	if head == pack.Plain {
		delete(header, "pooler.dense.weight")
		delete(header, "pooler.dense.bias")
	}
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	if err := os.WriteFile(filepath.Join(to, "model.safetensors"), slices.Concat(file, text, data), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"config.json", "tokenizer.json"} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(fmt.Errorf("copy the checkpoint: %w", err))
		}
	}
	return to
}
