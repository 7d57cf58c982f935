package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mnemehq/mneme/wasm/abi"
)

// Setting is what a manifest says of a setting that operators may give. A module finds
// its value in what mneme_open is handed, beside the members of config.
type Setting struct {
	Type        SettingType     `json:"type"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`    // used where the operator gives none; absent: then the setting is not there
	Enum        []string        `json:"enum"`       // of a string: the values that there are
	MaxLength   int             `json:"max_length"` // of a string: most bytes; 0: 65536
	Minimum     *float64        `json:"minimum"`    // of a number
	Maximum     *float64        `json:"maximum"`
	Required    bool            `json:"required"` // the operator must give it
	Secret      bool            `json:"secret"`   // shown nowhere
	Identity    *bool           `json:"identity"` // another value makes another model; absent: unless it is secret
}

// SettingType is what the value of a setting is.
type SettingType string

// The types of settings.
const (
	SettingString  SettingType = "string"
	SettingInteger SettingType = "integer"
	SettingNumber  SettingType = "number"
	SettingBoolean SettingType = "boolean"
)

const (
	maxSettingText = 1 << 16 // bytes of a value
	maxSettings    = 256
	maxExact       = 1 << 53 // integers up to it are exact in JSON, RFC 8259 section 6
)

var settingName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// Identifies reports whether another value makes another model, whose vectors do not mix
// with the old. A secret never does: the digest is public, and would tell it.
func (s Setting) Identifies() bool {
	if s.Identity != nil {
		return *s.Identity
	}
	return !s.Secret
}

// value reads a text of the configuration as the setting's type.
func (s Setting) value(text string) (json.RawMessage, error) {
	shown := strconv.Quote(text)
	if s.Secret {
		shown = "what is given"
	}
	switch s.Type {
	case SettingString:
		most := maxSettingText
		if s.MaxLength > 0 {
			most = s.MaxLength
		}
		switch {
		case !utf8.ValidString(text):
			return nil, errors.New("is not valid UTF-8")
		case len(text) > most:
			return nil, fmt.Errorf("has %d bytes, at most %d", len(text), most)
		case s.Enum != nil && !slices.Contains(s.Enum, text):
			return nil, fmt.Errorf("%s is not one of %s", shown, strings.Join(s.Enum, ", "))
		}
		return json.Marshal(text)
	case SettingBoolean:
		if text != "true" && text != "false" {
			return nil, fmt.Errorf("%s is not true or false", shown)
		}
		return json.RawMessage(text), nil
	case SettingInteger:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n > maxExact || n < -maxExact {
			return nil, fmt.Errorf("%s is not a whole number", shown)
		}
		return json.RawMessage(strconv.FormatInt(n, 10)), s.within(float64(n))
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return nil, fmt.Errorf("%s is not a number", shown)
	}
	if err := s.within(x); err != nil {
		return nil, err
	}
	return json.Marshal(x)
}

func (s Setting) within(x float64) error {
	if s.Minimum != nil && x < *s.Minimum {
		return fmt.Errorf("is below the minimum %v", *s.Minimum)
	}
	if s.Maximum != nil && x > *s.Maximum {
		return fmt.Errorf("is above the maximum %v", *s.Maximum)
	}
	return nil
}

// standard is the value where the operator gives none; nil: none.
func (s Setting) standard() (json.RawMessage, error) {
	if s.Default == nil {
		return nil, nil
	}
	var text string
	if err := json.Unmarshal(s.Default, &text); (err == nil) != (s.Type == SettingString) {
		return nil, fmt.Errorf("%s is no %s", s.Default, s.Type)
	} else if err != nil {
		text = string(s.Default)
	}
	return s.value(text)
}

// Samples are values at the edges of what the setting may be, for checks; none of a
// setting that is secret or has no edges.
func (s Setting) Samples() []string {
	var all []string
	switch {
	case s.Secret:
	case s.Type == SettingBoolean:
		all = []string{"false", "true"}
	case s.Type == SettingString:
		all = slices.Clone(s.Enum)
	default:
		for _, x := range []*float64{s.Minimum, s.Maximum} {
			if x != nil {
				all = append(all, strconv.FormatFloat(*x, 'f', -1, 64))
			}
		}
	}
	return all
}

// mistakes are what is wrong with the declaration itself.
func (s Setting) mistakes() []string {
	var all []string
	bad := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	number := s.Type == SettingInteger || s.Type == SettingNumber
	if !number && s.Type != SettingString && s.Type != SettingBoolean {
		bad("type: %q is not one of string, integer, number, boolean", s.Type)
		return all
	}
	if s.Type != SettingString && (s.Enum != nil || s.MaxLength != 0) {
		bad("enum and max_length are of strings")
	}
	if s.Enum != nil && len(s.Enum) == 0 {
		bad("enum: has no value")
	}
	if s.MaxLength < 0 || s.MaxLength > maxSettingText {
		bad("max_length: %d is not between 0 and %d", s.MaxLength, maxSettingText)
	}
	if !number && (s.Minimum != nil || s.Maximum != nil) {
		bad("minimum and maximum are of numbers")
	}
	if s.Minimum != nil && s.Maximum != nil && *s.Minimum > *s.Maximum {
		bad("minimum: %v is above the maximum %v", *s.Minimum, *s.Maximum)
	}
	if s.Secret && s.Identity != nil && *s.Identity {
		bad("identity: a secret cannot count, for the digest that it would be part of is public")
	}
	if s.Required && s.Default != nil {
		bad("default: is never used where the setting is required")
	}
	if _, err := s.standard(); err != nil {
		bad("default: %v", err)
	}
	return all
}

