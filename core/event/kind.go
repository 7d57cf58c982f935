package event

import (
	"encoding/json"
	"time"

	"github.com/mnemehq/mneme/core/op"
)

// The kinds of events (docs/contract.md#event-kinds).
const (
	NamespaceCreated   = "namespace.created"
	NamespaceDeleted   = "namespace.deleted"
	NamespaceReindexed = "namespace.reindexed"
	DocumentsWritten   = "documents.written"
	DocumentsDeleted   = "documents.deleted"
	RunCompleted       = "source.run.completed"
	RunFailed          = "source.run.failed"
	DeletionsWithheld  = "source.deletions_withheld"
	CredentialsFailed  = "source.credentials_failed"
	SourceStateChanged = "source.state_changed"
	MemoryCreated      = "memory.created"
	MemoryUpdated      = "memory.updated"
	MemoryTombstoned   = "memory.tombstoned"
	MemoryRestored     = "memory.restored"
	MemoryDeleted      = "memory.deleted"
	UserErased         = "user.erased"
	QuotaExceeded      = "quota.exceeded"
	KeyCreated         = "key.created"
	KeyRevoked         = "key.revoked"
	ModelStateChanged  = "model.state_changed"
	WebhookDisabled    = "webhook.disabled"
	// WebhookTest is only sent by a test of a webhook: it is no kind of what happens.
	WebhookTest = "webhook.test"
)

// Kind describes the events of one kind.
type Kind struct {
	Name    string
	Summary string
	// Admin says that only admin keys see them: they tell of people and of keys.
	Admin   bool
	Example Data
}

// Data is what the events of a kind say beside kind and time. It names things and never
// holds what they say.
type Data interface {
	// event is an event with this data as it is sent: a struct of its own, so that
	// descriptions of the API have a name for it.
	event(Head) any
}

// Head is what all events begin with.
type Head struct {
	Type      string    `json:"type" doc:"its kind"`
	Timestamp time.Time `json:"timestamp" doc:"when it happened"`
}

// NamespaceData tells of a namespace.
type NamespaceData struct {
	OrganizationID string `json:"organization_id"`
	Namespace      string `json:"namespace" schema:"NamespaceName"`
	RequestID      string `json:"request_id,omitempty" doc:"of the call that did it; none: the server did it by itself"`
}

// DocumentsData tells of documents of a namespace.
type DocumentsData struct {
	OrganizationID string   `json:"organization_id"`
	Namespace      string   `json:"namespace" schema:"NamespaceName"`
	IDs            []string `json:"ids" maxItems:"1000" doc:"of the documents; many come in several events"`
	Count          int      `json:"count" minimum:"1" doc:"how many ids there are"`
	Change         uint64   `json:"change" minimum:"1" doc:"number of the change in the namespace: it rises, until the namespace is deleted"`
	SourceID       *string  `json:"source_id" doc:"of the source that keeps the documents; null: callers write them"`
	RequestID      string   `json:"request_id,omitempty" doc:"of the call that did it; none: the server did it by itself"`
}

// RunData tells of a run of a source.
type RunData struct {
	OrganizationID string     `json:"organization_id"`
	SourceID       string     `json:"source_id"`
	Namespace      string     `json:"namespace" schema:"NamespaceName"`
	RunID          string     `json:"run_id"`
	Status         string     `json:"status" enum:"completed,partial,failed,cancelled,interrupted"`
	Error          *string    `json:"error" doc:"code of what it failed with; null: it did not"`
	Counts         RunCounts  `json:"counts"`
	StartedAt      *time.Time `json:"started_at" doc:"null: it never began"`
}

// RunCounts is what a run did to items, Deleted and Withheld to documents.
type RunCounts struct {
	Seen      int64 `json:"seen" minimum:"0"`
	Created   int64 `json:"created" minimum:"0"`
	Updated   int64 `json:"updated" minimum:"0"`
	Unchanged int64 `json:"unchanged" minimum:"0"`
	Deleted   int64 `json:"deleted" minimum:"0"`
	Withheld  int64 `json:"withheld" minimum:"0"`
	Failed    int64 `json:"failed" minimum:"0"`
	Skipped   int64 `json:"skipped" minimum:"0"`
}

// SourceData tells of a source.
type SourceData struct {
	OrganizationID string  `json:"organization_id"`
	SourceID       string  `json:"source_id"`
	Namespace      string  `json:"namespace" schema:"NamespaceName"`
	State          string  `json:"state" enum:"idle,syncing,paused,error,deleting"`
	Previous       *string `json:"previous" doc:"its state before; null: it is new"`
	Reason         *string `json:"reason" doc:"code of why the state is error; null: it is another"`
}

