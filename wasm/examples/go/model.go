// A small model in Go: it finds texts that share words, parts of words, or
// concepts (concepts.txt). It embeds, makes sparse vectors and reranks; keep what
// you need. Everything but init is yours to replace.
package main

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	mneme "github.com/mnemehq/mneme/wasm/sdk/go"
)

const (
	dim     = 256   // of a vector
	vocab   = 65536 // sparse terms
	window  = 512   // words read of a text
	longest = 64    // bytes read of a word
)

func init() { // the host runs this before it calls anything else
	mneme.Register(model())
}

func main() {} // never called

func model() mneme.Model {
	return mneme.Model{
		Description: mneme.Description{Name: "acme", Version: "1.0.0", Licence: "Apache-2.0", Tasks: []mneme.Task{
			{Task: "embedding", Dim: dim, MaxTokens: window, Normalized: true},
			{Task: "sparse", Vocab: vocab, MaxTokens: window},
			{Task: "rerank", MaxTokens: window},
		}},
		Open: open, Embed: embed, Sparse: sparse, Rerank: rerank, Tokens: tokens,
	}
}

// concepts says which line of the asset has a word; passedOver are words to leave out.
var concepts map[string]int

const passedOver = 0xFFFF

func open(config []byte) error {
	b, err := mneme.Asset("concepts.txt")
	if err != nil {
		return err
	}
	concepts = map[string]int{}
	lines := 0
	for line := range strings.Lines(string(b)) {
		if line == "\n" || line[0] == '#' {
			continue
		}
		lines++
		for w := range words(line) {
			if concept(w) != 0 {
				continue
			}
			concepts[string(w[1:len(w)-1])] = lines
			if line[0] == '-' {
				concepts[string(w[1:len(w)-1])] = passedOver
			}
		}
	}
	if lines >= passedOver {
		return fmt.Errorf("the asset concepts.txt has %d lines", lines)
	}
	return nil
}

// words gives the words of a text, runs of ASCII letters and digits and of
// anything beyond ASCII: in lower case, without the s of a plural, between two '#'.
// Each is valid until the next.
func words(text string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var room [longest + 2]byte
		for i := 0; i < len(text); {
			if !letter(text[i]) {
				i++
				continue
			}
			w := append(room[:0], '#')
			for ; i < len(text) && letter(text[i]); i++ {
				if c := text[i]; len(w) > longest {
					continue
				} else if c >= 'A' && c <= 'Z' {
					w = append(w, c+32)
				} else {
					w = append(w, c)
				}
			}
			if n := len(w); n > 4 && w[n-1] == 's' && w[n-2] != 's' {
				w = w[:n-1]
			}
			if !yield(append(w, '#')) {
				return
			}
		}
	}
}

// concept says which concept a word has: 0 is none.
func concept(edged []byte) int { return concepts[string(edged[1:len(edged)-1])] }

func letter(c byte) bool {
	return c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// hash is FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/
func hash(kind byte, b ...byte) uint32 {
	h := (2166136261 ^ uint32(kind)) * 16777619
	for _, c := range b {
		h = (h ^ uint32(c)) * 16777619
	}
	return h
}

// feature is what texts may have in common. Weights are multiples of a quarter, so
// that sums do not depend on their order.
type feature struct {
	hash   uint32
	weight float32
}

// found is where read puts features: one call at a time needs one list, and a
// list that is used again leaves nothing to the garbage collector.
var found []feature

// read finds the features of at most limit words of a text, and says how many it
// read and whether there were more.
func read(text string, limit int, parts bool) (tokens int, cut bool) {
	told := false
	for w := range words(text) {
		if tokens == limit {
			break
		}
		tokens++
		told = told || concept(w) != passedOver
	}
	found = found[:0]
	n := 0
	for w := range words(text) {
		if n++; n > tokens {
			return tokens, true
		}
		h, c := hash('w', w[1:len(w)-1]...), concept(w)
		if c == passedOver {
			if !told { // a text of nothing else
				found = append(found, feature{h, 1})
			}
			continue
		}
		found = append(found, feature{h, 1})
		if c != 0 {
			found = append(found, feature{hash('c', byte(c), byte(c>>8)), 0.75})
		}
		for j := 0; parts && j+3 <= len(w); j++ {
			found = append(found, feature{hash('t', w[j:j+3]...), 0.25})
		}
	}
	return tokens, false
}

// embed gives the direction of each text's features: each adds to or takes from
// one dimension.
func embed(texts []string, query bool) (mneme.Dense, error) {
	var d mneme.Dense
	for _, text := range texts {
		tokens, _ := read(text, window, true)
		v := make([]float32, dim)
		for _, f := range found {
			if f.hash>>31 == 1 {
				v[f.hash%dim] -= f.weight
			} else {
				v[f.hash%dim] += f.weight
			}
		}
		var square float32
		for _, x := range v {
			square += x * x
		}
		if square == 0 {
			v[0], square = 1, 1 // no text is without a direction
		}
		length := float32(math.Sqrt(float64(square)))
		for i := range v {
			v[i] /= length
		}
		d.Vectors, d.Tokens = append(d.Vectors, v), append(d.Tokens, tokens)
	}
	return d, nil
}

// collect numbers the found features and sums up equal ones, in rising order.
func collect(terms []mneme.Term) []mneme.Term {
	terms = terms[:0]
	for _, f := range found {
		id := (f.hash ^ f.hash>>16) % vocab
		at, ok := slices.BinarySearchFunc(terms, id, func(t mneme.Term, id uint32) int { return cmp.Compare(t.ID, id) })
		if !ok {
			terms = slices.Insert(terms, at, mneme.Term{ID: id})
		}
		terms[at].Weight += f.weight
	}
	return terms
}

func sparse(texts []string, query bool) (mneme.Sparse, error) {
	var s mneme.Sparse
	for _, text := range texts {
		tokens, _ := read(text, window, false)
		terms := collect(nil)
		for i, t := range terms {
			terms[i].Weight = t.Weight / (1 + t.Weight)
		}
		s.Rows, s.Tokens = append(s.Rows, terms), append(s.Tokens, tokens)
	}
	return s, nil
}

// rerank gives the share of the query's terms that a text has, by weight.
func rerank(query string, texts []string) (mneme.Scores, error) {
	asked, _ := read(query, window/2, false)
	terms := collect(nil)
	var all float32
	for _, t := range terms {
		all += t.Weight
	}
	var s mneme.Scores
	var has []mneme.Term
	for _, text := range texts {
		tokens, cut := read(text, window-asked, false)
		has = collect(has)
		var both float32
		for _, t := range terms {
			if _, ok := slices.BinarySearchFunc(has, t.ID,
				func(t mneme.Term, id uint32) int { return cmp.Compare(t.ID, id) }); ok {
				both += t.Weight
			}
		}
		p := float32(0.02)
		if all > 0 {
			p += 0.96 * (both / all)
		}
		s.Probabilities, s.Cut, s.Tokens = append(s.Probabilities, p), append(s.Cut, cut), append(s.Tokens, asked+tokens)
	}
	return s, nil
}

func tokens(texts []string) ([]int, error) {
	var counts []int
	for _, text := range texts {
		n := 0
		for range words(text) {
			n++
		}
		counts = append(counts, n)
	}
	return counts, nil
}
