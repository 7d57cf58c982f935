package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mnemehq/mneme/adapters/postgres"
)

// build makes the HNSW index of a partition whose lease this process holds.
// Writes go on during a build. A build that was cut short leaves an invalid index,
// which the next one replaces.
func (x *Index) build(ctx context.Context, generation int64) error {
	renew, stop := context.WithCancel(ctx)
	defer stop()
	go x.renew(renew, generation)
	began := time.Now()
	c, err := x.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	if !x.cfg.Pooler {
		// What is set here must not stay with the connection.
		settings := "SET statement_timeout = 0"
		if n := x.cfg.Vector.BuildMemoryMB; n > 0 {
			settings += fmt.Sprintf("; SET maintenance_work_mem = '%dMB'", n)
		}
		if err := execSimple(ctx, c, settings); err != nil {
			return err
		}
		defer func() {
			_ = execSimple(context.WithoutCancel(ctx), c, "RESET statement_timeout; RESET maintenance_work_mem")
		}()
	}
	schema := x.schema
	if err := execSimple(ctx, c, "DROP INDEX IF EXISTS "+schema+"."+vectorsIndex(generation)); err != nil {
		return err
	}
	err = execSimple(ctx, c, fmt.Sprintf("CREATE INDEX CONCURRENTLY %s ON %s.%s USING hnsw (embedding %s.halfvec_ip_ops) "+
		"WITH (m = %d, ef_construction = %d)",
		vectorsIndex(generation), schema, vectorsTable(generation), x.extension, x.cfg.Vector.M, x.cfg.Vector.EfConstruction))
	if postgres.State(err) == undefinedTable {
		return nil // dropped before the build began
	}
	if err != nil {
		return fmt.Errorf("build %s: %w", vectorsIndex(generation), err)
	}
	err = x.run(ctx, "use a vector index", updating, func(c *pgxpool.Conn) error {
		_, err := c.Exec(ctx, "UPDATE index_partition SET indexed = true, leased = NULL WHERE generation = $1 AND large "+
			"AND EXISTS (SELECT FROM pg_catalog.pg_index WHERE indexrelid = to_regclass($2) AND indisvalid)",
			generation, vectorsIndex(generation))
		return err
	})
	if err == nil {
		x.log.Info("vector index built", "generation", generation, "took", time.Since(began).Round(time.Millisecond))
	}
	return err
}

// renew keeps the lease until ctx ends.
func (x *Index) renew(ctx context.Context, generation int64) {
	tick := time.NewTicker(leaseFor / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			err := x.run(ctx, "keep a lease", updating, func(c *pgxpool.Conn) error {
				_, err := c.Exec(ctx, "UPDATE index_partition SET leased = now() + $2::interval WHERE generation = $1",
					generation, leaseFor)
				return err
			})
			if err != nil && ctx.Err() == nil {
				x.log.Warn("vector index lease not renewed", "generation", generation, "error", err)
			}
		}
	}
}
