package opensearch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mnemehq/mneme/adapters/index/analysis"
	"github.com/mnemehq/mneme/core/port"
)

// chunk is an entry as OpenSearch stores it; doc.go says what the fields are.
type chunk struct {
	P        string             `json:"p"`
	H        string             `json:"h"`
	Document string             `json:"d"`
	Chunk    int                `json:"c"`
	Attempt  int64              `json:"a"`
	Length   int                `json:"l"`
	Facets   []string           `json:"f,omitempty"`
	Time     int64              `json:"t,omitempty"`
	Words    map[string]float32 `json:"k,omitempty"`
	Sparse   map[string]float32 `json:"s,omitempty"`
}

const (
	// maxVoid is how many attempts that were given up a partition keeps; with more it begins again.
	maxVoid = 100
	// maxGone is how many replaced documents each search may have to leave out until the
	// next batch.
	maxGone = 500
	// maxTries bounds how often a batch begins again since another process wrote as well.
	maxTries = 10
	// leastWeight is the least that rank_features hold, the least normal float32.
	leastWeight = 1.1754943508222875e-38
	maxWeight   = 1e30
)

// lockForWrite waits until nobody else writes the partition here, whose name is g.
func (x *Index) lockForWrite(ctx context.Context, p port.Partition) (g string, done func(), err error) {
	if g, err = partitionName(p); err != nil {
		return "", nil, err
	}
	if err := x.ready(ctx); err != nil {
		return "", nil, err
	}
	done, err = x.lock(ctx, p.Generation())
	return g, done, err
}

// Apply writes the batch's chunks under the number of a new attempt, has them refreshed, and
// then lets searches see them by one conditional write of the partition's document.
func (x *Index) Apply(ctx context.Context, p port.Partition, b port.Batch) error {
	g, done, err := x.lockForWrite(ctx, p)
	if err != nil {
		return err
	}
	defer done()
	for range maxTries {
		s, err := x.idle(ctx, g)
		if err != nil {
			return err
		}
		if !s.found {
			s.Version = x.version
		}
		if s.Version != x.version || len(s.Void) > maxVoid {
			s.fresh(x.version)
			if err := x.write(ctx, g, &s, false); errors.Is(err, errMoved) {
				continue
			} else if err != nil {
				return err
			}
		}
		switch {
		case s.Applied < b.After:
			return port.ErrGap
		case s.Applied >= b.Upto:
			return nil
		}
		err = x.apply(ctx, p.Generation(), g, s, b)
		if !errors.Is(err, errMoved) {
			return err
		}
	}
	return unavailable("write", &unreachableError{fmt.Errorf("other processes write %s over and over", p)})
}

// idle reads the partition's state once no attempt is in progress, or one that is given up.
func (x *Index) idle(ctx context.Context, g string) (state, error) {
	s, err := x.current(ctx, g)
	for since := time.Now(); err == nil && s.Open != 0 && !x.mine(s) && time.Since(since) < takeover; {
		if !sleep(ctx, 50*time.Millisecond) {
			return s, fmt.Errorf("opensearch: wait for another write: %w", context.Cause(ctx))
		}
		seqNo := s.seqNo
		if s, err = x.current(ctx, g); s.seqNo != seqNo {
			since = time.Now()
		}
	}
	if err == nil && s.Open != 0 {
		s.Void, s.Open, s.voidedUnseen = append(s.Void, s.Open), 0, true
	}
	return s, err
}

