package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datasetfile"
	"github.com/mnemehq/mneme/cmd/mneme/internal/importer"
	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Batches are small enough that a write whose texts all need embedding stays
// within its time limit on a slow machine, large enough to share its commit.
const (
	importBatch      = 50
	importBatchBytes = 128 << 10
)

func (c *command) importCommand() *cobra.Command {
	var (
		t      target
		ns     string
		on     string
		org    string
		model  string
		rights trust
		files  fileImport
	)
	cmd := &cobra.Command{
		Use:   "import PATH...",
		Short: "Bring files and folders into a namespace, or a whole data set into an installation",
		Long: `Bring files into a namespace: text, Markdown, HTML, JSON and JSON lines (objects
with text and, optionally, id, title and metadata), alone or in folders.
Files: ` + strings.Join(importer.Extensions(), " ") + `

Several batches are in flight at once. A run that is stopped goes on where it was
when the same command is given again, and a repeated one skips what has not
changed. What could not be imported is listed, and the exit code is then 1, also
of later runs, until it can.

In a folder, hidden files, node_modules and what .gitignore files name are left
out, besides files of other kinds; --dry-run names each and why. The id of a
document is the path below the folder given, with colons for slashes; where two
folders would share ids, --prefix keeps them apart. The front matter of Markdown
files (YAML or TOML) becomes title and metadata.

What is gone from a folder stays in the namespace and is told, until --prune
deletes it. The notes on what an import has brought lie in the data folder (with
--url in the cache folder) of this machine, for the paths as they are given:
nothing else is ever deleted. --watch goes on and imports what changes.

A file that mneme export wrote is brought in whole: organizations, keys,
namespaces, end users. It goes into the store of the data folder or of the
configuration directly, so no server may run on the folder. First the file is
checked to its end and compared with what is there, then it is imported, and every
namespace and end user is read back and compared. The command may be stopped at
any moment and given again. A file can give nobody rights unless you say so: keys come
with --keys, keys of administrators with --admin-keys, secrets with --secrets, and
--verify takes only what the holder of a key has signed (export --sign).
With --url a data set of one namespace goes into a
running server, by who has an admin key of its organization (MNEME_ADMIN_KEY).
` + connectHelp,
		Example: `  mneme import ./handbook --namespace handbook
  mneme import ./notes --namespace notes --exclude drafts/ --prune
  mneme import ./notes --namespace notes --watch --prune --yes
  mneme import ./old --namespace old --encoding windows-1252 --dry-run
  mneme import tickets.jsonl.gz --namespace tickets --workers 8
  mneme import mneme.ndjson.gz --data ./data          # written by mneme export
  mneme import mneme.ndjson.gz --data ./data --keys --admin-keys --secrets --verify signing.pub
  mneme import ./docs --namespace docs --url https://memory.example.org --key "$MNEME_KEY"
  mneme import handbook.ndjson.gz --url https://memory.example.org --key "$MNEME_ADMIN_KEY"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.ContainsFunc(args, datasetfile.IsDataSet) {
				keep, err := parsePolicy(on)
				switch {
				case err != nil:
					return err
				case len(args) > 1:
					return usage("a data set is imported alone")
				case t.url != "":
					return c.importNamespace(cmd.Context(), t, args[0], org, ns, model, keep, rights)
				case ns != "" || org != "" || model != "":
					return usage("%s is a whole data set, with its namespaces: it goes into the store directly, without "+
						"--namespace, --org and --embedding-model", args[0])
				}
				return c.importDataSet(cmd.Context(), args[0], keep, rights)
			}
			if rights != (trust{}) {
				return usage("--keys, --admin-keys, --secrets and --verify go with a data set, and %s is none", args[0])
			}
			if org != "" {
				return usage("--org goes with a data set and --url; a key writes into its own organization")
			}
			if ns == "" {
				return usage("import needs --namespace: the namespace to write into")
			}
			files.model = model
			return c.importFiles(cmd.Context(), t, ns, args, files)
		},
	}
	t.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&ns, "namespace", "", "namespace to write into (required; of a data set with --url its own name unless given)")
	f.StringVar(&org, "org", "", "of a data set with --url: organization to write into (default: the one called default)")
	f.StringVar(&model, "embedding-model", "",
		"of its own that the namespace gets if the import makes it (default: the server's default; of a data set its own)")
	f.StringVar(&on, "on-conflict", string(dataset.Fail), "of a data set: what to do "+policyHelp)
	rights.flags(f)
	files.flags(f)
	return cmd
}

func runImport(ctx context.Context, c *command, im importer.Importer, files []importer.File) (importer.Progress, error) {
	f, ok := c.stderr.(*os.File)
	bar := importer.NewBar(c.stderr, ok && term.IsTerminal(int(f.Fd())))
	im.OnProgress, im.OnProblem, im.OnKnown, im.OnRetry = bar.Update, bar.Problem, bar.Known, bar.Retry
	p, err := im.Run(ctx, files)
	bar.Finish(p)
	return p, err
}

// documentWriter is an importer.Writer over the API.
type documentWriter struct{ client *client.Client }

// Write implements importer.Writer.
func (w *documentWriter) Write(ctx context.Context, ns string, docs []importer.Record) (importer.Result, error) {
	in, err := writeOf(docs)
	if err != nil {
		return importer.Result{}, err
	}
	var out document.Written
	err = w.client.Do(ctx, http.MethodPost, documentsPath(ns), in, &out)
	return written(out), asFault(err)
}

// Follow implements importer.Follower, by an asynchronous write.
func (w *documentWriter) Follow(ctx context.Context, ns string, docs []importer.Record,
	progress func(share float64)) (importer.Result, error) {
	in, err := writeOf(docs)
	if err != nil {
		return importer.Result{}, err
	}
	var o document.Operation
	if err := w.client.Start(ctx, documentsPath(ns), in, &o); err != nil {
		return importer.Result{}, asFault(err)
	}
	at := "/namespaces/" + url.PathEscape(ns) + "/operations/" + url.PathEscape(o.ID)
	for wait := followSoon; ; wait = min(2*wait, followLater) {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return importer.Result{}, ctx.Err()
		}
		// Not into the one before, whose chunks are done when they are no longer there.
		var now document.Operation
		err := client.RetryBusy(ctx, followTries, func() error { return w.client.Do(ctx, http.MethodGet, at, nil, &now) })
		if err != nil {
			return importer.Result{}, asFault(err)
		}
		switch now.Status {
		case string(port.JobSucceeded):
			var out document.Written
			if err := json.Unmarshal(now.Result, &out); err != nil {
				return importer.Result{}, fmt.Errorf("read the result of operation %s: %w", now.ID, err)
			}
			return written(out), nil
		case string(port.JobFailed):
			var why document.Failure
			if err := json.Unmarshal(now.Error, &why); err != nil {
				return importer.Result{}, fmt.Errorf("read the failure of operation %s: %w", now.ID, err)
			}
			return importer.Result{}, &fault.Error{Code: fault.Code(why.Code), Message: why.Message}
		case string(port.JobRunning):
			progress(share(now))
		}
	}
}

// A write that is followed is looked at soon, for it may be short, and later as often as
// a key with a limit of rates can bear. An answer that the server is busy is waited out.
const (
	followSoon  = 100 * time.Millisecond
	followLater = time.Second
	followTries = 10
)

// share is how much of an operation is done.
func share(o document.Operation) float64 {
	done, total := o.Done, o.Total
	if o.ChunksDone != nil && o.ChunksTotal != nil {
		done, total = *o.ChunksDone, *o.ChunksTotal
	}
	return float64(done) / float64(max(total, 1))
}

func documentsPath(ns string) string { return "/namespaces/" + url.PathEscape(ns) + "/documents" }

func written(out document.Written) importer.Result {
	return importer.Result{Written: out.Written, Unchanged: out.Unchanged, Chunks: out.Chunks}
}

// writeOf is the write of some records.
func writeOf(docs []importer.Record) (document.WriteDocuments, error) {
	in := document.WriteDocuments{Documents: make([]document.Input, len(docs))}
	for i, d := range docs {
		in.Documents[i] = document.Input{ID: d.ID, Text: &docs[i].Text}
		if len(d.Metadata) == 0 {
			continue
		}
		metadata, err := json.Marshal(d.Metadata)
		if err != nil {
			return in, fault.Wrap(fault.InvalidMetadata, "encode metadata", err,
				"the metadata of %s cannot be encoded", d.ID)
		}
		in.Documents[i].Metadata = metadata
	}
	return in, nil
}

// Delete implements importer.Deleter.
func (w *documentWriter) Delete(ctx context.Context, ns string, ids []string) error {
	err := w.client.Do(ctx, http.MethodPost, documentsPath(ns)+"/delete", map[string]any{"ids": ids}, nil)
	return asFault(err)
}

// asFault turns a server's answer back into the fault it stands for; an error
// without an answer stays what it is.
func asFault(err error) error {
	var e *client.Error
	if !errors.As(err, &e) || e.Code == "" {
		return err
	}
	return &fault.Error{Code: fault.Code(e.Code), Message: e.Message, RetryAfter: e.RetryAfter, Err: err}
}

var (
	_ importer.Writer   = (*documentWriter)(nil)
	_ importer.Deleter  = (*documentWriter)(nil)
	_ importer.Follower = (*documentWriter)(nil)
)
