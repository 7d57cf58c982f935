package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	wasmadapter "github.com/mnemehq/mneme/adapters/model/wasm"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/plugins/modelkit"
	"github.com/mnemehq/mneme/wasm/models"
)

// selectedModel is a model that the command line names.
type selectedModel struct {
	name string
	registry.Selection
	golden  fs.FS  // that lie beside it; nil: none
	dataDir string // where an installed one lies
}

// modelFlags are the flags that name models.
type modelFlags struct {
	process string
	mtls    string
	env     []string
	set     []string
}

const modelFlagsHelp = `
A model is the name of one in the configuration, builtin:NAME, installed:NAME, a
.wasm file, a pack, a folder with a model.json, or the archive of a release. Without one every model of the
configuration is meant, remote ones too. --process PROGRAM starts a backend; what
follows are its arguments, after -- if they begin with a dash.`

func (ch *modelFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&ch.process, "process", "", "program of a model backend; the arguments are its own")
	f.StringVar(&ch.mtls, "mtls", "", "with --process: auto or off, as in the configuration (default: auto, then off)")
	f.StringArrayVar(&ch.env, "env", nil,
		"with --process: NAME=VALUE for its environment, which is empty otherwise; NAME alone passes this program's")
	ch.setFlag(cmd)
}

func (ch *modelFlags) setFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&ch.set, "set", nil, "NAME=VALUE of a setting of the model's own, over that of the configuration")
}

// settle gives a model the settings of --set.
func (ch *modelFlags) settle(one *selectedModel) error {
	if len(ch.set) == 0 {
		return nil
	}
	w, ok := one.Config.(*wasmadapter.Config)
	if !ok {
		return usage("--set is of models in WebAssembly, which %s is not", one.name)
	}
	settings := maps.Clone(w.Settings)
	if settings == nil {
		settings = map[string]registry.Secret{}
	}
	for _, pair := range ch.set {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return usage("--set is NAME=VALUE")
		}
		settings[name] = registry.Secret(value)
	}
	one.set(w, settings)
	return nil
}

// set gives a module other settings and leaves the configuration that it is from alone.
func (one *selectedModel) set(w *wasmadapter.Config, settings map[string]registry.Secret) {
	other := *w
	other.Settings = settings
	one.Selection = registry.Selection{Component: one.Component, Config: &other}
}

// selectModels finds the models that the arguments name.
func (c *command) selectModels(ctx context.Context, ch modelFlags, args []string) (*configs.Config, []selectedModel, error) {
	cfg, all, err := c.findModels(ctx, ch, args)
	if err != nil {
		return nil, nil, err
	}
	for i := range all {
		if err := ch.settle(&all[i]); err != nil {
			return nil, nil, err
		}
	}
	return cfg, all, nil
}

func (c *command) findModels(ctx context.Context, ch modelFlags, args []string) (*configs.Config, []selectedModel, error) {
	cfg, err := c.loadQuiet()
	if err != nil {
		return nil, nil, err
	}
	if ch.process != "" {
		one, err := c.backendModel(ch, args)
		return cfg, []selectedModel{one}, err
	}
	if ch.mtls != "" || len(ch.env) > 0 {
		return nil, nil, usage("--mtls and --env are of --process")
	}
	var all []selectedModel
	if len(args) == 0 {
		for _, name := range modelsInOrder(cfg) {
			all = append(all, selectedModel{name: name, Selection: cfg.Models[name], dataDir: cfg.DataDir})
		}
		if len(all) == 0 {
			return nil, nil, usage("the configuration has no models; name one")
		}
		return cfg, all, nil
	}
	for _, arg := range args {
		one, err := c.namedModel(ctx, cfg, arg)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, one)
	}
	return cfg, all, nil
}

