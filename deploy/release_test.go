package deploy_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const changelog = `# Changelog

## Unreleased
### Added
- A thing.

## 0.1.0 - 2026-11-22
### Added
- The first.
`

// The checks of generated files are the repository's own; here they are two targets that
// write what they are told to.
const makefile = `references:
	cp source.txt docs/generated.txt
compatible:
	test ! -e broken
`

// versions are the lines of the SDKs and of a package for a framework that a release changes, with a version to put in.
var versions = map[string]string{
	"sdk/python/pyproject.toml":        "[project]\nname = \"mneme-sdk\"\nversion = \"%s\"\n\n[tool]\nuv = \"1\"\n",
	"sdk/python/src/mneme/__init__.py": "__version__ = \"%s\"\n__all__ = [\"x\"]\n",
	"sdk/typescript/package.json":      "{\n  \"name\": \"@x/sdk\",\n  \"version\": \"%s\"\n}\n",
	"sdk/go/client.go":                 "package mneme\n\nconst Version = \"%s\"\n",

	"integrations/python/a-mneme/pyproject.toml":          "[project]\nname = \"a-mneme\"\nversion = \"%s\"\n",
	"integrations/python/a-mneme/src/a_mneme/__init__.py": "__version__ = \"%s\"\n",
	"integrations/typescript/a/package.json":              "{\n  \"name\": \"@x/a\",\n  \"version\": \"%s\"\n}\n",
}

type checkout struct {
	t   *testing.T
	dir string
}

// newCheckout is a repository with what a release touches.
func newCheckout(t *testing.T) checkout {
	t.Helper()
	for _, tool := range []string{"git", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("SKIPPED: needs " + tool)
		}
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull) // no signing, no hooks of the machine's owner
	c := checkout{t, t.TempDir()}
	c.write("CHANGELOG.md", changelog)
	c.write("Makefile", makefile)
	c.write("source.txt", "generated\n")
	c.write("docs/generated.txt", "generated\n")
	c.write("docs/openapi.yaml", "paths: [old, new]\n")
	c.write("docs/openapi.released.yaml", "paths: [old]\n")
	for file, text := range versions {
		c.write(file, fmt.Sprintf(text, "0.1.0"))
	}
	c.git("init", "-q")
	c.git("config", "user.name", "Test")
	c.git("config", "user.email", "test@example.com")
	c.commit()
	c.git("tag", "v0.1.0")
	return c
}

