package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	modelv1 "github.com/mnemehq/mneme/plugins/proto"
)

// The checks of a backend's answers. A backend is not trusted: an answer that breaks a
// rule of the protocol fails the call, and no part of it is used.

// description is a backend's description, checked.
type description struct {
	name, version, digest, licence string
	languages                      []string
	tasks                          []port.Task
	dim, maxTokens                 int
	normalized                     bool
	vocabulary                     uint32
	window                         map[port.Task]int
	counts, ids                    bool
}

var digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

var tasks = map[modelv1.Task]port.Task{
	modelv1.Task_TASK_EMBEDDING: port.TaskEmbed, modelv1.Task_TASK_SPARSE: port.TaskSparse,
	modelv1.Task_TASK_RERANK: port.TaskRerank, modelv1.Task_TASK_ANSWER: port.TaskSynthesize,
}

// checkInfo takes a description.
func checkInfo(m *modelv1.ModelInfo) (description, error) {
	d := description{
		name:      m.GetName(),
		version:   m.GetVersion(),
		digest:    m.GetDigest(),
		licence:   m.GetLicence(),
		languages: m.GetLanguages(),
		counts:    m.GetCountsTokens(),
		ids:       m.GetGivesTokenIds(),
		window:    map[port.Task]int{},
	}
	switch {
	case d.name == "" || d.version == "":
		return d, errors.New("the description has no name or no version")
	case len(d.name) > 200 || len(d.version) > 200 || len(d.licence) > 200 || len(d.languages) > 1000:
		return d, errors.New("the description is too long")
	case !digest.MatchString(d.digest):
		return d, fmt.Errorf("the description's digest %q is not sha256: and 64 hex digits", fault.Clip(d.digest))
	case len(m.GetTasks()) == 0:
		return d, errors.New("the description claims no task")
	}
	for _, t := range m.GetTasks() {
		task, ok := tasks[t.GetTask()]
		if !ok {
			return d, fmt.Errorf("the description claims task %d, which this protocol does not have", t.GetTask())
		}
		if _, twice := d.window[task]; twice {
			return d, fmt.Errorf("the description claims task %s twice", task)
		}
		if t.GetMaxTokens() == 0 && task != port.TaskSynthesize || t.GetMaxTokens() > 1<<24 {
			return d, fmt.Errorf("the description gives task %s a window of %d tokens", task, t.GetMaxTokens())
		}
		switch task {
		case port.TaskEmbed:
			if t.GetDim() == 0 || t.GetDim() > modelv1.MaxDim {
				return d, fmt.Errorf("the description gives vectors %d dimensions, not 1 to %d", t.GetDim(), modelv1.MaxDim)
			}
			d.dim, d.normalized = int(t.GetDim()), t.GetNormalized()
		case port.TaskSparse:
			if d.vocabulary = t.GetVocabulary(); d.vocabulary == 0 {
				return d, errors.New("the description gives sparse vectors no vocabulary")
			}
		}
		d.tasks = append(d.tasks, task)
		d.window[task] = int(t.GetMaxTokens())
		d.maxTokens = max(d.maxTokens, int(t.GetMaxTokens()))
	}
	return d, nil
}

// checkDense takes vectors of unit length; those of a model that does not claim to
// give them are divided by their length.
func checkDense(m *modelv1.DenseBatch, rows int, d description) ([]float32, []int, error) {
	if int64(m.GetDim()) != int64(d.dim) || len(m.GetData()) != rows*d.dim*4 {
		return nil, nil, fmt.Errorf("%d bytes of vectors of %d dimensions for %d texts of %d", len(m.GetData()),
			m.GetDim(), rows, d.dim)
	}
	read, err := checkTokens(m.GetTokens(), rows, d.window[port.TaskEmbed])
	if err != nil {
		return nil, nil, err
	}
	data := make([]float32, rows*d.dim)
	for i := range data {
		data[i] = math.Float32frombits(binary.LittleEndian.Uint32(m.GetData()[4*i:]))
	}
	if err := (port.Dense{Dim: d.dim, Data: data}).Unit(d.normalized); err != nil {
		return nil, nil, err
	}
	return data, read, nil
}

// checkTokens takes the tokens read of each text.
func checkTokens(tokens []uint32, rows, window int) ([]int, error) {
	if len(tokens) != rows {
		return nil, fmt.Errorf("%d counts of tokens for %d texts", len(tokens), rows)
	}
	out := make([]int, rows)
	for i, n := range tokens {
		if int64(n) > int64(window) {
			return nil, fmt.Errorf("text %d read as %d tokens through a window of %d", i, n, window)
		}
		out[i] = int(n)
	}
	return out, nil
}

