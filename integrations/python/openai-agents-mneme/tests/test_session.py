import asyncio
import random
from typing import Any

import pytest
from agents import Agent, ModelResponse, RunConfig, Runner, SQLiteSession, Usage, function_tool
from agents.memory import Session, SessionSettings
from agents.models.interface import Model
from mneme import AsyncMneme
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from openai_agents_mneme import MnemeSession

ITEMS: list[Any] = [
    {"role": "user", "content": "Hello"},
    {"role": "user", "content": "Hello"},
    {"role": "user", "content": "Hello"},
    {"role": "developer", "content": "  Be\r\nbrief.\n\n"},
    {"role": "user", "content": ""},
    {"role": "user", "content": " \n"},
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [
            {"type": "output_text", "text": "A 😀 first.", "annotations": [], "logprobs": None},
            {"type": "refusal", "refusal": "No."},
            {"type": "output_text", "text": "", "annotations": []},
            {"type": "output_text", "text": "A\nsecond.", "annotations": [{"start_index": 1}]},
        ],
    },
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": None}]},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Lyon"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "rain"},
    {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "x"}]},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "z" * 50_000},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "What is this?"},
            {"type": "input_image", "image_url": "data:image/png;base64," + "iVBORw0K" * 20_000, "detail": "auto"},
        ],
    },
    {"role": "user", "content": "é" * 40_000},
    {"role": "user", "content": "half \ud800 of one"},
    {"type": "odd", "content": {"deep": [1, 2.5, None, True, {"big": 2**70}]}, "$key": "", "": []},
    {"role": "user", "content": "nul \0 inside"},
]


async def test_items_come_back_equal_and_in_order(client: AsyncMneme, session_id: str) -> None:
    session = MnemeSession("ann", session_id, client)
    assert isinstance(session, Session)
    assert await session.get_items() == [] and await session.pop_item() is None
    await session.add_items(ITEMS[:5])
    for one in ITEMS[5:8]:
        await session.add_items([one])
    await session.add_items([])
    await session.add_items(ITEMS[8:])
    assert await session.get_items() == ITEMS
    for limit in (-1, 0, 1, 4, 5, 8, len(ITEMS), 1000):
        wanted = ITEMS if limit < 0 else ITEMS[len(ITEMS) - min(limit, len(ITEMS)) :]
        assert await session.get_items(limit) == wanted
    for one in reversed(ITEMS):
        assert await session.pop_item() == one
    assert await session.pop_item() is None
    assert [one async for one in client.memory.list(end_user_id="ann", container_tag=session_id)] == []


async def test_more_than_one_call_and_page(client: AsyncMneme, session_id: str) -> None:
    session = MnemeSession("ann", session_id, client, session_settings=SessionSettings(limit=3))
    items: list[Any] = [{"role": "user", "content": f"Message {i}."} for i in range(205)]
    await session.add_items(items)
    assert await session.get_items() == items[-3:]
    for limit in (99, 100, 101, 150, 205, 300):
        assert await session.get_items(limit) == items[-limit:]
    await session.clear_session()
    assert await session.get_items() == []


async def test_it_does_what_the_sdks_own_does(client: AsyncMneme, session_id: str) -> None:
    rng, ours, theirs = random.Random(1), MnemeSession("ann", session_id, client), SQLiteSession(session_id)
    for step in range(40):
        match rng.choice(["add", "add", "add", "get", "get", "pop", "clear"]):
            case "add":
                items: list[Any] = [{"role": "user", "content": f"{step} {i}"} for i in range(rng.randint(0, 4))]
                await ours.add_items(items)
                await theirs.add_items(items)
            case "get":
                limit = rng.choice([None, -1, 0, 1, 2, 5])
                assert await ours.get_items(limit) == await theirs.get_items(limit)
            case "pop":
                assert await ours.pop_item() == await theirs.pop_item()
            case "clear":
                if rng.random() < 0.3:
                    await ours.clear_session()
                    await theirs.clear_session()
    assert await ours.get_items() == await theirs.get_items()


