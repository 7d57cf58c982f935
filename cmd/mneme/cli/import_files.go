package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mnemehq/mneme/adapters/standard"
	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/cmd/mneme/internal/importer"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// fileImport is how files and folders are imported.
type fileImport struct {
	scanner                  importer.Scanner
	encoding                 string
	model                    string // embedding model of its own that a new namespace gets; "": the server's default
	workers, batch           int
	strict, restart          bool
	prune, watch, rehearsing bool

	through *client.Client // calls go to its server; nil: one is found
}

func (o *fileImport) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.scanner.Include, "include", nil,
		"only files that this pattern matches, in the form of .gitignore: *.md, /guide/**/*.txt; may be repeated")
	f.StringArrayVar(&o.scanner.Exclude, "exclude", nil,
		"no files or folders that this pattern matches: drafts/, *.old.md; may be repeated")
	f.BoolVar(&o.scanner.Hidden, "hidden", false, "hidden files and folders, too (never .git)")
	f.BoolVar(&o.scanner.All, "no-ignore", false, "also node_modules and what .gitignore files name")
	f.StringVar(&o.scanner.Prefix, "prefix", "", "put this before the ids and paths of documents, as a folder's name")
	f.StringVar(&o.encoding, "encoding", "", "of text that is not UTF-8: windows-1252, shift_jis, ... (HTML pages say theirs)")
	f.IntVar(&o.workers, "workers", max(2, min(8, runtime.GOMAXPROCS(0))), "batches in flight")
	f.IntVar(&o.batch, "batch", importBatch, "documents of a batch, 1-100")
	f.BoolVar(&o.strict, "strict", false, "stop at the first document that cannot be imported")
	f.BoolVar(&o.restart, "restart", false, "read all files again, also those that have not changed")
	f.BoolVar(&o.prune, "prune", false,
		"delete what this import has brought and whose files are gone or left out now; asks first")
	f.BoolVar(&o.watch, "watch", false, "go on, and import again whenever something in the folders has changed")
	f.BoolVar(&o.rehearsing, "dry-run", false, "write nothing; say what would happen to each file, and why")
}

func (o *fileImport) check(paths []string, yes bool) error {
	switch {
	case o.batch < 1 || o.batch > 100 || o.workers < 1 || o.workers > 256:
		return usage("--batch must be 1-100 and --workers 1-256")
	case o.watch && o.rehearsing:
		return usage("--watch and --dry-run do not go together")
	case o.watch && o.prune && !yes:
		return usage("--prune with --watch needs --yes: nobody is asked while it watches")
	}
	for _, p := range paths {
		if info, err := os.Stat(p); o.prune && err == nil && !info.IsDir() {
			return usage("--prune takes folders only: a file that is gone cannot be named (%s is a file)", p)
		}
	}
	if p := o.scanner.Prefix; p != "" && (path.Clean(p) == "." || !fs.ValidPath(path.Clean(p))) {
		return usage("--prefix %q is not like the path of a folder, such as team/handbook", o.scanner.Prefix)
	}
	if o.encoding != "" {
		e, err := importer.Encoding(o.encoding)
		if err != nil {
			return usage("--encoding: %s", fault.From(err).Message)
		}
		o.scanner.Encoding = e
	}
	return nil
}

// folderImport is one import of files, run once or again and again.
type folderImport struct {
	*command
	fileImport
	client *client.Client
	im     importer.Importer
	paths  []string
}

