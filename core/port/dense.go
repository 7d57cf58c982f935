package port

import (
	"fmt"
	"math"
)

// Unit makes each vector of d one of unit length, as Dense promises. Of a model that
// claims to give such vectors they are only checked; those of another are divided by
// their length. The error names the vector at fault: every model's adapter calls
// Unit, for whatever it embeds, since an index takes lengths on trust.
func (d Dense) Unit(claimed bool) error {
	if d.Dim < 1 || len(d.Data)%d.Dim != 0 {
		return fmt.Errorf("%d values of vectors of %d dimensions", len(d.Data), d.Dim)
	}
	for r := range len(d.Data) / d.Dim {
		row, sum := d.Row(r), 0.0
		for i, x := range row {
			if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
				return fmt.Errorf("vector %d is %g in dimension %d, which is not finite", r, x, i)
			}
			sum += float64(x) * float64(x)
		}
		length := math.Sqrt(sum)
		switch {
		case claimed && math.Abs(length-1) > unitTolerance:
			return fmt.Errorf("vector %d has the length %.6g, not 1 as claimed", r, length)
		case length < minLength:
			return fmt.Errorf("vector %d is zero", r)
		case !claimed:
			for i, x := range row {
				row[i] = float32(float64(x) / length)
			}
		}
	}
	return nil
}

const (
	unitTolerance = 1e-3  // by which a length that is claimed to be 1 may differ
	minLength     = 1e-12 // of a vector that has a direction
)
