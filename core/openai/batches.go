package openai

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// AttachSeveral is the body of POST /v1/vector_stores/{vector_store_id}/file_batches.
type AttachSeveral struct {
	StoreRef
	FileIDs    []string    `json:"file_ids,omitempty" schema:"DocumentID" minItems:"1" maxItems:"500" doc:"uploaded files"`
	Files      []BatchFile `json:"files,omitempty" minItems:"1" maxItems:"500" doc:"the same, each with attributes of its own"`
	Attributes Attributes  `json:"attributes,omitempty" schema:"Metadata" doc:"metadata of the documents of all file_ids"`
	Chunking   *Chunking   `json:"chunking_strategy,omitempty"`
}

// BatchFile is a file to attach.
type BatchFile struct {
	FileID     string     `json:"file_id" schema:"DocumentID"`
	Attributes Attributes `json:"attributes,omitempty" schema:"Metadata"`
	Chunking   *Chunking  `json:"chunking_strategy,omitempty"`
}

// JSONSchema implements op.Schemer.
func (in *AttachSeveral) JSONSchema() string {
	return `{"oneOf": [{"required": ["file_ids"], "properties": {"files": false}}, {"required": ["files"], "properties": {
		"file_ids": false, "attributes": false, "chunking_strategy": false}}]}`
}

// Validate refuses what is not done.
func (in *AttachSeveral) Validate() error {
	if (in.FileIDs == nil) == (in.Files == nil) {
		return fault.New(fault.InvalidRequest, "give either file_ids or files")
	}
	if in.Files != nil && (in.Attributes != nil || in.Chunking != nil) {
		return fault.New(fault.InvalidRequest, "attributes and chunking_strategy belong to each of files")
	}
	if err := validAttributes("attributes", in.Attributes); err != nil {
		return err
	}
	for i := range in.Files {
		f := &in.Files[i]
		if err := validAttributes("files.attributes", f.Attributes); err != nil {
			return err
		}
		if err := f.Chunking.validate(); err != nil {
			return err
		}
	}
	return in.Chunking.validate()
}

// Units charges each file.
func (in *AttachSeveral) Units() int { return max(1, len(in.FileIDs)+len(in.Files)) }

// Batch are files that one call has put into a vector store.
type Batch struct {
	ID         string     `json:"id"`
	Object     string     `json:"object" enum:"vector_store.files_batch"`
	CreatedAt  int64      `json:"created_at" doc:"Unix seconds"`
	Store      string     `json:"vector_store_id" schema:"NamespaceName"`
	Status     string     `json:"status" enum:"in_progress,completed" doc:"completed: all are written, or have failed"`
	FileCounts FileCounts `json:"file_counts"`
}

// AttachSeveral puts uploaded files into a vector store.
func (s *Service) AttachSeveral(ctx context.Context, in AttachSeveral) (Batch, error) {
	if err := s.exists(ctx, in.Store); err != nil {
		return Batch{}, err
	}
	field, all := "file_ids", each(in.FileIDs, given(in.Attributes))
	if len(in.Files) > 0 {
		field, all = "files", nil
	}
	for _, f := range in.Files {
		all = append(all, want{f.FileID, given(f.Attributes)})
	}
	files, err := s.wanted(ctx, field, all)
	if err != nil {
		return Batch{}, err
	}
	id := newID("vsfb_")
	port.AuditOf(ctx).Made(in.Store + "/" + id)
	if err := s.attach(ctx, in.Store, files, id); err != nil {
		return Batch{}, err
	}
	return s.GetBatch(ctx, BatchRef{in.StoreRef, id})
}

// BatchRef addresses a batch.
type BatchRef struct {
	StoreRef
	Batch string `path:"batch_id" json:"-" schema:"Text" doc:"id of a batch"`
}

// GetBatch says how far a batch is.
func (s *Service) GetBatch(ctx context.Context, in BatchRef) (Batch, error) {
	list, err := s.attachments(ctx, in)
	if err != nil {
		return Batch{}, err
	}
	out := Batch{ID: in.Batch, Object: "vector_store.files_batch", CreatedAt: list[0].CreatedAt.Unix(), Store: in.Store,
		Status: completed}
	known := ends{}
	for _, a := range list {
		e, err := known.of(ctx, s, in.Store, a)
		if err != nil {
			return Batch{}, err
		}
		out.FileCounts.Total++
		switch e.status {
		case inProgress:
			out.FileCounts.InProgress++
			out.Status = inProgress
		case failed:
			out.FileCounts.Failed++
		default:
			out.FileCounts.Completed++
		}
	}
	return out, nil
}

