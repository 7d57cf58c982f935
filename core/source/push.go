package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/port"
)

// pushKind is the kind without a connector: programs bring the items.
const pushKind = "push"

// pushConnector describes the kind; nothing is fetched.
type pushConnector struct{}

// Kind implements port.Connector.
func (pushConnector) Kind() port.SourceKind {
	none := json.RawMessage(`{"type": "object", "properties": {}, "additionalProperties": false}`)
	return port.SourceKind{Name: pushKind, Title: "Pushed", Config: none, Secrets: none,
		Summary: "A program brings the items, and says what is gone."}
}

// Check implements port.Connector.
func (pushConnector) Check(context.Context, port.Connection) ([]port.SourceFieldProblem, error) {
	return nil, nil
}

// List implements port.Connector: nothing is listed.
func (pushConnector) List(ctx context.Context, _ port.Connection, _ []byte, l port.SourceListing) error {
	return l.Complete(ctx, false)
}

var errNotFetched = errors.New("source: items of kind push are not fetched")

// Fetch implements port.Connector.
func (pushConnector) Fetch(context.Context, port.Connection, port.SourceItem) (port.SourceContent, error) {
	return port.SourceContent{}, errNotFetched
}

// Revoke implements port.Connector.
func (pushConnector) Revoke(context.Context, port.Connection) error { return nil }

// PushItems is the body of POST /sources/{id}/items.
type PushItems struct {
	Ref
	Run   string     `json:"run_id,omitempty" schema:"Text" doc:"run that these items are part of; left out: they are changes of their own"`
	Items []PushItem `json:"items" minItems:"1" maxItems:"100" maxDecoded:"1000" doc:"each key once"`
}

// PushItem is an item to bring, or to remove.
type PushItem struct {
	Key      string          `json:"key" schema:"Text" minLength:"1" maxBytes:"2048" doc:"names it in its source for ever"`
	Deleted  bool            `json:"deleted,omitempty" default:"false" doc:"the source no longer has it; nothing else is given then"`
	Version  string          `json:"version,omitempty" schema:"Text" maxLength:"256" doc:"equal while it is unchanged; left out: it is compared by its content"`
	Name     string          `json:"name,omitempty" schema:"Text" maxLength:"300" doc:"for people; the documents' title unless metadata has one"`
	URL      string          `json:"url,omitempty" schema:"Text" maxLength:"2000" doc:"where people find it; becomes metadata"`
	Modified *time.Time      `json:"modified_at,omitempty" doc:"becomes metadata"`
	Text     *string         `json:"text,omitempty" schema:"Text" maxBytes:"8388608" doc:"what is above 256 KB becomes several documents"`
	Metadata json.RawMessage `json:"metadata,omitempty" schema:"Metadata" doc:"at most 20 keys beside those that every source gives"`

	metadata filter.Metadata
}

// Units is what a call costs: its items.
func (in *PushItems) Units() int { return max(1, len(in.Items)) }

// Validate refuses a key that is given twice, and an item that says too little or too much.
func (in *PushItems) Validate() error {
	seen := make(map[string]int, len(in.Items))
	for i := range in.Items {
		v, at := &in.Items[i], fmt.Sprintf("items[%d]", i)
		if j, ok := seen[v.Key]; ok {
			return fault.Field(fault.InvalidRequest, at+".key", "%q duplicates items[%d]", fault.Clip(v.Key), j)
		}
		seen[v.Key] = i
		switch given := v.Text != nil || len(v.Metadata) > 0 || v.Version != ""; {
		case v.Deleted && given:
			return fault.Field(fault.InvalidRequest, at, "is deleted, so it has neither text, metadata nor version")
		case !v.Deleted && v.Text == nil:
			return fault.Field(fault.InvalidRequest, at+".text", "is required")
		}
		var err error
		if v.metadata, err = filter.ParseMetadata(at+".metadata", v.Metadata); err != nil {
			return err
		}
		if n := len(v.metadata); n > maxPushKeys {
			return fault.Field(fault.InvalidMetadata, at+".metadata", "has %d keys; at most %d are taken", n, maxPushKeys)
		}
	}
	return nil
}

// Pushed answers POST /sources/{id}/items.
type Pushed struct {
	Items []PushedItem `json:"items" doc:"one for each item, in the order of the call"`
}

