package file

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Limits of an upload (docs/contract.md#limit-sizes).
const (
	MaxBody     = 128 << 20
	MaxFiles    = 100
	maxMetadata = 64 << 10 // bytes of the field metadata
)

// documents is what the service uses of that of documents.
type documents interface {
	Write(ctx context.Context, in document.WriteDocuments) (document.WriteResult, error)
	Preview(ctx context.Context, namespace string, docs []chunk.Document) ([][]port.Chunk, error)
	List(ctx context.Context, in document.ListDocuments) (document.Page, error)
}

// Settings configure a Service.
type Settings struct {
	Documents documents
	Extractor port.Extractor // nil: files are not read
}

// Service takes files.
type Service struct {
	documents documents
	extractor port.Extractor
}

// New makes the service.
func New(s Settings) *Service { return &Service{s.Documents, s.Extractor} }

// Operations declares the operations of the service.
func Operations() []op.Op[*Service] {
	return op.WithLinks(op.WithExamples([]op.Op[*Service]{
		op.Define(op.Spec{
			Name:         "files.upload",
			Group:        op.Documents,
			Method:       "POST",
			Path:         "/namespaces/{namespace}/files",
			Class:        op.Write,
			Mutates:      true,
			MaxBody:      MaxBody,
			BodyType:     op.Multipart,
			BodyForm:     Form{},
			Timeout:      5 * time.Minute,
			TimeoutClass: op.OwnTimeout,
			Summary:      "Write the text of files as documents",
			Description: "Reads the text of up to 100 files, each of at most 64 MiB, and writes it: a document for each file, " +
				"several for a long one. What a file is its content says; GET /formats lists what is read. A file that " +
				"cannot be read is named with the reason, and the others are written, all or nothing. A file of a name " +
				"that was uploaded before replaces its documents. The bytes are not kept. Prefer: respond-async answers 202 " +
				"with an operation once the text is read; Prefer: searchable=soon answers 200 before a remote index has " +
				"taken the documents, for which the next query waits.",
			Answers: []op.Answer{
				{
					Status:  200,
					Summary: "What was read is durable, and searchable unless the answer says otherwise.",
					Body:    Uploaded{},
					Headers: []string{"Preference-Applied"},
				},
				{
					Status:  202,
					Summary: "The files are read, and their write is accepted.",
					Body:    Accepted{},
					Headers: []string{"Location", "Preference-Applied"},
				},
			},
			Faults: []fault.Code{fault.InvalidRequest, fault.InvalidNamespace, fault.InvalidID, fault.InvalidMetadata,
				fault.QuotaExceeded, fault.Conflict, fault.PayloadTooLarge, fault.Unavailable, fault.Upstream},
		}, (*Service).Upload),
		op.Define(op.Spec{
			Name:        "formats.list",
			Group:       op.Documents,
			Method:      "GET",
			Path:        "/formats",
			Class:       op.Read,
			Timeout:     5 * time.Second,
			Summary:     "List the formats of files that are read",
			Description: "By media type. None where files are not read on this server.",
		}, (*Service).Formats),
	}, examples()), links())
}

// ListFormats is the request of GET /formats.
type ListFormats struct{}

// Formats answers GET /formats.
type Formats struct {
	Formats []Format `json:"formats"`
}

// Format is a kind of file that is read.
type Format struct {
	MediaType  string   `json:"media_type" example:"application/pdf"`
	Name       string   `json:"name" example:"PDF" doc:"for people"`
	Extensions []string `json:"extensions" doc:"of file names, with the dot"`
}

// Formats lists what is read.
func (s *Service) Formats(context.Context, ListFormats) (Formats, error) {
	out := Formats{Formats: []Format{}}
	if s.extractor == nil {
		return out, nil
	}
	for _, f := range s.extractor.Formats() {
		out.Formats = append(out.Formats, Format{f.MediaType, f.Name, append([]string{}, f.Extensions...)})
	}
	return out, nil
}
