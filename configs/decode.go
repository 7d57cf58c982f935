package configs

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// decoder walks a YAML tree beside the settings it fills and gathers every
// problem on the way instead of stopping at the first.
type decoder struct {
	registry  *registry.Registry
	getenv    func(string) (string, bool)
	file      string
	dir       string
	absent    func(path string, err error) // nil: what is absent is a problem
	unchecked map[string]bool              // the paths whose values were absent
	places    map[string]place             // of every path that was set
	anchors   map[string]ast.Node
	problems  Problems
	broken    bool // the file is not YAML: nothing else can be said about it
	depth     int
}

type place struct {
	file         string
	line, column int
}

// maxDepth is far above the deepest setting.
const maxDepth = 32

func (d *decoder) placeOf(n ast.Node) place {
	p := place{file: d.file, line: 1, column: 1}
	if n != nil && n.GetToken() != nil && n.GetToken().Position != nil {
		// A block mapping's own token is the first colon; its first key is where a reader looks.
		if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
			return d.placeOf(m.Values[0].Key)
		}
		if m, ok := n.(*ast.MappingValueNode); ok {
			return d.placeOf(m.Key)
		}
		p.line, p.column = n.GetToken().Position.Line, n.GetToken().Position.Column
	}
	return p
}

func (d *decoder) problem(n ast.Node, path, format string, args ...any) {
	at := d.placeOf(n)
	d.problems = append(d.problems, Problem{
		File:   at.file,
		Line:   at.line,
		Column: at.column,
		Path:   path,
		Reason: fmt.Sprintf(format, args...),
	})
}

// at reports a problem of a path at the nearest place that set it or a parent.
func (d *decoder) at(path, format string, args ...any) {
	p := place{file: d.file}
	if p.file == "" {
		p.file = "defaults"
	}
	for up := path; ; {
		if found, ok := d.places[up]; ok {
			p = found
			break
		}
		i := strings.LastIndexAny(up, ".[")
		if i < 0 {
			break
		}
		up = up[:i]
	}
	d.problems = append(d.problems, Problem{
		File:   p.file,
		Line:   p.line,
		Column: p.column,
		Path:   path,
		Reason: fmt.Sprintf(format, args...),
	})
}

type pair struct {
	key   ast.Node
	name  string
	value ast.Node
}

// resolve follows anchors, aliases and tags to the node that holds the value.
func (d *decoder) resolve(n ast.Node) ast.Node {
	for range maxDepth {
		switch t := n.(type) {
		case *ast.AnchorNode:
			d.anchors[t.Name.GetToken().Value] = t.Value
			n = t.Value
		case *ast.AliasNode:
			target, ok := d.anchors[t.Value.GetToken().Value]
			if !ok {
				d.problem(n, "", "no anchor is named %q above this line", t.Value.GetToken().Value)
				return nil
			}
			n = target
		case *ast.TagNode:
			n = t.Value
		default:
			return n
		}
	}
	return nil
}

// pairs gives the entries of a mapping, or reports that the node is none.
func (d *decoder) pairs(n ast.Node, path, want string) ([]pair, bool) {
	n = d.resolve(n)
	var values []*ast.MappingValueNode
	switch t := n.(type) {
	case nil, *ast.NullNode:
		return nil, true // "server:" with nothing below changes nothing
	case *ast.MappingNode:
		values = t.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{t}
	default:
		d.problem(n, path, "want %s, found %s", want, describe(n))
		return nil, false
	}
	var all []pair
	seen := map[string]bool{}
	for _, v := range values {
		if _, merge := v.Key.(*ast.MergeKeyNode); merge {
			inner, _ := d.pairs(v.Value, path, "a mapping to merge")
			for _, p := range inner {
				if !slices.ContainsFunc(values, func(o *ast.MappingValueNode) bool { return keyName(o.Key) == p.name }) {
					all = append(all, p)
				}
			}
			continue
		}
		name := keyName(v.Key)
		if seen[name] {
			d.problem(v.Key, join(path, name), "this key is given twice")
			continue
		}
		seen[name] = true
		all = append(all, pair{v.Key, name, v.Value})
	}
	return all, true
}

