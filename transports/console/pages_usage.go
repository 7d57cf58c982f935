package console

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/usage"
)

// usageModel shows what was done in some days, and what is kept.
type usageModel struct {
	Form     form
	Measure  measure
	Measures []measure
	Days     []bar // oldest first
	Most     int64
	Total    int64
	Rows     []usageRow // by namespace or integration and key
	More     bool
	Kept     []usage.Kept
	Quotas   []quota
	CSV      string
	Names    map[string]string // of keys and integrations, by id
}

// measure is something that is counted.
type measure struct {
	Name, Label string
	of          func(usage.Row) int64
}

func measures() []measure {
	return []measure{
		{"requests", "Requests", func(r usage.Row) int64 { return r.Requests }},
		{"documents", "Documents written", func(r usage.Row) int64 { return r.Documents }},
		{"chunks", "Chunks written", func(r usage.Row) int64 { return r.Chunks }},
		{"tokens_embedded", "Tokens embedded", func(r usage.Row) int64 { return r.TokensEmbedded }},
		{"pairs_reranked", "Texts reranked", func(r usage.Row) int64 { return r.PairsReranked }},
		{"recalls", "Recalls", func(r usage.Row) int64 { return r.Recalls }},
	}
}

// bar is a day of the chart.
type bar struct {
	Day    time.Time
	Count  int64
	X      int // from the left, in units of the drawing
	Height int // of 100
	Width  int
}

// Y is where the bar begins, from the top.
func (b bar) Y() int { return 100 - b.Height }

// usageRow is what was done on one account.
type usageRow struct {
	usage.Row
	Count int64
	Share int // of the whole, in percent
}

// chartWidth is how wide the drawing is, in its own units.
const chartWidth = 900

func (v *visit) usage() (view, error) {
	q := v.r.URL.Query()
	chosen := url.Values{"days": {cmp.Or(q.Get("days"), "30")}, "measure": {cmp.Or(q.Get("measure"), "requests")}}
	m := usageModel{Form: filled("", chosen), Measures: measures(), Names: map[string]string{}}
	m.Measure = m.Measures[0]
	for _, x := range m.Measures {
		if x.Name == m.Form.Get("measure") {
			m.Measure = x
		}
	}
	days := map[string]int{"7": 7, "30": 30, "90": 90}[m.Form.Get("days")]
	if days == 0 {
		days = 30
	}
	today := time.Now().UTC().Truncate(24 * time.Hour)
	from := today.AddDate(0, 0, 1-days)
	asked := url.Values{"organization": {v.org}, "from": {from.Format(time.RFC3339)}}
	m.CSV = carried(url.Values{"days": {m.Form.Get("days")}}, "days")
	perDay, err := v.usageRows(asked, "day")
	if err != nil {
		return view{}, err
	}
	m.draw(perDay, from, days)
	totals, err := v.usageRows(asked, "total")
	if err != nil {
		return view{}, err
	}
	for _, r := range totals {
		m.Rows = append(m.Rows, usageRow{Row: r, Count: m.Measure.of(r), Share: percent(m.Measure.of(r), m.Total)})
	}
	slices.SortStableFunc(m.Rows, func(a, b usageRow) int { return cmp.Compare(b.Count, a.Count) })
	if m.More = len(m.Rows) > 50; m.More {
		m.Rows = m.Rows[:50]
	}
	kept, err := do[usage.AllKept](v, call{op: "admin.usage.bytes", query: url.Values{"organization": {v.org}, "limit": {rows}}})
	if err != nil {
		return view{}, err
	}
	m.Kept = kept.Kept
	slices.SortStableFunc(m.Kept, func(a, b usage.Kept) int { return cmp.Compare(b.Bytes, a.Bytes) })
	if m.Quotas, err = v.quotas(); err != nil {
		return view{}, err
	}
	if err := v.usageNames(m.Names); err != nil {
		return view{}, err
	}
	return view{title: "Usage", template: "usage", section: "usage", model: m}, nil
}

// usageRows are all rows of some time, up to as many as a chart can tell of.
func (v *visit) usageRows(asked url.Values, by string) ([]usage.Row, error) {
	var out []usage.Row
	cursor := ""
	for range 10 {
		q := url.Values{"by": {by}, "limit": {"1000"}}
		for k, x := range asked {
			q[k] = x
		}
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		made := len(v.made)
		list, err := do[usage.Rows](v, call{op: "admin.usage.list", query: q})
		if err != nil {
			return nil, err
		}
		if cursor != "" {
			v.made = v.made[:made] // one page is enough of an example
		}
		out = append(out, list.Usage...)
		if cursor = value(list.NextCursor); cursor == "" {
			break
		}
	}
	return out, nil
}

// draw makes the bars of the chart.
func (m *usageModel) draw(all []usage.Row, from time.Time, days int) {
	counts := make([]int64, days)
	for _, r := range all {
		if r.From == nil {
			continue
		}
		if at := int(r.From.Sub(from) / (24 * time.Hour)); at >= 0 && at < days {
			counts[at] += m.Measure.of(r)
		}
	}
	m.Most = slices.Max(counts)
	step := chartWidth / days
	for i, n := range counts {
		b := bar{Day: from.AddDate(0, 0, i), Count: n, X: i * step, Width: max(step-max(step/5, 1), 1)}
		if m.Most > 0 && n > 0 {
			b.Height = max(int(math.Round(100*float64(n)/float64(m.Most))), 1)
		}
		m.Total += n
		m.Days = append(m.Days, b)
	}
}

// usageNames finds what people call the keys and integrations.
func (v *visit) usageNames(names map[string]string) error {
	at := map[string]string{"org": v.org}
	made := len(v.made)
	defer func() { v.made = v.made[:made] }() // they are no part of what the page shows
	ks, _, err := optional[admin.Keys](v, call{op: "admin.keys.list", path: at, query: url.Values{"limit": {"1000"}}})
	if err != nil {
		return err
	}
	for _, k := range ks.Keys {
		names[k.ID] = k.Name
	}
	is, _, err := optional[admin.Integrations](v, call{op: "admin.integrations.list", path: at,
		query: url.Values{"limit": {"1000"}}})
	for _, i := range is.Integrations {
		names[i.ID] = i.Name
	}
	return err
}

// Knows reports whether a key is one that the visitor may see.
func (m usageModel) Knows(id *string) bool {
	_, ok := m.Names[value(id)]
	return ok
}

// NameOf is what people call a key or an integration, or its id.
func (m usageModel) NameOf(id *string) string {
	if id == nil {
		return "the server itself"
	}
	return cmp.Or(strings.TrimSpace(m.Names[*id]), *id)
}

// usageCSV sends usage by day as a file.
func (v *visit) usageCSV() (view, error) {
	days := map[string]int{"7": 7, "30": 30, "90": 90}[v.r.URL.Query().Get("days")]
	if days == 0 {
		days = 30
	}
	from := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-days)
	x, err := do[op.Streamer](v, call{op: "admin.usage.export_csv", query: url.Values{"organization": {v.org}, "by": {"day"},
		"from": {from.Format(time.RFC3339)}}})
	return view{file: x, name: fileName(".csv", "mneme-usage", v.org)}, err
}

// settings shows the configuration of the server.
func (v *visit) settings() (view, error) {
	s, err := do[admin.Configuration](v, call{op: "admin.settings.get"})
	return view{title: "Settings", template: "settings", section: "settings", model: s}, err
}
