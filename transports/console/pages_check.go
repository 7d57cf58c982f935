package console

import (
	"net/http"
	"net/url"
	"strings"
)

// checkModel asks a namespace a list of questions, and says which find what they should. The address of
// the page is the list, so that it can be kept and sent to others.
type checkModel struct {
	Namespace string
	Questions string
	Form      queryForm
	Rows      []checkedQuestion
	Found     int
	Wanted    int // questions that name a document
	Wrong     string
}

// checkedQuestion is a question with what it found.
type checkedQuestion struct {
	Query, Wanted string
	Place         int    // of the wanted document among the documents found; 0: it is not there
	First         string // document that stands first
	Wrong         string
}

// The bounds of a list: an address has to carry it, and a page to wait for it.
const (
	mostQuestions  = 50
	longestAddress = 8000
)

// wants parts a line into a question and the document that it should find.
func wants(line string) (question, document string) {
	question, document, _ = strings.Cut(line, "=>")
	return strings.TrimSpace(question), strings.TrimSpace(document)
}

func (v *visit) checks() (view, error) {
	q, n := v.r.URL.Query(), v.r.PathValue("n")
	m := checkModel{Namespace: n, Questions: q.Get("questions"), Form: formOfQuery(q, "")}
	out := view{title: "Check " + n, template: "check", section: "namespaces", trail: v.wayTo(n)}
	var lines []string
	for line := range strings.Lines(m.Questions) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	switch {
	case len(m.Questions) > longestAddress:
		m.Wrong = "These are too many for an address: ask less at once."
	case len(lines) > mostQuestions:
		m.Wrong = "A check asks fifty questions at most."
	default:
		if err := v.runCheck(&m, lines); err != nil {
			return view{}, err
		}
	}
	if out.model = m; m.Wrong != "" {
		out.status = http.StatusUnprocessableEntity
	}
	return out, nil
}

// runCheck asks one question after the other. What one of them may not be asked with, none may.
func (v *visit) runCheck(m *checkModel, lines []string) error {
	for i, line := range lines {
		question, wanted := wants(line)
		one := side{Form: m.Form}
		one.Form.Query = question
		made := len(v.made)
		wrong, err := v.ask(m.Namespace, &one)
		if err != nil {
			return err
		}
		if i > 0 {
			v.made = v.made[:made] // one is enough of an example
		}
		if wrong != "" {
			m.Wrong = wrong
			return nil
		}
		row := checkedQuestion{Query: question, Wanted: wanted}
		seen := map[string]bool{}
		for _, h := range one.Hits {
			if seen[h.DocumentID] {
				continue
			}
			if seen[h.DocumentID] = true; len(seen) == 1 {
				row.First = h.DocumentID
			}
			if h.DocumentID == wanted {
				row.Place = len(seen)
			}
		}
		if wanted != "" {
			if m.Wanted++; row.Place > 0 {
				m.Found++
			}
		}
		m.Rows = append(m.Rows, row)
	}
	return nil
}

// keepLine is a question with the document that stands first, as a line of a check.
func keepLine(question string, hits []hit) string {
	line := strings.Join(strings.Fields(question), " ")
	if len(hits) > 0 {
		line += " => " + hits[0].DocumentID
	}
	return "?" + url.Values{"questions": {line}}.Encode()
}
