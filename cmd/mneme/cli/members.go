package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/member"
)

func (c *command) membersCommand() *cobra.Command {
	return parent("members", "Invite people to an organization, and say what they may do", c.membersInviteCommand(),
		c.membersListCommand(), c.membersRoleCommand(), c.membersDisableCommand(), c.membersEnableCommand(),
		c.membersUnbindCommand(), c.membersRemoveCommand())
}

// withMembers calls a server about the members of an organization.
func (c *command) withMembers(cmd *cobra.Command, name string, t target, do func(context.Context, *client.Client) error) error {
	cl, done, err := c.connect(cmd.Context(), name, t)
	if err != nil {
		return err
	}
	return joinErrors(do(cmd.Context(), cl), done())
}

func membersPath(org string, rest ...string) string {
	path := organizationPath(org) + "/members"
	for _, segment := range rest {
		path += "/" + pathSegment(segment)
	}
	return path
}

const ofOrganization = "organization of the member, by name or id"

func (c *command) membersInviteCommand() *cobra.Command {
	t := target{admin: true}
	var org, role string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "invite EMAIL",
		Short: "Invite a person, and print the link to pass on",
		Long: `Invite a person to an organization, and print the path of the page where they choose a
password. It is good once, for seven days; nothing is sent. For one who has been invited
already, or has forgotten the password, it makes another invitation in place of the one before.
` + connectHelp,
		Example: "  mneme members invite ann@example.com --data ./data\n" +
			"  mneme members invite ann@example.com --role owner --org " +
			"acme --data ./data",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withMembers(cmd, "members invite", t, func(ctx context.Context, cl *client.Client) error {
				var out member.Invited
				known, err := findMember(ctx, cl, org, args[0])
				switch {
				case err != nil:
					return err
				case known != nil && cmd.Flags().Changed("role") && known.Role != role:
					return fmt.Errorf("%s is there already, with the role %s; mneme members role changes it", known.Email,
						known.Role)
				case known != nil:
					err = cl.Do(ctx, http.MethodPost, membersPath(org, known.ID, "invitation"), nil, &out)
				default:
					err = cl.Do(ctx, http.MethodPost, membersPath(org), map[string]string{"email": args[0], "role": role}, &out)
				}
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(c.stdout, out)
				}
				fmt.Fprintf(c.stderr, "%s, %s: pass on the server's address with this path; it is good once, until %s\n",
					out.Email,
					out.Role, formatTime(*out.InvitationExpiresAt))
				_, err = fmt.Fprintln(c.stdout, out.Path)
				return err
			})
		},
	}
	t.flags(cmd)
	cmd.Flags().StringVar(&org, "org", "default", ofOrganization)
	cmd.Flags().StringVar(&role, "role", "viewer", "owner, admin or viewer")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) membersListCommand() *cobra.Command {
	t := target{admin: true}
	var org string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the members of an organization", Example: "  mneme members list --org acme --data ./data",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withMembers(cmd, "members list", t, func(ctx context.Context, cl *client.Client) error {
				all, err := listMembers(ctx, cl, org)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(c.stdout, map[string]any{"members": all})
				}
				var cells [][]string
				for _, m := range all {
					cells = append(cells, []string{m.ID, m.Email, m.Role, m.State, formatTime(m.CreatedAt)})
				}
				return table(c.stdout, []string{"ID", "EMAIL", "ROLE", "STATE", "CREATED"}, cells)
			})
		},
	}
	t.flags(cmd)
	cmd.Flags().StringVar(&org, "org", "default", ofOrganization)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) membersRoleCommand() *cobra.Command {
	t := target{admin: true}
	var org string
	cmd := &cobra.Command{
		Use:   "role EMAIL ROLE",
		Short: "Give a member another role: owner, admin or viewer",
		Long: `Give a member another role, which holds from their next step on: an owner may do
everything in the organization, an admin everything but changing who is a member and keys of
kind admin, a viewer reads. The last owner stays one.
` + connectHelp,
		Example: "  mneme members role ann@example.com admin --data ./data",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withMembers(cmd, "members role", t, func(ctx context.Context, cl *client.Client) error {
				m, err := knownMember(ctx, cl, org, args[0])
				if err == nil {
					err = cl.Do(ctx, http.MethodPatch, membersPath(org, m.ID), map[string]string{"role": args[1]}, nil)
				}
				if err == nil {
					fmt.Fprintf(c.stderr, "%s is %s\n", m.Email, args[1])
				}
				return err
			})
		},
	}
	t.flags(cmd)
	cmd.Flags().StringVar(&org, "org", "default", ofOrganization)
	return cmd
}

func (c *command) membersDisableCommand() *cobra.Command {
	return c.membersChanged("disabled", true, "disable", "Take signing in from a member, whose sessions end at once",
		`Take signing in from a member until 'mneme members enable' gives it back; their sessions end
at once. Keys that they made go on working. The last owner who can sign in stays.
`)
}

func (c *command) membersEnableCommand() *cobra.Command {
	return c.membersChanged("disabled", false, "enable", "Let a member who was disabled sign in again",
		"Let a member who was disabled sign in again, with what they signed in with before.\n")
}

func (c *command) membersUnbindCommand() *cobra.Command {
	return c.membersChanged("has_account", false, "unbind", "Unbind the account at the identity provider from a member",
		`Unbind the account at the identity provider (console.oidc) from a member who has another one now;
their sessions end at once. The next account with the member's address, verified, is bound when it
signs in.
`)
}

// membersChanged changes one thing of a member that is true or false.
func (c *command) membersChanged(what string, to bool, verb, short, long string) *cobra.Command {
	t := target{admin: true}
	var org string
	cmd := &cobra.Command{
		Use:     verb + " EMAIL",
		Short:   short,
		Long:    long + connectHelp,
		Example: "  mneme members " + verb + " ann@example.com --data ./data",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withMembers(cmd, "members "+verb, t, func(ctx context.Context, cl *client.Client) error {
				m, err := knownMember(ctx, cl, org, args[0])
				if err == nil {
					err = cl.Do(ctx, http.MethodPatch, membersPath(org, m.ID), map[string]bool{what: to}, nil)
				}
				if err == nil {
					fmt.Fprintf(c.stderr, "%s: %s\n", m.Email, map[string]string{"disable": "disabled", "enable": "enabled",
						"unbind": "unbound"}[verb])
				}
				return err
			})
		},
	}
	t.flags(cmd)
	cmd.Flags().StringVar(&org, "org", "default", ofOrganization)
	return cmd
}

func (c *command) membersRemoveCommand() *cobra.Command {
	t := target{admin: true}
	var org string
	cmd := &cobra.Command{
		Use:   "remove EMAIL",
		Short: "Remove a member, whose sessions end at once",
		Long: `Remove a member of an organization; their sessions end at once. Keys that they made go
on working. Without --yes the command asks for the address again. The last owner stays.
` + connectHelp,
		Example: "  mneme members remove ann@example.com --data ./data",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withMembers(cmd, "members remove", t, func(ctx context.Context, cl *client.Client) error {
				m, err := knownMember(ctx, cl, org, args[0])
				if err == nil {
					err = c.confirmName("remove "+m.Email+" from "+org, m.Email)
				}
				if err == nil {
					err = cl.Do(ctx, http.MethodDelete, membersPath(org, m.ID), nil, nil)
				}
				if err == nil {
					fmt.Fprintf(c.stderr, "removed %s\n", m.Email)
				}
				return err
			})
		},
	}
	t.flags(cmd)
	cmd.Flags().StringVar(&org, "org", "default", ofOrganization)
	return cmd
}

func listMembers(ctx context.Context, cl *client.Client, org string) (all []member.Member, err error) {
	all = []member.Member{}
	q := url.Values{"limit": {"1000"}}
	for {
		var page member.Members
		if err := cl.Do(ctx, http.MethodGet, membersPath(org)+"?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Members...)
		if page.NextCursor == nil {
			return all, nil
		}
		q.Set("cursor", *page.NextCursor)
	}
}

// findMember finds the member with an address or id; nil: there is none.
func findMember(ctx context.Context, cl *client.Client, org, who string) (*member.Member, error) {
	all, err := listMembers(ctx, cl, org)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.ID == who || m.Email == member.Address(who) {
			return &m, nil
		}
	}
	return nil, nil
}

func knownMember(ctx context.Context, cl *client.Client, org, who string) (*member.Member, error) {
	m, err := findMember(ctx, cl, org, who)
	if err == nil && m == nil {
		err = fmt.Errorf("%s has no member %q", org, who)
	}
	return m, err
}
