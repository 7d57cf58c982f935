package modelkit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/kit"
)

// Candidate is a model to be checked. Only Open is needed.
type Candidate struct {
	// Name is what the report calls a model that does not open.
	Name string
	// Open opens the model. Check closes what it opened.
	Open func(ctx context.Context) (port.Model, error)
	// Golden holds the vendor's expected answers: every *.json and *.json.gz file
	// of its root; see Golden for their form. nil: none.
	Golden fs.FS
	// MinCosine is how near a vector must be to the golden one; 0: 0.99.
	MinCosine float64
	// Baseline opens a model of a task to compare speed and memory with, which
	// Check closes. nil, or a nil model without an error: none.
	Baseline func(ctx context.Context, task port.Task) (port.Model, error)
	// Endure is how long each task is called on end while memory is watched; 0: a
	// minute.
	Endure time.Duration
	// Settle is how long it is called at most while memory still grows; 0: four times
	// Endure.
	Settle time.Duration
	// Memory tells the bytes that the model holds now and the ceiling that it
	// declared, 0 where it declared none. nil: asked of a model that is a Gauge.
	Memory func(port.Model) (used, ceiling int64)
	// Break makes what runs the model crash. nil: asked of a model that is a Breaker.
	Break func(context.Context, port.Model) error
	// Variants are the model with other values of its own settings; nil: it has none.
	Variants []Variant
	// Progress is called with each step and how far it is; nil: no calls.
	Progress func(Step)
}

// Gauge is an optional ability of a model: the bytes of memory that it holds now
// and the ceiling that it was given, 0 for none.
type Gauge interface {
	Memory() (used, ceiling int64)
}

// Renewer is an optional ability of a model: how often what runs it was out of memory
// and replaced. That hides a leak from callers, and from a look at memory.
type Renewer interface {
	Renewals() int
}

// Describer is an optional ability of a model: what it says of itself where something
// else, such as a manifest, says it too. Not ok: there is nothing to compare.
type Describer interface {
	Described() (name, version, licence string, ok bool)
}

// Breaker is an optional ability of a model: Break makes what runs it crash, as a
// trap in a module or a killed process does. Calls may fail for a while afterwards.
type Breaker interface {
	Break(ctx context.Context) error
}

// Step is what a check is at. A step that lasts says how far it is.
type Step struct {
	Name     string        // "embedding: text"
	Done, Of time.Duration // both 0 for a short step
}

// Outcome of a check.
type Outcome = kit.Outcome

// The outcomes.
const (
	Passed  = kit.Passed
	Failed  = kit.Failed
	Skipped = kit.Skipped
)

// Finding is the outcome of one check.
type Finding = kit.Finding

// Subject is the checked model in a Report.
type Subject struct {
	ID         string      `json:"id"`
	Name       string      `json:"name"`
	Version    string      `json:"version"`
	Tasks      []port.Task `json:"tasks"`
	Digest     string      `json:"digest"`
	Dimensions int         `json:"dimensions,omitempty"`
	MaxTokens  int         `json:"max_tokens,omitempty"`
	Licence    string      `json:"license"`
	Runtime    string      `json:"runtime"`
}

// Report is everything that was found. A model that could not be opened has the
// one finding "opens".
type Report struct {
	Model    Subject       `json:"model"`
	Findings []Finding     `json:"findings"`
	Speed    []Speed       `json:"speed"` // one a task
	Started  time.Time     `json:"started"`
	Took     time.Duration `json:"took_ns"`
}

// Failed counts the expectations that did not hold.
func (r Report) Failed() int { return kit.Count(r.Findings, Failed) }

// Skipped counts the checks that found nothing to look at.
func (r Report) Skipped() int { return kit.Count(r.Findings, Skipped) }

// Tasks are the tasks that a check knows.
func Tasks() []port.Task {
	return []port.Task{port.TaskEmbed, port.TaskSparse, port.TaskRerank, port.TaskSynthesize}
}

