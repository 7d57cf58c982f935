package port_test

import (
	"math"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/port"
)

// TestUnit: vectors leave with unit length or not at all, and the refusal names the one at fault.
func TestUnit(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for name, c := range map[string]struct {
		claimed bool
		give    []float32
		want    []float32
		failure string
	}{
		"claimed and kept":      {true, []float32{1, 0, .6, .8}, []float32{1, 0, .6, .8}, ""},
		"claimed, rounded":      {true, []float32{.9991, 0, 0, 1.0009}, []float32{.9991, 0, 0, 1.0009}, ""},
		"claimed, too long":     {true, []float32{1, 0, 0, 1.0011}, nil, "vector 1 has the length 1.0011, not 1 as claimed"},
		"claimed, too short":    {true, []float32{.9989, 0}, nil, "vector 0 has the length 0.9989, not 1 as claimed"},
		"claimed, zero":         {true, []float32{0, 0}, nil, "vector 0 has the length 0, not 1 as claimed"},
		"not claimed, divided":  {false, []float32{3, 4, 0, -7}, []float32{.6, .8, 0, -1}, ""},
		"not claimed, short":    {false, []float32{3e-12, 4e-12}, []float32{.6, .8}, ""},
		"not claimed, zero":     {false, []float32{1, 0, 0, 1e-13}, nil, "vector 1 is zero"},
		"not a number":          {false, []float32{1, 0, 0, nan}, nil, "vector 1 is NaN in dimension 1"},
		"infinite":              {true, []float32{inf, 0}, nil, "vector 0 is -Inf in dimension 0"},
		"longer than a float32": {false, []float32{math.MaxFloat32, math.MaxFloat32}, []float32{.70710678, .70710678}, ""},
		"half a vector":         {true, []float32{1, 0, 1}, nil, "3 values of vectors of 2 dimensions"},
		"none":                  {true, nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := port.Dense{Dim: 2, Data: c.give}
			err := d.Unit(c.claimed)
			if c.failure != "" {
				if err == nil || !strings.Contains(err.Error(), c.failure) {
					t.Fatalf("got %v, want %q", err, c.failure)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range d.Data {
				if math.Abs(float64(x-c.want[i])) > 1e-6 {
					t.Fatalf("got %v, want %v", d.Data, c.want)
				}
			}
		})
	}
	if err := (port.Dense{Data: []float32{1}}).Unit(true); err == nil {
		t.Error("vectors without dimensions pass")
	}
}
