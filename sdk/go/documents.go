package mneme

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/mnemehq/mneme/sdk/go/api"
)

var (
	respondAsync   = Ptr("respond-async")
	searchableSoon = Ptr("searchable=soon")
)

// Write writes documents; the answer comes when they are on disk and found by the next query.
func (s *DocumentsService) Write(ctx context.Context, namespace string, body WriteDocuments) (*DocumentWritten, error) {
	return call[DocumentWritten](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.DocumentsWrite(ctx, namespace, nil, body)
	})
}

// WriteSoon writes documents; the answer comes when they are on disk. Where Searchable is false, an index takes them in
// the background; a query that comes first waits for it.
func (s *DocumentsService) WriteSoon(ctx context.Context, namespace string, body WriteDocuments) (*DocumentWritten, error) {
	return call[DocumentWritten](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.DocumentsWrite(ctx, namespace, &api.DocumentsWriteParams{Prefer: searchableSoon}, body)
	})
}

// WriteLater leaves a write to the server; Wait waits for it.
func (s *DocumentsService) WriteLater(ctx context.Context, namespace string, body WriteDocuments) (*DocumentOperation, error) {
	return call[DocumentOperation](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.DocumentsWrite(ctx, namespace, &api.DocumentsWriteParams{Prefer: respondAsync}, body)
	})
}

// Operation tells how far a write is that was left to the server.
func (s *DocumentsService) Operation(ctx context.Context, namespace, operation string) (*DocumentOperation, error) {
	return call[DocumentOperation](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.OperationsGet(ctx, namespace, operation, nil)
	})
}

// Wait returns the operation when it has succeeded, and an OperationFailedError where it has failed.
func (s *DocumentsService) Wait(ctx context.Context, namespace, operation string) (*DocumentOperation, error) {
	for {
		now, err := s.Operation(ctx, namespace, operation)
		if err != nil {
			return nil, err
		}
		switch now.Status {
		case api.DocumentOperationStatusSucceeded:
			return now, nil
		case api.DocumentOperationStatusFailed:
			failed := &OperationFailedError{}
			if now.Error != nil {
				failed.Code, failed.Message = Code(now.Error.Code), now.Error.Message
			}
			return nil, failed
		}
		if err := s.c.sleep(ctx, 500*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// UploadFile is a file to upload.
type UploadFile struct {
	Name    string
	Content []byte
}

// ReadFile reads a file to upload.
func ReadFile(path string) (UploadFile, error) {
	content, err := os.ReadFile(path)
	return UploadFile{filepath.Base(path), content}, err
}

// Upload is what is uploaded: files, and metadata of every document that they become.
type Upload struct {
	Files    []UploadFile
	Metadata Metadata
	DryRun   bool // only show what would be written
}

func (u Upload) form() (contentType string, body []byte, err error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for _, file := range u.Files {
		part, err := w.CreateFormFile("file", file.Name)
		if err != nil {
			return "", nil, err
		}
		if _, err := part.Write(file.Content); err != nil {
			return "", nil, err
		}
	}
	if u.Metadata != nil {
		metadata, err := json.Marshal(u.Metadata)
		if err != nil {
			return "", nil, err
		}
		if err := w.WriteField("metadata", string(metadata)); err != nil {
			return "", nil, err
		}
	}
	if err := w.Close(); err != nil {
		return "", nil, err
	}
	return w.FormDataContentType(), form.Bytes(), nil
}

// Upload reads files and writes their text as documents.
func (s *FilesService) Upload(ctx context.Context, namespace string, upload Upload) (*FileUploaded, error) {
	kind, form, err := upload.form()
	if err != nil {
		return nil, err
	}
	return call[FileUploaded](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		params := &api.FilesUploadParams{DryRun: &upload.DryRun}
		return s.c.api.FilesUploadWithBody(ctx, namespace, params, kind, bytes.NewReader(form))
	})
}

// UploadLater does the same, but the server writes later; Documents.Wait with the answer's id waits for it.
func (s *FilesService) UploadLater(ctx context.Context, namespace string, upload Upload) (*FileAccepted, error) {
	kind, form, err := upload.form()
	if err != nil {
		return nil, err
	}
	return call[FileAccepted](ctx, s.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		params := &api.FilesUploadParams{Prefer: respondAsync}
		return s.c.api.FilesUploadWithBody(ctx, namespace, params, kind, bytes.NewReader(form))
	})
}

// WithRerank has a model rescore the candidates of a query.
func WithRerank() *api.QueryRequest_Rerank {
	rerank := new(api.QueryRequest_Rerank)
	if err := rerank.UnmarshalJSON([]byte("true")); err != nil {
		panic(err) // of a constant
	}
	return rerank
}

// WithRerankOf is WithRerank with settings.
func WithRerankOf(settings QueryRerank) (*api.QueryRequest_Rerank, error) {
	rerank := new(api.QueryRequest_Rerank)
	return rerank, rerank.FromQueryRerank(settings)
}

// Import takes in what an export wrote.
func (s *AdminNamespacesService) Import(
	ctx context.Context, org, namespace string, content io.Reader, params *AdminNamespacesImportParams,
) (*AdminImportedNamespace, error) {
	return call[AdminImportedNamespace](ctx, s.c, once, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminNamespacesImportWithBody(ctx, org, namespace, params, "application/x-ndjson", content)
	})
}
