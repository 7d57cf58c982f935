package audit

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
)

// Filter chooses records.
type Filter struct {
	Organization string  `query:"organization" json:"-" schema:"Text" doc:"id or name; none: all that the key administers"`
	Actor        string  `query:"actor" json:"-" enum:"key,member,anonymous,cli,system" doc:"only what such a caller did"`
	KeyID        string  `query:"key_id" json:"-" schema:"Text" maxLength:"128" doc:"only what was done with this key, or by this member"`
	Action       string  `query:"action" json:"-" schema:"Text" maxLength:"128" doc:"only this, such as admin.keys.revoke"`
	Target       string  `query:"target" json:"-" schema:"Text" maxLength:"512" doc:"only what was done to this"`
	EndUserID    string  `query:"end_user_id" json:"-" schema:"Text" maxLength:"128" doc:"only what was done to this end user as a whole, who stands in the log as a keyed hash; of organization, or of the key's own"`
	RequestID    string  `query:"request_id" json:"-" schema:"Text" maxLength:"128" doc:"only what this call did"`
	Since        *string `query:"since" json:"-" format:"date-time" doc:"only what was done at this time or later"`
	Until        *string `query:"until" json:"-" format:"date-time" doc:"only what was done before this time"`
	Refused      bool    `query:"refused" json:"-" doc:"only calls that were refused"`
}

// Validate refuses what is no time.
func (f *Filter) Validate() error {
	for _, t := range []struct {
		field string
		value *string
	}{{"since", f.Since}, {"until", f.Until}} {
		if _, err := instant(t.value); err != nil {
			return fault.Field(fault.InvalidRequest, t.field, "must be a time as of RFC 3339")
		}
	}
	return nil
}

func instant(s *string) (time.Time, error) {
	if s == nil {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339, *s)
}

// List are the parameters of GET /audit.
type List struct {
	Limit  *int   `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"100" doc:"how many at most"`
	Cursor string `query:"cursor" json:"-" doc:"next_cursor of the page before; none for the first page"`
	Filter
}

// Record is a record of the log.
type Record struct {
	Seq          uint64   `json:"seq" minimum:"1" doc:"number in the log; of what other organizations do there are numbers, too"`
	ID           string   `json:"id"`
	At           string   `json:"at" format:"date-time"`
	Organization *string  `json:"organization_id" doc:"whose data it was about; null: no organization's"`
	Actor        string   `json:"actor" enum:"key,member,anonymous,cli,system" doc:"member: a person who signed in to the console; anonymous: a caller without a valid key, who was refused; cli: a command on the server's machine; system: background work"`
	KeyID        *string  `json:"key_id" doc:"of a member the member's id; null: no key"`
	Action       string   `json:"action" doc:"name of the operation; of background work job. and the kind of job; of a command cli. and its name; console.sign_in, console.invitation, console.password, console.account and console.unbind for what people do to sign in"`
	Target       *string  `json:"target" doc:"id or name of what it was done to, an end user as a keyed hash; null: told by the action"`
	RequestID    *string  `json:"request_id" doc:"of the call, as in X-Request-Id and in the server's log"`
	Status       int      `json:"status" minimum:"100" maximum:"599" doc:"HTTP status that it led to"`
	Fields       []string `json:"fields" doc:"names of the fields that the request set"`
	Previous     string   `json:"previous" pattern:"^[0-9a-f]{64}$" doc:"hash of the record before"`
	Hash         string   `json:"hash" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of this record"`
}

