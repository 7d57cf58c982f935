package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// A memory that is a turn of a conversation often says little without the turn
// before it: "Yes, in May!" So its vector is made half of its own text and half
// of that text with the turn before it in front, and a search lets a turn's
// keyword score speak for the turns beside it. A turn is a memory that begins
// with a speaker ("Caroline: ...") or names one in its metadata; the turn before
// it is the one right before it in the same container, by time, unless more than
// an hour lies between. The text of that turn is then part of two vectors, so a link
// between them is stored; when that turn is deleted or changed, the vector made with its
// text is replaced in the same transaction.
const (
	contextGap   = time.Hour
	contextBytes = 1000 // of the turn before: its end
	labelBytes   = 48
	maxID        = "mem~" // sorts after every id that newID makes
)

// Speaker is the name before the colon that a turn of a conversation begins
// with; "" when there is none.
func Speaker(content string) string {
	name, _, ok := strings.Cut(content[:min(len(content), labelBytes)], ": ")
	if !ok || !utf8.ValidString(name) {
		return ""
	}
	for i, r := range name {
		if !unicode.IsLetter(r) && (i == 0 || r != ' ' && r != '.' && r != '\'' && r != '’' && r != '-' && !unicode.IsMark(r)) {
			return ""
		}
	}
	return name
}

// isTurn reports whether a memory is a turn of a conversation.
func isTurn(content string, metadata json.RawMessage) bool {
	if Speaker(content) != "" {
		return true
	}
	if len(metadata) == 0 {
		return false
	}
	var m struct {
		Speaker any `json:"speaker"`
		Role    any `json:"role"`
	}
	if json.Unmarshal(metadata, &m) != nil {
		return false
	}
	_, speaker := m.Speaker.(string)
	_, role := m.Role.(string)
	return speaker || role
}

// isPrecedingTurn reports whether a memory is the turn before one at a time.
func isPrecedingTurn(before *port.Document, at time.Time) bool {
	return before != nil && at.Sub(before.CreatedAt) <= contextGap && isTurn(before.Text, before.Metadata)
}

// inContext is the text that is embedded for a turn: the end of the turn before
// it, then its own.
func inContext(before, own string) string {
	if len(before) > contextBytes {
		before = strings.ToValidUTF8(before[len(before)-contextBytes:], "")
	}
	return before + "\n" + own
}

// precedingTurn is the turn before a pending one.
type precedingTurn struct {
	id   string          // of a stored memory; "": one of the same call
	key  port.ContentKey // of one of the same call
	text string
}

// pendingMemory is a memory to be written, with what its neighbors need to know.
type pendingMemory struct {
	text
	id      string // "" : a new one
	created time.Time
	encoded *ingest.Encoded

	preceding *precedingTurn // nil: none
	own       []float32      // its vector without the preceding turn; nil: there is none
}

// findPrecedingTurns finds the turn before each pending memory, among the stored
// memories and the pending ones themselves. followers are the stored turns that a
// pending one now precedes.
func findPrecedingTurns(ctx context.Context, r reader, p port.Partition, exists bool,
	list []*pendingMemory) (followers []string, err error) {
	turns := slices.DeleteFunc(slices.Clone(list), func(n *pendingMemory) bool { return !isTurn(n.content, n.metadata.JSON()) })
	slices.SortStableFunc(turns, func(a, b *pendingMemory) int {
		return cmp.Or(cmp.Compare(a.container, b.container), a.created.Compare(b.created))
	})
	stored := make([]port.Neighbors, len(turns))
	if exists && len(turns) > 0 {
		places := make([]port.Position, len(turns))
		for i, n := range turns {
			places[i] = port.Position{Container: n.container, CreatedAt: n.created, ID: cmp.Or(n.id, maxID)}
		}
		if stored, err = r.Neighbors(ctx, p, places); err != nil {
			return nil, err
		}
	}
	for i, n := range turns {
		before, after := stored[i].Before, stored[i].After
		if before != nil && before.ID != n.id && isPrecedingTurn(before, n.created) {
			n.preceding = &precedingTurn{id: before.ID, text: before.Text}
		}
		if i > 0 && turns[i-1].container == n.container && n.created.Sub(turns[i-1].created) <= contextGap &&
			(before == nil || !before.CreatedAt.After(turns[i-1].created)) {
			n.preceding = &precedingTurn{key: turns[i-1].key, text: turns[i-1].content}
		}
		if after != nil && after.ID != n.id && after.CreatedAt.Sub(n.created) <= contextGap {
			followers = append(followers, after.ID)
		}
	}
	return followers, nil
}

