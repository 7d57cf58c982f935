package backup_test

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/backup/folder"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/core/backup"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

var chunkCount = flag.Int("chunks", 100_000, "chunks of BenchmarkScale")

// BenchmarkScale backs up -chunks chunks of 100 words with vectors of 384 dimensions, ten to a document: first,
// unchanged, with a hundredth added, with a hundredth changed here and there; verifies, and restores. Bytes
// and seconds of each are logged (make backup-scale).
func BenchmarkScale(b *testing.B) {
	for b.Loop() {
		scale(b, *chunkCount)
	}
}

// heap keeps the largest heap that was seen.
func heap(ctx context.Context, most *uint64) func() {
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			*most = max(*most, m.HeapInuse)
			time.Sleep(100 * time.Millisecond)
		}
	}()
	return func() { stop(); <-done }
}

func scale(b *testing.B, chunks int) {
	const dim, per = 384, 10
	ctx, dir := b.Context(), b.TempDir()
	s, err := sqlite.Open(ctx, filepath.Join(dir, "data"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 20_000)
	for i := range words {
		words[i] = fmt.Sprintf("w%x", random.Uint32()>>(8+random.IntN(16)))
	}
	document := func(n int) port.DocumentWrite {
		var text strings.Builder
		id := fmt.Sprintf("%08x", uint32(n)*2654435761)
		d := port.DocumentWrite{Document: port.Document{ID: id, Origin: port.Origin{Kind: "api"}}}
		d.Vectors.Dense.Dim = dim
		for c := range per {
			from := text.Len()
			for range 100 {
				text.WriteString(words[random.IntN(len(words))])
				text.WriteByte(' ')
			}
			chunk := port.Chunk{Start: from, End: text.Len(), Hash: [16]byte{byte(c), byte(n), byte(n >> 8)}}
			d.Document.Chunks = append(d.Document.Chunks, chunk)
			for range dim {
				d.Vectors.Dense.Data = append(d.Vectors.Dense.Data, random.Float32()-0.5)
			}
		}
		d.Document.Text = text.String()
		d.Document.TextHash = sha256.Sum256([]byte(d.Document.Text))
		return d
	}
	var p port.Partition
	write := func(ids func(yield func(int) bool)) {
		var batch []port.DocumentWrite
		flush := func() {
			err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
				_, err := w.PutDocuments(ctx, p, time.Time{}, batch)
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
			batch = batch[:0]
		}
		for n := range ids {
			if batch = append(batch, document(n)); len(batch) == 100 {
				flush()
			}
		}
		if len(batch) > 0 {
			flush()
		}
	}
	err = s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		org, err := w.OrganizationByName(ctx, ident.DefaultOrg)
		if err != nil {
			return err
		}
		p = port.Documents(org.ID, "scale")
		row := port.PartitionRow{EmbeddingModel: "m", EmbeddingDigest: "d", Dimensions: dim, Chunker: "1"}
		_, err = w.CreatePartition(ctx, p, row)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	span := func(from, to, step int) func(func(int) bool) {
		return func(yield func(int) bool) {
			for n := from; n < to && yield(n); n += step {
			}
		}
	}
	total := chunks / per
	write(span(0, total, 1))
	place, err := folder.Open(filepath.Join(dir, "backups"), nil)
	if err != nil {
		b.Fatal(err)
	}
	create := func(what string) {
		var most uint64
		stop := heap(ctx, &most)
		began := time.Now()
		m, err := backup.Create(ctx, s, backup.Settings{Place: place})
		stop()
		if err != nil {
			b.Fatal(err)
		}
		b.Logf("%s: %.1f s, %d MB of rows, %.1f MB added, heap %d MiB", what, time.Since(began).Seconds(), m.Bytes/1e6,
			float64(m.Added)/1e6, most>>20)
	}
	create("first")
	create("unchanged")
	write(span(total, total+total/100, 1))
	create("a hundredth more")
	write(span(0, total, 100))
	create("a hundredth changed, here and there")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	r, err := backup.Open(ctx, place, backup.Keys{})
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	v, err := r.Verify(ctx, "", nil)
	if err != nil || len(v.Damaged) > 0 {
		b.Fatal(v, err)
	}
	b.Logf("verify: %.1f s, %d MB", time.Since(began).Seconds(), v.Bytes/1e6)
	var most uint64
	stop := heap(ctx, &most)
	began = time.Now()
	if _, err := r.Restore(ctx, backup.Restore{Fill: into(filepath.Join(dir, "restored"))}); err != nil {
		b.Fatal(err)
	}
	stop()
	b.Logf("restore: %.1f s, heap %d MiB", time.Since(began).Seconds(), most>>20)
}