// namedModel is a model of the configuration, or a module of the wasm component.
func (c *command) namedModel(ctx context.Context, cfg *configs.Config, arg string) (selectedModel, error) {
	if s, ok := cfg.Models[arg]; ok {
		return selectedModel{name: arg, Selection: s, dataDir: cfg.DataDir}, nil
	}
	if isArchive(arg) {
		var err error
		if arg, err = c.unpacked(ctx, arg); err != nil {
			return selectedModel{}, err
		}
	}
	info, err := os.Stat(arg)
	if err != nil && !strings.HasPrefix(arg, "builtin:") && !strings.HasPrefix(arg, models.InstalledPrefix) {
		return selectedModel{}, fmt.Errorf("there is no file %s, and no model of that name in the configuration, which has %s",
			arg, strings.Join(modelsInOrder(cfg), ", "))
	}
	component, settings := "wasm", map[string]string{"module": arg}
	if at, err := models.Resolve(arg, cfg.DataDir); err == nil && models.IsProcess(at) {
		component, settings = models.KindProcess, map[string]string{"manifest": arg, "unverified": "true"}
	}
	known, ok := c.registry.Model.Component(component)
	if !ok {
		return selectedModel{}, fmt.Errorf("this binary cannot run it: it has no model component %s", component)
	}
	s, err := configs.Set(known, settings)
	one := selectedModel{name: strings.TrimSuffix(filepath.Base(arg), filepath.Ext(arg)), Selection: s, dataDir: cfg.DataDir}
	if prefix, name, ok := strings.Cut(arg, ":"); ok && prefix+":" != "" && info == nil {
		one.name = name
	}
	if info != nil && info.IsDir() {
		if abs, err := filepath.Abs(arg); err == nil {
			one.name = filepath.Base(abs)
		}
		if g, err := os.Stat(filepath.Join(arg, "golden")); err == nil && g.IsDir() {
			one.golden = os.DirFS(filepath.Join(arg, "golden"))
		}
	}
	return one, err
}

