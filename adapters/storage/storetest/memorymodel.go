package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// store is what a model knows of one end user.
type store struct {
	memories map[string]port.DocumentWrite
	versions map[string]int64 // of records, by external id
	replays  int
	erasing  bool
	tally    port.Erased
}

func (s store) clone() store {
	s.memories, s.versions = maps.Clone(s.memories), maps.Clone(s.versions)
	return s
}

// memoryModel runs random calls on two end users of the same id against the
// store and a model of it in memory, some of them rolled back, and compares the
// two after each.
func memoryModel(t *testing.T, f *fixture) {
	f.integration(f.org, "int_1")
	f.integration(f.org, "int_2")
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		f := &fixture{T: f.T, s: f.s, ctx: f.ctx, org: f.org}
		name := fmt.Sprintf("u%d", run)
		parts := []port.Partition{port.Memories(f.org, "int_1", name), port.Memories(f.org, "int_2", name)}
		model := map[port.Partition]store{}
		keys := 0
		clock := 0
		// change runs a call and takes its outcome over unless it is undone.
		change := func(fn func(w port.DocumentWriter, p port.Partition, s *store) error) {
			p := rapid.SampledFrom(parts).Draw(rt, "end user")
			undo := rapid.IntRange(0, 5).Draw(rt, "undo") == 0
			var next store
			err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
				next = model[p].clone()
				if err := fn(w, p, &next); err != nil || !undo {
					return err
				}
				return errUndo
			})
			switch {
			case undo && err == errUndo:
			case err != nil:
				rt.Fatalf("Update: %v", err)
			case next.memories == nil:
				delete(model, p)
			default:
				model[p] = next
			}
		}
		// refused is what a write answers while there is an erasure. Another error may be one on which the store runs the
		// function again.
		refused := func(err error) error {
			if err == nil {
				rt.Fatal("a write during an erasure is taken")
			}
			if fault.CodeOf(err) == fault.Unavailable {
				return nil
			}
			return err
		}
		ids := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
		rt.Repeat(map[string]func(*rapid.T){
			"save": func(rt *rapid.T) {
				clock++
				set := rapid.SliceOfNDistinct(ids, 1, 3, rapid.ID).Draw(rt, "ids")
				container := rapid.SampledFrom([]string{"", "x", "y"}).Draw(rt, "container")
				second := rapid.IntRange(-3, 3).Draw(rt, "created")
				change(func(w port.DocumentWriter, p port.Partition, s *store) error {
					if s.memories == nil {
						if _, err := w.CreatePartition(f.ctx, p,
							port.PartitionRow{Dimensions: dim, CreatedAt: at(0), UpdatedAt: at(0)}); err != nil {
							return err
						}
						*s = store{memories: map[string]port.DocumentWrite{}, versions: map[string]int64{}}
					}
					var writes []port.DocumentWrite
					for _, id := range set {
						writes = append(writes, memory(id, container, at(second)))
					}
					_, err := w.PutDocuments(f.ctx, p, at(clock), writes)
					if s.erasing {
						return refused(err)
					}
					for _, m := range writes {
						s.memories[m.Document.ID] = m
					}
					return err
				})
			},
			"delete": func(rt *rapid.T) {
				set := rapid.SliceOfNDistinct(ids, 1, 5, rapid.ID).Draw(rt, "ids")
				change(func(w port.DocumentWriter, p port.Partition, s *store) error {
					want := 0
					n, _, gone, err := w.DeleteDocuments(f.ctx, p, at(clock), set)
					switch {
					case s.memories == nil && fault.IsPartitionNotFound(err):
						return nil
					case s.erasing:
						return refused(err)
					}
					for _, id := range set {
						if _, ok := s.memories[id]; ok {
							delete(s.memories, id)
							want++
						}
					}
					if err == nil && (n != want || gone) {
						err = fmt.Errorf("deleted %d, gone %v, want %d", n, gone, want)
					}
					return err
				})
			},
			"record": func(rt *rapid.T) {
				externalID := ids.Draw(rt, "external id")
				change(func(w port.DocumentWriter, p port.Partition, s *store) error {
					r, receipt := history("crm", externalID, s.versions[externalID]+1)
					err := w.PutRecord(f.ctx, p, r, receipt)
					switch {
					case s.memories == nil && fault.IsPartitionNotFound(err):
						return nil
					case s.erasing:
						return refused(err)
					}
					s.versions[externalID]++
					return err
				})
			},
			"replay": func(*rapid.T) {
				keys++
				change(func(w port.DocumentWriter, p port.Partition, s *store) error {
					if s.memories == nil {
						return nil
					}
					err := w.PutIdempotentReply(f.ctx, f.org, port.IdempotentReply{
						Integration: p.Integration(),
						Key:         fmt.Sprint(name, keys),
						EndUser:     name,
						CreatedAt:   at(1),
					})
					if s.erasing {
						return refused(err)
					}
					s.replays++
					return err
				})
			},
			"erase": func(rt *rapid.T) {
				limit := rapid.IntRange(1, 4).Draw(rt, "limit")
				end := rapid.Bool().Draw(rt, "end")
				change(func(w port.DocumentWriter, p port.Partition, s *store) error {
					p, err := w.BeginErasure(f.ctx, p, at(clock+1))
					if s.memories == nil && fault.IsPartitionNotFound(err) {
						return nil
					}
					if err != nil {
						return err
					}
					s.erasing = true
					before := s.tally
					more, err := w.EraseMemories(f.ctx, p, limit)
					for err == nil && end && more {
						more, err = w.EraseMemories(f.ctx, p, limit)
					}
					if err != nil {
						return err
					}
					if s.tally, err = w.ErasureTally(f.ctx, p); err != nil {
						return err
					}
					left, err := w.ListDocuments(f.ctx, p, port.DocumentList{Limit: 100})
					removed := s.tally.Memories - before.Memories
					if err == nil && int(removed) != len(s.memories)-len(left) {
						err = fmt.Errorf("%d of %d memories counted as removed, %d left", removed, len(s.memories), len(left))
					}
					maps.DeleteFunc(s.memories, func(id string, _ port.DocumentWrite) bool {
						return !slices.ContainsFunc(left, func(d port.DocumentHead) bool { return d.ID == id })
					})
					if err != nil || !end {
						return err
					}
					var receipts int64
					for _, n := range s.versions {
						receipts += n
					}
					if s.tally.Records != int64(len(s.versions)) || s.tally.Receipts != receipts ||
						s.tally.Replays != int64(s.replays) {
						return fmt.Errorf("erased %+v of %d records, %d receipts, %d answers", s.tally, len(s.versions),
							receipts, s.replays)
					}
					*s = store{}
					return w.EndErasure(f.ctx, p)
				})
			},
			"drop": func(*rapid.T) {
				change(func(w port.DocumentWriter, p port.Partition, s *store) error {
					existed, err := w.DeletePartition(f.ctx, p)
					if s.erasing {
						return refused(err)
					}
					if err == nil && existed != (s.memories != nil) {
						err = fmt.Errorf("existed %v", existed)
					}
					*s = store{}
					return err
				})
			},
			"": func(rt *rapid.T) {
				for _, p := range parts {
					s, ok := model[p]
					f.compareMemories(rt, p, s, ok)
				}
			},
		})
	})
}

