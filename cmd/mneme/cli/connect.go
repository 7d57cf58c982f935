package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/key"
)

// target names the server that a command talks to.
type target struct {
	url, key string
	admin    bool // with an admin key
}

// credential is the kind of key that a command needs: the environment variable that
// may hold it, and how a local one is found or made.
type credential struct {
	variable string
	local    func(ctx context.Context, dir string, keys *key.Service) (string, error)
}

func (t *target) credential() credential {
	if t.admin {
		return credential{"MNEME_ADMIN_KEY", app.LocalAdminKey}
	}
	return credential{"MNEME_KEY", app.LocalKey}
}

const connectHelp = `
The command talks to the server of --url, with the key of --key. Without --url
it finds the server that runs on the data folder (--data) and uses this
machine's local key; when none runs it opens the folder itself.`

func (t *target) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.url, "url", "", "URL of the server (MNEME_URL)")
	what := "API key"
	if t.admin {
		what = "admin key"
	}
	cmd.Flags().StringVar(&t.key, "key", "", what+" ("+t.credential().variable+")")
}

// closeTimeout bounds how long a command waits for what it opened itself to close.
const closeTimeout = 30 * time.Second

// connect finds a server or opens the data folder; done releases either.
func (c *command) connect(ctx context.Context, name string, t target,
	settings ...configs.Setting) (cl *client.Client, done func() error, err error) {
	if t.url == "" {
		t.url = os.Getenv("MNEME_URL")
	}
	need := t.credential()
	if t.key == "" {
		t.key = os.Getenv(need.variable)
	}
	nothing := func() error { return nil }
	if t.url != "" {
		if t.key == "" {
			return nil, nil, usage("a server at --url needs a key: give --key or %s", need.variable)
		}
		cl, err = client.New(t.url, t.key)
		return cl, nothing, err
	}
	cfg, err := c.loadQuiet(settings...)
	if err != nil {
		return nil, nil, err
	}
	server, running, err := datadir.Running(cfg.DataDir)
	if err != nil {
		return nil, nil, err
	}
	if running {
		if t.key == "" {
			if err := c.agreeToMigrate(ctx, name, cfg); err != nil {
				return nil, nil, err
			}
			err := app.WithKeys(ctx, c.registry, cfg, c.logger(cfg.Log), func(keys *key.Service) (err error) {
				t.key, err = need.local(ctx, cfg.DataDir, keys)
				return err
			})
			if err != nil {
				return nil, nil, err
			}
		}
		if cl, err = client.New(server.URL, t.key); err == nil {
			cl.Pin(server.Certificate)
		}
		return cl, nothing, err
	}
	a, err := c.openApp(ctx, name, cfg)
	if err != nil {
		return nil, nil, err
	}
	c.opened = a
	done = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		return a.Close(ctx)
	}
	if t.key == "" {
		if t.key, err = need.local(ctx, cfg.DataDir, a.Keys); err != nil {
			return nil, nil, errors.Join(err, done())
		}
	}
	return client.Local(a.Handler, t.key), done, nil
}

// agreeToMigrate asks before a command brings the schema of a store up to date that an older
// program wrote. Only serve and migrate do so unasked: there is no way back.
func (c *command) agreeToMigrate(ctx context.Context, name string, cfg *configs.Config) error {
	if c.yes {
		return nil
	}
	m, _, err := app.Schema(ctx, app.Settings{Registry: c.registry, Config: cfg, Log: c.logger(cfg.Log), Command: name})
	if err != nil {
		return cmp.Or(datadir.Usable(cfg.DataDir), err) // a folder's rights say more than what they keep from working
	}
	if m.From == 0 || m.From == m.To {
		return nil
	}
	what := fmt.Sprintf("storage %s was written by an older version: its schema is version %d, and mneme %s brings it to "+
		"version %d. There is no way back, and older servers no longer start on it: copy it before", cfg.Storage.Component,
		m.From, name, m.To)
	if name == "mcp" { // standard input carries the protocol
		return errors.New(what + "; then run mneme migrate, or give --yes")
	}
	return c.confirm("%s. Go on?", what)
}

// openApp assembles the product on the data folder.
func (c *command) openApp(ctx context.Context, name string, cfg *configs.Config) (*app.App, error) {
	if name != "serve" {
		if err := c.agreeToMigrate(ctx, name, cfg); err != nil {
			return nil, err
		}
	}
	// Most of what a start allocates is soon garbage. Collecting it a fourth as often takes a twelfth of a
	// short command's processor time away.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	return app.Open(ctx, app.Settings{
		Registry: c.registry,
		Config:   cfg,
		Log:      c.logger(cfg.Log),
		Command:  name,
		Version:  thisBuild().Version,
		// A command that runs once has nothing to tell those who watch servers.
		Telemetry: slices.Contains([]string{"serve", "quickstart", "mcp"}, name),
	})
}

// loadQuiet loads the configuration for a command whose output is for a person: it
// logs warnings and worse, unless the flag or the environment asks for more.
func (c *command) loadQuiet(settings ...configs.Setting) (*configs.Config, error) {
	cfg, err := c.load(settings...)
	if err == nil && c.logLevel == "" && os.Getenv("MNEME_LOG_LEVEL") == "" && cfg.Log.Level == "info" {
		cfg.Log.Level = "warn"
	}
	return cfg, err
}
