package jcs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Append appends the canonical form of v, which is made of nil, bool, string,
// int64, float64, json.Number, json.RawMessage, []any and map[string]any.
// Numbers are IEEE 754 doubles, as the scheme has it: digits that a double does
// not hold are lost, and one that is out of its range is an error, as is text
// that is not UTF-8.
func Append(b []byte, v any) ([]byte, error) {
	switch x := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, x), nil
	case string:
		return appendString(b, x)
	case int64:
		return appendNumber(b, float64(x))
	case float64:
		return appendNumber(b, x)
	case json.Number:
		f, err := strconv.ParseFloat(string(x), 64)
		if err != nil {
			return nil, fmt.Errorf("jcs: number %.40s is no double", x)
		}
		return appendNumber(b, f)
	case json.RawMessage:
		tree, err := parse(x)
		if err != nil {
			return nil, err
		}
		return Append(b, tree)
	case []any:
		return appendArray(b, x)
	case map[string]any:
		return appendObject(b, x)
	}
	return nil, fmt.Errorf("jcs: type %T has no canonical form", v)
}

// Transform gives the canonical form of one JSON value.
func Transform(raw []byte) ([]byte, error) { return Append(nil, json.RawMessage(raw)) }

func parse(raw []byte) (any, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("jcs: the input is not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("jcs: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("jcs: there is more than one value")
	}
	return v, nil
}

func appendArray(b []byte, list []any) (_ []byte, err error) {
	b = append(b, '[')
	for i, e := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = Append(b, e); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// appendObject orders names by their UTF-16 code units (section 3.2.3).
func appendObject(b []byte, object map[string]any) (_ []byte, err error) {
	type member struct {
		name  string
		units []uint16
	}
	members := make([]member, 0, len(object))
	for name := range object {
		members = append(members, member{name, utf16.Encode([]rune(name))})
	}
	slices.SortFunc(members, func(x, y member) int { return slices.Compare(x.units, y.units) })
	b = append(b, '{')
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendString(b, m.name); err != nil {
			return nil, err
		}
		if b, err = Append(append(b, ':'), object[m.name]); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// appendNumber writes a number as ECMAScript does (section 3.2.2.3): the fewest
// digits that read back the same, with an exponent outside [1e-6, 1e21).
func appendNumber(b []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("jcs: %v is no JSON number", f)
	}
	if f == 0 {
		return append(b, '0'), nil // of either sign
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64), nil
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	if n := len(b); b[n-2] == '0' && (b[n-3] == '-' || b[n-3] == '+') { // Go writes two digits at least
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b, nil
}

// appendString escapes what has to be escaped and nothing else (section 3.2.2.2).
func appendString(b []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return nil, errors.New("jcs: a string is not valid UTF-8")
	}
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, '\\', 'b')
		case '\t':
			b = append(b, '\\', 't')
		case '\n':
			b = append(b, '\\', 'n')
		case '\f':
			b = append(b, '\\', 'f')
		case '\r':
			b = append(b, '\\', 'r')
		default:
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(b, s[start:]...), '"'), nil
}
