package sqlite_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/packing"
	"github.com/mnemehq/mneme/core/port"
)

// memories makes an integration and the partition of one of its end users.
func memories(ctx context.Context, s port.DocumentStore, endUser string) (p port.Partition, err error) {
	err = s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		o, err := w.OrganizationByName(ctx, ident.DefaultOrg)
		if err != nil {
			return err
		}
		if err := w.PutIntegration(ctx, port.Integration{ID: "int_1", Org: o.ID, Name: "app",
			CreatedAt: time.Now()}); err != nil {
			return err
		}
		p = port.Memories(o.ID, "int_1", endUser)
		if _, err := w.Partition(ctx, p); !fault.IsPartitionNotFound(err) {
			return err
		}
		_, err = w.CreatePartition(ctx, p, port.PartitionRow{Dimensions: benchDim, CreatedAt: time.Now(), UpdatedAt: time.Now()})
		return err
	})
	return p, err
}

// marked is a memory with a marker in every place where a user's words go.
func marked(marker string, n, size int) port.DocumentWrite {
	m := fmt.Sprintf("%s-%d", marker, n)
	text := strings.Repeat(m+"-text ", 1+size/(len(m)+6))
	d := port.Document{
		ID:         "mem_" + m,
		Text:       text,
		TextHash:   sha256.Sum256([]byte(text)),
		Metadata:   []byte(fmt.Sprintf(`{"k":"%s-meta"}`, m)),
		Container:  fmt.Sprintf("%s-container-%d", marker, n%7),
		ContentKey: sha256.Sum256([]byte("key" + text)),
		Origin:     port.Origin{Kind: "api"},
		CreatedAt:  time.Unix(int64(1e9+n), 0),
		Chunks:     []port.Chunk{{Start: 0, End: len(text), Context: m + "-context"}},
	}
	if n%3 == 0 {
		d.ContentKey, d.Source, d.ExternalID = [32]byte{}, marker+"-source", m+"-external"
	}
	return port.DocumentWrite{Document: d, Vectors: port.Vectors{Dense: spelled(m + "-vector ")}}
}

// spelled is a vector whose stored half floats spell a text over and over.
func spelled(text string) port.Dense {
	blob := binary.AppendUvarint([]byte{1, 1}, benchDim)
	blob = append(blob, strings.Repeat(text, 2*benchDim/len(text)+1)[:2*benchDim]...)
	d, err := packing.DecodeDense(blob)
	if err != nil {
		panic(err)
	}
	return d
}

// save writes a memory with what belongs to it.
func save(ctx context.Context, s port.DocumentStore, p port.Partition, d port.DocumentWrite, version int64) error {
	return s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		if _, err := w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{d}); err != nil {
			return err
		}
		doc := d.Document
		if doc.Source == "" {
			link := port.ContextLink{ID: doc.ID, Context: doc.ID + "-before", Own: spelled(doc.ID + "-own ").Data}
			if err := w.PutContextLinks(ctx, p, []port.ContextLink{link}); err != nil {
				return err
			}
			return w.PutIdempotentReply(ctx, p.Org(), port.IdempotentReply{
				Integration: p.Integration(),
				Key:         fmt.Sprintf("%s-key-%d", doc.ID, version),
				EndUser:     p.Name(),
				Answer:      json.RawMessage(fmt.Sprintf(`{"id":"%s-answer"}`, doc.ID)),
				CreatedAt:   time.Now(),
			})
		}
		return w.PutRecord(ctx, p, port.Record{
			Source:     doc.Source,
			ExternalID: doc.ExternalID,
			Version:    version,
			Status:     port.RecordActive,
			DocumentID: doc.ID,
		},
			port.Receipt{
				Source:      doc.Source,
				ExternalID:  doc.ExternalID,
				Version:     version,
				Operation:   "upsert",
				Outcome:     "updated",
				DocumentID:  doc.ID,
				RequestHash: doc.ID + "-request",
			})
	})
}

// erase runs an erasure from its beginning or from where another stopped.
func erase(ctx context.Context, s port.DocumentStore, p port.Partition, limit int) (port.Erased, error) {
	var e port.Erased
	err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) (err error) {
		p, err = w.BeginErasure(ctx, p, time.Now())
		return err
	})
	for more := true; err == nil && more; {
		err = s.UpdateDocuments(ctx, func(w port.DocumentWriter) (err error) {
			more, err = w.EraseMemories(ctx, p, limit)
			return err
		})
	}
	if err != nil {
		return e, err
	}
	return e, s.UpdateDocuments(ctx, func(w port.DocumentWriter) (err error) {
		if e, err = w.ErasureTally(ctx, p); err != nil {
			return err
		}
		return w.EndErasure(ctx, p)
	})
}

// found counts a pattern in the raw bytes of every file of a directory.
func found(t testing.TB, dir, pattern string) map[string]int {
	t.Helper()
	re := regexp.MustCompile(pattern)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, e := range files {
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if n := len(re.FindAllIndex(b, -1)); n > 0 {
			out[e.Name()] = n
		}
	}
	return out
}

func wantGone(t testing.TB, dir, pattern string) {
	t.Helper()
	if n := found(t, dir, pattern); len(n) != 0 {
		t.Errorf("%s is still in %v", pattern, n)
	}
}

// size of the n-th memory: most short, some over several pages.
func size(r *rand.Rand) int {
	switch r.IntN(20) {
	case 0:
		return r.IntN(64 << 10)
	case 1, 2, 3:
		return r.IntN(4 << 10)
	}
	return r.IntN(300)
}

// TestScrub writes the memories of several end users in between one another,
// rewrites and deletes some, and erases the users one after the other: none of
// a user's markers may be left in any file after Scrub, and nothing of the
// others may be missing.
func TestScrub(t *testing.T) {
	if testing.Short() {
		t.Skip("one call after another, and long under the race detector")
	}
	dir := t.TempDir()
	ctx := t.Context()
	s := open(t, dir)
	r := rand.New(rand.NewPCG(7, 7))
	const users = 6
	var parts [users]port.Partition
	for i := range parts {
		var err error
		if parts[i], err = memories(ctx, s, fmt.Sprintf("MARK%d-user", i)); err != nil {
			t.Fatal(err)
		}
	}
	saved := map[string]int64{}
	for range 2400 {
		u := r.IntN(users)
		n := r.IntN(250)
		d := marked(fmt.Sprintf("MARK%d", u), n, size(r))
		if r.IntN(8) == 0 {
			if err := remove(ctx, s, parts[u], d.Document.ID); err != nil {
				t.Fatal(err)
			}
			continue
		}
		saved[d.Document.ID]++
		if err := save(ctx, s, parts[u], d, saved[d.Document.ID]); err != nil {
			t.Fatal(err)
		}
	}
	for u := range parts {
		if u == users/2 { // what a run before this one wrote
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, dir)
		}
		marker := fmt.Sprintf("MARK%d-", u)
		for _, part := range []string{"text", "meta", "context", "vector", "external", "answer", "key", "request",
			"before", "own"} {
			if len(found(t, dir, marker+"[0-9]+-"+part)) == 0 {
				t.Fatalf("no %s of %s was written", part, marker)
			}
		}
		e, err := erase(ctx, s, parts[u], 100)
		if err != nil || e.Memories == 0 || e.Vectors != e.Memories || e.Records == 0 || e.Receipts < e.Records ||
			e.Replays == 0 {
			t.Fatalf("erased %+v, %v", e, err)
		}
		t.Logf("%s: %+v; before Scrub %v", marker, e, found(t, dir, marker))
		if err := s.Scrub(ctx); err != nil {
			t.Fatal(err)
		}
		wantGone(t, dir, marker)
		for _, p := range parts[u+1:] {
			if err := s.View(ctx, func(r port.Reader) error {
				n, err := r.Partition(ctx, p)
				docs, err2 := r.ListDocuments(ctx, p,
					port.DocumentList{Limit: 1000, Order: port.ByCreated,
						Parts: port.PartText | port.PartMetadata | port.PartChunks})
				if int64(len(docs)) != n.Documents || len(docs) == 0 {
					t.Errorf("%s has %d memories, counted %d", p.Name(), len(docs), n.Documents)
				}
				for _, d := range docs {
					if sha256.Sum256([]byte(d.Text)) != d.TextHash {
						t.Errorf("%s is damaged", d.ID)
					}
				}
				return errors.Join(err, err2)
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	integrity(t, dir)
}

// TestScrubDeletions: memories and namespaces that were deleted singly or whole
// are as gone as erased ones.
func TestScrubDeletions(t *testing.T) {
	dir := t.TempDir()
	ctx := t.Context()
	s := open(t, dir)
	p, err := memories(ctx, s, "user")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := ensure(ctx, s, "docs")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 600 {
		marker := []string{"GONE", "KEPT"}[n%2]
		if err := save(ctx, s, p, marked(marker, n, size(r)), 1); err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat(fmt.Sprintf("DROPPED-%d ", n), 1+size(r)/10)
		if err := write(ctx, s, docs, port.DocumentWrite{Document: port.Document{ID: fmt.Sprintf("DROPPED-%d", n),
			Text: text}}); err != nil {
			t.Fatal(err)
		}
	}
	var gone []string
	for n := range 600 {
		if n%2 == 0 {
			gone = append(gone, fmt.Sprintf("mem_GONE-%d", n))
		}
	}
	if err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		n, seq, last, err := w.DeleteDocuments(ctx, p, time.Now(), gone)
		if n != len(gone) || last {
			t.Errorf("deleted %d of %d, gone %v", n, len(gone), last)
		}
		if err == nil {
			err = w.TrimChanges(ctx, p, seq) // the ids, once every index has dropped them
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		_, err := w.DeletePartition(ctx, docs)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Scrub(ctx); err != nil {
		t.Fatal(err)
	}
	wantGone(t, dir, "DROPPED-")
	wantGone(t, dir, "GONE-([0-9]+-(text|meta|context|vector)|container)")
	if len(found(t, dir, "KEPT-1-text")) == 0 {
		t.Error("what was not deleted is gone too")
	}
}

// TestScrubUnderLoad erases users over and over while others write, read and
// are read, and while writers keep saving for the erased ones.
func TestScrubUnderLoad(t *testing.T) {
	dir := t.TempDir()
	ctx := t.Context()
	s := open(t, dir)
	others, err := memories(ctx, s, "other")
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var reads, writes, refused atomic.Int64
	loop := func(fn func(n int) error) {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := fn(n); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(3, 4))
	sizes := make([]int, 500)
	for i := range sizes {
		sizes[i] = size(r)
	}
	for g := range 2 {
		loop(func(n int) error { // others' writes
			writes.Add(1)
			return save(ctx, s, others, marked(fmt.Sprintf("OTHER%d", g), n, sizes[n%500]), int64(n+1))
		})
	}
	for range 4 {
		loop(func(int) error { // reads that overlap one another, so that one is always open
			reads.Add(1)
			return s.View(ctx, func(r port.Reader) error {
				_, err := r.ListDocuments(ctx, others, port.DocumentList{Order: port.ByCreated, Limit: 20, Parts: port.PartText})
				time.Sleep(time.Millisecond)
				return err
			})
		})
	}
	var round atomic.Int64
	loop(func(n int) error { // a client that goes on saving for whom is erased
		at := round.Load()
		p, err := memories(ctx, s, fmt.Sprintf("LOAD%d-user", at))
		if err == nil {
			err = save(ctx, s, p, marked(fmt.Sprintf("LOAD%d", at), n, sizes[n%500]), int64(n+1))
		}
		if fault.CodeOf(err) == fault.Unavailable || fault.IsPartitionNotFound(err) { // between two lives
			refused.Add(1)
			return nil
		}
		return err
	})
	rounds := 8
	if testing.Short() {
		rounds = 3
	}
	for n := range rounds {
		marker := fmt.Sprintf("LOAD%d", n)
		p, err := memories(ctx, s, marker+"-user")
		for i := 0; err == nil && i < 60; i++ {
			err = save(ctx, s, p, marked(marker+"-x", i, sizes[i]), int64(i+1))
		}
		if err != nil {
			t.Fatal(err)
		}
		round.Store(int64(n + 1)) // a save of this round may still be on its way
		for {
			if _, err := erase(ctx, s, p, 16); err != nil && !fault.IsPartitionNotFound(err) {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Millisecond)
			err := s.View(ctx, func(r port.Reader) error { _, err := r.Partition(ctx, p); return err })
			if fault.IsPartitionNotFound(err) {
				break
			}
		}
		began := time.Now()
		if err := s.Scrub(ctx); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		wantGone(t, dir, marker+"-")
		t.Logf("round %d: scrubbed in %v; %d reads, %d writes, %d refused", n, took, reads.Load(), writes.Load(), refused.Load())
	}
	close(stop)
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	integrity(t, dir)
}

// TestScrubLongReader: a read that does not end holds the log; Scrub says so in
// time, writers go on, and the next Scrub does it.
func TestScrubLongReader(t *testing.T) {
	dir := t.TempDir()
	ctx := t.Context()
	s := open(t, dir)
	p, err := memories(ctx, s, "LONG-user")
	if err != nil {
		t.Fatal(err)
	}
	if err := save(ctx, s, p, marked("LONG", 1, 100), 1); err != nil {
		t.Fatal(err)
	}
	reading, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.View(ctx, func(r port.Reader) error {
			_, err := r.Partition(ctx, p)
			close(reading)
			<-release
			return err
		}); err != nil {
			t.Error(err)
		}
	})
	<-reading
	if _, err := erase(ctx, s, p, 100); err != nil {
		t.Fatal(err)
	}
	var writes atomic.Int64
	var scrubbed atomic.Bool
	wg.Go(func() {
		other, err := memories(ctx, s, "other")
		for i := 0; err == nil && !scrubbed.Load(); i++ {
			err = save(ctx, s, other, marked("other", i, 100), int64(i+1))
			writes.Add(1)
		}
		if err != nil {
			t.Errorf("writing while Scrub waits: %v", err)
		}
	})
	// One write may have been under way when Scrub began, more went past it. How many
	// do while it waits is the machine's affair.
	for try := 1; ; try++ {
		before := writes.Load()
		wantUnavailable(t, "Scrub beside a long reader", s.Scrub(ctx))
		if n := writes.Load() - before; n >= 5 {
			break
		} else if try == 10 {
			t.Errorf("%d writes went through while Scrub waited", n)
			break
		}
	}
	scrubbed.Store(true)
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if err := s.Scrub(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Scrub with a deadline: %v", err)
	}
	close(release)
	wg.Wait()
	if err := s.Scrub(ctx); err != nil {
		t.Fatal(err)
	}
	wantGone(t, dir, "LONG")
}

// TestEraseKilled kills a process that erases in a loop at random moments. The
// next one finds what was begun, finishes it, and nothing of it is left.
func TestEraseKilled(t *testing.T) {
	dir := t.TempDir()
	ctx := t.Context()
	rounds := 8
	if testing.Short() {
		rounds = 3
	}
	resumed := 0
	for round := range rounds {
		cmd, out := child(t, "erase", dir)
		var kill *time.Timer
		for out.Scan() {
			if strings.HasPrefix(out.Text(), "error") {
				t.Fatal(out.Text())
			}
			if kill == nil && out.Text() == "erasing" {
				kill = time.AfterFunc(time.Duration(rand.IntN(60))*time.Millisecond, func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait()
		s, err := sqlite.Open(ctx, dir, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := memories(ctx, s, "KILL-user")
		if fault.CodeOf(err) == fault.Unavailable {
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
		var begun []port.Partition
		var before port.Erased
		var held port.PartitionRow
		if err := s.View(ctx, func(r port.Reader) (err error) {
			if begun, err = r.Erasing(ctx); err != nil || len(begun) == 0 {
				return err
			}
			if before, err = r.ErasureTally(ctx, begun[0]); err == nil {
				held, err = r.Partition(ctx, begun[0])
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for _, q := range begun {
			resumed++
			if q.At(0) != p && p != (port.Partition{}) {
				t.Errorf("round %d: %s is being erased", round, q)
			}
			e, err := erase(ctx, s, q, 7)
			if err != nil {
				t.Fatal(err)
			}
			if e.Memories != before.Memories+held.Documents || e.Memories != childMemories ||
				e.Vectors != childMemories || e.Records != childMemories/3 || e.Receipts != childMemories/3 ||
				e.Replays != childMemories*2/3 {
				t.Errorf("round %d: erased %+v in all, %+v before the kill, when %d memories were left", round, e,
					before, held.Documents)
			}
		}
		if len(begun) == 0 { // it was killed before or after an erasure
			if _, err := erase(ctx, s, p, 100); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Scrub(ctx); err != nil {
			t.Fatal(err)
		}
		wantGone(t, dir, "KILL-")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		integrity(t, dir)
	}
	t.Logf("%d of %d kills fell into an erasure", resumed, rounds)
}

const childMemories = 120

// childErase saves and erases one user's memories until it is killed.
func childErase(dir string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(rand.Uint64(), 1))
	for {
		p, err := memories(ctx, s, "KILL-user")
		for i := 0; err == nil && i < childMemories; i++ {
			err = save(ctx, s, p, marked("KILL", i, size(r)), 1)
		}
		if err != nil {
			return err
		}
		fmt.Println("erasing")
		if _, err := erase(ctx, s, p, 7); err != nil {
			return err
		}
		if err := s.Scrub(ctx); err != nil {
			return err
		}
	}
}

// TestScrubBesideAWriterThatReads: a writer that reads through another connection waits for the
// readers that Scrub holds up, and Scrub for the writer; one of them has to give way.
func TestScrubBesideAWriterThatReads(t *testing.T) {
	s, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{Readers: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	reading, read := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { // holds the log
		err := s.View(t.Context(), func(r port.Reader) error {
			_, err := r.Organizations(t.Context())
			close(reading)
			<-read
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-reading
	if _, err := memories(t.Context(), s, "ann"); err != nil { // so the log has something
		t.Fatal(err)
	}
	scrubbed := make(chan error, 1)
	go func() { scrubbed <- s.Scrub(t.Context()) }()
	for s.Pool().InUse < 2 { // it waits for readers
		time.Sleep(100 * time.Microsecond)
	}
	err = s.Update(t.Context(), func(w port.Writer) error {
		close(read)
		all.Wait()
		for end := time.Now().Add(5 * time.Second); s.Pool().InUse < 2 && time.Now().Before(end); { // it has them all
			time.Sleep(100 * time.Microsecond)
		}
		patient, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		return s.View(patient, func(r port.Reader) error { _, err := r.Organizations(patient); return err })
	})
	if err != nil {
		t.Errorf("the writer that reads: %v", err)
	}
	if err := <-scrubbed; err != nil && fault.CodeOf(err) != fault.Unavailable {
		t.Error(err)
	}
}