async def test_adds_and_pops_at_the_same_time(client: AsyncMneme, session_id: str) -> None:
    session = MnemeSession("ann", session_id, client)
    added: list[list[Any]] = [[{"role": "user", "content": f"{who} {i}"} for i in range(5)] for who in range(8)]
    await asyncio.gather(*(MnemeSession("ann", session_id, client).add_items(one) for one in added))
    got = await session.get_items()
    assert len(got) == 40
    # What one call added lies together, in its order.
    assert sorted(map(repr, (got[i : i + 5] for i in range(0, 40, 5)))) == sorted(map(repr, added))
    popped = await asyncio.gather(*(session.pop_item() for _ in range(6)))
    left = await session.get_items()
    assert sorted(map(repr, [*popped, *left])) == sorted(map(repr, got))


async def test_sessions_are_one_persons(client: AsyncMneme, session_id: str) -> None:
    ann, ben, other = (
        MnemeSession("ann", session_id, client),
        MnemeSession("ben", session_id, client),
        MnemeSession("ann", f"{session_id}-2", client),
    )
    await ann.add_items([{"role": "user", "content": "My cat is called Pixel."}])
    assert await ben.get_items() == await other.get_items() == []
    await ben.clear_session()
    found = await client.memory.search(end_user_id="ann", query="what is the cat's name?", container_tag=session_id)
    assert [one.matched_content for one in found.results] == ["My cat is called Pixel."]
    await client.memory.save(end_user_id="ann", content="Said elsewhere.", container_tag=session_id)
    await client.memory.upsert(
        session_id,
        end_user_id="ann",
        source="crm",
        version=1,
        content="Plan: Pro.",
        occurred_at="2026-05-01T00:00:00Z",
        container_tag=session_id,
    )
    assert (await ann.get_items())[1:] == [{"role": "user", "content": "Said elsewhere."}]
    await ann.clear_session()
    left = [one async for one in client.memory.list(end_user_id="ann", container_tag=session_id)]
    assert [one.external_id for one in left] == [session_id]


async def test_what_cannot_be_kept_says_so(client: AsyncMneme, session_id: str) -> None:
    for wrong in ("", "a b", "x" * 129, "a/b", "a\n"):
        with pytest.raises(ValueError, match="session's id"):
            MnemeSession("ann", wrong, client)
    session = MnemeSession("ann", session_id, client)
    wanted: list[Any] = [{"role": "user", "content": object()}, {"content": float("nan")}]
    for item in wanted:
        with pytest.raises((TypeError, ValueError)):
            await session.add_items([{"role": "user", "content": "before"}, item])
    assert await session.get_items() == []


class FakeModel(Model):
    """Answers that are prepared; it keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.asked = list(answers), list[Any]()

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **options: Any) -> ModelResponse:
        self.asked.append(input)
        return ModelResponse(output=[self.answers.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **options: Any) -> Any:
        raise NotImplementedError


def said(text: str) -> ResponseOutputMessage:
    block = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(id="msg", type="message", role="assistant", status="completed", content=[block])


@function_tool
def weather(city: str) -> str:
    """Of a city."""
    return f"rain in {city}"


async def test_the_second_turn_sees_the_first(client: AsyncMneme, session_id: str) -> None:
    call = ResponseFunctionToolCall(type="function_call", call_id="c1", name="weather", arguments='{"city": "Lyon"}')
    model = FakeModel(call, said("Rain, Ann."), said("You are Ann."))
    agent = Agent(name="Assistant", model=model, tools=[weather])
    quiet = RunConfig(tracing_disabled=True)
    first = await Runner.run(
        agent, "I am Ann. How is Lyon?", session=MnemeSession("ann", session_id, client), run_config=quiet
    )
    second = await Runner.run(agent, "Who am I?", session=MnemeSession("ann", session_id, client), run_config=quiet)
    assert (first.final_output, second.final_output) == ("Rain, Ann.", "You are Ann.")
    seen = model.asked[-1]
    assert [one.get("type", one.get("role")) for one in seen] == [
        "user",
        "function_call",
        "function_call_output",
        "message",
        "user",
    ]
    assert seen[0]["content"] == "I am Ann. How is Lyon?" and seen[2]["output"] == "rain in Lyon"
    assert len(await MnemeSession("ann", session_id, client).get_items()) == 6
