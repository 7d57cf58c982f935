package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Upload is a call of POST /namespaces/{namespace}/files.
type Upload struct {
	Namespace string `path:"namespace" json:"-" fault:"invalid_namespace" schema:"NamespaceName" doc:"name of the namespace; it is made when there is none"`
	DryRun    bool   `query:"dry_run" json:"-" doc:"write nothing, and show the documents and chunks that would be written"`
	Prefer    string `header:"Prefer" json:"-" example:"respond-async" doc:"respond-async answers 202 with an operation; searchable=soon does not wait for a remote index"`

	parts op.BodyParts
}

// Form describes the fields of the body.
type Form struct {
	File     []string `json:"file" format:"binary" minItems:"1" maxItems:"100" doc:"files to read, each name once"`
	Metadata string   `json:"metadata,omitempty" doc:"a JSON object: metadata of every document, for filters; comes back with hits" example:"{\"team\": \"shop\"}"`
}

// TakeParts implements op.Parted.
func (in *Upload) TakeParts(parts op.BodyParts) { in.parts = parts }

// NamespaceName is for keys limited to one namespace.
func (in *Upload) NamespaceName() string { return in.Namespace }

// Uploaded answers an upload.
type Uploaded struct {
	Namespace string `json:"namespace" schema:"NamespaceName"`
	Written   int    `json:"written" minimum:"0" doc:"documents created or changed"`
	Unchanged int    `json:"unchanged" minimum:"0" doc:"documents that were stored already, as they are"`
	Chunks    int    `json:"chunks" minimum:"0" doc:"chunks of all documents of the call"`
	Failed    int    `json:"failed" minimum:"0" doc:"files that could not be read"`
	// Searchable is nil where no file could be read.
	Searchable *bool  `json:"searchable,omitempty" doc:"whether every index has the documents; false: one takes them in the background; not with dry_run"`
	Files      []File `json:"files" doc:"one for each file, in the order of the call"`
}

// Accepted answers an upload whose write is asynchronous.
type Accepted struct {
	document.Operation
	Failed int    `json:"failed" minimum:"0" doc:"files that could not be read"`
	Files  []File `json:"files" doc:"one for each file, in the order of the call"`
}

// File is the outcome of one file.
type File struct {
	Name        string    `json:"name" doc:"as it was sent"`
	Status      string    `json:"status" enum:"read,failed" doc:"whether its text could be read"`
	Error       *Failure  `json:"error,omitempty" doc:"why it could not be read"`
	MediaType   string    `json:"media_type,omitempty" doc:"what it is by its content"`
	ContentHash string    `json:"content_hash" pattern:"^sha256:[0-9a-f]{64}$" doc:"SHA-256 of its bytes; also metadata file_hash"`
	Title       string    `json:"title,omitempty" doc:"that it gives itself"`
	Pages       int       `json:"pages,omitempty" minimum:"1" doc:"the last page or slide with text, of a file with pages"`
	Documents   []Outcome `json:"documents" doc:"what became of it, in their order"`
}

// Outcome is a document of a file.
type Outcome struct {
	ID        string          `json:"id" schema:"DocumentID"`
	Created   *bool           `json:"created,omitempty" doc:"the id was new; not with dry_run or respond-async"`
	Unchanged *bool           `json:"unchanged,omitempty" doc:"the same was stored already; not with dry_run or respond-async"`
	Chunks    *int            `json:"chunks,omitempty" minimum:"0" doc:"not with respond-async"`
	Text      *string         `json:"text,omitempty" doc:"with dry_run; a form feed begins a page"`
	Metadata  json.RawMessage `json:"metadata,omitempty" schema:"Metadata" doc:"with dry_run"`
	ChunkList *[]Chunk        `json:"chunk_list,omitempty" doc:"with dry_run"`
}

