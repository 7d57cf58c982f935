"""The retriever and the reader."""

import pytest
from llama_index.core import SummaryIndex
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import Document, TextNode
from llama_index.core.vector_stores.types import FilterOperator, MetadataFilter, MetadataFilters
from mneme import DocumentNotFoundError, Mneme, NamespaceNotFoundError

from llama_index_mneme import MnemeReader, MnemeRetriever, MnemeVectorStore


@pytest.fixture
def files(service: Mneme, namespace: str) -> str:
    service.files.upload(namespace, ("bees.md", b"# Bees\n\nBees fly to flowers."), metadata={"team": "shop"})
    service.documents.write(namespace, [{"id": "gulls", "text": "Gulls eat fish.", "metadata": {"team": "sea"}}])
    return namespace


def test_passages_have_citations(service: Mneme, files: str) -> None:
    [one] = MnemeRetriever(files, service, similarity_top_k=1).retrieve("what do bees do?")
    citation = one.node.metadata["citation"]
    assert one.node.metadata["team"] == "shop" and one.score == citation["score"]
    assert (citation["document_id"], citation["heading"], citation["score_kind"]) == ("bees.md", "Bees", "fused")


async def test_a_query_engine_over_passages(service: Mneme, files: str) -> None:
    sea = MetadataFilters(filters=[MetadataFilter(key="team", value="sea")])
    engine = RetrieverQueryEngine.from_args(
        MnemeRetriever(files, service, filters=sea, query={"rerank": True}), llm=MockLLM()
    )
    answer = await engine.aquery("what do bees do?")
    assert "Gulls eat fish." in str(answer) and "citation" not in str(answer)
    [source] = answer.source_nodes
    assert source.node.metadata["citation"]["score_kind"] == "rerank"


def test_what_a_retriever_can_not_do(service: Mneme, namespace: str) -> None:
    above = MetadataFilters(filters=[MetadataFilter(key="year", value=1, operator=FilterOperator.GT)])
    with pytest.raises(ValueError, match="the server has no filter year > 1"):
        MnemeRetriever(namespace, service, filters=above)
    with pytest.raises(NamespaceNotFoundError):
        MnemeRetriever(namespace, service).retrieve("x")


def test_documents_for_another_index(service: Mneme, files: str) -> None:
    MnemeVectorStore(files, service).add([TextNode(id_="node", text="Seals sleep.", metadata={"deep": {"a": 1}})])
    reader = MnemeReader(service)
    read = reader.load_data(files)
    assert [(one.id_, one.metadata.get("team")) for one in read] == [
        ("bees.md", "shop"),
        ("gulls", "sea"),
        ("node", None),
    ]
    assert read[2] == Document(id_="node", text="Seals sleep.", metadata={"deep": {"a": 1}})
    assert [one.text for one in reader.load_data(files, ids=["node", "gulls"])] == ["Seals sleep.", "Gulls eat fish."]
    assert [one.id_ for one in reader.load_data(files, prefix="gu")] == ["gulls"]
    engine = SummaryIndex.from_documents(read).as_query_engine(llm=MockLLM())
    assert "Seals sleep." in str(engine.query("who sleeps?"))


def test_what_is_not_there(service: Mneme, files: str, namespace: str) -> None:
    reader = MnemeReader(service)
    with pytest.raises(DocumentNotFoundError):
        reader.load_data(files, ids=["missing"])
    with pytest.raises(NamespaceNotFoundError):
        reader.load_data(f"{namespace}x")
    with pytest.raises(ValueError, match="not both"):
        reader.load_data(files, ids=["gulls"], prefix="b")
