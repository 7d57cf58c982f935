package cohere

import (
	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Config is the operator's part.
type Config struct {
	BaseURL           string          `yaml:"base_url" help:"address of the API without its version, e.g. of a private deployment"`
	Model             string          `yaml:"model" help:"name of the model, e.g. embed-v4.0 or rerank-v3.5"`
	Task              string          `yaml:"task" enum:"embedding,rerank" help:"what the model does"`
	APIKey            registry.Secret `yaml:"api_key" help:"key sent as a bearer token; empty for servers without one"`
	Dimensions        int             `yaml:"dimensions" help:"embedding: how long its vectors are, e.g. 1536 for embed-v4.0, 1024 for embed-multilingual-v3.0"`
	RequestDimensions bool            `yaml:"request_dimensions" help:"embedding: ask for vectors of that length (output_dimension), of models that can shorten them"`
	QueryType         string          `yaml:"query_type" help:"embedding: input_type of queries"`
	PassageType       string          `yaml:"passage_type" help:"embedding: input_type of passages"`
	MaxInputTokens    int             `yaml:"max_input_tokens" help:"the model's window; longer texts are cut. rerank: of query and text together, sent as max_tokens_per_doc"`
	Batch             int             `yaml:"batch" help:"most texts in one call; for embeddings the server takes 96"`
	Revision          string          `yaml:"revision" help:"raise it when the model behind the name changes, then run 'mneme reindex'"`
	Licence           string          `yaml:"licence" help:"licence of the model as shown in GET /models"`
	remote.Calls
}

// Default is Cohere itself.
func Default() Config {
	return Config{
		BaseURL:        "https://api.cohere.com",
		Task:           string(port.TaskEmbed),
		QueryType:      "search_query",
		PassageType:    "search_document",
		MaxInputTokens: 4096,
		Batch:          96,
		Revision:       "1",
		Calls:          remote.DefaultCalls(),
	}
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
		Query:      "input_type " + c.QueryType,
		Passage:    "input_type " + c.PassageType,
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
	p.Check(c.Task == string(port.TaskEmbed) || c.Task == string(port.TaskRerank), "task", "must be embedding or rerank")
	p.Check(c.Batch >= 1 && c.Batch <= 1000 && (c.Batch <= 96 || c.Task == string(port.TaskRerank)), "batch",
		"must be 1-96, or 1-1000 for rerank")
	p.Check(c.QueryType != "" && c.PassageType != "", "query_type",
		"must not be empty, nor passage_type: the API demands an input_type")
	return p.Err()
}
