package status

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Settings are what a Service checks.
type Settings struct {
	Store    port.Store
	Indexes  map[port.Retriever]port.Index
	Embedder port.Embedder
	Sparse   port.SparseEncoder
	Reranker port.Reranker
	Version  string
	Now      func() time.Time
}

// Service answers health checks.
type Service struct {
	Settings
	mu     sync.Mutex
	last   Deep
	lastAt time.Time
	ready  map[port.Index]bool // probe corpus applied
	corpus port.Vectors
}

// New makes the service.
func New(s Settings) *Service { return &Service{Settings: s, ready: map[port.Index]bool{}} }

// None is the request of a check.
type None struct{}

// Health answers GET /health.
type Health struct {
	Status string `json:"status"`
}

// Health says that the process serves.
func (s *Service) Health(context.Context, None) (Health, error) { return Health{"ok"}, nil }

// Deep answers GET /health/deep.
type Deep struct {
	Status  string            `json:"status" doc:"ok, degraded or error"`
	Time    time.Time         `json:"time"`
	Checks  *map[string]Check `json:"checks,omitempty" doc:"with a valid key only"`
	Version string            `json:"version,omitempty"`
}

// Check is the outcome for one part.
type Check struct {
	Status    string `json:"status" doc:"ok, off or error"`
	LatencyMS int64  `json:"latency_ms"`
	Message   string `json:"message,omitempty"`
}

// StatusCode is 503 when search does not work end to end.
func (d Deep) StatusCode() int {
	if d.Status == failing {
		return 503
	}
	return 200
}

const (
	fine     = "ok"
	degraded = "degraded"
	failing  = "error"
	off      = "off"

	cacheFor = 5 * time.Second
	limit    = 5 * time.Second
)

// Deep searches a built-in corpus through every enabled retriever and compares
// the top hit. Nothing is written to the store. The outcome is kept for 5 s.
func (s *Service) Deep(ctx context.Context, _ None) (Deep, error) {
	s.mu.Lock()
	if s.Now().Sub(s.lastAt) >= cacheFor || s.Now().Before(s.lastAt) {
		// The check outlives an impatient caller, or it could never finish.
		cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		s.last = s.check(cctx)
		s.lastAt = s.Now()
		cancel()
	}
	out := s.last
	s.mu.Unlock()
	if _, ok := ident.From(ctx); !ok {
		out.Checks, out.Version = nil, ""
	}
	return out, nil
}

func (s *Service) check(ctx context.Context) Deep {
	checks := map[string]Check{}
	run := func(name string, fn func() error) bool {
		started := time.Now()
		err := guard(fn)
		c := Check{Status: fine, LatencyMS: time.Since(started).Milliseconds()}
		if err != nil {
			c.Status, c.Message = failing, err.Error()
		}
		checks[name] = c
		return err == nil
	}
	ok := run("store", func() error { return s.Store.Ping(ctx) })
	var working, broken int
	retriever := func(name string, r port.Retriever, on bool, q func() (port.IndexQuery, error)) {
		ix := s.Indexes[r]
		if !on || ix == nil {
			checks[name] = Check{Status: off}
			return
		}
		if run(name, func() error { return s.probe(ctx, ix, q) }) {
			working++
		} else {
			broken++
		}
	}
	retriever("keyword", port.Keyword, true, func() (port.IndexQuery, error) {
		return port.IndexQuery{Retriever: port.Keyword, Text: probeQuery}, nil
	})
	retriever("vector", port.Vector, s.Embedder != nil, func() (port.IndexQuery, error) {
		d, err := s.Embedder.Embed(ctx, port.Query, []string{probeQuery})
		if err != nil {
			return port.IndexQuery{}, err
		}
		return port.IndexQuery{Retriever: port.Vector, Vector: d.Row(0)}, nil
	})
	retriever("sparse", port.SparseTerms, s.Sparse != nil, func() (port.IndexQuery, error) {
		v, err := s.Sparse.Encode(ctx, port.Query, []string{probeQuery})
		if err != nil {
			return port.IndexQuery{}, err
		}
		return port.IndexQuery{Retriever: port.SparseTerms, SparseTerms: v.Terms, SparseWeights: v.Weights}, nil
	})
	rerankOK := true
	if s.Reranker == nil {
		checks["rerank"] = Check{Status: off}
	} else {
		rerankOK = run("rerank", func() error {
			scores, _, err := s.Reranker.Score(ctx, probeQuery, probeTexts)
			if err != nil {
				return err
			}
			for i, v := range scores {
				if i != probeAnswer && v >= scores[probeAnswer] {
					return fmt.Errorf("the answer is not ranked first")
				}
			}
			return nil
		})
	}
	out := Deep{Status: fine, Time: s.Now().UTC(), Version: s.Version, Checks: &checks}
	probe := Check{Status: fine}
	switch {
	case !ok || working == 0:
		out.Status, probe.Status, probe.Message = failing, failing, "search does not work end to end"
	case broken > 0 || !rerankOK || s.Embedder == nil:
		out.Status, probe.Status, probe.Message = degraded, degraded, "a part of search does not work"
	}
	for _, c := range checks {
		probe.LatencyMS += c.LatencyMS
	}
	checks["probe"] = probe
	return out
}

