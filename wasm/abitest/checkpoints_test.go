package abitest

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/host"
	"github.com/mnemehq/mneme/wasm/models"
	"github.com/mnemehq/mneme/wasm/models/pack"
)

// checkpoint is one of wasm/models/golden/checkpoints.py or rotary.py.
type checkpoint struct {
	Config    json.RawMessage   `json:"config"`
	Tokenizer string            `json:"tokenizer"`
	Prompts   map[string]string `json:"prompts"`
	Pooling   string            `json:"pooling"`
	Weights   [2]int            `json:"weights"` // from, to
	Vectors   [][]float64       `json:"vectors"`
	Pairs     [][3]any          `json:"pairs"`

	// Of rotary.py alone.
	Window     int                        `json:"window"`
	Dimensions int                        `json:"dimensions"`
	Terms      []map[string]float64       `json:"terms"` // by id, of sparse encoders
	Files      map[string]json.RawMessage `json:"files"`
	Blobs      map[string][2]int          `json:"blobs"` // from, to
}

// folder writes the checkpoint as Hugging Face's libraries do.
func (c checkpoint) folder(t *testing.T, tokenizer, binary []byte) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name string, b []byte) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("config.json", c.Config)
	put("tokenizer.json", tokenizer)
	put("model.safetensors", binary[c.Weights[0]:c.Weights[1]])
	if c.Vectors != nil {
		put("1_Pooling/config.json", []byte(`{"pooling_mode_`+map[string]string{"cls": "cls_token",
			"mean": "mean_tokens"}[c.Pooling]+`":true}`))
	}
	if c.Prompts != nil {
		b, err := json.Marshal(map[string]any{"prompts": c.Prompts})
		if err != nil {
			t.Fatal(err)
		}
		put("config_sentence_transformers.json", b)
	}
	for name, b := range c.Files {
		put(name, b)
	}
	for name, at := range c.Blobs {
		put(name, binary[at[0]:at[1]])
	}
	return dir
}

// checkpoints are those of a golden file, with their weights and their tokenizers.
func checkpoints(t *testing.T, name string) (all map[string]checkpoint, folder func(t *testing.T, name string) string) {
	t.Helper()
	if err := json.Unmarshal(golden(t, name+".json.gz"), &all); err != nil {
		t.Fatal(err)
	}
	return all, foldersOf(t, name, all)
}

func foldersOf(t *testing.T, name string, all map[string]checkpoint) func(t *testing.T, name string) string {
	t.Helper()
	var words struct {
		Tokenizers map[string]struct {
			File json.RawMessage `json:"file"`
		} `json:"tokenizers"`
	}
	if err := json.Unmarshal(golden(t, "tokenizers.json.gz"), &words); err != nil {
		t.Fatal(err)
	}
	binary := golden(t, name+".bin.gz")
	return func(t *testing.T, name string) string {
		t.Helper()
		return all[name].folder(t, words.Tokenizers[all[name].Tokenizer].File, binary)
	}
}

// TestCheckpoints packs checkpoints of other architectures and tokenizers than BERT's
// uncased ones and holds them to the reference, on the host's kernels and on the
// module's own loops.
func TestCheckpoints(t *testing.T) {
	sandboxed(t)
	texts := goldenTexts(t)
	for _, file := range []string{"checkpoints", "rotary", "colbert"} {
		all, folder := checkpoints(t, file)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			c := all[name]
			out := filepath.Join(t.TempDir(), name+".safetensors")
			packed, err := pack.Pack(t.Context(), folder(t, name), out, pack.Options{Dimensions: c.Dimensions})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			query := cmp.Or(c.Prompts["query"], c.Prompts["search_query"])
			if packed.MaxTokens != cmp.Or(c.Window, 64) || packed.QueryPrefix != query {
				t.Errorf("%s: window %d, query prefix %q", name, packed.MaxTokens, packed.QueryPrefix)
			}
			for way, own := range map[string]bool{"kernels": false, "own loops": true} {
				t.Run(name+"/"+way, func(t *testing.T) {
					m := open(t, source(t, out), host.Options{OwnLoops: own})
					switch {
					case c.Pairs != nil && file != "checkpoints" && own:
						checkPairs(t, m, c.Pairs, 0.002)
					case c.Pairs != nil: // of scores whose deviation is 1: so narrow a model feels the rounding of its weights
						checkPairs(t, m, c.Pairs, 0.08)
					case c.Terms != nil:
						checkTerms(t, m, texts[:len(c.Terms)], c.Terms)
					default:
						floor := 0.995
						if file == "rotary" && own { // whose weights int8 holds as they are, and these loops round to 16 bits
							floor = 0.9999
						}
						checkRows(t, m, texts[:len(c.Vectors)], c.Vectors, floor)
					}
				})
			}
		}
	}
}

