package codec_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"

	"github.com/mnemehq/mneme/transports/codec"
)

type inner struct {
	Depth *int `json:"depth,omitempty" minimum:"1" maximum:"9"`
}

// odd is read by a method of its own.
type odd struct{ text string }

func (o *odd) UnmarshalText(b []byte) error { o.text = string(b); return nil }
func (o *odd) JSONSchema() string           { return `{"type": "string", "const": "odd"}` }

type common struct {
	Order string `query:"order" enum:"id,age" default:"id" doc:"how to sort"`
}

type asked struct {
	Name string `path:"name" json:"-" schema:"NamespaceName"`
	Key  string `header:"Key" json:"-"`
	common
	Query    string             `json:"query" minLength:"1" maxLength:"5" example:"why"`
	Count    *int               `json:"count,omitempty" minimum:"1" maximum:"3" default:"2"`
	Text     *string            `json:"text" schema:"Text"`
	IDs      []string           `json:"ids,omitempty" schema:"DocumentID" minItems:"1" maxItems:"2" uniqueItems:"true"`
	Weights  map[string]float64 `json:"weights,omitempty" keys:"a,b" minimum:"0" maximum:"10" minProperties:"1"`
	Mode     *string            `json:"mode,omitempty" enum:"x,y"`
	Cut      *bool              `json:"cut,omitempty" enum:"true"`
	Whole    bool               `json:"whole,omitempty" enum:"false"`
	Odd      odd                `json:"odd,omitzero"`
	Inner    *inner             `json:"inner,omitempty"`
	Either   json.RawMessage    `json:"either,omitempty"`
	Metadata json.RawMessage    `json:"metadata,omitempty" schema:"Metadata"`
	At       *time.Time         `json:"at,omitempty"`
	Alias    *string            `json:"alias,omitempty" not:"^org_"`
}

func (*asked) Alternatives() map[string][]any {
	return map[string][]any{"either": {nil, false, inner{}}}
}
func (*asked) JSONSchema() string { return `{"dependentRequired": {"mode": ["count"]}}` }

type told struct {
	ID    string    `json:"id"`
	Next  *string   `json:"next"`
	Maybe *string   `json:"maybe,omitempty"`
	At    time.Time `json:"at"`
	Items []inner   `json:"items"`
	self  int
}

func asJSON(t *testing.T, s *jsonschema.Schema) any {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func same(t *testing.T, what string, got *jsonschema.Schema, want string) {
	t.Helper()
	var w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if diff := cmp.Diff(w, asJSON(t, got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// A schema of a request says what the decoder takes, and stands alone.
func TestSchemasOfRequests(t *testing.T) {
	same(t, "tool input", codec.InputSchema(reflect.TypeFor[asked]()), `{
		"type": "object", "additionalProperties": false, "required": ["query", "text"],
		"dependentRequired": {"mode": ["count"]},
		"properties": {
			"query": {"type": "string", "minLength": 1, "maxLength": 5, "examples": ["why"]},
			"count": {"type": ["integer", "null"], "format": "int64", "minimum": 1, "maximum": 3, "default": 2},
			"text": {"type": "string", "pattern": "^[^\\u0000]*$"},
			"ids": {"type": "array", "minItems": 1, "maxItems": 2, "uniqueItems": true, "items": {"type": "string", `+
		`"pattern": "^[A-Za-z0-9][A-Za-z0-9._:-]{0,255}$"}},
			"weights": {"type": "object", "minProperties": 1, "propertyNames": {"enum": ["a", "b"]}, `+
		`"additionalProperties": {"type": "number", "format": "double", "minimum": 0, "maximum": 10}},
			"mode": {"type": ["string", "null"], "enum": ["x", "y", null]},
			"cut": {"type": ["boolean", "null"], "not": {"const": false}}, "whole": {"type": "boolean", "not": {"const": true}},
			"odd": {"type": "string", "const": "odd"},
			"inner": {"type": ["object", "null"], "additionalProperties": false, "properties": {"depth": {"type": `+
		`["integer", "null"], "format": "int64", "minimum": 1, "maximum": 9}}},
			"either": {"anyOf": [{"type": "boolean"}, {"type": "object", "additionalProperties": false, "properties": `+
		`{"depth": {"type": ["integer", "null"], "format": "int64", "minimum": 1, "maximum": 9}}}, {"type": "null"}]},
			"metadata": {"type": "object"},
			"at": {"type": ["string", "null"], "format": "date-time"},
			"alias": {"type": ["string", "null"], "not": {"type": "string", "pattern": "^org_"}}
		}}`)
	var names []string
	for _, p := range (&codec.Schemas{}).Parameters(reflect.TypeFor[asked]()) {
		names = append(names, p.In+" "+p.Name+map[bool]string{true: " required"}[p.Required])
	}
	if got, want := strings.Join(names, ", "), "path name required, header Key, query order"; got != want {
		t.Errorf("parameters %s, want %s", got, want)
	}
}

// A schema of an answer is open, and says what may be null and what absent.
func TestSchemasOfAnswers(t *testing.T) {
	_ = told{}.self
	same(t, "answer", codec.OutputSchema(reflect.TypeFor[told]()), `{
		"type": "object", "required": ["id", "next", "at", "items"],
		"properties": {
			"id": {"type": "string"}, "next": {"type": ["string", "null"]}, "maybe": {"type": "string"},
			"at": {"type": "string", "format": "date-time"},
			"items": {"type": "array", "items": {"type": "object", "properties": {"depth": {"type": "integer", `+
		`"format": "int64", "minimum": 1, "maximum": 9}}}}
		}}`)
}

// A tag that can't be read is found when the schema is made, not by a client.
func TestTagsThatSayNothingPanic(t *testing.T) {
	type bound struct {
		X int `json:"x" maxLength:"many"`
	}
	type value struct {
		X int `json:"x" default:"many"`
	}
	type shape struct {
		X string `json:"x" schema:"Nowhere"`
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[bound](), reflect.TypeFor[value](), reflect.TypeFor[shape]()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", typ)
				}
			}()
			codec.InputSchema(typ)
		}()
	}
}
