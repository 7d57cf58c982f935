package mcp

import (
	"encoding/json"
	"fmt"

	"github.com/invopop/jsonschema"

	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/transports/codec"
)

// inputSchema is the schema of a tool's arguments. A model need not know that null
// stands for an argument left out.
func inputSchema(r *op.Route, v variant) (json.RawMessage, error) {
	s := codec.InputSchema(r.In)
	if _, ok := s.Properties.Get("end_user_id"); ok && !v.pinned {
		s.Required = append(s.Required, "end_user_id")
	}
	if v.pinned {
		s.Properties.Delete("namespace")
		s.Properties.Delete("end_user_id")
	}
	trimSchema(s, true)
	return encode(s)
}

// outputSchema is the schema of a tool's answer.
func outputSchema(r *op.Route) (json.RawMessage, error) {
	s := codec.OutputSchema(r.Out)
	trimSchema(s, false)
	return encode(s)
}

func encode(s *jsonschema.Schema) (json.RawMessage, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode schema: %w", err)
	}
	return b, nil
}

// trimSchema removes from a schema what takes up a model's context without telling it
// anything: the width of numbers and, with args, that a value may be null.
func trimSchema(s *jsonschema.Schema, args bool) {
	switch s.Format {
	case "int32", "int64", "float", "double":
		s.Format = ""
	}
	if types, ok := s.Extras["type"].([]string); ok && args && len(types) == 2 && types[1] == "null" {
		s.Type = types[0]
		delete(s.Extras, "type")
	}
	if s.Properties != nil {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			trimSchema(p.Value, args)
		}
	}
	if s.Items != nil {
		trimSchema(s.Items, args)
	}
	for _, a := range s.AnyOf {
		trimSchema(a, args)
	}
}
