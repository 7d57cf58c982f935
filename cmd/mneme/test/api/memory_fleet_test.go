package api_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/port"
)

const perUser = 50 // memories of an end user of a fleet

// hashedWords gives 384-dimensional vectors in which texts that share words are
// near each other, at little cost.
type hashedWords struct{ *coretest.Embedder }

func (e hashedWords) Info() port.ModelInfo {
	i := e.Embedder.Info()
	i.Dimensions = 384
	return i
}

func (e hashedWords) Embed(_ context.Context, _ port.TextKind, texts []string) (port.Dense, error) {
	d := port.Dense{Dim: 384, Data: make([]float32, 384*len(texts)), Tokens: make([]int, len(texts))}
	for i, t := range texts {
		all := coretest.Words(t)
		d.Tokens[i] = len(all)
		v, sum := d.Row(i), 0.0
		for _, w := range all {
			h := fnv.New64a()
			_, _ = h.Write([]byte(w))
			r := rand.NewPCG(h.Sum64(), 1)
			for j := 0; j < len(v); j += 64 {
				bits := r.Uint64()
				for k := range v[j:min(j+64, len(v))] {
					v[j+k] += float32(int(bits>>k&1)*2 - 1)
				}
			}
		}
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		for j := range v {
			v[j] /= float32(math.Sqrt(max(sum, 1)))
		}
	}
	return d, nil
}

var (
	fleetPeople = strings.Fields("Ann Bob Carla Deniz Emre Farid Greta Hugo Ines Jonas Kaan Lena Mira Nils Olga Paul " +
		"Quinn Rosa Sven Tara Uwe Vera Wanda Yusuf Zoe")
	fleetThings = strings.Fields("bicycle piano kettle passport telescope camera tent ladder violin umbrella suitcase " +
		"lamp printer kayak guitar helmet carpet mirror drill sofa oven clock heater toolbox")
	fleetKinds  = strings.Fields("blue red old new broken borrowed wooden heavy tiny green silver spare rented painted folding")
	fleetPlaces = strings.Fields("garage cellar attic office garden kitchen station library school workshop harbour " +
		"hotel museum bakery gym clinic cabin market")
	fleetMonths = strings.Fields("January February March April May June July August September October November December")
)

// fleetTurn is memory n of end user u and a question that it answers.
func fleetTurn(u, n int) (content, question string) {
	r := rand.New(rand.NewPCG(uint64(u), uint64(n)))
	of := func(list []string) string { return list[r.IntN(len(list))] }
	who, kind, thing, place := of(fleetPeople), of(fleetKinds), of(fleetThings), of(fleetPlaces)
	return fmt.Sprintf("%s left the %s %s at the %s on %d %s, and asked to be reminded of the %s before the trip to the "+
			"%s with %s.",
			who, kind, thing, place, 1+r.IntN(28), of(fleetMonths), of(fleetThings), of(fleetPlaces), of(fleetPeople)),
		fmt.Sprintf("where did %s leave the %s %s", who, kind, thing)
}

func fleetUser(u int) string { return fmt.Sprintf("user-%07d", u) }

