package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/model/remotetest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// happened is an event as a command prints it.
type happened struct {
	ID   string
	Type string
	Data struct {
		Namespace string
		IDs       []string
		KeyID     string `json:"key_id"`
	}
}

func eventOf(t *testing.T, line string) (e happened) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &e); err != nil || e.ID == "" {
		t.Fatalf("no event: %q, %v", line, err)
	}
	return e
}

// A reader of events is told what commands do, with and without a server beside them, and
// where to go on.
func TestEventsTail(t *testing.T) {
	t.Parallel()
	model := remotetest.OpenAI(t, remotetest.Options{})
	site := harness.NewSite(t, fmt.Sprintf("models: {vectors: {openai: {task: embedding, base_url: \"%s/v1\", model: m, "+
		"dimensions: 64, max_input_tokens: 512}}}\nroles: {embed: vectors, sparse: off, rerank: off}\n", model.URL))
	folder := t.TempDir()
	write(t, filepath.Join(folder, "gate.md"), "The gate sticks.")
	write(t, filepath.Join(folder, "hedge.md"), "The hedge is cut.")
	var at string
	tail := func(args ...string) (events []happened, kinds []string) {
		t.Helper()
		r := site.Mneme(append([]string{"events", "tail", "--once"}, args...)...)
		for line := range strings.Lines(r.Stdout) {
			e := eventOf(t, line)
			events, kinds = append(events, e), append(kinds, e.Type)
		}
		_, after, ok := strings.Cut(r.Stderr, "go on with --after ")
		if !ok {
			t.Fatalf("not said where to go on: %s", r.Stderr)
		}
		at = strings.TrimSpace(after)
		return events, kinds
	}
	// told wants just these events since the last time.
	told := func(want ...string) (all []happened) {
		t.Helper()
		var got []string
		harness.EventuallySees(t, "the events", func() (bool, string) {
			events, kinds := tail("--after", at)
			all, got = append(all, events...), append(got, kinds...)
			return len(got) >= len(want), strings.Join(got, " ")
		})
		if !slices.Equal(got, want) {
			t.Errorf("told of %q, want %q", got, want)
		}
		return all
	}
	site.Key() // nobody reads yet
	if _, kinds := tail(); kinds != nil {
		t.Errorf("from now on there is %q", kinds)
	}
	site.Mneme("import", folder, "--namespace", "notes")
	told("key.created", "namespace.created", "documents.written")
	site.Mneme("import", folder, "--namespace", "notes")

	server := site.Serve()
	site.Key()
	made := told("key.created")
	site.Mneme("keys", "revoke", made[0].Data.KeyID)
	revoked := told("key.revoked")
	if made[0].Data.KeyID == "" || revoked[0].Data.KeyID != made[0].Data.KeyID {
		t.Errorf("made %+v, revoked %+v", made, revoked)
	}
	site.Mneme("documents", "delete", "notes", "gate.md", "--yes")
	if gone := told("documents.deleted"); !slices.Equal(gone[0].Data.IDs, []string{"gate.md"}) {
		t.Errorf("deleted %+v", gone)
	}
	site.Mneme("namespaces", "delete", "notes", "--yes")
	told("namespace.deleted")

	// Without --once it stays until it is interrupted.
	cmd := site.Command("events", "tail", "--after", at)
	var said bytes.Buffer
	cmd.Stderr = &said
	lines, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // nothing, once it has ended
	out := bufio.NewScanner(lines)
	for range 2 {
		site.Key()
		if !out.Scan() {
			t.Fatalf("no event comes: %s", said.String())
		}
		if e := eventOf(t, out.Text()); e.Type != "key.created" {
			t.Errorf("followed: %+v", e)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if out.Scan() {
		t.Errorf("after the interrupt: %s", out.Text())
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), "go on with --after ") {
		t.Errorf("interrupted: %v, %s", err, said.String())
	}

	_, kinds := tail("--all", "--kinds", "namespace.created,namespace.deleted")
	if !slices.Equal(kinds, []string{"namespace.created", "namespace.deleted"}) {
		t.Errorf("of some kinds: %q", kinds)
	}
	for want, args := range map[string][]string{
		"two places to begin at": {"--all", "--after", at},
		"nobody":                 {"--org", "nobody"},
		"kinds":                  {"--kinds", "namespace.made"},
	} {
		r := site.Run(append([]string{"events", "tail", "--once"}, args...)...)
		if r.Code == 0 || !strings.Contains(r.Stderr, want) {
			t.Errorf("%q: %+v", args, r)
		}
	}
	if err := server.Stop(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, kinds := tail("--all"); len(kinds) < 9 {
		t.Errorf("all: %q", kinds)
	}
}
