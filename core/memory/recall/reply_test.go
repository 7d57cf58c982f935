package recall_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/memory/recall"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// after tells the turns before memories, in the order of the search.
func after(turns ...string) func(context.Context, memory.Query, []memory.Result) ([]string, error) {
	return func(context.Context, memory.Query, []memory.Result) ([]string, error) { return turns, nil }
}

// TestAQuestionIsNeverQuoted, however well it fits, with a reranker and without
// (docs/contract.md#recall-proof).
func TestAQuestionIsNeverQuoted(t *testing.T) {
	const turn = "Ann: Who is your favourite author? Mine is Le Guin."
	for name, c := range map[string]struct {
		memories []string
		scores   map[string]float32
		answer   string
	}{
		"a turn that asks": {[]string{"Assistant: Who is your favourite author?"},
			map[string]float32{"Assistant: Who is your favourite author?": .9}, "<nil>"},
		"without its mark": {[]string{"Assistant: Where do you go on holiday"},
			map[string]float32{"Assistant: Where do you go on holiday": .9}, "<nil>"},
		"beside a statement": {[]string{turn}, map[string]float32{"Ann: Who is your favourite author?": .9,
			"Ann: Mine is Le Guin.": .2}, "Mine is Le Guin [1]."},
		"words alone": {[]string{"Assistant: Who is your favourite author?", "My favourite author rests."}, nil,
			"My favourite author rests [1]."},
	} {
		settings := recall.Settings{Search: holding(c.memories...)}
		if c.scores != nil {
			settings.Reranker = rated{scores: c.scores}
		}
		got, err := recall.New(settings).Recall(t.Context(),
			recall.Request{EndUserID: "ann", Query: "Who is the favourite author?"})
		if err != nil || text(got) != c.answer || got.Abstained != (c.answer == "<nil>") {
			t.Errorf("%s: %q, %v; want %q", name, text(got), err, c.answer)
		}
	}
}

// A reply is scored after the question that the turn before it ends with, in the first
// three sentences of it, and quoted without the question.
func TestAReplyIsReadAfterItsQuestion(t *testing.T) {
	for name, c := range map[string]struct {
		before, memory string
		scored         []string
	}{
		"a reply": {"Assistant: Do you have any pets?", "Ben: Yes, a border collie called Pixel.",
			[]string{"Assistant: Do you have any pets? Ben: Yes, a border collie called Pixel."}},
		"its last sentence asks": {"Assistant: Congratulations! When did you start?", "Ben: On the first of June.",
			[]string{"When did you start? Ben: On the first of June."}},
		"it asks first": {"Assistant: Who was it? I forgot.", "Ben: Nobody.", []string{"Ben: Nobody."}},
		"it says":       {"Ann: I moved.", "Ben: When?", nil},
		"none":          {"", "Ben: I moved.", []string{"Ben: I moved."}},
		"longer": {"Ann: Who?", "Ben: One. Two? Three. Four. Five.",
			[]string{"Ann: Who? Ben: One.", "Ann: Who? Ben: Three.", "Ben: Four.", "Ben: Five."}},
	} {
		var asked []string
		s := recall.New(recall.Settings{Search: holding(c.memory), Preceding: after(c.before), Reranker: rated{asked: &asked}})
		if _, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "What?"}); err != nil ||
			!slices.Equal(asked, c.scored) {
			t.Errorf("%s: scored %q, %v; want %q", name, asked, err, c.scored)
		}
	}
	s := recall.New(recall.Settings{
		Search:    holding("It rained.", "Ben: Yes, a border collie called Pixel."),
		Preceding: after("", "Assistant: Do you have any pets?"),
		Reranker: rated{scores: map[string]float32{
			"Assistant: Do you have any pets? Ben: Yes, a border collie called Pixel.": .4}},
	})
	got, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "Does Ben have a dog?"})
	want := []string{"1 m1 0-39 0.4 Ben: Yes, a border collie called Pixel."}
	if err != nil || text(got) != "Ben: Yes, a border collie called Pixel [1]." || !slices.Equal(cited(got), want) {
		t.Errorf("%q, %q, %v; want %q", text(got), cited(got), err, want)
	}
}

// The turns before are asked for within the scope of the search, not where nothing was
// found, and a store that fails fails the call.
func TestTheTurnsBeforeAreAskedFor(t *testing.T) {
	var asked []string
	fails := error(nil)
	settings := recall.Settings{Search: holding("One.", "Two."),
		Preceding: func(_ context.Context, q memory.Query, r []memory.Result) ([]string, error) {
			asked = append(asked, fmt.Sprint(q.EndUserID, " ", q.ContainerTag.Value, " ", len(r)))
			return make([]string, len(r)), fails
		}}
	in := recall.Request{EndUserID: "ann", Query: "What?", Scope: memory.Scope{ContainerTag: memory.Tag{Given: true, Value: "c"}}}
	if _, err := recall.New(settings).Recall(t.Context(), in); err != nil || !slices.Equal(asked, []string{"ann c 2"}) {
		t.Errorf("%q, %v", asked, err)
	}
	fails = errors.New("the store is away")
	if _, err := recall.New(settings).Recall(t.Context(), in); !errors.Is(err, fails) {
		t.Errorf("%v", err)
	}
	settings.Search, asked = holding(), nil
	if _, err := recall.New(settings).Recall(t.Context(), in); err != nil || asked != nil {
		t.Errorf("nothing found: %q, %v", asked, err)
	}
}

