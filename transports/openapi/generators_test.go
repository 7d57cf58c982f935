package openapi_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/transports/openapi"
)

type choice struct {
	ID    string `json:"id,omitempty" default:"a" doc:"which one"`
	Many  *int   `json:"many,omitempty" default:"10"`
	Bare  bool   `json:"bare,omitempty" doc:"without"`
	Limit *int   `query:"limit" json:"-" default:"5"`
	More  any    `json:"more,omitempty"`
}

func (choice) JSONSchema() string {
	return `{"if": {"required": ["id"]}, "then": {"properties": {"many": false, "more": true, "bare": {"const": false}}}}`
}

type choosing struct{}

func (choosing) Do(context.Context, choice) (answer, error) { return answer{}, nil }

// Generators of clients take a field with a default for one that is required, or send the
// default themselves, and few of them read a schema that is true or false.
func TestGeneratorsReadWhatIsRendered(t *testing.T) {
	set := &op.Set{Chain: middleware.Chain(middleware.Options{Keys: keys{}})}
	op.Mount(set, choosing{}, []op.Op[choosing]{op.Define(op.Spec{
		Name: "namespaces.choose", Group: op.Namespaces, Method: "POST", Path: "/choose", Summary: "Choose", Class: op.Read,
		MaxBody: 1024}, choosing.Do)})
	d, err := openapi.New(openapi.Options{Set: set})
	if err != nil {
		t.Fatal(err)
	}
	body, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	type field struct {
		Description string
		Default     any
	}
	var got struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name   string
				Schema field
			}
		}
		Components struct {
			Schemas map[string]struct {
				Properties           map[string]field
				AdditionalProperties any
				Then                 struct{ Properties map[string]json.RawMessage }
			}
		}
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	schema := got.Components.Schemas["Openapi_testChoice"]
	for name, want := range map[string]string{"id": "which one; default: a", "many": "default: 10", "bare": "without"} {
		if f := schema.Properties[name]; f.Description != want || f.Default != nil {
			t.Errorf("the field %s is %+v, want %q", name, f, want)
		}
	}
	if p := got.Paths["/choose"]["post"].Parameters[0]; p.Name != "limit" || p.Schema.Default != 5.0 {
		t.Errorf("the first parameter is %+v, want limit with its default", p)
	}
	if schema.AdditionalProperties != false {
		t.Errorf("additionalProperties is %v, want false, which all generators know", schema.AdditionalProperties)
	}
	for name, want := range map[string]string{"many": `{"not":{}}`, "more": `{}`, "bare": `{"const":false}`} {
		var compact any
		if err := json.Unmarshal(schema.Then.Properties[name], &compact); err != nil {
			t.Fatal(err)
		}
		if is, _ := json.Marshal(compact); string(is) != want {
			t.Errorf("then.properties.%s is %s, want %s", name, is, want)
		}
	}
}
