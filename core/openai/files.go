package openai

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/file"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// UploadFile is a call of POST /v1/files.
type UploadFile struct{ parts op.BodyParts }

// FileForm describes the fields of its body.
type FileForm struct {
	File    string `json:"file" format:"binary" doc:"the file, of at most 64 MiB"`
	Purpose string `json:"purpose" enum:"assistants,user_data" doc:"either: files here are for vector stores"`
}

// TakeParts implements op.Parted.
func (in *UploadFile) TakeParts(parts op.BodyParts) { in.parts = parts }

// File is an uploaded file.
type File struct {
	ID        string `json:"id" schema:"DocumentID"`
	Object    string `json:"object" enum:"file"`
	Bytes     int64  `json:"bytes" minimum:"0" doc:"of the file as it was sent"`
	CreatedAt int64  `json:"created_at" doc:"Unix seconds"`
	Filename  string `json:"filename"`
	Purpose   string `json:"purpose" enum:"assistants,user_data"`
	Status    string `json:"status" enum:"processed" doc:"its text is read and kept"`
}

func shownFile(f port.KeptFile) File {
	return File{f.ID, "file", f.Size, f.CreatedAt.Unix(), f.Name, f.Purpose, "processed"}
}

func purposes() []string { return []string{"assistants", "user_data"} }

// counter counts what is read.
type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// UploadFile reads the text of a file and keeps it, for being attached to vector stores.
func (s *Service) UploadFile(ctx context.Context, in UploadFile) (File, error) {
	who := ident.From(ctx)
	kept := port.KeptFile{ID: newID("file-"), Namespace: who.Namespace}
	var parts []port.KeptPart
	for {
		part, err := in.parts.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return File{}, err
		}
		switch {
		case part.Name == "purpose" && kept.Purpose == "":
			kept.Purpose, err = purposeOf(part.Content)
		case part.Name == "file" && kept.Parts == 0:
			parts, err = s.readFile(ctx, part, &kept)
		case part.Name == "purpose", part.Name == "file":
			err = fault.Field(fault.InvalidRequest, part.Name, "is given more than once")
		case strings.HasPrefix(part.Name, "expires_after"):
			err = fault.Field(fault.InvalidRequest, "expires_after",
				"must be absent: no file expires here; delete it when it has served")
		default:
			err = fault.Field(fault.InvalidRequest, fault.Clip(part.Name), "is not a known field; file and purpose are")
		}
		if err != nil {
			return File{}, err
		}
	}
	switch {
	case kept.Parts == 0:
		return File{}, fault.Field(fault.InvalidRequest, "file", "is required: a part with a file name")
	case kept.Purpose == "":
		return File{}, fault.Field(fault.InvalidRequest, "purpose", "is required: assistants or user_data")
	}
	kept.CreatedAt = s.now().UTC().Truncate(time.Millisecond)
	err := s.store.Update(ctx, func(w writer) error {
		port.AuditOf(ctx).Made(kept.ID)
		return w.PutKeptFile(ctx, who.Org, kept, parts)
	})
	return shownFile(kept), err
}

func purposeOf(content io.Reader) (string, error) {
	const longest = 64
	text, err := io.ReadAll(io.LimitReader(content, longest))
	if err != nil {
		return "", err
	}
	if !slices.Contains(purposes(), string(text)) {
		return "", fault.Field(fault.InvalidRequest, "purpose",
			"must be assistants or user_data: files here are for vector stores")
	}
	return string(text), nil
}

// readFile reads the text of an uploaded file.
func (s *Service) readFile(ctx context.Context, part *op.BodyPart, kept *port.KeptFile) ([]port.KeptPart, error) {
	counted := &counter{Reader: part.Content}
	part.Content = counted
	f, docs, err := s.files.Read(ctx, part)
	if err != nil {
		return nil, err
	}
	if f.Error != nil {
		code := fault.InvalidRequest
		if f.Error.Code == string(port.FileTooLarge) {
			code = fault.PayloadTooLarge
		}
		return nil, fault.Field(code, "file", "%q cannot be read (%s): it %s", f.Name, f.Error.Code, f.Error.Message)
	}
	kept.Name, kept.MediaType, kept.Size, kept.Parts = f.Name, f.MediaType, counted.n, len(docs)
	parts := make([]port.KeptPart, len(docs))
	for i, d := range docs {
		raw, err := json.Marshal(d.Metadata)
		if err != nil {
			return nil, fmt.Errorf("encode metadata: %w", err)
		}
		parts[i] = port.KeptPart{Metadata: raw, Text: d.Text}
		kept.TextBytes += int64(len(d.Text))
	}
	return parts, nil
}

