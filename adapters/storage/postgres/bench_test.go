package postgres_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mnemehq/mneme/adapters/storage/postgres"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

const benchDim = 384

// sample is a document of one chunk of about 100 words with a vector as the
// default embedder makes it.
func sample(id string) port.DocumentWrite {
	r := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	for range 100 {
		fmt.Fprintf(&text, "%s ", "retrieval"[:3+r.IntN(7)])
	}
	d := port.Document{
		ID:       id,
		Text:     text.String(),
		Metadata: []byte(`{"source":"handbook","team":"support","tags":["a","b"]}`),
		Origin:   port.Origin{Kind: "api", KeyID: "key_0123456789"},
	}
	d.Chunks = []port.Chunk{{Start: 0, End: len(d.Text), Context: "Handbook > Support", Hash: [16]byte{1}}}
	d.TextHash = sha256.Sum256([]byte(d.Text))
	v := port.Dense{Dim: benchDim, Data: make([]float32, benchDim)}
	for i := range v.Data {
		v.Data[i] = r.Float32()*0.2 - 0.1
	}
	return port.DocumentWrite{Document: d, Vectors: port.Vectors{Dense: v}}
}

func create(t testing.TB, s port.DocumentStore, name string) port.Partition {
	t.Helper()
	var p port.Partition
	err := s.UpdateDocuments(t.Context(), func(w port.DocumentWriter) error {
		o, err := w.OrganizationByName(t.Context(), ident.DefaultOrg)
		if err != nil {
			return err
		}
		p = port.Documents(o.ID, name)
		_, err = w.CreatePartition(t.Context(), p, port.PartitionRow{Dimensions: benchDim, CreatedAt: time.Now()})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// put writes a document as the service does: it looks at the namespace and at
// what is stored, and writes. runs counts how often the function ran.
func put(ctx context.Context, s port.DocumentStore, p port.Partition, d port.DocumentWrite, runs *atomic.Int64) error {
	return s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		runs.Add(1)
		n, err := w.Partition(ctx, p)
		if err != nil {
			return err
		}
		pinned := p.At(n.Generation)
		if _, err := w.Documents(ctx, pinned, []string{d.Document.ID}, 0); err != nil {
			return err
		}
		_, err = w.PutDocuments(ctx, pinned, time.Now(), []port.DocumentWrite{d})
		return err
	})
}

func statements(b *testing.B, dsn string, statements ...string) {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(b.Context()))
	for _, statement := range statements {
		if _, err := conn.Exec(b.Context(), statement); err != nil {
			b.Fatal(err)
		}
	}
}

// durable makes the tests' server wait for its disk, as one that is used does.
func durable(b *testing.B, dsn string) {
	b.Helper()
	statements(b, dsn, "ALTER SYSTEM SET fsync = on", "ALTER SYSTEM SET full_page_writes = on", "SELECT pg_reload_conf()")
}