func (f *fixture) compareMemories(rt *rapid.T, p port.Partition, s store, exists bool) {
	f.view(func(r port.Reader) error {
		users, err := r.EndUsers(f.ctx, f.org, port.EndUserList{Integration: p.Integration(), Prefix: p.Name(), Limit: 1000})
		if err != nil {
			return err
		}
		users = slices.DeleteFunc(users, func(u port.EndUser) bool { return u.ID != p.Name() })
		n, err := r.Partition(f.ctx, p)
		if !exists {
			if len(users) != 0 || !fault.IsPartitionNotFound(err) {
				rt.Fatalf("%s should be absent: %+v, %v", p, users, err)
			}
			return nil
		}
		if err != nil || len(users) != 1 {
			rt.Fatalf("%s: %+v, %v", p, users, err)
		}
		var bytes int64
		containers := map[string]bool{}
		all := slices.Collect(maps.Values(s.memories))
		for _, m := range all {
			bytes += int64(len(m.Document.Text))
			if m.Document.Container != "" {
				containers[m.Document.Container] = true
			}
		}
		u := users[0]
		if n.Documents != int64(len(all)) || n.Chunks != n.Documents || n.Bytes != bytes || u.Memories != n.Documents ||
			u.Bytes != bytes ||
			u.Containers != int64(len(containers)) || u.Erasing.IsZero() == s.erasing || !u.Erasing.Equal(n.Erasing) ||
			u.Generation != n.Generation {
			rt.Fatalf("%+v and %+v of %d memories, %d bytes, containers %v, erasing %v", n, u, len(all), bytes,
				containers, s.erasing)
		}
		slices.SortFunc(all, func(a, b port.DocumentWrite) int {
			return cmp.Or(b.Document.CreatedAt.Compare(a.Document.CreatedAt), cmp.Compare(a.Document.ID, b.Document.ID))
		})
		for _, container := range []string{"", "x", "y"} {
			var want []string
			for _, m := range all {
				if container == "" || m.Document.Container == container {
					want = append(want, m.Document.ID)
				}
			}
			got, err := r.ListDocuments(f.ctx, p, port.DocumentList{Order: port.ByCreated, Container: container, Limit: 100})
			if err != nil {
				return err
			}
			f.same("memories", docIDs(got), want)
		}
		want := map[port.ContentKey]string{}
		var asked []port.ContentKey
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			for _, container := range []string{"", "x", "y"} {
				k := port.ContentKey{Container: container, Hash: contentKey("says " + id)}
				asked = append(asked, k)
				if m, ok := s.memories[id]; ok && m.Document.Container == container {
					want[k] = id
				}
			}
		}
		got, err2 := r.MemoriesByContent(f.ctx, p, asked)
		f.same("by content", got, want)
		if s.erasing {
			return err2
		}
		records, err3 := r.Records(f.ctx, p, "", "", 100)
		if len(records) != len(s.versions) {
			rt.Fatalf("%d records, want %d", len(records), len(s.versions))
		}
		for _, got := range records {
			want, _ := history("crm", got.ExternalID, s.versions[got.ExternalID])
			f.same("record", got, want)
		}
		return errors.Join(err2, err3)
	})
	if f.Failed() {
		rt.FailNow()
	}
}
