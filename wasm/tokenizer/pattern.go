package tokenizer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// finder finds the first match from a place on: -1 where there is none.
type finder interface {
	find(s string, from int) (start, end int, err error)
}

// literal finds a text.
type literal string

func (l literal) find(s string, from int) (start, end int, err error) {
	if at := strings.Index(s[from:], string(l)); at >= 0 && l != "" {
		return from + at, from + at + len(l), nil
	}
	return -1, -1, nil
}

// runes finds one character of a kind.
type runes func(rune) bool

func (f runes) find(s string, from int) (start, end int, err error) {
	at := strings.IndexFunc(s[from:], f)
	if at < 0 {
		return -1, -1, nil
	}
	_, n := utf8.DecodeRuneInString(s[from+at:])
	return from + at, from + at + n, nil
}

// pattern is a regular expression as tokenizers have them, in Ruby's syntax: what Go's
// regexp has, and lookahead, possessive quantifiers and Unicode's white space beside. ^
// and $ are of lines. It backtracks, so its work on a text is bounded.
type pattern struct {
	start *state
}

type stateKind uint8

const (
	isSet stateKind = iota
	isAlt
	isRepeat
	isLook
	isBegin
	isEnd
	isAccept
)

// state is a step of a match, with what comes after it.
type state struct {
	kind     stateKind
	set      *set
	min, max int
	lazy     bool
	atomic   bool // possessive
	negative bool
	branches []*state
	next     *state
}

// set is a class of characters.
type set struct {
	low      [utf8.RuneSelf]bool
	negative bool
	fold     bool
	ranges   []span
	tables   []*unicode.RangeTable
	without  []*unicode.RangeTable
}

func (s *set) has(r rune) bool {
	if r < utf8.RuneSelf {
		return s.low[r]
	}
	return s.holds(r)
}

func (s *set) holds(r rune) bool {
	found := s.one(r)
	if s.fold {
		for f := unicode.SimpleFold(r); f != r && !found; f = unicode.SimpleFold(f) {
			found = s.one(f)
		}
	}
	return found != s.negative
}

func (s *set) one(r rune) bool {
	for _, x := range s.ranges {
		if r >= x.first && r <= x.last {
			return true
		}
	}
	for _, t := range s.tables {
		if unicode.Is(t, r) {
			return true
		}
	}
	for _, t := range s.without {
		if !unicode.Is(t, r) {
			return true
		}
	}
	return false
}

func (s *set) ready() *set {
	for r := range s.low {
		s.low[r] = s.holds(rune(r))
	}
	return s
}

// Bounds of a pattern, and of its work to find a match: steps for a text and for each
// byte of it up to so many, since nothing stops it on the way.
const (
	maxPattern   = 4096
	maxDepth     = 32
	maxRepeat    = 64
	maxStates    = 4096
	stepsAtLeast = 1 << 16
	stepsPerByte = 1 << 10
	mostBytes    = 1 << 16
)

var errPatternWork = errors.New("a pattern of the tokenizer takes too long on this text")

type match struct {
	s     string
	steps int
}

// at is where a match of st that begins at i ends; -1 when there is none.
func (m *match) at(st *state, i int) int {
	for {
		if m.steps--; m.steps < 0 {
			return -1
		}
		switch st.kind {
		case isAccept:
			return i
		case isBegin:
			if i != 0 && m.s[i-1] != '\n' {
				return -1
			}
		case isEnd:
			if i != len(m.s) && m.s[i] != '\n' {
				return -1
			}
		case isSet:
			r, n := utf8.DecodeRuneInString(m.s[i:])
			if n == 0 || !st.set.has(r) {
				return -1
			}
			i += n
		case isAlt:
			last := len(st.branches) - 1
			for _, b := range st.branches[:last] {
				if end := m.at(b, i); end >= 0 {
					return end
				}
			}
			st = st.branches[last]
			continue
		case isLook:
			if (m.at(st.branches[0], i) >= 0) == st.negative {
				return -1
			}
		case isRepeat:
			if st.lazy {
				return m.lazily(st, i)
			}
			least, end, count := i, i, 0
			for count < st.max {
				r, n := utf8.DecodeRuneInString(m.s[end:])
				if n == 0 || !st.set.has(r) {
					break
				}
				m.steps--
				end += n
				if count++; count == st.min {
					least = end
				}
			}
			if count < st.min {
				return -1
			}
			if st.atomic {
				i = end
				break
			}
			for {
				if e := m.at(st.next, end); e >= 0 || end == least {
					return e
				}
				_, n := utf8.DecodeLastRuneInString(m.s[:end])
				end -= n
			}
		}
		st = st.next
	}
}

