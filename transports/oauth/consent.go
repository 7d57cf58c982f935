package oauth

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/oauth"
)

var (
	//go:embed page.html
	pageSource string
	//go:embed page.css
	pageStyle string
)

// page renders what a person sees.
type page struct {
	template *template.Template
	style    template.CSS
	policy   string // of the style sheet, for the Content-Security-Policy
}

func newPage() (*page, error) {
	t, err := template.New("page").Parse(pageSource)
	if err != nil {
		return nil, fmt.Errorf("consent page: %w", err)
	}
	sum := sha256.Sum256([]byte(pageStyle))
	//nolint:gosec // our own file
	return &page{t, template.CSS(pageStyle), "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"}, nil
}

// view is what the page shows: a question, or a refusal.
type view struct {
	Style   template.CSS
	Server  string // host of this server
	Refusal string
	Name    string // of the client; its host, where it has none
	Host    string // where its metadata document is; "": it registered itself
	Target  string // that the browser is sent back to
	Local   bool   // that is this machine
	Unknown bool   // nobody listed that
	Writes  bool   // it asks to change things
	Ticket  string
	Reading bool   // the person ticked so before
	Wrong   string // what is wrong with the key that was sent
	Back    string // where the application hears of a refusal
}

// The ticket carries an authorization request through the form, signed and bound
// to the browser, for as long.
const ticketFor = 10 * time.Minute

type ticket struct {
	Request oauth.Request `json:"q"`
	Expires int64         `json:"e"` // seconds since 1970
}

func (f *Front) sign(payload, browser string) []byte {
	m := hmac.New(sha256.New, f.Secret)
	m.Write([]byte("consent\x00" + browser + "\x00" + payload))
	return m.Sum(nil)
}

func (f *Front) sealTicket(r oauth.Request, browser string) (string, error) {
	b, err := json.Marshal(ticket{r, f.Now().Add(ticketFor).Unix()})
	if err != nil {
		return "", fmt.Errorf("seal consent form: %w", err)
	}
	payload := base64.RawURLEncoding.EncodeToString(b)
	return payload + "." + base64.RawURLEncoding.EncodeToString(f.sign(payload, browser)), nil
}

var errStale = errors.New("this page is too old, or was not opened in this browser: go back to the application and connect again")

// openTicket is the request of a ticket that was sealed for the browser.
func (f *Front) openTicket(sealed, browser string) (oauth.Request, error) {
	payload, signature, _ := strings.Cut(sealed, ".")
	sum, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || browser == "" || !hmac.Equal(sum, f.sign(payload, browser)) {
		return oauth.Request{}, errStale
	}
	var t ticket
	b, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil || json.Unmarshal(b, &t) != nil || f.Now().Unix() >= t.Expires {
		return oauth.Request{}, errStale
	}
	return t.Request, nil
}

// cookieName has the prefix that lets only this very host set the cookie.
func (f *Front) cookieName() string {
	if f.secure {
		return "__Host-mneme-consent"
	}
	return "mneme-consent"
}

// browser is the id in the browser's cookie; "": it has none yet.
func (f *Front) browser(r *http.Request) string {
	c, err := r.Cookie(f.cookieName())
	if err != nil || len(c.Value) != len(rand.Text()) {
		return ""
	}
	return c.Value
}

// showConsent shows the consent page for an authorization request.
func (f *Front) showConsent(w http.ResponseWriter, r *http.Request) {
	if err := f.takeRate(r, rateAuthorize); err != nil {
		f.refuse(w, r, err)
		return
	}
	if len(r.URL.RawQuery) > maxConsent/4 { // the ticket must fit into the form
		f.refuse(w, r, &oauth.Error{Code: oauth.InvalidRequest, Description: "the request is too long"})
		return
	}
	q, err := parseParameters(r.URL.RawQuery)
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	request := oauth.Request{
		ResponseType: q.Get("response_type"),
		ResponseMode: q.Get("response_mode"),
		ClientID:     q.Get("client_id"),
		RedirectURI:  q.Get("redirect_uri"),
		State:        q.Get("state"),
		Scope:        q.Get("scope"),
		Challenge:    q.Get("code_challenge"),
		Method:       q.Get("code_challenge_method"),
		Resources:    q["resource"],
	}
	browser := f.browser(r)
	if browser == "" {
		browser = rand.Text()
		http.SetCookie(w, &http.Cookie{
			Name:     f.cookieName(),
			Value:    browser,
			Path:     "/",
			Secure:   f.secure,
			HttpOnly: true,
			SameSite: http.SameSiteLaxMode,
			MaxAge:   int(ticketFor.Seconds()),
		})
	}
	f.showForm(w, r, request, view{}, browser, http.StatusOK)
}

