package pack

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Config describes a packed encoder; the guest receives it as JSON.
type Config struct {
	Format        int      `json:"format"`       // of the pack; this code writes and reads 1, 2 and 3
	Architecture  string   `json:"architecture"` // "bert"; in format 3 also "rotary"
	Name          string   `json:"name"`
	Version       string   `json:"version"`
	Licence       string   `json:"licence"` // SPDX expression
	Source        string   `json:"source"`  // where the checkpoint came from
	Languages     []string `json:"languages,omitempty"`
	Hidden        int      `json:"hidden"`       // width of a token's vector
	Layers        int      `json:"layers"`       //
	Heads         int      `json:"heads"`        // attention heads a layer
	Intermediate  int      `json:"intermediate"` // width inside the feed-forward block
	Vocab         int      `json:"vocab"`        // word pieces
	Positions     int      `json:"positions"`    // position embeddings
	MaxTokens     int      `json:"max_tokens"`   // window, special tokens included
	Epsilon       float64  `json:"epsilon"`      // of layer normalisation
	Pooling       string   `json:"pooling"`      // "mean" or "cls"; rotary: also "last", of rerankers, too
	Normalize     bool     `json:"normalize"`    // vectors leave with unit length
	QueryPrefix   string   `json:"query_prefix"`
	PassagePrefix string   `json:"passage_prefix"`
	PadID         int      `json:"pad_id"`
	UnkID         int      `json:"unk_id"`
	ClsID         int      `json:"cls_id"`
	SepID         int      `json:"sep_id"`
	MaskID        int      `json:"mask_id"`

	Task        Task         `json:"task,omitempty"`        // absent: embedding
	Terms       int          `json:"terms,omitempty"`       // sparse: most terms kept of a passage
	QueryTerms  int          `json:"query_terms,omitempty"` // sparse: of a query; absent: all
	Head        Head         `json:"head,omitempty"`        // rerank: how a pair becomes a score
	LateLayer   int          `json:"late_layer,omitempty"`  // head late: the layer whose states are compared, 1 to layers
	Calibration *Calibration `json:"calibration,omitempty"` // rerank; absent: scale 1, bias 0
	// Behind the pooler of a reranker with rotary positions: "gelu"; absent: tanh.
	HeadActivation string `json:"head_activation,omitempty"`

	// From format 2 on, whose texts the host tokenizes.
	Tokenizer    string `json:"tokenizer,omitempty"`     // "json": as tensor tokenizer says, a tokenizer.json
	Separators   int    `json:"separators,omitempty"`    // between the texts of a pair; absent: 1
	DistanceBias bool   `json:"distance_bias,omitempty"` // attention adds tensor attention.bias to its scores

	// Of format 3, for embedding; dense also of head colbert, behind each state.
	Dimensions      int    `json:"dimensions,omitempty"`       // of a vector: its first so many; absent: all
	Dense           int    `json:"dense,omitempty"`            // outputs of the linear layer behind the pooling; absent: none
	DenseActivation string `json:"dense_activation,omitempty"` // of that layer: "tanh"; absent: none

	// Of head colbert.
	QueryWindow     int  `json:"query_window,omitempty"`     // most tokens of a query, special tokens included
	QueryMark       int  `json:"query_mark,omitempty"`       // id of the token behind the first of a query; absent: none
	PassageMark     int  `json:"passage_mark,omitempty"`     // the same of a passage
	Expand          bool `json:"expand,omitempty"`           // a query is filled up to its window with mask_id
	AttendExpansion bool `json:"attend_expansion,omitempty"` // what it is filled with is attended to

	// Of architecture rotary, which has no position embeddings; cls_id and sep_id are -1 where nothing stands
	// before or behind a text.
	HeadDim   int    `json:"head_dim,omitempty"`   // values of a head
	KVHeads   int    `json:"kv_heads,omitempty"`   // heads of keys and values, which share out the others
	RotaryDim int    `json:"rotary_dim,omitempty"` // values of a head that positions turn
	Norm      string `json:"norm,omitempty"`       // "layer" or "root", of the mean square
	Gate      string `json:"gate,omitempty"`       // "gelu", "gelu_tanh" or "silu"
	Spans     string `json:"spans,omitempty"`      // a letter a layer: g sees all of a text, l what is within reach
	Reach     int    `json:"reach,omitempty"`      // tokens that a local layer sees to either side
	Causal    bool   `json:"causal,omitempty"`     // a token sees none behind it
}

