package pack

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/adapters/disk"
)

// Options fill in or override what a checkpoint folder leaves unsaid.
type Options struct {
	Name          string   // default: the folder's name
	Version       string   // default: "1"
	Licence       string   // SPDX expression; default: "NOASSERTION"
	Source        string   // where the checkpoint came from, for the record
	Languages     []string // BCP 47
	Pooling       string   // "mean", "cls" or "last"; default: sentence-transformers' Pooling, else "mean"
	MaxTokens     int      // default: sentence_bert_config.json, else the positions
	Dimensions    int      // embedding: how many of a vector's first are kept; default: all
	QueryPrefix   *string  // default: config_sentence_transformers.json, else ""
	PassagePrefix *string
	Heads         int // default: config.json

	Task        Task         // default: what the checkpoint's weights are for
	Terms       int          // sparse: most terms kept of a passage; default 128
	QueryTerms  int          // sparse: of a query; default all
	Calibration *Calibration // rerank; default: config.json, else none
}

// defaultTerms loses nothing against all terms on the sets of docs/quality.md
// and bounds a posting list's length.
const defaultTerms = 128

// Pack reads the checkpoint folder dir and writes a pack to the file out, which
// appears whole or not at all. Weight matrices become int8, symmetric, with a
// scale per output row; vectors stay f32. Equal input gives equal bytes.
func Pack(ctx context.Context, dir, out string, o Options) (Config, error) {
	c, err := pack(ctx, dir, out, o)
	if err != nil {
		return Config{}, fmt.Errorf("pack %s: %w", dir, err)
	}
	return c, nil
}

func pack(ctx context.Context, dir, out string, o Options) (Config, error) {
	architecture, skipped, err := readArchitecture(dir)
	if err != nil {
		return Config{}, err
	}
	modules, err := readModules(dir)
	if err != nil {
		return Config{}, err
	}
	weights, err := readWeights(dir)
	if err != nil {
		return Config{}, err
	}
	switch architecture {
	case distil:
		weights, err = fromDistil(weights)
	case roberta, camembert, xlmr, mpnet:
		weights = fromFamily(weights)
		err = skipPositions(weights, skipped)
	}
	if err == nil {
		err = modules.readStanford(dir, weights)
	}
	if err != nil {
		return Config{}, err
	}
	// What only the engine of format 3 does takes the host's tokenizer even where BERT's own would do.
	further := rotary(architecture) || modules.dense != nil || o.Dimensions > 0
	words, err := readWords(dir, architecture, further)
	if err != nil {
		return Config{}, err
	}
	var c Config
	var tensors []named
	if rotary(architecture) {
		c, tensors, err = packRotary(ctx, dir, o, architecture, modules, weights, words)
	} else {
		c, tensors, err = packBERT(ctx, dir, o, modules, weights, words, skipped)
	}
	if err != nil {
		return Config{}, err
	}
	tensors = append(tensors, words.tensor())
	if modules.dense != nil {
		tensors = append(tensors, modules.dense.tensors()...)
	}
	if modules.colbert != nil {
		tensors = append(tensors, modules.colbert.tensors(c, words)...)
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return Config{}, err
	}
	return c, disk.PublishFrom(out, func(f io.Writer) error {
		w := bufio.NewWriterSize(f, 1<<20)
		return errors.Join(writeSafetensors(w, tensors, map[string]string{"format": "pt", MetadataKey: string(raw)}), w.Flush())
	})
}

func packBERT(ctx context.Context, dir string, o Options, modules modules, weights map[string]tensor, words words,
	skipped int,
) (c Config, tensors []named, err error) {
	if c, err = readConfig(dir, o, modules, weights, words, skipped); err != nil {
		return Config{}, nil, err
	}
	if words.hosted != nil {
		completeTypes(weights, c.Does() == Rerank && !words.tellsApart())
	}
	tensors, err = quantized(ctx, c, weights)
	return c, tensors, err
}

const shardIndex = "model.safetensors.index.json"

// weightFiles are looked for in this order.
func weightFiles() []string {
	return []string{"model.safetensors", shardIndex, "model.onnx", "onnx/model.onnx"}
}

