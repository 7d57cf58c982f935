package port

import (
	"context"
	"time"
)

// Replica is a process that serves over the store, among others. It lives for as
// long as it renews its lease; then its claims are free to others.
type Replica struct {
	ID    string // of the place that it runs in, such as a data folder; kept over restarts
	Epoch int64  // of this life of it; rises with each
}

// Claim says that one replica does a piece of work. Fence tells this claim from
// earlier and later ones of the same name.
type Claim struct {
	Name    string
	Replica Replica
	Fence   int64
}

// Watermark is the change that a consumer of the change log has durably reached in a
// partition, by generation.
type Watermark struct {
	Generation int64
	Seq        uint64
}

// Bucket is a token bucket that processes share. It changes by compare and set.
type Bucket struct {
	Tokens float64 // may be negative: a debt
	At     time.Time
}

// ReplicaReader reads the state that replicas over one store share.
type ReplicaReader interface {
	// Now is the store's clock, which all replicas share.
	Now(ctx context.Context) (time.Time, error)
	// Replicas lists the live ones by id.
	Replicas(ctx context.Context) ([]Replica, error)
	// Watermarks lists the consumers of the change log of a partition that are
	// live, with how far they are.
	Watermarks(ctx context.Context, p Partition) (map[string]uint64, error)
	// Unacknowledged lists the live replicas that have not yet acknowledged the
	// erasure of a partition.
	Unacknowledged(ctx context.Context, p Partition) ([]Replica, error)
	// Bucket reads a token bucket; ok is false when there is none, which is a full
	// one. now is the store's clock.
	Bucket(ctx context.Context, name string) (b Bucket, ok bool, now time.Time, err error)
}

// ReplicaWriter changes the state that replicas over one store share. Times are by
// the store's clock, so that differences between the replicas' clocks don't matter.
type ReplicaWriter interface {
	// JoinReplica begins a life of a replica. An earlier one of the same id is over
	// with it, and so are that one's claims.
	JoinReplica(ctx context.Context, id string, lease time.Duration) (Replica, error)
	// RenewReplica extends a life; fault Conflict when it is over.
	RenewReplica(ctx context.Context, r Replica, lease time.Duration) error
	// LeaveReplica ends a life. One that is over is no error.
	LeaveReplica(ctx context.Context, r Replica) error
	// TakeClaim claims a piece of work; ok is false while another life has it. Its
	// holder gets the same claim again. Fault Conflict when r's life is over.
	TakeClaim(ctx context.Context, r Replica, name string) (c Claim, ok bool, err error)
	// ConfirmClaim answers fault Conflict when the claim is another's by now. In the
	// transaction that the work ends with it keeps out a replica that slept too long.
	ConfirmClaim(ctx context.Context, c Claim) error
	// EndClaim gives a claim up. One that is another's is left alone.
	EndClaim(ctx context.Context, c Claim) error

	// PutWatermarks records how far a consumer is, and that it is alive for keep
	// from now. The watermarks of one that is not are forgotten, as are those
	// whose Seq is 0 and those of unknown generations.
	PutWatermarks(ctx context.Context, consumer string, keep time.Duration, marks []Watermark) error
	// DropWatermarks forgets consumers that are no longer alive.
	DropWatermarks(ctx context.Context) error

	// AcknowledgeErasure says that a replica has nothing of a partition any more.
	AcknowledgeErasure(ctx context.Context, p Partition, r Replica) error

	// PutBucket inserts or replaces a token bucket. full is when it will be full
	// again, from where on DropBuckets may forget it.
	PutBucket(ctx context.Context, name string, b Bucket, full time.Time) error
	// DropBuckets forgets full buckets.
	DropBuckets(ctx context.Context) error
}

// Exclusive is an optional ability of a Store that only one process at a time can
// serve over: its lease need not be renewed, and nobody else's work looked for.
type Exclusive interface {
	Exclusive() bool
}
