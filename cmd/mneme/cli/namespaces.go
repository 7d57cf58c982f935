package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/port"
)

func (c *command) namespacesCommand() *cobra.Command {
	return parent("namespaces", "Create, list, show and delete namespaces",
		c.namespacesCreateCommand(), c.namespacesListCommand(),
		c.namespacesShowCommand(), c.namespacesDeleteCommand())
}

// namespacePathOf is the path of a namespace.
func namespacePathOf(name string) (string, error) {
	if !ident.ValidNamespace(name) {
		return "", usage("%q is no namespace: it %s", name, ident.NamespaceRule)
	}
	return "/namespaces/" + url.PathEscape(name), nil
}

// listPages reads a list page by page; most bounds how many rows, 0 means all. more reports
// whether there are others. next takes the rows of a page and gives its cursor.
func listPages(ctx context.Context, most int, query url.Values,
	next func(ctx context.Context, query string) (rows int, cursor *string, err error)) (more bool, err error) {
	for read := 0; ; {
		size := 1000
		if most > 0 {
			size = min(size, most-read)
		}
		query.Set("limit", strconv.Itoa(size))
		n, cursor, err := next(ctx, query.Encode())
		if err != nil {
			return false, err
		}
		if read += n; cursor == nil || read == most {
			return cursor != nil, nil
		}
		query.Set("cursor", *cursor)
	}
}

// listFlags are those of a command that lists.
type listFlags struct {
	prefix string
	most   int
	asJSON bool
}

func (l *listFlags) flags(cmd *cobra.Command, what, begins string) {
	cmd.Flags().StringVar(&l.prefix, "prefix", "", "only "+begins+" that begin with this")
	cmd.Flags().IntVar(&l.most, "limit", 1000, what+" to list at most, 0 for all")
	cmd.Flags().BoolVar(&l.asJSON, "json", false, "print JSON")
}

func (l *listFlags) check() error {
	if l.most < 0 {
		return usage("--limit must not be negative")
	}
	return nil
}

// noteMore says that a list was cut.
func (c *command) noteMore(more bool) {
	if more {
		fmt.Fprintln(c.stderr, "there are more; --limit 0 lists all")
	}
}

func (c *command) namespacesListCommand() *cobra.Command {
	var t target
	var l listFlags
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List namespaces with what they hold",
		Long:    "List the namespaces that the key reaches, by name.\n" + connectHelp,
		Example: "  mneme namespaces list --data ./data\n  mneme namespaces list --prefix team- --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.check(); err != nil {
				return err
			}
			cl, done, err := c.connect(cmd.Context(), "namespaces list", t)
			if err != nil {
				return err
			}
			rows := []namespace.Namespace{}
			more, err := listPages(cmd.Context(), l.most, url.Values{"prefix": {l.prefix}},
				func(ctx context.Context, query string) (int, *string, error) {
					var page namespace.Page
					err := cl.Do(ctx, http.MethodGet, "/namespaces?"+query, nil, &page)
					rows = append(rows, page.Namespaces...)
					return len(page.Namespaces), page.NextCursor, err
				})
			if err == nil {
				err = c.printNamespaces(rows, more, l.asJSON)
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	l.flags(cmd, "namespaces", "names")
	return cmd
}

func (c *command) printNamespaces(rows []namespace.Namespace, more, asJSON bool) error {
	if asJSON {
		return printJSON(c.stdout, map[string]any{"namespaces": rows, "more": more})
	}
	cells := make([][]string, len(rows))
	for i, n := range rows {
		cells[i] = []string{n.Name, strconv.FormatInt(n.Documents, 10), strconv.FormatInt(n.Chunks, 10),
			strconv.FormatInt(n.Bytes, 10), n.EmbeddingModel, formatTime(n.CreatedAt), formatTime(n.UpdatedAt)}
	}
	header := []string{"NAME", "DOCUMENTS", "CHUNKS", "BYTES", "MODEL", "CREATED", "CHANGED"}
	if err := table(c.stdout, header, cells); err != nil {
		return fmt.Errorf("print namespaces: %w", err)
	}
	c.noteMore(more)
	return nil
}