// Records answers GET /audit.
type Records struct {
	Records    []Record `json:"records"`
	NextCursor *string  `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

const timeFormat = "2006-01-02T15:04:05.000000Z"

func show(r port.AuditRecord) Record {
	optional := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	out := Record{
		Seq:          r.Seq,
		ID:           r.ID,
		At:           r.At.UTC().Format(timeFormat),
		Organization: optional(string(r.Org)),
		Actor:        string(r.Actor),
		KeyID:        optional(r.KeyID),
		Action:       r.Action,
		Target:       optional(r.Target),
		RequestID:    optional(r.RequestID),
		Status:       r.Status,
		Fields:       r.Fields,
		Previous:     hex.EncodeToString(r.Previous[:]),
		Hash:         hex.EncodeToString(r.Hash[:]),
	}
	if out.Fields == nil {
		out.Fields = []string{}
	}
	return out
}

// query makes a question to the store of a filter, within what the caller may see.
func (s *Service) query(ctx context.Context, f Filter) (l port.AuditList, err error) {
	who := ident.From(ctx)
	if l.Org = who.Org; f.Organization != "" || who.AllOrganizations() {
		if l.Org, err = s.organization(ctx, f.Organization); err != nil {
			return l, err
		}
	}
	if l.Org != "" && !who.Administers(l.Org) {
		return l, absent(f.Organization)
	}
	l.Actor, l.KeyID, l.Action = port.AuditActor(f.Actor), f.KeyID, f.Action
	l.Target, l.RequestID, l.Refused = f.Target, f.RequestID, f.Refused
	if f.EndUserID != "" { // goes before a target
		l.Target = s.EndUser(cmp.Or(l.Org, who.Org), f.EndUserID)
	}
	if l.Since, err = instant(f.Since); err == nil {
		l.Until, err = instant(f.Until)
	}
	return l, err
}

func absent(ref string) error {
	return fault.New(fault.NotFound, "there is no organization %q", fault.Clip(ref))
}

// organization finds one by id or name; "" is every one. One that has been deleted still
// has records: its id names them to whom all organizations are shown.
func (s *Service) organization(ctx context.Context, ref string) (ident.Org, error) {
	if ref == "" {
		return "", nil
	}
	if len(ref) > 128 || strings.ContainsFunc(ref, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", absent(ref)
	}
	var o port.Organization
	err := s.store.View(ctx, func(r reader) (err error) {
		if o, err = r.Organization(ctx, ident.Org(ref)); fault.CodeOf(err) == fault.NotFound {
			o, err = r.OrganizationByName(ctx, ref)
		}
		return err
	})
	if fault.CodeOf(err) == fault.NotFound && strings.HasPrefix(ref, "org_") {
		return ident.Org(ref), nil
	}
	return o.ID, err
}

// page reads some records, once those that wait have their numbers: who reads sees what was
// done before.
func (s *Service) page(ctx context.Context, l port.AuditList) (rs []port.AuditRecord, err error) {
	err = s.store.View(ctx, func(r reader) (err error) {
		rs, err = r.AuditRecords(ctx, l)
		return err
	})
	return rs, err
}

// position is where a list goes on.
type position struct {
	Seq uint64 `json:"s"`
}

// List shows records, the newest first.
func (s *Service) List(ctx context.Context, in List) (Records, error) {
	l, err := s.query(ctx, in.Filter)
	if err != nil {
		return Records{}, err
	}
	bind := []string{"audit", string(ident.From(ctx).Org), fmt.Sprintf("%+v", in.Filter)}
	var from position
	if err := s.pages.Open(in.Cursor, &from, bind...); err != nil {
		return Records{}, err
	}
	if err := s.Number(ctx); err != nil {
		return Records{}, err
	}
	n := page.Limit(in.Limit)
	l.Before, l.Limit = from.Seq, n+1
	rs, err := s.page(ctx, l)
	if err != nil {
		return Records{}, err
	}
	out := Records{Records: make([]Record, 0, len(rs))}
	if len(rs) > n {
		rs = rs[:n]
		c := s.pages.Seal(position{rs[n-1].Seq}, bind...)
		out.NextCursor = &c
	}
	for _, r := range rs {
		out.Records = append(out.Records, show(r))
	}
	return out, nil
}

// Export is a stream of records, the oldest first. It implements op.Streamer.
type Export struct {
	service *Service
	list    port.AuditList
}

// TakeOut are the parameters of an export.
type TakeOut struct{ Filter }

// Export finds what is to be exported.
func (s *Service) Export(ctx context.Context, in TakeOut) (*Export, error) {
	l, err := s.query(ctx, in.Filter)
	if err != nil {
		return nil, err
	}
	if err := s.Number(ctx); err != nil {
		return nil, err
	}
	l.Ascending = true
	return &Export{service: s, list: l}, nil
}

// ContentType implements op.Streamer.
func (*Export) ContentType() string { return "application/x-ndjson" }

// Stream implements op.Streamer.
func (e *Export) Stream(ctx context.Context, w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return e.each(ctx, func(r Record) error { return enc.Encode(r) })
}

const exportedAtOnce = 1000

// each calls fn with each record.
func (e *Export) each(ctx context.Context, fn func(Record) error) error {
	l := e.list
	for l.Limit = exportedAtOnce; ; {
		rs, err := e.service.page(ctx, l)
		if err != nil {
			return fmt.Errorf("export audit records: %w", err)
		}
		for _, r := range rs {
			if err := fn(show(r)); err != nil {
				return fmt.Errorf("write audit records: %w", err)
			}
			l.After = r.Seq
		}
		if len(rs) < l.Limit {
			return nil
		}
	}
}

// CSV is an Export as comma-separated values (RFC 4180). It implements op.Streamer.
type CSV struct{ *Export }

// ExportCSV finds what is to be exported.
func (s *Service) ExportCSV(ctx context.Context, in TakeOut) (*CSV, error) {
	e, err := s.Export(ctx, in)
	return &CSV{e}, err
}

// ContentType implements op.Streamer.
func (*CSV) ContentType() string { return "text/csv" }

// columns are the names of the values of a line of CSV.
func columns() []string {
	return []string{"seq", "id", "at", "organization_id", "actor", "key_id", "action", "target", "request_id", "status",
		"fields", "previous", "hash"}
}

// Stream implements op.Streamer.
func (c *CSV) Stream(ctx context.Context, w io.Writer) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if err := out.Write(columns()); err != nil {
		return fmt.Errorf("write audit records: %w", err)
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	err := c.each(ctx, func(r Record) error {
		return out.Write([]string{strconv.FormatUint(r.Seq, 10), r.ID, r.At, text(r.Organization), r.Actor, text(r.KeyID),
			r.Action, text(r.Target), text(r.RequestID), strconv.Itoa(r.Status), strings.Join(r.Fields, " "), r.Previous,
			r.Hash})
	})
	out.Flush()
	if err == nil {
		err = out.Error()
	}
	return err
}
