package console

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/webhook"
)

// webhooksModel lists the endpoints that an organization's events are sent to.
type webhooksModel struct {
	Webhooks []webhook.Webhook
	Kinds    []event.KindInfo
	Form     form
	CanEdit  bool
	Off      string
}

func (v *visit) webhooks() (view, error) { return v.showWebhooks(nil) }

func (v *visit) showWebhooks(f *form) (view, error) {
	m := webhooksModel{CanEdit: !v.caller.ReadOnly, Form: formOf(f)}
	list, why, err := optional[webhook.Webhooks](v, call{op: "admin.webhooks.list", path: map[string]string{"org": v.org}})
	if err != nil {
		return view{}, err
	}
	m.Webhooks, m.Off = list.Webhooks, sentence(why)
	if m.CanEdit && m.Off == "" {
		if m.Kinds, err = v.eventKinds(); err != nil {
			return view{}, err
		}
	}
	return showForm(f, view{title: "Webhooks", template: "webhooks", section: "webhooks", model: m}, nil)
}

// eventKinds are the kinds of events that can be sent, by name.
func (v *visit) eventKinds() ([]event.KindInfo, error) {
	list, _, err := optional[event.KindList](v, call{op: "event_kinds.list"})
	slices.SortFunc(list.Kinds, func(a, b event.KindInfo) int { return cmp.Compare(a.Name, b.Name) })
	return list.Kinds, err
}

// webhookSettings are what the forms of a webhook say of it.
func webhookSettings(f url.Values) map[string]any {
	kinds := slices.Clone(f["kinds"])
	if kinds == nil {
		kinds = []string{}
	}
	return map[string]any{"url": strings.TrimSpace(f.Get("url")), "description": strings.TrimSpace(f.Get("description")),
		"kinds": kinds}
}

func (v *visit) makeWebhook() (view, error) {
	body := webhookSettings(v.r.PostForm)
	body["signature"] = cmp.Or(v.r.PostForm.Get("signature"), "v1")
	made, err := do[webhook.Made](v, call{op: "admin.webhooks.create", path: map[string]string{"org": v.org}, body: body})
	if f := v.refused(err); f != nil {
		return v.showWebhooks(f)
	}
	if err != nil {
		return view{}, err
	}
	return v.revealSigning(made, "A new webhook"), nil
}

// revealSigning shows what a receiver checks signatures with; a shared secret is shown this once.
func (v *visit) revealSigning(made webhook.Made, title string) view {
	v.made = v.made[len(v.made):] // a repeat would make another
	return view{title: title, template: "signing", section: "webhooks",
		trail: []crumb{{"Webhooks", pathOf("o", v.org, "webhooks")}}, model: made}
}

// webhookModel shows an endpoint with what was sent to it.
type webhookModel struct {
	webhook.Webhook
	Deliveries []webhook.Delivery
	Status     form // by which they are filtered
	Next       string
	First      bool
	Waiting    bool // a delivery is about to be tried
	AllKinds   []event.KindInfo
	Edit       form
	Form       *form
	Tested     *webhook.Tested
	CanEdit    bool
}

// Host is what has to be typed to delete it.
func (m webhookModel) Host() string { return hostOf(m.URL) }

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Host
}

func (v *visit) webhook() (view, error) { return v.showWebhook(nil, nil) }

func (v *visit) webhookAt() map[string]string {
	return map[string]string{"org": v.org, "id": v.r.PathValue("id"), "delivery_id": v.r.PathValue("delivery")}
}

func (v *visit) webhookPage() string { return pathOf("o", v.org, "webhooks", v.r.PathValue("id")) }

func (v *visit) showWebhook(f *form, tested *webhook.Tested) (view, error) {
	q := v.r.URL.Query()
	m := webhookModel{First: q.Get("cursor") == "", Status: filled("", q), Form: f, Tested: tested, CanEdit: !v.caller.ReadOnly}
	var err error
	if m.Webhook, err = do[webhook.Webhook](v, call{op: "admin.webhooks.get", path: v.webhookAt()}); err != nil {
		return view{}, err
	}
	list, err := do[webhook.Deliveries](v, call{op: "admin.webhooks.deliveries.list", path: v.webhookAt(),
		query: asked(q, "status", "cursor")})
	if err != nil {
		return view{}, err
	}
	m.Deliveries, m.Next = list.Deliveries, value(list.NextCursor)
	m.Waiting = slices.ContainsFunc(m.Deliveries, func(d webhook.Delivery) bool { return d.Status == "pending" })
	if m.CanEdit {
		if m.AllKinds, err = v.eventKinds(); err != nil {
			return view{}, err
		}
	}
	m.Edit = f.Over(filled("change", valuesOfWebhook(m.Webhook)))
	return showForm(f, view{title: "Webhook to " + short(m.Host(), 60) + " " + m.ID, template: "webhook",
		section: "webhooks", model: m,
		trail: []crumb{{"Webhooks", pathOf("o", v.org, "webhooks")}}}, nil)
}

// valuesOfWebhook are what the form that changes a webhook is shown with.
func valuesOfWebhook(w webhook.Webhook) url.Values {
	return url.Values{"url": {w.URL}, "description": {w.Description}, "kinds": w.Kinds}
}

