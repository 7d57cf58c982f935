package markup

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/htmlindex"
	encoding "golang.org/x/text/encoding/unicode"

	"github.com/mnemehq/mneme/adapters/extract"
)

// HTML turns a page into Markdown-like text: headings, paragraphs,
// nested lists, code, quotes and tables stay, scripts, styles, navigation, forms
// and hidden elements go. When the page has a main element, only that is read. A
// page that is not UTF-8 is read in the charset it declares, or else in the one given. The
// title is the page's, or else its first heading's.
func HTML(page []byte, in string) (text, title string, err error) {
	if !utf8.Valid(page) {
		e, _, _ := charset.DetermineEncoding(page, "text/html")
		declares := bytes.Contains(bytes.ToLower(page[:min(len(page), 1024)]), []byte("charset"))
		if given, err := htmlindex.Get(in); err == nil && !declares && given != encoding.UTF8 {
			e = given
		}
		if page, err = e.NewDecoder().Bytes(page); err != nil {
			return "", "", err
		}
	}
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return "", "", err
	}
	if n := findElement(root, atom.Title); n != nil {
		title = collapse(rawText(n))
	}
	w := &writer{}
	if n := findElement(root, atom.Main); n != nil {
		w.block(n)
		w.end()
	}
	if w.out.Len() == 0 {
		w = &writer{}
		w.block(root)
		w.end()
	}
	text = w.out.String()
	if title == "" {
		title = extract.Heading(text)
	}
	return text, title, nil
}

// writer collects Markdown. Inline text gathers in line until a block ends it.
type writer struct {
	out    strings.Builder
	line   strings.Builder
	prefix []string // of each line: "> " for quotes, spaces in list items
	marker string   // what the next line starts with in place of the last prefix
	tight  bool     // blocks of a list item follow without a blank line
}

// end writes the gathered line as a block.
func (w *writer) end() {
	text := tidy(w.line.String())
	w.line.Reset()
	if text != "" {
		w.lines(text)
	}
}

// lines writes a block, apart from the one before.
func (w *writer) lines(text string) {
	if w.out.Len() > 0 {
		w.out.WriteByte('\n')
		if !w.tight {
			w.out.WriteByte('\n')
		}
	}
	for i, l := range strings.Split(text, "\n") {
		if i > 0 {
			w.out.WriteByte('\n')
		}
		for j, p := range w.prefix {
			if i == 0 && w.marker != "" && j == len(w.prefix)-1 {
				p = w.marker
			}
			w.out.WriteString(p)
		}
		w.out.WriteString(l)
	}
	w.marker = ""
}

// tidy collapses white space within lines; a line end comes from br only.
func tidy(s string) string {
	var out []string
	for _, l := range strings.Split(s, "\n") {
		if l = collapse(l); l != "" {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

func collapse(s string) string { return strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ") }

// dropped reports elements that hold no text of the page.
func dropped(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Nav, atom.Noscript, atom.Template, atom.Svg, atom.Math, atom.Iframe, atom.Object,
		atom.Embed, atom.Canvas,
		atom.Audio, atom.Video, atom.Button, atom.Select, atom.Input, atom.Textarea, atom.Datalist, atom.Dialog, atom.Head:
		return true
	}
	for _, a := range n.Attr {
		if a.Key == "hidden" || a.Key == "aria-hidden" && a.Val == "true" || a.Key == "role" && a.Val == "navigation" {
			return true
		}
	}
	return false
}

func (w *writer) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.block(c)
	}
}

// under writes the children with one more prefix.
func (w *writer) under(n *html.Node, prefix, marker string) {
	w.prefix = append(w.prefix, prefix)
	w.marker = marker
	w.children(n)
	w.end()
	w.prefix = w.prefix[:len(w.prefix)-1]
	w.marker = ""
}

// block writes one node; the parser bounds the depth of the tree.
func (w *writer) block(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		w.line.WriteString(strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return ' '
			}
			return r
		}, n.Data))
		return
	case html.ElementNode:
	case html.DocumentNode:
		w.children(n)
		return
	default:
		return
	}
	if dropped(n) {
		return
	}
	switch n.DataAtom {
	case atom.Br:
		w.line.WriteByte('\n')
	case atom.Img:
		if alt := collapse(attr(n, "alt")); alt != "" {
			w.line.WriteString(" [" + alt + "] ")
		}
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		if text := collapse(rawText(n)); text != "" {
			tick := backquotes(text, 1)
			w.line.WriteString(tick + text + tick)
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.end()
		if text := collapse(rawText(n)); text != "" {
			tight := w.tight
			w.tight = false
			w.lines(strings.Repeat("#", int(n.Data[1]-'0')) + " " + text)
			w.tight = tight
		}
	case atom.Pre, atom.Listing, atom.Xmp:
		w.end()
		if text := strings.Trim(rawText(n), "\n"); strings.TrimSpace(text) != "" {
			fence := backquotes(text, 3)
			w.lines(fence + language(n) + "\n" + text + "\n" + fence)
		}
	case atom.Hr:
		w.end()
		w.lines("---")
	case atom.Blockquote:
		w.end()
		w.under(n, "> ", "")
	case atom.Ul, atom.Ol, atom.Menu:
		w.list(n)
	case atom.Dt:
		w.end()
		w.children(n)
		w.end()
	case atom.Dd:
		w.end()
		tight := w.tight
		w.tight = true
		w.under(n, "  ", "")
		w.tight = tight
	case atom.Table:
		w.table(n)
	case atom.Address, atom.Article, atom.Aside, atom.Body, atom.Caption, atom.Center, atom.Details, atom.Div, atom.Dl,
		atom.Fieldset,
		atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Header, atom.Hgroup, atom.Html, atom.Legend, atom.Li,
		atom.Main, atom.P,
		atom.Search, atom.Section, atom.Summary, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr:
		w.end()
		w.children(n)
		w.end()
	default:
		w.children(n)
	}
}

