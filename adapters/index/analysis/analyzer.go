package analysis

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/mnemehq/mneme/core/port"
)

// MaxTerm is the length in bytes at which a word is cut; a longer identifier is
// indexed by its parts only.
const MaxTerm = 64

// Stemmer names a way to reduce words to a common form.
type Stemmer string

// The stemmers.
const (
	Porter2 Stemmer = "porter2" // Snowball's, of each language: inflections and derivations
	Plural  Stemmer = "plural"  // Harman's S-stemmer (JASIS 42(1), 1991): plurals of English only
	None    Stemmer = "none"
)

// Token is one term of a text. Term is valid until the next token.
type Token struct {
	Term       []byte
	Start, End int  // byte offsets of the surface form in the text
	Extra      bool // stands beside other tokens of the same place; not part of the text's length
	Part       bool // a character of a longer run, indexed for queries of one character; queries leave it out
	stop       bool // a function word; of queries only
	guess      bool // of a language that nothing tells of; of queries only
}

// Analyzer is safe for concurrent use.
type Analyzer struct {
	stemmer  Stemmer
	known    set // of languages
	evidence map[string]set
	stops    [languages]func() map[string]bool // terms of function words
	cache    []atomic.Pointer[stemmed]
}

type stemmed struct {
	in         language
	word, stem string
}

const cacheSize = 1 << 16 // in pairs that share a hash

// New makes an analyzer. Words of the languages, by their codes (ISO 639-1), are reduced by
// Porter2, and those of English in any case. The error says that a name is unknown.
func New(s Stemmer, codes ...string) (*Analyzer, error) {
	known, err := parseLanguages(codes)
	if err != nil {
		return nil, err
	}
	a := &Analyzer{stemmer: s, known: known}
	for l := range a.stops {
		a.stops[l] = sync.OnceValue(func() map[string]bool { return a.stopTerms(language(l)) })
	}
	switch s {
	case Porter2:
		a.cache = make([]atomic.Pointer[stemmed], cacheSize)
		a.evidence = evidence()
		return a, nil
	case Plural, None:
		a.known = 1 << inEnglish
		return a, nil
	}
	return nil, fmt.Errorf("analysis: stemmer %q: want %s, %s or %s", s, Porter2, Plural, None)
}

// Version changes whenever the same text gives other terms than before; an
// index built with another version is rebuilt.
func (a *Analyzer) Version() string {
	version := "3-" + string(a.stemmer)
	for l, t := range tongues[inEnglish+1:] {
		if a.known.has(inEnglish + 1 + language(l)) {
			version += "-" + t.code
		}
	}
	return version
}

// class of a rune.
type class uint8

const (
	space class = iota // separates
	letter
	digit
	joiner // joins words to an identifier
	quote  // apostrophe
	sign   // + or #
	gram   // script without spaces
	symbol
)

var ascii = [128]class{
	'_': joiner, '-': joiner, '.': joiner, '/': joiner, ':': joiner, '@': joiner, '&': joiner, '\\': joiner,
	'\'': quote, '+': sign, '#': sign,
	'0': digit, '1': digit, '2': digit, '3': digit, '4': digit, '5': digit, '6': digit, '7': digit, '8': digit, '9': digit,
	'a': letter, 'b': letter, 'c': letter, 'd': letter, 'e': letter, 'f': letter, 'g': letter, 'h': letter, 'i': letter,
	'j': letter, 'k': letter, 'l': letter, 'm': letter, 'n': letter, 'o': letter, 'p': letter, 'q': letter, 'r': letter,
	's': letter, 't': letter, 'u': letter, 'v': letter, 'w': letter, 'x': letter, 'y': letter, 'z': letter,
	'A': letter, 'B': letter, 'C': letter, 'D': letter, 'E': letter, 'F': letter, 'G': letter, 'H': letter, 'I': letter,
	'J': letter, 'K': letter, 'L': letter, 'M': letter, 'N': letter, 'O': letter, 'P': letter, 'Q': letter, 'R': letter,
	'S': letter, 'T': letter, 'U': letter, 'V': letter, 'W': letter, 'X': letter, 'Y': letter, 'Z': letter,
}

