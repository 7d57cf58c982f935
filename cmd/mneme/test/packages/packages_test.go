package packages_test

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

const root = "../../../.."

// small is a program that stands where its bytes do not matter.
func small(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./deploy/packages/archive")
	cmd.Dir = root
	harness.Succeed(t, cmd)
	return path
}

// tool is a program that make package-tools has installed.
func tool(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("MNEME_PACKAGE_TOOLS")
	if dir == "" {
		var err error
		if dir, err = filepath.Abs(filepath.Join(root, ".cache", "package-tools")); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		harness.Missing(t, "no %s in %s: make package-tools installs it", name, dir)
	}
	return path
}

// build makes packages of a version of a program.
func build(t *testing.T, program, version, kinds string, targets ...string) (dir string) {
	t.Helper()
	harness.Installed(t, "sh")
	tools := filepath.Dir(tool(t, "nfpm"))
	dir = t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{filepath.Join(root, "deploy/packages/build.sh"), dir, version},
		targets...)...)
	cmd.Env = append(os.Environ(), "MNEME_BINARY="+program, "MNEME_KINDS="+kinds, "MNEME_PACKAGE_TOOLS="+tools)
	harness.Succeed(t, cmd)
	return dir
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestReleases(t *testing.T) {
	harness.Outside(t)
	program := small(t)
	targets := []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}
	dir := build(t, program, "1.2.3", "archive deb rpm", targets...)
	sums := read(t, dir, "SHA256SUMS")

	t.Run("the same bytes again", func(t *testing.T) {
		again := build(t, program, "1.2.3", "archive deb rpm", "linux/arm64", "windows/amd64")
		files := names(t, again)
		if len(files) != 8 { // an archive and a list for each, two packages, the chart, the sums
			t.Errorf("there are %q", files)
		}
		for _, name := range slices.DeleteFunc(files, func(name string) bool { return name == "SHA256SUMS" }) {
			if read(t, again, name) != read(t, dir, name) {
				t.Errorf("%s differs", name)
			}
		}
	})
	t.Run("sums", func(t *testing.T) {
		want := names(t, dir)
		var got []string
		for line := range strings.Lines(sums) {
			sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
			got = append(got, name)
			if is := sha256.Sum256([]byte(read(t, dir, name))); hex.EncodeToString(is[:]) != sum {
				t.Errorf("%s is not what its sum says", name)
			}
		}
		if got = append(got, "SHA256SUMS"); !slices.Equal(want, slices.Sorted(slices.Values(got))) {
			t.Errorf("sums of %q, files are %q", got, want)
		}
	})
	t.Run("archives", func(t *testing.T) {
		want := []string{"CHANGELOG.md", "LICENSE", "NOTICE", "README.md"}
		for _, target := range targets {
			name, program := "mneme-1.2.3-"+strings.Replace(target, "/", "-", 1), "mneme"
			var files map[string]os.FileMode
			if strings.HasPrefix(target, "windows") {
				program, files = "mneme.exe", zipFiles(t, filepath.Join(dir, name+".zip"))
			} else {
				files = tarFiles(t, filepath.Join(dir, name+".tar.gz"))
			}
			for _, file := range append([]string{program}, want...) {
				mode, ok := files[name+"/"+file]
				if !ok || (mode&0o111 != 0) != (file == program) {
					t.Errorf("%s: %s is %v, %v", target, file, ok, mode)
				}
			}
			if len(files) != len(want)+1 {
				t.Errorf("%s holds %v", target, files)
			}
		}
	})
	t.Run("what it was built from", func(t *testing.T) {
		var bom struct {
			Metadata   struct{ Component struct{ Version string } }
			Components []struct{ Name string }
		}
		if err := json.Unmarshal([]byte(read(t, dir, "mneme-1.2.3-linux-amd64.cdx.json")), &bom); err != nil {
			t.Fatal(err)
		}
		if bom.Metadata.Component.Version != "1.2.3" || len(bom.Components) == 0 { // Go itself, at least
			t.Errorf("%+v", bom)
		}
	})
	t.Run("formula", func(t *testing.T) {
		formula := read(t, dir, "mneme.rb")
		for _, target := range targets[:4] {
			name := "mneme-1.2.3-" + strings.Replace(target, "/", "-", 1) + ".tar.gz"
			sum := sha256.Sum256([]byte(read(t, dir, name)))
			url := strings.Replace(name, "1.2.3", "#{version}", 1)
			at := strings.Index(formula, url)
			if at < 0 || !strings.HasPrefix(formula[at+len(url):], fmt.Sprintf("\"\n      sha256 \"%x\"", sum)) {
				t.Errorf("%s is not in\n%s", name, formula)
			}
		}
		if strings.Contains(formula, "@") {
			t.Errorf("not filled in:\n%s", formula)
		}
	})
	t.Run("an unknown system", func(t *testing.T) {
		cmd := exec.CommandContext(t.Context(), "sh", filepath.Join(root, "deploy/packages/build.sh"), t.TempDir(), "1.2.3",
			"plan9/amd64")
		if r := harness.Run(t, cmd); r.Code == 0 || !strings.Contains(r.Stderr, "not for plan9") {
			t.Errorf("%+v", r)
		}
	})
}

func tarFiles(t *testing.T, path string) map[string]os.FileMode {
	t.Helper()
	files := map[string]os.FileMode{}
	eachInTar(t, path, func(h *tar.Header, _ io.Reader) { files[h.Name] = h.FileInfo().Mode() })
	return files
}

