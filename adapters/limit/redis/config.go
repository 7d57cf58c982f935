package redis

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/mnemehq/mneme/core/registry"
)

// Config is the operator's settings of the limiter.
type Config struct {
	URL registry.Secret `yaml:"url" help:"Where the server is: redis://user:password@host:6379/0, rediss:// for TLS, or unix:///path/of/socket?db=0."`
}

// Default is the configuration without a server.
func Default() Config { return Config{} }

// Validate reports a URL that is missing or cannot be read.
func (c Config) Validate() error {
	if c.URL == "" {
		return &registry.Invalid{Path: "url", Reason: "is needed, such as redis://user:password@host:6379/0"}
	}
	if _, err := c.address(); err != nil {
		return &registry.Invalid{Path: "url", Reason: err.Error()}
	}
	return nil
}

// address is where a URL leads.
type address struct {
	url      string // "": a socket
	socket   string
	username string
	password string
	database int
}

// address reads the URL. Errors don't hold it: it may have a password.
func (c Config) address() (address, error) {
	unreadable := errors.New("the URL of the Redis server cannot be read; want redis://user:password@host:port/database")
	u, err := url.Parse(c.URL.Reveal())
	if err != nil || u.Opaque != "" {
		return address{}, unreadable
	}
	query := u.Query()
	password, _ := u.User.Password()
	a := address{socket: u.Path, username: u.User.Username(), password: password}
	number := query.Get("db")
	query.Del("db")
	switch u.Scheme {
	case "unix":
		if a.socket == "" {
			return address{}, unreadable
		}
	case "redis", "rediss":
		if path := strings.Trim(u.Path, "/"); path != "" {
			number = path
		}
		a.url = (&url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host}).String()
	default:
		return address{}, unreadable
	}
	if number != "" {
		if a.database, err = strconv.Atoi(number); err != nil || a.database < 0 {
			return address{}, unreadable
		}
	}
	if len(query) > 0 {
		return address{}, unreadable
	}
	return a, nil
}
