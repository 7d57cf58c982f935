package modelkit

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/kit"
)

// Figure is how fast a model does a task, and what it takes. What was not measured is 0.
type Figure struct {
	Name  string  `json:"name"`
	P50MS float64 `json:"p50_ms"` // of one caller's call: a short query; rerank: with 20 passages; answer: over 3 sources
	P95MS float64 `json:"p95_ms"`
	Calls float64 `json:"calls_per_second"` // from as many callers as cores
	// of about 120 word pieces, in batches of 32, or of 8 where a task is measured for less than a
	// second; rerank: pairs with a query, 20 a call
	Texts   float64 `json:"passages_per_second"`
	Memory  int64   `json:"memory_bytes"`
	ColdMS  float64 `json:"cold_start_ms"` // opening until the first answer
	callers int
}

// Speed is a task's Figure beside the baseline's, measured in turns.
type Speed struct {
	Task     port.Task `json:"task"`
	Model    Figure    `json:"model"`
	Baseline *Figure   `json:"baseline,omitempty"`
	Ratio    *Ratio    `json:"ratio,omitempty"`
}

// Ratio is the model's figures over the baseline's; 0 where either is not known.
type Ratio struct {
	P50    float64 `json:"p50"`
	Calls  float64 `json:"calls_per_second"`
	Texts  float64 `json:"passages_per_second"`
	Memory float64 `json:"memory"`
	Cold   float64 `json:"cold_start"`
}

// Times writes a ratio: two decimals, or two digits of a small one.
func Times(ratio float64) string {
	if ratio < 0.1 {
		return fmt.Sprintf("x%.2g", ratio)
	}
	return fmt.Sprintf("x%.2f", ratio)
}

// String is a line for people.
func (s Speed) String() string {
	of := func(ratio func(*Ratio) float64) string {
		if s.Ratio == nil || ratio(s.Ratio) == 0 {
			return ""
		}
		return " (" + Times(ratio(s.Ratio)) + ")"
	}
	what := map[port.Task]string{port.TaskRerank: "a query with 20 passages", port.TaskSynthesize: "an answer"}[s.Task]
	if what == "" {
		what = "a query"
	}
	m := s.Model
	parts := []string{fmt.Sprintf("%s: %.2f ms %s%s, p95 %.2f ms", s.Task, m.P50MS, what,
		of(func(r *Ratio) float64 { return r.P50 }), m.P95MS),
		fmt.Sprintf("%.0f a second from %s%s", m.Calls, kit.Pluralize(max(m.callers, 1), "caller"),
			of(func(r *Ratio) float64 { return r.Calls }))}
	if m.Texts > 0 {
		parts = append(parts, fmt.Sprintf("%.0f passages a second%s", m.Texts, of(func(r *Ratio) float64 { return r.Texts })))
	}
	if m.Memory > 0 {
		parts = append(parts, fmt.Sprintf("%s of memory%s", kit.Bytes(m.Memory), of(func(r *Ratio) float64 { return r.Memory })))
	}
	if m.ColdMS > 0 {
		parts = append(parts, fmt.Sprintf("first answer after %.0f ms%s", m.ColdMS, of(func(r *Ratio) float64 { return r.Cold })))
	}
	line := strings.Join(parts, ", ")
	if s.Baseline != nil {
		line += "; x is against " + s.Baseline.Name
	}
	return line
}

// load is what a task is measured with.
type load struct {
	call  func(ctx context.Context, i int) error // a short one
	batch func(ctx context.Context, i int) error // of texts; nil: none
	texts int                                    // in a batch
}

// batchOf is how many texts a batch has where a task is measured for so long: a model of tens of millions
// of weights takes a second for one of 32.
func batchOf(length time.Duration) int {
	if length < time.Second {
		return 8
	}
	return 32
}