// apply makes one attempt over the state that was read.
func (x *Index) apply(ctx context.Context, generation int64, g string, s state, b port.Batch) error {
	documents := make([]string, len(b.Changes)) // hashes
	dimensions := s.Dimensions
	if s.Chunks == 0 {
		dimensions = 0
	}
	for i, c := range b.Changes {
		documents[i] = hash(c.Document)
		for _, e := range c.Entries {
			var err error
			if dimensions, err = checkEntry(e, dimensions); err != nil {
				return err
			}
		}
	}
	if len(b.Changes) == 0 && !s.voidedUnseen {
		s.Applied = b.Upto
		return x.commit(ctx, generation, g, &s)
	}
	if dimensions > 0 {
		if err := x.addVectors(ctx, dimensions); err != nil {
			return err
		}
	}
	if err := x.sweepGone(ctx, generation, g, s); err != nil {
		return err
	}
	s.Next++
	s.Open = s.Next
	// What was deleted since the last refresh has to be gone for searches before the
	// document stops naming it: by the chunks' refresh, or where there are none by this.
	if err := x.write(ctx, g, &s, !holdsEntries(b) && len(s.Gone) > 0); err != nil {
		return err
	}
	var loaded sums
	chunks, length, err := int64(0), int64(0), error(nil)
	if err = x.load(ctx, g, &s, x.encode(g, s.Next, b, documents, dimensions, &loaded)); err == nil && s.Chunks > 0 {
		chunks, length, err = x.count(ctx, g, s, documents)
	}
	if err != nil {
		x.giveUp(ctx, g, s)
		return err
	}
	s.Applied, s.Serial, s.Open, s.Gone = b.Upto, s.Next, 0, nil
	if chunks > 0 {
		s.Gone = documents
	}
	s.Chunks, s.Length, s.Dimensions = s.Chunks+loaded.chunks-chunks, s.Length+loaded.length-length, dimensions
	if err := x.commit(ctx, generation, g, &s); err != nil {
		return err
	}
	x.sweep(ctx, generation, g, s)
	return nil
}

// commit lets searches see a state.
func (x *Index) commit(ctx context.Context, generation int64, g string, s *state) error {
	if err := x.write(ctx, g, s, false); err != nil {
		return err
	}
	x.note(generation, true)
	return nil
}

// giveUp says that an attempt has ended without a result, so that the next need not wait for
// it. Where this fails too, the next one finds out.
func (x *Index) giveUp(ctx context.Context, g string, s state) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.cfg.Timeout)
	defer cancel()
	s.Void, s.Open = append(s.Void, s.Open), 0
	if err := x.write(ctx, g, &s, false); err != nil {
		x.log.WarnContext(ctx, "search index cleanup failed", "error", err)
	}
}

// checkEntry refuses what the index could not give back rightly. It returns the dimensions of
// the partition's vectors.
func checkEntry(e port.Entry, dimensions int) (int, error) {
	if e.Chunk < 0 || e.Chunk > math.MaxInt32 {
		return 0, fmt.Errorf("opensearch: chunk number %d is out of range", e.Chunk)
	}
	if len(e.SparseTerms) != len(e.SparseWeights) {
		return 0, fmt.Errorf("opensearch: %d sparse terms and %d weights", len(e.SparseTerms), len(e.SparseWeights))
	}
	if len(e.Vector) == 0 {
		return dimensions, nil
	}
	for _, v := range e.Vector {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return 0, fmt.Errorf("opensearch: a vector has the component %g", v)
		}
	}
	if dimensions > 0 && len(e.Vector) != dimensions {
		return 0, fmt.Errorf("opensearch: %d dimensions in a partition of %d: %w", len(e.Vector), dimensions, port.ErrDimensions)
	}
	return len(e.Vector), nil
}

func holdsEntries(b port.Batch) bool {
	return slices.ContainsFunc(b.Changes, func(c port.IndexChange) bool { return len(c.Entries) > 0 })
}

// sums are those of a batch's chunks, and of their words.
type sums struct{ chunks, length int64 }

