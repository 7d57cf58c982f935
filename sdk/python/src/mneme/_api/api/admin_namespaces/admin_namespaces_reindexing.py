from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.admin_reindexing import AdminReindexing
from ...types import UNSET, Response, Unset


def _get_kwargs(
    org: str,
    namespace: str,
    *,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/admin/v1/organizations/{org}/namespaces/{namespace}/reindex".format(
            org=quote(str(org), safe=""),
            namespace=quote(str(namespace), safe=""),
        ),
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AdminReindexing | None:
    if response.status_code == 200:
        response_200 = AdminReindexing.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = AdminReindexing.from_dict(response.json())

        return response_202

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AdminReindexing]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    org: str,
    namespace: str,
    *,
    client: AuthenticatedClient,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AdminReindexing]:
    """Say how far the reindexing of a namespace is

     Rate class: `admin`.

    Args:
        org (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AdminReindexing]
    """

    kwargs = _get_kwargs(
        org=org,
        namespace=namespace,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    org: str,
    namespace: str,
    *,
    client: AuthenticatedClient,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AdminReindexing | None:
    """Say how far the reindexing of a namespace is

     Rate class: `admin`.

    Args:
        org (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AdminReindexing
    """

    return sync_detailed(
        org=org,
        namespace=namespace,
        client=client,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    org: str,
    namespace: str,
    *,
    client: AuthenticatedClient,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AdminReindexing]:
    """Say how far the reindexing of a namespace is

     Rate class: `admin`.

    Args:
        org (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AdminReindexing]
    """

    kwargs = _get_kwargs(
        org=org,
        namespace=namespace,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    org: str,
    namespace: str,
    *,
    client: AuthenticatedClient,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AdminReindexing | None:
    """Say how far the reindexing of a namespace is

     Rate class: `admin`.

    Args:
        org (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AdminReindexing
    """

    return (
        await asyncio_detailed(
            org=org,
            namespace=namespace,
            client=client,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
