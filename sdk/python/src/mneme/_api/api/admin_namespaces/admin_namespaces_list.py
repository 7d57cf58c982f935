from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.admin_namespaces import AdminNamespaces
from ...types import UNSET, Response, Unset


def _get_kwargs(
    org: str,
    *,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    prefix: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    params: dict[str, Any] = {}

    params["limit"] = limit

    params["cursor"] = cursor

    params["prefix"] = prefix

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/admin/v1/organizations/{org}/namespaces".format(
            org=quote(str(org), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AdminNamespaces | None:
    if response.status_code == 200:
        response_200 = AdminNamespaces.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AdminNamespaces]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    org: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    prefix: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AdminNamespaces]:
    """List namespaces, and whether their vectors are of the configured models

     Rate class: `admin`.

    Args:
        org (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        prefix (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AdminNamespaces]
    """

    kwargs = _get_kwargs(
        org=org,
        limit=limit,
        cursor=cursor,
        prefix=prefix,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    org: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    prefix: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AdminNamespaces | None:
    """List namespaces, and whether their vectors are of the configured models

     Rate class: `admin`.

    Args:
        org (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        prefix (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AdminNamespaces
    """

    return sync_detailed(
        org=org,
        client=client,
        limit=limit,
        cursor=cursor,
        prefix=prefix,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    org: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    prefix: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AdminNamespaces]:
    """List namespaces, and whether their vectors are of the configured models

     Rate class: `admin`.

    Args:
        org (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        prefix (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AdminNamespaces]
    """

    kwargs = _get_kwargs(
        org=org,
        limit=limit,
        cursor=cursor,
        prefix=prefix,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    org: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    prefix: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AdminNamespaces | None:
    """List namespaces, and whether their vectors are of the configured models

     Rate class: `admin`.

    Args:
        org (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        prefix (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AdminNamespaces
    """

    return (
        await asyncio_detailed(
            org=org,
            client=client,
            limit=limit,
            cursor=cursor,
            prefix=prefix,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
