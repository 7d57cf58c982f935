package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// childEnv names what a copy of the test binary does instead of testing, and
// on which data directory.
const childEnv = "MNEME_SQLITE_TEST_CHILD"

func TestMain(m *testing.M) {
	role, dir, ok := strings.Cut(os.Getenv(childEnv), ":")
	if !ok {
		os.Exit(m.Run())
	}
	var err error
	switch role {
	case "write":
		err = childWrite(dir)
	case "keys":
		err = childKeys(dir)
	case "erase":
		err = childErase(dir)
	case "open":
		_, err = sqlite.Open(context.Background(), dir, sqlite.Options{})
	}
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func child(t *testing.T, role, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+role+":"+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// versioned is a document that says its version in all of its parts.
func versioned(id string, version int) port.DocumentWrite {
	body := strings.Repeat(fmt.Sprintf("%s %d ", id, version), 1+version%400)
	d := port.Document{
		ID:       id,
		Text:     body,
		TextHash: sha256.Sum256([]byte(body)),
		Metadata: []byte(fmt.Sprintf(`{"v":%d}`, version)),
	}
	chunks := 1 + version%5
	v := port.Dense{Dim: benchDim, Data: make([]float32, chunks*benchDim)}
	for i := range chunks {
		d.Chunks = append(d.Chunks, port.Chunk{Start: 0, End: len(body), Hash: [16]byte{byte(i)}})
		v.Row(i)[0] = float32(version % 1000)
	}
	return port.DocumentWrite{Document: d, Vectors: port.Vectors{Dense: v}}
}

func ensure(ctx context.Context, s port.DocumentStore, name string) (p port.Partition, err error) {
	err = s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		o, err := w.OrganizationByName(ctx, ident.DefaultOrg)
		if err != nil {
			return err
		}
		p = port.Documents(o.ID, name)
		if _, err := w.Partition(ctx, p); !fault.IsPartitionNotFound(err) {
			return err
		}
		_, err = w.CreatePartition(ctx, p, port.PartitionRow{Dimensions: benchDim, CreatedAt: time.Now()})
		return err
	})
	return p, err
}

func write(ctx context.Context, s port.DocumentStore, p port.Partition, docs ...port.DocumentWrite) error {
	return s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		_, err := w.PutDocuments(ctx, p, time.Now(), docs)
		return err
	})
}

func remove(ctx context.Context, s port.DocumentStore, p port.Partition, ids ...string) error {
	return s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		_, _, _, err := w.DeleteDocuments(ctx, p, time.Now(), ids)
		return err
	})
}

// pair are the documents that write n of goroutine g of a child touches; every
// seventh write deletes them.
func pair(g, n int) (ids [2]string, version int) {
	ids = [2]string{fmt.Sprintf("g%d-a%d", g, n%20), fmt.Sprintf("g%d-b%d", g, n%20)}
	if n%7 == 0 {
		return ids, -1
	}
	return ids, n
}

// childWrite writes until it is killed. It says which write begins, and which
// is done once Update has acknowledged it.
func childWrite(dir string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		return err
	}
	p, err := ensure(ctx, s, "docs")
	if err != nil {
		return err
	}
	start := rand.IntN(1e6)
	errs := make(chan error)
	for g := range 6 {
		go func() {
			for n := start; ; n++ {
				ids, version := pair(g, n)
				fmt.Printf("begin %d %d\n", g, n)
				var err error
				if version < 0 {
					err = remove(ctx, s, p, ids[:]...)
				} else {
					err = write(ctx, s, p, versioned(ids[0], version), versioned(ids[1], version))
				}
				if err != nil {
					errs <- err
					return
				}
				fmt.Printf("done %d %d\n", g, n)
			}
		}()
	}
	return <-errs
}

