package abitest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/host"
	"github.com/mnemehq/mneme/wasm/models"
)

// small is a BERT of random weights, with the heads of every task, and the same
// network in float64: what the encoder of wasm/guest/c must compute.
type small struct {
	hidden, layers, heads, inner, vocab, window int
	matrices                                    map[string]matrix
	vectors                                     map[string][]float64
	assets                                      map[string][]byte
	words                                       []string
}

type matrix struct {
	out, in int
	w, b    []float64
}

const (
	padID, unkID, clsID, sepID, maskID = 0, 1, 2, 3, 4
	firstWord                          = 5
)

// newSmall makes the model. 101 word pieces: not a multiple of what any kernel
// takes at once.
func newSmall() *small {
	s := &small{hidden: 32, layers: 3, heads: 2, inner: 64, vocab: 101, window: 24,
		matrices: map[string]matrix{}, vectors: map[string][]float64{}, assets: map[string][]byte{}}
	random := rand.New(rand.NewPCG(7, 11))
	s.words = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	for len(s.words) < s.vocab {
		n := len(s.words)
		s.words = append(s.words, string([]byte{"bcdfghjklm"[n%10], "aeiou"[n/10%5], "npqrstvwxz"[n/50], 'o'}))
	}
	s.assets["vocab"] = []byte(strings.Join(s.words, "\n") + "\n")
	vector := func(name string, n int, mean, spread float64) {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(float32(mean + spread*random.NormFloat64()))
		}
		s.vectors[name] = v
		s.assets[name] = floatBytes(v)
	}
	codes := func(name string, out, in int, spread float64) matrix {
		m := matrix{out: out, in: in, w: make([]float64, out*in)}
		q, scales := make([]byte, out*in), make([]float64, out)
		for o := range out {
			scales[o] = float64(float32(spread / 40 * (0.8 + 0.4*random.Float64())))
			for i := range in {
				c := min(max(math.Round(40*random.NormFloat64()), -127), 127)
				q[o*in+i] = byte(int8(c))
				m.w[o*in+i] = c * scales[o]
			}
		}
		s.assets[name+".weight"], s.assets[name+".scale"] = q, floatBytes(scales)
		return m
	}
	linear := func(name string, out, in int, spread float64) {
		m := codes(name, out, in, spread/math.Sqrt(float64(in)))
		vector(name+".bias", out, 0, 0.1)
		m.b = s.vectors[name+".bias"]
		s.matrices[name] = m
	}
	norm := func(name string) {
		vector(name+".weight", s.hidden, 1, 0.1)
		vector(name+".bias", s.hidden, 0, 0.1)
	}
	words := codes("embeddings.word", s.vocab, s.hidden, 0.3)
	s.matrices["embeddings.word"] = words
	vector("embeddings.position", s.window*s.hidden, 0, 0.3)
	vector("embeddings.type", 2*s.hidden, 0, 0.3)
	norm("embeddings.norm")
	for i := range s.layers {
		at := fmt.Sprintf("layer.%d.", i)
		linear(at+"qkv", 3*s.hidden, s.hidden, 1)
		linear(at+"attention", s.hidden, s.hidden, 1)
		norm(at + "attention.norm")
		linear(at+"up", s.inner, s.hidden, 1)
		linear(at+"down", s.hidden, s.inner, 1)
		norm(at + "norm")
	}
	linear("mlm.transform", s.hidden, s.hidden, 1)
	norm("mlm.norm")
	// tied
	s.assets["mlm.decoder.weight"], s.assets["mlm.decoder.scale"] = s.assets["embeddings.word.weight"],
		s.assets["embeddings.word.scale"]
	vector("mlm.decoder.bias", s.vocab, -0.5, 0.5)
	s.matrices["mlm.decoder"] = matrix{s.vocab, s.hidden, words.w, s.vectors["mlm.decoder.bias"]}
	linear("pooler", s.hidden, s.hidden, 1)
	vector("head.weight", s.hidden, 0, 0.3)
	vector("head.bias", 1, 0.2, 0)
	vector("head.scale", 1, 3, 0)
	linear("late.project", 12, s.hidden, 1)
	linear("late.topic", 8, s.hidden, 1)
	vector("late.term", s.vocab, 0, 1)
	vector("late.gate", s.hidden, 0, 0.3)
	vector("late.weights", 4, 0, 1)
	return s
}

func floatBytes(v []float64) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
	}
	return b
}

