package pack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// unsupported says what the engine lacks for the architectures that people try.
func unsupported(modelType string) string {
	switch modelType {
	case "roberta", "camembert", "xlm-roberta", "xlm-roberta-xl":
		return "its tokenizer is not WordPiece, and its positions begin at 2"
	case "mpnet", "t5", "mt5", "umt5":
		return "its attention has a relative position bias"
	case "deberta", "deberta-v2":
		return "its attention is disentangled"
	case "modernbert", "nomic_bert", "new", "gte", "eurobert":
		return "its positions are rotary"
	case "electra":
		return "its embeddings are projected and its head is another"
	case "albert":
		return "its layers share their weights and its tokenizer is SentencePiece"
	case "llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3", "gpt2", "phi":
		return "it is a decoder"
	}
	return "its layers are not known"
}

const distil = "distilbert"

// readArchitecture is the model_type of a checkpoint, "" where config.json is
// missing. One that the engine does not run is refused, before its weights are read.
func readArchitecture(dir string) (string, error) {
	var hf struct {
		ModelType string `json:"model_type"`
	}
	found, err := readJSON(dir, "config.json", &hf)
	if err == nil && found {
		err = errors.Join(checkArchitecture(hf.ModelType), checkModules(dir), checkCase(dir))
	}
	return hf.ModelType, err
}

func checkArchitecture(modelType string) error {
	switch modelType {
	case "bert", distil:
		return nil
	case "":
		return errors.New("config.json: model_type is missing; architectures bert and distilbert are supported")
	}
	return fmt.Errorf("config.json: architecture %q is not supported: %s; bert and distilbert are", modelType,
		unsupported(modelType))
}

// checkModules refuses a sentence-transformers model that does more than encode,
// pool and normalise: its vectors would be others.
func checkModules(dir string) error {
	var modules []struct {
		Type string `json:"type"`
	}
	if found, err := readJSON(dir, "modules.json", &modules); err != nil || !found {
		return err
	}
	for _, m := range modules {
		kind := m.Type[strings.LastIndex(m.Type, ".")+1:]
		if !slices.Contains([]string{"Transformer", "Pooling", "Normalize"}, kind) {
			return fmt.Errorf("modules.json: a module %s is not supported; Transformer, Pooling and Normalize are", m.Type)
		}
	}
	return nil
}

// checkCase refuses a tokenizer_config.json of a cased model, which a folder
// without tokenizer.json tells by that alone.
func checkCase(dir string) error {
	var t struct {
		Lower   *bool `json:"do_lower_case"`
		Strip   *bool `json:"strip_accents"`
		Chinese *bool `json:"tokenize_chinese_chars"`
	}
	if _, err := readJSON(dir, "tokenizer_config.json", &t); err != nil {
		return err
	}
	for name, b := range map[string]*bool{"do_lower_case": t.Lower, "strip_accents": t.Strip,
		"tokenize_chinese_chars": t.Chinese} {
		if b != nil && !*b {
			return fmt.Errorf("tokenizer_config.json: %s is false; only uncased models are supported", name)
		}
	}
	return nil
}

// noWeights says what there is instead of weights that can be read.
func noWeights(dir string) error {
	for name, why := range map[string]string{
		"pytorch_model.bin": "is a Python pickle, which runs code when it is read; save the model with " +
			"safe_serialization=True",
		"pytorch_model.bin.index.json": "names Python pickles, which run code when they are read; save the model with " +
			"safe_serialization=True",
		"tf_model.h5":        "is a TensorFlow file; save the model as safetensors or ONNX",
		"flax_model.msgpack": "is a Flax file; save the model as safetensors or ONNX",
	} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("%s %s", name, why)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*.gguf")); len(files) > 0 {
		return fmt.Errorf("%s is a GGUF file; use the safetensors or ONNX checkpoint that it was made of",
			filepath.Base(files[0]))
	}
	return fmt.Errorf("no weights: none of %s is there", strings.Join(weightFiles(), ", "))
}

// fromDistil gives DistilBERT's tensors the names of BERT's. What it left out of
// BERT is as if it were zero: the type embeddings (Sanh et al. 2019,
// arXiv:1910.01108, section 3). Its classifier has a form that no head has.
func fromDistil(weights map[string]tensor) (map[string]tensor, error) {
	if _, ok := weights["pre_classifier.weight"]; ok {
		return nil, errors.New("the classifier of distilbert (pre_classifier) is not supported; of its heads the masked " +
			"language model's is")
	}
	layer := strings.NewReplacer("transformer.layer.", "encoder.layer.", "attention.q_lin", "attention.self.query",
		"attention.k_lin", "attention.self.key",
		"attention.v_lin", "attention.self.value", "attention.out_lin", "attention.output.dense", "sa_layer_norm",
		"attention.output.LayerNorm",
		"ffn.lin1", "intermediate.dense", "ffn.lin2", "output.dense", "output_layer_norm", "output.LayerNorm")
	out := make(map[string]tensor, len(weights)+1)
	for name, t := range weights {
		name = strings.TrimPrefix(name, "distilbert.")
		switch {
		case strings.HasPrefix(name, "transformer.layer."):
			name = layer.Replace(name)
		case strings.HasPrefix(name, "vocab_transform."):
			name = strings.Replace(name, "vocab_transform.", "cls.predictions.transform.dense.", 1)
		case strings.HasPrefix(name, "vocab_layer_norm."):
			name = strings.Replace(name, "vocab_layer_norm.", "cls.predictions.transform.LayerNorm.", 1)
		case strings.HasPrefix(name, "vocab_projector."):
			name = strings.Replace(name, "vocab_projector.", decoder+".", 1)
		}
		out[name] = t
	}
	if words, ok := out["embeddings.word_embeddings.weight"]; ok && len(words.dims) == 2 {
		out["embeddings.token_type_embeddings.weight"] = tensor{dims: []int{2, words.dims[1]},
			data: make([]float32, 2*words.dims[1])}
	}
	return out, nil
}

// readShards reads a checkpoint in several files: the index names the file of each
// tensor, by which alone it is taken.
func readShards(dir, index string) (map[string]tensor, error) {
	var shards struct {
		Files map[string]string `json:"weight_map"`
	}
	if _, err := readJSON(dir, index, &shards); err != nil {
		return nil, err
	}
	of := map[string][]string{}
	for tensor, file := range shards.Files {
		if file == "" || filepath.Base(file) != file || !strings.HasSuffix(file, ".safetensors") {
			return nil, fmt.Errorf("%s: %q is no safetensors file of the folder", index, file)
		}
		of[file] = append(of[file], tensor)
	}
	if len(of) == 0 {
		return nil, fmt.Errorf("%s names no tensors", index)
	}
	out := map[string]tensor{}
	for file, names := range of {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", index, err)
		}
		all, err := readCheckpoint(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, name := range names {
			if t, ok := all[name]; ok { // integers are left out, as buffers of positions
				out[name] = t
			}
		}
	}
	return out, nil
}
