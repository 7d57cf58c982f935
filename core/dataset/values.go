package dataset

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/packing"
	"github.com/mnemehq/mneme/core/port"
)

// Format and Version are what a header names.
const (
	Format  = "mneme.dataset"
	Version = 1
)

// The kinds of lines.
const (
	KindHeader       = "header"
	KindOrganization = "organization"
	KindIntegration  = "integration"
	KindKey          = "key"
	KindOperation    = "operation"
	KindPartition    = "partition"
	KindNamespace    = "namespace"
	KindDocument     = "document"
	KindLink         = "link"
	KindRecord       = "record"
	KindReceipt      = "receipt"
	KindReplay       = "replay"
	KindEnd          = "end"
	KindSecret       = "secret"
	KindTrailer      = "trailer"
	KindError        = "error"
)

// Contents says which parts of an installation are moved.
type Contents struct {
	Organization string   `json:"organization,omitempty" doc:"name or id; absent: all"`
	Namespaces   []string `json:"namespaces,omitempty" doc:"absent: all"`
	Memories     bool     `json:"memories" doc:"with end users and their memories"`
	Vectors      bool     `json:"vectors" doc:"with chunk layouts and vectors"`
	Keys         bool     `json:"keys" doc:"with API keys, as hashes, and accepted writes that are not done yet"`
	Secrets      bool     `json:"secrets" doc:"with what signs cursors and OAuth sessions"`
}

// Header is the first line.
type Header struct {
	Format   string    `json:"format" enum:"mneme.dataset"`
	Version  int       `json:"version" enum:"1"`
	ID       string    `json:"id" doc:"of the data set: set_ and 24 hexadecimal digits"`
	Program  string    `json:"program" doc:"version that wrote it"`
	Store    string    `json:"store" doc:"component that it was read from; empty when a server wrote it"`
	Snapshot string    `json:"snapshot" doc:"partition: each namespace and each end user is consistent in itself"`
	Created  time.Time `json:"created_at"`
	Contents Contents  `json:"contents"`
	Planned  Counts    `json:"planned" doc:"what there was when it was begun"`
}

// NewID makes the id of a data set.
func NewID() string {
	var b [12]byte
	rand.Read(b[:]) // never fails
	return idPrefix + hex.EncodeToString(b[:])
}

const (
	idPrefix = "set_"
	idLength = len(idPrefix) + 24
)

// validID reports whether a data set may be called so. An id names the journal of its
// import, so nothing but what NewID makes is one.
func validID(id string) bool {
	digits, ok := strings.CutPrefix(id, idPrefix)
	return ok && len(id) == idLength && strings.Trim(digits, "0123456789abcdef") == ""
}

// PerPartition is Header.Snapshot: each partition is consistent in itself.
const PerPartition = "partition"

// Counts are what a data set or a partition of it holds.
type Counts struct {
	Organizations int64 `json:"organizations,omitempty"`
	Integrations  int64 `json:"integrations,omitempty"`
	Keys          int64 `json:"keys,omitempty"`
	Operations    int64 `json:"operations,omitempty"`
	Namespaces    int64 `json:"namespaces,omitempty"`
	EndUsers      int64 `json:"end_users,omitempty"`
	Documents     int64 `json:"documents,omitempty" doc:"memories among them"`
	Chunks        int64 `json:"chunks,omitempty"`
	Bytes         int64 `json:"bytes,omitempty" doc:"UTF-8 bytes of texts"`
	Links         int64 `json:"links,omitempty"`
	Records       int64 `json:"records,omitempty"`
	Receipts      int64 `json:"receipts,omitempty"`
	Replays       int64 `json:"replays,omitempty"`
	Secrets       int64 `json:"secrets,omitempty"`
}

