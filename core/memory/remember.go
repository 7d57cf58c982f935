package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// Remember is the body of POST /api/v1/conversations.
type Remember struct {
	EndUserID    string    `json:"endUserId" fault:"invalid_end_user_id" schema:"EndUserID" doc:"the end user"`
	ContainerTag Tag       `json:"containerTag,omitzero" fault:"invalid_container_tag" schema:"ContainerTag" doc:"the conversation; ids of messages are its own"`
	Messages     []Message `json:"messages" minItems:"1" maxItems:"100" doc:"messages to remember, of at most 1 MiB of content together"`

	turns []turn
}

// Message is one turn of a conversation.
type Message struct {
	ID         *string         `json:"id,omitempty" pattern:"^[!-~]{1,255}$" rule:"must be 1-255 visible ASCII characters" example:"msg_3" doc:"the application's id; the same id with another content replaces the message. Without one a message is the same as another of its role and content"`
	Role       string          `json:"role" enum:"user,assistant,system,developer,tool" doc:"who speaks"`
	Name       *string         `json:"name,omitempty" schema:"Text" minLength:"1" maxLength:"128" doc:"the speaker's name"`
	Content    *string         `json:"content" schema:"Content" maxBytes:"65536" doc:"at most 65536 bytes of UTF-8, not white space alone; kept as it is"`
	Metadata   json.RawMessage `json:"metadata,omitempty" schema:"Metadata" doc:"comes back with results, beside role, name and messageId"`
	OccurredAt *string         `json:"occurredAt,omitempty" format:"date-time" doc:"when it was said, in place of the time of the call"`

	apart string
}

// KeepApart has a message without an id be another than the same one of another scope; "": of none.
func (m *Message) KeepApart(scope string) { m.apart = scope }

// turn is a message as it is stored. Its key is what it is known by: its id or, without
// one, its role and content.
type turn struct {
	text
	named bool // it has an id, and may change
}

// Members of a turn's metadata that its fields fill.
const (
	roleMember = "role"
	nameMember = "name"
	idMember   = "messageId"
)

// Validate parses the messages.
func (in *Remember) Validate() error {
	sum, seen := 0, map[string]bool{}
	in.turns = make([]turn, 0, len(in.Messages))
	for i := range in.Messages {
		m := &in.Messages[i]
		field := fmt.Sprintf("messages[%d].", i)
		if sum += len(*m.Content); sum > MaxBatchBytes {
			return fault.Field(fault.PayloadTooLarge, "messages",
				"hold more than %d bytes of content (1 MiB)", MaxBatchBytes)
		}
		if m.ID != nil {
			if seen[*m.ID] {
				return invalid(field+"id", "stands twice in the call")
			}
			seen[*m.ID] = true
		}
		t, err := m.parse(field, in.ContainerTag.Value)
		if err != nil {
			return err
		}
		in.turns = append(in.turns, t)
	}
	return nil
}

func (m *Message) parse(field, container string) (turn, error) {
	if _, err := checkMetadata(field+"metadata", m.Metadata); err != nil {
		return turn{}, err
	}
	members := map[string]json.RawMessage{}
	if len(m.Metadata) > 0 {
		if err := json.Unmarshal(m.Metadata, &members); err != nil {
			return turn{}, fmt.Errorf("metadata of a message: %w", err)
		}
	}
	for name, value := range map[string]*string{roleMember: &m.Role, nameMember: m.Name, idMember: m.ID} {
		if _, taken := members[name]; taken {
			return turn{}, invalid(field+"metadata", "may not hold %q, which a field of the message fills", name)
		}
		if value != nil {
			members[name], _ = json.Marshal(*value) // a string has no error
		}
	}
	whole, err := json.Marshal(members)
	if err != nil {
		return turn{}, fmt.Errorf("metadata of a message: %w", err)
	}
	meta, err := checkMetadata(field+"metadata", whole)
	if err != nil {
		return turn{}, err
	}
	occurred, err := checkTime(field+"occurredAt", m.OccurredAt)
	if err != nil {
		return turn{}, err
	}
	t := turn{text: text{content: *m.Content, container: container, metadata: meta, occurred: occurred}, named: m.ID != nil}
	t.key = port.ContentKey{Container: container, Hash: messageKey(m)}
	return t, nil
}

// messageKey is what a message is known by among the memories of its container. No content
// can hold a NUL, so that it is no other memory's.
func messageKey(m *Message) [32]byte {
	if m.ID != nil {
		return sha256.Sum256([]byte("\x00message\x00" + *m.ID))
	}
	content := contentKey(*m.Content)
	if m.apart != "" {
		return sha256.Sum256([]byte("\x00said by " + m.Role + "\x00" + string(content[:]) + m.apart))
	}
	return sha256.Sum256([]byte("\x00said by " + m.Role + "\x00" + string(content[:])))
}

