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
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/source"
)

// documentsModel shows a namespace with a page of its documents.
type documentsModel struct {
	Namespace namespace.Namespace
	Documents []document.Head
	Sources   []source.Source
	all       bool // of the namespace, not the first of them
	Prefix    string
	Order     string
	Next      string
	First     bool
	CanWrite  bool
	Filter    form
	Form      *form
}

// Keeps reports whether a source may be there, as far as is known: of one that is disconnected documents may
// be left.
func (m documentsModel) Keeps(id string) bool {
	return !m.all || slices.ContainsFunc(m.Sources, func(s source.Source) bool { return s.ID == id })
}

func (v *visit) documents() (view, error) { return v.showDocuments(nil) }

func (v *visit) showDocuments(f *form) (view, error) {
	n, q := v.r.PathValue("n"), v.r.URL.Query()
	m := documentsModel{Prefix: q.Get("prefix"), Order: q.Get("order"), First: q.Get("cursor") == "",
		CanWrite: !v.caller.ReadOnly, Filter: filled("", q), Form: f}
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
	sources, unknown, err := optional[source.Sources](v, call{op: "sources.list",
		query: url.Values{"namespace": {n}, "limit": {"20"}}})
	if err != nil {
		return view{}, err
	}
	m.Sources, m.all = sources.Sources, unknown == "" && sources.NextCursor == nil
	return showForm(f, view{title: n, template: "documents", section: "namespaces", model: m, trail: v.wayTo()}, nil)
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
	Name      string // its title; without one its id
	Fields    []fact
	Pieces    []document.Chunk
	Source    *source.Source // that keeps it, with its last run
	Runs      []source.Run   // its last ones, newest first
	Left      bool           // by a source that is gone, so that nothing keeps it
	Edit      form           // of its metadata
	Similar   []hit
	Compared  bool   // similar documents were looked for
	Without   string // why there are none
	Form      *form
	CanWrite  bool
}

func (v *visit) document() (view, error) { return v.showDocument(nil) }

func (v *visit) showDocument(f *form) (view, error) {
	n, id := v.r.PathValue("n"), v.r.PathValue("id")
	d, err := do[document.Document](v, call{op: "documents.get", path: map[string]string{"namespace": n, "id": id},
		query: url.Values{"include": {"chunks"}}})
	if err != nil {
		return view{}, err
	}
	m := documentModel{Document: d, Namespace: n, Name: id, Fields: factsOf(d.Metadata), CanWrite: !v.caller.ReadOnly, Form: f,
		Edit: f.Over(filled("metadata", valuesOfMetadata(d)))}
	for _, x := range m.Fields {
		if title := strings.TrimSpace(x.Value); x.Name == "title" && title != "" {
			m.Name = short(title, 200)
		}
	}
	if d.ChunkList != nil {
		m.Pieces = *d.ChunkList
	}
	if d.SourceID != nil {
		if err := v.origin(&m, *d.SourceID); err != nil {
			return view{}, err
		}
	}
	if v.r.URL.Query().Get("similar") != "" {
		if err := v.similar(&m); err != nil {
			return view{}, err
		}
	}
	return showForm(f, view{title: m.Name, template: "document", section: "namespaces", model: m, trail: v.wayTo(n)}, nil)
}

// origin reads the source that keeps a document, with what its last runs did. Where sources are off, or out of the
// visitor's reach, the document is shown all the same.
func (v *visit) origin(m *documentModel, id string) error {
	at := map[string]string{"id": id}
	s, err := do[source.Source](v, call{op: "sources.get", path: at})
	switch code := fault.CodeOf(err); {
	case code == fault.Unauthorized:
		return err
	case code == fault.SourceNotFound:
		m.Left = true
		return nil
	case err != nil:
		return nil
	}
	m.Source = &s
	runs, _, err := optional[source.Runs](v, call{op: "sources.runs.list", path: at, query: url.Values{"limit": {"10"}}})
	m.Runs = runs.Runs
	return err
}

// longestQuery is how many characters a query may have.
const longestQuery = 8192

// similar looks for documents whose text is about the same, by vector: the beginning of this one
// is the query.
func (v *visit) similar(m *documentModel) error {
	text := strings.TrimSpace(m.Text)
	if r := []rune(text); len(r) > longestQuery {
		text = string(r[:longestQuery])
	}
	m.Compared = true
	if text == "" {
		return nil
	}
	found, why, err := optional[query.Result](v, call{op: "namespaces.query", path: map[string]string{"namespace": m.Namespace},
		body: map[string]any{"query": text, "mode": "vector", "top_k": 7, "max_chunks_per_document": 1}})
	m.Without = why
	for _, h := range hitsOf(found) {
		if h.DocumentID != m.ID && len(m.Similar) < 6 {
			m.Similar = append(m.Similar, h)
		}
	}
	return err
}

