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

await assert.rejects(client.models.retrieve("gpt-4"), OpenAI.NotFoundError);
console.log("round trip done");
