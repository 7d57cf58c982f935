package web

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// Bounds of a URL. What is over them is a trap rather than a page: links that add to
// their own URL each time they are followed.
const (
	maxURL    = 2000 // bytes
	maxRepeat = 5    // of a parameter's name, or of a part of the path, in one URL
)

// tracking are parameters that say where a reader came from, or who it is, and nothing
// of the page.
var tracking = []string{"fbclid", "gclid", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid", "igshid", "mc_cid",
	"mc_eid",
	"_ga", "_gl", "_hsenc", "_hsmi", "mkt_tok", "phpsessid", "jsessionid", "aspsessionid", "sessionid", "session_id"}

// normalize gives the one way to write a URL that is a page's key. It reports whether
// the URL can be one.
func normalize(u *url.URL) (*url.URL, bool) {
	if u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Opaque != "" {
		return nil, false
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	if host = strings.ToLower(host); host == "" {
		return nil, false
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && !(u.Scheme == "http" && port == "80") && !(u.Scheme == "https" && port == "443") {
		host += ":" + port
	}
	n := &url.URL{Scheme: u.Scheme, Host: host, Path: u.Path, RawPath: u.RawPath}
	if n.Path == "" {
		n.Path, n.RawPath = "/", ""
	}
	if i := strings.Index(strings.ToLower(n.Path), ";jsessionid="); i >= 0 {
		n.Path, n.RawPath = n.Path[:i], ""
	}
	query, ok := cleanQuery(u.RawQuery)
	n.RawQuery = query
	if !ok || len(n.String()) > maxURL || repeats(strings.Split(n.Path, "/")) {
		return nil, false
	}
	return n, true
}

// cleanQuery leaves out what tracks readers, and reports whether no parameter comes too
// often.
func cleanQuery(raw string) (string, bool) {
	var kept, names []string
	for part := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		name = strings.ToLower(name)
		if part == "" || strings.HasPrefix(name, "utm_") || slices.Contains(tracking, name) {
			continue
		}
		kept, names = append(kept, part), append(names, name)
	}
	return strings.Join(kept, "&"), !repeats(names)
}

// repeats reports whether a name comes more often than it may.
func repeats(names []string) bool {
	count := map[string]int{}
	for _, n := range names {
		if n == "" {
			continue
		}
		if count[n]++; count[n] > maxRepeat {
			return true
		}
	}
	return false
}