// encode makes the bulk requests of an attempt, one after another, and sums up what is in them.
func (x *Index) encode(g string, attempt int64, b port.Batch, documents []string, dimensions int, sum *sums) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var buf []byte
		count := x.counter()
		prefix := g + "-" + strconv.FormatInt(attempt, 10) + "-"
		for i, c := range b.Changes {
			for _, e := range c.Entries {
				d := chunk{P: g, H: documents[i], Document: c.Document, Chunk: e.Chunk, Attempt: attempt, Time: e.Time,
					Facets: facets(e.Facets), Sparse: sparseFeatures(e)}
				d.Words, d.Length = count(port.Wording{Text: e.Text, Language: b.Language})
				line, err := json.Marshal(d)
				if err != nil {
					panic(err) // strings and finite numbers
				}
				if len(e.Vector) > 0 {
					line = appendVector(line, dimensions, e.Vector)
				}
				head := fmt.Sprintf("{\"index\":{\"_id\":\"%s%d\",\"routing\":\"%s\"}}\n", prefix, sum.chunks, g)
				if len(buf) > 0 && len(buf)+len(head)+len(line) > x.cfg.BulkMB<<20 {
					if !yield(buf) {
						return
					}
					buf = make([]byte, 0, len(buf)) // of the next, while this one is being sent
				}
				buf = append(append(append(buf, head...), line...), '\n')
				sum.chunks++
				sum.length += int64(d.Length)
			}
		}
		if len(buf) > 0 {
			yield(buf)
		}
	}
}

// appendVector puts a vector into an object of JSON.
func appendVector(line []byte, dimensions int, v []float32) []byte {
	line = append(line[:len(line)-1], `,"`...)
	line = append(line, vectorField(dimensions)...)
	line = append(line, `":[`...)
	for i, f := range v {
		if i > 0 {
			line = append(line, ',')
		}
		line = strconv.AppendFloat(line, float64(f), 'g', -1, 32)
	}
	return append(line, "]}"...)
}

// counter returns a function that gives a text's words with their weights, and its length. It is for
// one goroutine. The weight of a word that stands tf times in a text of length l is
// tf / l^b: with it and the partition's mean length, a saturation at search time is BM25, see doc.go.
func (x *Index) counter() func(text port.Wording) (map[string]float32, int) {
	var words map[string]float32
	length := 0
	scan := x.analyzer.Scanner(func(t analysis.Token) {
		if !t.Extra {
			length++
		}
		words[encodeTerm(t.Term)]++
	})
	return func(text port.Wording) (map[string]float32, int) {
		words, length = map[string]float32{}, 0
		scan.Scan(text)
		norm := float32(math.Pow(float64(max(length, 1)), x.cfg.Keyword.B))
		for w := range words {
			words[w] /= norm
		}
		return words, length
	}
}

// encodeTerm is a term as the name of a feature, which takes no dots: letters and digits.
func encodeTerm(term []byte) string {
	for _, c := range term {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return "zz" + hashEncoding.EncodeToString(term)
		}
	}
	return string(term)
}

// sparseFeatures are an entry's sparse terms as features.
func sparseFeatures(e port.Entry) map[string]float32 {
	if len(e.SparseTerms) == 0 {
		return nil
	}
	out := make(map[string]float32, len(e.SparseTerms))
	for i, t := range e.SparseTerms {
		if w := e.SparseWeights[i]; w >= leastWeight && w <= maxWeight {
			out[strconv.FormatUint(uint64(t), 10)] = w
		}
	}
	return out
}

// bulkAnswer is that of a bulk request, which is 200 whatever its items are.
type bulkAnswer struct {
	Errors bool `json:"errors"`
	Items  []map[string]struct {
		Status int `json:"status"`
		Error  struct {
			Type   string `json:"type"`
			Reason string `json:"reason"`
		} `json:"error"`
	} `json:"items"`
}

