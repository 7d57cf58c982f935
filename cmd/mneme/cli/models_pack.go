package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/pull"
	"github.com/mnemehq/mneme/wasm/models"
	"github.com/mnemehq/mneme/wasm/models/pack"
)

func (c *command) modelsPackCommand() *cobra.Command {
	var o pack.Options
	var out, query, passage, task, install string
	var calibration []float64
	var replace bool
	var r releaseFlags
	cmd := &cobra.Command{
		Use:   "pack DIR",
		Short: "Pack a vendor's model for its release, or a checkpoint into one file of int8 weights",
		Long: `Pack a vendor's folder, one with a sealed model.json, into the zip archive of a
release: what the model.json lists, and licences and notices beside it. Sources, the SDK
and golden answers stay behind. Equal files give equal bytes. The entry of a catalogue,
from which models pull installs it, is printed, or put into the file that --catalogue
names. models check takes the archive as well.

Or pack a Hugging Face style checkpoint of BERT, DistilBERT, RoBERTa, CamemBERT,
XLM-RoBERTa, MPNet, ModernBERT, Nomic's BERT, GTE, EuroBERT, or of an embedder over
Qwen2, Qwen3 or Gemma 3 (config.json, tokenizer.json or vocab.txt, and model.safetensors
or an ONNX file) into one safetensors file with int8 weights, a scale for each output
row and everything that running it needs. Equal input gives equal bytes. Use it with
models: {mine: {wasm: {module: FILE}}}.

Pooling, prompts, window and layers behind the pooling are read off sentence-transformers'
files beside the checkpoint. --dimensions keeps the first values of each vector, of models
that were trained to be cut so (Matryoshka).

The task is read off the checkpoint's weights: a masked-language-model head makes a
learned-sparse encoder (SPLADE), a classifier of one label a reranker, with the
pooler where there is one, a projection of each state (ColBERT, PyLate) a reranker
by late interaction, and anything else an embedding model.`,
		Example: `  mneme models pack ./acme --catalogue catalogue.yaml --at https://models.acme.example --sign acme.key
  mneme models pack ./bge-small-en-v1.5 --install bge-small-en-v1.5 --licence MIT
  mneme models pack ./bge-small-en-v1.5 --out bge-small-en-v1.5.safetensors --licence MIT --pooling cls
  mneme models pack ./e5-small-v2 --out e5.safetensors --query-prefix "query: " --passage-prefix "passage: "
  mneme models pack ./multilingual-e5-small --install e5-multi --query-prefix "query: " --passage-prefix "passage: "
  mneme models pack ./Qwen3-Embedding-0.6B --install qwen3-embed --licence Apache-2.0 --dimensions 512
  mneme models pack ./splade --task sparse --terms 128 --out splade.safetensors
  mneme models pack ./ms-marco-MiniLM --task rerank --out cross-encoder.safetensors`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if isVendors(args[0]) {
				r.listing.Source = o.Source
				return c.packRelease(cmd, args[0], out, r)
			}
			if r != (releaseFlags{}) {
				return usage("--catalogue, --at, --summary and --sign are for a folder with a %s, and %s has none",
					models.ManifestFile, args[0])
			}
			if (out == "") == (install == "") {
				return usage("models pack needs --out: the file to write, or --install: the name to install it under")
			}
			setIfGiven(cmd.Flags().Changed("query-prefix"), &o.QueryPrefix, query)
			setIfGiven(cmd.Flags().Changed("passage-prefix"), &o.PassagePrefix, passage)
			o.Task = pack.Task(task)
			if len(calibration) != 0 {
				if len(calibration) != 2 {
					return usage("--calibration takes two numbers, a scale and a bias: --calibration 2.5,-1")
				}
				o.Calibration = &pack.Calibration{Scale: calibration[0], Bias: calibration[1]}
			}
			if install != "" {
				return c.packInto(cmd.Context(), args[0], install, o, replace)
			}
			p, err := pack.Pack(cmd.Context(), args[0], out, o)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.stdout, "%s: %s %s, %s, %d layers, %d dimensions, window of %d tokens, licence %s\n",
				out, p.Name, p.Version, describePack(p), p.Layers, p.Width(), p.MaxTokens, p.Licence)
			return err
		},
	}
	r.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "file to write (vendor's model: NAME-VERSION.zip unless given)")
	f.StringVar(&install, "install", "", "install the pack in the data folder under this name, for module: installed:NAME")
	f.BoolVar(&replace, "replace", false, "with --install: replace another model that is installed under the name")
	f.StringVar(&o.Name, "name", "", "model's name (default: the folder's)")
	f.StringVar(&o.Version, "version", "", "model's version (default 1)")
	f.StringVar(&o.Licence, "licence", "", "SPDX expression (default NOASSERTION)")
	f.StringVar(&o.Source, "source", "",
		"where the checkpoint came from, for the record; vendor's model: where people read about it")
	f.StringSliceVar(&o.Languages, "languages", nil, "BCP 47 tags, e.g. en,de")
	f.StringVar(&task, "task", "", "embedding, sparse or rerank (default: what the checkpoint's weights are for)")
	f.IntVar(&o.Terms, "terms", 0, "task sparse: most terms kept of a passage (default 128)")
	f.IntVar(&o.QueryTerms, "query-terms", 0, "task sparse: most terms kept of a query (default all)")
	f.Float64SliceVar(&calibration, "calibration", nil,
		"task rerank: scale,bias of the score before the sigmoid (default: what the checkpoint says, else 1,0)")
	f.StringVar(&o.Pooling, "pooling", "", "mean, cls or last (default: what the checkpoint says, else mean)")
	f.IntVar(&o.Dimensions, "dimensions", 0, "task embedding: how many of a vector's first values are kept (default all)")
	f.IntVar(&o.MaxTokens, "max-tokens", 0,
		"window in tokens (default: what the checkpoint says, with rotary positions at most 2048)")
	f.IntVar(&o.Heads, "heads", 0, "attention heads (default: what the checkpoint says)")
	f.StringVar(&query, "query-prefix", "", "put before queries (default: what the checkpoint says)")
	f.StringVar(&passage, "passage-prefix", "", "put before passages (default: what the checkpoint says)")
	return cmd
}

// packInto packs a checkpoint and installs the pack in the data folder.
func (c *command) packInto(ctx context.Context, dir, name string, o pack.Options, replace bool) (err error) {
	if err := models.CheckName(name); err != nil {
		return usage("%v", err)
	}
	cfg, err := c.loadQuiet()
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "mneme-pack-")
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, os.RemoveAll(temp)) }()
	if o.Name == "" {
		o.Name = name
	}
	file := filepath.Join(temp, models.PackFile)
	if _, err := pack.Pack(ctx, dir, file, o); err != nil {
		return err
	}
	store := c.modelStore(cfg)
	store.Replace = replace
	in, err := store.Adopt(ctx, name, pull.Installed{Source: o.Source}, file)
	if errors.Is(err, pull.ErrOccupied) {
		return fmt.Errorf("%w; give another name, or --replace", err)
	}
	if err != nil {
		return err
	}
	return c.printPulled(in, false)
}

// describePack says what a pack does and how.
func describePack(c pack.Config) string {
	switch c.Does() {
	case pack.Sparse:
		return fmt.Sprintf("sparse of at most %d terms", c.Terms)
	case pack.Rerank:
		return fmt.Sprintf("rerank with head %s", c.Head)
	}
	return fmt.Sprintf("%s with %s pooling", c.Does(), c.Pooling)
}
