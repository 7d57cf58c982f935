package console

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/mnemehq/mneme/core/source"
)

// sourcesModel lists the sources of an organization.
type sourcesModel struct {
	Sources []source.Source
	Form    form
	Next    string
	First   bool
	CanEdit bool
	Busy    bool // some are syncing
	Off     string
}

func (v *visit) sources() (view, error) {
	q := v.r.URL.Query()
	m := sourcesModel{First: q.Get("cursor") == "", Form: filled("", q), CanEdit: !v.caller.ReadOnly}
	list, why, err := optional[source.Sources](v, call{op: "sources.list",
		query: asked(q, "state", "namespace", "kind", "cursor")})
	m.Sources, m.Next, m.Off = list.Sources, value(list.NextCursor), sentence(why)
	for _, s := range m.Sources {
		m.Busy = m.Busy || s.State == "syncing" || s.State == "deleting"
	}
	return view{title: "Sources", template: "sources", section: "sources", model: m}, err
}

// kindsModel shows what can be connected.
type kindsModel struct {
	Kinds []source.Kind
	Off   string
}

func (v *visit) kinds() (view, error) {
	list, why, err := optional[source.Kinds](v, call{op: "source_kinds.list"})
	return view{title: "Connect a source", template: "kinds", section: "sources", model: kindsModel{list.Kinds, sentence(why)},
		trail: v.toSources()}, err
}

func (v *visit) toSources(more ...crumb) []crumb {
	return append([]crumb{{"Sources", pathOf("o", v.org, "sources")}}, more...)
}

// connectModel is the form that connects a source, or changes one.
type connectModel struct {
	Kind     source.Kind
	Config   []schemaField
	Secrets  []schemaField
	Set      []string // secrets that are set
	Form     form
	Checked  *source.Checked
	Existing bool
}

// Keeps reports whether a secret is set already.
func (m connectModel) Keeps(name string) bool {
	for _, s := range m.Set {
		if "secrets."+s == name {
			return true
		}
	}
	return false
}

// kindOf finds a kind by its name.
func (v *visit) kindOf(name string) (m connectModel, err error) {
	list, err := do[source.Kinds](v, call{op: "source_kinds.list"})
	if err != nil {
		return m, err
	}
	for _, k := range list.Kinds {
		if k.Name == name {
			return connectModel{Kind: k, Config: schemaFields("config", k.Config, false),
				Secrets: schemaFields("secrets", k.Secrets, true)}, nil
		}
	}
	return m, notThere("there is no kind of source %q", name)
}

func (v *visit) connect() (view, error) {
	m, err := v.kindOf(v.r.PathValue("kind"))
	if err != nil {
		return view{}, err
	}
	values := url.Values{"namespace": {v.r.URL.Query().Get("namespace")}, "schedule": {"6h"}, "deletions": {""}}
	if m.Kind.Name == "push" {
		values.Del("schedule")
	}
	for _, f := range m.Config {
		f.fill(values, nil)
	}
	m.Form = filled("", values)
	return v.showConnect(m, nil)
}

func (v *visit) showConnect(m connectModel, f *form) (view, error) {
	if f != nil {
		m.Form = *f
	}
	m.Form.Of = ""
	out := view{title: "Connect: " + m.Kind.Title, template: "connect", section: "sources", model: m,
		trail: v.toSources(crumb{"Connect a source", pathOf("o", v.org, "connect")})}
	return showForm(f, out, nil)
}

// settings are what the form says of a source: its settings and its secrets.
func (m connectModel) settings(values url.Values) (config map[string]any, secrets map[string]string) {
	config, secrets = map[string]any{}, map[string]string{}
	for _, f := range m.Config {
		if x, ok := f.read(values); ok {
			config[strings.TrimPrefix(f.Name, "config.")] = x
		}
	}
	for _, f := range m.Secrets {
		name := strings.TrimPrefix(f.Name, "secrets.")
		if x := strings.ReplaceAll(values.Get(f.Name), "\r\n", "\n"); x != "" {
			secrets[name] = x
		} else if values.Get("remove."+name) != "" {
			secrets[name] = ""
		}
	}
	return config, secrets
}

