package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
	"github.com/mnemehq/mneme/core/session"
)

func (c *command) consoleCommand() *cobra.Command {
	return parent("console", "Sign in to the console", c.consoleOpenCommand())
}

func (c *command) consoleOpenCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "open",
		Short: "Print a link that signs in to the console, once, within a minute",
		Long: `Print a link that opens the console of the server which runs on the data folder,
signed in with this machine's own admin key. The link is good once, for 60 seconds. Its code
stands behind the #, which browsers send to nobody: the page takes it from there.`,
		Example: "  mneme console open\n  mneme console open --data ./data",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.loadQuiet()
			if err != nil {
				return err
			}
			if !cfg.Console.Enabled {
				return errors.New("the console is off: set console.enabled to true and start the server again")
			}
			server, running, err := datadir.Running(cfg.DataDir)
			if err != nil {
				return err
			}
			if !running {
				return fmt.Errorf("no server runs on %s; start one with mneme serve", cfg.DataDir)
			}
			if err := c.agreeToMigrate(cmd.Context(), "console open", cfg); err != nil {
				return err
			}
			link, err := app.SignInLink(cmd.Context(), c.registry, cfg, c.logger(cfg.Log), cmp.Or(cfg.Server.BaseURL, server.URL))
			if err != nil {
				return err
			}
			fmt.Fprintf(c.stderr, "good once, for %.0f seconds\n", session.LinkFor.Seconds())
			_, err = fmt.Fprintln(c.stdout, link)
			return err
		},
	}
}
