package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/ident"
)

func (c *command) reindexCommand() *cobra.Command {
	t := target{admin: true}
	var p person
	var all, force, ofMemories bool
	cmd := &cobra.Command{
		Use:   "reindex NAMESPACE... | --memories END_USER... | --all",
		Short: "Make the vectors of namespaces and memories anew with the configured models",
		Long: `Make the chunks and vectors of namespaces anew, after the embedding or the sparse
model was changed: a namespace whose vectors are of other models refuses writes and
queries. Texts, metadata and times stay. Until all vectors of a namespace are
made it is as it was, so a run that is stopped loses nothing but its work; a
running server goes on without the command. Namespaces whose vectors are of the
configured models are left alone. With --memories the same is done for end users
and their memories.
` + connectHelp,
		Example: "  mneme reindex handbook --data ./data\n  mneme reindex --all --org acme\n  mneme reindex --memories ann --integration chat\n  mneme reindex --memories --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return usage("give either names or --all")
			case !all && len(args) == 0:
				return usage("of what? Name namespaces, or end users with --memories, or give --all")
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
				one := c.reindex(ctx, cl, r, force)
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
			return joined(err, done())
		},
	}
	t.flags(cmd)
	p.flags(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "all namespaces, or with --memories all end users, of the organization")
	cmd.Flags().BoolVar(&ofMemories, "memories", false, "the memories of end users instead of namespaces")
	cmd.Flags().BoolVar(&force, "force", false, "also those whose vectors are of the configured models")
	return cmd
}

// reindexable is what has vectors, with the path of its reindexing.
type reindexable struct {
	name, path string
	memories   bool
}

func reindexableNamespaces(ctx context.Context, cl *client.Client, org string, names []string, all bool) (out []reindexable, err error) {
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

func reindexableUsers(ctx context.Context, cl *client.Client, p person, ids []string, all bool) (out []reindexable, err error) {
	var rows []admin.EndUser
	if all {
		if rows, _, err = roster(ctx, cl, p, "", 0); err != nil {
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

// reindexPoll is how often it is asked how far a reindexing is.
const reindexPoll = 300 * time.Millisecond

// reindex begins a reindexing and shows how far it is until it ends.
func (c *command) reindex(ctx context.Context, cl *client.Client, of reindexable, force bool) error {
	var r admin.Reindexing
	if err := cl.Do(ctx, http.MethodPost, of.path, admin.Reindex{Force: force}, &r); err != nil {
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
	switch {
	case r.Error != nil:
		return fmt.Errorf("reindex %s: %s (%s)", of.name, r.Error.Message, r.Error.Code)
	case r.Status == admin.Unchanged:
		_, err = fmt.Fprintf(c.stdout, "%s: its vectors are of the configured models already; --force makes them anew\n", of.name)
	case r.Status == admin.Succeeded:
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
