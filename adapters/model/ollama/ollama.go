package ollama

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"

	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/core/port"
)

// Open makes a *remote.Embedder or a *Writer, as the task says. The server is
// not asked before the first call. id is the operator's name for the model; "":
// the server's.
func Open(id string, c Config, log *slog.Logger) (port.Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	info := c.model(id).Info()
	caller, err := remote.Open(info.ID, port.Task(c.Task), c.endpoint(), log)
	if err != nil {
		return nil, err
	}
	if c.Task == string(port.TaskSynthesize) {
		return &Writer{caller, c, info}, nil
	}
	return embedder(caller, c, info), nil
}

// options are the model's parameters that a call may set.
type options struct {
	ContextTokens int      `json:"num_ctx,omitempty"`
	MaxTokens     int      `json:"num_predict,omitempty"`
	Temperature   *float64 `json:"temperature,omitempty"`
}

func (c Config) keepAlive() string {
	if c.KeepAlive == 0 {
		return ""
	}
	return c.KeepAlive.String()
}

type embedRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Truncate   bool     `json:"truncate"`
	Dimensions int      `json:"dimensions,omitempty"`
	Options    *options `json:"options,omitempty"`
	KeepAlive  string   `json:"keep_alive,omitempty"`
}

// embedder speaks POST /api/embed (Ollama API, "Generate Embeddings").
func embedder(caller *remote.Caller, c Config, info port.ModelInfo) *remote.Embedder {
	return &remote.Embedder{
		Caller: caller, About: info,
		Limits:   remote.Limits{Texts: c.Batch, Window: c.MaxInputTokens},
		Prefixes: remote.Prefixes{Query: c.QueryPrefix, Passage: c.PassagePrefix},
		Call: func(ctx context.Context, _ port.TextKind, texts []string) ([]remote.Vector, int, error) {
			in := embedRequest{Model: c.Model, Input: texts, Truncate: true, KeepAlive: c.keepAlive()}
			if c.RequestDimensions {
				in.Dimensions = c.Dimensions
			}
			if c.ContextTokens > 0 {
				in.Options = &options{ContextTokens: c.ContextTokens}
			}
			var out struct {
				Embeddings []remote.Vector `json:"embeddings"`
				Tokens     int             `json:"prompt_eval_count"`
			}
			if err := caller.Post(ctx, "/api/embed", in, &out); err != nil {
				return nil, 0, err
			}
			return out.Embeddings, out.Tokens, nil
		},
	}
}

// Writer is a port.Synthesizer over POST /api/chat (Ollama API, "Generate a
// chat completion").
type Writer struct {
	*remote.Caller
	config Config
	info   port.ModelInfo
}

// Info describes the model.
func (w *Writer) Info() port.ModelInfo { return w.info }

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type chatRequest struct {
	Model     string        `json:"model"`
	Messages  []chatMessage `json:"messages"`
	Stream    bool          `json:"stream"`
	Options   options       `json:"options"`
	KeepAlive string        `json:"keep_alive,omitempty"`
}

// Synthesize implements port.Synthesizer. The answer is streamed, so that a
// caller who leaves stops the work at the other end.
func (w *Writer) Synthesize(ctx context.Context, q port.Question) (port.Synthesis, error) {
	ctx, cancel := w.Begin(ctx, port.Query)
	defer cancel()
	out, err := w.write(ctx, q)
	if err != nil {
		return port.Synthesis{}, w.Fault(ctx, err)
	}
	return out, nil
}

func (w *Writer) write(ctx context.Context, q port.Question) (port.Synthesis, error) {
	system, user, err := remote.Prompt(q)
	if err != nil {
		return port.Synthesis{}, err
	}
	steady := 0.0
	body, err := w.Stream(ctx, "/api/chat", chatRequest{Model: w.config.Model, Stream: true, KeepAlive: w.config.keepAlive(),
		Messages: []chatMessage{{"system", system}, {"user", user}},
		Options:  options{ContextTokens: w.config.ContextTokens, MaxTokens: q.MaxTokens, Temperature: &steady}})
	if err != nil {
		return port.Synthesis{}, err
	}
	defer func() { _ = body.Close() }() // what was read counts
	return readStream(body, q.MaxTokens)
}

// maxLine is how long one part of a streamed answer may be.
const maxLine = 1 << 20

// readStream takes the lines of a streamed answer, each a JSON object.
func readStream(body io.Reader, maxTokens int) (port.Synthesis, error) {
	text := remote.Writing{MaxTokens: maxTokens}
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var part struct {
			Message chatMessage `json:"message"`
			Done    bool        `json:"done"`
			In      int         `json:"prompt_eval_count"`
			Out     int         `json:"eval_count"`
			Error   string      `json:"error"`
		}
		if err := json.Unmarshal(lines.Bytes(), &part); err != nil {
			return port.Synthesis{}, remote.InvalidAnswer("decode a part of the answer: %v", err)
		}
		if part.Error != "" {
			return port.Synthesis{}, remote.InvalidAnswer("the answer ends with an error: %.200s", part.Error)
		}
		if err := text.Add(part.Message.Content); err != nil {
			return port.Synthesis{}, err
		}
		if part.Done {
			return port.Synthesis{Text: text.Answer(), InputTokens: part.In, OutputTokens: part.Out}, nil
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return port.Synthesis{}, remote.InvalidAnswer("a line of more than %d bytes", maxLine)
	case err != nil:
		return port.Synthesis{}, err
	}
	return port.Synthesis{}, remote.InvalidAnswer("the answer broke off")
}

var _ port.Synthesizer = (*Writer)(nil)
