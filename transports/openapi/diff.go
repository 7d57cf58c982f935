package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// Break is a change that a client of the older document would notice as a failure
// (docs/versioning.md).
type Break struct {
	Where string // "POST /namespaces request body: name"
	What  string // "is required now"
}

// String gives both on a line.
func (b Break) String() string { return b.Where + ": " + b.What }

// Breaks compares two documents, as JSON or YAML, and lists what breaks clients of
// the older one, in the order of its paths. What a client may send must still be
// taken, and what it reads must still be there. Conditions between fields (not,
// if, dependentSchemas) are not understood: a change of one counts as a break.
func Breaks(older, newer []byte) ([]Break, error) {
	var docs [2]map[string]any
	for i, body := range [][]byte{older, newer} {
		asJSON, err := yaml.YAMLToJSON(body)
		if err != nil {
			return nil, fmt.Errorf("read document %d: %w", i+1, err)
		}
		if err := json.Unmarshal(asJSON, &docs[i]); err != nil {
			return nil, fmt.Errorf("read document %d: %w", i+1, err)
		}
		if _, ok := docs[i]["paths"].(map[string]any); !ok {
			return nil, fmt.Errorf("read document %d: it is no OpenAPI document: it has no paths", i+1)
		}
	}
	left := 200_000
	c := &comparison{older: docs[0], newer: docs[1], seen: map[string]bool{}, left: &left}
	c.paths()
	if left < 0 {
		return nil, errors.New("compare documents: their schemas offer too many combinations of forms")
	}
	return c.breaks, nil
}

type comparison struct {
	older, newer map[string]any
	breaks       []Break
	seen         map[string]bool // pairs of references that were compared
	depth        int
	left         *int // comparisons, over all probes
}

// enter takes a step, unless the schemas are nested too deeply.
func (c *comparison) enter() bool {
	*c.left--
	return c.depth <= maxDepth && *c.left >= 0
}

func (c *comparison) add(where, format string, args ...any) {
	c.breaks = append(c.breaks, Break{where, fmt.Sprintf(format, args...)})
}

