package pack

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Config describes a packed encoder; the guest receives it as JSON.
type Config struct {
	Format        int      `json:"format"`       // of the pack; this code writes and reads 1
	Architecture  string   `json:"architecture"` // "bert"
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
	Pooling       string   `json:"pooling"`      // "mean" or "cls"
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
}

// Task is what a packed model does.
type Task string

// The tasks of a pack. A configuration without one is an embedder's.
const (
	Embedding Task = "embedding"
	Sparse    Task = "sparse" // learned-sparse vectors: SPLADE (Formal et al. 2021, arXiv:2107.05720)
	Rerank    Task = "rerank"
)

// Head is how a reranker makes a raw score from a query and a text. The first
// three read "[CLS] query [SEP] text [SEP]" with type ids 0 and 1.
type Head string

// The heads.
const (
	Pooler Head = "pooler" // head.weight . tanh(pooler(h_CLS)) + head.bias, as Devlin et al. 2018 classify
	Plain  Head = "plain"  // head.weight . h_CLS + head.bias
	Joint  Head = "joint"  // head.scale * mean over query pieces of the best cosine to a text's piece, plus Plain
	Late   Head = "late"   // the two texts encoded apart: weighted late interaction, topic and length, mixed by late.weights
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
	if c.Format != 1 {
		bad("format %d is not supported; this version reads format 1", c.Format)
	}
	if c.Architecture != "bert" {
		bad("architecture %q is not supported; only bert is", c.Architecture)
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
	between("layers", c.Layers, 1, 64)
	between("heads", c.Heads, 1, 64)
	between("intermediate", c.Intermediate, 16, 16384)
	between("vocab", c.Vocab, 5, 1<<20)
	between("positions", c.Positions, 8, 8192)
	between("max_tokens", c.MaxTokens, 8, c.Positions)
	for name, id := range map[string]int{"pad_id": c.PadID, "unk_id": c.UnkID, "cls_id": c.ClsID, "sep_id": c.SepID,
		"mask_id": c.MaskID} {
		between(name, id, 0, c.Vocab-1)
	}
	if c.Hidden%16 != 0 || c.Intermediate%16 != 0 {
		bad("hidden %d and intermediate %d must be multiples of 16", c.Hidden, c.Intermediate)
	}
	if c.Heads > 0 && (c.Hidden%c.Heads != 0 || c.Hidden/c.Heads%8 != 0) {
		bad("hidden %d must split into %d heads of a multiple of 8", c.Hidden, c.Heads)
	}
	if c.Pooling != "mean" && c.Pooling != "cls" {
		bad("pooling %q is not supported; mean and cls are", c.Pooling)
	}
	if !(c.Epsilon > 0 && c.Epsilon < 1) {
		bad("epsilon %g is not between 0 and 1", c.Epsilon)
	}
	c.validateTask(bad)
	for what, s := range map[string]string{"query_prefix": c.QueryPrefix, "passage_prefix": c.PassagePrefix} {
		if len(s) > 512 {
			bad("%s is longer than 512 bytes", what)
		}
	}
	return errors.Join(errs...)
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
		return
	}
	switch c.Head {
	case Pooler, Plain, Joint, Late:
	default:
		bad("head %q is not supported; pooler, plain, joint and late are", c.Head)
	}
	if c.Head == Late && (c.LateLayer < 1 || c.LateLayer > c.Layers) {
		bad("late_layer is %d, want 1 to the model's %d layers", c.LateLayer, c.Layers)
	} else if c.Head != Late && c.LateLayer != 0 {
		bad("late_layer is of head late, not of %s", c.Head)
	}
	if k := c.Calibration; k != nil && !(k.Scale > 0 && k.Scale <= 1e6 && k.Bias >= -1e6 && k.Bias <= 1e6) {
		bad("calibration %g x + %g: the scale must be above 0 and both at most a million", k.Scale, k.Bias)
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
// embeddings.type (F32). vocab (U8) holds the word pieces, a line feed after each.
//
// Task sparse adds the masked-language-model head: the linear layers
// mlm.transform (with the norm mlm.norm) and mlm.decoder. A decoder tied to the
// word embeddings stores its bias alone. Task rerank adds head.weight (F32,
// [hidden]) and head.bias (F32, [1]), for head pooler the linear layer pooler and
// for head joint head.scale (F32, [1]). Head late has instead the linear layers
// late.project and late.topic, of a multiple of 4 outputs up to hidden, late.term
// (F32, [vocab]) and late.gate (F32, [hidden]), which weight the query's pieces, and
// late.weights (F32, [4]: of late interaction, topic, length, and a bias).
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
	switch c.Does() {
	case Sparse:
		linear("mlm.transform", c.Hidden, c.Hidden)
		norm("mlm.norm")
		if _, ok := f.Tensors["mlm.decoder.weight"]; ok {
			linear("mlm.decoder", c.Vocab, c.Hidden)
		} else {
			want("mlm.decoder.bias", "F32", c.Vocab)
		}
	case Rerank:
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
	vocab, ok := f.Tensors["vocab"]
	if !ok || vocab.DType != "U8" {
		errs = append(errs, errors.New("tensor vocab is missing"))
	} else if n := strings.Count(string(vocab.Data), "\n"); n != c.Vocab {
		errs = append(errs, fmt.Errorf("vocab has %d pieces, want %d", n, c.Vocab))
	}
	return errors.Join(errs...)
}
