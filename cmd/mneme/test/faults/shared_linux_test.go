package faults_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// assistant is a desktop client that started mneme mcp --stdio for itself.
type assistant struct {
	t       *testing.T
	name    string
	cmd     *exec.Cmd
	session *sdk.ClientSession
	log     *bytes.Buffer
	ended   atomic.Bool // it was ended, so that its own calls may fail
	calls   atomic.Int64
	work    sync.WaitGroup
}

func assist(t *testing.T, data, name string) *assistant {
	t.Helper()
	a := &assistant{t: t, name: name, log: new(bytes.Buffer),
		cmd: exec.Command(harness.Program(t), "mcp", "--stdio", "--data", data, "--namespace", "notes")}
	// What is shared is the folder; a process with fewer models starts sooner.
	a.cmd.Env = append(os.Environ(), "MNEME_CONFIG="+filepath.Join(filepath.Dir(data), "mneme.yaml"))
	a.cmd.Stderr = a.log
	session, err := sdk.NewClient(&sdk.Implementation{Name: name, Version: "1"}, nil).Connect(t.Context(),
		&sdk.CommandTransport{Command: a.cmd, TerminateDuration: harness.Patience}, nil)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, a.log)
	}
	a.session = session
	return a
}

// call answers false where the assistant was ended.
func (a *assistant) call(tool string, args, out any) bool {
	r, err := a.session.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	switch {
	case err != nil && a.ended.Load():
		return false
	case err != nil:
		a.t.Errorf("%s: %s: %v", a.name, tool, err)
		return false
	case r.IsError:
		a.t.Errorf("%s: %s: %s", a.name, tool, r.Content[0].(*sdk.TextContent).Text)
		return false
	}
	a.calls.Add(1)
	if err := json.Unmarshal([]byte(r.Content[0].(*sdk.TextContent).Text), out); err != nil {
		a.t.Errorf("%s: %s: %v", a.name, tool, err)
	}
	return true
}

// saved is what was acknowledged, by id, and what was only asked for.
type saved struct {
	mu    sync.Mutex
	texts map[string]string
	asked map[string]bool // texts
}

// load saves, reads, finds and lists until stop is closed.
func (a *assistant) load(kept *saved, stop <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		text := fmt.Sprintf("Assistant %s noted that page %d is read.", a.name, n)
		args := map[string]any{"text": text}
		if n%2 == 0 {
			args["id"] = fmt.Sprintf("%s-%d", a.name, n)
		}
		kept.mu.Lock()
		kept.asked[text] = true
		kept.mu.Unlock()
		var s struct{ ID string }
		if !a.call("save", args, &s) {
			return
		}
		kept.mu.Lock()
		kept.texts[s.ID] = text
		kept.mu.Unlock()
		var got struct{ Text string }
		if !a.call("fetch", map[string]any{"id": s.ID}, &got) {
			return
		}
		if got.Text != text {
			a.t.Errorf("%s: %s reads %q, want %q", a.name, s.ID, got.Text, text)
		}
		var found struct{ Results []struct{ Text string } }
		if !a.call("search", map[string]any{"query": text, "rerank": false, "top_k": 1}, &found) {
			return
		}
		if len(found.Results) != 1 || found.Results[0].Text != text {
			a.t.Errorf("%s: %q finds %+v", a.name, text, found)
		}
	}
}

// holder is the process that has a data folder, 0 where it is not known.
func holder(t *testing.T, data string) (pid int) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(data, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	var h struct{ PID int }
	_ = json.Unmarshal(body, &h) // it is just being written
	return h.PID
}

