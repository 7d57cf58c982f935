package mem0

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// Memory is a memory as mem0's clients read it.
type Memory struct {
	ID         string          `json:"id" doc:"names its end user"`
	Memory     string          `json:"memory" doc:"what is remembered"`
	UserID     *string         `json:"user_id"`
	AgentID    *string         `json:"agent_id"`
	AppID      *string         `json:"app_id"`
	RunID      *string         `json:"run_id" doc:"its container"`
	Metadata   json.RawMessage `json:"metadata" schema:"Metadata" doc:"with role and name of a message"`
	Categories []string        `json:"categories" maxItems:"0" doc:"none: nothing here sorts memories"`
	CreatedAt  time.Time       `json:"created_at"`
	UpdatedAt  time.Time       `json:"updated_at"`
}

// show gives a stored memory the form of the protocol.
func show(endUser string, d port.Document) (Memory, error) {
	of, metadata, err := unlabel(endUser, d)
	if err != nil {
		return Memory{}, err
	}
	out := Memory{ID: idOf(endUser, d.ID), Memory: d.Text, Categories: []string{}, CreatedAt: d.CreatedAt.UTC(),
		UpdatedAt: d.UpdatedAt.UTC()}
	for kind, to := range map[string]**string{user: &out.UserID, agent: &out.AgentID, app: &out.AppID, run: &out.RunID} {
		if id, ok := of[kind]; ok {
			*to = &id
		}
	}
	out.Metadata, err = json.Marshal(metadata)
	return out, err
}

// Wanted says which memories are meant.
type Wanted struct {
	Filters    *Filters `json:"filters,omitempty" doc:"needed: it names whose memories are meant, by user_id, agent_id, app_id or run_id"`
	Categories []string `json:"categories,omitempty" doc:"refused: nothing here sorts memories"`

	ShowExpired *bool `json:"show_expired,omitempty" doc:"without effect: memories don't expire"`
	LatestOnly  *bool `json:"latest_only,omitempty" doc:"without effect: a memory that is changed keeps no older version"`
	Ignored
}

func (in *Wanted) check() error {
	if in.Filters == nil {
		return invalid("filters", `must name whose memories are meant, such as {"user_id": "alice"}`)
	}
	if len(in.Categories) > 0 {
		return invalid("categories", "is not supported: nothing here sorts memories. Keep a value in metadata and filter by it")
	}
	return in.Filters.ids.check()
}

// span refuses a time of creation that ends before it begins.
func (f *Filters) span() error {
	if f.after != nil && f.before != nil && *f.after >= *f.before {
		return refuse("filters", "created_at ends before it begins")
	}
	return nil
}

// EndUser is for keys limited to one end user.
func (in *Wanted) EndUser() string { return in.Filters.ids.endUser() }

// SearchRequest is the body of POST /v3/memories/search.
type SearchRequest struct {
	Wanted
	Query         string   `json:"query" schema:"Text" minLength:"1" maxLength:"8192" doc:"the question"`
	TopK          *int     `json:"top_k,omitempty" minimum:"1" maximum:"100" default:"10" doc:"how many at most"`
	Threshold     *float64 `json:"threshold,omitempty" minimum:"0" maximum:"1" doc:"the least score"`
	Rerank        *bool    `json:"rerank,omitempty" doc:"without effect: the server's configuration says whether searches are reranked"`
	KeywordSearch *bool    `json:"keyword_search,omitempty" doc:"without effect: searches are by vector and keywords"`
	ReferenceDate *Moment  `json:"reference_date,omitempty" doc:"refused: needs a language model"`
	Fields        []string `json:"fields,omitempty" doc:"refused: answers hold all fields"`
	Metadata      *Object  `json:"metadata,omitempty" doc:"refused: filters take conditions on metadata"`
}

// Validate refuses what is not supported.
func (in *SearchRequest) Validate() error {
	switch {
	case strings.TrimSpace(in.Query) == "":
		return invalid("query", "must hold a character that is not white space")
	case in.ReferenceDate != nil:
		return invalid("reference_date", "needs a language model, and none runs here. Filter by created_at")
	case len(in.Fields) > 0:
		return invalid("fields", "is not supported: answers hold all fields")
	case in.Metadata != nil:
		return invalid("metadata", `is not supported: send {"metadata": {...}} within filters`)
	}
	if err := in.check(); err != nil {
		return err
	}
	return in.Filters.span()
}

// Hit is a memory that was found.
type Hit struct {
	Memory
	Score float64 `json:"score" doc:"0-1; higher is better"`
}

// Hits answer a search.
type Hits struct {
	Results  []Hit               `json:"results" doc:"best first"`
	Degraded []retrieve.Degraded `json:"degraded" doc:"parts left out of this answer, or that took part with less, and why; not mem0's"`
}

// Missing implements op.Partial.
func (h Hits) Missing() iter.Seq2[string, string] { return retrieve.Missing(h.Degraded) }

