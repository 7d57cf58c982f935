package codec

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
)

// InputSchema is the JSON Schema (2020-12) of the body of an In: strict objects,
// as Decode reads them. It refers to nothing outside itself and is kept small:
// metadata and filters are objects without their rules.
func InputSchema(t reflect.Type) *jsonschema.Schema { return (&Schemas{}).Input(t) }

// OutputSchema is the JSON Schema (2020-12) of an Out. Its objects are open:
// clients ignore fields that they do not know. It refers to nothing outside itself.
func OutputSchema(t reflect.Type) *jsonschema.Schema { return (&Schemas{}).Output(t) }

// Schemas makes JSON Schemas (2020-12) of Go types as the Decoder reads and the
// Encoder writes them. Struct tags narrow a field: doc is its description;
// minimum, maximum, minLength, maxLength, pattern, not (a pattern), minItems, maxItems,
// uniqueItems, minProperties, maxProperties, enum (with commas), default, format
// and example are the keywords of those names, where those of numbers and
// strings reach through lists and maps to their values; schema names a shape
// that several fields have (ident.Formats, Text, Content, Metadata, Filter); keys lists the
// names that a map may hold; alias names the field that another spelling is taken
// for, which the schema leaves out, since generators of clients in camel case
// could not tell the two apart; required:"true" is for path, query and header fields,
// since a body's field is required unless it has omitempty or omitzero.
type Schemas struct {
	// Refer keeps a named schema and gives the reference to it; nil: every schema
	// stands in the place where it is used. In a strict object unknown fields
	// are refused. build must be called at most once, after the name is known.
	Refer func(name Name, build func() *jsonschema.Schema) *jsonschema.Schema
}

// Name is what a schema is known by.
type Name struct {
	Type   reflect.Type // nil: a shape
	Strict bool         // of a request
	Shape  string       // as in the tag schema
}

// Parameter is a path, query or header field of an In.
type Parameter struct {
	Name, In, Doc string // In: path, query or header
	Required      bool
	List          bool // values separated by commas
	Schema        *jsonschema.Schema
}

// Input is the schema of the body of an In.
func (g *Schemas) Input(t reflect.Type) *jsonschema.Schema {
	if t.Kind() == reflect.Struct && g.Refer != nil {
		return g.Refer(Name{Type: t, Strict: true}, func() *jsonschema.Schema { return g.object(t, true) })
	}
	return g.object(t, true)
}

// Output is the schema of a value that is answered.
func (g *Schemas) Output(t reflect.Type) *jsonschema.Schema { return g.of(t, false) }

// HasBody reports whether an In has fields that come from the body.
func HasBody(t reflect.Type) bool {
	found := false
	each(t, func(f reflect.StructField, _ string, _ bool) { found = found || place(f) == "" })
	return found
}

// Parameters lists the path, query and header fields of an In.
func (g *Schemas) Parameters(t reflect.Type) []Parameter {
	var out []Parameter
	each(t, func(f reflect.StructField, _ string, _ bool) {
		in := place(f)
		if in == "" {
			return
		}
		ft := f.Type
		if ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		s := g.of(ft, true)
		if name := f.Tag.Get("schema"); name != "" {
			s = g.shape(name, ft)
		}
		constrain(s, ft, f.Tag)
		out = append(out, Parameter{
			Name:     f.Tag.Get(in),
			In:       in,
			Doc:      f.Tag.Get("doc"),
			Required: in == "path" || f.Tag.Get("required") == "true",
			List:     ft.Kind() == reflect.Slice,
			Schema:   s,
		})
	})
	return out
}

// place says where a field of an In comes from; "" is the body.
func place(f reflect.StructField) string {
	for _, in := range []string{"path", "query", "header"} {
		if f.Tag.Get(in) != "" {
			return in
		}
	}
	return ""
}

// each calls fn for the fields that a struct has in JSON, those of embedded
// structs among them.
func each(t reflect.Type, fn func(f reflect.StructField, name string, optional bool)) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		ft := f.Type
		if ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		if f.Anonymous && name == "" && ft.Kind() == reflect.Struct {
			each(ft, fn)
			continue
		}
		if !f.IsExported() || place(f) == "" && (name == "" || name == "-") {
			continue
		}
		fn(f, name, strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero"))
	}
}

