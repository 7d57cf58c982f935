package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/member"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/session"
)

const password = "a long enough password"

// says is an identity provider that answers each sign-in alike.
type says struct {
	who port.Identity
	err error
}

func (*says) Name() string    { return "Staff login" }
func (*says) Problem() string { return "" }
func (p *says) Leave(_ context.Context, b port.SignInBinding) (string, error) {
	return "https://login.example.com/?state=" + b.State, p.err
}

func (p *says) Return(context.Context, port.ProviderAnswer, port.SignInBinding) (port.Identity, error) {
	return p.who, p.err
}

// withMembers is a world whose default organization has invited ann@example.com.
func withMembers(t *testing.T, s session.Settings) (w *world, invitation member.Invited) {
	t.Helper()
	w = begin(t, s)
	s.Members = member.New(member.Settings{Store: w.store, Organizations: w.keys, Pages: page.NewSigner([]byte("secret")),
		Now: w.clock})
	w.with(s)
	o, err := w.keys.Organization(w.ctx, ident.DefaultOrg)
	w.fine(err)
	in := member.Invite{Email: "ann@example.com", Role: string(ident.Viewer)}
	in.Org = ident.DefaultOrg
	invitation, err = s.Members.Invite(ident.WithPrincipal(w.ctx, ident.Principal{KeyID: "key_admin", Kind: ident.Admin,
		Org: o.ID, OrgName: o.Name}), in)
	w.fine(err)
	return w, invitation
}

// with is the same world under other settings.
func (w *world) with(s session.Settings) {
	s.Store, s.Keys, s.Now, s.Log = w.store, w.keys, w.clock, w.logger
	w.Service = session.New(s)
}

// Members sign in with the password that they chose; who is refused is refused for the audit log as
// well, and a store that fails is no wrong password.
func TestMembersSignIn(t *testing.T) {
	var refused []string
	w, i := withMembers(t, session.Settings{Refused: func(_ context.Context, r port.AuditRecord) error {
		refused = append(refused, r.Action)
		return fault.New(fault.Unavailable, "the log is gone")
	}})
	if ways := w.Ways(); ways != (session.Ways{Passwords: true}) {
		t.Errorf("ways: %+v", ways)
	}
	_, err := w.Accept(w.ctx, "mnsi_x", password, "")
	w.want(err, fault.Unauthorized)
	_, err = w.Accept(w.ctx, i.Code, "short", "")
	w.want(err, fault.InvalidRequest)
	b, err := w.Accept(w.ctx, i.Code, password, "")
	w.fine(err)
	_, err = w.BeginMember(w.ctx, ident.DefaultOrg, i.Email, "another password", "")
	w.want(err, fault.Unauthorized)
	in, err := w.BeginMember(w.ctx, ident.DefaultOrg, i.Email, password, "")
	w.fine(err)
	if in.Caller.KeyID != i.ID || in.Caller.Role != ident.Viewer || in.Token == b.Token {
		t.Errorf("signed in: %+v", in)
	}
	if strings.Join(refused, " ") != "console.invitation console.sign_in" ||
		!strings.Contains(w.log.String(), "refused sign-in not recorded") {
		t.Errorf("refused %v, log %s", refused, &w.log)
	}
	_, _, err = w.Leave(w.ctx)
	w.want(err, fault.Unauthorized)
	_, err = w.BeginWith(w.ctx, "", session.Answer{}, session.Binding{}, "")
	w.want(err, fault.Unauthorized)
	w.store.views = fault.New(fault.Unavailable, "the disk is gone")
	_, err = w.BeginMember(w.ctx, ident.DefaultOrg, i.Email, password, "")
	w.want(err, fault.Unavailable)
	w.store.views = nil

	w.with(session.Settings{}) // the server is started without members
	_, err = w.verify(in.Token, op.Administration)
	w.want(err, fault.Unauthorized)
}

// An account of the provider signs in its member, with the answer to this browser's own sign-in.
func TestAProviderSignsIn(t *testing.T) {
	ann := port.Identity{Issuer: "https://login.example.com", Subject: "1", Email: "ann@example.com", EmailVerified: true}
	p := &says{who: ann}
	w, i := withMembers(t, session.Settings{Provider: p, NoPasswords: true})
	if ways := w.Ways(); ways != (session.Ways{Provider: "Staff login"}) {
		t.Errorf("ways: %+v", ways)
	}
	address, b, err := w.Leave(w.ctx)
	w.fine(err)
	if !strings.HasSuffix(address, "="+b.State) || b.State == "" || b.Nonce == b.State || b.Verifier == b.Nonce {
		t.Errorf("it leads to %s with %+v", address, b)
	}
	for _, c := range []struct {
		a session.Answer
		b session.Binding
	}{{session.Answer{State: "x"}, b}, {session.Answer{}, b}, {session.Answer{}, session.Binding{}}} {
		_, err = w.BeginWith(w.ctx, "", c.a, c.b, "")
		w.want(err, fault.Unauthorized)
	}
	in, err := w.BeginWith(w.ctx, "", session.Answer{State: b.State}, b, "")
	w.fine(err)
	if in.Caller.KeyID != i.ID {
		t.Errorf("signed in: %+v", in)
	}
	for _, why := range []error{fault.New(fault.Unavailable, "down"), fault.New(fault.Unauthorized, "no")} {
		p.err = why
		if _, err = w.BeginWith(w.ctx, "", session.Answer{State: b.State}, b, ""); !errors.Is(err, why) {
			t.Errorf("it answered %v", err)
		}
	}
	k := w.issue(key.Issue{})
	w.want(w.ChangePassword(w.ctx, w.signIn(k.Secret).Token, "a", "b"), fault.Forbidden)
	w.with(session.Settings{Provider: p}) // for nobody
	if ways := w.Ways(); ways != (session.Ways{}) {
		t.Errorf("ways without members: %+v", ways)
	}
	_, _, err = w.Leave(w.ctx)
	w.want(err, fault.Unauthorized)
	_, err = w.BeginWith(w.ctx, "", session.Answer{State: b.State}, b, "")
	w.want(err, fault.Unauthorized)
}
