package sourcekit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mnemehq/mneme/core/port"
)

var kindName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

// describe checks what connectors say of themselves, and reports whether one of them can be tried.
func (k *check) describe(all []port.Connector) bool {
	k.step("describe")
	k.expect("describes.kinds", "a kind at least", len(all) > 0, "none")
	for _, c := range all {
		kind := c.Kind()
		twice := slices.Contains(k.report.Connector.Kinds, kind.Name)
		k.report.Connector.Kinds = append(k.report.Connector.Kinds, kind.Name)
		k.expect("describes.name", "a kind's name is of [a-z0-9_], at most 32 bytes, and no other kind's",
			kindName.MatchString(kind.Name) && !twice && !slices.Contains(k.c.Taken, kind.Name), "%q", kind.Name)
		k.expect("describes.words", "a title and a summary", kind.Title != "" && kind.Summary != "",
			"kind %s: title %q, summary %q",
			kind.Name, kind.Title, kind.Summary)
		k.schema(kind.Name, "settings", kind.Config)
		k.schema(kind.Name, "secrets", kind.Secrets)
		if kind.Name == k.c.Kind || k.c.Kind == "" && len(all) == 1 {
			k.connector, k.kind = c, kind
		}
	}
	const expect = "it is tried with an account"
	switch {
	case k.c.Config == nil:
		k.skip("account", expect, "no settings of one were given")
		return false
	case k.connector == nil:
		k.expect("account", expect, false, "it has the kinds %s, and %q was to be tried",
			strings.Join(k.report.Connector.Kinds, ", "), k.c.Kind)
		return false
	}
	k.report.Connector.Kind = k.kind.Name
	return true
}

func compile(schema json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is fetched
	if err := c.AddResource("mneme:///kind", doc); err != nil {
		return nil, err
	}
	return c.Compile("mneme:///kind")
}

// schema checks what a kind says of its settings, or of its secrets.
func (k *check) schema(kind, of string, raw json.RawMessage) {
	_, err := compile(raw)
	k.expect("describes.schemas", "JSON Schemas (2020-12) of settings and secrets that refer to nothing outside",
		err == nil, "kind %s, %s: %v", kind, of, err)
	if err != nil {
		return
	}
	var s struct {
		Type       string
		Properties map[string]struct {
			Type        any
			Description string
		}
		Additional  *bool `json:"additionalProperties"`
		Unevaluated *bool `json:"unevaluatedProperties"`
	}
	err = json.Unmarshal(raw, &s)
	k.expect("describes.objects", `settings and secrets are of "type": "object"`, err == nil && s.Type == "object",
		"kind %s, %s: type %q, %v", kind, of, s.Type, err)
	refuses := func(b *bool) bool { return b != nil && !*b }
	k.expect("describes.misspelt", `misspelt names are refused ("additionalProperties": false)`,
		refuses(s.Additional) || refuses(s.Unevaluated), "kind %s takes any %s", kind, of)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		k.expect("describes.descriptions", "each setting and secret has a description, which people read",
			p.Description != "", "kind %s, %s: %s has none", kind, of, name)
		k.expect("describes.strings", "secrets are strings", of != "secrets" || p.Type == "string",
			"kind %s: %s is of type %v", kind, name, p.Type)
	}
}

// allowed checks the account's settings and secrets against the kind's schemas, as a server does
// before they reach the connector.
func (k *check) allowed() bool {
	secrets, err := json.Marshal(k.connection().Secrets)
	if err == nil && k.c.Secrets == nil {
		secrets = []byte("{}")
	}
	for _, one := range []struct {
		of          string
		schema, raw json.RawMessage
	}{{"settings", k.kind.Config, k.c.Config}, {"secrets", k.kind.Secrets, secrets}} {
		if err == nil {
			if err = validate(one.schema, one.raw); err != nil {
				err = fmt.Errorf("%s: %w", one.of, err)
			}
		}
	}
	k.expect("account.allowed", "the schemas allow the account's settings and secrets", err == nil, "%v", err)
	return err == nil
}

func validate(schema, raw json.RawMessage) error {
	s, err := compile(schema)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return s.Validate(value)
}
