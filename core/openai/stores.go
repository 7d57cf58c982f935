package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Metadata of a vector store, as OpenAI bounds them.
const (
	maxPairs = 16
	maxKey   = 64  // characters
	maxValue = 512 // characters
	maxPage  = 100
	pageSize = 20
)

// newID makes an id of a kind that says by its order when it was made.
func newID(kind string) string {
	return kind + strings.ReplaceAll(uuid.Must(uuid.NewV7()).String(), "-", "")
}

// Labels are texts that a caller keeps with a vector store.
type Labels map[string]string

// JSONSchema implements op.Schemer.
func (*Labels) JSONSchema() string {
	return `{"type": "object", "maxProperties": 16, "propertyNames": {"maxLength": 64, "pattern": "^[^\\u0000]*$"},
		"additionalProperties": {"type": "string", "maxLength": 512, "pattern": "^[^\\u0000]*$"}}`
}

// UnmarshalJSON takes an object of texts.
func (l *Labels) UnmarshalJSON(b []byte) error {
	var given map[string]*string
	wrong := errors.New("must be an object whose values are texts")
	if json.Unmarshal(b, &given) != nil {
		return wrong
	}
	*l = make(Labels, len(given))
	for key, value := range given {
		if value == nil {
			return wrong
		}
		(*l)[key] = *value
	}
	return nil
}

func (l *Labels) validate() error {
	if l == nil {
		return nil
	}
	if len(*l) > maxPairs {
		return fault.Field(fault.InvalidMetadata, "metadata", "must have at most %d keys", maxPairs)
	}
	for key, value := range *l {
		if utf8.RuneCountInString(key) > maxKey || utf8.RuneCountInString(value) > maxValue || strings.ContainsRune(key+value,
			0) {
			return fault.Field(fault.InvalidMetadata, "metadata",
				"must have keys of at most %d and texts of at most %d characters, "+
					"none of them NUL", maxKey, maxValue)
		}
	}
	return nil
}

// Expiry is when something is to be deleted by itself: never.
type Expiry struct{}

// JSONSchema implements op.Schemer. Generators of clients know no field that is null alone, so
// that an object of nothing stands for it as well.
func (*Expiry) JSONSchema() string { return `{"type": "object", "maxProperties": 0}` }

// UnmarshalJSON refuses all but null, which is never given to it, and an object of nothing.
func (*Expiry) UnmarshalJSON(text []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err == nil && len(fields) == 0 {
		return nil
	}
	return errors.New("must be null or absent: nothing expires here; delete the store, or its files, when they have served")
}

// Chunking says how texts are to be cut.
type Chunking struct {
	Type   string        `json:"type" enum:"auto,static" doc:"auto: by the rules of this server; static is refused"`
	Static *StaticChunks `json:"static,omitempty"`
}

// StaticChunks are chunks of a size that a caller wants.
type StaticChunks struct {
	Size    int `json:"max_chunk_size_tokens"`
	Overlap int `json:"chunk_overlap_tokens"`
}

func (c *Chunking) validate() error {
	if c == nil || c.Type == "auto" && c.Static == nil {
		return nil
	}
	return fault.Field(fault.InvalidRequest, "chunking_strategy",
		"must be absent or of type auto: texts are cut by headings and by the window of the embedding model")
}

// CreateStore is the body of POST /v1/vector_stores.
type CreateStore struct {
	Name        string    `json:"name,omitempty" schema:"Text" maxLength:"256" doc:"for people; names need not differ"`
	Metadata    *Labels   `json:"metadata,omitempty" doc:"texts to keep with it"`
	FileIDs     []string  `json:"file_ids,omitempty" schema:"DocumentID" maxItems:"500" doc:"uploaded files to attach"`
	Chunking    *Chunking `json:"chunking_strategy,omitempty"`
	Expiry      *Expiry   `json:"expires_after,omitempty" doc:"null: nothing expires"`
	Description string    `json:"description,omitempty" pattern:"^$" rule:"is not kept, and no client reads it: keep it in metadata" doc:"refused, since it is not kept: use metadata"`
}

// Validate refuses what is not done.
func (in *CreateStore) Validate() error {
	if err := in.Metadata.validate(); err != nil {
		return err
	}
	if in.Description != "" {
		return fault.Field(fault.InvalidRequest, "description", "is not kept, and no client reads it: keep it in metadata")
	}
	return in.Chunking.validate()
}

// Units charges each file.
func (in *CreateStore) Units() int { return max(1, len(in.FileIDs)) }

