package document_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/reindex"
)

// keyword finds documents by words alone.
func (l *library) keyword(ns, words string) []string {
	l.t.Helper()
	got := found(l.query(ns, coretest.Object{"query": words, "mode": "keyword"}))
	slices.Sort(got)
	return slices.Compact(got)
}

// headings are what the chunks of a document stand under.
func (l *library) headings(ns, id string) (out []string) {
	l.t.Helper()
	for _, c := range l.chunks(ns, id).OK().List("chunk_list") {
		heading, _ := c["heading"].(string)
		out = append(out, heading)
	}
	return out
}

// TestTitle is of metadata.title, which is context of every chunk.
func TestTitle(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	text := "It roasts beans\nat 205 degrees.\n\nWipe it weekly."
	s.write("docs", doc("a", text, `{"title":"Espresso manual","lang":"en"}`), doc("b", "Something else.", ""))
	want := []string{"Espresso manual\nIt roasts beans\nat 205 degrees.", "Espresso manual\nWipe it weekly.", "Something else."}
	if got := s.Embedder.TakePassages(); !slices.Equal(got, want) {
		t.Errorf("embedded are %q, want %q", got, want)
	}
	if got := s.keyword("docs", "espresso"); !slices.Equal(got, []string{"a"}) {
		t.Errorf("a word of the title finds %v", got)
	}
	r := s.query("docs", coretest.Object{"query": "espresso wipe weekly", "top_k": 1})
	hit := r.List("results")[0]
	if hit["text"] != "Wipe it weekly." || hit["heading"] != "Espresso manual" {
		t.Errorf("a hit is %v", hit)
	}
	for i, c := range s.chunks("docs", "a").OK().List("chunk_list") {
		at, end := int(c["start"].(float64)), int(c["end"].(float64))
		if shown := strings.Split(text, "\n\n")[i]; c["text"] != shown || text[at:end] != shown {
			t.Errorf("chunk %d is %v, want %q", i, c, shown)
		}
	}

	for _, c := range []struct {
		name, metadata string
		embeds         int
		unchanged      bool
		heading        string
		finds          string // a document that this word finds
	}{
		{"again", `{"lang":"en","title":"Espresso manual"}`, 0, true, "Espresso manual", "espresso"},
		{"other metadata", `{"lang":"fr","title":"Espresso manual"}`, 0, false, "Espresso manual", "espresso"},
		{"another title", `{"lang":"fr","title":"Grinder manual"}`, 2, false, "Grinder manual", "grinder"},
		{"spaces", `{"lang":"fr","title":" Grinder\n manual"}`, 0, false, "Grinder manual", "grinder"},
		{"no title", `{"lang":"fr"}`, 2, false, "", "beans"},
		{"an empty one", `{"title":""}`, 0, false, "", "beans"},
		{"a number", `{"title":205}`, 0, false, "", "beans"},
		{"a truth", `{"title":true}`, 0, false, "", "beans"},
		{"a list", `{"title":["Espresso","manual"]}`, 0, false, "", "beans"},
		{"its path", `{"title":"docs/espresso.txt","path":"docs/espresso.txt"}`, 0, false, "", "beans"},
		{"its file's name", `{"title":"espresso.txt","path":"docs/espresso.txt"}`, 0, false, "", "beans"},
		{"its address", `{"title":"https://x.example/espresso","url":"https://x.example/espresso"}`, 0, false, "", "beans"},
		{"a title beside them", `{"title":"Espresso","path":"docs/espresso.txt"}`, 2, false, "Espresso", "espresso"},
		{"a name that ends as its file's", `{"title":"espresso","path":"docs/our-espresso"}`, 2, false, "espresso", "espresso"},
	} {
		before := s.get("docs", "a").OK().JSON["updated_at"]
		time.Sleep(2 * time.Millisecond) // times are in milliseconds
		r := s.write("docs", doc("a", text, c.metadata))
		d := r.List("documents")[0]
		if d["unchanged"] != c.unchanged || d["chunks"] != 2.0 || (d["updated_at"] == before) != c.unchanged {
			t.Errorf("%s: %s", c.name, r.Body)
		}
		if got := s.Embedder.TakePassages(); len(got) != c.embeds {
			t.Errorf("%s: embedded are %q, want %d", c.name, got, c.embeds)
		}
		if got := s.headings("docs", "a"); !slices.Equal(got, []string{c.heading, c.heading}) {
			t.Errorf("%s: chunks stand under %q", c.name, got)
		}
		if got := s.keyword("docs", c.finds); !slices.Equal(got, []string{"a"}) {
			t.Errorf("%s: %q finds %v", c.name, c.finds, got)
		}
		if c.finds != "espresso" && len(s.keyword("docs", "espresso")) != 0 {
			t.Errorf("%s: the title before still finds it", c.name)
		}
		if got := s.get("docs", "a").OK(); got.JSON["text"] != text {
			t.Errorf("%s: the text is %v", c.name, got.JSON["text"])
		}
	}
}

