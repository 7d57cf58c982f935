package mneme

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/mnemehq/mneme/wasm/abi"
)

// Model is what a module offers. Leave nil what it does not do. Calls come one
// at a time.
type Model struct {
	Description Description

	// Open is called once, before anything else, with config of model.json and, as
	// further members, the settings that it declares and that have a value (JSON; {}
	// when there is neither). A model whose Open fails is refused at the
	// start, with the error's text.
	Open func(config []byte) error

	// Embed gives each text a vector of the described dimensions and unit length.
	// Query says that the texts are queries, not passages.
	Embed func(texts []string, query bool) (Dense, error)

	// Sparse gives each text weighted terms.
	Sparse func(texts []string, query bool) (Sparse, error)

	// Rerank gives each text the probability that it answers the query.
	Rerank func(query string, texts []string) (Scores, error)

	// Tokens counts the tokens of each text, beyond the window as well, without
	// running the model. Without it the host estimates.
	Tokens func(texts []string) ([]int, error)
}

// Description is what a model says about itself.
type Description struct {
	Name    string
	Version string
	Licence string // SPDX expression
	Tasks   []Task
}

// Task is one thing that a model does: "embedding", "sparse" or "rerank".
type Task struct {
	Task       string
	MaxTokens  int  // window; longer texts are cut
	Dim        int  // embedding: dimensions
	Normalized bool // embedding: vectors have unit length
	Vocab      int  // sparse: terms are below it
}

// Dense are vectors.
type Dense struct {
	Vectors [][]float32
	Tokens  []int // read of each text; the window of one that was cut
}

// Sparse are vectors of terms.
type Sparse struct {
	Rows   [][]Term // terms rise within a row, each once
	Tokens []int    // as of Dense
}

// Term is a term of a sparse vector.
type Term struct {
	ID     uint32
	Weight float32 // above 0
}

// Scores are the answers of a reranker.
type Scores struct {
	Probabilities []float32 // 0 to 1, of each text
	Cut           []bool    // the text did not fit the window; nil: all did
	Tokens        []int     // read for each text, the query's included; may be nil
}

// ErrInput marks an error that is the caller's fault, such as a text in a language
// that the model does not read: the caller gets its text with status 400. Any
// other error is the model's: the log gets its text.
var ErrInput = errors.New("invalid input")

// Register makes m the module's model. Call it from init, once.
func Register(m Model) { export(m) }

// Serve answers an operation as the module's exports do: function is the name of
// an export that takes a frame. Tests of a model may call it on any system.
func (m Model) Serve(function string, frame []byte) (answer []byte) {
	defer func() {
		if p := recover(); p != nil {
			Log(Error, fmt.Sprintf("%s: panic: %v", function, p))
			answer = abi.AppendError(nil, abi.Error{Code: abi.CodeInternal, Message: fmt.Sprintf("panic: %v", p)})
		}
	}()
	result, err := m.serve(function, frame)
	if err != nil {
		e := abi.Error{Code: abi.CodeInternal, Message: err.Error()}
		if function == abi.FuncOpen {
			e.Code = abi.CodeUnsupported
		}
		var stated *abi.Error
		if errors.As(err, &stated) {
			e.Code = stated.Code
		} else if errors.Is(err, ErrInput) {
			e.Code = abi.CodeInvalid
		}
		return abi.AppendError(nil, e)
	}
	return result.Append(nil)
}

func (m Model) serve(function string, frame []byte) (abi.Result, error) {
	if function == abi.FuncOpen {
		if m.Open != nil {
			if err := m.Open(frame); err != nil {
				return abi.Result{}, err
			}
		}
		return abi.Result{Kind: abi.KindText}, nil
	}
	if !abi.Understood(frame) {
		return abi.Result{}, &abi.Error{Code: abi.CodeUnsupported,
			Message: "the request has a version or a flag that the model does not know"}
	}
	q, err := abi.ParseRequest(frame)
	if err != nil {
		return abi.Result{}, &abi.Error{Code: abi.CodeInvalid, Message: err.Error()}
	}
	switch {
	case function == abi.FuncEmbed && m.Embed != nil:
		return m.embed(q)
	case function == abi.FuncSparse && m.Sparse != nil:
		return m.sparse(q)
	case function == abi.FuncRerank && m.Rerank != nil:
		return m.rerank(q)
	case function == abi.FuncTokens && m.Tokens != nil:
		counts, err := m.Tokens(q.Rows)
		if err == nil && len(counts) != len(q.Rows) {
			err = fmt.Errorf("%d counts for %d texts", len(counts), len(q.Rows))
		}
		return abi.Result{Kind: abi.KindCounts, Rows: len(q.Rows), Counts: words(counts)}, err
	}
	return abi.Result{}, &abi.Error{Code: abi.CodeUnsupported, Message: "the model does not do " + function}
}

