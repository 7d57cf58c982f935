package cli

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
	"github.com/mnemehq/mneme/cmd/mneme/internal/pull"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/wasm/host"
	"github.com/mnemehq/mneme/wasm/models"
	"github.com/mnemehq/mneme/wasm/models/pack"
)

func (c *command) modelsCommand() *cobra.Command {
	return parent("models", "List, pull, make and check models", c.modelsListCommand(), c.modelsPullCommand(),
		c.modelsRemoveCommand(),
		c.modelsCheckCommand(), c.modelsTryCommand(), c.modelsBenchCommand(), c.modelsInitCommand(), c.modelsSealCommand(),
		c.modelsPackCommand(), c.modelsKeygenCommand(), c.modelsSignCommand())
}

// listedModel is a configured model as models list shows it.
type listedModel struct {
	model.Model
	From   string `json:"from,omitempty"`   // the module, program or server that the configuration names
	Limits string `json:"limits,omitempty"` // that the configuration sets it
	Reason string `json:"reason,omitempty"` // why it is refused
}

func (c *command) modelsListCommand() *cobra.Command {
	var t target
	var asJSON, built, installed bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the models of a server or of the configuration, and the installed ones",
		Long: `List the models of a server or of the configuration, with where they come from and
their limits, and the models that are installed in the data folder. Without a server
each model of the configuration is opened; one that is refused says why.` + "\n" + connectHelp,
		Example: "  mneme models list\n  mneme models list --builtin\n  mneme models list --config mneme.yaml --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case built:
				return c.listBuiltin(asJSON)
			case installed:
				return c.listInstalled(asJSON)
			}
			list, packs, err := c.listModels(cmd.Context(), t)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.stdout, struct {
					Models    []listedModel    `json:"models"`
					Installed []pull.Installed `json:"installed"`
				}{list, packs})
			}
			return c.printModels(list, packs)
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&built, "builtin", false, "list the models inside this program")
	cmd.Flags().BoolVar(&installed, "installed", false, "list the models installed in the data folder")
	return cmd
}

// listModels asks the server, or where none runs opens each configured model by itself.
func (c *command) listModels(ctx context.Context, t target) ([]listedModel, []pull.Installed, error) {
	packs := []pull.Installed{}
	if t.url != "" || os.Getenv("MNEME_URL") != "" {
		list, err := c.servedModels(ctx, t, nil)
		return list, packs, err
	}
	cfg, err := c.loadQuiet()
	if err != nil {
		return nil, nil, err
	}
	if packs, err = c.modelStore(cfg).List(); err != nil {
		return nil, nil, err
	}
	if _, running, err := datadir.Running(cfg.DataDir); err != nil {
		return nil, nil, err
	} else if running {
		list, err := c.servedModels(ctx, t, cfg)
		return list, packs, err
	}
	var list []listedModel
	for _, name := range modelsInOrder(cfg) {
		list = append(list, c.describeModel(ctx, cfg, name)...)
	}
	return list, packs, ctx.Err()
}

// servedModels are those of a server; what cfg knows about them is added.
func (c *command) servedModels(ctx context.Context, t target, cfg *configs.Config) ([]listedModel, error) {
	cl, done, err := c.connect(ctx, "models list", t)
	if err != nil {
		return nil, err
	}
	var served model.List
	if err := cl.Do(ctx, http.MethodGet, "/models", nil, &served); err != nil {
		return nil, joinErrors(err, done())
	}
	list := []listedModel{}
	for _, m := range served.Models {
		one := listedModel{Model: m}
		if cfg != nil {
			one.From, one.Limits = c.aboutSelection(cfg.Models[m.ID])
		}
		list = append(list, one)
	}
	return list, done()
}

