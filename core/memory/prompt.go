package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// What a request for context that leaves them out gets.
const (
	contextTokens = 1000
	contextLimit  = 20
)

// ContextQuery is the body of POST /api/v1/context.
type ContextQuery struct {
	EndUserID string `json:"endUserId" fault:"invalid_end_user_id" schema:"EndUserID" doc:"the end user"`
	Query     string `json:"query" schema:"Text" minLength:"1" maxLength:"8192" doc:"the message that is to be answered"`
	MaxTokens *int   `json:"maxTokens,omitempty" minimum:"16" maximum:"32768" default:"1000" doc:"the most tokens that the block may have"`
	Limit     *int   `json:"limit,omitempty" minimum:"1" maximum:"100" default:"20" doc:"how many memories at most"`
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
	return Query{EndUserID: in.EndUserID, Query: in.Query, Limit: &limit, Scope: in.Scope}
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

// ContextBlock answers a ContextQuery.
type ContextBlock struct {
	Success   bool                `json:"success"`
	Context   string              `json:"context" doc:"text for a prompt; empty: nothing is remembered"`
	Tokens    int                 `json:"tokens" minimum:"0" doc:"tokens of context"`
	Tokenizer *string             `json:"tokenizer" doc:"the model whose tokenizer counted; null: the model does not count, and tokens are estimated"`
	Citations []Cited             `json:"citations" doc:"one for each marker"`
	Omitted   int                 `json:"omitted" minimum:"0" doc:"memories that were found and do not fit"`
	Degraded  []retrieve.Degraded `json:"degraded" doc:"parts left out of this answer, or that took part with less, and why"`
}

// Missing implements op.Partial.
func (b ContextBlock) Missing() iter.Seq2[string, string] { return retrieve.Missing(b.Degraded) }

// Context finds what is remembered of a message and makes a block for a prompt of it, within
// a budget of tokens.
func (s *Service) Context(ctx context.Context, in ContextQuery) (ContextBlock, error) {
	found, err := s.Search(ctx, in.search())
	if err != nil {
		return ContextBlock{}, err
	}
	out := ContextBlock{Success: true, Citations: []Cited{}, Degraded: found.Degraded}
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
	if err := out.fill(ctx, found.Results, count, budget); err != nil {
		return ContextBlock{}, fmt.Errorf("count the tokens of a block: %w", err)
	}
	return out, nil
}

// blockHead begins a block; a model is to know what it reads.
const blockHead = "Remembered, most relevant first:"

// fill takes as many memories into the block as its budget has room for. The best one is cut
// if it has to be; others that do not fit are left out.
func (b *ContextBlock) fill(ctx context.Context, found []Result, count chunk.Counter, budget int) error {
	if len(found) == 0 {
		return nil
	}
	texts := []string{blockHead}
	for i, r := range found {
		texts = append(texts, entry(i+1, r, r.MatchedContent))
	}
	counts, err := count(ctx, texts)
	if err != nil {
		return err
	}
	shown := make([]string, len(found)) // of each memory; "": left out
	if sum := counts[0]; sum+counts[1] > budget {
		if shown[0], err = beginning(ctx, found[0], count, budget); err != nil {
			return err
		}
	} else {
		for i, r := range found {
			if sum+counts[i+1] <= budget {
				sum += counts[i+1]
				shown[i] = r.MatchedContent
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

// compose makes the text and citations of what is shown of memories.
func (b *ContextBlock) compose(found []Result, shown []string) {
	b.Context, b.Citations, b.Omitted = "", []Cited{}, 0
	lines := []string{blockHead}
	for i, r := range found {
		if shown[i] == "" {
			b.Omitted++
			continue
		}
		lines = append(lines, entry(len(lines), r, shown[i]))
		start := max(0, strings.Index(r.Memory.Text, r.MatchedContent))
		b.Citations = append(b.Citations, Cited{
			Marker:       len(lines) - 1,
			MemoryID:     r.ID,
			Start:        start,
			End:          start + len(shown[i]),
			Score:        r.Score,
			ContainerTag: r.ContainerTag,
			CreatedAt:    r.CreatedAt,
		})
	}
	if len(b.Citations) > 0 {
		b.Context = strings.Join(lines, "\n")
	}
}

// entry is one memory in a block: its marker, its day, who said it, and its text, in which
// every further line is indented, so that no text looks like another entry.
func entry(marker int, r Result, text string) string {
	who := ""
	if said := speakerOf(r.Metadata); said != "" {
		who = ", " + oneLine(said)
	}
	day := time.UnixMilli(r.CreatedAt).UTC().Format(time.DateOnly)
	return fmt.Sprintf("[%d] %s%s: %s", marker, day, who, strings.ReplaceAll(lineEnds.Replace(text), "\n", "\n  "))
}

// lineEnds makes one kind of all ends of lines.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n",
	"\u2029", "\n")

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// beginning is as much of a memory as fits into a block alone, whole words where it has
// spaces; "" where not even its first character fits.
func beginning(ctx context.Context, r Result, count chunk.Counter, budget int) (string, error) {
	whole := []rune(r.MatchedContent)
	fits, over := 0, len(whole)
	for over-fits > 1 {
		middle := (fits + over) / 2
		n, err := count(ctx, []string{blockHead + "\n" + entry(1, r, string(whole[:middle]))})
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
