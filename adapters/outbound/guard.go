package outbound

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// Network is a part of the network that may be reached although it is not public, or a
// port that may be although it is neither 80 nor 443.
type Network struct {
	Prefix netip.Prefix // the zero value: the public addresses
	Port   uint16       // 0: 80 and 443
}

// ParseNetwork reads a network of a configuration: an address or a prefix, with a port
// where it is neither 80 nor 443 ("10.1.2.3", "10.0.0.0/8", "10.1.2.3:8080",
// "10.0.0.0/8:8080", "[fd00::1]:8080", "[fd00::/8]:8080"), or a port of public
// addresses (":8443").
func ParseNetwork(s string) (Network, error) {
	var n Network
	address, port, ok := cutPort(s)
	if ok {
		p, err := strconv.ParseUint(port, 10, 16)
		if err != nil || p == 0 {
			return n, fmt.Errorf("%q has no port between 1 and 65535 after its colon", s)
		}
		n.Port = uint16(p)
	}
	if address == "" && n.Port != 0 {
		return n, nil
	}
	if a, err := netip.ParseAddr(address); err == nil {
		a = a.Unmap()
		n.Prefix = netip.PrefixFrom(a.WithZone(""), a.BitLen())
		return n, nil
	}
	p, err := netip.ParsePrefix(address)
	if err != nil {
		return n, fmt.Errorf("%q is no address, prefix (10.0.0.0/8) or port (:8443); a port follows in the form 10.1.2.3:8080", s)
	}
	n.Prefix = p.Masked()
	return n, nil
}

// cutPort splits an address, in brackets where it has colons of its own, from a port.
func cutPort(s string) (address, port string, ok bool) {
	if inner, after, brackets := strings.Cut(s, "]"); brackets && strings.HasPrefix(inner, "[") {
		switch port, ok := strings.CutPrefix(after, ":"); {
		case ok:
			return inner[1:], port, true
		case after == "":
			return inner[1:], "", false
		}
	}
	if strings.Count(s, ":") != 1 {
		return s, "", false
	}
	return strings.Cut(s, ":")
}

// String is what ParseNetwork reads.
func (n Network) String() string {
	address := ""
	switch {
	case !n.Prefix.IsValid():
	case n.Prefix.IsSingleIP():
		address = n.Prefix.Addr().String()
	default:
		address = n.Prefix.String()
	}
	if n.Port == 0 {
		return address
	}
	if strings.Contains(address, ":") {
		address = "[" + address + "]"
	}
	return address + ":" + strconv.Itoa(int(n.Port))
}

// guard says which addresses may be connected to.
type guard struct {
	public  *ssrf.Guardian
	allowed []Network
}

func newGuard(allowed []Network) *guard {
	return &guard{public: ssrf.New(ssrf.WithAnyPort()), allowed: allowed}
}

// check is the Control of a dialer: it sees the address that is connected to, after
// names have been resolved.
func (g *guard) check(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%w: over %s", ErrNotPublic, network)
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotPublic, err)
	}
	public := g.public.SafeAddr(at.Addr())
	ip := at.Addr().Unmap().WithZone("")
	known := public == nil // without its port
	if known && web(at.Port()) {
		return nil
	}
	for _, n := range g.allowed {
		inside := n.Prefix.IsValid() && n.Prefix.Contains(ip) || !n.Prefix.IsValid() && public == nil
		if inside && (n.Port == at.Port() || n.Port == 0 && web(at.Port())) {
			return nil
		}
		known = known || inside
	}
	where := net.JoinHostPort(ip.String(), strconv.Itoa(int(at.Port())))
	if known {
		return fmt.Errorf("%w: %s: %w", ErrPort, where, ErrNotPublic)
	}
	return fmt.Errorf("%w: %s: %w", ErrNotPublic, where, public)
}

func web(port uint16) bool { return port == 80 || port == 443 }
