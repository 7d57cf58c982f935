package recall

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/port"
)

// passage is a memory to answer from.
type passage struct {
	id        string
	text      string
	asked     string  // the question to which the memory replies; "": none
	createdAt int64   // Unix ms
	score     float64 // of the memory for the question, as search gave it
	probable  bool    // whether search holds it probable that the memory answers
	behind    float64 // how much less probable than the first memory search holds it, in log-odds
}

// quote is a verbatim slice of a passage.
type quote struct {
	passage    int // index
	start, end int // UTF-8 bytes
	score      float64
	alone      float64 // its score before it was weighed by its memory
	reply      bool    // among the first sentences of a reply
}

// Bounds of the work of an extractive answer.
const (
	sentencesEach = 12 // scored of one memory
	sentencesAll  = 64 // scored of all
	sentencesKept = 5  // in an answer
	closeToBest   = 0.6

	// A reply is in the first sentences of the turn after the question.
	sentencesReplying = 3
	// A sentence loses this share of the log-odds by which search holds its memory less
	// probable than the first one.
	weightOfMemory = 0.25
	// What search holds as probable as this and puts first is quoted at a share of the
	// probability that a sentence needs else, if the most probable sentence is there, too:
	// two witnesses say the same.
	probableMemory = 0.3
	shareOfLeast   = 0.25
)

// extract picks the sentences that answer the question, best first: scored by
// the reranker one by one, a probability each, none below least and none far
// below the best. Sentences that ask are left out, and a reply is scored with the
// question before it. A sentence is weighed by how probable search holds its memory
// beside the first one. When none is probable enough, search is sure of its first memory
// and the best sentence is of that, less will do for it. Without a reranker the share of the question's
// words that a sentence holds stands in. nil: nothing answers.
func extract(ctx context.Context, reranker port.Reranker, question string, from []passage, least float64,
	maxTokens int) ([]quote, error) {
	found := sentences(question, from)
	if len(found) == 0 {
		return nil, nil
	}
	texts := make([]string, len(found))
	for i, q := range found {
		texts[i] = inContext(from[q.passage], q)
	}
	if reranker == nil {
		for i := range found {
			found[i].score = coverage(question, texts[i])
		}
	} else {
		scores, _, err := reranker.Score(ctx, question, texts)
		if err == nil && len(scores) != len(texts) {
			err = fmt.Errorf("reranker gave %d scores for %d sentences", len(scores), len(texts))
		}
		if err != nil {
			return nil, err
		}
		for i := range found {
			p := float64(scores[i])
			found[i].alone, found[i].score = p, p
			if behind := from[found[i].passage].behind; behind > 0 {
				found[i].score = probability(logOdds(p) - weightOfMemory*behind)
			}
		}
	}
	// A sentence said twice is quoted once, from the memory that ranks first.
	seen := map[string]bool{}
	found = slices.DeleteFunc(found, func(q quote) bool {
		key := strings.ToLower(from[q.passage].text[q.start:q.end])
		dup := seen[key]
		seen[key] = true
		return dup
	})
	nearest := slices.MaxFunc(found, func(a, b quote) int { return cmp.Compare(a.alone, b.alone) })
	slices.SortStableFunc(found, func(a, b quote) int { return cmp.Compare(b.score, a.score) })
	if found[0].score < least && reranker != nil && from[0].probable && nearest.passage == 0 {
		least *= shareOfLeast
		found = slices.DeleteFunc(found, func(q quote) bool { return q.passage != 0 })
	}
	bar := max(least, closeToBest*found[0].score)
	var kept []quote
	tokens := 0
	for _, q := range found {
		if q.score < bar || len(kept) == sentencesKept {
			break
		}
		n, err := chunk.Approximate(ctx, []string{from[q.passage].text[q.start:q.end]})
		if err != nil {
			return nil, err
		}
		if tokens += n[0]; tokens > maxTokens && len(kept) > 0 {
			break
		}
		kept = append(kept, q)
	}
	return kept, nil
}

// logOdds of a probability, which is kept from 0 and 1.
func logOdds(p float64) float64 {
	const least = 1e-4
	p = min(max(p, least), 1-least)
	return math.Log(p / (1 - p))
}

// probability is the inverse of logOdds.
func probability(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// sentences lists what may be quoted, which questions may not: of a long memory those
// that share most words with the question.
func sentences(question string, from []passage) []quote {
	var out []quote
	for i, p := range from {
		var own []quote
		for n, s := range chunk.Sentences(p.text) {
			if !memory.IsQuestion(p.text[s[0]:s[1]]) {
				own = append(own, quote{passage: i, start: s[0], end: s[1], reply: n < sentencesReplying})
			}
		}
		if len(own) > sentencesEach {
			for k := range own {
				own[k].score = coverage(question, p.text[own[k].start:own[k].end])
			}
			slices.SortStableFunc(own, func(a, b quote) int { return cmp.Compare(b.score, a.score) })
			own = own[:sentencesEach]
			slices.SortFunc(own, func(a, b quote) int { return cmp.Compare(a.start, b.start) })
		}
		if out = append(out, own...); len(out) >= sentencesAll {
			return out[:sentencesAll]
		}
	}
	return out
}

// inContext is a sentence as it is scored: a reply after the question before it, since
// "Yes, in May" means nothing without one.
func inContext(p passage, q quote) string {
	s := withSpeaker(p.text, q)
	if p.asked == "" || !q.reply {
		return s
	}
	return p.asked + " " + s
}

// withSpeaker is a sentence after its speaker: a later sentence of "Caroline: ..." is
// prefixed with the speaker, since "I" means nothing without one.
func withSpeaker(text string, q quote) string {
	s := text[q.start:q.end]
	if q.start == 0 {
		return s
	}
	if name := memory.Speaker(text); name != "" {
		return name + ": " + s
	}
	return s
}

// coverage is the share of the question's words that a text holds.
func coverage(question, text string) float64 {
	asked := contentWords(question)
	if len(asked) == 0 {
		return 0
	}
	has := contentWords(text)
	n := 0
	for w := range asked {
		if has[w] {
			n++
		}
	}
	return float64(n) / float64(len(asked))
}

// contentWords are the distinct words of a text, in lower case, that are no stop words
// and are longer than two bytes or not of ASCII letters.
func contentWords(text string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !stopWords[w] && (len(w) > 2 || w[0] < 'a' || w[0] > 'z') {
			out[w] = true
		}
	}
	return out
}

// stopWords are the English words that questions are made of.
var stopWords = wordSet(
	"the and was were are did does what when where which who whom why how has have had for from with that this " +
		"you your she her his him they them their its not but can could would should will about into than then there been")

func wordSet(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[w] = true
	}
	return out
}
