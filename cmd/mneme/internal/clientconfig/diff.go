package clientconfig

import (
	"fmt"
	"strings"
)

// Diff shows what a change does to a file: one hunk of the lines from the first that differs
// to the last, with three lines around it. "" where nothing does.
func Diff(file string, before, after []byte) string {
	if string(before) == string(after) {
		return ""
	}
	a, b := lines(before), lines(after)
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	same := 0
	for same < len(a)-from && same < len(b)-from && a[len(a)-1-same] == b[len(b)-1-same] {
		same++
	}
	const around = 3
	start, after3 := max(0, from-around), min(same, around)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n@@ -%s +%s @@\n", file, file, extent(start, len(a)-same+after3),
		extent(start, len(b)-same+after3))
	for _, l := range a[start:from] {
		out.WriteString(" " + l + "\n")
	}
	for _, l := range a[from : len(a)-same] {
		out.WriteString("-" + l + "\n")
	}
	for _, l := range b[from : len(b)-same] {
		out.WriteString("+" + l + "\n")
	}
	for _, l := range a[len(a)-same : len(a)-same+after3] {
		out.WriteString(" " + l + "\n")
	}
	return out.String()
}

// extent is a range of lines as diffs count them.
func extent(from, to int) string {
	if to == from {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func lines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), "\n")
}
