package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

func TestOrgsDelete(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := start(t, "--data", data)
	succeed(t, "orgs", "create", "acme", "--data", data)
	key := made(t, "sk-service-", succeed(t, "keys", "create", "--org", "acme", "--data", data).Stdout)
	if code, body := call(t, "POST", s.URL+"/namespaces/docs/documents", key,
		`{"documents":[{"id":"a","text":"A text."}]}`); code != 200 {
		t.Fatalf("write: %d %s", code, body)
	}
	orgs := func() string { return succeed(t, "orgs", "list", "--data", data).Stdout }

	for _, answer := range []string{"", "y\n", "default\n"} {
		r := answering(t, answer, []string{"orgs", "delete", "acme", "--data", data}, nil)
		if r.Code == 0 || !strings.Contains(r.Stderr, "acme (org_") || !strings.Contains(r.Stderr, "nothing was changed") {
			t.Errorf("answered %q: %d %s", answer, r.Code, r.Stderr)
		}
	}
	if code, _ := call(t, "GET", s.URL+"/namespaces", key, ""); code != 200 || !strings.Contains(orgs(), "acme") {
		t.Fatalf("after refusals a key of it answers %d:\n%s", code, orgs())
	}
	r := answering(t, "acme\n", []string{"orgs", "delete", "acme", "--data", data}, nil)
	if r.Code != 0 || !strings.Contains(r.Stdout, "deleted acme (org_") ||
		!strings.Contains(r.Stdout, "1 namespace, 1 document, 0 end users, 0 memories, 0 integrations, 1 key; nothing is left") {
		t.Errorf("%d %s%s", r.Code, r.Stdout, r.Stderr)
	}
	if code, _ := call(t, "GET", s.URL+"/namespaces", key, ""); code != 401 || strings.Contains(orgs(), "acme") {
		t.Errorf("afterwards a key of it answers %d:\n%s", code, orgs())
	}
	for _, org := range []string{"acme", "default"} {
		if r := mneme(t, "orgs", "delete", org, "--yes", "--data", data); r.Code == 0 {
			t.Errorf("deleted %s: %s", org, r.Stdout)
		}
	}

	// Without a server, too.
	if err := s.Stop(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	succeed(t, "orgs", "create", "late", "--data", data)
	var d struct{ Status string }
	out := succeed(t, "orgs", "delete", "late", "--yes", "--json", "--data", data).Stdout
	if err := json.Unmarshal([]byte(out), &d); err != nil || d.Status != "deleted" {
		t.Errorf("%v: %s", err, out)
	}
}

// TestOrgsDeleteOverKills: a server that is killed in the middle goes on with it at its
// next start.
func TestOrgsDeleteOverKills(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := start(t, "--data", data)
	succeed(t, "orgs", "create", "acme", "--data", data)
	key := made(t, "sk-service-", succeed(t, "keys", "create", "--org", "acme", "--data", data).Stdout)
	admin := made(t, "adm-", succeed(t, "keys", "create", "--type", "admin", "--all-organizations", "--data", data).Stdout)
	const namespaces = 120
	for i := range namespaces {
		if code, body := call(t, "POST", s.URL+"/namespaces", key, fmt.Sprintf(`{"name":"n%d"}`, i)); code != 200 {
			t.Fatalf("create: %d %s", code, body)
		}
	}
	type answer struct {
		ID      string
		Status  string
		Done    int
		Deleted struct{ Namespaces int }
	}
	remove := func(ref string) (a answer) {
		t.Helper()
		_, body := call(t, "DELETE", s.URL+"/admin/v1/organizations/"+ref+"?name=acme", admin, "")
		if err := json.Unmarshal([]byte(body), &a); err != nil || a.Status == "" {
			t.Fatalf("%v: %s", err, body)
		}
		return a
	}
	first := remove("acme")
	harness.Eventually(t, "its first namespaces to go", func() bool { return remove(first.ID).Done > 0 })
	s.Kill()
	s = start(t, "--data", data)
	if code, _ := call(t, "GET", s.URL+"/namespaces", key, ""); code != 401 && code != 403 {
		t.Errorf("after the kill its key answers %d", code)
	}
	var last answer
	harness.Eventually(t, "the end", func() bool { last = remove(first.ID); return last.Status == "deleted" })
	if last.Deleted.Namespaces != namespaces {
		t.Errorf("ended as %+v", last)
	}
}

// Where there is one database, no organization can be moved or placed, and the command says why.
func TestOrgsMoveNeedsDatabases(t *testing.T) {
	data := t.TempDir()
	succeed(t, "orgs", "create", "acme", "--data", data)
	r := mneme(t, "orgs", "move", "acme", "--to", "b", "--data", data)
	if r.Code == 0 || !strings.Contains(r.Stderr, "storage.postgres.databases") {
		t.Errorf("code %d: %s", r.Code, r.Stderr)
	}
	r = mneme(t, "orgs", "create", "other", "--database", "b", "--data", data)
	if r.Code == 0 || !strings.Contains(r.Stderr, "database") ||
		strings.Contains(succeed(t, "orgs", "list", "--data", data).Stdout, "other") {
		t.Errorf("made in a database: code %d: %s", r.Code, r.Stderr)
	}
	if r := mneme(t, "orgs", "move", "acme", "--data", data); r.Code == 0 || !strings.Contains(r.Stderr, "--to") {
		t.Errorf("without a database: code %d: %s", r.Code, r.Stderr)
	}
}
