package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/source"
)

// Pauses between two looks at a source: longer each time, so that a long run costs few calls.
const (
	firstLook  = 200 * time.Millisecond
	latestLook = 2 * time.Second
)

// look waits and reads a path into out, which stays as it is where the server asks to wait longer.
func (cl sourcesClient) look(ctx context.Context, pause *time.Duration, path string, out any) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(*pause):
	}
	*pause = min(*pause*3/2, latestLook)
	err := cl.Do(ctx, http.MethodGet, path, nil, out)
	var refused *client.Error
	if errors.As(err, &refused) && refused.RetryAfter > 0 {
		*pause, err = max(*pause, refused.RetryAfter), nil
	}
	return err
}

// awaitRun shows a run until it has ended, and then its counts and every item that is not
// reflected. Its error is that of a run that is not completed.
func (c *command) awaitRun(ctx context.Context, cl sourcesClient, s source.Source, r source.Run, out io.Writer) error {
	bar := newProgress(c.stderr)
	defer bar.end()
	path, waits, pause := sourcePath(s.ID)+"/runs/"+pathSegment(r.ID), "", firstLook
	for r.FinishedAt == nil {
		bar.count("syncing "+oneLine(s.Name, 60), int(r.Counts.Seen))
		if why := reasonLine(r.Error); why != waits && why != "" {
			bar.end()
			fmt.Fprintf(c.stderr, "the run waits: %s\n", why)
			waits = why
		}
		if err := cl.look(ctx, &pause, path, &r); err != nil {
			return err
		}
	}
	bar.end()
	fmt.Fprintf(out, "%s: %s\n", oneLine(s.Name, 200), runLine(r))
	for _, status := range []string{"failed", "skipped"} {
		if r.Counts.Failed+r.Counts.Skipped == 0 {
			break
		}
		if _, err := cl.runItems(ctx, s.ID, r.ID, status, 0, func(items []source.RunItem) error {
			for _, i := range items {
				fmt.Fprintf(out, "%s %s: %s\n", i.Status, oneLine(i.Key, 500), reasonLine(i.Error))
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if r.Error != nil {
		fmt.Fprintln(out, reasonLine(r.Error))
	}
	if r.Counts.Withheld > 0 {
		fmt.Fprintf(out, "%s withheld; mneme sources runs %s %s --status withheld names them, mneme sources sync %[2]s "+
			"--apply-deletions %[4]d deletes them\n", plural(int(r.Counts.Withheld), "deletion"), s.ID, r.ID, r.Counts.Withheld)
	}
	if r.Status != "completed" {
		return errReported
	}
	return nil
}

// runLine is a run's status and what it has counted.
func runLine(r source.Run) string {
	n := r.Counts
	parts := []string{plural(int(n.Seen), "item")}
	for _, of := range []struct {
		count int64
		what  string
	}{{n.Created, "created"}, {n.Updated, "updated"}, {n.Unchanged, "unchanged"}, {n.Failed, "failed"}, {n.Skipped, "skipped"}} {
		if of.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", of.count, of.what))
		}
	}
	for _, of := range []struct {
		count int64
		what  string
	}{{n.Deleted, "deleted"}, {n.Withheld, "withheld"}} {
		if of.count > 0 {
			parts = append(parts, plural(int(of.count), "document")+" "+of.what)
		}
	}
	return r.Status + ": " + strings.Join(parts, ", ")
}

// runItems reads what a run has recorded, page by page.
func (cl sourcesClient) runItems(ctx context.Context, id, run, status string, most int,
	fn func([]source.RunItem) error) (more bool, err error) {
	query := url.Values{}
	if status != "" {
		query.Set("status", status)
	}
	return listPages(ctx, most, query, func(ctx context.Context, query string) (int, *string, error) {
		var page source.RunItems
		err := cl.Do(ctx, http.MethodGet, sourcePath(id)+"/runs/"+pathSegment(run)+"/items?"+query, nil, &page)
		if err == nil {
			err = fn(page.Items)
		}
		return len(page.Items), page.NextCursor, err
	})
}

func (c *command) sourcesSyncCommand() *cobra.Command {
	var t target
	var full, retry, cancel, wait, asJSON bool
	var most int64
	cmd := &cobra.Command{
		Use:   "sync SOURCE",
		Short: "Start a run, or end one",
		Long: `Start a run of a source; one that is under way is joined. With --wait the command shows
the run and ends with its counts; every item that failed is named, and the exit
code is 1. Where no server runs it does the work itself, and waits in any case.

A run that would delete suspiciously much withholds its deletions; --apply-deletions N
starts one that deletes up to N documents, and none if more would go.
` + connectHelp,
		Example: `  mneme sources sync handbook --wait
  mneme sources sync handbook --full          # also what was deleted by hand
  mneme sources sync handbook --retry-failed --wait
  mneme sources sync handbook --apply-deletions 40
  mneme sources sync handbook --cancel`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, apply := cmd.Context(), cmd.Flags().Changed("apply-deletions")
			ways := 0
			for _, given := range []bool{full, retry, cancel, apply} {
				if given {
					ways++
				}
			}
			if ways > 1 {
				return usage("--full, --retry-failed, --apply-deletions and --cancel go one at a time")
			}
			return c.withSources(ctx, "sync", t, func(cl sourcesClient) error {
				s, err := cl.find(ctx, args[0])
				if err != nil {
					return err
				}
				if (retry || cancel) && s.LastRun == nil {
					return fmt.Errorf("%s has had no run yet", oneLine(s.Name, 200))
				}
				path := sourcePath(s.ID)
				var body any
				switch {
				case apply:
					path, body = path+"/apply_deletions", source.ApplyDeletions{Max: &most}
				case retry:
					path += "/runs/" + pathSegment(s.LastRun.ID) + "/retry_failed"
				case cancel:
					path += "/runs/" + pathSegment(s.LastRun.ID) + "/cancel"
				default:
					path, body = path+"/sync", source.SyncSource{Full: full}
				}
				var r source.Run
				if err := cl.Do(ctx, http.MethodPost, path, body, &r); err != nil {
					return err
				}
				if !cancel && (wait || !cl.served) {
					out := c.stdout
					if asJSON {
						out = c.stderr
					}
					err = c.awaitRun(ctx, cl, s, r, out)
				}
				if asJSON {
					if got := cl.Do(ctx, http.MethodGet, sourcePath(s.ID)+"/runs/"+pathSegment(r.ID), nil, &r); got != nil {
						return joinErrors(err, got)
					}
					return joinErrors(err, printJSON(c.stdout, r))
				}
				if cancel || !wait && cl.served {
					fmt.Fprintf(c.stdout, "%s %s\n", r.ID, r.Status)
				}
				return err
			})
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&full, "full", false, "look at everything, and bring back documents that were deleted by hand")
	cmd.Flags().BoolVar(&retry, "retry-failed", false, "try the failed items of the last run, and nothing else")
	cmd.Flags().Int64Var(&most, "apply-deletions", 0, "delete what is gone, if it is at most so many documents")
	cmd.Flags().BoolVar(&cancel, "cancel", false, "end the run that is under way")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the run and show it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) sourcesRunsCommand() *cobra.Command {
	var t target
	var l listFlags
	var status string
	cmd := &cobra.Command{
		Use:   "runs SOURCE [RUN]",
		Short: "List a source's runs, or what one of them did",
		Long: `List the runs of a source, the newest first, or the items that one of them did not leave
as they were.
` + connectHelp,
		Example: "  mneme sources runs handbook --data ./data\n" +
			"  mneme sources runs handbook run_019e2b4c-8f02-7bb1-8d2e-61d0c5a9f3e8 --status failed --json",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.check(); err != nil {
				return err
			}
			if status != "" && len(args) == 1 {
				return usage("--status goes with a run: mneme sources runs SOURCE RUN --status failed")
			}
			return c.withSources(cmd.Context(), "runs", t, func(cl sourcesClient) error {
				s, err := cl.find(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if len(args) == 1 {
					return c.listRuns(cmd.Context(), cl, s, l)
				}
				return c.listRunItems(cmd.Context(), cl, s, args[1], status, l)
			})
		},
	}
	t.flags(cmd)
	cmd.Flags().StringVar(&status, "status", "",
		"of a run: only items that were created, updated, deleted, withheld, skipped, or failed")
	cmd.Flags().IntVar(&l.most, "limit", 100, "rows to list at most, 0 for all")
	cmd.Flags().BoolVar(&l.asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) listRuns(ctx context.Context, cl sourcesClient, s source.Source, l listFlags) error {
	rows := []source.Run{}
	more, err := listPages(ctx, l.most, url.Values{}, func(ctx context.Context, query string) (int, *string, error) {
		var page source.Runs
		err := cl.Do(ctx, http.MethodGet, sourcePath(s.ID)+"/runs?"+query, nil, &page)
		rows = append(rows, page.Runs...)
		return len(page.Runs), page.NextCursor, err
	})
	switch {
	case err != nil:
		return err
	case l.asJSON:
		return printJSON(c.stdout, map[string]any{"runs": rows, "more": more})
	}
	cells := make([][]string, len(rows))
	for i, r := range rows {
		status, counts, _ := strings.Cut(runLine(r), ": ")
		cells[i] = []string{r.ID, r.Trigger, r.Mode, status, formatTime(r.CreatedAt), formatOptionalTime(r.FinishedAt), counts,
			reasonLine(r.Error)}
	}
	header := []string{"ID", "TRIGGER", "MODE", "STATUS", "CREATED", "FINISHED", "COUNTS", "ERROR"}
	if err := table(c.stdout, header, cells); err != nil {
		return fmt.Errorf("print runs: %w", err)
	}
	c.noteMore(more)
	return nil
}

func (c *command) listRunItems(ctx context.Context, cl sourcesClient, s source.Source, run, status string, l listFlags) error {
	rows := []source.RunItem{}
	more, err := cl.runItems(ctx, s.ID, run, status, l.most, func(items []source.RunItem) error {
		rows = append(rows, items...)
		return nil
	})
	switch {
	case err != nil:
		return err
	case l.asJSON:
		return printJSON(c.stdout, map[string]any{"items": rows, "more": more})
	}
	cells := make([][]string, len(rows))
	for i, item := range rows {
		document := ""
		if item.DocumentID != nil {
			document = *item.DocumentID
		}
		cells[i] = []string{item.Status, oneLine(item.Key, 200), document, reasonLine(item.Error)}
	}
	if err := table(c.stdout, []string{"STATUS", "ITEM", "DOCUMENT", "ERROR"}, cells); err != nil {
		return fmt.Errorf("print items: %w", err)
	}
	c.noteMore(more)
	return nil
}

func (c *command) sourcesItemsCommand() *cobra.Command {
	var t target
	var l listFlags
	var status string
	cmd := &cobra.Command{
		Use:   "items SOURCE",
		Short: "List what is kept of a source's items",
		Long:  "List the items of a source that are kept, with their documents, and why one could not be read.\n" + connectHelp,
		Example: "  mneme sources items handbook --status failed --data ./data\n" +
			"  mneme sources items handbook --prefix policies/ --json",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.check(); err != nil {
				return err
			}
			return c.withSources(cmd.Context(), "items", t, func(cl sourcesClient) error {
				s, err := cl.find(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				query := url.Values{"prefix": {l.prefix}}
				if status != "" {
					query.Set("status", status)
				}
				return c.listItems(cmd.Context(), cl, s, query, l)
			})
		},
	}
	t.flags(cmd)
	l.flags(cmd, "items", "keys")
	cmd.Flags().StringVar(&status, "status", "", "only active or failed items")
	return cmd
}

func (c *command) listItems(ctx context.Context, cl sourcesClient, s source.Source, query url.Values, l listFlags) error {
	rows := []source.Item{}
	more, err := listPages(ctx, l.most, query, func(ctx context.Context, query string) (int, *string, error) {
		var page source.Items
		err := cl.Do(ctx, http.MethodGet, sourcePath(s.ID)+"/items?"+query, nil, &page)
		rows = append(rows, page.Items...)
		return len(page.Items), page.NextCursor, err
	})
	switch {
	case err != nil:
		return err
	case l.asJSON:
		return printJSON(c.stdout, map[string]any{"items": rows, "more": more})
	}
	cells := make([][]string, len(rows))
	for i, item := range rows {
		document := ""
		if item.DocumentID != nil {
			document = *item.DocumentID
		}
		cells[i] = []string{oneLine(item.Key, 200), item.Status, strconv.Itoa(item.Documents), document,
			formatTime(item.UpdatedAt),
			formatOptionalTime(item.NextAttempt), reasonLine(item.Error)}
	}
	header := []string{"ITEM", "STATUS", "DOCUMENTS", "FIRST DOCUMENT", "CHANGED", "NEXT ATTEMPT", "ERROR"}
	if err := table(c.stdout, header, cells); err != nil {
		return fmt.Errorf("print items: %w", err)
	}
	c.noteMore(more)
	return nil
}

func (c *command) sourcesCheckCommand() *cobra.Command {
	var t target
	var f connectorFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check SOURCE | PROGRAM [ARG...]",
		Short: "Try whether a source can be read, or hold a vendor's connector to its rules",
		Long: `Try the settings and secrets of a source, and show its first items. Nothing is written.
mneme sources add --dry-run tries those of a source that is not there yet.
` + sourcesKitHelp + "\n" + connectHelp,
		Example: `  mneme sources check handbook --data ./data
  mneme sources check ./acme
  mneme sources check ./acme --set url=https://sandbox.acme.example --secret token=env:ACME_TOKEN
  mneme sources check .venv/bin/python connector.py --mtls off --format junit --out report.xml`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			program, err := isProgram(args[0])
			switch {
			case err != nil:
				return err
			case program:
				return c.checkConnector(cmd.Context(), f, args, asJSON)
			case len(args) > 1:
				return usage("sources check takes one source; a program is a path such as ./%s", args[0])
			}
			for _, name := range f.names() {
				if cmd.Flags().Changed(name) {
					return usage("--%s goes with a program, by a path such as ./%s", name, args[0])
				}
			}
			return c.withSources(cmd.Context(), "check", t, func(cl sourcesClient) error {
				s, err := cl.find(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				in := source.CheckSource{Kind: s.Kind, Config: s.Config, SourceID: s.ID}
				return c.trySource(cmd.Context(), cl, in, asJSON)
			})
		},
	}
	t.flags(cmd)
	f.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// sourcesSwitchCommand pauses a source or ends that.
func (c *command) sourcesSwitchCommand(name string, enabled bool) *cobra.Command {
	var t target
	short, long := "Run a source no more until it is resumed",
		"Pause a source. A run that is under way is cancelled; what it has "+
			"written by\nthen stays."
	if enabled {
		short, long = "Run a paused source again",
			"End a pause. The next run is that of the schedule; mneme sources sync starts one at once."
	}
	cmd := &cobra.Command{
		Use:     name + " SOURCE",
		Short:   short,
		Long:    long + "\n" + connectHelp,
		Example: "  mneme sources " + name + " handbook --data ./data",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withSources(cmd.Context(), name, t, func(cl sourcesClient) error {
				s, err := cl.find(cmd.Context(), args[0])
				if err == nil {
					err = cl.Do(cmd.Context(), http.MethodPatch, sourcePath(s.ID), source.UpdateSource{Enabled: &enabled}, &s)
				}
				if err == nil {
					fmt.Fprintf(c.stderr, "%s is %s\n", oneLine(s.Name, 200), s.State)
				}
				return err
			})
		},
	}
	t.flags(cmd)
	return cmd
}

func (c *command) sourcesRemoveCommand() *cobra.Command {
	var t target
	var documents, wait bool
	cmd := &cobra.Command{
		Use:   "rm SOURCE",
		Short: "Disconnect a source, with or without its documents",
		Long: `Disconnect a source. Its documents stay, as if they had been written directly, unless
--documents deletes them for good. Without --yes the command asks first. The server
does the work; with --wait the command waits for it, and where no server runs it does
it itself.
` + connectHelp,
		Example: "  mneme sources rm handbook --data ./data\n  mneme sources rm handbook --documents --wait --yes",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return c.withSources(ctx, "rm", t, func(cl sourcesClient) error {
				s, err := cl.find(ctx, args[0])
				if err != nil {
					return err
				}
				what, path := "keep", sourcePath(s.ID)+"?documents=keep"
				if documents {
					what, path = "delete", sourcePath(s.ID)+"?documents=delete"
				}
				if err := c.confirm("disconnect %s for good and %s its %s?", oneLine(s.Name, 200), what,
					plural(int(s.Documents), "document")); err != nil {
					return err
				}
				if err := cl.Do(ctx, http.MethodDelete, path, nil, &s); err != nil {
					return err
				}
				if !wait && cl.served {
					fmt.Fprintf(c.stderr, "%s is going\n", oneLine(s.Name, 200))
					return nil
				}
				return c.awaitRemoval(ctx, cl, s)
			})
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&documents, "documents", false, "delete its documents, too")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until it is gone")
	return cmd
}

// awaitRemoval waits until a source is gone.
func (c *command) awaitRemoval(ctx context.Context, cl sourcesClient, s source.Source) error {
	bar := newProgress(c.stderr)
	defer bar.end()
	name, total, pause := oneLine(s.Name, 200), s.Documents, firstLook
	for {
		bar.update("removing "+name, int(total-s.Documents), int(total))
		err := cl.look(ctx, &pause, sourcePath(s.ID), &s)
		if client.CodeOf(err) == "source_not_found" {
			break
		}
		if err != nil {
			return err
		}
	}
	bar.end()
	fmt.Fprintf(c.stderr, "%s is gone\n", name)
	return nil
}
