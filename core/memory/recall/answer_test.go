package recall_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/memory/recall"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// holding is a search that finds these texts, the memories m0, m1 and so on, each made
// a second after the one before and scored 0.5.
func holding(texts ...string) func(context.Context, memory.Query) (memory.Results, error) {
	var found memory.Results
	for i, text := range texts {
		found.Results = append(found.Results, memory.Result{
			ID:        fmt.Sprintf("m%d", i),
			Score:     0.5,
			CreatedAt: int64(1000 * (i + 1)),
			Memory:    port.Document{Text: text},
		})
	}
	return func(context.Context, memory.Query) (memory.Results, error) { return found, nil }
}

// rated is a reranker that knows the scores of texts; of others it is 0.
type rated struct {
	port.Reranker
	scores map[string]float32
	asked  *[]string // the texts that it was asked about; nil: not kept
	fails  func(texts []string) ([]float32, error)
}

func (r rated) Score(_ context.Context, _ string, texts []string) ([]float32, int, error) {
	if r.asked != nil {
		*r.asked = texts
	}
	if r.fails != nil {
		scores, err := r.fails(texts)
		return scores, 0, err
	}
	out := make([]float32, len(texts))
	for i, t := range texts {
		out[i] = r.scores[t]
	}
	return out, 0, nil
}

// writer is an answer model.
type writer struct {
	port.Synthesizer
	answer func(context.Context, port.Question) (port.Synthesis, error)
}

func (writer) Info() port.ModelInfo { return port.ModelInfo{ID: "writer"} }
func (w writer) Synthesize(ctx context.Context, q port.Question) (port.Synthesis, error) {
	return w.answer(ctx, q)
}

// saying is a model that writes the same whatever it is asked.
func saying(text string) writer {
	return writer{answer: func(context.Context, port.Question) (port.Synthesis, error) {
		return port.Synthesis{Text: text, InputTokens: 12, OutputTokens: 3}, nil
	}}
}

// cited lists the citations of an answer as "marker memory start-end score quote".
func cited(a recall.Answer) (out []string) {
	for _, c := range a.Citations {
		out = append(out, fmt.Sprintf("%d %s %d-%d %.3g %s", c.Marker, c.MemoryID, c.Start, c.End, c.Score, c.Quote))
	}
	return out
}

func text(a recall.Answer) string {
	if a.Answer == nil {
		return "<nil>"
	}
	return *a.Answer
}

