package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/bench"
	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/cmd/mneme/internal/evaluate"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// benchReport is what bench writes as JSON.
type benchReport struct {
	Build    build          `json:"build"`
	Time     time.Time      `json:"time"`
	CPUs     int            `json:"cpus"`
	Settings map[string]any `json:"settings"`
	Sets     []bench.Result `json:"sets"`
}

// benching is what the flags of bench say.
type benching struct {
	o                    bench.Options
	sets, urls           []string
	key, vectors         string
	dataset, work, out   string
	documents, dimension int
}

const (
	readyVectors = "ready"
	modelVectors = "models"
)

func (c *command) benchCommand() *cobra.Command {
	var b benching
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Run one workload over several sets of backends and compare them",
		Long: `Run the same writes and queries over each set of backends and print throughput,
latency, processor time, memory and disk of each, and the ratios to the first one.

A set is a configuration file (--config, or --config NAME=FILE; repeat it), for which
a server is started on a folder of its own, or a server that runs already (--url,
repeatable, with --key). Without either it is the embedded default. In PostgreSQL
everything is in a schema of its own, and in Meilisearch in an index of its own, so
that a database in use can be measured; folder, schema and documents are removed
afterwards. Sets are measured one after another.

--vectors ready gives texts vectors made from their words at next to no cost, so
that storage and indexes are measured; --vectors models uses the configured models.
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
	f.StringArrayVar(&b.sets, "config", nil, "a set of backends, FILE or NAME=FILE; repeat it for more")
	f.StringArrayVar(&b.urls, "url", nil, "a running server, URL or NAME=URL, as a set; repeat it for more")
	f.StringVar(&b.key, "key", "", "API key of the servers of --url (MNEME_KEY)")
	f.StringVar(&b.vectors, "vectors", readyVectors, "ready or models; servers of --url use their models")
	f.IntVar(&b.dimension, "dimensions", 384, "dimensions of ready vectors")
	f.StringVar(&b.dataset, "dataset", "", "folder of a test collection; default: generated texts")
	f.IntVar(&b.documents, "documents", 0, "documents to write (default 10000 generated ones, or all of --dataset)")
	f.IntVar(&b.o.Namespaces, "namespaces", 1, "namespaces that the documents are dealt to")
	f.IntVar(&b.o.Batch, "batch", 100, "documents of a write")
	f.IntVar(&b.o.Writers, "writers", 4, "writes at once")
	f.IntVar(&b.o.Queries, "queries", 500, "queries of each kind, at each concurrency")
	f.IntVar(&b.o.Warmup, "warm-up", 50, "queries before them that are not measured")
	f.IntVar(&b.o.TopK, "top-k", 10, "chunks that a query asks for")
	f.IntSliceVar(&b.o.Concurrency, "concurrency", []int{1, 8}, "queries at once")
	f.DurationVar(&b.o.Settle, "settle", 5*time.Second, "pause between writes and queries, in which indexes are built and merged")
	f.BoolVar(&b.o.Sparse, "sparse", false, "write with the learned-sparse index, and search it")
	f.BoolVar(&b.o.Rerank, "rerank", false, "measure reranked queries, too; with --vectors models")
	f.Uint64Var(&b.o.Seed, "seed", 1, "of generated texts, ready vectors and the order of queries")
	f.BoolVar(&b.o.Keep, "keep", false, "leave folders, schemas and documents as they are")
	f.StringVar(&b.work, "work", "", "folder for the servers' data (default: a temporary one)")
	f.StringVar(&b.out, "json", "", "write the report as JSON to this file; - prints it instead of the tables")
	cmd.AddCommand(c.benchServerCommand())
	return cmd
}

func (b *benching) check() error {
	if b.vectors != readyVectors && b.vectors != modelVectors {
		return usage("--vectors must be ready or models")
	}
	if b.o.Rerank && b.vectors == readyVectors && len(b.urls) == 0 {
		return usage("--rerank needs --vectors models: a reranker reads texts")
	}
	if b.dimension < 8 || b.dimension > 4096 {
		return usage("--dimensions must be 8 to 4096")
	}
	for _, n := range []struct {
		flag        string
		value       int
		least, most int
	}{{"documents", b.documents, 0, 100_000_000}, {"namespaces", b.o.Namespaces, 1, 100_000}, {"batch", b.o.Batch, 1, 1000}, {"writers", b.o.Writers, 1, 256},
		{"queries", b.o.Queries, 1, 1_000_000}, {"warm-up", b.o.Warmup, 0, 1_000_000}, {"top-k", b.o.TopK, 1, 100}} {
		if n.value < n.least || n.value > n.most {
			return usage("--%s must be %d to %d", n.flag, n.least, n.most)
		}
	}
	if len(b.o.Concurrency) == 0 || slices.Min(b.o.Concurrency) < 1 || slices.Max(b.o.Concurrency) > 1024 {
		return usage("--concurrency must be numbers from 1 to 1024")
	}
	return nil
}

func (b *benching) workload() (*bench.Workload, error) {
	if b.dataset == "" {
		if b.documents == 0 {
			b.documents = 10_000
		}
		return bench.Generate(b.documents, min(b.o.Queries+b.o.Warmup, 10_000), b.o.Seed), nil
	}
	collection, err := evaluate.Load(b.dataset)
	if err != nil {
		return nil, err
	}
	return bench.FromCollection(collection, b.documents)
}

// set is one of those to measure.
type set struct{ name, file, url string }

func (b *benching) all() []set {
	named := func(s string) (name, rest string) {
		if name, rest, ok := strings.Cut(s, "="); ok && name != "" && !strings.ContainsAny(name, "/:") {
			return name, rest
		}
		return "", s
	}
	var all []set
	for _, s := range b.sets {
		name, file := named(s)
		if name == "" {
			name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		}
		all = append(all, set{name: name, file: file})
	}
	for _, s := range b.urls {
		name, url := named(s)
		if name == "" {
			name = url
		}
		all = append(all, set{name: name, url: url})
	}
	if len(all) == 0 {
		all = append(all, set{name: "embedded"})
	}
	return all
}

func (c *command) bench(ctx context.Context, b *benching) (err error) {
	if err := b.check(); err != nil {
		return err
	}
	if b.key == "" {
		b.key = os.Getenv("MNEME_KEY")
	}
	if len(b.urls) > 0 && b.key == "" {
		return usage("a server at --url needs a key: give --key or MNEME_KEY")
	}
	w, err := b.workload()
	if err != nil {
		return err
	}
	if b.work == "" {
		if b.work, err = os.MkdirTemp("", "mneme-bench-"); err != nil {
			return fmt.Errorf("make a folder: %w", err)
		}
		if !b.o.Keep {
			defer func() { err = joined(err, os.RemoveAll(b.work)) }()
		}
	}
	report := benchReport{Build: thisBuild(), Time: time.Now().UTC().Truncate(time.Second), CPUs: runtime.GOMAXPROCS(0), Settings: map[string]any{
		"workload": w.Name, "documents": len(w.Documents), "vectors": b.vectors, "dimensions": b.dimension, "namespaces": b.o.Namespaces, "batch": b.o.Batch,
		"writers": b.o.Writers, "queries": b.o.Queries, "top_k": b.o.TopK, "sparse": b.o.Sparse, "seed": b.o.Seed, "settle": b.o.Settle.String()}}
	bar := newProgress(c.stderr)
	var mu sync.Mutex
	for _, s := range b.all() {
		b.o.Progress = func(stage string, done, total int) {
			mu.Lock()
			defer mu.Unlock()
			bar.update(s.name+": "+stage, done, total)
		}
		r, err := c.benchSet(ctx, b, s, w)
		bar.end()
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		r.Name = s.name
		report.Sets = append(report.Sets, r)
	}
	bench.Compare(report.Sets)
	if b.out == "-" {
		return printJSON(c.stdout, report)
	}
	if b.out != "" {
		if err := writeReport(b.out, report); err != nil {
			return err
		}
	}
	return c.printBenchReport(report)
}

// benchSet measures one set. What a run leaves in a database is in a schema or
// an index of this name.
func (c *command) benchSet(ctx context.Context, b *benching, s set, w *bench.Workload) (r bench.Result, err error) {
	o := b.o
	token := make([]byte, 4)
	if _, err := rand.Read(token); err != nil {
		return r, err
	}
	apart := "mneme_bench_" + hex.EncodeToString(token)
	o.Prefix = strings.ReplaceAll(apart, "_", "-")
	if s.url != "" {
		cl, err := client.New(s.url, b.key)
		if err != nil {
			return r, err
		}
		return bench.Measure(ctx, cl, w, o)
	}
	cfg, err := c.benchConfig(s.file, apart)
	if err != nil {
		return r, err
	}
	place := bench.Place{Folder: filepath.Join(b.work, apart), DSNs: dsns(cfg), Schema: apart}
	if !o.Keep {
		defer func() { err = joined(err, forget(context.WithoutCancel(ctx), place)) }()
	}
	running, err := c.startBenchServer(ctx, b, s.file, place)
	if err != nil {
		return r, err
	}
	defer func() { err = joined(err, running.stop()) }()
	cl, err := client.New(running.URL, running.Key)
	if err != nil {
		return r, err
	}
	place.PID = running.cmd.Process.Pid
	o.Probe = place.Usage
	r, err = bench.Measure(ctx, cl, w, o)
	r.Backends = map[string]string{"storage": cfg.Storage.Component, "keyword": cfg.Keyword.Component, "vector": cfg.Vector.Component}
	if o.Sparse {
		r.Backends["sparse"] = cfg.Sparse.Component
	}
	return r, err
}

// benchConfig is a set's configuration with everything in places of its own.
func (c *command) benchConfig(file, apart string) (*configs.Config, error) {
	cfg, err := configs.Load(c.registry, configs.Source{File: file})
	if err != nil {
		return nil, err
	}
	for _, s := range selections(cfg) {
		for _, name := range []string{"Schema", "IndexPrefix"} {
			if f := reflect.ValueOf(s.Config).Elem().FieldByName(name); f.IsValid() && f.Kind() == reflect.String {
				f.SetString(apart)
			}
		}
	}
	return cfg, nil
}

func selections(cfg *configs.Config) []registry.Selection {
	return []registry.Selection{cfg.Storage, cfg.Keyword, cfg.Vector, cfg.Sparse}
}

// dsns are the databases of a configuration.
func dsns(cfg *configs.Config) []string {
	var all []string
	for _, s := range selections(cfg) {
		f := reflect.ValueOf(s.Config).Elem().FieldByName("DSN")
		if !f.IsValid() {
			continue
		}
		if secret, ok := f.Interface().(registry.Secret); ok && !slices.Contains(all, secret.Reveal()) {
			all = append(all, secret.Reveal())
		}
	}
	return all
}

// forget removes what a run left.
func forget(ctx context.Context, p bench.Place) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	errs := []error{os.RemoveAll(p.Folder)}
	for _, dsn := range p.DSNs {
		conn, err := pgx.Connect(ctx, dsn)
		if err != nil {
			errs = append(errs, fmt.Errorf("schema %s is left in a database: it can't be reached", p.Schema))
			continue
		}
		_, err = conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+pgx.Identifier{p.Schema}.Sanitize()+" CASCADE")
		errs = append(errs, err, conn.Close(ctx))
	}
	return errors.Join(errs...)
}

// benchServer is a running server of a set.
type benchServer struct {
	URL string `json:"url"`
	Key string `json:"key"`

	cmd   *exec.Cmd
	stdin io.Closer
	ended chan error
}

func (c *command) startBenchServer(ctx context.Context, b *benching, file string, p bench.Place) (*benchServer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	args := []string{"bench", "server", "--data", p.Folder, "--apart", p.Schema, "--vectors", b.vectors,
		"--dimensions", fmt.Sprint(b.dimension), "--seed", fmt.Sprint(b.o.Seed), fmt.Sprintf("--sparse=%v", b.o.Sparse)}
	if file != "" {
		args = append(args, "--set", file)
	}
	if c.logLevel != "" {
		args = append(args, "--log-level", c.logLevel)
	}
	s := &benchServer{cmd: exec.Command(self, args...), ended: make(chan error, 1)} //nolint:noctx // it is asked to end, not killed
	s.cmd.Stderr = c.stderr
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	told := make(chan error, 1)
	go func() {
		told <- json.NewDecoder(stdout).Decode(s)
		_, _ = io.Copy(io.Discard, stdout) // it says nothing more
		s.ended <- s.cmd.Wait()
	}()
	select {
	case err = <-told:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(errors.New("the server did not start; its own words are above"), s.stop())
	}
	return s, nil
}

// stop ends the server as an operator does.
func (s *benchServer) stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // one that has ended can't be told
	_ = s.stdin.Close()
	select {
	case err := <-s.ended:
		if err != nil {
			return fmt.Errorf("the server ended: %w", err)
		}
		return nil
	case <-time.After(2 * closeTimeout):
		return errors.Join(errors.New("the server did not end in time"), s.cmd.Process.Kill())
	}
}

// benchServerCommand is the server of a set, started by bench. It says where it
// is on standard output and ends with its standard input.
func (c *command) benchServerCommand() *cobra.Command {
	var file, apart, vectors string
	var dimensions int
	var seed uint64
	var sparse bool
	cmd := &cobra.Command{
		Use: "server", Short: "The server of one set", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			go func() {
				_, _ = io.Copy(io.Discard, c.stdin)
				cancel()
			}()
			cfg, err := c.benchConfig(file, apart)
			if err != nil {
				return err
			}
			cfg.DataDir, cfg.Log.Level = c.dataDir, "warn"
			if c.logLevel != "" {
				cfg.Log.Level = c.logLevel
			}
			cfg.Limits.Read, cfg.Limits.Write, cfg.Limits.Rerank = configs.Rate{}, configs.Rate{}, configs.Rate{}
			if vectors == readyVectors {
				add := func(name string, m port.Model) registry.Selection {
					registry.Add(c.registry.Model, registry.Component[port.Model, struct{}]{Name: name, Summary: "vectors at no cost", Stability: registry.Experimental,
						Default: func() struct{} { return struct{}{} },
						Open:    func(context.Context, struct{}, registry.Env) (port.Model, error) { return m, nil }})
					return registry.Selection{Component: name, Config: new(struct{})}
				}
				cfg.Models = map[string]registry.Selection{readyVectors: add("bench_ready", bench.NewReady(dimensions, seed))}
				cfg.Roles = configs.Roles{Embed: readyVectors, Sparse: configs.Off, Rerank: configs.Off, Synthesize: configs.Off}
				if sparse {
					cfg.Models["ready-sparse"] = add("bench_ready_sparse", bench.ReadySparse{})
					cfg.Roles.Sparse = "ready-sparse"
				}
			}
			l, err := app.Listen(ctx, "127.0.0.1:0")
			if err != nil {
				return err
			}
			a, err := c.open(ctx, "bench", cfg)
			if err != nil {
				return errors.Join(err, l.Close())
			}
			defer func() {
				closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
				defer cancel()
				err = joined(err, a.Close(closing))
			}()
			secret, err := app.LocalKey(ctx, cfg.DataDir, a.Keys)
			if err == nil {
				err = json.NewEncoder(c.stdout).Encode(benchServer{URL: app.URL(l), Key: secret})
			}
			if err != nil {
				return errors.Join(err, l.Close())
			}
			return a.Serve(ctx, l)
		},
	}
	f := cmd.Flags()
	f.StringVar(&file, "set", "", "configuration file")
	f.StringVar(&apart, "apart", "", "schema and index prefix")
	f.StringVar(&vectors, "vectors", readyVectors, "ready or models")
	f.IntVar(&dimensions, "dimensions", 384, "of ready vectors")
	f.Uint64Var(&seed, "seed", 1, "of ready vectors")
	f.BoolVar(&sparse, "sparse", false, "ready vectors are sparse ones, too")
	return cmd
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
			cell("%.0f", mb(r.Usage.ServerMemory), mb(first.Usage.ServerMemory), i == 0), cell("%.0f", mb(r.Usage.DatabaseMemory), 0, true),
			cell("%.0f", mb(r.Usage.Folder+r.Usage.Database), mb(first.Usage.Folder+first.Usage.Database), i == 0), cell("%.0f", mb(in.WAL), 0, true)})
	}
	if err := table(c.stdout, []string{"WRITES", "DOCS", "CHUNKS", "DOCS/S", "CHUNKS/S", "CALL P50 MS", "P99", "CPU MS/1000 CHUNKS", "SERVER MB", "DATABASE MB", "DISK MB", "WAL MB"}, rows); err != nil {
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
				cell("%.2f", q.Latency.P50, run.Latency.P50, i == 0), cell("%.2f", q.Latency.P95, run.Latency.P95, i == 0), cell("%.2f", q.Latency.P99, run.Latency.P99, i == 0),
				cell("%.0f", q.PerSecond, run.PerSecond, i == 0), cell("%.2f", q.ServerCPU+q.DatabaseCPU, run.ServerCPU+run.DatabaseCPU, i == 0), cell("%.2f", q.DatabaseCPU, 0, true),
				share(q.NDCG10, "%.4f"), share(q.Agreement, "%.4f")})
		}
	}
	return table(c.stdout, []string{"QUERY", "AT ONCE", "SET", "P50 MS", "P95", "P99", "PER SECOND", "CPU MS", "OF THE DATABASE", "NDCG@10", "AGREES"}, rows)
}
