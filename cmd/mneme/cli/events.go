package cli

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/ident"
)

func (c *command) eventsCommand() *cobra.Command {
	return parent("events", "Follow what happens", c.eventsTailCommand())
}

func (c *command) eventsTailCommand() *cobra.Command {
	t := target{admin: true}
	var org, after, kinds string
	var all, once bool
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Print events as they happen",
		Long: "Print events as they happen, one line of JSON each, until it is interrupted. The\n" +
			"place to go on from is printed to standard error at the end.\n" + connectHelp,
		Example: "  mneme events tail --data ./data\n  mneme events tail --all --once --kinds documents.written",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && after != "":
				return usage("--all and --after are two places to begin at")
			case !all && after == "":
				after = "latest"
			}
			cl, done, err := c.connect(cmd.Context(), "events tail", t)
			if err != nil {
				return err
			}
			query := url.Values{"after": {after}, "limit": {"1000"}}
			if kinds != "" {
				query.Set("kinds", kinds)
			}
			query.Set("wait", "30")
			if once { // what has just happened has no number yet
				query.Set("wait", "2")
			}
			err = c.tailEvents(cmd.Context(), cl, "/admin/v1/organizations/"+pathSegment(org)+"/events?", query, once)
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	cmd.Flags().StringVar(&org, "org", ident.DefaultOrg, "the organization, by name or id")
	cmd.Flags().StringVar(&after, "after", "", "go on from the place that was printed before (default: from now on)")
	cmd.Flags().BoolVar(&all, "all", false, "begin with the oldest event that is kept")
	cmd.Flags().StringVar(&kinds, "kinds", "", "only events of these kinds, apart by commas")
	cmd.Flags().BoolVar(&once, "once", false, "print what there is, and end when nothing comes for 2 seconds")
	return cmd
}

// tailEvents prints events until ctx ends; with once, until it has printed all.
func (c *command) tailEvents(ctx context.Context, cl *client.Client, path string, query url.Values, once bool) (err error) {
	for {
		var page event.Page
		if err = cl.Do(ctx, "GET", path+query.Encode(), nil, &page); err != nil {
			break
		}
		if page.Missed {
			fmt.Fprintln(c.stderr, "events after that place are forgotten by their age")
		}
		for _, e := range page.Events {
			if err = printLine(c.stdout, e); err != nil {
				return err
			}
		}
		query.Set("after", page.NextCursor)
		if once && len(page.Events) == 0 {
			break
		}
	}
	if at := query.Get("after"); at != "" && !strings.EqualFold(at, "latest") {
		fmt.Fprintf(c.stderr, "go on with --after %s\n", at)
	}
	if ctx.Err() != nil {
		return nil // interrupted, as it is meant to end
	}
	return err
}
