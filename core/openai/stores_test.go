package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/file"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/openai"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/query"
)

// extractor reads text without its last line's end, as that of texts does.
type extractor struct{}

func (extractor) Formats() []port.Format { return nil }

func (extractor) Extract(_ context.Context, f port.File) (x port.Extracted, err error) {
	switch content := string(f.Content); {
	case content == "":
		return x, port.FileErrorf(port.FileNoText, nil, "holds no text")
	case content == "large":
		return x, port.FileErrorf(port.FileTooLarge, nil, "is too large")
	case strings.HasPrefix(content, "%PDF"):
		return port.Extracted{Format: port.Format{MediaType: "application/pdf"}, Title: "A title",
			Sections: []port.Section{{Text: "of a page", Page: 1}}}, nil
	default:
		return port.Extracted{Format: port.Format{MediaType: "text/plain"},
			Sections: []port.Section{{Text: strings.TrimSuffix(content, "\n")}}}, nil
	}
}

// parts are those of a body.
type parts []op.BodyPart

func (p *parts) Next() (*op.BodyPart, error) {
	if len(*p) == 0 {
		return nil, io.EOF
	}
	one := (*p)[0]
	*p = (*p)[1:]
	return &one, nil
}

func field(name, content string) op.BodyPart {
	return op.BodyPart{Name: name, Content: strings.NewReader(content)}
}

func named(name, content string) op.BodyPart {
	return op.BodyPart{Name: "file", FileName: name, Content: strings.NewReader(content)}
}

// shelf is the protocol over a whole store, as one caller sees it.
type shelf struct {
	t         *testing.T
	f         *coretest.Fixture
	service   *openai.Service
	documents *document.Service
	ctx       context.Context
	now       time.Time
}

func newShelf(t *testing.T, o coretest.Options) *shelf {
	t.Helper()
	s := &shelf{t: t, now: time.Now()}
	s.f = coretest.New(t, o)
	s.documents = services.Documents(s.f)
	s.service = openai.New(openai.Settings{
		Enabled:    true,
		Namespaces: namespace.New(s.f.Store, s.f.Pages, s.f.Models, s.f.Projector.Drop),
		Queries:    services.Queries(s.f, func(*query.Settings) {}),
		Store:      s.f.Store,
		Documents:  s.documents,
		Files:      file.New(file.Settings{Documents: s.documents, Extractor: extractor{}}),
		Now:        func() time.Time { s.now = s.now.Add(time.Second); return s.now },
	})
	s.ctx = s.f.Caller(key.Issue{})
	return s
}

// as is the same shelf, seen by another caller.
func (s *shelf) as(in key.Issue) *shelf {
	other := *s
	other.ctx = s.f.Caller(in)
	return &other
}

func ask[In, Out any](s *shelf, fn func(context.Context, In) (Out, error), body object, set ...func(*In)) *coretest.Reply {
	s.t.Helper()
	return coretest.Ask(s.ctx, s.t, fn, body, set...)
}

func (s *shelf) create(body object) *coretest.Reply {
	s.t.Helper()
	return ask(s, s.service.CreateStore, body)
}

func (s *shelf) made(body object) string {
	s.t.Helper()
	return s.create(body).OK().JSON["id"].(string)
}

func (s *shelf) get(id string) *coretest.Reply {
	s.t.Helper()
	return ask(s, s.service.GetStore, nil, func(in *openai.StoreRef) { in.Store = id })
}

func (s *shelf) upload(all ...op.BodyPart) *coretest.Reply {
	s.t.Helper()
	body := parts(all)
	return ask(s, s.service.UploadFile, nil, func(in *openai.UploadFile) { in.TakeParts(&body) })
}

func (s *shelf) sent(name, content string) string {
	s.t.Helper()
	return s.upload(named(name, content), field("purpose", "assistants")).OK().JSON["id"].(string)
}

func (s *shelf) attach(store string, body object) *coretest.Reply {
	s.t.Helper()
	return ask(s, s.service.Attach, body, func(in *openai.Attach) { in.Store = store })
}

func (s *shelf) batch(store string, body object) *coretest.Reply {
	s.t.Helper()
	return ask(s, s.service.AttachSeveral, body, func(in *openai.AttachSeveral) { in.Store = store })
}

// stored reads a file of a store.
func (s *shelf) stored(store, id string) *coretest.Reply {
	s.t.Helper()
	return ask(s, s.service.GetStoreFile, nil, func(in *openai.StoreFileRef) { in.Store, in.File = store, id })
}

func (s *shelf) removeFrom(store, id string) *coretest.Reply {
	s.t.Helper()
	return ask(s, s.service.RemoveStoreFile, nil, func(in *openai.StoreFileRef) { in.Store, in.File = store, id })
}

func (s *shelf) file(id string) *coretest.Reply {
	s.t.Helper()
	return ask(s, s.service.GetFile, nil, func(in *openai.FileRef) { in.File = id })
}

func (s *shelf) deleteFile(id string) *coretest.Reply {
	s.t.Helper()
	return ask(s, s.service.DeleteFile, nil, func(in *openai.FileRef) { in.File = id })
}

func (s *shelf) deleteStore(id string) *coretest.Reply {
	s.t.Helper()
	return ask(s, s.service.DeleteStore, nil, func(in *openai.StoreRef) { in.Store = id })
}

func (s *shelf) found(store, text string) []string {
	s.t.Helper()
	return coretest.Column(ask(s, s.service.Search, object{"query": text},
		func(in *openai.SearchRequest) { in.Store = store }).OK().
		List("data"), "file_id")
}

// walk reads all pages of a list, of limit items each.
func walk(t *testing.T, page func(after string) *coretest.Reply, limit int) (ids []string) {
	t.Helper()
	for after := ""; ; {
		r := page(after).OK()
		some := coretest.Column(r.List("data"), "id")
		if len(some) > limit || r.JSON["object"] != "list" {
			t.Fatalf("a page of %d: %s", limit, r.Body)
		}
		ids = append(ids, some...)
		if r.JSON["has_more"] != true {
			return ids
		}
		if len(some) < limit || r.JSON["last_id"] != some[len(some)-1] || r.JSON["first_id"] != some[0] {
			t.Fatalf("a page that is not the last: %s", r.Body)
		}
		after = some[len(some)-1]
	}
}

