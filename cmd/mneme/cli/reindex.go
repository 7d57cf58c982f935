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
	var org string
	var all, force bool
	cmd := &cobra.Command{
		Use:   "reindex NAMESPACE... | --all",
		Short: "Make the vectors of namespaces anew with the configured models",
		Long: `Make the chunks and vectors of namespaces anew, after the embedding or the sparse
model was changed: a namespace whose vectors are of other models refuses writes and
queries. Texts, metadata and times stay. Until all vectors of a namespace are
made it is as it was, so a run that is stopped loses nothing but its work; a
running server goes on without the command. Namespaces whose vectors are of the
configured models are left alone.
` + connectHelp,
		Example: "  mneme reindex handbook --data ./data\n  mneme reindex --all --org acme",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return usage("give either namespaces or --all")
			case !all && len(args) == 0:
				return usage("which namespaces? Name them, or give --all")
			}
			for _, name := range args {
				if !ident.ValidNamespace(name) {
					return usage("%q is no namespace: it %s", name, ident.NamespaceRule)
				}
			}
			ctx := cmd.Context()
			cl, done, err := c.connect(ctx, "reindex", t)
			if err != nil {
				return err
			}
			if all {
				args, err = namespaces(ctx, cl, org)
			}
			failed := 0
			for _, name := range args {
				if err != nil {
					break
				}
				one := c.reindex(ctx, cl, org, name, force)
				if ctx.Err() != nil || len(args) == 1 {
					err = one
				} else if one != nil {
					failed++
					fmt.Fprintf(c.stderr, "%s: %s\n", name, describe(one))
				}
			}
			if err == nil && failed > 0 {
				err = errReported
			}
			return joined(err, done())
		},
	}
	t.flags(cmd)
	cmd.Flags().StringVar(&org, "org", ident.DefaultOrg, "organization, by name or id")
	cmd.Flags().BoolVar(&all, "all", false, "all namespaces of the organization")
	cmd.Flags().BoolVar(&force, "force", false, "also those whose vectors are of the configured models")
	return cmd
}

// namespaces lists an organization's namespaces.
func namespaces(ctx context.Context, cl *client.Client, org string) (names []string, err error) {
	query := url.Values{"limit": {"1000"}}
	for {
		var page admin.Namespaces
		if err := cl.Do(ctx, http.MethodGet, "/admin/v1/organizations/"+url.PathEscape(org)+"/namespaces?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		for _, n := range page.Namespaces {
			names = append(names, n.Name)
		}
		if page.NextCursor == nil {
			return names, nil
		}
		query.Set("cursor", *page.NextCursor)
	}
}

// reindexPoll is how often it is asked how far a reindexing is.
const reindexPoll = 300 * time.Millisecond

// reindex begins a reindexing and shows how far it is until it ends.
func (c *command) reindex(ctx context.Context, cl *client.Client, org, name string, force bool) error {
	path := "/admin/v1/organizations/" + url.PathEscape(org) + "/namespaces/" + url.PathEscape(name) + "/reindex"
	var r admin.Reindexing
	if err := cl.Do(ctx, http.MethodPost, path, admin.Reindex{Force: force}, &r); err != nil {
		return err
	}
	bar := newProgress(c.stderr)
	defer bar.end()
	for r.Status == admin.Waiting || r.Status == admin.Running {
		bar.update("reindexing "+name, r.Done, r.Total)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(reindexPoll):
		}
		if err := cl.Do(ctx, http.MethodGet, path, nil, &r); err != nil {
			return err
		}
	}
	bar.end()
	var err error
	switch {
	case r.Error != nil:
		return fmt.Errorf("reindex %s: %s (%s)", name, r.Error.Message, r.Error.Code)
	case r.Status == admin.Unchanged:
		_, err = fmt.Fprintf(c.stdout, "%s: its vectors are of the configured models already; --force makes them anew\n", name)
	case r.Status == admin.Succeeded:
		_, err = fmt.Fprintf(c.stdout, "%s: %s in %s\n", name, plural(r.Documents, "document"), plural(r.Chunks, "chunk"))
	default:
		err = errors.New("reindex " + name + ": the server answers the unknown status " + r.Status)
	}
	return err
}