// A server takes the folder from the assistant that holds it, answers all of them, and gives it
// back to them by its end or death: no call fails, and nothing is lost.
func TestAServerTakesTheFolder(t *testing.T) {
	harness.Outside(t)
	t.Parallel()
	s := harness.NewSite(t, "roles: {rerank: off, sparse: off}\n")
	kept := &saved{texts: map[string]string{}, asked: map[string]bool{}}
	stop := make(chan struct{})
	both := make([]*assistant, 2)
	for i := range both {
		a := assist(t, s.Data, fmt.Sprintf("b%d", i))
		a.work.Go(func() { a.load(kept, stop) })
		both[i] = a
	}
	work := func(with string) {
		t.Helper()
		before := []int64{both[0].calls.Load(), both[1].calls.Load()}
		harness.Eventually(t, "both assistants work "+with, func() bool {
			return both[0].calls.Load() > before[0]+3 && both[1].calls.Load() > before[1]+3 || t.Failed()
		})
	}
	work("alone")
	for round := range 2 {
		server := s.Serve()
		pid := server.Cmd.Process.Pid
		if now := holder(t, s.Data); now != pid {
			t.Errorf("process %d holds the folder, not the server", now)
		}
		work("with a server")
		if round == 0 {
			if err := server.Stop(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		} else {
			server.Kill()
		}
		work("after the server")
		if now := holder(t, s.Data); now != both[0].cmd.Process.Pid && now != both[1].cmd.Process.Pid {
			t.Errorf("process %d holds the folder, which is no assistant", now)
		}
		if lines := server.Complaints(); len(lines) > 0 {
			t.Errorf("the server logged %q", lines)
		}
	}
	close(stop)
	for _, a := range both {
		a.work.Wait()
	}
	for id, text := range kept.texts {
		var got struct{ Text string }
		if both[0].call("fetch", map[string]any{"id": id}, &got) && got.Text != text {
			t.Errorf("%s reads %q, want %q", id, got.Text, text)
		}
	}
	for _, a := range both {
		if err := a.session.Close(); err != nil {
			t.Errorf("%s ended with %v", a.name, err)
		}
		if said := a.log.String(); strings.Contains(said, "panic") || strings.Contains(said, "ERROR") {
			t.Errorf("%s said\n%s", a.name, said)
		}
	}
}

// Four assistants work on one folder without a pause. The one that holds it is killed, or ends in order, and
// another starts in its place: no call of those that live fails, and nothing is lost or doubled.
func TestAssistantsShareAFolder(t *testing.T) {
	harness.Outside(t)
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(filepath.Join(filepath.Dir(data), "mneme.yaml"), []byte("roles: {rerank: off, sparse: off}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	kept := &saved{texts: map[string]string{}, asked: map[string]bool{}}
	stop := make(chan struct{})
	all := make([]*assistant, 4)
	started := 0
	begin := func(i int) {
		a := assist(t, data, fmt.Sprintf("a%d", started))
		started++
		a.work.Go(func() { a.load(kept, stop) })
		all[i] = a
	}
	for i := range all {
		begin(i)
	}
	for round := range harness.Rounds(t, 2, 2) {
		var before [4]int64
		for i, a := range all {
			before[i] = a.calls.Load()
		}
		harness.Eventually(t, "every assistant works", func() bool {
			working := true
			for i, a := range all {
				working = working && a.calls.Load() > before[i]+2
			}
			return working || t.Failed()
		})
		pid, at := holder(t, data), -1
		for i, a := range all {
			if a.cmd.Process.Pid == pid {
				at = i
			}
		}
		if at < 0 || t.Failed() {
			t.Fatalf("process %d holds the folder, which is no assistant", pid)
		}
		ending := all[at]
		ending.ended.Store(true)
		if round%2 == 1 { // in order
			if err := ending.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		} else if err := ending.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		ending.work.Wait()
		_ = ending.session.Close() // its process has ended already
		harness.Eventually(t, "another assistant holds the folder", func() bool {
			now := holder(t, data)
			return t.Failed() || now != pid && now != 0
		})
		begin(at)
	}
	// What was asked for when its assistant ended may be there or not, and once.
	close(stop)
	for _, a := range all {
		a.work.Wait()
	}
	for _, a := range all[1:] {
		if err := a.session.Close(); err != nil {
			t.Errorf("%s ended with %v\n%s", a.name, err, a.log)
		}
	}
	last := all[0] // it holds the folder now, or takes it
	for id, text := range kept.texts {
		var got struct{ Text string }
		if last.call("fetch", map[string]any{"id": id}, &got) && got.Text != text {
			t.Errorf("%s reads %q, want %q", id, got.Text, text)
		}
	}
	var list struct {
		Namespaces []struct{ Documents int }
	}
	last.call("list_namespaces", map[string]any{}, &list)
	if len(list.Namespaces) != 1 || list.Namespaces[0].Documents < len(kept.texts) ||
		list.Namespaces[0].Documents > len(kept.asked) {
		t.Errorf("%+v hold what %d acknowledged saves of %d left", list, len(kept.texts), len(kept.asked))
	}
	t.Logf("%d saves acknowledged, %d asked for", len(kept.texts), len(kept.asked))
	if err := last.session.Close(); err != nil {
		t.Errorf("%s ended with %v\n%s", last.name, err, last.log)
	}
	for _, a := range all {
		if s := a.log.String(); strings.Contains(s, "panic") || strings.Contains(s, "ERROR") {
			t.Errorf("%s said\n%s", a.name, s)
		}
	}
}
