// Package move holds the tests that move the data of real installations with
// the real binary: export, import and copy, between SQLite and PostgreSQL, killed
// at any moment and with damaged files.
//
// It holds tests only.
package move
