package evaluate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/memory/recall"
)

// Verdict is what an answer of recall is worth.
type Verdict string

// The verdicts. An answer is right when the memory that it quotes first is relevant and
// what it quotes of it holds one of the question's phrases. Where the memories hold no
// answer, any answer is wrong.
const (
	Right     Verdict = "right"
	Wrong     Verdict = "wrong"
	Abstained Verdict = "abstained"
)

// The groups of questions.
const (
	Answerable   = "answerable"
	Unanswerable = "unanswerable"    // about a user who never said it
	Strangers    = "of another user" // whose memories are somebody else's
)

// Recalled counts the answers to a group of questions.
type Recalled struct {
	Group     string `json:"group"`
	Questions int    `json:"questions"`
	Right     int    `json:"right"`
	Wrong     int    `json:"wrong"`
	Abstained int    `json:"abstained"`
	Asking    int    `json:"asking"` // answers that quote a sentence with a question mark at its end
	Latency
	Answers []RecalledAnswer `json:"answers"`
}

// Add counts one answer.
func (r *Recalled) Add(a RecalledAnswer) {
	r.Questions++
	switch a.Verdict {
	case Right:
		r.Right++
	case Wrong:
		r.Wrong++
	case Abstained:
		r.Abstained++
	}
	if slices.ContainsFunc(a.quotes, func(q string) bool { return strings.HasSuffix(q, "?") }) {
		r.Asking++
	}
	r.Answers = append(r.Answers, a)
}

// RecalledAnswer is the answer to one question.
type RecalledAnswer struct {
	Query    string  `json:"query"`
	Question string  `json:"question"`
	Category string  `json:"category,omitempty"`
	Verdict  Verdict `json:"verdict"`
	Answer   string  `json:"answer,omitempty"`

	quotes []string
	took   time.Duration
}

// RecallResult is what recall did with one collection.
type RecallResult struct {
	Collection string     `json:"collection"`
	Memories   int        `json:"memories"`
	Groups     []Recalled `json:"groups"`
}

// MeasureRecall saves the collection over the memory API unless it is there already, and
// asks its questions. A set without unanswerable questions is asked each of its questions
// a second time, of the next user in the order of names.
func MeasureRecall(ctx context.Context, cl *client.Client, c *Collection, o Options) (RecallResult, error) {
	m := newMeasurement(cl, c, o)
	r := RecallResult{Collection: c.Name, Memories: len(c.Corpus)}
	fail := func(err error) (RecallResult, error) { return r, fmt.Errorf("evaluate recall of %s: %w", c.Name, err) }
	if o.Memory == nil || countUsers(c.Queries) == 0 {
		return fail(errors.New("it needs a set with users and a client of the memory API"))
	}
	if err := m.models(ctx); err != nil {
		return fail(err)
	}
	if err := m.saveAll(ctx); err != nil {
		return fail(err)
	}
	for _, g := range groups(c) {
		recalled, err := m.askAll(ctx, g)
		if err != nil {
			return fail(err)
		}
		r.Groups = append(r.Groups, recalled)
	}
	return r, nil
}

type group struct {
	name      string
	questions []Query
}

func groups(c *Collection) []group {
	out := []group{{Answerable, c.Queries}}
	if len(c.Unanswerable) > 0 {
		return append(out, group{Unanswerable, c.Unanswerable})
	}
	names := map[string]bool{}
	for _, d := range c.Corpus {
		names[d.User] = true
	}
	if len(names) < 2 {
		return out
	}
	users := sortedKeys(names)
	foreign := slices.Clone(c.Queries)
	for i := range foreign {
		at := slices.Index(users, foreign[i].User)
		foreign[i].User, foreign[i].Grades = users[(at+1)%len(users)], nil
	}
	return append(out, group{Strangers, foreign})
}

// askAll asks every question of a group.
func (m *measurement) askAll(ctx context.Context, g group) (Recalled, error) {
	out := Recalled{Group: g.name}
	questions := g.questions
	if m.o.Queries > 0 && len(questions) > m.o.Queries {
		questions = spread(questions, m.o.Queries)
	}
	answers := make([]RecalledAnswer, len(questions))
	stage := "recall " + g.name
	m.o.Progress(stage, 0, len(questions))
	var mu sync.Mutex
	done := 0
	asking, ctx := errgroup.WithContext(ctx)
	asking.SetLimit(m.o.QueryWorkers)
	for i, q := range questions {
		asking.Go(func() (err error) {
			if answers[i], err = m.askRecall(ctx, q); err != nil {
				return fmt.Errorf("question %s: %w", q.ID, err)
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			m.o.Progress(stage, done, len(questions))
			return nil
		})
	}
	if err := asking.Wait(); err != nil {
		return out, err
	}
	took := make([]time.Duration, len(answers))
	for i, a := range answers {
		out.Add(a)
		took[i] = a.took
	}
	out.Latency = Percentiles(took)
	return out, nil
}

// spread takes n of the questions, evenly, so that each user has some.
func spread(all []Query, n int) []Query {
	out := make([]Query, n)
	for i := range out {
		out[i] = all[i*len(all)/n]
	}
	return out
}

func (m *measurement) askRecall(ctx context.Context, q Query) (RecalledAnswer, error) {
	var res recall.Answer
	took, err := timed(ctx, func() error {
		return m.o.Memory.Do(ctx, http.MethodPost, "/api/v1/recall",
			map[string]any{"endUserId": m.endUser(q.User), "query": q.Text}, &res)
	})
	if err == nil {
		err = complete(res.Degraded)
	}
	if err != nil {
		return RecalledAnswer{}, err
	}
	origins := map[string]string{}
	for _, r := range res.Results {
		if origins[r.ID], err = origin(r); err != nil {
			return RecalledAnswer{}, err
		}
	}
	out := RecalledAnswer{Query: q.ID, Question: q.Text, Category: q.Category, Verdict: Judge(q, res, origins), took: took}
	if res.Answer != nil {
		out.Answer = *res.Answer
	}
	for _, c := range res.Citations {
		out.quotes = append(out.quotes, c.Quote)
	}
	return out, nil
}

// Judge says what an answer is worth; origins are the documents' ids by the memories'.
func Judge(q Query, a recall.Answer, origins map[string]string) Verdict {
	if len(a.Citations) == 0 {
		return Abstained
	}
	first := a.Citations[0].MemoryID
	if q.Grades[origins[first]] == 0 {
		return Wrong
	}
	if len(q.Says) == 0 {
		return Right
	}
	var quoted strings.Builder
	for _, c := range a.Citations {
		if c.MemoryID == first {
			quoted.WriteString(strings.ToLower(c.Quote) + " ")
		}
	}
	for _, phrase := range q.Says {
		if strings.Contains(quoted.String(), strings.ToLower(phrase)) {
			return Right
		}
	}
	return Wrong
}