// Add adds what another data set or partition holds.
func (c *Counts) Add(o Counts) {
	c.Organizations += o.Organizations
	c.Integrations += o.Integrations
	c.Keys += o.Keys
	c.Operations += o.Operations
	c.Namespaces += o.Namespaces
	c.EndUsers += o.EndUsers
	c.Documents += o.Documents
	c.Chunks += o.Chunks
	c.Bytes += o.Bytes
	c.Links += o.Links
	c.Records += o.Records
	c.Receipts += o.Receipts
	c.Replays += o.Replays
	c.Secrets += o.Secrets
}

// Organization is an organization; what belongs to it comes after it.
type Organization struct {
	ID        ident.Org `json:"id"`
	Name      string    `json:"name"`
	Suspended bool      `json:"suspended,omitempty"`
	Created   time.Time `json:"created_at,omitzero"`
}

// NewOrganization describes an organization.
func NewOrganization(o port.Organization) Organization {
	return Organization{o.ID, o.Name, o.Suspended, o.CreatedAt}
}

// Integration is an integration with its quotas.
type Integration struct {
	ID             string    `json:"id"`
	Name           string    `json:"name"`
	Memories       int       `json:"memories_per_end_user"`
	Reads          int       `json:"read_rate_per_min"`
	Writes         int       `json:"write_rate_per_min"`
	GrantsRequired bool      `json:"grants_required,omitempty"`
	Created        time.Time `json:"created_at,omitzero"`
}

// Key is an API key.
type Key struct {
	ID               string                `json:"id"`
	Name             string                `json:"name"`
	Kind             ident.Kind            `json:"kind"`
	Hash             Digest                `json:"sha256"` // of the secret, which is kept nowhere
	Last4            string                `json:"last4"`
	ReadOnly         bool                  `json:"read_only,omitempty"`
	Namespace        string                `json:"namespace,omitempty"`
	Source           string                `json:"source,omitempty"`
	DefaultNamespace string                `json:"default_namespace,omitempty"`
	Scopes           []ident.Scope         `json:"scopes,omitempty"`
	Limits           map[string]ident.Rate `json:"limits,omitempty"`
	Integration      string                `json:"integration,omitempty"`
	EndUser          string                `json:"end_user,omitempty"`
	CreatedBy        string                `json:"created_by,omitempty"`
	Created          time.Time             `json:"created_at,omitzero"`
	Expires          time.Time             `json:"expires_at,omitzero"`
	Revoked          time.Time             `json:"revoked_at,omitzero"`
	LastUsed         time.Time             `json:"last_used_at,omitzero"`
}

// Operation is an accepted write that has not ended.
type Operation struct {
	ID        string    `json:"id"`
	Namespace string    `json:"namespace"`
	Status    string    `json:"status"`
	Done      int       `json:"done"`
	Total     int       `json:"total"`
	Request   []byte    `json:"request"`
	Principal []byte    `json:"principal"`
	Created   time.Time `json:"created_at,omitzero"`
}

// Partition opens one; it names what differs between installations.
type Partition struct {
	Organization ident.Org  `json:"organization"`
	Space        port.Space `json:"space" enum:"documents,memories"`
	Integration  string     `json:"integration,omitempty"`
	Name         string     `json:"name" doc:"of the namespace, or the end user's id"`
}

// NewPartition names a partition.
func NewPartition(p port.Partition) Partition {
	return Partition{p.Org(), p.Space(), p.Integration(), p.Name()}
}

// String names it in messages.
func (p Partition) String() string {
	if p.Space == port.SpaceMemories {
		return "end user " + p.Name
	}
	return "namespace " + p.Name
}

// Of is the partition in an installation.
func (p Partition) Of(org ident.Org, integration string) port.Partition {
	if p.Space == port.SpaceMemories {
		return port.Memories(org, integration, p.Name)
	}
	return port.Documents(org, p.Name)
}

// Namespace is the row of a partition, an end user's too.
type Namespace struct {
	Sparse   bool      `json:"sparse" doc:"whether it has a learned-sparse index"`
	Language string    `json:"language,omitempty" doc:"that keyword search takes its texts for; absent: each tells its own"`
	Embedder string    `json:"embedder,omitempty" doc:"embedding model that was chosen for it; absent: the server's default"`
	Models   *Models   `json:"models,omitempty" doc:"absent without vectors"`
	Created  time.Time `json:"created_at,omitzero"`
	Updated  time.Time `json:"updated_at,omitzero"`
}

