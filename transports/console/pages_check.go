package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	saved "github.com/mnemehq/mneme/core/check"
	"github.com/mnemehq/mneme/core/fault"
)

// checkModel shows the saved queries of a namespace, what a run of them said, and the form that
// saves one.
type checkModel struct {
	Namespace string
	Queries   []saved.Saved
	Report    *saved.Report // nil: they were not run
	Form      form
	Name      string // of the query that the form changes; "": it makes one
	CanWrite  bool
}

// Outcome is what the run said of a query; nil: it was not run, or made since.
func (m checkModel) Outcome(name string) *saved.Outcome {
	if m.Report == nil {
		return nil
	}
	for i, o := range m.Report.Outcomes {
		if o.Name == name {
			return &m.Report.Outcomes[i]
		}
	}
	return nil
}

func (v *visit) checks() (view, error) { return v.showChecks(nil) }

func (v *visit) showChecks(f *form) (view, error) {
	q, n := v.r.URL.Query(), v.r.PathValue("n")
	m := checkModel{Namespace: n, CanWrite: !v.caller.ReadOnly, Form: form{values: settingsOfCheck(q)}}
	at := map[string]string{"namespace": n}
	list, err := do[saved.SavedList](v, call{op: "queries.list", path: at})
	if err != nil {
		return view{}, err
	}
	m.Queries = list.Queries
	for _, s := range m.Queries {
		if s.Name == q.Get("edit") {
			m.Name, m.Form = s.Name, filled("", typedOfQuestion(s))
		}
	}
	if f != nil {
		m.Form = *f
	}
	if f == nil && q.Get("run") != "" {
		report, err := do[saved.Report](v, call{op: "queries.run", path: at})
		if err != nil {
			return view{}, err
		}
		m.Report = &report
	}
	return showForm(f, view{title: "Check " + n, template: "check", section: "namespaces", model: m, trail: v.wayTo(n)}, nil)
}

// settingsOfCheck are the fields of a new query, from the address that the playground leads to.
func settingsOfCheck(q url.Values) url.Values {
	out := url.Values{"within": {"10"}}
	for _, name := range []string{"query", "expect", "within", "mode", "filter", "rerank", "min_score"} {
		if q.Has(name) {
			out.Set(name, q.Get(name))
		}
	}
	return out
}

// typedOfQuestion are the fields of a saved query.
func typedOfQuestion(s saved.Saved) url.Values {
	out := url.Values{"name": {s.Name}, "query": {s.Query}, "expect": {strings.Join(s.Expect, " ")}, "filter": {string(s.Filter)},
		"within": {"10"}}
	if s.Within != nil {
		out.Set("within", strconv.Itoa(*s.Within))
	}
	if s.Mode != nil {
		out.Set("mode", *s.Mode)
	}
	if s.Rerank {
		out.Set("rerank", "1")
	}
	if s.MinScore != nil {
		out.Set("min_score", strconv.FormatFloat(*s.MinScore, 'g', -1, 64))
	}
	return out
}

// formOfSaved is a saved query as the playground asks it.
func formOfSaved(s saved.Saved) queryForm {
	t := typedOfQuestion(s)
	return queryForm{Query: s.Query, Mode: t.Get("mode"), TopK: t.Get("within"), Filter: t.Get("filter"),
		MinScore:    t.Get("min_score"),
		PerDocument: "1", Rerank: s.Rerank}
}

// checkPage is the address of the saved queries.
func (v *visit) checkPage() string { return pathOf("o", v.org, "n", v.r.PathValue("n"), "check") }

// saveQuery saves a query under its name.
func (v *visit) saveQuery() (view, error) {
	f := v.r.PostForm
	name := strings.TrimSpace(f.Get("name"))
	if name == "" {
		return v.showChecks(v.wrong("name", "Give it a name."))
	}
	body, field, wrong := questionOf(f)
	if wrong != "" {
		return v.showChecks(v.wrong(field, wrong))
	}
	_, err := do[saved.Saved](v, call{op: "queries.save", path: map[string]string{"namespace": v.r.PathValue("n"), "query": name},
		body: body})
	if f := v.refused(err); f != nil {
		return v.showChecks(f)
	}
	return view{goTo: v.checkPage(), said: "kept"}, err
}

// questionOf is a query as the API takes it. What is typed wrong is said of its field; limits are
// the API's.
func questionOf(f url.Values) (body map[string]any, field, wrong string) {
	q := queryForm{Query: f.Get("query"), Mode: f.Get("mode"), Filter: f.Get("filter"), MinScore: f.Get("min_score"),
		Rerank: f.Get("rerank") != ""}
	if body, field, wrong = q.body(); wrong != "" {
		return nil, field, sentence(wrong)
	}
	delete(body, "explain")
	body["expect"] = append([]string{}, strings.FieldsFunc(f.Get("expect"), func(r rune) bool {
		return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t'
	})...)
	if within := strings.TrimSpace(f.Get("within")); within != "" {
		n, err := strconv.Atoi(within)
		if err != nil {
			return nil, "within", "How many must be a whole number."
		}
		body["within"] = n
	}
	return body, "", ""
}

// deleteQuery deletes a saved query. A form that is sent twice does no harm.
func (v *visit) deleteQuery() (view, error) {
	_, err := do[saved.Removed](v, call{op: "queries.delete", path: map[string]string{"namespace": v.r.PathValue("n"),
		"query": v.r.PostForm.Get("name")}})
	if fault.Status(fault.CodeOf(err)) == http.StatusBadRequest { // no query has such a name
		err = nil
	}
	return view{goTo: v.checkPage(), said: "deleted"}, err
}

// saveLink is the query of the address where what was asked can be saved, expected to find what
// stands first.
func saveLink(s side) string {
	q := url.Values{"query": {s.Form.Query}}
	for name, value := range map[string]string{"mode": s.Form.Mode, "filter": s.Form.Filter, "within": s.Form.TopK,
		"min_score": s.Form.MinScore} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if s.Form.Rerank {
		q.Set("rerank", "1")
	}
	if len(s.Hits) > 0 {
		q.Set("expect", s.Hits[0].DocumentID)
	}
	return "?" + q.Encode() + "#save"
}
