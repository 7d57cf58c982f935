"""The messages of a chat as memories of an end user."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Sequence

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
from mneme import Mneme, models

_AT_ONCE = 100
_KEY = "langchain"
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
_KINDS = {"user": "human", "assistant": "ai", "system": "system", "developer": "system", "tool": "human"}


class MnemeChatMessageHistory(BaseChatMessageHistory):
    """One conversation of an end user. What was said is searched with all other memories of them.

    Args:
        end_user_id: whose conversation it is.
        session_id: which one, as a container tag: 1 to 128 characters of A-Z a-z 0-9 . _ : -.
        client: a client with an integration key; otherwise one of MNEME_URL and MNEME_API_KEY.
    """

    def __init__(self, end_user_id: str, session_id: str, client: Mneme | None = None) -> None:
        super().__init__()
        self.end_user_id, self.session_id, self.client = end_user_id, session_id, client or Mneme()

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """All of them, oldest first."""
        kept = sorted(self._kept(), key=lambda one: (one.created_at, str(one.metadata.to_dict().get("messageId", ""))))
        return messages_from_dict([_restored(one) for one in kept])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages at the end; each hundred of them is kept whole or not at all."""
        made = [_stored(message) for message in messages]
        for start in range(0, len(made), _AT_ONCE):
            self.client.memory.remember(
                end_user_id=self.end_user_id,
                container_tag=self.session_id,
                messages=made[start : start + _AT_ONCE],
            )

    def clear(self) -> None:
        """Forget this conversation."""
        ids = [one.id for one in self._kept()]
        for start in range(0, len(ids), _AT_ONCE):
            self.client.memory.delete(end_user_id=self.end_user_id, ids=ids[start : start + _AT_ONCE])

    def _kept(self) -> list[models.Memory]:
        return list(
            self.client.memory.list(end_user_id=self.end_user_id, container_tag=self.session_id, limit=_AT_ONCE)
        )


_last = 0


def _message_id() -> str:
    """Ids in the order in which they are made, since messages of one call share its time."""
    global _last
    _last = max(_last + 1, time.time_ns())
    return f"{_last:020d}-{uuid.uuid4().hex[:8]}"


def _stored(message: BaseMessage) -> dict[str, object]:
    whole = message_to_dict(message)
    content = message.content if isinstance(message.content, str) else ""
    if content.strip():
        whole["data"].pop("content")  # it is the memory's own
    else:
        # Blocks, or nothing but tool calls: the whole is the content, and their text is what is found.
        content = json.dumps(whole, ensure_ascii=False)
        whole = {}
    return {
        "id": _message_id(),
        "role": _ROLES.get(message.type, "user"),
        "content": content,
        "metadata": {_KEY: json.dumps(whole, ensure_ascii=False)},
    }


def _restored(memory: models.Memory) -> dict[str, object]:
    metadata = memory.metadata.to_dict()
    if _KEY not in metadata:  # remembered by something else
        kind = _KINDS.get(str(metadata.get("role")), "human")
        return {"type": kind, "data": {"type": kind, "content": memory.content}}
    whole = json.loads(metadata[_KEY]) or json.loads(memory.content)
    whole["data"].setdefault("content", memory.content)
    return dict(whole)
