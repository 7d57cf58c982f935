package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	saved "github.com/mnemehq/mneme/core/check"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/query"
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
	for _, name := range []string{"query", "expect", "within", "mode", "filter", "rerank", "min_score", "depth", "reranker",
		"language", "weight_vector", "weight_keyword", "weight_sparse"} {
		if q.Has(name) {
			out.Set(name, q.Get(name))
		}
	}
	return out
}

// typedOfQuestion are the fields of a saved query.
func typedOfQuestion(s saved.Saved) url.Values {
	out := fieldsOfCheck(formOfSaved(s))
	out.Set("name", s.Name)
	out.Set("expect", strings.Join(s.Expect, " "))
	return out
}

// fieldsOfCheck are the fields of what was asked in the playground, by their names in the form of a saved query.
func fieldsOfCheck(f queryForm) url.Values {
	out := f.settings()
	for _, name := range []string{"top_k", "per_document", "neighbors", "strict"} {
		out.Del(name)
	}
	out.Set("query", f.Query)
	if f.TopK != "" {
		out.Set("within", f.TopK)
	}
	return out
}

// formOfSaved is a saved query as the playground asks it.
func formOfSaved(s saved.Saved) queryForm {
	f := queryForm{Query: s.Query, Mode: value(s.Mode), Language: value(s.Language), TopK: "10",
		Filter: string(s.Filter), PerDocument: "1"}
	if s.Within != nil {
		f.TopK = strconv.Itoa(*s.Within)
	}
	if s.Retrievers != nil {
		f.Mode = chosen(*s.Retrievers)
	}
	if s.Weights != nil {
		for list, field := range map[string]*string{"vector": &f.WeightVector, "keyword": &f.WeightKeyword,
			"sparse": &f.WeightSparse} {
			if w, named := (*s.Weights)[list]; named {
				*field = typedNumber(w)
			}
		}
	}
	if s.MinScore != nil {
		f.MinScore = typedNumber(*s.MinScore)
	}
	switch raw := string(s.Rerank); raw {
	case "", "false", "null":
	default: // true, or an object
		var how query.Rerank
		if json.Unmarshal(s.Rerank, &how) == nil && how.Depth != nil {
			f.Depth = strconv.Itoa(*how.Depth)
		}
		f.Rerank, f.Reranker = true, how.Model
	}
	return f
}

// chosen are retrievers as the form offers them: all, some in its order, or one.
func chosen(retrievers []string) string {
	var some []string
	for _, r := range []string{"vector", "keyword", "sparse"} {
		if slices.Contains(retrievers, r) {
			some = append(some, r)
		}
	}
	if len(some) == 3 {
		return ""
	}
	return strings.Join(some, ",")
}

func typedNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

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
		f.Field = fieldsOfQuery.Replace(f.Field)
		return v.showChecks(f)
	}
	return view{goTo: v.checkPage(), said: "kept"}, err
}

// questionOf is a query as the API takes it. What is typed wrong is said of its field; limits are
// the API's.
func questionOf(f url.Values) (body map[string]any, field, wrong string) {
	q := formOfQuery(f, "")
	q.Query, q.TopK, q.PerDocument, q.Neighbors, q.Strict = f.Get("query"), "", "", "", false
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
	q := fieldsOfCheck(s.Form)
	if len(s.Hits) > 0 {
		q.Set("expect", s.Hits[0].DocumentID)
	}
	return "?" + q.Encode() + "#save"
}
