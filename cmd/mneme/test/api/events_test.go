package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
)

// eventsOfChanges are the events of TestEveryChangeIsRecordedOnce, a line a step, in their order. Those
// of an organization that is deleted go with it.
var eventsOfChanges = []string{
	"namespaces.create: namespace.created",
	"documents.write: namespace.created documents.written",
	"documents.write:",
	"documents.delete: documents.deleted",
	"documents.delete:",
	"queries.save:",
	"queries.delete:",
	"files.upload: documents.written",
	"openai.vector_stores.create:",
	"openai.vector_stores.update:",
	"openai.files.create:",
	"openai.vector_store_files.create: namespace.created documents.written",
	"openai.vector_store_files.update: documents.written",
	"openai.vector_store_files.delete: documents.deleted namespace.deleted",
	"openai.vector_store_file_batches.create: namespace.created documents.written",
	"openai.files.delete: documents.deleted namespace.deleted",
	"openai.vector_stores.delete:",
	"tools.save: namespace.created documents.written",
	"tools.delete: documents.deleted namespace.deleted",
	"memories.save: memory.created",
	"memories.batch: memory.created",
	"memories.remember: memory.created",
	"mem0.add: memory.created memory.created memory.created",
	"mem0.update: memory.updated",
	"mem0.delete: memory.deleted",
	"mem0.batch.update: memory.updated",
	"mem0.batch.delete: memory.deleted",
	"mem0.delete_all: memory.deleted",
	"mem0.add: memory.created",
	"mem0.batch.delete:",
	"tools.remember: memory.created",
	"tools.forget: memory.deleted",
	"memories.delete: memory.deleted",
	"memories.upsert: memory.created",
	"memories.upsert: memory.updated",
	"memories.tombstone: memory.tombstoned",
	"memories.upsert: memory.restored",
	"grants.create:",
	"grants.revoke:",
	"admin.organizations.create:",
	"admin.organizations.change:",
	"admin.quotas.change:",
	"admin.organizations.delete:",
	"admin.keys.create: key.created",
	"admin.keys.change:",
	"admin.keys.rotate: key.created",
	"admin.keys.revoke: key.revoked",
	"admin.members.invite:",
	"admin.members.change:",
	"admin.members.invite_again:",
	"admin.members.remove:",
	"admin.integrations.create:",
	"admin.integrations.change:",
	"admin.integrations.keys.create: key.created key.created", // one by the test, for an export
	"admin.namespaces.import: namespace.created documents.written",
	"admin.namespaces.reindex: namespace.reindexed",
	"admin.namespaces.discard:",
	"admin.end_users.reindex:",
	"admin.end_users.erase: user.erased",
	"mem0.entities.delete: user.erased",
	"mem0.entities.delete.v1: user.erased",
	"users.erase:", // which finds nothing
	"sources.create: source.state_changed",
	"sources.update:",
	"sources.sync: source.state_changed namespace.created documents.written source.run.completed source.state_changed",
	"sources.runs.retry_failed: source.state_changed source.run.completed source.state_changed",
	"sources.sync: source.state_changed source.run.completed source.deletions_withheld source.state_changed",
	"sources.apply_deletions: source.state_changed documents.deleted namespace.deleted source.run.completed source.state_changed",
	"sources.create: source.state_changed",
	"sources.runs.begin: source.state_changed",
	"sources.items.push: namespace.created documents.written",
	"sources.runs.complete: source.run.completed source.state_changed",
	"sources.runs.begin: source.state_changed",
	"sources.runs.cancel: source.run.completed source.state_changed",
	"sources.delete: source.state_changed",
	"sources.create: source.state_changed",
	"sources.sync: source.state_changed source.run.failed source.credentials_failed source.state_changed",
	"webhooks.create:",
	"webhooks.change:",
	"webhooks.test:",
	"webhooks.rotate:",
	"webhooks.recover:",
	"webhooks.deliveries.redeliver:",
	"webhooks.delete:",
	"admin.webhooks.create:",
	"admin.webhooks.change:",
	"admin.webhooks.test:",
	"admin.webhooks.rotate:",
	"admin.webhooks.recover:",
	"admin.webhooks.deliveries.redeliver: webhook.disabled",
	"admin.webhooks.delete:",
	"documents.write: documents.written", // by its job
	"documents.write:",                   // whose job is cancelled
	"admin.jobs.cancel:",
	"namespaces.delete: namespace.deleted",
	"namespaces.delete:",
	"an outage: model.state_changed model.state_changed",
	"a full quota: quota.exceeded",
	"a replay: key.created", // of the server that is started for it
}

// follower reads the events of a server. A key that is made at the start of a step shows
// in them where it begins: between two of them stands what a step has caused, at once or
// in the background.
type follower struct {
	*server                   // seen by its operator
	of      *server           // as it was
	steps   map[string]string // id of a key to the step
	found   []object          // what was read
	after   string            // where to go on
}

func (s *server) follower() *follower {
	return &follower{server: s.operator(), of: s, steps: map[string]string{}}
}

