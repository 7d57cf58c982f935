package constraint

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mnemehq/mneme/core/fault"
)

// Plan is the checks of one struct type. It may be used concurrently.
type Plan struct {
	typ    reflect.Type
	fields []field
}

type field struct {
	name   string
	index  []int
	label  bool // its value names an item of a list in the paths of the fields after it
	parent bool // a broken bound is reported for the value that holds the field
	check  checker
}

// checker looks for a broken limit in a value; nil: there is none.
type checker func(v reflect.Value) *violation

// violation is a broken limit. Its path is built up from within.
type violation struct {
	path   string
	code   fault.Code
	reason string
	absent bool
}

// below puts a step before the path.
func (v *violation) below(step string) *violation {
	switch {
	case v.path == "":
		v.path = step
	case v.path[0] == '[' || v.path[0] == ' ':
		v.path = step + v.path
	default:
		v.path = step + "." + v.path
	}
	return v
}

var plans sync.Map // reflect.Type to *Plan

// For gives the plan of a struct type. It panics on a tag that it cannot read,
// which is a mistake in the program.
func For(t reflect.Type) *Plan {
	if p, ok := plans.Load(t); ok {
		return p.(*Plan)
	}
	p, err := (&compiler{seen: map[reflect.Type]*Plan{}}).plan(t)
	if err != nil {
		panic("constraint: " + err.Error())
	}
	kept, _ := plans.LoadOrStore(t, p)
	return kept.(*Plan)
}

// Check answers a fault about the first field of *in, in the order of the fields,
// that breaks a limit. in is a pointer to a struct.
func Check(in any) error { return CheckAt("", in) }

// CheckAt is Check of a struct that stands at a path of a request, such as
// "rerank"; "" is the request itself.
func CheckAt(path string, in any) error {
	v := reflect.ValueOf(in).Elem()
	broken := For(v.Type()).check(v)
	if broken == nil {
		return nil
	}
	if path != "" {
		broken = broken.below(path)
	}
	return fault.Field(broken.code, broken.path, "%s", broken.reason)
}

func (p *Plan) check(v reflect.Value) *violation {
	var label *field
	for i := range p.fields {
		f := &p.fields[i]
		at := v.FieldByIndex(f.index)
		if f.check != nil {
			if broken := f.check(at); broken != nil {
				if !f.parent || broken.absent {
					broken.below(f.name)
				}
				if label != nil {
					broken.path = fmt.Sprintf(" (%s %s).%s", label.name, v.FieldByIndex(label.index), broken.path)
				}
				return broken
			}
		}
		if f.label {
			label = f
		}
	}
	return nil
}

type compiler struct{ seen map[reflect.Type]*Plan }

func (c *compiler) plan(t reflect.Type) (*Plan, error) {
	if p, ok := c.seen[t]; ok {
		return p, nil
	}
	p := &Plan{typ: t}
	c.seen[t] = p // before its fields, which may be of the same type
	if err := c.fields(p, t, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	return p, nil
}

// fields adds t's fields, and those of the structs embedded in it, to the plan.
func (c *compiler) fields(p *Plan, t reflect.Type, index []int) error {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(slices.Clone(index), i)
		d := describe(f)
		if f.Anonymous && d.name == "" && f.Type.Kind() == reflect.Struct {
			if err := c.fields(p, f.Type, at); err != nil {
				return err
			}
			continue
		}
		if !f.IsExported() || d.name == "" {
			continue
		}
		check, err := c.field(f, d)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		label := f.Tag.Get("label") == "true"
		if check != nil || label {
			p.fields = append(p.fields, field{
				name:   d.name,
				index:  at,
				label:  label,
				parent: f.Tag.Get("at") == "parent",
				check:  check,
			})
		}
	}
	return nil
}

// description is how a field is found in a request.
type description struct {
	name     string // "": it is not part of a request
	optional bool
	required bool // so its tag says
}

func describe(f reflect.StructField) description {
	d := description{required: f.Tag.Get("required") == "true"}
	for _, in := range []string{"path", "query", "header"} {
		if name := f.Tag.Get(in); name != "" {
			d.name, d.optional = name, in != "path" && !d.required
			return d
		}
	}
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" {
		return d
	}
	d.name = name
	d.optional = strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
	return d
}