// both reads all pages of a list, and all pages of it from its last item back to the first, which are to be the same.
func (s *shelf) both(limit int, page func(p openai.ListParams) *coretest.Reply) []string {
	s.t.Helper()
	forth := walk(s.t, func(after string) *coretest.Reply { return page(openai.ListParams{Limit: &limit, After: after}) }, limit)
	if len(forth) == 0 {
		return nil
	}
	back := forth[len(forth)-1:]
	for more := true; more; {
		r := page(openai.ListParams{Limit: &limit, Before: back[0]}).OK()
		some := coretest.Column(r.List("data"), "id")
		if more = r.JSON["has_more"] == true; more && len(some) != limit {
			s.t.Fatalf("a page that is not the first: %s", r.Body)
		}
		back = append(some, back...)
	}
	if !slices.Equal(forth, back) {
		s.t.Errorf("forth in pages of %d: %v, back: %v", limit, forth, back)
	}
	// Between two items there are those between them, and behind the second none.
	first, last := forth[0], forth[len(forth)-1]
	between := coretest.Column(page(openai.ListParams{Limit: new(100), After: first, Before: last}).OK().List("data"), "id")
	if want := forth[1:max(1, len(forth)-1)]; !slices.Equal(between, want) {
		s.t.Errorf("between %s and %s: %v, want %v", first, last, between, want)
	}
	if r := page(openai.ListParams{After: last, Before: first}).OK(); len(r.List("data")) > 0 || r.JSON["has_more"] != false {
		s.t.Errorf("behind the last and before the first: %s", r.Body)
	}
	return forth
}

func (s *shelf) stores(order string, limit int) []string {
	s.t.Helper()
	return s.both(limit, func(p openai.ListParams) *coretest.Reply {
		p.Order = order
		return ask(s, s.service.ListStores, nil, func(in *openai.ListStores) { in.ListParams = p })
	})
}

func (s *shelf) files(store, order, filter string, limit int) []string {
	s.t.Helper()
	return s.both(limit, func(p openai.ListParams) *coretest.Reply {
		p.Order = order
		return ask(s, s.service.ListStoreFiles, nil, func(in *openai.ListStoreFiles) {
			in.Store, in.Filter, in.ListParams = store, filter, p
		})
	})
}

func (s *shelf) ofBatch(store, batch, order string, limit int) []string {
	s.t.Helper()
	return s.both(limit, func(p openai.ListParams) *coretest.Reply {
		p.Order = order
		return ask(s, s.service.ListBatchFiles, nil, func(in *openai.ListBatchFiles) {
			in.Store, in.Batch, in.ListParams = store, batch, p
		})
	})
}

// eventually waits until a file of a store has a status.
func (s *shelf) eventually(store, id, status string) {
	s.t.Helper()
	for began := time.Now(); s.stored(store, id).OK().JSON["status"] != status; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			s.t.Fatalf("never %s: %s", status, s.stored(store, id).Body)
		}
	}
}

func counts(r *coretest.Reply) string {
	c := r.OK().JSON["file_counts"].(object)
	return fmt.Sprintf("%v in progress, %v completed, %v failed, %v", c["in_progress"], c["completed"], c["failed"], c["total"])
}

func TestStoresAreMadeAndListed(t *testing.T) {
	s := newShelf(t, coretest.Options{})
	r := s.create(object{"name": "Bread", "metadata": object{"team": "shop"}, "expires_after": nil,
		"chunking_strategy": object{"type": "auto"}}).OK()
	id := r.JSON["id"].(string)
	counts := `{"in_progress": 0, "completed": 0, "failed": 0, "cancelled": 0, "total": 0}`
	r.Answers(`{"id": "`+id+`", "object": "vector_store", "name": "Bread", "status": "completed",
		"usage_bytes": 0, "file_counts": `+
		counts+`, "metadata": {"team": "shop"}}`, "created_at", "last_active_at")
	if !strings.HasPrefix(id, "vs_") || r.Number("created_at") < 1.7e9 {
		t.Errorf("%s", r.Body)
	}
	s.get(id).Answers(string(r.Body))
	if got := s.found(id, "bread"); len(got) != 0 {
		t.Errorf("an empty store holds %v", got)
	}
	if _, err := coretest.Call(s.ctx, s.documents.Write, document.WriteDocuments{Namespace: "plain",
		Documents: []document.Input{{ID: "a", Text: new("Bread.")}}}); err != nil {
		t.Fatal(err)
	}
	third := s.made(object{})
	want := s.stores("asc", 100)
	if len(want) != 3 || !slices.Contains(want, "plain") || slices.Index(want, id) > slices.Index(want, third) {
		t.Errorf("listed %v", want)
	}
	for _, limit := range []int{1, 2} {
		if got := s.stores("asc", limit); !slices.Equal(got, want) {
			t.Errorf("in pages of %d %v, want %v", limit, got, want)
		}
	}
	slices.Reverse(want)
	for _, order := range []string{"desc", ""} {
		if got := s.stores(order, 1); !slices.Equal(got, want) {
			t.Errorf("the newest first %v, want %v", got, want)
		}
	}
	list := func(set func(*openai.ListStores)) *coretest.Reply { return ask(s, s.service.ListStores, nil, set) }
	list(func(in *openai.ListStores) { in.Before = "vs_none" }).Fails(fault.InvalidRequest, `before: "vs_none" is not`)
	list(func(in *openai.ListStores) { in.After = "vs_none" }).Fails(fault.InvalidRequest, `after: "vs_none" is not`)
	list(func(in *openai.ListStores) { in.Order = "up" }).Fails(fault.InvalidRequest, "order")

	change := func(id string, body object) *coretest.Reply {
		return ask(s, s.service.ChangeStore, body, func(in *openai.ChangeStore) { in.Store = id })
	}
	if r := change(id, object{"name": "Soup"}).OK(); r.JSON["name"] != "Soup" || r.JSON["metadata"].(object)["team"] != "shop" {
		t.Errorf("renamed: %s", r.Body)
	}
	if r := change(id, object{"metadata": object{}}).OK(); r.JSON["name"] != "Soup" || len(r.JSON["metadata"].(object)) != 0 {
		t.Errorf("without metadata: %s", r.Body)
	}
	if r := change("plain", object{"name": "A namespace"}).OK(); r.JSON["name"] != "A namespace" || r.JSON["id"] != "plain" {
		t.Errorf("a namespace: %s", r.Body)
	}
	if r := s.get("plain").OK(); r.JSON["name"] != "A namespace" || r.Number("usage_bytes") != 6 {
		t.Errorf("a namespace: %s", r.Body)
	}
	change("none", object{"name": "x"}).Fails(fault.NamespaceNotFound, `"none"`)

	s.deleteStore(id).Answers(`{"id": "` + id + `", "object": "vector_store.deleted", "deleted": true}`)
	s.deleteStore(id).Fails(fault.NamespaceNotFound, id)
	s.deleteStore("plain").OK()
	s.get("plain").Fails(fault.NamespaceNotFound)
	if got := s.stores("", 5); !slices.Equal(got, []string{third}) {
		t.Errorf("left are %v", got)
	}
}

