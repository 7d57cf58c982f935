package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalizer changes a text before it is split.
type normalizer interface {
	normalize(s string) (string, error)
}

type normalizers []normalizer

func (n normalizers) normalize(s string) (string, error) {
	var err error
	for _, step := range n {
		if s, err = step.normalize(s); err != nil {
			break
		}
	}
	return s, err
}

// always is a normalizer that can't fail.
type always func(string) string

func (f always) normalize(s string) (string, error) { return f(s), nil }

// form is a normal form, as it was when some characters mapped to nothing else yet.
type form struct {
	form norm.Form
	kept []span
}

// keptWhole came with its decomposition after Unicode 12.0.
var keptWhole = []span{{0x11938, 0x11938}}

func (f form) normalize(s string) (string, error) {
	at := -1
	if !ascii(s) {
		at = strings.IndexFunc(s, f.keeps)
	}
	if at < 0 {
		return f.form.String(s), nil
	}
	var out strings.Builder
	for ; at >= 0; at = strings.IndexFunc(s, f.keeps) { // each of them ends what normalization looks at
		_, n := utf8.DecodeRuneInString(s[at:])
		out.WriteString(f.form.String(s[:at]))
		out.WriteString(s[at : at+n])
		s = s[at+n:]
	}
	out.WriteString(f.form.String(s))
	return out.String(), nil
}

func (f form) keeps(r rune) bool {
	for _, s := range f.kept {
		if r >= s.first && r <= s.last {
			return true
		}
	}
	return false
}

func lowered(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	out := make([]rune, 0, len(s))
	for _, r := range s {
		out = appendLower(out, r)
	}
	return string(out)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func withoutMarks(s string) string {
	return strings.Map(func(r rune) rune {
		if combining(r) {
			return -1
		}
		return r
	}, s)
}

// bert is BERT's normalizer (Devlin et al. 2018).
type bert struct{ clean, chinese, strip, lower bool }

func (b bert) normalize(s string) (string, error) {
	if b.clean || b.chinese {
		var out strings.Builder
		out.Grow(len(s))
		for _, r := range s {
			if b.clean {
				if control(r) {
					continue
				}
				if unicode.IsSpace(r) {
					r = ' '
				}
			}
			if b.chinese && ideograph(r) {
				out.WriteByte(' ')
				out.WriteRune(r)
				r = ' '
			}
			out.WriteRune(r)
		}
		s = out.String()
	}
	if b.strip && !ascii(s) {
		s, _ = form{norm.NFD, keptWhole}.normalize(s) // which doesn't fail
		s = strings.Map(func(r rune) rune {
			if accent(r) {
				return -1
			}
			return r
		}, s)
	}
	if b.lower {
		s = lowered(s)
	}
	return s, nil
}

// replaced puts content where a pattern matches.
type replaced struct {
	what    finder
	content string
}

func (r replaced) normalize(s string) (string, error) {
	var out strings.Builder
	rest := 0
	for {
		from, to, err := r.what.find(s, rest)
		if err != nil {
			return "", err
		}
		if from < 0 {
			break
		}
		out.WriteString(s[rest:from])
		out.WriteString(r.content)
		rest = to
	}
	if rest == 0 {
		return s, nil
	}
	out.WriteString(s[rest:])
	return out.String(), nil
}

func prepended(prefix string) normalizer {
	return always(func(s string) string {
		if s == "" {
			return s
		}
		return prefix + s
	})
}

func stripped(left, right bool) normalizer {
	return always(func(s string) string {
		if left {
			s = strings.TrimLeftFunc(s, unicode.IsSpace)
		}
		if right {
			s = strings.TrimRightFunc(s, unicode.IsSpace)
		}
		return s
	})
}
