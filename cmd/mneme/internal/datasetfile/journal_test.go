package datasetfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/internal/datasetfile"
	"github.com/mnemehq/mneme/core/dataset"
)

func journal(t testing.TB, data, set string) *datasetfile.Journal {
	t.Helper()
	j, err := datasetfile.OpenJournal(data, set)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func done(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// files are the paths of all files below a folder.
func files(t testing.TB, dir string) (all []string) {
	t.Helper()
	done(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return err
	}))
	return all
}

// An id may be anything: nothing outside the folder of journals is read, replaced or removed.
func TestJournalStaysInItsFolder(t *testing.T) {
	for name, act := range map[string]func(j *datasetfile.Journal) error{
		"opened":  func(j *datasetfile.Journal) error { return nil },
		"ended":   func(j *datasetfile.Journal) error { return j.End(dataset.Partition{Name: "a"}) },
		"written": func(j *datasetfile.Journal) error { return j.Begin(dataset.Partition{Name: "a"}, 1) },
		"over": func(j *datasetfile.Journal) error {
			if err := j.Begin(dataset.Partition{Name: "a"}, 1); err != nil {
				return err
			}
			return j.End(dataset.Partition{Name: "a"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			data := filepath.Join(dir, "data")
			done(t, os.MkdirAll(filepath.Join(data, "imports", "move-x"), 0o700))
			planted := filepath.Join(dir, "planted.jsonl")
			const body = "somebody else's\n"
			done(t, os.WriteFile(planted, []byte(body), 0o600))
			j := journal(t, data, "x/../../../planted")
			done(t, act(j))
			done(t, j.Close())
			if got, err := os.ReadFile(planted); err != nil || string(got) != body {
				t.Errorf("the file beside the data folder: %q, %v", got, err)
			}
		})
	}
	// Nor does a link lead out of it.
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	done(t, os.WriteFile(out, []byte("kept"), 0o600))
	j := journal(t, data, "set")
	done(t, j.Begin(dataset.Partition{Name: "a"}, 1))
	done(t, j.Close())
	left := files(t, data)
	if len(left) != 1 {
		t.Fatalf("the journal lies in %v", left)
	}
	done(t, os.Remove(left[0]))
	done(t, os.Symlink(out, left[0]))
	if _, err := datasetfile.OpenJournal(data, "set"); err == nil {
		t.Error("it followed a link")
	}
}

// What is begun is found by the next run, what is over is not, and nothing stays at the end.
func TestJournal(t *testing.T) {
	data := t.TempDir()
	a, b := dataset.Partition{Name: "a"}, dataset.Partition{Organization: "org_1", Space: "memories", Name: "a"}
	j := journal(t, data, "set")
	if _, err := os.Stat(filepath.Join(data, "imports")); err == nil {
		t.Error("a journal that was only opened has made its folder")
	}
	done(t, j.Begin(a, 0))
	done(t, j.Begin(b, 7))
	done(t, j.Begin(b, 7))
	done(t, j.End(a))
	done(t, j.Close())
	left := files(t, data)
	if len(left) != 1 {
		t.Fatalf("files %v", left)
	}
	if info, err := os.Stat(left[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// A process that died in a line leaves half of it.
	f, err := os.OpenFile(left[0], os.O_APPEND|os.O_WRONLY, 0)
	done(t, err)
	_, err = f.WriteString(`{"partition":{"na`)
	done(t, err)
	done(t, f.Close())

	j = journal(t, data, "set")
	if before, begun := j.Started(b); before != 7 || !begun {
		t.Errorf("b: %d, %v", before, begun)
	}
	if _, begun := j.Started(a); begun {
		t.Error("a is begun")
	}
	c := dataset.Partition{Name: "c"}
	done(t, j.Begin(c, 3))
	done(t, j.Close())
	other := journal(t, data, "another set")
	if _, begun := other.Started(b); begun {
		t.Error("another set's import has it, too")
	}
	done(t, other.Close())

	j = journal(t, data, "set")
	for p, want := range map[dataset.Partition]int64{b: 7, c: 3} {
		if before, begun := j.Started(p); before != want || !begun {
			t.Errorf("%s: %d, %v", p, before, begun)
		}
		done(t, j.End(p))
	}
	done(t, j.Close())
	if left := files(t, data); left != nil {
		t.Errorf("left: %v", left)
	}
	// One that a process left behind after its last end goes, too.
	j = journal(t, data, "set")
	done(t, j.Begin(a, 0))
	done(t, j.End(a)) // and no Close
	j = journal(t, data, "set")
	done(t, j.Close())
	if left := files(t, data); left != nil {
		t.Errorf("left behind: %v", left)
	}
}
