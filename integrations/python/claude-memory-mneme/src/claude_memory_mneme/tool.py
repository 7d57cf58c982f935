"""The tool in its two kinds."""

from __future__ import annotations

from typing import TypeVar

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)
from mneme import AsyncMneme, Mneme, MnemeError

from .files import Commands, Steps, failed

T = TypeVar("T")
CONTAINER = "claude-memory"


class MnemeMemoryTool(BetaAbstractMemoryTool):
    """Claude's memory tool over the memories of one end user.

    Args:
        end_user_id: whose files they are.
        client: a client with an integration key; otherwise one of MNEME_URL and MNEME_API_KEY.
        container_tag: keeps files of several assistants apart: 1 to 128 characters of A-Z a-z 0-9 . _ : -.
        cache_control: as the SDK's tools take it.
    """

    def __init__(
        self,
        end_user_id: str,
        client: Mneme | None = None,
        *,
        container_tag: str = CONTAINER,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._commands, self._client = Commands(end_user_id, container_tag), client or Mneme()

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return self._run(self._commands.view(command))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return self._run(self._commands.create(command))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return self._run(self._commands.str_replace(command))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return self._run(self._commands.insert(command))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return self._run(self._commands.delete(command))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return self._run(self._commands.rename(command))

    def clear_all_memory(self) -> str:
        """Delete all files of this end user in this container."""
        return self._run(self._commands.clear())

    def _run(self, steps: Steps[T]) -> T:
        try:
            call = next(steps)
            while True:
                try:
                    answer = call(self._client.memory)
                except MnemeError as failure:
                    call = steps.throw(failure)
                else:
                    call = steps.send(answer)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        except (MnemeError, UnicodeEncodeError) as failure:
            raise failed(failure) from failure


class AsyncMnemeMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for ``AsyncAnthropic``, with an ``AsyncMneme``."""

    def __init__(
        self,
        end_user_id: str,
        client: AsyncMneme | None = None,
        *,
        container_tag: str = CONTAINER,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._commands, self._client = Commands(end_user_id, container_tag), client or AsyncMneme()

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await self._run(self._commands.view(command))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await self._run(self._commands.create(command))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return await self._run(self._commands.str_replace(command))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return await self._run(self._commands.insert(command))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await self._run(self._commands.delete(command))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await self._run(self._commands.rename(command))

    async def clear_all_memory(self) -> str:
        """Delete all files of this end user in this container."""
        return await self._run(self._commands.clear())

    async def _run(self, steps: Steps[T]) -> T:
        try:
            call = next(steps)
            while True:
                try:
                    answer = await call(self._client.memory)
                except MnemeError as failure:
                    call = steps.throw(failure)
                else:
                    call = steps.send(answer)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        except (MnemeError, UnicodeEncodeError) as failure:
            raise failed(failure) from failure
