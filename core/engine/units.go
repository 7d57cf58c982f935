package engine

import (
	"context"
	"log/slog"

	"github.com/go-kit/kit/endpoint"
	"golang.org/x/sync/errgroup"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/audit"
	"github.com/mnemehq/mneme/core/check"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/file"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/mem0"
	"github.com/mnemehq/mneme/core/member"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/memory/recall"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/oauth"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/openai"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/reindex"
	"github.com/mnemehq/mneme/core/replica"
	"github.com/mnemehq/mneme/core/rerank"
	"github.com/mnemehq/mneme/core/retrieve"
	"github.com/mnemehq/mneme/core/session"
	"github.com/mnemehq/mneme/core/source"
	"github.com/mnemehq/mneme/core/status"
	"github.com/mnemehq/mneme/core/tool"
	"github.com/mnemehq/mneme/core/usage"
	"github.com/mnemehq/mneme/core/webhook"
)

// services are the parts that units take from.
type services struct {
	keys       *key.Service
	oauth      *oauth.Service   // nil: off
	sessions   *session.Service // nil: off
	members    *member.Service
	namespaces *namespace.Service
	documents  *document.Service
	files      *file.Service
	queries    *query.Service
	checks     *check.Service
	tools      *tool.Service
	memories   *memory.Service
	recall     *recall.Service
	admin      *admin.Service
	audit      *audit.Service
	usage      *usage.Service
	reranker   *rerank.Service
	models     *model.Service
	openai     *openai.Service
	mem0       *mem0.Service
	sources    *source.Service
	runs       *job.Runner // of sources; nil: they are off
	events     *event.Service
	publisher  *event.Publisher
	outages    *event.Models
	webhooks   *webhook.Service
	deliverer  *webhook.Deliverer
	status     *status.Service
	projector  *ingest.Projector
	replica    *replica.Member
	jobs       *job.Runner
	reindexing *reindex.Service
	searcher   *retrieve.Searcher
	census     *census
	beside     func(context.Context) error // nil: nobody tells of other processes
	sealer     port.Sealer
}

// unit is a part of the product: the operations that a service does, what runs in
// the background, or both.
type unit struct {
	name  string
	mount func(*op.Set, *services)                      // nil: it has no operations
	run   func(s *services) func(context.Context) error // nil: nothing runs; it may answer nil
}

