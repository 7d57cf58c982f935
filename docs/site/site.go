package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

//go:embed assets
var assets embed.FS

// settings are what a site is made of.
type settings struct {
	root       string // the repository's folder
	url        string // where the site will be, or ""
	repository string // where links to what is no page lead
}

// first is the page that names all others.
const first = "docs/README.md"

// spare is its section that a program with little room may leave out.
const spare = "To change Mneme"

// console is where the colours are: those of the console.
const console = "transports/console/static"

// page is one Markdown file.
type page struct {
	path, name string // in the repository, and on the site without ending
	label      string // in the navigation
	spare      bool
	source     []byte
}

type section struct {
	Name    string
	Entries []entry
}

type entry struct{ Name, Link string }

// heading is what "On this page" leads to.
type heading struct{ ID, Text string }

// passage is what the search finds: what is below one heading.
type passage struct {
	Page    string `json:"page"`
	Heading string `json:"heading"`
	Link    string `json:"link"`
	Text    string `json:"text"`
}

type builder struct {
	settings
	md       goldmark.Markdown
	pages    []page
	names    map[string]string // of pages, by path
	menu     []section
	files    map[string][]byte
	passages []passage
}

// build gives the files of the site by their paths.
func build(s settings) (map[string][]byte, error) {
	b := &builder{settings: s, names: map[string]string{first: "index"}, files: map[string][]byte{}}
	b.md = markdownParser()
	if err := b.read(); err != nil {
		return nil, err
	}
	shape, err := template.ParseFS(assets, "assets/page.html")
	if err != nil {
		return nil, err
	}
	for _, p := range b.pages {
		if err := b.render(shape, p); err != nil {
			return nil, fmt.Errorf("%s: %w", p.path, err)
		}
	}
	if err := b.programs(); err != nil {
		return nil, err
	}
	return b.files, b.search(shape)
}

// markdownParser reads what GitHub reads, but for boxes to tick. Pages hold anchors in HTML.
func markdownParser() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify),
		goldmark.WithRendererOptions(html.WithUnsafe()))
}

var anchorID = regexp.MustCompile(`<a id="([^"]+)">`)

// read finds the pages: the first one, and what it names.
func (b *builder) read() error {
	source, err := b.file(first)
	if err != nil {
		return err
	}
	b.pages = []page{{path: first, name: "index", label: "Start", source: source}}
	b.menu = []section{{Entries: []entry{{"Start", "index.html"}}}}
	doc := b.md.Parser().Parse(text.NewReader(source))
	err = ast.Walk(doc, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Heading:
			if enter && n.Level == 2 {
				b.menu = append(b.menu, section{Name: words(n, source)})
			}
		case *ast.Link:
			if !enter || n.Parent().Parent().Kind() != ast.KindListItem {
				break
			}
			at, label := path.Join(path.Dir(first), string(n.Destination)), words(n, source)
			into := &b.menu[len(b.menu)-1]
			if path.Ext(at) != ".md" {
				into.Entries = append(into.Entries, entry{label, path.Base(at)})
				break
			}
			text, err := b.file(at)
			if err != nil {
				return ast.WalkStop, err
			}
			name := strings.ToLower(strings.TrimSuffix(path.Base(at), ".md"))
			for other, taken := range b.names {
				if taken == name {
					return ast.WalkStop, fmt.Errorf("%s names %s, and has %s", first, at, other)
				}
			}
			b.names[at] = name
			b.pages = append(b.pages, page{path: at, name: name, label: label, spare: into.Name == spare, source: text})
			into.Entries = append(into.Entries, entry{label, name + ".html"})
		}
		return ast.WalkContinue, nil
	})
	return err
}

func (b *builder) file(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(b.root, filepath.FromSlash(name)))
}

// link is where a link of a page leads to on the site, where pages end in ext. What is no
// page is brought along if it lies in docs, else it is in the repository.
func (b *builder) link(p page, to, ext string) (string, error) {
	if strings.HasPrefix(to, "#") || strings.Contains(to, ":") {
		return to, nil
	}
	at, anchor, found := strings.Cut(to, "#")
	if found {
		anchor = "#" + anchor
	}
	full := path.Join(path.Dir(p.path), at)
	if name := b.names[full]; name != "" {
		return name + ext + anchor, nil
	}
	info, err := os.Stat(filepath.Join(b.root, filepath.FromSlash(full)))
	if err != nil {
		return "", fmt.Errorf("a link leads to %s: %w", to, err)
	}
	if inside, ok := strings.CutPrefix(full, "docs/"); ok && !info.IsDir() {
		if path.Ext(full) == ".md" {
			return "", fmt.Errorf("a link leads to %s, which %s does not name", to, first)
		}
		if b.files[inside], err = b.file(full); err != nil {
			return "", err
		}
		return inside + anchor, nil
	}
	kind := "blob"
	if info.IsDir() {
		kind = "tree"
	}
	return b.repository + "/" + kind + "/main/" + full + anchor, nil
}

// anchors gives headings the anchors that GitHub gives them, which the pages' own links count on.
type anchors struct{ taken map[string]int }

func (a anchors) Generate(title []byte, _ ast.NodeKind) []byte {
	var id strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(string(title))) {
		switch {
		case r == ' ':
			id.WriteByte('-')
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z':
			id.WriteRune(r)
		}
	}
	n := a.taken[id.String()]
	a.taken[id.String()]++
	if n > 0 {
		fmt.Fprintf(&id, "-%d", n)
	}
	return []byte(id.String())
}

func (a anchors) Put(id []byte) { a.taken[string(id)]++ }

