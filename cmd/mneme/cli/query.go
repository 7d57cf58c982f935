package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/core/query"
)

func (c *command) queryCommand() *cobra.Command {
	var (
		t                                                     target
		asJSON, rerank, explain, strict, textOff              bool
		topK, perDocument, neighbors, depth                   int
		retrievers                                            []string
		mode, language, weights, filter, rerankModel, minimum string
		metadataOff                                           bool
	)
	cmd := &cobra.Command{
		Use:   "query NAMESPACE TEXT",
		Short: "Find the chunks that answer a query",
		Long:  "Find the chunks of a namespace that answer a query, best first.\n" + connectHelp,
		Example: `  mneme query handbook "how long is the notice period"
  mneme query handbook "notice period" --mode keyword --top-k 3
  mneme query handbook "notice period" --filter '{"lang": {"$in": ["en", "fr"]}}' --json
  mneme query handbook "notice period" --weights vector=0.7,keyword=0.3 --explain`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed
			req := query.Request{Query: args[1]}
			setIfGiven(given("top-k"), &req.TopK, topK)
			setIfGiven(given("retrievers"), &req.Retrievers, retrievers)
			setIfGiven(given("mode"), &req.Mode, mode)
			setIfGiven(given("language"), &req.Language, language)
			setIfGiven(given("max-chunks-per-document"), &req.MaxChunksPerDocument, perDocument)
			setIfGiven(given("neighbors"), &req.Neighbors, neighbors)
			setIfGiven(textOff, &req.IncludeText, false)
			setIfGiven(metadataOff, &req.IncludeMetadata, false)
			setIfGiven(explain, &req.Explain, true)
			setIfGiven(strict, &req.Strict, true)
			if given("min-score") {
				x, err := strconv.ParseFloat(minimum, 64)
				if err != nil {
					return usage("--min-score %q is not a number", minimum)
				}
				req.MinScore = &x
			}
			if weights != "" {
				w, err := parseWeights(weights)
				if err != nil {
					return err
				}
				req.Weights = &w
			}
			if filter != "" {
				if !json.Valid([]byte(filter)) {
					return usage("--filter is not valid JSON: %s", filter)
				}
				req.Filter = json.RawMessage(filter)
			}
			if rerank || rerankModel != "" || given("rerank-depth") {
				r := query.Rerank{Model: rerankModel}
				setIfGiven(given("rerank-depth"), &r.Depth, depth)
				body, err := json.Marshal(r)
				if err != nil {
					return fmt.Errorf("encode rerank: %w", err)
				}
				req.Rerank = body
			}
			ctx := cmd.Context()
			cl, done, err := c.connect(ctx, "query", t)
			if err != nil {
				return err
			}
			var result query.Result
			err = cl.Do(ctx, "POST", "/namespaces/"+url.PathEscape(args[0])+"/query", req, &result)
			if err == nil && asJSON {
				err = printJSON(c.stdout, result)
			} else if err == nil {
				err = c.printHits(result, explain)
			}
			return joinErrors(err, done())
		},
	}
	t.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print the server's answer as JSON")
	f.IntVar(&topK, "top-k", 10, "chunks at most, 1-100")
	f.StringSliceVar(&retrievers, "retrievers", nil, "any of vector, keyword, sparse (default: all that the namespace has)")
	f.StringVar(&mode, "mode", "", "hybrid, vector, keyword or sparse; not with --retrievers")
	f.StringVar(&language, "language", "", "of the query's words: "+languageCodes+" (default: the namespace's)")
	f.StringVar(&weights, "weights", "", "weight of each retriever, e.g. vector=0.7,keyword=0.3")
	f.StringVar(&filter, "filter", "", `metadata filter as JSON, e.g. '{"lang": "en"}'`)
	f.BoolVar(&rerank, "rerank", false, "rerank the found chunks")
	f.StringVar(&rerankModel, "rerank-model", "", "rerank with this model")
	f.IntVar(&depth, "rerank-depth", 0, "chunks to rerank, 1-100")
	f.StringVar(&minimum, "min-score", "", "least score, 0-1; with rerank or vector alone")
	f.IntVar(&perDocument, "max-chunks-per-document", 100, "1 gives one hit per document")
	f.IntVar(&neighbors, "neighbors", 0, "adjacent chunks on each side, 0-2")
	f.BoolVar(&textOff, "no-text", false, "leave the texts out")
	f.BoolVar(&metadataOff, "no-metadata", false, "leave the metadata out")
	f.BoolVar(&explain, "explain", false, "show rank and score of each retriever")
	f.BoolVar(&strict, "strict", false, "fail when a retriever or the reranker does")
	return cmd
}

// setIfGiven sets *to to v when a flag was given, and leaves the server's default
// otherwise.
func setIfGiven[T any](given bool, to **T, v T) {
	if given {
		*to = &v
	}
}

// parseWeights reads "vector=0.7,keyword=0.3".
func parseWeights(s string) (map[string]float64, error) {
	w := map[string]float64{}
	for part := range strings.SplitSeq(s, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		x, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil {
			return nil, usage("--weights: %q is not like vector=0.7", part)
		}
		w[name] = x
	}
	return w, nil
}

func (c *command) printHits(r query.Result, explain bool) error {
	header := []string{"SCORE", "DOCUMENT", "CHUNK", "TEXT"}
	if explain {
		header = []string{"SCORE", "VECTOR", "KEYWORD", "SPARSE", "DOCUMENT", "CHUNK", "TEXT"}
	}
	rank := func(r *query.Rank) string {
		if r == nil {
			return ""
		}
		return fmt.Sprintf("#%d %.3f", r.Rank, r.Score)
	}
	var rows [][]string
	for _, h := range r.Results {
		row := []string{fmt.Sprintf("%.3f", h.Score)}
		if explain && h.Explain != nil {
			row = append(row, rank(h.Explain.Vector), rank(h.Explain.Keyword), rank(h.Explain.Sparse))
		}
		text := ""
		if h.Text != nil {
			text = oneLine(*h.Text, 100)
		}
		rows = append(rows, append(row, documentName(h.DocumentID, h.Metadata), strconv.Itoa(h.ChunkIndex), text))
	}
	if err := table(c.stdout, header, rows); err != nil {
		return err
	}
	fmt.Fprintf(c.stderr, "%s, scored by %s, %d ms\n", plural(len(r.Results), "chunk"), r.ScoreKind, r.TookMS)
	for _, d := range r.Degraded {
		fmt.Fprintf(c.stderr, "degraded: %s: %s\n", d.Part, d.Reason)
	}
	return nil
}

// documentName is a document's id. Where that says nothing to a reader, as of what sources
// bring, or where the importer had to alter a path to make an id of it, it is the path or the
// address that the text came from. The page of a text that has pages stands behind.
func documentName(id string, metadata json.RawMessage) string {
	of := map[string]any{} // whatever the caller keeps with a document
	if json.Unmarshal(metadata, &of) != nil {
		return id
	}
	text := func(key string) string {
		s, _ := of[key].(string)
		return oneLine(s, 200)
	}
	name := id
	if text("source_kind") != "" || strings.Contains(id, "::") {
		name = cmp.Or(text("path"), text("url"), id)
	}
	if page, ok := of["page"].(float64); ok {
		name += fmt.Sprintf(", page %g", page)
	}
	return name
}

// oneLine is the beginning of a text, with white space collapsed to single spaces and
// control characters dropped, so that no text can steer the terminal.
func oneLine(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
