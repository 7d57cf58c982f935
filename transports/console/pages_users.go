package console

import (
	"net/url"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/op"
)

// usersModel is the roster of an organization.
type usersModel struct {
	Users        []admin.EndUser
	Integrations []choice
	Form         form
	Next         string
	First        bool
}

func (v *visit) users() (view, error) {
	q := v.r.URL.Query()
	m := usersModel{First: q.Get("cursor") == "", Form: filled("", q)}
	at := map[string]string{"org": v.org}
	all, err := do[admin.Integrations](v, call{op: "admin.integrations.list", path: at, query: url.Values{"limit": {"1000"}}})
	if err != nil {
		return view{}, err
	}
	m.Integrations = []choice{{"", "all integrations", false}}
	for _, i := range all.Integrations {
		m.Integrations = append(m.Integrations, choice{i.ID, i.Name, false})
	}
	list, err := do[admin.EndUsers](v, call{op: "admin.end_users.list", path: at,
		query: asked(q, "query", "integration", "cursor")})
	m.Users, m.Next = list.EndUsers, value(list.NextCursor)
	return view{title: "End users", template: "users", section: "users", model: m}, err
}

// userModel shows an end user: what is remembered of them, and who may write it.
type userModel struct {
	ID, Integration, Name string
	User                  *admin.EndUser // nil: nothing is kept of them
	Query                 string
	Results               []memory.Result
	Degraded              [][2]string
	Asked                 bool
	Memories              []shownMemory
	Container             string
	Next                  string
	First                 bool
	Grants                []memory.Grant
	Record                *memory.Applied
	Form                  *form
	CanEdit               bool
	Missing               []string
}

// shownMemory is a memory with its metadata as facts.
type shownMemory struct {
	memory.Memory
	Facts []fact
}

// Created is when it was made.
func (m shownMemory) Created() time.Time { return time.UnixMilli(m.CreatedAt) }

func (v *visit) user() (view, error) { return v.showUser(nil) }

func (v *visit) showUser(f *form) (view, error) {
	q, id := v.r.URL.Query(), v.r.PathValue("id")
	m := userModel{ID: id, Form: f, CanEdit: !v.caller.ReadOnly, Query: strings.TrimSpace(q.Get("q")),
		Container: q.Get("container"), First: q.Get("cursor") == ""}
	v.acting = v.r.PathValue("integration")
	i, err := do[admin.Integration](v, call{op: "admin.integrations.get", path: v.integrationAt()})
	if err != nil {
		return view{}, err
	}
	m.Integration, m.Name = i.ID, i.Name
	if err := v.rosterRow(&m); err != nil {
		return view{}, err
	}
	if m.Query != "" {
		if err := v.searchAs(&m); err != nil {
			return view{}, err
		}
	}
	if q.Get("external") != "" {
		a, why, err := optional[memory.Applied](v, call{op: "memories.get",
			path:  map[string]string{"externalId": q.Get("external")},
			query: url.Values{"endUserId": {id}, "source": {q.Get("source")}}})
		if err != nil && !tooFar(err) {
			return view{}, err
		}
		if m.say(why); err == nil && why == "" {
			m.Record = &a
		}
	}
	listed := url.Values{"endUserId": {id}, "limit": {"20"}}
	if m.Container != "" {
		listed.Set("containerTag", m.Container)
	}
	if !m.First {
		listed.Set("cursor", q.Get("cursor"))
	}
	list, err := do[memory.Page](v, call{op: "memories.list", query: listed})
	if err != nil {
		return view{}, err
	}
	m.Next = value(list.NextCursor)
	for _, x := range list.Memories {
		m.Memories = append(m.Memories, shownMemory{x, factsOf(x.Metadata)})
	}
	grants, why, err := optional[memory.Grants](v, call{op: "grants.list", query: url.Values{"endUserId": {id}}})
	if err != nil {
		return view{}, err
	}
	m.say(why)
	m.Grants = grants.Grants
	return showForm(f, view{title: "End user " + id, template: "user", section: "users", model: m,
		trail: []crumb{{"End users", pathOf("o", v.org, "users")}}}, nil)
}