// blendVectors mixes the turns before pending memories into their encoded vectors.
func blendVectors(ctx context.Context, models *ingest.Encoder, list []*pendingMemory) error {
	var blended []*pendingMemory
	var own [][]float32
	var texts []string
	for _, n := range list {
		if n.preceding == nil || len(n.encoded.Chunks) != 1 {
			n.preceding = nil
			continue
		}
		n.own = slices.Clone(n.encoded.Vectors.Dense.Row(0))
		blended, own, texts = append(blended, n), append(own, n.own), append(texts, inContext(n.preceding.text, n.content))
	}
	mixed, err := models.InContext(ctx, own, texts)
	if err != nil {
		return err
	}
	for i, n := range blended {
		n.encoded.Vectors.Dense.Data = mixed[i]
	}
	return nil
}

// precedingStands is precedingUnchanged for an end user who may have been erased since: then no
// stored turn may have a part in a vector.
func precedingStands(ctx context.Context, r reader, p port.Partition, exists bool, list []*pendingMemory) (bool, error) {
	if exists {
		return precedingUnchanged(ctx, r, p, list)
	}
	return !slices.ContainsFunc(list, func(n *pendingMemory) bool { return n.preceding != nil && n.preceding.id != "" }), nil
}

// precedingUnchanged reports whether every stored preceding turn has, in the
// transaction, the text with which it was embedded.
func precedingUnchanged(ctx context.Context, r reader, p port.Partition, list []*pendingMemory) (bool, error) {
	said := map[string]string{}
	for _, n := range list {
		if n.preceding != nil && n.preceding.id != "" {
			said[n.preceding.id] = n.preceding.text
		}
	}
	return textsUnchanged(ctx, r, p, said)
}

// textsUnchanged reports whether memories, by id, still exist with the texts given.
func textsUnchanged(ctx context.Context, r reader, p port.Partition, said map[string]string) (bool, error) {
	if len(said) == 0 {
		return true, nil
	}
	ids := make([]string, 0, len(said))
	for id := range said {
		ids = append(ids, id)
	}
	docs, err := r.Documents(ctx, p, ids, 0)
	if err != nil {
		return false, err
	}
	for _, d := range docs {
		if d.TextHash != sha256.Sum256([]byte(said[d.ID])) {
			return false, nil
		}
	}
	return len(docs) == len(ids), nil
}

// restoreOwnVectors resets the vectors of memories that were made with the text of any
// of ids to those of the memories' own text alone, and returns the ids of these memories.
func restoreOwnVectors(ctx context.Context, tx *ingest.Tx, pinned port.Partition, ids []string) ([]string, error) {
	links, err := tx.ContextLinks(ctx, pinned, ids, true)
	if err != nil {
		return nil, err
	}
	own := map[string][]float32{}
	var released []string
	for _, l := range links {
		if slices.Contains(ids, l.Context) && !slices.Contains(ids, l.ID) {
			own[l.ID] = l.Own
			released = append(released, l.ID)
		}
	}
	none := make([]port.ContextLink, len(released))
	for i, id := range released {
		none[i].ID = id
	}
	if err := replaceVectors(ctx, tx, pinned, own); err != nil {
		return nil, err
	}
	return released, tx.PutContextLinks(ctx, pinned, none)
}

