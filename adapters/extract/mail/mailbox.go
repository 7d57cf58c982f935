package mail

import (
	"bytes"
	"iter"
	"regexp"
)

// separator is the line before each message of a mailbox (RFC 4155, appendix A), in the
// forms of programs that write one: a time and a year in any order and zone.
var separator = regexp.MustCompile(`^From \S.*\d\d:\d\d.*\b(19|20)\d\d\b`)

// quoted is a line that would be a separator in a message, or one of those with more marks.
var quoted = regexp.MustCompile(`(?m)^>+From `)

// isMailbox reports whether a file begins as mailboxes do.
func isMailbox(content []byte) bool {
	line, _, _ := bytes.Cut(content, []byte("\n"))
	return isSeparator(line)
}

func isSeparator(line []byte) bool {
	const longest = 1000
	return bytes.HasPrefix(line, []byte("From ")) && separator.Match(line[:min(len(line), longest)])
}

// messages cuts a mailbox before each separator that comes after a blank line, and takes
// off the mark that was put before such lines in messages.
func messages(content []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		begin, at, blank := 0, 0, true
		for line := range bytes.Lines(content) {
			if blank && isSeparator(line) {
				if at > 0 && !yield(unquoted(content[begin:at])) {
					return
				}
				begin = at + len(line)
			}
			blank = len(bytes.TrimRight(line, "\r\n")) == 0
			at += len(line)
		}
		yield(unquoted(content[begin:]))
	}
}

func unquoted(message []byte) []byte {
	if !bytes.Contains(message, []byte(">From ")) {
		return message
	}
	return quoted.ReplaceAllFunc(message, func(mark []byte) []byte { return mark[1:] })
}
