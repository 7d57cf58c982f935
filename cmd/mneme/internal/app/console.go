package app

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"

	"github.com/mnemehq/mneme/adapters/oidc"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/core/session"
	"github.com/mnemehq/mneme/transports/console"
	transport "github.com/mnemehq/mneme/transports/http"
)

// sessionSettings are the engine's settings for the console; nil: off.
func sessionSettings(c *configs.Config, log *slog.Logger) *session.Settings {
	if !c.Console.Enabled {
		return nil
	}
	s := &session.Settings{Lifetime: c.Console.Session, NoPasswords: !c.Console.Passwords}
	if o := c.Console.OIDC; o.Issuer != "" {
		s.Provider = oidc.New(oidc.Options{
			Issuer:       o.Issuer,
			ClientID:     o.ClientID,
			ClientSecret: string(o.ClientSecret),
			Name:         o.Name,
			Redirect:     strings.TrimSuffix(c.Server.BaseURL, "/") + console.ReturnPath,
			Domains:      o.Domains,
			Log:          log,
		})
	}
	return s
}

// serveConsole mounts the console, if it is on.
func (a *App) serveConsole(mounts map[string]http.Handler) error {
	sessions := a.Engine.Sessions()
	if sessions == nil {
		return nil
	}
	c, tries := a.settings.Config, middleware.NewBuckets(nil)
	networks, err := c.Console.Networks()
	if err != nil {
		return err
	}
	proxies, err := c.Console.Proxies()
	if err != nil {
		return err
	}
	pages, err := console.Handlers(console.Options{
		Set:             a.Engine.Set(),
		Sessions:        sessions,
		Log:             a.settings.Log,
		Version:         a.settings.Version,
		BaseURL:         strings.TrimSuffix(c.Server.BaseURL, "/"),
		AllowedNetworks: networks,
		TrustedProxies:  proxies,
		AddressHeader:   c.OAuth.AddressHeader,
		Identify:        transport.Identify,
		Allow: func(ctx context.Context, from string, r console.Rate) bool {
			taken, err := tries.Take(ctx, from, op.Class(r.Name), ident.Rate{PerMinute: r.PerMinute, Burst: r.PerMinute}, 1, 0)
			return err == nil && taken.OK
		},
	})
	if err != nil {
		return err
	}
	maps.Copy(mounts, pages)
	return nil
}

// SignInLink makes the link that signs in to the console of the server at an address, once, within
// session.LinkFor: with the key of this machine's user, which administers all organizations. It
// works beside the server that runs on the data folder.
func SignInLink(ctx context.Context, r *registry.Registry, c *configs.Config, log *slog.Logger,
	at string) (link string, err error) {
	err = withStore(ctx, r, c, log, func(store port.DocumentStore) error {
		recorder := event.NewRecorder(event.RecorderSettings{Store: store, Record: event.Record(c.Events.Record)})
		keys := newKeyService(recorder, log)
		link, err = signInLink(ctx, c, keys, session.New(session.Settings{Store: recorder, Keys: keys, Log: log}), at)
		return err
	})
	return link, err
}

// SignInLink is the same for the server that this process is; "": the console is off.
func (a *App) SignInLink(ctx context.Context, at string) (string, error) {
	if a.Engine.Sessions() == nil {
		return "", nil
	}
	return signInLink(ctx, a.settings.Config, a.Keys, a.Engine.Sessions(), at)
}

func signInLink(ctx context.Context, c *configs.Config, keys *key.Service, s *session.Service, at string) (string, error) {
	secret, err := LocalAdminKey(ctx, c.DataDir, keys)
	if err != nil {
		return "", err
	}
	p, err := keys.Verify(ctx, secret, op.Administration)
	if err != nil {
		return "", fmt.Errorf("verify the key of this machine: %w", err)
	}
	code, err := s.Link(ctx, p.Org, p.KeyID)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(at, "/") + "/console/sign-in#code=" + code, nil
}
