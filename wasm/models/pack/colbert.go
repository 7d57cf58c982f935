package pack

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxSkipped is how many tokens of passages may be left out of the comparison.
const maxSkipped = 4096

// colbert is how a late-interaction model (Khattab and Zaharia 2020, arXiv:2004.12832) reads texts, as the libraries
// that train such models write it.
type colbert struct {
	queries, passages       int    // most tokens
	queryMark, passageMark  string // tokens behind the first; "": none
	expand, attendExpansion bool
	skipped                 []string // tokens of passages that are not compared
}

// punctuation is what both libraries leave out of passages where nothing else is said.
func punctuation() []string { return strings.Split("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "") }

// readPyLate reads what PyLate keeps beside the modules.
func (m *modules) readPyLate(dir string) error {
	const file = "config_sentence_transformers.json"
	var f struct {
		QueryPrefix    *string           `json:"query_prefix"`
		DocumentPrefix *string           `json:"document_prefix"`
		QueryLength    int               `json:"query_length"`
		DocumentLength int               `json:"document_length"`
		Expand         *bool             `json:"do_query_expansion"`
		Attend         bool              `json:"attend_to_expansion_tokens"`
		Skipped        *[]string         `json:"skiplist_words"`
		Similarity     string            `json:"similarity_fn_name"`
		Prompts        map[string]string `json:"prompts"`
		Default        string            `json:"default_prompt_name"`
	}
	if _, err := readJSON(dir, file, &f); err != nil {
		return err
	}
	switch {
	case f.Similarity != "MaxSim":
		return fmt.Errorf("modules.json: a Dense without a Pooling before it is of models that compare by MaxSim; %s says %q",
			file, f.Similarity)
	case f.Prompts[f.Default] != "":
		return fmt.Errorf("%s: default_prompt_name is not supported of models that compare by MaxSim", file)
	case m.dense.activation != "":
		return fmt.Errorf("the Dense behind the states has activation %s, which is not supported; Identity is",
			m.dense.activation)
	}
	c := colbert{queries: cmp.Or(f.QueryLength, 32), passages: cmp.Or(f.DocumentLength, 180), queryMark: "[Q] ",
		passageMark: "[D] ", expand: f.Expand == nil || *f.Expand, skipped: punctuation()}
	c.attendExpansion = f.Attend && c.expand
	if f.QueryPrefix != nil {
		c.queryMark = *f.QueryPrefix
	}
	if f.DocumentPrefix != nil {
		c.passageMark = *f.DocumentPrefix
	}
	if f.Skipped != nil {
		c.skipped = *f.Skipped
	}
	m.colbert = &c
	return nil
}

// readStanford reads a checkpoint of the library that came with the paper, which has its projection among the weights.
func (m *modules) readStanford(dir string, weights map[string]tensor) error {
	var hf struct {
		Architectures []string `json:"architectures"`
	}
	if m.colbert != nil {
		return nil
	}
	if _, err := readJSON(dir, "config.json", &hf); err != nil || !slices.Contains(hf.Architectures, "HF_ColBERT") {
		return err
	}
	const file = "artifact.metadata"
	f := struct {
		QueryToken  string `json:"query_token_id"`
		DocToken    string `json:"doc_token_id"`
		Queries     int    `json:"query_maxlen"`
		Passages    int    `json:"doc_maxlen"`
		Attend      bool   `json:"attend_to_mask_tokens"`
		Punctuation bool   `json:"mask_punctuation"`
		Similarity  string `json:"similarity"`
	}{"[unused0]", "[unused1]", 32, 220, false, true, "cosine"}
	if _, err := readJSON(dir, file, &f); err != nil {
		return err
	}
	if f.Similarity != "cosine" {
		return fmt.Errorf("%s: similarity %q is not supported; cosine is", file, f.Similarity)
	}
	t, ok := weights["linear.weight"]
	if !ok || len(t.dims) != 2 {
		return fmt.Errorf("tensor linear.weight is missing or has shape %v", t.dims)
	}
	from := builder{weights: weights}
	m.dense = &dense{in: t.dims[1], out: t.dims[0], weight: from.take("linear.weight", t.dims...),
		bias: make([]float32, t.dims[0])}
	m.colbert = &colbert{queries: f.Queries, passages: f.Passages, queryMark: f.QueryToken, passageMark: f.DocToken,
		expand: true, attendExpansion: f.Attend}
	if f.Punctuation {
		m.colbert.skipped = punctuation()
	}
	return errors.Join(from.errs...)
}

// settle fills in what the head reads of the tokenizer.
func (b *colbert) settle(c *Config, w words) error {
	c.QueryWindow, c.Expand, c.AttendExpansion = min(b.queries, c.MaxTokens), b.expand, b.attendExpansion
	for _, mark := range []struct {
		token string
		id    *int
	}{{b.queryMark, &c.QueryMark}, {b.passageMark, &c.PassageMark}} {
		if mark.token == "" {
			continue
		}
		if *mark.id, _ = w.oneOf(mark.token); *mark.id == 0 {
			return fmt.Errorf("tokenizer.json has no token %q, which the model has put before texts", mark.token)
		}
	}
	if _, ok := w.oneOf(maskNames...); b.expand && !ok {
		return errors.New("tokenizer.json has neither [MASK] nor <mask>, which queries are filled up with")
	}
	return nil
}

// tensors is what the pack keeps of it.
func (b *colbert) tensors(c Config, w words) []named {
	var ids []int
	var data []byte
	for _, token := range b.skipped {
		id, ok := w.oneOf(token)
		if !ok { // as the library has it: what stands for tokens that are not known is left out, too
			id = c.UnkID
		}
		if !slices.Contains(ids, id) {
			ids, data = append(ids, id), binary.LittleEndian.AppendUint32(data, uint32(id))
		}
	}
	if ids == nil {
		return nil
	}
	return []named{{"skip", Tensor{"I32", []int{len(ids)}, data}}}
}
