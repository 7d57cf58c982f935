package simd_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/simd"
)

// askedFor is how many bytes of memory the process has asked to have in huge pages.
func askedFor(t *testing.T) (bytes int) {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var from, to int
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); n == 2 {
			continue
		}
		if flags, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); ok && strings.Contains(flags+" ", " hg ") {
			bytes += to - from
		}
	}
	return bytes
}

// TestWeightsAskForHugePages packs 40 MiB of layers, and as many where memory is short.
func TestWeightsAskForHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this system has no huge pages to give: ", err)
	}
	const out, in = 1024, 1024
	k, err := simd.Best()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 1))
	w, scale := randomBytes(r, out*in), randomFloats(r, out)
	var layers []*simd.Layer
	pack := func() {
		for range 40 {
			l, err := k.PackLayer(w, scale, nil, out, in)
			if err != nil {
				t.Fatal(err)
			}
			layers = append(layers, l)
		}
	}
	before := askedFor(t)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(256<<20 - 1))
	pack()
	if short := askedFor(t); short != before {
		t.Errorf("%d KiB are asked for where memory is short", (short-before)>>10)
	}
	debug.SetMemoryLimit(256 << 20)
	pack()
	if all := askedFor(t); all < 38<<20 { // memory that was asked for before may have come back
		t.Errorf("%d KiB are asked for, of %d", all>>10, 40*out*in>>10)
	}
	var q simd.Rows
	k.Quantize(&q, randomFloats(r, in), 1, in, simd.Full16)
	want, got := make([]float32, out), make([]float32, out)
	k.Linear(want, layers[0], &q, simd.Identity)
	for i, l := range layers {
		if k.Linear(got, l, &q, simd.Identity); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("layer %d gives other results", i)
		}
	}
}
