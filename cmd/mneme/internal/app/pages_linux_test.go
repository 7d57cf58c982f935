package app_test

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Where there is little memory, the kernel is told to bring in single pages of the program.
func TestPagesOfTheProgramAreReadSingly(t *testing.T) {
	const asked = "MNEME_TEST_PAGES"
	if os.Getenv(asked) == "" { // what it tells the kernel stays so as long as the process does
		cmd := exec.Command(os.Args[0], "-test.run=^TestPagesOfTheProgramAreReadSingly$")
		cmd.Env = append(os.Environ(), asked+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	restore(t)
	for _, c := range []struct {
		limit uint64
		want  bool
	}{{160 << 20, false}, {160<<20 - 1, true}} {
		if _, err := openBounded(t, t.TempDir(), "roles: {embed: off, sparse: off, rerank: off}\n",
			func() (uint64, error) { return c.limit, nil }); err != nil {
			t.Fatal(err)
		}
		if mapped, singly := pages(t); mapped == 0 || (singly == mapped) != c.want || singly != 0 != c.want {
			t.Errorf("with %d bytes %d of %d parts of the program are read page by page", c.limit, singly, mapped)
		}
	}
}

// pages counts the parts of the program in memory, and those with the flag rr (MADV_RANDOM).
func pages(t *testing.T) (mapped, singly int) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer maps.Close()
	of := false
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		line := lines.Text()
		if first, _, _ := strings.Cut(line, " "); strings.Contains(first, "-") {
			of = strings.HasSuffix(line, " "+program)
		} else if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && of {
			mapped++
			if slices.Contains(strings.Fields(flags), "rr") {
				singly++
			}
		}
	}
	return mapped, singly
}