func loadOf(m port.Model, task port.Task, batch int) (load, error) {
	switch task {
	case port.TaskEmbed:
		if m, ok := m.(port.Embedder); ok {
			return load{
				call: func(ctx context.Context, i int) error {
					_, err := m.Embed(ctx, port.Query, []string{question(i)})
					return err
				},
				batch: func(ctx context.Context, i int) error {
					_, err := m.Embed(ctx, port.Passage, passages(i, batch))
					return err
				}, texts: batch}, nil
		}
	case port.TaskSparse:
		if m, ok := m.(port.SparseEncoder); ok {
			return load{
				call: func(ctx context.Context, i int) error {
					_, err := m.Encode(ctx, port.Query, []string{question(i)})
					return err
				},
				batch: func(ctx context.Context, i int) error {
					_, err := m.Encode(ctx, port.Passage, passages(i, batch))
					return err
				}, texts: batch}, nil
		}
	case port.TaskRerank:
		if m, ok := m.(port.Reranker); ok {
			score := func(ctx context.Context, i int) error {
				_, _, err := m.Score(ctx, question(i), passages(i, 20))
				return err
			}
			return load{call: score, batch: score, texts: 20}, nil
		}
	case port.TaskSynthesize:
		if m, ok := m.(port.Synthesizer); ok {
			return load{call: func(ctx context.Context, i int) error {
				q := knownQuestion()
				q.Text = fmt.Sprintf("%s (%d)", q.Text, i)
				_, err := m.Synthesize(ctx, q)
				return err
			}}, nil
		}
	}
	return load{}, fmt.Errorf("the model cannot be called for task %s", task)
}

// Measurement says what to measure.
type Measurement struct {
	Open     func(ctx context.Context) (port.Model, error)
	Baseline func(ctx context.Context, task port.Task) (port.Model, error) // as of Candidate
	Memory   func(port.Model) (used, ceiling int64)                        // as of Candidate
	Length   time.Duration                                                 // of each task; 0: 10 s
	Progress func(Step)
}

