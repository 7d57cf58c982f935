package meilisearchtest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The grammar of filters is in the documentation ("Filter expression reference")
// and, exactly, at the head of the server's crate filter-parser:
//
//	filter    = expression EOF
//	expression= or
//	or        = and ("OR" and)*
//	and       = not ("AND" not)*
//	not       = "NOT" not | primary
//	primary   = "(" expression ")" | in | condition | exists | to | is
//	value     = word | 'single quoted' | "double quoted"
//	word      = (alphanumeric | _ | - | .)+ but for keywords
//
// Nesting is limited to 150 levels, of which each bracket takes several.
const maxFilterDepth = 150

// condition is a parsed filter.
type condition struct {
	op     string // and, or, not, =, >, >=, <, <=, to, exists, null, empty, starts
	args   []*condition
	field  string
	values []string
	texts  map[string]bool // of =: the values, normalized
	counts []float64       // of =: those that are numbers
}

// equals makes the condition that a field is one of the values.
func equals(field string, values ...string) *condition {
	c := &condition{op: "=", field: field, values: values, texts: map[string]bool{}}
	for _, v := range values {
		c.texts[normalize(v)] = true
		if n, err := number(v); err == nil {
			c.counts = append(c.counts, n)
		}
	}
	return c
}

type filterError struct{ message string }

func (e *filterError) Error() string { return e.message }

func filterErrorf(format string, args ...any) error {
	return &filterError{fmt.Sprintf(format, args...)}
}

var keywords = []string{"AND", "OR", "IN", "NOT", "TO", "EXISTS", "IS", "NULL", "EMPTY", "CONTAINS", "STARTS", "WITH",
	"_geoRadius", "_geoBoundingBox"}

// parseFilter reads a filter as a request gives it: a string, or an array whose
// items are joined by AND, those of an array within by OR.
func parseFilter(v any) (*condition, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		if strings.TrimSpace(v) == "" {
			return nil, nil
		}
		p := &filterParser{text: v}
		c, err := p.or(0)
		if err != nil {
			return nil, err
		}
		if p.space(); p.at < len(p.text) {
			return nil, filterErrorf("Found unexpected characters at the end of the filter: `%s`. You probably forgot "+
				"an `OR` or an `AND` rule.", p.rest())
		}
		return c, nil
	case []any:
		and := &condition{op: "and"}
		for _, item := range v {
			switch item := item.(type) {
			case string:
				c, err := parseFilter(item)
				if err != nil {
					return nil, err
				}
				if c != nil {
					and.args = append(and.args, c)
				}
			case []any:
				or := &condition{op: "or"}
				for _, s := range item {
					text, ok := s.(string)
					if !ok {
						return nil, filterErrorf("Invalid type for filter subexpression: expected: String, found: %v.", s)
					}
					c, err := parseFilter(text)
					if err != nil {
						return nil, err
					}
					if c != nil {
						or.args = append(or.args, c)
					}
				}
				if len(or.args) > 0 {
					and.args = append(and.args, or)
				}
			default:
				return nil, filterErrorf("Invalid type for filter subexpression: expected: String, Array, found: %v.", item)
			}
		}
		if len(and.args) == 0 {
			return nil, nil
		}
		return and, nil
	}
	return nil, filterErrorf("Invalid syntax for the filter parameter: `expected String, Array, found: %v`.", v)
}

type filterParser struct {
	text string
	at   int
}

func (p *filterParser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *filterParser) rest() string { return p.text[p.at:] }

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' || r == '-' || r == '.'
}

// word is the run of word characters ahead.
func (p *filterParser) word() string {
	p.space()
	end := strings.IndexFunc(p.rest(), func(r rune) bool { return !isWord(r) })
	if end < 0 {
		end = len(p.rest())
	}
	return p.text[p.at : p.at+end]
}

// keyword takes the words if they come next.
func (p *filterParser) keyword(words ...string) bool {
	start := p.at
	for _, w := range words {
		if p.word() != w {
			p.at = start
			return false
		}
		p.at += len(w)
	}
	return true
}

func (p *filterParser) symbol(s string) bool {
	start := p.at
	p.space()
	if strings.HasPrefix(p.rest(), s) {
		p.at += len(s)
		return true
	}
	p.at = start
	return false
}

func (p *filterParser) deep(depth int) error {
	if depth > maxFilterDepth {
		return filterErrorf("The filter exceeded the maximum depth limit. Try rewriting the filter so that it contains " +
			"fewer nested conditions.")
	}
	return nil
}

