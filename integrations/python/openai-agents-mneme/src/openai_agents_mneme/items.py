"""Items of the Agents SDK, which are any JSON, as messages of a conversation, and back."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mneme import models

_KEY, _ITEM, _PART, _PARTS = "openai_agents", "item", "part", "parts"
_CONTENT = 60_000  # bytes: the server takes 64 KiB
_METADATA = 30_000
_ROLES = ("user", "assistant", "system", "developer", "tool")
_TEXTS = ("input_text", "output_text", "text")

Item = dict[str, Any]


@dataclass
class Kept:
    """An item with the memories that it is kept in. ``key`` is its place in the order."""

    key: tuple[int, str]
    ids: list[str]
    item: Any


def messages(items: Iterable[Any]) -> list[Item]:
    """The messages of items, in their order. TypeError or ValueError where one is not JSON."""
    made, now = [], _now()
    for index, item in enumerate(items):
        # The order of ids is the order of items, also of those that have one time because they came in one call.
        made.extend(_messages(item, f"{now}-{index:06d}"))
    return made


def calls(made: Sequence[Item], most: int = 100, size: int = 900_000) -> Iterable[list[Item]]:
    """Messages in portions that the server takes in one call."""
    portion: list[Item] = []
    held = 0
    for one in made:
        here = len(one["content"].encode())
        if portion and (len(portion) == most or held + here > size):
            yield portion
            portion, held = [], 0
        portion.append(one)
        held += here
    if portion:
        yield portion


def kept(memories: Iterable[models.Memory]) -> list[Kept]:
    """Whole items, oldest first. One of which a part is missing is left out: it was being written, or deleted."""
    parts: dict[str, list[models.Memory]] = {}
    for one in memories:
        metadata = one.metadata.to_dict()
        parts.setdefault(str(metadata.get(_ITEM, one.id)), []).append(one)
    whole = []
    for id, group in parts.items():
        group.sort(key=lambda one: _number(one, _PART))
        if len(group) == _number(group[0], _PARTS, 1):
            key = str(group[0].metadata.to_dict().get("messageId", id))
            whole.append(Kept((group[0].created_at, key), [one.id for one in group], _restored(group)))
    return sorted(whole, key=lambda one: one.key)


_last = 0


def _now() -> str:
    """Each call's is higher than that of the one before."""
    global _last
    _last = max(_last + 1, time.time_ns())
    return f"{_last:020d}-{uuid.uuid4().hex[:8]}"


def _messages(item: Any, id: str) -> list[Item]:
    role = _role(item)
    whole = json.dumps(item, ensure_ascii=True, allow_nan=False)
    text, frame = _apart(item)
    framed = json.dumps(frame, ensure_ascii=True)
    if _holds(text) and len(framed) <= _METADATA:
        return [{"id": id, "role": role, "content": text, "metadata": {_KEY: framed}}]
    pieces = [whole[start : start + _CONTENT] for start in range(0, len(whole), _CONTENT)]
    return [
        {
            "id": f"{id}-{part:06d}",
            "role": role,
            "content": f"|{piece}|",  # so that no piece is blank
            "metadata": {_ITEM: id, _PART: part, _PARTS: len(pieces)},
        }
        for part, piece in enumerate(pieces)
    ]


def _holds(text: str) -> bool:
    """Whether the server takes a text as it is. Halves of characters and NUL only escapes can say."""
    try:
        return bool(text.strip()) and "\0" not in text and len(text.encode()) <= _CONTENT
    except UnicodeEncodeError:
        return False


def _role(item: Any) -> str:
    if isinstance(item, Mapping):
        if item.get("role") in _ROLES:
            return str(item["role"])
        if str(item.get("type", "")).endswith("_output"):
            return "tool"
    return "assistant"


def _apart(item: Any) -> tuple[str, Any]:
    """The text of a message, which is what is searched, and the rest, with lengths where the text was."""
    if not isinstance(item, dict):
        return "", item
    content = item.get("content")
    if isinstance(content, str):
        return content, {**item, "content": len(content)}
    if not isinstance(content, list):
        return "", item
    texts, blocks = [], []
    for block in content:
        if isinstance(block, dict) and block.get("type") in _TEXTS and isinstance(block.get("text"), str):
            texts.append(block["text"])
            block = {**block, "text": len(block["text"])}
        elif isinstance(block, dict) and block.get("type") in _TEXTS:
            return "", item  # something else stands where a length would
        blocks.append(block)
    return "\n".join(texts), {**item, "content": blocks}


def _restored(group: list[models.Memory]) -> Any:
    metadata, content = group[0].metadata.to_dict(), group[0].content
    if _PARTS in metadata:
        return json.loads("".join(one.content[1:-1] for one in group))
    if _KEY not in metadata:  # remembered by something else
        role = metadata.get("role")
        return {"role": role if role in ("user", "assistant", "system", "developer") else "user", "content": content}
    item = json.loads(metadata[_KEY])
    if isinstance(item["content"], int):
        item["content"] = content
        return item
    start = 0
    for block in item["content"]:
        if isinstance(block, dict) and block.get("type") in _TEXTS:
            length = block["text"]
            block["text"] = content[start : start + length]
            start += length + 1
    return item


def _number(memory: models.Memory, key: str, otherwise: int = 0) -> int:
    return int(memory.metadata.to_dict().get(key, otherwise))