// Search finds memories.
func (s *Service) Search(ctx context.Context, in SearchRequest) (Hits, error) {
	which := in.Filters.which()
	q := memory.Query{EndUserID: which.EndUserID, Query: in.Query, Limit: in.TopK}
	if which.Container != "" {
		q.ContainerTag = memory.Tag{Value: which.Container, Given: true}
	}
	q.CreatedAfter, q.CreatedBefore = millis(which.After), millis(which.Before)
	if err := op.Check(&q); err != nil {
		return Hits{}, err
	}
	found, err := s.memories.Search(ctx, q.Where(which.Filter))
	if err != nil {
		return Hits{}, err
	}
	out := Hits{Results: []Hit{}, Degraded: found.Degraded}
	for _, r := range found.Results {
		if in.Threshold != nil && r.Score < *in.Threshold {
			continue
		}
		one, err := show(which.EndUserID, r.Memory)
		if err != nil {
			return Hits{}, err
		}
		out.Results = append(out.Results, Hit{one, r.Score})
	}
	return out, nil
}

func millis(at *int64) memory.Millis {
	if at == nil {
		return memory.Millis{}
	}
	return memory.Millis{Value: *at, Given: true}
}

// Paging are the parameters of a list.
type Paging struct {
	Page     *int `query:"page" json:"-" minimum:"1" maximum:"1000000" default:"1" doc:"which page"`
	PageSize *int `query:"page_size" json:"-" minimum:"1" maximum:"100" default:"100" doc:"how many a page has at most"`
}

// bounds are where a page begins, and how long it is.
func (p *Paging) bounds() (skip, limit int) {
	page, limit := 1, 100
	if p.Page != nil {
		page = *p.Page
	}
	if p.PageSize != nil {
		limit = *p.PageSize
	}
	return (page - 1) * limit, limit
}

// around are the addresses of the pages beside one, as paths; nil where there is none.
func (p *Paging) around(path string, total int) (next, previous *string) {
	skip, limit := p.bounds()
	page := skip/limit + 1
	address := func(page int) *string {
		a := fmt.Sprintf("%s/?page=%d&page_size=%d", path, page, limit)
		return &a
	}
	if skip+limit < total {
		next = address(page + 1)
	}
	if page > 1 {
		previous = address(page - 1)
	}
	return next, previous
}

// ListRequest is a call of POST /v3/memories.
type ListRequest struct {
	Paging
	Wanted
	StartDate *string `json:"start_date,omitempty" doc:"a date or an RFC 3339 date-time; only memories created then or later"`
	EndDate   *string `json:"end_date,omitempty" doc:"a date or an RFC 3339 date-time; only memories created then or before"`
}

// Validate reads the dates.
func (in *ListRequest) Validate() error {
	if err := in.check(); err != nil {
		return err
	}
	for _, date := range []struct {
		field string
		text  *string
		bound func(time.Time, bool)
	}{{"start_date", in.StartDate, in.Filters.from}, {"end_date", in.EndDate, in.Filters.until}} {
		if date.text == nil {
			continue
		}
		t, ok := parseTime(*date.text)
		if !ok {
			return invalid(date.field, "must be a date, such as 2026-01-02, or an RFC 3339 date-time")
		}
		date.bound(t, true)
	}
	return in.Filters.span()
}

// Page answers a list.
type Page struct {
	Count    int      `json:"count" minimum:"0" doc:"of all pages"`
	Next     *string  `json:"next" doc:"path of the next page; null: this is the last"`
	Previous *string  `json:"previous" doc:"path of the page before; null: this is the first"`
	Results  []Memory `json:"results" doc:"newest first"`
}

// List pages through memories, newest first.
func (s *Service) List(ctx context.Context, in ListRequest) (Page, error) {
	which := in.Filters.which()
	skip, limit := in.bounds()
	total, found, err := s.memories.Count(ctx, which, skip, limit)
	if err != nil {
		return Page{}, err
	}
	out := Page{Count: total, Results: make([]Memory, len(found))}
	out.Next, out.Previous = in.around("/v3/memories", total)
	for i, d := range found {
		if out.Results[i], err = show(which.EndUserID, d.Document); err != nil {
			return Page{}, err
		}
	}
	return out, nil
}

func findOperations() []op.Op[*Service] {
	codes := []fault.Code{fault.InvalidEndUserID, fault.InvalidContainerTag, fault.InvalidFilter}
	search := with(spec("search", "POST", "/v3/memories/search", "Search memories"), codes...)
	search.Description = "Vector and full-text search, as `POST /api/v1/search` does it, with conditions on metadata."
	search.MaxBody = filterBody
	list := with(spec("list", "POST", "/v3/memories", "List memories, newest first"), codes...)
	list.Description = "Counting reads the heads of all memories of the end user: " +
		"`GET /api/v1/memories` is cheaper where there are many."
	list.MaxBody, list.BodyOptional = filterBody, true
	return []op.Op[*Service]{op.Define(search, (*Service).Search), op.Define(list, (*Service).List)}
}
