package api_test

import "testing"

// A key of one source serves the process that pushes its items, and opens nothing else,
// neither by itself nor by one that takes over from it.
func TestAKeyOfOneSource(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		f := follows(t, b)
		mine, other := f.add("push", object{}), f.add("push", object{})
		operator := f.operator()
		const keys = "/admin/v1/organizations/default/keys"
		operator.post(keys, object{"source": "src_none"}).fails(400, "invalid_request", "source", "src_none")
		made := operator.post(keys, object{"source": mine}).ok()
		next := operator.post(keys+"/"+made.json["id"].(string)+"/rotate", object{}).ok()
		items := func(text string) object {
			return object{"items": []object{{"key": "a", "name": "a.txt", "text": text}}}
		}
		for _, k := range []*reply{made, next} {
			if k.json["source"] != mine {
				t.Errorf("a key of %s is shown as of %v", mine, k.json["source"])
			}
			s := f.as(k.json["secret"].(string))
			s.post("/sources/"+mine+"/items", items("Brought by "+k.json["id"].(string))).ok()
			s.get("/sources/" + mine).ok()
			s.get("/sources/" + mine + "/items").ok()
			run := s.post("/sources/"+mine+"/runs", nil).is(201).json["id"].(string)
			s.post("/sources/"+mine+"/runs/"+run+"/complete", nil).is(202)
			s.get("/health/deep").ok()
			for _, c := range []struct {
				method, path string
				body         any
			}{
				{"GET", "/sources", nil}, {"POST", "/sources", object{"name": "x", "kind": "push", "namespace": "docs"}},
				{"GET", "/sources/" + other, nil}, {"POST", "/sources/" + other + "/items", items("x")},
				{"DELETE", "/sources/" + other, nil}, {"GET", "/source_kinds", nil},
				{"GET", "/namespaces", nil}, {"GET", "/namespaces/docs/documents", nil}, {"DELETE", "/namespaces/docs", nil},
				{"POST", "/namespaces/docs/query", object{"query": "brought"}},
				{"POST", "/namespaces/docs/documents", object{"documents": []object{doc("a", "text", "")}}},
				{"POST", "/rerank", object{"query": "a", "documents": []string{"a"}}},
			} {
				s.do(c.method, c.path, c.body).fails(403, "forbidden", mine)
			}
		}
		if got := f.post("/namespaces/docs/query", object{"query": "brought"}).ok().list("results"); len(got) != 1 {
			t.Errorf("found %v", got)
		}
		f.get("/sources/" + other).ok()
	})
}
