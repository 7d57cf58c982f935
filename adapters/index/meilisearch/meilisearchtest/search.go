package meilisearchtest

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// The server reads ten words of a query ("Known limitations", number of query
// words) and ignores words of more than 250 bytes.
const (
	maxQueryWords = 10
	maxWordBytes  = 250
)

// searchQuery is the body of a search. Fields that it does not know are an error
// of the request, as the server's are.
type searchQuery struct {
	IndexUID              string           `json:"indexUid"`
	Q                     string           `json:"q"`
	Offset                int              `json:"offset"`
	Limit                 *int             `json:"limit"`
	AttributesToRetrieve  []string         `json:"attributesToRetrieve"`
	AttributesToSearchOn  []string         `json:"attributesToSearchOn"`
	Filter                any              `json:"filter"`
	MatchingStrategy      string           `json:"matchingStrategy"`
	ShowRankingScore      bool             `json:"showRankingScore"`
	RankingScoreThreshold float64          `json:"rankingScoreThreshold"`
	Locales               []string         `json:"locales"`
	Hybrid                *json.RawMessage `json:"hybrid"`
	FederationOptions     *map[string]any  `json:"federationOptions"`
}

// words cuts a text at everything that is neither letter nor digit, in lower
// case: what the server's tokenizer does with a Latin script.
func words(s string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(s),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		if len(w) <= maxWordBytes {
			out = append(out, w)
		}
	}
	return out
}

// rank is a place among several, from 1 (milli's score_details).
type rank struct{ at, of int }

// scored is a document that a search found.
type scored struct {
	d     *document
	ranks []rank
}

// score folds the ranks: a later rule divides what an earlier leaves equal.
func (s scored) score() float64 {
	r := rank{1, 1}
	for _, next := range s.ranks {
		r = rank{(r.at-1)*next.of + next.at, r.of * next.of}
	}
	return float64(r.at) / float64(r.of)
}

// term is a word of a query with the words of documents that it stands for, by
// the number of typos, or a phrase in quotes, which has to be there as it is.
type term struct {
	word  string
	near  map[string]int
	split [][]string // the word as two, one after the other; counts as a typo
	// phrase is what stood in quotes; such a term is never dropped.
	phrase []string
}

// places are where a document has a term, and with how many typos; none: nowhere.
func (t term) places(d *document) (at []int, typos int) {
	if t.phrase != nil {
		return run(d, t.phrase), 0
	}
	typos = -1
	for w, n := range t.near {
		if p := d.words[w]; len(p) > 0 {
			at = append(at, p...)
			if typos < 0 || n < typos {
				typos = n
			}
		}
	}
	for _, s := range t.split {
		if p := run(d, s); len(p) > 0 {
			at = append(at, p...)
			if typos < 0 {
				typos = 1
			}
		}
	}
	return at, max(0, typos)
}

// run are the places where words stand one after the other.
func run(d *document, words []string) (at []int) {
	for _, p := range d.words[words[0]] {
		whole := true
		for i, w := range words {
			whole = whole && slices.Contains(d.words[w], p+i)
		}
		if whole {
			at = append(at, p)
		}
	}
	return at
}

// holders are the documents that have a term.
func (ix *index) holders(t term) map[int]bool {
	out := map[int]bool{}
	add := func(w string) {
		for id := range ix.postings[w] {
			if at, _ := t.places(ix.byID[id]); len(at) > 0 {
				out[id] = true
			}
		}
	}
	if t.phrase != nil {
		add(t.phrase[0])
		return out
	}
	for w := range t.near {
		add(w)
	}
	for _, s := range t.split {
		add(s[0])
	}
	return out
}

// parse reads a query: words, and phrases in double quotes.
func (ix *index) parse(q string) (terms []term) {
	n := 0
	for i, part := range strings.Split(q, `"`) {
		list := words(part)
		list = slices.DeleteFunc(list, func(w string) bool { return slices.Contains(ix.settings.StopWords, w) })
		if i%2 == 1 && len(list) > 0 {
			terms = append(terms, term{phrase: list})
			n += len(list)
			continue
		}
		for j, w := range list {
			if n++; n > maxQueryWords {
				break
			}
			last := j == len(list)-1 && !strings.HasSuffix(part, " ")
			terms = append(terms, ix.expand(w, last && ix.settings.PrefixSearch == "indexingTime"))
		}
	}
	return terms
}

// search finds what a query asks for, best first, and how many there are.
func (ix *index) search(q searchQuery, filter *condition) []scored {
	terms := ix.parse(q.Q)
	if len(terms) == 0 { // a placeholder search: everything, in no order of merit
		var out []scored
		for _, id := range slices.Sorted(maps.Keys(ix.byID)) {
			if d := ix.byID[id]; filter.match(d) {
				out = append(out, scored{d: d})
			}
		}
		return out
	}
	kept := ix.strategy(terms, q.MatchingStrategy)
	candidates := map[int]bool{}
	for _, i := range kept[len(kept)-1] {
		maps.Copy(candidates, ix.holders(terms[i]))
	}
	var out []scored
	for _, id := range slices.Sorted(maps.Keys(candidates)) {
		d := ix.byID[id]
		if !filter.match(d) {
			continue
		}
		for _, set := range kept {
			if ranks, ok := ix.ranks(d, terms, set); ok {
				out = append(out, scored{d, ranks})
				break
			}
		}
	}
	slices.SortStableFunc(out, func(a, b scored) int {
		for i := range a.ranks {
			if c := cmp.Compare(b.ranks[i].at*a.ranks[i].of, a.ranks[i].at*b.ranks[i].of); c != 0 {
				return c
			}
		}
		return 0
	})
	return out
}

