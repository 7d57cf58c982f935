package installation_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/sqlite/sqlitetest"
	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/dataset/installation"
	"github.com/mnemehq/mneme/core/port"
)

func open(t testing.TB) port.DocumentStore {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlitetest.Dir(t), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// journal is one in memory: the generation before, of what is begun.
type journal map[dataset.Partition]int64

func (j journal) Begin(p dataset.Partition, before int64) error { j[p] = before; return nil }
func (j journal) End(p dataset.Partition) error                 { delete(j, p); return nil }

func (j journal) Started(p dataset.Partition) (before int64, begun bool) {
	before, begun = j[p]
	return before, begun
}

func importer(t testing.TB, s port.DocumentStore) *installation.Importer {
	t.Helper()
	return &installation.Importer{Store: s, Conflict: dataset.Fail, Authority: all, Journal: journal{}}
}

// all takes everything that gives rights.
var all = installation.Authority{Keys: true, AdminKeys: true, Secrets: true}

var everything = dataset.Contents{Memories: true, Vectors: true, Keys: true, Secrets: true}

// sample is a data set with a namespace, keys, an accepted write and a secret.
func sample(t testing.TB) []byte {
	t.Helper()
	s := open(t)
	ctx, at := t.Context(), time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		orgs, err := w.Organizations(ctx)
		if err != nil {
			return err
		}
		org := orgs[0].ID
		p := port.Documents(org, "docs")
		_, err = w.CreatePartition(ctx, p, port.PartitionRow{
			Embedder:        "own",
			Dimensions:      2,
			EmbeddingDigest: "sha256:aa",
			CreatedAt:       at,
			UpdatedAt:       at,
		})
		if err != nil {
			return err
		}
		text := "a < b"
		for _, err := range []error{
			w.PutKey(ctx, port.Key{
				ID: "key_1", Org: org, Kind: "service", Hash: [32]byte{1}, CreatedBy: "key_0", CreatedAt: at,
			}),
			w.PutSecret(ctx, "cursor", []byte("signs")),
			w.CreateJob(ctx, port.Job{
				ID:        "op_1",
				Org:       org,
				Kind:      port.JobWriteDocuments,
				Partition: port.Documents(org, "docs"),
				Status:    port.JobQueued,
				CreatedAt: at,
			},
				port.JobRequest{Body: []byte("{}"), Principal: []byte(`{"KeyID":"key_1","Org":"` + string(org) + `"}`)}),
			w.CreateJob(ctx, port.Job{
				ID:         "op_2",
				Org:        org,
				Kind:       port.JobWriteDocuments,
				Partition:  port.Documents(org, "docs"),
				Status:     port.JobSucceeded,
				CreatedAt:  at,
				FinishedAt: at,
				ExpiresAt:  at,
			}, port.JobRequest{}),
		} {
			if err != nil {
				return err
			}
		}
		_, err = w.PutDocuments(ctx, p, at, []port.DocumentWrite{{Document: port.Document{
			ID:       "a",
			Text:     text,
			TextHash: sum(text),
			Metadata: []byte(`{"k":"<&>"}`),
			Chunks:   []port.Chunk{{End: 5}},
		},
			Vectors: port.Vectors{Dense: port.Dense{Dim: 2, Data: []float32{1, 0}}}}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	x := installation.Exporter{Store: s, Contents: everything, Program: "test", Backend: "sqlite"}
	if _, err := x.Stream(ctx, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A data set comes into a fresh store with all that it has; into one that is in
// use, the organization of that name takes it in.
func TestOrganizations(t *testing.T) {
	set, ctx := sample(t), t.Context()
	for name, used := range map[string]bool{"fresh": false, "in use": true} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			var before port.Organization
			err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
				orgs, err := w.Organizations(ctx)
				if before = orgs[0]; err != nil || !used {
					return err
				}
				return w.PutKey(ctx, port.Key{
					ID:        "key_here",
					Org:       before.ID,
					Kind:      "service",
					Hash:      [32]byte{9},
					CreatedAt: time.Now(),
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			m := importer(t, s)
			if _, err := m.Check(ctx, bytes.NewReader(set)); err != nil {
				t.Fatal(err)
			}
			result, err := m.Run(ctx, bytes.NewReader(set))
			if err != nil || result.Imported != 1 || result.Keys != 1 || result.Documents != 1 {
				t.Fatalf("%+v, %v", result, err)
			}
			err = s.View(ctx, func(r port.Reader) error {
				o, err := r.OrganizationByName(ctx, before.Name)
				if err != nil {
					return err
				}
				if (o.ID == before.ID) != used {
					t.Errorf("the organization is %s, was %s", o.ID, before.ID)
				}
				k, err := r.Key(ctx, o.ID, "key_1")
				if err != nil || k.Hash != [32]byte{1} || k.CreatedBy != "key_0" {
					t.Errorf("key: %+v, %v", k, err)
				}
				asked, err := r.JobRequest(ctx, o.ID, "op_1")
				if err != nil || !strings.Contains(string(asked.Principal), string(o.ID)) {
					t.Errorf("accepted write: %s, %v", asked.Principal, err)
				}
				if j, err := r.Job(ctx, o.ID, "op_1"); err != nil || j.Kind != port.JobWriteDocuments ||
					j.Partition != port.Documents(o.ID, "docs") {
					t.Errorf("accepted write: %+v, %v", j, err)
				}
				if v, err := r.Secret(ctx, "cursor"); string(v) != "signs" {
					t.Errorf("secret: %s, %v", v, err)
				}
				if n, err := r.Partition(ctx, port.Documents(o.ID, "docs")); err != nil || n.Embedder != "own" {
					t.Errorf("namespace: %+v, %v", n, err)
				}
				docs, err := r.Documents(ctx, port.Documents(o.ID, "docs"), []string{"a"}, port.PartMetadata)
				if err != nil || len(docs) != 1 || string(docs[0].Metadata) != `{"k":"<&>"}` {
					t.Errorf("document: %+v, %v", docs, err)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			// Again, it is there already.
			m = importer(t, s)
			if _, err := m.Check(ctx, bytes.NewReader(set)); err != nil {
				t.Fatal(err)
			}
			if again, err := m.Run(ctx, bytes.NewReader(set)); err != nil || again.Unchanged != 1 ||
				again.Imported != 0 || again.Keys != 0 {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}

// What came without vectors is named until they are made, by whichever run.
func TestWithoutVectors(t *testing.T) {
	from, to, ctx := open(t), open(t), t.Context()
	whole, m := sample(t), importer(t, from)
	if _, err := m.Check(ctx, bytes.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(ctx, bytes.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	var set bytes.Buffer
	x := installation.Exporter{Store: from, Contents: dataset.Contents{Memories: true}}
	if _, err := x.Stream(ctx, &set); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		m := importer(t, to)
		if _, err := m.Check(ctx, bytes.NewReader(set.Bytes())); err != nil {
			t.Fatal(err)
		}
		result, err := m.Run(ctx, bytes.NewReader(set.Bytes()))
		if err != nil || len(result.WithoutVectors) != 1 || result.WithoutVectors[0].Name() != "docs" {
			t.Errorf("%+v, %v", result, err)
		}
	}
}

// A key that is another one's here is in the way under every policy.
func TestKeyOfAnother(t *testing.T) {
	set, ctx, s := sample(t), t.Context(), open(t)
	err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		orgs, err := w.Organizations(ctx)
		if err != nil {
			return err
		}
		return w.PutKey(ctx, port.Key{
			ID:        "key_other",
			Org:       orgs[0].ID,
			Kind:      "service",
			Hash:      [32]byte{1},
			CreatedAt: time.Now(),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	m := importer(t, s)
	m.Conflict = dataset.Replace
	var conflict *installation.Conflict
	if _, err := m.Check(ctx, bytes.NewReader(set)); !errors.As(err, &conflict) {
		t.Errorf("Check: %v", err)
	}
}

// A later version is refused as such, not as damage.
func TestLaterVersion(t *testing.T) {
	set := sample(t)
	later := relined(t, set, func(kind, data string) string {
		if kind == "header" {
			return strings.Replace(data, `"version":1,`, `"version":2,"more":true,`, 1)
		}
		return data
	})
	if _, err := importer(t, open(t)).Check(t.Context(), bytes.NewReader(later)); err == nil ||
		!strings.Contains(err.Error(), "version 2") {
		t.Errorf("Check: %v", err)
	}
}

// Lines that have their hashes and are wrong in themselves are refused by line.
func TestWellHashedNonsense(t *testing.T) {
	set := sample(t)
	for name, change := range map[string]func(kind, data string) string{
		"unknown field":         swap("document", `{"id":"a"`, `{"id":"a","extra":1`),
		"text without its hash": swap("document", `a < b`, `a > b`),
		"damaged vectors":       swap("document", `"dense":"`, `"dense":"AAAA`),
		"another organization":  swap("partition", `"organization":"org_`, `"organization":"org_x`),
		"no space":              swap("partition", `"space":"documents"`, `"space":"files"`),
		"counts":                swap("end", `"documents":1`, `"documents":2`),
		"trailer":               swap("trailer", `"documents":1`, `"documents":2`),
		"unknown kind": func(kind, data string) string {
			return map[bool]string{true: "\x00other", false: data}[kind == "key"]
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			_, err := importer(t, s).Check(t.Context(), bytes.NewReader(relined(t, set, change)))
			var damaged *dataset.Damaged
			if !errors.As(err, &damaged) || damaged.Line < 2 {
				t.Errorf("Check: %v", err)
			}
		})
	}
}

func swap(kind, from, to string) func(string, string) string {
	return func(k, data string) string {
		if k != kind {
			return data
		}
		return strings.Replace(data, from, to, 1)
	}
}

func BenchmarkExport(b *testing.B) {
	s, at, ctx := open(b), time.Now(), b.Context()
	const documents, dim = 2000, 384
	err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		orgs, err := w.Organizations(ctx)
		if err != nil {
			return err
		}
		p := port.Documents(orgs[0].ID, "docs")
		if _, err := w.CreatePartition(ctx, p, port.PartitionRow{Dimensions: dim, CreatedAt: at, UpdatedAt: at}); err != nil {
			return err
		}
		text := strings.Repeat("some words of a text ", 100)
		docs := make([]port.DocumentWrite, documents)
		for i := range docs {
			v := make([]float32, 4*dim)
			for j := range v {
				v[j] = float32(i*j%97) / 97
			}
			docs[i] = port.DocumentWrite{Document: port.Document{
				ID:       time.Duration(i).String(),
				Text:     text,
				TextHash: sum(text),
				Chunks:   make([]port.Chunk, 4),
			}, Vectors: port.Vectors{Dense: port.Dense{Dim: dim, Data: v}}}
		}
		_, err = w.PutDocuments(ctx, p, at, docs)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("export", func(b *testing.B) {
		for b.Loop() {
			x := installation.Exporter{Store: s, Contents: everything}
			if _, err := x.Stream(ctx, io.Discard); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(documents*float64(b.N)/b.Elapsed().Seconds(), "documents/s")
	})
	b.Run("copy", func(b *testing.B) {
		for b.Loop() {
			if _, err := installation.Copy(ctx, &installation.Exporter{Store: s, Contents: everything},
				importer(b, open(b))); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(documents*float64(b.N)/b.Elapsed().Seconds(), "documents/s")
	})
}
