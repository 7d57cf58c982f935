package modelkit_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/modelkit"
)

func opened(m port.Model) func(context.Context) (port.Model, error) {
	return func(context.Context) (port.Model, error) { return m, nil }
}

func check(t *testing.T, c modelkit.Candidate) modelkit.Report {
	t.Helper()
	c.Endure = cmp.Or(c.Endure, 60*time.Millisecond)
	return modelkit.Check(t.Context(), c)
}

func finding(r modelkit.Report, id string) modelkit.Finding {
	for _, f := range r.Findings {
		if f.ID == id {
			return f
		}
	}
	return modelkit.Finding{}
}

// TestFindsWhatIsBroken: a sound model of each task passes everything, and each
// broken promise is found by the check of that promise.
func TestFindsWhatIsBroken(t *testing.T) {
	embed, sparse, rerank, answer := port.TaskEmbed, port.TaskSparse, port.TaskRerank, port.TaskSynthesize
	for name, c := range map[string]struct {
		model *small
		finds string // the id that must fail; "": none may
	}{
		"embedding":            {&small{task: embed}, ""},
		"no licence":           {&small{task: embed, flaws: flaws{noLicence: true}}, "describes.licence"},
		"no digest":            {&small{task: embed, flaws: flaws{noDigest: true}}, "describes.digest"},
		"a task twice":         {&small{task: embed, flaws: flaws{twice: true}}, "describes.tasks"},
		"no dimensions":        {&small{task: embed, flaws: flaws{noDim: true}}, "describes.dimensions"},
		"unclaimed":            {&small{task: embed, unclaims: true}, "describes.unclaimed"},
		"not unit":             {&small{task: embed, flaws: flaws{long: true}}, "embedding.shapes.unit-length"},
		"other dimensions":     {&small{task: embed, flaws: flaws{short: true}}, "embedding.shapes.dimensions"},
		"no tokens":            {&small{task: embed, flaws: flaws{untold: true}}, "embedding.shapes.tokens"},
		"NaN":                  {&small{task: embed, flaws: flaws{nan: true}}, "embedding.text.nul"},
		"unstable":             {&small{task: embed, flaws: flaws{unstable: true}}, "embedding.stable.repeat"},
		"by place":             {&small{task: embed, flaws: flaws{shifting: true}}, "embedding.stable.batch"},
		"lax":                  {&small{task: embed, flaws: flaws{lax: true}}, "embedding.text.invalid-utf8"},
		"deaf":                 {&small{task: embed, flaws: flaws{deaf: true}}, "embedding.conduct.cancelled"},
		"late":                 {&small{task: embed, flaws: flaws{late: true}}, "embedding.conduct.deadline"},
		"endless":              {&small{task: embed, flaws: flaws{endless: true}}, "embedding.text.too-long"},
		"senseless":            {&small{task: embed, flaws: flaws{senseless: true}}, "embedding.sense.obvious"},
		"keeps input":          {&small{task: embed, flaws: flaws{keeps: true}}, "embedding.conduct.retained"},
		"wears out":            {&small{task: embed, flaws: flaws{wrongLater: true}}, "embedding.conduct.endures"},
		"is renewed":           {&small{task: embed, renews: true}, "embedding.conduct.renewals"},
		"alike":                {&small{task: embed, says: []string{"small", "1", "Apache-2.0"}}, ""},
		"says no licence":      {&small{task: embed, says: []string{"small", "1", ""}}, ""},
		"says another name":    {&small{task: embed, says: []string{"big", "1", "Apache-2.0"}}, "describes.manifest"},
		"says another version": {&small{task: embed, says: []string{"small", "2", "Apache-2.0"}}, "describes.manifest"},
		"says another licence": {&small{task: embed, says: []string{"small", "1", "MIT"}}, "describes.manifest"},
		"says no name":         {&small{task: embed, says: []string{"", "1", "Apache-2.0"}}, "describes.required"},
		"says no version":      {&small{task: embed, says: []string{"small", "", "Apache-2.0"}}, "describes.required"},
		"leaks":                {&small{task: embed, leak: 1 << 20}, "embedding.conduct.memory-flat"},
		"over its ceiling":     {&small{task: embed, ceiling: 9 << 20}, "embedding.conduct.memory-ceiling"},
		"never back":           {&small{task: embed, dead: true}, "embedding.conduct.recovers"},
		"sparse":               {&small{task: sparse, ceiling: 11 << 20}, ""},
		"sparse deaf":          {&small{task: sparse, flaws: flaws{deaf: true}}, "sparse.conduct.cancelled"},
		"sparse lax":           {&small{task: sparse, flaws: flaws{lax: true}}, "sparse.text.invalid-utf8"},
		"sparse falling":       {&small{task: sparse, flaws: flaws{falling: true}}, "sparse.shapes.rising"},
		"sparse negative":      {&small{task: sparse, flaws: flaws{negative: true}}, "sparse.shapes.weights"},
		"sparse ragged":        {&small{task: sparse, flaws: flaws{ragged: true}}, "sparse.shapes.rows"},
		"sparse endless":       {&small{task: sparse, flaws: flaws{endless: true}}, "sparse.text.too-long"},
		"sparse senseless":     {&small{task: sparse, flaws: flaws{senseless: true}}, "sparse.sense.obvious"},
		"rerank":               {&small{task: rerank}, ""},
		"rerank deaf":          {&small{task: rerank, flaws: flaws{deaf: true}}, "rerank.conduct.cancelled"},
		"rerank lax":           {&small{task: rerank, flaws: flaws{lax: true}}, "rerank.query.invalid-utf8"},
		"rerank wild":          {&small{task: rerank, flaws: flaws{wild: true}}, "rerank.shapes.probability"},
		"rerank silent":        {&small{task: rerank, flaws: flaws{silent: true}}, "rerank.text.too-long"},
		"rerank loud":          {&small{task: rerank, flaws: flaws{loud: true}}, "rerank.shapes.truncated"},
		"rerank by place":      {&small{task: rerank, flaws: flaws{placed: true}}, "rerank.stable.batch"},
		"rerank senseless":     {&small{task: rerank, flaws: flaws{senseless: true}}, "rerank.sense.obvious"},
		"rerank, all query":    {&small{task: rerank, flaws: flaws{greedy: true}}, "rerank.query.too-long"},
		"answer":               {&small{task: answer}, ""},
		"answer lax":           {&small{task: answer, flaws: flaws{lax: true}}, "answer.text.invalid-utf8"},
		"answer without proof": {&small{task: answer, flaws: flaws{citesNothing: true}}, "answer.sense.cited"},
		"answer made up":       {&small{task: answer, flaws: flaws{makesUp: true}}, "answer.sense.unknown"},
		"answer that obeys":    {&small{task: answer, flaws: flaws{obeys: true}}, "answer.sense.instructed"},
		"answer too long":      {&small{task: answer, flaws: flaws{babbles: true}}, "answer.shapes.length"},
		"answer of nothing":    {&small{task: answer, flaws: flaws{fib: true}}, "answer.shapes.text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := check(t, modelkit.Candidate{Open: opened(c.model)})
			if c.finds != "" {
				if f := finding(r, c.finds); f.Outcome != modelkit.Failed || f.Saw == "" {
					t.Errorf("%s is not found; failed are %v", c.finds, failed(r))
				}
				return
			}
			if f := failed(r); len(f) > 0 {
				t.Errorf("a sound model fails %+v", f)
			}
			if len(r.Findings) < 20 || len(r.Speed) != 1 || r.Speed[0].Model.P50MS <= 0 || r.Speed[0].Model.Calls <= 0 {
				t.Errorf("%d findings, speed %+v", len(r.Findings), r.Speed)
			}
		})
	}
}

