package fault

import (
	"slices"
	"strings"
)

// Nearest is the known name at the smallest edit distance from one that is not known, for a
// sentence about it; "" when none is near. At most a third of the name's length and at least 2
// edits are allowed.
func Nearest(name string, known []string) string {
	best, limit := "", max(2, len(name)/3)+1
	for _, k := range slices.Sorted(slices.Values(known)) {
		if d := distance(strings.ToLower(name), k); d < limit {
			best, limit = k, d
		}
	}
	return best
}

// distance is Levenshtein's, by bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
