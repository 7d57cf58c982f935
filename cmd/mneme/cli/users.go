package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/ident"
)

// userScope is the organization and integration whose end users a command works on.
type userScope struct{ org, integration string }

func (p *userScope) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.org, "org", ident.DefaultOrg, "organization, by name or id")
	cmd.Flags().StringVar(&p.integration, "integration", "", "integration, by name or id; needed where several know the end user")
}

func (c *command) usersCommand() *cobra.Command {
	return parent("users", "List, export and erase end users", c.usersListCommand(), c.usersExportCommand(),
		c.usersEraseCommand())
}

func (c *command) usersListCommand() *cobra.Command {
	t := target{admin: true}
	var p userScope
	var prefix string
	var most int
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List end users with what is kept of them",
		Long:    "List the end users of an organization with their memories, by id.\n" + connectHelp,
		Example: "  mneme users list --data ./data\n  mneme users list --integration chat --query ann --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if most < 0 {
				return usage("--limit must not be negative")
			}
			cl, done, err := c.connect(cmd.Context(), "users list", t)
			if err != nil {
				return err
			}
			rows, more, err := listUsers(cmd.Context(), cl, p, prefix, most)
			if err == nil {
				err = c.printUsers(rows, more, asJSON)
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	p.flags(cmd)
	cmd.Flags().StringVar(&prefix, "query", "", "only ids that begin with this")
	cmd.Flags().IntVar(&most, "limit", 1000, "end users to list at most, 0 for all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// listUsers reads end users whose ids begin with prefix; most bounds how many, 0 means
// all. more reports whether there are others.
func listUsers(ctx context.Context, cl *client.Client, p userScope, prefix string,
	most int) (rows []admin.EndUser, more bool, err error) {
	rows = []admin.EndUser{}
	query := url.Values{"query": {prefix}, "integration": {p.integration}}
	for {
		size := 1000
		if most > 0 {
			size = min(size, most-len(rows))
		}
		query.Set("limit", strconv.Itoa(size))
		var page admin.EndUsers
		err := cl.Do(ctx, "GET", "/admin/v1/organizations/"+url.PathEscape(p.org)+"/end_users?"+query.Encode(), nil, &page)
		if err != nil {
			return nil, false, err
		}
		rows = append(rows, page.EndUsers...)
		if page.NextCursor == nil || len(rows) == most {
			return rows, page.NextCursor != nil, nil
		}
		query.Set("cursor", *page.NextCursor)
	}
}

func (c *command) printUsers(rows []admin.EndUser, more, asJSON bool) error {
	if asJSON {
		return printJSON(c.stdout, map[string]any{"end_users": rows, "more": more})
	}
	cells := make([][]string, len(rows))
	for i, u := range rows {
		state := ""
		if u.Erasing != nil {
			state = "being erased"
		}
		cells[i] = []string{u.ID, u.IntegrationName, strconv.FormatInt(u.Memories, 10),
			strconv.FormatInt(u.Containers, 10), strconv.FormatInt(u.Bytes, 10),
			formatTime(u.FirstSeen), formatTime(u.LastSeen), state}
	}
	if err := table(c.stdout, []string{"ID", "INTEGRATION", "MEMORIES", "CONTAINERS", "BYTES", "FIRST SEEN",
		"LAST SEEN", "STATE"}, cells); err != nil {
		return fmt.Errorf("print end users: %w", err)
	}
	if more {
		fmt.Fprintln(c.stderr, "there are more; --limit 0 lists all")
	}
	return nil
}

// endUser finds an end user's row, and which integration is meant when none was
// named. known is false when there is no such end user.
func endUser(ctx context.Context, cl *client.Client, p userScope, id string) (row admin.EndUser, known bool, err error) {
	if !ident.ValidEndUser(id) && id != "." && id != ".." { // these two were taken once
		return row, false, usage("%q is no end user's id: it %s", id, ident.EndUserRule)
	}
	var found []admin.EndUser
	query := url.Values{"query": {id}, "integration": {p.integration}, "limit": {"100"}}
	for cursor := ""; ; {
		query.Set("cursor", cursor)
		var page admin.EndUsers
		if err := cl.Do(ctx, "GET", "/admin/v1/organizations/"+url.PathEscape(p.org)+"/end_users?"+query.Encode(), nil,
			&page); err != nil {
			return row, false, err
		}
		same := 0
		for _, u := range page.EndUsers {
			if u.ID == id {
				same++
				found = append(found, u)
			}
		}
		if same < len(page.EndUsers) || page.NextCursor == nil { // longer ids come after
			break
		}
		cursor = *page.NextCursor
	}
	switch len(found) {
	case 0:
		return row, false, nil
	case 1:
		return found[0], true, nil
	}
	names := make([]string, len(found))
	for i, u := range found {
		names[i] = u.IntegrationName
	}
	return row, false, usage("several integrations know the end user %s: name one with --integration: %s", id,
		strings.Join(names, ", "))
}

func (p userScope) path(id, integration, action string) string {
	return "/admin/v1/end_users/" + pathSegment(id) + "/" + action + "?" +
		url.Values{"organization": {p.org}, "integration": {integration}}.Encode()
}

// pathSegment is an id as a segment of a path.
func pathSegment(id string) string {
	if id == "." || id == ".." { // ids, but in a path they would mean something else
		return strings.ReplaceAll(id, ".", "%2E")
	}
	return url.PathEscape(id)
}

func noSuchUser(p userScope, id string) error {
	where := "the organization " + p.org
	if p.integration != "" {
		where = "the integration " + p.integration
	}
	return fmt.Errorf("%s has no end user %s", where, id)
}

func (c *command) usersExportCommand() *cobra.Command {
	t := target{admin: true}
	var p userScope
	var file string
	cmd := &cobra.Command{
		Use:   "export ID",
		Short: "Write an end user's memories, records and receipts as NDJSON",
		Long: `Write everything that is kept of an end user, one JSON object a line: end_user
with the grants first, then memory, record and receipt, and end last, with the counts. An
export without its end is an error, and its file is removed.
` + connectHelp,
		Example: "  mneme users export ann --data ./data > ann.ndjson\n  mneme users export ann --integration chat " +
			"--out ann.ndjson",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			cl, done, err := c.connect(ctx, "users export", t)
			if err != nil {
				return err
			}
			row, known, err := endUser(ctx, cl, p, args[0])
			if err == nil && !known {
				err = noSuchUser(p, args[0])
			}
			if err == nil {
				err = c.export(ctx, cl, p.path(row.ID, row.Integration, "export"), file)
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	p.flags(cmd)
	cmd.Flags().StringVarP(&file, "out", "o", "", "file to write, which must not exist (default: standard output)")
	return cmd
}

func (c *command) export(ctx context.Context, cl *client.Client, path, file string) (err error) {
	body, err := cl.Stream(ctx, path)
	if err != nil {
		return err
	}
	defer body.Close()
	if file == "" {
		return copyExport(c.stdout, body)
	}
	out, err := disk.OpenPrivate(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	err = copyExport(out, body)
	if err = errors.Join(err, out.Close()); err != nil {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// copyExport copies lines and checks that the last one is the end.
func copyExport(w io.Writer, r io.Reader) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	var last []byte
	for {
		line, err := lines.ReadBytes('\n')
		if _, werr := w.Write(line); werr != nil {
			return fmt.Errorf("write export: %w", werr)
		}
		if len(line) > 0 {
			last = line
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("read export: %w", err)
		}
	}
	var end struct{ Type string }
	if json.Unmarshal(last, &end) != nil || end.Type != "end" {
		return errors.New("read export: it was cut short")
	}
	return nil
}

func (c *command) usersEraseCommand() *cobra.Command {
	t := target{admin: true}
	var p userScope
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "erase ID",
		Short: "Erase an end user for good",
		Long: `Erase everything that is kept of an end user: memories, vectors, records,
receipts, grants and the place in the list. It cannot be undone, and it is safe to
repeat. Without --yes the command asks first.
` + connectHelp,
		Example: "  mneme users erase ann --data ./data\n  mneme users erase ann --integration chat --yes --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			cl, done, err := c.connect(ctx, "users erase", t)
			if err != nil {
				return err
			}
			row, known, err := endUser(ctx, cl, p, args[0])
			switch {
			case err != nil:
			case !known && p.integration == "":
				err = noSuchUser(p, args[0])
			case !known:
				// The server answers that nothing is stored, and makes sure of it.
				row = admin.EndUser{ID: args[0], Integration: p.integration}
			default:
				err = c.confirm("erase %s of integration %s, with %s, for good?", row.ID, row.IntegrationName,
					memories(row.Memories))
			}
			if err == nil {
				err = c.erase(ctx, cl, p.path(row.ID, row.Integration, "erase"), asJSON)
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	p.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the certificate as JSON")
	return cmd
}

func (c *command) erase(ctx context.Context, cl *client.Client, path string, asJSON bool) error {
	var done admin.Certificate
	// Another erasure, or one that a shutdown interrupted, may be under way.
	err := client.RetryBusy(ctx, 30, func() error { return cl.Do(ctx, "POST", path, nil, &done) })
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(c.stdout, done)
	}
	verified := "not verified: an end user of this id was created after the erasure"
	if done.VerifiedAbsent {
		verified = "nothing is left"
	}
	d := done.Deleted
	if done.Grants.Unanswered > 0 {
		fmt.Fprintf(c.stderr, "of %d grants that were revoked, %d were not taken back by their upstream and may be good "+
			"there still\n", done.Grants.Revoked, done.Grants.Unanswered)
	}
	_, err = fmt.Fprintf(c.stdout, "erased %s of integration %s at %s: %s, %d vectors, %d records, %d receipts, %d replays, "+
		"%d grants; %s\n",
		done.EndUser, done.IntegrationName,
		done.ErasedAt.Local().Format("2006-01-02 15:04:05"), memories(d.Memories), d.Vectors, d.Records, d.Receipts,
		d.Replays, done.Grants.Revoked, verified)
	return err
}

func memories(n int64) string {
	if n == 1 {
		return "1 memory"
	}
	return strconv.FormatInt(n, 10) + " memories"
}
