package meilisearch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	client "github.com/meilisearch/meilisearch-go"

	"github.com/mnemehq/mneme/core/port"
)

const (
	// Meilisearch reads ten words of a query and ignores the rest.
	maxWordsTogether = 10
	// Each word is a search of its own; a text longer than this is no question.
	maxWordsAlone = 24
	// maxHits is the largest limit of port.IndexQuery.
	maxHits = 1000
)

// queryTerm is a distinct term of a query.
type queryTerm struct {
	word    string
	weight  float64  // how often it stands in the query; less for a form that is guessed
	surface []string // the forms in which the user wrote it
}

// analyzeQuery analyses a query as the texts were.
func (x *Index) analyzeQuery(q port.Wording) []queryTerm {
	words := x.analyzer.Query(q, x.cfg.StopWords)
	terms := make([]queryTerm, len(words))
	for i, w := range words {
		terms[i] = queryTerm{encodeTerm([]byte(w.Term)), float64(w.Weight), w.Surface}
	}
	return terms
}

// Spans implements port.Highlighter.
func (x *Index) Spans(query, text port.Wording) []port.Span {
	terms := x.analyzer.Query(query, x.cfg.StopWords)
	return x.analyzer.Spans(terms[:min(len(terms), maxWordsAlone)], text)
}

// hit is what a search gives of a chunk.
type hit struct {
	Document string  `json:"d"`
	Chunk    int     `json:"c"`
	Terms    string  `json:"w"` // where asked for
	Score    float64 `json:"_rankingScore"`
}

// Search asks for the words together and for each alone, and merges the lists.
func (x *Index) Search(ctx context.Context, p port.Partition, q port.IndexQuery) ([]port.Hit, error) {
	g, err := partitionName(p)
	if err != nil {
		return nil, err
	}
	if q.Retriever != port.Keyword {
		return nil, fmt.Errorf("meilisearch: it does not serve %s search", q.Retriever)
	}
	if q.Limit < 1 || q.Limit > maxHits {
		return nil, fmt.Errorf("meilisearch: limit %d is not between 1 and %d", q.Limit, maxHits)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("meilisearch: search: %w", err)
	}
	if err := x.ready(ctx); err != nil {
		return nil, err
	}
	terms := x.analyzeQuery(q.Wording())
	if len(terms) == 0 {
		return nil, nil
	}
	terms = terms[:min(len(terms), maxWordsAlone)]
	lists, err := x.searchTerms(ctx, condition(g, q), terms, q)
	if err != nil {
		return nil, err
	}
	return x.merge(terms, lists, q), nil
}

// searchTerms sends the request: one list for each term, the words together, and one
// that counts the chunks.
func (x *Index) searchTerms(ctx context.Context, filter string, terms []queryTerm,
	q port.IndexQuery) ([]client.SearchResponse, error) {
	fields := []string{"d", "c"}
	if q.Explain || x.cfg.Ranking == ByBM25 {
		fields = append(fields, "w")
	}
	search := func(text string, strategy client.MatchingStrategy) *client.SearchRequest {
		return &client.SearchRequest{
			IndexUID:             x.uid,
			Query:                text,
			Filter:               filter,
			Limit:                int64(q.Limit),
			AttributesToRetrieve: fields,
			MatchingStrategy:     strategy,
			ShowRankingScore:     true,
			Locales:              []string{"eng"},
		}
	}
	var all client.MultiSearchRequest
	words := make([]string, len(terms))
	for i, t := range terms {
		words[i] = t.word
		// In quotes, since Meilisearch looks for a word cut in two as well, typos or
		// not, and so would find 123456 in 123 456.
		all.Queries = append(all.Queries, search(`"`+t.word+`"`, client.All))
	}
	if len(terms) > 1 {
		// Not in quotes: what is quoted is never dropped. Its hits are checked.
		together := search(strings.Join(words[:min(len(words), maxWordsTogether)], " "), client.Frequency)
		together.AttributesToRetrieve = []string{"d", "c", "w"}
		count := search("", client.All)
		count.Limit, count.AttributesToRetrieve = 1, []string{"c"}
		all.Queries = append(all.Queries, together, count)
	}
	var r *client.MultiSearchResponse
	err := x.call(ctx, "search", func(ctx context.Context) (err error) {
		r, err = x.server.MultiSearchWithContext(ctx, &all)
		return err
	})
	switch {
	case errors.Is(err, errGone):
		return nil, port.ErrGap
	case err != nil && hasCode(err, codeSearchFilter): // an attribute is not filterable any more
		return nil, errors.Join(err, x.recheck(ctx))
	case err != nil:
		return nil, err
	case len(r.Results) != len(all.Queries):
		return nil, unavailable("meilisearch: search", fmt.Errorf("%d results for %d queries", len(r.Results), len(all.Queries)))
	}
	return r.Results, nil
}

