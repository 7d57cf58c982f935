package sqlite_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/core/port"
)

const fleetMemories = 50 // of an end user

// fleetSizes are numbers of end users; MNEME_FLEET names a large one.
func fleetSizes(b *testing.B) []int {
	sizes := []int{10, 1000}
	if v := os.Getenv("MNEME_FLEET"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n <= 0 {
			b.Fatalf("MNEME_FLEET=%q", v)
		}
		sizes = append(sizes, n)
	}
	return sizes
}

// turn is memory n of end user u: two sentences, every fifth source-owned, half
// of them in one of three containers.
func turn(u, n int, r *rand.Rand) port.DocumentWrite {
	text := fmt.Sprintf("User %d said in turn %d that the train to Lyon leaves at %d. It was remembered because it came up again on day %d.", u, n, r.IntN(24), r.IntN(365))
	d := port.Document{
		ID: fmt.Sprintf("mem_%08x%08x", r.Uint32(), n), Text: text, TextHash: sha256.Sum256([]byte(text)), Metadata: []byte(`{"speaker":"ann"}`),
		Origin: port.Origin{Kind: "api", KeyID: "key_0123456789"}, Chunks: []port.Chunk{{End: len(text)}}, CreatedAt: time.Unix(int64(1_700_000_000+n*3600), 0),
	}
	if n%2 == 0 {
		d.Container = fmt.Sprintf("thread-%d", n%3)
	}
	if n%5 == 0 {
		d.Source, d.ExternalID = "crm", fmt.Sprintf("turn-%d", n)
	} else {
		d.ContentKey = fleetKey(u, n)
	}
	v := port.Dense{Dim: benchDim, Data: make([]float32, benchDim)}
	for i := range v.Data {
		v.Data[i] = r.Float32()*0.2 - 0.1
	}
	return port.DocumentWrite{Document: d, Vectors: port.Vectors{Dense: v}}
}

func fleetKey(u, n int) [32]byte { return sha256.Sum256(fmt.Append(nil, u, "says", n)) }

func fleetUser(p port.Partition, u int) port.Partition {
	return port.Memories(p.Org(), p.Integration(), fmt.Sprintf("user-%07d", u))
}

