package remotetest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"testing"
)

func openAIError(w http.ResponseWriter, status int, code, message string) {
	reply(w, status, map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error",
		"param": nil, "code": code}})
}

// listed writes vectors in OpenAI's list shape, the last first: the index
// counts, not the place.
func listed(w http.ResponseWriter, o Options, vectors [][]float32, packed bool, tokens int) {
	data := make([]any, len(vectors))
	for i, v := range vectors {
		var embedding any = v
		if packed {
			raw := make([]byte, 4*len(v))
			for j, x := range v {
				binary.LittleEndian.PutUint32(raw[4*j:], math.Float32bits(x))
			}
			embedding = base64.StdEncoding.EncodeToString(raw)
		}
		data[len(data)-1-i] = map[string]any{"object": "embedding", "index": i, "embedding": embedding}
	}
	reply(w, http.StatusOK, map[string]any{"object": "list", "data": data, "model": o.Model,
		"usage": map[string]any{"prompt_tokens": tokens, "total_tokens": tokens}})
}

func total(texts []string) int {
	n := 0
	for _, t := range texts {
		n += count(t)
	}
	return n
}

// OpenAI serves /v1/embeddings and /v1/chat/completions: at most 2048 inputs,
// none empty, none beyond the window (nothing is cut), 300,000 tokens a call.
func OpenAI(t testing.TB, o Options) *Server {
	o = o.fill()
	if o.Batch == 0 {
		o.Batch = 2048
	}
	return start(t, o, map[string]http.HandlerFunc{
		"POST /v1/embeddings":       func(w http.ResponseWriter, r *http.Request) { openAIEmbeddings(w, r, o) },
		"POST /v1/chat/completions": func(w http.ResponseWriter, r *http.Request) { openAIChat(w, r, o) },
	}, openAIError)
}

func openAIEmbeddings(w http.ResponseWriter, r *http.Request, o Options) {
	var in struct {
		Model          string   `json:"model"`
		Input          []string `json:"input"`
		EncodingFormat string   `json:"encoding_format"`
		Dimensions     *int     `json:"dimensions"`
		User           string   `json:"user"`
	}
	if !decode(w, r, &in, openAIError) {
		return
	}
	bad := func(format string, args ...any) {
		openAIError(w, http.StatusBadRequest, "invalid_request_error", fmt.Sprintf(format, args...))
	}
	switch {
	case in.Model != o.Model:
		openAIError(w, http.StatusNotFound, "model_not_found",
			fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", in.Model))
		return
	case len(in.Input) == 0 || len(in.Input) > o.Batch:
		bad("'input' must have 1 to %d items", o.Batch)
		return
	case in.EncodingFormat != "" && in.EncodingFormat != "float" && in.EncodingFormat != "base64":
		bad("'%s' is not one of ['float', 'base64'] - 'encoding_format'", in.EncodingFormat)
		return
	case in.Dimensions != nil && (*in.Dimensions < 1 || *in.Dimensions > o.Dimensions):
		bad("Invalid value for 'dimensions' = %d. Must be less than or equal to %d.", *in.Dimensions, o.Dimensions)
		return
	case total(in.Input) > 300_000:
		bad("Requested %d tokens, max 300000 tokens per request", total(in.Input))
		return
	}
	for _, text := range in.Input {
		if text == "" {
			bad("'$.input' is invalid: an input cannot be an empty string")
			return
		}
		if n := count(text); n > o.Window {
			bad("This model's maximum context length is %d tokens, however you requested %d tokens. Please reduce your prompt.",
				o.Window, n)
			return
		}
	}
	vectors, err := o.Computes.Embed(r.Context(), false, in.Input)
	if err != nil {
		openAIError(w, http.StatusInternalServerError, "server_error", err.Error())
		return
	}
	if in.Dimensions != nil {
		for i := range vectors {
			vectors[i] = vectors[i][:*in.Dimensions]
		}
	}
	listed(w, o, vectors, in.EncodingFormat == "base64", total(in.Input))
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func openAIChat(w http.ResponseWriter, r *http.Request, o Options) {
	var in struct {
		Model         string         `json:"model"`
		Messages      []message      `json:"messages"`
		Stream        bool           `json:"stream"`
		StreamOptions map[string]any `json:"stream_options"`
		MaxTokens     int            `json:"max_tokens"`
		MaxCompletion int            `json:"max_completion_tokens"`
	}
	if !decode(w, r, &in, openAIError) {
		return
	}
	if in.Model != o.Model || !in.Stream || len(in.Messages) != 2 {
		openAIError(w, http.StatusBadRequest, "invalid_request_error", "want a stream of two messages for model "+o.Model)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(choices []any, usage any) {
		// encodes always
		body, _ := json.Marshal(map[string]any{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
			"model": o.Model, "choices": choices, "usage": usage})
		// a caller who left misses it
		_, _ = fmt.Fprintf(w, "data: %s\n\n", body)
		w.(http.Flusher).Flush()
	}
	choice := func(delta map[string]any, finish any) []any {
		return []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}
	}
	text := answer(in.Messages[1].Content)
	event(choice(map[string]any{"role": "assistant", "content": ""}, nil), nil)
	for half := range 2 {
		event(choice(map[string]any{"content": text[half*len(text)/2 : (half+1)*len(text)/2]}, nil), nil)
	}
	event(choice(map[string]any{}, "stop"), nil)
	event([]any{}, map[string]any{"prompt_tokens": count(in.Messages[1].Content), "completion_tokens": count(text),
		"total_tokens": count(text)})
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n") // likewise
}
