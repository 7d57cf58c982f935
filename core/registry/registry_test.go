package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// memoryIndex counts its openings; it embeds the port so that only what these
// tests reach needs a body.
type memoryIndex struct {
	port.Index
	closed *int
}

func (m *memoryIndex) Close() error { *m.closed++; return nil }

type indexConfig struct {
	Budget int    `yaml:"budget" help:"Bytes."`
	Mode   string `yaml:"mode" help:"How."`
}

func indexes(opened, closed *int) *registry.Registry {
	r := registry.New()
	open := func(ctx context.Context, cfg indexConfig, env registry.Env) (port.Index, error) {
		if cfg.Mode == "broken" {
			return nil, errors.New("no disk")
		}
		*opened++
		return &memoryIndex{closed: closed}, nil
	}
	registry.Add(r.Index, registry.Component[port.Index, indexConfig]{
		Name: "both", Summary: "Serves two.", Stability: registry.Stable, Retrievers: []port.Retriever{port.Keyword, port.Vector},
		Default: func() indexConfig { return indexConfig{Budget: 10} }, Open: open,
	})
	registry.Add(r.Index, registry.Component[port.Index, indexConfig]{
		Name: "words", Summary: "Serves one.", Stability: registry.Beta, Retrievers: []port.Retriever{port.Keyword},
		Default: func() indexConfig { return indexConfig{} }, Open: open,
	})
	return r
}

func choose(t *testing.T, r *registry.Registry, name string, cfg indexConfig) registry.Selection {
	t.Helper()
	info, ok := r.Index.Component(name)
	if !ok {
		t.Fatalf("no component %s", name)
	}
	s := info.Select()
	*s.Config.(*indexConfig) = cfg
	return s
}

func TestEqualIndexesAreOpenedOnceAndShared(t *testing.T) {
	for _, c := range []struct {
		name            string
		keyword, vector indexConfig
		component       string
		opened          int
	}{
		{"same component, equal settings", indexConfig{Budget: 5}, indexConfig{Budget: 5}, "both", 1},
		{"same component, other settings", indexConfig{Budget: 5}, indexConfig{Budget: 6}, "both", 2},
		{"other component, equal settings", indexConfig{Budget: 5}, indexConfig{Budget: 5}, "words", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var opened, closed int
			r := indexes(&opened, &closed)
			got, err := registry.OpenIndexes(context.Background(), r.Index, map[port.Retriever]registry.Selection{
				port.Keyword: choose(t, r, c.component, c.keyword), port.Vector: choose(t, r, "both", c.vector)}, registry.Env{})
			if err != nil {
				t.Fatal(err)
			}
			if opened != c.opened || (got[port.Keyword] == got[port.Vector]) != (c.opened == 1) {
				t.Errorf("opened %d, shared %v; want %d", opened, got[port.Keyword] == got[port.Vector], c.opened)
			}
		})
	}
}

func TestFailedIndexClosesTheOthers(t *testing.T) {
	var opened, closed int
	r := indexes(&opened, &closed)
	_, err := registry.OpenIndexes(context.Background(), r.Index, map[port.Retriever]registry.Selection{
		port.Keyword: choose(t, r, "words", indexConfig{}), port.Vector: choose(t, r, "both", indexConfig{Mode: "broken"})},
		registry.Env{})
	if err == nil || !strings.Contains(err.Error(), "open index both: no disk") {
		t.Errorf("error %v does not say what failed", err)
	}
	if opened != 1 || closed != 1 {
		t.Errorf("opened %d, closed %d; want 1 and 1", opened, closed)
	}
}

func TestIndexMustServeTheRetriever(t *testing.T) {
	var opened, closed int
	r := indexes(&opened, &closed)
	_, err := registry.OpenIndexes(context.Background(), r.Index, map[port.Retriever]registry.Selection{
		port.Vector: choose(t, r, "words", indexConfig{})}, registry.Env{})
	if err == nil || !strings.Contains(err.Error(), "words does not serve vector") {
		t.Errorf("got %v", err)
	}
}

func TestAddRefusesBrokenStructs(t *testing.T) {
	type noHelp struct {
		A string `yaml:"a"`
	}
	type noKey struct {
		A string `help:"A."`
	}
	type twice struct {
		A string `yaml:"a" help:"A."`
		B string `yaml:"a" help:"B."`
	}
	type camel struct {
		A string `yaml:"fooBar" help:"A."`
	}
	type channel struct {
		A chan int `yaml:"a" help:"A."`
	}
	type hidden struct {
		a string `yaml:"a" help:"A."` //nolint:unused // the case under test
	}
	type nested struct {
		A struct {
			B string `yaml:"b"`
		} `yaml:"a" help:"A."`
	}
	type base struct {
		A string `yaml:"a" help:"A."`
	}
	type again struct {
		base
		B string `yaml:"a" help:"B."`
	}
	type selects struct {
		A registry.Selection `yaml:"a" help:"A." kind:"index"`
	}
	for name, add := range map[string]func(*registry.Registry){
		"no help tag":              func(r *registry.Registry) { addModel[noHelp](r, "m") },
		"not lower_snake_case":     func(r *registry.Registry) { addModel[camel](r, "m") },
		`key "" is not`:            func(r *registry.Registry) { addModel[noKey](r, "m") },
		"used twice":               func(r *registry.Registry) { addModel[twice](r, "m") },
		`B: yaml key "a" is used`:  func(r *registry.Registry) { addModel[again](r, "m") },
		"cannot hold chan int":     func(r *registry.Registry) { addModel[channel](r, "m") },
		"not exported":             func(r *registry.Registry) { addModel[hidden](r, "m") },
		"B: no help tag":           func(r *registry.Registry) { addModel[nested](r, "m") },
		"cannot select components": func(r *registry.Registry) { addModel[selects](r, "m") },
		"not a struct":             func(r *registry.Registry) { addModel[int](r, "m") },
		"is added twice":           func(r *registry.Registry) { addModel[struct{}](r, "m"); addModel[struct{}](r, "m") },
		"Camel: the name":          func(r *registry.Registry) { addModel[struct{}](r, "Camel") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := recover(); got == nil || !strings.Contains(fmt.Sprint(got), name) {
					t.Errorf("panic %v does not say %q", got, name)
				}
			}()
			add(registry.New())
		})
	}
}

