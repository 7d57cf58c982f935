// The client without a server: what is tried again, how lists are paged, and what errors become. node --test runs it
// where the package is installed.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as sdk from "@mnemehq/sdk";

const { Mneme } = sdk;
const json = (status, body, headers = {}) => () => Response.json(body, { status, headers });
const error = (status, code, headers) => json(status, { error: { code, message: "no", request_id: "req_1" } }, headers);
const lost = () => {
  throw new TypeError("fetch failed");
};

/** A client whose requests are answered one after the other, and kept; the last answer goes on. */
function script(answers, options = {}) {
  const requests = [];
  const fetch = async (request) => {
    requests.push({ url: new URL(request.url), headers: request.headers, body: await request.text() });
    return (answers.length > 1 ? answers.shift() : answers[0])(request);
  };
  return { requests, client: new Mneme({ baseUrl: "http://mneme.test/", apiKey: "key", fetch, ...options }) };
}

test("a safe call is repeated after failures of the server and the network", async () => {
  const failures = [error(500, "internal_error"), error(502, "upstream_error"), () => new Response("<html>", { status: 503 }), lost];
  await Promise.all(
    failures.map(async (failure) => {
      const { client, requests } = script([failure, json(200, { deleted: true })]);
      assert.equal((await client.namespaces.delete("n")).deleted, true);
      assert.equal(requests.length, 2);
      assert.equal(requests[0].headers.get("authorization"), "Bearer key");
      assert.equal(requests[0].url.href, "http://mneme.test/namespaces/n");
    }),
  );
});

test("Retry-After is honoured whatever the call, and a long wait is left to the caller", async () => {
  const { client, requests } = script([error(429, "rate_limited", { "Retry-After": "1" }), json(201, { id: "we_1" })]);
  const began = Date.now();
  assert.equal((await client.webhooks.create({ url: "https://example.com" })).id, "we_1");
  assert(Date.now() - began >= 990);
  assert.equal(requests.length, 2);
  const long = script([error(503, "unavailable", { "Retry-After": "61" })]);
  await assert.rejects(long.client.namespaces.delete("n"), (e) => e instanceof sdk.UnavailableError && e.retryAfter === 61);
  assert.equal(long.requests.length, 1);
});

test("a call that makes something new, or that waiting does not help, is not repeated", async () => {
  for (const failure of [error(500, "internal_error"), lost]) {
    const { client, requests } = script([failure]);
    await assert.rejects(client.webhooks.create({ url: "https://example.com" }), sdk.MnemeError);
    assert.equal(requests.length, 1);
  }
  for (const failure of [error(503, "unavailable"), error(400, "invalid_request"), error(409, "conflict")]) {
    const { client, requests } = script([failure]);
    await assert.rejects(client.namespaces.delete("n"), sdk.APIError);
    assert.equal(requests.length, 1);
  }
});

test("a save carries one key through its attempts, and files are sent whole again", async () => {
  const save = script([error(500, "internal_error"), json(200, { success: true })]);
  await save.client.memory.save({ endUserId: "ann", content: "x" });
  assert.equal(save.requests.length, 2);
  assert(save.requests[0].headers.get("idempotency-key"));
  assert.equal(save.requests[0].headers.get("idempotency-key"), save.requests[1].headers.get("idempotency-key"));
  const upload = script([error(500, "internal_error"), json(200, { written: 1 })]);
  await upload.client.files.upload("n", { name: "a.txt", content: "some text" }, { metadata: { team: "shop" } });
  assert(upload.requests.every((r) => r.body.includes("some text") && r.body.includes('{"team":"shop"}')));
});

test("what a write waits for", async () => {
  const { client, requests } = script([
    json(200, { written: 1, searchable: true }),
    json(200, { written: 1, searchable: false }),
    json(202, { id: "op_1" }),
  ]);
  const body = { documents: [{ id: "a", text: "some text" }] };
  assert.equal((await client.documents.write("n", body)).searchable, true);
  assert.equal((await client.documents.writeSoon("n", body)).searchable, false);
  assert.equal((await client.documents.writeLater("n", body)).id, "op_1");
  assert.deepEqual(requests.map((r) => r.headers.get("prefer")), [null, "searchable=soon", "respond-async"]);
  assert.equal(new Set(requests.map((r) => r.body)).size, 1);
});

test("time-outs and signals end a call", async () => {
  const never = (request, { signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  let told;
  const fetch = (request, init) => ((told = request.headers.get("x-timeout-ms")), never(request, init));
  const client = new Mneme({ baseUrl: "http://mneme.test", fetch, maxRetries: 0 });
  await assert.rejects(client.health({ timeoutMs: 20 }), sdk.APITimeoutError);
  assert.equal(told, "20");
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error("enough")), 10);
  await assert.rejects(client.health({ signal: stop.signal }), /enough/);
});

