package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/key"
)

// invited is the code that a page shows to anyone who has invited somebody.
func (b *browser) invited(email, role string) string {
	b.Helper()
	a := b.post("/console/o/default/members", url.Values{"email": {email}, "role": {role}})
	code := regexp.MustCompile(`mnsi_\w+`).FindString(a.text)
	if a.StatusCode != http.StatusOK || code == "" {
		b.Fatalf("inviting %s answered %d: %s", email, a.StatusCode, a.text)
	}
	if again := b.get("/console/o/default/members"); strings.Contains(again.text, code) {
		b.Error("the code is shown again")
	}
	return code
}

// member is the page of a member.
func (b *browser) member(email string) string {
	b.Helper()
	list := b.get("/console/o/default/members").body
	if end := strings.Index(list, ">"+email+"<"); end > 0 {
		if at := regexp.MustCompile(`members/mbr_[\w-]+`).FindAllString(list[:end], -1); len(at) > 0 {
			return "/console/o/default/" + at[len(at)-1]
		}
	}
	b.Fatalf("%s is not on the page", email)
	return ""
}

// joined is a browser of somebody who has taken an invitation.
func (b *browser) joined(email, role string) *browser {
	b.Helper()
	them := b.server.browser()
	a := them.post("/console/invitation", url.Values{"code": {b.invited(email, role)}, "password": {secret}, "again": {secret}})
	if a.StatusCode != http.StatusSeeOther {
		b.Fatalf("joining answered %d: %s", a.StatusCode, a.text)
	}
	return them
}

const secret = "a long enough password"

// People are invited, join, sign in with their password and do what their role lets them.
func TestMembers(t *testing.T) {
	s := serve(t, nil)
	operator := s.signedIn(s.key.Secret)
	owner := operator.joined("olga@example.com", "owner")
	admin, viewer := owner.joined("ada@example.com", "admin"), owner.joined("vic@example.com", "viewer")
	for who, c := range map[string]struct {
		b             *browser
		writes, owns  int
		sees, notSees string
	}{
		"owner":  {owner, http.StatusSeeOther, http.StatusSeeOther, "Invite a person", "which may only read"},
		"admin":  {admin, http.StatusSeeOther, http.StatusForbidden, "vic@example.com", "Invite a person"},
		"viewer": {viewer, http.StatusForbidden, http.StatusForbidden, "ada@example.com", "Invite a person"},
	} {
		page := c.b.get("/console/o/default/members")
		if page.StatusCode != http.StatusOK || !strings.Contains(page.text, c.sees) || strings.Contains(page.text, c.notSees) {
			t.Errorf("%s sees %d: %s", who, page.StatusCode, page.text)
		}
		written := c.b.post("/console/o/default/new-document",
			url.Values{"namespace": {"notes"}, "id": {who}, "text": {"A note."}})
		if written.StatusCode != c.writes {
			t.Errorf("%s writes: %d", who, written.StatusCode)
		}
		changed := c.b.post(owner.member("ada@example.com"), url.Values{"do": {"role"}, "role": {"admin"}})
		if changed.StatusCode != c.owns {
			t.Errorf("%s changes a role: %d", who, changed.StatusCode)
		}
	}
	if a := viewer.get("/console/account"); !strings.Contains(a.text, "vic@example.com") {
		t.Errorf("the account: %s", a.text)
	}
	if a := viewer.get("/console/o/acme/members"); a.StatusCode != http.StatusNotFound {
		t.Errorf("another organization: %d", a.StatusCode)
	}

	again := s.browser()
	signIn := func(org, email, password string) answer {
		return again.post("/console/session", url.Values{"org": {org}, "email": {email}, "password": {password}})
	}
	wrong, absent := signIn("default", "vic@example.com", "x"), signIn("default", "nobody@example.com", "x")
	if wrong.StatusCode != http.StatusForbidden || absent.StatusCode != http.StatusForbidden ||
		strings.ReplaceAll(wrong.text, "vic@", "nobody@") != absent.text {
		t.Errorf("a wrong password and a wrong address answer %d and %d", wrong.StatusCode, absent.StatusCode)
	}
	if a := signIn("default", "Vic@Example.com", secret); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("signing in answered %d: %s", a.StatusCode, a.text)
	}
	other := "another long password"
	if a := again.post("/console/account",
		url.Values{"old": {secret}, "password": {other}, "again": {other + "x"}}); a.StatusCode !=
		http.StatusUnprocessableEntity {
		t.Errorf("two passwords that differ: %d", a.StatusCode)
	}
	if a := again.post("/console/account", url.Values{"old": {secret}, "password": {other}, "again": {other}}); a.StatusCode !=
		http.StatusSeeOther {
		t.Errorf("another password: %d: %s", a.StatusCode, a.text)
	}
	if a := viewer.get("/console/account"); a.StatusCode == http.StatusOK {
		t.Error("the session of before goes on")
	}
	at := owner.member("vic@example.com")
	remove := func(typed string) int {
		return owner.post(at, url.Values{"do": {"remove"}, "typed": {typed}}).StatusCode
	}
	if got := remove("ada@example.com"); got != http.StatusUnprocessableEntity {
		t.Errorf("the wrong address typed: %d", got)
	}
	for range 2 { // safe to send twice
		if got := remove("vic@example.com"); got != http.StatusSeeOther {
			t.Errorf("removing: %d", got)
		}
	}
	if a := again.get("/console/account"); a.StatusCode == http.StatusOK {
		t.Error("the session of one who is gone goes on")
	}
}

