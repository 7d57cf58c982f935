package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// What a request for context that leaves them out gets.
const (
	contextTokens   = 1000
	contextLimit    = 20
	contextPassages = 5
)

// ContextQuery is the body of POST /api/v1/context.
type ContextQuery struct {
	EndUserID string  `json:"endUserId" fault:"invalid_end_user_id" schema:"EndUserID" doc:"the end user"`
	Query     string  `json:"query" schema:"Text" minLength:"1" maxLength:"8192" doc:"the message that is to be answered"`
	MaxTokens *int    `json:"maxTokens,omitempty" minimum:"16" maximum:"32768" default:"1000" doc:"the most tokens that the block may have"`
	Limit     *int    `json:"limit,omitempty" minimum:"1" maximum:"100" default:"20" doc:"how many memories at most"`
	Passages  *int    `json:"passages,omitempty" minimum:"0" maximum:"20" default:"5" doc:"how many passages of documents at most, from the namespace that the key names; a key that names none gets none"`
	Language  *string `json:"language,omitempty" enum:"auto,en,de,fr,es,it,pt,nl,sv,tr,ru,ar,hi" default:"auto" doc:"language that keyword search takes the query for; auto: it tells"`
	Scope
}

// Validate refuses a message that says nothing, and makes the scope one.
func (in *ContextQuery) Validate() error {
	q := in.search()
	err := q.Validate()
	in.Scope = q.Scope
	return err
}

// EndUser is for keys limited to one end user.
func (in *ContextQuery) EndUser() string { return in.EndUserID }

func (in *ContextQuery) search() Query {
	limit := contextLimit
	if in.Limit != nil {
		limit = *in.Limit
	}
	return Query{EndUserID: in.EndUserID, Query: in.Query, Limit: &limit, Language: in.Language, Scope: in.Scope}
}

// Cited says which memory stands in a block behind a marker.
type Cited struct {
	Marker       int     `json:"marker" minimum:"1" doc:"its number in the block"`
	MemoryID     string  `json:"memoryId"`
	Start        int     `json:"start" minimum:"0" doc:"UTF-8 byte offset, in the memory's content, of what the block shows of it"`
	End          int     `json:"end" minimum:"0" doc:"UTF-8 byte offset after it"`
	Score        float64 `json:"score" doc:"0-1; higher is better"`
	ContainerTag string  `json:"container_tag" doc:"its container; empty: none"`
	CreatedAt    int64   `json:"created_at" doc:"Unix milliseconds"`
}

// CitedPassage says which passage of a document stands in a block behind a marker.
type CitedPassage struct {
	Marker     int     `json:"marker" minimum:"1" doc:"its number in the block"`
	Namespace  string  `json:"namespace"`
	DocumentID string  `json:"documentId"`
	Title      string  `json:"title" doc:"of the document; empty: it has none"`
	Start      int     `json:"start" minimum:"0" doc:"UTF-8 byte offset, in the document's text, of what the block shows of it"`
	End        int     `json:"end" minimum:"0" doc:"UTF-8 byte offset after it"`
	Page       int     `json:"page,omitempty" minimum:"1" doc:"page or slide that it begins on, of a document with pages"`
	Score      float64 `json:"score" doc:"higher is better; not on the scale of memories"`
}

// ContextBlock answers a ContextQuery.
type ContextBlock struct {
	Success   bool                `json:"success"`
	Context   string              `json:"context" doc:"text for a prompt; empty: nothing is known"`
	Tokens    int                 `json:"tokens" minimum:"0" doc:"tokens of context"`
	Tokenizer *string             `json:"tokenizer" doc:"the model whose tokenizer counted; null: the model does not count, and tokens are estimated"`
	Citations []Cited             `json:"citations" doc:"one for each marker of a memory"`
	Passages  []CitedPassage      `json:"passages" doc:"one for each marker of a passage"`
	Omitted   int                 `json:"omitted" minimum:"0" doc:"memories and passages that were found and do not fit"`
	Degraded  []retrieve.Degraded `json:"degraded" doc:"parts left out of this answer, or that took part with less, and why"`
}

// Missing implements op.Partial.
func (b ContextBlock) Missing() iter.Seq2[string, string] { return retrieve.Missing(b.Degraded) }

// Passage is a chunk of a document that a search of its namespace found.
type Passage struct {
	Namespace, DocumentID string
	Title, Heading        string // "": none
	Text                  string
	Start, End            int // UTF-8 byte offsets of Text in the document's text
	Page                  int // 0: the document has no pages
	Score                 float64
}

