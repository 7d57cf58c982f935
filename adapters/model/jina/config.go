package jina

import (
	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Config is the operator's part.
type Config struct {
	BaseURL           string          `yaml:"base_url" help:"address of the API with its version"`
	Model             string          `yaml:"model" help:"name of the model, e.g. jina-embeddings-v3 or jina-reranker-v2-base-multilingual"`
	Task              string          `yaml:"task" enum:"embedding,rerank" help:"what the model does"`
	APIKey            registry.Secret `yaml:"api_key" help:"key sent as a bearer token; empty for servers without one"`
	Dimensions        int             `yaml:"dimensions" help:"embedding: how long its vectors are, e.g. 1024 for jina-embeddings-v3"`
	RequestDimensions bool            `yaml:"request_dimensions" help:"embedding: ask for vectors of that length, of models that can shorten them"`
	QueryTask         string          `yaml:"query_task" help:"embedding: task named for queries; empty for models without tasks"`
	PassageTask       string          `yaml:"passage_task" help:"embedding: task named for passages; empty for models without tasks"`
	Scores            string          `yaml:"scores" enum:"probability,cosine,logit" help:"rerank: what relevance_score is. probability: 0-1; cosine: -1 to 1, as of jina-reranker-v3; logit: any number"`
	MaxInputTokens    int             `yaml:"max_input_tokens" help:"the model's window; longer texts are cut. rerank: of query and text together"`
	Batch             int             `yaml:"batch" help:"most texts in one call"`
	Revision          string          `yaml:"revision" help:"raise it when the model behind the name changes, then run 'mneme reindex'"`
	Licence           string          `yaml:"licence" help:"licence of the model as shown in GET /models"`
	remote.Calls
}

// Default is Jina itself.
func Default() Config {
	return Config{
		BaseURL:        "https://api.jina.ai/v1",
		Task:           string(port.TaskEmbed),
		QueryTask:      "retrieval.query",
		PassageTask:    "retrieval.passage",
		Scores:         string(remote.Probability),
		MaxInputTokens: 8192,
		Batch:          128,
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
		Query:      "task " + c.QueryTask,
		Passage:    "task " + c.PassageTask,
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
	p.Check(c.Batch >= 1 && c.Batch <= 2048, "batch", "must be 1-2048")
	s := remote.Scale(c.Scores)
	p.Check(s == remote.Probability || s == remote.Cosine || s == remote.Logit, "scores", "must be probability, cosine or logit")
	return p.Err()
}
