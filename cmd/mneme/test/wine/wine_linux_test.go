package wine_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/file"
)

// suites are told of every system's program. Here they are run against the one for Windows.
var suites = []struct {
	name, pkg, run, env string
	passes              int // tests, at least
}{
	{"the tours of the README, of HTTP and of memory, and the quickstart", "tours",
		"^TestTours$/^laptop$/^(README.md|quickstart|docs)$/^(rest|memory).md$", "", 5},
	{"MCP over HTTP and over stdio", "mcp", "^TestStory$/^(http|stdio_on_a_folder)$/^go$", "", 5},
	{"kills while it writes", "faults", "^TestKilledWhileWriting$", "MNEME_FAULT_ROUNDS=3", 1},
}

func TestSuites(t *testing.T) {
	ready(t)
	for _, s := range suites {
		t.Run(s.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-v", "-timeout=20m",
				"-run="+s.run, "github.com/mnemehq/mneme/cmd/mneme/test/"+s.pkg)
			cmd.Env = append(os.Environ(), s.env)
			r := harness.Run(t, cmd)
			if ran := strings.Count(r.Stdout, "--- PASS"); r.Code != 0 || ran < s.passes {
				t.Errorf("exit code %d, %d tests passed:\n%s%s", r.Code, ran, r.Stdout, r.Stderr)
			}
		})
	}
}

