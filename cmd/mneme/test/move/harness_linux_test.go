package move_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// pg is the PostgreSQL of all tests.
var pg *postgrestest.Server

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	pg = postgrestest.Start()
	defer pg.Stop()
	return harness.Main(m)
}

// config writes a configuration file with a data folder of its own and answers
// its path.
func config(t testing.TB, storage string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "mneme.yaml")
	body := "data_dir: " + filepath.Join(dir, "data") + "\nstorage: " + storage + "\n"
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func lite(t testing.TB) string { return config(t, "{sqlite: {}}") }

func postgres(t testing.TB) string {
	return config(t, fmt.Sprintf("{postgres: {dsn: %q}}", pg.Database(t)))
}

// data is the data folder of a configuration.
func data(config string) string { return filepath.Join(filepath.Dir(config), "data") }

// mneme wants the command to succeed.
func mneme(t testing.TB, args ...string) harness.Result {
	t.Helper()
	return (&harness.Site{T: t}).Mneme(args...)
}

// refused wants the command to fail and to say all of words.
func refused(t testing.TB, words []string, args ...string) {
	t.Helper()
	r := (&harness.Site{T: t}).Run(args...)
	if r.Code == 0 {
		t.Errorf("mneme %s: it succeeded\n%s%s", strings.Join(args, " "), r.Stdout, r.Stderr)
	}
	for _, w := range words {
		if !strings.Contains(r.Stderr, w) {
			t.Errorf("mneme %s: it does not say %q:\n%s", strings.Join(args, " "), w, r.Stderr)
		}
	}
}

// killed runs a command and kills it after a while; over says that it had ended
// by itself, which is a failure unless it succeeded.
func killed(t testing.TB, after time.Duration, args ...string) (over bool) {
	t.Helper()
	return killedUnless(t, after, "", args...)
}

