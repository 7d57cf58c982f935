package console

import (
	"net/http"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/member"
	"github.com/mnemehq/mneme/core/session"
)

// membersModel shows who may sign in to an organization as themselves.
type membersModel struct {
	Members []member.Member
	Roles   []roleChoice
	Next    string
	First   bool
	CanOwn  bool // the reader may change who is a member
	Self    string
	Link    string // of a new invitation, shown once
	For     string // whom it is for
	Email   string // as it was typed
	Role    string
	Wrong   string
	Of      string // id of the member whose form was wrong; "": that of a new one
	Ways    session.Ways
}

// roleChoice is a role with what it means.
type roleChoice struct{ Name, Text string }

func roleChoices() []roleChoice {
	return []roleChoice{
		{"viewer", "viewer: sees everything, changes nothing"},
		{"admin", "admin: everything but members and admin keys"},
		{"owner", "owner: everything in this organization"},
	}
}

func (v *visit) members() (view, error) { return v.showMembers(membersModel{Role: "viewer"}, 0) }

func (v *visit) showMembers(m membersModel, status int) (view, error) {
	q := v.r.URL.Query()
	list, err := do[member.Members](v, call{op: "admin.members.list", path: map[string]string{"org": v.org},
		query: asked(q, "cursor")})
	if err != nil {
		return view{}, err
	}
	m.Members, m.Roles, m.First = list.Members, roleChoices(), q.Get("cursor") == ""
	m.CanOwn = v.caller.Owns() && !v.caller.ReadOnly
	m.Self, m.Ways = v.caller.KeyID, v.Sessions.Ways()
	if list.NextCursor != nil {
		m.Next = *list.NextCursor
	}
	return view{title: "Members", template: "members", section: "members", model: m, status: status}, nil
}

// changeMembers does what one of the forms of the members asks for.
func (v *visit) changeMembers() (view, error) {
	f := v.r.PostForm
	path := map[string]string{"org": v.org, "member": f.Get("member")}
	m := membersModel{Role: "viewer", Of: f.Get("member")}
	var err error
	switch f.Get("action") {
	case "invite":
		var made member.Invited
		m.Email, m.Role = strings.TrimSpace(f.Get("email")), f.Get("role")
		made, err = do[member.Invited](v, call{op: "admin.members.invite", path: path,
			body: map[string]string{"email": m.Email, "role": m.Role}})
		if err == nil {
			return v.showInvitation(made)
		}
	case "again":
		var made member.Invited
		if made, err = do[member.Invited](v, call{op: "admin.members.invite_again", path: path}); err == nil {
			return v.showInvitation(made)
		}
	case "role":
		_, err = do[member.Member](v, call{op: "admin.members.change", path: path,
			body: map[string]string{"role": f.Get("role")}})
	case "disable", "enable":
		_, err = do[member.Member](v, call{op: "admin.members.change", path: path,
			body: map[string]bool{"disabled": f.Get("action") == "disable"}})
	case "remove":
		var known member.Member
		known, err = do[member.Member](v, call{op: "admin.members.get", path: path})
		switch {
		case fault.CodeOf(err) == fault.NotFound: // it was sent twice
			err = nil
		case err == nil && member.Address(f.Get("email")) != known.Email:
			err = fault.New(fault.InvalidRequest, "type the address, %s, to remove this member", known.Email)
		case err == nil:
			_, err = do[member.Removed](v, call{op: "admin.members.remove", path: path})
		}
	default:
		err = fault.New(fault.InvalidRequest, "the form asks for nothing that this page does")
	}
	switch x := fault.From(err); {
	case err == nil:
		return view{goTo: pathOf("o", v.org, "members")}, nil
	case x.Code == fault.InvalidRequest || x.Code == fault.Conflict:
		m.Wrong = sentence(x.Message)
		return v.showMembers(m, fault.Status(x.Code))
	}
	return view{}, err
}

// showInvitation shows the link of a new invitation, which cannot be shown again.
func (v *visit) showInvitation(i member.Invited) (view, error) {
	return v.showMembers(membersModel{Role: "viewer", Link: v.address() + i.Path, For: i.Email}, 0)
}

// accountModel shows who is signed in.
type accountModel struct {
	Role, Email string
	Changed     bool // the password was
	Wrong       string
	Min         int
	Passwords   bool
}

func (v *visit) account() (view, error) {
	return v.showAccount(accountModel{Changed: v.r.URL.Query().Get("changed") == "1"}, 0)
}

func (v *visit) showAccount(m accountModel, status int) (view, error) {
	m.Role, m.Email, m.Min = string(v.caller.Role), v.caller.Email, member.MinPassword
	m.Passwords = v.Sessions.Ways().Passwords
	return view{title: "Account", template: "account", section: "account", model: m, status: status}, nil
}

// changePassword gives the member who is signed in another password.
func (v *visit) changePassword() (view, error) {
	f, begun := v.r.PostForm, time.Now()
	if wait := v.limited(); wait != "" {
		return v.showAccount(accountModel{Wrong: wait}, http.StatusTooManyRequests)
	}
	if f.Get("password") != f.Get("again") {
		return v.showAccount(accountModel{Wrong: "The two new passwords differ."}, http.StatusUnprocessableEntity)
	}
	err := v.Sessions.ChangePassword(v.r.Context(), v.token, f.Get("old"), f.Get("password"))
	switch x := fault.From(err); {
	case err == nil:
		return view{goTo: "account?changed=1"}, nil
	case x.Code == fault.Forbidden || x.Code == fault.InvalidRequest || x.Code == fault.Conflict:
		v.take(begun)
		return v.showAccount(accountModel{Wrong: sentence(x.Message)}, fault.Status(x.Code))
	}
	return view{}, err
}

// invitationModel is the page where an invitation is turned in.
type invitationModel struct {
	Code, Wrong, Refused string
	Min                  int
	Ways                 session.Ways
}

// invitationPage asks who has an invitation for a password.
func (s *site) invitationPage(v *visit) { v.showInvite(invitationModel{}, http.StatusOK) }

func (v *visit) showInvite(m invitationModel, status int) {
	m.Min, m.Ways = member.MinPassword, v.Sessions.Ways()
	if !v.secure && !onThisMachine(v.r) {
		m.Refused, status = inTheClear, http.StatusForbidden
	}
	v.show(view{title: "Invitation", template: "invitation", model: m, status: status})
}

// accept turns an invitation in, and begins a session.
func (s *site) accept(v *visit) {
	begun := time.Now()
	if !v.secure && !onThisMachine(v.r) {
		v.showInvite(invitationModel{}, http.StatusForbidden)
		return
	}
	if err := v.readForm(); err != nil {
		v.fail(err)
		return
	}
	f := v.r.PostForm
	m := invitationModel{Code: strings.TrimSpace(f.Get("code"))}
	if m.Wrong = v.limited(); m.Wrong != "" {
		v.showInvite(m, http.StatusTooManyRequests)
		return
	}
	if f.Get("password") != f.Get("again") {
		m.Wrong = "The two passwords differ."
		v.showInvite(m, http.StatusUnprocessableEntity)
		return
	}
	b, err := s.Sessions.Accept(v.r.Context(), m.Code, f.Get("password"), v.r.UserAgent())
	switch x := fault.From(err); {
	case err == nil:
		v.begin(b, "")
	case x.Code == fault.Unauthorized || x.Code == fault.InvalidRequest:
		v.take(begun)
		m.Wrong = sentence(x.Message)
		v.showInvite(m, http.StatusForbidden)
	default:
		v.fail(err)
	}
}
