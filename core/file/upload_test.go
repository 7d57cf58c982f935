package file_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/file"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// reader reads text whose pages end with form feeds; some files are more than it can take.
type reader struct{}

func (reader) Formats() []port.Format {
	return []port.Format{{MediaType: "text/plain", Name: "text", Extensions: []string{".txt"}}}
}

func (reader) Extract(_ context.Context, f port.File) (x port.Extracted, err error) {
	content := string(f.Content)
	switch content {
	case "broken":
		return x, port.FileErrorf(port.FileBroken, nil, "is broken")
	case "lost":
		return x, fault.New(fault.Upstream, "the reader is lost")
	case "odd":
		x.Metadata = map[string]any{"$in": "a"}
	}
	x.Format = port.Format{MediaType: "text/plain"}
	if title, rest, ok := strings.Cut(content, "|"); ok {
		x.Title, content = title, rest
	}
	pages := strings.Split(content, "\f")
	for i, text := range pages {
		s := port.Section{Text: text}
		if len(pages) > 1 {
			s.Page = i + 1
		}
		x.Sections = append(x.Sections, s)
	}
	return x, nil
}

// body is the parts of a call, after which comes an error; nil: its end.
type body struct {
	parts []op.BodyPart
	fails error
}

func (b *body) Next() (*op.BodyPart, error) {
	if len(b.parts) == 0 {
		if b.fails != nil {
			return nil, b.fails
		}
		return nil, io.EOF
	}
	p := b.parts[0]
	b.parts = b.parts[1:]
	return &p, nil
}

func part(name, content string) op.BodyPart {
	return op.BodyPart{Name: "file", FileName: name, Content: strings.NewReader(content)}
}

func metadata(content string) op.BodyPart {
	return op.BodyPart{Name: "metadata", Content: strings.NewReader(content)}
}

// broken is a content that can't be read to its end.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

type bed struct {
	*testing.T
	*coretest.Fixture
	*file.Service
	ctx       context.Context
	documents *document.Service
}

func open(t *testing.T) *bed {
	f := coretest.New(t, coretest.Options{})
	d := services.Documents(f)
	return &bed{t, f, file.New(file.Settings{Documents: d, Extractor: reader{}}), f.Caller(key.Issue{}), d}
}

func (b *bed) upload(change func(*file.Upload), parts ...op.BodyPart) (file.Result, error) {
	in := file.Upload{Namespace: "docs"}
	if change != nil {
		change(&in)
	}
	in.TakeParts(&body{parts: parts})
	return b.Upload(b.ctx, in)
}

// stored are the ids of the namespace's documents.
func (b *bed) stored() (ids []string) {
	b.Helper()
	limit := 1000
	list, err := b.documents.List(b.ctx, document.ListDocuments{Namespace: "docs", Limit: &limit})
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range list.Documents {
		ids = append(ids, d.ID)
	}
	slices.Sort(ids)
	return ids
}

func hash(content string) string {
	h := sha256.Sum256([]byte(content))
	return "sha256:" + hex.EncodeToString(h[:])
}

// Files that can be read are written with what is known of them, and the others say why.
func TestUpload(t *testing.T) {
	b := open(t)
	const garden = "Garden|The hedge is cut.\fIn February."
	for _, again := range []bool{false, true} {
		got, err := b.upload(nil, part("garden.txt", garden), part("broken.txt", "broken"), metadata(`{"kind": "guide"}`),
			part("odd.txt", "odd"))
		if err != nil {
			t.Fatal(err)
		}
		created, n := !again, 1
		want := &file.Uploaded{Namespace: "docs", Written: 1, Chunks: 1, Failed: 2, Searchable: new(true), Files: []file.File{
			{Name: "garden.txt", Status: "read", MediaType: "text/plain", ContentHash: hash(garden), Title: "Garden", Pages: 2,
				Documents: []file.Outcome{{ID: "garden.txt", Created: &created, Unchanged: &again, Chunks: &n}}},
			{Name: "broken.txt", Status: "failed", Error: &file.Failure{Code: "broken", Message: "is broken"},
				ContentHash: hash("broken"), Documents: []file.Outcome{}},
			{Name: "odd.txt", Status: "failed", MediaType: "text/plain", ContentHash: hash("odd"), Documents: []file.Outcome{}},
		}}
		if again {
			want.Written, want.Unchanged = 0, 1
		}
		if e := got.Uploaded.Files[2].Error; e == nil || e.Code != "invalid_metadata" {
			t.Errorf("metadata that can't be stored: %+v", e)
		}
		want.Files[2].Error = got.Uploaded.Files[2].Error
		want.Chunks = got.Chunks
		want.Files[0].Documents[0].Chunks = got.Uploaded.Files[0].Documents[0].Chunks
		if d := cmp.Diff(want, got.Uploaded); d != "" || got.Accepted != nil || got.StatusCode() != 200 || got.Headers() != nil {
			t.Error(d, got)
		}
		if *got.Uploaded.Files[0].Documents[0].Chunks != got.Chunks || got.Chunks == 0 {
			t.Errorf("%d chunks, of its document %d", got.Chunks, *got.Uploaded.Files[0].Documents[0].Chunks)
		}
	}
	d, err := b.documents.Get(b.ctx, document.GetDocument{Namespace: "docs", ID: "garden.txt"})
	if want := `{"file_hash":"` + hash(garden) + `","kind":"guide","media_type":"text/plain","page":1,"path":"garden.txt",` +
		`"title":"Garden"}`; err != nil || d.Text != "The hedge is cut.\n\f\nIn February." || string(d.Metadata) != want {
		t.Errorf("stored: %+v, %v", d, err)
	}
	got, err := b.upload(nil, part("broken.txt", "broken"))
	if err != nil || got.Uploaded.Failed != 1 || got.Written != 0 || len(got.Uploaded.Files) != 1 {
		t.Errorf("nothing to write: %+v, %v", got, err)
	}
}