// Check opens the candidate, runs the checks of every task that it claims, and
// closes it. A check that was cut short by the end of ctx has the failed finding
// "finished".
func Check(ctx context.Context, c Candidate) Report {
	k := &check{
		ctx:      ctx,
		c:        c,
		findings: kit.NewFindings(),
		report:   &Report{Started: time.Now(), Speed: []Speed{}},
	}
	k.report.Model = Subject{ID: c.Name, Tasks: []port.Task{}}
	k.run()
	k.report.Findings = k.findings.All()
	k.report.Took = time.Since(k.report.Started)
	return *k.report
}

// Run makes the findings of Check subtests. A quarter of a minute is endured unless
// the candidate says otherwise, two seconds under -short.
func Run(t *testing.T, c Candidate) {
	t.Helper()
	if c.Endure == 0 {
		if c.Endure = 15 * time.Second; testing.Short() {
			c.Endure = 2 * time.Second
		}
	}
	r := Check(t.Context(), c)
	kit.Subtests(t, r.Findings)
	for _, s := range r.Speed {
		t.Log(s)
	}
}

// check is a Check that runs.
type check struct {
	ctx      context.Context
	c        Candidate
	model    port.Model
	info     port.ModelInfo
	tokens   bool // the model counts the tokens that it reads
	report   *Report
	findings *kit.Findings
	opening  time.Duration
}

func (k *check) run() {
	k.step("open")
	started := time.Now()
	m, err := k.c.Open(k.ctx)
	k.opening = time.Since(started)
	k.expect("opens", "the model opens", err == nil && m != nil, "%v", err)
	if err != nil || m == nil {
		return
	}
	k.model, k.info = m, m.Info()
	i := k.info
	k.report.Model = Subject{
		ID:         i.ID,
		Name:       i.Name,
		Version:    i.Version,
		Tasks:      i.Tasks,
		Digest:     i.Digest,
		Dimensions: i.Dimensions,
		MaxTokens:  i.MaxTokens,
		Licence:    i.Licence,
		Runtime:    i.Runtime,
	}
	if k.report.Model.Tasks == nil {
		k.report.Model.Tasks = []port.Task{}
	}
	k.describes()
	for _, task := range Tasks() {
		if slices.Contains(i.Tasks, task) {
			k.task(task)
		} else {
			k.refuses(task)
		}
	}
	k.settings()
	k.golden()
	k.speeds()
	if err := k.ctx.Err(); err != nil {
		k.expect("finished", "every check is run", false, "%v", err)
	}
	k.step("close")
	err = m.Close()
	k.expect("closes", "the model closes", err == nil, "%v", err)
}

// task runs the checks of one task, given that the model can be called for it.
func (k *check) task(task port.Task) {
	switch task {
	case port.TaskEmbed:
		if m, ok := k.model.(port.Embedder); ok {
			k.embedding(m)
		}
	case port.TaskSparse:
		if m, ok := k.model.(port.SparseEncoder); ok {
			k.sparse(m)
		}
	case port.TaskRerank:
		if m, ok := k.model.(port.Reranker); ok {
			k.rerank(m)
		}
	case port.TaskSynthesize:
		if m, ok := k.model.(port.Synthesizer); ok {
			k.answer(m)
		}
	}
}

func (k *check) step(name string) {
	if k.c.Progress != nil {
		k.c.Progress(Step{Name: name})
	}
}

// expect records whether an expectation held.
func (k *check) expect(id, expect string, ok bool, saw string, args ...any) {
	for i, a := range args {
		if err, is := a.(error); is && !ok {
			args[i] = causes(err)
		}
	}
	k.findings.Expect(id, expect, ok, saw, args...)
}

// alike tells whether a description says the same as a manifest, where it says anything.
func alike(described, manifest string) bool { return described == "" || described == manifest }

// causes is an error with the causes that its faults keep for the log: anyone who checks a
// model wants to know which value was wrong.
func causes(err error) string {
	text := err.Error()
	var f *fault.Error
	for errors.As(err, &f) && f.Err != nil {
		if err = f.Err; !strings.Contains(text, err.Error()) {
			text += ": " + err.Error()
		}
	}
	return text
}

// skip records that there was nothing to look at.
func (k *check) skip(id, expect, why string) { k.findings.Skip(id, expect, why) }

