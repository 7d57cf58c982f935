// Package movetest holds the tests that move the data of real installations with
// the real binary: export, import and copy, between SQLite and PostgreSQL, killed
// at any moment and with damaged files.
//
// May import: the standard library, adapters/storage/sqlite to make data without
// a model, postgrestest. For tests only.
package movetest
