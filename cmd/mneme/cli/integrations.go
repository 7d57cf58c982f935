package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
)

func (c *command) integrationsCommand() *cobra.Command {
	var org string
	var asJSON bool
	list := &cobra.Command{
		Use:     "list",
		Short:   "List integrations with their quotas",
		Example: "  mneme integrations list --data ./data\n  mneme integrations list --data ./data --org acme --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withKeys(cmd, func(keys *key.Service) error {
				all, err := keys.Integrations(cmd.Context(), org)
				if err != nil {
					return err
				}
				return c.printIntegrations(all, asJSON)
			})
		},
	}
	list.Flags().StringVar(&org, "org", "", "only this organization's integrations")
	list.Flags().BoolVar(&asJSON, "json", false, "print JSON")

	var quotas quotaFlags
	var owner, name string
	var setJSON, grants bool
	set := &cobra.Command{
		Use:   "set NAME",
		Short: "Change an integration's quotas, name or need of grants",
		Long: `Change an integration's quotas or name, or whether its sources need grants; what no
flag names stays. A running server goes by it within a second. A lower number of
memories refuses new ones and removes none. With --grants-required, records of source
systems are written and tombstoned with a grant of their end user only.`,
		Example: "  mneme integrations set chat --memories-per-user 5000 --data ./data\n  mneme integrations set chat " +
			"--read-rate 0 --write-rate 600 --data ./data\n  mneme integrations set chat --name assistant --data ./data\n" +
			"  mneme integrations set chat --grants-required --data ./data",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			change, some := quotas.change(cmd.Flags())
			setIfGiven(cmd.Flags().Changed("name"), &change.Name, name)
			setIfGiven(cmd.Flags().Changed("grants-required"), &change.GrantsRequired, grants)
			if !some && change.Name == nil && change.GrantsRequired == nil {
				return usage("nothing is changed: give --memories-per-user, --read-rate, --write-rate, --name or " +
					"--grants-required")
			}
			return c.withKeys(cmd, func(keys *key.Service) error {
				i, err := keys.ChangeIntegration(cmd.Context(), owner, args[0], change)
				if err != nil {
					return err
				}
				return c.printIntegrations([]port.Integration{i}, setJSON)
			})
		},
	}
	f := set.Flags()
	f.SortFlags = false
	quotas.flags(f)
	f.StringVar(&name, "name", "", "another name")
	f.BoolVar(&grants, "grants-required", false, "take records of sources with a grant only; =false takes them without")
	f.StringVar(&owner, "org", "", "organization that owns it (default: default)")
	f.BoolVar(&setJSON, "json", false, "print JSON")
	for _, n := range []string{"memories-per-user", "read-rate", "write-rate"} {
		f.Lookup(n).DefValue = "as it is"
	}
	return parent("integrations", "List integrations and change their quotas", list, set)
}

func (c *command) printIntegrations(all []port.Integration, asJSON bool) error {
	rows, cells := []admin.Integration{}, [][]string{}
	for _, i := range all {
		rows = append(rows, admin.ShowIntegration(i))
		cells = append(cells, []string{i.ID, i.Name, formatLimit(i.Quotas.MemoriesPerEndUser),
			formatLimit(i.Quotas.ReadRatePerMin),
			formatLimit(i.Quotas.WriteRatePerMin), formatNeed(i.GrantsRequired), formatTime(i.CreatedAt)})
	}
	if asJSON {
		return printJSON(c.stdout, map[string]any{"integrations": rows})
	}
	head := []string{"ID", "NAME", "MEMORIES/USER", "READS/MIN", "WRITES/MIN", "GRANTS", "CREATED"}
	if err := table(c.stdout, head, cells); err != nil {
		return fmt.Errorf("print integrations: %w", err)
	}
	return nil
}

// formatNeed shows whether something is required.
func formatNeed(required bool) string {
	if required {
		return "required"
	}
	return "optional"
}

// formatLimit shows a limit; 0 is none.
func formatLimit(n int) string {
	if n == 0 {
		return "no limit"
	}
	return strconv.Itoa(n)
}
