from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.create_namespace import CreateNamespace
from ...models.namespace_created import NamespaceCreated
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: CreateNamespace,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/namespaces",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> NamespaceCreated | None:
    if response.status_code == 200:
        response_200 = NamespaceCreated.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[NamespaceCreated]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateNamespace,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[NamespaceCreated]:
    """Create a namespace

     Needed only for a namespace with a sparse index, of one language, or with an embedding model of its
    own; otherwise the first write creates it. Idempotent.

    Rate class: `write`.

    Args:
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (CreateNamespace):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[NamespaceCreated]
    """

    kwargs = _get_kwargs(
        body=body,
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
    body: CreateNamespace,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> NamespaceCreated | None:
    """Create a namespace

     Needed only for a namespace with a sparse index, of one language, or with an embedding model of its
    own; otherwise the first write creates it. Idempotent.

    Rate class: `write`.

    Args:
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (CreateNamespace):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        NamespaceCreated
    """

    return sync_detailed(
        client=client,
        body=body,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateNamespace,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[NamespaceCreated]:
    """Create a namespace

     Needed only for a namespace with a sparse index, of one language, or with an embedding model of its
    own; otherwise the first write creates it. Idempotent.

    Rate class: `write`.

    Args:
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (CreateNamespace):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[NamespaceCreated]
    """

    kwargs = _get_kwargs(
        body=body,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: CreateNamespace,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> NamespaceCreated | None:
    """Create a namespace

     Needed only for a namespace with a sparse index, of one language, or with an embedding model of its
    own; otherwise the first write creates it. Idempotent.

    Rate class: `write`.

    Args:
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (CreateNamespace):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        NamespaceCreated
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
