package constraint_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/constraint"
	"github.com/mnemehq/mneme/core/fault"
)

// tag is a type with a text of its own, as container tags are.
type tag struct {
	value string
	given bool
}

func (t tag) MarshalText() ([]byte, error) {
	if t.value == "!" {
		return nil, fmt.Errorf("has no text")
	}
	return []byte(t.value), nil
}

// picky refuses what it does not take when it is decoded.
type picky struct{ n int }

func (p *picky) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &p.n) }

type bounds struct {
	Low   *int    `json:"low" minimum:"0" maximum:"9"`
	High  int     `json:"high,omitempty" at:"parent" minimum:"0" maximum:"9"`
	Under *int    `json:"under,omitempty" at:"parent" minimum:"-5" maximum:"5"`
	Ratio float64 `json:"ratio,omitempty" minimum:"0" maximum:"1"`
	Count uint8   `json:"count,omitempty" minimum:"2" maximum:"200"`
	Least int64   `json:"least,omitempty" minimum:"-3"`
	Most  int64   `json:"most,omitempty" maximum:"9007199254740991"`
}

type item struct {
	ID   string  `json:"id" schema:"DocumentID" label:"true"`
	Text *string `json:"text" schema:"Text" maxBytes:"2048"`
	Tag  tag     `json:"tag,omitzero" fault:"invalid_container_tag" schema:"ContainerTag"`
	Next []item  `json:"next,omitempty" maxItems:"1"`
}

type paging struct {
	Limit *int `query:"limit" json:"-" minimum:"1" maximum:"100"`
}

type request struct {
	Namespace string `path:"namespace" json:"-" fault:"invalid_namespace" schema:"NamespaceName"`
	paging
	Source  string             `query:"source" json:"-" fault:"invalid_source" required:"true"`
	Topic   string             `json:"topic" minLength:"2" maxLength:"4"`
	Note    string             `json:"note" schema:"Content"`
	Free    string             `json:"free" schema:"Text"`
	Order   string             `query:"order" json:"-" enum:"up,down"`
	Only    []string           `query:"only" json:"-" enum:"a,b,c"`
	Key     *string            `header:"Idempotency-Key" json:"-" pattern:"^[!-~]{1,5}$" rule:"must be 1-5 visible characters"`
	Query   string             `json:"query,omitempty" schema:"Text" minLength:"2" maxLength:"4"`
	Title   string             `json:"title,omitempty" pattern:"^[^\\u0000-\\u001f]*$" not:"^x" maxLength:"6"`
	Name    *string            `json:"name,omitempty" fault:"invalid_id" limitFault:"invalid_request" pattern:"^[a-z]*$" minLength:"1"`
	Body    string             `json:"body,omitempty" schema:"Content"`
	Mode    *string            `json:"mode,omitempty" enum:"one"`
	Exact   *bool              `json:"exact,omitempty" enum:"true"`
	Weights map[string]float64 `json:"weights,omitempty" keys:"x,y" minProperties:"1" minimum:"0" maximum:"10"`
	Limits  map[string]bounds  `json:"limits,omitempty"`
	IDs     []string           `json:"ids,omitempty" schema:"DocumentID" minItems:"1" maxItems:"2"`
	Items   []item             `json:"items,omitempty" minItems:"1"`
	Own     picky              `json:"own,omitempty" minimum:"1"`
	Raw     json.RawMessage    `json:"raw,omitempty" schema:"Filter"`
	When    *time.Time         `json:"when,omitempty"`
	Inner   *bounds            `json:"inner,omitempty"`
	Plain   []string           `json:"plain,omitempty"`
	private int
	Hidden  *string `json:"-" minLength:"9"`
}

func valid() *request { return &request{Namespace: "docs", Source: "crm", Topic: "abc", Note: "n"} }

