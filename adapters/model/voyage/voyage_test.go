package voyage_test

import (
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/adapters/model/remotetest"
	"github.com/mnemehq/mneme/adapters/model/voyage"
	"github.com/mnemehq/mneme/core/port"
)

// opener opens a model of a task on a server of the test.
func opener(task port.Task, change func(*voyage.Config)) remotetest.Open {
	return func(t testing.TB, s remotetest.Setup) (port.Model, *remotetest.Server) {
		t.Helper()
		server := remotetest.Voyage(t, s.Server)
		c := voyage.Default()
		c.BaseURL, c.Model, c.Task, c.Dimensions, c.MaxInputTokens, c.Batch = server.URL+"/v1", "m", string(task), 48,
			s.Window, s.Batch
		c.APIKey, c.Calls = s.Endpoint.Key, s.Endpoint.Calls
		if change != nil {
			change(&c)
		}
		return remotetest.Configured(t, voyage.Register, "voyage", &c), server
	}
}

func TestEmbedding(t *testing.T) {
	t.Run("base64", func(t *testing.T) { remotetest.Embedding(t, opener(port.TaskEmbed, nil)) })
	t.Run("float", func(t *testing.T) {
		remotetest.Embedding(t, opener(port.TaskEmbed, func(c *voyage.Config) { c.EncodingFormat = "float" }))
	})
	t.Run("faults", func(t *testing.T) { remotetest.Faults(t, opener(port.TaskEmbed, nil)) })
}

func TestReranking(t *testing.T) {
	remotetest.Reranking(t, opener(port.TaskRerank, nil))
	t.Run("faults", func(t *testing.T) { remotetest.Faults(t, opener(port.TaskRerank, nil)) })
}

// Queries and passages are told apart, and shorter vectors asked for by name.
func TestRequest(t *testing.T) {
	m, server := opener(port.TaskEmbed, func(c *voyage.Config) { c.RequestDimensions, c.Dimensions = true, 32 })(t,
		remotetest.Setup{Batch: 96, Window: 512, Endpoint: remote.Endpoint{Calls: remote.DefaultCalls()}})
	query, passage := remotetest.Sent(t, m, server)
	if query["input_type"] != "query" || passage["input_type"] != "document" || query["output_dimension"] != 32.0 ||
		query["truncation"] != true {
		t.Errorf("sent %v and %v", query, passage)
	}
}

// A call stays below the tokens that the server takes, whatever the batch.
func TestTokensPerCall(t *testing.T) {
	m, server := opener(port.TaskEmbed, nil)(t, remotetest.Setup{
		Batch:    1000,
		Window:   32000,
		Server:   remotetest.Options{Window: 32000, Dimensions: 48},
		Endpoint: remote.Endpoint{Calls: remote.DefaultCalls()},
	})
	texts := make([]string, 20)
	for i := range texts {
		texts[i] = strings.Repeat("harbour ", 10_000)
	}
	if _, err := m.(port.Embedder).Embed(t.Context(), port.Passage, texts); err != nil || server.Calls() < 4 {
		t.Errorf("%v after %d calls", err, server.Calls())
	}
}

func TestConfig(t *testing.T) {
	valid := voyage.Default()
	valid.Model, valid.Dimensions = "m", 8
	remotetest.Invalid(t, valid, map[string]func(*voyage.Config){
		"base_url": func(c *voyage.Config) { c.BaseURL = "https://api.voyageai.com/v1?key=x" },
		"model":    func(c *voyage.Config) { c.Model = "" },
		"task":     func(c *voyage.Config) { c.Task = "sparse" }, "dimensions": func(c *voyage.Config) { c.Dimensions = 0 },
		"batch":           func(c *voyage.Config) { c.Batch = 1001 },
		"encoding_format": func(c *voyage.Config) { c.EncodingFormat = "int8" },
	})
}
