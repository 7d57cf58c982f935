package pack

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func packOf(t *testing.T, dir string, o Options) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.safetensors")
	if _, err := Pack(t.Context(), dir, out, o); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestShards: a checkpoint in several files, with tensors in the wrong file beside
// them, gives the pack that one file gives.
func TestShards(t *testing.T) {
	whole := packOf(t, checkpoint(t, asSafetensors(same)), Options{})
	dir := checkpoint(t, func(w map[string]tensor) (string, []byte) {
		_, b := asSafetensors(same)(w)
		return "whole", b
	})
	index := map[string]string{}
	files := map[string][]named{}
	for i, name := range slices.Sorted(maps.Keys(tiny())) {
		file := []string{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}[i%2]
		x := tiny()[name]
		index[name] = file
		files[file] = append(files[file], named{name, Tensor{"F32", x.dims, floatBytes(x.data)}})
		if i == 0 { // the index, not the last file read, says which is the tensor
			other := make([]float32, len(x.data))
			files["model-00002-of-00002.safetensors"] = append(files["model-00002-of-00002.safetensors"],
				named{name, Tensor{"F32", x.dims, floatBytes(other)}})
		}
	}
	for file, tensors := range files {
		var b bytes.Buffer
		if err := writeSafetensors(&b, tensors, nil); err != nil {
			t.Fatal(err)
		}
		write(t, dir, file, b.Bytes())
	}
	put := func(weights map[string]string) {
		b, err := json.Marshal(map[string]any{"metadata": map[string]any{"total_size": 1}, "weight_map": weights})
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, shardIndex, b)
	}
	put(index)
	if !bytes.Equal(packOf(t, dir, Options{}), whole) {
		t.Error("the pack of the shards differs")
	}
	for want, weights := range map[string]map[string]string{
		"no safetensors file of the folder": {"a": "../model-00001-of-00002.safetensors"},
		"names no tensors":                  {},
		"no such file":                      {"a": "model-00003-of-00002.safetensors"},
		"is missing":                        {"embeddings.word_embeddings.weight": "model-00001-of-00002.safetensors"},
	} {
		put(weights)
		if _, err := Pack(t.Context(), dir, filepath.Join(t.TempDir(), "out"), Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestNarrowWeights: weights in half precision or bfloat16 give the pack of the same
// numbers in single precision, and wrappers' prefixes change nothing.
func TestNarrowWeights(t *testing.T) {
	narrow := func(v float32) float32 { return math.Float32frombits(math.Float32bits(v) & 0xffff0000) } // to what bfloat16 holds
	rounded := tiny()
	for _, x := range rounded {
		for i, v := range x.data {
			x.data[i] = narrow(max(min(v, 4), -4))
		}
	}
	folder := func(dtype, prefix string, encode func(float32) uint16) string {
		var tensors []named
		for name, x := range rounded {
			data := floatBytes(x.data)
			if encode != nil {
				data = nil
				for _, v := range x.data {
					data = binary.LittleEndian.AppendUint16(data, encode(v))
				}
			}
			tensors = append(tensors, named{prefix + name, Tensor{dtype, x.dims, data}})
		}
		var b bytes.Buffer
		if err := writeSafetensors(&b, tensors, nil); err != nil {
			t.Fatal(err)
		}
		return checkpoint(t, func(map[string]tensor) (string, []byte) { return "model.safetensors", b.Bytes() })
	}
	want := packOf(t, folder("F32", "", nil), Options{})
	if !bytes.Equal(packOf(t, folder("BF16", "", func(v float32) uint16 { return uint16(math.Float32bits(v) >> 16) }), Options{}),
		want) {
		t.Error("bfloat16 differs")
	}
	for _, prefix := range []string{"bert.", "model.", "module.bert.", "_orig_mod.bert.", "0.auto_model.", "encoder_model."} {
		if !bytes.Equal(packOf(t, folder("F32", prefix, nil), Options{}), want) {
			t.Errorf("prefix %s differs", prefix)
		}
	}
	// Half precision holds these numbers exactly where they are not tiny.
	half := func(v float32) uint16 {
		bits := math.Float32bits(v)
		exp := int(bits>>23&255) - 127 + 15
		if exp <= 0 || bits&0x1fff != 0 {
			return uint16(bits >> 16 & 0x8000)
		}
		return uint16(bits>>16&0x8000) | uint16(exp)<<10 | uint16(bits>>13&1023)
	}
	for _, x := range rounded {
		for i, v := range x.data {
			if halfToFloat(half(v)) != v {
				x.data[i] = 0
			}
		}
	}
	if !bytes.Equal(packOf(t, folder("F16", "", half), Options{}), packOf(t, folder("F32", "", nil), Options{})) {
		t.Error("half precision differs")
	}
}

// TestDistil: DistilBERT's names give the pack of the BERT that it is, one whose
// types are zero.
func TestDistil(t *testing.T) {
	weights := tiny()
	addHead := func(name string, dims ...int) {
		n, _ := elements(dims)
		data := make([]float32, n)
		for i := range data {
			data[i] = float32(i%7) - 3
		}
		weights[name] = tensor{dims, data}
	}
	addHead("cls.predictions.transform.dense.weight", 16, 16)
	addHead("cls.predictions.transform.dense.bias", 16)
	addHead("cls.predictions.transform.LayerNorm.weight", 16)
	addHead("cls.predictions.transform.LayerNorm.bias", 16)
	addHead("cls.predictions.decoder.weight", len(tinyVocab()), 16)
	addHead("cls.predictions.decoder.bias", len(tinyVocab()))
	clear(weights["embeddings.token_type_embeddings.weight"].data)
	folder := func(rename func(string) string, config string) string {
		var tensors []named
		for name, x := range weights {
			if name = rename(name); name != "" {
				tensors = append(tensors, named{name, Tensor{"F32", x.dims, floatBytes(x.data)}})
			}
		}
		var b bytes.Buffer
		if err := writeSafetensors(&b, tensors, nil); err != nil {
			t.Fatal(err)
		}
		dir := checkpoint(t, func(map[string]tensor) (string, []byte) { return "model.safetensors", b.Bytes() })
		write(t, dir, "config.json", []byte(config))
		return dir
	}
	names := strings.NewReplacer("encoder.layer.", "distilbert.transformer.layer.", "attention.self.query",
		"attention.q_lin", "attention.self.key", "attention.k_lin",
		"attention.self.value", "attention.v_lin", "attention.output.dense", "attention.out_lin",
		"attention.output.LayerNorm", "sa_layer_norm",
		"intermediate.dense", "ffn.lin1", "output.dense", "ffn.lin2", "output.LayerNorm", "output_layer_norm",
		"cls.predictions.transform.dense", "vocab_transform", "cls.predictions.transform.LayerNorm", "vocab_layer_norm",
		"cls.predictions.decoder", "vocab_projector")
	const config = `{"model_type":"distilbert","dim":16,"n_layers":2,"n_heads":2,"hidden_dim":32,` +
		`"max_position_embeddings":12,"activation":"gelu"}`
	distilled := folder(func(s string) string {
		if strings.Contains(s, "token_type") {
			return ""
		}
		if strings.HasPrefix(s, "embeddings.") {
			return "distilbert." + s
		}
		return names.Replace(s)
	}, config)
	for _, o := range []Options{{}, {Task: Embedding}} {
		if !bytes.Equal(packOf(t, distilled, o), packOf(t, folder(same, tinyConfig), o)) {
			t.Errorf("%+v: the packs differ", o)
		}
	}
	if f, err := Parse(packOf(t, distilled, Options{})); err != nil || f.Config.Does() != Sparse {
		t.Errorf("its head makes %v, %v", f, err)
	}
	classifier := folder(func(s string) string { return strings.Replace(s, "cls.predictions.decoder", "pre_classifier", 1) },
		config)
	if _, err := Pack(t.Context(), classifier, filepath.Join(t.TempDir(), "out"), Options{}); err == nil ||
		!strings.Contains(err.Error(), "pre_classifier") {
		t.Errorf("got %v", err)
	}
}

// TestUnsupported: what the engine does not run is refused by name, with the reason,
// whatever lies beside it.
func TestUnsupported(t *testing.T) {
	put := func(name, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { write(t, dir, name, []byte(text)) }
	}
	instead := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Rename(filepath.Join(dir, "model.safetensors"), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for want, change := range map[string]func(*testing.T, string){
		`without which roberta is not read. AutoTokenizer.from_pretrained(FOLDER)`: replace(`"bert"`, `"roberta"`),
		`"xlm-roberta-xl" is not supported: its layers normalize before`:           replace(`"bert"`, `"xlm-roberta-xl"`),
		`without which modernbert is not read. AutoTokenizer.from_pretrained(FOL`:  replace(`"bert"`, `"modernbert"`),
		`"gemma2" is not supported: it is a decoder of another kind`:               replace(`"bert"`, `"gemma2"`),
		`"t5" is not supported: its attention has a relative position bias`:        replace(`"bert"`, `"t5"`),
		`"bigbird" is not supported: its layers are not known; bert, distilbert, `: replace(`"bert"`, `"bigbird"`),
		`qwen2, qwen3 and gemma3_text are. It can run as a process`:                replace(`"bert"`, `"longformer"`),
		"model_type is missing": replace(`"model_type":"bert",`, ``),
		"sentence_transformers.models.WordWeights is not supported; Transformer, Pooling": put("modules.json",
			`[{"type":"sentence_transformers.models.Transformer"},{"type":"sentence_transformers.models.WordWeights"}]`),
		"do_lower_case is false; of models without": put("tokenizer_config.json", `{"do_lower_case":false}`),
		"only mean, CLS or last-token pooling alone is supported": put("1_Pooling/config.json",
			`{"pooling_mode_mean_tokens":true,"pooling_mode_max_tokens":true}`),
		"1_Pooling/config.json: only mean, CLS": put("1_Pooling/config.json",
			`{"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":true}`),
		"pytorch_model.bin is a Python pickle":     instead("pytorch_model.bin"),
		"model.q8_0.gguf is a GGUF file":           instead("model.q8_0.gguf"),
		"tf_model.h5 is a TensorFlow file":         instead("tf_model.h5"),
		"hidden_act \"gelu_new\" is not supported": replace(`"gelu"`, `"gelu_new"`),
		"position_embedding_type \"relative_key\" is not supported": replace(`"hidden_act"`,
			`"position_embedding_type":"relative_key","hidden_act"`),
	} {
		dir := checkpoint(t, asSafetensors(same))
		change(t, dir)
		if _, err := Pack(t.Context(), dir, filepath.Join(t.TempDir(), "out"), Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	dir := checkpoint(t, func(w map[string]tensor) (string, []byte) {
		name, b := asONNX(false)(w)
		return name, append(b, message(7, message(1, message(4, []byte("DynamicQuantizeLinear"))))...)
	})
	if _, err := Pack(t.Context(), dir, filepath.Join(t.TempDir(), "out"), Options{}); err == nil ||
		!strings.Contains(err.Error(), "quantized already (DynamicQuantizeLinear)") {
		t.Errorf("a quantized ONNX file: %v", err)
	}
}
