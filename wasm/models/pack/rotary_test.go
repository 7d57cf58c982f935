package pack

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// qwenConfig is a config.json that the engine runs, but for weights.
const qwenConfig = `{"model_type":"qwen3","hidden_size":16,"num_hidden_layers":2,"num_attention_heads":2,` +
	`"num_key_value_heads":1,"head_dim":8,"intermediate_size":32,"max_position_embeddings":64,"hidden_act":"silu"}`

// TestRotaryRefused: what the engine of rotary encoders does not do is refused with the
// name of the field that asks for it.
func TestRotaryRefused(t *testing.T) {
	const nomicConfig = `{"model_type":"nomic_bert","n_embd":16,"n_layer":2,"n_head":2,"n_inner":32,"n_positions":64,` +
		`"activation_function":"swiglu","layer_norm_epsilon":1e-12}`
	as := func(modelType string) string { return strings.Replace(qwenConfig, "qwen3", modelType, 1) }
	modern := as("modernbert")
	with := func(config, more string) string { return strings.TrimSuffix(config, "}") + "," + more + "}" }
	for want, config := range map[string]string{
		`hidden_act "relu" is not supported; gelu`:          strings.Replace(qwenConfig, "silu", "relu", 1),
		`rope_scaling "yarn" is not supported; default and`: with(qwenConfig, `"rope_scaling":{"type":"yarn","factor":4}`),
		`rope_scaling "llama3" is not supported; default`: with(qwenConfig,
			`"rope_parameters":{"rope_type":"llama3","rope_theta":10000}`),
		`use_sliding_window true is not supported; false`: with(qwenConfig, `"use_sliding_window":true`),
		`is_causal false is not supported; true is`:       with(qwenConfig, `"is_causal":false`),
		`layer_types "chunked_attention" is not supported`: with(modern,
			`"layer_types":["full_attention","chunked_attention"]`),
		`layer_types "sliding_attention" is not supported of q`: with(qwenConfig,
			`"layer_types":["full_attention","sliding_attention"]`),
		`layer_types has 1 values for 2 layers`: with(modern, `"layer_types":["full_attention"]`),
		`attn_logit_softcapping 50 is not supported; none`: with(as("gemma3_text"),
			`"attn_logit_softcapping":50,"hidden_activation":"gelu_pytorch_tanh"`),
		`partial_rotary_factor differs between layers`: with(modern,
			`"hidden_activation":"gelu","rope_parameters":{"full_attention":{"partial_rotary_factor":0.5},`+
				`"sliding_attention":{}}`),
		`activation_function "geglu" is not supported; swiglu`: strings.Replace(nomicConfig, "swiglu", "geglu", 1),
		`rotary_emb_interleaved true is not supported; false`:  with(nomicConfig, `"rotary_emb_interleaved":true`),
		`num_experts 8 is not supported; none is`:              with(nomicConfig, `"num_experts":8`),
		`prenorm true is not supported; false is`:              with(nomicConfig, `"prenorm":true`),
		`tensor layers.1.self_attn.q_norm.weight is missing`:   qwenConfig,
		`2 heads cannot share 3 of keys and values evenly`:     strings.Replace(qwenConfig, `heads":1`, `heads":3`, 1),
		`head_dim 12 and rotary_dim 12 must be multiples of 8`: strings.Replace(qwenConfig, `head_dim":8`, `head_dim":12`, 1),
		`logn_attention_scale true is not supported; false`: with(as("new"),
			`"hidden_act":"gelu","logn_attention_scale":true`),
	} {
		dir := family(t, roberta, robertaPost, func(w map[string]tensor) {
			w["model.embed_tokens.weight"] = filled(0, 8, 16)
		})
		write(t, dir, "config.json", []byte(config))
		if _, err := Pack(t.Context(), dir, filepath.Join(t.TempDir(), "out"), Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestModulesRefused: of sentence-transformers' modules those are refused that would make
// other vectors.
func TestModulesRefused(t *testing.T) {
	list := func(kinds ...string) string {
		var all []string
		for _, kind := range kinds {
			all = append(all, `{"type":"sentence_transformers.models.`+kind+`","path":"`+kind+`"}`)
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	const mean = `{"pooling_mode":"mean"}`
	const plain = `{"in_features":16,"out_features":8,"bias":false,"activation_function":"torch.nn.Identity"}`
	more := func(member string) string { return strings.Replace(plain, `"bias"`, member+`,"bias"`, 1) }
	outside := strings.Replace(list("Transformer", "Pooling", "Dense"), `"path":"Dense"`, `"path":"../Dense"`, 1)
	relu := strings.Replace(plain, "Identity", "ReLU", 1)
	_, projection := asSafetensors(same)(map[string]tensor{"linear.weight": filled(1, 8, 16)})
	for want, files := range map[string]map[string]string{
		"a Dense without a Pooling before it is of models": {"modules.json": list("Transformer", "Dense"),
			"Dense/config.json": plain, "Dense/model.safetensors": string(projection)},
		"a Dense at this place is not supported": {
			"modules.json": list("Transformer", "Pooling", "Normalize", "Dense")},
		"a Pooling at this place":                             {"modules.json": list("Transformer", "Pooling", "Pooling")},
		`the path "../Dense" leaves the folder`:               {"modules.json": outside},
		"activation_function torch.nn.ReLU is not supported":  {"Dense/config.json": relu},
		"use_residual is not supported":                       {"Dense/config.json": more(`"use_residual":true`)},
		"model.safetensors is missing; save the model with s": {"Dense/config.json": plain},
		"Dense/config.json is missing":                        {},
		"module_input_name and module_output_name other":      {"Dense/config.json": more(`"module_input_name":"tokens"`)},
		"only mean, CLS or last-token pooling alone":          {"Pooling/config.json": `{"pooling_mode":["mean","cls"]}`},
		"include_prompt is false": {"modules.json": list("Transformer", "Pooling"),
			"Pooling/config.json":               `{"pooling_mode":"mean","include_prompt":false}`,
			"config_sentence_transformers.json": `{"prompts":{"query":"q: "}}`},
	} {
		dir := family(t, roberta, robertaPost, nil)
		write(t, dir, "modules.json", []byte(list("Transformer", "Pooling", "Dense", "Normalize")))
		write(t, dir, "Pooling/config.json", []byte(mean))
		for name, text := range files {
			write(t, dir, name, []byte(text))
		}
		if _, err := Pack(t.Context(), dir, filepath.Join(t.TempDir(), "out"), Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestDimensionsRefused: there are no more dimensions than the vector has, and none of
// another task than embedding.
func TestDimensionsRefused(t *testing.T) {
	long := strings.Repeat("a", 509)
	dir := family(t, roberta, robertaPost, nil)
	for want, o := range map[string]Options{
		"dimensions is 17, want 8 to the vector's 16": {Dimensions: 17},
		"dimensions is 7, want 8 to the vector's 16":  {Dimensions: 7},
		"query_prefix is longer than 508 bytes":       {Dimensions: 8, QueryPrefix: &long},
		"is not packed for task sparse; embedding is": {Dimensions: 8, Task: Sparse},
	} {
		if _, err := Pack(t.Context(), dir, filepath.Join(t.TempDir(), "out"), o); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	plain := checkpoint(t, asSafetensors(same))
	if _, err := Pack(t.Context(), plain, filepath.Join(t.TempDir(), "out"), Options{Dimensions: 8}); err == nil ||
		!strings.Contains(err.Error(), "tokenizer.json is missing, without which a layer behind the pooling and") {
		t.Errorf("of a vocabulary alone: %v", err)
	}
}

// TestPrompts: the names that models give their prompts are tried in order, then what is
// the default of all texts.
func TestPrompts(t *testing.T) {
	for file, want := range map[string][2]string{
		`{"prompts":{"query":"a","document":"b","search_query":"c"}}`:          {"a", "b"},
		`{"prompts":{"search_query":"a","search_document":"b"}}`:               {"a", "b"},
		`{"prompts":{"query":"a","corpus":"b"}}`:                               {"a", "b"},
		`{"prompts":{"query":"a","passage":""},"default_prompt_name":"query"}`: {"a", ""},
		`{"prompts":{"all":"a","other":"b"},"default_prompt_name":"all"}`:      {"a", "a"},
		`{"prompts":{"web_search_query":"a"},"default_prompt_name":null}`:      {"a", ""},
	} {
		dir := family(t, roberta, robertaPost, nil)
		write(t, dir, "config_sentence_transformers.json", []byte(file))
		f, err := Parse(packOf(t, dir, Options{}))
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]string{f.Config.QueryPrefix, f.Config.PassagePrefix}; got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// TestDenseThen: layers behind one another are one.
func TestDenseThen(t *testing.T) {
	a := &dense{in: 3, out: 2, weight: []float32{1, 2, 3, -1, 0, 2}, bias: []float32{1, -1}}
	b := dense{in: 2, out: 2, weight: []float32{2, 1, 0, -3}, bias: []float32{0.5, 0.25}, activation: "tanh"}
	apply := func(d dense, x []float32) []float32 {
		out := slices.Clone(d.bias)
		for r := range d.out {
			for i, v := range x {
				out[r] += d.weight[r*d.in+i] * v
			}
		}
		return out
	}
	x, one := []float32{0.5, -1, 2}, a.then(b)
	want, got := apply(b, apply(*a, x)), apply(one, x)
	for i := range want {
		if math.Abs(float64(want[i]-got[i])) > 1e-5 || one.activation != "tanh" {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// modern is a checkpoint of ModernBERT, of two layers, with a head's tensors and more of its config.json.
func modern(t *testing.T, more string, head map[string][]int) string {
	t.Helper()
	weights := map[string]tensor{"model.embeddings.tok_embeddings.weight": filled(0, 8, 16),
		"model.embeddings.norm.weight": filled(1, 16), "model.final_norm.weight": filled(2, 16)}
	for i, bare := range []bool{true, false} {
		at := fmt.Sprintf("model.layers.%d.", i)
		weights[at+"attn.Wqkv.weight"], weights[at+"attn.Wo.weight"] = filled(3, 48, 16), filled(4, 16, 16)
		weights[at+"mlp.Wi.weight"], weights[at+"mlp.Wo.weight"] = filled(5, 64, 16), filled(6, 16, 32)
		if weights[at+"mlp_norm.weight"] = filled(7, 16); !bare {
			weights[at+"attn_norm.weight"] = filled(8, 16)
		}
	}
	dir := checkpoint(t, func(map[string]tensor) (string, []byte) { return asSafetensors(same)(withHead(weights, head)) })
	write(t, dir, "config.json", []byte(`{"model_type":"modernbert","hidden_size":16,"num_hidden_layers":2,`+
		`"num_attention_heads":2,"intermediate_size":32,"max_position_embeddings":64`+more+`}`))
	write(t, dir, "tokenizer.json", words8(t, robertaPost))
	return dir
}

// The heads of ModernBERT, as transformers names them.
var (
	modernClassifier = map[string][]int{"head.dense.weight": {16, 16}, "head.norm.weight": {16}, "classifier.weight": {1, 16},
		"classifier.bias": {1}}
	modernMasked = map[string][]int{"head.dense.weight": {16, 16}, "head.norm.weight": {16}, "decoder.bias": {8}}
)

// TestRotaryHeads: what a rotary checkpoint is for is read off its head's tensors, and what they lack is zero.
func TestRotaryHeads(t *testing.T) {
	for name, c := range map[string]struct {
		more string
		head map[string][]int
		want Config
		zero string // a tensor of zeros
	}{
		"reranker": {`,"classifier_pooling":"mean","calibration":{"scale":2,"bias":1}`, modernClassifier,
			Config{Task: Rerank, Head: Pooler, HeadActivation: "gelu", Pooling: "mean", Separators: 2,
				Calibration: &Calibration{2, 1}}, "pooler.bias"},
		"reranker of the first state": {"", modernClassifier,
			Config{Task: Rerank, Head: Pooler, HeadActivation: "gelu", Pooling: "cls", Separators: 2}, "pooler.bias"},
		"sparse": {"", modernMasked, Config{Task: Sparse, Terms: 8, Pooling: "mean"}, "mlm.norm.bias"},
	} {
		f, err := Parse(packOf(t, modern(t, c.more, c.head), Options{}))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := f.Config
		got = Config{Task: got.Task, Head: got.Head, HeadActivation: got.HeadActivation, Pooling: got.Pooling,
			Separators: got.Separators, Calibration: got.Calibration, Terms: got.Terms}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if data := f.Tensors[c.zero].Data; len(data) == 0 || strings.Trim(string(data), "\x00") != "" {
			t.Errorf("%s: %s is %v", name, c.zero, data)
		}
		if _, there := f.Tensors["head.norm.weight"]; there != (got.Task == Rerank) {
			t.Errorf("%s: a norm behind the pooler: %v", name, there)
		}
	}
	if f, err := Parse(packOf(t, modern(t, "", modernClassifier), Options{Pooling: "mean"})); err != nil ||
		f.Config.Pooling != "mean" {
		t.Errorf("another pooling: %v", err)
	}
}

// TestRotaryHeadsRefused: other heads, and pairs that the engine could not read.
func TestRotaryHeadsRefused(t *testing.T) {
	gteConfig := strings.NewReplacer("qwen3", "new", "silu", "gelu").Replace(qwenConfig)
	for want, dir := range map[string]string{
		"task rerank is not supported of qwen3": func() string {
			dir := modern(t, "", modernClassifier)
			write(t, dir, "config.json", []byte(qwenConfig))
			return dir
		}(),
		"texts of two types (type_vocab_size) are not": func() string {
			dir := modern(t, "", modernClassifier)
			write(t, dir, "config.json", []byte(strings.TrimSuffix(gteConfig, "}")+`,"type_vocab_size":2}`))
			write(t, dir, "tokenizer.json", words8(t, `{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>",`+
				`"type_id":0}},{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"</s>","type_id":0}}],`+
				`"pair":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}},`+
				`{"SpecialToken":{"id":"</s>","type_id":0}},`+
				`{"Sequence":{"id":"B","type_id":1}},{"SpecialToken":{"id":"</s>","type_id":1}}],`+
				`"special_tokens":{"<s>":{"id":"<s>","ids":[0],"tokens":["<s>"]},`+
				`"</s>":{"id":"</s>","ids":[2],"tokens":["</s>"]}}}`))
			return dir
		}(),
		"classifier_activation relu is not supported; gelu": modern(t, `,"classifier_activation":"relu"`, modernClassifier),
		"the classifier has 2 labels; a reranker has one": modern(t, "", map[string][]int{"head.dense.weight": {16, 16},
			"head.norm.weight": {16}, "classifier.weight": {2, 16}}),
		"does not put a pair as [CLS] A [SEP] B": func() string {
			dir := modern(t, "", modernClassifier)
			write(t, dir, "tokenizer.json", words8(t, `{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>",`+
				`"type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[{"SpecialToken":{"id":"<s>","type_id":0}},`+
				`{"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"B","type_id":0}}],"special_tokens":{"<s>":{"id":"<s>",`+
				`"ids":[0],"tokens":["<s>"]}}}`))
			return dir
		}(),
	} {
		if _, err := Pack(t.Context(), dir, filepath.Join(t.TempDir(), "out"), Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	good, err := Parse(packOf(t, modern(t, "", modernClassifier), Options{}))
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Config){
		"cls_id and sep_id must both be there":        func(c *Config) { c.SepID = -1 },
		`head_activation "tanh" is not supported`:     func(c *Config) { c.HeadActivation = "tanh" },
		`head_activation "gelu" is not supported`:     func(c *Config) { c.Head = Plain },
		`head "late" is not supported where the host`: func(c *Config) { c.Head, c.LateLayer = Late, 1 },
	} {
		c := good.Config
		if change(&c); c.Validate() == nil || !strings.Contains(c.Validate().Error(), want) {
			t.Errorf("got %v, want %q", c.Validate(), want)
		}
	}
	for _, missing := range []string{"pooler.bias", "head.bias"} {
		broken := &File{Config: good.Config, Tensors: maps.Clone(good.Tensors)}
		delete(broken.Tensors, missing)
		if err := broken.check(); err == nil || !strings.Contains(err.Error(), missing+" is missing") {
			t.Errorf("without %s: %v", missing, err)
		}
	}
	plain, err := Parse(packOf(t, family(t, roberta, robertaPost, nil), Options{}))
	if err != nil {
		t.Fatal(err)
	}
	plain.Config.HeadActivation = "gelu"
	if err := plain.Config.Validate(); err == nil || !strings.Contains(err.Error(), "head_activation is of architecture rotary") {
		t.Errorf("without rotary positions: %v", err)
	}
}
