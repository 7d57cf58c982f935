package tokenizer

import (
	"fmt"
	"unicode/utf8"
)

// model makes ids of a piece.
type model interface {
	tokenize(e *encoder, s string)
	// get is the id of a token; none where there is none.
	get(token string) uint32
}

// words knows whole words only.
type words struct {
	vocab   *trie
	unknown uint32
}

func (w *words) get(token string) uint32 { return w.vocab.get(token) }

func (w *words) tokenize(e *encoder, s string) {
	if id := w.vocab.get(s); id != none {
		e.put(id)
	} else if w.unknown != none {
		e.put(w.unknown)
	}
}

// wordPiece takes the longest piece, again and again (Wu et al. 2016).
type wordPiece struct {
	vocab     *trie
	continued uint32 // the node of the prefix of pieces that continue a word
	unknown   uint32
	most      int // characters of a word; a longer one is unknown
}

func (w *wordPiece) get(token string) uint32 { return w.vocab.get(token) }

func (w *wordPiece) tokenize(e *encoder, s string) {
	if utf8.RuneCountInString(s) > w.most {
		e.put(w.unknown)
		return
	}
	pieces := e.pieces[:0]
	from := uint32(0)
	for s != "" {
		length, id := 0, none
		if from != none {
			length, id = w.vocab.longest(from, s)
		}
		if id == none {
			e.put(w.unknown)
			return
		}
		pieces = append(pieces, id)
		s, from = s[length:], w.continued
	}
	for _, id := range pieces {
		e.put(id)
	}
	e.pieces = pieces
}

// pairs merges the pair of neighbours that was merged first in training, again and
// again (Sennrich et al. 2016).
type pairs struct {
	vocab        *trie
	merges       map[uint64]merge // by the two ids
	unknown      uint32
	prefix       string // of what continues a word
	suffix       string // of what ends one
	fuse         bool   // unknown characters in a row are one
	bytes        byteTokens
	whole        bool // a piece that is a token is not looked into
	singles      map[rune]uint32
	plainSingles bool // neither prefix nor suffix
}

type merge struct{ rank, id uint32 }

// symbol is a part of a word, in a list by place.
type symbol struct {
	id             uint32
	previous, next int32
	gone           bool
}

// candidate is a pair that may be merged.
type candidate struct {
	at       int32
	rank, id uint32
}

// before orders candidates: what was merged earlier in training, then what stands earlier.
func (c candidate) before(o candidate) bool {
	return c.rank < o.rank || c.rank == o.rank && c.at < o.at
}

// candidates is a heap with the first candidate on top.
type candidates []candidate

func (c *candidates) push(x candidate) {
	q := append(*c, x)
	for i := len(q) - 1; i > 0; {
		up := (i - 1) / 2
		if !q[i].before(q[up]) {
			break
		}
		q[i], q[up] = q[up], q[i]
		i = up
	}
	*c = q
}

func (c *candidates) pop() candidate {
	q := *c
	top, last := q[0], len(q)-1
	q[0] = q[last]
	q = q[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			break
		}
		if down+1 < last && q[down+1].before(q[down]) {
			down++
		}
		if !q[down].before(q[i]) {
			break
		}
		q[i], q[down] = q[down], q[i]
		i = down
	}
	*c = q
	return top
}

func (p *pairs) get(token string) uint32 { return p.vocab.get(token) }

// single is the id of one character at its place in a word.
func (p *pairs) single(s string, r rune, first, last bool) uint32 {
	if p.plainSingles {
		if id, ok := p.singles[r]; ok {
			return id
		}
		return none
	}
	if !first {
		s = p.prefix + s
	}
	if last {
		s += p.suffix
	}
	return p.vocab.get(s)
}

func (p *pairs) tokenize(e *encoder, s string) {
	if p.whole {
		if id := p.vocab.get(s); id != none {
			e.put(id)
			return
		}
	}
	e.symbols = e.symbols[:0]
	add := func(id uint32) {
		n := int32(len(e.symbols))
		e.symbols = append(e.symbols, symbol{id: id, previous: n - 1, next: n + 1})
	}
	unknown := false
	for i, r := range s {
		n := utf8.RuneLen(r)
		id := p.single(s[i:i+n], r, i == 0, i+n == len(s))
		switch {
		case id != none:
			if unknown {
				add(p.unknown)
				unknown = false
			}
			add(id)
		case p.bytes.have(s[i : i+n]):
			for _, b := range []byte(s[i : i+n]) {
				add(p.bytes[b])
			}
		case p.unknown != none:
			if unknown && !p.fuse {
				add(p.unknown)
			}
			unknown = true
		}
	}
	if unknown {
		add(p.unknown)
	}
	p.mergeAll(e)
	for _, x := range e.symbols {
		if !x.gone {
			e.put(x.id)
		}
	}
}