func addModel[C any](r *registry.Registry, name string) {
	registry.Add(r.Model, registry.Component[port.Model, C]{Name: name, Summary: "A model.", Stability: registry.Stable,
		Default: func() C { var c C; return c },
		Open:    func(context.Context, C, registry.Env) (port.Model, error) { return nil, errors.New("not opened here") }})
}

func TestOpenPassesTheOperatorsName(t *testing.T) {
	r := registry.New()
	var seen registry.Env
	registry.Add(r.Model, registry.Component[port.Model, struct{}]{Name: "m", Summary: "A model.", Stability: registry.Stable,
		Default: func() struct{} { return struct{}{} },
		Open: func(_ context.Context, _ struct{}, env registry.Env) (port.Model, error) {
			seen = env
			return nil, errors.New("refused")
		}})
	info, _ := r.Model.Component("m")
	now := func() time.Time { return time.Unix(7, 0) }
	_, err := r.Model.Open(context.Background(), info.Select(), registry.Env{Name: "judge", DataDir: "d", Now: now})
	if err == nil || err.Error() != "open model judge: refused" {
		t.Errorf("error %v", err)
	}
	if seen.Name != "judge" || seen.DataDir != "d" || seen.Now().Unix() != 7 {
		t.Errorf("component saw %+v", seen)
	}
	if _, err := r.Model.Open(context.Background(), registry.Selection{Component: "n"}, registry.Env{}); err == nil {
		t.Error("an unknown component was opened")
	}
}

func TestSecretIsNeverPrinted(t *testing.T) {
	type holder struct{ Key registry.Secret }
	h := holder{Key: "hunter2"}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", h.Key, "holder", h)
	body, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	for how, got := range map[string]string{
		"%v": fmt.Sprintf("%v", h), "%+v": fmt.Sprintf("%+v", h), "%#v": fmt.Sprintf("%#v", h), "String": h.Key.String(),
		"%q": fmt.Sprintf("%q", h.Key), "slog": log.String(), "json": string(body),
	} {
		if strings.Contains(got, "hunter2") || !strings.Contains(got, "redacted") {
			t.Errorf("%s prints %s", how, got)
		}
	}
	if h.Key.Reveal() != "hunter2" {
		t.Error("Reveal does not give the value")
	}
}

type shelfConfig struct {
	Shelf string `yaml:"shelf" help:"Where."`
}

func TestIsolate(t *testing.T) {
	r := registry.New()
	var dropped []string
	open := func(context.Context, shelfConfig, registry.Env) (port.Index, error) {
		return nil, errors.New("not opened here")
	}
	component := registry.Component[port.Index, shelfConfig]{
		Name: "library", Summary: "A server.", Stability: registry.Stable,
		Default: func() shelfConfig { return shelfConfig{Shelf: "all"} },
		Open:    open,
		Isolate: func(c shelfConfig, name string) registry.Isolation[shelfConfig] {
			c.Shelf = name
			return registry.Isolation[shelfConfig]{
				Config: c,
				Drop:   func(context.Context) error { dropped = append(dropped, c.Shelf); return nil },
				Usage: func(context.Context) (registry.Usage, error) {
					return registry.Usage{Place: "here/" + c.Shelf}, nil
				},
			}
		},
	}
	registry.Add(r.Index, component)
	component.Name, component.Isolate = "desk", nil
	registry.Add(r.Index, component)
	library, _ := r.Index.Component("library")
	chosen := library.Select()
	i, ok, err := r.Index.Isolate(chosen, "bench_1")
	if err != nil || !ok {
		t.Fatalf("isolated %v, %v", ok, err)
	}
	if i.Selection.Component != "library" || i.Selection.Config.(*shelfConfig).Shelf != "bench_1" ||
		chosen.Config.(*shelfConfig).Shelf != "all" {
		t.Errorf("%+v made of %+v", i.Selection, chosen)
	}
	if u, err := i.Usage(t.Context()); err != nil || u.Place != "here/bench_1" {
		t.Errorf("usage %+v, %v", u, err)
	}
	if err := i.Drop(t.Context()); err != nil || len(dropped) != 1 || dropped[0] != "bench_1" {
		t.Errorf("dropped %q, %v", dropped, err)
	}
	desk, _ := r.Index.Component("desk")
	if _, ok, err := r.Index.Isolate(desk.Select(), "bench_1"); ok || err != nil {
		t.Errorf("a component without the ability: %v, %v", ok, err)
	}
	for _, name := range []string{"", "Bench", "1st", "a-b", "a b", strings.Repeat("a", 33)} {
		if _, _, err := r.Index.Isolate(chosen, name); err == nil {
			t.Errorf("the name %q was taken", name)
		}
	}
	if _, _, err := r.Index.Isolate(chosen, strings.Repeat("a", 32)); err != nil {
		t.Error(err)
	}
	for _, s := range []registry.Selection{{Component: "none"}, {Component: "library", Config: new(indexConfig)}} {
		if _, _, err := r.Index.Isolate(s, "bench_1"); err == nil {
			t.Errorf("%+v was isolated", s)
		}
	}
}
