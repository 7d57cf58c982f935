package codec

import (
	"fmt"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
)

// Limits of a text, beside its size.
const (
	MaxDepth = 64     // how deep objects and arrays may nest
	MaxNames = 10_000 // names in one object
)

// Check reads data as one JSON value and answers fault InvalidJSON with the
// byte offset of the first thing wrong: syntax, invalid UTF-8, a lone
// surrogate, a name used twice in an object, more than MaxNames of them, nesting
// deeper than MaxDepth, or anything but space after the value.
func Check(data []byte) error {
	s := scanner{data: data}
	s.space()
	if s.pos == len(data) {
		return s.fail(s.pos, "a JSON value was expected, and the input ended")
	}
	if err := s.value(0); err != nil {
		return err
	}
	if s.space(); s.pos < len(data) {
		return s.fail(s.pos, "unexpected data after the JSON value")
	}
	return nil
}

// scanner checks a text and, when asked, walks it. The decoder walks only what
// Check accepted.
type scanner struct {
	data []byte
	pos  int
	room int // bytes that lists and maps may still take when decoded
}

func (s *scanner) fail(at int, format string, args ...any) error {
	return fault.New(fault.InvalidJSON, "invalid JSON at byte %d: %s", at, fmt.Sprintf(format, args...))
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek is the byte at hand; 0 at the end, which no JSON token begins with.
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) unexpected(wanted string) error {
	if s.pos >= len(s.data) {
		return s.fail(s.pos, "%s was expected, and the input ended", wanted)
	}
	r, _ := utf8.DecodeRune(s.data[s.pos:])
	return s.fail(s.pos, "%s was expected, not %q", wanted, r)
}

func (s *scanner) value(depth int) error {
	switch c := s.peek(); {
	case c == '{':
		return s.object(depth + 1)
	case c == '[':
		return s.array(depth + 1)
	case c == '"':
		return s.str()
	case c == '-' || '0' <= c && c <= '9':
		return s.number()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	}
	return s.unexpected("a JSON value")
}

func (s *scanner) literal(want string) error {
	if len(s.data)-s.pos < len(want) || string(s.data[s.pos:s.pos+len(want)]) != want {
		return s.fail(s.pos, "a JSON value was expected")
	}
	s.pos += len(want)
	return nil
}

// linearNames is up to how many names of an object are compared one by one.
const linearNames = 12

func (s *scanner) object(depth int) error {
	if depth > MaxDepth {
		return s.fail(s.pos, "nested deeper than %d levels", MaxDepth)
	}
	s.pos++
	if s.space(); s.peek() == '}' {
		s.pos++
		return nil
	}
	var few [linearNames][]byte
	var many map[string]struct{}
	for n := 0; ; n++ {
		s.space()
		at := s.pos
		if s.peek() != '"' {
			return s.unexpected("a name in quotes")
		}
		if err := s.str(); err != nil {
			return err
		}
		if n == MaxNames {
			return s.fail(at, "an object with more than %d names", MaxNames)
		}
		name := unquote(s.data[at:s.pos])
		if n < linearNames {
			for _, other := range few[:n] {
				if string(other) == string(name) {
					return s.fail(at, "the name %q is used twice in one object", clip(string(name)))
				}
			}
			few[n] = name
		} else {
			if many == nil {
				many = make(map[string]struct{}, 4*linearNames)
				for _, other := range few {
					many[string(other)] = struct{}{}
				}
			}
			if _, twice := many[string(name)]; twice {
				return s.fail(at, "the name %q is used twice in one object", clip(string(name)))
			}
			many[string(name)] = struct{}{}
		}
		if s.space(); s.peek() != ':' {
			return s.unexpected("':'")
		}
		s.pos++
		s.space()
		if err := s.value(depth); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			return nil
		default:
			return s.unexpected("',' or '}'")
		}
	}
}

func (s *scanner) array(depth int) error {
	if depth > MaxDepth {
		return s.fail(s.pos, "nested deeper than %d levels", MaxDepth)
	}
	s.pos++
	if s.space(); s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		s.space()
		if err := s.value(depth); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			return nil
		default:
			return s.unexpected("',' or ']'")
		}
	}
}

