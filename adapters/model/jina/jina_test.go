package jina_test

import (
	"testing"

	"github.com/mnemehq/mneme/adapters/model/jina"
	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/adapters/model/remotetest"
	"github.com/mnemehq/mneme/core/port"
)

// opener opens a model of a task on a server of the test.
func opener(task port.Task, change func(*jina.Config)) remotetest.Open {
	return func(t testing.TB, s remotetest.Setup) (port.Model, *remotetest.Server) {
		t.Helper()
		server := remotetest.Jina(t, s.Server)
		c := jina.Default()
		c.BaseURL, c.Model, c.Task, c.Dimensions, c.MaxInputTokens, c.Batch = server.URL+"/v1", "m", string(task), 48,
			s.Window, s.Batch
		c.APIKey, c.Calls = s.Endpoint.Key, s.Endpoint.Calls
		if change != nil {
			change(&c)
		}
		return remotetest.Configured(t, jina.Register, "jina", &c), server
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
	m, server := opener(port.TaskEmbed, func(c *jina.Config) { c.RequestDimensions, c.Dimensions = true, 32 })(t,
		remotetest.Setup{Batch: 96, Window: 512, Endpoint: remote.Endpoint{Calls: remote.DefaultCalls()}})
	query, passage := remotetest.Sent(t, m, server)
	if query["task"] != "retrieval.query" || passage["task"] != "retrieval.passage" || query["dimensions"] != 32.0 ||
		query["truncate"] != true {
		t.Errorf("sent %v and %v", query, passage)
	}
}

// Scores of other kinds become probabilities; a wrong declaration is noticed.
func TestScores(t *testing.T) {
	for _, c := range []struct {
		scores, sent string
		want         float32
		refused      bool
	}{{"cosine", "-0.5", 0.25, false}, {"logit", "0", 0.5, false}, {"probability", "1.0004", 1, false},
		{"probability", "-0.5", 0, true}, {"cosine", "1.2", 0, true}} {
		m, server := opener(port.TaskRerank, func(x *jina.Config) { x.Scores = c.scores })(t,
			remotetest.Setup{Batch: 8, Window: 512, Endpoint: remote.Endpoint{Calls: remote.DefaultCalls()}})
		server.Inject(remotetest.Body(`{"results":[{"index":0,"relevance_score":` + c.sent + `}]}`))
		p, _, err := m.(port.Reranker).Score(t.Context(), "query", []string{"text"})
		if c.refused != (err != nil) || err == nil && p[0] != c.want {
			t.Errorf("%s %s: %v, %v", c.scores, c.sent, p, err)
		}
	}
}

func TestConfig(t *testing.T) {
	valid := jina.Default()
	valid.Model, valid.Dimensions = "m", 8
	remotetest.Invalid(t, valid, map[string]func(*jina.Config){
		"base_url": func(c *jina.Config) { c.BaseURL = "https://u:p@api.jina.ai" },
		"model":    func(c *jina.Config) { c.Model = "" },
		"task":     func(c *jina.Config) { c.Task = "sparse" }, "dimensions": func(c *jina.Config) { c.Dimensions = 0 },
		"batch": func(c *jina.Config) { c.Batch = 0 }, "scores": func(c *jina.Config) { c.Scores = "points" },
	})
}
