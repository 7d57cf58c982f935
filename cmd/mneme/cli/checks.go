package cli

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/check"
)

func (c *command) checksCommand() *cobra.Command {
	return parent("checks", "Run the saved queries of a namespace", c.checksRunCommand(), c.checksListCommand())
}

// withChecks calls a server about the saved queries of a namespace.
func (c *command) withChecks(cmd *cobra.Command, name string, t target, do func(context.Context, *client.Client) error) error {
	cl, done, err := c.connect(cmd.Context(), name, t)
	if err != nil {
		return err
	}
	return joinErrors(do(cmd.Context(), cl), done())
}

func savedQueriesPath(namespace string) string {
	return "/namespaces/" + pathSegment(namespace) + "/queries"
}

func (c *command) checksRunCommand() *cobra.Command {
	var t target
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "run NAMESPACE",
		Short: "Ask all saved queries, and fail unless each finds what it should",
		Long: `Ask all saved queries of a namespace, and say which find the documents that they should and
what has changed since each was saved. The exit code is 1 when one does not pass, so that a
script can run it after a change of documents, models or settings.
` + connectHelp,
		Example: "  mneme checks run handbook --data ./data",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withChecks(cmd, "checks run", t, func(ctx context.Context, cl *client.Client) error {
				var out check.Report
				if err := cl.Do(ctx, http.MethodPost, "/namespaces/"+pathSegment(args[0])+"/check", nil, &out); err != nil {
					return err
				}
				var err error
				if asJSON {
					err = printJSON(c.stdout, out)
				} else {
					err = c.printReport(out)
				}
				if err == nil && out.Failed > 0 {
					err = fmt.Errorf("%d of %d saved queries do not pass", out.Failed, len(out.Outcomes))
				}
				return err
			})
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) printReport(r check.Report) error {
	var cells [][]string
	for _, o := range r.Outcomes {
		verdict := map[bool]string{true: "passes", false: "fails"}[o.Passed]
		if o.Error != nil {
			verdict = "cannot be asked: " + *o.Error
		}
		cells = append(cells, []string{o.Name, verdict, strings.Join(o.Missing, " "), strings.Join(o.Came, " "),
			strings.Join(o.Left, " ")})
	}
	return table(c.stdout, []string{"NAME", "OUTCOME", "MISSING", "CAME", "LEFT"}, cells)
}

func (c *command) checksListCommand() *cobra.Command {
	var t target
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list NAMESPACE",
		Short:   "List the saved queries of a namespace",
		Example: "  mneme checks list handbook --data ./data",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withChecks(cmd, "checks list", t, func(ctx context.Context, cl *client.Client) error {
				var out check.SavedList
				if err := cl.Do(ctx, http.MethodGet, savedQueriesPath(args[0]), nil, &out); err != nil {
					return err
				}
				if asJSON {
					return printJSON(c.stdout, out)
				}
				var cells [][]string
				for _, q := range out.Queries {
					cells = append(cells, []string{q.Name, q.Query, strings.Join(q.Expect, " "), formatTime(q.UpdatedAt)})
				}
				return table(c.stdout, []string{"NAME", "QUERY", "EXPECTS", "SAVED"}, cells)
			})
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