// What an owner has typed wrongly stands on the page again with what is wrong, and the last owner stays one.
func TestWhatCannotBecomeOfAMember(t *testing.T) {
	s := serve(t, nil)
	operator := s.signedIn(s.key.Secret)
	operator.joined("olga@example.com", "owner")
	operator.post("/console/o/default/members", url.Values{"email": {"olga@example.com"}, "role": {"admin"}}).
		want(t, http.StatusUnprocessableEntity, "Invite a person").proper(t)
	a := operator.post("/console/o/default/members", url.Values{"email": {"no address"}, "role": {"admin"}}).
		want(t, http.StatusUnprocessableEntity, "must be an email address")
	a.proper(t)
	if !strings.Contains(a.body, `value="no address"`) || !strings.Contains(a.body, `<option value="admin" selected>`) {
		t.Errorf("what was typed is gone: %s", a.body)
	}
	olga := operator.member("olga@example.com")
	page := operator.get(olga).want(t, 200, "Give this role", "a password", "olga@example.com")
	page.proper(t)
	if strings.Contains(page.text, "Unbind") || !strings.Contains(page.body, `<option value="owner" selected>`) {
		t.Errorf("the page of an owner with a password: %s", page.body)
	}
	for _, f := range []url.Values{{"do": {"role"}, "role": {"viewer"}}, {"do": {"disable"}},
		{"do": {"remove"}, "typed": {"olga@example.com"}}} {
		operator.post(olga, f).want(t, http.StatusUnprocessableEntity, "last owner").proper(t)
	}
	operator.post(olga, url.Values{"do": {"again"}}).want(t, 200, "Pass this link on to olga@example.com").proper(t)
	operator.get("/console/o/default/members/mbr_absent").want(t, http.StatusNotFound)
	operator.post("/console/o/default/members/mbr_absent", url.Values{"do": {"again"}}).want(t, http.StatusNotFound)
}

// An admin may not make a way around the roles.
func TestAdminsMakeNoOwners(t *testing.T) {
	s := serve(t, nil)
	operator := s.signedIn(s.key.Secret)
	operator.joined("olga@example.com", "owner")
	admin := operator.joined("ada@example.com", "admin")
	admin.post("/console/o/default/members", url.Values{"email": {"eve@example.com"}, "role": {"owner"}}).
		want(t, http.StatusForbidden)
	self := admin.member("ada@example.com")
	for _, c := range []url.Values{{"do": {"again"}}, {"do": {"role"}, "role": {"owner"}}, {"do": {"unbind"}},
		{"do": {"disable"}}, {"do": {"remove"}, "typed": {"ada@example.com"}}} {
		admin.post(self, c).want(t, http.StatusForbidden)
	}
	if page := admin.get(self).want(t, 200, "ada@example.com", "Signs in with"); strings.Contains(page.text, "Remove") {
		t.Errorf("an admin is offered a form: %s", page.text)
	}
}

// An admin is offered no key of kind admin, which only owners make, change and revoke, and a viewer sees the limits that
// a key and an integration have.
func TestKeysOfKindAdminAreForOwners(t *testing.T) {
	s := serve(t, nil)
	root := s.signedIn(s.key.Secret)
	mine := s.issue(key.Issue{Org: "default", Name: "of the office"})
	at := "/console/o/default/keys/" + mine.ID
	root.get(at).want(t, 200, "Revoke the key")
	owner, admin := root.joined("olga@example.com", "owner"), root.joined("ada@example.com", "admin")
	owner.get(at).want(t, 200, "Revoke the key")
	owner.get("/console/o/default/keys").want(t, 200, "an administrator")
	admin.get(at).want(t, 200, "of the office").lacks(t, "Revoke the key", "Rotate the key", "It may only read")
	offered := admin.get("/console/o/default/keys").want(t, 200, "Make the key")
	offered.lacks(t, "an administrator")
	offered.proper(t)
	form := offered.form(t, "")
	form.Set("name", "checkout")
	admin.post("/console/o/default/keys", form).want(t, 200, "sk-service-")
	service := admin.keyNamed("checkout")
	admin.post(service, url.Values{"do": {"change"}, "name": {"till"}, "read": {"600"}, "write": {"0"}}).want(t, 303)
	root.integrationKey("bot")
	viewer := root.joined("vic@example.com", "viewer")
	viewer.get(service).want(t, 200, "Reads a minute 600", "Writes a minute unlimited").lacks(t, "Reranking")
	viewer.get("/console/o/default/integrations/bot").want(t, 200, "Memories of an end user 10", "Grants not required").
		lacks(t, "Name and quotas")
}
