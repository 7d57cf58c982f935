package openai

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/op"
)

// Model is a model, or an alias of one, as OpenAI's clients read it.
type Model struct {
	ID      string `json:"id" doc:"as in requests"`
	Object  string `json:"object" enum:"model"`
	Created int64  `json:"created" doc:"0: no model says when it was made"`
	OwnedBy string `json:"owned_by" doc:"where it runs: wasm, plugin or remote"`

	// What OpenAI's do not say.
	Kinds   []string `json:"kinds" enum:"embedding,sparse,rerank,answer" doc:"what it does"`
	AliasOf string   `json:"alias_of,omitempty" doc:"the model that this is another name of"`
}

// Models answers GET /v1/models.
type Models struct {
	Object string  `json:"object" enum:"list"`
	Data   []Model `json:"data" doc:"models, and their aliases, by name"`
}

// ListModels lists the models and their aliases.
func (s *Service) ListModels(ctx context.Context, _ struct{}) (Models, error) {
	all, err := s.all(ctx)
	if err != nil {
		return Models{}, err
	}
	out := Models{Object: "list", Data: slices.Collect(maps.Values(all))}
	slices.SortFunc(out.Data, func(a, b Model) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// all gives every model by each of its names.
func (s *Service) all(ctx context.Context) (map[string]Model, error) {
	list, err := s.models.List(ctx, model.Filter{})
	if err != nil {
		return nil, err
	}
	all := map[string]Model{}
	for _, m := range list.Models { // one that does several things stands there several times
		known := all[m.ID]
		all[m.ID] = Model{ID: m.ID, Object: "model", OwnedBy: m.Runtime, Kinds: append(known.Kinds, m.Kind)}
	}
	for alias, of := range s.aliases {
		if m, ok := all[of]; ok {
			m.ID, m.AliasOf = alias, of
			all[alias] = m
		}
	}
	return all, nil
}

// ModelRef addresses a model.
type ModelRef struct {
	Model string `path:"model" json:"-" doc:"a model's name or an alias"`
}

// GetModel reads one model.
func (s *Service) GetModel(ctx context.Context, in ModelRef) (Model, error) {
	all, err := s.all(ctx)
	if err != nil {
		return Model{}, err
	}
	m, ok := all[in.Model]
	if !ok {
		return Model{}, unknownModel(in.Model, "is not a model of this server; it has %s",
			quoted(slices.Sorted(maps.Keys(all))))
	}
	return m, nil
}

// quoted lists names for a message.
func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strconv.Quote(n)
	}
	return strings.Join(out, ", ")
}

func modelOperations() []op.Op[*Service] {
	return []op.Op[*Service]{
		op.Define(spec("models.list", "GET", "/v1/models", "List the models and their aliases"), (*Service).ListModels),
		op.Define(spec("models.retrieve", "GET", "/v1/models/{model}", "Read a model"), (*Service).GetModel),
	}
}