// PushedItem is the outcome of one item.
type PushedItem struct {
	Key        string  `json:"key"`
	Status     string  `json:"status" enum:"created,updated,unchanged,deleted,failed" doc:"deleted: it is not there any more, whether or not it was"`
	Error      *Reason `json:"error" doc:"of a failed one"`
	DocumentID *string `json:"document_id" doc:"its first document; null: it has none"`
	Documents  int     `json:"documents" minimum:"0"`
}

// Push takes items of a source of kind push.
func (s *Service) Push(ctx context.Context, in PushItems) (Pushed, error) {
	w := &worker{Service: s, seen: roaring.New(), gone: roaring.New(), kind: s.connectors[pushKind]}
	items := make([]port.SourceItem, len(in.Items))
	for i, v := range in.Items {
		items[i] = port.SourceItem{Key: v.Key, Version: v.Version, Name: v.Name, URL: v.URL}
		if v.Modified != nil {
			items[i].Modified = *v.Modified
		}
	}
	err := s.store.View(ctx, func(r reader) (err error) {
		if w.source, err = mine(ctx, r, in.ID); err != nil {
			return err
		}
		if err := ofPush(w.source); err != nil {
			return err
		}
		if err := s.mayRun(w.source); err != nil || in.Run == "" {
			return err
		}
		w.run, err = pushRun(ctx, r, w.source, in.Run)
		return err
	})
	if err != nil {
		return Pushed{}, err
	}
	if w.seen, err = marks(w.run); err != nil {
		return Pushed{}, err
	}
	kept, missing, _, err := w.lookUp(ctx, items)
	if err != nil {
		return Pushed{}, err
	}
	out := Pushed{Items: make([]PushedItem, len(items))}
	pieces := make([]*piece, len(items))
	var away []port.SourceItemRow
	var batch []*piece
	for i, v := range in.Items {
		hash := keyHash(v.Key)
		row, known := kept[hash]
		switch {
		case v.Deleted:
			if known {
				away = append(away, row)
			}
			out.Items[i] = PushedItem{Key: v.Key, Status: "deleted"}
			continue
		case known && v.Version != "" && v.Version == row.Version && row.Error == nil && !missing[hash]:
			w.mark(row.Number, !w.seen.Contains(uint32(row.Number)))
			w.counts.Unchanged++
			out.Items[i] = PushedItem{v.Key, "unchanged", nil, new(documentID(w.source.ID, hash, 1)), row.Documents}
			continue
		}
		if row.KeyHash = hash; !known {
			row.Key = v.Key
		}
		pieces[i] = &piece{item: items[i], row: row, kept: known, again: missing[hash]}
		if err := w.take(pieces[i], v); err != nil {
			return Pushed{}, err
		}
		batch = append(batch, pieces[i])
	}
	if err := w.storeAll(ctx, batch, away); err != nil {
		return Pushed{}, err
	}
	for i, p := range pieces {
		if p == nil {
			continue
		}
		out.Items[i] = PushedItem{Key: p.item.Key, Status: p.outcome, Error: reason(p.failed), Documents: len(p.documents)}
		if len(p.documents) > 0 {
			out.Items[i].DocumentID = &p.documents[0].ID
		}
	}
	return out, nil
}

// storeAll stores what a call has brought.
func (w *worker) storeAll(ctx context.Context, batch []*piece, away []port.SourceItemRow) error {
	if len(away) > 0 {
		if err := w.remove(ctx, away, false); err != nil {
			return w.pushFault(err)
		}
	}
	size := 0
	var some []*piece
	for _, p := range batch {
		for _, d := range p.documents {
			size += len(*d.Text)
		}
		if some = append(some, p); size >= batchBytes {
			if err := w.write(ctx, some); err != nil {
				return w.pushFault(err)
			}
			some, size = nil, 0
		}
	}
	if err := w.write(ctx, some); err != nil {
		return w.pushFault(err)
	}
	if w.counts == (port.SourceCounts{}) || w.run.ID == "" && w.source.Run == "" {
		return nil
	}
	return w.pushFault(w.flush(ctx, nil, nil))
}

func (w *worker) pushFault(err error) error {
	switch {
	case errors.Is(err, errEnded):
		return fault.New(fault.Conflict, "the source or its run has ended in the meantime")
	case errors.Is(err, errMoved):
		return fault.New(fault.Unavailable, "other calls bring the same items").After(time.Second)
	}
	return err
}

// maxPushKeys is how many keys of metadata a pushed item may have.
const maxPushKeys = 20

