package codec_test

import (
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/transports/codec"
)

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
