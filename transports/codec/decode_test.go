package codec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/transports/codec"
)

type page struct {
	Limit  *int   `query:"limit"`
	Cursor string `query:"cursor" fault:"invalid_cursor"`
}

type either struct{ text string }

func (e *either) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case 't', 'f':
		e.text = string(raw)
		return nil
	case '{':
		return fault.Field(fault.InvalidFilter, "deep.place", "is refused from within")
	}
	return errors.New("must be a boolean or an object")
}

type part struct {
	ID       string          `json:"id" fault:"invalid_id"`
	Metadata json.RawMessage `json:"metadata"`
	Parts    []part          `json:"parts"` // it holds itself
}

type request struct {
	page
	Namespace string             `path:"namespace"`
	Include   []string           `query:"include"`
	Deep      bool               `query:"deep"`
	Ratio     float32            `query:"ratio"`
	Prefer    string             `header:"Prefer"`
	Query     string             `json:"query"`
	TopK      *int               `json:"top_k"`
	Small     int8               `json:"small"`
	Count     uint16             `json:"count"`
	Score     float64            `json:"score"`
	Strict    bool               `json:"strict"`
	Weights   map[string]float64 `json:"weights"`
	Parts     []part             `json:"parts"`
	Filter    json.RawMessage    `json:"filter" fault:"invalid_filter"`
	Names     []string           `json:"names" fault:"invalid_filter" maxDecoded:"3"`
	Rerank    *either            `json:"rerank"`
	Either    either             `json:"either"`
	At        *time.Time         `json:"at"`
	Anything  any                `json:"anything"`
	Hidden    string             `json:"-"`
}

