package process_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/model/process"
	"github.com/mnemehq/mneme/adapters/model/wasm"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/sdk"
)

// The test binary is also a Go backend with the built-in embedder.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "backend" {
		builtin, err := wasm.Open(context.Background(), wasm.Default(), os.Args[2], slog.New(slog.DiscardHandler))
		if err != nil {
			fmt.Fprintln(os.Stderr, "ERROR", err)
			os.Exit(1)
		}
		sdk.Serve(builtin)
	}
	os.Exit(m.Run())
}

// goConfig is a Go backend with the built-in embedder.
func goConfig(t testing.TB) process.Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := process.Default()
	c.Command, c.Unverified = []string{self, "backend", t.TempDir()}, true
	return c
}

// BenchmarkThroughput runs the default model in this process, in a Go process, and
// natively in ONNX Runtime in a Python process, in turns, so that what else the
// machine does weighs on all alike:
//
//	go test -run '^$' -bench Throughput -benchtime 20x ./adapters/model/process
func BenchmarkThroughput(b *testing.B) {
	kinds := []struct {
		name  string
		model port.Model
	}{{"wasm", openWasm(b)}, {"go", openModel(b, goConfig(b))}, {"python", openModel(b, pythonConfig(b))}}
	passages := make([]string, 32)
	for i := range passages {
		passages[i] = strings.Repeat(fmt.Sprintf(
			"Number %d tells that the harbour was rebuilt after the storm of 1953 with stone from the hills. ", i,
		), 5+i%3)
	}
	for _, c := range []struct {
		name  string
		as    port.TextKind
		texts []string
		calls int
	}{{"queries", port.Query, []string{"how do I reset my password on the old office network?"}, 8},
		{"passages", port.Passage, passages, 1}} {
		b.Run(c.name, func(b *testing.B) {
			took := make([]time.Duration, len(kinds))
			for b.Loop() {
				for k, kind := range kinds {
					began := time.Now()
					for range c.calls {
						if _, err := kind.model.(port.Embedder).Embed(b.Context(), c.as, c.texts); err != nil {
							b.Fatal(err)
						}
					}
					took[k] += time.Since(began)
				}
			}
			for k, kind := range kinds {
				b.ReportMetric(float64(b.N*c.calls*len(c.texts))/took[k].Seconds(), kind.name+"_texts/s")
				if k > 0 {
					b.ReportMetric(took[0].Seconds()/took[k].Seconds(), kind.name+"/wasm")
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkWire is what the hop to a process costs beyond the model: a Go backend
// that hashes, one text and a batch.
//
//	go test -run '^$' -bench Wire ./adapters/model/process
func BenchmarkWire(b *testing.B) {
	c := process.Default()
	c.Command, c.Unverified = []string{build(b, "plugins/examples/go")}, true
	for _, mtls := range []string{"auto", "off"} {
		c.MTLS = mtls
		m := openModel(b, c).(port.Embedder)
		for _, n := range []int{1, 16} {
			texts := make([]string, n)
			for i := range texts {
				texts[i] = "how do I reset my password on the old office network?"
			}
			b.Run(fmt.Sprintf("mtls=%s/texts=%d", mtls, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := m.Embed(b.Context(), port.Query, texts); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
