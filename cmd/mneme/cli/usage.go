package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnemehq/mneme/core/ident"
	usages "github.com/mnemehq/mneme/core/usage"
)

func (c *command) usageCommand() *cobra.Command {
	return parent("usage", "Show what was done on whose account, what is kept, and quotas", c.usageListCommand(),
		c.usageBytesCommand(), c.usageQuotasCommand())
}

// usageAccount are the flags that choose accounts.
type usageAccount struct{ org, namespace, integration string }

func (a *usageAccount) flags(f *pflag.FlagSet) {
	f.StringVar(&a.org, "org", "", "only this organization's, by name or id (default: all that the key administers)")
	f.StringVar(&a.namespace, "namespace", "", "only of this namespace")
	f.StringVar(&a.integration, "integration", "", "only of the integration of this id")
}

// query sets what is not empty.
func (a *usageAccount) query(more map[string]string) url.Values {
	q := url.Values{}
	more["organization"], more["namespace"], more["integration_id"] = a.org, a.namespace, a.integration
	for name, value := range more {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (c *command) usageListCommand() *cobra.Command {
	t := target{admin: true}
	var of usageAccount
	var key, from, to, by, format string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what was done, by namespace or integration and key",
		Long: "List what was done: requests, documents and chunks written, tokens embedded, texts reranked and\n" +
			"recalls, summed up over all of the time asked for, by the day or by the hour (UTC).\n" + connectHelp,
		Example: "  mneme usage list --org acme --from 2026-11-01T00:00:00Z --to 2026-12-01T00:00:00Z\n" +
			"  mneme usage list --by day --format csv > usage.csv",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "table" && format != "json" && format != "csv" {
				return usage("--format must be table, json or csv")
			}
			cl, done, err := c.connect(cmd.Context(), "usage list", t)
			if err != nil {
				return err
			}
			query := of.query(map[string]string{"key_id": key, "from": from, "to": to, "by": by})
			if format == "csv" {
				var body io.ReadCloser
				if body, err = cl.Stream(cmd.Context(), "/admin/v1/usage.csv?"+query.Encode()); err == nil {
					_, err = io.Copy(c.stdout, body)
					err = joinErrors(err, body.Close())
				}
				return joinErrors(err, done())
			}
			query.Set("limit", "1000")
			rows := []usages.Row{}
			for more := true; more && err == nil; {
				var page usages.Rows
				err = cl.Do(cmd.Context(), http.MethodGet, "/admin/v1/usage?"+query.Encode(), nil, &page)
				rows = append(rows, page.Usage...)
				if more = page.NextCursor != nil; more {
					query.Set("cursor", *page.NextCursor)
				}
			}
			if err == nil {
				err = c.printUsage(rows, format == "json")
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	of.flags(cmd.Flags())
	cmd.Flags().StringVar(&key, "key-id", "", "only what was done with this key")
	cmd.Flags().StringVar(&from, "from", "", "only what was done at this time or later, such as 2026-11-01T00:00:00Z")
	cmd.Flags().StringVar(&to, "to", "", "only what was done before this time")
	cmd.Flags().StringVar(&by, "by", "total", "what a row sums up: hour, day or total")
	cmd.Flags().StringVar(&format, "format", "table", "table, json or csv")
	return cmd
}

func (c *command) printUsage(rows []usages.Row, asJSON bool) error {
	if asJSON {
		return printJSON(c.stdout, map[string]any{"usage": rows})
	}
	cells := make([][]string, len(rows))
	for i, r := range rows {
		from := ""
		if r.From != nil {
			from = formatTime(*r.From)
		}
		cells[i] = []string{from, r.OrganizationID, orEmpty(r.Namespace) + orEmpty(r.IntegrationID), orEmpty(r.KeyID)}
		for _, n := range []int64{r.Requests, r.Documents, r.Chunks, r.TokensEmbedded, r.TokensSparse, r.PairsReranked,
			r.Recalls} {
			cells[i] = append(cells[i], strconv.FormatInt(n, 10))
		}
	}
	return table(c.stdout, []string{"FROM", "ORGANIZATION", "OF", "KEY", "REQUESTS", "DOCUMENTS", "CHUNKS", "EMBEDDED", "SPARSE",
		"RERANKED", "RECALLS"}, cells)
}

func (c *command) usageBytesCommand() *cobra.Command {
	t := target{admin: true}
	var of usageAccount
	var at string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "bytes",
		Short:   "List how much text is kept, by namespace and integration",
		Long:    "List how many bytes of text namespaces and integrations keep, or kept at the end of an hour.\n" + connectHelp,
		Example: "  mneme usage bytes --org acme\n  mneme usage bytes --at 2026-11-30T23:00:00Z --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, done, err := c.connect(cmd.Context(), "usage bytes", t)
			if err != nil {
				return err
			}
			query := of.query(map[string]string{"at": at})
			query.Set("limit", "1000")
			rows := []usages.Kept{}
			for more := true; more && err == nil; {
				var page usages.AllKept
				err = cl.Do(cmd.Context(), http.MethodGet, "/admin/v1/usage/bytes?"+query.Encode(), nil, &page)
				rows = append(rows, page.Kept...)
				if more = page.NextCursor != nil; more {
					query.Set("cursor", *page.NextCursor)
				}
			}
			switch {
			case err != nil:
			case asJSON:
				err = printJSON(c.stdout, map[string]any{"kept": rows})
			default:
				cells := make([][]string, len(rows))
				for i, r := range rows {
					cells[i] = []string{r.OrganizationID, orEmpty(r.Namespace) + orEmpty(r.IntegrationID),
						strconv.FormatInt(r.Bytes, 10), formatTime(r.Since)}
				}
				err = table(c.stdout, []string{"ORGANIZATION", "OF", "BYTES", "SINCE"}, cells)
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	of.flags(cmd.Flags())
	cmd.Flags().StringVar(&at, "at", "", "what was kept at the end of the hour of this time (default: now)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) usageQuotasCommand() *cobra.Command {
	t := target{admin: true}
	var org string
	var asJSON bool
	names := []string{"bytes", "documents", "namespaces", "end_users"}
	limits := make([]int64, len(names))
	cmd := &cobra.Command{
		Use:   "quotas",
		Short: "Show or set the quotas of an organization",
		Long: "Show the quotas of an organization and what is used of them. With flags they are set first; 0 is\n" +
			"unlimited. A write that would go over a quota is refused with 403 quota_exceeded.\n" + connectHelp,
		Example: "  mneme usage quotas --org acme\n  mneme usage quotas --org acme --bytes 1073741824 --namespaces 20",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			change := map[string]int64{}
			for i, name := range names {
				if cmd.Flags().Changed(flagOf(name)) {
					change[name] = limits[i]
				}
			}
			cl, done, err := c.connect(cmd.Context(), "usage quotas", t)
			if err != nil {
				return err
			}
			var q usages.Quotas
			path := organizationPath(org) + "/quotas"
			if len(change) > 0 {
				err = cl.Do(cmd.Context(), http.MethodPatch, path, change, &q)
			} else {
				err = cl.Do(cmd.Context(), http.MethodGet, path, nil, &q)
			}
			if err == nil {
				err = c.printQuotas(q, asJSON)
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	cmd.Flags().StringVar(&org, "org", ident.DefaultOrg, "the organization, by name or id")
	for i, name := range names {
		cmd.Flags().Int64Var(&limits[i], flagOf(name), 0, "set how many "+flagWords(name)+" at most, 0 for any number")
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func flagOf(quota string) string {
	if quota == "end_users" {
		return "end-users"
	}
	return quota
}

func flagWords(quota string) string {
	switch quota {
	case "bytes":
		return "bytes of text"
	case "end_users":
		return "end users"
	}
	return quota
}

func (c *command) printQuotas(q usages.Quotas, asJSON bool) error {
	if asJSON {
		return printJSON(c.stdout, q)
	}
	var cells [][]string
	for _, x := range []struct {
		name string
		of   usages.Quota
	}{{"bytes", q.Bytes}, {"documents", q.Documents}, {"namespaces", q.Namespaces}, {"end_users", q.EndUsers}} {
		limit, exceeded := "unlimited", ""
		if x.of.Limit != nil {
			limit = strconv.FormatInt(*x.of.Limit, 10)
		}
		if x.of.ExceededAt != nil {
			exceeded = formatTime(*x.of.ExceededAt)
		}
		cells = append(cells, []string{x.name, strconv.FormatInt(x.of.Used, 10), limit, exceeded})
	}
	if err := table(c.stdout, []string{"QUOTA", "USED", "LIMIT", "EXCEEDED"}, cells); err != nil {
		return fmt.Errorf("print quotas: %w", err)
	}
	return nil
}
