package pdf

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	margin  = .12 // of a page's height at its top and bottom, where headers and footers are
	nearby  = 4   // pages before and after that are looked at: left and right pages may differ
	repeats = 3   // pages of these that have to have a line
)

// withoutRepeats leaves out headers, footers and page numbers: lines at the top and the
// bottom of a page, outside all others, that stand at the same place on pages nearby. What
// has letters stays where it first stands. Lines of large letters stay, and so does the
// last that a page has: then it is the page's text.
func (d *document) withoutRepeats(body float64) {
	type place struct {
		key string
		y   int
	}
	running := func(p *page, l line) bool { return p.outer(l) && l.size < heading*body }
	at := func(p *page, n int, l line) place { return place{key(l, n), int(math.Round(l.top / 6))} }
	seen := map[place][]int{} // pages, rising
	for n := range d.pages {
		p := &d.pages[n]
		for _, l := range p.lines {
			if running(p, l) {
				if on := seen[at(p, n, l)]; len(on) == 0 || on[len(on)-1] != n {
					seen[at(p, n, l)] = append(on, n)
				}
			}
		}
	}
	for n := range d.pages {
		p := &d.pages[n]
		repeated := func(l line) bool {
			if !running(p, l) {
				return false
			}
			on := seen[at(p, n, l)]
			close := 0
			for _, other := range on {
				if max(other-n, n-other) <= nearby {
					close++
				}
			}
			return close >= repeats
		}
		out := map[int]bool{}
		for _, fromTop := range []bool{true, false} {
			order := make([]int, len(p.lines))
			for i := range order {
				order[i] = i
			}
			slices.SortStableFunc(order, func(a, b int) int {
				by := p.lines[a].top - p.lines[b].top
				if !fromTop {
					by = p.lines[b].bottom - p.lines[a].bottom
				}
				return int(math.Copysign(math.Ceil(math.Abs(by)), by))
			})
			for _, i := range order {
				if !repeated(p.lines[i]) {
					break
				}
				out[i] = true
			}
		}
		if len(out) == len(p.lines) {
			continue
		}
		kept := p.lines[:0:0]
		for i, l := range p.lines {
			if out[i] && (seen[at(p, n, l)][0] < n || counts(l)) {
				continue
			}
			if out[i] {
				l.cells = slices.DeleteFunc(slices.Clone(l.cells), counter.MatchString)
			}
			kept = append(kept, l)
		}
		p.lines = kept
	}
}

// outer reports whether a line is in the margins.
func (p *page) outer(l line) bool { return l.bottom <= margin*p.height || l.top >= (1-margin)*p.height }

var (
	counter  = regexp.MustCompile(`^[-–—|/·.\s]*(\d{1,5})(\s*(?:/|\||of|von|de|di|sur|van|из)\s*\d{1,5})?[-–—|/·.\s]*$`)
	pageWord = regexp.MustCompile(`(?i)\b(?:page|seite|página|pagina|pág|pag|side|sida|strona|стр|p|s)\.?\s*(\d{1,5})` +
		`(\s*(?:/|\||of|von|de|di|sur|van|из)\s*\d{1,5})?`)
	roman = regexp.MustCompile(`^[-–—\s]*([ivxlc]{1,8})[-–—\s]*$`)
)

// key is a line with the page's number taken out, if it has one: a number that stands
// alone or after a word for a page, and moves on with the pages.
func key(l line, n int) string {
	cells := make([]string, len(l.cells))
	for i, cell := range l.cells {
		if m := counter.FindStringSubmatch(cell); m != nil {
			cells[i] = offset(m[1], n) + m[2]
			continue
		}
		if m := roman.FindStringSubmatch(cell); m != nil {
			cells[i] = fmt.Sprintf("#%+d", romanValue(m[1])-n)
			continue
		}
		cells[i] = pageWord.ReplaceAllStringFunc(cell, func(s string) string {
			m := pageWord.FindStringSubmatch(s)
			return offset(m[1], n) + m[2]
		})
	}
	return strings.Join(cells, "\t")
}

func offset(number string, n int) string {
	v, err := strconv.Atoi(number)
	if err != nil {
		return number
	}
	return fmt.Sprintf("#%+d", v-n)
}

// romanValue is the value of a Roman number, of any order of its signs.
func romanValue(s string) int {
	value, before := 0, 0
	for _, c := range s {
		v := map[rune]int{'i': 1, 'v': 5, 'x': 10, 'l': 50, 'c': 100}[c]
		if value += v; before < v {
			value -= 2 * before
		}
		before = v
	}
	return value
}

// counts reports whether a line holds nothing but the page's number.
func counts(l line) bool {
	for _, cell := range l.cells {
		if counter.MatchString(cell) || roman.MatchString(cell) {
			continue
		}
		if strings.ContainsFunc(pageWord.ReplaceAllString(cell, ""), unicode.IsLetter) {
			return false
		}
	}
	return true
}
