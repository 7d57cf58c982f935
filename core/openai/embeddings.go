package openai

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// MaxInputs is how many texts one call may embed.
const MaxInputs = 2048

// Input is one text or several.
type Input []string

var (
	errInput  = errors.New("must be a string or an array of strings")
	errTokens = errors.New("holds token ids, which are another tokenizer's: send the texts themselves " +
		"(in LangChain's OpenAIEmbeddings: check_embedding_ctx_length=False)")
	errNUL = errors.New("holds a NUL character")
)

// UnmarshalJSON reads either form.
func (in *Input) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*in = Input{one}
		return nil
	}
	var several []json.RawMessage
	if json.Unmarshal(b, &several) != nil {
		return errInput
	}
	if len(several) > MaxInputs {
		return fault.Field(fault.InvalidRequest, "input", "must have at most %d texts", MaxInputs)
	}
	*in = make(Input, len(several))
	for i, v := range several {
		switch {
		case v[0] == '[' || v[0] == '-' || '0' <= v[0] && v[0] <= '9':
			return errTokens
		case json.Unmarshal(v, &(*in)[i]) != nil || v[0] != '"':
			return errInput
		}
	}
	return nil
}

// JSONSchema implements op.Schemer.
func (in *Input) JSONSchema() string {
	const text = `{"type": "string", "minLength": 1, "pattern": "^[^\\u0000]*$"}`
	return `{"anyOf": [` + text + `, {"type": "array", "minItems": 1, "maxItems": ` + strconv.Itoa(MaxInputs) +
		`, "items": ` + text + `}]}`
}

// MarshalJSON writes several.
func (in Input) MarshalJSON() ([]byte, error) { return json.Marshal([]string(in)) }

// EmbeddingsRequest is the body of POST /v1/embeddings.
type EmbeddingsRequest struct {
	Model          string  `json:"model" minLength:"1" doc:"an embedding model of this server, or an alias of one"`
	Input          Input   `json:"input" doc:"one text or up to 2048, each within the model's window; token ids are refused"`
	EncodingFormat *string `json:"encoding_format,omitempty" enum:"float,base64" default:"float" doc:"base64: little-endian float32"`
	Dimensions     *int    `json:"dimensions,omitempty" minimum:"1" maximum:"65536" doc:"the model's own; another is refused"`
	User           *string `json:"user,omitempty" doc:"without effect"`
	// Models whose two sides differ read an instruction before each text. OpenAI's have one
	// side; other servers that speak its protocol call this so.
	InputType *string `json:"input_type,omitempty" enum:"query,passage" default:"passage" doc:"which side of a search the texts stand on; not OpenAI's: clients send it as an extra field"`
}

// Validate refuses texts that cannot be embedded.
func (in *EmbeddingsRequest) Validate() error {
	if len(in.Input) == 0 {
		return fault.Field(fault.InvalidRequest, "input", "must hold a text")
	}
	for i, text := range in.Input {
		at := "input"
		if len(in.Input) > 1 {
			at += "[" + strconv.Itoa(i) + "]"
		}
		switch {
		case text == "":
			return fault.Field(fault.InvalidRequest, at, "is empty")
		case bytes.IndexByte([]byte(text), 0) >= 0:
			return fault.Field(fault.InvalidRequest, at, "%s", errNUL)
		}
	}
	return nil
}

// Units charges a call for each text.
func (in *EmbeddingsRequest) Units() int { return len(in.Input) }

// Vector is an embedding in the form that was asked for.
type Vector struct {
	values []float32
	base64 bool
}

// MarshalJSON writes the values, or their bytes in base64.
func (v Vector) MarshalJSON() ([]byte, error) {
	if v.base64 {
		raw := make([]byte, 0, 4*len(v.values))
		for _, x := range v.values {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
		}
		return strconv.AppendQuote(nil, base64.StdEncoding.EncodeToString(raw)), nil
	}
	out := []byte{'['}
	for i, x := range v.values {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendFloat(out, float64(x), 'g', -1, 32)
	}
	return append(out, ']'), nil
}

// JSONSchema implements op.Schemer.
func (v *Vector) JSONSchema() string {
	return `{"anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "string", "contentEncoding": "base64"}]}`
}

