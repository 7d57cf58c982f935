package modelkit

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/mnemehq/mneme/plugins/kit"
)

// Format is a rendering of reports.
type Format = kit.Format

// The formats.
const (
	Text  = kit.Text
	JSON  = kit.JSON
	JUnit = kit.JUnit
)

// Write renders reports, one after another, as one document.
func Write(w io.Writer, f Format, reports ...Report) error {
	switch f {
	case Text:
		for _, r := range reports {
			if err := kit.WriteText(w, r.rendered()); err != nil {
				return err
			}
		}
		return nil
	case JSON:
		return kit.WriteJSON(w, reports)
	case JUnit:
		all := make([]kit.Report, len(reports))
		for i, r := range reports {
			all[i] = r.rendered()
		}
		return kit.WriteJUnit(w, "mneme models check", all)
	}
	return f.Unknown()
}

// rendered is the report as it is written.
func (r Report) rendered() kit.Report {
	m := r.Model
	out := kit.Report{Name: cmp.Or(m.ID, m.Name, "model"), Findings: r.Findings, Started: r.Started, Took: r.Took,
		Properties: [][2]string{{"digest", m.Digest}, {"version", m.Version}, {"licence", m.Licence}, {"runtime", m.Runtime}}}
	if m.Name != "" || m.ID != "" {
		out.About = []string{m.about()}
	}
	for _, s := range r.Speed {
		out.Properties = append(out.Properties, [2]string{"speed." + string(s.Task), s.String()})
		out.Notes = append(out.Notes, "speed "+s.String())
	}
	return out
}

// about is a line on the model.
func (m Subject) about() string {
	var tasks []string
	for _, t := range m.Tasks {
		tasks = append(tasks, string(t))
	}
	about := []string{strings.TrimSpace(cmp.Or(m.Name, m.ID) + " " + m.Version), strings.Join(tasks, " and ")}
	if algorithm, sum, ok := strings.Cut(m.Digest, ":"); ok {
		about = append(about, algorithm+":"+sum[:min(12, len(sum))])
	}
	if m.Dimensions > 0 {
		about = append(about, kit.Pluralize(m.Dimensions, "dimension"))
	}
	if m.MaxTokens > 0 {
		about = append(about, fmt.Sprintf("window of %d tokens", m.MaxTokens))
	}
	about = append(about, m.Runtime, "licence "+cmp.Or(m.Licence, "not stated"))
	return strings.Join(about, ", ")
}
