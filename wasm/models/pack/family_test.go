package pack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// words8 is a tokenizer.json of as many tokens as tiny has word embeddings.
func words8(t *testing.T, post string) []byte {
	t.Helper()
	b, err := json.Marshal(map[string]any{
		"pre_tokenizer":  map[string]any{"type": "WhitespaceSplit"},
		"post_processor": json.RawMessage(post),
		"model": map[string]any{"type": "WordLevel", "unk_token": "<unk>",
			"vocab": map[string]int{"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": 4, "a": 5, "b": 6, "c": 7}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	robertaPost = `{"type":"RobertaProcessing","sep":["</s>",2],"cls":["<s>",0]}`
	bertPost    = `{"type":"BertProcessing","sep":["</s>",2],"cls":["<s>",0]}`
)

func filled(seed float32, dims ...int) tensor {
	n, _ := elements(dims)
	data := make([]float32, n)
	for i := range data {
		data[i] = seed + float32(i%11) - 5
	}
	return tensor{dims, data}
}

// family is tiny as a checkpoint of another architecture: under its names, with two
// positions before the first that a text has, and one type embedding or none.
func family(t *testing.T, modelType, post string, change func(map[string]tensor)) string {
	t.Helper()
	prefix := map[string]string{mpnet: "mpnet."}[modelType]
	if prefix == "" {
		prefix = "roberta."
	}
	weights := map[string]tensor{}
	for name, x := range tiny() {
		switch name {
		case positionTable:
			x = tensor{[]int{14, 16}, slices.Concat(make([]float32, 2*16), x.data)}
		case typeTable:
			if modelType == mpnet {
				continue
			}
			x = tensor{[]int{1, 16}, x.data[:16]}
		}
		if modelType == mpnet {
			name = strings.NewReplacer("attention.self.query.", "attention.attn.q.", "attention.self.key.", "attention.attn.k.",
				"attention.self.value.", "attention.attn.v.", "attention.output.dense.", "attention.attn.o.",
				"attention.output.LayerNorm.", "attention.LayerNorm.").Replace(name)
		}
		weights[prefix+name] = x
	}
	if modelType == mpnet {
		weights[prefix+distanceTable] = filled(0, 32, 2)
	}
	if change != nil {
		change(weights)
	}
	dir := checkpoint(t, func(map[string]tensor) (string, []byte) { return asSafetensors(same)(weights) })
	write(t, dir, "config.json", []byte(strings.NewReplacer(`"bert"`, `"`+modelType+`"`,
		`"max_position_embeddings":12`, `"max_position_embeddings":14,"pad_token_id":1`).Replace(tinyConfig)))
	write(t, dir, "tokenizer.json", words8(t, post))
	return dir
}

// TestFamilies: checkpoints of RoBERTa's family and of MPNet give the tensors that the
// same network has as a BERT, with the tokenizer beside them.
func TestFamilies(t *testing.T) {
	plain, err := Parse(packOf(t, checkpoint(t, asSafetensors(same)), Options{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, modelType := range []string{roberta, camembert, xlmr, mpnet} {
		f, err := Parse(packOf(t, family(t, modelType, robertaPost, nil), Options{Name: "x"}))
		if err != nil {
			t.Errorf("%s: %v", modelType, err)
			continue
		}
		c := f.Config
		if c.Format != 2 || !c.Hosted() || c.Architecture != "bert" || c.Positions != 12 || c.MaxTokens != 12 || c.Vocab != 8 ||
			c.ClsID != 0 || c.SepID != 2 || c.PadID != 1 || c.UnkID != 3 || c.MaskID != 4 || c.Separators != 0 ||
			c.DistanceBias != (modelType == mpnet) {
			t.Errorf("%s: %+v", modelType, c)
		}
		for name, want := range plain.Tensors {
			got := f.Tensors[name].Data
			switch {
			case name == "vocab":
				if len(got) > 0 || !bytes.Equal(f.Tensors["tokenizer"].Data, words8(t, robertaPost)) {
					t.Errorf("%s: the tokenizer is %s", modelType, f.Tensors["tokenizer"].Data)
				}
				continue
			case name == "embeddings.type" && modelType == mpnet:
				want.Data = make([]byte, len(want.Data))
			case name == "embeddings.type":
				want.Data = slices.Concat(want.Data[:64], want.Data[:64])
			}
			if !bytes.Equal(got, want.Data) {
				t.Errorf("%s: tensor %s differs", modelType, name)
			}
		}
	}
	// Where padding has another id, as many positions are left out.
	dir := family(t, roberta, robertaPost, nil)
	write(t, dir, "config.json", []byte(strings.NewReplacer(`"bert"`, `"roberta"`, `"max_position_embeddings":12`,
		`"max_position_embeddings":14,"pad_token_id":4`).Replace(tinyConfig)))
	if f, err := Parse(packOf(t, dir, Options{})); err != nil || f.Config.Positions != 9 {
		t.Errorf("with padding 4: %v", err)
	}
	// Embeddings of no token, which make the number a round one.
	spare := family(t, roberta, robertaPost, func(w map[string]tensor) { w["roberta."+wordTable] = filled(0, 10, 16) })
	if f, err := Parse(packOf(t, spare, Options{})); err != nil || f.Config.Vocab != 10 {
		t.Errorf("with embeddings to spare: %v", err)
	}
}

// TestFamilyHeads: a classifier of RoBERTa's family is a pooler and a classifier, and
// what stands between the texts of a pair is the tokenizer's.
func TestFamilyHeads(t *testing.T) {
	classifier := func(w map[string]tensor) {
		w["classifier.dense.weight"], w["classifier.dense.bias"] = filled(1, 16, 16), filled(2, 16)
		w["classifier.out_proj.weight"], w["classifier.out_proj.bias"] = filled(3, 1, 16), filled(4, 1)
		w["roberta.pooler.dense.weight"], w["roberta.pooler.dense.bias"] = filled(5, 16, 16), filled(6, 16)
		w["roberta."+typeTable] = filled(7, 2, 16)
	}
	for post, want := range map[string]struct {
		separators int
		apart      bool
	}{robertaPost: {2, false}, bertPost: {1, true}} {
		f, err := Parse(packOf(t, family(t, xlmr, post, classifier), Options{}))
		if err != nil {
			t.Fatal(err)
		}
		types := f.Tensors["embeddings.type"].Data
		if f.Config.Does() != Rerank || f.Config.Head != Pooler || f.Config.Separators != want.separators ||
			bytes.Equal(types[:64], types[64:]) == want.apart {
			t.Errorf("%s: %+v", post, f.Config)
		}
		if !bytes.Equal(f.Tensors["head.weight"].Data, floatBytes(filled(3, 16).data)) ||
			!bytes.Equal(f.Tensors["pooler.bias"].Data, floatBytes(filled(2, 16).data)) {
			t.Error("the head has other weights")
		}
	}
	masked := family(t, roberta, robertaPost, func(w map[string]tensor) {
		w["lm_head.dense.weight"], w["lm_head.dense.bias"] = filled(1, 16, 16), filled(2, 16)
		w["lm_head.layer_norm.weight"], w["lm_head.layer_norm.bias"] = filled(3, 16), filled(4, 16)
		w["lm_head.bias"] = filled(5, 8)
	})
	f, err := Parse(packOf(t, masked, Options{}))
	if err != nil || f.Config.Does() != Sparse || !bytes.Equal(f.Tensors["mlm.decoder.bias"].Data, floatBytes(filled(5,
		8).data)) {
		t.Errorf("a masked language model: %v", err)
	}
}

// TestDistances: each distance has the bucket that MPNet gives it, by its formula.
func TestDistances(t *testing.T) {
	table := tensor{[]int{32, 2}, make([]float32, 64)}
	for i := range table.data {
		table.data[i] = float32(i)
	}
	got, err := distances(table, 2)
	if err != nil || len(got) != 2*257 {
		t.Fatalf("%d values, %v", len(got), err)
	}
	for h := range 2 {
		for d := -128; d <= 128; d++ {
			n, bucket := d, 0
			if n < 0 {
				n = -n
			} else if n > 0 {
				bucket = 16
			}
			if n < 8 {
				bucket += n
			} else {
				bucket += min(8+int(float32(float32(math.Log(float64(float32(n)/8)))/float32(math.Log(16)))*8), 15)
			}
			if want := float32(2*bucket + h); got[h*257+d+128] != want {
				t.Errorf("head %d, distance %d: %g, want %g", h, d, got[h*257+d+128], want)
			}
		}
	}
}

// TestFamilyRefused: what the engine can't do with a tokenizer or its model is told.
func TestFamilyRefused(t *testing.T) {
	template := func(single, pair string) string {
		return `{"type":"TemplateProcessing","single":[` + single + `],"pair":[` + pair + `],` +
			`"special_tokens":{"<s>":{"ids":[0]},` +
			`"</s>":{"ids":[2]},"two":{"ids":[0,2]}}}`
	}
	const s, e, two = `{"SpecialToken":{"id":"<s>"}}`, `{"SpecialToken":{"id":"</s>"}}`, `{"SpecialToken":{"id":"two"}}`
	const a, b = `{"Sequence":{"id":"A"}}`, `{"Sequence":{"id":"B"}}`
	join := func(parts ...string) string { return strings.Join(parts, ",") }
	classifier := func(w map[string]tensor) {
		w["classifier.dense.weight"], w["classifier.dense.bias"] = filled(1, 16, 16), filled(2, 16)
		w["classifier.out_proj.weight"], w["classifier.out_proj.bias"] = filled(3, 1, 16), filled(4, 1)
	}
	const around, pairs = "does not put one token before a text and one behind it", "does not put a pair as [CLS] A [SEP] B [SEP]"
	good := join(s, a, e)
	for i, c := range []struct {
		modelType, post, want string
		change                func(map[string]tensor)
	}{
		{roberta, "null", around, nil},
		{roberta, template(join(a, e), join(a, b, e)), around, nil},
		{roberta, template(join(s, a), join(s, a, b)), around, nil},
		{roberta, template(join(two, a, e), join(s, a, e, b, e)), around, nil},
		{roberta, template(join(s, a, e, e), join(s, a, e, b, e)), around, nil},
		{roberta, template(good, join(s, a, b, e)), pairs, classifier},
		{roberta, template(good, join(s, a, e, e, e, b, e)), pairs, classifier},
		{roberta, template(good, join(s, a, e, b, s)), pairs, classifier},
		{roberta, template(good, join(e, a, e, b, e)), pairs, classifier},
		{roberta, template(good, join(s, a, s, b, e)), pairs, classifier},
		{roberta, template(good, join(s, b, e, a, e)), pairs, classifier},
		{roberta, template(good, join(s, a, two, b, e)), pairs, classifier},
		{roberta, `{"type":"Wreath"}`, `tokenizer.json: post_processor "Wreath" is not supported`, nil},
		{roberta, robertaPost, "has 7 word embeddings but the vocabulary 8 pieces",
			func(w map[string]tensor) { w["roberta."+wordTable] = filled(0, 7, 16) }},
		{roberta, robertaPost, "of which 2 positions are none of a text",
			func(w map[string]tensor) { w["roberta."+positionTable] = filled(0, 2, 16) }},
		{roberta, robertaPost, "of which 2 positions are none of a text",
			func(w map[string]tensor) { delete(w, "roberta."+positionTable) }},
		{mpnet, robertaPost, "has shape [31 2], want [32 2]", func(w map[string]tensor) {
			w["mpnet."+distanceTable] = filled(0,
				31, 2)
		}},
		{mpnet, robertaPost, "has shape [32 3], want [32 2]", func(w map[string]tensor) {
			w["mpnet."+distanceTable] = filled(0,
				32, 3)
		}},
		{mpnet, robertaPost, "has shape [], want [32 2]", func(w map[string]tensor) { delete(w, "mpnet."+distanceTable) }},
	} {
		dir := family(t, c.modelType, c.post, c.change)
		if _, err := Pack(t.Context(), dir, filepath.Join(t.TempDir(), "out"), Options{}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: got %v, want %q", i, err, c.want)
		}
	}
}

// TestFormats: what belongs to a pack of format 2 is refused in one of format 1.
func TestFormats(t *testing.T) {
	f, err := Parse(packOf(t, family(t, roberta, robertaPost, nil), Options{}))
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Config){
		"format 4 is not supported; this version reads formats 1 to 3": func(c *Config) { c.Format = 4 },
		"dimensions, dense and dense_activation are of format 3":       func(c *Config) { c.Dimensions = 8 },
		`architecture "rotary" is not supported; bert is, and rotary`:  func(c *Config) { c.Architecture = rotaryEngine },
		"causal are of architecture rotary":                            func(c *Config) { c.Causal = true },
		"tokenizer, separators and distance_bias are of format 2":      func(c *Config) { c.Format = 1 },
		`tokenizer "" is not supported; json is`:                       func(c *Config) { c.Tokenizer = "" },
		"separators is 3, want 1 or 2":                                 func(c *Config) { c.Separators = 3 },
		"separators is -1, want 1 or 2":                                func(c *Config) { c.Separators = -1 },
		`head "joint" is not supported where the host tokenizes`:       func(c *Config) { c.Task, c.Head = Rerank, Joint },
	} {
		c := f.Config
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	for _, one := range []func(*Config){func(c *Config) { c.Separators = 1 }, func(c *Config) { c.DistanceBias = true }} {
		c := f.Config
		c.Format, c.Tokenizer = 1, ""
		one(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "are of format 2") {
			t.Errorf("got %v", err)
		}
	}
	for missing, want := range map[string]string{"tokenizer": "tensor tokenizer is missing",
		"attention.bias": "attention.bias is missing"} {
		broken := &File{Config: f.Config, Tensors: map[string]Tensor{}}
		broken.Config.DistanceBias = true
		for name, x := range f.Tensors {
			if name != missing {
				broken.Tensors[name] = x
			}
		}
		if err := broken.check(); err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
