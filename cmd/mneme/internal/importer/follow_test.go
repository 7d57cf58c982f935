package importer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mnemehq/mneme/core/fault"
)

// following is a Writer that takes a time for each document, and can be followed.
type following struct {
	*memory
	takes  map[string]time.Duration
	queued time.Duration // before a write that is followed begins
	fails  int           // writes that fail in their midst
	log    []string
}

func (f *following) Write(ctx context.Context, namespace string, docs []Record) (Result, error) {
	f.log = append(f.log, docs[0].ID)
	time.Sleep(f.takes[docs[0].ID])
	return f.memory.Write(ctx, namespace, docs)
}

func (f *following) Follow(ctx context.Context, namespace string, docs []Record, progress func(float64)) (Result, error) {
	id := docs[0].ID
	f.log = append(f.log, "follow "+id)
	time.Sleep(f.queued)
	for share := 0.0; share < 1; share += .25 {
		progress(share)
		time.Sleep(f.takes[id] / 4)
		if share == .5 && f.fails > 0 {
			f.fails--
			return Result{}, fault.New(fault.Unavailable, "busy")
		}
	}
	return f.memory.Write(ctx, namespace, docs)
}

// Writes are followed that are long, by what the one before has taken, or that may be as
// long as none has told.
func TestWritesThatTakeLongAreFollowed(t *testing.T) {
	size := func(kib int) string { return strings.Repeat("0123456 89abcdef", kib<<6) }
	files := tree(map[string]string{"a.txt": size(63), "b.txt": size(64), "c.txt": size(200), "d.txt": size(5),
		"e.txt": size(150), "f.txt": size(200), "g.txt": size(100), "h.txt": size(80)})
	f := &following{memory: &memory{}, queued: time.Hour, takes: map[string]time.Duration{
		"a.txt": 0,
		"b.txt": 200 * time.Millisecond,
		"c.txt": 100 * time.Second,
		"d.txt": time.Millisecond,
		"e.txt": 100 * time.Millisecond,
		"f.txt": 6010 * time.Millisecond,
		"g.txt": 2990 * time.Millisecond,
		"h.txt": 10 * time.Millisecond,
	}}
	for _, tt := range []struct {
		name string
		by   Writer
		want []string
	}{
		// a says nothing, as no time has passed; after b the next are quick, after c they
		// are not; d is too small to say otherwise; by f's pace g takes 3.005 s, by g's h less.
		{"followed", f, []string{"a.txt", "follow b.txt", "c.txt", "d.txt", "follow e.txt", "f.txt", "follow g.txt", "h.txt"}},
		{"not followed", &struct{ Writer }{f}, []string{"a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "f.txt", "g.txt", "h.txt"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f.log, f.docs = nil, nil
				im := f.importer()
				im.Writer, im.Workers, im.BatchBytes = tt.by, 1, 1
				p, err := im.Run(t.Context(), scan(t, files))
				if err != nil || p.Written != 8 || p.BytesDone != p.BytesTotal {
					t.Errorf("%+v, %v", p, err)
				}
				if !slices.Equal(f.log, tt.want) {
					t.Errorf("the writes are %q\nwant %q", f.log, tt.want)
				}
			})
		})
	}
}

// The progress moves while a write is followed, and never back, though the write fails
// and is repeated.
func TestProgressMovesWithinAWrite(t *testing.T) {
	const bytes = 100 << 10
	files := tree(map[string]string{"a.txt": strings.Repeat("0123456 89abcdef", bytes/16)})
	for name, broken := range map[string]bool{"and succeeds": false, "and is refused": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &following{memory: &memory{}, takes: map[string]time.Duration{"a.txt": time.Minute}, fails: 1}
				if broken {
					f.before = func([]Record) error { return fault.New(fault.InvalidRequest, "no") }
				}
				im := f.importer()
				im.Writer = f
				var seen []int64
				im.OnProgress = func(p Progress) {
					if n := len(seen); n == 0 || seen[n-1] != p.BytesDone {
						seen = append(seen, p.BytesDone)
					}
				}
				p, err := im.Run(t.Context(), scan(t, files))
				if err != nil || (p.Failed == 1) != broken || p.Retries != 1 {
					t.Errorf("%+v, %v", p, err)
				}
				if want := []int64{0, bytes / 4, bytes / 2, bytes * 3 / 4, bytes}; !slices.Equal(seen, want) {
					t.Error(fmt.Sprint("the progress goes through ", seen, ", want ", want))
				}
			})
		})
	}
}
