package modelcheck_test

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/mnemehq/mneme/cmd/mneme/internal/modelcheck"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// bagOfWords is a small real embedder: a text is the sum of a random direction
// for each of its words, so that texts that share words are near. Each field
// breaks one promise.
type bagOfWords struct {
	long, unstable, lax, deaf, senseless bool
	calls                                atomic.Uint64
}

func (b *bagOfWords) Info() port.ModelInfo {
	return port.ModelInfo{ID: "bag", Name: "bag", Version: "1", Tasks: []port.Task{port.TaskEmbed}, Digest: "sha256:" + strings.Repeat("0", 64),
		Dimensions: 64, MaxTokens: 32, Licence: "Apache-2.0"}
}

func (b *bagOfWords) Close() error { return nil }

// related are words that stand for each other, so that sense has something to find.
var related = strings.NewReplacer("sneezing", "symptoms", "nose", "cold", "economy post", "cheapest", "costs", "ship", "visitors", "museum", "open the", "", "welcome", "open")

func (b *bagOfWords) Embed(ctx context.Context, as port.TextKind, texts []string) (port.Dense, error) {
	if err := ctx.Err(); err != nil && !b.deaf {
		return port.Dense{}, err
	}
	call := b.calls.Add(1)
	if len(texts) > 200 && !b.deaf {
		<-ctx.Done()
		return port.Dense{}, ctx.Err()
	}
	d := port.Dense{Dim: 64}
	for _, text := range texts {
		if !utf8.ValidString(text) && !b.lax {
			return port.Dense{}, fault.New(fault.InvalidRequest, "not UTF-8")
		}
		row := make([]float64, d.Dim)
		words := strings.Fields(related.Replace(strings.ToLower(text)))
		if b.senseless {
			words = []string{text[:min(1, len(text))]}
		}
		cut := words[:min(len(words), 30)]
		for _, w := range append(cut, "[sep]") {
			h := fnv.New64a()
			h.Write([]byte(strings.Trim(w, ".,?")))
			seed := uint64(0)
			if b.unstable {
				seed = call
			}
			r := rand.New(rand.NewPCG(h.Sum64(), seed))
			for i := range row {
				row[i] += r.NormFloat64()
			}
		}
		norm := 0.0
		for _, x := range row {
			norm += x * x
		}
		if b.long {
			norm = 1
		}
		for _, x := range row {
			d.Data = append(d.Data, float32(x/math.Sqrt(norm)))
		}
		d.Tokens = append(d.Tokens, len(cut)+2)
	}
	return d, nil
}

func TestChecksFindWhatIsBroken(t *testing.T) {
	for name, c := range map[string]struct {
		model *bagOfWords
		finds string // the one id that must fail; "": none may
	}{
		"sound":     {&bagOfWords{}, ""},
		"not unit":  {&bagOfWords{long: true}, "shapes.unit-length"},
		"unstable":  {&bagOfWords{unstable: true}, "stable.repeat"},
		"lax":       {&bagOfWords{lax: true}, "text.invalid-utf8"},
		"deaf":      {&bagOfWords{deaf: true}, "conduct.cancelled"},
		"senseless": {&bagOfWords{senseless: true}, "sense.related-above-unrelated"},
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

type noModel struct{ port.Model }

func (noModel) Info() port.ModelInfo { return port.ModelInfo{ID: "none"} }

func TestOtherTasksAreRefused(t *testing.T) {
	if _, err := modelcheck.Check(t.Context(), noModel{}); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