// fleet fills a store with end users of fifty memories and gives one of them.
func fleet(b *testing.B, s port.Store, users int) port.Partition {
	b.Helper()
	ctx := b.Context()
	first, err := memories(ctx, s, "first")
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(9, 9))
	began := time.Now()
	const atOnce = 20
	for from := 0; from < users; from += atOnce {
		err := s.Update(ctx, func(w port.Writer) error {
			for u := from; u < min(from+atOnce, users); u++ {
				p := fleetUser(first, u)
				if _, err := w.CreateNamespace(ctx, p, port.Namespace{EmbeddingModel: "multilingual-e5-small",
					EmbeddingDigest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", Dimensions: benchDim, Chunker: "1", CreatedAt: time.Now(), UpdatedAt: time.Now()}); err != nil {
					return err
				}
				docs := make([]port.DocumentWrite, fleetMemories)
				for n := range docs {
					docs[n] = turn(u, n, r)
					if d := docs[n].Document; d.Source != "" {
						if err := w.PutRecord(ctx, p, port.Record{Source: d.Source, ExternalID: d.ExternalID, Version: 1, Status: port.RecordActive, DocumentID: d.ID, ContentHash: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
							port.Receipt{Source: d.Source, ExternalID: d.ExternalID, Version: 1, Operation: "upsert", Outcome: "created", DocumentID: d.ID,
								RequestHash: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", ContentHash: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}); err != nil {
							return err
						}
					}
				}
				if _, err := w.PutDocuments(ctx, p, time.Now(), docs); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d end users of %d memories in %v: %.0f memories/s", users, fleetMemories, time.Since(began), float64(users*fleetMemories)/time.Since(began).Seconds())
	return first
}

// BenchmarkFleet shows what a request on one end user costs beside ten others,
// a thousand, or as many as MNEME_FLEET says, each with fifty memories: every
// step hits another end user.
//
//	MNEME_FLEET=100000 go test -run - -bench Fleet -timeout 1h ./adapters/storage/sqlite
func BenchmarkFleet(b *testing.B) {
	for _, users := range fleetSizes(b) {
		b.Run(strconv.Itoa(users), func(b *testing.B) { benchmarkFleet(b, users) })
	}
}

func benchmarkFleet(b *testing.B, users int) {
	dir := b.TempDir()
	s, err := sqlite.Open(b.Context(), dir, sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	ctx := b.Context()
	first := fleet(b, s, users)
	if info, err := os.Stat(dir + "/mneme.db"); err == nil {
		b.Logf("%d MB, %d bytes a memory", info.Size()>>20, info.Size()/int64(users*fleetMemories))
	}
	r := rand.New(rand.NewPCG(uint64(users), 1))
	each := func(name string, fn func(u int, p port.Partition) error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				u := r.IntN(users)
				if err := fn(u, fleetUser(first, u)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	view := func(fn func(r port.Reader, u int, p port.Partition) (int, error)) func(u int, p port.Partition) error {
		return func(u int, p port.Partition) error {
			n := 0
			err := s.View(ctx, func(r port.Reader) (err error) { n, err = fn(r, u, p); return err })
			if err == nil && n == 0 {
				err = fmt.Errorf("nothing found of %s", p)
			}
			return err
		}
	}
	each("content", view(func(r port.Reader, u int, p port.Partition) (int, error) {
		ids, err := r.MemoriesByContent(ctx, p, []port.ContentKey{{Hash: fleetKey(u, 1)}})
		return len(ids), err
	}))
	each("record", view(func(r port.Reader, _ int, p port.Partition) (int, error) {
		rec, err := r.Record(ctx, p, "crm", "turn-5")
		if err == nil {
			_, err = r.Receipt(ctx, p, "crm", "turn-5", 0)
		}
		return int(rec.Version), err
	}))
	each("list", view(func(r port.Reader, _ int, p port.Partition) (int, error) {
		d, err := r.ListDocuments(ctx, p, port.DocumentList{Order: port.ByCreated, Limit: 20, Parts: port.PartText | port.PartMetadata})
		return len(d), err
	}))
	each("list-container", view(func(r port.Reader, _ int, p port.Partition) (int, error) {
		d, err := r.ListDocuments(ctx, p, port.DocumentList{Order: port.ByCreated, Container: "thread-2", Limit: 20, Parts: port.PartText | port.PartMetadata})
		return len(d), err
	}))
	each("replay", view(func(r port.Reader, _ int, p port.Partition) (int, error) { // what opening the user's index reads
		changes, err := r.Changes(ctx, p, 0, 512)
		if err != nil {
			return 0, err
		}
		ids := make([]string, len(changes))
		for i, c := range changes {
			ids[i] = c.Document
		}
		docs, err := r.Documents(ctx, p, ids, 7)
		if err != nil {
			return 0, err
		}
		_, err = r.Vectors(ctx, p, ids)
		return len(docs), err
	}))
	each("roster-100", view(func(r port.Reader, _ int, p port.Partition) (int, error) {
		u, err := r.EndUsers(ctx, p.Org(), port.EndUserList{AfterID: p.Name()[:len(p.Name())-1], Limit: 100})
		return len(u), err
	}))
	n := fleetMemories
	each("write", func(u int, p port.Partition) error {
		n++
		return put1(b, s, p, turn(u, n, r))
	})
	m := 0
	each("erase", func(u int, p port.Partition) error {
		m++
		p = fleetUser(first, users+m)
		if err := s.Update(ctx, func(w port.Writer) error {
			if _, err := w.CreateNamespace(ctx, p, port.Namespace{Dimensions: benchDim, CreatedAt: time.Now()}); err != nil {
				return err
			}
			_, err := w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{turn(u, 1, r), turn(u, 2, r)})
			return err
		}); err != nil {
			return err
		}
		_, err := erase(ctx, s, p, 500)
		return err
	})
	began := time.Now()
	if err := s.Scrub(ctx); err != nil {
		b.Fatal(err)
	}
	b.Logf("the first Scrub of a process took %v", time.Since(began))
	each("write-scrub", func(u int, p port.Partition) error {
		n++
		if err := put1(b, s, p, turn(u, n, r)); err != nil {
			return err
		}
		return s.Scrub(ctx)
	})
}

func put1(b *testing.B, s port.Store, p port.Partition, d port.DocumentWrite) error {
	return s.Update(b.Context(), func(w port.Writer) error {
		_, err := w.PutDocuments(b.Context(), p, time.Now(), []port.DocumentWrite{d})
		return err
	})
}
