from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.sources import Sources
from ...models.sources_list_state import SourcesListState
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    kind: str | Unset = UNSET,
    state: SourcesListState | Unset = UNSET,
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

    params["namespace"] = namespace

    params["kind"] = kind

    json_state: str | Unset = UNSET
    if not isinstance(state, Unset):
        json_state = state

    params["state"] = json_state

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/sources",
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Sources | None:
    if response.status_code == 200:
        response_200 = Sources.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Sources]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    kind: str | Unset = UNSET,
    state: SourcesListState | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[Sources]:
    """List sources

     Rate class: `admin`.

    Args:
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        namespace (str | Unset):
        kind (str | Unset):
        state (SourcesListState | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Sources]
    """

    kwargs = _get_kwargs(
        limit=limit,
        cursor=cursor,
        namespace=namespace,
        kind=kind,
        state=state,
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
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    kind: str | Unset = UNSET,
    state: SourcesListState | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Sources | None:
    """List sources

     Rate class: `admin`.

    Args:
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        namespace (str | Unset):
        kind (str | Unset):
        state (SourcesListState | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Sources
    """

    return sync_detailed(
        client=client,
        limit=limit,
        cursor=cursor,
        namespace=namespace,
        kind=kind,
        state=state,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    kind: str | Unset = UNSET,
    state: SourcesListState | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[Sources]:
    """List sources

     Rate class: `admin`.

    Args:
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        namespace (str | Unset):
        kind (str | Unset):
        state (SourcesListState | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Sources]
    """

    kwargs = _get_kwargs(
        limit=limit,
        cursor=cursor,
        namespace=namespace,
        kind=kind,
        state=state,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    kind: str | Unset = UNSET,
    state: SourcesListState | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Sources | None:
    """List sources

     Rate class: `admin`.

    Args:
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        namespace (str | Unset):
        kind (str | Unset):
        state (SourcesListState | Unset):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Sources
    """

    return (
        await asyncio_detailed(
            client=client,
            limit=limit,
            cursor=cursor,
            namespace=namespace,
            kind=kind,
            state=state,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
