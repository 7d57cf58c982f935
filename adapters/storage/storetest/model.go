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

// life is what a model of the store knows of one namespace.
type life struct {
	docs       map[string]port.DocumentHead
	tombstones map[string]uint64
	generation int64
	seq        uint64
}

// follower is an index in miniature: it applies the change log in batches and
// must come to hold what the namespace holds.
type follower struct {
	generation int64
	applied    uint64
	docs       map[string]uint64
}

var errUndo = errors.New("undo")

// model runs random calls against the store and a model of it in memory, with
// some transactions rolled back, and compares the two after each.
func model(t *testing.T, f *fixture) {
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		f := &fixture{T: f.T, s: f.s, ctx: f.ctx, org: f.org}
		names := []string{fmt.Sprintf("m%d-a", run), fmt.Sprintf("m%d-b", run)}
		lives := map[string]life{}
		followers := map[string]*follower{names[0]: {}, names[1]: {}}
		generations := map[int64]bool{}
		clock := 0
		// change runs calls on the store and, when they are kept, on the model.
		change := func(name string, fn func(w port.DocumentWriter, l life) (life, bool, error)) {
			undo := rapid.IntRange(0, 5).Draw(rt, "undo") == 0
			var next life
			var exists bool
			err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) (err error) {
				l := lives[name]
				l.docs, l.tombstones = maps.Clone(l.docs), maps.Clone(l.tombstones)
				if next, exists, err = fn(w, l); err == nil && undo {
					err = errUndo
				}
				return err
			})
			switch {
			case undo && err == errUndo:
				return
			case err != nil:
				rt.Fatalf("Update: %v", err)
			case exists:
				lives[name] = next
			default:
				delete(lives, name)
			}
		}
		ids := rapid.SampledFrom([]string{"a", "b", "B", "c:1", "c-1", "d"})
		pick := func() (string, port.Partition) {
			name := rapid.SampledFrom(names).Draw(rt, "namespace")
			p := port.Documents(f.org, name)
			if l, ok := lives[name]; ok && rapid.Bool().Draw(rt, "pinned") {
				p = p.At(l.generation)
			}
			return name, p
		}
		ensure := func(w port.DocumentWriter, name string, l life) (life, error) {
			if l.docs != nil {
				return l, nil
			}
			n, err := w.CreatePartition(f.ctx, port.Documents(f.org, name), port.PartitionRow{Dimensions: dim})
			if generations[n.Generation] {
				rt.Fatalf("generation %d again", n.Generation)
			}
			return life{docs: map[string]port.DocumentHead{}, tombstones: map[string]uint64{}, generation: n.Generation}, err
		}
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				name, p := pick()
				clock++
				set := rapid.SliceOfNDistinct(ids, 1, 4, rapid.ID).Draw(rt, "ids")
				version := rapid.IntRange(1, 3).Draw(rt, "version")
				change(name, func(w port.DocumentWriter, l life) (life, bool, error) {
					l, err := ensure(w, name, l)
					if err != nil {
						return l, false, err
					}
					l.seq++
					var writes []port.DocumentWrite
					for i, id := range set {
						d := document(id, version, (version+i)%4)
						old, replaces := l.docs[id]
						created := at(clock)
						if replaces {
							created = old.CreatedAt
						}
						if replaces && i%2 == 1 {
							d.Document = describe(old.Document, version)
							d.MetadataOnly = true
						}
						h := head(d, l.seq, created, at(clock))
						l.docs[id] = h
						delete(l.tombstones, id)
						if d.MetadataOnly { // the store takes nothing else from it
							d.Document.Text, d.Document.Chunks, d.Vectors = "", nil, port.Vectors{}
						}
						writes = append(writes, d)
					}
					seq, err := w.PutDocuments(f.ctx, p, at(clock), writes)
					if err == nil && seq != l.seq {
						err = fmt.Errorf("change %d, want %d", seq, l.seq)
					}
					return l, true, err
				})
			},
			"delete": func(rt *rapid.T) {
				name, p := pick()
				if _, ok := lives[name]; !ok {
					rt.Skip()
				}
				clock++
				set := rapid.SliceOfNDistinct(ids, 1, 6, rapid.ID).Draw(rt, "ids")
				change(name, func(w port.DocumentWriter, l life) (life, bool, error) {
					want := 0
					for _, id := range set {
						if _, ok := l.docs[id]; ok {
							delete(l.docs, id)
							l.tombstones[id] = l.seq + 1
							want++
						}
					}
					if want > 0 {
						l.seq++
					}
					n, seq, gone, err := w.DeleteDocuments(f.ctx, p, at(clock), set)
					wantSeq := l.seq
					if want == 0 {
						wantSeq = 0
					}
					if err == nil && (n != want || seq != wantSeq || gone != (len(l.docs) == 0 && want > 0)) {
						err = fmt.Errorf("deleted %d, change %d, gone %v; want %d, %d, %v", n, seq, gone, want, wantSeq,
							len(l.docs) == 0)
					}
					return l, !gone, err
				})
			},
			"drop": func(rt *rapid.T) {
				name, p := pick()
				_, exists := lives[name]
				change(name, func(w port.DocumentWriter, l life) (life, bool, error) {
					existed, err := w.DeletePartition(f.ctx, p)
					if err == nil && existed != exists {
						err = fmt.Errorf("existed %v, want %v", existed, exists)
					}
					return life{}, false, err
				})
			},
			"create": func(rt *rapid.T) {
				name := rapid.SampledFrom(names).Draw(rt, "namespace")
				change(name, func(w port.DocumentWriter, l life) (life, bool, error) {
					l, err := ensure(w, name, l)
					return l, true, err
				})
			},
			"trim": func(rt *rapid.T) {
				name, p := pick()
				fo := followers[name]
				if l, ok := lives[name]; !ok || fo.generation != l.generation {
					rt.Skip()
				}
				change(name, func(w port.DocumentWriter, l life) (life, bool, error) {
					maps.DeleteFunc(l.tombstones, func(_ string, seq uint64) bool { return seq <= fo.applied })
					return l, true, w.TrimChanges(f.ctx, p, fo.applied)
				})
			},
			"follow": func(rt *rapid.T) {
				name, p := pick()
				l, ok := lives[name]
				if !ok {
					rt.Skip()
				}
				fo := followers[name]
				if fo.generation != l.generation {
					*fo = follower{generation: l.generation, docs: map[string]uint64{}}
				}
				limit := rapid.IntRange(1, 4).Draw(rt, "limit")
				for steps := 0; fo.applied < l.seq; steps++ {
					batch := f.changes(p, fo.applied, limit)
					if len(batch) == 0 {
						fo.applied = l.seq // what is left was deleted and trimmed
						break
					}
					for _, c := range batch {
						if c.Seq <= fo.applied {
							rt.Fatalf("change %d after %d", c.Seq, fo.applied)
						}
						if delete(fo.docs, c.Document); !c.Deleted {
							fo.docs[c.Document] = c.Seq
						}
					}
					fo.applied = batch[len(batch)-1].Seq
					if steps > 100 {
						rt.Fatal("the change log does not end")
					}
				}
				want := map[string]uint64{}
				for id, d := range l.docs {
					want[id] = d.Seq
				}
				if !maps.Equal(fo.docs, want) {
					rt.Fatalf("followed to %v, want %v", fo.docs, want)
				}
			},
			"": func(rt *rapid.T) {
				for _, name := range names {
					l, ok := lives[name]
					if ok {
						generations[l.generation] = true
					}
					f.compare(rt, port.Documents(f.org, name), l, ok)
				}
			},
		})
	})
}