// CreateStore makes an empty vector store, and attaches files to it.
func (s *Service) CreateStore(ctx context.Context, in CreateStore) (Store, error) {
	who := ident.From(ctx)
	if who.Namespace != "" {
		return Store{}, fault.New(fault.Forbidden, "this key is limited to namespace %q, which is its only vector store",
			who.Namespace)
	}
	files, err := s.wanted(ctx, "file_ids", each(in.FileIDs, nil))
	if err != nil {
		return Store{}, err
	}
	v := port.VectorStore{ID: newID("vs_"), Name: in.Name, CreatedAt: s.now().UTC().Truncate(time.Millisecond)}
	if in.Metadata != nil && len(*in.Metadata) > 0 {
		if v.Metadata, err = json.Marshal(in.Metadata); err != nil {
			return Store{}, err
		}
	}
	if err = s.store.Update(ctx, func(w writer) error {
		port.AuditOf(ctx).Made(v.ID)
		return w.PutVectorStore(ctx, who.Org, v)
	}); err != nil {
		return Store{}, err
	}
	if len(in.FileIDs) > 0 {
		if err := s.attach(ctx, v.ID, files, ""); err != nil {
			// Nobody knows its id, and a client that tries again makes another one.
			_, _ = s.DeleteStore(context.WithoutCancel(ctx), StoreRef{v.ID})
			return Store{}, err
		}
	}
	return s.GetStore(ctx, StoreRef{v.ID})
}

// described is a vector store as it is told.
func (s *Service) described(ctx context.Context, v port.VectorStoreRow) (Store, error) {
	out := Store{
		ID:         v.ID,
		Object:     "vector_store",
		Name:       v.Name,
		Status:     "completed",
		CreatedAt:  v.CreatedAt.Unix(),
		LastActive: v.UpdatedAt.Unix(),
		UsageBytes: v.Bytes,
		Metadata:   Labels{},
	}
	if v.Metadata != nil {
		if err := json.Unmarshal(v.Metadata, &out.Metadata); err != nil {
			return Store{}, err
		}
	}
	open, err := s.unfinished(ctx, v.ID, port.AttachmentList{Limit: maxFiles}, "")
	if err != nil {
		return Store{}, err
	}
	before, err := s.before(ctx, v.ID, open)
	if err != nil {
		return Store{}, err
	}
	out.FileCounts.Completed = v.Documents - before
	for _, f := range open {
		if f.Status == inProgress {
			out.FileCounts.InProgress++
			out.Status = inProgress
		} else {
			out.FileCounts.Failed++
		}
	}
	out.FileCounts.Total = out.FileCounts.Completed + out.FileCounts.InProgress + out.FileCounts.Failed
	return out, nil
}

// before counts the documents of files whose write goes on or has failed: those of an earlier write.
func (s *Service) before(ctx context.Context, store string, open []StoreFile) (n int64, err error) {
	if len(open) == 0 {
		return 0, nil
	}
	p := port.Documents(ident.From(ctx).Org, store)
	err = s.store.View(ctx, func(r reader) error {
		n = 0
		for _, f := range open {
			docs, err := read(ctx, r, p, f.ID, 0)
			if err != nil {
				return err
			}
			n += int64(len(docs))
		}
		return nil
	})
	return n, err
}

// GetStore reads a vector store; NamespaceNotFound where none was made and the namespace holds no documents.
func (s *Service) GetStore(ctx context.Context, in StoreRef) (Store, error) {
	row, err := s.row(ctx, in.Store)
	if err != nil {
		return Store{}, err
	}
	return s.described(ctx, row)
}

// row reads what is known of a vector store.
func (s *Service) row(ctx context.Context, id string) (row port.VectorStoreRow, err error) {
	org := ident.From(ctx).Org
	err = s.store.View(ctx, func(r reader) error {
		v, err := r.VectorStore(ctx, org, id)
		made := err == nil
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return err
		}
		n, err := r.Partition(ctx, port.Documents(org, id))
		there := err == nil && n.Documents > 0
		if err != nil && !fault.IsPartitionNotFound(err) {
			return err
		}
		switch {
		case !made && !there:
			return fault.New(fault.NamespaceNotFound,
				"vector store %q does not exist: it was not made, and no namespace of that "+
					"name holds documents", id)
		case !made:
			v = port.VectorStore{ID: id, Name: id, CreatedAt: n.CreatedAt}
		}
		row = port.VectorStoreRow{VectorStore: v, UpdatedAt: v.CreatedAt}
		if there {
			row.Documents, row.Bytes, row.UpdatedAt = n.Documents, n.Bytes, n.UpdatedAt
		}
		return nil
	})
	return row, err
}

// ListParams page through a list.
type ListParams struct {
	Limit  *int   `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"how many at most"`
	Order  string `query:"order" enum:"asc,desc" default:"desc" doc:"desc: the newest first"`
	After  string `query:"after" schema:"Text" doc:"the last id of the page before; none for the first page"`
	Before string `query:"before" schema:"Text" doc:"the first id of the page after, for the page before it; with after, where to end"`
}

