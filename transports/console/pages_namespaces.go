package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/file"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/op"
)

// makeNamespace makes an empty namespace. It is listed once it holds a document.
func (v *visit) makeNamespace() (view, error) {
	f := v.r.PostForm
	name := strings.TrimSpace(f.Get("name"))
	body := map[string]any{"name": name, "sparse": f.Get("sparse") != ""}
	if l := f.Get("language"); l != "" {
		body["language"] = l
	}
	if m := f.Get("embedding_model"); m != "" {
		body["embedding_model"] = m
	}
	_, err := do[namespace.Created](v, call{op: "namespaces.create", body: body})
	if f := v.refused(err); f != nil {
		return v.showNamespaces(f)
	}
	if err != nil {
		return view{}, err
	}
	return view{goTo: pathOf("o", v.org, "n", name, "files"), said: "made"}, nil
}

// filesModel is the form that uploads files, and what became of those that were sent.
type filesModel struct {
	Namespace string
	Formats   []string
	Sent      *file.Uploaded
	Preview   bool
	Metadata  string
	Wrong     string
	CanWrite  bool
}

func (v *visit) files() (view, error) { return v.showFiles(filesModel{}) }

func (v *visit) showFiles(m filesModel) (view, error) {
	m.Namespace, m.CanWrite = v.r.PathValue("n"), !v.caller.ReadOnly
	v.example(call{op: "files.upload", path: map[string]string{"namespace": m.Namespace}, file: "guide.pdf"})
	out := view{title: "Upload to " + m.Namespace, template: "files", section: "namespaces", model: m,
		trail: v.wayTo(m.Namespace)}
	if m.Wrong != "" {
		out.status = http.StatusUnprocessableEntity
	}
	return out, nil
}

// sendFiles reads the files of the form and writes their text, or shows what would be written.
func (v *visit) sendFiles() (view, error) {
	u, err := v.readUpload(v.routes["files.upload"].Spec.MaxBody)
	if err != nil {
		return view{}, err
	}
	m := filesModel{Metadata: u.fields["metadata"], Preview: u.fields["preview"] != ""}
	if u.first == nil {
		m.Wrong = "Choose at least one file."
		return v.showFiles(m)
	}
	c := call{op: "files.upload", path: map[string]string{"namespace": v.r.PathValue("n")}, file: u.first.FileName(),
		fill: func(dst any) { dst.(op.Parted).TakeParts(u) }}
	if m.Preview {
		c.query = url.Values{"dry_run": {"true"}}
	}
	r, err := do[file.Result](v, c)
	if x := fault.From(err); err != nil {
		if s := fault.Status(x.Code); s != http.StatusBadRequest && s != http.StatusRequestEntityTooLarge {
			return view{}, err
		}
		m.Wrong = sentence(x.Message)
		return v.showFiles(m)
	}
	m.Sent = r.Uploaded
	return v.showFiles(m)
}

// moveModel takes a namespace out and in, and recomputes its vectors.
type moveModel struct {
	Namespace string
	Row       *admin.Namespace // nil: it holds nothing
	Embedders []choice         // that it may have; nil: there is no choice
	Progress  *admin.Reindexing
	Imported  *admin.ImportedNamespace
	Form      *form
	Wrong     string
	CanWrite  bool
}

func (v *visit) namespaceAt() map[string]string {
	return map[string]string{"org": v.org, "namespace": v.r.PathValue("n")}
}

func (v *visit) upkeep() (view, error) { return v.showUpkeep(moveModel{}) }

