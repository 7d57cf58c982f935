from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.member_removed import MemberRemoved
from ...types import UNSET, Response, Unset


def _get_kwargs(
    org: str,
    member: str,
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
        "method": "delete",
        "url": "/admin/v1/organizations/{org}/members/{member}".format(
            org=quote(str(org), safe=""),
            member=quote(str(member), safe=""),
        ),
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> MemberRemoved | None:
    if response.status_code == 200:
        response_200 = MemberRemoved.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[MemberRemoved]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    org: str,
    member: str,
    *,
    client: AuthenticatedClient,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[MemberRemoved]:
    """Remove a member, whose sessions end at once

     For owners, and admin keys. The last owner stays (409). Safe to repeat. Keys that the member made go
    on working.

    Rate class: `admin`.

    Args:
        org (str):
        member (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[MemberRemoved]
    """

    kwargs = _get_kwargs(
        org=org,
        member=member,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    org: str,
    member: str,
    *,
    client: AuthenticatedClient,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> MemberRemoved | None:
    """Remove a member, whose sessions end at once

     For owners, and admin keys. The last owner stays (409). Safe to repeat. Keys that the member made go
    on working.

    Rate class: `admin`.

    Args:
        org (str):
        member (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        MemberRemoved
    """

    return sync_detailed(
        org=org,
        member=member,
        client=client,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    org: str,
    member: str,
    *,
    client: AuthenticatedClient,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[MemberRemoved]:
    """Remove a member, whose sessions end at once

     For owners, and admin keys. The last owner stays (409). Safe to repeat. Keys that the member made go
    on working.

    Rate class: `admin`.

    Args:
        org (str):
        member (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[MemberRemoved]
    """

    kwargs = _get_kwargs(
        org=org,
        member=member,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    org: str,
    member: str,
    *,
    client: AuthenticatedClient,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> MemberRemoved | None:
    """Remove a member, whose sessions end at once

     For owners, and admin keys. The last owner stays (409). Safe to repeat. Keys that the member made go
    on working.

    Rate class: `admin`.

    Args:
        org (str):
        member (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        MemberRemoved
    """

    return (
        await asyncio_detailed(
            org=org,
            member=member,
            client=client,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