// Where no sentence is probable enough, a quarter of that will do for the first memory,
// if the search holds it probable and the best sentence is there; a search that did not rerank has no probabilities.
func TestWhatSearchIsSureOfNeedsLess(t *testing.T) {
	const pixel, four, skoda = "A collie called Pixel.", "She is four.", "An old Skoda."
	type scores = map[string]float32
	for name, c := range map[string]struct {
		first, second float64 // of the memories, as the search gave them
		scores        scores
		answer        string
		least         *float64
		plain         bool   // the search does not rerank
		degraded      string // a part of the search
	}{
		"sure":            {first: .5, scores: scores{pixel: .03}, answer: "A collie called Pixel [1]."},
		"just sure":       {first: .3, scores: scores{pixel: .03}, answer: "A collie called Pixel [1]."},
		"not sure":        {first: .29, scores: scores{pixel: .03}, answer: "<nil>"},
		"just enough":     {first: .5, scores: scores{pixel: .125}, least: new(.5), answer: "A collie called Pixel [1]."},
		"not enough":      {first: .5, scores: scores{pixel: .124}, least: new(.5), answer: "<nil>"},
		"one far below":   {first: .5, scores: scores{pixel: .04, four: .022}, answer: "A collie called Pixel [1]."},
		"the second":      {first: .5, second: .5, scores: scores{skoda: .05}, answer: "<nil>"},
		"the second sure": {first: .1, second: .5, scores: scores{skoda: .05}, answer: "<nil>"},
		"no agreement":    {first: .5, second: .5, scores: scores{pixel: .03, skoda: .05}, answer: "<nil>"},
		"agreement":       {first: .5, second: .5, scores: scores{pixel: .05, skoda: .05}, answer: "A collie called Pixel [1]."},
		"both sentences": {first: .5, scores: scores{pixel: .03, four: .025},
			answer: "A collie called Pixel [1]. She is four [2]."},
		"probable":   {first: .5, second: .5, scores: scores{pixel: .03, skoda: .081}, answer: "An old Skoda [1]."},
		"exactly so": {first: .5, second: .5, scores: scores{pixel: .25, skoda: .5}, least: new(.5), answer: "An old Skoda [1]."},
		"at the bound": {first: .5, second: .5, scores: scores{pixel: .25, skoda: .25}, least: new(.25),
			answer: "A collie called Pixel [1]. An old Skoda [2]."},
		"not reranked":   {first: .5, scores: scores{pixel: .03}, plain: true, answer: "<nil>"},
		"rerank failed":  {first: .5, scores: scores{pixel: .03}, degraded: "rerank", answer: "<nil>"},
		"another failed": {first: .5, scores: scores{pixel: .03}, degraded: "vector", answer: "A collie called Pixel [1]."},
	} {
		search := func(context.Context, memory.Query) (memory.Results, error) {
			out := memory.Results{Results: []memory.Result{
				{ID: "m0", Score: c.first, Memory: port.Document{Text: pixel + " " + four}},
				{ID: "m1", Score: c.second, Memory: port.Document{Text: skoda}}}}
			if c.degraded != "" {
				out.Degraded = []retrieve.Degraded{{Part: c.degraded, Reason: retrieve.Failed}}
			}
			return out, nil
		}
		s := recall.New(recall.Settings{Search: search, Reranked: !c.plain, Reranker: rated{scores: c.scores},
			MinProbability: c.least})
		got, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "What is the name of the dog?"})
		if err != nil || text(got) != c.answer {
			t.Errorf("%s: %q, %v; want %q", name, text(got), err, c.answer)
		}
	}
	// A first memory that only asks has nothing to quote.
	s := recall.New(recall.Settings{Reranked: true, Reranker: rated{scores: map[string]float32{skoda: .05}},
		Search: func(context.Context, memory.Query) (memory.Results, error) {
			return memory.Results{Results: []memory.Result{{ID: "m0", Score: .5, Memory: port.Document{Text: "Which car?"}},
				{ID: "m1", Memory: port.Document{Text: skoda}}}}, nil
		}})
	if got, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "Which car?"}); err != nil || got.Answer != nil {
		t.Errorf("a question first: %q, %v", text(got), err)
	}
	// Counted words are no probabilities.
	s = recall.New(recall.Settings{Reranked: true, MinProbability: new(.8), Search: func(context.Context,
		memory.Query) (memory.Results, error) {
		return memory.Results{Results: []memory.Result{{ID: "m0", Score: .5, Memory: port.Document{Text: "A red boat."}}}}, nil
	}})
	if got, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "red car"}); err != nil || got.Answer != nil {
		t.Errorf("without a reranker: %q, %v", text(got), err)
	}
}