func keyName(k ast.MapKeyNode) string {
	if s, ok := k.(*ast.StringNode); ok {
		return s.Value
	}
	return k.GetToken().Value
}

func (d *decoder) structure(n ast.Node, fields []registry.Field, into reflect.Value, path string) {
	entries, _ := d.pairs(n, path, "a mapping of settings")
	for _, e := range entries {
		sub := join(path, e.name)
		f, ok := find(fields, e.name)
		if !ok {
			known := make([]string, len(fields))
			for i, f := range fields {
				known[i] = f.Name
			}
			slices.Sort(known)
			hint := registry.Suggest(e.name, known)
			if hint == "" && len(known) > 0 {
				hint = "; known are " + strings.Join(known, ", ")
			}
			d.problem(e.key, sub, "unknown key%s", hint)
			continue
		}
		d.places[sub] = d.placeOf(e.key)
		d.value(e.value, f, into.FieldByIndex(f.Index), sub)
	}
}

func (d *decoder) value(n ast.Node, f registry.Field, into reflect.Value, path string) {
	if d.depth++; d.depth > maxDepth {
		d.problem(n, path, "nested too deeply")
		return
	}
	defer func() { d.depth-- }()
	switch f.Shape {
	case registry.Struct:
		d.structure(n, f.Fields, into, path)
	case registry.Select:
		d.selection(n, f, into, path)
	case registry.Map:
		entries, _ := d.pairs(n, path, "a mapping")
		if into.IsNil() && len(entries) > 0 {
			into.Set(reflect.MakeMap(f.Type))
		}
		for _, e := range entries {
			sub := join(path, e.name)
			if e.name == "" || strings.ContainsAny(e.name, ".[] \t\n") {
				d.problem(e.key, sub, "a name cannot be empty or hold a space, dot or bracket")
				continue
			}
			d.places[sub] = d.placeOf(e.key)
			v := reflect.New(f.Elem.Type).Elem()
			if old := into.MapIndex(reflect.ValueOf(e.name)); old.IsValid() {
				v.Set(old)
			}
			d.value(e.value, *f.Elem, v, sub)
			into.SetMapIndex(reflect.ValueOf(e.name), v)
		}
	case registry.List:
		seq, ok := d.resolve(n).(*ast.SequenceNode)
		if !ok {
			d.problem(n, path, "want a list, found %s", describe(d.resolve(n)))
			return
		}
		list := reflect.Zero(f.Type) // an empty list is the same as none
		if len(seq.Values) > 0 {
			list = reflect.MakeSlice(f.Type, len(seq.Values), len(seq.Values))
		}
		for i, item := range seq.Values {
			sub := fmt.Sprintf("%s[%d]", path, i)
			d.places[sub] = d.placeOf(item)
			d.value(item, *f.Elem, list.Index(i), sub)
		}
		into.Set(list)
	default:
		d.scalar(n, f, into, path)
	}
}

// selection reads "component: {its settings}".
func (d *decoder) selection(n ast.Node, f registry.Field, into reflect.Value, path string) {
	table, ok := d.registry.Table(f.Kind)
	if !ok {
		d.problem(n, path, "this binary has no %s components", f.Kind)
		return
	}
	var known []string
	for _, info := range table.Components() {
		if f.Retriever == "" || info.Serves(port.Retriever(f.Retriever)) {
			known = append(known, info.Name)
		}
	}
	offer := "one of " + strings.Join(known, ", ")
	// "storage: sqlite" is the short form of "storage: {sqlite: {}}".
	if s, ok := d.resolve(n).(*ast.StringNode); ok {
		name, err := interpolate(s.Value, d.dir, d.getenv)
		if err != nil {
			d.problem(n, path, "%v", err)
			return
		}
		if info, ok := table.Component(name); ok {
			d.choose(n, info, f, into, path, known)
			return
		}
		d.problem(n, path, "want a component, %s, found %q%s", offer, name, registry.Suggest(name, known))
		return
	}
	entries, ok := d.pairs(n, path, "a component, "+offer)
	if !ok {
		return
	}
	if len(entries) != 1 {
		d.problem(n, path, "want exactly one component, %s; found %d", offer, len(entries))
		return
	}
	e := entries[0]
	info, ok := table.Component(e.name)
	if !ok {
		if s := registry.Suggest(e.name, known); s != "" {
			offer += s
		}
		d.problem(e.key, join(path, e.name), "unknown %s component; want %s", f.Kind, offer)
		return
	}
	if s := d.choose(e.key, info, f, into, path, known); s.Config != nil {
		d.structure(e.value, info.Fields(), reflect.ValueOf(s.Config).Elem(), join(path, info.Name))
	}
}

