package openai

import (
	"errors"
	"net/url"
	"time"

	"github.com/mnemehq/mneme/core/registry"
)

// Config is the operator's part.
type Config struct {
	BaseURL     string          `yaml:"base_url" help:"address of the API with its version, e.g. https://api.openai.com/v1 or http://127.0.0.1:11434/v1"`
	Model       string          `yaml:"model" help:"name of the model there"`
	APIKey      registry.Secret `yaml:"api_key" help:"key sent as a bearer token; empty for servers without one"`
	Timeout     time.Duration   `yaml:"timeout" help:"longest time one answer may take, retries included"`
	Retries     int             `yaml:"retries" help:"times a call is repeated after 429, 5xx or a lost connection, waiting as the server asks"`
	TokensField string          `yaml:"tokens_field" enum:"max_tokens,max_completion_tokens" help:"how the server calls the bound on an answer; OpenAI's reasoning models want max_completion_tokens"`
	Licence     string          `yaml:"licence" help:"licence of the model as shown in GET /models"`
}

// Default is a call of at most 45 s, which leaves a recall of 60 s time to answer without it.
func Default() Config {
	return Config{Timeout: 45 * time.Second, Retries: 2, TokensField: "max_tokens"}
}

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	var errs []error
	invalid := func(path, reason string) { errs = append(errs, &registry.Invalid{Path: path, Reason: reason}) }
	if u, err := url.Parse(c.BaseURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		invalid("base_url", "must be an http or https address without user or query")
	}
	if c.Model == "" {
		invalid("model", "must name a model")
	}
	if c.Timeout < 100*time.Millisecond || c.Timeout > 10*time.Minute {
		invalid("timeout", "must be between 100ms and 10m")
	}
	if c.Retries < 0 || c.Retries > 10 {
		invalid("retries", "must be 0-10")
	}
	if c.TokensField != "max_tokens" && c.TokensField != "max_completion_tokens" {
		invalid("tokens_field", "must be max_tokens or max_completion_tokens")
	}
	return errors.Join(errs...)
}
