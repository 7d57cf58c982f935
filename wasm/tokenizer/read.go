package tokenizer

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Bounds of a file.
const (
	MaxFile  = 128 << 20 // bytes
	maxVocab = 1 << 21
	maxToken = 4096 // bytes
	maxID    = 1<<21 - 1
	maxSteps = 32 // of a sequence
	nested   = 8
)

// unsupported says what is not known and what can be done about it.
func unsupported(what, kind, known string) error {
	return fmt.Errorf("%s %q is not supported; %s are. A model with another tokenizer can run as a process or "+
		"behind a remote endpoint", what, kind, known)
}

// Read reads a tokenizer.json. What is broken or not known is an error that says so.
func Read(b []byte) (*Tokenizer, error) {
	if len(b) > MaxFile {
		return nil, fmt.Errorf("it has %d bytes, at most %d are read", len(b), MaxFile)
	}
	var f struct {
		Normalizer    json.RawMessage `json:"normalizer"`
		PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
		PostProcessor json.RawMessage `json:"post_processor"`
		Model         json.RawMessage `json:"model"`
		Added         []added         `json:"added_tokens"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("it is no tokenizer.json: %w", err)
	}
	t := &Tokenizer{added: map[string]uint32{}}
	var err error
	if t.model, t.size, err = readModel(f.Model); err != nil {
		return nil, err
	}
	if t.normalizer, err = readNormalizers(nil, f.Normalizer, 0); err != nil {
		return nil, err
	}
	if t.splitters, err = readSplitters(nil, f.PreTokenizer, 0); err != nil {
		return nil, err
	}
	if t.template, err = readTemplate(f.PostProcessor, 0); err != nil {
		return nil, err
	}
	return t, t.readAdded(f.Added)
}

func (t *Tokenizer) readAdded(tokens []added) error {
	var raw, normal []added
	for _, a := range tokens {
		if a.Content == "" {
			continue
		}
		if a.ID > maxID || len(a.Content) > maxToken {
			return fmt.Errorf("added_tokens: the id %d of %.40q is above %d, or its text too long", a.ID, a.Content, maxID)
		}
		if id := t.model.get(a.Content); id != none {
			a.ID = id // as the library has it
		}
		t.added[a.Content] = a.ID
		t.size = max(t.size, int(a.ID)+1)
		if a.Normalized {
			normal = append(normal, a)
		} else {
			raw = append(raw, a)
		}
	}
	for _, parts := range [][]Part{t.template.single, t.template.pair} {
		for _, p := range parts {
			for _, id := range p.IDs {
				if int(id) >= t.size {
					return fmt.Errorf("post_processor: there is no token %d", id)
				}
			}
		}
	}
	var err error
	if t.raw, err = newAddedTokens(raw, func(a added) (string, error) { return a.Content, nil }); err != nil {
		return err
	}
	t.normal, err = newAddedTokens(normal, func(a added) (string, error) { return t.normalizer.normalize(a.Content) })
	return err
}

// typeOf is the type of a component; "" where it is absent or null.
func typeOf(raw json.RawMessage, what string, depth int) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if depth > nested {
		return "", fmt.Errorf("%s: sequences are nested more than %d deep", what, nested)
	}
	var c struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	if c.Type == "" {
		return "", fmt.Errorf("%s has no type", what)
	}
	return c.Type, nil
}

// textPattern is a pattern as components have it: {"String": ...} or {"Regex": ...}.
type textPattern struct {
	String *string
	Regex  *string
}

func (p textPattern) finder() (finder, error) {
	switch {
	case p.String != nil:
		return literal(*p.String), nil
	case p.Regex != nil:
		return newPattern(*p.Regex)
	}
	return nil, errors.New("the pattern is neither a String nor a Regex")
}

func readNormalizers(out normalizers, raw json.RawMessage, depth int) (normalizers, error) {
	kind, err := typeOf(raw, "normalizer", depth)
	if err != nil || kind == "" {
		return out, err
	}
	var n struct {
		Clean       *bool `json:"clean_text"`
		Chinese     *bool `json:"handle_chinese_chars"`
		Accents     *bool `json:"strip_accents"`
		Lower       *bool `json:"lowercase"`
		Left        bool  `json:"strip_left"`
		Right       bool  `json:"strip_right"`
		Pattern     textPattern
		Content     string
		Prepend     string
		Charsmap    *string           `json:"precompiled_charsmap"`
		Normalizers []json.RawMessage `json:"normalizers"`
	}
	if err := json.Unmarshal(raw, &n); err != nil {
		return nil, fmt.Errorf("normalizer %s: %w", kind, err)
	}
	on := func(b *bool, otherwise bool) bool {
		if b == nil {
			return otherwise
		}
		return *b
	}
	var one normalizer
	switch kind {
	case "BertNormalizer":
		lower := on(n.Lower, true)
		one = bert{clean: on(n.Clean, true), chinese: on(n.Chinese, true), strip: on(n.Accents, lower), lower: lower}
	case "NFC":
		one = form{norm.NFC, nil}
	case "NFD":
		one = form{norm.NFD, keptWhole}
	case "NFKC":
		one = form{norm.NFKC, keptForms}
	case "NFKD":
		one = form{norm.NFKD, append(keptForms[:len(keptForms):len(keptForms)], keptWhole...)}
	case "Lowercase":
		one = always(lowered)
	case "StripAccents":
		one = always(withoutMarks)
	case "Strip":
		one = stripped(n.Left, n.Right)
	case "Prepend":
		one = prepended(n.Prepend)
	case "Replace":
		what, err := n.Pattern.finder()
		if err != nil {
			return nil, fmt.Errorf("normalizer Replace: %w", err)
		}
		one = replaced{what, n.Content}
	case "Precompiled":
		if n.Charsmap == nil || *n.Charsmap == "" {
			return out, nil
		}
		b, err := base64.StdEncoding.DecodeString(*n.Charsmap)
		if err == nil {
			one, err = newCharsmap(b)
		}
		if err != nil {
			return nil, fmt.Errorf("normalizer Precompiled: %w", err)
		}
	case "Sequence":
		for _, inner := range n.Normalizers {
			if out, err = readNormalizers(out, inner, depth+1); err != nil {
				return nil, err
			}
			if len(out) > maxSteps {
				return nil, fmt.Errorf("normalizer: more than %d steps", maxSteps)
			}
		}
		return out, nil
	default:
		return nil, unsupported("normalizer", kind, "BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, "+
			"Replace, Prepend, Precompiled and Sequence")
	}
	return append(out, one), nil
}

func readSplitters(out []splitter, raw json.RawMessage, depth int) ([]splitter, error) {
	kind, err := typeOf(raw, "pre_tokenizer", depth)
	if err != nil || kind == "" {
		return out, err
	}
	var p struct {
		Space         *bool `json:"add_prefix_space"`
		UseRegex      *bool `json:"use_regex"`
		Replacement   string
		Scheme        scheme `json:"prepend_scheme"`
		Split         *bool
		Pattern       textPattern
		Behavior      behavior
		Invert        bool
		Individual    bool              `json:"individual_digits"`
		PreTokenizers []json.RawMessage `json:"pretokenizers"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("pre_tokenizer %s: %w", kind, err)
	}
	isSpace := cut{at: runes(unicode.IsSpace), behavior: removed}
	switch kind {
	case "BertPreTokenizer":
		return append(out, isSpace, cut{at: runes(punctuation), behavior: isolated}), nil
	case "WhitespaceSplit":
		return append(out, isSpace), nil
	case "Whitespace":
		words, err := compiled(`\w+|[^\w\s]+`, characters().ownWord)
		if err != nil {
			return nil, err
		}
		return append(out, cut{at: words, behavior: removed, inverted: true}), nil
	case "Punctuation":
		if p.Behavior == "" {
			p.Behavior = isolated
		}
		return appendCut(out, kind, cut{at: runes(punctuation), behavior: p.Behavior})
	case "Digits":
		c := cut{at: runes(numeric), behavior: contiguous}
		if p.Individual {
			c.behavior = isolated
		}
		return append(out, c), nil
	case "Split":
		at, err := p.Pattern.finder()
		if err != nil {
			return nil, fmt.Errorf("pre_tokenizer Split: %w", err)
		}
		return appendCut(out, kind, cut{at: at, behavior: p.Behavior, inverted: p.Invert})
	case "ByteLevel":
		b := bytewise{space: p.Space == nil || *p.Space}
		if p.UseRegex == nil || *p.UseRegex {
			if b.words, err = newPattern(byteWords); err != nil {
				return nil, err
			}
		}
		return append(out, b), nil
	case "Metaspace":
		if p.Scheme == "" {
			p.Scheme = prependAlways
		}
		if p.Space != nil && !*p.Space {
			p.Scheme = prependNever
		}
		if utf8.RuneCountInString(p.Replacement) != 1 {
			return nil, fmt.Errorf("pre_tokenizer Metaspace: the replacement %q is not one character", p.Replacement)
		}
		switch p.Scheme {
		case prependAlways, prependFirst, prependNever:
			return append(out, newMetaspace(p.Replacement, p.Scheme, p.Split == nil || *p.Split)), nil
		}
		return nil, fmt.Errorf("pre_tokenizer Metaspace: prepend_scheme %q is none of always, first and never", p.Scheme)
	case "Sequence":
		for _, inner := range p.PreTokenizers {
			if out, err = readSplitters(out, inner, depth+1); err != nil {
				return nil, err
			}
			if len(out) > maxSteps {
				return nil, fmt.Errorf("pre_tokenizer: more than %d steps", maxSteps)
			}
		}
		return out, nil
	}
	return nil, unsupported("pre_tokenizer", kind, "BertPreTokenizer, ByteLevel, Metaspace, Whitespace, WhitespaceSplit, "+
		"Punctuation, Digits, Split and Sequence")
}

