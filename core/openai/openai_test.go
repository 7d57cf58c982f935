package openai_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/openai"
	"github.com/mnemehq/mneme/core/port"
)

type object = coretest.Object

// embedder is one whose answers a test spoils. Around each text it puts two tokens.
type embedder struct {
	*coretest.Embedder
	id     string
	window int
	spoil  func(*port.Dense)
	fails  error // counting, or the word pieces of nothing
	pieces error
	sides  *[]port.TextKind
}

func (e embedder) Info() port.ModelInfo {
	info := e.Embedder.Info()
	if e.id != "" {
		info.ID = e.id
	}
	info.MaxTokens = e.window
	return info
}

func (e embedder) Embed(ctx context.Context, as port.TextKind, texts []string) (port.Dense, error) {
	if e.sides != nil {
		*e.sides = append(*e.sides, as)
	}
	v, err := e.Embedder.Embed(ctx, as, texts)
	if err == nil && e.spoil != nil {
		e.spoil(&v)
	}
	return v, err
}

func (e embedder) CountTokens(ctx context.Context, texts []string) ([]int, error) {
	if e.fails != nil {
		return nil, e.fails
	}
	return e.Embedder.CountTokens(ctx, texts)
}

func (e embedder) TokenIDs(_ context.Context, _ port.TextKind, texts []string) ([][]uint32, error) {
	return [][]uint32{{1, 2}}, e.pieces
}

// bare is an embedder that counts nothing.
type bare struct{ port.Embedder }

func (b bare) Info() port.ModelInfo {
	info := b.Embedder.Info()
	info.ID, info.MaxTokens = "bare", 1
	return info
}

func service(change func(*openai.Settings)) *openai.Service {
	e := coretest.NewEmbedder()
	s := openai.Settings{
		Enabled:   true,
		Embedder:  e,
		Embedders: []port.Embedder{embedder{Embedder: e, id: "second", window: 7}, bare{e}},
		Aliases: map[string]string{"text-embedding-3-small": "test-embedder", "two": "second", "rank": "test-rerank",
			"gone": "not there"},
		Models: model.New([]port.Model{e, coretest.Reranker{}}, nil, model.NewWatch(nil)),
	}
	if change != nil {
		change(&s)
	}
	return openai.New(s)
}

func embed(t *testing.T, s *openai.Service, body object) *coretest.Reply {
	t.Helper()
	return coretest.Ask(t.Context(), t, s.Embed, body)
}

func TestEmbeddings(t *testing.T) {
	s := service(nil)
	for name, input := range map[string]any{"one": "warm bread", "several": []any{"warm bread", "cold soup and salt"}} {
		for _, format := range []any{nil, "float", "base64"} {
			r := embed(t, s, object{"model": "text-embedding-3-small", "input": input, "encoding_format": format,
				"dimensions": coretest.Dimensions, "user": "ann"}).OK()
			texts, tokens := []string{"warm bread"}, 2.0
			if name == "several" {
				texts, tokens = append(texts, "cold soup and salt"), 6
			}
			usage := r.JSON["usage"].(object)
			if r.JSON["object"] != "list" || r.JSON["model"] != "test-embedder" || usage["prompt_tokens"] != tokens ||
				usage["total_tokens"] != tokens {
				t.Errorf("%s as %v: %.300s", name, format, r.Body)
			}
			want, _ := coretest.NewEmbedder().Embed(t.Context(), port.Passage, texts)
			data := r.List("data")
			if len(data) != len(texts) {
				t.Fatalf("%s as %v: %d vectors", name, format, len(data))
			}
			for i, d := range data {
				if got := values(t, d["embedding"]); d["object"] != "embedding" || d["index"] != float64(i) ||
					fmt.Sprint(got) != fmt.Sprint(want.Row(i)) {
					t.Errorf("%s as %v: %v", name, format, d)
				}
			}
			if _, text := data[0]["embedding"].(string); text != (format == "base64") {
				t.Errorf("%s as %v: %T", name, format, data[0]["embedding"])
			}
		}
	}
}