// Width is how many values a vector has.
func (c Config) Width() int { return cmp.Or(c.Dimensions, c.Dense, c.Hidden) }

// Hosted tells whether the host tokenizes.
func (c Config) Hosted() bool { return c.Tokenizer != "" }

// hostedTokenizer is the value of Tokenizer.
const hostedTokenizer = "json"

// Task is what a packed model does.
type Task string

// The tasks of a pack. A configuration without one is an embedder's.
const (
	Embedding Task = "embedding"
	Sparse    Task = "sparse" // learned-sparse vectors: SPLADE (Formal et al. 2021, arXiv:2107.05720)
	Rerank    Task = "rerank"
)

// Head is how a reranker makes a raw score from a query and a text. The first
// three read "[CLS] query [SEP] text [SEP]" with type ids 0 and 1, the others each text alone.
type Head string

// The heads.
const (
	Pooler Head = "pooler" // head.weight . tanh(pooler(h_CLS)) + head.bias, as Devlin et al. 2018 classify; rotary: see File
	Plain  Head = "plain"  // head.weight . h_CLS + head.bias
	Joint  Head = "joint"  // head.scale * mean over query pieces of the best cosine to a text's piece, plus Plain
	Late   Head = "late"   // weighted late interaction, topic and length, mixed by late.weights
	// Mean over the query's states of the best cosine to a state of the text, both behind dense: MaxSim of Khattab and
	// Zaharia 2020 (arXiv:2004.12832) divided by how many states a query has.
	ColBERT Head = "colbert"
)

// Calibration turns a raw score into a probability: 1 / (1 + exp(-(Scale*raw + Bias))).
type Calibration struct {
	Scale float64 `json:"scale"`
	Bias  float64 `json:"bias"`
}

// Does is the configuration's task.
func (c Config) Does() Task {
	if c.Task == "" {
		return Embedding
	}
	return c.Task
}

