package opensearch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

const (
	// maxHits is the largest limit of port.IndexQuery.
	maxHits = 1000
	// maxQueryTerms is how many terms of a query count, the heaviest of a sparse one and the
	// first of a text: with a filter they have to fit into the 1,024 clauses of a query.
	maxQueryTerms = 512
	// largePartition is how many chunks a partition has for which words are counted one by one, and
	// hits are not sorted by the nodes. Below, an aggregation and a sort cost less than a further request.
	largePartition = 20_000
	// maxRounds bounds how often a search begins again because a batch came in between.
	maxRounds = 20
)

// searchAnswer is what a search gives.
type searchAnswer struct {
	TimedOut bool `json:"timed_out"`
	Shards   struct {
		Total, Successful, Failed int
	} `json:"_shards"`
	Hits struct {
		Total struct {
			Value int64 `json:"value"`
		} `json:"total"`
		Hits []struct {
			Score  float64 `json:"_score"`
			Sort   []any   `json:"sort"`
			Fields struct {
				D, C []any
			} `json:"fields"`
			Matched []string `json:"matched_queries"`
		} `json:"hits"`
	} `json:"hits"`
	Aggregations struct {
		N, L struct{ Value float64 }
		DF   struct {
			Buckets map[string]struct {
				N int64 `json:"doc_count"`
			} `json:"buckets"`
		} `json:"df"`
		All struct {
			Buckets []struct {
				Key struct{ P string } `json:"key"`
			} `json:"buckets"`
		} `json:"all"`
	} `json:"aggregations"`
}

// whole refuses an answer that lacks what a shard has.
func (r *searchAnswer) whole() error {
	if r.TimedOut || r.Shards.Failed > 0 || r.Shards.Successful < r.Shards.Total {
		return unavailable("search", &unreachableError{fmt.Errorf("%d of %d shards answered, in time: %v; see GET "+
			"_cluster/health",
			r.Shards.Successful, r.Shards.Total, !r.TimedOut)})
	}
	return nil
}

// search asks the partition's shard and refuses a part of an answer.
func (x *Index) search(ctx context.Context, g, op string, body object, r *searchAnswer) error {
	err := x.call(ctx, request{op: op, method: http.MethodPost, body: body,
		path: "/" + x.alias + "/_search?allow_partial_search_results=false&routing=" + g}, r)
	if err != nil {
		return err
	}
	return r.whole()
}

// queryTerm is a distinct term of a query.
type queryTerm struct {
	feature string // name of its field
	weight  float64
	surface []string // the forms in which the user wrote it
}

// Spans implements port.Highlighter.
func (x *Index) Spans(query, text port.Wording) []port.Span {
	terms := x.analyzer.Query(query, x.cfg.Keyword.StopWords)
	return x.analyzer.Spans(terms[:min(len(terms), maxQueryTerms)], text)
}

// Search reads the partition's state, asks for the chunks that it shows, and asks again if a
// batch has replaced some of them in between.
func (x *Index) Search(ctx context.Context, p port.Partition, q port.IndexQuery) ([]port.Hit, error) {
	g, err := partitionName(p)
	if err != nil {
		return nil, err
	}
	if q.Limit < 1 || q.Limit > maxHits {
		return nil, fmt.Errorf("opensearch: limit %d is not between 1 and %d", q.Limit, maxHits)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("opensearch: search: %w", err)
	}
	var terms []queryTerm
	switch q.Retriever {
	case port.Vector:
		for _, v := range q.Vector {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return nil, fmt.Errorf("opensearch: the query's vector has the component %g", v)
			}
		}
	case port.Keyword:
		for _, w := range x.analyzer.Query(q.Wording(), x.cfg.Keyword.StopWords) {
			terms = append(terms, queryTerm{"k." + encodeTerm([]byte(w.Term)), float64(w.Weight), w.Surface})
		}
		terms = terms[:min(len(terms), maxQueryTerms)]
	case port.SparseTerms:
		if terms, err = sparseTerms(q); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("opensearch: no retriever %q", q.Retriever)
	}
	if q.Retriever != port.Vector && len(terms) == 0 {
		return nil, nil
	}
	if err := x.ready(ctx); err != nil {
		return nil, err
	}
	for range maxRounds {
		hits, s, err := x.searchOnce(ctx, p, g, q, terms)
		if errors.Is(err, errGone) {
			return nil, errors.Join(port.ErrGap, x.recheck(ctx))
		}
		if err != nil {
			return nil, err
		}
		after, err := x.read(ctx, g)
		if errors.Is(err, errGone) {
			return nil, errors.Join(port.ErrGap, x.recheck(ctx))
		}
		if err != nil {
			return nil, err
		}
		if s.same(after) {
			return hits, nil
		}
	}
	return nil, unavailable("search", fmt.Errorf("batches of %s came faster than it could be searched", p))
}

