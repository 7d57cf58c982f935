package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/query"
)

// The steps of retrieval that are measured one by one. With a reranker each is
// followed by itself and Reranked.
const (
	Vector      = string(port.Vector)
	Keyword     = string(port.Keyword)
	Sparse      = string(port.SparseTerms)
	Fused       = "fused"        // vector and keyword
	FusedSparse = "fused+sparse" // all three
	Reranked    = "+rerank"
)

// Steps lists them, without reranking.
func Steps() []string { return []string{Keyword, Vector, Sparse, Fused, FusedSparse} }

// Options say how to measure.
type Options struct {
	Steps          []string           // of Steps(); nil: all that the server has
	Rerank         int                // candidates that each reranked step rescores; 0: none is reranked
	Weights        map[string]float64 // of the fused steps; nil: the server's
	UserNamespaces bool               // a namespace for each user instead of a metadata filter
	Sparse         bool               // build with the sparse index
	Workers        int                // calls at once while writing
	QueryWorkers   int                // calls at once while querying; latency is honest at 1
	Queries        int                // at most, per collection; 0: all
	Rebuild        bool               // write again even when unchanged
	Memory         *client.Client     // with an integration key: sets with users are measured over the memory API, too
	MemoryLimit    int                // memories a search asks for; 0: 10
	State          State              // what earlier runs wrote; nil: not known
	Progress       func(stage string, done, total int)
}

// State remembers what a namespace was built from.
type State interface {
	Get(namespace string) string
	Set(namespace, fingerprint string) error
}

// Run is what one step reached.
type Run struct {
	Step string `json:"step"`
	Quality
	Latency
	ByCategory map[string]Quality `json:"by_category,omitempty"`
}

// Result is what one collection gave.
type Result struct {
	Collection   string  `json:"collection"`
	Documents    int     `json:"documents"`
	Queries      int     `json:"queries"`
	Users        int     `json:"users,omitempty"` // whose documents are kept apart
	Reused       bool    `json:"reused"`          // the namespace was there, unchanged
	BuildSeconds float64 `json:"build_seconds"`
	Runs         []Run   `json:"runs"`
}

// batch is how many documents one write carries: few enough that the slowest
// embedding stays well within a write's time limit.
const batch = 20

// Measure writes the collection unless it is there already, and runs its queries.
func Measure(ctx context.Context, cl *client.Client, c *Collection, o Options) (Result, error) {
	m := newMeasurement(cl, c, o)
	r := Result{Collection: c.Name, Documents: len(c.Corpus)}
	fail := func(err error) (Result, error) { return r, fmt.Errorf("evaluate %s: %w", c.Name, err) }
	if err := m.models(ctx); err != nil {
		return fail(err)
	}
	started := time.Now()
	var err error
	if r.Reused, err = m.build(ctx); err != nil {
		return fail(err)
	}
	r.BuildSeconds = time.Since(started).Seconds()
	queries := c.Queries
	if o.Queries > 0 && len(queries) > o.Queries {
		queries = queries[:o.Queries]
	}
	r.Queries = len(queries)
	r.Users = countUsers(queries)
	for _, step := range m.steps() {
		run, err := m.run(ctx, step, queries)
		if err != nil {
			return fail(fmt.Errorf("%s: %w", step, err))
		}
		r.Runs = append(r.Runs, run)
	}
	if o.Memory != nil && r.Users > 0 {
		run, err := m.memories(ctx, queries)
		if err != nil {
			return fail(fmt.Errorf("%s: %w", Memory, err))
		}
		r.Runs = append(r.Runs, run)
	}
	return r, nil
}

func countUsers(queries []Query) int {
	seen := map[string]bool{}
	for _, q := range queries {
		if q.User != "" {
			seen[q.User] = true
		}
	}
	return len(seen)
}

func newMeasurement(cl *client.Client, c *Collection, o Options) *measurement {
	m := &measurement{cl: cl, c: c, o: o}
	if m.o.Progress == nil {
		m.o.Progress = func(string, int, int) {}
	}
	m.o.Workers, m.o.QueryWorkers = max(m.o.Workers, 1), max(m.o.QueryWorkers, 1)
	if m.o.MemoryLimit == 0 {
		m.o.MemoryLimit = 10
	}
	return m
}

type measurement struct {
	cl        *client.Client
	c         *Collection
	o         Options
	embedding string // digest of the default model; "": off
	sparse    string
	reranker  string // id
}

