// mem0's client for Node.js against a server that MNEME_URL names.
import assert from "node:assert/strict";
import { MemoryClient, MemoryNotFoundError, ValidationError, AuthenticationError } from "mem0ai";

const host = process.env.MNEME_URL;
const client = new MemoryClient({ apiKey: process.env.MNEME_MEMORY_KEY, host });
await client.ping();

const hedge = "The hedge is cut in February.";
const filters = { user_id: "nora" };
const added = await client.add([{ role: "user", content: hedge }, { role: "assistant", content: "I will remind you." }], {
  userId: "nora",
  runId: "garden",
  metadata: { plantKind: "hedge" },
});
assert.deepEqual(added.results.map((r) => [r.event, r.memory]), [["ADD", hedge], ["ADD", "I will remind you."]]);
const id = added.results[0].id;
const memory = await client.get(id);
assert.deepEqual([memory.memory, memory.userId, memory.runId, memory.metadata], [hedge, "nora", "garden", { plantKind: "hedge", role: "user" }]);

const found = await client.search("When is the hedge cut?", { filters: { AND: [filters, { metadata: { plantKind: "hedge" } }] }, topK: 1 });
assert.deepEqual(found.results.map((h) => h.id), [id]);
const page = await client.getAll({ filters, page: 1, pageSize: 1 });
assert.deepEqual([page.count, page.results.length, page.previous], [2, 1, null]);
assert.equal((await client.getAll({ filters, startDate: "2100-01-01" })).count, 0);

assert.equal((await client.update(id, { text: "The hedge is cut in March.", expirationDate: null })).memory, "The hedge is cut in March.");
assert.deepEqual((await client.history(id)).map((v) => v.newMemory), ["The hedge is cut in March."]);
await client.batchUpdate([{ memoryId: id, text: "The hedge is cut in April." }]);
assert.equal((await client.get(id)).memory, "The hedge is cut in April.");
await client.batchDelete([id]);
await assert.rejects(client.get(id), MemoryNotFoundError);
await client.delete(added.results[1].id, { deleteLinked: true });
await client.add([{ role: "user", content: [{ type: "text", text: "Bread needs salt." }] }], { userId: "nora", timestamp: 1700000000 });
await client.deleteAll({ userId: "nora" });
assert.equal((await client.getAll({ filters })).count, 0);
assert.ok((await client.users({ page: 1, pageSize: 1000 })).results.some((u) => u.name === "nora" && u.type === "user"));
await client.deleteUsers({ userId: "nora" });
assert.ok(!(await client.users()).results.some((u) => u.name === "nora"));
await client.add([{ role: "user", content: "Once more." }], { userId: "otto" });
await client.deleteUser({ entity_id: "otto" });

const refused = (call, kind, says) =>
  assert.rejects(call, (e) => {
    assert.ok(e instanceof kind && e.message.includes(says), `${e.name}: ${e.message}`);
    return true;
  });
await refused(client.add([{ role: "user", content: "a" }], { userId: "nora", infer: true }), ValidationError, "language model");
await refused(
  client.add([{ role: "user", content: { type: "image_url", image_url: { url: "https://example.com/a.png" } } }], { userId: "nora" }),
  ValidationError,
  "pictures",
);
await refused(client.search("a", { filters: { NOT: [filters] } }), ValidationError, "NOT");
await refused(client.deleteAll(), ValidationError, "user_id");
await refused(client.getProject({ fields: ["customInstructions"] }), MemoryNotFoundError, "integration");
await refused(client.createWebhook({ name: "a", url: "https://example.com", eventTypes: ["memory_add"] }), MemoryNotFoundError, "webhooks");
await refused(client.createMemoryExport({ schema: {}, filters }), MemoryNotFoundError, "language model");
await refused(client.feedback({ memoryId: id, feedback: "POSITIVE" }), MemoryNotFoundError, "feedback");
await refused(client.generateProfile({ entityId: "nora" }), MemoryNotFoundError, "language model");
const stranger = new MemoryClient({ apiKey: "m0-of-another-service", host });
await refused(stranger.ping(), AuthenticationError, "not valid");
console.log("round trip done");
