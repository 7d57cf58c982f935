package source

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mnemehq/mneme/core/port"
)

// Bounds of patterns. Alternatives in braces multiply, and each file is held against each.
const (
	maxPatterns     = 100
	maxPattern      = 1000
	maxBraces       = 3
	maxAlternatives = 30
)

// FilterSchema are the properties of a configuration that NewFilter takes, to be put
// among those of a kind's schema.
const FilterSchema = `"include": {
      "type": "array", "items": {"type": "string"},
      "description": "Only files that one of these patterns matches; none: all. ` + patterns + `"
    },
    "exclude": {
      "type": "array", "items": {"type": "string"},
      "description": "No file or folder that one of these patterns matches. ` + patterns + `"
    },
    "hidden": {
      "type": "boolean", "default": false,
      "description": "Also files and folders whose names begin with a dot; never .git and what macOS adds (.DS_Store, ._*)."
    }`

const patterns = "Of *, ?, [abc], {a,b} and ** for any folders; one without a slash is of a name in any folder."

// FilterConfig is the part of a configuration that FilterSchema describes.
type FilterConfig struct {
	Include []string `json:"include"`
	Exclude []string `json:"exclude"`
	Hidden  bool     `json:"hidden"`
}

// Filter chooses among the files of a tree, by paths with slashes that are relative to
// its root.
type Filter struct {
	include, exclude []string
	hidden           bool
}

// NewFilter makes a filter, or says what is wrong with the patterns.
func NewFilter(c FilterConfig) (Filter, []port.SourceFieldProblem) {
	f := Filter{hidden: c.Hidden}
	var problems []port.SourceFieldProblem
	take := func(field string, patterns []string) (out []string) {
		for i, p := range patterns {
			anchored, why := pattern(p)
			if why != "" {
				problems = append(problems, port.SourceFieldProblem{Field: fmt.Sprintf("config.%s[%d]", field, i), Message: why})
			}
			out = append(out, anchored)
		}
		if len(patterns) > maxPatterns {
			problems = append(problems, port.SourceFieldProblem{
				Field: "config." + field, Message: fmt.Sprintf("has more than %d patterns", maxPatterns)})
		}
		return out
	}
	f.include, f.exclude = take("include", c.Include), take("exclude", c.Exclude)
	return f, problems
}

// pattern is a pattern as doublestar takes it, or why it is none.
func pattern(p string) (anchored, why string) {
	switch {
	case p == "" || len(p) > maxPattern:
		return "", fmt.Sprintf("has to have 1 to %d bytes", maxPattern)
	case !doublestar.ValidatePattern(p):
		return "", "is not a pattern: brackets, braces and backslashes need their other half"
	case strings.Count(p, "{") > maxBraces || strings.Count(p, ",") > maxAlternatives:
		return "", fmt.Sprintf("has more than %d braces or %d commas", maxBraces, maxAlternatives)
	}
	p = strings.TrimSuffix(p, "/")
	if !strings.Contains(p, "/") {
		return "**/" + p, ""
	}
	return strings.TrimPrefix(p, "/"), ""
}

// File reports whether the file at a path is chosen. The folders that it lies in are not
// looked at.
func (f Filter) File(path string) bool {
	if !f.name(path) || match(f.exclude, path) {
		return false
	}
	return len(f.include) == 0 || match(f.include, path)
}

// Folder reports whether a folder may hold files that are chosen.
func (f Filter) Folder(path string) bool { return f.name(path) && !match(f.exclude, path) }

// Tree reports whether the file at a path is chosen, and no folder that it lies in is
// left out.
func (f Filter) Tree(path string) bool {
	for i := range len(path) {
		if path[i] == '/' && !f.Folder(path[:i]) {
			return false
		}
	}
	return f.File(path)
}

// name reports whether the last name of a path may be shown.
func (f Filter) name(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if name == ".git" || name == ".DS_Store" || strings.HasPrefix(name, "._") { // the latter two of macOS, about other files
		return false
	}
	return f.hidden || !strings.HasPrefix(name, ".")
}

func match(patterns []string, path string) bool {
	for _, p := range patterns {
		if doublestar.MatchUnvalidated(p, path) {
			return true
		}
	}
	return false
}
