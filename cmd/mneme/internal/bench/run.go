package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/cmd/mneme/internal/evaluate"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/retrieve"
)

// Mode is one kind of query.
type Mode struct {
	Name   string // as the report has it
	mode   string // of the API
	filter string // metadata key; "": none
	rerank bool
	sparse bool // needs a sparse namespace
}

// Modes lists what can be measured.
func Modes() []Mode {
	return []Mode{{Name: "vector", mode: "vector"}, {Name: "vector, 1 % pass", mode: "vector", filter: hundredth},
		{Name: "vector, 0.1 % pass", mode: "vector", filter: thousandth},
		{Name: "keyword", mode: "keyword"}, {Name: "keyword, 1 % pass", mode: "keyword", filter: hundredth},
		{Name: "sparse", mode: "sparse", sparse: true},
		{Name: "hybrid", mode: "hybrid"}, {Name: "hybrid, 1 % pass", mode: "hybrid", filter: hundredth},
		{Name: "hybrid, reranked", mode: "hybrid", rerank: true}}
}

// Options say how a workload is run.
type Options struct {
	Namespaces  int // documents are dealt to so many
	Batch       int // documents of a write
	Writers     int
	Queries     int // of each mode at each concurrency
	Warmup      int // queries before that
	TopK        int
	Concurrency []int
	Settle      time.Duration // pause between writes and queries
	Sparse      bool
	Rerank      bool
	Prefix      string // of the namespaces' names
	Keep        bool   // leave the namespaces
	Seed        uint64
	Progress    func(stage string, done, total int) // nil: none; for concurrent use
	Probe       Probe
}

// Result is one set of backends under the workload.
type Result struct {
	Name     string            `json:"name"`
	Backends map[string]string `json:"backends,omitempty"`
	Ingest   Ingest            `json:"ingest"`
	Runs     []Run             `json:"queries"`
	Usage    Usage             `json:"usage"` // at the end
}

// Ingest is how the writes went.
type Ingest struct {
	Documents    int              `json:"documents"`
	Chunks       int64            `json:"chunks"`
	Seconds      float64          `json:"seconds"`
	PerSecond    float64          `json:"documents_per_second"`
	ChunksPerSec float64          `json:"chunks_per_second"`
	Call         evaluate.Latency `json:"call"`
	ServerCPU    float64          `json:"server_cpu_seconds,omitempty"`
	DatabaseCPU  float64          `json:"database_cpu_seconds,omitempty"`
	WAL          int64            `json:"wal_bytes,omitempty"`
}

// Run is one mode at one concurrency. Processor times are milliseconds a query.
type Run struct {
	Mode        string           `json:"mode"`
	Concurrency int              `json:"concurrency"`
	Queries     int              `json:"queries"`
	PerSecond   float64          `json:"queries_per_second"`
	Latency     evaluate.Latency `json:"latency"`
	ServerCPU   float64          `json:"server_cpu_ms,omitempty"`
	DatabaseCPU float64          `json:"database_cpu_ms,omitempty"`
	NDCG10      *float64         `json:"ndcg_10,omitempty"`
	Agreement   *float64         `json:"agreement,omitempty"` // share of the first set's hits that this one has, too

	hits [][]chunk // of each query
}

// Measure writes the workload and runs its queries over one server.
func Measure(ctx context.Context, cl *client.Client, w *Workload, o Options) (Result, error) {
	m := &measurement{cl: cl, w: w, o: o}
	if o.Progress == nil {
		m.o.Progress = func(string, int, int) {}
	}
	if o.Probe == nil {
		m.o.Probe = func(context.Context) (Usage, error) { return Usage{}, nil }
	}
	var r Result
	err := m.measure(ctx, &r)
	if !o.Keep {
		cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
		defer cancel()
		err = errors.Join(err, m.remove(cleaning))
	}
	if err != nil {
		return r, fmt.Errorf("bench: %w", err)
	}
	return r, nil
}

type measurement struct {
	cl *client.Client
	w  *Workload
	o  Options
}