func (m *match) lazily(st *state, i int) int {
	for count := 0; ; count++ {
		if count >= st.min {
			if e := m.at(st.next, i); e >= 0 || count == st.max {
				return e
			}
		}
		r, n := utf8.DecodeRuneInString(m.s[i:])
		if n == 0 || !st.set.has(r) || m.steps < 0 {
			return -1
		}
		i += n
	}
}

func (p *pattern) find(s string, from int) (start, end int, err error) {
	m := match{s: s, steps: stepsAtLeast + stepsPerByte*min(len(s)-from, mostBytes)}
	for at := from; at < len(s); {
		if e := m.at(p.start, at); e > at {
			return at, e, nil
		}
		if m.steps < 0 {
			return -1, -1, errPatternWork
		}
		_, n := utf8.DecodeRuneInString(s[at:])
		at += n
	}
	return -1, -1, nil
}

// newPattern compiles a regular expression.
func newPattern(text string) (*pattern, error) { return compiled(text, characters().word) }

// compiled is a pattern in which \w stands for word.
func compiled(text string, word *unicode.RangeTable) (*pattern, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("a pattern has %d bytes, at most %d", len(text), maxPattern)
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("a pattern is not UTF-8")
	}
	p := parser{rest: text, word: word}
	node, err := p.alternatives(false, 0)
	if err == nil && p.rest != "" {
		err = fmt.Errorf("%q is not expected", p.rest)
	}
	if err == nil {
		c := compiler{}
		start := c.compile(node, &state{kind: isAccept})
		if c.states <= maxStates {
			return &pattern{start: start}, nil
		}
		err = errors.New("it is too large")
	}
	return nil, fmt.Errorf("the pattern %q is not supported: %w", text, err)
}

// node is a part of a parsed pattern.
type node struct {
	kind     nodeKind
	set      *set
	parts    []node
	min, max int
	lazy     bool
	atomic   bool
	negative bool
}

type nodeKind uint8

const (
	nodeSequence nodeKind = iota
	nodeAlternatives
	nodeSet
	nodeRepeat
	nodeLook
	nodeBegin
	nodeEnd
)

type compiler struct{ states int }

// compile is the states of n, with next behind them.
func (c *compiler) compile(n node, next *state) *state {
	if c.states++; c.states > maxStates {
		return next
	}
	switch n.kind {
	case nodeSequence:
		for i := len(n.parts) - 1; i >= 0; i-- {
			next = c.compile(n.parts[i], next)
		}
		return next
	case nodeAlternatives:
		alt := &state{kind: isAlt}
		for _, part := range n.parts {
			alt.branches = append(alt.branches, c.compile(part, next))
		}
		return alt
	case nodeSet:
		return &state{kind: isSet, set: n.set, next: next}
	case nodeLook:
		return &state{kind: isLook, negative: n.negative, branches: []*state{c.compile(n.parts[0], &state{kind: isAccept})},
			next: next}
	case nodeBegin:
		return &state{kind: isBegin, next: next}
	case nodeEnd:
		return &state{kind: isEnd, next: next}
	case nodeRepeat:
		if inner := n.parts[0]; inner.kind == nodeSet {
			return &state{kind: isRepeat, set: inner.set, min: n.min, max: n.max, lazy: n.lazy, atomic: n.atomic, next: next}
		}
		for range n.max - n.min { // each may be there where all before it are
			branches := []*state{c.compile(n.parts[0], next), next}
			if n.lazy {
				branches[0], branches[1] = branches[1], branches[0]
			}
			next = &state{kind: isAlt, branches: branches}
		}
		for range n.min {
			next = c.compile(n.parts[0], next)
		}
	}
	return next
}

// parser reads a pattern.
type parser struct {
	rest string
	word *unicode.RangeTable
}

