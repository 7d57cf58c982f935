package app_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
)

// startWith opens the product on a folder, has it make the first key, and closes it again.
func startWith(t *testing.T, dir, config string) (log string, works func(secret string) bool, err error) {
	t.Helper()
	var said bytes.Buffer
	a, err := openLogged(t, dir, frontModels+config, nil, slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close(t.Context()) })
	err = a.FirstKey(t.Context())
	works = func(secret string) bool {
		_, err := a.Keys.Verify(t.Context(), secret, op.Administration)
		return err == nil
	}
	return said.String(), works, err
}

func TestFirstKeyInAFile(t *testing.T) {
	dir, keep := t.TempDir(), t.TempDir()
	file := filepath.Join(keep, "first-key")
	config := fmt.Sprintf("first_key: {file: %q}\n", file)
	start := func(t *testing.T, dir, wantLog string) (secret string) {
		t.Helper()
		log, works, err := startWith(t, dir, config)
		if err != nil {
			t.Fatal(err)
		}
		body, err := os.ReadFile(file)
		if err == nil {
			secret = strings.TrimSuffix(string(body), "\n")
			if !works(secret) {
				t.Error("the key in the file opens nothing")
			}
			if strings.Contains(log, secret[4:]) {
				t.Errorf("the key is in the log: %s", log)
			}
		}
		if !strings.Contains(log, wantLog) {
			t.Errorf("the log does not say %q: %s", wantLog, log)
		}
		entries, err := os.ReadDir(keep)
		if err != nil || len(entries) > 1 {
			t.Errorf("beside the file: %v, %v", entries, err)
		}
		return secret
	}

	var made string
	t.Run("made", func(t *testing.T) {
		made = start(t, dir, "first key made")
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	})
	t.Run("used again", func(t *testing.T) {
		if again := start(t, dir, ""); again != made {
			t.Error("the key has changed")
		}
	})
	t.Run("taken away", func(t *testing.T) {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if again := start(t, dir, ""); again != "" {
			t.Error("a key was made where there is one")
		}
	})
	t.Run("given", func(t *testing.T) {
		given := key.NewFirst()
		if err := os.WriteFile(file, []byte(given+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		log, works, err := startWith(t, dir, config)
		if err != nil || works(given) || !strings.Contains(log, "first key unused") {
			t.Errorf("beside another: %v, %s", err, log)
		}
		if _, err := os.Stat(file); err != nil {
			t.Errorf("a file that was given is gone: %v", err)
		}
		if got := start(t, t.TempDir(), "first key made"); got != given {
			t.Error("another key than the given one")
		}
	})
	for name, body := range map[string]string{"empty": " \n", "a word": "hunter2hunter2\n", "huge": strings.Repeat("a", 1<<20)} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err := startWith(t, t.TempDir(), config)
			if err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "hunter") ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("no folder", func(t *testing.T) {
		_, _, err := startWith(t, t.TempDir(), fmt.Sprintf("first_key: {file: %q}\n", filepath.Join(keep, "none", "key")))
		if err == nil || !strings.Contains(err.Error(), "first_key.file") {
			t.Errorf("%v", err)
		}
	})
}