func (x *Index) searchOnce(ctx context.Context, p port.Partition, g string, q port.IndexQuery,
	terms []queryTerm) ([]port.Hit, state, error) {
	s, err := x.read(ctx, g)
	switch {
	case err != nil:
		return nil, s, err
	case s.found && s.Version != x.version, !s.found && x.noted(p.Generation()):
		return nil, s, port.ErrGap
	case q.Retriever == port.Vector && s.Dimensions > 0 && len(q.Vector) != s.Dimensions:
		return nil, s, fmt.Errorf("opensearch: the query's vector has %d dimensions, the partition's %d", len(q.Vector),
			s.Dimensions)
	case s.Chunks == 0, q.Retriever == port.Vector && s.Dimensions == 0:
		return nil, s, nil
	}
	filter, not := s.visible(g)
	filter = append(filter, bounds(q)...)
	var query object
	switch q.Retriever {
	case port.Vector:
		query = x.vectorQuery(s, q, filter, not)
	case port.Keyword:
		// At the mean length a word that stands once has the weight mean^-b.
		pivot := x.cfg.Keyword.K1 / math.Pow(max(1, float64(s.Length)/float64(s.Chunks)), x.cfg.Keyword.B)
		df, err := x.frequencies(ctx, g, s, terms)
		if err != nil {
			return nil, s, err
		}
		query = weighted(terms, filter, not, q.Explain, func(i int) (float64, object) {
			n, df := float64(s.Chunks), float64(min(df[i], s.Chunks))
			idf := math.Log(1 + (n-df+.5)/(df+.5))
			return terms[i].weight * idf * (x.cfg.Keyword.K1 + 1), object{"saturation": object{"pivot": pivot}}
		})
	default:
		weigh := func(i int) float64 { return terms[i].weight }
		if q.SparseWeights == nil {
			df, err := x.frequencies(ctx, g, s, terms)
			if err != nil {
				return nil, s, err
			}
			weigh = func(i int) float64 { return math.Log(1 + float64(s.Chunks)/float64(max(df[i], 1))) }
		}
		query = weighted(terms, filter, not, false, func(i int) (float64, object) { return weigh(i), object{"linear": object{}} })
	}
	if q.Retriever != port.Vector && s.Chunks >= x.large {
		hits, err := x.best(ctx, g, q, terms, query)
		if hits != nil || err != nil {
			return hits, s, err
		}
	}
	var r searchAnswer
	if err := x.search(ctx, g, "search", object{
		"size": q.Limit, "track_total_hits": false, "stored_fields": "_none_", "query": query,
		"sort": []object{{"_score": "desc"}, {"d": "asc"}, {"c": "asc"}},
	}, &r); err != nil {
		return nil, s, err
	}
	hits, err := readHits(r, q, terms)
	return hits, s, err
}

// best asks for the best by their scores alone, which lets nodes skip what cannot be among them. Where the
// last has the score of one that is left out, it gives nil: which of them it is has to be asked for.
func (x *Index) best(ctx context.Context, g string, q port.IndexQuery, terms []queryTerm, query object) ([]port.Hit, error) {
	var r searchAnswer
	if err := x.search(ctx, g, "search", object{"size": q.Limit + 1, "track_total_hits": false, "stored_fields": "_none_",
		"query": query, "docvalue_fields": []string{"d", "c"}}, &r); err != nil {
		return nil, err
	}
	hits, err := readHits(r, q, terms)
	switch {
	case err != nil:
		return nil, err
	case len(hits) > q.Limit && hits[q.Limit].Score == hits[q.Limit-1].Score:
		return nil, nil
	}
	hits = hits[:min(len(hits), q.Limit)]
	slices.SortFunc(hits, func(a, b port.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Document, b.Document), cmp.Compare(a.Chunk, b.Chunk))
	})
	return hits, nil
}

