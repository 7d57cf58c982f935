package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"

	client "github.com/sashabaranov/go-openai"

	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/core/port"
)

// Model is a port.Synthesizer over chat completions.
type Model struct {
	*remote.Caller
	config Config
	info   port.ModelInfo
	client *client.Client
}

// Open makes the client of POST /chat/completions; the server is not asked
// before the first answer, so that one which is down does not keep Mneme from
// starting. id is the operator's name for the model; "": the server's.
func Open(id string, c Config, log *slog.Logger) (*Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	about := c.model(id)
	about.Window = 0 // the server decides what fits
	info := about.Info()
	caller, err := remote.Open(info.ID, port.TaskSynthesize, c.endpoint(), log)
	if err != nil {
		return nil, err
	}
	settings := client.DefaultConfig("") // the caller sends the key
	settings.BaseURL = strings.TrimRight(c.BaseURL, "/")
	settings.HTTPClient = caller.Doer()
	return &Model{Caller: caller, config: c, info: info, client: client.NewClientWithConfig(settings)}, nil
}

// Info describes the model.
func (m *Model) Info() port.ModelInfo { return m.info }

// Synthesize implements port.Synthesizer. The answer is streamed, so that a
// caller who leaves stops the work at the other end.
func (m *Model) Synthesize(ctx context.Context, q port.Question) (port.Synthesis, error) {
	ctx, cancel := m.Begin(ctx, port.Query)
	defer cancel()
	out, err := m.stream(ctx, q)
	if err != nil {
		return port.Synthesis{}, m.Fault(ctx, err)
	}
	return out, nil
}

func (m *Model) stream(ctx context.Context, q port.Question) (port.Synthesis, error) {
	system, user, err := remote.Prompt(q)
	if err != nil {
		return port.Synthesis{}, err
	}
	request := client.ChatCompletionRequest{
		Model:         m.config.Model,
		Stream:        true,
		StreamOptions: &client.StreamOptions{IncludeUsage: true},
		Messages: []client.ChatCompletionMessage{{Role: client.ChatMessageRoleSystem, Content: system},
			{Role: client.ChatMessageRoleUser, Content: user}},
	}
	if m.config.TokensField == "max_tokens" {
		request.MaxTokens = q.MaxTokens //nolint:staticcheck // deprecated by OpenAI, and all that other servers know
	} else {
		request.MaxCompletionTokens = q.MaxTokens
	}
	stream, err := m.client.CreateChatCompletionStream(ctx, request)
	if err != nil {
		return port.Synthesis{}, err
	}
	defer func() { _ = stream.Close() }() // what was read counts
	var out port.Synthesis
	text := remote.Writing{MaxTokens: q.MaxTokens}
	ended := false
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return port.Synthesis{}, streamError(err)
		}
		if part.Usage != nil {
			out.InputTokens, out.OutputTokens = part.Usage.PromptTokens, part.Usage.CompletionTokens
		}
		for _, c := range part.Choices {
			if c.Index != 0 {
				continue
			}
			if err := text.Add(c.Delta.Content); err != nil {
				return port.Synthesis{}, err
			}
			ended = ended || c.FinishReason != ""
		}
	}
	if !ended {
		return port.Synthesis{}, remote.InvalidAnswer("the answer broke off")
	}
	out.Text = text.Answer()
	return out, nil
}

// streamError translates the error of a stream that had begun. A part that the library
// could not read, or an error that the server sent instead of the rest, becomes a failure
// of the server; a lost connection stays as it is.
func streamError(err error) error {
	var api *client.APIError
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	if errors.As(err, &api) || errors.As(err, &syntax) || errors.As(err, &shape) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, client.ErrTooManyEmptyStreamMessages) {
		return remote.InvalidAnswer("%v", err)
	}
	return err
}

var _ port.Synthesizer = (*Model)(nil)
