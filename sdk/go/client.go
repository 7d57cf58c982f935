package mneme

import (
	"context"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/mnemehq/mneme/sdk/go/api"
)

// Version is this package's, and that of the server it was made with.
const Version = "0.0.0"

// DefaultTimeout is longer than any time limit of the server, so that its own answer comes first.
const DefaultTimeout = 130 * time.Second

// Client is a client of one server with one key. It may be used from many goroutines.
type Client struct {
	Namespaces *NamespacesService
	Documents  *DocumentsService
	Files      *FilesService
	Queries    *QueriesService
	Memory     *MemoryService
	Grants     *GrantsService
	Users      *UsersService
	Models     *ModelsService
	Sources    *SourcesService
	Events     *EventsService
	Webhooks   *WebhooksService
	Admin      *AdminService

	c *core
}

// Option sets something of a client.
type Option func(*core)

// WithHTTPClient takes the connections of another client than http.DefaultClient, for proxies and certificates.
func WithHTTPClient(client *http.Client) Option { return func(c *core) { c.http = client } }

// WithTimeout bounds one attempt of a call; the server is told and stops, too. 0 is no bound.
func WithTimeout(limit time.Duration) Option { return func(c *core) { c.timeout = limit } }

// WithMaxRetries says how often a call is tried again where that is safe; it is 2 unless set.
func WithMaxRetries(n int) Option { return func(c *core) { c.retries = n } }

// New returns a client of the server at baseURL, http://127.0.0.1:8080 for example, and the key: sk-service- for
// namespaces, cint_ for memories, adm- for administration. What is empty comes from MNEME_URL and MNEME_API_KEY.
func New(baseURL, key string, options ...Option) (*Client, error) {
	if baseURL == "" {
		if baseURL = os.Getenv("MNEME_URL"); baseURL == "" {
			baseURL = "http://127.0.0.1:8080"
		}
	}
	if key == "" {
		key = os.Getenv("MNEME_API_KEY")
	}
	c := &core{http: http.DefaultClient, timeout: DefaultTimeout, retries: 2, sleep: sleep}
	for _, set := range options {
		set(c)
	}
	generated, err := api.NewClient(strings.TrimRight(baseURL, "/"), api.WithHTTPClient(c),
		api.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			if key != "" {
				r.Header.Set("Authorization", "Bearer "+key)
			}
			return nil
		}))
	if err != nil {
		return nil, err
	}
	c.api = generated
	return &Client{
		Namespaces: &NamespacesService{c}, Documents: &DocumentsService{c}, Files: &FilesService{c}, Queries: &QueriesService{c},
		Memory: &MemoryService{c}, Grants: &GrantsService{c}, Users: &UsersService{c}, Models: &ModelsService{c},
		Sources: newSources(c), Events: &EventsService{c},
		Webhooks: newWebhooks(c), Admin: newAdmin(c), c: c,
	}, nil
}

// Rerank scores texts against a query.
func (c *Client) Rerank(ctx context.Context, body RerankRequest) (*RerankResult, error) {
	return call[RerankResult](ctx, c.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return c.c.api.Rerank(ctx, nil, body)
	})
}

// Health says whether the process answers.
func (c *Client) Health(ctx context.Context) (*StatusHealth, error) {
	return call[StatusHealth](ctx, c.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return c.c.api.Health(ctx, nil)
	})
}

// HealthDeep says whether everything that calls need is there.
func (c *Client) HealthDeep(ctx context.Context) (*StatusDeep, error) {
	return call[StatusDeep](ctx, c.c, repeatable, func(ctx context.Context) (*http.Response, error) {
		return c.c.api.HealthDeep(ctx, nil)
	})
}

// Ptr returns a pointer to v, for fields that may be left out.
func Ptr[T any](v T) *T { return &v }
