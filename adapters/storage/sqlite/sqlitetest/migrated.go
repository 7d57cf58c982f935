// Package sqlitetest makes databases for tests of what runs over SQLite, by copying one:
// copying takes a fiftieth of the processor time of every migration.
//
// For tests only.
package sqlitetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// database is the file of a data directory that Migrate makes.
const database = "mneme.db"

// template is a database as a first start leaves it.
type template struct {
	file []byte
	org  ident.Org // of the name default
}

var made = sync.OnceValues(func() (made template, err error) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "sqlitetest-")
	if err != nil {
		return made, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // the operating system's folder for such things
	store, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		return made, err
	}
	err = store.View(ctx, func(r port.Reader) error {
		o, err := r.OrganizationByName(ctx, ident.DefaultOrg)
		made.org = o.ID
		return err
	})
	if err = errors.Join(err, store.Close()); err != nil {
		return made, err
	}
	made.file, err = os.ReadFile(filepath.Join(dir, database))
	return made, err
})

// copied is the template with a default organization of its own, as each first start makes one.
func (m template) copied() []byte {
	b := make([]byte, len(m.org)) // as many letters as are asked for, and more
	rand.Read(b)                  // never fails
	own := "org_" + strings.ToLower(base32.StdEncoding.EncodeToString(b))[:len(m.org)-len("org_")]
	return bytes.ReplaceAll(m.file, []byte(m.org), []byte(own))
}

// Migrate puts a database without any data into a folder, unless it has one.
func Migrate(t testing.TB, dir string) {
	t.Helper()
	file := filepath.Join(dir, database)
	if _, err := os.Stat(file); err == nil {
		return
	}
	m, err := made()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(file, m.copied(), 0o600)
	}
	if err != nil {
		t.Fatalf("make a database: %v", err)
	}
}

// Dir is a folder of the test with a database without any data.
func Dir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	Migrate(t, dir)
	return dir
}
