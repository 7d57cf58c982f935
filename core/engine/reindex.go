package engine

import (
	"context"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// reindexer lends the reindexing of documents to the admin service.
type reindexer struct {
	documents *document.Service
	check     func(port.Namespace) error
}

func (r reindexer) Check(n port.Namespace) error { return r.check(n) }

func (r reindexer) Start(ctx context.Context, p port.Partition, force bool) (admin.Reindexing, error) {
	x, err := r.documents.StartReindex(ctx, p, force)
	if err != nil {
		return admin.Reindexing{}, err
	}
	return shown(p, x), nil
}

func (r reindexer) State(p port.Partition) (admin.Reindexing, bool) {
	x, ok := r.documents.ReindexState(p)
	return shown(p, x), ok
}

func shown(p port.Partition, x document.Reindexing) admin.Reindexing {
	out := admin.Reindexing{Namespace: p.Name(), Done: x.Done, Total: x.Total, Documents: x.Documents, Chunks: x.Chunks}
	switch {
	case x.Status == document.Waiting:
		out.Status = admin.Waiting
	case x.Status == document.Running:
		out.Status = admin.Running
	case x.Err != nil:
		f := fault.From(x.Err)
		out.Status, out.Error = admin.Failed, &admin.ReindexFailed{Code: string(f.Code), Message: f.Message}
	case x.Unchanged:
		out.Status = admin.Unchanged
	default:
		out.Status = admin.Succeeded
	}
	return out
}
