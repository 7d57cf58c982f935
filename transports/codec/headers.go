package codec

import (
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
)

// Bearer is the key that the lines of the header Authorization hold (RFC 6750,
// section 2.1); "" when there is none, when there are several lines, or for
// another scheme.
func Bearer(lines []string) string {
	if len(lines) != 1 {
		return ""
	}
	scheme, key, _ := strings.Cut(lines[0], " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.Trim(key, " ")
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
