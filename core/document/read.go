package document

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
)

// GetDocument are the parameters of GET /namespaces/{namespace}/documents/{id}.
type GetDocument struct {
	Namespace   string   `path:"namespace" json:"-" fault:"invalid_namespace" schema:"NamespaceName" doc:"name of the namespace"`
	ID          string   `path:"id" json:"-" fault:"invalid_id" schema:"DocumentID" doc:"id of the document"`
	Include     []string `query:"include" json:"-" enum:"chunks" doc:"chunks adds chunk_list to the answer"`
	IfNoneMatch string   `header:"If-None-Match" json:"-" example:"\"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"" doc:"ETags that the caller holds; 304 when the document has one of them"`
}

// NamespaceName is for keys limited to one namespace.
func (in *GetDocument) NamespaceName() string { return in.Namespace }

// Head is a document without its text.
type Head struct {
	ID          string          `json:"id" schema:"DocumentID"`
	Metadata    json.RawMessage `json:"metadata" schema:"Metadata"`
	Chunks      int             `json:"chunks" minimum:"0" doc:"how many chunks it was cut into"`
	ContentHash string          `json:"content_hash" pattern:"^sha256:[0-9a-f]{64}$" doc:"SHA-256 over text and metadata; the ETag"`
	SourceID    *string         `json:"source_id" doc:"of the source that keeps it; null: it was written directly"`
	CreatedAt   time.Time       `json:"created_at"`
	UpdatedAt   time.Time       `json:"updated_at"`
}

// Document is a document as it is read.
type Document struct {
	ID          string          `json:"id" schema:"DocumentID"`
	Text        string          `json:"text"`
	Metadata    json.RawMessage `json:"metadata" schema:"Metadata"`
	Chunks      int             `json:"chunks" minimum:"0" doc:"how many chunks it was cut into"`
	ContentHash string          `json:"content_hash" pattern:"^sha256:[0-9a-f]{64}$" doc:"SHA-256 over text and metadata; the ETag"`
	SourceID    *string         `json:"source_id" doc:"of the source that keeps it; null: it was written directly"`
	CreatedAt   time.Time       `json:"created_at"`
	UpdatedAt   time.Time       `json:"updated_at"`
	ChunkList   *[]Chunk        `json:"chunk_list,omitempty" doc:"with include=chunks"`

	notModified bool
}

// Chunk is a slice of a document's text, in UTF-8 byte offsets.
type Chunk struct {
	Index   int    `json:"index" minimum:"0" doc:"position in the document"`
	Start   int    `json:"start" minimum:"0" doc:"UTF-8 byte offset into the text"`
	End     int    `json:"end" minimum:"0" doc:"UTF-8 byte offset after it"`
	Heading string `json:"heading,omitempty" doc:"headings above it, outermost first, with ' > ' between them; outer ones are left out where all would be long"`
	Text    string `json:"text"`
}

// StatusCode is 304 when the caller holds this version.
func (d Document) StatusCode() int {
	if d.notModified {
		return 304
	}
	return 200
}

// Headers carry the ETag.
func (d Document) Headers() map[string]string {
	return map[string]string{"ETag": `"` + d.ContentHash + `"`}
}

// contentHash is the SHA-256 of the text or, where there is metadata, of the
// two digests of text and canonical metadata one after the other: a change of
// metadata alone must not answer 304.
func contentHash(d port.Document) string {
	h := d.TextHash
	if d.MetadataHash != noMetadata {
		h = sha256.Sum256(append(append([]byte{}, d.TextHash[:]...), d.MetadataHash[:]...))
	}
	return "sha256:" + hex.EncodeToString(h[:])
}

var noMetadata = filter.Metadata(nil).Hash()

func head(d port.DocumentHead) Head {
	h := Head{
		ID:          d.ID,
		Metadata:    d.Metadata,
		Chunks:      d.ChunkCount,
		ContentHash: contentHash(d.Document),
		CreatedAt:   d.CreatedAt.UTC(),
		UpdatedAt:   d.UpdatedAt.UTC(),
	}
	if len(h.Metadata) == 0 {
		h.Metadata = json.RawMessage("{}")
	}
	if d.SourceID != "" {
		h.SourceID = &d.SourceID
	}
	return h
}

