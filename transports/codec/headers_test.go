package codec_test

import (
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/transports/codec"
)

func TestAddress(t *testing.T) {
	for _, c := range []struct {
		remote string
		lines  []string
		want   string
	}{
		{"192.0.2.1:80", nil, "192.0.2.1"},
		{"192.0.2.1", nil, "192.0.2.1"},
		{"[::ffff:192.0.2.1]:80", nil, "192.0.2.1"},
		{"[2001:db8:1:2:3::4]:80", nil, "2001:db8:1:2::/64"},
		{"[fe80::1%eth0]:80", nil, "fe80::/64"},
		{"pipe", nil, "unknown"},
		{"10.0.0.1:80", []string{"192.0.2.1"}, "192.0.2.1"},
		{"10.0.0.1:80", []string{"198.51.100.7, 192.0.2.1 "}, "192.0.2.1"},
		{"10.0.0.1:80", []string{"192.0.2.1", "2001:db8:1:2:3::4"}, "2001:db8:1:2::/64"},
		{"10.0.0.1:80", []string{"no address"}, "unknown"},
	} {
		if got := codec.Address(c.remote, c.lines); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.remote, c.lines, got, c.want)
		}
	}
}

func TestBearer(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{nil, ""},
		{[]string{"Bearer key"}, "key"},
		{[]string{"bEARER  key "}, "key"},
		{[]string{"Bearer"}, ""},
		{[]string{"Basic a2V5"}, ""},
		{[]string{"key"}, ""},
		{[]string{"Bearer one", "Bearer two"}, ""},
	} {
		if got := codec.Bearer(c.lines); got != c.want {
			t.Errorf("Bearer(%q) = %q, want %q", c.lines, got, c.want)
		}
	}
}

func TestTimeout(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  time.Duration
		ok    bool
	}{
		{nil, 0, true},
		{[]string{"1"}, time.Millisecond, true},
		{[]string{"250", "9"}, 250 * time.Millisecond, true},
		{[]string{"9223372036854775807"}, 24 * time.Hour, true},
		{[]string{"9223372036854775808"}, 0, false},
		{[]string{"0"}, 0, false},
		{[]string{"-1"}, 0, false},
		{[]string{"1.5"}, 0, false},
		{[]string{""}, 0, false},
	} {
		got, err := codec.Timeout(c.lines)
		if got != c.want || (err == nil) != c.ok || err != nil && fault.From(err).Code != fault.InvalidRequest {
			t.Errorf("Timeout(%q) = %v, %v; want %v, accepted %v", c.lines, got, err, c.want, c.ok)
		}
	}
}
