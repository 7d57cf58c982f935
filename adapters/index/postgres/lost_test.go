package postgres_test

import (
	"context"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/postgres"
	"github.com/mnemehq/mneme/core/port"
)

// A database that was lost and recreated serves again without a restart: running
// processes make their tables and say that they hold nothing.
func TestTablesLost(t *testing.T) {
	dsn := server.Database(t)
	schema := func(c *postgres.Config) { c.Schema = "Mneme's" }
	processes := []*postgres.Index{open(t, dsn, schema), open(t, dsn, schema)}
	p := at(1)
	write := port.Batch{Upto: 1, Changes: []port.IndexChange{document("a", "zebra")}}
	apply(t, processes[0], p, write)
	exec(t, dsn, `DROP SCHEMA "Mneme's" CASCADE; DROP EXTENSION IF EXISTS vector CASCADE`)
	var all sync.WaitGroup
	for i := range 8 {
		x := processes[i%2]
		all.Go(func() {
			ctx := context.Background()
			if i < 4 {
				if err := x.Ping(ctx); err != nil {
					t.Error(err)
				}
			}
			if n, err := x.Applied(ctx, p); err != nil || n != 0 {
				t.Errorf("applied %d, %v", n, err)
			}
			if _, err := x.Search(ctx, p, port.IndexQuery{Retriever: port.Keyword, Text: "zebra", Limit: 1}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	apply(t, processes[1], p, write)
	for _, x := range processes {
		if got := keyword(t, x, p, "zebra"); len(got) != 1 || got[0].Document != "a" {
			t.Errorf("found %v", got)
		}
		near, err := x.Search(t.Context(), p, port.IndexQuery{Retriever: port.Vector, Vector: []float32{.6, .8}, Limit: 1})
		if err != nil || len(near) != 1 {
			t.Errorf("found %v, %v", near, err)
		}
	}
}

// Two installations in one database, each with a schema of its own; pgvector is in
// that of the first one.
func TestTwoSchemas(t *testing.T) {
	dsn := server.Database(t)
	for _, schema := range []string{"first", "second"} {
		x := open(t, dsn, func(c *postgres.Config) { c.Schema = schema })
		apply(t, x, at(1), port.Batch{Upto: 1, Changes: []port.IndexChange{document(schema, "word")}})
		if hits := keyword(t, x, at(1), "word"); len(hits) != 1 || hits[0].Document != schema {
			t.Errorf("%s finds %v", schema, hits)
		}
	}
}
