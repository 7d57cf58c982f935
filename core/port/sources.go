package port

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// SourceRow follows something outside for a namespace, as stored.
type SourceRow struct {
	ID        string // "src_..."; never reused
	Org       ident.Org
	Name      string
	Kind      string // SourceKind.Name
	Namespace string
	Config    json.RawMessage // as the kind's schema wants it
	Secrets   []string        // names of those that are set, in order
	Schedule  SourceSchedule
	Keep      bool // documents of items that are gone stay
	Enabled   bool
	State     SourceState
	Reason    *SourceReason // why the state is SourceFailed; else nil
	Failures  int           // runs in a row that have failed
	Cursor    []byte        // where the next incremental listing goes on; nil: at the beginning
	Items     int64         // that are kept
	Numbers   int64         // given to items so far; the next item gets this one
	Documents int64         // that the items have
	Run       string        // id of the run that has not ended; "": none
	LastRun   string        // id of the newest run; "": none yet
	NextRun   time.Time     // by the schedule; zero: none
	NextRetry time.Time     // when the first failed item is due again; zero: none is
	CreatedAt time.Time
	UpdatedAt time.Time // of its settings
}

// SourceSchedule says when runs begin by themselves. The zero schedule never.
type SourceSchedule struct {
	Every time.Duration `json:"every,omitempty"`
	Cron  string        `json:"cron,omitempty"` // five fields, in UTC
}

// SourceReason is why a source or a run has failed, for people.
type SourceReason struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// SourceState is what a source does.
type SourceState string

// The states (docs/contract.md#source-states).
const (
	SourceIdle     SourceState = "idle"
	SourceSyncing  SourceState = "syncing"
	SourcePaused   SourceState = "paused"
	SourceFailed   SourceState = "error"
	SourceDeleting SourceState = "deleting"
)

// SourceList asks for sources by id. Zero fields select all.
type SourceList struct {
	Org       ident.Org
	Namespace string
	Kind      string
	State     SourceState
	After     string // id of the last one of the page before
	Limit     int    // 0: all
}

// SourceItemRow is what is kept of an item.
type SourceItemRow struct {
	Number      int64    // unique in its source, from 0
	KeyHash     [32]byte // SHA-256 of Key
	Key         string
	Version     string // under which it was read
	Name        string
	URL         string
	ContentHash [32]byte // of what its documents say; zero: it never had any
	Documents   int      // how many it has
	Generation  int64    // of the namespace that they were written to
	Error       *SourceReason
	Attempts    int       // failed ones in a row
	NextAttempt time.Time // after Error, by itself; zero: never
	UpdatedAt   time.Time
}

// SourceItemList asks for items by number.
type SourceItemList struct {
	From   int64 // first number
	Prefix string
	Failed *bool     // whether Error is set; nil: any
	Due    time.Time // not zero: only those whose NextAttempt has come by then
	Limit  int
}

// SourceRun is one run, as stored.
type SourceRun struct {
	ID       string // "run_..."; that of its job, where it has one
	Source   string
	Org      ident.Org
	Trigger  string
	Mode     string
	Status   SourceRunStatus
	Params   json.RawMessage // of the service
	Counts   SourceCounts
	Error    *SourceReason
	Cursor   []byte // up to where all is settled
	Seen     []byte // the numbers of the items listed up to there, as a roaring bitmap
	Problems int    // that the listing has named
	Recorded int    // rows of SourceRunItem
	// CreatedAt is when it was asked for, StartedAt when it first began, HeartbeatAt
	// when it was last known to live, ProgressAt when it last settled something.
	CreatedAt, StartedAt, HeartbeatAt, ProgressAt, FinishedAt time.Time
}

// SourceRunStatus is how far a run is.
type SourceRunStatus string

// The statuses (docs/contract.md#source-runs).
const (
	RunQueued      SourceRunStatus = "queued"
	RunRunning     SourceRunStatus = "running"
	RunCompleted   SourceRunStatus = "completed"
	RunPartial     SourceRunStatus = "partial"
	RunFailed      SourceRunStatus = "failed"
	RunCancelled   SourceRunStatus = "cancelled"
	RunInterrupted SourceRunStatus = "interrupted"
)

// Ended reports whether nothing will change the run any more.
func (s SourceRunStatus) Ended() bool { return s != RunQueued && s != RunRunning }

