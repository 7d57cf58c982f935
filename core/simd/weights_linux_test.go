package simd_test

import (
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/simd"
)

// resident is how many bytes of memory the process has.
func resident(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(status))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// TestWeightsComeAndGo packs 256 MiB of layers, of which few are kept: what nobody has any more
// goes back to the system, and what is kept gives the same results after it.
func TestWeightsComeAndGo(t *testing.T) {
	const out, in, kept = 1024, 1024, 8
	k, err := simd.Best()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 1))
	w, scale, x := randomBytes(r, out*in), randomFloats(r, out), randomFloats(r, in)
	pack := func(i int) *simd.Layer {
		w[i] = int8(i)
		l, err := k.PackLayer(w, scale, nil, out, in)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	var q simd.Rows
	k.Quantize(&q, x, 1, in, simd.Full16)
	run := func(l *simd.Layer) []float32 {
		dst := make([]float32, out)
		k.Linear(dst, l, &q, simd.Identity)
		return dst
	}
	before := resident(t)
	layers, want := make([]*simd.Layer, kept), make([][]float32, kept)
	for i := range 256 {
		l := pack(i)
		if i%32 == 0 {
			layers[i/32], want[i/32] = l, run(l)
		}
		if i%32 == 31 {
			runtime.GC()
		}
	}
	deadline := time.Now().Add(time.Minute)
	for resident(t) > before+128<<20 { // a layer keeps the 8 MiB that it lies in
		if time.Now().After(deadline) {
			t.Fatalf("%d MiB more are resident, of which %d are in use", (resident(t)-before)>>20, kept*out*in>>20)
		}
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	for i, l := range layers {
		if !slices.Equal(run(l), want[i]) {
			t.Errorf("layer %d gives something else", i)
		}
	}
}
