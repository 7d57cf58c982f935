package opensearchtest

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"
)

// Local is a server of its own in the tests' process, as by MNEME_TEST_OPENSEARCH=protocol, that can be away.
// It is away until it is told to be there.
type Local struct {
	protocol *protocol
	address  string
	running  *http.Server // nil: away
}

// NewLocal takes an address for a server that is away.
func NewLocal(t testing.TB) *Local {
	t.Helper()
	l, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := &Local{protocol: newProtocol(), address: address}
	t.Cleanup(func() { s.Down() })
	return s
}

// URL is its address, wherever it is.
func (s *Local) URL() string { return "http://" + s.address }

// Up starts it at its address, with what it had.
func (s *Local) Up(t testing.TB) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	l, err := listen(s.address)
	for ; err != nil && time.Now().Before(end); l, err = listen(s.address) {
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.running = &http.Server{Handler: s.protocol, ReadHeaderTimeout: time.Minute}
	go func(running *http.Server) { _ = running.Serve(l) }(s.running) // until it is away
}

// Down ends it as a kill does: connections break.
func (s *Local) Down() {
	if s.running != nil {
		_ = s.running.Close()
		s.running = nil
	}
}

func listen(address string) (net.Listener, error) {
	return new(net.ListenConfig).Listen(context.Background(), "tcp", address)
}
