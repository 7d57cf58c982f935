"""What a disk does not show."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.lib.tools import ToolError
from mneme import AsyncMneme, Mneme

from claude_memory_mneme import AsyncMnemeMemoryTool, MnemeMemoryTool


def create(path: str, text: str = "words") -> dict[str, str]:
    return {"command": "create", "path": path, "file_text": text}


def view(path: str) -> dict[str, str]:
    return {"command": "view", "path": path}


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "memories/a",
        "/memoriesfoo/a",
        "/memories/../a",
        "/memories/a/../../b",
        "/memories/a/..",
        "/memories/%2e%2e/a",
        "/memories/%2E%2E%2Fa",
        "/memories/%252e%252e/a",
        "/memories/..\\a",
        "/memories/a%5cb",
        "/memories/a\0b",
        "/memories/a%00b",
        "/memories/a\nb",
        "/memories/\ud800",
        "/memories/" + "a" * 1100,
        "",
    ],
)
def test_paths_that_are_refused(path: str, integration: Mneme, user: str) -> None:
    tool = MnemeMemoryTool(user, integration)
    tool.call(create("/memories/inside"))
    for asked in (
        view(path),
        create(path),
        {"command": "str_replace", "path": path, "old_str": "a", "new_str": "b"},
        {"command": "insert", "path": path, "insert_line": 0, "insert_text": "a"},
        {"command": "delete", "path": path},
        {"command": "rename", "old_path": path, "new_path": "/memories/other"},
        {"command": "rename", "old_path": "/memories/inside", "new_path": path},
    ):
        with pytest.raises(ToolError):
            tool.call(asked)
    assert [one.metadata["path"] for one in integration.memory.list(end_user_id=user)] == ["/memories/inside"]


def test_a_file_is_a_memory_that_is_found(integration: Mneme, user: str) -> None:
    text = "# Ann\r\n\r\n  Her lease ends in May 2027.\n\n"
    MnemeMemoryTool(user, integration).call(create("/memories/people/ann.md", text))
    [found] = integration.memory.search(end_user_id=user, query="when does the lease end?").results
    assert (found.metadata["path"], found.container_tag) == ("/memories/people/ann.md", "claude-memory")
    [kept] = integration.memory.list(end_user_id=user)
    assert kept.content == text


def test_files_are_one_persons_and_one_containers(integration: Mneme, user: str) -> None:
    ann, ben = MnemeMemoryTool(user, integration), MnemeMemoryTool(f"{user}-ben", integration)
    work = MnemeMemoryTool(user, integration, container_tag="work")
    for tool in (ann, ben, work):
        tool.call(create("/memories/notes", f"of {id(tool)}"))
    integration.memory.save(end_user_id=user, content="No file.", container_tag="work")
    for tool in (ann, ben, work):
        assert str(tool.call(view("/memories/notes"))).endswith(f"of {id(tool)}")
    ben.clear_all_memory()
    for tool in (ann, work):
        assert str(tool.call(view("/memories"))).endswith("/memories/notes")
    with pytest.raises(ToolError):
        ben.call(view("/memories/notes"))


def test_more_files_than_a_page(integration: Mneme, user: str) -> None:
    tool = MnemeMemoryTool(user, integration)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: tool.call(create(f"/memories/{i:03}", f"File {i}.")), range(103)))
    assert str(tool.call(view("/memories"))).count("\n") == 104
    tool.call({"command": "delete", "path": "/memories/000"})
    assert str(tool.call(view("/memories"))).count("\n") == 103


def test_edits_at_the_same_time_are_all_kept(integration: Mneme, user: str) -> None:
    tool = MnemeMemoryTool(user, integration)
    tool.call(create("/memories/log", ""))
    line = {"command": "insert", "path": "/memories/log", "insert_line": 0, "insert_text": "the same line"}
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(tool.call, [line] * 12))
    assert str(tool.call(view("/memories/log"))).count("the same line") == 12


def test_one_of_those_that_make_a_file_makes_it(integration: Mneme, user: str) -> None:
    tool = MnemeMemoryTool(user, integration)
    for _ in range(2):  # the second time over what was deleted

        def make(i: int) -> str:
            try:
                return str(tool.call(create("/memories/one", f"Of {i}.")))
            except ToolError as failure:
                return str(failure)

        with ThreadPoolExecutor(6) as pool:
            answers = sorted(pool.map(make, range(6)))
        made = "File created successfully at: /memories/one"
        assert answers == ["File /memories/one already exists"] * 5 + [made]
        tool.call({"command": "delete", "path": "/memories/one"})


def test_what_the_server_refuses_is_told(integration: Mneme, user: str) -> None:
    tool = MnemeMemoryTool(user, integration)
    for asked in (create("/memories/big", "word " * 20_000), create("/memories/odd", "\ud800")):
        with pytest.raises(ToolError, match="did not take this"):
            tool.call(asked)
    with pytest.raises(ToolError, match="/memories/file is a file"):
        tool.call(create("/memories/file"))
        tool.call(create("/memories/file/below"))
    gone = MnemeMemoryTool(user, Mneme("http://127.0.0.1:9", "cint_none", max_retries=0))
    with pytest.raises(ToolError, match="did not take this"):
        gone.call(view("/memories"))


def test_it_is_declared_as_the_sdk_declares_it(integration: Mneme) -> None:
    tool = MnemeMemoryTool("ann", integration, cache_control={"type": "ephemeral"})
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory", "cache_control": {"type": "ephemeral"}}


class Claude:
    """Messages as the API answers them, one after the other."""

    def __init__(self, *inputs: dict[str, Any]) -> None:
        self.blocks: list[dict[str, Any]] = [
            {"type": "tool_use", "id": f"toolu_{i}", "name": "memory", "input": one} for i, one in enumerate(inputs)
        ]
        self.blocks.append({"type": "text", "text": "Done."})
        self.asked: list[dict[str, Any]] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(json.loads(request.content))
        block = self.blocks[len(self.asked) - 1]
        answer = {
            "id": f"msg_{len(self.asked)}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-5-5",
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return httpx2.Response(200, json=answer)

    def results(self) -> list[tuple[str, bool]]:
        """What the tool answered, and whether as an error."""
        given = [one["messages"][-1]["content"][0] for one in self.asked[1:]]
        return [(one["content"], one.get("is_error", False)) for one in given]


ASKED = [
    view("/memories"),
    create("/memories/tea.md", "Ann likes tea.\n"),
    create("/memories/tea.md", "again"),
    view("/memories/tea.md"),
]
WANTED = [
    (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n4K\t/memories",
        False,
    ),
    ("File created successfully at: /memories/tea.md", False),
    ("File /memories/tea.md already exists", True),
    ("Here's the content of /memories/tea.md with line numbers:\n     1\tAnn likes tea.\n     2\t", False),
]
RUN: dict[str, Any] = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Remember that I like tea."}],
}


def test_the_sdk_runs_it(integration: Mneme, user: str) -> None:
    claude = Claude(*ASKED)
    client = Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(claude)))
    last = client.beta.messages.tool_runner(tools=[MnemeMemoryTool(user, integration)], **RUN).until_done()
    assert last.content[0].type == "text" and claude.results() == WANTED
    assert claude.asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]


async def test_the_async_sdk_runs_it(async_integration: AsyncMneme, user: str) -> None:
    claude = Claude(*ASKED)
    client = AsyncAnthropic(api_key="none", http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(claude)))
    await client.beta.messages.tool_runner(tools=[AsyncMnemeMemoryTool(user, async_integration)], **RUN).until_done()
    assert claude.results() == WANTED
