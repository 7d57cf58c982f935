package host_test

import (
	"math"
	"testing"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/simd"
	"github.com/mnemehq/mneme/wasm/host"
)

// TestTilesGiveTheSameVectors embeds texts of several lengths on AVX-512 and on AMX: not
// a bit differs, so that machines of both kinds may write one index.
func TestTilesGiveTheSameVectors(t *testing.T) {
	if _, err := simd.At(simd.AMX); err != nil {
		t.Skip(err)
	}
	texts := []string{"a", ofTokens(12), ofTokens(37), ofTokens(128), "The quick brown fox jumps over the lazy dog, 1,234 times.",
		ofTokens(300)}
	vectors := func(level simd.Level) [][]float32 {
		t.Setenv(simd.Env, level.String())
		out, err := openDefault(t, host.Cooperative, host.Options{Instances: 1}).Embed(t.Context(), port.Passage, texts)
		if err != nil {
			t.Fatal(err)
		}
		var rows [][]float32
		for i := range texts {
			rows = append(rows, out.Row(i))
		}
		return rows
	}
	want, got := vectors(simd.AVX512), vectors(simd.AMX)
	for i := range want {
		for j, v := range want[i] {
			if math.Float32bits(v) != math.Float32bits(got[i][j]) {
				t.Fatalf("text %d, value %d: %g on AMX, %g on AVX-512", i, j, got[i][j], v)
			}
		}
	}
}
