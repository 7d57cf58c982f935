package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/core/key"
)

func (c *command) orgsCommand() *cobra.Command {
	create := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an organization and print its id",
		Long: "Make an organization: it owns namespaces and keys and sees nobody else's. The organization default " +
			"exists from the start.",
		Example: "  mneme orgs create acme --data ./data\n  mneme keys create --org acme --data ./data",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withKeys(cmd, func(keys *key.Service) error {
				o, err := keys.CreateOrganization(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(c.stdout, o.ID)
				return err
			})
		},
	}
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List organizations", Example: "  mneme orgs list --data ./data", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withKeys(cmd, func(keys *key.Service) error {
				if _, err := keys.EnsureDefault(cmd.Context()); err != nil {
					return err
				}
				orgs, err := keys.Organizations(cmd.Context())
				if err != nil {
					return err
				}
				type row struct {
					ID        string    `json:"id"`
					Name      string    `json:"name"`
					State     string    `json:"state"`
					CreatedAt time.Time `json:"created_at"`
				}
				rows, cells := []row{}, [][]string{}
				for _, o := range orgs {
					state := "active"
					if o.Suspended {
						state = "suspended"
					}
					rows = append(rows, row{string(o.ID), o.Name, state, o.CreatedAt.UTC()})
					cells = append(cells, []string{string(o.ID), o.Name, state, formatTime(o.CreatedAt)})
				}
				if asJSON {
					return printJSON(c.stdout, map[string]any{"organizations": rows})
				}
				return table(c.stdout, []string{"ID", "NAME", "STATE", "CREATED"}, cells)
			})
		},
	}
	list.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	change := func(use, short, done string, do func(*key.Service, context.Context, string) error) *cobra.Command {
		return &cobra.Command{
			Use: use + " NAME", Short: short, Example: "  mneme orgs " + use + " acme --data ./data", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return c.withKeys(cmd, func(keys *key.Service) error {
					if err := do(keys, cmd.Context(), args[0]); err != nil {
						return err
					}
					fmt.Fprintf(c.stderr, "%s %s\n", done, args[0])
					return nil
				})
			},
		}
	}
	rename := &cobra.Command{
		Use:     "rename NAME NEW",
		Short:   "Give an organization another name",
		Example: "  mneme orgs rename acme acme-inc --data ./data",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withKeys(cmd, func(keys *key.Service) error {
				if _, err := keys.ChangeOrganization(cmd.Context(), args[0], key.OrganizationChange{Name: &args[1]}); err != nil {
					return err
				}
				fmt.Fprintf(c.stderr, "renamed %s to %s\n", args[0], args[1])
				return nil
			})
		},
	}
	return parent("orgs", "Make, list, rename and suspend organizations", create, list, rename,
		change("suspend", "Refuse all keys of an organization until it is resumed", "suspended", (*key.Service).Suspend),
		change("resume", "Let a suspended organization's keys work again", "resumed", (*key.Service).Resume))
}