func (d *decoder) choose(n ast.Node, info registry.Info, f registry.Field, into reflect.Value, path string,
	known []string) registry.Selection {
	if f.Retriever != "" && !info.Serves(port.Retriever(f.Retriever)) {
		d.problem(n, join(path, info.Name), "%s does not serve %s search; want one of %s", info.Name, f.Retriever,
			strings.Join(known, ", "))
		return registry.Selection{}
	}
	s := info.Select()
	d.places[join(path, info.Name)] = d.placeOf(n)
	into.Set(reflect.ValueOf(s))
	return s
}

func (d *decoder) scalar(n ast.Node, f registry.Field, into reflect.Value, path string) {
	n = d.resolve(n)
	var text string
	switch t := n.(type) {
	case nil:
		return
	case *ast.NullNode:
		d.problem(n, path, "has no value; want %s", wanted(f))
		return
	case *ast.StringNode:
		text = t.Value
	case *ast.LiteralNode:
		text = t.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		text = n.GetToken().Value
	default:
		d.problem(n, path, "want %s, found %s", wanted(f), describe(n))
		return
	}
	text, err := interpolate(text, d.dir, d.getenv)
	if d.absent != nil && errors.Is(err, errAbsent) {
		d.absent(path, err)
		d.unchecked[path] = true
		return
	}
	if err != nil {
		d.problem(n, path, "%v", err)
		return
	}
	if err := setScalar(f, into, text); err != nil {
		d.problem(n, path, "%v", err)
	}
}

// setScalar parses text into a setting.
func setScalar(f registry.Field, into reflect.Value, text string) error {
	if len(f.Enum) > 0 && !slices.Contains(f.Enum, text) {
		return fmt.Errorf("%q is not one of %s%s", text, strings.Join(f.Enum, ", "), registry.Suggest(text, f.Enum))
	}
	bad := func() error { return fmt.Errorf("%q is not %s", text, wanted(f)) }
	switch f.Shape {
	case registry.String, registry.Sensitive:
		into.SetString(text)
	case registry.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil || len(text) < 4 { // true and false; not t, 1 or 0
			return bad()
		}
		into.SetBool(b)
	case registry.Int:
		n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
		if err != nil || into.OverflowInt(n) {
			return bad()
		}
		into.SetInt(n)
	case registry.Float:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return bad()
		}
		into.SetFloat(x)
	case registry.Duration:
		t, err := time.ParseDuration(text)
		if err != nil {
			return bad()
		}
		into.SetInt(int64(t))
	case registry.Text:
		return into.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
	default:
		return fmt.Errorf("cannot be set from one value")
	}
	return nil
}

func wanted(f registry.Field) string {
	if len(f.Enum) > 0 {
		return "one of " + strings.Join(f.Enum, ", ")
	}
	switch f.Shape {
	case registry.Bool:
		return "true or false"
	case registry.Int:
		return "a whole number"
	case registry.Float:
		return "a number"
	case registry.Duration:
		return "a duration such as 10s or 5m"
	}
	return "a text"
}

func describe(n ast.Node) string {
	switch t := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.StringNode:
		return strconv.Quote(t.Value)
	}
	return strconv.Quote(n.GetToken().Value)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