// Validate reports everything that this code could not run, at once.
func (c Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch {
	case c.Format < 1 || c.Format > 3:
		bad("format %d is not supported; this version reads formats 1 to 3", c.Format)
	case c.Format == 1 && (c.Hosted() || c.Separators != 0 || c.DistanceBias):
		bad("tokenizer, separators and distance_bias are of format 2")
	case c.Format > 1 && c.Tokenizer != hostedTokenizer:
		bad("tokenizer %q is not supported; %s is", c.Tokenizer, hostedTokenizer)
	case c.Separators < 0 || c.Separators > 2:
		bad("separators is %d, want 1 or 2", c.Separators)
	case c.Hosted() && c.Does() == Rerank && c.Head != Pooler && c.Head != Plain && c.Head != ColBERT:
		bad("head %q is not supported where the host tokenizes; pooler, plain and colbert are", c.Head)
	}
	if c.Architecture != plainBERT && (c.Format != 3 || c.Architecture != rotaryEngine) {
		bad("architecture %q is not supported; bert is, and rotary in format 3", c.Architecture)
	}
	if c.Name == "" {
		bad("name is empty")
	}
	between := func(what string, v, lo, hi int) {
		if v < lo || v > hi {
			bad("%s is %d, want %d to %d", what, v, lo, hi)
		}
	}
	between("hidden", c.Hidden, 16, 4096)
	between("layers", c.Layers, 1, maxLayers)
	between("heads", c.Heads, 1, 64)
	between("intermediate", c.Intermediate, 16, 16384)
	between("vocab", c.Vocab, 5, 1<<20)
	between("positions", c.Positions, 8, maxPositions)
	between("max_tokens", c.MaxTokens, 8, c.Positions)
	none := 0 // the least id of what stands around a text
	if c.Architecture == rotaryEngine {
		none = -1
	}
	between("pad_id", c.PadID, 0, c.Vocab-1)
	between("unk_id", c.UnkID, 0, c.Vocab-1)
	between("mask_id", c.MaskID, 0, c.Vocab-1)
	between("cls_id", c.ClsID, none, c.Vocab-1)
	between("sep_id", c.SepID, none, c.Vocab-1)
	if c.Hidden%16 != 0 || c.Intermediate%16 != 0 {
		bad("hidden %d and intermediate %d must be multiples of 16", c.Hidden, c.Intermediate)
	}
	if c.Architecture == rotaryEngine {
		c.validateRotary(bad, between)
	} else {
		if c.Heads > 0 && (c.Hidden%c.Heads != 0 || c.Hidden/c.Heads%8 != 0) {
			bad("hidden %d must split into %d heads of a multiple of 8", c.Hidden, c.Heads)
		}
		if c.Pooling != "mean" && c.Pooling != "cls" {
			bad("pooling %q is not supported; mean and cls are", c.Pooling)
		}
		if c.HeadDim != 0 || c.KVHeads != 0 || c.RotaryDim != 0 || c.Norm+c.Gate+c.Spans != "" || c.Reach != 0 || c.Causal {
			bad("head_dim, kv_heads, rotary_dim, norm, gate, spans, reach and causal are of architecture rotary")
		}
		if c.HeadActivation != "" {
			bad("head_activation is of architecture rotary")
		}
	}
	c.validateVectors(bad)
	if !(c.Epsilon > 0 && c.Epsilon < 1) {
		bad("epsilon %g is not between 0 and 1", c.Epsilon)
	}
	c.validateTask(bad)
	for what, s := range map[string]string{"query_prefix": c.QueryPrefix, "passage_prefix": c.PassagePrefix} {
		most := 512
		if c.Format == 3 {
			most = MaxPrefix
		}
		if len(s) > most {
			bad("%s is longer than %d bytes", what, most)
		}
	}
	return errors.Join(errs...)
}

const (
	maxLayers    = 64
	maxPositions = 8192
	maxWidth     = 1 << 14 // of the layer behind the pooling
)

// What operators may set of a pack of format 3.
const (
	MinDimensions = 8   // of a vector that is cut
	MaxPrefix     = 508 // bytes that are put before a text
)

// validateVectors checks what becomes of the pooled states.
func (c Config) validateVectors(bad func(format string, args ...any)) {
	if c.Dimensions == 0 && c.Dense == 0 && c.DenseActivation == "" {
		return
	}
	switch {
	case c.Head == ColBERT && c.Does() == Rerank: // see validateColBERT
	case c.Format != 3 || c.Does() != Embedding:
		bad("dimensions, dense and dense_activation are of format 3 and of task embedding")
	case c.Dense != 0 && (c.Dense < MinDimensions || c.Dense > maxWidth):
		bad("dense is %d, want %d to %d", c.Dense, MinDimensions, maxWidth)
	case c.DenseActivation != "" && (c.Dense == 0 || c.DenseActivation != "tanh"):
		bad("dense_activation %q is not supported; tanh is, of a dense", c.DenseActivation)
	case c.Dimensions != 0 && (c.Dimensions < MinDimensions || c.Dimensions > cmp.Or(c.Dense, c.Hidden)):
		bad("dimensions is %d, want %d to the vector's %d", c.Dimensions, MinDimensions, cmp.Or(c.Dense, c.Hidden))
	}
}

