package engine

import (
	"github.com/go-kit/kit/endpoint"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/memory/recall"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/rerank"
	"github.com/mnemehq/mneme/core/source"
	"github.com/mnemehq/mneme/core/status"
)

// Operations is the table of the operations that an Engine mounts for HTTP, to be
// described, not called: there is no service behind it.
func Operations() *op.Set {
	set := &op.Set{Chain: func(*op.Spec) endpoint.Middleware {
		return func(next endpoint.Endpoint) endpoint.Endpoint { return next }
	}}
	op.Mount(set, nil, namespace.Operations())
	op.Mount(set, nil, document.Operations())
	op.Mount(set, nil, query.Operations())
	op.Mount(set, nil, memory.Operations())
	op.Mount(set, nil, recall.Operations())
	op.Mount(set, nil, admin.Operations())
	op.Mount(set, nil, rerank.Operations())
	op.Mount(set, nil, model.Operations())
	op.Mount(set, nil, source.Operations())
	op.Mount(set, nil, status.Operations())
	return set
}
