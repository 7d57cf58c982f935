package file

import (
	"strings"
	"unicode/utf8"
)

// MaxText is the longest text of a document, in bytes of UTF-8.
const MaxText = 256 << 10

// split cuts a text into pieces of at most limit bytes: before a heading, else
// at a blank line, a line end or a space in the second half of a piece, else
// between characters. Pieces after the first begin with the title as a heading.
func split(text, title string, limit int) []string {
	if len(text) <= limit {
		return []string{text}
	}
	lead := leadOf(title, limit)
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
