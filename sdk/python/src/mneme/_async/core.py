"""Calls an operation of the generated layer, again where that is safe, and pages through lists."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Generic, Self, TypeVar

import httpx

from .. import _policy, errors
from .._api.client import AuthenticatedClient
from .._api.types import UNSET, Response, Unset

T = TypeVar("T")
Item = TypeVar("Item")
Page = TypeVar("Page")


async def _raise_errors(response: httpx.Response) -> None:
    # The generated layer knows answers of success only.
    if response.status_code >= 300:
        content = await response.aread()
        raise errors.from_answer(response.status_code, response.headers, _policy.json_or_none(content))


async def _limit_time(request: httpx.Request) -> None:
    # The generated layer has no time-out of a call.
    request.extensions["timeout"] = _policy.limits()


class AsyncCore:
    """A connection pool with a key, a time-out and a number of retries."""

    def __init__(
        self, base_url: str, api_key: str, *, timeout: float, max_retries: int, http_client: httpx.AsyncClient | None
    ) -> None:
        self.timeout, self.max_retries = timeout, max_retries
        self._base_url, self._api_key = base_url.rstrip("/"), api_key
        self._owned = http_client is None
        self.http = http_client or httpx.AsyncClient(limits=httpx.Limits(max_connections=100))
        hooks = self.http.event_hooks
        if _raise_errors not in hooks["response"]:
            hooks["request"].append(_limit_time)
            hooks["response"].append(_raise_errors)
            self.http.event_hooks = hooks
        self.http.base_url = httpx.URL(self._base_url)
        self.http.headers.update({"Authorization": f"Bearer {api_key}"} if api_key else {})
        self._api = AuthenticatedClient(base_url=self._base_url, token=api_key).set_async_httpx_client(self.http)

    def with_options(self, *, timeout: float | None, max_retries: int | None) -> Self:
        """The same pool under other limits."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        if timeout is not None:
            made.timeout = timeout
        if max_retries is not None:
            made.max_retries = max_retries
        return made

    def longer(self, seconds: float) -> Self:
        """The same with so much time besides."""
        return self.with_options(timeout=self.timeout + seconds, max_retries=None)

    async def again(self, attempt: Callable[[], Awaitable[T]], *, repeatable: bool) -> T:
        """Attempts until one succeeds, must not be repeated, or is one too many."""
        done = 0
        while True:
            done += 1
            try:
                return await attempt()
            except (httpx.TransportError, errors.APIError) as failure:
                pause = _policy.pause_before_retry(failure, done, repeatable=repeatable)
                if pause is None or done > self.max_retries:
                    if isinstance(failure, httpx.TransportError):
                        raise _policy.told(failure) from failure
                    raise
            await _policy.asleep(pause)

    async def call(
        self,
        operation: Callable[..., Awaitable[Response[Any]]],
        answer: type[T],
        *path: str,
        repeatable: bool = True,
        **parameters: Any,
    ) -> T:
        """Calls the operation with path, parameters and body, and returns what it answers."""
        return await self.again(lambda: self.once(operation, answer, *path, **parameters), repeatable=repeatable)

    async def once(
        self, operation: Callable[..., Awaitable[Response[Any]]], answer: type[T], *path: str, **parameters: Any
    ) -> T:
        """The same, and never again."""
        with _policy.within(self.timeout):
            response = await operation(*path, client=self._api, x_timeout_ms=self._limit(), **parameters)
        if not isinstance(response.parsed, answer):
            raise errors.UnexpectedAnswerError(f"status {response.status_code} with {response.parsed!r}")
        return response.parsed

    async def text(self, operation: Callable[..., Awaitable[Response[Any]]], **parameters: Any) -> str:
        """What an operation answers that speaks no JSON."""

        async def attempt() -> str:
            with _policy.within(self.timeout):
                response = await operation(client=self._api, **parameters)
            return response.content.decode()

        return await self.again(attempt, repeatable=True)

    async def json(self, request: Mapping[str, Any]) -> Any:
        """What a request answers that must not be repeated."""

        async def attempt() -> Any:
            with _policy.within(self.timeout):
                return (await self.http.request(**request)).json()

        return await self.again(attempt, repeatable=False)

    @asynccontextmanager
    async def stream(self, request: Mapping[str, Any]) -> AsyncIterator[httpx.Response]:
        """An answer whose body comes as it is read; only its beginning is tried again."""

        async def attempt() -> httpx.Response:
            with _policy.within(self.timeout):
                return await self.http.send(self.http.build_request(**request), stream=True)

        response = await self.again(attempt, repeatable=True)
        try:
            yield response
        except httpx.TransportError as failure:
            raise _policy.told(failure) from failure
        finally:
            await response.aclose()

    async def lines(self, request: Mapping[str, Any]) -> AsyncIterator[Any]:
        """The objects of an export in JSON lines, as they come."""
        async with self.stream(request) as response:
            async for line in response.aiter_lines():
                if line:
                    yield _policy.json_or_none(line.encode())

    def _limit(self) -> int | Unset:
        # The server stops with the client, but only a client that asked for less needs to say so.
        return UNSET if self.timeout >= _policy.DEFAULT_TIMEOUT else max(1, int(self.timeout * 1000))

    async def aclose(self) -> None:
        if self._owned:
            await self.http.aclose()


class AsyncResource:
    """Operations about one kind of thing."""

    def __init__(self, core: AsyncCore) -> None:
        self._core = core


class AsyncPager(Generic[Item, Page]):
    """A list that is fetched page by page while it is iterated.

    ``async for`` goes over items, ``pages()`` over pages, ``first()`` fetches one page.
    """

    def __init__(
        self,
        fetch: Callable[[str | Unset], Awaitable[Page]],
        items: Callable[[Page], list[Item]],
        following: Callable[[Page], str | Unset | None],
        cursor: str | Unset,
    ) -> None:
        self._fetch, self._items, self._following, self._cursor = fetch, items, following, cursor

    async def first(self) -> Page:
        return await self._fetch(self._cursor)

    async def pages(self) -> AsyncIterator[Page]:
        cursor: str | Unset = self._cursor
        while True:
            page = await self._fetch(cursor)
            yield page
            following = self._following(page)
            if not following:
                return
            cursor = following

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self.pages():
            for item in self._items(page):
                yield item