func (c Config) validateRotary(bad func(format string, args ...any), between func(what string, v, lo, hi int)) {
	between("head_dim", c.HeadDim, 8, 256)
	between("kv_heads", c.KVHeads, 1, max(c.Heads, 1))
	between("rotary_dim", c.RotaryDim, 8, c.HeadDim)
	if c.HeadDim%8 != 0 || c.RotaryDim%8 != 0 || c.Heads*c.HeadDim%16 != 0 {
		bad("head_dim %d and rotary_dim %d must be multiples of 8, %d heads of 16 together", c.HeadDim, c.RotaryDim, c.Heads)
	}
	if c.KVHeads > 0 && c.Heads%c.KVHeads != 0 {
		bad("%d heads cannot share %d of keys and values evenly", c.Heads, c.KVHeads)
	}
	if c.ClsID < 0 && c.SepID < 0 {
		bad("cls_id and sep_id are both -1; a text needs a token before or behind it")
	}
	if !slices.Contains([]string{"mean", "cls", "last"}, c.Pooling) {
		bad("pooling %q is not supported; mean, cls and last are", c.Pooling)
	}
	if !slices.Contains([]string{"layer", "root"}, c.Norm) {
		bad("norm %q is not supported; layer and root are", c.Norm)
	}
	if !slices.Contains([]string{"gelu", "gelu_tanh", "silu"}, c.Gate) {
		bad("gate %q is not supported; gelu, gelu_tanh and silu are", c.Gate)
	}
	if len(c.Spans) != c.Layers || strings.Trim(c.Spans, "gl") != "" {
		bad("spans %q must be a g or an l for each of %d layers", c.Spans, c.Layers)
	}
	if local := strings.Contains(c.Spans, "l"); local && c.Reach < 1 || c.Reach < 0 || !local && c.Reach != 0 {
		bad("reach is %d, which local layers need and none else", c.Reach)
	}
	if c.Does() == Rerank && (c.ClsID < 0 || c.SepID < 0) {
		bad("cls_id and sep_id must both be there where pairs are read")
	}
	if c.HeadActivation != "" && (c.HeadActivation != "gelu" || c.Head != Pooler) {
		bad("head_activation %q is not supported; gelu is, of head pooler", c.HeadActivation)
	}
}

func (c Config) validateTask(bad func(format string, args ...any)) {
	switch c.Does() {
	case Embedding, Sparse, Rerank:
	default:
		bad("task %q is not supported; embedding, sparse and rerank are", c.Task)
	}
	if c.Does() == Sparse {
		if c.Terms < 1 || c.Terms > c.Vocab {
			bad("terms is %d, want 1 to the vocabulary's %d", c.Terms, c.Vocab)
		}
		if c.QueryTerms < 0 || c.QueryTerms > c.Vocab {
			bad("query_terms is %d, want 0 (all) to the vocabulary's %d", c.QueryTerms, c.Vocab)
		}
	} else if c.Terms != 0 || c.QueryTerms != 0 {
		bad("terms and query_terms are of task sparse, not of %s", c.Does())
	}
	if c.Does() != Rerank {
		if c.Head != "" || c.LateLayer != 0 || c.Calibration != nil {
			bad("head, late_layer and calibration are of task rerank, not of %s", c.Does())
		}
		c.validateColBERT(bad)
		return
	}
	switch c.Head {
	case Pooler, Plain, Joint, Late, ColBERT:
	default:
		bad("head %q is not supported; pooler, plain, joint, late and colbert are", c.Head)
	}
	c.validateColBERT(bad)
	if c.Head == Late && (c.LateLayer < 1 || c.LateLayer > c.Layers) {
		bad("late_layer is %d, want 1 to the model's %d layers", c.LateLayer, c.Layers)
	} else if c.Head != Late && c.LateLayer != 0 {
		bad("late_layer is of head late, not of %s", c.Head)
	}
	if k := c.Calibration; k != nil && !(k.Scale > 0 && k.Scale <= 1e6 && k.Bias >= -1e6 && k.Bias <= 1e6) {
		bad("calibration %g x + %g: the scale must be above 0 and both at most a million", k.Scale, k.Bias)
	}
}

// maxQueryWindow bounds the queries of head colbert.
const maxQueryWindow = 512

