// Compiled, not run: what the types accept.
import { InvalidFilterError, type models, Mneme, verifyWebhook } from "@mnemehq/sdk";

const client = new Mneme({ baseUrl: "http://127.0.0.1:8080", apiKey: "key", timeoutMs: 1000 });
const filter: models.Filter = { $or: [{ year: { $in: [2026, 2027] } }, { tags: "office" }] };
export async function titles(namespace: string): Promise<string[]> {
  const { results } = await client.namespaces.query(namespace, { query: "when?", filter, rerank: { depth: 3 } });
  for await (const document of client.documents.list(namespace, { prefix: "a" })) document.id satisfies string;
  for await (const event of client.events.follow({ kinds: ["documents.written"] })) event.timestamp satisfies string;
  // @ts-expect-error a field that the operation does not have
  await client.namespaces.query(namespace, { query: "when?", topk: 3 }).catch((e: unknown) => e instanceof InvalidFilterError);
  (await verifyWebhook("{}", new Headers(), "whsec_")).type satisfies string;
  return results.map((hit) => hit.text ?? "");
}
