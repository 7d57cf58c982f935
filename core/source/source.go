package source

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

// Service answers for sources.
type Service struct{}

// New makes the service.
func New() *Service { return &Service{} }

// Any is the request of every route: nothing of it is read.
type Any struct{}

// Nothing is the answer's type; no route answers one.
type Nothing struct{}

// Unavailable answers every sources route.
func (s *Service) Unavailable(context.Context, Any) (Nothing, error) {
	return Nothing{}, fault.New(fault.SourcesUnavailable, "sources are not available on this server")
}

// Operations declares the routes (decisions, section 2).
func Operations() []op.Op[*Service] {
	routes := []struct{ name, method, path, summary string }{
		{"source_kinds.list", "GET", "/source_kinds", "List the kinds of sources"},
		{"sources.create", "POST", "/sources", "Connect a source"},
		{"sources.check", "POST", "/sources/check", "Check a source's configuration"},
		{"sources.list", "GET", "/sources", "List sources"},
		{"sources.get", "GET", "/sources/{id}", "Read a source"},
		{"sources.update", "PATCH", "/sources/{id}", "Change a source"},
		{"sources.delete", "DELETE", "/sources/{id}", "Disconnect a source"},
		{"sources.sync", "POST", "/sources/{id}/sync", "Start a run"},
		{"sources.runs.list", "GET", "/sources/{id}/runs", "List a source's runs"},
		{"sources.runs.get", "GET", "/sources/{id}/runs/{run}", "Read a run"},
		{"sources.runs.items", "GET", "/sources/{id}/runs/{run}/items", "List a run's items"},
		{"sources.runs.cancel", "POST", "/sources/{id}/runs/{run}/cancel", "Cancel a run"},
		{"sources.runs.retry_failed", "POST", "/sources/{id}/runs/{run}/retry_failed", "Retry a run's failed items"},
		{"sources.apply_deletions", "POST", "/sources/{id}/apply_deletions", "Apply withheld deletions"},
	}
	ops := make([]op.Op[*Service], len(routes))
	for i, r := range routes {
		ops[i] = op.Define(op.Spec{Name: r.name, Method: r.method, Path: r.path, Summary: r.summary, Class: op.Admin, Timeout: 5 * time.Second,
			Faults: []fault.Code{fault.SourcesUnavailable}}, (*Service).Unavailable)
	}
	return ops
}