func (s *scanner) str() error {
	s.pos++
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		switch {
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		case c < 0x20:
			return s.fail(s.pos, "the control character %#02x must be escaped in a string", c)
		case c < utf8.RuneSelf:
			s.pos++
		default:
			r, n := utf8.DecodeRune(s.data[s.pos:])
			if r == utf8.RuneError && n == 1 {
				return s.fail(s.pos, "invalid UTF-8")
			}
			s.pos += n
		}
	}
	return s.fail(s.pos, "a string is not closed")
}

func (s *scanner) escape() error {
	at := s.pos
	if s.pos++; s.pos == len(s.data) {
		return s.fail(s.pos, "a string is not closed")
	}
	switch s.data[s.pos] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
	default:
		return s.fail(at, "an unknown escape in a string")
	}
	u, ok := hex4(s.data, s.pos+1)
	if !ok {
		return s.fail(at, `\u must be followed by four hexadecimal digits`)
	}
	s.pos += 5
	switch {
	case 0xDC00 <= u && u < 0xE000:
		return s.fail(at, "a lone surrogate")
	case 0xD800 <= u && u < 0xDC00:
		if len(s.data)-s.pos < 6 || s.data[s.pos] != '\\' || s.data[s.pos+1] != 'u' {
			return s.fail(at, "a lone surrogate")
		}
		if low, ok := hex4(s.data, s.pos+2); !ok || low < 0xDC00 || low >= 0xE000 {
			return s.fail(at, "a lone surrogate")
		}
		s.pos += 6
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for c := s.peek(); '0' <= c && c <= '9'; c = s.peek() {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) number() error {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		if s.pos++; '0' <= s.peek() && s.peek() <= '9' {
			return s.fail(s.pos, "a number must not begin with 0")
		}
	} else if !s.digits() {
		return s.unexpected("a digit")
	}
	if s.peek() == '.' {
		if s.pos++; !s.digits() {
			return s.unexpected("a digit")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	return nil
}

// skip moves past one value of a checked text.
func (s *scanner) skip() {
	depth := 0
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case '{', '[':
			depth++
			s.pos++
		case '}', ']':
			depth--
			s.pos++
		case '"':
			s.skipString()
		case ' ', '\t', '\n', '\r', ',', ':':
			s.pos++
			continue
		default: // number or literal
			for s.pos < len(s.data) && !delimiter(s.data[s.pos]) {
				s.pos++
			}
		}
		if depth == 0 {
			return
		}
	}
}

func (s *scanner) skipString() {
	for s.pos++; s.data[s.pos] != '"'; s.pos++ {
		if s.data[s.pos] == '\\' {
			s.pos++
		}
	}
	s.pos++
}

func delimiter(c byte) bool {
	switch c {
	case ' ', '\t', '\n', '\r', ',', ':', '}', ']':
		return true
	}
	return false
}

// hex4 reads four hexadecimal digits.
func hex4(data []byte, at int) (rune, bool) {
	if at+4 > len(data) {
		return 0, false
	}
	var u rune
	for _, c := range data[at : at+4] {
		u <<= 4
		switch {
		case '0' <= c && c <= '9':
			u |= rune(c - '0')
		case 'a' <= c && c <= 'f':
			u |= rune(c - 'a' + 10)
		case 'A' <= c && c <= 'F':
			u |= rune(c - 'A' + 10)
		default:
			return 0, false
		}
	}
	return u, true
}

// unquote gives the text of a checked string token. It shares memory with
// quoted when the token has no escape.
func unquote(quoted []byte) []byte {
	in := quoted[1 : len(quoted)-1]
	i := 0
	for i < len(in) && in[i] != '\\' {
		i++
	}
	if i == len(in) {
		return in
	}
	out := append(make([]byte, 0, len(in)), in[:i]...)
	for i < len(in) {
		if in[i] != '\\' {
			out = append(out, in[i])
			i++
			continue
		}
		i += 2
		switch c := in[i-1]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, _ := hex4(in, i)
			i += 4
			if 0xD800 <= r && r < 0xDC00 {
				low, _ := hex4(in, i+2)
				r = 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
				i += 6
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
	}
	return out
}
