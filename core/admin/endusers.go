package admin

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
)

// ListEndUsers are the parameters of GET /organizations/{org}/end_users.
type ListEndUsers struct {
	OrganizationRef
	Listing
	Query       string `query:"query" json:"-" schema:"Text" doc:"only ids that begin with it"`
	Integration string `query:"integration" json:"-" schema:"Text" doc:"id or name; only its end users"`
}

// EndUser is a row of the roster.
type EndUser struct {
	ID              string     `json:"id" pattern:"^[A-Za-z0-9@._-]{1,128}$" doc:"the end user"`
	Integration     string     `json:"integration" doc:"id of the integration"`
	IntegrationName string     `json:"integration_name" doc:"name of the integration"`
	Memories        int64      `json:"memories" minimum:"0"`
	Containers      int64      `json:"containers" minimum:"0" doc:"distinct container tags"`
	Bytes           int64      `json:"bytes" minimum:"0" doc:"UTF-8 bytes of the memories"`
	FirstSeen       time.Time  `json:"first_seen"`
	LastSeen        time.Time  `json:"last_seen" doc:"of a write or a search; searches come in about half a minute late"`
	Erasing         *time.Time `json:"erasing" doc:"since when an erasure is under way; null: none is"`
}

// EndUsers answers GET /organizations/{org}/end_users.
type EndUsers struct {
	EndUsers   []EndUser `json:"end_users"`
	NextCursor *string   `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

type rosterPosition struct {
	ID          string `json:"u"`
	Integration string `json:"i"`
}

// ListEndUsers pages through an organization's roster by end user id, then
// integration.
func (s *Service) ListEndUsers(ctx context.Context, in ListEndUsers) (EndUsers, error) {
	o, err := s.organization(ctx, in.Org)
	if err != nil {
		return EndUsers{}, err
	}
	list := port.EndUserList{Prefix: in.Query, Limit: page.Limit(in.Limit) + 1}
	if in.Integration != "" {
		i, err := s.keys.Integration(ctx, string(o.ID), in.Integration)
		if err != nil {
			return EndUsers{}, wrap("find integration", err)
		}
		list.Integration = i.ID
	}
	bind := []string{"admin.end_users", string(o.ID), in.Query, list.Integration}
	var from rosterPosition
	if err := s.pages.Open(in.Cursor, &from, bind...); err != nil {
		return EndUsers{}, err
	}
	list.AfterID, list.AfterIntegration = from.ID, from.Integration
	var rows []port.EndUser
	names := map[string]string{}
	err = s.store.View(ctx, func(r reader) (err error) {
		if rows, err = r.EndUsers(ctx, o.ID, list); err != nil {
			return err
		}
		integrations, err := r.Integrations(ctx, o.ID)
		for _, i := range integrations {
			names[i.ID] = i.Name
		}
		return err
	})
	if err != nil {
		return EndUsers{}, wrap("list end users", err)
	}
	out := EndUsers{EndUsers: []EndUser{}}
	if len(rows) == list.Limit {
		rows = rows[:list.Limit-1]
		last := rows[len(rows)-1]
		c := s.pages.Seal(rosterPosition{last.ID, last.Integration}, bind...)
		out.NextCursor = &c
	}
	for _, u := range rows {
		out.EndUsers = append(out.EndUsers, EndUser{
			ID:              u.ID,
			Integration:     u.Integration,
			IntegrationName: names[u.Integration],
			Memories:        u.Memories,
			Containers:      u.Containers,
			Bytes:           u.Bytes,
			FirstSeen:       u.FirstSeen.UTC(),
			LastSeen:        u.LastSeen.UTC(),
			Erasing:         moment(u.Erasing),
		})
	}
	return out, nil
}

// EndUserRef names an end user. The integration is required, since the same id
// in another integration is another end user: a repeated erasure must never
// reach that one. The ids . and .. are no end users of today and may be here: they were
// taken once, and have to be erased.
type EndUserRef struct {
	ID           string `path:"id" json:"-" fault:"invalid_end_user_id" pattern:"^[A-Za-z0-9@._-]{1,128}$" rule:"must be 1-128 characters of A-Z a-z 0-9 @ . _ -" doc:"the end user; write . and .. as %2E and %2E%2E"`
	Organization string `query:"organization" json:"-" doc:"id or name; required of a key of all organizations, else the key's own"`
	Integration  string `query:"integration" json:"-" required:"true" doc:"id or name of the integration"`
}

// endUser finds the partition of an end user, who need not exist, with the
// organization and the integration.
func (s *Service) endUser(ctx context.Context,
	in EndUserRef) (o port.Organization, i port.Integration, p port.Partition, err error) {
	if who := ident.From(ctx); in.Organization == "" && who.AllOrganizations() {
		return o, i, p, fault.Field(fault.InvalidRequest, "organization", "is required of a key of all organizations")
	}
	if o, err = s.organization(ctx, in.Organization); err != nil {
		return o, i, p, err
	}
	if i, err = s.keys.Integration(ctx, string(o.ID), in.Integration); err != nil {
		return o, i, p, wrap("find integration", err)
	}
	return o, i, port.Memories(o.ID, i.ID, in.ID), nil
}

// Certificate says what an erasure removed.
type Certificate struct {
	EndUser         string    `json:"end_user_id" pattern:"^[A-Za-z0-9@._-]{1,128}$" doc:"the end user"`
	Organization    string    `json:"organization_id" doc:"id of the organization"`
	Integration     string    `json:"integration" doc:"id of the integration"`
	IntegrationName string    `json:"integration_name" doc:"name of the integration"`
	Deleted         Deleted   `json:"deleted"`
	Grants          Ungranted `json:"grants"`
	VerifiedAbsent  bool      `json:"verified_absent" doc:"the store and the indexes were searched afterwards and hold nothing"`
	ErasedAt        time.Time `json:"erased_at"`
}

// Deleted counts what an erasure removed, by store.
type Deleted struct {
	Memories int64 `json:"memories" minimum:"0"`
	Vectors  int64 `json:"vectors" minimum:"0"`
	Records  int64 `json:"records" minimum:"0"`
	Receipts int64 `json:"receipts" minimum:"0"`
	Replays  int64 `json:"replays" minimum:"0" doc:"stored answers to calls with an Idempotency-Key"`
}

// Ungranted counts what an erasure revoked.
type Ungranted struct {
	Revoked    int64 `json:"revoked" minimum:"0" doc:"grants of sources, by the erasure or before"`
	Unanswered int64 `json:"unanswered" minimum:"0" doc:"of these, those that their upstream did not take back in time: they may be good there still"`
}

// EraseEndUser removes an end user for good. It is safe to repeat.
func (s *Service) EraseEndUser(ctx context.Context, in EndUserRef) (Certificate, error) {
	o, i, p, err := s.endUser(ctx, in)
	if err != nil {
		return Certificate{}, err
	}
	e, err := s.erase(ctx, p)
	if err != nil {
		return Certificate{}, wrap("erase end user", err)
	}
	return Certificate{
		EndUser:         in.ID,
		Organization:    string(o.ID),
		Integration:     i.ID,
		IntegrationName: i.Name,
		Deleted:         Deleted{e.Removed.Memories, e.Removed.Vectors, e.Removed.Records, e.Removed.Receipts, e.Removed.Replays},
		Grants:          Ungranted{e.Removed.Grants, e.Removed.Unanswered},
		VerifiedAbsent:  e.Verified,
		ErasedAt:        e.At.UTC(),
	}, nil
}

// What a page of an export holds at once: memories of at most 64 KiB each.
const (
	exportMemories = 32
	exportRecords  = 256
)

// Export is an export of an end user's data in progress. Pages are read one after the other, each
// a snapshot of its own, pinned to one life of the end user: a change
// during the export is seen or not, and an erasure cuts the answer short.
type Export struct {
	store     port.Snapshots[reader]
	partition port.Partition // pinned
	head      exportHead
}

// The lines of an export.
type (
	exportHead struct {
		Type            string    `json:"type" enum:"end_user"` // end_user
		ID              string    `json:"id"`
		Organization    string    `json:"organization_id"`
		Integration     string    `json:"integration"`
		IntegrationName string    `json:"integration_name"`
		FirstSeen       time.Time `json:"first_seen"`
		LastSeen        time.Time `json:"last_seen"`
		ExportedAt      time.Time `json:"exported_at"`
		// Few enough for the line.
		Grants []exportGrant `json:"grants" doc:"of sources, by creation time"`
	}
	exportMemory struct {
		Type       string          `json:"type" enum:"memory"` // memory
		ID         string          `json:"id"`
		Content    string          `json:"content"`
		Container  *string         `json:"container_tag"`
		Metadata   json.RawMessage `json:"metadata" schema:"Metadata"`
		Source     *string         `json:"source"`
		ExternalID *string         `json:"external_id"`
		CreatedAt  time.Time       `json:"created_at"`
		UpdatedAt  time.Time       `json:"updated_at"`
	}
	exportRecord struct {
		Type        string            `json:"type" enum:"record"` // record
		Source      string            `json:"source"`
		ExternalID  string            `json:"external_id"`
		Version     int64             `json:"version"`
		Status      port.RecordStatus `json:"status" enum:"active,tombstoned"`
		OccurredAt  time.Time         `json:"occurred_at"`
		UpdatedAt   time.Time         `json:"updated_at"`
		DocumentID  string            `json:"document_id"`
		ContentHash string            `json:"content_hash"`
	}
	exportReceipt struct {
		Type        string    `json:"type" enum:"receipt"` // receipt
		Source      string    `json:"source"`
		ExternalID  string    `json:"external_id"`
		Version     int64     `json:"version"`
		Operation   string    `json:"operation" enum:"upsert,tombstone"`
		RequestHash string    `json:"request_hash"`
		Outcome     string    `json:"outcome" enum:"created,updated,unchanged,restored,tombstoned"`
		OccurredAt  time.Time `json:"occurred_at"`
		AppliedAt   time.Time `json:"applied_at"`
		DocumentID  string    `json:"document_id"`
		ContentHash string    `json:"content_hash"`
	}
	exportGrant struct {
		ID         string     `json:"id"`
		Source     string     `json:"source"`
		SecretsSet []string   `json:"secrets_set" doc:"their names; they are not exported"`
		CreatedAt  time.Time  `json:"created_at"`
		RevokedAt  *time.Time `json:"revoked_at"`
	}
	exportEnd struct {
		Type     string `json:"type" enum:"end"` // end
		Memories int64  `json:"memories" minimum:"0"`
		Records  int64  `json:"records" minimum:"0"`
		Receipts int64  `json:"receipts" minimum:"0"`
	}
)

// ExportEndUser finds an end user to export. Faults: NotFound when there is no
// such end user, Unavailable while one is being erased.
func (s *Service) ExportEndUser(ctx context.Context, in EndUserRef) (*Export, error) {
	o, i, p, err := s.endUser(ctx, in)
	if err != nil {
		return nil, err
	}
	absent := fault.New(fault.NotFound, "the integration %q has no end user %q", i.Name, in.ID)
	var row port.EndUser
	var granted []port.Grant
	err = s.store.View(ctx, func(r reader) error {
		rows, err := r.EndUsers(ctx, o.ID, port.EndUserList{Integration: i.ID, Prefix: in.ID, Limit: 1})
		switch {
		case err != nil:
			return err
		case len(rows) == 0 || rows[0].ID != in.ID: // the id itself comes before longer ones
			return absent
		case !rows[0].Erasing.IsZero():
			return fault.New(fault.Unavailable, "the end user %q is being erased", in.ID).After(time.Second)
		}
		row = rows[0]
		granted, err = r.Grants(ctx, p)
		return err
	})
	if err != nil {
		return nil, wrap("export end user", err)
	}
	grants := make([]exportGrant, len(granted))
	for n, g := range granted {
		grants[n] = exportGrant{g.ID, g.Source, append([]string{}, g.Secrets...), g.CreatedAt.UTC(), moment(g.RevokedAt)}
	}
	return &Export{store: s.store, partition: p.At(row.Generation), head: exportHead{
		Type:            "end_user",
		ID:              in.ID,
		Organization:    string(o.ID),
		Integration:     i.ID,
		IntegrationName: i.Name,
		FirstSeen:       row.FirstSeen.UTC(),
		LastSeen:        row.LastSeen.UTC(),
		ExportedAt:      s.now().UTC(),
		Grants:          grants,
	}}, nil
}

// ContentType implements op.Streamer.
func (e *Export) ContentType() string { return "application/x-ndjson" }

// Stream implements op.Streamer.
func (e *Export) Stream(ctx context.Context, w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e.head); err != nil {
		return wrap("write export", err)
	}
	end := exportEnd{Type: "end"}
	if err := e.memories(ctx, enc, &end); err != nil {
		return err
	}
	if err := e.records(ctx, enc, &end); err != nil {
		return err
	}
	return wrap("write export", enc.Encode(end))
}

func (e *Export) memories(ctx context.Context, enc *json.Encoder, end *exportEnd) error {
	list := port.DocumentList{Order: port.ByID, Limit: exportMemories, Parts: port.PartText | port.PartMetadata}
	for {
		var page []port.DocumentHead
		err := e.store.View(ctx, func(r reader) (err error) {
			page, err = r.ListDocuments(ctx, e.partition, list)
			return err
		})
		if err != nil {
			return wrap("export memories", err)
		}
		for _, d := range page {
			m := exportMemory{
				Type:       "memory",
				ID:         d.ID,
				Content:    d.Text,
				Container:  optional(d.Container),
				Metadata:   d.Metadata,
				Source:     optional(d.Source),
				ExternalID: optional(d.ExternalID),
				CreatedAt:  d.CreatedAt.UTC(),
				UpdatedAt:  d.UpdatedAt.UTC(),
			}
			if len(m.Metadata) == 0 {
				m.Metadata = json.RawMessage("{}")
			}
			if err := enc.Encode(m); err != nil {
				return wrap("write export", err)
			}
		}
		end.Memories += int64(len(page))
		if len(page) < list.Limit {
			return nil
		}
		list.AfterID = page[len(page)-1].ID
	}
}

func (e *Export) records(ctx context.Context, enc *json.Encoder, end *exportEnd) error {
	var source, external string
	for {
		var page []port.Record
		err := e.store.View(ctx, func(r reader) (err error) {
			page, err = r.Records(ctx, e.partition, source, external, exportRecords)
			return err
		})
		if err != nil {
			return wrap("export records", err)
		}
		for _, x := range page {
			line := exportRecord{
				Type:        "record",
				Source:      x.Source,
				ExternalID:  x.ExternalID,
				Version:     x.Version,
				Status:      x.Status,
				OccurredAt:  x.OccurredAt.UTC(),
				UpdatedAt:   x.UpdatedAt.UTC(),
				DocumentID:  x.DocumentID,
				ContentHash: x.ContentHash,
			}
			if err := enc.Encode(line); err != nil {
				return wrap("write export", err)
			}
			if err := e.receipts(ctx, enc, x, end); err != nil {
				return err
			}
		}
		end.Records += int64(len(page))
		if len(page) < exportRecords {
			return nil
		}
		source, external = page[len(page)-1].Source, page[len(page)-1].ExternalID
	}
}

func (e *Export) receipts(ctx context.Context, enc *json.Encoder, of port.Record, end *exportEnd) error {
	var version int64
	for {
		var page []port.Receipt
		err := e.store.View(ctx, func(r reader) (err error) {
			page, err = r.Receipts(ctx, e.partition, of.Source, of.ExternalID, version, exportRecords)
			return err
		})
		if err != nil {
			return wrap("export receipts", err)
		}
		for _, x := range page {
			line := exportReceipt{
				Type:        "receipt",
				Source:      x.Source,
				ExternalID:  x.ExternalID,
				Version:     x.Version,
				Operation:   x.Operation,
				RequestHash: x.RequestHash,
				Outcome:     x.Outcome,
				OccurredAt:  x.OccurredAt.UTC(),
				AppliedAt:   x.AppliedAt.UTC(),
				DocumentID:  x.DocumentID,
				ContentHash: x.ContentHash,
			}
			if err := enc.Encode(line); err != nil {
				return wrap("write export", err)
			}
		}
		end.Receipts += int64(len(page))
		if len(page) < exportRecords {
			return nil
		}
		version = page[len(page)-1].Version
	}
}
