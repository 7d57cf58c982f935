package recall

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/memory"
)

// composeQuotes writes an answer out of quotes: each sentence with its own marker. It
// returns the quotes in the order of their markers. Sentences of one memory keep its
// order; memories are ordered by their best sentence.
func composeQuotes(from []passage, best []quote) (string, []quote) {
	rank := map[int]int{}
	for _, q := range best {
		if _, ok := rank[q.passage]; !ok {
			rank[q.passage] = len(rank)
		}
	}
	best = slices.Clone(best)
	slices.SortFunc(best, func(a, b quote) int {
		if a.passage != b.passage {
			return rank[a.passage] - rank[b.passage]
		}
		return a.start - b.start
	})
	parts := make([]string, len(best))
	for i, q := range best {
		parts[i] = appendMarker(strings.Join(strings.Fields(from[q.passage].text[q.start:q.end]), " "), i+1)
	}
	return strings.Join(parts, " "), best
}

// appendMarker puts "[n]" before the stop at the end of a sentence.
func appendMarker(sentence string, n int) string {
	body := strings.TrimRight(sentence, ".!?…")
	return body + " [" + strconv.Itoa(n) + "]" + sentence[len(body):]
}

var markers = regexp.MustCompile(`\s*\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]`)

// keepProven keeps the sentences of a written answer that name a source that
// exists, renumbers the sources in the order of their first use, and finds
// for each the slice that says most of it. "": no sentence is proven.
func keepProven(answer string, from []passage) (string, []quote) {
	var kept []string
	var quotes []quote
	number := map[int]int{} // source -> marker
	for _, s := range cutMarked(answer) {
		var cited []int
		for _, m := range markers.FindAllStringSubmatch(s, -1) {
			for n := range strings.SplitSeq(m[1], ",") {
				if i, err := strconv.Atoi(strings.TrimSpace(n)); err == nil && i >= 1 && i <= len(from) &&
					!slices.Contains(cited, i) {
					cited = append(cited, i)
				}
			}
		}
		plain := strings.Join(strings.Fields(markers.ReplaceAllString(s, "")), " ")
		if len(cited) == 0 || strings.Trim(plain, " .!?…*-") == "" {
			continue
		}
		var marks strings.Builder
		for _, i := range cited {
			n, ok := number[i]
			if !ok {
				n = len(number) + 1
				number[i] = n
				quotes = append(quotes, closestSentence(plain, from, i-1))
			}
			marks.WriteString("[" + strconv.Itoa(n) + "]")
		}
		body := strings.TrimRight(plain, ".!?…")
		kept = append(kept, body+" "+marks.String()+plain[len(body):])
	}
	return strings.Join(kept, " "), quotes
}

// leadingMarkers matches markers at the start of a sentence, which belong to the one
// before: they stand after its full stop.
var leadingMarkers = regexp.MustCompile(`^(?:\s*\[\d{1,3}(?:\s*,\s*\d{1,3})*\])+`)

// cutMarked cuts a written answer into sentences with their markers.
func cutMarked(answer string) []string {
	var out []string
	for line := range strings.SplitSeq(answer, "\n") {
		for _, s := range chunk.Sentences(line) {
			text := line[s[0]:s[1]]
			if m := leadingMarkers.FindString(text); m != "" && len(out) > 0 {
				out[len(out)-1] += m
				text = strings.TrimSpace(text[len(m):])
			}
			if text != "" {
				out = append(out, text)
			}
		}
	}
	return out
}

// closestSentence is the sentence of a memory that shares the most words with a sentence
// of the answer, a question only where there is nothing else; the whole memory if it has
// no sentence.
func closestSentence(sentence string, from []passage, at int) quote {
	p := from[at]
	best := quote{passage: at, end: len(p.text), score: p.score}
	most := -2.0
	for _, s := range chunk.Sentences(p.text) {
		c := coverage(sentence, p.text[s[0]:s[1]])
		if memory.IsQuestion(p.text[s[0]:s[1]]) {
			c -= 1.5 // below every statement
		}
		if c > most {
			most, best.start, best.end = c, s[0], s[1]
		}
	}
	return best
}