func (c Config) validateColBERT(bad func(format string, args ...any)) {
	if c.Head != ColBERT {
		if c.QueryWindow != 0 || c.QueryMark != 0 || c.PassageMark != 0 || c.Expand || c.AttendExpansion {
			bad("query_window, query_mark, passage_mark, expand and attend_expansion are of head colbert")
		}
		return
	}
	if c.Format != 3 {
		bad("head colbert is of format 3")
	}
	if c.Dimensions != 0 || c.DenseActivation != "" {
		bad("dimensions and dense_activation are not of head colbert")
	}
	if c.Dense < 4 || c.Dense > c.Hidden || c.Dense%4 != 0 {
		bad("dense is %d, of head colbert want a multiple of 4 up to hidden, %d", c.Dense, c.Hidden)
	}
	if most := min(c.MaxTokens, maxQueryWindow); c.QueryWindow < 4 || c.QueryWindow > most {
		bad("query_window is %d, want 4 to %d", c.QueryWindow, most)
	}
	for what, id := range map[string]int{"query_mark": c.QueryMark, "passage_mark": c.PassageMark} {
		if id < 0 || id >= c.Vocab {
			bad("%s is %d, want 1 to %d, or 0 for none", what, id, c.Vocab-1)
		}
	}
	apart := c.Expand && !c.AttendExpansion
	if apart && strings.Contains(c.Spans, "l") && c.QueryWindow > c.Reach+1 {
		bad("query_window is %d, which local layers of reach %d do not see all of", c.QueryWindow, c.Reach)
	}
	if c.Causal || c.DistanceBias {
		bad("head colbert is not supported of causal models and with a bias of attention")
	}
}

// MetadataKey is where a pack keeps its Config in the safetensors metadata.
const MetadataKey = "mneme"

// File is an open pack. Its tensors alias the bytes given to Parse.
//
// A linear layer of N outputs and K inputs is NAME.weight (I8, [N, K]),
// NAME.scale (F32, [N]: weight = int8 x scale) and NAME.bias (F32, [N]).
// Linear layers: layer.I.qkv (query, key, value stacked), layer.I.attention,
// layer.I.up, layer.I.down. A layer norm is NAME.weight and NAME.bias (F32):
// embeddings.norm, layer.I.attention.norm, layer.I.norm. Embeddings:
// embeddings.word.weight (I8) with .scale, embeddings.position and
// embeddings.type (F32). vocab (U8) holds the word pieces, a line feed after each; in
// format 2 there is tokenizer (U8) instead, a tokenizer.json, and with distance_bias
// attention.bias (F32, [heads, 257]), by the distance of key and query from -128 to 128.
//
// Architecture rotary (format 3) has no embeddings.position, one row of embeddings.type or
// none, rope.global and rope.local (F32, [rotary_dim/2], radians a position) as its spans
// need them, layer.I.qkv of heads and twice kv_heads, layer.I.up of twice intermediate, of
// which the first half is activated and multiplies the second, and norms where the model
// has them: layer.I.query.norm and .key.norm of each head; layer.I.attention.before of what
// attention reads, .attention.after of what it gives, .attention.norm of the sum with its
// input; .before, .after and .norm of the feed-forward block likewise; final.norm. A norm
// may lack its bias. Format 3 may have the linear layer dense, behind the pooling. A reranker
// scores head.weight . pooled + head.bias of the pooled states, which head pooler takes through
// pooler, head_activation and, where there is one, the norm head.norm.
//
// Task sparse adds the masked-language-model head: the linear layers
// mlm.transform (with the norm mlm.norm) and mlm.decoder. A decoder tied to the
// word embeddings stores its bias alone. Task rerank adds head.weight (F32,
// [hidden]) and head.bias (F32, [1]), for head pooler the linear layer pooler and
// for head joint head.scale (F32, [1]). Head late has instead the linear layers
// late.project and late.topic, of a multiple of 4 outputs up to hidden, late.term
// (F32, [vocab]) and late.gate (F32, [hidden]), which weight the query's pieces, and
// late.weights (F32, [4]: of late interaction, topic, length, and a bias). Head colbert has dense
// alone and may have skip (I32), the ids of tokens of passages that are not compared.
type File struct {
	Config  Config
	Tensors map[string]Tensor
}

