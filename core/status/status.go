package status

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// Settings are the parts that a Service checks.
type Settings struct {
	Store Store
	// Databases are what the store consists of, where it is several: each has a check of its own.
	Databases []port.StorePart
	Indexes   map[port.Retriever]port.Index
	Embedder  port.Embedder
	Sparse    port.SparseEncoder
	Reranker  port.Reranker
	Version   string
	Now       func() time.Time
}

// Store is what the service asks of the store.
type Store interface {
	// Ping checks that it can read and write.
	Ping(ctx context.Context) error
}

// Service answers health checks.
type Service struct {
	version string
	now     func() time.Time
	parts   []part

	mu     sync.Mutex // held while the parts are checked
	last   Deep
	lastAt time.Time
}

// New makes the service.
func New(s Settings) *Service {
	rerank := part{name: "rerank"}
	if s.Reranker != nil {
		rerank.run = func(ctx context.Context) error { return checkReranker(ctx, s.Reranker) }
	}
	parts := []part{{name: "store", run: s.Store.Ping}}
	for _, d := range s.Databases {
		parts = append(parts, part{name: "store/" + d.Name, run: d.Ping})
	}
	for _, p := range probes(s) {
		parts = append(parts, part{p.name, true, p.run()})
	}
	return &Service{
		version: s.Version,
		now:     s.Now,
		parts:   append(parts, rerank),
	}
}

// None is the request of a check.
type None struct{}

// Health answers GET /health.
type Health struct {
	Status string `json:"status" enum:"ok"`
}

// Health says that the process serves.
func (s *Service) Health(context.Context, None) (Health, error) { return Health{"ok"}, nil }

// Deep answers GET /health/deep.
type Deep struct {
	Status  string            `json:"status" enum:"ok,degraded,error" doc:"degraded: an optional part is off or fails"`
	Time    time.Time         `json:"time" doc:"of the check"`
	Checks  *map[string]Check `json:"checks,omitempty" doc:"with a valid key only"`
	Version string            `json:"version,omitempty" doc:"of the server; with a valid key only"`
}

// Check is the outcome for one part.
type Check struct {
	Status    string `json:"status" enum:"ok,off,error" doc:"off: it is not configured"`
	LatencyMS int64  `json:"latency_ms" minimum:"0" doc:"how long the check took"`
	Message   string `json:"message,omitempty" doc:"what is wrong"`

	Since *time.Time `json:"since,omitempty" doc:"of an error: when the server that answers first found it, in the checks it made without a break; it may be older"`
}

// StatusCode is 503 when search does not work end to end.
func (d Deep) StatusCode() int {
	if d.Status == statusError {
		return 503
	}
	return 200
}

const (
	statusOK       = "ok"
	statusDegraded = "degraded"
	statusError    = "error"
	statusOff      = "off"

	cacheFor     = 5 * time.Second
	checkTimeout = 5 * time.Second
)

// Deep searches a built-in corpus through every enabled retriever and compares
// the top hit. Nothing is written to the store. The outcome is kept for 5 s.
func (s *Service) Deep(ctx context.Context, _ None) (Deep, error) {
	s.mu.Lock()
	if s.now().Sub(s.lastAt) >= cacheFor || s.now().Before(s.lastAt) {
		// The check outlives an impatient caller, or it could never finish.
		cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
		before := s.last.Checks
		s.last = s.check(cctx)
		s.last.since(before)
		s.lastAt = s.now()
		cancel()
	}
	out := s.last
	s.mu.Unlock()
	if ident.Known(ctx) == nil {
		out.Checks, out.Version = nil, ""
	}
	return out, nil
}

// since dates the errors: a part that failed in the check before keeps the time that it was given then.
func (d Deep) since(before *map[string]Check) {
	for name, c := range *d.Checks {
		if c.Status != statusError {
			continue
		}
		c.Since = &d.Time
		if before != nil && (*before)[name].Status == statusError {
			c.Since = (*before)[name].Since
		}
		(*d.Checks)[name] = c
	}
}

// check looks at all parts side by side, so that a slow one costs the others
// nothing of the time.
func (s *Service) check(ctx context.Context) Deep {
	at, began := s.now(), time.Now()
	results := make([]Check, len(s.parts))
	var wg sync.WaitGroup
	for i, p := range s.parts {
		if p.run == nil {
			results[i] = Check{Status: statusOff}
			continue
		}
		wg.Go(func() {
			began := time.Now()
			err := guard(func() error { return p.run(ctx) })
			results[i] = Check{Status: statusOK, LatencyMS: time.Since(began).Milliseconds()}
			if err != nil {
				results[i].Status, results[i].Message = statusError, err.Error()
			}
		})
	}
	wg.Wait()
	checks := map[string]Check{}
	working, broken, off, storeOK := 0, 0, 0, true
	for i, p := range s.parts {
		checks[p.name] = results[i]
		ok := results[i].Status == statusOK
		switch {
		case p.retriever && ok:
			working++
		case results[i].Status == statusOff:
			off++
		case p.name == "store":
			storeOK = ok
		case !ok:
			broken++
		}
	}
	out := Deep{Status: statusOK, Time: at.UTC(), Version: s.version, Checks: &checks}
	probe := Check{Status: statusOK, LatencyMS: time.Since(began).Milliseconds()}
	switch {
	case !storeOK || working == 0:
		out.Status, probe.Status, probe.Message = statusError, statusError, "search does not work end to end"
	case broken > 0:
		out.Status, probe.Status, probe.Message = statusDegraded, statusError, "a part of search does not work"
	case off > 0:
		out.Status = statusDegraded
	}
	checks["probe"] = probe
	return out
}

// part is one thing to check; run nil: it is off.
type part struct {
	name      string
	retriever bool
	run       func(context.Context) error
}

func guard(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return fn()
}

func checkReranker(ctx context.Context, m port.Reranker) error {
	p, _, err := m.Score(ctx, probeQuery, probeTexts)
	if err == nil {
		err = retrieve.CheckScores(p, len(probeTexts))
	}
	if err != nil {
		return err
	}
	for i, v := range p {
		if i != probeAnswer && v >= p[probeAnswer] {
			return errors.New("the answer is not ranked first")
		}
	}
	return nil
}

// Operations declares the operations of the service.
func Operations() []op.Op[*Service] {
	return op.WithExamples([]op.Op[*Service]{
		op.Define(op.Spec{
			Name:    "health",
			Group:   op.Status,
			Method:  "GET",
			Path:    "/health",
			Auth:    op.NoKey,
			Timeout: 5 * time.Second,
			Summary: "Is the process serving",
			Description: "Says that the process answers, and nothing of what is behind it. Needs no key and counts " +
				"against no limit.",
		}, (*Service).Health),
		op.Define(op.Spec{
			Name:    "health.deep",
			Group:   op.Status,
			Method:  "GET",
			Path:    "/health/deep",
			Auth:    op.OptionalKey,
			Timeout: 2 * checkTimeout,
			Summary: "Does search work end to end",
			Description: "Searches a small built-in corpus through every part of the search, and writes nothing. The " +
				"outcome is kept for 5 seconds. Needs no key; with any valid key the answer has `checks` and `version`.",
			Answers: []op.Answer{{Status: 200, Summary: "Search works; with status degraded, without an optional part.",
				Body: Deep{}},
				{Status: 503, Summary: "Search does not work.", Body: Deep{}}},
		}, (*Service).Deep),
	}, examples())
}
