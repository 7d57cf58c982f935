package console

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/transports/codec"
)

// policy lets a page load and call nothing but this server, and lets no stored text become
// script.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types mneme"

func setPolicy(head http.Header) {
	head.Set("Content-Security-Policy", policy)
	head.Set("X-Frame-Options", "DENY")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "same-origin")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")
}

// The cookies: of the session, with the prefix that lets only this very host set it where the
// way is encrypted, and of the theme.
const (
	sessionCookie       = "mneme"
	secureSessionCookie = "__Host-mneme"
	themeCookie         = "mneme-theme"
)

// secure reports whether the browser's way to the server is encrypted: here, or by a proxy
// that the base URL tells of, or that is trusted to say so itself.
func (s *site) secure(r *http.Request) bool {
	return r.TLS != nil || s.base != nil && s.base.Scheme == "https" ||
		strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") && s.proxied(r)
}

// proxied reports whether the connection is of a proxy that is trusted.
func (s *site) proxied(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && slices.ContainsFunc(s.TrustedProxies,
		func(n netip.Prefix) bool { return n.Contains(from.Addr().Unmap().WithZone("")) })
}

// onThisMachine reports whether the browser names this machine itself, so that nobody is on the
// way.
func onThisMachine(r *http.Request) bool {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost") ||
		ip != nil && ip.IsLoopback()
}

func (v *visit) cookieName() string {
	if v.secure {
		return secureSessionCookie
	}
	return sessionCookie
}

func (v *visit) cookie() string {
	c, err := v.r.Cookie(v.cookieName())
	if err != nil || len(c.Value) > 128 {
		return ""
	}
	return c.Value
}

// setCookie keeps a session's token in the browser; an empty one ends it.
func (v *visit) setCookie(token string, seconds int) {
	if token == "" {
		seconds = -1
	}
	http.SetCookie(v.w, &http.Cookie{Name: v.cookieName(), Value: token, Path: "/", MaxAge: seconds, Secure: v.secure,
		HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

func themeOf(r *http.Request) string {
	c, err := r.Cookie(themeCookie)
	if err != nil || c.Value != "light" && c.Value != "dark" {
		return ""
	}
	return c.Value
}

// setTheme keeps what the form chose, so that the first byte of every page is right.
func (s *site) setTheme(v *visit) {
	if err := v.readForm(); err != nil {
		v.fail(err)
		return
	}
	theme := v.r.PostForm.Get("theme")
	c := &http.Cookie{Name: themeCookie, Value: theme, Path: "/", MaxAge: 365 * 24 * 3600, Secure: v.secure, HttpOnly: true,
		SameSite: http.SameSiteStrictMode}
	if theme != "light" && theme != "dark" {
		c.Value, c.MaxAge = "", -1
	}
	http.SetCookie(v.w, c)
	v.redirect(wayBack(v.r.PostForm.Get("return")))
}

// admits reports whether the browser comes from where it may.
func (s *site) admits(r *http.Request) bool {
	if len(s.AllowedNetworks) == 0 {
		return true
	}
	at, ok := s.remote(r)
	if !ok {
		return false
	}
	for _, n := range s.AllowedNetworks {
		if n.Contains(at) {
			return true
		}
	}
	return false
}

// remote is the browser's address.
func (s *site) remote(r *http.Request) (netip.Addr, bool) {
	from := r.RemoteAddr
	if lines := s.addressLines(r); len(lines) > 0 {
		last := lines[len(lines)-1]
		from = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
	}
	if at, err := netip.ParseAddrPort(from); err == nil {
		return at.Addr().Unmap().WithZone(""), true
	}
	at, err := netip.ParseAddr(from)
	return at.Unmap().WithZone(""), err == nil
}

func (s *site) addressLines(r *http.Request) []string {
	if s.AddressHeader == "" {
		return nil
	}
	return r.Header.Values(s.AddressHeader)
}

// counted is what tries of a browser are counted by.
func (s *site) counted(r *http.Request) string { return codec.Address(r.RemoteAddr, s.addressLines(r)) }
