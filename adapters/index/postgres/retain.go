package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mnemehq/mneme/adapters/postgres"
)

// Retain drops the partitions whose generation is not among the live ones: what a
// process that died between the store's deletion and Drop has left, and what one
// that lagged behind has written after it. Several processes may do so at once.
//
// A partition may have been created after live was read. Generations rise, so one
// below the highest live is over; one above it is dropped when the next list,
// which was read later, does not have it either. Where two transactions of the
// store gave out numbers and ended in the other order just then, the partition
// that is dropped is read from the store again by the next search or write.
//
// One that another process holds, as while it builds its vector index, is left to
// the next call. Those below zero are not the store's: probes of the deep health
// check are in them, of whichever process asks.
func (x *Index) Retain(live []int64) error {
	ctx := context.Background()
	var have []int64
	if err := x.run(ctx, "list partitions", viewing, func(c *pgxpool.Conn) error {
		rows, err := c.Query(ctx, "SELECT generation FROM index_partition WHERE generation > 0 ORDER BY generation")
		if err != nil {
			return err
		}
		have, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	}); err != nil {
		return err
	}
	var errs []error
	for _, g := range x.surplus(have, live) {
		if err := x.run(ctx, fmt.Sprintf("drop generation %d", g), updating,
			func(c *pgxpool.Conn) error { return x.discard(ctx, c, g) }); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// surplus are those of have that are not live for certain; others that are not live
// are remembered until the next call.
func (x *Index) surplus(have, live []int64) []int64 {
	keep, highest := make(map[int64]bool, len(live)), int64(0)
	for _, g := range live {
		keep[g], highest = true, max(highest, g)
	}
	absent := slices.DeleteFunc(have, func(g int64) bool { return keep[g] })
	x.mu.Lock()
	defer x.mu.Unlock()
	before := x.unlisted
	x.unlisted = map[int64]bool{}
	return slices.DeleteFunc(absent, func(g int64) bool {
		x.unlisted[g] = true // should its deletion fail, too
		return g > highest && !before[g]
	})
}

// discard drops a partition unless another process holds it.
func (x *Index) discard(ctx context.Context, c *pgxpool.Conn, generation int64) error {
	if _, err := c.Exec(ctx, "SET LOCAL lock_timeout = '1s'"); err != nil {
		return err
	}
	var s partition
	err := s.scan(c.QueryRow(ctx, partitionRow+" FOR UPDATE SKIP LOCKED", generation))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := c.Exec(ctx, "SAVEPOINT held"); err != nil {
		return err
	}
	err = x.deleteData(ctx, c, generation, "index_partition")
	if postgres.State(err) == postgres.LockNotAvailable {
		_, err = c.Exec(ctx, "ROLLBACK TO SAVEPOINT held")
	}
	return err
}