// module gives the model for a task, as the built-in encoder runs it.
func (s *small) module(t testing.TB, settings map[string]any) host.Module {
	t.Helper()
	config := map[string]any{"hidden": s.hidden, "layers": s.layers, "heads": s.heads, "intermediate": s.inner,
		"vocab": s.vocab, "positions": s.window,
		"max_tokens": s.window, "epsilon": 1e-12, "pooling": "mean", "normalize": true, "query_prefix": "", "passage_prefix": "",
		"pad_id": padID, "unk_id": unkID, "cls_id": clsID, "sep_id": sepID, "mask_id": maskID}
	maps.Copy(config, settings)
	b, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	return host.Module{
		Wasm:      source(t, models.Default).Wasm,
		Config:    b,
		Assets:    s.assets,
		Interrupt: host.Cooperative,
		Info:      port.ModelInfo{Name: "small"},
	}
}

// ids are the word pieces of a text: every word is one.
func (s *small) ids(text string) []int {
	var out []int
	for _, w := range strings.Fields(text) {
		id := slices.Index(s.words, w)
		if id < 0 {
			id = unkID
		}
		out = append(out, id)
	}
	return out
}

// text makes n words.
func (s *small) text(random *rand.Rand, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = s.words[firstWord+random.IntN(s.vocab-firstWord)]
	}
	return strings.Join(out, " ")
}

func (s *small) linear(name string, x []float64) []float64 {
	m := s.matrices[name]
	out := make([]float64, m.out)
	for o := range out {
		out[o] = m.b[o]
		for i, v := range x {
			out[o] += v * m.w[o*m.in+i]
		}
	}
	return out
}

func (s *small) norm(name string, x []float64) []float64 {
	mean, square := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		square += (v - mean) * (v - mean) / float64(len(x))
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = (v-mean)/math.Sqrt(square+1e-12)*s.vectors[name+".weight"][i] + s.vectors[name+".bias"][i]
	}
	return out
}

func gelu(x []float64) []float64 {
	for i, v := range x {
		x[i] = v / 2 * (1 + math.Erf(v/math.Sqrt2))
	}
	return x
}

func add(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] + b[i]
	}
	return out
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func cosine(a, b []float64) float64 { return dot(a, b) / math.Sqrt(dot(a, a)*dot(b, b)) }

// states runs the first layers over word pieces, the first zeros of them of type 0.
func (s *small) states(ids []int, zeros, layers int) [][]float64 {
	h := s.hidden
	x := make([][]float64, len(ids))
	for i, id := range ids {
		kind := 0
		if i >= zeros {
			kind = 1
		}
		x[i] = s.norm("embeddings.norm",
			add(add(s.matrices["embeddings.word"].w[id*h:(id+1)*h], s.vectors["embeddings.position"][i*h:(i+1)*h]),
				s.vectors["embeddings.type"][kind*h:(kind+1)*h]))
	}
	for l := range layers {
		at := fmt.Sprintf("layer.%d.", l)
		var qkv [][]float64
		for _, v := range x {
			qkv = append(qkv, s.linear(at+"qkv", v))
		}
		dim := h / s.heads
		for i := range x {
			mixed := make([]float64, h)
			for head := range s.heads {
				from := head * dim
				weights, sum := make([]float64, len(x)), 0.0
				for j := range x {
					weights[j] = math.Exp(dot(qkv[i][from:from+dim], qkv[j][h+from:h+from+dim]) / math.Sqrt(float64(dim)))
					sum += weights[j]
				}
				for j, w := range weights {
					for d := range dim {
						mixed[from+d] += w / sum * qkv[j][2*h+from+d]
					}
				}
			}
			x[i] = s.norm(at+"attention.norm", add(x[i], s.linear(at+"attention", mixed)))
		}
		for i := range x {
			x[i] = s.norm(at+"norm", add(x[i], s.linear(at+"down", gelu(s.linear(at+"up", x[i])))))
		}
	}
	return x
}

// alone is [CLS] text [SEP], cut at the window.
func (s *small) alone(text string) (ids []int, cut bool) {
	own := s.ids(text)
	cut = len(own) > s.window-2
	return slices.Concat([]int{clsID}, own[:min(len(own), s.window-2)], []int{sepID}), cut
}

// encode is the learned-sparse vector of a text, all positive terms.
func (s *small) encode(text string) map[uint32]float64 {
	ids, _ := s.alone(text)
	out := map[uint32]float64{}
	for _, x := range s.states(ids, len(ids), s.layers) {
		for term, logit := range s.linear("mlm.decoder", s.norm("mlm.norm", gelu(s.linear("mlm.transform", x)))) {
			if logit > 0 {
				out[uint32(term)] = max(out[uint32(term)], math.Log1p(logit))
			}
		}
	}
	return out
}