func (in *ListParams) limit() int {
	if in.Limit == nil {
		return pageSize
	}
	return *in.Limit
}

// backwards reports whether the page is the one that ends before an id.
func (in *ListParams) backwards() bool { return in.Before != "" && in.After == "" }

// down reports whether items are read from the newest to the oldest.
func (in *ListParams) down() bool { return (in.Order != "asc") != in.backwards() }

// from is the id behind which reading begins; "": at the end of the list.
func (in *ListParams) from() string {
	if in.backwards() {
		return in.Before
	}
	return in.After
}

// until is the id at which reading ends: the clients go on with after when they iterate over what is before an id.
func (in *ListParams) until() string {
	if in.backwards() {
		return ""
	}
	return in.Before
}

// Paged are the fields of a page beside its items.
type Paged struct {
	Object  string  `json:"object" enum:"list"`
	FirstID *string `json:"first_id" doc:"null: the page is empty"`
	LastID  *string `json:"last_id" doc:"what after takes for the next page; null: the page is empty"`
	HasMore bool    `json:"has_more" doc:"whether there are more behind it; with before, in front of it"`
}

// paged cuts a list, in the order in which it was read, that may have one too many.
func paged[T any](list []T, limit int, backwards bool, id func(*T) *string) ([]T, Paged) {
	p := Paged{Object: "list", HasMore: len(list) > limit}
	list = append([]T{}, list[:min(limit, len(list))]...)
	if backwards {
		slices.Reverse(list)
	}
	if len(list) > 0 {
		p.FirstID, p.LastID = id(&list[0]), id(&list[len(list)-1])
	}
	return list, p
}

// ListStores are the parameters of GET /v1/vector_stores.
type ListStores struct{ ListParams }

// StorePage answers a list of vector stores.
type StorePage struct {
	Paged
	Data []Store `json:"data"`
}

// ListStores pages through the vector stores of an organization, by when they were made.
func (s *Service) ListStores(ctx context.Context, in ListStores) (StorePage, error) {
	who := ident.From(ctx)
	var rows []port.VectorStoreRow
	switch {
	case who.Namespace != "": // a limited key sees its own only
		row, err := s.row(ctx, who.Namespace)
		if err != nil && fault.CodeOf(err) != fault.NamespaceNotFound {
			return StorePage{}, err
		}
		if err == nil && in.from() == "" {
			rows = append(rows, row)
		}
	default:
		l := port.VectorStoreList{Down: in.down(), Limit: in.limit() + 1}
		from, err := s.listed(ctx, in.ListParams, in.from())
		if err != nil {
			return StorePage{}, err
		}
		until, err := s.listed(ctx, in.ListParams, in.until())
		if err != nil {
			return StorePage{}, err
		}
		l.After, l.AfterCreated = from.ID, from.CreatedAt
		if err := s.store.View(ctx, func(r reader) (err error) {
			rows, err = r.VectorStores(ctx, who.Org, l)
			return err
		}); err != nil {
			return StorePage{}, err
		}
		if until.ID != "" {
			rows = slices.DeleteFunc(rows, func(v port.VectorStoreRow) bool {
				c := cmp.Or(v.CreatedAt.Compare(until.CreatedAt), strings.Compare(v.ID, until.ID))
				return c == 0 || c > 0 != in.down()
			})
		}
	}
	out := make([]Store, len(rows))
	for i, row := range rows {
		var err error
		if out[i], err = s.described(ctx, row); err != nil {
			return StorePage{}, err
		}
	}
	data, page := paged(out, in.limit(), in.backwards(), func(v *Store) *string { return &v.ID })
	return StorePage{page, data}, nil
}

// listed reads the store at which a page begins or ends; the zero one where none is named.
func (s *Service) listed(ctx context.Context, in ListParams, id string) (port.VectorStoreRow, error) {
	if id == "" {
		return port.VectorStoreRow{}, nil
	}
	row, err := s.row(ctx, id)
	switch fault.CodeOf(err) {
	case fault.NotFound, fault.NamespaceNotFound, fault.InvalidNamespace:
		field := "after"
		if id == in.Before {
			field = "before"
		}
		err = fault.Field(fault.InvalidRequest, field, "%q is not, or no longer, in the list; begin again", fault.Clip(id))
	}
	return row, err
}

// ChangeStore is the body of POST /v1/vector_stores/{vector_store_id}.
type ChangeStore struct {
	StoreRef
	Name     *string `json:"name,omitempty" schema:"Text" maxLength:"256" doc:"a new name for people; the id stays"`
	Metadata *Labels `json:"metadata,omitempty" doc:"replaces all of them; {} removes them"`
	Expiry   *Expiry `json:"expires_after,omitempty" doc:"null: nothing expires"`
}

