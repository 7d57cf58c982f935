package mem0

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/op"
)

// Nothing is the request of a call without parameters.
type Nothing struct{}

// Pong answers the call that the clients begin with.
type Pong struct {
	Status    string  `json:"status" enum:"ok"`
	OrgID     string  `json:"org_id" doc:"name of the organization"`
	ProjectID string  `json:"project_id" doc:"id of the integration"`
	UserEmail *string `json:"user_email" doc:"null: keys are of no person"`
}

// Ping says whose key it is.
func (s *Service) Ping(ctx context.Context, _ Nothing) (Pong, error) {
	who := ident.From(ctx)
	return Pong{Status: "ok", OrgID: who.OrgName, ProjectID: who.Integration}, nil
}

func pingOperations() []op.Op[*Service] {
	s := spec("ping", "GET", "/v1/ping", "Check a key")
	s.Description, s.Scopes = "The first call of mem0's clients.", nil
	return []op.Op[*Service]{op.Define(s, (*Service).Ping)}
}

// Object is any JSON object.
type Object json.RawMessage

// UnmarshalJSON takes an object.
func (o *Object) UnmarshalJSON(b []byte) error {
	if b[0] != '{' {
		return errors.New("must be an object")
	}
	*o = bytes.Clone(b)
	return nil
}

// MarshalJSON gives it.
func (o Object) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// JSONSchema implements op.Schemer.
func (o *Object) JSONSchema() string {
	return `{"type": "object", "additionalProperties": true, "description": "any object"}`
}

// Moment is a time: Unix seconds, or a date-time.
type Moment struct{ time.Time }

var errMoment = errors.New("must be Unix seconds, or an RFC 3339 date-time")

// UnmarshalJSON reads either form.
func (m *Moment) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil && b[0] == '"' {
		t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(text)) // t and z may be small
		if err != nil {
			return errMoment
		}
		m.Time = t.UTC()
		return nil
	}
	seconds, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.Abs(seconds) > 62135596800 { // years 1 to 9999, about
		return errMoment
	}
	m.Time = time.UnixMilli(int64(math.Round(seconds * 1000))).UTC()
	return nil
}

// MarshalJSON gives the date-time.
func (m Moment) MarshalJSON() ([]byte, error) { return m.Time.MarshalJSON() }

// JSONSchema implements op.Schemer.
func (m *Moment) JSONSchema() string {
	return `{"title": "Moment", "description": "Unix seconds, or an RFC 3339 date-time.",
		"anyOf": [{"type": "number", "minimum": -62135596800, "maximum": 62135596800},
			{"type": "string", "format": "date-time"}]}`
}

// text is the time as the memory API takes it; nil for none.
func (m *Moment) text() *string {
	if m == nil || m.IsZero() {
		return nil
	}
	t := m.Format(time.RFC3339Nano)
	return &t
}

// Content is what a message says: a text, or parts of type text.
type Content string

var errContent = errors.New("must be a string, or an array of parts of type text: nothing here reads pictures or sound")

// UnmarshalJSON reads either form.
func (c *Content) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, (*string)(c))
	}
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if json.Unmarshal(b, &parts) != nil || len(parts) == 0 {
		return errContent
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		if p.Type != "text" || p.Text == nil {
			return errContent
		}
		texts[i] = *p.Text
	}
	*c = Content(strings.Join(texts, "\n"))
	return nil
}

// JSONSchema implements op.Schemer.
func (c *Content) JSONSchema() string {
	return `{"title": "Message content", "description": "A text, or parts of type text, which are joined by line breaks.",
		"anyOf": [
		{"type": "string", "pattern": "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$"},
		{"type": "array", "minItems": 1, "items": {"type": "object", "required": ["type", "text"], "additionalProperties": false,
			"properties": {"type": {"type": "string", "enum": ["text"]},
				"text": {"type": "string", "pattern": "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$"}}}}]}`
}

// Message is one turn of a conversation.
type Message struct {
	Role    string  `json:"role" enum:"user,assistant,system,developer,tool" doc:"who speaks"`
	Name    *string `json:"name,omitempty" schema:"Text" minLength:"1" maxLength:"128" doc:"the speaker's name"`
	Content Content `json:"content" doc:"a text, kept as it is"`
}

// Ignored are fields that clients send and that change nothing here.
type Ignored struct {
	Version      *string `json:"version,omitempty" enum:"v1,v2,v3" doc:"without effect"`
	OutputFormat *string `json:"output_format,omitempty" enum:"v1.0,v1.1" doc:"without effect: answers are those of v1.1"`
	Source       *string `json:"source,omitempty" maxLength:"128" doc:"without effect"`
}

