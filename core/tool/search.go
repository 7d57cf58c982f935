package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/query"
)

// Search are the arguments of search.
type Search struct {
	Connection
	Query     string          `json:"query" minLength:"1"`
	Namespace string          `json:"namespace,omitempty" fault:"invalid_namespace"`
	TopK      *int            `json:"top_k,omitempty" minimum:"1" maximum:"20" default:"8"`
	Filter    json.RawMessage `json:"filter,omitempty" fault:"invalid_filter" schema:"Filter" doc:"metadata to match: {key: value}, $in, $and, $or"`
	Rerank    *bool           `json:"rerank,omitempty" default:"true"`
	Language  string          `json:"language,omitempty" enum:"auto,en,de,fr,es,it,pt,nl,sv,tr,ru,ar,hi" doc:"language of the query's words; default: that of the namespace"`
}

const (
	defaultTopK = 8
	maxText     = 700 // characters of a result's text
)

// Validate checks what a query of a namespace checks.
func (in *Search) Validate() error {
	q := in.request("a", 1) // any name: the namespaces are resolved later
	return op.Check(&q)
}

func (in *Search) topK() int {
	if in.TopK == nil {
		return defaultTopK
	}
	return *in.TopK
}

func (in *Search) reranks() bool { return in.Rerank == nil || *in.Rerank }

// Classes charges the rerank class too.
func (in *Search) Classes() []op.Class {
	if in.reranks() {
		return []op.Class{op.Rerank}
	}
	return nil
}

// request is the query of one namespace, without reranking.
func (in *Search) request(namespace string, topK int) query.Request {
	one := 1
	q := query.Request{Namespace: namespace, Query: in.Query, TopK: &topK, Filter: in.Filter, MaxChunksPerDocument: &one}
	if in.Language != "" {
		q.Language = &in.Language
	}
	return q
}

// Found answers search.
type Found struct {
	Results  []Result   `json:"results"`
	Degraded []Degraded `json:"degraded"`
}

// Missing implements op.Partial.
func (f Found) Missing() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, d := range f.Degraded {
			if !yield(d.Part, d.Reason) {
				return
			}
		}
	}
}

// Result is the best passage of one document.
type Result struct {
	ID       string          `json:"id"`
	Title    string          `json:"title"`
	URL      string          `json:"url"`
	Text     string          `json:"text"`
	Score    float64         `json:"score"`
	Metadata json.RawMessage `json:"metadata" schema:"Metadata"`
}

// Degraded names what is missing from an answer and why.
type Degraded struct {
	Part   string `json:"part"`
	Reason string `json:"reason"`
}

// Search finds the best passages of one namespace or, where a call names none, of
// all. The namespace of the connection or the key may be one that nobody has saved to yet.
func (s *Service) Search(ctx context.Context, in Search) (Found, error) {
	names, err := s.searchedNamespaces(ctx, in.Connection, in.Namespace)
	if err != nil {
		return Found{}, err
	}
	var f collectedHits
	if len(names) == 1 {
		err = f.query(ctx, s, in, names[0], in.topK(), 0)
	} else {
		err = f.queryAll(ctx, s, in, names)
	}
	if err != nil && (in.Namespace != "" || fault.CodeOf(err) != fault.NamespaceNotFound) {
		return Found{}, err
	}
	return s.show(in.Connection, f), nil
}

// collectedHits collects the hits of namespaces and what degraded them.
type collectedHits struct {
	hits     []hit
	degraded []Degraded
}

type hit struct {
	query.Hit
	namespace string
}

// query adds one namespace's hits. depth is how many candidates are rescored;
// 0: as many as the server takes for topK.
func (f *collectedHits) query(ctx context.Context, s *Service, in Search, name string, topK, depth int) error {
	q := in.request(name, topK)
	switch {
	case !in.reranks():
	case depth == 0:
		q.Rerank = json.RawMessage("true")
	default:
		q.Rerank, _ = json.Marshal(query.Rerank{Depth: &depth}) // an int always encodes
	}
	if err := op.Check(&q); err != nil {
		return err
	}
	out, err := s.Queries.Query(ctx, q)
	if err != nil {
		return err
	}
	for _, h := range out.Results {
		f.hits = append(f.hits, hit{h, name})
	}
	for _, d := range out.Degraded {
		if d := (Degraded{d.Part, d.Reason}); !slices.Contains(f.degraded, d) {
			f.degraded = append(f.degraded, d)
		}
	}
	return nil
}

// queryAll searches several namespaces. Reranking costs as much as for one: a first
// pass without it divides the rescored candidates among the namespaces by how many
// of the best hits each has.
func (f *collectedHits) queryAll(ctx context.Context, s *Service, in Search, names []string) error {
	plain, no := in, false
	plain.Rerank = &no
	topK := in.topK()
	for _, name := range names {
		err := f.query(ctx, s, plain, name, topK, 0)
		if fault.CodeOf(err) == fault.NamespaceNotFound {
			continue // it has been emptied since it was listed
		}
		if err != nil {
			return err
		}
	}
	f.sort()
	if in.reranks() {
		head := f.hits[:min(2*topK, len(f.hits))]
		share := map[string]int{}
		for _, h := range head {
			share[h.namespace]++
		}
		*f = collectedHits{}
		for _, name := range names {
			n := share[name]
			if n == 0 {
				continue
			}
			if err := f.query(ctx, s, in, name, n, n); err != nil && fault.CodeOf(err) != fault.NamespaceNotFound {
				return err
			}
		}
		f.sort()
	}
	f.hits = f.hits[:min(topK, len(f.hits))]
	return nil
}

