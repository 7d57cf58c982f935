package cli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/modelcheck"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/wasm/host"
	"github.com/mnemehq/mneme/wasm/models"
	"github.com/mnemehq/mneme/wasm/models/pack"
)

func (c *command) modelsCommand() *cobra.Command {
	return parent("models", "List, pack and check models", c.modelsListCommand(), c.modelsPackCommand(), c.modelsCheckCommand())
}

func (c *command) modelsListCommand() *cobra.Command {
	var t target
	var asJSON, built bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the models of a server or of the configuration",
		Long:    "List the models of a server or of the configuration, or with --builtin those that\nthis program carries and any configuration may name.\n" + connectHelp,
		Example: "  mneme models list\n  mneme models list --builtin\n  mneme models list --config mneme.yaml --json", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if built {
				return c.listBuiltin(asJSON)
			}
			cl, done, err := c.connect(cmd.Context(), "models list", t)
			if err != nil {
				return err
			}
			var list model.List
			if err := cl.Do(cmd.Context(), http.MethodGet, "/models", nil, &list); err != nil {
				return joined(err, done())
			}
			if asJSON {
				return joined(printJSON(c.stdout, list), done())
			}
			var rows [][]string
			for _, m := range list.Models {
				dim := ""
				if m.Dimensions != nil {
					dim = strconv.Itoa(*m.Dimensions)
				}
				isDefault := ""
				if m.Default {
					isDefault = "yes"
				}
				rows = append(rows, []string{m.ID, m.Kind, m.Status, isDefault, dim, strconv.Itoa(m.MaxInputTokens), m.Runtime, m.License, short(m.Digest)})
			}
			return joined(table(c.stdout, []string{"ID", "KIND", "STATUS", "DEFAULT", "DIM", "TOKENS", "RUNTIME", "LICENSE", "DIGEST"}, rows), done())
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&built, "builtin", false, "list the models inside this program")
	return cmd
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
		list = append(list, builtinModel{name, s.Version, s.Task, s.Bytes, s.Licence, host.Module{Wasm: s.Wasm, Config: s.Config, Assets: s.Assets}.Digest()})
	}
	if asJSON {
		return printJSON(c.stdout, struct {
			Models []builtinModel `json:"models"`
		}{list})
	}
	var rows [][]string
	for _, m := range list {
		rows = append(rows, []string{m.Module, string(m.Task), fmt.Sprintf("%.1f MB", float64(m.Bytes)/1e6), m.Licence, short(m.Digest)})
	}
	return table(c.stdout, []string{"MODULE", "TASK", "SIZE", "LICENSE", "DIGEST"}, rows)
}

// short is enough of a digest to tell models apart.
func short(digest string) string {
	algorithm, hex, _ := strings.Cut(digest, ":")
	return algorithm + ":" + hex[:min(12, len(hex))]
}

func (c *command) modelsPackCommand() *cobra.Command {
	var o pack.Options
	var out, query, passage, task string
	var calibration []float64
	cmd := &cobra.Command{
		Use:   "pack DIR --out FILE",
		Short: "Pack a checkpoint folder into one file of int8 weights",
		Long: `Pack a Hugging Face style checkpoint of a BERT-family model (config.json, vocab.txt
or tokenizer.json, and model.safetensors or an ONNX file) into one safetensors file
with int8 weights, a scale for each output row and everything that running it
needs. Equal input gives equal bytes. Use it with
models: {mine: {wasm: {module: FILE}}}.

The task is read off the checkpoint's weights: a masked-language-model head makes a
learned-sparse encoder (SPLADE), a classifier of one label a reranker, with the
pooler where there is one, and anything else an embedding model.`,
		Example: `  mneme models pack ./bge-small-en-v1.5 --out bge-small-en-v1.5.safetensors --licence MIT --pooling cls
  mneme models pack ./e5-small-v2 --out e5.safetensors --query-prefix "query: " --passage-prefix "passage: "
  mneme models pack ./splade --task sparse --terms 128 --out splade.safetensors
  mneme models pack ./ms-marco-MiniLM --task rerank --out cross-encoder.safetensors`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usage("models pack needs --out: the file to write")
			}
			optional(cmd.Flags().Changed("query-prefix"), &o.QueryPrefix, query)
			optional(cmd.Flags().Changed("passage-prefix"), &o.PassagePrefix, passage)
			o.Task = pack.Task(task)
			if len(calibration) != 0 {
				if len(calibration) != 2 {
					return usage("--calibration takes two numbers, a scale and a bias: --calibration 2.5,-1")
				}
				o.Calibration = &pack.Calibration{Scale: calibration[0], Bias: calibration[1]}
			}
			p, err := pack.Pack(cmd.Context(), args[0], out, o)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.stdout, "%s: %s %s, %s, %d layers, %d dimensions, window of %d tokens, licence %s\n",
				out, p.Name, p.Version, packedFor(p), p.Layers, p.Hidden, p.MaxTokens, p.Licence)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "file to write (required)")
	f.StringVar(&o.Name, "name", "", "model's name (default: the folder's)")
	f.StringVar(&o.Version, "version", "", "model's version (default 1)")
	f.StringVar(&o.Licence, "licence", "", "SPDX expression (default NOASSERTION)")
	f.StringVar(&o.Source, "source", "", "where the checkpoint came from, for the record")
	f.StringSliceVar(&o.Languages, "languages", nil, "BCP 47 tags, e.g. en,de")
	f.StringVar(&task, "task", "", "embedding, sparse or rerank (default: what the checkpoint's weights are for)")
	f.IntVar(&o.Terms, "terms", 0, "task sparse: most terms kept of a passage (default 128)")
	f.IntVar(&o.QueryTerms, "query-terms", 0, "task sparse: most terms kept of a query (default all)")
	f.Float64SliceVar(&calibration, "calibration", nil, "task rerank: scale,bias of the score before the sigmoid (default: what the checkpoint says, else 1,0)")
	f.StringVar(&o.Pooling, "pooling", "", "mean or cls (default: what the checkpoint says, else mean)")
	f.IntVar(&o.MaxTokens, "max-tokens", 0, "window in tokens (default: what the checkpoint says)")
	f.IntVar(&o.Heads, "heads", 0, "attention heads (default: what the checkpoint says)")
	f.StringVar(&query, "query-prefix", "", "put before queries (default: what the checkpoint says)")
	f.StringVar(&passage, "passage-prefix", "", "put before passages (default: what the checkpoint says)")
	return cmd
}

