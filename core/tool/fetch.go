package tool

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
)

// MaxChars is how many characters fetch gives at most.
const MaxChars = 100_000

// Fetch are the arguments of fetch.
type Fetch struct {
	Connection
	ID       string `json:"id" required:"true" fault:"invalid_id" doc:"as search gives it"`
	Offset   int    `json:"offset,omitempty" minimum:"0" doc:"next_offset of the call before"`
	MaxChars *int   `json:"max_chars,omitempty" minimum:"1" maximum:"100000" default:"100000"`
}

// Fetched answers fetch.
type Fetched struct {
	ID         string          `json:"id"`
	Title      string          `json:"title"`
	Text       string          `json:"text"`
	URL        string          `json:"url"`
	Metadata   json.RawMessage `json:"metadata" schema:"Metadata"`
	NextOffset *int            `json:"next_offset"`
}

// Fetch reads a document's text from an offset, in UTF-8 bytes, on.
func (s *Service) Fetch(ctx context.Context, in Fetch) (Fetched, error) {
	h, err := in.locate(ctx, "id", in.ID)
	if err != nil {
		return Fetched{}, err
	}
	d, err := s.Documents.Get(ctx, document.GetDocument{Namespace: h.namespace, ID: h.id})
	if err != nil {
		return Fetched{}, err
	}
	if in.Offset > len(d.Text) || in.Offset < len(d.Text) && !utf8.RuneStart(d.Text[in.Offset]) {
		return Fetched{}, fault.Field(fault.InvalidRequest, "offset",
			"is not a next_offset of this document's text, which has %d bytes", len(d.Text))
	}
	most := MaxChars
	if in.MaxChars != nil {
		most = *in.MaxChars
	}
	m := describe(d.Metadata)
	out := Fetched{
		ID:       h.String(),
		Title:    m.titleOr(d.Text),
		Text:     clip(d.Text[in.Offset:], most),
		URL:      m.urlOr(s.link(in.Connection, h)),
		Metadata: d.Metadata,
	}
	if end := in.Offset + len(out.Text); end < len(d.Text) {
		out.NextOffset = &end
	}
	return out, nil
}

// clip cuts a text after so many characters.
func clip(s string, most int) string {
	n := 0
	for i := range s {
		if n == most {
			return s[:i]
		}
		n++
	}
	return s
}

// description is the two fields of a document's metadata that tools show.
type description struct{ title, url string }

func describe(metadata json.RawMessage) description {
	var m map[string]any
	if json.Unmarshal(metadata, &m) != nil {
		return description{}
	}
	title, _ := m["title"].(string)
	url, _ := m["url"].(string)
	return description{title, url}
}

const (
	maxTitle = 80  // characters
	maxURL   = 512 // bytes; a longer one is no link that a model should repeat
)

// titleOr is the title, or the first line of the text.
func (d description) titleOr(text string) string {
	for _, s := range []string{d.title, firstLine(text)} {
		if s = strings.TrimSpace(s); s != "" {
			return clip(s, maxTitle)
		}
	}
	return ""
}

func firstLine(text string) string {
	text = strings.TrimSpace(clip(text, 4<<10))
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func (d description) urlOr(otherwise string) string {
	if d.url != "" && len(d.url) <= maxURL {
		return d.url
	}
	return otherwise
}
