import * as api from "./api/index.js";
import { type CallOptions, Core } from "./core.js";
import * as r from "./resources.js";

export interface MnemeOptions {
  /** Where the server is, http://127.0.0.1:8080 for example; otherwise MNEME_URL of the environment. */
  baseUrl?: string;
  /**
   * An `sk-service-` key for namespaces, a `cint_` key for memories, an `adm-` key for administration; otherwise
   * MNEME_API_KEY of the environment. Leave it out in browsers, where a proxy adds it.
   */
  apiKey?: string;
  /** Milliseconds that one attempt may take, 130,000 unless set. */
  timeoutMs?: number;
  /** How often a call is tried again where that is safe, 2 unless set. */
  maxRetries?: number;
  /** Another fetch than the runtime's. */
  fetch?: typeof fetch;
  /** Headers of every request. */
  headers?: Record<string, string>;
}

/** A client of one server with one key. */
export class Mneme {
  readonly namespaces: r.Namespaces;
  readonly documents: r.Documents;
  readonly files: r.Files;
  readonly queries: r.Queries;
  readonly memory: r.Memory;
  readonly grants: r.Grants;
  readonly users: r.Users;
  readonly models: r.Models;
  readonly sources: r.Sources;
  readonly events: r.Events;
  readonly webhooks: r.Webhooks;
  readonly admin: r.Admin;
  readonly #core: Core;

  constructor(options: MnemeOptions = {}) {
    const core = (this.#core = new Core({
      baseUrl: options.baseUrl ?? environment("MNEME_URL") ?? "http://127.0.0.1:8080",
      apiKey: options.apiKey ?? environment("MNEME_API_KEY"),
      timeoutMs: options.timeoutMs ?? Core.timeoutMs,
      maxRetries: options.maxRetries ?? 2,
      fetch: options.fetch,
      headers: options.headers,
    }));
    this.namespaces = new r.Namespaces(core);
    this.documents = new r.Documents(core);
    this.files = new r.Files(core);
    this.queries = new r.Queries(core);
    this.memory = new r.Memory(core);
    this.grants = new r.Grants(core);
    this.users = new r.Users(core);
    this.models = new r.Models(core);
    this.sources = new r.Sources(core);
    this.events = new r.Events(core);
    this.webhooks = new r.Webhooks(core);
    this.admin = new r.Admin(core);
  }

  /** Score texts against a query. */
  rerank(body: api.RerankRequest, options?: CallOptions): Promise<api.RerankResult> {
    return this.#core.call(true, options, (o) => api.rerank({ ...o, body }));
  }

  /** Whether the process answers. */
  health(options?: CallOptions): Promise<api.StatusHealth> {
    return this.#core.call(true, options, (o) => api.health(o));
  }

  /** Whether everything that calls need is there. */
  healthDeep(options?: CallOptions): Promise<api.StatusDeep> {
    return this.#core.call(true, options, (o) => api.healthDeep(o));
  }
}

/** A variable of the environment, in runtimes that have one. */
function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name] || undefined;
  } catch {
    return undefined; // Deno asks for permission
  }
}
