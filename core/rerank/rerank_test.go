package rerank_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/rerank"
)

// object is a JSON object.
type object = coretest.Object

// ask calls a method of a service as a caller of request "req_test" does.
func ask[In, Out any](t *testing.T, fn func(context.Context, In) (Out, error), body object) *coretest.Reply {
	t.Helper()
	return coretest.Ask(ident.WithRequestID(t.Context(), "req_test"), t, fn, body)
}

// texts are so many that "b" answers each query "b" best, then the rest as they stand.
func texts(n int) []string {
	out := slices.Repeat([]string{"x"}, n)
	out[n-1] = "b"
	return out
}

// The score of a text is .05 and .9 of the share of the query's words that it holds
// (coretest.Reranker). Best first, equal ones as they were sent, and no more than
// top_k, which is a hundred where the request has none (docs/contract.md#rerank-fields).
func TestTextsAreAnsweredBestFirst(t *testing.T) {
	s := rerank.New(coretest.Reranker{}, 1000)
	docs := []string{"cold soup", "warm bread", "bread", strings.Repeat("word ", 513)}
	ask(t, s.Rerank, object{"query": "warm bread", "documents": docs}).Answers(`
		{"results": [{"index": 1, "score": 0.95}, {"index": 2, "score": 0.5}, {"index": 0, "score": 0.05},
			{"index": 3, "score": 0.05}], "model": "test-rerank", "truncated": 1}`)
	ask(t, s.Rerank, object{"query": "warm bread", "documents": docs, "top_k": 2, "model": "test-rerank"}).Answers(`
		{"results": [{"index": 1, "score": 0.95}, {"index": 2, "score": 0.5}], "model": "test-rerank", "truncated": 1}`)
	if got := ask(t, s.Rerank, object{"query": "b", "documents": texts(101)}).OK().List("results"); len(got) != 100 ||
		got[0]["index"] != 100.0 || got[99]["index"] != 98.0 {
		t.Errorf("of 101 texts %d are answered: %v", len(got), got)
	}
}

// A query that the model reads only the beginning of counts as a text that was cut, and
// Cohere's and Jina's clients are told by a warning (docs/contract.md#rerank-fields).
func TestACutQueryIsCounted(t *testing.T) {
	s := rerank.New(coretest.Reranker{}, 0)
	long := strings.Repeat("warm ", 1000)
	for _, c := range []struct {
		query string
		docs  []string
		cut   int
	}{
		{"warm bread", []string{"warm bread"}, 0},
		{"warm bread", []string{long, "warm"}, 1},
		{long, []string{"warm bread"}, 1},
		{long, []string{long, "warm"}, 2},
	} {
		body := object{"query": c.query, "documents": c.docs}
		if got := ask(t, s.Rerank, body).OK().JSON["truncated"]; got != float64(c.cut) {
			t.Errorf("%.10q against %d texts: truncated %v, want %d", c.query, len(c.docs), got, c.cut)
		}
		want := "<nil>"
		if c.cut > 0 {
			want = fmt.Sprintf("[%d of the query and the texts were cut at the model's window]", c.cut)
		}
		for name, r := range map[string]*coretest.Reply{"v1": ask(t, s.RerankV1, body), "v2": ask(t, s.RerankV2, body)} {
			if got := fmt.Sprint(r.OK().JSON["meta"].(object)["warnings"]); got != want {
				t.Errorf("%s, %.10q against %d texts: warnings %s, want %s", name, c.query, len(c.docs), got, want)
			}
		}
	}
	for _, r := range []*coretest.Reply{ask(t, s.Rerank, object{"query": " \n\u3000", "documents": []string{"a"}}),
		ask(t, s.RerankV1, object{"query": " ", "documents": []string{"a"}})} {
		r.Fails("invalid_request", "query", "white space")
	}
	for _, n := range []int{8192, 8193} {
		body := object{"query": strings.Repeat("a", n), "documents": []string{"a"}}
		for _, r := range []*coretest.Reply{ask(t, s.Rerank, body), ask(t, s.RerankV1, body), ask(t, s.RerankV2, body)} {
			if n == 8192 {
				r.OK()
			} else {
				r.Fails("invalid_request", "query", "8192")
			}
		}
	}
}

// How many texts a call may have is configured, to a thousand at most.
func TestTheNumberOfTextsIsConfigured(t *testing.T) {
	for configured, most := range map[int]int{0: 100, 2: 2, 1000: 1000, 1001: 1000} {
		s := rerank.New(coretest.Reranker{}, configured)
		for n, fails := range map[int]bool{most: false, most + 1: true} {
			// Without the tags of the request, which bound it to a thousand on their own.
			_, err := s.Rerank(t.Context(), rerank.Request{Query: "b", Documents: texts(n)})
			if refused := fault.CodeOf(err) == fault.InvalidRequest; refused != fails || !refused && err != nil ||
				refused && !strings.Contains(err.Error(), fmt.Sprintf("documents: must hold 1-%d texts, got %d", most, n)) {
				t.Errorf("%d configured, %d texts: %v", configured, n, err)
			}
		}
	}
}

