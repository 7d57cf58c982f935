package openai_test

import (
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/model/openai"
	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/adapters/model/remotetest"
	"github.com/mnemehq/mneme/core/port"
)

// opener opens a model of a task on a server of the test.
func opener(change func(*openai.Config)) remotetest.Open {
	return func(t testing.TB, s remotetest.Setup) (port.Model, *remotetest.Server) {
		t.Helper()
		server := remotetest.OpenAI(t, s.Server)
		c := openai.Default()
		c.BaseURL, c.Model, c.Dimensions, c.MaxInputTokens, c.Batch = server.URL+"/v1", "m", 48, s.Window, s.Batch
		c.APIKey, c.Calls = s.Endpoint.Key, s.Endpoint.Calls
		change(&c)
		return remotetest.Configured(t, openai.Register, "openai", &c), server
	}
}

func embeds(c *openai.Config) { c.Task = string(port.TaskEmbed) }

func TestEmbedding(t *testing.T) {
	t.Run("base64", func(t *testing.T) { remotetest.Embedding(t, opener(embeds)) })
	t.Run("float", func(t *testing.T) {
		remotetest.Embedding(t, opener(func(c *openai.Config) { embeds(c); c.EncodingFormat = "float" }))
	})
	t.Run("faults", func(t *testing.T) { remotetest.Faults(t, opener(embeds)) })
}

func TestAnswering(t *testing.T) {
	remotetest.Answering(t, opener(func(*openai.Config) {}))
	t.Run("faults", func(t *testing.T) { remotetest.Faults(t, opener(func(*openai.Config) {})) })
}

// Prefixes tell queries from passages, and shorter vectors are asked for by name.
func TestRequest(t *testing.T) {
	m, server := opener(func(c *openai.Config) {
		embeds(c)
		c.QueryPrefix, c.PassagePrefix, c.RequestDimensions, c.Dimensions = "query: ", "passage: ", true, 32
	})(t, remotetest.Setup{Batch: 8, Window: 512, Endpoint: remote.Endpoint{Calls: remote.DefaultCalls()}})
	query, passage := remotetest.Sent(t, m, server)
	if query["input"].([]any)[0] != "query: text" || passage["input"].([]any)[0] != "passage: text" ||
		query["dimensions"] != 32.0 || query["encoding_format"] != "base64" {
		t.Errorf("sent %v and %v", query, passage)
	}
}

func TestEmbeddingConfig(t *testing.T) {
	for name, change := range map[string]func(*openai.Config){
		"dimensions": func(c *openai.Config) { c.Dimensions = 0 }, "batch": func(c *openai.Config) { c.Batch = 2049 },
		"task":             func(c *openai.Config) { c.Task = "rerank" },
		"encoding_format":  func(c *openai.Config) { c.EncodingFormat = "int8" },
		"max_input_tokens": func(c *openai.Config) { c.MaxInputTokens = 1 },
	} {
		c := openai.Default()
		c.BaseURL, c.Model, c.Dimensions = "http://127.0.0.1/v1", "m", 8
		embeds(&c)
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
