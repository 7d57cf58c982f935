package apitest_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

func TestDeleteByIDs(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		remove := func(body any) *reply { t.Helper(); return s.post("/namespaces/docs/documents/delete", body) }
		if r := remove(object{"ids": []string{"a"}}).ok(); r.number("deleted") != 0 || r.json["more"] != false {
			t.Errorf("in an absent namespace: %s", r.body)
		}
		s.write("docs", doc("a", "alpha", ""), doc("b", "beta", ""), doc("c", "gamma", ""), doc("d", "delta", ""))
		r := remove(object{"ids": []string{"a", "none", "a", "c"}}).ok()
		fields(t, "a deletion", r.json, "deleted", "more")
		if r.number("deleted") != 2 || r.json["more"] != false {
			t.Errorf("two of four: %s", r.body)
		}
		if r := remove(object{"ids": []string{"a", "c"}}).ok(); r.number("deleted") != 0 {
			t.Errorf("the repeated call: %s", r.body)
		}
		if got := s.ids("docs"); !slices.Equal(got, []string{"b", "d"}) {
			t.Errorf("left: %v", got)
		}
		s.get("/namespaces/docs/documents/a").fails(404, "document_not_found")
		for _, mode := range []string{"vector", "keyword", "hybrid"} {
			if got := s.query("docs", object{"query": "alpha gamma", "mode": mode}).found(); slices.Contains(got, "a") || slices.Contains(got, "c") {
				t.Errorf("%s finds deleted documents: %v", mode, got)
			}
		}
		many := make([]string, 1001)
		for i := range many {
			many[i] = fmt.Sprintf("m%d", i)
		}
		remove(object{"ids": many[:1000]}).ok()
		for _, c := range []struct {
			body  any
			code  string
			words []string
		}{
			{object{"ids": many}, "invalid_request", []string{"ids", "1-1000", "1001"}},
			{object{"ids": []string{}}, "invalid_request", []string{"ids"}},
			{object{"ids": []string{"ok", "not ok"}}, "invalid_id", []string{"ids[1]"}},
			{object{"ids": "b"}, "invalid_request", []string{"ids", "array"}},
			{object{"ids": []any{"b", 3}}, "invalid_request", []string{"ids[1]"}},
			{object{}, "invalid_request", []string{"ids", "filter"}},
			{object{"ids": []string{"b"}, "filter": object{"a": 1}}, "invalid_request", []string{"ids", "filter"}},
			{object{"filter": object{}}, "invalid_filter", []string{"filter"}},
			{object{"filter": nil}, "invalid_filter", []string{"filter"}},
			{object{"filter": object{"a": object{"$ne": 1}}}, "invalid_filter", []string{"$ne"}},
			{object{"id": "b"}, "invalid_request", []string{"id"}},
			{object{"ids": []string{"b"}, "more": true}, "invalid_request", []string{"more"}},
		} {
			remove(c.body).fails(400, c.code, c.words...)
		}
		if got := s.ids("docs"); len(got) != 2 {
			t.Errorf("refused deletions left %v", got)
		}
		// The last document takes the namespace along.
		if r := remove(object{"ids": []string{"b", "d"}}).ok(); r.number("deleted") != 2 {
			t.Errorf("the last two: %s", r.body)
		}
		s.get("/namespaces/docs").fails(404, "namespace_not_found")
	})
}

func TestDeleteByFilter(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		for i := range 20 {
			s.write("docs", doc(fmt.Sprintf("d%02d", i), fmt.Sprintf("text %d", i), fmt.Sprintf(`{"n":%d,"odd":%t,"tags":["t%d","all"]}`, i, i%2 == 1, i%3)))
		}
		s.write("docs", doc("bare", "no metadata", ""))
		left := 21
		for _, c := range []struct {
			filter  object
			deleted int
		}{
			{object{"n": "3"}, 1}, {object{"n": "3"}, 0}, {object{"n": 4.0}, 1}, {object{"n": object{"$in": []any{5, "6", 99}}}, 2},
			{object{"$and": []object{{"odd": true}, {"tags": "t1"}}}, 4}, // 1, 7, 13 and 19
			{object{"$or": []object{{"n": 0}, {"n": 2}}}, 2}, {object{"absent": 1}, 0},
		} {
			r := s.post("/namespaces/docs/documents/delete", object{"filter": c.filter}).ok()
			left -= c.deleted
			if int(r.number("deleted")) != c.deleted || r.json["more"] != false || len(s.ids("docs")) != left {
				t.Errorf("%v: %s, %d are left, want %d", c.filter, r.body, len(s.ids("docs")), left)
			}
		}
		if r := s.post("/namespaces/docs/documents/delete", object{"filter": object{"tags": "all"}}).ok(); int(r.number("deleted")) != left-1 {
			t.Errorf("the rest: %s of %d", r.body, left-1)
		}
		if got := s.ids("docs"); !slices.Equal(got, []string{"bare"}) {
			t.Errorf("a filter took more than it matches: %v", got)
		}
		if r := s.post("/namespaces/none/documents/delete", object{"filter": object{"a": 1}}).ok(); r.number("deleted") != 0 || r.json["more"] != false {
			t.Errorf("in an absent namespace: %s", r.body)
		}
	})
}