func (c checkout) write(name, text string) {
	c.t.Helper()
	file := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c checkout) read(name string) string {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

func (c checkout) git(args ...string) string {
	c.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = c.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (c checkout) commit() {
	c.t.Helper()
	c.git("add", "-A")
	c.git("commit", "-q", "-m", "Change")
}

// release runs the script and returns what it says; ok is whether it cut the release.
func (c checkout) release(version string, env ...string) (said string, ok bool) {
	c.t.Helper()
	script, err := filepath.Abs("release.sh")
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command("sh", script, version)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func TestReleaseMovesTheNotesAndTags(t *testing.T) {
	c := newCheckout(t)
	before := time.Now().UTC().Format(time.DateOnly)
	if said, ok := c.release("0.2.0"); !ok {
		t.Fatal(said)
	}
	after := time.Now().UTC().Format(time.DateOnly)
	want := func(day string) string {
		return strings.Replace(changelog, "## Unreleased\n", "## Unreleased\n\n## 0.2.0 - "+day+"\n", 1)
	}
	if got := c.read("CHANGELOG.md"); got != want(before) && got != want(after) {
		t.Errorf("the changelog is\n%s", got)
	}
	if got := c.read("docs/openapi.released.yaml"); got != c.read("docs/openapi.yaml") {
		t.Errorf("the released document is %q", got)
	}
	if got := c.git("log", "-1", "--format=%s"); got != "Release 0.2.0" {
		t.Errorf("the commit is %q", got)
	}
	if got := c.git("cat-file", "-t", "v0.2.0"); got != "tag" {
		t.Errorf("v0.2.0 is a %s, want an annotated tag", got)
	}
	if head, tagged := c.git("rev-parse", "HEAD"), c.git("rev-parse", "v0.2.0^{commit}"); head != tagged {
		t.Errorf("v0.2.0 is at %s, HEAD at %s", tagged, head)
	}
	for file, text := range versions {
		if got, want := c.read(file), fmt.Sprintf(text, "0.2.0"); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	if head, tagged := c.git("rev-parse", "HEAD"), c.git("rev-parse", "sdk/go/v0.2.0^{commit}"); head != tagged {
		t.Errorf("the module's tag is at %s, HEAD at %s", tagged, head)
	}
	if got := c.git("status", "--porcelain"); got != "" {
		t.Errorf("left behind: %s", got)
	}
	if said, ok := c.release("0.3.0"); ok || !strings.Contains(said, "nothing under") {
		t.Errorf("a release without notes: %v\n%s", ok, said)
	}
}

func TestADryRunOfAReleaseChangesNothing(t *testing.T) {
	c := newCheckout(t)
	head := c.git("rev-parse", "HEAD")
	said, ok := c.release("0.2.0", "DRY_RUN=1")
	if !ok || !strings.Contains(said, "+## 0.2.0 - ") || !strings.Contains(said, "openapi.released.yaml") {
		t.Errorf("%v\n%s", ok, said)
	}
	for _, file := range []string{"mneme_sdk-0.2.0-py3-none-any.whl", "a_mneme-0.2.0-py3-none-any.whl", "x-sdk-0.2.0.tgz",
		"x-a-0.2.0.tgz"} {
		if !strings.Contains(said, "\n"+file+"\n") {
			t.Errorf("it does not show %s:\n%s", file, said)
		}
	}
	if c.git("rev-parse", "HEAD") != head || c.git("status", "--porcelain") != "" || c.git("tag") != "v0.1.0" {
		t.Errorf("the repository has changed: %s, tags %s", c.git("status"), c.git("tag"))
	}
}

func TestReleaseRefuses(t *testing.T) {
	for _, r := range []struct {
		what, version string
		change        func(checkout)
		says          string
	}{
		{"no version", "", nil, "MAJOR.MINOR.PATCH"},
		{"a version with a v", "v0.2.0", nil, "MAJOR.MINOR.PATCH"},
		{"a version in two parts", "0.2", nil, "MAJOR.MINOR.PATCH"},
		{"a changed file", "0.2.0", func(c checkout) { c.write("source.txt", "other\n") }, "not clean"},
		{"a new file", "0.2.0", func(c checkout) { c.write("new.txt", "x\n") }, "not clean"},
		{"a version that exists", "0.1.0", nil, "v0.1.0 exists"},
		{"an older version", "0.0.9", nil, "older than v0.1.0"},
		{"an older version by number", "0.9.0", func(c checkout) { c.git("tag", "v0.10.0") }, "older than v0.10.0"},
		{"a changelog without notes", "0.2.0", func(c checkout) {
			c.write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n## 0.1.0 - 2026-11-22\n- The first.\n")
			c.commit()
		}, "nothing under"},
		{"a generated file that is not current", "0.2.0", func(c checkout) {
			c.write("docs/generated.txt", "by hand\n")
			c.commit()
		}, "not current"},
		{"an SDK without a version", "0.2.0", func(c checkout) {
			c.write("sdk/go/client.go", "package mneme\n")
			c.commit()
		}, "sdk/go/client.go has no line"},
		{"an interface that breaks clients", "0.2.0", func(c checkout) {
			c.write("broken", "")
			c.commit()
		}, "breaks clients"},
	} {
		t.Run(r.what, func(t *testing.T) {
			c := newCheckout(t)
			if r.change != nil {
				r.change(c)
			}
			head, status, tags := c.git("rev-parse", "HEAD"), c.git("status", "--porcelain"), c.git("tag")
			said, ok := c.release(r.version)
			if ok || !strings.Contains(said, r.says) {
				t.Errorf("cut: %v, says %q, want %q", ok, said, r.says)
			}
			if c.git("rev-parse", "HEAD") != head || c.git("status", "--porcelain") != status || c.git("tag") != tags {
				t.Errorf("the repository has changed: %s", c.git("status", "--porcelain"))
			}
		})
	}
}