func (f *follower) step(name string) {
	f.t.Helper()
	k, err := f.engine.Keys().Issue(context.Background(), key.Issue{Name: "step"})
	if err != nil {
		f.t.Fatal(err)
	}
	f.steps[k.ID] = name
}

// read reads what is new, once all that is stored has its number.
func (f *follower) read() []object {
	f.t.Helper()
	harness.Eventually(f.t, "every event has its number", func() bool {
		var list []port.Event
		err := f.store.View(context.Background(), func(r port.Reader) (err error) {
			list, err = r.UnnumberedEvents(context.Background(), 1)
			return err
		})
		return err == nil && len(list) == 0
	})
	r := f.get("/admin/v1/organizations/default/events?limit=1000&after=" + f.after).ok()
	f.after = r.json["next_cursor"].(string)
	list := r.objects("events")
	f.found = append(f.found, list...)
	return list
}

// outage has a model fail and work again.
func (f *follower) outage() {
	f.t.Helper()
	f.step("an outage")
	f.read()
	asked := 0
	for _, fails := range []error{errors.New("broken"), nil} {
		f.of.embedder.Before.Set(func(context.Context, port.TextKind, []string) error { return fails })
		harness.Eventually(f.t, "the state of the model is told", func() bool {
			asked++ // no answer is remembered
			f.of.post("/namespaces/again/query", object{"query": fmt.Sprint("zebra ", asked), "retrievers": []string{"vector"}})
			return len(f.read()) > 0
		})
	}
	f.of.embedder.Before.Clear()
}

// full has a quota refuse two writes.
func (f *follower) full() {
	f.t.Helper()
	f.step("a full quota")
	const quotas = "/admin/v1/organizations/default/quotas"
	f.patch(quotas, object{"documents": 1}).ok()
	for range 2 {
		f.of.post("/namespaces/again/documents", object{"documents": []any{object{"id": "over", "text": "A zebra too many."}}}).
			fails(403, "quota_exceeded")
	}
	f.patch(quotas, object{"documents": 0}).ok()
}

// replay has the index of a namespace made again of what the store has.
func (f *follower) replay(namespace string) {
	f.t.Helper()
	f.step("a replay")
	f.of.close()
	f.of.backend.forget(f.t, f.of.dir)
	next := f.of.restart(nil)
	if got := next.query(namespace, object{"query": "zebra", "mode": "keyword"}).list("results"); len(got) == 0 {
		f.t.Error("nothing is found after the index was lost")
	}
	f.server, f.of = next.as(f.key), next
}

// told fails unless eventsOfChanges are there. Each is as small as promised, as its schema says,
// and holds none of the secrets; each kind has some.
func (f *follower) told(secrets []string) {
	f.t.Helper()
	f.read()
	schemas := f.schemas()
	var got []string
	seen := map[string]bool{}
	for _, e := range f.found {
		kind, data := e["type"].(string), e["data"].(object)
		if step, ok := f.steps[fmt.Sprint(data["key_id"])]; ok && kind == event.KeyCreated {
			got = append(got, step+":")
			continue
		}
		seen[kind] = true
		body, err := json.Marshal(e)
		if err != nil {
			f.t.Fatal(err)
		}
		if err := schemas[kind].Validate(data); err != nil {
			f.t.Errorf("%s is not as its schema says: %v", body, err)
		}
		if len(body) > 20<<10 {
			f.t.Errorf("%s of %d bytes", kind, len(body))
		}
		for _, secret := range secrets {
			if bytes.Contains(bytes.ReplaceAll(body, []byte("zebra.txt"), nil), []byte(secret)) { // an id
				f.t.Errorf("%q stands in %s", secret, body)
			}
		}
		if len(got) > 0 {
			got[len(got)-1] += " " + kind
		}
	}
	for _, k := range event.Kinds() {
		if !seen[k.Name] {
			f.t.Errorf("nothing of kind %s was told", k.Name)
		}
	}
	if !slices.Equal(got, eventsOfChanges) {
		f.t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(eventsOfChanges, "\n"))
	}
	// The erasure has left one event of the end user.
	kept := string(f.get("/admin/v1/organizations/default/events?limit=1000").ok().body)
	if n := strings.Count(kept, "ann@example.com"); n != 1 {
		f.t.Errorf("an erased end user stands in %d events", n)
	}
}

// schemas are those that GET /event_kinds gives of the data of each kind.
func (f *follower) schemas() map[string]*jsonschema.Schema {
	f.t.Helper()
	out := map[string]*jsonschema.Schema{}
	compiler := jsonschema.NewCompiler()
	for _, k := range f.of.get("/event_kinds").ok().objects("kinds") {
		name := k["name"].(string)
		err := compiler.AddResource(name, k["schema"])
		if err == nil {
			out[name], err = compiler.Compile(name)
		}
		if err != nil {
			f.t.Fatalf("the schema of %s: %v", name, err)
		}
	}
	return out
}
