package memory

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// None is the request of the status call.
type None struct{}

// Status answers GET /api/v1/status.
type Status struct {
	OK          bool        `json:"ok" doc:"whether the memory API works"`
	APIVersion  string      `json:"apiVersion" format:"date" doc:"version of the memory API"`
	RequestID   string      `json:"requestId" doc:"as in the header X-Request-Id"`
	Integration Integration `json:"integration"`
	Backends    Backends    `json:"backends"`
}

// Integration is the caller's integration and what its key may do.
type Integration struct {
	ID     string   `json:"id"`
	Scopes []string `json:"scopes" doc:"rights of the key"`
	Quotas Quotas   `json:"quotas"`
}

// Quotas are an integration's limits; 0 is unlimited.
type Quotas struct {
	MemoriesPerEndUser int `json:"memoriesPerEndUser" minimum:"0"`
	ReadRatePerMin     int `json:"readRatePerMin" minimum:"0"`
	WriteRatePerMin    int `json:"writeRatePerMin" minimum:"0"`
}

// Backends are the parts behind the memory API.
type Backends struct {
	MemoryPlane MemoryPlane `json:"memoryPlane"`
}

// MemoryPlane is the store with its indexes.
type MemoryPlane struct {
	Status      string `json:"status" enum:"ok,error" doc:"whether store and indexes answer"`
	Environment string `json:"environment" doc:"as the server is configured"`
}

// StatusCode is 503 while the memory plane is down.
func (s Status) StatusCode() int {
	if !s.OK {
		return 503
	}
	return 200
}

// Headers say when to ask again.
func (s Status) Headers() map[string]string {
	if !s.OK {
		return map[string]string{"Retry-After": "5"}
	}
	return nil
}

// Status checks the way from the key to the store and the indexes. It reads
// only and takes no lock that writers need, so load does not change the answer.
func (s *Service) Status(ctx context.Context, _ None) (Status, error) {
	who := ident.From(ctx)
	out := Status{OK: true, APIVersion: APIVersion, RequestID: ident.RequestID(ctx),
		Integration: Integration{ID: who.Integration, Scopes: scopes(who.Scopes),
			Quotas: Quotas{who.Quotas.MemoriesPerEndUser, who.Quotas.ReadRatePerMin, who.Quotas.WriteRatePerMin}},
		Backends: Backends{MemoryPlane{Status: "ok", Environment: s.environment}}}
	if err := s.checkStore(ctx, who); err != nil {
		if ctx.Err() != nil {
			return Status{}, ctx.Err()
		}
		s.log.ErrorContext(ctx, "memory service down", "error", err)
		out.OK, out.Backends.MemoryPlane.Status = false, "error"
	}
	return out, nil
}

// scopes lists a key's scopes, with the one that every other implies.
func scopes(of []ident.Scope) []string {
	out := make([]string, 0, len(of)+1)
	for _, s := range of {
		out = append(out, string(s))
	}
	if len(out) > 0 && !slices.Contains(out, string(ident.StatusRead)) {
		out = append(out, string(ident.StatusRead))
	}
	return out
}

// healthFor is how long the outcome of a health check is reused.
const healthFor = time.Second

// health is the last state found.
type health struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

// checkStore reads the caller's integration, and asks the indexes now and then.
func (s *Service) checkStore(ctx context.Context, who ident.Principal) error {
	err := s.store.View(ctx, func(r snapshot) error {
		_, err := r.Integration(ctx, who.Org, who.Integration)
		return err
	})
	if err != nil {
		return err
	}
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	if age := s.clock().Sub(s.health.at); 0 <= age && age < healthFor {
		return s.health.err
	}
	s.health.err = nil
	for _, ix := range s.projector.Indexes() {
		if err := ix.Ping(ctx); err != nil {
			s.health.err = err
		}
	}
	s.health.at = s.clock()
	return s.health.err
}
