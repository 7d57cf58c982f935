package meilisearchtest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	client "github.com/meilisearch/meilisearch-go"

	"github.com/mnemehq/mneme/adapters/index/meilisearch/meilisearchtest"
)

// each runs a test against the server of this package and, where the environment
// names one, the real one, through the official client: what the two do apart is
// a defect of this package.
func each(t *testing.T, test func(t *testing.T, server client.ServiceManager, index client.IndexManager)) {
	t.Run("in process", func(t *testing.T) {
		s := meilisearchtest.Start(t, meilisearchtest.Options{MasterKey: "a-master-key-of-tests"})
		c := client.New(s.URL, client.WithAPIKey(s.Key))
		test(t, c, c.Index("books"))
	})
	t.Run("real", func(t *testing.T) {
		url := os.Getenv("MNEME_TEST_MEILISEARCH_URL")
		if url == "" {
			t.Skip("NOT RUN against a real Meilisearch: set MNEME_TEST_MEILISEARCH_URL and, where it has a master key, " +
				"MNEME_TEST_MEILISEARCH_KEY")
		}
		c := client.New(url, client.WithAPIKey(os.Getenv("MNEME_TEST_MEILISEARCH_KEY")))
		test(t, c, c.Index(fmt.Sprint("p", time.Now().UnixNano())))
	})
}

