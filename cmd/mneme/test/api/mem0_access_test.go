package api_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
)

// TestMem0Access: over mem0's protocol, too, a key reaches what is its integration's or its end user's, does what
// its scopes allow, and deletes what is named and no more.
func TestMem0Access(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		root := start(t, b, options{})
		s := root.integration("app", nil)
		refused := func(r *reply, status int, words string) {
			t.Helper()
			detail, _ := r.json["detail"].(string)
			if r.status != status || !strings.Contains(detail, words) {
				t.Errorf("%s: %d %s, want %d %q", r.call, r.status, clip(r.body), status, words)
			}
		}
		add := func(as *server, user, text string) string {
			t.Helper()
			r := as.post("/v3/memories/add", object{"user_id": user,
				"messages": []object{{"role": "user", "content": text}}}).ok()
			return r.list("results")[0]["id"].(string)
		}
		count := func(user string) float64 {
			t.Helper()
			return s.post("/v3/memories", object{"filters": object{"user_id": user}}).ok().json["count"].(float64)
		}
		ann, ben := add(s, "ann", "Ann likes trains."), add(s, "ben", "Ben likes planes.")
		one := func(id string) string { return "/v1/memories/" + id }
		several := func(ids ...string) object {
			list := []object{}
			for _, id := range ids {
				list = append(list, object{"memory_id": id, "text": "changed"})
			}
			return object{"memories": list}
		}
		named := func(ids ...string) object {
			list := []object{}
			for _, id := range ids {
				list = append(list, object{"memory_id": id})
			}
			return object{"memories": list}
		}

		other := root.integration("other", nil)
		add(other, "ann", "Another's.")
		refused(other.get(one(ann)), 404, "there is no memory")
		refused(other.do("PUT", one(ann), object{"text": "x"}), 404, "there is no memory")
		refused(other.do("DELETE", one(ann), nil), 404, "there is no memory")
		refused(other.do("PUT", "/v1/batch", several(ann)), 404, "there is no memory")
		other.do("DELETE", "/v1/batch", named(ann, ben)).ok()
		refused(other.do("DELETE", "/v2/entities/user/ben", nil), 404, "no memories are kept")

		personal := root.as(root.issue(key.Issue{Kind: ident.Personal, Integration: "app", EndUser: "ann"}))
		personal.get(one(ann)).ok()
		for _, r := range []*reply{
			personal.get(one(ben)),
			personal.do("PUT", one(ben), object{"text": "x"}),
			personal.do("DELETE", one(ben), nil),
			personal.do("PUT", "/v1/batch", several(ann, ben)),
			personal.do("DELETE", "/v1/batch", named(ann, ben)),
			personal.do("DELETE", "/v1/memories?user_id=ben", nil),
			personal.do("DELETE", "/v2/entities/user/ben", nil),
			personal.post("/v3/memories", object{"filters": object{"user_id": "ben"}}),
			personal.post("/v3/memories/search", object{"query": "planes", "filters": object{"user_id": "ben"}}),
			personal.post("/v3/memories/add", object{"user_id": "ben", "messages": []object{{"role": "user", "content": "x"}}}),
		} {
			refused(r, 403, "")
		}
		if list := personal.get("/v1/entities").ok().list("results"); len(list) != 1 || list[0]["name"] != "ann" {
			t.Errorf("a key of one end user sees %v", list)
		}

		reader := root.as(root.issue(key.Issue{Name: "reader", Kind: ident.Integration, Integration: "app",
			Scopes: []ident.Scope{ident.MemoriesRead}}))
		reader.get(one(ann)).ok()
		for _, r := range []*reply{
			reader.post("/v3/memories/add", object{"user_id": "ann", "messages": []object{{"role": "user", "content": "x"}}}),
			reader.do("PUT", one(ann), object{"text": "x"}), reader.do("DELETE", one(ann), nil),
			reader.do("PUT", "/v1/batch", several(ann)), reader.do("DELETE", "/v1/batch", named(ann)),
			reader.do("DELETE", "/v1/memories?user_id=ann", nil), reader.do("DELETE", "/v2/entities/user/ann", nil),
		} {
			refused(r, 403, "scope")
		}

		// What could be a restriction is none that is left out.
		for _, query := range []string{"user_id=ann&runid=x", "user_id=ann&filters=%7B%7D", "user_id=ann&metadata=x",
			"user_id=ann&user_id=ben"} {
			refused(s.do("DELETE", "/v1/memories?"+query, nil), 400, "")
		}
		if count("ann") != 1 || count("ben") != 1 {
			t.Errorf("%v of ann's and %v of ben's memories are left", count("ann"), count("ben"))
		}

		// More than one batch of them goes at once.
		for range 3 {
			list := []object{}
			for range 50 {
				list = append(list, object{"role": "user", "content": "note " + rand.Text()})
			}
			s.post("/v3/memories/add", object{"user_id": "cat", "messages": list}).ok()
		}
		if s.do("DELETE", "/v1/memories?user_id=cat", nil).ok(); count("cat") != 0 || count("ann") != 1 {
			t.Errorf("%v of cat's memories are left, and %v of ann's", count("cat"), count("ann"))
		}
	})
}

// TestMem0IsOff by one line.
func TestMem0IsOff(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		root := start(t, b, options{config: func(c *configs.Config) { c.Protocols.Mem0 = false }})
		s := root.integration("app", nil)
		for _, path := range []string{"/v1/entities", "/v1/memories/x:ann", "/v1/exports"} {
			if r := s.get(path); r.status != 404 {
				t.Errorf("%s: %d %s", path, r.status, clip(r.body))
			}
		}
		s.save("ann", "Kept.")
	})
}
