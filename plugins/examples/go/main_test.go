package main

import (
	"context"
	"math"
	"testing"

	"github.com/mnemehq/mneme/core/port"
)

func TestEmbed(t *testing.T) {
	d, err := model{}.Embed(t.Context(), port.Passage,
		[]string{"resetting passwords", "How to reset a password", "Bread rises with yeast", ""})
	if err != nil {
		t.Fatal(err)
	}
	cos := func(a, b int) (sum float64) {
		for i, x := range d.Row(a) {
			sum += float64(x) * float64(d.Row(b)[i])
		}
		return sum
	}
	for i := range d.Tokens {
		if math.Abs(cos(i, i)-1) > 1e-3 {
			t.Errorf("vector %d has the length %g", i, math.Sqrt(cos(i, i)))
		}
	}
	if cos(0, 1) <= cos(0, 2) {
		t.Errorf("%g to its like, %g to another", cos(0, 1), cos(0, 2))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (model{}).Embed(ctx, port.Passage, []string{"a"}); err == nil {
		t.Error("a caller who left is still worked for")
	}
}
