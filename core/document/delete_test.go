package document_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
)

func TestDeleteByIDs(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	remove := func(ids ...string) *coretest.Reply {
		t.Helper()
		return s.remove("docs", coretest.Object{"ids": ids})
	}
	if r := remove("a").OK(); r.Number("deleted") != 0 || r.JSON["more"] != false {
		t.Errorf("in an absent namespace: %s", r.Body)
	}
	s.write("docs", doc("a", "alpha", ""), doc("b", "beta", ""), doc("c", "gamma", ""), doc("d", "delta", ""))
	r := remove("a", "none", "a", "c").OK()
	coretest.Fields(t, "a deletion", r.JSON, "deleted", "more")
	if r.Number("deleted") != 2 || r.JSON["more"] != false {
		t.Errorf("two of four: %s", r.Body)
	}
	if r := remove("a", "c").OK(); r.Number("deleted") != 0 {
		t.Errorf("the repeated call: %s", r.Body)
	}
	if got := s.ids("docs"); !slices.Equal(got, []string{"b", "d"}) {
		t.Errorf("left: %v", got)
	}
	s.get("docs", "a").Fails("document_not_found")
	for _, mode := range []string{"vector", "keyword", "hybrid"} {
		if got := found(s.query("docs", coretest.Object{"query": "alpha gamma", "mode": mode})); slices.Contains(got, "a") ||
			slices.Contains(got, "c") {
			t.Errorf("%s finds deleted documents: %v", mode, got)
		}
	}
	many := make([]string, 1001)
	for i := range many {
		many[i] = fmt.Sprintf("m%d", i)
	}
	remove(many[:1000]...).OK()
	for _, c := range []struct {
		body  coretest.Object
		code  fault.Code
		words []string
	}{
		{coretest.Object{"ids": many}, "invalid_request", []string{"ids", "1-1000", "1001"}},
		{coretest.Object{"ids": []string{}}, "invalid_request", []string{"ids"}},
		{coretest.Object{"ids": []string{"ok", "not ok"}}, "invalid_id", []string{"ids[1]"}},
		{coretest.Object{}, "invalid_request", []string{"ids", "filter"}},
		{coretest.Object{"ids": []string{"b"}, "filter": coretest.Object{"a": 1}}, "invalid_request", []string{"ids", "filter"}},
		{coretest.Object{"filter": coretest.Object{}}, "invalid_filter", []string{"filter"}},
		{coretest.Object{"filter": nil}, "invalid_filter", []string{"filter"}},
		{coretest.Object{"filter": coretest.Object{"a": coretest.Object{"$ne": 1}}}, "invalid_filter", []string{"$ne"}},
	} {
		s.remove("docs", c.body).Fails(c.code, c.words...)
	}
	if got := s.ids("docs"); len(got) != 2 {
		t.Errorf("refused deletions left %v", got)
	}
	// The last document takes the namespace along.
	if r := remove("b", "d").OK(); r.Number("deleted") != 2 {
		t.Errorf("the last two: %s", r.Body)
	}
	s.namespace("docs").Fails("namespace_not_found")
}

// TestDeleteByFilterInSteps: 10,000 chunks a call, whole documents, more until
// done, and parallel filters do not disturb one another.
func TestDeleteByFilterInSteps(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	const perDocument, documents = 100, 250 // 25,000 chunks match
	text := paragraphs(perDocument, "steps")
	var batch []coretest.Object
	for i := range documents {
		batch = append(batch, doc(fmt.Sprintf("d%03d", i), text, fmt.Sprintf(`{"kill":true,"half":"%d"}`, i%2)))
		if len(batch) == 50 {
			s.write("docs", batch...)
			batch = nil
		}
	}
	s.write("docs", doc("kept", "stays", `{"kill":false}`))
	if n := s.namespace("docs").OK().Number("chunks"); n != perDocument*documents+1 {
		t.Fatalf("%v chunks", n)
	}
	remove := func(filter coretest.Object) (deleted []int) {
		for {
			r := s.remove("docs", coretest.Object{"filter": filter}).OK()
			deleted = append(deleted, int(r.Number("deleted")))
			if r.JSON["more"] != true {
				return deleted
			}
		}
	}
	if got := remove(coretest.Object{"kill": true, "half": "0"}); !slices.Equal(got, []int{100, 25}) {
		t.Errorf("12,500 chunks went in steps of %v documents", got)
	}
	var both [2]int
	var wg sync.WaitGroup
	for i := range both {
		wg.Go(func() {
			for _, n := range remove(coretest.Object{"kill": true, "half": "1"}) {
				both[i] += n
			}
		})
	}
	wg.Wait()
	if both[0]+both[1] != documents/2 {
		t.Errorf("two equal filters side by side counted %v of %d documents", both, documents/2)
	}
	if got := s.ids("docs"); !slices.Equal(got, []string{"kept"}) {
		t.Errorf("left: %d documents", len(got))
	}
	if n := s.namespace("docs").OK(); n.Number("chunks") != 1 || n.Number("bytes") != 5 {
		t.Errorf("counts after the deletion: %s", n.Body)
	}
}

