package harness

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// Patience is how long a test waits for what has to come, on however busy a machine.
const Patience = 2 * time.Minute

// Eventually waits until a condition holds, and ends the test where it does not.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	EventuallySees(t, what, func() (bool, string) { return holds(), "" })
}

// EventuallySees is Eventually of a condition that says what it has seen instead. The longer
// it waits the less often it looks: most looks are calls, which slow down what they wait for.
func EventuallySees(t testing.TB, what string, holds func() (ok bool, seen string)) {
	t.Helper()
	for began := time.Now(); ; {
		ok, seen := holds()
		if ok {
			return
		}
		waited := time.Since(began)
		if waited > Patience {
			t.Fatalf("%s: not within %s; %s", what, Patience, seen)
		}
		time.Sleep(min(max(waited/10, 5*time.Millisecond), 100*time.Millisecond))
	}
}

// Rounds is how often a loop runs: fewer times where it need not run in full (without
// MNEME_TEST_REQUIRE, which CI sets, or under -short), and more when MNEME_FAULT_ROUNDS says so.
func Rounds(t testing.TB, usual, short int) int {
	t.Helper()
	if s := os.Getenv("MNEME_FAULT_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("MNEME_FAULT_ROUNDS=%s: want a count", s)
		}
		return max(n, short)
	}
	if full := os.Getenv("MNEME_TEST_REQUIRE") != "" && !testing.Short(); !full && short < usual {
		t.Logf("SHORTENED: %d rounds instead of %d, which MNEME_TEST_REQUIRE=1 without -short has", short, usual)
		return short
	}
	return usual
}

// Missing ends a test that lacks something of this machine: skipped for all to see,
// or failed where MNEME_TEST_REQUIRE is set.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("MNEME_TEST_REQUIRE") != "" {
		t.Fatalf("required: "+format, args...)
	}
	t.Skipf("SKIPPED, NOT TESTED: "+format, args...)
}

// Installed is the path of a program of this machine, which may be Missing.
func Installed(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "%s is not installed", name)
	}
	return path
}

// Outside skips what runs outside the tests' own process where that alone is looked
// at, as under the race detector.
func Outside(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("SHORTENED: -short leaves what runs outside this process out")
	}
}
