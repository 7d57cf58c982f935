package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

// Save are the arguments of save.
type Save struct {
	Connection
	Text      string          `json:"text" minLength:"1" doc:"at most 256 KB"`
	Namespace string          `json:"namespace,omitempty" fault:"invalid_namespace"`
	ID        string          `json:"id,omitempty" fault:"invalid_id"`
	Title     string          `json:"title,omitempty"`
	URL       string          `json:"url,omitempty" doc:"where the text comes from"`
	Metadata  json.RawMessage `json:"metadata,omitempty" fault:"invalid_metadata" schema:"Metadata" doc:"strings, numbers, booleans, arrays of strings"`
}

// Saved answers save.
type Saved struct {
	ID        string `json:"id"`
	Namespace string `json:"namespace"`
	Created   bool   `json:"created"`
	Unchanged bool   `json:"unchanged"`
	Chunks    int    `json:"chunks"`
}

// Save stores a document. Without an id it is named by its text, so that a repeat
// changes nothing.
func (s *Service) Save(ctx context.Context, in Save) (Saved, error) {
	if strings.TrimSpace(in.Text) == "" { // a model would believe that it can be found
		return Saved{}, fault.Field(fault.InvalidRequest, "text", "must hold a character that is not white space")
	}
	h, err := s.destination(ctx, in)
	if err != nil {
		return Saved{}, err
	}
	metadata, err := withTitleAndURL(in)
	if err != nil {
		return Saved{}, err
	}
	w := document.WriteDocuments{Namespace: h.namespace, Origin: "mcp",
		Documents: []document.Input{{ID: h.id, Text: &in.Text, Metadata: metadata}}}
	if err := op.Check(&w); err != nil {
		return Saved{}, withoutIndex(err)
	}
	out, err := s.Documents.Write(ctx, w)
	if err != nil {
		return Saved{}, err
	}
	d := out.Written.Documents[0]
	return Saved{ID: h.String(), Namespace: h.namespace, Created: d.Created, Unchanged: d.Unchanged, Chunks: d.Chunks}, nil
}

// destination is where a save goes. An id may be a handle; then the namespace, if
// given too, must be its own.
func (s *Service) destination(ctx context.Context, in Save) (handle, error) {
	h := handle{in.Namespace, generateID(in.Text)}
	if in.ID != "" {
		given, err := parseHandle("id", in.ID)
		if err != nil {
			return handle{}, err
		}
		if given.namespace != "" && in.Namespace != "" && given.namespace != in.Namespace {
			return handle{}, fault.Field(fault.InvalidRequest, "namespace", "is %q, but the id names namespace %q",
				in.Namespace, given.namespace)
		}
		h.id = given.id
		if given.namespace != "" {
			h.namespace = given.namespace
		}
	}
	name, err := s.writeTarget(ctx, in.Connection, h.namespace)
	return handle{name, h.id}, err
}

// generateID names a text by itself.
func generateID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "mcp:" + hex.EncodeToString(sum[:12])
}

// withTitleAndURL is the metadata with title and url, which stand beside it for models
// that fill in flat arguments better.
func withTitleAndURL(in Save) (json.RawMessage, error) {
	add := map[string]string{}
	if in.Title != "" {
		add["title"] = in.Title
	}
	if in.URL != "" {
		add["url"] = in.URL
	}
	if len(add) == 0 {
		return in.Metadata, nil
	}
	members := map[string]json.RawMessage{}
	if len(in.Metadata) > 0 {
		if err := json.Unmarshal(in.Metadata, &members); err != nil {
			return nil, fault.Field(fault.InvalidMetadata, "metadata", "must be an object")
		}
	}
	for name, value := range add {
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", name, err)
		}
		if was, ok := members[name]; ok {
			var text string
			if json.Unmarshal(was, &text) != nil || text != value {
				return nil, fault.Field(fault.InvalidMetadata, "metadata."+name,
					"differs from the argument %s; give one of them", name)
			}
		}
		if members == nil {
			members = map[string]json.RawMessage{}
		}
		members[name] = encoded
	}
	return json.Marshal(members)
}

// withoutIndex takes the place in a list out of a fault about the only document, which
// the caller gave as flat arguments.
func withoutIndex(err error) error {
	f := *fault.From(err)
	for _, place := range []string{"documents[0].", "documents[0] "} {
		if rest, ok := strings.CutPrefix(f.Message, place); ok {
			if _, field, ok := strings.Cut(rest, ")."); ok && strings.HasPrefix(rest, "(id ") {
				rest = field
			}
			f.Message = rest
		}
	}
	f.Details = nil
	return &f
}

// Delete are the arguments of delete.
type Delete struct {
	Connection
	IDs []string `json:"ids" maxDecoded:"100" minItems:"1" maxItems:"100" doc:"namespace/document_id each"`
}

// Deleted answers delete.
type Deleted struct {
	Deleted  int      `json:"deleted"`
	NotFound []string `json:"not_found"`
}

// Delete removes documents by exact handles. Those that are gone already are
// named and no error, so that the call is safe to repeat.
func (s *Service) Delete(ctx context.Context, in Delete) (Deleted, error) {
	handles := make([]handle, 0, len(in.IDs))
	seen := map[handle]bool{}
	for i, id := range in.IDs { // all are checked before anything is removed
		h, err := in.locate(ctx, fmt.Sprintf("ids[%d]", i), id)
		if err != nil {
			return Deleted{}, err
		}
		if !seen[h] {
			seen[h] = true
			handles = append(handles, h)
		}
	}
	out := Deleted{NotFound: []string{}}
	for _, h := range handles {
		// One by one, since only then the answer says which were there.
		d, err := s.Documents.Delete(ctx, document.DeleteDocuments{Namespace: h.namespace, IDs: &[]string{h.id}})
		if err != nil {
			return Deleted{}, err
		}
		if d.Deleted == 0 {
			out.NotFound = append(out.NotFound, h.String())
		}
		out.Deleted += d.Deleted
	}
	return out, nil
}
