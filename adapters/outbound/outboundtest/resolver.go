package outboundtest

import (
	"context"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Resolver answers every name with one IPv4 address, as a name does that was public when it
// was looked at and is not any more when it is connected to. It ends with the test.
func Resolver(t *testing.T, address string) *net.Resolver {
	t.Helper()
	to, err := netip.ParseAddr(address)
	if err != nil {
		t.Fatal(err)
	}
	server, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go serve(server, to.As4())
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp4", server.LocalAddr().String())
	}}
}

// serve answers questions until the server is closed.
func serve(server net.PacketConn, address [4]byte) {
	b := make([]byte, 1500)
	for {
		n, from, err := server.ReadFrom(b)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(b[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		m.Response, m.Additionals = true, nil
		if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: address},
			}}
		}
		if out, err := m.Pack(); err == nil {
			_, _ = server.WriteTo(out, from)
		}
	}
}
