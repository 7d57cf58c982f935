"""Documents of a namespace as a vector store."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from mneme import DocumentNotFoundError, Mneme, NamespaceNotFoundError, models

from .metadata import pack, unpack

_AT_ONCE = 100  # documents of one write, and ids of one deletion
_READS = 8


class MnemeVectorStore(VectorStore):
    """A namespace as a vector store. The server embeds, so that no embeddings are passed in.

    Args:
        namespace: 1 to 64 characters of a-z 0-9 _ -; it is made by the first document.
        client: a client with a service key; otherwise one of MNEME_URL and MNEME_API_KEY.
        query: how to search, as ``namespaces.query`` of the SDK takes it: ``mode``, ``weights``, ``rerank``.
    """

    def __init__(self, namespace: str, client: Mneme | None = None, *, query: Mapping[str, Any] | None = None) -> None:
        self.namespace, self.client = namespace, client or Mneme()
        self._query = dict(query or {})

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: Sequence[Mapping[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **_: Any,
    ) -> list[str]:
        """Write texts; one whose id is there replaces it. Each hundred of them is written whole or not at all."""
        given = list(texts)
        for name, beside in (("metadatas", metadatas), ("ids", ids)):
            if beside and len(beside) != len(given):
                raise ValueError(f"{len(given)} texts with {len(beside)} {name}")
        named = [one or str(uuid.uuid4()) for one in ids or [None] * len(given)]
        documents = [
            {"id": id, "text": text, "metadata": pack(metadata)}
            for id, text, metadata in zip(named, given, metadatas or [{}] * len(given), strict=True)
        ]
        for start in range(0, len(documents), _AT_ONCE):
            self.client.documents.write(self.namespace, documents[start : start + _AT_ONCE])
        return named

    def delete(self, ids: list[str] | None = None, *, filter: Mapping[str, Any] | None = None, **_: Any) -> bool:
        """Delete by ids, of which unknown ones are skipped, or by a filter."""
        if (ids is None) == (filter is None):
            raise ValueError("delete wants ids or a filter; namespaces.delete of the client deletes everything")
        if filter is not None:
            while self.client.documents.delete(self.namespace, filter=filter).more:
                pass
        for start in range(0, len(ids or []), _AT_ONCE):
            self.client.documents.delete(self.namespace, ids=(ids or [])[start : start + _AT_ONCE])
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents that are there, in the order of their ids."""
        with ThreadPoolExecutor(_READS) as pool:
            return [one for one in pool.map(self._read, ids) if one]

    def similarity_search(
        self, query: str, k: int = 4, filter: Mapping[str, Any] | None = None, **query_options: Any
    ) -> list[Document]:
        """Documents that answer, best first. ``filter`` is the server's: equality, $in, $and, $or."""
        return [one for one, _ in self.similarity_search_with_score(query, k, filter, **query_options)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, filter: Mapping[str, Any] | None = None, **query_options: Any
    ) -> list[tuple[Document, float]]:
        """The same with scores, of which more is better. Fused ones compare within one answer only."""
        options = {**self._query, **query_options, "max_chunks_per_document": 1, "neighbors": 1}
        if filter is not None:
            options["filter"] = filter
        try:
            hits = self.client.namespaces.query(self.namespace, query=query, top_k=k, **options).results
        except NamespaceNotFoundError:  # one without documents does not exist
            return []
        with ThreadPoolExecutor(_READS) as pool:
            found = pool.map(self._document, hits)
            return [(one, hit.score) for one, hit in zip(found, hits, strict=True) if one]

    def _similarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **query_options: Any
    ) -> list[tuple[Document, float]]:
        # A reranker's score is a probability; no other is one.
        return self.similarity_search_with_score(query, k, **{"rerank": True, **query_options})

    def _document(self, hit: models.QueryHit) -> Document | None:
        """The whole document of a hit: the chunk where it is the only one, else as it is stored."""
        if hit.before or hit.after or hit.start > 0:
            return self._read(hit.document_id)
        assert isinstance(hit.text, str) and hit.metadata
        return Document(id=hit.document_id, page_content=hit.text, metadata=unpack(hit.metadata.to_dict()))

    def _read(self, id: str) -> Document | None:
        try:
            one = self.client.documents.get(self.namespace, id)
        except (DocumentNotFoundError, NamespaceNotFoundError):
            return None
        return Document(id=one.id, page_content=one.text, metadata=unpack(one.metadata.to_dict()))

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        namespace: str = "",
        **options: Any,
    ) -> Self:
        """A store with these texts. ValueError with an embedding: the server embeds with its own model."""
        if embedding is not None:
            raise ValueError("the server embeds with its own model; pass embedding=None")
        store = cls(namespace, **options)
        store.add_texts(texts, metadatas, ids=ids)
        return store
