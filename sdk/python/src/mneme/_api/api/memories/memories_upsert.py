from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.memory_applied import MemoryApplied
from ...models.memory_upsert import MemoryUpsert
from ...types import UNSET, Response, Unset


def _get_kwargs(
    external_id: str,
    *,
    body: MemoryUpsert,
    x_mneme_grant: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_mneme_grant, Unset):
        headers["X-Mneme-Grant"] = x_mneme_grant

    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/api/v1/memories/{external_id}".format(
            external_id=quote(str(external_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> MemoryApplied | None:
    if response.status_code == 200:
        response_200 = MemoryApplied.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[MemoryApplied]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    external_id: str,
    *,
    client: AuthenticatedClient,
    body: MemoryUpsert,
    x_mneme_grant: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[MemoryApplied]:
    """Write a version of a source-owned memory

     Versions only rise. The same request again answers the stored receipt with the header Idempotent-
    Replayed: true. With X-Mneme-Grant, which an integration may require, the grant must be live.

    Scope: `memories:write`. Rate class: `memory_write`.

    Args:
        external_id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or
            digit
        x_mneme_grant (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (MemoryUpsert):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[MemoryApplied]
    """

    kwargs = _get_kwargs(
        external_id=external_id,
        body=body,
        x_mneme_grant=x_mneme_grant,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    external_id: str,
    *,
    client: AuthenticatedClient,
    body: MemoryUpsert,
    x_mneme_grant: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> MemoryApplied | None:
    """Write a version of a source-owned memory

     Versions only rise. The same request again answers the stored receipt with the header Idempotent-
    Replayed: true. With X-Mneme-Grant, which an integration may require, the grant must be live.

    Scope: `memories:write`. Rate class: `memory_write`.

    Args:
        external_id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or
            digit
        x_mneme_grant (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (MemoryUpsert):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        MemoryApplied
    """

    return sync_detailed(
        external_id=external_id,
        client=client,
        body=body,
        x_mneme_grant=x_mneme_grant,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    external_id: str,
    *,
    client: AuthenticatedClient,
    body: MemoryUpsert,
    x_mneme_grant: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[MemoryApplied]:
    """Write a version of a source-owned memory

     Versions only rise. The same request again answers the stored receipt with the header Idempotent-
    Replayed: true. With X-Mneme-Grant, which an integration may require, the grant must be live.

    Scope: `memories:write`. Rate class: `memory_write`.

    Args:
        external_id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or
            digit
        x_mneme_grant (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (MemoryUpsert):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[MemoryApplied]
    """

    kwargs = _get_kwargs(
        external_id=external_id,
        body=body,
        x_mneme_grant=x_mneme_grant,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    external_id: str,
    *,
    client: AuthenticatedClient,
    body: MemoryUpsert,
    x_mneme_grant: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> MemoryApplied | None:
    """Write a version of a source-owned memory

     Versions only rise. The same request again answers the stored receipt with the header Idempotent-
    Replayed: true. With X-Mneme-Grant, which an integration may require, the grant must be live.

    Scope: `memories:write`. Rate class: `memory_write`.

    Args:
        external_id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or
            digit
        x_mneme_grant (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (MemoryUpsert):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        MemoryApplied
    """

    return (
        await asyncio_detailed(
            external_id=external_id,
            client=client,
            body=body,
            x_mneme_grant=x_mneme_grant,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