// Get reads one document.
func (s *Service) Get(ctx context.Context, in GetDocument) (Document, error) {
	who := ident.From(ctx)
	p := port.Documents(who.Org, in.Namespace)
	var out Document
	err := s.store.View(ctx, func(r reader) error {
		if _, err := readNonEmpty(ctx, r, p); err != nil {
			return err
		}
		docs, err := r.Documents(ctx, p, []string{in.ID}, port.PartText|port.PartMetadata|port.PartChunks)
		if err != nil {
			return err
		}
		if len(docs) == 0 {
			return fault.New(fault.DocumentNotFound, "namespace %q holds no document %q", in.Namespace, in.ID)
		}
		h := head(docs[0])
		out = Document{ID: h.ID, Text: docs[0].Text, Metadata: h.Metadata, Chunks: h.Chunks, ContentHash: h.ContentHash,
			SourceID: h.SourceID, CreatedAt: h.CreatedAt, UpdatedAt: h.UpdatedAt}
		if len(in.Include) > 0 {
			list := make([]Chunk, len(docs[0].Chunks))
			for i, c := range docs[0].Chunks {
				list[i] = Chunk{i, c.Start, c.End, chunk.Heading(docs[0].Text, c), docs[0].Text[c.Start:c.End]}
			}
			out.ChunkList = &list
		}
		return nil
	})
	if err == nil {
		out.notModified = matches(in.IfNoneMatch, out.ContentHash)
	}
	return out, err
}

// matches implements If-None-Match with weak comparison (RFC 9110, 13.1.2).
func matches(header, hash string) bool {
	for _, tag := range strings.Split(header, ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if tag == "*" || strings.Trim(tag, `"`) == hash {
			return tag != ""
		}
	}
	return false
}

// ListDocuments are the parameters of GET /namespaces/{namespace}/documents.
type ListDocuments struct {
	Namespace string `path:"namespace" json:"-" fault:"invalid_namespace" schema:"NamespaceName" doc:"name of the namespace"`
	Limit     *int   `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"100" doc:"how many at most"`
	Cursor    string `query:"cursor" json:"-" doc:"next_cursor of the page before; none for the first page"`
	Prefix    string `query:"prefix" json:"-" schema:"Text" doc:"only ids that begin with it"`
	SourceID  string `query:"source_id" json:"-" schema:"Text" doc:"only documents of this source"`
	Order     string `query:"order" json:"-" enum:"id,updated_at" default:"id" doc:"id rises; updated_at has the newest first"`
}

// NamespaceName is for keys limited to one namespace.
func (in *ListDocuments) NamespaceName() string { return in.Namespace }

// Page answers a list of documents.
type Page struct {
	Documents  []Head  `json:"documents"`
	NextCursor *string `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

type position struct {
	ID      string    `json:"i"`
	Updated time.Time `json:"u,omitzero"`
}

// List pages through a namespace by keyset, so that inserts and deletes
// between pages neither repeat nor skip survivors.
func (s *Service) List(ctx context.Context, in ListDocuments) (Page, error) {
	who := ident.From(ctx)
	p := port.Documents(who.Org, in.Namespace)
	order, limit := port.Order(in.Order), page.Limit(in.Limit)
	if order == "" {
		order = port.ByID
	}
	bind := []string{"documents", string(who.Org), in.Namespace, in.Prefix, in.SourceID, string(order)}
	var at position
	if err := s.pages.Open(in.Cursor, &at, bind...); err != nil {
		return Page{}, err
	}
	out := Page{Documents: []Head{}}
	err := s.store.View(ctx, func(r reader) error {
		if _, err := readNonEmpty(ctx, r, p); err != nil {
			return err
		}
		list, err := r.ListDocuments(ctx, p, port.DocumentList{Prefix: in.Prefix, SourceID: in.SourceID, Order: order,
			AfterID: at.ID, AfterUpdated: at.Updated, Limit: limit + 1, Parts: port.PartMetadata})
		if err != nil {
			return err
		}
		if len(list) > limit {
			list = list[:limit]
			last := position{ID: list[limit-1].ID}
			if order == port.ByUpdated {
				last.Updated = list[limit-1].UpdatedAt
			}
			next := s.pages.Seal(last, bind...)
			out.NextCursor = &next
		}
		for _, d := range list {
			out.Documents = append(out.Documents, head(d))
		}
		return nil
	})
	return out, err
}
