package remotetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func teiError(w http.ResponseWriter, status int, code, message string) {
	if status == http.StatusUnauthorized { // the router answers this one, without a body
		w.WriteHeader(status)
		return
	}
	reply(w, status, map[string]any{"error": message, "error_type": code})
}

// TEI serves /info, /embed, /embed_sparse, /rerank and /tokenize as Text
// Embeddings Inference 1.9: 32 texts a call, texts beyond the window refused
// unless truncate is set, 424 for what the model cannot do. Its tokenizer gives
// one token a word, 101 before and 102 after.
func TEI(t testing.TB, o Options) *Server {
	o = o.fill()
	if o.Batch == 0 {
		o.Batch = 32
	}
	return start(t, o, map[string]http.HandlerFunc{
		"GET /info": func(w http.ResponseWriter, _ *http.Request) {
			reply(w, http.StatusOK, map[string]any{"model_id": o.Model, "served_model_name": o.Model,
				"model_sha": o.Revision, "model_dtype": "float16",
				"model_type":              map[string]any{"embedding": map[string]any{"pooling": "cls"}},
				"max_concurrent_requests": 512, "max_input_length": o.Window,
				"max_batch_tokens": 16384, "max_client_batch_size": o.Batch, "auto_truncate": false,
				"tokenization_workers": 2, "version": "1.9.3"})
		},
		"POST /embed":        func(w http.ResponseWriter, r *http.Request) { teiEmbed(w, r, o, false) },
		"POST /embed_sparse": func(w http.ResponseWriter, r *http.Request) { teiEmbed(w, r, o, true) },
		"POST /rerank":       func(w http.ResponseWriter, r *http.Request) { teiRerank(w, r, o) },
		"POST /tokenize":     func(w http.ResponseWriter, r *http.Request) { teiTokenize(w, r, o) },
	}, teiError)
}

// teiTexts checks and cuts a call's texts; it answers for bad ones.
func teiTexts(w http.ResponseWriter, o Options, texts []string, around int, truncate bool) bool {
	if len(texts) == 0 {
		teiError(w, http.StatusBadRequest, "empty", "`inputs` cannot be empty")
		return false
	}
	if len(texts) > o.Batch {
		teiError(w, http.StatusUnprocessableEntity, "validation",
			fmt.Sprintf("batch size %d > maximum allowed batch size %d", len(texts), o.Batch))
		return false
	}
	for i, text := range texts {
		if text == "" {
			teiError(w, http.StatusBadRequest, "empty", "`inputs` cannot be empty")
			return false
		}
		if n := count(text) + around; n > o.Window {
			if !truncate {
				teiError(w, http.StatusUnprocessableEntity, "validation",
					fmt.Sprintf("`inputs` must have less than %d tokens. Given: %d", o.Window, n))
				return false
			}
			texts[i] = cut(text, max(1, o.Window-around))
		}
	}
	return true
}

// kind tells what a prompt's name asks for; it answers for an unknown one.
func prompt(w http.ResponseWriter, name string) (query, ok bool) {
	if name != "" && name != "query" && name != "passage" {
		teiError(w, http.StatusUnprocessableEntity, "validation",
			fmt.Sprintf("default prompt name %q was not found in the configured prompts", name))
		return false, false
	}
	return name == "query", true
}

func teiEmbed(w http.ResponseWriter, r *http.Request, o Options, sparse bool) {
	var in struct {
		Inputs     []string `json:"inputs"`
		Truncate   bool     `json:"truncate"`
		Direction  string   `json:"truncation_direction"`
		PromptName string   `json:"prompt_name"`
		Normalize  *bool    `json:"normalize"`
		Dimensions int      `json:"dimensions"`
	}
	if !decode(w, r, &in, teiError) {
		return
	}
	if sparse != (o.Kind == "sparse") || o.Kind == "reranker" {
		teiError(w, http.StatusFailedDependency, "backend", "model is not an embedding model of that kind")
		return
	}
	query, ok := prompt(w, in.PromptName)
	if !ok || !teiTexts(w, o, in.Inputs, 2, in.Truncate) {
		return
	}
	if !sparse {
		vectors, err := o.Computes.Embed(r.Context(), query, in.Inputs)
		if err != nil {
			teiError(w, http.StatusFailedDependency, "backend", err.Error())
			return
		}
		if in.Dimensions > 0 {
			for i := range vectors {
				vectors[i] = vectors[i][:min(in.Dimensions, len(vectors[i]))]
			}
		}
		reply(w, http.StatusOK, vectors)
		return
	}
	rows, err := o.Computes.Sparse(r.Context(), query, in.Inputs)
	if err != nil {
		teiError(w, http.StatusFailedDependency, "backend", err.Error())
		return
	}
	out := make([][]map[string]any, len(rows))
	for i, row := range rows {
		out[i] = []map[string]any{}
		for index, value := range row { // in no order, as a map's
			out[i] = append(out[i], map[string]any{"index": index, "value": value})
		}
	}
	reply(w, http.StatusOK, out)
}

func teiRerank(w http.ResponseWriter, r *http.Request, o Options) {
	var in struct {
		Query      string   `json:"query"`
		Texts      []string `json:"texts"`
		Truncate   bool     `json:"truncate"`
		Direction  string   `json:"truncation_direction"`
		RawScores  bool     `json:"raw_scores"`
		ReturnText bool     `json:"return_text"`
	}
	if !decode(w, r, &in, teiError) {
		return
	}
	if o.Kind != "reranker" {
		teiError(w, http.StatusFailedDependency, "backend", "model is not a re-ranker model")
		return
	}
	if !teiTexts(w, o, in.Texts, count(in.Query)+3, in.Truncate) {
		return
	}
	logits, err := o.Computes.Logits(r.Context(), in.Query, in.Texts)
	if err != nil {
		teiError(w, http.StatusFailedDependency, "backend", err.Error())
		return
	}
	type rank struct {
		Index int     `json:"index"`
		Score float64 `json:"score"`
	}
	ranks := make([]rank, len(logits))
	for i, x := range logits {
		if !in.RawScores {
			x = logistic(x)
		}
		ranks[i] = rank{i, x}
	}
	slices.SortStableFunc(ranks, func(a, b rank) int { return best(a.Score, b.Score) })
	reply(w, http.StatusOK, ranks)
}

// best orders the higher score first.
func best(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

func teiTokenize(w http.ResponseWriter, r *http.Request, o Options) {
	var in struct {
		Inputs           []string `json:"inputs"`
		AddSpecialTokens *bool    `json:"add_special_tokens"`
		PromptName       string   `json:"prompt_name"`
	}
	if !decode(w, r, &in, teiError) {
		return
	}
	if _, ok := prompt(w, in.PromptName); !ok || !teiTexts(w, o, slices.Clone(in.Inputs), 0, true) {
		return
	}
	out := make([][]map[string]any, len(in.Inputs))
	for i, text := range in.Inputs {
		around := func(id uint32, name string) {
			if in.AddSpecialTokens == nil || *in.AddSpecialTokens {
				out[i] = append(out[i], map[string]any{"id": id, "text": name, "special": true, "start": nil, "stop": nil})
			}
		}
		around(101, "[CLS]")
		for _, word := range words(text) {
			at := strings.Index(strings.ToLower(text), word)
			out[i] = append(out[i], map[string]any{"id": term(word), "text": word, "special": false, "start": at,
				"stop": at + len(word)})
		}
		around(102, "[SEP]")
	}
	reply(w, http.StatusOK, out)
}
