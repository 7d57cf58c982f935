package simd_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mnemehq/mneme/core/simd"
)

var storm = flag.Duration("storm", time.Second, "how long TestStorm runs")

// TestStorm runs the kernels that keep state outside the vector registers on many
// goroutines, on stacks that move, under garbage collection and signals sent to every
// thread, and compares every result. `-args -storm 60s` makes it long.
func TestStorm(t *testing.T) {
	k, err := simd.At(simd.AMX)
	if err != nil {
		t.Skip(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	var calls, signals atomic.Int64
	var stop atomic.Bool
	var workers, preparing sync.WaitGroup
	for g := range 32 {
		preparing.Add(1)
		workers.Go(func() {
			prepared := sync.OnceFunc(preparing.Done)
			defer prepared()
			r := rand.New(rand.NewPCG(7, uint64(g)))
			rows, out, in := 1+g*5%150, 1+g*37%300, 1+g*53%400
			x, w, scale := mixedRows(r, rows, in), randomBytes(r, out*in), randomFloats(r, out)
			p := []simd.Precision{simd.Full16, simd.Bulk8, 100}[g%3]
			want := linearAt(t, simd.Kernels{}, x, w, scale, nil, rows, out, in, p)
			l, err := k.PackLayer(w, scale, nil, out, in)
			if err != nil {
				t.Error(err)
				return
			}
			h := simd.Heads{Tokens: rows, Count: 1 + g%3, Dim: 8 * (1 + g%5)}
			h.Stride = 3 * h.Count * h.Dim
			qkv := randomFloats(r, rows*h.Stride)
			attend := func() []float32 {
				dst := make([]float32, rows*h.Count*h.Dim)
				k.Attention(dst, qkv, qkv[h.Count*h.Dim:], qkv[2*h.Count*h.Dim:], h, 0.2, make([]float32, h.Scratch()))
				return dst
			}
			attended := attend()
			prepared()
			for first := true; first || !stop.Load(); first = false {
				onDeepStack(g, func() {
					var q simd.Rows
					k.Quantize(&q, x, rows, in, p)
					got := make([]float32, len(want))
					k.Linear(got, l, &q, simd.Identity)
					if !slices.Equal(got, want) || !slices.Equal(attend(), attended) {
						t.Error("a result is wrong")
						stop.Store(true)
					}
				})
				if calls.Add(1)%16 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	workers.Go(func() {
		for !stop.Load() {
			runtime.GC()
		}
	})
	workers.Go(func() {
		for !stop.Load() {
			threads, err := os.ReadDir("/proc/self/task")
			if err != nil {
				t.Error(err)
				return
			}
			for range 200 {
				for _, thread := range threads {
					id, _ := strconv.Atoi(thread.Name())
					if unix.Tgkill(os.Getpid(), id, unix.SIGURG) == nil { // what the runtime preempts with
						signals.Add(1)
					}
				}
			}
		}
	})
	preparing.Wait()
	time.AfterFunc(*storm, func() { stop.Store(true) })
	workers.Wait()
	if calls.Load() < 32 || signals.Load() == 0 {
		t.Errorf("%d calls under %d signals", calls.Load(), signals.Load())
	}
	t.Logf("%d calls, %d signals", calls.Load(), signals.Load())
}

// onDeepStack calls f below n frames, so that stacks grow and move.
func onDeepStack(n int, f func()) {
	var frame [256]byte
	if n == 0 {
		f()
	} else {
		onDeepStack(n-1, f)
	}
	runtime.KeepAlive(&frame)
}
