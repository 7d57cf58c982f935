package ollama

import (
	"time"

	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Config is the operator's part.
type Config struct {
	BaseURL           string          `yaml:"base_url" help:"address of the server"`
	Model             string          `yaml:"model" help:"name of the model as 'ollama list' shows it, e.g. nomic-embed-text or qwen3:8b"`
	Task              string          `yaml:"task" enum:"embedding,answer" help:"embedding: it makes vectors, for the role embed; answer: it writes answers, for the role synthesize"`
	APIKey            registry.Secret `yaml:"api_key" help:"key sent as a bearer token, for a server behind a proxy that asks for one"`
	Dimensions        int             `yaml:"dimensions" help:"embedding: how long its vectors are, e.g. 768 for nomic-embed-text"`
	RequestDimensions bool            `yaml:"request_dimensions" help:"embedding: ask for vectors of that length, of models that can shorten them"`
	QueryPrefix       string          `yaml:"query_prefix" help:"embedding: put before queries, as the model was trained, e.g. 'search_query: '"`
	PassagePrefix     string          `yaml:"passage_prefix" help:"embedding: put before passages, e.g. 'search_document: '"`
	MaxInputTokens    int             `yaml:"max_input_tokens" help:"embedding: the model's window; longer texts are cut"`
	Batch             int             `yaml:"batch" help:"embedding: most texts in one call"`
	KeepAlive         time.Duration   `yaml:"keep_alive" help:"how long the model stays loaded after a call; 0: as the server does"`
	ContextTokens     int             `yaml:"context_tokens" help:"length of the context that the model is loaded with (num_ctx); 0: as the server does"`
	Revision          string          `yaml:"revision" help:"raise it when the model behind the name changes, then run 'mneme reindex'"`
	Licence           string          `yaml:"licence" help:"licence of the model as shown in GET /models"`
	remote.Calls
}

// Default is an Ollama on this machine.
func Default() Config {
	return Config{BaseURL: "http://127.0.0.1:11434", Task: string(port.TaskEmbed), MaxInputTokens: 2048, Batch: 32, Revision: "1",
		Calls: remote.Calls{Timeout: 45 * time.Second, Retries: 2, Client: remote.DefaultClient()}}
}

func (c Config) endpoint() remote.Endpoint { return c.To(c.BaseURL, c.APIKey) }

func (c Config) model(id string) remote.Model {
	m := remote.Model{
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
	if m.Task == port.TaskSynthesize {
		m.Window = c.ContextTokens
	}
	return m
}

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	p := remote.Problems{}
	if err := c.endpoint().Validate(); err != nil {
		p = append(p, err)
	}
	c.model("").Check(&p)
	p.Check(c.Task == string(port.TaskEmbed) || c.Task == string(port.TaskSynthesize), "task", "must be embedding or answer")
	p.Check(c.Batch >= 1 && c.Batch <= 1024, "batch", "must be 1-1024")
	p.Check(c.KeepAlive >= 0 && c.KeepAlive <= 30*24*time.Hour, "keep_alive", "must be between 0s and 720h")
	p.Check(c.ContextTokens >= 0 && c.ContextTokens <= 1<<20, "context_tokens", "must be 0-1048576")
	return p.Err()
}
