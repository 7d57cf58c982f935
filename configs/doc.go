// Package configs reads the operator's configuration: it decodes YAML strictly
// over the defaults, puts ${VAR}, ${VAR:-default} and ${file:path} in place,
// lets MNEME_* environment variables and flags override, validates the whole
// and reports every problem at once with file:line:column. From the same
// structs it renders the effective configuration, the reference page and the
// JSON Schema.
//
// Which components exist is the registry's matter: the package knows no adapter.
package configs
