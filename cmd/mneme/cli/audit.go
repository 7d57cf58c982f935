package cli

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnemehq/mneme/core/audit"
)

func (c *command) auditCommand() *cobra.Command {
	return parent("audit", "List, export and verify the log of who did what", c.auditListCommand(), c.auditExportCommand(),
		c.auditVerifyCommand())
}

// auditFilter are the flags that choose records.
type auditFilter struct {
	org, actor, key, action, target, user, request, since, until string
	refused                                                      bool
}

func (a *auditFilter) flags(f *pflag.FlagSet) {
	f.StringVar(&a.org, "org", "", "only this organization's, by name or id (default: all that the key administers)")
	f.StringVar(&a.actor, "actor", "", "only what a key, an anonymous caller, the cli or the system did")
	f.StringVar(&a.key, "key-id", "", "only what was done with this key")
	f.StringVar(&a.action, "action", "", "only this, such as admin.keys.revoke")
	f.StringVar(&a.target, "target", "", "only what was done to this")
	f.StringVar(&a.user, "user", "", "only what was done to this end user of --org (default: of the key's own organization)")
	f.StringVar(&a.request, "request", "", "only what the call of this request id did")
	f.StringVar(&a.since, "since", "", "only what was done at this time or later, such as 2026-11-21T00:00:00Z")
	f.StringVar(&a.until, "until", "", "only what was done before this time")
	f.BoolVar(&a.refused, "refused", false, "only calls that were refused")
}

func (a *auditFilter) query() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"organization": a.org, "actor": a.actor, "key_id": a.key, "action": a.action,
		"target": a.target, "end_user_id": a.user, "request_id": a.request, "since": a.since, "until": a.until} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if a.refused {
		q.Set("refused", "true")
	}
	return q
}

func (c *command) auditListCommand() *cobra.Command {
	t := target{admin: true}
	var filter auditFilter
	var most int
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List what was done",
		Long:    "List what was done, the newest first: by whom, what, to what, and what it led to.\n" + connectHelp,
		Example: "  mneme audit list --data ./data\n  mneme audit list --refused --since 2026-11-21T00:00:00Z --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if most < 0 {
				return usage("--limit must not be negative")
			}
			cl, done, err := c.connect(cmd.Context(), "audit list", t)
			if err != nil {
				return err
			}
			rows, more, query := []audit.Record{}, true, filter.query()
			for more && err == nil && (most == 0 || len(rows) < most) {
				size := 1000
				if most > 0 {
					size = min(size, most-len(rows))
				}
				query.Set("limit", strconv.Itoa(size))
				var page audit.Records
				if err = cl.Do(cmd.Context(), "GET", "/admin/v1/audit?"+query.Encode(), nil, &page); err != nil {
					break
				}
				rows = append(rows, page.Records...)
				if more = page.NextCursor != nil; more {
					query.Set("cursor", *page.NextCursor)
				}
			}
			if err == nil {
				err = c.printAudit(rows, more, asJSON)
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	filter.flags(cmd.Flags())
	cmd.Flags().IntVar(&most, "limit", 100, "records to list at most, 0 for all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) printAudit(rows []audit.Record, more, asJSON bool) error {
	if asJSON {
		return printJSON(c.stdout, map[string]any{"records": rows, "more": more})
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	cells := make([][]string, len(rows))
	for i, r := range rows {
		who := r.Actor
		if r.KeyID != nil {
			who = *r.KeyID
		}
		cells[i] = []string{strconv.FormatUint(r.Seq, 10), r.At, text(r.Organization), who, r.Action, text(r.Target),
			strconv.Itoa(r.Status), strings.Join(r.Fields, " "), text(r.RequestID)}
	}
	if err := table(c.stdout, []string{"SEQ", "AT", "ORGANIZATION", "WHO", "ACTION", "TARGET", "STATUS", "FIELDS", "REQUEST"},
		cells); err != nil {
		return fmt.Errorf("print records: %w", err)
	}
	if more {
		fmt.Fprintln(c.stderr, "there are more; --limit 0 lists all")
	}
	return nil
}

func (c *command) auditExportCommand() *cobra.Command {
	t := target{admin: true}
	var filter auditFilter
	var format string
	cmd := &cobra.Command{
		Use:     "export",
		Short:   "Write what was done to standard output, oldest first",
		Long:    "Write what was done to standard output, oldest first, as NDJSON or CSV.\n" + connectHelp,
		Example: "  mneme audit export --data ./data > audit.ndjson\n  mneme audit export --format csv --org acme > acme.csv",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "ndjson" && format != "csv" {
				return usage("--format must be ndjson or csv")
			}
			cl, done, err := c.connect(cmd.Context(), "audit export", t)
			if err != nil {
				return err
			}
			body, err := cl.Stream(cmd.Context(), "/admin/v1/audit."+format+"?"+filter.query().Encode())
			if err == nil {
				_, err = io.Copy(c.stdout, body)
				err = joinErrors(err, body.Close())
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	filter.flags(cmd.Flags())
	cmd.Flags().StringVar(&format, "format", "ndjson", "ndjson or csv")
	return cmd
}

func (c *command) auditVerifyCommand() *cobra.Command {
	t := target{admin: true}
	var known string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Verify that no record was removed, changed or put in",
		Long: "Verify that no record was removed, changed or put in, and print the number and hash of the last\n" +
			"one. Keep them where the server's administrators cannot write, and give them to the next\n" +
			"verification with --known: then a log that was made again shows, too.\n" + connectHelp,
		Example: "  mneme audit verify --data ./data\n  mneme audit verify --known 4711:9f86d081884c7d65...",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, done, err := c.connect(cmd.Context(), "audit verify", t)
			if err != nil {
				return err
			}
			path := "/admin/v1/audit/verification"
			if known != "" {
				path += "?" + url.Values{"known": {known}}.Encode()
			}
			var v audit.Verification
			if err = cl.Do(cmd.Context(), "GET", path, nil, &v); err == nil {
				err = c.printVerification(v, asJSON)
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	cmd.Flags().StringVar(&known, "known", "", "SEQ:HASH that an earlier verification printed")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printVerification fails for a log that is not intact.
func (c *command) printVerification(v audit.Verification, asJSON bool) error {
	var err error
	if v.Problem != nil {
		err = fmt.Errorf("the audit log is not as it was written: record %d was %s", v.Problem.Seq, v.Problem.Kind)
	}
	if asJSON {
		return errors.Join(printJSON(c.stdout, v), err)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "%d records verified\nlast %d:%s\n", v.Records, v.Last, v.Hash)
	return err
}
