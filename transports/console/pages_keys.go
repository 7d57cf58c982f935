package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/fault"
)

// keysModel lists the keys of an organization.
type keysModel struct {
	Keys    []admin.Key
	Next    string
	First   bool
	CanMake bool
	CanOwn  bool // keys of kind admin are the reader's to make, too
	Form    form
}

func (v *visit) keys() (view, error) { return v.showKeys(nil) }

func (v *visit) showKeys(f *form) (view, error) {
	q := v.r.URL.Query()
	m := keysModel{First: q.Get("cursor") == "", CanMake: !v.caller.ReadOnly, CanOwn: v.owns(), Form: formOf(f)}
	list, err := do[admin.Keys](v, call{op: "admin.keys.list", path: map[string]string{"org": v.org}, query: asked(q, "cursor")})
	m.Keys, m.Next = list.Keys, value(list.NextCursor)
	return showForm(f, view{title: "Keys", template: "keys", section: "keys", model: m}, err)
}

// secretModel shows the secret of a new key, once.
type secretModel struct {
	admin.IssuedKey
	Back string
	Old  *time.Time // when the key before it ends
}

func (v *visit) reveal(k admin.IssuedKey, section, back string, old *time.Time) view {
	v.made = v.made[len(v.made):] // a repeat would make another
	return view{title: "A new key", template: "secret", section: section, trail: []crumb{{"Keys", pathOf("o", v.org, "keys")}},
		model: secretModel{k, back, old}}
}

// expiry is when a key ends that is made for so many days; nil: never.
func expiry(days string) *time.Time {
	n, err := strconv.Atoi(days)
	if err != nil || n <= 0 || n > 3660 {
		return nil
	}
	return new(time.Now().UTC().AddDate(0, 0, n).Truncate(time.Second))
}

func (v *visit) makeKey() (view, error) {
	f := v.r.PostForm
	body := map[string]any{"kind": f.Get("kind"), "name": strings.TrimSpace(f.Get("name"))}
	if f.Get("read_only") != "" {
		body["read_only"] = true
	}
	if n := strings.TrimSpace(f.Get("namespace")); n != "" {
		body["namespace"] = n
	}
	if at := expiry(f.Get("days")); at != nil {
		body["expires_at"] = at
	}
	k, err := do[admin.IssuedKey](v, call{op: "admin.keys.create", path: map[string]string{"org": v.org}, body: body})
	if f := v.refused(err); f != nil {
		return v.showKeys(f)
	}
	if err != nil {
		return view{}, err
	}
	return v.reveal(k, "keys", pathOf("o", v.org, "keys"), nil), nil
}

// keyModel shows one key.
type keyModel struct {
	admin.Key
	Form    *form
	Edit    form
	Limits  []limit
	Mine    bool // the visitor signed in with it
	CanEdit bool
}

// limit is a key's own limit of a class of calls; "": it has none.
type limit struct{ Class, Label, PerMinute string }

// limitsOf are the limits that a key of its kind may have.
func limitsOf(k admin.Key) []limit {
	classes := []limit{{"read", "Reads a minute", ""}, {"write", "Writes a minute", ""}, {"rerank", "Reranking a minute", ""}}
	switch k.Kind {
	case "admin":
		classes = []limit{{"admin", "Calls a minute", ""}}
	case "integration", "personal":
		classes = []limit{{"memory_read", "Reads a minute", ""}, {"memory_write", "Writes a minute", ""},
			{"recall", "Recalls a minute", ""}}
	case "team", "organization":
		return nil
	}
	for i, c := range classes {
		if r, ok := k.Limits[c.Class]; ok {
			classes[i].PerMinute = strconv.Itoa(r.PerMinute)
		}
	}
	return classes
}

func (v *visit) key() (view, error) { return v.showKey(nil) }

func (v *visit) keyAt() map[string]string {
	return map[string]string{"org": v.org, "id": v.r.PathValue("id")}
}

func (v *visit) showKey(f *form) (view, error) {
	k, err := do[admin.Key](v, call{op: "admin.keys.get", path: v.keyAt()})
	if err != nil {
		return view{}, err
	}
	m := keyModel{Key: k, Form: f, Limits: limitsOf(k), Mine: k.ID == v.caller.KeyID,
		CanEdit: !v.caller.ReadOnly && k.RevokedAt == nil && (k.Kind != "admin" || v.owns())}
	m.Edit = f.Over(filled("change", valuesOfKey(k)))
	title := "Key " + k.Name
	if k.Name == "" {
		title = "Key " + k.ID
	}
	return showForm(f, view{title: title, template: "key", section: "keys", model: m,
		trail: []crumb{{"Keys", pathOf("o", v.org, "keys")}}}, nil)
}

