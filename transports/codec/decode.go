package codec

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
)

// Input is one call as a transport received it.
type Input struct {
	Path   func(name string) string   // an unescaped path segment
	Query  string                     // as in the URL, escaped
	Header func(name string) []string // the lines of that name; nil: there is none
	Body   []byte                     // JSON; nil: there was none
}

// Decoder fills one In type. It may be used concurrently.
type Decoder struct {
	typ                 reflect.Type
	path, query, header []param
	strict              bool // refuses unknown query parameters
	body                *object
}

// strictQuery is op.StrictQuery.
type strictQuery interface{ StrictQuery() }

type param struct {
	name  string
	index []int
	code  fault.Code
	set   func(dst reflect.Value, values []string) error
}

// NewDecoder compiles a decoder for struct type t. It fails when a field has no
// tag, an impossible type, or a name used twice in one place.
func NewDecoder(t reflect.Type) (*Decoder, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("codec: %s is not a struct", t)
	}
	c := compiler{objects: map[reflect.Type]*object{}}
	d := &Decoder{typ: t, body: newObject(), strict: reflect.PointerTo(t).Implements(reflect.TypeFor[strictQuery]())}
	if err := c.fields(t, nil, d.body, d); err != nil {
		return nil, fmt.Errorf("codec: %s: %w", t, err)
	}
	return d, nil
}

// HasBody reports whether any field comes from the body.
func (d *Decoder) HasBody() bool { return len(d.body.fields) > 0 }

// Decode fills *dst, which must be a pointer to the decoder's type. A nil Body
// leaves the body's fields zero.
func (d *Decoder) Decode(in Input, dst any) error {
	v, err := d.target(dst)
	if err != nil {
		return err
	}
	for _, p := range d.path {
		if err := p.fill(v, []string{in.Path(p.name)}); err != nil {
			return err
		}
	}
	if len(d.query) > 0 && in.Query != "" {
		if err := d.decodeQuery(in.Query, v); err != nil {
			return err
		}
	}
	for _, p := range d.header {
		if lines := in.Header(p.name); lines != nil { // several lines mean the same as one list
			if err := p.fill(v, []string{strings.Join(lines, ", ")}); err != nil {
				return err
			}
		}
	}
	if in.Body == nil {
		return nil
	}
	return decodeObject(in.Body, d.body, v)
}

func (d *Decoder) target(dst any) (reflect.Value, error) {
	v := reflect.ValueOf(dst)
	if v.Kind() != reflect.Pointer || v.Elem().Type() != d.typ {
		return v, fmt.Errorf("codec: decode into %T with a decoder for %s", dst, d.typ)
	}
	return v.Elem(), nil
}

// A list of empty objects takes many times its text's bytes once decoded. These
// bound what lists and maps may take, so that a body's limit bounds memory too.
const (
	minRoom    = 1 << 20
	roomFactor = 4
	mapEntry   = 64 // bytes, about, beside the value
)

func (s *scanner) useRoom(n int) error {
	if s.room -= n; s.room < 0 {
		return &invalid{reason: "has too many items for its size", code: fault.PayloadTooLarge}
	}
	return nil
}

func decodeObject(data []byte, o *object, v reflect.Value) error {
	if err := Check(data); err != nil {
		return err
	}
	s := &scanner{data: data, room: minRoom + roomFactor*len(data)}
	if s.space(); s.peek() != '{' {
		return fault.New(fault.InvalidRequest, "the body must be a JSON object, not %s", s.kind())
	}
	if err := o.decode(s, v); err != nil {
		return asFault(err, fault.InvalidRequest)
	}
	return nil
}