// handleDecision handles the consent form that the person has sent.
func (f *Front) handleDecision(w http.ResponseWriter, r *http.Request) {
	if err := f.origin.Check(r); err != nil {
		f.refuse(w, r, errStale)
		return
	}
	body, err := f.body(w, r, rateAuthorize, "application/x-www-form-urlencoded", maxConsent)
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	form, err := parseParameters(string(body))
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	browser := f.browser(r)
	request, err := f.openTicket(form.Get("request"), browser)
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	if form.Get("decision") != "allow" {
		to, err := f.Service.Deny(r.Context(), request)
		f.redirectBack(w, r, to, err)
		return
	}
	// Counted apart from the page, and before the key is looked at.
	if err := f.takeRate(r, rateConsent); err != nil {
		f.refuse(w, r, err)
		return
	}
	key, reading := strings.TrimSpace(form.Get("key")), form.Get("read_only") != ""
	if key == "" {
		f.showForm(w, r, request, view{Wrong: "Enter an API key, or cancel.", Reading: reading}, browser, http.StatusBadRequest)
		return
	}
	to, err := f.Service.Approve(r.Context(), request, key, reading)
	if text, wrong := messageOf(err); wrong {
		f.Log.InfoContext(r.Context(), "oauth consent refused", "client", request.ClientID, "address", f.address(r))
		f.showForm(w, r, request, view{Wrong: "This key was not accepted: " + text + ".", Reading: reading}, browser,
			http.StatusForbidden)
		return
	}
	f.redirectBack(w, r, to, err)
}

// redirectBack sends the browser back to the client.
func (f *Front) redirectBack(w http.ResponseWriter, r *http.Request, to string, err error) {
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	setSecurityHeaders(w, "default-src 'none'; frame-ancestors 'none'")
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther) // a GET, without the form (RFC 9700 section 4.12)
}

// showForm shows the form, with what v says about the last try.
func (f *Front) showForm(w http.ResponseWriter, r *http.Request, request oauth.Request, v view, browser string, status int) {
	c, err := f.Service.Begin(r.Context(), request)
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	sealed, err := f.sealTicket(request, browser)
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	v.Name, v.Host, v.Target, v.Local, v.Ticket = c.Client.Name, c.Client.Host, c.Host, c.Loopback, sealed
	v.Unknown, v.Writes = !c.Loopback && !f.known[strings.ToLower(c.Host)], c.Scope != oauth.Read
	if v.Name == "" {
		v.Name = c.Client.Host
	}
	f.show(w, r, status, v, c.RedirectURI)
}

// refuse sends the browser back to the client with an error where the operator knows it or
// it is on the person's machine. Otherwise it shows the error, with a link to an application
// on the web: anybody can register an address, and a link to this server must not lead
// there by itself (RFC 9700 section 4.11.2).
func (f *Front) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, errStale) {
		f.show(w, r, http.StatusBadRequest, view{Refusal: errStale.Error()}, "")
		return
	}
	e, status := f.refusal(r, err)
	f.Log.InfoContext(r.Context(), "oauth request refused", "path", r.URL.Path, "code", e.Code, "why", e.Description)
	v := view{Refusal: e.Description}
	if to, err := url.Parse(e.Redirect); err == nil && e.Redirect != "" {
		if e.Loopback || to.Scheme == "https" && f.known[strings.ToLower(to.Host)] {
			f.redirectBack(w, r, e.Redirect, nil)
			return
		}
		if to.Scheme == "https" {
			v.Back, v.Target = e.Redirect, to.Host
		}
	}
	retryAfter(w, e.RetryAfter)
	f.show(w, r, status, v, "")
}

// show writes the page. The browser follows the form's answer to redirect, which
// some browsers count among the form's actions.
func (f *Front) show(w http.ResponseWriter, r *http.Request, status int, v view, redirect string) {
	v.Style, v.Server = f.page.style, strings.TrimPrefix(strings.TrimPrefix(f.base, "https://"), "http://")
	var b bytes.Buffer
	if err := f.page.template.Execute(&b, v); err != nil {
		f.Log.ErrorContext(r.Context(), "oauth consent page failed", "error", err)
		status = http.StatusInternalServerError
		b.Reset()
		b.WriteString("an internal error occurred")
	}
	setSecurityHeaders(w, "default-src 'none'; style-src "+f.page.policy+"; form-action 'self'"+sourceExpression(redirect)+
		"; base-uri 'none'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// setSecurityHeaders keeps the answer out of frames and caches, and its URL out of referrers.
func setSecurityHeaders(w http.ResponseWriter, policy string) {
	head := w.Header()
	head.Set("Content-Security-Policy", policy)
	head.Set("X-Frame-Options", "DENY")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cache-Control", "no-store")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// sourceExpression is a redirect URI's origin as a source expression (CSP 3 section 2.3.1),
// which has no form for addresses of IPv6 or hosts of schemes of one's own.
func sourceExpression(redirect string) string {
	u, err := url.Parse(redirect)
	if redirect == "" || err != nil {
		return ""
	}
	plain := u.Host != "" && !strings.ContainsFunc(u.Host, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == ':')
	})
	if (u.Scheme == "https" || u.Scheme == "http") && plain {
		return " " + u.Scheme + "://" + u.Host
	}
	return " " + u.Scheme + ":"
}
