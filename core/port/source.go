package port

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// SourceKind says what a connector follows and what it has to be told.
type SourceKind struct {
	Name    string // such as "git"; of [a-z0-9_], at most 32
	Title   string // for people, such as "Git repository"
	Summary string // a sentence
	// Config and Secrets are JSON Schemas of objects (2020-12). What they do not
	// allow never reaches the connector. The properties of Secrets are strings.
	Config, Secrets json.RawMessage
	Incremental     bool // a listing may go on from a state and name what is gone
	Revokes         bool // it can give a grant back to its upstream
	// Keeps: what left the source stays unless the source's deletions are set to
	// propagate, as of a feed, which names what is new. Without it they propagate unless set.
	Keeps bool
}

// Connection is what one call of a connector works with. It is good for that call alone.
type Connection struct {
	Source  string          // id of the source; empty in a check before there is one
	Config  json.RawMessage // as the kind's schema wants it
	Secrets map[string]string
	// Known is the version under which an item is kept, if it is: a connector that must
	// ask its upstream item by item asks only for what is newer.
	Known func(ctx context.Context, key string) (version string, ok bool, err error)
	// Renew keeps secrets that the upstream has replaced, at once, whatever becomes of
	// the call. Those not named stay.
	Renew func(ctx context.Context, secrets map[string]string) error
}

// SourceItem is one thing that a source has: a file, a page, an entry.
type SourceItem struct {
	Key      string // names it in its source for ever; 1-2048 bytes of UTF-8
	Version  string // equal while it is unchanged, such as a hash; at most 256 bytes; empty: fetch each time
	Name     string // a path or a title for people; at most 1024 bytes
	URL      string // where people find it; may be empty
	Size     int64  // in bytes; -1: not known
	Modified time.Time
	// Content is set where listing an item has brought its content along; it is not
	// fetched then.
	Content *SourceContent
}

// SourceContent is what an item holds.
type SourceContent struct {
	File     File           // to be read by an Extractor; its Content may be empty only if Body is set
	Body     io.ReadCloser  // instead of File.Content, to be read once and closed; nil otherwise
	Metadata map[string]any // in values that metadata of documents may have
	// Version is the item's where only fetching it tells; empty: as listed.
	Version string
}

// SourceProblem is a part of a source that could not be listed. Such a listing proves
// no absence, unless the code is SourceSkipped.
type SourceProblem struct {
	Path    string // of the part; may be empty
	Code    SourceCode
	Message string // for people; holds no secret
}

// SourceListing takes what a connector lists, in the order of the calls. Each call may
// wait, and fails when the listing is to end: the connector returns that error.
type SourceListing interface {
	// Item says that the source has an item.
	Item(ctx context.Context, item SourceItem) error
	// Gone says that it no longer has one.
	Gone(ctx context.Context, key string) error
	// Checkpoint says from where a listing goes on, at most 64 KiB. It is kept once all that
	// was listed before is settled. Delivery is at least once: a connector goes on from
	// any state that it ever gave. A state from the midst of a listing is for the run that it is
	// of, which counts what it had listed before: another run begins with the last state of a
	// listing that completed, or with nil.
	Checkpoint(ctx context.Context, state []byte) error
	// Problem says that a part could not be listed, and goes on.
	Problem(ctx context.Context, p SourceProblem) error
	// Complete ends the listing; it is the last call. A snapshot has named everything
	// that the source has: what it did not name is gone. A listing that returns without
	// Complete proves nothing.
	Complete(ctx context.Context, snapshot bool) error
}

// SourceCode says why a source or an item can't be read.
type SourceCode string

// The codes. Those of files (FileCode) are an item's, too.
const (
	SourceConfig      SourceCode = "config"      // the configuration can't work
	SourceCredentials SourceCode = "credentials" // they are missing, wrong or expired
	SourceForbidden   SourceCode = "forbidden"   // the upstream, robots.txt or the operator does not allow it
	SourceNotFound    SourceCode = "not_found"   // the upstream does not have it
	SourceTooLarge    SourceCode = "too_large"   // it is over a limit
	SourceRateLimited SourceCode = "rate_limited"
	SourceUnavailable SourceCode = "unavailable" // the upstream does not answer, or answers that it can't
	SourceSkipped     SourceCode = "skipped"     // it is there and is not read on purpose: a submodule, an archived object
)

// SourceError is why a source or an item can't be read.
type SourceError struct {
	Code       SourceCode
	Message    string        // for the user who configured the source; holds no secret
	RetryAfter time.Duration // at least so long to wait; 0: no word of it
	Err        error         // the cause, for the log only; may be nil
}

// SourceErrorf makes a SourceError; err is its cause, or nil.
func SourceErrorf(c SourceCode, err error, format string, args ...any) *SourceError {
	return &SourceError{Code: c, Message: fmt.Sprintf(format, args...), Err: err}
}

// Error gives code and message; the cause is left out on purpose.
func (e *SourceError) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap gives the cause.
func (e *SourceError) Unwrap() error { return e.Err }

// SourceFieldProblem is what is wrong with one field of a configuration.
type SourceFieldProblem struct {
	Field   string // as in "config.path" or "secrets.token"
	Message string // a sentence less its subject, the field
}

// Connector reads one kind of source. Sources are strangers' and their upstreams fail:
// whatever one holds, a call ends with its context and takes bounded memory. Safe for
// concurrent use; calls for one source come one at a time, but for Fetch.
type Connector interface {
	// Kind describes it, always in the same way.
	Kind() SourceKind
	// Check says what of a connection can't work, each by its field. It looks at the
	// upstream and changes nothing. The error is a *SourceError or the context's.
	Check(ctx context.Context, c Connection) ([]SourceFieldProblem, error)
	// List lists the source into l, from a state of an earlier listing, or all of it when
	// state is nil. The error is a *SourceError, the context's, or l's own.
	List(ctx context.Context, c Connection, state []byte, l SourceListing) error
	// Fetch reads the content of an item that was listed. The error is a *SourceError, a
	// *FileError or the context's; NotFound: it went since.
	Fetch(ctx context.Context, c Connection, item SourceItem) (SourceContent, error)
	// Revoke gives a grant of an end user back to the upstream, for a kind that Revokes. The
	// connection has the grant's secrets and no settings. Repeating it is harmless. The
	// error is a *SourceError or the context's.
	Revoke(ctx context.Context, c Connection) error
}

// Connectors are those of one program that runs beside this process.
type Connectors interface {
	Connectors() []Connector // one a kind, always the same ones
	Close() error
}
