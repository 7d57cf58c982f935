package pack

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const pylateModules = `[{"type":"sentence_transformers.models.Transformer","path":""},` +
	`{"type":"pylate.models.Dense.Dense","path":"1_Dense"}]`

// late is a checkpoint of RoBERTa with a projection of 8 values behind each state, as PyLate writes it.
func late(t *testing.T, settings map[string]any) string {
	t.Helper()
	dir := family(t, roberta, robertaPost, nil)
	all := map[string]any{"similarity_fn_name": "MaxSim", "query_prefix": "a", "document_prefix": "b",
		"query_length": 6, "document_length": 10, "skiplist_words": []string{"c", "unheard", "also"}}
	maps.Copy(all, settings)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	_, weights := asSafetensors(same)(map[string]tensor{"linear.weight": filled(1, 8, 16)})
	for name, b := range map[string][]byte{
		"modules.json":                      []byte(pylateModules),
		"config_sentence_transformers.json": text,
		"1_Dense/config.json": []byte(`{"in_features":16,"out_features":8,"bias":false,` +
			`"activation_function":"torch.nn.modules.linear.Identity"}`),
		"1_Dense/model.safetensors": weights,
	} {
		write(t, dir, name, b)
	}
	return dir
}

// stanford is the same in the form of ColBERT's makers.
func stanford(t *testing.T, metadata string) string {
	t.Helper()
	dir := family(t, roberta, robertaPost, func(w map[string]tensor) { w["linear.weight"] = filled(1, 8, 16) })
	config := strings.NewReplacer(`"bert"`, `"roberta","architectures":["HF_ColBERT"]`,
		`"max_position_embeddings":12`, `"max_position_embeddings":14,"pad_token_id":1`).Replace(tinyConfig)
	write(t, dir, "config.json", []byte(config))
	if metadata != "" {
		write(t, dir, "artifact.metadata", []byte(metadata))
	}
	return dir
}