// eachInTar reads a compressed archive, file by file.
func eachInTar(t *testing.T, path string, read func(h *tar.Header, r io.Reader)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(z); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		read(header, archive)
	}
}

func zipFiles(t *testing.T, path string) map[string]os.FileMode {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	files := map[string]os.FileMode{}
	for _, f := range z.File {
		files[f.Name] = f.Mode()
	}
	return files
}

// system is a folder that dpkg installs into as if it were the whole system.
type system struct {
	t   *testing.T
	dir string
}

func newSystem(t *testing.T) system {
	t.Helper()
	harness.Installed(t, "dpkg")
	if os.Geteuid() != 0 {
		harness.Missing(t, "dpkg installs for root alone")
	}
	s := system{t, t.TempDir()}
	for _, dir := range []string{"var/lib/dpkg/updates", "var/lib/dpkg/info", "etc"} {
		if err := os.MkdirAll(s.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"var/lib/dpkg/status", "etc/passwd", "etc/group"} {
		if err := os.WriteFile(s.path(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s system) path(name string) string { return filepath.Join(s.dir, name) }

func (s system) there(name string) bool {
	_, err := os.Stat(s.path(name))
	return err == nil
}

func (s system) dpkg(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(context.Background(), "dpkg", append([]string{"--root=" + s.dir, "--force-script-chrootless",
		"--force-confdef", "--force-confold", "--log=/dev/null"}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin", "DEBIAN_FRONTEND=noninteractive")
	return harness.Succeed(s.t, cmd).Stdout
}

// TestLifeOfADeb installs an older package, upgrades it to one of the real program, serves from that, and takes it away
// again, what is stored excepted.
func TestLifeOfADeb(t *testing.T) {
	harness.Outside(t)
	if runtime.GOOS != "linux" {
		t.Skip("a package of Linux")
	}
	s := newSystem(t)
	target := "linux/" + runtime.GOARCH
	deb := func(program, version string) string {
		return filepath.Join(build(t, program, version, "deb", target), "mneme-"+version+"-linux-"+runtime.GOARCH+".deb")
	}
	s.dpkg("--install", deb(small(t), "0.1.0"))
	for _, name := range []string{"usr/bin/mneme", "usr/lib/systemd/system/mneme.service", "usr/share/doc/mneme/copyright",
		"etc/mneme/mneme.yaml"} {
		if !s.there(name) {
			t.Errorf("not installed: %s", name)
		}
	}
	if _, err := exec.LookPath("systemd-sysusers"); err == nil && !strings.Contains(read(t, s.path("etc/passwd")), "mneme:") {
		t.Errorf("no user of its own in %q", read(t, s.path("etc/passwd")))
	}

	config := read(t, s.path("etc/mneme/mneme.yaml"))
	server := "server:\n  addr: 127.0.0.1:8080\n"
	if !strings.Contains(config, server) {
		t.Fatalf("the configuration listens elsewhere:\n%s", config)
	}
	mine := strings.Replace(config, server, "server:\n  addr: 127.0.0.1:0\n", 1)
	if err := os.WriteFile(s.path("etc/mneme/mneme.yaml"), []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	s.dpkg("--install", deb(harness.Program(t), "0.2.0"))
	if got := read(t, s.path("etc/mneme/mneme.yaml")); got != mine {
		t.Errorf("an upgrade changed the configuration:\n%s", got)
	}

	harness.Use(s.path("usr/bin/mneme"))
	site := &harness.Site{T: t, Config: s.path("etc/mneme/mneme.yaml"), Env: []string{"MNEME_DATA=" + s.path("var/lib/mneme"),
		"MNEME_CACHE=" + s.path("var/cache/mneme"), "MNEME_LOG_FORMAT=text"}}
	site.Mneme("config", "lint")
	key := site.Key()
	serving := site.Serve()
	client := serving.Client(t, key)
	for _, call := range []struct {
		path string
		body any
	}{
		{"/namespaces/notes/documents", harness.Object{"documents": []harness.Object{{"id": "a", "text": "The gate sticks."}}}},
		{"/namespaces/notes/query", harness.Object{"query": "what sticks?"}},
	} {
		a, err := client.Ask(t.Context(), http.MethodPost, call.path, call.body)
		if err != nil || a.Status != http.StatusOK {
			t.Fatalf("%s: %v %v", call.path, a, err)
		}
	}
	serving.Kill()

	s.dpkg("--remove", "mneme")
	if s.there("usr/bin/mneme") || !s.there("etc/mneme/mneme.yaml") {
		t.Error("removed: the program is to go and the configuration to stay")
	}
	if said := s.dpkg("--purge", "mneme"); !strings.Contains(said, "still in /var/lib/mneme") {
		t.Errorf("purge says %q", said)
	}
	if s.there("etc/mneme/mneme.yaml") || s.there("var/cache/mneme") || !s.there("var/lib/mneme") {
		t.Error("purged: the configuration and the compiled models are to go, what was stored to stay")
	}
}

// TestUnit has systemd read the unit, and say what it is exposed to.
func TestUnit(t *testing.T) {
	harness.Outside(t)
	analyze := harness.Installed(t, "systemd-analyze")
	unit := filepath.Join(root, "deploy/packages/linux/mneme.service")
	r := harness.Run(t, exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--threshold=30", unit))
	if r.Code != 0 {
		t.Errorf("too exposed, or not understood:\n%s\n%s", r.Stdout, r.Stderr)
	}
	if strings.Contains(r.Stderr, "nknown") {
		t.Errorf("systemd does not know all of it: %s", r.Stderr)
	}
}
