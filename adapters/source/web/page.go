package web

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"github.com/mnemehq/mneme/adapters/extract/markup"
	"github.com/mnemehq/mneme/adapters/source"
	"github.com/mnemehq/mneme/core/port"
)

// Bounds of a page.
const (
	maxPage       = 10 << 20 // bytes of HTML; a tree of it takes some ten times as much
	maxLinks      = 5000
	maxElements   = 20_000 // that readability looks at; it is slow on many
	leastReadable = 200    // bytes of text, below which readability has found the wrong part
	maxMeta       = 500    // bytes of a description
)

// documents are the media types that are read besides pages.
var documents = map[string]bool{
	"application/pdf": true, "application/epub+zip": true, "text/plain": true, "text/markdown": true,
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document":   true,
	"application/vnd.openxmlformats-officedocument.presentationml.presentation": true,
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":         true,
	"application/vnd.oasis.opendocument.text":                                   true,
}

const accept = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/markdown;q=0.9,text/plain;q=0.8,*/*;q=0.5"

// mediaType is what an answer says that it is. One that does not say is a page.
func mediaType(h http.Header) (media, charset string) {
	said := h.Get("Content-Type")
	if said == "" {
		return markup.HTMLType, ""
	}
	media, parameters, err := mime.ParseMediaType(said)
	if err != nil {
		media, _, _ = strings.Cut(said, ";")
	}
	return strings.ToLower(strings.TrimSpace(media)), parameters["charset"]
}

func isPage(media string) bool { return media == markup.HTMLType || media == "application/xhtml+xml" }

// wanted reports whether the body of an answer is read: images, scripts, archives and
// films are not.
func wanted(h http.Header) bool {
	media, _ := mediaType(h)
	return isPage(media) || documents[media]
}

// page is what a URL held.
type page struct {
	title     string
	file      port.File
	metadata  map[string]any
	modified  time.Time
	hash      string // of what of it becomes a document
	canonical *url.URL
	links     []*url.URL
	obey      bool
	noindex   bool // only where it is obeyed, as nofollow
	nofollow  bool
}

// parsePage reads an answer's body; obey, as it wants robots to read it. What cannot be read as a page is left to the
// extractor, which says what is wrong with it.
func parsePage(u *url.URL, h http.Header, body []byte, obey bool) *page {
	media, label := mediaType(h)
	name := path.Base(u.Path)
	if name == "/" || name == "." {
		name = ""
	}
	p := &page{obey: obey, file: port.File{Name: name, MediaType: media, Charset: label, Content: body}}
	p.robots(strings.Join(h.Values("X-Robots-Tag"), ","))
	if isPage(media) {
		root, err := html.Parse(bytes.NewReader(decode(body, label)))
		if err == nil {
			p.read(u, root)
			return p
		}
	}
	p.hash = source.Digest(string(body))
	return p
}

// decode gives HTML as UTF-8. What a page declares goes before what its server says, which
// is often one charset for all of a site.
func decode(body []byte, label string) []byte {
	if utf8.Valid(body) {
		return bytes.TrimPrefix(body, []byte("\ufeff"))
	}
	e, _, declared := charset.DetermineEncoding(body, markup.HTMLType)
	if said, err := htmlindex.Get(label); err == nil && !declared && said != unicode.UTF8 {
		e = said
	}
	decoded, err := e.NewDecoder().Bytes(body)
	if err != nil {
		return body
	}
	return decoded
}

// read takes from a tree what a page says of itself and what it has to say.
func (p *page) read(u *url.URL, root *html.Node) {
	base := u
	var lang, description string
	var mains, articles []*html.Node
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Html:
			lang = attribute(n, "lang")
		case atom.Base:
			if b, err := u.Parse(attribute(n, "href")); err == nil && attribute(n, "href") != "" {
				base = b
			}
		case atom.Title:
			if p.title == "" && n.Namespace == "" {
				p.title = collapse(text(n))
			}
		case atom.Meta:
			content := attribute(n, "content")
			switch strings.ToLower(attribute(n, "name") + attribute(n, "property") + attribute(n, "http-equiv")) {
			case "description":
				description = collapse(content)
			case "robots", robotsName:
				p.robots(content)
			case "article:modified_time", "article:published_time":
				if at, err := time.Parse(time.RFC3339, content); err == nil && at.After(p.modified) {
					p.modified = at.UTC()
				}
			case "refresh":
				if _, to, ok := strings.Cut(content, "="); ok {
					p.link(base, strings.Trim(to, `'" `))
				}
			}
		case atom.Link:
			rel := strings.Fields(strings.ToLower(attribute(n, "rel")))
			for _, r := range rel {
				if to, err := base.Parse(attribute(n, "href")); err == nil && r == "canonical" && attribute(n, "href") != "" {
					p.canonical, _ = normalize(to)
				}
			}
		case atom.A, atom.Area:
			if !p.obey || !strings.Contains(strings.ToLower(attribute(n, "rel")), "nofollow") {
				p.link(base, attribute(n, "href"))
			}
		case atom.Main:
			mains = append(mains, n)
		case atom.Article:
			if !within(n, atom.Article) {
				articles = append(articles, n)
			}
		default:
			if attribute(n, "role") == "main" {
				mains = append(mains, n)
			}
		}
	}
	p.write(u, root, mains, articles, lang)
	p.metadata = map[string]any{}
	if description = source.Cut(description, maxMeta); description != "" {
		p.metadata["description"] = description
	}
	if lang = source.Cut(lang, 35); lang != "" { // the longest tag that RFC 5646 wants to be supported
		p.metadata["language"] = lang
	}
	said, _, err := markup.HTML(p.file.Content, p.file.Charset)
	if err != nil {
		said = string(p.file.Content)
	}
	p.hash = source.Digest(p.title, description, lang, p.modified.Format(time.RFC3339), said)
}

// write makes a small page of what a page has to say: its main element, or its
// articles, or what readability takes for the article, or all of it.
func (p *page) write(u *url.URL, root *html.Node, mains, articles []*html.Node, lang string) {
	parts := articles
	switch {
	case len(mains) > 0:
		parts = mains[:1]
	case len(articles) > 0:
	default:
		if found := readable(root, u); found != nil {
			parts = []*html.Node{found}
			break
		}
		for n := range root.Descendants() {
			if n.DataAtom == atom.Body && n.Type == html.ElementNode {
				parts = []*html.Node{n}
				break
			}
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"%s\"><head><meta charset=\"utf-8\"><title>%s</title></head><body><main>",
		html.EscapeString(lang), html.EscapeString(p.title))
	for _, n := range parts {
		content := []*html.Node{n}
		if n.DataAtom == atom.Main || n.DataAtom == atom.Body { // it is in ours
			content = content[:0]
			for c := range n.ChildNodes() {
				content = append(content, c)
			}
		}
		for _, c := range content {
			if err := html.Render(&b, c); err != nil {
				return // a tree that cannot be written: the page stays as it came
			}
		}
	}
	b.WriteString("</main></body></html>\n")
	p.file.MediaType, p.file.Charset, p.file.Content = markup.HTMLType, "utf-8", b.Bytes()
	if !strings.Contains(p.file.Name, ".htm") {
		p.file.Name += ".html"
	}
}

// readable is the part of a page without main and article that is one, or nil.
func readable(root *html.Node, u *url.URL) (found *html.Node) {
	defer func() {
		if recover() != nil {
			found = nil // the page is a stranger's; without the library all of it is read
		}
	}()
	parser := readability.NewParser()
	parser.MaxElemsToParse = maxElements
	if !parser.CheckDocument(root) {
		return nil
	}
	article, err := parser.ParseDocument(root, u)
	if err != nil || article.Node == nil || len(collapse(text(article.Node))) < leastReadable {
		return nil
	}
	return article.Node
}

// robots reads what a page says to robots.
func (p *page) robots(directives string) {
	if !p.obey {
		return
	}
	for d := range strings.SplitSeq(strings.ToLower(directives), ",") {
		if agent, rest, ok := strings.Cut(d, ":"); ok { // X-Robots-Tag: name: directive
			if strings.TrimSpace(agent) != robotsName {
				continue
			}
			d = rest
		}
		switch strings.TrimSpace(d) {
		case "noindex":
			p.noindex = true
		case "nofollow":
			p.nofollow = true
		case "none":
			p.noindex, p.nofollow = true, true
		}
	}
}

func (p *page) link(base *url.URL, href string) {
	if href == "" || len(p.links) >= maxLinks {
		return
	}
	if to, err := base.Parse(strings.TrimSpace(href)); err == nil {
		if to, ok := normalize(to); ok {
			p.links = append(p.links, to)
		}
	}
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func within(n *html.Node, a atom.Atom) bool {
	for p := range n.Ancestors() {
		if p.DataAtom == a {
			return true
		}
	}
	return false
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }
