package cli

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/admin"
)

func (c *command) jobsCommand() *cobra.Command {
	return parent("jobs", "List, show and cancel background jobs", c.jobsListCommand(),
		c.jobCommand("show", "GET", "", "Show how far a job is",
			"Show a job: its status and progress, its attempts and why it did not succeed."),
		c.jobCommand("cancel", "POST", "/cancel", "End a job early",
			"End a job early, and print it. A queued job ends at once, a running one within\n"+
				"seconds; what it has done by then stays done. It is safe to repeat."))
}

func (c *command) jobsListCommand() *cobra.Command {
	t := target{admin: true}
	var org, kind, status string
	var most int
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List background jobs",
		Long:    "List background jobs, the newest first.\n" + connectHelp,
		Example: "  mneme jobs list --data ./data\n  mneme jobs list --status failed --kind documents.write --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if most < 0 {
				return usage("--limit must not be negative")
			}
			cl, done, err := c.connect(cmd.Context(), "jobs list", t)
			if err != nil {
				return err
			}
			query := url.Values{"organization": {org}, "kind": {kind}, "status": {status}}
			rows, more, err := listJobs(cmd.Context(), cl, query, most)
			if err == nil {
				err = c.printJobs(rows, more, asJSON)
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	cmd.Flags().StringVar(&org, "org", "", "only this organization's, by name or id (default: all that the key administers)")
	cmd.Flags().StringVar(&kind, "kind", "", "only of this kind, such as documents.write")
	cmd.Flags().StringVar(&status, "status", "", "only queued, running, succeeded, failed or cancelled ones")
	cmd.Flags().IntVar(&most, "limit", 100, "jobs to list at most, 0 for all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// listJobs reads jobs, the newest first; most bounds how many, 0 means all. more reports
// whether there are others.
func listJobs(ctx context.Context, cl *client.Client, query url.Values, most int) (rows []admin.Job, more bool, err error) {
	rows = []admin.Job{}
	for {
		size := 1000
		if most > 0 {
			size = min(size, most-len(rows))
		}
		query.Set("limit", strconv.Itoa(size))
		var page admin.Jobs
		if err := cl.Do(ctx, "GET", "/admin/v1/jobs?"+query.Encode(), nil, &page); err != nil {
			return nil, false, err
		}
		rows = append(rows, page.Jobs...)
		if page.NextCursor == nil || len(rows) == most {
			return rows, page.NextCursor != nil, nil
		}
		query.Set("cursor", *page.NextCursor)
	}
}

func (c *command) printJobs(rows []admin.Job, more, asJSON bool) error {
	if asJSON {
		return printJSON(c.stdout, map[string]any{"jobs": rows, "more": more})
	}
	cells := make([][]string, len(rows))
	for i, j := range rows {
		cells[i] = []string{j.ID, j.Kind, jobSubject(j), jobStatus(j), jobProgress(j), strconv.Itoa(j.Tries),
			formatTime(j.CreatedAt), formatOptionalTime(j.FinishedAt), jobError(j)}
	}
	if err := table(c.stdout, []string{"ID", "KIND", "ON", "STATUS", "DONE", "TRIES", "CREATED", "FINISHED", "ERROR"},
		cells); err != nil {
		return fmt.Errorf("print jobs: %w", err)
	}
	if more {
		fmt.Fprintln(c.stderr, "there are more; --limit 0 lists all")
	}
	return nil
}

// jobCommand makes a command that calls a route of one job and prints the job.
func (c *command) jobCommand(name, method, action, short, long string) *cobra.Command {
	t := target{admin: true}
	var asJSON bool
	cmd := &cobra.Command{
		Use:     name + " ID",
		Short:   short,
		Long:    long + "\n" + connectHelp,
		Example: "  mneme jobs " + name + " op_019ab2c4-7d10-7c3e-9f5e-2f6f8f3b7a11 --data ./data",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, done, err := c.connect(cmd.Context(), "jobs "+name, t)
			if err != nil {
				return err
			}
			var j admin.Job
			err = cl.Do(cmd.Context(), method, "/admin/v1/jobs/"+pathSegment(args[0])+action, nil, &j)
			switch {
			case err != nil:
			case asJSON:
				err = printJSON(c.stdout, j)
			default:
				err = c.printJob(j)
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) printJob(j admin.Job) error {
	t := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for _, line := range [][2]string{
		{"id", j.ID},
		{"kind", j.Kind},
		{"organization", j.OrganizationID},
		{"on", jobSubject(j)},
		{"status", jobStatus(j)},
		{"done", jobProgress(j)},
		{"tries", strconv.Itoa(j.Tries)},
		{"next attempt", formatOptionalTime(j.NextAttempt)},
		{"error", jobError(j)},
		{"created", formatTime(j.CreatedAt)},
		{"started", formatOptionalTime(j.StartedAt)},
		{"updated", formatTime(j.UpdatedAt)},
		{"finished", formatOptionalTime(j.FinishedAt)},
		{"kept until", formatOptionalTime(j.ExpiresAt)},
	} {
		if line[1] != "" {
			fmt.Fprintln(t, line[0]+"\t"+line[1])
		}
	}
	return t.Flush()
}

// jobSubject names what a job works on.
func jobSubject(j admin.Job) string {
	switch {
	case j.Namespace != nil:
		return "namespace " + *j.Namespace
	case j.EndUserID != nil:
		return "end user " + *j.EndUserID
	}
	return ""
}

func jobStatus(j admin.Job) string {
	if j.Cancelling {
		return j.Status + ", to be cancelled"
	}
	return j.Status
}

func jobProgress(j admin.Job) string { return fmt.Sprintf("%d/%d", j.Done, j.Total) }

// jobError is why a job did not succeed, in one line.
func jobError(j admin.Job) string {
	if j.Error == nil {
		return ""
	}
	return j.Error.Code + ": " + strings.Join(strings.Fields(j.Error.Message), " ")
}

// formatOptionalTime is formatTime of a time that may not be set.
func formatOptionalTime(t *time.Time) string {
	if t == nil {
		return ""
	}
	return formatTime(*t)
}
