package source_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/source"
)

var scale = flag.Int("items", 2000, "items of the source that BenchmarkScale follows")

// rows are a source of any number of items, of which nothing is kept in memory.
type rows struct {
	shelf

	mu      sync.Mutex
	number  int
	changed func(n int) bool
	fetched int
}

func (r *rows) Kind() port.SourceKind {
	none := json.RawMessage(`{"type":"object"}`)
	return port.SourceKind{Name: "rows", Title: "Rows", Summary: "Of a benchmark.", Config: none, Secrets: none}
}

func (r *rows) List(ctx context.Context, _ port.Connection, state []byte, l port.SourceListing) error {
	n := 0
	if state != nil {
		var err error
		if n, err = strconv.Atoi(string(state)); err != nil {
			return err
		}
	}
	for ; n < r.number; n++ {
		version := "1"
		if r.changed(n) {
			version = "2"
		}
		if err := l.Item(ctx, port.SourceItem{Key: fmt.Sprintf("rows/%08d", n), Version: version, Size: -1}); err != nil {
			return err
		}
		if n%1000 != 999 {
			continue
		}
		if err := l.Checkpoint(ctx, []byte(strconv.Itoa(n+1))); err != nil {
			return err
		}
	}
	return l.Complete(ctx, true)
}

func (r *rows) Fetch(_ context.Context, _ port.Connection, i port.SourceItem) (port.SourceContent, error) {
	r.mu.Lock()
	r.fetched++
	r.mu.Unlock()
	text := fmt.Sprintf("Row %s in version %s: %s.", i.Key, i.Version, strings.Repeat("the hedge is cut in February, ", 10))
	return port.SourceContent{File: port.File{Name: "row.txt", Content: []byte(text)}}, nil
}

// usage is the most that a run has taken.
type usage struct {
	heap, wal uint64
	stop      func()
}

// watch follows what the process and the folder of a store take.
func watch(f *fixture) *usage {
	u := &usage{}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		live := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for ctx.Err() == nil {
			metrics.Read(live)
			u.heap = max(u.heap, live[0].Value.Uint64())
			u.wal = max(u.wal, size(f.Dir, "-wal"))
			f.Embedder.TakePassages() // which it keeps for tests
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	u.stop = func() { cancel(); running.Wait() }
	return u
}

// size is that of the files below a folder whose names end so.
func size(dir, suffix string) (n uint64) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.HasSuffix(path, suffix) {
			if info, err := e.Info(); err == nil { // it may go in the meantime
				n += uint64(info.Size())
			}
		}
		return nil
	})
	return n
}

// BenchmarkScale follows a source of many items (-items): first, again unchanged, with one in a
// thousand changed, and with its last hundredth gone. It tells how long each run takes, and the most
// heap and log of the store that it has needed: neither is to grow with the items.
func BenchmarkScale(b *testing.B) {
	for b.Loop() {
		var out bytes.Buffer
		scaleOnce(b, &out)
		b.Logf("%d items, %d processors\n%s", *scale, runtime.GOMAXPROCS(0), out.String())
	}
}

func scaleOnce(b *testing.B, out *bytes.Buffer) {
	b.Helper()
	r := &rows{number: *scale, changed: func(int) bool { return false }}
	f := openFixture(b, coretest.Options{FlushChunks: 16 << 10}, func(s *source.Settings, _ *shelf) {
		s.Connectors, s.Beat, s.Tick = []port.Connector{r}, 0, 0
	})
	fmt.Fprintln(out, "run        status    seconds  items/s  heap MiB  log MiB  store MiB  index MiB  fetched    counts")
	id := ""
	follow := func(what string, begin func()) {
		runtime.GC()
		r.fetched = 0
		began, u := time.Now(), watch(f)
		begin()
		s := f.idle(id)
		took := time.Since(began)
		u.stop()
		if s.LastRun.Status != "completed" || s.Items != int64(r.number) || s.Documents != s.Items {
			b.Fatalf("%s: %+v, %+v", what, s, s.LastRun)
		}
		fmt.Fprintf(out, "%-10s %-9s %7.1f %8.0f %9.1f %8.1f %10.1f %10.1f %8d    %+v\n", what, s.LastRun.Status, took.Seconds(),
			float64(*scale)/took.Seconds(), mib(u.heap), mib(u.wal), mib(size(f.Dir, ".db")),
			mib(size(filepath.Join(f.Dir, "index"), "")), r.fetched, s.LastRun.Counts)
		b.ReportMetric(took.Seconds(), what+"-s")
		b.ReportMetric(mib(u.heap), what+"-MiB")
	}
	follow("first", func() { id = f.create(source.CreateSource{Kind: "rows", Config: json.RawMessage(`{}`)}).ID })
	again := func() { f.begun(id) }
	follow("unchanged", again)
	r.changed = func(n int) bool { return n%1000 == 0 }
	follow("changed", again)
	r.number -= *scale / 100
	follow("shrunk", again)
	began := time.Now()
	for f.disconnect(id, "keep"); !f.gone(id); {
		f.wait()
	}
	fmt.Fprintf(out, "disconnected in %.1f s\n", time.Since(began).Seconds())
}

func mib(bytes uint64) float64 { return float64(bytes) / (1 << 20) }
