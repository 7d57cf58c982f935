// What a model may call: the search in documents, and the memories of one end user.

import { jsonSchema, type Tool, tool } from "ai";
import { Mneme, type models } from "@mnemehq/sdk";
import { asQuery } from "./text.js";

export interface SearchOptions {
  /** The namespace whose documents are searched. */
  namespace: string;
  /** A client with an `sk-service-` key; otherwise one of MNEME_URL and MNEME_API_KEY. */
  client?: Mneme;
  /** How to search: `top_k`, `filter`, `mode`, `rerank` and so on, as `namespaces.query` of the SDK takes them. */
  query?: Omit<models.QueryRequest, "query">;
  /** What the model is told of the tool, the kind of documents for example. */
  description?: string;
}

/** A passage with what is needed to cite it. */
export type Passage = Omit<models.QueryHit, "id" | "before" | "after" | "explain">;

export interface Found {
  /** Best first. */
  results: Passage[];
  /** Parts that took no part in the search, and why. */
  degraded: models.Degraded[];
}

export type Known = Pick<models.MemoryContextBlock, "context" | "citations" | "passages" | "degraded">;

/** The passages of documents that answer a question. */
export function mnemeSearch(options: SearchOptions): Tool<{ query: string }, Found> {
  const client = options.client ?? new Mneme();
  return tool({
    description: options.description ?? "Search documents for the passages that answer a question. Cite document_id and page.",
    inputSchema: text("query", "the question, in full words"),
    async execute({ query }, { abortSignal }): Promise<Found> {
      const body = { ...options.query, query: asQuery(query) };
      const { results, degraded } = await client.namespaces.query(options.namespace, body, { signal: abortSignal });
      return { results: results.map(({ id, before, after, explain, ...passage }) => passage), degraded };
    },
  });
}

export interface RememberOptions {
  /** Whose memories they are. Name it from your own session; the model cannot choose it. */
  endUserId: string;
  /** Keeps memories apart within the end user: 1 to 128 characters of A-Z a-z 0-9 . _ : -. */
  containerTag?: string;
  /** A client with a `cint_` key; otherwise one of MNEME_URL and MNEME_API_KEY. */
  client?: Mneme;
  /** What the model is told of the tool. */
  description?: string;
}

/** Keep something of the user, word for word. What is known already is not kept twice. */
export function mnemeRemember(options: RememberOptions): Tool<{ content: string }, { id: string }> {
  const client = options.client ?? new Mneme();
  return tool({
    description: options.description ?? "Remember something about the user for later conversations: a fact, a wish, a decision.",
    inputSchema: text("content", "what to remember, as a sentence that is understood without the conversation"),
    async execute({ content }, { abortSignal }): Promise<{ id: string }> {
      const { endUserId, containerTag } = options;
      const { memory } = await client.memory.save({ endUserId, containerTag, content }, { signal: abortSignal });
      return { id: memory!.id }; // absent in batches alone
    },
  });
}

export interface ContextOptions extends Omit<RememberOptions, "containerTag"> {
  /** How much is looked up and where, as `memory.context` of the SDK takes it. */
  context?: Omit<models.MemoryContextQuery, "endUserId" | "query">;
}

/** What is known of a subject, as a text with citations. */
export function mnemeContext(options: ContextOptions): Tool<{ message: string }, Known> {
  const client = options.client ?? new Mneme();
  return tool({
    description:
      options.description ?? "What is known about the user from earlier conversations, and from documents. Empty: nothing.",
    inputSchema: text("message", "what is to be answered"),
    async execute({ message }, { abortSignal }): Promise<Known> {
      const body = { ...options.context, endUserId: options.endUserId, query: asQuery(message) };
      const { context, citations, passages, degraded } = await client.memory.context(body, { signal: abortSignal });
      return { context, citations, passages, degraded };
    },
  });
}

/** The schema of an object with one text. */
function text<K extends string>(name: K, description: string) {
  return jsonSchema<Record<K, string>>({
    type: "object",
    properties: { [name]: { type: "string", minLength: 1, description } },
    required: [name],
    additionalProperties: false,
  });
}
