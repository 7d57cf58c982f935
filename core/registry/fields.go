package registry

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Shape is what kind of value a setting takes.
type Shape int

// The shapes.
const (
	String Shape = iota
	Bool
	Int
	Float
	Duration // "10s", "5m"
	Text     // a type with UnmarshalText
	Sensitive
	List   // of Elem
	Map    // of Elem, by free name
	Struct // of Fields
	Select // a Selection from table Kind
)

// Field is one setting, as read from a struct field. Its tags:
//
//	yaml  the key, lower_snake_case; required
//	help  one or more sentences for the reference; required
//	env   the environment variable that overrides it
//	enum  the allowed values, separated by commas
//	kind  of a Selection: the table it chooses from
//	retriever  of an index Selection: what it must serve
type Field struct {
	Name      string
	Help      string
	Env       string
	Enum      []string
	Kind      string
	Retriever string
	Shape     Shape
	Type      reflect.Type
	Index     []int   // of the struct field, as reflect.Value.FieldByIndex takes it
	Fields    []Field // of a Struct
	Elem      *Field  // of a List or Map
}

var (
	snakeCase   = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	unmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	marshaler   = reflect.TypeFor[encoding.TextMarshaler]()
)

// Fields reads the settings of a configuration struct and checks its rules:
// a struct; every exported field has a yaml key, used once, and a help text;
// only types that a file can hold, which are strings, booleans, integers,
// floats, time.Duration, Secret, types with MarshalText and UnmarshalText, and
// structs, slices and string-keyed maps of these. The settings of an embedded
// struct without a key are those of the struct that embeds it.
func Fields(t reflect.Type) ([]Field, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("configuration is %s, not a struct", t)
	}
	var fields []Field
	var problems []error
	used := map[string]bool{}
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Anonymous && sf.Type.Kind() == reflect.Struct && sf.Tag.Get("yaml") == "" {
			inner, err := Fields(sf.Type)
			if err != nil {
				problems = append(problems, err)
			}
			for _, f := range inner {
				if used[f.Name] {
					problems = append(problems, fmt.Errorf("%s.%s: yaml key %q is used twice", t, sf.Name, f.Name))
				}
				used[f.Name] = true
				f.Index = slices.Concat(sf.Index, f.Index)
				fields = append(fields, f)
			}
			continue
		}
		if !sf.IsExported() {
			problems = append(problems, fmt.Errorf("%s.%s: not exported, so no file can set it", t, sf.Name))
			continue
		}
		f := Field{Name: sf.Tag.Get("yaml"), Help: sf.Tag.Get("help"), Env: sf.Tag.Get("env"),
			Kind: sf.Tag.Get("kind"), Retriever: sf.Tag.Get("retriever"), Index: sf.Index}
		if e := sf.Tag.Get("enum"); e != "" {
			f.Enum = strings.Split(e, ",")
		}
		switch {
		case !snakeCase.MatchString(f.Name):
			problems = append(problems, fmt.Errorf("%s.%s: yaml key %q is not lower_snake_case", t, sf.Name, f.Name))
		case used[f.Name]:
			problems = append(problems, fmt.Errorf("%s.%s: yaml key %q is used twice", t, sf.Name, f.Name))
		}
		used[f.Name] = true
		if f.Help == "" {
			problems = append(problems, fmt.Errorf("%s.%s: no help tag", t, sf.Name))
		}
		if err := shape(&f, sf.Type); err != nil {
			problems = append(problems, fmt.Errorf("%s.%s: %w", t, sf.Name, err))
		}
		fields = append(fields, f)
	}
	return fields, errors.Join(problems...)
}

func shape(f *Field, t reflect.Type) error {
	f.Type = t
	switch {
	case t == reflect.TypeFor[Selection]():
		f.Shape = Select
		if f.Kind == "" {
			return errors.New("a Selection needs a kind tag")
		}
		return nil
	case t == reflect.TypeFor[Secret]():
		f.Shape = Sensitive
		return nil
	case t == reflect.TypeFor[time.Duration]():
		f.Shape = Duration
		return nil
	case reflect.PointerTo(t).Implements(unmarshaler) && t.Implements(marshaler):
		f.Shape = Text
		return nil
	}
	switch t.Kind() {
	case reflect.String:
		f.Shape = String
	case reflect.Bool:
		f.Shape = Bool
	case reflect.Int, reflect.Int32, reflect.Int64:
		f.Shape = Int
	case reflect.Float32, reflect.Float64:
		f.Shape = Float
	case reflect.Struct:
		f.Shape = Struct
		fields, err := Fields(t)
		f.Fields = fields
		return err
	case reflect.Slice, reflect.Map:
		f.Shape = List
		if t.Kind() == reflect.Map {
			f.Shape = Map
			if t.Key().Kind() != reflect.String {
				return fmt.Errorf("map key %s is not a string", t.Key())
			}
		}
		f.Elem = &Field{Name: f.Name, Help: f.Help, Kind: f.Kind, Enum: f.Enum}
		return shape(f.Elem, t.Elem())
	default:
		return fmt.Errorf("a file cannot hold %s", t)
	}
	return nil
}

func refuseSelections(fields []Field) error {
	for _, f := range fields {
		if f.Shape == Select || f.Elem != nil && f.Elem.Shape == Select {
			return fmt.Errorf("setting %s: a component's configuration cannot select components", f.Name)
		}
		if err := refuseSelections(f.Fields); err != nil {
			return err
		}
	}
	return nil
}

// Invalid is what a configuration's Validate answers about one of its
// settings; several are joined with errors.Join. The path uses yaml keys.
type Invalid struct {
	Path   string // "memory_mb" or "pool.size"
	Reason string
}

// Error gives path and reason.
func (e *Invalid) Error() string { return e.Path + ": " + e.Reason }