// done waits for a task and gives its error code.
func done(t *testing.T, server client.ServiceManager, task *client.TaskInfo, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	got, err := server.WaitForTask(task.TaskUID, 2*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if (got.Status == client.TaskStatusSucceeded) != (got.Error.Code == "") {
		t.Fatalf("task %d is %s with error %q", task.TaskUID, got.Status, got.Error.Code)
	}
	return got.Error.Code
}

func ok(t *testing.T, server client.ServiceManager, task *client.TaskInfo, err error) {
	t.Helper()
	if code := done(t, server, task, err); code != "" {
		t.Fatalf("task failed: %s", code)
	}
}

func code(err error) string {
	var e *client.Error
	if !errors.As(err, &e) {
		return fmt.Sprint(err)
	}
	return fmt.Sprint(e.StatusCode, " ", e.MeilisearchApiError.Code)
}

var books = []map[string]any{
	{"id": 1, "title": "The lighthouse keeper", "year": 1990, "tags": []string{"Sea", "light"}, "shelf": "A 1"},
	{"id": 2, "title": "The keeper of bees", "year": 2001.5, "tags": []string{}, "shelf": "it's"},
	{"id": 3, "title": "Bees and lighthouses", "shelf": "NOT"},
	{"id": "x-4_y", "title": "Silence", "year": nil, "shelf": "back\\slash"},
}

func fill(t *testing.T, server client.ServiceManager, index client.IndexManager) {
	t.Helper()
	key := "id"
	task, err := index.AddDocuments(books, &client.DocumentOptions{PrimaryKey: &key})
	ok(t, server, task, err)
	task, err = index.UpdateSettings(&client.Settings{FilterableAttributes: []string{"year", "tags", "shelf", "id"},
		SearchableAttributes: []string{"title"}})
	ok(t, server, task, err)
}

func ids(t *testing.T, hits client.Hits) string {
	t.Helper()
	var out []string
	for _, h := range hits {
		out = append(out, strings.Trim(string(h["id"]), `"`))
	}
	return strings.Join(out, " ")
}

func TestFilterGrammar(t *testing.T) {
	each(t, func(t *testing.T, server client.ServiceManager, index client.IndexManager) {
		fill(t, server, index)
		for filter, want := range map[string]string{
			`year > x`: "", `year > ""`: "", `year 1990 TO x`: "", `shelf > b`: "2 3 x-4_y", `shelf < "B"`: "1",
			`shelf b TO k`: "2 x-4_y", `shelf > 1`: "1 2 3 x-4_y",
			`year = 1990`: "1", `year != 1990`: "2 3 x-4_y", `year > 1990`: "2", `year >= 1990`: "1 2",
			`year < 1990`: "", `year 1990 TO 2001`: "1",
			`year EXISTS`: "1 2 x-4_y", `year NOT EXISTS`: "3", `NOT year EXISTS`: "3", `year IS NULL`: "x-4_y",
			`tags IS EMPTY`: "2",
			`tags = sea`:    "1", `tags = "SEA"`: "1", `tags IN [sea, nothing]`: "1", `tags NOT IN [sea]`: "2 3 x-4_y",
			`tags IN []`: "", `tags IN [sea,]`: "1",
			`shelf = 'A 1'`: "1", `shelf = "it's"`: "2", `shelf = 'it\'s'`: "2", `shelf = "NOT"`: "3",
			`shelf = 'back\\slash'`:                           "x-4_y",
			`year = 1990 OR tags IS EMPTY AND shelf = "it's"`: "1 2", `(year = 1990 OR tags IS EMPTY) AND shelf = "it's"`: "2",
			`NOT (year = 1990 OR year EXISTS)`: "3", `NOT NOT year = 1990`: "1", `shelf STARTS WITH a`: "1",
			`year=1990`: "1", "  year\n=\t1990  ": "1",
			strings.Repeat("(", 20) + "year = 1990" + strings.Repeat(")", 20): "1",
		} {
			r, err := index.Search("", &client.SearchRequest{Filter: filter})
			if err != nil {
				t.Errorf("%s: %v", filter, err)
			} else if got := ids(t, r.Hits); got != want {
				t.Errorf("%s leaves %q, want %q", filter, got, want)
			}
		}
		for _, filter := range []string{
			`year`, `year =`, `= 1990`, `year = NOT`, `year 1990`, `shelf = 'open`, `year = 1990 AND`,
			`year = 1990 shelf = x`, `(year = 1990`,
			`tags IN sea`, `tags IN [sea light]`, `title = x`, `year = 1 OR title = x`, `tags CONTAINS se`,
			strings.Repeat("(", 100) + "year = 1990" + strings.Repeat(")", 100),
		} {
			if _, err := index.Search("", &client.SearchRequest{Filter: filter}); code(err) != "400 invalid_search_filter" &&
				code(err) != "400 feature_not_enabled" {
				t.Errorf("%s is answered %s", filter, code(err))
			}
		}
		r, err := index.Search("", &client.SearchRequest{Filter: []any{[]string{"year = 1990", "tags IS EMPTY"},
			`shelf = "it's"`}})
		if err != nil || ids(t, r.Hits) != "2" {
			t.Errorf("an array leaves %v (%v)", r, err)
		}
	})
}

func TestErrors(t *testing.T) {
	each(t, func(t *testing.T, server client.ServiceManager, index client.IndexManager) {
		if _, err := index.Search("x", &client.SearchRequest{}); code(err) != "404 index_not_found" {
			t.Errorf("search: %s", code(err))
		}
		if err := index.GetDocument("1", nil, &map[string]any{}); code(err) != "404 index_not_found" {
			t.Errorf("read: %s", code(err))
		}
		if _, err := server.GetTask(1 << 30); code(err) != "404 task_not_found" {
			t.Errorf("task: %s", code(err))
		}
		task, err := index.DeleteDocuments([]string{"1"}, nil)
		if got := done(t, server, task, err); got != "index_not_found" {
			t.Errorf("delete: %s", got)
		}
		fill(t, server, index)
		if err := index.GetDocument("99", nil, &map[string]any{}); code(err) != "404 document_not_found" {
			t.Errorf("read: %s", code(err))
		}
		task, err = index.AddDocuments([]map[string]any{{"id": "not allowed!"}}, nil)
		if got := done(t, server, task, err); got != "invalid_document_id" {
			t.Errorf("a bad id: %s", got)
		}
		task, err = index.AddDocuments([]map[string]any{{"title": "no id"}}, nil)
		if got := done(t, server, task, err); got != "missing_document_id" {
			t.Errorf("no id: %s", got)
		}
		info, err := index.FetchInfo()
		if err != nil {
			t.Fatal(err)
		}
		task, err = server.CreateIndex(&client.IndexConfig{Uid: info.UID, PrimaryKey: "id"})
		if got := done(t, server, task, err); got != "index_already_exists" {
			t.Errorf("made twice: %s", got)
		}
		task, err = index.DeleteDocumentsByFilter("title = x", nil)
		if got := done(t, server, task, err); got != "invalid_document_filter" {
			t.Errorf("delete by what is not filterable: %s", got)
		}
		if _, err := index.DeleteDocumentsByFilter("year =", nil); code(err) != "400 invalid_document_filter" {
			t.Errorf("delete by a broken filter: %s", code(err))
		}
		if _, err := server.MultiSearch(&client.MultiSearchRequest{Queries: []*client.SearchRequest{{IndexUID: info.UID,
			Filter: "nothing = 1"}}}); code(err) != "400 invalid_search_filter" {
			t.Errorf("one of several: %s", code(err))
		}
		if _, err := index.Search("x", &client.SearchRequest{
			MatchingStrategy: "best",
		}); code(err) != "400 invalid_search_matching_strategy" {
			t.Errorf("strategy: %s", code(err))
		}
	})
}

func TestKeysAreAskedFor(t *testing.T) {
	s := meilisearchtest.Start(t, meilisearchtest.Options{MasterKey: "a-master-key-of-tests"})
	s.AddKey("reader", "search", "documents.*")
	for key, want := range map[string]string{"": "401 missing_authorization_header", "wrong": "403 invalid_api_key",
		"reader": "403 invalid_api_key"} {
		c := client.New(s.URL, client.WithAPIKey(key))
		if _, err := c.GetStats(nil); code(err) != want {
			t.Errorf("key %q: %s, want %s", key, code(err), want)
		}
		if !c.IsHealthy() {
			t.Errorf("key %q: health asks for a key", key)
		}
	}
	if _, err := client.New(s.URL, client.WithAPIKey("reader")).Index("none").Search("x",
		&client.SearchRequest{}); code(err) != "404 index_not_found" {
		t.Errorf("a key with the action: %s", code(err))
	}
}

func TestSearchRules(t *testing.T) {
	each(t, func(t *testing.T, server client.ServiceManager, index client.IndexManager) {
		fill(t, server, index)
		search := func(q string, r client.SearchRequest) string {
			t.Helper()
			got, err := index.Search(q, &r)
			if err != nil {
				t.Fatal(err)
			}
			return ids(t, got.Hits)
		}
		// Words are dropped from the end, so the first has to be there.
		if got := search("keeper bees", client.SearchRequest{}); got != "2 1" {
			t.Errorf("last: %q", got)
		}
		if got := search("keeper bees", client.SearchRequest{MatchingStrategy: client.All}); got != "2" {
			t.Errorf("all: %q", got)
		}
		// "of" is in one document, "bees" in two: "bees" goes first.
		if got := search("bees of", client.SearchRequest{MatchingStrategy: client.Frequency}); got != "2" {
			t.Errorf("frequency: %q", got)
		}
		if got := search("silense", client.SearchRequest{}); got != "x-4_y" {
			t.Errorf("one typo in seven letters: %q", got)
		}
		if got := search("bxes", client.SearchRequest{}); got != "" {
			t.Errorf("a typo in four letters: %q", got)
		}
		if got := search("lightho", client.SearchRequest{}); got != "1 3" {
			t.Errorf("the beginning of the last word: %q", got)
		}
		task, err := index.UpdateSettings(
			&client.Settings{TypoTolerance: &client.TypoTolerance{MinWordSizeForTypos: client.MinWordSizeForTypos{OneTypo: 5,
				TwoTypos: 9}, DisableOnWords: []string{}, DisableOnAttributes: []string{}}},
		)
		ok(t, server, task, err)
		if got := search("silense", client.SearchRequest{}); got != "" {
			t.Errorf("a typo where none is allowed: %q", got)
		}
		if got := search("lightkeeper", client.SearchRequest{}); got != "" {
			t.Errorf("a word that is not there as two: %q", got)
		}
		if got := search("keeperof", client.SearchRequest{}); got != "2" {
			t.Errorf("a word that is there as two, typos or not: %q", got)
		}
		if got := search(`"keeperof"`, client.SearchRequest{}); got != "" {
			t.Errorf("in quotes: %q", got)
		}
		if got := search(`"keeper of" lighthouse`, client.SearchRequest{}); got != "2" {
			t.Errorf("a phrase is not dropped: %q", got)
		}
		r, err := index.Search("keeper", &client.SearchRequest{ShowRankingScore: true, Limit: 1})
		if err != nil || len(r.Hits) != 1 || r.EstimatedTotalHits != 2 {
			t.Fatalf("%+v, %v", r, err)
		}
		var score float64
		if json.Unmarshal(r.Hits[0]["_rankingScore"], &score) != nil || score <= 0 || score > 1 {
			t.Errorf("ranking score %s", r.Hits[0]["_rankingScore"])
		}
	})
}
