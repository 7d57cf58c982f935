package api_test

import (
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/engine"
)

// TestMemoryModelsChange keeps end users with memories to the models that made
// their vectors, and lets those without go over.
func TestMemoryModelsChange(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		with := func(digest string) func(*options) {
			return func(o *options) {
				e := coretest.NewEmbedder()
				e.Digest = digest
				o.embedder, o.noEmbed = e, digest == ""
			}
		}
		root := start(t, b, options{noEmbed: true})
		s := root.integration("app", nil)
		s.tombstone("ann", "crm", "a", 1).ok() // makes her without a model
		next := root.restart(with("sha256:one"))
		s = next.as(s.key)
		s.save("ann", "Of the first model.")
		s.upsert("ann", "crm", "a", 2, "Of the first model, owned.").applied("restored", 2)
		s.upsert("bob", "crm", "t", 1, "Bob: Yes.").applied("created", 1)
		turns := []string{s.save("ann", "Ann: Shall we?"), s.save("ann", "Ann: Indeed we shall.")}
		s.save("bob", "Stays with the first model.")
		gone := s.save("cat", "Will be deleted.")
		s.post("/api/v1/memories/delete", object{"endUserId": "cat", "ids": []string{gone}}).ok()

		next = next.restart(with("sha256:two"))
		s = next.as(s.key)
		for _, user := range []string{"ann", "bob"} {
			s.post("/api/v1/search", object{"endUserId": user, "query": "x"}).refuses(503, "unavailable")
			s.post("/api/v1/memories", object{"endUserId": user, "content": "Mixed."}).refuses(503, "unavailable")
			s.upsert(user, "crm", "b", 1, "Mixed.").refuses(503, "unavailable")
		}
		// What needs no vectors works all the same.
		s.post("/api/v1/memories", object{"endUserId": "ann", "content": "Of the first model."}).ok()
		s.upsert("ann", "crm", "a", 3, "Of the first model, owned.", "containerTag", "box").applied("updated", 3)
		s.upsert("ann", "crm", "a", 3, "Of the first model, owned.", "containerTag", "box").replayed(true)
		if got := s.memories("ann"); len(got) != 4 {
			t.Errorf("%v", got)
		}
		s.post("/api/v1/memories/delete", object{"endUserId": "ann", "ids": []string{turns[0]}}).ok()
		s.tombstone("bob", "crm", "t", 2).applied("tombstoned", 2)

		s.save("cat", "Of the second model.")
		if got := s.search("cat", "second model"); len(got) != 1 {
			t.Errorf("%v", got)
		}
		s.do("DELETE", "/api/v1/users/bob", nil).ok()
		s.save("bob", "Of the second model.")

		// The first model again: hers still work, theirs do not.
		next = next.restart(with("sha256:one"))
		s = next.as(s.key)
		if got := s.search("ann", "first model"); len(got) != 3 {
			t.Errorf("%v", got)
		}
		s.post("/api/v1/search", object{"endUserId": "cat", "query": "x"}).refuses(503, "unavailable")
		// An end user without memories gets a sparse index when that is switched on.
		next = next.restart(func(o *options) {
			with("sha256:two")(o)
			o.sparse = &coretest.SparseEncoder{}
			o.engine = func(c *engine.Config) { c.Memory.Sparse = true }
		})
		s = next.as(s.key)
		s.post("/api/v1/memories/delete", object{"endUserId": "cat", "ids": []any{s.memories("cat")[0]["id"]}}).ok()
		s.save("cat", "With terms.")
		if got := s.search("cat", "terms"); len(got) != 1 {
			t.Errorf("%v", got)
		}
	})
}
