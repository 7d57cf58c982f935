package console

import (
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/query"
)

// queryModel is the playground: a form, whose address is the query, and its answer, or two of them
// side by side.
type queryModel struct {
	Namespace string
	Query     string
	Sides     []side
	Asked     bool
	Failed    bool // nothing is wrong with what was asked: a part that it needs does not answer
	Compare   bool
	Form      form // of the settings, as they were typed
}

// side is one way to ask, with its answer.
type side struct {
	Name   string // "": there is one alone
	Prefix string // of its fields
	Form   queryForm
	Answer query.Result
	Hits   []hit
}

// queryForm is what was asked, as it was typed.
type queryForm struct {
	Query, Mode, TopK, Filter, MinScore, PerDocument, Neighbors string
	Depth, Reranker, Language                                   string
	WeightVector, WeightKeyword, WeightSparse                   string
	Rerank, Strict                                              bool
}

// Set reports whether anything is asked for that is not usual.
func (f queryForm) Set() bool {
	f.Query = ""
	return f != (queryForm{})
}

func formOfQuery(q url.Values, prefix string) queryForm {
	return queryForm{Query: q.Get("q"), Mode: q.Get(prefix + "mode"), TopK: q.Get(prefix + "top_k"),
		Filter: q.Get(prefix + "filter"), MinScore: q.Get(prefix + "min_score"), PerDocument: q.Get(prefix + "per_document"),
		Neighbors: q.Get(prefix + "neighbors"), Depth: q.Get(prefix + "depth"), Reranker: q.Get(prefix + "reranker"),
		WeightVector: q.Get(prefix + "weight_vector"), WeightKeyword: q.Get(prefix + "weight_keyword"),
		Language:     q.Get(prefix + "language"),
		WeightSparse: q.Get(prefix + "weight_sparse"), Rerank: q.Get(prefix+"rerank") != "", Strict: q.Get(prefix+"strict") != ""}
}

// hit is one found chunk with what each part of the search thought of it.
type hit struct {
	query.Hit
	Place  int
	Pieces []piece
	Lines  []line
	Before []string
	After  []string
	Moved  int // places up from its place in the fused list, where a reranker scored it
	Fields []fact
	Other  int // its place on the other side; 0: it is not there
}

// piece is a part of a text, of which some are words of the query.
type piece struct {
	Text   string
	Marked bool
}

// line is what one list says of a hit.
type line struct {
	Name  string
	Rank  *query.Rank // nil: it is not in the list
	Share int         // of the best score shown, in percent; of no use below 0
}

func (v *visit) query() (view, error) {
	q, n := v.r.URL.Query(), v.r.PathValue("n")
	m := queryModel{Namespace: n, Query: q.Get("q"), Compare: q.Get("compare") != "", Sides: []side{{Form: formOfQuery(q, "")}},
		Form: filled("", q)}
	if m.Compare {
		m.Sides[0].Name = "A"
		m.Sides = append(m.Sides, side{Name: "B", Prefix: "b_", Form: formOfQuery(q, "b_")})
	}
	out := view{title: "Ask " + n, template: "query", section: "namespaces", trail: v.wayTo(n)}
	if strings.TrimSpace(m.Query) == "" {
		v.example(call{op: "namespaces.query", path: map[string]string{"namespace": n},
			body: map[string]any{"query": "a question", "explain": true}})
		out.model = m
		return out, nil
	}
	for i := range m.Sides {
		field, wrong, err := v.ask(n, &m.Sides[i])
		out.status = http.StatusUnprocessableEntity
		if f := fault.From(err); err != nil {
			switch out.status = fault.Status(f.Code); out.status {
			case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			default:
				return view{}, err
			}
			v.logFailure(err)
			m.Failed, wrong = true, f.Message
		}
		if wrong != "" {
			if m.Form.Wrong = sentence(wrong); field != "" {
				m.Form.Field = m.Sides[i].Prefix + field
			}
			if m.Compare {
				m.Form.Wrong = m.Sides[i].Name + ": " + m.Form.Wrong
			}
			out.model = m
			return out, nil
		}
		out.status = 0
	}
	m.Asked = true
	if m.Compare {
		place(m.Sides[0].Hits, m.Sides[1].Hits)
		place(m.Sides[1].Hits, m.Sides[0].Hits)
	}
	out.model = m
	return out, nil
}

