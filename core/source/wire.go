package source

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Source is a source as it is answered.
type Source struct {
	ID          string          `json:"id" example:"src_019e2b4c-7d1a-7f30-9a51-2f6c8d0b7e44"`
	Name        string          `json:"name" doc:"for people"`
	Kind        string          `json:"kind" doc:"as in GET /source_kinds"`
	Namespace   string          `json:"namespace" schema:"NamespaceName"`
	Config      json.RawMessage `json:"config" doc:"settings, as the kind's schema wants them"`
	SecretsSet  []string        `json:"secrets_set" doc:"names of the secrets that are set; their values are never answered"`
	Schedule    *Schedule       `json:"schedule" doc:"when runs begin by themselves; null: they do not"`
	Deletions   string          `json:"deletions" enum:"propagate,keep" doc:"what becomes of documents whose items are gone"`
	Enabled     bool            `json:"enabled"`
	State       string          `json:"state" enum:"idle,syncing,paused,error,deleting"`
	StateReason *Reason         `json:"state_reason" doc:"why the state is error; else null"`
	Items       int64           `json:"items" minimum:"0" doc:"items that are kept, failed ones included"`
	Documents   int64           `json:"documents" minimum:"0" doc:"documents that were made of them"`
	LastRun     *Run            `json:"last_run" doc:"the newest run; null: there was none"`
	NextRunAt   *time.Time      `json:"next_run_at" doc:"null: no run is planned"`
	CreatedAt   time.Time       `json:"created_at"`
	UpdatedAt   time.Time       `json:"updated_at" doc:"of its settings"`

	status int
}

// StatusCode is 201 for a new source and 202 for one that goes.
func (s Source) StatusCode() int { return s.status }

// Schedule says when runs begin by themselves. It has one of its fields, or none.
type Schedule struct {
	Every string `json:"every,omitempty" example:"6h" doc:"from one run to the next, 1m to 8760h, with a jitter of a tenth and at most 5 minutes"`
	Cron  string `json:"cron,omitempty" example:"30 4 * * 1-5" doc:"five fields in UTC: minute, hour, day of the month, month, day of the week"`
}

// Reason is why something failed.
type Reason struct {
	Code    string `json:"code" doc:"for programs"`
	Message string `json:"message" doc:"for people"`
}

// Run is a run as it is answered.
type Run struct {
	ID          string            `json:"id" example:"run_019e2b4c-8f02-7bb1-8d2e-61d0c5a9f3e8"`
	SourceID    string            `json:"source_id"`
	Trigger     string            `json:"trigger" enum:"schedule,manual,create,config"`
	Mode        string            `json:"mode" enum:"full,incremental" doc:"whether it asks for everything, or for what has changed"`
	Status      string            `json:"status" enum:"queued,running,completed,partial,failed,cancelled,interrupted" doc:"partial: something of the source is not reflected; interrupted: it made no progress, or its process is gone and another is to go on"`
	Counts      port.SourceCounts `json:"counts"`
	Error       *Reason           `json:"error" doc:"why it failed, or is partial although no item failed; else null"`
	CreatedAt   time.Time         `json:"created_at"`
	StartedAt   *time.Time        `json:"started_at"`
	HeartbeatAt *time.Time        `json:"heartbeat_at" doc:"when it was last known to be alive"`
	FinishedAt  *time.Time        `json:"finished_at"`

	status int
}

// StatusCode is 202 for a run that has been started.
func (r Run) StatusCode() int { return r.status }

// RunItem is what a run did with an item.
type RunItem struct {
	Key        string  `json:"key" doc:"the item's key, or the path of a part that could not be listed"`
	Status     string  `json:"status" enum:"created,updated,deleted,withheld,failed,skipped"`
	Error      *Reason `json:"error" doc:"of one that failed or was skipped"`
	DocumentID *string `json:"document_id" doc:"its first document; null: it has none"`
}