// values reads either form of a vector.
func values(t *testing.T, v any) (out []float32) {
	t.Helper()
	if list, ok := v.([]any); ok {
		for _, x := range list {
			out = append(out, float32(x.(float64)))
		}
		return out
	}
	raw, err := base64.StdEncoding.DecodeString(v.(string))
	if err != nil || len(raw)%4 != 0 {
		t.Fatalf("%v is no vector: %v", v, err)
	}
	for ; len(raw) > 0; raw = raw[4:] {
		out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	return out
}

func TestTheSideOfASearchCanBeNamed(t *testing.T) {
	var sides []port.TextKind
	s := service(func(s *openai.Settings) { s.Embedder = embedder{Embedder: coretest.NewEmbedder(), sides: &sides} })
	for _, side := range []any{nil, "query", "passage"} {
		embed(t, s, object{"model": "test-embedder", "input": "a", "input_type": side}).OK()
	}
	if want := fmt.Sprint([]port.TextKind{port.Passage, port.Query, port.Passage}); fmt.Sprint(sides) != want {
		t.Errorf("sides %v, want %s", sides, want)
	}
}

// A text that the model would cut is refused, where the model can count.
func TestATextBeyondTheWindowIsRefused(t *testing.T) {
	s := service(nil)
	for _, c := range []struct {
		model, text string
		refused     string
	}{
		{"second", "a b c d e", ""}, // five words and the two around them
		{"two", "a b c d e f", "input[1]: has 8 tokens; second reads at most 7"},
		{"second", strings.Repeat("x", 100), ""}, // long, of one word
		{"bare", strings.Repeat("a ", 100), ""},
	} {
		r := embed(t, s, object{"model": c.model, "input": []string{"a", c.text}})
		if c.refused == "" {
			r.OK()
		} else {
			r.Fails(fault.InvalidRequest, c.refused).Details("field", "input[1]")
		}
	}
}

func TestBadInputsOfEmbeddings(t *testing.T) {
	s := service(nil)
	many := make([]string, openai.MaxInputs+1)
	for i := range many {
		many[i] = "a"
	}
	with := func(change object) object {
		body := object{"model": "test-embedder", "input": "a"}
		for k, v := range change {
			body[k] = v
		}
		return body
	}
	for name, c := range map[string]struct {
		body  object
		code  fault.Code
		words []string
	}{
		"no text":          {with(object{"input": []string{}}), fault.InvalidRequest, []string{"input: must hold a text"}},
		"an empty text":    {with(object{"input": ""}), fault.InvalidRequest, []string{"input: is empty"}},
		"an empty one":     {with(object{"input": []string{"a", ""}}), fault.InvalidRequest, []string{"input[1]: is empty"}},
		"NUL":              {with(object{"input": "a\x00"}), fault.InvalidRequest, []string{"input: holds a NUL"}},
		"other dimensions": {with(object{"dimensions": 63}), fault.InvalidRequest, []string{"dimensions: must be 64"}},
		"no dimensions":    {with(object{"dimensions": 0}), fault.InvalidRequest, []string{"dimensions"}},
		"another format":   {with(object{"encoding_format": "int8"}), fault.InvalidRequest, []string{"encoding_format"}},
		"another side":     {with(object{"input_type": "both"}), fault.InvalidRequest, []string{"input_type"}},
		"no model":         {with(object{"model": ""}), fault.InvalidRequest, []string{"model"}},
		"an unknown model": {with(object{"model": "gpt-4"}), fault.NotFound, []string{`"gpt-4" is not an embedding model`,
			`"bare", "second", "test-embedder", "text-embedding-3-small", "two" (`}},
		"a model that ranks": {with(object{"model": "rank"}), fault.NotFound, []string{`"rank" is not an embedding model`}},
	} {
		t.Run(name, func(t *testing.T) { embed(t, s, c.body).Fails(c.code, c.words...) })
	}
	embed(t, service(func(s *openai.Settings) { s.Embedder, s.Embedders = nil, nil }), with(nil)).
		Fails(fault.Unavailable, "no embedding model")
	if n := (&openai.EmbeddingsRequest{Input: openai.Input{"a", "b", "c"}}).Units(); n != 3 {
		t.Errorf("three texts are %d units", n)
	}
}

func TestAnInputIsATextOrSeveral(t *testing.T) {
	list := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat(`"a",`, n), ",") + "]" }
	for text, says := range map[string]string{
		`"a"`: "", `["a"]`: "", `["a","b"]`: "", `[]`: "", list(openai.MaxInputs): "",
		list(openai.MaxInputs + 1): "at most 2048 texts",
		`[1,2]`:                    "token ids", `[-1]`: "token ids", `[[1,2],[3]]`: "token ids", `["a",0]`: "token ids",
		`["a",9]`: "token ids",
		`[null]`:  "must be a string or an array of strings", `[{}]`: "must be a string or an array of strings",
		`[true]`: "must be a string or an array of strings", `{}`: "must be a string or an array of strings",
		`7`: "must be a string or an array of strings",
	} {
		var in openai.Input
		err := json.Unmarshal([]byte(text), &in)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%.60s: %v, want %q", text, err, says)
		}
		if err != nil {
			continue
		}
		if again, _ := json.Marshal(in); text != `"a"` && string(again) != text {
			t.Errorf("%.60s became %.60s", text, again)
		}
	}
}

