package cli_test

import (
	"os"
	"strings"
	"testing"
)

func TestErrorCatalogue(t *testing.T) {
	page, err := os.ReadFile("../../../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	if out := succeed(t, "errors", "--markdown").Stdout; out != string(page) {
		t.Error("docs/errors.md is not what the fault table says: run make generate")
	}
	if out := succeed(t, "errors", "rate_limited").Stdout; !strings.HasPrefix(out,
		"rate_limited: 429 Too Many Requests, a retry may succeed\n") {
		t.Errorf("got %q", out)
	}
	if out := succeed(t, "errors").Stdout; !strings.Contains(out, "namespace_not_found") || !strings.Contains(out, "STATUS") {
		t.Errorf("got %q", out)
	}
	for _, wrong := range [][]string{{"errors", "no_such_code"}, {"errors", "timeout", "--markdown"}} {
		if r := mneme(t, wrong...); r.Code != 2 || r.Stdout != "" {
			t.Errorf("mneme %v: exit code %d, stdout %q", wrong, r.Code, r.Stdout)
		}
	}
}
