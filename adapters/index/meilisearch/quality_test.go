package meilisearch_test

import (
	"encoding/json"
	"testing"
	"time"

	client "github.com/meilisearch/meilisearch-go"

	"github.com/mnemehq/mneme/adapters/index/indextest/collection"
	"github.com/mnemehq/mneme/adapters/index/meilisearch"
)

// floors are what keyword search is to reach at least over a hundred queries or
// so, by its ranking; doc.go has the figures over more.
var floors = map[string]map[meilisearch.Ranking]float64{
	"squad-dev-a": {meilisearch.ByRules: .85, meilisearch.ByBM25: .85},
	"cranfield":   {meilisearch.ByRules: .29, meilisearch.ByBM25: .43},
	"locomo-a":    {meilisearch.ByRules: .45, meilisearch.ByBM25: .43},
}

func quality(t *testing.T, c meilisearch.Config) {
	for set, floors := range floors {
		t.Run(set, func(t *testing.T) {
			s := collection.Load(t, set).Some(100)
			c := fresh(c)
			x := open(t, c)
			s.Index(t, x, part(1))
			for ranking, floor := range floors {
				c.Ranking = ranking
				x := open(t, c)
				started := time.Now()
				got, recall := s.Score(collection.Keyword(t, x, part(1), 100))
				t.Logf("%s, %s: nDCG@10 %.3f, recall@100 %.3f over %d queries, %s each", set, ranking, got, recall,
					len(s.Queries), (time.Since(started) / time.Duration(len(s.Queries))).Round(10*time.Microsecond))
				if got < floor {
					t.Errorf("%s, %s: nDCG@10 %.3f, want at least %.2f", set, ranking, got, floor)
				}
			}
		})
	}
}

func TestQuality(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	quality(t, settings(server(t)))
}

func TestQualityOfRealServer(t *testing.T) { quality(t, real(t)) }

// TestQualityOfPlainMeilisearch says what its own way of searching the plain text
// gives: the reason why this package does it otherwise.
func TestQualityOfPlainMeilisearch(t *testing.T) {
	c := real(t)
	server := client.New(c.URL, client.WithAPIKey(c.APIKey.Reveal()))
	for set := range floors {
		t.Run(set, func(t *testing.T) { plain(t, server, set) })
	}
}

func plain(t *testing.T, server client.ServiceManager, set string) {
	s := collection.Load(t, set).Some(100)
	ix := server.Index(fresh(meilisearch.Config{}).IndexPrefix)
	wait := func(task *client.TaskInfo, err error) {
		t.Helper()
		must(t, err)
		done, err := server.WaitForTask(task.TaskUID, 5*time.Millisecond)
		must(t, err)
		if done.Status != client.TaskStatusSucceeded {
			t.Fatal(done.Error.Message)
		}
	}
	wait(ix.UpdateSettings(&client.Settings{SearchableAttributes: []string{"text"}, FilterableAttributes: []string{"user"}}))
	docs := make([]map[string]any, len(s.Corpus))
	for i, d := range s.Corpus {
		docs[i] = map[string]any{"id": i, "doc": d.ID, "text": d.Title + " " + d.Text, "user": "u" + d.Meta.User}
	}
	key := "id"
	wait(ix.AddDocuments(docs, &client.DocumentOptions{PrimaryKey: &key}))
	for _, strategy := range []client.MatchingStrategy{client.Last, client.Frequency} {
		got, recall := s.Score(func(q collection.Row) []string {
			r, err := ix.Search(q.Text, &client.SearchRequest{
				Limit:                100,
				MatchingStrategy:     strategy,
				AttributesToRetrieve: []string{"doc"},
				Filter:               "user = 'u" + q.Meta.User + "'",
			})
			must(t, err)
			var out []string
			for _, h := range r.Hits {
				var id string
				must(t, json.Unmarshal(h["doc"], &id))
				out = append(out, id)
			}
			return out
		})
		t.Logf("%s, plain text, typos allowed, strategy %s: nDCG@10 %.3f, recall@100 %.3f", set, strategy, got, recall)
	}
}