func (m Model) embed(q abi.Request) (abi.Result, error) {
	d, err := m.Embed(q.Rows, q.Query)
	if err != nil {
		return abi.Result{}, err
	}
	if len(d.Vectors) != len(q.Rows) || len(d.Tokens) != len(q.Rows) {
		return abi.Result{}, fmt.Errorf("%d vectors and %d token counts for %d texts", len(d.Vectors), len(d.Tokens), len(q.Rows))
	}
	r := abi.Result{Kind: abi.KindDense, Rows: len(q.Rows), Tokens: words(d.Tokens)}
	for _, t := range m.Description.Tasks {
		if t.Task == "embedding" {
			r.Dim = t.Dim
		}
	}
	r.Floats = make([]float32, 0, r.Rows*r.Dim)
	for i, v := range d.Vectors {
		if len(v) != r.Dim {
			return abi.Result{}, fmt.Errorf("vector %d has %d dimensions, described are %d", i, len(v), r.Dim)
		}
		r.Floats = append(r.Floats, v...)
	}
	return r, nil
}

func (m Model) sparse(q abi.Request) (abi.Result, error) {
	s, err := m.Sparse(q.Rows, q.Query)
	if err != nil {
		return abi.Result{}, err
	}
	if len(s.Rows) != len(q.Rows) || len(s.Tokens) != len(q.Rows) {
		return abi.Result{}, fmt.Errorf("%d rows and %d token counts for %d texts", len(s.Rows), len(s.Tokens), len(q.Rows))
	}
	r := abi.Result{Kind: abi.KindSparse, Rows: len(q.Rows), Index: make([]uint32, 1, len(q.Rows)+1), Tokens: words(s.Tokens)}
	for _, row := range s.Rows {
		for _, t := range row {
			r.Terms, r.Floats = append(r.Terms, t.ID), append(r.Floats, t.Weight)
		}
		r.Index = append(r.Index, uint32(len(r.Terms)))
	}
	return r, nil
}

func (m Model) rerank(q abi.Request) (abi.Result, error) {
	if len(q.Rows) == 0 {
		return abi.Result{}, &abi.Error{Code: abi.CodeInvalid, Message: "there is no query"}
	}
	texts := q.Rows[1:]
	s, err := m.Rerank(q.Rows[0], texts)
	if err != nil {
		return abi.Result{}, err
	}
	if len(s.Probabilities) != len(texts) || s.Cut != nil && len(s.Cut) != len(texts) ||
		s.Tokens != nil && len(s.Tokens) != len(texts) {
		return abi.Result{}, fmt.Errorf("%d scores, %d cuts and %d token counts for %d texts", len(s.Probabilities),
			len(s.Cut), len(s.Tokens), len(texts))
	}
	r := abi.Result{Kind: abi.KindScores, Rows: len(texts), Floats: s.Probabilities, Cut: make([]uint32, len(texts))}
	if s.Tokens != nil {
		r.Tokens = words(s.Tokens)
	}
	for i, cut := range s.Cut {
		if cut {
			r.Cut[i] = 1
		}
	}
	return r, nil
}

func words(v []int) []uint32 {
	out := make([]uint32, len(v))
	for i, x := range v {
		out[i] = uint32(x)
	}
	return out
}

// describe writes the description as JSON, by hand: encoding/json would make a
// module half as large again.
func (m Model) describe() []byte {
	d := m.Description
	b := fmt.Appendf(nil, `{"name":%s,"version":%s,"licence":%s,"tasks":[`, quote(d.Name), quote(d.Version), quote(d.Licence))
	for i, t := range d.Tasks {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"task":%s,"max_tokens":%d,"dim":%d,"normalized":%t,"vocab":%d}`, quote(t.Task),
			t.MaxTokens, t.Dim, t.Normalized, t.Vocab)
	}
	return append(b, "]}"...)
}

// quote writes a JSON string, RFC 8259 section 7.
func quote(s string) string {
	b := []byte{'"'}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ':
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return string(append(b, '"'))
}

// Level is how urgent a line of the log is.
type Level uint32

// The levels.
const (
	Debug Level = iota
	Info
	Warn
	Error
)
