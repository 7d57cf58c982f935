package namespace_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

// TestPolicies: a document that is there with other contents is met as the policy says.
func TestPolicies(t *testing.T) {
	t.Parallel()
	from, to := open(t, coretest.Options{}), open(t, coretest.Options{})
	from.write("docs", doc("a", "Alpha as exported.", ""), doc("b", "Beta.", `{"k":"v"}`), doc("c", "Gamma.", ""))
	set := from.export("docs", true)
	to.write("docs", doc("a", "Alpha as it is here.", ""), doc("b", "Beta.", `{"k":"v"}`), doc("z", "Only here.", ""))
	before := coretest.End(t, to.export("docs", false))
	to.refuses("docs", dataset.Fail, set, "conflict", `"a"`, "on_conflict", "nothing was imported")
	if after := coretest.End(t, to.export("docs", false)); after.Hash != before.Hash {
		t.Error("a refused import changed something")
	}
	to.brings("docs", dataset.Skip, set, tally{created: 1, unchanged: 1, skipped: 1})
	if got := to.get("docs", "a").JSON["text"]; got != "Alpha as it is here." {
		t.Errorf("skip replaced: %v", got)
	}
	to.brings("docs", dataset.Replace, set, tally{replaced: 1, unchanged: 2})
	if got := to.get("docs", "a").JSON["text"]; got != "Alpha as exported." {
		t.Errorf("replace kept: %v", got)
	}
	if got := to.stored("docs"); len(got) != 4 || !strings.Contains(got[3], `"z"`) {
		t.Errorf("docs holds %v", got)
	}
	if hits := to.find("docs", coretest.Object{"query": "alpha as exported"}); len(hits) == 0 || hits[0] != "a" {
		t.Errorf("after the replacement %v", hits)
	}
	// Other metadata are other contents.
	to.write("docs", doc("b", "Beta.", `{"k":"w"}`))
	to.refuses("docs", dataset.Fail, set, "conflict", `"b"`)
	to.brings("docs", dataset.Replace, set, tally{replaced: 1, unchanged: 2})
}

