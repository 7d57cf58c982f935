package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/modelkit"
)

func (c *command) modelsTryCommand() *cobra.Command {
	var ch modelFlags
	var query string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "try MODEL TEXT...",
		Short: "Show what a model answers to some texts",
		Long: `Open a model as the server does, give it the texts and the query for each of its
tasks, and show what it answers: the beginning of each vector, the heaviest terms, the
scores, the tokens read and the time taken. A model is named as for models check. --json
prints the answers whole, in the form of a golden file.`,
		Example: "  mneme models try ./acme --query \"who sneezes?\" \"Sneezing is typical.\" \"The road is closed.\"\n" +
			"  mneme models try ./acme --query cold --json \"A cold store.\" > golden/first.json",
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, selected, err := c.selectModels(cmd.Context(), ch, args[:1])
			if err != nil {
				return err
			}
			m, err := c.openModel(cmd.Context(), cfg, selected[0].name, selected[0].Selection)
			if err != nil {
				return err
			}
			seen, err := trial{m, query, args[1:]}.run(cmd.Context())
			if err := joinErrors(err, m.Close()); err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.stdout, seen.golden)
			}
			_, err = fmt.Fprint(c.stdout, seen.lines.String())
			return err
		},
	}
	ch.setFlag(cmd)
	cmd.Flags().StringVar(&query, "query", "", "what the texts are compared with")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the answers whole, as a golden file")
	return cmd
}

// trial is texts for a model.
type trial struct {
	model port.Model
	query string
	texts []string
}

// answers are what a model gave, for people and whole.
type answers struct {
	lines  strings.Builder
	golden modelkit.Golden
}

func (a *answers) head(task port.Task, took time.Duration, format string, args ...any) {
	fmt.Fprintf(&a.lines, "%s, %.1f ms%s\n", task, float64(took)/float64(time.Millisecond), fmt.Sprintf(format, args...))
}

func (t trial) run(ctx context.Context) (*answers, error) {
	out := &answers{}
	for _, task := range t.model.Info().Tasks {
		var err error
		switch task {
		case port.TaskEmbed:
			err = t.embed(ctx, out)
		case port.TaskSparse:
			err = t.encode(ctx, out)
		case port.TaskRerank:
			err = t.score(ctx, out)
		}
		if err != nil {
			return out, fmt.Errorf("%s: %w", task, err)
		}
	}
	return out, nil
}

func (t trial) embed(ctx context.Context, out *answers) error {
	m := t.model.(port.Embedder)
	started := time.Now()
	texts, err := m.Embed(ctx, port.Passage, t.texts)
	if err != nil {
		return err
	}
	var query port.Dense
	if t.query != "" {
		if query, err = m.Embed(ctx, port.Query, []string{t.query}); err != nil {
			return err
		}
		out.golden.Embedding = append(out.golden.Embedding,
			modelkit.GoldenVector{Text: t.query, Query: true, Vector: query.Row(0)})
	}
	out.head(port.TaskEmbed, time.Since(started), ", %d dimensions", texts.Dim)
	for i, text := range t.texts {
		row := texts.Row(i)
		out.golden.Embedding = append(out.golden.Embedding, modelkit.GoldenVector{Text: text, Vector: row})
		near := ""
		if t.query != "" {
			sum := 0.0
			for j, x := range query.Row(0) {
				sum += float64(x) * float64(row[j])
			}
			near = fmt.Sprintf("cosine %.4f, ", sum)
		}
		fmt.Fprintf(&out.lines, "  %s%s, %.4f...  %s\n", near, plural(texts.Tokens[i], "token"), row[:min(6, len(row))],
			oneLine(text, 60))
	}
	return nil
}

func (t trial) encode(ctx context.Context, out *answers) error {
	m := t.model.(port.SparseEncoder)
	started := time.Now()
	texts, err := m.Encode(ctx, port.Passage, t.texts)
	if err != nil {
		return err
	}
	of := map[uint32]float32{}
	if t.query != "" {
		query, err := m.Encode(ctx, port.Query, []string{t.query})
		if err != nil {
			return err
		}
		for i, term := range query.Terms {
			of[term] = query.Weights[i]
		}
		out.golden.Sparse = append(out.golden.Sparse, modelkit.GoldenTerms{Text: t.query, Query: true, Terms: of})
	}
	out.head(port.TaskSparse, time.Since(started), "")
	for i, text := range t.texts {
		all, sum := map[uint32]float32{}, 0.0
		var terms []uint32
		for k := texts.Rows[i]; k < texts.Rows[i+1]; k++ {
			all[texts.Terms[k]] = texts.Weights[k]
			terms = append(terms, texts.Terms[k])
			sum += float64(texts.Weights[k]) * float64(of[texts.Terms[k]])
		}
		out.golden.Sparse = append(out.golden.Sparse, modelkit.GoldenTerms{Text: text, Terms: all})
		slices.SortStableFunc(terms, func(a, b uint32) int { return cmp.Compare(all[b], all[a]) })
		var heaviest []string
		for _, term := range terms[:min(6, len(terms))] {
			heaviest = append(heaviest, fmt.Sprintf("%d:%.3f", term, all[term]))
		}
		near := ""
		if t.query != "" {
			near = fmt.Sprintf("product %.4f, ", sum)
		}
		fmt.Fprintf(&out.lines, "  %s%s, %s, [%s]  %s\n", near, plural(texts.Tokens[i], "token"), plural(len(terms), "term"),
			strings.Join(heaviest, " "), oneLine(text, 60))
	}
	return nil
}

func (t trial) score(ctx context.Context, out *answers) error {
	if t.query == "" {
		fmt.Fprintf(&out.lines, "%s: needs --query\n", port.TaskRerank)
		return nil
	}
	started := time.Now()
	scores, cut, err := t.model.(port.Reranker).Score(ctx, t.query, t.texts)
	if err != nil {
		return err
	}
	out.head(port.TaskRerank, time.Since(started), ", %s cut", plural(cut, "text"))
	for i, text := range t.texts {
		out.golden.Rerank = append(out.golden.Rerank, modelkit.GoldenScore{Query: t.query, Text: text, Score: float64(scores[i])})
		fmt.Fprintf(&out.lines, "  score %.4f  %s\n", scores[i], oneLine(text, 60))
	}
	return nil
}