// crashed is a model whose calls fail.
func crashed(task port.Task) *small {
	m := &small{task: task, dead: true}
	_ = m.Break(context.Background())
	return m
}

// TestSettings: a model with other values of its settings has to open, and to give the same
// vectors where the setting does not count for its identity.
func TestSettings(t *testing.T) {
	refuses := func(context.Context) (port.Model, error) { return nil, errors.New("no such language") }
	for _, task := range []port.Task{port.TaskEmbed, port.TaskSparse, port.TaskRerank} {
		other := opened(&small{task: task, flaws: flaws{senseless: true}})
		for name, c := range map[string]struct {
			open  func(context.Context) (port.Model, error)
			same  bool
			finds string
		}{
			"the same":            {opened(&small{task: task}), true, ""},
			"others, which count": {other, false, ""},
			"others":              {other, true, "settings.identity"},
			"fails":               {opened(crashed(task)), true, "settings.identity"},
			"does not open":       {refuses, true, "settings.open"},
		} {
			t.Run(string(task)+", "+name, func(t *testing.T) {
				t.Parallel()
				r := check(t, modelkit.Candidate{Open: opened(&small{task: task}),
					Variants: []modelkit.Variant{{Name: "language=de", Open: c.open, SameVectors: c.same}}})
				want := 0
				if c.finds != "" && (task != port.TaskRerank || c.finds == "settings.open") {
					want = 1
				}
				all := failed(r)
				if len(all) != want || want == 1 && (all[0].ID != c.finds || !strings.HasPrefix(all[0].Saw, "language=de: ")) {
					t.Errorf("failed are %+v, want %d of %q", all, want, c.finds)
				}
				if f := finding(r, "settings.open"); f.Expect == "" {
					t.Error("it was not opened")
				}
			})
		}
	}
}

