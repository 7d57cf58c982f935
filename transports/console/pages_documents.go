package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/namespace"
)

// documentsModel shows a namespace with a page of its documents.
type documentsModel struct {
	Namespace namespace.Namespace
	Documents []document.Head
	Prefix    string
	Order     string
	Next      string
	First     bool
	CanWrite  bool
	Wrong     string // why it was not deleted
	Typed     string // what was typed in place of its name
}

func (v *visit) documents() (view, error) { return v.showDocuments("", "") }

func (v *visit) showDocuments(wrong, typed string) (view, error) {
	n, q := v.r.PathValue("n"), v.r.URL.Query()
	m := documentsModel{Prefix: q.Get("prefix"), Order: q.Get("order"), First: q.Get("cursor") == "",
		CanWrite: !v.caller.ReadOnly, Wrong: wrong, Typed: typed}
	var err error
	at := map[string]string{"namespace": n}
	if m.Namespace, err = do[namespace.Namespace](v, call{op: "namespaces.get", path: at}); err != nil {
		return view{}, err
	}
	list, err := do[document.Page](v, call{op: "documents.list", path: at, query: asked(q, "prefix", "order", "cursor")})
	if err != nil {
		return view{}, err
	}
	m.Documents = list.Documents
	if list.NextCursor != nil {
		m.Next = *list.NextCursor
	}
	out := view{title: n, template: "documents", section: "namespaces", model: m, trail: v.wayTo()}
	if wrong != "" {
		out.status = http.StatusUnprocessableEntity
	}
	return out, nil
}

// wayTo is the way to a namespace, or further to what lies in it.
func (v *visit) wayTo(names ...string) []crumb {
	out := []crumb{{"Namespaces", pathOf("o", v.org, "n")}}
	for _, n := range names {
		out = append(out, crumb{n, pathOf("o", v.org, "n", n)})
	}
	return out
}

// documentModel shows one document.
type documentModel struct {
	document.Document
	Namespace string
	Fields    []field
	Pieces    []document.Chunk
	CanWrite  bool
	Wrong     string
}

// field is a key of metadata with its value as text.
type field struct{ Name, Value string }

func (v *visit) document() (view, error) { return v.showDocument("") }

func (v *visit) showDocument(wrong string) (view, error) {
	n, id := v.r.PathValue("n"), v.r.PathValue("id")
	d, err := do[document.Document](v, call{op: "documents.get", path: map[string]string{"namespace": n, "id": id},
		query: url.Values{"include": {"chunks"}}})
	if err != nil {
		return view{}, err
	}
	m := documentModel{Document: d, Namespace: n, Fields: fieldsOf(d.Metadata), CanWrite: !v.caller.ReadOnly, Wrong: wrong}
	if d.ChunkList != nil {
		m.Pieces = *d.ChunkList
	}
	out := view{title: id, template: "document", section: "namespaces", model: m, trail: v.wayTo(n)}
	if wrong != "" {
		out.status = http.StatusUnprocessableEntity
	}
	return out, nil
}

// fieldsOf are the fields of metadata, by name. A text is shown as it is, anything else as JSON.
func fieldsOf(metadata json.RawMessage) []field {
	var values map[string]json.RawMessage
	if json.Unmarshal(metadata, &values) != nil {
		return nil
	}
	out := make([]field, 0, len(values))
	for name, raw := range values {
		text := string(raw)
		var s string
		if json.Unmarshal(raw, &s) == nil {
			text = s
		}
		out = append(out, field{name, text})
	}
	slices.SortFunc(out, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// deleteNamespace removes a namespace whose name was typed. One that is gone already is no
// failure, so that the form may be sent twice.
func (v *visit) deleteNamespace() (view, error) {
	n, typed := v.r.PathValue("n"), strings.TrimSpace(v.r.PostForm.Get("name"))
	if typed != n {
		return v.showDocuments("Type the name of the namespace, "+n+", to delete it with its documents.", typed)
	}
	_, err := do[namespace.Deleted](v, call{op: "namespaces.delete", path: map[string]string{"namespace": n}})
	return view{goTo: pathOf("o", v.org, "n")}, err
}

// deleteDocument removes a document whose id was typed.
func (v *visit) deleteDocument() (view, error) {
	n, id := v.r.PathValue("n"), v.r.PathValue("id")
	if strings.TrimSpace(v.r.PostForm.Get("id")) != id {
		return v.showDocument("Type the id of the document, " + id + ", to delete it.")
	}
	_, err := do[document.DeletedSome](v, call{op: "documents.delete", path: map[string]string{"namespace": n},
		body: map[string]any{"ids": []string{id}}})
	if fault.CodeOf(err) == fault.NamespaceNotFound { // it was the last one, and the form was sent twice
		err = nil
	}
	return view{goTo: pathOf("o", v.org, "n")}, err
}

// writeModel is the form that writes a document.
type writeModel struct{ Namespace, ID, Text, Wrong string }

func (v *visit) newDocument() (view, error) {
	return view{title: "New document", template: "write", section: "namespaces", trail: v.wayTo(),
		model: writeModel{Namespace: v.r.URL.Query().Get("namespace")}}, nil
}

// writeDocument writes what was typed, and shows it.
func (v *visit) writeDocument() (view, error) {
	f := v.r.PostForm
	m := writeModel{Namespace: strings.TrimSpace(f.Get("namespace")), ID: strings.TrimSpace(f.Get("id")),
		Text: strings.ReplaceAll(f.Get("text"), "\r\n", "\n")}
	_, err := do[document.WriteResult](v, call{op: "documents.write", path: map[string]string{"namespace": m.Namespace},
		body: map[string]any{"documents": []map[string]any{{"id": m.ID, "text": m.Text}}}})
	if x := fault.From(err); err != nil && fault.Status(x.Code) < http.StatusInternalServerError && x.Code != fault.Unauthorized {
		m.Wrong = x.Message
		return view{title: "New document", template: "write", section: "namespaces", trail: v.wayTo(), model: m,
			status: fault.Status(x.Code)}, nil
	}
	return view{goTo: pathOf("o", v.org, "n", m.Namespace, "documents", m.ID)}, err
}