// Measure opens the model and measures each task that it claims.
func Measure(ctx context.Context, s Measurement) (info port.ModelInfo, _ []Speed, err error) {
	started := time.Now()
	m, err := s.Open(ctx)
	if err != nil {
		return info, nil, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	opening := time.Since(started)
	info = m.Info()
	var all []Speed
	for _, task := range Tasks() {
		if !slices.Contains(info.Tasks, task) {
			continue
		}
		one, err := s.task(ctx, m, task, opening)
		if err != nil {
			return info, all, fmt.Errorf("measure %s: %w", task, err)
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return info, nil, fmt.Errorf("measure %s: it claims no task that is known", info.ID)
	}
	return info, all, nil
}

// speeds are measured shortly at the end of a check.
func (k *check) speeds() {
	s := Measurement{
		Baseline: k.c.Baseline,
		Memory:   k.c.Memory,
		Length:   min(max(k.c.Endure/4, 100*time.Millisecond), 10*time.Second),
		Progress: k.c.Progress,
	}
	if k.c.Endure == 0 {
		s.Length = 10 * time.Second
	}
	for _, task := range Tasks() {
		if slices.Contains(k.info.Tasks, task) && k.ctx.Err() == nil {
			one, err := s.task(k.ctx, k.model, task, k.opening)
			if err != nil {
				k.skip(string(task)+".speed", "speed is measured", err.Error())
				continue
			}
			k.report.Speed = append(k.report.Speed, one)
		}
	}
}

// subject is a model while it is measured.
type subject struct {
	figure *Figure
	load   load
	took   []time.Duration
	calls  rate
	texts  rate
}

type rate struct {
	n    int
	took time.Duration
}

func (r rate) perSecond() float64 {
	if r.took == 0 {
		return 0
	}
	return float64(r.n) / r.took.Seconds()
}

// A model and its baseline are measured alternately, so that a busy machine affects both
// alike: so many times, or once where there is no time for more.
const (
	turns = 4
	turn  = 250 * time.Millisecond
)

func (s Measurement) task(ctx context.Context, m port.Model, task port.Task, opening time.Duration) (_ Speed, err error) {
	name := m.Info().ID
	if name == "" {
		name = m.Info().Name
	}
	speed := Speed{Task: task, Model: Figure{Name: name}}
	subjects := []*subject{{figure: &speed.Model}}
	length := s.Length
	if length == 0 {
		length = 10 * time.Second
	}
	if subjects[0].load, err = loadOf(m, task, batchOf(length)); err != nil {
		return speed, err
	}
	memory := func(m port.Model) int64 {
		if g, ok := m.(Gauge); ok {
			used, _ := g.Memory()
			return used
		}
		if s.Memory == nil {
			return 0
		}
		used, _ := s.Memory(m)
		return used
	}
	started := time.Now()
	if err := subjects[0].load.call(ctx, 0); err != nil {
		return speed, err
	}
	speed.Model.ColdMS = milliseconds(opening + time.Since(started))
	var base port.Model
	if s.Baseline != nil {
		started := time.Now()
		base, err = s.Baseline(ctx, task)
		if err != nil {
			return speed, fmt.Errorf("open the baseline: %w", err)
		}
		if base != nil {
			defer func() { err = errors.Join(err, base.Close()) }()
			speed.Baseline = &Figure{Name: base.Info().ID}
			b := &subject{figure: speed.Baseline}
			if b.load, err = loadOf(base, task, batchOf(length)); err == nil {
				err = b.load.call(ctx, 0)
			}
			if err != nil {
				return speed, fmt.Errorf("the baseline: %w", err)
			}
			speed.Baseline.ColdMS = milliseconds(time.Since(started))
			subjects = append(subjects, b)
		}
	}
	alternately := int(min(max(length/turn, 1), turns))
	slice := length / time.Duration(alternately*3*len(subjects))
	started = time.Now()
	for range alternately {
		for _, one := range subjects {
			if s.Progress != nil {
				s.Progress(Step{Name: string(task) + ": speed", Done: min(time.Since(started), length), Of: length})
			}
			if err := one.turn(ctx, slice); err != nil {
				return speed, err
			}
		}
	}
	for _, one := range subjects {
		one.sum()
	}
	speed.Model.Memory = memory(m)
	if b := speed.Baseline; b != nil {
		b.Memory = memory(base)
		over := func(a, b float64) float64 {
			if a == 0 || b == 0 {
				return 0
			}
			return a / b
		}
		f := speed.Model
		speed.Ratio = &Ratio{P50: over(f.P50MS, b.P50MS), Calls: over(f.Calls, b.Calls), Texts: over(f.Texts, b.Texts),
			Memory: over(float64(f.Memory), float64(b.Memory)), Cold: over(f.ColdMS, b.ColdMS)}
	}
	return speed, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// turn measures for about three slices: one caller, callers on every core, batches.
func (s *subject) turn(ctx context.Context, slice time.Duration) error {
	for i, started := len(s.took), time.Now(); time.Since(started) < slice || i == len(s.took); {
		at := time.Now()
		if err := s.load.call(ctx, len(s.took)); isBusy(err) && time.Since(started) < patience {
			continue // its caller would come again
		} else if err != nil {
			return err
		}
		s.took = append(s.took, time.Since(at))
	}
	s.figure.callers = runtime.GOMAXPROCS(0)
	err := s.calls.during(ctx, slice, s.figure.callers,
		func(ctx context.Context, i int) (int, error) { return 1, s.load.call(ctx, i) })
	if err == nil && s.load.batch != nil {
		err = s.texts.during(ctx, slice, 2,
			func(ctx context.Context, i int) (int, error) { return s.load.texts, s.load.batch(ctx, i) })
	}
	return err
}

// during adds what n callers get done in about length.
func (r *rate) during(ctx context.Context, length time.Duration, n int,
	call func(ctx context.Context, i int) (int, error)) error {
	started := time.Now()
	done, errs := make([]int, n), make([]error, n)
	var group sync.WaitGroup
	for c := range n {
		group.Go(func() {
			for i := c; errs[c] == nil && (i == c || time.Since(started) < length); i += n {
				m, err := call(ctx, r.n+i)
				if err == nil {
					done[c] += m
				} else if !isBusy(err) {
					errs[c] = err
				}
			}
		})
	}
	group.Wait()
	for _, m := range done {
		r.n += m
	}
	r.took += time.Since(started)
	return errors.Join(errs...)
}

func (s *subject) sum() {
	slices.Sort(s.took)
	n := len(s.took)
	s.figure.P50MS, s.figure.P95MS = milliseconds(s.took[n/2]), milliseconds(s.took[min(n*95/100, n-1)])
	s.figure.Calls, s.figure.Texts = s.calls.perSecond(), s.texts.perSecond()
}