// schedule is what a text says of when runs begin; nil: they do not by themselves.
func schedule(text string) map[string]any {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return map[string]any{}
	case strings.Contains(text, " "):
		return map[string]any{"cron": text}
	}
	return map[string]any{"every": text}
}

func scheduleText(s *source.Schedule) string {
	switch {
	case s == nil:
		return ""
	case s.Cron != "":
		return s.Cron
	}
	return s.Every
}

// connectSource checks the settings of a new source, or connects it.
func (v *visit) connectSource() (view, error) {
	m, err := v.kindOf(v.r.PathValue("kind"))
	if err != nil {
		return view{}, err
	}
	f := v.r.PostForm
	config, secrets := m.settings(f)
	if f.Get("then") == "check" {
		return v.check(m, "", config, secrets)
	}
	body := map[string]any{"name": strings.TrimSpace(f.Get("name")), "kind": m.Kind.Name,
		"namespace": strings.TrimSpace(f.Get("namespace")), "config": config}
	if len(secrets) > 0 {
		body["secrets"] = secrets
	}
	if s := schedule(f.Get("schedule")); len(s) > 0 {
		body["schedule"] = s
	}
	if d := f.Get("deletions"); d != "" {
		body["deletions"] = d
	}
	s, err := do[source.Source](v, call{op: "sources.create", body: body})
	if f := v.refused(err); f != nil {
		return v.showConnect(m, f)
	}
	return view{goTo: pathOf("o", v.org, "sources", s.ID)}, err
}

// check tries settings, which writes nothing, and shows the form with what was found.
func (v *visit) check(m connectModel, id string, config map[string]any, secrets map[string]string) (view, error) {
	body := map[string]any{"kind": m.Kind.Name, "config": config}
	if len(secrets) > 0 {
		body["secrets"] = secrets
	}
	if id != "" {
		body["source_id"] = id
	}
	c, err := do[source.Checked](v, call{op: "sources.check", body: body})
	f := v.refused(err)
	if err != nil && f == nil {
		return view{}, err
	}
	if f == nil {
		typed := v.typed()
		f, m.Checked = &typed, &c
		if len(c.Problems) > 0 {
			f.Field = c.Problems[0].Field
		}
	}
	if id != "" {
		return v.showSettings(m, id, f)
	}
	return v.showConnect(m, f)
}

// sourceModel shows a source with its runs and items.
type sourceModel struct {
	source.Source
	Title     string // of its kind
	Config    []fact
	Schedule  string
	Runs      []source.Run // newest first
	Failed    []source.Item
	FailedAll bool // these are all
	Withheld  []source.RunItem
	Busy      bool
	CanEdit   bool
	Form      *form
}

func (v *visit) sourceAt() map[string]string { return map[string]string{"id": v.r.PathValue("id")} }

func (v *visit) source() (view, error) { return v.showSource(nil) }

func (v *visit) showSource(f *form) (view, error) {
	s, err := do[source.Source](v, call{op: "sources.get", path: v.sourceAt()})
	if err != nil {
		return view{}, err
	}
	m := sourceModel{Source: s, Form: f, CanEdit: !v.caller.ReadOnly && s.State != "deleting", Schedule: scheduleText(s.Schedule),
		Config: factsOf(s.Config), Busy: s.State == "syncing" || s.State == "deleting"}
	runs, err := do[source.Runs](v, call{op: "sources.runs.list", path: v.sourceAt(), query: url.Values{"limit": {"30"}}})
	if err != nil {
		return view{}, err
	}
	m.Runs = runs.Runs
	failed, err := do[source.Items](v, call{op: "sources.items.list", path: v.sourceAt(),
		query: url.Values{"status": {"failed"}, "limit": {"10"}}})
	if err != nil {
		return view{}, err
	}
	m.Failed, m.FailedAll = failed.Items, failed.NextCursor == nil
	if last := s.LastRun; last != nil && last.Counts.Withheld > 0 {
		at := v.sourceAt()
		at["run"] = last.ID
		items, err := do[source.RunItems](v, call{op: "sources.runs.items", path: at,
			query: url.Values{"status": {"withheld"}, "limit": {"20"}}})
		if err != nil {
			return view{}, err
		}
		m.Withheld = items.Items
	}
	return showForm(f, view{title: s.Name, template: "source", section: "sources", model: m, trail: v.toSources()}, nil)
}

