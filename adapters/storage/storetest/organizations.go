package storetest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// organizationDeletion: what a deletion has marked takes nothing new, goes in steps of
// bounded size, and leaves every other organization as it is.
func organizationDeletion(t *testing.T, f *fixture) {
	other := port.Organization{ID: otherOrg, Name: "other", CreatedAt: at(1)}
	f.update(func(w port.DocumentWriter) error { return w.PutOrganization(f.ctx, other) })
	f.integration(otherOrg, "int_1")
	f.integration(f.org, "int_1")
	for _, org := range []ident.Org{otherOrg, f.org} { // what is left of an erased end user
		gone := f.endUser(port.Memories(org, "int_1", "gone"))
		f.putGrants(gone, grant(gone, "g1", 1), grant(gone, "g2", 2), grant(gone, "g3", 3))
		f.update(func(w port.DocumentWriter) error {
			pinned, err := w.BeginErasure(f.ctx, gone, at(4))
			for _, id := range []string{"g1", "g2", "g3"} {
				err = errors.Join(err, w.EraseGrant(f.ctx, pinned, id, true))
			}
			return errors.Join(err, w.EndErasure(f.ctx, pinned))
		})
	}
	for _, org := range []ident.Org{otherOrg, f.org} {
		for _, id := range []string{"a", "b", "c"} {
			f.putKey(org, string(org)+id)
			f.createJobs(port.Job{ID: "job_" + id, Org: org, Kind: "k", Partition: port.Documents(org, "docs"),
				Status: port.JobQueued, CreatedAt: at(1), UpdatedAt: at(1)})
		}
	}
	worker := f.join("worker", longLease)
	_, mine := f.claim(worker, port.JobClaim(otherOrg, "job_a"))
	_, theirs := f.claim(worker, port.JobClaim(f.org, "job_a"))
	if !mine || !theirs {
		t.Fatal("the jobs are another's")
	}
	grant := f.oauthGrant("lent", "client")
	grant.Org, grant.KeyID = otherOrg, string(otherOrg)+"a"
	docs := port.Documents(otherOrg, "docs")
	f.update(func(w port.DocumentWriter) error {
		if err := w.PutOAuthClient(f.ctx, oauthClient("client", at(1), at(1))); err != nil {
			return err
		}
		if err := w.PutOAuthGrant(f.ctx, grant); err != nil {
			return err
		}
		for _, key := range []string{"x", "y", "z"} {
			if err := w.PutIdempotentReply(f.ctx, otherOrg, port.IdempotentReply{Integration: "int_1", Key: key, EndUser: "gone",
				RequestHash: sha256.Sum256([]byte(key)), Answer: json.RawMessage(`{}`), CreatedAt: at(1)}); err != nil {
				return err
			}
		}
		_, err := w.CreatePartition(f.ctx, docs, port.PartitionRow{Dimensions: dim})
		return err
	})
	f.put(docs, at(2), plain("a"), plain("b"), plain("c"))
	kept := f.create("docs")
	f.put(kept, at(2), plain("a"))

	erase := func(id ident.Org, limit int) (n port.OrganizationErased, more bool, err error) {
		err = f.s.Update(f.ctx, func(w port.Writer) (err error) {
			n, more, err = w.EraseOrganization(f.ctx, id, limit)
			return err
		})
		return n, more, err
	}
	if _, _, err := erase(otherOrg, 10); err == nil {
		t.Fatal("an organization was erased that nobody has marked")
	}
	begin := func(id ident.Org, second int) error {
		return f.s.Update(f.ctx, func(w port.Writer) error { return w.BeginDeletion(f.ctx, id, at(second)) })
	}
	f.want("absent", begin("org_none", 5), fault.NotFound)
	if begin(otherOrg, 5) != nil || begin(otherOrg, 6) != nil {
		t.Fatal("a deletion could not begin twice")
	}
	_, _, err := erase("org_none", 10)
	f.want("erasing an absent one", err, fault.NotFound)
	marked := other
	marked.Suspended, marked.Deleting = true, at(5)
	read := func() (o port.Organization, err error) {
		err = f.s.View(f.ctx, func(r port.Reader) (err error) { o, err = r.Organization(f.ctx, otherOrg); return err })
		return o, err
	}
	if got, err := read(); err != nil {
		t.Error(err)
	} else {
		f.same("marked", got, marked)
	}
	// Writing it does not take the mark away, and nothing is made in it.
	f.update(func(w port.DocumentWriter) error { return w.PutOrganization(f.ctx, other) })
	if got, err := read(); err != nil || !got.Deleting.Equal(at(5)) {
		t.Errorf("written again: %+v, %v", got, err)
	}
	for what, fn := range map[string]func(w port.DocumentWriter) error{
		"a key": func(w port.DocumentWriter) error {
			return w.PutKey(f.ctx, port.Key{ID: "late", Org: otherOrg, Hash: sha256.Sum256([]byte("late"))})
		},
		"an integration": func(w port.DocumentWriter) error {
			return w.PutIntegration(f.ctx, port.Integration{ID: "int_9", Org: otherOrg, Name: "late"})
		},
		"a namespace": func(w port.DocumentWriter) error {
			_, err := w.CreatePartition(f.ctx, port.Documents(otherOrg, "late"), port.PartitionRow{Dimensions: dim})
			return err
		},
		"an end user": func(w port.DocumentWriter) error {
			_, err := w.CreatePartition(f.ctx, port.Memories(otherOrg, "int_1", "late"), port.PartitionRow{Dimensions: dim})
			return err
		},
	} {
		f.want(what, f.s.UpdateDocuments(f.ctx, fn), fault.NotFound)
	}
	_, _, err = erase(otherOrg, 10)
	f.want("with a live partition", err, fault.Conflict)
	f.update(func(w port.DocumentWriter) error { _, err := w.DeletePartition(f.ctx, docs); return err })

	var sum port.OrganizationErased
	steps := 0
	for more := true; more; steps++ {
		var n port.OrganizationErased
		if n, more, err = erase(otherOrg, 2); err != nil {
			t.Fatal(err)
		}
		if n.Keys > 2 || n.Jobs > 2 || n.Integrations > 2 {
			t.Errorf("a step of 2 removed %+v", n)
		}
		sum.Keys, sum.Jobs, sum.Integrations = sum.Keys+n.Keys, sum.Jobs+n.Jobs, sum.Integrations+n.Integrations
	}
	f.same("removed", sum, port.OrganizationErased{Keys: 3, Jobs: 3, Integrations: 1})
	if steps < 2 { // with one more where the store's own purge has not come first
		t.Errorf("all of it went in %d steps", steps)
	}
	_, err = read()
	f.want("the organization", err, fault.NotFound)
	_, err = f.job(otherOrg, "job_a")
	f.want("a job", err, fault.NotFound)
	if _, free := f.claim(f.join("next", longLease), port.JobClaim(otherOrg, "job_a")); !free {
		t.Error("the claim of a removed job is held")
	}
	f.view(func(r port.Reader) error {
		if _, err := r.OAuthGrantByCode(f.ctx, grant.Code); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("what was lent of a removed key: %v", err)
		}
		_, err := r.IdempotentReply(f.ctx, otherOrg, "int_1", "x")
		f.want("a stored answer", err, fault.NotFound)
		mine, err := r.Keys(f.ctx, f.org, port.KeyList{})
		if len(mine) != 3 || err != nil {
			t.Errorf("keys of another organization: %d, %v", len(mine), err)
		}
		return err
	})
	_, err = f.grant(otherOrg, "int_1", "g1")
	f.want("what is left of a grant", err, fault.NotFound)
	if _, err := f.grant(f.org, "int_1", "g1"); err != nil {
		t.Errorf("of a grant in another organization: %v", err)
	}
	if _, err := f.job(f.org, "job_a"); err != nil {
		t.Errorf("a job of another organization: %v", err)
	}
	if n := f.namespace(kept); n.Documents != 1 {
		t.Errorf("a namespace of another organization: %+v", n)
	}
}

