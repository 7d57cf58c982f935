package usage

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
)

// Account chooses accounts.
type Account struct {
	Organization string `query:"organization" json:"-" schema:"Text" maxLength:"128" doc:"id or name; none: all that the key administers"`
	Namespace    string `query:"namespace" json:"-" schema:"Text" maxLength:"64" doc:"only what was done in this namespace"`
	Integration  string `query:"integration_id" json:"-" schema:"Text" maxLength:"128" doc:"only what was done for this integration"`
}

// Filter chooses usage.
type Filter struct {
	Account
	KeyID string  `query:"key_id" json:"-" schema:"Text" maxLength:"128" doc:"only what was done with this key"`
	From  *string `query:"from" json:"-" format:"date-time" doc:"only what was done at this time or later; to the hour, from the first one that begins then"`
	To    *string `query:"to" json:"-" format:"date-time" doc:"only what was done before this time; to the hour, with the one that it lies in"`
	By    string  `query:"by" json:"-" enum:"hour,day,total" default:"total" doc:"what a row sums up: an hour, a day in UTC, or all of the time asked for"`
}

// Validate refuses what is no time.
func (f *Filter) Validate() error {
	for _, t := range []struct {
		field string
		value *string
	}{{"from", f.From}, {"to", f.To}} {
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

// List are the parameters of GET /usage.
type List struct {
	Limit  *int   `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"100" doc:"how many at most"`
	Cursor string `query:"cursor" json:"-" doc:"next_cursor of the page before; none for the first page"`
	Filter
}

// Row is what was done on an account.
type Row struct {
	From           *time.Time `json:"from" doc:"beginning of the hour or day; null: the row sums up all"`
	OrganizationID string     `json:"organization_id"`
	Namespace      *string    `json:"namespace" doc:"null: in none"`
	IntegrationID  *string    `json:"integration_id" doc:"null: for none"`
	KeyID          *string    `json:"key_id" doc:"null: the server did it by itself"`
	Requests       int64      `json:"requests" minimum:"0" doc:"calls that did what they were asked"`
	Documents      int64      `json:"documents" minimum:"0" doc:"documents and memories written"`
	Chunks         int64      `json:"chunks" minimum:"0" doc:"chunks of what was written, where its text changed"`
	TokensEmbedded int64      `json:"tokens_embedded" minimum:"0" doc:"tokens that an embedding model has read"`
	TokensSparse   int64      `json:"tokens_sparse" minimum:"0" doc:"tokens that a sparse model has read"`
	PairsReranked  int64      `json:"pairs_reranked" minimum:"0" doc:"texts scored against a query"`
	Recalls        int64      `json:"recalls" minimum:"0"`
}

// Rows answers GET /usage.
type Rows struct {
	Usage      []Row   `json:"usage"`
	NextCursor *string `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func show(r port.UsageRow) Row {
	out := Row{
		OrganizationID: string(r.Org),
		Namespace:      optional(r.Namespace),
		IntegrationID:  optional(r.Integration),
		KeyID:          optional(r.KeyID),
		Requests:       r.Requests,
		Documents:      r.Documents,
		Chunks:         r.Chunks,
		TokensEmbedded: r.TokensEmbedded,
		TokensSparse:   r.TokensSparse,
		PairsReranked:  r.PairsReranked,
		Recalls:        r.Recalls,
	}
	if !r.From.IsZero() {
		out.From = new(r.From.UTC())
	}
	return out
}

// within finds the organization that a caller asks for, if the caller may see it; "" is every
// one.
func (s *Service) within(ctx context.Context, ref string) (ident.Org, error) {
	who := ident.From(ctx)
	if ref == "" {
		if who.AllOrganizations() {
			return "", nil
		}
		return who.Org, nil
	}
	var o port.Organization
	err := s.store.View(ctx, func(r reader) (err error) {
		if o, err = r.Organization(ctx, ident.Org(ref)); fault.CodeOf(err) == fault.NotFound {
			o, err = r.OrganizationByName(ctx, ref)
		}
		return err
	})
	if fault.CodeOf(err) == fault.NotFound || err == nil && !who.Administers(o.ID) {
		return "", fault.New(fault.NotFound, "there is no organization %q", fault.Clip(ref))
	}
	if err == nil {
		port.AuditOf(ctx).About(o.ID)
	}
	return o.ID, err
}

// query makes a question to the store of a filter, within what the caller may see.
func (s *Service) query(ctx context.Context, f Filter) (l port.UsageList, err error) {
	l = port.UsageList{Namespace: f.Namespace, Integration: f.Integration, KeyID: f.KeyID,
		Hours: map[string]int{"hour": 1, "day": 24}[f.By]}
	if l.Org, err = s.within(ctx, f.Organization); err != nil {
		return l, err
	}
	if l.Since, err = instant(f.From); err == nil {
		l.Until, err = instant(f.To)
	}
	return l, err
}

func (s *Service) rows(ctx context.Context, l port.UsageList) (rows []port.UsageRow, err error) {
	err = s.store.View(ctx, func(r reader) (err error) {
		rows, err = r.Usage(ctx, l)
		return err
	})
	return rows, err
}

// List shows what was done, with what this process has done until now.
func (s *Service) List(ctx context.Context, in List) (Rows, error) {
	l, err := s.query(ctx, in.Filter)
	if err != nil {
		return Rows{}, err
	}
	bind := []string{"usage", string(ident.From(ctx).Org), fmt.Sprintf("%+v", l)}
	var from *port.UsageRow
	if err := s.pages.Open(in.Cursor, &from, bind...); err != nil {
		return Rows{}, err
	}
	if err := s.Flush(ctx); err != nil {
		return Rows{}, err
	}
	n := page.Limit(in.Limit)
	l.After, l.Limit = from, n+1
	rows, err := s.rows(ctx, l)
	if err != nil {
		return Rows{}, err
	}
	out := Rows{Usage: make([]Row, 0, len(rows))}
	if len(rows) > n {
		rows = rows[:n]
		last := rows[n-1]
		last.Usage = port.Usage{}
		c := s.pages.Seal(last, bind...)
		out.NextCursor = &c
	}
	for _, r := range rows {
		out.Usage = append(out.Usage, show(r))
	}
	return out, nil
}

// TakeOut are the parameters of an export.
type TakeOut struct{ Filter }

// Export is usage as comma-separated values (RFC 4180). It implements op.Streamer.
type Export struct {
	service *Service
	list    port.UsageList
}

// Export finds what is to be exported.
func (s *Service) Export(ctx context.Context, in TakeOut) (*Export, error) {
	l, err := s.query(ctx, in.Filter)
	if err != nil {
		return nil, err
	}
	return &Export{service: s, list: l}, s.Flush(ctx)
}

// ContentType implements op.Streamer.
func (*Export) ContentType() string { return "text/csv" }

const exportedAtOnce = 1000

// columns are the names of the values of a line.
func columns() []string {
	return []string{"from", "organization_id", "namespace", "integration_id", "key_id", "requests", "documents", "chunks",
		"tokens_embedded", "tokens_sparse", "pairs_reranked", "recalls"}
}

// Stream implements op.Streamer.
func (e *Export) Stream(ctx context.Context, w io.Writer) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if err := out.Write(columns()); err != nil {
		return fmt.Errorf("write usage: %w", err)
	}
	for l := e.list; ; {
		l.Limit = exportedAtOnce
		rows, err := e.service.rows(ctx, l)
		if err != nil {
			return fmt.Errorf("export usage: %w", err)
		}
		for _, r := range rows {
			from := ""
			if !r.From.IsZero() {
				from = r.From.UTC().Format(time.RFC3339)
			}
			values := []string{from, string(r.Org), r.Namespace, r.Integration, r.KeyID}
			for _, n := range []int64{r.Requests, r.Documents, r.Chunks, r.TokensEmbedded, r.TokensSparse, r.PairsReranked,
				r.Recalls} {
				values = append(values, strconv.FormatInt(n, 10))
			}
			if err := out.Write(values); err != nil {
				return fmt.Errorf("write usage: %w", err)
			}
		}
		if len(rows) < l.Limit {
			out.Flush()
			return out.Error()
		}
		l.After = &rows[len(rows)-1]
	}
}

// ListBytes are the parameters of GET /usage/bytes.
type ListBytes struct {
	Limit  *int   `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"100" doc:"how many at most"`
	Cursor string `query:"cursor" json:"-" doc:"next_cursor of the page before; none for the first page"`
	Account
	At *string `query:"at" json:"-" format:"date-time" doc:"what was kept at the end of the hour that this time lies in; none: now"`
}

// Validate refuses what is no time.
func (l *ListBytes) Validate() error {
	if _, err := instant(l.At); err != nil {
		return fault.Field(fault.InvalidRequest, "at", "must be a time as of RFC 3339")
	}
	return nil
}

// Kept is how many bytes of text a namespace or an integration keeps.
type Kept struct {
	OrganizationID string    `json:"organization_id"`
	Namespace      *string   `json:"namespace" doc:"null: it is what an integration keeps"`
	IntegrationID  *string   `json:"integration_id" doc:"null: it is what a namespace keeps"`
	Bytes          int64     `json:"bytes" minimum:"1" doc:"UTF-8 bytes of the texts of documents or memories"`
	Since          time.Time `json:"since" doc:"hour in which they came to be so many"`
}

// AllKept answers GET /usage/bytes.
type AllKept struct {
	Kept       []Kept  `json:"kept"`
	NextCursor *string `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

// ListBytes shows how much was kept at a time, with what this process has changed until now.
func (s *Service) ListBytes(ctx context.Context, in ListBytes) (AllKept, error) {
	org, err := s.within(ctx, in.Organization)
	if err != nil {
		return AllKept{}, err
	}
	l := port.UsageBytesList{Org: org, Namespace: in.Namespace, Integration: in.Integration}
	if l.At, err = instant(in.At); err != nil {
		return AllKept{}, err
	}
	bind := []string{"usage.bytes", string(ident.From(ctx).Org), fmt.Sprintf("%+v", l)}
	var from *port.UsageBytes
	if err := s.pages.Open(in.Cursor, &from, bind...); err != nil {
		return AllKept{}, err
	}
	if err := s.Flush(ctx); err != nil {
		return AllKept{}, err
	}
	if l.At.IsZero() {
		l.At = s.now().Add(time.Hour) // the database's clock may be ahead
	}
	n := page.Limit(in.Limit)
	l.After, l.Limit = from, n+1
	var all []port.UsageBytes
	err = s.store.View(ctx, func(r reader) (err error) {
		all, err = r.UsageBytes(ctx, l)
		return err
	})
	if err != nil {
		return AllKept{}, err
	}
	out := AllKept{Kept: make([]Kept, 0, len(all))}
	if len(all) > n {
		all = all[:n]
		c := s.pages.Seal(all[n-1], bind...)
		out.NextCursor = &c
	}
	for _, b := range all {
		out.Kept = append(out.Kept, Kept{OrganizationID: string(b.Org), Namespace: optional(b.Namespace),
			IntegrationID: optional(b.Integration), Bytes: b.Bytes, Since: b.Hour})
	}
	return out, nil
}
