package tokenizer_test

import (
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/wasm/tokenizer"
)

// reference is what the tokenizers library answers: see wasm/models/golden/words.py.
type reference struct {
	Lines      []string `json:"lines"`
	Tokenizers map[string]struct {
		File   json.RawMessage `json:"file"`
		Sums   []uint32        `json:"sums"`
		Frames []struct {
			A     string   `json:"a"`
			B     *string  `json:"b"`
			IDs   []uint32 `json:"ids"`
			Types []int    `json:"types"`
		} `json:"frames"`
	} `json:"tokenizers"`
}

func golden(t testing.TB, name string, into any) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "models", "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, file []byte) *tokenizer.Tokenizer {
	t.Helper()
	out, err := tokenizer.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const all = 1 << 30

func encode(t testing.TB, k *tokenizer.Tokenizer, text string) []uint32 {
	t.Helper()
	ids, err := k.Append(nil, text, all, nil)
	if err != nil {
		t.Fatalf("%.60q: %v", text, err)
	}
	return ids
}

// TestReference: each kind of tokenizer makes the ids of the library, of 11,500 lines in
// some fifty languages and scripts, code, emoji and noise, alone and between special tokens.
func TestReference(t *testing.T) {
	var lines []string
	golden(t, "lines.json.gz", &lines)
	var want reference
	golden(t, "tokenizers.json.gz", &want)
	lines = append(lines, want.Lines...)
	if len(lines) < 11_500 || len(want.Tokenizers) < 11 {
		t.Fatalf("%d lines, %d tokenizers", len(lines), len(want.Tokenizers))
	}
	for _, name := range slices.Sorted(maps.Keys(want.Tokenizers)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := want.Tokenizers[name]
			k := read(t, w.File)
			wrong := 0
			var b []byte
			for i := 0; i < len(lines); i += 4 {
				b = b[:0]
				for _, line := range lines[i:min(i+4, len(lines))] {
					ids := encode(t, k, line)
					for _, id := range append([]uint32{uint32(len(ids))}, ids...) {
						b = binary.LittleEndian.AppendUint32(b, id)
					}
				}
				if crc32.ChecksumIEEE(b)&0xFFFF != w.Sums[i/4] {
					if wrong++; wrong <= 5 {
						t.Errorf("lines %d to %d: one has other ids than the library: %+q", i, i+3, lines[i:i+4])
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%d of %d groups of lines differ", wrong, len(lines)/4)
			}
			for _, f := range w.Frames {
				parts := k.Single()
				if f.B != nil {
					parts = k.Pair()
				}
				var ids []uint32
				var types []int
				for _, p := range parts {
					part := p.IDs
					switch p.Text {
					case 1:
						part = encode(t, k, f.A)
					case 2:
						part = encode(t, k, *f.B)
					}
					ids = append(ids, part...)
					for range part {
						types = append(types, p.Type)
					}
				}
				if !slices.Equal(ids, f.IDs) || !slices.Equal(types, f.Types) {
					t.Errorf("%q, %v: ids %d types %d, want %d and %d", f.A, f.B, ids, types, f.IDs, f.Types)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	var lines []string
	golden(b, "lines.json.gz", &lines)
	var want reference
	golden(b, "tokenizers.json.gz", &want)
	for _, name := range slices.Sorted(maps.Keys(want.Tokenizers)) {
		b.Run(name, func(b *testing.B) {
			k := read(b, want.Tokenizers[name].File)
			var ids []uint32
			n := 0
			for i := 0; b.Loop(); i++ {
				line := lines[i%len(lines)]
				ids, _ = k.Append(ids[:0], line, all, nil)
				n += len(line)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "MB/s")
		})
	}
}
