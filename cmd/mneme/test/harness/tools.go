package harness

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// root is the repository, from the folder of any package of whole-program tests.
const root = "../../../.."

// Tools are what an install.sh brings.
type Tools struct {
	Folder   string   // below .cache
	Variable string   // of the environment that names another folder; "": none
	Make     string   // the target that installs them
	Pins     []string // the files that say which versions, by their paths in the repository
}

// Clients are what cmd/mneme/test/clients installs, which others use as well.
var Clients = Tools{Folder: "clients", Make: "clients", Pins: []string{"cmd/mneme/test/clients/package-lock.json",
	"cmd/mneme/test/clients/requirements.txt", "cmd/mneme/test/clients/testdata/go/go.mod"}}

// Path is the absolute path of one of the tools, or of their folder. A test is Missing what is
// not there, or is not what is pinned.
func (k Tools) Path(t testing.TB, elements ...string) string {
	t.Helper()
	var other string
	if k.Variable != "" {
		other = os.Getenv(k.Variable)
	}
	dir := Absolute(t, cmp.Or(other, filepath.Join(root, ".cache", k.Folder)))
	var pinned []byte
	for _, file := range k.Pins {
		pinned = append(pinned, Read(t, filepath.Join(root, file))...)
	}
	switch installed, err := os.ReadFile(filepath.Join(dir, "installed")); {
	case err != nil:
		Missing(t, "nothing is installed in %s; run make %s", dir, k.Make)
	case !bytes.Equal(installed, pinned):
		Missing(t, "what is in %s is not what is pinned; run make %s", dir, k.Make)
	}
	return filepath.Join(append([]string{dir}, elements...)...)
}

// Chromium is the browser: the one that MNEME_CHROMIUM names, else Debian's without a window, which takes
// three quarters of the processor time of the one with, else that one.
func Chromium(t testing.TB) string {
	t.Helper()
	if named := os.Getenv("MNEME_CHROMIUM"); named != "" {
		return named
	}
	for _, name := range []string{"chromium-headless-shell", "chromium"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	Missing(t, "neither chromium-headless-shell nor chromium is installed, and MNEME_CHROMIUM names none")
	return ""
}

// Do runs a program in a folder to its end, which has to be a good one.
func Do(t testing.TB, dir string, env []string, name string, args ...string) Result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(os.Environ(), env...), time.Second
	return Succeed(t, cmd)
}

// Absolute is the absolute form of a path.
func Absolute(t testing.TB, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Read is what a file holds.
func Read(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Write makes a file and the folders above it.
func Write(t testing.TB, file string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Page is the text of a page of the documentation, or of what begins with one of its sections
// ("docs/events.md: Webhooks").
func Page(t testing.TB, page string) string {
	t.Helper()
	file, heading, section := strings.Cut(page, ": ")
	text := string(Read(t, filepath.Join(root, file)))
	if !section {
		return text
	}
	_, rest, ok := strings.Cut(text, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("there is no %s", page)
	}
	return rest
}
