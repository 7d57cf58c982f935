package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/cmd/mneme/internal/evaluate"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/retrieve"
)

// evalReport is what eval writes as JSON.
type evalReport struct {
	Build    build             `json:"build"`
	Time     time.Time         `json:"time"`
	CPUs     int               `json:"cpus"`
	Settings map[string]any    `json:"settings"`
	Results  []evaluate.Result `json:"results"`
	Mean     []evaluate.Run    `json:"mean"` // over collections, each counting the same

	Recall []evaluate.RecallResult `json:"recall,omitempty"`
}

func (c *command) evalCommand() *cobra.Command {
	var (
		t                         target
		o                         evaluate.Options
		weights, fusion, jsonFile string
		users, sparseQueries      string
		candidates, rrfK          int
		rerankPrior, rerankFloor  float64
		rerankAbstain             bool
		byCategory, memories      bool
		recalls, plainTitles      bool
		memoryKey, titles         string
	)
	cmd := &cobra.Command{
		Use:   "eval DIR...",
		Short: "Measure retrieval quality and latency on test collections",
		Long: `Measure retrieval quality and latency on test collections in BEIR's layout: each
DIR holds corpus.jsonl and queries.jsonl, plain or gzipped, and qrels.tsv. Each
collection becomes a namespace, which a later run uses again as long as corpus,
model and chunking are the same. A query with meta.user searches only documents
of the same meta.user.

It prints nDCG@10 with linear gain as trec_eval has it, recall@10, recall@100 and
MRR@10 over documents, and the latency of a query in milliseconds, for each step
of retrieval: keyword, vector, sparse (with --sparse), fused, which is vector and
keyword, fused+sparse, and with --rerank each of them reranked. The server
remembers the encodings of recent queries (1,024), so the later steps of a
smaller collection are measured without embedding. Where a collection has users,
each kind of question (meta.category) is printed too.

With --recall it measures nothing but recall, over the memory API: how many
questions are answered right, answered wrong and not answered. An answer is right
when the memory that it quotes first is relevant and, where the question has
phrases (meta.says), the quotes from it hold one. Questions without an answer
(meta.unanswerable) stand in a row of their own; a set that has none is asked
every question again, of another user.

Without --url and --data it works in the folder mneme-eval, so that test
collections stay out of the way of real documents.`,
		Example: `  mneme eval data/eval/scifact data/eval/cranfield
  mneme eval data/eval/* --json quality.json --by-category
  mneme eval data/eval/* --sparse --rerank
  mneme eval data/eval/locomo-a --memory
  mneme eval core/memory/recall/testdata/* --recall
  mneme eval data/eval/* --retrievers fused --weights vector=0.6,keyword=0.4
  mneme eval data/eval/* --retrievers fused --fusion rrf --query-workers 4`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			var settings []configs.Setting
			set := func(flag, path, value string) {
				if cmd.Flags().Changed(flag) {
					settings = append(settings, configs.Setting{Path: path, Value: value, From: "flag --" + flag})
				}
			}
			set("fusion", "query.fusion", fusion)
			set("candidates", "query.candidates", strconv.Itoa(candidates))
			set("rrf-k", "query.rrf_k", strconv.Itoa(rrfK))
			set("rerank-prior", "query.rerank_prior", strconv.FormatFloat(rerankPrior, 'g', -1, 64))
			set("rerank-floor", "query.rerank_floor", strconv.FormatFloat(rerankFloor, 'g', -1, 64))
			set("rerank-abstain", "query.rerank_abstain", strconv.FormatBool(rerankAbstain))
			set("sparse-queries", "query.sparse_queries", sparseQueries)
			if t.url != "" && len(settings) > 0 {
				return usage("--fusion, --candidates, --rrf-k, --rerank-prior, --rerank-floor, --rerank-abstain and " +
					"--sparse-queries are the server's own settings; they cannot be set over --url")
			}
			if o.Rerank < 0 || o.Rerank > 100 {
				return usage("--rerank must be 0 to 100")
			}
			if weights != "" {
				if o.Weights, err = parseWeights(weights); err != nil {
					return err
				}
			}
			for _, r := range o.Steps {
				if !slices.Contains(evaluate.Steps(), r) {
					return usage("--retrievers: %q is not one of %s", r, strings.Join(evaluate.Steps(), ", "))
				}
				if strings.Contains(r, evaluate.Sparse) && !o.Sparse {
					return usage("--retrievers %s needs --sparse", r)
				}
			}
			switch users {
			case "filter", "namespaces":
				o.UserNamespaces = users == "namespaces"
			default:
				return usage("--users must be filter or namespaces")
			}
			if plainTitles {
				if cmd.Flags().Changed("titles") {
					return usage("--plain-titles is --titles line; give one of them")
				}
				titles = string(evaluate.TitleLine)
			}
			if !slices.Contains(evaluate.AllTitles(), evaluate.Titles(titles)) {
				return usage("--titles must be heading, line, metadata or none")
			}
			collections := make([]*evaluate.Collection, len(args))
			for i, dir := range args {
				if collections[i], err = evaluate.Load(dir, evaluate.Titles(titles)); err != nil {
					return err
				}
			}
			if c.dataDir == "" && os.Getenv("MNEME_DATA") == "" && c.file() == "" {
				c.dataDir = "mneme-eval"
			}
			// Without rate limits: a measurement is meant to load the server fully.
			settings = append(settings, configs.Setting{Path: "limits.read", Value: "0", From: "eval"},
				configs.Setting{Path: "limits.write", Value: "0", From: "eval"},
				configs.Setting{Path: "limits.rerank", Value: "0", From: "eval"})
			ctx := cmd.Context()
			cl, done, err := c.connect(ctx, "eval", t, settings...)
			if err != nil {
				return err
			}
			defer func() { err = joinErrors(err, done()) }()
			if t.url == "" && os.Getenv("MNEME_URL") == "" {
				cfg, err := c.loadQuiet(settings...)
				if err != nil {
					return err
				}
				if o.State, err = evaluate.OpenState(filepath.Join(cfg.DataDir, "eval.json")); err != nil {
					return err
				}
			}
			if memories || recalls {
				if o.Memory, err = c.memoryClient(ctx, cl, memoryKey); err != nil {
					return err
				}
			}
			report := evalReport{Build: thisBuild(), Time: time.Now().UTC().Truncate(time.Second), CPUs: runtime.GOMAXPROCS(0),
				Settings: map[string]any{"weights": o.Weights, "fusion": fusion, "candidates": candidates,
					"users": users, "query_workers": o.QueryWorkers,
					"sparse": o.Sparse, "rerank": o.Rerank, "rerank_prior": rerankPrior, "rerank_floor": rerankFloor,
					"rerank_abstain": rerankAbstain,
					"sparse_queries": sparseQueries, "memory": memories, "titles": titles}}
			bar := newProgress(c.stderr)
			var mu sync.Mutex
			for _, col := range collections {
				o.Progress = func(stage string, done, total int) {
					mu.Lock()
					defer mu.Unlock()
					bar.update(col.Name+" "+stage, done, total)
				}
				if recalls {
					r, err := evaluate.MeasureRecall(ctx, cl, col, o)
					bar.end()
					if err != nil {
						return err
					}
					report.Recall = append(report.Recall, r)
					continue
				}
				r, err := evaluate.Measure(ctx, cl, col, o)
				bar.end()
				if err != nil {
					return err
				}
				report.Results = append(report.Results, r)
			}
			report.Mean = evaluate.Mean(report.Results)
			if jsonFile == "-" {
				return printJSON(c.stdout, report)
			}
			if jsonFile != "" {
				if err := writeReport(jsonFile, report); err != nil {
					return err
				}
			}
			if recalls {
				return c.printRecall(report.Recall)
			}
			return c.printEvaluation(report, byCategory)
		},
	}
	t.flags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&o.Steps, "retrievers", nil,
		"any of keyword, vector, sparse, fused, fused+sparse (default: all that the server has)")
	f.IntVar(&o.Rerank, "rerank", 0, "rerank the first so many chunks of each step, too; without a number 20, as a "+
		"query for 10 results does")
	f.Lookup("rerank").NoOptDefVal = "20"
	fusing, reranking := retrieve.DefaultFusion(), retrieve.DefaultReranking()
	f.Float64Var(&rerankPrior, "rerank-prior", reranking.Prior, "weight of the fused score beside the reranker")
	f.Float64Var(&rerankFloor, "rerank-floor", reranking.Floor, "where the reranker stops to tell chunks apart, in deviations")
	f.BoolVar(&rerankAbstain, "rerank-abstain", reranking.Abstain,
		"leave the order where the reranker finds the first chunk best, too")
	f.StringVar(&sparseQueries, "sparse-queries", "encoder", "how queries of sparse search are made: encoder or idf")
	f.StringVar(&weights, "weights", "", "weights of the fused steps, e.g. vector=0.6,keyword=0.4")
	f.StringVar(&fusion, "fusion", string(fusing.Method), "fusion method: zscore or rrf")
	f.IntVar(&candidates, "candidates", fusing.Depth, "chunks that each retriever gives to the fusion")
	f.IntVar(&rrfK, "rrf-k", int(fusing.K), "constant of rrf")
	f.StringVar(&users, "users", "filter", "how meta.user is kept apart: filter, or namespaces for one a user")
	f.BoolVar(&o.Sparse, "sparse", false, "build with the sparse index, in namespaces of their own")
	f.BoolVar(&memories, "memory", false,
		"measure sets with users over the memory API, too: an end user each, its documents saved as memories")
	f.BoolVar(&recalls, "recall", false, "measure the answers of recall, and nothing else")
	f.StringVar(&titles, "titles", string(evaluate.TitleHeading),
		"where titles are written: heading of the text, line before it, metadata alone, or none")
	f.BoolVar(&plainTitles, "plain-titles", false, "the same as --titles line")
	f.StringVar(&memoryKey, "memory-key", "", "integration key of a server at --url, with every scope (MNEME_MEMORY_KEY)")
	f.IntVar(&o.MemoryLimit, "memory-limit", 10, "memories that a search asks for; recall beyond it is not seen")
	f.BoolVar(&o.Rebuild, "rebuild", false, "write the documents again even when nothing changed")
	f.IntVar(&o.Workers, "workers", max(2, runtime.GOMAXPROCS(0)), "writes at once")
	f.IntVar(&o.QueryWorkers, "query-workers", 1, "queries at once; more is faster, and latency is then under load")
	f.IntVar(&o.Queries, "queries", 0, "queries of each collection at most (default: all)")
	f.StringVar(&jsonFile, "json", "", "write the report as JSON to this file; - prints it instead of the table")
	f.BoolVar(&byCategory, "by-category", false, "print each meta.category of the queries of every collection")
	return cmd
}