func TestDeleteByFilter(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	for i := range 20 {
		s.write("docs", doc(fmt.Sprintf("d%02d", i), fmt.Sprintf("text %d", i),
			fmt.Sprintf(`{"n":%d,"odd":%t,"tags":["t%d","all"]}`, i, i%2 == 1, i%3)))
	}
	s.write("docs", doc("bare", "no metadata", ""))
	left := 21
	for _, c := range []struct {
		filter  coretest.Object
		deleted int
	}{
		{coretest.Object{"n": "3"}, 1}, {coretest.Object{"n": "3"}, 0}, {coretest.Object{"n": 4.0}, 1},
		{coretest.Object{"n": coretest.Object{"$in": []any{5, "6", 99}}}, 2},
		{coretest.Object{"$and": []coretest.Object{{"odd": true}, {"tags": "t1"}}}, 4}, // 1, 7, 13 and 19
		{coretest.Object{"$or": []coretest.Object{{"n": 0}, {"n": 2}}}, 2}, {coretest.Object{"absent": 1}, 0},
	} {
		r := s.remove("docs", coretest.Object{"filter": c.filter}).OK()
		left -= c.deleted
		if int(r.Number("deleted")) != c.deleted || r.JSON["more"] != false || len(s.ids("docs")) != left {
			t.Errorf("%v: %s, %d are left, want %d", c.filter, r.Body, len(s.ids("docs")), left)
		}
	}
	if r := s.remove("docs", coretest.Object{"filter": coretest.Object{"tags": "all"}}).OK(); int(r.Number("deleted")) != left-1 {
		t.Errorf("the rest: %s of %d", r.Body, left-1)
	}
	if got := s.ids("docs"); !slices.Equal(got, []string{"bare"}) {
		t.Errorf("a filter took more than it matches: %v", got)
	}
	if r := s.remove("none", coretest.Object{"filter": coretest.Object{"a": 1}}).OK(); r.Number("deleted") != 0 ||
		r.JSON["more"] != false {
		t.Errorf("in an absent namespace: %s", r.Body)
	}
}

// TestDeleteByFilterSparesRewritten: a document rewritten during the call is not
// deleted; when that goes on, the call gives up with 409.
func TestDeleteByFilterSparesRewritten(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
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
		s.Store.OnUpdate.Set(hook)
	}
	s.write("docs", doc("a", "one", `{"kill":true}`), doc("b", "two", `{"kill":true}`), doc("c", "three", `{"kill":true}`))
	beforeUpdate(1, func(int32) { s.write("docs", doc("b", "two, saved", `{"kill":false}`)) })
	if r := s.remove("docs", coretest.Object{"filter": coretest.Object{"kill": true}}).OK(); r.Number("deleted") != 2 ||
		r.JSON["more"] != false {
		t.Errorf("with one saved in between: %s", r.Body)
	}
	s.Store.OnUpdate.Clear()
	if got := s.ids("docs"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("left: %v", got)
	}

	// Rewritten once but still matching: the same call deletes it.
	s.write("docs", doc("b", "two", `{"kill":true}`))
	beforeUpdate(1, func(int32) { s.write("docs", doc("b", "two again", `{"kill":true}`), doc("k", "kept", "")) })
	if r := s.remove("docs", coretest.Object{"filter": coretest.Object{"kill": true}}).OK(); r.Number("deleted") != 1 ||
		r.JSON["more"] != false {
		t.Errorf("with one rewritten in between: %s", r.Body)
	}

	// Rewritten every time.
	s.Store.OnUpdate.Clear()
	s.write("docs", doc("b", "two", `{"kill":true}`), doc("c", "three", `{"kill":true}`))
	beforeUpdate(1000, func(i int32) { s.write("docs", doc("b", fmt.Sprint("version ", i), `{"kill":true}`)) })
	s.remove("docs", coretest.Object{"filter": coretest.Object{"kill": true}}).Fails("conflict", "rewritten")
	s.Store.OnUpdate.Clear()
	if got := s.ids("docs"); !slices.Equal(got, []string{"b", "k"}) {
		t.Errorf("left: %v", got)
	}
	if r := s.remove("docs", coretest.Object{"filter": coretest.Object{"kill": true}}).OK(); r.Number("deleted") != 1 {
		t.Errorf("the repeated call: %s", r.Body)
	}

	// A new life of the namespace during the call is not touched, although
	// its change numbers are those of the old one.
	s.drop("docs").OK()
	s.write("docs", doc("a", "old life", `{"kill":true}`))
	beforeUpdate(1, func(int32) {
		s.drop("docs").OK()
		s.write("docs", doc("a", "new life", `{"kill":false}`))
	})
	if r := s.remove("docs", coretest.Object{"filter": coretest.Object{"kill": true}}).OK(); r.Number("deleted") != 0 {
		t.Errorf("across two lives: %s", r.Body)
	}
	s.Store.OnUpdate.Clear()
	if got := s.ids("docs"); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the new life holds %v", got)
	}
}
