package pack

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/wasm/tokenizer"
)

// words is what a checkpoint makes of texts.
type words struct {
	vocab  []string             // BERT's uncased word pieces, which the engine itself knows
	hosted *tokenizer.Tokenizer // any other, which the host knows
	file   []byte               // that it was read from
}

// readWords reads the tokenizer of a checkpoint: where it is BERT's uncased WordPiece,
// its vocabulary, and else, or where the engine knows none, all of tokenizer.json.
func readWords(dir, architecture string, hosted bool) (words, error) {
	known := architecture == plainBERT || architecture == distil || architecture == "" // readConfig says that it is missing
	var plain bool
	if hosted {
		known = false
	}
	if known {
		var err error
		if plain, err = uncased(dir); err != nil {
			return words{}, err
		}
	}
	file, err := os.ReadFile(filepath.Join(dir, "tokenizer.json"))
	switch {
	case errors.Is(err, fs.ErrNotExist) && !known:
		what := architecture + " is not read"
		if architecture == plainBERT || architecture == distil {
			what = "a layer behind the pooling and fewer dimensions are not supported"
		}
		return words{}, fmt.Errorf("tokenizer.json is missing, without which %s. %s", what, writeTokenizer)
	case plain || errors.Is(err, fs.ErrNotExist):
		vocab, err := readVocab(dir)
		return words{vocab: vocab}, err
	case err != nil:
		return words{}, err
	}
	var small bytes.Buffer
	if err := json.Compact(&small, file); err != nil {
		return words{}, fmt.Errorf("tokenizer.json: %w", err)
	}
	w := words{file: small.Bytes()}
	if w.hosted, err = tokenizer.Read(w.file); err != nil {
		return words{}, fmt.Errorf("tokenizer.json: %w", err)
	}
	return w, nil
}

// tensor is what the pack keeps of it.
func (w words) tensor() named {
	if w.hosted != nil {
		return named{"tokenizer", Tensor{"U8", []int{len(w.file)}, w.file}}
	}
	lines := strings.Join(w.vocab, "\n") + "\n"
	return named{"vocab", Tensor{"U8", []int{len(lines)}, []byte(lines)}}
}

// size is how many word embeddings it needs.
func (w words) size() int {
	if w.hosted != nil {
		return w.hosted.Size()
	}
	return len(w.vocab)
}

// tellsApart tells whether the second text of a pair is of another type than the first.
func (w words) tellsApart() bool {
	for _, p := range w.hosted.Pair() {
		if p.Type != 0 {
			return true
		}
	}
	return false
}

// special fills in the ids of what stands around texts.
func (w words) special(c *Config) error {
	if c.Architecture == rotaryEngine {
		return w.around(c)
	}
	if w.hosted == nil {
		for _, special := range []struct {
			piece string
			id    *int
		}{{"[PAD]", &c.PadID}, {"[UNK]", &c.UnkID}, {"[CLS]", &c.ClsID}, {"[SEP]", &c.SepID}, {"[MASK]", &c.MaskID}} {
			if *special.id = slices.Index(w.vocab, special.piece); *special.id < 0 {
				return fmt.Errorf("the vocabulary has no %s", special.piece)
			}
		}
		return nil
	}
	c.Tokenizer = hostedTokenizer
	single := w.hosted.Single()
	cls, before := only(single, 0)
	sep, behind := only(single, 2)
	if !before || !behind || len(single) != 3 {
		return errors.New("tokenizer.json: its post_processor does not put one token before a text and one behind it, as " +
			"[CLS] and [SEP]; others are not supported")
	}
	c.ClsID, c.SepID = cls, sep
	w.others(c)
	return w.pair(c)
}

// only is the id of the one token that stands at a place of a template.
func only(parts []tokenizer.Part, i int) (id int, ok bool) {
	if i >= len(parts) || parts[i].Text != 0 || len(parts[i].IDs) != 1 {
		return 0, false
	}
	return int(parts[i].IDs[0]), true
}

// pair finds how many separators stand between the texts that a reranker reads.
func (w words) pair(c *Config) error {
	if c.Does() != Rerank || c.Head == ColBERT {
		return nil
	}
	pair := w.hosted.Pair()
	c.Separators = len(pair) - 4
	good := c.Separators == 1 || c.Separators == 2
	for i, p := range pair {
		id, special := only(pair, i)
		switch i {
		case 0:
			good = good && special && id == c.ClsID
		case 1:
			good = good && p.Text == 1
		case len(pair) - 2:
			good = good && p.Text == 2
		default:
			good = good && special && id == c.SepID
		}
	}
	if !good {
		return errors.New("tokenizer.json: its post_processor does not put a pair as [CLS] A [SEP] B [SEP] or with two " +
			"[SEP] between; others are not supported")
	}
	return nil
}

