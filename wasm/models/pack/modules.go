package pack

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// modules are what sentence-transformers does with the states of a checkpoint, as
// modules.json and the folders that it names say.
type modules struct {
	pooled        bool   // there is a Pooling
	pooling       string // "mean", "cls" or "last"
	withoutPrompt bool   // states of the prompt are left out of the pooling
	dense         *dense // the layer behind the pooling, or with colbert behind each state; nil: none
	colbert       *colbert
}

// dense is a linear layer behind the pooling: one or several without anything between them.
type dense struct {
	in, out    int
	weight     []float32 // [out][in]
	bias       []float32
	activation string // "" or "tanh"
}

// task is what a checkpoint is packed for.
func (m modules) task(o Options, weights map[string]tensor) Task {
	guess := Rerank
	if m.colbert == nil {
		guess = taskOf(weights, m.pooled)
	}
	return cmp.Or(o.Task, guess)
}

func (d *dense) tensors() []named {
	b := builder{}
	b.matrix("dense", d.weight, d.out, d.in)
	b.floats("dense.bias", d.bias, d.out)
	return b.out
}

// readModules reads them and refuses a model whose vectors would be others. Without
// modules.json there may be a Pooling alone.
func readModules(dir string) (modules, error) {
	var list []struct {
		Type string `json:"type"`
		Path string `json:"path"`
	}
	found, err := readJSON(dir, "modules.json", &list)
	if err != nil {
		return modules{}, err
	}
	var m modules
	if !found {
		err := m.readPooling(dir, "1_Pooling")
		return m, err
	}
	normalized := false
	for _, one := range list {
		kind := one.Type[strings.LastIndex(one.Type, ".")+1:]
		if one.Path != "" && !filepath.IsLocal(one.Path) {
			return modules{}, fmt.Errorf("modules.json: the path %q leaves the folder", one.Path)
		}
		switch {
		case kind == "Transformer":
		case kind == "Normalize":
			normalized = true
		case kind == "Pooling" && !m.pooled && m.dense == nil && !normalized:
			err = m.readPooling(dir, cmp.Or(one.Path, "1_Pooling"))
		case kind == "Dense" && !normalized:
			err = m.readDense(dir, one.Path)
		case kind == "Pooling" || kind == "Dense":
			err = fmt.Errorf("modules.json: a %s at this place is not supported; Transformer, Pooling, Dense, Normalize is the "+
				"order", kind)
		default:
			err = fmt.Errorf("modules.json: a module %s is not supported; Transformer, Pooling, Dense and Normalize are",
				one.Type)
		}
		if err != nil {
			return modules{}, err
		}
	}
	if m.dense != nil && !m.pooled {
		err = m.readPyLate(dir)
	}
	return m, err
}

// readPooling reads the folder of a Pooling: one mode by name, as sentence-transformers 6
// writes it, or a switch for each.
func (m *modules) readPooling(dir, folder string) error {
	var p struct {
		Mode     any   `json:"pooling_mode"`
		CLS      bool  `json:"pooling_mode_cls_token"`
		Mean     bool  `json:"pooling_mode_mean_tokens"`
		Max      bool  `json:"pooling_mode_max_tokens"`
		Sqrt     bool  `json:"pooling_mode_mean_sqrt_len_tokens"`
		Weighted bool  `json:"pooling_mode_weightedmean_tokens"`
		Last     bool  `json:"pooling_mode_lasttoken"`
		Prompt   *bool `json:"include_prompt"`
	}
	name := filepath.Join(folder, "config.json")
	found, err := readJSON(dir, name, &p)
	if err != nil || !found {
		return err
	}
	var modes []string
	switch mode := p.Mode.(type) {
	case nil:
		for name, on := range map[string]bool{"cls": p.CLS, "mean": p.Mean, "max": p.Max, "mean_sqrt_len_tokens": p.Sqrt,
			"weightedmean": p.Weighted, "lasttoken": p.Last} {
			if on {
				modes = append(modes, name)
			}
		}
	case string:
		modes = []string{mode}
	}
	known := map[string]string{"mean": "mean", "cls": "cls", "lasttoken": "last"}
	if len(modes) != 1 || known[modes[0]] == "" { // of several modes sentence-transformers joins the vectors
		return fmt.Errorf("%s: only mean, CLS or last-token pooling alone is supported", name)
	}
	m.pooled, m.pooling = true, known[modes[0]]
	m.withoutPrompt = p.Prompt != nil && !*p.Prompt
	return nil
}