// sort orders the hits of several namespaces: rescored ones first, since their scores
// are on another scale.
func (f *collectedHits) sort() {
	slices.SortStableFunc(f.hits, func(a, b hit) int {
		if a.Reranked != b.Reranked {
			if a.Reranked {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
}

// show turns hits into the answer.
func (s *Service) show(c Connection, f collectedHits) Found {
	out := Found{Results: make([]Result, 0, len(f.hits)), Degraded: f.degraded}
	if out.Degraded == nil {
		out.Degraded = []Degraded{}
	}
	for _, h := range f.hits {
		m := describe(h.Metadata)
		out.Results = append(out.Results, Result{
			ID:       h.ID,
			Title:    m.titleOr(h.Document.Text),
			URL:      m.urlOr(s.link(c, handle{h.namespace, h.DocumentID})),
			Text:     clip(*h.Text, maxText),
			Score:    math.Round(h.Score*1e4) / 1e4,
			Metadata: h.Metadata,
		})
	}
	shrinkToFit(&out)
	return out
}

// maxTokens bounds a search's answer, as tokens estimates it. With it, answers in twelve
// scripts and kinds of text, random letters among them, stayed below 8000 tokens of
// o200k_base and of cl100k_base.
const maxTokens = 7500

const (
	resultFrame   = 30  // what a result costs beside its values
	smallMetadata = 100 // metadata that costs no more comes before texts
)

// shrinkToFit makes the answer small enough for a model to read. Texts are shortened to an
// equal share; then large metadata, key by key; and results that have no room are
// left out. The latter two are named in degraded.
func shrinkToFit(f *Found) {
	note := func(part string) {
		if d := (Degraded{part, "too_long"}); !slices.Contains(f.Degraded, d) {
			f.Degraded = append(f.Degraded, d)
		}
	}
	room := maxTokens
	large := make([]bool, len(f.Results))
	for i, r := range f.Results {
		cost := resultFrame + tokens(r.ID) + tokens(r.Title) + tokens(r.URL)
		if m := tokens(string(r.Metadata)); m <= smallMetadata {
			cost += m
		} else {
			large[i] = true
		}
		if cost > room {
			f.Results = f.Results[:i]
			note("results")
			break
		}
		room -= cost
	}
	for i := range f.Results {
		r := &f.Results[i]
		r.Text = truncateTokens(r.Text, room/(len(f.Results)-i))
		room -= tokens(r.Text)
	}
	for i := range f.Results {
		r := &f.Results[i]
		if !large[i] {
			continue
		}
		if tokens(string(r.Metadata)) > room {
			note("metadata")
			r.Metadata = trimMetadata(r.Metadata, room)
		}
		room -= tokens(string(r.Metadata))
	}
}

// trimMetadata keeps of metadata, in the order of names, what fits.
func trimMetadata(metadata json.RawMessage, room int) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(metadata, &m) != nil {
		return json.RawMessage("{}")
	}
	kept := map[string]json.RawMessage{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if cost := tokens(k) + tokens(string(m[k])) + 6; cost <= room {
			room -= cost
			kept[k] = m[k]
		}
	}
	out, err := json.Marshal(kept)
	if err != nil {
		return json.RawMessage("{}")
	}
	return out
}

// truncateTokens shortens a text to so many tokens.
func truncateTokens(s string, most int) string {
	var c counter
	for i, r := range s {
		if c.add(r); c.sum() > most {
			return s[:i]
		}
	}
	return s
}

// tokens estimates, on the safe side, how many tokens of a language model a text
// is: four letters of a word or three digits make one, as does any other ASCII
// sign and a letter of two bytes in UTF-8; one of three bytes is one and a half,
// and of four bytes four.
func tokens(s string) int {
	var c counter
	for _, r := range s {
		c.add(r)
	}
	return c.sum()
}

// counter adds up half tokens. A run of letters ends where a capital follows.
type counter struct{ halves, letters, digits int }

func (c *counter) add(r rune) {
	switch {
	case 'a' <= r && r <= 'z':
		c.endDigits()
		c.letters++
		return
	case 'A' <= r && r <= 'Z':
		c.endDigits()
		c.endLetters()
		c.letters++
		return
	case '0' <= r && r <= '9':
		c.endLetters()
		c.digits++
		return
	}
	c.endLetters()
	c.endDigits()
	switch n := utf8.RuneLen(r); {
	case r == ' ': // goes with the word behind it
	case r == '"' || r == '\\' || r < ' ':
		c.halves += 4 // escaped in JSON
	case n == 3:
		c.halves += 3
	case n == 4:
		c.halves += 8
	default:
		c.halves += 2
	}
}

func (c *counter) endLetters() {
	c.halves += (c.letters + 3) / 4 * 2
	c.letters = 0
}

func (c *counter) endDigits() {
	c.halves += (c.digits + 2) / 3 * 2
	c.digits = 0
}

func (c *counter) sum() int { return (c.halves+1)/2 + (c.letters+3)/4 + (c.digits+2)/3 }
