package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
)

// A look leaves nothing behind, the step is told.
func TestMigrate(t *testing.T) {
	known, err := bunsql.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	const dir = "data" // a relative folder is the default configuration's
	for _, step := range []struct {
		dry  bool
		from int
	}{{true, 0}, {false, 0}, {true, len(known)}, {false, len(known)}} {
		from, to, err := sqlite.Migrate(t.Context(), dir, sqlite.Options{}, step.dry)
		if err != nil || from != step.from || to != len(known) {
			t.Errorf("Migrate, dry %v: %d to %d, %v; want %d to %d", step.dry, from, to, err, step.from, len(known))
		}
		if _, err := os.Stat(filepath.Join(dir, "mneme.db")); step.dry && step.from == 0 && !os.IsNotExist(err) {
			t.Errorf("a look made the database: %v", err)
		}
	}
}