// strategy lists, from all terms to the fewest, which terms a document must hold
// (milli's query_graph): "last" drops them from the end, "frequency" from the one
// that most documents hold, those of one frequency at once and absent ones first;
// one always stays, and so does every phrase.
func (ix *index) strategy(terms []term, name string) [][]int {
	all := make([]int, len(terms))
	for i := range all {
		all[i] = i
	}
	out := [][]int{all}
	switch name {
	case "all":
		return out
	}
	var cost []int // by term; what costs least is dropped first
	for i, t := range terms {
		switch name {
		case "frequency":
			n := len(ix.holders(t))
			if n == 0 {
				n = len(ix.byID) + 1
			}
			cost = append(cost, -n)
		default: // last
			cost = append(cost, -i)
		}
	}
	optional := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return terms[i].phrase != nil })
	steps := map[int]bool{}
	for _, i := range optional {
		steps[cost[i]] = true
	}
	order := slices.Sorted(maps.Keys(steps))
	if len(optional) == len(all) && len(order) > 0 {
		order = order[:len(order)-1]
	}
	for _, step := range order {
		out = append(out, slices.DeleteFunc(slices.Clone(all),
			func(i int) bool { return terms[i].phrase == nil && cost[i] <= step }))
	}
	return out
}

// expand finds the words of documents that a word of the query stands for: itself,
// where typos are allowed its neighbours (one typo from minWordSizeForTypos.oneTypo
// letters, two from twoTypos), what begins with it, and it as two words, which
// typo tolerance does not turn off.
func (ix *index) expand(w string, prefix bool) term {
	t := term{word: w, near: map[string]int{w: 0}}
	for i := 1; i < len(w); i++ {
		if left, right := w[:i], w[i:]; len(ix.postings[left]) > 0 && len(ix.postings[right]) > 0 {
			t.split = append(t.split, []string{left, right})
		}
	}
	typos := 0
	if tt := ix.settings.TypoTolerance; tt.Enabled && !slices.Contains(tt.DisableOnWords, w) &&
		!(tt.DisableOnNumbers && strings.IndexFunc(w, unicode.IsLetter) < 0) {
		switch n := len([]rune(w)); {
		case n >= tt.MinWordSizeForTypos.TwoTypos:
			typos = 2
		case n >= tt.MinWordSizeForTypos.OneTypo:
			typos = 1
		}
	}
	if typos == 0 && !prefix {
		return t
	}
	for other := range ix.postings {
		if prefix && strings.HasPrefix(other, w) {
			t.near[other] = 0
		} else if n := distance(w, other, typos); n <= typos {
			t.near[other] = n
		}
	}
	return t
}

// distance is Levenshtein's with transpositions, or limit+1.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > limit || len(y)-len(x) > limit {
		return limit + 1
	}
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}

// ranks applies the ranking rules to a document for the terms of a set; ok is
// false when it lacks one.
func (ix *index) ranks(d *document, terms []term, set []int) (ranks []rank, ok bool) {
	places := make([][]int, len(set))
	typos, exact := 0, 0
	for i, at := range set {
		var n int
		if places[i], n = terms[at].places(d); len(places[i]) == 0 {
			return nil, false
		}
		typos += n
		if terms[at].phrase != nil || len(d.words[terms[at].word]) > 0 {
			exact++
		}
	}
	for _, rule := range ix.settings.RankingRules {
		switch rule {
		case "words":
			ranks = append(ranks, rank{len(set), len(terms)})
		case "typo":
			most := 2 * len(terms)
			ranks = append(ranks, rank{most + 1 - min(typos, most), most + 1})
		case "proximity": // distances of neighbours, each 1 to 8
			cost, most := 0, 7*max(1, len(set)-1)
			for i := 1; i < len(places); i++ {
				cost += near(places[i-1], places[i]) - 1
			}
			ranks = append(ranks, rank{most + 1 - cost, most + 1})
		case "exactness":
			ranks = append(ranks, rank{exact + 1, len(terms) + 1})
		case "attribute", "attributeRank":
			ranks = append(ranks, rank{1, 1})
		}
	}
	return ranks, true
}

// near is the least distance from a place to one after it, at most 8; backwards
// costs one more.
func near(a, b []int) int {
	best := 8
	for _, x := range a {
		for _, y := range b {
			switch {
			case y > x:
				best = min(best, y-x)
			case x > y:
				best = min(best, x-y+1)
			}
		}
	}
	return best
}
