package ollama_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/model/ollama"
	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/adapters/model/remotetest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// opener opens a model of a task on a server of the test.
func opener(task port.Task, change func(*ollama.Config)) remotetest.Open {
	return func(t testing.TB, s remotetest.Setup) (port.Model, *remotetest.Server) {
		t.Helper()
		server := remotetest.Ollama(t, s.Server)
		c := ollama.Default()
		c.BaseURL, c.Model, c.Task, c.Dimensions, c.MaxInputTokens, c.Batch = server.URL+"", "m", string(task), 48,
			s.Window, s.Batch
		c.APIKey, c.Calls = s.Endpoint.Key, s.Endpoint.Calls
		if change != nil {
			change(&c)
		}
		return remotetest.Configured(t, ollama.Register, "ollama", &c), server
	}
}

func TestEmbedding(t *testing.T) {
	remotetest.Embedding(t, opener(port.TaskEmbed, nil))
	t.Run("faults", func(t *testing.T) { remotetest.Faults(t, opener(port.TaskEmbed, nil)) })
}

func TestAnswering(t *testing.T) {
	remotetest.Answering(t, opener(port.TaskSynthesize, nil))
	t.Run("faults", func(t *testing.T) { remotetest.Faults(t, opener(port.TaskSynthesize, nil)) })
}

func TestRequest(t *testing.T) {
	s := remotetest.Setup{
		Batch:    8,
		Window:   512,
		Server:   remotetest.Options{Dimensions: 48},
		Endpoint: remote.Endpoint{Calls: remote.DefaultCalls()},
	}
	m, server := opener(port.TaskEmbed, func(c *ollama.Config) {
		c.QueryPrefix, c.PassagePrefix, c.KeepAlive, c.ContextTokens, c.RequestDimensions, c.Dimensions = "search_query: ",
			"search_document: ", time.Hour, 256, true, 32
	})(t, s)
	query, passage := remotetest.Sent(t, m, server)
	if query["input"].([]any)[0] != "search_query: text" || passage["input"].([]any)[0] != "search_document: text" ||
		query["keep_alive"] != "1h0m0s" ||
		query["truncate"] != true || query["dimensions"] != 32.0 || query["options"].(map[string]any)["num_ctx"] != 256.0 {
		t.Errorf("sent %v and %v", query, passage)
	}
}

// What a streamed answer may do wrong.
func TestBrokenAnswer(t *testing.T) {
	for _, body := range []string{"", "{", `{"message":{"content":"She li"},"done":false}`,
		`{"error":"llama runner process has terminated"}`, "<html>",
		`{"message":{"content":"` + strings.Repeat("word ", 2000) + `"},"done":true}`, strings.Repeat(" ", 2<<20)} {
		m, server := opener(port.TaskSynthesize, nil)(t,
			remotetest.Setup{Batch: 8, Window: 512, Endpoint: remote.Endpoint{Calls: remote.DefaultCalls()}})
		server.Inject(remotetest.Body(body))
		if got, err := m.(port.Synthesizer).Synthesize(t.Context(),
			port.Question{Text: "Where?", MaxTokens: 50}); fault.CodeOf(err) != fault.Upstream {
			t.Errorf("%.40q: %+v, %v", body, got, err)
		}
	}
}

func TestConfig(t *testing.T) {
	valid := ollama.Default()
	valid.Model, valid.Dimensions = "m", 8
	remotetest.Invalid(t, valid, map[string]func(*ollama.Config){
		"base_url": func(c *ollama.Config) { c.BaseURL = "127.0.0.1:11434" }, "model": func(c *ollama.Config) { c.Model = "" },
		"task": func(c *ollama.Config) { c.Task = "rerank" }, "dimensions": func(c *ollama.Config) { c.Dimensions = 0 },
		"batch": func(c *ollama.Config) { c.Batch = 0 }, "keep_alive": func(c *ollama.Config) { c.KeepAlive = -1 },
		"context_tokens": func(c *ollama.Config) { c.ContextTokens = -1 },
	})
}
