package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/core/audit"
	"github.com/mnemehq/mneme/core/seal"
)

func (c *command) sealCommand() *cobra.Command {
	return parent("seal", "Look after the keys that other systems' secrets are sealed with", c.sealKeyCommand(),
		c.sealStatusCommand(), c.sealRotateCommand(), c.sealForgetCommand())
}

// withSealer runs fn with the store's data keys, beside a running server if there is one.
func (c *command) withSealer(cmd *cobra.Command, fn func(*seal.Sealer) error) error {
	cfg, err := c.loadQuiet()
	if err != nil {
		return err
	}
	if err := c.agreeToMigrate(cmd.Context(), "seal "+cmd.Name(), cfg); err != nil {
		return err
	}
	cmd.SetContext(audit.ByCommand(cmd.Context(), "seal "+cmd.Name()))
	return app.WithSealer(cmd.Context(), c.registry, cfg, c.logger(cfg.Log), fn)
}

func (c *command) sealKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "key",
		Short: "Print a new sealing key",
		Long: `Print a new sealing key for seal.key_file or MNEME_SEAL_KEY. Nothing else is done:
no server seals with it before it is configured.`,
		Example: "  (umask 077; mneme seal key > /etc/mneme/seal.key)",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(c.stdout, seal.NewKey().Reveal())
			return err
		},
	}
}

func (c *command) sealStatusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say which sealing keys the store's secrets need",
		Long: `List the configured sealing keys and those that the store needs, by their ids, with the
data keys that each wraps; an organization with secrets has one. The first configured
key seals, the others open what they sealed. A key that is missing keeps servers from
starting: the exit code is 1 then.`,
		Example: "  mneme seal status --data ./data",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withSealer(cmd, func(s *seal.Sealer) error {
				uses, err := s.Uses(cmd.Context())
				if err != nil {
					return err
				}
				type row struct {
					ID       string `json:"id"`
					State    string `json:"state"`
					DataKeys int    `json:"data_keys"`
				}
				rows, cells := []row{}, [][]string{}
				for i, u := range uses {
					state := "opens"
					switch {
					case !u.Present:
						state = "missing"
					case i == 0:
						state = "seals"
					}
					rows = append(rows, row{u.ID, state, u.DataKeys})
					cells = append(cells, []string{u.ID, state, strconv.Itoa(u.DataKeys)})
				}
				if asJSON {
					err = printJSON(c.stdout, map[string]any{"sealing_keys": rows})
				} else {
					err = table(c.stdout, []string{"SEALING KEY", "STATE", "DATA KEYS"}, cells)
				}
				if err != nil {
					return err
				}
				return s.Check(cmd.Context())
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) sealRotateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rotate",
		Short: "Wrap all data keys with the first sealing key",
		Long: `Wrap the data key of every organization again with the first of the configured sealing
keys. The secrets themselves stay as they are. It runs beside servers that have both
keys, and again where it was interrupted. Afterwards the store needs no other key;
backups from before still do.`,
		Example: `  # 1. put the new key before the old one in seal.key_file, for every server, and restart them
  mneme seal rotate --config mneme.yaml
  # 2. take the old key out and restart them`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withSealer(cmd, func(s *seal.Sealer) error {
				n, err := s.Rotate(cmd.Context())
				if err != nil {
					return err
				}
				uses, err := s.Uses(cmd.Context())
				if err != nil {
					return err
				}
				fmt.Fprintf(c.stdout, "%s wrapped again; %s wrapped by the sealing key %s\n", plural(n, "data key"),
					plural(uses[0].DataKeys, "data key"), uses[0].ID)
				for _, u := range uses[1:] {
					if u.DataKeys == 0 {
						fmt.Fprintf(c.stdout, "the store does not need the sealing key %s any more\n", u.ID)
					}
				}
				return nil
			})
		},
	}
}

func (c *command) sealForgetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "forget",
		Short: "Give up secrets whose sealing key is lost",
		Long: `Delete the data keys that none of the configured sealing keys opens. What they sealed
is lost for good and has to be given again, such as the password of each source. It is
for an installation whose sealing key is lost: its servers start again afterwards. A
sealing key must be configured.`,
		Example: "  mneme seal key > ./data/seal.key\n  mneme seal forget --data ./data",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withSealer(cmd, func(s *seal.Sealer) error {
				err := c.confirm("This gives up every secret that the configured sealing keys do not open. Go on?")
				if err != nil {
					return err
				}
				n, err := s.Forget(cmd.Context())
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(c.stdout, "forgot %s\n", plural(n, "data key"))
				return err
			})
		},
	}
}
