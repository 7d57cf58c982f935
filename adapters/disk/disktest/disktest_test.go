package disktest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/adapters/disk/disktest"
)

// left are the disks that cuts after the last step leave, each as its files in order.
func left(t *testing.T, r *disktest.Recorder) map[disktest.Loss]string {
	t.Helper()
	out := map[disktest.Loss]string{}
	r.Cuts(0, 1, func(c disktest.Cut) {
		if c.Steps != r.Len() {
			return
		}
		var files []string
		for name, b := range c.Disk() {
			if b == nil {
				name, b = name+"/", nil
			}
			files = append(files, strings.TrimSuffix(filepath.ToSlash(name)+"="+string(b), "/="))
		}
		slices.Sort(files)
		out[c.Loss] = strings.Join(files, " ")
	})
	return out
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Each kind of loss takes what is not synced, and nothing that is.
func TestLosses(t *testing.T) {
	root := t.TempDir()
	r := disktest.New(root)
	at := func(name string) string { return filepath.Join(root, name) }
	file := func(name, text string) disk.File {
		f, err := r.Create(at(name))
		must(t, err)
		_, err = f.Write([]byte(text))
		must(t, err)
		return f
	}
	f := file("kept", "old")
	must(t, f.Sync(), r.SyncDir(root))
	_, err := f.Write([]byte("+new"))
	must(t, err)
	g := file("fresh", "text")
	must(t, f.Close(), g.Close())
	got := left(t, r)
	for loss, want := range map[disktest.Loss]string{
		disktest.All:   "kept=old",
		disktest.None:  "fresh=text kept=old+new",
		disktest.Bytes: "fresh= kept=old",
		disktest.Names: "kept=old+new",
	} {
		if got[loss] != want {
			t.Errorf("%s leaves %q, want %q", loss, got[loss], want)
		}
	}
	if torn := got[disktest.Torn]; torn == got[disktest.None] || !strings.HasSuffix(torn, "kept=old+new") {
		t.Errorf("%s leaves %q", disktest.Torn, torn)
	}

	// Synced bytes and names stay, whatever becomes of the rest; a rename needs its folder's sync.
	must(t, r.Sync(at("fresh")), r.Sync(at("kept")), r.SyncDir(root), r.Rename(at("fresh"), at("kept")))
	got = left(t, r)
	for loss, want := range map[disktest.Loss]string{disktest.All: "fresh=text kept=old+new", disktest.None: "kept=text"} {
		if got[loss] != want {
			t.Errorf("after a rename %s leaves %q, want %q", loss, got[loss], want)
		}
	}
	must(t, r.SyncDir(root))
	if got = left(t, r); len(got) != 1 || got[disktest.All] != "kept=text" {
		t.Errorf("all is synced, and cuts leave %v", got)
	}

	// What is below a folder goes and comes with it.
	must(t, r.Mkdir(at("d")))
	h := file("d/x", "deep")
	must(t, h.Sync(), h.Close(), r.SyncDir(at("d")))
	if got = left(t, r); got[disktest.All] != "kept=text" || got[disktest.None] != "d d/x=deep kept=text" {
		t.Errorf("a folder that is not synced: %v", got)
	}
	must(t, r.SyncDir(root), r.RemoveAll(at("d")))
	if got = left(t, r); got[disktest.All] != "d d/x=deep kept=text" || got[disktest.None] != "kept=text" {
		t.Errorf("a folder whose removal is not synced: %v", got)
	}
	must(t, r.SyncDir(root))
	if got = left(t, r); len(got) != 1 || got[disktest.All] != "kept=text" {
		t.Errorf("a folder whose removal is synced: %v", got)
	}
	if err := r.RemoveAll(at("none")); err != nil {
		t.Error(err)
	}

	// A file that is emptied is as it was until it is synced.
	k, err := r.Create(at("kept"))
	must(t, err)
	if got = left(t, r); got[disktest.All] != "kept=text" || got[disktest.None] != "kept=" {
		t.Errorf("an emptied file: %v", got)
	}
	must(t, k.Sync(), k.Close())
	if got = left(t, r); got[disktest.All] != "kept=" {
		t.Errorf("an emptied and synced file: %v", got)
	}
}

// Some losses keep sectors of one write and lose others, and all cuts come again.
func TestTornWrites(t *testing.T) {
	root := t.TempDir()
	r := disktest.New(root)
	f, err := r.Create(filepath.Join(root, "f"))
	must(t, err)
	old, fresh := strings.Repeat("o", 4096), strings.Repeat("n", 4096)
	_, err = f.Write([]byte(old))
	must(t, err, f.Sync(), r.SyncDir(root))
	_, err = f.WriteAt([]byte(fresh), 0)
	must(t, err, f.Close())
	ends, mixed := 0, 0
	tell := func(seed uint64) (all []string) {
		r.Cuts(1, seed, func(c disktest.Cut) {
			b := string(c.Disk()["f"])
			all = append(all, fmt.Sprint(c, b))
			if c.Loss != disktest.Torn {
				return
			}
			news := strings.Count(b, "n")
			if len(b) != 4096 || news+strings.Count(b, "o") != 4096 {
				t.Fatalf("torn: %q", b)
			}
			switch {
			case b == strings.Repeat("n", news)+strings.Repeat("o", 4096-news):
				ends++
			case news%512 == 0:
				mixed++
			default:
				t.Errorf("torn elsewhere than at a sector: %q", b)
			}
		}, r.Len())
		return all
	}
	for seed := range uint64(40) {
		if first := tell(seed); !slices.Equal(first, tell(seed)) {
			t.Error("equal seeds give other cuts")
		}
	}
	if ends == 0 || mixed == 0 {
		t.Errorf("%d writes that end early, %d with holes", ends, mixed)
	}
}

// As many moments as are asked for are cut at, and those that have to be.
func TestCuts(t *testing.T) {
	root := t.TempDir()
	r := disktest.New(root)
	f, err := r.Create(filepath.Join(root, "f"))
	must(t, err)
	for range 99 {
		_, err := f.Write([]byte("x"))
		must(t, err)
	}
	must(t, f.Close())
	moments := func(most int, always ...int) (all []int) {
		r.Cuts(most, 1, func(c disktest.Cut) {
			if !slices.Contains(all, c.Steps) {
				all = append(all, c.Steps)
			}
		}, always...)
		return all
	}
	if n := moments(0); len(n) != 100 || n[0] != 1 || n[99] != 100 {
		t.Errorf("all moments: %v", n)
	}
	n := moments(10, 57)
	if len(n) < 10 || len(n) > 13 || !slices.Contains(n, 57) || n[len(n)-1] != 100 {
		t.Errorf("ten moments: %v", n)
	}
	dir := filepath.Join(t.TempDir(), "cut")
	r.Cuts(1, 1, func(c disktest.Cut) {
		if c.Steps == 100 && c.Loss == disktest.None {
			c.Into(t, dir)
		}
	})
	if b, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(b) != strings.Repeat("x", 99) {
		t.Errorf("written out: %q, %v", b, err)
	}
}

func TestSample(t *testing.T) {
	t.Setenv("MNEME_POWER_CUTS", "")
	if n := disktest.Sample(7); n != 7 {
		t.Errorf("usually %d", n)
	}
	t.Setenv("MNEME_POWER_CUTS", "all")
	if n := disktest.Sample(7); n != 0 {
		t.Errorf("all: %d", n)
	}
}
