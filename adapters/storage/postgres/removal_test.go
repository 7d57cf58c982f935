package postgres_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// A transaction that removes something of an organization reads no namespace of another: it would conflict with each
// write of that, and where there are always some it would never commit.
func TestRemovalConflictsWithNoWriteOfOthers(t *testing.T) {
	ctx := t.Context()
	c := config(t, nil)
	s := openConfig(t, c)
	beside, err := pgx.Connect(ctx, c.DSN.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = beside.Close(ctx) }()
	const stays = ident.Org("org_stays")
	// conflicts counts the locks of w's transaction by which a write into the namespace that stays conflicts with it.
	conflicts := func(w port.Writer) (n int, err error) {
		session, err := w.(*bunsql.Writer).Session(ctx)
		if err != nil {
			return 0, err
		}
		var pid int64
		if _, err := session.Row(ctx, "SELECT pg_backend_pid()", nil, &pid); err != nil {
			return 0, err
		}
		err = beside.QueryRow(ctx, `SELECT count(*) FROM pg_locks l,
  (SELECT ctid::text::point AS at FROM namespaces WHERE org = $1) n
WHERE l.mode = 'SIReadLock' AND l.relation = 'namespaces'::regclass AND l.pid = $2
  AND (l.page IS NULL OR l.page = n.at[0] AND (l.tuple IS NULL OR l.tuple = n.at[1]))`, string(stays), pid).Scan(&n)
		return n, err
	}
	fill := func(t *testing.T, org ident.Org) {
		t.Helper()
		p := port.Documents(org, "docs")
		err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
			if err := w.PutOrganization(ctx, port.Organization{ID: org, Name: string(org), CreatedAt: time.Now()}); err != nil {
				return err
			}
			if _, err := w.CreatePartition(ctx, p, port.PartitionRow{Dimensions: 8}); err != nil {
				return err
			}
			var writes []port.DocumentWrite
			for i := range 3 {
				id := fmt.Sprintf("%s-%d", org, i)
				if err := w.PutKey(ctx, port.Key{ID: id, Org: org, Name: id, Hash: sha256.Sum256([]byte(id))}); err != nil {
					return err
				}
				writes = append(writes, port.DocumentWrite{
					Document: port.Document{ID: id, Text: "text", Chunks: []port.Chunk{{End: 4}}},
					Vectors:  port.Vectors{Dense: port.Dense{Dim: 8, Data: make([]float32, 8)}},
				})
			}
			_, err := w.PutDocuments(ctx, p, time.Now(), writes)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	fill(t, stays)
	const atOnce = 2 // of three, so that it takes several steps
	for name, of := range map[string]struct {
		begin func(port.Writer, ident.Org) error
		step  func(port.Writer, ident.Org) (more bool, err error)
	}{
		"moved": {
			func(w port.Writer, org ident.Org) error {
				return w.(*bunsql.Writer).Stand(ctx, org, bunsql.Elsewhere, 1)
			},
			func(w port.Writer, org ident.Org) (bool, error) {
				return w.(*bunsql.Writer).RemoveMoved(ctx, org, 1, atOnce)
			},
		},
		"erased": {
			func(w port.Writer, org ident.Org) error {
				if _, err := w.DeletePartition(ctx, port.Documents(org, "docs")); err != nil {
					return err
				}
				return w.BeginDeletion(ctx, org, time.Now())
			},
			func(w port.Writer, org ident.Org) (more bool, err error) {
				_, more, err = w.EraseOrganization(ctx, org, atOnce)
				return more, err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			org := ident.Org("org_" + name)
			fill(t, org)
			if err := s.Update(ctx, func(w port.Writer) error { return of.begin(w, org) }); err != nil {
				t.Fatal(err)
			}
			steps := 0
			for more := true; more; steps++ {
				n := 0
				if err := s.Update(ctx, func(w port.Writer) (err error) {
					if more, err = of.step(w, org); err == nil {
						n, err = conflicts(w)
					}
					return err
				}); err != nil {
					t.Fatal(err)
				}
				// The last one removes the organization's row, and PostgreSQL looks whether a namespace refers to it.
				if more && n > 0 {
					t.Errorf("step %d conflicts with writes of another organization", steps)
				}
			}
			if steps < 2 {
				t.Errorf("all was gone after %d steps", steps)
			}
		})
	}
}

// What is removed of an organization is found by an index, also where other rows go with the organization's own.
func TestRemovalByIndex(t *testing.T) {
	ctx := t.Context()
	c := config(t, nil)
	conn, err := pgx.Connect(ctx, c.DSN.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, "SET enable_seqscan = off"); err != nil { // which is cheaper for nothing
		t.Fatal(err)
	}
	for _, table := range []string{"oauth_grants", "sessions", "sign_in_links"} {
		rows, err := conn.Query(ctx, "EXPLAIN DELETE FROM "+table+" WHERE org = 'org_x'")
		if err != nil {
			t.Fatal(err)
		}
		steps, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if how := strings.Join(steps, "\n"); !strings.Contains(how, table+"_by_org") {
			t.Errorf("rows of %s are found by:\n%s", table, how)
		}
	}
}