// around finds what stands before and behind the texts of a rotary encoder: a token or none, but not none of both.
func (w words) around(c *Config) error {
	c.Tokenizer, c.ClsID, c.SepID = hostedTokenizer, -1, -1
	parts := w.hosted.Single()
	good := len(parts) == 2 || len(parts) == 3
	text := slices.IndexFunc(parts, func(p tokenizer.Part) bool { return p.Text == 1 })
	for i, p := range parts {
		switch {
		case i == text:
		case p.Text != 0 || len(p.IDs) != 1 || i < text-1 || i > text+1:
			good = false
		case i < text:
			c.ClsID = int(p.IDs[0])
		default:
			c.SepID = int(p.IDs[0])
		}
	}
	if !good {
		return errors.New("tokenizer.json: its post_processor does not put one token before a text, behind it, or both; " +
			"others are not supported")
	}
	w.others(c)
	return w.pair(c)
}

// others fills in the ids of tokens that the engine does not put around texts.
func (w words) others(c *Config) {
	for id, names := range map[*int][]string{&c.PadID: {"[PAD]", "<pad>"}, &c.UnkID: {"[UNK]", "<unk>"},
		&c.MaskID: maskNames} {
		if found, ok := w.oneOf(names...); ok {
			*id = found
		}
	}
}

// maskNames are the names that tokenizers give their mask.
var maskNames = []string{"[MASK]", "<mask>"}

// oneOf is the id of the first of some tokens that the tokenizer knows.
func (w words) oneOf(names ...string) (id int, ok bool) {
	for _, name := range names {
		if id, ok := w.hosted.ID(name); ok {
			return int(id), true
		}
	}
	return 0, false
}

// readVocab reads vocab.txt, or the WordPiece vocabulary of tokenizer.json.
func readVocab(dir string) ([]string, error) {
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

// vocabulary is that of a WordPiece model; of another form it is not looked at.
type vocabulary map[string]int

func (v *vocabulary) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '{' {
		return nil
	}
	return json.Unmarshal(b, (*map[string]int)(v))
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
		Type     string     `json:"type"`
		Prefix   string     `json:"continuing_subword_prefix"`
		MaxChars int        `json:"max_input_chars_per_word"`
		Unk      string     `json:"unk_token"`
		Vocab    vocabulary `json:"vocab"`
	} `json:"model"`
}

// uncased tells whether the tokenizer is BERT's uncased WordPiece, as it is where a
// folder has a vocabulary alone.
func uncased(dir string) (bool, error) {
	var t tokenizerFile
	found, err := readJSON(dir, "tokenizer.json", &t)
	if err != nil {
		return false, err
	}
	if found {
		isFalse := func(b *bool) bool { return b != nil && !*b }
		n := t.Normalizer
		if t.Model.Type != "WordPiece" || t.Model.Prefix != "##" || t.Model.Unk != "[UNK]" || t.Model.MaxChars != 100 ||
			n.Type != "BertNormalizer" || t.PreTokenizer.Type != "BertPreTokenizer" || isFalse(n.CleanText) ||
			isFalse(n.HandleChineseChars) || isFalse(n.StripAccents) || isFalse(n.Lowercase) {
			return false, nil
		}
	}
	return true, checkCase(dir)
}

// readConfig gathers the settings that lie in several files of a checkpoint.
func readConfig(dir string, o Options, modules modules, weights map[string]tensor, words words, skipped int,
) (Config, error) {
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
	}
	if hf.Act != "" && hf.Act != "gelu" {
		return Config{}, fmt.Errorf("config.json: hidden_act %q is not supported; gelu is", hf.Act)
	}
	if hf.Embedding != "" && hf.Embedding != "absolute" {
		return Config{}, fmt.Errorf("config.json: position_embedding_type %q is not supported; absolute is", hf.Embedding)
	}
	hf.Positions -= skipped
	c := Config{
		Format:       1,
		Architecture: plainBERT, // whose names the weights have been given
		Hidden:       hf.Hidden,
		Layers:       hf.Layers,
		Heads:        cmp.Or(o.Heads, hf.Heads),
		Intermediate: hf.Intermediate,
		Vocab:        words.size(),
		Positions:    hf.Positions,
		MaxTokens:    cmp.Or(hf.MaxTokens, hf.Positions),
		DistanceBias: hf.ModelType == mpnet,
		Epsilon:      cmp.Or(hf.Epsilon, 1e-12),
	}
	switch {
	case modules.dense != nil || o.Dimensions > 0:
		c.Format = 3
	case words.hosted != nil:
		c.Format = 2
	}
	return settle(dir, o, modules, weights, words, c, hf.Calibration)
}

