// A round through the client that hey-api made.
// MNEME_URL, MNEME_SERVICE_KEY and MNEME_INTEGRATION_KEY name the server.

import assert from "node:assert/strict";
import { createClient } from "./client/client";
import { documentsWrite, memoriesSave, memoriesSearch, namespacesQuery, rerank, rerankV1, rerankV2, type Filter } from "./client";

function env(name: string): string {
  const value = process.env[name];
  assert(value, `${name} is not set`);
  return value;
}

const connect = (key: string) => createClient({ baseUrl: env("MNEME_URL"), auth: key });

async function namespaces(): Promise<void> {
  const client = connect(env("MNEME_SERVICE_KEY"));
  const path = { namespace: "hey-api" };
  const written = await documentsWrite({
    client,
    path,
    body: {
      documents: [
        { id: "lease", text: "The lease runs until May 2027.", metadata: { kind: "lease", year: 2027, tags: ["office"] } },
        { id: "phone", text: "The phone contract may be left in May." },
      ],
    },
  });
  assert(written.data && "written" in written.data, JSON.stringify(written.error));
  assert.equal(written.data.written, 2);
  const filters: Filter[] = [
    { kind: "lease" }, { year: { $in: [2027, "2026"] } }, { $or: [{ kind: { $eq: "none" } }, { tags: "office" }] },
  ];
  for (const filter of filters) {
    const found = await namespacesQuery({ client, path, body: { query: "when may we leave?", filter, rerank: true } });
    assert.deepEqual(found.data?.results.map((hit) => hit.document_id), ["lease"], JSON.stringify(found.error));
    assert.deepEqual(found.data?.results[0]?.metadata?.tags, ["office"]);
  }
  const absent = await namespacesQuery({ client, path: { namespace: "absent" }, body: { query: "when?" } });
  assert.equal(absent.response?.status, 404);
  assert.equal(absent.error?.error.code, "namespace_not_found");

  const query = "when may we leave?";
  const documents = ["The sea is blue.", "Notice is given three months before one leaves."];
  const ranked = await rerank({ client, body: { query, documents, top_k: 1 } });
  assert.equal(ranked.data?.results[0]?.index, 1);
  const first = await rerankV1({ client, body: { query, documents, top_n: 1, truncation: true, return_embeddings: false } });
  assert.equal(first.data?.results[0]?.index, 1);
  const second = await rerankV2({ client, body: { query, documents: [...documents, { text: "Noise." }], top_n: 1 } });
  assert.equal(second.data?.results[0]?.index, 1);
}

async function memories(): Promise<void> {
  const client = connect(env("MNEME_INTEGRATION_KEY"));
  const endUserId = "cleo";
  const saved = await memoriesSave({ client, body: { endUserId, content: "I am allergic to peanuts.", containerTag: "health" } });
  assert.equal(saved.data?.created, true, JSON.stringify(saved.error));
  const found = await memoriesSearch({ client, body: { endUserId, query: "what must I not eat?" } });
  assert.match(found.data?.results[0]?.matchedContent ?? "", /peanuts/);
  const wrong = await memoriesSave({ client, body: { endUserId, content: " " } });
  assert(wrong.error && "statusCode" in wrong.error);
  assert.equal(wrong.error.statusCode, 400);
  assert(wrong.error.code && wrong.error.requestId);
}

namespaces().then(memories).then(() => console.log("round trip done"));