// readDense reads the folder of a Dense. One behind another becomes one, which is the same
// where nothing is between them.
func (m *modules) readDense(dir, folder string) error {
	var c struct {
		In         int    `json:"in_features"`
		Out        int    `json:"out_features"`
		Bias       *bool  `json:"bias"`
		Activation string `json:"activation_function"`
		Input      string `json:"module_input_name"`
		Output     string `json:"module_output_name"`
		Residual   bool   `json:"use_residual"`
	}
	name := filepath.Join(folder, "config.json")
	if found, err := readJSON(dir, name, &c); err != nil {
		return err
	} else if !found {
		return fmt.Errorf("%s is missing", name)
	}
	d := dense{in: c.In, out: c.Out}
	const vector = "sentence_embedding"
	switch c.Activation[strings.LastIndex(c.Activation, ".")+1:] {
	case "Tanh", "":
		d.activation = "tanh"
	case "Identity":
	default:
		return fmt.Errorf("%s: activation_function %s is not supported; Identity and Tanh are", name, c.Activation)
	}
	switch {
	case c.Residual:
		return fmt.Errorf("%s: use_residual is not supported", name)
	case cmp.Or(c.Input, vector) != vector || cmp.Or(c.Output, vector) != vector:
		return fmt.Errorf("%s: module_input_name and module_output_name other than %s are not supported", name, vector)
	case d.in < 1 || d.in > 1<<14 || d.out < 1 || d.out > 1<<14:
		return fmt.Errorf("%s: in_features %d and out_features %d must be 1 to 16384", name, d.in, d.out)
	case m.dense != nil && m.dense.activation != "":
		return fmt.Errorf("%s: a Dense behind one with %s is not supported", name, m.dense.activation)
	case m.dense != nil && m.dense.out != d.in:
		return fmt.Errorf("%s: in_features is %d, the Dense before it gives %d", name, d.in, m.dense.out)
	}
	file := filepath.Join(folder, "model.safetensors")
	b, err := os.ReadFile(filepath.Join(dir, file))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is missing; save the model with safe_serialization=True", file)
	} else if err != nil {
		return err
	}
	weights, err := readCheckpoint(b)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	from := &builder{weights: weights}
	d.weight = from.take("linear.weight", d.out, d.in)
	if d.bias = make([]float32, d.out); c.Bias == nil || *c.Bias {
		d.bias = from.take("linear.bias", d.out)
	}
	if err := errors.Join(from.errs...); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if m.dense != nil {
		d = m.dense.then(d)
	}
	m.dense = &d
	return nil
}

// then is d and next as one layer.
func (d *dense) then(next dense) dense {
	sum := make([]float64, d.in)
	out := dense{in: d.in, out: next.out, weight: make([]float32, 0, next.out*d.in), bias: slices.Clone(next.bias),
		activation: next.activation}
	for r := range next.out {
		clear(sum)
		bias := float64(next.bias[r])
		for k := range d.out {
			w := float64(next.weight[r*d.out+k])
			bias += w * float64(d.bias[k])
			for i, x := range d.weight[k*d.in : (k+1)*d.in] {
				sum[i] += w * float64(x)
			}
		}
		for _, x := range sum {
			out.weight = append(out.weight, float32(x))
		}
		out.bias[r] = float32(bias)
	}
	return out
}

// The names that models give what they want before queries and passages, the usual ones first.
var (
	queryPrompts   = []string{"query", "search_query", "web_search_query", "retrieval.query", "Retrieval-query"}
	passagePrompts = []string{"passage", "document", "search_document", "corpus", "retrieval.passage", "Retrieval-document"}
)

// settings reads what sentence-transformers keeps beside a checkpoint: window and
// prompts. Each file may be absent.
func (m modules) settings(dir string, c *Config) error {
	c.Pooling = cmp.Or(m.pooling, c.Pooling)
	if m.colbert != nil { // whose windows are its own, and whose prompts are marks
		c.MaxTokens = min(m.colbert.passages, c.Positions)
		return nil
	}
	var window struct {
		Max int `json:"max_seq_length"`
	}
	if _, err := readJSON(dir, "sentence_bert_config.json", &window); err != nil {
		return err
	}
	if window.Max > 0 {
		c.MaxTokens = min(window.Max, c.Positions)
	}
	var prompts struct {
		Prompts map[string]string `json:"prompts"`
		Default string            `json:"default_prompt_name"`
	}
	if _, err := readJSON(dir, "config_sentence_transformers.json", &prompts); err != nil {
		return err
	}
	prompt := func(names []string) string {
		for _, name := range append(names, prompts.Default) {
			if text, ok := prompts.Prompts[name]; ok {
				return text
			}
		}
		return ""
	}
	c.QueryPrefix, c.PassagePrefix = prompt(queryPrompts), prompt(passagePrompts)
	return nil
}