func classOf(r rune) class {
	switch {
	case r < 128:
		return ascii[r]
	case r == '\u2019':
		return quote
	case r == utf8.RuneError:
		return space
	case isGram(r):
		return gram
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return letter
	case unicode.IsNumber(r):
		return digit
	case r >= 0x2600 && r <= 0x27bf, r >= 0x1f000 && unicode.Is(unicode.So, r):
		return symbol
	}
	return space
}

// isGram reports scripts written without spaces, and Hangul, whose words carry
// their particles.
func isGram(r rune) bool {
	return r >= 0x0e00 && r <= 0x0eff && (unicode.IsLetter(r) || unicode.IsMark(r)) || // Thai, Lao
		r >= 0x1000 && r <= 0x109f && (unicode.IsLetter(r) || unicode.IsMark(r)) || // Myanmar
		r >= 0x1100 && r <= 0x11ff || // Hangul Jamo
		r >= 0x1780 && r <= 0x17ff && (unicode.IsLetter(r) || unicode.IsMark(r)) || // Khmer
		r == 0x3005 || r == 0x3007 ||
		r >= 0x3041 && r <= 0x309f && r != 0x309b && r != 0x309c || // Hiragana
		r >= 0x30a1 && r <= 0x30ff && r != 0x30fb || // Katakana
		r >= 0x3400 && r <= 0x4dbf || r >= 0x4e00 && r <= 0x9fff || // Han
		r >= 0xac00 && r <= 0xd7a3 || // Hangul
		r >= 0xf900 && r <= 0xfaff ||
		r >= 0xff66 && r <= 0xff9f || // half-width Katakana
		r >= 0x20000 && r <= 0x323af
}

func isHan(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf || r >= 0xf900 && r <= 0xfaff || r >= 0x20000 && r <= 0x323af
}

// Scanner walks over texts; it holds scratch space and serves one goroutine at a time.
type Scanner struct {
	a      *Analyzer
	emit   func(Token)
	text   string
	told   language      // that the text is said to be in, inEnglish if none is
	likely []language    // of the text, the likeliest first
	forms  [latin][]byte // of the word at hand, one for each
	buf    []byte
	whole  []byte
	native []byte
	parts  []span

	question bool     // the text is a query
	marks    bool     // function words get Token.stop
	of       language // of the word at hand
	stopped  bool     // it is a function word
	beside   bool     // its other forms come, which are one where the first is
	guess    bool     // the form at hand is of a language beyond sure
	sure     int      // so many of likely are told
}

type span struct {
	start, end int
	plain      bool // ASCII only
}

// Scanner makes a scanner that hands tokens to emit.
func (a *Analyzer) Scanner(emit func(Token)) *Scanner { return &Scanner{a: a, emit: emit} }

// Scan emits the tokens of a text in order of appearance. Where its language is said, that is
// taken, whatever the text looks like; a language that is none of port.Languages is not said.
func (s *Scanner) Scan(w port.Wording) {
	said, ok := byCode(w.Language)
	if !ok || s.a.stemmer != Porter2 {
		s.told = inEnglish
		if s.question {
			var likely []language
			likely, s.sure = s.a.tellQuery(w.Text)
			s.scan(w.Text, likely)
			return
		}
		likely, n := s.a.tell(w.Text)
		s.scan(w.Text, likely[:n])
		return
	}
	s.told, s.sure = said, 2
	switch {
	case said == inEnglish || said >= latin: // Latin words in it
		s.scan(w.Text, []language{inEnglish})
	default:
		s.scan(w.Text, []language{said, inEnglish})
	}
}

func (s *Scanner) scan(text string, likely []language) {
	s.text, s.likely, s.of = text, likely, likely[0]
	if !s.question {
		s.sure = len(likely)
	}
	for i := 0; i < len(text); {
		c, size := s.at(i)
		switch c {
		case letter, digit:
			i = s.identifier(i)
		case gram:
			i = s.grams(i)
		case symbol:
			s.emit(Token{Term: append(s.buf[:0], text[i:i+size]...), Start: i, End: i + size})
			i += size
		default:
			i += size
		}
	}
}

func (s *Scanner) at(i int) (class, int) {
	if c := s.text[i]; c < utf8.RuneSelf {
		return ascii[c], 1
	}
	r, size := utf8.DecodeRuneInString(s.text[i:])
	return classOf(r), size
}

