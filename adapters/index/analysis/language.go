package analysis

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
	"github.com/kljensen/snowball/english"
)

// language is one whose words are reduced to stems.
type language uint8

const (
	inEnglish language = iota
	inGerman
	inFrench
	inSpanish
	inItalian
	inPortuguese
	inDutch
	inSwedish
	inTurkish
	// These are told by their script, word by word.
	inRussian
	inArabic
	inHindi
	languages

	latin = inRussian // from here on a language has a script of its own
)

// tongue is what is known of a language.
type tongue struct {
	code     string // ISO 639-1
	stem     func(word string) string
	function string // words that say how a sentence is built, separated by space, in lower case
}

// A stemmer of Snowball's works on words in lower case with their marks.
func snowball(stem func(*snowballstem.Env) bool) func(string) string {
	return func(word string) string {
		env := snowballstem.NewEnv(word)
		stem(env)
		return env.Current()
	}
}

var tongues = [languages]tongue{
	inEnglish:    {"en", func(w string) string { return english.Stem(w, true) }, englishWords},
	inGerman:     {"de", snowball(german.Stem), germanWords},
	inFrench:     {"fr", snowball(french.Stem), frenchWords},
	inSpanish:    {"es", snowball(spanish.Stem), spanishWords},
	inItalian:    {"it", snowball(italian.Stem), italianWords},
	inPortuguese: {"pt", snowball(portuguese.Stem), portugueseWords},
	inDutch:      {"nl", snowball(dutch.Stem), dutchWords},
	inSwedish:    {"sv", snowball(swedish.Stem), swedishWords},
	inTurkish:    {"tr", snowball(turkish.Stem), turkishWords},
	inRussian:    {"ru", snowball(russian.Stem), russianWords},
	inArabic:     {"ar", snowball(arabic.Stem), arabicWords},
	inHindi:      {"hi", hindiStem, hindiWords},
}

// set is a set of languages.
type set uint16

func (s set) has(l language) bool { return s&(1<<l) != 0 }

// Languages are the codes (ISO 639-1) of the languages beside English whose words can be reduced.
func Languages() []string {
	out := make([]string, 0, languages-1)
	for _, t := range tongues[inEnglish+1:] {
		out = append(out, t.code)
	}
	return out
}

// Knows reports whether words of a language can be reduced; those of English can.
func Knows(code string) bool {
	_, ok := byCode(code)
	return ok
}

// byCode finds a language.
func byCode(code string) (language, bool) {
	l := slices.IndexFunc(tongues[:], func(t tongue) bool { return t.code == code })
	return language(max(l, 0)), l >= 0
}

// parseLanguages is a set of codes, with English.
func parseLanguages(codes []string) (s set, err error) {
	s = 1 << inEnglish
	for _, code := range codes {
		l, ok := byCode(code)
		if !ok {
			return 0, fmt.Errorf("analysis: language %q: want some of en, %s", code, strings.Join(Languages(), ", "))
		}
		s |= 1 << l
	}
	return s, nil
}

// ambiguous marks a word of English that is one of another language, too: "was", "die".
const ambiguous set = 1 << languages

// evidence gives, for each function word, how much it speaks for which languages.
var evidence = sync.OnceValue(func() map[string]set {
	out := map[string]set{}
	for l, t := range tongues[:latin] {
		for w := range strings.FieldsSeq(t.function) {
			if len(w) > 1 { // letters alone, as in "Anna's", stand in all of them
				out[w] |= 1 << l
			}
		}
	}
	// What English has too speaks for nothing else, since English is what a text is taken for.
	for w, of := range out {
		if of.has(inEnglish) && of.len() > 1 {
			out[w] = 1<<inEnglish | ambiguous
		}
	}
	return out
})

// Of a text so many words are looked at, which tell its language: chunks are of one.
const wordsTold = 200

// Questions of so many words at most are tried in every language where nothing tells theirs.
const shortQuestion = 6

const (
	proof     = 1   // a word or a letter that one language alone has
	hint      = .5  // a word that two have
	ofALetter = .75 // one that several have, once for each
)

