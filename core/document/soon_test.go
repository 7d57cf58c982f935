package document_test

import (
	"slices"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// prefer writes a document with a preference.
func (l *library) prefer(preference, text string) *coretest.Reply {
	l.t.Helper()
	return coretest.Ask(l.ctx, l.t, l.documents.Write, coretest.Object{"documents": []coretest.Object{doc("a", text, "")}},
		func(in *document.WriteDocuments) { in.Namespace, in.Prefer = "docs", preference }).OK()
}

// TestSearchableSoon: a write is answered before the index has it where the caller prefers that and
// the index takes its time, the answer says so, and the next query finds it all the same.
func TestSearchableSoon(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	if r := s.prefer("searchable=soon", "pelican"); r.Status != 200 || r.JSON["searchable"] != true || len(r.Header) != 0 {
		t.Errorf("over an index of this process: %d %v %s", r.Status, r.Header, r.Body)
	}
	s.write("docs", doc("b", "dodo", ""))
	s.Defer()
	s.documents, s.queries = services.Documents(s.Fixture), services.Queries(s.Fixture, nil)
	applied := false
	s.Index.OnApply.Set(func() error { applied = true; return nil })
	for _, c := range []struct {
		prefer, text string
		soon         bool
	}{
		{"", "heron", false},
		{"searchable", "crane", false},
		{"searchable=now", "gull", false},
		{"soon", "stork", false},
		{"searchable=soon", "egret", true},
		{"wait=5, Searchable = \"soon\"; a=b", "ibis", true},
		{"wait=5; searchable=soon", "tern", false},
		{"handling=strict,searchable=soon", "swan", true},
	} {
		applied = false
		r := s.prefer(c.prefer, c.text)
		want := ""
		if c.soon {
			want = "searchable=soon"
		}
		if r.Status != 200 || r.JSON["searchable"] != !c.soon || applied == c.soon || r.Header["Preference-Applied"] != want {
			t.Errorf("Prefer: %s: %d %v %s; the index has it: %v", c.prefer, r.Status, r.Header, r.Body, applied)
		}
		if got := s.keyword("docs", c.text); !slices.Equal(got, []string{"a"}) {
			t.Errorf("Prefer: %s: the next query finds %v", c.prefer, got)
		}
	}

	// A text that was replaced is not found, and a deletion waits for the index.
	s.prefer("searchable=soon", "auk")
	s.prefer("searchable=soon", "owl")
	if got := s.keyword("docs", "auk"); len(got) != 0 {
		t.Errorf("a text that was replaced is found: %v", got)
	}
	s.prefer("searchable=soon", "kite")
	s.remove("docs", coretest.Object{"ids": []string{"a"}}).OK()
	p := port.Documents(ident.From(s.ctx).Org, "docs")
	var row port.PartitionRow
	if err := s.Store.View(s.ctx, func(r port.Reader) (err error) {
		row, err = r.Partition(s.ctx, p)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if at, err := s.Index.Applied(s.ctx, p.At(row.Generation)); err != nil || at != row.Seq {
		t.Errorf("a deletion was answered when the index was at %d of %d, %v", at, row.Seq, err)
	}

	r := s.prefer("respond-async, searchable=soon", "rook")
	if r.Status != 202 || r.Header["Preference-Applied"] != "respond-async" {
		t.Errorf("with both: %d %v %s", r.Status, r.Header, r.Body)
	}
	s.ended("docs", r.JSON["id"].(string))
}
