package modelcheck

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Finding is the outcome of one check.
type Finding struct {
	ID     string `json:"id"` // "shapes.unit-length"
	Expect string `json:"expect"`
	Saw    string `json:"saw"` // empty where the expectation held
}

// OK reports whether the expectation held.
func (f Finding) OK() bool { return f.Saw == "" }

// Speed is what the model took on this machine while it was checked. What the
// model does not do is 0.
type Speed struct {
	QueryMS           float64 `json:"query_ms"`            // median, one short query
	PassagesPerSecond float64 `json:"passages_per_second"` // of about 120 word pieces, in batches of 32
	RerankMS          float64 `json:"rerank_ms"`           // median, a short query and 20 passages of about 120 word pieces
}

// Report is everything that was found.
type Report struct {
	Model    port.ModelInfo `json:"model"`
	Findings []Finding      `json:"findings"`
	Speed    Speed          `json:"speed"`
}

// Failed counts the expectations that did not hold.
func (r Report) Failed() int {
	n := 0
	for _, f := range r.Findings {
		if !f.OK() {
			n++
		}
	}
	return n
}

// Check runs the checks of every task that the model says it does. The error says
// that it could not go on, not that a check failed.
func Check(ctx context.Context, m port.Model) (Report, error) {
	k := &check{ctx: ctx, report: Report{Model: m.Info()}}
	k.describes(m)
	checked := 0
	for _, task := range m.Info().Tasks {
		var able bool
		switch task {
		case port.TaskEmbed:
			if k.model, able = m.(port.Embedder); able {
				k.embedding()
			}
		case port.TaskSparse:
			if k.encoder, able = m.(port.SparseEncoder); able {
				k.sparse()
			}
		case port.TaskRerank:
			if k.reranker, able = m.(port.Reranker); able {
				k.rerank()
			}
		}
		if able {
			checked++
		}
	}
	if checked == 0 {
		return k.report, fmt.Errorf("check model %s: it can be called for none of the tasks embedding, sparse and rerank", m.Info().ID)
	}
	if err := ctx.Err(); err != nil {
		return k.report, err
	}
	return k.report, nil
}

type check struct {
	ctx      context.Context
	model    port.Embedder
	encoder  port.SparseEncoder
	reranker port.Reranker
	report   Report
}

func (k *check) embedding() {
	k.shapes()
	k.text()
	k.stable()
	k.sense()
	k.conduct()
	k.speed()
}

// expect records a finding; saw is formatted only where ok is false.
func (k *check) expect(id, expect string, ok bool, saw string, args ...any) {
	f := Finding{ID: id, Expect: expect}
	if !ok {
		f.Saw = fmt.Sprintf(saw, args...)
	}
	k.report.Findings = append(k.report.Findings, f)
}

// embed gives the vectors, or nil with a finding.
func (k *check) embed(id string, as port.TextKind, texts ...string) (port.Dense, bool) {
	d, err := k.model.Embed(k.ctx, as, texts)
	if err == nil && (d.Dim < 1 || len(d.Data) != d.Dim*len(texts)) {
		err = fmt.Errorf("%d values of dimension %d for %d texts", len(d.Data), d.Dim, len(texts))
	}
	if err != nil {
		k.expect(id, "the texts are embedded", false, "%v", err)
	}
	return d, err == nil
}

func (k *check) describes(m port.Model) {
	i := m.Info()
	k.expect("describes.name", "a name and a version", i.Name != "" && i.Version != "", "name %q, version %q", i.Name, i.Version)
	k.expect("describes.digest", "a digest sha256:...", strings.HasPrefix(i.Digest, "sha256:") && len(i.Digest) == 71, "%q", i.Digest)
	k.expect("describes.licence", "a licence", i.Licence != "", "none")
	k.expect("describes.window", "a token window", i.MaxTokens > 0, "%d tokens", i.MaxTokens)
	k.expect("describes.dimensions", "dimensions where it embeds, none elsewhere", (i.Dimensions > 0) == slices.Contains(i.Tasks, port.TaskEmbed),
		"%d dimensions for %v", i.Dimensions, i.Tasks)
	for _, task := range i.Tasks {
		able := false
		switch task {
		case port.TaskEmbed:
			_, able = m.(port.Embedder)
		case port.TaskSparse:
			_, able = m.(port.SparseEncoder)
		case port.TaskRerank:
			_, able = m.(port.Reranker)
		}
		k.expect("describes.tasks", "the task "+string(task)+" it claims can be called", able, "it cannot")
	}
}

