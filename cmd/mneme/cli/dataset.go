package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datasetfile"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/audit"
	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/dataset/installation"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// policyHelp describes the flag --on-conflict.
const policyHelp = "of a namespace or an end user that is there already with other contents: fail (change nothing), " +
	"skip (keep what is there) or replace it"

func parsePolicy(name string) (dataset.Policy, error) {
	if p := dataset.Policy(name); p.Known() {
		return p, nil
	}
	return "", usage("--on-conflict is fail, skip or replace, not %q", name)
}

// trust says what a data set may bring along, and by whose signature.
type trust struct {
	installation.Authority
	verify string // file of the public key; "": anybody may have written it
}

func (t *trust) flags(f *pflag.FlagSet) {
	f.BoolVar(&t.Keys, "keys", false, "of a data set: API keys, and accepted writes that are not done yet")
	f.BoolVar(&t.AdminKeys, "admin-keys", false, "of a data set: keys of administrators, which are listed")
	f.BoolVar(&t.Secrets, "secrets", false, "of a data set: what signs cursors and OAuth sessions")
	f.StringVar(&t.verify, "verify", "",
		"of a data set: only with a signature (PATH.sig) by the holder of this Ed25519 public key, a PEM file")
}

// verifier reads the key of --verify; nil: none was given.
func (t *trust) verifier() (*datasetfile.Verifier, error) {
	if t.verify == "" {
		return nil, nil
	}
	v, err := datasetfile.ReadVerifier(t.verify)
	if err != nil {
		return nil, fmt.Errorf("--verify: %w", err)
	}
	return v, nil
}

// importDataSet brings a data set into the store of the configuration.
func (c *command) importDataSet(ctx context.Context, path string, on dataset.Policy, t trust) error {
	cfg, err := c.loadQuiet()
	if err != nil {
		return err
	}
	signed, err := t.verifier()
	if err != nil {
		return err
	}
	result, err := c.importInto(ctx, cfg, "import", on, func(m *installation.Importer) (installation.Result, error) {
		m.Authority = t.Authority
		bar := newProgress(c.stderr)
		defer bar.end()
		watch := func(stage string) {
			m.OnProgress = func(done, total int64) { bar.update(stage, int(done), int(total)) }
		}
		read := func(do func(transferReader) error) error {
			f, err := datasetfile.OpenFile(path)
			if err != nil {
				return err
			}
			defer f.Close()
			if err := do(f); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			return nil
		}
		watch("checking documents")
		err := read(func(r transferReader) error { _, err := m.Check(ctx, r); return err })
		bar.end()
		if err == nil && signed != nil {
			err = signed.Verify(path, m.Chain())
		}
		if err != nil {
			return installation.Result{}, err
		}
		c.tellRights(m.Rights(), t.Authority)
		watch("importing documents")
		var result installation.Result
		err = read(func(r transferReader) (err error) { result, err = m.Run(ctx, r); return err })
		if ctx.Err() != nil {
			err = fmt.Errorf("stopped; the same command goes on: %w", err)
		}
		return result, err
	}, func() (string, error) { return dataSetID(path) })
	if err != nil {
		return err
	}
	c.printMoved("imported", result)
	return c.embedMissing(ctx, result.WithoutVectors)
}

// tellRights names what of a data set gives rights: each key of an administrator and each
// secret, and how much of the rest is left out.
func (c *command) tellRights(r installation.Rights, a installation.Authority) {
	verdict := func(taken bool, flag string) string {
		if taken {
			return "imported"
		}
		return "left out; --" + flag + " brings it"
	}
	for _, k := range r.AdminKeys {
		reach := "organization " + quoted(k.Organization)
		if k.AllOrganizations {
			reach = "every organization"
		}
		fmt.Fprintf(c.stderr, "admin key %s %s, which administers %s: %s\n", quoted(k.ID), quoted(k.Name), reach,
			verdict(a.AdminKeys, "admin-keys"))
	}
	for _, name := range r.Secrets {
		fmt.Fprintf(c.stderr, "secret %s: %s\n", quoted(name), verdict(a.Secrets, "secrets"))
	}
	for _, rest := range []struct {
		n    int64
		what string
	}{{r.Keys, "key"}, {r.Operations, "accepted write"}} {
		if rest.n > 0 && !a.Keys {
			fmt.Fprintf(c.stderr, "%s left out; --keys brings keys and accepted writes\n", plural(int(rest.n), rest.what))
		}
	}
}

