package dataset

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"testing"
)

// What a data set is read from may be anything: it is refused, or what it says is
// what another reading says, and its parts can be decoded.
func FuzzScan(f *testing.F) {
	var out bytes.Buffer
	w := NewWriter(&out)
	sum := sha256.New()
	for _, l := range []struct {
		kind string
		data any
	}{
		{KindHeader, Header{Format: Format, Version: Version, ID: "set_0123456789abcdef01234567"}},
		{KindOrganization, Organization{ID: "org_1", Name: "one"}},
		{KindIntegration, Integration{ID: "int_1"}},
		{KindPartition, Partition{"org_1", "memories", "int_1", "ann"}},
		{KindNamespace, Namespace{Models: &Models{Dimensions: 2}}},
		{KindDocument, Document{ID: "a", Text: "a < b", Layout: []byte{1, 0}, Dense: []byte{1, 0, 2}}},
		{KindLink, Link{"a", "b", []byte{1, 1, 1, 0, 0}}},
		{KindRecord, Record{Source: "crm"}},
		{KindReceipt, Receipt{Version: 1}},
		{KindReplay, Replay{Answer: []byte("{}")}},
		{KindEnd, End{Counts: Counts{EndUsers: 1, Documents: 1, Links: 1, Records: 1, Receipts: 1, Replays: 1}}},
		{KindTrailer, Trailer{Counts{
			Organizations: 1,
			Integrations:  1,
			EndUsers:      1,
			Documents:     1,
			Links:         1,
			Records:       1,
			Receipts:      1,
			Replays:       1,
		}, 11}},
	} {
		if e, ok := l.data.(End); ok {
			e.Hash = Digest(sum.Sum(nil))
			l.data = e
		}
		hash, err := w.Write(l.kind, l.data)
		if err != nil {
			f.Fatal(err)
		}
		if sum.Write(hash[:]); l.kind == KindPartition {
			sum.Reset()
		}
	}
	if n, done := scanned(f, out.Bytes()); n != 12 || !done {
		f.Fatalf("%d lines, done %v", n, done)
	}
	f.Add(out.Bytes())
	f.Add(out.Bytes()[:out.Len()/2])
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, done := scanned(t, b)
		if again, stillDone := scanned(t, bytes.Clone(b)); again != n || done != stillDone {
			t.Errorf("%d lines, then %d", n, again)
		}
		// A line as such, without the hashes that a mutation can't meet.
		if l, _, ok := parse(b); ok {
			_ = WellFormed(&l, new(Namespace))
		}
		for _, kind := range []string{KindNamespace, KindDocument, KindLink, KindRecord, KindReceipt, KindReplay} {
			of := &Namespace{Models: &Models{Dimensions: 2}}
			if err := WellFormed(&Line{Kind: kind, Data: b}, of); err != nil && err.Error() == "" {
				t.Error("an error without words")
			}
		}
	})
}

func scanned(t testing.TB, b []byte) (lines int64, done bool) {
	s := NewScan(bytes.NewReader(b))
	for {
		_, err := s.Next()
		if errors.Is(err, io.EOF) {
			return s.r.lines, s.Done
		}
		if err != nil {
			if lines := int64(bytes.Count(b, []byte("\n"))) + 1; s.r.lines > lines {
				t.Errorf("line %d of %d: %v", s.r.lines, lines, err)
			}
			return s.r.lines, false
		}
	}
}
