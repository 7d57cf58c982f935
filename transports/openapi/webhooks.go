package openapi

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/mnemehq/mneme/core/op"
)

// webhooks describes what callers can be told of, by kind: the body is what GET /events gives
// of an event, less its id.
func (b *builder) webhooks(events []op.Event) *object {
	gen, out := b.generator(), of()
	for _, e := range events {
		properties := jsonschema.NewProperties()
		properties.Set("type", &jsonschema.Schema{Type: "string", Const: e.Name})
		at := *gen.Output(reflect.TypeFor[time.Time]())
		at.Description = "when it happened"
		properties.Set("timestamp", &at)
		properties.Set("data", gen.Output(reflect.TypeOf(e.Data)))
		schema := &jsonschema.Schema{Type: "object", Properties: properties, Required: []string{"type", "timestamp", "data"}}
		text := e.Summary
		if e.Admin {
			text += " Only admin keys see it."
		}
		out.Set(e.Name, of("post", of(
			"operationId", "on."+e.Name,
			"summary", e.Summary,
			"description", text,
			"security", []any{}, // a receiver asks for no key: it checks the signature
			"requestBody", of("required", true, "content", of("application/json", of(
				"schema", schema, "example", json.RawMessage(e.Example)))),
			"responses", of("200", of("description", "Anything from 200 to 299 takes the event.")),
		)))
	}
	return out
}
