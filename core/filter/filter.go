package filter

import (
	"bytes"
	"encoding/json"
	"slices"
	"sort"
	"strconv"

	"github.com/mnemehq/mneme/core/fault"
)

// Limits of a filter.
const (
	MaxDepth      = 16
	MaxConditions = 256  // comparisons in the whole filter
	MaxValues     = 1000 // values of one $in
)

// Op is the kind of a filter node.
type Op int

// The kinds: In compares a key with values (equality is In with one value),
// And and Or combine.
const (
	In Op = iota
	And
	Or
)

// Filter is a parsed, normalised filter. The zero value is not a valid filter.
type Filter struct {
	Op     Op
	Key    string   // In
	Values []string // In: canonical texts, sorted, distinct, at least one
	Args   []Filter // And, Or: at least one
}

// Parse reads a filter from JSON. Errors have code InvalidFilter and name the
// place. An empty object is an error: an emptied scope must not widen a read.
func Parse(raw json.RawMessage) (*Filter, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fault.Field(fault.InvalidFilter, "filter", "must be an object")
	}
	p := parser{}
	f, err := p.filter("filter", v, 1)
	if err != nil {
		return nil, err
	}
	return &f, nil
}

type parser struct{ conditions int }

func invalid(at, format string, args ...any) error {
	return fault.Field(fault.InvalidFilter, at, format, args...)
}

func (p *parser) filter(at string, v any, depth int) (Filter, error) {
	obj, ok := v.(map[string]any)
	if !ok {
		return Filter{}, invalid(at, "must be an object")
	}
	if depth > MaxDepth {
		return Filter{}, invalid(at, "is nested deeper than %d levels", MaxDepth)
	}
	if len(obj) == 0 {
		return Filter{}, invalid(at, "has no condition; leave filter out to match every document")
	}
	keys := make([]string, 0, len(obj))
	for k := range obj {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var args []Filter
	for _, k := range keys {
		f, err := p.entry(at+"."+k, k, obj[k], depth)
		if err != nil {
			return Filter{}, err
		}
		args = append(args, f...)
	}
	if len(args) == 1 {
		return args[0], nil
	}
	return Filter{Op: And, Args: args}, nil
}

func (p *parser) entry(at, k string, v any, depth int) ([]Filter, error) {
	switch {
	case k == "$and" || k == "$or":
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			return nil, invalid(at, "must be an array of at least one filter")
		}
		op := And
		if k == "$or" {
			op = Or
		}
		args := make([]Filter, len(list))
		for i, e := range list {
			f, err := p.filter(at+"["+strconv.Itoa(i)+"]", e, depth+1)
			if err != nil {
				return nil, err
			}
			args[i] = f
		}
		return []Filter{{Op: op, Args: args}}, nil
	case k == "":
		return nil, invalid(at, "keys are not empty")
	case k[0] == '$':
		return nil, invalid(at, "operator %s is not supported; use $eq, $in, $and or $or", k)
	}
	obj, ok := v.(map[string]any)
	if !ok {
		s, err := p.value(at, v)
		if err != nil {
			return nil, err
		}
		return p.in(at, k, []string{s})
	}
	if len(obj) == 0 {
		return nil, invalid(at, "has no operator")
	}
	ops := make([]string, 0, len(obj))
	for op := range obj {
		ops = append(ops, op)
	}
	sort.Strings(ops)
	var out []Filter
	for _, op := range ops {
		at := at + "." + op
		switch op {
		case "$eq":
			s, err := p.value(at, obj[op])
			if err != nil {
				return nil, err
			}
			f, err := p.in(at, k, []string{s})
			if err != nil {
				return nil, err
			}
			out = append(out, f...)
		case "$in":
			list, ok := obj[op].([]any)
			if !ok || len(list) == 0 {
				return nil, invalid(at, "must be an array of at least one value")
			}
			if len(list) > MaxValues {
				return nil, invalid(at, "has %d values; at most %d are allowed", len(list), MaxValues)
			}
			values := make([]string, len(list))
			for i, e := range list {
				s, err := p.value(at+"["+strconv.Itoa(i)+"]", e)
				if err != nil {
					return nil, err
				}
				values[i] = s
			}
			f, err := p.in(at, k, values)
			if err != nil {
				return nil, err
			}
			out = append(out, f...)
		default:
			return nil, invalid(at, "operator %s is not supported; use $eq, $in, $and or $or", op)
		}
	}
	return out, nil
}

func (p *parser) in(at, key string, values []string) ([]Filter, error) {
	if p.conditions++; p.conditions > MaxConditions {
		return nil, invalid(at, "the filter has more than %d conditions", MaxConditions)
	}
	sort.Strings(values)
	return []Filter{{Op: In, Key: key, Values: slices.Compact(values)}}, nil
}

func (p *parser) value(at string, v any) (string, error) {
	switch x := v.(type) {
	case string, bool:
		return texts(x)[0], nil
	case json.Number:
		s, ok := canonicalNumber(string(x))
		if !ok {
			return "", invalid(at, "number %.40s is out of range", x)
		}
		return s, nil
	}
	return "", invalid(at, "values are strings, numbers or booleans; use $in for several")
}

// Match reports whether metadata satisfies the filter: values compare as
// canonical text, and an array matches by any of its items.
func (f *Filter) Match(m Metadata) bool {
	switch f.Op {
	case And:
		for i := range f.Args {
			if !f.Args[i].Match(m) {
				return false
			}
		}
		return true
	case Or:
		for i := range f.Args {
			if f.Args[i].Match(m) {
				return true
			}
		}
		return false
	}
	for _, s := range texts(m[f.Key]) {
		if _, ok := slices.BinarySearch(f.Values, s); ok {
			return true
		}
	}
	return false
}
