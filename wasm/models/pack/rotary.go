package pack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// rotaryEngine is the architecture of packs whose positions are rotary (Su et al. 2021,
// arXiv:2104.09864) and whose feed-forward blocks are gated (Shazeer 2020, arXiv:2002.05202).
const rotaryEngine = "rotary"

const (
	usualWindow   = 2048 // of a rotary encoder, which may have far more: a text's time grows with the square of its length
	maxUnembedded = 64   // tokens that a tokenizer knows and a model does not
)

// rotaryFile is what config.json says of such a model. Of a field that families name
// differently each name is here.
type rotaryFile struct {
	Hidden       int      `json:"hidden_size"`
	Layers       int      `json:"num_hidden_layers"`
	Heads        int      `json:"num_attention_heads"`
	KVHeads      int      `json:"num_key_value_heads"`
	HeadDim      int      `json:"head_dim"`
	Intermediate int      `json:"intermediate_size"`
	Positions    int      `json:"max_position_embeddings"`
	Act          string   `json:"hidden_act"`
	Activation   string   `json:"hidden_activation"`
	RMSEpsilon   float64  `json:"rms_norm_eps"`
	NormEpsilon  float64  `json:"norm_eps"`
	LayerEpsilon float64  `json:"layer_norm_eps"`
	LayerTypes   []string `json:"layer_types"`

	Rope        json.RawMessage `json:"rope_parameters"`
	Scaling     *rope           `json:"rope_scaling"`
	Theta       float64         `json:"rope_theta"`
	GlobalTheta float64         `json:"global_rope_theta"`
	LocalTheta  float64         `json:"local_rope_theta"`
	LocalBase   float64         `json:"rope_local_base_freq"`
	Partial     float64         `json:"partial_rotary_factor"`

	GlobalEvery    int     `json:"global_attn_every_n_layers"`
	LocalAttention int     `json:"local_attention"`
	Window         int     `json:"sliding_window"`
	WindowPattern  int     `json:"sliding_window_pattern"`
	UseWindow      bool    `json:"use_sliding_window"`
	QueryScalar    float64 `json:"query_pre_attn_scalar"`
	SoftCap        float64 `json:"attn_logit_softcapping"`
	Bidirectional  bool    `json:"use_bidirectional_attention"`
	Causal         *bool   `json:"is_causal"`
	TypeVocab      *int    `json:"type_vocab_size"`
	LayerNorm      string  `json:"layer_norm_type"` // GTE's
	LogNScale      bool    `json:"logn_attention_scale"`
	PositionType   string  `json:"position_embedding_type"`

	ClassifierPooling string       `json:"classifier_pooling"` // ModernBERT's
	ClassifierAct     string       `json:"classifier_activation"`
	Calibration       *Calibration `json:"calibration"` // ours

	// Nomic's own names, those of GPT-2.
	NomicHidden       int     `json:"n_embd"`
	NomicLayers       int     `json:"n_layer"`
	NomicHeads        int     `json:"n_head"`
	NomicIntermediate int     `json:"n_inner"`
	NomicPositions    int     `json:"n_positions"`
	NomicTrained      int     `json:"max_trained_positions"`
	NomicAct          string  `json:"activation_function"`
	NomicEpsilon      float64 `json:"layer_norm_epsilon"`
	NomicTheta        float64 `json:"rotary_emb_base"`
	NomicFraction     float64 `json:"rotary_emb_fraction"`
	NomicInterleaved  bool    `json:"rotary_emb_interleaved"`
	NomicBefore       bool    `json:"prenorm"`
	NomicRMS          bool    `json:"use_rms_norm"`
	NomicExperts      int     `json:"num_experts"`
	NomicParallel     bool    `json:"parallel_block"`
}

// rope is how positions become angles.
type rope struct {
	Theta   float64 `json:"rope_theta"`
	Type    string  `json:"rope_type"`
	OldType string  `json:"type"`
	Factor  float64 `json:"factor"`
	Partial float64 `json:"partial_rotary_factor"`
}

// frequencies are radians a position of each pair of a head's values: theta^(-2i/dim).
func (r rope) frequencies(dim int) []float32 {
	out := make([]float32, dim/2)
	for i := range out {
		out[i] = float32(1 / (math.Pow(r.Theta, float64(2*i)/float64(dim)) * cmp.Or(r.Factor, 1)))
	}
	return out
}

