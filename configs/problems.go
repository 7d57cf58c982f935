package configs

import (
	"fmt"
	"sort"
	"strings"
)

// Problem is one thing wrong with a configuration.
type Problem struct {
	File         string // or "environment MNEME_ADDR", "flag --addr"
	Line, Column int    // from 1; 0: not from a file
	Path         string // "server.addr"; empty for the file as a whole
	Reason       string
}

// String is the line that lint prints: file:line:column: path: reason.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	if p.Path != "" {
		b.WriteString(": " + p.Path)
	}
	return b.String() + ": " + p.Reason
}

// Problems is every problem of a configuration, in the file's order.
type Problems []Problem

// Error gives one line a problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

func (p Problems) sorted() Problems {
	sort.SliceStable(p, func(i, j int) bool {
		if p[i].Line != p[j].Line {
			return p[i].Line < p[j].Line
		}
		return p[i].Column < p[j].Column
	})
	return p
}

// suggest is `; did you mean "x"?` for the nearest of the known names, or
// nothing when none is near.
func suggest(name string, known []string) string {
	if n := nearest(name, known); n != "" {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	return ""
}

// nearest is the known name at the smallest edit distance, at most a third of
// the name's length and at least 2 edits are allowed.
func nearest(name string, known []string) string {
	best, limit := "", max(2, len(name)/3)+1
	sort.Strings(known)
	for _, k := range known {
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
