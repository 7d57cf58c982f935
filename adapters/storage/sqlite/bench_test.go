package sqlite_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

const benchDim = 384

// sample is a document of three chunks of about 100 words with vectors as the
// default embedder makes them.
func sample(id string) port.DocumentWrite {
	r := rand.New(rand.NewPCG(uint64(len(id)), 1))
	var text strings.Builder
	d := port.Document{ID: id, Metadata: []byte(`{"source":"handbook","team":"support","tags":["a","b"]}`),
		Origin: port.Origin{Kind: "api", KeyID: "key_0123456789"}}
	for i := range 3 {
		start := text.Len()
		for range 100 {
			fmt.Fprintf(&text, "%s ", "retrieval"[:3+r.IntN(7)])
		}
		d.Chunks = append(d.Chunks, port.Chunk{
			Start:   start,
			End:     text.Len(),
			Context: "Handbook > Support",
			Hash:    [16]byte{byte(i)},
		})
	}
	d.Text = text.String()
	d.TextHash = sha256.Sum256([]byte(d.Text))
	v := port.Dense{Dim: benchDim, Data: make([]float32, 3*benchDim)}
	for i := range v.Data {
		v.Data[i] = r.Float32()*0.2 - 0.1
	}
	return port.DocumentWrite{Document: d, Vectors: port.Vectors{Dense: v}}
}