func (v *visit) showUpkeep(m moveModel) (view, error) {
	m.Namespace, m.CanWrite = v.r.PathValue("n"), !v.caller.ReadOnly
	// Asked before the namespace: a page whose reindexing has ended is asked for no more, and shows what it made.
	r, err := do[admin.Reindexing](v, call{op: "admin.namespaces.reindexing", path: v.namespaceAt()})
	switch {
	case err == nil:
		m.Progress = &r
	case !tooFar(err):
		return view{}, err
	}
	// Of the names that begin with this one it is the first.
	list, err := do[admin.Namespaces](v, call{op: "admin.namespaces.list", path: map[string]string{"org": v.org},
		query: url.Values{"prefix": {m.Namespace}, "limit": {"1"}}})
	if err != nil {
		return view{}, err
	}
	if len(list.Namespaces) > 0 && list.Namespaces[0].Name == m.Namespace {
		m.Row = &list.Namespaces[0]
	}
	if m.Embedders, err = v.embedders(chosenModel, choice{Text: "of the model as it is"},
		choice{Value: chosenModel, Text: "of the server's default"}); err != nil {
		return view{}, err
	}
	out := view{title: "Move and reindex " + m.Namespace, template: "upkeep", section: "namespaces", model: m,
		trail: v.wayTo(m.Namespace)}
	if m.Wrong != "" {
		out.status = http.StatusUnprocessableEntity
	}
	return showForm(m.Form, out, nil)
}

// exportNamespace sends a namespace as a data set.
func (v *visit) exportNamespace() (view, error) {
	q := url.Values{}
	if v.r.URL.Query().Get("vectors") == "" {
		q.Set("vectors", "false")
	}
	x, err := do[op.Streamer](v, call{op: "admin.namespaces.export", path: v.namespaceAt(), query: q})
	return view{file: x, name: fileName(".ndjson", "mneme", v.org, v.r.PathValue("n"))}, err
}

// importNamespace takes a data set in.
func (v *visit) importNamespace() (view, error) {
	u, err := v.readUpload(v.routes["admin.namespaces.import"].Spec.MaxBody)
	if err != nil {
		return view{}, err
	}
	if u.first == nil {
		return v.showUpkeep(moveModel{Wrong: "Choose the file of a data set."})
	}
	c := call{op: "admin.namespaces.import", path: v.namespaceAt(), file: u.first.FileName(),
		fill: func(dst any) { dst.(op.Streamed).TakeBody(u.file()) }}
	if p := u.fields["on_conflict"]; p != "" {
		c.query = url.Values{"on_conflict": {p}}
	}
	n, err := do[admin.ImportedNamespace](v, c)
	if x := fault.From(err); err != nil {
		if fault.Status(x.Code) >= http.StatusInternalServerError || x.Code == fault.Unauthorized || x.Code == fault.Forbidden {
			return view{}, err
		}
		return v.showUpkeep(moveModel{Wrong: sentence(x.Message)})
	}
	return v.showUpkeep(moveModel{Imported: &n})
}

// chosenModel is before the name of a model in a form where no choice leaves it as it is.
const chosenModel = "="

// reindex recomputes the vectors of a namespace, or goes back to those before.
func (v *visit) reindex() (view, error) {
	body := map[string]any{}
	for _, name := range []string{"force", "hold", "back"} {
		if v.r.PostForm.Get(name) != "" {
			body[name] = true
		}
	}
	if m, chosen := strings.CutPrefix(v.r.PostForm.Get("embedding_model"), chosenModel); chosen {
		body["embedding_model"] = m // "": the server's default
	}
	_, err := do[admin.Reindexing](v, call{op: "admin.namespaces.reindex", path: v.namespaceAt(), body: body})
	if f := v.refused(err); f != nil {
		return v.showUpkeep(moveModel{Form: f})
	}
	return view{goTo: pathOf("o", v.org, "n", v.r.PathValue("n"), "upkeep"), said: "started"}, err
}

// discard removes what is kept beside a namespace.
func (v *visit) discard() (view, error) {
	_, err := do[admin.Discarded](v, call{op: "admin.namespaces.discard", path: v.namespaceAt()})
	if f := v.refused(err); f != nil {
		return v.showUpkeep(moveModel{Form: f})
	}
	return view{goTo: pathOf("o", v.org, "n", v.r.PathValue("n"), "upkeep"), said: "discarded"}, err
}

// metadataOf reads the metadata that a form holds as JSON.
func metadataOf(text string) (json.RawMessage, bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return json.RawMessage("{}"), true
	}
	var object map[string]json.RawMessage
	return json.RawMessage(text), json.Unmarshal([]byte(text), &object) == nil
}