// Item is what is kept of an item.
type Item struct {
	Key         string     `json:"key" doc:"names it in its source"`
	Name        string     `json:"name"`
	URL         *string    `json:"url"`
	Version     string     `json:"version" doc:"under which it was read"`
	Status      string     `json:"status" enum:"active,failed"`
	Error       *Reason    `json:"error" doc:"of a failed one"`
	Attempts    int        `json:"attempts" minimum:"0" doc:"that have failed in a row"`
	NextAttempt *time.Time `json:"next_attempt_at" doc:"of a failed one; null: it is tried again when it has changed, or on demand"`
	DocumentID  *string    `json:"document_id" doc:"its first document; null: it has none"`
	Documents   int        `json:"documents" minimum:"0"`
	UpdatedAt   time.Time  `json:"updated_at"`
}

// Ref names a source in a path.
type Ref struct {
	ID string `path:"id" json:"-" schema:"Text" doc:"id of the source"`
}

// SourceID is for keys limited to one source.
func (r *Ref) SourceID() string { return r.ID }

// RunRef names a run of a source in a path.
type RunRef struct {
	Ref
	Run string `path:"run" json:"-" schema:"Text" doc:"id of the run"`
}

func source(s port.SourceRow, last *port.SourceRun, now time.Time) Source {
	out := Source{
		ID: s.ID, Name: s.Name, Kind: s.Kind, Namespace: s.Namespace, Config: s.Config,
		SecretsSet: append([]string{}, s.Secrets...), Deletions: propagate, Enabled: s.Enabled, State: string(s.State),
		StateReason: reason(s.Reason), Items: s.Items, Documents: s.Documents,
		NextRunAt: moment(s.NextRun), CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.UpdatedAt.UTC(),
	}
	if s.Keep {
		out.Deletions = keep
	}
	if s.Schedule != (port.SourceSchedule{}) {
		out.Schedule = &Schedule{Cron: s.Schedule.Cron}
		if s.Schedule.Every > 0 {
			out.Schedule.Every = short(s.Schedule.Every)
		}
	}
	if last != nil {
		out.LastRun = new(run(*last, now))
	}
	return out
}

// The values of deletions.
const (
	propagate = "propagate"
	keep      = "keep"
)

// short writes a duration without the units that are zero.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// silence is how long a run may be silent before it counts as interrupted.
const silence = time.Minute

func run(r port.SourceRun, now time.Time) Run {
	out := Run{
		ID: r.ID, SourceID: r.Source, Trigger: r.Trigger, Mode: r.Mode, Status: string(r.Status), Counts: r.Counts,
		Error: reason(r.Error), CreatedAt: r.CreatedAt.UTC(), StartedAt: moment(r.StartedAt), HeartbeatAt: moment(r.HeartbeatAt),
		FinishedAt: moment(r.FinishedAt),
	}
	if r.Status == port.RunRunning && !pushed(r) && now.Sub(r.HeartbeatAt) > silence {
		out.Status = string(port.RunInterrupted)
	}
	return out
}

func reason(r *port.SourceReason) *Reason {
	if r == nil {
		return nil
	}
	return &Reason{r.Code, r.Message}
}

func item(source string, i port.SourceItemRow) Item {
	out := Item{
		Key: i.Key, Name: i.Name, URL: optional(i.URL), Version: i.Version, Status: "active", Error: reason(i.Error),
		Attempts: i.Attempts, NextAttempt: moment(i.NextAttempt), Documents: i.Documents, UpdatedAt: i.UpdatedAt.UTC(),
	}
	if i.Error != nil {
		out.Status = "failed"
	}
	if i.Documents > 0 {
		out.DocumentID = new(documentID(source, i.KeyHash, 1))
	}
	return out
}

// documentID is the id of a part of an item, from 1 (docs/contract.md#source-ids).
func documentID(source string, key [32]byte, part int) string {
	id := fmt.Sprintf("%s:%x", source, key[:16])
	if part > 1 {
		id += fmt.Sprintf("-%d", part)
	}
	return id
}

// optional is nil for an empty text.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// moment is nil for the zero time.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// Deletions as they are asked for are checked here, since they come in two calls.
func keeps(deletions string) bool { return deletions == keep }

func notFound(id string) error {
	return fault.New(fault.SourceNotFound, "there is no source %q", fault.Clip(id))
}
