package port

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// PartitionEntry is a partition with its row.
type PartitionEntry struct {
	Partition Partition // pinned to its generation
	Row       PartitionRow
	Seen      time.Time // of an end user: the last write or search; zero for a namespace
}

// PartitionLister is an optional ability of a Reader: lists that only moving a whole
// installation needs.
type PartitionLister interface {
	// Partitions lists the live partitions of an organization, those without
	// documents included, after one ("" as its name: from the start): namespaces
	// by name, then end users by id and integration.
	Partitions(ctx context.Context, org ident.Org, after Partition, limit int) ([]PartitionEntry, error)
	// IdempotentReplies lists the stored answers of an end user by key, after one.
	IdempotentReplies(ctx context.Context, p Partition, after string, limit int) ([]IdempotentReply, error)
}

// OrganizationRemover is an optional ability of a Writer.
type OrganizationRemover interface {
	// RemoveOrganization removes an organization that nothing belongs to, such as
	// the default one of a fresh store, and reports whether it did.
	RemoveOrganization(ctx context.Context, id ident.Org) (bool, error)
}
