package remote

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/mnemehq/mneme/core/registry"
)

// Client is how an endpoint is called: the section client of every remote
// model's configuration.
type Client struct {
	Concurrency     int                        `yaml:"concurrency" help:"calls under way at once; queries go first, and from 2 on one place is kept for them"`
	BreakerFailures int                        `yaml:"breaker_failures" help:"attempts that fail one after another before calls are refused without asking"`
	BreakerWait     time.Duration              `yaml:"breaker_wait" help:"how long they are refused before one call tries again"`
	MaxResponseMB   int                        `yaml:"max_response_mb" help:"largest answer that is read, in megabytes"`
	Headers         map[string]registry.Secret `yaml:"headers" help:"more headers for every call, by name"`
	Proxy           registry.Secret            `yaml:"proxy" help:"address of an HTTP or SOCKS5 proxy; empty: as the environment's HTTPS_PROXY, HTTP_PROXY and NO_PROXY say; none: no proxy"`
	CAFile          string                     `yaml:"ca_file" help:"PEM file with the authorities to trust instead of the system's"`
}

// DefaultClient is four calls at once and ten seconds of rest after five failures.
func DefaultClient() Client {
	return Client{Concurrency: 4, BreakerFailures: 5, BreakerWait: 10 * time.Second, MaxResponseMB: 64}
}

// Calls are how long and how often an endpoint is asked. A remote model's
// configuration embeds it, so that its settings are the model's own.
type Calls struct {
	Timeout time.Duration `yaml:"timeout" help:"longest time one call to the server may take, waiting and retries included"`
	Retries int           `yaml:"retries" help:"times a call is repeated after 429, 5xx or a lost connection, waiting as the server asks"`
	Client  Client        `yaml:"client" help:"How the server is called."`
}

// DefaultCalls are for models that answer in seconds.
func DefaultCalls() Calls {
	return Calls{Timeout: 30 * time.Second, Retries: 3, Client: DefaultClient()}
}

// To is the endpoint at an address.
func (c Calls) To(baseURL string, key registry.Secret) Endpoint { return Endpoint{baseURL, key, c} }

// Endpoint is where a model is reached and how.
type Endpoint struct {
	BaseURL string
	Key     registry.Secret // sent as a bearer token; "": none
	Calls
}

// reserved are headers that calls set themselves.
var reserved = []string{"Authorization", "Content-Length", "Content-Type", "Host", "Transfer-Encoding", "Connection"}

// Validate reports every setting that cannot work, as registry.Invalid with the
// keys that all remote adapters use.
func (e Endpoint) Validate() error {
	var p Problems
	u, err := url.Parse(e.BaseURL)
	p.Check(err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		u.RawQuery == "" && u.Fragment == "",
		"base_url", "must be an http or https address without user or query")
	p.Check(e.Timeout >= 100*time.Millisecond && e.Timeout <= 10*time.Minute, "timeout", "must be between 100ms and 10m")
	p.Check(e.Retries >= 0 && e.Retries <= 10, "retries", "must be 0-10")
	c := e.Client
	p.Check(c.Concurrency >= 1 && c.Concurrency <= 1024, "client.concurrency", "must be 1-1024")
	p.Check(c.BreakerFailures >= 1 && c.BreakerFailures <= 1000, "client.breaker_failures", "must be 1-1000")
	p.Check(c.BreakerWait >= 100*time.Millisecond && c.BreakerWait <= time.Hour, "client.breaker_wait",
		"must be between 100ms and 1h")
	p.Check(c.MaxResponseMB >= 1 && c.MaxResponseMB <= 1024, "client.max_response_mb", "must be 1-1024")
	for name, value := range c.Headers {
		at := "client.headers." + name
		p.Check(httpguts.ValidHeaderFieldName(name), at, "is not a header's name")
		for _, r := range reserved {
			p.Check(!strings.EqualFold(name, r), at, "is set by the call itself; a key goes into api_key")
		}
		p.Check(httpguts.ValidHeaderFieldValue(value.Reveal()), at, "has a value that no header may have")
	}
	p.Check(httpguts.ValidHeaderFieldValue(e.Key.Reveal()), "api_key",
		"holds a character that no header may have, such as a line break")
	if _, err := c.proxy(); err != nil {
		p.Check(false, "client.proxy", "must be an http, https or socks5 address, none or empty")
	}
	return p.Err()
}

// proxy chooses the proxy of a request.
func (c Client) proxy() (func(*http.Request) (*url.URL, error), error) {
	switch s := c.Proxy.Reveal(); s {
	case "":
		return http.ProxyFromEnvironment, nil
	case "none":
		return nil, nil
	default:
		u, err := url.Parse(s)
		if err != nil || u.Host == "" ||
			u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" && u.Scheme != "socks5h" {
			return nil, errors.New("not a proxy's address") // without it: it may hold a password
		}
		return http.ProxyURL(u), nil
	}
}

// Problems collects what is wrong with a configuration.
type Problems []error

// Check notes an invalid setting unless ok.
func (p *Problems) Check(ok bool, path, reason string, args ...any) {
	if !ok {
		*p = append(*p, &registry.Invalid{Path: path, Reason: fmt.Sprintf(reason, args...)})
	}
}

// Err joins what was noted; nil for nothing.
func (p *Problems) Err() error { return errors.Join(*p...) }