// tell finds the languages that words in Latin script may be of, the likeliest first. English is
// one of them always, since names, code and quotes in it stand in texts of any, and a question
// of few words may be misjudged: what a text says in another language is found by the forms
// of its words, too.
func (a *Analyzer) tell(text string) (likely [3]language, n int) {
	if a.known == 1<<inEnglish {
		return likely, 1
	}
	c := a.weigh(text)
	return a.rank(c.scores)
}

// tellQuery is tell of a query. One of a few words that neither English nor another language owns
// a word or letter of is tried in all of them: what its words are in a language that it is not in
// stands in few texts, and what they are in its own is what its answers are found by.
func (a *Analyzer) tellQuery(text string) (tried []language, sure int) {
	if a.known == 1<<inEnglish {
		return []language{inEnglish}, 1
	}
	c := a.weigh(text)
	likely, n := a.rank(c.scores)
	out := likely[:n]
	if out[0] != inEnglish || c.english || c.words > shortQuestion {
		return out, n
	}
	for l := inEnglish + 1; l < latin; l++ {
		if a.known.has(l) && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out, n
}

// clues are what a text says of its language.
type clues struct {
	scores  [latin]float32
	words   int  // that were looked at
	english bool // it has a function word that English alone has
}

func (a *Analyzer) weigh(text string) (found clues) {
	scores := &found.scores
	var word [maxFunction]byte
	var own, lettered set
	words := 0
	for i := 0; i < len(text) && words < wordsTold; {
		if c := text[i]; c < utf8.RuneSelf && ascii[c] != letter {
			i++
			continue
		}
		length, fits := 0, true
		start := i
		for i < len(text) {
			c, size := rune(text[i]), 1
			if c >= utf8.RuneSelf {
				if c, size = utf8.DecodeRuneInString(text[i:]); !unicode.IsLetter(c) {
					break
				}
				if of := lettersOf(c); of.len() == 1 {
					own |= of
				} else {
					lettered |= of
				}
				c = unicode.ToLower(c)
			} else if ascii[c] != letter {
				break
			} else if c <= 'Z' {
				c += 'a' - 'A'
			}
			if fits = fits && length+utf8.RuneLen(c) <= len(word); fits {
				length += utf8.EncodeRune(word[length:], c)
			}
			i += size
		}
		if i == start { // a rune that is no letter
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		words++
		if of := a.evidence[string(word[:length])]; fits && of != 0 {
			found.english = found.english || of == 1<<inEnglish
			of &^= ambiguous
			share := 1 / float32(of.len())
			for l := range scores {
				if of.has(language(l)) {
					scores[l] += share
				}
			}
		}
	}
	for l := range scores {
		switch {
		case own.has(language(l)):
			scores[l] += proof
		case lettered.has(language(l)):
			scores[l] += ofALetter
		}
	}
	found.words = words
	return found
}

// rank orders the languages that the evidence allows.
func (a *Analyzer) rank(scores [latin]float32) (likely [3]language, n int) {
	other := func(but language) (best language) {
		for l := inEnglish + 1; l < latin; l++ {
			if l != but && a.known.has(l) && (best == inEnglish || scores[l] > scores[best]) {
				best = l
			}
		}
		return best
	}
	first := other(inEnglish)
	if first == inEnglish || scores[first] < hint || 2*scores[first] < scores[inEnglish] {
		return likely, 1
	}
	likely[1], n = first, 2
	if second := other(first); second != inEnglish && scores[second] >= hint && 2*scores[second] > scores[first] {
		likely[2], n = second, 3
	}
	if scores[first] >= proof && scores[first] > scores[inEnglish] {
		likely[0], likely[1] = first, inEnglish
	}
	return likely, n
}

func (s set) len() int { return bits.OnesCount16(uint16(s)) }

// lettersOf are the languages that a letter speaks for.
func lettersOf(r rune) set {
	switch unicode.ToLower(r) {
	case 'ß':
		return 1 << inGerman
	case 'ä':
		return 1<<inGerman | 1<<inSwedish
	case 'ö':
		return 1<<inGerman | 1<<inSwedish | 1<<inTurkish
	case 'ü':
		return 1<<inGerman | 1<<inTurkish
	case 'å':
		return 1 << inSwedish
	case 'ğ', 'ş', 'ı':
		return 1 << inTurkish
	case 'ñ':
		return 1 << inSpanish
	case 'ã', 'õ':
		return 1 << inPortuguese
	case 'ç':
		return 1<<inFrench | 1<<inPortuguese | 1<<inTurkish
	case 'á', 'í', 'ó', 'ú':
		return 1<<inSpanish | 1<<inPortuguese
	case 'ê', 'ô', 'â':
		return 1<<inFrench | 1<<inPortuguese
	case 'œ', 'î', 'û', 'ë':
		return 1 << inFrench
	case 'à':
		return 1<<inFrench | 1<<inItalian | 1<<inPortuguese
	case 'è':
		return 1<<inFrench | 1<<inItalian
	case 'é':
		return 1<<inFrench | 1<<inSpanish | 1<<inPortuguese
	case 'ì', 'ò', 'ù':
		return 1 << inItalian
	}
	return 0
}

// byScript is the language of words in a script; ok is false for Latin and those that no
// stemmer here knows.
func byScript(r rune) (language, bool) {
	switch {
	case r >= 0x0400 && r <= 0x052f:
		return inRussian, true
	case r >= 0x0620 && r <= 0x06ff:
		return inArabic, true
	case r >= 0x0900 && r <= 0x097f:
		return inHindi, true
	}
	return 0, false
}

// spelled are letters of Russian and Arabic that many write as others, and the stemmers know the others.
var spelled = map[rune]rune{'ё': 'е', 'ى': 'ي', 'ی': 'ي', 'ک': 'ك'}

// plainer brings a word nearer to what its stemmer knows, in place where it can.
func plainer(l language, w []byte) []byte {
	switch l {
	case inPortuguese: // canções, pães and mãos of canção, pão and mão
		for _, plural := range []string{"ões", "ães", "ãos"} {
			if stem, ok := bytes.CutSuffix(w, []byte(plural)); ok && len(stem) > 0 {
				return append(stem, "ão"...)
			}
		}
	case inArabic: // "and the", "so the"
		for _, joined := range []string{"وال", "فال"} {
			if bytes.HasPrefix(w, []byte(joined)) && utf8.RuneCount(w) >= 6 {
				return w[len("و"):]
			}
		}
	}
	return w
}

// Suffixes of Hindi, the longest first; Ramanathan and Rao, A Lightweight Stemmer for Hindi, 2003.
var hindiSuffixes = [...]string{
	"ाएंगी", "ाएंगे", "ाऊंगी", "ाऊंगा", "ाइयां", "ाइयों", "ाएगी", "ाएगा", "ाओगी", "ाओगे", "एंगी",
	"ेंगी", "एंगे", "ेंगे", "ूंगी", "ूंगा", "ातीं", "नाओं", "नाएं", "ताओं", "ताएं", "ियां", "ियों",
	"ाकर", "ाइए", "ाईं", "ाया", "ेगी", "ेगा", "ोगी", "ोगे", "ाने", "ाना", "ाते", "ाती", "ाता", "तीं",
	"ाओं", "ाएं", "ुओं", "ुएं", "ुआं", "कर", "ाओ", "िए", "ाई", "ाए", "ने", "नी", "ना", "ते", "ीं", "ती",
	"ता", "ां", "ों", "ें", "ो", "े", "ू", "ु", "ी", "ि", "ा",
}

// hindiSpelling brings spellings together: marks of nasals, and the nasal of a consonant's own
// class before it, which is a letter to some and a dot to others (after HindiNormalizer of Lucene).
var hindiSpelling = strings.NewReplacer("ँ", "ं", "न्", "ं",
	"म्प", "ंप", "म्फ", "ंफ", "म्ब", "ंब", "म्भ", "ंभ", "ङ्क", "ंक", "ङ्ख", "ंख", "ङ्ग", "ंग", "ङ्घ", "ंघ",
	"ञ्च", "ंच", "ञ्छ", "ंछ", "ञ्ज", "ंज", "ञ्झ", "ंझ", "ण्ट", "ंट", "ण्ठ", "ंठ", "ण्ड", "ंड", "ण्ढ", "ंढ")

// hindiStem cuts the longest suffix that leaves at least two characters.
func hindiStem(word string) string {
	word = hindiSpelling.Replace(word)
	for _, s := range hindiSuffixes {
		if stem, ok := strings.CutSuffix(word, s); ok && utf8.RuneCountInString(stem) >= 2 {
			return stem
		}
	}
	return word
}