// quoted shows a text of a file that anybody may have written.
func quoted(text string) string { return strconv.Quote(fault.Clip(text)) }

// transferReader is what transfer reads a data set from.
type transferReader = interface{ Read([]byte) (int, error) }

// dataSetID reads the id of a data set from its header.
func dataSetID(path string) (id string, err error) {
	f, err := datasetfile.OpenFile(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h, err := installation.ReadHeader(f)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return h.ID, nil
}

// importInto opens the data of a configuration to be written and runs an import on it.
// set names what is imported, for the journal.
func (c *command) importInto(
	ctx context.Context, cfg *configs.Config, name string, on dataset.Policy,
	do func(*installation.Importer) (installation.Result, error), set func() (string, error),
) (result installation.Result, err error) {
	id, err := set()
	if err != nil {
		return result, err
	}
	if err := c.agreeToMigrate(ctx, name, cfg); err != nil {
		return result, err
	}
	data, err := app.WriteData(ctx, app.Settings{Registry: c.registry, Config: cfg, Log: c.logger(cfg.Log), Command: name})
	if err != nil {
		return result, err
	}
	defer func() { err = joinErrors(err, data.Close()) }()
	journal, err := datasetfile.OpenJournal(cfg.DataDir, id)
	if err != nil {
		return result, err
	}
	defer func() { err = joinErrors(err, journal.Close()) }()
	result, err = do(&installation.Importer{
		Store:    data.Store,
		Conflict: on,
		Journal:  journal,
		Imported: data.Projector.Ensure,
		Replaced: data.Projector.Drop,
	})
	if recorded := audit.CommandEnded(ctx, data.Store, name, id, err); recorded != nil {
		err = joinErrors(err, fmt.Errorf("record in the audit log: %w", recorded))
	}
	if errors.As(err, new(*installation.Conflict)) {
		err = fmt.Errorf("%w; choose what to keep with --on-conflict skip (what is there) or replace (what is imported)", err)
	}
	return result, err
}

// printMoved says what an import or a copy did.
func (c *command) printMoved(verb string, r installation.Result) {
	fmt.Fprintf(c.stdout, "%s and verified %s: %s\n", verb, plural(int(r.Imported), "namespace or end user"),
		plural(int(r.Documents), "document"))
	for _, s := range []struct {
		n    int64
		what string
	}{
		{r.Continued, "of them begun by an earlier run"},
		{r.Replaced, "of them replaced"},
		{r.Unchanged, "there already with the same contents"},
		{r.Skipped, "there already with other contents: kept as they are"},
	} {
		if s.n > 0 {
			fmt.Fprintf(c.stdout, "  %d %s\n", s.n, s.what)
		}
	}
	fmt.Fprintf(c.stdout, "the data set has %s\n", describeCounts(r.Counts))
}

// embedMissing makes the vectors of partitions that were imported without any.
func (c *command) embedMissing(ctx context.Context, bare []port.Partition) (err error) {
	if len(bare) == 0 {
		return nil
	}
	cl, done, err := c.connect(ctx, "reindex", target{admin: true})
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, done()) }()
	for _, p := range bare {
		of := reindexable{name: p.Name(),
			path: "/admin/v1/organizations/" + url.PathEscape(string(p.Org())) + "/namespaces/" +
				url.PathEscape(p.Name()) + "/reindex"}
		if p.Space() == port.SpaceMemories {
			who := userScope{org: string(p.Org()), integration: p.Integration()}
			of = reindexable{p.Name(), who.path(p.Name(), p.Integration(), "reindex"), true}
		}
		if err := c.reindex(ctx, cl, of, admin.Reindex{}); err != nil {
			return fmt.Errorf("%w; its documents are there, and `mneme reindex` makes the vectors that are missing", err)
		}
	}
	return nil
}

// sameInstallation refuses two configurations of one data folder: what indexes
// keep there belongs to one store.
func sameInstallation(from, to *configs.Config) error {
	a, err := filepath.Abs(from.DataDir)
	if err != nil {
		return err
	}
	b, err := filepath.Abs(to.DataDir)
	if err != nil {
		return err
	}
	if a == b {
		return usage("both configurations have the data folder %s; give the target one of its own (data_dir), because "+
			"indexes and locks are kept there", a)
	}
	return nil
}
