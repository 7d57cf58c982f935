package storetest

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

func dataKey(org ident.Org, id string) port.DataKey {
	return port.DataKey{Org: org, ID: id, Wrapped: []byte("\x00wrapped " + id), WrappedBy: "outer", CreatedAt: at(3)}
}

func (f *fixture) dataKey(org ident.Org) (k port.DataKey, err error) {
	err = f.s.View(f.ctx, func(r port.Reader) (err error) { k, err = r.DataKey(f.ctx, org); return err })
	return k, err
}

// dataKeys: an organization has one, its first, which is wrapped again and deleted by
// its id alone.
func dataKeys(t *testing.T, f *fixture) {
	f.update(func(w port.DocumentWriter) error {
		return w.PutOrganization(f.ctx, port.Organization{ID: otherOrg, Name: "other", CreatedAt: at(1)})
	})
	put := func(k port.DataKey) error {
		return f.s.Update(f.ctx, func(w port.Writer) error { return w.PutDataKey(f.ctx, k) })
	}
	list := func() (all []port.DataKey) {
		f.view(func(r port.Reader) (err error) { all, err = r.DataKeys(f.ctx); return err })
		return all
	}
	_, err := f.dataKey(f.org)
	f.want("absent", err, fault.NotFound)
	f.same("none", list(), []port.DataKey(nil))
	f.want("of no organization", put(dataKey("org_none", "x")), fault.NotFound)

	mine, theirs := dataKey(f.org, "mine"), dataKey(otherOrg, "theirs")
	for _, k := range []port.DataKey{theirs, mine, dataKey(f.org, "second")} {
		if err := put(k); err != nil {
			t.Fatal(err)
		}
	}
	got, err := f.dataKey(f.org)
	if err != nil {
		t.Fatal(err)
	}
	f.same("the first one stays", got, mine)
	both := []port.DataKey{mine, theirs}
	if mine.Org > theirs.Org {
		both = []port.DataKey{theirs, mine}
	}
	f.same("all", list(), both)

	again := mine
	again.Wrapped, again.WrappedBy, again.CreatedAt = []byte("again"), "next", at(9)
	f.expect("wrapped again", "", func(w port.DocumentWriter) error { return w.RewrapDataKey(f.ctx, again) })
	again.CreatedAt = mine.CreatedAt
	if got, err = f.dataKey(f.org); err != nil {
		t.Fatal(err)
	}
	f.same("wrapped again", got, again)
	f.expect("another id wrapped again", fault.NotFound, func(w port.DocumentWriter) error {
		return w.RewrapDataKey(f.ctx, dataKey(f.org, "theirs"))
	})
	f.expect("another organization's id deleted", "", func(w port.DocumentWriter) error {
		return w.DeleteDataKey(f.ctx, f.org, "theirs")
	})
	if got, err = f.dataKey(otherOrg); err != nil {
		t.Fatal(err)
	}
	f.same("another organization's", got, theirs)
	f.expect("deleted", "", func(w port.DocumentWriter) error { return w.DeleteDataKey(f.ctx, f.org, "mine") })
	_, err = f.dataKey(f.org)
	f.want("deleted", err, fault.NotFound)
	f.same("what is left", list(), []port.DataKey{theirs})
	if err := put(dataKey(f.org, "second")); err != nil {
		t.Errorf("a data key after the first has gone: %v", err)
	}
}

// dataKeyDeletion: the data key goes with its organization, and none is made in one that
// is going.
func dataKeyDeletion(t *testing.T, f *fixture) {
	f.update(func(w port.DocumentWriter) error {
		if err := w.PutOrganization(f.ctx, port.Organization{ID: otherOrg, Name: "other", CreatedAt: at(1)}); err != nil {
			return err
		}
		if err := w.PutDataKey(f.ctx, dataKey(otherOrg, "theirs")); err != nil {
			return err
		}
		return w.PutDataKey(f.ctx, dataKey(f.org, "mine"))
	})
	for _, id := range []string{"a", "b"} {
		f.putKey(otherOrg, id)
	}
	f.update(func(w port.DocumentWriter) error { return w.BeginDeletion(f.ctx, otherOrg, at(4)) })
	// What is sealed can be opened until the end: a grant is given back with what it holds.
	if _, err := f.dataKey(otherOrg); err != nil {
		t.Errorf("marked: %v", err)
	}
	f.expect("in one that is going", fault.NotFound, func(w port.DocumentWriter) error {
		return w.PutDataKey(f.ctx, dataKey(otherOrg, "late"))
	})
	for step, more := 0, true; more; step++ {
		f.update(func(w port.DocumentWriter) (err error) {
			_, more, err = w.EraseOrganization(f.ctx, otherOrg, 1)
			return err
		})
		if _, err := f.dataKey(otherOrg); step > 0 || !more {
			f.want("after a step", err, fault.NotFound)
		}
	}
	if _, err := f.dataKey(f.org); err != nil {
		t.Errorf("another organization's: %v", err)
	}
}

// dataKeyRace: of many that make an organization's data key at once, each reads the same
// one in its own transaction.
func dataKeyRace(t *testing.T, f *fixture) {
	const writers = 8
	made := make([]port.DataKey, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			if err := f.s.Update(f.ctx, func(w port.Writer) (err error) {
				if err := w.PutDataKey(f.ctx, dataKey(f.org, fmt.Sprint("key", i))); err != nil {
					return err
				}
				made[i], err = w.DataKey(f.ctx, f.org)
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	stored, err := f.dataKey(f.org)
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range made {
		if k.ID != stored.ID || !bytes.Equal(k.Wrapped, stored.Wrapped) {
			t.Errorf("writer %d has %s, stored is %s", i, k.ID, stored.ID)
		}
	}
}