// ask asks a namespace in one way; wrong says what of it cannot be asked, and field where that was typed.
func (v *visit) ask(namespace string, s *side) (field, wrong string, err error) {
	body, field, wrong := s.Form.body()
	if wrong != "" {
		return field, wrong, nil
	}
	answer, err := do[query.Result](v, call{op: "namespaces.query", path: map[string]string{"namespace": namespace}, body: body})
	if f := fault.From(err); err != nil {
		if fault.Status(f.Code) != http.StatusBadRequest {
			return "", "", err
		}
		field, _ = f.Details["field"].(string)
		return fieldsOfQuery.Replace(field), f.Message, nil
	}
	s.Answer, s.Hits = answer, hitsOf(answer)
	return "", "", nil
}

// fieldsOfQuery turns the names of the API's fields into those of the form.
var fieldsOfQuery = strings.NewReplacer("max_chunks_per_document", "per_document", "weights.", "weight_", "rerank.depth", "depth",
	"rerank.model", "reranker", "retrievers", "mode")

// place notes of each hit where the other side has it.
func place(hits, other []hit) {
	at := map[string]int{}
	for _, h := range other {
		at[h.DocumentID+"#"+strconv.Itoa(h.ChunkIndex)] = h.Place
	}
	for i, h := range hits {
		hits[i].Other = at[h.DocumentID+"#"+strconv.Itoa(h.ChunkIndex)]
	}
}

// body is the query as the API takes it. What is typed wrong is said, with its field; limits are the API's.
func (f queryForm) body() (body map[string]any, field, wrong string) {
	body = map[string]any{"query": f.Query, "explain": true}
	for _, n := range []struct{ name, field, value, said string }{
		{"top_k", "top_k", f.TopK, "How many"},
		{"max_chunks_per_document", "per_document", f.PerDocument, "Hits of one document"},
		{"neighbors", "neighbors", f.Neighbors, "Chunks around each"},
	} {
		if n.value == "" {
			continue
		}
		i, err := strconv.Atoi(n.value)
		if err != nil {
			return nil, n.field, n.said + " must be a whole number"
		}
		body[n.name] = i
	}
	switch some := strings.Split(f.Mode, ","); {
	case len(some) > 1:
		body["retrievers"] = some
	case f.Mode != "":
		body["mode"] = f.Mode
	}
	if f.Language != "" {
		body["language"] = f.Language
	}
	weights := map[string]float64{}
	for name, typed := range map[string]string{"vector": f.WeightVector, "keyword": f.WeightKeyword, "sparse": f.WeightSparse} {
		if typed == "" {
			continue
		}
		x, err := strconv.ParseFloat(typed, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, "weight_" + name, "The weight of the " + name + " list must be a number"
		}
		weights[name] = x
	}
	if len(weights) > 0 {
		body["weights"] = weights
	}
	if f.Rerank {
		body["rerank"] = true
	}
	how := map[string]any{}
	if f.Depth != "" {
		n, err := strconv.Atoi(f.Depth)
		if err != nil {
			return nil, "depth", "How many to rerank must be a whole number"
		}
		how["depth"] = n
	}
	if f.Reranker != "" {
		how["model"] = f.Reranker
	}
	if len(how) > 0 {
		body["rerank"] = how
	}
	if f.Strict {
		body["strict"] = true
	}
	if f.MinScore != "" {
		x, err := strconv.ParseFloat(f.MinScore, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, "min_score", "The least score must be a number"
		}
		body["min_score"] = x
	}
	if filter := strings.TrimSpace(f.Filter); filter != "" {
		if !json.Valid([]byte(filter)) {
			return nil, "filter", `The filter must be JSON, such as {"lang": "en"}`
		}
		body["filter"] = json.RawMessage(filter)
	}
	return body, "", ""
}

