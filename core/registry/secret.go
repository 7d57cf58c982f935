package registry

import "log/slog"

// Redacted stands wherever a secret would be printed.
const Redacted = "<redacted>"

// Secret is a configured password, key or connection string. Every way of
// printing it gives Redacted; Reveal is the only way to the value.
type Secret string

// Reveal is the value itself, for the driver that needs it.
func (s Secret) Reveal() string { return string(s) }

// String redacts.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return Redacted
}

// GoString redacts under %#v.
func (s Secret) GoString() string { return `registry.Secret("` + s.String() + `")` }

// LogValue redacts in structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText redacts in JSON, YAML and other encodings.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes the value.
func (s *Secret) UnmarshalText(b []byte) error { *s = Secret(b); return nil }
