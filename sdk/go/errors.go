package mneme

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// APIError is an error that the server answered with. errors.Is compares it with the codes below by its code.
type APIError struct {
	Status     int            // of HTTP
	Code       Code           // what went wrong, for programs; empty where something before the server answered
	Message    string         // the same, for people
	RequestID  string         // names the call in the server's log
	Details    map[string]any // more, in the memory API
	RetryAfter *time.Duration // after which to try again, where the server named it
}

func (e *APIError) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("mneme: %d: %s", e.Status, e.Message)
	}
	return fmt.Sprintf("mneme: %d %s: %s", e.Status, e.Code, e.Message)
}

// Unwrap makes errors.Is(err, ErrNotFound) and the like work. A code that this version does not know is one, too.
func (e *APIError) Unwrap() error { return e.Code }

// Code says for programs what went wrong.
type Code string

func (c Code) Error() string { return string(c) }

// The codes of the API.
const (
	ErrInvalidContainerTag Code = "invalid_container_tag"
	ErrInvalidCursor       Code = "invalid_cursor"
	ErrInvalidEndUserID    Code = "invalid_end_user_id"
	ErrInvalidExternalID   Code = "invalid_external_id"
	ErrInvalidFilter       Code = "invalid_filter"
	ErrInvalidID           Code = "invalid_id"
	ErrInvalidJSON         Code = "invalid_json"
	ErrInvalidMetadata     Code = "invalid_metadata"
	ErrInvalidNamespace    Code = "invalid_namespace"
	ErrInvalidRequest      Code = "invalid_request"
	ErrInvalidSource       Code = "invalid_source"
	ErrInvalidVersion      Code = "invalid_version"
	ErrUnauthorized        Code = "unauthorized"
	ErrForbidden           Code = "forbidden"
	ErrInsufficientScope   Code = "insufficient_scope"
	ErrQuotaExceeded       Code = "quota_exceeded"
	ErrDocumentNotFound    Code = "document_not_found"
	ErrMemoryNotFound      Code = "memory_not_found"
	ErrNamespaceNotFound   Code = "namespace_not_found"
	ErrNotFound            Code = "not_found"
	ErrSourceNotFound      Code = "source_not_found"
	ErrMethodNotAllowed    Code = "method_not_allowed"
	ErrConflict            Code = "conflict"
	ErrIdempotencyConflict Code = "idempotency_conflict"
	ErrStaleVersion        Code = "stale_version"
	ErrVersionConflict     Code = "version_conflict"
	ErrPayloadTooLarge     Code = "payload_too_large"
	ErrRateLimited         Code = "rate_limited"
	ErrInternal            Code = "internal_error"
	ErrUpstream            Code = "upstream_error"
	ErrSourcesUnavailable  Code = "sources_unavailable"
	ErrUnavailable         Code = "unavailable"
	ErrDeadline            Code = "timeout"
)

// ErrNotModified is of a document that is still what IfNoneMatch names.
const ErrNotModified Code = "not_modified"

// ConnectionError says that the server was not reached, or that the connection was lost before the answer was whole.
type ConnectionError struct{ err error }

func (e *ConnectionError) Error() string { return "mneme: " + e.err.Error() }
func (e *ConnectionError) Unwrap() error { return e.err }

// ErrTimeout is in the ConnectionError of an answer that did not come in the client's time.
var ErrTimeout = errors.New("no answer in time")

// ErrVerification is of a delivery that is not signed with the secret, or not of now. Answer 400 and look no further.
var ErrVerification = errors.New("mneme: the webhook does not verify")

// MissedEventsError says that events behind the cursor are forgotten, so the state itself has to be looked at.
type MissedEventsError struct{ Cursor string } // Cursor is where to go on from

func (e *MissedEventsError) Error() string {
	return "mneme: events behind the cursor are no longer kept"
}

// OperationFailedError says why a write failed that was left to the server.
type OperationFailedError struct {
	Code    Code
	Message string
}

func (e *OperationFailedError) Error() string { return fmt.Sprintf("mneme: %s: %s", e.Code, e.Message) }
func (e *OperationFailedError) Unwrap() error { return e.Code }

// errorOf is the error of an answer, whose body may be of either family, or of a proxy.
func errorOf(status int, header http.Header, body []byte) *APIError {
	type told struct {
		Code       Code           `json:"code"`
		Message    string         `json:"message"`
		RequestID  string         `json:"request_id"`
		RequestID2 string         `json:"requestId"`
		Details    map[string]any `json:"details"`
	}
	var both struct {
		told
		Error *told `json:"error"`
	}
	// What is not JSON, or other than it should be, is a proxy's page.
	if err := json.Unmarshal(body, &both); err != nil {
		both.told = told{}
	}
	from := both.told
	if both.Error != nil {
		from = *both.Error
	}
	e := &APIError{
		Status: status, Code: from.Code, Message: from.Message, Details: from.Details, RetryAfter: retryAfter(header),
		RequestID: from.RequestID + from.RequestID2,
	}
	if status == http.StatusNotModified {
		e.Code = ErrNotModified
	}
	if e.RequestID == "" {
		e.RequestID = header.Get("X-Request-Id")
	}
	if e.Message == "" {
		e.Message = http.StatusText(status)
	}
	return e
}
