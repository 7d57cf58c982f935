package abi

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "rewrite vectors.json")

// vector is a frame and what is to be read from it, for SDKs in other languages.
type vector struct {
	Name    string   `json:"name"`
	Hex     string   `json:"hex"`
	Request *request `json:"request,omitempty"`
	Result  *result  `json:"result,omitempty"`
	Refused bool     `json:"refused,omitempty"`
}

type request struct {
	Rows  []string `json:"rows"`
	Query bool     `json:"query"`
}

type result struct {
	Kind    Kind      `json:"kind"`
	Rows    int       `json:"rows"`
	Dim     int       `json:"dim,omitempty"`
	Values  []float32 `json:"values,omitempty"`
	Index   []uint32  `json:"index,omitempty"`
	Terms   []uint32  `json:"terms,omitempty"`
	Counts  []uint32  `json:"counts,omitempty"`
	Text    []string  `json:"text,omitempty"`
	Tokens  []uint32  `json:"tokens,omitempty"`
	Cut     []uint32  `json:"cut,omitempty"`
	Code    Code      `json:"code,omitempty"`
	Message string    `json:"message,omitempty"`
}

func shown(r Result) *result {
	return &result{Kind: r.Kind, Rows: r.Rows, Dim: r.Dim, Values: r.Floats, Index: r.Index, Terms: r.Terms,
		Counts: r.Counts, Text: r.Text, Tokens: r.Tokens, Cut: r.Cut}
}

// vectors are those of vectors.json.
type vectors struct {
	Requests []vector `json:"requests"`
	Results  []vector `json:"results"`
}

func makeVectors(t *testing.T) vectors {
	t.Helper()
	var all vectors
	for _, name := range slices.Sorted(maps.Keys(requests())) {
		q := requests()[name]
		b, err := q.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		all.Requests = append(all.Requests, vector{Name: name, Hex: hex.EncodeToString(b), Request: &request{q.Rows, q.Query}})
	}
	bad := badRequests(t)
	for _, name := range slices.Sorted(maps.Keys(bad)) {
		all.Requests = append(all.Requests, vector{Name: "refused: " + name, Hex: hex.EncodeToString(bad[name]), Refused: true})
	}
	for _, name := range slices.Sorted(maps.Keys(results())) {
		r := results()[name]
		all.Results = append(all.Results, vector{Name: name, Hex: hex.EncodeToString(r.Append(nil)), Result: shown(r)})
	}
	e := Error{Code: CodeTooLong, Message: "the text has 9 lines, at most 8"}
	all.Results = append(all.Results, vector{Name: "error", Hex: hex.EncodeToString(AppendError(nil, e)),
		Result: &result{Code: e.Code, Message: e.Message}})
	bad = badResults()
	for _, name := range slices.Sorted(maps.Keys(bad)) {
		all.Results = append(all.Results, vector{Name: "refused: " + name, Hex: hex.EncodeToString(bad[name]), Refused: true})
	}
	return all
}

