package mem0

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/memory"
)

// Filters say which memories are meant: whose they are, and what else has to hold.
type Filters struct {
	ids           ids
	conditions    []filter.Filter // all of which have to hold
	count         int             // of conditions, at any depth
	after, before *int64          // exclusive, in Unix milliseconds
}

// UnmarshalJSON reads filters. Errors are faults that name the place.
func (f *Filters) UnmarshalJSON(b []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil || v == nil {
		return err
	}
	f.ids = ids{}
	conditions, err := f.all("filters", v, 1, true)
	f.conditions = conditions
	return err
}

// JSONSchema implements op.Schemer. What a part of AND and OR is stands one level deep.
func (f *Filters) JSONSchema() string {
	const fields = `"user_id": {"type": "string", "pattern": "^[A-Za-z0-9@._-]{1,128}$",
				"description": "where every memory has to meet it alone"},
			"agent_id": {"type": "string", "pattern": "^[A-Za-z0-9@._-]{1,112}$", "description": "of the agent"},
			"app_id": {"type": "string", "pattern": "^[A-Za-z0-9@._-]{1,112}$", "description": "of the app"},
			"run_id": {"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,112}$", "description": "the container"},
			"metadata": {"type": "object", "minProperties": 1, "additionalProperties": true,
				"description": "by key, a value, {eq: value} or {in: [values]}"},
			"created_at": {"type": "object", "minProperties": 1, "additionalProperties": false,
				"description": "where every memory has to meet it alone", "properties": {
				"gte": {"type": "string", "description": "a date or an RFC 3339 date-time"},
				"gt": {"type": "string", "description": "a date or an RFC 3339 date-time"},
				"lte": {"type": "string", "description": "a date or an RFC 3339 date-time"},
				"lt": {"type": "string", "description": "a date or an RFC 3339 date-time"}}}`
	const part = `{"type": "object", "minProperties": 1, "properties": {` + fields + `}}`
	return `{"type": "object", "title": "Filters", "description": "Conditions, all of which have to hold.", "minProperties": 1,
		"additionalProperties": false, "properties": {` + fields + `,
			"AND": {"type": "array", "minItems": 1, "items": ` + part + `, "description": "filters, all of which have to hold"},
			"OR": {"type": "array", "minItems": 1, "items": ` + part + `, "description": "filters, any of which has to hold"}}}`
}

// refuse is the fault of a filter.
func refuse(at, format string, args ...any) error {
	return fault.Field(fault.InvalidFilter, at, format, args...)
}

// all reads an object, whose entries all have to hold. Where every memory has to meet it, sure is
// true: only there can it say whose memories are meant, and of which time.
func (f *Filters) all(at string, v any, depth int, sure bool) ([]filter.Filter, error) {
	object, ok := v.(map[string]any)
	switch {
	case !ok:
		return nil, refuse(at, "must be an object")
	case len(object) == 0:
		return nil, refuse(at, "has no condition")
	case depth > filter.MaxDepth:
		return nil, refuse(at, "is nested deeper than %d levels", filter.MaxDepth)
	}
	var out []filter.Filter
	for _, name := range slices.Sorted(maps.Keys(object)) {
		conditions, err := f.entry(at+"."+fault.Clip(name), name, object[name], depth, sure)
		if err != nil {
			return nil, err
		}
		out = append(out, conditions...)
	}
	return out, nil
}

func (f *Filters) entry(at, name string, v any, depth int, sure bool) ([]filter.Filter, error) {
	if f.count++; f.count > filter.MaxConditions {
		return nil, refuse(at, "is one of more than %d conditions", filter.MaxConditions)
	}
	switch name {
	case "AND", "OR":
		return f.several(at, name, v, depth, sure)
	case "NOT":
		return nil, refuse(at, "is not supported; use AND, OR, equality and in")
	case "user_id", "agent_id", "app_id", "run_id":
		return f.entity(at, strings.TrimSuffix(name, "_id"), v, sure)
	case "created_at":
		if !sure {
			return nil, refuse(at, "may only stand where every memory has to meet it, which is not so inside OR")
		}
		return nil, f.created(at, v)
	case "metadata":
		conditions, err := metadata(at, v)
		for i := range conditions {
			f.count += size(&conditions[i]) - 1
		}
		if err == nil && f.count > filter.MaxConditions {
			return nil, refuse(at, "makes more than %d conditions", filter.MaxConditions)
		}
		return conditions, err
	}
	return nil, refuse(at, "is not supported; filters are of user_id, agent_id, app_id, run_id, metadata and created_at, "+
		"with AND and OR")
}

// size is how many conditions a filter has.
func size(f *filter.Filter) int {
	n := 1
	for i := range f.Args {
		n += size(&f.Args[i])
	}
	return n
}

