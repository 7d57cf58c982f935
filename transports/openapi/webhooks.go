package openapi

import (
	"encoding/json"
	"reflect"

	"github.com/mnemehq/mneme/core/op"
)

// webhooks describes what callers can be told of, by kind: the body is what GET /events gives
// of an event, less its id.
func (b *builder) webhooks(events []op.Event) *object {
	gen, out := b.generator(), of()
	for _, e := range events {
		text := e.Summary
		if e.Admin {
			text += " Only admin keys see it."
		}
		out.Set(e.Name, of("post", of(
			"operationId", "on."+e.Name,
			"summary", e.Summary,
			"description", text,
			// openapi-generator 7.17 makes TypeScript of webhooks that does not compile, and leaves
			// internal operations out. Other readers show them.
			"x-internal", true,
			"security", []any{}, // a receiver asks for no key: it checks the signature
			"requestBody", of("required", true, "content", of("application/json", of(
				"schema", gen.Output(reflect.TypeOf(e.Body)), "example", json.RawMessage(e.Example)))),
			"responses", of("200", of("description", "Anything from 200 to 299 takes the event.")),
		)))
	}
	return out
}
