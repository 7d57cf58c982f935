package harness

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
	"testing"
)

// Address is a local address that nothing listened at a moment ago. It lies below the
// ports that operating systems hand out by themselves, so that a test may leave it and
// listen there again without finding another program's connection in its place.
func Address(t testing.TB) string {
	t.Helper()
	for {
		port := strconv.Itoa(20_000 + rand.N(12_000))
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close() // nobody has called
		return l.Addr().String()
	}
}
