package remotetest

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"math"
	"strings"
	"unicode"

	"github.com/mnemehq/mneme/core/port"
)

// Model is what a server computes with.
type Model interface {
	// Embed gives a vector of any length but zero for each text. Texts come as
	// they were sent, prefixes included.
	Embed(ctx context.Context, query bool, texts []string) ([][]float32, error)
	// Sparse gives weights by term.
	Sparse(ctx context.Context, query bool, texts []string) ([]map[uint32]float32, error)
	// Logits gives a score for each text, any number.
	Logits(ctx context.Context, query string, texts []string) ([]float64, error)
}

// Words is a Model without knowledge: texts that share words are alike.
type Words struct{ Dimensions int }

// words cuts a text into lower-case words.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' })
}

func term(word string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(word)) // never fails
	return h.Sum32() % 30522
}

// Embed adds up a direction for each word; the sum is longer than 1.
func (m Words) Embed(_ context.Context, _ bool, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = make([]float32, m.Dimensions)
		for _, w := range append(words(t), "every text") {
			seed := uint64(term(w)) + 1
			for j := range out[i] {
				seed = seed*6364136223846793005 + 1442695040888963407
				out[i][j] += float32(int32(seed>>32)) / (1 << 30)
			}
		}
	}
	return out, nil
}

// Sparse weighs each word by how often it stands there.
func (Words) Sparse(_ context.Context, _ bool, texts []string) ([]map[uint32]float32, error) {
	out := make([]map[uint32]float32, len(texts))
	for i, t := range texts {
		out[i] = map[uint32]float32{}
		for _, w := range words(t) {
			out[i][term(w)] += 0.5
		}
	}
	return out, nil
}

// Logits counts the words that query and text share, less three.
func (Words) Logits(_ context.Context, query string, texts []string) ([]float64, error) {
	asked := map[string]bool{}
	for _, w := range words(query) {
		asked[w] = true
	}
	out := make([]float64, len(texts))
	for i, t := range texts {
		for _, w := range words(t) {
			if asked[w] {
				out[i]++
			}
		}
		out[i] = out[i] - 3 + float64(len(t)%7)/100
	}
	return out, nil
}

// Behind is a Model over real ones; those that are nil are not asked.
type Behind struct {
	Embedder port.Embedder
	Encoder  port.SparseEncoder
	Reranker port.Reranker
}

func side(query bool) port.TextKind {
	if query {
		return port.Query
	}
	return port.Passage
}

// QueryPrefix and PassagePrefix tell the sides apart where a dialect has no
// other way, as the E5 models do.
const (
	QueryPrefix   = "query: "
	PassagePrefix = "passage: "
)

// Embed takes E5's prefixes off and tells the model by them which side it is.
func (m Behind) Embed(ctx context.Context, query bool, texts []string) ([][]float32, error) {
	plain := make([]string, len(texts))
	for i, t := range texts {
		var asked bool
		if plain[i], asked = strings.CutPrefix(t, QueryPrefix); asked {
			query = true
		}
		plain[i] = strings.TrimPrefix(plain[i], PassagePrefix)
	}
	d, err := m.Embedder.Embed(ctx, side(query), plain)
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = d.Row(i)
	}
	return out, nil
}

// Sparse asks the encoder.
func (m Behind) Sparse(ctx context.Context, query bool, texts []string) ([]map[uint32]float32, error) {
	s, err := m.Encoder.Encode(ctx, side(query), texts)
	if err != nil {
		return nil, err
	}
	out := make([]map[uint32]float32, len(texts))
	for i := range out {
		out[i] = map[uint32]float32{}
		for k := s.Rows[i]; k < s.Rows[i+1]; k++ {
			out[i][s.Terms[k]] = s.Weights[k]
		}
	}
	return out, nil
}

// Logits turns the reranker's probabilities back.
func (m Behind) Logits(ctx context.Context, query string, texts []string) ([]float64, error) {
	p, _, err := m.Reranker.Score(ctx, query, texts)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(p))
	for i, x := range p {
		y := min(max(float64(x), 1e-7), 1-1e-7)
		out[i] = math.Log(y / (1 - y))
	}
	return out, nil
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// answer is what the servers' language model writes: the first memory, word for
// word, and its number.
func answer(user string) string {
	var data struct {
		Memories []struct {
			Number int    `json:"number"`
			Text   string `json:"text"`
		} `json:"memories"`
	}
	if json.Unmarshal([]byte(user), &data) != nil || len(data.Memories) == 0 {
		return "NONE"
	}
	return strings.TrimRight(data.Memories[0].Text, ".") + " [1]."
}

// count is the servers' tokenizer: a token for every four letters of a word begun.
func count(text string) int {
	n := 0
	for _, w := range words(text) {
		n += (len(w) + 3) / 4
	}
	return n
}

// cut keeps what fits into a window by that count.
func cut(text string, window int) string {
	n := 0
	for i, r := range text {
		if unicode.IsSpace(r) {
			if n = count(text[:i]); n >= window {
				return text[:i]
			}
		}
	}
	return text
}
