package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/audit"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
)

// withKeys runs fn on the key service of the data folder, beside a running
// server or without one.
func (c *command) withKeys(cmd *cobra.Command, fn func(*key.Service) error) error {
	cfg, err := c.loadQuiet()
	if err != nil {
		return err
	}
	name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	if err := c.agreeToMigrate(cmd.Context(), name, cfg); err != nil {
		return err
	}
	cmd.SetContext(audit.ByCommand(cmd.Context(), name))
	return app.WithKeys(cmd.Context(), c.registry, cfg, c.logger(cfg.Log), fn)
}

func (c *command) keysCommand() *cobra.Command {
	return parent("keys", "Make, list, change, rotate and revoke API keys", c.keysCreateCommand(), c.keysListCommand(),
		c.keysUpdateCommand(), c.keysRotateCommand(), c.keysRevokeCommand(), c.keysSecretCommand())
}

func (c *command) keysSecretCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "secret",
		Short: "Print a new secret for the first key of an installation",
		Long: `Print a new admin key for MNEME_FIRST_KEY or first_key.file. Nothing else is done:
it opens nothing until a server starts with it on a store that has no keys.`,
		Example: "  (umask 077; mneme keys secret > /etc/mneme/first-key)",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(c.stdout, key.NewFirst())
			return err
		},
	}
}

// quotaFlags are the quotas of an integration on a command line.
type quotaFlags struct{ memories, reads, writes int }

func (q *quotaFlags) flags(f *pflag.FlagSet) {
	d := ident.DefaultQuotas()
	f.IntVar(&q.memories, "memories-per-user", d.MemoriesPerEndUser, "memories that an end user may have, 0 for no limit")
	f.IntVar(&q.reads, "read-rate", d.ReadRatePerMin, "searches and reads a minute, 0 for no limit")
	f.IntVar(&q.writes, "write-rate", d.WriteRatePerMin, "memories written a minute, 0 for no limit")
}

// change is what the flags that were given change; ok is false when none was.
func (q *quotaFlags) change(f *pflag.FlagSet) (c key.IntegrationChange, ok bool) {
	setIfGiven(f.Changed("memories-per-user"), &c.MemoriesPerEndUser, q.memories)
	setIfGiven(f.Changed("read-rate"), &c.ReadRatePerMin, q.reads)
	setIfGiven(f.Changed("write-rate"), &c.WriteRatePerMin, q.writes)
	return c, c != key.IntegrationChange{}
}

// expiry is the end of a key that lives for d from now on.
func expiry(cmd *cobra.Command, d time.Duration) (time.Time, error) {
	switch {
	case !cmd.Flags().Changed("expires"):
		return time.Time{}, nil
	case d <= 0:
		return time.Time{}, usage("--expires must be a time from now, such as 720h")
	}
	return time.Now().Add(d), nil
}

func (c *command) keysCreateCommand() *cobra.Command {
	var (
		in      key.Issue
		kind    string
		scopes  []string
		quotas  quotaFlags
		rates   []string
		expires time.Duration
	)
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make an API key and print it, once, on standard output",
		Long: `Make an API key and print it on standard output: nothing else goes there. The
key is not kept; only its hash is. It works at once, on a running server too.

Types of keys (--type) and what they open:
  service       namespaces, documents, queries and rerank of its organization
  integration   the memory API, for the end users of one integration. Without
                --integration it makes an integration of its own, named by
                --name; with it, it joins that one or makes it. The quotas are
                the integration's, and all its keys share them.
  personal      the memory API, for one end user of an integration: the older
                keys that begin with cmem_, to be replaced by integration keys
  team, organization
                nothing: for lists during a migration, refused everywhere
  admin         the admin API of its organization, or of all of them

Scopes of an integration key (--scopes):
  memories:read    search, list and read memories
  memories:write   save, change and delete memories
  recall:read      answers from memories; needs memories:read too
  users:erase      erase an end user for good
  status:read      ask for the status; every key with another scope may`,
		Example: `  export MNEME_KEY=$(mneme keys create --data ./data --name laptop)
  mneme keys create --data ./data --read-only --namespace handbook --expires 720h
  mneme keys create --data ./data --source src_019e2b4c-7d1a-7f30-9a51-2f6c8d0b7e44
  mneme keys create --data ./data --org acme
  mneme keys create --data ./data --rate 'read=600/min burst 60' --rate write=60/min
  mneme keys create --type integration --name chat --scopes memories:read,memories:write,recall:read
  mneme keys create --type integration --integration chat --scopes memories:read --name reports
  mneme keys create --type integration --name app --memories-per-user 500 --read-rate 600 --write-rate 120
  mneme keys create --type personal --integration chat --end-user ann
  mneme keys create --type admin --all-organizations`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if in.ExpiresAt, err = expiry(cmd, expires); err != nil {
				return err
			}
			if in.Limits, err = parseRates(rates); err != nil {
				return err
			}
			in.Kind = ident.Kind(kind)
			if !slices.Contains(kinds(), kind) {
				return usage("--type %q is none of %s", kind, strings.Join(kinds(), ", "))
			}
			for _, s := range scopes {
				in.Scopes = append(in.Scopes, ident.Scope(s))
			}
			if change, ok := quotas.change(cmd.Flags()); ok {
				in.Quotas = new(change.Quotas(ident.DefaultQuotas()))
			}
			return c.withKeys(cmd, func(keys *key.Service) error {
				if in.Namespace != "" && in.DefaultNamespace == "" && in.Kind == ident.Service {
					in.DefaultNamespace = in.Namespace
				}
				issued, err := keys.Issue(cmd.Context(), in)
				if err != nil {
					return err
				}
				if issued.Integration != "" {
					fmt.Fprintf(c.stderr, "key %s of integration %s (%s)\n", issued.ID, issued.IntegrationName,
						issued.Integration)
				}
				_, err = fmt.Fprintln(c.stdout, issued.Secret)
				return err
			})
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&kind, "type", string(ident.Service), strings.Join(kinds(), ", "))
	f.StringVar(&in.Org, "org", ident.DefaultOrg, "organization that owns the key")
	f.StringVar(&in.Name, "name", "", "a name for the list of keys")
	f.DurationVar(&expires, "expires", 0, "end the key after this time, e.g. 720h")
	f.BoolVar(&in.ReadOnly, "read-only", false, "refuse whatever changes data (service, admin)")
	f.StringVar(&in.Namespace, "namespace", "", "limit the key to this namespace, which is then its default (service), "+
		"or let blocks of context have passages of it (integration, personal)")
	f.StringVar(&in.DefaultNamespace, "default-namespace", "", "namespace of calls that name none (service)")
	f.StringVar(&in.Source, "source", "", "limit the key to this source, by id, for a process that pushes its items (service)")
	f.StringVar(&in.Integration, "integration", "", "name or id of the integration (integration, personal)")
	f.StringSliceVar(&scopes, "scopes", nil, "rights, separated by commas (integration; default memories:read,memories:write)")
	quotas.flags(f)
	f.StringArrayVar(&rates, "rate", nil, rateHelp)
	f.StringVar(&in.EndUser, "end-user", "", "the only end user the key reaches (personal)")
	f.BoolVar(&in.AllOrganizations, "all-organizations", false, "administer every organization (admin)")
	return cmd
}