// settle completes what config.json says of the layers by what lies beside it and by what is asked for.
func settle(dir string, o Options, modules modules, weights map[string]tensor, words words, c Config,
	calibration *Calibration,
) (Config, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Config{}, err
	}
	c.Name, c.Version = cmp.Or(o.Name, filepath.Base(abs)), cmp.Or(o.Version, "1")
	c.Licence, c.Source, c.Languages = cmp.Or(o.Licence, "NOASSERTION"), o.Source, o.Languages
	c.Pooling, c.Normalize = "mean", true
	if t, ok := weights[wordTable]; ok && len(t.dims) == 2 {
		switch rows := t.dims[0]; {
		case c.Architecture == rotaryEngine && rows < c.Vocab && c.Vocab-rows <= maxUnembedded:
			c.Vocab = rows // tokens for pictures, say, that no text has
		case words.hosted != nil && rows >= c.Vocab:
			c.Vocab = rows // some have more, to be a round number
		case rows > c.Vocab || words.hosted != nil:
			return Config{}, fmt.Errorf("the checkpoint has %d word embeddings but the vocabulary %d pieces", rows, c.Vocab)
		}
	}
	if err := modules.settings(dir, &c); err != nil {
		return Config{}, err
	}
	task := modules.task(o, weights)
	if task != Rerank && modules.colbert != nil {
		return Config{}, fmt.Errorf("%s compares states by MaxSim and is packed for task rerank, not for %s", c.Name, task)
	}
	if task != Embedding && c.Format == 3 && c.Architecture != rotaryEngine && modules.colbert == nil {
		return Config{}, fmt.Errorf("%s is not packed for task %s; embedding is supported of layers behind the pooling and "+
			"fewer dimensions", c.Name, task)
	}
	switch task {
	case Embedding: // said by saying nothing
	case Sparse:
		c.Task, c.Terms, c.QueryTerms = Sparse, cmp.Or(o.Terms, min(defaultTerms, c.Vocab)), o.QueryTerms
	case Rerank:
		c.Task, c.Calibration = Rerank, cmp.Or(o.Calibration, calibration)
		if modules.colbert != nil {
			c.Head = ColBERT
		} else if c.Head, err = headOf(weights); err != nil {
			return Config{}, err
		}
	default:
		c.Task = task
	}
	if err := words.special(&c); err != nil {
		return Config{}, err
	}
	if c.Does() != Sparse && (o.Terms != 0 || o.QueryTerms != 0) {
		return Config{}, fmt.Errorf("terms are of task sparse; this checkpoint is packed for %s", c.Does())
	}
	if c.Does() != Rerank && o.Calibration != nil {
		return Config{}, fmt.Errorf("a calibration is of task rerank; this checkpoint is packed for %s", c.Does())
	}
	c.Pooling = cmp.Or(o.Pooling, c.Pooling)
	if c.Architecture == rotaryEngine {
		c.MaxTokens = min(c.MaxTokens, usualWindow)
	}
	if o.MaxTokens > 0 {
		c.MaxTokens = o.MaxTokens
	}
	if modules.colbert != nil {
		if err := modules.colbert.settle(&c, words); err != nil {
			return Config{}, err
		}
	}
	if o.QueryPrefix != nil {
		c.QueryPrefix = *o.QueryPrefix
	}
	if o.PassagePrefix != nil {
		c.PassagePrefix = *o.PassagePrefix
	}
	if c.Does() == Sparse && c.Format == 2 && c.Vocab*c.Hidden*c.MaxTokens > 1<<32 {
		c.Format = 3 // whose engine gives the host a long text's states in parts
	}
	if d := modules.dense; d != nil {
		if d.in != c.Hidden {
			return Config{}, fmt.Errorf("the Dense behind the pooling has in_features %d, the model's states %d", d.in, c.Hidden)
		}
		c.Dense, c.DenseActivation = d.out, d.activation
	}
	if o.Dimensions != 0 {
		c.Dimensions = o.Dimensions
	}
	if modules.withoutPrompt && c.Pooling == "mean" && c.QueryPrefix+c.PassagePrefix != "" {
		return Config{}, errors.New("the Pooling's include_prompt is false: states of the prompt that the pooling leaves out " +
			"are not supported")
	}
	return c, c.Validate()
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
