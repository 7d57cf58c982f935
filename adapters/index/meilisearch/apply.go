package meilisearch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	client "github.com/meilisearch/meilisearch-go"

	"github.com/mnemehq/mneme/adapters/index/analysis"
	"github.com/mnemehq/mneme/core/port"
)

// chunk is an entry as Meilisearch stores it; doc.go says what the fields are.
type chunk struct {
	ID       string   `json:"id"`
	P        string   `json:"p"`
	H        string   `json:"h"`
	Document string   `json:"d"`
	Chunk    int      `json:"c"`
	Terms    string   `json:"w"`
	Facets   []string `json:"f"`
	Time     int64    `json:"t,omitempty"`
	Version  uint64   `json:"v"`
}

// emptied stands in the place of a chunk that is no more, until it is deleted. It
// belongs to no partition, so no search finds it.
type emptied struct {
	ID      string `json:"id"`
	Version uint64 `json:"v"` // 0
}

// progress says how far a partition is, and in which life of the index. Numbers
// beyond 2^53 would not survive as JSON numbers.
type progress struct {
	ID      string `json:"id"`
	P       string `json:"p"`
	Applied string `json:"n"`
	Life    string `json:"life"`
}

// Applied reads the partition's own document.
func (x *Index) Applied(ctx context.Context, p port.Partition) (uint64, error) {
	g, err := partitionName(p)
	if err != nil {
		return 0, err
	}
	if err := x.ready(ctx); err != nil {
		return 0, err
	}
	at, err := x.position(ctx, g)
	return at.applied, err
}

// position is how far a partition is.
type position struct {
	applied uint64
	life    string // of the index
}

// position reads the partition's own document and the index's. A position that names
// an earlier life of the index counts as none: the index was deleted or emptied while
// that write was in progress, so it lacks everything before it.
func (x *Index) position(ctx context.Context, g string) (position, error) {
	for again := false; ; again = true {
		var r client.DocumentsResult
		err := x.call(ctx, "read the state", func(ctx context.Context) error {
			r = client.DocumentsResult{}
			return x.index.GetDocumentsWithContext(ctx, &client.DocumentsQuery{Ids: []string{g, markID}, Limit: 2}, &r)
		})
		if err != nil && !errors.Is(err, errGone) {
			return position{}, err
		}
		var at progress
		var index mark
		for _, d := range r.Results {
			into := any(&at)
			if string(d["id"]) == strconv.Quote(markID) {
				into = &index
			}
			if err := d.DecodeInto(into); err != nil {
				return position{}, fmt.Errorf("meilisearch: state of %s: %w", g, err)
			}
		}
		switch {
		case index.ID == "" && again:
			return position{}, unavailable("meilisearch: read the state", fmt.Errorf("index %s is being deleted or made", x.uid))
		case index.ID == "":
			// Somebody deleted or emptied the index. No write may create it again, because
			// that would leave out its settings.
			if err := x.recheck(ctx); err != nil {
				return position{}, err
			}
			continue
		case at.ID == "" || at.Life != index.Life:
			return position{0, index.Life}, nil
		}
		n, err := strconv.ParseUint(at.Applied, 10, 64)
		if err != nil {
			return position{}, fmt.Errorf("meilisearch: state of %s: %w", g, err)
		}
		return position{n, index.Life}, nil
	}
}

// Durable is Applied: a task that succeeded is on disk.
func (x *Index) Durable(ctx context.Context, p port.Partition) (uint64, error) {
	return x.Applied(ctx, p)
}

// lockForWrite waits until nobody else writes the partition here, whose name is g.
func (x *Index) lockForWrite(ctx context.Context, p port.Partition) (g string, done func(), err error) {
	if g, err = partitionName(p); err != nil {
		return "", nil, err
	}
	if err := x.ready(ctx); err != nil {
		return "", nil, err
	}
	done, err = x.lock(ctx, p.Generation())
	return g, done, err
}

// Apply writes the batch as one task and awaits it.
func (x *Index) Apply(ctx context.Context, p port.Partition, b port.Batch) error {
	g, done, err := x.lockForWrite(ctx, p)
	if err != nil {
		return err
	}
	defer done()
	if err := x.awaitPending(ctx, p.Generation()); err != nil {
		return err
	}
	at, err := x.position(ctx, g)
	switch {
	case err != nil:
		return err
	case at.applied < b.After:
		return port.ErrGap
	case at.applied >= b.Upto:
		return nil
	}
	documents := make([]string, len(b.Changes)) // hashes
	for i, c := range b.Changes {
		documents[i] = hash(c.Document)
	}
	// Even at a partition's first batch: an earlier life may have left chunks.
	old, err := x.ids(ctx, ofDocuments(g, documents))
	if err != nil {
		return err
	}
	parts, dead, err := x.encode(g, at.life, b, documents, old)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := x.write(ctx, p.Generation(), part); err != nil {
			return err
		}
	}
	return x.deleteStale(ctx, g, b, documents, len(dead))
}