// TestDocumentsOfASource are never replaced by an import.
func TestDocumentsOfASource(t *testing.T) {
	t.Parallel()
	from, to := open(t, coretest.Options{}), open(t, coretest.Options{})
	from.write("docs", doc("a", "As exported.", ""), doc("b", "New.", ""))
	set := from.export("docs", true)
	to.create("docs", false)
	err := to.Store.UpdateDocuments(to.ctx, func(w port.DocumentWriter) error {
		d := port.Document{ID: "a", Text: "Of a source.", TextHash: sha256.Sum256([]byte("Of a source.")),
			MetadataHash: filter.Metadata(nil).Hash(), SourceID: "src_1", CreatedAt: to.Now(), UpdatedAt: to.Now()}
		_, err := w.PutDocuments(to.ctx, to.partition("docs"), to.Now(), []port.DocumentWrite{{Document: d}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []dataset.Policy{dataset.Fail, dataset.Replace} {
		to.refuses("docs", policy, set, "conflict", `"a"`, "src_1", "skip", "nothing was imported")
	}
	to.brings("docs", dataset.Skip, set, tally{created: 1, skipped: 1})
	if got := to.get("docs", "a").JSON["text"]; got != "Of a source." {
		t.Errorf("it reads %v", got)
	}
}

// TestDamage: a data set that is not whole, or not as it was written, changes nothing.
func TestDamage(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	s.write("docs", corpus(60)...)
	set := s.export("docs", true)
	lines := bytes.SplitAfter(set, []byte("\n"))
	lines = lines[:len(lines)-1]
	join := func(parts ...[][]byte) (out []byte) {
		for _, p := range parts {
			out = append(out, bytes.Join(p, nil)...)
		}
		return out
	}
	n := len(lines)
	changed := func(e edit) []byte { return relined(t, set, e) }
	huge := `"text":"` + strings.Repeat("x", 256<<10+1)
	for name, c := range map[string]struct {
		set   []byte
		code  fault.Code
		words []string
	}{
		"nothing":             {nil, "invalid_request", []string{"cut off"}},
		"cut in a line":       {set[:len(set)*2/3], "invalid_request", []string{"line", "does not end"}},
		"cut before trailer":  {join(lines[:n-1]), "invalid_request", []string{"cut off", fmt.Sprint("after line ", n-1)}},
		"cut before end":      {join(lines[:n-2]), "invalid_request", []string{"cut off"}},
		"header alone":        {join(lines[:1]), "invalid_request", []string{"cut off"}},
		"without its last LF": {set[:len(set)-1], "invalid_request", []string{"does not end"}},
		"altered": {bytes.Replace(set, []byte(`"text":"`), []byte(`"text":"x`), 1), "invalid_request",
			[]string{"line 5", "hash"}},
		"a line left out": {join(lines[:10], lines[11:]), "invalid_request", []string{"line 11", "running hash"}},
		"a line twice":    {join(lines[:11], lines[10:]), "invalid_request", []string{"line 12", "running hash"}},
		"lines exchanged": {join(lines[:10], lines[11:12], lines[10:11], lines[12:]), "invalid_request",
			[]string{"line 11", "running hash"}},
		"more after the end": {join(lines, lines[n-1:]), "invalid_request", []string{fmt.Sprint("line ", n+1)}},
		"something else":     {[]byte(`{"documents":[]}` + "\n"), "invalid_request", []string{"line 1"}},
		"nothing but a line": {[]byte("\n"), "invalid_request", []string{"line 1"}},
		"wrong text hash": {changed(swap("document", `"text":"`, `"text":"x`)), "invalid_request",
			[]string{"line 5", "hash"}},
		"unknown field": {changed(swap("document", `{"id":`, `{"more":1,"id":`)), "invalid_request",
			[]string{"line 5", "more"}},
		"an id that is none": {changed(swap("document", `"id":"d0`, `"id":"/0`)), "invalid_id", []string{"nothing"}},
		"ids out of order": {changed(swap("document", `"id":"d001"`, `"id":"e001"`)), "invalid_request",
			[]string{"e001", "order"}},
		"an id twice": {changed(swap("document", `"id":"d001"`, `"id":"d000"`)), "invalid_request",
			[]string{"d000", "order"}},
		"a nested metadata": {changed(swap("document", `"metadata":{`, `"metadata":{"a":{},`)), "invalid_metadata", nil},
		"other metadata": {changed(swap("document", `"metadata":{`, `"metadata":{"a":"b",`)), "invalid_request",
			[]string{"metadata", "hash"}},
		"other dimensions": {changed(swap("namespace", `"dimensions":64`, `"dimensions":65`)), "invalid_request",
			[]string{"dimensions"}},
		"a memory": {changed(swap("document", `"origin":`, `"container":"work","origin":`)), "invalid_request",
			[]string{"memory"}},
		"NUL in a text": {changed(swap("document", `"text":"`, `"text":"\u0000`)), "invalid_request", []string{"NUL"}},
		"a long text": {changed(swap("document", `"text":"`, huge)), "payload_too_large",
			[]string{"d000", "262144", "nothing was imported"}},
		"an error line": {changed(failing), "invalid_request", []string{"failed here", "the disk is gone"}},
		"a key": {changed(follow("organization", "key", `{"id":"key_1"}`)), "invalid_request",
			[]string{"line 3", "key", "mneme import"}},
		"a second namespace": {changed(twice()), "invalid_request", []string{"namespace two", "mneme import"}},
		"an end user": {changed(swap("partition", `"space":"documents"`, `"space":"memories","integration":"int_1"`)),
			"invalid_request", []string{"end user"}},
		"a later version": {changed(swap("header", `"version":1`, `"version":2`)), "invalid_request", []string{"version 2"}},
		"a line over the size": {append(bytes.Repeat([]byte("x"), 32<<20+1), '\n'), "payload_too_large",
			[]string{"line 1", "nothing was imported"}},
	} {
		t.Run(name, func(t *testing.T) {
			if bytes.Equal(c.set, set) {
				t.Fatal("the data set was not changed")
			}
			s.t = t
			s.refuses("copy", dataset.Fail, c.set, c.code, c.words...)
			if s.stored("copy") != nil {
				t.Error("something was imported")
			}
		})
	}
	s.t = t

	// A caller who goes away in the middle.
	left := errors.New("the caller has left")
	body := io.MultiReader(bytes.NewReader(set[:len(set)/2]), failingReader{left})
	if _, err := s.transfers.Import(s.ctx, s.partition("copy"), fail, body); err == nil {
		t.Error("half an import succeeded")
	}
	if s.stored("copy") != nil {
		t.Error("half an import was imported")
	}
	s.brings("copy", dataset.Fail, set, tally{created: 60})
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// TestImportThatStops: an import that the store stops says how far it came, and goes on
// when it is given again.
func TestImportThatStops(t *testing.T) {
	t.Parallel()
	from, to := open(t, coretest.Options{}), open(t, coretest.Options{})
	from.write("docs", corpus(330)...)
	set := from.export("docs", true)
	to.Store.FailUpdates(0, errors.New("secret detail of the disk"))
	to.refuses("docs", dataset.Fail, set, "internal_error", "nothing was imported")
	to.Store.FailUpdates(2, errors.New("secret detail of the disk"))
	_, err := to.bring("docs", dataset.Fail, set)
	if message := fault.From(err).Message; fault.CodeOf(err) != fault.Internal || strings.Contains(message, "secret") ||
		!strings.Contains(message, `200 of 330 documents are stored in namespace "docs"`) ||
		!strings.Contains(message, "the same import goes on") {
		t.Errorf("%v", err)
	}
	to.Store.OnUpdate.Clear()
	if n := len(to.stored("docs")); n != 200 {
		t.Errorf("%d documents are stored", n)
	}
	to.brings("docs", dataset.Fail, set, tally{created: 130, unchanged: 200})
	if is, was := coretest.End(t, to.export("docs", true)), coretest.End(t, set); is.Hash != was.Hash {
		t.Errorf("in the end %+v, was %+v", is, was)
	}
}

// TestImportOfWhatAnIndexDoesNotTake is stored, says so, and is found later.
func TestImportOfWhatAnIndexDoesNotTake(t *testing.T) {
	t.Parallel()
	from, to := open(t, coretest.Options{}), open(t, coretest.Options{})
	from.write("docs", doc("a", "Alpha.", ""))
	set := from.export("docs", true)
	to.Index.OnApply.Set(func() error { return errors.New("disk trouble") })
	to.refuses("docs", dataset.Fail, set, "unavailable", "1 of 1 documents are stored", "goes on")
	to.Index.OnApply.Clear()
	to.brings("docs", dataset.Fail, set, tally{unchanged: 1})
	if hits := to.find("docs", coretest.Object{"query": "alpha"}); !slices.Equal(hits, []string{"a"}) {
		t.Errorf("found %v", hits)
	}
}

// breaking is a store whose reads of documents fail after so many.
type breaking struct {
	port.Store
	left atomic.Int64
}

func (s *breaking) View(ctx context.Context, fn func(port.Reader) error) error {
	return s.Store.View(ctx, func(r port.Reader) error { return fn(&breakingReader{r, s}) })
}

type breakingReader struct {
	port.Reader
	s *breaking
}

func (r *breakingReader) ListDocuments(ctx context.Context, p port.Partition, l port.DocumentList) ([]port.DocumentHead, error) {
	if r.s.left.Add(-1) < 0 {
		return nil, errors.New("the disk is gone")
	}
	return r.Reader.ListDocuments(ctx, p, l)
}

// TestExportThatFails: an export that fails says so in its last line, without the
// cause, and does not look whole.
func TestExportThatFails(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	s.write("docs", corpus(200)...)
	disk := &breaking{Store: s.Store}
	disk.left.Store(2)
	set, err := s.stream(s.over(disk), "docs", true)
	if err == nil {
		t.Error("the export succeeds")
	}
	last := bytes.TrimSuffix(set, []byte("\n"))
	last = last[bytes.LastIndexByte(last, '\n')+1:]
	if !bytes.HasPrefix(last, []byte(`{"type":"error","data":{"code":"internal_error",`)) ||
		bytes.Contains(set, []byte("disk is gone")) {
		t.Errorf("the last line is %s", last)
	}
	s.refuses("copy", dataset.Fail, set, "invalid_request", "the export failed here")
	if s.stored("copy") != nil {
		t.Error("something was imported")
	}
	s.brings("copy", dataset.Fail, s.export("docs", true), tally{created: 200})

	if _, err := s.stream(s.transfers, "none", true); fault.CodeOf(err) != fault.NamespaceNotFound {
		t.Errorf("an export of nothing: %v", err)
	}
	// Deleted between the answer's first and its second line.
	o, err := s.Keys.Organization(s.ctx, "default")
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.transfers.Export(s.ctx, o, s.partition("copy"), true)
	if err != nil || x.ContentType() != "application/x-ndjson" {
		t.Fatal(err)
	}
	ids := make([]string, 200)
	for i := range ids {
		ids[i] = fmt.Sprintf("d%03d", i)
	}
	s.remove("copy", ids...)
	var out bytes.Buffer
	if err := x.Stream(s.ctx, &out); err == nil || !strings.Contains(out.String(), "was deleted before it was read") {
		t.Errorf("an export of what was deleted: %v, %s", err, out.Bytes())
	}
	// A reader who leaves ends it.
	x, err = s.transfers.Export(s.ctx, o, s.partition("docs"), true)
	if err != nil {
		t.Fatal(err)
	}
	left := errors.New("the reader has left")
	if err := x.Stream(s.ctx, failingWriter{left}); !errors.Is(err, left) {
		t.Errorf("a reader who leaves: %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// TestExportBesideWrites: an export beside writes is of one moment, whichever that is.
func TestExportBesideWrites(t *testing.T) {
	t.Parallel()
	s, to := open(t, coretest.Options{}), open(t, coretest.Options{})
	const pairs = 100
	pair := func(i, version int) []coretest.Object {
		text := fmt.Sprintf("Pair %d in version %d.", i, version)
		return []coretest.Object{doc(fmt.Sprintf("a%03d", i), text, ""), doc(fmt.Sprintf("z%03d", i), text, "")}
	}
	var all []coretest.Object
	for i := range pairs {
		all = append(all, pair(i, 0)...)
	}
	s.write("docs", all...)
	stop, done := make(chan struct{}), make(chan struct{})
	var writes atomic.Int64
	go func() {
		defer close(done)
		for version := 1; ; version++ {
			for i := range pairs {
				select {
				case <-stop:
					return
				default:
				}
				s.write("docs", pair(i, version)...)
				writes.Add(1)
			}
		}
	}()
	var last []byte
	for range 5 {
		for before := writes.Load(); writes.Load() == before; { // some between the exports
			select {
			case <-done: // a write has failed
				t.FailNow()
			default:
				time.Sleep(time.Millisecond)
			}
		}
		last = s.export("docs", true)
		texts := map[string]string{}
		scan := dataset.NewScan(bytes.NewReader(last))
		for {
			l, err := scan.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if l.Kind == dataset.KindDocument {
				var d dataset.Document
				if err := l.Decode(&d); err != nil {
					t.Fatal(err)
				}
				texts[d.ID] = d.Text
			}
		}
		if len(texts) != 2*pairs || scan.Whole() != nil {
			t.Fatalf("%d documents, %v", len(texts), scan.Whole())
		}
		for id, text := range texts {
			if text != texts["z"+id[1:]] {
				t.Errorf("%s and its twin are of different moments", id)
			}
		}
	}
	close(stop)
	<-done
	to.brings("docs", dataset.Fail, last, tally{created: 2 * pairs})
	if is, was := coretest.End(t, to.export("docs", true)), coretest.End(t, last); is.Hash != was.Hash {
		t.Errorf("imported: %+v, was %+v", is, was)
	}
}
