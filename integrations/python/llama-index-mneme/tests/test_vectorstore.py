"""The vector store by itself and under LlamaIndex's own index."""

import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.schema import IndexNode, NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)
from mneme import InvalidIDError, InvalidRequestError, Mneme

from llama_index_mneme import MnemeVectorStore, ServerEmbedding

LONG = "\n\n".join(f"Paragraph {i} tells of keeper number {i} of the light. " * 12 for i in range(6))


def only(*filters: MetadataFilter | MetadataFilters, by: FilterCondition | None = None) -> MetadataFilters:
    return MetadataFilters(filters=list(filters), condition=by)


def where(key: str, value: object, operator: str = "==") -> MetadataFilter:
    return MetadataFilter(key=key, value=value, operator=FilterOperator(operator))  # type: ignore[arg-type]


@pytest.fixture
def store(service: Mneme, namespace: str) -> MnemeVectorStore:
    return MnemeVectorStore(namespace, service)


@pytest.fixture
def four(store: MnemeVectorStore) -> MnemeVectorStore:
    """Two nodes of a document, one of another, one of none."""
    nodes = [
        TextNode(id_="n1", text="One boat is red.", metadata={"kind": "a", "year": 2027, "tags": ["x", "y"]}),
        TextNode(id_="n2", text="Two boats are blue.", metadata={"kind": "b", "year": 2028, "tags": ["y"]}),
        TextNode(id_="n3", text="Three boats are green.", metadata={"kind": "b", "note": None}),
        TextNode(id_="n4", text="Four boats are white."),
    ]
    for one, document in zip(nodes, ("boats", "boats", "greens"), strict=False):
        one.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=document)
    assert store.add(nodes) == ["n1", "n2", "n3", "n4"]
    return store


def found(store: MnemeVectorStore, **fields: object) -> set[str]:
    query = VectorStoreQuery(**{"query_str": "boats", "similarity_top_k": 10, **fields})  # type: ignore[arg-type]
    return set(store.query(query).ids or [])


def left(store: MnemeVectorStore) -> list[str]:
    return [one.node_id for one in store.get_nodes()]


def test_an_index_finds_what_was_inserted(store: MnemeVectorStore) -> None:
    documents = [
        Document(id_="lease", text="The lease ends on 31 May 2027.", metadata={"kind": "lease"}),
        Document(id_="bees", text="Bees fly to flowers.", metadata={"kind": "nature"}),
    ]
    index = VectorStoreIndex.from_documents(
        documents, StorageContext.from_defaults(vector_store=store), embed_model=ServerEmbedding()
    )
    index.insert(Document(id_="gulls", text="Gulls eat fish.", metadata={"kind": "nature"}))
    best = index.as_retriever(similarity_top_k=3).retrieve("when does the lease end?")
    assert best[0].text == "The lease ends on 31 May 2027." and best[0].node.ref_doc_id == "lease"
    assert best[0].score > best[1].score
    natural = index.as_retriever(filters=only(where("kind", "nature")), similarity_top_k=9).retrieve("the lease")
    assert {one.node.ref_doc_id for one in natural} == {"bees", "gulls"}
    index.delete_ref_doc("bees")
    # Another index over the same store finds the same.
    again = VectorStoreIndex.from_vector_store(MnemeVectorStore(store.namespace, store.client), ServerEmbedding())
    texts = {one.text for one in again.as_retriever(similarity_top_k=9).retrieve("bees")}
    assert texts == {"The lease ends on 31 May 2027.", "Gulls eat fish."}
    answer = again.as_query_engine(llm=MockLLM(), similarity_top_k=1).query("when does the lease end?")
    assert answer.source_nodes[0].node.ref_doc_id == "lease" and "31 May 2027" in str(answer)


async def test_an_index_works_async(store: MnemeVectorStore) -> None:
    index = VectorStoreIndex.from_vector_store(store, ServerEmbedding(), use_async=True)
    await index.ainsert_nodes([TextNode(id_="a", text="Gulls eat fish."), TextNode(id_="b", text="Bees fly.")])
    [best] = await index.as_retriever(similarity_top_k=1).aretrieve("what do gulls eat?")
    assert best.node.node_id == "a"
    await store.adelete_nodes(["a"])
    assert [one.node_id for one in await store.aget_nodes()] == ["b"]
    await store.aclear()
    await store.aclear()
    assert await store.aget_nodes() == []