func pairOf(a, b uint32) uint64 { return uint64(a)<<32 | uint64(b) }

func (p *pairs) mergeAll(e *encoder) {
	all := e.symbols
	count := int32(len(all))
	queue := e.queue[:0]
	for i := range max(count-1, 0) {
		if m, ok := p.merges[pairOf(all[i].id, all[i+1].id)]; ok {
			queue.push(candidate{i, m.rank, m.id})
		}
	}
	for len(queue) > 0 {
		if e.tick(1) {
			break
		}
		top := queue.pop()
		left := &all[top.at]
		if left.gone || left.next >= count {
			continue
		}
		right := &all[left.next]
		// What the pair was may have been merged since; what it is now makes this token or not.
		if m, ok := p.merges[pairOf(left.id, right.id)]; !ok || m.id != top.id {
			continue
		}
		right.gone = true
		left.id, left.next = top.id, right.next
		if right.next < count {
			all[right.next].previous = top.at
		}
		if left.previous >= 0 {
			if m, ok := p.merges[pairOf(all[left.previous].id, left.id)]; ok {
				queue.push(candidate{left.previous, m.rank, m.id})
			}
		}
		if left.next < count {
			if m, ok := p.merges[pairOf(left.id, all[left.next].id)]; ok {
				queue.push(candidate{top.at, m.rank, m.id})
			}
		}
	}
	e.queue = queue[:0]
}

// unigram takes the pieces whose probabilities have the largest product (Kudo 2018).
type unigram struct {
	vocab   *trie
	scores  []float64
	unknown uint32
	penalty float64 // the score of an unknown character
	bytes   byteTokens
}

func (u *unigram) get(token string) uint32 { return u.vocab.get(token) }

// step is the best way to a place in the piece.
type step struct {
	score float64
	from  int32 // -1: none yet
	id    uint32
}

func (u *unigram) tokenize(e *encoder, s string) {
	best := append(e.best[:0], step{from: -1})
	for range len(s) {
		best = append(best, step{from: -1})
	}
	e.best = best
	better := func(to int, score float64, from int, id uint32) {
		if b := &best[to]; b.from < 0 || score > b.score {
			*b = step{score, int32(from), id}
		}
	}
	for at := 0; at < len(s); {
		_, n := utf8.DecodeRuneInString(s[at:])
		here, single := best[at].score, false
		node := uint32(0)
		for end := at; end < len(s); {
			if node = u.vocab.step(node, s[end]); node == none {
				break
			}
			end++
			if id := u.vocab.values[node]; id != none {
				better(end, u.scores[id]+here, at, id)
				single = single || end-at == n
			}
		}
		if !single {
			better(at+n, u.penalty+here, at, u.unknown)
		}
		at += n
		if e.tick(n) {
			return
		}
	}
	// Backwards along the best way; unknown characters in a row are one.
	type part struct{ from, to int32 }
	var few [64]part
	parts, joins := few[:0], false
	for end := int32(len(s)); end > 0; {
		b := best[end]
		if joins && b.id == u.unknown {
			parts[len(parts)-1].from = b.from
		} else {
			parts = append(parts, part{b.from, end})
		}
		joins = b.id == u.unknown
		end = b.from
	}
	for i := len(parts) - 1; i >= 0; i-- {
		text := s[parts[i].from:parts[i].to]
		switch id := u.vocab.get(text); {
		case id != none:
			e.put(id)
		case u.bytes.have(text):
			for _, b := range []byte(text) {
				e.put(u.bytes[b])
			}
		default:
			e.put(u.unknown)
		}
	}
}

// byteTokens are the tokens <0x00> to <0xFF>, none where one is missing.
type byteTokens []uint32

func newByteTokens(vocab *trie) byteTokens {
	all := make(byteTokens, 256)
	for b := range all {
		all[b] = vocab.get(fmt.Sprintf("<0x%02X>", b))
	}
	return all
}

// have tells whether each byte of s has its token.
func (t byteTokens) have(s string) bool {
	for i := range len(s) {
		if t == nil || t[s[i]] == none {
			return false
		}
	}
	return true
}
