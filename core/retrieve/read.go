package retrieve

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
)

// Documents reads the documents of candidates, each once, by id. One that is
// gone since it was found is left out.
func Documents(ctx context.Context, r port.Reader, p port.Partition, c []*Candidate, parts port.Part) (map[string]port.DocumentHead, error) {
	ids, seen := make([]string, 0, len(c)), make(map[string]bool, len(c))
	for _, h := range c {
		if !seen[h.Document] {
			seen[h.Document] = true
			ids = append(ids, h.Document)
		}
	}
	docs, err := r.Documents(ctx, p, ids, parts)
	if err != nil {
		return nil, err
	}
	out := make(map[string]port.DocumentHead, len(docs))
	for _, d := range docs {
		out[d.ID] = d
	}
	return out, nil
}
