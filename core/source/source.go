package source

import (
	"context"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

// Service answers for sources.
type Service struct{}

// New makes the service.
func New() *Service { return &Service{} }

// Any is the request of a route without names in its path: nothing of it is read.
type Any struct{}

// Ref names a source in a path.
type Ref struct {
	ID string `path:"id" json:"-" doc:"id of the source"`
}

// RunRef names a run of a source in a path.
type RunRef struct {
	Ref
	Run string `path:"run" json:"-" doc:"id of the run"`
}

// Nothing is the answer's type; no route answers one.
type Nothing struct{}

// unavailable answers every sources route.
func unavailable[In any](*Service, context.Context, In) (Nothing, error) {
	return Nothing{}, fault.New(fault.SourcesUnavailable, "sources are not available on this server")
}

// Operations declares the routes (docs/contract.md#source-routes).
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
		spec := op.Spec{
			Name:        r.name,
			Group:       op.Sources,
			Method:      r.method,
			Path:        r.path,
			Summary:     r.summary,
			Class:       op.Admin,
			BodyIgnored: true, // what is wrong is not in the request
			Timeout:     5 * time.Second,
			Description: "This server has no sources: every call answers 503 sources_unavailable.",
			Answers:     []op.Answer{{Status: 200, Summary: "Not answered while sources are unavailable.", Body: Nothing{}}},
			Faults:      []fault.Code{fault.SourcesUnavailable},
		}
		call := op.Example{Name: "unavailable", Summary: "Without sources", Status: 503, Parameters: map[string]string{}}
		for name, value := range map[string]string{"id": "src_4f6c2d", "run": "run_81b0aa"} {
			if strings.Contains(r.path, "{"+name+"}") {
				call.Parameters[name] = value
			}
		}
		spec.Examples = []op.Example{call}
		switch {
		case strings.Contains(r.path, "{run}"):
			ops[i] = op.Define(spec, unavailable[RunRef])
		case strings.Contains(r.path, "{id}"):
			ops[i] = op.Define(spec, unavailable[Ref])
		default:
			ops[i] = op.Define(spec, unavailable[Any])
		}
	}
	return ops
}