func (c *command) namespacesShowCommand() *cobra.Command {
	var t target
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show NAME",
		Short:   "Show what a namespace holds, and which models made its vectors",
		Long:    "Show a namespace.\n" + connectHelp,
		Example: "  mneme namespaces show handbook --data ./data",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, done, err := c.findNamespace(cmd.Context(), "namespaces show", t, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(c.stdout, n.Namespace)
			} else {
				err = c.printNamespace(n.Namespace)
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// foundNamespace is a namespace, where it is, and who to ask about it.
type foundNamespace struct {
	namespace.Namespace
	path   string
	client *client.Client
}

// findNamespace connects and reads a namespace; done releases the connection.
func (c *command) findNamespace(ctx context.Context, command string, t target, name string) (
	n foundNamespace, done func() error, err error) {
	if n.path, err = namespacePathOf(name); err != nil {
		return n, nil, err
	}
	if n.client, done, err = c.connect(ctx, command, t); err != nil {
		return n, nil, err
	}
	if err := n.client.Do(ctx, http.MethodGet, n.path, nil, &n.Namespace); err != nil {
		return n, nil, joinErrors(err, done())
	}
	return n, done, nil
}

func (c *command) printNamespace(n namespace.Namespace) error {
	sparse := "none"
	if n.SparseModel != nil {
		sparse = *n.SparseModel
	}
	embedding := n.EmbeddingModel
	if n.ModelChosen {
		embedding += " (chosen for it)"
	}
	t := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for _, line := range [][2]string{
		{"name", n.Name},
		{"language", n.Language},
		{"documents", strconv.FormatInt(n.Documents, 10)},
		{"chunks", strconv.FormatInt(n.Chunks, 10)},
		{"bytes of text", strconv.FormatInt(n.Bytes, 10)},
		{"embedding model", embedding},
		{"sparse model", sparse},
		{"created", formatTime(n.CreatedAt)},
		{"changed", formatTime(n.UpdatedAt)},
	} {
		fmt.Fprintln(t, line[0]+"\t"+line[1])
	}
	return t.Flush()
}

// languageCodes are those of port.Languages, for the help of flags.
var languageCodes = port.AnyLanguage + ", " + strings.Join(port.Languages(), ", ")

func (c *command) namespacesCreateCommand() *cobra.Command {
	var t target
	var in namespace.CreateNamespace
	var language string
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create an empty namespace with a sparse index, of one language, or with an embedding model of its own",
		Long: `Create an empty namespace. The first write creates one by itself; this is for one with a
learned-sparse index, whose texts are all of one language, or whose vectors are of another
model than the server's default: mneme models list names them.
` + connectHelp,
		Example: "  mneme namespaces create handbuch --language de --data ./data\n  mneme namespaces create papers --sparse\n" +
			"  mneme namespaces create code --embedding-model code-embedder",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := namespacePathOf(args[0]); err != nil {
				return err
			}
			in.Name = args[0]
			setIfGiven(cmd.Flags().Changed("language"), &in.Language, language)
			ctx := cmd.Context()
			cl, done, err := c.connect(ctx, "namespaces create", t)
			if err != nil {
				return err
			}
			var made namespace.Created
			if err = cl.Do(ctx, http.MethodPost, "/namespaces", in, &made); err == nil {
				fmt.Fprintf(c.stderr, "%s is there; keyword search takes its texts for: %s; its vectors are of: %s\n", made.Name,
					made.Language, cmp.Or(made.EmbeddingModel, "no model"))
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&in.Sparse, "sparse", false, "with a learned-sparse index")
	cmd.Flags().StringVar(&language, "language", port.AnyLanguage, "of its texts, for keyword search: "+languageCodes)
	cmd.Flags().StringVar(&in.EmbeddingModel, "embedding-model", "", "that makes its vectors (default: the server's default)")
	return cmd
}

func (c *command) namespacesDeleteCommand() *cobra.Command {
	var t target
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a namespace with all of its documents",
		Long: `Delete a namespace with all of its documents. It cannot be undone; mneme export
--namespace NAME takes a copy. Without --yes the command asks first.
` + connectHelp,
		Example: "  mneme namespaces delete drafts --data ./data\n  mneme namespaces delete drafts --yes",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			n, done, err := c.findNamespace(ctx, "namespaces delete", t, args[0])
			if err != nil {
				return err
			}
			err = c.confirm("delete the namespace %s with %s for good?", n.Name, plural(int(n.Documents), "document"))
			if err == nil {
				err = n.client.Do(ctx, http.MethodDelete, n.path, nil, nil)
			}
			if err == nil {
				fmt.Fprintf(c.stderr, "deleted %s with %s\n", n.Name, plural(int(n.Documents), "document"))
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	return cmd
}
