// Passages of a namespace for a chain.

import { Document } from "@langchain/core/documents";
import { BaseRetriever, type BaseRetrieverInput } from "@langchain/core/retrievers";
import { Mneme, type models } from "@mnemehq/sdk";
import { unpack } from "./metadata.js";

export interface RetrieverOptions extends BaseRetrieverInput {
  /** The namespace whose documents are searched. */
  namespace: string;
  /** A client with an `sk-service-` key; otherwise one of MNEME_URL and MNEME_API_KEY. */
  client?: Mneme;
  /** How many passages, 1 to 100; 10 unless set. */
  k?: number;
  /** Of the server's form: equality, $in, $and, $or. */
  filter?: models.Filter;
  /** `mode`, `weights`, `rerank`, `min_score` and so on, as `namespaces.query` of the SDK takes them. */
  query?: Omit<models.QueryRequest, "query" | "top_k" | "filter">;
}

/** Where a passage stands. */
export type Citation = Pick<
  models.QueryHit,
  "document_id" | "chunk_index" | "start" | "end" | "page" | "heading" | "score"
> & { score_kind: models.QueryResult["score_kind"] };

/** The document's metadata, and what is needed to cite the passage. */
export type PassageMetadata = Record<string, unknown> & { citation: Citation };

/** The passages that answer a query, each with what is needed to cite it in `metadata.citation`. */
export class MnemeRetriever extends BaseRetriever<PassageMetadata> {
  static override lc_name(): string {
    return "MnemeRetriever";
  }
  lc_namespace = ["mneme", "retrievers"];
  readonly namespace: string;
  readonly client: Mneme;
  k: number;
  filter: models.Filter | undefined;
  query: RetrieverOptions["query"];

  constructor({ namespace, client, k, filter, query, ...base }: RetrieverOptions) {
    super(base);
    this.namespace = namespace;
    this.client = client ?? new Mneme();
    this.k = k ?? 10;
    this.filter = filter;
    this.query = query;
  }

  override async _getRelevantDocuments(query: string): Promise<Document<PassageMetadata>[]> {
    const { results, score_kind } = await this.client.namespaces.query(this.namespace, {
      ...this.query,
      query,
      top_k: this.k,
      ...(this.filter && { filter: this.filter }),
    });
    return results.map(({ id, text, metadata, before, after, explain, ...citation }) => {
      return new Document({
        id,
        pageContent: text ?? "",
        metadata: { ...unpack(metadata ?? {}), citation: { ...citation, score_kind } },
      });
    });
  }
}
