package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/host"
	"github.com/mnemehq/mneme/wasm/models"
)

func openDefault(b testing.TB, interrupt host.Interrupt, o host.Options) *host.Model {
	b.Helper()
	return openModel(b, models.Default, nil, interrupt, o)
}

// openModel opens a built-in model, settings of its configuration changed and
// assets added by change.
func openModel(b testing.TB, name string, change func(config map[string]any, assets map[string][]byte),
	interrupt host.Interrupt, o host.Options) *host.Model {
	b.Helper()
	s, err := models.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	if change != nil {
		var config map[string]any
		if err := json.Unmarshal(s.Config, &config); err != nil {
			b.Fatal(err)
		}
		change(config, s.Assets)
		if s.Config, err = json.Marshal(config); err != nil {
			b.Fatal(err)
		}
	}
	o.Log = slog.New(slog.DiscardHandler)
	m, err := host.Open(context.Background(), host.Module{
		Wasm:      s.Wasm,
		Config:    s.Config,
		Assets:    s.Assets,
		Interrupt: interrupt,
	}, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { m.Close() })
	return m
}

// ofTokens makes a text that the model reads as n tokens: prefix (2) and special
// tokens (2) included. "word" is one piece.
func ofTokens(n int) string { return strings.TrimSpace(strings.Repeat("word ", n-4)) }

func embed(b *testing.B, m *host.Model, as port.TextKind, tokens int, texts ...string) {
	b.Helper()
	out, err := m.Embed(b.Context(), as, texts)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range out.Tokens {
		if n != tokens {
			b.Fatalf("read %d tokens, want %d", n, tokens)
		}
	}
}

// loops runs a benchmark on the host's kernels and on the module's own loops, and
// reports processor time beside wall time, which a shared machine makes unsure.
func loops(b *testing.B, run func(b *testing.B, own bool)) {
	for name, own := range map[string]bool{"kernels": false, "loops": true} {
		b.Run(name, func(b *testing.B) { run(b, own) })
	}
}

// cpu reports the processor time of the operations that follow.
func cpu(b *testing.B) func() {
	start := processorTime(b)
	return func() { b.ReportMetric(float64(processorTime(b)-start)/1e6/float64(b.N), "cpu-ms/op") }
}

// BenchmarkQuery embeds one query of 12 tokens at a time.
func BenchmarkQuery(b *testing.B) {
	loops(b, func(b *testing.B, own bool) {
		m := openDefault(b, host.Cooperative, host.Options{Instances: 1, OwnLoops: own})
		defer cpu(b)()
		for b.Loop() {
			embed(b, m, port.Query, 12, ofTokens(12))
		}
	})
}

// BenchmarkPassage embeds one passage of 128 tokens at a time on one core.
func BenchmarkPassage(b *testing.B) {
	loops(b, func(b *testing.B, own bool) {
		m := openDefault(b, host.Cooperative, host.Options{Instances: 1, OwnLoops: own})
		defer cpu(b)()
		for b.Loop() {
			embed(b, m, port.Passage, 128, ofTokens(128))
		}
	})
}

// BenchmarkPassages embeds 20 passages of 100 tokens in one call on one core.
func BenchmarkPassages(b *testing.B) {
	loops(b, func(b *testing.B, own bool) {
		m := openDefault(b, host.Cooperative, host.Options{Instances: 1, OwnLoops: own})
		texts := make([]string, 20)
		for i := range texts {
			texts[i] = ofTokens(100)
		}
		defer cpu(b)()
		for b.Loop() {
			embed(b, m, port.Passage, 100, texts...)
		}
	})
}

// BenchmarkSparse encodes a query of 12 tokens and a passage of 128 into terms.
func BenchmarkSparse(b *testing.B) {
	for _, c := range []struct {
		name   string
		kind   port.TextKind
		tokens int
	}{{"query", port.Query, 12}, {"passage", port.Passage, 128}} {
		b.Run(c.name, func(b *testing.B) {
			loops(b, func(b *testing.B, own bool) {
				m := openModel(b, models.DefaultSparse, nil, host.Cooperative, host.Options{Instances: 1, OwnLoops: own})
				text := strings.TrimSpace(strings.Repeat("word ", c.tokens-2))
				defer cpu(b)()
				for b.Loop() {
					out, err := m.Encode(b.Context(), c.kind, []string{text})
					if err != nil {
						b.Fatal(err)
					}
					if out.Tokens[0] != c.tokens {
						b.Fatalf("read %d tokens, want %d", out.Tokens[0], c.tokens)
					}
				}
			})
		})
	}
}