// rotaryModel is a rotary encoder's settings and what a pack is made of beside the
// weights as they are.
type rotaryModel struct {
	Config
	global, local rope
	layer         string // where a layer's tensors are, with its number
	blocks        blocks // what they are called
	final         string // the norm behind the layers; "" none
	embeddings    string // the norm before them; "" none
	types         bool   // a type embedding is added
	tasks         []Task // beside embedding
	pooling       string // of a reranker
	calibration   *Calibration
	pairTypes     bool    // the texts of a pair are of two types
	one           float32 // added to the weights of norms
	words, query  float32 // factors of the word embeddings and of the norm of queries
}

// blocks are the names of a layer's tensors; "" where there is none.
type blocks struct {
	qkv                     []string // one that is stacked, or three
	attention               string
	up                      []string // what is activated, then what it is multiplied by; or both stacked so
	down                    string
	queryNorm, keyNorm      string
	attentionBefore, before string // norms of what a block reads,
	attentionAfter, after   string // of what it gives,
	attentionNorm, norm     string // and of the sum
	firstIsBare             bool   // the first layer has no attentionBefore
}

// packRotary makes the pack of a rotary encoder.
func packRotary(ctx context.Context, dir string, o Options, modelType string, modules modules, weights map[string]tensor,
	words words,
) (Config, []named, error) {
	m, err := readRotary(dir, o, modelType)
	if err != nil {
		return Config{}, nil, err
	}
	if _, ok := weights["score.weight"]; ok {
		return Config{}, nil, errors.New("a classifier (score) is not supported of rotary encoders")
	}
	if weights, err = fromRotary(modelType, weights); err != nil {
		return Config{}, nil, err
	}
	m.Vocab = words.size()
	task := modules.task(o, weights)
	switch {
	case task != Embedding && !slices.Contains(m.tasks, task):
		return Config{}, nil, fmt.Errorf("task %s is not supported of %s; embedding is, and of modernbert, gte and new also "+
			"sparse and rerank", task, modelType)
	case modules.colbert != nil: // it reads no pairs and pools nothing
	case task == Rerank && m.pairTypes && words.tellsApart():
		return Config{}, nil, errors.New("config.json: texts of two types (type_vocab_size) are not supported of a reranker " +
			"with rotary positions")
	case task == Rerank:
		o.Pooling = cmp.Or(o.Pooling, m.pooling)
	}
	if m.Config, err = settle(dir, o, modules, weights, words, m.Config, m.calibration); err != nil {
		return Config{}, nil, err
	}
	if m.Head == Pooler && modelType == modernBERT {
		m.HeadActivation = "gelu"
	}
	tensors, err := m.quantized(ctx, weights)
	return m.Config, tensors, err
}