// lateFeatures is how many features a late reranker's linear model looks at: the
// weighted late interaction, the likeness of topic and the length of the text.
const lateFeatures = 3

// Assets are the tensors' bytes under the names that the module asks for. They
// alias the pack, a tied decoder's also the word embeddings.
func (f *File) Assets() map[string][]byte {
	out := make(map[string][]byte, len(f.Tensors)+2)
	for name, t := range f.Tensors {
		out[name] = t.Data
	}
	if _, ok := out["mlm.decoder.weight"]; !ok && f.Config.Does() == Sparse {
		out["mlm.decoder.weight"], out["mlm.decoder.scale"] = out["embeddings.word.weight"], out["embeddings.word.scale"]
	}
	return out
}

// Parse checks a pack and every tensor that its configuration calls for.
// It keeps b, which must not change afterwards.
func Parse(b []byte) (*File, error) {
	tensors, meta, err := parseSafetensors(b)
	if err != nil {
		return nil, fmt.Errorf("read pack: %w", err)
	}
	raw, ok := meta[MetadataKey]
	if !ok {
		return nil, errors.New("read pack: no mneme configuration in the metadata; make a pack with `mneme models pack`")
	}
	f := &File{Tensors: tensors}
	if err := json.Unmarshal([]byte(raw), &f.Config); err != nil {
		return nil, fmt.Errorf("read pack: configuration: %w", err)
	}
	if err := f.Config.Validate(); err != nil {
		return nil, fmt.Errorf("read pack: configuration: %w", err)
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("read pack: %w", err)
	}
	return f, nil
}

// optional checks the tensors that a rotary encoder may have, where it has them: norms and a type embedding.
func (f *File) optional(want func(name, dtype string, shape ...int)) {
	there := func(name string, n int) {
		if _, ok := f.Tensors[name]; ok {
			want(name, "F32", n)
		}
	}
	c := f.Config
	norm := func(name string, n int) {
		there(name+".weight", n)
		there(name+".bias", n)
	}
	norm("embeddings.norm", c.Hidden)
	norm("final.norm", c.Hidden)
	norm("head.norm", c.Hidden)
	there("embeddings.type", c.Hidden)
	for i := range c.Layers {
		at := fmt.Sprintf("layer.%d.", i)
		norm(at+"query.norm", c.HeadDim)
		norm(at+"key.norm", c.HeadDim)
		for _, name := range []string{"attention.before", "attention.after", "attention.norm", "before", "after", "norm"} {
			norm(at+name, c.Hidden)
		}
	}
}

// checkHead checks the tensors of what a sparse encoder or a reranker has behind its layers.
func (f *File) checkHead(want func(name, dtype string, shape ...int), linear func(name string, n, k int)) error {
	c := f.Config
	var errs []error
	switch c.Does() {
	case Sparse:
		linear("mlm.transform", c.Hidden, c.Hidden)
		want("mlm.norm.weight", "F32", c.Hidden)
		want("mlm.norm.bias", "F32", c.Hidden)
		if _, ok := f.Tensors["mlm.decoder.weight"]; ok {
			linear("mlm.decoder", c.Vocab, c.Hidden)
		} else {
			want("mlm.decoder.bias", "F32", c.Vocab)
		}
	case Rerank:
		if c.Head == ColBERT {
			if t, ok := f.Tensors["skip"]; ok && (t.DType != "I32" || len(t.Shape) != 1 || t.Shape[0] > maxSkipped) {
				errs = append(errs, fmt.Errorf("tensor skip is %s %v, want I32 of up to %d", t.DType, t.Shape, maxSkipped))
			}
			break
		}
		if c.Head == Late {
			for _, name := range []string{"late.project", "late.topic"} {
				n := 0 // outputs, as the file has it
				if t := f.Tensors[name+".weight"]; len(t.Shape) == 2 {
					n = t.Shape[0]
				}
				if n < 4 || n > c.Hidden || n%4 != 0 {
					errs = append(errs, fmt.Errorf("tensor %s.weight has %d outputs, want a multiple of 4 up to %d",
						name, n, c.Hidden))
					continue
				}
				linear(name, n, c.Hidden)
			}
			want("late.term", "F32", c.Vocab)
			want("late.gate", "F32", c.Hidden)
			want("late.weights", "F32", lateFeatures+1)
			break
		}
		want("head.weight", "F32", c.Hidden)
		want("head.bias", "F32", 1)
		if c.Head == Pooler {
			linear("pooler", c.Hidden, c.Hidden)
		}
		if c.Head == Joint {
			want("head.scale", "F32", 1)
		}
	}
	return errors.Join(errs...)
}