func (g *Schemas) object(t reflect.Type, strict bool) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	if strict {
		s.AdditionalProperties = jsonschema.FalseSchema
	}
	alternatives := map[string][]any{}
	if a, ok := zero(t).(op.Alternator); ok {
		alternatives = a.Alternatives()
	}
	each(t, func(f reflect.StructField, name string, optional bool) {
		if place(f) != "" || f.Tag.Get("alias") != "" {
			return
		}
		ft := f.Type
		nullable := false
		if ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
			// A pointer that the Encoder leaves out when nil is never written as
			// null; one that may be absent may as well be sent as null.
			nullable = strict == optional
		}
		var fs *jsonschema.Schema
		switch name, alternatives := f.Tag.Get("schema"), alternatives[name]; {
		case name != "" && nullable && ft.Kind() == reflect.String:
			// In its place: many generators of clients lose the null beside a reference.
			fs = shapeOf(name, "")
		case name != "":
			fs = g.shape(name, ft)
		case len(alternatives) > 0:
			fs = &jsonschema.Schema{}
			for _, v := range alternatives {
				if v == nil {
					nullable = true
					continue
				}
				fs.AnyOf = append(fs.AnyOf, g.of(reflect.TypeOf(v), strict))
			}
			if len(fs.AnyOf) == 1 {
				fs = fs.AnyOf[0]
			}
		default:
			fs = g.of(ft, strict)
		}
		constrain(fs, ft, f.Tag)
		if nullable {
			fs = orNull(fs)
		}
		fs.Description = f.Tag.Get("doc")
		s.Properties.Set(name, fs)
		if !optional {
			s.Required = append(s.Required, name)
		}
	})
	if more, ok := zero(t).(op.Schemer); ok && !jsonOfItsOwn(t) {
		s.Extras = parse(more.JSONSchema())
	}
	return s
}

func zero(t reflect.Type) any { return reflect.New(t).Interface() }

// jsonOfItsOwn reports whether a type marshals or unmarshals itself.
func jsonOfItsOwn(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(unmarshalType) || p.Implements(textType) || p.Implements(marshalType) || p.Implements(textMarshalType)
}

// parse makes members of a schema of the text of one.
func parse(text string) map[string]any {
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		panic(fmt.Sprintf("codec: the schema %s is no JSON: %v", text, err)) // a mistake in the program
	}
	return m
}

var (
	timeType  = reflect.TypeFor[time.Time]()
	bytesType = reflect.TypeFor[[]byte]()
)

// of is the schema of a type.
func (g *Schemas) of(t reflect.Type, strict bool) *jsonschema.Schema {
	if t == timeType {
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	}
	if t == rawType || t == anyType {
		return &jsonschema.Schema{}
	}
	if s, ok := zero(t).(op.Schemer); ok && jsonOfItsOwn(t) {
		return &jsonschema.Schema{Extras: parse(s.JSONSchema())}
	}
	switch k := t.Kind(); {
	case k == reflect.String || reflect.PointerTo(t).Implements(textType):
		return &jsonschema.Schema{Type: "string"}
	case k == reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case k == reflect.Float32 || k == reflect.Float64:
		return &jsonschema.Schema{Type: "number", Format: map[bool]string{true: "double", false: "float"}[k == reflect.Float64]}
	case isNumber(k):
		return integer(t)
	case k == reflect.Pointer:
		return g.of(t.Elem(), strict)
	case t == bytesType:
		return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
	case k == reflect.Slice || k == reflect.Array:
		return &jsonschema.Schema{Type: "array", Items: g.of(t.Elem(), strict)}
	case k == reflect.Map:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: g.of(t.Elem(), strict)}
	case k == reflect.Struct && g.Refer != nil && t.Name() != "":
		return g.Refer(Name{Type: t, Strict: strict}, func() *jsonschema.Schema { return g.object(t, strict) })
	case k == reflect.Struct:
		return g.object(t, strict)
	}
	panic(fmt.Sprintf("codec: type %s has no JSON Schema", t)) // a mistake in the program
}

// integer is the schema of a type of whole numbers with the bounds of what it holds.
func integer(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "integer", Format: "int64"}
	switch t.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32:
		s.Format = "int32"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		s.Minimum = "0"
	}
	return s
}

// shape is a schema that several fields share by name.
func (g *Schemas) shape(name string, t reflect.Type) *jsonschema.Schema {
	if t.Kind() == reflect.Slice && t != rawType {
		return &jsonschema.Schema{Type: "array", Items: g.shape(name, t.Elem())}
	}
	if name == "Text" || name == "Content" {
		return shapeOf(name, "")
	}
	if g.Refer != nil {
		return g.Refer(Name{Shape: name}, func() *jsonschema.Schema { return shapeOf(name, "#/components/schemas/"+name) })
	}
	if name == "Filter" || name == "Metadata" {
		return &jsonschema.Schema{Type: "object"}
	}
	s := shapeOf(name, "")
	s.Description = ""
	return s
}