func checkRows(t *testing.T, m *host.Model, texts []goldenText, want [][]float64, floor float64) {
	t.Helper()
	worst, sum := 1.0, 0.0
	for i, text := range texts {
		kind := port.Passage
		if text.Kind == "query" {
			kind = port.Query
		}
		got, err := m.Embed(t.Context(), kind, []string{text.Text})
		if err != nil {
			t.Fatal(err)
		}
		dot, aa, bb := 0.0, 0.0, 0.0
		for c, x := range got.Row(0) {
			dot, aa, bb = dot+float64(x)*want[i][c], aa+float64(x)*float64(x), bb+want[i][c]*want[i][c]
		}
		cosine := dot / math.Sqrt(aa*bb)
		if !(cosine >= floor) {
			t.Errorf("text %d (%.40q, %d tokens): cosine %.5f to the reference, want %.3f", i, text.Text, got.Tokens[0],
				cosine, floor)
		}
		worst, sum = min(worst, cosine), sum+cosine
	}
	t.Logf("cosine to the reference: mean %.6f, worst %.6f over %d texts", sum/float64(len(texts)), worst, len(texts))
}

// checkTerms compares the weights that the reference's largest terms have here, where all terms are kept, and looks
// for others that are larger.
func checkTerms(t *testing.T, m *host.Model, texts []goldenText, want []map[string]float64) {
	t.Helper()
	worst, sum := 1.0, 0.0
	for i, text := range texts {
		got, err := m.Encode(t.Context(), port.Query, []string{text.Text})
		if err != nil {
			t.Fatal(err)
		}
		dot, aa, bb, least, other := 0.0, 0.0, 0.0, math.Inf(1), 0.0
		for _, w := range want[i] {
			bb, least = bb+w*w, min(least, w)
		}
		for j, id := range got.Terms {
			w := float64(got.Weights[j])
			if v, ok := want[i][strconv.Itoa(int(id))]; ok {
				dot, aa = dot+w*v, aa+w*w
			} else {
				other = max(other, w)
			}
		}
		cosine := dot / math.Sqrt(aa*bb)
		if !(cosine >= 0.999) || other > 1.1*least {
			t.Errorf("text %d (%.40q): cosine %.5f to the reference; another term of %.3f, its least is %.3f", i, text.Text,
				cosine, other, least)
		}
		worst, sum = min(worst, cosine), sum+cosine
	}
	t.Logf("cosine to the reference: mean %.6f, worst %.6f over %d texts", sum/float64(len(texts)), worst, len(texts))
}

func checkPairs(t *testing.T, m *host.Model, pairs [][3]any, most float64) {
	t.Helper()
	worst, sum := 0.0, 0.0
	for _, p := range pairs {
		query, text, want := p[0].(string), p[1].(string), p[2].(float64)
		got, _, err := m.Score(t.Context(), query, []string{text})
		if err != nil {
			t.Fatal(err)
		}
		off := math.Abs(float64(got[0]) - want)
		if !(off <= most) {
			t.Errorf("%.40q, %.40q: probability %.4f, the reference's is %.4f", query, text, got[0], want)
		}
		worst, sum = max(worst, off), sum+off
	}
	t.Logf("probabilities are off by %.4f, at most %.4f, of %d pairs", sum/float64(len(pairs)), worst, len(pairs))
}

// TestCheckpointsInBatches: a text gives the same bits alone and with others, of whatever lengths.
func TestCheckpointsInBatches(t *testing.T) {
	sandboxed(t)
	golden := goldenTexts(t)
	for _, file := range []string{"rotary", "colbert"} {
		all, folder := checkpoints(t, file)
		for name, c := range all {
			if c.Vectors == nil && file == "rotary" {
				continue
			}
			out := filepath.Join(t.TempDir(), name+".safetensors")
			if _, err := pack.Pack(t.Context(), folder(t, name), out, pack.Options{Dimensions: c.Dimensions}); err != nil {
				t.Fatal(err)
			}
			m := open(t, source(t, out), host.Options{})
			answer := func(texts []string) (rows [][]float32) {
				t.Helper()
				if c.Pairs != nil {
					scores, _, err := m.Score(t.Context(), c.Pairs[0][0].(string), texts)
					if err != nil {
						t.Fatal(err)
					}
					for _, score := range scores {
						rows = append(rows, []float32{score})
					}
					return rows
				}
				got, err := m.Embed(t.Context(), port.Passage, texts)
				if err != nil {
					t.Fatal(err)
				}
				for i := range texts {
					rows = append(rows, got.Row(i))
				}
				return rows
			}
			var texts []string
			for i := range max(len(c.Vectors), len(c.Pairs)) {
				texts = append(texts, golden[i].Text)
			}
			for i, row := range answer(texts) {
				if alone := answer(texts[i : i+1])[0]; !slices.Equal(alone, row) {
					t.Errorf("%s: %.40q differs alone and with others", name, texts[i])
				}
			}
		}
	}
}

