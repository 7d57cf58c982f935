package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/invopop/jsonschema"
	orderedmap "github.com/pb33f/ordered-map/v2"
)

// JSON renders the document, indented by two spaces. It is the same on every run.
func (d *Document) JSON() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(d.root); err != nil {
		return nil, fmt.Errorf("render OpenAPI: %w", err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, out.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("render OpenAPI: %w", err)
	}
	return indented.Bytes(), nil
}

// YAML renders the same document as JSON does.
func (d *Document) YAML() ([]byte, error) {
	body, err := d.JSON()
	if err != nil {
		return nil, err
	}
	out, err := yaml.JSONToYAML(body)
	if err != nil {
		return nil, fmt.Errorf("render OpenAPI: %w", err)
	}
	return out, nil
}

// keywords is the order in which people read a schema.
func keywords() []string {
	return []string{"$ref", "title", "description", "type", "format", "enum", "const", "pattern", "minLength",
		"maxLength", "minimum", "maximum",
		"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "default", "examples", "items",
		"properties", "required", "propertyNames", "additionalProperties",
		"anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "contentMediaType", "contentSchema"}
}

// orderKeywords gives a schema's keywords an order.
func orderKeywords(s *jsonschema.Schema) (any, error) {
	body, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("render schema: %w", err)
	}
	return arrange(body, true)
}

// arrange decodes JSON with members in order: those of schemas by keywords, and
// others as they come.
func arrange(body json.RawMessage, schema bool) (any, error) {
	switch body[0] {
	case '{':
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(body, &items); err != nil {
			return nil, err
		}
		out := make([]any, len(items))
		for i, item := range items {
			var err error
			if out[i], err = arrange(item, schema); err != nil {
				return nil, err
			}
		}
		return out, nil
	default:
		switch string(body) {
		case "true":
			body = json.RawMessage(`{}`)
		case "false":
			body = json.RawMessage(`{"not": {}}`)
		}
		return body, nil
	}
	members := orderedmap.New[string, json.RawMessage]()
	if err := json.Unmarshal(body, members); err != nil {
		return nil, err
	}
	var names []string
	for p := members.Oldest(); p != nil; p = p.Next() {
		names = append(names, p.Key)
	}
	if schema {
		order := keywords()
		at := func(name string) int {
			if i := slices.Index(order, name); i >= 0 {
				return i
			}
			return len(order)
		}
		slices.SortStableFunc(names, func(a, b string) int { return at(a) - at(b) })
	}
	out := orderedmap.New[string, any]()
	for _, name := range names {
		value, _ := members.Get(name)
		var arranged any = value
		var err error
		switch {
		case !schema: // names to schemas
			arranged, err = arrange(value, true)
		case slices.Contains([]string{"properties", "dependentSchemas"}, name):
			arranged, err = arrange(value, false)
		case name == "additionalProperties" && (string(value) == "true" || string(value) == "false"):
		case slices.Contains([]string{"items", "propertyNames", "additionalProperties", "anyOf", "oneOf", "not", "if",
			"then", "else", "contains", "contentSchema"}, name):
			arranged, err = arrange(value, true)
		}
		if err != nil {
			return nil, err
		}
		out.Set(name, arranged)
	}
	return out, nil
}
