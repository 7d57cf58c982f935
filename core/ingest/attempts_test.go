package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
)

// writing is the encoding of texts by one encoder, with what attempts leave.
type writing struct {
	t        *testing.T
	embedder *coretest.Embedder
	encoder  *ingest.Encoder
	attempts *ingest.Attempts
	ahead    time.Duration
	calls    int // of the embedder in this attempt
	progress []ingest.Progress
}

func writes(t *testing.T) *writing {
	w := &writing{t: t, embedder: coretest.NewEmbedder()}
	w.encoder = &ingest.Encoder{Embedder: w.embedder, Sparse: &coretest.SparseEncoder{}, Options: chunk.Default()}
	w.attempts = ingest.NewAttempts(func() time.Time { return time.Unix(0, 0).Add(w.ahead) })
	return w
}

var errAway = errors.New("away")

// try encodes texts, with an embedder that fails in its call number fail; 0: in none. It
// returns how many chunks were embedded.
func (w *writing) try(org ident.Org, sparse bool, texts []string, fail int) ([]ingest.Encoded, int, error) {
	w.t.Helper()
	w.calls, w.progress = 0, nil
	w.embedder.Before.Set(func(context.Context, port.TextKind, []string) error {
		if w.calls++; w.calls == fail {
			return errAway
		}
		return nil
	})
	got, err := w.attempts.Encode(w.t.Context(), org, w.encoder, chunk.Untitled(texts...), sparse,
		make([]ingest.Reuse, len(texts)),
		func(p ingest.Progress) { w.progress = append(w.progress, p) })
	if (fail > 0) != errors.Is(err, errAway) {
		w.t.Errorf("attempt that fails in call %d: %v", fail, err)
	}
	return got, len(w.embedder.TakePassages()), err
}

// chunks are n texts of one chunk each.
func chunks(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("Text number %d of many.", i)
	}
	return out
}

// A write that failed is done by repeating it: each attempt begins with what the ones
// before have made, and ends with the same vectors as one that did all of it.
func TestAnAttemptGoesOnWhereTheLastOneFailed(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		w := writes(t)
		texts := append(chunks(100), "Text number 3 of many.") // one is twice there
		if _, n, _ := w.try("a", sparse, texts, 2); n != 16 ||
			!slices.Equal(w.progress, []ingest.Progress{{0, 0, 100}, {16, 16, 100}}) {
			t.Errorf("the first attempt embedded %d, and told %v", n, w.progress)
		}
		if _, n, _ := w.try("a", sparse, texts, 3); n != 48 ||
			!slices.Equal(w.progress, []ingest.Progress{{16, 16, 100}, {32, 32, 100}, {64, 64, 100}}) {
			t.Errorf("the second attempt embedded %d, and told %v", n, w.progress)
		}
		got, n, _ := w.try("a", sparse, texts, 0)
		if n != 36 || !slices.Equal(w.progress, []ingest.Progress{{64, 64, 100}, {80, 80, 100}, {101, 100, 100}}) {
			t.Errorf("the last attempt embedded %d, and told %v", n, w.progress)
		}
		want, err := w.encoder.Encode(t.Context(), chunk.Untitled(texts...), sparse, make([]ingest.Reuse, len(texts)))
		if err != nil {
			t.Fatal(err)
		}
		w.embedder.TakePassages()
		for i := range want {
			if fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
				t.Fatalf("sparse %t: text %d is encoded as %v, want %v", sparse, i, got[i], want[i])
			}
		}
	}
}

// What is left is of one organization, of the models that made it, and with a sparse
// vector or without.
func TestWhatAnAttemptLeavesIsNobodyElses(t *testing.T) {
	w := writes(t)
	texts := chunks(20)
	w.try("a", true, texts, 2)
	if _, n, _ := w.try("b", true, texts, 0); n != 20 {
		t.Errorf("another organization embeds %d of 20", n)
	}
	if _, n, _ := w.try("a", false, texts, 0); n != 20 {
		t.Errorf("without sparse vectors %d of 20 are embedded", n)
	}
	w.embedder.Digest = "sha256:another"
	if _, n, _ := w.try("a", true, texts, 0); n != 20 {
		t.Errorf("another model embeds %d of 20", n)
	}
	w.embedder.Digest = coretest.NewEmbedder().Digest
	if _, n, _ := w.try("a", true, texts, 0); n != 4 {
		t.Errorf("the same call embeds %d, want 4", n)
	}
}