func (f *Filters) several(at, name string, v any, depth int, sure bool) ([]filter.Filter, error) {
	list, _ := v.([]any)
	if len(list) == 0 {
		return nil, refuse(at, "must be an array of at least one filter")
	}
	or := name == "OR" && len(list) > 1
	var out []filter.Filter
	for i, one := range list {
		conditions, err := f.all(at+"["+strconv.Itoa(i)+"]", one, depth+1, sure && !or)
		if err != nil {
			return nil, err
		}
		if or {
			conditions = []filter.Filter{*every(conditions)}
		}
		out = append(out, conditions...)
	}
	if or {
		return []filter.Filter{{Op: filter.Or, Args: out}}, nil
	}
	return out, nil
}

// every is the filter of several that all have to hold; nil for none.
func every(all []filter.Filter) *filter.Filter {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return &all[0]
	}
	return &filter.Filter{Op: filter.And, Args: all}
}

// entity reads a condition on whose the memories are.
func (f *Filters) entity(at, kind string, v any, sure bool) ([]filter.Filter, error) {
	id, ok := oneText(v)
	switch {
	case !ok:
		return nil, refuse(at, "must be one id")
	case id == "*":
		return nil, refuse(at, "must be an id: * stands for any, which is not supported")
	}
	if err := checkID(kind, id); err != nil {
		return nil, err
	}
	switch {
	case sure:
		return nil, f.ids.add(ids{kind: id})
	case kind == user:
		return nil, refuse(at, "may only stand where every memory has to meet it, which is not so inside OR: "+
			"ask for each user in a call of its own")
	}
	return []filter.Filter{labelled(kind, id)}, nil
}

// labelled is the filter of the memories that name an agent, app or run.
func labelled(kind, id string) filter.Filter {
	if kind == run {
		return *filter.Container(id)
	}
	return filter.Filter{Op: filter.In, Key: kind + "_id", Values: []string{id}}
}

// oneText reads "a", {"eq": "a"} and {"in": ["a"]}.
func oneText(v any) (string, bool) {
	if object, ok := v.(map[string]any); ok && len(object) == 1 {
		if eq, ok := object["eq"]; ok {
			v = eq
		}
		if list, ok := object["in"].([]any); ok && len(list) == 1 {
			v = list[0]
		}
	}
	text, ok := v.(string)
	return text, ok
}

// metadata reads conditions on metadata.
func metadata(at string, v any) ([]filter.Filter, error) {
	object, ok := v.(map[string]any)
	if !ok || len(object) == 0 {
		return nil, refuse(at, "must be an object with at least one key")
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		at := at + "." + fault.Clip(key)
		if key == "" || key[0] == '$' || key == "AND" || key == "OR" || key == "NOT" {
			return nil, refuse(at, "is no key of metadata")
		}
		operators, ok := object[key].(map[string]any)
		if !ok {
			continue
		}
		to := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(operators)) {
			if name != "eq" && name != "in" {
				return nil, refuse(at, "operator %s is not supported; use eq or in", fault.Clip(name))
			}
			to["$"+name] = operators[name]
		}
		object[key] = to
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	f, err := filter.Parse(raw)
	var bad *fault.Error
	if errors.As(err, &bad) {
		return nil, refuse(at, "%v", bad.Details["reason"])
	}
	if err != nil {
		return nil, err
	}
	return []filter.Filter{*f}, nil
}

// created reads bounds of the time of creation.
func (f *Filters) created(at string, v any) error {
	object, ok := v.(map[string]any)
	if !ok || len(object) == 0 {
		return refuse(at, "must be an object with gte, gt, lte or lt")
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at := at + "." + name
		text, _ := object[name].(string)
		t, ok := parseTime(text)
		if !ok {
			return refuse(at, "must be a date, such as 2026-01-02, or an RFC 3339 date-time")
		}
		switch name {
		case "gte", "gt":
			f.from(t, name == "gte")
		case "lte", "lt":
			f.until(t, name == "lte")
		default:
			return refuse(at, "is not supported; use gte, gt, lte or lt")
		}
	}
	return nil
}

// from and until narrow the time of creation.
func (f *Filters) from(t time.Time, inclusive bool) {
	at := t.UnixMilli() // of the milliseconds that times of creation have, the last not after t
	if inclusive && t.Nanosecond()%int(time.Millisecond) == 0 {
		at--
	}
	if f.after == nil || *f.after < at {
		f.after = &at
	}
}

func (f *Filters) until(t time.Time, inclusive bool) {
	at := t.UnixMilli()
	if inclusive || t.Nanosecond()%int(time.Millisecond) != 0 {
		at++
	}
	if f.before == nil || *f.before > at {
		f.before = &at
	}
}

// parseTime reads a date, or a date-time with or without a zone; without one it is UTC.
func parseTime(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), t.UTC().Year() >= 1 && t.UTC().Year() <= 9999
		}
	}
	return time.Time{}, false
}

// which are the memories that are meant.
func (f *Filters) which() memory.Which {
	conditions := slices.Clone(f.conditions)
	for _, kind := range []string{agent, app} {
		if id, ok := f.ids[kind]; ok && kind != f.ids.owner() {
			conditions = append(conditions, labelled(kind, id))
		}
	}
	return memory.Which{EndUserID: f.ids.endUser(), Container: f.ids[run], After: f.after, Before: f.before,
		Filter: every(conditions)}
}
