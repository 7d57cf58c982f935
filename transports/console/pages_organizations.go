package console

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/usage"
)

// organizationsModel lists the organizations of the server.
type organizationsModel struct {
	Organizations []admin.Organization
	Next          string
	First         bool
	CanMake       bool
	Form          form
}

func (v *visit) organizations() (view, error) { return v.showOrganizations(nil) }

func (v *visit) showOrganizations(f *form) (view, error) {
	q := v.r.URL.Query()
	m := organizationsModel{First: q.Get("cursor") == "", CanMake: v.caller.AllOrganizations() && !v.caller.ReadOnly,
		Form: formOf(f)}
	list, err := do[admin.Organizations](v, call{op: "admin.organizations.list", query: asked(q, "cursor")})
	m.Organizations, m.Next = list.Organizations, value(list.NextCursor)
	return showForm(f, view{title: "Organizations", template: "organizations", section: "organizations", model: m}, err)
}

func (v *visit) makeOrganization() (view, error) {
	name := strings.TrimSpace(v.r.PostForm.Get("name"))
	_, err := do[admin.Organization](v, call{op: "admin.organizations.create", body: map[string]any{"name": name}})
	if f := v.refused(err); f != nil {
		return v.showOrganizations(f)
	}
	return view{goTo: pathOf("o", name)}, err
}

// organizationModel shows one organization, with its quotas.
type organizationModel struct {
	admin.Organization
	Quotas  []quota
	Form    *form
	Rename  form
	Limits  form
	Default bool
	CanEdit bool
}

// quota is what an organization may have of something, and has.
type quota struct {
	Name, Label string
	Bytes       bool
	usage.Quota
}

func (v *visit) organization() (view, error) { return v.showOrganization(nil) }

func (v *visit) showOrganization(f *form) (view, error) {
	m := organizationModel{Form: f, CanEdit: v.caller.AllOrganizations() && !v.caller.ReadOnly}
	at := map[string]string{"org": v.org}
	var err error
	if m.Organization, err = do[admin.Organization](v, call{op: "admin.organizations.get", path: at}); err != nil {
		return view{}, err
	}
	if m.Quotas, err = v.quotas(); err != nil {
		return view{}, err
	}
	m.Rename = f.Over(filled("rename", url.Values{"name": {m.Name}}))
	m.Limits = f.Over(filled("quotas", valuesOfQuotas(m.Quotas)))
	m.Default = m.Name == "default"
	out := view{title: m.Name, template: "organization", section: "organizations", model: m}
	if v.caller.AllOrganizations() {
		out.trail = []crumb{{"Organizations", "organizations"}}
	}
	return showForm(f, out, nil)
}

// quotas are those of the organization.
func (v *visit) quotas() ([]quota, error) {
	q, err := do[usage.Quotas](v, call{op: "admin.quotas.get", path: map[string]string{"org": v.org}})
	return []quota{
		{"bytes", "Text", true, q.Bytes},
		{"documents", "Documents", false, q.Documents},
		{"namespaces", "Namespaces", false, q.Namespaces},
		{"end_users", "End users", false, q.EndUsers},
	}, err
}

// valuesOfQuotas are what the form that changes quotas is shown with.
func valuesOfQuotas(quotas []quota) url.Values {
	out := url.Values{}
	for _, q := range quotas {
		if q.Limit != nil {
			out.Set(q.Name, strconv.FormatInt(*q.Limit, 10))
		}
	}
	return out
}

func (v *visit) renameOrganization() (view, error) {
	o, err := do[admin.Organization](v, call{op: "admin.organizations.get", path: map[string]string{"org": v.org}})
	if err != nil {
		return view{}, err
	}
	if f := v.overtaken(url.Values{"name": {o.Name}}, edited{name: "name", label: "The name"}); f != nil {
		return v.showOrganization(f)
	}
	return v.changeOrganization("saved", map[string]any{"name": strings.TrimSpace(v.r.PostForm.Get("name"))})
}

func (v *visit) suspendOrganization() (view, error) {
	if typed := strings.TrimSpace(v.r.PostForm.Get("typed")); typed != v.org {
		return v.showOrganization(v.wrong("typed", "Type the name of the organization, "+v.org+", to suspend it."))
	}
	return v.changeOrganization("suspended", map[string]any{"suspended": true})
}

func (v *visit) resumeOrganization() (view, error) {
	return v.changeOrganization("resumed", map[string]any{"suspended": false})
}

func (v *visit) changeOrganization(said string, body map[string]any) (view, error) {
	o, err := do[admin.Organization](v, call{op: "admin.organizations.change", path: map[string]string{"org": v.org}, body: body})
	if f := v.refused(err); f != nil {
		return v.showOrganization(f)
	}
	return view{goTo: pathOf("organizations", o.Name), said: said}, err
}

func (v *visit) deleteOrganization() (view, error) {
	typed := strings.TrimSpace(v.r.PostForm.Get("typed"))
	if typed != v.org {
		return v.showOrganization(v.wrong("typed", "Type the name of the organization, "+v.org+", to delete it."))
	}
	_, err := do[admin.OrganizationDeletion](v, call{op: "admin.organizations.delete", path: map[string]string{"org": v.org},
		query: url.Values{"name": {typed}}})
	if f := v.refused(err); f != nil {
		return v.showOrganization(f)
	}
	return view{goTo: "organizations", said: "deleting"}, err
}

// changeQuotas sets the quotas that the form names; an empty one is unlimited.
func (v *visit) changeQuotas() (view, error) {
	quotas, err := v.quotas()
	if err != nil {
		return view{}, err
	}
	body, fields := map[string]any{}, make([]edited, 0, len(quotas))
	for _, q := range quotas {
		n, ok := count(v.r.PostForm.Get(q.Name))
		if !ok {
			return v.showOrganization(v.wrong(q.Name, "A quota is a whole number, or empty for none."))
		}
		body[q.Name] = n
		fields = append(fields, edited{name: q.Name, label: q.Label})
	}
	if f := v.overtaken(valuesOfQuotas(quotas), fields...); f != nil {
		return v.showOrganization(f)
	}
	_, err = do[usage.Quotas](v, call{op: "admin.quotas.change", path: map[string]string{"org": v.org}, body: body})
	if f := v.refused(err); f != nil {
		return v.showOrganization(f)
	}
	return view{goTo: pathOf("organizations", v.org), said: "saved"}, err
}

// count reads a number as people write it, with spaces; an empty text is 0.
func count(s string) (int64, bool) {
	s = strings.NewReplacer(" ", "", "\u202f", "", "\u00a0", "").Replace(s)
	if s == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0
}

// formOf is a form that may not have been sent.
func formOf(f *form) form {
	if f == nil {
		return form{}
	}
	return *f
}

// value is what p points to, or the zero value.
func value[T any](p *T) (out T) {
	if p != nil {
		out = *p
	}
	return out
}