// What was encoded for a write whose transaction failed is left, too.
func TestEncodedIsKeptWhenTheTransactionFails(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		w := writes(t)
		texts := []string{"First paragraph.\n\nSecond paragraph.", "Third."}
		encoded, _, err := w.try("a", sparse, texts, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, n, _ := w.try("a", sparse, texts, 0); n != 3 {
			t.Errorf("after a success %d chunks are embedded, want 3: nothing is kept of it", n)
		}
		w.attempts.Keep("a", w.encoder, sparse, encoded)
		again, n, err := w.try("a", sparse, texts, 0)
		if err != nil || n != 0 || fmt.Sprint(again) != fmt.Sprint(encoded) ||
			!slices.Equal(w.progress, []ingest.Progress{{2, 3, 3}}) {
			t.Errorf("sparse %t: after a failure %d chunks are embedded; told %v, %v", sparse, n, w.progress, err)
		}
	}
}

// What nobody comes back for is forgotten after ten minutes, which each attempt begins
// again.
func TestWhatAnAttemptLeavesIsForgotten(t *testing.T) {
	w := writes(t)
	texts := chunks(20)
	w.try("a", false, texts, 2)
	w.ahead += 10 * time.Minute
	if _, n, _ := w.try("a", false, texts, 1); n != 0 {
		t.Errorf("a second attempt that fails at once embeds %d", n)
	}
	w.ahead += 10 * time.Minute
	if _, n, _ := w.try("a", false, texts, 0); n != 4 {
		t.Errorf("after ten minutes more %d are embedded, want 4", n)
	}
	w.ahead += time.Nanosecond
	if _, n, _ := w.try("a", false, texts, 0); n != 20 {
		t.Errorf("a moment later %d are embedded, want 20", n)
	}
}

// wide is a model of large vectors, so that few fill what may be kept: what is kept of
// a chunk takes a quarter of a MiB.
type wide struct {
	dimensions, terms int
	calls             int
}

func (m *wide) Info() port.ModelInfo {
	return port.ModelInfo{ID: "wide", Digest: "sha256:wide", Dimensions: m.dimensions}
}
func (*wide) Close() error { return nil }
func (m *wide) Embed(_ context.Context, _ port.TextKind, texts []string) (port.Dense, error) {
	m.calls += len(texts)
	d := port.Dense{Dim: m.dimensions, Data: make([]float32, len(texts)*m.dimensions)}
	for i := range texts {
		d.Row(i)[0] = 1
	}
	return d, nil
}

// Encode implements port.SparseEncoder.
func (m *wide) Encode(_ context.Context, _ port.TextKind, texts []string) (port.Sparse, error) {
	v := port.Sparse{Rows: []uint32{0}}
	for range texts {
		for i := range m.terms {
			v.Terms, v.Weights = append(v.Terms, uint32(i)), append(v.Weights, 1)
		}
		v.Rows = append(v.Rows, uint32(len(v.Terms)))
	}
	return v, nil
}

// An organization's are bounded, and all together, at the cost of who keeps the most.
func TestWhatAttemptsLeaveIsBounded(t *testing.T) {
	for _, m := range []*wide{{dimensions: 1<<16 - 64}, {dimensions: 64, terms: 1<<15 - 64}} {
		t.Run(fmt.Sprint(m.terms, " terms"), m.bounded)
	}
}

