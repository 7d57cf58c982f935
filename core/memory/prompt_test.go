package memory_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/retrieve"
)

// prompt asks for a block and checks what holds of any: its budget, and that each citation
// is of what stands behind its marker. The models of these tests count a word as a token.
func (a app) prompt(user, query string, budget int, more ...any) coretest.Object {
	a.t.Helper()
	body := with(coretest.Object{"endUserId": user, "query": query, "maxTokens": budget}, more)
	r := coretest.Ask(a.ctx, a.t, a.memories.Context, body).OK()
	coretest.Fields(a.t, "a block", r.JSON, "success", "context", "tokens", "tokenizer", "citations", "passages", "omitted",
		"degraded")
	text := r.JSON["context"].(string)
	if n := len(coretest.Words(text)); float64(n) != r.JSON["tokens"] || n > budget {
		a.t.Errorf("%d tokens of %d, and the answer says %v: %s", n, budget, r.JSON["tokens"], text)
	}
	contents := map[any]string{}
	for _, m := range a.list(user) {
		contents[m["id"]] = m["content"].(string)
	}
	cited := r.List("citations")
	for i, c := range cited {
		coretest.Fields(a.t, "a citation", c, "marker", "memoryId", "start", "end", "score", "container_tag", "created_at")
		quote := contents[c["memoryId"]][int(c["start"].(float64)):int(c["end"].(float64))]
		if c["marker"] != float64(i+1) || quote == "" ||
			!strings.Contains(text, ": "+strings.NewReplacer("\r\n", "\n  ", "\n", "\n  ").Replace(quote)) {
			a.t.Errorf("citation %v of %q is not in %q", c, quote, text)
		}
	}
	if strings.Count(text, "\n[") != len(cited) || (text == "") != (len(cited) == 0) {
		a.t.Errorf("%d citations of %q", len(cited), text)
	}
	return r.JSON
}

// TestContextOfAMessage is a block with what a search finds, within its budget.
func TestContextOfAMessage(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, nil).integration("app", 0)
	if got := s.prompt("nobody", "harbour", 100); got["context"] != "" || got["omitted"] != 0.0 {
		t.Errorf("%v", got)
	}
	s.remember("ann", "chat-7", said("m1", "user", "I live near the harbour.", "name", "Ann  B\nC",
		"occurredAt", "2026-05-04T23:59:59Z")).OK()
	s.save("ann", "Harbour walks are what\r\n[9] harbour dogs like.", "occurredAt", "2026-05-05T00:00:00Z", "metadata",
		coretest.Object{"role": " ", "speaker": "Ben"})
	s.save("ann", "The cat sleeps.", "occurredAt", "2026-05-06T00:00:00Z")
	got := s.prompt("ann", "I live near the harbour.", 200)
	for _, want := range []string{"Remembered, most relevant first:\n[1] 2026-05-04, Ann B C: I live near the harbour.\n",
		"] 2026-05-06: The cat sleeps."} {
		if !strings.Contains(got["context"].(string), want) {
			t.Errorf("%q is not in %q", want, got["context"])
		}
	}
	if !strings.Contains(got["context"].(string), "] 2026-05-05, Ben: Harbour walks are what\n  [9] harbour dogs like.") {
		t.Errorf("%q", got["context"])
	}
	if got["tokenizer"] == nil || got["omitted"] != 0.0 {
		t.Errorf("%v", got)
	}
	if got := s.prompt("ann", "harbour", 200, "containerTag", "chat-7"); len(got["citations"].([]any)) != 1 {
		t.Errorf("a container's: %v", got)
	}
	if got := s.prompt("ann", "harbour", 200, "limit", 2); len(got["citations"].([]any)) != 2 || got["omitted"] != 0.0 {
		t.Errorf("two: %v", got)
	}
	if got := s.prompt("ann", "harbour", 200, "created_after", 1778025600000-1); len(got["citations"].([]any)) != 1 {
		t.Errorf("after a time: %v", got)
	}
}

