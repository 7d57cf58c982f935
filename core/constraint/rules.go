package constraint

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
)

// rules are the parsed tags of a field.
type rules struct {
	code  fault.Code // of a field that is absent, and of a list or map as a whole
	limit fault.Code // of a broken limit of a single value

	minimum, maximum     string // "": none
	minLength, maxLength int    // in characters; maxLength 0: none
	maxBytes             int    // 0: none
	minItems, maxItems   int    // maxItems 0: none
	minProperties        int
	keys, enum           []string // nil: any

	format        *ident.Format
	free, content bool // text without NUL; with a character that is not white space
	pattern, not  *regexp.Regexp
	rule          string // in words what the pattern allows; "": the pattern is shown
}

// codes are those of the forms of names. A tag fault or limitFault overrides them.
var codes = map[string]fault.Code{
	"NamespaceName": fault.InvalidNamespace,
	"DocumentID":    fault.InvalidID,
	"EndUserID":     fault.InvalidEndUserID,
	"ContainerTag":  fault.InvalidContainerTag,
	"SourceName":    fault.InvalidSource,
	"ExternalID":    fault.InvalidExternalID,
}

// parsed are the shared forms that services parse.
var parsed = []string{"Filter", "Metadata"}

func rulesOf(f reflect.StructField) (*rules, error) {
	r := &rules{code: fault.InvalidRequest, rule: f.Tag.Get("rule")}
	if err := r.shared(f.Tag.Get("schema")); err != nil {
		return nil, err
	}
	r.limit = r.code
	if r.format != nil {
		r.limit = codes[r.format.Name]
	}
	if code := fault.Code(f.Tag.Get("fault")); code != "" {
		r.code, r.limit = code, code
	}
	if code := fault.Code(f.Tag.Get("limitFault")); code != "" {
		r.limit = code
	}
	r.minimum, r.maximum = f.Tag.Get("minimum"), f.Tag.Get("maximum")
	for tag, to := range map[string]*int{
		"minLength": &r.minLength, "maxLength": &r.maxLength, "maxBytes": &r.maxBytes,
		"minItems": &r.minItems, "maxItems": &r.maxItems, "minProperties": &r.minProperties,
	} {
		if text, ok := f.Tag.Lookup(tag); ok {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("%s:%q is not a count", tag, text)
			}
			*to = n
		}
	}
	for tag, to := range map[string]*[]string{"keys": &r.keys, "enum": &r.enum} {
		if list := f.Tag.Get(tag); list != "" {
			*to = strings.Split(list, ",")
		}
	}
	for tag, to := range map[string]**regexp.Regexp{"pattern": &r.pattern, "not": &r.not} {
		if text := f.Tag.Get(tag); text != "" {
			// A schema's pattern is ECMA-262, which writes code points in another way.
			p, err := regexp.Compile(codePoint.ReplaceAllString(text, `\x{$1}`))
			if err != nil {
				return nil, fmt.Errorf("%s:%q: %w", tag, text, err)
			}
			*to = p
		}
	}
	return r, nil
}

var codePoint = regexp.MustCompile(`\\u([0-9a-fA-F]{4})`)

// shared reads the tag schema.
func (r *rules) shared(name string) error {
	switch name {
	case "":
		return nil
	case "Content":
		r.content = true
		fallthrough
	case "Text":
		r.free = true
		return nil
	}
	for _, f := range ident.Formats() {
		if f.Name == name {
			r.format = &f
			return nil
		}
	}
	if !slices.Contains(parsed, name) {
		return fmt.Errorf("schema:%q is not a known form", name)
	}
	return nil
}

// malformed is a violation by a list or map as a whole.
func (r *rules) malformed(format string, args ...any) *violation {
	return &violation{code: r.code, reason: fmt.Sprintf(format, args...)}
}

// broken is a violation by a single value.
func (r *rules) broken(format string, args ...any) *violation {
	return &violation{code: r.limit, reason: fmt.Sprintf(format, args...)}
}

// text checks a text; nil: its tags say nothing of it.
func (r *rules) text() checker {
	if !r.ofText() {
		return nil
	}
	return func(v reflect.Value) *violation { return r.checkText(v.String()) }
}

// marshaledText checks a value of a type with a text of its own.
func (r *rules) marshaledText() checker {
	if !r.ofText() {
		return nil
	}
	return func(v reflect.Value) *violation {
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return r.broken("%s", err)
		}
		return r.checkText(string(text))
	}
}

func (r *rules) ofText() bool {
	return r.format != nil || r.free || r.enum != nil || r.pattern != nil || r.not != nil ||
		r.minLength > 0 || r.maxLength > 0 || r.maxBytes > 0
}

