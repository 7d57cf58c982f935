package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Kind is a kind of source as it is answered.
type Kind struct {
	Name        string          `json:"name"`
	Title       string          `json:"title" doc:"for people"`
	Summary     string          `json:"summary"`
	Config      json.RawMessage `json:"config" doc:"JSON Schema of the settings"`
	Secrets     json.RawMessage `json:"secrets" doc:"JSON Schema of the secrets, which are strings"`
	Incremental bool            `json:"incremental" doc:"whether a run can ask for what has changed alone"`
	Revokes     bool            `json:"revokes" doc:"whether a grant of a source of that name takes these secrets, to be given back with"`
}

// knownKind is a connector with its schemas, ready to check with.
type knownKind struct {
	port.SourceKind
	connector       port.Connector
	config, secrets *jsonschema.Schema
}

func newKind(c port.Connector) (knownKind, error) {
	k := knownKind{SourceKind: c.Kind(), connector: c}
	var err error
	if k.config, err = compile(k.Name+"/config", k.Config); err == nil {
		k.secrets, err = compile(k.Name+"/secrets", k.Secrets)
	}
	if err != nil {
		return k, fmt.Errorf("source kind %s: %w", k.Name, err)
	}
	return k, nil
}

func compile(name string, schema json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is fetched
	url := "mneme:///" + name
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	return c.Compile(url)
}

// problems lists what a schema does not allow, each by its field.
func problems(where string, schema *jsonschema.Schema, raw json.RawMessage) []port.SourceFieldProblem {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return []port.SourceFieldProblem{{Field: where, Message: "must be a JSON object"}}
	}
	var broken *jsonschema.ValidationError
	if errors.As(schema.Validate(value), &broken) {
		return flatten(where, broken, raw, schema)
	}
	return nil
}

var english = message.NewPrinter(language.English)

// flatten makes problems of the innermost causes, in the order of their fields.
func flatten(where string, e *jsonschema.ValidationError, raw json.RawMessage,
	schema *jsonschema.Schema) (out []port.SourceFieldProblem) {
	for _, c := range e.Causes {
		out = append(out, flatten(where, c, raw, schema)...)
	}
	if len(e.Causes) > 0 {
		slices.SortStableFunc(out, func(a, b port.SourceFieldProblem) int { return strings.Compare(a.Field, b.Field) })
		return out
	}
	field := strings.Join(append([]string{where}, e.InstanceLocation...), ".")
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			hint := ""
			if len(e.InstanceLocation) == 0 {
				hint = registry.Suggest(name, slices.Sorted(maps.Keys(schema.Properties)))
			}
			out = append(out, port.SourceFieldProblem{Field: field + "." + fault.Clip(name), Message: unknown + hint})
		}
	case *kind.Required:
		for _, name := range k.Missing {
			out = append(out, port.SourceFieldProblem{Field: field + "." + name, Message: "is required"})
		}
	case *kind.Type:
		out = append(out, port.SourceFieldProblem{Field: field, Message: "must be of type " + strings.Join(k.Want, " or ")})
	default:
		out = append(out, port.SourceFieldProblem{Field: field, Message: "is not allowed: " + reasonOf(e)})
	}
	return out
}

// reasonOf is what a schema has against a value, without the value, which may be a secret.
func reasonOf(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Enum:
		words := make([]string, len(k.Want))
		for i, w := range k.Want {
			words[i] = fmt.Sprint(w)
		}
		return "it must be one of " + strings.Join(words, ", ")
	case *kind.Const:
		return fmt.Sprintf("it must be %v", k.Want)
	case *kind.Pattern:
		return "it must match " + k.Want
	case *kind.Format:
		return "it must be a " + k.Want
	}
	return e.ErrorKind.LocalizedString(english)
}

// unknown begins what is said of a field that a kind does not have.
const unknown = "is unknown"

// refuse is the fault of the first of some problems. A field that is unknown comes before those that
// are missing, of which it may be a misspelt one.
func refuse(all []port.SourceFieldProblem) error {
	if len(all) == 0 {
		return nil
	}
	for _, p := range all {
		if strings.HasPrefix(p.Message, unknown) {
			return fault.Field(fault.InvalidRequest, p.Field, "%s", p.Message)
		}
	}
	return fault.Field(fault.InvalidRequest, all[0].Field, "%s", all[0].Message)
}

// kindOf finds a kind by name.
func (s *Service) kindOf(name string) (knownKind, error) {
	k, ok := s.connectors[name]
	if !ok {
		return k, fault.Field(fault.InvalidRequest, "kind", "%q is no kind of source here%s", fault.Clip(name),
			registry.Suggest(name, slices.Sorted(maps.Keys(s.connectors))))
	}
	return k, nil
}

// secretProblems lists what is wrong with the secrets of a request: an empty one is to be
// removed, so it is not looked at.
func (k knownKind) secretProblems(secrets map[string]string) []port.SourceFieldProblem {
	given := map[string]string{}
	for name, value := range secrets {
		if value != "" {
			given[name] = value
		}
	}
	raw, err := json.Marshal(given)
	if err != nil {
		return []port.SourceFieldProblem{{Field: "secrets", Message: "must be an object of strings"}}
	}
	return problems("secrets", k.secrets, raw)
}
