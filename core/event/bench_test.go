package event_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
)

// BenchmarkWrites is what recording costs a write of documents, by what is recorded. The stores
// take turns, so that what else the machine does falls on all alike; the model costs nothing.
func BenchmarkWrites(b *testing.B) {
	for _, n := range []int{1, 32} {
		b.Run(fmt.Sprintf("documents=%d", n), func(b *testing.B) {
			type store struct {
				record event.Record
				ctx    context.Context
				write  func(context.Context, document.WriteDocuments) (document.WriteResult, error)
				took   []time.Duration
			}
			var stores []*store
			for _, record := range []event.Record{event.RecordNone, event.RecordSubscribed, event.RecordAll} {
				var recorder *event.Recorder
				o := coretest.Options{Over: func(s port.DocumentStore) port.DocumentStore {
					recorder = event.NewRecorder(event.RecorderSettings{Store: s, Record: record})
					return recorder
				}}
				if record != event.RecordNone {
					o.Listeners = []ingest.Listener{event.Listener{}}
				}
				f := coretest.New(b, o)
				ctx, stop := context.WithCancel(context.Background())
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					event.NewPublisher(event.PublisherSettings{Recorder: recorder, Replica: f.Replica}).Run(ctx)
				}()
				b.Cleanup(func() { stop(); <-ended })
				stores = append(stores, &store{record: record, ctx: f.Caller(key.Issue{}), write: services.Documents(f).Write})
			}
			for i := 0; b.Loop(); i++ {
				in := document.WriteDocuments{Namespace: "docs"}
				for k := range n {
					in.Documents = append(in.Documents, document.Input{ID: fmt.Sprint("d", i, "-", k),
						Text: new(fmt.Sprintf("Document %d of round %d says something of herons and cranes.", k, i))})
				}
				for k := range stores {
					s := stores[(i+k)%len(stores)]
					in := document.WriteDocuments{Namespace: in.Namespace, Documents: slices.Clone(in.Documents)}
					began := time.Now()
					if _, err := coretest.Call(s.ctx, s.write, in); err != nil {
						b.Fatal(err)
					}
					s.took = append(s.took, time.Since(began))
				}
			}
			var base time.Duration
			for _, s := range stores {
				slices.Sort(s.took)
				median := s.took[len(s.took)/2]
				if base == 0 {
					base = median
				}
				b.ReportMetric(float64(median.Microseconds()), string(s.record)+"-us")
				if s.record != event.RecordNone {
					b.ReportMetric(100*float64(median-base)/float64(base), string(s.record)+"-%")
				}
			}
		})
	}
}