// broken is a reranker that answers as told.
type broken struct {
	coretest.Reranker
	scores []float32
	err    error
}

func (b broken) Score(context.Context, string, []string) ([]float32, int, error) {
	return b.scores, 1, b.err
}

// renamed is a reranker of another name, which scores the other way round.
type renamed struct {
	coretest.Reranker
	id string
}

func (r renamed) Info() port.ModelInfo {
	info := r.Reranker.Info()
	info.ID = r.id
	return info
}

func (r renamed) Score(ctx context.Context, query string, texts []string) ([]float32, int, error) {
	scores, cut, err := r.Reranker.Score(ctx, query, texts)
	for i := range scores {
		scores[i] = 1 - scores[i]
	}
	return scores, cut, err
}

// Each rerank model of a server can be named, whatever the role says, by each form of the call.
func TestEachRerankerCanBeNamed(t *testing.T) {
	body := object{"query": "warm bread", "documents": []string{"bread", "stone"}, "model": nil}
	for _, c := range []struct {
		role  port.Reranker
		model any
		first float64 // index of the best
		is    string
	}{
		{coretest.Reranker{}, nil, 0, "test-rerank"},
		{coretest.Reranker{}, "test-rerank", 0, "test-rerank"},
		{coretest.Reranker{}, "second", 1, "second"},
		{coretest.Reranker{}, "third", 1, "third"},
		{nil, "third", 1, "third"}, // the role is off
	} {
		s := rerank.New(c.role, 0, renamed{id: "second"}, renamed{id: "third"})
		body["model"] = c.model
		for form, r := range map[string]*coretest.Reply{"own": ask(t, s.Rerank, body), "v1": ask(t, s.RerankV1, body),
			"v2": ask(t, s.RerankV2, body)} {
			r.OK()
			if got := r.List("results")[0]["index"]; got != c.first {
				t.Errorf("%s, model %v: the best is %v: %s", form, c.model, got, r.Body)
			}
			if form != "v2" && r.JSON["model"] != c.is {
				t.Errorf("%s, model %v: answered by %v", form, c.model, r.JSON["model"])
			}
		}
	}
	s := rerank.New(nil, 0, renamed{id: "second"}, renamed{id: "third"})
	body["model"] = "other"
	ask(t, s.Rerank, body).Fails(fault.InvalidRequest, `it has "second", "third"`)
	body["model"] = nil
	ask(t, s.Rerank, body).Fails(fault.Unavailable, "the rerank model is off")
}

// Each form of the call fails alike.
func TestRerankingFails(t *testing.T) {
	on := coretest.Reranker{}
	nan := float32(math.NaN())
	for _, c := range []struct {
		name  string
		r     port.Reranker
		model any
		code  fault.Code // "": none
		words []string
	}{
		{"the configured model", on, "test-rerank", "", nil},
		{"no name", on, "", "", nil},
		{"another model", on, "other", fault.InvalidRequest,
			[]string{"model", `"other" is not a rerank model`, `it has "test-rerank"`}},
		{"off", nil, nil, fault.Unavailable, []string{"the rerank model is off"}},
		{"off, no name", nil, "", fault.Unavailable, []string{"the rerank model is off"}},
		{"off, and a name", nil, "other", fault.InvalidRequest, []string{"model", `"other" is not a rerank model`, "has none"}},
		{"a model that fails", broken{err: fault.New(fault.Timeout, "late")}, nil, fault.Timeout, []string{"late"}},
		{"a score too few", broken{}, nil, fault.Upstream, []string{"test-rerank"}},
		{"a score that is none", broken{scores: []float32{nan}}, nil, fault.Upstream, []string{"test-rerank"}},
		{"a score above 1", broken{scores: []float32{1.5}}, nil, fault.Upstream, []string{"test-rerank"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := rerank.New(c.r, 0)
			body := object{"query": "x", "documents": []string{"y"}, "model": c.model}
			for _, r := range []*coretest.Reply{ask(t, s.Rerank, body), ask(t, s.RerankV1, body), ask(t, s.RerankV2, body)} {
				if c.code == "" {
					r.OK()
				} else {
					r.Fails(c.code, c.words...)
				}
			}
		})
	}
}

// counting is a reranker that counts tokens, one a word, or does not manage to.
type counting struct {
	coretest.Reranker
	err   error
	short bool
}

func (c counting) CountTokens(_ context.Context, texts []string) ([]int, error) {
	var out []int
	for _, t := range texts {
		out = append(out, len(coretest.Words(t)))
	}
	if c.short {
		out = out[1:]
	}
	return out, c.err
}