// placements: a store of several databases places a new organization where it is told to and says where, another one
// refuses to be told.
func placements(t *testing.T, f *fixture) {
	put := func(o port.Organization) func(port.DocumentWriter) error {
		return func(w port.DocumentWriter) error { return w.PutOrganization(f.ctx, o) }
	}
	f.expect("an unknown database", fault.InvalidRequest, put(port.Organization{ID: "org_nowhere", Name: "nowhere",
		CreatedAt: at(1), Database: "nowhere"}))
	var names []string
	if several, ok := f.s.(port.Parted); ok {
		for _, part := range several.Parts() {
			names = append(names, part.Name)
		}
	}
	want := map[ident.Org]string{}
	for _, name := range names {
		id := ident.Org("org_in_" + name)
		o := port.Organization{ID: id, Name: "in " + name, CreatedAt: at(1), Database: name}
		want[id] = name
		f.update(put(o))
		o.Suspended = true // as by who has read it where it is
		f.update(put(o))
	}
	f.view(func(r port.Reader) error {
		all, err := r.Organizations(f.ctx)
		if err != nil {
			return err
		}
		placed, err := r.Placements(f.ctx, all)
		if err != nil {
			return err
		}
		for id, name := range want {
			f.same("among all, "+string(id), placed[id], name)
			one, err := r.Placements(f.ctx, []port.Organization{{ID: id}})
			if err != nil {
				return err
			}
			f.same("alone, "+string(id), one, map[ident.Org]string{id: name})
		}
		if len(names) == 0 && len(placed) > 0 {
			t.Errorf("one database places organizations: %v", placed)
		}
		return nil
	})
}
