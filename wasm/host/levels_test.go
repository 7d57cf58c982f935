package host_test

import (
	"math"
	"testing"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/simd"
	"github.com/mnemehq/mneme/wasm/host"
)

// TestLevelsGiveTheSameVectors embeds texts of several lengths with AMX as with AVX-512
// and with AVX-VNNI as with AVX2: not a bit differs, so that machines of both kinds may
// write one index.
func TestLevelsGiveTheSameVectors(t *testing.T) {
	for level, like := range map[simd.Level]simd.Level{simd.AMX: simd.AVX512, simd.AVXVNNI: simd.AVX2} {
		t.Run(level.String(), func(t *testing.T) { sameVectors(t, level, like) })
	}
}

func sameVectors(t *testing.T, level, like simd.Level) {
	if _, err := simd.At(level); err != nil {
		t.Skipf("vectors are not compared: %v", err)
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
	want, got := vectors(like), vectors(level)
	for i := range want {
		for j, v := range want[i] {
			if math.Float32bits(v) != math.Float32bits(got[i][j]) {
				t.Fatalf("text %d, value %d: %g with %s, %g with %s", i, j, got[i][j], level, v, like)
			}
		}
	}
}
