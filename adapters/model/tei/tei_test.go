package tei_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/adapters/model/remotetest"
	"github.com/mnemehq/mneme/adapters/model/tei"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// opener opens a model of a task on a server of the test.
func opener(task port.Task, change func(*tei.Config)) remotetest.Open {
	return func(t testing.TB, s remotetest.Setup) (port.Model, *remotetest.Server) {
		t.Helper()
		server := remotetest.TEI(t, s.Server)
		c := tei.Default()
		c.BaseURL, c.Model, c.Task, c.Dimensions, c.MaxInputTokens, c.Batch = server.URL+"", "m", string(task), 48,
			s.Window, s.Batch
		c.APIKey, c.Calls = s.Endpoint.Key, s.Endpoint.Calls
		if change != nil {
			change(&c)
		}
		return remotetest.Configured(t, tei.Register, "tei", &c), server
	}
}

// kinds tells the server which model it holds.
func kinds(task port.Task, change func(*tei.Config)) remotetest.Open {
	return func(t testing.TB, s remotetest.Setup) (port.Model, *remotetest.Server) {
		t.Helper()
		s.Server.Kind = map[port.Task]string{port.TaskEmbed: "embedding", port.TaskSparse: "sparse",
			port.TaskRerank: "reranker"}[task]
		return opener(task, change)(t, s)
	}
}

func TestEmbedding(t *testing.T) {
	remotetest.Embedding(t, kinds(port.TaskEmbed, nil))
	t.Run("faults", func(t *testing.T) { remotetest.Faults(t, kinds(port.TaskEmbed, nil)) })
}

func TestSparse(t *testing.T) {
	remotetest.Sparse(t, kinds(port.TaskSparse, nil))
	t.Run("faults", func(t *testing.T) { remotetest.Faults(t, kinds(port.TaskSparse, nil)) })
}

// The same probabilities come out whichever side applies the logistic function.
func TestReranking(t *testing.T) {
	t.Run("probabilities", func(t *testing.T) { remotetest.Reranking(t, kinds(port.TaskRerank, nil)) })
	t.Run("raw scores", func(t *testing.T) {
		remotetest.Reranking(t, kinds(port.TaskRerank, func(c *tei.Config) { c.RawScores = true }))
	})
	t.Run("faults", func(t *testing.T) { remotetest.Faults(t, kinds(port.TaskRerank, nil)) })
}

// Queries and passages are told apart by prefix or prompt.
func TestRequest(t *testing.T) {
	m, server := kinds(port.TaskEmbed, func(c *tei.Config) { c.QueryPrompt, c.PassagePrefix = "query", "passage: " })(t, setup())
	query, passage := remotetest.Sent(t, m, server)
	if query["prompt_name"] != "query" || query["inputs"].([]any)[0] != "text" || passage["prompt_name"] != nil ||
		passage["inputs"].([]any)[0] != "passage: text" ||
		query["truncate"] != true || query["normalize"] != true {
		t.Errorf("sent %v and %v", query, passage)
	}
}

// A server that holds another model, or another revision of it, is refused.
func TestAnotherModel(t *testing.T) {
	const held, declared = "fca14538aa9956a46526bd1d0d11d69e19b5a101", "0000000000000000000000000000000000000000"
	for _, c := range []struct {
		model, revision string
		refused         bool
	}{{"m", "1", false}, {"m", held, false}, {"m", declared, true}, {"other", "1", true}} {
		s := setup()
		s.Server.Revision = held
		m, server := kinds(port.TaskEmbed, func(x *tei.Config) { x.Model, x.Revision = c.model, c.revision })(t, s)
		_, err := m.(port.Embedder).Embed(t.Context(), port.Query, []string{"text"})
		if c.refused != (err != nil) || c.refused && (server.Calls() != 0 || fault.CodeOf(err) != fault.Upstream) {
			t.Errorf("%s at %s: %v after %d calls", c.model, c.revision, err, server.Calls())
		}
	}
}

// The word pieces of a text, and what is put around every text.
func TestTokenIDs(t *testing.T) {
	m, _ := kinds(port.TaskSparse, nil)(t, setup())
	got, err := m.(port.Tokenizer).TokenIDs(t.Context(), port.Query, []string{"harbour keys", "", strings.Repeat("far ", 600)})
	if err != nil {
		t.Fatal(err)
	}
	if len(got[0]) != 4 || got[0][0] != 101 || got[0][3] != 102 || !slices.Equal(got[1], []uint32{101, 102}) ||
		len(got[2]) != 512 || got[2][511] != 102 {
		t.Errorf("%v, %v and %d tokens", got[0], got[1], len(got[2]))
	}
}

func TestConfig(t *testing.T) {
	valid := tei.Default()
	valid.BaseURL, valid.Model, valid.Dimensions = "http://127.0.0.1:8081", "m", 8
	remotetest.Invalid(t, valid, map[string]func(*tei.Config){
		"base_url": func(c *tei.Config) { c.BaseURL = "" }, "model": func(c *tei.Config) { c.Model = "" },
		"task": func(c *tei.Config) { c.Task = "answer" }, "dimensions": func(c *tei.Config) { c.Dimensions = 0 },
		"batch":          func(c *tei.Config) { c.Batch = 0 },
		"query_prompt":   func(c *tei.Config) { c.QueryPrompt, c.QueryPrefix = "query", "query: " },
		"passage_prompt": func(c *tei.Config) { c.PassagePrompt, c.PassagePrefix = "p", "passage: " },
	})
}

func setup() remotetest.Setup {
	d := tei.Default()
	return remotetest.Setup{
		Batch:    d.Batch,
		Window:   d.MaxInputTokens,
		Server:   remotetest.Options{Dimensions: 48},
		Endpoint: remote.Endpoint{Calls: remote.DefaultCalls()},
	}
}
