package event

import (
	"context"
	"log/slog"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// lookAtModels is how often it is looked how the models fare.
const lookAtModels = 5 * time.Second

// ModelStatus is how a model does one of its tasks.
type ModelStatus struct {
	Model string // the operator's name for it
	Task  port.Task
	State port.ModelState
}

// ModelsSettings configure Models. Recorder and States are required.
type ModelsSettings struct {
	Recorder *Recorder
	States   func() []ModelStatus // of the models that are in use
	Replica  string               // the process that these models work for
	Every    time.Duration        // between two looks; 0: 5 s
	Changed  <-chan struct{}      // gets a value when States may give others than before; nil: nobody says so
	Log      *slog.Logger         // nil: nothing is logged
}

// Models tells every organization when a model of this process fares otherwise than before.
// A state counts once two looks in a row have found it, so that one call which fails is no
// outage, and of a process that starts with a model that works nothing is told.
type Models struct {
	settings ModelsSettings
	store    port.Narrowed[reader, writer]
	seen     map[modelTask]port.ModelState // by the last look
	told     map[modelTask]port.ModelState
	left     []happening // that are not stored yet
}

type modelTask struct {
	model string
	task  port.Task
}

// NewModels makes Models, which work while Run does.
func NewModels(s ModelsSettings) *Models {
	if s.Every <= 0 {
		s.Every = lookAtModels
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return &Models{
		settings: s,
		store:    narrow(s.Recorder),
		seen:     map[modelTask]port.ModelState{},
		told:     map[modelTask]port.ModelState{},
	}
}

// Run looks until ctx ends: all the time, or, where it is told of changes, as long as something is
// not as it was told to be.
func (m *Models) Run(ctx context.Context) {
	if m.settings.Recorder.record == RecordNone {
		return
	}
	t := time.NewTicker(m.settings.Every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		settled, err := m.look(ctx)
		if err != nil && ctx.Err() == nil {
			m.settings.Log.WarnContext(ctx, "states of models not told", "error", err)
		}
		if !settled || m.settings.Changed == nil {
			continue
		}
		t.Stop()
		select {
		case <-ctx.Done():
			return
		case <-m.settings.Changed:
		}
		t.Reset(m.settings.Every) // and not at once: two looks are to lie apart
	}
}

// look tells what has changed. What cannot be stored is tried again at the next look, which
// does not look further before. It has settled when all is as it was told, and as the look before found it.
func (m *Models) look(ctx context.Context) (settled bool, err error) {
	if len(m.left) > 0 {
		return false, m.tell(ctx)
	}
	settled = true
	var changed []ModelStatus
	for _, s := range m.settings.States() {
		of := modelTask{s.Model, s.Task}
		if m.seen[of] != s.State {
			m.seen[of], settled = s.State, false // for the first time
			continue
		}
		if before, known := m.told[of]; s.State != before && (known || s.State != port.ModelReady) {
			changed = append(changed, s)
		} else {
			m.told[of] = s.State
		}
	}
	if len(changed) == 0 {
		return settled, nil
	}
	err = m.store.View(ctx, func(r reader) (err error) {
		m.left, err = m.happenings(ctx, r, changed)
		return err
	})
	if err != nil {
		return false, err
	}
	for _, s := range changed {
		m.told[modelTask{s.Model, s.Task}] = s.State
	}
	return false, m.tell(ctx)
}

// happenings are changes as each organization is told of them.
func (m *Models) happenings(ctx context.Context, r reader, changed []ModelStatus) ([]happening, error) {
	organizations, err := r.Organizations(ctx)
	if err != nil {
		return nil, err
	}
	var out []happening
	for _, o := range organizations {
		for _, s := range changed {
			out = append(out, happening{kind: ModelStateChanged, org: o.ID, entity: "model/" + s.Model,
				data: ModelData{OrganizationID: string(o.ID), ModelID: s.Model, Kind: string(s.Task), Status: string(s.State),
					Previous: maybe(string(m.told[modelTask{s.Model, s.Task}])), Replica: m.settings.Replica}})
		}
	}
	return m.settings.Recorder.wanted(ctx, r, out, m.settings.Recorder.now())
}

// atOnce is how many events of models a transaction stores: writers have to wait for it.
const atOnce = 100

// tell stores what is left.
func (m *Models) tell(ctx context.Context) error {
	for len(m.left) > 0 {
		n := min(len(m.left), atOnce)
		if err := m.settings.Recorder.tell(ctx, m.left[:n]); err != nil {
			return err
		}
		m.left = m.left[n:]
	}
	return nil
}