// BenchmarkWriters has callers that write one document a call, from one process
// or several (each a store of its own over one database), to one namespace or to
// one each. Figures: commits/s, runs of the function for each commit, and the
// p99 of a call in ms.
func BenchmarkWriters(b *testing.B) {
	for _, shape := range []struct {
		processes, writers int
		own                bool // each writer has a namespace
	}{
		{1, 1, false}, {1, 8, false}, {1, 64, false}, {3, 16, false},
		{1, 8, true}, {1, 64, true}, {3, 16, true},
	} {
		name := fmt.Sprintf("processes=%d/writers=%d/namespaces=1", shape.processes, shape.writers)
		if shape.own {
			name = fmt.Sprintf("processes=%d/writers=%d/namespaces=%d", shape.processes, shape.writers,
				shape.processes*shape.writers)
		}
		b.Run(name, func(b *testing.B) {
			c := postgres.Default()
			c.DSN = registry.Secret(server.Database(b))
			durable(b, c.DSN.Reveal())
			stores := make([]*postgres.Store, shape.processes)
			for i := range stores {
				stores[i] = openConfig(b, c)
			}
			names := make([]port.Partition, shape.processes*shape.writers)
			for i := range names {
				if i == 0 || shape.own {
					names[i] = create(b, stores[0], fmt.Sprintf("bench-%d", i))
				} else {
					names[i] = names[0]
				}
			}
			base := sample("x")
			for _, p := range slices.Compact(slices.Clone(names)) {
				some := make([]port.DocumentWrite, 50)
				for i := range some {
					some[i] = base
					some[i].Document.ID = fmt.Sprintf("before-%08d", i)
				}
				if err := stores[0].UpdateDocuments(b.Context(), func(w port.DocumentWriter) error {
					_, err := w.PutDocuments(b.Context(), p, time.Now(), some)
					return err
				}); err != nil {
					b.Fatal(err)
				}
			}
			statements(b, c.DSN.Reveal(), "ANALYZE") // as autovacuum does
			var next, runs atomic.Int64
			took := make([]time.Duration, b.N)
			var wg sync.WaitGroup
			b.ResetTimer()
			for i, p := range names {
				s := stores[i%shape.processes]
				wg.Go(func() {
					for {
						i := next.Add(1)
						if i > int64(b.N) {
							return
						}
						d := base
						d.Document.ID = fmt.Sprintf("doc-%08d", i)
						began := time.Now()
						if err := put(b.Context(), s, p, d, &runs); err != nil {
							b.Error(err)
							return
						}
						took[i-1] = time.Since(began)
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
			b.ReportMetric(float64(runs.Load())/float64(b.N), "runs/commit")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// BenchmarkMove moves an organization from one database to the other and back while somebody writes to it: ms-paused is
// how long those writes are refused.
func BenchmarkMove(b *testing.B) {
	for _, of := range []struct{ documents, endUsers int }{{3_000, 0}, {30_000, 0}, {3_000, 1_000}} {
		b.Run(fmt.Sprintf("documents=%d/endusers=%d", of.documents, of.endUsers), func(b *testing.B) {
			ctx := b.Context()
			s := openAll(b, spread(b, "home"))
			defer func() { _ = s.Close() }()
			p := create(b, s, "moved")
			put := func(p port.Partition, from, n int) error {
				var all []port.DocumentWrite
				for i := range n {
					all = append(all, sample(fmt.Sprintf("doc-%06d", from+i)))
				}
				return s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
					_, err := w.PutDocuments(ctx, p, time.Now(), all)
					return err
				})
			}
			for i := 0; i < of.documents; i += 500 {
				if err := put(p, i, 500); err != nil {
					b.Fatal(err)
				}
			}
			if err := s.Update(ctx, func(w port.Writer) error {
				return w.PutIntegration(ctx, port.Integration{ID: "int_1", Org: p.Org(), Name: "app"})
			}); err != nil {
				b.Fatal(err)
			}
			for i := range of.endUsers {
				user := port.Memories(p.Org(), "int_1", fmt.Sprintf("user-%04d", i))
				err := s.Update(ctx, func(w port.Writer) error {
					_, err := w.CreatePartition(ctx, user, port.PartitionRow{Dimensions: benchDim, CreatedAt: time.Now()})
					return err
				})
				if err := errors.Join(err, put(user, 0, 5)); err != nil {
					b.Fatal(err)
				}
			}
			stop, ended := make(chan struct{}), make(chan error, 1)
			go func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						ended <- nil
						return
					case <-time.After(time.Millisecond):
					}
					if err := put(p, i%of.documents, 1); err != nil && fault.CodeOf(err) != fault.Unavailable {
						ended <- err
						return
					}
				}
			}()
			var paused time.Duration
			moves := 0
			for b.Loop() {
				for _, to := range []string{"b", "home"} {
					done, err := s.(port.Mover).MoveOrganization(ctx, p.Org(), to, nil)
					if err != nil {
						b.Fatal(err)
					}
					paused += done.Paused
					moves++
				}
			}
			close(stop)
			if err := <-ended; err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(paused.Milliseconds())/float64(moves), "ms-paused/move")
		})
	}
}
