package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/webhook"
)

func (c *command) webhooksCommand() *cobra.Command {
	return parent("webhooks", "Send what happens to URLs, signed", c.webhooksAddCommand(), c.webhooksListCommand(),
		c.webhooksShowCommand(), c.webhooksChangeCommand(), c.webhooksRemoveCommand(), c.webhooksTestCommand(),
		c.webhooksRotateCommand(), c.webhooksDeliveriesCommand(), c.webhooksRedeliverCommand(), c.webhooksRecoverCommand())
}

// webhooksTarget is where the commands of webhooks go.
type webhooksTarget struct {
	target
	org    string
	asJSON bool
}

func (t *webhooksTarget) flags(cmd *cobra.Command) {
	t.admin = true
	t.target.flags(cmd)
	cmd.Flags().StringVar(&t.org, "org", ident.DefaultOrg, "the organization, by name or id")
	cmd.Flags().BoolVar(&t.asJSON, "json", false, "print JSON")
}

// path is a route of webhooks; parts follow it.
func (t *webhooksTarget) path(parts ...string) string {
	out := "/admin/v1/organizations/" + pathSegment(t.org) + "/webhooks"
	for _, p := range parts {
		out += "/" + pathSegment(p)
	}
	return out
}

// withWebhooks connects and runs fn.
func (c *command) withWebhooks(ctx context.Context, name string, t *webhooksTarget, fn func(*client.Client) error) error {
	cl, done, err := c.connect(ctx, "webhooks "+name, t.target)
	if err != nil {
		return err
	}
	return joinErrors(fn(cl), done())
}

// webhookCommand is a command about one webhook.
func (c *command) webhookCommand(t *webhooksTarget, use, short, long string,
	fn func(ctx context.Context, cl *client.Client, id string) error) *cobra.Command {
	name, _, _ := strings.Cut(use, " ")
	cmd := &cobra.Command{
		Use:     use + " WEBHOOK",
		Short:   short,
		Long:    cmp.Or(long, short+".") + "\n" + connectHelp,
		Example: "  mneme webhooks " + name + " whk_019e2b4b-0c55-7d90-9e1f-3a7b5c2d8e60 --data ./data",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withWebhooks(cmd.Context(), name, t, func(cl *client.Client) error { return fn(cmd.Context(), cl, args[0]) })
		},
	}
	t.flags(cmd)
	return cmd
}

func (c *command) webhooksAddCommand() *cobra.Command {
	var t webhooksTarget
	var kinds, description, signature string
	var disabled bool
	cmd := &cobra.Command{
		Use:   "add URL",
		Short: "Send events to a URL",
		Long: "Send events to a URL from now on, signed as Standard Webhooks 1.0 says. The secret that the\n" +
			"receiver needs is printed to standard output, this once.\n" + connectHelp,
		Example: "  mneme webhooks add https://example.org/hooks --data ./data\n" +
			"  mneme webhooks add https://example.org/hooks --kinds documents.written,documents.deleted",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := webhook.Create{URL: args[0], Kinds: splitList(kinds)}
			setIfGiven(description != "", &in.Description, description)
			setIfGiven(signature != "", &in.Signature, signature)
			setIfGiven(disabled, &in.Enabled, false)
			return c.withWebhooks(cmd.Context(), "add", &t, func(cl *client.Client) error {
				var out webhook.Made
				if err := cl.Do(cmd.Context(), http.MethodPost, t.path(), in, &out); err != nil {
					return err
				}
				return c.printMade(out, t.asJSON)
			})
		},
	}
	t.flags(cmd)
	cmd.Flags().StringVar(&kinds, "kinds", "", "only events of these kinds, apart by commas (default: all)")
	cmd.Flags().StringVar(&description, "description", "", "what it is for")
	cmd.Flags().StringVar(&signature, "signature", "", "v1, by a shared secret, or v1a, by a key pair (default v1)")
	cmd.Flags().BoolVar(&disabled, "disabled", false, "make it, and send nothing until it is enabled")
	return cmd
}