func (w *writer) list(n *html.Node) {
	w.end()
	tight := w.tight
	number := 1
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || dropped(c) {
			continue
		}
		if c.DataAtom != atom.Li {
			w.block(c) // a list right inside a list
			continue
		}
		marker := "- "
		if n.DataAtom == atom.Ol {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		// The first item stands apart from what is before, the others do not.
		w.under(c, strings.Repeat(" ", len(marker)), marker)
		w.tight = true
	}
	w.tight = tight
}

// table writes rows of cells; a table that only lays out blocks is read as blocks.
func (w *writer) table(n *html.Node) {
	w.end()
	if layoutOnly(n) {
		w.children(n)
		w.end()
		return
	}
	if c := findElement(n, atom.Caption); c != nil {
		w.block(c)
		w.end()
	}
	var rows []string
	header := false
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type != html.ElementNode || dropped(c) || c.DataAtom == atom.Caption {
				continue
			}
			if c.DataAtom != atom.Tr {
				walk(c)
				continue
			}
			var cells []string
			for d := c.FirstChild; d != nil; d = d.NextSibling {
				if d.DataAtom == atom.Td || d.DataAtom == atom.Th {
					in := &writer{tight: true}
					in.children(d)
					in.end()
					cells = append(cells, strings.ReplaceAll(collapse(in.out.String()), "|", `\|`))
					header = header || len(rows) == 0 && d.DataAtom == atom.Th
				}
			}
			if strings.Join(cells, "") == "" {
				continue
			}
			rows = append(rows, "| "+strings.Join(cells, " | ")+" |")
			if len(rows) == 1 && header {
				rows = append(rows, "|"+strings.Repeat("---|", len(cells)))
			}
		}
	}
	walk(n)
	if len(rows) > 0 {
		w.lines(strings.Join(rows, "\n"))
	}
}

func layoutOnly(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Table, atom.H1, atom.H2, atom.H3, atom.H4, atom.Pre, atom.Ul, atom.Ol, atom.Blockquote:
			return true
		}
		if layoutOnly(c) {
			return true
		}
	}
	return false
}

func findElement(n *html.Node, a atom.Atom) *html.Node {
	if n.Type == html.ElementNode && n.DataAtom == a && n.Namespace == "" {
		return n
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if f := findElement(c, a); f != nil {
			return f
		}
	}
	return nil
}

// rawText is the text of a node with its white space.
func rawText(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		if n.Type == html.ElementNode && dropped(n) {
			return
		}
		if n.DataAtom == atom.Br {
			b.WriteByte('\n')
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(c)
	}
	return b.String()
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// language is a code block's, from class="language-go" on it or its code element.
func language(n *html.Node) string {
	for _, c := range []*html.Node{n, n.FirstChild} {
		if c == nil || c.Type != html.ElementNode {
			continue
		}
		for _, class := range strings.Fields(attr(c, "class")) {
			if l, ok := strings.CutPrefix(class, "language-"); ok && !strings.ContainsAny(l, "`\n") {
				return l
			}
		}
	}
	return ""
}

// backquotes is a run of backquotes longer than any in text.
func backquotes(text string, least int) string {
	longest, n := 0, 0
	for i := 0; i < len(text); i++ {
		if text[i] == '`' {
			n++
			longest = max(longest, n)
		} else {
			n = 0
		}
	}
	if longest >= least {
		least = longest + 1
	}
	return strings.Repeat("`", least)
}