// memoryClient is a client of the same server with an integration key; in a
// folder of this machine one is made for the run.
func (c *command) memoryClient(ctx context.Context, cl *client.Client, secret string) (*client.Client, error) {
	if secret == "" {
		secret = os.Getenv("MNEME_MEMORY_KEY")
	}
	if secret != "" {
		return cl.WithKey(secret), nil
	}
	issue := func(keys *key.Service) error {
		k, err := keys.Issue(ctx, key.Issue{
			Name:        "mneme eval",
			Kind:        ident.Integration,
			Integration: "eval",
			Quotas:      &ident.Quotas{},
			Scopes:      []ident.Scope{ident.MemoriesRead, ident.MemoriesWrite, ident.RecallRead, ident.UsersErase},
			ExpiresAt:   time.Now().Add(24 * time.Hour),
		})
		secret = k.Secret
		return err
	}
	var err error
	switch {
	case c.opened != nil:
		err = issue(c.opened.Keys)
	case strings.HasPrefix(cl.Base(), "http://127.0.0.1:") && os.Getenv("MNEME_URL") == "":
		var cfg *configs.Config
		if cfg, err = c.loadQuiet(); err == nil {
			err = app.WithKeys(ctx, c.registry, cfg, c.logger(cfg.Log), issue)
		}
	default:
		return nil, usage("--memory on a server at --url needs an integration key: give --memory-key or MNEME_MEMORY_KEY")
	}
	if err != nil {
		return nil, fmt.Errorf("make an integration key: %w", err)
	}
	return cl.WithKey(secret), nil
}

