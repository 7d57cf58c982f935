package app

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/oauth"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/transports/mcp"
	front "github.com/mnemehq/mneme/transports/oauth"
)

// oauthSettings are the engine's settings for MCP clients that use OAuth; nil: off.
func oauthSettings(c *configs.Config) *oauth.Settings {
	if !c.OAuth.Enabled {
		return nil
	}
	base := strings.TrimSuffix(c.Server.BaseURL, "/")
	s := &oauth.Settings{
		Issuer:            base,
		Resource:          base + "/mcp",
		AccessFor:         c.OAuth.AccessTokenLifetime,
		RefreshFor:        c.OAuth.RefreshTokenLifetime,
		LoopbackDocuments: c.OAuth.PrivateDocuments,
	}
	if c.OAuth.ClientDocuments {
		s.Documents = front.NewDocuments(front.DocumentOptions{
			Client: outbound.New(outbound.Options{Anywhere: c.OAuth.PrivateDocuments, MaxBytes: 1 << 20, MaxRedirects: -1})})
	}
	if c.OAuth.Registration {
		s.MaxClients = c.OAuth.MaxClients
	}
	return s
}

// serveOAuth mounts the OAuth front and makes the MCP endpoint accept its tokens, if
// OAuth is on.
func (a *App) serveOAuth(ctx context.Context, serving *mcp.Options, mounts map[string]http.Handler) error {
	service := a.Engine.OAuth()
	if service == nil {
		return nil
	}
	secret, err := a.Engine.Secret(ctx, "oauth")
	if err != nil {
		return err
	}
	c, attempts := a.settings.Config.OAuth, middleware.NewBuckets(nil)
	f, err := front.New(front.Options{Service: service, Secret: secret, KnownHosts: c.KnownHosts, AddressHeader: c.AddressHeader,
		Registration: c.Registration, Documents: c.ClientDocuments, Log: a.settings.Log,
		Allow: func(ctx context.Context, address string, r front.Rate) (time.Duration, bool) {
			taken, err := attempts.Take(ctx, address, op.Class(r.Name), ident.Rate{PerMinute: r.PerMinute, Burst: r.Burst}, 1, 0)
			return taken.Retry, err == nil && taken.OK
		}})
	if err != nil {
		return fmt.Errorf("OAuth front: %w", err)
	}
	maps.Copy(mounts, f.Mounts())
	serving.ResourceMetadata = f.ResourceMetadata
	serving.Authenticate = func(ctx context.Context, bearer string) (ident.Principal, error) {
		return identified(ctx)(service.Verify(ctx, bearer, key.FamilyOf(bearer)))
	}
	return nil
}

// verifyOnce lets the handlers of a request share one verification of its access token.
func verifyOnce(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(oauth.Once(r.Context())))
	})
}
