package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/mnemehq/mneme/adapters/model/process"
	wasmadapter "github.com/mnemehq/mneme/adapters/model/wasm"
	"github.com/mnemehq/mneme/cmd/mneme/internal/minisig"
	"github.com/mnemehq/mneme/cmd/mneme/internal/pull"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/wasm/models"
	"github.com/mnemehq/mneme/wasm/models/pack"
)

// sourceFlags is where models are pulled from.
type sourceFlags struct{ catalogue, mirror, publisher string }

func (s *sourceFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.catalogue, "catalogue", "",
		"catalogue file (MNEME_MODELS_CATALOGUE, pull.catalogue; default: the program's own)")
	f.StringVar(&s.mirror, "mirror", "",
		"URL or folder to fetch from instead, or base=URL,... (MNEME_MODELS_MIRROR, pull.mirror)")
	f.StringVar(&s.publisher, "publisher", "", "take the signed catalogue of this publisher (pull.publishers)")
}

// open reads the catalogue; flags win over the configuration. What a publisher has signed
// is nil where none is asked for.
func (s *sourceFlags) open(ctx context.Context, cfg configs.Pull, store pull.Store, client pull.Client) (pull.Plan, error) {
	p := pull.Plan{Client: client}
	var err error
	if p.Mirror, err = pull.ParseMirror(cmp.Or(s.mirror, cfg.Mirror)); err != nil {
		return p, err
	}
	if s.publisher == "" {
		p.Catalogue, err = pull.Open(cmp.Or(s.catalogue, cfg.Catalogue))
		return p, err
	}
	if s.catalogue != "" {
		return p, usage("--catalogue and --publisher are two places; give one")
	}
	by, ok := cfg.Publishers[s.publisher]
	if !ok {
		return p, usage("the configuration has no publisher %q; under pull.publishers it has %s", s.publisher,
			cmp.Or(strings.Join(slices.Sorted(maps.Keys(cfg.Publishers)), ", "), "none"))
	}
	key, err := minisig.ParseKey(by.PublicKey)
	if err != nil {
		return p, err
	}
	signed, err := store.Open(ctx, pull.Publisher{Name: s.publisher, URL: by.URL, Key: key}, p.Mirror, client)
	p.Catalogue, p.Signed = signed.Catalogue, &signed
	return p, err
}

