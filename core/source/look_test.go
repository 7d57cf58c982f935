package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/source"
)

// looked is a shelf whose check a test decides.
type looked struct {
	*shelf
	check  func(ctx context.Context, c port.Connection) ([]port.SourceFieldProblem, error)
	checks atomic.Int32
}

func (l *looked) Check(ctx context.Context, c port.Connection) ([]port.SourceFieldProblem, error) {
	l.checks.Add(1)
	if l.check == nil {
		return nil, nil
	}
	return l.check(ctx, c)
}

func newLooked(t *testing.T) (*fixture, *looked) {
	l := &looked{}
	f := newFixture(t, func(s *source.Settings, on *shelf) {
		l.shelf, s.Connectors, s.Sealer, s.Look = on, []port.Connector{l}, &keeper{}, 20*time.Millisecond
	})
	return f, l
}

func (f *fixture) change(in source.UpdateSource) (source.Source, error) {
	f.Helper()
	return coretest.Call(f.ctx, f.svc.Update, in)
}

// Settings with which no run can succeed are not stored; an upstream that is away or slow keeps
// nobody from storing them.
func TestSettingsAreTried(t *testing.T) {
	f, l := newLooked(t)
	create := func() error {
		_, err := coretest.Call(f.ctx, f.svc.Create, source.CreateSource{Name: "n", Kind: "shelf", Namespace: "docs",
			Config: json.RawMessage(`{"path":"a"}`), Secrets: map[string]string{"token": "tok"}, Start: new(false)})
		return err
	}
	kept := f.create(source.CreateSource{Start: new(false)})
	for what, c := range map[string]struct {
		found []port.SourceFieldProblem
		err   error
		says  string // "": they are stored
	}{
		"a problem": {[]port.SourceFieldProblem{{Field: "config.path", Message: "is not there"}}, nil,
			"config.path: is not there"},
		"credentials":   {nil, port.SourceErrorf(port.SourceCredentials, nil, "are old"), "secrets: cannot work: are old"},
		"configuration": {nil, port.SourceErrorf(port.SourceConfig, nil, "is odd"), "config: cannot work: is odd"},
		"forbidden":     {nil, port.SourceErrorf(port.SourceForbidden, nil, "is private"), "config: cannot work: is private"},
		"not found":     {nil, port.SourceErrorf(port.SourceNotFound, nil, "is gone"), "config: cannot work: is gone"},
		"away":          {nil, port.SourceErrorf(port.SourceUnavailable, nil, "is away"), ""},
		"busy":          {nil, port.SourceErrorf(port.SourceRateLimited, nil, "is busy"), ""},
		"broken":        {nil, errors.New("its program has ended"), ""},
	} {
		l.check = func(context.Context, port.Connection) ([]port.SourceFieldProblem, error) { return c.found, c.err }
		wants := fault.InvalidRequest
		if c.says == "" {
			wants = ""
		}
		_, changed := f.change(source.UpdateSource{Ref: source.Ref{ID: kept.ID},
			Config: json.RawMessage(`{"path":"` + what + `"}`)})
		for _, err := range []error{create(), changed} {
			if fault.CodeOf(err) != wants || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want %s %s", what, err, wants, c.says)
			}
		}
		stored := strings.Contains(string(f.idle(kept.ID).Config), what)
		if stored != (c.says == "") {
			t.Errorf("%s: stored: %v", what, stored)
		}
	}
	list, err := coretest.Call(f.ctx, f.svc.List, source.ListSources{})
	if err != nil || len(list.Sources) != 1+3 {
		t.Errorf("%d sources are stored, %v", len(list.Sources), err)
	}
	l.check = func(ctx context.Context, _ port.Connection) ([]port.SourceFieldProblem, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err := create(); err != nil {
		t.Errorf("an upstream that does not answer: %v", err)
	}
	gone, cancel := context.WithCancel(f.ctx)
	cancel()
	if _, err := f.svc.Create(gone, source.CreateSource{Name: "n", Kind: "shelf", Namespace: "docs",
		Config: json.RawMessage(`{"path":"a"}`)}); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who has gone: %v", err)
	}
}