// Chunk is a slice of a document's text, in UTF-8 byte offsets.
type Chunk struct {
	Index   int    `json:"index" minimum:"0" doc:"position in the document"`
	Start   int    `json:"start" minimum:"0" doc:"UTF-8 byte offset into the text"`
	End     int    `json:"end" minimum:"0" doc:"UTF-8 byte offset after it"`
	Page    int    `json:"page,omitempty" minimum:"1" doc:"page or slide that it begins on, of a file with pages"`
	Heading string `json:"heading,omitempty" doc:"headings above it, outermost first, with ' > ' between them"`
	Text    string `json:"text"`
}

// Failure is why a file could not be read.
type Failure struct {
	Code    string `json:"code" enum:"encrypted,no_text,too_large,broken,unsupported,timeout,invalid_metadata" doc:"for programs"`
	Message string `json:"message" doc:"for people; the file is its subject"`
}

// Result is what the upload answers: Uploaded, or Accepted with 202.
type Result struct {
	*Uploaded
	*Accepted
	headers map[string]string
}

// StatusCode is 202 for an accepted write.
func (r Result) StatusCode() int {
	if r.Accepted != nil {
		return 202
	}
	return 200
}

// Headers name the operation's place.
func (r Result) Headers() map[string]string { return r.headers }

// received is the body of an upload, its files read.
type received struct {
	files    []File
	read     []port.Extracted // empty where a file could not be read
	composed [][]composed
	metadata json.RawMessage
}

// composed is a document with its metadata as JSON.
type composed struct {
	Document
	raw json.RawMessage
}

// Upload reads the files of a call and writes their text.
func (s *Service) Upload(ctx context.Context, in Upload) (Result, error) {
	if s.extractor == nil {
		return Result{}, fault.Off("files are not read on this server")
	}
	r, err := s.receive(ctx, in.parts)
	if err != nil {
		return Result{}, err
	}
	if in.DryRun {
		return s.preview(ctx, in.Namespace, r)
	}
	w := document.WriteDocuments{Namespace: in.Namespace, Prefer: in.Prefer}
	for i := range r.composed {
		for j := range r.composed[i] {
			d := &r.composed[i][j]
			w.Documents = append(w.Documents, document.Input{ID: d.ID, Text: &d.Text, Metadata: d.raw})
		}
	}
	if len(w.Documents) == 0 {
		return Result{Uploaded: &Uploaded{Namespace: in.Namespace, Failed: r.failed(), Files: r.files}}, nil
	}
	if w.Obsolete, err = s.obsolete(ctx, in.Namespace, r); err != nil {
		return Result{}, err
	}
	if err := op.Check(&w); err != nil {
		return Result{}, err
	}
	written, err := s.documents.Write(ctx, w)
	if err != nil {
		return Result{}, err
	}
	if written.Operation != nil {
		for i, docs := range r.composed {
			for _, d := range docs {
				r.files[i].Documents = append(r.files[i].Documents, Outcome{ID: d.ID})
			}
		}
		return Result{Accepted: &Accepted{Operation: *written.Operation, Failed: r.failed(), Files: r.files},
			headers: written.Headers()}, nil
	}
	n := 0
	for i, docs := range r.composed {
		for range docs {
			d := written.Documents[n]
			n++
			r.files[i].Documents = append(r.files[i].Documents,
				Outcome{ID: d.ID, Created: &d.Created, Unchanged: &d.Unchanged, Chunks: &d.Chunks})
		}
	}
	return Result{Uploaded: &Uploaded{
		Namespace:  in.Namespace,
		Written:    written.Written.Written,
		Unchanged:  written.Unchanged,
		Chunks:     written.Chunks,
		Failed:     r.failed(),
		Searchable: written.Searchable,
		Files:      r.files,
	}, headers: written.Headers()}, nil
}

func (r *received) failed() (n int) {
	for _, f := range r.files {
		if f.Error != nil {
			n++
		}
	}
	return n
}