// Quotes of one memory stand together and in its order, memories in the order of their
// best sentences; a sentence said twice is quoted once, and what is far below the best
// is left out (docs/contract.md#recall-proof).
func TestQuotesStandInTheOrderOfTheirMemories(t *testing.T) {
	lyon, oslo := "In May.  She moved\nto Lyon. It rained.", "In MAY. She likes Oslo. She sings."
	for name, c := range map[string]struct {
		scores map[string]float32
		answer string
		cited  []string
	}{
		"the second is best": {
			map[string]float32{"She likes Oslo.": 0.9, "She moved\nto Lyon.": 0.7, "In May.": 0.8},
			"She likes Oslo [1]. In May [2]. She moved to Lyon [3].",
			[]string{"1 m1 8-23 0.9 She likes Oslo.", "2 m0 0-7 0.8 In May.", "3 m0 9-27 0.7 She moved\nto Lyon."},
		},
		"the first is best": {
			map[string]float32{"She likes Oslo.": 0.7, "She moved\nto Lyon.": 0.8, "In May.": 0.75},
			"In May [1]. She moved to Lyon [2]. She likes Oslo [3].",
			[]string{"1 m0 0-7 0.75 In May.", "2 m0 9-27 0.8 She moved\nto Lyon.", "3 m1 8-23 0.7 She likes Oslo."},
		},
		"in turns": {
			map[string]float32{"She likes Oslo.": 0.9, "She moved\nto Lyon.": 0.8, "She sings.": 0.7},
			"She likes Oslo [1]. She sings [2]. She moved to Lyon [3].",
			[]string{"1 m1 8-23 0.9 She likes Oslo.", "2 m1 24-34 0.7 She sings.", "3 m0 9-27 0.8 She moved\nto Lyon."},
		},
		"far below": {
			map[string]float32{"She likes Oslo.": 0.47, "She moved\nto Lyon.": 0.8, "In May.": 0.49},
			"In May [1]. She moved to Lyon [2].",
			[]string{"1 m0 0-7 0.49 In May.", "2 m0 9-27 0.8 She moved\nto Lyon."},
		},
	} {
		s := recall.New(recall.Settings{Search: holding(lyon, oslo), Reranker: rated{scores: c.scores}})
		got, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "Where is she?"})
		if err != nil || text(got) != c.answer || !slices.Equal(cited(got), c.cited) {
			t.Errorf("%s: %q, %q, %v; want %q, %q", name, text(got), cited(got), err, c.answer, c.cited)
		}
		if len(got.Results) != 2 || got.Citations[0].CreatedAt != 1000 && got.Citations[0].CreatedAt != 2000 ||
			got.Model != recall.Extractive || got.Usage != (recall.Usage{}) || !got.Success || got.Abstained {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// An answer ends before the sentence that would make it too long, and after five; its
// first sentence is always whole (docs/contract.md#recall-request).
func TestAnAnswerHasAnEnd(t *testing.T) {
	const one = "Ann has two cats." // five tokens: its words and the stop
	six := []string{one, "Ann has two dogs.", "Ann has two rats.", "Ann has two bats.", "Ann has two owls.", "Ann has two cows."}
	scores := map[string]float32{}
	for _, s := range six {
		scores[s] = 0.5
	}
	for _, c := range []struct {
		most   *int
		quotes int
	}{
		{new(1), 1}, {new(5), 1}, {new(9), 1}, {new(10), 2}, {new(14), 2}, {new(15), 3}, {new(400), 5}, {nil, 5},
	} {
		s := recall.New(recall.Settings{Search: holding(six...), Reranker: rated{scores: scores}})
		got, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "Which pets?", MaxTokens: c.most})
		if err != nil || len(got.Citations) != c.quotes || got.Citations[0].Quote != one {
			t.Errorf("%v tokens: %q, %v; want %d quotes", c.most, cited(got), err, c.quotes)
		}
	}
	// The default is 400, which sentences of 150 words show.
	long := make([]string, 3)
	for i := range long {
		long[i] = fmt.Sprintf("Number %d", i) + strings.Repeat(" owl", 147) + "."
		scores[long[i]] = 0.5
	}
	s := recall.New(recall.Settings{Search: holding(long...), Reranker: rated{scores: scores}})
	if got, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "Which pets?"}); err != nil ||
		len(got.Citations) != 2 {
		t.Errorf("unless set: %d quotes, %v, want 2", len(got.Citations), err)
	}
}

// At most 64 sentences are scored, and twelve of one memory: those that share most
// words with the question, in the order of the memory. Where there are just as many,
// taking all and choosing among them come to the same.
func TestTheSentencesScoredAreBounded(t *testing.T) {
	numbered := func(n int) string {
		var b strings.Builder
		for i := range n {
			if i > 0 && i%3 == 0 {
				fmt.Fprintf(&b, "The key %d is here. ", i)
			} else {
				fmt.Fprintf(&b, "Nothing %d was seen. ", i)
			}
		}
		return strings.TrimSpace(b.String())
	}
	first := func(n int) (out []string) {
		for i := range n {
			out = append(out, strings.Split(strings.TrimSuffix(numbered(n), "."), ". ")[i]+".")
		}
		return out
	}
	for name, c := range map[string]struct {
		texts []string
		want  []string // nil: only their number is known
		n     int
	}{
		"twelve":   {[]string{numbered(12)}, first(12), 12},
		"thirteen": {[]string{numbered(13)}, slices.Delete(first(13), 11, 12), 12}, // 12 names the key
		"thirty": {[]string{numbered(30)}, []string{
			"Nothing 0 was seen.", "Nothing 1 was seen.", "Nothing 2 was seen.", "The key 3 is here.", "The key 6 is here.",
			"The key 9 is here.", "The key 12 is here.", "The key 15 is here.", "The key 18 is here.", "The key 21 is here.",
			"The key 24 is here.", "The key 27 is here.",
		}, 12},
		"of all":    {slices.Repeat([]string{numbered(12)}, 7), nil, 64},
		"no choice": {slices.Repeat([]string{numbered(8)}, 8), nil, 64},
	} {
		var asked []string
		s := recall.New(recall.Settings{Search: holding(c.texts...), Reranker: rated{asked: &asked}})
		if _, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "Where is the key?"}); err != nil ||
			len(asked) != c.n || c.want != nil && !slices.Equal(asked, c.want) {
			t.Errorf("%s: %d scored, %q, %v; want %d", name, len(asked), asked, err, c.n)
		}
	}
}

