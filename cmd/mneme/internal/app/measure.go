package app

import (
	"sync"
	"time"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/webhook"
	"github.com/mnemehq/mneme/transports/metrics"
)

// measure adds what is read when the metrics are: nothing of it costs more than a look.
// Labels are of small sets, and none names a tenant.
func (a *App) measure(watch *model.Watch) {
	a.measureCalls(watch)
	a.measureStore()
	a.measurePools()
	a.measureWork()
	a.measureDisk()
}

// gauge adds a gauge of the engine's figures.
func (a *App) gauge(name, help string, labels []string, read func(f engine.Figures, emit metrics.Emit)) {
	a.figure(metrics.Family{Name: name, Type: metrics.Gauge, Help: help, Labels: labels}, read)
}

// counter adds a counter of the engine's figures.
func (a *App) counter(name, help string, labels []string, read func(f engine.Figures, emit metrics.Emit)) {
	a.figure(metrics.Family{Name: name, Type: metrics.Counter, Help: help, Labels: labels}, read)
}

func (a *App) figure(f metrics.Family, read func(f engine.Figures, emit metrics.Emit)) {
	a.Metrics.Read(f, func(emit metrics.Emit) { read(a.Engine.Figures(), emit) })
}

func (a *App) measureCalls(watch *model.Watch) {
	a.gauge("mneme_calls_running", "Calls being served.", nil,
		func(f engine.Figures, emit metrics.Emit) { emit(float64(f.Running)) })
	a.gauge("mneme_calls_waiting", "Calls waiting for their turn.", nil,
		func(f engine.Figures, emit metrics.Emit) { emit(float64(f.Waiting)) })
	a.Metrics.Read(metrics.Family{Name: "mneme_model_state", Type: metrics.Gauge,
		Help: "1 for the state that a model is in: ready, loading or error.", Labels: []string{"model", "kind", "state"}},
		func(emit metrics.Emit) {
			for _, m := range watch.All() {
				emit(1, m.Model, string(m.Task), string(m.State))
			}
		})
	a.measureModels()
	a.counter("mneme_query_encodings_total", "Encodings of queries, by whether an earlier one was kept: hit or miss.",
		[]string{"cache"}, func(f engine.Figures, emit metrics.Emit) {
			emit(float64(f.CacheHits), "hit")
			emit(float64(f.CacheMisses), "miss")
		})
}

// measureModels adds what models cost and suffer that run on this machine.
func (a *App) measureModels() {
	each := func(read func(model string, f port.ModelFigures, emit metrics.Emit)) func(emit metrics.Emit) {
		return func(emit metrics.Emit) {
			for name, m := range a.models {
				if self, ok := m.(port.Measured); ok {
					read(name, self.Figures(), emit)
				}
			}
		}
	}
	a.Metrics.Read(metrics.Family{Name: "mneme_model_restarts_total", Type: metrics.Counter, Labels: []string{"model", "reason"},
		Help: "Processes of a model, or instances of its module, that were replaced: for their memory or another failure."},
		each(func(model string, f port.ModelFigures, emit metrics.Emit) {
			for _, reason := range []port.RestartReason{port.RestartMemory, port.RestartFailure} {
				emit(float64(f.Restarts[reason]), model, string(reason))
			}
		}))
	a.Metrics.Read(metrics.Family{Name: "mneme_model_waiting", Type: metrics.Gauge, Labels: []string{"model"},
		Help: "Calls that wait for their turn in a model on this machine."},
		each(func(model string, f port.ModelFigures, emit metrics.Emit) { emit(float64(f.Waiting), model) }))
	a.Metrics.Read(metrics.Family{Name: "mneme_model_memory_bytes", Type: metrics.Gauge, Labels: []string{"model"},
		Help: "Memory of a model's processes, or of the instances of its module."},
		each(func(model string, f port.ModelFigures, emit metrics.Emit) { emit(float64(f.Memory), model) }))
	a.Metrics.Read(metrics.Family{Name: "mneme_model_memory_max_bytes", Type: metrics.Gauge, Labels: []string{"model"},
		Help: "What they may hold, by memory_mb; absent where nothing bounds it."},
		each(func(model string, f port.ModelFigures, emit metrics.Emit) {
			if f.MaxMemory > 0 {
				emit(float64(f.MaxMemory), model)
			}
		}))
}