func (m *measurement) measure(ctx context.Context, r *Result) error {
	if err := m.create(ctx); err != nil {
		return err
	}
	var err error
	if r.Ingest, err = m.ingest(ctx); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	select {
	case <-time.After(m.o.Settle):
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, mode := range Modes() {
		if mode.sparse && !m.o.Sparse || mode.rerank && !m.o.Rerank {
			continue
		}
		for _, c := range m.o.Concurrency {
			run, err := m.run(ctx, mode, c)
			if err != nil {
				return fmt.Errorf("%s at %d: %w", mode.Name, c, err)
			}
			r.Runs = append(r.Runs, run)
		}
	}
	r.Usage, err = m.o.Probe(ctx)
	return err
}

// namespace is that of the i-th document, or query.
func (m *measurement) namespace(i int) string {
	return fmt.Sprintf("%s-%d", m.o.Prefix, i%m.o.Namespaces)
}

func (m *measurement) create(ctx context.Context) error {
	for i := range m.o.Namespaces {
		if err := m.call(ctx, http.MethodPost, "/namespaces",
			map[string]any{"name": m.namespace(i), "sparse": m.o.Sparse}, nil); err != nil {
			return err
		}
	}
	return nil
}

func (m *measurement) remove(ctx context.Context) error {
	var errs []error
	for i := range m.o.Namespaces {
		if err := m.call(ctx, http.MethodDelete, "/namespaces/"+m.namespace(i), nil, nil); err != nil &&
			client.CodeOf(err) != "namespace_not_found" {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (m *measurement) call(ctx context.Context, method, path string, in, out any) error {
	return client.RetryBusy(ctx, 20, func() error { return m.cl.Do(ctx, method, path, in, out) })
}

// ingest writes all documents, each batch into one namespace.
func (m *measurement) ingest(ctx context.Context) (Ingest, error) {
	parts := make([][]Document, m.o.Namespaces)
	for i, d := range m.w.Documents {
		parts[i%len(parts)] = append(parts[i%len(parts)], d)
	}
	type write struct {
		namespace string
		documents []Document
	}
	var writes []write
	for at := 0; ; at += m.o.Batch { // in turns, as tenants do
		some := false
		for n, docs := range parts {
			if at < len(docs) {
				writes = append(writes, write{m.namespace(n), docs[at:min(at+m.o.Batch, len(docs))]})
				some = true
			}
		}
		if !some {
			break
		}
	}
	before, err := m.o.Probe(ctx)
	if err != nil {
		return Ingest{}, err
	}
	times := make([]time.Duration, len(writes))
	var next, done atomic.Int64
	started := time.Now()
	group, writing := errgroup.WithContext(ctx)
	for range m.o.Writers {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(writes) {
					return nil
				}
				began := time.Now()
				if err := m.call(writing, http.MethodPost, "/namespaces/"+writes[i].namespace+"/documents",
					map[string]any{"documents": writes[i].documents}, nil); err != nil {
					return err
				}
				times[i] = time.Since(began)
				m.o.Progress("write", int(done.Add(int64(len(writes[i].documents)))), len(m.w.Documents))
			}
		})
	}
	if err := group.Wait(); err != nil {
		return Ingest{}, err
	}
	took := time.Since(started).Seconds()
	after, err := m.o.Probe(ctx)
	if err != nil {
		return Ingest{}, err
	}
	in := Ingest{
		Documents:   len(m.w.Documents),
		Seconds:     took,
		Call:        evaluate.Percentiles(times),
		ServerCPU:   after.ServerCPU - before.ServerCPU,
		DatabaseCPU: after.DatabaseCPU - before.DatabaseCPU,
		WAL:         after.WAL - before.WAL,
	}
	for n := range m.o.Namespaces {
		var ns namespace.Namespace
		if err := m.call(ctx, http.MethodGet, "/namespaces/"+m.namespace(n), nil, &ns); err != nil {
			return in, err
		}
		in.Chunks += ns.Chunks
	}
	in.PerSecond, in.ChunksPerSec = float64(in.Documents)/took, float64(in.Chunks)/took
	return in, nil
}

// run asks the queries of one mode.
func (m *measurement) run(ctx context.Context, mode Mode, concurrency int) (Run, error) {
	order := rand.New(rand.NewPCG(m.o.Seed, 3)).Perm(len(m.w.Queries))
	ask := func(ctx context.Context, i int) ([]chunk, error) {
		return m.ask(ctx, mode, i, m.w.Queries[order[i%len(order)]])
	}
	for i := range m.o.Warmup {
		if _, err := ask(ctx, m.o.Queries+i); err != nil {
			return Run{}, err
		}
	}
	before, err := m.o.Probe(ctx)
	if err != nil {
		return Run{}, err
	}
	r := Run{Mode: mode.Name, Concurrency: concurrency, Queries: m.o.Queries, hits: make([][]chunk, m.o.Queries)}
	times := make([]time.Duration, m.o.Queries)
	stage := fmt.Sprintf("%s, %d at once", mode.Name, concurrency)
	var next, done atomic.Int64
	started := time.Now()
	group, asking := errgroup.WithContext(ctx)
	for range concurrency {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= m.o.Queries {
					return nil
				}
				began := time.Now()
				hits, err := ask(asking, i)
				if err != nil {
					return err
				}
				times[i], r.hits[i] = time.Since(began), hits
				m.o.Progress(stage, int(done.Add(1)), m.o.Queries)
			}
		})
	}
	if err := group.Wait(); err != nil {
		return Run{}, err
	}
	took := time.Since(started).Seconds()
	after, err := m.o.Probe(ctx)
	if err != nil {
		return Run{}, err
	}
	n := float64(m.o.Queries)
	r.PerSecond, r.Latency = n/took, evaluate.Percentiles(times)
	r.ServerCPU, r.DatabaseCPU = 1000*(after.ServerCPU-before.ServerCPU)/n, 1000*(after.DatabaseCPU-before.DatabaseCPU)/n
	if m.o.Namespaces == 1 && mode.filter == "" && m.w.Queries[0].Grades != nil {
		r.NDCG10 = m.quality(order, r.hits)
	}
	return r, nil
}

