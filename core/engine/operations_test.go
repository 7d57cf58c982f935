package engine_test

import (
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

// Every limit that a tag of an operation's request declares is held where the call
// of any transport passes: at the limit the request is taken, and one beyond it is
// refused with the tag's code and the field's path. What the tags mean is said here
// a second time, apart from core/constraint.
func TestEveryTaggedLimitIsHeldAtItsEdge(t *testing.T) {
	set := engine.Operations()
	edges := 0
	for _, r := range set.Routes() {
		t.Run(r.Spec.Name, func(t *testing.T) {
			w := walk{t: t, route: r}
			w.fields(r.In, "", func(in reflect.Value) reflect.Value { return in })
			edges += w.edges
		})
	}
	t.Logf("%d edges", edges)
	if edges < 300 {
		t.Errorf("only %d edges were tried", edges)
	}
}

// walk tries the edges of one operation's request.
type walk struct {
	t     *testing.T
	route *op.Route
	edges int
}

// call asks the endpoint, which stands before no service, and tells its fault; nil
// means that the request went on to the service.
func (w *walk) call(in reflect.Value) (f *fault.Error) {
	defer func() {
		if recover() != nil { // in the service that is not there
			f = nil
		}
	}()
	_, err := w.route.Endpoint(context.Background(), &op.Call{
		Spec:   &w.route.Spec,
		Decode: func(_ context.Context, dst any) error { reflect.ValueOf(dst).Elem().Set(in); return nil },
	})
	return fault.From(err)
}

// try sets one value of an otherwise valid request.
func (w *walk) try(path, what string, at func(reflect.Value) reflect.Value, set func(reflect.Value), code fault.Code) {
	w.t.Helper()
	w.edges++
	in := reflect.New(w.route.In).Elem()
	fill(in)
	set(at(in))
	f := w.call(in)
	switch {
	case code == "" && f != nil && strings.Contains(f.Message, "works only with"): // a rule over several fields
	case code == "" && f != nil && strings.HasPrefix(f.Message, path+": "):
		w.t.Errorf("%s %s: refused: %v", path, what, f)
	case code != "" && (f == nil || f.Code != code || !strings.HasPrefix(f.Message, path+": ")):
		w.t.Errorf("%s %s: got %v, want %s", path, what, f, code)
	}
}

// fields tries the fields of a struct. at finds the struct in a request.
func (w *walk) fields(t reflect.Type, prefix string, at func(reflect.Value) reflect.Value) {
	label := ""
	for i := range t.NumField() {
		f := t.Field(i)
		name, _ := naming(f)
		here := func(in reflect.Value) reflect.Value { return at(in).Field(i) }
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			w.fields(f.Type, prefix, here)
			continue
		}
		if !f.IsExported() || name == "" {
			continue
		}
		path := prefix + name
		if label != "" && prefix != "" {
			path = strings.TrimSuffix(prefix, ".") + label + "." + name
		}
		w.field(f, path, strings.TrimSuffix(prefix, "."), here)
		if f.Tag.Get("label") == "true" {
			label = fmt.Sprintf(" (%s %s)", name, "a")
		}
	}
}

// naming is a field's name and whether it may be left out.
func naming(f reflect.StructField) (name string, optional bool) {
	for _, in := range []string{"path", "query", "header"} {
		if name := f.Tag.Get(in); name != "" {
			return name, in != "path" && f.Tag.Get("required") != "true"
		}
	}
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" {
		return "", false
	}
	return name, strings.Contains(options, "omit")
}

var (
	textType = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonType = reflect.TypeFor[json.Unmarshaler]()
)

// forms are texts at and beyond the edges of the forms of names.
var forms = map[string]struct {
	taken, refused []string
	code           fault.Code
}{
	"NamespaceName": {[]string{"a", strings.Repeat("a", 64)}, []string{"", "A", strings.Repeat("a", 65)}, fault.InvalidNamespace},
	"DocumentID":    {[]string{"a", strings.Repeat("a", 256)}, []string{"", "-", strings.Repeat("a", 257)}, fault.InvalidID},
	"EndUserID": {[]string{"a", strings.Repeat("a", 128)}, []string{"", ":", strings.Repeat("a", 129)},
		fault.InvalidEndUserID},
	"ContainerTag": {[]string{"a", strings.Repeat("a", 128)}, []string{"@", strings.Repeat("a", 129)},
		fault.InvalidContainerTag},
	"SourceName": {[]string{"a", strings.Repeat("a", 128)}, []string{"", "-", strings.Repeat("a", 129)}, fault.InvalidSource},
	"ExternalID": {[]string{"a", strings.Repeat("a", 256)}, []string{"", "-", strings.Repeat("a", 257)},
		fault.InvalidExternalID},
	"Text":    {[]string{"a b", "ä"}, []string{"a\x00"}, ""},
	"Content": {[]string{" a"}, []string{" ", "\u3000", "a\x00"}, ""},
}