// take makes the documents of a pushed item.
func (w *worker) take(p *piece, v PushItem) error {
	own := map[string]any{}
	if raw := v.metadata.JSON(); len(raw) > 0 {
		if err := json.Unmarshal(raw, &own); err != nil {
			return fmt.Errorf("decode metadata: %w", err)
		}
	}
	if *v.Text == "" {
		return p.fail("no_text", "holds no text", true)
	}
	title, _ := own["title"].(string)
	return w.compose(p, port.Extracted{Title: title, Sections: []port.Section{{Text: *v.Text}}}, own)
}

// ofPush refuses what is for sources of kind push alone.
func ofPush(row port.SourceRow) error {
	if row.Kind != pushKind {
		return fault.New(fault.Conflict, "source %s is of kind %s; only to one of kind push items are brought", row.ID, row.Kind)
	}
	return nil
}

// pushRun finds the run of a source that waits for items.
func pushRun(ctx context.Context, r port.SourceReader, row port.SourceRow, id string) (port.SourceRun, error) {
	run, err := r.SourceRun(ctx, row.Org, row.ID, id)
	if err == nil && (row.Run != id || !pushed(run)) {
		err = fault.New(fault.Conflict, "run %s takes no items any more", id)
	}
	return run, err
}

// BeginRun is the body of POST /sources/{id}/runs.
type BeginRun struct {
	Ref
	Mode *string `json:"mode,omitempty" enum:"full" default:"full" doc:"everything that the source has is to be brought"`
}

// Begun answers POST /sources/{id}/runs.
type Begun Run

// StatusCode is 201.
func (Begun) StatusCode() int { return 201 }

// Begin begins a run that items are pushed in. One that is under way is cancelled.
func (s *Service) Begin(ctx context.Context, in BeginRun) (Begun, error) {
	var out port.SourceRun
	err := s.store.Update(ctx, func(w writer) error {
		row, err := mine(ctx, w, in.ID)
		if err != nil {
			return err
		}
		if err := errors.Join(ofPush(row), s.mayRun(row)); err != nil {
			return err
		}
		if row.Run != "" {
			old, err := w.SourceRun(ctx, row.Org, row.ID, row.Run)
			if err != nil {
				return err
			}
			if !pushed(old) {
				return fault.New(fault.Conflict, "run %s is about to end", old.ID).After(time.Second)
			}
			if _, err := s.cancelRun(ctx, w, &row); err != nil {
				return err
			}
		}
		out = s.newRun(row, "run_"+uuid.Must(uuid.NewV7()).String(), order{trigger: "manual", params: params{Push: true}})
		port.AuditOf(ctx).Made(row.ID + "/" + out.ID)
		out.Status, out.StartedAt = port.RunRunning, out.CreatedAt
		out.HeartbeatAt, out.ProgressAt = out.CreatedAt, out.CreatedAt
		row.State, row.Run, row.LastRun = port.SourceSyncing, out.ID, out.ID
		if err := w.PutSource(ctx, row); err != nil {
			return err
		}
		return w.PutSourceRun(ctx, out)
	})
	return Begun(run(out, s.now())), err
}

// CompleteRun is the body of POST /sources/{id}/runs/{run}/complete.
type CompleteRun struct {
	RunRef
	Snapshot bool `json:"snapshot,omitempty" default:"false" doc:"everything was brought: what was not is gone"`
}

// Complete ends a run that items were pushed in.
func (s *Service) Complete(ctx context.Context, in CompleteRun) (Run, error) {
	org := ident.From(ctx).Org
	var out port.SourceRun
	_, _, err := s.jobs.Start(ctx, runKind, job.Order{
		ID:        in.Run,
		Partition: port.Documents(org, ""),
		Request:   request{in.ID},
		In: func(ctx context.Context, store func(w job.Writer, on port.Partition) error) error {
			return s.store.Update(ctx, func(w writer) error {
				row, err := mine(ctx, w, in.ID)
				if err != nil {
					return err
				}
				if out, err = pushRun(ctx, w, row, in.Run); err != nil {
					return err
				}
				p := paramsOf(out)
				p.Push, p.Whole = false, in.Snapshot
				if out.Params, err = json.Marshal(p); err != nil {
					return fmt.Errorf("encode the parameters of a run: %w", err)
				}
				out.Status = port.RunQueued
				if err := w.PutSourceRun(ctx, out); err != nil {
					return err
				}
				return store(w, port.Documents(org, row.Namespace))
			})
		},
	})
	answer := run(out, s.now())
	answer.status = 202
	return answer, err
}
