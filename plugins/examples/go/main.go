// A model backend in Go: an embedder that hashes words and the three-letter pieces
// of words into a vector (Weinberger et al., Feature Hashing for Large Scale
// Multitask Learning, ICML 2009). It knows no meaning, only shared words and stems;
// put your model in its place.
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"unicode"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/sdk"
)

const (
	dim    = 512
	window = 512 // words read of a text
)

type model struct{}

// Info describes the model. The digest changes with whatever changes vectors.
func (model) Info() port.ModelInfo {
	return port.ModelInfo{
		Name:       "hashing-go",
		Version:    "1.0",
		Licence:    "Apache-2.0",
		Tasks:      []port.Task{port.TaskEmbed},
		Dimensions: dim,
		MaxTokens:  window,
		Digest: fmt.Sprintf("sha256:%x",
			sha256.Sum256(fmt.Appendf(nil, "hashing words and trigrams into %d, %d words", dim, window))),
	}
}

func (model) Close() error { return nil }

// Embed implements port.Embedder: one unit vector a text, in order. Queries and
// passages are alike to this model.
func (model) Embed(ctx context.Context, _ port.TextKind, texts []string) (port.Dense, error) {
	out := port.Dense{Dim: dim, Data: make([]float32, len(texts)*dim), Tokens: make([]int, len(texts))}
	for i, text := range texts {
		if err := ctx.Err(); err != nil { // the caller has left
			return port.Dense{}, err
		}
		words := strings.FieldsFunc(strings.ToLower(text),
			func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		words = words[:min(len(words), window)]
		out.Tokens[i] = len(words)
		row := out.Row(i)
		row[0] = 1e-3 // so that a text without words has a direction, too
		for _, w := range words {
			weight := float32(1)
			if len(w) < 4 {
				weight = .2 // most short words say little
			}
			add(row, "w"+w, weight)
			runes := []rune("^" + w + "$")
			for j := 0; j+3 <= len(runes); j++ {
				add(row, "t"+string(runes[j:j+3]), weight/float32(len(runes)))
			}
		}
		norm := 0.0
		for _, x := range row {
			norm += float64(x) * float64(x)
		}
		for j := range row {
			row[j] /= float32(math.Sqrt(norm))
		}
	}
	return out, nil
}

// add puts a feature where its hash says, with the sign that its hash says, so that
// features which meet cancel as often as they add.
func add(row []float32, feature string, weight float32) {
	h := fnv.New64a()
	h.Write([]byte(feature))
	sum := h.Sum64()
	if sum>>63 == 1 {
		weight = -weight
	}
	row[sum%dim] += weight
}

func main() { sdk.Serve(model{}) }

var _ port.Embedder = model{}
