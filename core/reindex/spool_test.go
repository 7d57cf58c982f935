package reindex_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/core/reindex"
)

// value is put into a spool; it counts as so many chunks.
type value struct{ N, Chunks int }

// spooled puts values with these chunks, numbered from 0.
func spooled(t *testing.T, chunks ...int) *reindex.Spool[value] {
	t.Helper()
	s, err := reindex.NewSpool[value]()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for i, n := range chunks {
		if err := s.Put(value{i, n}); err != nil {
			t.Fatal(err)
		}
	}
	if s.Len() != len(chunks) {
		t.Fatalf("%d values are put, want %d", s.Len(), len(chunks))
	}
	return s
}

func chunks(v value) int { return v.Chunks }

// Values come back in their order, as often as they are asked for, in parts that are
// bounded by values and by chunks; one with too many chunks is a part of its own.
func TestSpoolParts(t *testing.T) {
	const most = 16_384 // chunks of a part
	for _, c := range []struct {
		name   string
		chunks []int
		want   []int // values of each part
	}{
		{"none", nil, nil},
		{"one", []int{1}, []int{1}},
		{"a page", make([]int, reindex.Page), []int{reindex.Page}},
		{"a page and one", make([]int, reindex.Page+1), []int{reindex.Page, 1}},
		{"three pages", make([]int, 3*reindex.Page), []int{reindex.Page, reindex.Page, reindex.Page}},
		{"as many chunks as go in", []int{most - 1, 1, 1}, []int{2, 1}},
		{"chunks over the bound", []int{10, most - 9, 5, most - 5}, []int{1, 2, 1}},
		{"a large one", []int{1, 2 * most, 1}, []int{1, 1, 1}},
		{"a large one first", []int{2 * most, 1}, []int{1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := spooled(t, c.chunks...)
			for range 2 {
				var parts []int
				next := 0
				err := s.Parts(chunks, func(part []value) error {
					for _, v := range part {
						if want := (value{next, c.chunks[next]}); v != want {
							t.Errorf("%+v, want %+v", v, want)
						}
						next++
					}
					parts = append(parts, len(part))
					return nil
				})
				if err != nil || !slices.Equal(parts, c.want) || next != len(c.chunks) {
					t.Errorf("parts of %v values, %d in all, %v; want %v", parts, next, err, c.want)
				}
			}
		})
	}
}

// What do refuses is not followed by more, and is what Parts answers.
func TestSpoolIsRefused(t *testing.T) {
	full := errors.New("the disk is full")
	for _, values := range []int{1, reindex.Page + 1} {
		calls := 0
		err := spooled(t, make([]int, values)...).Parts(chunks, func([]value) error { calls++; return full })
		if !errors.Is(err, full) || calls != 1 {
			t.Errorf("%d values: %v after %d calls", values, err, calls)
		}
	}
}

// A spool without a file, for values that it cannot hold, or one that was closed says so.
func TestSpoolFails(t *testing.T) {
	s, err := reindex.NewSpool[func()]()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(func() {}); err == nil || s.Len() != 0 {
		t.Errorf("a function is kept: %d, %v", s.Len(), err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for name, values := range map[string][]int{"empty": nil, "with values": {1, 2}} {
		s := spooled(t, values...)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Parts(chunks, func([]value) error { return nil }); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s and closed: %v", name, err)
		}
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	kept := spooled(t, 1)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("its file has a name while it is used: %v, %v", left, err)
	}
	if err := kept.Close(); err != nil {
		t.Errorf("closed: %v", err)
	}
	t.Setenv("TMPDIR", dir+"/none")
	if _, err := reindex.NewSpool[int](); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
}