// measureStore adds the counts of the store, once it has been counted.
func (a *App) measureStore() {
	stored := func(name, help string, labels []string, read func(s port.Statistics, emit metrics.Emit)) {
		a.gauge(name, help, labels, func(f engine.Figures, emit metrics.Emit) {
			if !f.Counted.IsZero() {
				read(f.Store, emit)
			}
		})
	}
	of := func(part func(port.Contents) int64) func(s port.Statistics, emit metrics.Emit) {
		return func(s port.Statistics, emit metrics.Emit) {
			emit(float64(part(s.Namespaces)), "documents")
			emit(float64(part(s.EndUsers)), "memories")
		}
	}
	a.gauge("mneme_counted_timestamp_seconds",
		"When what the store holds was last counted, in Unix time: every 30 s while metrics are read.", nil,
		func(f engine.Figures, emit metrics.Emit) {
			if !f.Counted.IsZero() {
				emit(seconds(f.Counted))
			}
		})
	stored("mneme_organizations", "Organizations in the store.", nil,
		func(s port.Statistics, emit metrics.Emit) { emit(float64(s.Organizations)) })
	stored("mneme_namespaces", "Namespaces in the store.", nil,
		func(s port.Statistics, emit metrics.Emit) { emit(float64(s.Namespaces.Partitions)) })
	stored("mneme_end_users", "End users with memories in the store.", nil,
		func(s port.Statistics, emit metrics.Emit) { emit(float64(s.EndUsers.Partitions)) })
	stored("mneme_documents", "Documents in the store, those of namespaces and memories.", []string{"space"},
		of(func(c port.Contents) int64 { return c.Documents }))
	stored("mneme_chunks", "Chunks of documents and memories.", []string{"space"},
		of(func(c port.Contents) int64 { return c.Chunks }))
	stored("mneme_text_bytes", "Bytes of the texts of documents and memories.", []string{"space"},
		of(func(c port.Contents) int64 { return c.Bytes }))
	stored("mneme_jobs", "Background jobs that have not ended: queued or running.", []string{"kind", "status"},
		func(s port.Statistics, emit metrics.Emit) {
			for _, q := range s.Jobs {
				emit(float64(q.Jobs), q.Kind, string(q.Status))
			}
		})
	stored("mneme_jobs_oldest_seconds", "Age of the oldest background job that has not ended.", []string{"kind", "status"},
		func(s port.Statistics, emit metrics.Emit) {
			for _, q := range s.Jobs {
				emit(q.Oldest.Seconds(), q.Kind, string(q.Status))
			}
		})
	stored("mneme_replicas", "Replicas over the store that live.", nil,
		func(s port.Statistics, emit metrics.Emit) { emit(float64(s.Replicas)) })
}

func (a *App) measurePools() {
	each := func(read func(p port.Pool) float64) func(f engine.Figures, emit metrics.Emit) {
		return func(f engine.Figures, emit metrics.Emit) {
			for database, p := range f.StorePools {
				emit(read(p), "store", database)
			}
			if len(f.IndexPools) == 0 {
				return
			}
			sum := 0.0 // an index for each retriever, perhaps
			for _, p := range f.IndexPools {
				sum += read(p)
			}
			emit(sum, "index", "")
		}
	}
	pool := []string{"pool", "database"}
	a.gauge("mneme_pool_connections", "Connections to the database that are in use; of SQLite those that read.", pool,
		each(func(p port.Pool) float64 { return float64(p.InUse) }))
	a.gauge("mneme_pool_connections_max", "Connections to the database that may be in use at once.", pool,
		each(func(p port.Pool) float64 { return float64(p.Max) }))
	a.counter("mneme_pool_waits_total", "How often no connection was free.", pool,
		each(func(p port.Pool) float64 { return float64(p.Waits) }))
	a.counter("mneme_pool_wait_seconds_total", "How long was waited for free connections.", pool,
		each(func(p port.Pool) float64 { return p.Waited.Seconds() }))
}

