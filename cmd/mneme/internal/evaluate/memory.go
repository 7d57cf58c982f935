package evaluate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/retrieve"
)

// Memory is the step over the memory API: each user's documents saved as
// memories in the corpus's order, and searched as an application does.
const Memory = "memory"

// originID is the metadata key under which a memory keeps its document's id.
const originID = "eval_document"

// endUser is the end user that stands for a user of the collection.
func (m *measurement) endUser(user string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("@._-", r) {
			return r
		}
		return '-'
	}, "eval-"+m.c.Name+"-"+user)
	return safe[:min(len(safe), 128)]
}

// memories measures the collection over the memory API.
func (m *measurement) memories(ctx context.Context, queries []Query) (Run, error) {
	if err := m.saveAll(ctx); err != nil {
		return Run{}, err
	}
	return m.run(ctx, Memory, queries)
}

// saveAll saves every user's documents unless an earlier run did.
func (m *measurement) saveAll(ctx context.Context) error {
	byUser := map[string][]Document{}
	for _, d := range m.c.Corpus {
		byUser[d.User] = append(byUser[d.User], d)
	}
	fingerprint := strings.Join([]string{Memory, m.c.Digest, m.embedding, m.sparse}, " ")
	var done atomic.Int64
	group, writing := errgroup.WithContext(ctx)
	group.SetLimit(m.o.Workers)
	for _, user := range sortedKeys(byUser) {
		group.Go(func() error {
			return m.saveMemories(writing, user, byUser[user], fingerprint, func(n int) {
				m.o.Progress("save", int(done.Add(int64(n))), len(m.c.Corpus))
			})
		})
	}
	return group.Wait()
}

// saveMemories saves a user's documents unless an earlier run did.
func (m *measurement) saveMemories(ctx context.Context, user string, docs []Document, fingerprint string,
	progress func(int)) error {
	name := m.endUser(user)
	if m.o.State != nil && m.o.State.Get(name) == fingerprint && !m.o.Rebuild {
		progress(len(docs))
		return nil
	}
	call := func(method, path string, in, out any) error {
		return client.RetryBusy(ctx, 20, func() error { return m.o.Memory.Do(ctx, method, path, in, out) })
	}
	if err := call(http.MethodDelete, "/api/v1/users/"+url.PathEscape(name), nil, nil); err != nil {
		return err
	}
	for part := range slices.Chunk(docs, batch) {
		items := make([]map[string]any, len(part))
		for i, d := range part {
			metadata := map[string]any{originID: d.ID}
			items[i] = map[string]any{"content": d.Text, "metadata": metadata}
			if !d.Time.IsZero() {
				items[i]["occurredAt"] = d.Time.Format(time.RFC3339)
			}
		}
		var saved memory.SavedBatch
		if err := call(http.MethodPost, "/api/v1/memories/batch", map[string]any{"endUserId": name, "memories": items},
			&saved); err != nil {
			return err
		}
		if !saved.Success {
			return fmt.Errorf("a memory of %s was not saved: %+v", user, saved.Results)
		}
		progress(len(part))
	}
	if m.o.State != nil {
		return m.o.State.Set(name, fingerprint)
	}
	return nil
}

// search asks for memories and gives their documents, best first, and how long that took.
func (m *measurement) search(ctx context.Context, q Query) (ids []string, took time.Duration, err error) {
	var res memory.Results
	took, err = timed(ctx, func() error {
		return m.o.Memory.Do(ctx, http.MethodPost, "/api/v1/search",
			map[string]any{"endUserId": m.endUser(q.User), "query": q.Text, "limit": m.o.MemoryLimit}, &res)
	})
	if err != nil {
		return nil, 0, err
	}
	if err := complete(res.Degraded); err != nil {
		return nil, 0, err
	}
	ids = make([]string, 0, len(res.Results))
	for _, r := range res.Results {
		id, err := origin(r)
		if err != nil {
			return nil, 0, err
		}
		ids = append(ids, id)
	}
	return ids, took, nil
}

// complete refuses an answer that lacks a part which the server has.
func complete(degraded []retrieve.Degraded) error {
	for _, d := range degraded {
		if d.Reason != retrieve.ModelOff {
			return fmt.Errorf("the search was degraded: %+v", degraded)
		}
	}
	return nil
}

// origin is the id of the document that a memory was saved from.
func origin(r memory.Result) (string, error) {
	var metadata map[string]string
	if err := json.Unmarshal(r.Metadata, &metadata); err != nil {
		return "", fmt.Errorf("metadata of memory %s: %w", r.ID, err)
	}
	return metadata[originID], nil
}
