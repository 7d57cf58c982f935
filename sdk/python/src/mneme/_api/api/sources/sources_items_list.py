from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.source_items import SourceItems
from ...models.sources_items_list_status import (
    SourcesItemsListStatus,
)
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    status: SourcesItemsListStatus | Unset = UNSET,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    params: dict[str, Any] = {}

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status

    params["status"] = json_status

    params["prefix"] = prefix

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/sources/{id}/items".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> SourceItems | None:
    if response.status_code == 200:
        response_200 = SourceItems.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[SourceItems]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    status: SourcesItemsListStatus | Unset = UNSET,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[SourceItems]:
    """List what is kept of a source's items

     Rate class: `admin`.

    Args:
        id (str):
        status (SourcesItemsListStatus | Unset):
        prefix (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[SourceItems]
    """

    kwargs = _get_kwargs(
        id=id,
        status=status,
        prefix=prefix,
        limit=limit,
        cursor=cursor,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    status: SourcesItemsListStatus | Unset = UNSET,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> SourceItems | None:
    """List what is kept of a source's items

     Rate class: `admin`.

    Args:
        id (str):
        status (SourcesItemsListStatus | Unset):
        prefix (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        SourceItems
    """

    return sync_detailed(
        id=id,
        client=client,
        status=status,
        prefix=prefix,
        limit=limit,
        cursor=cursor,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    status: SourcesItemsListStatus | Unset = UNSET,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[SourceItems]:
    """List what is kept of a source's items

     Rate class: `admin`.

    Args:
        id (str):
        status (SourcesItemsListStatus | Unset):
        prefix (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[SourceItems]
    """

    kwargs = _get_kwargs(
        id=id,
        status=status,
        prefix=prefix,
        limit=limit,
        cursor=cursor,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    status: SourcesItemsListStatus | Unset = UNSET,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> SourceItems | None:
    """List what is kept of a source's items

     Rate class: `admin`.

    Args:
        id (str):
        status (SourcesItemsListStatus | Unset):
        prefix (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        SourceItems
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            status=status,
            prefix=prefix,
            limit=limit,
            cursor=cursor,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
