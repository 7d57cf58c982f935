"""Nodes of a namespace as a vector store."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
    VectorStoreQueryResult,
)
from llama_index.core.vector_stores.utils import build_metadata_filter_fn
from mneme import Mneme, NamespaceNotFoundError, models

from .filters import server_filter
from .nodes import NODE_ID, REF_DOC_ID, document, each, is_whole, node, plain, read

_AT_ONCE = 100  # documents of one write, and ids of one deletion
_PAGE = 1000

_MODES: dict[VectorStoreQueryMode, dict[str, Any]] = {
    VectorStoreQueryMode.DEFAULT: {},
    VectorStoreQueryMode.HYBRID: {"mode": "hybrid"},
    VectorStoreQueryMode.TEXT_SEARCH: {"mode": "keyword"},
    VectorStoreQueryMode.SPARSE: {"mode": "sparse"},
    VectorStoreQueryMode.SEMANTIC_HYBRID: {"mode": "hybrid", "rerank": True},
}


class MnemeVectorStore(BasePydanticVectorStore):
    """A namespace as a vector store. The server embeds: an index over it takes ``embed_model=ServerEmbedding()``.

    Args:
        namespace: 1 to 64 characters of a-z 0-9 _ -; it is made by the first node.
        client: a client with a service key; otherwise one of MNEME_URL and MNEME_API_KEY.
        query: how to search, as ``namespaces.query`` of the SDK takes it: ``mode``, ``weights``, ``rerank``.
    """

    stores_text: bool = True
    is_embedding_query: bool = False
    namespace: str
    _client: Mneme = PrivateAttr()
    _query: dict[str, Any] = PrivateAttr()

    def __init__(self, namespace: str, client: Mneme | None = None, *, query: Mapping[str, Any] | None = None) -> None:
        super().__init__(namespace=namespace)  # type: ignore[call-arg]
        self._client, self._query = client or Mneme(), dict(query or {})

    @classmethod
    def class_name(cls) -> str:
        return "MnemeVectorStore"

    @property
    def client(self) -> Mneme:
        return self._client

    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Write nodes; one whose id is there replaces it. Each hundred of them is written whole or not at all.

        ValueError where a node has no text, or a vector: nothing is written then.
        """
        documents = [document(one) for one in nodes]
        for start in range(0, len(documents), _AT_ONCE):
            self._client.documents.write(self.namespace, documents[start : start + _AT_ONCE])
        return [one.node_id for one in nodes]

    def delete(self, ref_doc_id: str, **_: Any) -> None:
        """Delete the nodes of a document."""
        self._delete({REF_DOC_ID: ref_doc_id})

    def delete_nodes(self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **_: Any) -> None:
        """Delete by ids, of which unknown ones are skipped, by a filter, or what both hold for."""
        if node_ids is None and filters is None:
            raise ValueError("delete_nodes wants ids or a filter; clear deletes everything")
        ids = node_ids or []
        if filters is None:
            for start in range(0, len(ids), _AT_ONCE):
                self._client.documents.delete(self.namespace, ids=ids[start : start + _AT_ONCE])
        elif node_ids is None:
            self._delete(server_filter(filters))
        else:
            wanted = server_filter(filters)
            for start in range(0, len(ids), _AT_ONCE):
                self._delete({"$and": [{NODE_ID: {"$in": ids[start : start + _AT_ONCE]}}, wanted]})

    def clear(self) -> None:
        """Delete the namespace."""
        try:
            self._client.namespaces.delete(self.namespace)
        except NamespaceNotFoundError:
            pass

    def get_nodes(self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None) -> list[BaseNode]:
        """The nodes of these ids, in their order, or all; of them those that a filter holds for.

        Filters are evaluated here over the metadata of all documents, so that every operator is there.
        """
        if filters is not None and not filters.filters:
            raise ValueError("an empty filter restricts nothing; pass None to get everything")
        if node_ids is None:
            listed = {one.id: plain(one.metadata.to_dict()) for one in self._heads()}
            holds = build_metadata_filter_fn(lambda id: listed[id], filters)
            found = each(self._read, [id for id in listed if holds(id)])
            return [one for one in found if one]
        got = {one.node_id: one for one in each(self._read, node_ids) if one}
        holds = build_metadata_filter_fn(lambda id: got[id].metadata, filters)
        return [one for id, one in got.items() if holds(id)]

    def query(self, query: VectorStoreQuery, **query_options: Any) -> VectorStoreQueryResult:
        """Nodes that answer ``query_str``, best first. More similar is better; fused scores compare within one answer.

        ValueError for what the server can't do: searches by a vector, mmr and learners, some filters.
        """
        options = {**self._query, **_options(query), **query_options}
        try:
            hits = self._client.namespaces.query(self.namespace, **options).results
        except NamespaceNotFoundError:  # one without documents does not exist
            hits = []
        found = [(one, hit) for one, hit in zip(each(self._node, hits), hits, strict=True) if one]
        return VectorStoreQueryResult(
            nodes=[one for one, _ in found],
            similarities=[hit.score for _, hit in found],
            ids=[one.node_id for one, _ in found],
        )

    async def async_add(self, nodes: Sequence[BaseNode], **options: Any) -> list[str]:
        return await asyncio.to_thread(self.add, nodes, **options)

    async def adelete(self, ref_doc_id: str, **options: Any) -> None:
        await asyncio.to_thread(self.delete, ref_doc_id, **options)

    async def adelete_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **options: Any
    ) -> None:
        await asyncio.to_thread(self.delete_nodes, node_ids, filters, **options)

    async def aclear(self) -> None:
        await asyncio.to_thread(self.clear)

    async def aget_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        return await asyncio.to_thread(self.get_nodes, node_ids, filters)

    async def aquery(self, query: VectorStoreQuery, **query_options: Any) -> VectorStoreQueryResult:
        return await asyncio.to_thread(self.query, query, **query_options)

    def _delete(self, filter: dict[str, Any]) -> None:
        while self._client.documents.delete(self.namespace, filter=filter).more:
            pass

    def _heads(self) -> list[models.DocumentHead]:
        try:
            return list(self._client.documents.list(self.namespace, limit=_PAGE))
        except NamespaceNotFoundError:
            return []

    def _read(self, id: str) -> BaseNode | None:
        return read(self._client, self.namespace, id)

    def _node(self, hit: models.QueryHit) -> BaseNode | None:
        """The whole node of a hit: the chunk where it is the only one, else as it is stored."""
        assert isinstance(hit.text, str) and hit.metadata
        metadata = hit.metadata.to_dict()
        if is_whole(hit.text, metadata):
            return node(hit.document_id, hit.text, metadata)
        return self._read(hit.document_id)


