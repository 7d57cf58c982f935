package port

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// Grant lets one source system write memories of one end user of an integration. It is
// never reused, and lasts until it is revoked. Of an erased end user's stay ID,
// Integration and RevokedAt alone.
type Grant struct {
	ID          string // "grt_..."
	Org         ident.Org
	Integration string
	EndUser     string
	Source      string   // name of the source system
	Secrets     []string // names of what its connector gave for it, in order
	// Sealed are these secrets; nil: there are none, or they are not needed any more.
	Sealed    []byte
	CreatedAt time.Time
	RevokedAt time.Time // zero: live
	Upstream  GrantUpstream
}

// GrantUpstream is what became of a revoked grant at the system that it is of.
type GrantUpstream string

// The outcomes. Where a grant has no secrets there is nothing to give back.
const (
	UpstreamNone       GrantUpstream = ""
	UpstreamRevoked    GrantUpstream = "revoked"    // it has taken the grant back
	UpstreamUnanswered GrantUpstream = "unanswered" // it did not say so
)

// GrantReader reads grants.
type GrantReader interface {
	// Grant finds a grant of an integration; fault NotFound when it has none of that id.
	Grant(ctx context.Context, org ident.Org, integration, id string) (Grant, error)
	// Grants lists those of an end user, who need not have a partition, by creation
	// time, then id.
	Grants(ctx context.Context, p Partition) ([]Grant, error)
}

// GrantWriter changes grants.
type GrantWriter interface {
	// PutGrant inserts or replaces a grant of p's end user by id; Org, Integration and
	// EndUser are p's. Fault PartitionNotFound when p is absent, Unavailable with RetryAfter
	// while it is being erased, Conflict when the id is another end user's.
	PutGrant(ctx context.Context, p Partition, g Grant) error
	// DeleteGrants forgets grants of p's end user by id. Faults as PutGrant.
	DeleteGrants(ctx context.Context, p Partition, ids []string) error
}
