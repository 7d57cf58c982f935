// A round trip through the TypeScript client that openapi-generator made.
// MNEME_URL, MNEME_SERVICE_KEY and MNEME_INTEGRATION_KEY name the server.

import assert from "node:assert/strict";
import {
  Configuration, DocumentsApi, EndUsersApi, MemoriesApi, ModelsApi, NamespacesApi, QueryApi, RecallApi, RerankApi, ResponseError,
  SourcesApi, StatusApi,
} from "./client/index.js";

function env(name: string): string {
  const value = process.env[name];
  assert(value, `${name} is not set`);
  return value;
}

const client = (key: string) => new Configuration({ basePath: env("MNEME_URL"), accessToken: key });

async function refused(status: number, code: string, call: Promise<unknown>): Promise<void> {
  const error: unknown = await call.then(() => assert.fail(`${code} was not answered`), (e: unknown) => e);
  assert(error instanceof ResponseError, String(error));
  assert.equal(error.response.status, status);
  assert.equal((await error.response.json()).error.code, code);
}

const text = "The lease runs until May 2027. Grüße aus 東京 🗼.";

async function namespaces(): Promise<void> {
  const c = client(env("MNEME_SERVICE_KEY"));
  const documents = new DocumentsApi(c);
  const spaces = new NamespacesApi(c);
  const namespace = "typescript";
  const lease = { id: "lease", text, metadata: { kind: "contract", pages: 3, signed: true, tags: ["office"] } };
  const wifi = { id: "wifi", text: "ERR_CONN_RESET means that the access point is overloaded." };
  const written = await documents.documentsWrite({ namespace, writeDocuments: { documents: [lease, wifi] } });
  assert.equal(written.written, 2);
  const again = await documents.documentsWrite({ namespace, writeDocuments: { documents: [lease] } });
  assert.equal(again.unchanged, 1);
  const read = await documents.documentsGet({ namespace, id: "lease", include: ["chunks"] });
  assert.equal(read.text, text);
  assert.deepEqual(read.metadata, lease.metadata);
  assert(read.updatedAt instanceof Date && read.chunkList?.length === 1);
  const listed = await documents.documentsList({ namespace, limit: 1 });
  assert.equal(listed.documents[0]?.id, "lease");
  assert(listed.nextCursor);
  const found = await new QueryApi(c).namespacesQuery({
    namespace,
    queryRequest: { query: "when can we move out?", topK: 1, filter: { kind: "contract" }, rerank: { depth: 5 }, explain: true },
  });
  assert.equal(found.results[0]?.documentId, "lease");
  assert.equal(found.scoreKind, "rerank");
  const ranked = await new RerankApi(c).rerank({ rerankRequest: { query: "leave", documents: ["the sea", "giving notice"], topK: 1 } });
  assert.equal(ranked.results.length, 1);
  const names = (await spaces.namespacesList({})).namespaces.map((n) => n.name);
  assert(names.includes(namespace));
  await refused(404, "document_not_found", documents.documentsGet({ namespace, id: "absent" }));
  await refused(503, "sources_unavailable", new SourcesApi(c).sourcesList({}));
  const gone = await documents.documentsDelete({ namespace, deleteDocuments: { ids: ["wifi", "absent"] } });
  assert.deepEqual([gone.deleted, gone.more], [1, false]);
  assert.equal((await spaces.namespacesDelete({ namespace })).deleted, true);
  await refused(404, "namespace_not_found", spaces.namespacesGet({ namespace }));
  assert((await new ModelsApi(c).modelsList({})).models.length > 0);
  await refused(401, "unauthorized", new NamespacesApi(client("sk-service-wrong")).namespacesList({}));
}

async function memories(): Promise<void> {
  const c = client(env("MNEME_INTEGRATION_KEY"));
  const api = new MemoriesApi(c);
  const endUserId = "ben";
  const saved = await api.memoriesSave({ memorySave: { endUserId, content: "I am allergic to peanuts.", containerTag: "health" } });
  assert(saved.success && saved.created && saved.memory?.id);
  const batch = await api.memoriesBatch({ memoryBatch: { endUserId, memories: [{ content: "I moved to Lyon in May." }] } });
  assert(batch.results[0]?.created);
  const found = await api.memoriesSearch({ memoryQuery: { endUserId, query: "what must I not eat?", limit: 1 } });
  assert.match(found.results[0]?.matchedContent ?? "", /peanuts/);
  const told = await new RecallApi(c).memoriesRecall({ recallRequest: { endUserId, query: "what am I allergic to?" } });
  assert(told.success && told.citations.length > 0);
  assert((await new StatusApi(c).memoriesStatus({})).ok);
  const erased = await new EndUsersApi(c).usersErase({ endUserId });
  assert.equal(erased.deletedMemories, 2);
}

await namespaces();
await memories();
console.log("round trip done");
