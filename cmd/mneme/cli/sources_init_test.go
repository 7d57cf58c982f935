package cli_test

import (
	"context"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// TestConnectorsFirstHour: a new connector project builds and passes the check with the commands of
// its README, from the description to an account of the app that it brings along; with the
// configuration and the commands that turn it on the server follows that app.
func TestConnectorsFirstHour(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	for _, v := range []vendor{
		{language: "go", programs: [][]string{{"go"}}, process: true},
		{language: "python", programs: [][]string{{"python3"}}},
	} {
		t.Run(v.language, func(t *testing.T) {
			if missing := v.lacks(t); missing != "" {
				if os.Getenv("MNEME_TEST_REQUIRE") == "1" {
					t.Fatalf("building a connector in %s needs %s", v.language, missing)
				}
				t.Skipf("NOT TESTED: building a connector in %s needs %s", v.language, missing)
			}
			work := t.TempDir()
			dir := filepath.Join(work, "acme")
			if out := succeed(t, "sources", "init", "--lang", v.language, dir).Stdout; !strings.Contains(out, "cd "+dir) {
				t.Errorf("init does not say what comes next:\n%s", out)
			}
			if v.language == "python" { // the packages that other tests have installed will do
				if venv, err := filepath.Abs(filepath.Join("..", "..", "..", ".cache", "connector-python")); err == nil {
					if _, err := os.Stat(filepath.Join(venv, "ready")); err == nil {
						if err := os.Symlink(venv, filepath.Join(dir, ".venv")); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			h := &connectorsHour{T: t, dir: dir, work: work, notes: filepath.Join(dir, "notes"), address: freeAddress(t)}
			if v.language == "go" {
				h.notes = filepath.Join(dir, "sandbox", "notes")
			}
			h.does(v)
		})
	}
}

// connectorsHour is a vendor's first hour.
type connectorsHour struct {
	*testing.T
	dir, work, notes string
	address          string // of the app
}

func (h *connectorsHour) shell(ctx context.Context, dir, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", strings.ReplaceAll(line, "127.0.0.1:8099", h.address))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(harness.Program(h))+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GOWORK=off", "MNEME_DATA="+filepath.Join(h.work, "data"), "APP_TOKEN="+notesToken,
		"WRONG=another-token-of-nobody")
	return cmd
}

func (h *connectorsHour) does(v vendor) {
	readme, err := os.ReadFile(filepath.Join(h.dir, "README.md"))
	if err != nil {
		h.Fatal(err)
	}
	var checks []string
	var begun bool
	for i, block := range shellBlock.FindAllStringSubmatch(string(readme), -1) {
		dir := h.dir
		if i == 2 { // where the server starts
			dir = h.work
			config := yamlBlock.FindStringSubmatch(string(readme))[1]
			write(h.T, filepath.Join(dir, "mneme.yaml"), config)
			begun = true
		}
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSpace(line)
			if app, background := strings.CutSuffix(line, " &"); background {
				h.start(h.shell(h.Context(), dir, "exec "+app))
				continue
			}
			// The long run of a check is the same promise for two seconds.
			quick := strings.Replace(line, "sources check ", "sources check --quick ", 1)
			out, err := h.shell(h.Context(), dir, quick).CombinedOutput()
			said := string(out)
			switch {
			case strings.HasPrefix(line, "sh build.sh") && err != nil && os.Getenv("MNEME_TEST_REQUIRE") != "1":
				h.Skipf("NOT TESTED: building a connector in %s, which downloads packages: %v\n%s", v.language, err, said)
			case strings.Contains(line, " check "):
				checks = append(checks, said)
				continue
			case err != nil:
				h.Fatalf("%s: %v\n%s", line, err, said)
			case strings.Contains(line, " query ") && !strings.Contains(said, "Carrots grow in bed 5"):
				h.Errorf("the query finds\n%s", said)
			}
		}
	}
	if len(checks) != 2 || !begun {
		h.Fatalf("README.md has %d checks, want the description and an account", len(checks))
	}
	for i, want := range []string{"\n0 of ", "; 30 items of kind acme\n"} {
		if !strings.Contains(checks[i], want) {
			h.Errorf("the check does not say %q:\n%s", want, checks[i])
		}
		for line := range strings.Lines(checks[i]) {
			// Whether memory is flat after two seconds, and a program back within ten, hangs on the machine;
			// the kit's own tests have that.
			if strings.HasPrefix(line, "FAIL") && !strings.HasPrefix(line, "FAIL  conduct.memory-flat") &&
				!strings.HasPrefix(line, "FAIL  conduct.recovers") {
				h.Errorf("the project fails: %s", line)
			}
		}
	}
	write(h.T, filepath.Join(h.notes, "Corn.txt"), "Corn needs no water at all.\n")
	if err := os.Rename(filepath.Join(h.notes, "Figs.txt"), filepath.Join(h.notes, "Dates.txt")); err != nil {
		h.Fatal(err)
	}
	out, err := h.shell(h.Context(), h.work, "mneme sources sync garden --wait --config mneme.yaml").CombinedOutput()
	if want := "1 created, 1 updated, 1 document deleted"; err != nil || !strings.Contains(string(out), want) {
		h.Errorf("%v: want %q, got\n%s", err, want, out)
	}
	h.keepsSecrets()
}

// keepsSecrets looks for the app's token, and for one that it refuses, in all that commands say and in all
// files that are left.
func (h *connectorsHour) keepsSecrets() {
	for _, line := range []string{"sources change garden --secret token=env:WRONG", "sources list --json",
		"sources show garden --json", "sources runs garden --json", "sources items garden --json", "audit list --json",
		"events tail --all --once", "config show", "export --out all.ndjson", "doctor"} {
		out, _ := h.shell(h.Context(), h.work, "mneme "+line+" --config mneme.yaml").CombinedOutput() // some fail, and say why
		if len(out) == 0 {
			h.Errorf("mneme %s says nothing", line)
		}
		if strings.Contains(string(out), notesToken) || strings.Contains(string(out), "another-token-of-nobody") {
			h.Errorf("mneme %s tells a token:\n%s", line, out)
		}
	}
	files := 0
	err := filepath.WalkDir(h.work, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), notesToken) || strings.Contains(string(b), "another-token-of-nobody") {
			h.Errorf("a token is in %s", path)
		}
		return err
	})
	for _, made := range []string{"all.ndjson", "data/mneme.db"} {
		if _, missing := os.Stat(filepath.Join(h.work, made)); missing != nil {
			h.Errorf("of %d files: %v", files, missing)
		}
	}
	if err != nil {
		h.Error(err)
	}
}

