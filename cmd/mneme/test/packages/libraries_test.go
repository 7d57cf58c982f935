package packages_test

import (
	"archive/tar"
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// content is what the files of an archive hold that the names of fit.
func content(t *testing.T, path string, fits *regexp.Regexp) map[string]string {
	t.Helper()
	found := map[string]string{}
	keep := func(name string, r io.Reader) {
		t.Helper()
		if !fits.MatchString(name) {
			return
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		found[name] = string(b)
	}
	if strings.HasSuffix(path, ".whl") {
		z, err := zip.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = z.Close() }()
		for _, file := range z.File {
			r, err := file.Open()
			if err != nil {
				t.Fatal(err)
			}
			keep(file.Name, r)
			_ = r.Close()
		}
		return found
	}
	eachInTar(t, path, func(h *tar.Header, r io.Reader) { keep(h.Name, r) })
	return found
}

// A release has a wheel or a tarball of every SDK and package for a framework, all of the version it is given,
// in its sums.
func TestLibraries(t *testing.T) {
	harness.Outside(t)
	harness.Installed(t, "python3")
	harness.Installed(t, "npm")
	harness.Clients.Path(t)
	harness.Tools{Folder: "sdk", Make: "sdk-tools", Pins: []string{"cmd/mneme/test/sdk/package-lock.json",
		"cmd/mneme/test/sdk/requirements.txt", "cmd/mneme/test/sdk/runtime.txt"}}.Path(t)
	harness.Tools{Folder: "integrations/typescript", Make: "package-tools",
		Pins: []string{"cmd/mneme/test/integrations/pins/typescript/package-lock.json"}}.Path(t)
	dir := build(t, small(t), "1.2.3", "libraries", "linux/amd64")

	list := exec.CommandContext(t.Context(), "sh", "deploy/packages/libraries.sh", "--list", "1.2.3")
	list.Dir = root
	listed := strings.Fields(harness.Succeed(t, list).Stdout)
	made := slices.DeleteFunc(names(t, dir), func(name string) bool {
		return name == "SHA256SUMS" || strings.HasSuffix(name, ".cdx.json")
	})
	if slices.Sort(listed); !slices.Equal(listed, made) {
		t.Errorf("it lists %q and makes %q", listed, made)
	}
	sources := 2
	for _, language := range []string{"python", "typescript"} {
		entries, err := os.ReadDir(filepath.Join(root, "integrations", language))
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range entries {
			if one.IsDir() {
				sources++
			}
		}
	}
	if len(made) != sources || !slices.Contains(made, "mneme_sdk-1.2.3-py3-none-any.whl") ||
		!slices.Contains(made, "mnemehq-sdk-1.2.3.tgz") {
		t.Errorf("of %d packages it makes %q", sources, made)
	}
	sums := read(t, dir, "SHA256SUMS")
	for _, name := range made {
		if !strings.Contains(sums, "  "+name+"\n") {
			t.Errorf("SHA256SUMS has no %s", name)
		}
		files := content(t, filepath.Join(dir, name), regexp.MustCompile(`^[^/]+/(METADATA|__init__\.py|package\.json)$`+
			`|/LICENSE$|\.js$|/tests?/`))
		says, licensed := 0, false
		for file, text := range files {
			switch {
			case strings.HasSuffix(file, "/LICENSE"):
				licensed = true
			case strings.HasSuffix(file, "/METADATA"):
				says++
				if !strings.Contains(text, "\nVersion: 1.2.3\n") {
					t.Errorf("%s: %s says %s", name, file, text[:min(200, len(text))])
				}
			case strings.HasSuffix(file, "/__init__.py"):
				says++
				if !strings.Contains(text, `__version__ = "1.2.3"`) {
					t.Errorf("%s: %s is of another version", name, file)
				}
			case strings.HasSuffix(file, "/package.json"):
				says++
				var is struct{ Version string }
				if err := json.Unmarshal([]byte(text), &is); err != nil || is.Version != "1.2.3" {
					t.Errorf("%s: %s: %v, version %q", name, file, err, is.Version)
				}
			case strings.Contains(file, "/test"):
				t.Errorf("%s brings %s", name, file)
			}
		}
		if want := map[bool]int{true: 2, false: 1}[strings.HasSuffix(name, ".whl")]; says != want {
			t.Errorf("%s says its version in %d files of %d", name, says, want)
		}
		if strings.HasSuffix(name, ".tgz") && files["package/dist/index.js"]+files["package/dist/esm/index.js"] == "" {
			t.Errorf("%s has no program", name)
		}
		if !licensed {
			t.Errorf("%s has no licence", name)
		}
	}
}
