package memory

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/memory/jcs"
	"github.com/mnemehq/mneme/core/port"
)

// Tag is a container tag in a request. Null is refused, and an empty one is
// not the same as none: neither may widen a read.
type Tag struct {
	Value string
	Given bool
}

// UnmarshalText takes any text; the tag schema of the field refuses what is no tag.
func (t *Tag) UnmarshalText(b []byte) error {
	t.Value, t.Given = string(b), true
	return nil
}

// MarshalText gives the tag.
func (t Tag) MarshalText() ([]byte, error) { return []byte(t.Value), nil }

// Millis is a time in Unix milliseconds. Null is refused, as for Tag.
type Millis struct {
	Value int64
	Given bool
}

// UnmarshalJSON takes a whole number, be it written 5 or 5.0.
func (m *Millis) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if f, e := strconv.ParseFloat(string(b), 64); err != nil && e == nil && f == math.Trunc(f) && math.Abs(f) <= MaxVersion {
		n, err = int64(f), nil
	}
	if errors.Is(err, strconv.ErrRange) {
		return errors.New("is out of range")
	}
	if err != nil {
		return errors.New("must be an integer, in Unix milliseconds")
	}
	if n < -MaxVersion || n > MaxVersion {
		return errors.New("is out of range")
	}
	m.Value, m.Given = n, true
	return nil
}

// JSONSchema implements op.Schemer.
func (m *Millis) JSONSchema() string {
	return fmt.Sprintf(`{"type": "integer", "format": "int64", "minimum": %d, "maximum": %d}`, -MaxVersion, MaxVersion)
}

// MarshalJSON gives the number.
func (m Millis) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, m.Value, 10), nil }

// bound is the time as a bound of a search.
func (m Millis) bound() *int64 {
	if !m.Given {
		return nil
	}
	return &m.Value
}

func invalid(field, format string, args ...any) error {
	return fault.Field(fault.InvalidRequest, field, format, args...)
}

// checkMetadata reads metadata by the rules of documents. The memory API has no
// code of its own for it.
func checkMetadata(field string, raw json.RawMessage) (filter.Metadata, error) {
	m, err := filter.ParseMetadata(field, raw)
	return m, recode(err, fault.InvalidRequest)
}

// recode gives a fault the code that this family has for it.
func recode(err error, code fault.Code) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	as := *f
	as.Code = code
	return &as
}

// checkTime reads an RFC 3339 date-time; none given is the zero time.
func checkTime(field string, text *string) (time.Time, error) {
	if text == nil {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(*text)) // t and z may be small
	if err != nil || t.UTC().Year() < 1 || t.UTC().Year() > 9999 {
		return time.Time{}, invalid(field, "must be an RFC 3339 date-time, such as 2026-01-02T03:04:05Z")
	}
	return t.UTC().Truncate(time.Microsecond), nil
}

// Item is a memory to save.
type Item struct {
	Content      *string         `json:"content" schema:"Content" maxBytes:"65536" doc:"at most 65536 bytes of UTF-8, not white space alone"`
	ContainerTag Tag             `json:"containerTag,omitzero" fault:"invalid_container_tag" schema:"ContainerTag" doc:"keeps memories apart within an end user"`
	Metadata     json.RawMessage `json:"metadata,omitempty" schema:"Metadata" doc:"comes back with results"`
	OccurredAt   *string         `json:"occurredAt,omitempty" format:"date-time" doc:"what created_at shows, in place of the time of saving"`
}

// text is a memory as it is stored.
type text struct {
	content   string
	container string
	metadata  filter.Metadata
	occurred  time.Time // zero: not given
	key       port.ContentKey
}

// parse reads an item within the limits of its tags.
func (it *Item) parse() (text, error) {
	m, err := checkMetadata("metadata", it.Metadata)
	if err != nil {
		return text{}, err
	}
	occurred, err := checkTime("occurredAt", it.OccurredAt)
	if err != nil {
		return text{}, err
	}
	return text{content: *it.Content, container: it.ContainerTag.Value, metadata: m, occurred: occurred,
		key: port.ContentKey{Container: it.ContainerTag.Value, Hash: contentKey(*it.Content)}}, nil
}

// contentKey identifies what a content says: its SHA-256 in normal form C
// without white space around it.
func contentKey(content string) [32]byte {
	return sha256.Sum256([]byte(strings.TrimFunc(norm.NFC.String(content), unicode.IsSpace)))
}

// members are an item's request fields, for its canonical form.
func (it *Item) members() map[string]any {
	m := map[string]any{}
	if it.Content != nil {
		m["content"] = *it.Content
	}
	if it.ContainerTag.Given {
		m["containerTag"] = it.ContainerTag.Value
	}
	if len(it.Metadata) > 0 {
		m["metadata"] = it.Metadata
		if _, err := jcs.Transform(it.Metadata); err != nil { // of an item that is refused
			m["metadata"] = string(it.Metadata)
		}
	}
	if it.OccurredAt != nil {
		m["occurredAt"] = *it.OccurredAt
	}
	return m
}

// requestHash is the SHA-256 of the canonical JSON of an operation and its
// request fields (RFC 8785).
func requestHash(operation string, members map[string]any) ([32]byte, error) {
	members["operation"] = operation
	b, err := jcs.Append(nil, members)
	if err != nil {
		return [32]byte{}, fmt.Errorf("canonical request: %w", err)
	}
	return sha256.Sum256(b), nil
}