// windows is a path as the program calls it.
func windows(path string) string { return "Z:" + strings.ReplaceAll(path, "/", `\`) }

// hasDocuments checks what a namespace holds.
func hasDocuments(t *testing.T, c harness.Client, namespace string, want map[string]string) {
	t.Helper()
	var listed struct{ Documents []struct{ ID string } }
	c.OK("GET", "/namespaces/"+namespace+"/documents", nil).Into(&listed)
	if len(listed.Documents) != len(want) {
		t.Errorf("%s holds %+v, want %d", namespace, listed.Documents, len(want))
	}
	for id, text := range want {
		var d struct{ Text string }
		a := c.Call("GET", "/namespaces/"+namespace+"/documents/"+id, nil)
		if a.Status != http.StatusOK {
			t.Errorf("%s", a)
		} else if a.Into(&d); !strings.Contains(d.Text, text) {
			t.Errorf("%s is %q, want %q in it", id, d.Text, text)
		}
	}
}

// TestFiles imports what Windows spells otherwise, or keeps from others.
func TestFiles(t *testing.T) {
	ready(t)
	s := harness.NewSite(t, "")
	server := s.Serve()
	c := server.Client(t, s.Key("--name", "test"))
	folder := filepath.Join(t.TempDir(), "Notes and drafts")
	deep := strings.Repeat("a-folder-with-a-long-name/", 12) + "deep.md"
	files := map[string]string{
		"crlf.md":        "# Berths\r\n\r\nThe first line.\r\nThe second line.\r\n",
		"sub/plain.txt":  "a lantern in a folder",
		"Über Zoë.md":    "umlauts in a name",
		deep:             "a path of more than 260 characters",
		"held.md":        "what another program keeps to itself",
		"afterwards.txt": "what comes after it",
	}
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	release := hold(t, filepath.Join(folder, "held.md"))
	brought := func() harness.Result {
		return s.Run("import", "--namespace", "notes", windows(folder))
	}
	r := brought()
	if r.Code != 1 || !strings.Contains(r.Stdout+r.Stderr, "held.md") {
		t.Errorf("a file that another program holds: exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	t.Logf("%s%s", r.Stdout, r.Stderr)
	want := map[string]string{"crlf.md": "The second line.", "sub:plain.txt": "lantern", "afterwards.txt": "after it",
		file.DocumentID("Über Zoë.md"): "umlauts", file.DocumentID(deep): "260"}
	hasDocuments(t, c, "notes", want)
	release()
	if r = brought(); r.Code != 0 {
		t.Errorf("once it is let go: exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	want["held.md"] = "to itself"
	hasDocuments(t, c, "notes", want)

	// A name that means a device ends no import and is not waited for.
	devices := filepath.Join(t.TempDir(), "devices")
	if err := os.Mkdir(devices, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"con.md", "nul.txt", "aux.md", "com1.txt", "beside.md"} {
		if err := os.WriteFile(filepath.Join(devices, name), []byte("text of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r = s.Run("import", "--namespace", "devices", windows(devices))
	t.Logf("devices: exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	hasDocuments(t, c, "devices", map[string]string{"beside.md": "text of beside"})
	if lines := server.Complaints(); len(lines) > 0 {
		t.Errorf("the server logged %q", lines)
	}
}

// TestFolder moves a data folder with a long path, whose namespaces are called like
// devices, out and in, through a stop by Ctrl+C.
func TestFolder(t *testing.T) {
	ready(t)
	s := harness.NewSite(t, "")
	s.Data = filepath.Join(t.TempDir(), strings.Repeat("a data folder with a long name/", 9), "data")
	key := s.Key("--name", "test")
	server := s.Serve()
	texts := map[string]string{"con": "the boats lie in the harbour", "nul": "the lamp is in the cellar"}
	for namespace, text := range texts {
		server.Client(t, key).OK("POST", "/namespaces/"+namespace+"/documents",
			harness.Object{"documents": []harness.Object{{"id": "prn.md", "text": text + "\r\n"}}})
	}
	second := s.Run("serve", "--addr", "127.0.0.1:0")
	if second.Code != 1 || !strings.Contains(second.Stderr, "is in use by") || !strings.Contains(second.Stderr, server.URL) {
		t.Errorf("a second server on the folder: exit code %d\n%s", second.Code, second.Stderr)
	}
	if err := server.Stop(os.Interrupt); err != nil {
		t.Errorf("Ctrl+C: %v", err)
	}
	out := filepath.Join(t.TempDir(), "all.ndjson.gz")
	s.Mneme("export", "--out", windows(out))
	r := s.Run("doctor")
	t.Logf("doctor: exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)

	to := harness.NewSite(t, "")
	to.Mneme("import", windows(out), "--keys")
	again := to.Serve()
	for namespace, text := range texts {
		c := again.Client(t, key)
		hasDocuments(t, c, namespace, map[string]string{"prn.md": text})
		if a := c.OK("POST", "/namespaces/"+namespace+"/query", harness.Object{"query": text}); !strings.Contains(
			string(a.Body), text) {
			t.Errorf("%s", a)
		}
	}
	for _, server := range []*harness.Server{server, again} {
		if lines := server.Complaints(); len(lines) > 0 {
			t.Errorf("the server logged %q", lines)
		}
	}
}

// hold opens a file as a program does that shares it with nobody, until release.
func hold(t *testing.T, path string) (release func()) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		// The linker writes how a DLL is called beside one that it makes.
		"kernel32.c": "int _fltused; void CreateFileA(void){} void GetStdHandle(void){} void WriteFile(void){}\n" +
			"void Sleep(void){}\n",
		"hold.c": `void *CreateFileA(const char *, unsigned, unsigned, void *, unsigned, unsigned, void *);
void *GetStdHandle(unsigned);
int WriteFile(void *, const void *, unsigned, unsigned *, void *);
void Sleep(unsigned);
int _fltused;
void start(void) {
	unsigned n;
	void *h = CreateFileA(PATH, 0x80000000u, 0, 0, 3, 0, 0);
	WriteFile(GetStdHandle(-11u), h == (void *)-1 ? "no\n" : "ok\n", 3, &n, 0);
	for (;;) Sleep(1000000);
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"clang-14", "--target=x86_64-pc-windows-msvc", "-c", "kernel32.c"},
		{"lld-link-14", "/dll", "/noentry", "/machine:x64", "/export:CreateFileA", "/export:GetStdHandle", "/export:WriteFile",
			"/export:Sleep", "kernel32.o", "/out:kernel32.dll"},
		{"clang-14", "--target=x86_64-pc-windows-msvc", fmt.Sprintf("-DPATH=%q", windows(path)), "-c", "hold.c"},
		{"lld-link-14", "/entry:start", "/subsystem:console", "/out:hold.exe", "hold.o", "kernel32.lib"},
		{"rm", "kernel32.dll"}, // or it is taken for the real one
	} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = dir
		harness.Succeed(t, cmd)
	}
	cmd := exec.Command(here.loader, filepath.Join(dir, "hold.exe"))
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	release = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(release)
	line := make([]byte, 3)
	if _, err := said.Read(line); err != nil || string(line) != "ok\n" {
		t.Fatalf("%s can't be held: %q, %v", path, line, err)
	}
	return release
}