func (v *visit) changeWebhook() (view, error) {
	w, err := do[webhook.Webhook](v, call{op: "admin.webhooks.get", path: v.webhookAt()})
	if err != nil {
		return view{}, err
	}
	if f := v.overtaken(valuesOfWebhook(w), edited{name: "url", label: "The address"},
		edited{name: "description", label: "The description"}, edited{name: "kinds", label: "The kinds of events"}); f != nil {
		return v.showWebhook(f, nil)
	}
	return v.putWebhook(webhookSettings(v.r.PostForm), "saved")
}
func (v *visit) enableWebhook() (view, error) {
	return v.putWebhook(map[string]any{"enabled": true}, "sending")
}
func (v *visit) disableWebhook() (view, error) {
	return v.putWebhook(map[string]any{"enabled": false}, "silent")
}

func (v *visit) putWebhook(body map[string]any, said string) (view, error) {
	_, err := do[webhook.Webhook](v, call{op: "admin.webhooks.change", path: v.webhookAt(), body: body})
	if f := v.refused(err); f != nil {
		return v.showWebhook(f, nil)
	}
	return view{goTo: v.webhookPage(), said: said}, err
}

// testWebhook shows what came back: no page holds it later, since a test counts for nothing.
func (v *visit) testWebhook() (view, error) {
	t, err := do[webhook.Tested](v, call{op: "admin.webhooks.test", path: v.webhookAt()})
	if err != nil {
		return view{}, err
	}
	return v.showWebhook(nil, &t)
}

func (v *visit) rotateWebhook() (view, error) {
	made, err := do[webhook.Made](v, call{op: "admin.webhooks.rotate", path: v.webhookAt(),
		body: map[string]any{"overlap": v.r.PostForm.Get("overlap"), "force": v.r.PostForm.Get("force") != ""}})
	if f := v.refused(err); f != nil {
		return v.showWebhook(f, nil)
	}
	if err != nil {
		return view{}, err
	}
	return v.revealSigning(made, "A new secret"), nil
}

func (v *visit) recoverWebhook() (view, error) {
	back, err := time.ParseDuration(v.r.PostForm.Get("since"))
	if err != nil || back <= 0 {
		return v.showWebhook(v.wrong("since", "Choose since when."), nil)
	}
	out, err := do[webhook.Recovered](v, call{op: "admin.webhooks.recover", path: v.webhookAt(),
		body: map[string]any{"since": time.Now().UTC().Add(-back).Truncate(time.Second)}})
	if f := v.refused(err); f != nil {
		return v.showWebhook(f, nil)
	}
	said := "recovering"
	switch {
	case out.More:
		said = "more"
	case out.Deliveries == 0:
		said = "complete"
	}
	return view{goTo: v.webhookPage(), said: said}, err
}

func (v *visit) deleteWebhook() (view, error) {
	list := pathOf("o", v.org, "webhooks")
	w, err := do[webhook.Webhook](v, call{op: "admin.webhooks.get", path: v.webhookAt()})
	if tooFar(err) { // it was sent twice
		return view{goTo: list, said: "deleted"}, nil
	}
	if err != nil {
		return view{}, err
	}
	if host := hostOf(w.URL); strings.TrimSpace(v.r.PostForm.Get("typed")) != host {
		return v.showWebhook(v.wrong("typed", "Type the host, "+host+", to delete the webhook."), nil)
	}
	_, err = do[webhook.Deleted](v, call{op: "admin.webhooks.delete", path: v.webhookAt()})
	return view{goTo: list, said: "deleted"}, err
}

// deliveryModel shows what came of sending one event.
type deliveryModel struct {
	webhook.Delivery
	Form    *form
	CanEdit bool
}

func (v *visit) delivery() (view, error) { return v.showDelivery(nil) }

func (v *visit) showDelivery(f *form) (view, error) {
	w, err := do[webhook.Webhook](v, call{op: "admin.webhooks.get", path: v.webhookAt()})
	if err != nil {
		return view{}, err
	}
	d, err := do[webhook.Delivery](v, call{op: "admin.webhooks.deliveries.get", path: v.webhookAt()})
	return showForm(f, view{title: "Delivery " + d.ID, template: "delivery", section: "webhooks",
		model: deliveryModel{d, f, !v.caller.ReadOnly}, trail: []crumb{{"Webhooks", pathOf("o", v.org, "webhooks")},
			{short(hostOf(w.URL), 60), v.webhookPage()}}}, err)
}

func (v *visit) redeliver() (view, error) {
	d, err := do[webhook.Delivery](v, call{op: "admin.webhooks.deliveries.redeliver", path: v.webhookAt()})
	if f := v.refused(err); f != nil {
		return v.showDelivery(f)
	}
	return view{goTo: v.webhookPage() + pathOf("", "deliveries", d.ID), said: "again"}, err
}

// needsOfWebhooks looks for endpoints that do not get their events.
func (v *visit) needsOfWebhooks(m *overviewModel) error {
	list, why, err := optional[webhook.Webhooks](v, call{op: "admin.webhooks.list", path: map[string]string{"org": v.org}})
	m.say(why)
	for _, w := range list.Webhooks {
		text := ""
		switch {
		case w.State == "disabled" && value(w.Reason) == "gone":
			text = "is disabled: its endpoint answered that it is gone."
		case w.State == "disabled" && w.Reason != nil:
			text = "is disabled: it took nothing for days."
		case w.State == "failing":
			text = "fails."
		case w.State == "secret_unavailable":
			text = "sends nothing: the server cannot read its secrets."
		}
		if text != "" {
			m.Needs = append(m.Needs, need{"The webhook to " + short(hostOf(w.URL), 60) + " " + text,
				pathOf("o", v.org, "webhooks", w.ID), "See the webhook"})
		}
	}
	return err
}
