package admin

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/mnemehq/mneme/core/dataset"
	datasets "github.com/mnemehq/mneme/core/dataset/namespace"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

// ExportNamespace are the parameters of GET /organizations/{org}/namespaces/{namespace}/export.
type ExportNamespace struct {
	NamespaceRef
	Vectors *bool `query:"vectors" json:"-" default:"true" doc:"false: without chunks and vectors, a fraction of the size; an import computes them again"`
}

// ImportNamespace is what POST /organizations/{org}/namespaces/{namespace}/import takes.
type ImportNamespace struct {
	NamespaceRef
	OnConflict string `query:"on_conflict" json:"-" enum:"fail,skip,replace" default:"fail" doc:"what to do with a document that is there already with another text or other metadata: import nothing, keep it, or replace it"`

	EmbeddingModel string `query:"embedding_model" json:"-" maxLength:"256" doc:"embedding model of its own that a namespace gets which the import creates, by the id that GET /models?kind=embedding lists; empty: as the data set has it"`

	body io.Reader
}

// TakeBody implements op.Streamed.
func (in *ImportNamespace) TakeBody(body io.Reader) { in.body = body }

// ImportedNamespace answers an import. Counts are of documents where not said
// otherwise.
type ImportedNamespace struct {
	Namespace string `json:"namespace" schema:"NamespaceName"`
	Sparse    bool   `json:"sparse" doc:"whether the namespace has a learned-sparse index"`
	DataSet   string `json:"data_set" doc:"id of the data set"`
	Hash      string `json:"hash" doc:"of the namespace as the data set has it; another export of a namespace that holds the same, and nothing else, has the same hash in its end line"`
	Documents int64  `json:"documents" minimum:"0" doc:"in the data set: the sum of created, replaced, unchanged and skipped"`
	Created   int64  `json:"created" minimum:"0" doc:"that were not there"`
	Replaced  int64  `json:"replaced" minimum:"0" doc:"that were there with other contents"`
	Unchanged int64  `json:"unchanged" minimum:"0" doc:"that were there with the same text and metadata"`
	Skipped   int64  `json:"skipped" minimum:"0" doc:"that were there with other contents, and stayed as they are"`
	Chunks    int64  `json:"chunks" minimum:"0" doc:"chunks of the documents created and replaced"`
	Embedded  int64  `json:"embedded" minimum:"0" doc:"how many of those created and replaced had their vectors computed; the others brought them in the data set"`
}

// ExportNamespace finds a namespace to export. Fault NamespaceNotFound when there
// is none.
func (s *Service) ExportNamespace(ctx context.Context, in ExportNamespace) (*datasets.Export, error) {
	o, err := s.organization(ctx, in.Org)
	if err != nil {
		return nil, err
	}
	p, err := s.namespace(ctx, in.NamespaceRef)
	if err != nil {
		return nil, err
	}
	x, err := s.transfers.Export(ctx, o, p, in.Vectors == nil || *in.Vectors)
	return x, wrap("export namespace", err)
}

// ImportNamespace imports a data set of one namespace.
func (s *Service) ImportNamespace(ctx context.Context, in ImportNamespace) (ImportedNamespace, error) {
	p, err := s.namespace(ctx, in.NamespaceRef)
	if err != nil {
		return ImportedNamespace{}, err
	}
	how := datasets.How{Policy: dataset.Policy(cmp.Or(in.OnConflict, string(dataset.Fail))), Embedder: in.EmbeddingModel}
	n, err := s.transfers.Import(ctx, p, how, in.body)
	if err != nil {
		return ImportedNamespace{}, wrap("import namespace", err)
	}
	hash, err := n.Hash.MarshalText()
	return ImportedNamespace{
		Namespace: p.Name(),
		Sparse:    n.Sparse,
		DataSet:   n.Set,
		Hash:      string(hash),
		Documents: n.Documents,
		Created:   n.Created,
		Replaced:  n.Replaced,
		Unchanged: n.Unchanged,
		Skipped:   n.Skipped,
		Chunks:    n.Chunks,
		Embedded:  n.Embedded,
	}, err
}