// makeFleet writes a fleet's end users to a store as the service would have
// written them, unless they are there.
func makeFleet(t testing.TB, dir string, users int) {
	t.Helper()
	ctx := context.Background()
	store, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	issued, err := key.New(key.Settings{Store: store, Log: slog.New(slog.DiscardHandler), Now: time.Now}).Issue(ctx,
		key.Issue{Name: "fleet", Kind: ident.Integration, Integration: "fleet", Quotas: &ident.Quotas{}})
	if err != nil {
		t.Fatal(err)
	}
	var at func(u int) port.Partition
	made := false
	if err := store.View(ctx, func(r port.Reader) error {
		o, err := r.OrganizationByName(ctx, ident.DefaultOrg)
		if err != nil {
			return err
		}
		at = func(u int) port.Partition { return port.Memories(o.ID, issued.Integration, fleetUser(u)) }
		_, err = r.Partition(ctx, at(users-1))
		made = err == nil
		if fault.CodeOf(err) == fault.NamespaceNotFound {
			err = nil
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if made {
		return
	}
	model := hashedWords{coretest.NewEmbedder()}
	info := model.Info()
	stamp := namespace.Models{Embedding: &info, Chunker: chunk.Version, Now: time.Now}.WithConfiguredModels
	const atOnce = 20
	type batch struct {
		from int
		docs [][]port.DocumentWrite
	}
	began := time.Now()
	ready := make(chan batch, 4)
	go func() { // texts and vectors are made beside the writing
		defer close(ready)
		for from := 0; from < users; from += atOnce {
			b := batch{from: from}
			for u := from; u < min(from+atOnce, users); u++ {
				docs, texts := make([]port.DocumentWrite, perUser), make([]string, perUser)
				for n := range docs {
					texts[n], _ = fleetTurn(u, n)
				}
				dense, _ := model.Embed(ctx, port.Passage, texts)
				for n, text := range texts {
					d := port.Document{
						ID:         fmt.Sprintf("mem_%07d%04d", u, n),
						Text:       text,
						TextHash:   sha256.Sum256([]byte(text)),
						ContentKey: sha256.Sum256([]byte(text)),
						Metadata:   []byte(`{"channel":"chat"}`),
						Origin:     port.Origin{Kind: "api", KeyID: issued.ID},
						Chunks:     []port.Chunk{{End: len(text)}},
						CreatedAt:  time.Unix(int64(1_700_000_000+n*7200), 0),
					}
					if n%2 == 0 {
						d.Container = fmt.Sprintf("thread-%d", n%3)
					}
					docs[n] = port.DocumentWrite{Document: d,
						Vectors: port.Vectors{Dense: port.Dense{Dim: dense.Dim, Data: dense.Row(n)}}}
				}
				b.docs = append(b.docs, docs)
			}
			ready <- b
		}
	}()
	for b := range ready {
		if err := store.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
			for i, docs := range b.docs {
				p := at(b.from + i)
				ns, err := w.CreatePartition(ctx, p, stamp(port.PartitionRow{Name: p.Name()}))
				if err == nil {
					_, err = w.PutDocuments(ctx, p.At(ns.Generation), time.Now(), docs)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			for range ready { // lets the maker end
			}
			t.Fatal(err)
		}
	}
	t.Logf("%d end users of %d memories written in %v", users, perUser, time.Since(began).Round(time.Millisecond))
}

// fleet is a server over a fleet.
type fleet struct {
	*server
	users int
	index *embedded.Index
	at    func(u int) port.Partition
}

func startFleet(t testing.TB, dir string, users, memoryMB int) *fleet {
	t.Helper()
	f := &fleet{users: users}
	b := laptop
	b.change = embeddedAs(func(c *embedded.Config) {
		*c = embedded.Default()
		if memoryMB > 0 {
			c.MemoryMB = memoryMB
		}
	})
	open := func(c *engine.Config) {
		f.index = c.Indexes[port.Vector].(*coretest.Index).Index.(*embedded.Index)
	}
	began := time.Now()
	f.server = start(t, b, options{dir: dir, embedder: hashedWords{coretest.NewEmbedder()}, engine: open}).integration("fleet",
		nil)
	t.Logf("%d end users: started in %v", users, time.Since(began).Round(time.Millisecond))
	ctx := context.Background()
	if err := f.store.View(ctx, func(r port.Reader) error {
		o, err := r.OrganizationByName(ctx, ident.DefaultOrg)
		if err != nil {
			return err
		}
		in, err := r.IntegrationByName(ctx, o.ID, "fleet")
		f.at = func(u int) port.Partition { return port.Memories(o.ID, in.ID, fleetUser(u)) }
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return f
}

// asks searches an end user's memories for one of them, the rank of which is
// returned with the answer and how long it took.
func (f *fleet) asks(u, n int) (found []object, rank int, took time.Duration) {
	f.t.Helper()
	content, question := fleetTurn(u, n)
	began := time.Now()
	r := f.post("/api/v1/search", object{"endUserId": fleetUser(u), "query": question}).ok()
	took = time.Since(began)
	found = r.list("results")
	return found, slices.IndexFunc(found, func(o object) bool { return o["matchedContent"] == content }), took
}

// forget takes an end user's index out of memory.
func (f *fleet) forget(u int) time.Duration {
	f.t.Helper()
	ctx := context.Background()
	p := f.at(u)
	if err := f.store.View(ctx, func(r port.Reader) error {
		ns, err := r.Partition(ctx, p)
		p = p.At(ns.Generation)
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
	began := time.Now()
	if err := f.index.Drop(ctx, p); err != nil {
		f.t.Fatal(err)
	}
	return time.Since(began)
}

// TestMemoryFleetUnderPressure searches three hundred end users, in turn and
// side by side, with memory for a few of them: every answer is the one of an
// index that holds them all, and the index stays within its memory.
func TestMemoryFleetUnderPressure(t *testing.T) {
	t.Parallel()
	const users, clients = 300, 4
	dir := t.TempDir()
	makeFleet(t, dir, users)
	roomy := startFleet(t, dir, users, 0)
	want := make([][]object, users)
	for u := range users {
		var rank int
		if want[u], rank, _ = roomy.asks(u, u%perUser); rank < 0 || rank > 2 {
			t.Errorf("user %d: the memory asked for is at %d", u, rank)
		}
	}
	if st := roomy.index.Stats(); st.Evictions != 0 || st.Partitions != users || st.Bytes < 5<<20 {
		t.Fatalf("the index with room: %+v", st)
	}
	roomy.close()

	const budget = 4 // MB
	f := startFleet(t, dir, users, budget)
	within := func() {
		if st := f.index.Stats(); st.Bytes > budget<<20 {
			t.Errorf("%d bytes in %d partitions, with memory for %d", st.Bytes, st.Partitions, budget<<20)
		}
	}
	for u := range users {
		if got, _, _ := f.asks(u, u%perUser); !reflect.DeepEqual(got, want[u]) {
			t.Fatalf("user %d: %v, want %v", u, got, want[u])
		}
		within()
	}
	var wg sync.WaitGroup
	for c := range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewPCG(uint64(c), 4))
			for range users / 3 {
				u := r.IntN(users)
				_, question := fleetTurn(u, u%perUser)
				got, err := f.send(context.Background(), "POST", "/api/v1/search",
					object{"endUserId": fleetUser(u), "query": question})
				if err != nil || got.status != 200 {
					t.Errorf("user %d: %v %v", u, got, err)
					return
				}
				if found := got.list("results"); !reflect.DeepEqual(found, want[u]) {
					t.Errorf("user %d: %v, want %v", u, found, want[u])
					return
				}
				within()
			}
		}()
	}
	wg.Wait()
	if st := f.index.Stats(); st.Evictions < users {
		t.Errorf("%d evictions", st.Evictions)
	}
}

// resident is the process's memory in MiB; 0 where the system does not say.
func resident() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseFloat(kb, 64)
	return n / 1024
}

// timings are of one fleet, in milliseconds.
type timings []float64

func (l *timings) add(d time.Duration) { *l = append(*l, float64(d.Nanoseconds())/1e6) }

func (l timings) report(b *testing.B, what string, users int) {
	slices.Sort(l)
	b.ReportMetric(l[len(l)/2], fmt.Sprintf("%s-p50-ms/%d", what, users))
	b.ReportMetric(l[len(l)*95/100], fmt.Sprintf("%s-p95-ms/%d", what, users))
}

// BenchmarkMemoryFleet searches end users of fifty memories over HTTP in fleets
// of ten, a thousand or as many as MNEME_FLEET lists. The fleets take turns, a
// request each, so that what else the machine does falls on all alike.
// MNEME_FLEET_DIR keeps them for the next run; 100,000 end users take 7 GB.
//
//	MNEME_FLEET=10,1000,10000,100000 go test ./cmd/mneme/test/api -run - -bench MemoryFleet -benchtime 3000x -timeout 1h
//
// Of warm searches the end user is one of a hundred from all over the fleet, who
// have searched before; of cold ones the index holds nothing of the end user;
// forget takes one out of memory who has just searched; a zipf mix asks any end
// user, the first far more often than the last. From 6,000 searches of each on a
// large fleet passes the memory budget; how much memory the process takes says
// something where it serves one fleet only.
func BenchmarkMemoryFleet(b *testing.B) {
	sizes, list := []int(nil), os.Getenv("MNEME_FLEET")
	if list == "" {
		list = "10,1000"
	}
	for v := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(v)
		if err != nil || n <= 0 {
			b.Fatalf("MNEME_FLEET: %q", v)
		}
		sizes = append(sizes, n)
	}
	root := os.Getenv("MNEME_FLEET_DIR")
	if root == "" {
		root = b.TempDir()
	}
	fleets := make([]*fleet, len(sizes))
	for i, n := range sizes {
		dir := filepath.Join(root, strconv.Itoa(n))
		makeFleet(b, dir, n)
		fleets[i] = startFleet(b, dir, n, 0)
	}
	b.Logf("%.0f MiB resident after the start", resident())
	memory := func(b *testing.B) {
		for _, f := range fleets {
			b.ReportMetric(float64(f.index.Stats().Bytes)/(1<<20), fmt.Sprintf("index-MiB/%d", f.users))
		}
		b.ReportMetric(resident(), "resident-MiB")
		b.ReportMetric(0, "ns/op") // of all fleets together: says nothing
	}
	r := rand.New(rand.NewPCG(8, 1))
	each := func(name string, pick func(f *fleet, turn int) int) {
		b.Run(name, func(b *testing.B) {
			took, missed := make([]timings, len(fleets)), 0
			for turn := 0; b.Loop(); turn++ {
				for i := range fleets {
					f := fleets[(i+turn)%len(fleets)]
					_, rank, d := f.asks(pick(f, turn), r.IntN(perUser))
					took[(i+turn)%len(fleets)].add(d)
					if rank < 0 {
						missed++
					}
				}
			}
			if missed*20 > len(took)*len(took[0]) {
				b.Errorf("%d of %d searches did not find what was asked for", missed, len(took)*len(took[0]))
			}
			for i, f := range fleets {
				took[i].report(b, "search", f.users)
			}
			memory(b)
		})
	}
	warm := func(f *fleet, turn int) int { return turn % 100 * max(1, f.users/100) % f.users }
	for _, f := range fleets {
		for turn := range 100 {
			f.asks(warm(f, turn), 0)
		}
	}
	each("warm", warm)
	each("cold", func(f *fleet, turn int) int {
		u := (turn*7919 + 13) % f.users
		f.forget(u)
		return u
	})
	b.Run("forget", func(b *testing.B) {
		took, turn := make([]timings, len(fleets)), 0
		for b.Loop() {
			for i, f := range fleets {
				u := (turn*7919 + 17) % f.users
				f.asks(u, 0)
				took[i].add(f.forget(u))
			}
			turn++
		}
		for i, f := range fleets {
			took[i].report(b, "forget", f.users)
		}
		b.ReportMetric(0, "ns/op")
	})
	each("zipf", func(f *fleet, _ int) int {
		return int(rand.NewZipf(r, 1.1, 1, uint64(f.users-1)).Uint64())
	})
	each("warm-again", warm)
}
