package fault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// Code is a published error code (docs/contract.md#err-codes).
type Code string

// The codes of the namespace API and, where noted, of the memory API alone.
const (
	InvalidRequest      Code = "invalid_request"
	InvalidJSON         Code = "invalid_json"
	InvalidNamespace    Code = "invalid_namespace"
	InvalidID           Code = "invalid_id"
	InvalidMetadata     Code = "invalid_metadata"
	InvalidFilter       Code = "invalid_filter"
	InvalidCursor       Code = "invalid_cursor"
	Unauthorized        Code = "unauthorized"
	Forbidden           Code = "forbidden"
	NamespaceNotFound   Code = "namespace_not_found"
	DocumentNotFound    Code = "document_not_found"
	SourceNotFound      Code = "source_not_found"
	NotFound            Code = "not_found"
	MethodNotAllowed    Code = "method_not_allowed"
	Conflict            Code = "conflict"
	PayloadTooLarge     Code = "payload_too_large"
	RateLimited         Code = "rate_limited"
	Internal            Code = "internal_error"
	Upstream            Code = "upstream_error"
	Unavailable         Code = "unavailable"
	SourcesUnavailable  Code = "sources_unavailable"
	Timeout             Code = "timeout"
	InsufficientScope   Code = "insufficient_scope" // memory API
	QuotaExceeded       Code = "quota_exceeded"
	InvalidEndUserID    Code = "invalid_end_user_id"   // memory API
	InvalidExternalID   Code = "invalid_external_id"   // memory API
	InvalidSource       Code = "invalid_source"        // memory API
	InvalidContainerTag Code = "invalid_container_tag" // memory API
	InvalidVersion      Code = "invalid_version"       // memory API
	MemoryNotFound      Code = "memory_not_found"      // memory API
	StaleVersion        Code = "stale_version"         // memory API
	VersionConflict     Code = "version_conflict"      // memory API
	IdempotencyConflict Code = "idempotency_conflict"  // memory API
)

// PartitionNotFound is what a store answers of any partition that is absent or whose
// life is over, a namespace or an end user. It never reaches a client: From makes it
// NamespaceNotFound, and memories tell of people in terms of their own.
const PartitionNotFound Code = "partition_not_found"

// Canceled marks a call whose caller went away. It never reaches a client; it
// is logged and counted apart from failures that are ours.
const Canceled Code = "canceled"

// Canceled's status is nginx's; it is logged and never sent.
const canceledStatus = 499

// Codes lists every published code, by status and name.
func Codes() []Code {
	all := make([]Code, 0, len(rules))
	for c := range rules {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Code) int {
		return cmp.Or(rules[a].Status-rules[b].Status, strings.Compare(string(a), string(b)))
	})
	return all
}

// Describe is the catalogue's entry of a code; ok is false for one that is not
// published.
func Describe(c Code) (e Entry, ok bool) {
	e, ok = rules[c]
	e.Code = c
	return e, ok
}

// Status is the HTTP status of a code; 500 for a code that is not published.
func Status(c Code) int {
	if c == Canceled {
		return canceledStatus
	}
	if r, ok := rules[c]; ok {
		return r.Status
	}
	return 500
}

// Retryable reports whether repeating the same call later may succeed.
func Retryable(c Code) bool { return c == Canceled || rules[c].Retryable }

// Error is a fault as a caller sees it, with its cause for the log.
type Error struct {
	Code       Code
	Message    string         // one sentence for the caller; names the field at fault
	Details    map[string]any // memory API details; {field, reason} for a 400
	RetryAfter time.Duration  // sent as Retry-After in whole seconds, rounded up; 0 sends none
	Limit      Limit          // that is used up, for the metrics; "": none
	Op         string         // where it happened, for the log
	Err        error          // the cause, for the log only
}

// Limit is what a server has only so much of, by the name that the metrics give it.
type Limit string

// The limits whose refusals are counted.
const (
	RateLimit   Limit = "rate"    // of a key or an integration
	CallLimit   Limit = "calls"   // calls at once, and those that wait
	BodyLimit   Limit = "bodies"  // memory for the bodies of requests
	JobLimit    Limit = "jobs"    // jobs of a kind that wait
	ImportLimit Limit = "imports" // imports of an organization at once
	SpoolLimit  Limit = "spool"   // room for data sets that are received or read
	ModelLimit  Limit = "model"   // calls that wait for a model
)