// TestPackSettings: an operator sets dimensions and prompts of a pack of format 3 without
// packing it again; each makes another model, and what was packed in is the default.
func TestPackSettings(t *testing.T) {
	sandboxed(t)
	_, folder := checkpoints(t, "rotary")
	out := filepath.Join(t.TempDir(), "qwen3.safetensors")
	if _, err := pack.Pack(t.Context(), folder(t, "qwen3"), out, pack.Options{}); err != nil {
		t.Fatal(err)
	}
	s, err := models.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	digests := map[string]bool{}
	vectors := func(kind port.TextKind, given map[string]string) []float32 {
		t.Helper()
		configured, err := s.Configure(given)
		if err != nil {
			t.Fatal(err)
		}
		m := source(t, out)
		m.Config, m.Identity = configured.Config, configured.Identity
		digests[m.Digest()] = true
		got, err := open(t, m, host.Options{OwnLoops: true}).Embed(t.Context(), kind, []string{"Where does the ferry land?"})
		if err != nil {
			t.Fatal(err)
		}
		return got.Row(0)
	}
	whole, cut := vectors(port.Query, nil), vectors(port.Query, map[string]string{"dimensions": "24"})
	if len(whole) != 64 || len(cut) != 24 {
		t.Fatalf("%d and %d dimensions", len(whole), len(cut))
	}
	length := 0.0
	for _, x := range whole[:24] {
		length += float64(x) * float64(x)
	}
	for i, x := range cut {
		if want := float64(whole[i]) / math.Sqrt(length); math.Abs(float64(x)-want) > 1e-6 {
			t.Errorf("dimension %d is %g, want %g", i, x, want)
		}
	}
	bare := vectors(port.Query, map[string]string{"query_prefix": ""})
	if passage := vectors(port.Passage, nil); slices.Equal(bare, whole) || !slices.Equal(bare, passage) {
		t.Error("a query without prefix is not as a passage without prefix")
	}
	if len(digests) != 3 { // what is given as it is by default is the same model
		t.Errorf("%d models, want 3", len(digests))
	}
	for name, value := range map[string]string{"dimensions": "65", "pooling": "cls", "passage_prefix": strings.Repeat("a", 509)} {
		if _, err := s.Configure(map[string]string{name: value}); err == nil {
			t.Errorf("%s %.10s is taken", name, value)
		}
	}
}

// TestRotaryWindow: a model that reads very long texts gets a window of 2048 tokens unless
// more is asked for.
func TestRotaryWindow(t *testing.T) {
	all, _ := checkpoints(t, "rotary")
	c := all["qwen3"]
	var config map[string]any
	if err := json.Unmarshal(c.Config, &config); err != nil {
		t.Fatal(err)
	}
	config["max_position_embeddings"] = 32768
	var err error
	if c.Config, err = json.Marshal(config); err != nil {
		t.Fatal(err)
	}
	all["qwen3"] = c
	folder := foldersOf(t, "rotary", all)
	for asked, want := range map[int]int{0: 2048, 4096: 4096} {
		out := filepath.Join(t.TempDir(), "qwen3.safetensors")
		packed, err := pack.Pack(t.Context(), folder(t, "qwen3"), out, pack.Options{MaxTokens: asked})
		if err != nil || packed.MaxTokens != want {
			t.Errorf("asked for %d: %d, %v", asked, packed.MaxTokens, err)
		}
	}
}