func (m *measurement) models(ctx context.Context) error {
	var list model.List
	if err := m.cl.Do(ctx, http.MethodGet, "/models", nil, &list); err != nil {
		return err
	}
	for _, d := range list.Models {
		if d.Default && d.Kind == string(port.TaskEmbed) {
			m.embedding = d.Digest
		}
		if d.Default && d.Kind == string(port.TaskSparse) {
			m.sparse = d.Digest
		}
		if d.Default && d.Kind == string(port.TaskRerank) {
			m.reranker = d.ID
		}
	}
	if m.o.Rerank > 0 && m.reranker == "" {
		return errors.New("reranking was asked for, and the server has no rerank model")
	}
	if m.o.Sparse && m.sparse == "" {
		return errors.New("a sparse index was asked for, and the server has no sparse model")
	}
	return nil
}

// retrievers are those of a step, reranked or not.
func retrievers(step string) []string {
	switch step = strings.TrimSuffix(step, Reranked); step {
	case Fused:
		return []string{Vector, Keyword}
	case FusedSparse:
		return []string{Vector, Keyword, Sparse}
	}
	return []string{step}
}

// steps are those asked for, else all that the namespace has the parts for.
func (m *measurement) steps() []string {
	steps := m.o.Steps
	if len(steps) == 0 {
		for _, s := range Steps() {
			needs := retrievers(s)
			if (m.embedding != "" || !slices.Contains(needs, Vector)) && (m.o.Sparse || !slices.Contains(needs, Sparse)) {
				steps = append(steps, s)
			}
		}
	}
	if m.o.Rerank == 0 {
		return steps
	}
	var out []string
	for _, s := range steps {
		out = append(out, s, s+Reranked)
	}
	return out
}

// namespace is the name that a user's documents are under.
func (m *measurement) namespace(user string) string {
	name := "eval-" + m.c.Name
	if m.o.Sparse {
		name += "-sparse"
	}
	if m.o.UserNamespaces && user != "" {
		name += "-" + user
	}
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return safe[:min(len(safe), 64)]
}

func (m *measurement) path(ns, rest string) string {
	return "/namespaces/" + url.PathEscape(ns) + rest
}

