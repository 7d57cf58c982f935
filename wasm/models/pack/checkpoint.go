package pack

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// readVocab reads vocab.txt, or the WordPiece vocabulary of tokenizer.json.
// A tokenizer that the engine does not implement is refused.
func readVocab(dir string) ([]string, error) {
	if err := checkTokenizer(dir); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(dir, "vocab.txt"))
	if err == nil {
		lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n"), "\n")
		return lines, checkVocab(lines)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var t tokenizerFile
	if found, err := readJSON(dir, "tokenizer.json", &t); err != nil {
		return nil, err
	} else if !found {
		return nil, errors.New("no vocabulary: neither vocab.txt nor tokenizer.json is there")
	}
	lines := make([]string, len(t.Model.Vocab))
	for piece, id := range t.Model.Vocab {
		if id < 0 || id >= len(lines) || lines[id] != "" {
			return nil, fmt.Errorf("tokenizer.json: id %d of %q is out of range or taken twice", id, piece)
		}
		lines[id] = piece
	}
	return lines, checkVocab(lines)
}

func checkVocab(lines []string) error {
	seen := make(map[string]int, len(lines))
	for id, piece := range lines {
		if piece == "" || strings.ContainsAny(piece, "\n\r") {
			return fmt.Errorf("vocabulary: piece %d is empty or holds a line break", id)
		}
		if first, ok := seen[piece]; ok {
			return fmt.Errorf("vocabulary: %q is both %d and %d", piece, first, id)
		}
		seen[piece] = id
	}
	return nil
}

type tokenizerFile struct {
	Normalizer struct {
		Type               string `json:"type"`
		CleanText          *bool  `json:"clean_text"`
		HandleChineseChars *bool  `json:"handle_chinese_chars"`
		StripAccents       *bool  `json:"strip_accents"`
		Lowercase          *bool  `json:"lowercase"`
	} `json:"normalizer"`
	PreTokenizer struct {
		Type string `json:"type"`
	} `json:"pre_tokenizer"`
	Model struct {
		Type     string         `json:"type"`
		Prefix   string         `json:"continuing_subword_prefix"`
		MaxChars int            `json:"max_input_chars_per_word"`
		Unk      string         `json:"unk_token"`
		Vocab    map[string]int `json:"vocab"`
	} `json:"model"`
}

// checkTokenizer refuses a tokenizer.json that is not BERT's uncased WordPiece.
func checkTokenizer(dir string) error {
	var t tokenizerFile
	if found, err := readJSON(dir, "tokenizer.json", &t); err != nil || !found {
		return err
	}
	isFalse := func(b *bool) bool { return b != nil && !*b }
	n := t.Normalizer
	switch {
	case t.Model.Type != "WordPiece" || t.Model.Prefix != "##" || t.Model.Unk != "[UNK]" || t.Model.MaxChars != 100:
		return fmt.Errorf("tokenizer.json: model %s is not BERT's WordPiece (prefix ##, [UNK], 100 characters a word)",
			t.Model.Type)
	case n.Type != "BertNormalizer" || t.PreTokenizer.Type != "BertPreTokenizer":
		return fmt.Errorf("tokenizer.json: normalizer %s and pre-tokenizer %s are not BERT's", n.Type, t.PreTokenizer.Type)
	case isFalse(n.CleanText) || isFalse(n.HandleChineseChars) || isFalse(n.StripAccents) || isFalse(n.Lowercase):
		return errors.New("tokenizer.json: only uncased models are supported (clean_text, handle_chinese_chars, " +
			"strip_accents and lowercase on)")
	}
	return nil
}

