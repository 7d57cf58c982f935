package storetest

import (
	"testing"

	"github.com/mnemehq/mneme/core/port"
)

// contexts: memories have neighbours in time, and links record whose text is in whose
// vectors.
func contexts(t *testing.T, f *fixture) {
	p := port.Memories(f.org, "int_1", "ann")
	f.update(func(w port.DocumentWriter) error {
		if err := w.PutIntegration(f.ctx, port.Integration{ID: "int_1", Org: f.org, Name: "app", CreatedAt: at(0)}); err != nil {
			return err
		}
		_, err := w.CreatePartition(f.ctx, p, port.PartitionRow{Dimensions: dim, CreatedAt: at(0), UpdatedAt: at(0)})
		return err
	})
	memory := func(id, container string, second int) port.DocumentWrite {
		d := document(id, 1, 1)
		d.Document.Container, d.Document.CreatedAt, d.Document.ContentKey[0] = container, at(second), id[0]
		return d
	}
	// b and c stand at the same time; x and y in another container, z in none.
	f.put(p, at(9), memory("d", "chat", 5), memory("a", "chat", 1), memory("c", "chat", 3), memory("b", "chat", 3),
		memory("x", "work", 2), memory("y", "work", 4), memory("z", "", 3))
	for _, c := range []struct {
		at            port.Position
		before, after string
	}{
		{port.Position{Container: "chat", CreatedAt: at(3), ID: "b"}, "a", "c"},
		{port.Position{Container: "chat", CreatedAt: at(3), ID: "c"}, "b", "d"},
		{port.Position{Container: "chat", CreatedAt: at(3), ID: "bb"}, "b", "c"},
		{port.Position{Container: "chat", CreatedAt: at(4), ID: "0"}, "c", "d"},
		{port.Position{Container: "chat", CreatedAt: at(0), ID: "0"}, "", "a"},
		{port.Position{Container: "chat", CreatedAt: at(9), ID: "0"}, "d", ""},
		{port.Position{Container: "work", CreatedAt: at(3), ID: "b"}, "x", "y"},
		{port.Position{Container: "", CreatedAt: at(9), ID: "0"}, "z", ""},
		{port.Position{Container: "none", CreatedAt: at(3), ID: "b"}, "", ""},
	} {
		f.view(func(r port.Reader) error {
			found, err := r.Neighbors(f.ctx, p, []port.Position{c.at})
			if err != nil || len(found) != 1 {
				t.Fatalf("%+v: %v, %v", c.at, found, err)
			}
			id := func(d *port.Document) string {
				if d == nil {
					return ""
				}
				if d.Text == "" || d.Container != c.at.Container {
					t.Errorf("%s: %+v", d.ID, d)
				}
				return d.ID
			}
			if id(found[0].Before) != c.before || id(found[0].After) != c.after {
				t.Errorf("%+v: before %q, after %q, want %q and %q", c.at, id(found[0].Before), id(found[0].After),
					c.before, c.after)
			}
			return nil
		})
	}
	links := func(ids ...string) (out []port.ContextLink) {
		f.view(func(r port.Reader) (err error) {
			out, err = r.ContextLinks(f.ctx, p, ids, true)
			return err
		})
		return out
	}
	own := func(x float32) []float32 { return []float32{x, 0, 0, 0, 0, 0, 0, .5} }
	put := func(l ...port.ContextLink) {
		f.update(func(w port.DocumentWriter) error { return w.PutContextLinks(f.ctx, p, l) })
	}
	put(port.ContextLink{ID: "b", Context: "a", Own: own(.25)}, port.ContextLink{ID: "c", Context: "b", Own: own(.25)},
		port.ContextLink{ID: "d", Context: "c", Own: own(.25)})
	f.same("as memory and as context", links("b"),
		[]port.ContextLink{{ID: "b", Context: "a", Own: own(.25)}, {ID: "c", Context: "b", Own: own(.25)}})
	f.same("several ids", links("a", "b", "none"),
		[]port.ContextLink{{ID: "b", Context: "a", Own: own(.25)}, {ID: "c", Context: "b", Own: own(.25)}})
	f.view(func(r port.Reader) error {
		found, err := r.ContextLinks(f.ctx, p, []string{"d"}, false)
		f.same("without the vectors", found, []port.ContextLink{{ID: "d", Context: "c"}})
		return err
	})
	f.same("no id", links(), []port.ContextLink{})
	f.delete(p, at(10), "b")
	f.same("own link of a deleted memory", links("a"), []port.ContextLink{})
	f.same("link to a deleted memory", links("b"), []port.ContextLink{{ID: "c", Context: "b", Own: own(.25)}})
	put(port.ContextLink{ID: "c", Context: "a", Own: own(.25)}, port.ContextLink{ID: "d"})
	f.same("replaced and removed", links("a", "b", "c", "d"), []port.ContextLink{{ID: "c", Context: "a", Own: own(.25)}})
	f.put(p, at(11), memory("c", "chat", 3))
	f.update(func(w port.DocumentWriter) error {
		_, err := w.BeginErasure(f.ctx, p, at(12))
		if err == nil {
			_, err = w.EraseMemories(f.ctx, p, 100)
		}
		return err
	})
	f.same("after the erasure", links("a", "b", "c", "d"), []port.ContextLink{})
}
