package console

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/audit"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/op"
)

// eventsModel is the feed of what has happened.
type eventsModel struct {
	Events []shownEvent
	Kinds  []choice
	Form   form
	Next   string // cursor
	First  bool
	Oldest bool // from the oldest on
	Missed bool
	Off    string
}

// shownEvent is an event with what it tells of as facts.
type shownEvent struct {
	event.Event
	Facts []fact
}

// Family is the first word of its kind, for its colour.
func (e shownEvent) Family() string {
	family, _, _ := strings.Cut(e.Type, ".")
	return family
}

func (v *visit) events() (view, error) {
	q := v.r.URL.Query()
	m := eventsModel{First: q.Get("cursor") == "", Form: filled("", q), Oldest: q.Get("from") == "oldest"}
	kinds, why, err := optional[event.KindList](v, call{op: "event_kinds.list"})
	if err != nil {
		return view{}, err
	}
	for _, k := range kinds.Kinds {
		m.Kinds = append(m.Kinds, choice{Value: k.Name, Text: k.Name})
	}
	slices.SortFunc(m.Kinds, func(a, b choice) int { return cmp.Compare(a.Value, b.Value) })
	m.Kinds = append([]choice{{Value: "", Text: "all kinds"}}, m.Kinds...)
	m.Off = sentence(why)
	if m.Off == "" {
		if err := v.readEvents(&m, q); err != nil {
			return view{}, err
		}
	}
	return view{title: "Events", template: "events", section: "events", model: m}, nil
}

// shownEvents is how many events a page shows, lookedAt among how many of the last ones those of a kind
// are looked for.
const (
	shownEvents = 50
	lookedAt    = "1000"
)

// readEvents reads the last events, newest first, or those from the oldest on, page by page.
func (v *visit) readEvents(m *eventsModel, q url.Values) error {
	asked := url.Values{"limit": {rows}, "after": {"newest"}}
	if q.Get("kinds") != "" {
		asked.Set("kinds", q.Get("kinds"))
		asked.Set("limit", lookedAt)
	}
	if m.Oldest {
		asked.Set("limit", rows)
		asked.Del("after")
		if !m.First {
			asked.Set("after", q.Get("cursor"))
		}
	}
	page, why, err := optional[event.Page](v, call{op: "admin.events.list", path: map[string]string{"org": v.org}, query: asked})
	if err != nil {
		return err
	}
	m.Off, m.Missed = sentence(why), page.Missed
	if m.Oldest && len(page.Events) == shownEvents {
		m.Next = page.NextCursor
	}
	for _, e := range page.Events {
		m.Events = append(m.Events, shownEvent{e, eventFacts(e.Data)})
	}
	if !m.Oldest {
		slices.Reverse(m.Events)
		m.Events = m.Events[:min(len(m.Events), shownEvents)]
	}
	return nil
}

// eventFacts are what an event tells of, without what the page says already and what is nothing.
func eventFacts(data json.RawMessage) []fact {
	out := factsOf(data)
	for i, f := range out {
		var counts map[string]int64
		var names []string
		switch raw := []byte(f.Value); {
		case json.Unmarshal(raw, &counts) == nil && len(counts) > 0:
			out[i].Value = countsOf(counts)
		case json.Unmarshal(raw, &names) == nil:
			out[i].Value = strings.Join(names, ", ")
		}
	}
	return slices.DeleteFunc(out, func(f fact) bool { return f.Name == "organization_id" || f.Value == "" })
}

// countsOf writes counts out, those that are not zero.
func countsOf(counts map[string]int64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[name]; n != 0 {
			parts = append(parts, number(n)+" "+name)
		}
	}
	return strings.Join(parts, ", ")
}

// jobsModel lists work in the background.
type jobsModel struct {
	Jobs    []admin.Job
	Form    form
	Next    string
	First   bool
	Busy    bool
	CanEdit bool
	Wrong   *form
}

func (v *visit) jobs() (view, error) { return v.showJobs(nil) }

func (v *visit) showJobs(f *form) (view, error) {
	q := v.r.URL.Query()
	m := jobsModel{First: q.Get("cursor") == "", Form: filled("", q), CanEdit: !v.caller.ReadOnly, Wrong: f}
	asked := asked(q, "status", "kind", "cursor")
	asked.Set("organization", v.org)
	list, err := do[admin.Jobs](v, call{op: "admin.jobs.list", query: asked})
	m.Jobs, m.Next = list.Jobs, value(list.NextCursor)
	for _, j := range m.Jobs {
		m.Busy = m.Busy || j.Status == "running" || j.Status == "queued"
	}
	return showForm(f, view{title: "Jobs", template: "jobs", section: "jobs", model: m}, err)
}

func (v *visit) cancelJob() (view, error) {
	_, err := do[admin.Job](v, call{op: "admin.jobs.cancel", path: map[string]string{"job": v.r.PostForm.Get("job")}})
	if f := v.refused(err); f != nil {
		return v.showJobs(f)
	}
	return view{goTo: pathOf("o", v.org, "jobs"), said: "cancelled"}, err
}

// auditModel is the log of who did what.
type auditModel struct {
	Records []audit.Record
	Form    form
	Next    string
	First   bool
	CSV     string
	Wrong   string
}

// auditFilters are the fields by which the log is filtered.
func auditFilters() []string {
	return []string{"actor", "key_id", "action", "target", "end_user_id", "request_id", "refused"}
}

// auditQuery is what the page's address asks of the log; wrong says what of it cannot be read.
func (v *visit) auditQuery() (asked url.Values, wrong string) {
	q := v.r.URL.Query()
	asked = url.Values{"organization": {v.org}}
	for _, name := range auditFilters() {
		if x := strings.TrimSpace(q.Get(name)); x != "" {
			asked.Set(name, x)
		}
	}
	if asked.Get("refused") != "" {
		asked.Set("refused", "true")
	}
	for _, name := range []string{"since", "until"} {
		day := q.Get(name)
		if day == "" {
			continue
		}
		t, err := time.Parse(time.DateOnly, day)
		if err != nil {
			return asked, "A day is written like 2026-11-25."
		}
		if name == "until" {
			t = t.AddDate(0, 0, 1)
		}
		asked.Set(name, t.Format(time.RFC3339))
	}
	return asked, ""
}

func (v *visit) auditLog() (view, error) {
	q := v.r.URL.Query()
	m := auditModel{First: q.Get("cursor") == "", Form: filled("", q)}
	asked, wrong := v.auditQuery()
	m.Wrong = wrong
	out := view{title: "Audit", template: "audit", section: "audit"}
	if wrong != "" {
		out.model, out.status = m, 422
		return out, nil
	}
	csv := carried(q, append(auditFilters(), "since", "until")...)
	m.CSV = csv
	asked.Set("limit", rows)
	if !m.First {
		asked.Set("cursor", q.Get("cursor"))
	}
	list, err := do[audit.Records](v, call{op: "admin.audit.list", query: asked})
	m.Records, m.Next = list.Records, value(list.NextCursor)
	out.model = m
	return out, err
}

// carried takes fields of an address over into another.
func carried(q url.Values, names ...string) string {
	out := url.Values{}
	for _, n := range names {
		if q.Get(n) != "" {
			out.Set(n, q.Get(n))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "?" + out.Encode()
}

// auditCSV sends the log as a file.
func (v *visit) auditCSV() (view, error) {
	asked, wrong := v.auditQuery()
	if wrong != "" {
		return v.auditLog()
	}
	x, err := do[op.Streamer](v, call{op: "admin.audit.export_csv", query: asked})
	return view{file: x, name: fileName(".csv", "mneme-audit", v.org)}, err
}
