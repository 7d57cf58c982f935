package postgres

import "github.com/mnemehq/mneme/adapters/postgres"

// Config is the operator's settings of the store.
type Config struct {
	postgres.Connection
	Migrate bool `yaml:"migrate" help:"Bring the schema up to date when a server starts. false: a server refuses to start on an older schema, and 'mneme migrate' brings it up to date, for instance by a role that may change it."`
}

// Default is the configuration without a DSN.
func Default() Config {
	return Config{Connection: postgres.DefaultConnection(), Migrate: true}
}