func guard(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return fn()
}

// The corpus of the probe. The answer shares words and meaning with the query.
var (
	probeTexts = []string{
		"The harbour light is switched on at dusk and off at sunrise.",
		"To reset a forgotten password, open the sign-in page and follow the link in the e-mail.",
		"Bread dough rises faster in a warm kitchen.",
	}
)

const (
	probeQuery  = "How do I reset my password?"
	probeAnswer = 1
)

// probePartition is in no organization, so no key reaches it.
var probePartition = port.Documents("", "probe").At(-1)

// probe searches the corpus, which is handed to the index on first use and
// again whenever the index has forgotten it.
func (s *Service) probe(ctx context.Context, ix port.Index, q func() (port.IndexQuery, error)) error {
	at, err := ix.Applied(ctx, probePartition)
	if err != nil {
		return err
	}
	if at == 0 || !s.ready[ix] {
		if err := s.feed(ctx, ix); err != nil {
			return err
		}
		s.ready[ix] = true
	}
	iq, err := q()
	if err != nil {
		return err
	}
	iq.Limit = len(probeTexts)
	hits, err := ix.Search(ctx, probePartition, iq)
	if errors.Is(err, port.ErrGap) { // forgotten since it was looked at
		if err = s.feed(ctx, ix); err == nil {
			hits, err = ix.Search(ctx, probePartition, iq)
		}
	}
	if err != nil {
		return err
	}
	if len(hits) == 0 || hits[0].Document != probeID(probeAnswer) {
		return fault.New(fault.Internal, "the probe's answer is not the top hit")
	}
	return nil
}

func probeID(i int) string { return fmt.Sprintf("probe-%d", i) }

func (s *Service) feed(ctx context.Context, ix port.Index) error {
	if s.Embedder != nil && s.corpus.Dense.Data == nil {
		d, err := s.Embedder.Embed(ctx, port.Passage, probeTexts)
		if err != nil {
			return err
		}
		s.corpus.Dense = d
	}
	if s.Sparse != nil && s.corpus.Sparse.Rows == nil {
		v, err := s.Sparse.Encode(ctx, port.Passage, probeTexts)
		if err != nil {
			return err
		}
		s.corpus.Sparse = v
	}
	b := port.Batch{After: 0, Upto: 1}
	for i, text := range probeTexts {
		e := port.Entry{Text: text}
		if s.corpus.Dense.Data != nil {
			e.Vector = s.corpus.Dense.Row(i)
		}
		if v := s.corpus.Sparse; v.Rows != nil {
			e.SparseTerms, e.SparseWeights = v.Terms[v.Rows[i]:v.Rows[i+1]], v.Weights[v.Rows[i]:v.Rows[i+1]]
		}
		b.Changes = append(b.Changes, port.IndexChange{Document: probeID(i), Entries: []port.Entry{e}})
	}
	return ix.Apply(ctx, probePartition, b)
}

// Operations declares the operations of the service.
func Operations() []op.Op[*Service] {
	return []op.Op[*Service]{
		op.Define(op.Spec{Name: "health", Method: "GET", Path: "/health", Auth: op.NoKey, Timeout: 5 * time.Second, Summary: "Is the process serving"}, (*Service).Health),
		op.Define(op.Spec{Name: "health.deep", Method: "GET", Path: "/health/deep", Auth: op.OptionalKey, Timeout: 2 * limit,
			Summary: "Does search work end to end", Faults: []fault.Code{fault.Unavailable}}, (*Service).Deep),
	}
}
