package openai

import (
	"time"

	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Config is the operator's part.
type Config struct {
	BaseURL           string          `yaml:"base_url" help:"address of the API with its version, e.g. https://api.openai.com/v1 or http://127.0.0.1:11434/v1"`
	Model             string          `yaml:"model" help:"name of the model there"`
	Task              string          `yaml:"task" enum:"answer,embedding" help:"answer: it writes answers, for the role synthesize; embedding: it makes vectors, for the role embed"`
	APIKey            registry.Secret `yaml:"api_key" help:"key sent as a bearer token; empty for servers without one"`
	Dimensions        int             `yaml:"dimensions" help:"embedding: how long its vectors are, e.g. 1536 for text-embedding-3-small"`
	RequestDimensions bool            `yaml:"request_dimensions" help:"embedding: ask for vectors of that length, of models that can shorten them"`
	EncodingFormat    string          `yaml:"encoding_format" enum:"base64,float" help:"embedding: how vectors travel; base64 is a quarter of the size, float for servers that refuse it"`
	QueryPrefix       string          `yaml:"query_prefix" help:"embedding: put before queries, as the model was trained, e.g. 'query: '"`
	PassagePrefix     string          `yaml:"passage_prefix" help:"embedding: put before passages"`
	MaxInputTokens    int             `yaml:"max_input_tokens" help:"embedding: the model's window; longer texts are cut"`
	Batch             int             `yaml:"batch" help:"embedding: most texts in one call"`
	Revision          string          `yaml:"revision" help:"raise it when the model behind the name changes, then run 'mneme reindex'"`
	Licence           string          `yaml:"licence" help:"licence of the model as shown in GET /models"`
	TokensField       string          `yaml:"tokens_field" enum:"max_tokens,max_completion_tokens" help:"answer: how the server calls the bound on an answer; OpenAI's reasoning models want max_completion_tokens"`
	remote.Calls
}

// Default is a call of at most 45 s, which leaves a recall of 60 s time to answer without it.
func Default() Config {
	return Config{Task: string(port.TaskSynthesize), EncodingFormat: "base64", MaxInputTokens: 8192, Batch: 128, Revision: "1",
		TokensField: "max_tokens", Calls: remote.Calls{Timeout: 45 * time.Second, Retries: 2, Client: remote.DefaultClient()}}
}

func (c Config) endpoint() remote.Endpoint { return c.To(c.BaseURL, c.APIKey) }

func (c Config) model(id string) remote.Model {
	return remote.Model{
		ID:         id,
		Name:       c.Model,
		Task:       port.Task(c.Task),
		Revision:   c.Revision,
		Dimensions: c.Dimensions,
		Window:     c.MaxInputTokens,
		Query:      c.QueryPrefix,
		Passage:    c.PassagePrefix,
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
	p.Check(c.Task == string(port.TaskSynthesize) || c.Task == string(port.TaskEmbed), "task", "must be answer or embedding")
	p.Check(c.TokensField == "max_tokens" || c.TokensField == "max_completion_tokens", "tokens_field",
		"must be max_tokens or max_completion_tokens")
	p.Check(c.EncodingFormat == "base64" || c.EncodingFormat == "float", "encoding_format", "must be base64 or float")
	p.Check(c.Batch >= 1 && c.Batch <= 2048, "batch", "must be 1-2048")
	return p.Err()
}
