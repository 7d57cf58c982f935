package key

import (
	"context"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Change says what to change of a key; nil keeps. The fields are for the kinds
// of keys that Issue takes them for. Limits replace all of the key's own.
type Change struct {
	Name             *string
	ReadOnly         *bool
	DefaultNamespace *string // "": none
	Limits           map[string]ident.Rate
}

// Change changes a key; it holds at once here and within CacheFor in other
// processes. Faults: InvalidRequest, InvalidNamespace, NotFound.
func (s *Service) Change(ctx context.Context, ref Ref, c Change) (Info, error) {
	var out Info
	err := s.store.Update(ctx, func(w writer) error {
		o, k, err := s.find(ctx, w, ref)
		if err != nil {
			return err
		}
		switch {
		case c.Name != nil && !printable(*c.Name, 128):
			return badName()
		case c.ReadOnly != nil && k.Kind != ident.Service && k.Kind != ident.Admin:
			return unusedField("read_only", k.Kind)
		case c.DefaultNamespace != nil && k.Kind != ident.Service:
			return unusedField("default_namespace", k.Kind)
		}
		changes(ctx, o.ID, k.ID)
		assign(&k.Name, c.Name)
		assign(&k.ReadOnly, c.ReadOnly)
		assign(&k.DefaultNamespace, c.DefaultNamespace)
		if c.Limits != nil {
			k.Limits = c.Limits
		}
		if err := checkNamespaces(k.Kind, k.Namespace, k.DefaultNamespace); err != nil {
			return err
		}
		if err := checkLimits(k.Kind, c.Limits); err != nil {
			return err
		}
		out = k
		return w.ChangeKey(ctx, o.ID, k.ID, port.KeyChange{
			Name:             k.Name,
			ReadOnly:         k.ReadOnly,
			DefaultNamespace: k.DefaultNamespace,
			Limits:           k.Limits,
		})
	})
	s.cache.forget()
	if err != nil {
		return Info{}, err
	}
	return out, nil
}
