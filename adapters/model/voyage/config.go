package voyage

import (
	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Config is the operator's part.
type Config struct {
	BaseURL           string          `yaml:"base_url" help:"address of the API with its version"`
	Model             string          `yaml:"model" help:"name of the model, e.g. voyage-3.5 or rerank-2.5"`
	Task              string          `yaml:"task" enum:"embedding,rerank" help:"what the model does"`
	APIKey            registry.Secret `yaml:"api_key" help:"key sent as a bearer token; empty for servers without one"`
	Dimensions        int             `yaml:"dimensions" help:"embedding: how long its vectors are, e.g. 1024 for voyage-3.5"`
	RequestDimensions bool            `yaml:"request_dimensions" help:"embedding: ask for vectors of that length (output_dimension), of models that can shorten them"`
	EncodingFormat    string          `yaml:"encoding_format" enum:"base64,float" help:"embedding: how vectors travel; base64 is a quarter of the size, float for servers that refuse it"`
	InputTypes        bool            `yaml:"input_types" help:"embedding: tell queries from documents by input_type"`
	MaxInputTokens    int             `yaml:"max_input_tokens" help:"the model's window; longer texts are cut. rerank: of query and text together"`
	Batch             int             `yaml:"batch" help:"most texts in one call; the server takes 1000"`
	Revision          string          `yaml:"revision" help:"raise it when the model behind the name changes, then run 'mneme reindex'"`
	Licence           string          `yaml:"licence" help:"licence of the model as shown in GET /models"`
	remote.Calls
}

// Default is Voyage itself.
func Default() Config {
	return Config{
		BaseURL:        "https://api.voyageai.com/v1",
		Task:           string(port.TaskEmbed),
		EncodingFormat: "base64",
		InputTypes:     true,
		MaxInputTokens: 32000,
		Batch:          128,
		Revision:       "1",
		Calls:          remote.DefaultCalls(),
	}
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
		Licence:    c.Licence,
	}
	if c.InputTypes {
		m.Query, m.Passage = "input_type query", "input_type document"
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
	p.Check(c.Task == string(port.TaskEmbed) || c.Task == string(port.TaskRerank), "task", "must be embedding or rerank")
	p.Check(c.Batch >= 1 && c.Batch <= 1000, "batch", "must be 1-1000")
	p.Check(c.EncodingFormat == "base64" || c.EncodingFormat == "float", "encoding_format", "must be base64 or float")
	return p.Err()
}