// FindPassages finds up to limit passages of a namespace of the caller's organization, best
// first, and what degraded the search. A namespace that does not exist has none.
type FindPassages func(ctx context.Context, namespace, query string, limit int) ([]Passage, []retrieve.Degraded, error)

// Context finds what is remembered of a message, and what the documents of the key's namespace
// say of it, and makes a block for a prompt of both, within a budget of tokens.
func (s *Service) Context(ctx context.Context, in ContextQuery) (ContextBlock, error) {
	passages, degraded, err := s.contextPassages(ctx, in)
	if err != nil {
		return ContextBlock{}, err
	}
	found, err := s.Search(ctx, in.search())
	if err != nil {
		return ContextBlock{}, err
	}
	out := ContextBlock{Success: true, Citations: []Cited{}, Passages: []CitedPassage{}, Degraded: found.Degraded}
	for _, d := range degraded {
		if !slices.Contains(out.Degraded, d) {
			out.Degraded = append(out.Degraded, d)
		}
	}
	count := chunk.Counter(chunk.Approximate)
	if m := s.encoders.Configured().Embedder; m != nil {
		if c, ok := m.(port.TokenCounter); ok {
			count, out.Tokenizer = c.CountTokens, new(m.Info().ID)
		}
	}
	budget := contextTokens
	if in.MaxTokens != nil {
		budget = *in.MaxTokens
	}
	if err := out.fill(ctx, quotes(found.Results, passages), count, budget); err != nil {
		return ContextBlock{}, fmt.Errorf("count the tokens of a block: %w", err)
	}
	return out, nil
}

// contextPassages finds the passages for a block. Asking for some with a key that names no
// namespace is a fault, Forbidden.
func (s *Service) contextPassages(ctx context.Context, in ContextQuery) ([]Passage, []retrieve.Degraded, error) {
	namespace, limit := ident.From(ctx).Namespace, contextPassages
	if in.Passages != nil {
		limit = *in.Passages
	}
	switch {
	case limit == 0 || s.passages == nil:
		return nil, nil, nil
	case namespace == "" && in.Passages != nil:
		return nil, nil, fault.Field(fault.Forbidden, "passages", "this key names no namespace to take passages from")
	case namespace == "":
		return nil, nil, nil
	}
	return s.passages(ctx, namespace, in.Query, limit)
}

// What the parts of a block begin with; a model is to know what it reads.
const (
	memoriesHead = "Remembered, most relevant first:"
	passagesHead = "From documents, most relevant first:"
)

// quote is something that a block may show: a memory or a passage.
type quote struct {
	label   string // between its marker and its text
	text    string
	memory  *Result  // nil: it is a passage
	passage *Passage // nil: it is a memory
}

// quotes takes memories and passages in turns, each list by its order: their scores are on
// different scales, and a small budget should show both.
func quotes(memories []Result, passages []Passage) []quote {
	var all []quote
	for i := range max(len(memories), len(passages)) {
		if i < len(memories) {
			r := &memories[i]
			all = append(all, quote{label: memoryLabel(r), text: r.MatchedContent, memory: r})
		}
		if i < len(passages) {
			p := &passages[i]
			all = append(all, quote{label: passageLabel(p), text: p.Text, passage: p})
		}
	}
	return all
}

// head is what the part of the block begins with in which a quote stands.
func (q *quote) head() string {
	if q.passage != nil {
		return passagesHead
	}
	return memoriesHead
}

// entry is a quote in a block, in which every further line is indented, so that no text
// looks like another entry.
func (q *quote) entry(marker int, shown string) string {
	return fmt.Sprintf("[%d] %s: %s", marker, q.label, strings.ReplaceAll(lineEnds.Replace(shown), "\n", "\n  "))
}

// fill takes as many quotes into the block as its budget has room for. The first one is cut
// if it has to be; others that do not fit are left out.
func (b *ContextBlock) fill(ctx context.Context, found []quote, count chunk.Counter, budget int) error {
	if len(found) == 0 {
		return nil
	}
	texts := []string{memoriesHead, passagesHead}
	for i, q := range found {
		texts = append(texts, q.entry(i+1, q.text))
	}
	counts, err := count(ctx, texts)
	if err != nil {
		return err
	}
	heads, entries := map[string]int{memoriesHead: counts[0], passagesHead: counts[1]}, counts[2:]
	shown := make([]string, len(found)) // of each quote; "": left out
	if heads[found[0].head()]+entries[0] > budget {
		if shown[0], err = found[0].beginning(ctx, count, budget); err != nil {
			return err
		}
	} else {
		sum := 0
		for i, q := range found {
			if more := heads[q.head()] + entries[i]; sum+more <= budget {
				sum += more
				shown[i] = q.text
				heads[q.head()] = 0 // it stands there once
			}
		}
	}
	for last := len(found) - 1; ; last-- { // a tokenizer may need more for the whole than for its parts
		b.compose(found, shown)
		if counts, err = count(ctx, []string{b.Context}); err != nil {
			return err
		}
		if b.Tokens = counts[0]; b.Tokens <= budget {
			return nil
		}
		shown[last] = ""
	}
}