// killedUnless is killed of a command that may refuse in these words because it came to its end before:
// a kill between its last step and its exit looks like one in the middle. "": it may not.
func killedUnless(t testing.TB, after time.Duration, refuses string, args ...string) (over bool) {
	t.Helper()
	cmd := (&harness.Site{T: t}).Command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(after, func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
	err := cmd.Wait()
	kill.Stop()
	if err == nil {
		return true
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		if refuses != "" && strings.Contains(stderr.String(), refuses) {
			return true
		}
		t.Fatalf("mneme %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return false
}

// serve serves an installation until the end of the test.
func serve(t testing.TB, config string) *harness.Server {
	t.Helper()
	return (&harness.Site{T: t, Config: config}).Serve()
}

// stop ends a server in order.
func stop(t testing.TB, s *harness.Server) {
	t.Helper()
	if err := s.Stop(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

type object = harness.Object

// settled is an answer without what differs from call to call.
func settled(t testing.TB, body []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case object:
			for name, of := range v {
				if strings.HasPrefix(name, "took") || name == "request_id" || name == "requestId" ||
					strings.Contains(name, "ursor") || name == "timings" {
					delete(v, name)
				}
				strip(of)
			}
		case []any:
			for _, of := range v {
				strip(of)
			}
		}
	}
	strip(v)
	out, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// set is what a data set says of each partition, by its opening line, and the
// rest of its lines.
type set struct {
	ends  map[string]object
	lines map[string]int
	bytes []byte
}

func readSet(t testing.TB, path string) set {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".gz") {
		zip, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if raw, err = io.ReadAll(zip); err != nil {
			t.Fatal(err)
		}
	}
	s := set{map[string]object{}, map[string]int{}, raw}
	open := ""
	for line := range bytes.Lines(raw) {
		var l struct {
			Type string
			Data json.RawMessage
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		s.lines[l.Type]++
		switch l.Type {
		case "partition":
			open = string(l.Data)
		case "end":
			var end object
			if err := json.Unmarshal(l.Data, &end); err != nil {
				t.Fatal(err)
			}
			delete(end, "seq") // of one installation
			delete(end, "last_seen_at")
			if _, twice := s.ends[open]; twice {
				t.Errorf("%s: %s comes twice", path, open)
			}
			s.ends[open] = end
		}
	}
	return s
}

// export writes a data set of a configuration.
func export(t testing.TB, config string, args ...string) (path string, s set) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "set.ndjson")
	mneme(t, append([]string{"export", "--config", config, "--out", path}, args...)...)
	return path, readSet(t, path)
}

// same compares what two installations hold.
func same(t testing.TB, what string, got, want set) {
	t.Helper()
	for p, end := range want.ends {
		if g := got.ends[p]; fmt.Sprint(g) != fmt.Sprint(end) {
			t.Errorf("%s: %s is %v, want %v", what, p, g, end)
		}
	}
	for p := range got.ends {
		if want.ends[p] == nil {
			t.Errorf("%s: %s is too much", what, p)
		}
	}
	if fmt.Sprint(got.lines) != fmt.Sprint(want.lines) {
		t.Errorf("%s: lines %v, want %v", what, got.lines, want.lines)
	}
}

// fill makes an installation without a model: a large namespace and small ones, an
// empty one, end users with records and stored answers. documents is how many the
// large one has.
func fill(t testing.TB, dir string, documents, users int) {
	t.Helper()
	ctx := t.Context()
	s, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	var org ident.Org
	at := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
	rnd := rand.New(rand.NewPCG(1, 2))
	update := func(fn func(port.DocumentWriter) error) {
		t.Helper()
		if err := s.UpdateDocuments(ctx, fn); err != nil {
			t.Fatal(err)
		}
	}
	const dim = 64
	document := func(id string) port.DocumentWrite {
		text := "<Text & more> of " + id + "\u2028 " + strings.Repeat("word ", rnd.IntN(100))
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(rnd.IntN(1024)) / 1024
		}
		return port.DocumentWrite{
			Document: port.Document{
				ID:           id,
				Text:         text,
				Metadata:     json.RawMessage(`{"of":"<` + id + `>","n":["a","b"]}`),
				TextHash:     sha256.Sum256([]byte(text)),
				MetadataHash: sha256.Sum256([]byte(id)),
				Chunks:       []port.Chunk{{End: len(text), Hash: [16]byte{1, 2}}},
				Origin:       port.Origin{Kind: "api", KeyID: "key_1"},
			},
			Vectors: port.Vectors{Dense: port.Dense{Dim: dim, Data: v}},
		}
	}
	row := port.PartitionRow{
		EmbeddingModel:  "test",
		EmbeddingDigest: "sha256:ab",
		Dimensions:      dim,
		Chunker:         "1",
		CreatedAt:       at,
		UpdatedAt:       at,
	}
	put := func(p port.Partition, n int, change func(*port.DocumentWrite)) {
		for from := 0; from < n; from += 100 {
			update(func(w port.DocumentWriter) error {
				if from == 0 {
					if _, err := w.CreatePartition(ctx, p, row); err != nil {
						return err
					}
				}
				for i := from; i < min(n, from+100); i += 10 { // ten documents a call
					var docs []port.DocumentWrite
					for j := i; j < min(n, i+10); j++ {
						d := document(fmt.Sprintf("doc-%06d", j))
						if change != nil {
							change(&d)
						}
						docs = append(docs, d)
					}
					if _, err := w.PutDocuments(ctx, p, at.Add(time.Duration(i)*time.Second), docs); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	err = s.View(ctx, func(r port.Reader) error {
		o, err := r.OrganizationByName(ctx, ident.DefaultOrg)
		org = o.ID
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	update(func(w port.DocumentWriter) error {
		if err := w.PutOrganization(ctx, port.Organization{ID: "org_other", Name: "other", CreatedAt: at}); err != nil {
			return err
		}
		if err := w.PutIntegration(ctx, port.Integration{ID: "int_app", Org: org, Name: "app", CreatedAt: at}); err != nil {
			return err
		}
		_, err := w.CreatePartition(ctx, port.Documents(org, "empty"),
			port.PartitionRow{Sparse: true, CreatedAt: at, UpdatedAt: at})
		return err
	})
	put(port.Documents(org, "large"), documents, nil)
	for i := range 3 {
		put(port.Documents(org, fmt.Sprintf("small-%d", i)), 5, nil)
	}
	put(port.Documents("org_other", "of-the-other"), 7, nil)
	for i := range users {
		p := port.Memories(org, "int_app", fmt.Sprintf("user-%04d", i))
		put(p, 3, func(d *port.DocumentWrite) {
			d.Document.Container, d.Document.CreatedAt = "box", at
			d.Document.Source, d.Document.ExternalID = "crm", d.Document.ID
		})
		update(func(w port.DocumentWriter) error {
			for v := int64(1); v <= 3; v++ {
				r := port.Record{
					Source:      "crm",
					ExternalID:  "doc-000000",
					Version:     v,
					Status:      port.RecordActive,
					OccurredAt:  at,
					UpdatedAt:   at,
					DocumentID:  "doc-000000",
					ContentHash: fmt.Sprint("sha256:", v),
				}
				err := w.PutRecord(ctx, p, r, port.Receipt{
					Source:      r.Source,
					ExternalID:  r.ExternalID,
					Version:     v,
					Operation:   "upsert",
					RequestHash: "h",
					Outcome:     "updated",
					OccurredAt:  at,
					AppliedAt:   at.Add(time.Second),
					DocumentID:  r.DocumentID,
					ContentHash: r.ContentHash,
				})
				if err != nil {
					return err
				}
			}
			return w.PutIdempotentReply(ctx, org, port.IdempotentReply{
				Integration: "int_app",
				Key:         "once-" + p.Name(),
				EndUser:     p.Name(),
				Answer:      json.RawMessage(`{"success":true}`),
				CreatedAt:   at,
			})
		})
	}
}
