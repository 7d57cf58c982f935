package cli

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
)

func (c *command) orgsCommand() *cobra.Command {
	var database string
	create := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an organization and print its id",
		Long: "Make an organization: it owns namespaces and keys and sees nobody else's. The organization default " +
			"exists from the start.",
		Example: "  mneme orgs create acme --data ./data\n  mneme keys create --org acme --data ./data",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withKeys(cmd, func(keys *key.Service) error {
				o, err := keys.PlaceOrganization(cmd.Context(), args[0], database)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(c.stdout, o.ID)
				return err
			})
		},
	}
	create.Flags().StringVar(&database, "database", "", "of several databases the one that it is to lie in (default: as "+
		"storage.postgres.place says)")
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
					Database  string    `json:"database,omitempty"`
				}
				rows, cells, head := []row{}, [][]string{}, []string{"ID", "NAME", "STATE", "CREATED"}
				if len(orgs) > 0 && orgs[0].Database != "" {
					head = append(head, "DATABASE")
				}
				for _, o := range orgs {
					state := "active"
					switch {
					case !o.Deleting.IsZero():
						state = "being deleted"
					case o.Suspended:
						state = "suspended"
					}
					rows = append(rows, row{string(o.ID), o.Name, state, o.CreatedAt.UTC(), o.Database})
					cells = append(cells, []string{string(o.ID), o.Name, state, formatTime(o.CreatedAt), o.Database}[:len(head)])
				}
				if asJSON {
					return printJSON(c.stdout, map[string]any{"organizations": rows})
				}
				return table(c.stdout, head, cells)
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
	return parent("orgs", "Make, list, rename, move, suspend and delete organizations", create, list, rename,
		c.orgsMoveCommand(), c.orgsDeleteCommand(),
		change("suspend", "Refuse all keys of an organization until it is resumed", "suspended", (*key.Service).Suspend),
		change("resume", "Let a suspended organization's keys work again", "resumed", (*key.Service).Resume))
}

func (c *command) orgsMoveCommand() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "move ORG --to DATABASE",
		Short: "Move an organization to another database of the installation",
		Long: `Move everything of an organization to another of the databases that
storage.postgres.databases names, or to home. Servers go on: the organization can be read
at every moment and is written while most of it is copied. While what changed
meanwhile is brought and both sides are compared, its writes are answered with 503
and Retry-After. Other organizations notice nothing. A command that
fails or is stopped before the organization is in the other database takes everything back.
Where it was killed, the same command goes on, and writes wait for that; as long as the
organization is not in the other database, --to with the one that it is in takes the
move back.`,
		Example: "  mneme orgs move acme --to b --config mneme.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" {
				return usage("orgs move needs a database, --to")
			}
			cfg, err := c.loadQuiet()
			if err != nil {
				return err
			}
			if err := c.agreeToMigrate(cmd.Context(), "orgs move", cfg); err != nil {
				return err
			}
			bar := newProgress(c.stderr)
			o, done, err := app.MoveOrganization(cmd.Context(), c.registry, cfg, c.logger(cfg.Log), "orgs move", args[0], to,
				func(p port.MoveProgress) { bar.count(moveStage(p), int(p.Rows)) })
			bar.end()
			if err != nil {
				return err
			}
			return c.printMove(o, done)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "name of the database, home for the one of storage.postgres.dsn")
	return cmd
}

// moveStage says what is done after a step.
func moveStage(p port.MoveProgress) string {
	switch p.Step {
	case port.MoveBegun:
		return "copying rows"
	case port.MoveDrafted:
		return "waiting for writes to end"
	case port.MoveFenced:
		return "copying what changed; writes wait"
	case port.MoveCopied:
		return "comparing; writes wait"
	case port.MoveChecked, port.MoveSwapped:
		return "changing over"
	}
	return "removing what was copied"
}

