package mneme

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/wasm/abi"
)

func request(t *testing.T, rows ...string) []byte {
	t.Helper()
	b, err := abi.Request{Rows: rows, Query: true}.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestServe: a model's answers come out as frames that the host reads.
func TestServe(t *testing.T) {
	m := Model{
		Description: Description{Tasks: []Task{{Task: "embedding", Dim: 2}}},
		Embed: func(texts []string, query bool) (Dense, error) {
			if !query {
				return Dense{}, errors.New("a passage")
			}
			return Dense{Vectors: [][]float32{{1, 0}, {0, 1}}, Tokens: []int{3, 4}}, nil
		},
		Sparse: func(texts []string, query bool) (Sparse, error) {
			return Sparse{Rows: [][]Term{{{1, 0.5}, {7, 2}}, nil}, Tokens: []int{2, 0}}, nil
		},
		Rerank: func(query string, texts []string) (Scores, error) {
			return Scores{Probabilities: []float32{0.25}, Cut: []bool{true}, Tokens: []int{9}}, nil
		},
		Tokens: func(texts []string) ([]int, error) { return []int{1, 2}, nil },
	}
	for function, want := range map[string]abi.Result{
		abi.FuncEmbed: {Kind: abi.KindDense, Rows: 2, Dim: 2, Floats: []float32{1, 0, 0, 1}, Tokens: []uint32{3, 4}},
		abi.FuncSparse: {
			Kind:   abi.KindSparse,
			Rows:   2,
			Index:  []uint32{0, 2, 2},
			Terms:  []uint32{1, 7},
			Floats: []float32{0.5, 2},
			Tokens: []uint32{2, 0},
		},
		abi.FuncRerank: {Kind: abi.KindScores, Rows: 1, Floats: []float32{0.25}, Tokens: []uint32{9}, Cut: []uint32{1}},
		abi.FuncTokens: {Kind: abi.KindCounts, Rows: 2, Counts: []uint32{1, 2}},
		abi.FuncOpen:   {Kind: abi.KindText, Text: []string{}},
	} {
		got, err := abi.ParseResult(m.Serve(function, request(t, "a", "b")))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, %v, want %+v", function, got, err, want)
		}
	}
}

// TestServeErrors: whatever goes wrong has the code that says whose fault it is.
func TestServeErrors(t *testing.T) {
	embed := func(d Dense, err error) Model {
		return Model{Description: Description{Tasks: []Task{{Task: "embedding", Dim: 2}}},
			Embed: func([]string, bool) (Dense, error) { return d, err }}
	}
	one := request(t, "a")
	for name, c := range map[string]struct {
		model    Model
		function string
		frame    []byte
		code     abi.Code
		want     string
	}{
		"not offered":   {Model{}, abi.FuncEmbed, one, abi.CodeUnsupported, abi.FuncEmbed},
		"malformed":     {embed(Dense{}, nil), abi.FuncEmbed, []byte("short"), abi.CodeInvalid, "5 bytes"},
		"later version": {embed(Dense{}, nil), abi.FuncEmbed, append([]byte{2}, one[1:]...), abi.CodeUnsupported, "version"},
		"input":         {embed(Dense{}, fmt.Errorf("%w: no Greek", ErrInput)), abi.FuncEmbed, one, abi.CodeInvalid, "no Greek"},
		"own":           {embed(Dense{}, errors.New("no weights")), abi.FuncEmbed, one, abi.CodeInternal, "no weights"},
		"stopped":       {embed(Dense{}, ErrStopped), abi.FuncEmbed, one, abi.CodeStopped, "stopped"},
		"fewer":         {embed(Dense{}, nil), abi.FuncEmbed, one, abi.CodeInternal, "0 vectors"},
		"another shape": {embed(Dense{Vectors: [][]float32{{1}}, Tokens: []int{1}}, nil), abi.FuncEmbed, one,
			abi.CodeInternal, "1 dimensions, described are 2"},
		"panic": {Model{Embed: func([]string, bool) (Dense, error) { panic("oh") }}, abi.FuncEmbed, one,
			abi.CodeInternal, "panic: oh"},
		"no query": {Model{Rerank: func(string, []string) (Scores, error) { return Scores{}, nil }},
			abi.FuncRerank, request(t), abi.CodeInvalid, "no query"},
		"open": {Model{Open: func([]byte) error { return errors.New("no asset") }}, abi.FuncOpen, []byte("{}"),
			abi.CodeUnsupported, "no asset"},
	} {
		_, err := abi.ParseResult(c.model.Serve(c.function, c.frame))
		var e *abi.Error
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Message, c.want) {
			t.Errorf("%s: %v, want code %d and %q", name, err, c.code, c.want)
		}
	}
}

// TestDescribe: the description is JSON, whatever the strings hold.
func TestDescribe(t *testing.T) {
	d := Description{
		Name:    "a\"b\\c\n\x00é\xff",
		Version: "1",
		Licence: "MIT",
		Tasks:   []Task{{"embedding", 5, 2, true, 0}, {"sparse", 6, 0, false, 7}},
	}
	var got struct {
		Name, Version, Licence string
		Tasks                  []struct {
			Task       string
			MaxTokens  int `json:"max_tokens"`
			Dim        int
			Normalized bool
			Vocab      int
		}
	}
	if err := json.Unmarshal(Model{Description: d}.describe(), &got); err != nil {
		t.Fatal(err)
	}
	var tasks []Task
	for _, x := range got.Tasks {
		tasks = append(tasks, Task(x))
	}
	if got.Name != "a\"b\\c\n\x00é\ufffd" || got.Licence != "MIT" || !slices.Equal(tasks, d.Tasks) {
		t.Errorf("%+v", got)
	}
}