// What a model does wrong is no answer.
func TestEmbeddingFails(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	down := fault.New(fault.Timeout, "late")
	for what, c := range map[string]struct {
		e    embedder
		code fault.Code
	}{
		"a dimension less":   {embedder{spoil: func(v *port.Dense) { v.Dim-- }}, fault.Upstream},
		"a number less":      {embedder{spoil: func(v *port.Dense) { v.Data = v.Data[1:] }}, fault.Upstream},
		"a count less":       {embedder{spoil: func(v *port.Dense) { v.Tokens = nil }}, fault.Upstream},
		"no number":          {embedder{spoil: func(v *port.Dense) { v.Data[3] = nan }}, fault.Upstream},
		"no end":             {embedder{spoil: func(v *port.Dense) { v.Data[3] = inf }}, fault.Upstream},
		"counting fails":     {embedder{window: 3, fails: down}, fault.Timeout},
		"the pieces fail":    {embedder{window: 3, pieces: down}, fault.Timeout},
		"nothing to be told": {embedder{fails: down, pieces: down}, ""},
	} {
		c.e.Embedder = coretest.NewEmbedder()
		r := embed(t, service(func(s *openai.Settings) { s.Embedder = c.e }), object{"model": "test-embedder", "input": "a text"})
		if got := fault.CodeOf(r.Err); got != c.code {
			t.Errorf("%s: %v, want %s", what, r.Err, c.code)
		}
	}
	e := coretest.NewEmbedder()
	e.Before.Set(func(context.Context, port.TextKind, []string) error { return down })
	r := embed(t, service(func(s *openai.Settings) { s.Embedder = e }), object{"model": "test-embedder", "input": "a"})
	if !errors.Is(r.Err, down) {
		t.Errorf("got %v", r.Err)
	}
}

func TestModelsAndTheirAliases(t *testing.T) {
	s := service(nil)
	model := func(id, kind, alias string) string {
		at := map[string]string{"embedding": "wasm", "rerank": "plugin"}[kind]
		return fmt.Sprintf(`{"id": %q, "object": "model", "created": 0, "owned_by": %q, "kinds": [%q]%s}`, id, at, kind, alias)
	}
	small := model("text-embedding-3-small", "embedding", `, "alias_of": "test-embedder"`)
	coretest.Ask(t.Context(), t, s.ListModels, nil).Answers(`{"object": "list", "data": [` + strings.Join([]string{
		model("rank", "rerank", `, "alias_of": "test-rerank"`), model("test-embedder", "embedding", ""),
		model("test-rerank", "rerank", ""), small}, ",") + `]}`)
	get := func(name string) *coretest.Reply {
		return coretest.Ask(t.Context(), t, s.GetModel, nil, func(in *openai.ModelRef) { in.Model = name })
	}
	get("text-embedding-3-small").Answers(small)
	get("test-rerank").Answers(model("test-rerank", "rerank", ""))
	get("gone").Fails(fault.NotFound, `"gone" is not a model of this server; it has "rank", "test-embedder"`).
		Details("field", "model")
}

func TestTheProtocolCanBeOff(t *testing.T) {
	for on, code := range map[bool]fault.Code{true: "", false: fault.NotFound} {
		err := service(func(s *openai.Settings) { s.Enabled = on }).Available()
		if fault.CodeOf(err) != code || err != nil && !strings.Contains(err.Error(), "protocols.openai") {
			t.Errorf("on %t: %v", on, err)
		}
	}
}

// Each operation answers in OpenAI's shape, below /v1, and says what it may answer.
func TestOperations(t *testing.T) {
	for _, o := range openai.Operations() {
		s := o.Spec
		if s.Protocol != op.OpenAI || s.Group != op.ForOpenAI || s.Family != op.Namespace ||
			!strings.HasPrefix(s.Name, "openai.") || !strings.HasPrefix(s.Path, "/v1/") || s.Tool != nil ||
			len(s.Examples) == 0 || s.Class == op.Free {
			t.Errorf("%+v", s)
		}
		want := map[bool]time.Duration{true: 2 * time.Minute, false: 5 * time.Second}[s.Class == op.Write]
		if s.TimeoutClass == op.QueryTimeout {
			want = 20 * time.Second
		}
		if s.TimeoutClass == op.OwnTimeout {
			want = 5 * time.Minute
		}
		if s.Timeout != want {
			t.Errorf("%s has %s", s.Name, s.Timeout)
		}
	}
}
