package tokenizer

import (
	"errors"
	"sync"
	"unicode/utf8"
)

// Tokenizer makes token ids of texts. It may be used by many at once.
type Tokenizer struct {
	normalizer normalizers
	splitters  []splitter
	model      model
	raw        *addedTokens // looked for in the text as it is
	normal     *addedTokens // looked for in the normalized text
	added      map[string]uint32
	template   template
	size       int
	encoders   sync.Pool // *encoder
}

// Size is one more than the largest id.
func (t *Tokenizer) Size() int { return t.size }

// ID is the id of a token, special ones included.
func (t *Tokenizer) ID(token string) (uint32, bool) {
	if id, ok := t.added[token]; ok {
		return id, true
	}
	id := t.model.get(token)
	return id, id != none
}

// Single is what a model reads of one text. It may not be changed.
func (t *Tokenizer) Single() []Part { return t.template.single }

// Pair is what a model reads of two texts. It may not be changed.
func (t *Tokenizer) Pair() []Part { return t.template.pair }

// The ways in which Append fails.
var (
	ErrInvalid = errors.New("the text is not valid UTF-8")
	ErrStopped = errors.New("tokenizing was stopped")
)

// Append appends the ids of a text, limit at most, without special tokens of a
// template. stop is asked now and then and ends it with ErrStopped; nil never does.
func (t *Tokenizer) Append(ids []uint32, text string, limit int, stop func() bool) ([]uint32, error) {
	if !utf8.ValidString(text) {
		return ids, ErrInvalid
	}
	e, _ := t.encoders.Get().(*encoder)
	if e == nil {
		e = &encoder{t: t}
	}
	e.ids, e.left, e.stop, e.err, e.since = ids, limit, stop, nil, 0
	e.run(text)
	ids, err := e.ids, e.err
	e.ids, e.stop = nil, nil
	if cap(e.best)+cap(e.symbols)+cap(e.queue) <= keptScratch {
		t.encoders.Put(e)
	}
	return ids, err
}

const (
	keptScratch = 1 << 16 // values of an encoder that is kept for the next text
	stopBytes   = 1 << 12 // between two questions whether to stop
)

// encoder is one call of Append, and its working memory.
type encoder struct {
	t     *Tokenizer
	ids   []uint32
	left  int // ids that may still come
	stop  func() bool
	since int // stop was last asked
	err   error

	pieces  []uint32
	symbols []symbol
	queue   candidates
	best    []step
}

func (e *encoder) put(id uint32) {
	if e.left > 0 {
		e.ids = append(e.ids, id)
		e.left--
	}
}

// tick counts work done, in about bytes of text; it tells whether to end.
func (e *encoder) tick(n int) bool {
	if e.since += n; e.since >= stopBytes {
		if e.since = 0; e.stop != nil && e.stop() {
			e.err = ErrStopped
		}
	}
	return e.err != nil
}

// going tells whether there is anything left to do.
func (e *encoder) going() bool { return e.left > 0 && e.err == nil }

func (e *encoder) run(text string) {
	token := func(id uint32) bool {
		e.put(id)
		return e.going()
	}
	e.t.raw.split(text, func(part string, from int) bool {
		first := from == 0
		normal, err := e.t.normalizer.normalize(part)
		if err != nil {
			e.err = err
			return false
		}
		return e.t.normal.split(normal, func(part string, from int) bool {
			return e.piece(0, part, first && from == 0)
		}, token)
	}, token)
}

// piece takes a piece through the splitters from the i-th on, and what comes out
// through the model.
func (e *encoder) piece(i int, s string, first bool) bool {
	if s == "" {
		return e.going()
	}
	if i == len(e.t.splitters) {
		if !e.tick(len(s)) {
			e.t.model.tokenize(e, s)
		}
		return e.going()
	}
	err := e.t.splitters[i].split(s, first, func(part string, first bool) bool { return e.piece(i+1, part, first) })
	if err != nil && e.err == nil {
		e.err = err
	}
	return e.going()
}