// readWeights reads the checkpoint's tensors under their Hugging Face names,
// without a "bert." or "model." prefix and with LayerNorm.{weight,bias}. The
// output layer of a masked language model is cls.predictions.decoder, whose bias
// some checkpoints keep beside it.
func readWeights(dir string) (map[string]tensor, error) {
	for _, name := range weightFiles() {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		var raw map[string]tensor
		switch {
		case name == shardIndex:
			if raw, err = readShards(dir, name); err != nil {
				return nil, err
			}
		case strings.HasSuffix(name, ".safetensors"):
			raw, err = readCheckpoint(b)
		default:
			raw, err = readONNX(b)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out := make(map[string]tensor, len(raw))
		for name, t := range raw {
			out[canonical(name)] = t
		}
		return out, nil
	}
	return nil, noWeights(dir)
}

func canonical(name string) string {
	// In the order in which wrappers put them on: torch.compile, data parallel,
	// sentence-transformers, ONNX exporters, Hugging Face.
	for _, prefix := range []string{"_orig_mod.", "module.", "0.auto_model.", "auto_model.", "encoder_model.", "model.",
		"bert."} {
		name = strings.TrimPrefix(name, prefix)
	}
	switch name {
	case "cls.predictions.bias":
		return decoder + ".bias"
	case "cls.predictions.weight": // of an ONNX product, named by that bias
		return decoder + ".weight"
	}
	name = strings.Replace(name, "LayerNorm.gamma", "LayerNorm.weight", 1)
	return strings.Replace(name, "LayerNorm.beta", "LayerNorm.bias", 1)
}

// Heads as BERT's checkpoints name them.
const (
	maskedDense = "cls.predictions.transform.dense" // the masked language model's
	maskedNorm  = "cls.predictions.transform.LayerNorm"
	decoder     = "cls.predictions.decoder"
	pooler      = "pooler.dense" // a classifier's
)

// tied reports whether a masked language model's output layer has the word
// embeddings as its weights, which a checkpoint may store once or twice.
func tied(weights map[string]tensor) bool {
	own, ok := weights[decoder+".weight"]
	return !ok || slices.Equal(own.data, weights["embeddings.word_embeddings.weight"].data)
}

// taskOf guesses what a checkpoint is for from the heads that it has.
// sentence-transformers' pooling beside it says that it embeds.
func taskOf(weights map[string]tensor, pooling bool) Task {
	_, classifies := weights["classifier.weight"]
	_, joint := weights["head.scale"]
	_, masked := weights[maskedDense+".weight"]
	switch {
	case classifies || joint:
		return Rerank
	case masked && !pooling:
		return Sparse
	}
	return Embedding
}

func headOf(weights map[string]tensor) (Head, error) {
	if _, ok := weights["head.scale"]; ok {
		return Joint, nil
	}
	classifier, ok := weights["classifier.weight"]
	if !ok {
		return "", errors.New("the checkpoint has no reranker's head: neither classifier.weight nor head.scale is there")
	}
	if len(classifier.dims) == 2 && classifier.dims[0] != 1 {
		return "", fmt.Errorf("the classifier has %d labels; a reranker has one", classifier.dims[0])
	}
	if _, ok := weights[pooler+".weight"]; ok {
		return Pooler, nil
	}
	return Plain, nil
}

func readCheckpoint(b []byte) (map[string]tensor, error) {
	raw, _, err := parseSafetensors(b)
	if err != nil {
		return nil, err
	}
	out := make(map[string]tensor, len(raw))
	for name, t := range raw {
		switch t.DType {
		case "F32", "F16", "BF16", "F64":
			n, err := elements(t.Shape)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			data, err := decodeFloats(t.DType, t.Data, n)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out[name] = tensor{dims: t.Shape, data: data}
		}
	}
	return out, nil
}

// builder makes the tensors of a pack of those of a checkpoint and keeps what is wrong with them, so that all is
// told at once.
type builder struct {
	weights map[string]tensor
	out     []named
	errs    []error
}

// take is a tensor of the checkpoint, which must have these dimensions.
func (b *builder) take(name string, dims ...int) []float32 {
	t, ok := b.weights[name]
	if !ok {
		b.errs = append(b.errs, fmt.Errorf("tensor %s is missing", name))
	} else if fmt.Sprint(t.dims) != fmt.Sprint(dims) {
		b.errs = append(b.errs, fmt.Errorf("tensor %s has shape %v, want %v", name, t.dims, dims))
	} else if at := notFinite(t.data); at >= 0 {
		b.errs = append(b.errs, fmt.Errorf("tensor %s holds %g at %d", name, t.data[at], at))
	} else {
		return t.data
	}
	n, err := elements(dims)
	if err != nil {
		return nil
	}
	return make([]float32, n) // keeps shapes whole
}

func (b *builder) floats(name string, data []float32, dims ...int) {
	b.out = append(b.out, named{name, Tensor{"F32", dims, floatBytes(data)}})
}

// matrix is int8 with a scale for each of its n rows.
func (b *builder) matrix(name string, data []float32, n, k int) {
	q, scales := quantizeRows(data, n, k)
	b.out = append(b.out, named{name + ".weight", Tensor{"I8", []int{n, k}, q}})
	b.floats(name+".scale", scales, n)
}

// linear stacks the layers sources, which have equally many outputs.
func (b *builder) linear(name string, n, k int, sources ...string) {
	var w, bias []float32
	for _, s := range sources {
		w = append(w, b.take(s+".weight", n/len(sources), k)...)
		bias = append(bias, b.take(s+".bias", n/len(sources))...)
	}
	b.matrix(name, w, n, k)
	b.floats(name+".bias", bias, n)
}

func (b *builder) norm(name, source string, n int) {
	b.floats(name+".weight", b.take(source+".weight", n), n)
	b.floats(name+".bias", b.take(source+".bias", n), n)
}

// quantized gives the tensors of the pack of a BERT.
func quantized(ctx context.Context, c Config, weights map[string]tensor) ([]named, error) {
	b := &builder{weights: weights}
	b.matrix("embeddings.word", b.take(wordTable, c.Vocab, c.Hidden), c.Vocab, c.Hidden)
	b.floats("embeddings.position", b.take(positionTable, c.Positions, c.Hidden), c.Positions, c.Hidden)
	b.floats("embeddings.type", b.take(typeTable, 2, c.Hidden), 2, c.Hidden)
	b.norm("embeddings.norm", "embeddings.LayerNorm", c.Hidden)
	if c.DistanceBias {
		spread, err := distances(weights[distanceTable], c.Heads)
		b.errs = append(b.errs, err)
		b.floats("attention.bias", spread, c.Heads, 2*biasReach+1)
	}
	b.head(c)
	for i := range c.Layers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to, from := fmt.Sprintf("layer.%d.", i), fmt.Sprintf("encoder.layer.%d.", i)
		b.linear(to+"qkv", 3*c.Hidden, c.Hidden, from+"attention.self.query", from+"attention.self.key",
			from+"attention.self.value")
		b.linear(to+"attention", c.Hidden, c.Hidden, from+"attention.output.dense")
		b.norm(to+"attention.norm", from+"attention.output.LayerNorm", c.Hidden)
		b.linear(to+"up", c.Intermediate, c.Hidden, from+"intermediate.dense")
		b.linear(to+"down", c.Hidden, c.Intermediate, from+"output.dense")
		b.norm(to+"norm", from+"output.LayerNorm", c.Hidden)
	}
	return b.out, errors.Join(b.errs...)
}