// readConfig gathers the settings that lie in several files of a checkpoint.
func readConfig(dir string, o Options, weights map[string]tensor, vocab []string) (Config, error) {
	var hf struct {
		ModelType    string  `json:"model_type"`
		Hidden       int     `json:"hidden_size"`
		Layers       int     `json:"num_hidden_layers"`
		Heads        int     `json:"num_attention_heads"`
		Intermediate int     `json:"intermediate_size"`
		Positions    int     `json:"max_position_embeddings"`
		Epsilon      float64 `json:"layer_norm_eps"`
		Act          string  `json:"hidden_act"`
		Embedding    string  `json:"position_embedding_type"`

		DistilHidden       int    `json:"dim"` // DistilBERT's names for the same
		DistilLayers       int    `json:"n_layers"`
		DistilHeads        int    `json:"n_heads"`
		DistilIntermediate int    `json:"hidden_dim"`
		DistilAct          string `json:"activation"`

		MaxTokens   int          `json:"max_tokens"` // these two are ours
		Calibration *Calibration `json:"calibration"`
	}
	if found, err := readJSON(dir, "config.json", &hf); err != nil {
		return Config{}, err
	} else if !found {
		return Config{}, errors.New("config.json is missing")
	}
	if hf.ModelType == distil {
		hf.Hidden, hf.Layers, hf.Heads = cmp.Or(hf.DistilHidden, hf.Hidden), cmp.Or(hf.DistilLayers, hf.Layers),
			cmp.Or(hf.DistilHeads, hf.Heads)
		hf.Intermediate, hf.Act = cmp.Or(hf.DistilIntermediate, hf.Intermediate), cmp.Or(hf.DistilAct, hf.Act)
		hf.ModelType = "bert" // its weights have been given the names of one
	}
	if hf.Act != "" && hf.Act != "gelu" {
		return Config{}, fmt.Errorf("config.json: hidden_act %q is not supported; gelu is", hf.Act)
	}
	if hf.Embedding != "" && hf.Embedding != "absolute" {
		return Config{}, fmt.Errorf("config.json: position_embedding_type %q is not supported; absolute is", hf.Embedding)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Config{}, err
	}
	c := Config{
		Format:       1,
		Architecture: hf.ModelType,
		Name:         cmp.Or(o.Name, filepath.Base(abs)),
		Version:      cmp.Or(o.Version, "1"),
		Licence:      cmp.Or(o.Licence, "NOASSERTION"),
		Source:       o.Source,
		Languages:    o.Languages,
		Hidden:       hf.Hidden,
		Layers:       hf.Layers,
		Heads:        cmp.Or(o.Heads, hf.Heads),
		Intermediate: hf.Intermediate,
		Vocab:        len(vocab),
		Positions:    hf.Positions,
		MaxTokens:    cmp.Or(hf.MaxTokens, hf.Positions),
		Epsilon:      cmp.Or(hf.Epsilon, 1e-12),
		Pooling:      "mean",
		Normalize:    true,
	}
	if t, ok := weights["embeddings.word_embeddings.weight"]; ok && len(t.dims) == 2 && t.dims[0] > len(vocab) {
		return Config{}, fmt.Errorf("the checkpoint has %d word embeddings but the vocabulary %d pieces", t.dims[0], len(vocab))
	}
	for _, special := range []struct {
		piece string
		id    *int
	}{{"[PAD]", &c.PadID}, {"[UNK]", &c.UnkID}, {"[CLS]", &c.ClsID}, {"[SEP]", &c.SepID}, {"[MASK]", &c.MaskID}} {
		if *special.id = slices.Index(vocab, special.piece); *special.id < 0 {
			return Config{}, fmt.Errorf("the vocabulary has no %s", special.piece)
		}
	}
	pooling, err := sentenceSettings(dir, &c)
	if err != nil {
		return Config{}, err
	}
	switch task := cmp.Or(o.Task, taskOf(weights, pooling)); task {
	case Embedding: // said by saying nothing
	case Sparse:
		c.Task, c.Terms, c.QueryTerms = Sparse, cmp.Or(o.Terms, min(defaultTerms, c.Vocab)), o.QueryTerms
	case Rerank:
		c.Task, c.Calibration = Rerank, cmp.Or(o.Calibration, hf.Calibration)
		if c.Head, err = headOf(weights); err != nil {
			return Config{}, err
		}
	default:
		c.Task = task
	}
	if c.Does() != Sparse && (o.Terms != 0 || o.QueryTerms != 0) {
		return Config{}, fmt.Errorf("terms are of task sparse; this checkpoint is packed for %s", c.Does())
	}
	if c.Does() != Rerank && o.Calibration != nil {
		return Config{}, fmt.Errorf("a calibration is of task rerank; this checkpoint is packed for %s", c.Does())
	}
	c.Pooling = cmp.Or(o.Pooling, c.Pooling)
	if o.MaxTokens > 0 {
		c.MaxTokens = o.MaxTokens
	}
	if o.QueryPrefix != nil {
		c.QueryPrefix = *o.QueryPrefix
	}
	if o.PassagePrefix != nil {
		c.PassagePrefix = *o.PassagePrefix
	}
	return c, c.Validate()
}

// sentenceSettings reads what sentence-transformers keeps beside a checkpoint:
// pooling, window and prompts. Each file may be absent; pooled says that the
// pooling was there.
func sentenceSettings(dir string, c *Config) (pooled bool, err error) {
	var pooling struct {
		CLS      bool `json:"pooling_mode_cls_token"`
		Mean     bool `json:"pooling_mode_mean_tokens"`
		Max      bool `json:"pooling_mode_max_tokens"`
		Sqrt     bool `json:"pooling_mode_mean_sqrt_len_tokens"`
		Weighted bool `json:"pooling_mode_weightedmean_tokens"`
		Last     bool `json:"pooling_mode_lasttoken"`
	}
	if pooled, err = readJSON(dir, "1_Pooling/config.json", &pooling); err != nil {
		return pooled, err
	} else if pooled {
		// Of several modes sentence-transformers joins the vectors.
		if pooling.CLS == pooling.Mean || pooling.Max || pooling.Sqrt || pooling.Weighted || pooling.Last {
			return pooled, errors.New("1_Pooling/config.json: only mean or CLS pooling alone is supported")
		}
		if pooling.CLS {
			c.Pooling = "cls"
		}
	}
	var window struct {
		Max int `json:"max_seq_length"`
	}
	if _, err := readJSON(dir, "sentence_bert_config.json", &window); err != nil {
		return pooled, err
	}
	if window.Max > 0 {
		c.MaxTokens = min(window.Max, c.Positions)
	}
	var prompts struct {
		Prompts map[string]string `json:"prompts"`
	}
	if _, err := readJSON(dir, "config_sentence_transformers.json", &prompts); err != nil {
		return pooled, err
	}
	c.QueryPrefix = prompts.Prompts["query"]
	c.PassagePrefix = cmp.Or(prompts.Prompts["passage"], prompts.Prompts["document"])
	return pooled, nil
}

// readJSON reads one file of the folder; found is false when it is not there.
func readJSON(dir, name string, into any) (found bool, err error) {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return true, fmt.Errorf("%s: %w", name, err)
	}
	return true, nil
}
