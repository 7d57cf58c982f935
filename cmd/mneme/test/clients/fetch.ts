// A round through openapi-fetch with the types that openapi-typescript made.
// MNEME_URL, MNEME_SERVICE_KEY and MNEME_INTEGRATION_KEY name the server.

import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

function env(name: string): string {
  const value = process.env[name];
  assert(value, `${name} is not set`);
  return value;
}

const client = (key: string) => createClient<paths>({ baseUrl: env("MNEME_URL"), headers: { Authorization: `Bearer ${key}` } });

async function namespaces(): Promise<void> {
  const c = client(env("MNEME_SERVICE_KEY"));
  const params = { path: { namespace: "openapi-typescript" } };
  const written = await c.POST("/namespaces/{namespace}/documents", {
    params,
    body: {
      documents: [
        { id: "lease", text: "The lease runs until May 2027.", metadata: { kind: "lease", year: 2027, tags: ["office"] } },
        { id: "phone", text: "The phone contract may be left in May." },
      ],
    },
  });
  assert(written.data && "written" in written.data, JSON.stringify(written.error));
  assert.equal(written.data.written, 2);
  type Filter = components["schemas"]["Filter"];
  const either: Filter[] = [{ kind: { $eq: "none" } }, { tags: "office" }];
  // The types want all fields of a map to be alike.
  const filters: Filter[] = [{ kind: "lease" }, { year: { $in: [2027, "2026"] } }, { $or: either } as unknown as Filter];
  for (const filter of filters) {
    const found = await c.POST("/namespaces/{namespace}/query", { params, body: { query: "when may we leave?", filter, rerank: true } });
    assert.deepEqual(found.data?.results.map((hit) => hit.document_id), ["lease"], JSON.stringify(found.error));
    assert.deepEqual(found.data?.results[0]?.metadata?.tags, ["office"]);
  }
  const absent = await c.POST("/namespaces/{namespace}/query", { params: { path: { namespace: "absent" } }, body: { query: "when?" } });
  assert.equal(absent.response.status, 404);
  assert.equal(absent.error?.error.code, "namespace_not_found");

  const query = "when may we leave?";
  const documents = ["The sea is blue.", "Notice is given three months before one leaves."];
  const ranked = await c.POST("/rerank", { body: { query, documents, top_k: 1 } });
  assert.equal(ranked.data?.results[0]?.index, 1);
  const first = await c.POST("/v1/rerank", { body: { query, documents, top_n: 1, truncation: true, return_embeddings: false } });
  assert.equal(first.data?.results[0]?.index, 1);
  const second = await c.POST("/v2/rerank", { body: { query, documents: [...documents, { text: "Noise." }], top_n: 1 } });
  assert.equal(second.data?.results[0]?.index, 1);
}

async function memories(): Promise<void> {
  const c = client(env("MNEME_INTEGRATION_KEY"));
  const endUserId = "ben";
  const saved = await c.POST("/api/v1/memories", { body: { endUserId, content: "I am allergic to peanuts.", containerTag: "health" } });
  assert.equal(saved.data?.created, true, JSON.stringify(saved.error));
  const found = await c.POST("/api/v1/search", { body: { endUserId, query: "what must I not eat?" } });
  assert.match(found.data?.results[0]?.matchedContent ?? "", /peanuts/);
  const wrong = await c.POST("/api/v1/memories", { body: { endUserId, content: " " } });
  assert.equal(wrong.error?.statusCode, 400);
  assert(wrong.error.code && wrong.error.requestId);
}

await namespaces();
await memories();
console.log("round trip done");