// backendModel makes a model of a program, as a configuration that names the program would.
func (c *command) backendModel(ch modelFlags, args []string) (selectedModel, error) {
	program := ch.process
	if strings.ContainsAny(program, `/\`) {
		abs, err := filepath.Abs(program)
		if err != nil {
			return selectedModel{}, err
		}
		program = abs
	}
	settings := map[string]any{"command": append([]string{program}, args...), "unverified": true}
	if ch.mtls != "" {
		settings["mtls"] = ch.mtls
	}
	env := map[string]string{}
	for _, e := range ch.env {
		name, value, given := strings.Cut(e, "=")
		if !given {
			value = os.Getenv(name)
		}
		env[name] = strings.ReplaceAll(value, "${", "$${") // nothing is to be filled in
	}
	if len(env) > 0 {
		settings["env"] = env
	}
	const name = "backend"
	b, err := yaml.Marshal(map[string]any{"models": map[string]any{name: map[string]any{"process": settings}}})
	if err != nil {
		return selectedModel{}, err
	}
	file, err := os.CreateTemp("", "mneme-*.yaml")
	if err != nil {
		return selectedModel{}, err
	}
	defer os.Remove(file.Name())
	if _, err := file.Write(b); err != nil {
		return selectedModel{}, joinErrors(err, file.Close())
	}
	if err := file.Close(); err != nil {
		return selectedModel{}, err
	}
	cfg, err := configs.Load(c.registry,
		configs.Source{File: file.Name(), Getenv: func(string) (string, bool) { return "", false }})
	if err != nil {
		return selectedModel{}, err
	}
	return selectedModel{name: filepath.Base(program), Selection: cfg.Models[name]}, nil
}

// variants are a module with values at the edges of each of its settings.
func (c *command) variants(cfg *configs.Config, one selectedModel) []modelkit.Variant {
	w, ok := one.Config.(*wasmadapter.Config)
	if !ok {
		return nil
	}
	module, err := models.Resolve(w.Module, cfg.DataDir)
	if err != nil {
		return nil // the check itself says so
	}
	source, err := models.Open(module)
	if err != nil {
		return nil
	}
	var all []modelkit.Variant
	for _, name := range slices.Sorted(maps.Keys(source.Settings)) {
		setting := source.Settings[name]
		for _, value := range setting.Samples() {
			settings := maps.Clone(w.Settings)
			if settings == nil {
				settings = map[string]registry.Secret{}
			}
			settings[name] = registry.Secret(value)
			other := one
			other.set(w, settings)
			all = append(all, modelkit.Variant{Name: name + "=" + value, Open: c.opener(cfg, other),
				SameVectors: !setting.Identifies()})
		}
	}
	return all
}

// opener returns a function that opens the selected model.
func (c *command) opener(cfg *configs.Config, one selectedModel) func(context.Context) (port.Model, error) {
	return func(ctx context.Context) (port.Model, error) { return c.openModel(ctx, cfg, one.name, one.Selection) }
}

// baseline opens the built-in model of a task, unless that is the one to compare.
func (c *command) baseline(cfg *configs.Config, one selectedModel) func(context.Context, port.Task) (port.Model, error) {
	return func(ctx context.Context, task port.Task) (port.Model, error) {
		module, ok := map[port.Task]string{port.TaskEmbed: models.Default, port.TaskSparse: models.DefaultSparse,
			port.TaskRerank: models.DefaultRerank}[task]
		wasm, has := c.registry.Model.Component("wasm")
		if !ok || !has {
			return nil, nil
		}
		if w, ok := one.Config.(*wasmadapter.Config); ok && w.Module == module {
			return nil, nil
		}
		s, err := configs.Set(wasm, map[string]string{"module": module})
		if err != nil {
			return nil, err
		}
		return c.openModel(ctx, cfg, module, s)
	}
}

// earlier opens a model to compare another with, for the tasks that it has.
func (c *command) earlier(cfg *configs.Config, before selectedModel) func(context.Context, port.Task) (port.Model, error) {
	return func(ctx context.Context, task port.Task) (port.Model, error) {
		m, err := c.opener(cfg, before)(ctx)
		if err != nil || slices.Contains(m.Info().Tasks, task) {
			return m, err
		}
		return nil, m.Close()
	}
}

// memory returns how to measure a backend's memory, where the system reports it; nil for
// other models, which report their own.
func (one selectedModel) memory() func(port.Model) (used, ceiling int64) {
	command := one.program()
	if command == nil || !canListProcesses {
		return nil
	}
	return func(port.Model) (int64, int64) { return residentBytes(backendPIDs(command)), 0 }
}

// program is the command line of a backend; nil: it is none.
func (one selectedModel) program() []string {
	if one.Component != "process" {
		return nil
	}
	b, err := yaml.Marshal(one.Config)
	if err != nil {
		return nil
	}
	var settings struct {
		Command  []string `yaml:"command"`
		Manifest string   `yaml:"manifest"`
	}
	if yaml.Unmarshal(b, &settings) != nil {
		return nil
	}
	if settings.Manifest == "" {
		return settings.Command
	}
	at, err := models.Resolve(settings.Manifest, one.dataDir)
	if err != nil {
		return nil
	}
	p, err := models.ReadProcess(at)
	if err != nil {
		return nil
	}
	program, own, err := p.Program(runtime.GOOS + "/" + runtime.GOARCH)
	switch {
	case err != nil:
		return nil
	case own:
		return append([]string{filepath.Join(p.Dir, filepath.FromSlash(program.Path))}, p.Args...)
	}
	return append([]string{append(settings.Command, p.Interpreter)[0]}, p.Args...)
}

// crash returns a function that ends a backend by force; nil where nothing can be crashed.
func (one selectedModel) crash() func(context.Context, port.Model) error {
	command := one.program()
	if command == nil || !canListProcesses {
		return nil
	}
	return func(context.Context, port.Model) error { return killBackends(command) }
}

// quickRun is long enough for a heap to settle on most machines.
const quickRun = 4 * time.Second

func (c *command) modelsCheckCommand() *cobra.Command {
	var ch modelFlags
	var golden, format, out string
	var minCosine float64
	var quick, asJSON bool
	var longRun time.Duration
	cmd := &cobra.Command{
		Use:   "check [MODEL...]",
		Short: "Check that models keep the promises of their ports",
		Long: `Open a model and check its description, the shapes of its answers, odd and overlong
texts, stability, sense, and conduct: input overwritten after a call, a minute of
calls with memory flat and under its ceiling, four callers at once, deadlines, and a
crash under load where the model runs as a process. Speed is reported beside the
built-in model's, not judged. The exit code is 1 when a check failed.
` + modelFlagsHelp + `

--golden holds the model to answers of a reference, a JSON file (or a folder of such):
{"embedding": [{"text": "...", "query": true, "vector": [0.1, ...]}],
 "sparse": [{"text": "...", "terms": {"2003": 1.2}}],
 "rerank": [{"query": "...", "text": "...", "score": 0.97}], "tolerance": 0.03}
A model folder's own folder golden is read without being asked for.`,
		Example: `  mneme models check
  mneme models check ./acme
  mneme models check ./acme.wasm --golden vectors.json --format junit --out report.xml
  mneme models check builtin:rerank-small --quick --json
  mneme models check --process ./backend -- --weights model.bin`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON {
				format = string(modelkit.JSON)
			}
			if !slices.Contains([]modelkit.Format{modelkit.Text, modelkit.JSON, modelkit.JUnit}, modelkit.Format(format)) {
				return usage("--format is text, json or junit")
			}
			if !(minCosine >= 0 && minCosine <= 1) {
				return usage("--min-cosine is between 0 and 1")
			}
			cfg, all, err := c.selectModels(cmd.Context(), ch, args)
			if err != nil {
				return err
			}
			answers, err := goldenFiles(golden)
			if err != nil {
				return err
			}
			switch {
			case !cmd.Flags().Changed("long-run") && quick:
				longRun = quickRun
			case longRun <= 0:
				return usage("--long-run is a duration such as 10m")
			}
			watch := newWatcher(c.stderr)
			var reports []modelkit.Report
			failed := 0
			for _, one := range all {
				if answers != nil {
					one.golden = answers
				}
				candidate := func(one selectedModel) modelkit.Candidate {
					return modelkit.Candidate{
						Name:      one.name,
						Open:      c.opener(cfg, one),
						Golden:    one.golden,
						MinCosine: minCosine,
						Baseline:  c.baseline(cfg, one),
						Variants:  c.variants(cfg, one),
						Endure:    longRun,
						Settle:    4 * max(longRun, quickRun),
						Memory:    one.memory(),
						Break:     one.crash(),
						Progress:  func(s modelkit.Step) { watch.step(one.name, s) },
					}
				}
				r := modelkit.Check(cmd.Context(), candidate(one))
				if again, ok := c.withoutMTLS(ch, args, r); ok {
					one.Selection = again.Selection
					r = modelkit.Check(cmd.Context(), candidate(one))
				}
				watch.end()
				if out != "" || format == string(modelkit.Text) {
					if err := modelkit.Write(c.stdout, modelkit.Text, r); err != nil {
						return err
					}
				}
				reports, failed = append(reports, r), failed+r.Failed()
				if err := cmd.Context().Err(); err != nil {
					return err
				}
			}
			if err := c.report(out, modelkit.Format(format), reports); err != nil {
				return err
			}
			if failed > 0 {
				return errReported
			}
			return nil
		},
	}
	ch.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&golden, "golden", "", "file or folder of expected answers")
	f.Float64Var(&minCosine, "min-cosine", 0, "how near vectors must be to the golden ones (default 0.99)")
	f.StringVar(&format, "format", string(modelkit.Text), "text, json or junit")
	f.BoolVar(&asJSON, "json", false, "the same as --format json")
	f.StringVar(&out, "out", "", "write the report to this file, and text to standard output")
	f.DurationVar(&longRun, "long-run", time.Minute, "how long each task is called on end")
	f.BoolVar(&quick, "quick", false, "the same as --long-run "+quickRun.String())
	return cmd
}

