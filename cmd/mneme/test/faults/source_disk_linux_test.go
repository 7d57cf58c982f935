package faults_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// sourceRun is a run as it is answered.
type sourceRun struct {
	Status     string
	FinishedAt *string `json:"finished_at"`
}

// followed is what the namespace of a source holds: the first words of each document by its path.
func (p *process) followed(namespace string) map[string]string {
	p.T.Helper()
	out := map[string]string{}
	for at := ""; ; {
		var page struct {
			Documents []struct {
				ID       string
				Text     string
				Metadata struct{ Path string }
			}
			NextCursor *string `json:"next_cursor"`
		}
		p.OK("GET", "/namespaces/"+namespace+"/documents?limit=100"+at, nil).Into(&page)
		for _, d := range page.Documents {
			var whole struct{ Text string }
			p.OK("GET", "/namespaces/"+namespace+"/documents/"+d.ID, nil).Into(&whole)
			if _, twice := out[d.Metadata.Path]; twice {
				p.T.Errorf("%s is kept twice", d.Metadata.Path)
			}
			words := strings.Fields(whole.Text)
			out[d.Metadata.Path] = strings.Join(words[:min(3, len(words))], " ")
		}
		if page.NextCursor == nil {
			return out
		}
		at = "&cursor=" + *page.NextCursor
	}
}

// TestFullDiskSource: the disk fills while a source is followed. Nothing is lost or doubled, each document is
// the old or the new one, and with space and another start the source is in step, without a run that runs for ever.
func TestFullDiskSource(t *testing.T) {
	disk := smallDisk(t, 64<<20)
	folder := t.TempDir()
	text := func(name string, version int) string {
		return fmt.Sprintf("%s version %d %s", name, version, strings.Repeat("anchors lie in the harbor all winter. ", 150))
	}
	want := func(from, to, version int) map[string]string {
		out := map[string]string{}
		for i := from; i < to; i++ {
			name := fmt.Sprintf("%02d.txt", i)
			out[name] = fmt.Sprintf("%s version %d", name, version)
		}
		return out
	}
	put := func(from, to, version int) {
		t.Helper()
		for name := range want(from, to, version) {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text(name, version)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(0, 10, 1)
	s := newSite(t, filepath.Join(disk, "data"), smallIndex+fmt.Sprintf(
		"sources: {enabled: true, directories: [%q]}\n", folder))
	p := s.start()
	made := p.Call("POST", "/sources", object{"name": "Harbor", "kind": "directory", "namespace": "docs",
		"config": object{"path": folder}}).Is(http.StatusCreated)
	id, _ := made.JSON()["id"].(string)
	runs := func() []sourceRun {
		t.Helper()
		var page struct{ Runs []sourceRun }
		p.OK("GET", "/sources/"+id+"/runs", nil).Into(&page)
		return page.Runs
	}
	harness.EventuallySees(t, "the source is followed", func() (bool, string) {
		all := runs()
		return len(all) == 1 && all[0].Status == "completed", fmt.Sprintf("%+v", all)
	})
	old, next := want(0, 10, 1), want(0, 40, 2)
	if got := p.followed("docs"); !maps.Equal(got, old) {
		t.Fatalf("%v", got)
	}
	put(0, 40, 2)
	occupy, release := ballast(t, disk)
	occupy(512 << 10) // some of the changes find place
	a := p.Call("POST", "/sources/"+id+"/sync", object{})
	if a.Status != http.StatusAccepted {
		t.Fatalf("%s", a)
	}
	harness.EventuallySees(t, "the disk is full", func() (bool, string) {
		occupy(0)
		a := p.Call("POST", "/namespaces/other/documents", object{"documents": []object{{"id": "a",
			"text": text("other", len(p.Logged()))}}})
		return a.Status == http.StatusServiceUnavailable, a.String()
	})
	check := func() {
		t.Helper()
		got := p.followed("docs")
		for name := range old {
			if got[name] != old[name] && got[name] != next[name] {
				t.Errorf("%s is %q", name, got[name])
			}
		}
		for name, is := range got {
			if is != old[name] && is != next[name] {
				t.Errorf("%s is %q", name, is)
			}
		}
		t.Logf("on the full disk %d documents are kept", len(got))
	}
	check()
	p.Kill()
	release()
	p = s.start()
	check()
	harness.EventuallySees(t, "the source is in step", func() (bool, string) {
		all := runs()
		if all[0].FinishedAt != nil && all[0].Status != "completed" { // what has failed is tried again by hand
			p.Call("POST", "/sources/"+id+"/sync", object{})
		}
		return all[0].Status == "completed" && maps.Equal(p.followed("docs"), next), fmt.Sprintf("%+v", all)
	})
	if all := runs(); slices.ContainsFunc(all, func(r sourceRun) bool { return r.FinishedAt == nil }) {
		t.Errorf("a run has not ended: %+v", all)
	}
	p.healthy()
}
