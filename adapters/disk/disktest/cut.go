package disktest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Loss is what a power cut does to what was not synced.
type Loss int

const (
	// All of it is lost.
	All Loss = iota
	// None is lost, as when the process alone ends.
	None
	// Bytes are lost and names are kept: files are empty, or end early.
	Bytes
	// Names are lost and bytes are kept.
	Names
	// Torn loses nothing but a part of the last write.
	Torn
	// Some of it is lost, in any order: each write wholly, in part, or not, with zeros where
	// a file grew without them; each name or not.
	Some
)

// Losses are all kinds of it.
var Losses = []Loss{All, None, Bytes, Names, Torn, Some}

func (l Loss) String() string {
	return [...]string{"all lost", "none lost", "bytes lost", "names lost", "last write torn", "some lost"}[l]
}

// sector is what a disk writes whole.
const sector = 512

// state is what could be on the disk at one moment.
type state struct {
	names   map[string]int // durable names; 0: a folder
	changes []step         // to names since
	files   map[int]*file
	last    int // the file of the last write; 0: none
}

type file struct {
	durable []byte
	writes  []step // since
}

func newState() *state { return &state{names: map[string]int{}, files: map[int]*file{}} }

// next makes one step more.
func (s *state) next(x step) {
	switch x.kind {
	case create:
		s.files[x.node] = &file{}
		s.changes = append(s.changes, x)
	case mkdir, rename, unlink, rmdir:
		s.changes = append(s.changes, x)
	case write, truncate:
		f := s.files[x.node]
		f.writes = append(f.writes, x)
		s.last = x.node
	case sync1:
		f := s.files[x.node]
		for _, w := range f.writes {
			f.durable = w.onto(f.durable)
		}
		f.writes = nil
	case syncDir:
		var later []step
		for _, c := range s.changes {
			if filepath.Dir(c.path) != x.path {
				later = append(later, c)
				continue
			}
			c.apply(s.names)
			if c.kind == rmdir { // nothing comes back below it
				later = slices.DeleteFunc(later, func(l step) bool { return below(l.path, c.path) })
			}
		}
		s.changes = later
	}
}

// onto gives what a file holds after a write.
func (x step) onto(b []byte) []byte {
	end := x.at + int64(len(x.data))
	if x.kind == truncate && end < int64(len(b)) {
		return b[:end:end]
	}
	out := make([]byte, max(end, int64(len(b))))
	copy(out, b)
	copy(out[x.at:], x.data)
	return out
}

// apply makes a change to names.
func (x step) apply(names map[string]int) {
	switch x.kind {
	case mkdir:
		names[x.path] = 0
	case create:
		names[x.path] = x.node
	case unlink:
		delete(names, x.path)
	case rmdir:
		maps.DeleteFunc(names, func(name string, _ int) bool { return name == x.path || below(name, x.path) })
	case rename:
		names[x.to] = x.node
		delete(names, x.path)
	}
}

// after is the disk's contents after a cut: files by name, and folders as nil.
func (s *state) after(loss Loss, r *rand.Rand) map[string][]byte {
	names := maps.Clone(s.names)
	for _, c := range s.changes {
		if loss == None || loss == Bytes || loss == Torn || loss == Some && r.IntN(2) == 0 {
			c.apply(names)
		}
	}
	disk := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(names)) { // in the order of equal seeds
		node := names[name]
		if !reachable(names, name) {
			continue
		}
		if node == 0 {
			disk[name] = nil
			continue
		}
		f := s.files[node]
		b := f.durable
		for i, w := range f.writes {
			fate := 0 // it is there
			switch {
			case loss == All || loss == Bytes:
				fate = 3
			case loss == Torn && node == s.last && i == len(f.writes)-1:
				fate = 1
			case loss == Some:
				fate = r.IntN(4)
			}
			switch fate {
			case 0:
				b = w.onto(b)
			case 1:
				b = w.torn(b, r)
			case 2: // room was made, and no more
				b = step{kind: write, at: max(int64(len(b)), w.at+int64(len(w.data)))}.onto(b)
			}
		}
		disk[name] = append(make([]byte, 0, len(b)), b...)
	}
	return disk
}

// torn gives what a file holds after a part of a write: some of its first bytes, or some
// of its sectors.
func (x step) torn(b []byte, r *rand.Rand) []byte {
	whole := x.data
	if len(whole) == 0 {
		return b
	}
	if r.IntN(2) == 0 {
		x.data = whole[:r.IntN(len(whole))]
		return x.onto(b)
	}
	from := x.at
	for at := 0; at < len(whole); at += sector {
		if r.IntN(2) == 0 {
			x.at, x.data = from+int64(at), whole[at:min(at+sector, len(whole))]
			b = x.onto(b)
		}
	}
	return b
}

func below(name, dir string) bool { return strings.HasPrefix(name, dir+string(filepath.Separator)) }

// reachable reports whether all folders above a name are there.
func reachable(names map[string]int, name string) bool {
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if node, ok := names[dir]; !ok || node != 0 {
			return false
		}
	}
	return true
}

// Cut is one power cut.
type Cut struct {
	Steps int // that happened before it
	Loss  Loss

	disk map[string][]byte
}

func (c Cut) String() string { return fmt.Sprintf("power cut after %d steps, %s", c.Steps, c.Loss) }

// Disk is what is left: the bytes of files by name below the recorder's folder, and nil
// for folders.
func (c Cut) Disk() map[string][]byte { return c.disk }

// Into writes what is left into a folder, which is made.
func (c Cut) Into(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(c.disk)) { // folders come before what they hold
		path, b := filepath.Join(dir, name), c.disk[name]
		var err error
		if b == nil {
			err = os.Mkdir(path, 0o700)
		} else {
			err = os.WriteFile(path, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Cuts gives power cuts after the steps that have been recorded: after each one, or as
// many of them as most says (0: all), evenly spread, and always after the last and so
// many steps as always says; with each kind of loss. Equal seeds give equal cuts. What
// leaves the same disk as another loss at the same moment is left out.
func (r *Recorder) Cuts(most int, seed uint64, each func(Cut), always ...int) {
	r.mu.Lock()
	steps := slices.Clone(r.steps)
	r.mu.Unlock()
	every := 1.0
	if most > 0 && most < len(steps) {
		every = float64(len(steps)) / float64(most)
	}
	s, random, due := newState(), rand.New(rand.NewPCG(seed, uint64(len(steps)))), 0.0
	for i, x := range steps {
		s.next(x)
		spread := float64(i+1) >= due
		if !spread && i+1 < len(steps) && !slices.Contains(always, i+1) {
			continue
		}
		if spread {
			due += every
		}
		var seen []map[string][]byte
		for _, loss := range Losses {
			d := s.after(loss, random)
			if slices.ContainsFunc(seen, func(o map[string][]byte) bool { return same(d, o) }) {
				continue
			}
			seen = append(seen, d)
			each(Cut{Steps: i + 1, Loss: loss, disk: d})
		}
	}
}

func same(a, b map[string][]byte) bool {
	return maps.EqualFunc(a, b, func(x, y []byte) bool { return (x == nil) == (y == nil) && string(x) == string(y) })
}

// Sample is how many moments a test usually cuts at: so many, and all of them where
// MNEME_POWER_CUTS is "all".
func Sample(usual int) int {
	if os.Getenv("MNEME_POWER_CUTS") == "all" {
		return 0
	}
	return usual
}
