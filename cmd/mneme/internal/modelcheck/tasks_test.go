package modelcheck_test

import (
	"context"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnemehq/mneme/cmd/mneme/internal/modelcheck"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

const smallWindow = 32

// words are the words of a text, related ones made equal, cut at the window.
func words(text string) (kept []string, cut bool) {
	all := strings.FieldsFunc(related.Replace(strings.ToLower(text)), func(r rune) bool { return strings.ContainsRune(" \t\n.,?", r) })
	return all[:min(len(all), smallWindow-2)], len(all) > smallWindow-2
}

func counted(text string) map[string]float64 {
	out := map[string]float64{}
	kept, _ := words(text)
	for _, w := range kept {
		out[w]++
	}
	return out
}

func smallInfo(task port.Task) port.ModelInfo {
	return port.ModelInfo{ID: "small", Name: "small", Version: "1", Tasks: []port.Task{task}, Digest: "sha256:" + strings.Repeat("0", 64),
		MaxTokens: smallWindow, Licence: "Apache-2.0"}
}

// admit is the conduct of a sound model: it heeds its caller and refuses what is
// not text. A call of very many texts takes until the caller gives up.
func admit(ctx context.Context, texts []string, deaf, lax bool) error {
	if deaf {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(texts) > 200 {
		<-ctx.Done()
		return ctx.Err()
	}
	for _, s := range texts {
		if !utf8.ValidString(s) && !lax {
			return fault.New(fault.InvalidRequest, "not UTF-8")
		}
	}
	return nil
}

// wordSparse is a small real sparse encoder: a term for each word. Each field
// breaks one promise.
type wordSparse struct {
	deaf, lax, falling, negative, ragged, endless, senseless bool
}

func (w *wordSparse) Info() port.ModelInfo { return smallInfo(port.TaskSparse) }
func (w *wordSparse) Close() error         { return nil }

func (w *wordSparse) Encode(ctx context.Context, _ port.TextKind, texts []string) (port.Sparse, error) {
	if err := admit(ctx, texts, w.deaf, w.lax); err != nil {
		return port.Sparse{}, err
	}
	out := port.Sparse{Rows: []uint32{0}}
	for _, text := range texts {
		row := map[uint32]float32{}
		for word, n := range counted(text) {
			h := fnv.New32a()
			h.Write([]byte(word))
			row[h.Sum32()] = float32(math.Log1p(n))
		}
		if w.senseless {
			row = map[uint32]float32{uint32(len(text)): 1}
		}
		terms := slices.Sorted(maps.Keys(row))
		if w.falling {
			slices.Reverse(terms)
		}
		for _, t := range terms {
			out.Terms = append(out.Terms, t)
			out.Weights = append(out.Weights, row[t])
			if w.negative {
				out.Weights[len(out.Weights)-1] *= -1
			}
		}
		kept, _ := words(text)
		out.Rows, out.Tokens = append(out.Rows, uint32(len(out.Terms))), append(out.Tokens, len(kept)+2)
		if w.endless {
			out.Tokens[len(out.Tokens)-1] = len(strings.Fields(text)) + 2
		}
	}
	if w.ragged && len(out.Terms) > 0 {
		out.Terms = out.Terms[1:]
	}
	return out, nil
}

// wordRerank is a small real reranker: the share of the query's words that the text
// has. Each field breaks one promise.
type wordRerank struct {
	deaf, lax, wild, silent, loud, placed, senseless, greedy bool
}

func (w *wordRerank) Info() port.ModelInfo { return smallInfo(port.TaskRerank) }
func (w *wordRerank) Close() error         { return nil }

func (w *wordRerank) Score(ctx context.Context, query string, texts []string) ([]float32, int, error) {
	if err := admit(ctx, append([]string{query}, texts...), w.deaf, w.lax); err != nil {
		return nil, 0, err
	}
	out, truncated := make([]float32, len(texts)), 0
	asked := counted(query)
	for i, text := range texts {
		has := counted(text)
		shared := 0.0
		for word := range asked {
			if has[word] > 0 {
				shared++
			}
		}
		out[i] = float32((shared + 1) / float64(len(asked)+2) * (1 - 1/float64(len(text)+9)))
		_, cut := words(text)
		switch {
		case w.wild:
			out[i] *= 12
		case w.placed:
			out[i] /= float32(i + 1)
		case w.senseless:
			out[i] = 1 / float32(len(text)+1)
		case w.greedy && len(asked) == 1 && len(query) > 8*smallWindow:
			out[i] = 0.5
		}
		if cut && !w.silent || w.loud {
			truncated++
		}
	}
	return out, truncated, nil
}

func TestChecksOfOtherTasks(t *testing.T) {
	for name, c := range map[string]struct {
		model port.Model
		finds string // the one id that must fail; "": none may
	}{
		"sparse":            {&wordSparse{}, ""},
		"sparse deaf":       {&wordSparse{deaf: true}, "sparse.conduct.cancelled"},
		"sparse lax":        {&wordSparse{lax: true}, "sparse.text.invalid-utf8"},
		"sparse falling":    {&wordSparse{falling: true}, "sparse.shapes.rising"},
		"sparse negative":   {&wordSparse{negative: true}, "sparse.shapes.weights"},
		"sparse ragged":     {&wordSparse{ragged: true}, "sparse.shapes.rows"},
		"sparse endless":    {&wordSparse{endless: true}, "sparse.text.too-long"},
		"sparse senseless":  {&wordSparse{senseless: true}, "sparse.sense.related-above-unrelated"},
		"rerank":            {&wordRerank{}, ""},
		"rerank deaf":       {&wordRerank{deaf: true}, "rerank.conduct.cancelled"},
		"rerank lax":        {&wordRerank{lax: true}, "rerank.text.invalid-utf8"},
		"rerank lax query":  {&wordRerank{lax: true}, "rerank.query.invalid-utf8"},
		"rerank wild":       {&wordRerank{wild: true}, "rerank.shapes.probability"},
		"rerank silent":     {&wordRerank{silent: true}, "rerank.text.too-long"},
		"rerank loud":       {&wordRerank{loud: true}, "rerank.shapes.truncated"},
		"rerank by place":   {&wordRerank{placed: true}, "rerank.stable.batch"},
		"rerank senseless":  {&wordRerank{senseless: true}, "rerank.sense.related-above-unrelated"},
		"rerank, all query": {&wordRerank{greedy: true}, "rerank.query.too-long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := modelcheck.Check(t.Context(), c.model)
			if err != nil {
				t.Fatal(err)
			}
			found := c.finds == ""
			for _, f := range r.Findings {
				if !f.OK() && c.finds == "" {
					t.Errorf("a sound model fails %s: %s, saw %s", f.ID, f.Expect, f.Saw)
				}
				found = found || !f.OK() && f.ID == c.finds
			}
			if !found {
				t.Errorf("%s is not found in %+v", c.finds, r.Findings)
			}
		})
	}
}
