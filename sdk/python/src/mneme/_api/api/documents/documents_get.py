from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.document import Document
from ...models.documents_get_include_item import (
    DocumentsGetIncludeItem,
)
from ...types import UNSET, Response, Unset


def _get_kwargs(
    namespace: str,
    id: str,
    *,
    include: list[DocumentsGetIncludeItem] | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    params: dict[str, Any] = {}

    json_include: list[str] | Unset = UNSET
    if not isinstance(include, Unset):
        json_include = []
        for include_item_data in include:
            include_item: str = include_item_data
            json_include.append(include_item)

    params["include"] = json_include

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/namespaces/{namespace}/documents/{id}".format(
            namespace=quote(str(namespace), safe=""),
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | Document | None:
    if response.status_code == 200:
        response_200 = Document.from_dict(response.json())

        return response_200

    if response.status_code == 304:
        response_304 = cast(Any, None)
        return response_304

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Any | Document]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    namespace: str,
    id: str,
    *,
    client: AuthenticatedClient,
    include: list[DocumentsGetIncludeItem] | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[Any | Document]:
    """Read a document

     Rate class: `read`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        include (list[DocumentsGetIncludeItem] | Unset):
        if_none_match (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Document]
    """

    kwargs = _get_kwargs(
        namespace=namespace,
        id=id,
        include=include,
        if_none_match=if_none_match,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    namespace: str,
    id: str,
    *,
    client: AuthenticatedClient,
    include: list[DocumentsGetIncludeItem] | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Any | Document | None:
    """Read a document

     Rate class: `read`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        include (list[DocumentsGetIncludeItem] | Unset):
        if_none_match (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Document
    """

    return sync_detailed(
        namespace=namespace,
        id=id,
        client=client,
        include=include,
        if_none_match=if_none_match,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    namespace: str,
    id: str,
    *,
    client: AuthenticatedClient,
    include: list[DocumentsGetIncludeItem] | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[Any | Document]:
    """Read a document

     Rate class: `read`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        include (list[DocumentsGetIncludeItem] | Unset):
        if_none_match (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Document]
    """

    kwargs = _get_kwargs(
        namespace=namespace,
        id=id,
        include=include,
        if_none_match=if_none_match,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    namespace: str,
    id: str,
    *,
    client: AuthenticatedClient,
    include: list[DocumentsGetIncludeItem] | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Any | Document | None:
    """Read a document

     Rate class: `read`.

    Args:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        id (str): 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit
        include (list[DocumentsGetIncludeItem] | Unset):
        if_none_match (str | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Document
    """

    return (
        await asyncio_detailed(
            namespace=namespace,
            id=id,
            client=client,
            include=include,
            if_none_match=if_none_match,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