// checkSettings reports what is wrong with the settings of a manifest, by path.
func (m Manifest) checkSettings(bad func(format string, args ...any)) {
	if len(m.Settings) == 0 {
		return
	}
	if len(m.Settings) > maxSettings {
		bad("settings: %d of them, at most %d", len(m.Settings), maxSettings)
	}
	if major, minor, ok := version(m.ABI); ok && major == abi.Major && minor < abi.MinorSettings {
		bad("settings: need abi \"%d.%d\"", abi.Major, abi.MinorSettings)
	}
	var config orderedObject
	if len(m.Config) > 0 && (m.Config[0] != '{' || json.Unmarshal(m.Config, &config) != nil) {
		bad("config: must be an object where there are settings, which are handed over as further members of it")
	}
	for _, name := range slices.Sorted(maps.Keys(m.Settings)) {
		if !settingName.MatchString(name) {
			bad("settings.%s: a name is 1 to 64 lower-case letters, digits and underscores, a letter first", name)
		}
		if slices.ContainsFunc(config, func(m member) bool { return m.name == name }) {
			bad("settings.%s: config has a member of that name, too", name)
		}
		for _, mistake := range m.Settings[name].mistakes() {
			bad("settings.%s.%s", name, mistake)
		}
	}
}

// SettingError is what is wrong with one setting that an operator gave, or did not.
type SettingError struct {
	Name    string
	Reason  string
	Unknown bool // the model has no setting of that name
}

// Error gives name and reason.
func (e *SettingError) Error() string { return "settings." + e.Name + ": " + e.Reason }

// Configured is what a module is opened with.
type Configured struct {
	Config   []byte   // for mneme_open
	Identity []byte   // of Config, what counts for the digest; nil: all
	Secrets  []string // values in it that are shown nowhere
}

// Configure checks the settings that an operator gives and puts them into what the
// module is handed. The error joins a SettingError for each setting at fault.
func (s Source) Configure(given map[string]string) (Configured, error) {
	return s.configure(given, true)
}

// Defaults is what a module is opened with where the operator gives no settings; those
// that are required are missing in it.
func (s Source) Defaults() Configured {
	c, err := s.configure(nil, false)
	if err != nil {
		return Configured{Config: s.Config} // Open has refused such a manifest
	}
	return c
}

func (s Source) configure(given map[string]string, complete bool) (Configured, error) {
	var errs []error
	bad := func(name string, unknown bool, format string, args ...any) {
		errs = append(errs, &SettingError{Name: name, Reason: fmt.Sprintf(format, args...), Unknown: unknown})
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := s.Settings[name]; !ok && len(s.Settings) == 0 {
			bad(name, true, "the model has no settings")
		} else if !ok {
			bad(name, true, "the model has no such setting")
		}
	}
	if len(s.Settings) == 0 {
		return Configured{Config: s.Config}, errors.Join(errs...)
	}
	var config orderedObject
	if err := json.Unmarshal(s.Config, &config); err != nil {
		errs = append(errs, fmt.Errorf("config: %w", err))
	}
	identity := slices.Clone(config)
	var secrets []string
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		setting := s.Settings[name]
		value, err := setting.standard()
		if text, ok := given[name]; ok {
			value, err = setting.value(text)
			if setting.Secret && text != "" {
				secrets = append(secrets, text)
			}
		} else if setting.Required && complete {
			bad(name, false, "is required")
		}
		if err != nil {
			bad(name, false, "%v", err)
		}
		if value == nil {
			continue
		}
		config.set(name, value)
		if setting.Identifies() {
			identity.set(name, value)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return Configured{}, err
	}
	out := Configured{Secrets: secrets}
	var err error
	if out.Config, err = config.compact(); err != nil {
		return Configured{}, err
	}
	out.Identity, err = identity.compact()
	return out, err
}

// compact writes the object without white space, its values as they were written.
func (o orderedObject) compact() ([]byte, error) {
	var b bytes.Buffer
	for i, m := range o {
		if b.WriteByte(','); i == 0 {
			b.Reset()
			b.WriteByte('{')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		if err := json.Compact(&b, m.value.(json.RawMessage)); err != nil { // Unmarshal and set give no other
			return nil, err
		}
	}
	if len(o) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// version reads "major.minor".
func version(text string) (major, minor int, ok bool) {
	_, err := fmt.Sscanf(text, "%d.%d", &major, &minor)
	return major, minor, err == nil && fmt.Sprintf("%d.%d", major, minor) == text
}