// word finds the end of the word at i.
func (s *Scanner) word(i int) span {
	w := span{start: i, plain: true}
	for i < len(s.text) {
		c, size := s.at(i)
		if c != letter && c != digit {
			break
		}
		if size > 1 {
			w.plain = false
		}
		i += size
	}
	w.end = i
	return w
}

// identifier emits the word at i and what is joined to it, and returns the
// place after them.
func (s *Scanner) identifier(i int) int {
	text := s.text
	s.parts = append(s.parts[:0], s.word(i))
	start, end := i, s.parts[0].end
	strong, thousands := false, false // a joiner that makes a whole; all joiners are thousands separators
	for end < len(text) {
		c := text[end]
		if c >= utf8.RuneSelf || ascii[c] == space && c != ',' {
			break
		}
		last := s.parts[len(s.parts)-1]
		next := end + 1
		if c == ',' {
			// 1,000 and 12,345,678, not 1,2.
			if (len(s.parts) > 1 && !thousands) || !s.isThousands(last, next, len(s.parts) == 1) {
				break
			}
			thousands = true
		} else if ascii[c] != joiner || thousands { // 1,000.5 ends the number
			break
		}
		if next < len(text) && (c == ':' || c == '/' || c == '\\') { // a://b, a::b, a\\b
			for next < len(text) && next-end < 3 && (text[next] == '/' || text[next] == c) {
				next++
			}
		}
		if next >= len(text) {
			break
		}
		if k, _ := s.at(next); k != letter && k != digit {
			break
		}
		w := s.word(next)
		switch c {
		case '_', '@', '&', '.':
			strong = true
		case ',':
		default:
			strong = strong || s.hasDigit(w) || s.hasDigit(last)
			if c == '/' || c == '\\' {
				strong = strong || len(s.parts) > 1
			}
		}
		s.parts = append(s.parts, w)
		end = w.end
	}
	if len(s.parts) == 1 {
		return s.single(s.parts[0])
	}
	if thousands {
		s.buf = s.buf[:0]
		for _, p := range s.parts {
			s.buf = append(s.buf, text[p.start:p.end]...)
		}
		s.put(s.buf, start, end, false)
		return end
	}
	after := end
	for _, p := range s.parts {
		after = max(after, s.single(p))
	}
	if strong && end-start <= MaxTerm {
		s.buf = s.fold(s.buf[:0], text[start:end], false)
		s.put(s.buf, start, end, true)
	}
	return after
}

// isThousands reports whether a comma before next separates groups of three
// digits.
func (s *Scanner) isThousands(last span, next int, first bool) bool {
	n := last.end - last.start
	if first && n > 3 || !first && n != 3 || len(s.text) < next+3 {
		return false
	}
	for i := last.start; i < last.end; i++ {
		if ascii[s.text[i]&127] != digit || s.text[i] >= utf8.RuneSelf {
			return false
		}
	}
	for i := next; i < next+3; i++ {
		if s.text[i] >= utf8.RuneSelf || ascii[s.text[i]] != digit {
			return false
		}
	}
	if len(s.text) == next+3 {
		return true
	}
	c, _ := s.at(next + 3)
	return c != digit && c != letter
}

func (s *Scanner) hasDigit(w span) bool {
	for i := w.start; i < w.end; i++ {
		if c := s.text[i]; c >= '0' && c <= '9' {
			return true
		}
	}
	return false
}

// single emits one word with the signs and apostrophes around it, and returns
// the place after them.
func (s *Scanner) single(w span) int {
	text, end := s.text, w.end
	// Signs: C++, C#, F#, #123.
	if end < len(text) && w.end-w.start <= 2 && ascii[text[w.start]&127] == letter && w.plain {
		n := 0
		for n < 2 && end+n < len(text) && text[end+n] == '+' {
			n++
		}
		if n < 2 {
			n = 0
			if text[end] == '#' {
				n = 1
			}
		}
		if n > 0 {
			next := space
			if end+n < len(text) {
				next, _ = s.at(end + n)
			}
			if next != letter && next != digit {
				s.term(w, false)
				s.buf = s.fold(s.buf[:0], text[w.start:end+n], true)
				s.put(s.buf, w.start, end+n, true)
				return end + n
			}
		}
	}
	if w.start > 0 && text[w.start-1] == '#' && w.plain &&
		(w.start == 1 || text[w.start-2] < utf8.RuneSelf && ascii[text[w.start-2]] == space) {
		s.term(w, false)
		if end-w.start < MaxTerm {
			s.buf = s.fold(append(s.buf[:0], '#'), text[w.start:end], w.plain)
			s.put(s.buf, w.start-1, end, true)
		}
		return end
	}
	// Apostrophes.
	if end < len(text) {
		if c, size := s.at(end); c == quote && end+size < len(text) {
			if k, _ := s.at(end + size); k == letter {
				tail := s.word(end + size)
				switch t := text[tail.start:tail.end]; {
				case !tail.plain || len(t) > 2:
				case t == "s" || t == "S":
					s.term(w, false)
					return tail.end
				case contraction(t):
					s.buf = s.fold(s.buf[:0], text[w.start:w.end], w.plain)
					s.buf = s.fold(s.buf, t, true)
					s.put(s.buf, w.start, tail.end, false)
					return tail.end
				}
			}
		}
	}
	s.term(w, false)
	return end
}

