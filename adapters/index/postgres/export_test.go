package postgres

import (
	"context"
	"time"
)

// Tuned are options of an index that folds packs of so many bytes and builds
// graphs so soon.
func Tuned(o Options, foldAt int, settle time.Duration) Options {
	o.tuning = tuning{foldAt, settle}
	return o
}

// SessionState is what a session of the pool has beyond a fresh one's.
func SessionState(ctx context.Context, x *Index) (state string, err error) {
	err = x.pool.QueryRow(ctx, "SELECT concat_ws(', ', (SELECT string_agg(name || ' = ' || setting, ', ') FROM "+
		"pg_settings WHERE source = 'session'), (SELECT string_agg(statement, '; ') FROM pg_prepared_statements WHERE "+
		"name <> ''))").Scan(&state)
	return state, err
}