// A sentence loses a quarter of the log-odds by which its memory stands behind the first
// one, where these are probabilities: it may fall behind another sentence, or below what
// is quoted.
func TestASentenceIsWeighedByItsMemory(t *testing.T) {
	const lyon, oslo = "Ann lives in Lyon.", "Ann lived in Oslo."
	for name, c := range map[string]struct {
		first, second float64 // of the memories
		lyon, oslo    float32
		plain         bool
		want          []string // citations
	}{
		"level": {.9, .9, .2, .6, false, []string{"1 m1 0-18 0.6000 Ann lived in Oslo."}},
		"behind": {.9, .1, .2, .4, false, []string{"1 m0 0-18 0.2000 Ann lives in Lyon.",
			"2 m1 0-18 0.1818 Ann lived in Oslo."}},
		"far ahead":      {.9, .1, .2, .9, false, []string{"1 m1 0-18 0.7500 Ann lived in Oslo."}},
		"below":          {.1, .0001, .02, .25, false, nil},
		"never":          {.1, 0, .02, .25, false, nil}, // as .0001
		"certain":        {1, .5, .02, .9, false, []string{"1 m1 0-18 0.4737 Ann lived in Oslo."}},
		"sure, just not": {1, .0001, .02, .4, false, nil},
		"not reranked":   {.9, .1, .2, .4, true, []string{"1 m1 0-18 0.4000 Ann lived in Oslo."}},
	} {
		scores := map[string]float32{lyon: c.lyon, oslo: c.oslo}
		s := recall.New(recall.Settings{Reranked: !c.plain, Reranker: rated{scores: scores},
			Search: func(context.Context, memory.Query) (memory.Results, error) {
				return memory.Results{Results: []memory.Result{{ID: "m0", Score: c.first, Memory: port.Document{Text: lyon}},
					{ID: "m1", Score: c.second, Memory: port.Document{Text: oslo}}}}, nil
			}})
		got, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "Where does Ann live?"})
		var cited []string
		for _, q := range got.Citations {
			cited = append(cited, fmt.Sprintf("%d %s %d-%d %.4f %s", q.Marker, q.MemoryID, q.Start, q.End, q.Score, q.Quote))
		}
		if err != nil || !slices.Equal(cited, c.want) {
			t.Errorf("%s: %q, %v; want %q", name, cited, err, c.want)
		}
	}
}

// What proves a written sentence is a statement where the memory has one.
func TestAWrittenSentenceIsProvenByAStatement(t *testing.T) {
	for memory, want := range map[string]string{
		"Ann: Did you move to Lyon? I did, in May.": "I did, in May.",
		"I did, in May. Ann moved to Lyon in May?":  "I did, in May.",
		"Who? Did Ann move to Lyon?":                "Did Ann move to Lyon?",
	} {
		s := recall.New(recall.Settings{Search: holding(memory), Synthesizer: saying("Ann moved to Lyon [1].")})
		got, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "Where?"})
		if err != nil || len(got.Citations) != 1 || got.Citations[0].Quote != want {
			t.Errorf("%q: %q, %v; want %q", memory, cited(got), err, want)
		}
	}
}

// weighing is a reranker whose work grows with the text that it reads, as that of one
// which encodes texts does.
type weighing struct {
	port.Reranker
	read *int
}

func (w weighing) Score(_ context.Context, _ string, texts []string) ([]float32, int, error) {
	out := make([]float32, len(texts))
	for i, t := range texts {
		*w.read += len(t)
		h := uint32(2166136261)
		for range 200 {
			for j := range len(t) {
				h = (h ^ uint32(t[j])) * 16777619
			}
		}
		out[i] = float32(h%1000) / 1000
	}
	return out, 0, nil
}

// BenchmarkReplies compares an answer out of a chat, half of which are questions, with and
// without the turns before: read/op is the text that the reranker reads.
func BenchmarkReplies(b *testing.B) {
	var turns, before []string
	for i := range 8 {
		question := fmt.Sprintf("Assistant: Hello again. What did you do in week %d of the holidays?", i)
		turns = append(turns, question, fmt.Sprintf("Ben: Week %d was for the boat. We painted it white.", i))
		before = append(before, "", question)
	}
	statements := make([]string, len(turns))
	for i, t := range turns {
		statements[i] = strings.ReplaceAll(t, "?", ".")
	}
	for name, s := range map[string]recall.Settings{
		"statements": {Search: holding(statements...)},
		"replies":    {Search: holding(turns...), Preceding: after(before...)},
	} {
		b.Run(name, func(b *testing.B) {
			read := 0
			s.Reranker = weighing{read: &read}
			service := recall.New(s)
			for b.Loop() {
				_, err := service.Recall(b.Context(), recall.Request{EndUserID: "ann", Query: "What about the boat?"})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(read)/float64(b.N), "read/op")
		})
	}
}
