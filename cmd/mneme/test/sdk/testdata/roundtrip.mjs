// What the TypeScript SDK does to a real server, in any runtime. MNEME_URL and three keys name it; WAY is import or require.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import process from "node:process";

const env = process.env;
const { Mneme, ...sdk } = env.WAY === "require" ? createRequire(import.meta.url)("@mnemehq/sdk") : await import("@mnemehq/sdk");
const client = (kind) => new Mneme({ apiKey: env[`MNEME_${kind}_KEY`] });
const name = env.NAME;
const all = async (list) => {
  const items = [];
  for await (const item of list) items.push(item);
  return items;
};

async function namespaces(c) {
  const documents = [
    { id: "lease", text: "The lease runs until May 2027.", metadata: { kind: "lease", year: 2027 } },
    { id: "phone", text: "The phone contract may be left in May." },
  ];
  assert.equal((await c.documents.write(name, { documents })).written, 2);
  const found = await c.namespaces.query(name, { query: "when may we leave?", filter: { kind: "lease" }, rerank: true });
  assert.deepEqual(found.results.map((hit) => hit.document_id), ["lease"]);
  const notes = [0, 1, 2, 3, 4].map((i) => ({ id: `n${i}`, text: `Note ${i}.` }));
  assert.equal((await c.documents.writeSoon(name, { documents: notes })).written, 5);
  const later = await c.documents.writeLater(name, { documents: notes });
  assert.equal((await c.documents.wait(name, later.id, { everyMs: 50 })).status, "succeeded");
  assert.deepEqual((await all(c.documents.list(name, { limit: 2 }))).map((d) => d.id), ["lease", "n0", "n1", "n2", "n3", "n4", "phone"]);
  const read = await c.documents.get(name, "lease");
  const match = { headers: { "If-None-Match": `"${read.content_hash}"` } };
  await assert.rejects(c.documents.get(name, "lease", {}, match), sdk.NotModifiedError);
  const file = { name: "a.md", content: new TextEncoder().encode("# Bees\n\nBees fly.") };
  assert.equal((await c.files.upload(name, file, { metadata: { team: "shop" } })).written, 1);
  assert.equal((await c.namespaces.query(name, { query: "bees", filter: { team: "shop" } })).results[0].document_id, "a.md");
  await c.queries.save(name, "leaving", { query: "when may we leave?", expect: ["lease"] });
  assert.equal((await c.queries.run(name)).passed, 1);
  assert.equal((await c.rerank({ query: "when?", documents: ["The sea is blue.", "In May."], top_k: 1 })).results.length, 1);
  assert.equal((await c.health()).status, "ok");
  await assert.rejects(c.namespaces.query(name, { query: "x", filter: { year: { $gt: 1 } } }), (e) => e instanceof sdk.InvalidFilterError && !!e.requestId);
  await assert.rejects(c.namespaces.query("absent", { query: "x" }), sdk.NamespaceNotFoundError);
}

async function memories(c) {
  assert((await c.memory.save({ endUserId: name, content: "I am allergic to peanuts.", containerTag: "health" })).created);
  const found = await c.memory.search({ endUserId: name, query: "what must I not eat?" });
  assert.match(found.results[0].matchedContent, /peanuts/);
  assert.equal((await all(c.memory.list({ endUserId: name }))).length, 1);
  await c.memory.upsert("note-1", { endUserId: name, source: "notes", version: 1, content: "Likes tea.", occurredAt: "2026-01-02T03:04:05Z" });
  assert((await c.memory.tombstone("note-1", { endUserId: name, source: "notes", version: 2 })).success);
  assert((await c.users.erase(name)).success);
}

async function events(c) {
  const kinds = ["documents.written"]; // a cursor is bound to them
  const { next_cursor: after } = await c.events.list({ after: "latest", kinds });
  await c.documents.write(name, { documents: [{ id: "one", text: "One." }] });
  for await (const event of c.events.follow({ after, wait: 5, kinds })) {
    if (event.data.namespace === name) break;
  }
  const hook = await c.webhooks.create({ url: "https://example.com/hook", enabled: false });
  assert(hook.secret.startsWith("whsec_"));
  assert((await c.webhooks.delete(hook.id)).deleted);
}

async function admin(c) {
  const [org] = await all(c.admin.organizations.list());
  const made = await c.admin.keys.create(org.id, { name: "sdk" });
  assert((await all(c.admin.keys.list(org.id, { limit: 1 }))).some((key) => key.id === made.id));
  await c.admin.keys.revoke(org.id, made.id);
  const lines = await all(c.admin.namespaces.export(org.id, name));
  assert.equal(lines[0].type, "header");
  const content = lines.map((line) => JSON.stringify(line) + "\n").join("");
  assert((await c.admin.namespaces.import(org.id, `${name}-copy`, content)).documents > 5);
  assert((await c.admin.audit.exportCsv({ target: made.id })).includes("\n"));
}

await namespaces(client("SERVICE"));
await memories(client("INTEGRATION"));
await events(client("SERVICE"));
await admin(client("ADMIN"));
console.log("round trip done");
