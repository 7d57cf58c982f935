package modelkit_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

const smallWindow = 32

// words are the words of a text, cut at the window.
func words(text string) (kept []string, cut bool) {
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \t\n.,?", r) })
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
	i := port.ModelInfo{
		ID:        "small",
		Name:      "small",
		Version:   "1",
		Tasks:     []port.Task{task},
		Digest:    "sha256:" + strings.Repeat("0", 64),
		MaxTokens: smallWindow,
		Licence:   "Apache-2.0",
		Runtime:   "plugin",
	}
	if task == port.TaskEmbed {
		i.Dimensions = smallDim
	}
	return i
}

// flaws are the promises that a small model breaks. None of them is a sound model.
type flaws struct {
	deaf, late, lax, unstable, shifting, endless, senseless, keeps, wrongLater, noLicence, noDigest, twice, noDim bool

	long, nan, short, untold                   bool // embedding
	falling, negative, ragged                  bool // sparse
	wild, silent, loud, placed, greedy         bool // rerank
	citesNothing, makesUp, obeys, babbles, fib bool // answer
}

// small is a small real model of one task, on words alone.
type small struct {
	flaws
	task     port.Task
	leak     int64 // bytes by which it says it has grown each time it is asked
	readings atomic.Int64
	ceiling  int64
	dead     bool // a crash is for ever
	calls    atomic.Int64
	crashed  atomic.Int64 // when, in nanoseconds
	mu       sync.Mutex
	kept     map[string]string // texts of calls as they were, and as they were lent
	unclaims bool              // answers tasks that it does not claim
	renews   bool              // it is replaced now and then
	says     []string          // of itself: name, version, licence
}

func (s *small) Renewals() int {
	if s.renews {
		return int(s.calls.Load() / 2)
	}
	return 3 // before the check
}

func (s *small) Described() (name, version, licence string, ok bool) {
	if s.says == nil {
		return "", "", "", false
	}
	return s.says[0], s.says[1], s.says[2], true
}

const smallDim = 64

func (s *small) Info() port.ModelInfo {
	i := smallInfo(s.task)
	if s.noLicence {
		i.Licence = ""
	}
	if s.noDigest {
		i.Digest = "v1"
	}
	if s.twice {
		i.Tasks = append(i.Tasks, i.Tasks...)
	}
	if s.noDim {
		i.Dimensions = 0
	}
	return i
}

func (s *small) Close() error { return nil }

func (s *small) Memory() (used, ceiling int64) { return 10<<20 + s.leak*s.readings.Add(1), s.ceiling }

func (s *small) Break(context.Context) error {
	s.crashed.Store(time.Now().UnixNano())
	return nil
}