func failed(r modelkit.Report) (all []modelkit.Finding) {
	for _, f := range r.Findings {
		if !f.OK() {
			all = append(all, f)
		}
	}
	return all
}

// TestNotToBeSeen: what a model gives no way to see is skipped with a reason, and fails nobody.
func TestNotToBeSeen(t *testing.T) {
	type bare struct{ port.Embedder }
	r := check(t, modelkit.Candidate{Open: opened(bare{&small{task: port.TaskEmbed}})})
	if f := failed(r); len(f) > 0 {
		t.Errorf("%+v", f)
	}
	for _, id := range []string{"embedding.conduct.memory-flat", "embedding.conduct.recovers", "embedding.sense.paraphrase"} {
		if f := finding(r, id); f.Outcome != modelkit.Skipped || f.Saw == "" {
			t.Errorf("%s: %+v", id, f)
		}
	}
}

func TestDoesNotOpen(t *testing.T) {
	r := check(t, modelkit.Candidate{Name: "acme",
		Open: func(context.Context) (port.Model, error) { return nil, errors.New("no such file") }})
	if f := failed(r); len(f) != 1 || f[0].ID != "opens" || !strings.Contains(f[0].Saw, "no such file") || r.Model.ID != "acme" {
		t.Errorf("%+v", r)
	}
}

// claims claims a task that it has no method for.
type claims struct{ port.Embedder }

func (c claims) Info() port.ModelInfo {
	i := c.Embedder.Info()
	i.Tasks = append(slices.Clone(i.Tasks), port.TaskRerank)
	return i
}

func TestClaimsWithoutMethod(t *testing.T) {
	r := check(t, modelkit.Candidate{Open: opened(claims{&small{task: port.TaskEmbed}})})
	if f := finding(r, "describes.callable"); f.OK() {
		t.Errorf("%+v", r.Findings)
	}
}

// TestSaysWhichValue: a failing line says what the log would, where faults keep it from callers.
func TestSaysWhichValue(t *testing.T) {
	r := check(t, modelkit.Candidate{Open: opened(&small{task: port.TaskEmbed, flaws: flaws{wrongLater: true}})})
	f := finding(r, "embedding.conduct.endures")
	if !strings.Contains(f.Saw, "the model failed: upstream_error: broken: row 3 is NaN") {
		t.Errorf("%q", f.Saw)
	}
}

