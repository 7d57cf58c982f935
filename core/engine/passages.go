package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/retrieve"
)

// passagesOf lets blocks of context quote what queries find.
func passagesOf(queries *query.Service) memory.FindPassages {
	return func(ctx context.Context, namespace, text string, limit int) ([]memory.Passage, []retrieve.Degraded, error) {
		request := query.Request{Namespace: namespace, Query: text, TopK: &limit}
		if err := op.Check(&request); err != nil {
			return nil, nil, fmt.Errorf("check a query for passages: %w", err)
		}
		found, err := queries.Query(ctx, request)
		if fault.CodeOf(err) == fault.NamespaceNotFound {
			return nil, nil, nil // nothing was written to it yet
		}
		if err != nil {
			return nil, nil, fmt.Errorf("find passages: %w", err)
		}
		passages := make([]memory.Passage, 0, len(found.Results))
		for _, h := range found.Results {
			passages = append(passages, memory.Passage{
				Namespace:  namespace,
				DocumentID: h.DocumentID,
				Title:      titleOf(h.Metadata),
				Heading:    h.Heading,
				Text:       *h.Text,
				Start:      h.Start,
				End:        h.End,
				Page:       h.Page,
				Score:      h.Score,
			})
		}
		return passages, found.Degraded, nil
	}
}

// titleOf is the title in a document's metadata; "": there is none.
func titleOf(metadata json.RawMessage) string {
	var m struct {
		Title any `json:"title"`
	}
	if json.Unmarshal(metadata, &m) != nil {
		return ""
	}
	title, _ := m.Title.(string)
	return title
}
