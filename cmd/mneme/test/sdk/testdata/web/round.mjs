// What the TypeScript SDK does to a real server with the web's own interfaces alone: in edge runtimes and in a page. The
// options are those of two clients; a page has no keys in them.
import { Mneme, NamespaceNotFoundError, NotModifiedError, verifyWebhook, WebhookVerificationError } from "@mnemehq/sdk";

const check = (is, what) => {
  if (!is) throw new Error(`${what} is not so`);
};
const refused = async (call, kind) => {
  const failure = await call.then(() => undefined, (error) => error);
  check(failure instanceof kind, `${kind.name} instead of ${failure}`);
  return failure;
};
const all = async (list) => {
  const items = [];
  for await (const item of list) items.push(item);
  return items;
};

async function namespaces(c, name) {
  const documents = [
    { id: "lease", text: "The lease runs until May 2027.", metadata: { kind: "lease" } },
    { id: "phone", text: "The phone contract may be left in May." },
  ];
  check((await c.documents.write(name, { documents })).written === 2, "two documents written");
  const { results } = await c.namespaces.query(name, { query: "when may we leave?", filter: { kind: "lease" }, rerank: true });
  check(results.map((hit) => hit.document_id).join() === "lease", "the lease found");
  const file = { name: "a.md", content: new TextEncoder().encode("# Bees\n\nBees fly.") };
  check((await c.files.upload(name, file, { metadata: { team: "shop" } })).written === 1, "a file written");
  check((await all(c.documents.list(name, { limit: 1 }))).map((one) => one.id).join() === "a.md,lease,phone", "the list whole");
  const { content_hash } = await c.documents.get(name, "lease");
  await refused(c.documents.get(name, "lease", {}, { headers: { "If-None-Match": `"${content_hash}"` } }), NotModifiedError);
  const { requestId, code } = await refused(c.namespaces.query("absent", { query: "x" }), NamespaceNotFoundError);
  check(requestId && code === "namespace_not_found", "a code and a request's id in an error");
}

async function memories(c, endUserId) {
  check((await c.memory.save({ endUserId, content: "I am allergic to peanuts." })).created, "a memory saved");
  const { results } = await c.memory.search({ endUserId, query: "what must I not eat?" });
  check(results[0].matchedContent.includes("peanuts"), "the memory found");
  check((await c.memory.context({ endUserId, query: "what must I not eat?" })).context.includes("peanuts"), "a block");
  check((await c.users.erase(endUserId)).success, "the end user erased");
  check((await all(c.memory.list({ endUserId }))).length === 0, "nothing left");
}

async function events(c, name) {
  const kinds = ["documents.written"];
  const { next_cursor: after } = await c.events.list({ after: "latest", kinds });
  await c.documents.write(name, { documents: [{ id: "one", text: "One." }] });
  for await (const event of c.events.follow({ after, wait: 5, kinds })) if (event.data.namespace === name) return;
}

/** A first answer that says to come again, and a call that is ended. */
async function attempts(options) {
  let sent = 0;
  const late = () => new Response("{}", { status: 503, headers: { "Retry-After": "0" } });
  const c = new Mneme({ ...options, fetch: (request, init) => (++sent === 1 ? Promise.resolve(late()) : fetch(request, init)) });
  check((await c.health()).status === "ok" && sent === 2, "an answer at the second attempt");
  const failure = await c.health({ signal: AbortSignal.abort(new Error("enough")) }).catch((error) => error);
  check(failure.message === "enough" && sent <= 3, "an end by the signal");
}

async function webhooks() {
  const [id, body, at] = ["evt_1", '{"type":"documents.written"}', String(Math.floor(Date.now() / 1000))];
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode("secret"), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const mac = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${id}.${at}.${body}`));
  const signature = `v1,${btoa(String.fromCharCode(...new Uint8Array(mac)))}`;
  const headers = new Headers({ "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature });
  check((await verifyWebhook(body, headers, `whsec_${btoa("secret")}`)).id === id, "a delivery verified");
  await refused(verifyWebhook(`${body} `, headers, `whsec_${btoa("secret")}`), WebhookVerificationError);
}

export async function round(name, service, integration) {
  const c = new Mneme(service);
  await namespaces(c, name);
  await memories(new Mneme(integration), name);
  await events(c, name);
  await attempts(service);
  await webhooks();
  return "round trip done";
}