// members is an object, or an empty one.
func members(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func ordered(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// resolve follows a reference within a document. Keywords beside the reference hold
// together with those of its target.
func resolve(doc map[string]any, v any) map[string]any { return follow(doc, v, maxDepth) }

// maxDepth bounds how deep schemas and references are followed; a document of
// someone else's may refer to itself.
const maxDepth = 24

func follow(doc map[string]any, v any, depth int) map[string]any {
	m := members(v)
	ref, ok := m["$ref"].(string)
	if !ok || depth == 0 {
		return m
	}
	var target any = doc
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		target = members(target)[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return merge(follow(doc, target, depth-1), m)
}

// merge lays the keywords of one schema over those of another.
func merge(under, over map[string]any) map[string]any {
	out := maps.Clone(under)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range over {
		if k == "$ref" {
			continue
		}
		if had, ok := out[k].(map[string]any); ok {
			if m, ok := v.(map[string]any); ok {
				v = merge(had, m)
			}
		}
		out[k] = v
	}
	return out
}

func (c *comparison) paths() {
	newer := members(c.newer["paths"])
	for _, path := range ordered(members(c.older["paths"])) {
		item := members(members(c.older["paths"])[path])
		for _, method := range ordered(item) {
			name := strings.ToUpper(method) + " " + path
			was, is := members(item[method]), members(members(newer[path])[method])
			if is == nil {
				c.add(name, "is removed")
				continue
			}
			if was["operationId"] != is["operationId"] {
				c.add(name, "has the operationId %v instead of %v", is["operationId"], was["operationId"])
			}
			if c.announced(was) {
				continue
			}
			c.parameters(name, was, is)
			c.body(name, was, is)
			c.responses(name, was, is)
			c.security(name, was, is)
		}
	}
}

// announced reports whether an operation of the older document was there by name alone: it took
// no body, and all that it could succeed with was an object without a field. Nobody can
// depend on what it does.
func (c *comparison) announced(was map[string]any) bool {
	if was["requestBody"] != nil {
		return false
	}
	answers := 0
	for status, r := range members(was["responses"]) {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		answers++
		media := members(members(resolve(c.older, r)["content"])["application/json"])
		schema := resolve(c.older, media["schema"])
		if schema["type"] != "object" || len(members(schema["properties"])) > 0 || schema["additionalProperties"] != nil {
			return false
		}
	}
	return answers > 0
}

func (c *comparison) parameters(name string, was, is map[string]any) {
	index := func(doc map[string]any, of any) map[string]map[string]any {
		out := map[string]map[string]any{}
		for _, p := range list(of) {
			p := resolve(doc, p)
			out[fmt.Sprintf("%v parameter %v", p["in"], p["name"])] = p
		}
		return out
	}
	older, newer := index(c.older, was["parameters"]), index(c.newer, is["parameters"])
	for _, p := range slices.Sorted(maps.Keys(older)) {
		where := name + " " + p
		if newer[p] == nil {
			c.add(where, "is removed")
			continue
		}
		if newer[p]["required"] == true && older[p]["required"] != true {
			c.add(where, "is required now")
		}
		c.compareRequest(where, older[p]["schema"], newer[p]["schema"])
	}
	for _, p := range slices.Sorted(maps.Keys(newer)) {
		if older[p] == nil && newer[p]["required"] == true {
			c.add(name+" "+p, "is new and required")
		}
	}
}

func (c *comparison) body(name string, was, is map[string]any) {
	older, newer := resolve(c.older, was["requestBody"]), resolve(c.newer, is["requestBody"])
	if newer["required"] == true && older["required"] != true {
		c.add(name+" request body", "is required now")
	}
	for _, media := range ordered(members(older["content"])) {
		where := name + " request body"
		to, ok := members(newer["content"])[media]
		if !ok {
			c.add(where, "is no longer taken as %s", media)
			continue
		}
		c.compareRequest(where, members(members(older["content"])[media])["schema"], members(to)["schema"])
	}
}

func (c *comparison) responses(name string, was, is map[string]any) {
	for _, status := range ordered(members(was["responses"])) {
		where := name + " status " + status
		to, ok := members(is["responses"])[status]
		if !ok {
			c.add(where, "is removed")
			continue
		}
		older, newer := resolve(c.older, members(was["responses"])[status]), resolve(c.newer, to)
		for _, h := range ordered(members(older["headers"])) {
			if _, ok := members(newer["headers"])[h]; !ok {
				c.add(where, "no longer has the header %s", h)
			}
		}
		for _, media := range ordered(members(older["content"])) {
			to, ok := members(newer["content"])[media]
			if !ok {
				c.add(where, "is no longer answered as %s", media)
				continue
			}
			from := members(members(older["content"])[media])["schema"]
			if status >= "400" {
				have := codesIn(c.newer, members(to)["schema"])
				for _, code := range codesIn(c.older, from) {
					if !slices.Contains(have, code) {
						c.add(where, "no longer has the code %s", code)
					}
				}
			}
			c.compareResponse(where, from, members(to)["schema"])
		}
	}
}

// codesIn lists the error codes that a body of an error can hold.
func codesIn(doc map[string]any, schema any) []string {
	var out []string
	var walk func(v any, depth int)
	walk = func(v any, depth int) {
		s := resolve(doc, v)
		if depth > 3 { // a choice of bodies, the body, its member error
			return
		}
		for _, alternative := range list(s["oneOf"]) {
			walk(alternative, depth+1)
		}
		for _, name := range ordered(members(s["dependentSchemas"])) {
			walk(members(s["dependentSchemas"])[name], depth+1)
		}
		properties := members(s["properties"])
		if e, ok := properties["error"]; ok {
			walk(e, depth+1)
		}
		for _, code := range list(members(properties["code"])["enum"]) {
			out = append(out, fmt.Sprint(code))
		}
	}
	walk(schema, 0)
	slices.Sort(out)
	return out
}

func (c *comparison) security(name string, was, is map[string]any) {
	schemes := func(of any) map[string]bool {
		out := map[string]bool{}
		for _, s := range list(of) {
			for n := range members(s) {
				out[n] = true
			}
		}
		return out
	}
	newer := schemes(is["security"])
	if len(list(was["security"])) == 0 && len(newer) > 0 {
		c.add(name, "needs a key now")
		return
	}
	for _, s := range slices.Sorted(maps.Keys(schemes(was["security"]))) {
		if !newer[s] && len(list(is["security"])) > 0 {
			c.add(name, "is closed to %s", s)
		}
	}
}

// firstVisit reports whether a pair of references has not been compared yet.
func (c *comparison) firstVisit(direction string, was, is any) bool {
	a, ok1 := members(was)["$ref"].(string)
	b, ok2 := members(is)["$ref"].(string)
	if !ok1 || !ok2 {
		return true
	}
	key := direction + " " + a + " " + b + " " + fmt.Sprint(len(members(was)), len(members(is)))
	done := c.seen[key]
	c.seen[key] = true
	return !done
}

// types lists what a schema allows; nil: anything.
func types(s map[string]any) []string {
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, v := range t {
			out = append(out, fmt.Sprint(v))
		}
		return out
	}
	return nil
}

// covers reports whether a value of a type is of one of others.
func covers(others []string, t string) bool {
	return others == nil || slices.Contains(others, t) || t == "integer" && slices.Contains(others, "number")
}

// compareRequest compares what may be sent: the newer schema has to take all that the
// older one took.
func (c *comparison) compareRequest(where string, older, newer any) {
	if !c.firstVisit("request", older, newer) || !c.enter() {
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	was, is := resolve(c.older, older), resolve(c.newer, newer)
	if c.alternatives(where, older, newer, true) {
		return
	}
	c.compareBounds(where, was, is)
	for _, name := range ordered(members(was["properties"])) {
		at := where + ": " + name
		to, ok := members(is["properties"])[name]
		switch {
		case ok:
			c.compareRequest(at, members(was["properties"])[name], to)
		default:
			c.add(at, "is removed")
		}
	}
	for _, name := range list(is["required"]) {
		if !slices.Contains(list(was["required"]), name) {
			c.add(fmt.Sprintf("%s: %v", where, name), "is required now")
		}
	}
	if is["additionalProperties"] == false && was["additionalProperties"] != false {
		c.add(where, "no longer takes other fields")
	}
	c.compareNested(where, was, is, true)
}

// compareNested compares the schemas of items, of other fields and of names.
func (c *comparison) compareNested(where string, was, is map[string]any, request bool) {
	for _, k := range []struct{ keyword, what string }{{"items", "item"}, {"additionalProperties", "other field"},
		{"propertyNames", "name"}, {"contentSchema", "line"}} {
		from, to, at := members(was[k.keyword]), members(is[k.keyword]), where+": "+k.what
		switch {
		case from != nil && to != nil && request:
			c.compareRequest(at, from, to)
		case from != nil && to != nil:
			c.compareResponse(at, from, to)
		case to != nil && request && was[k.keyword] != false:
			c.add(at, "has rules now")
		}
	}
}

// compareBounds compares the keywords that bound one value.
func (c *comparison) compareBounds(where string, was, is map[string]any) {
	was, is = listed(was), listed(is)
	allowed, before := types(is), types(was)
	if before == nil && allowed != nil && was["enum"] == nil && was["const"] == nil {
		c.add(where, "takes only %s now", strings.Join(allowed, ", "))
	}
	for _, t := range before {
		if !covers(allowed, t) {
			c.add(where, "no longer takes %s", t)
		}
	}
	if values, ok := is["enum"]; ok || is["const"] != nil {
		now := list(values)
		if !ok {
			now = []any{is["const"]}
		}
		old := list(was["enum"])
		if was["const"] != nil {
			old = []any{was["const"]}
		}
		if old == nil {
			c.add(where, "takes only listed values now")
		}
		for _, v := range old {
			if !slices.ContainsFunc(now, func(w any) bool { return reflect.DeepEqual(v, w) }) {
				c.add(where, "no longer takes the value %v", v)
			}
		}
	}
	for _, b := range []struct {
		keyword string
		none    float64 // what stands for no bound
	}{{"maximum", math.Inf(1)}, {"maxLength", math.Inf(1)}, {"maxItems", math.Inf(1)}, {"maxProperties", math.Inf(1)},
		{"minimum", math.Inf(-1)}, {"minLength", 0}, {"minItems", 0}, {"minProperties", 0}} {
		bound := func(s map[string]any) float64 {
			if f, ok := s[b.keyword].(float64); ok {
				return f
			}
			return b.none
		}
		from, to := bound(was), bound(is)
		if upper := b.none > 0; upper && to < from || !upper && to > from {
			c.add(where, "has the %s %s instead of %s", b.keyword, number(to), number(from))
		}
	}
	for _, keyword := range []string{"pattern", "format", "not", "if", "then", "else", "dependentSchemas"} {
		if v, ok := is[keyword]; ok && !reflect.DeepEqual(spelled(v), spelled(was[keyword])) &&
			(keyword != "dependentSchemas" || !fewer(was[keyword], known(v, was))) &&
			(keyword != "not" || !within(v, was[keyword])) &&
			(keyword != "format" || v == "date-time" || v == "date") {
			c.add(where, "has another %s", keyword)
		}
	}
	if is["uniqueItems"] == true && was["uniqueItems"] != true {
		c.add(where, "no longer takes equal items")
	}
}

// fewer reports whether one of two sets of conditions has nothing but conditions of the
// other: each says more about what is taken.
func fewer(of, set any) bool {
	all, _ := of.(map[string]any)
	some, ok := set.(map[string]any)
	for key, condition := range some {
		ok = ok && reflect.DeepEqual(spelled(condition), spelled(all[key]))
	}
	return ok
}

// known leaves out the conditions on properties that the older schema did not have: none
// of its clients sends them.
func known(conditions any, older map[string]any) any {
	all := maps.Clone(members(conditions))
	maps.DeleteFunc(all, func(name string, _ any) bool { return members(older["properties"])[name] == nil })
	return all
}

// within reports whether a schema takes nothing that an older one did not take, as far as
// it says no more than the older one and more of properties, which the older one leaves open.
func within(newer, older any) bool {
	if reflect.DeepEqual(spelled(newer), spelled(older)) {
		return true
	}
	is, was := members(newer), members(older)
	if len(is) != 1 || len(was) != 1 || was["properties"] == nil {
		return false
	}
	for name, s := range members(was["properties"]) {
		if now, ok := members(is["properties"])[name]; !ok || !within(now, s) {
			return false
		}
	}
	return true
}

// listed gives a schema of truth values without one of them, {type: boolean, not: {const:
// false}}, as the list of those that are left, which is another way to say so.
func listed(s map[string]any) map[string]any {
	not := members(s["not"])
	without, ok := not["const"].(bool)
	names := types(s)
	if !ok || len(not) > 1 || s["enum"] != nil || names == nil {
		return s
	}
	var values []any
	for _, name := range names {
		switch name {
		case "boolean":
			values = append(values, !without)
		case "null":
			values = append(values, nil)
		default:
			return s
		}
	}
	s = maps.Clone(s)
	delete(s, "not")
	s["enum"] = values
	return s
}

// spelled writes a condition in one way: true is the schema that takes anything, {},
// and false the one that takes nothing, {not: {}}.
func spelled(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = spelled(v[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, value := range v {
			if name != "const" && name != "enum" { // those hold values
				value = spelled(value)
			}
			out[name] = value
		}
		if len(out) == 0 {
			return true
		}
		if len(out) == 1 && out["not"] == true {
			return false
		}
		return out
	}
	return v
}

func number(f float64) string {
	if math.IsInf(f, 0) {
		return "none"
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// compareResponse compares what is read: the newer schema may not give what the older one
// did not promise, but for more fields and more listed values.
func (c *comparison) compareResponse(where string, older, newer any) {
	if !c.firstVisit("answer", older, newer) || !c.enter() {
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	was, is := resolve(c.older, older), resolve(c.newer, newer)
	if c.alternatives(where, older, newer, false) {
		return
	}
	promised, given := types(was), types(is)
	if given == nil && promised != nil && is["enum"] == nil && is["const"] == nil {
		c.add(where, "is no longer %s alone", strings.Join(promised, " or "))
	}
	for _, t := range given {
		if !covers(promised, t) {
			c.add(where, "may be %s now", t)
		}
	}
	if f, ok := was["format"].(string); ok && is["format"] != f {
		c.add(where, "is no longer in the format %s", f)
	}
	for _, name := range ordered(members(was["properties"])) {
		at := where + ": " + name
		to, ok := members(is["properties"])[name]
		if !ok {
			c.add(at, "is removed")
			continue
		}
		if slices.Contains(list(was["required"]), any(name)) && !slices.Contains(list(is["required"]), any(name)) {
			c.add(at, "may be absent now")
		}
		c.compareResponse(at, members(was["properties"])[name], to)
	}
	c.compareNested(where, was, is, false)
}

// forms is what a schema offers that has no choice: a form for each of its types.
func forms(doc map[string]any, v any) []any {
	s := resolve(doc, v)
	names := types(s)
	if len(names) < 2 {
		return []any{v}
	}
	out := make([]any, len(names))
	for i, name := range names {
		one := maps.Clone(s)
		one["type"] = name
		out[i] = one
	}
	return out
}

// alternatives compares schemas of which one offers a choice. Of a request each
// older one has to be taken by a newer one, of an answer each newer one has to be
// like an older one.
func (c *comparison) alternatives(where string, older, newer any, request bool) bool {
	choice := func(doc map[string]any, v any) []any {
		s := resolve(doc, v)
		for _, keyword := range []string{"anyOf", "oneOf"} {
			if l := list(s[keyword]); l != nil {
				return l
			}
		}
		return nil
	}
	was, is := choice(c.older, older), choice(c.newer, newer)
	if was == nil && is == nil {
		return false
	}
	if was == nil {
		was = forms(c.older, older)
	}
	if is == nil {
		is = forms(c.newer, newer)
	}
	each, others := was, is
	if !request {
		each, others = is, was
	}
	for i, one := range each {
		var best []Break
		found := false
		for _, other := range others {
			probe := &comparison{older: c.older, newer: c.newer, seen: maps.Clone(c.seen), depth: c.depth, left: c.left}
			if request {
				probe.compareRequest(where, one, other)
			} else {
				probe.compareResponse(where, other, one)
			}
			if len(probe.breaks) == 0 {
				found = true
				break
			}
			if best == nil || len(probe.breaks) < len(best) {
				best = probe.breaks
			}
		}
		switch {
		case found:
		case len(each) == 1 || len(each) == len(others):
			c.breaks = append(c.breaks, best...)
		case request:
			c.add(where, "no longer takes form %d of what it took", i+1)
		default:
			c.add(where, "may have another form now (%d)", i+1)
		}
	}
	return true
}