// withoutMTLS is the backend to try again with mtls off, if it did not start and no flag
// says whether it uses mtls.
func (c *command) withoutMTLS(ch modelFlags, args []string, r modelkit.Report) (selectedModel, bool) {
	if ch.process == "" || ch.mtls != "" || len(r.Findings) != 1 || r.Failed() != 1 {
		return selectedModel{}, false
	}
	ch.mtls = "off"
	one, err := c.backendModel(ch, args)
	return one, err == nil
}

// report writes the reports to a file, or to standard output where they are not
// there already.
func (c *command) report(out string, format modelkit.Format, reports []modelkit.Report) error {
	if out == "" {
		if format == modelkit.Text {
			return nil
		}
		return modelkit.Write(c.stdout, format, reports...)
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	return joinErrors(modelkit.Write(f, format, reports...), f.Close())
}

// goldenFiles is a folder, or a folder of one file; nil for "".
func goldenFiles(name string) (fs.FS, error) {
	if name == "" {
		return nil, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return os.DirFS(name), nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if _, err := modelkit.ParseGolden(b); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return fstest.MapFS{"golden.json": {Data: b}}, nil
}

// watcher shows the current step of a check: a line that changes on a terminal, a line for
// each long step elsewhere.
type watcher struct {
	p     *progress
	w     io.Writer
	shown map[string]bool
	last  int
}

func newWatcher(w io.Writer) *watcher {
	return &watcher{p: newProgress(w), w: w, shown: map[string]bool{}}
}

func (w *watcher) step(model string, s modelkit.Step) {
	text := model + ": " + s.Name
	if !w.p.tty {
		if key := text; s.Of > 0 && !w.shown[key] {
			w.shown[key] = true
			fmt.Fprintf(w.w, "%s, %s\n", text, s.Of.Round(time.Second))
		}
		return
	}
	if s.Of > 0 {
		text += fmt.Sprintf(", %s of %s", s.Done.Round(time.Second), s.Of.Round(time.Second))
	}
	fmt.Fprintf(w.w, "\r%-*s", w.last, text)
	w.last = len(text)
}

// end takes the line away.
func (w *watcher) end() {
	if w.p.tty && w.last > 0 {
		fmt.Fprintf(w.w, "\r%-*s\r", w.last, "")
		w.last = 0
	}
}
