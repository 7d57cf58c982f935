package installation_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/dataset/installation"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/port"
)

// town is an installation in use: two organizations, namespaces, and the end users of
// an integration with memories, versions and stored answers.
type town struct {
	*coretest.Fixture
	t         testing.TB
	documents *document.Service
	memories  *memory.Service
	own, acme context.Context // of their service keys
	chat      context.Context // of an integration of organization default
}

func settle(t testing.TB) *town {
	t.Helper()
	f := coretest.New(t, coretest.Options{})
	w := &town{Fixture: f, t: t}
	w.documents = services.Documents(f)
	w.memories = services.Memories(f, nil)
	w.own, w.acme = f.Caller(key.Issue{}), f.Caller(key.Issue{Org: "acme"})
	w.chat = f.Integration("chat")
	for i := range 3 {
		w.write(w.own, "docs", fmt.Sprint("d", i), fmt.Sprintf("Document %d of the default organization.", i))
	}
	w.write(w.own, "more", "a", "Some more.")
	w.write(w.acme, "docs", "a", "Of acme.")
	for _, user := range []string{"ann", "bob"} {
		coretest.Ask(w.chat, t, w.memories.Save, coretest.Object{"endUserId": user, "content": "Likes tea."},
			func(in *memory.Save) { in.IdempotencyKey = new("k-" + user) }).OK()
		for v := 1; v <= 2; v++ {
			coretest.Ask(w.chat, t, w.memories.Upsert, coretest.Object{"endUserId": user, "source": "crm", "version": v,
				"content": fmt.Sprintf("Version %d.", v), "occurredAt": "2026-01-02T03:04:05Z"},
				func(in *memory.Upsert) { in.ExternalID = "ticket" }).OK()
		}
	}
	return w
}

func (w *town) write(ctx context.Context, ns, id, text string) {
	w.t.Helper()
	coretest.Ask(ctx, w.t, w.documents.Write, coretest.Object{"documents": []coretest.Object{{"id": id, "text": text}}},
		func(in *document.WriteDocuments) { in.Namespace = ns }).OK()
}

func (w *town) exporter() *installation.Exporter {
	return &installation.Exporter{Store: w.Store.DocumentStore, Contents: everything}
}

