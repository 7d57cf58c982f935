"""Passages of a namespace for a chain."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from mneme import Mneme
from pydantic import Field

from .metadata import unpack


class MnemeRetriever(BaseRetriever):
    """The passages that answer a query, each with what is needed to cite it in ``metadata["citation"]``."""

    namespace: str
    client: Mneme = Field(default_factory=Mneme, exclude=True)
    """With a service key; otherwise one of MNEME_URL and MNEME_API_KEY."""
    k: int = 10
    """How many, 1 to 100."""
    filter: dict[str, Any] | None = None
    """Of the server's form: equality, $in, $and, $or."""
    query_options: dict[str, Any] = Field(default_factory=dict)
    """``mode``, ``weights``, ``rerank``, ``min_score`` and so on, as ``namespaces.query`` of the SDK takes them."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None, **options: Any
    ) -> list[Document]:
        options = {**self.query_options, **options}
        if self.filter is not None:
            options.setdefault("filter", self.filter)
        answer = self.client.namespaces.query(self.namespace, query=query, top_k=k or self.k, **options)
        found = []
        for hit in answer.results:
            fields = hit.to_dict()
            keys = ("document_id", "chunk_index", "start", "end", "page", "heading", "score")
            citation = {key: fields[key] for key in keys if key in fields}
            metadata = {**unpack(fields.get("metadata", {})), "citation": {**citation, "score_kind": answer.score_kind}}
            found.append(Document(id=hit.id, page_content=fields.get("text", ""), metadata=metadata))
        return found