// FileRef addresses an uploaded file.
type FileRef struct {
	File string `path:"file_id" json:"-" schema:"DocumentID" doc:"id of an uploaded file"`
}

// kept reads an uploaded file, if the caller may see it.
func (s *Service) kept(ctx context.Context, r reader, id string) (port.KeptFile, error) {
	who := ident.From(ctx)
	f, err := r.KeptFile(ctx, who.Org, id)
	if err == nil && who.Namespace != "" && f.Namespace != who.Namespace {
		err = fault.New(fault.NotFound, "file %q does not exist", id)
	}
	return f, err
}

// GetFile reads what is known of an uploaded file.
func (s *Service) GetFile(ctx context.Context, in FileRef) (File, error) {
	var f port.KeptFile
	err := s.store.View(ctx, func(r reader) (err error) {
		f, err = s.kept(ctx, r, in.File)
		return err
	})
	if err != nil {
		return File{}, err
	}
	return shownFile(f), nil
}

// ListFiles are the parameters of GET /v1/files.
type ListFiles struct {
	Limit   *int   `query:"limit" minimum:"1" maximum:"10000" default:"10000" doc:"how many at most"`
	Order   string `query:"order" enum:"asc,desc" default:"desc" doc:"desc: the newest first"`
	After   string `query:"after" schema:"Text" doc:"the last id of the page before; none for the first page"`
	Purpose string `query:"purpose" schema:"Text" doc:"files of this purpose alone"`
}

// FilePage answers a list of files.
type FilePage struct {
	Paged
	Data []File `json:"data"`
}

const maxFiles = 10_000

// ListFiles pages through uploaded files, by when they were uploaded.
func (s *Service) ListFiles(ctx context.Context, in ListFiles) (FilePage, error) {
	who, limit := ident.From(ctx), maxFiles
	if in.Limit != nil {
		limit = *in.Limit
	}
	var list []port.KeptFile
	err := s.store.View(ctx, func(r reader) (err error) {
		list, err = r.KeptFiles(ctx, who.Org, port.KeptFileList{Namespace: who.Namespace, Purpose: in.Purpose,
			Down: in.Order != "asc", After: in.After, Limit: limit + 1})
		return err
	})
	if err != nil {
		return FilePage{}, err
	}
	out := make([]File, len(list))
	for i, f := range list {
		out[i] = shownFile(f)
	}
	data, page := paged(out, limit, false, func(f *File) *string { return &f.ID })
	return FilePage{page, data}, nil
}

// DeleteFile deletes an uploaded file, and removes it from the vector stores that it was attached to.
func (s *Service) DeleteFile(ctx context.Context, in FileRef) (Deleted, error) {
	for gone := false; !gone; {
		stores, err := s.removable(ctx, in.File)
		if err != nil {
			return Deleted{}, err
		}
		for _, store := range stores {
			if err := s.detach(ctx, store, in.File); err != nil {
				return Deleted{}, err
			}
		}
		err = s.store.Update(ctx, func(w writer) error {
			org := ident.From(ctx).Org
			again, err := w.AttachedTo(ctx, org, in.File)
			if gone = err == nil && len(again) == 0; gone {
				_, err = w.RemoveKeptFile(ctx, org, in.File)
			}
			return err // where it was attached in the meantime it is removed from there first
		})
		if err != nil {
			return Deleted{}, err
		}
	}
	return Deleted{in.File, "file", true}, nil
}