// readHits reads the hits of an answer; document and chunk are what they are sorted by, or fields.
func readHits(r searchAnswer, q port.IndexQuery, terms []queryTerm) ([]port.Hit, error) {
	hits := make([]port.Hit, len(r.Hits.Hits))
	for i, h := range r.Hits.Hits {
		of := h.Sort
		if of == nil {
			of = append(append([]any{h.Score}, h.Fields.D...), h.Fields.C...)
		}
		if len(of) != 3 {
			return nil, unavailable("search", errors.New("a hit lacks what it is sorted by"))
		}
		document, ok1 := of[1].(string)
		number, ok2 := of[2].(float64)
		if !ok1 || !ok2 {
			return nil, unavailable("search", errors.New("a hit lacks its document or chunk"))
		}
		score := h.Score
		if q.Retriever == port.Vector {
			score = 2*score - 1
		}
		hits[i] = port.Hit{Document: document, Chunk: int(number), Score: float32(score)}
		if q.Explain {
			var matched []int
			for _, name := range h.Matched {
				if n, err := strconv.Atoi(name); err == nil && n < len(terms) {
					matched = append(matched, n)
				}
			}
			slices.Sort(matched)
			for _, n := range matched {
				hits[i].Terms = append(hits[i].Terms, terms[n].surface...)
			}
		}
	}
	return hits, nil
}

// weighted is the query for the sum of what terms add.
func weighted(terms []queryTerm, filter, not []object, named bool, term func(i int) (boost float64, function object)) object {
	should := make([]object, 0, len(terms))
	for i := range terms {
		boost, f := term(i)
		if !(boost > 0) {
			continue
		}
		f["field"], f["boost"] = terms[i].feature, boost
		if named {
			f["_name"] = strconv.Itoa(i)
		}
		should = append(should, object{"rank_feature": f})
	}
	return object{"bool": object{"filter": filter, "must_not": not, "should": should, "minimum_should_match": 1}}
}

// frequencies counts in how many of the partition's chunks each term is. An aggregation looks at every chunk
// for every term, and a count at those alone that have the term.
func (x *Index) frequencies(ctx context.Context, g string, s state, terms []queryTerm) ([]int64, error) {
	filter, not := s.visible(g)
	if s.Chunks >= x.large {
		return x.countEach(ctx, g, filter, not, terms)
	}
	each := object{}
	for i := range terms {
		each[strconv.Itoa(i)] = object{"rank_feature": object{"field": terms[i].feature}}
	}
	var r searchAnswer
	err := x.search(ctx, g, "count terms", object{"size": 0, "track_total_hits": false,
		"query": object{"bool": object{"filter": filter, "must_not": not}},
		"aggs":  object{"df": object{"filters": object{"filters": each}}}}, &r)
	if err != nil {
		return nil, err
	}
	df := make([]int64, len(terms))
	for i := range terms {
		df[i] = r.Aggregations.DF.Buckets[strconv.Itoa(i)].N
	}
	return df, nil
}

// searchesAtOnce is how many searches one request holds: nodes refuse what their queues have no room for.
const searchesAtOnce = 64

// countEach counts the chunks of each term by a search of its own.
func (x *Index) countEach(ctx context.Context, g string, filter, not []object, terms []queryTerm) (df []int64, err error) {
	for some := range slices.Chunk(terms, searchesAtOnce) {
		n, err := x.countSome(ctx, g, filter, not, some)
		if err != nil {
			return nil, err
		}
		df = append(df, n...)
	}
	return df, nil
}

