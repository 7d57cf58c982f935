package port

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// File is a file to read, whole in memory.
type File struct {
	Name string // as its sender calls it, such as "report.pdf"; may be empty
	// MediaType is what its sender says that it is; may be empty. An Extractor that is
	// called for one of its Formats finds here which one the content is of.
	MediaType string
	Charset   string // of text, as its sender says, such as "windows-1252"; may be empty
	Content   []byte // an Extractor does not change it and does not keep it
}

// Format is a kind of file that can be read.
type Format struct {
	MediaType  string   // without parameters, such as "application/pdf"
	Name       string   // for people, such as "PDF"
	Extensions []string // of file names, with the dot, in lower case
}

// Extracted is the text of a file.
type Extracted struct {
	Format Format // that the content was read as
	Title  string // that the file gives itself; may be empty
	// Metadata is what else the file says of itself, such as its author, in values
	// that metadata of documents may have.
	Metadata map[string]any
	Sections []Section // in reading order
}

// Section is a stretch of a file's text. Where a text is too long for one document, it is
// best cut between sections.
type Section struct {
	// Text is Markdown: headings are lines with #, tables rows of |, blank lines end
	// paragraphs. It is UTF-8 without NUL. On a page it holds no form feed; in the text of a
	// file without pages one begins a page, as in plain text.
	Text string
	// Page is the page or slide that the section is on, from 1, and never falls from one to
	// the next; 0: the file has no pages. A section is on one page.
	Page int
}

// FileCode says why a file could not be read.
type FileCode string

// The codes. They are of the file: trying again changes nothing, other than after a time-out.
const (
	FileEncrypted   FileCode = "encrypted"   // a password is needed
	FileNoText      FileCode = "no_text"     // it holds none, such as scanned pages
	FileTooLarge    FileCode = "too_large"   // it, or what it expands to, breaks a limit
	FileBroken      FileCode = "broken"      // it is not what it begins as
	FileUnsupported FileCode = "unsupported" // nothing here reads its kind
	FileTimeout     FileCode = "timeout"     // reading took too long
)

// FileError is why a file could not be read.
type FileError struct {
	Code    FileCode
	Message string // for the client that sent the file: a sentence less its subject, the file's name: "is encrypted"
	Err     error  // the cause, for the log only; may be nil
}

// FileErrorf makes a FileError; err is its cause, or nil.
func FileErrorf(c FileCode, err error, format string, args ...any) *FileError {
	return &FileError{Code: c, Message: fmt.Sprintf(format, args...), Err: err}
}

// Error gives code and message; the cause is left out on purpose.
func (e *FileError) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap gives the cause.
func (e *FileError) Unwrap() error { return e.Err }

// Extractor reads text out of files. Safe for concurrent use.
type Extractor interface {
	// Formats lists what it reads.
	Formats() []Format
	// Extract reads a file of one of its formats. Equal files give equal results, and
	// there is text in one section at least. Files come from strangers: whatever
	// one holds, reading ends, in bounded memory. The error is a *FileError, the
	// context's once that has ended, or, of an extractor outside this process, a fault.
	Extract(ctx context.Context, f File) (Extracted, error)
}

// PageAt is the page of a place in a document's text, in bytes: that of metadata page, or
// the first, and one more for each form feed before the place; 0 where the document has
// neither, and so no pages.
func PageAt(metadata json.RawMessage, text string, at int) int {
	var m struct {
		Page json.Number `json:"page"`
	}
	page := 0
	if json.Unmarshal(metadata, &m) == nil {
		if n, err := m.Page.Int64(); err == nil && n > 0 && n < maxPage {
			page = int(n)
		}
	}
	if page == 0 {
		if !strings.Contains(text, "\f") {
			return 0
		}
		page = 1
	}
	return page + strings.Count(text[:at], "\f")
}

// maxPage keeps what callers write into metadata from overflowing.
const maxPage = 1 << 30
