package importer

import (
	"io/fs"
	"time"

	"golang.org/x/text/encoding"
)

// Kind is how a file is read.
type Kind int

// The kinds of files.
const (
	Text      Kind = iota // .txt, .text
	Markdown              // .md, .markdown
	HTML                  // .html, .htm, .xhtml
	JSONLines             // .jsonl, .ndjson, each also with .gz
	JSON                  // .json: one record or an array of them
)

// kindOf tells a file's kind by its name; ok is false for names that are not read.
func kindOf(name string) (k Kind, ok bool) {
	switch ext(name) {
	case ".txt", ".text":
		return Text, true
	case ".md", ".markdown":
		return Markdown, true
	case ".html", ".htm", ".xhtml":
		return HTML, true
	case ".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz":
		return JSONLines, true
	case ".json":
		return JSON, true
	}
	return 0, false
}

// Extensions lists the file names that are read, for help texts.
func Extensions() []string {
	return []string{".txt", ".text", ".md", ".markdown", ".html", ".htm", ".xhtml", ".jsonl", ".ndjson", ".jsonl.gz",
		".ndjson.gz", ".json"}
}

// File is one to import.
type File struct {
	FS      fs.FS
	Path    string // in FS
	Name    string // slash-separated and relative to the folder given; what ids are made of
	Kind    Kind
	Size    int64
	ModTime time.Time

	Abs      string            // on this machine; empty: in no folder of it
	Encoding encoding.Encoding // of text that is not UTF-8; nil: such text is a Problem
}

// document reports a file whose documents are named after it.
func (f File) document() bool { return isDocument(f.Kind) }

func isDocument(k Kind) bool { return k == Text || k == Markdown || k == HTML }