// MemoryData tells of a memory of an end user. Its names are those of the memory API.
type MemoryData struct {
	OrganizationID string  `json:"organization_id"`
	IntegrationID  string  `json:"integration_id"`
	EndUserID      string  `json:"endUserId" schema:"EndUserID"`
	MemoryID       string  `json:"memoryId"`
	Source         *string `json:"source" doc:"of a memory that a source owns; null: of any other"`
	ExternalID     *string `json:"externalId" doc:"its id in the source"`
	Version        *int64  `json:"version" doc:"its version in the source"`
	Change         uint64  `json:"change" minimum:"1" doc:"number of the change of the end user's memories: it rises, until an erasure"`
	RequestID      string  `json:"requestId,omitempty" doc:"of the call that did it; none: the server did it by itself"`
}

// UserData tells of an end user whose erasure has ended.
type UserData struct {
	OrganizationID  string `json:"organization_id"`
	IntegrationID   string `json:"integration_id"`
	EndUserID       string `json:"endUserId" schema:"EndUserID"`
	DeletedMemories int64  `json:"deletedMemories" minimum:"0"`
	DeletedVectors  int64  `json:"deletedVectors" minimum:"0"`
}

// KeyData tells of a key.
type KeyData struct {
	OrganizationID string  `json:"organization_id"`
	KeyID          string  `json:"key_id"`
	Type           string  `json:"type" doc:"kind of key, such as service"`
	IntegrationID  *string `json:"integration_id" doc:"of an integration's or a personal key; null: of any other"`
	CreatedBy      *string `json:"created_by" doc:"id of the key that made it, cli or bootstrap; null: not known"`
}

// ModelData tells of a model.
type ModelData struct {
	OrganizationID string  `json:"organization_id"`
	ModelID        string  `json:"model_id" doc:"as GET /models has it"`
	Kind           string  `json:"kind" enum:"embedding,sparse,rerank,answer" doc:"what it is used for"`
	Status         string  `json:"status" enum:"ready,loading,off,error"`
	Previous       *string `json:"previous" doc:"its status before; null: the server has just started"`
	Replica        string  `json:"replica" doc:"the server that the model works for: each of several sees its own"`
}

// QuotaData tells of a quota of the organization that has refused a write.
type QuotaData struct {
	OrganizationID string `json:"organization_id"`
	Quota          string `json:"quota" enum:"bytes,documents,namespaces,end_users"`
	Limit          int64  `json:"limit" minimum:"1"`
	Used           int64  `json:"used" minimum:"0" doc:"before the write, which would have gone over the limit"`
}

// WebhookData tells of a webhook that the server has disabled.
type WebhookData struct {
	OrganizationID string     `json:"organization_id"`
	WebhookID      string     `json:"webhook_id"`
	Reason         string     `json:"reason" enum:"gone,failing" doc:"gone: its endpoint answered 410; failing: it took nothing for days"`
	FailingSince   *time.Time `json:"failing_since" doc:"when the first delivery failed that none has succeeded after; null: none has"`
}

// TestData is what a test of a webhook sends.
type TestData struct {
	OrganizationID string `json:"organization_id"`
	WebhookID      string `json:"webhook_id"`
}

// The events, as they are sent.
type (
	NamespaceEvent struct {
		Head
		Data NamespaceData `json:"data"`
	}
	DocumentsEvent struct {
		Head
		Data DocumentsData `json:"data"`
	}
	RunEvent struct {
		Head
		Data RunData `json:"data"`
	}
	SourceEvent struct {
		Head
		Data SourceData `json:"data"`
	}
	MemoryEvent struct {
		Head
		Data MemoryData `json:"data"`
	}
	UserEvent struct {
		Head
		Data UserData `json:"data"`
	}
	KeyEvent struct {
		Head
		Data KeyData `json:"data"`
	}
	ModelEvent struct {
		Head
		Data ModelData `json:"data"`
	}
	QuotaEvent struct {
		Head
		Data QuotaData `json:"data"`
	}
	WebhookEvent struct {
		Head
		Data WebhookData `json:"data"`
	}
	TestEvent struct {
		Head
		Data TestData `json:"data"`
	}
)

func (d NamespaceData) event(h Head) any { return NamespaceEvent{h, d} }
func (d DocumentsData) event(h Head) any { return DocumentsEvent{h, d} }
func (d RunData) event(h Head) any       { return RunEvent{h, d} }
func (d SourceData) event(h Head) any    { return SourceEvent{h, d} }
func (d MemoryData) event(h Head) any    { return MemoryEvent{h, d} }
func (d UserData) event(h Head) any      { return UserEvent{h, d} }
func (d KeyData) event(h Head) any       { return KeyEvent{h, d} }
func (d ModelData) event(h Head) any     { return ModelEvent{h, d} }
func (d QuotaData) event(h Head) any     { return QuotaEvent{h, d} }
func (d WebhookData) event(h Head) any   { return WebhookEvent{h, d} }
func (d TestData) event(h Head) any      { return TestEvent{h, d} }

