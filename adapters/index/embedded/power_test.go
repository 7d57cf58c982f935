package embedded

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/disk/disktest"
	"github.com/mnemehq/mneme/core/port"
)

// contents are the chunks of each document after a change.
func (h *history) contents(seq uint64) map[string]int {
	all := map[string]int{}
	for i, c := range h.log {
		if h.at[i] > seq {
			break
		}
		if all[c.Document] = len(c.Entries); len(c.Entries) == 0 {
			delete(all, c.Document)
		}
	}
	return all
}

// Whatever a power cut leaves of unsynced writes, names and removals: the index opens, it
// holds the whole state of one change, no older one than it said would survive, catching
// up gives what a rebuild gives, and of what was dropped nothing is on the disk.
func TestPowerCut(t *testing.T) {
	if testing.Short() {
		t.Skip("opens many disks, one after another")
	}
	ctx, root := context.Background(), t.TempDir()
	disk := disktest.New(root)
	cfg := Default()
	tinyFiles(&cfg)
	x, err := open(cfg, disk, filepath.Join(root, "data", "index"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	p, passing := port.Documents("org", "n").At(7), port.Memories("org", "i", "ann").At(8)
	h, gone := newHistory(21), newHistory(22)
	type claim struct {
		steps   int
		durable uint64
	}
	var claims []claim
	dropped := 0
	for i := range 60 {
		if err := x.Apply(ctx, p, h.step()); err != nil {
			t.Fatal(err)
		}
		if i >= 20 && i < 30 {
			if err := x.Apply(ctx, passing, gone.step()); err != nil {
				t.Fatal(err)
			}
			settle(x, passing)
		}
		settle(x, p)
		durable, err := x.Durable(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		claims = append(claims, claim{disk.Len(), durable})
		if i == 40 {
			if n, err := x.Durable(ctx, passing); err != nil || n == 0 {
				t.Fatalf("durable %d, %v: nothing on the disk to be dropped", n, err)
			}
			if err := x.Drop(ctx, passing); err != nil {
				t.Fatal(err)
			}
			dropped = disk.Len()
		}
	}
	if st := x.Stats(); st.Flushes < 5 || st.Merges < 2 {
		t.Fatalf("%d flushes, %d merges: nothing to cut", st.Flushes, st.Merges)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	fresh := openTest(t, t.TempDir(), nil)
	if err := fresh.Apply(ctx, p, h.replay(0)); err != nil {
		t.Fatal(err)
	}
	want := fingerprint(t, fresh, p)

	cuts, kept := 0, 0
	disk.Cuts(disktest.Sample(24), 1, func(c disktest.Cut) {
		cuts++
		if c.Steps >= dropped {
			for name := range c.Disk() {
				if strings.Contains(name, partitionDirName(8)) {
					t.Errorf("%s: %s is there, and was dropped", c, name)
				}
			}
		}
		dir := filepath.Join(root, "cut")
		defer os.RemoveAll(dir)
		c.Into(t, dir)
		x := openTest(t, filepath.Join(dir, "data", "index"), tinyFiles)
		defer x.Close()
		have, from, err := x.Contents(ctx, p)
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		if from > 0 {
			kept++
		}
		for _, said := range claims {
			if said.steps <= c.Steps && from < said.durable {
				t.Fatalf("%s: the index is at change %d, and said after %d steps that %d would survive", c, from, said.steps,
					said.durable)
			}
		}
		if state := h.contents(from); !maps.Equal(have, state) {
			t.Fatalf("%s: at change %d the index holds %v, want %v", c, from, have, state)
		}
		if err := x.Apply(ctx, p, h.replay(from)); err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		settle(x, p)
		if got := fingerprint(t, x, p); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: recovered from %d: %d answers, a rebuild gives %d", c, from, len(got), len(want))
		}
	}, dropped)
	if cuts < 30 || kept == 0 {
		t.Errorf("%d cuts, of which %d left anything", cuts, kept)
	}
	t.Logf("%d steps, %d different disks after power cuts, %d with something on them", disk.Len(), cuts, kept)
}
