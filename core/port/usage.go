package port

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// Usage counts what was done.
type Usage struct {
	Requests       int64 // calls that did what they were asked
	Documents      int64 // written: documents and memories
	Chunks         int64 // of the documents written
	TokensEmbedded int64 // that an embedding model has read
	TokensSparse   int64 // that a sparse model has read
	PairsReranked  int64 // texts scored against a query
	Recalls        int64
}

// Add adds what else was done.
func (u *Usage) Add(o Usage) {
	u.Requests += o.Requests
	u.Documents += o.Documents
	u.Chunks += o.Chunks
	u.TokensEmbedded += o.TokensEmbedded
	u.TokensSparse += o.TokensSparse
	u.PairsReranked += o.PairsReranked
	u.Recalls += o.Recalls
}

// UsageAccount is on whose account something is done. No end user is named by it.
type UsageAccount struct {
	Org         ident.Org
	Namespace   string // "": none
	Integration string // id; "": none
	KeyID       string // "": the server did it by itself
}

// UsageAccountOf is the account that a partition is on, with the key of the caller.
func UsageAccountOf(ctx context.Context, p Partition) UsageAccount {
	a := UsageAccount{Org: p.Org(), Integration: p.Integration()}
	if p.Space() == SpaceDocuments {
		a.Namespace = p.Name()
	}
	if who := ident.Known(ctx); who != nil {
		a.KeyID = who.KeyID
	}
	return a
}

type usageKey struct{}

// OnAccountOf carries the partition on whose account models work.
func OnAccountOf(ctx context.Context, p Partition) context.Context {
	return context.WithValue(ctx, usageKey{}, p)
}

// UsageAccountFrom is on whose account a context's work is done: that of the partition it
// carries, else of the caller. false: nobody's.
func UsageAccountFrom(ctx context.Context) (UsageAccount, bool) {
	if p, ok := ctx.Value(usageKey{}).(Partition); ok {
		return UsageAccountOf(ctx, p), true
	}
	who := ident.Known(ctx)
	if who == nil || who.Org == "" {
		return UsageAccount{}, false
	}
	return UsageAccount{Org: who.Org, Integration: who.Integration, KeyID: who.KeyID}, true
}

// UsageCounter takes what was done, once it is done. Safe for concurrent use.
type UsageCounter interface {
	CountUsage(a UsageAccount, u Usage)
}

// UsageRow is what was done on an account in a time that begins at From, in whole hours of
// UTC.
type UsageRow struct {
	From time.Time
	UsageAccount
	Usage
}

// UsageList asks for what was done. What is left out is any.
type UsageList struct {
	Org         ident.Org
	Namespace   string
	Integration string
	KeyID       string
	Since       time.Time // hours that begin then or later
	Until       time.Time // hours that begin before
	// Hours is how many hours, from the beginning of 1970 on, a row sums up; 0: all, and From
	// is zero.
	Hours int
	After *UsageRow // the last row of the page before; its counts say nothing
	Limit int       // 0: all
}

// UsageBytes is how many bytes of text were kept.
type UsageBytes struct {
	Org         ident.Org
	Namespace   string
	Integration string
	Bytes       int64
	Hour        time.Time // in which they came to be so many
	ReadAt      time.Time // when they were read
}

// UsageBytesList asks for what was kept at a time.
type UsageBytesList struct {
	Org         ident.Org // "": all
	Namespace   string    // "": any
	Integration string    // "": any
	At          time.Time
	Empty       bool        // list, too, what kept nothing any more
	After       *UsageBytes // the last row of the page before
	Limit       int         // 0: all
}

// UsageReader reads what was done and kept.
type UsageReader interface {
	// Usage lists sums by From, then organization, namespace, integration and key.
	Usage(ctx context.Context, l UsageList) ([]UsageRow, error)
	// UsageBytes lists the last reading at the time or before, by organization, namespace and
	// integration.
	UsageBytes(ctx context.Context, l UsageBytesList) ([]UsageBytes, error)
	// Kept reads what the rows of the partitions of an account say now; of no organization: of
	// all accounts that keep something. The key is nobody's.
	Kept(ctx context.Context, a UsageAccount) ([]UsageBytes, error)
	// Holdings sums up what an organization has now.
	Holdings(ctx context.Context, org ident.Org) (Holdings, error)
	// Quotas are those of an organization.
	Quotas(ctx context.Context, org ident.Org) ([]Quota, error)
}

// UsageWriter stores what was done and kept. What is of an organization that is not there is
// passed over: it was deleted.
type UsageWriter interface {
	// AddUsage adds to what is stored of the hours and accounts.
	AddUsage(ctx context.Context, rows []UsageRow) error
	// PutUsageBytes stores readings, unless a later one of the hour is stored.
	PutUsageBytes(ctx context.Context, all []UsageBytes) error
	// TrimUsage removes what was done in up to limit rows of hours before a time, and readings
	// that later ones had taken the place of by then, and says how many rows that were.
	TrimUsage(ctx context.Context, before time.Time, limit int) (int, error)
	// PutQuota sets a quota, which counts as not exceeded from then on; with a limit of 0 it
	// goes. Fault NotFound when the organization is absent or is being deleted.
	PutQuota(ctx context.Context, org ident.Org, name QuotaName, limit int64) error
	// ExceedQuota notes when a write was refused by a quota, and what was used, for
	// Quota.Exceeded; with no time that it is not exceeded any more. Fault NotFound when there is
	// no such quota.
	ExceedQuota(ctx context.Context, org ident.Org, name QuotaName, used int64, at time.Time) error
}

// QuotaName names what a quota bounds.
type QuotaName string

// The quotas of an organization.
const (
	QuotaBytes      QuotaName = "bytes" // of the texts of documents and memories
	QuotaDocuments  QuotaName = "documents"
	QuotaNamespaces QuotaName = "namespaces"
	QuotaEndUsers   QuotaName = "end_users"
)

// QuotaNames lists them.
func QuotaNames() []QuotaName {
	return []QuotaName{QuotaBytes, QuotaDocuments, QuotaNamespaces, QuotaEndUsers}
}

// Quota bounds what an organization has.
type Quota struct {
	Name     QuotaName
	Limit    int64     // above 0
	Exceeded time.Time // when a write was first refused by it; zero: none was, or that is over
}

// Holdings are what an organization has: its live namespaces and end users and what they keep,
// shadows left out.
type Holdings struct {
	Bytes      int64 // of the texts of documents and memories
	Documents  int64 // of namespaces
	Namespaces int64 // empty ones, too
	EndUsers   int64 // of every integration
}

// Of is what a quota bounds.
func (h Holdings) Of(q QuotaName) int64 {
	switch q {
	case QuotaBytes:
		return h.Bytes
	case QuotaDocuments:
		return h.Documents
	case QuotaNamespaces:
		return h.Namespaces
	case QuotaEndUsers:
		return h.EndUsers
	}
	return 0
}