func (p *parser) take(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

func (p *parser) next() (rune, error) {
	r, n := utf8.DecodeRuneInString(p.rest)
	if n == 0 {
		return 0, errors.New("it ends too early")
	}
	p.rest = p.rest[n:]
	return r, nil
}

func (p *parser) alternatives(fold bool, depth int) (node, error) {
	if depth > maxDepth {
		return node{}, errors.New("its groups are nested too deeply")
	}
	all := node{kind: nodeAlternatives}
	for {
		part := node{kind: nodeSequence}
		for p.rest != "" && p.rest[0] != '|' && p.rest[0] != ')' {
			n, err := p.repeated(fold, depth)
			if err != nil {
				return node{}, err
			}
			part.parts = append(part.parts, n)
		}
		all.parts = append(all.parts, part)
		if !p.take("|") {
			return all, nil
		}
	}
}

// repeated reads one part with its quantifier.
func (p *parser) repeated(fold bool, depth int) (node, error) {
	n, err := p.one(fold, depth)
	if err != nil {
		return node{}, err
	}
	const many = 1 << 30
	rep, counted := node{kind: nodeRepeat, parts: []node{n}}, false
	switch {
	case p.take("*"):
		rep.min, rep.max = 0, many
	case p.take("+"):
		rep.min, rep.max = 1, many
	case p.take("?"):
		rep.min, rep.max = 0, 1
	case strings.HasPrefix(p.rest, "{") && strings.Contains(p.rest, "}"):
		inner, rest, _ := strings.Cut(p.rest[1:], "}")
		low, high, pair := strings.Cut(inner, ",")
		rep.min, err = strconv.Atoi(low)
		switch {
		case err != nil && low == "" && pair:
			rep.min = 0
		case err != nil:
			return node{}, fmt.Errorf("{%s} is no number of times", inner)
		}
		rep.max = rep.min
		if pair && high == "" {
			rep.max = many
		} else if pair {
			if rep.max, err = strconv.Atoi(high); err != nil {
				return node{}, fmt.Errorf("{%s} is no number of times", inner)
			}
		}
		if rep.min < 0 || rep.max < rep.min || rep.min > maxRepeat || rep.max != many && rep.max > maxRepeat {
			return node{}, fmt.Errorf("{%s} is no number of times up to %d", inner, maxRepeat)
		}
		p.rest, counted = rest, true
	default:
		return n, nil
	}
	if counted && strings.HasPrefix(p.rest, "+") { // in Ruby's syntax once and more of that
		if p.rest = p.rest[1:]; rep.min > 1 {
			return node{}, errors.New("more than once of several")
		}
		rep.max, counted = many, false
	}
	if counted && rep.min == rep.max && strings.HasPrefix(p.rest, "?") {
		return node{}, errors.New("a counted part that may be absent")
	}
	if n.kind != nodeSet && (rep.max == many || n.kind != nodeAlternatives) {
		return node{}, errors.New("of repeated parts it knows characters, classes, and groups a bounded number of times")
	}
	if p.take("?") {
		rep.lazy = true
	} else if p.take("+") {
		if rep.atomic = true; n.kind != nodeSet {
			return node{}, errors.New("a possessive quantifier of a group")
		}
	}
	return rep, nil
}

func (p *parser) one(fold bool, depth int) (node, error) {
	for _, group := range []struct {
		begin          string
		look, negative bool
		fold           bool
	}{
		{"(?:", false, false, fold}, {"(?i:", false, false, true}, {"(?-i:", false, false, false},
		{"(?=", true, false, fold}, {"(?!", true, true, fold},
	} {
		if p.take(group.begin) {
			inner, err := p.alternatives(group.fold, depth+1)
			if err == nil && !p.take(")") {
				err = errors.New("a group is not closed")
			}
			if group.look {
				inner = node{kind: nodeLook, negative: group.negative, parts: []node{inner}}
			}
			return inner, err
		}
	}
	if strings.HasPrefix(p.rest, "(?") {
		return node{}, fmt.Errorf("the group %.6q", p.rest)
	}
	if p.take("(") {
		inner, err := p.alternatives(fold, depth+1)
		if err == nil && !p.take(")") {
			err = errors.New("a group is not closed")
		}
		return inner, err
	}
	r, err := p.next()
	if err != nil {
		return node{}, err
	}
	s := &set{fold: fold}
	switch r {
	case '^':
		return node{kind: nodeBegin}, nil
	case '$':
		return node{kind: nodeEnd}, nil
	case '.':
		s.ranges, s.negative = []span{{'\n', '\n'}}, true
	case '[':
		err = p.class(s)
	case '\\':
		err = p.escape(s)
	case '*', '+', '?', '{':
		err = fmt.Errorf("%q has nothing before it", r)
	default:
		s.ranges = []span{{r, r}}
	}
	return node{kind: nodeSet, set: s.ready()}, err
}

// escape reads what follows a backslash into a set.
func (p *parser) escape(s *set) error {
	r, err := p.next()
	if err != nil {
		return err
	}
	switch r {
	case 's':
		s.tables = append(s.tables, unicode.White_Space)
	case 'S':
		s.without = append(s.without, unicode.White_Space)
	case 'd':
		s.tables = append(s.tables, characters().digit)
	case 'D':
		s.without = append(s.without, characters().digit)
	case 'w':
		s.tables = append(s.tables, p.word)
	case 'W':
		s.without = append(s.without, p.word)
	case 'p', 'P':
		name, rest, ok := strings.Cut(strings.TrimPrefix(p.rest, "{"), "}")
		if !strings.HasPrefix(p.rest, "{") || !ok {
			return errors.New("\\p without {a property}")
		}
		p.rest = rest
		table := property(name)
		if table == nil {
			return fmt.Errorf("the property %q", name)
		}
		if r == 'p' {
			s.tables = append(s.tables, table)
		} else {
			s.without = append(s.without, table)
		}
	case 'n', 'r', 't', 'f', 'v':
		r = map[rune]rune{'n': '\n', 'r': '\r', 't': '\t', 'f': '\f', 'v': '\v'}[r]
		s.ranges = append(s.ranges, span{r, r})
	case 'x':
		inner, rest, ok := strings.Cut(strings.TrimPrefix(p.rest, "{"), "}")
		if !strings.HasPrefix(p.rest, "{") && len(p.rest) >= 2 {
			inner, rest, ok = p.rest[:2], p.rest[2:], true
		}
		v, err := strconv.ParseUint(inner, 16, 21)
		if !ok || err != nil {
			return errors.New("\\x without a code point")
		}
		p.rest = rest
		s.ranges = append(s.ranges, span{rune(v), rune(v)})
	default:
		if r >= utf8.RuneSelf || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return fmt.Errorf("\\%c", r)
		}
		s.ranges = append(s.ranges, span{r, r})
	}
	return nil
}