func TestWhatStoresAreRefused(t *testing.T) {
	s := newShelf(t, coretest.Options{})
	many := object{}
	for i := range 17 {
		many[fmt.Sprint(i)] = ""
	}
	long := strings.Repeat("ä", 513)
	for what, body := range map[string]object{
		"metadata: must have at most 16":         {"metadata": many},
		"metadata: must have keys of at most 64": {"metadata": object{long[:130]: ""}},
		"texts of at most 512":                   {"metadata": object{"a": long}},
		"chunking_strategy: must be absent": {"chunking_strategy": object{"type": "static",
			"static": object{"max_chunk_size_tokens": 800, "chunk_overlap_tokens": 400}}},
		"description":                            {"description": "x"},
		"name":                                   {"name": strings.Repeat("ä", 257)},
		`file_ids: "garden" is no uploaded file`: {"file_ids": []string{"garden"}},
		"chunking_strategy: must be absent or of ": {"chunking_strategy": object{"type": "auto",
			"static": object{"max_chunk_size_tokens": 800, "chunk_overlap_tokens": 400}}},
	} {
		r := s.create(body)
		if r.Err == nil || !strings.Contains(r.Err.Error(), what) {
			t.Errorf("%v: %v, want %s", body, r.Err, what)
		}
	}
	if got := s.stores("", 5); len(got) != 0 {
		t.Errorf("what was refused made %v", got)
	}
	s.create(object{"metadata": object{"a": long[:1024], strings.Repeat("k", 64): "x"}, "name": strings.Repeat("ä", 256),
		"expires_after": object{}}).OK()
	ask(s, s.service.ChangeStore, object{"metadata": many},
		func(in *openai.ChangeStore) { in.Store = "x" }).Fails(fault.InvalidMetadata)
}

func TestFilesAreKept(t *testing.T) {
	s := newShelf(t, coretest.Options{})
	r := s.upload(named("bread.txt", "Bread needs salt.\n"), field("purpose", "user_data")).OK()
	id := r.JSON["id"].(string)
	r.Answers(`{"id": "`+id+`", "object": "file", "bytes": 18, "filename": "bread.txt", "purpose": "user_data",
		"status": "processed"}`, "created_at")
	s.file(id).Answers(string(r.Body))
	content := func(id string) (string, error) {
		var out bytes.Buffer
		b, err := s.service.FileContent(s.ctx, openai.FileRef{File: id})
		if err == nil {
			err = b.Stream(s.ctx, &out)
		}
		return out.String(), err
	}
	for _, text := range []string{"Bread.\n", "Bread.", "Zwölf\n\nLeute"} {
		if got, err := content(s.sent("a.txt", text)); got != text || err != nil {
			t.Errorf("%q came back as %q, %v", text, got, err)
		}
	}
	pdf := s.sent("a.pdf", "%PDF of a page")
	if _, err := content(pdf); fault.CodeOf(err) != fault.InvalidRequest || !strings.Contains(err.Error(), pdf+"/content") {
		t.Errorf("the bytes of a PDF: %v", err)
	}
	long := s.sent("long.txt", strings.Repeat("One line.\n", 40_000))
	if _, err := content(long); fault.CodeOf(err) != fault.InvalidRequest {
		t.Errorf("the bytes of what is cut: %v", err)
	}
	list := func(order, purpose string, limit int) []string {
		return walk(t, func(after string) *coretest.Reply {
			return ask(s, s.service.ListFiles, nil, func(in *openai.ListFiles) {
				in.Order, in.Purpose, in.Limit, in.After = order, purpose, &limit, after
			})
		}, limit)
	}
	all := list("asc", "", 100)
	if len(all) != 6 || all[0] != id || all[5] != long || !slices.Equal(list("asc", "", 2), all) {
		t.Errorf("listed %v", all)
	}
	if got := list("asc", "user_data", 2); !slices.Equal(got, []string{id}) {
		t.Errorf("of a purpose %v", got)
	}
	slices.Reverse(all)
	if got := list("", "", 1); !slices.Equal(got, all) {
		t.Errorf("the newest first %v", got)
	}
	if n := len(ask(s, s.service.ListFiles, nil).OK().List("data")); n != 6 {
		t.Errorf("without a limit %d", n)
	}
	s.deleteFile(pdf).Answers(`{"id": "` + pdf + `", "object": "file", "deleted": true}`)
	s.deleteFile(pdf).Fails(fault.NotFound, pdf)
	s.file(pdf).Fails(fault.NotFound)

	purpose, a := field("purpose", "assistants"), func() op.BodyPart { return named("a.txt", "A.") }
	for what, c := range map[string]struct {
		code fault.Code
		all  []op.BodyPart
	}{
		"file: is required":           {fault.InvalidRequest, []op.BodyPart{purpose}},
		"purpose: is required":        {fault.InvalidRequest, []op.BodyPart{a()}},
		"purpose: must be assistants": {fault.InvalidRequest, []op.BodyPart{a(), field("purpose", "batch")}},
		"purpose: is given": {fault.InvalidRequest, []op.BodyPart{field("purpose", "user_data"),
			field("purpose", "user_data")}},
		"file: is given": {fault.InvalidRequest, []op.BodyPart{a(), a()}},
		"expires_after: must be absent": {fault.InvalidRequest, []op.BodyPart{field("expires_after[anchor]",
			"created_at")}},
		"speed: is not a known":                    {fault.InvalidRequest, []op.BodyPart{field("speed", "1")}},
		`"b.txt" cannot be read (no_text): it hol`: {fault.InvalidRequest, []op.BodyPart{named("b.txt", "")}},
		`"c.txt" cannot be read (too_large): it i`: {fault.PayloadTooLarge, []op.BodyPart{named("c.txt", "large")}},
	} {
		s.upload(c.all...).Fails(c.code, what)
	}
}