// words are the text of a node.
func words(n ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if enter {
				out.Write(n.Segment.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					out.WriteByte(' ')
				}
			}
		case *ast.String:
			if enter {
				out.Write(n.Value)
			}
		case *ast.AutoLink:
			if enter {
				out.Write(n.Label(source))
			}
		default: // what stands in blocks and cells of their own is a word of its own
			if n.Type() == ast.TypeBlock && !enter {
				out.WriteByte(' ')
			}
			if lines := n.Type() == ast.TypeBlock && n.Lines() != nil; lines && enter && n.FirstChild() == nil &&
				n.Kind() != ast.KindHTMLBlock {
				out.Write(n.Lines().Value(source))
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(out.String()), " ")
}

// shown is what the template shows.
type shown struct {
	Title   string
	Name    string // of the page
	Menu    []section
	Content template.HTML
	On      []heading
	Search  bool
}

func (b *builder) render(shape *template.Template, p page) error {
	ids := anchors{map[string]int{}}
	for _, m := range anchorID.FindAllSubmatch(p.source, -1) {
		ids.Put(m[1])
	}
	context := parser.NewContext(parser.WithIDs(ids))
	doc := b.md.Parser().Parse(text.NewReader(p.source), parser.WithContext(context))
	out := shown{Title: p.label, Name: p.name, Menu: b.menu}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if ok {
			title := words(h, p.source)
			id := ids.Generate([]byte(title), h.Kind())
			h.SetAttributeString("id", id)
			switch h.Level {
			case 1:
				out.Title = title
			case 2:
				out.On = append(out.On, heading{string(id), title})
			}
			if p.path == first { // it only leads to others
				continue
			}
			b.passages = append(b.passages, passage{Page: out.Title, Heading: title, Link: p.name + ".html#" + string(id)})
			continue
		}
		if last := len(b.passages) - 1; last >= 0 && p.path != first {
			b.passages[last].Text = strings.TrimSpace(b.passages[last].Text + " " + words(n, p.source))
		}
	}
	err := ast.Walk(doc, func(n ast.Node, enter bool) (_ ast.WalkStatus, err error) {
		switch n := n.(type) {
		case *ast.Link:
			if enter {
				var to string
				to, err = b.link(p, string(n.Destination), ".html")
				n.Destination = []byte(to)
			}
		case *ast.Image:
			if enter {
				var to string
				to, err = b.link(p, string(n.Destination), ".html")
				n.Destination = []byte(to)
			}
		}
		return ast.WalkContinue, err
	})
	if err != nil {
		return err
	}
	var content bytes.Buffer
	if err := b.md.Renderer().Render(&content, p.source, doc); err != nil {
		return err
	}
	tables := strings.NewReplacer("<table>", `<div class="wide"><table>`, "</table>", "</table></div>")
	out.Content = template.HTML(tables.Replace(content.String()))
	var whole bytes.Buffer
	if err := shape.Execute(&whole, out); err != nil {
		return err
	}
	b.files[p.name+".html"] = whole.Bytes()
	return nil
}

var (
	fence    = regexp.MustCompile("^\\s*```")
	inlineTo = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// markdown is a page as Markdown, with links that lead to where before names.
func (b *builder) markdown(p page, before string) (string, error) {
	var out strings.Builder
	var failed error
	code := false
	for line := range strings.Lines(string(p.source)) {
		if fence.MatchString(line) {
			code = !code
		} else if !code {
			line = inlineTo.ReplaceAllStringFunc(line, func(link string) string {
				to, err := b.link(p, inlineTo.FindStringSubmatch(link)[1], ".md")
				failed = errors.Join(failed, err)
				if before != "" && !strings.HasPrefix(to, "#") && !strings.Contains(to, ":") {
					to = before + to
				}
				return "](" + to + ")"
			})
		}
		out.WriteString(line)
	}
	return out.String(), failed
}

// programs writes what language models read: pages as Markdown, llms.txt with their addresses,
// llms-full.txt with their texts (https://llmstxt.org).
func (b *builder) programs() error {
	base := ""
	if b.url != "" {
		base = strings.TrimSuffix(b.url, "/") + "/"
	}
	var full strings.Builder
	for _, p := range b.pages {
		own, err := b.markdown(p, "")
		if err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
		b.files[p.name+".md"] = []byte(own)
		outside, err := b.markdown(p, base)
		if err != nil {
			return err
		}
		if p.path == first {
			b.files["llms.txt"] = []byte(strings.Replace(outside, "## "+spare+"\n", "## Optional\n", 1))
		} else if !p.spare {
			fmt.Fprintf(&full, "%s\n\n", strings.TrimSpace(outside))
		}
	}
	b.files["llms-full.txt"] = []byte(full.String())
	return nil
}

// search writes what the search needs, and the style of all pages.
func (b *builder) search(shape *template.Template) error {
	index, err := json.Marshal(b.passages)
	if err != nil {
		return err
	}
	b.files["index.js"] = append(append([]byte("const passages = "), index...), ";\n"...)
	var out bytes.Buffer
	if err := shape.Execute(&out, shown{Title: "Search", Name: "search", Menu: b.menu, Search: true}); err != nil {
		return err
	}
	b.files["search.html"] = out.Bytes()
	for _, name := range []string{"search.js", "site.css"} {
		if b.files[name], err = fs.ReadFile(assets, "assets/"+name); err != nil {
			return err
		}
	}
	style, err := b.file(console + "/console.css")
	if err != nil {
		return err
	}
	_, colours, found := bytes.Cut(style, []byte(":root {"))
	colours, _, closed := bytes.Cut(colours, []byte("}"))
	if !found || !closed {
		return errors.New("the console's style has no colours")
	}
	b.files["site.css"] = bytes.Join([][]byte{[]byte(":root {"), colours, []byte("}\n"), b.files["site.css"]}, nil)
	b.files["mark.svg"], err = b.file(console + "/mark.svg")
	return err
}