// patterned are texts at and beyond the edges of the patterns in use.
var patterned = map[string]struct{ taken, refused []string }{
	`^$`: {taken: []string{""}, refused: []string{"x", " "}},
	`^[^@ \u0000-\u001f\u007f]{1,64}@[^@ \u0000-\u001f\u007f]{1,189}$`: {
		taken:   []string{"a@b", "ä@ö", strings.Repeat("a", 64) + "@" + strings.Repeat("b", 189)},
		refused: []string{"", "a", "@b", "a@", "a@b@c", "a b@c", "a@b\n", strings.Repeat("a", 65) + "@b"},
	},
	`^[!-~]{1,255}$`:            {[]string{"!", strings.Repeat("~", 255)}, []string{"", "a b", strings.Repeat("~", 256)}},
	`^[A-Za-z0-9@._-]{1,112}$`:  {[]string{"a@b", strings.Repeat("a", 112)}, []string{"", "a:b", strings.Repeat("a", 113)}},
	`^[A-Za-z0-9._:-]{1,112}$`:  {[]string{"a.b", strings.Repeat("a", 112)}, []string{"", "a@b", strings.Repeat("a", 113)}},
	`^[^\u0000-\u001f\u007f]*$`: {[]string{"ä b"}, []string{"a\n", "a\x7f"}},
	`^[^\u0000]*$`:              {[]string{"ä\nb\x7f"}, []string{"\x00", "a\x00b"}},
	`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`: {[]string{"a", "A" + strings.Repeat("-", 63)},
		[]string{"-a", strings.Repeat("a", 65), "a b"}},
	`^[A-Za-z0-9@._-]{1,128}$`: {[]string{".", strings.Repeat("a", 128)},
		[]string{"", ":", strings.Repeat("a", 129)}},
	`^[1-9][0-9]{0,18}:[0-9a-f]{64}$`: {[]string{"1:" + strings.Repeat("a", 64)},
		[]string{"0:" + strings.Repeat("a", 64), "1:" + strings.Repeat("a", 63), "1:" + strings.Repeat("A", 64)}},
	`^([a-z0-9][a-z0-9_-]{0,63})?$`: {[]string{"", "a"}, []string{"A", strings.Repeat("a", 65)}},
}

func (w *walk) field(f reflect.StructField, path, parent string, at func(reflect.Value) reflect.Value) {
	code := fault.Code(f.Tag.Get("fault"))
	if code == "" {
		code = fault.InvalidRequest
	}
	limit := code
	form, formed := forms[f.Tag.Get("schema")]
	if formed && form.code != "" && f.Tag.Get("fault") == "" {
		limit = form.code
	}
	if c := f.Tag.Get("limitFault"); c != "" {
		limit = fault.Code(c)
	}
	_, optional := naming(f)
	if f.Type.Kind() == reflect.Pointer && !optional {
		w.try(path, "left out", at, func(v reflect.Value) { v.SetZero() }, code)
	}
	if f.Type.Kind() == reflect.String && (f.Tag.Get("required") == "true" || f.Tag.Get("minLength") == "1") && !formed {
		w.try(path, "empty", at, func(v reflect.Value) { v.SetString("") }, code)
	}
	// there makes the value that the field may point to.
	there := func(in reflect.Value) reflect.Value {
		v := at(in)
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		return v
	}
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	raw := t == reflect.TypeFor[json.RawMessage]()
	switch {
	case raw || reflect.PointerTo(t).Implements(jsonType):
	case t.Kind() == reflect.Slice:
		w.list(f, t, path, code, limit, there)
	case t.Kind() == reflect.Map:
		w.entries(f, t, path, code, limit, there)
	case t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(textType):
		w.fields(t, path+".", there)
	default:
		if f.Tag.Get("at") == "parent" {
			path = parent
		}
		w.value(f, t, path, limit, there)
	}
}

func (w *walk) list(f reflect.StructField, t reflect.Type, path string, code, limit fault.Code,
	at func(reflect.Value) reflect.Value) {
	length := func(n int) func(reflect.Value) {
		return func(v reflect.Value) {
			v.Set(reflect.MakeSlice(t, n, n))
			for i := range n {
				fill(v.Index(i))
				fillText(v.Index(i), f.Tag, i)
			}
		}
	}
	if n, ok := number(f.Tag.Get("minItems")); ok {
		w.try(path, "with the fewest items", at, length(n), "")
		w.try(path, "with too few items", at, length(n-1), code)
	}
	if n, ok := number(f.Tag.Get("maxItems")); ok {
		w.try(path, "with the most items", at, length(n), "")
		w.try(path, "with too many items", at, length(n+1), code)
	}
	item := func(in reflect.Value) reflect.Value {
		v := at(in)
		length(1)(v)
		return v.Index(0)
	}
	e := t.Elem()
	switch {
	case f.Tag.Get("enum") != "":
		for _, v := range strings.Split(f.Tag.Get("enum"), ",") {
			w.try(path, v, item, text(v), "")
		}
		w.try(path, "with another", item, text("another"), code)
	case reflect.PointerTo(e).Implements(jsonType):
	case e.Kind() == reflect.Struct:
		w.fields(e, path+"[0].", item)
	default:
		w.value(f, e, path+"[0]", limit, item)
	}
}

func (w *walk) entries(f reflect.StructField, t reflect.Type, path string, code, limit fault.Code,
	at func(reflect.Value) reflect.Value) {
	keys := []string{"a"}
	if k := f.Tag.Get("keys"); k != "" {
		keys = strings.Split(k, ",")
	}
	with := func(name string, change func(reflect.Value)) func(reflect.Value) {
		return func(v reflect.Value) {
			e := reflect.New(t.Elem()).Elem()
			fill(e)
			if e.Kind() == reflect.Float64 {
				e.SetFloat(1)
			}
			change(e)
			v.Set(reflect.MakeMap(t))
			v.SetMapIndex(reflect.ValueOf(name), e)
		}
	}
	none := func(reflect.Value) {}
	for _, k := range keys {
		w.try(path, k, at, with(k, none), "")
	}
	if f.Tag.Get("keys") != "" {
		w.try(path+".other", "unknown", at, with("other", none), code)
	}
	if f.Tag.Get("minProperties") == "1" {
		w.try(path, "empty", at, func(v reflect.Value) { v.Set(reflect.MakeMap(t)) }, code)
	}
	for _, e := range valueEdges(f.Tag, t.Elem()) {
		w.try(path+"."+keys[0], e.what, at, with(keys[0], e.set), e.code(limit))
	}
	if t.Elem().Kind() != reflect.Struct {
		return
	}
	for i := range t.Elem().NumField() { // one level is what requests have
		n := t.Elem().Field(i)
		name, _ := naming(n)
		vt, pointer := n.Type, n.Type.Kind() == reflect.Pointer
		if pointer {
			vt = vt.Elem()
			w.try(path+"."+keys[0]+"."+name, "left out", at, with(keys[0], func(v reflect.Value) { v.Field(i).SetZero() }), code)
		}
		where := path + "." + keys[0]
		if n.Tag.Get("at") != "parent" {
			where += "." + name
		}
		for _, e := range valueEdges(n.Tag, vt) {
			w.try(where, name+" "+e.what, at, with(keys[0], func(v reflect.Value) {
				if pointer {
					p := reflect.New(vt)
					e.set(p.Elem())
					v.Field(i).Set(p)
					return
				}
				e.set(v.Field(i))
			}), e.code(limit))
		}
	}
}

func (w *walk) value(f reflect.StructField, t reflect.Type, path string, limit fault.Code, at func(reflect.Value) reflect.Value) {
	for _, e := range valueEdges(f.Tag, t) {
		w.try(path, e.what, at, e.set, e.code(limit))
	}
}

// edge is a value at a limit or one beyond it.
type edge struct {
	what   string
	set    func(reflect.Value)
	beyond bool
	large  bool // it is more than may be sent
}

func (e edge) code(limit fault.Code) fault.Code {
	switch {
	case !e.beyond:
		return ""
	case e.large:
		return fault.PayloadTooLarge
	}
	return limit
}

