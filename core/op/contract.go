package op

import "fmt"

// Answer is one of the success answers of an operation, for what its Go types do
// not say. An operation that lists none has one, with status Spec.Success and
// body Out.
type Answer struct {
	Status  int
	Summary string   // one line; empty: the status's own name
	Body    any      // a zero value of the body's type; nil: no body
	Lines   []any    // of a stream of JSON lines: zero values of the lines' types
	Headers []string // that this answer may carry, beside those of every answer
}

// Link says how an answer leads to a call of another operation (OpenAPI 3.1,
// section 4.8.20), for clients and for tests that walk through states.
type Link struct {
	Name       string            // "read"; unique within the operation
	To         string            // Name of the other operation
	Status     int               // of the answer it starts from; 0: the success status
	Parameters map[string]string // path and query fields to runtime expressions, "$response.body#/id"
	Summary    string            // one line
}

// Event describes the events of one kind, which callers can be told of.
type Event struct {
	Name    string // its type, such as "documents.written"
	Summary string // a sentence
	Admin   bool   // only admin keys see it
	Body    any    // a value of the type that is sent: type, timestamp and data
	Example string // JSON of one
}

// Schemer is implemented by a type whose JSON is not what its Go type says:
// JSONSchema is the text of a JSON Schema (2020-12). For a struct without a JSON
// method of its own the text holds keywords beside those that its fields make,
// such as oneOf.
type Schemer interface{ JSONSchema() string }

// Alternator is implemented by a struct with fields that hold any of several
// types, such as a json.RawMessage: the JSON names of such fields, each with zero
// values of the types.
type Alternator interface{ Alternatives() map[string][]any }

// Announce sets the headers of a deprecation. Of several that an answer announces
// the first keeps Deprecation and Sunset, and each has its Link. A nil reply has
// no headers.
func (d Deprecation) Announce(r *Reply) {
	if r == nil {
		return
	}
	if r.Header["Deprecation"] == "" {
		r.Set("Deprecation", fmt.Sprintf("@%d", d.Since.Unix()))
		if !d.Sunset.IsZero() {
			r.Set("Sunset", d.Sunset.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")) // IMF-fixdate (RFC 9110, 5.6.7)
		}
	}
	link := fmt.Sprintf(`<%s>; rel="deprecation"; type="text/html"`, d.Guide)
	if before := r.Header["Link"]; before != "" {
		link = before + ", " + link
	}
	r.Set("Link", link)
}

// WithExamples gives operations their examples by name. It panics on examples of
// an operation that is not there, which is a mistake in the program.
func WithExamples[S any](ops []Op[S], examples map[string][]Example) []Op[S] {
	left := len(examples)
	for i := range ops {
		if e, ok := examples[ops[i].Spec.Name]; ok {
			ops[i].Spec.Examples = e
			left--
		}
	}
	if left > 0 {
		panic(fmt.Sprintf("op: there are examples of %d operations that are not there", left))
	}
	return ops
}

// WithLinks gives operations their links by name. It panics on links of an
// operation that is not there, which is a mistake in the program.
func WithLinks[S any](ops []Op[S], links map[string][]Link) []Op[S] {
	left := len(links)
	for i := range ops {
		if l, ok := links[ops[i].Spec.Name]; ok {
			ops[i].Spec.Links = l
			left--
		}
	}
	if left > 0 {
		panic(fmt.Sprintf("op: there are links of %d operations that are not there", left))
	}
	return ops
}