func writeReport(path string, report any) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := joinErrors(printJSON(f, report), f.Close()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (c *command) printRecall(results []evaluate.RecallResult) error {
	header := []string{"COLLECTION", "MEMORIES", "QUESTIONS", "ASKED", "RIGHT", "WRONG", "ABSTAINED", "ASKING", "P50", "P95"}
	var rows [][]string
	for _, r := range results {
		for _, g := range r.Groups {
			rows = append(rows, []string{r.Collection, strconv.Itoa(r.Memories), g.Group, strconv.Itoa(g.Questions),
				strconv.Itoa(g.Right), strconv.Itoa(g.Wrong), strconv.Itoa(g.Abstained), strconv.Itoa(g.Asking),
				fmt.Sprintf("%.1f", g.P50), fmt.Sprintf("%.1f", g.P95)})
		}
	}
	return table(c.stdout, header, rows)
}

func (c *command) printEvaluation(report evalReport, byCategory bool) error {
	header := []string{"COLLECTION", "DOCS", "QUERIES", "STEP", "NDCG@10", "R@10", "R@100", "MRR@10", "P50", "P95", "P99"}
	q := func(q evaluate.Quality) []string {
		return []string{fmt.Sprintf("%.4f", q.NDCG10), fmt.Sprintf("%.4f", q.Recall10),
			fmt.Sprintf("%.4f", q.Recall100), fmt.Sprintf("%.4f", q.MRR10)}
	}
	ms := func(l evaluate.Latency) []string {
		return []string{fmt.Sprintf("%.1f", l.P50), fmt.Sprintf("%.1f", l.P95), fmt.Sprintf("%.1f", l.P99)}
	}
	var rows [][]string
	for _, r := range report.Results {
		for _, run := range r.Runs {
			rows = append(rows, append(append([]string{r.Collection, strconv.Itoa(r.Documents), strconv.Itoa(r.Queries),
				run.Step}, q(run.Quality)...), ms(run.Latency)...))
			if !byCategory && r.Users == 0 {
				continue
			}
			for _, category := range evaluate.Categories(run) {
				qc := run.ByCategory[category]
				rows = append(rows, append(append([]string{"  " + category, "", strconv.Itoa(qc.Queries), run.Step}, q(qc)...),
					"", "", ""))
			}
		}
	}
	if len(report.Results) > 1 {
		for _, run := range report.Mean {
			rows = append(rows, append(append([]string{"mean", "", strconv.Itoa(run.Queries), run.Step}, q(run.Quality)...),
				"", "", ""))
		}
	}
	return table(c.stdout, header, rows)
}