// EndUser is for keys limited to one end user.
func (in *Remember) EndUser() string { return in.EndUserID }

// Units counts the messages against the write rate.
func (in *Remember) Units() int { return len(in.Messages) }

// The outcomes of a message. They are those of records where these have one.
const (
	messageCreated   = outcomeCreated
	messageUpdated   = outcomeUpdated
	messageUnchanged = outcomeUnchanged
)

// Remembered answers a Remember, one result for each message in their order.
type Remembered struct {
	Success bool             `json:"success"`
	Results []MessageOutcome `json:"results" doc:"one for each message, in the order of the call"`
}

// MessageOutcome is what became of a message.
type MessageOutcome struct {
	Memory  Ref    `json:"memory" doc:"the memory that keeps the message"`
	Outcome string `json:"outcome" enum:"created,updated,unchanged" doc:"unchanged: it was there already"`
}

// Remember stores the messages of a conversation, all or none. Those that are there already
// stay as they are; one whose id is there with other content, metadata or time is replaced.
func (s *Service) Remember(ctx context.Context, in Remember) (Remembered, error) {
	p := partition(ctx, in.EndUserID)
	results, err := ingest.Retry(ctx, func() ([]MessageOutcome, error) { return s.tryRemember(ctx, p, in.turns) })
	if err != nil {
		return Remembered{}, err
	}
	return Remembered{Success: true, Results: results}, nil
}

// messagePlan is what is to be done for messages, on one state of the store.
type messagePlan struct {
	known map[port.ContentKey]string         // the memories that keep messages
	heads map[string]port.DocumentHead       // of those, by id, that messages with ids have
	fresh map[port.ContentKey]*pendingMemory // what is to be written
	order []*pendingMemory                   // the same, in the order of the call
	olds  map[string]*pendingMemory          // of these, the ones that replace a memory, by its id
}

// added is how many memories a plan adds.
func (m *messagePlan) added() int { return len(m.order) - len(m.olds) }

// planMessages compares messages with what is stored.
func (s *Service) planMessages(ctx context.Context, r reader, p port.Partition, exists bool, turns []turn,
	now time.Time) (*messagePlan, error) {
	plan := &messagePlan{fresh: map[port.ContentKey]*pendingMemory{}, olds: map[string]*pendingMemory{}}
	if exists {
		keys := make([]port.ContentKey, len(turns))
		for i, t := range turns {
			keys[i] = t.key
		}
		var err error
		if plan.known, err = r.MemoriesByContent(ctx, p, keys); err != nil {
			return nil, err
		}
		if len(plan.known) > 0 {
			stored, err := r.Documents(ctx, p, slices.Sorted(maps.Values(plan.known)), 0)
			if err != nil {
				return nil, err
			}
			plan.heads = make(map[string]port.DocumentHead, len(stored))
			for _, d := range stored {
				plan.heads[d.ID] = d
			}
		}
	}
	for _, t := range turns {
		id := plan.known[t.key]
		head := plan.heads[id]
		if plan.fresh[t.key] != nil || id != "" && (!t.named || t.keeps(head)) {
			continue
		}
		n := &pendingMemory{text: t.text, id: id, created: creationTime(t.occurred, now)}
		if id != "" {
			plan.olds[id] = n
			if t.occurred.IsZero() {
				n.created = head.CreatedAt
			}
		}
		plan.fresh[t.key] = n
		plan.order = append(plan.order, n)
	}
	return plan, nil
}

// keeps reports whether a stored memory is the turn as it is.
func (t *turn) keeps(d port.DocumentHead) bool {
	return d.TextHash == sha256.Sum256([]byte(t.content)) && d.MetadataHash == t.metadata.Hash() &&
		(t.occurred.IsZero() || d.CreatedAt.Equal(creationTime(t.occurred, d.CreatedAt)))
}

