package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
)

// withKeys runs fn on the key service of the data folder, beside a running
// server or without one.
func (c *command) withKeys(cmd *cobra.Command, fn func(*key.Service) error) error {
	cfg, err := c.quiet()
	if err != nil {
		return err
	}
	return app.WithKeys(cmd.Context(), c.registry, cfg, c.logger(cfg.Log), fn)
}

func (c *command) keysCommand() *cobra.Command {
	var in key.Issue
	var expires time.Duration
	create := &cobra.Command{
		Use:   "create",
		Short: "Make an API key and print it, once, on standard output",
		Long: `Make an API key and print it on standard output: nothing else goes there. The
key is not kept; only its hash is. It works at once, on a running server too.`,
		Example: `  export MNEME_KEY=$(mneme keys create --data ./data --name laptop)
  mneme keys create --data ./data --read-only --namespace handbook --expires 720h
  mneme keys create --data ./data --org acme`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("expires") {
				if expires <= 0 {
					return usage("--expires must be a time from now, such as 720h")
				}
				in.ExpiresAt = time.Now().Add(expires)
			}
			return c.withKeys(cmd, func(keys *key.Service) error {
				in.Kind = ident.Service
				if in.Namespace != "" && in.DefaultNamespace == "" {
					in.DefaultNamespace = in.Namespace
				}
				issued, err := keys.Issue(cmd.Context(), in)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(c.stdout, issued.Secret)
				return err
			})
		},
	}
	f := create.Flags()
	f.StringVar(&in.Org, "org", ident.DefaultOrg, "organization that owns the key")
	f.StringVar(&in.Name, "name", "", "a name for the list of keys")
	f.BoolVar(&in.ReadOnly, "read-only", false, "refuse whatever changes data")
	f.StringVar(&in.Namespace, "namespace", "", "limit the key to this namespace, which is then its default")
	f.StringVar(&in.DefaultNamespace, "default-namespace", "", "namespace of calls that name none")
	f.DurationVar(&expires, "expires", 0, "end the key after this time, e.g. 720h")

	var org string
	var asJSON bool
	list := &cobra.Command{
		Use:     "list",
		Short:   "List keys with their state, never the keys themselves",
		Example: "  mneme keys list --data ./data\n  mneme keys list --data ./data --org acme --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withKeys(cmd, func(keys *key.Service) error {
				infos, err := keys.List(cmd.Context(), org)
				if err != nil {
					return err
				}
				return c.printKeys(infos, asJSON)
			})
		},
	}
	list.Flags().StringVar(&org, "org", "", "only this organization's keys")
	list.Flags().BoolVar(&asJSON, "json", false, "print JSON")

	var revokeOrg string
	revoke := &cobra.Command{
		Use:     "revoke ID",
		Short:   "End a key; a running server refuses it within a second",
		Example: "  mneme keys revoke key_x1y2z3 --data ./data",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withKeys(cmd, func(keys *key.Service) error {
				if err := keys.Revoke(cmd.Context(), key.Ref{Org: revokeOrg, ID: args[0]}); err != nil {
					return err
				}
				fmt.Fprintf(c.stderr, "revoked %s\n", args[0])
				return nil
			})
		},
	}
	revoke.Flags().StringVar(&revokeOrg, "org", "", "organization that owns the key")
	return parent("keys", "Make, list and revoke API keys", create, list, revoke)
}

func (c *command) printKeys(infos []key.Info, asJSON bool) error {
	now := time.Now()
	type row struct {
		ID               string     `json:"id"`
		Organization     string     `json:"organization_id"`
		Name             string     `json:"name"`
		Kind             string     `json:"kind"`
		LastFour         string     `json:"last_four"`
		ReadOnly         bool       `json:"read_only"`
		Namespace        string     `json:"namespace,omitempty"`
		DefaultNamespace string     `json:"default_namespace,omitempty"`
		CreatedAt        time.Time  `json:"created_at"`
		LastUsedAt       *time.Time `json:"last_used_at"`
		ExpiresAt        *time.Time `json:"expires_at"`
		State            string     `json:"state"`
	}
	list, cells := []row{}, [][]string{}
	for _, k := range infos {
		list = append(list, row{k.ID, string(k.Org), k.Name, string(k.Kind), k.Last4, k.ReadOnly, k.Namespace, k.DefaultNamespace,
			k.CreatedAt.UTC(), jsonTime(k.LastUsedAt), jsonTime(k.ExpiresAt), k.State(now)})
		rights := "all"
		if k.ReadOnly {
			rights = "read"
		}
		cells = append(cells, []string{k.ID, k.Name, string(k.Kind), k.Last4, rights, k.Namespace, when(k.CreatedAt), when(k.LastUsedAt), when(k.ExpiresAt), k.State(now)})
	}
	if asJSON {
		return printJSON(c.stdout, map[string]any{"keys": list})
	}
	return table(c.stdout, []string{"ID", "NAME", "KIND", "LAST4", "RIGHTS", "NAMESPACE", "CREATED", "LAST USED", "EXPIRES", "STATE"}, cells)
}
