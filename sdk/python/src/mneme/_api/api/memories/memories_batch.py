from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.memory_batch import MemoryBatch
from ...models.memory_saved_batch import MemorySavedBatch
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: MemoryBatch,
    idempotency_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/memories/batch",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> MemorySavedBatch | None:
    if response.status_code == 200:
        response_200 = MemorySavedBatch.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[MemorySavedBatch]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: MemoryBatch,
    idempotency_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[MemorySavedBatch]:
    """Save up to 100 memories of one end user

     Results are one for one in input order; a failed item does not fail the others. The batch counts
    against quota before any write.

    Scope: `memories:write`. Rate class: `memory_write`.

    Args:
        idempotency_key (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (MemoryBatch):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[MemorySavedBatch]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: MemoryBatch,
    idempotency_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> MemorySavedBatch | None:
    """Save up to 100 memories of one end user

     Results are one for one in input order; a failed item does not fail the others. The batch counts
    against quota before any write.

    Scope: `memories:write`. Rate class: `memory_write`.

    Args:
        idempotency_key (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (MemoryBatch):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        MemorySavedBatch
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: MemoryBatch,
    idempotency_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[MemorySavedBatch]:
    """Save up to 100 memories of one end user

     Results are one for one in input order; a failed item does not fail the others. The batch counts
    against quota before any write.

    Scope: `memories:write`. Rate class: `memory_write`.

    Args:
        idempotency_key (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (MemoryBatch):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[MemorySavedBatch]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: MemoryBatch,
    idempotency_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> MemorySavedBatch | None:
    """Save up to 100 memories of one end user

     Results are one for one in input order; a failed item does not fail the others. The batch counts
    against quota before any write.

    Scope: `memories:write`. Rate class: `memory_write`.

    Args:
        idempotency_key (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (MemoryBatch):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        MemorySavedBatch
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