// encode makes the payloads of a batch, most often one. The last ends with the
// partition's own document. dead are the ids of chunks that the batch removes.
func (x *Index) encode(g, life string, b port.Batch, documents, old []string) (parts [][]byte, dead []string, err error) {
	limit := x.cfg.MaxPayloadMB << 20
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	put := func(d any) error {
		start := buf.Len()
		if err := enc.Encode(d); err != nil {
			return fmt.Errorf("meilisearch: encode a document: %w", err)
		}
		if start > 0 && buf.Len() > limit {
			parts = append(parts, slices.Clone(buf.Bytes()[:start]))
			buf.Next(start)
			rest := slices.Clone(buf.Bytes())
			buf.Reset()
			buf.Write(rest)
		}
		return nil
	}
	live := map[string]bool{}
	terms := x.terms()
	for i, c := range b.Changes {
		for _, e := range c.Entries {
			if e.Chunk < 0 || e.Chunk > math.MaxInt32 {
				return nil, nil, fmt.Errorf("meilisearch: chunk number %d is out of range", e.Chunk)
			}
			d := chunk{
				ID:       hash(g, c.Document, strconv.Itoa(e.Chunk)),
				P:        g,
				H:        documents[i],
				Document: c.Document,
				Chunk:    e.Chunk,
				Terms:    terms(port.Wording{Text: e.Text, Language: b.Language}),
				Facets:   facets(e.Facets),
				Time:     e.Time,
				Version:  b.Upto,
			}
			live[d.ID] = true
			if err := put(d); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, id := range old {
		if !live[id] {
			dead = append(dead, id)
			if err := put(emptied{ID: id}); err != nil {
				return nil, nil, err
			}
		}
	}
	if err := put(progress{g, g, strconv.FormatUint(b.Upto, 10), life}); err != nil {
		return nil, nil, err
	}
	return append(parts, buf.Bytes()), dead, nil
}

// write enqueues one payload and awaits its end. A task that takes too long is
// remembered, so that the next write does not queue the same again.
func (x *Index) write(ctx context.Context, generation int64, payload []byte) error {
	task, err := x.enqueue(ctx, "write", func(ctx context.Context) (*client.TaskInfo, error) {
		// The index has its primary key; naming it here would write to what the
		// client's callers share.
		return x.index.AddDocumentsNdjsonWithContext(ctx, payload, nil)
	})
	if err != nil {
		return err
	}
	x.mu.Lock()
	x.unawaited[generation] = pending{task}
	x.mu.Unlock()
	return x.awaitPending(ctx, generation)
}

// awaitPending awaits the task that a write left open. One that failed is forgotten
// with its error; what it should have written is replayed.
func (x *Index) awaitPending(ctx context.Context, generation int64) error {
	x.mu.Lock()
	left, ok := x.unawaited[generation]
	x.mu.Unlock()
	if !ok {
		return nil
	}
	err := x.await(ctx, "write", left.task)
	var failed *taskError
	if err == nil || errors.As(err, &failed) || errors.Is(err, errGone) || hasCode(err, "task_not_found") {
		x.mu.Lock()
		delete(x.unawaited, generation)
		x.mu.Unlock()
	}
	return err
}

// deleteStale deletes chunks that a write emptied, and chunks older than their document's
// change, which come from another process that wrote at the same time. A chunk that this
// write has too stays: if the other process has overwritten it, that process has also set
// the partition's number back, so this write will be replayed.
func (x *Index) deleteStale(ctx context.Context, g string, b port.Batch, documents []string, dead int) error {
	if len(documents) == 0 {
		return nil
	}
	if dead > 0 {
		_, err := x.enqueue(ctx, "delete chunks", func(ctx context.Context) (*client.TaskInfo, error) {
			// Not by id: one of them may be a chunk again by the time the task runs.
			return x.index.DeleteDocumentsByFilterWithContext(ctx, emptiedFilter, nil)
		})
		if err != nil { // they hold nothing, and the next start deletes them
			x.log.WarnContext(ctx, "keyword index cleanup failed", "documents", dead, "error", err)
		}
	}
	bySize := map[int][]string{} // documents by how many chunks they have
	for i, c := range b.Changes {
		n := 0
		for _, e := range c.Entries {
			n = max(n, e.Chunk+1)
		}
		bySize[n] = append(bySize[n], documents[i])
	}
	stale := surplusChunks(g, bySize) + " AND v < " + strconv.FormatUint(b.Upto, 10)
	n, err := x.count(ctx, stale)
	if err != nil || n == 0 {
		return err
	}
	return x.run(ctx, "delete old chunks", func(ctx context.Context) (*client.TaskInfo, error) {
		return x.index.DeleteDocumentsByFilterWithContext(ctx, stale, nil)
	})
}

// ids lists the primary keys of the documents that a filter matches.
func (x *Index) ids(ctx context.Context, filter string) ([]string, error) {
	const page = 10_000
	var out []string
	for {
		var r client.DocumentsResult
		err := x.call(ctx, "list chunks", func(ctx context.Context) error {
			r = client.DocumentsResult{}
			return x.index.GetDocumentsWithContext(ctx, &client.DocumentsQuery{
				Offset: int64(len(out)),
				Limit:  page,
				Fields: []string{"id"},
				Filter: filter,
			}, &r)
		})
		if err != nil {
			return nil, err
		}
		for _, h := range r.Results {
			var id string
			if err := json.Unmarshal(h["id"], &id); err != nil {
				return nil, fmt.Errorf("meilisearch: list chunks: %w", err)
			}
			out = append(out, id)
		}
		if len(r.Results) < page {
			return out, nil
		}
	}
}

// Drop deletes everything of the partition in one task.
func (x *Index) Drop(ctx context.Context, p port.Partition) error {
	g, done, err := x.lockForWrite(ctx, p)
	if err != nil {
		return err
	}
	defer done()
	if err := x.awaitPending(ctx, p.Generation()); err != nil && !errors.Is(err, errGone) {
		var failed *taskError
		if !errors.As(err, &failed) {
			return err
		}
	}
	return x.drop(ctx, g)
}

func (x *Index) drop(ctx context.Context, g string) error {
	n, err := x.count(ctx, ofPartition(g))
	if err == nil && n > 0 {
		err = x.run(ctx, "drop a partition", func(ctx context.Context) (*client.TaskInfo, error) {
			return x.index.DeleteDocumentsByFilterWithContext(ctx, ofPartition(g), nil)
		})
	}
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

// Retain drops the partitions that are not among the live ones. A partition may have been
// created since live was read: generations rise, so one below the highest live generation
// is gone for certain, and one above it is dropped only if the next list lacks it too.
// Generations below zero are not the store's but those of health checks. With the server
// out of reach, everything is left to the next call.
func (x *Index) Retain(live []int64) error {
	ctx := context.Background()
	err := x.ready(ctx)
	if err == nil {
		err = x.retain(ctx, live)
	}
	var away *unreachableError
	if errors.As(err, &away) {
		x.log.WarnContext(ctx, "keyword index cleanup failed", "error", err)
		return nil
	}
	return err
}

func (x *Index) retain(ctx context.Context, live []int64) error {
	keep, highest := make(map[string]bool, len(live)), int64(0)
	for _, g := range live {
		keep["g"+strconv.FormatInt(g, 10)], highest = true, max(highest, g)
	}
	have, err := x.ids(ctx, "n EXISTS")
	if errors.Is(err, errGone) {
		return nil
	}
	if err != nil {
		return err
	}
	x.mu.Lock()
	before, unlisted := x.unlisted, map[string]bool{}
	x.unlisted = unlisted
	x.mu.Unlock()
	have = slices.DeleteFunc(have, func(id string) bool {
		g, err := strconv.ParseInt(strings.TrimPrefix(id, "g"), 10, 64)
		if err != nil || g <= 0 || keep[id] {
			return true
		}
		unlisted[id] = true // should its deletion fail, too
		return g > highest && !before[id]
	})
	for _, g := range have {
		if err := x.drop(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// emptiedFilter matches the documents that replace removed chunks.
const emptiedFilter = "v = 0"

// deleteEmptied deletes what an earlier process left empty.
func (x *Index) deleteEmptied(ctx context.Context) {
	n, err := x.count(ctx, emptiedFilter)
	if err == nil && n > 0 {
		_, err = x.enqueue(ctx, "delete chunks", func(ctx context.Context) (*client.TaskInfo, error) {
			return x.index.DeleteDocumentsByFilterWithContext(ctx, emptiedFilter, nil)
		})
	}
	if err != nil {
		x.log.WarnContext(ctx, "keyword index cleanup failed", "error", err)
	}
}

// terms returns a function that writes a text as its terms, single characters of longer
// runs among them. It is for one goroutine.
func (x *Index) terms() func(text port.Wording) string {
	var b strings.Builder
	scan := x.analyzer.Scanner(func(t analysis.Token) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(encodeTerm(t.Term))
	})
	return func(text port.Wording) string {
		b.Reset()
		scan.Scan(text)
		return b.String()
	}
}

// encodeTerm is a term as one word of Meilisearch's tokenizer, which splits at what is
// neither letter nor digit and, in some scripts, between letters.
func encodeTerm(term []byte) string {
	for _, c := range term {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return "zz" + strings.ToLower(hashEncoding.EncodeToString(term))
		}
	}
	return string(term)
}
