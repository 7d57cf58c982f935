//go:build unix

package app_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/configs"
)

// What was compiled is run as it lies there, so the folder is one that nobody else writes into.
func TestCacheFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	cache := func(c configs.Config) (string, error) {
		logged.Reset()
		return app.Cache(&c, slog.New(slog.NewTextHandler(&logged, nil)))
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "user"))
	for want, c := range map[string]configs.Config{
		filepath.Join(dir, "named"):         {CacheDir: filepath.Join(dir, "named"), DataDir: filepath.Join(dir, "data")},
		filepath.Join(dir, "user", "mneme"): {DataDir: filepath.Join(dir, "data")},
		open:                                {CacheDir: open},
	} {
		got, err := cache(c)
		info, statErr := os.Stat(want)
		if err != nil || got != want || statErr != nil || info.Mode().Perm()&0o022 != 0 || logged.Len() > 0 {
			t.Errorf("%+v: %s, %v; %v, %v; %s", c, got, err, info.Mode(), statErr, logged.String())
		}
	}
	// Without a home the data folder has it; a folder that was named is not passed over.
	t.Setenv("XDG_CACHE_HOME", filepath.Join(file, "nobody"))
	want := filepath.Join(dir, "data", "cache")
	if got, err := cache(configs.Config{DataDir: filepath.Join(dir, "data")}); got != want || err != nil {
		t.Errorf("without a home: %s, %v", got, err)
	}
	if got, err := cache(configs.Config{CacheDir: filepath.Join(file, "x"), DataDir: dir}); err == nil {
		t.Errorf("a folder that cannot be made: %s", got)
	}
	if os.Geteuid() != 0 {
		return // only root can give a folder away
	}
	if err := os.Chown(open, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if got, err := cache(configs.Config{CacheDir: open}); got != "" || err != nil ||
		!strings.Contains(logged.String(), "cache folder writable by others") {
		t.Errorf("somebody else's: %q, %v, %s", got, err, logged.String())
	}
}
