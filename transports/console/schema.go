package console

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// schemaField is a setting of a kind of source, as its JSON Schema describes it.
type schemaField struct {
	Name     string // config.path
	Label    string
	Type     string // string, integer, number, boolean, array, json
	Required bool
	Secret   bool
	schema   property
}

// property is what is read of the schema of a setting. What a form cannot offer of the rest, the API
// checks.
type property struct {
	Type        any             `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Enum        []any           `json:"enum"`
	Format      string          `json:"format"`
	MaxLength   int             `json:"maxLength"`
	Items       *property       `json:"items"`
}

// schemaFields are the settings of an object, in the order of its schema, those that are required
// first.
func schemaFields(where string, schema json.RawMessage, secret bool) []schemaField {
	var object struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &object) != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(object.Properties))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []schemaField
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return out
		}
		var p property
		if d.Decode(&p) != nil {
			return out
		}
		f := schemaField{Name: where + "." + name.(string), Type: typeOf(p), Secret: secret, schema: p,
			Required: slices.Contains(object.Required, name.(string))}
		f.Label = p.Title
		if f.Label == "" {
			f.Label = labelOf(name.(string))
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b schemaField) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	return out
}

// labelOf makes a label of a name.
func labelOf(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' })
	for i, w := range words {
		switch {
		case slices.Contains([]string{"url", "ssh", "id", "s3", "api", "html"}, w):
			words[i] = strings.ToUpper(w)
		case i == 0:
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, " ")
}

func typeOf(p property) string {
	t, _ := p.Type.(string)
	switch t {
	case "string", "integer", "number", "boolean":
		return t
	case "array":
		if p.Items != nil && p.Items.Type == "string" {
			return "array"
		}
	}
	return "json"
}

// Field is the field of a form.
func (s schemaField) Field(f form) field {
	out := fieldOf(f, s.Name, s.Label)
	out.ID = strings.ReplaceAll(s.Name, ".", "-")
	out.Required, out.Hint, out.Code = s.Required && !s.Secret, s.schema.Description, true
	if s.Secret { // it is in no page, not even in one that shows the form again
		out.Value = ""
	}
	if s.schema.MaxLength > 0 {
		out.Max = strconv.Itoa(s.schema.MaxLength)
	}
	switch {
	case len(s.schema.Enum) > 0:
		if !s.Required {
			out.Choices = append(out.Choices, choice{"", "as usual", out.Value == ""})
		}
		for _, e := range s.schema.Enum {
			text := plain(e)
			out.Choices = append(out.Choices, choice{text, text, out.Value == text})
		}
	case s.Type == "integer" || s.Type == "number":
		out.Mode, out.Placeholder = "decimal", plainRaw(s.schema.Default)
	case s.Type == "array":
		out.Rows = "3"
		out.Hint = strings.TrimSpace(out.Hint + " One a line.")
	case s.Type == "json":
		out.Rows = "4"
		out.Hint = strings.TrimSpace(out.Hint + " As JSON.")
	case s.Secret && strings.Contains(s.schema.Description, "private key for"):
		out.Rows = "5"
	case s.Secret:
		out.Kind = "password"
	case s.schema.Format == "uri":
		out.Kind, out.Mode = "text", "url"
	default:
		out.Placeholder = plainRaw(s.schema.Default)
	}
	return out
}

// Boolean reports whether it is a box to tick.
func (s schemaField) Boolean() bool { return s.Type == "boolean" }

// read takes the value of a setting out of a form; ok is false where there is none to set. What
// cannot be read is handed on as it is, for the API to say what it has to be.
func (s schemaField) read(values url.Values) (value any, ok bool) {
	text := values.Get(s.Name)
	if s.Type == "boolean" {
		return text != "", true
	}
	if s.Type != "string" {
		text = strings.TrimSpace(text)
	}
	if text == "" {
		return nil, false
	}
	switch s.Type {
	case "integer":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, true
		}
	case "number":
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n, true
		}
	case "array":
		lines := []string{}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, line)
			}
		}
		return lines, true
	case "json":
		if json.Valid([]byte(text)) {
			return json.RawMessage(text), true
		}
	case "string":
		return strings.ReplaceAll(text, "\r\n", "\n"), true
	}
	return text, true
}

// fill puts a setting's value into a form, from its stored settings or, without them, its default.
func (s schemaField) fill(values url.Values, stored map[string]json.RawMessage) {
	_, name, _ := strings.Cut(s.Name, ".")
	raw, ok := stored[name]
	if !ok {
		if raw = s.schema.Default; s.Type != "boolean" {
			return // it is shown as what an empty field means
		}
	}
	switch s.Type {
	case "boolean":
		if string(raw) == "true" {
			values.Set(s.Name, "1")
		}
	case "array":
		var lines []string
		if json.Unmarshal(raw, &lines) == nil {
			values.Set(s.Name, strings.Join(lines, "\n"))
		}
	case "json":
		values.Set(s.Name, indentPlain(raw))
	default:
		values.Set(s.Name, plainRaw(raw))
	}
}

// plain is a value of JSON as people write it.
func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	raw, err := marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

func plainRaw(raw json.RawMessage) string {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil || v == nil {
		return ""
	}
	if _, ok := v.(string); !ok {
		return string(raw)
	}
	return plain(v)
}

func indentPlain(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
