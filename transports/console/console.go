package console

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/session"
	"github.com/mnemehq/mneme/transports/codec"
)

// Sessions signs people in, as core/session's Service does.
type Sessions interface {
	Begin(ctx context.Context, secret, agent string) (session.Begun, error)
	BeginMember(ctx context.Context, org, email, password, agent string) (session.Begun, error)
	Accept(ctx context.Context, code, password, agent string) (session.Begun, error)
	ChangePassword(ctx context.Context, token, old, password string) error
	Unbind(ctx context.Context, token string) error
	Ways() session.Ways
	Leave(ctx context.Context) (address string, b session.Binding, err error)
	BeginWith(ctx context.Context, org string, a session.Answer, b session.Binding, agent string) (session.Begun, error)
	End(ctx context.Context, token string) error
	VerifySession(ctx context.Context, c op.Credential, family op.Family) (ident.Principal, error)
}

// Options say what a console serves. Set and Sessions are required.
type Options struct {
	Set      *op.Set
	Sessions Sessions
	Log      *slog.Logger // nil: nothing is logged
	Version  string
	// BaseURL is the URL under which browsers reach the server; "": that of their request.
	BaseURL string
	// AllowedNetworks are where browsers may come from; none: anywhere.
	AllowedNetworks []netip.Prefix
	// AddressHeader names the header in which the proxy in front puts the browser's
	// address, as codec.Address reads it. "": the connection's address counts.
	AddressHeader string
	// TrustedProxies are the networks of proxies whose X-Forwarded-Proto is believed; none: nobody's is.
	TrustedProxies []netip.Prefix
	// Allow takes a try to sign in from what it is counted by; ok is false when it has
	// had too many. nil: any number.
	Allow func(ctx context.Context, from string, tries Rate) (ok bool)
	// Identify is told whose request it is before its body is read; nil: nobody is.
	Identify func(ctx context.Context, p ident.Principal)
	// Refusal is how long the answer to a secret that does not work takes at least, so that
	// its time says nothing. 0: 300 ms.
	Refusal time.Duration
}

// Rate is how many tries to sign in are taken a minute.
type Rate struct {
	Name      string
	PerMinute int
}

// The rates of tries to sign in: of one address, and of all together.
var (
	rateAddress = Rate{"console_address", 10}
	rateAll     = Rate{"console_all", 60}
)

// site is the console.
type site struct {
	Options
	base   *url.URL // nil: that of the request
	routes map[string]route
	origin *http.CrossOriginProtection
	looks  *looks
	mux    *http.ServeMux
}

// route is an operation with what decodes its calls.
type route struct {
	*op.Route
	decoder *codec.Decoder
}

// maxForm bounds the body of a form: a document's text, as forms escape it.
const maxForm = 1 << 20

// Handlers serve the console, by mux pattern.
func Handlers(o Options) (map[string]http.Handler, error) {
	s := &site{Options: o, routes: map[string]route{}, origin: http.NewCrossOriginProtection(), mux: http.NewServeMux()}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.Refusal == 0 {
		s.Refusal = 300 * time.Millisecond
	}
	if o.BaseURL != "" {
		u, err := url.Parse(o.BaseURL)
		if err != nil {
			return nil, fmt.Errorf("console: base URL: %w", err)
		}
		s.base = u
		if err := s.origin.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			return nil, fmt.Errorf("console: base URL: %w", err)
		}
	}
	var err error
	if s.looks, err = newLooks(); err != nil {
		return nil, err
	}
	for _, r := range o.Set.Routes() {
		if r.Spec.Method == "" {
			continue
		}
		d, err := codec.NewDecoder(r.In)
		if err != nil {
			return nil, fmt.Errorf("console: operation %s: %w", r.Spec.Name, err)
		}
		s.routes[r.Spec.Name] = route{r, d}
	}
	s.mux.HandleFunc("GET /console/static/{hash}/{file}", s.serveStatic)
	s.mux.HandleFunc("GET /console/sign-in", s.open(s.signInPage))
	s.mux.HandleFunc("POST /console/session", s.open(s.signIn))
	s.mux.HandleFunc("GET /console/sign-in/leave", s.open(s.leave))
	s.mux.HandleFunc("GET "+ReturnPath, s.open(s.comeBack))
	s.mux.HandleFunc("GET /console/invitation", s.open(s.invitationPage))
	s.mux.HandleFunc("POST /console/invitation", s.open(s.accept))
	s.mux.HandleFunc("POST /console/session/end", s.open(s.signOut))
	s.mux.HandleFunc("POST /console/theme", s.open(s.setTheme))
	for _, p := range pages() {
		at := strings.TrimSuffix("/console/"+p.at, "/")
		s.mux.HandleFunc("GET "+at, s.open(s.signedIn(p)))
		if p.actions != nil {
			s.mux.HandleFunc("POST "+at, s.open(s.signedIn(p)))
		}
	}
	return map[string]http.Handler{"/console": s, "/console/": s}, nil
}

// page is one page: where it lies below the console's root, what it shows, and what its forms
// do.
type page struct {
	at      string // as in a mux pattern
	show    func(*visit) (view, error)
	actions actions // nil: it has no forms
	files   bool    // its forms carry files, which the action reads as they come
}