// Validate refuses what is not done.
func (in *ChangeStore) Validate() error {
	return in.Metadata.validate()
}

// ChangeStore changes name and metadata of a vector store.
func (s *Service) ChangeStore(ctx context.Context, in ChangeStore) (Store, error) {
	row, err := s.row(ctx, in.Store)
	if err != nil {
		return Store{}, err
	}
	v := row.VectorStore
	if in.Name != nil {
		v.Name = *in.Name
	}
	if in.Metadata != nil {
		if v.Metadata, err = json.Marshal(in.Metadata); err != nil {
			return Store{}, err
		}
	}
	if in.Name != nil || in.Metadata != nil {
		if err := s.store.Update(ctx, func(w writer) error {
			return w.PutVectorStore(ctx, ident.From(ctx).Org, v)
		}); err != nil {
			return Store{}, err
		}
	}
	row.VectorStore = v
	return s.described(ctx, row)
}

// Deleted answers a deletion.
type Deleted struct {
	ID      string `json:"id"`
	Object  string `json:"object" enum:"vector_store.deleted,vector_store.file.deleted,file"`
	Deleted bool   `json:"deleted" enum:"true"`
}

// DeleteStore deletes a vector store with the namespace that it is. Its files stay.
func (s *Service) DeleteStore(ctx context.Context, in StoreRef) (Deleted, error) {
	if _, err := s.row(ctx, in.Store); err != nil {
		return Deleted{}, err
	}
	open, err := s.unfinished(ctx, in.Store, port.AttachmentList{Limit: 1}, inProgress)
	if err != nil {
		return Deleted{}, err
	}
	if len(open) > 0 {
		return Deleted{}, stillWritten(open[0].ID)
	}
	if _, err := s.namespaces.Delete(ctx, namespace.Ref{Namespace: in.Store}); err != nil {
		return Deleted{}, err
	}
	err = s.store.Update(ctx, func(w writer) error {
		_, err := w.RemoveVectorStore(ctx, ident.From(ctx).Org, in.Store)
		return err
	})
	return Deleted{in.Store, "vector_store.deleted", true}, err
}

func stillWritten(file string) error {
	const after = 2 * time.Second
	return fault.New(fault.Conflict, "file %q is still being written; try again when it is completed", file).After(after)
}

func storeOperations() []op.Op[*Service] {
	const (
		stores = "/v1/vector_stores"
		store  = stores + "/{vector_store_id}"
	)
	missing := []fault.Code{fault.InvalidNamespace, fault.NamespaceNotFound}
	create := changing(spec("vector_stores.create", "POST", stores, "Make a vector store, which is a namespace"))
	create.Description = "The id is the namespace's name. It may be empty, and stays when its last document goes."
	create.Faults = append(create.Faults, fault.InvalidMetadata, fault.InvalidID, fault.QuotaExceeded, fault.Conflict,
		fault.PayloadTooLarge)
	list := spec("vector_stores.list", "GET", stores, "List vector stores, which are namespaces")
	get := spec("vector_stores.retrieve", "GET", store, "Read a vector store, which is a namespace")
	get.Faults = append(get.Faults, missing...)
	change := changing(spec("vector_stores.update", "POST", store, "Change name and metadata of a vector store"))
	change.Faults = append(append(change.Faults, missing...), fault.InvalidMetadata)
	remove := changing(spec("vector_stores.delete", "DELETE", store, "Delete a vector store and the namespace that it is"))
	remove.Description = "With every document in it, whoever wrote it. Uploaded files stay."
	remove.Faults, remove.MaxBody = append(append(remove.Faults, missing...), fault.Conflict), 0
	search := spec("vector_stores.search", "POST", store+"/search", "Find chunks in a vector store")
	search.Description = "Hybrid search in the namespace of that name, as `POST /namespaces/{namespace}/query` does it."
	search.MaxBody, search.Timeout, search.TimeoutClass = 1<<20, searchTime, op.QueryTimeout
	search.Faults = append(search.Faults, fault.InvalidNamespace, fault.InvalidFilter, fault.NamespaceNotFound, fault.Conflict)
	return []op.Op[*Service]{
		op.Define(create, (*Service).CreateStore),
		op.Define(list, (*Service).ListStores),
		op.Define(get, (*Service).GetStore),
		op.Define(change, (*Service).ChangeStore),
		op.Define(remove, (*Service).DeleteStore),
		op.Define(search, (*Service).Search),
	}
}

// changing is an operation that writes.
func changing(s op.Spec) op.Spec {
	s.Class, s.Mutates, s.Timeout, s.MaxBody = op.Write, true, writeTime, 1<<20
	s.Faults = append(s.Faults, fault.InvalidRequest, fault.InvalidJSON)
	return s
}
