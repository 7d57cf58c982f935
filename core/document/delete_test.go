package document_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
)

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
