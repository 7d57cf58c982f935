"""LangChain's own suites."""

import os
from typing import Any

import pytest
from langchain_core.vectorstores import VectorStore
from langchain_tests.integration_tests import RetrieversIntegrationTests, VectorStoreIntegrationTests
from mneme import Mneme

from langchain_mneme import MnemeRetriever, MnemeVectorStore


class TestVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, service: Mneme, namespace: str) -> VectorStore:  # type: ignore[override]
        return MnemeVectorStore(namespace, service)


@pytest.fixture(scope="module", autouse=True)
def documents(service: Mneme) -> None:
    service.documents.write("facts", [{"id": f"fact-{i}", "text": f"Fact {i} is of the sea."} for i in range(5)])


class TestRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[MnemeRetriever]:
        return MnemeRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        client = Mneme(os.environ["MNEME_URL"], os.environ["MNEME_SERVICE_KEY"])
        return {"namespace": "facts", "client": client}

    @property
    def retriever_query_example(self) -> str:
        return "which fact is of the sea?"
