package openai

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/file"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// How far a file of a store is.
const (
	inProgress = "in_progress"
	completed  = "completed"
	failed     = "failed"
)

// Bounds of a call that attaches files.
const (
	maxBatch = 500       // files
	atOnce   = 256 << 10 // bytes of text that are written before the answer
	groupOf  = 8 << 20   // bytes of text that are written together
	mostDocs = 100       // that are written together
	// mostGroups are those of a call. An organization may have 16 writes wait in a process.
	mostGroups = 12
)

// lately is how long ago an asynchronous write may have begun whose end is not known: it runs an hour at most, and is
// known for a day after.
const lately = 48 * time.Hour

// Attributes are metadata of a file's documents; nil: none.
type Attributes = *json.RawMessage

func given(a Attributes) json.RawMessage {
	if a == nil {
		return nil
	}
	return *a
}

// Attach is the body of POST /v1/vector_stores/{vector_store_id}/files.
type Attach struct {
	StoreRef
	FileID     string     `json:"file_id" schema:"DocumentID" doc:"an uploaded file"`
	Attributes Attributes `json:"attributes,omitempty" schema:"Metadata" doc:"metadata of its documents, for filters"`
	Chunking   *Chunking  `json:"chunking_strategy,omitempty"`
}

// Validate refuses what is not done.
func (in *Attach) Validate() error {
	if err := validAttributes("attributes", in.Attributes); err != nil {
		return err
	}
	return in.Chunking.validate()
}

// validAttributes refuses what is no metadata.
func validAttributes(at string, a Attributes) error {
	_, err := filter.ParseMetadata(at, given(a))
	return err
}

// StoreFile is a file of a vector store: a document, or the parts of one.
type StoreFile struct {
	ID         string          `json:"id" schema:"DocumentID" doc:"of the uploaded file, or of a document that was written otherwise"`
	Object     string          `json:"object" enum:"vector_store.file"`
	CreatedAt  int64           `json:"created_at" doc:"Unix seconds"`
	Store      string          `json:"vector_store_id" schema:"NamespaceName"`
	Status     string          `json:"status" enum:"in_progress,completed,failed" doc:"completed: it can be found"`
	UsageBytes int64           `json:"usage_bytes" minimum:"0" doc:"of its text"`
	LastError  *LastError      `json:"last_error" doc:"why it failed; null: it did not"`
	Attributes json.RawMessage `json:"attributes" schema:"Metadata" doc:"metadata that are texts, numbers or truth values"`
	Chunking   Cut             `json:"chunking_strategy"`

	at string // the id of a document by which it stands in a list
}

// LastError is why a file could not be put into a store.
type LastError struct {
	Code    string `json:"code" enum:"server_error,invalid_file"`
	Message string `json:"message"`
}

// Cut says how a text was cut.
type Cut struct {
	Type string `json:"type" enum:"other" doc:"by the rules of this server"`
}

// want is a file to attach.
type want struct {
	file       string
	attributes json.RawMessage
}

func each(files []string, attributes json.RawMessage) []want {
	out := make([]want, len(files))
	for i, f := range files {
		out[i] = want{f, attributes}
	}
	return out
}

// group is what is written together.
type group struct {
	files int
	docs  int
	bytes int64
}

// takes reports whether another file belongs to it.
func (g *group) takes(f port.KeptFile) bool {
	return g.files == 0 || g.bytes+f.TextBytes <= groupOf && g.docs+f.Parts <= mostDocs
}

func (g *group) add(f port.KeptFile) {
	g.files, g.docs, g.bytes = g.files+1, g.docs+f.Parts, g.bytes+f.TextBytes
}

// set are files to attach, with what is known of them.
type set struct {
	wanted []want
	files  []port.KeptFile
	later  bool // they are written in the background
}

