import type { Event } from "./api/index.js";
import { WebhookVerificationError } from "./errors.js";

export interface VerifyOptions {
  /** Seconds that the delivery's time may lie from now, 300 unless set. */
  toleranceSeconds?: number;
  /** The time in Unix seconds, for tests. */
  now?: number;
}

/**
 * The event of a delivery, if it is signed with the secret and of now, as Standard Webhooks 1.0 says; otherwise
 * WebhookVerificationError. The payload is the body as it came. The secret is what the API showed once:
 * `whsec_...`, or `whpk_...`, the public key of signatures with ed25519.
 */
export async function verifyWebhook(
  payload: string | Uint8Array<ArrayBuffer>,
  headers: Headers | Record<string, string | string[] | undefined>,
  secret: string,
  options: VerifyOptions = {},
): Promise<Event> {
  const header = reader(headers);
  const [id, at, signatures] = [header("webhook-id"), header("webhook-timestamp"), header("webhook-signature")];
  if (!id || !signatures || !/^\d+$/.test(at)) throw new WebhookVerificationError("headers are missing");
  const now = options.now ?? Date.now() / 1000;
  if (Math.abs(now - Number(at)) > (options.toleranceSeconds ?? 300)) {
    throw new WebhookVerificationError("the time is too far from now");
  }
  const body = typeof payload === "string" ? payload : new TextDecoder().decode(payload);
  const signed = new TextEncoder().encode(`${id}.${at}.${body}`);
  const verifies = await verifier(secret);
  for (const one of signatures.split(" ")) {
    const [version, signature = ""] = one.split(",");
    const bytes = decoded(signature);
    if (version === verifies.version && bytes && (await verifies.check(bytes, signed))) {
      return { id, ...(JSON.parse(body) as object) } as Event;
    }
  }
  throw new WebhookVerificationError("no signature is of this secret");
}

async function verifier(secret: string) {
  const asymmetric = secret.startsWith("whpk_");
  const key = decoded(secret.replace(/^wh(pk|sec)_/, ""));
  if (!key?.length) throw new WebhookVerificationError("the secret is not one of a webhook");
  const algorithm = asymmetric ? { name: "Ed25519" } : { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["verify"]).catch(() => {
    throw new WebhookVerificationError("the secret is not one of a webhook");
  });
  return {
    version: asymmetric ? "v1a" : "v1",
    check: (signature: Uint8Array<ArrayBuffer>, signed: Uint8Array<ArrayBuffer>) =>
      crypto.subtle.verify(algorithm.name, imported, signature, signed),
  };
}

function reader(headers: Headers | Record<string, string | string[] | undefined>): (name: string) => string {
  if (typeof (headers as Headers).get === "function") return (name) => (headers as Headers).get(name) ?? "";
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value = lower.get(name);
    return (Array.isArray(value) ? value[0] : value) ?? "";
  };
}

function decoded(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