func benchNamespace(b *testing.B, s port.DocumentStore, name string) port.Partition {
	b.Helper()
	var p port.Partition
	err := s.UpdateDocuments(b.Context(), func(w port.DocumentWriter) error {
		o, err := w.OrganizationByName(b.Context(), ident.DefaultOrg)
		if err != nil {
			return err
		}
		p = port.Documents(o.ID, name)
		_, err = w.CreatePartition(b.Context(), p, port.PartitionRow{Dimensions: benchDim, CreatedAt: time.Now()})
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func put(b testing.TB, s port.DocumentStore, p port.Partition, docs ...port.DocumentWrite) {
	b.Helper()
	if err := s.UpdateDocuments(b.Context(), func(w port.DocumentWriter) error {
		_, err := w.PutDocuments(b.Context(), p, time.Now(), docs)
		return err
	}); err != nil {
		b.Fatal(err)
	}
}

// fill writes n documents, a hundred a call.
func fill(b testing.TB, s port.DocumentStore, p port.Partition, n int) {
	b.Helper()
	base := sample("x")
	for i := 0; i < n; i += 100 {
		docs := make([]port.DocumentWrite, min(100, n-i))
		for j := range docs {
			docs[j] = base
			docs[j].Document.ID = fmt.Sprintf("doc-%08d", i+j)
		}
		put(b, s, p, docs...)
	}
}

// BenchmarkOpen opens an empty folder, where the schema is made, and one that has it.
func BenchmarkOpen(b *testing.B) {
	at := func(b *testing.B, dir string) {
		s, err := sqlite.Open(b.Context(), dir, sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("empty", func(b *testing.B) {
		for b.Loop() {
			at(b, b.TempDir())
		}
	})
	b.Run("there", func(b *testing.B) {
		for dir := b.TempDir(); b.Loop(); {
			at(b, dir)
		}
	})
}

// BenchmarkPut writes calls of a hundred documents; docs/s is its figure.
func BenchmarkPut(b *testing.B) {
	s := open(b, b.TempDir())
	p := benchNamespace(b, s, "bench")
	b.ResetTimer()
	fill(b, s, p, 100*b.N)
	b.ReportMetric(100*float64(b.N)/b.Elapsed().Seconds(), "docs/s")
}

// BenchmarkWriters has many callers that write one document a call. The ratio
// of commits/s between 64 writers and one shows what sharing an fsync gives.
func BenchmarkWriters(b *testing.B) {
	for _, writers := range []int{1, 4, 16, 64, 256} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			s := open(b, b.TempDir())
			p := benchNamespace(b, s, "bench")
			base := sample("x")
			var next atomic.Int64
			var wg sync.WaitGroup
			b.ResetTimer()
			for range writers {
				wg.Go(func() {
					for {
						i := next.Add(1)
						if i > int64(b.N) {
							return
						}
						d := base
						d.Document.ID = fmt.Sprintf("doc-%08d", i)
						put(b, s, p, d)
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}

// BenchmarkPointRead reads a namespace's row by prepared statement and through
// bun's query builder, and documents of 20,000.
func BenchmarkPointRead(b *testing.B) {
	s := open(b, b.TempDir())
	p := benchNamespace(b, s, "bench")
	fill(b, s, p, 20_000)
	ctx := b.Context()
	id := func(i int) string { return fmt.Sprintf("doc-%08d", i*7919%20_000) }
	b.Run("view", func(b *testing.B) {
		for b.Loop() {
			_ = s.View(ctx, func(port.Reader) error { return nil })
		}
	})
	b.Run("namespace", func(b *testing.B) {
		for b.Loop() {
			if err := s.View(ctx, func(r port.Reader) error { _, err := r.Partition(ctx, p); return err }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("namespace-bun", func(b *testing.B) { // the same row by query builder and its scanner
		for b.Loop() {
			if err := s.View(ctx, func(r port.Reader) error {
				n, err := r.Namespaces(ctx, p.Org(), p.Name(), "", 1)
				if len(n) != 1 {
					b.Fatal("not found")
				}
				return err
			}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for parts, name := range map[port.Part]string{0: "head", 7: "whole"} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if err := s.View(ctx, func(r port.Reader) error {
					d, err := r.Documents(ctx, p, []string{id(i)}, parts)
					if len(d) != 1 {
						b.Fatal("not found")
					}
					return err
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("whole-100", func(b *testing.B) {
		ids := make([]string, 100)
		for i := 0; b.Loop(); i++ {
			for j := range ids {
				ids[j] = id(i*100 + j)
			}
			if err := s.View(ctx, func(r port.Reader) error { _, err := r.Documents(ctx, p, ids, 7); return err }); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(100*float64(b.N)/b.Elapsed().Seconds(), "docs/s")
	})
	b.Run("list-100", func(b *testing.B) {
		for b.Loop() {
			if err := s.View(ctx, func(r port.Reader) error {
				_, err := r.ListDocuments(ctx, p,
					port.DocumentList{AfterID: "doc-00010000", Limit: 100, Parts: port.PartMetadata})
				return err
			}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parallel-head", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				_ = s.View(ctx, func(r port.Reader) error { _, err := r.Documents(ctx, p, []string{id(i)}, 0); return err })
			}
		})
	})
}

// BenchmarkReplay reads a namespace as an index rebuilds: the change log with
// texts, chunk layouts and vectors. chunks/s is its figure.
func BenchmarkReplay(b *testing.B) {
	s := open(b, b.TempDir())
	p := benchNamespace(b, s, "bench")
	const n = 20_000
	fill(b, s, p, n)
	ctx := b.Context()
	for _, what := range []string{"vectors", "all"} {
		b.Run(what, func(b *testing.B) {
			for b.Loop() {
				var after uint64
				docs := 0
				for {
					var changes []port.Change
					if err := s.View(ctx, func(r port.Reader) (err error) {
						if changes, err = r.Changes(ctx, p, after, 512); err != nil || len(changes) == 0 {
							return err
						}
						ids := make([]string, len(changes))
						for i, c := range changes {
							ids[i] = c.Document
						}
						v, err := r.Vectors(ctx, p, ids)
						if err == nil && what == "all" {
							_, err = r.Documents(ctx, p, ids, 7)
						}
						docs += len(v)
						after = changes[len(changes)-1].Seq
						return err
					}); err != nil {
						b.Fatal(err)
					}
					if len(changes) == 0 {
						break
					}
				}
				if docs != n {
					b.Fatalf("replayed %d documents", docs)
				}
			}
			b.ReportMetric(3*n*float64(b.N)/b.Elapsed().Seconds(), "chunks/s")
		})
	}
}

// BenchmarkDelete deletes namespaces of 5,000 documents. ms/delete is what the
// caller waits; worst-ms is the slowest one-document write of another while the
// rest is purged behind it.
func BenchmarkDelete(b *testing.B) {
	s := open(b, b.TempDir())
	other := benchNamespace(b, s, "other")
	ctx := b.Context()
	var deleting, worst time.Duration
	base := sample("x")
	for i := range b.N {
		b.StopTimer()
		p := benchNamespace(b, s, fmt.Sprintf("bench-%d", i))
		fill(b, s, p, 5000)
		b.StartTimer()
		start := time.Now()
		if err := s.UpdateDocuments(ctx,
			func(w port.DocumentWriter) error { _, err := w.DeletePartition(ctx, p); return err }); err != nil {
			b.Fatal(err)
		}
		deleting += time.Since(start)
		for n := range 300 {
			base.Document.ID = fmt.Sprintf("doc-%d", n)
			start := time.Now()
			put(b, s, other, base)
			worst = max(worst, time.Since(start))
		}
	}
	b.ReportMetric(deleting.Seconds()*1e3/float64(b.N), "ms/delete")
	b.ReportMetric(worst.Seconds()*1e3, "worst-ms")
}
