package remotetest

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// scored writes a provider's rerank results, best first, under a key.
func scored(logits []float64, topN int, score func(float64) float64) []map[string]any {
	order := make([]int, len(logits))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return best(logits[a], logits[b]) })
	if topN > 0 {
		order = order[:min(topN, len(order))]
	}
	out := make([]map[string]any, len(order))
	for i, at := range order {
		out[i] = map[string]any{"index": at, "relevance_score": score(logits[at])}
	}
	return out
}

func cohereError(w http.ResponseWriter, status int, _, message string) {
	reply(w, status, map[string]any{"id": "8c5fa2b0-0000-4000-8000-000000000000", "message": message})
}

// Cohere serves /v2/embed (96 texts, input_type required) and /v2/rerank (1000
// documents, each cut at max_tokens_per_doc). It cuts texts unless truncate is NONE.
func Cohere(t testing.TB, o Options) *Server {
	o = o.fill()
	if o.Batch == 0 {
		o.Batch = 96
	}
	return start(t, o, map[string]http.HandlerFunc{
		"POST /v2/embed":  func(w http.ResponseWriter, r *http.Request) { cohereEmbed(w, r, o) },
		"POST /v2/rerank": func(w http.ResponseWriter, r *http.Request) { cohereRerank(w, r, o) },
	}, cohereError)
}

func cohereEmbed(w http.ResponseWriter, r *http.Request, o Options) {
	var in struct {
		Model           string   `json:"model"`
		InputType       string   `json:"input_type"`
		Texts           []string `json:"texts"`
		EmbeddingTypes  []string `json:"embedding_types"`
		OutputDimension int      `json:"output_dimension"`
		MaxTokens       int      `json:"max_tokens"`
		Truncate        string   `json:"truncate"`
	}
	if !decode(w, r, &in, cohereError) {
		return
	}
	bad := func(format string, args ...any) {
		cohereError(w, http.StatusBadRequest, "", "invalid request: "+fmt.Sprintf(format, args...))
	}
	switch {
	case in.Model != o.Model:
		cohereError(w, http.StatusNotFound, "",
			fmt.Sprintf("model '%s' not found, make sure the correct model ID was used and that you have access to the model.",
				in.Model))
		return
	case !slices.Contains([]string{"search_document", "search_query", "classification", "clustering"}, in.InputType):
		bad("valid input_type must be provided with the provided model")
		return
	case len(in.Texts) == 0 || len(in.Texts) > o.Batch:
		bad("total number of texts must be at most %d - received %d", o.Batch, len(in.Texts))
		return
	case !slices.Contains([]string{"", "NONE", "START", "END"}, in.Truncate):
		bad("truncate must be one of NONE, START or END")
		return
	}
	for i, text := range in.Texts {
		if text == "" {
			bad("texts[%d] must not be empty", i)
			return
		}
		if count(text) > o.Window {
			if in.Truncate == "NONE" {
				bad("text too long: the maximum is %d tokens", o.Window)
				return
			}
			in.Texts[i] = cut(text, o.Window)
		}
	}
	vectors, err := o.Computes.Embed(r.Context(), in.InputType == "search_query", in.Texts)
	if err != nil {
		cohereError(w, http.StatusInternalServerError, "", "internal server error")
		return
	}
	if in.OutputDimension > 0 {
		for i := range vectors {
			vectors[i] = vectors[i][:min(in.OutputDimension, len(vectors[i]))]
		}
	}
	embeddings := map[string]any{}
	for _, kind := range in.EmbeddingTypes {
		if kind == "float" {
			embeddings["float"] = vectors
		}
	}
	reply(w, http.StatusOK, map[string]any{"id": "e1", "embeddings": embeddings, "texts": in.Texts,
		"response_type": "embeddings_by_type",
		"meta": map[string]any{"api_version": map[string]any{"version": "2"},
			"billed_units": map[string]any{"input_tokens": total(in.Texts)}}})
}

