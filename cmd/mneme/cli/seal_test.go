package cli_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/seal"
)

// storedSecret opens the store of a folder beside a process that has it, and has fn use the
// default organization's place of a secret.
func storedSecret(t *testing.T, data string, keys []seal.Key, fn func(*seal.Sealer, port.SealPlace) error) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), data, sqlite.Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	at := port.SealPlace{Table: "source_secrets", Row: "src_1", Name: "token"}
	err = store.View(t.Context(), func(r port.Reader) error {
		o, err := r.OrganizationByName(t.Context(), ident.DefaultOrg)
		at.Org = o.ID
		return err
	})
	if err == nil {
		err = fn(seal.New(seal.Settings{Store: store, Keys: keys}), at)
	}
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
}

// The sealing key from the first start over a rotation to its loss, as an operator goes
// through it, and whatever is printed or logged in the meantime holds no key and no secret.
func TestSealingKeys(t *testing.T) {
	data, config := filepath.Join(t.TempDir(), "data"), configured(t, "roles: {embed: off, sparse: off, rerank: off}\n")
	file := filepath.Join(data, "seal.key")
	var shown strings.Builder
	run := func(args ...string) harness.Result {
		t.Helper()
		r := mneme(t, append(args, "--data", data, "--config", config)...)
		shown.WriteString(r.Stdout + r.Stderr)
		return r
	}
	says := func(r harness.Result, code int, want ...string) {
		t.Helper()
		for _, w := range want {
			if r.Code != code || !strings.Contains(r.Stdout+r.Stderr, w) {
				t.Errorf("code %d, want %d and %q:\n%s%s", r.Code, code, w, r.Stdout, r.Stderr)
			}
		}
	}
	read := func() []seal.Key {
		t.Helper()
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := seal.ParseKeys(string(body))
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}

	says(run("seal", "status"), 1, "there is no data in the folder")
	says(run("doctor"), 0, "ok    secrets", "does not exist yet")
	s := start(t, "--data", data, "--config", config, "--log-level", "debug")
	first := read()[0]
	if !strings.Contains(s.Logged(), "sealing key made") || !strings.Contains(s.Logged(), first.ID()) {
		t.Errorf("the log does not tell of the key:\n%s", s.Logged())
	}
	var value []byte
	storedSecret(t, data, read(), func(s *seal.Sealer, at port.SealPlace) (err error) {
		value, err = s.Seal(t.Context(), at, []byte("hunter2-of-a-source"))
		return err
	})
	says(run("seal", "status"), 0, first.ID()+"  seals  1") // beside the server
	if err := s.Stop(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	shown.WriteString(s.Logged())
	says(run("doctor"), 0, "ok    secrets  1 sealing key in")

	second, err := seal.ParseKeys(succeed(t, "seal", "key").Stdout)
	if err != nil || len(second) != 1 || second[0] == first {
		t.Fatalf("a new key: %d, %v", len(second), err)
	}
	write(t, file, second[0].Reveal()+"\n")
	status := run("seal", "status", "--json")
	var listed struct {
		Keys []struct {
			ID, State string
			DataKeys  int `json:"data_keys"`
		} `json:"sealing_keys"`
	}
	if err := json.Unmarshal([]byte(status.Stdout), &listed); err != nil || status.Code != 1 || len(listed.Keys) != 2 ||
		listed.Keys[0].ID != second[0].ID() || listed.Keys[0].State != "seals" || listed.Keys[0].DataKeys != 0 ||
		listed.Keys[1].ID != first.ID() || listed.Keys[1].State != "missing" || listed.Keys[1].DataKeys != 1 {
		t.Errorf("without the key that is needed: %d, %s, %v", status.Code, status.Stdout, err)
	}
	says(run("serve", "--addr", "127.0.0.1:0"), 1, "mneme: the store's secrets are sealed with the sealing key "+first.ID(),
		"the configured one is "+second[0].ID(), "'mneme seal forget'")
	says(run("seal", "rotate"), 1, "the store's secrets are sealed with the sealing key "+first.ID())
	says(run("doctor"), 1, "FAIL  secrets  the store's secrets are sealed with the sealing key "+first.ID())

	write(t, file, second[0].Reveal()+"\n"+first.Reveal()+"\n")
	says(run("seal", "status"), 0, second[0].ID()+"  seals  0", first.ID()+"  opens  1")
	says(run("seal", "rotate"), 0, "1 data key wrapped again; 1 data key wrapped by the sealing key "+second[0].ID(),
		"does not need the sealing key "+first.ID()+" any more")
	says(run("seal", "rotate"), 0, "0 data keys wrapped again")
	write(t, file, second[0].Reveal()+"\n")
	storedSecret(t, data, read(), func(s *seal.Sealer, at port.SealPlace) error {
		got, err := s.Open(t.Context(), at, value)
		if string(got) != "hunter2-of-a-source" {
			t.Errorf("after the rotation %q", got)
		}
		return err
	})

	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	says(run("doctor"), 0, "warn  secrets", "chmod 600")
	write(t, file, "hunter2-for-a-key!\n")
	says(run("doctor"), 1, "FAIL  secrets", "key 1 is not base64")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	before := contents(t, data)
	says(run("doctor"), 1, "FAIL  secrets", "no sealing key is configured", "put the sealing key back")
	if after := contents(t, data); after != before {
		t.Errorf("doctor changed\n%s\nto\n%s", before, after)
	}
	says(run("seal", "forget", "--yes"), 1, "this server keeps no secrets")
	third := seal.NewKey()
	write(t, file, third.Reveal())
	args := []string{"seal", "forget", "--data", data, "--config", config}
	says(answering(t, "n\n", args, nil), 1, "nothing was changed")
	says(run("seal", "status"), 1, "missing")
	says(run("seal", "forget", "--yes"), 0, "forgot 1 data key\n")
	says(run("seal", "status"), 0, third.ID()+"  seals  0")

	for _, secret := range []string{first.Reveal(), second[0].Reveal(), third.Reveal(), "hunter2"} {
		if strings.Contains(shown.String(), secret) {
			t.Errorf("%q shows in\n%s", secret, shown.String())
		}
	}
}

// The configuration is shown and checked without the sealing key in it.
func TestConfigHidesTheSealingKey(t *testing.T) {
	key := seal.NewKey().Reveal()
	file := configured(t, "seal: {key: '${MNEME_TEST_SEAL}'}\n")
	with := func(env string, args ...string) harness.Result {
		return mnemeIn(t, "", []string{env}, slices.Concat([]string{"config"}, args)...)
	}
	r := with("MNEME_SEAL_KEY="+key, "show")
	if r.Code != 0 || !strings.Contains(r.Stdout, "<redacted>") || strings.Contains(r.Stdout+r.Stderr, key) {
		t.Errorf("show: %+v", r)
	}
	if r = with("MNEME_TEST_SEAL="+key, "lint", file); r.Code != 0 {
		t.Errorf("lint: %+v", r)
	}
	r = with("MNEME_TEST_SEAL=hunter2!", "lint", file)
	if r.Code != 1 || !strings.Contains(r.Stdout, "seal.key: key 1 is not base64") ||
		strings.Contains(r.Stdout+r.Stderr, "hunter2") {
		t.Errorf("a bad key: %+v", r)
	}
	r = with("MNEME_SEAL_KEY="+key+" hunter2!", "show")
	if r.Code != 1 || !strings.Contains(r.Stderr, "environment MNEME_SEAL_KEY: seal.key: key 2 is not base64") ||
		strings.Contains(r.Stdout+r.Stderr, "hunter2") || strings.Contains(r.Stdout+r.Stderr, key) {
		t.Errorf("a bad variable: %+v", r)
	}
	if r := with("MNEME_TEST_SEAL=x", "lint", "--without-secrets", file); r.Code != 1 {
		t.Errorf("a bad key that is there passes: %+v", r)
	}
}