// Models are those that made a partition's vectors, and its chunks.
type Models struct {
	EmbeddingModel  string `json:"embedding_model,omitempty"`
	EmbeddingDigest string `json:"embedding_digest,omitempty"`
	Dimensions      int    `json:"dimensions,omitempty"`
	SparseModel     string `json:"sparse_model,omitempty"`
	SparseDigest    string `json:"sparse_digest,omitempty"`
	Chunker         string `json:"chunker,omitempty"`
}

// NoVectors is the digest of the embedding model of what was imported without
// vectors, until they are made: no model has it, so nothing is searched.
const NoVectors = "none"

// Row is the row to create.
func (n Namespace) Row(name string) port.PartitionRow {
	out := port.PartitionRow{Name: name, Sparse: n.Sparse, Language: port.SaidLanguage(n.Language), Embedder: n.Embedder,
		CreatedAt: n.Created, UpdatedAt: n.Updated}
	if n.Models == nil {
		out.EmbeddingModel, out.EmbeddingDigest = "no model", NoVectors
		return out
	}
	out.EmbeddingModel, out.EmbeddingDigest, out.Dimensions = n.Models.EmbeddingModel, n.Models.EmbeddingDigest,
		n.Models.Dimensions
	out.SparseModel, out.SparseDigest, out.Chunker = n.Models.SparseModel, n.Models.SparseDigest, n.Models.Chunker
	return out
}

// Document carries chunks and vectors in the packed forms that SQL stores keep.
type Document struct {
	ID           string          `json:"id"`
	Text         string          `json:"text"`
	Metadata     json.RawMessage `json:"metadata,omitempty" schema:"Metadata"`
	TextHash     Digest          `json:"text_sha256" doc:"SHA-256 of the text, in hexadecimal"`
	MetadataHash Digest          `json:"metadata_sha256" doc:"SHA-256 of the metadata in their compact form with sorted keys, empty for none; in hexadecimal"`
	Layout       []byte          `json:"chunks,omitempty" doc:"places of the chunks in the text, packed"`
	Dense        []byte          `json:"dense,omitempty" doc:"vectors of the chunks, packed half floats"`
	Sparse       []byte          `json:"sparse,omitempty" doc:"learned-sparse vectors of the chunks, packed"`
	SourceID     string          `json:"source_id,omitempty"`
	Origin       port.Origin     `json:"origin"`
	Created      time.Time       `json:"created_at,omitzero"`
	Updated      time.Time       `json:"updated_at,omitzero"`
	Container    string          `json:"container,omitempty"`
	ContentKey   Digest          `json:"content_key,omitzero"`
	Source       string          `json:"source,omitempty"`
	ExternalID   string          `json:"external_id,omitempty"`
}

func newDocument(h *port.DocumentHead, v port.Vectors, vectors bool) (Document, error) {
	d := Document{ID: h.ID, Text: h.Text, Metadata: h.Metadata, TextHash: h.TextHash, MetadataHash: h.MetadataHash,
		SourceID: h.SourceID, Origin: h.Origin, Created: h.CreatedAt, Updated: h.UpdatedAt,
		Container: h.Container, ContentKey: h.ContentKey, Source: h.Source, ExternalID: h.ExternalID}
	if !vectors {
		return d, nil
	}
	var err error
	if d.Layout, err = packing.EncodeLayout(h.Chunks); err == nil {
		if d.Dense, err = packing.EncodeDense(v.Dense, len(h.Chunks)); err == nil {
			d.Sparse, err = packing.EncodeSparse(v.Sparse, len(h.Chunks))
		}
	}
	if err != nil {
		return d, fmt.Errorf("document %s: %w", h.ID, err)
	}
	return d, nil
}