// load sends the bulk requests of an attempt, several at once, and has them refreshed. Of a long one it
// shows now and then that it goes on.
func (x *Index) load(ctx context.Context, g string, s *state, parts iter.Seq[[]byte]) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	loaded := make(chan error, 1)
	go func() { loaded <- x.loadParts(ctx, g, parts) }()
	show := time.NewTicker(takeover / 5)
	defer show.Stop()
	for {
		select {
		case err := <-loaded:
			if errors.Is(err, errNotRefreshed) && ctx.Err() == nil {
				// Another shard's trouble is not this partition's.
				return x.write(ctx, g, s, true)
			}
			return err
		case <-show.C:
			if err := x.write(ctx, g, s, false); err != nil {
				cancel()
				<-loaded //nolint:errcheck // it was broken off
				return err
			}
		}
	}
}

// loadAtOnce is how many bulk requests of a batch are under way at a time: while a node works on one,
// the next is made.
const loadAtOnce = 3

// loadParts asks for the refresh with the last request, once the others have ended, or shares one
// where other batches are being written as well.
func (x *Index) loadParts(ctx context.Context, g string, parts iter.Seq[[]byte]) error {
	defer x.refreshing.writers.Add(-1)
	x.refreshing.writers.Add(1)
	path := "/" + x.alias + "/_bulk?require_alias=true&routing=" + g
	others, within := errgroup.WithContext(ctx)
	others.SetLimit(loadAtOnce)
	var last []byte
	for part := range parts {
		if last != nil {
			before := last
			others.Go(func() error { return x.bulk(within, path, before) })
		}
		if last = part; within.Err() != nil {
			break
		}
	}
	if err := others.Wait(); err != nil || last == nil {
		return err
	}
	switch {
	case x.cfg.Refresh == Interval:
		return x.bulk(ctx, path+"&refresh=wait_for", last)
	case x.refreshing.writers.Load() == 1:
		return x.bulk(ctx, path+"&refresh=true", last)
	}
	if err := x.bulk(ctx, path, last); err != nil {
		return err
	}
	return x.shareRefresh(ctx)
}

// bulk sends one request and again where items were refused because a node has too much to do.
func (x *Index) bulk(ctx context.Context, path string, body []byte) error {
	pause := 100 * time.Millisecond
	for try := 1; ; try++ {
		var r bulkAnswer
		if err := x.call(ctx, request{op: "write", method: http.MethodPost, path: path, limit: x.cfg.WriteTimeout, body: body},
			&r); err != nil {
			return err
		}
		if !r.Errors {
			return nil
		}
		var a *answer
		for _, item := range r.Items {
			for _, i := range item {
				if i.Status >= 300 && (a == nil || a.status == http.StatusTooManyRequests) {
					a = &answer{i.Status, i.Error.Type, i.Error.Reason}
				}
			}
		}
		if a == nil {
			return unavailable("write", errors.New("an answer with errors names none"))
		}
		if a.status != http.StatusTooManyRequests || try == attempts || !sleep(ctx, pause) {
			return x.explain(ctx, ctx, "write", a)
		}
		pause *= 4
	}
}

// count counts the chunks of some documents that searches see, and their words.
func (x *Index) count(ctx context.Context, g string, s state, documents []string) (chunks, length int64, err error) {
	for part := range slices.Chunk(documents, maxTerms) {
		filter, not := s.visible(g)
		filter = append(filter, object{"terms": object{"h": part}})
		var r searchAnswer
		if err := x.search(ctx, g, "count", object{"size": 0, "track_total_hits": false,
			"query": object{"bool": object{"filter": filter, "must_not": not}},
			"aggs": object{
				"n": object{"value_count": object{"field": "a"}},
				"l": object{"sum": object{"field": "l"}},
			}}, &r); err != nil {
			return 0, 0, err
		}
		chunks, length = chunks+int64(r.Aggregations.N.Value), length+int64(r.Aggregations.L.Value)
	}
	return chunks, length, nil
}

// gone matches what a state's replaced documents have left.
func (s *state) gone() []object {
	var out []object
	for documents := range slices.Chunk(s.Gone, maxTerms) {
		out = append(out, object{"bool": object{"filter": []object{
			{"terms": object{"h": documents}}, {"range": object{"a": object{"lt": s.Serial}}}}}})
	}
	return out
}