func (c *command) modelsPullCommand() *cobra.Command {
	var s sourceFlags
	var list, asJSON, accept, keep, replace bool
	var mirrorTo, as string
	cmd := &cobra.Command{
		Use:   "pull NAME...",
		Short: "Fetch models of the catalogue and install them in the data folder",
		Long: `Fetch a model of the catalogue, convert it and install it in the data folder, where a
configuration names it:  models: {mine: {wasm: {module: "installed:NAME"}}}

A download that breaks goes on where it stopped, in this run or the next. What arrives
must have the catalogue's SHA-256, so any mirror will do: --mirror (MNEME_MODELS_MIRROR)
names a URL or a folder that stands for all places in the catalogue, or base=URL for
one of them. HTTPS_PROXY, HTTP_PROXY and NO_PROXY are heeded. --mirror-to makes such a
folder, to be carried to a machine without a network.

The licence of each model is shown; one that asks for more than its notice has to be
accepted, on the terminal or with --accept-licence. So has one that the model states
itself and the catalogue does not.

A publisher of the configuration (pull.publishers) has signed its catalogue, which
--publisher takes: one that its key has not signed, or that is older than one taken
before, is refused.

What is installed stays: another version goes beside it (--as NAME@2) or, with
--replace, in its place, and then nothing is left for namespaces that it filled.`,
		Example: `  mneme models pull --list
  mneme models pull bge-small-en-v1.5
  mneme models pull bge-small-en-v1.5 --mirror-to ./usb-stick
  mneme models pull bge-small-en-v1.5 --mirror ./usb-stick
  mneme models pull --publisher acme acme-embed
  mneme models pull acme --as acme@2`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.loadQuiet()
			if err != nil {
				return err
			}
			store := c.modelStore(cfg)
			store.Replace = replace
			from, err := s.open(cmd.Context(), cfg.Pull, store,
				pull.Client{UserAgent: "mneme/" + thisBuild().Version, Log: c.logger(cfg.Log)})
			if err != nil {
				return err
			}
			catalogue := from.Catalogue
			if list {
				return c.listCatalogue(catalogue, asJSON)
			}
			if len(args) == 0 {
				return usage("models pull needs the name of a model: %s", strings.Join(catalogue.Names(), ", "))
			}
			if as != "" && len(args) > 1 {
				return usage("--as is for one model")
			}
			for _, name := range args {
				e, err := catalogue.Model(name)
				if err != nil {
					return err
				}
				if err := c.consent(name, e, accept); err != nil {
					return err
				}
				bar := &transferBar{w: c.stderr}
				plan := from
				plan.Name, plan.As, plan.Keep, plan.Progress = name, as, keep, bar.update
				plan.Accept = func(licence string) error {
					bar.end()
					fmt.Fprintf(c.stderr, "%s itself says licence %s\n", name, licence)
					return c.consentTo(name, licence, e.Source, accept)
				}
				if mirrorTo != "" {
					err := plan.MirrorTo(cmd.Context(), mirrorTo)
					bar.end()
					if err != nil {
						return err
					}
					fmt.Fprintf(c.stdout, "%s is in %s; use it with --mirror %s\n", name, mirrorTo, mirrorTo)
					continue
				}
				in, err := store.Pull(cmd.Context(), plan)
				bar.end()
				if errors.Is(err, pull.ErrOccupied) {
					return fmt.Errorf("%w; install this one beside it with --as %s@%s, or in its place with --replace", err, name,
						cmp.Or(in.Version, "2"))
				}
				if err != nil {
					return err
				}
				if err := c.printPulled(in, asJSON); err != nil {
					return err
				}
			}
			return nil
		},
	}
	s.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&list, "list", false, "list the catalogue")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.BoolVar(&accept, "accept-licence", false, "accept a licence that asks for more than its notice")
	f.BoolVar(&keep, "keep-download", false, "keep what was fetched in the data folder")
	f.BoolVar(&replace, "replace", false, "replace another model that is installed under the name")
	f.StringVar(&as, "as", "", "install under this name, for module: installed:NAME (default: the catalogue's)")
	f.StringVar(&mirrorTo, "mirror-to", "", "fetch into this folder, laid out as a mirror, and install nothing")
	return cmd
}

func (c *command) printPulled(in pull.Installed, asJSON bool) error {
	if asJSON {
		return printJSON(c.stdout, in)
	}
	tasks := in.Tasks
	if tasks == nil {
		tasks = []string{string(cmp.Or(in.Task, pack.Embedding))}
	}
	asks := ""
	if in.MemoryMB > 0 {
		asks += fmt.Sprintf(", up to %d MB of memory an instance", in.MemoryMB)
	}
	if in.Capabilities != nil {
		names := make([]string, len(in.Capabilities))
		for i, c := range in.Capabilities {
			names[i] = string(c)
		}
		asks += ", imports: " + cmp.Or(strings.Join(names, ", "), "none")
	}
	if in.Publisher != nil {
		asks += ", signed by " + in.Publisher.Name
	}
	how := "wasm: { module"
	if in.Kind == models.KindProcess {
		how = "process: { manifest"
		asks = strings.Replace(asks, "an instance", "in all", 1)
	}
	pin := ""
	if in.SHA256 != "" {
		pin = fmt.Sprintf(", sha256: %q", in.SHA256)
	}
	_, err := fmt.Fprintf(c.stdout, "installed %s %s, %s, %.1f MB, licence %s%s; to turn it on:\n\nmodels:\n  mine: { "+
		"%s: %q%s } }\nroles: { %s }\n",
		in.Name, in.Version, strings.Join(tasks, ", "), float64(in.Bytes)/1e6, in.Licence, asks, how, in.Module, pin,
		rolesOf(tasks, "mine"))
	return err
}