// splitList are the parts of a list with commas; none for "".
func splitList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// printMade prints a webhook with its new secret: that, or the public key, to standard output.
func (c *command) printMade(m webhook.Made, asJSON bool) error {
	if asJSON {
		return printJSON(c.stdout, m)
	}
	fmt.Fprintf(c.stderr, "webhook %s sends to %s\n", m.ID, oneLine(m.URL, 200))
	switch {
	case m.Secret != nil:
		fmt.Fprintln(c.stderr, "the receiver needs this secret, which is not shown again:")
		fmt.Fprintln(c.stdout, *m.Secret)
	case len(m.Secrets) > 0 && m.Secrets[0].PublicKey != nil:
		fmt.Fprintln(c.stderr, "the receiver needs this public key:")
		fmt.Fprintln(c.stdout, *m.Secrets[0].PublicKey)
	}
	return nil
}

func (c *command) webhooksListCommand() *cobra.Command {
	var t webhooksTarget
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List webhooks with their state",
		Long:    "List the webhooks of an organization, the oldest first.\n" + connectHelp,
		Example: "  mneme webhooks list --data ./data\n  mneme webhooks list --org acme --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withWebhooks(cmd.Context(), "list", &t, func(cl *client.Client) error {
				var out webhook.Webhooks
				if err := cl.Do(cmd.Context(), http.MethodGet, t.path(), nil, &out); err != nil {
					return err
				}
				if t.asJSON {
					return printJSON(c.stdout, out)
				}
				cells := make([][]string, len(out.Webhooks))
				for i, w := range out.Webhooks {
					cells[i] = []string{w.ID, w.State, formatOptionalTime(w.FailingSince), oneLine(kindsLine(w.Kinds), 60),
						oneLine(w.URL, 100)}
				}
				return table(c.stdout, []string{"ID", "STATE", "FAILING SINCE", "KINDS", "URL"}, cells)
			})
		},
	}
	t.flags(cmd)
	return cmd
}

func kindsLine(kinds []string) string {
	if len(kinds) == 0 {
		return "all"
	}
	return strings.Join(kinds, ",")
}

func (c *command) printWebhook(w webhook.Webhook, asJSON bool) error {
	if asJSON {
		return printJSON(c.stdout, w)
	}
	t := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	lines := [][2]string{{"id", w.ID}, {"url", oneLine(w.URL, 2000)}, {"kinds", kindsLine(w.Kinds)},
		{"description", oneLine(w.Description, 500)}, {"signature", w.Signature}, {"state", w.State}}
	if w.Reason != nil {
		lines = append(lines, [2]string{"reason", *w.Reason})
	}
	lines = append(lines, [2]string{"failing since", formatOptionalTime(w.FailingSince)})
	for _, s := range w.Secrets {
		text := s.ID + " of " + formatTime(s.CreatedAt)
		if s.ExpiresAt != nil {
			text += ", until " + formatTime(*s.ExpiresAt)
		}
		if s.PublicKey != nil {
			text += ", public key " + *s.PublicKey
		}
		lines = append(lines, [2]string{"secret", text})
	}
	lines = append(lines, [2]string{"created", formatTime(w.CreatedAt)}, [2]string{"changed", formatTime(w.UpdatedAt)})
	for _, line := range lines {
		if line[1] != "" {
			fmt.Fprintln(t, line[0]+"\t"+line[1])
		}
	}
	return t.Flush()
}

func (c *command) webhooksShowCommand() *cobra.Command {
	var t webhooksTarget
	return c.webhookCommand(&t, "show", "Show a webhook", "", func(ctx context.Context, cl *client.Client, id string) error {
		var out webhook.Webhook
		if err := cl.Do(ctx, http.MethodGet, t.path(id), nil, &out); err != nil {
			return err
		}
		return c.printWebhook(out, t.asJSON)
	})
}

