package codec

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Encoder writes values as JSON: a nil slice is [] and a nil map {}, nothing is
// escaped for HTML, invalid UTF-8 becomes U+FFFD, map keys are sorted. omitempty
// and omitzero mean what they mean in encoding/json. The zero value is ready; it
// remembers types and may be used concurrently.
type Encoder struct {
	types sync.Map // reflect.Type to writer
}

type writer func(e *Encoder, b []byte, v reflect.Value) ([]byte, error)

// Append appends v's JSON to b.
func (e *Encoder) Append(b []byte, v any) ([]byte, error) {
	if v == nil {
		return append(b, "null"...), nil
	}
	rv := reflect.ValueOf(v)
	return e.writer(rv.Type())(e, b, rv)
}

func (e *Encoder) writer(t reflect.Type) writer {
	if w, ok := e.types.Load(t); ok {
		return w.(writer)
	}
	// A type that holds itself finds this while it is being compiled.
	var (
		once sync.WaitGroup
		made writer
	)
	once.Add(1)
	later, loaded := e.types.LoadOrStore(t, writer(func(e *Encoder, b []byte, v reflect.Value) ([]byte, error) {
		once.Wait()
		return made(e, b, v)
	}))
	if loaded {
		return later.(writer)
	}
	made = e.compile(t)
	once.Done()
	e.types.Store(t, made)
	return made
}

var (
	marshalType     = reflect.TypeFor[json.Marshaler]()
	textMarshalType = reflect.TypeFor[encoding.TextMarshaler]()
)

func (e *Encoder) compile(t reflect.Type) writer {
	switch {
	case t == rawType:
		return writeRaw
	case t == timeType:
		return writeTime
	case t == reflect.PointerTo(timeType): // its elements, though it is a Marshaler
	case t.Implements(marshalType):
		return writeMarshaler
	case t.Implements(textMarshalType):
		return writeText
	}
	switch t.Kind() {
	case reflect.String:
		return func(_ *Encoder, b []byte, v reflect.Value) ([]byte, error) { return appendString(b, v.String()), nil }
	case reflect.Bool:
		return func(_ *Encoder, b []byte, v reflect.Value) ([]byte, error) {
			return strconv.AppendBool(b, v.Bool()), nil
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(_ *Encoder, b []byte, v reflect.Value) ([]byte, error) {
			return strconv.AppendInt(b, v.Int(), 10), nil
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(_ *Encoder, b []byte, v reflect.Value) ([]byte, error) {
			return strconv.AppendUint(b, v.Uint(), 10), nil
		}
	case reflect.Float32, reflect.Float64:
		return writeFloat
	case reflect.Interface:
		return func(e *Encoder, b []byte, v reflect.Value) ([]byte, error) {
			if v.IsNil() {
				return append(b, "null"...), nil
			}
			return e.writer(v.Elem().Type())(e, b, v.Elem())
		}
	case reflect.Pointer:
		elem := e.writer(t.Elem())
		return func(e *Encoder, b []byte, v reflect.Value) ([]byte, error) {
			if v.IsNil() {
				return append(b, "null"...), nil
			}
			return elem(e, b, v.Elem())
		}
	case reflect.Slice, reflect.Array:
		elem := e.writer(t.Elem())
		return func(e *Encoder, b []byte, v reflect.Value) (_ []byte, err error) {
			b = append(b, '[')
			for i := range v.Len() {
				if i > 0 {
					b = append(b, ',')
				}
				if b, err = elem(e, b, v.Index(i)); err != nil {
					return b, err
				}
			}
			return append(b, ']'), nil
		}
	case reflect.Map:
		return e.compileMap(t)
	case reflect.Struct:
		return e.compileStruct(t)
	}
	return func(_ *Encoder, b []byte, _ reflect.Value) ([]byte, error) {
		return b, fmt.Errorf("codec: type %s can't be written as JSON", t)
	}
}

func (e *Encoder) compileMap(t reflect.Type) writer {
	if t.Key().Kind() != reflect.String {
		return func(_ *Encoder, b []byte, _ reflect.Value) ([]byte, error) {
			return b, fmt.Errorf("codec: type %s can't be written as JSON", t)
		}
	}
	elem := e.writer(t.Elem())
	return func(e *Encoder, b []byte, v reflect.Value) (_ []byte, err error) {
		keys := v.MapKeys()
		slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
		b = append(b, '{')
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, k.String()), ':')
			if b, err = elem(e, b, v.MapIndex(k)); err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	}
}

type member struct {
	index     []int
	name      string // quoted, with its colon
	omitEmpty bool
	omitZero  bool
	write     writer
}

func (e *Encoder) members(t reflect.Type, index []int) []member {
	var out []member
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(slices.Clone(index), i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if inner := embedded(f); inner != nil && name == "" {
			out = append(out, e.members(inner, at)...)
			continue
		}
		if !f.IsExported() || tag == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		m := member{index: at, name: string(appendString(nil, name)) + ":", write: e.writer(f.Type)}
		for option := range strings.SplitSeq(options, ",") {
			m.omitEmpty = m.omitEmpty || option == "omitempty"
			m.omitZero = m.omitZero || option == "omitzero"
		}
		out = append(out, m)
	}
	return out
}

// embedded is the struct whose fields an embedded field lends; nil for others.
func embedded(f reflect.StructField) reflect.Type {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !f.Anonymous || t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

func (e *Encoder) compileStruct(t reflect.Type) writer {
	members := e.members(t, nil)
	return func(e *Encoder, b []byte, v reflect.Value) (_ []byte, err error) {
		b = append(b, '{')
		first := true
		for i := range members {
			m := &members[i]
			f, absent := v.FieldByIndexErr(m.index)
			if absent != nil {
				continue // lies behind an embedded pointer that is nil
			}
			if m.omitEmpty && empty(f) || m.omitZero && f.IsZero() {
				continue
			}
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(b, m.name...)
			if b, err = m.write(e, b, f); err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	}
}

func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func writeRaw(_ *Encoder, b []byte, v reflect.Value) ([]byte, error) {
	if v.Len() == 0 {
		return append(b, "null"...), nil
	}
	return append(b, v.Bytes()...), nil
}

// timeFormat gives every time as many decimals as stores keep, so that times compare as
// texts do (docs/contract.md#http-times).
const timeFormat = `"2006-01-02T15:04:05.000000Z"`

func writeTime(_ *Encoder, b []byte, v reflect.Value) ([]byte, error) {
	return v.Interface().(time.Time).UTC().AppendFormat(b, timeFormat), nil
}

func writeMarshaler(_ *Encoder, b []byte, v reflect.Value) ([]byte, error) {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return append(b, "null"...), nil
	}
	raw, err := v.Interface().(json.Marshaler).MarshalJSON()
	return append(b, raw...), err
}

func writeText(_ *Encoder, b []byte, v reflect.Value) ([]byte, error) {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return append(b, "null"...), nil
	}
	text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
	return appendString(b, string(text)), err
}

// writeFloat writes the shortest text that reads back as the same value, in the
// form of ECMAScript numbers.
func writeFloat(_ *Encoder, b []byte, v reflect.Value) ([]byte, error) {
	f := v.Float()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return b, fmt.Errorf("codec: %v can't be written as JSON", f)
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, v.Type().Bits()), nil
}

const hexDigits = "0123456789abcdef"

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}
