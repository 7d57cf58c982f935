package abitest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
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

// sandboxed is a test of what modules compute, one call after another: the race detector,
// which -short stands for, does not see into the sandbox.
func sandboxed(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long under the race detector, which sees nothing of what runs in the sandbox")
	}
}

type goldenText struct{ Kind, Text string }

func goldenTexts(t testing.TB) []goldenText {
	var texts []goldenText
	if err := json.Unmarshal(golden(t, "texts.json.gz"), &texts); err != nil {
		t.Fatal(err)
	}
	if len(texts) != 200 {
		t.Fatalf("%d golden texts, want 200", len(texts))
	}
	return texts
}

// half widens an IEEE 754 binary16 that is finite.
func half(h uint16) float64 {
	exp, frac := int(h>>10)&31, float64(h&1023)
	v := math.Ldexp(1024+frac, exp-25)
	if exp == 0 {
		v = math.Ldexp(frac, -24)
	}
	if h>>15 == 1 {
		return -v
	}
	return v
}

// checkVectors compares the model with the reference's vectors of the first texts, every
// text with 1, every fifth with 5.
func checkVectors(t *testing.T, e port.Embedder, name string, every int, floor float64) {
	t.Helper()
	raw := golden(t, name+".f16.gz")
	dim := e.Info().Dimensions
	n := len(raw) / 2 / dim
	texts := goldenTexts(t)[:n]
	worst, sum, compared := 1.0, 0.0, 0
	for _, kind := range []port.TextKind{port.Passage, port.Query} {
		var batch []string
		var rows []int
		for i, text := range texts {
			if i%every == 0 && (text.Kind == "query") == (kind == port.Query) {
				batch, rows = append(batch, text.Text), append(rows, i)
			}
		}
		got, err := e.Embed(t.Context(), kind, batch)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			dot, aa, bb := 0.0, 0.0, 0.0
			for c, x := range got.Row(i) {
				y := half(binary.LittleEndian.Uint16(raw[2*(row*dim+c):]))
				dot, aa, bb = dot+float64(x)*y, aa+float64(x)*float64(x), bb+y*y
			}
			cosine := dot / math.Sqrt(aa*bb)
			if !(cosine >= floor) {
				t.Errorf("text %d (%s, %.40q): cosine %.5f to the reference, want %.3f", row, texts[row].Kind,
					texts[row].Text, cosine, floor)
			}
			if math.Abs(aa-1) > 1e-4 {
				t.Errorf("text %d: length %g, want 1", row, math.Sqrt(aa))
			}
			worst, sum, compared = min(worst, cosine), sum+cosine, compared+1
		}
	}
	t.Logf("%s: cosine to the reference: mean %.6f, worst %.6f over %d texts", name, sum/float64(compared), worst, compared)
}

// TestGoldenVectors holds the built-in embedder to the reference implementation,
// on the host's kernels and on the module's own loops, which take a tenth of a second for a
// text: one in five of them, and all where nothing may be left out.
func TestGoldenVectors(t *testing.T) {
	sandboxed(t)
	ownEvery := 5
	if os.Getenv("MNEME_TEST_REQUIRE") != "" {
		ownEvery = 1
	}
	for name, way := range map[string]struct {
		own   bool
		every int
	}{"kernels": {false, 1}, "own loops": {true, ownEvery}} {
		t.Run(name, func(t *testing.T) {
			m := open(t, source(t, models.Default), host.Options{OwnLoops: way.own})
			checkVectors(t, m, "e5-small-v2", way.every, 0.995)
		})
	}
}

// TestGoldenTokens compares token ids with the reference on 10,000 lines.
func TestGoldenTokens(t *testing.T) {
	m := open(t, configured(t, source(t, models.Default), map[string]any{"query_prefix": "", "passage_prefix": ""}),
		host.Options{OwnLoops: true})
	var lines []string
	if err := json.Unmarshal(golden(t, "lines.json.gz"), &lines); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 10_000 {
		t.Fatalf("%d lines, want 10000", len(lines))
	}
	raw := golden(t, "ids.u16.gz")
	next := func() uint32 {
		v := binary.LittleEndian.Uint16(raw)
		raw = raw[2:]
		return uint32(v)
	}
	got, err := m.TokenIDs(t.Context(), port.Passage, lines)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := m.CountTokens(t.Context(), lines)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for i, line := range lines {
		want := make([]uint32, next())
		for j := range want {
			want[j] = next()
		}
		if !slices.Equal(got[i], want) {
			if wrong++; wrong <= 10 {
				t.Errorf("line %d %+q:\n got %d\nwant %d", i, line, got[i], want)
			}
		}
		if counts[i] != len(want)-2 {
			t.Errorf("line %d: counted %d word pieces, want %d", i, counts[i], len(want)-2)
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d lines differ", wrong, len(lines))
	}
}

// TestOtherCheckpoints packs two more models, from ONNX and from safetensors,
// and holds them to the reference. The checkpoints come from wasm/models/fetch.sh.
func TestOtherCheckpoints(t *testing.T) {
	sandboxed(t)
	cache := os.Getenv("CACHE")
	if cache == "" {
		cache = filepath.Join("..", "..", ".cache")
	}
	// MiniLM takes int8 weights less well than the others: regular texts stay above
	// .995, a row of 500 full stops does not.
	for name, floor := range map[string]float64{"bge-small-en-v1.5": 0.995, "all-MiniLM-L6-v2": 0.97} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(cache, "models", name)
			if _, err := os.Stat(filepath.Join(dir, "config.json")); errors.Is(err, fs.ErrNotExist) {
				t.Skipf("SKIPPED: %s is not there; run wasm/models/fetch.sh to fetch the checkpoint", dir)
			}
			out := filepath.Join(t.TempDir(), name+".safetensors")
			if _, err := pack.Pack(t.Context(), dir, out, pack.Options{}); err != nil {
				t.Fatal(err)
			}
			checkVectors(t, open(t, source(t, out), host.Options{}), name, 1, floor)
		})
	}
}
