package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The commands about the audit log show what was done, also by commands, write it out and
// verify it, beside a server and without one.
func TestAudit(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := start(t, "--data", data)
	succeed(t, "orgs", "create", "acme", "--data", data)
	secret := strings.TrimSpace(succeed(t, "keys", "create", "--org", "acme", "--name", "till", "--data", data).Stdout)
	type record struct {
		Seq    int
		Actor  string
		Action string
		Target string
		Org    string `json:"organization_id"`
		Fields []string
	}
	list := func(args ...string) (actions []string, all []record) {
		t.Helper()
		var l struct{ Records []record }
		out := succeed(t, append([]string{"audit", "list", "--json", "--data", data}, args...)...).Stdout
		if err := json.Unmarshal([]byte(out), &l); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, r := range l.Records {
			actions = append(actions, r.Action)
		}
		return actions, l.Records
	}
	got, rs := list("--org", "acme")
	if fmt.Sprint(got) != "[cli.keys.create cli.orgs.create]" {
		t.Fatalf("recorded %v", got)
	}
	if !strings.HasPrefix(rs[0].Target, "key_") || rs[1].Target != rs[1].Org || rs[0].Actor != "cli" {
		t.Errorf("records %+v", rs)
	}
	if got, _ := list("--org", "acme", "--limit", "1"); fmt.Sprint(got) != "[cli.keys.create]" {
		t.Errorf("one: %v", got)
	}
	if got, _ := list("--action", "cli.orgs.create", "--actor", "cli", "--limit", "0"); fmt.Sprint(got) != "[cli.orgs.create]" {
		t.Errorf("of an action: %v", got)
	}
	if got, _ := list("--refused"); len(got) != 0 {
		t.Errorf("refused: %v", got)
	}
	table := succeed(t, "audit", "list", "--data", data).Stdout
	if !strings.HasPrefix(table, "SEQ") || !strings.Contains(table, "cli.local.key") || !strings.Contains(table, rs[0].Target) {
		t.Errorf("as a table:\n%s", table)
	}
	for format, want := range map[string]string{"ndjson": `"action":"cli.keys.create"`, "csv": ",cli.keys.create,"} {
		out := succeed(t, "audit", "export", "--format", format, "--org", "acme", "--data", data).Stdout
		if !strings.Contains(out, want) || strings.Contains(out, secret) || strings.Contains(out, "local.key") {
			t.Errorf("as %s:\n%s", format, out)
		}
	}
	verified := succeed(t, "audit", "verify", "--data", data).Stdout
	_, known, ok := strings.Cut(strings.TrimSpace(verified), "last ")
	if !ok || !strings.HasPrefix(verified, "3 records verified\n") {
		t.Fatalf("verified: %s", verified)
	}

	// Without a server, too.
	if err := s.Stop(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	succeed(t, "keys", "create", "--org", "acme", "--data", data)
	out := succeed(t, "audit", "verify", "--known", known, "--data", data).Stdout
	if !strings.HasPrefix(out, "4 records verified\n") {
		t.Errorf("verified: %s", out)
	}
	wrong := "1" + known[strings.Index(known, ":"):]
	for _, args := range [][]string{{}, {"--json"}} {
		r := mneme(t, append([]string{"audit", "verify", "--known", wrong, "--data", data}, args...)...)
		if r.Code == 0 || !strings.Contains(r.Stderr, "record 1 was changed") {
			t.Errorf("with another hash: %+v", r)
		}
	}
	for _, args := range [][]string{{"list", "--limit", "-1"}, {"export", "--format", "xml"}} {
		if r := mneme(t, append(append([]string{"audit"}, args...), "--data", data)...); r.Code == 0 || r.Stdout != "" {
			t.Errorf("%v: %+v", args, r)
		}
	}
}