func (c *command) printMove(o port.Organization, done port.Moved) error {
	if done.Back {
		_, err := fmt.Fprintf(c.stdout, "took the move of %s (%s) to %s back; it is in %s\n", o.Name, o.ID, done.From, done.To)
		return err
	}
	if len(done.Tables) == 0 {
		_, err := fmt.Fprintf(c.stdout, "ended the move of %s (%s) from %s to %s\n", o.Name, o.ID, done.From, done.To)
		return err
	}
	total, cells := int64(0), [][]string{}
	for _, t := range done.Tables {
		total += t.Rows
		cells = append(cells, []string{t.Name, strconv.FormatInt(t.Rows, 10), hex.EncodeToString(t.Sum[:8])})
	}
	if err := table(c.stdout, []string{"TABLE", "ROWS", "SHA-256"}, cells); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.stdout, "moved %s (%s) from %s to %s: %d rows, the same in both; writes waited %s\n", o.Name, o.ID,
		done.From, done.To, total, done.Paused.Round(time.Millisecond))
	return err
}

func (c *command) orgsDeleteCommand() *cobra.Command {
	t := target{admin: true}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete an organization with everything in it",
		Long: `Delete an organization for good: namespaces, end users, integrations, keys and
background work. Its keys are refused at once. Without --yes the command asks
for the name again. It waits until nothing is left; the deletion goes on, here
or with the next start, when the command is interrupted, and to call it again
waits for the rest. The organization default stays.
` + connectHelp,
		Example: "  mneme orgs delete acme --data ./data\n  mneme orgs delete acme --yes --json --data ./data",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			cl, done, err := c.connect(ctx, "orgs delete", t)
			if err != nil {
				return err
			}
			var o admin.Organization
			err = cl.Do(ctx, http.MethodGet, organizationPath(args[0]), nil, &o)
			if err == nil {
				err = c.confirmName("delete the organization "+o.Name+" ("+o.ID+") with everything in it, for good", o.Name)
			}
			if err == nil {
				err = c.deleteOrganization(ctx, cl, o, asJSON)
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the counts as JSON")
	return cmd
}

func organizationPath(ref string) string { return "/admin/v1/organizations/" + pathSegment(ref) }

// confirmName asks for a name to be typed again before something is done that cannot be
// undone.
func (c *command) confirmName(what, name string) error {
	if c.yes {
		return nil
	}
	fmt.Fprintf(c.stderr, "%s? Type its name: ", what)
	answer, err := bufio.NewReader(c.stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if strings.TrimSpace(answer) == name {
		return nil
	}
	if answer == "" {
		fmt.Fprintln(c.stderr)
	}
	return errors.New("nothing was changed; type the name, or give --yes")
}

// deletionEvery is how often a deletion is asked how far it is.
const deletionEvery = 200 * time.Millisecond

// deleteOrganization begins a deletion and waits for its end.
func (c *command) deleteOrganization(ctx context.Context, cl *client.Client, o admin.Organization, asJSON bool) error {
	path := organizationPath(o.ID) + "?" + url.Values{"name": {o.Name}}.Encode()
	var d admin.OrganizationDeletion
	for told := -1; ; {
		if err := client.RetryBusy(ctx, 30, func() error { return cl.Do(ctx, http.MethodDelete, path, nil, &d) }); err != nil {
			return err
		}
		if d.Status != admin.Deleting {
			break
		}
		if d.Done != told && d.Total > 0 {
			told = d.Done
			fmt.Fprintf(c.stderr, "%d of %d namespaces and end users removed\n", d.Done, d.Total)
		}
		select {
		case <-time.After(deletionEvery):
		case <-ctx.Done():
			return fmt.Errorf("the deletion of %s goes on: %w", o.Name, ctx.Err())
		}
	}
	if asJSON {
		return printJSON(c.stdout, d)
	}
	n := d.Deleted
	_, err := fmt.Fprintf(c.stdout, "deleted %s (%s): %s, %s, %s, %s, %s, %s; nothing is left\n", o.Name, o.ID,
		plural(int(n.Namespaces), "namespace"), plural(int(n.Documents), "document"), plural(int(n.EndUsers), "end user"),
		memories(n.Memories), plural(int(n.Integrations), "integration"), plural(int(n.Keys), "key"))
	return err
}
