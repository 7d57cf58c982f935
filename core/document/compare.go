package document

import (
	"context"
	"math/rand/v2"
	"strings"
	"unicode"

	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/reindex"
	"github.com/mnemehq/mneme/core/retrieve"
)

const (
	sampled  = 50 // documents that queries are made from
	asked    = 16 // words of such a query, at most
	compared = 10 // best documents that are compared
)

// sample draws a uniform random sample from a list of unknown length (Vitter, Random
// Sampling with a Reservoir, 1985, algorithm R).
type sample struct {
	ids  []string
	seen int
}

func (s *sample) add(id string) {
	if s.seen++; len(s.ids) < sampled {
		s.ids = append(s.ids, id)
	} else if i := rand.IntN(s.seen); i < sampled {
		s.ids[i] = id
	}
}

// question is a query and the document that it was made from; "": a caller's.
type question struct{ text, from string }

// compare runs the same queries on both generations; nil where the models of the one that is
// served are not loaded.
func (b *shadow) compare(ctx context.Context, queries []string) (*reindex.Comparison, error) {
	live, err := b.row(ctx, b.live)
	if err != nil || b.encoders.Check(live) != nil || b.searcher == nil {
		return nil, err
	}
	var all []question
	for _, q := range queries {
		all = append(all, question{text: q})
	}
	if len(all) == 0 {
		if all, err = b.questions(ctx); err != nil {
			return nil, err
		}
	}
	out := &reindex.Comparison{Queries: len(all)}
	before, after := 0.0, 0.0
	for _, q := range all {
		old, err := b.topDocuments(ctx, b.live, live, b.encoders.For(live), q.text)
		if err != nil {
			return nil, err
		}
		now, err := b.topDocuments(ctx, b.own, b.of, b.models, q.text)
		if err != nil {
			return nil, err
		}
		same := 0
		for id := range old {
			if now[id] {
				same++
			}
		}
		if most := max(len(old), len(now)); most > 0 {
			out.Overlap += float64(same) / float64(most)
		} else {
			out.Overlap++ // both find nothing
		}
		if old[q.from] {
			before++
		}
		if now[q.from] {
			after++
		}
	}
	if n := float64(len(all)); n > 0 {
		out.Overlap, before, after = out.Overlap/n, before/n, after/n
	}
	if len(queries) == 0 {
		out.FoundBefore, out.FoundAfter = &before, &after
	}
	return out, nil
}

// topDocuments are the best documents of a generation, by the retrievers that a query uses
// unless it names some.
func (b *shadow) topDocuments(ctx context.Context, p port.Partition, ns port.PartitionRow, models *ingest.Encoder,
	query string) (map[string]bool, error) {
	by := []port.Retriever{port.Vector, port.Keyword}
	if ns.Sparse {
		by = append(by, port.SparseTerms)
	}
	found, err := b.searcher.Search(port.OnAccountOf(ctx, p), p, ns.Seq,
		retrieve.Request{Query: query, Language: ns.Language, Models: models, Retrievers: by, Depth: 100})
	if err != nil {
		return nil, err
	}
	out := make(map[string]bool, compared)
	for _, c := range found.Candidates {
		if len(out) == compared {
			break
		}
		out[c.Document] = true
	}
	return out, nil
}

// questions makes queries from a sample of the documents: the beginning of one of
// their passages. A found document is one that its own words find.
func (b *shadow) questions(ctx context.Context) (out []question, err error) {
	var docs []port.DocumentHead
	err = b.store.View(ctx, func(r reader) (err error) {
		docs, err = r.Documents(ctx, b.live, b.sample.ids, port.PartText|port.PartChunks)
		return err
	})
	for _, d := range docs {
		if len(d.Chunks) == 0 {
			continue
		}
		c := d.Chunks[rand.IntN(len(d.Chunks))]
		if q := opening(d.Text[c.Start:c.End]); q != "" {
			out = append(out, question{q, d.ID})
		}
	}
	return out, err
}

// opening is a text's first sentence, or its first words.
func opening(text string) string {
	var words []string
	for w := range strings.FieldsSeq(text) {
		words = append(words, w)
		if len(words) == asked || strings.HasSuffix(w, ".") || strings.HasSuffix(w, "?") || strings.HasSuffix(w, "!") {
			break
		}
	}
	q := strings.Join(words, " ")
	if strings.IndexFunc(q, unicode.IsLetter) < 0 {
		return ""
	}
	return q
}
