package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/reindex"
)

func (c *command) reindexCommand() *cobra.Command {
	t := target{admin: true}
	var p userScope
	var all, ofMemories, commit, indexes bool
	var in admin.Reindex
	var asked, language, embedder string
	cmd := &cobra.Command{
		Use:   "reindex NAMESPACE... | --memories END_USER... | --all",
		Short: "Rebuild the vectors of namespaces and memories with the configured models",
		Long: `Rebuild the chunks and vectors of namespaces, after the embedding or the sparse
model, or the way texts are chunked, was changed, or with another embedding model than
the server's default. Texts, metadata and times stay.

A second generation of the namespace, its shadow, is built with indexes of its own
beside the one that is served. What is written during the rebuild is brought over. Both are
asked the same queries and compared; then one step makes the shadow the one served.
Name the model before under roles.previous in the configuration, and queries and
writes go on throughout; without it they are refused until the swap. A run that is
stopped goes on where it was, and a running server goes on without the command.

What was served is kept where its model is loaded: --rollback goes back to it, with
what was written since, and --commit removes it. --hold builds and compares but does
not swap; the next run without it does, and --commit gives it up.

With --indexes no vectors are made: the indexes that the configuration names are
built from the store. Run it with the configuration to come, beside the servers that
run with the one before, and restart them with it when it has ended: they
catch up with what was written in between. Over SQLite the server has to be stopped.

Namespaces whose vectors are of the configured models are left alone, unless --language
or --embedding-model gives them another than they have. --embedding-model NAME gives
a namespace a model of its own, which it keeps when the server's default changes;
--embedding-model "" gives it the server's default again.
--memories rebuilds the vectors of end users and their memories, each in one
step, of which nothing is kept.
` + connectHelp,
		Example: "  mneme reindex handbook --data ./data\n  mneme reindex handbook --hold --queries questions.txt\n  " +
			"mneme reindex handbook --embedding-model bge-m3\n" +
			"  mneme reindex handbook --rollback\n  mneme reindex handbook --commit\n" +
			"  mneme reindex --indexes --config scaled-out.yaml\n  mneme reindex --all --org acme\n  mneme reindex " +
			"--memories ann --integration chat\n  mneme reindex --memories --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			if indexes {
				if all || ofMemories || commit || in.Force || in.Hold || in.Back || in.Language != nil || asked != "" ||
					cmd.Flags().Changed("embedding-model") ||
					len(args) > 0 || t.url != "" {
					return usage("--indexes builds the configured indexes of everything there is; it goes with no name " +
						"and no other flag")
				}
				return c.buildIndexes(cmd.Context())
			}
			switch {
			case all && len(args) > 0:
				return usage("give either names or --all")
			case !all && len(args) == 0:
				return usage("of what? Name namespaces, or end users with --memories, or give --all")
			}
			setIfGiven(cmd.Flags().Changed("language"), &in.Language, language)
			setIfGiven(cmd.Flags().Changed("embedding-model"), &in.EmbeddingModel, embedder)
			if err := checkReindexFlags(in, ofMemories, commit, asked != ""); err != nil {
				return err
			}
			if asked != "" {
				var err error
				if in.Queries, err = readLines(asked); err != nil {
					return err
				}
			}
			for _, name := range args {
				if !ofMemories && !ident.ValidNamespace(name) {
					return usage("%q is no namespace: it %s", name, ident.NamespaceRule)
				}
			}
			ctx := cmd.Context()
			cl, done, err := c.connect(ctx, "reindex", t)
			if err != nil {
				return err
			}
			var whose []reindexable
			if ofMemories {
				whose, err = reindexableUsers(ctx, cl, p, args, all)
			} else {
				whose, err = reindexableNamespaces(ctx, cl, p.org, args, all)
			}
			failed := 0
			for _, r := range whose {
				if err != nil {
					break
				}
				one := c.reindexOne(ctx, cl, r, in, commit)
				if ctx.Err() != nil || len(whose) == 1 {
					err = one
				} else if one != nil {
					failed++
					fmt.Fprintf(c.stderr, "%s: %s\n", r.name, describe(one))
				}
			}
			if err == nil && failed > 0 {
				err = errReported
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	p.flags(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "all namespaces, or with --memories all end users, of the organization")
	cmd.Flags().BoolVar(&ofMemories, "memories", false, "the memories of end users instead of namespaces")
	cmd.Flags().BoolVar(&in.Force, "force", false, "also those whose vectors are of the configured models")
	cmd.Flags().BoolVar(&in.Hold, "hold", false, "build and compare, and do not swap")
	cmd.Flags().BoolVar(&in.Back, "rollback", false, "go back to what was served before the last swap")
	cmd.Flags().BoolVar(&commit, "commit", false, "remove what is kept for --rollback, or what is held")
	cmd.Flags().BoolVar(&indexes, "indexes", false, "build the configured indexes from the store, and make no vectors")
	cmd.Flags().StringVar(&language, "language", "", "of the texts from then on, for keyword search: "+languageCodes+
		" (default: as it is)")
	cmd.Flags().StringVar(&embedder, "embedding-model", "",
		"that makes the vectors from then on; empty: the server's default (default: as it is)")
	cmd.Flags().StringVar(&asked, "queries", "", "file with a query a line to compare by (default: made from fifty documents)")
	cmd.Flags().Float64Var(&in.MinOverlap, "min-overlap", 0,
		"least share of the ten best documents, 0 to 1, that both must find in the mean to swap")
	return cmd
}

// reindexable is a namespace or an end user, with the path of its reindexing.
type reindexable struct {
	name, path string
	memories   bool
}

func reindexableNamespaces(ctx context.Context, cl *client.Client, org string, names []string,
	all bool) (out []reindexable, err error) {
	path := "/admin/v1/organizations/" + url.PathEscape(org) + "/namespaces"
	query := url.Values{"limit": {"1000"}}
	for all {
		var page admin.Namespaces
		if err := cl.Do(ctx, http.MethodGet, path+"?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		for _, n := range page.Namespaces {
			names = append(names, n.Name)
		}
		if page.NextCursor == nil {
			break
		}
		query.Set("cursor", *page.NextCursor)
	}
	for _, name := range names {
		out = append(out, reindexable{name, path + "/" + url.PathEscape(name) + "/reindex", false})
	}
	return out, nil
}

func reindexableUsers(ctx context.Context, cl *client.Client, p userScope, ids []string,
	all bool) (out []reindexable, err error) {
	var rows []admin.EndUser
	if all {
		if rows, _, err = listUsers(ctx, cl, p, "", 0); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		row, known, err := endUser(ctx, cl, p, id)
		if err == nil && !known {
			err = noSuchUser(p, id)
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	for _, u := range rows {
		if u.Memories > 0 || !all { // others have no vectors
			out = append(out, reindexable{u.ID, p.path(u.ID, u.Integration, "reindex"), true})
		}
	}
	return out, nil
}

// reindexPoll is the pause between two requests for a reindexing's progress.
const reindexPoll = 300 * time.Millisecond

// reindexOne applies the flags to one namespace or end user.
func (c *command) reindexOne(ctx context.Context, cl *client.Client, of reindexable, in admin.Reindex, commit bool) error {
	if !commit {
		return c.reindex(ctx, cl, of, in)
	}
	var out admin.Discarded
	if err := cl.Do(ctx, http.MethodDelete, of.path, nil, &out); err != nil {
		return err
	}
	said := "what was kept, or held, is removed"
	if !out.Discarded {
		said = "nothing was kept or held"
	}
	_, err := fmt.Fprintf(c.stdout, "%s: %s\n", of.name, said)
	return err
}

// reindex starts a reindexing and shows its progress until it ends.
func (c *command) reindex(ctx context.Context, cl *client.Client, of reindexable, in admin.Reindex) error {
	var body any = in
	if of.memories {
		body = admin.ReindexUser{Force: in.Force}
	}
	var r admin.Reindexing
	if err := cl.Do(ctx, http.MethodPost, of.path, body, &r); err != nil {
		return err
	}
	bar := newProgress(c.stderr)
	defer bar.end()
	for r.Underway() {
		bar.update("reindexing "+of.name, r.Done, r.Total)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(reindexPoll):
		}
		if err := cl.Do(ctx, http.MethodGet, of.path, nil, &r); err != nil {
			return err
		}
	}
	bar.end()
	var err error
	if m := r.Comparison; m != nil {
		fmt.Fprintf(c.stderr, "%s: by %s, %.0f %% of the ten best documents are the same", of.name, queries(m.Queries),
			100*m.Overlap)
		if m.FoundBefore != nil && m.FoundAfter != nil {
			fmt.Fprintf(c.stderr, "; a document is found by its own words in %.0f %%, before in %.0f %%",
				100**m.FoundAfter, 100**m.FoundBefore)
		}
		fmt.Fprintln(c.stderr)
	}
	switch {
	case r.Error != nil:
		return fmt.Errorf("reindex %s: %s (%s)", of.name, r.Error.Message, r.Error.Code)
	case r.Status == reindex.Unchanged:
		_, err = fmt.Fprintf(c.stdout, "%s: its vectors are of the configured models already; --force rebuilds them\n", of.name)
	case r.Status == reindex.Held:
		why := "it is held"
		if m := r.Comparison; m != nil && m.Overlap < in.MinOverlap {
			why = fmt.Sprintf("it is held, as %.2f is less than --min-overlap %.2f", m.Overlap, in.MinOverlap)
		}
		_, err = fmt.Fprintf(c.stdout, "%s: %s in %s are built and not served: %s. Run it again without --hold to swap, "+
			"or with --commit to give it up\n",
			of.name, plural(r.Documents, "document"), plural(r.Chunks, "chunk"), why)
	case r.Status == reindex.Succeeded:
		what := plural(r.Documents, "document")
		if of.memories {
			what = memories(int64(r.Documents))
		}
		_, err = fmt.Fprintf(c.stdout, "%s: %s in %s\n", of.name, what, plural(r.Chunks, "chunk"))
	default:
		err = errors.New("reindex " + of.name + ": the server answers the unknown status " + r.Status)
	}
	return err
}

func queries(n int) string {
	if n == 1 {
		return "1 query"
	}
	return fmt.Sprintf("%d queries", n)
}

// checkReindexFlags refuses flags that do not go together.
func checkReindexFlags(in admin.Reindex, ofMemories, commit, asks bool) error {
	compares, changes := asks || in.MinOverlap != 0, in.Language != nil || in.EmbeddingModel != nil
	switch {
	case ofMemories && (in.Hold || in.Back || changes || commit || compares):
		return usage("--memories goes with --force alone: nothing is held, compared or kept of memories, " +
			"each tells its language, and all have the server's default model")
	case in.Back && (in.Force || in.Hold || changes || commit):
		return usage("--rollback goes with none of --force, --hold, --language, --embedding-model and --commit")
	case commit && (in.Force || in.Hold || changes || compares):
		return usage("--commit removes what is kept; it builds and compares nothing")
	case in.MinOverlap < 0 || in.MinOverlap > 1:
		return usage("--min-overlap is a share from 0 to 1, not %g", in.MinOverlap)
	}
	return nil
}

// buildIndexes fills the configured indexes.
func (c *command) buildIndexes(ctx context.Context) (err error) {
	cfg, err := c.loadQuiet()
	if err != nil {
		return err
	}
	a, err := c.openApp(ctx, "reindex", cfg)
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, a.Close(context.WithoutCancel(ctx))) }()
	bar := newProgress(c.stderr)
	partitions, documents, err := a.Engine.BuildIndexes(ctx,
		func(done, total int) { bar.update("building the indexes", done, total) })
	bar.end()
	if err == nil {
		_, err = fmt.Fprintf(c.stdout, "%s of %s are in the indexes\n", plural(documents, "document"),
			plural(partitions, "partition"))
	}
	return err
}

// readLines reads the lines of a file that are not blank.
func readLines(path string) (out []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read queries: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	if len(out) == 0 {
		return nil, usage("%s holds no queries", path)
	}
	return out, nil
}
