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

// Speed is what the model took on this machine while it was checked.
type Speed struct {
	QueryMS           float64 `json:"query_ms"`            // median, one short query
	PassagesPerSecond float64 `json:"passages_per_second"` // of about 120 word pieces, in batches of 32
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

// Check runs every check on a model. The error says that it could not go on,
// not that a check failed.
func Check(ctx context.Context, m port.Model) (Report, error) {
	k := &check{ctx: ctx, report: Report{Model: m.Info()}}
	k.describes(m)
	e, ok := m.(port.Embedder)
	if !ok {
		return k.report, fmt.Errorf("check model %s: it does not embed, the only task that can be checked", m.Info().ID)
	}
	k.model = e
	k.shapes()
	k.text()
	k.stable()
	k.sense()
	k.conduct()
	k.speed()
	if err := ctx.Err(); err != nil {
		return k.report, err
	}
	return k.report, nil
}

type check struct {
	ctx    context.Context
	model  port.Embedder
	report Report
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
	k.expect("describes.sizes", "dimensions and a token window", i.Dimensions > 0 && i.MaxTokens > 0, "%d dimensions, %d tokens", i.Dimensions, i.MaxTokens)
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

func (k *check) text() {
	for _, odd := range [][2]string{{"empty", ""}, {"blank", " \t\n"}, {"one-rune", "ß"}, {"nul", "a\x00b"}, {"emoji", "👩‍🔬🏴"}, {"cjk", "港の倉庫の鍵"}, {"rtl", "مفتاح المخزن"}} {
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

func (k *check) stable() {
	texts := make([]string, 32)
	for i := range texts {
		texts[i] = strings.Repeat(fmt.Sprintf("Crate %d stands in row %d. ", i, i%7), 1+i%5)
	}
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
	for _, s := range []struct{ query, related, unrelated string }{
		{"how do I reset my password", "To choose a new password, open the account page and follow the link.", "The tide table for March lists two spring tides."},
		{"symptoms of a cold", "A runny nose, sneezing and a sore throat are typical.", "The committee approved the budget for road repairs."},
		{"cheapest way to ship a parcel", "Economy post costs least but takes a week.", "Photosynthesis turns light into chemical energy."},
		{"when does the museum open", "Visitors are welcome from nine in the morning, closed on Mondays.", "Sort the array before you search it."},
	} {
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
	ended, cancel := context.WithCancel(k.ctx)
	cancel()
	_, err := k.model.Embed(ended, port.Passage, []string{"too late"})
	k.expect("conduct.cancelled", "a cancelled call says so", errors.Is(err, context.Canceled) || fault.CodeOf(err) == fault.Canceled, "%v", err)
	soon, cancel := context.WithTimeout(k.ctx, 20*time.Millisecond)
	defer cancel()
	many := slices.Repeat([]string{strings.Repeat("long text ", 400)}, 256)
	started := time.Now()
	_, err = k.model.Embed(soon, port.Passage, many)
	took := time.Since(started)
	// 50 ms are promised; a busy machine is given more, an unheeded deadline takes far longer.
	k.expect("conduct.deadline", "a deadline ends a long call", err != nil && took < time.Second, "%v after %s", err, took)
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
	err = group.Wait()
	k.expect("conduct.parallel", "four calls at once give what one gives", err == nil, "%v", err)
}

func (k *check) speed() {
	var took []time.Duration
	for i := range 9 {
		started := time.Now()
		if _, err := k.model.Embed(k.ctx, port.Query, []string{fmt.Sprintf("how long is the notice period in year %d", i)}); err != nil {
			return
		}
		took = append(took, time.Since(started))
	}
	slices.Sort(took)
	k.report.Speed.QueryMS = float64(took[len(took)/2].Microseconds()) / 1000
	passage := strings.Repeat("The harbour master keeps the keys of the north store. ", 10)
	started, n := time.Now(), 0
	for time.Since(started) < time.Second {
		if _, err := k.model.Embed(k.ctx, port.Passage, slices.Repeat([]string{passage}, 32)); err != nil {
			return
		}
		n += 32
	}
	k.report.Speed.PassagesPerSecond = float64(n) / time.Since(started).Seconds()
}

func cosine(a, b []float32) float64 {
	var dot, na, nb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, na, nb = dot+x*y, na+x*x, nb+y*y
	}
	return dot / math.Sqrt(na*nb)
}
