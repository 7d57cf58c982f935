package console

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/session"
)

// signInModel is the model of the page that asks for a key, or for a member's password.
type signInModel struct {
	Return       string // page to go on to
	Wrong        string // why the last try with a key did not work
	Ended        string // why there is no session any more
	Refused      string // why nobody can sign in here
	Organization string
	Email        string
	WrongMember  string // why the last try as a member did not work
	Member       bool   // the last try was one as a member
	Ways         session.Ways
	Kept         string   // the form that was sent without a session, without its secrets
	Wrongly      string   // why the last try at the identity provider did not work
	Choice       []string // organizations of which the account is a member, one of which has to be chosen
}

const inTheClear = "Nobody can sign in here: the connection is not encrypted, so a key could be read on its way. " +
	"Open the console by https (server.tls, or a proxy and server.base_url), or on the server's own machine as localhost."

// signInPage asks for a key.
func (s *site) signInPage(v *visit) {
	q := v.r.URL.Query()
	if v.identify() == nil {
		v.redirect(wayBack(q.Get("return")))
		return
	}
	v.showSignIn(signInModel{Return: wayBack(q.Get("return")), Organization: q.Get("org"), Member: q.Has("org")}, http.StatusOK)
}

// askToSignIn answers a page that wants a session which there is not, or no more.
func (v *visit) askToSignIn(err error) {
	f := fault.From(err)
	if f.Code != fault.Unauthorized && f.Code != fault.Forbidden {
		v.fail(err)
		return
	}
	to := "sign-in"
	if back := v.here(); v.r.Method == http.MethodGet && back != "" {
		to += "?return=" + url.QueryEscape(back)
	}
	if f.Message == "" { // there was none
		v.redirect(to)
		return
	}
	v.showSignIn(signInModel{Return: wayBack(v.here()), Ended: f.Message, Kept: v.keptForm()}, http.StatusUnauthorized)
}

// maxKept bounds a form that is kept until somebody has signed in again.
const maxKept = 256 << 10

// keptForm is the form that was sent, without its secrets and files, so that it can be sent once there is a session
// again; "": there was none.
func (v *visit) keptForm() string {
	if v.r.Method != http.MethodPost || v.r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" ||
		v.readForm() != nil {
		return ""
	}
	kept := url.Values{}
	for name, values := range v.r.PostForm {
		switch name {
		case "old", "password", "again", "key", "code":
			continue
		}
		if !strings.HasPrefix(name, "secrets.") {
			kept[name] = values
		}
	}
	if encoded := kept.Encode(); len(encoded) <= maxKept {
		return encoded
	}
	return ""
}

// keptModel is a form that was sent when its session had ended.
type keptModel struct {
	To     string // page that it is sent to
	Fields []fact
}

// begun leads on to where somebody who has signed in wanted to go, or shows the form that they had sent. Nothing is done
// with it by itself: it may be another person now.
func (v *visit) begun(b session.Begun, m signInModel) {
	values, err := url.ParseQuery(m.Kept)
	if err != nil || len(values) == 0 || m.Return == "" {
		v.begin(b, m.Return)
		return
	}
	shown := keptModel{To: m.Return}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, value := range values[name] {
			shown.Fields = append(shown.Fields, fact{name, value})
		}
	}
	v.keep(b)
	v.token, v.caller, v.org = b.Token, b.Caller, b.Caller.OrgName
	v.show(view{title: "Signed in again", template: "kept", model: shown})
}

func (v *visit) showSignIn(m signInModel, status int) {
	if !v.secure && !onThisMachine(v.r) {
		m.Refused, status = inTheClear, http.StatusForbidden
	}
	m.Ways = v.Sessions.Ways()
	v.show(view{title: "Sign in", template: "sign-in", model: m, status: status})
}

// limited counts a try to get in, and says so where there were too many.
func (v *visit) limited() string {
	ctx, from := v.r.Context(), v.counted(v.r)
	if v.Allow == nil || v.Allow(ctx, from, rateAddress) && v.Allow(ctx, "", rateAll) {
		return ""
	}
	v.Log.InfoContext(ctx, "console sign-in limited", "address", from)
	v.w.Header().Set("Retry-After", "60")
	return "There were too many tries. Wait a minute."
}

// take waits until a refusal has taken as long as every other, so that its time does not tell why.
func (v *visit) take(begun time.Time) {
	select {
	case <-v.r.Context().Done():
	case <-time.After(v.Refusal - time.Since(begun)):
	}
}

// begin gives the browser a session that has begun, and leads on.
func (v *visit) begin(b session.Begun, to string) {
	v.keep(b)
	v.redirect(to)
}

