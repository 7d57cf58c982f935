package ident

import (
	"context"
	"time"
)

// Org is an organization's id. All data belongs to exactly one.
type Org string

// DefaultOrg is the name of the organization that exists from the start.
const DefaultOrg = "default"

// Kind is the kind of an API key; it decides the prefix and the API family.
type Kind string

// The key kinds and their prefixes (interface document, section 5).
const (
	Service     Kind = "service"     // sk-service-: namespace API, rerank, MCP
	Integration Kind = "integration" // cint_: memory API
	Personal    Kind = "personal"    // cmem_: memory API, legacy
)

// Prefix is how a secret of the kind begins.
func (k Kind) Prefix() string {
	switch k {
	case Service:
		return "sk-service-"
	case Integration:
		return "cint_"
	case Personal:
		return "cmem_"
	}
	return ""
}

// Scope is a right of an integration key, "resource:action".
type Scope string

// Rate is a limit in requests a minute with a burst; PerMinute 0 is unlimited.
type Rate struct {
	PerMinute int
	Burst     int // 0: a tenth of PerMinute, at least 1
}

// Principal is what a verified key may do.
type Principal struct {
	KeyID            string
	Org              Org
	OrgName          string
	Kind             Kind
	ReadOnly         bool
	Namespace        string // not empty: the key reaches only this namespace
	DefaultNamespace string // used where a call may leave the namespace out
	Scopes           []Scope
	Limits           map[string]Rate // per rate class; overrides the configured ones
	ExpiresAt        time.Time       // zero: never
}

type principalKey struct{}
type requestIDKey struct{}

// WithPrincipal carries a verified caller.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// From is the verified caller; ok is false on an operation without a key.
func From(ctx context.Context) (p Principal, ok bool) {
	p, ok = ctx.Value(principalKey{}).(Principal)
	return p, ok
}

// WithRequestID carries the id that X-Request-Id shows.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID is the id of the request being served, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
