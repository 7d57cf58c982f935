package extract

import "strings"

// WithTitle puts a title before a text as its first heading, unless the text
// begins with it.
func WithTitle(title, text string) string {
	title = strings.Join(strings.Fields(title), " ")
	if title == "" || strings.HasPrefix(strings.TrimLeft(text, "# \t\r\n"), title) {
		return text
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