// The answers of the other APIs: docs/contract.md#rerank-aliases.
func TestOtherAPIsShapes(t *testing.T) {
	s := rerank.New(counting{}, 0)
	docs := []any{"cold soup", object{"text": "warm bread", "id": 7}, "bread"}
	in := func(change object) object {
		body := object{"query": "warm bread", "documents": docs}
		for k, v := range change {
			body[k] = v
		}
		return body
	}
	meta := func(version string) string {
		return `"meta": {"api_version": {"version": "` + version + `"}, "billed_units": {"search_units": 1}}}`
	}
	// Without documents, unless asked for.
	ask(t, s.RerankV2, in(nil)).Answers(`
		{"id": "req_test", "results": [{"index": 1, "relevance_score": 0.95},
		{"index": 2, "relevance_score": 0.5}, {"index": 0, "relevance_score": 0.05}], ` + meta("2"))
	ask(t, s.RerankV2, in(object{"return_documents": true, "top_n": 2})).Answers(`
		{"id": "req_test", "results": [
		{"index": 1, "relevance_score": 0.95, "document": {"text": "warm bread", "id": 7}},
		{"index": 2, "relevance_score": 0.5, "document": {"text": "bread"}}], ` + meta("2"))
	// With documents, unless asked not to; the query's two tokens count for each of three texts, which have five.
	usage := `"id": "req_test", "model": "test-rerank", "usage": {"total_tokens": 11}, `
	ask(t, s.RerankV1, in(object{"top_n": 1})).Answers(`
		{` + usage + `"results": [
		{"index": 1, "relevance_score": 0.95, "document": {"text": "warm bread", "id": 7}}], ` + meta("1"))
	ask(t, s.RerankV1, in(object{"top_n": 9, "return_documents": false})).Answers(`
		{` + usage + `"results": [
		{"index": 1, "relevance_score": 0.95}, {"index": 2, "relevance_score": 0.5},
		{"index": 0, "relevance_score": 0.05}], ` + meta("1"))
}

// Usage counts the query once for each text. Where the model cannot count, four bytes
// begun are a token: 3 for the query of 9 bytes, 1, 1 and 2 for texts of 1, 4 and 5.
func TestUsageIsCountedInTokens(t *testing.T) {
	for name, c := range map[string]struct {
		r    port.Reranker
		want float64
	}{
		"the model's count":   {counting{}, 3*2 + 1 + 1 + 2},
		"a model that cannot": {coretest.Reranker{}, 3*3 + 1 + 1 + 2},
		"a count that fails":  {counting{err: errors.New("broken")}, 3*3 + 1 + 1 + 2},
		"a count too few":     {counting{short: true}, 3*3 + 1 + 1 + 2},
	} {
		r := ask(t, rerank.New(c.r, 0).RerankV1, object{"query": "how, warm", "documents": []string{"a", "four", "fi ve"}})
		if got := r.OK().JSON["usage"].(object)["total_tokens"]; got != c.want {
			t.Errorf("%s: %v tokens, want %v", name, got, c.want)
		}
	}
}

// A search unit is a hundred documents begun.
func TestSearchUnitsAreHundreds(t *testing.T) {
	s := rerank.New(coretest.Reranker{}, 1000)
	for n, want := range map[int]float64{1: 1, 100: 1, 101: 2, 200: 2, 201: 3} {
		r := ask(t, s.RerankV2, object{"query": "b", "documents": texts(n), "top_n": 1}).OK()
		if got := r.JSON["meta"].(object)["billed_units"].(object)["search_units"]; got != want {
			t.Errorf("%d documents are %v search units, want %v", n, got, want)
		}
	}
}

func TestADocumentIsATextOrAnObjectWithOne(t *testing.T) {
	const form = `must be a string or an object with a string "text"`
	for in, want := range map[string]string{ // what is written again, or the error
		`"a text"`:                            `{"text":"a text"}`,
		`{"text":"a text"}`:                   `{"text":"a text"}`,
		`{"id":7,"text":"a text","more":[1]}`: `{"id":7,"text":"a text","more":[1]}`,
		`3`:                                   form,
		`null`:                                form,
		`["a text"]`:                          form,
		`{}`:                                  form,
		`{"text":3}`:                          form,
		`{"text":null}`:                       form,
		`{"image":"a.png"}`:                   form,
		`"\u0000 first"`:                      "holds a NUL character",
		`"last \u0000"`:                       "holds a NUL character",
		`{"text":"\u0000"}`:                   "holds a NUL character",
	} {
		var d rerank.Document
		err := json.Unmarshal([]byte(in), &d)
		got, _ := json.Marshal(d)
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
	if err := new(rerank.Document).UnmarshalJSON([]byte(`"cut short`)); err == nil {
		t.Error("a string without an end was read")
	}
}

// docs/contract.md#limit-time
func TestCallsHaveTwentySeconds(t *testing.T) {
	var names []string
	for _, o := range rerank.Operations() {
		names = append(names, o.Spec.Name)
		if o.Spec.Timeout != 20*time.Second || len(o.Spec.Examples) == 0 {
			t.Errorf("%s: %s and %d examples", o.Spec.Name, o.Spec.Timeout, len(o.Spec.Examples))
		}
	}
	if want := []string{"rerank", "rerank.v1", "rerank.v2"}; !slices.Equal(names, want) {
		t.Errorf("operations %v, want %v", names, want)
	}
}