func (s *Service) tryRemember(ctx context.Context, p port.Partition, turns []turn) ([]MessageOutcome, error) {
	now := s.now()
	var ns port.PartitionRow
	var plan *messagePlan
	var followers []string
	err := s.store.View(ctx, func(r snapshot) (err error) {
		var exists bool
		if ns, exists, err = s.readForWrite(ctx, r, p); err != nil {
			return err
		}
		if plan, err = s.planMessages(ctx, r, p, exists, turns, now); err != nil || len(plan.order) == 0 {
			return err
		}
		if err := s.checkModels(ns); err != nil {
			return err
		}
		followers, err = findPrecedingTurns(ctx, r, p, exists, plan.order)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, n := range plan.order { // a turn after one that is replaced follows what that one says now
		if n.preceding != nil && n.preceding.id != "" && plan.olds[n.preceding.id] != nil {
			said := plan.olds[n.preceding.id]
			n.preceding = &precedingTurn{key: said.key, text: said.content}
		}
	}
	if err := checkQuota(ctx, ns, plan.added()); err != nil {
		return nil, err
	}
	models := s.encoders.For(ns)
	if err := s.encode(ctx, models, ns.Sparse, plan.order); err != nil {
		return nil, err
	}
	out, toRelink, err := s.commitMessages(ctx, p, models, ns.Sparse, turns, plan, now)
	if err == nil {
		s.relink(ctx, p, append(toRelink, followers...))
	}
	return out, err
}

// commitMessages writes what is planned if the store is still as it was planned for;
// toRelink are the turns that may have another one before them now.
func (s *Service) commitMessages(ctx context.Context, p port.Partition, models *ingest.Encoder, sparse bool, turns []turn,
	planned *messagePlan, now time.Time) (out []MessageOutcome, toRelink []string, err error) {
	leave := s.work.enter(p)
	defer leave()
	err = s.changes.Write(ctx, ingest.CauseWrite, func(tx *ingest.Tx) error {
		out, toRelink = make([]MessageOutcome, len(turns)), nil
		ns, exists, err := s.readForWrite(ctx, tx, p)
		if err != nil {
			return err
		}
		plan, err := s.planMessages(ctx, tx, p, exists, turns, now)
		if err != nil {
			return err
		}
		if !plan.same(planned) || ns.Sparse != sparse || len(plan.order) > 0 && !s.encoders.For(ns).SameModels(models) {
			return ingest.ErrMoved
		}
		ids := plan.known
		if len(plan.order) > 0 {
			if same, err := precedingStands(ctx, tx, p, exists, planned.order); err != nil || !same {
				return cmp.Or(err, ingest.ErrMoved)
			}
			if err := checkQuota(ctx, ns, plan.added()); err != nil {
				return err
			}
			pinned, err := s.ensurePartition(ctx, tx, p, ns, exists)
			if err != nil {
				return err
			}
			if ids, toRelink, err = s.putMessages(ctx, tx, pinned, plan, planned.order, now); err != nil {
				return err
			}
		}
		for i, t := range turns {
			out[i] = MessageOutcome{Memory: Ref{ids[t.key]}, Outcome: messageUnchanged}
			if n := plan.fresh[t.key]; n != nil {
				out[i].Outcome = messageCreated
				if n.id != "" {
					out[i].Outcome = messageUpdated
				}
				delete(plan.fresh, t.key) // of the same message again
			}
		}
		return nil
	})
	if err != nil && !errors.As(err, new(ingest.NotSearchable)) {
		return nil, nil, err
	}
	return out, toRelink, err
}

// same reports whether two plans write the same.
func (m *messagePlan) same(as *messagePlan) bool {
	return slices.EqualFunc(m.order, as.order, func(a, b *pendingMemory) bool {
		return a.key == b.key && a.id == b.id && a.created.Equal(b.created)
	})
}

// putMessages writes encoded messages and answers the memory of each message by its key.
func (s *Service) putMessages(ctx context.Context, tx *ingest.Tx, pinned port.Partition, plan *messagePlan,
	list []*pendingMemory, now time.Time) (ids map[port.ContentKey]string, toRelink []string, err error) {
	if ids = maps.Clone(plan.known); ids == nil {
		ids = map[port.ContentKey]string{}
	}
	var replaced []string
	writes := make([]port.DocumentWrite, len(list))
	for i, n := range list {
		id := n.id
		if id == "" {
			if id, err = newID("mem_"); err != nil {
				return nil, nil, err
			}
		}
		ids[n.key] = id
		d := s.document(n.text, *n.encoded, id, ident.From(ctx).KeyID, now)
		d.Document.ContentKey, d.Document.CreatedAt = n.key.Hash, n.created
		if n.id != "" {
			replaced = append(replaced, id)
			d.Document.UpdatedAt = notBefore(now, plan.heads[id].UpdatedAt)
		}
		writes[i] = d
	}
	if len(replaced) > 0 {
		released, err := restoreOwnVectors(ctx, tx, pinned, replaced)
		if err != nil {
			return nil, nil, err
		}
		toRelink = append(replaced, released...)
	}
	if err := tx.Put(ctx, pinned, now, writes); err != nil {
		return nil, nil, err
	}
	var links []port.ContextLink
	for _, n := range list {
		l := port.ContextLink{ID: ids[n.key]}
		if n.preceding != nil {
			l.Context, l.Own = cmp.Or(n.preceding.id, ids[n.preceding.key]), n.own
		}
		if n.preceding != nil || n.id != "" { // a link of before goes
			links = append(links, l)
		}
	}
	return ids, toRelink, tx.PutContextLinks(ctx, pinned, links)
}
