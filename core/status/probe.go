package status

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnemehq/mneme/core/port"
)

// The corpus of the probes. The answer shares words and meaning with the query.
var probeTexts = []string{
	"The harbour light is switched on at dusk and off at sunrise.",
	"To reset a forgotten password, open the sign-in page and follow the link in the e-mail.",
	"Bread dough rises faster in a warm kitchen.",
}

const (
	probeQuery  = "How do I reset my password?"
	probeAnswer = 1
)

// probe searches the corpus through one retriever. Each has a partition of its
// own, in no organization, so no key reaches it, and a model that does not work
// takes no other retriever down. One goroutine at a time.
type probe struct {
	name      string
	index     port.Index // nil: off
	partition port.Partition
	encode    func(context.Context) ([]port.Entry, error) // the corpus
	query     func(context.Context) (port.IndexQuery, error)
	entries   []port.Entry // once encoded
	applied   bool
}

func probes(s Settings) []*probe {
	texts := func() []port.Entry {
		entries := make([]port.Entry, len(probeTexts))
		for i, text := range probeTexts {
			entries[i].Text = text
		}
		return entries
	}
	keyword := &probe{name: "keyword", index: s.Indexes[port.Keyword],
		encode: func(context.Context) ([]port.Entry, error) { return texts(), nil },
		query: func(context.Context) (port.IndexQuery, error) {
			return port.IndexQuery{Retriever: port.Keyword, Text: probeQuery}, nil
		}}
	vector := &probe{name: "vector"}
	if s.Embedder != nil {
		vector.index = s.Indexes[port.Vector]
		vector.encode = func(ctx context.Context) ([]port.Entry, error) {
			d, err := s.Embedder.Embed(ctx, port.Passage, probeTexts)
			if err != nil {
				return nil, err
			}
			entries := texts()
			for i := range entries {
				entries[i].Vector = d.Row(i)
			}
			return entries, nil
		}
		vector.query = func(ctx context.Context) (port.IndexQuery, error) {
			d, err := s.Embedder.Embed(ctx, port.Query, []string{probeQuery})
			if err != nil {
				return port.IndexQuery{}, err
			}
			return port.IndexQuery{Retriever: port.Vector, Vector: d.Row(0)}, nil
		}
	}
	sparse := &probe{name: "sparse"}
	if s.Sparse != nil {
		sparse.index = s.Indexes[port.SparseTerms]
		sparse.encode = func(ctx context.Context) ([]port.Entry, error) {
			v, err := s.Sparse.Encode(ctx, port.Passage, probeTexts)
			if err != nil {
				return nil, err
			}
			entries := texts()
			for i := range entries {
				lo, hi := v.Rows[i], v.Rows[i+1]
				entries[i].SparseTerms, entries[i].SparseWeights = v.Terms[lo:hi], v.Weights[lo:hi]
			}
			return entries, nil
		}
		sparse.query = func(ctx context.Context) (port.IndexQuery, error) {
			v, err := s.Sparse.Encode(ctx, port.Query, []string{probeQuery})
			if err != nil {
				return port.IndexQuery{}, err
			}
			return port.IndexQuery{Retriever: port.SparseTerms, SparseTerms: v.Terms, SparseWeights: v.Weights}, nil
		}
	}
	all := []*probe{keyword, vector, sparse}
	for i, p := range all {
		p.partition = port.Documents("", "probe-"+p.name).At(int64(-1 - i))
	}
	return all
}

// run is the check of the retriever; nil: it is off.
func (p *probe) run() func(context.Context) error {
	if p.index == nil {
		return nil
	}
	return p.search
}

// search looks for the answer. The corpus is handed to the index on first use
// and again whenever the index has forgotten it.
func (p *probe) search(ctx context.Context) error {
	at, err := p.index.Applied(ctx, p.partition)
	if err != nil {
		return err
	}
	if at == 0 || !p.applied {
		if err := p.applyCorpus(ctx); err != nil {
			return err
		}
		p.applied = true
	}
	q, err := p.query(ctx)
	if err != nil {
		return err
	}
	q.Limit = len(probeTexts)
	hits, err := p.index.Search(ctx, p.partition, q)
	if errors.Is(err, port.ErrGap) { // the index has forgotten it since Applied
		if err = p.applyCorpus(ctx); err == nil {
			hits, err = p.index.Search(ctx, p.partition, q)
		}
	}
	if err != nil {
		return err
	}
	if len(hits) == 0 || hits[0].Document != probeID(probeAnswer) {
		return errors.New("the probe's answer is not the top hit")
	}
	return nil
}

func probeID(i int) string { return fmt.Sprintf("probe-%d", i) }

func (p *probe) applyCorpus(ctx context.Context) error {
	if p.entries == nil {
		entries, err := p.encode(ctx)
		if err != nil {
			return err
		}
		p.entries = entries
	}
	b := port.Batch{After: 0, Upto: 1}
	for i, e := range p.entries {
		b.Changes = append(b.Changes, port.IndexChange{Document: probeID(i), Entries: []port.Entry{e}})
	}
	return p.index.Apply(ctx, p.partition, b)
}
