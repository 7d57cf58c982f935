package port

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// Held is a partition with its row.
type Held struct {
	Partition Partition // pinned to its generation
	Namespace Namespace
	Seen      time.Time // of an end user: the last write or search; zero for a namespace
}

// Surveyor is an optional ability of a Reader: the lists that moving a whole
// installation needs and nothing else asks for.
type Surveyor interface {
	// Partitions lists the live partitions of an organization, those without
	// documents included, after one ("" as its name: from the start): namespaces
	// by name, then end users by id and integration.
	Partitions(ctx context.Context, org ident.Org, after Partition, limit int) ([]Held, error)
	// Replays lists the stored answers of an end user by key, after one.
	Replays(ctx context.Context, p Partition, after string, limit int) ([]Replay, error)
	// Accepted lists an organization's operations that have not ended, whoever runs
	// them, oldest first.
	Accepted(ctx context.Context, org ident.Org) ([]Operation, error)
}

// OrganizationRemover is an optional ability of a Writer.
type OrganizationRemover interface {
	// RemoveOrganization removes an organization that nothing belongs to, such as
	// the default one of a fresh store, and reports whether it did.
	RemoveOrganization(ctx context.Context, id ident.Org) (bool, error)
}
