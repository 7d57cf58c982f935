package outbound

import (
	"errors"
	"testing"
)

// TestPorts: a public address is reached at ports 80 and 443 and at those that are
// allowed. No test may depend on a public server, so the guard itself is asked.
func TestPorts(t *testing.T) {
	g := newGuard([]Network{{Port: 8443}})
	for address, open := range map[string]bool{"8.8.8.8:80": true, "8.8.8.8:443": true, "8.8.8.8:8443": true,
		"8.8.8.8:22": false, "8.8.8.8:8080": false, "[2606:4700::1]:443": true, "[2606:4700::1]:25": false,
		"10.0.0.1:8443":     false,
		"[fe80::1%eth0]:80": false, "8.8.8.8": false} {
		network := "tcp4"
		if address[0] == '[' {
			network = "tcp6"
		}
		if err := g.check(network, address, nil); (err == nil) != open || err != nil && !errors.Is(err, ErrNotPublic) {
			t.Errorf("%s: %v", address, err)
		}
		if err := g.check("udp4", address, nil); !errors.Is(err, ErrNotPublic) {
			t.Errorf("udp to %s: %v", address, err)
		}
	}
}