// best is max_j cos(a_i, b_j) for each i.
func best(a, b [][]float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		for j := range b {
			if c := cosine(a[i], b[j]); j == 0 || c > out[i] {
				out[i] = c
			}
		}
	}
	return out
}

func sum(v []float64) float64 {
	out := 0.0
	for _, x := range v {
		out += x
	}
	return out
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// pair scores by a joint encoding.
func (s *small) pair(head, query, text string, calibration [2]float64) (score float64, tokens int, cut bool) {
	q, d := s.ids(query), s.ids(text)
	q = q[:min(len(q), s.window/2)]
	room := s.window - 3 - len(q)
	cut = len(d) > room
	d = d[:min(len(d), room)]
	ids := slices.Concat([]int{clsID}, q, []int{sepID}, d, []int{sepID})
	x := s.states(ids, len(q)+2, s.layers)
	first := x[0]
	if head == "pooler" {
		first = s.linear("pooler", first)
		for i, v := range first {
			first[i] = math.Tanh(v)
		}
	}
	raw := dot(first, s.vectors["head.weight"]) + s.vectors["head.bias"][0]
	if head == "joint" && len(q) > 0 {
		raw += s.vectors["head.scale"][0] * sum(best(x[1:1+len(q)], x[2+len(q):len(x)-1])) / float64(len(q))
	}
	return sigmoid(calibration[0]*raw + calibration[1]), len(ids), cut
}

// late scores by two encodings with the prefixes of a query and a text.
func (s *small) late(queryPrefix, textPrefix, query, text string, layers int) (score float64, tokens int, cut bool) {
	read := func(prefix, text string) (own []int, states [][]float64, all int, cut bool) {
		before := len(s.ids(prefix)) + 1
		ids, cut := s.alone(prefix + " " + text)
		x := s.states(ids, len(ids), layers)
		return ids[before : len(ids)-1], x[before : len(x)-1], len(ids), cut
	}
	q, xq, _, _ := read(queryPrefix, query)
	d, xd, tokens, cut := read(textPrefix, text)
	weights := s.vectors["late.weights"]
	raw := weights[2]*math.Log1p(float64(len(d))) + weights[3]
	if len(q) > 0 && len(d) > 0 {
		project := func(x [][]float64) [][]float64 {
			var out [][]float64
			for _, v := range x {
				out = append(out, s.linear("late.project", v))
			}
			return out
		}
		mix, all := make([]float64, len(q)), 0.0
		for i, id := range q {
			mix[i] = math.Exp(s.vectors["late.term"][id] + dot(s.vectors["late.gate"], xq[i]))
			all += mix[i]
		}
		for i, c := range best(project(xq), project(xd)) {
			raw += weights[0] * mix[i] / all * c
		}
		mean := func(x [][]float64) []float64 {
			out := make([]float64, s.hidden)
			for _, v := range x {
				for c := range v {
					out[c] += v[c] / float64(len(x))
				}
			}
			return out
		}
		raw += weights[1] * cosine(s.linear("late.topic", mean(xq)), s.linear("late.topic", mean(xd)))
	}
	return sigmoid(raw), tokens, cut
}

// paths are the two ways to run a model: on the host's kernels, which round most
// activations to 8 bits, and on the module's own loops. Noise is how far the 32
// wide network may be off: of logits, which are around 2, and of probabilities.
func paths() map[string]path {
	return map[string]path{"kernels": {false, 0.15, 0.03}, "own loops": {true, 0.01, 0.001}}
}

type path struct {
	own                 bool
	logits, probability float64
}

// texts of many lengths, the empty and the overlong included.
func (s *small) texts() []string {
	random := rand.New(rand.NewPCG(1, 2))
	var out []string
	for n := range 40 {
		out = append(out, s.text(random, n))
	}
	return append(out, "unheard of", s.words[7]+" "+s.words[7]+" "+s.words[7])
}

// TestSparse holds learned-sparse encoding to the network in float64, whole and
// cut to the largest terms, on the host's kernels and on the module's own loops.
func TestSparse(t *testing.T) {
	s := newSmall()
	texts := s.texts()
	for name, path := range paths() {
		for kind, limit := range map[port.TextKind]int{port.Passage: 8, port.Query: 0} {
			t.Run(fmt.Sprintf("%s, most %d", name, limit), func(t *testing.T) {
				m := open(t, s.module(t, map[string]any{"task": "sparse", "terms": 8}),
					host.Options{Instances: 2, OwnLoops: path.own})
				if info := m.Info(); !slices.Equal(info.Tasks, []port.Task{port.TaskSparse}) || info.Dimensions != 0 ||
					info.MaxTokens != s.window {
					t.Errorf("info %+v", info)
				}
				got, err := m.Encode(t.Context(), kind, texts)
				if err != nil {
					t.Fatal(err)
				}
				if len(got.Rows) != len(texts)+1 || len(got.Tokens) != len(texts) {
					t.Fatalf("%d rows and %d counts for %d texts", len(got.Rows)-1, len(got.Tokens), len(texts))
				}
				for i, text := range texts {
					want := s.encode(text)
					weights := slices.Sorted(maps.Values(want))
					floor := 0.0 // of what is kept for sure
					if limit > 0 && len(weights) > limit {
						floor = weights[len(weights)-limit]
					}
					off := path.logits
					terms := got.Terms[got.Rows[i]:got.Rows[i+1]]
					if limit > 0 && len(terms) > limit {
						t.Errorf("text %d has %d terms, at most %d", i, len(terms), limit)
					}
					for j, term := range terms {
						w := float64(got.Weights[int(got.Rows[i])+j])
						if math.Abs(w-want[term]) > off || w < floor-off {
							t.Errorf("text %d, term %d: weight %.4f, want %.4f, floor %.4f", i, term, w, want[term], floor)
						}
						delete(want, term)
					}
					for term, w := range want {
						if w > max(floor, 0)+off {
							t.Errorf("text %d: term %d of weight %.4f is missing, floor %.4f", i, term, w, floor)
						}
					}
					if ids, _ := s.alone(text); got.Tokens[i] != len(ids) {
						t.Errorf("text %d: read %d tokens, want %d", i, got.Tokens[i], len(ids))
					}
				}
			})
		}
	}
}

// TestRerank holds every head to the network in float64, on the host's kernels
// and on the module's own loops.
func TestRerank(t *testing.T) {
	sandboxed(t)
	s := newSmall()
	texts := s.texts()
	random := rand.New(rand.NewPCG(3, 4))
	queries := []string{"", s.text(random, 1), s.text(random, 5), s.words[7] + " " + s.words[9] + " " + s.words[7],
		s.text(random, 30)}
	plain := [2]float64{1, 0}
	for name, c := range map[string]struct {
		settings map[string]any
		want     func(query, text string) (float64, int, bool)
	}{
		"pooler": {map[string]any{"head": "pooler"},
			func(q, d string) (float64, int, bool) { return s.pair("pooler", q, d, plain) }},
		"plain": {map[string]any{"head": "plain", "calibration": nil},
			func(q, d string) (float64, int, bool) { return s.pair("plain", q, d, plain) }},
		"joint": {map[string]any{"head": "joint", "calibration": map[string]any{"scale": 0.5, "bias": -1}},
			func(q, d string) (float64, int, bool) { return s.pair("joint", q, d, [2]float64{0.5, -1}) }},
		"late": {map[string]any{"head": "late"},
			func(q, d string) (float64, int, bool) { return s.late("", "", q, d, s.layers) }},
		"shallow": {map[string]any{"head": "late", "late_layer": 2, "query_prefix": s.words[50] + " ",
			"passage_prefix": s.words[60] + " " + s.words[61]},
			func(q, d string) (float64, int, bool) {
				return s.late(s.words[50], s.words[60]+" "+s.words[61], q, d, 2)
			}},
	} {
		for way, path := range paths() {
			t.Run(name+"/"+way, func(t *testing.T) {
				c.settings["task"] = "rerank"
				m := open(t, s.module(t, c.settings), host.Options{Instances: 2, OwnLoops: path.own})
				if info := m.Info(); !slices.Equal(info.Tasks, []port.Task{port.TaskRerank}) || info.MaxTokens != s.window {
					t.Errorf("info %+v", info)
				}
				worst := 0.0
				for _, query := range queries {
					got, truncated, err := m.Score(t.Context(), query, texts)
					if err != nil {
						t.Fatal(err)
					}
					cuts := 0
					for i, text := range texts {
						want, _, cut := c.want(query, text)
						if off := math.Abs(want - float64(got[i])); off > path.probability {
							t.Errorf("query %.20q, text %d (%.20q): score %.4f, want %.4f", query, i, text, got[i], want)
						} else {
							worst = max(worst, off)
						}
						if cut {
							cuts++
						}
					}
					if truncated != cuts {
						t.Errorf("query %.20q: %d texts were cut, want %d", query, truncated, cuts)
					}
				}
				t.Logf("off by at most %.5f", worst)
			})
		}
	}
}

// TestCutQueries: a query is said to be cut exactly when its last word changes nothing,
// whatever the text.
func TestCutQueries(t *testing.T) {
	s := newSmall()
	for name, settings := range map[string]map[string]any{
		"together":                {"head": "plain", "calibration": nil},
		"together, with prefix":   {"head": "pooler", "query_prefix": s.words[50] + " " + s.words[51] + " "},
		"each alone":              {"head": "late"},
		"each alone, with prefix": {"head": "late", "late_layer": 2, "query_prefix": s.words[50] + " "},
	} {
		t.Run(name, func(t *testing.T) {
			settings["task"] = "rerank"
			m := open(t, s.module(t, settings), host.Options{Instances: 1})
			texts := []string{s.words[3], s.words[4] + " " + s.words[5]}
			flips, before := 0, false
			for n := 1; n <= s.window+2; n++ {
				head := strings.Repeat(s.words[7]+" ", n-1)
				cut, err := m.CutsQuery(t.Context(), head+s.words[8])
				if err != nil {
					t.Fatal(err)
				}
				one, _, err := m.Score(t.Context(), head+s.words[8], texts)
				if err != nil {
					t.Fatal(err)
				}
				other, _, err := m.Score(t.Context(), head+s.words[30], texts)
				if err != nil {
					t.Fatal(err)
				}
				if unread := slices.Equal(one, other); cut != unread {
					t.Errorf("%d words: said to be cut %t; the last word is passed over %t", n, cut, unread)
				}
				if cut != before {
					flips, before = flips+1, cut
				}
			}
			if flips != 1 {
				t.Errorf("queries are cut from %d lengths on, want one", flips)
			}
		})
	}
	m := open(t, s.module(t, nil), host.Options{Instances: 1})
	if _, err := m.CutsQuery(t.Context(), "a"); fault.CodeOf(err) != fault.Upstream {
		t.Errorf("an embedder: %v", err)
	}
}

// TestShared: models over the same weights hold them once, each frees what it
// alone holds, and answers don't change.
func TestShared(t *testing.T) {
	s := newSmall()
	shared := host.NewShared()
	one := func(settings map[string]any) *host.Model {
		m, err := host.Open(t.Context(), s.module(t, settings), host.Options{Instances: 1, Shared: shared})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	texts := s.texts()
	embedder := one(nil)
	if got := shared.Bytes(); got != 0 {
		t.Errorf("a model that was asked nothing has packed %d bytes", got)
	}
	if _, err := embedder.Embed(t.Context(), port.Passage, texts[:1]); err != nil {
		t.Fatal(err)
	}
	alone := shared.Bytes()
	if alone == 0 {
		embedder.Close()
		t.Skip("this machine has no kernels, so there is nothing to share")
	}
	reranker := one(map[string]any{"task": "rerank", "head": "plain", "late_layer": 2})
	before, _, err := reranker.Score(t.Context(), texts[3], texts)
	if err != nil {
		t.Fatal(err)
	}
	if got := shared.Bytes(); got != alone {
		t.Errorf("a second model over the same weights takes %d bytes more", got-alone)
	}
	sparse := one(map[string]any{"task": "sparse"})
	if _, err := sparse.Encode(t.Context(), port.Passage, texts[:1]); err != nil {
		t.Fatal(err)
	}
	if got := shared.Bytes(); got <= alone {
		t.Errorf("the language model's head takes nothing: %d bytes, %d before", got, alone)
	}
	for _, m := range []*host.Model{embedder, sparse} {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := shared.Bytes(); got <= 0 || got >= alone {
		t.Errorf("two layers of three hold %d bytes, all three held %d", got, alone)
	}
	after, _, err := reranker.Score(t.Context(), texts[3], texts)
	if err != nil || !slices.Equal(before, after) {
		t.Errorf("scores changed when another model was closed: %v", err)
	}
	if err := reranker.Close(); err != nil {
		t.Fatal(err)
	}
	if got := shared.Bytes(); got != 0 {
		t.Errorf("%d bytes are left", got)
	}
}

// TestStableTasks: an answer has the same bits whatever else is in the call, and
// in whatever order.
func TestStableTasks(t *testing.T) {
	s := newSmall()
	texts := s.texts()
	query := texts[4]
	for name, path := range paths() {
		t.Run(name, func(t *testing.T) {
			options := host.Options{Instances: 2, OwnLoops: path.own}
			for _, head := range []string{"pooler", "plain", "joint", "late"} {
				m := open(t, s.module(t, map[string]any{"task": "rerank", "head": head}), options)
				all, _, err := m.Score(t.Context(), query, texts)
				if err != nil {
					t.Fatal(err)
				}
				for i := range texts {
					one, _, err := m.Score(t.Context(), query, texts[i:i+1])
					if err != nil || one[0] != all[i] {
						t.Errorf("%s, text %d: alone %v (%v), among others %v", head, i, one, err, all[i])
					}
				}
			}
			m := open(t, s.module(t, map[string]any{"task": "sparse", "terms": 20}), options)
			all, err := m.Encode(t.Context(), port.Passage, texts)
			if err != nil {
				t.Fatal(err)
			}
			for i := range texts {
				one, err := m.Encode(t.Context(), port.Passage, texts[i:i+1])
				from, to := all.Rows[i], all.Rows[i+1]
				if err != nil || !slices.Equal(one.Terms, all.Terms[from:to]) ||
					!slices.Equal(one.Weights, all.Weights[from:to]) {
					t.Errorf("text %d: alone it has other terms than among others (%v)", i, err)
				}
			}
		})
	}
}

// TestTies: of equal weights at the cut the lower terms are kept.
func TestTies(t *testing.T) {
	s := newSmall()
	assets := maps.Clone(s.assets)
	assets["mlm.decoder.weight"] = make([]byte, s.vocab*s.hidden)
	bias := slices.Repeat([]float64{1}, s.vocab)
	bias[90], bias[3] = 2, -1
	assets["mlm.decoder.bias"] = floatBytes(bias)
	for name, path := range paths() {
		t.Run(name, func(t *testing.T) {
			module := s.module(t, map[string]any{"task": "sparse", "terms": 6})
			module.Assets = assets
			got, err := open(t, module, host.Options{Instances: 1, OwnLoops: path.own}).Encode(t.Context(),
				port.Passage, []string{"a", "b c"})
			if err != nil {
				t.Fatal(err)
			}
			terms := []uint32{0, 1, 2, 4, 5, 90}
			if want := slices.Concat(terms, terms); !slices.Equal(got.Terms, want) {
				t.Errorf("terms %d, want %d", got.Terms, want)
			}
			for i, w := range got.Weights {
				want := math.Log(2)
				if got.Terms[i] == 90 {
					want = math.Log(3)
				}
				if math.Abs(float64(w)-want) > 1e-6 {
					t.Errorf("term %d weighs %.8f, want %.8f", got.Terms[i], w, want)
				}
			}
		})
	}
}

// FuzzTexts: any text is encoded and scored, on both paths, and what comes back
// is whole; the host has checked it, so an error is the encoder's.
func FuzzTexts(f *testing.F) {
	s := newSmall()
	var encoders, rerankers []*host.Model
	for _, path := range paths() {
		o := host.Options{Instances: 1, OwnLoops: path.own}
		encoders = append(encoders, open(f, s.module(f, map[string]any{"task": "sparse", "terms": 10}), o))
		for _, head := range []string{"pooler", "joint", "late"} {
			rerankers = append(rerankers,
				open(f, s.module(f, map[string]any{"task": "rerank", "head": head, "query_prefix": s.words[8]}), o))
		}
	}
	for _, seed := range [][2]string{{"", ""}, {s.words[9], ""}, {"", s.words[9]},
		{strings.Repeat(s.words[9]+" ", 100), strings.Repeat("x", 1000)},
		{"[CLS] [SEP]", "[PAD][MASK]"}, {"\x00\u200d字", "한국어 ｆｕｌｌ İ"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		query, text = strings.ToValidUTF8(query, "?"), strings.ToValidUTF8(text, "?")
		for _, m := range encoders {
			if got, err := m.Encode(t.Context(), port.Passage, []string{query, text}); err != nil || len(got.Terms) > 20 {
				t.Fatalf("%d terms, %v", len(got.Terms), err)
			}
		}
		for _, m := range rerankers {
			scores, cut, err := m.Score(t.Context(), query, []string{text, query})
			if err != nil || len(scores) != 2 || cut > 2 {
				t.Fatalf("%v, %d, %v", scores, cut, err)
			}
		}
	})
}