func (x *Index) countSome(ctx context.Context, g string, filter, not []object, terms []queryTerm) ([]int64, error) {
	var body bytes.Buffer
	lines := json.NewEncoder(&body) // each value ends its line
	for _, t := range terms {
		has := append(slices.Clip(filter), object{"rank_feature": object{"field": t.feature}})
		if err := errors.Join(lines.Encode(object{"routing": g, "allow_partial_search_results": false}),
			lines.Encode(object{"size": 0, "track_total_hits": true,
				"query": object{"bool": object{"filter": has, "must_not": not}}})); err != nil {
			return nil, fmt.Errorf("opensearch: count terms: %w", err)
		}
	}
	var r struct {
		Responses []struct {
			searchAnswer
			Status int             `json:"status"`
			Error  json.RawMessage `json:"error"`
		} `json:"responses"`
	}
	if err := x.call(ctx, request{op: "count terms", method: http.MethodPost, path: "/" + x.alias + "/_msearch",
		body: body.Bytes()}, &r); err != nil {
		return nil, err
	}
	if len(r.Responses) != len(terms) {
		return nil, unavailable("count terms", fmt.Errorf("%d answers to %d searches", len(r.Responses), len(terms)))
	}
	df := make([]int64, len(terms))
	for i, one := range r.Responses {
		if one.Error != nil {
			text := []byte(`{"error":` + string(one.Error) + `}`)
			return nil, x.explain(ctx, ctx, "count terms", readError(one.Status, text))
		}
		if err := one.whole(); err != nil {
			return nil, err
		}
		df[i] = one.Hits.Total.Value
	}
	return df, nil
}

// vectorQuery compares every vector that the filter leaves, or walks the graph.
func (x *Index) vectorQuery(s state, q port.IndexQuery, filter, not []object) object {
	field := vectorField(s.Dimensions)
	if s.Chunks <= int64(x.cfg.Vector.ExactChunks) {
		filter = append(filter, object{"exists": object{"field": field}})
		return object{"script_score": object{
			"query": object{"bool": object{"filter": filter, "must_not": not}},
			"script": object{"lang": "knn", "source": "knn_score",
				"params": object{"field": field, "query_value": q.Vector, "space_type": "cosinesimil"}}}}
	}
	return object{"knn": object{field: object{"vector": q.Vector, "k": max(q.Limit, x.cfg.Vector.Candidates),
		"filter": object{"bool": object{"filter": filter, "must_not": not}}}}}
}

// sparseTerms reads a query's terms.
func sparseTerms(q port.IndexQuery) ([]queryTerm, error) {
	if q.SparseWeights != nil && len(q.SparseTerms) != len(q.SparseWeights) {
		return nil, fmt.Errorf("opensearch: the query has %d sparse terms and %d weights", len(q.SparseTerms),
			len(q.SparseWeights))
	}
	var terms []queryTerm
	for i, t := range q.SparseTerms {
		if i > 0 && t == q.SparseTerms[i-1] {
			continue
		}
		w := 1.0
		if q.SparseWeights != nil {
			if w = float64(q.SparseWeights[i]); !(w > 0 && w <= maxWeight) {
				continue
			}
		}
		terms = append(terms, queryTerm{feature: "s." + strconv.FormatUint(uint64(t), 10), weight: w})
	}
	slices.SortStableFunc(terms, func(a, b queryTerm) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return 0
	})
	return terms[:min(len(terms), maxQueryTerms)], nil
}

// facets are the tokens as they are stored: hashes, since the index takes no long terms.
func facets(tokens []string) []string {
	out := make([]string, len(tokens))
	for i, t := range tokens {
		out[i] = hash(t)
	}
	return out
}

// bounds are the conditions of a query. Bounds are exclusive, and what has no time has no
// field t and meets none.
func bounds(q port.IndexQuery) []object {
	var out []object
	if q.After != nil || q.Before != nil {
		r := object{}
		if q.After != nil {
			r["gt"] = *q.After
		}
		if q.Before != nil {
			r["lt"] = *q.Before
		}
		out = append(out, object{"range": object{"t": r}})
	}
	if q.Filter != nil {
		out = append(out, translate(q.Filter))
	}
	return out
}

func translate(f *filter.Filter) object {
	if f.Op == filter.In {
		tokens := make([]string, len(f.Values))
		for i, v := range f.Values {
			tokens[i] = hash(filter.Token(f.Key, v))
		}
		return object{"terms": object{"f": tokens}}
	}
	args := make([]object, len(f.Args))
	for i := range f.Args {
		args[i] = translate(&f.Args[i])
	}
	if f.Op == filter.Or {
		return object{"bool": object{"should": args, "minimum_should_match": 1}}
	}
	return object{"bool": object{"filter": args}}
}
