package feed

import (
	"bytes"
	"cmp"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/mmcdole/gofeed"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/mnemehq/mneme/adapters/extract/markup"
	"github.com/mnemehq/mneme/adapters/source"
	"github.com/mnemehq/mneme/core/port"
)

// Bounds of what an entry says of itself.
const (
	maxKey   = 2048
	maxLabel = 200 // bytes of an author or a category
	maxMany  = 50  // of them
)

// entry is one of a feed.
type entry struct {
	key      string
	title    string
	url      string
	version  string
	page     []byte // what it says, as HTML
	modified time.Time
	metadata map[string]any
}

func newEntry(f *gofeed.Feed, i *gofeed.Item, base *url.URL) entry {
	e := entry{title: line(i.Title), url: link(base, i.Link), metadata: map[string]any{}}
	said := cmp.Or(strings.TrimSpace(i.Content), strings.TrimSpace(i.Description))
	e.key = key(i, e.url, said)
	var authors, names []string
	for _, a := range i.Authors {
		if a != nil {
			names = append(names, cmp.Or(a.Name, a.Email))
		}
	}
	authors = labels(names)
	categories := labels(i.Categories)
	if len(authors) > 0 {
		e.metadata["authors"] = authors
	}
	if len(categories) > 0 {
		e.metadata["categories"] = categories
	}
	if from := source.Cut(line(f.Title), maxLabel); from != "" {
		e.metadata["feed"] = from
	}
	if i.PublishedParsed != nil {
		e.metadata["published_at"] = i.PublishedParsed.UTC().Format(time.RFC3339)
		e.modified = i.PublishedParsed.UTC()
	}
	if i.UpdatedParsed != nil {
		e.modified = i.UpdatedParsed.UTC()
	}
	e.page = page(e.title, said)
	// Times are not part of it: many feeds say of all entries that they were changed right now.
	e.version = "1-" + source.Digest(e.title, e.url, said, strings.Join(authors, "\n"), strings.Join(categories, "\n"))
	return e
}

// key names an entry for ever: its guid, else its link. One that has neither is what it says.
func key(i *gofeed.Item, at, said string) string {
	k := cmp.Or(line(i.GUID), at)
	if k == "" {
		return "sha256:" + source.Digest(i.Title, said)
	}
	if len(k) > maxKey {
		return "sha256:" + source.Digest(k)
	}
	return k
}

// line is a text on one line, without characters that show nothing.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

func labels(all []string) (kept []string) {
	seen := map[string]bool{}
	for _, l := range all {
		if l = source.Cut(line(l), maxLabel); l != "" && !seen[l] && len(kept) < maxMany {
			seen[l] = true
			kept = append(kept, l)
		}
	}
	return kept
}

// page makes a page of an entry. What it holds is read as a browser would first, so that
// an element that it does not close cannot end the page's own.
func page(title, said string) []byte {
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>" + html.EscapeString(title) +
		"</title></head><body><main>")
	if title != "" {
		b.WriteString("<h1>" + html.EscapeString(title) + "</h1>")
	}
	start := b.Len()
	nodes, err := html.ParseFragment(strings.NewReader(said), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	for _, n := range nodes {
		if err == nil {
			err = html.Render(&b, n)
		}
	}
	if err != nil {
		b.Truncate(start)
		b.WriteString(html.EscapeString(said))
	}
	b.WriteString("</main></body></html>\n")
	return b.Bytes()
}

func (e entry) item() port.SourceItem {
	i := port.SourceItem{
		Key: e.key, Version: e.version, Name: source.Cut(cmp.Or(e.title, e.url, e.key), source.MaxName), URL: e.url,
		Size: int64(len(e.page)), Modified: e.modified,
	}
	if len(e.page) <= maxInline {
		c := e.content()
		i.Content = &c
	}
	return i
}

func (e entry) content() port.SourceContent {
	return port.SourceContent{
		File:     port.File{Name: "entry.html", MediaType: markup.HTMLType, Charset: "utf-8", Content: e.page},
		Metadata: e.metadata, Version: e.version,
	}
}