// Write is what stores the document, and when it was updated.
func (d *Document) Write() (w port.DocumentWrite, updated time.Time, err error) {
	w.Document = port.Document{ID: d.ID, Text: d.Text, Metadata: d.Metadata, TextHash: d.TextHash, MetadataHash: d.MetadataHash,
		SourceID: d.SourceID, Origin: d.Origin, CreatedAt: d.Created,
		Container: d.Container, ContentKey: d.ContentKey, Source: d.Source, ExternalID: d.ExternalID}
	if len(d.Layout) > 0 {
		if w.Document.Chunks, err = packing.DecodeLayout(d.Layout); err != nil {
			return w, d.Updated, err
		}
	}
	if w.Vectors.Dense, err = packing.DecodeDense(d.Dense); err == nil {
		w.Vectors.Sparse, err = packing.DecodeSparse(d.Sparse)
	}
	return w, d.Updated, err
}

// Link is a context link of a memory.
type Link struct {
	ID      string `json:"id"`
	Context string `json:"context"`
	Own     []byte `json:"own"` // packed vector
}

// Record is the state of a source-owned memory; its receipts follow.
type Record struct {
	Source       string            `json:"source"`
	ExternalID   string            `json:"external_id"`
	Version      int64             `json:"version"`
	Status       port.RecordStatus `json:"status"`
	Occurred     time.Time         `json:"occurred_at,omitzero"`
	Updated      time.Time         `json:"updated_at,omitzero"`
	DocumentID   string            `json:"document_id"`
	ContentHash  string            `json:"content_hash,omitempty"`
	MetadataHash Digest            `json:"metadata_sha256"`
}

func newRecord(r port.Record) Record {
	return Record{r.Source, r.ExternalID, r.Version, r.Status, r.OccurredAt, r.UpdatedAt, r.DocumentID, r.ContentHash,
		r.MetadataHash}
}

// Row is what is stored.
func (r Record) Row() port.Record {
	return port.Record{Source: r.Source, ExternalID: r.ExternalID, Version: r.Version, Status: r.Status, OccurredAt: r.Occurred,
		UpdatedAt: r.Updated, DocumentID: r.DocumentID, ContentHash: r.ContentHash, MetadataHash: r.MetadataHash}
}

// Receipt is of the record before it.
type Receipt struct {
	Version     int64     `json:"version"`
	Operation   string    `json:"operation"`
	RequestHash string    `json:"request_hash"`
	Outcome     string    `json:"outcome"`
	Occurred    time.Time `json:"occurred_at,omitzero"`
	Applied     time.Time `json:"applied_at,omitzero"`
	DocumentID  string    `json:"document_id"`
	ContentHash string    `json:"content_hash,omitempty"`
}

// Replay is a stored answer to a call with an idempotency key.
type Replay struct {
	Key         string          `json:"key"`
	RequestHash Digest          `json:"request_sha256"`
	Answer      json.RawMessage `json:"answer"`
	Created     time.Time       `json:"created_at,omitzero"`
}

// End closes a partition.
type End struct {
	Seq    uint64    `json:"seq" doc:"change number of the snapshot"`
	Seen   time.Time `json:"last_seen_at,omitzero" doc:"of an end user; a search moves it, so it is no part of the hash"`
	Counts Counts    `json:"counts"`
	Hash   Digest    `json:"hash" doc:"SHA-256 over the hashes of the lines before, from the namespace line on; in hexadecimal. The same data has the same hash on every server"`
}

// Secret is one that servers over one store share.
type Secret struct {
	Name  string `json:"name"`
	Value []byte `json:"value"`
}

// Trailer is the last line of a whole data set.
type Trailer struct {
	Counts Counts `json:"counts"`
	Lines  int64  `json:"lines" doc:"before this one"`
}

// Failure is why an export ended before its trailer. It is the last line.
type Failure struct {
	Code    string `json:"code" doc:"as in answers with an error"`
	Message string `json:"message"`
}

// Digest is SHA-256, written in hexadecimal.
type Digest [32]byte