func contraction(t string) bool {
	switch t {
	case "t", "re", "ll", "ve", "d", "m", "T", "RE", "LL", "VE", "D", "M":
		return true
	}
	return false
}

// term emits a word, and its humps when it is camelCase.
func (s *Scanner) term(w span, extra bool) {
	if !w.plain && s.byScript(w, extra) {
		return
	}
	s.buf = s.fold(s.buf[:0], s.text[w.start:w.end], w.plain)
	if w.plain && !extra {
		if hump := s.hump(w.start+1, w.end); hump < w.end {
			s.put(s.stem(inEnglish, s.buf), w.start, w.end, false)
			for from := w.start; from < w.end; {
				s.buf = s.fold(s.buf[:0], s.text[from:hump], true)
				s.put(s.stem(inEnglish, s.buf), from, hump, true)
				from = hump
				hump = s.hump(from+1, w.end)
			}
			return
		}
	}
	if w.plain && acronyms(s.text[w.start:w.end]) {
		s.put(s.buf[:len(s.buf)-1], w.start, w.end, extra)
		return
	}
	for i, l := range s.likely {
		form := s.buf
		switch {
		case l != inEnglish:
			form = s.stem(l, s.lower(l, w))
		case w.plain:
			form = s.stem(l, s.buf)
		}
		s.forms[i] = append(s.forms[i][:0], form...)
		if slices.ContainsFunc(s.forms[:i], func(f []byte) bool { return bytes.Equal(f, s.forms[i]) }) {
			continue
		}
		s.beside, s.guess = i > 0, i >= s.sure
		s.put(s.forms[i], w.start, w.end, extra || i > 0)
	}
	s.beside, s.guess = false, false
}

// byScript emits a word whose script tells its language; false: it does not.
func (s *Scanner) byScript(w span, extra bool) bool {
	first, _ := utf8.DecodeRuneInString(s.text[w.start:])
	l, ok := byScript(first)
	if !ok || !s.a.known.has(l) && l != s.told {
		return false
	}
	s.of = l
	s.put(s.stem(l, s.lower(l, w)), w.start, w.end, extra)
	s.of = s.likely[0]
	return true
}

// lower is a word as its language writes it, in lower case.
func (s *Scanner) lower(l language, w span) []byte {
	raw := s.text[w.start:w.end]
	s.native = s.native[:0]
	if !w.plain {
		raw = norm.NFC.String(raw)
	}
	for _, r := range raw {
		switch {
		case l == inTurkish:
			r = unicode.TurkishCase.ToLower(r)
		case l >= latin && dropped(r): // stress, vowels and nukta that few write
			continue
		}
		r = unicode.ToLower(r)
		if to, ok := spelled[r]; ok && l >= latin {
			r = to
		}
		s.native = utf8.AppendRune(s.native, r)
	}
	return plainer(l, s.native)
}

// acronyms reports an acronym's plural: PDFs.
func acronyms(w string) bool {
	n := len(w) - 1
	if n < 2 || w[n] != 's' {
		return false
	}
	for i := range n {
		if w[i] < 'A' || w[i] > 'Z' {
			return false
		}
	}
	return true
}