// merge orders the chunks of all lists: by the sum of Meilisearch's scores, each
// weighted by its term's inverse document frequency, or by BM25.
func (x *Index) merge(terms []queryTerm, lists []client.SearchResponse, q port.IndexQuery) []port.Hit {
	type key struct {
		document string
		chunk    int
	}
	type found struct {
		port.Hit
		score float64
		words []string // where asked for
	}
	n := 1.0
	if len(lists) > len(terms) {
		n = float64(max(1, lists[len(lists)-1].EstimatedTotalHits))
	}
	at := map[key]int{}
	var all []found
	length := 0
	for i, l := range lists[:min(len(lists), len(terms)+1)] {
		weight := togetherWeight
		if i < len(terms) {
			df := float64(max(1, l.EstimatedTotalHits))
			weight = terms[i].weight * math.Log(1+n/df)
		}
		for _, raw := range l.Hits {
			var h hit
			if raw.DecodeInto(&h) != nil {
				continue
			}
			if i == len(terms) && matched(terms, strings.Fields(h.Terms)) == nil {
				continue
			}
			k := key{h.Document, h.Chunk}
			j, ok := at[k]
			if !ok {
				j = len(all)
				at[k] = j
				all = append(all, found{Hit: port.Hit{Document: h.Document, Chunk: h.Chunk}, words: strings.Fields(h.Terms)})
				length += len(all[j].words)
				if q.Explain {
					all[j].Terms = matched(terms, all[j].words)
				}
			}
			all[j].score += weight * h.Score
		}
	}
	for i := range all {
		if x.cfg.Ranking == ByBM25 {
			all[i].score = bm25(terms, lists, n, all[i].words, float64(length)/float64(len(all)))
		}
		all[i].Score = float32(all[i].score)
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Chunk, b.Chunk))
	})
	out := make([]port.Hit, min(q.Limit, len(all)))
	for i := range out {
		out[i] = all[i].Hit
	}
	return out
}

// togetherWeight is how much Meilisearch's score of all words together counts
// beside the terms' inverse document frequencies.
const togetherWeight = 1.0

// The constants of BM25 are those of the embedded index.
const k1, b = .9, .65

// bm25 is Robertson's score of a chunk (Foundations and Trends in Information
// Retrieval 3(4), 2009) among n. The mean length is that of what was found.
func bm25(terms []queryTerm, lists []client.SearchResponse, n float64, words []string, mean float64) float64 {
	sum := 0.0
	for i, t := range terms {
		tf := 0.0
		for _, w := range words {
			if w == t.word {
				tf++
			}
		}
		df := float64(max(1, lists[i].EstimatedTotalHits))
		idf := math.Log(1 + max(0, n-df+.5)/(df+.5))
		sum += t.weight * idf * tf * (k1 + 1) / (tf + k1*(1-b+b*float64(len(words))/max(1, mean)))
	}
	return sum
}

// matched are the query's terms that a chunk holds, as the user wrote them.
func matched(terms []queryTerm, words []string) []string {
	var out []string
	for _, t := range terms {
		if slices.Contains(words, t.word) {
			out = append(out, t.surface...)
		}
	}
	return out
}
