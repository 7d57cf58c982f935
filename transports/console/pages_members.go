package console

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/member"
	"github.com/mnemehq/mneme/core/session"
)

// membersModel shows who may sign in to an organization as themselves.
type membersModel struct {
	Members []member.Member
	Next    string
	First   bool
	CanOwn  bool // the reader may change who is a member
	Self    string
	Invited *invited
	Form    form // that of a new member
	Ways    session.Ways
}

// invited is a new invitation, whose link is shown once.
type invited struct{ Link, For string }

func (v *visit) members() (view, error) { return v.showMembers(nil, nil) }

func (v *visit) showMembers(f *form, i *invited) (view, error) {
	q := v.r.URL.Query()
	list, err := do[member.Members](v, call{op: "admin.members.list", path: map[string]string{"org": v.org},
		query: asked(q, "cursor")})
	if err != nil {
		return view{}, err
	}
	m := membersModel{Members: list.Members, First: q.Get("cursor") == "", CanOwn: v.owns(), Self: v.caller.KeyID, Invited: i,
		Form: formOf(f), Ways: v.Sessions.Ways()}
	if list.NextCursor != nil {
		m.Next = *list.NextCursor
	}
	return showForm(f, view{title: "Members", template: "members", section: "members", model: m}, nil)
}

// owns reports whether the reader may change who is a member.
func (v *visit) owns() bool { return v.caller.Owns() && !v.caller.ReadOnly }

func (v *visit) inviteMember() (view, error) {
	f := v.r.PostForm
	made, err := do[member.Invited](v, call{op: "admin.members.invite", path: map[string]string{"org": v.org},
		body: map[string]string{"email": strings.TrimSpace(f.Get("email")), "role": f.Get("role")}})
	if wrong := v.refused(err); wrong != nil {
		return v.showMembers(wrong, nil)
	}
	if err != nil {
		return view{}, err
	}
	return v.showMembers(nil, &invited{v.address() + made.Path, made.Email})
}

// memberModel shows one member.
type memberModel struct {
	member.Member
	CanOwn  bool
	Self    bool // the reader is this member
	Invited *invited
	Form    *form
	Edit    form // of the role
	Ways    session.Ways
}

func (v *visit) memberPath() map[string]string {
	return map[string]string{"org": v.org, "member": v.r.PathValue("id")}
}

func (v *visit) member() (view, error) { return v.showMember(nil, nil) }

func (v *visit) showMember(f *form, i *invited) (view, error) {
	found, err := do[member.Member](v, call{op: "admin.members.get", path: v.memberPath()})
	if err != nil {
		return view{}, err
	}
	m := memberModel{Member: found, CanOwn: v.owns(), Self: found.ID == v.caller.KeyID, Invited: i, Form: f,
		Edit: f.Over(filled("role", valuesOfMember(found))), Ways: v.Sessions.Ways()}
	return showForm(f, view{title: found.Email, template: "member", section: "members", model: m,
		trail: []crumb{{"Members", pathOf("o", v.org, "members")}}}, nil)
}

// changeMember sends a change of the member, and says what was done.
func (v *visit) changeMember(body any, said string) (view, error) {
	_, err := do[member.Member](v, call{op: "admin.members.change", path: v.memberPath(), body: body})
	if wrong := v.refused(err); wrong != nil {
		return v.showMember(wrong, nil)
	}
	return view{goTo: pathOf("o", v.org, "members", v.r.PathValue("id")), said: said}, err
}

// valuesOfMember are what the form of the role is shown with.
func valuesOfMember(m member.Member) url.Values { return url.Values{"role": {m.Role}} }

func (v *visit) changeRole() (view, error) {
	m, err := do[member.Member](v, call{op: "admin.members.get", path: v.memberPath()})
	if err != nil {
		return view{}, err
	}
	if f := v.overtaken(valuesOfMember(m), edited{name: "role", label: "The role"}); f != nil {
		return v.showMember(f, nil)
	}
	return v.changeMember(map[string]string{"role": v.r.PostForm.Get("role")}, "saved")
}

func (v *visit) disableMember() (view, error) {
	return v.changeMember(map[string]bool{"disabled": true}, "shut-out")
}

func (v *visit) enableMember() (view, error) {
	return v.changeMember(map[string]bool{"disabled": false}, "let-in")
}

func (v *visit) unbindMember() (view, error) {
	return v.changeMember(map[string]bool{"has_account": false}, "unbound")
}

func (v *visit) inviteAgain() (view, error) {
	made, err := do[member.Invited](v, call{op: "admin.members.invite_again", path: v.memberPath()})
	if err != nil {
		return view{}, err
	}
	return v.showMember(nil, &invited{v.address() + made.Path, made.Email})
}

func (v *visit) removeMember() (view, error) {
	known, err := do[member.Member](v, call{op: "admin.members.get", path: v.memberPath()})
	switch {
	case fault.CodeOf(err) == fault.NotFound: // it was sent twice
		err = nil
	case err == nil && member.Address(v.r.PostForm.Get("typed")) != known.Email:
		return v.showMember(v.wrong("typed", "Type the address, "+known.Email+", to remove this member."), nil)
	case err == nil:
		_, err = do[member.Removed](v, call{op: "admin.members.remove", path: v.memberPath()})
		if wrong := v.refused(err); wrong != nil {
			return v.showMember(wrong, nil)
		}
	}
	return view{goTo: pathOf("o", v.org, "members"), said: "removed"}, err
}

// accountModel shows who is signed in.
type accountModel struct {
	Min     int
	Account bool // of an identity provider is bound to the member
	Form    *form
	Ways    session.Ways
}

func (v *visit) account() (view, error) { return v.showAccount(nil, 0) }

func (v *visit) showAccount(f *form, status int) (view, error) {
	m := accountModel{Min: member.MinPassword, Form: f, Ways: v.Sessions.Ways()}
	if v.caller.Role != "" && m.Ways.Provider != "" {
		me, err := do[member.Member](v, call{op: "admin.members.get",
			path: map[string]string{"org": string(v.caller.Org), "member": v.caller.KeyID}})
		if err != nil {
			return view{}, err
		}
		m.Account = me.HasAccount
	}
	return view{title: "Account", template: "account", section: "account", model: m, status: status}, nil
}

// changePassword gives the member who is signed in another password.
func (v *visit) changePassword() (view, error) {
	f, begun := v.r.PostForm, time.Now()
	if wait := v.limited(); wait != "" {
		return v.showAccount(v.wrong("", wait), http.StatusTooManyRequests)
	}
	if f.Get("password") != f.Get("again") {
		return v.showAccount(v.wrong("again", "The two new passwords differ."), http.StatusUnprocessableEntity)
	}
	err := v.Sessions.ChangePassword(v.r.Context(), v.token, f.Get("old"), f.Get("password"))
	switch x := fault.From(err); {
	case err == nil:
		return view{goTo: "account", said: "password"}, nil
	case x.Code == fault.Forbidden || x.Code == fault.InvalidRequest || x.Code == fault.Conflict:
		v.take(begun)
		field := "old"
		if x.Code == fault.InvalidRequest {
			field = "password"
		}
		return v.showAccount(v.wrong(field, sentence(x.Message)), fault.Status(x.Code))
	}
	return view{}, err
}

// unbindAccount unbinds the account at the identity provider from the member who is signed in.
func (v *visit) unbindAccount() (view, error) {
	return view{goTo: "account", said: "unbound"}, v.Sessions.Unbind(v.r.Context(), v.token)
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