// Without a reranker a sentence's score is the share of the question's words that it
// holds. Small words and the commonest don't count; numbers do, and so does what is
// not written in ASCII.
func TestWithoutARerankerWordsAreCounted(t *testing.T) {
	for _, c := range []struct {
		question, memory string
		score            float64 // 0: nothing is quoted
	}{
		{"red car", "A red boat.", 0.5},
		{"red car", "A red car.", 1},
		{"red car seat heater", "The car seat is RED!", 0.75},
		{"red red car", "A red boat.", 0.5},
		{"red ox", "A red boat.", 1}, // two letters are no word
		{"red a z", "Red boat.", 1},
		{"who is the ox", "Who is the ox?", 0}, // nor is what questions are made of
		{"gate 7", "Gate 9.", 0.5},
		{"gate 9", "Gate 9.", 1},
		{"gate 0", "Gate 0.", 1},
		{"gate x9", "Gate.", 1},
		{"gate é", "Gate.", 0.5},
		{"gate é", "Gate É.", 1},
		{"", "A red car.", 0},
	} {
		s := recall.New(recall.Settings{Search: holding(c.memory)})
		got, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: c.question})
		score := 0.0
		for _, q := range got.Citations {
			score = q.Score
		}
		if err != nil || score != c.score {
			t.Errorf("%q of %q: %v, %v; want %v", c.question, c.memory, score, err, c.score)
		}
	}
}

// A sentence that is as probable as it has to be is quoted, and so is one that is just
// not too far below the best.
func TestASentenceAtTheBoundIsQuoted(t *testing.T) {
	scores := map[string]float32{"Ann sings.": 0.25, "Ann has a cat.": 0.25}
	s := recall.New(recall.Settings{Search: holding("Ann sings. Ann has a cat. Ann sleeps."), Reranker: rated{scores: scores},
		MinProbability: new(0.25)})
	got, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "What of Ann?"})
	if want := []string{"1 m0 0-10 0.25 Ann sings.", "2 m0 11-25 0.25 Ann has a cat."}; err != nil ||
		!slices.Equal(cited(got), want) {
		t.Errorf("%q, %v", cited(got), err)
	}
}

// A written answer's quote is the sentence of the memory that shares most words with
// it; the first of those that share as many (docs/contract.md#recall-proof).
func TestAWrittenSentenceIsProvenByTheNearest(t *testing.T) {
	const m = "It rained. Ann moved to Lyon. Ann moved to Lyon in May. Ann has a cat. Ann has a dog."
	for written, want := range map[string]string{
		"Ann moved to Lyon [1].":        "1 m0 11-29 0.5 Ann moved to Lyon.",
		"In May Ann moved to Lyon [1].": "1 m0 30-55 0.5 Ann moved to Lyon in May.",
		"She has a dog [1].":            "1 m0 71-85 0.5 Ann has a dog.",
		"Bread rises [1].":              "1 m0 0-10 0.5 It rained.",
	} {
		s := recall.New(recall.Settings{Search: holding(m), Synthesizer: saying(written)})
		got, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "What of Ann?"})
		if err != nil || text(got) != written || !slices.Equal(cited(got), []string{want}) {
			t.Errorf("%q: %q, %q, %v; want %q", written, text(got), cited(got), err, want)
		}
		if got.Model != "writer" || got.Usage != (recall.Usage{InputTokens: 12, OutputTokens: 3}) || len(got.Degraded) != 0 {
			t.Errorf("%q: %+v", written, got)
		}
	}
}

// The search and the answer model are asked for what the caller wants, or for eight
// memories and 400 tokens (docs/contract.md#recall-request). The model gets the
// memories in the order of the search, with their times.
func TestWhatIsAskedIsPassedOn(t *testing.T) {
	var searched memory.Query
	var asked port.Question
	s := recall.New(recall.Settings{
		Search: func(ctx context.Context, q memory.Query) (memory.Results, error) {
			searched = q
			return holding("One.", "Two.")(ctx, q)
		},
		Synthesizer: writer{answer: func(_ context.Context, q port.Question) (port.Synthesis, error) {
			asked = q
			return port.Synthesis{}, nil
		}},
	})
	for _, c := range []struct {
		limit, tokens   *int
		memories, words int
	}{{nil, nil, 8, 400}, {new(20), new(64), 20, 64}} {
		got, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "What?", Limit: c.limit, MaxTokens: c.tokens})
		if err != nil || got.Answer != nil || !got.Abstained || got.Model != "writer" {
			t.Errorf("an empty text is no answer: %+v, %v", got, err)
		}
		if searched.EndUserID != "ann" || searched.Query != "What?" || *searched.Limit != c.memories {
			t.Errorf("searched for %d memories: %+v", *searched.Limit, searched)
		}
		if asked.Text != "What?" || asked.MaxTokens != c.words || !slices.Equal(asked.Sources, []port.Source{
			{Text: "One.", Time: time.UnixMilli(1000)}, {Text: "Two.", Time: time.UnixMilli(2000)}}) {
			t.Errorf("asked %+v", asked)
		}
	}
}