func valueEdges(tag reflect.StructTag, t reflect.Type) (out []edge) {
	add := func(what string, beyond bool, set func(reflect.Value)) {
		out = append(out, edge{what, set, beyond, false})
	}
	switch {
	case t.Kind() == reflect.Bool:
		if v := tag.Get("enum"); v != "" {
			want := v == "true"
			add(v, false, func(v reflect.Value) { v.SetBool(want) })
			add("not "+v, true, func(v reflect.Value) { v.SetBool(!want) })
		}
	case t.Kind() == reflect.Float64:
		for name, sign := range map[string]float64{"minimum": -1, "maximum": 1} {
			if n, ok := number(tag.Get(name)); ok {
				add(name, false, func(v reflect.Value) { v.SetFloat(float64(n)) })
				add("beyond "+name, true, func(v reflect.Value) { v.SetFloat(math.Nextafter(float64(n), sign*math.Inf(1))) })
			}
		}
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		for name, sign := range map[string]int{"minimum": -1, "maximum": 1} {
			if n, ok := number(tag.Get(name)); ok {
				add(name, false, func(v reflect.Value) { v.SetInt(int64(n)) })
				add("beyond "+name, true, func(v reflect.Value) { v.SetInt(int64(n + sign)) })
			}
		}
	default:
		return textEdges(tag)
	}
	return out
}

func textEdges(tag reflect.StructTag) (out []edge) {
	add := func(s string, beyond bool) {
		out = append(out, edge{fmt.Sprintf("%.20q of %d", s, len(s)), text(s), beyond, false})
	}
	both := func(taken, refused []string) {
		for _, s := range taken {
			add(s, false)
		}
		for _, s := range refused {
			add(s, true)
		}
	}
	form := forms[tag.Get("schema")]
	both(form.taken, form.refused)
	if p := tag.Get("pattern"); p != "" {
		known, ok := patterned[p]
		if !ok {
			panic("the test does not know the pattern " + p)
		}
		both(known.taken, known.refused)
	}
	if p := tag.Get("not"); p != "" {
		add(strings.TrimPrefix(p, "^")+"a", true)
	}
	if e := tag.Get("enum"); e != "" {
		both(strings.Split(e, ","), []string{"another"})
	}
	if n, ok := number(tag.Get("maxLength")); ok {
		both([]string{strings.Repeat("ä", n)}, []string{strings.Repeat("a", n+1)})
	}
	if n, ok := number(tag.Get("minLength")); ok {
		both([]string{strings.Repeat("ä", n)}, nil)
	}
	if n, ok := number(tag.Get("maxBytes")); ok {
		add(strings.Repeat("ä", n/2), false)
		over := strings.Repeat("ä", n/2) + "a"
		out = append(out, edge{"too many bytes", text(over), true, true})
	}
	return out
}

func text(s string) func(reflect.Value) {
	return func(v reflect.Value) {
		if v.Kind() == reflect.String {
			v.SetString(s)
			return
		}
		if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s)); err != nil {
			panic(err)
		}
	}
}

func number(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	if s != "" && err != nil {
		panic(errors.New("no number: " + s))
	}
	return n, err == nil
}

// fill gives a value what it needs to be valid, and nothing that may be left out.
func fill(v reflect.Value) {
	if v.Kind() != reflect.Struct || reflect.PointerTo(v.Type()).Implements(textType) ||
		reflect.PointerTo(v.Type()).Implements(jsonType) {
		return
	}
	for i := range v.NumField() {
		f, at := v.Type().Field(i), v.Field(i)
		name, optional := naming(f)
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			fill(at)
			continue
		}
		if !f.IsExported() || name == "" || optional {
			continue
		}
		if at.Kind() == reflect.Pointer {
			at.Set(reflect.New(f.Type.Elem()))
			at = at.Elem()
		}
		switch at.Kind() {
		case reflect.Slice:
			if at.Type() == reflect.TypeFor[json.RawMessage]() {
				continue
			}
			at.Set(reflect.MakeSlice(at.Type(), 1, 1))
			fill(at.Index(0))
			fillText(at.Index(0), f.Tag, 0)
		case reflect.Int, reflect.Int64:
			n, _ := number(f.Tag.Get("minimum"))
			at.SetInt(int64(n))
		default:
			fill(at)
			fillText(at, f.Tag, 0)
		}
	}
}

// fillText gives a text its least value; several of a list differ.
func fillText(v reflect.Value, tag reflect.StructTag, n int) {
	if v.Kind() != reflect.String {
		return
	}
	v.SetString("a")
	if n > 0 && !slices.Contains([]string{"Text", "Content"}, tag.Get("schema")) {
		v.SetString("a" + strconv.Itoa(n))
	}
	if e, _, _ := strings.Cut(tag.Get("enum"), ","); e != "" {
		v.SetString(e)
	}
	if strings.Contains(tag.Get("pattern"), "@[") { // an address
		v.SetString("a@b")
	}
}
