from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.admin_reindex import AdminReindex
from ...models.admin_reindexing import AdminReindexing
from ...types import UNSET, Response, Unset


def _get_kwargs(
    org: str,
    namespace: str,
    *,
    body: AdminReindex | Unset = UNSET,
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
        "url": "/admin/v1/organizations/{org}/namespaces/{namespace}/reindex".format(
            org=quote(str(org), safe=""),
            namespace=quote(str(namespace), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

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
    body: AdminReindex | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AdminReindexing]:
    """Recompute a namespace's vectors with the configured models

     202 while it goes on in the background; GET says how far it is. A second generation of the namespace
    is built beside the one that is served, both are compared by the same queries, and then the new one
    is served in its place; queries and writes go on throughout if the previous model is loaded
    (roles.previous). The replaced generation is kept for `back` until it is discarded. A namespace
    whose vectors are already of the configured models is left alone unless `force` is true.

    Rate class: `admin`.

    Args:
        org (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (AdminReindex | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AdminReindexing]
    """

    kwargs = _get_kwargs(
        org=org,
        namespace=namespace,
        body=body,
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
    body: AdminReindex | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AdminReindexing | None:
    """Recompute a namespace's vectors with the configured models

     202 while it goes on in the background; GET says how far it is. A second generation of the namespace
    is built beside the one that is served, both are compared by the same queries, and then the new one
    is served in its place; queries and writes go on throughout if the previous model is loaded
    (roles.previous). The replaced generation is kept for `back` until it is discarded. A namespace
    whose vectors are already of the configured models is left alone unless `force` is true.

    Rate class: `admin`.

    Args:
        org (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (AdminReindex | Unset):

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
        body=body,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    org: str,
    namespace: str,
    *,
    client: AuthenticatedClient,
    body: AdminReindex | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[AdminReindexing]:
    """Recompute a namespace's vectors with the configured models

     202 while it goes on in the background; GET says how far it is. A second generation of the namespace
    is built beside the one that is served, both are compared by the same queries, and then the new one
    is served in its place; queries and writes go on throughout if the previous model is loaded
    (roles.previous). The replaced generation is kept for `back` until it is discarded. A namespace
    whose vectors are already of the configured models is left alone unless `force` is true.

    Rate class: `admin`.

    Args:
        org (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (AdminReindex | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AdminReindexing]
    """

    kwargs = _get_kwargs(
        org=org,
        namespace=namespace,
        body=body,
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
    body: AdminReindex | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> AdminReindexing | None:
    """Recompute a namespace's vectors with the configured models

     202 while it goes on in the background; GET says how far it is. A second generation of the namespace
    is built beside the one that is served, both are compared by the same queries, and then the new one
    is served in its place; queries and writes go on throughout if the previous model is loaded
    (roles.previous). The replaced generation is kept for `back` until it is discarded. A namespace
    whose vectors are already of the configured models is left alone unless `force` is true.

    Rate class: `admin`.

    Args:
        org (str):
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (AdminReindex | Unset):

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
            body=body,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
