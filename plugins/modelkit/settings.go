package modelkit

import (
	"context"
	"slices"

	"github.com/mnemehq/mneme/core/port"
)

// Variant is the candidate with another value of one of its own settings.
type Variant struct {
	Name string // "language=de"
	Open func(context.Context) (port.Model, error)
	// SameVectors: the setting does not count for the model's identity, so vectors made
	// with any of its values are mixed.
	SameVectors bool
}

const (
	opensWith = "the model opens with each value at the edges of its settings"
	sameWith  = "a setting that does not count for the identity changes no vector"
)

// settings opens the model with other values of its settings.
func (k *check) settings() {
	for _, v := range k.c.Variants {
		k.step("settings: " + v.Name)
		m, err := v.Open(k.ctx)
		k.expect("settings.open", opensWith, err == nil, "%s: %v", v.Name, err)
		if err != nil {
			continue
		}
		if v.SameVectors {
			k.sameVectors(v.Name, m)
		}
		err = m.Close()
		k.expect("settings.open", opensWith, err == nil, "%s: %v", v.Name, err)
	}
}

func (k *check) sameVectors(name string, other port.Model) {
	var texts []string
	for _, a := range obvious() {
		texts = append(texts, a.query, a.related)
	}
	for _, as := range []port.TextKind{port.Query, port.Passage} {
		if slices.Contains(k.info.Tasks, port.TaskEmbed) {
			is, err := k.model.(port.Embedder).Embed(k.ctx, as, texts)
			var with port.Dense
			if err == nil {
				with, err = other.(port.Embedder).Embed(k.ctx, as, texts)
			}
			k.expect("settings.identity", sameWith, err == nil && slices.Equal(is.Data, with.Data),
				"%s: other vectors for the same texts (error: %v)", name, err)
		}
		if slices.Contains(k.info.Tasks, port.TaskSparse) {
			is, err := k.model.(port.SparseEncoder).Encode(k.ctx, as, texts)
			var with port.Sparse
			if err == nil {
				with, err = other.(port.SparseEncoder).Encode(k.ctx, as, texts)
			}
			k.expect("settings.identity", sameWith,
				err == nil && slices.Equal(is.Terms, with.Terms) && slices.Equal(is.Weights, with.Weights),
				"%s: other terms for the same texts (error: %v)", name, err)
		}
	}
}