// wanted reads what is known of files to attach.
func (s *Service) wanted(ctx context.Context, field string, all []want) (set, error) {
	out := set{wanted: all}
	err := s.store.View(ctx, func(r reader) error {
		seen := map[string]bool{}
		out.files = nil
		for _, w := range all {
			if seen[w.file] {
				return fault.Field(fault.InvalidRequest, field, "%q is given more than once", w.file)
			}
			seen[w.file] = true
			f, err := s.kept(ctx, r, w.file)
			if fault.CodeOf(err) == fault.NotFound {
				return fault.Field(fault.NotFound, field, "%q is no uploaded file; POST /v1/files uploads one", w.file)
			}
			if err != nil {
				return err
			}
			out.files = append(out.files, f)
		}
		return nil
	})
	if err != nil {
		return set{}, err
	}
	var g, whole group
	groups := 1
	for _, f := range out.files {
		whole.add(f)
		if !g.takes(f) {
			g, groups = group{}, groups+1
		}
		g.add(f)
	}
	if groups > mostGroups {
		return set{}, fault.Field(fault.PayloadTooLarge, field, "have %d MiB of text in %d documents altogether, more than a "+
			"call puts into a store: give fewer files", whole.bytes>>20, whole.docs)
	}
	out.later = whole.bytes > atOnce || whole.docs > mostDocs
	return out, nil
}

// attach writes files' documents into a namespace: little text before it returns, more in the background.
func (s *Service) attach(ctx context.Context, store string, all set, batch string) error {
	p := port.Documents(ident.From(ctx).Org, store)
	var g group
	var docs []document.Input
	var of []string
	flush := func() error {
		err := s.write(ctx, p, docs, of, batch, all.later)
		g, docs, of = group{}, nil, nil
		return err
	}
	for i, f := range all.files {
		if !g.takes(f) {
			if err := flush(); err != nil {
				return err
			}
		}
		more, err := s.documentsOf(ctx, f, all.wanted[i].attributes)
		if err != nil {
			return err
		}
		g.add(f)
		docs, of = append(docs, more...), append(of, f.ID)
	}
	return flush()
}

// documentsOf are the documents that a kept file becomes.
func (s *Service) documentsOf(ctx context.Context, f port.KeptFile, attributes json.RawMessage) ([]document.Input, error) {
	var parts []port.KeptPart
	if err := s.store.View(ctx, func(r reader) (err error) {
		if parts, err = r.KeptParts(ctx, ident.From(ctx).Org, f.ID); err == nil && len(parts) == 0 {
			err = fault.New(fault.NotFound, "file %q was deleted in the meantime", f.ID)
		}
		return err
	}); err != nil {
		return nil, err
	}
	var shown map[string]json.RawMessage // the metadata of the first part are what is told of the file
	if err := json.Unmarshal(parts[0].Metadata, &shown); err != nil {
		return nil, err
	}
	var given map[string]json.RawMessage
	if len(attributes) > 0 {
		if err := json.Unmarshal(attributes, &given); err != nil {
			return nil, err
		}
	}
	for key, value := range given {
		if !slices.Contains(own(), key) {
			continue
		}
		if old, has := shown[key]; !has || !equal(old, value) {
			return nil, fault.Field(fault.InvalidMetadata, "attributes."+key, "is the file's own and cannot be set")
		}
		delete(given, key)
	}
	out := make([]document.Input, len(parts))
	for i, part := range parts {
		metadata, err := with(part.Metadata, given)
		if err != nil {
			return nil, err
		}
		out[i] = document.Input{ID: f.ID, Text: &part.Text, Metadata: metadata}
		if len(parts) > 1 {
			out[i].ID = file.PartID(f.ID, i+1)
		}
	}
	return out, nil
}

// own are the metadata by which files are told apart and found again.
func own() []string { return []string{"path", "media_type", "file_hash", "page", "part", "parts"} }

