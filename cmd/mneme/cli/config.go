package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/configs"
)

func (c *command) configCommand() *cobra.Command {
	var withoutSecrets bool
	lint := &cobra.Command{
		Use:   "lint [FILE...]",
		Short: "Check configuration files and report every problem at once",
		Long: `Check configuration files: each problem is a line file:line:column: path: reason.
Without FILE, the one of --config or MNEME_CONFIG is checked. Environment
variables and flags count, as they do for serve. With --without-secrets a value whose
variable is not set, or whose file cannot be read, is named and not checked.`,
		Example: "  mneme config lint mneme.yaml\n  mneme config lint --without-secrets configs/examples/*.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{c.configFile}
			}
			failed := false
			for _, file := range args {
				c.configFile = file
				_, err := c.loadFrom(configs.Source{Absent: c.absent(withoutSecrets)})
				var problems configs.Problems
				switch {
				case errors.As(err, &problems):
					fmt.Fprintln(c.stdout, problems.Error())
					failed = true
				case err != nil:
					return err
				}
			}
			if failed {
				return errReported
			}
			fmt.Fprintln(c.stderr, "no problems found")
			return nil
		},
	}
	lint.Flags().BoolVar(&withoutSecrets, "without-secrets", false, "pass over values that are not on this machine")
	show := &cobra.Command{
		Use:     "show",
		Short:   "Print the effective configuration, secrets redacted",
		Long:    "Print what defaults, file, environment variables and flags come to together, as YAML. Secrets are redacted.",
		Example: "  mneme config show --config mneme.yaml\n  MNEME_ADDR=:9000 mneme config show",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.load()
			if err != nil {
				return err
			}
			body, err := cfg.YAML(c.registry)
			if err != nil {
				return err
			}
			_, err = c.stdout.Write(body)
			return err
		},
	}
	var schema bool
	reference := &cobra.Command{
		Use:   "reference",
		Short: "Print the reference page of all settings, or the JSON Schema",
		Example: `  mneme config reference > config.md
  mneme config reference --schema > schema.json   # for editors`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			render := configs.Reference
			if schema {
				render = configs.Schema
			}
			body, err := render(c.registry)
			if err != nil {
				return err
			}
			_, err = c.stdout.Write(body)
			return err
		},
	}
	reference.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema instead")
	return parent("config", "Check, show and explain the configuration", lint, show, reference)
}

// absent names a value that lint cannot check; nil where it is a problem.
func (c *command) absent(allowed bool) func(path string, err error) {
	if !allowed {
		return nil
	}
	return func(path string, err error) { fmt.Fprintf(c.stderr, "%s: %s: not checked: %v\n", c.file(), path, err) }
}

// file is the configuration file in use, "" for none.
func (c *command) file() string {
	if c.configFile != "" {
		return c.configFile
	}
	return os.Getenv("MNEME_CONFIG")
}