func decoder(t testing.TB) *codec.Decoder {
	t.Helper()
	d, err := codec.NewDecoder(reflect.TypeFor[request]())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func input(query, body string) codec.Input {
	in := codec.Input{
		Path:  func(name string) string { return map[string]string{"namespace": "docs"}[name] },
		Query: query, Header: func(name string) []string { return map[string][]string{"Prefer": {"respond-async"}}[name] },
	}
	if body != "" {
		in.Body = []byte(body)
	}
	return in
}

func TestDecode(t *testing.T) {
	seven := 7
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	base := func(change func(*request)) request {
		r := request{Namespace: "docs", Prefer: "respond-async"}
		change(&r)
		return r
	}
	for _, c := range []struct {
		name, query, body string
		want              request
	}{
		{"nothing", "", "", base(func(*request) {})},
		{"empty object", "", " {} \n", base(func(*request) {})},
		{"query", "limit=7&cursor=a%2Bb&include=x,y&include=z&deep=1&ratio=0.5&utm_source=mail&bad%zz=1", "",
			base(func(r *request) {
				r.Limit, r.Cursor, r.Include, r.Deep, r.Ratio = &seven, "a+b", []string{"x", "y", "z"}, true, .5
			})},
		{"an empty list in the query", "include=", "", base(func(*request) {})},
		{"scalars", "", `{"query":"a\u00e9\ud83d\ude00\/\"\\\b\f\n\r\t","top_k":7,"small":-128,"count":65535,` +
			`"score":-1.5e3,"strict":true}`, base(func(r *request) {
			r.Query, r.TopK, r.Small, r.Count, r.Score, r.Strict = "aé😀/\"\\\b\f\n\r\t", &seven, -128, 65535, -1500, true
		})},
		{"null pointer", "", `{"top_k":null,"rerank":null,"at":null,"anything":null}`, base(func(*request) {})},
		{"nested", "", `{"parts":[{"id":"a","metadata":{"k":[1, 2]}},{"parts":[{"id":"b"}]}],"weights":{"vector":0.5}}`,
			base(func(r *request) {
				r.Parts = []part{{ID: "a", Metadata: json.RawMessage(`{"k":[1, 2]}`)}, {Parts: []part{{ID: "b"}}}}
				r.Weights = map[string]float64{"vector": .5}
			})},
		{"empty list is not absent", "", `{"names":[]}`, base(func(r *request) { r.Names = []string{} })},
		{"a raw null stays", "", `{"filter":null}`, base(func(r *request) { r.Filter = json.RawMessage("null") })},
		{"own types", "", `{"rerank":true,"either":false,"at":"2026-01-02T03:04:05Z","anything":{"n":1}}`, base(func(r *request) {
			r.Rerank, r.Either, r.At, r.Anything = &either{"true"}, either{"false"}, &at, map[string]any{"n": json.Number("1")}
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got request
			if err := decoder(t).Decode(input(c.query, c.body), &got); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(request{}, either{})); d != "" {
				t.Error(d)
			}
		})
	}
}

// names is that many members of an object.
func names(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%d":1,`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

func TestDecodeRefuses(t *testing.T) {
	deep := func(n int) string {
		return `{"anything":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
	}
	many := `{"weights":{`
	for i := range 40 {
		many += fmt.Sprintf(`"k%d":1,`, i)
	}
	many += `"k\u0030":2}}`
	for _, c := range []struct {
		name, query, body string
		code              fault.Code
		says              string
	}{
		{"unknown field", "", `{"querry":"x"}`, fault.InvalidRequest, `querry: is not a known field; did you mean "query"?`},
		{"other case", "", `{"Query":"x"}`, fault.InvalidRequest, `Query: is not a known field; did you mean "query"?`},
		{"unknown nested", "", `{"parts":[{},{"parts":[{"idd":1}]}]}`, fault.InvalidRequest,
			`parts[1].parts[0].idd: is not a known field`},
		{"path field in body", "", `{"namespace":"other"}`, fault.InvalidRequest, "namespace: is not a known field"},
		{"query field in body", "", `{"cursor":"x"}`, fault.InvalidRequest, "cursor: is not a known field"},
		{"header field in body", "", `{"Prefer":"x"}`, fault.InvalidRequest, "Prefer: is not a known field"},
		{"hidden", "", `{"Hidden":"x"}`, fault.InvalidRequest, "Hidden: is not a known field"},
		{"string for int", "", `{"top_k":"7"}`, fault.InvalidRequest, "top_k: must be an integer, not a string"},
		{"float for int", "", `{"top_k":7.5}`, fault.InvalidRequest, "top_k: must be an integer"},
		{"exponent for int", "", `{"top_k":1e-2}`, fault.InvalidRequest, "top_k: must be an integer"},
		{"huge int", "", `{"top_k":99999999999999999999999}`, fault.InvalidRequest, "top_k: is out of range"},
		{"small int", "", `{"small":128}`, fault.InvalidRequest, "small: is out of range"},
		{"negative count", "", `{"count":-1}`, fault.InvalidRequest, "count: must be an integer of at least 0"},
		{"huge float", "", `{"score":1e999}`, fault.InvalidRequest, "score: is out of range"},
		{"null string", "", `{"query":null}`, fault.InvalidRequest, "query: must be a string, not null"},
		{"null bool", "", `{"strict":null}`, fault.InvalidRequest, "strict: must be true or false, not null"},
		{"null list", "", `{"names":null}`, fault.InvalidFilter, "names: must be an array, not null"},
		{"null in list", "", `{"names":["a",null]}`, fault.InvalidFilter, "names[1]: must be a string, not null"},
		{"too many", "", `{"names":["a","b","c","d"]}`, fault.InvalidFilter, "names: must have at most 3 items"},
		{"a list out of proportion", "", `{"parts":[` + strings.Repeat("{},", 50_000) + `{}]}`, fault.PayloadTooLarge,
			"parts: has too many items for its size"},
		{"a map out of proportion", "", `{"weights":{` + names(10_000) + `}, "parts":[` + strings.Repeat(`{},`, 20_000) + `{}]}`,
			fault.PayloadTooLarge, "too many items"},
		{"names without end", "", `{"anything":{` + names(10_001) + `}}`, fault.InvalidJSON, "more than 10000 names"},
		{"null own type", "", `{"either":null}`, fault.InvalidRequest, "either: must not be null"},
		{"null map", "", `{"weights":null}`, fault.InvalidRequest, "weights: must be an object, not null"},
		{"map value", "", `{"weights":{"vector":"a"}}`, fault.InvalidRequest, "weights.vector: must be a number, not a string"},
		{"object for list", "", `{"parts":{}}`, fault.InvalidRequest, "parts: must be an array, not an object"},
		{"list for object", "", `{"parts":[[]]}`, fault.InvalidRequest, "parts[0]: must be an object, not an array"},
		{"own code", "", `{"parts":[{"id":5}]}`, fault.InvalidID, "parts[0].id: must be a string, not a number"},
		{"own type", "", `{"either":"x"}`, fault.InvalidRequest, "either: must be a boolean or an object"},
		{"own type's fault", "", `{"either":{}}`, fault.InvalidFilter, "deep.place: is refused from within"},
		{"bad time", "", `{"at":"yesterday"}`, fault.InvalidRequest, "at: "},
		{"not an object", "", `[1]`, fault.InvalidRequest, "must be a JSON object, not an array"},
		{"null body", "", `null`, fault.InvalidRequest, "must be a JSON object, not null"},
		{"bad limit", "limit=many", "", fault.InvalidRequest, "limit: must be an integer"},
		{"empty limit", "limit=", "", fault.InvalidRequest, "limit: must be an integer"},
		{"bad bool", "deep=yes", "", fault.InvalidRequest, "deep: must be true or false"},
		{"bad float", "ratio=NaN", "", fault.InvalidRequest, "ratio: must be a number"},
		{"hex float", "ratio=0x1p2", "", fault.InvalidRequest, "ratio: must be a number"},
		{"twice", "limit=1&limit=2", "", fault.InvalidRequest, "limit: is given more than once"},
		{"bad escape", "cursor=%zz", "", fault.InvalidCursor, "cursor: is not escaped correctly"},
		{"bad UTF-8 in query", "cursor=%ff", "", fault.InvalidCursor, "cursor: is not valid UTF-8"},

		{"open object", "", `{`, fault.InvalidJSON, "at byte 1"},
		{"syntax", "", `{"query": x}`, fault.InvalidJSON, "at byte 10"},
		{"trailing comma", "", `{"query":"x",}`, fault.InvalidJSON, "at byte 13"},
		{"trailing data", "", `{} {}`, fault.InvalidJSON, "at byte 3"},
		{"single quotes", "", `{'query':1}`, fault.InvalidJSON, "at byte 1"},
		{"comment", "", `{/**/}`, fault.InvalidJSON, "at byte 1"},
		{"byte order mark", "", "\ufeff{}", fault.InvalidJSON, "at byte 0"},
		{"duplicate", "", `{"query":"a","query":"b"}`, fault.InvalidJSON, `at byte 13: the name "query" is used twice`},
		{"escaped duplicate", "", `{"query":"a","\u0071uery":"b"}`, fault.InvalidJSON, "used twice"},
		{"deep duplicate", "", `{"anything":{"a":{"b":1,"b":2}}}`, fault.InvalidJSON, "used twice"},
		{"duplicate among many", "", many, fault.InvalidJSON, "used twice"},
		{"invalid UTF-8", "", "{\"query\":\"a\xffb\"}", fault.InvalidJSON, "at byte 11: invalid UTF-8"},
		{"overlong UTF-8", "", "{\"query\":\"\xc0\x80\"}", fault.InvalidJSON, "invalid UTF-8"},
		{"surrogate in UTF-8", "", "{\"query\":\"\xed\xa0\x80\"}", fault.InvalidJSON, "invalid UTF-8"},
		{"lone high", "", `{"query":"\ud800"}`, fault.InvalidJSON, "lone surrogate"},
		{"lone low", "", `{"query":"\udc00"}`, fault.InvalidJSON, "lone surrogate"},
		{"two highs", "", `{"query":"\ud800\ud800"}`, fault.InvalidJSON, "lone surrogate"},
		{"lone in raw", "", `{"filter":{"k":"\ud800"}}`, fault.InvalidJSON, "lone surrogate"},
		{"lone in name", "", `{"\ud800":1}`, fault.InvalidJSON, "lone surrogate"},
		{"control character", "", "{\"query\":\"a\nb\"}", fault.InvalidJSON, "control character"},
		{"bad escape in string", "", `{"query":"\x41"}`, fault.InvalidJSON, "escape"},
		{"leading zero", "", `{"top_k":07}`, fault.InvalidJSON, "must not begin with 0"},
		{"plus", "", `{"top_k":+7}`, fault.InvalidJSON, "at byte 9"},
		{"bare point", "", `{"score":1.}`, fault.InvalidJSON, "a digit was expected"},
		{"NaN", "", `{"score":NaN}`, fault.InvalidJSON, "at byte 9"},
		{"nested 65 deep", "", deep(64), fault.InvalidJSON, "nested deeper than 64"},
		{"nested without end", "", strings.Repeat(`{"a":`, 1_000_000), fault.InvalidJSON, "nested deeper than 64"},
		{"only space", "", "  ", fault.InvalidJSON, "the input ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got request
			err := decoder(t).Decode(input(c.query, c.body), &got)
			if fault.CodeOf(err) != c.code || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("got %v; want %s with %q", err, c.code, c.says)
			}
		})
	}
	var got request
	if err := decoder(t).Decode(input("", deep(63)), &got); err != nil {
		t.Errorf("64 levels: %v", err)
	}
}

func TestNewDecoderRefuses(t *testing.T) {
	for _, c := range []struct {
		typ  reflect.Type
		says string
	}{
		{reflect.TypeFor[string](), "not a struct"},
		{reflect.TypeFor[struct{ Bare string }](), "no path, query, header or json tag"},
		{reflect.TypeFor[struct {
			A string `query:"a"`
			B string `query:"a"`
		}](), "used twice"},
		{reflect.TypeFor[struct {
			A []byte `json:"a"`
		}](), "can't be read"},
		{reflect.TypeFor[struct {
			A chan int `json:"a"`
		}](), "can't be read"},
		{reflect.TypeFor[struct {
			A map[string]int `query:"a"`
		}](), "can't be read"},
		{reflect.TypeFor[struct {
			A string `json:"a" maxDecoded:"3"`
		}](), "is for lists"},
	} {
		if _, err := codec.NewDecoder(c.typ); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %q", c.typ, err, c.says)
		}
	}
}

// FuzzDecode holds the strict reader against encoding/json: what is accepted is
// valid JSON, and the values are those that the standard library reads.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{}`, `{"query":"a\ud83d\ude00","top_k":3}`,
		`{"parts":[{"id":"x","metadata":{"a":[1,"b",true,null]}}]}`,
		`{"weights":{"a":1e-3}}`, `{"query":"\ud800"}`, `{"filter":{"$and":[{"a":1}]},"names":["x"]}`, `{"score":-0}`,
		"{\"query\":\"\xff\"}"} {
		f.Add([]byte(s))
	}
	type plain struct {
		Query   string             `json:"query"`
		TopK    *int               `json:"top_k"`
		Score   float64            `json:"score"`
		Strict  bool               `json:"strict"`
		Weights map[string]float64 `json:"weights"`
		Parts   []part             `json:"parts"`
		Names   []string           `json:"names"`
	}
	d, err := codec.NewDecoder(reflect.TypeFor[plain]())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want plain
		err := d.Decode(codec.Input{Body: data}, &got)
		if err == nil && len(strings.TrimSpace(string(data))) > 0 {
			if !json.Valid(data) || !utf8.Valid(data) {
				t.Fatalf("accepted %q", data)
			}
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatalf("accepted %q, which the standard library refuses: %v", data, err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatal(d)
			}
			return
		}
		if err != nil && !utf8.ValidString(err.Error()) {
			t.Fatalf("the message is not valid UTF-8: %q", err)
		}
		if code := fault.CodeOf(err); err != nil && code != fault.InvalidJSON && code != fault.InvalidRequest &&
			code != fault.InvalidID {
			t.Fatalf("%q: %v", data, err)
		}
		if err != nil && fault.CodeOf(err) != fault.InvalidJSON && !json.Valid(data) {
			t.Fatalf("%q is no JSON, yet %v", data, err)
		}
	})
}

// FuzzQuery: whatever a query string holds, it is read or refused by name.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{"limit=1&cursor=x", "limit=1&limit=2", "%zz=1&cursor=%zz",
		"include=a,b&include=&&=&deep=1", "ratio=1e999", "cursor=%ff"} {
		f.Add(s)
	}
	d := decoder(f)
	f.Fuzz(func(t *testing.T, query string) {
		var got request
		err := d.Decode(codec.Input{Path: func(string) string { return "docs" }, Query: query,
			Header: func(string) []string { return nil }}, &got)
		if code := fault.CodeOf(err); err != nil && code != fault.InvalidRequest && code != fault.InvalidCursor {
			t.Fatalf("%q: %v", query, err)
		}
		if err == nil && !utf8.ValidString(got.Cursor) {
			t.Fatalf("%q gave the cursor %q", query, got.Cursor)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	var docs []string
	for i := range 100 {
		docs = append(docs, fmt.Sprintf(`{"id":"doc-%d","metadata":{"lang":"en","page":%d},"parts":[]}`, i, i))
	}
	body := []byte(`{"query":"` + strings.Repeat("words and more words ", 5000) + `","parts":[` + strings.Join(docs, ",") + `]}`)
	d := decoder(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var got request
		if err := d.Decode(codec.Input{Body: body, Path: func(string) string { return "" },
			Header: func(string) []string { return nil }}, &got); err != nil {
			b.Fatal(err)
		}
	}
}

// restricted says what is changed in its query.
type restricted struct {
	Of string `query:"of" json:"-"`
}

func (*restricted) StrictQuery() {}

// A parameter that is not known is no part of most calls, and refused where it may be a misspelt restriction.
func TestDecodeUnknownParameters(t *testing.T) {
	type open struct {
		Of string `query:"of" json:"-"`
	}
	for query, refused := range map[string]bool{"of=a": false, "&of=a&": false, "of=a&fo=b": true, "of=a&%zz=b": true,
		"of=a&fo": true} {
		var lax open
		d, err := codec.NewDecoder(reflect.TypeFor[open]())
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Decode(codec.Input{Query: query}, &lax); err != nil || lax.Of != "a" {
			t.Errorf("%s: %+v, %v", query, lax, err)
		}
		var strict restricted
		if d, err = codec.NewDecoder(reflect.TypeFor[restricted]()); err != nil {
			t.Fatal(err)
		}
		err = d.Decode(codec.Input{Query: query}, &strict)
		if refused != (fault.CodeOf(err) == fault.InvalidRequest) || !refused && (err != nil || strict.Of != "a") {
			t.Errorf("%s: %+v, %v", query, strict, err)
		}
	}
}

// A whole number is one however it is written.
func TestDecodeWholeNumbers(t *testing.T) {
	for text, want := range map[string]int{"7.0": 7, "1e2": 100, "10E-1": 1, "-3.00": -3} {
		var got struct {
			N int `json:"n"`
		}
		d, err := codec.NewDecoder(reflect.TypeOf(got))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Decode(codec.Input{Body: []byte(`{"n":` + text + `}`)}, &got); err != nil || got.N != want {
			t.Errorf("%s: got %d, %v", text, got.N, err)
		}
	}
	for _, text := range []string{"9007199254740993.0", "1e300", "0.5"} {
		var got struct {
			N int `json:"n"`
		}
		d, err := codec.NewDecoder(reflect.TypeOf(got))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Decode(codec.Input{Body: []byte(`{"n":` + text + `}`)}, &got); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%s: got %d, %v", text, got.N, err)
		}
	}
}