func (k *check) shapes() {
	texts := []string{"a", "The harbour master keeps the keys.", strings.Repeat("Rain fell on the quay all night. ", 12)}
	d, ok := k.embed("shapes.rows", port.Passage, texts...)
	if !ok {
		return
	}
	i := k.model.Info()
	k.expect("shapes.dimensions", "vectors of the described dimensions", d.Dim == i.Dimensions, "%d, described are %d", d.Dim, i.Dimensions)
	for row := range texts {
		norm, finite := 0.0, true
		for _, x := range d.Row(row) {
			norm += float64(x) * float64(x)
			finite = finite && !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0)
		}
		k.expect("shapes.finite", "finite numbers", finite, "row %d has others", row)
		k.expect("shapes.unit-length", "unit length, to 0.001", math.Abs(math.Sqrt(norm)-1) < 1e-3, "row %d has length %.4f", row, math.Sqrt(norm))
	}
	k.expect("shapes.tokens", "token counts that grow with the text", len(d.Tokens) == 3 && 0 < d.Tokens[0] && d.Tokens[0] < d.Tokens[1] && d.Tokens[1] < d.Tokens[2],
		"%v", d.Tokens)
	empty, err := k.model.Embed(k.ctx, port.Passage, nil)
	k.expect("shapes.none", "no texts give no vectors", err == nil && len(empty.Data) == 0, "%d values, error %v", len(empty.Data), err)
}

// oddTexts are valid texts that a careless model trips over, with a name each.
func oddTexts() [][2]string {
	return [][2]string{{"empty", ""}, {"blank", " \t\n"}, {"one-rune", "ß"}, {"nul", "a\x00b"}, {"emoji", "👩‍🔬🏴"}, {"cjk", "港の倉庫の鍵"}, {"rtl", "مفتاح المخزن"}}
}

// askings are questions with a text that answers each and one that does not.
func askings() []struct{ query, related, unrelated string } {
	return []struct{ query, related, unrelated string }{
		{"how do I reset my password", "To choose a new password, open the account page and follow the link.", "The tide table for March lists two spring tides."},
		{"symptoms of a cold", "A runny nose, sneezing and a sore throat are typical.", "The committee approved the budget for road repairs."},
		{"cheapest way to ship a parcel", "Economy post costs least but takes a week.", "Photosynthesis turns light into chemical energy."},
		{"when does the museum open", "Visitors are welcome from nine in the morning, closed on Mondays.", "Sort the array before you search it."},
	}
}

func (k *check) text() {
	for _, odd := range oddTexts() {
		_, err := k.model.Embed(k.ctx, port.Query, []string{odd[1]})
		k.expect("text."+odd[0], "is embedded", err == nil, "%v", err)
	}
	_, err := k.model.Embed(k.ctx, port.Passage, []string{"fine", "a\xff\xfeb"})
	k.expect("text.invalid-utf8", "invalid UTF-8 is refused as the caller's mistake", fault.Status(fault.CodeOf(err)) == 400, "%v", err)
	window := k.model.Info().MaxTokens
	if d, ok := k.embed("text.too-long", port.Passage, strings.Repeat("harbour ", 4*window)); ok {
		k.expect("text.too-long", "a text longer than the window is cut there and says so", len(d.Tokens) == 1 && d.Tokens[0] == window,
			"%v tokens, the window is %d", d.Tokens, window)
	}
}

// crates are 32 texts of several lengths.
func crates() []string {
	texts := make([]string, 32)
	for i := range texts {
		texts[i] = strings.Repeat(fmt.Sprintf("Crate %d stands in row %d. ", i, i%7), 1+i%5)
	}
	return texts
}

