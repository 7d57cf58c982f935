package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
	"github.com/mnemehq/mneme/configs"
)

func (c *command) serveCommand() *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server on a data folder, which it makes where it is missing and keeps
to itself. SIGINT or SIGTERM ends it: requests in progress are finished first,
a second signal ends at once.`,
		Example: `  mneme serve --data ./data
  mneme serve --data ./data --addr 127.0.0.1:0      # picks a free port and says which
  mneme serve --config mneme.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			started := time.Now()
			var settings []configs.Setting
			if addr != "" {
				settings = append(settings, configs.Setting{Path: "server.addr", Value: addr, From: "flag --addr"})
			}
			cfg, err := c.load(settings...)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			l, err := app.Listen(ctx, cfg.Server.Addr)
			if err != nil {
				// Two servers on one folder are the likelier mistake than two on one port.
				if held := datadir.Held(cfg.DataDir); held != nil {
					return held
				}
				return err
			}
			a, err := c.openApp(ctx, "serve", cfg)
			if err != nil {
				return errors.Join(err, l.Close())
			}
			if err := a.Announce(l); err != nil {
				return errors.Join(err, l.Close(), a.Close(context.WithoutCancel(ctx)))
			}
			log := c.logger(cfg.Log)
			attrs := []any{"url", app.URL(l)}
			if cfg.Server.BaseURL != "" {
				attrs = append(attrs, "base_url", cfg.Server.BaseURL)
			}
			attrs = append(attrs, a.Describe()...)
			log.Info("server ready", append(attrs, "took", time.Since(started).Round(time.Millisecond).String())...)
			err = a.Serve(ctx, l)
			log.Info("server stopping")
			closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
			defer cancel()
			if err = errors.Join(err, a.Close(closing)); err != nil {
				return fmt.Errorf("serve: %w", err)
			}
			log.Info("server stopped")
			return nil
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "", "address to listen on, host:port (MNEME_ADDR; default 127.0.0.1:8080)")
	return cmd
}
