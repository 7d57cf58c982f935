"""The six commands over the records of one end user, written once for both kinds of client.

Each command is a generator of calls. Whoever runs it makes each call and sends the answer back or throws the error.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from anthropic.lib.tools import ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)
from mneme import ConflictError, MemoryNotFoundError, MnemeError, UnexpectedAnswerError

from .paths import ROOT, cleaned, parents

T = TypeVar("T")
Call = Callable[[Any], Any]
Steps = Generator[Call, Any, T]

SOURCE = "claude-memory"
_MAX_LINES = 999_999
_WIDTH = 6
_ATTEMPTS = 20
_DIRECTORY_SIZE = 4096  # what most disks say


@dataclass
class File:
    """A file as it is stored."""

    path: str
    text: str
    version: int
    written: datetime  # when it was made: a list stays in its order while files are edited


@dataclass
class Tree:
    """The files of one end user. There is a directory where there is a file below it."""

    files: dict[str, File] = field(default_factory=dict)

    def is_directory(self, path: str) -> bool:
        return path == ROOT or any(one.startswith(path + "/") for one in self.files)

    def holds(self, path: str) -> bool:
        return path in self.files or self.is_directory(path)

    def below(self, path: str) -> list[File]:
        return [one for name, one in sorted(self.files.items()) if name.startswith(path + "/")]

    def blocked(self, path: str) -> str | None:
        """The file that stands where a path wants a directory."""
        return next((one for one in parents(path) if one in self.files), None)

    def listing(self, directory: str, shown: str) -> list[str]:
        """Lines of what is in a directory, two levels deep, without hidden names."""
        lines = []
        for name in self._names(directory):
            lines.append(self._line(f"{directory}/{name}", f"{shown}/{name}"))
            if self.is_directory(f"{directory}/{name}"):
                for inner in self._names(f"{directory}/{name}"):
                    lines.append(self._line(f"{directory}/{name}/{inner}", f"{shown}/{name}/{inner}"))
        return lines

    def _names(self, directory: str) -> list[str]:
        start = len(directory) + 1
        names = {one.path[start:].split("/")[0] for one in self.below(directory)}
        return sorted(name for name in names if not name.startswith("."))

    def _line(self, path: str, shown: str) -> str:
        if path in self.files:
            return f"{_size(len(self.files[path].text.encode()))}\t{shown}"
        return f"{_size(_DIRECTORY_SIZE)}\t{shown}/"


class Commands:
    """What the tool answers, in the words of the SDK's tool for a disk."""

    def __init__(self, end_user_id: str, container_tag: str) -> None:
        self.end_user_id, self.container_tag = end_user_id, container_tag

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> Steps[str]:
        path, tree = cleaned(command.path), (yield from self._tree())
        if tree.is_directory(path):
            return "\n".join(
                [
                    f"Here're the files and directories up to 2 levels deep in {command.path}, excluding hidden items:",
                    f"{_size(_DIRECTORY_SIZE)}\t{command.path}",
                    *tree.listing(path, command.path),
                ]
            )
        if path not in tree.files:
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        lines, first = tree.files[path].text.split("\n"), 1
        if len(lines) > _MAX_LINES:
            raise ToolError(f"File {command.path} exceeds maximum line limit of 999,999 lines.")
        if command.view_range and len(command.view_range) == 2:
            first = max(1, command.view_range[0])
            lines = lines[first - 1 : len(lines) if command.view_range[1] == -1 else command.view_range[1]]
        return f"Here's the content of {command.path} with line numbers:\n" + "\n".join(_numbered(lines, first))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> Steps[str]:
        path, tree = cleaned(command.path), (yield from self._tree())
        if tree.holds(path) or not (yield from self._make(tree, path, command.path, command.file_text)):
            raise ToolError(f"File {command.path} already exists")
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> Steps[str]:
        def edit(text: str) -> tuple[str, str]:
            old, places = command.old_str, _places(text, command.old_str)
            if not places:
                raise ToolError(
                    f"No replacement was performed, old_str `{old}` did not appear verbatim in {command.path}."
                )
            if text.count(old) > 1:
                lines = ", ".join(str(text[:place].count("\n") + 1) for place in places)
                raise ToolError(
                    f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
                    "Please ensure it is unique"
                )
            edited, changed = text.replace(old, command.new_str), text[: places[0]].count("\n")
            first = max(0, changed - 2)
            snippet = _numbered(edited.split("\n")[first : changed + 3], first + 1)
            answer = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
            return edited, "\n".join([answer, *snippet])

        return (yield from self._edit(command.path, edit))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> Steps[str]:
        def edit(text: str) -> tuple[str, str]:
            lines = text.split("\n")
            if lines[-1] == "":
                lines.pop()
            if not 0 <= command.insert_line <= len(lines):
                raise ToolError(
                    f"Invalid `insert_line` parameter: {command.insert_line}. "
                    f"It should be within the range [0, {len(lines)}]."
                )
            lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
            edited = "\n".join(lines)
            return edited if edited.endswith("\n") else edited + "\n", f"The file {command.path} has been edited."

        return (yield from self._edit(command.path, edit))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> Steps[str]:
        path = cleaned(command.path)
        if path == ROOT:
            raise ToolError(f"Cannot delete the {ROOT} directory itself")
        tree = yield from self._tree()
        if not tree.holds(path):
            raise ToolError(f"The path {command.path} does not exist")
        for file in [tree.files[path]] if path in tree.files else tree.below(path):
            yield from self._remove(file)
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> Steps[str]:
        """Each file is written under its new name before the old one goes, so that none is lost halfway."""
        old, new = cleaned(command.old_path), cleaned(command.new_path)
        if old == ROOT:
            raise ToolError(f"Cannot rename the {ROOT} directory itself")
        tree = yield from self._tree()
        if tree.holds(new):
            raise ToolError(f"The destination {command.new_path} already exists")
        if not tree.holds(old):
            raise ToolError(f"The path {command.old_path} does not exist")
        if new.startswith(old + "/"):
            raise ToolError(f"Cannot rename {command.old_path} to {command.new_path}, which lies below it")
        for file in [tree.files[old]] if old in tree.files else tree.below(old):
            moved = new + file.path[len(old) :]
            if not (yield from self._make(tree, moved, command.new_path, file.text)):
                raise ToolError(f"The destination {command.new_path} already exists")
            try:
                yield from self._put(file.path, file.version + 1, file.written, None)
            except ConflictError as conflict:
                raise ToolError(
                    f"The path {command.old_path} was changed at the same time; what it was is in {command.new_path}"
                ) from conflict
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear(self) -> Steps[str]:
        for file in (yield from self._tree()).files.values():
            yield from self._remove(file)
        return "All memory cleared"

    def _tree(self) -> Steps[Tree]:
        tree, cursor = Tree(), None
        while True:
            page = yield self._list(cursor)
            for one in page.memories:
                if one.source == SOURCE:
                    file = _stored(one)
                    tree.files[file.path] = file
            cursor = page.next_cursor
            if not cursor:
                return tree

    def _edit(self, shown: str, edit: Callable[[str], tuple[str, str]]) -> Steps[str]:
        """Read, change, write. Where somebody else wrote in between, the change is made to what they wrote."""
        path = cleaned(shown)
        for attempt in range(_ATTEMPTS):
            tree = yield from self._tree()
            if not tree.holds(path):
                raise ToolError(f"The path {shown} does not exist. Please provide a valid path.")
            if path not in tree.files:
                raise ToolError(f"The path {shown} is not a file.")
            file = tree.files[path]
            text, answer = edit(file.text)
            try:
                yield from self._put(path, file.version + 1, file.written, text)
            except ConflictError:
                if attempt == _ATTEMPTS - 1:
                    raise
            else:
                return answer
        raise AssertionError("unreachable")

    def _make(self, tree: Tree, path: str, shown: str, text: str) -> Steps[bool]:
        """Write a file that is not there; False where it is, by now."""
        if (file := tree.blocked(path)) is not None:
            raise ToolError(f"The path {shown} cannot be created: {file} is a file")
        version, now = 1, datetime.fromtimestamp(time.time_ns() // 1_000_000 / 1000, UTC)
        for _ in range(_ATTEMPTS):
            try:
                yield from self._put(path, version, now, text)
            except ConflictError:
                # There is one, or there was one that was deleted: its record keeps count.
                try:
                    record = (yield self._get(path)).record
                except MemoryNotFoundError:
                    continue  # another call makes it just now
                if record.status == "active":
                    return False
                version = record.version + 1
            else:
                return True
        return False

    def _remove(self, file: File) -> Steps[None]:
        version = file.version + 1
        for _ in range(_ATTEMPTS):
            try:
                return (yield from self._put(file.path, version, file.written, None))
            except ConflictError:
                record = (yield self._get(file.path)).record
                if record.status == "tombstoned":
                    return None
                version = record.version + 1
        raise ToolError(f"The path {file.path} is being changed all the time")

    def _list(self, cursor: str | None) -> Call:
        after = {"cursor": cursor} if cursor else {}
        who = {"end_user_id": self.end_user_id, "container_tag": self.container_tag}
        return lambda memory: memory.list(**who, **after, limit=100).first()

    def _get(self, path: str) -> Call:
        id = self._id(path)
        return lambda memory: memory.get(id, end_user_id=self.end_user_id, source=SOURCE)

    def _put(self, path: str, version: int, written: datetime, text: str | None) -> Steps[None]:
        who = {"end_user_id": self.end_user_id, "source": SOURCE, "version": version}
        id = self._id(path)
        if text is None:
            yield lambda memory: memory.tombstone(id, **who)
            return
        # The edit's own id, since the same change made by two is not one change that was sent twice.
        metadata: dict[str, Any] = {"path": path, "version": version, "edit": uuid.uuid4().hex}
        if not text.strip():
            metadata["text"] = text  # there is nothing to search but the name
        yield lambda memory: memory.upsert(
            id,
            **who,
            content=text if text.strip() else path,
            occurred_at=written,
            container_tag=self.container_tag,
            metadata=metadata,
        )

    def _id(self, path: str) -> str:
        return hashlib.sha256(f"{self.container_tag}\0{path}".encode()).hexdigest()


def failed(failure: MnemeError | UnicodeEncodeError) -> ToolError:
    """An error of the server or of the way to it, for the assistant."""
    return ToolError(f"The memory did not take this: {getattr(failure, 'message', None) or failure}")


def _stored(memory: Any) -> File:
    metadata = memory.metadata.to_dict()
    path, version = metadata.get("path"), metadata.get("version")
    if not isinstance(path, str) or not isinstance(version, (int, float)):
        raise UnexpectedAnswerError(f"the memory {memory.id} is no file")
    written = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=memory.created_at)
    return File(path, metadata.get("text", memory.content), int(version), written)


def _places(text: str, part: str) -> list[int]:
    """Where a part begins, also where two overlap."""
    places, start = [], text.find(part)
    while start != -1:
        places.append(start)
        start = text.find(part, start + 1)
    return places


def _numbered(lines: list[str], first: int) -> list[str]:
    return [f"{first + i:>{_WIDTH}}\t{line}" for i, line in enumerate(lines)]


def _size(size: int) -> str:
    if size == 0:
        return "0B"
    step = min((size.bit_length() - 1) // 10, 3)
    scaled = size / 1024**step
    return f"{int(scaled)}{'BKMG'[step]}" if scaled == int(scaled) else f"{scaled:.1f}{'BKMG'[step]}"
