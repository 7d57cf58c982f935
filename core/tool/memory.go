package tool

import (
	"cmp"
	"context"
	"iter"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/op"
)

// User is the end user whose memories a call is about: that of the connection's URL, of its
// header, of the key, or of the argument. Where the connection or the key names one, the
// argument may not name another.
type User struct {
	Pinned    string `query:"endUserId" json:"-" fault:"invalid_end_user_id"`
	Header    string `header:"X-Mneme-End-User" json:"-" fault:"invalid_end_user_id"`
	EndUserID string `json:"end_user_id,omitempty" fault:"invalid_end_user_id" doc:"the user"`

	key string // that of the key; "": it has none
}

// AssumeEndUser implements op.EndUserAssuming.
func (u *User) AssumeEndUser(id string) { u.key = id }

// EndUser implements op.EndUserScoped; "": none is named.
func (u *User) EndUser() string { return cmp.Or(u.Pinned, u.Header, u.key, u.EndUserID) }

// of is the end user of a call.
func (u *User) of(ctx context.Context) (string, error) {
	u.AssumeEndUser(ident.From(ctx).EndUser)
	id := u.EndUser()
	switch {
	case id == "":
		return "", fault.Field(fault.InvalidRequest, "end_user_id", "is required")
	case u.EndUserID != "" && u.EndUserID != id, u.key != "" && u.key != id:
		return "", fault.New(fault.Forbidden, "this connection is limited to another end user")
	}
	return id, nil
}

// Context are the arguments of context.
type Context struct {
	User
	Message      string     `json:"message" minLength:"1" maxLength:"8192" doc:"what is to be answered"`
	Conversation memory.Tag `json:"conversation,omitzero" fault:"invalid_container_tag" schema:"ContainerTag" doc:"only what was said in it"`
	MaxTokens    *int       `json:"max_tokens,omitempty" minimum:"16" maximum:"8000" default:"1000"`
}

// Validate refuses a message that says nothing.
func (in *Context) Validate() error {
	if strings.TrimSpace(in.Message) == "" {
		return fault.Field(fault.InvalidRequest, "message", "must not be white space alone")
	}
	return nil
}

// Known answers context.
type Known struct {
	Context   string          `json:"context"`
	Citations []KnownCitation `json:"citations"`
	Omitted   int             `json:"omitted"`
	Degraded  []Degraded      `json:"degraded"`
}

// Missing implements op.Partial.
func (k Known) Missing() iter.Seq2[string, string] {
	return Found{Degraded: k.Degraded}.Missing()
}

// KnownCitation says what stands behind a marker: a memory, which forget takes, or a document,
// namespace/document_id.
type KnownCitation struct {
	Marker int    `json:"marker"`
	Kind   string `json:"kind" enum:"memory,document"`
	ID     string `json:"id"`
}

// Context finds what is known for a message.
func (s *Service) Context(ctx context.Context, in Context) (Known, error) {
	user, err := in.of(ctx)
	if err != nil {
		return Known{}, err
	}
	q := memory.ContextQuery{EndUserID: user, Query: in.Message, MaxTokens: in.MaxTokens,
		Scope: memory.Scope{ContainerTag: in.Conversation}}
	if err := op.Check(&q); err != nil {
		return Known{}, err
	}
	block, err := s.Memories.Context(ctx, q)
	if err != nil {
		return Known{}, err
	}
	out := Known{Context: block.Context, Citations: []KnownCitation{}, Omitted: block.Omitted, Degraded: []Degraded{}}
	for _, d := range block.Degraded {
		out.Degraded = append(out.Degraded, Degraded{d.Part, d.Reason})
	}
	for _, c := range block.Citations {
		out.Citations = append(out.Citations, KnownCitation{c.Marker, "memory", c.MemoryID})
	}
	for _, p := range block.Passages {
		out.Citations = append(out.Citations, KnownCitation{p.Marker, "document", handle{p.Namespace, p.DocumentID}.String()})
	}
	return out, nil
}

// Remember are the arguments of remember.
type Remember struct {
	User
	Conversation memory.Tag       `json:"conversation,omitzero" fault:"invalid_container_tag" schema:"ContainerTag" doc:"what it is called"`
	Messages     []memory.Message `json:"messages" minItems:"1" maxItems:"100"`
}

// Units counts the messages against the write rate.
func (in *Remember) Units() int { return len(in.Messages) }

// Remembered answers remember: what became of each message, in the order of the call.
type Remembered struct {
	Results []RememberedMessage `json:"results"`
}

// RememberedMessage is the memory that keeps a message.
type RememberedMessage struct {
	ID      string `json:"id"`
	Outcome string `json:"outcome" enum:"created,updated,unchanged"`
}

// Remember stores the messages of a conversation, all or none.
func (s *Service) Remember(ctx context.Context, in Remember) (Remembered, error) {
	user, err := in.of(ctx)
	if err != nil {
		return Remembered{}, err
	}
	r := memory.Remember{EndUserID: user, ContainerTag: in.Conversation, Messages: in.Messages}
	if err := op.Check(&r); err != nil {
		return Remembered{}, err
	}
	stored, err := s.Memories.Remember(ctx, r)
	if err != nil {
		return Remembered{}, err
	}
	out := Remembered{Results: make([]RememberedMessage, 0, len(stored.Results))}
	for _, m := range stored.Results {
		out.Results = append(out.Results, RememberedMessage{m.Memory.ID, m.Outcome})
	}
	return out, nil
}

// Forget are the arguments of forget.
type Forget struct {
	User
	IDs []string `json:"ids" minItems:"1" maxItems:"100"`
}

// Forgotten answers forget.
type Forgotten struct {
	Deleted int `json:"deleted"`
}

// Forget deletes memories by id; those that do not exist are passed over.
func (s *Service) Forget(ctx context.Context, in Forget) (Forgotten, error) {
	user, err := in.of(ctx)
	if err != nil {
		return Forgotten{}, err
	}
	d := memory.Delete{EndUserID: user, IDs: in.IDs}
	if err := op.Check(&d); err != nil {
		return Forgotten{}, err
	}
	out, err := s.Memories.Delete(ctx, d)
	return Forgotten{out.Deleted}, err
}