func cohereRerank(w http.ResponseWriter, r *http.Request, o Options) {
	var in struct {
		Model     string   `json:"model"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      int      `json:"top_n"`
		MaxTokens int      `json:"max_tokens_per_doc"`
	}
	if !decode(w, r, &in, cohereError) {
		return
	}
	if in.Model != o.Model {
		cohereError(w, http.StatusNotFound, "", fmt.Sprintf("model '%s' not found", in.Model))
		return
	}
	if in.Query == "" || len(in.Documents) == 0 || len(in.Documents) > 1000 {
		cohereError(w, http.StatusBadRequest, "", "invalid request: query must not be empty and documents must hold 1-1000 texts")
		return
	}
	for i, text := range in.Documents {
		if in.MaxTokens > 0 && count(text) > in.MaxTokens {
			in.Documents[i] = cut(text, in.MaxTokens)
		}
	}
	logits, err := o.Computes.Logits(r.Context(), in.Query, in.Documents)
	if err != nil {
		cohereError(w, http.StatusInternalServerError, "", "internal server error")
		return
	}
	reply(w, http.StatusOK, map[string]any{"id": "r1", "results": scored(logits, in.TopN, logistic),
		"meta": map[string]any{"api_version": map[string]any{"version": "2"}, "billed_units": map[string]any{"search_units": 1}}})
}

func detailError(w http.ResponseWriter, status int, _, message string) {
	reply(w, status, map[string]any{"detail": message})
}

// Jina serves /v1/embeddings and /v1/rerank: 2048 texts a call, cut at the window
// where truncate is set, refused otherwise.
func Jina(t testing.TB, o Options) *Server {
	o = o.fill()
	if o.Batch == 0 {
		o.Batch = 2048
	}
	return start(t, o, map[string]http.HandlerFunc{
		"POST /v1/embeddings": func(w http.ResponseWriter, r *http.Request) { jinaEmbed(w, r, o) },
		"POST /v1/rerank":     func(w http.ResponseWriter, r *http.Request) { jinaRerank(w, r, o) },
	}, detailError)
}

func jinaEmbed(w http.ResponseWriter, r *http.Request, o Options) {
	var in struct {
		Model         string   `json:"model"`
		Task          string   `json:"task"`
		Dimensions    int      `json:"dimensions"`
		EmbeddingType string   `json:"embedding_type"`
		Normalized    bool     `json:"normalized"`
		LateChunking  bool     `json:"late_chunking"`
		Truncate      bool     `json:"truncate"`
		Input         []string `json:"input"`
	}
	if !decode(w, r, &in, detailError) {
		return
	}
	bad := func(format string, args ...any) {
		detailError(w, http.StatusUnprocessableEntity, "", fmt.Sprintf(format, args...))
	}
	switch {
	case in.Model != o.Model:
		bad("[model] Input should be '%s'", o.Model)
		return
	case len(in.Input) == 0 || len(in.Input) > o.Batch:
		bad("[input] List should have 1 to %d items", o.Batch)
		return
	case !slices.Contains([]string{"", "retrieval.query", "retrieval.passage", "text-matching", "classification", "separation"},
		in.Task):
		bad("[task] %s is not a task", in.Task)
		return
	}
	for i, text := range in.Input {
		if text == "" {
			bad("[input] String should have at least 1 character")
			return
		}
		if count(text) > o.Window {
			if !in.Truncate {
				detailError(w, http.StatusBadRequest, "", fmt.Sprintf("Input text exceeds maximum length of %d tokens", o.Window))
				return
			}
			in.Input[i] = cut(text, o.Window)
		}
	}
	vectors, err := o.Computes.Embed(r.Context(), in.Task == "retrieval.query", in.Input)
	if err != nil {
		detailError(w, http.StatusInternalServerError, "", err.Error())
		return
	}
	if in.Dimensions > 0 {
		for i := range vectors {
			vectors[i] = vectors[i][:min(in.Dimensions, len(vectors[i]))]
		}
	}
	listed(w, o, vectors, in.EmbeddingType == "base64", total(in.Input))
}

func jinaRerank(w http.ResponseWriter, r *http.Request, o Options) {
	var in struct {
		Model           string   `json:"model"`
		Query           string   `json:"query"`
		Documents       []string `json:"documents"`
		TopN            int      `json:"top_n"`
		ReturnDocuments *bool    `json:"return_documents"`
	}
	if !decode(w, r, &in, detailError) {
		return
	}
	if in.Model != o.Model || in.Query == "" || len(in.Documents) == 0 || len(in.Documents) > o.Batch {
		detailError(w, http.StatusUnprocessableEntity, "",
			fmt.Sprintf("want model %s, a query and 1-%d documents", o.Model, o.Batch))
		return
	}
	logits, err := o.Computes.Logits(r.Context(), in.Query, in.Documents)
	if err != nil {
		detailError(w, http.StatusInternalServerError, "", err.Error())
		return
	}
	results := scored(logits, in.TopN, logistic)
	if in.ReturnDocuments == nil || *in.ReturnDocuments {
		for _, result := range results {
			result["document"] = map[string]any{"text": in.Documents[result["index"].(int)]}
		}
	}
	reply(w, http.StatusOK, map[string]any{"model": o.Model, "object": "list", "results": results,
		"usage": map[string]any{"total_tokens": total(in.Documents)}})
}

// Voyage serves /v1/embeddings (1000 texts, 120,000 tokens) and /v1/rerank (1000
// documents), texts cut at the window unless truncation is false.
func Voyage(t testing.TB, o Options) *Server {
	o = o.fill()
	if o.Batch == 0 {
		o.Batch = 1000
	}
	return start(t, o, map[string]http.HandlerFunc{
		"POST /v1/embeddings": func(w http.ResponseWriter, r *http.Request) { voyageEmbed(w, r, o) },
		"POST /v1/rerank":     func(w http.ResponseWriter, r *http.Request) { voyageRerank(w, r, o) },
	}, detailError)
}

func voyageEmbed(w http.ResponseWriter, r *http.Request, o Options) {
	var in struct {
		Input           []string `json:"input"`
		Model           string   `json:"model"`
		InputType       *string  `json:"input_type"`
		Truncation      *bool    `json:"truncation"`
		OutputDimension int      `json:"output_dimension"`
		OutputDType     string   `json:"output_dtype"`
		EncodingFormat  *string  `json:"encoding_format"`
	}
	if !decode(w, r, &in, detailError) {
		return
	}
	bad := func(format string, args ...any) {
		detailError(w, http.StatusBadRequest, "", fmt.Sprintf(format, args...))
	}
	switch {
	case in.Model != o.Model:
		bad("Model %s is not supported.", in.Model)
		return
	case len(in.Input) == 0 || len(in.Input) > o.Batch:
		bad("The batch size limit is %d. Your batch size is %d.", o.Batch, len(in.Input))
		return
	case in.InputType != nil && *in.InputType != "query" && *in.InputType != "document":
		bad("input_type must be query, document or null")
		return
	case in.EncodingFormat != nil && *in.EncodingFormat != "base64":
		bad("encoding_format must be base64 or null")
		return
	case total(in.Input) > 120_000:
		bad("The max allowed tokens per submitted batch is 120000. Your batch has %d tokens after truncation.", total(in.Input))
		return
	}
	for i, text := range in.Input {
		if text == "" {
			bad("Input cannot contain empty strings or empty lists")
			return
		}
		if count(text) > o.Window {
			if in.Truncation != nil && !*in.Truncation {
				bad("The example at index %d in your batch has too many tokens", i)
				return
			}
			in.Input[i] = cut(text, o.Window)
		}
	}
	vectors, err := o.Computes.Embed(r.Context(), in.InputType != nil && *in.InputType == "query", in.Input)
	if err != nil {
		detailError(w, http.StatusInternalServerError, "", err.Error())
		return
	}
	if in.OutputDimension > 0 {
		for i := range vectors {
			vectors[i] = vectors[i][:min(in.OutputDimension, len(vectors[i]))]
		}
	}
	listed(w, o, vectors, in.EncodingFormat != nil, total(in.Input))
}

func voyageRerank(w http.ResponseWriter, r *http.Request, o Options) {
	var in struct {
		Query           string   `json:"query"`
		Documents       []string `json:"documents"`
		Model           string   `json:"model"`
		TopK            int      `json:"top_k"`
		ReturnDocuments bool     `json:"return_documents"`
		Truncation      *bool    `json:"truncation"`
	}
	if !decode(w, r, &in, detailError) {
		return
	}
	if in.Model != o.Model || in.Query == "" || len(in.Documents) == 0 || len(in.Documents) > 1000 {
		detailError(w, http.StatusBadRequest, "", fmt.Sprintf("want model %s, a query and 1-1000 documents", o.Model))
		return
	}
	logits, err := o.Computes.Logits(r.Context(), in.Query, in.Documents)
	if err != nil {
		detailError(w, http.StatusInternalServerError, "", err.Error())
		return
	}
	reply(w, http.StatusOK, map[string]any{"object": "list", "data": scored(logits, in.TopK, logistic),
		"model": o.Model, "usage": map[string]any{"total_tokens": total(in.Documents)}})
}