// Embedding is the vector of one text.
type Embedding struct {
	Object    string `json:"object" enum:"embedding"`
	Index     int    `json:"index" minimum:"0" doc:"place of its text in the input"`
	Embedding Vector `json:"embedding" doc:"of unit length"`
}

// Embeddings answers POST /v1/embeddings.
type Embeddings struct {
	Object string      `json:"object" enum:"list"`
	Data   []Embedding `json:"data" doc:"in the order of the input"`
	Model  string      `json:"model" doc:"the model's own name"`
	Usage  Usage       `json:"usage"`
}

// Usage counts what was read.
type Usage struct {
	PromptTokens int `json:"prompt_tokens" minimum:"0" doc:"what the model read, with what it puts around each text"`
	TotalTokens  int `json:"total_tokens" minimum:"0" doc:"the same"`
}

// Embed makes the vectors of texts. A text that is longer than the model's window is
// refused, as OpenAI's API does: a vector of its beginning would look like one of the whole.
func (s *Service) Embed(ctx context.Context, in EmbeddingsRequest) (Embeddings, error) {
	m, err := s.embedderNamed(in.Model)
	if err != nil {
		return Embeddings{}, err
	}
	info := m.Info()
	if in.Dimensions != nil && *in.Dimensions != info.Dimensions {
		return Embeddings{}, fault.Field(fault.InvalidRequest, "dimensions",
			"must be %d, which are those of %s, or absent: its vectors are not cut", info.Dimensions, info.ID)
	}
	as := port.Passage
	if in.InputType != nil && *in.InputType == "query" {
		as = port.Query
	}
	if err := fits(ctx, m, as, in.Input); err != nil {
		return Embeddings{}, err
	}
	v, err := m.Embed(ctx, as, in.Input)
	if err != nil {
		return Embeddings{}, err
	}
	if v.Dim != info.Dimensions || len(v.Data) != v.Dim*len(in.Input) || len(v.Tokens) != len(in.Input) ||
		slices.ContainsFunc(v.Data, func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) }) {
		return Embeddings{}, fault.New(fault.Upstream, "model %s answered something else than a vector for each text", info.ID)
	}
	out := Embeddings{Object: "list", Data: make([]Embedding, len(in.Input)), Model: info.ID}
	encoded := in.EncodingFormat != nil && *in.EncodingFormat == "base64"
	for i := range in.Input {
		out.Data[i] = Embedding{Object: "embedding", Index: i, Embedding: Vector{v.Row(i), encoded}}
		out.Usage.PromptTokens += v.Tokens[i]
	}
	out.Usage.TotalTokens = out.Usage.PromptTokens
	return out, nil
}

// fits refuses a text that the model would cut. Only one that has more bytes than the window
// has tokens can be, and only a model that counts can tell.
func fits(ctx context.Context, m port.Embedder, as port.TextKind, texts []string) error {
	counter, counts := m.(port.TokenCounter)
	window := m.Info().MaxTokens
	if !counts || window <= 0 {
		return nil
	}
	around := 0
	if t, ok := m.(port.Tokenizer); ok {
		none, err := t.TokenIDs(ctx, as, []string{""})
		if err != nil {
			return err
		}
		if len(none) == 1 {
			around = len(none[0])
		}
	}
	var long []int
	var ask []string
	for i, text := range texts {
		if len(text)+around > window {
			long, ask = append(long, i), append(ask, text)
		}
	}
	if len(ask) == 0 {
		return nil
	}
	n, err := counter.CountTokens(ctx, ask)
	if err != nil {
		return err
	}
	for i, at := range long {
		if i < len(n) && n[i]+around > window {
			return fault.Field(fault.InvalidRequest, "input["+strconv.Itoa(at)+"]",
				"has %d tokens; %s reads at most %d. Split the text: a vector of its beginning would not stand for it",
				n[i]+around, m.Info().ID, window)
		}
	}
	return nil
}

func embeddingOperations() []op.Op[*Service] {
	s := spec("embeddings", "POST", "/v1/embeddings", "Make the vectors of texts")
	s.Description = "The call of OpenAI's API. Each text is charged as a write."
	s.Class, s.MaxBody, s.Timeout = op.Write, 8<<20, writeTime
	s.Faults = append(s.Faults, fault.Upstream)
	return []op.Op[*Service]{op.Define(s, (*Service).Embed)}
}
