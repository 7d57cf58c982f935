package http

import (
	"math"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
)

// The costs of turning a path that nothing is at into a route, by its segments. A literal
// segment that is not even near is left out and another put in its place.
const (
	costMissing = 1.0 // a segment more or less
	costNear    = 0.4 // a literal segment with a mistake in it
	costFilled  = 0.1 // a parameter, so that what names a route goes before what fills one
	costMost    = 2.2 // of a hint

	longestGuessed, segmentsGuessed = 200, 10 // of a path, whose callers have no key
	shortestGuessed                 = 3       // letters of a segment
)

// near finds the route that a caller may have meant.
type near struct {
	routes [][]string // their segments, each once
}

func (n *near) add(path string) {
	s := strings.Split(strings.Trim(path, "/"), "/")
	known := slices.ContainsFunc(n.routes, func(other []string) bool { return slices.Equal(other, s) })
	if path != "/" && path != "/{$}" && !known {
		n.routes = append(n.routes, s)
	}
}

// hint is `; did you mean ...?`, or "" where no route is near or several are equally so. What
// the caller left out has its parameter's name.
func (n *near) hint(path string) string {
	asked := strings.Split(strings.Trim(path, "/"), "/")
	if len(path) > longestGuessed || len(asked) > segmentsGuessed {
		return ""
	}
	best, least, alone := "", costMost, false
	for _, route := range n.routes {
		switch cost, filled := nearness(asked, route); {
		case cost < least:
			best, least, alone = filled, cost, true
		case cost == least:
			alone = false
		}
	}
	if !alone {
		return ""
	}
	return "; did you mean " + fault.Clip(best) + "?"
}

// nearness is the least cost of turning the segments asked for into a route, and the path that
// comes of it; without a literal segment in common, there is none.
func nearness(asked, route []string) (cost float64, filled string) {
	type cell struct {
		cost  float64
		path  string
		named bool
	}
	row := make([]cell, len(asked)+1)
	for i := range row {
		row[i].cost = costMissing * float64(i)
	}
	for _, want := range route {
		parameter := strings.HasPrefix(want, "{")
		diagonal := row[0]
		row[0] = cell{row[0].cost + costMissing, row[0].path + "/" + want, false}
		for i, got := range asked {
			above := row[i+1]
			here := cell{above.cost + costMissing, above.path + "/" + want, above.named}
			if left := row[i]; left.cost+costMissing < here.cost {
				here = cell{left.cost + costMissing, left.path, left.named}
			}
			step := cell{math.Inf(1), diagonal.path + "/" + want, true}
			switch {
			case parameter:
				step = cell{diagonal.cost + costFilled, diagonal.path + "/" + got, diagonal.named}
			case got == want:
				step.cost = diagonal.cost
			case isNear(got, want):
				step.cost = diagonal.cost + costNear
			}
			if step.cost < here.cost {
				here = step
			}
			row[i+1], diagonal = here, above
		}
	}
	last := row[len(asked)]
	if !last.named {
		return math.Inf(1), ""
	}
	return last.cost, last.path
}

// isNear reports a mistake in typing; of a short word too much is one.
func isNear(got, want string) bool {
	return len(want) >= shortestGuessed && len(got) >= shortestGuessed && len(got) <= 2*len(want) &&
		fault.Nearest(got, []string{want}) != ""
}
