package cohere_test

import (
	"testing"

	"github.com/mnemehq/mneme/adapters/model/cohere"
	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/adapters/model/remotetest"
	"github.com/mnemehq/mneme/core/port"
)

// opener opens a model of a task on a server of the test.
func opener(task port.Task, change func(*cohere.Config)) remotetest.Open {
	return func(t testing.TB, s remotetest.Setup) (port.Model, *remotetest.Server) {
		t.Helper()
		server := remotetest.Cohere(t, s.Server)
		c := cohere.Default()
		c.BaseURL, c.Model, c.Task, c.Dimensions, c.MaxInputTokens, c.Batch = server.URL+"", "m", string(task), 48,
			s.Window, s.Batch
		c.APIKey, c.Calls = s.Endpoint.Key, s.Endpoint.Calls
		if change != nil {
			change(&c)
		}
		return remotetest.Configured(t, cohere.Register, "cohere", &c), server
	}
}

func TestEmbedding(t *testing.T) {
	remotetest.Embedding(t, opener(port.TaskEmbed, nil))
	t.Run("faults", func(t *testing.T) { remotetest.Faults(t, opener(port.TaskEmbed, nil)) })
}

func TestReranking(t *testing.T) {
	remotetest.Reranking(t, opener(port.TaskRerank, nil))
	t.Run("faults", func(t *testing.T) { remotetest.Faults(t, opener(port.TaskRerank, nil)) })
}

// Queries and passages are told apart, and shorter vectors asked for by name.
func TestRequest(t *testing.T) {
	m, server := opener(port.TaskEmbed, func(c *cohere.Config) { c.RequestDimensions, c.Dimensions = true, 32 })(t,
		remotetest.Setup{Batch: 96, Window: 512, Endpoint: remote.Endpoint{Calls: remote.DefaultCalls()}})
	query, passage := remotetest.Sent(t, m, server)
	if query["input_type"] != "search_query" || passage["input_type"] != "search_document" ||
		query["output_dimension"] != 32.0 || query["truncate"] != "END" {
		t.Errorf("sent %v and %v", query, passage)
	}
}

func TestConfig(t *testing.T) {
	valid := cohere.Default()
	valid.Model, valid.Dimensions = "m", 8
	remotetest.Invalid(t, valid, map[string]func(*cohere.Config){
		"base_url": func(c *cohere.Config) { c.BaseURL = "api.cohere.com" }, "model": func(c *cohere.Config) { c.Model = "" },
		"task": func(c *cohere.Config) { c.Task = "answer" }, "dimensions": func(c *cohere.Config) { c.Dimensions = 0 },
		"batch": func(c *cohere.Config) { c.Batch = 97 }, "query_type": func(c *cohere.Config) { c.PassageType = "" },
		"revision":         func(c *cohere.Config) { c.Revision = "" },
		"max_input_tokens": func(c *cohere.Config) { c.MaxInputTokens = 0 },
		"timeout":          func(c *cohere.Config) { c.Timeout = 0 }, "retries": func(c *cohere.Config) { c.Retries = -1 },
	})
}
