package api_test

import (
	"testing"
)

// TestNamespaceParameters: what a query string and a path may say about namespaces.
func TestNamespaceParameters(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.write("docs", doc("a", "x", ""))
		for _, q := range []string{"limit=0", "limit=1001", "limit=-1", "limit=x", "limit=1.5",
			"limit=99999999999999999999", "limit=1&limit=2"} {
			s.get("/namespaces?"+q).fails(400, "invalid_request", "limit")
		}
		for _, q := range []string{"limit=1", "limit=1000", "utm_source=mail"} {
			s.get("/namespaces?" + q).ok()
		}
		s.get("/namespaces?prefix=%00").fails(400, "invalid_request", "prefix")
		// No other organization's names are reachable by spelling.
		s.get("/namespaces/default%2Fdocs").fails(400, "invalid_namespace", "namespace")
	})
}