// units is the table of what an Engine is made of. The operations are mounted and
// listed in its order.
func units() []unit {
	return []unit{
		serves("namespaces", namespace.Operations, func(s *services) *namespace.Service { return s.namespaces }),
		serves("documents", document.Operations, func(s *services) *document.Service { return s.documents }),
		serves("files", file.Operations, func(s *services) *file.Service { return s.files }),
		serves("queries", query.Operations, func(s *services) *query.Service { return s.queries }),
		serves("checks", check.Operations, func(s *services) *check.Service { return s.checks }),
		serves("tools", tool.Operations, func(s *services) *tool.Service { return s.tools }),
		serves("memories", memory.Operations, func(s *services) *memory.Service { return s.memories }).
			running(func(s *services) func(context.Context) error { return s.memories.Run }),
		serves("recall", recall.Operations, func(s *services) *recall.Service { return s.recall }),
		serves("admin", admin.Operations, func(s *services) *admin.Service { return s.admin }),
		serves("members", member.Operations, func(s *services) *member.Service { return s.members }),
		serves("audit", audit.Operations, func(s *services) *audit.Service { return s.audit }).
			running(func(s *services) func(context.Context) error { return unfailing(s.audit.Run) }),
		serves("usage", usage.Operations, func(s *services) *usage.Service { return s.usage }).
			running(func(s *services) func(context.Context) error { return unfailing(s.usage.Run) }),
		serves("rerank", rerank.Operations, func(s *services) *rerank.Service { return s.reranker }),
		serves("models", model.Operations, func(s *services) *model.Service { return s.models }),
		serves("openai", openai.Operations, func(s *services) *openai.Service { return s.openai }),
		serves("mem0", mem0.Operations, func(s *services) *mem0.Service { return s.mem0 }),
		serves("sources", source.Operations, func(s *services) *source.Service { return s.sources }).
			running(func(s *services) func(context.Context) error { return unfailing(s.sources.Run) }),
		runs("runs of sources", func(s *services) func(context.Context) error {
			if s.runs == nil {
				return nil
			}
			return unfailing(s.runs.Run)
		}),
		serves("events", event.Operations, func(s *services) *event.Service { return s.events }).
			running(func(s *services) func(context.Context) error { return unfailing(s.publisher.Run) }),
		serves("webhooks", webhook.Operations, func(s *services) *webhook.Service { return s.webhooks }).
			running(func(s *services) func(context.Context) error { return unfailing(s.deliverer.Run) }),
		runs("states of models", func(s *services) func(context.Context) error { return unfailing(s.outages.Run) }),
		runs("changes beside", func(s *services) func(context.Context) error { return s.beside }),
		serves("status", status.Operations, func(s *services) *status.Service { return s.status }),
		runs("keys", func(s *services) func(context.Context) error { return s.keys.Run }),
		runs("jobs", func(s *services) func(context.Context) error { return unfailing(s.jobs.Run) }),
		runs("reindexing", func(s *services) func(context.Context) error { return s.reindexing.Run }),
		runs("replica", func(s *services) func(context.Context) error { return unfailing(s.replica.Run) }),
		runs("figures", func(s *services) func(context.Context) error { return unfailing(s.census.Run) }),
		runs("indexes", func(s *services) func(context.Context) error { return unfailing(s.projector.Run) }),
		runs("oauth", func(s *services) func(context.Context) error {
			if s.oauth == nil {
				return nil
			}
			return unfailing(s.oauth.Run)
		}),
		runs("sessions", func(s *services) func(context.Context) error {
			if s.sessions == nil {
				return nil
			}
			return unfailing(s.sessions.Run)
		}),
	}
}

// serves is the unit of a service's operations.
func serves[S any](name string, operations func() []op.Op[S], of func(*services) S) unit {
	return unit{name: name, mount: func(set *op.Set, s *services) { op.Mount(set, of(s), operations()) }}
}

// runs is a unit that only runs in the background.
func runs(name string, run func(*services) func(context.Context) error) unit {
	return unit{name: name, run: run}
}

// running adds what a service does in the background.
func (u unit) running(run func(*services) func(context.Context) error) unit {
	u.run = run
	return u
}

// unfailing is a loop that cannot fail.
func unfailing(run func(context.Context)) func(context.Context) error {
	return func(ctx context.Context) error {
		run(ctx)
		return nil
	}
}

// mount adds the operations of all units to a set.
func mount(set *op.Set, s *services) {
	set.Events = event.Announcements()
	set.Absent = append(s.mem0.Absent(), s.openai.Absent()...)
	for _, u := range units() {
		if u.mount != nil {
			u.mount(set, s)
		}
	}
}

// start runs the loops of units until ctx ends. The group answers the first
// failure; each is logged by the name of its unit.
func start(ctx context.Context, table []unit, s *services, log *slog.Logger) *errgroup.Group {
	loops := &errgroup.Group{}
	for _, u := range table {
		if u.run == nil {
			continue
		}
		run := u.run(s)
		if run == nil {
			continue
		}
		loops.Go(func() error {
			err := run(ctx)
			if err != nil {
				log.ErrorContext(ctx, "background loop failed", "unit", u.name, "error", err)
			}
			return err
		})
	}
	return loops
}

// Operations is the table of the operations that an Engine mounts, to be described,
// not called: there is no service behind it.
func Operations() *op.Set {
	set := &op.Set{Chain: func(*op.Spec) endpoint.Middleware {
		return func(next endpoint.Endpoint) endpoint.Endpoint { return next }
	}}
	mount(set, &services{})
	return set
}