func (m *wide) bounded(t *testing.T) {
	e := &ingest.Encoder{Embedder: m, Sparse: m, Options: chunk.Default()}
	sparse := m.terms > 0
	a := ingest.NewAttempts(time.Now)
	text := func(org string, i int) []string { return []string{fmt.Sprintf("Text %d of %s.", i, org)} }
	keep := func(org string, n int) {
		for i := range n {
			encoded, err := e.Encode(t.Context(), chunk.Untitled(text(org, i)...), sparse, make([]ingest.Reuse, 1))
			if err != nil {
				t.Fatal(err)
			}
			a.Keep(ident.Org(org), e, sparse, encoded)
		}
	}
	kept := func(org string, n int) (out []int) {
		for i := range n {
			m.calls = 0
			_, err := a.Encode(t.Context(), ident.Org(org), e, chunk.Untitled(text(org, i)...), sparse,
				make([]ingest.Reuse, 1), nil)
			if err != nil {
				t.Fatal(err)
			}
			if m.calls == 0 {
				out = append(out, i)
			}
		}
		return out
	}
	keep("large", 70)
	if got := kept("large", 70); len(got) != 64 || got[0] != 6 {
		t.Errorf("of 70 an organization keeps %d, from %v on; want the last 64", len(got), got[:1])
	}
	for i := range 4 {
		keep(fmt.Sprint("org ", i), 20)
	}
	keep("other", 64)
	keep("another", 64)
	sum := len(kept("large", 70)) + len(kept("other", 64)) + len(kept("another", 64))
	for i := range 4 {
		got := kept(fmt.Sprint("org ", i), 20)
		if len(got) != 20 {
			t.Errorf("organization %d keeps %d of 20 beside larger ones", i, len(got))
		}
		sum += len(got)
	}
	if sum != 256 {
		t.Errorf("%d are kept in all, want 256", sum)
	}
}

// A machine on which one text takes longer than a usual piece may finishes what it began:
// a caller that repeats the write gets further each time, whatever ended it.
func TestASlowMachineFinishesWhatItBegan(t *testing.T) {
	for name, slow := range map[string]func(ctx context.Context, of time.Duration) error{
		"the caller's time": func(ctx context.Context, of time.Duration) error {
			select {
			case <-time.After(of):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		},
		"the model's time": func(_ context.Context, of time.Duration) error {
			time.Sleep(min(of, 30*time.Second))
			if of > 30*time.Second {
				return fault.New(fault.Timeout, "the model took longer than its time limit")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := writes(t)
				each := 10 * time.Second
				var sizes []int
				w.embedder.Before.Set(func(ctx context.Context, _ port.TextKind, texts []string) error {
					sizes = append(sizes, len(texts))
					return slow(ctx, time.Duration(len(texts))*each)
				})
				encode := func(texts []string) error {
					ctx, cancel := context.WithTimeout(t.Context(), 35*time.Second)
					defer cancel()
					_, err := w.attempts.Encode(ctx, "a", w.encoder, chunk.Untitled(texts...), false,
						make([]ingest.Reuse, len(texts)), nil)
					return err
				}
				attempts := 1
				for ; encode(chunks(12)) != nil; attempts++ {
					if attempts == 10 {
						t.Fatalf("%d attempts made pieces of %v", attempts, sizes)
					}
				}
				if sizes[0] != 12 || sizes[1] != 3 || sizes[2] != 1 {
					t.Errorf("pieces of %v", sizes)
				}
				sizes, each = nil, 0
				if err := encode(chunks(200)); err != nil { // nine of them are kept
					t.Fatal(err)
				}
				if got := fmt.Sprint(sizes); got != "[1 2 4 8 16 32 64 64]" {
					t.Errorf("pieces of %s once it is quick again", got)
				}
				sizes = nil
				w.ahead += time.Hour
				if err := encode(chunks(20)); err != nil || sizes[0] != 16 {
					t.Errorf("then pieces of %v, %v", sizes, err)
				}
			})
		})
	}
}

// Pieces grow while they are brief and shrink when they take long, so that what one
// attempt leaves is never far behind what it did.
func TestPiecesTakeAFewSeconds(t *testing.T) {
	for name, c := range map[string]struct {
		each time.Duration
		n    int
		want string
	}{
		"quick":          {0, 3000, "[16 32 64 128 256 512 1024 968]"},
		"half a second":  {time.Second / 2, 60, "[16 8 8 8"},
		"two seconds":    {time.Second / 8, 60, "[16 16 16"},
		"slow":           {time.Second, 60, "[16 8 4 4"},
		"about 3 a call": {3 * time.Second / 32, 130, "[16 32 32 32"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := writes(t)
				var sizes []int
				w.embedder.Before.Set(func(_ context.Context, _ port.TextKind, texts []string) error {
					sizes = append(sizes, len(texts))
					time.Sleep(time.Duration(len(texts)) * c.each)
					return nil
				})
				if _, err := w.attempts.Encode(t.Context(), "a", w.encoder, chunk.Untitled(chunks(c.n)...), false,
					make([]ingest.Reuse, c.n), nil); err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprint(sizes); !strings.HasPrefix(got, c.want) {
					t.Errorf("pieces of %.40s, want %s", got, c.want)
				}
			})
		})
	}
}