// readRotary reads config.json and names the field of what the engine cannot do.
func readRotary(dir string, o Options, modelType string) (rotaryModel, error) {
	var f rotaryFile
	if _, err := readJSON(dir, "config.json", &f); err != nil {
		return rotaryModel{}, err
	}
	if modelType == nomic && f.NomicHidden > 0 {
		if err := f.fromNomic(); err != nil {
			return rotaryModel{}, fmt.Errorf("config.json: %w", err)
		}
	}
	m := rotaryModel{calibration: f.Calibration, words: 1, query: 1, layer: "layers.%d.", Config: Config{
		Format: 3, Architecture: rotaryEngine, Hidden: f.Hidden, Layers: f.Layers, Heads: cmp.Or(o.Heads, f.Heads),
		KVHeads: f.KVHeads, HeadDim: f.HeadDim, Intermediate: f.Intermediate, Positions: min(f.Positions, maxPositions),
		Norm: "root", Epsilon: f.RMSEpsilon,
	}}
	c := &m.Config
	c.KVHeads = cmp.Or(c.KVHeads, c.Heads)
	if c.HeadDim == 0 && c.Heads > 0 {
		c.HeadDim = c.Hidden / c.Heads
	}
	m.blocks = blocks{qkv: []string{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
		attention: "self_attn.o_proj", up: []string{"mlp.gate_proj", "mlp.up_proj"}, down: "mlp.down_proj"}
	act := f.Act
	switch modelType {
	case modernBERT:
		m.tasks, m.pooling = []Task{Sparse, Rerank}, cmp.Or(f.ClassifierPooling, "cls")
		act = cmp.Or(f.Activation, "gelu")
		c.Norm, c.Epsilon = "layer", cmp.Or(f.NormEpsilon, 1e-5)
		c.Reach = cmp.Or(f.LocalAttention, 128) / 2
		m.embeddings, m.final = "embeddings.norm", "final_norm"
		m.blocks = blocks{qkv: []string{"attn.Wqkv"}, attention: "attn.Wo", up: []string{"mlp.Wi"}, down: "mlp.Wo",
			attentionBefore: "attn_norm", before: "mlp_norm", firstIsBare: true}
	case nomic, gte, gteNew:
		act = cmp.Or(act, map[bool]string{true: "silu", false: "gelu"}[modelType == nomic])
		c.Norm, c.Epsilon = "layer", cmp.Or(f.LayerEpsilon, 1e-12)
		m.embeddings, m.types = "embeddings.LayerNorm", f.TypeVocab == nil || *f.TypeVocab > 0
		m.pairTypes = m.types && (f.TypeVocab == nil || *f.TypeVocab > 1)
		if modelType != nomic {
			m.tasks, m.pooling = []Task{Sparse, Rerank}, "cls"
		}
		m.blocks.attentionNorm, m.blocks.norm = "post_attention_layernorm", "post_mlp_layernorm"
	case euroBERT, qwen2, qwen3:
		act = cmp.Or(act, "silu")
		c.Causal = modelType != euroBERT
		m.final = "norm"
		m.blocks.attentionBefore, m.blocks.before = "input_layernorm", "post_attention_layernorm"
		if modelType == qwen3 {
			m.blocks.queryNorm, m.blocks.keyNorm = "self_attn.q_norm", "self_attn.k_norm"
		}
	case gemma3:
		act = cmp.Or(f.Activation, act, "gelu_pytorch_tanh")
		c.HeadDim = cmp.Or(f.HeadDim, 256)
		c.Causal, m.final, m.one = !f.Bidirectional, "norm", 1
		m.words = float32(math.Sqrt(float64(c.Hidden)))
		m.query = float32(math.Sqrt(float64(c.HeadDim) / cmp.Or(f.QueryScalar, 256)))
		if c.Reach = cmp.Or(f.Window, 4096) - 1; f.Bidirectional {
			c.Reach = cmp.Or(f.Window, 4096) / 2
		}
		m.blocks.attentionBefore, m.blocks.attentionAfter = "input_layernorm", "post_attention_layernorm"
		m.blocks.before, m.blocks.after = "pre_feedforward_layernorm", "post_feedforward_layernorm"
		m.blocks.queryNorm, m.blocks.keyNorm = "self_attn.q_norm", "self_attn.k_norm"
	}
	c.Epsilon = cmp.Or(c.Epsilon, 1e-6)
	err := errors.Join(f.refused(modelType), m.readGate(act), m.readSpans(f, modelType), m.readRope(f, modelType))
	if err != nil {
		return rotaryModel{}, fmt.Errorf("config.json: %w", err)
	}
	c.MaxTokens = c.Positions
	return m, nil
}

// refused names the fields whose values the engine does not know.
func (f rotaryFile) refused(modelType string) error {
	var errs []error
	bad := func(field string, value any, why string) {
		errs = append(errs, fmt.Errorf("%s %v is not supported; %s is", field, value, why))
	}
	decoder := modelType == qwen2 || modelType == qwen3 || modelType == gemma3
	switch {
	case decoder && f.Causal != nil && !*f.Causal:
		bad("is_causal", false, "true")
	case f.UseWindow && (modelType == qwen2 || modelType == qwen3):
		bad("use_sliding_window", true, "false")
	}
	if f.SoftCap != 0 {
		bad("attn_logit_softcapping", f.SoftCap, "none")
	}
	if modelType == modernBERT && f.ClassifierAct != "" && f.ClassifierAct != "gelu" {
		bad("classifier_activation", f.ClassifierAct, "gelu")
	}
	if f.LogNScale {
		bad("logn_attention_scale", true, "false")
	}
	if f.LayerNorm != "" && f.LayerNorm != "layer_norm" {
		bad("layer_norm_type", f.LayerNorm, "layer_norm")
	}
	if (modelType == gte || modelType == gteNew) && f.PositionType != "" && f.PositionType != "rope" {
		bad("position_embedding_type", f.PositionType, "rope")
	}
	if f.NomicExperts > 1 {
		bad("num_experts", f.NomicExperts, "none")
	}
	return errors.Join(errs...)
}

// fromNomic reads the names that Nomic's own files have.
func (f *rotaryFile) fromNomic() error {
	f.Hidden, f.Layers, f.Heads = f.NomicHidden, f.NomicLayers, f.NomicHeads
	f.Intermediate = cmp.Or(f.NomicIntermediate, 4*f.NomicHidden)
	f.Positions = cmp.Or(f.NomicTrained, f.NomicPositions) // farther positions are scaled by how many there are
	f.LayerEpsilon, f.Theta = f.NomicEpsilon, cmp.Or(f.NomicTheta, f.Theta)
	f.Partial = cmp.Or(f.NomicFraction, f.Partial)
	switch {
	case f.NomicAct != "swiglu":
		return fmt.Errorf("activation_function %q is not supported; swiglu is", f.NomicAct)
	case f.NomicInterleaved:
		return errors.New("rotary_emb_interleaved true is not supported; false is")
	case f.NomicBefore:
		return errors.New("prenorm true is not supported; false is")
	case f.NomicRMS:
		return errors.New("use_rms_norm true is not supported; false is")
	case f.NomicParallel:
		return errors.New("parallel_block true is not supported; false is")
	}
	f.Act = "silu"
	return nil
}

func (m *rotaryModel) readGate(act string) error {
	switch act {
	case "gelu":
		m.Gate = "gelu"
	case "gelu_pytorch_tanh", "gelu_new":
		m.Gate = "gelu_tanh"
	case "silu", "swish":
		m.Gate = "silu"
	default:
		return fmt.Errorf("hidden_act %q is not supported; gelu, gelu_pytorch_tanh and silu are", act)
	}
	return nil
}

// readSpans tells which layers see all of a text and which only what is near.
func (m *rotaryModel) readSpans(f rotaryFile, modelType string) error {
	spans := make([]byte, max(m.Layers, 0))
	for i := range spans {
		spans[i] = 'g'
		switch modelType {
		case modernBERT:
			if i%cmp.Or(f.GlobalEvery, 3) != 0 {
				spans[i] = 'l'
			}
		case gemma3:
			if (i+1)%cmp.Or(f.WindowPattern, 6) != 0 {
				spans[i] = 'l'
			}
		}
	}
	if f.LayerTypes != nil {
		if len(f.LayerTypes) != m.Layers {
			return fmt.Errorf("layer_types has %d values for %d layers", len(f.LayerTypes), m.Layers)
		}
		for i, kind := range f.LayerTypes {
			switch {
			case kind == "full_attention":
				spans[i] = 'g'
			case kind == "sliding_attention" && m.Reach > 0:
				spans[i] = 'l'
			default:
				return fmt.Errorf("layer_types %q is not supported of %s", kind, modelType)
			}
		}
	}
	if m.Spans = string(spans); !strings.Contains(m.Spans, "l") {
		m.Reach = 0
	}
	return nil
}

// readRope reads how positions become angles, in the form of rope_parameters or of what was
// before it.
func (m *rotaryModel) readRope(f rotaryFile, modelType string) error {
	theta := map[string]float64{nomic: 1000, gte: 160000, gteNew: 10000, gemma3: 1e6, modernBERT: 160000}[modelType]
	m.global = rope{Theta: cmp.Or(f.GlobalTheta, f.Theta, theta, 10000), Partial: f.Partial}
	m.local = rope{Theta: cmp.Or(f.LocalTheta, f.LocalBase, 10000), Partial: f.Partial}
	if modelType == gemma3 && f.Scaling != nil { // of global layers alone
		f.Scaling.Theta = m.global.Theta
		m.global = *f.Scaling
	} else if f.Scaling != nil {
		m.global.Type, m.global.Factor = cmp.Or(f.Scaling.Type, f.Scaling.OldType), f.Scaling.Factor
		m.local.Type, m.local.Factor = m.global.Type, m.global.Factor
	}
	if len(f.Rope) > 0 && string(f.Rope) != "null" {
		var nested struct {
			Full    *rope `json:"full_attention"`
			Sliding *rope `json:"sliding_attention"`
		}
		var flat rope
		if err := errors.Join(json.Unmarshal(f.Rope, &nested), json.Unmarshal(f.Rope, &flat)); err != nil {
			return fmt.Errorf("rope_parameters: %w", err)
		}
		read := func(into *rope, r *rope) {
			if r != nil {
				r.Theta, r.Partial = cmp.Or(r.Theta, into.Theta), cmp.Or(r.Partial, into.Partial)
				*into = *r
			}
		}
		if nested.Full == nil && nested.Sliding == nil {
			read(&m.global, &flat)
		}
		read(&m.global, nested.Full)
		read(&m.local, nested.Sliding)
	}
	for _, r := range []*rope{&m.global, &m.local} {
		switch kind := cmp.Or(r.Type, r.OldType); {
		case kind == "default" || kind == "":
			r.Factor = 1
		case kind == "linear" && r.Factor >= 1:
		default:
			return fmt.Errorf("rope_scaling %q is not supported; default and linear are", kind)
		}
		if !(r.Theta > 1) {
			return fmt.Errorf("rope_theta %g must be above 1", r.Theta)
		}
	}
	if cmp.Or(m.global.Partial, 1) != cmp.Or(m.local.Partial, 1) {
		return fmt.Errorf("partial_rotary_factor differs between layers: %g and %g", m.global.Partial, m.local.Partial)
	}
	m.RotaryDim = int(float64(m.HeadDim) * cmp.Or(m.global.Partial, 1))
	return nil
}

// fromRotary gives the tensors of Nomic and of GTE, as their makers name them, the names that
// transformers has, and the word embeddings and heads of all of them BERT's.
func fromRotary(modelType string, weights map[string]tensor) (map[string]tensor, error) {
	rename := map[string]*strings.Replacer{
		nomic: strings.NewReplacer("encoder.layers.", "layers.", "emb_ln.", "embeddings.LayerNorm.", "attn.Wqkv.",
			"self_attn.qkv_proj.",
			"attn.out_proj.", "self_attn.o_proj.", "mlp.fc11.", "mlp.up_proj.", "mlp.fc12.", "mlp.gate_proj.", "mlp.fc2.",
			"mlp.down_proj.", "norm1.", "post_attention_layernorm.", "norm2.", "post_mlp_layernorm."),
		gte: strings.NewReplacer("encoder.layer.", "layers.", "attention.qkv_proj.", "self_attn.qkv_proj.", "attention.o_proj.",
			"self_attn.o_proj.", "attn_ln.", "post_attention_layernorm.", "mlp_ln.", "post_mlp_layernorm."),
	}
	rename[gteNew] = rename[gte]
	heads := map[string]*strings.Replacer{
		gte: strings.NewReplacer("lm_head.dense.", maskedDense+".", "lm_head.norm.", maskedNorm+".",
			"lm_head.layer_norm.", maskedNorm+".", "lm_head.decoder.", decoder+"."),
	}
	heads[gteNew] = heads[gte]
	if _, classifies := weights["classifier.weight"]; classifies {
		heads[modernBERT] = strings.NewReplacer("head.dense.", pooler+".", "head.norm.", headNorm+".")
	} else {
		heads[modernBERT] = strings.NewReplacer("head.dense.", maskedDense+".", "head.norm.", maskedNorm+".",
			"decoder.", decoder+".")
	}
	out := make(map[string]tensor, len(weights))
	for name, t := range weights {
		for _, prefix := range []string{"nomic_bert.", "gte.", "new.", "language_model."} {
			name = strings.TrimPrefix(name, prefix)
		}
		if r := rename[modelType]; r != nil {
			name = r.Replace(name)
		}
		switch name {
		case "embed_tokens.weight", "embeddings.tok_embeddings.weight":
			name = wordTable
		}
		if r := heads[modelType]; r != nil {
			name = r.Replace(name)
		}
		if base, ok := strings.CutSuffix(name, "mlp.up_gate_proj.weight"); ok {
			if len(t.dims) != 2 || t.dims[0]%2 != 0 {
				return nil, fmt.Errorf("tensor %s has shape %v, which are not two of a size", name, t.dims)
			}
			half, at := t.dims[0]/2, len(t.data)/2
			out[base+"mlp.up_proj.weight"] = tensor{dims: []int{half, t.dims[1]}, data: t.data[:at]}
			out[base+"mlp.gate_proj.weight"] = tensor{dims: []int{half, t.dims[1]}, data: t.data[at:]}
			continue
		}
		out[name] = t
	}
	return out, nil
}

// quantized gives the tensors of the pack.
func (m *rotaryModel) quantized(ctx context.Context, weights map[string]tensor) ([]named, error) {
	c, b := m.Config, &builder{weights: weights}
	zero := func(name string, n int) { // a bias that is absent
		if _, ok := weights[name+".bias"]; !ok {
			weights[name+".bias"] = tensor{dims: []int{n}, data: make([]float32, n)}
		}
	}
	linear := func(name string, n, k int, sources ...string) {
		for _, s := range sources {
			zero(s, n/len(sources))
		}
		b.linear(name, n, k, sources...)
	}
	norm := func(name, source string, n int, factor float32) {
		w := slices.Clone(b.take(source+".weight", n))
		for i := range w {
			w[i] = (w[i] + m.one) * factor
		}
		b.floats(name+".weight", w, n)
		if t, ok := weights[source+".bias"]; ok && len(t.dims) == 1 {
			b.floats(name+".bias", b.take(source+".bias", n), n)
		}
	}
	words := b.take(wordTable, c.Vocab, c.Hidden)
	if m.words != 1 {
		words = slices.Clone(words)
		for i := range words {
			words[i] *= m.words
		}
	}
	b.matrix("embeddings.word", words, c.Vocab, c.Hidden)
	if t, ok := weights[typeTable]; ok && m.types && len(t.dims) == 2 && t.dims[0] > 0 && t.dims[1] == c.Hidden {
		b.floats("embeddings.type", t.data[:c.Hidden], c.Hidden)
	} else if m.types {
		b.errs = append(b.errs, fmt.Errorf("tensor %s is missing or has shape %v", typeTable, t.dims))
	}
	if m.embeddings != "" {
		norm("embeddings.norm", m.embeddings, c.Hidden, 1)
	}
	if m.final != "" {
		norm("final.norm", m.final, c.Hidden, 1)
	}
	if strings.Contains(c.Spans, "g") {
		b.floats("rope.global", m.global.frequencies(c.RotaryDim), c.RotaryDim/2)
	}
	if strings.Contains(c.Spans, "l") {
		b.floats("rope.local", m.local.frequencies(c.RotaryDim), c.RotaryDim/2)
	}
	all, qkv := c.Heads*c.HeadDim, m.blocks.qkv
	for i := range c.Layers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to, from := fmt.Sprintf("layer.%d.", i), fmt.Sprintf(m.layer, i)
		if _, stacked := weights[from+"self_attn.qkv_proj.weight"]; stacked {
			qkv = []string{"self_attn.qkv_proj"}
		}
		m.attentionIn(b, zero, to+"qkv", from, qkv)
		linear(to+"attention", c.Hidden, all, from+m.blocks.attention)
		up := slices.Clone(m.blocks.up)
		for i := range up {
			up[i] = from + up[i]
		}
		linear(to+"up", 2*c.Intermediate, c.Hidden, up...)
		linear(to+"down", c.Hidden, c.Intermediate, from+m.blocks.down)
		for _, one := range []struct {
			name, source string
			n            int
			factor       float32
		}{
			{"query.norm", m.blocks.queryNorm, c.HeadDim, m.query}, {"key.norm", m.blocks.keyNorm, c.HeadDim, 1},
			{"attention.before", m.blocks.attentionBefore, c.Hidden, 1},
			{"attention.after", m.blocks.attentionAfter, c.Hidden, 1},
			{"attention.norm", m.blocks.attentionNorm, c.Hidden, 1}, {"before", m.blocks.before, c.Hidden, 1},
			{"after", m.blocks.after, c.Hidden, 1}, {"norm", m.blocks.norm, c.Hidden, 1},
		} {
			if one.source != "" && !(i == 0 && m.blocks.firstIsBare && one.name == "attention.before") {
				norm(to+one.name, from+one.source, one.n, one.factor)
			}
		}
	}
	for name, n := range map[string]int{maskedDense: c.Hidden, maskedNorm: c.Hidden, decoder: c.Vocab,
		pooler: c.Hidden, "classifier": 1} {
		zero(name, n)
	}
	b.head(c)
	if _, ok := weights[headNorm+".weight"]; ok && c.Head == Pooler {
		norm("head.norm", headNorm, c.Hidden, 1)
	}
	return b.out, errors.Join(b.errs...)
}

// headNorm is behind the pooler of a classifier.
const headNorm = "pooler.norm"

// attentionIn stacks queries, keys and values, of which the latter two may be fewer.
func (m *rotaryModel) attentionIn(b *builder, zero func(string, int), name, from string, sources []string) {
	c := m.Config
	all, shared := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	sizes := []int{all, shared, shared}
	if len(sources) == 1 {
		sizes = []int{all + 2*shared}
	}
	var w, bias []float32
	for i, s := range sources {
		zero(from+s, sizes[i])
		w = append(w, b.take(from+s+".weight", sizes[i], c.Hidden)...)
		bias = append(bias, b.take(from+s+".bias", sizes[i])...)
	}
	b.matrix(name, w, all+2*shared, c.Hidden)
	b.floats(name+".bias", bias, all+2*shared)
}
