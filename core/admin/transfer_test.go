package admin_test

import (
	"bytes"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/key"
)

// TestNamespaceTransfers: who administers the organizations takes a namespace out of one
// and brings it into another.
func TestNamespaceTransfers(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	c.write(c.Caller(key.Issue{}), "docs", "a", "Some words.")
	named := func(org, name string) admin.NamespaceRef {
		return admin.NamespaceRef{OrganizationRef: in(org), Namespace: name}
	}
	export := func(vectors *bool) []byte {
		t.Helper()
		var out bytes.Buffer
		x := does(c.own, t, c.ExportNamespace, admin.ExportNamespace{NamespaceRef: named("default", "docs"), Vectors: vectors})
		if err := x.Stream(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	bring := func(set []byte, policy string) admin.ImportNamespace {
		in := admin.ImportNamespace{NamespaceRef: named("acme", "copy"), OnConflict: policy}
		in.TakeBody(bytes.NewReader(set))
		return in
	}
	set, bare := export(nil), export(new(false))
	vectors := []byte(`"dense"`)
	if !bytes.Contains(set, vectors) || !bytes.Contains(export(new(true)), vectors) || bytes.Contains(bare, vectors) {
		t.Errorf("%d bytes with vectors, %d without", len(set), len(bare))
	}
	got := does(c.operator, t, c.ImportNamespace, bring(set, ""))
	if got.Namespace != "copy" || got.Created != 1 || got.Documents != 1 || got.Chunks != 1 || got.Embedded != 0 ||
		got.DataSet == "" || got.Hash == "" {
		t.Errorf("imported %+v", got)
	}
	if again := does(c.other, t, c.ImportNamespace, bring(bare, "skip")); again.Unchanged != 1 || again.Created != 0 {
		t.Errorf("again: %+v", again)
	}
	c.write(c.Caller(key.Issue{Org: "acme"}), "copy", "a", "Other words.")
	refuses(c.other, t, c.ImportNamespace, bring(set, ""), "conflict", "on_conflict")
	refuses(c.other, t, c.ImportNamespace, bring(set, "merge"), "invalid_request", "on_conflict")
	refuses(c.own, t, c.ImportNamespace, bring(set, ""), "not_found", "acme")
	refuses(c.own, t, c.ExportNamespace, admin.ExportNamespace{NamespaceRef: named("acme", "copy")}, "not_found", "acme")
	refuses(c.own, t, c.ExportNamespace, admin.ExportNamespace{NamespaceRef: named("default", "none")},
		"namespace_not_found", "none")
	refuses(c.own, t, c.ExportNamespace, admin.ExportNamespace{NamespaceRef: named("default", "No")}, "invalid_namespace")
}
