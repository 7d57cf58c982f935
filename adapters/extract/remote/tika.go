package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"mime"
	"net/http"
	"regexp"
	"strings"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/markup"
	"github.com/mnemehq/mneme/core/port"
)

// OpenTika makes an extractor over the server of Apache Tika.
func OpenTika(c Config, l extract.Limits, log *slog.Logger) (*Extractor, error) {
	e, err := open(c, l, log)
	if err != nil {
		return nil, err
	}
	e.exchange = e.tika
	return e, nil
}

// tika has a file read by way of PUT /rmeta/html, whose answer lists the file and what is
// embedded in it, each with its properties and its text as XHTML.
func (e *Extractor) tika(ctx context.Context, f port.File) (port.Extracted, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, e.base+"/rmeta/html", bytes.NewReader(f.Content))
	if err != nil {
		return port.Extracted{}, err
	}
	r.Header.Set("Content-Type", "application/octet-stream") // it finds out itself; a type would be taken at its word
	if f.Name != "" {
		r.Header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	}
	var list []properties
	if err := e.post(r, &list); err != nil {
		return port.Extracted{}, err
	}
	if len(list) == 0 {
		return port.Extracted{}, e.failed(errNoAnswer, "answered nonsense")
	}
	if list[0].first("X-TIKA:encrypted") == "true" {
		return port.Extracted{}, port.FileErrorf(port.FileEncrypted, nil, "is encrypted; save it without a password")
	}
	if why := list[0].first("X-TIKA:EXCEPTION:container_exception"); why != "" {
		line, _, _ := strings.Cut(why, "\n")
		if contains(line, "encrypted") {
			return port.Extracted{}, port.FileErrorf(port.FileEncrypted, errors.New(line),
				"is encrypted; save it without a password")
		}
		return port.Extracted{}, broken(errors.New(line))
	}
	x := port.Extracted{Title: list[0].first("dc:title"), Metadata: list[0].metadata()}
	for i, part := range list {
		pages, err := pagesOf(part.first("X-TIKA:content"))
		if err != nil {
			return port.Extracted{}, broken(err)
		}
		if name := part.first("resourceName"); i > 0 && len(pages) > 0 && name != "" {
			pages[0].Text = "## " + name + "\n\n" + pages[0].Text
		}
		if i > 0 {
			for j := range pages {
				pages[j].Page = 0 // those of a file in the file
			}
		}
		x.Sections = append(x.Sections, pages...)
	}
	if len(x.Sections) == 0 {
		return port.Extracted{}, noText()
	}
	return x, nil
}

// properties are what Tika says of a file: values are strings or lists of such.
type properties map[string]values

type values []string

// UnmarshalJSON implements json.Unmarshaler.
func (v *values) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*v = values{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(v))
}

func (p properties) first(name string) string {
	if v := p[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// metadata takes what other extractors give, too.
func (p properties) metadata() map[string]any {
	out := map[string]any{}
	for key, name := range map[string]string{
		"author": "dc:creator", "created_at": "dcterms:created", "language": "dc:language", "subject": "dc:subject",
	} {
		const most = 1000
		if v := strings.Join(p[name], ", "); strings.TrimSpace(v) != "" && len(v) <= most {
			out[key] = strings.ReplaceAll(v, "\x00", "")
		}
	}
	return out
}

// turn begins a page or a slide in what Tika writes.
var turn = regexp.MustCompile(`<div class="(page|slide)">`)

// pagesOf gives the text of a document of Tika, by pages where it has some.
func pagesOf(page string) ([]port.Section, error) {
	at := turn.FindAllStringIndex(page, -1)
	var out []port.Section
	begin := 0
	for i := range len(at) + 1 {
		end := len(page)
		if i < len(at) {
			end = at[i][0]
		}
		text, _, err := markup.HTML([]byte(page[begin:end]), "utf-8")
		if err != nil {
			return nil, err
		}
		if text = strings.TrimSpace(strings.ReplaceAll(text, "\x00", "")); text != "" {
			out = append(out, port.Section{Text: text, Page: i})
		}
		begin = end
	}
	return out, nil
}
