// Calls an operation of the generated layer, again where that is safe, and pages through lists.

import { type Client, createClient } from "./api/client/index.js";
import { APIConnectionError, APIError, APITimeoutError, fromAnswer, UnexpectedAnswerError } from "./errors.js";

export interface CallOptions {
  /** Milliseconds that one attempt may take. The server is told and stops, too. */
  timeoutMs?: number;
  /** How often the call is tried again where that is safe. */
  maxRetries?: number;
  /** Ends the call early. */
  signal?: AbortSignal;
  /** Headers of this call, X-Request-Id for example. */
  headers?: Record<string, string>;
}

export interface FollowOptions extends CallOptions {
  /** A cursor, "latest" or "newest"; "latest" unless set. */
  after?: string;
  /** Only events of these kinds. */
  kinds?: string[];
  /** Seconds that an answer is held until there is an event, 30 unless set. */
  wait?: number;
  /** Go on where events are forgotten. */
  ignoreMissed?: boolean;
}

/** The query parameters of an operation. */
export type Query<Data extends { query?: unknown }> = Omit<NonNullable<Data["query"]>, never>;

/** What the front adds to each call of the generated layer. */
interface Added {
  client: Client;
  fetch: typeof fetch;
  throwOnError: true;
  headers: Record<string, string>;
}

interface Settings {
  baseUrl: string;
  apiKey: string | undefined;
  timeoutMs: number;
  maxRetries: number;
  fetch: typeof fetch | undefined;
  headers: Record<string, string> | undefined;
}

/** What the server asks to wait is waited up to this; beyond it the error is thrown. */
const longestWaitMs = 60_000;

export class Core {
  /** Longer than any time limit of the server, so that its own answer comes first. */
  static readonly timeoutMs = 130_000;
  readonly #client: Client;

  constructor(private readonly settings: Settings) {
    this.#client = bare(
      createClient({
        baseUrl: settings.baseUrl.replace(/\/+$/, ""),
        ...(settings.apiKey ? { auth: settings.apiKey } : {}),
      }),
    );
  }

  /** Calls the operation and returns what it answers. */
  async call<T>(
    repeatable: boolean,
    options: CallOptions | undefined,
    operation: (added: Added) => Promise<{ data: T }>,
  ): Promise<T> {
    const { data } = await operation(this.#added(repeatable, options, false));
    if (data === undefined || data === null) throw new UnexpectedAnswerError("an answer of success was empty");
    return data;
  }

  /** The objects of an export in JSON lines, as they come. */
  async *lines(
    options: CallOptions | undefined,
    operation: (added: Added & { parseAs: "stream" }) => Promise<{ data: unknown }>,
  ): AsyncGenerator<Record<string, unknown>> {
    const { data } = await operation({ ...this.#added(true, options, true), parseAs: "stream" });
    const reader = (data as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let rest = "";
    try {
      for (;;) {
        const { done, value } = await reader.read();
        rest += decoder.decode(value, { stream: !done });
        const lines = rest.split("\n");
        rest = done ? "" : (lines.pop() ?? "");
        for (const line of lines) if (line) yield JSON.parse(line) as Record<string, unknown>;
        if (done) return;
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  }

  /** Options with so many seconds besides. */
  longer(options: CallOptions, seconds: number): CallOptions {
    return { ...options, timeoutMs: (options.timeoutMs ?? this.settings.timeoutMs) + seconds * 1000 };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      }, ms);
      signal?.addEventListener("abort", stop, { once: true });
    });
  }

  #added(repeatable: boolean, options: CallOptions = {}, stream: boolean): Added {
    const timeoutMs = options.timeoutMs ?? this.settings.timeoutMs;
    return {
      client: this.#client,
      fetch: (request) => this.#again(request as Request, repeatable, options, timeoutMs, stream),
      throwOnError: true,
      headers: {
        ...this.settings.headers,
        // The server stops with the client, but only a client that asked for less needs to say so.
        ...(timeoutMs < Core.timeoutMs ? { "X-Timeout-Ms": String(Math.max(1, Math.floor(timeoutMs))) } : {}),
        ...options.headers,
      },
    };
  }

  /** Attempts until one succeeds, must not be repeated, or is one too many. */
  async #again(
    request: Request,
    repeatable: boolean,
    options: CallOptions,
    timeoutMs: number,
    stream: boolean,
  ): Promise<Response> {
    const maxRetries = options.maxRetries ?? this.settings.maxRetries;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(attempt <= maxRetries ? request.clone() : request, options.signal, timeoutMs, stream);
      } catch (failure) {
        if (options.signal?.aborted) throw options.signal.reason;
        const pause = pauseBeforeRetry(failure, attempt, repeatable);
        if (pause === undefined || attempt > maxRetries) throw failure;
        await this.sleep(pause, options.signal);
      }
    }
  }

  async #once(request: Request, signal: AbortSignal | undefined, timeoutMs: number, stream: boolean): Promise<Response> {
    const limit = new AbortController();
    const stop = () => limit.abort(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      limit.abort();
    }, timeoutMs);
    try {
      const send = this.settings.fetch ?? globalThis.fetch;
      const answer = await send(request, { signal: limit.signal });
      if (answer.ok && stream) return answer; // it takes as long as its reader
      const body = await answer.arrayBuffer();
      if (answer.ok) return new Response(body, { status: answer.status, headers: answer.headers });
      throw fromAnswer(answer.status, answer.headers, new TextDecoder().decode(body));
    } catch (failure) {
      if (failure instanceof APIError || signal?.aborted) throw failure;
      if (late) throw new APITimeoutError(`no answer in ${timeoutMs} ms`, { cause: failure });
      throw new APIConnectionError(failure instanceof Error ? failure.message : String(failure), { cause: failure });
    } finally {
      clearTimeout(timer);
      if (!stream) signal?.removeEventListener("abort", stop);
    }
  }
}

