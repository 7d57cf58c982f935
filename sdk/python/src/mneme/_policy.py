"""What both clients decide alike: when to try again, and how values become bodies."""

from __future__ import annotations

import datetime
import json
import os
import random
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import anyio
import attrs
import httpx

from ._api.types import UNSET, File, Unset
from .errors import APIConnectionError, APIError, APITimeoutError

# Longer than any time limit of the server, so that its own answer comes first.
DEFAULT_TIMEOUT = 130.0
DEFAULT_RETRIES = 2
# What the server asks to wait is waited up to this; beyond it the error is raised.
LONGEST_WAIT = 60.0

NO_FILE = File(payload=BytesIO())
FileInput = str | os.PathLike[str] | tuple[str, bytes | IO[bytes]]
"""A path, or a name with bytes or an open file."""


def pause_before_retry(failure: Exception, attempt: int, *, repeatable: bool) -> float | None:
    """Seconds to wait before the next attempt, or None where another must not, or need not, be made."""
    backoff: float = random.uniform(0.5, 1) * min(8.0, 0.5 * 2 ** (attempt - 1))
    if isinstance(failure, APIError):
        if failure.status in (429, 503) and failure.retry_after is not None:
            # Nothing was done, so that every call may be repeated.
            return max(failure.retry_after, backoff) if failure.retry_after <= LONGEST_WAIT else None
        if failure.status == 503 and failure.code:
            return None  # something is switched off, and waiting does not help
        return backoff if repeatable and failure.status in (408, 429, 500, 502, 503, 504) else None
    if isinstance(failure, httpx.ConnectError | httpx.ConnectTimeout):
        return backoff  # never sent
    return backoff if repeatable and isinstance(failure, httpx.TransportError) else None


_timeout: ContextVar[float] = ContextVar("timeout", default=DEFAULT_TIMEOUT)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Requests that are sent inside wait so long for the next bytes."""
    before = _timeout.set(seconds)
    try:
        yield
    finally:
        _timeout.reset(before)


def limits() -> dict[str, float | None]:
    seconds = _timeout.get()
    return httpx.Timeout(seconds, connect=min(10.0, seconds)).as_dict()


def told(failure: httpx.TransportError) -> APIConnectionError:
    """The failure of a connection as this package's own."""
    if isinstance(failure, httpx.TimeoutException):
        return APITimeoutError(f"no answer in time: {failure!r}")
    return APIConnectionError(f"{failure!r}")


def json_or_none(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def idempotency_key() -> str:
    return str(uuid.uuid4())


def plain(value: Any) -> Any:
    """A value as JSON has it: models become dicts, times text."""
    if hasattr(value, "to_dict") and attrs.has(type(value)):
        return value.to_dict()
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return value


def body(**fields: Any) -> dict[str, Any]:
    """The fields of a body that were given."""
    return {name: plain(value) for name, value in fields.items() if not isinstance(value, Unset)}


def files(given: Sequence[FileInput]) -> list[File]:
    """Files to upload, read whole, so that the call can be repeated."""
    made = []
    for one in given:
        if isinstance(one, tuple):
            name, content = one
            data = content if isinstance(content, bytes) else content.read()
        else:
            path = Path(one)
            name, data = path.name, path.read_bytes()
        made.append(File(payload=BytesIO(data), file_name=name))
    return made


def form_metadata(metadata: Mapping[str, Any] | None) -> str | Unset:
    return UNSET if metadata is None else json.dumps(plain(metadata), ensure_ascii=False)


async def asleep(seconds: float) -> None:
    await anyio.sleep(seconds)


def sleep(seconds: float) -> None:
    time.sleep(seconds)