// describeModel opens a configured model and describes it, once for each of its tasks.
func (c *command) describeModel(ctx context.Context, cfg *configs.Config, name string) []listedModel {
	from, limits := c.aboutSelection(cfg.Models[name])
	m, err := c.openModel(ctx, cfg, name, cfg.Models[name])
	if err != nil {
		return []listedModel{{
			Model: model.Model{
				ID:        name,
				Kind:      "",
				Status:    "refused",
				Runtime:   cfg.Models[name].Component,
				Languages: []string{},
			},
			From:   from,
			Limits: limits,
			Reason: describe(err),
		}}
	}
	i := m.Info()
	defaults := map[port.Task]string{port.TaskEmbed: cfg.Roles.Embed, port.TaskSparse: cfg.Roles.Sparse,
		port.TaskRerank: cfg.Roles.Rerank, port.TaskSynthesize: cfg.Roles.Synthesize}
	var list []listedModel
	for _, task := range i.Tasks {
		one := listedModel{From: from, Limits: limits, Model: model.Model{
			ID:             name,
			Kind:           string(task),
			Status:         "ready",
			Default:        defaults[task] == name,
			MaxInputTokens: i.MaxTokens,
			Languages:      i.Languages,
			Runtime:        i.Runtime,
			Version:        i.Version,
			Digest:         i.Digest,
			License:        i.Licence,
		}}
		if one.Languages == nil {
			one.Languages = []string{}
		}
		if task == port.TaskEmbed {
			one.Dimensions = &i.Dimensions
		}
		list = append(list, one)
	}
	if err := m.Close(); err != nil {
		c.logger(cfg.Log).Warn("model close failed", "model", name, "error", err)
	}
	return list
}

// openModel opens a model alone, without the rest of the product.
func (c *command) openModel(ctx context.Context, cfg *configs.Config, name string, s registry.Selection) (port.Model, error) {
	cache, err := app.Cache(cfg, c.logger(cfg.Log))
	if err != nil {
		return nil, err
	}
	return c.registry.Model.Open(ctx, s, registry.Env{
		Log:      c.logger(cfg.Log),
		DataDir:  cfg.DataDir,
		CacheDir: cache,
		Name:     name,
		Now:      time.Now,
	})
}

