package wine_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// wine is where what it takes is, once TestMain has begun; the error says what is
// missing.
type wine struct {
	dir, loader, server string
	missing, err        error
}

var here wine

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	end := here.start()
	defer end()
	return harness.Main(m)
}

// ready ends a test that can't be run.
func ready(t *testing.T) {
	t.Helper()
	harness.Outside(t)
	if here.missing != nil {
		harness.Missing(t, "%v", here.missing)
	}
	if here.err != nil {
		t.Fatal(here.err)
	}
}

// start makes a Windows with the program on it. From then on what the harness and other
// suites start is that program.
func (w *wine) start() (end func()) {
	var undo []func()
	end = func() {
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i]()
		}
	}
	if len(os.Args) > 1 && strings.Contains(strings.Join(os.Args[1:], " "), "-test.short=true") {
		return end // harness.Outside skips everything
	}
	tools := map[string]string{"wine64": "/usr/lib/wine/wine64", "wineserver64": "/usr/lib/wine/wineserver64",
		"clang-14": "", "lld-link-14": ""}
	for name, known := range tools {
		path, err := exec.LookPath(name)
		if err != nil {
			if path, err = known, nil; known == "" {
				err = fmt.Errorf("%s is not installed", name)
			} else if _, stat := os.Stat(known); stat != nil {
				err = fmt.Errorf("%s is not installed", name)
			}
		}
		w.missing = errors.Join(w.missing, err)
		tools[name] = path
	}
	if w.missing != nil {
		return end
	}
	w.loader, w.server = tools["wine64"], tools["wineserver64"]
	if w.dir, w.err = os.MkdirTemp("", "wine-"); w.err != nil {
		return end
	}
	undo = append(undo, func() { _ = os.RemoveAll(w.dir) })
	for name, value := range map[string]string{"WINEPREFIX": filepath.Join(w.dir, "prefix"), "WINEDEBUG": "-all",
		"LC_ALL":           "C.UTF-8", // names of files are what it says, or Wine cannot tell those beyond ASCII
		"WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe=", "DISPLAY": ""} {
		w.err = errors.Join(w.err, os.Setenv(name, value))
	}
	if w.err != nil {
		return end
	}
	built := make(chan error, 1)
	go func() { built <- w.build() }()
	w.err = w.prefix(tools["clang-14"], tools["lld-link-14"])
	if w.err == nil {
		var leave func()
		if leave, w.err = w.stay(); w.err == nil {
			undo = append(undo, leave)
		}
	}
	undo = append(undo, func() { _ = exec.Command(w.server, "-k", "-w").Run() })
	w.err = errors.Join(w.err, <-built)
	return end
}

// patience is how long Wine may take to start a process, on a machine that does other work beside.
const patience = 5 * time.Minute

// stay starts a process that waits until leave. No process of Wine's own may outlive a test with that test's
// pipes in its hands: they all start with this one, which has answered when stay returns, and last as long as it.
func (w *wine) stay() (leave func(), err error) {
	cmd := exec.Command(w.loader, "cmd.exe", "/q")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	limit := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }) // no test's own limit counts yet
	defer limit.Stop()
	leave = func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
	if _, err := io.WriteString(in, "echo it-is-up\r\n"); err != nil {
		leave()
		return nil, err
	}
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if strings.Contains(line, "it-is-up") {
			return leave, nil
		}
		if err != nil {
			leave()
			return nil, fmt.Errorf("cmd.exe says nothing: %w", err)
		}
	}
}

// prefix makes what Wine takes for the disk of a machine.
func (w *wine) prefix(clang, lld string) error {
	if err := w.do(w.loader, "wineboot", "--init"); err != nil {
		return err
	}
	if err := w.do(w.server, "-w"); err != nil { // until all is written
		return err
	}
	// Go asks ProcessPrng for random bytes, which is the same as SystemFunction036.
	source, object := filepath.Join(w.dir, "prng.c"), filepath.Join(w.dir, "prng.obj")
	if err := os.WriteFile(source, []byte("int _fltused;\n"), 0o600); err != nil {
		return err
	}
	if err := w.do(clang, "--target=x86_64-pc-windows-msvc", "-c", source, "-o", object); err != nil {
		return err
	}
	return w.do(lld, "/dll", "/noentry", "/machine:x64", "/export:ProcessPrng=advapi32.SystemFunction036", object,
		"/out:"+filepath.Join(w.dir, "prefix", "drive_c", "windows", "system32", "bcryptprimitives.dll"))
}

// build makes the program, and a script in its place that runs it.
func (w *wine) build() error {
	program, script := filepath.Join(w.dir, "mneme.exe"), filepath.Join(w.dir, "mneme")
	cmd := exec.Command("go", "build", "-o", program, "github.com/mnemehq/mneme/cmd/mneme")
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build for Windows: %w\n%s", err, out)
	}
	body := fmt.Sprintf("#!/bin/sh\nexec %s %s \"$@\"\n", w.loader, program)
	return errors.Join(os.WriteFile(script, []byte(body), 0o700), os.Setenv(harness.ProgramVariable, script))
}

func (w *wine) do(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	var said *os.File
	if said, err = os.Create(filepath.Join(w.dir, "said")); err != nil {
		return err
	}
	defer said.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = null, said, said // no pipe: services would keep it open
	if err := cmd.Run(); err != nil {
		if _, seek := said.Seek(0, io.SeekStart); seek == nil {
			text, _ := io.ReadAll(said)
			err = fmt.Errorf("%w\n%s", err, text)
		}
		return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return nil
}
