package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/transports/openapi"
)

func (c *command) openapiCommand() *cobra.Command {
	var format, base string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI document of the HTTP interface",
		Long: `Print the OpenAPI 3.1 document of the HTTP interface. A running server gives the
same at /openapi.json and /openapi.yaml, and to people at /docs.`,
		Example: `  mneme openapi --base-url https://mneme.example.com > openapi.yaml
  mneme openapi --format json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON {
				format = "json"
			}
			body, err := openapiDocument(format, base)
			if err != nil {
				return err
			}
			_, err = c.stdout.Write(body)
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "yaml", "yaml or json")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	cmd.Flags().StringVar(&base, "base-url", "/", "URL under which clients reach the server")
	cmd.AddCommand(c.openapiDiffCommand())
	return cmd
}

func openapiDocument(format, base string) ([]byte, error) {
	d, err := openapi.New(openapi.Options{Set: engine.Operations(), Server: base})
	if err != nil {
		return nil, err
	}
	switch format {
	case "yaml":
		return d.YAML()
	case "json":
		return d.JSON()
	}
	return nil, usage("--format %q is not known; yaml and json are", format)
}

func (c *command) openapiDiffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff OLD [NEW]",
		Short: "Name what would break clients of an older OpenAPI document",
		Long: `Compare two OpenAPI documents, files of YAML or JSON, and print a line for each
change that would break a client of the older one: what was removed, narrowed, or
is required now. Without NEW, OLD is compared with this program's own. The exit
code is 1 when there is such a change.`,
		Example: "  mneme openapi diff openapi-1.0.yaml",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			older, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			newer, err := openapiDocument("yaml", "/")
			if len(args) == 2 {
				newer, err = os.ReadFile(args[1])
			}
			if err != nil {
				return err
			}
			breaks, err := openapi.Breaks(older, newer)
			if err != nil {
				return err
			}
			for _, b := range breaks {
				fmt.Fprintln(c.stdout, b)
			}
			if len(breaks) > 0 {
				return errReported
			}
			fmt.Fprintln(c.stderr, "nothing breaks")
			return nil
		},
	}
}
