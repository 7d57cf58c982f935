"""Haystack's own suites, but those of functions that only some stores have and this one lacks.

Two things differ from what they expect. Their documents carry embeddings, which this store refuses: the fixture leaves
them out. They compare with the order of writing, and the server lists by id: the comparison is one of sorted lists.
"""

from dataclasses import replace

import pytest
from haystack import Document
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.testing import document_store as suites
from haystack.testing import document_store_async as async_suites

from haystack_mneme import MnemeDocumentStore


def by_id(documents: list[Document]) -> list[Document]:
    return sorted(documents, key=lambda one: one.id)


class Adapted:
    @pytest.fixture
    def document_store(self, store: MnemeDocumentStore) -> MnemeDocumentStore:
        return store

    @pytest.fixture
    def filterable_docs(self) -> list[Document]:
        return [replace(one, embedding=None) for one in suites.create_filterable_docs()]

    @staticmethod
    def assert_documents_are_equal(received: list[Document], expected: list[Document]) -> None:
        assert by_id(received) == by_id(expected)


class TestDocumentStore(Adapted, suites.DocumentStoreBaseExtendedTests, suites.CountDocumentsByFilterTest):
    def test_write_documents(self, document_store: MnemeDocumentStore) -> None:
        one = Document(content="test doc")
        assert document_store.write_documents([one]) == 1
        with pytest.raises(DuplicateDocumentError):
            document_store.write_documents([one])
        assert document_store.filter_documents() == [one]


class TestAsync(
    Adapted,
    async_suites.CountDocumentsAsyncTest,
    async_suites.CountDocumentsByFilterAsyncTest,
    async_suites.DeleteAllAsyncTest,
    async_suites.DeleteByFilterAsyncTest,
    async_suites.DeleteDocumentsAsyncTest,
    async_suites.FilterDocumentsAsyncTest,
    async_suites.UpdateByFilterAsyncTest,
    async_suites.WriteDocumentsAsyncTest,
):
    async def test_write_documents_async(self, document_store: MnemeDocumentStore) -> None:
        one = Document(content="test doc")
        assert await document_store.write_documents_async([one]) == 1
        with pytest.raises(DuplicateDocumentError):
            await document_store.write_documents_async([one])
        assert await document_store.filter_documents_async() == [one]