func TestFilesArePutIntoStores(t *testing.T) {
	s := newShelf(t, coretest.Options{})
	store, other := s.made(object{}), s.made(object{})
	bread, soup := s.sent("bread.txt", "Bread needs salt."), s.sent("soup.txt", "Soup is cold.")
	r := s.attach(store, object{"file_id": bread, "attributes": object{"kind": "recipe", "year": 2026, "raw": false}}).OK()
	attributes := r.JSON["attributes"].(object)
	if r.JSON["id"] != bread || r.JSON["object"] != "vector_store.file" || r.JSON["vector_store_id"] != store ||
		r.JSON["status"] != "completed" || r.JSON["last_error"] != nil || r.Number("usage_bytes") != 17 ||
		attributes["kind"] != "recipe" || attributes["year"] != 2026.0 || attributes["raw"] != false ||
		attributes["path"] != "bread.txt" ||
		r.JSON["chunking_strategy"].(object)["type"] != "other" || r.Number("created_at") < 1.7e9 {
		t.Errorf("%s", r.Body)
	}
	s.stored(store, bread).Answers(string(r.Body))
	s.attach(store, object{"file_id": soup}).OK()
	s.attach(other, object{"file_id": bread, "attributes": nil, "chunking_strategy": object{"type": "auto"}}).OK()
	if got := s.found(store, "salt"); !slices.Contains(got, bread) {
		t.Errorf("found %v", got)
	}
	if r := s.get(store).OK(); r.JSON["file_counts"].(object)["completed"] != 2.0 ||
		r.JSON["file_counts"].(object)["total"] != 2.0 {
		t.Errorf("%s", r.Body)
	}

	change := func(id string, body object) *coretest.Reply {
		return ask(s, s.service.ChangeStoreFile, body, func(in *openai.ChangeStoreFile) { in.Store, in.File = store, id })
	}
	again := change(bread, object{"attributes": object{"kind": "letter", "path": "bread.txt"}}).OK().JSON["attributes"].(object)
	if again["kind"] != "letter" || again["year"] != nil || again["path"] != "bread.txt" {
		t.Errorf("changed to %v", again)
	}
	change(bread, object{"attributes": object{"path": json.RawMessage(`"\u0062read.txt"`)}}).OK()
	change(bread, object{"attributes": object{"path": "x"}}).Fails(fault.InvalidMetadata, "attributes.path: is the file's own")
	change(bread, object{"attributes": object{"part": 1}}).Fails(fault.InvalidMetadata, "attributes.part")
	change(bread, object{"attributes": object{"$in": 1}}).Fails(fault.InvalidMetadata)
	change(bread, object{"attributes": nil}).Fails(fault.InvalidRequest, "{} removes all")
	change(bread, object{}).Fails(fault.InvalidRequest, "attributes")
	change("none", object{"attributes": object{}}).Fails(fault.DocumentNotFound)

	s.attach(store, object{"file_id": "none"}).Fails(fault.NotFound, "POST /v1/files")
	s.attach("none", object{"file_id": bread}).Fails(fault.NamespaceNotFound)
	s.attach(store, object{"file_id": bread, "chunking_strategy": object{"type": "static"}}).Fails(fault.InvalidRequest,
		"chunking_strategy")
	s.attach(store, object{"file_id": bread, "attributes": object{"a": object{}}}).Fails(fault.InvalidMetadata)

	if _, err := coretest.Call(s.ctx, s.documents.Write, document.WriteDocuments{Namespace: store,
		Documents: []document.Input{{ID: "zebra", Text: new("Stripes.")}, {ID: "zebra:part-x",
			Text: new("More.")}}}); err != nil {
		t.Fatal(err)
	}
	want := []string{bread, soup, "zebra", "zebra:part-x"}
	for _, limit := range []int{1, 2, 5} {
		if got := s.files(store, "asc", "", limit); !slices.Equal(got, want) {
			t.Errorf("in pages of %d: %v", limit, got)
		}
	}
	change("zebra", object{"attributes": object{}}).Fails(fault.NotFound, "POST /namespaces/"+store)

	s.removeFrom(store, soup).Answers(`{"id": "` + soup + `", "object": "vector_store.file.deleted", "deleted": true}`)
	s.removeFrom(store, soup).Fails(fault.DocumentNotFound, soup)
	s.stored(store, soup).Fails(fault.DocumentNotFound)
	s.file(soup).OK()
	s.removeFrom(store, "zebra").OK()
	s.stored(store, "zebra:part-x").OK()
	s.deleteFile(bread).OK()
	for _, of := range []string{store, other} {
		s.stored(of, bread).Fails(fault.DocumentNotFound)
	}
	s.get(other).OK()
	s.stored("none", bread).Fails(fault.NamespaceNotFound)
	ask(s, s.service.ListStoreFiles, nil, func(in *openai.ListStoreFiles) { in.Store = "none" }).Fails(fault.NamespaceNotFound)
	if filled := s.create(object{"file_ids": []string{soup}}).OK(); filled.JSON["file_counts"].(object)["completed"] != 1.0 {
		t.Errorf("a store made with a file: %s", filled.Body)
	}
	s.create(object{"file_ids": []string{soup, soup}}).Fails(fault.InvalidRequest, "more than once")
}

