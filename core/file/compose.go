package file

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

// Document is one to write.
type Document struct {
	ID       string
	Text     string
	Metadata map[string]any
}

// Compose makes the documents of a file of that name. What is too long for one becomes
// several, cut between sections, before headings or at blank lines, each beginning with the
// title. Metadata is the file's own, title, what more holds, and of parts part and parts.
//
// In a document of a file with pages a form feed on a line of its own begins a page, and
// page is the one that the document begins on, so that the page of any place in it can be
// told (port.PageAt).
//
// Fault InvalidMetadata where the file's own metadata breaks the rules of documents.
func Compose(name string, x port.Extracted, more map[string]any) ([]Document, error) {
	parts, err := Parts(x, more)
	if err != nil {
		return nil, err
	}
	id := DocumentID(name)
	for i := range parts {
		parts[i].ID = id
		if len(parts) > 1 {
			parts[i].ID = PartID(id, i+1)
		}
	}
	return parts, nil
}

// Parts is Compose for documents whose ids are of another's making: it leaves them out.
func Parts(x port.Extracted, more map[string]any) ([]Document, error) {
	title := x.Title
	pieces := pack(x.Sections, title, MaxText)
	fields := map[string]any{}
	maps.Copy(fields, x.Metadata)
	maps.Copy(fields, more)
	if title != "" {
		fields["title"] = title
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	where := "metadata of the file"
	if x.Format.MediaType == "text/markdown" {
		where = "front matter"
	}
	if _, err := filter.ParseMetadata(where, raw); err != nil {
		return nil, err
	}
	out := make([]Document, len(pieces))
	for i, p := range pieces {
		out[i] = Document{Text: p.Text, Metadata: maps.Clone(fields)}
		if p.Page > 0 {
			out[i].Metadata["page"] = p.Page
		}
		if len(pieces) > 1 {
			out[i].Metadata["part"], out[i].Metadata["parts"] = i+1, len(pieces)
		}
	}
	return out, nil
}

// pack joins sections to texts of at most limit bytes.
func pack(sections []port.Section, title string, limit int) []port.Section {
	var out []port.Section
	var cur strings.Builder
	first, page := 0, 0
	flush := func() {
		if cur.Len() > 0 {
			out = append(out, port.Section{Text: cur.String(), Page: first})
			cur.Reset()
		}
	}
	for i, s := range sections {
		between := "\n\n"
		if turned := s.Page - page; turned > 0 && page > 0 {
			between = "\n" + strings.Repeat("\f", turned) + "\n"
		}
		lead := ""
		if i > 0 {
			lead = leadOf(title, limit)
		}
		switch {
		case cur.Len() > 0 && cur.Len()+len(between)+len(s.Text) <= limit:
			cur.WriteString(between + s.Text)
		case len(lead)+len(s.Text) <= limit:
			flush()
			first = s.Page
			cur.WriteString(lead + s.Text)
		default:
			flush()
			for _, text := range split(lead+s.Text, title, limit) {
				out = append(out, port.Section{Text: text, Page: s.Page})
			}
		}
		page = s.Page
	}
	flush()
	return out
}

// leadOf is what texts after the first begin with.
func leadOf(title string, limit int) string {
	if title == "" || len(title) > limit/8 {
		return ""
	}
	return "# " + title + "\n\n"
}