// TestColBERT: how such a model reads texts is taken from its library's files, and what they leave out is as the
// library has it.
func TestColBERT(t *testing.T) {
	type reading struct {
		QueryWindow, QueryMark, PassageMark, MaxTokens, MaskID int
		Expand, AttendExpansion                                bool
		Skipped                                                []int32
	}
	none := ""
	for name, c := range map[string]struct {
		dir  string
		o    Options
		want reading
	}{
		// <unk> is 3: that is what words are which the tokenizer does not know.
		"PyLate": {late(t, nil), Options{}, reading{6, 5, 6, 10, 4, true, false, []int32{7, 3}}},
		"PyLate, attended to": {late(t, map[string]any{"attend_to_expansion_tokens": true}), Options{},
			reading{6, 5, 6, 10, 4, true, true, []int32{7, 3}}},
		"PyLate, as it is": {late(t, map[string]any{"do_query_expansion": false, "attend_to_expansion_tokens": true,
			"query_prefix": none, "document_prefix": none, "skiplist_words": []string{}}), Options{},
			reading{6, 0, 0, 10, 4, false, false, nil}},
		"PyLate, longer than the positions": {late(t, map[string]any{"query_length": nil, "document_length": nil}), Options{},
			reading{12, 5, 6, 12, 4, true, false, []int32{7, 3}}},
		"PyLate's of its makers' form": {func() string {
			dir := late(t, nil)
			copyOf(t, stanford(t, ""), dir, "config.json")
			return dir
		}(), Options{}, reading{6, 5, 6, 10, 4, true, false, []int32{7, 3}}},
		"without a form of pairs": {func() string {
			dir := late(t, nil)
			write(t, dir, "tokenizer.json", words8(t, `{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}},`+
				`{"Sequence":{"id":"A"}},{"SpecialToken":{"id":"</s>"}}],`+
				`"pair":[{"Sequence":{"id":"A"}},{"Sequence":{"id":"B"}}],`+
				`"special_tokens":{"<s>":{"ids":[0]},"</s>":{"ids":[2]}}}`))
			return dir
		}(), Options{}, reading{6, 5, 6, 10, 4, true, false, []int32{7, 3}}},
		"another window": {late(t, nil), Options{MaxTokens: 8}, reading{6, 5, 6, 8, 4, true, false, []int32{7, 3}}},
		"its makers": {stanford(t, `{"query_token_id":"a","doc_token_id":"b","query_maxlen":7,"doc_maxlen":9,`+
			`"attend_to_mask_tokens":true}`), Options{}, reading{7, 5, 6, 9, 4, true, true, []int32{3}}},
		"its makers, punctuation kept": {stanford(t, `{"query_token_id":"a","doc_token_id":"b","mask_punctuation":false}`),
			Options{}, reading{12, 5, 6, 12, 4, true, false, nil}},
	} {
		f, _ := packed(t, c.dir, c.o)
		k := f.Config
		got := reading{k.QueryWindow, k.QueryMark, k.PassageMark, k.MaxTokens, k.MaskID, k.Expand, k.AttendExpansion, nil}
		for raw := f.Tensors["skip"].Data; len(raw) > 0; raw = raw[4:] {
			got.Skipped = append(got.Skipped, int32(binary.LittleEndian.Uint32(raw)))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if k.Task != Rerank || k.Head != ColBERT || k.Format != 3 || k.Dense != 8 ||
			!slices.Equal(f.Tensors["dense.weight"].Shape, []int{8, 16}) {
			t.Errorf("%s: %+v", name, k)
		}
		if _, there := f.Tensors["skip"]; there != (c.want.Skipped != nil) {
			t.Errorf("%s: tokens that are not compared: %v", name, there)
		}
	}
	mean, err := Parse(packOf(t, late(t, map[string]any{"query_length": 40, "document_length": 40}), Options{}))
	if err != nil || mean.Config.QueryWindow != 12 {
		t.Errorf("a query longer than the positions: %d, %v", mean.Config.QueryWindow, err)
	}
}

// TestColBERTOfTheDefaults: PyLate's own marks and windows.
func TestColBERTOfTheDefaults(t *testing.T) {
	dir := modern(t, `,"local_attention":128`, nil)
	from := late(t, map[string]any{"query_prefix": nil, "document_prefix": nil, "query_length": nil, "document_length": nil,
		"skiplist_words": nil})
	copyLate(t, from, dir)
	write(t, dir, "tokenizer.json", []byte(strings.Replace(strings.Replace(string(words8(t, robertaPost)), `"a":`, `"[Q] ":`, 1),
		`"b":`, `"[D] ":`, 1)))
	f, _ := packed(t, dir, Options{})
	if k := f.Config; k.QueryMark != 5 || k.PassageMark != 6 || k.QueryWindow != 32 || k.MaxTokens != 64 || !k.Expand ||
		k.Pooling != "mean" || len(f.Tensors["skip"].Data) != 4 {
		t.Errorf("%+v, skipped %v", k, f.Tensors["skip"])
	}
}

// TestColBERTRefused: what would be compared in another way is refused, and so is a pack that says what cannot be.
func TestColBERTRefused(t *testing.T) {
	with := func(dir, name, text string) string {
		write(t, dir, name, []byte(text))
		return dir
	}
	const dense = `{"in_features":16,"out_features":%,"bias":false,"activation_function":"torch.nn.Identity"}`
	said := func(key string, value any) string { return late(t, map[string]any{key: value}) }
	prompts := map[string]any{"prompts": map[string]string{"x": "y"}, "default_prompt_name": "x"}
	narrow := strings.Replace(dense, "%", "4", 1)
	tanh := strings.NewReplacer("%", "8", "Identity", "Tanh").Replace(dense)
	pooledBehind := strings.Replace(pylateModules, "]", `,{"type":"Pooling","path":"2"}]`, 1)
	unmasked := strings.Replace(string(words8(t, robertaPost)), "mask", "other", 1)
	without := with(family(t, roberta, robertaPost, nil), "config.json",
		`{"model_type":"roberta","architectures":["HF_ColBERT"]}`)
	for want, dir := range map[string]string{
		`config_sentence_transformers.json says ""`:           said("similarity_fn_name", nil),
		"default_prompt_name is not supported of models":      late(t, prompts),
		`tokenizer.json has no token "[Q] "`:                  said("query_prefix", nil),
		`tokenizer.json has no token "[D] "`:                  said("document_prefix", nil),
		`tokenizer.json has no token "<s>"`:                   said("document_prefix", "<s>"),
		"query_window is 3, want 4 to 10":                     said("query_length", 3),
		"has activation tanh, which is not supported":         with(late(t, nil), "1_Dense/config.json", tanh),
		"tensor linear.weight has shape [8 16], want [4 16]":  with(late(t, nil), "1_Dense/config.json", narrow),
		"a Pooling at this place is not supported":            with(late(t, nil), "modules.json", pooledBehind),
		"has neither [MASK] nor <mask>":                       with(late(t, nil), "tokenizer.json", unmasked),
		`artifact.metadata: similarity "l2" is not supported`: stanford(t, `{"similarity":"l2"}`),
		`tokenizer.json has no token "[unused0]"`:             stanford(t, ""),
		"tensor linear.weight is missing":                     without,
		"causal models and with a bias of attention":          colbertOf(t, mpnet),
	} {
		if _, err := Pack(t.Context(), dir, filepath.Join(t.TempDir(), "out"), Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	for want, o := range map[string]Options{"is packed for task rerank, not for embedding": {Task: Embedding},
		"dimensions and dense_activation are not of head": {Dimensions: 8}} {
		if _, err := Pack(t.Context(), late(t, nil), filepath.Join(t.TempDir(), "out"), o); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	good, _ := packed(t, late(t, nil), Options{})
	for want, change := range map[string]func(*Config){
		"head colbert is of format 3":                     func(c *Config) { c.Format = 2 },
		"dense is 6, of head colbert want a multiple of":  func(c *Config) { c.Dense = 6 },
		"dense is 20, of head colbert want a multiple of": func(c *Config) { c.Dense = 20 },
		"dense is 0, of head colbert want a multiple of":  func(c *Config) { c.Dense = 0 },
		"query_window is 11, want 4 to 10":                func(c *Config) { c.QueryWindow = 11 },
		"query_mark is 8, want 1 to 7":                    func(c *Config) { c.QueryMark = 8 },
		"passage_mark is -1, want 1 to 7":                 func(c *Config) { c.PassageMark = -1 },
		"dimensions and dense_activation are not of head": func(c *Config) { c.DenseActivation = "tanh" },
		"attend_expansion are of head colbert":            func(c *Config) { c.Head = Plain },
		"query_window, query_mark, passage_mark":          func(c *Config) { c.Task, c.Head, c.Calibration = Embedding, "", nil },
		"causal models and with a bias":                   func(c *Config) { c.Causal = true },
	} {
		c := good.Config
		if change(&c); c.Validate() == nil || !strings.Contains(c.Validate().Error(), want) {
			t.Errorf("got %v, want %q", c.Validate(), want)
		}
	}
	for _, one := range []func(*Config){func(c *Config) { c.QueryWindow = 6 }, func(c *Config) { c.QueryMark = 5 },
		func(c *Config) { c.PassageMark = 5 }, func(c *Config) { c.Expand = true },
		func(c *Config) { c.AttendExpansion = true }} {
		c := good.Config
		c.Head, c.QueryWindow, c.QueryMark, c.PassageMark, c.Expand, c.Dense = Plain, 0, 0, 0, false, 0
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		if one(&c); c.Validate() == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	near := good.Config
	near.Spans, near.Reach = "l", 5
	if err := near.Validate(); err == nil || strings.Contains(err.Error(), "do not see all of") {
		t.Errorf("a window of 6 within a reach of 5: %v", err)
	}
	if near.Reach = 4; !strings.Contains(near.Validate().Error(), "local layers of reach 4 do not see all of") {
		t.Errorf("a window of 6 and a reach of 4: %v", near.Validate())
	}
	if near.AttendExpansion = true; strings.Contains(near.Validate().Error(), "do not see all of") {
		t.Errorf("attended to: %v", near.Validate())
	}
	broken := &File{Config: good.Config, Tensors: maps.Clone(good.Tensors)}
	for want, skip := range map[string]Tensor{"tensor skip is I64 [1], want I32": {"I64", []int{1}, make([]byte, 8)},
		"tensor skip is I32 [1 1], want I32": {"I32", []int{1, 1}, make([]byte, 4)},
		"tensor skip is I32 [4097], want I3": {"I32", []int{4097}, nil}} {
		broken.Tensors["skip"] = skip
		if err := broken.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	delete(broken.Tensors, "dense.weight")
	broken.Tensors["skip"] = Tensor{"I32", []int{4096}, nil}
	if err := broken.check(); err == nil || !strings.Contains(err.Error(), "dense.weight is missing") ||
		strings.Contains(err.Error(), "skip") {
		t.Errorf("got %v", err)
	}
}

// colbertOf is late over another architecture.
func colbertOf(t *testing.T, modelType string) string {
	t.Helper()
	dir := family(t, modelType, robertaPost, nil)
	copyLate(t, late(t, nil), dir)
	return dir
}

// copyLate copies what PyLate keeps beside a checkpoint.
func copyLate(t *testing.T, from, to string) {
	t.Helper()
	for _, name := range []string{"modules.json", "config_sentence_transformers.json", "1_Dense/config.json",
		"1_Dense/model.safetensors"} {
		copyOf(t, from, to, name)
	}
}

func copyOf(t *testing.T, from, to, name string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(from, name))
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, name, b)
}
