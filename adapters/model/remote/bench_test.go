package remote_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/model/openai"
	"github.com/mnemehq/mneme/adapters/model/tei"
	"github.com/mnemehq/mneme/adapters/model/wasm"
	"github.com/mnemehq/mneme/core/port"
)

// ready answers every call with the same bytes, made before: what is left is the
// cost of the adapter, of HTTP and of decoding.
func ready(b *testing.B, texts, dim int, format string) *httptest.Server {
	b.Helper()
	vector := make([]float32, dim)
	for i := range vector {
		vector[i] = float32(math.Sin(float64(i)+1)) / 20
	}
	raw := make([]byte, 4*dim)
	for i, x := range vector {
		binary.LittleEndian.PutUint32(raw[4*i:], math.Float32bits(x))
	}
	var answer any
	switch format {
	case "tei":
		rows := make([][]float32, texts)
		for i := range rows {
			rows[i] = vector
		}
		answer = rows
	default:
		data := make([]any, texts)
		for i := range data {
			var e any = vector
			if format == "base64" {
				e = base64.StdEncoding.EncodeToString(raw)
			}
			data[i] = map[string]any{"object": "embedding", "index": i, "embedding": e}
		}
		answer = map[string]any{"object": "list", "data": data, "usage": map[string]any{"total_tokens": 100 * texts}}
	}
	body, err := json.Marshal(answer)
	if err != nil {
		b.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"model_id":"m"}`) // the benchmark sees a failure
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // likewise
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body) // likewise
	}))
	b.Cleanup(s.Close)
	return s
}

// passages are n texts of about 120 word pieces.
func passages(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = strings.Repeat(fmt.Sprintf("The harbour master number %d keeps the keys of the north store. ", i), 9)
	}
	return texts
}

func benchmark(b *testing.B, m port.Embedder, as port.TextKind, texts []string) {
	b.Helper()
	if _, err := m.Embed(context.Background(), as, texts); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Embed(context.Background(), as, texts); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(texts))/b.Elapsed().Seconds(), "texts/s")
}

// BenchmarkEmbed puts the cost of a remote embedder, whose server answers at
// once, beside the built-in one in this process.
func BenchmarkEmbed(b *testing.B) {
	for _, dim := range []int{384, 1536} {
		for _, format := range []string{"base64", "float", "tei"} {
			for _, c := range []struct {
				name  string
				as    port.TextKind
				texts []string
			}{{"query", port.Query, []string{"where are the keys of the north store"}},
				{"passages", port.Passage, passages(32)}} {
				b.Run(fmt.Sprintf("%s/%s/%d", c.name, format, dim), func(b *testing.B) {
					url := ready(b, len(c.texts), dim, format).URL
					var m port.Model
					var err error
					if format == "tei" {
						x := tei.Default()
						x.BaseURL, x.Model, x.Dimensions = url, "m", dim
						m, err = tei.Open("m", x, nil)
					} else {
						x := openai.Default()
						x.BaseURL, x.Model, x.Task, x.Dimensions, x.EncodingFormat = url, "m", "embedding", dim, format
						m, err = openai.OpenEmbedder("m", x, nil)
					}
					if err != nil {
						b.Fatal(err)
					}
					defer func() { _ = m.Close() }() // nothing is lost
					benchmark(b, m.(port.Embedder), c.as, c.texts)
				})
			}
		}
	}
	m, err := wasm.Open(b.Context(), wasm.Default(), "", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = m.Close() }() // nothing is lost
	b.Run("query/wasm/384", func(b *testing.B) {
		benchmark(b, m.(port.Embedder), port.Query, []string{"where are the keys of the north store"})
	})
	b.Run("passages/wasm/384", func(b *testing.B) { benchmark(b, m.(port.Embedder), port.Passage, passages(32)) })
}
