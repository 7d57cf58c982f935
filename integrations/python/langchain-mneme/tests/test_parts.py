"""What LangChain's suites do not ask."""

import json

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables.history import RunnableWithMessageHistory
from mneme import InvalidFilterError, InvalidRequestError, Mneme, NamespaceNotFoundError

from langchain_mneme import MnemeChatMessageHistory, MnemeRetriever, MnemeVectorStore

LONG = "\n\n".join(f"Paragraph {i} tells of keeper number {i} of the light. " * 12 for i in range(6))


def test_a_document_comes_back_as_it_was_added(service: Mneme, namespace: str) -> None:
    store = MnemeVectorStore(namespace, service)
    nested = {
        "n": None,
        "deep": {"a": [1, 2]},
        "tags": ["x", "y"],
        "_json": "mine",
        "big": 2**60,
        "year": 2027,
        "ok": True,
    }
    store.add_texts([LONG, "Short."], [nested, {}], ids=["long", "short"])
    [found] = store.similarity_search("keeper number 4 of the light", k=1)
    assert (found.id, found.page_content, found.metadata) == ("long", LONG, nested)


def test_filters(service: Mneme, namespace: str) -> None:
    kinds = [{"kind": "a"}, {"kind": "b"}, {"kind": "b", "year": 2}]
    store = MnemeVectorStore.from_texts(["one", "two", "three"], metadatas=kinds, namespace=namespace, client=service)
    assert {d.page_content for d in store.similarity_search("one", filter={"kind": "b"})} == {"two", "three"}
    retriever = store.as_retriever(search_kwargs={"filter": {"kind": {"$in": ["a"]}}})
    assert [d.page_content for d in retriever.invoke("two")] == ["one"]
    with pytest.raises(InvalidFilterError):
        store.similarity_search("one", filter={"year": {"$gt": 1}})
    with pytest.raises(ValueError):
        store.delete()
    assert store.delete(filter={"kind": "b"})
    assert [d.page_content for d in store.similarity_search("two")] == ["one"]


def test_scores(service: Mneme, namespace: str) -> None:
    store = MnemeVectorStore(namespace, service)
    store.add_texts(["The lease ends in May 2027.", "Bees fly."])
    [(best, score), (_, other)] = store.similarity_search_with_relevance_scores("when does the lease end?", k=2)
    assert best.page_content.startswith("The lease") and 1 >= score > other >= 0


def test_more_than_one_write(service: Mneme, namespace: str) -> None:
    store = MnemeVectorStore(namespace, service)
    ids = store.add_texts([f"Text {i}." for i in range(101)])
    assert len(store.get_by_ids(ids)) == 101
    store.delete(ids[:100])
    assert [d.id for d in store.get_by_ids(ids)] == [ids[100]]


def test_what_is_not_supported_says_so(service: Mneme, namespace: str) -> None:
    with pytest.raises(ValueError, match="server embeds"):
        MnemeVectorStore.from_texts(["x"], DeterministicFakeEmbedding(size=3), namespace=namespace, client=service)
    store = MnemeVectorStore(namespace, service)
    with pytest.raises(ValueError):
        store.add_texts(["a", "b"], ids=["1"])
    with pytest.raises(InvalidRequestError):
        store.similarity_search("x", k=101)
    with pytest.raises(NamespaceNotFoundError):
        MnemeRetriever(namespace=namespace, client=service).invoke("x")


def test_passages_have_citations(service: Mneme, namespace: str) -> None:
    service.files.upload(namespace, ("bees.md", b"# Bees\n\nBees fly to flowers."), metadata={"team": "shop"})
    [one] = MnemeRetriever(namespace=namespace, client=service, k=1).invoke("what do bees do?")
    assert one.metadata["team"] == "shop" and one.id == f"{namespace}/bees.md"
    assert one.metadata["citation"]["document_id"] == "bees.md" and one.metadata["citation"]["heading"] == "Bees"


def test_messages_come_back_in_order_and_whole(integration: Mneme, namespace: str) -> None:
    history = MnemeChatMessageHistory("ann", namespace, integration)
    call = {"name": "weather", "args": {"city": "Lyon"}, "id": "call-1", "type": "tool_call"}
    said = [
        SystemMessage("Be brief."),
        HumanMessage("Hello", name="Ann"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("rain", tool_call_id="call-1"),
        HumanMessage([{"type": "text", "text": "and now?"}]),
        HumanMessage("Hello"),
        HumanMessage("Hello"),
    ]
    history.add_messages(said[:4])
    for message in said[4:]:
        history.add_message(message)
    assert history.messages == said
    assert MnemeChatMessageHistory("ben", namespace, integration).messages == []
    history.clear()
    assert history.messages == []


async def test_a_long_chat(integration: Mneme, namespace: str) -> None:
    history = MnemeChatMessageHistory("ann", namespace, integration)
    await history.aadd_messages([HumanMessage(f"Message {i}.") for i in range(205)])
    assert [m.content for m in await history.aget_messages()] == [f"Message {i}." for i in range(205)]
    await history.aclear()
    assert await history.aget_messages() == []


def test_what_the_package_of_typescript_kept_is_read(integration: Mneme, namespace: str) -> None:
    beside = {"additional_kwargs": {}, "response_metadata": {}}
    call = {"name": "f", "args": {}, "id": "c", "type": "tool_call"}
    messages = [
        ("user", "Hi", {"type": "human", "data": {"name": "Ann", **beside}}),
        ("assistant", "I look.", {"type": "ai", "data": {"tool_calls": [call], "invalid_tool_calls": [], **beside}}),
        ("tool", "rain", {"type": "tool", "data": {"tool_call_id": "c", **beside}}),
    ]
    integration.memory.remember(
        end_user_id="ann",
        container_tag=namespace,
        messages=[
            {"id": str(i), "role": role, "content": content, "metadata": {"langchain": json.dumps(whole)}}
            for i, (role, content, whole) in enumerate(messages)
        ],
    )
    assert MnemeChatMessageHistory("ann", namespace, integration).messages == [
        HumanMessage("Hi", name="Ann"),
        AIMessage("I look.", tool_calls=[call]),
        ToolMessage("rain", tool_call_id="c"),
    ]


def test_a_chain_remembers(integration: Mneme, namespace: str) -> None:
    chain = RunnableWithMessageHistory(
        FakeListChatModel(responses=["Hi Ann.", "You are Ann."]),
        lambda session_id: MnemeChatMessageHistory("ann", session_id, integration),
    )
    for words in ("I am Ann.", "Who am I?"):
        chain.invoke([HumanMessage(words)], {"configurable": {"session_id": namespace}})
    said = [m.content for m in MnemeChatMessageHistory("ann", namespace, integration).messages]
    assert said == ["I am Ann.", "Hi Ann.", "Who am I?", "You are Ann."]
