package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// survey: a store that can list all that it holds leaves nothing out, keeps to an
// order over pages and to the organization.
func survey(t *testing.T, f *fixture) {
	at := time.Date(2026, 5, 1, 2, 3, 4, 5000, time.UTC)
	other := port.Organization{ID: "org_survey", Name: "survey", CreatedAt: at}
	app := port.Integration{ID: "int_a", Org: f.org, Name: "app", CreatedAt: at}
	second := port.Integration{ID: "int_b", Org: f.org, Name: "second", CreatedAt: at}
	f.update(func(w port.DocumentWriter) error {
		for _, err := range []error{
			w.PutOrganization(f.ctx, other), w.PutIntegration(f.ctx, app), w.PutIntegration(f.ctx, second),
		} {
			if err != nil {
				return err
			}
		}
		for _, p := range []port.Partition{port.Documents(f.org, "full"), port.Documents(f.org, "empty"),
			port.Documents(other.ID, "full"),
			port.Memories(f.org, app.ID, "ann"), port.Memories(f.org, second.ID, "ann"), port.Memories(f.org, app.ID, "bob")} {
			row := port.PartitionRow{Embedder: "own of " + p.Name(), CreatedAt: at, UpdatedAt: at}
			if _, err := w.CreatePartition(f.ctx, p, row); err != nil {
				return err
			}
		}
		for i := range 5 {
			if err := w.PutIdempotentReply(f.ctx, f.org, port.IdempotentReply{
				Integration: app.ID,
				Key:         fmt.Sprintf("k%d", i),
				EndUser:     "ann",
				Answer:      []byte(`{"n":1}`),
				CreatedAt:   at,
			}); err != nil {
				return err
			}
		}
		return w.PutIdempotentReply(f.ctx, f.org, port.IdempotentReply{
			Integration: app.ID,
			Key:         "of bob",
			EndUser:     "bob",
			Answer:      []byte(`{}`),
			CreatedAt:   at,
		})
	})
	f.view(func(r port.Reader) error {
		s, ok := r.(port.PartitionLister)
		if !ok {
			t.Skip("the store does not list all that it holds")
		}
		var got []string
		for after := (port.Partition{}); ; {
			page, err := s.Partitions(f.ctx, f.org, after, 2)
			if err != nil {
				return err
			}
			for _, h := range page {
				n, err := r.Partition(f.ctx, h.Partition)
				if err != nil {
					return err
				}
				if diff := cmp.Diff(n, h.Row); diff != "" {
					t.Errorf("%s: the row differs from Namespace:\n%s", h.Partition, diff)
				}
				if h.Row.Embedder != "own of "+h.Partition.Name() {
					t.Errorf("%s: its embedder is %q", h.Partition, h.Row.Embedder)
				}
				memories := h.Partition.Space() == port.SpaceMemories
				if memories != h.Seen.Equal(at) || h.Partition.Generation() != n.Generation {
					t.Errorf("%s: seen at %v", h.Partition, h.Seen)
				}
				got = append(got, strings.TrimPrefix(h.Partition.At(0).String(), string(f.org)+"/"))
			}
			if len(page) < 2 {
				break
			}
			after = page[len(page)-1].Partition
		}
		want := []string{"documents/empty#0", "documents/full#0", "memories/int_a/ann#0", "memories/int_b/ann#0",
			"memories/int_a/bob#0"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("partitions:\n%s", diff)
		}
		var keys []string
		for after := ""; ; {
			page, err := s.IdempotentReplies(f.ctx, port.Memories(f.org, app.ID, "ann"), after, 2)
			if err != nil {
				return err
			}
			for _, a := range page {
				stored, err := r.IdempotentReply(f.ctx, f.org, app.ID, a.Key)
				if diff := cmp.Diff(stored, a); err != nil || diff != "" {
					t.Errorf("replay %s: %v\n%s", a.Key, err, diff)
				}
				keys = append(keys, a.Key)
				after = a.Key
			}
			if len(page) < 2 {
				break
			}
		}
		if diff := cmp.Diff([]string{"k0", "k1", "k2", "k3", "k4"}, keys); diff != "" {
			t.Errorf("replays:\n%s", diff)
		}
		return nil
	})
	// Only an organization that nothing belongs to can be removed.
	empty := port.Organization{ID: "org_empty", Name: "empty", CreatedAt: at}
	f.update(func(w port.DocumentWriter) error {
		remover, ok := w.(port.OrganizationRemover)
		if !ok {
			return nil
		}
		if err := w.PutOrganization(f.ctx, empty); err != nil {
			return err
		}
		for id, want := range map[ident.Org]bool{f.org: false, other.ID: false, empty.ID: true, "org_absent": false} {
			if gone, err := remover.RemoveOrganization(f.ctx, id); err != nil || gone != want {
				t.Errorf("RemoveOrganization(%s): %v, %v", id, gone, err)
			}
		}
		if _, err := w.Organization(f.ctx, empty.ID); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("the removed organization: %v", err)
		}
		return nil
	})
}
