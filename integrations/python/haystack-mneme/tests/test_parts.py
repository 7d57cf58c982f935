"""What Haystack's suites do not ask."""

import pytest
from haystack import Document, Pipeline
from haystack.components.builders import PromptBuilder
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.writers import DocumentWriter
from haystack.dataclasses import ByteStream, SparseEmbedding
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.errors import FilterError
from haystack.utils import Secret
from mneme import InvalidIDError, Mneme, NamespaceNotFoundError

from haystack_mneme import MnemeDocumentStore, MnemeRetriever

LONG = "\n\n".join(f"Paragraph {i} tells of keeper number {i} of the light. " * 12 for i in range(6))


def where(field: str, value: object, operator: str = "==") -> dict[str, object]:
    return {"field": field, "operator": operator, "value": value}


def test_pipelines(store: MnemeDocumentStore) -> None:
    writing = Pipeline()
    writing.add_component("splitter", DocumentSplitter(split_by="period", split_length=1))
    writing.add_component("writer", DocumentWriter(store, policy=DuplicatePolicy.OVERWRITE))
    writing.connect("splitter", "writer")
    text = "The lease ends on 31 May 2027. Bees fly to flowers."
    writing.run({"splitter": {"documents": [Document(content=text, meta={"kind": "note"})]}})
    asking = Pipeline()
    asking.add_component("retriever", MnemeRetriever(store, top_k=1))
    asking.add_component("prompt", PromptBuilder("{% for d in documents %}{{ d.content }}{% endfor %}"))
    asking.connect("retriever.documents", "prompt.documents")
    # As it is kept in a file and read again.
    asking = Pipeline.loads(asking.dumps(), allowed_modules=["haystack_mneme"])
    answer = asking.run({"retriever": {"query": "when does the lease end?"}})
    assert "31 May 2027" in answer["prompt"]["prompt"] and "Bees" not in answer["prompt"]["prompt"]


def test_a_key_is_not_kept_in_a_file(namespace: str) -> None:
    with pytest.raises(ValueError):
        MnemeDocumentStore(namespace, api_key=Secret.from_token("sk-service-x")).to_dict()


def test_a_document_comes_back_as_it_was_written(store: MnemeDocumentStore) -> None:
    meta = {"n": None, "deep": {"a": [1, 2]}, "tags": ["x"], "_json": "mine", "big": 2**60, "year": 2027, "ok": True}
    one = Document(content=f"  {LONG}\n\n", meta=meta)
    store.write_documents([one])
    assert store.filter_documents() == [one]
    assert store.filter_documents(where("meta.deep.a", [1, 2])) == [one]
    assert store.filter_documents(where("content", one.content)) == [one]
    assert store.filter_documents({"operator": "NOT", "conditions": [where("id", one.id)]}) == []
    store.update_by_filter(where("meta.year", 2027), {"deep": None, "year": "late"})
    assert store.filter_documents()[0].meta == {**meta, "deep": None, "year": "late"}


def test_duplicates_of_one_call(store: MnemeDocumentStore) -> None:
    twice = [Document(id="1", content="one"), Document(id="1", content="two"), Document(id="2", content="three")]
    with pytest.raises(DuplicateDocumentError):
        store.write_documents(twice)
    assert store.count_documents() == 0
    assert store.write_documents(twice, DuplicatePolicy.SKIP) == 2
    assert [one.content for one in store.filter_documents()] == ["one", "three"]
    assert store.write_documents(twice, DuplicatePolicy.OVERWRITE) == 3
    assert [one.content for one in store.filter_documents()] == ["two", "three"]


@pytest.mark.parametrize(
    "bad",
    [
        Document(content="x", embedding=[0.1]),
        Document(content="x", sparse_embedding=SparseEmbedding([1], [0.5])),
        Document(content="x", blob=ByteStream(b"x")),
        Document(content=" "),
        Document(content=None, meta={"a": 1}),
    ],
)
def test_documents_that_are_refused(store: MnemeDocumentStore, bad: Document) -> None:
    with pytest.raises(ValueError, match=r"server embeds|has a blob|has no text"):
        store.write_documents([Document(content="good"), bad])
    assert store.count_documents() == 0


def test_what_the_server_refuses(store: MnemeDocumentStore, service: Mneme) -> None:
    with pytest.raises(InvalidIDError):
        store.write_documents([Document(id="no spaces", content="x")], DuplicatePolicy.OVERWRITE)
    with pytest.raises(NamespaceNotFoundError):
        MnemeRetriever(store).run("x")


