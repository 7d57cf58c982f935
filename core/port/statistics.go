package port

import (
	"context"
	"time"
)

// Statistics are counts over a whole store, for those who watch it.
type Statistics struct {
	Organizations int64
	Namespaces    Contents
	EndUsers      Contents // of memories
	Jobs          []JobQueue
	Replicas      int64 // that live
	Deliveries    int64 // that are pending
	// OldestDelivery is how long ago the oldest pending one was made; 0: none is pending.
	OldestDelivery time.Duration
}

// Contents are what live partitions of a space hold, shadows left out.
type Contents struct {
	Partitions int64
	Documents  int64
	Chunks     int64
	Bytes      int64 // of texts
}

// JobQueue are the unfinished jobs of one kind and status.
type JobQueue struct {
	Kind   string
	Status JobStatus
	Jobs   int64
	Oldest time.Duration // since the oldest was created
}

// StatisticsReader counts. It reads each partition's row, but no document.
type StatisticsReader interface {
	// Statistics counts; Jobs are by kind, then status.
	Statistics(ctx context.Context) (Statistics, error)
}

// Pooled is a Store or an Index that uses a pool of connections.
type Pooled interface {
	Pool() Pool
}

// Pool is the state of a pool of connections. Waits and Waited rise as long as the
// process runs: how often none was free, and how long was waited for one.
type Pool struct {
	InUse, Max int
	Waits      int64
	Waited     time.Duration
}
