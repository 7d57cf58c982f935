package postgres

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/mnemehq/mneme/adapters/postgres"
	"github.com/mnemehq/mneme/adapters/storage/sharded"
	"github.com/mnemehq/mneme/core/registry"
)

// Config is the operator's settings of the store.
type Config struct {
	postgres.Connection
	Migrate   bool       `yaml:"migrate" help:"Bring the schema up to date when a server starts. false: a server refuses to start on an older schema, and 'mneme migrate' brings it up to date, for instance by a role that may change it."`
	Databases []Database `yaml:"databases" help:"Further databases, which have the rows of the organizations that are placed there: [{name: b, dsn: ...}]. The one of dsn is their home and keeps what belongs to no organization. One that has organizations cannot be left out again."`
	Place     string     `yaml:"place" help:"With databases: where a new organization goes. fewest: to the one that has the fewest; home or a name: there."`
}

// Default is the configuration without a DSN.
func Default() Config {
	return Config{Connection: postgres.DefaultConnection(), Migrate: true, Place: sharded.Fewest}
}

var databaseName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Validate reports every setting that is out of range, each as registry.Invalid.
func (c Config) Validate() error {
	errs := []error{c.Connection.Validate()}
	bad := func(path, format string, args ...any) {
		errs = append(errs, &registry.Invalid{Path: path, Reason: fmt.Sprintf(format, args...)})
	}
	names := map[string]bool{Home: true}
	for i, d := range c.Databases {
		switch {
		case !databaseName.MatchString(d.Name):
			bad(fmt.Sprintf("databases[%d].name", i), "must be 1 to 32 lower case letters, digits and dashes")
		case names[d.Name] || d.Name == sharded.Fewest:
			bad(fmt.Sprintf("databases[%d].name", i), "%s is taken", d.Name)
		}
		names[d.Name] = true
		if len(d.Schema) > 63 {
			bad(fmt.Sprintf("databases[%d].schema", i), "must be at most 63 bytes")
		}
	}
	if c.Place != sharded.Fewest && !names[c.Place] {
		bad("place", "must be fewest, home or the name of one of databases")
	}
	return errors.Join(errs...)
}
