"""The same commands, given to the SDK's tool for a disk."""

import random
import re
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool
from mneme import AsyncMneme, Mneme

from claude_memory_mneme import AsyncMnemeMemoryTool, MnemeMemoryTool

NAMES = ["a", "b.txt", "dir", "dir/a", "dir/b.txt", "dir/deep/a", "dir/deep/down/a", ".hidden", "dir/.hidden", "é ü.md"]
LINES = ["Ann likes tea.", "two  spaces ", "", "tab\tand\rreturn", "日本語 😀", "Ann", "  ", "x" * 1500]


class Disk:
    """The SDK's tool, with directories that go with their last file."""

    def __init__(self, folder: Path) -> None:
        self.tool = BetaLocalFilesystemMemoryTool(str(folder))

    def call(self, command: dict[str, Any]) -> str:
        try:
            return str(self.tool.call(command))
        finally:
            for directory in sorted(self.tool.memory_root.rglob("*"), reverse=True):
                if directory.is_dir() and not any(directory.iterdir()):
                    directory.rmdir()


def commands(rng: random.Random, count: int) -> list[dict[str, Any]]:
    return [command(rng) for _ in range(count)]


def command(rng: random.Random) -> dict[str, Any]:
    def path() -> str:
        name = rng.choice(NAMES)
        return rng.choice([f"/memories/{name}"] * 8 + ["/memories", "/memories/", f"/memories//{name}/", "/etc/passwd"])

    def text() -> str:
        return "\n".join(rng.choices(LINES, k=rng.randint(0, 5))) + rng.choice(["", "\n", "\n\n"])

    kind = rng.choice(["view"] * 3 + ["create"] * 4 + ["str_replace", "insert", "insert", "delete", "rename", "rename"])
    match kind:
        case "view":
            ranges = [None, None, [1, 2], [2, -1], [0, 1], [3, 2], [90, 99]]
            return {"command": kind, "path": path(), "view_range": rng.choice(ranges)}
        case "create":
            return {"command": kind, "path": path(), "file_text": text()}
        case "str_replace":
            old = rng.choice(["Ann", "tea", "\n", "", "x" * 1400, "absent", "  "])
            return {"command": kind, "path": path(), "old_str": old, "new_str": rng.choice(["", "Ben\nand", "tea"])}
        case "insert":
            return {"command": kind, "path": path(), "insert_line": rng.randint(-1, 6), "insert_text": text()}
        case "delete":
            return {"command": kind, "path": path()}
    return {"command": kind, "old_path": path(), "new_path": path()}


def compare(expected: object, got: object, asked: dict[str, Any]) -> None:
    if isinstance(expected, OSError):  # it has no words for it
        assert isinstance(got, ToolError), (asked, expected, got)
        return
    assert (type(got), sized(str(got))) == (type(expected), sized(str(expected))), asked


def sized(answer: str) -> str:
    """Without the sizes of directories, which are the disk's."""
    if not answer.startswith("Here're"):
        return answer
    first, root, *rest = answer.split("\n")
    return "\n".join(
        [first, *(re.sub(r"^\S+\t", "\t", one) if one[-1] == "/" or one is root else one for one in (root, *rest))]
    )


@pytest.mark.parametrize("seed", range(3))
def test_it_answers_as_the_disk_does(seed: int, integration: Mneme, user: str, tmp_path: Path) -> None:
    ours, disk = MnemeMemoryTool(user, integration), Disk(tmp_path)
    answered = 0
    for asked in commands(random.Random(seed), 120):
        results: list[object] = []
        for tool in (disk, ours):
            try:
                results.append(tool.call(asked))
            except (ToolError, OSError) as failure:
                results.append(failure)
        compare(*results, asked)
        answered += isinstance(results[0], str)
    assert answered > 30
    assert ours.clear_all_memory() == "All memory cleared"
    assert len(str(ours.call({"command": "view", "path": "/memories"})).split("\n")) == 2


async def test_the_async_one_does_too(async_integration: AsyncMneme, user: str, tmp_path: Path) -> None:
    ours, disk = AsyncMnemeMemoryTool(user, async_integration), Disk(tmp_path)
    for asked in commands(random.Random(7), 80):
        results: list[object] = []
        try:
            results.append(disk.call(asked))
        except (ToolError, OSError) as failure:
            results.append(failure)
        try:
            results.append(await ours.call(asked))
        except (ToolError, OSError) as failure:
            results.append(failure)
        compare(*results, asked)
    assert await ours.clear_all_memory() == "All memory cleared"
