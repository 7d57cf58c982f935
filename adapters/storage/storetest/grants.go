package storetest

import (
	"errors"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// grant is a grant of an end user as it is stored.
func grant(p port.Partition, id string, second int) port.Grant {
	return port.Grant{ID: id, Org: p.Org(), Integration: p.Integration(), EndUser: p.Name(), Source: "mail",
		Secrets: []string{"token"}, Sealed: []byte("\x00sealed " + id), CreatedAt: at(second)}
}

func (f *fixture) putGrants(p port.Partition, all ...port.Grant) {
	f.Helper()
	f.update(func(w port.DocumentWriter) error {
		for _, g := range all {
			if err := w.PutGrant(f.ctx, p, g); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *fixture) grants(p port.Partition) (all []port.Grant) {
	f.Helper()
	f.view(func(r port.Reader) (err error) { all, err = r.Grants(f.ctx, p); return err })
	return all
}

func (f *fixture) grant(org ident.Org, integration, id string) (g port.Grant, err error) {
	err = f.s.View(f.ctx, func(r port.Reader) (err error) { g, err = r.Grant(f.ctx, org, integration, id); return err })
	return g, err
}

// grantRows: grants are an end user's, whom the integration and the organization keep
// apart from others of the same name.
func grantRows(t *testing.T, f *fixture) {
	f.update(func(w port.DocumentWriter) error {
		return w.PutOrganization(f.ctx, port.Organization{ID: otherOrg, Name: "other", CreatedAt: at(1)})
	})
	ann := f.ann()
	f.integration(f.org, "int_2")
	f.integration(otherOrg, "int_1")
	places := []port.Partition{ann, port.Memories(f.org, "int_2", "ann"), port.Memories(otherOrg, "int_1", "ann"),
		port.Memories(f.org, "int_1", "bob")}
	f.want("of nobody", f.s.Update(f.ctx, func(w port.Writer) error {
		return w.PutGrant(f.ctx, places[3], grant(places[3], "g", 1))
	}), fault.PartitionNotFound)
	f.same("of nobody", f.grants(places[3]), []port.Grant(nil))
	for _, p := range places[1:] {
		f.endUser(p)
	}
	first, second, plainOne := grant(ann, "z", 1), grant(ann, "b", 2), grant(ann, "c", 2)
	plainOne.Secrets, plainOne.Sealed = nil, nil
	// Given as another's, it is the end user's all the same.
	misplaced := first
	misplaced.Org, misplaced.Integration, misplaced.EndUser = otherOrg, "int_2", "bob"
	f.putGrants(ann, plainOne, second, misplaced)
	twin := grant(places[2], "z", 3) // the id is taken in one organization alone
	f.putGrants(places[2], twin)
	f.same("by time, then id", f.grants(ann), []port.Grant{first, second, plainOne})
	f.same("another organization's", f.grants(places[2]), []port.Grant{twin})
	f.same("another integration's", f.grants(places[1]), []port.Grant(nil))
	f.same("another end user's", f.grants(places[3]), []port.Grant(nil))
	for _, c := range []struct {
		org         ident.Org
		integration string
		want        *port.Grant
	}{{f.org, "int_1", &first}, {f.org, "int_2", nil}, {otherOrg, "int_1", &twin}, {otherOrg, "int_2", nil}} {
		got, err := f.grant(c.org, c.integration, "z")
		if c.want == nil {
			f.want("in "+string(c.org)+" "+c.integration, err, fault.NotFound)
			continue
		}
		f.same("in "+string(c.org)+" "+c.integration, got, *c.want)
	}
	for _, p := range []port.Partition{places[1], places[3]} {
		f.want("taken over", f.s.Update(f.ctx, func(w port.Writer) error { return w.PutGrant(f.ctx, p, grant(p, "z", 9)) }),
			fault.Conflict)
	}
	revoked := first
	revoked.Sealed, revoked.RevokedAt, revoked.Upstream = nil, at(8), port.UpstreamRevoked
	f.putGrants(ann, revoked)
	f.same("revoked", f.grants(ann), []port.Grant{revoked, second, plainOne})
	f.putGrants(places[3], grant(places[3], "bobs", 1))
	f.update(func(w port.DocumentWriter) error { return w.DeleteGrants(f.ctx, ann, []string{"b", "none", "bobs"}) })
	f.same("deleted", f.grants(ann), []port.Grant{revoked, plainOne})
	f.same("not another end user's", f.grants(places[3]), []port.Grant{grant(places[3], "bobs", 1)})
	docs := f.create("docs")
	for what, call := range map[string]func(w port.DocumentWriter) error{
		"of a namespace":         func(w port.DocumentWriter) error { return w.PutGrant(f.ctx, docs, grant(docs, "d", 1)) },
		"without an id":          func(w port.DocumentWriter) error { return w.PutGrant(f.ctx, ann, grant(ann, "", 1)) },
		"deleted of a namespace": func(w port.DocumentWriter) error { return w.DeleteGrants(f.ctx, docs, nil) },
		"read of a namespace":    func(w port.DocumentWriter) error { _, err := w.Grants(f.ctx, docs); return err },
		"erased too soon":        func(w port.DocumentWriter) error { return w.EraseGrant(f.ctx, ann, "z", true) },
	} {
		if err := f.s.UpdateDocuments(f.ctx, call); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// grantErasure: the mark of an erasure revokes what its end user has, nothing is granted
// until the end, and what stays names nobody.
func grantErasure(t *testing.T, f *fixture) {
	ann := f.ann()
	bob := f.endUser(port.Memories(f.org, "int_1", "bob"))
	old := grant(ann, "old", 1)
	old.RevokedAt, old.Upstream = at(5), port.UpstreamUnanswered
	f.putGrants(ann, old, grant(ann, "given", 2), grant(ann, "lost", 3))
	f.putGrants(bob, grant(bob, "bobs", 4))

	var pinned port.Partition
	for _, second := range []int{40, 50} { // begun again, the first time stays
		f.update(func(w port.DocumentWriter) (err error) {
			pinned, err = w.BeginErasure(f.ctx, ann, at(second))
			return err
		})
	}
	given, lost := grant(ann, "given", 2), grant(ann, "lost", 3)
	given.RevokedAt, lost.RevokedAt = at(40), at(40)
	f.same("marked", f.grants(ann), []port.Grant{old, given, lost})
	f.same("another end user's", f.grants(bob), []port.Grant{grant(bob, "bobs", 4)})
	f.want("deleted in the meantime", f.s.Update(f.ctx, func(w port.Writer) error {
		return w.DeleteGrants(f.ctx, ann, []string{"given"})
	}), fault.Unavailable)
	f.want("granted in the meantime", f.s.Update(f.ctx, func(w port.Writer) error {
		return w.PutGrant(f.ctx, ann, grant(ann, "late", 41))
	}), fault.Unavailable)
	if err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error { return w.EndErasure(f.ctx, pinned) }); err == nil {
		t.Error("ended with grants")
	}
	erase := func(id string, answered bool) {
		t.Helper()
		f.update(func(w port.DocumentWriter) error { return w.EraseGrant(f.ctx, pinned, id, answered) })
	}
	erase("given", true)
	erase("given", false) // counted once
	erase("bobs", false)
	erase("none", false)
	f.same("what is left", f.grants(ann), []port.Grant{old, lost})
	f.same("left alone", f.grants(bob), []port.Grant{grant(bob, "bobs", 4)})
	erase("old", true)
	erase("lost", false)
	f.update(func(w port.DocumentWriter) error {
		tally, err := w.ErasureTally(f.ctx, pinned)
		f.same("tally", tally, port.Erased{Grants: 3, Unanswered: 1})
		return errors.Join(err, w.EndErasure(f.ctx, pinned))
	})
	for id, second := range map[string]int{"old": 5, "given": 40, "lost": 40} {
		got, err := f.grant(f.org, "int_1", id)
		if err != nil {
			t.Error(err)
		}
		f.same(id, got, port.Grant{ID: id, Org: f.org, Integration: "int_1", RevokedAt: at(second)})
	}
	f.endUser(ann)
	f.same("of the next life", f.grants(ann), []port.Grant(nil))
	f.want("taken up again", f.s.Update(f.ctx, func(w port.Writer) error {
		return w.PutGrant(f.ctx, ann, grant(ann, "given", 60))
	}), fault.Conflict)
}
