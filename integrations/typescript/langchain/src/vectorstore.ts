// Documents of a namespace as a vector store.

import { Document, type DocumentInterface } from "@langchain/core/documents";
import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { VectorStore } from "@langchain/core/vectorstores";
import { DocumentNotFoundError, Mneme, type models, NamespaceNotFoundError } from "@mnemehq/sdk";
import { pack, unpack } from "./metadata.js";

const atOnce = 100; // documents of one write, and ids of one deletion
const reads = 8;

export interface StoreOptions {
  /** 1 to 64 characters of a-z 0-9 _ -; it is made by the first document. */
  namespace: string;
  /** A client with an `sk-service-` key; otherwise one of MNEME_URL and MNEME_API_KEY. */
  client?: Mneme;
  /** How to search, as `namespaces.query` of the SDK takes it: `mode`, `weights`, `rerank`. */
  query?: Omit<models.QueryRequest, "query" | "top_k" | "filter" | "max_chunks_per_document" | "neighbors">;
}

/** A namespace as a vector store. The server embeds, so that no embeddings are passed in. */
export class MnemeVectorStore extends VectorStore {
  static override lc_name(): string {
    return "MnemeVectorStore";
  }
  /** Of the server's form: equality, $in, $and, $or. */
  declare FilterType: models.Filter;
  override lc_namespace = ["mneme", "vectorstores"];
  readonly namespace: string;
  readonly client: Mneme;
  readonly #query: StoreOptions["query"];

  constructor({ namespace, client, query }: StoreOptions) {
    super(serverEmbeds, {});
    this.namespace = namespace;
    this.client = client ?? new Mneme();
    this.#query = query;
  }

  _vectorstoreType(): string {
    return "mneme";
  }

  /**
   * Write documents and return their ids: those of `ids`, or their own, or new ones. One whose id is there is replaced.
   * Each hundred of them is written whole or not at all.
   */
  async addDocuments(documents: DocumentInterface[], options: { ids?: (string | undefined)[] } = {}): Promise<string[]> {
    const { ids } = options;
    if (ids && ids.length !== documents.length) throw new Error(`${documents.length} documents with ${ids.length} ids`);
    const made = documents.map((one, i) => ({
      id: ids?.[i] || one.id || crypto.randomUUID(),
      text: one.pageContent,
      metadata: pack(one.metadata),
    }));
    for (const portion of portions(made)) await this.client.documents.write(this.namespace, { documents: portion });
    return made.map((one) => one.id);
  }

  /** Delete by ids, of which unknown ones are skipped, or by a filter. */
  override async delete(params: { ids?: string[]; filter?: models.Filter } = {}): Promise<void> {
    const { ids, filter } = params;
    if ((ids === undefined) === (filter === undefined)) {
      throw new Error("delete wants ids or a filter; namespaces.delete of the client deletes everything");
    }
    if (filter !== undefined) {
      while ((await this.client.documents.delete(this.namespace, { filter })).more);
    }
    for (const portion of portions(ids ?? [])) await this.client.documents.delete(this.namespace, { ids: portion });
  }

  /** The documents that are there, in the order of their ids. */
  async getByIds(ids: string[]): Promise<Document[]> {
    const found = await some(ids, (id) => this.#read(id));
    return found.filter((one) => one !== undefined);
  }

  /** Documents that answer, best first, whole, as they were added. */
  override async similaritySearch(query: string, k = 4, filter?: models.Filter): Promise<Document[]> {
    return (await this.similaritySearchWithScore(query, k, filter)).map(([one]) => one);
  }

  /** The same with scores, of which more is better. Fused ones compare within one answer only. */
  override async similaritySearchWithScore(query: string, k = 4, filter?: models.Filter): Promise<[Document, number][]> {
    const body = { ...this.#query, query, top_k: k, max_chunks_per_document: 1, neighbors: 1, ...(filter && { filter }) };
    let hits: models.QueryHit[] = [];
    try {
      hits = (await this.client.namespaces.query(this.namespace, body)).results;
    } catch (error) {
      if (!(error instanceof NamespaceNotFoundError)) throw error; // one without documents does not exist
    }
    const found = await some(hits, (hit) => this.#document(hit));
    return hits.flatMap((hit, i): [Document, number][] => (found[i] ? [[found[i], hit.score]] : []));
  }

  /** Refused: the server embeds with its own model, and vectors of another one compare to nothing. */
  async addVectors(): Promise<never> {
    throw new Error("the server embeds with its own model; use addDocuments");
  }

  /** Refused, as addVectors is. */
  async similaritySearchVectorWithScore(): Promise<never> {
    throw new Error("the server embeds with its own model; use similaritySearch or similaritySearchWithScore with the question");
  }

  /** A store with these texts. Embeddings are refused: the server embeds with its own model. */
  static override async fromTexts(
    texts: string[],
    metadatas: object[] | object,
    embeddings: EmbeddingsInterface | undefined,
    options: StoreOptions,
  ): Promise<MnemeVectorStore> {
    if (Array.isArray(metadatas) && metadatas.length !== texts.length) {
      throw new Error(`${texts.length} texts with ${metadatas.length} metadatas`);
    }
    const documents = texts.map((pageContent, i) => {
      return new Document({ pageContent, metadata: (Array.isArray(metadatas) ? metadatas[i] : metadatas) as Record<string, unknown> });
    });
    return this.fromDocuments(documents, embeddings, options);
  }

  /** A store with these documents. Embeddings are refused: the server embeds with its own model. */
  static override async fromDocuments(
    documents: DocumentInterface[],
    embeddings: EmbeddingsInterface | undefined,
    options: StoreOptions,
  ): Promise<MnemeVectorStore> {
    if (embeddings) throw new Error("the server embeds with its own model; pass undefined for the embeddings");
    const store = new this(options);
    await store.addDocuments(documents);
    return store;
  }

  /** The whole document of a hit: the chunk where it is the only one, else as it is stored. */
  async #document(hit: models.QueryHit): Promise<Document | undefined> {
    if (hit.before.length > 0 || hit.after.length > 0 || hit.start > 0) return this.#read(hit.document_id);
    return asDocument(hit.document_id, hit.text ?? "", hit.metadata);
  }

  async #read(id: string): Promise<Document | undefined> {
    try {
      const one = await this.client.documents.get(this.namespace, id);
      return asDocument(one.id, one.text, one.metadata);
    } catch (error) {
      if (error instanceof DocumentNotFoundError || error instanceof NamespaceNotFoundError) return undefined;
      throw error;
    }
  }
}

/** What a vector store has to have; who asks it is told what to call. */
const serverEmbeds: EmbeddingsInterface = {
  async embedDocuments(): Promise<never> {
    throw new Error("the server embeds with its own model; add documents with addDocuments");
  },
  async embedQuery(): Promise<never> {
    throw new Error("the server embeds with its own model; search with similaritySearch");
  },
};

function asDocument(id: string, pageContent: string, metadata: models.Metadata = {}): Document {
  return new Document({ id, pageContent, metadata: unpack(metadata) });
}

function portions<T>(all: T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / atOnce) }, (_, i) => all.slice(i * atOnce, (i + 1) * atOnce));
}

/** Does something for each, a few at the same time. */
async function some<T, R>(all: T[], what: (one: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  let next = 0;
  const turns = Array.from({ length: Math.min(reads, all.length) }, async () => {
    for (let i = next++; i < all.length; i = next++) done[i] = await what(all[i]!);
  });
  await Promise.all(turns);
  return done;
}
