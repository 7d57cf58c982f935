package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/source"
	"github.com/mnemehq/mneme/core/status"
)

// pages lists every page and what its forms do.
func pages() []page {
	one := func(do func(*visit) (view, error)) actions { return actions{"": do} }
	return []page{
		{at: "", show: func(v *visit) (view, error) { return view{goTo: pathOf("o", v.org)}, nil }},
		{at: "o/{org}", show: (*visit).overview},

		{at: "o/{org}/n", show: (*visit).namespaces, actions: one((*visit).makeNamespace)},
		{at: "o/{org}/new-document", show: (*visit).newDocument, actions: one((*visit).writeDocument)},
		{at: "o/{org}/n/{n}", show: (*visit).documents, actions: one((*visit).deleteNamespace)},
		{at: "o/{org}/n/{n}/query", show: (*visit).query},
		{at: "o/{org}/n/{n}/check", show: (*visit).checks, actions: actions{
			"": (*visit).saveQuery, "delete": (*visit).deleteQuery}},
		{at: "o/{org}/n/{n}/documents/{id}", show: (*visit).document, actions: actions{
			"": (*visit).deleteDocument, "metadata": (*visit).changeMetadata}},
		{at: "o/{org}/n/{n}/files", show: (*visit).files, actions: one((*visit).sendFiles), files: true},
		{at: "o/{org}/n/{n}/upkeep", show: (*visit).upkeep, actions: actions{"": (*visit).reindex, "discard": (*visit).discard}},
		{at: "o/{org}/n/{n}/import", show: (*visit).upkeep, actions: one((*visit).importNamespace), files: true},
		{at: "o/{org}/n/{n}/export", show: (*visit).exportNamespace},

		{at: "o/{org}/sources", show: (*visit).sources},
		{at: "o/{org}/connect", show: (*visit).kinds},
		{at: "o/{org}/connect/{kind}", show: (*visit).connect, actions: one((*visit).connectSource)},
		{at: "o/{org}/sources/{id}", show: (*visit).source, actions: actions{
			"sync": (*visit).syncSource, "cancel": (*visit).cancelRun, "retry": (*visit).retryRun,
			"apply": (*visit).applyDeletions,
			"pause": (*visit).pauseSource, "resume": (*visit).resumeSource, "disconnect": (*visit).disconnect}},
		{at: "o/{org}/sources/{id}/settings", show: (*visit).sourceSettings, actions: one((*visit).changeSource)},
		{at: "o/{org}/sources/{id}/items", show: (*visit).items},
		{at: "o/{org}/sources/{id}/runs/{run}", show: (*visit).sourceRun},

		{at: "o/{org}/users", show: (*visit).users},
		{at: "o/{org}/users/{integration}/{id}", show: (*visit).user, actions: actions{
			"erase": (*visit).eraseUser, "forget": (*visit).forget, "grant": (*visit).revokeGrant}},
		{at: "o/{org}/users/{integration}/{id}/export", show: (*visit).exportUser},

		{at: "o/{org}/members", show: (*visit).members, actions: one((*visit).inviteMember)},
		{at: "o/{org}/members/{id}", show: (*visit).member, actions: actions{
			"role": (*visit).changeRole, "disable": (*visit).disableMember, "enable": (*visit).enableMember,
			"again": (*visit).inviteAgain, "unbind": (*visit).unbindMember, "remove": (*visit).removeMember}},
		{at: "account", show: (*visit).account, actions: actions{
			"": (*visit).changePassword, "unbind": (*visit).unbindAccount}},
		{at: "o/{org}/keys", show: (*visit).keys, actions: one((*visit).makeKey)},
		{at: "o/{org}/keys/{id}", show: (*visit).key, actions: actions{
			"change": (*visit).changeKey, "rotate": (*visit).rotateKey, "revoke": (*visit).revokeKey}},
		{at: "o/{org}/integrations", show: (*visit).integrations, actions: one((*visit).makeIntegration)},
		{at: "o/{org}/integrations/{integration}", show: (*visit).integration, actions: actions{
			"change": (*visit).changeIntegration, "make": (*visit).makeIntegrationKey}},

		{at: "o/{org}/events", show: (*visit).events},
		{at: "o/{org}/webhooks", show: (*visit).webhooks, actions: one((*visit).makeWebhook)},
		{at: "o/{org}/webhooks/{id}", show: (*visit).webhook, actions: actions{
			"test": (*visit).testWebhook, "enable": (*visit).enableWebhook, "disable": (*visit).disableWebhook,
			"rotate": (*visit).rotateWebhook, "change": (*visit).changeWebhook, "recover": (*visit).recoverWebhook,
			"delete": (*visit).deleteWebhook}},
		{at: "o/{org}/webhooks/{id}/deliveries/{delivery}", show: (*visit).delivery,
			actions: actions{"again": (*visit).redeliver}},
		{at: "o/{org}/jobs", show: (*visit).jobs, actions: actions{"cancel": (*visit).cancelJob}},
		{at: "o/{org}/usage", show: (*visit).usage},
		{at: "o/{org}/usage.csv", show: (*visit).usageCSV},
		{at: "o/{org}/audit", show: (*visit).auditLog},
		{at: "o/{org}/audit.csv", show: (*visit).auditCSV},

		{at: "organizations", show: (*visit).organizations, actions: one((*visit).makeOrganization)},
		{at: "organizations/{org}", show: (*visit).organization, actions: actions{
			"rename": (*visit).renameOrganization, "quotas": (*visit).changeQuotas, "suspend": (*visit).suspendOrganization,
			"resume": (*visit).resumeOrganization, "delete": (*visit).deleteOrganization}},
		{at: "models", show: (*visit).models},
		{at: "health", show: (*visit).health},
		{at: "settings", show: (*visit).settings},
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
	Sources    int
	Needs      []need
	Missing    []string // why a part of this page is not there
}

// check is the outcome for one part, with its name.
type check struct {
	Name string
	status.Check
}

// need is something that a person should look at.
type need struct{ Text, Link, Do string }

func (v *visit) overview() (view, error) {
	var m overviewModel
	var err error
	if m.Health, err = v.deep(); err != nil {
		return view{}, err
	}
	m.Checks = checksOf(m.Health)
	for _, c := range m.Checks {
		if c.Status == "error" {
			text := c.Name + " fails: " + cmp.Or(c.Message, "no reason is known")
			m.Needs = append(m.Needs, need{text, "health", "See the health"})
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
	for _, x := range models.Models {
		if x.Status == "error" {
			m.Needs = append(m.Needs, need{"The model " + x.ID + " failed when it was last called.", "models", "See the models"})
		}
	}
	for _, look := range []func(*overviewModel) error{v.needsOfSources, v.needsOfWebhooks, v.needsOfKeys, v.failedJobs} {
		if err := look(&m); err != nil {
			return view{}, err
		}
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

// needsOfSources looks for sources that fail, and for deletions that are withheld.
func (v *visit) needsOfSources(m *overviewModel) error {
	list, why, err := optional[source.Sources](v, call{op: "sources.list", query: url.Values{"limit": {"1000"}}})
	if err != nil || why != "" { // without sources there is nothing to say of them
		return err
	}
	m.Sources = len(list.Sources)
	for _, s := range list.Sources {
		at := pathOf("o", v.org, "sources", s.ID)
		if s.State == "error" {
			text := "The source " + short(s.Name, 60) + " fails"
			if s.StateReason != nil {
				text += ": " + short(s.StateReason.Message, 120)
			}
			m.Needs = append(m.Needs, need{text + ".", at, "See the source"})
		}
		if s.LastRun != nil && s.LastRun.Counts.Withheld > 0 {
			m.Needs = append(m.Needs, need{"The source " + short(s.Name, 60) + " withholds " +
				countOf(int(s.LastRun.Counts.Withheld), "deletion", "deletions") + ".", at, "Decide"})
		}
	}
	return nil
}

// soon is how long before its end a key is shown as ending.
const soon = 14 * 24 * time.Hour

// needsOfKeys looks for keys that end soon.
func (v *visit) needsOfKeys(m *overviewModel) error {
	list, why, err := optional[admin.Keys](v, call{op: "admin.keys.list", path: map[string]string{"org": v.org},
		query: url.Values{"limit": {"1000"}}})
	m.say(why)
	for _, k := range list.Keys {
		if k.State == "live" && k.ExpiresAt != nil && time.Until(*k.ExpiresAt) < soon {
			text := "The key " + cmp.Or(k.Name, k.Prefix+"…"+k.LastFour) + " ends " + until(*k.ExpiresAt) + "."
			m.Needs = append(m.Needs, need{text, pathOf("o", v.org, "keys", k.ID), "Rotate it"})
		}
	}
	return err
}

// failedJobs looks for work that ended badly, of which an administrator is told.
func (v *visit) failedJobs(m *overviewModel) error {
	jobs, why, err := optional[admin.Jobs](v, call{op: "admin.jobs.list",
		query: url.Values{"organization": {v.org}, "status": {"failed"}, "limit": {"10"}}})
	m.say(why)
	if n := len(jobs.Jobs); n > 0 {
		text := countOf(n, "job has failed", "jobs have failed") + ", the last one " + jobs.Jobs[0].Kind + "."
		m.Needs = append(m.Needs, need{text, pathOf("o", v.org, "jobs") + "?status=failed", "See the jobs"})
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
	Filter     form
	Next       string // cursor
	First      bool
	CanWrite   bool
	Form       form
	Embedders  []choice // of a new one; nil: there is no choice
}

const rows = "50"

func (v *visit) namespaces() (view, error) { return v.showNamespaces(nil) }

func (v *visit) showNamespaces(f *form) (view, error) {
	q := v.r.URL.Query()
	m := listModel{Prefix: q.Get("prefix"), Filter: filled("", q), First: q.Get("cursor") == "", CanWrite: !v.caller.ReadOnly,
		Form: formOf(f)}
	list, err := do[namespace.Page](v, call{op: "namespaces.list", query: asked(q, "prefix", "cursor")})
	if err != nil {
		return view{}, err
	}
	m.Namespaces = list.Namespaces
	if list.NextCursor != nil {
		m.Next = *list.NextCursor
	}
	if m.Embedders, err = v.embedders("", choice{Text: "The server's default"}); err != nil {
		return view{}, err
	}
	return showForm(f, view{title: "Namespaces", template: "namespaces", section: "namespaces", model: m}, nil)
}

// embedders are the choices among the server's embedding models, whose values begin with prefix, behind others; nil
// where there is one at most.
func (v *visit) embedders(prefix string, first ...choice) ([]choice, error) {
	list, _, err := optional[model.List](v, call{op: "models.list", query: url.Values{"kind": {"embedding"}}})
	if err != nil || v.caller.ReadOnly || len(list.Models) < 2 {
		return nil, err
	}
	for _, m := range list.Models {
		first = append(first, choice{Value: prefix + m.ID, Text: m.ID})
	}
	return first, nil
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

// modelsModel shows the models, with the namespaces of the organization that use each.
type modelsModel struct {
	Models []usedModel
	Why    string // the namespaces are not known; "": they are
	Some   bool   // the organization has more namespaces than were looked at
}

// usedModel is a model with the first of the namespaces whose vectors are its own.
type usedModel struct {
	model.Model
	Namespaces []string
	Used       int // by how many namespaces
}

// More is by how many namespaces it is used that are not named.
func (m usedModel) More() int { return m.Used - len(m.Namespaces) }

// namedUsers is how many namespaces of a model are named.
const namedUsers = 5

func (v *visit) models() (view, error) {
	list, err := do[model.List](v, call{op: "models.list"})
	if err != nil {
		return view{}, err
	}
	users, why, err := optional[namespace.Page](v, call{op: "namespaces.list", query: url.Values{"limit": {"1000"}}})
	m := modelsModel{Why: sentence(why), Some: users.NextCursor != nil}
	for _, x := range list.Models {
		used := usedModel{Model: x}
		for _, n := range users.Namespaces {
			if n.EmbeddingModel != x.ID && (n.SparseModel == nil || *n.SparseModel != x.ID) {
				continue
			}
			if used.Used++; used.Used <= namedUsers {
				used.Namespaces = append(used.Namespaces, n.Name)
			}
		}
		m.Models = append(m.Models, used)
	}
	return view{title: "Models", template: "models", section: "models", model: m}, err
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