// TestVectors: vectors.json has every frame of these tests, and this package reads from each
// what the file says.
func TestVectors(t *testing.T) {
	want, err := json.MarshalIndent(makeVectors(t), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile("vectors.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile("vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, want) {
		t.Error("vectors.json is not what these tests use: go test ./wasm/abi -run '^TestVectors$' -update")
	}
	var all vectors
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	frame := func(v vector) []byte {
		b, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		return b
	}
	for _, v := range all.Requests {
		q, err := ParseRequest(frame(v))
		if (err != nil) != v.Refused {
			t.Errorf("%s: %v", v.Name, err)
		} else if err == nil && !cmp.Equal(v.Request, &request{q.Rows, q.Query}, cmpopts.EquateEmpty()) {
			t.Errorf("%s: %+v", v.Name, q)
		}
	}
	for _, v := range all.Results {
		r, err := ParseResult(frame(v))
		got := shown(r)
		var e *Error
		if errors.As(err, &e) {
			got, err = &result{Code: e.Code, Message: e.Message}, nil
		}
		if (err != nil) != v.Refused {
			t.Errorf("%s: %v", v.Name, err)
		} else if err == nil && !cmp.Equal(v.Result, got, cmpopts.EquateEmpty()) {
			t.Errorf("%s: %+v", v.Name, got)
		}
	}
}

// text reads a file that stands beside ABI.md.
func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// section is a section of ABI.md.
func section(t *testing.T, number string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text(t, "ABI.md"), "\n## "+number+". ")
	if !ok {
		t.Fatalf("ABI.md has no section %s", number)
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	return body
}

// names are the first groups of a pattern's matches, sorted.
func names(pattern, in string) []string {
	var all []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(in, -1) {
		all = append(all, strings.ReplaceAll(m[1], "-", "_"))
	}
	slices.Sort(all)
	return all
}

// interfaceOf is the body of an interface of the WIT file.
func interfaceOf(t *testing.T, wit, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(wit, "\ninterface "+name+" {")
	if !ok {
		t.Fatalf("mneme.wit has no interface %s", name)
	}
	body, _, _ := strings.Cut(rest, "\n}")
	return body
}

// TestWIT: mneme.wit has the functions, error codes, kinds and version of ABI.md and of this package.
func TestWIT(t *testing.T) {
	const function, row = `(?m)^    ([a-z-]+): func\(`, "(?m)^\\| `([a-z_]+)` \\|"
	wit := text(t, "mneme.wit")
	exports := []string{FuncOpen, FuncDescribe, FuncEmbed, FuncSparse, FuncRerank, FuncGenerate, FuncTokens, FuncIDs}
	for i := range exports {
		exports[i] = strings.TrimPrefix(exports[i], "mneme_")
	}
	slices.Sort(exports)
	inTable := slices.DeleteFunc(names("(?m)^\\| `mneme_([a-z_]+)` \\|", section(t, "2")),
		func(name string) bool { return name == "abi" || name == "alloc" || name == "free" })
	if got := names(function, interfaceOf(t, wit, "model")); !slices.Equal(got, exports) || !slices.Equal(got, inTable) {
		t.Errorf("a model has %v, ABI.md %v, this package %v", got, inTable, exports)
	}
	for name, module := range map[string]struct{ module, section string }{"host": {Module, "8"}, "nn": {ModuleTensors, "9"}} {
		got, want := names(function, interfaceOf(t, wit, name)), names(row, section(t, module.section))
		if !slices.Equal(got, want) {
			t.Errorf("%s has %v, ABI.md %v", name, got, want)
		}
		for _, f := range got {
			if _, ok := CapabilityOf(module.module, f); !ok {
				t.Errorf("this package doesn't know %s.%s", module.module, f)
			}
		}
	}
	codes := names(`(?m)^        /// (\d): `, interfaceOf(t, wit, "types"))
	if want := names(`(?m)^\| (\d) \|`, section(t, "6")); !slices.Equal(codes, want) || len(codes) != int(CodeStopped) {
		t.Errorf("codes are %v, in ABI.md %v", codes, want)
	}
	for _, row := range regexp.MustCompile(`(?m)^\| (\d) \| ([^|]+) \|`).FindAllStringSubmatch(section(t, "6"), -1) {
		if !strings.Contains(wit, "/// "+row[1]+": "+row[2]+"\n") {
			t.Errorf("code %s does not mean %q in mneme.wit", row[1], row[2])
		}
	}
	kinds := regexp.MustCompile(`(?m)^\| (\d \w+) \|`).FindAllStringSubmatch(section(t, "5"), -1)
	if len(kinds) != int(KindIDs)+1 {
		t.Errorf("ABI.md has %d kinds", len(kinds))
	}
	for _, row := range kinds {
		if !strings.Contains(wit, "/// Kind "+strings.Replace(row[1], " ", ", ", 1)) {
			t.Errorf("mneme.wit has no kind %s", row[1])
		}
	}
	version, _, _ := strings.Cut(text(t, "ABI.md"), "\n")
	_, version, _ = strings.Cut(version, "ABI ")
	if !strings.Contains(wit, "\npackage mnemehq:mneme@"+version+".0;\n") {
		t.Errorf("mneme.wit is not of version %s", version)
	}
	types := strings.Count(wit, "{") // a look at the form; generators of bindings read all of it
	if types != strings.Count(wit, "}") || regexp.MustCompile(`(?m)^ +[a-z-]+: [^,;]*$`).MatchString(wit) {
		t.Error("a brace is open, or a line has no end")
	}
}

// schema compiles a JSON Schema.
func schema(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text(t, file)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDescriptionSchema: the schema of descriptions is the one that ABI.md shows.
func TestDescriptionSchema(t *testing.T) {
	schema(t, "description.schema.json")
	block := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(section(t, "7"))
	var is, shown map[string]any
	if err := json.Unmarshal([]byte(block[1]), &shown); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text(t, "description.schema.json")), &is); err != nil {
		t.Fatal(err)
	}
	for _, own := range []string{"$schema", "title", "description"} {
		delete(is, own)
	}
	if d := cmp.Diff(shown, is); d != "" {
		t.Error(d)
	}
}
