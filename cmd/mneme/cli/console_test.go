package cli_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// With console.enabled: false there is no page and no link that signs in, and all else is as it was.
func TestTheConsoleIsOff(t *testing.T) {
	site := harness.NewSite(t, "roles: {sparse: off, rerank: off}\nconsole: { enabled: false }\n")
	server := site.Serve()
	c := server.Client(t, "")
	for _, path := range []string{"/console", "/console/sign-in", "/console/o/default"} {
		c.Call("GET", path, nil).Is(http.StatusNotFound)
	}
	c.Call("GET", "/health", nil).Is(http.StatusOK)
	if r := site.Run("console", "open"); r.Code != 1 || r.Stdout != "" ||
		!strings.Contains(r.Stderr, "set console.enabled to true") {
		t.Errorf("a link: %+v", r)
	}
	if r := site.Mneme("open"); strings.Contains(r.Stdout, "/console") || !strings.Contains(r.Stdout, "/docs") {
		t.Errorf("what can be opened: %s", r.Stdout)
	}
}
