package seal

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// KeyUse says what a sealing key is used for.
type KeyUse struct {
	ID       string
	Present  bool // this sealer has it
	DataKeys int  // that it wraps
}

// Uses lists the sealing keys that this sealer has, in their order, and after them those
// that the store needs beside, by id.
func (s *Sealer) Uses(ctx context.Context) ([]KeyUse, error) {
	stored, err := s.all(ctx)
	if err != nil {
		return nil, err
	}
	return uses(s.keys, stored), nil
}

func uses(keys []Key, stored []port.DataKey) []KeyUse {
	all := make([]KeyUse, 0, len(keys))
	for _, k := range keys {
		all = append(all, KeyUse{ID: k.ID(), Present: true})
	}
	for _, k := range stored {
		i := slices.IndexFunc(all, func(u KeyUse) bool { return u.ID == k.WrappedBy })
		if i < 0 {
			i = len(all)
			all = append(all, KeyUse{ID: k.WrappedBy})
		}
		all[i].DataKeys++
	}
	slices.SortFunc(all[len(keys):], func(a, b KeyUse) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Check fails when the store has data keys that no key of this sealer unwraps: a server
// that has the wrong key, or none, says so once and at its start.
func (s *Sealer) Check(ctx context.Context) error {
	stored, err := s.all(ctx)
	if err != nil {
		return err
	}
	return Suffice(s.keys, stored)
}

// Suffice is Check of a store's data keys that were read already.
func Suffice(keys []Key, stored []port.DataKey) error {
	var missing []string
	for _, u := range uses(keys, stored) {
		if !u.Present {
			missing = append(missing, u.ID)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	have := "no sealing key is configured"
	if len(keys) > 0 {
		have = "the configured one is " + keys[0].ID()
	}
	return fmt.Errorf("the store's secrets are sealed with the sealing key %s and %s: set seal.key_file or MNEME_SEAL_KEY to "+
		"the key that sealed them, or give them up with 'mneme seal forget'", strings.Join(missing, ", "), have)
}

// Rotate wraps every data key again with the first sealing key, and counts them. Those
// that it wraps already stay; so an interrupted rotation goes on where it ended. It fails
// before it changes anything when Check does.
func (s *Sealer) Rotate(ctx context.Context) (rotated int, err error) {
	if len(s.keys) == 0 {
		return 0, errNoKey()
	}
	if err := s.Check(ctx); err != nil {
		return 0, err
	}
	err = s.each(ctx, func(w writer, k port.DataKey) (bool, error) {
		if k.WrappedBy == s.keys[0].ID() {
			return false, nil
		}
		raw, err := s.unwrap(k)
		if err != nil {
			return false, err
		}
		if k, err = s.wrap(k, raw); err != nil {
			return false, err
		}
		return true, w.RewrapDataKey(ctx, k)
	}, &rotated)
	return rotated, err
}

// Forget deletes the data keys that no key of this sealer unwraps, and counts them: what
// they have sealed is lost for good. It needs a key, for without one all are such.
func (s *Sealer) Forget(ctx context.Context) (forgotten int, err error) {
	if len(s.keys) == 0 {
		return 0, errNoKey()
	}
	err = s.each(ctx, func(w writer, k port.DataKey) (bool, error) {
		if _, err := s.unwrap(k); err == nil {
			return false, nil
		}
		return true, w.DeleteDataKey(ctx, k.Org, k.ID)
	}, &forgotten)
	return forgotten, err
}

// batch is how many data keys one transaction changes.
const batch = 100

// each has fn change the data keys, as they are in the transaction, and counts those of
// which it says that it did.
func (s *Sealer) each(ctx context.Context, fn func(writer, port.DataKey) (bool, error), count *int) error {
	listed, err := s.all(ctx)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(listed, batch) {
		n := 0
		if err := s.store.Update(ctx, func(w writer) error {
			n = 0
			for _, k := range part {
				changed, err := change(ctx, w, k.Org, fn)
				if err != nil {
					return err
				}
				if changed {
					n++
				}
			}
			return nil
		}); err != nil {
			return err
		}
		*count += n
	}
	return nil
}

// change is each for one organization, whose data key may have gone in the meantime.
func change(ctx context.Context, w writer, org ident.Org, fn func(writer, port.DataKey) (bool, error)) (bool, error) {
	k, err := w.DataKey(ctx, org)
	if fault.CodeOf(err) == fault.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return fn(w, k)
}

func (s *Sealer) all(ctx context.Context) (keys []port.DataKey, err error) {
	err = s.store.View(ctx, func(r reader) (err error) {
		keys, err = r.DataKeys(ctx)
		return err
	})
	return keys, err
}
