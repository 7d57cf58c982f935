import asyncio
import os
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import MemoryQueryEvent
from autogen_core import CancellationToken, Image
from autogen_core.memory import ListMemory, Memory, MemoryContent, MemoryMimeType
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import AssistantMessage, SystemMessage, UserMessage
from autogen_ext.models.replay import ReplayChatCompletionClient
from mneme import AsyncMneme, InvalidContainerTagError

from autogen_mneme import MnemeMemory


def said(text: Any, **metadata: Any) -> MemoryContent:
    return MemoryContent(content=text, mime_type=MemoryMimeType.TEXT, metadata=metadata or None)


async def test_contents_come_back_as_they_were_added(client: AsyncMneme, someone: str) -> None:
    memory = MnemeMemory(someone, client)
    assert (await memory.query("anything")).results == (await memory.query("")).results == []
    nested = {"n": None, "deep": {"a": [1, 2]}, "tags": ["x"], "year": 2027, "_json": "mine"}
    lease = {"ends": "2027-05-31", "of": ["shop"]}
    await memory.add(MemoryContent(content="# Cat\n\nIt is called Pixel.", mime_type="text/markdown", metadata=nested))
    await memory.add(MemoryContent(content=lease, mime_type=MemoryMimeType.JSON))
    await memory.add(said("I take no sugar."))
    await memory.add(said("I take no sugar."))
    [best, *_] = (await memory.query("what is the cat called?")).results
    assert (best.content, best.mime_type) == ("# Cat\n\nIt is called Pixel.", "text/markdown")
    assert best.metadata is not None and 0 <= best.metadata.pop("score") <= 1 and best.metadata.pop("id")
    assert best.metadata == nested
    [first] = (await memory.query(said("when does the lease of the shop end?"), limit=1)).results
    assert (first.content, first.mime_type) == (lease, "application/json")
    newest = (await memory.query("", limit=2)).results
    assert [one.content for one in newest] == ["I take no sugar.", lease]
    assert len((await memory.query("")).results) == 3


async def test_scopes(client: AsyncMneme, someone: str) -> None:
    work, home, other = (
        MnemeMemory(someone, client, container_tag="work"),
        MnemeMemory(someone, client, container_tag="home", limit=1),
        MnemeMemory(f"{someone}-2", client),
    )
    await work.add(said("The desk is blue."))
    await home.add(said("The bed is red."))
    await home.add(said("The chair is green."))
    assert [one.content for one in (await work.query("the bed")).results] == ["The desk is blue."]
    assert [one.content for one in (await home.query("where is the bed?")).results] == ["The bed is red."]
    assert (await other.query("the bed")).results == []
    await client.memory.upsert(
        "plan",
        end_user_id=someone,
        source="crm",
        version=1,
        content="Plan: Pro.",
        occurred_at="2026-05-01T00:00:00Z",
        container_tag="home",
    )
    await home.clear()
    assert [one.content for one in (await home.query("")).results] == ["Plan: Pro."]
    assert len((await MnemeMemory(someone, client).query("")).results) == 2
    await MnemeMemory(someone, client).clear()
    assert (await work.query("")).results == []


async def test_more_than_one_deletion(client: AsyncMneme, someone: str) -> None:
    memory = MnemeMemory(someone, client)
    for start in (0, 100):
        contents = [{"content": f"Fact {start + i}."} for i in range(100)][: 100 if start == 0 else 5]
        await client.memory.batch(end_user_id=someone, memories=contents)
    assert len((await memory.query("", limit=300)).results) == 105
    await memory.clear()
    assert (await memory.query("")).results == []


async def test_what_cannot_be_kept_says_so(client: AsyncMneme, someone: str) -> None:
    memory = MnemeMemory(someone, client)
    picture = Image.from_base64(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    for content, kind in ((b"x", MemoryMimeType.BINARY), (picture, MemoryMimeType.IMAGE), ({}, MemoryMimeType.TEXT)):
        wrong = MemoryContent(content=content, mime_type=kind)
        with pytest.raises(TypeError, match="memories are texts"):
            await memory.add(wrong)
        with pytest.raises(TypeError, match="memories are texts"):
            await memory.query(wrong)
    with pytest.raises(InvalidContainerTagError):
        await MnemeMemory(someone, client, container_tag="not a tag").add(said("x"))
    token = CancellationToken()
    token.cancel()
    with pytest.raises(asyncio.CancelledError):
        await memory.add(said("Cancelled."), token)
    assert (await memory.query("")).results == []


async def test_the_context_gets_a_block(client: AsyncMneme, someone: str) -> None:
    memory = MnemeMemory(someone, client, max_tokens=200)
    context = UnboundedChatCompletionContext()
    assert (await memory.update_context(context)).memories.results == []
    await context.add_message(UserMessage(content="What is my cat called?", source="user"))
    assert (await memory.update_context(context)).memories.results == []
    await memory.add(said("My cat is called Pixel."))
    await context.add_message(AssistantMessage(content="I look.", source="assistant"))
    [block] = (await memory.update_context(context)).memories.results
    assert isinstance(block.content, str) and "My cat is called Pixel." in block.content
    assert block.metadata is not None and len(block.metadata["citations"]) == 1 and block.metadata["passages"] == []
    *_, added = await context.get_messages()
    assert isinstance(added, SystemMessage) and "no instruction" in added.content and block.content in added.content

    pictures = UnboundedChatCompletionContext()
    long = "words " * 4000 + "What is my cat called?"
    await pictures.add_message(UserMessage(content=[long], source="user"))
    assert len((await memory.update_context(pictures)).memories.results) == 1


async def test_an_assistant_sees_the_memory(client: AsyncMneme, someone: str) -> None:
    memory = MnemeMemory(someone, client)
    await memory.add(said("My cat is called Pixel."))
    for both in ([memory], [ListMemory(), memory]):
        model = ReplayChatCompletionClient(["Pixel."])
        agent = AssistantAgent("assistant", model, memory=both, system_message="Be brief.")
        result = await agent.run(task="What is my cat called?")
        assert result.messages[-1].content == "Pixel."  # type: ignore[union-attr]
        [event] = [one for one in result.messages if isinstance(one, MemoryQueryEvent)]
        assert "Pixel" in str(event.content[0].content)
        systems = [one.content for one in model.create_calls[0]["messages"] if isinstance(one, SystemMessage)]
        assert systems[0] == "Be brief." and "My cat is called Pixel." in systems[-1]


async def test_it_is_a_component_without_its_key(
    client: AsyncMneme, someone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEME_API_KEY", os.environ["MNEME_INTEGRATION_KEY"])
    agent = AssistantAgent(
        "assistant",
        ReplayChatCompletionClient(["Noted."]),
        memory=[MnemeMemory(someone, container_tag="chat", limit=3, max_tokens=50, passages=0)],
    )
    dumped = agent.dump_component().model_dump_json()
    assert os.environ["MNEME_INTEGRATION_KEY"] not in dumped and someone in dumped
    model = MnemeMemory(someone, client, container_tag="chat", limit=3).dump_component()
    loaded = Memory.load_component(model)
    assert isinstance(loaded, MnemeMemory) and loaded.dump_component() == model
    await loaded.add(said("Kept by the loaded one."))
    assert len((await MnemeMemory(someone, client, container_tag="chat").query("")).results) == 1
    await loaded.close()
    with pytest.raises(RuntimeError):
        await loaded.query("")
    await MnemeMemory(someone, client).close()
    assert (await client.memory.list(end_user_id=someone).first()).memories
    await AssistantAgent.load_component(agent.dump_component()).run(task="Hello.")