// build writes the corpus and reports whether nothing had to be written.
func (m *measurement) build(ctx context.Context) (reused bool, err error) {
	byNamespace := map[string][]Document{}
	for _, d := range m.c.Corpus {
		ns := m.namespace(d.User)
		byNamespace[ns] = append(byNamespace[ns], d)
	}
	fingerprint := strings.Join([]string{m.c.Digest, m.embedding, chunk.Version}, " ")
	if m.o.Sparse {
		fingerprint += " " + m.sparse
	}
	var todo []string
	for _, ns := range sortedKeys(byNamespace) {
		fresh, err := m.prepare(ctx, ns, fingerprint, len(byNamespace[ns]))
		if err != nil {
			return false, err
		}
		if !fresh {
			todo = append(todo, ns)
		}
	}
	if len(todo) == 0 {
		return true, nil
	}
	total := 0
	for _, ns := range todo {
		total += len(byNamespace[ns])
	}
	var done atomic.Int64
	m.o.Progress("write", 0, total)
	group, writing := errgroup.WithContext(ctx)
	group.SetLimit(m.o.Workers)
	for _, ns := range todo {
		for docs := range slices.Chunk(byNamespace[ns], batch) {
			group.Go(func() error {
				if err := m.write(writing, ns, docs); err != nil {
					return err
				}
				m.o.Progress("write", int(done.Add(int64(len(docs)))), total)
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil {
		return false, err
	}
	for _, ns := range todo {
		if m.o.State != nil {
			if err := m.o.State.Set(ns, fingerprint); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// unfinishedPrefix stands before the fingerprint of a namespace that is being built.
const unfinishedPrefix = "unfinished "

// prepare reports whether a namespace holds the corpus already, and empties one
// that cannot take it.
func (m *measurement) prepare(ctx context.Context, ns, fingerprint string, documents int) (bool, error) {
	var have namespace.Namespace
	err := m.cl.Do(ctx, http.MethodGet, m.path(ns, ""), nil, &have)
	absent := client.CodeOf(err) == "namespace_not_found"
	if err != nil && !absent {
		return false, err
	}
	state := ""
	if m.o.State != nil {
		state = m.o.State.Get(ns)
	}
	known := state == fingerprint
	begun := state == unfinishedPrefix+fingerprint // an earlier run was stopped; what it wrote counts
	sameModel := have.EmbeddingDigest == m.embedding
	if m.o.Sparse && !absent { // a query says whether the sparse model is the same
		top := 1
		err := m.cl.Do(ctx, http.MethodPost, m.path(ns, "/query"), query.Request{Query: "x", TopK: &top}, nil)
		if err != nil && client.CodeOf(err) != "conflict" {
			return false, err
		}
		sameModel = sameModel && have.Sparse && err == nil
	}
	if !absent && known && !m.o.Rebuild && sameModel && have.Documents == int64(documents) {
		return true, nil
	}
	// Documents that have left the corpus would still be found. Without State it is
	// not known which those are, so equal counts are taken for equal corpora; the
	// write skips unchanged texts and replaces the others.
	if !absent && (m.o.Rebuild || !sameModel || !begun && have.Documents != int64(documents)) {
		if err := m.cl.Do(ctx, http.MethodDelete, m.path(ns, ""), nil, nil); err != nil {
			return false, err
		}
		absent = true
	}
	if m.o.State != nil {
		if err := m.o.State.Set(ns, unfinishedPrefix+fingerprint); err != nil {
			return false, err
		}
	}
	if m.o.Sparse && absent {
		return false, m.cl.Do(ctx, http.MethodPost, "/namespaces", namespace.CreateNamespace{Name: ns, Sparse: true}, nil)
	}
	return false, nil
}

func (m *measurement) write(ctx context.Context, ns string, docs []Document) error {
	in := document.WriteDocuments{Documents: make([]document.Input, len(docs))}
	for i := range docs {
		in.Documents[i] = document.Input{ID: docs[i].ID, Text: &docs[i].Text, Metadata: docs[i].Metadata}
	}
	return client.RetryBusy(ctx, 20, func() error {
		return m.cl.Do(ctx, http.MethodPost, m.path(ns, "/documents"), in, nil)
	})
}

// run asks every query of one step.
func (m *measurement) run(ctx context.Context, step string, queries []Query) (Run, error) {
	out := Run{Step: step}
	rankings := make([][]string, len(queries))
	took := make([]time.Duration, len(queries))
	if _, _, err := m.ask(ctx, step, queries[0]); err != nil { // loads what is not in memory yet
		return out, err
	}
	var mu sync.Mutex
	done := 0
	stage := "query " + step
	m.o.Progress(stage, 0, len(queries))
	group, asking := errgroup.WithContext(ctx)
	group.SetLimit(m.o.QueryWorkers)
	for i, q := range queries {
		group.Go(func() (err error) {
			if rankings[i], took[i], err = m.ask(asking, step, q); err != nil {
				return fmt.Errorf("query %s: %w", q.ID, err)
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			m.o.Progress(stage, done, len(queries))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return out, err
	}
	byCategory := map[string]*Quality{}
	for i, q := range queries {
		out.Quality.add(rankings[i], q.Grades)
		if q.Category != "" {
			if byCategory[q.Category] == nil {
				byCategory[q.Category] = &Quality{}
			}
			byCategory[q.Category].add(rankings[i], q.Grades)
		}
	}
	out.Quality = out.Quality.mean()
	out.Latency = Percentiles(took)
	if len(byCategory) > 0 {
		out.ByCategory = map[string]Quality{}
		for c, q := range byCategory {
			out.ByCategory[c] = q.mean()
		}
	}
	return out, nil
}

// ask runs one query and gives the documents, best first, each once.
func (m *measurement) ask(ctx context.Context, step string, q Query) (ids []string, took time.Duration, err error) {
	if step == Memory {
		return m.search(ctx, q)
	}
	yes, no, topK, perDocument := true, false, 100, 1
	parts := retrievers(step)
	req := query.Request{
		Query:                q.Text,
		TopK:                 &topK,
		MaxChunksPerDocument: &perDocument,
		Retrievers:           &parts,
		IncludeText:          &no,
		IncludeMetadata:      &no,
		Strict:               &yes,
	}
	if len(parts) > 1 && len(m.o.Weights) > 0 {
		req.Weights = &m.o.Weights
	}
	if strings.HasSuffix(step, Reranked) {
		req.Rerank = fmt.Appendf(nil, `{"depth":%d}`, m.o.Rerank)
	}
	if q.User != "" && !m.o.UserNamespaces {
		filter, err := json.Marshal(map[string]string{"user": q.User})
		if err != nil {
			return nil, 0, err
		}
		req.Filter = filter
	}
	var res query.Result
	took, err = timed(ctx, func() error {
		return m.cl.Do(ctx, http.MethodPost, m.path(m.namespace(q.User), "/query"), req, &res)
	})
	if err != nil {
		return nil, 0, err
	}
	ids = make([]string, len(res.Results))
	for i, h := range res.Results {
		ids[i] = h.DocumentID
	}
	return ids, took, nil
}

// timed makes a call, again while the server is too busy for it, and says how long the one
// that was answered took.
func timed(ctx context.Context, call func() error) (took time.Duration, err error) {
	err = client.RetryBusy(ctx, 20, func() error {
		started := time.Now()
		err := call()
		took = time.Since(started)
		return err
	})
	return took, err
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