// A long text is written in the background. Until then nothing takes it away, and afterwards its parts are one file.
func TestLongFiles(t *testing.T) {
	e := coretest.NewEmbedder()
	s := newShelf(t, coretest.Options{Embedder: e})
	store := s.made(object{})
	long := s.sent("long.txt", strings.Repeat("One line about lamps.\n", 30_000))
	short := s.sent("short.txt", "Short.")
	hold := make(chan struct{})
	e.Before.Set(func(ctx context.Context, _ port.TextKind, _ []string) error {
		select {
		case <-hold:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	b := s.batch(store, object{"file_ids": []string{long, short}, "attributes": object{"kind": "x"}}).OK()
	id := b.JSON["id"].(string)
	if b.JSON["status"] != "in_progress" || b.JSON["file_counts"].(object)["in_progress"] != 2.0 || !strings.HasPrefix(id,
		"vsfb_") {
		t.Errorf("%s", b.Body)
	}
	if r := s.stored(store, long).OK(); r.JSON["status"] != "in_progress" {
		t.Errorf("%s", r.Body)
	}
	if r := s.get(store).OK(); r.JSON["status"] != "in_progress" || r.JSON["file_counts"].(object)["total"] != 2.0 {
		t.Errorf("%s", r.Body)
	}
	for filter, want := range map[string][]string{"": {long, short}, "in_progress": {long, short}, "completed": nil,
		"failed":    nil,
		"cancelled": nil} {
		if got := s.files(store, "asc", filter, 1); !slices.Equal(got, want) {
			t.Errorf("%q files are %v", filter, got)
		}
	}
	s.removeFrom(store, long).Fails(fault.Conflict, "still being written").Retry()
	s.deleteFile(long).Fails(fault.Conflict, "still being written")
	s.deleteStore(store).Fails(fault.Conflict, "still being written")
	close(hold)
	batch := func(id string) *coretest.Reply {
		return ask(s, s.service.GetBatch, nil, func(in *openai.BatchRef) { in.Store, in.Batch = store, id })
	}
	for batch(id).OK().JSON["status"] != "completed" {
		time.Sleep(10 * time.Millisecond)
	}
	e.Before.Clear()
	if r := batch(id).OK(); r.JSON["file_counts"].(object)["completed"] != 2.0 || r.JSON["object"] != "vector_store.files_batch" {
		t.Errorf("%s", r.Body)
	}
	batch("vsfb_none").Fails(fault.NotFound, "vsfb_none")
	r := s.stored(store, long).OK()
	if r.JSON["status"] != "completed" || r.Number("usage_bytes") < 650_000 || r.JSON["attributes"].(object)["kind"] != "x" {
		t.Errorf("%s", r.Body)
	}
	for order, want := range map[string][]string{"asc": {long, short}, "desc": {short, long}} {
		for _, limit := range []int{1, 2} {
			if got := s.files(store, order, "", limit); !slices.Equal(got, want) {
				t.Errorf("%s in pages of %d: %v", order, limit, got)
			}
		}
		if got := s.ofBatch(store, id, order, 1); !slices.Equal(got, want) {
			t.Errorf("of the batch %s: %v", order, got)
		}
	}
	text := ask(s, s.service.StoreFileContent, nil, func(in *openai.StoreFileRef) { in.Store, in.File = store, long }).OK()
	if n := len(text.List("data")); n != 3 || text.JSON["has_more"] != false || text.List("data")[0]["type"] != "text" {
		t.Errorf("a long text in %d parts", n)
	}
	if got := s.found(store, "lamps"); len(got) == 0 || got[0] != long {
		t.Errorf("found %v", got)
	}
	ask(s, s.service.StoreFileContent, nil, func(in *openai.StoreFileRef) { in.Store, in.File = store, "none" }).
		Fails(fault.DocumentNotFound)
	s.deleteFile(long).OK()
	s.stored(store, long).Fails(fault.DocumentNotFound)
	if got := s.files(store, "", "", 5); !slices.Equal(got, []string{short}) {
		t.Errorf("left are %v", got)
	}

	// A write that fails says why, and can be tried again.
	e.Before.Set(func(context.Context, port.TextKind, []string) error {
		return fault.New(fault.Internal, "an internal error occurred")
	})
	long = s.sent("long.txt", strings.Repeat("One line about lamps.\n", 30_000))
	s.attach(store, object{"file_id": long}).OK()
	for s.stored(store, long).OK().JSON["status"] == "in_progress" {
		time.Sleep(10 * time.Millisecond)
	}
	last, _ := s.stored(store, long).JSON["last_error"].(object)
	if last["code"] != "server_error" || last["message"] == "" {
		t.Errorf("failed for %v", last)
	}
	if got := s.files(store, "", "failed", 5); !slices.Equal(got, []string{long}) {
		t.Errorf("failed are %v", got)
	}
	if r := s.get(store).OK(); r.JSON["status"] != "completed" || r.JSON["file_counts"].(object)["failed"] != 1.0 {
		t.Errorf("%s", r.Body)
	}
	e.Before.Clear()
	s.deleteStore(store).OK()
	s.file(short).OK()
}

// A file that is deleted while it is put into a store leaves nothing there: either the store never takes it, or the
// deletion finds it there.
func TestFilesDeletedWhileTheyArePut(t *testing.T) {
	s := newShelf(t, coretest.Options{Embedder: coretest.NewEmbedder()})
	store := s.made(object{})
	var ids []string
	for i := range 20 {
		content := "Short, about lamps."
		if i%2 == 0 {
			content = longText("lamps")
		}
		id := s.sent("a.txt", content)
		ids = append(ids, id)
		var all sync.WaitGroup
		var put *coretest.Reply
		all.Go(func() { put = s.attach(store, object{"file_id": id}) })
		for fault.CodeOf(s.deleteFile(id).Err) == fault.Conflict { // until its write has ended
			time.Sleep(time.Millisecond)
		}
		all.Wait()
		if code := fault.CodeOf(put.Err); put.Err != nil && code != fault.NotFound && code != fault.DocumentNotFound {
			t.Errorf("put: %v", put.Err)
		}
	}
	for _, id := range ids {
		s.file(id).Fails(fault.NotFound, id)
	}
	// A write that was accepted before its file went would end before one that comes now.
	last := s.sent("b.txt", longText("chairs"))
	s.attach(store, object{"file_id": last}).OK()
	s.eventually(store, last, "completed")
	if got := s.files(store, "asc", "", 100); !slices.Equal(got, []string{last}) {
		t.Errorf("left are %v", got)
	}
}

// longText is long at little work: of words that no model knows.
func longText(about string) string {
	return strings.Repeat("One line about "+about+" and "+strings.Repeat("x", 400)+".\n", 900)
}

// Files whose writes wait, go on or have failed stand in their place among those that are there, whatever is asked for and
// however long the pages are, and count once.
func TestFilesByWhatBecameOfThem(t *testing.T) {
	e := coretest.NewEmbedder()
	s := newShelf(t, coretest.Options{Embedder: e})
	early, store := s.made(object{}), s.made(object{})
	long := func(about string) string { return s.sent("long.txt", longText(about)) }
	failed, failedToo, short := long("lamps"), long("oil"), s.sent("a.txt", "First.")
	again, last, held := long("wicks"), s.sent("b.txt", "Second."), long("glass")
	for _, id := range []string{short, again, last} {
		s.attach(store, object{"file_id": id}).OK()
		s.eventually(store, id, "completed")
	}
	s.attach(early, object{"file_id": again}).OK()
	s.eventually(early, again, "completed")
	e.Before.Set(func(context.Context, port.TextKind, []string) error {
		return fault.New(fault.Internal, "an internal error occurred")
	})
	for _, id := range []string{failed, failedToo} {
		s.attach(store, object{"file_id": id}).OK()
		s.eventually(store, id, "failed")
	}
	hold := make(chan struct{})
	e.Before.Set(func(ctx context.Context, _ port.TextKind, _ []string) error {
		select {
		case <-hold:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	s.attach(store, object{"file_id": held}).OK()
	s.attach(store, object{"file_id": again, "attributes": object{"kind": "new"}}).OK() // waits behind it
	if got := counts(s.get(store)); got != "2 in progress, 2 completed, 2 failed, 6" {
		t.Errorf("there are %s", got)
	}
	all := []string{failed, failedToo, short, again, last, held}
	for filter, want := range map[string][]string{"": all, "completed": {short, last}, "in_progress": {again, held},
		"failed": {failed, failedToo}, "cancelled": nil} {
		for _, limit := range []int{1, 2, 6} {
			if got := s.files(store, "asc", filter, limit); !slices.Equal(got, want) {
				t.Errorf("%q in pages of %d: %v, want %v", filter, limit, got, want)
			}
		}
		slices.Reverse(want)
		if got := s.files(store, "desc", filter, 1); !slices.Equal(got, want) {
			t.Errorf("%q, the newest first: %v, want %v", filter, got, want)
		}
	}
	// A file that cannot be taken out of one store stays in all.
	s.deleteFile(again).Fails(fault.Conflict, "still being written").Retry()
	s.stored(early, again).OK()
	close(hold)
	s.eventually(store, held, "completed")
	s.eventually(store, again, "completed")
	if r := s.stored(store, again).OK(); r.JSON["attributes"].(object)["kind"] != "new" {
		t.Errorf("%s", r.Body)
	}
	s.deleteFile(again).OK()
	s.stored(early, again).Fails(fault.DocumentNotFound)
	s.removeFrom(store, failed).OK() // there is none of its text
	s.stored(store, failed).Fails(fault.DocumentNotFound)
	if got := counts(s.get(store)); got != "0 in progress, 4 completed, 1 failed, 5" {
		t.Errorf("left are %s", got)
	}
}

// What is told of a long file can be given back with what is to change, and each part keeps what is its own.
func TestAttributesOfLongFiles(t *testing.T) {
	s := newShelf(t, coretest.Options{})
	store := s.made(object{})
	long := s.sent("long.txt", longText("lamps"))
	s.attach(store, object{"file_id": long}).OK()
	s.eventually(store, long, "completed")
	change := func(attributes object) *coretest.Reply {
		return ask(s, s.service.ChangeStoreFile, object{"attributes": attributes},
			func(in *openai.ChangeStoreFile) { in.Store, in.File = store, long })
	}
	told := s.stored(store, long).OK().JSON["attributes"].(object)
	if told["part"] != 1.0 || told["parts"] != 2.0 {
		t.Fatalf("told is %v", told)
	}
	told["kind"] = "guide"
	change(told).OK()
	s.eventually(store, long, "completed")
	for i := range 2 {
		r := ask(s, s.documents.Get, nil, func(in *document.GetDocument) { in.Namespace, in.ID = store, file.PartID(long, i+1) })
		if got := r.OK().JSON["metadata"].(object); got["part"] != float64(i+1) || got["kind"] != "guide" {
			t.Errorf("part %d holds %v", i+1, got)
		}
	}
	told["part"] = 2
	change(told).Fails(fault.InvalidMetadata, "attributes.part: is the file's own")
	for _, order := range []string{"asc", "desc"} {
		r := ask(s, s.service.ListStoreFiles, nil, func(in *openai.ListStoreFiles) { in.Store, in.Order = store, order }).OK()
		if got := r.List("data")[0]["attributes"].(object)["part"]; got != 1.0 {
			t.Errorf("%s: what is told is of part %v", order, got)
		}
	}
}

// Parts stand where their ids do, which is behind those of files whose names only begin like theirs.
func TestFilesWithNamesAlike(t *testing.T) {
	s := newShelf(t, coretest.Options{})
	var docs []document.Input
	for _, id := range []string{"manual-2", "manual:part-0001", "manual:part-0002", "manual.pdf", "manuals"} {
		docs = append(docs, document.Input{ID: id, Text: new("About " + id)})
	}
	s.write("docs", docs)
	want := []string{"manual-2", "manual.pdf", "manual", "manuals"}
	for _, limit := range []int{1, 2, 3, 4} {
		if got := s.files("docs", "asc", "", limit); !slices.Equal(got, want) {
			t.Errorf("in pages of %d: %v", limit, got)
		}
	}
	slices.Reverse(want)
	if got := s.files("docs", "desc", "", 1); !slices.Equal(got, want) {
		t.Errorf("backwards: %v", got)
	}
	// One of more parts than are read at once is one still.
	var bytes int
	docs = []document.Input{{ID: "z", Text: new("The last.")}}
	for i := range 205 {
		d := document.Input{ID: file.PartID("book", i+1), Text: new(fmt.Sprintf("Page %d.", i))}
		if docs, bytes = append(docs, d), bytes+len(*d.Text); len(docs) == 100 || i == 204 {
			s.write("shelf", docs)
			docs = nil
		}
	}
	if got := s.files("shelf", "asc", "", 1); !slices.Equal(got, []string{"book", "z"}) {
		t.Errorf("a book of many parts: %v", got)
	}
	r := ask(s, s.service.ListStoreFiles, nil, func(in *openai.ListStoreFiles) { in.Store, in.Order = "shelf", "asc" }).OK()
	if first := r.List("data")[0]; first["usage_bytes"] != float64(bytes) {
		t.Errorf("of %d bytes: %v", bytes, first)
	}
}

func (s *shelf) write(ns string, docs []document.Input) {
	s.t.Helper()
	if _, err := coretest.Call(s.ctx, s.documents.Write, document.WriteDocuments{Namespace: ns, Documents: docs}); err != nil {
		s.t.Fatal(err)
	}
}

// As many files as OpenAI's helpers send at once are taken, in the background, and what is too much is refused whole.
func TestManyFiles(t *testing.T) {
	s := newShelf(t, coretest.Options{})
	store := s.made(object{})
	var ids []string
	for i := range 101 {
		ids = append(ids, s.sent(fmt.Sprintf("%d.txt", i), fmt.Sprintf("Number %d.", i)))
	}
	if r := s.batch(store, object{"file_ids": ids[:100]}).OK(); counts(r) != "0 in progress, 100 completed, 0 failed, 100" {
		t.Errorf("%s", r.Body)
	}
	b := s.batch(store, object{"file_ids": ids}).OK()
	for _, id := range ids {
		s.eventually(store, id, "completed")
	}
	r := ask(s, s.service.GetBatch, nil, func(in *openai.BatchRef) { in.Store, in.Batch = store, b.JSON["id"].(string) })
	if counts(r) != "0 in progress, 101 completed, 0 failed, 101" {
		t.Errorf("%s", r.Body)
	}
	if got := s.ofBatch(store, b.JSON["id"].(string), "asc", 50); !slices.Equal(got, ids) {
		t.Errorf("of the batch %v", got)
	}

	before := s.stores("", 5)
	var large []string
	for i := range 25 { // two fill a write
		f := port.KeptFile{ID: fmt.Sprintf("file-large%02d", i), Name: "large.txt", Purpose: "user_data", MediaType: "text/plain",
			Size: 4 << 20, TextBytes: 4 << 20, Parts: 1, CreatedAt: s.now}
		if err := s.f.Store.Update(s.ctx, func(w port.Writer) error {
			return w.PutKeptFile(s.ctx, ident.From(s.ctx).Org, f, []port.KeptPart{{Metadata: []byte(`{}`), Text: "Short."}})
		}); err != nil {
			t.Fatal(err)
		}
		large = append(large, f.ID)
	}
	s.batch(store, object{"file_ids": large}).Fails(fault.PayloadTooLarge, "file_ids: have 100 MiB of text in 25 documents")
	s.create(object{"file_ids": large}).Fails(fault.PayloadTooLarge, "fewer files")
	if got := s.stores("", 5); !slices.Equal(got, before) {
		t.Errorf("what was refused made %v", got)
	}
	s.batch(store, object{"file_ids": large[:24]}).OK()
	if n := (&openai.CreateStore{FileIDs: large}).Units(); n != 25 {
		t.Errorf("a store with 25 files costs %d", n)
	}
	if n := (&openai.CreateStore{}).Units(); n != 1 {
		t.Errorf("a store costs %d", n)
	}
}

// A store whose files cannot be written is not made.
func TestAStoreIsMadeWholeOrNot(t *testing.T) {
	e := coretest.NewEmbedder()
	s := newShelf(t, coretest.Options{Embedder: e})
	short := s.sent("a.txt", "First.")
	e.Before.Set(func(context.Context, port.TextKind, []string) error {
		return fault.New(fault.Unavailable, "the model is gone")
	})
	s.create(object{"file_ids": []string{short}}).Fails(fault.Unavailable)
	e.Before.Clear()
	if got := s.stores("", 5); len(got) != 0 {
		t.Errorf("there are %v", got)
	}
	s.create(object{"file_ids": []string{short}}).OK()
}

func TestBatches(t *testing.T) {
	s := newShelf(t, coretest.Options{})
	store := s.made(object{})
	a, b := s.sent("a.txt", "First."), s.sent("b.txt", "Second.")
	r := s.batch(store, object{"files": []object{{"file_id": a, "attributes": object{"n": 1}}, {"file_id": b}}}).OK()
	if r.JSON["status"] != "completed" || r.JSON["file_counts"].(object)["completed"] != 2.0 ||
		r.JSON["vector_store_id"] != store {
		t.Errorf("%s", r.Body)
	}
	if s.stored(store, a).OK().JSON["attributes"].(object)["n"] != 1.0 || s.stored(store,
		b).OK().JSON["attributes"].(object)["n"] != nil {
		t.Error("attributes are not of their file")
	}
	s.removeFrom(store, b).OK()
	listed := ask(s, s.service.ListBatchFiles, nil, func(in *openai.ListBatchFiles) {
		in.Store, in.Batch = store,
			r.JSON["id"].(string)
	}).OK()
	if got := coretest.Column(listed.List("data"), "id"); !slices.Equal(got, []string{a}) {
		t.Errorf("after one was removed %v", got)
	}
	for what, body := range map[string]object{
		"give either":                       {},
		"give either file_ids":              {"file_ids": []string{a}, "files": []object{{"file_id": b}}},
		"belong to each of files":           {"files": []object{{"file_id": b}}, "attributes": object{"a": 1}},
		"belong to each of":                 {"files": []object{{"file_id": b}}, "chunking_strategy": object{"type": "auto"}},
		"files.attributes":                  {"files": []object{{"file_id": b, "attributes": object{"$a": 1}}}},
		"attributes":                        {"file_ids": []string{b}, "attributes": object{"$a": 1}},
		"chunking_strategy":                 {"file_ids": []string{b}, "chunking_strategy": object{"type": "static"}},
		"chunking_strategy: must":           {"files": []object{{"file_id": b, "chunking_strategy": object{"type": "static"}}}},
		`files: "none" is no uploaded`:      {"files": []object{{"file_id": "none"}}},
		`file_ids: "none" is no uploaded`:   {"file_ids": []string{"none"}},
		`file_ids: "` + a + `" is given mo`: {"file_ids": []string{a, a}},
	} {
		if r := s.batch(store, body); r.Err == nil || !strings.Contains(r.Err.Error(), what) {
			t.Errorf("%v: %v, want %s", body, r.Err, what)
		}
	}
	s.batch("none", object{"file_ids": []string{a}}).Fails(fault.NamespaceNotFound)
	if n := (&openai.AttachSeveral{FileIDs: []string{a, b}}).Units(); n != 2 {
		t.Errorf("two files cost %d", n)
	}
	if n := (&openai.AttachSeveral{}).Units(); n != 1 {
		t.Errorf("none costs %d", n)
	}
}

// An organization sees its own alone, and a key that is limited to a namespace that store and the files of such keys.
func TestWhoSeesStoresAndFiles(t *testing.T) {
	s := newShelf(t, coretest.Options{})
	store, id := s.made(object{}), s.sent("a.txt", "First.")
	s.attach(store, object{"file_id": id}).OK()
	other := s.as(key.Issue{Org: "other"})
	other.get(store).Fails(fault.NamespaceNotFound)
	other.file(id).Fails(fault.NotFound)
	other.deleteFile(id).Fails(fault.NotFound)
	other.attach(other.made(object{}), object{"file_id": id}).Fails(fault.NotFound)
	if got := ask(other, other.service.ListFiles, nil).OK().List("data"); len(got) != 0 {
		t.Errorf("another organization lists %v", got)
	}

	limited := s.as(key.Issue{Namespace: "home"})
	if got := limited.stores("", 5); len(got) != 0 {
		t.Errorf("a limited key lists %v", got)
	}
	limited.create(object{}).Fails(fault.Forbidden, `"home"`)
	if _, err := coretest.Call(s.ctx, s.documents.Write, document.WriteDocuments{Namespace: "home",
		Documents: []document.Input{{ID: "a", Text: new("Bread.")}}}); err != nil {
		t.Fatal(err)
	}
	if got := limited.stores("", 5); !slices.Equal(got, []string{"home"}) {
		t.Errorf("a limited key lists %v", got)
	}
	for _, p := range []openai.ListParams{{Before: "home"}, {After: "home"}} {
		r := ask(limited, limited.service.ListStores, nil, func(in *openai.ListStores) { in.ListParams = p }).OK()
		if len(r.List("data")) != 0 || r.JSON["has_more"] != false {
			t.Errorf("%+v: %s", p, r.Body)
		}
	}
	limited.file(id).Fails(fault.NotFound)
	limited.attach("home", object{"file_id": id}).Fails(fault.NotFound)
	own := limited.sent("b.txt", "Second.")
	limited.attach("home", object{"file_id": own}).OK()
	if got := coretest.Column(ask(limited, limited.service.ListFiles, nil).OK().List("data"), "id"); !slices.Equal(got,
		[]string{own}) {
		t.Errorf("a limited key lists %v", got)
	}
	s.attach(store, object{"file_id": own}).OK()
	limited.deleteFile(own).Fails(fault.Forbidden, "another one")
	s.stored("home", own).OK()
	s.removeFrom(store, own).OK()
	limited.deleteFile(own).OK()
	s.stored("home", own).Fails(fault.DocumentNotFound)
}

// What is not done says what to use.
func TestAbsentFiles(t *testing.T) {
	if service(func(s *openai.Settings) { s.Enabled = false }).Absent() != nil {
		t.Error("what is absent is told where the protocol is off")
	}
	paths := map[string]string{}
	for _, a := range service(nil).Absent() {
		if a.Protocol != op.OpenAI || a.Family != op.Namespace {
			t.Errorf("%+v", a)
		}
		paths[a.Path] = a.Instead
	}
	if len(paths) != 5 || !strings.Contains(paths["/v1/uploads"], "POST /v1/files") ||
		!strings.Contains(paths["/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/cancel"],
			"DELETE /v1/vector_stores/") {
		t.Errorf("%v", paths)
	}
}
