package member

import (
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

const (
	all = "/admin/v1/organizations/{org}/members"
	one = all + "/{member}"
)

// Operations declares the routes of members (docs/contract.md#admin-members).
func Operations() []op.Op[*Service] {
	admin := func(name, method, path, summary string, faults ...fault.Code) op.Spec {
		return op.Spec{
			Name:    name,
			Group:   op.AdminMembers,
			Method:  method,
			Path:    path,
			Family:  op.Administration,
			Class:   op.Admin,
			Timeout: 10 * time.Second,
			Mutates: method != "GET",
			Summary: summary,
			Faults:  append([]fault.Code{fault.NotFound}, faults...),
		}
	}
	body := func(s op.Spec) op.Spec {
		s.MaxBody = 64 << 10
		s.Faults = append(s.Faults, fault.InvalidRequest, fault.InvalidJSON)
		return s
	}
	secret := func(s op.Spec) op.Spec {
		s.Answers = []op.Answer{{Status: 200, Summary: "The member with the code of the invitation.", Body: Invited{},
			Headers: []string{"Cache-Control"}}}
		return s
	}
	const forOwners = "For owners, and admin keys. "
	invite := secret(body(admin("admin.members.invite", "POST", all, "Invite a person; the code is in this answer alone",
		fault.Conflict)))
	invite.Description = forOwners + "Nothing is sent: pass the link on. It is good once, for seven days, to choose a password."
	again := secret(admin("admin.members.invite_again", "POST", one+"/invitation",
		"Make another invitation; the code is in this answer alone"))
	again.Description = forOwners + "It takes the place of the one before, and lets a member who has forgotten the password " +
		"choose another one."
	change := body(admin("admin.members.change", "PATCH", one,
		"Give a member another role, take signing in from one, or unbind an account",
		fault.Conflict))
	change.Description = forOwners + "A role holds from the member's next call on. One who is disabled is out at once and " +
		"cannot sign in, until that is taken back. The last owner stays one (409). With has_account false the account at the " +
		"identity provider is unbound, so that another one with the address can be."
	remove := admin("admin.members.remove", "DELETE", one, "Remove a member, whose sessions end at once", fault.Conflict)
	remove.Description = forOwners + "The last owner stays (409). Safe to repeat. Keys that the member made go on working."
	return op.WithLinks(op.WithExamples([]op.Op[*Service]{
		op.Define(invite, (*Service).Invite),
		op.Define(admin("admin.members.list", "GET", all, "List the members of an organization", fault.InvalidRequest,
			fault.InvalidCursor), (*Service).List),
		op.Define(admin("admin.members.get", "GET", one, "Read a member"), (*Service).Get),
		op.Define(change, (*Service).Change),
		op.Define(again, (*Service).InviteAgain),
		op.Define(remove, (*Service).Remove),
	}, examples()), links())
}

func links() map[string][]op.Link {
	member := map[string]string{"org": "$response.body#/organization_id", "member": "$response.body#/id"}
	return map[string][]op.Link{
		"admin.members.invite": {
			{Name: "read", To: "admin.members.get", Summary: "Read the member", Parameters: member},
			{Name: "change", To: "admin.members.change", Summary: "Give another role", Parameters: member},
			{Name: "again", To: "admin.members.invite_again", Summary: "Invite again", Parameters: member},
			{Name: "remove", To: "admin.members.remove", Summary: "Remove the member", Parameters: member},
		},
	}
}

func examples() map[string][]op.Example {
	const who = `"id": "mbr_019aa7d2-5f6e-7c3a-9d0e-3b1f6a2c4d5e", "organization_id": "org_aHehSzebxrAKYMh0",
		"email": "ann@example.com", `
	const invited = who + `"role": "viewer", "state": "invited", "has_password": false, "has_account": false,
		"disabled_at": null,
		"invited_by": "key_7Qm2xV9bTn4LwPzd", "created_at": "2026-11-25T08:00:00Z", "joined_at": null,
		"invitation_expires_at": "2026-12-02T08:00:00Z"`
	const joined = who + `"role": "admin", "state": "active", "has_password": true, "has_account": false,
		"disabled_at": null,
		"invited_by": "key_7Qm2xV9bTn4LwPzd", "created_at": "2026-11-25T08:00:00Z", "joined_at": "2026-11-25T09:00:00Z",
		"invitation_expires_at": null`
	const code = `"code": "mnsi_3ZKQ7VWX2RNB5MHYD6TCJ4PAFGLEUSO3ZKQ7VWX2RNB5MHYD6TCJ",
		"path": "/console/invitation#code=mnsi_3ZKQ7VWX2RNB5MHYD6TCJ4PAFGLEUSO3ZKQ7VWX2RNB5MHYD6TCJ"`
	path := map[string]string{"org": "acme", "member": "mbr_019aa7d2-5f6e-7c3a-9d0e-3b1f6a2c4d5e"}
	return map[string][]op.Example{
		"admin.members.invite": {{Name: "viewer", Summary: "Somebody who reads", Parameters: map[string]string{"org": "acme"},
			Body: `{"email": "ann@example.com", "role": "viewer"}`, Answer: `{` + invited + `, ` + code + `}`}},
		"admin.members.invite_again": {{Name: "again", Summary: "The first one has ended", Parameters: path,
			Answer: `{` + invited + `, ` + code + `}`}},
		"admin.members.list": {{Name: "first-page", Summary: "First page", Parameters: map[string]string{"org": "acme"},
			Answer: `{"members": [{` + joined + `}], "next_cursor": null}`}},
		"admin.members.get": {{Name: "active", Summary: "One who has joined", Parameters: path, Answer: `{` + joined + `}`}},
		"admin.members.change": {{Name: "admin", Summary: "Make an admin", Parameters: path, Body: `{"role": "admin"}`,
			Answer: `{` + joined + `}`}},
		"admin.members.remove": {{Name: "removed", Summary: "Removed", Parameters: path, Answer: `{"removed": true}`}},
	}
}