// valuesOfKey are what the form that changes a key is shown with.
func valuesOfKey(k admin.Key) url.Values {
	out := url.Values{"name": {k.Name}, "default_namespace": {value(k.DefaultNamespace)}}
	if k.ReadOnly {
		out.Set("read_only", "1")
	}
	for _, l := range limitsOf(k) {
		out.Set(l.Class, l.PerMinute)
	}
	return out
}

func (v *visit) changeKey() (view, error) {
	k, err := do[admin.Key](v, call{op: "admin.keys.get", path: v.keyAt()})
	if err != nil {
		return view{}, err
	}
	fields := []edited{{name: "name", label: "The name"}, {name: "default_namespace", label: "The default namespace"},
		{name: "read_only", label: "“It may only read”", tick: true}}
	for _, l := range limitsOf(k) {
		fields = append(fields, edited{name: l.Class, label: l.Label})
	}
	if f := v.overtaken(valuesOfKey(k), fields...); f != nil {
		return v.showKey(f)
	}
	f := v.r.PostForm
	body := map[string]any{"name": strings.TrimSpace(f.Get("name"))}
	if k.Kind == "service" || k.Kind == "admin" {
		body["read_only"] = f.Get("read_only") != ""
	}
	if k.Kind == "service" {
		body["default_namespace"] = strings.TrimSpace(f.Get("default_namespace"))
	}
	limits := map[string]any{}
	for _, l := range limitsOf(k) {
		n, ok := count(f.Get(l.Class))
		if !ok {
			return v.showKey(v.wrong(l.Class, "A limit is a whole number of calls a minute; 0 is unlimited, empty is that "+
				"of the server."))
		}
		if strings.TrimSpace(f.Get(l.Class)) != "" {
			own := map[string]any{"per_minute": n}
			if had := k.Limits[l.Class]; had.Burst > 0 {
				own["burst"] = had.Burst
			}
			limits[l.Class] = own
		}
	}
	if len(limits) > 0 || len(k.Limits) > 0 {
		body["limits"] = limits
	}
	_, err = do[admin.Key](v, call{op: "admin.keys.change", path: v.keyAt(), body: body})
	if f := v.refused(err); f != nil {
		return v.showKey(f)
	}
	return view{goTo: pathOf("o", v.org, "keys", v.r.PathValue("id")), said: "saved"}, err
}

func (v *visit) rotateKey() (view, error) {
	seconds, err := strconv.ParseInt(v.r.PostForm.Get("overlap"), 10, 64)
	if err != nil {
		return v.showKey(v.wrong("overlap", "Choose for how long the old key goes on working."))
	}
	k, err := do[admin.IssuedKey](v, call{op: "admin.keys.rotate", path: v.keyAt(),
		body: map[string]any{"overlap_seconds": seconds}})
	if f := v.refused(err); f != nil {
		return v.showKey(f)
	}
	if err != nil {
		return view{}, err
	}
	return v.reveal(k, "keys", pathOf("o", v.org, "keys", k.ID), new(time.Now().Add(time.Duration(seconds)*time.Second))), nil
}

func (v *visit) revokeKey() (view, error) {
	k, err := do[admin.Key](v, call{op: "admin.keys.get", path: v.keyAt()})
	if err != nil {
		return view{}, err
	}
	if strings.TrimSpace(v.r.PostForm.Get("typed")) != k.LastFour {
		return v.showKey(v.wrong("typed", "Type the last four characters of the key, "+k.LastFour+", to revoke it."))
	}
	_, err = do[admin.Revoked](v, call{op: "admin.keys.revoke", path: v.keyAt()})
	return view{goTo: pathOf("o", v.org, "keys", k.ID), said: "revoked"}, err
}

// integrationsModel lists the integrations of an organization.
type integrationsModel struct {
	Integrations []admin.Integration
	Next         string
	First        bool
	CanMake      bool
	Form         form
}

func (v *visit) integrations() (view, error) { return v.showIntegrations(nil) }

func (v *visit) showIntegrations(f *form) (view, error) {
	q := v.r.URL.Query()
	m := integrationsModel{First: q.Get("cursor") == "", CanMake: !v.caller.ReadOnly, Form: formOf(f)}
	list, err := do[admin.Integrations](v, call{op: "admin.integrations.list", path: map[string]string{"org": v.org},
		query: asked(q, "cursor")})
	m.Integrations, m.Next = list.Integrations, value(list.NextCursor)
	return showForm(f, view{title: "Integrations", template: "integrations", section: "integrations", model: m}, err)
}

func (v *visit) makeIntegration() (view, error) {
	name := strings.TrimSpace(v.r.PostForm.Get("name"))
	_, err := do[admin.Integration](v, call{op: "admin.integrations.create", path: map[string]string{"org": v.org},
		body: map[string]any{"name": name}})
	if f := v.refused(err); f != nil {
		return v.showIntegrations(f)
	}
	return view{goTo: pathOf("o", v.org, "integrations", name), said: "made"}, err
}