func (c *command) webhooksChangeCommand() *cobra.Command {
	var t webhooksTarget
	var to, kinds, description string
	var enable, disable, all bool
	cmd := c.webhookCommand(&t, "change", "Change a webhook",
		"Change a webhook. What is not given stays. To disable it drops what waits to be "+
			"sent; once\nit is enabled, mneme webhooks recover brings what it has not got.",
		func(ctx context.Context, cl *client.Client, id string) error {
			var in webhook.Change
			setIfGiven(to != "", &in.URL, to)
			setIfGiven(kinds != "" || all, &in.Kinds, append([]string{}, splitList(kinds)...))
			setIfGiven(description != "", &in.Description, description)
			setIfGiven(enable || disable, &in.Enabled, enable)
			switch {
			case enable && disable:
				return usage("--enable and --disable are two states")
			case all && kinds != "":
				return usage("--all-kinds leaves none for --kinds to choose")
			case in.Validate() != nil:
				return usage("nothing is changed: give --to, --kinds, --all-kinds, --description, --enable or --disable")
			}
			var out webhook.Webhook
			if err := cl.Do(ctx, http.MethodPatch, t.path(id), in, &out); err != nil {
				return err
			}
			return c.printWebhook(out, t.asJSON)
		})
	cmd.Flags().StringVar(&to, "to", "", "another URL to send to")
	cmd.Flags().StringVar(&kinds, "kinds", "", "only events of these kinds, apart by commas")
	cmd.Flags().BoolVar(&all, "all-kinds", false, "events of all kinds")
	cmd.Flags().StringVar(&description, "description", "", "what it is for")
	cmd.Flags().BoolVar(&enable, "enable", false, "send from now on")
	cmd.Flags().BoolVar(&disable, "disable", false, "send nothing, and drop what waits")
	return cmd
}

func (c *command) webhooksRemoveCommand() *cobra.Command {
	var t webhooksTarget
	return c.webhookCommand(&t, "rm", "Delete a webhook with its deliveries", "",
		func(ctx context.Context, cl *client.Client, id string) error {
			var out webhook.Deleted
			if err := cl.Do(ctx, http.MethodDelete, t.path(id), nil, &out); err != nil {
				return err
			}
			if t.asJSON {
				return printJSON(c.stdout, out)
			}
			if !out.Deleted {
				fmt.Fprintln(c.stderr, "there was none")
			}
			return nil
		})
}

func (c *command) webhooksTestCommand() *cobra.Command {
	var t webhooksTarget
	return c.webhookCommand(&t, "test", "Send a test to a webhook",
		"Send a signed event webhook.test at once, and print what comes back. "+
			"The exit code is 1\nwhen the endpoint does not take it.",
		func(ctx context.Context, cl *client.Client, id string) error {
			var out webhook.Tested
			if err := cl.Do(ctx, http.MethodPost, t.path(id, "test"), nil, &out); err != nil {
				return err
			}
			if t.asJSON {
				if err := printJSON(c.stdout, out); err != nil {
					return err
				}
			} else if out.Delivered {
				fmt.Fprintf(c.stdout, "it answers %d after %d ms\n", *out.Status, out.Millis)
			} else if out.Error != nil {
				fmt.Fprintln(c.stderr, oneLine(*out.Error, 500))
			}
			if !out.Delivered {
				return errReported
			}
			return nil
		})
}

func (c *command) webhooksRotateCommand() *cobra.Command {
	var t webhooksTarget
	var in webhook.Rotate
	cmd := c.webhookCommand(&t, "rotate", "Replace the secret of a webhook",
		"Replace the secret of a webhook, and print the new one, this once. "+
			"The one before signs along\nfor a time, in which the receiver may be told.",
		func(ctx context.Context, cl *client.Client, id string) error {
			var out webhook.Made
			if err := cl.Do(ctx, http.MethodPost, t.path(id, "rotate"), in, &out); err != nil {
				return err
			}
			return c.printMade(out, t.asJSON)
		})
	cmd.Flags().StringVar(&in.Overlap, "overlap", "", "how long the secret before signs along, 0s to 168h (default 24h)")
	cmd.Flags().BoolVar(&in.Force, "force", false, "also while two secrets sign: the older one ends at once")
	return cmd
}

func (c *command) webhooksDeliveriesCommand() *cobra.Command {
	var t webhooksTarget
	var status string
	var most int
	cmd := c.webhookCommand(&t, "deliveries", "List the deliveries of a webhook",
		"List the deliveries of a webhook, the newest first.",
		func(ctx context.Context, cl *client.Client, id string) error {
			if most < 0 {
				return usage("--limit must be 0 or more")
			}
			query := url.Values{}
			if status != "" {
				query.Set("status", status)
			}
			rows := []webhook.Delivery{}
			more, err := listPages(ctx, most, query, func(ctx context.Context, query string) (int, *string, error) {
				var page webhook.Deliveries
				err := cl.Do(ctx, http.MethodGet, t.path(id, "deliveries")+"?"+query, nil, &page)
				rows = append(rows, page.Deliveries...)
				return len(page.Deliveries), page.NextCursor, err
			})
			switch {
			case err != nil:
				return err
			case t.asJSON:
				return printJSON(c.stdout, map[string]any{"deliveries": rows, "more": more})
			}
			cells := make([][]string, len(rows))
			for i, d := range rows {
				last := ""
				if n := len(d.Attempts); n > 0 {
					if e := d.Attempts[n-1].Error; e != nil {
						last = oneLine(*e, 80)
					}
				}
				cells[i] = []string{d.ID, d.Status, d.Kind, oneLine(d.Entity, 60), strconv.Itoa(d.Tries),
					formatOptionalTime(d.NextAttemptAt), formatTime(d.CreatedAt), last}
			}
			err = table(c.stdout, []string{"ID", "STATUS", "KIND", "OF", "TRIES", "NEXT", "CREATED", "ERROR"}, cells)
			c.noteMore(more)
			return err
		})
	cmd.Flags().StringVar(&status, "status", "", "only pending, succeeded, failed or dropped ones")
	cmd.Flags().IntVar(&most, "limit", 100, "deliveries to list at most, 0 for all")
	return cmd
}

func (c *command) webhooksRedeliverCommand() *cobra.Command {
	var t webhooksTarget
	cmd := c.webhookCommand(&t, "redeliver", "Send an event again", "", nil)
	cmd.Use, cmd.Args = "redeliver WEBHOOK DELIVERY", cobra.ExactArgs(2)
	cmd.Example = "  mneme webhooks redeliver whk_019e2b4b-0c55-7d90-9e1f-3a7b5c2d8e60 dlv_019e2b4c-7d2b-7c11-8a40-5d1e9f3b6c77"
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.withWebhooks(cmd.Context(), "redeliver", &t, func(cl *client.Client) error {
			var out webhook.Delivery
			if err := cl.Do(cmd.Context(), http.MethodPost, t.path(args[0], "deliveries", args[1], "redeliver"), nil,
				&out); err != nil {
				return err
			}
			if t.asJSON {
				return printJSON(c.stdout, out)
			}
			fmt.Fprintln(c.stdout, out.ID)
			return nil
		})
	}
	return cmd
}

func (c *command) webhooksRecoverCommand() *cobra.Command {
	var t webhooksTarget
	var since, until string
	cmd := c.webhookCommand(&t, "recover", "Send what a webhook has not taken",
		"Send those events of a time that the webhook has not taken, the "+
			"oldest first.", func(ctx context.Context, cl *client.Client, id string) error {
			in := webhook.Recover{}
			from, err := pointInTime(since)
			if err != nil {
				return usage("--since: %v", err)
			}
			in.Since = from
			if until != "" {
				to, err := pointInTime(until)
				if err != nil {
					return usage("--until: %v", err)
				}
				in.Until = &to
			}
			made := 0
			for more := true; more; {
				var out webhook.Recovered
				if err := cl.Do(ctx, http.MethodPost, t.path(id, "recover"), in, &out); err != nil {
					return err
				}
				made, more = made+out.Deliveries, out.More
			}
			if t.asJSON {
				return printJSON(c.stdout, webhook.Recovered{Deliveries: made})
			}
			fmt.Fprintf(c.stdout, "%d events are sent again\n", made)
			return nil
		})
	cmd.Flags().StringVar(&since, "since", "24h", "from when on, as a time (2026-11-23T09:30:00Z) or how long ago (90m)")
	cmd.Flags().StringVar(&until, "until", "", "up to when (default: now)")
	return cmd
}

// pointInTime reads a time, or how long ago it was.
func pointInTime(text string) (time.Time, error) {
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return time.Now().Add(-ago).UTC(), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, errors.New("it is neither a time such as 2026-11-23T09:30:00Z nor a duration such as 90m")
	}
	return at, nil
}