// checkOffsets takes the row offsets of n values.
func checkOffsets(offsets []uint32, rows, n int) error {
	if len(offsets) != rows+1 || offsets[0] != 0 || int64(offsets[rows]) != int64(n) {
		return fmt.Errorf("%d row offsets over %d values for %d texts", len(offsets), n, rows)
	}
	for i := range rows {
		if offsets[i] > offsets[i+1] {
			return fmt.Errorf("row offsets fall behind row %d", i)
		}
	}
	return nil
}

// checkSparse takes sparse vectors.
func checkSparse(m *modelv1.SparseBatch, rows int, d description) ([]int, error) {
	if len(m.GetTerms()) != len(m.GetWeights()) {
		return nil, fmt.Errorf("%d terms with %d weights", len(m.GetTerms()), len(m.GetWeights()))
	}
	if err := checkOffsets(m.GetRowOffsets(), rows, len(m.GetTerms())); err != nil {
		return nil, err
	}
	read, err := checkTokens(m.GetTokens(), rows, d.window[port.TaskSparse])
	if err != nil {
		return nil, err
	}
	for r := range rows {
		for i := m.GetRowOffsets()[r]; i < m.GetRowOffsets()[r+1]; i++ {
			term, w := m.GetTerms()[i], m.GetWeights()[i]
			switch {
			case term >= d.vocabulary:
				return nil, fmt.Errorf("term %d of a vocabulary of %d", term, d.vocabulary)
			case i > m.GetRowOffsets()[r] && term <= m.GetTerms()[i-1]:
				return nil, fmt.Errorf("terms do not rise in row %d", r)
			case !(w > 0) || math.IsInf(float64(w), 0):
				return nil, fmt.Errorf("term %d has the weight %g", term, w)
			}
		}
	}
	return read, nil
}

// checkScores takes probabilities, and how many texts were cut.
func checkScores(m *modelv1.ScoreBatch, rows int) (truncated int, err error) {
	if len(m.GetScores()) != rows || int64(m.GetTruncated()) > int64(rows) {
		return 0, fmt.Errorf("%d scores and %d cut texts for %d texts", len(m.GetScores()), m.GetTruncated(), rows)
	}
	for i, s := range m.GetScores() {
		if !(s >= 0 && s <= 1) {
			return 0, fmt.Errorf("score %d is %g, which is no probability", i, s)
		}
	}
	return int(m.GetTruncated()), nil
}

// checkCounts takes counts of word pieces: at most one for each byte of a text, except
// for what a model adds to an empty one.
func checkCounts(m *modelv1.TokenCounts, texts []string) ([]int, error) {
	if len(m.GetCounts()) != len(texts) {
		return nil, fmt.Errorf("%d counts for %d texts", len(m.GetCounts()), len(texts))
	}
	out := make([]int, len(texts))
	for i, n := range m.GetCounts() {
		if int64(n) > 4*int64(len(texts[i]))+16 {
			return nil, fmt.Errorf("%d word pieces in a text of %d bytes", n, len(texts[i]))
		}
		out[i] = int(n)
	}
	return out, nil
}

// checkIDs takes word pieces.
func checkIDs(m *modelv1.TokenIdBatch, rows int, d description) ([][]uint32, error) {
	if err := checkOffsets(m.GetRowOffsets(), rows, len(m.GetIds())); err != nil {
		return nil, err
	}
	out := make([][]uint32, rows)
	for r := range rows {
		out[r] = m.GetIds()[m.GetRowOffsets()[r]:m.GetRowOffsets()[r+1]]
		if len(out[r]) > d.maxTokens {
			return nil, fmt.Errorf("row %d has %d word pieces through a window of %d", r, len(out[r]), d.maxTokens)
		}
		for _, id := range out[r] {
			if d.vocabulary > 0 && id >= d.vocabulary {
				return nil, fmt.Errorf("word piece %d of a vocabulary of %d", id, d.vocabulary)
			}
		}
	}
	return out, nil
}

// bytesPerToken is how many bytes an answer may have for each token asked for.
const bytesPerToken = 32

// answer gathers the chunks of an answer.
type answer struct {
	max    int
	chunks int
	text   strings.Builder
	out    port.Synthesis
	done   bool
}

func (a *answer) add(c *modelv1.GenerateChunk) error {
	if a.done {
		return errors.New("the answer goes on behind its end")
	}
	if !utf8.ValidString(c.GetText()) {
		return errors.New("the answer is not valid UTF-8")
	}
	if a.chunks++; a.chunks > bytesPerToken*a.max+1 || a.text.Len()+len(c.GetText()) > bytesPerToken*a.max {
		return fmt.Errorf("the answer has more than %d bytes or parts for %d tokens", bytesPerToken*a.max, a.max)
	}
	a.text.WriteString(c.GetText())
	if c.GetDone() {
		a.done = true
		a.out = port.Synthesis{Text: strings.TrimSpace(a.text.String()), InputTokens: int(c.GetInputTokens()),
			OutputTokens: int(c.GetOutputTokens())}
	}
	return nil
}