// head gives the tensors of what a sparse encoder or a reranker has behind its layers.
func (b *builder) head(c Config) {
	switch {
	case c.Does() == Sparse:
		b.linear("mlm.transform", c.Hidden, c.Hidden, maskedDense)
		b.norm("mlm.norm", maskedNorm, c.Hidden)
		b.floats("mlm.decoder.bias", b.take(decoder+".bias", c.Vocab), c.Vocab)
		if !tied(b.weights) {
			b.matrix("mlm.decoder", b.take(decoder+".weight", c.Vocab, c.Hidden), c.Vocab, c.Hidden)
		}
	case c.Head == ColBERT: // see modules
	case c.Head == Joint:
		b.floats("head.weight", b.take("head.weight", c.Hidden), c.Hidden)
		b.floats("head.bias", b.take("head.bias", 1), 1)
		b.floats("head.scale", b.take("head.scale", 1), 1)
	case c.Does() == Rerank:
		b.floats("head.weight", b.take("classifier.weight", 1, c.Hidden), c.Hidden)
		b.floats("head.bias", b.take("classifier.bias", 1), 1)
		if c.Head == Pooler {
			b.linear("pooler", c.Hidden, c.Hidden, pooler)
		}
	}
}

func notFinite(v []float32) int {
	for i, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return i
		}
	}
	return -1
}

// quantizeRows rounds each row of an n x k matrix to int8, symmetric: the
// row's largest magnitude becomes 127, and value = int8 x scale.
func quantizeRows(w []float32, n, k int) (q []byte, scales []float32) {
	q, scales = make([]byte, n*k), make([]float32, n)
	for r := range n {
		row := w[r*k : (r+1)*k]
		var peak float64
		for _, v := range row {
			peak = max(peak, math.Abs(float64(v)))
		}
		if peak == 0 {
			continue
		}
		scales[r] = float32(peak / 127)
		for i, v := range row {
			q[r*k+i] = byte(int8(math.RoundToEven(float64(v) / peak * 127)))
		}
	}
	return q, scales
}

func floatBytes(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
