package mcp

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
)

// checkSource refuses what a web page that was not meant to makes a browser send:
// a foreign Origin, and a name that was bound to this machine's own address
// (DNS rebinding).
func (h *Handler) checkSource(r *http.Request) error {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && loopback(local.String()) {
		if name := hostname(r.Host); !loopback(r.Host) && !h.hosts[name] {
			return fault.New(fault.Forbidden,
				"host %s is not a name of this server; set server.base_url to the URL under which clients reach it",
				fault.Clip(r.Host))
		}
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 || len(origins) == 1 && h.allows(origins[0], r.Host) {
		return nil
	}
	return fault.New(fault.Forbidden, "origin %s may not call this server; server.allowed_origins names those that may",
		fault.Clip(strings.Join(origins, ", ")))
}

func (h *Handler) allows(origin, host string) bool {
	if h.origins["*"] {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return h.origins[origin] // "null", where it is listed
	}
	return loopback(u.Host) || strings.EqualFold(u.Host, host) || h.origins[originOf(u)]
}

func originOf(u *url.URL) string { return strings.ToLower(u.Scheme + "://" + u.Host) }

// hostname is a host without its port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

func loopback(host string) bool {
	name := hostname(host)
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// preflight tells a browser what a page of an allowed origin may send, and
// answers where it only asks.
func (h *Handler) preflight(x *exchange) bool {
	origin := x.r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	head := x.w.Header()
	head.Set("Access-Control-Allow-Origin", origin)
	head.Add("Vary", "Origin")
	head.Set("Access-Control-Expose-Headers", "X-Request-Id, WWW-Authenticate, Retry-After, RateLimit, RateLimit-Policy")
	if x.r.Method != http.MethodOptions || x.r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	head.Set("Access-Control-Allow-Methods", http.MethodPost)
	head.Set("Access-Control-Allow-Headers",
		"Authorization, Content-Type, Accept, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, "+
			"Last-Event-Id, X-Mneme-Namespace, X-Mneme-End-User, X-Request-Id, X-Timeout-Ms, Traceparent")
	head.Set("Access-Control-Max-Age", "600")
	x.w.WriteHeader(http.StatusNoContent)
	return true
}