// integrationModel shows one integration with its keys.
type integrationModel struct {
	admin.Integration
	Keys    []admin.Key
	Next    string
	First   bool
	Edit    form
	Make    form
	CanEdit bool
}

func (v *visit) integration() (view, error) { return v.showIntegration(nil) }

func (v *visit) integrationAt() map[string]string {
	return map[string]string{"org": v.org, "integration": v.r.PathValue("integration")}
}

func (v *visit) showIntegration(f *form) (view, error) {
	m := integrationModel{First: v.r.URL.Query().Get("cursor") == "", CanEdit: !v.caller.ReadOnly}
	var err error
	if m.Integration, err = do[admin.Integration](v, call{op: "admin.integrations.get", path: v.integrationAt()}); err != nil {
		return view{}, err
	}
	list, err := do[admin.Keys](v, call{op: "admin.integrations.keys.list", path: v.integrationAt(),
		query: asked(v.r.URL.Query(), "cursor")})
	if err != nil {
		return view{}, err
	}
	m.Keys, m.Next = list.Keys, value(list.NextCursor)
	m.Edit = f.Over(filled("change", valuesOfIntegration(m.Integration)))
	m.Make = f.Over(filled("make", url.Values{"scopes": {"memories:read", "memories:write"}}))
	return showForm(f, view{title: "Integration " + m.Name, template: "integration", section: "integrations", model: m,
		trail: []crumb{{"Integrations", pathOf("o", v.org, "integrations")}}}, nil)
}

// Scopes are the rights that a key of an integration may have, with what they are.
func (integrationModel) Scopes() [][2]string {
	return [][2]string{{"memories:read", "Search and read memories"}, {"memories:write", "Save and change memories"},
		{"recall:read", "Ask for answers (recall)"}, {"users:erase", "Erase end users"}, {"status:read", "Ask how it is"}}
}

// valuesOfIntegration are what the form that changes an integration is shown with.
func valuesOfIntegration(i admin.Integration) url.Values {
	unlimited := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	out := url.Values{"name": {i.Name}, "memories": {unlimited(i.Quotas.MemoriesPerEndUser)},
		"reads": {unlimited(i.Quotas.ReadRatePerMin)}, "writes": {unlimited(i.Quotas.WriteRatePerMin)}}
	if i.GrantsRequired {
		out.Set("grants", "1")
	}
	return out
}

func (v *visit) changeIntegration() (view, error) {
	known, err := do[admin.Integration](v, call{op: "admin.integrations.get", path: v.integrationAt()})
	if err != nil {
		return view{}, err
	}
	if f := v.overtaken(valuesOfIntegration(known), edited{name: "name", label: "The name"},
		edited{name: "memories", label: "Memories of an end user"}, edited{name: "reads", label: "Reads a minute"},
		edited{name: "writes", label: "Memories written a minute"},
		edited{name: "grants", label: "“Sources need a grant”", tick: true}); f != nil {
		return v.showIntegration(f)
	}
	f := v.r.PostForm
	quotas := map[string]any{}
	for field, name := range map[string]string{"memories": "memories_per_end_user", "reads": "read_rate_per_min",
		"writes": "write_rate_per_min"} {
		n, ok := count(f.Get(field))
		if !ok {
			return v.showIntegration(v.wrong(field, "A quota is a whole number, or empty for none."))
		}
		quotas[name] = n
	}
	i, err := do[admin.Integration](v, call{op: "admin.integrations.change", path: v.integrationAt(),
		body: map[string]any{"name": strings.TrimSpace(f.Get("name")), "quotas": quotas,
			"grants_required": f.Get("grants") != ""}})
	if f := v.refused(err); f != nil {
		return v.showIntegration(f)
	}
	return view{goTo: pathOf("o", v.org, "integrations", i.Name), said: "saved"}, err
}

func (v *visit) makeIntegrationKey() (view, error) {
	f := v.r.PostForm
	body := map[string]any{"kind": f.Get("kind"), "name": strings.TrimSpace(f.Get("name"))}
	if f.Get("kind") == "personal" {
		body["end_user_id"] = strings.TrimSpace(f.Get("end_user_id"))
	} else {
		if len(f["scopes"]) == 0 {
			return v.showIntegration(v.wrong("scopes", "Tick at least one right."))
		}
		body["scopes"] = slices.Clone(f["scopes"])
	}
	if at := expiry(f.Get("days")); at != nil {
		body["expires_at"] = at
	}
	k, err := do[admin.IssuedKey](v, call{op: "admin.integrations.keys.create", path: v.integrationAt(), body: body})
	if f := v.refused(err); f != nil {
		return v.showIntegration(f)
	}
	if err != nil {
		return view{}, err
	}
	return v.reveal(k, "integrations", pathOf("o", v.org, "integrations", v.r.PathValue("integration")), nil), nil
}

// tooFar reports whether a failure is that what was asked for is not there.
func tooFar(err error) bool { return fault.Status(fault.CodeOf(err)) == http.StatusNotFound }