// measureWork adds what this process does in the background.
func (a *App) measureWork() {
	a.counter("mneme_job_attempts_total",
		"Attempts at jobs in this process, by how they ended: succeeded, failed, cancelled, postponed, interrupted, lost.",
		[]string{"kind", "outcome"}, func(f engine.Figures, emit metrics.Emit) {
			for attempt, n := range f.Jobs {
				emit(float64(n), attempt.Kind, attempt.Outcome)
			}
		})
	a.counter("mneme_webhook_attempts_total",
		"Attempts of this process to deliver events to webhooks, by what came of them: succeeded, retried, failed.",
		[]string{"outcome"}, func(f engine.Figures, emit metrics.Emit) {
			for _, outcome := range []webhook.Outcome{webhook.Succeeded, webhook.Retried, webhook.Failed} {
				emit(float64(f.Deliveries[outcome]), string(outcome))
			}
		})
	a.gauge("mneme_webhook_deliveries_pending", "Deliveries to webhooks that wait to be sent, of the whole store.", nil,
		func(f engine.Figures, emit metrics.Emit) { emit(float64(f.Store.Deliveries)) })
	a.gauge("mneme_webhook_oldest_pending_seconds", "Age of the oldest delivery that waits; 0: none does.", nil,
		func(f engine.Figures, emit metrics.Emit) { emit(f.Store.OldestDelivery.Seconds()) })
	a.gauge("mneme_index_builds", "Indexes of namespaces and end users that are being built in the background.", nil,
		func(f engine.Figures, emit metrics.Emit) { emit(float64(f.Backlog.Building)) })
	a.gauge("mneme_index_deferred",
		"Indexes of namespaces that are brought documents whose writes did not wait (Prefer: searchable=soon).", nil,
		func(f engine.Figures, emit metrics.Emit) { emit(float64(f.Backlog.Deferred)) })
	a.gauge("mneme_index_behind", "Indexes of namespaces and end users that catch up after their server was away.", nil,
		func(f engine.Figures, emit metrics.Emit) { emit(float64(f.Backlog.Behind)) })
	a.gauge("mneme_index_unreachable", "Indexes whose server did not answer the last time.", nil,
		func(f engine.Figures, emit metrics.Emit) { emit(float64(f.Backlog.Unreachable)) })
	a.gauge("mneme_lease_renewed_timestamp_seconds",
		"When this replica's lease was last renewed, in Unix time; absent where no other can serve over the store.", nil,
		func(f engine.Figures, emit metrics.Emit) {
			if !f.Replica.Alone {
				emit(seconds(f.Replica.Renewed))
			}
		})
	a.counter("mneme_lease_lapses_total", "How often this replica's lease had lapsed before it was renewed.", nil,
		func(f engine.Figures, emit metrics.Emit) { emit(float64(f.Replica.Lapses)) })
}

// sizeEvery is how old the last measurement of the data folder may be when somebody asks.
const sizeEvery = time.Minute

func (a *App) measureDisk() {
	dir := a.settings.Config.DataDir
	var mu sync.Mutex
	var size int64
	var measured time.Time
	held := func() float64 {
		mu.Lock()
		defer mu.Unlock()
		if measured.IsZero() || time.Since(measured) >= sizeEvery {
			size, measured = datadir.Size(dir), time.Now()
		}
		return float64(size)
	}
	a.Metrics.Read(metrics.Family{Name: "mneme_data_free_bytes", Type: metrics.Gauge,
		Help: "What may still be written to the disk of the data folder; absent where the system does not say."},
		func(emit metrics.Emit) {
			if free, err := disk.Free(dir); err == nil {
				emit(float64(free))
			}
		})
	a.Metrics.Gauge("mneme_data_bytes", "What the files of the data folder hold, as measured once a minute at most.", held)
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
