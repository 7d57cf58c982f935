package sqlite_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/core/port"
)

const fleetMemories = 50 // of an end user

// turn is memory n of end user u: two sentences, every fifth source-owned, half
// of them in one of three containers.
func turn(u, n int, r *rand.Rand) port.DocumentWrite {
	text := fmt.Sprintf("User %d said in turn %d that the train to Lyon leaves at %d. It was remembered because it came "+
		"up again on day %d.", u, n, r.IntN(24), r.IntN(365))
	d := port.Document{
		ID:        fmt.Sprintf("mem_%08x%08x", r.Uint32(), n),
		Text:      text,
		TextHash:  sha256.Sum256([]byte(text)),
		Metadata:  []byte(`{"speaker":"ann"}`),
		Origin:    port.Origin{Kind: "api", KeyID: "key_0123456789"},
		Chunks:    []port.Chunk{{End: len(text)}},
		CreatedAt: time.Unix(int64(1_700_000_000+n*3600), 0),
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

// fleet fills a store with end users of fifty memories beside a first one.
func fleet(b *testing.B, s port.DocumentStore, first port.Partition, users int) {
	b.Helper()
	ctx := b.Context()
	r := rand.New(rand.NewPCG(9, 9))
	began := time.Now()
	const atOnce = 20
	for from := 0; from < users; from += atOnce {
		err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
			for u := from; u < min(from+atOnce, users); u++ {
				p := fleetUser(first, u)
				if _, err := w.CreatePartition(ctx, p, port.PartitionRow{
					EmbeddingModel:  "multilingual-e5-small",
					EmbeddingDigest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
					Dimensions:      benchDim,
					Chunker:         "1",
					CreatedAt:       time.Now(),
					UpdatedAt:       time.Now(),
				}); err != nil {
					return err
				}
				docs := make([]port.DocumentWrite, fleetMemories)
				for n := range docs {
					docs[n] = turn(u, n, r)
					if d := docs[n].Document; d.Source != "" {
						if err := w.PutRecord(ctx, p, port.Record{
							Source:      d.Source,
							ExternalID:  d.ExternalID,
							Version:     1,
							Status:      port.RecordActive,
							DocumentID:  d.ID,
							ContentHash: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
						},
							port.Receipt{
								Source:      d.Source,
								ExternalID:  d.ExternalID,
								Version:     1,
								Operation:   "upsert",
								Outcome:     "created",
								DocumentID:  d.ID,
								RequestHash: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
								ContentHash: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
							}); err != nil {
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
	b.Logf("%d end users of %d memories in %v: %.0f memories/s", users, fleetMemories, time.Since(began),
		float64(users*fleetMemories)/time.Since(began).Seconds())
}

// fleetStore is a store with a fleet of end users.
type fleetStore struct {
	*sqlite.Store
	users int
	first port.Partition
	saved int
}

// fleets are of ten and a thousand end users and, where MNEME_FLEET says so, of
// that many. MNEME_FLEET_DIR keeps the last for the next run.
func fleets(b *testing.B) []*fleetStore {
	b.Helper()
	sizes := []int{10, 1000}
	if v := os.Getenv("MNEME_FLEET"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n <= 0 {
			b.Fatalf("MNEME_FLEET=%q", v)
		}
		sizes = append(sizes, n)
	}
	out := make([]*fleetStore, len(sizes))
	for i, n := range sizes {
		dir := b.TempDir()
		if v := os.Getenv("MNEME_FLEET_DIR"); v != "" && i == 2 {
			dir = v
		}
		s := open(b, dir)
		f := &fleetStore{Store: s, users: n, saved: fleetMemories}
		var err error
		if f.first, err = memories(b.Context(), s, "first"); err != nil {
			b.Fatal(err)
		}
		made := false
		if err := s.View(b.Context(), func(r port.Reader) error {
			_, err := r.Partition(b.Context(), fleetUser(f.first, n-1))
			made = err == nil
			return nil
		}); err != nil {
			b.Fatal(err)
		}
		if !made {
			fleet(b, s, f.first, n)
		}
		if info, err := os.Stat(dir + "/mneme.db"); err == nil {
			b.Logf("%d end users: %d MB", n, info.Size()>>20)
		}
		out[i] = f
	}
	return out
}

// BenchmarkFleet shows what a request on one end user costs beside ten others,
// a thousand, or as many as MNEME_FLEET says, each with fifty memories. Requests
// go to a hundred end users from all over the fleet; those of -cold to any, most
// of which nobody has asked for since the start.
//
//	MNEME_FLEET=100000 go test -run - -bench Fleet -timeout 1h ./adapters/storage/sqlite
func BenchmarkFleet(b *testing.B) {
	all := fleets(b)
	ctx := b.Context()
	for _, s := range all {
		began := time.Now()
		if err := s.Scrub(ctx); err != nil {
			b.Fatal(err)
		}
		b.Logf("%d end users: scrubbed for the first time in %v", s.users, time.Since(began))
	}
	r := rand.New(rand.NewPCG(8, 1))
	each := func(name string, fn func(s *fleetStore, u int, p port.Partition) error) {
		for _, s := range all {
			b.Run(name+"/"+strconv.Itoa(s.users), func(b *testing.B) {
				for b.Loop() {
					u := r.IntN(s.users)
					if !strings.HasSuffix(name, "cold") {
						u = u % 100 * max(1, s.users/100) % s.users
					}
					if err := fn(s, u, fleetUser(s.first, u)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	view := func(fn func(r port.Reader, u int,
		p port.Partition) (int, error)) func(s *fleetStore, u int, p port.Partition) error {
		return func(s *fleetStore, u int, p port.Partition) error {
			n := 0
			err := s.View(ctx, func(r port.Reader) (err error) { n, err = fn(r, u, p); return err })
			if err == nil && n == 0 {
				err = fmt.Errorf("nothing found of %s", p)
			}
			return err
		}
	}
	content := view(func(r port.Reader, u int, p port.Partition) (int, error) {
		ids, err := r.MemoriesByContent(ctx, p, []port.ContentKey{{Hash: fleetKey(u, 1)}})
		return len(ids), err
	})
	replay := view(func(r port.Reader, _ int, p port.Partition) (int, error) { // what opening the end user's index reads
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
	})
	write := func(s *fleetStore, u int, p port.Partition) error {
		s.saved++
		return s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
			_, err := w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{turn(u, s.saved, r)})
			return err
		})
	}
	each("content", content)
	each("content-cold", content)
	each("record", view(func(r port.Reader, _ int, p port.Partition) (int, error) {
		rec, err := r.Record(ctx, p, "crm", "turn-5")
		if err == nil {
			_, err = r.Receipt(ctx, p, "crm", "turn-5", 0)
		}
		return int(rec.Version), err
	}))
	each("list", view(func(r port.Reader, _ int, p port.Partition) (int, error) {
		d, err := r.ListDocuments(ctx, p,
			port.DocumentList{Order: port.ByCreated, Limit: 20, Parts: port.PartText | port.PartMetadata})
		return len(d), err
	}))
	each("list-container", view(func(r port.Reader, _ int, p port.Partition) (int, error) {
		d, err := r.ListDocuments(ctx, p, port.DocumentList{
			Order:     port.ByCreated,
			Container: "thread-2",
			Limit:     20,
			Parts:     port.PartText | port.PartMetadata,
		})
		return len(d), err
	}))
	each("replay", replay)
	each("replay-cold", replay)
	each("roster-10", view(func(r port.Reader, _ int, p port.Partition) (int, error) {
		u, err := r.EndUsers(ctx, p.Org(), port.EndUserList{AfterID: p.Name()[:len(p.Name())-1], Limit: 10})
		return len(u), err
	}))
	each("write", write)
	each("write-cold", write)
	each("write-and-scrub", func(s *fleetStore, u int, p port.Partition) error {
		if err := write(s, u, p); err != nil {
			return err
		}
		return s.Scrub(ctx)
	})
	each("erase-and-scrub", func(s *fleetStore, u int, _ port.Partition) error { // fifty memories, saved before
		s.saved++
		p := port.Memories(s.first.Org(), s.first.Integration(), fmt.Sprintf("late-%d-%d", time.Now().UnixNano(), s.saved))
		if err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
			if _, err := w.CreatePartition(ctx, p, port.PartitionRow{Dimensions: benchDim, CreatedAt: time.Now()}); err != nil {
				return err
			}
			docs := make([]port.DocumentWrite, fleetMemories)
			for n := range docs {
				docs[n] = turn(u, n, r)
			}
			_, err := w.PutDocuments(ctx, p, time.Now(), docs)
			return err
		}); err != nil {
			return err
		}
		if _, err := erase(ctx, s, p, 500); err != nil {
			return err
		}
		return s.Scrub(ctx)
	})
}
