package redis

import (
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/mnemehq/mneme/core/registry"
)

// Config is the operator's settings of the limiter.
type Config struct {
	URL registry.Secret `yaml:"url" help:"Where the server is: redis://user:password@host:6379/0, or rediss:// for TLS."`
}

// Default is the configuration without a server.
func Default() Config { return Config{} }

// Validate reports a URL that is missing or cannot be read.
func (c Config) Validate() error {
	if c.URL == "" {
		return &registry.Invalid{Path: "url", Reason: "is needed, such as redis://user:password@host:6379/0"}
	}
	if _, err := c.options(); err != nil {
		return &registry.Invalid{Path: "url", Reason: err.Error()}
	}
	return nil
}

// options reads the URL. Its own error may hold a password, so it is not told.
func (c Config) options() (*redis.Options, error) {
	o, err := redis.ParseURL(c.URL.Reveal())
	if err != nil {
		return nil, errors.New("the URL of the Redis server cannot be read; want redis://user:password@host:port/database")
	}
	return o, nil
}