// equal reports whether two pieces of JSON say the same, however it is written.
func equal(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// with adds attributes to a document's own metadata.
func with(metadata []byte, attributes map[string]json.RawMessage) (json.RawMessage, error) {
	if len(attributes) == 0 {
		return metadata, nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(metadata, &all); err != nil {
		return nil, err
	}
	maps.Copy(all, attributes)
	return json.Marshal(all)
}

// write writes documents together and notes whose files they are.
func (s *Service) write(ctx context.Context, p port.Partition, docs []document.Input, of []string, batch string,
	later bool) error {
	w := document.WriteDocuments{Namespace: p.Name(), Documents: docs}
	if later {
		w.Prefer = "respond-async"
	}
	if err := op.Check(&w); err != nil {
		return err
	}
	one := port.Attachment{Batch: batch, CreatedAt: s.now().UTC().Truncate(time.Millisecond)}
	_, err := s.documents.WriteNoted(ctx, w, func(w port.VectorStoreWriter, operation string) error {
		one.Operation = operation
		for _, one.File = range of {
			if err := w.PutAttachment(ctx, p, one); err != nil {
				return err // a file was deleted in the meantime: fault NotFound
			}
		}
		return nil
	})
	return err
}

// Attach puts an uploaded file into a vector store.
func (s *Service) Attach(ctx context.Context, in Attach) (StoreFile, error) {
	if err := s.exists(ctx, in.Store); err != nil {
		return StoreFile{}, err
	}
	return s.attachOne(ctx, in.Store, want{in.FileID, given(in.Attributes)}, "")
}

func (s *Service) attachOne(ctx context.Context, store string, one want, batch string) (StoreFile, error) {
	all, err := s.wanted(ctx, "file_id", []want{one})
	if err != nil {
		return StoreFile{}, err
	}
	if err := s.attach(ctx, store, all, batch); err != nil {
		return StoreFile{}, err
	}
	return s.GetStoreFile(ctx, StoreFileRef{StoreRef{store}, one.file})
}

// exists refuses a vector store that is none.
func (s *Service) exists(ctx context.Context, store string) error {
	org := ident.From(ctx).Org
	return s.store.View(ctx, func(r reader) error {
		_, err := r.VectorStore(ctx, org, store)
		if fault.CodeOf(err) == fault.NotFound {
			_, err = r.Partition(ctx, port.Documents(org, store))
		}
		return err
	})
}

// StoreFileRef addresses a file of a vector store.
type StoreFileRef struct {
	StoreRef
	File string `path:"file_id" json:"-" schema:"DocumentID" doc:"id of an uploaded file, or of a document"`
}

// end is what the write of attached files has come to.
type end struct {
	status string // "": it has ended well, or nobody knows any more
	why    *LastError
}

// ends are those of writes by their ids, each read once.
type ends map[string]end

// of is the end of the write of an attached file.
func (e ends) of(ctx context.Context, s *Service, store string, a port.Attachment) (end, error) {
	if known, ok := e[a.Operation]; ok || a.Operation == "" {
		return known, nil
	}
	found, err := s.end(ctx, store, a.Operation)
	if err == nil {
		e[a.Operation] = found
	}
	return found, err
}

func (s *Service) end(ctx context.Context, store, operation string) (end, error) {
	o, err := s.documents.Operation(ctx, document.OperationRef{Namespace: store, Operation: operation})
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return end{}, nil
	case err != nil:
		return end{}, err
	}
	switch port.JobStatus(o.Status) {
	case port.JobQueued, port.JobRunning:
		return end{status: inProgress}, nil
	case port.JobFailed:
		var why document.Failure
		if err := json.Unmarshal(o.Error, &why); err != nil {
			return end{}, err
		}
		last := &LastError{Code: "invalid_file", Message: why.Message}
		if fault.Status(fault.Code(why.Code)) >= 500 {
			last.Code = "server_error"
		}
		return end{failed, last}, nil
	}
	return end{}, nil
}

// unfinished are the files of a store whose write goes on or has failed, of one call or of late: those of a status,
// or of either.
func (s *Service) unfinished(ctx context.Context, store string, l port.AttachmentList, status string) ([]StoreFile, error) {
	p := port.Documents(ident.From(ctx).Org, store)
	var out []StoreFile
	known := ends{}
	asked := l
	asked.Since, asked.Limit = s.now().Add(-lately), maxBatch
	for len(out) < l.Limit {
		var some []port.Attachment
		if err := s.store.View(ctx, func(r reader) (err error) {
			some, err = r.Attachments(ctx, p, asked)
			return err
		}); err != nil {
			return nil, err
		}
		for _, a := range some {
			e, err := known.of(ctx, s, store, a)
			if err != nil {
				return nil, err
			}
			if e.status != "" && (status == "" || e.status == status) {
				out = append(out, open(store, a, e))
			}
		}
		if len(some) < asked.Limit {
			break
		}
		asked.After = some[len(some)-1].File
	}
	return out[:min(len(out), l.Limit)], nil
}

// open is a file whose documents are not there.
func open(store string, a port.Attachment, e end) StoreFile {
	return StoreFile{ID: a.File, Object: "vector_store.file", CreatedAt: a.CreatedAt.Unix(), Store: store, Status: e.status,
		LastError: e.why, Attributes: json.RawMessage("{}"), Chunking: Cut{"other"}, at: a.File}
}

// add counts a document in with a file's others.
func (f *StoreFile) add(d port.DocumentHead) error {
	f.UsageBytes += d.TextBytes
	if f.Attributes != nil {
		return nil
	}
	f.CreatedAt = d.CreatedAt.Unix()
	var err error
	f.Attributes, _, err = attributes(d.Metadata)
	return err
}

// read finds the documents of a file, in their order; none where there is no such file.
func read(ctx context.Context, r reader, p port.Partition, id string, parts port.Part) ([]port.DocumentHead, error) {
	docs, err := r.Documents(ctx, p, []string{id}, parts)
	if err == nil && len(docs) == 0 {
		docs, err = r.ListDocuments(ctx, p, port.DocumentList{Prefix: file.PartPrefix(id), Limit: maxParts, Parts: parts})
		docs = slices.DeleteFunc(docs, func(d port.DocumentHead) bool { return file.Whole(d.ID) != id })
	}
	if fault.IsPartitionNotFound(err) {
		return nil, nil
	}
	return docs, err
}

const maxParts = 1000

// attachment reads that of a file; the zero one where the file was not attached.
func attachment(ctx context.Context, r reader, p port.Partition, file string) (port.Attachment, error) {
	a, err := r.Attachment(ctx, p, file)
	if fault.CodeOf(err) == fault.NotFound {
		return port.Attachment{}, nil
	}
	return a, err
}

// GetStoreFile reads what is known of a file of a vector store.
func (s *Service) GetStoreFile(ctx context.Context, in StoreFileRef) (StoreFile, error) {
	if err := s.exists(ctx, in.Store); err != nil {
		return StoreFile{}, err
	}
	a, e, err := s.standing(ctx, in.Store, in.File)
	if err != nil {
		return StoreFile{}, err
	}
	if e.status != "" {
		return open(in.Store, a, e), nil
	}
	// Only now: a write that has ended since it was asked for has left them.
	var docs []port.DocumentHead
	err = s.store.View(ctx, func(r reader) (err error) {
		docs, err = read(ctx, r, port.Documents(ident.From(ctx).Org, in.Store), in.File, port.PartMetadata|port.PartSize)
		return err
	})
	if err != nil {
		return StoreFile{}, err
	}
	if len(docs) == 0 {
		return StoreFile{}, noFile(in.Store, in.File)
	}
	out := StoreFile{ID: in.File, Object: "vector_store.file", Store: in.Store, Status: completed, Chunking: Cut{"other"}}
	for _, d := range docs {
		if err := out.add(d); err != nil {
			return StoreFile{}, err
		}
	}
	return out, nil
}

func noFile(store, id string) error {
	return fault.New(fault.DocumentNotFound, "vector store %q holds no file %q", store, id)
}

// ListStoreFiles are the parameters of GET /v1/vector_stores/{vector_store_id}/files.
type ListStoreFiles struct {
	StoreRef
	ListParams
	Filter string `query:"filter" enum:"in_progress,completed,failed,cancelled" doc:"files of this status alone; none is ever cancelled"`
}

// StoreFilePage answers a list of files.
type StoreFilePage struct {
	Paged
	Data []StoreFile `json:"data"`
}

// ListStoreFiles pages through the files of a vector store, by id: for uploaded files that is the order of their upload.
func (s *Service) ListStoreFiles(ctx context.Context, in ListStoreFiles) (StoreFilePage, error) {
	if err := s.exists(ctx, in.Store); err != nil {
		return StoreFilePage{}, err
	}
	limit := in.limit() + 1
	var list []StoreFile
	switch in.Filter {
	case "cancelled":
	case inProgress, failed:
		var err error
		list, err = s.unfinished(ctx, in.Store, port.AttachmentList{Down: in.down(), After: in.from(), Limit: limit}, in.Filter)
		if err != nil {
			return StoreFilePage{}, err
		}
	default:
		every := port.AttachmentList{Down: in.down(), After: in.from(), Limit: maxFiles}
		unfinished, err := s.unfinished(ctx, in.Store, every, "")
		if err != nil {
			return StoreFilePage{}, err
		}
		list, err = s.stored(ctx, in, limit, unfinished)
		if err != nil {
			return StoreFilePage{}, err
		}
		if in.Filter == "" {
			list = append(list, unfinished...)
		}
		slices.SortFunc(list, func(a, b StoreFile) int {
			if in.down() {
				a, b = b, a
			}
			return strings.Compare(a.at, b.at)
		})
	}
	if id := in.until(); id != "" {
		at, err := s.at(ctx, in.Store, id, in.down())
		if err != nil {
			return StoreFilePage{}, err
		}
		list = slices.DeleteFunc(list, func(f StoreFile) bool { return f.at == at || f.at > at != in.down() })
	}
	return in.page(list), nil
}

// at is where a file stands in a list.
func (s *Service) at(ctx context.Context, store, id string, down bool) (at string, err error) {
	err = s.store.View(ctx, func(r reader) error {
		docs, err := read(ctx, r, port.Documents(ident.From(ctx).Org, store), id, 0)
		switch at = id; {
		case len(docs) > 0 && down:
			at = docs[len(docs)-1].ID
		case len(docs) > 0:
			at = docs[0].ID
		}
		return err
	})
	return at, err
}

// between reports whether an id lies where the page does, in a list by ids.
func (in *ListParams) between(id string) bool {
	after, before := in.After, in.Before
	if in.Order != "asc" {
		after, before = before, after
	}
	return id > after && (before == "" || id < before)
}

func (in *ListParams) page(list []StoreFile) StoreFilePage {
	data, page := paged(list, in.limit(), in.backwards(), func(f *StoreFile) *string { return &f.ID })
	return StoreFilePage{page, data}
}

// stored are files whose documents a store holds, one after another, without those whose write goes on or has failed.
func (s *Service) stored(ctx context.Context, in ListStoreFiles, limit int, unfinished []StoreFile) (out []StoreFile,
	err error) {
	skipped := map[string]bool{}
	for _, f := range unfinished {
		skipped[f.ID] = true
	}
	p := port.Documents(ident.From(ctx).Org, in.Store)
	l := port.DocumentList{Order: port.ByID, Limit: 2 * maxPage, Parts: port.PartMetadata | port.PartSize}
	if in.down() {
		l.Order = port.ByIDDown
	}
	err = s.store.View(ctx, func(r reader) error {
		out = nil
		if l.AfterID = in.from(); l.AfterID != "" { // of a file in parts none comes again
			docs, err := read(ctx, r, p, l.AfterID, 0)
			if err != nil {
				return err
			}
			if len(docs) > 0 && in.down() {
				l.AfterID = docs[0].ID
			} else if len(docs) > 0 {
				l.AfterID = docs[len(docs)-1].ID
			}
		}
		for {
			docs, err := r.ListDocuments(ctx, p, l)
			if fault.IsPartitionNotFound(err) {
				return nil
			}
			if err != nil {
				return err
			}
			for _, d := range docs {
				id := file.Whole(d.ID)
				if skipped[id] {
					continue
				}
				if len(out) == 0 || out[len(out)-1].ID != id {
					if len(out) == limit {
						return nil
					}
					out = append(out, StoreFile{ID: id, Object: "vector_store.file", Store: in.Store, Status: completed,
						Chunking: Cut{"other"}, at: d.ID})
				}
				last := &out[len(out)-1]
				if in.down() { // the first part comes last, and what is told of the file is of that
					last.Attributes = nil
				}
				if err := last.add(d); err != nil {
					return err
				}
			}
			if len(docs) < l.Limit {
				return nil
			}
			l.AfterID = docs[len(docs)-1].ID
		}
	})
	return out, err
}

// ChangeStoreFile is the body of POST /v1/vector_stores/{vector_store_id}/files/{file_id}.
type ChangeStoreFile struct {
	StoreFileRef
	Attributes json.RawMessage `json:"attributes" schema:"Metadata" doc:"replaces all that the file was attached with"`
}

// Validate refuses what is no metadata.
func (in *ChangeStoreFile) Validate() error {
	if len(in.Attributes) == 0 || string(in.Attributes) == "null" {
		return fault.Field(fault.InvalidRequest, "attributes", "is required, as an object; {} removes all")
	}
	_, err := filter.ParseMetadata("attributes", in.Attributes)
	return err
}

// ChangeStoreFile replaces the attributes of an attached file.
func (s *Service) ChangeStoreFile(ctx context.Context, in ChangeStoreFile) (StoreFile, error) {
	if _, err := s.GetStoreFile(ctx, in.StoreFileRef); err != nil {
		return StoreFile{}, err
	}
	var before port.Attachment // it stays in its batch
	if err := s.store.View(ctx, func(r reader) (err error) {
		before, err = attachment(ctx, r, port.Documents(ident.From(ctx).Org, in.Store), in.File)
		return err
	}); err != nil {
		return StoreFile{}, err
	}
	out, err := s.attachOne(ctx, in.Store, want{in.File, in.Attributes}, before.Batch)
	if fault.CodeOf(err) == fault.NotFound {
		err = fault.New(fault.NotFound, "%q is no uploaded file: its metadata is changed with "+
			"POST /namespaces/%s/documents", in.File, in.Store)
	}
	return out, err
}

// RemoveStoreFile removes a file from a vector store. The uploaded file stays.
func (s *Service) RemoveStoreFile(ctx context.Context, in StoreFileRef) (Deleted, error) {
	if _, err := s.GetStoreFile(ctx, in); err != nil {
		return Deleted{}, err
	}
	return Deleted{in.File, "vector_store.file.deleted", true}, s.detach(ctx, in.Store, in.File)
}

// settled refuses to touch a file that is being written: its write would bring it back.
func (s *Service) settled(ctx context.Context, store, id string) (port.Attachment, error) {
	a, e, err := s.standing(ctx, store, id)
	if err == nil && e.status == inProgress {
		err = stillWritten(id)
	}
	return a, err
}

// standing reads how far the write of a file that is attached to a namespace is.
func (s *Service) standing(ctx context.Context, store, id string) (a port.Attachment, e end, err error) {
	err = s.store.View(ctx, func(r reader) (err error) {
		a, err = attachment(ctx, r, port.Documents(ident.From(ctx).Org, store), id)
		return err
	})
	if err == nil {
		e, err = (ends{}).of(ctx, s, store, a)
	}
	return a, e, err
}

// detach removes the documents of a file from a namespace, and what is known of its attachment.
func (s *Service) detach(ctx context.Context, store, id string) error {
	before, err := s.settled(ctx, store, id)
	if err != nil {
		return err
	}
	p := port.Documents(ident.From(ctx).Org, store)
	var docs []port.DocumentHead
	err = s.store.View(ctx, func(r reader) (err error) {
		docs, err = read(ctx, r, p, id, 0)
		return err
	})
	if err != nil {
		return err
	}
	if len(docs) > 0 {
		ids := make([]string, len(docs))
		for i, d := range docs {
			ids[i] = d.ID
		}
		if _, err := s.documents.Delete(ctx, document.DeleteDocuments{Namespace: store, IDs: &ids}); err != nil {
			return err
		}
	}
	return s.store.Update(ctx, func(w writer) error {
		now, err := attachment(ctx, w, p, id)
		if err != nil || now != before {
			return err // it was attached again, and stays
		}
		_, err = w.RemoveAttachment(ctx, p, id)
		return err
	})
}

// FileText answers the text of a file.
type FileText struct {
	Object   string    `json:"object" enum:"vector_store.file_content.page"`
	Data     []Content `json:"data" doc:"one for each document"`
	HasMore  bool      `json:"has_more" doc:"false"`
	NextPage *string   `json:"next_page" doc:"null"`
}

// StoreFileContent reads the text of a file of a vector store.
func (s *Service) StoreFileContent(ctx context.Context, in StoreFileRef) (FileText, error) {
	p := port.Documents(ident.From(ctx).Org, in.Store)
	out := FileText{Object: "vector_store.file_content.page"}
	if err := s.exists(ctx, in.Store); err != nil {
		return out, err
	}
	err := s.store.View(ctx, func(r reader) error {
		docs, err := read(ctx, r, p, in.File, port.PartText)
		if err == nil && len(docs) == 0 {
			err = noFile(in.Store, in.File)
		}
		for _, d := range docs {
			out.Data = append(out.Data, Content{"text", d.Text})
		}
		return err
	})
	return out, err
}

func storeFileOperations() []op.Op[*Service] {
	const (
		files = "/v1/vector_stores/{vector_store_id}/files"
		one   = files + "/{file_id}"
	)
	missing := []fault.Code{fault.InvalidNamespace, fault.NamespaceNotFound, fault.InvalidID}
	with := func(s op.Spec, faults ...fault.Code) op.Spec {
		s.Faults = append(append(s.Faults, missing...), faults...)
		return s
	}
	writes := []fault.Code{fault.InvalidMetadata, fault.QuotaExceeded, fault.Conflict, fault.Unavailable, fault.PayloadTooLarge}
	attach := with(changing(spec("vector_store_files.create", "POST", files, "Put an uploaded file into a vector store")),
		writes...)
	attach.Description = "Writes its text as documents whose ids begin with the file's. Texts of up to 256 KiB can be found " +
		"when it answers; longer ones are in_progress, and are written whatever happens to the process."
	list := with(spec("vector_store_files.list", "GET", files, "List the files of a vector store"))
	list.Description = "A file is a document, whoever wrote it, or the parts of one. By id: for uploaded files " +
		"that is the order of their upload."
	change := with(changing(spec("vector_store_files.update", "POST", one, "Replace the attributes of an attached file")),
		append(writes, fault.DocumentNotFound)...)
	remove := with(changing(spec("vector_store_files.delete", "DELETE", one, "Remove a file from a vector store")),
		fault.Conflict, fault.DocumentNotFound)
	remove.Description = "Deletes its documents. The uploaded file stays."
	remove.MaxBody = 0
	return []op.Op[*Service]{
		op.Define(attach, (*Service).Attach),
		op.Define(list, (*Service).ListStoreFiles),
		op.Define(with(spec("vector_store_files.retrieve", "GET", one, "Read what is known of a file of a vector store"),
			fault.DocumentNotFound), (*Service).GetStoreFile),
		op.Define(change, (*Service).ChangeStoreFile),
		op.Define(remove, (*Service).RemoveStoreFile),
		op.Define(with(spec("vector_store_files.content", "GET", one+"/content", "Read the text of a file of a vector store"),
			fault.DocumentNotFound), (*Service).StoreFileContent),
	}
}
