from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.memory_applied import MemoryApplied
from ...types import UNSET, Response, Unset


def _get_kwargs(
    external_id: str,
    *,
    end_user_id: str,
    source: str,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    params: dict[str, Any] = {}

    params["endUserId"] = end_user_id

    params["source"] = source

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/memories/{external_id}".format(
            external_id=quote(str(external_id), safe=""),
        ),
        "params": params,
    }

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
    end_user_id: str,
    source: str,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[MemoryApplied]:
    """Read a source-owned memory's record with its latest receipt

     Scope: `memories:read`. Rate class: `memory_read`.

    Args:
        external_id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or
            digit
        end_user_id (str): 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor ..
        source (str): 1-128 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[MemoryApplied]
    """

    kwargs = _get_kwargs(
        external_id=external_id,
        end_user_id=end_user_id,
        source=source,
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
    end_user_id: str,
    source: str,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> MemoryApplied | None:
    """Read a source-owned memory's record with its latest receipt

     Scope: `memories:read`. Rate class: `memory_read`.

    Args:
        external_id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or
            digit
        end_user_id (str): 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor ..
        source (str): 1-128 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        MemoryApplied
    """

    return sync_detailed(
        external_id=external_id,
        client=client,
        end_user_id=end_user_id,
        source=source,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    external_id: str,
    *,
    client: AuthenticatedClient,
    end_user_id: str,
    source: str,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[MemoryApplied]:
    """Read a source-owned memory's record with its latest receipt

     Scope: `memories:read`. Rate class: `memory_read`.

    Args:
        external_id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or
            digit
        end_user_id (str): 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor ..
        source (str): 1-128 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[MemoryApplied]
    """

    kwargs = _get_kwargs(
        external_id=external_id,
        end_user_id=end_user_id,
        source=source,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    external_id: str,
    *,
    client: AuthenticatedClient,
    end_user_id: str,
    source: str,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> MemoryApplied | None:
    """Read a source-owned memory's record with its latest receipt

     Scope: `memories:read`. Rate class: `memory_read`.

    Args:
        external_id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or
            digit
        end_user_id (str): 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor ..
        source (str): 1-128 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

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
            end_user_id=end_user_id,
            source=source,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
