from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.member import Member
from ...models.member_change import MemberChange
from ...types import UNSET, Response, Unset


def _get_kwargs(
    org: str,
    member: str,
    *,
    body: MemberChange,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    if not isinstance(x_timeout_ms, Unset):
        headers["X-Timeout-Ms"] = str(x_timeout_ms)

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/admin/v1/organizations/{org}/members/{member}".format(
            org=quote(str(org), safe=""),
            member=quote(str(member), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Member | None:
    if response.status_code == 200:
        response_200 = Member.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Member]:
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
    body: MemberChange,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[Member]:
    """Give a member another role, take signing in from one, or unbind an account

     For owners, and admin keys. A role holds from the member's next call on. One who is disabled is out
    at once and cannot sign in, until that is taken back. The last owner stays one (409). With
    has_account false the account at the identity provider is unbound, so that another one with the
    address can be.

    Rate class: `admin`.

    Args:
        org (str):
        member (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (MemberChange):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Member]
    """

    kwargs = _get_kwargs(
        org=org,
        member=member,
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
    member: str,
    *,
    client: AuthenticatedClient,
    body: MemberChange,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Member | None:
    """Give a member another role, take signing in from one, or unbind an account

     For owners, and admin keys. A role holds from the member's next call on. One who is disabled is out
    at once and cannot sign in, until that is taken back. The last owner stays one (409). With
    has_account false the account at the identity provider is unbound, so that another one with the
    address can be.

    Rate class: `admin`.

    Args:
        org (str):
        member (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (MemberChange):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Member
    """

    return sync_detailed(
        org=org,
        member=member,
        client=client,
        body=body,
        x_request_id=x_request_id,
        x_timeout_ms=x_timeout_ms,
    ).parsed


async def asyncio_detailed(
    org: str,
    member: str,
    *,
    client: AuthenticatedClient,
    body: MemberChange,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Response[Member]:
    """Give a member another role, take signing in from one, or unbind an account

     For owners, and admin keys. A role holds from the member's next call on. One who is disabled is out
    at once and cannot sign in, until that is taken back. The last owner stays one (409). With
    has_account false the account at the identity provider is unbound, so that another one with the
    address can be.

    Rate class: `admin`.

    Args:
        org (str):
        member (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (MemberChange):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Member]
    """

    kwargs = _get_kwargs(
        org=org,
        member=member,
        body=body,
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
    body: MemberChange,
    x_request_id: str | Unset = UNSET,
    x_timeout_ms: int | Unset = UNSET,
) -> Member | None:
    """Give a member another role, take signing in from one, or unbind an account

     For owners, and admin keys. A role holds from the member's next call on. One who is disabled is out
    at once and cannot sign in, until that is taken back. The last owner stays one (409). With
    has_account false the account at the identity provider is unbound, so that another one with the
    address can be.

    Rate class: `admin`.

    Args:
        org (str):
        member (str):
        x_request_id (str | Unset):
        x_timeout_ms (int | Unset):
        body (MemberChange):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Member
    """

    return (
        await asyncio_detailed(
            org=org,
            member=member,
            client=client,
            body=body,
            x_request_id=x_request_id,
            x_timeout_ms=x_timeout_ms,
        )
    ).parsed