/** The client without itself among the options of its requests, where Deno's Request knows another `client`. */
function bare(client: Client): Client {
  const without = (send: Client["post"]): Client["post"] => {
    return (({ client: _, ...rest }: Parameters<Client["post"]>[0] & { client?: Client }) => send(rest)) as Client["post"];
  };
  const { get, post, put, patch } = client;
  return {
    ...client,
    get: without(get),
    post: without(post),
    put: without(put),
    patch: without(patch),
    delete: without(client.delete),
  };
}

/** Milliseconds to wait before the next attempt; undefined where another must not, or need not, be made. */
export function pauseBeforeRetry(failure: unknown, attempt: number, repeatable: boolean): number | undefined {
  const backoff = (0.5 + Math.random() / 2) * Math.min(8000, 500 * 2 ** (attempt - 1));
  if (failure instanceof APIError) {
    if ((failure.status === 429 || failure.status === 503) && failure.retryAfter !== undefined) {
      // Nothing was done, so that every call may be repeated.
      const wait = failure.retryAfter * 1000;
      return wait <= longestWaitMs ? Math.max(wait, backoff) : undefined;
    }
    if (failure.status === 503 && failure.code) return undefined; // something is switched off, and waiting does not help
    return repeatable && [408, 429, 500, 502, 503, 504].includes(failure.status) ? backoff : undefined;
  }
  return repeatable && failure instanceof APIConnectionError ? backoff : undefined;
}

/** Operations about one kind of thing. */
export class Resource {
  constructor(protected readonly core: Core) {}
}

/**
 * A list that is fetched page by page while it is iterated: `for await` goes over items, `pages()` over pages,
 * `first()` fetches one page.
 */
export class Pager<Item, Page> implements AsyncIterable<Item> {
  constructor(
    private readonly fetchPage: (cursor: { cursor?: string }) => Promise<Page>,
    private readonly itemsOf: (page: Page) => Item[],
    private readonly cursorOf: (page: Page) => string | null | undefined,
  ) {}

  first(): Promise<Page> {
    return this.fetchPage({});
  }

  async *pages(): AsyncGenerator<Page> {
    for (let cursor: { cursor?: string } = {}; ; ) {
      const page = await this.fetchPage(cursor);
      yield page;
      const following = this.cursorOf(page);
      if (!following) return;
      cursor = { cursor: following };
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for await (const page of this.pages()) yield* this.itemsOf(page);
  }
}
