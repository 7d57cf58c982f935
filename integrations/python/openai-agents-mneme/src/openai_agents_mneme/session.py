"""A session of the Agents SDK."""

from __future__ import annotations

import re

from agents.items import TResponseInputItem
from agents.memory import SessionABC, SessionSettings
from mneme import AsyncMneme, models

from .items import Kept, calls, kept, messages

_AT_ONCE = 100
_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


class MnemeSession(SessionABC):
    """One conversation of an end user. What was said is searched with all other memories of them.

    Args:
        end_user_id: whose conversation it is.
        session_id: which one, as a container tag: 1 to 128 characters of A-Z a-z 0-9 . _ : -.
        client: a client with an integration key; otherwise one of MNEME_URL and MNEME_API_KEY.
        session_settings: ``limit`` is how many items a run sees, unless it says otherwise.
    """

    def __init__(
        self,
        end_user_id: str,
        session_id: str,
        client: AsyncMneme | None = None,
        *,
        session_settings: SessionSettings | None = None,
    ) -> None:
        if not _ID.fullmatch(session_id):
            raise ValueError(f"a session's id has 1 to 128 characters of A-Z a-z 0-9 . _ : -, unlike {session_id!r}")
        self.end_user_id, self.session_id, self.client = end_user_id, session_id, client or AsyncMneme()
        self.session_settings = session_settings or SessionSettings()

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The latest ``limit`` items, all of them without one, oldest first."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        if limit == 0:
            return []
        items = [one.item for one in await self._kept(limit)]
        return items if limit is None or limit < 0 else items[-limit:]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items at the end. As many as fit in one call, a hundred at most, are kept whole or not at all."""
        for portion in calls(messages(items)):
            await self.client.memory.remember(
                end_user_id=self.end_user_id, container_tag=self.session_id, messages=portion
            )

    async def pop_item(self) -> TResponseInputItem | None:
        """Take away the latest item; None without one. Two that pop at the same time get two items."""
        while found := await self._kept(1):
            # Its first part decides whose it is.
            if (await self._delete(found[-1].ids[:1])) == 1:
                await self._delete(found[-1].ids[1:])
                item: TResponseInputItem = found[-1].item
                return item
        return None

    async def clear_session(self) -> None:
        """Forget this conversation."""
        await self._delete([one.id for one in await self._memories(None)])

    async def _delete(self, ids: list[str]) -> int:
        deleted = 0
        for start in range(0, len(ids), _AT_ONCE):
            answer = await self.client.memory.delete(end_user_id=self.end_user_id, ids=ids[start : start + _AT_ONCE])
            deleted += answer.deleted
        return deleted

    async def _kept(self, limit: int | None) -> list[Kept]:
        return kept(await self._memories(limit))

    async def _memories(self, limit: int | None) -> list[models.Memory]:
        """Memories, newest first: enough for ``limit`` items, with all that have the time of the oldest."""
        found: list[models.Memory] = []
        listed = self.client.memory.list(end_user_id=self.end_user_id, container_tag=self.session_id, limit=_AT_ONCE)
        async for page in listed.pages():
            found.extend(one for one in page.memories if one.source is None)  # records are their source's
            if limit is not None and limit > 0 and found:
                # Those of the last time may go on on the next page.
                settled = [one for one in found if one.created_at > found[-1].created_at]
                if len(settled) >= limit and len(kept(settled)) >= limit:
                    return settled
        return found