// The forms of free text: without NUL, which not every store can hold, and that
// with a character that is not white space (Unicode's White_Space).
const (
	text    = `^[^\u0000]*$`
	content = `^[^\u0000]*[^\u0000\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000][^\u0000]*$`
)

func shapeOf(name, self string) *jsonschema.Schema {
	switch name {
	case "Text":
		return &jsonschema.Schema{Type: "string", Pattern: text}
	case "Content":
		return &jsonschema.Schema{Type: "string", Pattern: content}
	case "Metadata":
		return &jsonschema.Schema{Extras: parse(filter.MetadataSchema())}
	case "Filter":
		return &jsonschema.Schema{Extras: parse(filter.Schema(self))}
	}
	for _, f := range ident.Formats() {
		if f.Name == name {
			return &jsonschema.Schema{Type: "string", Pattern: f.Pattern, Description: strings.TrimPrefix(f.Rule, "must be ")}
		}
	}
	panic("codec: there is no shape " + name) // a mistake in the program
}

// orNull lets a schema take null too.
func orNull(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Extras["type"] == "null" { // it takes nothing else
		return s
	}
	if len(s.AnyOf) > 0 {
		s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Type: "null"})
		return s
	}
	if s.Type == "" {
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}
	}
	if s.Extras == nil {
		s.Extras = map[string]any{}
	}
	s.Extras["type"] = []string{s.Type, "null"}
	s.Type = ""
	if len(s.Enum) > 0 {
		s.Enum = append(s.Enum, nil)
	}
	return s
}

// constrain adds what a field's tags say to the schema of its type.
func constrain(s *jsonschema.Schema, t reflect.Type, tag reflect.StructTag) {
	count := func(name string) *uint64 {
		text, ok := tag.Lookup(name)
		if !ok {
			return nil
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			panic(fmt.Sprintf("codec: %s:%q is no number", name, text)) // a mistake in the program
		}
		return &n
	}
	list := t.Kind() == reflect.Slice && t != rawType
	value, vt := s, t // what is within lists and maps
	for value.Items != nil || vt.Kind() == reflect.Map && value.AdditionalProperties != nil {
		if vt = vt.Elem(); value.Items != nil {
			value = value.Items
		} else {
			value = value.AdditionalProperties
		}
	}
	if list {
		s.MinItems, s.MaxItems = count("minItems"), cmp.Or(count("maxItems"), count("defaultMaxItems"))
		s.UniqueItems = tag.Get("uniqueItems") == "true"
	}
	if n := count("minProperties"); n != nil {
		s.MinProperties = n
	}
	if n := count("maxProperties"); n != nil {
		s.MaxProperties = n
	}
	if keys := tag.Get("keys"); keys != "" {
		s.PropertyNames = &jsonschema.Schema{Enum: values(reflect.TypeFor[string](), keys)}
	}
	if v, ok := tag.Lookup("minimum"); ok {
		value.Minimum = json.Number(v)
	}
	if v, ok := tag.Lookup("maximum"); ok {
		value.Maximum = json.Number(v)
	}
	if n := count("minLength"); n != nil {
		value.MinLength = n
	}
	if n := count("maxBytes"); n != nil { // no text has more characters than bytes
		value.MaxLength = n
	}
	if n := count("maxLength"); n != nil {
		value.MaxLength = n
	}
	if v := tag.Get("pattern"); v != "" {
		value.Pattern = v
	}
	if v := tag.Get("not"); v != "" {
		value.Not = &jsonschema.Schema{Type: "string", Pattern: v} // null is not a text without the pattern
	}
	if v := tag.Get("format"); v != "" {
		value.Format = v
	}
	switch v := tag.Get("enum"); {
	case v == "true" || v == "false":
		// Generators of clients know enumerations of texts and of numbers alone.
		value.Not = &jsonschema.Schema{Const: v == "false"}
	case v != "":
		value.Enum = values(vt, v)
	}
	if v, ok := tag.Lookup("default"); ok {
		s.Default = literal(t, v)
	}
	if v, ok := tag.Lookup("example"); ok {
		s.Examples = []any{literal(t, v)}
	}
}

func values(t reflect.Type, list string) []any {
	var out []any
	for v := range strings.SplitSeq(list, ",") {
		out = append(out, literal(t, v))
	}
	return out
}

// literal is the value that a tag holds for a type: a string as it is, and
// anything else as JSON.
func literal(t reflect.Type, text string) any {
	if t.Kind() == reflect.String || t == timeType || reflect.PointerTo(t).Implements(textType) {
		return text
	}
	if !json.Valid([]byte(text)) {
		panic(fmt.Sprintf("codec: the tag's value %s is no JSON", text)) // a mistake in the program
	}
	return json.RawMessage(text)
}