func (p *filterParser) or(depth int) (*condition, error) {
	return p.list(depth, "OR", "or", p.and)
}

func (p *filterParser) and(depth int) (*condition, error) {
	return p.list(depth, "AND", "and", p.not)
}

func (p *filterParser) list(depth int, keyword, op string, next func(int) (*condition, error)) (*condition, error) {
	if err := p.deep(depth); err != nil {
		return nil, err
	}
	first, err := next(depth + 1)
	if err != nil {
		return nil, err
	}
	c := &condition{op: op, args: []*condition{first}}
	for p.keyword(keyword) {
		more, err := next(depth + 1)
		if err != nil {
			return nil, err
		}
		c.args = append(c.args, more)
	}
	if len(c.args) == 1 {
		return first, nil
	}
	return c, nil
}

func (p *filterParser) not(depth int) (*condition, error) {
	if err := p.deep(depth); err != nil {
		return nil, err
	}
	if p.keyword("NOT") {
		c, err := p.not(depth + 1)
		if err != nil {
			return nil, err
		}
		return &condition{op: "not", args: []*condition{c}}, nil
	}
	return p.primary(depth + 1)
}

func (p *filterParser) primary(depth int) (*condition, error) {
	if err := p.deep(depth); err != nil {
		return nil, err
	}
	if p.symbol("(") {
		c, err := p.or(depth + 1)
		if err != nil {
			return nil, err
		}
		if !p.symbol(")") {
			return nil, filterErrorf("Expression `%s` is missing the following closing delimiter: `)`.", p.rest())
		}
		return c, nil
	}
	field, err := p.value()
	if err != nil {
		return nil, err
	}
	not := func(c *condition, yes bool) *condition {
		if yes {
			return &condition{op: "not", args: []*condition{c}}
		}
		return c
	}
	switch {
	case p.keyword("NOT", "EXISTS"):
		return not(&condition{op: "exists", field: field}, true), nil
	case p.keyword("EXISTS"):
		return &condition{op: "exists", field: field}, nil
	case p.keyword("IS", "NOT", "NULL"):
		return not(&condition{op: "null", field: field}, true), nil
	case p.keyword("IS", "NULL"):
		return &condition{op: "null", field: field}, nil
	case p.keyword("IS", "NOT", "EMPTY"):
		return not(&condition{op: "empty", field: field}, true), nil
	case p.keyword("IS", "EMPTY"):
		return &condition{op: "empty", field: field}, nil
	case p.keyword("NOT", "IN"):
		c, err := p.in(field)
		return not(c, true), err
	case p.keyword("IN"):
		return p.in(field)
	case p.keyword("STARTS", "WITH"):
		v, err := p.value()
		return &condition{op: "starts", field: field, values: []string{v}}, err
	case p.keyword("CONTAINS"), p.keyword("NOT", "CONTAINS"):
		return nil, filterErrorf("Using `CONTAINS` in a filter requires enabling the `contains filter` experimental feature.")
	}
	for _, op := range []string{"!=", ">=", "<=", "=", ">", "<"} {
		if !p.symbol(op) {
			continue
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		switch op {
		case "!=":
			return not(equals(field, v), true), nil
		case "=":
			return equals(field, v), nil
		}
		return &condition{op: op, field: field, values: []string{v}}, nil
	}
	if start := p.at; p.word() != "" || p.symbol(`"`) || p.symbol("'") {
		p.at = start
		low, err := p.value()
		if err == nil && p.keyword("TO") {
			high, err := p.value()
			if err != nil {
				return nil, err
			}
			return &condition{op: "to", field: field, values: []string{low, high}}, nil
		}
	}
	return nil, filterErrorf("Was expecting an operation `=`, `!=`, `>=`, `>`, `<=`, `<`, `IN`, `NOT IN`, `TO`, "+
		"`EXISTS`, `NOT EXISTS`, `IS NULL`, `IS NOT NULL`, `IS EMPTY`, `IS NOT EMPTY`, `CONTAINS`, `NOT CONTAINS`, "+
		"`STARTS WITH`, `NOT STARTS WITH`, `_geoRadius`, `_geoBoundingBox` or `_geoPolygon` at `%s`.", p.rest())
}

func (p *filterParser) in(field string) (*condition, error) {
	var values []string
	if !p.symbol("[") {
		return nil, filterErrorf("Expected `[` after `IN` keyword.")
	}
	for !p.symbol("]") {
		v, err := p.value()
		if err != nil {
			return nil, filterErrorf("Expected only comma-separated field names inside `IN[..]` but instead found `%s`.",
				p.rest())
		}
		values = append(values, v)
		if !p.symbol(",") {
			if !p.symbol("]") {
				return nil, filterErrorf("Expected matching `]` after the list of field names given to `IN[`")
			}
			break
		}
	}
	return equals(field, values...), nil
}

func (p *filterParser) value() (string, error) {
	p.space()
	if p.at < len(p.text) && (p.text[p.at] == '\'' || p.text[p.at] == '"') {
		quote := p.text[p.at]
		for i := p.at + 1; i < len(p.text); i++ {
			switch p.text[i] {
			case '\\':
				i++
			case quote:
				v := strings.ReplaceAll(p.text[p.at+1:i], `\`+string(quote), string(quote))
				p.at = i + 1
				return unescape(v)
			}
		}
		return "", filterErrorf("Expression `%s` is missing the following closing delimiter: `%c`.", p.rest(), quote)
	}
	w := p.word()
	switch {
	case w == "":
		if strings.TrimSpace(p.rest()) == "" {
			return "", filterErrorf("Was expecting a value but instead got nothing.")
		}
		return "", filterErrorf("Was expecting a value but instead got `%s`.", p.rest())
	case slices.Contains(keywords, w):
		return "", filterErrorf("Was expecting a value but instead got `%s`, which is a reserved keyword. To use `%s` "+
			"as a field name or a value, surround it by quotes.", w, w)
	}
	p.at += len(w)
	return w, nil
}

// unescape resolves the escapes within quotes.
func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	v, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	if err != nil {
		return "", filterErrorf("Malformed value: `%s`.", s)
	}
	return v, nil
}

func number(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return 0, filterErrorf("invalid float literal")
	}
	return f, nil
}

// fields lists the attributes that a filter reads.
func (c *condition) fields() []string {
	if c == nil {
		return nil
	}
	var out []string
	if c.field != "" {
		out = append(out, c.field)
	}
	for _, a := range c.args {
		out = append(out, a.fields()...)
	}
	return out
}

// normalize is how strings are compared: without space around them and without
// case (milli's normalize_facet).
func normalize(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// match reports whether a document meets the condition. An array meets what one
// of its items meets; strings are compared with strings, in the order of their
// bytes, and numbers with numbers where the filter's text is one.
func (c *condition) match(d *document) bool {
	if c == nil {
		return true
	}
	switch c.op {
	case "and":
		for _, a := range c.args {
			if !a.match(d) {
				return false
			}
		}
		return true
	case "or":
		for _, a := range c.args {
			if a.match(d) {
				return true
			}
		}
		return false
	case "not":
		return !c.args[0].match(d)
	}
	f, ok := d.facets[c.field]
	switch c.op {
	case "exists":
		return ok
	case "null":
		return ok && f.null
	case "empty":
		return ok && f.empty
	case "starts":
		for s := range f.strings {
			if strings.HasPrefix(s, normalize(c.values[0])) {
				return true
			}
		}
		return false
	case "=":
		for t := range f.strings {
			if c.texts[t] {
				return true
			}
		}
		for _, n := range f.numbers {
			if slices.Contains(c.counts, n) {
				return true
			}
		}
		return false
	}
	var texts []string
	var numbers []float64
	for _, v := range c.values {
		texts = append(texts, normalize(v))
		if n, err := number(v); err == nil {
			numbers = append(numbers, n)
		}
	}
	for t := range f.strings {
		if within(c.op, t, texts) {
			return true
		}
	}
	if len(numbers) < len(c.values) {
		return false
	}
	for _, n := range f.numbers {
		if within(c.op, n, numbers) {
			return true
		}
	}
	return false
}

// within tells whether a value is on the right side of a bound, or between two.
func within[T cmp.Ordered](op string, v T, bounds []T) bool {
	switch op {
	case ">":
		return v > bounds[0]
	case ">=":
		return v >= bounds[0]
	case "<":
		return v < bounds[0]
	case "<=":
		return v <= bounds[0]
	}
	return v >= bounds[0] && v <= bounds[1]
}

// facet is what a document has under a filterable attribute.
type facet struct {
	strings     map[string]bool
	numbers     []float64
	null, empty bool
}