func (v *visit) sourcePage() string { return pathOf("o", v.org, "sources", v.r.PathValue("id")) }

// onSource does something with the source, and goes back to it.
func onSource[Out any](v *visit, c call, said string) (view, error) {
	if c.path == nil {
		c.path = v.sourceAt()
	}
	_, err := do[Out](v, c)
	if f := v.refused(err); f != nil {
		return v.showSource(f)
	}
	return view{goTo: v.sourcePage(), said: said}, err
}

func (v *visit) syncSource() (view, error) {
	return onSource[source.Run](v, call{op: "sources.sync",
		body: map[string]any{"full": v.r.PostForm.Get("full") != ""}}, "started")
}

func (v *visit) onRun(op, said string) (view, error) {
	at := v.sourceAt()
	at["run"] = v.r.PostForm.Get("run")
	return onSource[source.Run](v, call{op: op, path: at}, said)
}

func (v *visit) cancelRun() (view, error) { return v.onRun("sources.runs.cancel", "cancelled") }

func (v *visit) retryRun() (view, error) { return v.onRun("sources.runs.retry_failed", "started") }

func (v *visit) applyDeletions() (view, error) {
	n, ok := count(v.r.PostForm.Get("max"))
	if !ok || strings.TrimSpace(v.r.PostForm.Get("max")) == "" {
		return v.showSource(v.wrong("max", "Enter how many documents may be deleted at most."))
	}
	return onSource[source.Run](v, call{op: "sources.apply_deletions", body: map[string]any{"max": n}}, "started")
}

func (v *visit) pauseSource() (view, error) {
	return onSource[source.Source](v, call{op: "sources.update", body: map[string]any{"enabled": false}}, "paused")
}

func (v *visit) resumeSource() (view, error) {
	return onSource[source.Source](v, call{op: "sources.update", body: map[string]any{"enabled": true}}, "enabled")
}

// disconnect takes a source away whose name was typed. What becomes of its documents has to be
// chosen.
func (v *visit) disconnect() (view, error) {
	s, err := do[source.Source](v, call{op: "sources.get", path: v.sourceAt()})
	if tooFar(err) { // it is gone: the form was sent twice
		return view{goTo: pathOf("o", v.org, "sources"), said: "disconnected"}, nil
	}
	if err != nil {
		return view{}, err
	}
	documents := v.r.PostForm.Get("documents")
	switch {
	case documents != "keep" && documents != "delete":
		return v.showSource(v.wrong("documents", "Choose what becomes of its documents."))
	case strings.TrimSpace(v.r.PostForm.Get("typed")) != s.Name:
		return v.showSource(v.wrong("typed", "Type the name of the source, "+s.Name+", to disconnect it."))
	}
	_, err = do[source.Source](v, call{op: "sources.delete", path: v.sourceAt(), query: url.Values{"documents": {documents}}})
	return view{goTo: pathOf("o", v.org, "sources"), said: "disconnected"}, err
}

// sourceSettings is the form that changes a source.
func (v *visit) sourceSettings() (view, error) {
	s, m, err := v.existing()
	if err != nil {
		return view{}, err
	}
	values, err := m.valuesOf(s)
	if err != nil {
		return view{}, err
	}
	m.Form = filled("", values)
	return v.showSettings(m, s.ID, nil)
}

// valuesOf are what the form that changes a source is shown with.
func (m connectModel) valuesOf(s source.Source) (url.Values, error) {
	stored := map[string]json.RawMessage{}
	if err := json.Unmarshal(s.Config, &stored); err != nil {
		return nil, fmt.Errorf("console: settings of source %s: %w", s.ID, err)
	}
	values := url.Values{"name": {s.Name}, "schedule": {scheduleText(s.Schedule)}, "deletions": {s.Deletions}}
	for _, f := range m.Config {
		f.fill(values, stored)
	}
	return values, nil
}

func (v *visit) existing() (source.Source, connectModel, error) {
	s, err := do[source.Source](v, call{op: "sources.get", path: v.sourceAt()})
	if err != nil {
		return s, connectModel{}, err
	}
	m, err := v.kindOf(s.Kind)
	m.Existing, m.Set = true, s.SecretsSet
	return s, m, err
}

