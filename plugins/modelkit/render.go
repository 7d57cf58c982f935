package modelkit

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Format is a rendering of reports.
type Format string

// The formats.
const (
	Text  Format = "text"
	JSON  Format = "json"
	JUnit Format = "junit"
)

// Write renders reports, one after another, as one document.
func Write(w io.Writer, f Format, reports ...Report) error {
	switch f {
	case Text:
		for _, r := range reports {
			if err := r.text(w); err != nil {
				return err
			}
		}
		return nil
	case JSON:
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			Reports []Report `json:"reports"`
		}{reports})
	case JUnit:
		return junit(w, reports)
	}
	return fmt.Errorf("format %q is not known; text, json and junit are", f)
}

// text is a line for each finding and a summary.
func (r Report) text(w io.Writer) error {
	var b strings.Builder
	m := r.Model
	if m.Name != "" || m.ID != "" {
		var tasks []string
		for _, t := range m.Tasks {
			tasks = append(tasks, string(t))
		}
		about := []string{strings.TrimSpace(cmp.Or(m.Name, m.ID) + " " + m.Version), strings.Join(tasks, " and ")}
		if algorithm, sum, ok := strings.Cut(m.Digest, ":"); ok {
			about = append(about, algorithm+":"+sum[:min(12, len(sum))])
		}
		if m.Dimensions > 0 {
			about = append(about, pluralize(m.Dimensions, "dimension"))
		}
		if m.MaxTokens > 0 {
			about = append(about, fmt.Sprintf("window of %d tokens", m.MaxTokens))
		}
		about = append(about, m.Runtime, "licence "+cmp.Or(m.Licence, "not stated"))
		fmt.Fprintln(&b, strings.Join(about, ", "))
	}
	for _, f := range r.Findings {
		switch f.Outcome {
		case Passed:
			fmt.Fprintf(&b, "ok    %s: %s\n", f.ID, f.Expect)
		case Skipped:
			fmt.Fprintf(&b, "skip  %s: %s; %s\n", f.ID, f.Expect, line(f.Saw))
		default:
			fmt.Fprintf(&b, "FAIL  %s: %s; saw %s\n", f.ID, f.Expect, line(f.Saw))
		}
	}
	for _, s := range r.Speed {
		fmt.Fprintf(&b, "speed %s\n", s)
	}
	fmt.Fprintf(&b, "%d of %s failed, %d skipped, in %s\n", r.Failed(), pluralize(len(r.Findings), "check"), r.Skipped(),
		r.Took.Round(100*time.Millisecond))
	_, err := io.WriteString(w, b.String())
	return err
}

// line is what a model said on one line of bounded length, without what could
// steer a terminal.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	const most = 400
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "..."
	}
	return s
}

// The form that CI servers read: testsuites, testsuite, testcase.
type (
	junitSuites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Suites   []junitSuite
	}
	junitSuite struct {
		XMLName    xml.Name        `xml:"testsuite"`
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		XMLName xml.Name      `xml:"testcase"`
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

func junit(w io.Writer, reports []Report) error {
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
	all := junitSuites{Name: "mneme models check"}
	for _, r := range reports {
		name := cmp.Or(r.Model.ID, r.Model.Name, "model")
		s := junitSuite{Name: name, Tests: len(r.Findings), Failures: r.Failed(), Skipped: r.Skipped(), Time: seconds(r.Took),
			Timestamp: r.Started.UTC().Format(time.RFC3339),
			Properties: []junitProperty{{"digest", r.Model.Digest}, {"version", r.Model.Version},
				{"licence", r.Model.Licence}, {"runtime", r.Model.Runtime}}}
		for _, speed := range r.Speed {
			s.Properties = append(s.Properties, junitProperty{"speed." + string(speed.Task), speed.String()})
		}
		for _, f := range r.Findings {
			c := junitCase{Class: name, Name: f.ID, Time: seconds(f.Took)}
			switch f.Outcome {
			case Failed:
				c.Failure = &junitMessage{f.Expect, "saw " + line(f.Saw)}
			case Skipped:
				c.Skipped = &junitMessage{Message: line(f.Saw)}
			}
			s.Cases = append(s.Cases, c)
		}
		all.Tests, all.Failures, all.Suites = all.Tests+s.Tests, all.Failures+s.Failures, append(all.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
