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
	Pooling       string   // "mean" or "cls"; default: 1_Pooling/config.json, else "mean"
	MaxTokens     int      // default: sentence_bert_config.json, else the positions
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
	architecture, err := readArchitecture(dir)
	if err != nil {
		return Config{}, err
	}
	weights, err := readWeights(dir)
	if err != nil {
		return Config{}, err
	}
	if architecture == distil {
		if weights, err = fromDistil(weights); err != nil {
			return Config{}, err
		}
	}
	vocab, err := readVocab(dir)
	if err != nil {
		return Config{}, err
	}
	c, err := readConfig(dir, o, weights, vocab)
	if err != nil {
		return Config{}, err
	}
	tensors, err := quantized(ctx, c, weights)
	if err != nil {
		return Config{}, err
	}
	lines := strings.Join(vocab, "\n") + "\n"
	tensors = append(tensors, named{"vocab", Tensor{"U8", []int{len(lines)}, []byte(lines)}})
	raw, err := json.Marshal(c)
	if err != nil {
		return Config{}, err
	}
	return c, disk.PublishFrom(out, func(f io.Writer) error {
		w := bufio.NewWriterSize(f, 1<<20)
		return errors.Join(writeSafetensors(w, tensors, map[string]string{"format": "pt", MetadataKey: string(raw)}), w.Flush())
	})
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

const decoder = "cls.predictions.decoder"

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
	_, masked := weights["cls.predictions.transform.dense.weight"]
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
	if _, ok := weights["pooler.dense.weight"]; ok {
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

// quantized gives the tensors of the pack.
func quantized(ctx context.Context, c Config, weights map[string]tensor) ([]named, error) {
	var out []named
	var errs []error
	take := func(name string, dims ...int) []float32 {
		t, ok := weights[name]
		if !ok {
			errs = append(errs, fmt.Errorf("tensor %s is missing", name))
		} else if fmt.Sprint(t.dims) != fmt.Sprint(dims) {
			errs = append(errs, fmt.Errorf("tensor %s has shape %v, want %v", name, t.dims, dims))
		} else if at := notFinite(t.data); at >= 0 {
			errs = append(errs, fmt.Errorf("tensor %s holds %g at %d", name, t.data[at], at))
		} else {
			return t.data
		}
		n, err := elements(dims)
		if err != nil {
			return nil
		}
		return make([]float32, n) // keeps shapes whole so that every problem is told at once
	}
	floats := func(name string, data []float32, dims ...int) {
		out = append(out, named{name, Tensor{"F32", dims, floatBytes(data)}})
	}
	matrix := func(name string, data []float32, n, k int) {
		q, scales := quantizeRows(data, n, k)
		out = append(out, named{name + ".weight", Tensor{"I8", []int{n, k}, q}})
		floats(name+".scale", scales, n)
	}
	linear := func(name string, n, k int, sources ...string) {
		var w, b []float32
		for _, s := range sources {
			w = append(w, take(s+".weight", n/len(sources), k)...)
			b = append(b, take(s+".bias", n/len(sources))...)
		}
		matrix(name, w, n, k)
		floats(name+".bias", b, n)
	}
	norm := func(name, source string) {
		floats(name+".weight", take(source+".weight", c.Hidden), c.Hidden)
		floats(name+".bias", take(source+".bias", c.Hidden), c.Hidden)
	}
	matrix("embeddings.word", take("embeddings.word_embeddings.weight", c.Vocab, c.Hidden), c.Vocab, c.Hidden)
	floats("embeddings.position", take("embeddings.position_embeddings.weight", c.Positions, c.Hidden), c.Positions, c.Hidden)
	floats("embeddings.type", take("embeddings.token_type_embeddings.weight", 2, c.Hidden), 2, c.Hidden)
	norm("embeddings.norm", "embeddings.LayerNorm")
	switch {
	case c.Does() == Sparse:
		linear("mlm.transform", c.Hidden, c.Hidden, "cls.predictions.transform.dense")
		norm("mlm.norm", "cls.predictions.transform.LayerNorm")
		floats("mlm.decoder.bias", take(decoder+".bias", c.Vocab), c.Vocab)
		if !tied(weights) {
			matrix("mlm.decoder", take(decoder+".weight", c.Vocab, c.Hidden), c.Vocab, c.Hidden)
		}
	case c.Head == Joint:
		floats("head.weight", take("head.weight", c.Hidden), c.Hidden)
		floats("head.bias", take("head.bias", 1), 1)
		floats("head.scale", take("head.scale", 1), 1)
	case c.Does() == Rerank:
		floats("head.weight", take("classifier.weight", 1, c.Hidden), c.Hidden)
		floats("head.bias", take("classifier.bias", 1), 1)
		if c.Head == Pooler {
			linear("pooler", c.Hidden, c.Hidden, "pooler.dense")
		}
	}
	for i := range c.Layers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to, from := fmt.Sprintf("layer.%d.", i), fmt.Sprintf("encoder.layer.%d.", i)
		linear(to+"qkv", 3*c.Hidden, c.Hidden, from+"attention.self.query", from+"attention.self.key",
			from+"attention.self.value")
		linear(to+"attention", c.Hidden, c.Hidden, from+"attention.output.dense")
		norm(to+"attention.norm", from+"attention.output.LayerNorm")
		linear(to+"up", c.Intermediate, c.Hidden, from+"intermediate.dense")
		linear(to+"down", c.Hidden, c.Intermediate, from+"output.dense")
		norm(to+"norm", from+"output.LayerNorm")
	}
	return out, errors.Join(errs...)
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