// MarshalText implements encoding.TextMarshaler.
func (d Digest) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(d[:])), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Digest) UnmarshalText(b []byte) error {
	if len(b) != 64 {
		return errors.New("a hash is 64 hexadecimal digits")
	}
	_, err := hex.Decode(d[:], b)
	return err
}

// Memories reports whether it is an end user's.
func (p Partition) Memories() bool { return p.Space == port.SpaceMemories }

// valid checks an opening line; org is the organization that came last.
func (p Partition) valid(org ident.Org) error {
	switch {
	case p.Organization == "" || p.Organization != org:
		return fmt.Errorf("it is of organization %s, after that of %s", p.Organization, org)
	case p.Name == "" || p.Space != port.SpaceDocuments && p.Space != port.SpaceMemories || p.Memories() != (p.Integration != ""):
		return errors.New("it names no partition")
	}
	return nil
}

// WellFormed decodes a line of a partition as an import does. of is the partition's row,
// which its first line sets.
func WellFormed(l *Line, of *Namespace) error {
	switch l.Kind {
	case KindNamespace:
		*of = Namespace{}
		return l.Decode(of)
	case KindDocument:
		var d Document
		if err := l.Decode(&d); err != nil {
			return err
		}
		if sha256.Sum256([]byte(d.Text)) != d.TextHash {
			return fmt.Errorf("the text of document %s does not have its hash", d.ID)
		}
		w, _, err := d.Write()
		if err == nil {
			err = CheckVectors(&w, *of)
		}
		bare := len(w.Document.Chunks) > 0 && w.Vectors.Dense.Data == nil
		if err == nil && bare && of.Models != nil && of.Models.Dimensions > 0 {
			err = errors.New("its chunks have no vectors")
		}
		if err != nil {
			return fmt.Errorf("document %s: %w", d.ID, err)
		}
		return nil
	case KindLink:
		var k Link
		if err := l.Decode(&k); err != nil {
			return err
		}
		own, err := packing.DecodeDense(k.Own)
		if err == nil {
			err = checkDense(own, 1, *of)
		}
		if err != nil {
			return fmt.Errorf("link of %s: %w", k.ID, err)
		}
		return nil
	case KindRecord:
		return l.Decode(&Record{})
	case KindReceipt:
		return l.Decode(&Receipt{})
	case KindReplay:
		return l.Decode(&Replay{})
	}
	return nil
}

// CheckVectors checks that the chunks of a document lie in its text, and that what it has
// of vectors is one of each for each chunk.
func CheckVectors(w *port.DocumentWrite, of Namespace) error {
	text, rows := w.Document.Text, len(w.Document.Chunks)
	for i, c := range w.Document.Chunks {
		if c.End > len(text) || !boundary(text, c.Start) || !boundary(text, c.End) || !utf8.ValidString(c.Context) {
			return fmt.Errorf("chunk %d does not lie in its text", i)
		}
	}
	if dense := w.Vectors.Dense; dense.Data != nil {
		if err := checkDense(dense, rows, of); err != nil {
			return err
		}
	}
	if sparse := w.Vectors.Sparse; sparse.Rows != nil && len(sparse.Rows) != rows+1 {
		return fmt.Errorf("%d sparse vectors of %d chunks", len(sparse.Rows)-1, rows)
	}
	return nil
}

func checkDense(v port.Dense, rows int, of Namespace) error {
	if of.Models == nil || v.Dim != of.Models.Dimensions || len(v.Data) != rows*v.Dim {
		return fmt.Errorf("%d values of %d dimensions are no vectors of %d chunks", len(v.Data), v.Dim, rows)
	}
	for _, x := range v.Data {
		if x != x || math.Abs(float64(x)) > 1.01 { // of unit length, so no component is longer
			return errors.New("a vector is not of unit length")
		}
	}
	return nil
}

// boundary reports whether a character begins at an offset, or the text ends.
func boundary(text string, at int) bool {
	return at == len(text) || at < len(text) && utf8.RuneStart(text[at])
}
