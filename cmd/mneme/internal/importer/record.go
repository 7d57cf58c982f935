package importer

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// MaxText is the longest text of a document, in bytes of UTF-8.
const MaxText = 256 << 10

// Record is one document to write.
type Record struct {
	ID       string
	Text     string
	Metadata map[string]any // string, json.Number or int, bool, []string
	At       Position
}

// Position is where a record comes from.
type Position struct {
	File string // slash-separated, as File.Name
	Line int    // of JSON lines, from 1; 0: the whole file
	Item int    // of a JSON array, from 1; 0: not one
}

// String is "file", "file:line" or "file[item]".
func (p Position) String() string {
	switch {
	case p.Line > 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	case p.Item > 0:
		return fmt.Sprintf("%s[%d]", p.File, p.Item)
	}
	return p.File
}

// Problem is something that was not imported and why.
type Problem struct {
	At  Position
	ID  string // of the record; empty: none was read
	Err error
}

// Error is "file:line: reason".
func (p *Problem) Error() string {
	if p.ID != "" {
		return fmt.Sprintf("%s: document %s: %v", p.At, p.ID, p.Err)
	}
	return fmt.Sprintf("%s: %v", p.At, p.Err)
}

// Unwrap gives the reason.
func (p *Problem) Unwrap() error { return p.Err }

// withTitle puts a title before a text as its first heading, unless the text
// begins with it.
func withTitle(title, text string) string {
	title = strings.Join(strings.Fields(title), " ")
	if title == "" || strings.HasPrefix(strings.TrimLeft(text, "# \t\r\n"), title) {
		return text
	}
	return "# " + title + "\n\n" + text
}

// heading is the title of a Markdown text: its first heading, when that stands
// before any other text.
func heading(text string) string {
	line, rest, _ := strings.Cut(strings.TrimLeft(text, "\r\n\t "), "\n")
	line = strings.TrimSpace(line)
	if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
		return strings.TrimSpace(strings.TrimRight(title, "# "))
	}
	under, _, _ := strings.Cut(rest, "\n")
	if under = strings.TrimSpace(under); line != "" && len(under) > 1 && strings.Trim(under, "=") == "" {
		return line
	}
	return ""
}

// splitText cuts a text into pieces of at most limit bytes: before a heading, else
// at a blank line, a line end or a space in the second half of a piece, else
// between characters. Pieces after the first begin with the title as a heading.
func splitText(text, title string, limit int) []string {
	if len(text) <= limit {
		return []string{text}
	}
	lead := ""
	if title != "" && len(title) <= limit/8 {
		lead = "# " + title + "\n\n"
	}
	var out []string
	for head := ""; text != ""; head = lead {
		if len(head)+len(text) <= limit {
			return append(out, head+text)
		}
		end := limit - len(head)
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		window, half := text[:end], end/2
		if at := lastHeading(window); at > half {
			end = at
		} else if at := strings.LastIndex(window, "\n\n"); at > half {
			end = at + 2
		} else if at := strings.LastIndexByte(window, '\n'); at > half {
			end = at + 1
		} else if at := strings.LastIndexByte(window, ' '); at > half {
			end = at + 1
		}
		out = append(out, head+strings.TrimRight(text[:end], "\n"))
		text = text[end:]
	}
	return out
}

func lastHeading(text string) int {
	for end := len(text); ; {
		at := strings.LastIndex(text[:end], "\n#")
		if at < 0 {
			return -1
		}
		if line := strings.TrimLeft(text[at+1:], "#"); strings.HasPrefix(line, " ") && len(text)-at-1-len(line) <= 6 {
			return at + 1
		}
		end = at
	}
}

// partID names a part of a document that is too long for one.
func partID(id string, part int) string { return fmt.Sprintf("%s:part-%04d", id, part) }

func ext(name string) string {
	e := strings.ToLower(path.Ext(name))
	if e == ".gz" {
		e = strings.ToLower(path.Ext(strings.TrimSuffix(name, path.Ext(name)))) + e
	}
	return e
}