def test_an_empty_filter_destroys_nothing(store: MnemeDocumentStore) -> None:
    store.write_documents([Document(content="good")])
    for act in (lambda: store.delete_by_filter({}), lambda: store.update_by_filter({}, {"a": 1})):
        with pytest.raises(FilterError, match="restricts nothing"):
            act()
    assert store.filter_documents()[0].meta == {}


def test_more_than_one_write(store: MnemeDocumentStore) -> None:
    assert store.write_documents([Document(id=f"n{i:03d}", content=f"Text {i}.") for i in range(101)]) == 101
    store.delete_documents([f"n{i:03d}" for i in range(100)])
    assert [one.id for one in store.filter_documents()] == ["n100"]


@pytest.fixture
def boats(store: MnemeDocumentStore) -> MnemeDocumentStore:
    meta = [{"kind": "a", "year": 1, "tags": ["x"]}, {"kind": "b", "year": 2}, {"kind": "b"}]
    store.write_documents([Document(id=str(i), content=f"Boat number {i}.", meta=one) for i, one in enumerate(meta)])
    return store


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        (None, {"0", "1", "2"}),
        (where("meta.kind", "b"), {"1", "2"}),
        (where("meta.tags", "x"), {"0"}),
        (where("meta.year", [1, 3], "in"), {"0"}),
        ({"operator": "AND", "conditions": [where("meta.kind", "b"), where("meta.year", 2)]}, {"1"}),
        ({"operator": "OR", "conditions": [where("meta.kind", "a"), where("meta.year", 2)]}, {"0", "1"}),
    ],
)
async def test_searches_filter(boats: MnemeDocumentStore, filters: dict[str, object], ids: set[str]) -> None:
    found = (await MnemeRetriever(boats).run_async("boat", filters))["documents"]
    assert {one.meta["citation"]["document_id"] for one in found} == ids
    again = MnemeRetriever(boats, filters=filters).run("boat", top_k=1)["documents"]
    assert len(again) == 1 and again[0].meta["citation"]["document_id"] in ids


@pytest.mark.parametrize(
    "filters",
    [
        where("meta.year", 1, ">"),
        where("meta.kind", "a", "!="),
        where("meta.kind", None),
        where("meta.kind", [], "in"),
        where("meta.kind", "a", "in"),
        where("content", "x"),
        {"operator": "NOT", "conditions": [where("meta.kind", "a")]},
        {"operator": "AND", "conditions": []},
        {"operator": "AND", "conditions": [where("meta.kind", "a"), where("meta.kind", ["a"], "not in")]},
    ],
)
def test_filters_that_a_search_refuses(boats: MnemeDocumentStore, filters: dict[str, object]) -> None:
    with pytest.raises(FilterError, match="a search"):
        MnemeRetriever(boats).run("boat", filters)
    with pytest.raises(FilterError, match="a search"):
        MnemeRetriever(boats, filters=filters)


def test_filters_of_two_places(boats: MnemeDocumentStore) -> None:
    for policy, ids in (("replace", {"1"}), ("merge", set())):
        retriever = MnemeRetriever(boats, filters=where("meta.kind", "a"), filter_policy=policy)
        found = retriever.run("boat", where("meta.year", 2))["documents"]
        assert {one.meta["citation"]["document_id"] for one in found} == ids


def test_passages_have_citations(store: MnemeDocumentStore, service: Mneme) -> None:
    service.files.upload(store.namespace, ("bees.md", b"# Bees\n\nBees fly to flowers."), metadata={"team": "shop"})
    [one] = MnemeRetriever(store, query={"rerank": True}).run("what do bees do?")["documents"]
    citation = one.meta["citation"]
    assert one.meta["team"] == "shop" and one.score == citation["score"]
    assert (citation["document_id"], citation["heading"], citation["score_kind"]) == ("bees.md", "Bees", "rerank")


def test_a_retriever_is_kept_whole(store: MnemeDocumentStore) -> None:
    given = {"filters": where("meta.a", 1), "top_k": 3, "filter_policy": "merge", "query": {"mode": "keyword"}}
    made = MnemeRetriever(store, **given)
    again = MnemeRetriever.from_dict(made.to_dict())
    assert again.to_dict() == made.to_dict()
    assert made.to_dict()["init_parameters"].items() >= given.items()


def test_another_store_is_refused() -> None:
    with pytest.raises(ValueError, match="no MnemeDocumentStore"):
        MnemeRetriever(object())  # type: ignore[arg-type]
