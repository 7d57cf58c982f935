package ident

import (
	"context"
	"slices"
	"time"
)

// Org is an organization's id. All data belongs to exactly one.
type Org string

// DefaultOrg is the name of the organization that exists from the start.
const DefaultOrg = "default"

// Kind is the kind of an API key; it decides the prefix and the API family.
type Kind string

// The key kinds and their prefixes (docs/contract.md#auth-keys).
const (
	Service      Kind = "service"      // sk-service-: namespace API, rerank, MCP
	Integration  Kind = "integration"  // cint_: memory API
	Personal     Kind = "personal"     // cmem_: memory API, legacy; one end user
	Team         Kind = "team"         // cmem_: refused everywhere, kept for migration
	Organization Kind = "organization" // cmem_: refused everywhere, kept for migration
	Admin        Kind = "admin"        // adm-: admin routes
)

// Prefix is how a secret of the kind begins.
func (k Kind) Prefix() string {
	switch k {
	case Service:
		return "sk-service-"
	case Integration:
		return "cint_"
	case Personal, Team, Organization:
		return "cmem_"
	case Admin:
		return "adm-"
	}
	return ""
}

// Scope is a right of an integration key, "resource:action".
type Scope string

// The scopes (docs/contract.md#auth-scopes). StatusRead comes with any other.
const (
	MemoriesRead  Scope = "memories:read"
	MemoriesWrite Scope = "memories:write"
	RecallRead    Scope = "recall:read"
	UsersErase    Scope = "users:erase"
	StatusRead    Scope = "status:read"
)

// AllOrganizations is what an admin key has that administers every organization.
const AllOrganizations Scope = "organizations:all"

// Scopes lists every scope of an integration key.
func Scopes() []Scope {
	return []Scope{MemoriesRead, MemoriesWrite, RecallRead, UsersErase, StatusRead}
}

// Role is what a member of an organization may do in it.
type Role string

// The roles, each with the rights of those after it.
const (
	Owner         Role = "owner"  // everything
	Administrator Role = "admin"  // everything but members and keys of kind admin
	Viewer        Role = "viewer" // reads
)

// Roles lists them.
func Roles() []Role { return []Role{Owner, Administrator, Viewer} }

// Quotas bound what an integration may keep and ask; 0 is unlimited.
type Quotas struct {
	MemoriesPerEndUser int
	ReadRatePerMin     int // searches and reads
	WriteRatePerMin    int // memories written; a batch counts its items
}

// DefaultQuotas are a new integration's (docs/contract.md#limit-quotas).
func DefaultQuotas() Quotas {
	return Quotas{MemoriesPerEndUser: 10_000, ReadRatePerMin: 6000, WriteRatePerMin: 6000}
}

// Rate is a limit in requests a minute with a burst; PerMinute 0 is unlimited.
type Rate struct {
	PerMinute int
	Burst     int // 0: a tenth of PerMinute, at least 1
}

// Principal is what a verified key, or a member who has signed in, may do.
type Principal struct {
	KeyID            string // or id of the member
	Role             Role   // of a member, who otherwise stands like an admin key; "": it is a key
	Email            string // of a member
	Org              Org
	OrgName          string
	Kind             Kind
	ReadOnly         bool
	Namespace        string // not empty: the key reaches only this namespace; in the memory API, its passages
	Source           string // id; not empty: the key reaches only this source
	DefaultNamespace string // used where a call may leave the namespace out
	Scopes           []Scope
	Integration      string          // id, of an integration or personal key
	Quotas           Quotas          // of the integration
	GrantsRequired   bool            // by the integration, of those who write source-owned memories
	EndUser          string          // of a personal key: the only one it reaches
	Limits           map[string]Rate // per rate class; overrides the configured ones
	ExpiresAt        time.Time       // zero: never
}

// Administers reports whether an admin key's caller may see an organization.
func (p Principal) Administers(org Org) bool { return p.Org == org || p.AllOrganizations() }

// AllOrganizations reports whether an admin key's caller sees every organization.
func (p Principal) AllOrganizations() bool { return slices.Contains(p.Scopes, AllOrganizations) }

// Owns reports whether an admin key's caller may decide who else administers: members, and
// keys of kind admin.
func (p Principal) Owns() bool { return p.Role == "" || p.Role == Owner }

// RateKey is what rate limits are counted by: an integration's keys share.
func (p Principal) RateKey() string {
	if p.Integration != "" {
		return p.Integration
	}
	return p.KeyID
}

type principalKey struct{}
type requestIDKey struct{}
type jobKey struct{}

// WithPrincipal carries a verified caller.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, &p)
}

// From returns the verified caller. It panics without one, so that a job or a
// transport that forgets to set it fails instead of working on organization "".
func From(ctx context.Context) Principal {
	p := Known(ctx)
	if p == nil {
		panic("ident: the context carries no principal")
	}
	return *p
}

// Known returns the verified caller, or nil in an operation that was called
// without a key.
func Known(ctx context.Context) *Principal {
	p, _ := ctx.Value(principalKey{}).(*Principal)
	return p
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

// WithJob carries the id of the background job that does the work.
func WithJob(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, jobKey{}, id)
}

// Job is the id of the background job that is running, or "".
func Job(ctx context.Context) string {
	id, _ := ctx.Value(jobKey{}).(string)
	return id
}