// AddRequest is the body of POST /v3/memories/add.
type AddRequest struct {
	Entities
	Messages  []Message       `json:"messages" minItems:"1" maxItems:"100" doc:"each becomes a memory, kept as it is; at most 1 MiB of content together"`
	Filters   *Filters        `json:"filters,omitempty" doc:"whose memories they become, as in the fields beside it; no other conditions"`
	Metadata  json.RawMessage `json:"metadata,omitempty" schema:"Metadata" doc:"of each memory; comes back with results"`
	Timestamp *Moment         `json:"timestamp,omitempty" doc:"when it was said; default: now"`
	Infer     *bool           `json:"infer,omitempty" default:"false" doc:"true is refused: it needs a language model, and none runs here"`
	AsyncMode *bool           `json:"async_mode,omitempty" doc:"without effect: what is answered is stored and found"`
	Ignored

	CustomInstructions      *string  `json:"custom_instructions,omitempty" doc:"refused: needs a language model"`
	AgentCustomInstructions *string  `json:"agent_custom_instructions,omitempty" doc:"refused: needs a language model"`
	CustomCategories        []Object `json:"custom_categories,omitempty" doc:"refused: needs a language model"`
	StructuredDataSchema    *Object  `json:"structured_data_schema,omitempty" doc:"refused: needs a language model"`
	ExpirationDate          *string  `json:"expiration_date,omitempty" doc:"refused: memories stay until they are deleted"`

	ids      ids
	remember memory.Remember
}

// Why what a call asks for is refused.
const (
	needsModel = "needs a language model, and none runs here. Leave it out: messages are kept as they are"
	noExpiry   = "is not supported: memories stay until they are deleted"
)

// Validate makes a Remember of the call.
func (in *AddRequest) Validate() error {
	for _, asks := range []struct {
		field string
		given bool
	}{
		{"infer", in.Infer != nil && *in.Infer},
		{"custom_instructions", in.CustomInstructions != nil},
		{"agent_custom_instructions", in.AgentCustomInstructions != nil},
		{"custom_categories", in.CustomCategories != nil},
		{"structured_data_schema", in.StructuredDataSchema != nil},
	} {
		if asks.given {
			return invalid(asks.field, needsModel)
		}
	}
	if in.ExpirationDate != nil {
		return invalid("expiration_date", noExpiry)
	}
	in.ids = in.names()
	if f := in.Filters; f != nil {
		if len(f.conditions) > 0 || f.after != nil || f.before != nil {
			return invalid("filters", "may only name user_id, agent_id, app_id and run_id where memories are added")
		}
		if err := in.ids.add(f.ids); err != nil {
			return err
		}
	}
	if err := in.ids.check(); err != nil {
		return err
	}
	metadata, err := in.ids.label(in.Metadata)
	if err != nil {
		return err
	}
	in.remember = memory.Remember{EndUserID: in.ids.endUser(), Messages: make([]memory.Message, len(in.Messages))}
	if id, ok := in.ids[run]; ok {
		in.remember.ContainerTag = memory.Tag{Value: id, Given: true}
	}
	for i, m := range in.Messages {
		content := string(m.Content)
		in.remember.Messages[i] = memory.Message{Role: m.Role, Name: m.Name, Content: &content, Metadata: metadata,
			OccurredAt: in.Timestamp.text()}
		in.remember.Messages[i].KeepApart(scopeOf(metadata))
	}
	return op.Check(&in.remember)
}

// EndUser is for keys limited to one end user.
func (in *AddRequest) EndUser() string { return in.ids.endUser() }

// Units counts the messages against the write rate.
func (in *AddRequest) Units() int { return len(in.Messages) }

// Added answers a call that adds memories.
type Added struct {
	Message string  `json:"message" doc:"how they were kept"`
	Results []Event `json:"results" doc:"one for each message, in the order of the call"`
}

// Event is what became of a message.
type Event struct {
	ID     string `json:"id" doc:"id of the memory, which names its end user"`
	Memory string `json:"memory" doc:"the message, as it is"`
	Event  string `json:"event" enum:"ADD,NOOP" doc:"NOOP: it was there already"`
}

// Add keeps messages as they are, all or none.
func (s *Service) Add(ctx context.Context, in AddRequest) (Added, error) {
	done, err := s.memories.Remember(ctx, in.remember)
	if err != nil {
		return Added{}, err
	}
	out := Added{Message: "Kept as they are: no language model runs here, so nothing is inferred.",
		Results: make([]Event, len(done.Results))}
	for i, r := range done.Results {
		out.Results[i] = Event{ID: idOf(in.EndUser(), r.Memory.ID), Memory: string(in.Messages[i].Content), Event: "NOOP"}
		if r.Outcome == "created" {
			out.Results[i].Event = "ADD"
		}
	}
	return out, nil
}

func addOperations() []op.Op[*Service] {
	s := with(writing("add", "POST", "/v3/memories/add", "Add messages as memories"), fault.InvalidEndUserID,
		fault.InvalidContainerTag, fault.InvalidFilter, fault.QuotaExceeded, fault.Upstream)
	s.Description = "Each message is kept as it is. Sending one again changes nothing."
	s.MaxBody, s.Timeout = addBody, severalFor
	return []op.Op[*Service]{op.Define(s, (*Service).Add)}
}
