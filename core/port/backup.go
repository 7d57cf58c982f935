package port

import (
	"context"
	"time"
)

// Dumper is a store that can be backed up as a whole.
type Dumper interface {
	// Dump runs fn on one snapshot of everything that the store holds. Reads and writes go on
	// beside it.
	Dump(ctx context.Context, fn func(Dump) error) error
}

// Dump is all that a store holds, table by table: as it is now, or as a backup kept it.
type Dump interface {
	// Schema is the version of the schema that the tables have.
	Schema() int
	// Tables lists the tables. One that refers to another comes after it. Of several databases those of the
	// home come first; the others' are called DATABASE/TABLE.
	Tables() []DumpTable
	// Rows visits the rows of a table in an order that stays the same while they do; what is
	// written last comes late where the table allows it. A row is good until visit returns
	// (packing.Row).
	Rows(ctx context.Context, table string, visit func(row []byte) error) error
}

// DumpTable is a table of a dump.
type DumpTable struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
}

// Restoring is what an empty store is filled with.
type Restoring struct {
	Dump
	// Erased are the generations of end users that were erased after the dump was made. The
	// store marks them, so that the server that opens it erases them again.
	Erased []int64
	At     time.Time // of the marks
}

// BackupPlace is where backups are kept: objects by name, each written whole and once. Names are
// of lower case letters, digits, dashes, dots and slashes.
type BackupPlace interface {
	// Read reads an object, or n bytes from off on where n is not 0; fault NotFound when absent.
	Read(ctx context.Context, name string, off, n int64) ([]byte, error)
	// Write stores an object durably. One that exists is replaced at once, or not at all.
	Write(ctx context.Context, name string, body []byte) error
	// List visits the objects whose names begin with a prefix that ends in a slash, or all
	// with "", in any order.
	List(ctx context.Context, prefix string, visit func(name string, size int64) error) error
	// Remove removes an object; an absent one is no error.
	Remove(ctx context.Context, name string) error
	// Lock keeps other processes from writing to the place until release is called or this
	// process ends; fault Conflict when another has it. held fails once the lock may be lost.
	Lock(ctx context.Context) (held func() error, release func(), err error)
	// String names the place for people, without secrets.
	String() string
}
