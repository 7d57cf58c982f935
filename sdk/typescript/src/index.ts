// Client of Mneme, a memory and document retrieval server. It runs wherever fetch is: Node.js, Deno,
// Bun, edge runtimes, and browsers behind a proxy that adds the key.

export { Mneme, type MnemeOptions } from "./client.js";
export { type CallOptions, Pager, type Query } from "./core.js";
export * from "./errors.js";
export type { FileInput } from "./files.js";
export type { FollowOptions } from "./core.js";
export * as models from "./models.js";
export * as resources from "./resources.js";
export { verifyWebhook, type VerifyOptions } from "./webhooks.js";