func (f *File) check() error {
	c := f.Config
	var errs []error
	want := func(name, dtype string, shape ...int) {
		t, ok := f.Tensors[name]
		if !ok {
			errs = append(errs, fmt.Errorf("tensor %s is missing", name))
		} else if t.DType != dtype || fmt.Sprint(t.Shape) != fmt.Sprint(shape) {
			errs = append(errs, fmt.Errorf("tensor %s is %s %v, want %s %v", name, t.DType, t.Shape, dtype, shape))
		}
	}
	norm := func(name string) {
		want(name+".weight", "F32", c.Hidden)
		want(name+".bias", "F32", c.Hidden)
	}
	linear := func(name string, n, k int) {
		want(name+".weight", "I8", n, k)
		want(name+".scale", "F32", n)
		want(name+".bias", "F32", n)
	}
	want("embeddings.word.weight", "I8", c.Vocab, c.Hidden)
	want("embeddings.word.scale", "F32", c.Vocab)
	if c.Dense > 0 {
		linear("dense", c.Dense, c.Hidden)
	}
	if c.Architecture == rotaryEngine {
		all := c.Heads * c.HeadDim
		for i, span := range c.Spans {
			at := fmt.Sprintf("layer.%d.", i)
			want(map[rune]string{'g': "rope.global", 'l': "rope.local"}[span], "F32", c.RotaryDim/2)
			linear(at+"qkv", all+2*c.KVHeads*c.HeadDim, c.Hidden)
			linear(at+"attention", c.Hidden, all)
			linear(at+"up", 2*c.Intermediate, c.Hidden)
			linear(at+"down", c.Hidden, c.Intermediate)
		}
		f.optional(want)
		errs = append(errs, f.checkHead(want, linear))
		if t, ok := f.Tensors["tokenizer"]; !ok || t.DType != "U8" {
			errs = append(errs, errors.New("tensor tokenizer is missing"))
		}
		return errors.Join(errs...)
	}
	want("embeddings.position", "F32", c.Positions, c.Hidden)
	want("embeddings.type", "F32", 2, c.Hidden)
	norm("embeddings.norm")
	for i := range c.Layers {
		at := fmt.Sprintf("layer.%d.", i)
		linear(at+"qkv", 3*c.Hidden, c.Hidden)
		linear(at+"attention", c.Hidden, c.Hidden)
		norm(at + "attention.norm")
		linear(at+"up", c.Intermediate, c.Hidden)
		linear(at+"down", c.Hidden, c.Intermediate)
		norm(at + "norm")
	}
	errs = append(errs, f.checkHead(want, linear))
	if c.DistanceBias {
		want("attention.bias", "F32", c.Heads, 2*biasReach+1)
	}
	if c.Hosted() {
		if t, ok := f.Tensors["tokenizer"]; !ok || t.DType != "U8" {
			errs = append(errs, errors.New("tensor tokenizer is missing"))
		}
		return errors.Join(errs...)
	}
	vocab, ok := f.Tensors["vocab"]
	if !ok || vocab.DType != "U8" {
		errs = append(errs, errors.New("tensor vocab is missing"))
	} else if n := strings.Count(string(vocab.Data), "\n"); n != c.Vocab {
		errs = append(errs, fmt.Errorf("vocab has %d pieces, want %d", n, c.Vocab))
	}
	return errors.Join(errs...)
}
