package codec

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

// Bearer is the key that the lines of the header Authorization hold (RFC 6750,
// section 2.1); "" when there is none, when there are several lines, or for
// another scheme.
func Bearer(lines []string) string { return keyOf(lines, "bearer") }

func keyOf(lines []string, schemes ...string) string {
	if len(lines) != 1 {
		return ""
	}
	scheme, key, _ := strings.Cut(lines[0], " ")
	if !slices.Contains(schemes, strings.ToLower(scheme)) {
		return ""
	}
	return strings.Trim(key, " ")
}

// Credential is what the lines of the header Authorization hold, in a call that speaks a protocol:
// mem0's clients send their key as a token.
func Credential(lines []string, speaks op.Protocol) op.Credential {
	schemes := []string{"bearer"}
	if speaks == op.Mem0 {
		schemes = append(schemes, "token")
	}
	key := keyOf(lines, schemes...)
	return op.Credential{Bearer: key, Unread: key == "" && len(lines) > 0}
}

// Timeout is how long the lines of the header X-Timeout-Ms let a call take; 0
// when there is none. It counts at most a day, which is far over every
// operation's own limit. Errors: fault InvalidRequest when the first line is no
// whole number from 1 on.
func Timeout(lines []string) (time.Duration, error) {
	if len(lines) == 0 {
		return 0, nil
	}
	ms, err := strconv.ParseUint(lines[0], 10, 63)
	if err != nil || ms == 0 {
		return 0, fault.Field(fault.InvalidRequest, "X-Timeout-Ms", "must be a whole number of milliseconds, at least 1")
	}
	const most = uint64(24 * time.Hour / time.Millisecond)
	return time.Duration(min(ms, most)) * time.Millisecond, nil
}

// Address is whom a call of a stranger is counted for: an IPv4 address, or the
// network of an IPv6 one, of which anybody has plenty. remote is the connection's,
// with or without a port; lines are those of the header in which the proxy in front
// puts the caller's, whose last entry counts. "unknown" when it cannot be read.
func Address(remote string, lines []string) string {
	from := remote
	if len(lines) > 0 {
		last := lines[len(lines)-1]
		from = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
	}
	ip, err := netip.ParseAddr(from)
	if err != nil {
		at, err := netip.ParseAddrPort(from)
		if err != nil {
			return "unknown"
		}
		ip = at.Addr()
	}
	if ip = ip.Unmap(); ip.Is6() {
		if network, err := ip.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return ip.String()
}
