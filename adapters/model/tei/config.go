package tei

import (
	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Config is the operator's part.
type Config struct {
	BaseURL           string          `yaml:"base_url" help:"address of the server, e.g. http://127.0.0.1:8081"`
	Model             string          `yaml:"model" help:"id of the model that the server was started with, e.g. BAAI/bge-base-en-v1.5; another one is refused"`
	Task              string          `yaml:"task" enum:"embedding,sparse,rerank" help:"what the model does"`
	APIKey            registry.Secret `yaml:"api_key" help:"key sent as a bearer token; empty for servers without one"`
	Dimensions        int             `yaml:"dimensions" help:"embedding: how long its vectors are, e.g. 768 for bge-base"`
	RequestDimensions bool            `yaml:"request_dimensions" help:"embedding: ask for vectors of that length, of models that can shorten them"`
	QueryPrefix       string          `yaml:"query_prefix" help:"embedding: put before queries, as the model was trained, e.g. 'query: '"`
	PassagePrefix     string          `yaml:"passage_prefix" help:"embedding: put before passages"`
	QueryPrompt       string          `yaml:"query_prompt" help:"embedding, sparse: name of the model's own prompt for queries (prompt_name), instead of a prefix"`
	PassagePrompt     string          `yaml:"passage_prompt" help:"embedding, sparse: name of the model's own prompt for passages"`
	RawScores         bool            `yaml:"raw_scores" help:"rerank: ask for logits and turn them into probabilities here, for servers that do not themselves"`
	MaxInputTokens    int             `yaml:"max_input_tokens" help:"the model's window; longer texts are cut"`
	Batch             int             `yaml:"batch" help:"most texts in one call; the server's --max-client-batch-size is 32 unless set"`
	Revision          string          `yaml:"revision" help:"the commit of the model as /info says in model_sha, which is then checked; or any other word, to be changed when the model changes. Run 'mneme reindex' after a change."`
	Licence           string          `yaml:"licence" help:"licence of the model as shown in GET /models"`
	remote.Calls
}

// Default is an embedder with the server's own limits.
func Default() Config {
	return Config{Task: string(port.TaskEmbed), MaxInputTokens: 512, Batch: 32, Revision: "1",
		Calls: remote.DefaultCalls()}
}

func (c Config) endpoint() remote.Endpoint { return c.To(c.BaseURL, c.APIKey) }

func (c Config) model(id string) remote.Model {
	side := func(prefix, prompt string) string {
		if prompt != "" {
			return "prompt " + prompt
		}
		return prefix
	}
	return remote.Model{
		ID:         id,
		Name:       c.Model,
		Task:       port.Task(c.Task),
		Revision:   c.Revision,
		Dimensions: c.Dimensions,
		Window:     c.MaxInputTokens,
		Query:      side(c.QueryPrefix, c.QueryPrompt),
		Passage:    side(c.PassagePrefix, c.PassagePrompt),
		Licence:    c.Licence,
	}
}

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	p := remote.Problems{}
	if err := c.endpoint().Validate(); err != nil {
		p = append(p, err)
	}
	c.model("").Check(&p)
	p.Check(c.Task == string(port.TaskEmbed) || c.Task == string(port.TaskSparse) || c.Task == string(port.TaskRerank),
		"task", "must be embedding, sparse or rerank")
	p.Check(c.Batch >= 1 && c.Batch <= 4096, "batch", "must be 1-4096")
	p.Check(c.QueryPrefix == "" || c.QueryPrompt == "", "query_prompt", "stands instead of query_prefix: set one")
	p.Check(c.PassagePrefix == "" || c.PassagePrompt == "", "passage_prompt", "stands instead of passage_prefix: set one")
	return p.Err()
}