// TestInterrupted: a check that was cut short says so.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := modelkit.Check(ctx, modelkit.Candidate{Open: opened(&small{task: port.TaskEmbed}), Endure: time.Hour,
		Progress: func(s modelkit.Step) {
			if s.Of == time.Hour {
				cancel()
			}
		}})
	if f := finding(r, "finished"); f.Outcome != modelkit.Failed {
		t.Errorf("%+v", r.Findings)
	}
}

// vectors are what small gives for some texts.
func vectors(t *testing.T, task port.Task, change func(*modelkit.Golden)) fstest.MapFS {
	t.Helper()
	m := &small{task: task}
	var g modelkit.Golden
	texts := []string{"the harbour master", "a cold store", "keys"}
	switch task {
	case port.TaskEmbed:
		d, err := m.Embed(t.Context(), port.Passage, texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range texts {
			g.Embedding = append(g.Embedding, modelkit.GoldenVector{Text: s, Query: i == 1, Vector: d.Row(i)})
		}
	case port.TaskSparse:
		for _, text := range texts {
			s, err := m.Encode(t.Context(), port.Passage, []string{text})
			if err != nil {
				t.Fatal(err)
			}
			terms := map[uint32]float32{}
			for i, term := range s.Terms {
				terms[term] = s.Weights[i]
			}
			g.Sparse = append(g.Sparse, modelkit.GoldenTerms{Text: text, Terms: terms})
		}
	case port.TaskRerank:
		p, _, err := m.Score(t.Context(), "who is the harbour master", texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range texts {
			g.Rerank = append(g.Rerank, modelkit.GoldenScore{Query: "who is the harbour master", Text: s, Score: float64(p[i])})
		}
	}
	if change != nil {
		change(&g)
	}
	b, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{"answers.json": {Data: b}, "README.md": {Data: []byte("how they were made")}}
}

func TestGolden(t *testing.T) {
	for name, c := range map[string]struct {
		task  port.Task
		files fstest.MapFS
		finds string
	}{
		"vectors": {port.TaskEmbed, vectors(t, port.TaskEmbed, nil), ""},
		"other vector": {port.TaskEmbed,
			vectors(t, port.TaskEmbed, func(g *modelkit.Golden) { g.Embedding[2].Vector[0] += 1 }), "golden.embedding"},
		"other width": {port.TaskEmbed,
			vectors(t, port.TaskEmbed, func(g *modelkit.Golden) { g.Embedding[0].Vector = []float32{1} }), "golden.embedding"},
		"terms": {port.TaskSparse, vectors(t, port.TaskSparse, nil), ""},
		"other terms": {port.TaskSparse,
			vectors(t, port.TaskSparse, func(g *modelkit.Golden) { g.Sparse[0].Terms = map[uint32]float32{1: 1} }),
			"golden.sparse"},
		"scores": {port.TaskRerank, vectors(t, port.TaskRerank, nil), ""},
		"other score": {port.TaskRerank,
			vectors(t, port.TaskRerank, func(g *modelkit.Golden) { g.Rerank[0].Score -= 0.2 }), "golden.rerank"},
		"tolerated": {port.TaskRerank,
			vectors(t, port.TaskRerank, func(g *modelkit.Golden) { g.Rerank[0].Score -= 0.2; g.Tolerance = 0.3 }), ""},
		"of other task": {port.TaskRerank, vectors(t, port.TaskEmbed, nil), "golden.read"},
		"not JSON":      {port.TaskEmbed, fstest.MapFS{"a.json": {Data: []byte("{")}}, "golden.read"},
		"unknown field": {port.TaskEmbed, fstest.MapFS{"a.json": {Data: []byte(`{"vectors":[]}`)}}, "golden.read"},
		"nothing there": {port.TaskEmbed, fstest.MapFS{}, "golden.read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := check(t, modelkit.Candidate{Open: opened(&small{task: c.task}), Golden: c.files, MinCosine: 0.999})
			if c.finds == "" {
				if f := failed(r); len(f) > 0 || finding(r, "golden.read").Outcome != modelkit.Passed {
					t.Errorf("%+v", f)
				}
			} else if f := finding(r, c.finds); f.OK() {
				t.Errorf("%s is not found in %+v", c.finds, r.Findings)
			}
		})
	}
}

// TestBaseline: speed stands beside the baseline's, which is closed.
func TestBaseline(t *testing.T) {
	r := check(t, modelkit.Candidate{Open: opened(&small{task: port.TaskEmbed}),
		Baseline: func(context.Context, port.Task) (port.Model, error) { return &small{task: port.TaskEmbed}, nil }})
	s := r.Speed[0]
	if s.Baseline == nil || s.Ratio == nil || s.Ratio.Texts <= 0 || s.Ratio.Memory < 0.99 || s.Ratio.Memory > 1.01 ||
		!strings.Contains(s.String(), "x is against small") {
		t.Errorf("%+v: %s", s, s)
	}
}

func TestWrite(t *testing.T) {
	bad := check(t, modelkit.Candidate{Open: opened(&small{task: port.TaskEmbed, flaws: flaws{lax: true}})})
	unopened := check(t, modelkit.Candidate{Name: "acme <1>",
		Open: func(context.Context) (port.Model, error) { return nil, errors.New("not \x1b[31mhere\n & there") }})
	render := func(f modelkit.Format) string {
		var b bytes.Buffer
		if err := modelkit.Write(&b, f, bad, unopened); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text := render(modelkit.Text)
	for _, want := range []string{"small 1, embedding, sha256:000000000000, 64 dimensions",
		"\nFAIL  embedding.text.invalid-utf8: ", "\nok    embedding.text.emoji: is embedded\n",
		"skip  embedding.sense.paraphrase", "FAIL  opens: the model opens; saw not  [31mhere  & there\n",
		"\n1 of 1 check failed"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	var doc struct{ Reports []modelkit.Report }
	if err := json.Unmarshal([]byte(render(modelkit.JSON)), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Reports) != 2 || doc.Reports[0].Failed() != 1 || doc.Reports[1].Findings[0].ID != "opens" {
		t.Errorf("%+v", doc)
	}
	var junit struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Tests int    `xml:"tests,attr"`
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Failure *string   `xml:"failure"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(render(modelkit.JUnit)), &junit); err != nil {
		t.Fatal(err)
	}
	if len(junit.Suites) != 2 || junit.Suites[1].Name != "acme <1>" || junit.Failures != 2 ||
		junit.Tests != len(bad.Findings)+1 || len(junit.Suites[0].Cases) != len(bad.Findings) {
		t.Fatalf("%+v", junit)
	}
	if f := junit.Suites[1].Cases[0].Failure; f == nil || !strings.Contains(*f, "& there") {
		t.Errorf("%+v", junit.Suites[1])
	}
	if modelkit.Write(&bytes.Buffer{}, "yaml", bad) == nil {
		t.Error("an unknown format was rendered")
	}
}

// TestRun makes the findings subtests of this test.
func TestRun(t *testing.T) {
	modelkit.Run(t, modelkit.Candidate{Open: opened(&small{task: port.TaskSparse, ceiling: 16 << 20}),
		Endure: 50 * time.Millisecond})
}

func FuzzParseGolden(f *testing.F) {
	f.Add([]byte(`{"embedding":[{"text":"a","vector":[1,0]}],"tolerance":0.1}`))
	f.Add([]byte(`{"sparse":[{"text":"a","query":true,"terms":{"3":1}}]}`))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := modelkit.ParseGolden(b)
		if err == nil && len(g.Embedding)+len(g.Sparse)+len(g.Rerank) == 0 {
			t.Error("nothing was accepted")
		}
	})
}

// TestTimes: a ratio is never written as nothing.
func TestTimes(t *testing.T) {
	for ratio, want := range map[float64]string{12.345: "x12.35", 0.1: "x0.10", 0.0999: "x0.1", 0.00123: "x0.0012"} {
		if got := modelkit.Times(ratio); got != want {
			t.Errorf("%g: %s, want %s", ratio, got, want)
		}
	}
}
