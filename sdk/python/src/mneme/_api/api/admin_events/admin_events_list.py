from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.admin_events_list_kinds_item import (
    AdminEventsListKindsItem,
)
from ...models.event_page import EventPage
from ...types import UNSET, Response, Unset


def _get_kwargs(
    org: str,
    *,
    after: str | Unset = UNSET,
    kinds: list[AdminEventsListKindsItem] | Unset = UNSET,
    limit: int | Unset = 100,
    wait: int | Unset = 0,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    params: dict[str, Any] = {}

    params["after"] = after

    json_kinds: list[str] | Unset = UNSET
    if not isinstance(kinds, Unset):
        json_kinds = []
        for kinds_item_data in kinds:
            kinds_item: str = kinds_item_data
            json_kinds.append(kinds_item)

    params["kinds"] = json_kinds

    params["limit"] = limit

    params["wait"] = wait

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/admin/v1/organizations/{org}/events".format(
            org=quote(str(org), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> EventPage | None:
    if response.status_code == 200:
        response_200 = EventPage.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[EventPage]:
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
    after: str | Unset = UNSET,
    kinds: list[AdminEventsListKindsItem] | Unset = UNSET,
    limit: int | Unset = 100,
    wait: int | Unset = 0,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[EventPage]:
    """Read what has happened in an organization

     As GET /events, with the events of memories, end users and keys.

    Rate class: `admin`.

    Args:
        org (str):
        after (str | Unset):
        kinds (list[AdminEventsListKindsItem] | Unset):
        limit (int | Unset):  Default: 100.
        wait (int | Unset):  Default: 0.
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EventPage]
    """

    kwargs = _get_kwargs(
        org=org,
        after=after,
        kinds=kinds,
        limit=limit,
        wait=wait,
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
    after: str | Unset = UNSET,
    kinds: list[AdminEventsListKindsItem] | Unset = UNSET,
    limit: int | Unset = 100,
    wait: int | Unset = 0,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> EventPage | None:
    """Read what has happened in an organization

     As GET /events, with the events of memories, end users and keys.

    Rate class: `admin`.

    Args:
        org (str):
        after (str | Unset):
        kinds (list[AdminEventsListKindsItem] | Unset):
        limit (int | Unset):  Default: 100.
        wait (int | Unset):  Default: 0.
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EventPage
    """

    return sync_detailed(
        org=org,
        client=client,
        after=after,
        kinds=kinds,
        limit=limit,
        wait=wait,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    org: str,
    *,
    client: AuthenticatedClient,
    after: str | Unset = UNSET,
    kinds: list[AdminEventsListKindsItem] | Unset = UNSET,
    limit: int | Unset = 100,
    wait: int | Unset = 0,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[EventPage]:
    """Read what has happened in an organization

     As GET /events, with the events of memories, end users and keys.

    Rate class: `admin`.

    Args:
        org (str):
        after (str | Unset):
        kinds (list[AdminEventsListKindsItem] | Unset):
        limit (int | Unset):  Default: 100.
        wait (int | Unset):  Default: 0.
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EventPage]
    """

    kwargs = _get_kwargs(
        org=org,
        after=after,
        kinds=kinds,
        limit=limit,
        wait=wait,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    org: str,
    *,
    client: AuthenticatedClient,
    after: str | Unset = UNSET,
    kinds: list[AdminEventsListKindsItem] | Unset = UNSET,
    limit: int | Unset = 100,
    wait: int | Unset = 0,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> EventPage | None:
    """Read what has happened in an organization

     As GET /events, with the events of memories, end users and keys.

    Rate class: `admin`.

    Args:
        org (str):
        after (str | Unset):
        kinds (list[AdminEventsListKindsItem] | Unset):
        limit (int | Unset):  Default: 100.
        wait (int | Unset):  Default: 0.
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EventPage
    """

    return (
        await asyncio_detailed(
            org=org,
            client=client,
            after=after,
            kinds=kinds,
            limit=limit,
            wait=wait,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