// TestKill kills a writing process at random moments. What it acknowledged is
// there whole, what it did not is there whole or not at all, two documents of
// one call stand and fall together, and the counts are right.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	have, total := map[string]int{}, 0
	state := func(m map[string]int, id string) int {
		if v, ok := m[id]; ok {
			return v
		}
		return -1
	}
	for round := range rounds {
		cmd, out := child(t, "write", dir)
		var kill *time.Timer
		acked, begun := have, map[string]int{}
		done := 0
		for out.Scan() {
			if kill == nil {
				kill = time.AfterFunc(time.Duration(rand.IntN(200))*time.Millisecond, func() { _ = cmd.Process.Kill() })
			}
			var what string
			var g, n int
			if _, err := fmt.Sscanf(out.Text(), "%s %d %d", &what, &g, &n); err != nil {
				t.Fatalf("child: %s", out.Text())
			}
			ids, version := pair(g, n)
			for _, id := range ids {
				if what == "begin" {
					begun[id] = version
				} else {
					acked[id] = version
					delete(begun, id)
					done++
				}
			}
		}
		_ = cmd.Wait()
		total += done

		s, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		p, err := ensure(t.Context(), s, "docs")
		if err != nil {
			t.Fatal(err)
		}
		have = audit(t, s, p)
		for g := range 6 {
			for n := range 20 {
				ids, _ := pair(g, n)
				for _, id := range ids {
					v := state(have, id)
					if next, open := begun[id]; v != state(acked, id) && !(open && v == next) {
						t.Errorf("round %d: %s is at %d; %d was acknowledged, then %d begun (%v)", round, id, v,
							state(acked, id), next, open)
					}
				}
				if state(have, ids[0]) != state(have, ids[1]) {
					t.Errorf("round %d: half a call: %s is at %d, %s at %d", round, ids[0], state(have, ids[0]), ids[1],
						state(have, ids[1]))
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		integrity(t, dir)
	}
	t.Logf("%d kills, %d acknowledged changes of documents", rounds, total)
	if total == 0 {
		t.Error("nothing was ever acknowledged")
	}
}

// audit reads everything, checks that each document is whole and the counts
// are right, and gives the versions.
func audit(t *testing.T, s port.DocumentStore, p port.Partition) map[string]int {
	t.Helper()
	ctx := t.Context()
	have := map[string]int{}
	if err := s.View(ctx, func(r port.Reader) error {
		n, err := r.Partition(ctx, p)
		if err != nil {
			return err
		}
		docs, err := r.ListDocuments(ctx, p, port.DocumentList{Limit: 1e6, Parts: 7})
		if err != nil {
			return err
		}
		vectors, err := r.Vectors(ctx, p, slices.Collect(func(yield func(string) bool) {
			for _, d := range docs {
				if !yield(d.ID) {
					return
				}
			}
		}))
		if err != nil {
			return err
		}
		var chunks, size int64
		for _, d := range docs {
			var v int
			if _, err := fmt.Sscanf(string(d.Metadata), `{"v":%d}`, &v); err != nil {
				return err
			}
			want := versioned(d.ID, v)
			vec := vectors[d.ID].Dense
			if d.Text != want.Document.Text || d.TextHash != want.Document.TextHash ||
				len(d.Chunks) != len(want.Document.Chunks) ||
				len(vec.Data) != len(want.Vectors.Dense.Data) || vec.Data[0] != want.Vectors.Dense.Data[0] {
				t.Errorf("%s version %d is not whole", d.ID, v)
			}
			have[d.ID] = v
			chunks += int64(len(d.Chunks))
			size += int64(len(d.Text))
		}
		if n.Documents != int64(len(docs)) || n.Chunks != chunks || n.Bytes != size {
			t.Errorf("counts %d, %d, %d; want %d, %d, %d", n.Documents, n.Chunks, n.Bytes, len(docs), chunks, size)
		}
		live := map[string]bool{}
		log, err := r.Changes(ctx, p, 0, 1e6)
		for _, c := range log {
			if c.Seq > n.Seq {
				t.Errorf("change %d past %d", c.Seq, n.Seq)
			}
			if !c.Deleted {
				live[c.Document] = true
			}
		}
		if len(live) != len(docs) {
			t.Errorf("the change log holds %d live documents, want %d", len(live), len(docs))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return have
}

// raw opens the database file beside the store.
func raw(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "mneme.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func integrity(t *testing.T, dir string) {
	t.Helper()
	db := raw(t, dir)
	for _, check := range []string{"integrity_check", "foreign_key_check"} {
		var result string
		err := db.QueryRow("PRAGMA " + check).Scan(&result)
		if check == "integrity_check" && (err != nil || result != "ok") ||
			check == "foreign_key_check" && !errors.Is(err, sql.ErrNoRows) {
			t.Errorf("%s: %q, %v", check, result, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// wantUnavailable fails unless err is a fault a client may retry.
func wantUnavailable(t *testing.T, what string, err error) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.Unavailable || f.RetryAfter <= 0 {
		t.Errorf("%s: got %v, want fault unavailable with RetryAfter", what, err)
	}
}

// TestFullDisk fills a small disk with small calls from many, then with one
// call larger than the page cache, which meets the end of the disk in the
// middle of its statements.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, 24<<20)
	ctx := t.Context()
	s := open(t, dir)
	p, err := ensure(ctx, s, "docs")
	if err != nil {
		t.Fatal(err)
	}
	if err := write(ctx, s, p, versioned("first", 1)); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 12<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	big := make([]port.DocumentWrite, 100)
	for i := range big {
		text := strings.Repeat("x", 250<<10)
		big[i] = port.DocumentWrite{Document: port.Document{ID: fmt.Sprintf("big%d", i), Text: text}}
	}
	err = write(ctx, s, p, big...)
	wantUnavailable(t, "a call larger than the disk", err)
	if err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("message does not say that the disk is full: %v", err)
	}
	if err := write(ctx, s, p, versioned("after", 2)); err != nil {
		t.Errorf("a small call after the large one: %v", err)
	}

	var mu sync.Mutex
	acked := map[string]int{"first": 1, "after": 2}
	failures := 0
	fillUp := func(round int) {
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for n := range 1000 {
					id := fmt.Sprintf("r%d-g%d-%d", round, g, n)
					err := write(ctx, s, p, versioned(id, 399))
					mu.Lock()
					if err == nil {
						acked[id] = 399
					} else {
						failures++
						wantUnavailable(t, id, err)
					}
					mu.Unlock()
					if err != nil {
						return
					}
				}
			})
		}
		wg.Wait()
	}
	fillUp(1)
	if failures == 0 {
		t.Fatal("the disk did not fill up")
	}
	err = s.Ping(ctx)
	wantUnavailable(t, "Ping on the full disk", err)
	if err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("Ping does not say that the disk is full: %v", err)
	}
	if have := audit(t, s, p); !maps.Equal(have, acked) {
		t.Errorf("%d documents on the full disk, %d acknowledged", len(have), len(acked))
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(ctx); err != nil {
		t.Errorf("Ping once there is space: %v", err)
	}
	for n := range 50 {
		id := fmt.Sprintf("again-%d", n)
		if err := write(ctx, s, p, versioned(id, n)); err != nil {
			t.Fatalf("write once there is space: %v", err)
		}
		acked[id] = n
	}
	if have := audit(t, s, p); !maps.Equal(have, acked) {
		t.Errorf("%d documents, %d acknowledged", len(have), len(acked))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	if have := audit(t, s, p); !maps.Equal(have, acked) {
		t.Errorf("reopened: %d documents, %d acknowledged", len(have), len(acked))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	integrity(t, dir)
}

// TestLostTransaction has one function of a shared commit lose the whole
// transaction, either while it runs (its pages no longer fit the cache and meet
// the end of the disk) or at the commit; the others run again and are kept.
func TestLostTransaction(t *testing.T) {
	dir := smallDisk(t, 24<<20)
	ctx := t.Context()
	s := open(t, dir)
	p, err := ensure(ctx, s, "docs")
	if err != nil {
		t.Fatal(err)
	}
	if err := write(ctx, s, p, versioned("first", 1)); err != nil {
		t.Fatal(err)
	}
	acked := map[string]int{"first": 1}
	errSecond := errors.New("ran again")
	var mu sync.Mutex
	runs := 0
	for _, size := range []int{250, 110, 250, 110} {
		var wg sync.WaitGroup
		started := make(chan struct{})
		var once sync.Once
		wg.Go(func() { // holds the turn until all others are likely queued
			_ = s.UpdateDocuments(ctx, func(port.DocumentWriter) error {
				once.Do(func() { close(started) })
				time.Sleep(10 * time.Millisecond)
				return nil
			})
		})
		<-started
		for g := range 8 {
			wg.Go(func() {
				if g == 4 {
					text := strings.Repeat("x", 250<<10)
					docs := make([]port.DocumentWrite, size)
					for i := range docs {
						docs[i] = port.DocumentWrite{Document: port.Document{ID: fmt.Sprintf("big%d", i), Text: text}}
					}
					wantUnavailable(t, "too large", write(ctx, s, p, docs...))
					return
				}
				id := fmt.Sprintf("small-%d", g)
				tries := 0
				err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
					mu.Lock()
					runs++
					mu.Unlock()
					if tries++; g == 5 && tries > 1 {
						return errSecond
					}
					_, err := w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{versioned(id, g)})
					return err
				})
				if err == errSecond { // alone too, it fails alone
					return
				}
				if err != nil {
					t.Errorf("%s: %v", id, err)
				}
				mu.Lock()
				acked[id] = g
				mu.Unlock()
			})
		}
		wg.Wait()
	}
	if runs == 28 {
		t.Error("28 small functions ran 28 times: no transaction was lost")
	}
	if have := audit(t, s, p); !maps.Equal(have, acked) {
		t.Errorf("have %v, want %v", have, acked)
	}
}

func fileSum(t *testing.T, path string) [32]byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(b)
}

// made is a directory with a closed database of two documents.
func made(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := ensure(t.Context(), s, "docs")
	if err == nil {
		err = write(t.Context(), s, p, versioned("a", 1), versioned("b", 2))
	}
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestNewerSchema(t *testing.T) {
	dir := made(t)
	known, err := bunsql.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	db := raw(t, dir)
	if _, err := db.Exec(`INSERT INTO schema_migrations VALUES (999, 'future', 'x', 0)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before := fileSum(t, filepath.Join(dir, "mneme.db"))
	_, err = sqlite.Open(t.Context(), dir, sqlite.Options{})
	if !errors.Is(err, bunsql.ErrNewerSchema) || !strings.Contains(err.Error(), "999") ||
		!strings.Contains(err.Error(), strconv.Itoa(len(known))) {
		t.Errorf("got %v, want a refusal naming versions 999 and %d", err, len(known))
	}
	if fileSum(t, filepath.Join(dir, "mneme.db")) != before {
		t.Error("the refused database was changed")
	}
}

func TestAlteredSchema(t *testing.T) {
	dir := made(t)
	db := raw(t, dir)
	if _, err := db.Exec(`UPDATE schema_migrations SET checksum = 'other' WHERE version = 1`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err := sqlite.Open(t.Context(), dir, sqlite.Options{}); err == nil {
		_ = s.Close()
		t.Error("opened a database whose schema step differs")
	}
}

func TestForeignFile(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"text": func(path string) error {
			return os.WriteFile(path, bytes.Repeat([]byte("not a database "), 1000), 0o600)
		},
		"another program's database": func(path string) error {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				return err
			}
			_, err = db.Exec(`PRAGMA application_id = 7; CREATE TABLE notes (id INTEGER PRIMARY KEY); INSERT INTO notes ` +
				`VALUES (1)`)
			return errors.Join(err, db.Close())
		},
		"a database without a mark": func(path string) error {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				return err
			}
			_, err = db.Exec(`CREATE TABLE documents (id INTEGER PRIMARY KEY)`)
			return errors.Join(err, db.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "mneme.db")
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			before := fileSum(t, path)
			s, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
			if err == nil {
				_ = s.Close()
			}
			if !errors.Is(err, sqlite.ErrForeign) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want a refusal naming the file", err)
			}
			if fileSum(t, path) != before {
				t.Error("the refused file was changed")
			}
		})
	}
}

func TestReadOnlyDirectory(t *testing.T) {
	for name, dir := range map[string]string{"empty": t.TempDir(), "with a database": made(t)} {
		t.Run(name, func(t *testing.T) {
			dir := readOnly(t, dir)
			for _, o := range []sqlite.Options{{}, {Shared: true}} {
				s, err := sqlite.Open(t.Context(), dir, o)
				if err == nil {
					_ = s.Close()
				}
				if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), dir) {
					t.Errorf("shared %v: got %v, want fault unavailable naming the directory", o.Shared, err)
				}
			}
		})
	}
}

func TestTwoServers(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	cmd, out := child(t, "open", dir)
	text := ""
	for out.Scan() {
		text += out.Text()
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(text, fmt.Sprintf("process %d;", os.Getpid())) ||
		!strings.Contains(text, dir) {
		t.Errorf("second process: %v, %q; want a refusal naming directory and process %d", err, text, os.Getpid())
	}
	if _, err := sqlite.Open(t.Context(), dir, sqlite.Options{}); !errors.Is(err, sqlite.ErrLocked) {
		t.Errorf("the same process again: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir) // free again
}

// childKeys makes and revokes keys beside a running server.
func childKeys(dir string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, dir, sqlite.Options{Shared: true})
	if err != nil {
		return err
	}
	var org ident.Org
	if err := s.View(ctx, func(r port.Reader) error {
		o, err := r.OrganizationByName(ctx, ident.DefaultOrg)
		org = o.ID
		return err
	}); err != nil {
		return err
	}
	var worst time.Duration
	for i := range 40 {
		id := fmt.Sprintf("key_%d", i)
		start := time.Now()
		if err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
			return w.PutKey(ctx, port.Key{
				ID:        id,
				Org:       org,
				Kind:      ident.Service,
				Hash:      sha256.Sum256([]byte(id)),
				CreatedAt: start,
			})
		}); err != nil {
			return err
		}
		if err := s.UpdateDocuments(ctx,
			func(w port.DocumentWriter) error { return w.RevokeKey(ctx, org, id, time.Now()) }); err != nil {
			return err
		}
		worst = max(worst, time.Since(start))
	}
	fmt.Println("slowest pair of calls", worst)
	return s.Close()
}

// TestKeysBesideServer has another process change keys while this one writes
// as fast as it can: neither sees the other's lock.
func TestKeysBesideServer(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	ctx := t.Context()
	p, err := ensure(ctx, s, "docs")
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	writes, worst := 0, time.Duration(0)
	for g := range 4 {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				start := time.Now()
				if err := write(ctx, s, p, versioned(fmt.Sprintf("g%d-%d", g, n%50), n)); err != nil {
					t.Errorf("write: %v", err)
					return
				}
				mu.Lock()
				writes++
				worst = max(worst, time.Since(start))
				mu.Unlock()
			}
		})
	}
	cmd, out := child(t, "keys", dir)
	for out.Scan() {
		t.Logf("other process: %s", out.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("other process: %v", err)
	}
	close(stop)
	wg.Wait()
	t.Logf("this process: %d writes, the slowest %v", writes, worst)
	if err := s.View(ctx, func(r port.Reader) error {
		keys, err := r.Keys(ctx, p.Org(), port.KeyList{})
		for _, k := range keys {
			if k.RevokedAt.IsZero() {
				t.Errorf("%s is not revoked", k.ID)
			}
		}
		if len(keys) != 40 {
			t.Errorf("%d keys, want 40", len(keys))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func rows(t *testing.T, dir string) (n int) {
	t.Helper()
	db := raw(t, dir)
	defer db.Close()
	if err := db.QueryRow(`SELECT (SELECT count(*) FROM documents) + (SELECT count(*) FROM vectors) + (SELECT count(*) ` +
		`FROM tombstones) + (SELECT count(*) FROM namespaces)`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPurge deletes a namespace, closes the store at once and opens it again:
// the rest of the documents goes then, while other writes go on.
func TestPurge(t *testing.T) {
	dir := t.TempDir()
	ctx := t.Context()
	s, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := ensure(ctx, s, "docs")
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s, p, 4000)
	if err := remove(ctx, s, p, "doc-00000001", "doc-00000002"); err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		_, err := w.DeletePartition(ctx, p)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if rows(t, dir) == 0 {
		t.Fatal("nothing was left to resume")
	}
	s = open(t, dir)
	other, err := ensure(ctx, s, "docs")
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	n := 0
	for ; rows(t, dir) > 2*min(n, 10)+1; n++ {
		if time.Now().After(deadline) {
			t.Fatalf("%d rows are left", rows(t, dir))
		}
		if err := write(ctx, s, other, versioned(fmt.Sprintf("new-%d", n%10), n)); err != nil {
			t.Fatal(err)
		}
	}
	if have := audit(t, s, other); len(have) != min(n, 10) {
		t.Errorf("%d documents in the new life, want %d", len(have), min(n, 10))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	integrity(t, dir)
}

// TestSecureDelete looks for a deleted text in the files.
func TestSecureDelete(t *testing.T) {
	dir := t.TempDir()
	ctx := t.Context()
	s, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := ensure(ctx, s, "docs")
	if err != nil {
		t.Fatal(err)
	}
	const secret = "the-secret-recipe"
	d := versioned("a", 1)
	d.Document.Text = strings.Repeat(secret+" ", 3000)
	if err := errors.Join(write(ctx, s, p, d, versioned("b", 1)), remove(ctx, s, p, "a"), s.Close()); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range files {
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(f)
		if err != nil || bytes.Contains(b, []byte(secret)) {
			t.Errorf("%s still holds the deleted text (%v)", e.Name(), err)
		}
		_ = f.Close()
	}
}

// texts are those of all documents of some partitions. A partition that is not there has none.
func texts(t *testing.T, s port.DocumentStore, parts ...port.Partition) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, p := range parts {
		err := s.View(t.Context(), func(r port.Reader) error {
			docs, err := r.ListDocuments(t.Context(), p,
				port.DocumentList{Limit: 1000, Order: port.ByCreated, Parts: port.PartText | port.PartChunks})
			if fault.IsPartitionNotFound(err) {
				return nil
			}
			for _, d := range docs {
				all[d.ID] = d.Text
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}
