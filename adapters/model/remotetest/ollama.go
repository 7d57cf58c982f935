package remotetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
)

func ollamaError(w http.ResponseWriter, status int, _, message string) {
	reply(w, status, map[string]any{"error": message})
}

// Ollama serves /api/embed and /api/chat. Texts are cut at the window, num_ctx
// where it is smaller, unless truncate is false.
func Ollama(t testing.TB, o Options) *Server {
	o = o.fill()
	return start(t, o, map[string]http.HandlerFunc{
		"POST /api/embed": func(w http.ResponseWriter, r *http.Request) { ollamaEmbed(w, r, o) },
		"POST /api/chat":  func(w http.ResponseWriter, r *http.Request) { ollamaChat(w, r, o) },
	}, ollamaError)
}

type ollamaOptions struct {
	ContextTokens int      `json:"num_ctx"`
	MaxTokens     int      `json:"num_predict"`
	Temperature   *float64 `json:"temperature"`
}

func ollamaEmbed(w http.ResponseWriter, r *http.Request, o Options) {
	var in struct {
		Model      string        `json:"model"`
		Input      []string      `json:"input"`
		Truncate   *bool         `json:"truncate"`
		Dimensions int           `json:"dimensions"`
		Options    ollamaOptions `json:"options"`
		KeepAlive  string        `json:"keep_alive"`
	}
	if !decode(w, r, &in, ollamaError) {
		return
	}
	if in.Model != o.Model {
		ollamaError(w, http.StatusNotFound, "", fmt.Sprintf("model %q not found, try pulling it first", in.Model))
		return
	}
	window := o.Window
	if in.Options.ContextTokens > 0 {
		window = min(window, in.Options.ContextTokens)
	}
	for i, text := range in.Input {
		if count(text) > window {
			if in.Truncate != nil && !*in.Truncate {
				ollamaError(w, http.StatusBadRequest, "", "the input length exceeds the context length")
				return
			}
			in.Input[i] = cut(text, window)
		}
	}
	vectors, err := o.Computes.Embed(r.Context(), false, in.Input)
	if err != nil {
		ollamaError(w, http.StatusInternalServerError, "", err.Error())
		return
	}
	if in.Dimensions > 0 {
		for i := range vectors {
			vectors[i] = vectors[i][:min(in.Dimensions, len(vectors[i]))]
		}
	}
	reply(w, http.StatusOK, map[string]any{"model": o.Model, "embeddings": vectors, "total_duration": 14143917,
		"load_duration": 1019500, "prompt_eval_count": total(in.Input)})
}

func ollamaChat(w http.ResponseWriter, r *http.Request, o Options) {
	var in struct {
		Model     string        `json:"model"`
		Messages  []message     `json:"messages"`
		Stream    *bool         `json:"stream"`
		Tools     []any         `json:"tools"`
		Options   ollamaOptions `json:"options"`
		KeepAlive string        `json:"keep_alive"`
	}
	if !decode(w, r, &in, ollamaError) {
		return
	}
	if in.Model != o.Model {
		ollamaError(w, http.StatusNotFound, "", fmt.Sprintf("model %q not found", in.Model))
		return
	}
	if len(in.Messages) != 2 || in.Stream != nil && !*in.Stream {
		ollamaError(w, http.StatusBadRequest, "", "want a stream of two messages")
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	line := func(more map[string]any) {
		more["model"], more["created_at"] = o.Model, "2026-08-04T08:52:19.385406455Z"
		_ = json.NewEncoder(w).Encode(more) // a caller who left misses it
		w.(http.Flusher).Flush()
	}
	text := answer(in.Messages[1].Content)
	for half := range 2 {
		line(map[string]any{"message": message{"assistant", text[half*len(text)/2 : (half+1)*len(text)/2]}, "done": false})
	}
	line(map[string]any{"message": message{"assistant", ""}, "done": true, "done_reason": "stop", "total_duration": 4883583458,
		"prompt_eval_count": count(in.Messages[1].Content), "eval_count": count(text)})
}