func (d *Decoder) decodeQuery(raw string, v reflect.Value) error {
	values := map[string][]string{}
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		key, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(key)
		i := -1
		if err == nil { // or it can't be the name of a parameter that we know
			i = slices.IndexFunc(d.query, func(p param) bool { return p.name == name })
		}
		switch {
		case i < 0 && d.strict && pair != "":
			return fault.New(fault.InvalidRequest, "there is no query parameter %s here", fault.Clip(cmp.Or(name, key)))
		case i < 0:
			continue // unknown parameters are ignored
		}
		text, err := url.QueryUnescape(value)
		if err != nil {
			return fault.Field(d.query[i].code, name, "is not escaped correctly")
		}
		values[name] = append(values[name], text)
	}
	for _, p := range d.query {
		if got, ok := values[p.name]; ok {
			if err := p.fill(v, got); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *param) fill(v reflect.Value, values []string) error {
	for _, s := range values {
		if !utf8.ValidString(s) {
			return fault.Field(p.code, p.name, "is not valid UTF-8")
		}
	}
	if err := p.set(v.FieldByIndex(p.index), values); err != nil {
		return fault.Field(p.code, p.name, "%s", err)
	}
	return nil
}

// invalid is a value that can't be read, with the place built up from within.
type invalid struct {
	path   string
	reason string
	code   fault.Code // "": the caller decides
	err    error      // a fault that an UnmarshalJSON answered
}

func (e *invalid) Error() string { return e.path + ": " + e.reason }

func invalidf(format string, args ...any) error {
	return &invalid{reason: fmt.Sprintf(format, args...)}
}

// withStep puts a step before the place of an error.
func withStep(step string, code fault.Code, err error) error {
	var e *invalid
	if !errors.As(err, &e) {
		e = &invalid{reason: err.Error(), err: err}
	}
	switch {
	case e.path == "":
		e.path = step
	case e.path[0] == '[':
		e.path = step + e.path
	default:
		e.path = step + "." + e.path
	}
	if e.code == "" {
		e.code = code
	}
	return e
}

func asFault(err error, code fault.Code) error {
	var e *invalid
	if !errors.As(err, &e) {
		return err
	}
	var f *fault.Error
	if errors.As(e.err, &f) {
		return f
	}
	if e.code != "" {
		code = e.code
	}
	return fault.Field(code, e.path, "%s", e.reason)
}

// kind names the value at hand.
func (s *scanner) kind() string {
	switch s.peek() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// token takes a number or a literal.
func (s *scanner) token() string {
	start := s.pos
	s.skip()
	return string(s.data[start:s.pos])
}

func (s *scanner) text() []byte {
	start := s.pos
	s.skipString()
	return unquote(s.data[start:s.pos])
}

// reader reads the value at hand into dst.
type reader func(s *scanner, dst reflect.Value) error

type object struct{ fields map[string]field }

type field struct {
	index []int
	code  fault.Code
	read  reader
}

func newObject() *object { return &object{map[string]field{}} }

func (o *object) add(name string, f field) error {
	if _, twice := o.fields[name]; twice {
		return fmt.Errorf("the name %q is used twice", name)
	}
	o.fields[name] = f
	return nil
}

func (o *object) decode(s *scanner, dst reflect.Value) error {
	s.pos++
	for s.space(); s.peek() != '}'; s.space() {
		if s.peek() == ',' {
			s.pos++
			s.space()
		}
		name := s.text()
		s.space()
		s.pos++ // the colon
		s.space()
		f, ok := o.fields[string(name)]
		if !ok {
			return withStep(clip(string(name)), "", invalidf("is not a known field%s", o.suggest(string(name))))
		}
		if err := f.read(s, dst.FieldByIndex(f.index)); err != nil {
			return withStep(string(name), f.code, err)
		}
	}
	s.pos++
	return nil
}

// suggest suggests a field whose name differs in case or by one edit.
func (o *object) suggest(name string) string {
	best := ""
	for known := range o.fields {
		if (strings.EqualFold(known, name) || oneEdit(known, name)) && (best == "" || known < best) {
			best = known
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// oneEdit reports whether one insertion, deletion or replacement, or one swap of
// neighbours, turns a into b.
func oneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	return i < len(a) && (a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:])
}

// clip keeps names that a message repeats short.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}

type compiler struct{ objects map[reflect.Type]*object }

// fields adds t's fields to o. d is nil below the top, where only json counts.
func (c *compiler) fields(t reflect.Type, index []int, o *object, d *Decoder) error {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(slices.Clone(index), i)
		tag, hasJSON := f.Tag.Lookup("json")
		name, _, _ := strings.Cut(tag, ",")
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			if err := c.fields(f.Type, at, o, d); err != nil {
				return err
			}
			continue
		}
		if !f.IsExported() {
			continue
		}
		code := fault.Code(f.Tag.Get("fault"))
		if d != nil {
			done, err := c.param(f, at, code, d)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			if done {
				continue
			}
		}
		switch {
		case !hasJSON || name == "":
			return fmt.Errorf("field %s has no path, query, header or json tag", f.Name)
		case name == "-":
			continue
		}
		read, err := c.fieldReader(f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if err := o.add(name, field{at, code, read}); err != nil {
			return err
		}
	}
	return nil
}

// fieldReader is the reader of a field's type with the field's own limit.
func (c *compiler) fieldReader(f reflect.StructField) (reader, error) {
	tag, ok := f.Tag.Lookup("maxDecoded")
	if !ok {
		return c.reader(f.Type)
	}
	most, err := strconv.Atoi(tag)
	if err != nil || most < 1 || f.Type.Kind() != reflect.Slice || f.Type == rawType {
		return nil, fmt.Errorf("maxDecoded:%q is for lists, and at least 1", tag)
	}
	return c.sliceReader(f.Type, most)
}

func (c *compiler) param(f reflect.StructField, at []int, code fault.Code, d *Decoder) (bool, error) {
	lists := []struct {
		tag string
		to  *[]param
	}{{"path", &d.path}, {"query", &d.query}, {"header", &d.header}}
	for _, l := range lists {
		name := f.Tag.Get(l.tag)
		if name == "" {
			continue
		}
		set, err := setter(f.Type)
		if err != nil {
			return false, err
		}
		p := param{name: name, index: at, code: code, set: set}
		if p.code == "" {
			p.code = fault.InvalidRequest
		}
		if slices.ContainsFunc(*l.to, func(q param) bool { return q.name == name }) {
			return false, fmt.Errorf("%s %q is used twice", l.tag, name)
		}
		*l.to = append(*l.to, p)
		return true, nil
	}
	return false, nil
}

// setter makes the conversion of path, query and header texts.
func setter(t reflect.Type) (func(reflect.Value, []string) error, error) {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String {
		return func(dst reflect.Value, values []string) error {
			for _, v := range values {
				if v == "" {
					continue // how clients write an empty list
				}
				for part := range strings.SplitSeq(v, ",") {
					e := reflect.New(t.Elem()).Elem()
					e.SetString(part)
					dst.Set(reflect.Append(dst, e))
				}
			}
			return nil
		}, nil
	}
	one, err := single(t)
	if err != nil {
		return nil, err
	}
	return func(dst reflect.Value, values []string) error {
		if len(values) > 1 {
			return errors.New("is given more than once")
		}
		return one(dst, values[0])
	}, nil
}

func single(t reflect.Type) (func(reflect.Value, string) error, error) {
	if t.Kind() == reflect.Pointer {
		one, err := single(t.Elem())
		if err != nil {
			return nil, err
		}
		return func(dst reflect.Value, s string) error {
			p := reflect.New(t.Elem())
			dst.Set(p)
			return one(p.Elem(), s)
		}, nil
	}
	switch {
	case t.Kind() == reflect.String:
		return func(dst reflect.Value, s string) error { dst.SetString(s); return nil }, nil
	case t.Kind() == reflect.Bool:
		return func(dst reflect.Value, s string) error {
			switch s {
			case "true", "1":
				dst.SetBool(true)
			case "false", "0":
				dst.SetBool(false)
			default:
				return errors.New("must be true or false")
			}
			return nil
		}, nil
	case isNumber(t.Kind()):
		return setNumber, nil
	}
	return nil, fmt.Errorf("type %s can't be read from a path, query or header", t)
}

func isNumber(k reflect.Kind) bool {
	return reflect.Int <= k && k <= reflect.Float64 && k != reflect.Uintptr
}

// integerText writes a number such as 266.0 or 1e3 as 266 and 1000: an integer in the
// sense of JSON Schema (2020-12, section 4.2.3) is any number without a fraction.
// Other texts stay as they are, as do numbers that a double does not hold exactly.
func integerText(s string) string {
	if !strings.ContainsAny(s, ".eE") {
		return s
	}
	const exact = 1<<53 - 1
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || f < -exact || f > exact {
		return s
	}
	return strconv.FormatInt(int64(f), 10)
}

func setNumber(dst reflect.Value, s string) error {
	var err error
	what := "an integer"
	switch {
	case dst.CanInt():
		var n int64
		if n, err = strconv.ParseInt(integerText(s), 10, dst.Type().Bits()); err == nil {
			dst.SetInt(n)
		}
	case dst.CanUint():
		var n uint64
		if what = "an integer of at least 0"; strings.HasPrefix(s, "-") {
			return errors.New("must be " + what)
		}
		if n, err = strconv.ParseUint(integerText(s), 10, dst.Type().Bits()); err == nil {
			dst.SetUint(n)
		}
	default:
		what = "a number"
		var n float64
		// ParseFloat also reads names and hexadecimal, which are no JSON numbers.
		if strings.ContainsAny(s, "xXnNiIpP_") {
			return errors.New("must be " + what)
		}
		if n, err = strconv.ParseFloat(s, dst.Type().Bits()); err == nil {
			dst.SetFloat(n)
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, strconv.ErrRange):
		return errors.New("is out of range")
	}
	return errors.New("must be " + what)
}

var (
	rawType       = reflect.TypeFor[json.RawMessage]()
	anyType       = reflect.TypeFor[any]()
	unmarshalType = reflect.TypeFor[json.Unmarshaler]()
	textType      = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func (c *compiler) reader(t reflect.Type) (reader, error) {
	switch {
	case t == rawType:
		return readRaw, nil
	case reflect.PointerTo(t).Implements(unmarshalType):
		return readUnmarshaler, nil
	case reflect.PointerTo(t).Implements(textType):
		return readText, nil
	case t == anyType:
		return readAny, nil
	case isNumber(t.Kind()):
		return readNumber, nil
	}
	switch t.Kind() {
	case reflect.String:
		return readString, nil
	case reflect.Bool:
		return readBool, nil
	case reflect.Pointer:
		elem, err := c.reader(t.Elem())
		if err != nil {
			return nil, err
		}
		return func(s *scanner, dst reflect.Value) error {
			if s.peek() == 'n' {
				s.skip()
				dst.SetZero()
				return nil
			}
			p := reflect.New(t.Elem())
			if err := elem(s, p.Elem()); err != nil {
				return err
			}
			dst.Set(p)
			return nil
		}, nil
	case reflect.Struct:
		return c.structReader(t)
	case reflect.Slice:
		return c.sliceReader(t, 0)
	case reflect.Map:
		return c.mapReader(t)
	}
	return nil, fmt.Errorf("type %s can't be read from JSON", t)
}

func (c *compiler) structReader(t reflect.Type) (reader, error) {
	o, known := c.objects[t]
	if !known {
		o = newObject()
		c.objects[t] = o // before its fields, which may refer to it
		if err := c.fields(t, nil, o, nil); err != nil {
			return nil, fmt.Errorf("%s: %w", t, err)
		}
	}
	return func(s *scanner, dst reflect.Value) error {
		if s.peek() != '{' {
			return invalidf("must be an object, not %s", s.kind())
		}
		return o.decode(s, dst)
	}, nil
}

// sliceReader reads lists of at most that many items; 0: as many as there is room for.
func (c *compiler) sliceReader(t reflect.Type, most int) (reader, error) {
	if t.Elem().Kind() == reflect.Uint8 {
		return nil, fmt.Errorf("type %s can't be read from JSON", t)
	}
	elem, err := c.reader(t.Elem())
	if err != nil {
		return nil, err
	}
	size := int(t.Elem().Size())
	return func(s *scanner, dst reflect.Value) error {
		if s.peek() != '[' {
			return invalidf("must be an array, not %s", s.kind())
		}
		dst.Set(reflect.MakeSlice(t, 0, 0))
		s.pos++
		for s.space(); s.peek() != ']'; s.space() {
			if s.peek() == ',' {
				s.pos++
				s.space()
			}
			i := dst.Len()
			if most > 0 && i == most {
				return invalidf("must have at most %d items", most)
			}
			if err := s.useRoom(size); err != nil {
				return err
			}
			if i == dst.Cap() {
				dst.Grow(max(4, i))
			}
			dst.SetLen(i + 1)
			dst.Index(i).SetZero()
			if err := elem(s, dst.Index(i)); err != nil {
				return withStep("["+strconv.Itoa(i)+"]", "", err)
			}
		}
		s.pos++
		return nil
	}, nil
}

func (c *compiler) mapReader(t reflect.Type) (reader, error) {
	if t.Key().Kind() != reflect.String {
		return nil, fmt.Errorf("type %s can't be read from JSON", t)
	}
	elem, err := c.reader(t.Elem())
	if err != nil {
		return nil, err
	}
	size := mapEntry + int(t.Elem().Size())
	return func(s *scanner, dst reflect.Value) error {
		if s.peek() != '{' {
			return invalidf("must be an object, not %s", s.kind())
		}
		m := reflect.MakeMap(t)
		s.pos++
		for s.space(); s.peek() != '}'; s.space() {
			if s.peek() == ',' {
				s.pos++
				s.space()
			}
			name := string(s.text())
			s.space()
			s.pos++ // the colon
			s.space()
			if err := s.useRoom(size); err != nil {
				return err
			}
			v := reflect.New(t.Elem()).Elem()
			if err := elem(s, v); err != nil {
				return withStep(clip(name), "", err)
			}
			m.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), v)
		}
		s.pos++
		dst.Set(m)
		return nil
	}, nil
}

// raw takes the value at hand as a copy, so that a small part does not keep a
// whole body in memory.
func (s *scanner) raw() []byte {
	start := s.pos
	s.skip()
	return bytes.Clone(s.data[start:s.pos])
}

func readRaw(s *scanner, dst reflect.Value) error {
	dst.SetBytes(s.raw())
	return nil
}

func readUnmarshaler(s *scanner, dst reflect.Value) error {
	if s.peek() == 'n' {
		return invalidf("must not be null")
	}
	err := dst.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(s.raw())
	if err == nil {
		return nil
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return &invalid{reason: f.Message, err: f}
	}
	return invalidf("%s", err)
}

func readText(s *scanner, dst reflect.Value) error {
	if s.peek() != '"' {
		return invalidf("must be a string, not %s", s.kind())
	}
	if err := dst.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(s.text()); err != nil {
		return invalidf("%s", err)
	}
	return nil
}

func readAny(s *scanner, dst reflect.Value) error {
	d := json.NewDecoder(bytes.NewReader(s.raw()))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return invalidf("%s", err)
	}
	if v != nil {
		dst.Set(reflect.ValueOf(v))
	}
	return nil
}

func readString(s *scanner, dst reflect.Value) error {
	if s.peek() != '"' {
		return invalidf("must be a string, not %s", s.kind())
	}
	dst.SetString(string(s.text()))
	return nil
}

func readBool(s *scanner, dst reflect.Value) error {
	c := s.peek()
	if c != 't' && c != 'f' {
		return invalidf("must be true or false, not %s", s.kind())
	}
	s.skip()
	dst.SetBool(c == 't')
	return nil
}

func readNumber(s *scanner, dst reflect.Value) error {
	if kind := s.kind(); kind != "a number" {
		what := "an integer"
		if dst.CanFloat() {
			what = "a number"
		}
		return invalidf("must be %s, not %s", what, kind)
	}
	if err := setNumber(dst, s.token()); err != nil {
		return invalidf("%s", err)
	}
	return nil
}
