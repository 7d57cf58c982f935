package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/ident"
)

func (c *command) documentsCommand() *cobra.Command {
	return parent("documents", "List, read and delete documents", c.documentsListCommand(), c.documentsGetCommand(),
		c.documentsDeleteCommand())
}

func (c *command) documentsListCommand() *cobra.Command {
	var t target
	var l listFlags
	var newest bool
	cmd := &cobra.Command{
		Use:     "list NAMESPACE",
		Short:   "List the documents of a namespace",
		Long:    "List the documents of a namespace, by id.\n" + connectHelp,
		Example: "  mneme documents list handbook --data ./data\n  mneme documents list handbook --prefix policies: --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.check(); err != nil {
				return err
			}
			path, err := namespacePathOf(args[0])
			if err != nil {
				return err
			}
			cl, done, err := c.connect(cmd.Context(), "documents list", t)
			if err != nil {
				return err
			}
			query := url.Values{"prefix": {l.prefix}}
			if newest {
				query.Set("order", "updated_at")
			}
			rows := []document.Head{}
			more, err := listPages(cmd.Context(), l.most, query,
				func(ctx context.Context, query string) (int, *string, error) {
					var page document.Page
					err := cl.Do(ctx, http.MethodGet, path+"/documents?"+query, nil, &page)
					rows = append(rows, page.Documents...)
					return len(page.Documents), page.NextCursor, err
				})
			if err == nil {
				err = c.printDocuments(rows, more, l.asJSON)
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	l.flags(cmd, "documents", "ids")
	cmd.Flags().BoolVar(&newest, "newest", false, "those changed last first")
	return cmd
}

func (c *command) printDocuments(rows []document.Head, more, asJSON bool) error {
	if asJSON {
		return printJSON(c.stdout, map[string]any{"documents": rows, "more": more})
	}
	cells := make([][]string, len(rows))
	for i, d := range rows {
		cells[i] = []string{d.ID, strconv.Itoa(d.Chunks), formatTime(d.CreatedAt), formatTime(d.UpdatedAt)}
	}
	if err := table(c.stdout, []string{"ID", "CHUNKS", "CREATED", "CHANGED"}, cells); err != nil {
		return fmt.Errorf("print documents: %w", err)
	}
	c.noteMore(more)
	return nil
}

func (c *command) documentsGetCommand() *cobra.Command {
	var t target
	var chunks, asJSON bool
	cmd := &cobra.Command{
		Use:   "get NAMESPACE ID",
		Short: "Print a document's text",
		Long: `Print a document's text on standard output, or with --json the document with its
metadata, and with --chunks with what it was cut into.
` + connectHelp,
		Example: "  mneme documents get handbook lease.md --data ./data\n  mneme documents get handbook lease.md --chunks --json",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := namespacePathOf(args[0])
			if err != nil {
				return err
			}
			if chunks && !asJSON {
				return usage("--chunks goes with --json")
			}
			cl, done, err := c.connect(cmd.Context(), "documents get", t)
			if err != nil {
				return err
			}
			path += "/documents/" + pathSegment(args[1])
			if chunks {
				path += "?include=chunks"
			}
			var d document.Document
			err = cl.Do(cmd.Context(), http.MethodGet, path, nil, &d)
			switch {
			case err != nil:
			case asJSON:
				err = printJSON(c.stdout, d)
			default:
				_, err = fmt.Fprint(c.stdout, strings.TrimSuffix(d.Text, "\n")+"\n")
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&chunks, "chunks", false, "with the chunks, in JSON")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// deleteBatch is how many documents one call deletes.
const deleteBatch = 1000

func (c *command) documentsDeleteCommand() *cobra.Command {
	var t target
	var filter string
	cmd := &cobra.Command{
		Use:   "delete NAMESPACE [ID...]",
		Short: "Delete documents by id, or all that a filter matches",
		Long: `Delete documents for good: those of the ids given, one a line from standard input
where the only id is -, or with --filter all whose metadata it matches. Ids that are
not there are passed over. Without --yes the command asks first.
` + connectHelp,
		Example: `  mneme documents delete handbook lease.md wifi.md --data ./data
  mneme documents delete handbook --filter '{"lang": "de"}'
  mneme documents list handbook --prefix old: --json | jq -r '.documents[].id' | mneme documents delete handbook - --yes`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := namespacePathOf(args[0])
			if err != nil {
				return err
			}
			ids := args[1:]
			if slices.Equal(ids, []string{"-"}) {
				if ids, err = c.readIDs(); err != nil {
					return err
				}
			}
			switch {
			case (filter == "") == (len(args) == 1):
				return usage("give either ids or --filter")
			case filter != "" && !json.Valid([]byte(filter)):
				return usage("--filter is not valid JSON: %s", filter)
			}
			for _, id := range ids {
				if !ident.ValidDocumentID(id) {
					return usage("%q is no document's id: it %s", id, ident.DocumentIDRule)
				}
			}
			ctx := cmd.Context()
			cl, done, err := c.connect(ctx, "documents delete", t)
			if err != nil {
				return err
			}
			call := func(in any) (out document.DeletedSome, err error) {
				err = cl.Do(ctx, http.MethodPost, path+"/documents/delete", in, &out)
				return out, err
			}
			what := plural(len(ids), "document")
			if filter != "" {
				what = "all documents that match " + filter
			}
			if err = c.confirm("delete %s of the namespace %s for good?", what, args[0]); err == nil {
				err = c.deleteDocuments(ids, filter, call)
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	cmd.Flags().StringVar(&filter, "filter", "", `metadata filter as JSON, e.g. '{"lang": "en"}'`)
	return cmd
}

// readIDs reads ids from standard input, one a line.
func (c *command) readIDs() (ids []string, err error) {
	if !c.yes {
		return nil, usage("ids from standard input need --yes: there is nobody to ask")
	}
	lines := bufio.NewScanner(c.stdin)
	for lines.Scan() {
		if id := strings.TrimSuffix(lines.Text(), "\r"); id != "" {
			ids = append(ids, id)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read ids: %w", err)
	}
	return ids, nil
}

// deleteDocuments deletes by ids, or by a filter if there is one, in as many calls as it takes.
func (c *command) deleteDocuments(ids []string, filter string, call func(any) (document.DeletedSome, error)) (err error) {
	bar := newProgress(c.stderr)
	defer bar.end()
	deleted, total := 0, len(ids)
	defer func() {
		bar.end()
		if err != nil && deleted > 0 {
			err = errors.Join(err, fmt.Errorf("%s are deleted; the same command goes on", plural(deleted, "document")))
		}
	}()
	for more := filter != "" || total > 0; more; {
		var out document.DeletedSome
		if filter != "" {
			out, err = call(map[string]any{"filter": json.RawMessage(filter)})
			more = out.More
		} else {
			n := min(len(ids), deleteBatch)
			out, err = call(map[string]any{"ids": ids[:n]})
			ids = ids[n:]
			more = len(ids) > 0
		}
		if err != nil {
			return err
		}
		if deleted += out.Deleted; more {
			bar.update("deleting documents", deleted, max(total, deleted))
		}
	}
	fmt.Fprintf(c.stderr, "deleted %s\n", plural(deleted, "document"))
	return nil
}
