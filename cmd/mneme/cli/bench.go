package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/bench"
	"github.com/mnemehq/mneme/cmd/mneme/internal/evaluate"
	"github.com/mnemehq/mneme/configs"
)

// benchReport is what bench writes as JSON.
type benchReport struct {
	Build    build          `json:"build"`
	Time     time.Time      `json:"time"`
	CPUs     int            `json:"cpus"`
	Settings map[string]any `json:"settings"`
	Sets     []bench.Result `json:"sets"`
}

// benchFlags are the flags of bench.
type benchFlags struct {
	bench.Comparison
	configs, urls []string
	vectors       string
	dataset, out  string
	documents     int
}

func (c *command) benchCommand() *cobra.Command {
	var b benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Run one workload over several sets of backends and compare them",
		Long: `Run the same writes and queries over each set of backends and print throughput,
latency, processor time, memory and disk of each, and the ratios to the first one.

A set is a configuration file (--config, or --config NAME=FILE; repeat it), for which
a server is started on a folder of its own, or a server that runs already (--url,
repeatable, with --key). Without either it is the embedded default. In PostgreSQL
everything is in a schema of its own, and in Meilisearch and OpenSearch in an index of
its own, so that a database in use can be measured; folder, schema and index are removed
afterwards (Meilisearch: with an API key that has the action indexes.delete). Sets are measured one after another.

--vectors synthetic gives texts vectors made from their words at next to no cost,
so that storage and indexes are measured; --vectors models uses the configured models.
Texts are generated, or those of a test collection in BEIR's layout (--dataset).
AGREES is the share of the first set's answers that this set gives too; a set that
compares every vector, as the embedded index does, thus tells the recall of the
others. CPU is processor time of the server and of a PostgreSQL on this machine:
on a busy machine trust it, and ratios, more than the clock.`,
		Example: `  mneme bench
  mneme bench --config embedded.yaml --config postgres.yaml --documents 100000
  mneme bench --config embedded.yaml --config pg=postgres.yaml --vectors models --dataset data/eval/scifact --rerank
  mneme bench --url https://memory.example.org --key mk_... --documents 1000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.bench(cmd.Context(), &b) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&b.configs, "config", nil, "a set of backends, FILE or NAME=FILE; repeat it for more")
	f.StringArrayVar(&b.urls, "url", nil, "a running server, URL or NAME=URL, as a set; repeat it for more")
	f.StringVar(&b.Key, "key", "", "API key of the servers of --url (MNEME_KEY)")
	f.StringVar(&b.vectors, "vectors", string(bench.SyntheticVectors), "synthetic or models; servers of --url use their models")
	f.IntVar(&b.Dimensions, "dimensions", 384, "dimensions of synthetic vectors")
	f.StringVar(&b.dataset, "dataset", "", "folder of a test collection; default: generated texts")
	f.IntVar(&b.documents, "documents", 0, "documents to write (default 10000 generated ones, or all of --dataset)")
	f.IntVar(&b.Namespaces, "namespaces", 1, "namespaces that the documents are spread over")
	f.IntVar(&b.Batch, "batch", 100, "documents of a write")
	f.IntVar(&b.Writers, "writers", 4, "writes at once")
	f.IntVar(&b.Queries, "queries", 500, "queries of each kind, at each concurrency")
	f.IntVar(&b.Warmup, "warm-up", 50, "queries before them that are not measured")
	f.IntVar(&b.TopK, "top-k", 10, "chunks that a query asks for")
	f.IntSliceVar(&b.Concurrency, "concurrency", []int{1, 8}, "queries at once")
	f.DurationVar(&b.Settle, "settle", 5*time.Second, "pause between writes and queries, in which indexes are built and merged")
	f.BoolVar(&b.Sparse, "sparse", false, "write with the learned-sparse index, and search it")
	f.BoolVar(&b.Rerank, "rerank", false, "measure reranked queries, too; with --vectors models")
	f.Uint64Var(&b.Seed, "seed", 1, "of generated texts, synthetic vectors and the order of queries")
	f.BoolVar(&b.Keep, "keep", false, "leave folders, schemas and documents as they are")
	f.StringVar(&b.Folder, "work", "", "folder for the servers' data (default: a temporary one)")
	f.StringVar(&b.out, "json", "", "write the report as JSON to this file; - prints it instead of the tables")
	cmd.AddCommand(c.benchServerCommand())
	return cmd
}

func (b *benchFlags) check() error {
	b.Vectors = bench.Vectors(b.vectors)
	if b.vectors == "ready" { // its name in earlier versions
		b.Vectors = bench.SyntheticVectors
	}
	if !b.Vectors.Known() {
		return usage("--vectors must be synthetic or models")
	}
	if b.Rerank && b.Vectors == bench.SyntheticVectors && len(b.urls) == 0 {
		return usage("--rerank needs --vectors models: a reranker reads texts")
	}
	if b.Dimensions < 8 || b.Dimensions > 4096 {
		return usage("--dimensions must be 8 to 4096")
	}
	for _, n := range []struct {
		flag        string
		value       int
		least, most int
	}{{"documents", b.documents, 0, 100_000_000}, {"namespaces", b.Namespaces, 1, 100_000}, {"batch", b.Batch, 1, 100},
		{"writers", b.Writers, 1, 256},
		{"queries", b.Queries, 1, 1_000_000}, {"warm-up", b.Warmup, 0, 1_000_000}, {"top-k", b.TopK, 1, 100}} {
		if n.value < n.least || n.value > n.most {
			return usage("--%s must be %d to %d", n.flag, n.least, n.most)
		}
	}
	if len(b.Concurrency) == 0 || slices.Min(b.Concurrency) < 1 || slices.Max(b.Concurrency) > 1024 {
		return usage("--concurrency must be numbers from 1 to 1024")
	}
	return nil
}

func (b *benchFlags) workload() (*bench.Workload, error) {
	if b.dataset == "" {
		if b.documents == 0 {
			b.documents = 10_000
		}
		return bench.Generate(b.documents, min(b.Queries+b.Warmup, 10_000), b.Seed), nil
	}
	collection, err := evaluate.Load(b.dataset, evaluate.TitleHeading)
	if err != nil {
		return nil, err
	}
	return bench.FromCollection(collection, b.documents)
}

// sets lists the sets that the flags name.
func (b *benchFlags) sets() []bench.Set {
	split := func(s string) (name, rest string) {
		if name, rest, ok := strings.Cut(s, "="); ok && name != "" && !strings.ContainsAny(name, "/:") {
			return name, rest
		}
		return "", s
	}
	var all []bench.Set
	for _, s := range b.configs {
		name, file := split(s)
		if name == "" {
			name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		}
		all = append(all, bench.Set{Name: name, File: file})
	}
	for _, s := range b.urls {
		name, url := split(s)
		if name == "" {
			name = url
		}
		all = append(all, bench.Set{Name: name, URL: url})
	}
	if len(all) == 0 {
		all = append(all, bench.Set{Name: "embedded"})
	}
	return all
}

func (c *command) bench(ctx context.Context, b *benchFlags) (err error) {
	if err := b.check(); err != nil {
		return err
	}
	if b.Key == "" {
		b.Key = os.Getenv("MNEME_KEY")
	}
	if len(b.urls) > 0 && b.Key == "" {
		return usage("a server at --url needs a key: give --key or MNEME_KEY")
	}
	w, err := b.workload()
	if err != nil {
		return err
	}
	if b.Folder == "" {
		if b.Folder, err = os.MkdirTemp("", "mneme-bench-"); err != nil {
			return fmt.Errorf("make a folder: %w", err)
		}
		if !b.Keep {
			defer func() { err = joinErrors(err, os.RemoveAll(b.Folder)) }()
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	bar := newProgress(c.stderr)
	b.Sets, b.Registry, b.Command = b.sets(), c.registry, []string{self, "bench", "server"}
	b.LogLevel, b.Stderr = c.logLevel, c.stderr
	b.Report = func(set, stage string, done, total int) { bar.update(set+": "+stage, done, total) }
	report := benchReport{
		Build: thisBuild(),
		Time:  time.Now().UTC().Truncate(time.Second),
		CPUs:  runtime.GOMAXPROCS(0),
		Settings: map[string]any{
			"workload":   w.Name,
			"documents":  len(w.Documents),
			"vectors":    b.Vectors,
			"dimensions": b.Dimensions,
			"namespaces": b.Namespaces,
			"batch":      b.Batch,
			"writers":    b.Writers,
			"queries":    b.Queries,
			"top_k":      b.TopK,
			"sparse":     b.Sparse,
			"seed":       b.Seed,
			"settle":     b.Settle.String(),
		},
	}
	var leftover error
	report.Sets, leftover = b.Run(ctx, w)
	bar.end()
	if len(report.Sets) < len(b.Sets) {
		return leftover
	}
	switch {
	case b.out == "-":
		err = printJSON(c.stdout, report)
	case b.out != "":
		if err = writeReport(b.out, report); err == nil {
			err = c.printBenchReport(report)
		}
	default:
		err = c.printBenchReport(report)
	}
	return joinErrors(err, leftover)
}

// benchServerCommand is the server of a set, started by bench.
func (c *command) benchServerCommand() *cobra.Command {
	return &cobra.Command{
		Use: "server", Short: "The server of one set", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var o bench.ServerOptions
			if err := json.Unmarshal([]byte(args[0]), &o); err != nil {
				return usage("the options of the server cannot be read: %v", err)
			}
			return bench.Serve(cmd.Context(), c.registry, o, c.stdin, c.stdout,
				func(ctx context.Context, cfg *configs.Config) (*app.App, error) {
					return c.openApp(ctx, "bench", cfg)
				})
		},
	}
}

// printBenchReport prints a table of writes and one of queries, each figure with
// its ratio to the first set's.
func (c *command) printBenchReport(report benchReport) error {
	first := report.Sets[0]
	cell := func(format string, v, base float64, isFirst bool) string {
		switch {
		case v == 0:
			return ""
		case isFirst || base == 0:
			return fmt.Sprintf(format, v)
		}
		return fmt.Sprintf(format+" (x%.2f)", v, v/base)
	}
	mb := func(n int64) float64 { return float64(n) / 1e6 }
	var rows [][]string
	for i, r := range report.Sets {
		in, base := r.Ingest, first.Ingest
		perThousand := func(x bench.Ingest) float64 {
			return 1e6 * (x.ServerCPU + x.DatabaseCPU) / float64(max(x.Chunks, 1))
		}
		rows = append(rows, []string{r.Name, fmt.Sprint(in.Documents), fmt.Sprint(in.Chunks),
			cell("%.0f", in.PerSecond, base.PerSecond, i == 0), cell("%.0f", in.ChunksPerSec, base.ChunksPerSec, i == 0),
			cell("%.1f", in.Call.P50, base.Call.P50, i == 0), cell("%.1f", in.Call.P99, base.Call.P99, i == 0),
			cell("%.0f", perThousand(in), perThousand(base), i == 0),
			cell("%.0f", mb(r.Usage.ServerMemory), mb(first.Usage.ServerMemory), i == 0),
			cell("%.0f", mb(r.Usage.DatabaseMemory), 0, true),
			cell("%.0f", mb(r.Usage.Folder+r.Usage.Database), mb(first.Usage.Folder+first.Usage.Database), i == 0),
			cell("%.0f", mb(in.WAL), 0, true)})
	}
	if err := table(c.stdout, []string{"WRITES", "DOCS", "CHUNKS", "DOCS/S", "CHUNKS/S", "CALL P50 MS", "P99",
		"CPU MS/1000 CHUNKS", "SERVER MB", "DATABASE MB", "DISK MB", "WAL MB"}, rows); err != nil {
		return err
	}
	fmt.Fprintln(c.stdout)
	rows = nil
	for j, run := range first.Runs {
		for i, r := range report.Sets {
			if j >= len(r.Runs) {
				continue
			}
			q := r.Runs[j]
			share := func(v *float64, format string) string {
				if v == nil {
					return ""
				}
				return fmt.Sprintf(format, *v)
			}
			rows = append(rows, []string{run.Mode, fmt.Sprint(run.Concurrency), r.Name,
				cell("%.2f", q.Latency.P50, run.Latency.P50, i == 0),
				cell("%.2f", q.Latency.P95, run.Latency.P95, i == 0), cell("%.2f", q.Latency.P99, run.Latency.P99, i == 0),
				cell("%.0f", q.PerSecond, run.PerSecond, i == 0),
				cell("%.2f", q.ServerCPU+q.DatabaseCPU, run.ServerCPU+run.DatabaseCPU, i == 0),
				cell("%.2f", q.DatabaseCPU, 0, true),
				share(q.NDCG10, "%.4f"), share(q.Agreement, "%.4f")})
		}
	}
	return table(c.stdout, []string{"QUERY", "AT ONCE", "SET", "P50 MS", "P95", "P99", "PER SECOND", "CPU MS",
		"OF THE DATABASE", "NDCG@10", "AGREES"}, rows)
}