func property(name string) *unicode.RangeTable {
	switch strings.ToLower(name) {
	case "l", "letter":
		return characters().letter
	case "n", "number":
		return characters().number
	case "nd":
		return characters().digit
	case "p", "punctuation", "punct":
		return characters().sign
	case "space", "white_space":
		return unicode.White_Space
	}
	for _, all := range []map[string]*unicode.RangeTable{unicode.Categories, unicode.Scripts} {
		for n, t := range all {
			if strings.EqualFold(n, name) {
				return t
			}
		}
	}
	return nil
}

// class reads the rest of a class in brackets.
func (p *parser) class(s *set) error {
	s.negative = p.take("^")
	for first := true; ; first = false {
		if !first && p.take("]") {
			return nil
		}
		if strings.HasPrefix(p.rest, "[") || strings.HasPrefix(p.rest, "&&") {
			return errors.New("a class within a class")
		}
		r, err := p.next()
		if err != nil {
			return errors.New("a class is not closed")
		}
		low := span{r, r}
		if r == '\\' {
			before := len(s.ranges)
			if err := p.escape(s); err != nil {
				return err
			}
			if len(s.ranges) == before {
				continue
			}
			low = s.ranges[before]
			s.ranges = s.ranges[:before]
		}
		if strings.HasPrefix(p.rest, "-") && !strings.HasPrefix(p.rest, "-]") {
			p.rest = p.rest[1:]
			high, err := p.next()
			if err == nil && high == '\\' {
				var bound set
				if err = p.escape(&bound); err == nil && len(bound.ranges) != 1 {
					err = errors.New("a range ends with no character")
				} else if err == nil {
					high = bound.ranges[0].first
				}
			}
			if err != nil {
				return err
			}
			if low.last = high; high < low.first {
				return errors.New("a range ends before it begins")
			}
		}
		s.ranges = append(s.ranges, low)
	}
}