// compose makes the text and citations of what is shown of quotes: memories, then passages.
func (b *ContextBlock) compose(found []quote, shown []string) {
	b.Citations, b.Passages, b.Omitted = []Cited{}, []CitedPassage{}, 0
	var lines []string
	marker := 0
	for _, head := range []string{memoriesHead, passagesHead} {
		begun := false
		for i, q := range found {
			if q.head() != head {
				continue
			}
			if shown[i] == "" {
				b.Omitted++
				continue
			}
			if !begun {
				lines, begun = append(lines, head), true
			}
			marker++
			lines = append(lines, q.entry(marker, shown[i]))
			b.cite(q, marker, len(shown[i]))
		}
	}
	b.Context = strings.Join(lines, "\n")
}

// cite adds the citation of a quote of which so many bytes are shown.
func (b *ContextBlock) cite(q quote, marker, shown int) {
	if p := q.passage; p != nil {
		b.Passages = append(b.Passages, CitedPassage{
			Marker:     marker,
			Namespace:  p.Namespace,
			DocumentID: p.DocumentID,
			Title:      p.Title,
			Start:      p.Start,
			End:        p.Start + shown,
			Page:       p.Page,
			Score:      p.Score,
		})
		return
	}
	r := q.memory
	start := max(0, strings.Index(r.Memory.Text, r.MatchedContent))
	b.Citations = append(b.Citations, Cited{
		Marker:       marker,
		MemoryID:     r.ID,
		Start:        start,
		End:          start + shown,
		Score:        r.Score,
		ContainerTag: r.ContainerTag,
		CreatedAt:    r.CreatedAt,
	})
}

// memoryLabel is the day of a memory and who said it.
func memoryLabel(r *Result) string {
	day := time.UnixMilli(r.CreatedAt).UTC().Format(time.DateOnly)
	if said := speakerOf(r.Metadata); said != "" {
		return day + ", " + oneLine(said)
	}
	return day
}

// maxPassageLabel bounds what names a passage, in characters.
const maxPassageLabel = 120

// passageLabel is the title of a passage's document, or its id, and the headings above it.
func passageLabel(p *Passage) string {
	label := oneLine(cmp.Or(strings.TrimSpace(p.Title), p.DocumentID))
	h := oneLine(p.Heading)
	if first, lower, _ := strings.Cut(h, " > "); strings.EqualFold(first, label) {
		h = lower // the title is the heading above all others
	}
	if h != "" {
		label += " > " + h
	}
	if cut := []rune(label); len(cut) > maxPassageLabel {
		return string(cut[:maxPassageLabel]) + "…"
	}
	return label
}

// lineEnds makes one kind of all ends of lines.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n",
	"\u2029", "\n")

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// beginning is as much of a quote as fits into a block alone, whole words where it has
// spaces; "" where not even its first character fits.
func (q *quote) beginning(ctx context.Context, count chunk.Counter, budget int) (string, error) {
	whole := []rune(q.text)
	fits, over := 0, len(whole)
	for over-fits > 1 {
		middle := (fits + over) / 2
		n, err := count(ctx, []string{q.head() + "\n" + q.entry(1, string(whole[:middle]))})
		if err != nil {
			return "", err
		}
		if n[0] <= budget {
			fits = middle
		} else {
			over = middle
		}
	}
	cut := string(whole[:fits])
	if i := strings.LastIndexAny(cut, " \n\t"); i > 0 {
		cut = strings.TrimRight(cut[:i], " \n\t")
	}
	return cut, nil
}

// speakerOf is who said a memory: the name or the role in its metadata; "": it is not
// told.
func speakerOf(metadata json.RawMessage) string {
	var m map[string]any
	if len(metadata) == 0 || json.Unmarshal(metadata, &m) != nil {
		return ""
	}
	for _, member := range []string{nameMember, "speaker", roleMember} {
		if name, ok := m[member].(string); ok && strings.TrimSpace(name) != "" {
			return name
		}
	}
	return ""
}