// valuesOfMetadata are what the form that changes metadata is shown with.
func valuesOfMetadata(d document.Document) url.Values {
	return url.Values{"metadata": {indentPlain(d.Metadata)}}
}

// changeMetadata replaces the metadata of a document.
func (v *visit) changeMetadata() (view, error) {
	n, id, f := v.r.PathValue("n"), v.r.PathValue("id"), v.r.PostForm
	d, err := do[document.Document](v, call{op: "documents.get", path: map[string]string{"namespace": n, "id": id}})
	if err != nil {
		return view{}, err
	}
	raw, ok := metadataOf(f.Get("metadata"))
	if !ok {
		return v.showDocument(v.wrong("metadata", `Metadata is a JSON object, such as {"lang": "en"}.`))
	}
	if f := v.overtaken(valuesOfMetadata(d), edited{name: "metadata", label: "The metadata"}); f != nil {
		return v.showDocument(f)
	}
	_, err = do[document.WriteResult](v, call{op: "documents.write", path: map[string]string{"namespace": n},
		body: map[string]any{"documents": []map[string]any{{"id": id, "text": d.Text, "metadata": raw}}}})
	if f := v.refused(err); f != nil {
		return v.showDocument(f)
	}
	return view{goTo: pathOf("o", v.org, "n", n, "documents", id), said: "saved"}, err
}

// fact is a key of metadata with its value as text.
type fact struct{ Name, Value string }

// factsOf are the fields of metadata, by name. A text is shown as it is, anything else as JSON.
func factsOf(metadata json.RawMessage) []fact {
	var values map[string]json.RawMessage
	if json.Unmarshal(metadata, &values) != nil {
		return nil
	}
	out := make([]fact, 0, len(values))
	for name, raw := range values {
		text := string(raw)
		var s string
		if json.Unmarshal(raw, &s) == nil {
			text = s
		}
		out = append(out, fact{name, text})
	}
	slices.SortFunc(out, func(a, b fact) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// deleteNamespace removes a namespace whose name was typed. One that is gone already is no
// failure, so that the form may be sent twice.
func (v *visit) deleteNamespace() (view, error) {
	n := v.r.PathValue("n")
	if strings.TrimSpace(v.r.PostForm.Get("typed")) != n {
		return v.showDocuments(v.wrong("typed", "Type the name of the namespace, "+n+", to delete it with its documents."))
	}
	_, err := do[namespace.Deleted](v, call{op: "namespaces.delete", path: map[string]string{"namespace": n}})
	return view{goTo: pathOf("o", v.org, "n")}, err
}

// deleteDocument removes a document whose id was typed.
func (v *visit) deleteDocument() (view, error) {
	n, id := v.r.PathValue("n"), v.r.PathValue("id")
	if strings.TrimSpace(v.r.PostForm.Get("typed")) != id {
		return v.showDocument(v.wrong("typed", "Type the id of the document, "+id+", to delete it."))
	}
	_, err := do[document.DeletedSome](v, call{op: "documents.delete", path: map[string]string{"namespace": n},
		body: map[string]any{"ids": []string{id}}})
	if fault.CodeOf(err) == fault.NamespaceNotFound { // it was the last one, and the form was sent twice
		err = nil
	}
	return view{goTo: pathOf("o", v.org, "n")}, err
}

func (v *visit) newDocument() (view, error) { return v.showNewDocument(filled("", v.r.URL.Query()), 0) }

func (v *visit) showNewDocument(f form, status int) (view, error) {
	v.example(call{op: "documents.write", path: map[string]string{"namespace": "notes"},
		body: map[string]any{"documents": []map[string]any{{"id": "lease", "text": "The lease runs until May."}}}})
	return view{title: "New document", template: "write", section: "namespaces", trail: v.wayTo(), model: f, status: status}, nil
}

// writeDocument writes what was typed, and shows it.
func (v *visit) writeDocument() (view, error) {
	f := v.r.PostForm
	ns, id := strings.TrimSpace(f.Get("namespace")), strings.TrimSpace(f.Get("id"))
	_, err := do[document.WriteResult](v, call{op: "documents.write", path: map[string]string{"namespace": ns},
		body: map[string]any{"documents": []map[string]any{{"id": id, "text": strings.ReplaceAll(f.Get("text"), "\r\n", "\n")}}}})
	if x := fault.From(err); err != nil && fault.Status(x.Code) < http.StatusInternalServerError && x.Code != fault.Unauthorized {
		field, _ := x.Details["field"].(string)
		return v.showNewDocument(*v.wrong(strings.TrimPrefix(field, "documents[0]."), sentence(x.Message)), fault.Status(x.Code))
	}
	return view{goTo: pathOf("o", v.org, "n", ns, "documents", id)}, err
}