def test_an_index_of_objects(store: MnemeVectorStore) -> None:
    """An index keeps these itself, and asks the store for them by their ids."""
    store.add([TextNode(id_="other", text="Gulls eat fish.")])
    nodes = [IndexNode(id_="table", text="What gulls eat, as a table.", index_id="eaten")]
    index = VectorStoreIndex(
        nodes, storage_context=StorageContext.from_defaults(vector_store=store), embed_model=ServerEmbedding()
    )
    [best] = index.as_retriever(similarity_top_k=5).retrieve("what do gulls eat?")
    assert isinstance(best.node, IndexNode) and best.node.index_id == "eaten"


def test_a_node_comes_back_as_it_was_added(store: MnemeVectorStore) -> None:
    metadata = {
        "n": None,
        "deep": {"a": [1, 2.5]},
        "_node": "mine",
        "_ref_doc_id": "mine",
        "big": 2**60,
        "year": 2027,
        "ok": True,
        "é": "ü",
    }
    nodes = [
        TextNode(
            id_="long", text=LONG, metadata=metadata, excluded_llm_metadata_keys=["n"], text_template="{content}!"
        ),
        TextNode(id_="spaces", text="  Gulls eat fish.\n\n", start_char_idx=3, end_char_idx=20),
    ]
    nodes[1].relationships[NodeRelationship.NEXT] = RelatedNodeInfo(node_id="long", metadata={"x": 1})
    store.add(nodes)
    assert store.get_nodes(["spaces", "missing", "long"]) == [nodes[1], nodes[0]]
    for one, question in zip(nodes, ("keeper number 4 of the light", "what do gulls eat?"), strict=True):
        result = store.query(VectorStoreQuery(query_str=question, similarity_top_k=1))
        assert result.nodes == [one]
    # A node of many passages is found once, and its own metadata make it no document's.
    assert sorted(store.query(VectorStoreQuery(query_str="keeper", similarity_top_k=5)).ids or []) == ["long", "spaces"]
    store.delete("mine")
    assert left(store) == ["long", "spaces"]


def test_documents_of_others_are_nodes(store: MnemeVectorStore, service: Mneme) -> None:
    service.documents.write(store.namespace, [{"id": "d", "text": LONG, "metadata": {"kind": "a"}}])
    [one] = store.query(VectorStoreQuery(query_str="keeper number 4")).nodes or []
    assert (one.node_id, one.get_content(), one.metadata) == ("d", LONG, {"kind": "a"})
    assert left(store) == ["d"]


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        (only(where("kind", "b")), {"n2", "n3"}),
        (only(where("year", 2027)), {"n1"}),
        (only(where("kind", ["a", "c"], "in")), {"n1"}),
        (only(where("tags", "y", "contains")), {"n1", "n2"}),
        (only(where("tags", ["x", "z"], "any")), {"n1"}),
        (only(where("tags", ["x", "y"], "all")), {"n1"}),
        (only(where("kind", "b"), where("year", 2028)), {"n2"}),
        (only(where("kind", "a"), where("year", 2028), by=FilterCondition.OR), {"n1", "n2"}),
        (
            only(where("tags", "y", "contains"), only(where("kind", "a"), where("kind", "c"), by=FilterCondition.OR)),
            {"n1"},
        ),
    ],
)
def test_filters(four: MnemeVectorStore, filters: MetadataFilters, ids: set[str]) -> None:
    assert found(four, filters=filters) == ids


@pytest.mark.parametrize(
    "filters",
    [
        only(where("year", 2027, ">")),
        only(where("kind", "a", "!=")),
        only(where("kind", ["a"], "nin")),
        only(where("kind", "a", "text_match")),
        only(where("kind", None, "is_empty")),
        only(where("kind", None)),
        only(where("kind", "a", "in")),
        only(where("tags", [], "all")),
        only(where("kind", "a"), by=FilterCondition.NOT),
        only(),
    ],
)
def test_filters_that_are_refused(four: MnemeVectorStore, filters: MetadataFilters) -> None:
    with pytest.raises(ValueError, match=r"the server has no filter|restricts nothing"):
        found(four, filters=filters)
    with pytest.raises(ValueError, match=r"the server has no filter|restricts nothing"):
        four.delete_nodes(filters=filters)
    assert left(four) == ["n1", "n2", "n3", "n4"]


