"""Passages of a namespace for a pipeline."""

from __future__ import annotations

import asyncio
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.document_stores.types import FilterPolicy
from haystack.document_stores.types.filter_policy import apply_filter_policy

from .document_store import MnemeDocumentStore
from .filters import server_filter
from .metadata import unpack

_CITATION = ("document_id", "chunk_index", "start", "end", "page", "heading", "score")


@component
class MnemeRetriever:
    """The passages that answer a query, each with what is needed to cite it in ``meta["citation"]``.

    Args:
        document_store: whose namespace is searched.
        filters: ==, in, AND, OR over fields of meta; FilterError with others.
        top_k: how many passages, 1 to 100.
        filter_policy: whether filters of a run replace these, or are merged with them.
        query: ``mode``, ``weights``, ``rerank``, ``min_score`` and so on, as the SDK's ``namespaces.query`` takes them.
    """

    def __init__(
        self,
        document_store: MnemeDocumentStore,
        *,
        filters: dict[str, Any] | None = None,
        top_k: int = 10,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        query: dict[str, Any] | None = None,
    ) -> None:
        if not isinstance(document_store, MnemeDocumentStore):
            raise ValueError("document_store is no MnemeDocumentStore")
        if filters:
            server_filter(filters)  # says what it can't do before the first run
        self.document_store, self.filters, self.top_k = document_store, filters, top_k
        self.filter_policy = FilterPolicy(filter_policy)
        self.query = query or {}

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(
            self,
            document_store=self.document_store.to_dict(),
            filters=self.filters,
            top_k=self.top_k,
            filter_policy=self.filter_policy.value,
            query=self.query,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> MnemeRetriever:
        given = data["init_parameters"]
        store = given["document_store"]
        if isinstance(store, dict):
            store = MnemeDocumentStore.from_dict(store)
        return default_from_dict(cls, {**data, "init_parameters": {**given, "document_store": store}})

    @component.output_types(documents=list[Document])
    def run(self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None) -> dict[str, Any]:
        """Search. NamespaceNotFoundError where nothing was ever written."""
        options = {**self.query, "top_k": self.top_k if top_k is None else top_k}
        wanted = apply_filter_policy(self.filter_policy, self.filters, filters)
        if wanted:
            options["filter"] = server_filter(wanted)
        store = self.document_store
        answer = store.client.namespaces.query(store.namespace, query=query, **options)
        found = []
        for hit in answer.results:
            fields = hit.to_dict()
            citation = {key: fields[key] for key in _CITATION if key in fields} | {"score_kind": answer.score_kind}
            found.append(
                Document(
                    id=f"{hit.id}/{hit.chunk_index}",
                    content=fields.get("text", ""),
                    meta={**unpack(fields.get("metadata", {})), "citation": citation},
                    score=hit.score,
                )
            )
        return {"documents": found}

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, Any]:
        """The same in a thread of its own."""
        return await asyncio.to_thread(self.run, query, filters, top_k)
