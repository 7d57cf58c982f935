from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.document_page import DocumentPage
from ...models.documents_list_order import (
    DocumentsListOrder,
)
from ...types import UNSET, Response, Unset


def _get_kwargs(
    namespace: str,
    *,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    prefix: str | Unset = UNSET,
    source_id: str | Unset = UNSET,
    order: DocumentsListOrder | Unset = "id",
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

    params["source_id"] = source_id

    json_order: str | Unset = UNSET
    if not isinstance(order, Unset):
        json_order = order

    params["order"] = json_order

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/namespaces/{namespace}/documents".format(
            namespace=quote(str(namespace), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> DocumentPage | None:
    if response.status_code == 200:
        response_200 = DocumentPage.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[DocumentPage]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    namespace: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    prefix: str | Unset = UNSET,
    source_id: str | Unset = UNSET,
    order: DocumentsListOrder | Unset = "id",
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[DocumentPage]:
    """List documents

     Rate class: `read`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        prefix (str | Unset):
        source_id (str | Unset):
        order (DocumentsListOrder | Unset):  Default: 'id'.
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DocumentPage]
    """

    kwargs = _get_kwargs(
        namespace=namespace,
        limit=limit,
        cursor=cursor,
        prefix=prefix,
        source_id=source_id,
        order=order,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    namespace: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    prefix: str | Unset = UNSET,
    source_id: str | Unset = UNSET,
    order: DocumentsListOrder | Unset = "id",
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> DocumentPage | None:
    """List documents

     Rate class: `read`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        prefix (str | Unset):
        source_id (str | Unset):
        order (DocumentsListOrder | Unset):  Default: 'id'.
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DocumentPage
    """

    return sync_detailed(
        namespace=namespace,
        client=client,
        limit=limit,
        cursor=cursor,
        prefix=prefix,
        source_id=source_id,
        order=order,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    namespace: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    prefix: str | Unset = UNSET,
    source_id: str | Unset = UNSET,
    order: DocumentsListOrder | Unset = "id",
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[DocumentPage]:
    """List documents

     Rate class: `read`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        prefix (str | Unset):
        source_id (str | Unset):
        order (DocumentsListOrder | Unset):  Default: 'id'.
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DocumentPage]
    """

    kwargs = _get_kwargs(
        namespace=namespace,
        limit=limit,
        cursor=cursor,
        prefix=prefix,
        source_id=source_id,
        order=order,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    namespace: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    prefix: str | Unset = UNSET,
    source_id: str | Unset = UNSET,
    order: DocumentsListOrder | Unset = "id",
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> DocumentPage | None:
    """List documents

     Rate class: `read`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        prefix (str | Unset):
        source_id (str | Unset):
        order (DocumentsListOrder | Unset):  Default: 'id'.
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DocumentPage
    """

    return (
        await asyncio_detailed(
            namespace=namespace,
            client=client,
            limit=limit,
            cursor=cursor,
            prefix=prefix,
            source_id=source_id,
            order=order,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