// Without memories nobody is asked, and a search that fails is the call's failure.
func TestWithoutMemoriesNobodyIsAsked(t *testing.T) {
	model := writer{answer: func(context.Context, port.Question) (port.Synthesis, error) {
		t.Error("the model was asked")
		return port.Synthesis{}, nil
	}}
	s := recall.New(recall.Settings{Search: holding(), Synthesizer: model})
	got, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "What?"})
	if err != nil || !got.Success || !got.Abstained || got.Answer != nil || got.Citations == nil || got.Model != "writer" {
		t.Errorf("%+v, %v", got, err)
	}
	broken := fault.New(fault.Unavailable, "the store is away")
	s = recall.New(recall.Settings{Synthesizer: model, Search: func(context.Context, memory.Query) (memory.Results, error) {
		return memory.Results{}, broken
	}})
	if _, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "What?"}); !errors.Is(err, broken) {
		t.Errorf("a search that fails: %v", err)
	}
}

// A reranker that fails, or gives another number of scores, is done without: words are
// counted and the answer says so, once for the search and the answer together
// (docs/contract.md#query-degraded).
func TestAFailedRerankerIsDoneWithout(t *testing.T) {
	for name, c := range map[string]struct {
		scores func([]string) ([]float32, error)
		before []retrieve.Degraded
		want   []retrieve.Degraded
	}{
		"failed": {func([]string) ([]float32, error) { return nil, errors.New("broken pipe") }, nil,
			[]retrieve.Degraded{{Part: "rerank", Reason: retrieve.Failed}}},
		"late": {func([]string) ([]float32, error) { return nil, context.DeadlineExceeded }, nil,
			[]retrieve.Degraded{{Part: "rerank", Reason: retrieve.TimedOut}}},
		"too few": {func(t []string) ([]float32, error) { return make([]float32, len(t)-1), nil }, nil,
			[]retrieve.Degraded{{Part: "rerank", Reason: retrieve.Failed}}},
		"too many": {func(t []string) ([]float32, error) { return make([]float32, len(t)+1), nil }, nil,
			[]retrieve.Degraded{{Part: "rerank", Reason: retrieve.Failed}}},
		"said by the search": {func([]string) ([]float32, error) { return nil, errors.New("broken pipe") },
			[]retrieve.Degraded{{Part: "vector", Reason: retrieve.Failed}, {Part: "rerank", Reason: retrieve.TimedOut}},
			[]retrieve.Degraded{{Part: "vector", Reason: retrieve.Failed}, {Part: "rerank", Reason: retrieve.TimedOut}}},
		"beside another": {func([]string) ([]float32, error) { return nil, errors.New("broken pipe") },
			[]retrieve.Degraded{{Part: "vector", Reason: retrieve.TimedOut}},
			[]retrieve.Degraded{{Part: "vector", Reason: retrieve.TimedOut}, {Part: "rerank", Reason: retrieve.Failed}}},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			settings := recall.Settings{
				Search: func(ctx context.Context, q memory.Query) (memory.Results, error) {
					found, err := holding("Ann moved to Lyon. It rained.")(ctx, q)
					found.Degraded = slices.Clone(c.before)
					return found, err
				},
				Reranker: rated{fails: c.scores},
			}
			for _, settings.Log = range []*slog.Logger{nil, slog.New(slog.NewTextHandler(&log, nil))} {
				got, err := recall.New(settings).Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "moved to Lyon"})
				if err != nil || text(got) != "Ann moved to Lyon [1]." || !slices.Equal(got.Degraded, c.want) {
					t.Errorf("%q, %+v, %v; want %+v", text(got), got.Degraded, err, c.want)
				}
			}
			if n := strings.Count(log.String(), `level=WARN msg="reranker failed" error=`); n != 1 {
				t.Errorf("%d lines in the log: %s", n, log.String())
			}
		})
	}
}

