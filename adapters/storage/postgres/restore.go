package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/mnemehq/mneme/adapters/postgres"
	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/port"
)

// Dump implements port.Dumper. It keeps a connection, and what is deleted stays in the tables
// until fn returns.
func (s *Store) Dump(ctx context.Context, fn func(port.Dump) error) error {
	return s.View(ctx, func(r port.Reader) error {
		session, err := r.(*bunsql.Reader).Session(ctx)
		if err != nil {
			return err
		}
		// Rows are read by pages of their key, between which the connection may rest.
		const byIndex = "SET LOCAL enable_seqscan = off; SET LOCAL jit = off; SET LOCAL idle_in_transaction_session_timeout = 0"
		if err := session.Simple(ctx, byIndex); err != nil {
			return (&dialect{}).Fault("dump", err)
		}
		d, err := bunsql.Dump(ctx, session, numbers{})
		if err != nil {
			return err
		}
		return fn(d)
	})
}

// numbers is bunsql.Numbers of identity columns.
type numbers struct{}

func (numbers) Last(ctx context.Context, s *bunsql.Session, table, column string) (last int64, err error) {
	// The sequence is not part of the snapshot: it is at most further.
	_, err = s.Row(ctx, "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM "+table+"_"+column+"_seq", nil, &last)
	return last, err
}

func (numbers) Set(ctx context.Context, s *bunsql.Session, table, column string, last int64) error {
	if last < 1 {
		return nil
	}
	var set int64
	_, err := s.Row(ctx, "SELECT setval('"+table+"_"+column+"_seq', ?)", []any{last}, &set)
	return err
}

// Restore fills a database, or a schema of it, from a backup in one transaction: whatever
// interrupts it, there is nothing or everything. bunsql.ErrNotEmpty is inside the error where Mneme's
// tables are there already.
func Restore(ctx context.Context, c Config, o Options, from port.Restoring) error {
	return restore(ctx, c, o, from, bunsql.Share{})
}

// restore is Restore of a share.
func restore(ctx context.Context, c Config, o Options, from port.Restoring, share bunsql.Share) (err error) {
	s, err := connect(c, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	d := &dialect{}
	conn, err := s.conn(ctx, d)
	if err != nil {
		return err
	}
	session := bunsql.NewSession(conn, d)
	begin := strings.Replace(s.begin[updating], "SERIALIZABLE", "READ COMMITTED", 1) +
		"; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SELECT pg_advisory_xact_lock(" +
		strconv.FormatInt(postgres.Lock(c.Schema, "migrate"), 10) + ")"
	if c.Schema != "" {
		begin += "; CREATE SCHEMA IF NOT EXISTS " + pgx.Identifier{c.Schema}.Sanitize()
	}
	return s.transaction(ctx, session, d, begin, "restore", func() error {
		known, err := bunsql.Migrations()
		if err != nil {
			return err
		}
		switch at, err := bunsql.CheckSchema(ctx, session, known); {
		case err != nil:
			return err
		case at != 0:
			return fmt.Errorf("storage.postgres: %w", bunsql.ErrNotEmpty)
		}
		for n := range lockTables {
			if err := session.Once(ctx, "change the schema", "CREATE TABLE IF NOT EXISTS "+lockTable(n)+" ()"); err != nil {
				return err
			}
		}
		err = bunsql.Fill(ctx, session, from, bunsql.Filling{
			Numbers: numbers{}, Now: s.now, Share: share,
			Insert: func(ctx context.Context, table string, columns []string, rows [][]any) error {
				return d.Fault("restore", conn.Raw(func(c any) error {
					_, err := c.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows))
					return err
				}))
			},
		})
		if err == nil && share.Then != nil {
			err = share.Then()
		}
		return err
	})
}

var _ port.Dumper = (*Store)(nil)
