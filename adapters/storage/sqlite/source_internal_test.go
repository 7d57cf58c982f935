package sqlite

import (
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

// What a connection is told, SQLite has understood: the folder, whatever its name holds, and
// that a sync reaches the disk on macOS, too.
func TestSource(t *testing.T) {
	for _, folder := range []string{"a", "with space", "a%20b", "a?b=c", "a#b", "ä"} {
		dir := filepath.Join(t.TempDir(), folder)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Logf("this system has no folder %q: %v", folder, err)
			continue
		}
		path := filepath.Join(dir, databaseFile)
		pool, err := sql.Open("sqlite", source(path, writing))
		if err != nil {
			t.Fatal(err)
		}
		for pragma, want := range map[string]int{"fullfsync": 1, "checkpoint_fullfsync": 1, "synchronous": 2,
			"secure_delete": 1} {
			var have int
			if err := pool.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&have); err != nil || have != want {
				t.Errorf("%s: %s is %d, %v; want %d", folder, pragma, have, err, want)
			}
		}
		if _, err := pool.ExecContext(t.Context(), "CREATE TABLE t (x)"); err != nil {
			t.Errorf("%s: %v", folder, err)
		}
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s: the database is not there: %v", folder, err)
		}
	}
	// Drives and shares of Windows: what stands between the second slash and the third is a host.
	for path, want := range map[string]string{"/data/mneme.db": "/data/mneme.db", "C:/data/mneme.db": "/C:/data/mneme.db",
		"//server/share/mneme.db": "//server/share/mneme.db"} {
		u, err := url.Parse(source(path, writing))
		if err != nil || u.Scheme != "file" || u.Host != "" || u.Path != want {
			t.Errorf("%s: %v, %v", path, u, err)
		}
	}
}