// receive reads the fields of a body, and the text of each file as it comes.
func (s *Service) receive(ctx context.Context, parts op.BodyParts) (*received, error) {
	r := &received{}
	seen := map[string]bool{}
	for {
		part, err := parts.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch {
		case part.Name == "metadata" && r.metadata == nil:
			err = r.takeMetadata(part.Content)
		case part.Name == "metadata":
			err = fault.Field(fault.InvalidRequest, "metadata", "is given more than once")
		case part.Name != "file":
			err = fault.Field(fault.InvalidRequest, fault.Clip(part.Name), "is not a known field; file and metadata are")
		case len(r.files) == MaxFiles:
			err = fault.Field(fault.InvalidRequest, "file", "must be at most %d files", MaxFiles)
		default:
			err = s.take(ctx, r, part, seen)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(r.files) == 0 {
		return nil, fault.Field(fault.InvalidRequest, "file", "is required: a part with a file name")
	}
	return r, r.compose()
}

func (r *received) takeMetadata(content io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(content, maxMetadata+1))
	if err != nil {
		return err
	}
	if len(raw) > maxMetadata {
		return fault.Field(fault.PayloadTooLarge, "metadata", "is larger than %d bytes", maxMetadata)
	}
	if _, err := filter.ParseMetadata("metadata", raw); err != nil {
		return err
	}
	r.metadata = append(json.RawMessage{}, raw...)
	return nil
}

const (
	maxFile = 64 << 20 // bytes
	maxName = 255      // bytes
)

// take reads a file.
func (s *Service) take(ctx context.Context, r *received, part *op.BodyPart, seen map[string]bool) error {
	name := strings.ReplaceAll(strings.ToValidUTF8(part.FileName, "\uFFFD"), "\x00", "")
	switch {
	case name == "":
		return fault.Field(fault.InvalidRequest, "file", "must have a file name")
	case len(name) > maxName:
		return fault.Field(fault.InvalidRequest, "file", "must have a name of at most %d bytes", maxName)
	case seen[DocumentID(name)]:
		return fault.Field(fault.InvalidID, "file", "%q is the name of two files", name)
	}
	seen[DocumentID(name)] = true
	content, err := io.ReadAll(io.LimitReader(part.Content, maxFile))
	if err != nil {
		return err
	}
	hash := sha256.New()
	hash.Write(content)
	more, err := io.Copy(hash, part.Content)
	if err != nil {
		return err
	}
	f := File{Name: name, Status: "read", ContentHash: "sha256:" + hex.EncodeToString(hash.Sum(nil)), Documents: []Outcome{}}
	var x port.Extracted
	if more > 0 {
		err = port.FileErrorf(port.FileTooLarge, nil, "has %d bytes; at most %d are read", int64(len(content))+more, maxFile)
	} else {
		x, err = s.extractor.Extract(ctx, port.File{Name: name, MediaType: part.MediaType, Charset: part.Charset,
			Content: content})
	}
	var why *port.FileError
	switch {
	case errors.As(err, &why):
		f.fail(string(why.Code), why.Message)
	case err != nil:
		return err
	default:
		f.MediaType, f.Title = x.Format.MediaType, x.Title
		f.Pages = x.Sections[len(x.Sections)-1].Page
	}
	r.files, r.read = append(r.files, f), append(r.read, x)
	return nil
}

func (f *File) fail(code, message string) {
	f.Status, f.Error = "failed", &Failure{code, message}
}

// compose makes the documents once all fields are there.
func (r *received) compose() error {
	given := map[string]any{}
	if r.metadata != nil {
		d := json.NewDecoder(bytes.NewReader(r.metadata))
		d.UseNumber()
		if err := d.Decode(&given); err != nil {
			return fault.Wrap(fault.InvalidMetadata, "decode metadata", err, "metadata: must be a JSON object")
		}
	}
	r.composed = make([][]composed, len(r.files))
	for i := range r.files {
		f := &r.files[i]
		if f.Error != nil {
			continue
		}
		more := maps.Clone(given)
		more["path"], more["media_type"], more["file_hash"] = f.Name, f.MediaType, f.ContentHash
		docs, err := Compose(f.Name, r.read[i], more)
		if err != nil {
			f.fail(string(fault.InvalidMetadata), fault.From(err).Message)
			continue
		}
		for _, d := range docs {
			raw, err := json.Marshal(d.Metadata)
			if err != nil {
				return fmt.Errorf("encode metadata: %w", err)
			}
			r.composed[i] = append(r.composed[i], composed{d, raw})
		}
	}
	r.read = nil
	n := 0
	for _, docs := range r.composed {
		n += len(docs)
	}
	if n > maxDocuments {
		return fault.New(fault.PayloadTooLarge, "the files make %d documents; at most %d are taken at once", n, maxDocuments)
	}
	return nil
}

// maxDocuments is what one write takes.
const maxDocuments = 100

// obsolete are the documents that the files of these names had before and have no more.
func (s *Service) obsolete(ctx context.Context, namespace string, r *received) ([]string, error) {
	var out []string
	for i, docs := range r.composed {
		if len(docs) == 0 {
			continue
		}
		id, now := DocumentID(r.files[i].Name), map[string]bool{}
		for _, d := range docs {
			now[d.ID] = true
		}
		if !now[id] {
			out = append(out, id)
		}
		limit := 1000
		list, err := s.documents.List(ctx, document.ListDocuments{Namespace: namespace, Prefix: id + partInfix, Limit: &limit})
		if fault.CodeOf(err) == fault.NamespaceNotFound {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, d := range list.Documents {
			if n := strings.TrimPrefix(d.ID, id+partInfix); !now[d.ID] && strings.Trim(n, "0123456789") == "" {
				out = append(out, d.ID)
			}
		}
	}
	return out, nil
}

// preview shows what an upload would write.
func (s *Service) preview(ctx context.Context, namespace string, r *received) (Result, error) {
	out := &Uploaded{Namespace: namespace, Failed: r.failed(), Files: r.files}
	for i, docs := range r.composed {
		whole := make([]chunk.Document, len(docs))
		for j, d := range docs {
			whole[j] = chunk.Document{Text: d.Text, Title: filter.TitleOf(d.raw)}
		}
		cut, err := s.documents.Preview(ctx, namespace, whole)
		if err != nil {
			return Result{}, err
		}
		for j := range docs {
			d, n, chunks := &docs[j], len(cut[j]), make([]Chunk, len(cut[j]))
			for k, c := range cut[j] {
				chunks[k] = Chunk{Index: k, Start: c.Start, End: c.End, Page: port.PageAt(d.raw, d.Text, c.Start),
					Heading: chunk.Heading(d.Text, c), Text: d.Text[c.Start:c.End]}
			}
			out.Chunks += n
			out.Files[i].Documents = append(out.Files[i].Documents,
				Outcome{ID: d.ID, Chunks: &n, Text: &d.Text, Metadata: d.raw, ChunkList: &chunks})
		}
	}
	return Result{Uploaded: out}, nil
}

// Read reads the text of one file and writes nothing: what the file is, with the documents that an upload of it would
// write. A file that cannot be read has an Error, and no documents.
func (s *Service) Read(ctx context.Context, part *op.BodyPart) (File, []Document, error) {
	if s.extractor == nil {
		return File{}, nil, fault.Off("files are not read on this server")
	}
	r := &received{}
	if err := s.take(ctx, r, part, map[string]bool{}); err != nil {
		return File{}, nil, err
	}
	if err := r.compose(); err != nil {
		return File{}, nil, err
	}
	docs := make([]Document, len(r.composed[0]))
	for i, d := range r.composed[0] {
		docs[i] = d.Document
	}
	return r.files[0], docs, nil
}