func appendCut(out []splitter, kind string, c cut) ([]splitter, error) {
	if !c.behavior.known() {
		return nil, fmt.Errorf("pre_tokenizer %s: the behavior %q is not known", kind, c.behavior)
	}
	return append(out, c), nil
}

// scored is a piece of a Unigram model and its score, [piece, score] in the file.
type scored struct {
	piece string
	score float64
}

func (s *scored) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &[2]any{&s.piece, &s.score}) }

// mergeRule is a merge, "a b" or ["a", "b"] in the file.
type mergeRule [2]string

func (m *mergeRule) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		var all []string
		if err := json.Unmarshal(b, &all); err != nil {
			return err
		}
		if len(all) != 2 {
			return fmt.Errorf("the merge %.60s has %d parts, want 2", b, len(all))
		}
		*m = mergeRule(all)
		return nil
	}
	var line string
	if err := json.Unmarshal(b, &line); err != nil {
		return err
	}
	left, right, ok := strings.Cut(line, " ")
	if !ok || strings.Contains(right, " ") {
		return fmt.Errorf("the merge %.60q has not two parts", line)
	}
	*m = mergeRule{left, right}
	return nil
}

// modelFile is the model of a file, of any type.
type modelFile struct {
	Vocab        json.RawMessage `json:"vocab"`
	Unknown      *string         `json:"unk_token"`
	UnknownID    *int            `json:"unk_id"`
	Prefix       *string         `json:"continuing_subword_prefix"`
	Suffix       *string         `json:"end_of_word_suffix"`
	MaxChars     *int            `json:"max_input_chars_per_word"`
	Merges       []mergeRule     `json:"merges"`
	Dropout      *float64        `json:"dropout"`
	Fuse         bool            `json:"fuse_unk"`
	ByteFallback bool            `json:"byte_fallback"`
	IgnoreMerges bool            `json:"ignore_merges"`
}