// By says which limit refused, and returns e.
func (e *Error) By(l Limit) *Error { e.Limit = l; return e }

// LimitOf is the limit that an error, or what it wraps, was refused by; "": none.
func LimitOf(err error) Limit {
	for {
		var f *Error
		if !errors.As(err, &f) {
			return ""
		}
		if f.Limit != "" {
			return f.Limit
		}
		err = f.Err
	}
}

// Error gives code and message; the cause is left out on purpose.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// LogValue is what a log gets: Error's text with the operation and the cause that it leaves out.
func (e *Error) LogValue() slog.Value {
	text := e.Error()
	for next := e; ; {
		cause := next.Err
		if cause == nil {
			return slog.StringValue(text)
		}
		if next.Op != "" {
			text += ": " + next.Op
		}
		text += ": " + cause.Error()
		if !errors.As(cause, &next) {
			return slog.StringValue(text)
		}
	}
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// New makes a fault with a formatted message.
func New(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Message: fmt.Sprintf(format, args...)}
}

// Field makes a 400-class fault about one input field and fills Details.
func Field(c Code, field, format string, args ...any) *Error {
	reason := fmt.Sprintf(format, args...)
	return &Error{Code: c, Message: field + ": " + reason, Details: map[string]any{"field": field, "reason": reason}}
}

// Wrap makes a fault around a cause that only the log may see.
func Wrap(c Code, op string, err error, format string, args ...any) *Error {
	return &Error{Code: c, Message: fmt.Sprintf(format, args...), Op: op, Err: err}
}

// errOff is the cause of every fault that Off makes.
var errOff = errors.New("it is off in the configuration")

// Off makes the fault Unavailable of a call that needs a model or another part that
// the configuration leaves out: the operator's choice, and no failure. format is the
// whole sentence for the caller. Waiting does not help, so there is no RetryAfter.
func Off(format string, args ...any) *Error {
	return Wrap(Unavailable, "", errOff, format, args...)
}

// IsOff reports whether an error is, or wraps, a fault that Off made.
func IsOff(err error) bool { return errors.Is(err, errOff) }

// errBusy is the cause of every fault that Busy makes.
var errBusy = errors.New("it has no place for another call")

// Busy makes the fault Unavailable of a call to a part that works and has more to do
// than it can take on. format is the whole sentence for the caller.
func Busy(format string, args ...any) *Error {
	return Wrap(Unavailable, "", errBusy, format, args...).After(time.Second).By(ModelLimit)
}

// IsBusy reports whether an error is, or wraps, a fault that Busy made.
func IsBusy(err error) bool { return errors.Is(err, errBusy) }

// After sets RetryAfter and returns e.
func (e *Error) After(d time.Duration) *Error { e.RetryAfter = d; return e }

// Is lets errors.Is(err, fault.New(code, "")) match on the code alone.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// IsPartitionNotFound reports whether the fault inside err is a store's
// PartitionNotFound. A service's own NamespaceNotFound, such as that of a namespace
// without documents, is none.
func IsPartitionNotFound(err error) bool {
	var f *Error
	return errors.As(err, &f) && f.Code == PartitionNotFound
}

// CodeOf is the published code of the fault inside err; Internal when there is none.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return From(err).Code
}

// From turns any error into a fault that may be published: a fault stays as it is,
// except that PartitionNotFound becomes NamespaceNotFound. An expired
// deadline becomes Timeout, a cancelled call Canceled, anything else Internal
// with a message that gives nothing away.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var f *Error
	if errors.As(err, &f) {
		if f.Code != PartitionNotFound {
			return f
		}
		published := *f
		published.Code = NamespaceNotFound
		return &published
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: Timeout, Message: "the request took longer than its time limit", Err: err}
	case errors.Is(err, context.Canceled):
		return &Error{Code: Canceled, Message: "the caller went away", Err: err}
	}
	return &Error{Code: Internal, Message: "an internal error occurred", Err: err}
}

// Clip shortens what a caller sent for a message or a log line.
func Clip(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "..."
	}
	return s
}
