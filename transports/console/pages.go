package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/status"
)

// pages lists every page and what its forms do.
func pages() []page {
	return []page{
		{"GET /console", func(v *visit) (view, error) { return view{goTo: pathOf("o", v.org)}, nil }},
		{"GET /console/o/{org}", (*visit).overview},
		{"GET /console/o/{org}/n", (*visit).namespaces},
		{"GET /console/o/{org}/new-document", (*visit).newDocument},
		{"POST /console/o/{org}/new-document", (*visit).writeDocument},
		{"GET /console/o/{org}/n/{n}", (*visit).documents},
		{"POST /console/o/{org}/n/{n}", (*visit).deleteNamespace},
		{"GET /console/o/{org}/n/{n}/query", (*visit).query},
		{"GET /console/o/{org}/n/{n}/documents/{id}", (*visit).document},
		{"POST /console/o/{org}/n/{n}/documents/{id}", (*visit).deleteDocument},
		{"GET /console/models", (*visit).models},
		{"GET /console/health", (*visit).health},
	}
}

// overviewModel shows an organization at a glance.
type overviewModel struct {
	Health     status.Deep
	Checks     []check
	Namespaces []namespace.Namespace
	More       bool // there are more namespaces than are counted
	Documents  int64
	Chunks     int64
	Bytes      int64
	Needs      []need
	Models     []model.Model
	Missing    []string // why a part of this page is not there
}

// check is the outcome for one part, with its name.
type check struct {
	Name string
	status.Check
}

// need is something that a person should look at.
type need struct{ Text, Link string }

func (v *visit) overview() (view, error) {
	var m overviewModel
	var err error
	if m.Health, err = v.deep(); err != nil {
		return view{}, err
	}
	m.Checks = checksOf(m.Health)
	for _, c := range m.Checks {
		if c.Status == "error" {
			m.Needs = append(m.Needs, need{c.Name + " fails: " + cmp.Or(c.Message, "no reason is known"), "health"})
		}
	}
	list, why, err := optional[namespace.Page](v, call{op: "namespaces.list", query: url.Values{"limit": {"1000"}}})
	if err != nil {
		return view{}, err
	}
	m.say(why)
	m.Namespaces, m.More = list.Namespaces, list.NextCursor != nil
	for _, n := range m.Namespaces {
		m.Documents, m.Chunks, m.Bytes = m.Documents+n.Documents, m.Chunks+n.Chunks, m.Bytes+n.Bytes
	}
	models, why, err := optional[model.List](v, call{op: "models.list"})
	if err != nil {
		return view{}, err
	}
	m.say(why)
	m.Models = models.Models
	for _, x := range m.Models {
		if x.Status == "error" {
			m.Needs = append(m.Needs, need{"The model " + x.ID + " failed when it was last called.", "models"})
		}
	}
	if err := v.failedJobs(&m); err != nil {
		return view{}, err
	}
	slices.SortStableFunc(m.Namespaces, func(a, b namespace.Namespace) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	if len(m.Namespaces) > 8 {
		m.Namespaces = m.Namespaces[:8]
	}
	return view{title: "Overview", template: "overview", section: "overview", model: m}, nil
}

func (m *overviewModel) say(why string) {
	if why != "" && !slices.Contains(m.Missing, why) {
		m.Missing = append(m.Missing, why)
	}
}

// failedJobs looks for work that ended badly, of which an administrator is told.
func (v *visit) failedJobs(m *overviewModel) error {
	jobs, why, err := optional[admin.Jobs](v, call{op: "admin.jobs.list",
		query: url.Values{"organization": {v.org}, "status": {"failed"}, "limit": {"10"}}})
	m.say(why)
	if n := len(jobs.Jobs); n > 0 {
		text := countOf(n, "job has failed", "jobs have failed") + ", the last one " + jobs.Jobs[0].Kind + "."
		m.Needs = append(m.Needs, need{text, ""})
	}
	return err
}

func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// deep checks the server's parts. That some fail is an answer, not a failure.
func (v *visit) deep() (status.Deep, error) {
	d, err := do[status.Deep](v, call{op: "health.deep"})
	return d, err
}

func checksOf(d status.Deep) []check {
	if d.Checks == nil {
		return nil
	}
	var out []check
	for name, c := range *d.Checks {
		out = append(out, check{name, c})
	}
	slices.SortFunc(out, func(a, b check) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// listModel shows the namespaces.
type listModel struct {
	Namespaces []namespace.Namespace
	Prefix     string
	Next       string // cursor
	First      bool
	CanWrite   bool
}

const rows = "50"

func (v *visit) namespaces() (view, error) {
	q := v.r.URL.Query()
	m := listModel{Prefix: q.Get("prefix"), First: q.Get("cursor") == "", CanWrite: !v.caller.ReadOnly}
	list, err := do[namespace.Page](v, call{op: "namespaces.list", query: asked(q, "prefix", "cursor")})
	if err != nil {
		return view{}, err
	}
	m.Namespaces = list.Namespaces
	if list.NextCursor != nil {
		m.Next = *list.NextCursor
	}
	return view{title: "Namespaces", template: "namespaces", section: "namespaces", model: m}, nil
}

// asked takes fields of a page's address over into a call, those that are set, with the length
// of a page.
func asked(q url.Values, names ...string) url.Values {
	out := url.Values{"limit": {rows}}
	for _, n := range names {
		if q.Get(n) != "" {
			out.Set(n, q.Get(n))
		}
	}
	return out
}

func (v *visit) models() (view, error) {
	list, err := do[model.List](v, call{op: "models.list"})
	return view{title: "Models", template: "models", section: "models", model: list.Models}, err
}

// healthModel shows the deep check.
type healthModel struct {
	status.Deep
	Parts []check
}

func (v *visit) health() (view, error) {
	d, err := v.deep()
	out := view{title: "Health", template: "health", section: "health", model: healthModel{d, checksOf(d)}}
	if d.Status == "error" {
		out.status = http.StatusServiceUnavailable
	}
	return out, err
}