// modelsInOrder are the configured models: those of roles first, then the rest by name.
func modelsInOrder(cfg *configs.Config) []string {
	names := append([]string{cfg.Roles.Embed, cfg.Roles.Sparse, cfg.Roles.Rerank, cfg.Roles.Synthesize}, cfg.Roles.Previous...)
	var order []string
	for _, name := range append(names, cfg.ModelNames()...) {
		if _, ok := cfg.Models[name]; ok && !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	return order
}

// roleModels are the models that embed, encode and rerank, each once.
func roleModels(cfg *configs.Config) []string {
	var names []string
	for _, name := range []string{cfg.Roles.Embed, cfg.Roles.Sparse, cfg.Roles.Rerank} {
		if name != configs.Off && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// aboutSelection is what the configuration says a model is, and its limits, in words.
func (c *command) aboutSelection(s registry.Selection) (from, limits string) {
	info, ok := c.registry.Model.Component(s.Component)
	if !ok {
		return "", ""
	}
	v := reflect.ValueOf(s.Config).Elem()
	var what, bounds []string
	for _, f := range info.Fields() {
		value := v.FieldByIndex(f.Index)
		if value.IsZero() {
			continue
		}
		switch f.Name {
		case "module", "manifest", "url", "base_url", "model":
			what = append(what, fmt.Sprint(value.Interface()))
		case "command":
			what = append(what, strings.Trim(fmt.Sprint(value.Interface()), "[]"))
		case "instances", "max_concurrency", "memory_mb", "timeout", "batch_texts":
			bounds = append(bounds, fmt.Sprintf("%s %v", f.Name, value.Interface()))
		}
	}
	return strings.TrimSpace(s.Component + " " + strings.Join(what, " ")), strings.Join(bounds, ", ")
}

func (c *command) printModels(list []listedModel, packs []pull.Installed) error {
	var rows [][]string
	for _, m := range list {
		dim, isDefault := "", ""
		if m.Dimensions != nil {
			dim = strconv.Itoa(*m.Dimensions)
		}
		if m.Default {
			isDefault = "yes"
		}
		tokens := ""
		if m.MaxInputTokens > 0 {
			tokens = strconv.Itoa(m.MaxInputTokens)
		}
		rows = append(rows, []string{m.ID, m.Kind, m.Status, isDefault, dim, tokens, m.Runtime, m.Version,
			m.License, shortDigest(m.Digest), m.Limits, oneLine(m.From, 80)})
	}
	if err := table(c.stdout, []string{"ID", "KIND", "STATUS", "DEFAULT", "DIM", "TOKENS", "RUNTIME",
		"VERSION", "LICENSE", "DIGEST", "LIMITS", "FROM"}, rows); err != nil {
		return err
	}
	refused := false
	for _, m := range list {
		if m.Reason != "" {
			refused = true
			fmt.Fprintf(c.stdout, "refused %s: %s\n", m.ID, oneLine(m.Reason, 600))
		}
	}
	if len(packs) > 0 {
		fmt.Fprintln(c.stdout)
		if err := c.printInstalled(packs); err != nil {
			return err
		}
	}
	if refused {
		return errReported
	}
	return nil
}

func (c *command) listInstalled(asJSON bool) error {
	cfg, err := c.loadQuiet()
	if err != nil {
		return err
	}
	packs, err := c.modelStore(cfg).List()
	if err != nil {
		return err
	}
	if asJSON {
		if packs == nil {
			packs = []pull.Installed{}
		}
		return printJSON(c.stdout, struct {
			Installed []pull.Installed `json:"installed"`
		}{packs})
	}
	return c.printInstalled(packs)
}

func (c *command) printInstalled(packs []pull.Installed) error {
	var rows [][]string
	for _, p := range packs {
		rows = append(rows, []string{p.Module, string(p.Task), p.Version, fmt.Sprintf("%.1f MB", float64(p.Bytes)/1e6),
			p.Licence, shortDigest(p.Digest), oneLine(p.Source, 80)})
	}
	if err := table(c.stdout, []string{"INSTALLED", "TASK", "VERSION", "SIZE", "LICENSE", "DIGEST", "SOURCE"}, rows); err != nil {
		return err
	}
	for _, p := range packs {
		if p.Problem != "" {
			fmt.Fprintf(c.stdout, "refused %s: %s\n", p.Module, oneLine(p.Problem, 600))
		}
	}
	return nil
}

// modelStore is the models of the data folder.
func (c *command) modelStore(cfg *configs.Config) pull.Store {
	return pull.Store{DataDir: cfg.DataDir, Free: disk.Free}
}

// builtinModel is a line of models list --builtin.
type builtinModel struct {
	Module  string    `json:"module"`
	Version string    `json:"version"`
	Task    pack.Task `json:"task"`
	Bytes   int       `json:"bytes"` // of its own weights
	Licence string    `json:"license"`
	Digest  string    `json:"digest"` // that namespaces made with it store
}

func (c *command) listBuiltin(asJSON bool) error {
	var list []builtinModel
	for _, name := range models.Builtin() {
		s, err := models.Open(name)
		if err != nil {
			return err
		}
		list = append(list, builtinModel{name, s.Version, s.Task, s.Bytes, s.Licence,
			host.Module{Wasm: s.Wasm, Config: s.Config, Assets: s.Assets}.Digest()})
	}
	if asJSON {
		return printJSON(c.stdout, struct {
			Models []builtinModel `json:"models"`
		}{list})
	}
	var rows [][]string
	for _, m := range list {
		rows = append(rows, []string{m.Module, string(m.Task), fmt.Sprintf("%.1f MB", float64(m.Bytes)/1e6), m.Licence,
			shortDigest(m.Digest)})
	}
	return table(c.stdout, []string{"MODULE", "TASK", "SIZE", "LICENSE", "DIGEST"}, rows)
}

// shortDigest is enough of a digest to tell models apart.
func shortDigest(digest string) string {
	algorithm, hex, ok := strings.Cut(digest, ":")
	if !ok {
		return digest
	}
	return algorithm + ":" + hex[:min(12, len(hex))]
}