func (k *check) describes() {
	k.step("describe")
	i := k.info
	k.expect("describes.name", "a name", i.Name != "", "none")
	if d, is := k.model.(Describer); is {
		if name, version, licence, ok := d.Described(); ok {
			k.expect("describes.required", "a name and a version in the description", name != "" && version != "",
				"name %q, version %q", name, version)
			k.expect("describes.manifest", "the manifest and the description say the same name, version and licence",
				alike(name, i.Name) && alike(version, i.Version) && alike(licence, i.Licence),
				"manifest: %s %s, %s; description: %s %s, %s", i.Name, i.Version, i.Licence, name, version, licence)
		}
	}
	if i.Licence == "" && i.Runtime == "remote" {
		k.skip("describes.licence", "a licence", "the configuration states none for this server")
	} else {
		k.expect("describes.licence", "a licence", i.Licence != "", "none")
	}
	k.expect("describes.tasks", "a task, each once, of "+fmt.Sprint(Tasks()), len(i.Tasks) > 0, "none")
	for at, task := range i.Tasks {
		k.expect("describes.tasks", "a task, each once, of "+fmt.Sprint(Tasks()),
			slices.Contains(Tasks(), task) && slices.Index(i.Tasks, task) == at, "%v", i.Tasks)
		k.expect("describes.callable", "each task it claims can be called", callable(k.model, task),
			"it cannot be called for %s", task)
	}
	k.expect("describes.dimensions", "dimensions where it embeds, none elsewhere",
		(i.Dimensions > 0) == slices.Contains(i.Tasks, port.TaskEmbed),
		"%d dimensions for %v", i.Dimensions, i.Tasks)
	if slices.ContainsFunc(i.Tasks, func(t port.Task) bool { return t != port.TaskSynthesize }) {
		k.expect("describes.window", "a token window", i.MaxTokens > 0, "%d tokens", i.MaxTokens)
		sum, ok := strings.CutPrefix(i.Digest, "sha256:")
		k.expect("describes.digest", "a digest sha256:..., which tells its vectors from another's",
			ok && len(sum) == 64 && strings.Trim(sum, "0123456789abcdef") == "", "%q", i.Digest)
	}
}

// callable reports whether a model has the method of a task.
func callable(m port.Model, task port.Task) (ok bool) {
	switch task {
	case port.TaskEmbed:
		_, ok = m.(port.Embedder)
	case port.TaskSparse:
		_, ok = m.(port.SparseEncoder)
	case port.TaskRerank:
		_, ok = m.(port.Reranker)
	case port.TaskSynthesize:
		_, ok = m.(port.Synthesizer)
	}
	return ok
}

// refuses checks that a task which is not claimed cannot be called: its method is missing
// or fails.
func (k *check) refuses(task port.Task) {
	var err error
	texts := []string{"what was not claimed"}
	switch task {
	case port.TaskEmbed:
		if m, ok := k.model.(port.Embedder); ok {
			_, err = m.Embed(k.ctx, port.Query, texts)
			k.expect("describes.unclaimed", unclaimed, err != nil, "it embeds")
			return
		}
	case port.TaskSparse:
		if m, ok := k.model.(port.SparseEncoder); ok {
			_, err = m.Encode(k.ctx, port.Query, texts)
			k.expect("describes.unclaimed", unclaimed, err != nil, "it encodes sparse vectors")
			return
		}
	case port.TaskRerank:
		if m, ok := k.model.(port.Reranker); ok {
			_, _, err = m.Score(k.ctx, texts[0], texts)
			k.expect("describes.unclaimed", unclaimed, err != nil, "it reranks")
			return
		}
	case port.TaskSynthesize:
		if m, ok := k.model.(port.Synthesizer); ok {
			_, err = m.Synthesize(k.ctx, port.Question{Text: texts[0], Sources: []port.Source{{Text: texts[0]}}, MaxTokens: 16})
			k.expect("describes.unclaimed", unclaimed, err != nil, "it answers")
			return
		}
	}
	k.expect("describes.unclaimed", unclaimed, true, "")
}

const unclaimed = "a task that is not claimed is refused"