// sweepGone deletes the chunks that the last batch replaced, if it did not do so itself.
func (x *Index) sweepGone(ctx context.Context, generation int64, g string, s state) error {
	x.mu.Lock()
	done := len(s.Gone) == 0 || x.swept[generation] == s.Serial
	x.mu.Unlock()
	if done {
		return nil
	}
	return x.deleteAll(ctx, g, partOf(g, s.gone()))
}

// partOf matches what is of a partition and meets one of the conditions.
func partOf(g string, should []object) object {
	return object{"bool": object{"filter": []object{{"term": object{"p": g}}}, "should": should, "minimum_should_match": 1}}
}

// sweep deletes what a batch has replaced and what attempts that were given up have left. What
// fails is done by the next batch; searches don't see it either way.
func (x *Index) sweep(ctx context.Context, generation int64, g string, s state) {
	should := s.gone()
	if s.voidedUnseen {
		should = append(should, object{"range": object{"a": object{"lte": s.Floor}}}, object{"terms": object{"a": s.Void}})
	}
	if len(should) == 0 {
		return
	}
	err := x.deleteAll(ctx, g, partOf(g, should))
	if err == nil {
		x.mu.Lock()
		x.swept[generation] = s.Serial
		x.mu.Unlock()
	}
	if err == nil && len(s.Gone) > maxGone {
		if err = x.refresh(ctx); err == nil {
			s.Gone = nil
			err = x.write(ctx, g, &s, false)
		}
	}
	if err != nil {
		x.log.WarnContext(ctx, "search index cleanup failed", "error", err)
	}
}

// deleteAll deletes the documents of a partition's shard that a query matches and that are
// refreshed. Chunks are never changed, so one that conflicts was deleted already, and a
// refresh keeps it from being found again.
func (x *Index) deleteAll(ctx context.Context, g string, query object) error {
	for range maxTries {
		var r struct {
			TimedOut  bool  `json:"timed_out"`
			Deleted   int64 `json:"deleted"`
			Conflicts int64 `json:"version_conflicts"`
			Failures  []any `json:"failures"`
		}
		err := x.call(ctx, request{op: "delete chunks", method: http.MethodPost, limit: x.cfg.WriteTimeout,
			path: "/" + x.alias + "/_delete_by_query?conflicts=proceed&scroll_size=5000&routing=" + g,
			body: object{"query": query}}, &r)
		switch {
		case err != nil:
			return err
		case r.TimedOut || len(r.Failures) > 0:
			return unavailable("delete chunks",
				&unreachableError{fmt.Errorf("%d are deleted, some failed: %.300v", r.Deleted, r.Failures)})
		case r.Conflicts == 0:
			return nil
		}
		if err := x.refresh(ctx); err != nil {
			return err
		}
	}
	return unavailable("delete chunks", &unreachableError{errors.New("other processes delete the same over and over")})
}

// Drop lets the partition begin again and deletes all of it. What a process that was taken
// for dead may still write counts no more, and goes with Retain.
func (x *Index) Drop(ctx context.Context, p port.Partition) error {
	g, done, err := x.lockForWrite(ctx, p)
	if err != nil {
		return err
	}
	defer done()
	for range maxTries {
		s, err := x.current(ctx, g)
		if err != nil {
			return err
		}
		if !s.found {
			x.note(p.Generation(), false)
			return nil
		}
		s.fresh(x.version)
		err = x.write(ctx, g, &s, true)
		if errors.Is(err, errMoved) {
			continue
		}
		if err != nil {
			return err
		}
		x.note(p.Generation(), false)
		if err := x.deleteAll(ctx, g, partOf(g, []object{{"range": object{"a": object{"lte": s.Floor}}}})); err != nil {
			return err
		}
		x.expunge()
		return nil
	}
	return unavailable("drop", &unreachableError{fmt.Errorf("other processes write %s over and over", p)})
}