def _options(query: VectorStoreQuery) -> dict[str, Any]:
    if query.query_embedding:
        raise ValueError("the server embeds with its own model: a query is a text, and not an embedding")
    if query.mode not in _MODES:
        raise ValueError(f"the server has no mode {query.mode.value!r}: {', '.join(mode.value for mode in _MODES)}")
    for name in ("output_fields", "embedding_field", "mmr_threshold", "sparse_top_k", "hybrid_top_k"):
        if getattr(query, name) is not None:
            raise ValueError(f"{name} has no meaning here: one list is fused, of similarity_top_k nodes")
    if query.alpha is not None and query.mode is not VectorStoreQueryMode.HYBRID:
        raise ValueError("alpha weighs the lists of mode hybrid")
    if query.doc_ids is not None and not query.doc_ids:
        raise ValueError("no doc_ids restrict nothing; pass None to search everything")
    options: dict[str, Any] = {
        "query": query.query_str,
        "top_k": query.similarity_top_k,
        "max_chunks_per_document": 1,
        **_MODES[query.mode],
    }
    if query.alpha is not None:
        options["weights"] = {"vector": query.alpha, "keyword": 1 - query.alpha}
    filters = []
    if query.filters is not None:
        filters.append(server_filter(query.filters))
    if query.doc_ids:
        filters.append({REF_DOC_ID: {"$in": query.doc_ids}})
    if query.node_ids:  # an index passes an empty list where it keeps no nodes itself
        filters.append({NODE_ID: {"$in": query.node_ids}})
    if filters:
        options["filter"] = filters[0] if len(filters) == 1 else {"$and": filters}
    return options
