"""Passages of a namespace for a query engine."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.vector_stores.types import MetadataFilters
from mneme import Mneme

from .filters import server_filter
from .nodes import plain

_CITATION = ("document_id", "chunk_index", "start", "end", "page", "heading", "score")


class MnemeRetriever(BaseRetriever):
    """The passages that answer a query, each with what is needed to cite it in ``metadata["citation"]``.

    Args:
        namespace: where to search.
        client: a client with a service key; otherwise one of MNEME_URL and MNEME_API_KEY.
        similarity_top_k: how many passages, 1 to 100.
        filters: equality, contains, in, any, all, joined by and, or; ValueError with others.
        query: ``mode``, ``weights``, ``rerank``, ``min_score`` and so on, as the SDK's ``namespaces.query`` takes them.
    """

    def __init__(
        self,
        namespace: str,
        client: Mneme | None = None,
        *,
        similarity_top_k: int = 10,
        filters: MetadataFilters | None = None,
        query: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.namespace, self.client = namespace, client or Mneme()
        self._options = {**(query or {}), "top_k": similarity_top_k}
        if filters is not None:
            self._options["filter"] = server_filter(filters)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        answer = self.client.namespaces.query(self.namespace, query=query_bundle.query_str, **self._options)
        found = []
        for hit in answer.results:
            fields = hit.to_dict()
            citation = {key: fields[key] for key in _CITATION if key in fields} | {"score_kind": answer.score_kind}
            passage = TextNode(
                id_=f"{hit.id}/{hit.chunk_index}",
                text=fields.get("text", ""),
                metadata={**plain(fields.get("metadata", {})), "citation": citation},
                # It is for the application; a model reads the passage and the metadata of its document.
                excluded_llm_metadata_keys=["citation"],
                excluded_embed_metadata_keys=["citation"],
            )
            found.append(NodeWithScore(node=passage, score=hit.score))
        return found

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)
