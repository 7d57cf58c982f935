"""Documents of a namespace as a document store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from haystack import Document, default_from_dict, default_to_dict
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.errors import FilterError
from haystack.utils import Secret
from haystack.utils.filters import document_matches_filter
from mneme import DocumentNotFoundError, Mneme, NamespaceNotFoundError

from .filters import reads
from .metadata import pack, unpack

_AT_ONCE = 100  # documents of one write, and ids of one deletion
_PAGE = 1000
_READS = 8

T = TypeVar("T")
R = TypeVar("R")


class MnemeDocumentStore:
    """A namespace as a document store. The server embeds, so that documents come without embeddings.

    Args:
        namespace: 1 to 64 characters of a-z 0-9 _ -; it is made by the first document.
        url: of the server; otherwise MNEME_URL.
        api_key: a service key; otherwise that of MNEME_API_KEY.
    """

    def __init__(self, namespace: str, *, url: str | None = None, api_key: Secret | None = None) -> None:
        self.namespace, self.url = namespace, url
        self.api_key = api_key or Secret.from_env_var("MNEME_API_KEY")
        self.client = Mneme(url, self.api_key.resolve_value())

    def to_dict(self) -> dict[str, Any]:
        """The store without its documents; ValueError where the key is not one of the environment."""
        return default_to_dict(self, namespace=self.namespace, url=self.url, api_key=self.api_key)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> MnemeDocumentStore:
        return default_from_dict(cls, data)

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def count_documents(self) -> int:
        """How many there are."""
        try:
            return self.client.namespaces.get(self.namespace).documents
        except NamespaceNotFoundError:  # one without documents does not exist
            return 0

    def count_documents_by_filter(self, filters: dict[str, Any]) -> int:
        """How many a filter holds for."""
        return len(self._matching(filters))

    def filter_documents(self, filters: dict[str, Any] | None = None) -> list[Document]:
        """The documents that a filter holds for, or all, by id.

        Filters are evaluated here over the metadata of all documents, so that every operator is there.
        """
        return self._read_all(self._matching(filters))

    def write_documents(self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE) -> int:
        """Write documents; each hundred of them is written whole or not at all. NONE is FAIL.

        What is there is asked before the write: of two writers at once both may find nothing.

        Raises:
            ValueError: one is no document, has no text, or has an embedding or a blob; nothing is written.
            DuplicateDocumentError: with FAIL, an id is there or stands twice; nothing is written.
        """
        if not isinstance(documents, list) or not all(isinstance(one, Document) for one in documents):
            raise ValueError("write_documents wants a list of documents")
        for one in documents:
            _check(one)
        unique: dict[str, Document] = {}
        for one in documents:
            if policy is DuplicatePolicy.SKIP:
                unique.setdefault(one.id, one)
            else:
                unique[one.id] = one
        if policy is not DuplicatePolicy.OVERWRITE:
            there = {one.id for one in self._read_all(list(unique))}
            if policy is DuplicatePolicy.SKIP:
                unique = {id: one for id, one in unique.items() if id not in there}
            elif there or len(unique) < len(documents):
                raise DuplicateDocumentError(f"{', '.join(sorted(there)) or 'an id'} is there already")
        self._write(list(unique.values()))
        return len(documents) if policy is DuplicatePolicy.OVERWRITE else len(unique)

    def delete_documents(self, document_ids: list[str]) -> None:
        """Delete documents; unknown ids are skipped."""
        self._delete(document_ids)

    def delete_all_documents(self) -> None:
        """Delete the namespace, which goes with its last document anyway."""
        try:
            self.client.namespaces.delete(self.namespace)
        except NamespaceNotFoundError:
            pass

    def delete_by_filter(self, filters: dict[str, Any]) -> int:
        """Delete the documents that a filter holds for, and say how many. FilterError for an empty filter."""
        return self._delete(self._matching(_restricting(filters)))

    def update_by_filter(self, filters: dict[str, Any], meta: dict[str, Any]) -> int:
        """Set fields of meta where a filter holds, and say of how many. FilterError for an empty filter.

        A document that somebody else writes at the same time may lose what they wrote.
        """
        documents = self._read_all(self._matching(_restricting(filters)))
        self._write([Document(id=one.id, content=one.content, meta={**one.meta, **meta}) for one in documents])
        return len(documents)

    async def count_documents_async(self) -> int:
        return await asyncio.to_thread(self.count_documents)

    async def count_documents_by_filter_async(self, filters: dict[str, Any]) -> int:
        return await asyncio.to_thread(self.count_documents_by_filter, filters)

    async def filter_documents_async(self, filters: dict[str, Any] | None = None) -> list[Document]:
        return await asyncio.to_thread(self.filter_documents, filters)

    async def write_documents_async(
        self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        return await asyncio.to_thread(self.write_documents, documents, policy)

    async def delete_documents_async(self, document_ids: list[str]) -> None:
        await asyncio.to_thread(self.delete_documents, document_ids)

    async def delete_all_documents_async(self) -> None:
        await asyncio.to_thread(self.delete_all_documents)

    async def delete_by_filter_async(self, filters: dict[str, Any]) -> int:
        return await asyncio.to_thread(self.delete_by_filter, filters)

    async def update_by_filter_async(self, filters: dict[str, Any], meta: dict[str, Any]) -> int:
        return await asyncio.to_thread(self.update_by_filter, filters, meta)

    def _matching(self, filters: dict[str, Any] | None) -> list[str]:
        """The ids of the documents that a filter holds for. Texts are read only where it asks for them."""
        try:
            heads = list(self.client.documents.list(self.namespace, limit=_PAGE))
        except NamespaceNotFoundError:
            return []
        if not filters:
            return [one.id for one in heads]
        if reads(filters, "content"):
            documents = self._read_all([one.id for one in heads])
        else:
            documents = [Document(id=one.id, meta=unpack(one.metadata.to_dict())) for one in heads]
        return [one.id for one in documents if document_matches_filter(filters, one)]

    def _read_all(self, ids: Sequence[str]) -> list[Document]:
        return [one for one in _each(self._read, ids) if one]

    def _read(self, id: str) -> Document | None:
        try:
            one = self.client.documents.get(self.namespace, id)
        except (DocumentNotFoundError, NamespaceNotFoundError):
            return None
        return document(one.id, one.text, one.metadata.to_dict())

    def _write(self, documents: Sequence[Document]) -> None:
        made = [{"id": one.id, "text": one.content, "metadata": pack(one.meta)} for one in documents]
        for start in range(0, len(made), _AT_ONCE):
            self.client.documents.write(self.namespace, made[start : start + _AT_ONCE])

    def _delete(self, ids: Sequence[str]) -> int:
        return sum(
            self.client.documents.delete(self.namespace, ids=ids[start : start + _AT_ONCE]).deleted
            for start in range(0, len(ids), _AT_ONCE)
        )


def document(id: str, text: str, metadata: Mapping[str, Any]) -> Document:
    """A document of the server as one of Haystack's."""
    return Document(id=id, content=text, meta=unpack(metadata))


def _check(one: Document) -> None:
    if one.embedding is not None or one.sparse_embedding is not None:
        raise ValueError("the server embeds with its own model; leave the embedder out of the pipeline")
    if one.blob is not None:
        raise ValueError(f"the document {one.id} has a blob; files.upload of the client reads files")
    if not (one.content or "").strip():
        raise ValueError(f"the document {one.id} has no text")


def _restricting(filters: dict[str, Any]) -> dict[str, Any]:
    if not filters:
        raise FilterError("an empty filter restricts nothing; delete_all_documents deletes everything")
    return filters


def _each(function: Callable[[T], R], of: Sequence[T]) -> list[R]:
    with ThreadPoolExecutor(_READS) as pool:
        return list(pool.map(function, of))