func (c *command) importFiles(ctx context.Context, t target, ns string, args []string, o fileImport) (err error) {
	if err := o.check(args, c.yes); err != nil {
		return err
	}
	cfg, err := c.loadQuiet()
	if err != nil {
		return err
	}
	data, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	o.scanner.Skip = []string{data}
	source := importer.Source{Target: data, Namespace: ns}
	dir := filepath.Join(cfg.DataDir, "imports")
	if server := t.server(); server != "" {
		source.Target, dir = strings.TrimSuffix(server, "/"), filepath.Join(app.CacheDir(cfg), "imports")
	}
	for _, arg := range args {
		abs, err := filepath.Abs(arg)
		if err != nil {
			return fmt.Errorf("path %s: %w", arg, err)
		}
		source.Paths = append(source.Paths, abs)
	}
	log := c.logger(cfg.Log)
	cache, err := app.Cache(cfg, log)
	if err != nil {
		return err
	}
	elsewhere, err := c.registry.Extractor.Open(ctx, cfg.Files.Remote, registry.Env{Log: log, CacheDir: cache})
	if err != nil {
		return err
	}
	files := standard.Extractor(cache, elsewhere, log)
	defer func() { err = errors.Join(err, files.Close(context.WithoutCancel(ctx))) }()
	o.scanner.Extractor = files
	listing, err := o.scanner.Scan(ctx, args)
	if err != nil {
		return err
	}
	f := folderImport{command: c, fileImport: o, paths: args, im: importer.Importer{
		Namespace:  ns,
		Workers:    o.workers,
		BatchDocs:  o.batch,
		BatchBytes: importBatchBytes,
		Strict:     o.strict,
		Prune:      o.prune,
	}}
	if o.rehearsing {
		if f.im.State, err = importer.ReadState(dir, source); err != nil {
			return err
		}
		return f.rehearse(ctx, listing)
	}
	if len(listing.Files) == 0 && !o.watch {
		c.printLeft(listing)
		return fmt.Errorf("nothing to import: none of the %s there is taken", plural(listing.LeftFiles(), "file"))
	}
	cl := o.through
	if cl == nil {
		var done func() error
		if cl, done, err = c.connect(ctx, "import", t); err != nil {
			return err
		}
		defer func() { err = joinErrors(err, done()) }()
	}
	// A server without an embedding model answers every write "try again later".
	var embedders model.List
	if err := cl.Do(ctx, http.MethodGet, "/models?kind="+string(port.TaskEmbed), nil, &embedders); err != nil {
		return err
	}
	if len(embedders.Models) == 0 {
		return errors.New("the server has no embedding model, so it takes no documents; see roles.embed in its " +
			"configuration")
	}
	state, err := importer.OpenState(dir, source)
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, state.Close()) }()
	// What was imported into a namespace that is gone has to be imported again.
	err = cl.Do(ctx, http.MethodGet, "/namespaces/"+url.PathEscape(ns), nil, nil)
	switch {
	case client.CodeOf(err) == string(fault.NamespaceNotFound):
		if err = state.ResetAll(source); err == nil && o.model != "" {
			in := namespace.CreateNamespace{Name: ns, EmbeddingModel: o.model}
			err = cl.Do(ctx, http.MethodPost, "/namespaces", in, nil)
		}
	case err == nil && o.restart:
		err = state.Reread(source)
	}
	if err != nil {
		return err
	}
	f.client, f.im.Writer, f.im.State = cl, &documentWriter{cl}, state
	if o.watch {
		return f.watchFolders(ctx)
	}
	return f.run(ctx, listing)
}

// server is the URL that was asked for.
func (t target) server() string {
	if t.url != "" {
		return t.url
	}
	return os.Getenv("MNEME_URL")
}

// run imports what was listed and says what was not.
func (f *folderImport) run(ctx context.Context, l importer.Listing) error {
	var err error
	if f.im.Others, err = f.im.State.Others(); err != nil {
		return err
	}
	p, err := runImport(ctx, f.command, f.im, l.Files)
	f.printLeft(l)
	if err == nil {
		err = f.stale(ctx, l)
	}
	if err == nil && p.Failed+p.FailedBefore+len(l.Problems()) > 0 {
		return errReported
	}
	return err
}

// watchFolders runs at once and whenever something has changed, until the context
// ends.
func (f *folderImport) watchFolders(ctx context.Context) (err error) {
	w, err := importer.NewWatcher()
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, w.Close()) }()
	for {
		l, err := w.Scan(ctx, f.scanner, f.paths)
		if err == nil {
			err = f.run(ctx, l)
		}
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil && !errors.Is(err, errReported):
			fmt.Fprintf(f.stderr, "import: %s\n", describe(err))
		}
		fmt.Fprintln(f.stderr, "watching; Ctrl-C ends it")
		if w.Wait(ctx) != nil && ctx.Err() != nil {
			return nil
		}
	}
}

