package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datasetfile"
	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/dataset/installation"
	"github.com/mnemehq/mneme/core/ident"
)

// contentFlags say which parts of an installation an export or a copy includes.
type contentFlags struct {
	dataset.Contents
	noVectors bool
}

func (m *contentFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&m.Organization, "org", "", "only this organization, by name or id")
	f.StringSliceVar(&m.Namespaces, "namespace", nil,
		"only these namespaces, without end users and keys unless --memories and --keys ask for them; may be given again")
	f.BoolVar(&m.Memories, "memories", true, "end users with their memories, records, receipts and stored answers")
	f.BoolVar(&m.Keys, "keys", true, "API keys (as hashes) and accepted writes that are not done yet")
	f.BoolVar(&m.Secrets, "secrets", false, "what signs cursors and OAuth sessions, so that those in use stay good")
	f.BoolVar(&m.Vectors, "vectors", true, "vectors, so that nothing is embedded again")
	f.BoolVar(&m.noVectors, "no-vectors", false, "the same as --vectors=false")
}

// contents checks the flags and turns them into the contents to export.
func (m *contentFlags) contents(cmd *cobra.Command) (dataset.Contents, error) {
	given := cmd.Flags().Changed
	if m.noVectors {
		if given("vectors") && m.Vectors {
			return m.Contents, usage("give either --vectors or --no-vectors")
		}
		m.Vectors = false
	}
	for _, name := range m.Namespaces {
		if !ident.ValidNamespace(name) {
			return m.Contents, usage("%q is no namespace: it %s", name, ident.NamespaceRule)
		}
	}
	if len(m.Namespaces) > 0 {
		m.Memories = m.Memories && given("memories")
		m.Keys = m.Keys && given("keys")
	}
	if m.Secrets && m.Organization != "" {
		return m.Contents, usage("--secrets belong to the whole installation; leave --org out")
	}
	return m.Contents, nil
}

func (c *command) exportCommand() *cobra.Command {
	var m contentFlags
	var out, keyFile string
	var resume bool
	t := target{admin: true}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write all data into a file that import reads",
		Long: `Write organizations, keys (as hashes), integrations, namespaces with their
documents, and end users with their memories into one file of JSON lines, vectors
included. A name that ends in .gz is compressed. Every line has a hash; import
refuses a file that was cut off or altered by accident, naming the line; that nobody
wrote another one in its place is what --sign is for (import --verify).

It reads the store of the data folder (--data) or of the configuration (--config)
directly, also beside a running server: every namespace and end user is read from
one snapshot, whose change number the file states. Stop the server, or its
writes, where they have to be in step with each other. End users that are being
erased are left out, and so are OAuth grants.

Until it is whole the file is called FILE.part. An export that was stopped goes
on after its last whole namespace or end user with --resume.`,
		Example: `  mneme export --out mneme.ndjson.gz --data ./data
  mneme export --out acme.ndjson --org acme --namespace handbook --no-vectors
  mneme export --out mneme.ndjson.gz --sign signing.pem  # openssl genpkey -algorithm ed25519 -out signing.pem
  mneme export --config postgres.yaml --out - | gzip > mneme.ndjson.gz
  mneme export --namespace handbook --url https://memory.example.org --key "$MNEME_ADMIN_KEY" --out handbook.ndjson.gz`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			contents, err := m.contents(cmd)
			if err != nil {
				return err
			}
			if out == "-" && resume {
				return usage("--resume needs the file of --out")
			}
			if f, ok := c.stdout.(*os.File); ok && out == "-" && term.IsTerminal(int(f.Fd())) {
				return usage("export writes to a file: name it with --out, or send standard output somewhere")
			}
			var sign *datasetfile.Signer
			if keyFile != "" {
				if out == "-" {
					return usage("--sign needs the file of --out: the signature stands beside it")
				}
				if sign, err = datasetfile.ReadSigner(keyFile); err != nil {
					return fmt.Errorf("--sign: %w", err)
				}
			}
			if t.url != "" {
				if resume {
					return usage("an export from a server always starts over; leave --resume out")
				}
				return c.exportNamespace(cmd.Context(), t, contents, out, sign)
			}
			if t.key != "" {
				return usage("--key goes with --url")
			}
			return c.exportData(cmd.Context(), contents, out, resume, sign)
		},
	}
	m.flags(cmd)
	cmd.Flags().StringVarP(&out, "out", "o", "-", "file to write; - is standard output")
	cmd.Flags().BoolVar(&resume, "resume", false, "go on where an export to the same file was stopped")
	cmd.Flags().StringVar(&keyFile, "sign", "", "sign with this Ed25519 private key, a PEM file; the signature is FILE.sig")
	cmd.Flags().StringVar(&t.url, "url", "", "take one namespace from the server at this URL")
	cmd.Flags().StringVar(&t.key, "key", "", "admin key for --url (MNEME_ADMIN_KEY)")
	return cmd
}

func (c *command) exportData(
	ctx context.Context, contents dataset.Contents, out string, resume bool, sign *datasetfile.Signer,
) (err error) {
	cfg, err := c.loadQuiet()
	if err != nil {
		return err
	}
	if err := c.agreeToMigrate(ctx, "export", cfg); err != nil {
		return err
	}
	data, err := app.ReadData(ctx, app.Settings{Registry: c.registry, Config: cfg, Log: c.logger(cfg.Log), Command: "export"})
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, data.Close()) }()
	bar := newProgress(c.stderr)
	defer bar.end()
	x := &installation.Exporter{
		Store:      data.Store,
		Contents:   contents,
		Program:    thisBuild().Version,
		Backend:    cfg.Storage.Component,
		OnProgress: func(done, total int64) { bar.update("exporting documents", int(done), int(total)) },
	}
	var w datasetfile.Written
	if out == "-" {
		w.Counts, err = x.Stream(ctx, c.stdout)
	} else {
		w, err = datasetfile.Export(ctx, x, out, resume, sign)
	}
	bar.end()
	if err != nil {
		if ctx.Err() != nil && out != "-" {
			return fmt.Errorf("stopped; the same command with --resume goes on: %w", err)
		}
		return err
	}
	if w.Resumed {
		fmt.Fprintln(c.stderr, "went on where an earlier export had stopped")
	}
	fmt.Fprintf(c.stderr, "exported %s\n", describeCounts(w.Counts))
	return nil
}

// describeCounts says what a data set holds.
func describeCounts(n dataset.Counts) string {
	s := plural(int(n.Documents), "document") + " in " + plural(int(n.Namespaces), "namespace")
	if n.EndUsers > 0 {
		s += " and of " + plural(int(n.EndUsers), "end user")
	}
	if n.Keys > 0 {
		s += ", " + plural(int(n.Keys), "key")
	}
	return s + ", of " + plural(int(n.Organizations), "organization")
}
