package port

import (
	"context"
	"time"
)

// SavedQuery is a question kept with what it should find. It belongs to a namespace: it stays
// when the namespace is reindexed, and goes when the namespace is deleted.
type SavedQuery struct {
	Name      string // unique in the namespace
	Body      []byte // JSON that core/check writes and reads
	CreatedAt time.Time
	UpdatedAt time.Time
}

// SavedQueryReader reads saved queries.
type SavedQueryReader interface {
	// SavedQueries lists those of a namespace by name; none where there is no such namespace.
	SavedQueries(ctx context.Context, p Partition) ([]SavedQuery, error)
}

// SavedQueryWriter changes saved queries.
type SavedQueryWriter interface {
	// PutSavedQuery inserts one, or replaces body and time of change of the one with its name.
	// Fault PartitionNotFound when the namespace is absent.
	PutSavedQuery(ctx context.Context, p Partition, q SavedQuery) error
	// RemoveSavedQuery removes one; false: there was none.
	RemoveSavedQuery(ctx context.Context, p Partition, name string) (bool, error)
}