// The lines of a data set of one namespace, in their order.
type (
	lineHashes struct {
		Hash  string `json:"hash" doc:"SHA-256 of the type, a line feed and data as it is written; base64url without padding"`
		Chain string `json:"chain" doc:"SHA-256 of the line before's chain (32 zero bytes at first) and hash; base64url without padding. That of the last line is a hash over everything"`
	}
	headerLine struct {
		Type string         `json:"type" enum:"header"`
		Data dataset.Header `json:"data"`
		lineHashes
	}
	organizationLine struct {
		Type string               `json:"type" enum:"organization"`
		Data dataset.Organization `json:"data"`
		lineHashes
	}
	partitionLine struct {
		Type string            `json:"type" enum:"partition"`
		Data dataset.Partition `json:"data"`
		lineHashes
	}
	namespaceLine struct {
		Type string            `json:"type" enum:"namespace"`
		Data dataset.Namespace `json:"data"`
		lineHashes
	}
	documentLine struct {
		Type string           `json:"type" enum:"document"`
		Data dataset.Document `json:"data"`
		lineHashes
	}
	endLine struct {
		Type string      `json:"type" enum:"end"`
		Data dataset.End `json:"data"`
		lineHashes
	}
	trailerLine struct {
		Type string          `json:"type" enum:"trailer"`
		Data dataset.Trailer `json:"data"`
		lineHashes
	}
	errorLine struct {
		Type string          `json:"type" enum:"error"`
		Data dataset.Failure `json:"data"`
		lineHashes
	}
)

// setLines are zero values of the lines of a whole data set.
func setLines() []any {
	return []any{headerLine{}, organizationLine{}, partitionLine{}, namespaceLine{}, documentLine{}, endLine{}, trailerLine{}}
}

func exportNamespace() op.Spec {
	return op.Spec{
		Name:    "admin.namespaces.export",
		Group:   op.AdminNamespaces,
		Method:  "GET",
		Path:    oneNS + "/export",
		Family:  op.Administration,
		Class:   op.Admin,
		Timeout: 10 * time.Second,
		Summary: "Export a namespace as NDJSON with hashes",
		Faults:  []fault.Code{fault.InvalidRequest, fault.InvalidNamespace, fault.NotFound, fault.NamespaceNotFound},
		Description: "The format that `mneme export` writes, so that `mneme import` and the import route take it: " +
			"documents with metadata, times, chunks and vectors, read from one snapshot. Every line has a hash and a " +
			"running hash. Only what ends with a trailer line is whole: an export that fails on its way ends with an " +
			"error line, or with none, and the connection is cut.",
		Answers: []op.Answer{{
			Status:  200,
			Summary: "The data set, one JSON object a line.",
			Body:    (*datasets.Export)(nil),
			Lines:   append(setLines(), errorLine{}),
		}},
	}
}

func importNamespace() op.Spec {
	return op.Spec{
		Name:      "admin.namespaces.import",
		Group:     op.AdminNamespaces,
		Method:    "POST",
		Path:      oneNS + "/import",
		Family:    op.Administration,
		Class:     op.Admin,
		Mutates:   true,
		MaxBody:   datasets.MaxBody,
		Timeout:   datasets.Timeout,
		BodyType:  "application/x-ndjson",
		BodyLines: setLines(),
		Summary:   "Import a data set of one namespace",
		Faults: []fault.Code{fault.InvalidRequest, fault.InvalidNamespace, fault.InvalidID, fault.InvalidMetadata,
			fault.NotFound, fault.Conflict, fault.PayloadTooLarge, fault.QuotaExceeded,
			fault.Unavailable, fault.Upstream},
		Description: "Takes what the export route or `mneme export --namespace` wrote, compressed with gzip or not, " +
			"under any name. It is checked to its end before anything is stored: what was cut off, altered, added or " +
			"left out is refused by its line. The namespace is made when there is none. Vectors are taken over where " +
			"the namespace's models made them, and are computed again otherwise. 200 means that all documents are durable " +
			"and searchable. Documents are stored in batches: an import that fails on its way says how many were stored, " +
			"and repeating it goes on from there. A line may have up to 32 MiB, a data set the 2 GiB of `limits.import_mb`, " +
			"unless that says otherwise. An organization imports one at a time; another answers 503.",
	}
}