// replaceVectors replaces the dense vectors of stored memories of one chunk. The caller
// did not update these memories, so their times stay.
func replaceVectors(ctx context.Context, tx *ingest.Tx, pinned port.Partition, dense map[string][]float32) error {
	if len(dense) == 0 {
		return nil
	}
	ids := make([]string, 0, len(dense))
	for id := range dense {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	docs, err := tx.Documents(ctx, pinned, ids, port.PartText|port.PartMetadata|port.PartChunks)
	if err != nil {
		return err
	}
	stored, err := tx.Vectors(ctx, pinned, ids)
	if err != nil {
		return err
	}
	writes := make([]port.DocumentWrite, 0, len(docs))
	for _, d := range docs {
		v := stored[d.ID]
		if len(d.Chunks) != 1 {
			continue
		}
		v.Dense = port.Dense{Dim: len(dense[d.ID]), Data: dense[d.ID]}
		writes = append(writes, port.DocumentWrite{Document: d.Document, Vectors: v})
	}
	return tx.Reencode(ctx, pinned, writes)
}

// relink updates the vectors and links of stored turns to the turns that precede them
// now. It runs after a write that changed their neighbors and is not part of it: if it
// fails, a turn with a stale link is found by its own words until the next relink.
func (s *Service) relink(ctx context.Context, p port.Partition, ids []string) {
	if len(ids) == 0 {
		return
	}
	leave := s.work.enter(p)
	defer leave()
	if err := s.tryRelink(ctx, p, ids); err != nil && ctx.Err() == nil && !errors.Is(err, ingest.ErrMoved) {
		if !fault.IsPartitionNotFound(err) && fault.CodeOf(err) != fault.Unavailable {
			s.log.WarnContext(ctx, "memory relink failed", "partition", p.String(), "error", err)
		}
	}
}

// staleLink is a stored turn whose preceding turn is not the one that it was embedded
// with.
type staleLink struct {
	doc       port.DocumentHead
	own       []float32
	preceding *port.Document
}

func (s *Service) tryRelink(ctx context.Context, p port.Partition, ids []string) error {
	var changes []staleLink
	var models *ingest.Encoder
	err := s.store.View(ctx, func(r snapshot) error {
		ns, exists, err := s.readForWrite(ctx, r, p)
		models = s.encoders.For(ns)
		if err == nil && exists {
			err = s.checkModels(ns)
		}
		if err == nil {
			changes, err = s.staleLinks(ctx, r, p, ids)
		}
		return err
	})
	if err != nil || len(changes) == 0 {
		return err
	}
	var own [][]float32
	var texts []string
	for _, c := range changes {
		if c.preceding != nil {
			own, texts = append(own, c.own), append(texts, inContext(c.preceding.Text, c.doc.Text))
		}
	}
	mixed, err := models.InContext(ctx, own, texts)
	if err != nil {
		return err
	}
	return s.changes.Write(ctx, ingest.CauseReencoding, func(tx *ingest.Tx) error {
		ns, exists, err := s.readForWrite(ctx, tx, p)
		if err != nil || !exists {
			return err
		}
		if !s.encoders.For(ns).SameModels(models) {
			return ingest.ErrMoved
		}
		said, dense, links := map[string]string{}, map[string][]float32{}, make([]port.ContextLink, 0, len(changes))
		next := 0
		for _, c := range changes {
			said[c.doc.ID] = c.doc.Text
			l := port.ContextLink{ID: c.doc.ID}
			dense[c.doc.ID] = c.own
			if c.preceding != nil {
				said[c.preceding.ID] = c.preceding.Text
				l.Context, l.Own = c.preceding.ID, c.own
				dense[c.doc.ID] = mixed[next]
				next++
			}
			links = append(links, l)
		}
		if same, err := textsUnchanged(ctx, tx, p, said); err != nil || !same {
			return cmp.Or(err, ingest.ErrMoved)
		}
		pinned := p.At(ns.Generation)
		if err := replaceVectors(ctx, tx, pinned, dense); err != nil {
			return err
		}
		return tx.PutContextLinks(ctx, pinned, links)
	})
}

// staleLinks finds those of ids whose preceding turn is not the one that they were
// embedded with.
func (s *Service) staleLinks(ctx context.Context, r reader, p port.Partition, ids []string) ([]staleLink, error) {
	docs, err := r.Documents(ctx, p, ids, port.PartText|port.PartMetadata|port.PartChunks)
	if err != nil {
		return nil, err
	}
	docs = slices.DeleteFunc(docs, func(d port.DocumentHead) bool { return len(d.Chunks) != 1 || !isTurn(d.Text, d.Metadata) })
	places, ids := make([]port.Position, len(docs)), make([]string, len(docs))
	for i, d := range docs {
		places[i], ids[i] = port.Position{Container: d.Container, CreatedAt: d.CreatedAt, ID: d.ID}, d.ID
	}
	beside, err := r.Neighbors(ctx, p, places)
	if err != nil {
		return nil, err
	}
	links, err := r.ContextLinks(ctx, p, ids, true)
	if err != nil {
		return nil, err
	}
	vectors, err := r.Vectors(ctx, p, ids)
	if err != nil {
		return nil, err
	}
	var out []staleLink
	for i, d := range docs {
		c := staleLink{doc: d, own: vectors[d.ID].Dense.Data}
		if isPrecedingTurn(beside[i].Before, d.CreatedAt) {
			c.preceding = beside[i].Before
		}
		has, want := "", ""
		if c.preceding != nil {
			want = c.preceding.ID
		}
		for _, l := range links {
			if l.ID == d.ID {
				has, c.own = l.Context, l.Own
			}
		}
		if has != want && len(c.own) > 0 {
			out = append(out, c)
		}
	}
	return out, nil
}

// The shares of a turn's keyword score that the turns after and before it get, chosen by
// measurements on dialogues (docs/quality.md).
const (
	nextShare     = 0.3
	previousShare = 0.2
)

// spreadScores adds a share of each turn's keyword score to the turns beside it: the
// words of a question often stand in one turn and the answer in the next.
func (s *Service) spreadScores(ctx context.Context, p port.Partition, l retrieve.List) (retrieve.List, error) {
	if l.Retriever != port.Keyword || len(l.Hits) == 0 {
		return l, nil
	}
	ids := make([]string, 0, len(l.Hits))
	for _, h := range l.Hits {
		ids = append(ids, h.Document)
	}
	var links []port.ContextLink
	err := s.store.View(ctx, func(r snapshot) (err error) {
		links, err = r.ContextLinks(ctx, p, slices.Compact(slices.Sorted(slices.Values(ids))), false)
		return err
	})
	if err != nil || len(links) == 0 {
		return l, err
	}
	at := make(map[string]int, len(l.Hits)) // of each memory's best chunk
	for i, h := range slices.Backward(l.Hits) {
		at[h.Document] = i
	}
	hits := slices.Clone(l.Hits)
	give := func(to, from string, part float32) {
		i, ok := at[from]
		if !ok || i >= len(l.Hits) {
			return
		}
		j, ok := at[to]
		if !ok {
			j = len(hits)
			at[to] = j
			hits = append(hits, port.Hit{Document: to})
		}
		hits[j].Score += part * l.Hits[i].Score
	}
	for _, k := range links {
		give(k.ID, k.Context, nextShare)
		give(k.Context, k.ID, previousShare)
	}
	slices.SortStableFunc(hits, func(a, b port.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Chunk, b.Chunk))
	})
	return retrieve.List{Retriever: l.Retriever, Hits: hits}, nil
}