// contents is the hash of every partition of a store by its name, and how many lines of
// each kind there are.
func contents(t testing.TB, s port.DocumentStore) (hashes map[string]dataset.Digest, kinds map[string]int) {
	t.Helper()
	var out bytes.Buffer
	x := installation.Exporter{Store: s, Contents: everything}
	if _, err := x.Stream(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	hashes, kinds = map[string]dataset.Digest{}, map[string]int{}
	scan, orgs, at := dataset.NewScan(&out), map[ident.Org]string{}, ""
	for {
		l, err := scan.Next()
		if err != nil {
			if !scan.Done {
				t.Fatal(err)
			}
			return hashes, kinds
		}
		kinds[l.Kind]++
		switch l.Kind {
		case dataset.KindOrganization:
			var o dataset.Organization
			if err := l.Decode(&o); err != nil {
				t.Fatal(err)
			}
			orgs[o.ID] = o.Name
		case dataset.KindPartition:
			at = orgs[scan.Open.Organization] + "/" + scan.Open.Name
		case dataset.KindEnd:
			var e dataset.End
			if err := l.Decode(&e); err != nil {
				t.Fatal(err)
			}
			hashes[at] = e.Hash
		}
	}
}

// TestCopy: a store gets what another has, and the same again changes nothing.
func TestCopy(t *testing.T) {
	t.Parallel()
	from, to, ctx := settle(t), open(t), t.Context()
	want, lines := contents(t, from.Store.DocumentStore)
	if len(want) != 5 || lines[dataset.KindReceipt] != 4 || lines[dataset.KindRecord] != 2 || lines[dataset.KindReplay] != 2 ||
		lines[dataset.KindIntegration] != 1 || lines[dataset.KindKey] != 3 {
		t.Fatalf("the source has %v, %v", want, lines)
	}
	var imported []string
	m := importer(t, to)
	m.Imported = func(_ context.Context, p port.Partition, _ uint64) error {
		imported = append(imported, p.Name())
		return nil
	}
	got, err := installation.Copy(ctx, from.exporter(), m)
	if err != nil || got.Imported != 5 || got.Documents != 9 || got.Keys != 3 || len(got.Moved) != 0 ||
		got.Unchanged+got.Skipped+got.Replaced+got.Continued != 0 || len(got.WithoutVectors) != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	if slices.Sort(imported); strings.Join(imported, " ") != "ann bob docs docs more" {
		t.Errorf("told of %v", imported)
	}
	if is, kinds := contents(t, to); fmt.Sprint(is) != fmt.Sprint(want) || fmt.Sprint(kinds) != fmt.Sprint(lines) {
		t.Errorf("the copy has %v, %v, want %v, %v", is, kinds, want, lines)
	}
	again, err := installation.Copy(ctx, from.exporter(), importer(t, to))
	if err != nil || again.Unchanged != 5 || again.Imported != 0 || again.Keys != 0 || again.Documents != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	name, err := from.exporter().Source(ctx)
	if err != nil || !strings.HasPrefix(name, "copy_") {
		t.Errorf("the source is %s, %v", name, err)
	}
	from.write(from.own, "docs", "x", "Another document.")
	if later, err := from.exporter().Source(ctx); err != nil || later != name {
		t.Errorf("with another document it is %s, %v, was %s", later, err, name)
	}
	if other, err := (&installation.Exporter{Store: open(t), Contents: everything}).Source(ctx); err != nil || other == name {
		t.Errorf("another store is %s, %v", other, err)
	}
}

// TestCopyIntoWhatDiffers: what is there with other contents stays or goes as the policy
// says, and under fail nothing at all is changed.
func TestCopyIntoWhatDiffers(t *testing.T) {
	t.Parallel()
	from, to, ctx := settle(t), open(t), t.Context()
	if _, err := installation.Copy(ctx, from.exporter(), importer(t, to)); err != nil {
		t.Fatal(err)
	}
	before, _ := contents(t, to)
	from.write(from.own, "docs", "d0", "Rewritten.")
	from.write(from.acme, "fresh", "a", "New at acme.")
	coretest.Ask(from.chat, t, from.memories.Save, coretest.Object{"endUserId": "ann", "content": "Likes coffee."}).OK()
	want, _ := contents(t, from.Store.DocumentStore)
	run := func(policy dataset.Policy) (installation.Copied, int, error) {
		m, replaced := importer(t, to), 0
		m.Conflict = policy
		m.Replaced = func(context.Context, port.Partition) { replaced++ }
		got, err := installation.Copy(ctx, from.exporter(), m)
		return got, replaced, err
	}

	var conflict *installation.Conflict
	if _, _, err := run(dataset.Fail); !errors.As(err, &conflict) ||
		!strings.Contains(conflict.Error(), "is there already with other contents") {
		t.Errorf("fail: %v", err)
	}
	if is, _ := contents(t, to); fmt.Sprint(is) != fmt.Sprint(before) {
		t.Errorf("fail changed %v to %v", before, is)
	}
	got, replaced, err := run(dataset.Skip)
	if err != nil || got.Imported != 1 || got.Skipped != 2 || got.Unchanged != 3 || replaced != 0 {
		t.Errorf("skip: %+v, %v", got, err)
	}
	if is, _ := contents(t, to); is["default/docs"] != before["default/docs"] || is["default/ann"] != before["default/ann"] ||
		is["acme/fresh"] != want["acme/fresh"] {
		t.Errorf("after skip: %v", is)
	}
	got, replaced, err = run(dataset.Replace)
	if err != nil || got.Imported != 2 || got.Replaced != 2 || got.Unchanged != 4 || replaced != 2 {
		t.Errorf("replace: %+v, %v", got, err)
	}
	if is, _ := contents(t, to); fmt.Sprint(is) != fmt.Sprint(want) {
		t.Errorf("after replace: %v, want %v", is, want)
	}
}

// TestCopyOfASourceInUse names what was written, made or deleted while it was copied.
func TestCopyOfASourceInUse(t *testing.T) {
	t.Parallel()
	from, to, ctx := settle(t), open(t), t.Context()
	m := importer(t, to)
	copied := 0
	m.Imported = func(context.Context, port.Partition, uint64) error {
		if copied++; copied != 5 { // all are read by then
			return nil
		}
		from.write(from.own, "docs", "late", "Written in the meantime.")
		from.write(from.acme, "late", "a", "Made in the meantime.")
		return from.Store.Update(ctx, func(w port.Writer) error {
			_, err := w.DeletePartition(ctx, port.Documents(ident.From(from.own).Org, "more"))
			return err
		})
	}
	got, err := installation.Copy(ctx, from.exporter(), m)
	if err != nil || got.Imported != 5 {
		t.Fatalf("%+v, %v", got, err)
	}
	var moved []string
	for _, p := range got.Moved {
		moved = append(moved, p.Name())
	}
	if slices.Sort(moved); strings.Join(moved, " ") != "docs late more" {
		t.Errorf("moved: %v", moved)
	}
}

// TestCopyGoesOn: what a failure cuts short is continued by the next run with the same
// journal, whatever was half imported.
func TestCopyGoesOn(t *testing.T) {
	t.Parallel()
	from, ctx := settle(t), t.Context()
	want, _ := contents(t, from.Store.DocumentStore)
	stop := fault.New(fault.Unavailable, "stopped by the test")
	for after := 1; after <= 5; after++ {
		to := open(t)
		j, n := journal{}, 0
		m := &installation.Importer{Store: to, Conflict: dataset.Fail, Journal: j}
		m.Imported = func(context.Context, port.Partition, uint64) error {
			if n++; n == after {
				return stop
			}
			return nil
		}
		if _, err := installation.Copy(ctx, from.exporter(), m); !errors.Is(err, stop) {
			t.Fatalf("after %d: %v", after, err)
		}
		got, err := installation.Copy(ctx, from.exporter(),
			&installation.Importer{Store: to, Conflict: dataset.Fail, Journal: j})
		if err != nil || got.Imported+got.Unchanged != 5 {
			t.Errorf("after %d: %+v, %v", after, got, err)
		}
		if is, _ := contents(t, to); fmt.Sprint(is) != fmt.Sprint(want) {
			t.Errorf("after %d: %v, want %v", after, is, want)
		}
		if len(j) != 0 {
			t.Errorf("after %d: the journal keeps %v", after, j)
		}
	}
}

// TestHalfAPartitionGoesOn: a partition of several transactions is continued where a
// store failed, also where it replaces another, and the journal says what is whose.
func TestHalfAPartitionGoesOn(t *testing.T) {
	t.Parallel()
	from, ctx := settle(t), t.Context()
	for part := range 5 {
		docs := make([]coretest.Object, 100)
		for i := range docs {
			docs[i] = coretest.Object{"id": fmt.Sprintf("big-%d-%02d", part, i), "text": fmt.Sprintf("Text %d of %d.", i, part)}
		}
		coretest.Ask(from.own, t, from.documents.Write, coretest.Object{"documents": docs},
			func(in *document.WriteDocuments) { in.Namespace = "big" }).OK()
	}
	want, _ := contents(t, from.Store.DocumentStore)
	broken := fault.New(fault.Unavailable, "the store is away")
	other := settle(t)
	other.write(other.own, "big", "old", "What was here.")
	x, old := from.exporter(), other.exporter()
	x.Contents = dataset.Contents{Organization: "default", Namespaces: []string{"big"}, Vectors: true}
	old.Contents = x.Contents
	for _, replacing := range []bool{false, true} {
		continued := 0
		for after := 0; ; after++ {
			to, j, replaced := &coretest.Store{DocumentStore: open(t)}, journal{}, 0
			run := func() (installation.Copied, error) {
				m := &installation.Importer{Store: to, Conflict: dataset.Replace, Journal: j}
				m.Replaced = func(context.Context, port.Partition) { replaced++ }
				return installation.Copy(ctx, x, m)
			}
			if replacing { // other contents under the same name
				if _, err := installation.Copy(ctx, old, importer(t, to)); err != nil {
					t.Fatal(err)
				}
			}
			updates := 0
			to.OnBackgroundUpdate.Set(func() error {
				if updates++; updates > after {
					return broken
				}
				return nil
			})
			_, err := run()
			to.OnBackgroundUpdate.Clear()
			if err == nil {
				if after < 3 {
					t.Errorf("all was imported in %d transactions", after)
				}
				break
			}
			if !errors.Is(err, broken) {
				t.Fatalf("after %d: %v", after, err)
			}
			got, err := run()
			if err != nil || got.Imported != 1 || got.Documents != 500 {
				t.Errorf("after %d: %+v, %v", after, got, err)
			}
			continued += int(got.Continued)
			if is, _ := contents(t, to.DocumentStore); is["default/big"] != want["default/big"] || len(is) != 1 {
				t.Errorf("after %d: %v, want %v", after, is, want["default/big"])
			}
			if len(j) != 0 || replacing != (replaced > 0) {
				t.Errorf("after %d: the journal keeps %v, %d were replaced", after, j, replaced)
			}
		}
		if continued == 0 {
			t.Error("nothing was continued, so the runs above prove nothing")
		}
	}
}

// TestPartOfAnInstallation: an export may be of one organization, of some namespaces,
// without memories, without keys.
func TestPartOfAnInstallation(t *testing.T) {
	t.Parallel()
	from, ctx := settle(t), t.Context()
	for name, c := range map[string]struct {
		contents dataset.Contents
		want     string
		keys     int64
	}{
		"one organization": {dataset.Contents{Organization: "acme", Memories: true, Vectors: true, Keys: true}, "docs", 1},
		"its id": {dataset.Contents{Organization: string(ident.From(from.acme).Org), Vectors: true, Keys: true},
			"docs", 1},
		"some namespaces":  {dataset.Contents{Namespaces: []string{"more"}, Vectors: true}, "more", 0},
		"without memories": {dataset.Contents{Vectors: true, Keys: true}, "docs docs more", 3},
		"without keys":     {dataset.Contents{Memories: true, Vectors: true}, "ann bob docs docs more", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var names []string
			m := importer(t, open(t))
			m.Imported = func(_ context.Context, p port.Partition, _ uint64) error { names = append(names, p.Name()); return nil }
			got, err := installation.Copy(ctx, &installation.Exporter{Store: from.Store.DocumentStore, Contents: c.contents}, m)
			if slices.Sort(names); err != nil || strings.Join(names, " ") != c.want || got.Keys != c.keys {
				t.Errorf("%v, %+v, %v", names, got, err)
			}
		})
	}
	for name, c := range map[string]dataset.Contents{
		"absent": {Organization: "absent"}, "nowhere": {Namespaces: []string{"more", "nowhere"}},
	} {
		_, err := (&installation.Exporter{Store: from.Store.DocumentStore, Contents: c}).Stream(ctx, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