func readModel(raw json.RawMessage) (model, int, error) {
	var kind struct {
		Type   string          `json:"type"`
		Merges json.RawMessage `json:"merges"`
		Vocab  json.RawMessage `json:"vocab"`
	}
	if len(raw) == 0 {
		return nil, 0, errors.New("it has no model")
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return nil, 0, fmt.Errorf("model: %w", err)
	}
	if kind.Type == "" { // old files don't say
		switch {
		case len(kind.Merges) > 0:
			kind.Type = "BPE"
		case len(kind.Vocab) > 0 && kind.Vocab[0] == '[':
			kind.Type = "Unigram"
		}
	}
	switch kind.Type {
	case "BPE", "Unigram", "WordPiece", "WordLevel":
	default:
		return nil, 0, unsupported("model", kind.Type, "BPE, Unigram, WordPiece and WordLevel")
	}
	var f modelFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, 0, fmt.Errorf("model %s: %w", kind.Type, err)
	}
	var m model
	var size int
	var err error
	if kind.Type == "Unigram" {
		m, size, err = f.unigram()
	} else {
		var vocab *trie
		var tokens map[string]uint32
		if vocab, tokens, size, err = f.vocabulary(); err == nil {
			switch kind.Type {
			case "BPE":
				m, err = f.pairs(vocab, tokens)
			case "WordPiece":
				m, err = f.wordPiece(vocab)
			default:
				m, err = f.words(vocab)
			}
		}
	}
	if err != nil {
		return nil, 0, fmt.Errorf("model %s: %w", kind.Type, err)
	}
	return m, size, nil
}