// Kinds lists all kinds, sorted by what they tell of.
func Kinds() []Kind {
	const org, request = "org_6w2v5q", "req-19"
	some := func(s string) *string { return &s }
	space := NamespaceData{org, "docs", request}
	written := DocumentsData{OrganizationID: org, Namespace: "docs", IDs: []string{"guide", "faq"}, Count: 2, Change: 12,
		RequestID: request}
	run := RunData{OrganizationID: org, SourceID: "src_7d", Namespace: "docs", RunID: "run_21", Status: "completed",
		Counts: RunCounts{Seen: 40, Created: 2, Unchanged: 38}, StartedAt: new(exampleTime)}
	failed := run
	failed.Status, failed.Error, failed.Counts = "failed", some("credentials"), RunCounts{}
	withheld := run
	withheld.Status, withheld.Counts = "partial", RunCounts{Seen: 1, Unchanged: 1, Withheld: 39}
	memory := MemoryData{OrganizationID: org, IntegrationID: "int_3k", EndUserID: "alice", MemoryID: "mem_8h",
		Source: some("mail"), ExternalID: some("msg-7"), Version: new(int64(3)), Change: 5, RequestID: request}
	return []Kind{
		{NamespaceCreated, "A namespace came into being.", false, space},
		{NamespaceDeleted, "A namespace is gone, with every document in it.", false, space},
		{NamespaceReindexed, "A namespace is served with recomputed vectors.", false, space},
		{DocumentsWritten, "Documents were created or changed.", false, written},
		{DocumentsDeleted, "Documents were deleted one by one.", false, written},
		{RunCompleted, "A run of a source has ended; some of it may have failed.", false, run},
		{RunFailed, "A run of a source has failed.", false, failed},
		{DeletionsWithheld, "A run would have deleted suspiciously many documents, and did not.", false, withheld},
		{CredentialsFailed, "A source's credentials are missing, wrong or expired.", false, failed},
		{SourceStateChanged, "A source is in another state.", false,
			SourceData{org, "src_7d", "docs", "paused", some("idle"), nil}},
		{MemoryCreated, "A memory was saved.", true, memory},
		{MemoryUpdated, "A memory has changed.", true, memory},
		{MemoryTombstoned, "The source of a memory has deleted it.", true, memory},
		{MemoryRestored, "The source of a deleted memory has brought it again.", true, memory},
		{MemoryDeleted, "A memory was deleted by its id.", true,
			MemoryData{OrganizationID: org, IntegrationID: "int_3k", EndUserID: "alice", MemoryID: "mem_8h", Change: 6,
				RequestID: request}},
		{UserErased, "An end user is erased for good.", true, UserData{org, "int_3k", "alice", 12, 24}},
		{QuotaExceeded, "A quota refuses what would go over it: told once, until less than 95 % are in use.", true,
			QuotaData{org, "documents", 100_000, 99_990}},
		{KeyCreated, "A key was made.", true, KeyData{org, "key_5r", "service", nil, some("cli")}},
		{KeyRevoked, "A key was revoked.", true, KeyData{org, "key_5r", "service", nil, some("cli")}},
		{ModelStateChanged, "A model works again, or does not.", false,
			ModelData{org, "e5-small-v2", "embedding", "error", some("ready"), "a1"}},
		{WebhookDisabled, "A webhook is disabled: its endpoint is gone, or has taken nothing for days.", false,
			WebhookData{org, "whk_4c", "failing", new(exampleTime)}},
	}
}

var exampleTime = time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC)

// Encode is the body of an event as it is sent.
func Encode(kind string, at time.Time, d Data) ([]byte, error) { return encode(kind, at, d) }

func encode(kind string, at time.Time, d Data) ([]byte, error) {
	return json.Marshal(d.event(Head{kind, at.UTC()}))
}

// Announcements are the kinds for the description of the API.
func Announcements() []op.Event {
	var out []op.Event
	for _, k := range Kinds() {
		example, err := encode(k.Name, exampleTime, k.Example)
		if err != nil {
			panic("event: an example cannot be encoded: " + err.Error())
		}
		out = append(out, op.Event{Name: k.Name, Summary: k.Summary, Admin: k.Admin,
			Body: k.Example.event(Head{}), Example: string(example)})
	}
	return out
}

// Names are the kinds whose events a key may see.
func Names(admin bool) []string {
	var out []string
	for _, k := range Kinds() {
		if admin || !k.Admin {
			out = append(out, k.Name)
		}
	}
	return out
}