// A file of a name that was uploaded before replaces all its documents, and no others.
func TestUploadReplacesItsParts(t *testing.T) {
	b := open(t)
	long := func(parts int) string { return strings.Repeat("x", parts*file.MaxText) }
	text := "mine"
	for _, id := range []string{"a.txt:part-note", "a.txt:part-", "a.txtx", "b.txt"} {
		if _, err := b.documents.Write(b.ctx, document.WriteDocuments{Namespace: "docs",
			Documents: []document.Input{{ID: id, Text: &text}}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		content string
		want    string
	}{
		{"short", "[a.txt a.txt:part- a.txt:part-note a.txtx b.txt]"},
		{long(3), "[a.txt:part- a.txt:part-0001 a.txt:part-0002 a.txt:part-0003 a.txt:part-note a.txtx b.txt]"},
		{long(2), "[a.txt:part- a.txt:part-0001 a.txt:part-0002 a.txt:part-note a.txtx b.txt]"},
		{"broken", "[a.txt:part- a.txt:part-0001 a.txt:part-0002 a.txt:part-note a.txtx b.txt]"},
		{"short", "[a.txt a.txt:part- a.txt:part-note a.txtx b.txt]"},
	} {
		got, err := b.upload(nil, part("a.txt", c.content))
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, d := range got.Uploaded.Files[0].Documents {
			ids = append(ids, d.ID)
		}
		stored := strings.ReplaceAll(fmt.Sprint(b.stored()), "a.txt:part- ", "")
		want := strings.ReplaceAll(c.want, "a.txt:part- ", "")
		if stored != want {
			t.Errorf("after %d bytes there are %s, want %s", len(c.content), stored, want)
		}
		if n := len(c.content) / file.MaxText; n > 0 && (len(ids) != n || ids[n-1] != file.PartID("a.txt", n)) {
			t.Errorf("%d bytes are %v", len(c.content), ids)
		}
	}
}

// An upload that nobody waits for is accepted, and names its documents.
func TestUploadIsAccepted(t *testing.T) {
	b := open(t)
	got, err := b.upload(func(in *file.Upload) { in.Prefer = "respond-async" }, part("a.txt", "One."), part("b.txt", "broken"),
		part("c.txt", "Three."))
	if err != nil || got.Accepted == nil || got.Uploaded != nil || got.StatusCode() != 202 {
		t.Fatalf("%+v, %v", got, err)
	}
	var ids []string
	for _, f := range got.Accepted.Files {
		for _, d := range f.Documents {
			ids = append(ids, d.ID)
		}
	}
	if got.Accepted.ID == "" || got.Accepted.Failed != 1 || !slices.Equal(ids, []string{"a.txt", "c.txt"}) ||
		got.Headers()["Location"] == "" {
		t.Errorf("%+v with headers %v", got.Accepted, got.Headers())
	}
}

// An upload that does not wait for the index says so, as a write does.
func TestUploadIsSearchableSoon(t *testing.T) {
	b := open(t)
	b.Defer()
	b.Service = file.New(file.Settings{Documents: services.Documents(b.Fixture), Extractor: reader{}})
	for _, prefer := range []string{"", "searchable=soon"} {
		got, err := b.upload(func(in *file.Upload) { in.Prefer = prefer }, part(fmt.Sprint(len(prefer))+".txt", "One."))
		if err != nil || got.StatusCode() != 200 || *got.Searchable != (prefer == "") ||
			got.Headers()["Preference-Applied"] != prefer {
			t.Errorf("Prefer: %s: %+v with headers %v, %v", prefer, got.Uploaded, got.Headers(), err)
		}
	}
	got, err := b.upload(nil, part("b.txt", "broken"))
	if err != nil || got.Searchable != nil {
		t.Errorf("nothing to write: %+v, %v", got.Uploaded, err)
	}
}

// A dry run shows what would be written.
func TestUploadDryRun(t *testing.T) {
	b := open(t)
	const content = "The hedge is cut.\fIn February."
	got, err := b.upload(func(in *file.Upload) { in.DryRun = true }, part("a.txt", content), part("b.txt", "broken"))
	if err != nil || len(got.Uploaded.Files) != 2 || got.Uploaded.Failed != 1 || got.Written != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	d := got.Uploaded.Files[0].Documents[0]
	if *d.Text != "The hedge is cut.\n\f\nIn February." || !strings.Contains(string(d.Metadata), `"page":1`) ||
		*d.Chunks != len(*d.ChunkList) || got.Chunks != *d.Chunks || *d.Chunks == 0 {
		t.Errorf("%+v of %+v", d, got.Uploaded)
	}
	for i, c := range *d.ChunkList {
		page := 1
		if strings.HasPrefix(c.Text, "In") {
			page = 2
		}
		if c.Index != i || c.Text != (*d.Text)[c.Start:c.End] || c.Page != page {
			t.Errorf("chunk %d: %+v", i, c)
		}
	}
	_, err = b.documents.List(b.ctx, document.ListDocuments{Namespace: "docs"})
	if fault.CodeOf(err) != fault.NamespaceNotFound {
		t.Errorf("it is written: %v", err)
	}
	got, err = b.upload(func(in *file.Upload) { in.DryRun = true }, part("c.txt", "Garden|The hedge is cut."))
	if err != nil || (*got.Uploaded.Files[0].Documents[0].ChunkList)[0].Heading != "Garden" {
		t.Errorf("a file with a title: %+v, %v", got.Uploaded, err)
	}
	lost := errors.New("lost")
	b.Store.OnView.Set(func() error { return lost })
	if _, err := b.upload(func(in *file.Upload) { in.DryRun = true }, part("a.txt", content)); !errors.Is(err, lost) {
		t.Errorf("a preview that fails: %v", err)
	}
}

// What is wrong with a call refuses all of it.
func TestUploadRefuses(t *testing.T) {
	b := open(t)
	lost := errors.New("lost")
	many := func(n int) (out []op.BodyPart) {
		for i := range n {
			out = append(out, part(fmt.Sprint(i, ".txt"), "broken"))
		}
		return out
	}
	name := func(n int) string { return strings.Repeat("x", n) }
	big := func(n int) op.BodyPart { return metadata(`{"a": "` + name(100) + `"}` + strings.Repeat(" ", n-109)) }
	ok := part("a.txt", "broken")
	for what, c := range map[string]struct {
		parts []op.BodyPart
		code  fault.Code // "": it is taken
		says  string
	}{
		"nothing":           {nil, fault.InvalidRequest, "file: is required"},
		"no file":           {[]op.BodyPart{metadata("{}")}, fault.InvalidRequest, "file: is required"},
		"no name":           {[]op.BodyPart{part("", "x")}, fault.InvalidRequest, "must have a file name"},
		"NUL alone":         {[]op.BodyPart{part("\x00", "x")}, fault.InvalidRequest, "must have a file name"},
		"a long name":       {[]op.BodyPart{part(name(255), "broken")}, "", ""},
		"too long a name":   {[]op.BodyPart{part(name(256), "broken")}, fault.InvalidRequest, "at most 255 bytes"},
		"a name twice":      {[]op.BodyPart{ok, ok}, fault.InvalidID, "two files"},
		"another field":     {[]op.BodyPart{{Name: "files", FileName: "a.txt"}}, fault.InvalidRequest, "not a known field"},
		"many files":        {many(file.MaxFiles), "", ""},
		"too many files":    {many(file.MaxFiles + 1), fault.InvalidRequest, "at most 100 files"},
		"metadata twice":    {[]op.BodyPart{metadata("{}"), ok, metadata("{}")}, fault.InvalidRequest, "more than once"},
		"no metadata":       {[]op.BodyPart{metadata("[]"), ok}, fault.InvalidMetadata, ""},
		"large metadata":    {[]op.BodyPart{big(64 << 10), ok}, "", ""},
		"too much metadata": {[]op.BodyPart{big(64<<10 + 1), ok}, fault.PayloadTooLarge, "larger than 65536 bytes"},
		"a lost reader":     {[]op.BodyPart{part("a.txt", "lost")}, fault.Upstream, ""},
	} {
		_, err := b.upload(nil, c.parts...)
		if c.code == "" && err != nil || c.code != "" && (fault.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %s: %s", what, err, c.code, c.says)
		}
	}
	for what, parts := range map[string][]op.BodyPart{
		"metadata": {{Name: "metadata", Content: broken{lost}}, ok},
		"a file":   {{Name: "file", FileName: "a.txt", Content: broken{lost}}},
	} {
		if _, err := b.upload(nil, parts...); !errors.Is(err, lost) {
			t.Errorf("%s that can't be read: %v", what, err)
		}
	}
	in := file.Upload{Namespace: "docs"}
	in.TakeParts(&body{parts: []op.BodyPart{ok}, fails: lost})
	if _, err := b.Upload(b.ctx, in); !errors.Is(err, lost) {
		t.Errorf("a body that ends early: %v", err)
	}

	good := func() op.BodyPart { return part("good.txt", "One.") }
	_, err := b.upload(func(in *file.Upload) { in.Namespace = "no name" }, good())
	if fault.CodeOf(err) != fault.InvalidNamespace {
		t.Errorf("an illegal namespace: %v", err)
	}
	b.Store.FailUpdates(0, lost)
	if _, err := b.upload(nil, good()); !errors.Is(err, lost) {
		t.Errorf("a write that fails: %v", err)
	}
	b.Store.OnUpdate.Clear()
	b.Store.OnView.Set(func() error { return lost })
	if _, err := b.upload(nil, good()); !errors.Is(err, lost) {
		t.Errorf("a store that is away: %v", err)
	}
	b.Store.OnView.Clear()
	if got, err := b.upload(nil, good()); err != nil || got.Written != 1 {
		t.Errorf("afterwards: %+v, %v", got, err)
	}
}

// sink takes documents without storing them.
type sink struct{ *document.Service }

func (sink) Write(_ context.Context, in document.WriteDocuments) (document.WriteResult, error) {
	out := document.Written{Documents: make([]document.WrittenDocument, len(in.Documents))}
	return document.WriteResult{Written: &out}, nil
}

// The files of a call make a hundred documents at most, and a file has 64 MiB.
func TestUploadIsBounded(t *testing.T) {
	b := open(t)
	b.Service = file.New(file.Settings{Documents: sink{b.documents}, Extractor: reader{}})
	pages := func(n int) string { return strings.Repeat(strings.Repeat("x", file.MaxText)+"\f", n-1) + "x" }
	if _, err := b.upload(nil, part("a.txt", pages(60)), part("b.txt", pages(40))); err != nil {
		t.Errorf("a hundred documents: %v", err)
	}
	_, err := b.upload(nil, part("a.txt", pages(60)), part("b.txt", pages(41)))
	if fault.CodeOf(err) != fault.PayloadTooLarge || !strings.Contains(err.Error(), "make 101 documents") {
		t.Errorf("one more: %v", err)
	}
	if testing.Short() {
		t.Skip("a file of 64 MiB takes a second")
	}
	got, err := b.upload(nil, op.BodyPart{Name: "file", FileName: "a.txt", Content: io.LimitReader(zeros{}, 64<<20+1)})
	if err != nil || got.Uploaded.Failed != 1 || got.Uploaded.Files[0].Error.Code != "too_large" ||
		got.Uploaded.Files[0].Error.Message != "has 67108865 bytes; at most 67108864 are read" {
		t.Errorf("a byte more than 64 MiB: %+v, %v", got.Uploaded, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A server without an extractor reads nothing.
func TestUploadOff(t *testing.T) {
	b := open(t)
	formats, err := b.Formats(b.ctx, file.ListFormats{})
	if want := []file.Format{{MediaType: "text/plain", Name: "text", Extensions: []string{".txt"}}}; err != nil ||
		cmp.Diff(want, formats.Formats) != "" {
		t.Errorf("formats %+v, %v", formats, err)
	}
	b.Service = file.New(file.Settings{Documents: b.documents})
	if _, err := b.upload(nil, part("a.txt", "x")); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("uploaded: %v", err)
	}
	if formats, err := b.Formats(b.ctx, file.ListFormats{}); err != nil || formats.Formats == nil || len(formats.Formats) != 0 {
		t.Errorf("formats of none: %+v, %v", formats, err)
	}
}