// quality is nDCG@10 by documents, over the queries that were asked.
func (m *measurement) quality(order []int, hits [][]chunk) *float64 {
	sum := 0.0
	for i, list := range hits {
		var documents []string
		seen := map[string]bool{}
		for _, h := range list {
			if !seen[h.document] {
				seen[h.document] = true
				documents = append(documents, h.document)
			}
		}
		sum += evaluate.NDCG(documents, m.w.Queries[order[i%len(order)]].Grades, 10)
	}
	mean := sum / float64(len(hits))
	return &mean
}

// chunk is a hit.
type chunk struct {
	document string
	number   int
}

// ask returns the chunks found, best first. A degraded answer is an error: it would be
// measured as fast.
func (m *measurement) ask(ctx context.Context, mode Mode, i int, q Query) ([]chunk, error) {
	in := map[string]any{"query": q.Text, "top_k": m.o.TopK}
	switch {
	case mode.mode != "hybrid":
		in["mode"] = mode.mode
	case m.o.Sparse:
		in["retrievers"] = []string{"vector", "keyword", "sparse"}
	default:
		in["retrievers"] = []string{"vector", "keyword"}
	}
	if mode.filter != "" {
		in["filter"] = filterOf(mode.filter, i)
	}
	if mode.rerank {
		in["rerank"] = true
	}
	var res query.Result
	if err := m.call(ctx, http.MethodPost, "/namespaces/"+m.namespace(i)+"/query", in, &res); err != nil {
		return nil, err
	}
	for _, d := range res.Degraded {
		if d.Reason != retrieve.ModelOff || mode.rerank {
			return nil, fmt.Errorf("an answer was degraded: %s, %s", d.Part, d.Reason)
		}
	}
	hits := make([]chunk, len(res.Results))
	for j, h := range res.Results {
		hits[j] = chunk{h.DocumentID, h.ChunkIndex}
	}
	return hits, nil
}

// Compare fills in how far each result agrees with the first one.
func Compare(results []Result) {
	if len(results) < 2 {
		return
	}
	for i := range results[1:] {
		other := &results[i+1]
		for j := range other.Runs {
			if first := matchingRun(results[0], other.Runs[j]); first != nil {
				a := agreement(first.hits, other.Runs[j].hits)
				other.Runs[j].Agreement = &a
			}
		}
	}
}

// matchingRun is r's run of the same mode and concurrency; nil: there is none.
func matchingRun(r Result, like Run) *Run {
	for i := range r.Runs {
		if r.Runs[i].Mode == like.Mode && r.Runs[i].Concurrency == like.Concurrency {
			return &r.Runs[i]
		}
	}
	return nil
}

// agreement is the mean share of a query's first hits that the other has.
func agreement(first, other [][]chunk) float64 {
	sum, n := 0.0, 0
	for i := range min(len(first), len(other)) {
		if len(first[i]) == 0 {
			continue
		}
		has := map[chunk]bool{}
		for _, h := range other[i] {
			has[h] = true
		}
		found := 0
		for _, h := range first[i] {
			if has[h] {
				found++
			}
		}
		sum += float64(found) / float64(len(first[i]))
		n++
	}
	if n == 0 {
		return 1
	}
	return sum / float64(n)
}
