package event_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
)

const (
	ready   = port.ModelReady
	loading = port.ModelLoading
	failing = port.ModelFailing
)

// looking runs a Models, whose looks find what the test says: the states of the embedder
// "one" and the reranker "two". look returns when all is done that the look gave cause to.
func (w *world) looking(s event.ModelsSettings) (look func(one, two port.ModelState)) {
	w.Helper()
	ctx, stop := context.WithCancel(context.Background())
	asked, found := make(chan struct{}), make(chan []event.ModelStatus)
	s.Every, s.Replica = time.Millisecond, "here"
	s.States = func() (all []event.ModelStatus) {
		select {
		case asked <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		select {
		case all = <-found:
		case <-ctx.Done():
		}
		return all
	}
	var running sync.WaitGroup
	running.Go(func() { event.NewModels(s).Run(ctx) })
	w.Cleanup(func() {
		stop()
		running.Wait()
	})
	<-asked
	return func(one, two port.ModelState) {
		found <- []event.ModelStatus{{Model: "one", Task: port.TaskEmbed, State: one},
			{Model: "two", Task: port.TaskRerank, State: two}}
		<-asked
	}
}

// TestModels: a state that lasts is told once, and by whom.
func TestModels(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	look := w.looking(event.ModelsSettings{Recorder: w.recorder})
	look(ready, loading)
	w.told()
	look(ready, loading)
	got := w.told("model.state_changed two rerank loading")
	var d data
	w.must(json.Unmarshal(got[0].Data, &d))
	if d.Replica != "here" {
		t.Errorf("told of the server %q", d.Replica)
	}
	look(ready, ready)
	w.told()
	look(ready, ready)
	w.told("model.state_changed two rerank ready from loading")
	for _, one := range []port.ModelState{failing, ready, ready, failing, loading, ready} {
		look(one, ready)
	}
	w.told() // no state has lasted
	look(failing, failing)
	look(failing, failing)
	w.told("model.state_changed one embedding error from ready", "model.state_changed two rerank error from ready")
	look(failing, failing)
	w.told()
}

// TestModelsAreToldToAll: every organization is told that reads, in transactions that do
// not hold up writers for long.
func TestModelsAreToldToAll(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	const many = 150
	w.must(w.Store.Update(context.Background(), func(tx port.Writer) error {
		for i := range many {
			o := port.Organization{ID: ident.Org(fmt.Sprint("org_", i)), Name: fmt.Sprint("org-", i), CreatedAt: time.Now()}
			if err := tx.PutOrganization(context.Background(), o); err != nil {
				return err
			}
		}
		return nil
	}))
	store := &coretest.Store{DocumentStore: w.recorder.DocumentStore}
	var updates atomic.Int64
	store.OnBackgroundUpdate.Set(func() error { updates.Add(1); return nil })
	look := w.looking(event.ModelsSettings{Recorder: event.NewRecorder(event.RecorderSettings{Store: store})})
	look(failing, ready)
	look(failing, ready)
	w.numbered()
	if n := updates.Load(); n != 2 {
		t.Errorf("%d transactions", n)
	}
	w.must(w.Store.View(context.Background(), func(r port.Reader) error {
		for i := range many {
			s, err := r.EventStream(context.Background(), ident.Org(fmt.Sprint("org_", i)))
			if err != nil || s.Last != 1 {
				t.Errorf("organization %d was told of %d, %v", i, s.Last, err)
			}
		}
		return nil
	}))
	limited := w.Caller(key.Issue{Namespace: "docs"})
	if got := types(w.list(limited, event.ListEvents{})); got != "" {
		t.Errorf("a limited key is told %s", got)
	}

	// Of those whose events are not recorded nobody is told.
	elsewhere := w.Caller(key.Issue{Org: "elsewhere"})
	look = w.looking(event.ModelsSettings{Recorder: event.NewRecorder(
		event.RecorderSettings{Store: w.recorder.DocumentStore, Record: event.RecordSubscribed})})
	w.list(w.ctx, event.ListEvents{})
	look(ready, failing)
	look(ready, failing)
	w.numbered()
	if got := types(w.list(w.ctx, event.ListEvents{})); got != "model.state_changed model.state_changed" {
		t.Errorf("a reader was told %s", got)
	}
	if got := types(w.list(elsewhere, event.ListEvents{})); got != "" {
		t.Errorf("one who never read was told %s", got)
	}
	event.NewModels(event.ModelsSettings{Recorder: event.NewRecorder(
		event.RecorderSettings{Store: store, Record: event.RecordNone})}).Run(context.Background()) // ends at once
}

// TestModelsRestUntilTold: where somebody says that states have changed, nobody looks while all is as it
// was told, and whatever changes is told as otherwise.
func TestModelsRestUntilTold(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	ctx, stop := context.WithCancel(context.Background())
	var state atomic.Value
	var looks atomic.Int64
	state.Store(ready)
	changed := make(chan struct{}) // who takes something out of it is at rest
	models := event.NewModels(event.ModelsSettings{Recorder: w.recorder, Replica: "here", Every: time.Millisecond,
		Changed: changed,
		States: func() []event.ModelStatus {
			looks.Add(1)
			return []event.ModelStatus{{Model: "one", Task: port.TaskEmbed, State: state.Load().(port.ModelState)}}
		}})
	var running sync.WaitGroup
	running.Go(func() { models.Run(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	changed <- struct{}{}
	for _, next := range []port.ModelState{ready, failing, ready} {
		before := looks.Load()
		state.Store(next)
		changed <- struct{}{}
		changed <- struct{}{}
		if looks.Load() == before {
			t.Errorf("%s: nobody looked", next)
		}
	}
	w.told("model.state_changed one embedding error from ready", "model.state_changed one embedding ready from error")
}

// TestModelsAreToldLater: what cannot be stored is told when it can, once, and not to
// organizations that go.
func TestModelsAreToldLater(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	elsewhere := w.Caller(key.Issue{Org: "elsewhere"})
	store := &coretest.Store{DocumentStore: w.recorder.DocumentStore}
	views, updates := 0, 0
	store.OnView.Set(func() error {
		if views++; views <= 2 {
			return errors.New("broken")
		}
		return nil
	})
	store.OnBackgroundUpdate.Set(func() error {
		if updates++; updates > 3 {
			return nil
		}
		err := w.recorder.Update(context.Background(), func(tx port.Writer) error {
			return tx.BeginDeletion(context.Background(), ident.From(elsewhere).Org, time.Now())
		})
		return errors.Join(err, errors.New("broken"))
	})
	look := w.looking(event.ModelsSettings{Recorder: event.NewRecorder(event.RecorderSettings{Store: store})})
	for range 5 {
		look(failing, ready)
	}
	w.told("model.state_changed one embedding error")
	if got := types(w.list(elsewhere, event.ListEvents{})); got != "" {
		t.Errorf("an organization that goes was told %s", got)
	}
}
