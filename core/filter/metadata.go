package filter

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
)

// Limits of a document's metadata.
const (
	MaxKeys       = 32
	MaxKeyRunes   = 128
	MaxBytes      = 40 << 10 // of the compact JSON object
	MaxArrayItems = 1000
)

// Metadata is a document's metadata. Values are string, json.Number, bool or
// []string; ParseMetadata makes no other.
type Metadata map[string]any

// ParseMetadata checks a JSON value against the rules for metadata. field
// names it in faults ("documents[3].metadata"). Absent (nil or empty raw) is an
// empty Metadata; null is not allowed. Errors have code InvalidMetadata.
func ParseMetadata(field string, raw json.RawMessage) (Metadata, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	bad := func(format string, args ...any) error {
		return fault.Field(fault.InvalidMetadata, field, format, args...)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, bad("must be an object")
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return nil, bad("must be an object")
	}
	if len(obj) > MaxKeys {
		return nil, bad("has %d keys; at most %d are allowed", len(obj), MaxKeys)
	}
	m := make(Metadata, len(obj))
	for k, v := range obj {
		if k == "" || utf8.RuneCountInString(k) > MaxKeyRunes {
			return nil, bad("keys are 1 to %d characters", MaxKeyRunes)
		}
		if k[0] == '$' {
			return nil, bad("key %q must not start with $", k)
		}
		if strings.ContainsRune(k, 0) {
			return nil, bad("key %q holds a NUL character", k)
		}
		switch x := v.(type) {
		case string:
			if strings.ContainsRune(x, 0) {
				return nil, bad("%s holds a NUL character", k)
			}
			m[k] = x
		case bool:
			m[k] = x
		case json.Number:
			if _, ok := canonicalNumber(string(x)); !ok {
				return nil, bad("%s: number %.40s is out of range", k, x)
			}
			m[k] = x
		case []any:
			if len(x) > MaxArrayItems {
				return nil, bad("%s has %d items; at most %d are allowed", k, len(x), MaxArrayItems)
			}
			items := make([]string, len(x))
			for i, e := range x {
				s, ok := e.(string)
				if !ok {
					return nil, bad("%s: arrays hold strings only", k)
				}
				if strings.ContainsRune(s, 0) {
					return nil, bad("%s holds a NUL character", k)
				}
				items[i] = s
			}
			m[k] = items
		default:
			return nil, bad("%s: values are strings, numbers, booleans or arrays of strings", k)
		}
	}
	if n := len(m.JSON()); n > MaxBytes {
		return nil, bad("is %d bytes; at most %d are allowed", n, MaxBytes)
	}
	return m, nil
}

// JSON is the canonical compact form: keys sorted, no HTML escaping. nil for empty.
func (m Metadata) JSON() json.RawMessage {
	if len(m) == 0 {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any(m)); err != nil {
		panic("filter: metadata that ParseMetadata did not make: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// Title is what TitleOf says of the canonical form.
func (m Metadata) Title() string {
	text := func(key string) string { s, _ := m[key].(string); return s }
	title := text("title")
	for _, key := range []string{"path", "url"} {
		if at := text(key); title == at || strings.HasSuffix(at, "/"+title) {
			return ""
		}
	}
	return title
}

// TitleOf is the title of a document with this metadata, an object in JSON: what title
// says, where it is a string and more than the path or the url, or the end of one. ""
// where there is none.
func TitleOf(raw json.RawMessage) string {
	var all map[string]any
	if len(raw) == 0 || json.Unmarshal(raw, &all) != nil {
		return ""
	}
	return Metadata(all).Title()
}

// Hash is the SHA-256 of the canonical form.
func (m Metadata) Hash() [32]byte { return sha256.Sum256(m.JSON()) }

// Tokens are the facet tokens an index files a document under: one for each
// value, and for each item of an array.
func (m Metadata) Tokens() []string {
	var out []string
	for k, v := range m {
		for _, s := range texts(v) {
			out = append(out, Token(k, s))
		}
	}
	return out
}

// ContainerKey is the facet key of a memory's container tag. Metadata cannot
// have it: a key there does not start with $.
const ContainerKey = "$container"

// Container is the filter of one container.
func Container(tag string) *Filter {
	return &Filter{Op: In, Key: ContainerKey, Values: []string{tag}}
}

// Token is the facet token of a key and a canonical value. Long values are
// replaced by their hash, so that a token stays under 220 bytes.
func Token(key, value string) string {
	const longest = 64
	if len(key) > longest {
		h := sha256.Sum256([]byte(key))
		key = "\x01" + hex.EncodeToString(h[:])
	}
	if len(value) > longest {
		h := sha256.Sum256([]byte(value))
		value = "\x01" + hex.EncodeToString(h[:])
	}
	return key + "\x00" + value
}

// texts is the canonical text of a value, one for each item of an array.
func texts(v any) []string {
	switch x := v.(type) {
	case string:
		return []string{x}
	case bool:
		return []string{strconv.FormatBool(x)}
	case json.Number:
		s, _ := canonicalNumber(string(x))
		return []string{s}
	case []string:
		return x
	}
	return nil
}

// canonicalNumber is the plain decimal form of a JSON number, exact at any
// precision: 3, 3.0 and 30e-1 give "3"; 0.10 gives "0.1"; -0 gives "0". ok is
// false for magnitudes that a double cannot hold.
func canonicalNumber(s string) (string, bool) {
	if _, err := strconv.ParseFloat(s, 64); err != nil || len(s) > 400 {
		return "", false
	}
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	exp := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		n, err := strconv.Atoi(strings.TrimPrefix(s[i+1:], "+"))
		if err != nil || n > 400 || n < -800 {
			return "", false
		}
		exp, s = n, s[:i]
	}
	if whole, fraction, ok := strings.Cut(s, "."); ok {
		exp -= len(fraction)
		s = whole + fraction
	}
	s = strings.TrimLeft(s, "0")
	for strings.HasSuffix(s, "0") {
		s, exp = s[:len(s)-1], exp+1
	}
	switch {
	case s == "":
		return "0", true
	case exp >= 0:
		s += strings.Repeat("0", exp)
	case -exp < len(s):
		s = s[:len(s)+exp] + "." + s[len(s)+exp:]
	default:
		s = "0." + strings.Repeat("0", -exp-len(s)) + s
	}
	if neg {
		s = "-" + s
	}
	return s, true
}