func (k *check) stable() {
	texts := crates()
	all, ok := k.embed("stable.batch", port.Passage, texts...)
	if !ok {
		return
	}
	again, ok := k.embed("stable.repeat", port.Passage, texts...)
	k.expect("stable.repeat", "the same bits on repeat", ok && slices.Equal(all.Data, again.Data), "they differ")
	for _, i := range []int{0, 13, 31} {
		one, ok := k.embed("stable.batch", port.Passage, texts[i])
		if !ok {
			return
		}
		c := cosine(one.Row(0), all.Row(i))
		k.expect("stable.batch", "alone as in a batch of 32, in order", c > 1-1e-4, "text %d: cosine %.6f", i, c)
	}
}

func (k *check) sense() {
	for _, s := range askings() {
		q, ok := k.embed("sense", port.Query, s.query)
		p, also := k.embed("sense", port.Passage, s.related, s.unrelated)
		if !ok || !also {
			return
		}
		near, far := cosine(q.Row(0), p.Row(0)), cosine(q.Row(0), p.Row(1))
		k.expect("sense.related-above-unrelated", fmt.Sprintf("%q is nearer to its answer", s.query), near > far, "cosine %.3f against %.3f", near, far)
	}
}

func (k *check) conduct() {
	k.stops("", func(ctx context.Context, texts []string) error {
		_, err := k.model.Embed(ctx, port.Passage, texts)
		return err
	})
	want, ok := k.embed("conduct.afterwards", port.Query, "the next call works")
	if !ok {
		return
	}
	group, ctx := errgroup.WithContext(k.ctx)
	for range 4 {
		group.Go(func() error {
			d, err := k.model.Embed(ctx, port.Query, []string{"the next call works"})
			if err == nil && !slices.Equal(d.Data, want.Data) {
				err = errors.New("another vector than alone")
			}
			return err
		})
	}
	err := group.Wait()
	k.expect("conduct.parallel", "four calls at once give what one gives", err == nil, "%v", err)
}

// stops checks that a call ends when its caller gives up.
func (k *check) stops(prefix string, call func(context.Context, []string) error) {
	ended, cancel := context.WithCancel(k.ctx)
	cancel()
	err := call(ended, []string{"too late"})
	k.expect(prefix+"conduct.cancelled", "a cancelled call says so", errors.Is(err, context.Canceled) || fault.CodeOf(err) == fault.Canceled, "%v", err)
	soon, cancel := context.WithTimeout(k.ctx, 20*time.Millisecond)
	defer cancel()
	many := slices.Repeat([]string{strings.Repeat("long text ", 400)}, 256)
	started := time.Now()
	err = call(soon, many)
	took := time.Since(started)
	// 50 ms are promised; a busy machine is given more, an unheeded deadline takes far longer.
	k.expect(prefix+"conduct.deadline", "a deadline ends a long call", err != nil && took < time.Second, "%v after %s", err, took)
}

const passage = "The harbour master keeps the keys of the north store. " // 12 word pieces

func (k *check) speed() {
	k.report.Speed.QueryMS = median(func(i int) error {
		_, err := k.model.Embed(k.ctx, port.Query, []string{question(i)})
		return err
	})
	k.report.Speed.PassagesPerSecond = perSecond(func() error {
		_, err := k.model.Embed(k.ctx, port.Passage, slices.Repeat([]string{strings.Repeat(passage, 10)}, 32))
		return err
	}, 32)
}

func question(i int) string { return fmt.Sprintf("how long is the notice period in year %d", i) }

// median is the median of nine calls in milliseconds, 0 when one fails.
func median(call func(i int) error) float64 {
	var took []time.Duration
	for i := range 9 {
		started := time.Now()
		if call(i) != nil {
			return 0
		}
		took = append(took, time.Since(started))
	}
	slices.Sort(took)
	return float64(took[len(took)/2].Microseconds()) / 1000
}

// perSecond calls for a second and gives how many of n texts a call were done a
// second, 0 when a call fails.
func perSecond(call func() error, n int) float64 {
	started, done := time.Now(), 0
	for time.Since(started) < time.Second {
		if call() != nil {
			return 0
		}
		done += n
	}
	return float64(done) / time.Since(started).Seconds()
}

func cosine(a, b []float32) float64 {
	var dot, na, nb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, na, nb = dot+x*y, na+x*x, nb+y*y
	}
	return dot / math.Sqrt(na*nb)
}