// hitsOf makes hits ready to be shown.
func hitsOf(r query.Result) []hit {
	best := map[string]float64{}
	for _, h := range r.Results {
		for _, l := range linesOf(h.Explain) {
			if l.Rank != nil {
				best[l.Name] = max(best[l.Name], l.Rank.Score)
			}
		}
	}
	out := make([]hit, len(r.Results))
	for i, h := range r.Results {
		x := hit{Hit: h, Place: i + 1, Fields: factsOf(h.Metadata), Before: textsOf(h.Before), After: textsOf(h.After)}
		var spans []query.Span
		if h.Explain != nil && h.Explain.Keyword != nil {
			spans = h.Explain.Keyword.Spans
		}
		if h.Text != nil {
			x.Pieces = cut(*h.Text, spans)
		}
		for _, l := range linesOf(h.Explain) {
			l.Share = -1
			if l.Rank != nil && best[l.Name] > 0 && l.Rank.Score >= 0 {
				l.Share = int(math.Round(100 * l.Rank.Score / best[l.Name]))
			}
			if l.Rank != nil || slices.Contains(r.Retrievers, l.Name) {
				x.Lines = append(x.Lines, l)
			}
		}
		if e := h.Explain; e != nil && e.Rerank != nil && e.Fused != nil {
			x.Moved = e.Fused.Rank - x.Place
		}
		out[i] = x
	}
	return out
}

func linesOf(e *query.Explain) []line {
	if e == nil {
		return nil
	}
	return []line{{Name: "vector", Rank: e.Vector}, {Name: "keyword", Rank: e.Keyword}, {Name: "sparse", Rank: e.Sparse},
		{Name: "fused", Rank: e.Fused}, {Name: "rerank", Rank: e.Rerank}}
}

func textsOf(all []query.Neighbor) (out []string) {
	for _, n := range all {
		if n.Text != nil {
			out = append(out, *n.Text)
		}
	}
	return out
}

// cut parts a text at spans of it. Spans that are out of place are left out: the text is shown
// whole, whatever they say.
func cut(text string, spans []query.Span) []piece {
	var out []piece
	at := 0
	for _, s := range spans {
		if s.Start < at || s.End <= s.Start || s.End > len(text) {
			continue
		}
		if s.Start > at {
			out = append(out, piece{text[at:s.Start], false})
		}
		out = append(out, piece{text[s.Start:s.End], true})
		at = s.End
	}
	if at < len(text) {
		out = append(out, piece{text[at:], false})
	}
	return out
}

// reason says in words why a part was left out of an answer.
func reason(why string) string {
	words := map[string]string{"model_off": "its model is off", "timeout": "it took too long", "error": "it failed",
		"truncated": "it read only the beginning of the query"}
	if w, ok := words[why]; ok {
		return w
	}
	return why
}

// askAgain is the address of the same query with another mode.
func askAgain(f queryForm, mode string) string {
	f.Mode = mode
	q := f.settings()
	q.Set("q", f.Query)
	return "?" + q.Encode()
}

// settings are the fields beside the question that something was typed in, or that are ticked.
func (f queryForm) settings() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"mode": f.Mode, "top_k": f.TopK, "filter": f.Filter, "per_document": f.PerDocument,
		"neighbors": f.Neighbors, "min_score": f.MinScore, "depth": f.Depth, "reranker": f.Reranker, "language": f.Language,
		"weight_vector": f.WeightVector, "weight_keyword": f.WeightKeyword, "weight_sparse": f.WeightSparse} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.Rerank {
		q.Set("rerank", "1")
	}
	if f.Strict {
		q.Set("strict", "1")
	}
	return q
}

// linkedHit is a hit with the address of its document.
type linkedHit struct {
	hit
	Link string
}

func hitOf(f frame, h hit) linkedHit {
	m := f.Page.(queryModel)
	return linkedHit{h, f.Root + "/" + pathOf("o", f.Org, "n", m.Namespace, "documents", h.DocumentID) + "#chunk-" +
		strconv.Itoa(h.ChunkIndex)}
}