// attachments are those of a batch, at least one.
func (s *Service) attachments(ctx context.Context, in BatchRef) (list []port.Attachment, err error) {
	err = s.store.View(ctx, func(r reader) (err error) {
		list, err = r.Attachments(ctx, port.Documents(ident.From(ctx).Org, in.Store),
			port.AttachmentList{Batch: in.Batch, Written: true, Limit: maxBatch})
		return err
	})
	if err == nil && len(list) == 0 {
		err = fault.New(fault.NotFound, "vector store %q has no batch %q", in.Store, fault.Clip(in.Batch))
	}
	return list, err
}

// ListBatchFiles are the parameters of GET /v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/files.
type ListBatchFiles struct {
	BatchRef
	ListParams
	Filter string `query:"filter" enum:"in_progress,completed,failed,cancelled" doc:"files of this status alone; none is ever cancelled"`
}

// ListBatchFiles pages through the files of a batch, by id, which is the order of their upload.
func (s *Service) ListBatchFiles(ctx context.Context, in ListBatchFiles) (StoreFilePage, error) {
	all, err := s.attachments(ctx, in.BatchRef)
	if err != nil {
		return StoreFilePage{}, err
	}
	if in.down() {
		slices.Reverse(all)
	}
	var list []StoreFile
	for _, a := range all {
		if !in.between(a.File) || len(list) > in.limit() {
			continue
		}
		f, err := s.GetStoreFile(ctx, StoreFileRef{in.StoreRef, a.File})
		switch {
		case fault.CodeOf(err) == fault.DocumentNotFound: // its documents are deleted
		case err != nil:
			return StoreFilePage{}, err
		case in.Filter == "" || in.Filter == f.Status:
			list = append(list, f)
		}
	}
	return in.page(list), nil
}

func batchOperations() []op.Op[*Service] {
	const (
		batches = "/v1/vector_stores/{vector_store_id}/file_batches"
		one     = batches + "/{batch_id}"
	)
	missing := []fault.Code{fault.InvalidNamespace, fault.NamespaceNotFound}
	create := changing(spec("vector_store_file_batches.create", "POST", batches, "Put uploaded files into a vector store"))
	create.Description = "Up to 500. Where their texts are longer than 256 KiB altogether, or more than 100 documents, " +
		"they are written in the background."
	create.Faults = append(append(create.Faults, missing...), fault.InvalidMetadata, fault.InvalidID, fault.QuotaExceeded,
		fault.Conflict, fault.Unavailable, fault.PayloadTooLarge)
	get := spec("vector_store_file_batches.retrieve", "GET", one, "See how far a batch of files is")
	list := spec("vector_store_file_batches.list_files", "GET", one+"/files", "List the files of a batch")
	get.Faults, list.Faults = append(get.Faults, missing[0]), append(list.Faults, missing[0])
	return []op.Op[*Service]{
		op.Define(create, (*Service).AttachSeveral),
		op.Define(get, (*Service).GetBatch),
		op.Define(list, (*Service).ListBatchFiles),
	}
}

// Absent are the calls of OpenAI's clients for files that are answered by what to use in their place. There are none
// where the protocol is off.
func (s *Service) Absent() []op.Absence {
	if s == nil || !s.enabled {
		return nil
	}
	const uploads = "there are no uploads in parts: POST /v1/files takes files of up to 64 MiB"
	var out []op.Absence
	for path, instead := range map[string]string{
		"/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/cancel": "a batch that has begun is written: " +
			"remove its files with DELETE /v1/vector_stores/{vector_store_id}/files/{file_id} when it is completed",
		"/v1/uploads":                      uploads,
		"/v1/uploads/{upload_id}/parts":    uploads,
		"/v1/uploads/{upload_id}/complete": uploads,
		"/v1/uploads/{upload_id}/cancel":   uploads,
	} {
		out = append(out, op.Absence{Protocol: op.OpenAI, Family: op.Namespace, Path: path, Instead: instead})
	}
	return out
}

// attributes are the metadata that OpenAI's clients know, and the name of a file: its path, else its title.
func attributes(metadata json.RawMessage) (known json.RawMessage, name string, err error) {
	var all map[string]json.RawMessage
	if len(metadata) > 0 {
		if err := json.Unmarshal(metadata, &all); err != nil {
			return nil, "", err
		}
	}
	for _, key := range []string{"title", "path"} {
		var text string
		if json.Unmarshal(all[key], &text) == nil && text != "" {
			name = text
		}
	}
	for key, value := range all {
		if value[0] == '[' {
			delete(all, key)
		}
	}
	if all == nil {
		return json.RawMessage("{}"), name, nil
	}
	known, err = json.Marshal(all)
	return known, name, err
}
