package api_test

import (
	"fmt"
	"slices"
	"sync"
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
			if got := s.query("docs", object{"query": "alpha gamma", "mode": mode}).found(); slices.Contains(got, "a") ||
				slices.Contains(got, "c") {
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