// A check gets the secrets that are stored with those that are new, and what the upstream replaces
// them with is what is kept.
func TestTriedSecrets(t *testing.T) {
	f, l := newLooked(t)
	var got map[string]string
	l.check = func(ctx context.Context, c port.Connection) ([]port.SourceFieldProblem, error) {
		if got = c.Secrets; c.Secrets["token"] == "once" {
			return nil, c.Renew(ctx, map[string]string{"token": "renewed"})
		}
		return nil, nil
	}
	s := f.idle(f.create(source.CreateSource{Kind: "shelf", Config: json.RawMessage(`{"path":"a"}`),
		Secrets: map[string]string{"token": "once"}}).ID)
	if f.shelf.secrets["token"] != "renewed" {
		t.Errorf("the first run got %v", f.shelf.secrets)
	}
	ref := source.Ref{ID: s.ID}
	if _, err := f.change(source.UpdateSource{Ref: ref, Config: json.RawMessage(`{"path":"b"}`)}); err != nil ||
		got["token"] != "renewed" {
		t.Errorf("other settings: the check got %v, %v", got, err)
	}
	f.idle(s.ID)
	if _, err := f.change(source.UpdateSource{Ref: ref, Secrets: map[string]string{"token": "once"}}); err != nil ||
		got["token"] != "once" {
		t.Errorf("another secret: the check got %v, %v", got, err)
	}
	if f.idle(s.ID); f.shelf.secrets["token"] != "renewed" {
		t.Errorf("then a run got %v", f.shelf.secrets)
	}
	// A secret that is replaced while settings are refused is kept all the same.
	l.check = func(ctx context.Context, c port.Connection) ([]port.SourceFieldProblem, error) {
		err := c.Renew(ctx, map[string]string{"token": "again"})
		return []port.SourceFieldProblem{{Field: "config.path", Message: "is odd"}}, err
	}
	_, err := f.change(source.UpdateSource{Ref: ref, Config: json.RawMessage(`{"path":"c"}`)})
	f.want("refused", err, fault.InvalidRequest)
	if f.sync(s.ID); f.shelf.secrets["token"] != "again" {
		t.Errorf("after a refusal a run got %v", f.shelf.secrets)
	}
	// What changes neither settings nor secrets, and the removal of a secret, need no upstream.
	before := l.checks.Load()
	name := "Other"
	for _, in := range []source.UpdateSource{{Name: &name}, {Schedule: &source.Schedule{Every: "1h"}},
		{Secrets: map[string]string{"token": ""}}} {
		in.Ref = ref
		if _, err := f.change(in); err != nil {
			t.Error(err)
		}
		f.idle(s.ID)
	}
	if n := l.checks.Load() - before; n != 0 {
		t.Errorf("%d checks", n)
	}
}

// Secrets have one user at a time: while a run has them, nothing else is tried with them.
func TestNothingIsTriedBesideARun(t *testing.T) {
	f, l := newLooked(t)
	f.fill(1)
	listing, let := make(chan struct{}, 4), make(chan struct{})
	l.at = func(ctx context.Context, _ string) error {
		listing <- struct{}{}
		select {
		case <-let:
		case <-ctx.Done():
		}
		return ctx.Err()
	}
	s := f.create(source.CreateSource{Kind: "shelf", Config: json.RawMessage(`{"path":"a"}`),
		Secrets: map[string]string{"token": "tok"}})
	<-listing
	before := l.checks.Load()
	if _, err := f.change(source.UpdateSource{Ref: source.Ref{ID: s.ID}, Config: json.RawMessage(`{"path":"b"}`)}); err != nil {
		t.Error(err)
	}
	if n := l.checks.Load() - before; n != 0 {
		t.Errorf("%d checks beside a run", n)
	}
	<-listing // of the run with the new settings
	close(let)
	f.counts("with new settings", *f.idle(s.ID).LastRun, "completed", port.SourceCounts{Seen: 1, Created: 1})
}
