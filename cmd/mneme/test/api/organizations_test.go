package api_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
)

// rows lists the tables of the server's PostgreSQL that hold a text, as text or as bytes.
func (s *server) rows(marker string) (found []string) {
	s.t.Helper()
	if s.backend.file == laptop.file {
		return nil
	}
	conn, err := pgx.Connect(context.Background(), dsn(s.t, s.dir))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	read := func(query string, args ...any) []string {
		rows, err := conn.Query(context.Background(), query, args...)
		if err != nil {
			s.t.Fatalf("%s: %v", query, err)
		}
		out, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			s.t.Fatalf("%s: %v", query, err)
		}
		return out
	}
	for _, table := range read(`SELECT format('%I.%I', schemaname, tablename) FROM pg_tables ` +
		`WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`) {
		found = append(found, read(`SELECT DISTINCT $1 || '' FROM `+table+` AS x WHERE position($2 in lower(x::text)) > 0 `+
			`OR position($3 in x::text) > 0`, table, marker, hex.EncodeToString([]byte(marker)))...)
	}
	return found
}

// TestOrganizationDeletion: nothing of the organization is left anywhere, nobody comes in
// with its keys, and another one is as it was.
func TestOrganizationDeletion(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		root := start(t, b, options{})
		operator := root.operator()
		const mark, stay = "zqxdeletedmarker", "zqxstayingmarker"
		fill := func(org, marker string) (docs, chat *server) {
			docs = root.organization(org)
			chat = root.as(root.issue(key.Issue{Org: org, Kind: ident.Integration, Name: "c-" + marker,
				Integration: "i-" + marker, Scopes: everything(), Quotas: &ident.Quotas{}}))
			var all []object
			for i := range 80 { // enough for files of an index
				all = append(all, object{"id": fmt.Sprint(marker, i), "text": fmt.Sprint(marker, " says ", i, "."),
					"metadata": object{"of": marker}})
			}
			docs.write("n-"+marker, all...).ok()
			docs.query("n-"+marker, object{"query": marker}).ok()
			chat.fill("u-"+marker, marker)
			return docs, chat
		}
		docs, chat := fill("acme", mark)
		others, otherChat := fill("other", stay)
		if len(append(root.traces(mark), root.rows(mark)...)) == 0 {
			t.Fatal("the marker is not stored: the test would see nothing")
		}
		id := operator.get("/admin/v1/organizations/acme").ok().json["id"].(string)
		operator.do("DELETE", "/admin/v1/organizations/acme", nil).fails(400, "invalid_request", "name")
		operator.do("DELETE", "/admin/v1/organizations/acme?name=other", nil).fails(400, "invalid_request", "name")

		path := "/admin/v1/organizations/" + id + "?name=acme"
		begun := operator.remove(path)
		if begun.status != 202 && begun.status != 200 {
			t.Errorf("begun with %d %s", begun.status, begun.body)
		}
		for _, s := range []*server{docs, chat} { // at once, also while it goes on
			if r := s.get("/namespaces"); s == docs && r.status != 403 && r.status != 401 {
				t.Errorf("a service key: %d %s", r.status, r.body)
			}
			if r := s.get("/api/v1/status"); s == chat && r.status != 403 && r.status != 401 {
				t.Errorf("an integration's key: %d %s", r.status, r.body)
			}
		}
		var last *reply
		harness.Eventually(t, "the end of the deletion", func() bool {
			last = operator.remove(path)
			return last.status == 200
		})
		removed, _ := last.json["deleted"].(object)
		if last.json["status"] != "deleted" || last.json["id"] != id || removed["namespaces"] != 1.0 ||
			removed["documents"] != 80.0 || removed["end_users"] != 1.0 || removed["memories"] != 202.0 ||
			removed["integrations"] != 1.0 || removed["keys"] != 2.0 {
			t.Errorf("ended as %s", last.body)
		}
		if got := append(root.left(mark), root.rows(mark)...); len(got) != 0 {
			t.Errorf("%v hold the marker", got)
		}
		harness.Eventually(t, "the end of what is kept of a verified key", func() bool {
			r := docs.get("/namespaces")
			if r.status != 401 {
				r.fails(403, "forbidden", "being deleted")
			}
			return r.status == 401
		})
		if r := operator.remove("/admin/v1/organizations/acme?name=acme").ok(); r.json["status"] != "absent" {
			t.Errorf("once more: %s", r.body)
		}
		if got := strings.Join(column(operator.get("/admin/v1/organizations").ok().list("organizations"), "name"),
			" "); got != "default other" {
			t.Errorf("organizations %s", got)
		}
		if got := others.query("n-"+stay, object{"query": stay, "top_k": 100}).ok().list("results"); len(got) != 80 {
			t.Errorf("%d documents of the other are found", len(got))
		}
		if got := otherChat.search("u-"+stay, stay, "limit", 100); len(got) != 100 {
			t.Errorf("%d memories of the other are found", len(got))
		}
		next := root.restart(nil)
		if got := append(next.left(mark), next.rows(mark)...); len(got) != 0 {
			t.Errorf("after a restart %v hold the marker", got)
		}
	})
}
