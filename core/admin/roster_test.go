package admin_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/memory"
)

// rows are end users as id/integration.
func rows(users []admin.EndUser) (out []string) {
	for _, u := range users {
		out = append(out, u.ID+"/"+u.IntegrationName)
	}
	return out
}

func TestRoster(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	roster := func(l admin.ListEndUsers) admin.EndUsers {
		t.Helper()
		l.Org = "default"
		return does(c.operator, t, c.ListEndUsers, l)
	}
	if r := roster(admin.ListEndUsers{}); r.EndUsers == nil || len(r.EndUsers) != 0 || r.NextCursor != nil {
		t.Errorf("an empty roster is %+v", r)
	}
	chat, app := c.app("", "chat"), c.app("", "app")
	c.app("acme", "chat").remember("eve", "home", "Not for this organization.")
	begun := c.Now()
	chat.remember("ann", "home", "Ann lives in Lyon.", "Ann has a dog.")
	c.forward(time.Minute)
	chat.remember("ann", "work", "At work.")
	app.remember("ann", "home", "Another Ann.")
	want := []string{"ann/app", "ann/chat"}
	for i := range 25 {
		id := fmt.Sprintf("user-%02d", i)
		chat.remember(id, "", "Hello.")
		want = append(want, id+"/chat")
	}
	// Looking creates nobody.
	coretest.Ask(chat.ctx, t, c.memories.Search, coretest.Object{"endUserId": "ghost", "query": "x"}).OK()
	coretest.Ask(chat.ctx, t, c.memories.List, coretest.Object{}, func(in *memory.List) { in.EndUserID = "ghost" }).OK()

	all := coretest.Ask(c.operator, t, c.ListEndUsers, coretest.Object{},
		func(l *admin.ListEndUsers) { l.Org, l.Listing = "default", upTo(1000, "") }).OK()
	coretest.Fields(t, "a row", all.List("end_users")[0], "id", "integration", "integration_name", "memories", "containers",
		"bytes", "first_seen", "last_seen", "erasing")
	whole := roster(admin.ListEndUsers{Listing: upTo(1000, "")})
	byID := func(a, b admin.EndUser) int { return strings.Compare(a.ID, b.ID) } // then by the integration's id, which is random
	if got := rows(whole.EndUsers); !slices.IsSortedFunc(whole.EndUsers, byID) || whole.NextCursor != nil ||
		!slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("listed %v", got)
	}
	i := slices.IndexFunc(whole.EndUsers, func(u admin.EndUser) bool { return u.ID == "ann" && u.IntegrationName == "chat" })
	ann := whole.EndUsers[i]
	if ann.Memories != 3 || ann.Containers != 2 || ann.Bytes != int64(len("Ann lives in Lyon.Ann has a dog.At work.")) ||
		ann.Erasing != nil || ann.Integration == "" {
		t.Errorf("ann's row is %+v", ann)
	}
	if first := begun.UTC().Truncate(time.Millisecond); !ann.FirstSeen.Equal(first) ||
		!ann.LastSeen.Equal(first.Add(time.Minute)) || ann.FirstSeen.Location() != time.UTC ||
		ann.LastSeen.Location() != time.UTC {
		t.Errorf("ann was seen first at %v and last at %v, and not at %v and a minute later", ann.FirstSeen, ann.LastSeen, first)
	}

	// Pages give the same rows in the same order, whatever their size.
	for _, size := range []int{1, 2, 10, 26, 27, 28} {
		got := paged(t, size, func(l admin.Listing) ([]admin.EndUser, *string) {
			page := roster(admin.ListEndUsers{Listing: l})
			return page.EndUsers, page.NextCursor
		})
		if !slices.Equal(rows(got), rows(whole.EndUsers)) {
			t.Errorf("pages of %d give %v", size, rows(got))
		}
	}
	for _, f := range []struct {
		query, integration string
		want               int
	}{
		{"user-1", "", 10}, {"user-1", "app", 0}, {"ann", "", 2}, {"ann", "chat", 1}, {"", "app", 1},
		{"", ann.Integration, 26}, {"%", "", 0}, {"user-_", "", 0}, {"USER", "", 0}, {"ser", "", 0},
	} {
		got := rows(roster(admin.ListEndUsers{Query: f.query, Integration: f.integration}).EndUsers)
		if len(got) != f.want {
			t.Errorf("query %q, integration %q give %v", f.query, f.integration, got)
		}
	}
	if got := rows(roster(admin.ListEndUsers{Integration: "app"}).EndUsers); !slices.Equal(got, []string{"ann/app"}) {
		t.Errorf("integration app has %v", got)
	}
	if got := rows(roster(admin.ListEndUsers{Query: "user-1"}).EndUsers); got[0] != "user-10/chat" {
		t.Errorf("query user-1 begins with %v", got)
	}
	acme := does(c.operator, t, c.ListEndUsers, admin.ListEndUsers{OrganizationRef: in("acme")})
	if got := rows(acme.EndUsers); !slices.Equal(got, []string{"eve/chat"}) {
		t.Errorf("organization acme has %v", got)
	}
	own := does(c.own, t, c.ListEndUsers, admin.ListEndUsers{OrganizationRef: in("default")})
	if len(own.EndUsers) != 27 {
		t.Errorf("the organization's administrator sees %v", rows(own.EndUsers))
	}
}

func TestRosterRefuses(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	chat := c.app("", "chat")
	c.app("acme", "chat")
	chat.remember("ann", "", "Hello.")
	chat.remember("bob", "", "Hello.")
	of := func(org string, l admin.ListEndUsers) admin.ListEndUsers { l.Org = org; return l }
	cursor := *does(c.operator, t, c.ListEndUsers, of("default", admin.ListEndUsers{Listing: upTo(1, "")})).NextCursor
	at := upTo(1, cursor)
	for name, l := range map[string]admin.ListEndUsers{
		"of another query":       of("default", admin.ListEndUsers{Query: "bob", Listing: at}),
		"of one integration":     of("default", admin.ListEndUsers{Integration: "chat", Listing: at}),
		"of another one":         of("acme", admin.ListEndUsers{Listing: at}),
		"changed":                of("default", admin.ListEndUsers{Listing: upTo(1, cursor[:len(cursor)-1]+"_")}),
		"of another integration": of("acme", admin.ListEndUsers{Integration: "chat", Listing: at}),
	} {
		t.Run(name, func(t *testing.T) { refuses(c.operator, t, c.ListEndUsers, l, "invalid_cursor", "cursor") })
	}
	refuses(c.operator, t, c.ListEndUsers, of("default", admin.ListEndUsers{Integration: "none"}), "not_found", "none")
	refuses(c.operator, t, c.ListEndUsers, of("none", admin.ListEndUsers{}), "not_found", "none")
	refuses(c.own, t, c.ListEndUsers, of("acme", admin.ListEndUsers{}), "not_found", "acme")
	refuses(c.operator, t, c.ListEndUsers, of("default", admin.ListEndUsers{Query: "\x00"}), "invalid_request", "query")
	for _, limit := range []int{0, -1, 1001} {
		refuses(c.operator, t, c.ListEndUsers, of("default", admin.ListEndUsers{Listing: upTo(limit, "")}), "invalid_request",
			"limit")
	}
}