// field makes the check of a field: whether it is there, and then its value.
func (c *compiler) field(f reflect.StructField, d description) (checker, error) {
	r, err := rulesOf(f)
	if err != nil {
		return nil, err
	}
	pointer := f.Type.Kind() == reflect.Pointer
	t := f.Type
	if pointer {
		t = t.Elem()
	}
	value, err := c.value(t, r)
	if err != nil {
		return nil, err
	}
	absent := &violation{code: r.code, reason: "is required", absent: true}
	// An empty text is refused as absent; where a message tells its bounds, with them.
	nonempty := d.required || r.minLength > 0 && r.maxLength == 0
	switch {
	case pointer && d.optional && value == nil:
		return nil, nil
	case pointer:
		return func(v reflect.Value) *violation {
			switch {
			case !v.IsNil() && value != nil:
				return value(v.Elem())
			case v.IsNil() && !d.optional:
				return new(*absent)
			}
			return nil
		}, nil
	case t.Kind() == reflect.String && !d.optional && nonempty && r.format == nil:
		return func(v reflect.Value) *violation {
			switch {
			case v.Len() == 0:
				return new(*absent)
			case value != nil:
				return value(v)
			}
			return nil
		}, nil
	case t.Kind() == reflect.String && !d.optional && value != nil:
		missing := value(reflect.Zero(t))
		if missing == nil {
			return value, nil
		}
		missing.absent = true
		missing.reason = "is required, and " + strings.TrimSuffix(missing.reason, ", got 0")
		return func(v reflect.Value) *violation {
			if v.Len() == 0 {
				return new(*missing)
			}
			return value(v)
		}, nil
	case value != nil && d.optional:
		return func(v reflect.Value) *violation {
			if v.IsZero() {
				return nil
			}
			return value(v)
		}, nil
	}
	return value, nil
}

var (
	rawType       = reflect.TypeFor[json.RawMessage]()
	textType      = reflect.TypeFor[encoding.TextMarshaler]()
	unmarshalType = reflect.TypeFor[json.Unmarshaler]()
)

// value makes the check of a value that is there; nil: there is nothing to check.
func (c *compiler) value(t reflect.Type, r *rules) (checker, error) {
	switch {
	case t == rawType:
		return nil, nil // its service parses it
	case t.Kind() == reflect.Struct && t.Implements(textType):
		return r.marshaledText(), nil
	case reflect.PointerTo(t).Implements(unmarshalType):
		return nil, nil // it refuses what it does not take
	case t.Kind() == reflect.Map:
		return c.mapOf(t, r)
	}
	switch t.Kind() {
	case reflect.String:
		return r.text(), nil
	case reflect.Bool:
		return r.boolean()
	case reflect.Slice:
		return c.list(t, r)
	case reflect.Pointer:
		return c.value(t.Elem(), r)
	case reflect.Struct:
		p, err := c.plan(t)
		if err != nil {
			return nil, err
		}
		return p.check, nil
	}
	if numeric(t.Kind()) {
		return r.number(t)
	}
	return nil, nil
}

func numeric(k reflect.Kind) bool {
	return reflect.Int <= k && k <= reflect.Float64 && k != reflect.Uintptr
}

// list checks the number of items and then every item. A text that the tag enum
// does not list is reported for the list as a whole.
func (c *compiler) list(t reflect.Type, r *rules) (checker, error) {
	count := r.items()
	single := *r
	single.enum = nil
	item, err := c.value(t.Elem(), &single)
	if err != nil || item == nil && count == nil && r.enum == nil {
		return nil, err
	}
	return func(v reflect.Value) *violation {
		if count != nil {
			if broken := count(v); broken != nil {
				return broken
			}
		}
		for i := range v.Len() {
			if r.enum != nil && !slices.Contains(r.enum, v.Index(i).String()) {
				return r.malformed("must hold %s, not %q", either(r.enum), fault.Clip(v.Index(i).String()))
			}
			if item == nil {
				continue
			}
			if broken := item(v.Index(i)); broken != nil {
				return broken.below("[" + strconv.Itoa(i) + "]")
			}
		}
		return nil
	}, nil
}

// mapOf checks the number of entries, and then names and values in the order of the
// names.
func (c *compiler) mapOf(t reflect.Type, r *rules) (checker, error) {
	value, err := c.value(t.Elem(), r)
	if err != nil || value == nil && r.keys == nil && r.minProperties == 0 {
		return nil, err
	}
	return func(v reflect.Value) *violation {
		if v.Len() < r.minProperties {
			return r.malformed("must hold at least %d of %s", r.minProperties, either(r.keys))
		}
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, name := range names {
			if r.keys != nil && !slices.Contains(r.keys, name.String()) {
				return r.malformed("is not a known name, which is %s", either(r.keys)).below(fault.Clip(name.String()))
			}
			if value == nil {
				continue
			}
			entry := reflect.New(t.Elem()).Elem()
			entry.Set(v.MapIndex(name))
			if broken := value(entry); broken != nil {
				return broken.below(fault.Clip(name.String()))
			}
		}
		return nil
	}, nil
}
