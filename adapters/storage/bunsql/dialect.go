package bunsql

import "context"

// Dialect is what a database spells or does differently.
type Dialect interface {
	// Name is the database's name for messages.
	Name() string
	// Render replaces the {{tokens}} of a statement and its ? placeholders.
	// Tokens of queries: share (what is read stays as it is until the transaction
	// ends), each (a table named j with one text column value, from
	// a JSON array placeholder), tables (a table with the column name of all
	// tables), now (the database's clock in microseconds since 1970). Tokens of the schema: int64, blob, text
	// (bytewise order), identity (a never reused int64 primary key), strict and
	// keyed (table options; keyed tables are stored in primary-key order).
	Render(query string) string
	// Context is the context statements run under; a database where an
	// interrupted statement ends the whole transaction detaches it from ctx.
	Context(ctx context.Context) context.Context
	// Prepares reports whether a session keeps its statements prepared. Otherwise
	// the driver decides about that, statement by statement.
	Prepares() bool
	// Unique reports whether err is a violated unique constraint.
	Unique(err error) bool
	// Fault translates a driver's error; op names what was being done.
	Fault(op string, err error) error
}
