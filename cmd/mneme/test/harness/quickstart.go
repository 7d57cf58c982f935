package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

var typed = regexp.MustCompile("(?s)(?:<!-- file: (\\S+) -->\n)?```(\\w+)\n(.*?\n)```\n")

// Quickstart does in a folder what a page of the documentation tells its reader to: it writes the files that
// are marked as such and runs all shell blocks as one session, with the program in the PATH. Given a server, that
// one takes the place of the page's own; without one the page's gets a free port. replace are pairs of what
// stands in a page and what is typed instead.
func Quickstart(t testing.TB, page, dir string, env []string, site *Site, server *Server, replace ...string) Result {
	t.Helper()
	var script strings.Builder
	script.WriteString("set -e\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n")
	for _, m := range typed.FindAllStringSubmatch(Page(t, page), -1) {
		switch file, language, text := m[1], m[2], m[3]; {
		case file != "":
			fmt.Fprintf(&script, "cat >%s <<'FILE'\n%sFILE\n", file, text)
		case language == "sh":
			script.WriteString(text)
		}
	}
	if server == nil {
		replace = append(replace, "127.0.0.1:8080", Address(t))
	} else {
		replace = append(replace, "http://127.0.0.1:8080", server.URL, "./mneme-data", site.Data,
			"mneme serve --data ./mneme-data 2>mneme.log &\n", "")
	}
	path := t.TempDir()
	if err := os.Symlink(Absolute(t, Program(t)), filepath.Join(path, "mneme")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", strings.NewReplacer(replace...).Replace(script.String()))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append(env, "PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"))...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	return Succeed(t, cmd)
}
