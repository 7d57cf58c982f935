package importer

import (
	"fmt"
	"path"
	"strings"

	"github.com/mnemehq/mneme/core/file"
)

// MaxText is the longest text of a document, in bytes of UTF-8.
const MaxText = file.MaxText

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

func ext(name string) string {
	e := strings.ToLower(path.Ext(name))
	if e == ".gz" {
		e = strings.ToLower(path.Ext(strings.TrimSuffix(name, path.Ext(name)))) + e
	}
	return e
}
