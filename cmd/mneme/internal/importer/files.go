package importer

import (
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/encoding"

	"github.com/mnemehq/mneme/adapters/standard"
	"github.com/mnemehq/mneme/core/port"
)

// Kind is how a file is read.
type Kind int

// The kinds of files.
const (
	Document  Kind = iota // its text, by an extractor
	JSONLines             // .jsonl, .ndjson, each also with .gz: records
	JSON                  // .json: one record or an array of them
)

// kinds are the names of files that are read, by their extension.
type kinds map[string]Kind

func kindsOf(e port.Extractor) kinds {
	k := kinds{}
	for _, f := range e.Formats() {
		for _, ext := range f.Extensions {
			k[ext] = Document
		}
	}
	for ext, kind := range records {
		k[ext] = kind
	}
	return k
}

// of tells a file's kind by its name; ok is false for names that are not read.
func (k kinds) of(name string) (kind Kind, ok bool) {
	kind, ok = k[ext(name)]
	return kind, ok
}

// records are the extensions of files that hold records of documents.
var records = map[string]Kind{
	".jsonl": JSONLines, ".ndjson": JSONLines, ".jsonl.gz": JSONLines, ".ndjson.gz": JSONLines, ".json": JSON,
}

// stock reads what a stock binary reads.
func stock() port.Extractor { return standard.Extractor("", nil, slog.New(slog.DiscardHandler)) }

// Extensions lists the file names that are read, for help texts; those of source code
// are too many to name.
func Extensions() []string {
	out := []string{".txt", ".text", ".md", ".markdown", ".html", ".htm", ".xhtml", ".jsonl", ".ndjson", ".jsonl.gz",
		".ndjson.gz", ".json"}
	for _, f := range stock().Formats() {
		for _, ext := range f.Extensions {
			if f.MediaType != "text/x-source" && !slices.Contains(out, ext) {
				out = append(out, ext)
			}
		}
	}
	return out
}

// notRead says of a file that was named why it is not read.
func notRead() string { return "not one of " + strings.Join(Extensions(), " ") }

// File is one to import.
type File struct {
	FS      fs.FS
	Path    string // in FS
	Name    string // slash-separated and relative to the folder given; what ids are made of
	Kind    Kind
	Size    int64
	ModTime time.Time

	Extractor port.Extractor    // of a Document
	Abs       string            // on this machine; empty: in no folder of it
	Encoding  encoding.Encoding // of text that is not UTF-8; nil: such text is a Problem
}

// document reports a file whose documents are named after it.
func (f File) document() bool { return f.Kind == Document }

// ofFirstVersions are the documents' extensions in journals that kept no ids.
var ofFirstVersions = []string{".txt", ".text", ".md", ".markdown", ".html", ".htm", ".xhtml"}