// TestManyTerms: a text whose states the host does not multiply with a large vocabulary in one call has the
// terms of all of it, with rotary positions and without. Attention and positions add nothing here, so they are
// those of its distinct words.
func TestManyTerms(t *testing.T) {
	sandboxed(t)
	const vocab, hidden, window = 1 << 18, 48, 1100
	const modern, roberta = "modernbert", "roberta"
	matrices := map[string]map[string][2]int{ // of random values; those of zeros are below
		modern: {"embeddings.tok_embeddings": {vocab, hidden}, "layers.0.attn.Wqkv": {3 * hidden, hidden},
			"layers.0.mlp.Wi": {2 * hidden, hidden}, "layers.0.mlp.Wo": {hidden, hidden}, "head.dense": {hidden, hidden}},
		roberta: {"embeddings.word_embeddings": {vocab, hidden}, "encoder.layer.0.attention.self.query": {hidden, hidden},
			"encoder.layer.0.attention.self.key": {hidden, hidden}, "encoder.layer.0.attention.self.value": {hidden, hidden},
			"encoder.layer.0.intermediate.dense": {hidden, hidden}, "encoder.layer.0.output.dense": {hidden, hidden},
			"lm_head.dense": {hidden, hidden}},
	}
	zeros := map[string]map[string][]int{
		modern: {"layers.0.attn.Wo.weight": {hidden, hidden}, "decoder.bias": {vocab}},
		roberta: {"encoder.layer.0.attention.output.dense.weight": {hidden, hidden}, "lm_head.bias": {vocab},
			"embeddings.position_embeddings.weight":       {window + 2, hidden},
			"embeddings.token_type_embeddings.weight":     {1, hidden},
			"encoder.layer.0.attention.output.dense.bias": {hidden}, "encoder.layer.0.attention.self.query.bias": {hidden},
			"encoder.layer.0.attention.self.key.bias": {hidden}, "encoder.layer.0.attention.self.value.bias": {hidden},
			"encoder.layer.0.intermediate.dense.bias": {hidden}, "encoder.layer.0.output.dense.bias": {hidden},
			"lm_head.dense.bias": {hidden}},
	}
	norms := map[string][]string{
		modern: {"embeddings.norm", "layers.0.mlp_norm", "final_norm", "head.norm"},
		roberta: {"embeddings.LayerNorm", "encoder.layer.0.attention.output.LayerNorm", "encoder.layer.0.output.LayerNorm",
			"lm_head.layer_norm"},
	}
	for _, architecture := range []string{modern, roberta} {
		t.Run(architecture, func(t *testing.T) {
			dir, r := t.TempDir(), rand.New(rand.NewPCG(5, 6))
			header, data := map[string]any{}, []byte{}
			put := func(name string, value func() float32, shape ...int) {
				from, n := len(data), 1
				for _, d := range shape {
					n *= d
				}
				for range n {
					data = binary.LittleEndian.AppendUint32(data, math.Float32bits(value()))
				}
				header[name] = map[string]any{"dtype": "F32", "shape": shape, "data_offsets": []int{from, len(data)}}
			}
			zero := func() float32 { return 0 }
			for _, name := range slices.Sorted(maps.Keys(matrices[architecture])) {
				shape := matrices[architecture][name]
				put(name+".weight", func() float32 { return float32(r.NormFloat64()) }, shape[:]...)
			}
			for name, shape := range zeros[architecture] {
				put(name, zero, shape...)
			}
			for _, norm := range norms[architecture] {
				put(norm+".weight", func() float32 { return 1 }, hidden)
				put(norm+".bias", zero, hidden)
			}
			text, err := json.Marshal(header)
			if err != nil {
				t.Fatal(err)
			}
			file := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
			for name, b := range map[string][]byte{
				"model.safetensors": slices.Concat(file, text, data),
				"config.json": fmt.Appendf(nil, `{"model_type":"%s","hidden_size":%d,"num_hidden_layers":1,`+
					`"num_attention_heads":2,"intermediate_size":%[2]d,"max_position_embeddings":%d,"pad_token_id":1}`,
					architecture, hidden, window+2),
				"tokenizer.json": []byte(`{"pre_tokenizer":{"type":"WhitespaceSplit"},` +
					`"post_processor":{"type":"RobertaProcessing","sep":["</s>",1],"cls":["<s>",0]},` +
					`"model":{"type":"WordLevel","unk_token":"<unk>",` +
					`"vocab":{"<s>":0,"</s>":1,"<unk>":2,"a":3,"b":4}}}`),
			} {
				if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out := filepath.Join(t.TempDir(), "terms.safetensors")
			if _, err := pack.Pack(t.Context(), dir, out, pack.Options{}); err != nil {
				t.Fatal(err)
			}
			m := open(t, source(t, out), host.Options{})
			terms := func(text string) port.Sparse {
				t.Helper()
				got, err := m.Encode(t.Context(), port.Query, []string{text})
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			long, both, first := terms(strings.Repeat("a ", window-10)+"b"), terms("a b"), terms("a")
			if !slices.Equal(long.Terms, both.Terms) || !slices.Equal(long.Weights, both.Weights) {
				t.Errorf("%d terms of the long text, %d of its words", len(long.Terms), len(both.Terms))
			}
			if slices.Equal(both.Weights, first.Weights) {
				t.Error("its last word makes no difference")
			}
		})
	}
}
