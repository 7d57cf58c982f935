package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// WithTitle puts a title before a text as its first heading, unless the text
// begins with it.
func WithTitle(title, text string) string {
	title = strings.Join(strings.Fields(title), " ")
	if title == "" {
		return text
	}
	if rest, ok := strings.CutPrefix(strings.TrimLeft(text, "# \t\r\n"), title); ok {
		if next, _ := utf8.DecodeRuneInString(rest); !unicode.IsLetter(next) && !unicode.IsNumber(next) {
			return text // what goes on with a letter or a digit begins with another word
		}
	}
	return "# " + title + "\n\n" + text
}

// Heading is the title of a Markdown text: its first heading, when that stands
// before any other text.
func Heading(text string) string {
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