test("errors of both families, of newer servers and of proxies", async () => {
  const rejects = (answer, check) => assert.rejects(script([answer]).client.namespaces.get("n"), check);
  await rejects(error(404, "namespace_not_found"), (e) => {
    assert(e instanceof sdk.NamespaceNotFoundError && e instanceof sdk.NotFoundError);
    assert.deepEqual([e.name, e.status, e.requestId], ["NamespaceNotFoundError", 404, "req_1"]);
    return true;
  });
  const told = { statusCode: 403, code: "quota_exceeded", message: "full", requestId: "r", details: { limit: 5 } };
  await rejects(json(403, told), (e) => e instanceof sdk.QuotaExceededError && e.details.limit === 5 && e.requestId === "r");
  await rejects(error(409, "constructor"), (e) => e instanceof sdk.ConflictError && e.code === "constructor");
  await rejects(json(418, "<html>", { "X-Request-Id": "p" }), (e) => e.code === "" && e.requestId === "p");
});

test("lists are paged", async () => {
  const page = (request) => {
    const cursor = new URL(request.url).searchParams.get("cursor") ?? "";
    return Response.json({ namespaces: [{ name: "n" + cursor }], next_cursor: { "": "b", b: "c", c: null }[cursor] });
  };
  const { client, requests } = script([page]);
  const names = [];
  for await (const namespace of client.namespaces.list({ prefix: "n" })) names.push(namespace.name);
  assert.deepEqual(names, ["n", "nb", "nc"]);
  assert(requests.every((r) => r.url.searchParams.get("prefix") === "n"));
  assert.equal((await client.namespaces.list().first()).next_cursor, "b");
});

test("events are followed from the cursor, and what is missed is said", async () => {
  const event = { id: "evt_1", type: "key.created", timestamp: "2026-01-02T03:04:05Z", data: {} };
  const { client, requests } = script([
    json(200, { events: [event], next_cursor: "c1", missed: false }),
    json(200, { events: [], next_cursor: "c2", missed: true }),
  ]);
  const events = client.events.follow({ kinds: ["key.created"], wait: 20 });
  assert.equal((await events.next()).value.id, "evt_1");
  await assert.rejects(events.next(), (e) => e instanceof sdk.MissedEventsError && e.cursor === "c2");
  assert.deepEqual(requests.map((r) => r.url.searchParams.get("after")), ["latest", "c1"]);
});

test("lines come as they are", async () => {
  const bytes = new TextEncoder().encode('{"a":1}\n\n{"b":"ä"}');
  const halves = new ReadableStream({
    start(c) {
      c.enqueue(bytes.slice(0, bytes.length - 3)); // within the letter
      c.enqueue(bytes.slice(bytes.length - 3));
      c.close();
    },
  });
  const { client } = script([() => new Response(halves, { headers: { "Content-Type": "application/x-ndjson" } })]);
  const lines = [];
  for await (const line of client.admin.audit.export()) lines.push(line);
  assert.deepEqual(lines, [{ a: 1 }, { b: "ä" }]);
});

const body = JSON.stringify({ type: "key.created", timestamp: "2026-01-02T03:04:05Z", data: { n: 1 } });
const encoded = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
const signed = new TextEncoder().encode(`evt_1.1000.${body}`);
const headers = (signature) => ({ "Webhook-Id": "evt_1", "Webhook-Timestamp": "1000", "Webhook-Signature": signature });

test("webhooks verify by a shared secret", async () => {
  const key = new TextEncoder().encode("0123456789abcdef01234567");
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const given = headers(`v1,AAAA v1,${encoded(await crypto.subtle.sign("HMAC", imported, signed))}`);
  const secret = `whsec_${encoded(key)}`;
  const event = await sdk.verifyWebhook(body, given, secret, { now: 1299 });
  assert.deepEqual([event.id, event.type, event.data.n], ["evt_1", "key.created", 1]);
  assert.equal((await sdk.verifyWebhook(new TextEncoder().encode(body), new Headers(given), secret, { now: 1000 })).id, "evt_1");
  for (const [payload, all, by, now] of [
    [`${body} `, given, secret, 1000],
    [body, given, `whsec_${btoa("other")}`, 1000],
    [body, given, "whsec_", 1000],
    [body, given, secret, 1301],
    [body, {}, secret, 1000],
  ]) {
    await assert.rejects(sdk.verifyWebhook(payload, all, by, { now }), sdk.WebhookVerificationError);
  }
});

test("webhooks verify by a public key", async () => {
  const pair = await crypto.subtle.generateKey({ name: "Ed25519" }, true, ["sign", "verify"]);
  const secret = `whpk_${encoded(await crypto.subtle.exportKey("raw", pair.publicKey))}`;
  const given = headers(`v1a,${encoded(await crypto.subtle.sign("Ed25519", pair.privateKey, signed))}`);
  assert.equal((await sdk.verifyWebhook(body, given, secret, { now: 1000 })).id, "evt_1");
  await assert.rejects(sdk.verifyWebhook(`${body} `, given, secret, { now: 1000 }), sdk.WebhookVerificationError);
});
