package cli_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// The commands about usage show what was done and what is kept, and set quotas, beside a server.
func TestUsage(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	start(t, "--data", data)
	succeed(t, "orgs", "create", "acme", "--data", data)

	quotas := func(args ...string) string {
		t.Helper()
		return succeed(t, append([]string{"usage", "quotas", "--org", "acme", "--data", data}, args...)...).Stdout
	}
	if out := quotas(); strings.Count(out, "unlimited") != 4 || !strings.HasPrefix(out, "QUOTA") {
		t.Errorf("at first:\n%s", out)
	}
	var q struct {
		Documents, Namespaces struct{ Limit *int }
		EndUsers              struct{ Limit *int } `json:"end_users"`
	}
	out := quotas("--documents", "7", "--end-users", "3", "--json")
	if err := json.Unmarshal([]byte(out), &q); err != nil || q.Documents.Limit == nil || *q.Documents.Limit != 7 ||
		q.EndUsers.Limit == nil || *q.EndUsers.Limit != 3 || q.Namespaces.Limit != nil {
		t.Errorf("set: %v %s", err, out)
	}
	if out := quotas("--documents", "0"); strings.Count(out, "unlimited") != 3 {
		t.Errorf("unset:\n%s", out)
	}

	var listed struct {
		Usage []struct {
			KeyID    string `json:"key_id"`
			Requests int
		}
	}
	out = succeed(t, "usage", "list", "--format", "json", "--data", data).Stdout
	if err := json.Unmarshal([]byte(out), &listed); err != nil || len(listed.Usage) == 0 ||
		!strings.HasPrefix(listed.Usage[0].KeyID, "key_") || listed.Usage[0].Requests == 0 {
		t.Errorf("list: %v %s", err, out)
	}
	for format, want := range map[string]string{"table": "FROM", "csv": "from,organization_id,"} {
		out := succeed(t, "usage", "list", "--by", "hour", "--format", format, "--data", data).Stdout
		if !strings.HasPrefix(out, want) {
			t.Errorf("as %s:\n%s", format, out)
		}
	}
	for _, args := range [][]string{{}, {"--json"}} {
		out := succeed(t, append([]string{"usage", "bytes", "--data", data}, args...)...).Stdout
		if !strings.HasPrefix(out, "ORGANIZATION") && !strings.Contains(out, `"kept": []`) {
			t.Errorf("bytes %v:\n%s", args, out)
		}
	}
	r := mneme(t, "usage", "list", "--format", "xml", "--data", data)
	if r.Code != 2 || !strings.Contains(r.Stderr, "--format must be table, json or csv") {
		t.Errorf("as xml: %+v", r)
	}
}