// BenchmarkRerank scores 20 passages of 100 tokens, and 20 memories of 25, against
// a query of 12 on one core: by the built-in reranker, and by a joint encoding of
// 6 layers and of 12.
func BenchmarkRerank(b *testing.B) {
	joint := func(layers int) func(map[string]any, map[string][]byte) {
		return func(config map[string]any, assets map[string][]byte) {
			config["task"], config["head"], config["layers"], config["query_prefix"], config["passage_prefix"] = "rerank",
				"joint", layers, "", ""
			delete(config, "late_layer")
			assets["head.weight"], assets["head.bias"], assets["head.scale"] = make([]byte, 4*384), make([]byte, 4),
				make([]byte, 4)
		}
	}
	for _, c := range []struct {
		name   string
		change func(map[string]any, map[string][]byte)
		own    int // tokens beside the words
	}{{"late", nil, 4}, {"joint6", joint(6), 2}, {"joint12", joint(12), 2}} {
		for _, tokens := range []int{100, 25} {
			b.Run(fmt.Sprintf("%s/20x%d", c.name, tokens), func(b *testing.B) {
				loops(b, func(b *testing.B, own bool) {
					m := openModel(b, models.DefaultRerank, c.change, host.Cooperative, host.Options{Instances: 1, OwnLoops: own})
					texts := make([]string, 20)
					for i := range texts {
						texts[i] = strings.TrimSpace(strings.Repeat("word ", tokens-c.own))
					}
					query := ofTokens(12)
					defer cpu(b)()
					for b.Loop() {
						if _, _, err := m.Score(b.Context(), query, texts); err != nil {
							b.Fatal(err)
						}
					}
				})
			})
		}
	}
}

// BenchmarkInterrupt is what the two ways of stopping a call cost: the same
// passage with wazero's check in every loop, and without.
func BenchmarkInterrupt(b *testing.B) {
	for name, way := range map[string]host.Interrupt{"enforced": host.Enforced, "cooperative": host.Cooperative} {
		b.Run(name, func(b *testing.B) {
			m := openDefault(b, way, host.Options{Instances: 1, OwnLoops: true})
			defer cpu(b)()
			for b.Loop() {
				embed(b, m, port.Passage, 128, ofTokens(128))
			}
		})
	}
}

// BenchmarkTokens counts the tokens of about 100 kB of text.
func BenchmarkTokens(b *testing.B) {
	m := openDefault(b, host.Cooperative, host.Options{Instances: 1, OwnLoops: true})
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, and runs into unbelievable configuration errors. ", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := m.CountTokens(b.Context(), []string{text}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen is the start of the built-in model with a warm compile cache.
func BenchmarkOpen(b *testing.B) {
	s, err := models.Open(models.Default)
	if err != nil {
		b.Fatal(err)
	}
	if !json.Valid(s.Config) {
		b.Fatal("configuration is not JSON")
	}
	dir := b.TempDir()
	loops(b, func(b *testing.B, own bool) {
		for b.Loop() {
			m, err := host.Open(b.Context(), host.Module{
				Wasm:      s.Wasm,
				Config:    s.Config,
				Assets:    s.Assets,
				Interrupt: host.Cooperative,
			}, host.Options{Instances: 1, CacheDir: dir, OwnLoops: own})
			if err != nil {
				b.Fatal(err)
			}
			if err := m.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCancel is how long a caller waits after its context ended, and a query
// after it came, while both instances embed long passages on their own loops.
func BenchmarkCancel(b *testing.B) {
	m := openDefault(b, host.Cooperative, host.Options{Instances: 2, OwnLoops: true})
	long := make([]string, 64)
	for i := range long {
		long[i] = ofTokens(500)
	}
	var left, query time.Duration
	n := 0
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		done := make(chan struct{})
		go func() {
			_, _ = m.Embed(ctx, port.Passage, long)
			close(done)
		}()
		time.Sleep(20 * time.Millisecond)
		start := time.Now()
		embed(b, m, port.Query, 12, ofTokens(12))
		query += time.Since(start)
		start = time.Now()
		cancel()
		<-done
		left += time.Since(start)
		n++
	}
	b.ReportMetric(float64(left.Microseconds())/1e3/float64(n), "cancel-ms")
	b.ReportMetric(float64(query.Microseconds())/1e3/float64(n), "query-ms")
}