// actions are what the forms of a page do, by the value of their field "do", which may be left out.
// Each answers where to go on, or the page again with what is wrong.
type actions map[string]func(*visit) (view, error)

// view is what a page shows: a template with its model, the page to go to, or a file.
type view struct {
	title    string
	template string // file without its ending
	section  string // of the menu, which marks it
	model    any
	trail    []crumb // above the title
	goTo     string  // from the console's root; "": it is shown
	said     string  // with goTo: what was done, a key of sayings
	status   int     // 0: 200
	file     op.Streamer
	name     string // of the file
}

// crumb is a step of the way to a page.
type crumb struct{ Name, Link string } // Link from the console's root

// visit is one request.
type visit struct {
	*site
	w      http.ResponseWriter
	r      *http.Request
	root   string // of the console, relative to the page
	theme  string // light, dark, or "" for the system's
	secure bool   // nobody on the way reads it
	token  string // of the session; "": there is none
	caller ident.Principal
	org    string // name or id of the path's organization, or the caller's
	// acting is the integration that calls of the memory API are for.
	acting string
	made   []shownCall
}

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, pattern := s.mux.Handler(r)
	if pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	status := answered{header: http.Header{}}
	found.ServeHTTP(&status, r)
	s.open(func(v *visit) {
		f := fault.New(fault.NotFound, "there is no such page")
		if status.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", status.header.Get("Allow"))
			f = fault.New(fault.MethodNotAllowed, "this page does not take %s", fault.Clip(r.Method))
		}
		_ = v.identify() // strangers see the page of the error, too, without a menu
		v.fail(f)
	})(w, r)
}

// answered takes the status and header of an answer that is not sent.
type answered struct {
	header http.Header
	status int
}

func (a *answered) Header() http.Header         { return a.header }
func (a *answered) Write(b []byte) (int, error) { return len(b), nil }
func (a *answered) WriteHeader(status int)      { a.status = status }

// open begins a visit, unless the browser may not come from where it does.
func (s *site) open(next func(*visit)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.EscapedPath(), "/console")
		v := &visit{site: s, w: w, r: r, root: strings.Repeat("../", strings.Count(path, "/")) + "console", secure: s.secure(r),
			theme: themeOf(r)}
		setPolicy(w.Header())
		if !s.admits(r) {
			v.fail(fault.New(fault.Forbidden, "the console is not open to this address (console.allowed_networks)"))
			return
		}
		if r.Method == http.MethodPost {
			if err := s.origin.Check(r); err != nil {
				v.fail(fault.New(fault.Forbidden, "this form was sent from another site"))
				return
			}
		}
		next(v)
	}
}

// signedIn shows a page to those who have a session, and others the way to get one.
func (s *site) signedIn(p page) func(*visit) {
	return func(v *visit) {
		if err := v.identify(); err != nil {
			v.askToSignIn(err)
			return
		}
		if v.org = v.r.PathValue("org"); v.org == "" {
			v.org = v.caller.OrgName
		}
		out, err := v.run(p)
		if fault.CodeOf(err) == fault.Unauthorized { // it ended in the meantime
			v.askToSignIn(err)
			return
		}
		if err != nil {
			v.fail(err)
			return
		}
		switch {
		case out.file != nil:
			v.send(out)
		case out.goTo != "" && out.said != "":
			v.redirect(out.goTo + "?said=" + out.said)
		case out.goTo != "":
			v.redirect(out.goTo)
		default:
			v.show(out)
		}
	}
}

// run shows the page, or does what its form asks for.
func (v *visit) run(p page) (view, error) {
	if v.r.Method != http.MethodPost {
		return p.show(v)
	}
	if v.Identify != nil {
		v.Identify(v.r.Context(), v.caller)
	}
	if p.files {
		return p.actions[""](v)
	}
	if err := v.readForm(); err != nil {
		return view{}, err
	}
	do, ok := p.actions[v.r.PostForm.Get("do")]
	if !ok {
		return view{}, fault.New(fault.InvalidRequest, "this page has no such form")
	}
	return do(v)
}

// identify finds out whose session it is.
func (v *visit) identify() error {
	v.token = v.cookie()
	if v.token == "" {
		return fault.New(fault.Unauthorized, "")
	}
	p, err := v.Sessions.VerifySession(v.r.Context(), op.Credential{Session: v.token}, op.Administration)
	if err != nil {
		v.token = ""
		return err
	}
	v.caller = p
	return nil
}

func (v *visit) readForm() error {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if err := v.r.ParseForm(); err != nil {
		return fault.New(fault.PayloadTooLarge, "the form is too large, or did not arrive whole")
	}
	return nil
}

// redirect leads on to a page, by a GET.
func (v *visit) redirect(to string) {
	v.w.Header().Set("Location", v.link(to))
	v.w.WriteHeader(http.StatusSeeOther)
}

// link is a page's address, relative to this one.
func (v *visit) link(to string) string {
	if to == "" {
		return v.root
	}
	return v.root + "/" + to
}

// pathOf puts the segments of a page's address together.
func pathOf(segments ...string) string {
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/")
}

// address is the URL of the server as browsers reach it.
func (v *visit) address() string {
	if v.base != nil {
		return strings.TrimSuffix(v.base.String(), "/")
	}
	scheme := "http"
	if v.secure {
		scheme = "https"
	}
	return scheme + "://" + v.r.Host
}
