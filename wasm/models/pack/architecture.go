package pack

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// unsupported says what the engine lacks for the architectures that people try.
func unsupported(modelType string) string {
	switch modelType {
	case "xlm-roberta-xl":
		return "its layers normalize before they compute"
	case "t5", "mt5", "umt5":
		return "its attention has a relative position bias and is not scaled"
	case "deberta", "deberta-v2":
		return "its attention is disentangled"
	case "electra":
		return "its embeddings are projected and its head is another"
	case "albert":
		return "its layers share their weights and its embeddings are narrower"
	case "llama", "mistral", "gemma", "gemma2", "gemma3", "gpt2", "phi":
		return "it is a decoder of another kind"
	}
	return "its layers are not known"
}

// The architectures that the engine runs, by their model_type.
const (
	plainBERT = "bert"
	distil    = "distilbert"
	roberta   = "roberta"
	camembert = "camembert"
	xlmr      = "xlm-roberta"
	mpnet     = "mpnet"

	modernBERT = "modernbert" // those from here on have rotary positions
	nomic      = "nomic_bert"
	gte        = "gte"
	gteNew     = "new" // GTE's as its makers name it
	euroBERT   = "eurobert"
	qwen2      = "qwen2"
	qwen3      = "qwen3"
	gemma3     = "gemma3_text"
)

const supported = "bert, distilbert, roberta, camembert, xlm-roberta, mpnet, modernbert, nomic_bert, gte, new, eurobert, " +
	"qwen2, qwen3 and gemma3_text are"

func rotary(modelType string) bool {
	switch modelType {
	case modernBERT, nomic, gte, gteNew, euroBERT, qwen2, qwen3, gemma3:
		return true
	}
	return false
}

// readArchitecture is the model_type of a checkpoint, "" where config.json is
// missing, and how many of its positions no text has. One that the engine does not run
// is refused, before its weights are read.
func readArchitecture(dir string) (modelType string, skipped int, err error) {
	var hf struct {
		ModelType string `json:"model_type"`
		Pad       *int   `json:"pad_token_id"`
	}
	found, err := readJSON(dir, "config.json", &hf)
	if err == nil && found {
		err = checkArchitecture(hf.ModelType)
	}
	switch hf.ModelType {
	case mpnet:
		skipped = 2
	case roberta, camembert, xlmr:
		if skipped = 2; hf.Pad != nil {
			skipped = *hf.Pad + 1
		}
	}
	return hf.ModelType, skipped, err
}

func checkArchitecture(modelType string) error {
	if rotary(modelType) {
		return nil
	}
	switch modelType {
	case plainBERT, distil, roberta, camembert, xlmr, mpnet:
		return nil
	case "":
		return errors.New("config.json: model_type is missing; of architectures " + supported + " supported")
	}
	return fmt.Errorf("config.json: architecture %q is not supported: %s; %s. It can run as a process or behind a remote "+
		"endpoint", modelType, unsupported(modelType), supported)
}

// writeTokenizer is how a folder comes by the file that tells all of a tokenizer.
const writeTokenizer = "AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER) of transformers writes tokenizer.json"

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
			return fmt.Errorf("tokenizer_config.json: %s is false; of models without a tokenizer.json of their own only "+
				"uncased ones are supported. %s", name, writeTokenizer)
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
	completeTypes(out, false)
	return out, nil
}

// fromFamily gives the tensors of RoBERTa's family and of MPNet the names of BERT's.
// RoBERTa's classifier is a pooler and a classifier in one.
func fromFamily(weights map[string]tensor) map[string]tensor {
	rename := strings.NewReplacer("lm_head.dense.", "cls.predictions.transform.dense.",
		"lm_head.layer_norm.", "cls.predictions.transform.LayerNorm.", "lm_head.decoder.", decoder+".",
		"lm_head.bias", decoder+".bias", "classifier.dense.", "pooler.dense.", "classifier.out_proj.", "classifier.",
		"attention.attn.q.", "attention.self.query.", "attention.attn.k.", "attention.self.key.",
		"attention.attn.v.", "attention.self.value.", "attention.attn.o.", "attention.output.dense.",
		"attention.LayerNorm.", "attention.output.LayerNorm.")
	_, classifies := weights["classifier.out_proj.weight"]
	out := make(map[string]tensor, len(weights)+1)
	for name, t := range weights {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "roberta."), "mpnet.")
		if classifies && strings.HasPrefix(name, "pooler.") {
			continue // of another head than the classifier's
		}
		out[rename.Replace(name)] = t
	}
	return out
}

const (
	positionTable = "embeddings.position_embeddings.weight"
	typeTable     = "embeddings.token_type_embeddings.weight"
	wordTable     = "embeddings.word_embeddings.weight"
	distanceTable = "encoder.relative_attention_bias.weight" // MPNet's
)

// skipPositions drops the first positions, of which RoBERTa's family has one for each id
// up to that of padding and uses none.
func skipPositions(weights map[string]tensor, skipped int) error {
	t := weights[positionTable]
	if len(t.dims) != 2 || skipped < 0 || t.dims[0] <= skipped {
		return fmt.Errorf("tensor %s has shape %v, of which %d positions are none of a text", positionTable, t.dims, skipped)
	}
	weights[positionTable] = tensor{dims: []int{t.dims[0] - skipped, t.dims[1]}, data: t.data[skipped*t.dims[1]:]}
	return nil
}

// completeTypes makes two type embeddings of one or none. same gives both texts of a
// pair the first, where the tokenizer tells them apart by nothing else.
func completeTypes(weights map[string]tensor, same bool) {
	t, there := weights[typeTable]
	words := weights[wordTable]
	switch {
	case !there && len(words.dims) == 2:
		weights[typeTable] = tensor{dims: []int{2, words.dims[1]}, data: make([]float32, 2*words.dims[1])}
	case there && len(t.dims) == 2 && (t.dims[0] == 1 || same && t.dims[0] == 2):
		first := t.data[:t.dims[1]]
		weights[typeTable] = tensor{dims: []int{2, t.dims[1]}, data: slices.Concat(first, first)}
	}
}

// biasReach is from which distance on the bias of attention is the same: MPNet's buckets
// end before it.
const biasReach = 128

// distances spreads MPNet's bias of attention, which is by bucket and head, over the
// distances of key and query, by head: as T5's (Raffel et al. 2020, arXiv:1910.10683),
// half of the buckets for keys behind the query, half of those for a distance each and
// the others for ever more, up to 128.
func distances(t tensor, heads int) ([]float32, error) {
	const buckets, exact = 16, 8 // of one direction
	if len(t.dims) != 2 || t.dims[0] != 2*buckets || t.dims[1] != heads {
		return nil, fmt.Errorf("tensor %s has shape %v, want [%d %d]", distanceTable, t.dims, 2*buckets, heads)
	}
	out := make([]float32, 0, heads*(2*biasReach+1))
	for h := range heads {
		for d := -biasReach; d <= biasReach; d++ {
			far := max(d, -d)
			bucket := far
			if far >= exact {
				// Powers of two are bounds of buckets; the hundredth keeps them on their side.
				steps := math.Log2(float64(far)/exact)/math.Log2(biasReach/exact)*(buckets-exact) + 0.01
				bucket = min(exact+int(steps), buckets-1)
			}
			if d > 0 {
				bucket += buckets
			}
			out = append(out, t.data[bucket*heads+h])
		}
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