// Each broken limit answers the code, path and message that its tags declare.
func TestABrokenLimitIsToldByItsTags(t *testing.T) {
	numbers := func(b bounds) *bounds {
		if b.Low == nil {
			b.Low = new(1)
		}
		return &b
	}
	items := func(i ...item) []item {
		for n := range i {
			if i[n].Text == nil {
				i[n].Text = new("t")
			}
		}
		return i
	}
	for name, c := range map[string]struct {
		change func(*request)
		code   fault.Code
		says   string // "": it is taken
	}{
		"as it is": {func(*request) {}, "", ""},
		"form": {func(r *request) { r.Namespace = "A" }, fault.InvalidNamespace,
			`namespace: must be 1-64 characters of a-z 0-9 _ -, starting with a letter or digit, got "A"`},
		"form left out": {func(r *request) { r.Namespace = "" }, fault.InvalidNamespace,
			"namespace: is required, and must be 1-64 characters of a-z 0-9 _ -, starting with a letter or digit"},
		"form left out of an item": {func(r *request) { r.Items = items(item{}) }, fault.InvalidID,
			"items[0].id: is required, and must be 1-256"},
		"length left out": {func(r *request) { r.Topic = "" }, fault.InvalidRequest,
			"topic: is required, and must be 2-4 characters"},
		"length of one": {func(r *request) { r.Topic = "ä" }, fault.InvalidRequest, "topic: must be 2-4 characters, got 1"},
		"content left out": {func(r *request) { r.Note = "" }, fault.InvalidRequest,
			"note: is required, and must hold a character"},
		"an empty text":     {func(r *request) { r.Free = "" }, "", ""},
		"no NUL in that":    {func(r *request) { r.Free = "\x00" }, fault.InvalidRequest, "free: holds a NUL character"},
		"embedded":          {func(r *request) { r.Limit = new(101) }, fault.InvalidRequest, "limit: must be 1-100"},
		"embedded at most":  {func(r *request) { r.Limit = new(100) }, "", ""},
		"embedded at least": {func(r *request) { r.Limit = new(1) }, "", ""},
		"embedded below":    {func(r *request) { r.Limit = new(0) }, fault.InvalidRequest, "limit: must be 1-100"},
		"required":          {func(r *request) { r.Source = "" }, fault.InvalidSource, "source: is required"},
		"enum":              {func(r *request) { r.Order = "left" }, fault.InvalidRequest, "order: must be up or down"},
		"enum taken":        {func(r *request) { r.Order = "down" }, "", ""},
		"enum of a list": {func(r *request) { r.Only = []string{"a", "d"} }, fault.InvalidRequest,
			`only: must hold a, b or c, not "d"`},
		"list of an enum": {func(r *request) { r.Only = []string{"c", "a", "c"} }, "", ""},
		"rule": {func(r *request) { r.Key = new("a b") }, fault.InvalidRequest,
			"Idempotency-Key: must be 1-5 visible characters"},
		"empty": {func(r *request) { r.Key = new("") }, fault.InvalidRequest,
			"Idempotency-Key: must be 1-5 visible characters"},
		"pattern taken": {func(r *request) { r.Key = new("abcde") }, "", ""},
		"characters":    {func(r *request) { r.Query = "äöüß" }, "", ""},
		"too many characters": {func(r *request) { r.Query = "äöüßa" }, fault.InvalidRequest,
			"query: must be 2-4 characters, got 5"},
		"too few characters": {func(r *request) { r.Query = "ä" }, fault.InvalidRequest, "query: must be 2-4 characters, got 1"},
		"NUL":                {func(r *request) { r.Query = "a\x00" }, fault.InvalidRequest, "query: holds a NUL character"},
		"UTF-8":              {func(r *request) { r.Query = "a\xff" }, fault.InvalidRequest, "query: is not valid UTF-8"},
		"code points":        {func(r *request) { r.Title = "a\x1f" }, fault.InvalidRequest, "title: must match ^[^"},
		"not":                {func(r *request) { r.Title = "xa" }, fault.InvalidRequest, "title: must not match ^x"},
		"at most characters": {func(r *request) { r.Title = "abcdefg" }, fault.InvalidRequest,
			"title: must be at most 6 characters, got 7"},
		"six":             {func(r *request) { r.Title = "abcdef" }, "", ""},
		"code of a limit": {func(r *request) { r.Name = new("A") }, fault.InvalidRequest, "name: must match ^[a-z]*$"},
		"at least one": {func(r *request) { r.Name = new("") }, fault.InvalidRequest,
			"name: must be at least 1 character, got 0"},
		"white space": {func(r *request) { r.Body = " \u2003\n" }, fault.InvalidRequest,
			"body: must hold a character that is not white space"},
		"NUL in content": {func(r *request) { r.Body = "a\x00" }, fault.InvalidRequest, "body: holds a NUL character"},
		"content":        {func(r *request) { r.Body = " a " }, "", ""},
		"enum of one":    {func(r *request) { r.Mode = new("") }, fault.InvalidRequest, "mode: must be one"},
		"boolean":        {func(r *request) { r.Exact = new(false) }, fault.InvalidRequest, "exact: must be true"},
		"boolean taken":  {func(r *request) { r.Exact = new(true) }, "", ""},
		"name of a map": {func(r *request) { r.Weights = map[string]float64{"x": 1, "z": 99, "zz": 1} },
			fault.InvalidRequest, "weights.z: is not a known name, which is x or y"},
		"value of a map": {func(r *request) { r.Weights = map[string]float64{"x": 10, "y": 10.5} },
			fault.InvalidRequest, "weights.y: must be 0-10"},
		"no number": {func(r *request) { r.Weights = map[string]float64{"x": math.NaN()} },
			fault.InvalidRequest, "weights.x: must be 0-10"},
		"empty map": {func(r *request) { r.Weights = map[string]float64{} }, fault.InvalidRequest,
			"weights: must hold at least 1 of x or y"},
		"map": {func(r *request) { r.Weights = map[string]float64{"x": 0} }, "", ""},
		"struct in a map": {func(r *request) { r.Limits = map[string]bounds{"read": {}} }, fault.InvalidRequest,
			"limits.read.low: is required"},
		"bound of the parent": {func(r *request) { r.Limits = map[string]bounds{"read": *numbers(bounds{High: 10})} },
			fault.InvalidRequest, "limits.read: must be 0-9"},
		"long name": {func(r *request) { r.Limits = map[string]bounds{strings.Repeat("n", 200): {}} },
			fault.InvalidRequest, "limits." + strings.Repeat("n", 100) + "....low: is required"},
		"negative": {func(r *request) { r.Inner = numbers(bounds{Under: new(-6)}) }, fault.InvalidRequest,
			"inner: must be -5 to 5"},
		"negative taken": {func(r *request) {
			r.Inner = numbers(bounds{Under: new(-5), High: 9, Ratio: 1, Count: 200, Least: -3, Most: 1<<53 - 1})
		}, "", ""},
		"ratio": {func(r *request) { r.Inner = numbers(bounds{Ratio: 1.001}) }, fault.InvalidRequest,
			"inner.ratio: must be 0-1"},
		"unsigned over": {func(r *request) { r.Inner = numbers(bounds{Count: 201}) }, fault.InvalidRequest,
			"inner.count: must be 2-200"},
		"unsigned under": {func(r *request) { r.Inner = numbers(bounds{Count: 1}) }, fault.InvalidRequest,
			"inner.count: must be 2-200"},
		"at least": {func(r *request) { r.Inner = numbers(bounds{Least: -4}) }, fault.InvalidRequest,
			"inner.least: must be at least -3"},
		"at most": {func(r *request) { r.Inner = numbers(bounds{Most: 1 << 53}) }, fault.InvalidRequest,
			"inner.most: must be at most 9007199254740991"},
		"form in a list":  {func(r *request) { r.IDs = []string{"a", "-"} }, fault.InvalidID, "ids[1]: must be 1-256"},
		"empty in a list": {func(r *request) { r.IDs = []string{""} }, fault.InvalidID, "ids[0]: must be 1-256"},
		"no items":        {func(r *request) { r.IDs = []string{} }, fault.InvalidRequest, "ids: must hold 1-2 items, got 0"},
		"too many items": {func(r *request) { r.IDs = []string{"-", "-", "-"} }, fault.InvalidRequest,
			"ids: must hold 1-2 items, got 3"},
		"two items": {func(r *request) { r.IDs = []string{"a", "b"} }, "", ""},
		"at least one item": {func(r *request) { r.Items = []item{} }, fault.InvalidRequest,
			"items: must hold at least 1 item, got 0"},
		"item without label": {func(r *request) { r.Items = items(item{ID: "a"}, item{ID: "."}) }, fault.InvalidID,
			"items[1].id: must be 1-256"},
		"item with label": {func(r *request) { r.Items = []item{{ID: "a"}} }, fault.InvalidRequest,
			"items[0] (id a).text: is required"},
		"bytes": {func(r *request) { r.Items = items(item{ID: "a", Text: new(strings.Repeat("ä", 1024))}) }, "", ""},
		"too many bytes": {func(r *request) { r.Items = items(item{ID: "a", Text: new(strings.Repeat("ä", 1024) + "a")}) },
			fault.PayloadTooLarge, "items[0] (id a).text: is 2049 bytes; at most 2048 (2 KB) are allowed"},
		"own text": {func(r *request) { r.Items = items(item{ID: "a", Tag: tag{"a b", true}}) },
			fault.InvalidContainerTag, "items[0] (id a).tag: must be 1-128"},
		"own empty text": {func(r *request) { r.Items = items(item{ID: "a", Tag: tag{"", true}}) },
			fault.InvalidContainerTag, "items[0] (id a).tag: must be 1-128"},
		"own text taken": {func(r *request) { r.Items = items(item{ID: "a", Tag: tag{"a", true}}) }, "", ""},
		"no own text": {func(r *request) { r.Items = items(item{ID: "a", Tag: tag{"!", true}}) },
			fault.InvalidContainerTag, "items[0] (id a).tag: has no text"},
		"a type in itself": {func(r *request) {
			r.Items = items(item{ID: "a", Next: items(item{ID: "b", Next: items(item{}, item{})})})
		}, fault.InvalidRequest, "items[0] (id a).next[0] (id b).next: must hold at most 1 item, got 2"},
		"nothing to check": {func(r *request) {
			r.Own, r.Raw, r.When, r.Plain, r.private = picky{-1}, json.RawMessage("\x00"), &time.Time{}, []string{"\x00"}, 1
		}, "", ""},
		"no part of it": {func(r *request) { r.Hidden = new("") }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := valid()
			c.change(r)
			err := constraint.Check(r)
			if c.says == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			f := fault.From(err)
			if f == nil || f.Code != c.code || !strings.HasPrefix(f.Message, c.says) {
				t.Fatalf("got %v, want %s: %s", err, c.code, c.says)
			}
			path, reason, _ := strings.Cut(f.Message, ": ")
			if f.Details["field"] != path || f.Details["reason"] != reason {
				t.Errorf("details %v beside %q", f.Details, f.Message)
			}
		})
	}
}

