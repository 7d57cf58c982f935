package model

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Service lists models.
type Service struct {
	models   []port.Model
	defaults map[port.Task]string // task to model id
	watch    *Watch
}

// New makes the service; defaults name the model in each role, and watch knows those
// that are in use.
func New(models []port.Model, defaults map[port.Task]string, watch *Watch) *Service {
	return &Service{models, defaults, watch}
}

// Model describes a model to clients.
type Model struct {
	ID             string   `json:"id" doc:"as in requests"`
	Kind           string   `json:"kind" enum:"embedding,sparse,rerank,answer" doc:"what it does"`
	Status         string   `json:"status" enum:"ready,loading,off,error" doc:"ready; loading: it is starting; off: no role uses it for this; error: it failed when it was last called, by a caller or by the deep health check, or does not answer"`
	Default        bool     `json:"default" doc:"whether it is what calls use that name none"`
	Dimensions     *int     `json:"dimensions" minimum:"1" doc:"of its vectors; null: it makes none"`
	MaxInputTokens int      `json:"max_input_tokens" minimum:"0" doc:"its window; longer texts are cut"`
	Languages      []string `json:"languages" doc:"BCP 47; empty: not said"`
	Runtime        string   `json:"runtime" enum:"wasm,plugin,remote" doc:"where it runs; wasm: in the server; plugin: in a process beside it (component process); remote: on another server"`
	Version        string   `json:"version" doc:"of the model, as its vendor names it; empty: not said"`
	Digest         string   `json:"digest" doc:"identity of its code and weights"`
	License        string   `json:"license" doc:"SPDX identifier"`
}

// Filter are the parameters of GET /models.
type Filter struct {
	Kind string `query:"kind" json:"-" enum:"embedding,sparse,rerank,answer" doc:"only models of this kind"`
}

// List answers GET /models.
type List struct {
	Models []Model `json:"models"`
}

func (s *Service) all() []Model {
	var out []Model
	for _, m := range s.models {
		info := m.Info()
		for _, t := range info.Tasks {
			d := Model{
				ID:             info.ID,
				Kind:           string(t),
				Status:         string(s.watch.State(info.ID, t)),
				Default:        s.defaults[t] == info.ID,
				MaxInputTokens: info.MaxTokens,
				Languages:      info.Languages,
				Runtime:        info.Runtime,
				Version:        info.Version,
				Digest:         info.Digest,
				License:        info.Licence,
			}
			if d.Languages == nil {
				d.Languages = []string{}
			}
			if t == port.TaskEmbed {
				d.Dimensions = &info.Dimensions
			}
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b Model) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// List lists the configured models.
func (s *Service) List(_ context.Context, f Filter) (List, error) {
	out := List{Models: []Model{}}
	for _, m := range s.all() {
		if f.Kind == "" || f.Kind == m.Kind {
			out.Models = append(out.Models, m)
		}
	}
	return out, nil
}

// Ref addresses a model.
type Ref struct {
	ID string `path:"id" json:"-" doc:"id of the model"`
}

// Get reads one model.
func (s *Service) Get(_ context.Context, r Ref) (Model, error) {
	for _, m := range s.all() {
		if m.ID == r.ID {
			return m, nil
		}
	}
	return Model{}, fault.New(fault.NotFound, "there is no model %q", r.ID)
}

// Operations declares the operations of the service.
func Operations() []op.Op[*Service] {
	return op.WithLinks(op.WithExamples([]op.Op[*Service]{
		op.Define(op.Spec{
			Name:    "models.list",
			Group:   op.Models,
			Method:  "GET",
			Path:    "/models",
			Class:   op.Read,
			Timeout: 5 * time.Second,
			Summary: "List the models",
			Faults:  []fault.Code{fault.InvalidRequest},
		}, (*Service).List),
		op.Define(op.Spec{
			Name:    "models.get",
			Group:   op.Models,
			Method:  "GET",
			Path:    "/models/{id}",
			Class:   op.Read,
			Timeout: 5 * time.Second,
			Summary: "Read a model",
			Faults:  []fault.Code{fault.NotFound},
		}, (*Service).Get),
	}, examples()), links())
}
