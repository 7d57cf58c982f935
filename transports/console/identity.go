package console

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/member"
	"github.com/mnemehq/mneme/core/session"
)

// ReturnPath is where an identity provider sends browsers back to, below the server's address.
const ReturnPath = "/console/sign-in/return"

// away is what a browser keeps while it is at the identity provider.
type away struct {
	session.Binding
	Org, Return string
}

// awayFor is how long a browser may stay there, in seconds.
const awayFor = 600

// awayCookie is sent when the provider leads back, which Strict would not be: the secrets in it are good
// for this one sign-in.
func (v *visit) awayCookie(value string, seconds int) {
	http.SetCookie(v.w, &http.Cookie{Name: v.cookieName() + "-away", Value: value, Path: "/", MaxAge: seconds, Secure: v.secure,
		HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

// leave sends the browser to the identity provider.
func (s *site) leave(v *visit) {
	q := v.r.URL.Query()
	a := away{Org: clipped(q.Get("org")), Return: clipped(wayBack(q.Get("return")))}
	if !v.secure && !onThisMachine(v.r) {
		v.showSignIn(signInModel{}, http.StatusForbidden)
		return
	}
	to, b, err := s.Sessions.Leave(v.r.Context())
	if err != nil {
		v.notSignedIn(a, err)
		return
	}
	a.Binding = b
	raw, err := json.Marshal(a)
	if err != nil {
		v.fail(err)
		return
	}
	v.awayCookie(base64.RawURLEncoding.EncodeToString(raw), awayFor)
	v.w.Header().Set("Referrer-Policy", "no-referrer")
	v.w.Header().Set("Location", to)
	v.w.WriteHeader(http.StatusSeeOther)
}

// clipped leaves out what would not fit into a cookie.
func clipped(s string) string {
	if len(s) > 1000 {
		return ""
	}
	return s
}

// comeBack begins a session for whom the identity provider sent back.
func (s *site) comeBack(v *visit) {
	v.w.Header().Set("Referrer-Policy", "no-referrer") // the address has a code in it
	var a away
	c, err := v.r.Cookie(v.cookieName() + "-away")
	if err == nil {
		var raw []byte
		if raw, err = base64.RawURLEncoding.DecodeString(c.Value); err == nil {
			err = json.Unmarshal(raw, &a)
		}
	}
	v.awayCookie("", -1) // once
	m := signInModel{Return: wayBack(a.Return), Organization: a.Org}
	if err != nil || a.State == "" {
		m.Wrongly = "This browser has begun no sign-in there, or more than ten minutes ago. Begin again."
		v.showSignIn(m, http.StatusForbidden)
		return
	}
	if m.Wrongly = v.limited(); m.Wrongly != "" {
		v.showSignIn(m, http.StatusTooManyRequests)
		return
	}
	q := v.r.URL.Query()
	answer := session.Answer{Code: q.Get("code"), State: q.Get("state"), Issuer: q.Get("iss"), Error: q.Get("error"),
		Description: q.Get("error_description")}
	b, err := s.Sessions.BeginWith(v.r.Context(), a.Org, answer, a.Binding, v.r.UserAgent())
	if err != nil {
		v.notSignedIn(a, err)
		return
	}
	v.keep(b)
	// A redirect would go on being the provider's navigation, for which browsers hold the session's
	// cookie back; a page of our own begins another.
	v.show(view{title: "Signed in", template: "signed-in", model: v.link(wayBack(a.Return))})
}

// notSignedIn says on the page of the sign-in why the identity provider did not let somebody in.
func (v *visit) notSignedIn(a away, err error) {
	m := signInModel{Return: wayBack(a.Return), Organization: a.Org}
	var several member.Several
	if errors.As(err, &several) {
		m.Choice = several.Organizations
		v.showSignIn(m, http.StatusOK)
		return
	}
	f := fault.From(err)
	if f.Code != fault.Unauthorized && f.Code != fault.Unavailable {
		v.fail(err)
		return
	}
	v.Log.InfoContext(v.r.Context(), "console sign-in refused", "address", v.counted(v.r), "reason", f.Message)
	m.Wrongly = sentence(f.Message)
	status := http.StatusForbidden
	if f.Code == fault.Unavailable {
		status = http.StatusServiceUnavailable
	}
	v.showSignIn(m, status)
}