func (m *userModel) say(why string) {
	if why != "" {
		m.Missing = append(m.Missing, why)
	}
}

// rosterRow finds what the roster says of the end user.
func (v *visit) rosterRow(m *userModel) error {
	row, err := do[admin.EndUsers](v, call{op: "admin.end_users.list", path: map[string]string{"org": v.org},
		query: url.Values{"limit": {"1"}, "query": {m.ID}, "integration": {m.Integration}}})
	if err == nil && len(row.EndUsers) > 0 && row.EndUsers[0].ID == m.ID {
		m.User = &row.EndUsers[0]
	}
	return err
}

// searchAs asks what the end user's memories answer, as an application would.
func (v *visit) searchAs(m *userModel) error {
	body := map[string]any{"endUserId": m.ID, "query": m.Query}
	if m.Container != "" {
		body["containerTag"] = m.Container
	}
	found, why, err := optional[memory.Results](v, call{op: "memories.search", body: body})
	if err != nil {
		return err
	}
	m.say(why)
	m.Asked, m.Results = why == "", found.Results
	for _, d := range found.Degraded {
		m.Degraded = append(m.Degraded, [2]string{d.Part, reason(d.Reason)})
	}
	return nil
}

// exportUser sends what is kept of an end user.
func (v *visit) exportUser() (view, error) {
	id := v.r.PathValue("id")
	x, err := do[op.Streamer](v, call{op: "admin.end_users.export", path: map[string]string{"id": id}, query: v.userScope()})
	return view{file: x, name: fileName(".ndjson", "mneme", id)}, err
}

func (v *visit) userScope() url.Values {
	return url.Values{"organization": {v.org}, "integration": {v.r.PathValue("integration")}}
}

// eraseUser erases an end user whose id was typed, and shows the certificate.
func (v *visit) eraseUser() (view, error) {
	id := v.r.PathValue("id")
	if strings.TrimSpace(v.r.PostForm.Get("typed")) != id {
		return v.showUser(v.wrong("typed", "Type the id of the end user, "+id+", to erase them."))
	}
	c, err := do[admin.Certificate](v, call{op: "admin.end_users.erase", path: map[string]string{"id": id}, query: v.userScope()})
	if err != nil {
		return view{}, err
	}
	raw, err := marshal(c)
	if err != nil {
		return view{}, err
	}
	return view{title: "Erased " + id, template: "certificate", section: "users",
		trail: []crumb{{"End users", pathOf("o", v.org, "users")}}, model: certificateModel{c, indentPlain(raw)}}, nil
}

// certificateModel shows what an erasure removed, to be kept.
type certificateModel struct {
	admin.Certificate
	JSON string
}

func (v *visit) userPage() string {
	return pathOf("o", v.org, "users", v.r.PathValue("integration"), v.r.PathValue("id"))
}

// revokeGrant ends what lets a source write memories of the end user.
func (v *visit) revokeGrant() (view, error) {
	v.acting = v.r.PathValue("integration")
	_, err := do[memory.Granted](v, call{op: "grants.revoke", path: map[string]string{"id": v.r.PostForm.Get("grant")}})
	return view{goTo: v.userPage(), said: "grant"}, err
}

// forget deletes one memory.
func (v *visit) forget() (view, error) {
	v.acting = v.r.PathValue("integration")
	_, err := do[memory.Deleted](v, call{op: "memories.delete",
		body: map[string]any{"endUserId": v.r.PathValue("id"), "ids": []string{v.r.PostForm.Get("memory")}}})
	if fault.CodeOf(err) == fault.Conflict {
		return v.showUser(v.wrong("memory", sentence(fault.From(err).Message)))
	}
	return view{goTo: v.userPage(), said: "forgotten"}, err
}
