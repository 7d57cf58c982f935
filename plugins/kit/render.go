package kit

import (
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

// Formats are all formats.
func Formats() []Format { return []Format{Text, JSON, JUnit} }

// Unknown is the error of a format that there is not.
func (f Format) Unknown() error {
	return fmt.Errorf("format %q is not known; text, json and junit are", f)
}

// Report is what a kit found of one subject.
type Report struct {
	Name       string      // of the subject
	About      []string    // lines for people before the findings; may be empty
	Properties [][2]string // of the subject, by names
	Findings   []Finding
	Notes      []string // lines for people behind the findings
	Started    time.Time
	Took       time.Duration
}

// WriteText writes a line for each finding and a summary.
func WriteText(w io.Writer, r Report) error {
	var b strings.Builder
	for _, s := range r.About {
		fmt.Fprintln(&b, s)
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
	for _, s := range r.Notes {
		fmt.Fprintln(&b, s)
	}
	fmt.Fprintf(&b, "%d of %s failed, %d skipped, in %s\n", Count(r.Findings, Failed), Pluralize(len(r.Findings), "check"),
		Count(r.Findings, Skipped), r.Took.Round(100*time.Millisecond))
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes reports, in a kit's own form, as one document.
func WriteJSON(w io.Writer, reports any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Reports any `json:"reports"`
	}{reports})
}

// line is what a program said on one line of bounded length, without what could
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

// WriteJUnit writes reports as suites of a document that CI servers read; tool is its name.
func WriteJUnit(w io.Writer, tool string, reports []Report) error {
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
	all := junitSuites{Name: tool}
	for _, r := range reports {
		s := junitSuite{Name: r.Name, Tests: len(r.Findings), Failures: Count(r.Findings, Failed),
			Skipped: Count(r.Findings, Skipped), Time: seconds(r.Took), Timestamp: r.Started.UTC().Format(time.RFC3339)}
		for _, p := range r.Properties {
			s.Properties = append(s.Properties, junitProperty{p[0], p[1]})
		}
		for _, f := range r.Findings {
			c := junitCase{Class: r.Name, Name: f.ID, Time: seconds(f.Took)}
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

// Bytes is a size for people.
func Bytes(n int64) string {
	switch {
	case n >= 10<<20 || n <= -10<<20:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	case n >= 1<<20 || n <= -1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f kB", float64(n)/1e3)
}

// Pluralize counts a noun.
func Pluralize(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