// vocabulary reads {"token": id}.
func (f *modelFile) vocabulary() (*trie, map[string]uint32, int, error) {
	var tokens map[string]uint32
	if err := json.Unmarshal(f.Vocab, &tokens); err != nil {
		return nil, nil, 0, fmt.Errorf("vocab: %w", err)
	}
	if len(tokens) == 0 || len(tokens) > maxVocab {
		return nil, nil, 0, fmt.Errorf("vocab has %d tokens, want 1 to %d", len(tokens), maxVocab)
	}
	entries := make([]entry, 0, len(tokens))
	size := 0
	for token, id := range tokens {
		if id > maxID || len(token) > maxToken {
			return nil, nil, 0, fmt.Errorf("vocab: the id %d of %.40q is above %d, or its text longer than %d bytes", id, token,
				maxID, maxToken)
		}
		size = max(size, int(id)+1)
		entries = append(entries, entry{token, id})
	}
	return newTrie(entries), tokens, size, nil
}

// unknown is the id of unk_token; none where there is none and it need not be.
func (f *modelFile) unknown(vocab *trie, needed bool) (uint32, error) {
	if f.Unknown == nil {
		if needed {
			return none, errors.New("unk_token is missing")
		}
		return none, nil
	}
	id := vocab.get(*f.Unknown)
	if id == none {
		return none, fmt.Errorf("unk_token %q is not in the vocabulary", *f.Unknown)
	}
	return id, nil
}

func (f *modelFile) words(vocab *trie) (model, error) {
	id, err := f.unknown(vocab, true)
	return &words{vocab, id}, err
}

func (f *modelFile) wordPiece(vocab *trie) (model, error) {
	w := &wordPiece{vocab: vocab, most: 100}
	prefix := "##"
	if f.Prefix != nil {
		prefix = *f.Prefix
	}
	w.continued = vocab.walk(0, prefix)
	if f.MaxChars != nil {
		w.most = *f.MaxChars
	}
	var err error
	w.unknown, err = f.unknown(vocab, true)
	return w, err
}

func (f *modelFile) pairs(vocab *trie, tokens map[string]uint32) (model, error) {
	if f.Dropout != nil && *f.Dropout != 0 {
		return nil, errors.New("dropout makes other tokens each time; set it to null")
	}
	p := &pairs{vocab: vocab, merges: make(map[uint64]merge, len(f.Merges)), fuse: f.Fuse, whole: f.IgnoreMerges}
	if f.Prefix != nil {
		p.prefix = *f.Prefix
	}
	if f.Suffix != nil {
		p.suffix = *f.Suffix
	}
	var err error
	if p.unknown, err = f.unknown(vocab, false); err != nil {
		return nil, err
	}
	if f.ByteFallback {
		p.bytes = newByteTokens(vocab)
	}
	if p.plainSingles = p.prefix == "" && p.suffix == ""; p.plainSingles {
		p.singles = map[rune]uint32{}
		for token, id := range tokens {
			if r, n := utf8.DecodeRuneInString(token); n > 0 && n == len(token) {
				p.singles[r] = id
			}
		}
	}
	for rank, m := range f.Merges {
		left, ok1 := tokens[m[0]]
		right, ok2 := tokens[m[1]]
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("merge %d of %.40q and %.40q: one is not in the vocabulary", rank, m[0], m[1])
		}
		rest := m[1]
		if len(rest) >= len(p.prefix) {
			rest = rest[len(p.prefix):]
		}
		id, ok := tokens[m[0]+rest]
		if !ok {
			return nil, fmt.Errorf("merge %d: %.80q is not in the vocabulary", rank, m[0]+rest)
		}
		p.merges[pairOf(left, right)] = merge{uint32(rank), id}
	}
	return p, nil
}

func (f *modelFile) unigram() (model, int, error) {
	var pieces []scored
	if err := json.Unmarshal(f.Vocab, &pieces); err != nil {
		return nil, 0, fmt.Errorf("vocab: %w", err)
	}
	if len(pieces) == 0 || len(pieces) > maxVocab {
		return nil, 0, fmt.Errorf("vocab has %d pieces, want 1 to %d", len(pieces), maxVocab)
	}
	if f.UnknownID == nil || *f.UnknownID < 0 || *f.UnknownID >= len(pieces) {
		return nil, 0, errors.New("unk_id is missing or names no piece")
	}
	u := &unigram{scores: make([]float64, len(pieces)), unknown: uint32(*f.UnknownID)}
	entries := make([]entry, len(pieces))
	least := math.Inf(1)
	for i, p := range pieces {
		if len(p.piece) > maxToken {
			return nil, 0, fmt.Errorf("vocab: piece %d is longer than %d bytes", i, maxToken)
		}
		least = min(least, p.score)
		u.scores[i], entries[i] = p.score, entry{p.piece, uint32(i)}
	}
	const penalty = 10 // below the rarest piece, as SentencePiece has it
	u.penalty = least - penalty
	u.vocab = newTrie(entries)
	if f.ByteFallback {
		u.bytes = newByteTokens(u.vocab)
	}
	return u, len(pieces), nil
}