// A caller that goes away while the reranker works ends the call, as it does while
// words are counted in its place.
func TestACallerThatGoesAwayEndsTheCall(t *testing.T) {
	for name, leaveAt := range map[string]string{"in the reranker": "score", "behind it": "log"} {
		ctx, leave := context.WithCancel(t.Context())
		at := func(place string) {
			if place == leaveAt {
				leave()
			}
		}
		s := recall.New(recall.Settings{
			Search: holding("Ann moved to Lyon."),
			Reranker: rated{fails: func([]string) ([]float32, error) {
				at("score")
				return nil, errors.New("broken pipe")
			}},
			Log: slog.New(called{slog.DiscardHandler, func() { at("log") }}),
		})
		got, err := s.Recall(ctx, recall.Request{EndUserID: "ann", Query: "moved to Lyon"})
		if !errors.Is(err, context.Canceled) || got.Answer != nil {
			t.Errorf("%s: %q, %v", name, text(got), err)
		}
		leave()
	}
}

// called is a log that tells when a line is written.
type called struct {
	slog.Handler
	fn func()
}

func (called) Enabled(context.Context, slog.Level) bool        { return true }
func (c called) Handle(_ context.Context, _ slog.Record) error { c.fn(); return nil }

// An answer model that fails is the call's failure, and tells when to come back but not
// what it is; only where the configuration allows it are sentences quoted in its place,
// and only while there is time (docs/contract.md#recall-models).
func TestAFailedModelFailsTheCallUnlessAllowed(t *testing.T) {
	for name, c := range map[string]struct {
		fails    error
		fallback bool
		leave    func(context.Context) (context.Context, context.CancelFunc) // how the caller's time ends; nil: it has time
		answer   string
		reason   string // in degraded
		says     string // the fault
		after    time.Duration
	}{
		"failed": {fails: errors.New("401 of model gpt"), says: "upstream_error: the answer model failed"},
		"busy": {fails: fault.New(fault.RateLimited, "model gpt is busy").After(5 * time.Second),
			says: "upstream_error: the answer model failed", after: 5 * time.Second},
		"late": {fails: fault.New(fault.Timeout, "it took too long"), says: "timeout: it took too long"},
		"failed, allowed": {fails: errors.New("401 of model gpt"), fallback: true, answer: "Ann moved to Lyon [1].",
			reason: retrieve.Failed},
		"late, allowed": {fails: fault.New(fault.Timeout, "it took too long"), fallback: true,
			answer: "Ann moved to Lyon [1].", reason: retrieve.TimedOut},
		"no time": {fails: context.DeadlineExceeded, fallback: true,
			leave: func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithDeadline(ctx, time.Unix(0, 0))
			},
			says: "timeout: the request took longer than its time limit"},
		"gone": {fails: errors.New("401 of model gpt"), fallback: true, leave: func(ctx context.Context) (context.Context,
			context.CancelFunc) {
			ctx, leave := context.WithCancel(ctx)
			leave()
			return ctx, leave
		}, says: "canceled: the caller went away"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if c.leave != nil {
				var leave context.CancelFunc
				ctx, leave = c.leave(ctx)
				defer leave()
			}
			s := recall.New(recall.Settings{
				Search:   holding("Ann moved to Lyon."),
				Fallback: c.fallback,
				Synthesizer: writer{answer: func(context.Context, port.Question) (port.Synthesis, error) {
					return port.Synthesis{Text: "Ann moved [1].", InputTokens: 9}, c.fails
				}},
			})
			got, err := s.Recall(ctx, recall.Request{EndUserID: "ann", Query: "moved to Lyon"})
			if c.says != "" {
				if f := fault.From(err); f == nil || f.Error() != c.says || f.RetryAfter != c.after {
					t.Errorf("%v, want %s", err, c.says)
				}
				return
			}
			if want := []retrieve.Degraded{{Part: "answer", Reason: c.reason}}; err != nil || text(got) != c.answer ||
				!slices.Equal(got.Degraded, want) || got.Model != recall.Extractive || got.Usage != (recall.Usage{}) {
				t.Errorf("%q, %+v, %v", text(got), got, err)
			}
		})
	}
}

// A recall may take 60 s and needs both scopes (docs/contract.md#limit-time,
// docs/contract.md#auth-scopes).
func TestTheOperationOfRecall(t *testing.T) {
	ops := recall.Operations()
	if len(ops) != 1 {
		t.Fatalf("%d operations", len(ops))
	}
	s := ops[0].Spec
	if s.Timeout != time.Minute || s.MaxBody != 262144 || s.Mutates || len(s.Examples) != 2 ||
		fmt.Sprint(s.Scopes) != "[recall:read memories:read]" {
		t.Errorf("%+v", s)
	}
}