// stale deletes documents of what is gone, or says that they are there.
func (f *folderImport) stale(ctx context.Context, l importer.Listing) error {
	var ids int
	stale := f.im.State.Stale(l, f.im.Others)
	for _, s := range stale {
		ids += len(s.IDs)
	}
	documents := plural(ids, "document")
	switch {
	case ids == 0:
		return nil
	case !f.prune:
		fmt.Fprintf(f.stderr, "%s of %s that are gone or left out now can still be found; --prune deletes them\n",
			documents, plural(len(stale), "file"))
		return nil
	case len(l.Files) == 0:
		return errors.New("nothing was pruned: there is no file left, as in a folder that is not mounted")
	}
	for _, s := range stale[:min(len(stale), 20)] {
		fmt.Fprintf(f.stderr, "to delete: %s: %s (%s)\n", s.File, s.Reason, plural(len(s.IDs), "document"))
	}
	if more := len(stale) - 20; more > 0 {
		fmt.Fprintf(f.stderr, "to delete: of %s more\n", plural(more, "file"))
	}
	if err := f.confirm("delete %s from namespace %s?", documents, f.im.Namespace); err != nil {
		return errors.New("nothing was pruned; answer y, or give --yes")
	}
	for _, s := range stale {
		for some := range slices.Chunk(s.IDs, 500) {
			if err := (&documentWriter{f.client}).Delete(ctx, f.im.Namespace, some); err != nil {
				return err
			}
		}
		if err := f.im.State.Drop(s); err != nil {
			return err
		}
	}
	fmt.Fprintf(f.stderr, "pruned: %s\n", documents)
	return nil
}

// rehearse says what a run would do.
func (f *folderImport) rehearse(ctx context.Context, l importer.Listing) error {
	var err error
	if f.im.Others, err = f.im.State.Others(); err != nil {
		return err
	}
	failed := 0
	for _, p := range l.Problems() {
		failed++
		fmt.Fprintf(f.stdout, "refuse  %s\n", p)
	}
	err = f.im.Plan(ctx, l.Files, func(p importer.Plan) {
		switch {
		case p.Skipped && p.Problems == nil:
			fmt.Fprintf(f.stdout, "skip    %s: %s\n", p.File, p.Reason)
		case p.Documents > 0:
			fmt.Fprintf(f.stdout, "import  %s: %s (%s)\n", p.File, p.Reason, plural(p.Documents, "document"))
		}
		failed += len(p.Problems)
		for _, why := range p.Problems {
			fmt.Fprintf(f.stdout, "refuse  %s\n", why)
		}
	})
	if err != nil {
		return err
	}
	for _, left := range l.Left {
		if !left.Failed {
			fmt.Fprintf(f.stdout, "leave   %s: %s\n", left.Name, left.Reason)
		}
	}
	verb := "keep  "
	if f.prune {
		verb = "delete"
	}
	for _, s := range f.im.State.Stale(l, f.im.Others) {
		fmt.Fprintf(f.stdout, "%s  %s: %s (%s)\n", verb, s.File, s.Reason, plural(len(s.IDs), "document"))
	}
	if failed > 0 {
		return errReported
	}
	return nil
}

// printLeft says what was left out: what was named, each; of folders how much for
// what reason.
func (c *command) printLeft(l importer.Listing) {
	for _, p := range l.Problems() {
		fmt.Fprintf(c.stderr, "not imported: %s\n", p)
	}
	reasons, counts := []string{}, map[string]int{}
	for _, left := range l.Left {
		switch {
		case left.Failed:
			continue
		case left.Named:
			fmt.Fprintf(c.stderr, "left out: %s: %s\n", left.Name, left.Reason)
			continue
		case left.Folder():
			continue
		}
		why := left.Why()
		if counts[why]++; counts[why] == 1 {
			reasons = append(reasons, why)
		}
	}
	if len(reasons) == 0 {
		return
	}
	slices.SortStableFunc(reasons, func(a, b string) int { return counts[b] - counts[a] })
	total := 0
	for i, why := range reasons {
		total += counts[why]
		reasons[i] = fmt.Sprintf("%d %s", counts[why], why)
	}
	fmt.Fprintf(c.stderr, "%s left out (%s); --dry-run names each\n", plural(total, "file"), strings.Join(reasons, ", "))
}
