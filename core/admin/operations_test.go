package admin_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/op"
)

// declared is what the table of operations says of each: method and path, whether it
// changes anything, the most bytes of a body and the longest it takes.
const declared = `
admin.organizations.create       POST   /organizations change 65536 30s
admin.organizations.list         GET    /organizations read 0 10s
admin.organizations.get          GET    /organizations/{org} read 0 10s
admin.organizations.change       PATCH  /organizations/{org} change 65536 30s
admin.organizations.delete       DELETE /organizations/{org} change 0 30s
admin.keys.create                POST   /organizations/{org}/keys change 65536 30s
admin.keys.list                  GET    /organizations/{org}/keys read 0 10s
admin.keys.get                   GET    /organizations/{org}/keys/{id} read 0 10s
admin.keys.change                PATCH  /organizations/{org}/keys/{id} change 65536 30s
admin.keys.rotate                POST   /organizations/{org}/keys/{id}/rotate change 65536 30s optional
admin.keys.revoke                DELETE /organizations/{org}/keys/{id} change 0 30s
admin.integrations.create        POST   /organizations/{org}/integrations change 65536 30s
admin.integrations.list          GET    /organizations/{org}/integrations read 0 10s
admin.integrations.get           GET    /organizations/{org}/integrations/{integration} read 0 10s
admin.integrations.change        PATCH  /organizations/{org}/integrations/{integration} change 65536 30s
admin.integrations.keys.create   POST   /organizations/{org}/integrations/{integration}/keys change 65536 30s
admin.integrations.keys.list     GET    /organizations/{org}/integrations/{integration}/keys read 0 10s
admin.namespaces.list            GET    /organizations/{org}/namespaces read 0 10s
admin.namespaces.reindex         POST   /organizations/{org}/namespaces/{namespace}/reindex change 65536 30s optional
admin.namespaces.reindexing      GET    /organizations/{org}/namespaces/{namespace}/reindex read 0 10s
admin.namespaces.discard         DELETE /organizations/{org}/namespaces/{namespace}/reindex change 0 30s
admin.namespaces.export          GET    /organizations/{org}/namespaces/{namespace}/export read 0 10s
admin.namespaces.import          POST   /organizations/{org}/namespaces/{namespace}/import change 68719476736 24h0m0s
admin.end_users.list             GET    /organizations/{org}/end_users read 0 10s
admin.end_users.export           GET    /end_users/{id}/export read 0 10s
admin.end_users.erase            POST   /end_users/{id}/erase change 0 2m0s
admin.end_users.reindex          POST   /end_users/{id}/reindex change 65536 30s optional
admin.end_users.reindexing       GET    /end_users/{id}/reindex read 0 10s
admin.jobs.list                  GET    /jobs read 0 10s
admin.jobs.get                   GET    /jobs/{job} read 0 10s
admin.jobs.cancel                POST   /jobs/{job}/cancel change 0 30s
admin.settings.get               GET    /settings read 0 10s`

// TestOperations: the table of operations, which routes, limits and rights go by.
func TestOperations(t *testing.T) {
	want := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(declared)) {
		fields := strings.Fields(line)
		want[fields[0]] = strings.Join(fields[1:], " ")
	}
	for _, o := range admin.Operations() {
		s := o.Spec
		path, below := strings.CutPrefix(s.Path, "/admin/v1")
		if !below || s.Family != op.Administration || s.Class != op.Admin {
			t.Errorf("%s: %s of family %v and class %v", s.Name, s.Path, s.Family, s.Class)
		}
		kind := map[bool]string{true: "change", false: "read"}[s.Mutates]
		got := fmt.Sprint(s.Method, " ", path, " ", kind, " ", s.MaxBody, " ", s.Timeout)
		if s.BodyOptional {
			got += " optional"
		}
		if got != want[s.Name] {
			t.Errorf("%s is %s, want %s", s.Name, got, want[s.Name])
		}
		delete(want, s.Name)
		if len(s.Examples) == 0 {
			t.Errorf("%s has no example", s.Name)
		}
	}
	for name := range want {
		t.Errorf("%s is not declared", name)
	}
}