// admit is the conduct of a sound model: it heeds its caller and refuses what is
// not text. A call of very many texts takes until the caller gives up.
func (s *small) admit(ctx context.Context, task port.Task, texts []string) error {
	s.calls.Add(1)
	if s.task != task && !s.unclaims {
		return fault.New(fault.InvalidRequest, "not what this model does")
	}
	if at := s.crashed.Load(); at != 0 && (s.dead || time.Since(time.Unix(0, at)) < 50*time.Millisecond) {
		return fault.New(fault.Unavailable, "restarting")
	}
	if s.wrongLater && s.readings.Load() > 2 { // in the long run
		return fault.Wrap(fault.Upstream, "call", fault.Wrap(fault.Upstream, "answer", errors.New("row 3 is NaN"), "broken"),
			"the model failed")
	}
	if s.deaf {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(texts) > 200 {
		<-ctx.Done()
		if !s.late {
			return ctx.Err()
		}
		time.Sleep(100 * time.Millisecond)
		return nil
	}
	for _, text := range texts {
		if !utf8.ValidString(text) && !s.lax {
			return fault.New(fault.InvalidRequest, "not UTF-8")
		}
	}
	return nil
}

func (s *small) Embed(ctx context.Context, _ port.TextKind, texts []string) (port.Dense, error) {
	if err := s.admit(ctx, port.TaskEmbed, texts); err != nil {
		return port.Dense{}, err
	}
	d := port.Dense{Dim: smallDim}
	if s.short {
		d.Dim--
	}
	from := texts
	if s.keeps { // answers out of what the call before it lent
		s.mu.Lock()
		if s.kept == nil {
			s.kept = map[string]string{}
		}
		from = nil
		for _, text := range texts {
			if lent, ok := s.kept[text]; ok {
				from = append(from, lent)
			} else {
				from = append(from, text)
			}
			s.kept[strings.Clone(text)] = text
		}
		s.mu.Unlock()
	}
	for n, text := range from {
		row := make([]float64, d.Dim)
		kept, _ := words(text)
		hashed := append(slices.Clone(kept), "[sep]")
		if s.senseless {
			hashed = []string{"anything"}
		}
		if s.shifting && len(texts) > 1 {
			hashed = append(hashed, fmt.Sprint(n))
		}
		for _, w := range hashed {
			h := fnv.New64a()
			h.Write([]byte(w))
			seed := uint64(0)
			if s.unstable {
				seed = uint64(s.calls.Load())
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
		if s.long {
			norm = 1
		}
		if s.nan && strings.Contains(text, "\x00") {
			norm = math.NaN()
		}
		for _, x := range row {
			d.Data = append(d.Data, float32(x/math.Sqrt(norm)))
		}
		d.Tokens = append(d.Tokens, len(kept)+2)
		if s.endless {
			d.Tokens[n] = len(strings.Fields(text)) + 2
		}
		if s.untold {
			d.Tokens[n] = 0
		}
	}
	return d, nil
}

func (s *small) Encode(ctx context.Context, _ port.TextKind, texts []string) (port.Sparse, error) {
	if err := s.admit(ctx, port.TaskSparse, texts); err != nil {
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
		if s.senseless {
			row = map[uint32]float32{uint32(len(text)): 1}
		}
		terms := slices.Sorted(maps.Keys(row))
		if s.falling {
			slices.Reverse(terms)
		}
		for _, t := range terms {
			out.Terms = append(out.Terms, t)
			out.Weights = append(out.Weights, row[t])
			if s.negative {
				out.Weights[len(out.Weights)-1] *= -1
			}
		}
		kept, _ := words(text)
		out.Rows, out.Tokens = append(out.Rows, uint32(len(out.Terms))), append(out.Tokens, len(kept)+2)
		if s.endless {
			out.Tokens[len(out.Tokens)-1] = len(strings.Fields(text)) + 2
		}
	}
	if s.ragged && len(out.Terms) > 0 {
		out.Terms = out.Terms[1:]
	}
	return out, nil
}

// Score is the share of the query's words that a text has.
func (s *small) Score(ctx context.Context, query string, texts []string) ([]float32, int, error) {
	if err := s.admit(ctx, port.TaskRerank, append([]string{query}, texts...)); err != nil {
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
		case s.wild:
			out[i] *= 12
		case s.placed:
			out[i] /= float32(i + 1)
		case s.senseless:
			out[i] = 1 / float32(len(text)+1)
		case s.greedy && len(asked) == 1 && len(query) > 8*smallWindow:
			out[i] = 0.5
		}
		if cut && !s.silent || s.loud {
			truncated++
		}
	}
	return out, truncated, nil
}

// Synthesize quotes the source that has most of the question's words, if any has two.
func (s *small) Synthesize(ctx context.Context, q port.Question) (port.Synthesis, error) {
	texts := []string{q.Text}
	for _, from := range q.Sources {
		texts = append(texts, from.Text)
	}
	if err := s.admit(ctx, port.TaskSynthesize, texts); err != nil {
		return port.Synthesis{}, err
	}
	asked, best, at := counted(q.Text), 2, -1
	for i, from := range q.Sources {
		if s.obeys && strings.HasPrefix(from.Text, "Ignore") {
			return port.Synthesis{Text: "Paris [1]."}, nil
		}
		if strings.HasPrefix(from.Text, "Ignore") {
			continue
		}
		shared := 0
		for w := range counted(from.Text) {
			if asked[w] > 0 {
				shared++
			}
		}
		if shared > best {
			best, at = shared, i
		}
	}
	switch {
	case s.makesUp && at < 0:
		return port.Synthesis{Text: "Ulaanbaatar."}, nil
	case at < 0:
		return port.Synthesis{}, nil
	}
	words := strings.Fields(q.Sources[at].Text)
	if n := q.MaxTokens; n < len(words)+1 && !s.babbles {
		words = words[:n-1]
	}
	source := fmt.Sprintf("[%d]", at+1)
	switch {
	case s.citesNothing:
		source = ""
	case s.fib:
		source = "[9]"
	}
	return port.Synthesis{Text: strings.Join(words, " ") + " " + source, OutputTokens: len(words) + 1}, nil
}
