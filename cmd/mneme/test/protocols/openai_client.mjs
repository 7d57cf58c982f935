// OpenAI's client for Node.js against a server that MNEME_URL names.
import assert from "node:assert/strict";
import OpenAI from "openai";

const client = new OpenAI({
  baseURL: process.env.MNEME_URL + "/v1",
  apiKey: process.env.MNEME_SERVICE_KEY,
  maxRetries: 0,
});

const names = [];
for await (const model of client.models.list()) names.push(model.id);
assert.ok(names.includes("text-embedding-3-small") && names.includes("e5-small-v2"), names.join());
assert.equal((await client.models.retrieve("e5-small-v2")).object, "model");

const input = ["The hedge is cut in February.", "Bread needs salt."];
const made = await client.embeddings.create({ model: "text-embedding-3-small", input });
assert.deepEqual(made.data.map((d) => d.embedding.length), [384, 384]);
const plain = await client.embeddings.create({ model: "e5-small-v2", input, encoding_format: "float" });
plain.data[1].embedding.forEach((x, i) => assert.ok(Math.abs(x - made.data[1].embedding[i]) < 1e-6));
assert.ok(made.usage.prompt_tokens > 10 && made.usage.prompt_tokens === made.usage.total_tokens);

await assert.rejects(client.embeddings.create({ model: "e5-small-v2", input: [[1, 2]] }), (e) => {
  assert.ok(e instanceof OpenAI.BadRequestError, e);
  assert.deepEqual([e.status, e.code, e.param, e.type], [400, "invalid_request", "input", "invalid_request_error"]);
  return true;
});
const found = await client.vectorStores.search("docs", { query: "When is the hedge cut?", max_num_results: 1 });
assert.deepEqual(found.data.map((d) => [d.file_id, d.content[0].type]), [["garden", "text"]]);

const stores = client.vectorStores;
const shelf = await stores.create({ name: "Node's shelf", metadata: { team: "shop" } });
assert.deepEqual([shelf.object, shelf.name, shelf.file_counts.total], ["vector_store", "Node's shelf", 0]);
const sent = await client.files.create({ file: await OpenAI.toFile(Buffer.from("The greenhouse has nine windows."), "report.txt"), purpose: "assistants" });
assert.deepEqual([sent.object, sent.filename, sent.bytes], ["file", "report.txt", 32]);
assert.equal(await (await client.files.content(sent.id)).text(), "The greenhouse has nine windows.");
const put = await stores.files.createAndPoll(shelf.id, { file_id: sent.id, attributes: { kind: "report" } });
assert.deepEqual([put.id, put.status, put.attributes.kind], [sent.id, "completed", "report"]);
const polled = await stores.files.uploadAndPoll(shelf.id, await OpenAI.toFile(Buffer.from("Bread needs salt."), "bread.txt"));
assert.equal(polled.status, "completed");
const batch = await stores.fileBatches.uploadAndPoll(shelf.id, { files: [await OpenAI.toFile(Buffer.from("Soup is cold."), "soup.txt")], fileIds: [sent.id] });
assert.deepEqual([batch.status, batch.file_counts.completed, batch.file_counts.total], ["completed", 2, 2]);
const listed = [];
for await (const f of stores.files.list(shelf.id, { limit: 1, order: "asc" })) listed.push(f.id);
assert.ok(listed.length === 3 && listed[0] === sent.id && listed[1] === polled.id, listed.join());
const hits = await stores.search(shelf.id, { query: "How many windows?", max_num_results: 1 });
assert.deepEqual(hits.data.map((d) => [d.file_id, d.filename]), [[sent.id, "report.txt"]]);
const texts = [];
for await (const c of stores.files.content(polled.id, { vector_store_id: shelf.id })) texts.push(c.text);
assert.deepEqual(texts, ["Bread needs salt."]);
assert.equal((await stores.update(shelf.id, { name: "Shelf" })).name, "Shelf");
const all = [];
for await (const s of stores.list({ limit: 1 })) all.push(s.id);
assert.ok(all.includes("docs") && all.includes(shelf.id), all.join());
assert.equal((await stores.files.delete(polled.id, { vector_store_id: shelf.id })).deleted, true);
assert.equal((await client.files.delete(sent.id)).deleted, true);
await assert.rejects(stores.files.retrieve(sent.id, { vector_store_id: shelf.id }), OpenAI.NotFoundError);
assert.equal((await stores.delete(shelf.id)).deleted, true);
await assert.rejects(stores.retrieve(shelf.id), OpenAI.NotFoundError);
await assert.rejects(client.models.retrieve("gpt-4"), OpenAI.NotFoundError);
console.log("round trip done");
