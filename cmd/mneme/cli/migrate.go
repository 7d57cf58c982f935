package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
)

func (c *command) migrateCommand() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the schema of the store up to date with this program",
		Long: `Bring the schema of the store up to date and say between which versions. mneme
serve does so, too, when it starts, unless storage.postgres.migrate is false. Steps
are taken one by one, each in a transaction, and several processes take turns. There
is no way back: an older program refuses a newer schema.`,
		Example: "  mneme migrate --config postgres.yaml --dry-run\n  mneme migrate --config postgres.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.loadQuiet()
			if err != nil {
				return err
			}
			m, ok, err := app.Migrate(cmd.Context(), app.Settings{
				Registry: c.registry,
				Config:   cfg,
				Log:      c.logger(cfg.Log),
				Command:  "migrate",
			}, dry)
			switch {
			case err != nil:
				return err
			case !ok:
				_, err = fmt.Fprintf(c.stdout, "storage %s has no schema\n", cfg.Storage.Component)
			case m.From == m.To:
				_, err = fmt.Fprintf(c.stdout, "storage %s: the schema is up to date, version %d\n", cfg.Storage.Component, m.To)
			case dry:
				_, err = fmt.Fprintf(c.stdout,
					"storage %s: the schema is version %d; mneme migrate brings it to version %d\n",
					cfg.Storage.Component, m.From, m.To)
			default:
				_, err = fmt.Fprintf(c.stdout, "storage %s: the schema went from version %d to %d\n",
					cfg.Storage.Component, m.From, m.To)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done")
	return cmd
}
