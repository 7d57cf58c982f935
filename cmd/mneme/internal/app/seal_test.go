package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/core/seal"
)

// sealedIn opens the product on a folder, has fn use its sealer, and closes it.
func sealedIn(t *testing.T, dir, config string, fn func(port.Sealer, port.SealPlace)) {
	t.Helper()
	a, err := openIn(t, dir, frontModels+config)
	if err != nil {
		t.Fatal(err)
	}
	o, err := a.Keys.Organization(t.Context(), ident.DefaultOrg)
	if err != nil {
		t.Fatal(err)
	}
	fn(a.Engine.Sealer(), port.SealPlace{Org: o.ID, Table: "source_secrets", Row: "src_1", Name: "token"})
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// With SQLite the first start makes the sealing key, for its user alone, and later ones
// use it; a start without it, or with another, fails in a sentence once there are secrets.
func TestTheSealingKeyOfADataFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "data", "seal.key")
	keys := func() (string, seal.Key) {
		t.Helper()
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all, err := seal.ParseKeys(string(body))
		if err != nil || len(all) != 1 {
			t.Fatalf("%d keys, %v", len(all), err)
		}
		return string(body), all[0]
	}
	fails := func(config string, want ...string) {
		t.Helper()
		a, err := openIn(t, dir, frontModels+config)
		if err == nil {
			t.Fatalf("it opens; want %s", want)
		}
		if a != nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("not one sentence: %v", err)
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%v does not say %s", err, w)
			}
		}
	}

	sealedIn(t, dir, "", func(port.Sealer, port.SealPlace) {})
	first, made := keys()
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("made with mode %v, %v", info.Mode(), err)
	}
	// Without secrets it may go, and is made again.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	var value []byte
	sealedIn(t, dir, "", func(s port.Sealer, at port.SealPlace) {
		var err error
		if value, err = s.Seal(t.Context(), at, []byte("hunter2")); err != nil {
			t.Fatal(err)
		}
	})
	text, key := keys()
	if text == first || key == made {
		t.Error("the same key was made twice")
	}
	opens := func(config string) {
		t.Helper()
		sealedIn(t, dir, config, func(s port.Sealer, at port.SealPlace) {
			if got, err := s.Open(t.Context(), at, value); err != nil || string(got) != "hunter2" {
				t.Errorf("opened as %q, %v", got, err)
			}
		})
	}
	opens("")
	if again, _ := keys(); again != text {
		t.Error("another start has made another key")
	}

	elsewhere := filepath.Join(dir, "elsewhere.key")
	if err := os.Rename(file, elsewhere); err != nil {
		t.Fatal(err)
	}
	other := seal.NewKey()
	fails("", file+" is missing: ", key.ID(), "no sealing key is configured")
	if _, err := os.Stat(file); err == nil {
		t.Error("a start that failed has made a key")
	}
	fails("seal: {key: '"+other.Reveal()+"'}\n", key.ID(), other.ID())
	fails("seal: {key_file: '"+filepath.Join(dir, "none")+"'}\n", "read the sealing keys", "none")
	if err := os.WriteFile(filepath.Join(dir, "bad.key"), []byte("hunter2!\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fails("seal: {key_file: '"+filepath.Join(dir, "bad.key")+"'}\n", "bad.key: key 1 is not base64")
	opens("seal: {key_file: '" + elsewhere + "'}\n")
	opens("seal: {key: '" + other.Reveal() + "," + key.Reveal() + "'}\n")
	if _, err := os.Stat(file); err == nil {
		t.Error("a key was made beside the configured one")
	}
}

// A store that is not in the data folder has no key unless it is given one: that of
// another folder would be another.
func TestNoSealingKeyForAStoreElsewhere(t *testing.T) {
	dir := t.TempDir()
	key := seal.NewKey()
	if err := os.WriteFile(filepath.Join(dir, "seal.key"), []byte(key.Reveal()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		storage string
		config  configs.Seal
		file    string
		keys    int
	}{
		{"postgres", configs.Seal{}, "", 0},
		{"sqlite", configs.Seal{}, filepath.Join(dir, "seal.key"), 1},
		{"postgres", configs.Seal{Key: registry.Secret(key.Reveal())}, "", 1},
		{"postgres", configs.Seal{KeyFile: filepath.Join(dir, "seal.key")}, filepath.Join(dir, "seal.key"), 1},
	} {
		config := &configs.Config{DataDir: dir, Storage: registry.Selection{Component: c.storage}, Seal: c.config}
		keys, err := app.SealingKeys(config)
		if err != nil || len(keys) != c.keys || app.SealingKeyFile(config) != c.file {
			t.Errorf("%s, %+v: %d keys of %q, %v", c.storage, c.config, len(keys), app.SealingKeyFile(config), err)
		}
	}
	if _, err := app.SealingKeys(&configs.Config{Seal: configs.Seal{Key: "hunter2!"}}); err == nil ||
		strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a bad key: %v", err)
	}
}