func (v *visit) showSettings(m connectModel, id string, f *form) (view, error) {
	if f != nil {
		m.Form = *f
	}
	m.Form.Of = ""
	name := m.Form.Get("name")
	if name == "" {
		name = id
	}
	out := view{title: "Settings of " + short(name, 60), template: "connect", section: "sources", model: m,
		trail: v.toSources(crumb{short(name, 60), pathOf("o", v.org, "sources", id)})}
	return showForm(f, out, nil)
}

// changeSource checks changed settings of a source, or stores them.
func (v *visit) changeSource() (view, error) {
	s, m, err := v.existing()
	if err != nil {
		return view{}, err
	}
	f := v.r.PostForm
	config, secrets := m.settings(f)
	if f.Get("then") == "check" {
		return v.check(m, s.ID, config, secrets)
	}
	now, err := m.valuesOf(s)
	if err != nil {
		return view{}, err
	}
	fields := []edited{{name: "name", label: "The name"}, {name: "schedule", label: "When runs begin"},
		{name: "deletions", label: "What follows when an item is gone"}}
	for _, c := range m.Config {
		fields = append(fields, edited{name: c.Name, label: c.Label, tick: c.Boolean()})
	}
	if f := v.overtaken(now, fields...); f != nil {
		return v.showSettings(m, s.ID, f)
	}
	body := map[string]any{"name": strings.TrimSpace(f.Get("name")), "config": config}
	if m.Kind.Name != "push" {
		body["schedule"] = schedule(f.Get("schedule"))
	}
	if d := f.Get("deletions"); d != "" {
		body["deletions"] = d
	}
	if len(secrets) > 0 {
		body["secrets"] = secrets
	}
	_, err = do[source.Source](v, call{op: "sources.update", path: v.sourceAt(), body: body})
	if f := v.refused(err); f != nil {
		return v.showSettings(m, s.ID, f)
	}
	return view{goTo: v.sourcePage(), said: "saved"}, err
}

// itemsModel lists the items of a source.
type itemsModel struct {
	Source source.Source
	Items  []source.Item
	Form   form
	Next   string
	First  bool
}

func (v *visit) items() (view, error) {
	q := v.r.URL.Query()
	m := itemsModel{First: q.Get("cursor") == "", Form: filled("", q)}
	var err error
	if m.Source, err = do[source.Source](v, call{op: "sources.get", path: v.sourceAt()}); err != nil {
		return view{}, err
	}
	list, err := do[source.Items](v, call{op: "sources.items.list", path: v.sourceAt(),
		query: asked(q, "status", "prefix", "cursor")})
	m.Items, m.Next = list.Items, value(list.NextCursor)
	return view{title: "Items of " + m.Source.Name, template: "items", section: "sources", model: m,
		trail: v.toSources(crumb{m.Source.Name, v.sourcePage()})}, err
}

// runModel shows a run with what it did to items.
type runModel struct {
	source.Run
	Source  source.Source
	Items   []source.RunItem
	Form    form
	Next    string
	First   bool
	Busy    bool
	CanEdit bool
}

func (v *visit) sourceRun() (view, error) {
	q, at := v.r.URL.Query(), v.sourceAt()
	m := runModel{First: q.Get("cursor") == "", Form: filled("", q), CanEdit: !v.caller.ReadOnly}
	var err error
	if m.Source, err = do[source.Source](v, call{op: "sources.get", path: at}); err != nil {
		return view{}, err
	}
	at = map[string]string{"id": at["id"], "run": v.r.PathValue("run")}
	if m.Run, err = do[source.Run](v, call{op: "sources.runs.get", path: at}); err != nil {
		return view{}, err
	}
	m.Busy = m.Status == "running" || m.Status == "queued"
	list, err := do[source.RunItems](v, call{op: "sources.runs.items", path: at, query: asked(q, "status", "cursor")})
	m.Items, m.Next = list.Items, value(list.NextCursor)
	return view{title: "Run " + m.ID, template: "run", section: "sources", model: m,
		trail: v.toSources(crumb{m.Source.Name, v.sourcePage()})}, err
}