def test_documents_and_nodes_restrict(four: MnemeVectorStore) -> None:
    assert found(four, doc_ids=["boats"]) == {"n1", "n2"}
    assert found(four, doc_ids=["boats"], filters=only(where("kind", "b"))) == {"n2"}
    assert found(four, node_ids=["n1", "n4"]) == {"n1", "n4"}
    assert found(four, node_ids=[]) == {"n1", "n2", "n3", "n4"}
    with pytest.raises(ValueError, match="no doc_ids"):
        found(four, doc_ids=[])


def test_get_nodes_has_every_operator(four: MnemeVectorStore) -> None:
    assert [one.node_id for one in four.get_nodes(filters=only(where("year", 2027, ">")))] == ["n2"]
    assert [one.node_id for one in four.get_nodes(["n3", "n2"], only(where("kind", "a", "!=")))] == ["n3", "n2"]
    with pytest.raises(ValueError, match="restricts nothing"):
        four.get_nodes(filters=only())


def test_deletions(four: MnemeVectorStore) -> None:
    four.delete("nothing")
    four.delete_nodes(["n1", "n2"], only(where("kind", "b")))
    assert left(four) == ["n1", "n3", "n4"]
    four.delete("boats")
    four.delete_nodes([])
    four.delete_nodes(["n4", "missing"])
    assert left(four) == ["n3"]
    four.delete_nodes(filters=only(where("kind", "b")))
    assert left(four) == []
    with pytest.raises(ValueError, match="wants ids or a filter"):
        four.delete_nodes()


def test_modes(four: MnemeVectorStore) -> None:
    assert found(four, mode=VectorStoreQueryMode.TEXT_SEARCH, query_str="green") == {"n3"}
    assert found(four, mode=VectorStoreQueryMode.HYBRID, alpha=0.0, query_str="green") == {"n3"}
    assert found(four, mode=VectorStoreQueryMode.HYBRID, alpha=1.0, query_str="green") == {"n1", "n2", "n3", "n4"}
    question = VectorStoreQuery(query_str="which boat is red?", mode=VectorStoreQueryMode.SEMANTIC_HYBRID)
    assert four.query(question, min_score=0.0).ids == ["n1"]  # fused scores have no least one
    plain = four.query(VectorStoreQuery(query_str="green", similarity_top_k=9), mode="keyword")
    assert plain.ids == ["n3"]
    with pytest.raises(InvalidRequestError):
        found(four, mode=VectorStoreQueryMode.SPARSE)


@pytest.mark.parametrize(
    "fields",
    [
        {"query_embedding": [0.1, 0.2]},
        {"mode": VectorStoreQueryMode.MMR},
        {"mode": VectorStoreQueryMode.SVM},
        {"mmr_threshold": 0.5},
        {"hybrid_top_k": 3},
        {"alpha": 0.5},
    ],
)
def test_queries_that_are_refused(four: MnemeVectorStore, fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"the server embeds|no mode|no meaning|weighs"):
        found(four, **fields)


def test_nodes_that_are_refused(store: MnemeVectorStore) -> None:
    good = TextNode(id_="good", text="Bees fly.")
    with pytest.raises(ValueError, match="server embeds"):
        store.add([good, TextNode(text="x", embedding=[0.1])])
    with pytest.raises(ValueError, match="has no text"):
        store.add([good, TextNode(text=" ")])
    with pytest.raises(InvalidIDError):
        store.add([good, TextNode(id_="no spaces", text="x")])
    assert store.get_nodes() == [] and found(store) == set()


def test_more_than_one_write(store: MnemeVectorStore) -> None:
    ids = store.add([TextNode(id_=f"n{i:03d}", text=f"Text {i}.") for i in range(101)])
    assert left(store) == ids
    store.delete_nodes(ids[:100])
    assert left(store) == ["n100"]