// SourceCounts is what a run has done to items, Deleted and Withheld to documents.
type SourceCounts struct {
	Seen      int64 `json:"seen" minimum:"0" doc:"items that the listing has named"`
	Created   int64 `json:"created" minimum:"0" doc:"items that are new"`
	Updated   int64 `json:"updated" minimum:"0" doc:"items whose documents have changed"`
	Unchanged int64 `json:"unchanged" minimum:"0" doc:"items whose documents stay as they were"`
	Deleted   int64 `json:"deleted" minimum:"0" doc:"documents deleted because their items are gone"`
	Withheld  int64 `json:"withheld" minimum:"0" doc:"documents whose items are gone, kept because they are suspiciously many"`
	Failed    int64 `json:"failed" minimum:"0" doc:"items that could not be read; their documents stay as they were"`
	Skipped   int64 `json:"skipped" minimum:"0" doc:"items that are not read on purpose"`
}

// SourceRunItem is what a run did with an item that did not stay as it was.
type SourceRunItem struct {
	Place    int64  // the item's number, or one of its own for what is no item
	Key      string // or the path of a part that could not be listed
	Status   string // created, updated, deleted, withheld, failed, skipped
	Error    *SourceReason
	Document string // id of its first document; "": none
}

// SourceRunList asks for runs of a source, newest first.
type SourceRunList struct {
	AfterCreated time.Time // of the last one of the page before
	AfterID      string    // "": from the newest
	Limit        int       // 0: all
}

// SourceReader reads sources.
type SourceReader interface {
	// Source finds one; fault SourceNotFound when the organization has none of that id.
	Source(ctx context.Context, org ident.Org, id string) (SourceRow, error)
	// Sources lists sources by id.
	Sources(ctx context.Context, l SourceList) ([]SourceRow, error)
	// DueSources lists the enabled sources without a run whose NextRun or NextRetry has come by
	// a time, those that have waited longest first, and none of a suspended organization: they would
	// stand before all others.
	DueSources(ctx context.Context, by time.Time, limit int) ([]SourceRow, error)
	// SourceSecrets reads the sealed secrets of a source, by name.
	SourceSecrets(ctx context.Context, org ident.Org, source string) (map[string][]byte, error)
	// SourceItems finds items by the hashes of their keys; unknown ones are left out.
	SourceItems(ctx context.Context, org ident.Org, source string, keys [][32]byte) (map[[32]byte]SourceItemRow, error)
	// ListSourceItems lists items by number.
	ListSourceItems(ctx context.Context, org ident.Org, source string, l SourceItemList) ([]SourceItemRow, error)
	// SourceRun finds a run; fault NotFound when the source has none of that id.
	SourceRun(ctx context.Context, org ident.Org, source, id string) (SourceRun, error)
	// SourceRuns lists runs of a source, without Cursor and Seen, newest first, ties by id,
	// descending.
	SourceRuns(ctx context.Context, org ident.Org, source string, l SourceRunList) ([]SourceRun, error)
	// SourceRunItems lists what a run has recorded by place, from one; with a status only
	// those of it.
	SourceRunItems(ctx context.Context, org ident.Org, run string, from int64, status string, limit int) ([]SourceRunItem, error)
}

// SourceWriter changes sources.
type SourceWriter interface {
	// PutSource inserts or replaces a source by id; fault NotFound when the organization
	// is absent or being deleted, Conflict when the id is another organization's.
	PutSource(ctx context.Context, s SourceRow) error
	// PutSourceSecrets sets sealed secrets of a source by name; nil removes one.
	PutSourceSecrets(ctx context.Context, org ident.Org, source string, sealed map[string][]byte) error
	// PutSourceItems inserts or replaces items by number.
	PutSourceItems(ctx context.Context, org ident.Org, source string, items []SourceItemRow) error
	// DeleteSourceItems forgets items by number.
	DeleteSourceItems(ctx context.Context, org ident.Org, source string, numbers []int64) error
	// PutSourceRun inserts or replaces a run by id.
	PutSourceRun(ctx context.Context, r SourceRun) error
	// PutSourceRunItems inserts or replaces what a run has recorded, by place.
	PutSourceRunItems(ctx context.Context, org ident.Org, run string, items []SourceRunItem) error
	// TrimSourceRuns forgets ended runs of a source with what they have recorded: those
	// created before a time, and the oldest beyond keep; of up to limit recorded
	// items at once. more says to call it again.
	TrimSourceRuns(ctx context.Context, org ident.Org, source string, before time.Time, keep, limit int) (more bool, err error)
	// DeleteSource forgets a source with all rows of it, up to limit of each kind at once.
	// more is false when it is gone.
	DeleteSource(ctx context.Context, org ident.Org, id string, limit int) (more bool, err error)
}