// packedFor says what a pack does and how.
func packedFor(c pack.Config) string {
	switch c.Does() {
	case pack.Sparse:
		return fmt.Sprintf("sparse of at most %d terms", c.Terms)
	case pack.Rerank:
		return fmt.Sprintf("rerank with head %s", c.Head)
	}
	return fmt.Sprintf("%s with %s pooling", c.Does(), c.Pooling)
}

func (c *command) modelsCheckCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [MODULE]",
		Short: "Check that models keep the promises of their ports",
		Long: `Open a model that embeds, encodes learned-sparse vectors or reranks, and check its
description, the shapes of its answers, odd and overlong texts, stability, sense,
cancellation and parallel calls. Speed is reported, not judged. MODULE is a pack, a
folder with a model.json or builtin:NAME; without it the models of the
configuration's roles embed, sparse and rerank are checked.`,
		Example: "  mneme models check\n  mneme models check ./bge-small-en-v1.5.safetensors\n  mneme models check builtin:rerank-small --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.checkedConfig(args)
			if err != nil {
				return err
			}
			names := roles(cfg)
			if len(names) == 0 {
				return usage("the roles embed, sparse and rerank are off in this configuration; name a MODULE")
			}
			var reports []modelcheck.Report
			failed := 0
			for _, name := range names {
				report, err := c.checkModel(cmd.Context(), cfg, name)
				if err != nil {
					return err
				}
				if !asJSON {
					c.printFindings(report)
				}
				reports, failed = append(reports, report), failed+report.Failed()
			}
			if asJSON {
				err = printJSON(c.stdout, struct {
					Reports []modelcheck.Report `json:"reports"`
				}{reports})
			}
			if err == nil && failed > 0 {
				return errReported
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) checkModel(ctx context.Context, cfg *configs.Config, name string) (report modelcheck.Report, err error) {
	env := registry.Env{Log: c.logger(cfg.Log), CacheDir: app.CacheDir(cfg), Name: name}
	m, err := c.registry.Model.Open(ctx, cfg.Models[name], env)
	if err != nil {
		return report, err
	}
	defer func() { err = joined(err, m.Close()) }()
	return modelcheck.Check(ctx, m)
}

// roles are the models that the configuration uses, each once.
func roles(cfg *configs.Config) []string {
	var names []string
	for _, name := range []string{cfg.Roles.Embed, cfg.Roles.Sparse, cfg.Roles.Rerank} {
		if name != configs.Off && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// checkedConfig is the configuration, or one with the module of the arguments
// as its model.
func (c *command) checkedConfig(args []string) (*configs.Config, error) {
	cfg, err := c.quiet()
	if err != nil || len(args) == 0 {
		return cfg, err
	}
	wasm, ok := c.registry.Model.Component("wasm")
	if !ok {
		return nil, fmt.Errorf("this binary runs no modules: it has no model component wasm")
	}
	s, err := configs.Set(wasm, map[string]string{"module": args[0]})
	if err != nil {
		return nil, err
	}
	cfg.Models = map[string]registry.Selection{"checked": s}
	cfg.Roles.Embed, cfg.Roles.Sparse, cfg.Roles.Rerank = "checked", configs.Off, configs.Off
	return cfg, nil
}

func (c *command) printFindings(r modelcheck.Report) {
	var tasks []string
	for _, t := range r.Model.Tasks {
		tasks = append(tasks, string(t))
	}
	dimensions := ""
	if r.Model.Dimensions > 0 {
		dimensions = plural(r.Model.Dimensions, "dimension") + ", "
	}
	fmt.Fprintf(c.stdout, "%s %s, %s, %s, %swindow of %d tokens\n", r.Model.Name, r.Model.Version, strings.Join(tasks, " and "), short(r.Model.Digest), dimensions, r.Model.MaxTokens)
	for _, f := range r.Findings {
		if f.OK() {
			fmt.Fprintf(c.stdout, "ok    %s: %s\n", f.ID, f.Expect)
		} else {
			fmt.Fprintf(c.stdout, "FAIL  %s: %s; saw %s\n", f.ID, f.Expect, oneLine(f.Saw, 300))
		}
	}
	speed := ""
	if r.Speed.QueryMS > 0 {
		speed += fmt.Sprintf("; %.1f ms a query, %.0f passages of 120 word pieces a second", r.Speed.QueryMS, r.Speed.PassagesPerSecond)
	}
	if r.Speed.RerankMS > 0 {
		speed += fmt.Sprintf("; %.1f ms to rerank 20 passages of 120 word pieces", r.Speed.RerankMS)
	}
	fmt.Fprintf(c.stdout, "%d of %s failed%s\n", r.Failed(), plural(len(r.Findings), "check"), speed)
}