// old writes a document as rules before those of titles have, into a namespace of theirs.
func (l *library) old(ns, id, text, metadata string) port.Partition {
	l.t.Helper()
	p := port.Documents(ident.From(l.ctx).Org, ns)
	m, err := filter.ParseMetadata("metadata", []byte(metadata))
	if err != nil {
		l.t.Fatal(err)
	}
	made, err := l.Encoders.Configured().Encode(l.ctx, chunk.Untitled(text), false, make([]ingest.Reuse, 1))
	if err != nil {
		l.t.Fatal(err)
	}
	now := l.Now().UTC().Truncate(time.Millisecond)
	err = l.Changes.Write(l.ctx, ingest.CauseWrite, func(tx *ingest.Tx) error {
		row := l.Models.WithConfiguredModels(port.PartitionRow{Name: ns})
		row.Chunker = "2"
		row, err := tx.CreatePartition(l.ctx, p, row)
		if err != nil {
			return err
		}
		return tx.Put(l.ctx, p.At(row.Generation), now, []port.DocumentWrite{{Vectors: made[0].Vectors, Document: port.Document{
			ID: id, Text: text, Metadata: m.JSON(), TextHash: sha256.Sum256([]byte(text)), MetadataHash: m.Hash(),
			Chunks: made[0].Chunks, CreatedAt: now, UpdatedAt: now}}})
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.Embedder.TakePassages()
	return p
}

func (l *library) chunker(p port.Partition) (of string) {
	l.t.Helper()
	err := l.Store.View(l.ctx, func(r port.Reader) error {
		row, err := r.Partition(l.ctx, p)
		of = row.Chunker
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return of
}

// reindex recomputes a namespace as asked.
func (l *library) reindex(p port.Partition, in reindex.Request) reindex.Result {
	l.t.Helper()
	out, err := l.documents.Reindex(l.ctx, p, reindex.Run{Request: in, Progress: func(int, int) {},
		Finish: func(context.Context, job.Writer, reindex.Result) error { return nil }})
	if err != nil {
		l.t.Fatal(err)
	}
	return out
}

// TestTitlesOfAnOldNamespace: what was cut before titles counted is served and written as it
// is, and reindexing brings it along.
func TestTitlesOfAnOldNamespace(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	text := "It roasts beans\nat 205 degrees.\n\nWipe it weekly."
	p := s.old("docs", "a", text, `{"title":"Espresso manual"}`)
	if got := s.keyword("docs", "weekly"); !slices.Equal(got, []string{"a"}) {
		t.Errorf("an old namespace finds %v", got)
	}
	r := s.write("docs", doc("a", text, `{"title":"Espresso manual"}`))
	if r.List("documents")[0]["unchanged"] != true || len(s.Embedder.TakePassages()) != 0 {
		t.Errorf("what it holds, again: %s", r.Body)
	}
	s.write("docs", doc("a", text, `{"title":"Espresso manual","lang":"en"}`))
	if got := s.headings("docs", "a"); !slices.Equal(got, []string{"", ""}) || len(s.Embedder.TakePassages()) != 0 {
		t.Errorf("other metadata cuts it as %q", got)
	}
	s.write("docs", doc("b", "A new text.", `{"title":"Espresso news"}`))
	if got := s.keyword("docs", "espresso"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("what is new there: %v", got)
	}

	n, needed, err := s.documents.CheckReindex(s.ctx, p, reindex.Request{})
	if err != nil || n != 2 || !needed {
		t.Fatalf("reindexing: %d documents, needed %v, %v", n, needed, err)
	}
	if r := s.reindex(p, reindex.Request{}); r.Documents != 2 || r.Unchanged {
		t.Errorf("reindexed are %+v", r)
	}
	if got := s.headings("docs", "a"); !slices.Equal(got, []string{"Espresso manual", "Espresso manual"}) {
		t.Errorf("after it chunks stand under %q", got)
	}
	if got := s.keyword("docs", "espresso"); !slices.Equal(got, []string{"a", "b"}) || s.chunker(p) != chunk.Version {
		t.Errorf("after it %v are found, by rules %s", got, s.chunker(p))
	}
	if _, needed, err := s.documents.CheckReindex(s.ctx, p, reindex.Request{}); err != nil || needed {
		t.Errorf("once more: needed %v, %v", needed, err)
	}
}

// TestTitlesThatChangeWhileItIsReindexed: what was copied is cut again only under another title.
func TestTitlesThatChangeWhileItIsReindexed(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	p := s.old("docs", "a", "Wipe it weekly.", `{"title":"Espresso manual"}`)
	if r := s.reindex(p, reindex.Request{Hold: true}); !r.Held {
		t.Fatalf("held: %+v", r)
	}
	if got := s.Embedder.TakePassages(); !slices.Equal(got, []string{"Espresso manual\nWipe it weekly."}) {
		t.Errorf("copied are %q", got)
	}
	s.write("docs", doc("a", "Wipe it weekly.", `{"title":"Espresso manual","lang":"en"}`))
	if s.reindex(p, reindex.Request{Hold: true}); len(s.Embedder.TakePassages()) != 0 {
		t.Error("other metadata has it encoded again")
	}
	s.write("docs", doc("a", "Wipe it weekly.", `{"title":"Grinder manual"}`))
	s.Embedder.TakePassages()
	s.reindex(p, reindex.Request{})
	if got := s.Embedder.TakePassages(); !slices.Equal(got, []string{"Grinder manual\nWipe it weekly."}) {
		t.Errorf("another title has encoded %q", got)
	}
	if got := fmt.Sprint(s.headings("docs", "a"), s.keyword("docs", "grinder"), s.keyword("docs", "espresso")); got !=
		"[Grinder manual] [a] []" {
		t.Errorf("after it: %s", got)
	}
}
