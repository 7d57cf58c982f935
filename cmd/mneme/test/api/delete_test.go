package api_test

import (
	"slices"
	"testing"
)

// TestDeleteBodies: bodies that choose no documents are refused, and delete nothing.
func TestDeleteBodies(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.write("docs", doc("b", "beta", ""), doc("d", "delta", ""))
		remove := func(body any) *reply { t.Helper(); return s.post("/namespaces/docs/documents/delete", body) }
		for _, c := range []struct {
			body  any
			code  string
			words []string
		}{
			{object{"ids": []string{}}, "invalid_request", []string{"ids"}},
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
		if got := s.ids("docs"); !slices.Equal(got, []string{"b", "d"}) {
			t.Errorf("refused deletions left %v", got)
		}
		if r := remove(object{"ids": []string{"b", "none"}}).ok(); r.number("deleted") != 1 || r.json["more"] != false {
			t.Errorf("a deletion: %s", r.body)
		}
	})
}