func (r *rules) checkText(s string) *violation {
	switch {
	case r.format != nil && !r.format.Valid(s):
		if s == "" {
			return r.broken("%s", r.format.Rule)
		}
		return r.broken("%s, got %q", r.format.Rule, fault.Clip(s))
	case r.maxBytes > 0 && len(s) > r.maxBytes:
		broken := r.broken("is %d bytes; at most %d (%d KB) are allowed", len(s), r.maxBytes, r.maxBytes>>10)
		broken.code = fault.PayloadTooLarge
		return broken
	case r.free && strings.IndexByte(s, 0) >= 0:
		return r.broken("holds a NUL character")
	case r.free && !utf8.ValidString(s):
		return r.broken("is not valid UTF-8")
	case r.content && strings.TrimFunc(s, unicode.IsSpace) == "":
		return r.broken("must hold a character that is not white space")
	case r.enum != nil && !slices.Contains(r.enum, s):
		return r.broken("%s", cmp.Or(r.rule, "must be "+either(r.enum)))
	}
	if r.minLength > 0 || r.maxLength > 0 {
		n := utf8.RuneCountInString(s)
		if n < r.minLength || r.maxLength > 0 && n > r.maxLength {
			return r.broken("%s", cmp.Or(r.rule,
				fmt.Sprintf("must be %s, got %d", counted(r.minLength, r.maxLength, "character"), n)))
		}
	}
	switch {
	case r.pattern != nil && !r.pattern.MatchString(s):
		return r.broken("%s", cmp.Or(r.rule, "must match "+r.pattern.String()))
	case r.not != nil && r.not.MatchString(s):
		return r.broken("%s", cmp.Or(r.rule, "must not match "+r.not.String()))
	}
	return nil
}

// boolean checks which of the two is taken.
func (r *rules) boolean() (checker, error) {
	if r.enum == nil {
		return nil, nil
	}
	want, err := strconv.ParseBool(r.enum[0])
	if err != nil || len(r.enum) > 1 {
		return nil, fmt.Errorf("enum:%q is not one boolean", strings.Join(r.enum, ","))
	}
	return func(v reflect.Value) *violation {
		if v.Bool() != want {
			return r.broken("must be %t", want)
		}
		return nil
	}, nil
}

// number checks a number of type t.
func (r *rules) number(t reflect.Type) (checker, error) {
	if r.enum != nil {
		return nil, errors.New("enum is for texts and booleans")
	}
	if r.minimum == "" && r.maximum == "" {
		return nil, nil
	}
	refuse := func() *violation { return r.broken("must be %s", bounds(r.minimum, r.maximum)) }
	if v := reflect.Zero(t); v.CanInt() {
		low, high, err := parseBounds(r, int64(math.MinInt64), math.MaxInt64, parseInt)
		return func(v reflect.Value) *violation {
			if n := v.Int(); n < low || n > high {
				return refuse()
			}
			return nil
		}, err
	} else if v.CanUint() {
		low, high, err := parseBounds(r, 0, uint64(math.MaxUint64), parseUint)
		return func(v reflect.Value) *violation {
			if n := v.Uint(); n < low || n > high {
				return refuse()
			}
			return nil
		}, err
	}
	low, high, err := parseBounds(r, math.Inf(-1), math.Inf(1), parseFloat)
	return func(v reflect.Value) *violation {
		if n := v.Float(); !(n >= low && n <= high) { // which no NaN is
			return refuse()
		}
		return nil
	}, err
}

func parseInt(s string) (int64, error)     { return strconv.ParseInt(s, 10, 64) }
func parseUint(s string) (uint64, error)   { return strconv.ParseUint(s, 10, 64) }
func parseFloat(s string) (float64, error) { return strconv.ParseFloat(s, 64) }

// parseBounds reads the bounds of a number; least and most are those of its type.
func parseBounds[N any](r *rules, least, most N, parse func(string) (N, error)) (low, high N, err error) {
	low, high = least, most
	if r.minimum != "" {
		if low, err = parse(r.minimum); err != nil {
			return low, high, fmt.Errorf("minimum:%q: %w", r.minimum, err)
		}
	}
	if r.maximum != "" {
		if high, err = parse(r.maximum); err != nil {
			return low, high, fmt.Errorf("maximum:%q: %w", r.maximum, err)
		}
	}
	return low, high, nil
}

// items checks how long a list is; nil: any length will do.
func (r *rules) items() checker {
	if r.minItems == 0 && r.maxItems == 0 {
		return nil
	}
	return func(v reflect.Value) *violation {
		if n := v.Len(); n < r.minItems || r.maxItems > 0 && n > r.maxItems {
			return r.malformed("must hold %s, got %d", counted(r.minItems, r.maxItems, "item"), n)
		}
		return nil
	}
}

// counted is "1-100 items", "at least 1 item" or "at most 100 items".
func counted(least, most int, of string) string {
	if most == 0 {
		if least != 1 {
			of += "s"
		}
		return fmt.Sprintf("at least %d %s", least, of)
	}
	if most != 1 {
		of += "s"
	}
	if least == 0 {
		return fmt.Sprintf("at most %d %s", most, of)
	}
	return fmt.Sprintf("%d-%d %s", least, most, of)
}

// bounds is "1-100", "-5 to 5", "at least 1" or "at most 100".
func bounds(least, most string) string {
	switch {
	case most == "":
		return "at least " + least
	case least == "":
		return "at most " + most
	case strings.HasPrefix(least, "-"):
		return least + " to " + most
	}
	return least + "-" + most
}

// either is "a", "a or b" or "a, b or c".
func either(of []string) string {
	last := len(of) - 1
	if last < 1 {
		return strings.Join(of, "")
	}
	return strings.Join(of[:last], ", ") + " or " + of[last]
}