func (c *command) listCatalogue(catalogue pull.Catalogue, asJSON bool) error {
	type line struct {
		Name       string    `json:"name"`
		Summary    string    `json:"summary"`
		Task       pack.Task `json:"task"`
		Version    string    `json:"version"`
		Licence    string    `json:"license"`
		Source     string    `json:"source"`
		Download   int64     `json:"download_bytes"`
		Permissive bool      `json:"permissive"`
	}
	list := []line{}
	var rows [][]string
	for _, name := range catalogue.Names() {
		e := catalogue.Models[name]
		list = append(list, line{name, e.Summary, e.Task, e.Version, e.Licence, e.Source, e.DownloadBytes(),
			pull.Permissive(e.Licence)})
		rows = append(rows, []string{name, string(e.Task), fmt.Sprintf("%.0f MB", float64(e.DownloadBytes())/1e6),
			e.Licence, e.Summary})
	}
	if asJSON {
		return printJSON(c.stdout, struct {
			Models []line `json:"models"`
		}{list})
	}
	return table(c.stdout, []string{"NAME", "TASK", "DOWNLOAD", "LICENSE", "SUMMARY"}, rows)
}

// consent shows the licence and, where it is not a permissive one, wants it accepted.
func (c *command) consent(name string, e pull.Entry, accepted bool) error {
	fmt.Fprintf(c.stderr, "%s: %s, %s to fetch, licence %s, from %s\n", name, e.Task, megabytes(e.DownloadBytes()), e.Licence,
		e.Source)
	return c.consentTo(name, e.Licence, e.Source, accepted)
}

// megabytes is a size for people: whole megabytes, or a part of one.
func megabytes(n int64) string {
	if n < 1e6 {
		return fmt.Sprintf("%.2f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}

// consentTo wants a licence accepted that is not a permissive one.
func (c *command) consentTo(name, licence, source string, accepted bool) error {
	if accepted || pull.Permissive(licence) {
		return nil
	}
	in, ok := c.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return fmt.Errorf("%s is under %s, which asks for more than its notice: read it at %s, and accept it with "+
			"--accept-licence", name, licence, source)
	}
	fmt.Fprintf(c.stderr, "%s asks for more than its notice. Do you accept it? [y/N] ", licence)
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil || !slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))) {
		return fmt.Errorf("the licence of %s was not accepted", name)
	}
	return nil
}

// transferBar shows bytes: a bar on a terminal, a line a stage elsewhere.
type transferBar struct {
	w     io.Writer
	stage string
	bar   *progressbar.ProgressBar
}

func (b *transferBar) update(stage string, done, total int64) {
	if stage != b.stage {
		b.end()
		b.stage = stage
		f, ok := b.w.(*os.File)
		if !ok || !term.IsTerminal(int(f.Fd())) {
			if total > 0 {
				fmt.Fprintf(b.w, "%s, %.1f MB\n", stage, float64(total)/1e6)
			} else {
				fmt.Fprintln(b.w, stage)
			}
			return
		}
		if total == 0 {
			total = -1
		}
		b.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(b.w),
			progressbar.OptionSetDescription(stage), progressbar.OptionShowBytes(true),
			progressbar.OptionFullWidth(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	if b.bar != nil {
		_ = b.bar.Set64(done) // a failed write to the terminal is nothing to stop for
	}
}

func (b *transferBar) end() {
	if b.bar != nil {
		_ = b.bar.Finish()
		b.bar = nil
	}
	b.stage = ""
}

func (c *command) modelsRemoveCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "remove NAME...",
		Short: "Remove installed models from the data folder",
		Long: "Remove installed models from the data folder. One that the configuration names is\nkept unless " +
			"--force says otherwise: the server would not start without it.",
		Example: "  mneme models remove bge-small-en-v1.5",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.loadQuiet()
			if err != nil {
				return err
			}
			for _, name := range args {
				name = strings.TrimPrefix(name, models.InstalledPrefix)
				if by := usedBy(cfg, name); len(by) > 0 && !force {
					return fmt.Errorf("%s is model %s of the configuration; take it out there first, or give --force",
						name, strings.Join(by, " and "))
				}
				if err := c.modelStore(cfg).Remove(context.WithoutCancel(cmd.Context()), name); err != nil {
					return err
				}
				fmt.Fprintf(c.stdout, "removed %s\n", name)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "remove it although the configuration names it")
	return cmd
}

// usedBy are the models of the configuration that are an installed one.
func usedBy(cfg *configs.Config, name string) (by []string) {
	for _, m := range modelsInOrder(cfg) {
		at := models.InstalledPrefix + name
		switch c := cfg.Models[m].Config.(type) {
		case *wasmadapter.Config:
			if c.Module == at {
				by = append(by, m)
			}
		case *process.Config:
			if c.Manifest == at {
				by = append(by, m)
			}
		}
	}
	return by
}
