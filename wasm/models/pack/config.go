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
	for name, id := range map[string]int{"pad_id": c.PadID, "unk_id": c.UnkID, "cls_id": c.ClsID, "sep_id": c.SepID, "mask_id": c.MaskID} {
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
	for what, s := range map[string]string{"query_prefix": c.QueryPrefix, "passage_prefix": c.PassagePrefix} {
		if len(s) > 512 {
			bad("%s is longer than 512 bytes", what)
		}
	}
	return errors.Join(errs...)
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
type File struct {
	Config  Config
	Tensors map[string]Tensor
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
	vocab, ok := f.Tensors["vocab"]
	if !ok || vocab.DType != "U8" {
		errs = append(errs, errors.New("tensor vocab is missing"))
	} else if n := strings.Count(string(vocab.Data), "\n"); n != c.Vocab {
		errs = append(errs, fmt.Errorf("vocab has %d pieces, want %d", n, c.Vocab))
	}
	return errors.Join(errs...)
}