// removable finds the vector stores that a file was attached to, and refuses where it cannot be removed from one
// of them, so that a refusal changes nothing.
func (s *Service) removable(ctx context.Context, file string) (stores []string, err error) {
	who := ident.From(ctx)
	err = s.store.View(ctx, func(r reader) error {
		if _, err := s.kept(ctx, r, file); err != nil {
			return err
		}
		stores, err = r.AttachedTo(ctx, who.Org, file)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, store := range stores {
		if who.Namespace != "" && store != who.Namespace {
			return nil, fault.New(fault.Forbidden,
				"this key is limited to namespace %q, and the file is in another one, too", who.Namespace)
		}
	}
	for _, store := range stores {
		if _, err := s.settled(ctx, store, file); err != nil {
			return nil, err
		}
	}
	return stores, nil
}

// Bytes are the content of a file. It implements op.Streamer.
type Bytes struct{ text string }

// ContentType implements op.Streamer.
func (Bytes) ContentType() string { return "application/octet-stream" }

// Stream implements op.Streamer.
func (b Bytes) Stream(_ context.Context, w io.Writer) error {
	_, err := io.WriteString(w, b.text)
	return err
}

// FileContent answers a file as it was sent, where the text that is kept of it is all that it was: the hash of its
// bytes tells.
func (s *Service) FileContent(ctx context.Context, in FileRef) (Bytes, error) {
	var f port.KeptFile
	var parts []port.KeptPart
	err := s.store.View(ctx, func(r reader) (err error) {
		if f, err = s.kept(ctx, r, in.File); err == nil && f.Parts == 1 {
			parts, err = r.KeptParts(ctx, ident.From(ctx).Org, in.File)
		}
		return err
	})
	if err != nil {
		return Bytes{}, err
	}
	if len(parts) == 1 {
		var known struct {
			Hash string `json:"file_hash"`
		}
		if err := json.Unmarshal(parts[0].Metadata, &known); err != nil {
			return Bytes{}, fmt.Errorf("decode metadata of %s: %w", in.File, err)
		}
		for _, end := range []string{"", "\n"} { // which reading leaves out
			sum := sha256.Sum256([]byte(parts[0].Text + end))
			if known.Hash == "sha256:"+hex.EncodeToString(sum[:]) {
				return Bytes{parts[0].Text + end}, nil
			}
		}
	}
	return Bytes{}, fault.New(fault.InvalidRequest,
		"the bytes of %q (%s) are not kept, its text is: attach it to a vector store "+
			"and call GET /v1/vector_stores/{vector_store_id}/files/%s/content", f.Name, f.MediaType, in.File)
}

func fileOperations() []op.Op[*Service] {
	const (
		files = "/v1/files"
		one   = files + "/{file_id}"
	)
	upload := changing(spec("files.create", "POST", files, "Upload a file for vector stores"))
	upload.Description = "Its text is read at once and kept until the file is deleted; its bytes are not. A file that cannot " +
		"be read is refused with the reason."
	upload.MaxBody, upload.BodyType, upload.BodyForm = file.MaxBody, op.Multipart, FileForm{}
	upload.Timeout, upload.TimeoutClass = uploadTime, op.OwnTimeout
	upload.Faults = []fault.Code{fault.InvalidRequest, fault.QuotaExceeded, fault.PayloadTooLarge, fault.Unavailable,
		fault.Upstream}
	remove := changing(spec("files.delete", "DELETE", one, "Delete a file, and remove it from all vector stores"))
	remove.MaxBody = 0
	remove.Faults = append(remove.Faults, fault.Conflict, fault.InvalidID)
	list := spec("files.list", "GET", files, "List uploaded files")
	get := spec("files.retrieve", "GET", one, "Read what is known of an uploaded file")
	get.Faults = append(get.Faults, fault.InvalidID)
	content := spec("files.content", "GET", one+"/content", "Read a file as it was sent")
	content.Faults = append(content.Faults, fault.InvalidID)
	content.Description = "Of files that are plain text in UTF-8. Of others the text alone is kept, which 400 says."
	return []op.Op[*Service]{
		op.Define(upload, (*Service).UploadFile),
		op.Define(list, (*Service).ListFiles),
		op.Define(get, (*Service).GetFile),
		op.Define(remove, (*Service).DeleteFile),
		op.Define(content, (*Service).FileContent),
	}
}