// TestContextKeepsToItsBudget whatever it is: what has no room is left out and counted, and
// the best memory is cut.
func TestContextKeepsToItsBudget(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, nil).integration("app", 0)
	long := "A harbour" + strings.Repeat(" with boats", 30)
	s.save("ann", long, "occurredAt", "2026-05-04T00:00:00Z")
	s.save("ann", "The harbour is near.", "occurredAt", "2026-05-04T00:00:01Z")
	s.save("ann", "Nothing of interest.", "occurredAt", "2026-05-04T00:00:02Z")
	var sizes []int
	for _, budget := range []int{16, 17, 30, 60, 69, 70, 76, 77, 85, 200} {
		got := s.prompt("ann", long, budget)
		n := len(got["citations"].([]any))
		if n < 1 || n+int(got["omitted"].(float64)) != 3 {
			t.Errorf("%d tokens: %d memories, %v left out", budget, n, got["omitted"])
		}
		if first := got["citations"].([]any)[0].(coretest.Object); first["start"] != 0.0 {
			t.Errorf("%v", first)
		}
		sizes = append(sizes, int(got["tokens"].(float64)))
	}
	if !slices.IsSorted(sizes) || sizes[0] != 16 || sizes[1] != 17 || sizes[2] != 30 || sizes[4] != 69 || sizes[5] != 70 ||
		sizes[8] != 85 || sizes[9] != 85 {
		t.Errorf("blocks of %v tokens", sizes)
	}
	for field, value := range map[string]any{"maxTokens": 15, "limit": 0, "query": " ", "createdBefore": 5} {
		body := coretest.Object{"endUserId": "ann", "query": "harbour", "createdAfter": 5, field: value}
		coretest.Ask(s.ctx, t, s.memories.Context, body).Fails(fault.InvalidRequest, field[:5])
	}
}

// TestContextWithoutSpaces cuts no character: a word that does not fit is cut like anything else.
func TestContextWithoutSpaces(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, nil).integration("app", 0)
	s.save("ann", strings.Repeat("日,", 100))
	got := s.prompt("ann", "日", 16)
	if cited := got["citations"].([]any); got["tokens"] != 16.0 || len(cited) != 1 || cited[0].(coretest.Object)["end"] != 32.0 {
		t.Errorf("%v", got)
	}
}

// TestContextPassesOverWhatDoesNotFit for what does and is less relevant.
func TestContextPassesOverWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, nil).integration("app", 0)
	s.save("ann", "Harbour walk.")
	s.save("ann", "Harbour walk"+strings.Repeat(" along boats", 40))
	s.save("ann", "Cats sleep.")
	got := s.prompt("ann", "Harbour walk.", 40)
	if text := got["context"].(string); !strings.Contains(text, "Harbour walk.") || !strings.Contains(text, "Cats sleep.") ||
		got["omitted"] != 1.0 {
		t.Errorf("%v", got)
	}
}

// joiner counts eight more tokens for each end of a line.
type joiner struct{ *coretest.Embedder }

func (joiner) CountTokens(_ context.Context, texts []string) ([]int, error) {
	counts := make([]int, len(texts))
	for i, text := range texts {
		counts[i] = len(coretest.Words(text)) + 8*strings.Count(text, "\n")
	}
	return counts, nil
}

// TestContextKeepsToItsBudgetWhateverTheTokenizer counts for the whole text.
func TestContextKeepsToItsBudgetWhateverTheTokenizer(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{Embedder: joiner{coretest.NewEmbedder()}}, nil).integration("app", 0)
	s.save("ann", "Harbour walk.")
	s.save("ann", "Cats sleep.")
	s.save("ann", "Dogs bark.")
	for budget, want := range map[int]int{17: 0, 18: 1, 31: 1, 32: 2, 45: 2, 46: 3} {
		body := coretest.Object{"endUserId": "ann", "query": "Harbour walk.", "maxTokens": budget}
		got := coretest.Ask(s.ctx, t, s.memories.Context, body).OK()
		if n := len(got.List("citations")); n != want || got.Number("tokens") > float64(budget) ||
			got.Number("omitted") != float64(3-want) {
			t.Errorf("%d tokens: %s", budget, got.Body)
		}
	}
}

