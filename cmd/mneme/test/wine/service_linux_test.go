package wine_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// TestService has the service manager start the server, stop it and forget it.
func TestService(t *testing.T) {
	ready(t)
	s := harness.NewSite(t, "")
	s.Data = filepath.Join(t.TempDir(), "all my data")
	data := windows(s.Data)
	bare := &harness.Site{T: t} // what is installed is found without a flag
	service := func(code int, says string, args ...string) string {
		t.Helper()
		r := bare.Run(append([]string{"service"}, args...)...)
		if said := r.Stdout + r.Stderr; r.Code != code || !strings.Contains(said, says) {
			t.Fatalf("service %v: exit code %d, want %d and %q\n%s", args, r.Code, code, says, said)
		}
		return r.Stdout
	}
	at := regexp.MustCompile(`listens  (http://[0-9.:]+)`)
	listens := func() (url string) {
		t.Helper()
		harness.EventuallySees(t, "the service listens", func() (bool, string) {
			r := bare.Run("service", "status", "--system")
			m := at.FindStringSubmatch(r.Stdout)
			if m == nil || !strings.Contains(r.Stdout, "service  running\n") || !strings.Contains(r.Stdout, "data     "+data) {
				return false, r.Stdout + r.Stderr
			}
			url = m[1]
			return r.Code == 0, r.Stdout
		})
		return url
	}
	service(1, "no service called mneme is installed", "start", "--system")
	service(1, "give --system", "install")
	service(0, "it is started", "install", "--system", "--addr", "127.0.0.1:0", "--data", data)
	t.Cleanup(func() { bare.Run("service", "uninstall", "--system") })
	url := listens()
	c := harness.Client{T: t, At: url, Key: s.Key("--name", "test"), HTTP: harness.HTTP()}
	c.OK("POST", "/namespaces/boats/documents",
		harness.Object{"documents": []harness.Object{{"id": "a", "text": "the boats lie in the harbour"}}})
	service(1, "is installed already", "install", "--system")
	service(0, "stop done", "stop", "--system")
	if said := service(1, "service  stopped\n", "status", "--system"); !strings.Contains(said, data) ||
		!strings.Contains(said, "nowhere") {
		t.Errorf("stopped:\n%s", said)
	}
	service(0, "start done", "start", "--system")
	c.At = listens()
	hasDocuments(t, c, "boats", map[string]string{"a": "harbour"})
	service(0, "uninstall done", "uninstall", "--system")
	service(1, "not installed", "status", "--system")
	log, err := os.ReadFile(filepath.Join(s.Data, "logs", "mneme.log"))
	if err != nil || strings.Count(string(log), "server stopping") != 2 || len(harness.Complaints(string(log))) > 0 {
		t.Errorf("its log: %v\n%s", err, log)
	}
}
