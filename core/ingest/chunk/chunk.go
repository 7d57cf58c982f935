package chunk

import (
	"context"
	"crypto/sha256"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Version names the rules of this package. Namespaces record it: chunks of two
// versions differ, and changing over is a deliberate rebuild.
const Version = "3"

// Limits of Options.
const (
	MinTokens  = 64
	MaxOverlap = 4
)

const (
	bytesPerPiece   = 32 // a chunk holds at most MaxTokens times this, whatever the counter says
	maxHeadingBytes = 200
	contextShare    = 5 // outer headings and a document's title end at MaxTokens divided by this
)

// A Counter gives the number of word pieces of each text, special tokens left
// out. The count of two texts joined by white space should be the sum of theirs,
// as WordPiece has it; a counter that is off by a little makes chunks that are
// off by a little. Split calls it with at most 4,096 texts and 256 KiB a call
// and never with an empty text.
type Counter func(ctx context.Context, texts []string) ([]int, error)

// Options are the sizes of chunks.
type Options struct {
	MaxTokens int  // word pieces of a chunk, its context included; at least MinTokens
	Overlap   int  // sentences repeated between chunks of one paragraph; at most MaxOverlap
	Whole     bool // a text that fits is one chunk, whatever its structure: memories, dialog turns
}

// Default gives the measured sizes: 160 word pieces, one sentence of overlap.
func Default() Options { return Options{MaxTokens: 160, Overlap: 1} }

// Document is what is cut.
type Document struct {
	Text string

	// Title is what is known of it beside the text, in one line or several; "": nothing. What
	// is too long to be context is cut.
	Title string
}

// Untitled are documents of which nothing is known but their texts.
func Untitled(texts ...string) []Document {
	out := make([]Document, len(texts))
	for i, text := range texts {
		out[i].Text = text
	}
	return out
}

// Split cuts the text of each document into chunks, ordered by Start then End. A text without a
// character that is not white space has none; any other has at least one. Chunks
// start and end on UTF-8 boundaries and on no white space. Equal documents give equal
// chunks. A nil counter counts by Approximate. Texts should be valid UTF-8.
//
// Errors: InvalidRequest for Options out of range, the context's error, or the
// counter's as it is; Internal when the counter answers with a wrong number of
// counts.
func Split(ctx context.Context, of []Document, count Counter, opt Options) ([][]port.Chunk, error) {
	if opt.MaxTokens < MinTokens {
		return nil, fault.Field(fault.InvalidRequest, "max_tokens", "is %d; at least %d", opt.MaxTokens, MinTokens)
	}
	if opt.Overlap < 0 || opt.Overlap > MaxOverlap {
		return nil, fault.Field(fault.InvalidRequest, "overlap", "is %d; 0 to %d", opt.Overlap, MaxOverlap)
	}
	if count == nil {
		count = Approximate
	}
	docs := make([]*layout, len(of))
	sizes := opt.sizes()
	var t tally
	for i, doc := range of {
		docs[i] = parse(doc)
		docs[i].countParts(&t, sizes)
	}
	// Two rounds: everything a chunk is packed from, then the words of the few
	// parts that turn out to be longer than a chunk.
	if err := t.run(ctx, count); err != nil {
		return nil, err
	}
	t = tally{}
	for _, d := range docs {
		d.countWords(&t, sizes)
	}
	if err := t.run(ctx, count); err != nil {
		return nil, err
	}
	out := make([][]port.Chunk, len(of))
	for i, d := range docs {
		out[i] = d.pack(sizes)
	}
	return out, nil
}

// Text is what is indexed and embedded for a chunk of doc: its context on lines
// of their own, then its slice.
func Text(doc string, c port.Chunk) string {
	if c.Context == "" {
		return doc[c.Start:c.End]
	}
	return c.Context + "\n" + doc[c.Start:c.End]
}

// Heading is what of the context of a chunk of doc are headings; "": nothing is. A table's
// header row is none: it stands on a second line, or alone where the rows have no heading.
func Heading(doc string, c port.Chunk) string {
	first, second, _ := strings.Cut(c.Context, "\n")
	if second == "" && strings.Contains(first, "|") && headerIn(doc[:c.Start], first) {
		return ""
	}
	return first
}

// headerIn reports whether a line of a text is the header row of a table: a delimiter row follows.
func headerIn(text, line string) bool {
	for {
		at := strings.LastIndex(text, line)
		if at < 0 {
			return false
		}
		_, below, _ := strings.Cut(text[at+len(line):], "\n")
		below, _, _ = strings.Cut(below, "\n")
		if strings.Contains(below, "-") && strings.Trim(below, "|:- \t\r") == "" {
			return true
		}
		text = text[:at]
	}
}

func hash(context, slice string) (h [16]byte) {
	// The NUL keeps a line that moves from slice to context from keeping its hash.
	sum := sha256.Sum256([]byte(context + "\x00" + slice))
	copy(h[:], sum[:])
	return h
}

// sizes are Options worked out.
type sizes struct {
	Options
	bytes   int // of a chunk
	outer   int // pieces of a known title, and of context while more than one heading is in it
	context int // pieces of context that is one heading
}

func (o Options) sizes() sizes {
	return sizes{o, o.MaxTokens * bytesPerPiece, o.MaxTokens / contextShare, 2 * o.MaxTokens / contextShare}
}