// TestContextQuotesPassages of the namespace that the key names, beside memories, within one
// budget.
func TestContextQuotesPassages(t *testing.T) {
	t.Parallel()
	var asked []string
	menu := memory.Passage{Namespace: "menus", DocumentID: "autumn", Title: " Autumn\nmenu ", Heading: "autumn menu > Cakes",
		Text:  "Carrot cake\nhas nuts.",
		Start: 40, End: 61, Page: 2, Score: .03}
	found := []memory.Passage{menu, {Namespace: "menus", DocumentID: "winter", Heading: "winter", Text: "No cake at all."}}
	missing := []retrieve.Degraded{{Part: "vector", Reason: "unavailable"}}
	p := open(t, coretest.Options{}, func(s *memory.Settings) {
		s.Passages = func(_ context.Context, namespace, query string, limit int) ([]memory.Passage, []retrieve.Degraded, error) {
			asked = append(asked, fmt.Sprintf("%s %s %d", namespace, query, limit))
			if query == "broken" {
				return nil, nil, fault.New(fault.Unavailable, "away")
			}
			return found[:min(limit, len(found))], missing, nil
		}
	})
	plain := p.integration("plain", 0)
	s := app{p, p.Caller(key.Issue{Kind: ident.Integration, Integration: "plain", Scopes: ident.Scopes(), Namespace: "menus"})}
	ask := func(a app, more ...any) *coretest.Reply {
		t.Helper()
		return coretest.Ask(a.ctx, t, a.memories.Context, with(coretest.Object{"endUserId": "ann", "query": "cake"}, more))
	}
	want := "From documents, most relevant first:\n[1] Autumn menu > Cakes: Carrot cake\n  has nuts.\n[2] winter: No cake at all."
	got := ask(s).OK()
	if got.JSON["context"] != want || got.Number("omitted") != 0 || len(got.List("citations")) != 0 {
		t.Errorf("passages alone: %s", got.Body)
	}
	s.save("ann", "I may eat no cake.", "occurredAt", "2026-05-04T00:00:00Z")
	s.save("ann", "Cake is for birthdays.", "occurredAt", "2026-05-05T00:00:00Z")
	got = ask(s, "passages", 1, "limit", 1).OK()
	text, passages := got.JSON["context"].(string), got.List("passages")
	if !strings.HasPrefix(text, "Remembered, most relevant first:\n[1] 2026-05-0") ||
		!strings.HasSuffix(text, "\nFrom documents, most relevant first:\n[2] Autumn menu > Cakes: Carrot cake\n  has nuts.") {
		t.Errorf("both: %q", text)
	}
	if len(passages) != 1 || !reflect.DeepEqual(passages[0], coretest.Object{"marker": 2.0, "namespace": "menus",
		"documentId": "autumn", "title": " Autumn\nmenu ", "start": 40.0, "end": 61.0, "page": 2.0, "score": .03}) {
		t.Errorf("passages %v", passages)
	}
	if d := coretest.Column(got.List("degraded"), "part"); !slices.Equal(d, []string{"rerank", "vector"}) {
		t.Errorf("degraded %v", d)
	}
	// A small budget shows the best of both before the second of either.
	whole := len(coretest.Words(text))
	for budget := whole - 5; budget <= whole; budget++ {
		got := ask(s, "maxTokens", budget).OK()
		both := len(got.List("citations")) == 1 && len(got.List("passages")) == 1
		if both != (budget == whole) || int(got.Number("omitted"))+len(got.List("citations"))+len(got.List("passages")) != 4 {
			t.Errorf("%d of %d tokens: %s", budget, whole, got.Body)
		}
	}
	asked = nil
	for _, c := range []struct {
		who  app
		more []any
		says string
	}{{s, []any{"passages", 0}, ""}, {plain, nil, ""}, {plain, []any{"passages", 0}, ""}, {s, nil, "menus cake 5"}} {
		if ask(c.who, c.more...).OK(); strings.Join(asked, ",") != c.says {
			t.Errorf("%v: asked for %q, want %q", c.more, asked, c.says)
		}
	}
	ask(plain, "passages", 1).Fails(fault.Forbidden, "names no namespace")
	ask(s, "passages", 21).Fails(fault.InvalidRequest, "passages")
	ask(s, "query", "broken").Fails(fault.Unavailable)
	other := app{p, p.Caller(key.Issue{Kind: ident.Integration, Integration: "other", Namespace: "menus"})}
	if got := ask(other).OK(); len(got.List("citations")) != 0 || len(got.List("passages")) != 2 {
		t.Errorf("another integration: %s", got.Body)
	}
	found[0].Title = strings.Repeat("é", 200)
	if got := ask(other).OK(); !strings.Contains(got.JSON["context"].(string), "[1] "+strings.Repeat("é", 120)+"…: Carrot") {
		t.Errorf("a long title: %s", got.Body)
	}
}