// hump finds the next place from i on where a new hump begins: an upper-case
// letter after a lower-case one, or the last upper-case letter before a
// lower-case one (HTTPServer).
func (s *Scanner) hump(i, end int) int {
	text := s.text
	for ; i < end; i++ {
		if c := text[i]; c >= 'A' && c <= 'Z' {
			if p := text[i-1]; p >= 'a' && p <= 'z' {
				return i
			}
			if p := text[i-1]; i+2 < end && p >= 'A' && p <= 'Z' && text[i+1] >= 'a' && text[i+1] <= 'z' &&
				text[i+2] >= 'a' && text[i+2] <= 'z' {
				return i
			}
		}
	}
	return end
}

func (s *Scanner) put(term []byte, start, end int, extra bool) {
	if len(term) > MaxTerm {
		n := MaxTerm
		for n > 0 && !utf8.RuneStart(term[n]) {
			n--
		}
		term = term[:n]
	}
	if len(term) == 0 {
		return
	}
	if s.marks && !s.beside {
		s.stopped = s.a.stops[s.of]()[string(term)]
	}
	s.emit(Token{Term: term, Start: start, End: end, Extra: extra, stop: s.stopped, guess: s.guess})
}

// grams emits the bigrams of the run at i and returns the place after it.
func (s *Scanner) grams(i int) int {
	text := s.text
	start := i
	prev := -1 // where the character before begins
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isGram(r) && !(prev >= 0 && unicode.IsMark(r)) {
			break
		}
		if isHan(r) {
			s.buf = s.fold(s.buf[:0], text[i:i+size], false)
			// A lone character is the text; inside a run the bigrams are.
			next, _ := utf8.DecodeRuneInString(text[i+size:])
			inside := prev >= 0 || isGram(next)
			s.emit(Token{Term: s.buf, Start: i, End: i + size, Extra: inside, Part: inside})
		}
		if prev >= 0 {
			s.buf = s.fold(s.buf[:0], text[prev:i+size], false)
			s.put(s.buf, prev, i+size, false)
		}
		prev = i
		i += size
	}
	if prev == start {
		if r, _ := utf8.DecodeRuneInString(text[start:]); !isHan(r) {
			s.buf = s.fold(s.buf[:0], text[start:i], false)
			s.put(s.buf, start, i, false)
		}
	}
	return i
}

// stem reduces a word in lower case in place or to a cached form.
func (s *Scanner) stem(l language, w []byte) []byte {
	if s.a.stemmer == Plural {
		return plural(w)
	}
	if s.a.stemmer == None || !stemmable(l, w) {
		if l != inEnglish {
			return s.fold(s.buf[:0], string(w), false)
		}
		return w
	}
	h := uint32(2166136261) + uint32(l)
	for _, c := range w {
		h = (h ^ uint32(c)) * 16777619
	}
	pair := (h ^ h>>15) % cacheSize &^ 1
	e := s.a.cache[pair].Load()
	if e == nil || e.in != l || e.word != string(w) {
		first := e
		if e = s.a.cache[pair|1].Load(); e == nil || e.in != l || e.word != string(w) {
			// The newer stays: it takes the first place and moves that one on.
			word := string(w)
			e = &stemmed{l, word, tongues[l].stem(word)}
			if l != inEnglish {
				e.stem = string(s.fold(nil, e.stem, false))
			}
			s.a.cache[pair].Store(e)
			if first != nil {
				s.a.cache[pair|1].Store(first)
			}
		}
	}
	return append(s.whole[:0], e.stem...)
}

// stemmable reports a word of letters alone that is neither too short nor too long.
func stemmable(l language, w []byte) bool {
	if len(w) < 3 || len(w) > MaxTerm {
		return false
	}
	for _, c := range w {
		if (c < 'a' || c > 'z') && (c < utf8.RuneSelf || l == inEnglish) {
			return false
		}
	}
	return true
}

// plural is Harman's S-stemmer: three rules, the first that fits.
func plural(w []byte) []byte {
	n := len(w)
	if n < 4 || w[n-1] != 's' {
		return w
	}
	switch {
	case w[n-2] == 'e' && w[n-3] == 'i':
		if w[n-4] == 'e' || w[n-4] == 'a' {
			return w
		}
		return append(w[:n-3], 'y')
	case w[n-2] == 'e':
		if w[n-3] == 'a' || w[n-3] == 'e' || w[n-3] == 'o' {
			return w
		}
		return w[:n-1]
	case w[n-2] == 'u' || w[n-2] == 's':
		return w
	}
	return w[:n-1]
}
