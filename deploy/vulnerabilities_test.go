package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What govulncheck v1.9.0 prints.
const (
	noneFound = "No vulnerabilities found."
	oneCalled = `=== Symbol Results ===

Vulnerability #1: GO-2026-9001
    made up
  More info: https://pkg.go.dev/vuln/GO-2026-9001
  Module: github.com/google/uuid
    Found in: github.com/google/uuid@v1.6.0
    Fixed in: N/A
    Example traces found:
      #1: core/job/runner.go:260:51: job.Runner.Start calls uuid.NewV7

Your code is affected by 1 vulnerability from 1 module.`
	notReached = `govulncheck: fetching vulnerabilities: Get "https://vuln.go.dev/index/modules.json.gz": dial tcp: no such host`
	broken     = "govulncheck: loading packages: there are errors"
)

// vulnerabilities runs the check with a tool that prints what it is told to.
func vulnerabilities(t *testing.T, says string, ends int, accepted string, env ...string) (out string, ok bool) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	said := write("says", says+"\n", 0o600)
	script := "#!/bin/sh\necho \"$@\" >>" + filepath.Join(dir, "calls") + "\ncat " + said + "\nexit " +
		string(rune('0'+ends)) + "\n"
	tool := write("tool", script, 0o700)
	c := exec.Command("sh", "vulnerabilities.sh")
	c.Env = append(os.Environ(), "GOVULNDB=", "VULNERABILITIES_REQUIRED=", "GOVULNCHECK="+tool,
		"ACCEPTED="+write("accepted", accepted, 0o600))
	c.Env = append(c.Env, env...)
	b, err := c.CombinedOutput()
	calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
	return string(b) + "calls:\n" + string(calls), err == nil
}

// A vulnerability that is called fails the check unless it is accepted with a reason, a
// database that does not answer is said aloud, and what is not understood fails.
func TestVulnerabilitiesThatAreCalledFail(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("SKIPPED: needs sh")
	}
	required := []string{"VULNERABILITIES_REQUIRED=1"}
	for name, c := range map[string]struct {
		says     string
		ends     int
		accepted string
		env      []string
		ok       bool
		want     []string
	}{
		"none": {noneFound, 0, "", nil, true,
			[]string{"none that is called, 0 accepted", "./core/fault\n./...\n"}},
		"one": {oneCalled, 3, "", nil, false, []string{"Runner.Start calls uuid.NewV7", "(GO-2026-9001)"}},
		"another is accepted": {oneCalled, 3, "GO-2026-9002 why\n", nil, false,
			[]string{"(GO-2026-9001)", "GO-2026-9002 is accepted and no longer"}},
		"accepted":                {oneCalled, 3, "# x\nGO-2026-9001 no caller's text\n", nil, true, []string{"1 accepted"}},
		"accepted without reason": {oneCalled, 3, "GO-2026-9001 \n", nil, false, []string{"(GO-2026-9001)"}},
		"no longer found": {noneFound, 0, "GO-2026-9001 why\n", nil, true,
			[]string{"GO-2026-9001 is accepted and no longer found"}},
		"not reached": {notReached, 1, "", nil, true,
			[]string{"NOT CHECKED", "no such host", "calls:\n./core/fault\n"}},
		"not reached but needed": {notReached, 1, "", required, false, []string{"NOT CHECKED"}},
		"broken":                 {broken, 1, "", nil, false, []string{"there are errors"}},
		"in words of its own":    {"Finding 1: GO-2026-9001", 3, "", nil, false, []string{"not understood"}},
		"another database": {noneFound, 0, "", []string{"GOVULNDB=file:///copy"}, true,
			[]string{"-db file:///copy ./...\n"}},
	} {
		out, ok := vulnerabilities(t, c.says, c.ends, c.accepted, c.env...)
		if ok != c.ok {
			t.Errorf("%s: passes %t\n%s", name, ok, out)
		}
		for _, w := range c.want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: lacks %q:\n%s", name, w, out)
			}
		}
	}
}