func kinds() []string {
	return []string{string(ident.Service), string(ident.Integration), string(ident.Personal), string(ident.Team),
		string(ident.Organization), string(ident.Admin)}
}

func (c *command) keysListCommand() *cobra.Command {
	var org string
	var asJSON bool
	cmd := &cobra.Command{
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
	cmd.Flags().StringVar(&org, "org", "", "only this organization's keys")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// rateHelp describes the flag --rate.
const rateHelp = "limit of this key alone, CLASS=RATE such as read=600/min or 'write=60/min burst 20'; may be given again " +
	"(read, write, rerank, admin, memory_read, memory_write, recall, as the key's type has them)"

// parseRates reads what --rate was given; nil: nothing.
func parseRates(flags []string) (map[string]ident.Rate, error) {
	if flags == nil {
		return nil, nil
	}
	all := map[string]ident.Rate{}
	for _, f := range flags {
		class, text, ok := strings.Cut(f, "=")
		if _, twice := all[class]; !ok || twice {
			return nil, usage("--rate %q: want CLASS=RATE, each class once", f)
		}
		var r configs.Rate
		if err := r.UnmarshalText([]byte(text)); err != nil {
			return nil, usage("--rate %s: %v", class, err)
		}
		all[class] = ident.Rate(r)
	}
	return all, nil
}

func (c *command) keysUpdateCommand() *cobra.Command {
	var (
		org, name, defaultNamespace string
		readOnly, noRates, asJSON   bool
		rates                       []string
	)
	cmd := &cobra.Command{
		Use:   "update ID",
		Short: "Change a key's name, rights or limits",
		Long: `Change a key; what no flag names stays, and the secret does. A running server goes
by it within a second. --rate replaces all limits of the key's own: give every one
that it shall have.`,
		Example: "  mneme keys update key_x1y2z3 --rate read=600/min --rate write=60/min --data ./data\n" +
			"  mneme keys update key_x1y2z3 --no-rates --read-only --data ./data",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			var change key.Change
			given := cmd.Flags().Changed
			setIfGiven(given("name"), &change.Name, name)
			setIfGiven(given("read-only"), &change.ReadOnly, readOnly)
			setIfGiven(given("default-namespace"), &change.DefaultNamespace, defaultNamespace)
			if change.Limits, err = parseRates(rates); err != nil {
				return err
			}
			if noRates {
				if change.Limits != nil {
					return usage("give either --rate or --no-rates")
				}
				change.Limits = map[string]ident.Rate{}
			}
			if change.Name == nil && change.ReadOnly == nil && change.DefaultNamespace == nil && change.Limits == nil {
				return usage("nothing is changed: give --name, --read-only, --default-namespace, --rate or --no-rates")
			}
			return c.withKeys(cmd, func(keys *key.Service) error {
				info, err := keys.Change(cmd.Context(), key.Ref{Org: org, ID: args[0]}, change)
				if err != nil {
					return err
				}
				return c.printKeys([]key.Info{info}, asJSON)
			})
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&org, "org", "", "organization that owns the key")
	f.StringVar(&name, "name", "", "another name")
	f.BoolVar(&readOnly, "read-only", false, "refuse whatever changes data; --read-only=false allows it (service, admin)")
	f.StringVar(&defaultNamespace, "default-namespace", "", "namespace of calls that name none; empty: none (service)")
	f.StringArrayVar(&rates, "rate", nil, rateHelp)
	f.BoolVar(&noRates, "no-rates", false, "take away all limits of the key's own")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) keysRotateCommand() *cobra.Command {
	var org string
	var overlap, expires time.Duration
	cmd := &cobra.Command{
		Use:   "rotate ID",
		Short: "Make a new key with the rights of another, which ends after a while",
		Long: `Make a key with the rights of another and print it on standard output, once. The
old key works beside it for the time of --overlap and then ends, so that its
users can be given the new one in that time. An old key that had an end gives the
new one as long a life, counted from now, unless --expires says otherwise.`,
		Example: "  mneme keys rotate key_x1y2z3 --overlap 1h --data ./data\n  mneme keys rotate key_x1y2z3 --overlap 0 " +
			"--data ./data   # the old one ends at once",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			end, err := expiry(cmd, expires)
			if err != nil {
				return err
			}
			if overlap < 0 || overlap > key.MaxOverlap {
				return usage("--overlap must be 0 to %dh", int(key.MaxOverlap.Hours()))
			}
			return c.withKeys(cmd, func(keys *key.Service) error {
				issued, err := keys.Rotate(cmd.Context(), key.Ref{Org: org, ID: args[0]},
					key.Rotation{Overlap: overlap, ExpiresAt: end})
				if err != nil {
					return err
				}
				ends := "has ended"
				if overlap > 0 {
					ends = "ends in " + overlap.String() + " at the latest"
				}
				fmt.Fprintf(c.stderr, "key %s takes over from %s, which %s\n", issued.ID, args[0], ends)
				_, err = fmt.Fprintln(c.stdout, issued.Secret)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&org, "org", "", "organization that owns the key")
	cmd.Flags().DurationVar(&overlap, "overlap", key.DefaultOverlap, "time that the old key goes on")
	cmd.Flags().DurationVar(&expires, "expires", 0, "end the new key after this time, e.g. 720h")
	return cmd
}

func (c *command) keysRevokeCommand() *cobra.Command {
	var org string
	cmd := &cobra.Command{
		Use:     "revoke ID",
		Short:   "End a key; a running server refuses it within a second",
		Example: "  mneme keys revoke key_x1y2z3 --data ./data",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withKeys(cmd, func(keys *key.Service) error {
				if err := keys.Revoke(cmd.Context(), key.Ref{Org: org, ID: args[0]}); err != nil {
					return err
				}
				fmt.Fprintf(c.stderr, "revoked %s\n", args[0])
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&org, "org", "", "organization that owns the key")
	return cmd
}

func (c *command) printKeys(infos []key.Info, asJSON bool) error {
	now := time.Now()
	list, cells := []admin.Key{}, [][]string{}
	for _, k := range infos {
		list = append(list, admin.ShowKey(k, now))
		cells = append(cells, []string{k.ID, k.Name, k.Kind.Prefix() + "..." + k.Last4, formatRights(k), formatReach(k),
			formatRates(k.Limits), formatTime(k.CreatedAt), k.CreatedBy, formatTime(k.LastUsedAt), formatTime(k.ExpiresAt),
			k.State(now)})
	}
	if asJSON {
		return printJSON(c.stdout, map[string]any{"keys": list})
	}
	return table(c.stdout, []string{"ID", "NAME", "KEY", "RIGHTS", "ONLY FOR", "LIMITS", "CREATED", "CREATED BY", "LAST USED",
		"EXPIRES", "STATE"}, cells)
}

// formatRights sums up what a key may do.
func formatRights(k key.Info) string {
	var all []string
	switch k.Kind {
	case ident.Team, ident.Organization:
		return "none (" + string(k.Kind) + ")"
	case ident.Admin:
		all = append(all, "admin")
	}
	for _, s := range k.Scopes {
		all = append(all, string(s))
	}
	if k.ReadOnly {
		all = append(all, "read")
	}
	if all == nil {
		return "all"
	}
	return strings.Join(all, ",")
}

// formatRates shows the limits of a key's own.
func formatRates(limits map[string]ident.Rate) string {
	var all []string
	for _, class := range slices.Sorted(maps.Keys(limits)) {
		text, _ := configs.Rate(limits[class]).MarshalText() // never fails
		all = append(all, class+"="+string(text))
	}
	return strings.Join(all, ", ")
}

// formatReach is what a key is limited to.
func formatReach(k key.Info) string {
	switch {
	case k.EndUser != "":
		return k.IntegrationName + " user " + k.EndUser
	case k.IntegrationName != "":
		return k.IntegrationName
	case k.Source != "":
		return k.Source
	}
	return k.Namespace
}
