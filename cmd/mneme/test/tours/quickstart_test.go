package tours_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// Those for applications run beside the SDKs, in cmd/mneme/test/sdk.

var listed = regexp.MustCompile(`(?m)^key_\w+ +app .* live$`)

func TestOperatorsBegin(t *testing.T) {
	harness.Outside(t)
	harness.Installed(t, "bash")
	out := harness.Quickstart(t, "docs/quickstart-operator.md", t.TempDir(), nil, nil, nil)
	if n := strings.Count(out.Stdout, "behind the blue door"); n != 2 { // the second time out of what was restored
		t.Errorf("the passage was found %d times:\n%s%s", n, out.Stdout, out.Stderr)
	}
	if !strings.Contains(out.Stdout, "every configured part works") || !listed.MatchString(out.Stdout) {
		t.Errorf("not all is well, or the key is not listed:\n%s", out.Stdout)
	}
}

func TestVendorsBegin(t *testing.T) {
	harness.Outside(t)
	harness.Installed(t, "bash")
	if _, err := exec.LookPath("clang"); err != nil {
		harness.Installed(t, "clang-14") // which the project's build looks for, too
	}
	// The long run of a check is the same promise for a moment.
	out := harness.Quickstart(t, "docs/quickstart-vendor.md", t.TempDir(), nil, nil, nil, "--quick", "--long-run=200ms")
	if !regexp.MustCompile(`(?m)^0 of \d+ checks failed`).MatchString(out.Stdout) ||
		!strings.Contains(out.Stdout, "behind the blue door") {
		t.Errorf("the model fails its checks or is not asked:\n%s%s", out.Stdout, out.Stderr)
	}
}