// compare fails unless a namespace is as the model has it.
func (f *fixture) compare(rt *rapid.T, p port.Partition, l life, exists bool) {
	if !exists {
		err := f.s.View(f.ctx, func(r port.Reader) error { _, err := r.Partition(f.ctx, p); return err })
		if !fault.IsPartitionNotFound(err) {
			rt.Fatalf("%s should be absent: %v", p.Name(), err)
		}
		return
	}
	f.view(func(r port.Reader) error {
		n, err := r.Partition(f.ctx, p)
		if err != nil {
			return err
		}
		var chunks, bytes int64
		var want []port.DocumentHead
		var log []port.Change
		for _, d := range l.docs {
			chunks += int64(d.ChunkCount)
			bytes += int64(len(d.Text))
			want = append(want, d)
			log = append(log, port.Change{Seq: d.Seq, Document: d.ID})
		}
		for id, seq := range l.tombstones {
			log = append(log, port.Change{Seq: seq, Document: id, Deleted: true})
		}
		if n.Documents != int64(len(want)) || n.Chunks != chunks || n.Bytes != bytes || n.Seq != l.seq ||
			n.Generation != l.generation {
			rt.Fatalf("namespace %+v; want %d documents, %d chunks, %d bytes, change %d, generation %d", n, len(want),
				chunks, bytes, l.seq, l.generation)
		}
		slices.SortFunc(want, func(a, b port.DocumentHead) int { return cmp.Compare(a.ID, b.ID) })
		slices.SortFunc(log, func(a, b port.Change) int {
			return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Document, b.Document))
		})
		got, err := r.ListDocuments(f.ctx, p, port.DocumentList{Limit: 100, Parts: everything})
		f.same("documents", got, want)
		changes, err2 := r.Changes(f.ctx, p, 0, 100)
		f.same("changes", changes, log)
		v, err3 := r.Vectors(f.ctx, p, docIDs(want))
		for _, d := range want {
			if len(v[d.ID].Dense.Data) != dim*d.ChunkCount {
				rt.Fatalf("%s: %d vector values for %d chunks", d.ID, len(v[d.ID].Dense.Data), d.ChunkCount)
			}
		}
		return errors.Join(err, err2, err3)
	})
	if f.Failed() {
		rt.FailNow()
	}
}