// The first field that is wrong is told, in the order of the fields.
func TestTheFirstBrokenLimitIsTold(t *testing.T) {
	r := &request{Order: "left", Topic: "abc", Note: "n"}
	for _, want := range []string{"namespace: ", "source: ", "order: "} {
		if err := constraint.Check(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("got %v, want one of %q", err, want)
		}
		switch want {
		case "namespace: ":
			r.Namespace = "docs"
		case "source: ":
			r.Source = "crm"
		}
	}
}

// A part of a request is told by its place in the request.
func TestAPartIsToldByItsPlace(t *testing.T) {
	for at, want := range map[string]string{"": "ratio: must be 0-1", "rerank": "rerank.ratio: must be 0-1"} {
		err := constraint.CheckAt(at, &bounds{Low: new(0), Ratio: -1})
		if f := fault.From(err); f == nil || f.Message != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := constraint.CheckAt("rerank", &bounds{Low: new(0)}); err != nil {
		t.Error(err)
	}
}

// A tag that cannot be read is found when the program starts.
func TestATagThatCannotBeReadPanics(t *testing.T) {
	for name, v := range map[string]any{
		"count": struct {
			A string `json:"a" minLength:"many"`
		}{},
		"below 0": struct {
			A string `json:"a" maxLength:"-1"`
		}{},
		"minimum": struct {
			A int `json:"a" minimum:"x"`
		}{},
		"maximum": struct {
			A uint `json:"a" maximum:"-1"`
		}{},
		"ratio": struct {
			A float64 `json:"a" maximum:"x"`
		}{},
		"pattern": struct {
			A string `json:"a" pattern:"("`
		}{},
		"not": struct {
			A string `json:"a" not:"("`
		}{},
		"form": struct {
			A string `json:"a" schema:"Nothing"`
		}{},
		"boolean": struct {
			A bool `json:"a" enum:"yes"`
		}{},
		"both": struct {
			A bool `json:"a" enum:"true,false"`
		}{},
		"number": struct {
			A int `json:"a" enum:"1,2"`
		}{},
		"deep": struct {
			A []map[string]*struct {
				B int `json:"b" enum:"1"`
			} `json:"a"`
		}{},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was taken")
				}
			}()
			constraint.For(reflect.TypeOf(v))
		})
	}
}

// What a plan costs beside a call that embeds a text: nothing.
func BenchmarkCheck(b *testing.B) {
	query := valid()
	query.Query, query.Limit, query.Weights = "äöü", new(10), map[string]float64{"x": 1, "y": 2}
	batch := valid()
	text := strings.Repeat("A sentence of a document. ", 78)
	for i := range 100 {
		batch.Items = append(batch.Items, item{ID: fmt.Sprintf("document-%d", i), Text: &text})
	}
	for name, r := range map[string]*request{"query": query, "100 documents of 2 KB": batch} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := constraint.Check(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
