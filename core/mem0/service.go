package mem0

import (
	"slices"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/op"
)

// Service answers mem0's clients.
type Service struct {
	enabled  bool
	memories *memory.Service
}

// New makes the service; where it is not enabled every call answers 404.
func New(enabled bool, memories *memory.Service) *Service { return &Service{enabled, memories} }

// Available implements op.Availability.
func (s *Service) Available() error {
	if s == nil || s.enabled { // nil: the table of operations is described, not called
		return nil
	}
	return fault.New(fault.NotFound, "mem0's protocol is off on this server (protocols.mem0)")
}

// Said answers a call of which there is no more to say.
type Said struct {
	Message string `json:"message" doc:"what was done"`
}

// Limits of bodies and times.
const (
	addBody    = 8 << 20
	textBody   = 1 << 20
	filterBody = 256 << 10

	readTime   = 10 * time.Second
	writeTime  = 30 * time.Second
	severalFor = 2 * time.Minute
)

func spec(name, method, path, summary string) op.Spec {
	s := op.Spec{
		Name:     "mem0." + name,
		Group:    op.ForMem0,
		Family:   op.Memory,
		Protocol: op.Mem0,
		Method:   method,
		Path:     path,
		Class:    op.MemoryRead,
		Scopes:   []ident.Scope{ident.MemoriesRead},
		Timeout:  readTime,
		Summary:  summary,
		Faults:   []fault.Code{fault.NotFound},
	}
	return s
}

// writing is spec for what changes memories.
func writing(name, method, path, summary string) op.Spec {
	s := spec(name, method, path, summary)
	s.Class, s.Scopes, s.Mutates, s.Timeout = op.MemoryWrite, []ident.Scope{ident.MemoriesWrite}, true, writeTime
	return s
}

// with adds faults.
func with(s op.Spec, codes ...fault.Code) op.Spec {
	s.Faults = append(s.Faults, codes...)
	return s
}

// Operations declares the operations of the service.
func Operations() []op.Op[*Service] {
	return op.WithExamples(slices.Concat(pingOperations(), addOperations(), findOperations(), oneOperations(),
		severalOperations(), entityOperations()), examples())
}

const (
	memories = "/v1/memories"
	one      = memories + "/{memory_id}"
)