// TestDeleteByFilterInSteps: 10,000 chunks a call, whole documents, more until
// done, and parallel filters do not disturb one another.
func TestDeleteByFilterInSteps(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		const perDocument, documents = 100, 250 // 25,000 chunks match
		text := paragraphs(perDocument, "steps")
		var batch []object
		for i := range documents {
			batch = append(batch, doc(fmt.Sprintf("d%03d", i), text, fmt.Sprintf(`{"kill":true,"half":"%d"}`, i%2)))
			if len(batch) == 50 {
				s.write("docs", batch...)
				batch = nil
			}
		}
		s.write("docs", doc("kept", "stays", `{"kill":false}`))
		if n := s.get("/namespaces/docs").ok().number("chunks"); n != perDocument*documents+1 {
			t.Fatalf("%v chunks", n)
		}
		remove := func(filter object) (deleted []int) {
			for {
				r := s.post("/namespaces/docs/documents/delete", object{"filter": filter}).ok()
				deleted = append(deleted, int(r.number("deleted")))
				if r.json["more"] != true {
					return deleted
				}
			}
		}
		if got := remove(object{"kill": true, "half": "0"}); !slices.Equal(got, []int{100, 25}) {
			t.Errorf("12,500 chunks went in steps of %v documents", got)
		}
		var both [2]int
		var wg sync.WaitGroup
		for i := range both {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for _, n := range remove(object{"kill": true, "half": "1"}) {
					both[i] += n
				}
			}()
		}
		wg.Wait()
		if both[0]+both[1] != documents/2 {
			t.Errorf("two equal filters side by side counted %v of %d documents", both, documents/2)
		}
		if got := s.ids("docs"); !slices.Equal(got, []string{"kept"}) {
			t.Errorf("left: %d documents", len(got))
		}
		if n := s.get("/namespaces/docs").ok(); n.number("chunks") != 1 || n.number("bytes") != 5 {
			t.Errorf("counts after the deletion: %s", n.body)
		}
	})
}

// TestDeleteByFilterSparesRewritten: a document rewritten during the call is not
// deleted; when that goes on, the call gives up with 409.
func TestDeleteByFilterSparesRewritten(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		// beforeUpdate does something between the call's reading and its deleting.
		beforeUpdate := func(times int32, do func(n int32)) {
			var n atomic.Int32
			var inside atomic.Bool
			hook := func() error {
				if inside.CompareAndSwap(false, true) {
					defer inside.Store(false)
					if i := n.Add(1); i <= times {
						do(i)
					}
				}
				return nil
			}
			s.store.called.Store(&hook)
		}
		s.write("docs", doc("a", "one", `{"kill":true}`), doc("b", "two", `{"kill":true}`), doc("c", "three", `{"kill":true}`))
		beforeUpdate(1, func(int32) { s.write("docs", doc("b", "two, saved", `{"kill":false}`)) })
		if r := s.post("/namespaces/docs/documents/delete", object{"filter": object{"kill": true}}).ok(); r.number("deleted") != 2 || r.json["more"] != false {
			t.Errorf("with one saved meanwhile: %s", r.body)
		}
		s.store.called.Store(nil)
		if got := s.ids("docs"); !slices.Equal(got, []string{"b"}) {
			t.Errorf("left: %v", got)
		}

		// Rewritten once but still matching: the same call deletes it.
		s.write("docs", doc("b", "two", `{"kill":true}`))
		beforeUpdate(1, func(int32) { s.write("docs", doc("b", "two again", `{"kill":true}`), doc("k", "kept", "")) })
		if r := s.post("/namespaces/docs/documents/delete", object{"filter": object{"kill": true}}).ok(); r.number("deleted") != 1 || r.json["more"] != false {
			t.Errorf("with one rewritten meanwhile: %s", r.body)
		}

		// Rewritten every time.
		s.store.called.Store(nil)
		s.write("docs", doc("b", "two", `{"kill":true}`), doc("c", "three", `{"kill":true}`))
		beforeUpdate(1000, func(i int32) { s.write("docs", doc("b", fmt.Sprint("version ", i), `{"kill":true}`)) })
		s.post("/namespaces/docs/documents/delete", object{"filter": object{"kill": true}}).fails(409, "conflict", "rewritten")
		s.store.called.Store(nil)
		if got := s.ids("docs"); !slices.Equal(got, []string{"b", "k"}) {
			t.Errorf("left: %v", got)
		}
		if r := s.post("/namespaces/docs/documents/delete", object{"filter": object{"kill": true}}).ok(); r.number("deleted") != 1 {
			t.Errorf("the repeated call: %s", r.body)
		}

		// A new life of the namespace during the call is not touched, although
		// its change numbers are those of the old one.
		s.do("DELETE", "/namespaces/docs", nil).ok()
		s.write("docs", doc("a", "old life", `{"kill":true}`))
		beforeUpdate(1, func(int32) {
			s.do("DELETE", "/namespaces/docs", nil).ok()
			s.write("docs", doc("a", "new life", `{"kill":false}`))
		})
		if r := s.post("/namespaces/docs/documents/delete", object{"filter": object{"kill": true}}).ok(); r.number("deleted") != 0 {
			t.Errorf("across two lives: %s", r.body)
		}
		s.store.called.Store(nil)
		if got := s.ids("docs"); !slices.Equal(got, []string{"a"}) {
			t.Errorf("the new life holds %v", got)
		}
	})
}
