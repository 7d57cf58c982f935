package recall

import (
	"context"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/port"
)

// overlap scores a text by the question's words in it.
type overlap struct{}

func (overlap) Info() port.ModelInfo { return port.ModelInfo{ID: "overlap"} }
func (overlap) Close() error         { return nil }
func (overlap) Score(_ context.Context, query string, texts []string) ([]float32, int, error) {
	out := make([]float32, len(texts))
	for i, t := range texts {
		out[i] = float32(coverage(query, t))
	}
	return out, 0, nil
}

func memories(texts ...string) []passage {
	out := make([]passage, len(texts))
	for i, t := range texts {
		out[i] = passage{id: "mem", text: t, score: .5}
	}
	return out
}

func TestExtract(t *testing.T) {
	from := memories("Caroline: We met. I moved to Lyon in May. It rained.", "Bread rises.",
		"Caroline moved to Lyon in May, said Anna!")
	got, err := extract(t.Context(), overlap{}, "When did Caroline move to Lyon?", from, .4, 400)
	if err != nil {
		t.Fatal(err)
	}
	answer, quotes := composeQuotes(from, got)
	// The speaker counts for the second sentence, although it is not quoted.
	if want := "I moved to Lyon in May [1]. Caroline moved to Lyon in May, said Anna [2]!"; answer != want {
		t.Errorf("answer %q, want %q", answer, want)
	}
	for i, want := range []string{"I moved to Lyon in May.", "Caroline moved to Lyon in May, said Anna!"} {
		if q := quotes[i]; from[q.passage].text[q.start:q.end] != want {
			t.Errorf("quote %d is %q", i, from[q.passage].text[q.start:q.end])
		}
	}
	for question, least := range map[string]float64{"Who invented the telephone?": .4, "": .1} {
		if got, err := extract(t.Context(), overlap{}, question, from, least, 400); err != nil || len(got) != 0 {
			t.Errorf("%q: %v, %v", question, got, err)
		}
	}
	if got, err := extract(t.Context(), nil, "Caroline Lyon", from, .4, 400); err != nil || len(got) == 0 {
		t.Errorf("without a reranker: %v, %v", got, err)
	}
	if got, err := extract(t.Context(), overlap{}, "Caroline Lyon", from, .4, 1); err != nil || len(got) != 1 {
		t.Errorf("one token: %v, %v; the best sentence stays", got, err)
	}
}

func TestExtractBounds(t *testing.T) {
	long := strings.Repeat("Nothing of note happened. ", 2000) + "The key is under the mat."
	from := memories(long, long)
	if n := len(sentences("Where is the key?", from)); n != 2*sentencesEach {
		t.Errorf("%d sentences", n)
	}
	got, err := extract(t.Context(), overlap{}, "Where is the key?", from, .4, 400)
	if err != nil || len(got) != 1 || from[0].text[got[0].start:got[0].end] != "The key is under the mat." {
		t.Errorf("%v, %v", got, err)
	}
}

func TestProven(t *testing.T) {
	from := memories("We met in Paris. I moved to Lyon in May.", "Anna has two cats.")
	for written, want := range map[string]string{
		"She moved to Lyon in May [1].":                             "She moved to Lyon in May [1].",
		"She moved to Lyon. [1] Anna has cats. [2]":                 "She moved to Lyon [1]. Anna has cats [2].",
		"Anna has two cats [2]. She moved to Lyon [1], in May [2].": "Anna has two cats [1]. She moved to Lyon, in May [2][1].",
		"She is happy. Anna has two cats [2].":                      "Anna has two cats [1].",
		"Anna has nine lives [7]. Cats [0]! [1]":                    "Cats [1]!",
		"No marker at all.":                                         "",
		"[1]":                                                       "",
		"":                                                          "",
		"- Lyon [1][2]\n- cats [1, 2]":                              "- Lyon [1][2] - cats [1][2]",
		"Ignore [999999999999999999999] this.":                      "",
	} {
		got, quotes := keepProven(written, from)
		if got != want {
			t.Errorf("%q: got %q, want %q", written, got, want)
		}
		for _, q := range quotes {
			if q.start >= q.end || q.end > len(from[q.passage].text) {
				t.Errorf("%q: quote %v", written, q)
			}
		}
	}
	_, quotes := keepProven("She moved to Lyon in May [1].", from)
	if got := from[0].text[quotes[0].start:quotes[0].end]; got != "I moved to Lyon in May." {
		t.Errorf("quote %q", got)
	}
}

func FuzzProven(f *testing.F) {
	f.Add("She moved [1]. And [2, 1]! [3]")
	from := memories("One. Two.", "Three")
	f.Fuzz(func(t *testing.T, written string) {
		answer, quotes := keepProven(written, from)
		if (answer == "") != (len(quotes) == 0) {
			t.Fatalf("answer %q with %d quotes", answer, len(quotes))
		}
		for _, q := range quotes {
			_ = from[q.passage].text[q.start:q.end]
		}
	})
}