// keep gives the browser a session that has begun, in place of the one of before.
func (v *visit) keep(b session.Begun) {
	ctx := v.r.Context()
	if old := v.cookie(); old != "" { // a session of before does not live on
		if err := v.Sessions.End(ctx, old); err != nil {
			v.Log.WarnContext(ctx, "console session not ended", "error", err)
		}
	}
	v.Log.InfoContext(ctx, "console sign-in", "key", b.Caller.KeyID, "org", string(b.Caller.Org), "address", v.counted(v.r))
	v.setCookie(b.Token, int(time.Until(b.ExpiresAt).Seconds()))
}

// signIn begins a session.
func (s *site) signIn(v *visit) {
	begun := time.Now()
	if !v.secure && !onThisMachine(v.r) {
		v.showSignIn(signInModel{}, http.StatusForbidden)
		return
	}
	if err := v.readForm(); err != nil {
		v.fail(err)
		return
	}
	m := signInModel{Return: wayBack(v.r.PostForm.Get("return")), Kept: v.r.PostForm.Get("kept")}
	if v.r.PostForm.Has("email") {
		s.signInMember(v, m, begun)
		return
	}
	secret := strings.TrimSpace(v.r.PostForm.Get("key"))
	if secret == "" {
		m.Wrong = "Enter an admin key, or the code of a sign-in link."
		v.showSignIn(m, http.StatusUnprocessableEntity)
		return
	}
	if m.Wrong = v.limited(); m.Wrong != "" {
		v.showSignIn(m, http.StatusTooManyRequests)
		return
	}
	b, err := s.Sessions.Begin(v.r.Context(), secret, v.r.UserAgent())
	if fault.CodeOf(err) == fault.Unauthorized {
		s.Log.InfoContext(v.r.Context(), "console sign-in refused", "address", s.counted(v.r))
		m.Wrong = "This key was not accepted: " + fault.From(err).Message + "."
		if strings.HasPrefix(secret, "sk-service-") || strings.HasPrefix(secret, "cint_") || strings.HasPrefix(secret, "cmem_") {
			m.Wrong = "This is a key of an application. The console takes admin keys, which begin with adm-."
		}
		v.take(begun)
		v.showSignIn(m, http.StatusForbidden)
		return
	}
	if err != nil {
		v.fail(err)
		return
	}
	v.begun(b, m)
}

// signInMember begins a session with a member's password.
func (s *site) signInMember(v *visit, m signInModel, begun time.Time) {
	f := v.r.PostForm
	m.Member, m.Organization, m.Email = true, strings.TrimSpace(f.Get("org")), strings.TrimSpace(f.Get("email"))
	if m.WrongMember = v.limited(); m.WrongMember != "" {
		v.showSignIn(m, http.StatusTooManyRequests)
		return
	}
	b, err := s.Sessions.BeginMember(v.r.Context(), m.Organization, m.Email, f.Get("password"), v.r.UserAgent())
	if fault.CodeOf(err) == fault.Unauthorized {
		s.Log.InfoContext(v.r.Context(), "console sign-in refused", "address", s.counted(v.r))
		m.WrongMember = "The organization, the address or the password is wrong."
		v.take(begun)
		v.showSignIn(m, http.StatusForbidden)
		return
	}
	if err != nil {
		v.fail(err)
		return
	}
	v.begun(b, m)
}

// signOut ends a session.
func (s *site) signOut(v *visit) {
	if token := v.cookie(); token != "" {
		if err := s.Sessions.End(v.r.Context(), token); err != nil {
			v.fail(err)
			return
		}
	}
	v.setCookie("", 0)
	v.redirect("sign-in")
}

// here is this page's address from the console's root, with what it was asked.
func (v *visit) here() string {
	at := strings.TrimPrefix(strings.TrimPrefix(v.r.URL.EscapedPath(), "/console"), "/")
	if v.r.URL.RawQuery != "" {
		at += "?" + v.r.URL.RawQuery
	}
	return at
}

// wayBack is a page's address from the console's root as a form or a URL gives it, or the root
// where it is something else, such as an address of elsewhere.
func wayBack(to string) string {
	u, err := url.Parse(to)
	if err != nil || len(to) > 4096 || u.Scheme != "" || u.Host != "" || u.User != nil || strings.HasPrefix(to, "/") ||
		strings.ContainsAny(to, "\\\r\n\t") || strings.Contains(u.Path, "..") || strings.HasPrefix(to, "sign-in") {
		return ""
	}
	return to
}