// start starts the app and waits until it answers.
func (h *connectorsHour) start(app *exec.Cmd) {
	app.Stderr = os.Stderr
	if err := app.Start(); err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() {
		_ = app.Process.Kill()
		_ = app.Wait()
	})
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		c, err := net.DialTimeout("tcp", h.address, time.Second)
		if err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	h.Fatal("the app does not listen")
}

// freeAddress is one that nothing listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A project that can't be made is refused in a sentence, and writes nothing.
func TestSourcesInitRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "acme")
	succeed(t, "sources", "init", "--lang", "python", dir)
	fresh := dir + "2"
	for want, args := range map[string][]string{
		"needs --lang":                                 {fresh},
		`no project in "c"; there is go, pyt`:          {"--lang", "c", fresh},
		"exists already":                               {"--lang", "python", dir},
		`cannot be named "git": that is a`:             {"--lang", "go", "--name", "git", fresh},
		`cannot be named "push": that is a`:            {"--lang", "go", "--name", "push", fresh},
		`cannot be named "sdk": the project`:           {"--lang", "go", "--name", "sdk", fresh},
		`cannot be named "a-b": use at most`:           {"--lang", "go", "--name", "a-b", fresh},
		`cannot be named "x` + strings.Repeat("y", 32): {"--lang", "go", "--name", "x" + strings.Repeat("y", 32), fresh},
	} {
		if r := mneme(t, append([]string{"sources", "init"}, args...)...); r.Code == 0 || !strings.Contains(r.Stderr, want) {
			t.Errorf("%v: %+v, want %q", args, r, want)
		}
	}
	if _, err := os.Stat(fresh); err == nil {
		t.Error("a refused init has written something")
	}
}
